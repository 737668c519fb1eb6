//! What a growth is told.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::splitter::{LeastSplit, OpenNode};
use crate::RankError;
use crate::data::ClassSums;
use crate::tree::model::LeafOrder;

/// What a missing value counts as (DECISIONS T18).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, Missing, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[2.0, 4.0, 6.0, f64::NAN], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let auc = |missing| {
///     let grow =
///         GrowParams { max_depth: 1, min_samples_leaf: 1, missing, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
///     fit(&columns, &labels, &params, &Interrupt::default()).map(|fitted| fitted.tree.auc())
/// };
/// // With one cut, the missing value goes with 6; or it counts as the mean and is tied with 4.
/// assert_eq!((auc(Missing::Learn)?, auc(Missing::CellMean)?), (1.0, 0.75));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum Missing {
    /// Each stump sends the rows that miss its feature to the side where they gain, or with the larger
    /// side where its cell has none.
    #[default]
    Learn,
    /// The mean of the values known in the cell that is cut, weighted; of categories the one of
    /// largest class weight there, the lowest code of several (paper 2 sec. 5). A cell in which no
    /// value is known is not cut on the feature, so the mean of the cells above, which would count
    /// there, has nothing to decide.
    CellMean,
}

/// When a ranking tree stops growing, and how its leaves are ranked.
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
/// let n_leaves = |max_leaves| {
///     let grow = GrowParams { min_samples_leaf: 1, max_leaves, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
///     fit(&columns, &labels, &params, &Interrupt::default()).map(|fitted| fitted.tree.n_leaves())
/// };
/// assert_eq!((n_leaves(None)?, n_leaves(Some(2))?), (4, 2));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct GrowParams {
    /// Splits between the root and a leaf; at least 1.
    pub max_depth: usize,
    /// Maximum number of leaves, at least 2: the leaf whose split raises the training AUC most is split
    /// first. `None` for any number.
    #[cfg_attr(feature = "serde", serde(default))]
    pub max_leaves: Option<usize>,
    /// Rows that a node needs to be split.
    pub min_samples_split: u64,
    /// Rows that each side of a split keeps; at least 1.
    pub min_samples_leaf: u64,
    /// A split must raise the training AUC by more than this.
    pub min_gain: f64,
    /// In which order the leaves are ranked.
    pub leaf_order: LeafOrder,
    /// What a missing value counts as.
    #[cfg_attr(feature = "serde", serde(default))]
    pub missing: Missing,
    /// The false positive rate left of which the tree is spent, above 0 and at most 1: a node is split
    /// only if the negatives left of it are fewer than this share of all, and cross-validation
    /// compares subtrees by the partial AUC up to it.
    #[cfg_attr(feature = "serde", serde(default = "whole"))]
    pub max_fpr: f64,
}

fn whole() -> f64 {
    1.0
}

impl Default for GrowParams {
    /// Those of the Python estimator `TreeRank`.
    fn default() -> Self {
        Self {
            max_depth: 10,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf: 5,
            min_gain: 0.0,
            leaf_order: LeafOrder::Eta,
            missing: Missing::Learn,
            max_fpr: whole(),
        }
    }
}

impl GrowParams {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if self.max_depth == 0 {
            return bad("max_depth", "0".to_owned(), "at least 1");
        }
        if let Some(n @ 0..2) = self.max_leaves {
            return bad("max_leaves", n.to_string(), "at least 2");
        }
        if self.min_samples_leaf == 0 {
            return bad("min_samples_leaf", "0".to_owned(), "at least 1");
        }
        if !(self.min_gain >= 0.0 && self.min_gain.is_finite()) {
            return bad("min_gain", self.min_gain.to_string(), "finite and not negative");
        }
        if !(self.max_fpr > 0.0 && self.max_fpr <= 1.0) {
            return bad("max_fpr", self.max_fpr.to_string(), "above 0 and at most 1");
        }
        Ok(())
    }

    /// What a split must come to in a tree on rows of the class sums `total`.
    pub(in crate::tree) fn least_split(&self, total: ClassSums) -> LeastSplit {
        // An AUC of 1 is a gain of 2PN.
        let gain = 2.0 * self.min_gain * total.pos as f64 * total.neg as f64;
        LeastSplit { rows: self.min_samples_leaf, gain }
    }

    pub(super) fn may_split<K>(&self, node: &OpenNode<K>, total: ClassSums) -> bool {
        node.depth < self.max_depth
            && (self.max_fpr >= 1.0 || (node.neg_above as f64) < self.max_fpr * total.neg as f64)
            && node.sums.is_mixed()
            && node.sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf)
    }
}
