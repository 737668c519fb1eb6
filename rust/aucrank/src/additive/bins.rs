//! The values of a feature in bins, with the training rows in each.

use serde::{Deserialize, Serialize};

use crate::data::{ClassMasses, ClassSums};

/// Which values of a number rank high.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The higher, the more positive.
    Increasing,
    /// The lower, the more positive.
    Decreasing,
}

/// Bins of the values of a feature. They are numbered from 0, and bin [`Bins::n_bins`] is that of
/// what is missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// Of a number: intervals in ascending order, then values that stand apart.
    Numeric {
        /// Ascending; a number equal to a cut lies above it (DECISIONS R4).
        cuts: Vec<f64>,
        /// Values that each have a bin of their own.
        special: Vec<f64>,
    },
    /// Of a category.
    Categorical {
        /// The bin of each category, by code. One that no row had is missing (DECISIONS R5), and so
        /// are categories beyond the last.
        bin_of_level: Vec<usize>,
        /// Number of bins.
        n_bins: usize,
    },
}

impl Bins {
    /// Number of bins, that of what is missing not counted; also its number.
    #[must_use]
    pub fn n_bins(&self) -> usize {
        match self {
            Self::Numeric { cuts, special } => cuts.len() + 1 + special.len(),
            Self::Categorical { n_bins, .. } => *n_bins,
        }
    }

    /// The bin of a raw value: a number, or the code of a category; NaN is missing.
    #[inline]
    #[must_use]
    pub fn bin(&self, raw: f64) -> usize {
        if raw.is_nan() {
            return self.n_bins();
        }
        match self {
            Self::Numeric { cuts, special } => {
                if let Some(place) = place_among(special, raw) {
                    return cuts.len() + 1 + place;
                }
                cuts.partition_point(|&cut| cut <= raw)
            }
            Self::Categorical { bin_of_level, n_bins } => {
                bin_of_level.get(raw as usize).copied().unwrap_or(*n_bins)
            }
        }
    }
}

/// The place of a number in a short list.
#[expect(clippy::float_cmp, reason = "a special value is one exactly")]
pub(super) fn place_among(special: &[f64], raw: f64) -> Option<usize> {
    special.iter().position(|&value| value == raw)
}

/// A feature in bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinnedFeature {
    /// Its bins.
    pub bins: Bins,
    /// The training rows in each bin, those that miss the feature the last.
    pub sums: Vec<ClassSums>,
    /// Which numbers rank high; `None` for a category.
    pub direction: Option<Direction>,
}

impl BinnedFeature {
    /// The rows whose value is known.
    #[must_use]
    pub fn known(&self) -> ClassSums {
        self.sums[..self.bins.n_bins()].iter().copied().sum()
    }

    /// `2(AUC - 1/2)` of the known rows, ranked by the share of positives of their bins: from 0 to 1,
    /// and 0 where a class is absent (DECISIONS R7).
    #[must_use]
    pub fn gini(&self) -> f64 {
        let mut known: Vec<ClassSums> = self.sums[..self.bins.n_bins()]
            .iter()
            .copied()
            .filter(|sums| sums.pos + sums.neg > 0)
            .collect();
        known.sort_by(|&a, &b| a.cmp_eta(b));
        gini(known)
    }
}

/// `2(AUC - 1/2)` of groups of rows in ascending order of their score, 0 where a class is absent.
pub(super) fn gini(groups: Vec<ClassSums>) -> f64 {
    let total: ClassSums = groups.iter().copied().sum();
    if !total.is_mixed() {
        return 0.0;
    }
    let masses = groups.into_iter().map(|sums| ClassMasses { pos: sums.pos, neg: sums.neg });
    let area = ClassMasses::area(masses);
    area as f64 / (u128::from(total.pos) * u128::from(total.neg)) as f64
}
