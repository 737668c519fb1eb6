//! What a weak ranker is worth in a score: a value for each row.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::scored::ScoredTerm;
use crate::RankError;
use crate::data::{FeatureTerm, Steps};
use crate::tree::RankingTree;

/// Values of categories in all terms of a model: a gigabyte of them.
const MOST_LEVEL_VALUES: usize = 1 << 27;

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
    pub(super) fn external_number(&self) -> Option<usize> {
        match self {
            Self::Scored(term) => term.scorer.external_number(),
            Self::Feature(_) | Self::Tree(_) => None,
        }
    }
}

/// What is left for the values of categories, of which a term has one each, whatever the rows. A fit
/// that would need more ends in an error, since one that runs out of memory takes its process along.
#[derive(Debug)]
pub(super) struct LevelBudget {
    most: usize,
    spent: AtomicUsize,
}

impl Default for LevelBudget {
    fn default() -> Self {
        Self { most: MOST_LEVEL_VALUES, spent: AtomicUsize::default() }
    }
}

impl LevelBudget {
    /// Takes the share of one more term.
    ///
    /// # Errors
    ///
    /// [`RankError::TooManyCodes`] naming its column where not enough is left.
    pub(super) fn spend(&self, term: &Term) -> Result<(), RankError> {
        let Term::Feature(FeatureTerm { feature, steps: Steps::Categorical { values }, .. }) = term
        else {
            return Ok(());
        };
        let n_codes = values.len();
        let spent = self.spent.fetch_add(n_codes, Ordering::Relaxed);
        match self.most.checked_sub(spent) {
            Some(left) if n_codes <= left => Ok(()),
            left => {
                Err(RankError::TooManyCodes { column: *feature, n_codes, most: left.unwrap_or(0) })
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_categories_are_limited_and_the_column_is_named() {
        let term = |feature, steps| Term::Feature(FeatureTerm { feature, steps, missing: 0.0 });
        let levels = |feature, n| term(feature, Steps::Categorical { values: vec![0.0; n] });
        let number = Steps::Numeric { thresholds: vec![1.0; 99], values: vec![0.0; 100] };
        let budget = LevelBudget { most: 10, ..LevelBudget::default() };
        for term in [levels(0, 7), term(1, number), levels(2, 3)] {
            assert_eq!(budget.spend(&term), Ok(()));
        }
        let err = budget.spend(&levels(5, 1)).unwrap_err();
        assert_eq!(err, RankError::TooManyCodes { column: 5, n_codes: 1, most: 0 });
        let budget = LevelBudget { most: 10, ..LevelBudget::default() };
        let err = budget.spend(&levels(5, 11)).unwrap_err();
        assert!(err.to_string().contains("column 5 needs 11 codes, but at most 10 fit"), "{err}");
    }
}
