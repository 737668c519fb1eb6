//! What a fit is told.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::{BinningParams, Columns, binds, check_monotonic};
use crate::tree::grow::{GrowParams, Missing};
use crate::tree::prune::{Complexity, PruningRule};
use crate::tree::split::SplitRule;

/// Everything that a fit of a ranking tree can be told.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let free = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let rising = TreeRankParams { monotonic: vec![1], ..free.clone() };
/// let auc = |params| {
///     fit(&columns, &labels, params, &Interrupt::default()).map(|fitted| fitted.tree.auc())
/// };
/// // A score that rises with the feature can at best tie the values 2 and 3.
/// assert_eq!((auc(&free)?, auc(&rising)?), (1.0, 0.875));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct TreeRankParams {
    /// How finely numeric features are cut.
    pub binning: BinningParams,
    /// When the tree stops growing.
    pub grow: GrowParams,
    /// How nodes are split.
    pub split: SplitRule,
    /// How the tree is pruned, if at all.
    pub pruning: Option<PruningRule>,
    /// Seed of what is random in the growth.
    pub seed: u64,
    /// For each feature, 1 if the score may only rise with it, -1 if it may only fall, 0 if it is
    /// free; empty to leave all free. Only numeric features can be bound.
    #[cfg_attr(feature = "serde", serde(default))]
    pub monotonic: Vec<i8>,
}

impl TreeRankParams {
    /// A tree that is not pruned, of bins by default, with seed 0 and all features free.
    #[must_use]
    pub fn new(grow: GrowParams, split: SplitRule) -> Self {
        Self {
            binning: BinningParams::default(),
            grow,
            split,
            pruning: None,
            seed: 0,
            monotonic: Vec::new(),
        }
    }

    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        self.grow.validate()?;
        let refuse = |name, value: &str| {
            let rule = "left out: this split rule cannot honour it";
            Err(RankError::BadParameter { name, value: value.to_owned(), rule })
        };
        let split = self.split.rule();
        split.validate()?;
        if !split.is_of_stumps() {
            if binds(&self.monotonic) {
                return refuse("monotonic_cst", "given");
            }
            if self.grow.missing == Missing::CellMean {
                return refuse("missing", "'cell_mean'");
            }
        }
        self.pruning.iter().try_for_each(PruningRule::validate)?;
        match self.pruning {
            Some(PruningRule::Penalty(_)) => self.complexity().map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Checks the parameters, and that they suit the columns.
    pub(in crate::tree) fn check_for(&self, columns: &Columns<'_>) -> Result<(), RankError> {
        self.validate()?;
        check_monotonic(&self.monotonic, &columns.n_levels())
    }

    pub(super) fn complexity(&self) -> Result<Complexity, RankError> {
        Complexity::of(&self.split).ok_or(RankError::BadParameter {
            name: "pruning",
            value: "a penalty".to_owned(),
            rule: "another rule: no penalty is known for this split rule",
        })
    }
}
