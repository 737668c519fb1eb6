//! The values of a term on every row of a sample.

use std::ops::Range;

use super::distribution::{Distribution, Worth};
use super::term::Term;
use super::weak::{Groups, WeakSample};
use crate::RankError;
use crate::data::{Binned, FeatureBins, FeatureTerm, Steps};

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
    /// The values of the term that a ranking became, given those of its groups.
    pub(super) fn of_ranking(
        term: &Term,
        groups: Groups,
        values: Vec<f64>,
        binned: &Binned,
    ) -> Self {
        match (term, groups) {
            // Codes in no group have a value too: rows outside the training set may have them.
            (Term::Feature(term), _) => Self::of_feature(term, binned),
            (_, Groups::Rows(of_row)) => Self::Groups { of_row, of_group: values },
            (_, Groups::Codes { .. }) => unreachable!("codes make a step function"),
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
        (Steps::Numeric { thresholds, .. }, FeatureBins::Numeric { cuts }) => {
            let is_cut = |t: &f64| cuts.binary_search_by(|cut| cut.total_cmp(t)).is_ok();
            thresholds.iter().all(is_cut)
        }
        _ => true,
    }
}
