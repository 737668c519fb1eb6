//! Step functions of the score of a ranker, linear or external.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::distribution::{Distribution, Worth};
use super::term::Term;
use super::weak::linear::LinearRanker;
use super::weak::{RankGroups, WeakSample};
use crate::RankError;
use crate::data::{Binned, FeatureBins, FeatureSteps, FeatureTerm};

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
/// let model = fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// let Term::Scored(term) = &model.terms()[0] else { unreachable!("the rankers are linear") };
/// let RowScorer::Linear(ranker) = &term.scorer else { unreachable!("the rankers are linear") };
/// // The number itself, in standard deviations from its mean.
/// assert_eq!((&ranker.means[..], &ranker.coefficients[..]), (&[2.0][..], &[1.0][..]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowScorer {
    /// A linear ranker.
    Linear(LinearRanker),
    /// An external ranker.
    #[serde(rename = "outside")]
    External {
        /// Its number, agreed with the caller.
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredTerm {
    /// The score.
    pub scorer: RowScorer,
    /// Ascending; a score equal to a threshold is above it.
    pub thresholds: Vec<f64>,
    /// One more than the thresholds: below the first, ..., from the last on.
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

/// A value for every row, including rows of weight zero and held-out rows.
#[derive(Debug)]
pub(super) enum RowValues<T = f64> {
    /// By the code of a feature.
    Codes { feature: usize, of_code: Vec<T> },
    /// By the group of the row.
    Groups { of_row: Vec<u32>, of_group: Vec<T> },
    /// Row by row.
    Rows(Vec<T>),
}

impl<T: Copy> RowValues<T> {
    /// The value of a row.
    #[inline]
    pub(super) fn get(&self, binned: &Binned, row: usize) -> T {
        match self {
            Self::Codes { feature, of_code } => of_code[binned.code(row, *feature) as usize],
            Self::Groups { of_row, of_group } => of_group[of_row[row] as usize],
            Self::Rows(values) => values[row],
        }
    }

    /// Copies the values of some rows to `out`.
    pub(super) fn read(&self, binned: &Binned, rows: Range<usize>, out: &mut [T]) {
        match self {
            Self::Codes { feature, of_code } => {
                if let Some(codes) = binned.narrow_codes(rows.clone(), *feature) {
                    for (code, out) in codes.zip(out) {
                        *out = of_code[usize::from(code)];
                    }
                } else {
                    for (row, out) in rows.zip(out) {
                        *out = of_code[binned.code(row, *feature) as usize];
                    }
                }
            }
            Self::Groups { of_row, of_group } => {
                for (&group, out) in of_row[rows].iter().zip(out) {
                    *out = of_group[group as usize];
                }
            }
            Self::Rows(values) => out.copy_from_slice(&values[rows]),
        }
    }

    /// Applies `of` to the values.
    pub(super) fn map<U>(self, of: impl Fn(T) -> U) -> RowValues<U> {
        let all = |values: Vec<T>| values.into_iter().map(&of).collect();
        match self {
            Self::Codes { feature, of_code } => RowValues::Codes { feature, of_code: all(of_code) },
            Self::Groups { of_row, of_group } => {
                RowValues::Groups { of_row, of_group: all(of_group) }
            }
            Self::Rows(values) => RowValues::Rows(all(values)),
        }
    }
}

impl RowValues {
    /// The values of the term of a ranking, given those of its groups.
    pub(super) fn of_ranking(
        term: &Term,
        groups: RankGroups,
        values: Vec<f64>,
        binned: &Binned,
    ) -> Self {
        match (term, groups) {
            // Codes in no group have a value too: rows outside the training set may have them.
            (Term::Feature(term), _) => Self::of_feature(term, binned),
            (_, RankGroups::Rows(of_row)) => Self::Groups { of_row, of_group: values },
            (_, RankGroups::Codes { .. }) => unreachable!("codes make a step function"),
        }
    }

    /// The values of any term.
    pub(super) fn of_term(term: &Term, sample: &WeakSample<'_>) -> Result<Self, RankError> {
        match term {
            Term::Feature(term) if is_of_codes(term, sample.binned) => {
                Ok(Self::of_feature(term, sample.binned))
            }
            _ => Ok(Self::Rows(term.values(sample.columns, sample.external.map(|o| o as _))?)),
        }
    }

    fn of_feature(term: &FeatureTerm, binned: &Binned) -> Self {
        let of_code = term.values_by_code(&binned.features()[term.feature]);
        Self::Codes { feature: term.feature, of_code }
    }

    /// Adds the values to the scores of the rows, and reweights the rows by them.
    pub(super) fn apply(
        &self,
        binned: &Binned,
        distribution: &mut Distribution<'_>,
        scores: &mut [f64],
    ) {
        let worth = |values: &[f64]| values.iter().map(|&value| Worth::of(value)).collect();
        match self {
            Self::Codes { feature, of_code } => {
                let worth: Vec<Worth> = worth(of_code);
                let of_row = |row| worth[binned.code(row, *feature) as usize];
                distribution.reweight(scores, of_row);
            }
            Self::Groups { of_row, of_group } => {
                let worth: Vec<Worth> = worth(of_group);
                distribution.reweight(scores, |row| worth[of_row[row] as usize]);
            }
            Self::Rows(values) => distribution.reweight(scores, |row| Worth::of(values[row])),
        }
    }
}

/// Whether every step of the function is at a cut.
fn is_of_codes(term: &FeatureTerm, binned: &Binned) -> bool {
    match (&term.steps, &binned.features()[term.feature]) {
        (FeatureSteps::Numeric { thresholds, .. }, FeatureBins::Numeric { cuts }) => {
            let is_cut = |t: &f64| cuts.binary_search_by(|cut| cut.total_cmp(t)).is_ok();
            thresholds.iter().all(is_cut)
        }
        _ => true,
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
