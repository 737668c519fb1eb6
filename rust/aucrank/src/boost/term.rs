//! Terms of a score: functions of a row built from a weak ranker.

use std::sync::atomic::{AtomicUsize, Ordering};

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::scored::{RowScorer, ScoredTerm};
use crate::RankError;
use crate::data::{FeatureTerm, Steps, binds, direction};
use crate::tree::RankingTree;

/// Maximum number of values of categories in all terms of a model, a gigabyte.
const MOST_LEVEL_VALUES: usize = 1 << 27;

/// A function of a row: the contribution of a boosting round, or the probability with which a node
/// of a branching program says "positive".
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     FitExtras, RankBoostParams, RoundParams, Term, WeakRankerParams, fit_rank_boost,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let first_term = |weak_ranker| {
///     let rounds = RoundParams { n_rounds: 1, weak_ranker, ..RoundParams::default() };
///     let params = RankBoostParams { rounds, ..RankBoostParams::default() };
///     let extras = FitExtras::default();
///     fit_rank_boost(&columns, &labels, &params, &extras, &Interrupt::default())
///         .map(|model| model.terms()[0].clone())
/// };
/// assert!(matches!(first_term(WeakRankerParams::Feature)?, Term::Feature(_)));
/// assert!(matches!(first_term(WeakRankerParams::Linear)?, Term::Scored(_)));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum Term {
    /// A step function of one feature.
    Feature(FeatureTerm),
    /// A value for each leaf of a tree.
    Tree(TreeTerm),
    /// A function of the score of a linear or an external ranker.
    Scored(ScoredTerm),
}

/// A value for each leaf of a tree.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     FitExtras, RankBoostParams, RoundParams, Term, WeakRankerParams, fit_rank_boost,
/// };
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let tree = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let weak_ranker = WeakRankerParams::Tree(Box::new(tree));
/// let rounds = RoundParams { n_rounds: 1, weak_ranker, ..RoundParams::default() };
/// let params = RankBoostParams { rounds, ..RankBoostParams::default() };
/// let extras = FitExtras::default();
/// let model = fit_rank_boost(&columns, &labels, &params, &extras, &Interrupt::default())?;
/// let Term::Tree(term) = &model.terms()[0] else { unreachable!("the rankers are trees") };
/// // A leaf for each of three intervals, the one of the positive rows first.
/// assert_eq!((term.tree.n_leaves(), term.values.len()), (3, 3));
/// assert!(term.values[0] > term.values[1]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct TreeTerm {
    /// The tree.
    pub tree: RankingTree,
    /// By rank of the leaf, the best first.
    pub values: Vec<f64>,
}

impl Term {
    /// All of its values, that of missing values last.
    pub(super) fn all_values(&self) -> impl Iterator<Item = f64> {
        let (values, missing) = match self {
            Self::Feature(FeatureTerm { steps, missing, .. }) => (steps.values(), Some(missing)),
            Self::Tree(term) => (&term.values[..], None),
            Self::Scored(term) => (&term.values[..], None),
        };
        values.iter().chain(missing).copied()
    }

    /// Checks the consistency of the term, given the number of categories of each feature. The
    /// range of its values is checked by the caller.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        match self {
            Self::Feature(term) => term.check(n_levels),
            Self::Tree(term) => term.check(n_levels),
            Self::Scored(term) => term.check(n_levels),
        }
    }

    /// Whether the term never runs against the direction of a feature, as far as its form tells.
    pub(super) fn keeps_to(&self, monotonic: &[i8]) -> bool {
        match self {
            Self::Feature(FeatureTerm { feature, steps, .. }) => {
                let values = steps.values();
                match direction(monotonic, *feature) {
                    0 => true,
                    1 => values.is_sorted(),
                    _ => values.is_sorted_by(|low, high| low >= high),
                }
            }
            Self::Tree(TreeTerm { tree, .. }) => {
                let is_kept = |(feature, &bound): (usize, &i8)| {
                    bound == 0 || direction(tree.monotonic(), feature) == bound
                };
                monotonic.iter().enumerate().all(is_kept)
            }
            Self::Scored(_) => !binds(monotonic),
        }
    }

    /// Adds what the term contributes to the importances of its features; that of a tree is divided
    /// among them by their squared gains. `None` if it combines features in a way that cannot be
    /// attributed.
    pub(super) fn share_out(&self, contribution: f64, importances: &mut [f64]) -> Option<()> {
        match self {
            Self::Feature(term) => importances[term.feature] += contribution,
            Self::Tree(term) if term.tree.has_importances() => {
                let gains = term.tree.importances();
                let all: f64 = gains.iter().sum();
                for (importance, gain) in importances.iter_mut().zip(gains) {
                    *importance += contribution * gain / if all > 0.0 { all } else { 1.0 };
                }
            }
            Self::Tree(_) | Self::Scored(_) => return None,
        }
        Some(())
    }

    /// The number of its external ranker, if it has one.
    pub(super) fn external_number(&self) -> Option<usize> {
        match self {
            Self::Scored(term) => term.scorer.external_number(),
            Self::Feature(_) | Self::Tree(_) => None,
        }
    }

    /// As [`Term::external_number`], to be changed.
    pub(super) fn external_number_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Scored(ScoredTerm { scorer: RowScorer::External { number, .. }, .. }) => {
                Some(number)
            }
            Self::Feature(_) | Self::Tree(_) | Self::Scored(_) => None,
        }
    }
}

/// Remaining budget for values of categories, of which a term has one per category, whatever the
/// rows. A fit that exceeds it fails with an error instead of running out of memory.
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
    /// Reserves the values of one more term.
    ///
    /// # Errors
    ///
    /// [`RankError::TooManyCodes`] naming its column if the budget is exceeded.
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
