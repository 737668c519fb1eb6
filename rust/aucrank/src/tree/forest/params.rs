//! What a fit of a forest is told.

use serde::{Deserialize, Serialize};

use super::bootstrap::BootstrapParams;
use super::ranking_forest::Aggregation;
use crate::RankError;
use crate::tree::fit::TreeRankParams;

/// When a forest stops growing before it has all its trees.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlyStopping {
    /// Trees that may be added without the out-of-bag AUC rising by more than `tol`.
    pub n_iter_no_change: usize,
    /// What counts as a rise.
    pub tol: f64,
}

/// Everything that a fit of a forest can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForestParams {
    /// How each tree is grown; its pruning is not used. Its seed is that of the forest.
    pub tree: TreeRankParams,
    /// Sizes of leaf, ascending, of which the one is taken in the place of that of `tree` whose trees rank
    /// the rows best that they have not seen, the smallest of equals; it needs a bootstrap. An earlier
    /// forest keeps its size. Empty to take that of `tree`.
    #[serde(default)]
    pub leaf_sizes: Vec<u64>,
    /// Number of trees; at least 1.
    pub n_trees: usize,
    /// How rows are drawn for each tree; `None` if each sees all of them.
    pub bootstrap: Option<BootstrapParams>,
    /// How the trees make one score.
    pub aggregation: Aggregation,
    /// Whether the AUC on rows that trees have not seen is wanted; it needs a bootstrap.
    pub out_of_bag: bool,
    /// When to stop early, which needs a bootstrap too.
    pub early_stopping: Option<EarlyStopping>,
}

impl ForestParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        self.tree.validate()?;
        if self.n_trees == 0 {
            return bad("n_trees", "0".to_owned(), "at least 1");
        }
        let split = self.tree.split.rule();
        if !split.is_of_stumps() {
            return bad("split", split.name().to_owned(), "made of stumps in a forest");
        }
        if self.leaf_sizes.first() == Some(&0) || !self.leaf_sizes.is_sorted_by(|a, b| a < b) {
            return bad("leaf_sizes", format!("{:?}", self.leaf_sizes), "positive and ascending");
        }
        match self.bootstrap {
            Some(BootstrapParams { share }) if !(share > 0.0 && share <= 1.0) => {
                bad("share", share.to_string(), "in (0, 1]")
            }
            None if self.out_of_bag
                || self.early_stopping.is_some()
                || !self.leaf_sizes.is_empty() =>
            {
                bad("bootstrap", "none".to_owned(), "given where rows out of bag are asked for")
            }
            _ if self.early_stopping.is_some() && self.aggregation == Aggregation::Kendall => bad(
                "aggregation",
                "kendall".to_owned(),
                "another one for early stopping: a consensus is formed of all trees",
            ),
            _ => Ok(()),
        }
    }
}
