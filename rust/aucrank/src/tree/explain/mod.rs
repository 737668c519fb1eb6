//! Dependence of a tree or a forest on features, and the values of leaves for it.
//!
//! - `dependence`: partial dependence of the score on features (paper 2 sec. 5.2); `paths`: the
//!   paths of rows through trees, with their weights.

mod dependence;
mod paths;

pub use dependence::partial_dependence;

use std::str::FromStr;

use super::forest::{Aggregation, RankingForest};
use super::model::RankingTree;
use crate::RankError;
use crate::data::ClassSums;

/// A number for each leaf.
///
/// # Examples
///
/// ```
/// use aucrank::tree::LeafValue;
///
/// assert_eq!("rank".parse(), Ok(LeafValue::Rank));
/// assert!("loss".parse::<LeafValue>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafValue {
    /// Number of leaves from it to the last, over the number of leaves: 1 for the leaf that ranks
    /// highest, 1/K for the last of K. It does not depend on the shape of the tree.
    Rank,
    /// Share of positives among the training rows of the leaf.
    Eta,
    /// As [`RankingTree::leaf_scores`].
    Score,
    /// As [`RankingTree::probabilities`].
    Probability,
}

impl LeafValue {
    /// The values of all leaves, in ranking order.
    #[must_use]
    pub fn of(self, tree: &RankingTree) -> Vec<f64> {
        let n_leaves = tree.n_leaves();
        match self {
            Self::Rank => {
                (0..n_leaves).map(|place| (n_leaves - place) as f64 / n_leaves as f64).collect()
            }
            Self::Eta => tree.leaf_sums().into_iter().map(ClassSums::eta).collect(),
            Self::Score => tree.leaf_scores(),
            Self::Probability => tree.probabilities(),
        }
    }

    /// The values of all leaves of each tree of a forest, such that their mean over the trees is
    /// the output of the forest for a row; `None` if the output is no such mean, for example a
    /// median.
    ///
    /// - [`LeafValue::Rank`]: the share of the training rows of the tree that lie below the leaf,
    ///   plus half of its own, whatever the aggregation; unlike the value of a single tree it does
    ///   not count leaves, since the trees of a forest have many leaves of all sizes;
    /// - [`LeafValue::Eta`]: the share of positives, whatever the aggregation;
    /// - [`LeafValue::Score`]: as [`RankingForest::score`], for means of shares or of ranks;
    /// - [`LeafValue::Probability`]: as [`RankingForest::probability`], for means of shares.
    #[must_use]
    pub fn of_forest(self, forest: &RankingForest) -> Option<Vec<Vec<f64>>> {
        let aggregation = forest.aggregation();
        let shift = forest.middle();
        let of_tree = |tree: &RankingTree| match (self, aggregation) {
            (Self::Rank, _) => Some(tree.leaf_ranks()),
            (Self::Eta, _) | (Self::Probability, Aggregation::Eta) => Some(tree.leaf_values()),
            (Self::Score, Aggregation::Eta | Aggregation::RankMean) => {
                Some(forest.leaf_values(tree).into_iter().map(|value| value - shift).collect())
            }
            _ => None,
        };
        forest.trees().iter().map(of_tree).collect()
    }
}

impl FromStr for LeafValue {
    type Err = RankError;

    fn from_str(name: &str) -> Result<Self, RankError> {
        match name {
            "rank" => Ok(Self::Rank),
            "eta" => Ok(Self::Eta),
            "score" => Ok(Self::Score),
            "probability" => Ok(Self::Probability),
            _ => Err(RankError::BadParameter {
                name: "the value of a leaf",
                value: name.to_owned(),
                rule: "rank, eta, score or probability",
            }),
        }
    }
}
