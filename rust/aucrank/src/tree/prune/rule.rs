//! The list of pruning rules.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::cross_validate::CvParams;
use super::penalize::PenaltyParams;
use super::validate::ValidationParams;
use crate::RankError;

/// How a tree is pruned.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{PruningRule, TreeRankParams, ValidationParams, fit};
/// # use aucrank::tree::{GrowParams, LeafRankParams, SplitRule};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let pruning = PruningRule::Validation(ValidationParams { fraction: 0.5, seed: 0 });
/// let params = TreeRankParams { pruning: Some(pruning), ..params };
/// let fitted = fit(&columns, &labels, &params, &Interrupt::default())?;
/// assert!(fitted.validation.is_some() && fitted.cross_validation.is_none());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum PruningRule {
    /// By the price of a leaf that cross-validates best.
    CrossValidation(CvParams),
    /// By a penalty on the number of leaves.
    Penalty(PenaltyParams),
    /// By rows that the tree is not grown on.
    Validation(ValidationParams),
}

impl PruningRule {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::CrossValidation(params) => params.validate(),
            Self::Penalty(params) => params.validate(),
            Self::Validation(params) => params.validate(),
        }
    }
}
