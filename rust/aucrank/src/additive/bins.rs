//! The values of a feature in bins, with the training rows in each.

use serde::{Deserialize, Serialize};

use crate::RankError;
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

impl Bins {
    /// Whether these are bins of a feature with that many categories, or of a number: what a file is
    /// asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub(super) fn check(&self, n_levels: Option<u32>) -> Result<(), String> {
        match (self, n_levels) {
            (Self::Numeric { cuts, special }, None) => {
                if !cuts.iter().chain(special).all(|number| number.is_finite()) {
                    return Err("a cut or a special value is not a finite number".to_owned());
                }
                if !cuts.is_sorted_by(|low, high| low < high) {
                    return Err("cuts are not in strictly ascending order".to_owned());
                }
                let is_new = |(place, &value): (usize, &f64)| {
                    place_among(&special[..place], value).is_none()
                };
                if !special.iter().enumerate().all(is_new) {
                    return Err("a special value occurs twice".to_owned());
                }
                Ok(())
            }
            (Self::Categorical { bin_of_level, n_bins }, Some(n_levels)) => {
                if bin_of_level.len() != n_levels as usize {
                    let found = bin_of_level.len();
                    return Err(format!("bins of {found} categories, expected {n_levels}"));
                }
                // Compared with the number of levels before anything of that size is made.
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

/// The place of a number in a short list.
#[expect(clippy::float_cmp, reason = "a special value is one exactly")]
pub(super) fn place_among(special: &[f64], raw: f64) -> Option<usize> {
    special.iter().position(|&value| value == raw)
}

/// Whether these can be the special values of the features: none at all, or for each feature finite
/// ones, no two of them equal, and none for a category.
///
/// # Errors
///
/// [`RankError::BadParameter`].
pub(super) fn check_special(
    special: &[Vec<f64>],
    n_levels: &[Option<u32>],
) -> Result<(), RankError> {
    let refuse = |value, rule| Err(RankError::BadParameter { name: "special", value, rule });
    if ![0, n_levels.len()].contains(&special.len()) {
        let value = format!("a list of length {}", special.len());
        return refuse(value, "empty, or one list for each feature");
    }
    for (numbers, n_levels) in special.iter().zip(n_levels) {
        let is_new = |place: usize| place_among(&numbers[..place], numbers[place]).is_none();
        if !(numbers.iter().all(|number| number.is_finite()) && (0..numbers.len()).all(is_new)) {
            return refuse(format!("{numbers:?}"), "finite, and no two equal");
        }
        if n_levels.is_some() && !numbers.is_empty() {
            return refuse(format!("{numbers:?}"), "empty for a category");
        }
    }
    Ok(())
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

    /// Whether the parts fit together, and hold the rows of `total`.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub(super) fn check(&self, n_levels: Option<u32>, total: ClassSums) -> Result<(), String> {
        self.bins.check(n_levels)?;
        if self.direction.is_some() == n_levels.is_some() {
            return Err("a number has a direction, and a category has none".to_owned());
        }
        let (found, expected) = (self.sums.len(), self.bins.n_bins() + 1);
        if found != expected {
            return Err(format!("rows of {found} bins, expected {expected}"));
        }
        if sum_checked(&self.sums) != Some(total) {
            return Err("the rows of the bins do not add up to the training rows".to_owned());
        }
        Ok(())
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

/// The sum of parts, if it does not overflow.
pub(crate) fn sum_checked(parts: &[ClassSums]) -> Option<ClassSums> {
    parts.iter().try_fold(ClassSums::default(), |sum, part| {
        let pos = sum.pos.checked_add(part.pos)?;
        let neg = sum.neg.checked_add(part.neg)?;
        Some(ClassSums { pos, neg, rows: sum.rows.checked_add(part.rows)? })
    })
}

/// Whether these can be the training rows of a model: both classes, weights that add up to no more
/// than fixed point allows, and a unit that a weight can have.
///
/// # Errors
///
/// What is wrong, in words.
pub(super) fn check_total(total: ClassSums, exponent: i32) -> Result<(), String> {
    if !total.is_mixed() {
        return Err("the training rows lack a class".to_owned());
    }
    check_weight(total, exponent)
}

/// As [`check_total`], of rows whose classes may not be known.
pub(crate) fn check_weight(total: ClassSums, exponent: i32) -> Result<(), String> {
    const MOST: u64 = 1 << 53;
    let weight = total.pos.checked_add(total.neg);
    if weight.is_none_or(|weight| weight > MOST) || total.rows > MOST {
        return Err("the training rows weigh too much".to_owned());
    }
    if !(-1200..=1100).contains(&exponent) {
        return Err(format!("weights in units of 2^{exponent}"));
    }
    Ok(())
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
