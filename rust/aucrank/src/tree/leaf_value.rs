//! What a leaf may stand for when a tree is explained.

use std::str::FromStr;

use super::ranking_tree::RankingTree;
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
