//! What a weak ranker is worth in a score: a value for each row.

use serde::{Deserialize, Serialize};

use super::scored::ScoredTerm;
use crate::data::FeatureTerm;
use crate::tree::RankingTree;

/// A function of a row with few values, or of a score: what a round of boosting adds, or the chance
/// with which a node of a branching program says "positive".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// A step function of one feature.
    Feature(FeatureTerm),
    /// A value for each leaf of a tree.
    Tree(TreeTerm),
    /// A function of the score of a linear ranker, or of one that lives outside the core.
    Scored(ScoredTerm),
}

/// A value for each leaf of a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeTerm {
    /// The tree.
    pub tree: RankingTree,
    /// By place of the leaf in the ranking, the best first.
    pub values: Vec<f64>,
}

impl Term {
    /// Every value that it has, that of what is missing the last.
    pub(super) fn all_values(&self) -> impl Iterator<Item = f64> {
        let (values, missing) = match self {
            Self::Feature(FeatureTerm { steps, missing, .. }) => (steps.values(), Some(missing)),
            Self::Tree(term) => (&term.values[..], None),
            Self::Scored(term) => (&term.values[..], None),
        };
        values.iter().chain(missing).copied()
    }

    /// Whether its parts fit together, for features of these numbers of categories; of what values
    /// may be, whoever uses it knows more.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        match self {
            Self::Feature(term) => term.check(n_levels),
            Self::Tree(term) => term.check(n_levels),
            Self::Scored(term) => term.check(n_levels),
        }
    }

    /// The number of the ranker outside the core that it asks, if it does.
    pub(super) fn outside_number(&self) -> Option<usize> {
        match self {
            Self::Scored(term) => term.scorer.outside_number(),
            Self::Feature(_) | Self::Tree(_) => None,
        }
    }
}

impl TreeTerm {
    fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        self.tree.check()?;
        if !self.tree.classifiers().is_empty() {
            return Err("the tree of a term asks classifiers".to_owned());
        }
        if self.tree.n_levels() != n_levels {
            return Err("the tree of a term is of other features".to_owned());
        }
        if self.values.len() != self.tree.n_leaves() {
            return Err("the tree of a term has not one value for each leaf".to_owned());
        }
        Ok(())
    }
}
