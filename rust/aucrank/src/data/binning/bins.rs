//! Bins of one feature.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

/// Bins of the values of a feature, numbered from 0; bin [`Bins::n_bins`] is that of missing
/// values.
///
/// # Examples
///
/// ```
/// use aucrank::data::Bins;
///
/// let bins = Bins::Numeric { cuts: vec![10.0], special: vec![-1.0] };
/// assert_eq!(bins.n_bins(), 3);
/// assert_eq!([3.0, 10.0, -1.0, f64::NAN].map(|raw| bins.bin(raw)), [0, 1, 2, 3]);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum Bins {
    /// Of a number: intervals in ascending order, then one bin for each special value.
    Numeric {
        /// Ascending; a number equal to a cut lies above it (DECISIONS R4).
        cuts: Vec<f64>,
        /// Values that have a bin of their own.
        special: Vec<f64>,
    },
    /// Of a category.
    Categorical {
        /// The bin of each category, by code. A category without training rows counts as missing
        /// (DECISIONS R5), as do codes beyond the last.
        bin_of_level: Vec<usize>,
        /// Number of bins.
        n_bins: usize,
    },
}

impl Bins {
    /// Number of bins without that of missing values, which is also the index of the latter.
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

    /// Checks bins read from a file against the kind of their feature: its number of categories, or
    /// `None` for a number.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub(crate) fn check(&self, n_levels: Option<u32>) -> Result<(), String> {
        match (self, n_levels) {
            (Self::Numeric { cuts, special }, None) => {
                if !cuts.iter().chain(special).all(|number| number.is_finite()) {
                    return Err("a cut or a special value is not a finite number".to_owned());
                }
                if !cuts.is_sorted_by(|low, high| low < high) {
                    return Err("cuts are not in strictly ascending order".to_owned());
                }
                if !are_distinct(special) {
                    return Err("a special value occurs twice".to_owned());
                }
                Ok(())
            }
            (Self::Categorical { bin_of_level, n_bins }, Some(n_levels)) => {
                if bin_of_level.len() != n_levels as usize {
                    let found = bin_of_level.len();
                    return Err(format!("bins of {found} categories, expected {n_levels}"));
                }
                // Compared before anything of that size is allocated.
                if *n_bins > bin_of_level.len() {
                    return Err(format!("{n_bins} bins of {n_levels} categories"));
                }
                let mut is_used = vec![false; n_bins + 1];
                for &bin in bin_of_level {
                    match is_used.get_mut(bin) {
                        Some(is_used) => *is_used = true,
                        None => return Err(format!("a category is in bin {bin} of {n_bins}")),
                    }
                }
                match is_used[..*n_bins].iter().position(|&is_used| !is_used) {
                    Some(bin) => Err(format!("no category is in bin {bin}")),
                    None => Ok(()),
                }
            }
            (Self::Numeric { .. }, Some(_)) => {
                Err("bins of a number for a categorical feature".to_owned())
            }
            (Self::Categorical { .. }, None) => {
                Err("bins of categories for a numeric feature".to_owned())
            }
        }
    }
}

/// Whether no two of these numbers are equal, 0 and -0 counting as equal; none is NaN.
pub(crate) fn are_distinct(numbers: &[f64]) -> bool {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.is_sorted_by(|low, high| low < high)
}

/// Index of a number in a short list.
#[expect(clippy::float_cmp, reason = "a special value is one exactly")]
pub(crate) fn place_among(special: &[f64], raw: f64) -> Option<usize> {
    special.iter().position(|&value| value == raw)
}
