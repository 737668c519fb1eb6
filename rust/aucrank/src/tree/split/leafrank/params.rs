//! What the rule is told.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::ClassSums;
use crate::tree::prune::CvParams;
use crate::tree::split::CutCriterion;

/// Size of the tree of stumps inside a split. Depth 1 is a single stump: the orthogonal split.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false], None)?;
/// let n_leaves = |split| {
///     let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(split));
///     fit(&columns, &labels, &params, &Interrupt::default()).map(|fitted| fitted.tree.n_leaves())
/// };
/// // Three intervals are a leaf each, or parts of a single split in two.
/// let orthogonal = LeafRankParams::orthogonal(1);
/// assert_eq!(n_leaves(orthogonal)?, 3);
/// assert_eq!(n_leaves(LeafRankParams { max_depth: 2, ..orthogonal })?, 2);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct LeafRankParams {
    /// Stumps between the cell and its parts; at least 1.
    pub max_depth: usize,
    /// Most parts; stumps are then placed where they gain most, the left-most of equal ones first
    /// (DECISIONS T10). At least 2.
    pub max_leaves: Option<usize>,
    /// Rows that a part needs to be cut again.
    pub min_samples_split: u64,
    /// Rows that each part keeps.
    pub min_samples_leaf: u64,
    /// Features that are drawn for each stump, or all of them. Where none of those drawn gains, as
    /// many others are, until one does. At least 1.
    pub max_features: Option<usize>,
    /// Which thresholds of a number are tried.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cuts: Cuts,
    /// By what a stump is chosen, and how parts are merged.
    #[cfg_attr(feature = "serde", serde(default))]
    pub criterion: CutCriterion,
    /// How the tree of stumps is pruned before its parts are merged, if at all (paper 2 sec. 6.3 iv).
    /// The seed is joined to that of the fit.
    #[cfg_attr(feature = "serde", serde(default))]
    pub pruning: Option<CvParams>,
}

impl LeafRankParams {
    /// A single stump.
    #[must_use]
    pub fn orthogonal(min_samples_leaf: u64) -> Self {
        Self {
            max_depth: 1,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf,
            max_features: None,
            cuts: Cuts::Best,
            criterion: CutCriterion::Youden,
            pruning: None,
        }
    }
}

/// Which thresholds of a number are tried for a stump.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{Cuts, GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let fit = |cuts, seed| {
///     let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
///     let split = SplitRule::Stumps(LeafRankParams { cuts, ..LeafRankParams::orthogonal(1) });
///     let params = TreeRankParams { seed, ..TreeRankParams::new(grow, split) };
///     fit(&columns, &labels, &params, &Interrupt::default()).map(|fitted| fitted.tree)
/// };
/// assert_eq!(fit(Cuts::Best, 0)?.n_leaves(), 2);
/// // A draw may miss the threshold between the classes, and then more cuts are needed.
/// let n_leaves = (0..20).map(|seed| fit(Cuts::Random, seed).map(|tree| tree.n_leaves()));
/// let n_leaves = n_leaves.collect::<Result<Vec<_>, _>>()?;
/// assert!(n_leaves.contains(&2) && n_leaves.iter().any(|&n| n > 2));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum Cuts {
    /// All: the best is taken.
    #[default]
    Best,
    /// One, drawn from the bins between the lowest and the highest value of the cell, as in
    /// extremely randomised trees. Sets of categories are the best ones all the same.
    Random,
}

impl LeafRankParams {
    /// Whether a part of a node may be cut again.
    pub(super) fn is_large(&self, sums: ClassSums) -> bool {
        sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf) && sums.is_mixed()
    }
}
