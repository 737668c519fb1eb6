//! Step functions of the score of a ranker, linear or external.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::weak::linear::LinearRanker;

/// The ranker behind a score.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     FitExtras, RankBoostParams, RoundParams, RowScorer, Term, WeakRankerParams,
///     fit_rank_boost,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 3.0, 1.0, 3.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let weak_ranker = WeakRankerParams::Linear;
/// let rounds = RoundParams { n_rounds: 1, weak_ranker, ..RoundParams::default() };
/// let params = RankBoostParams { rounds, ..RankBoostParams::default() };
/// let extras = FitExtras::default();
/// let model = fit_rank_boost(&columns, &labels, &params, &extras, &Interrupt::default())?;
/// let Term::Scored(term) = &model.terms()[0] else { unreachable!("the rankers are linear") };
/// let RowScorer::Linear(ranker) = &term.scorer else { unreachable!("the rankers are linear") };
/// // The number itself, in standard deviations from its mean.
/// assert_eq!((&ranker.means[..], &ranker.coefficients[..]), (&[2.0][..], &[1.0][..]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum RowScorer {
    /// A linear ranker.
    Linear(LinearRanker),
    /// An external ranker.
    #[cfg_attr(feature = "serde", serde(rename = "outside"))]
    External {
        /// Its number, known to both sides.
        number: usize,
        /// Whether its score is negated.
        is_reversed: bool,
    },
}

/// A step function of a score.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{RowScorer, ScoredTerm};
///
/// let scorer = RowScorer::External { number: 0, is_reversed: false };
/// let (thresholds, values) = (vec![0.5, 2.0], vec![-1.0, 0.0, 1.0]);
/// let term = ScoredTerm { scorer, thresholds, values };
/// assert_eq!([0.0, 0.5, 3.0].map(|score| term.value(score)), [-1.0, 0.0, 1.0]);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct ScoredTerm {
    /// The score.
    pub scorer: RowScorer,
    /// Ascending; a score equal to a threshold is above it.
    pub thresholds: Vec<f64>,
    /// One more than there are thresholds: below the first, ..., from the last on.
    pub values: Vec<f64>,
}

impl RowScorer {
    /// The number of the external ranker, if it is one.
    pub(super) fn external_number(&self) -> Option<usize> {
        match self {
            Self::Linear(_) => None,
            Self::External { number, .. } => Some(*number),
        }
    }
}

impl ScoredTerm {
    /// The value of a score.
    #[inline]
    #[must_use]
    pub fn value(&self, score: f64) -> f64 {
        self.values[self.thresholds.partition_point(|&threshold| threshold <= score)]
    }

    /// The step function with the given values between thresholds; thresholds without a step are
    /// dropped.
    #[expect(clippy::float_cmp, reason = "a step is between values that differ at all")]
    pub(super) fn of_steps(scorer: RowScorer, thresholds: &[f64], values: &[f64]) -> Self {
        let mut term = Self { scorer, thresholds: Vec::new(), values: vec![values[0]] };
        for (&threshold, &value) in thresholds.iter().zip(&values[1..]) {
            if term.values[term.values.len() - 1] != value {
                term.thresholds.push(threshold);
                term.values.push(value);
            }
        }
        term
    }

    /// Checks the consistency of the term, given the number of categories of each feature.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let ascends = self.thresholds.windows(2).all(|pair| pair[0] < pair[1]);
        if !(ascends && self.thresholds.iter().all(|threshold| threshold.is_finite())) {
            return Err("the thresholds of a term are not finite and ascending".to_owned());
        }
        if self.values.len() != self.thresholds.len() + 1 {
            return Err("a term has not one value more than thresholds".to_owned());
        }
        match &self.scorer {
            RowScorer::Linear(linear) => linear.check(n_levels),
            RowScorer::External { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_has_the_value_of_its_step() {
        let scorer = RowScorer::External { number: 0, is_reversed: false };
        let term = ScoredTerm::of_steps(scorer, &[0.0, 1.0, 2.0], &[-3.0, -3.0, 5.0, 7.0]);
        assert_eq!(
            (&term.thresholds[..], &term.values[..]),
            (&[1.0, 2.0][..], &[-3.0, 5.0, 7.0][..])
        );
        let at = |score| term.value(score);
        assert_eq!([at(f64::MIN), at(0.5), at(1.0), at(1.5), at(2.0)], [-3.0, -3.0, 5.0, 5.0, 7.0]);
        assert_eq!(term.check(&[]), Ok(()));
        let broken = ScoredTerm { values: vec![1.0], ..term };
        assert!(broken.check(&[]).is_err());
    }
}
