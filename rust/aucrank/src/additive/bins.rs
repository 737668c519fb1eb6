//! A feature in bins, with the training rows in each.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::{Bins, ClassMasses, ClassSums, are_distinct, check_weight, sum_checked};

/// Whether high or low values of a number rank high.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{Direction, Mad2cParams, fit_mad2c};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let fit = |directions| {
///     let params = Mad2cParams { directions, ..Mad2cParams::default() };
///     fit_mad2c(&columns, &labels, &params, &Interrupt::default())
/// };
/// let free = fit(Vec::new())?.features()[0].clone();
/// assert_eq!((free.direction, free.bins.n_bins()), (Some(Direction::Increasing), 2));
/// // Low values rank low, so a bin more would not help.
/// let bound = fit(vec![Some(Direction::Decreasing)])?.features()[0].clone();
/// assert_eq!((bound.direction, bound.bins.n_bins()), (Some(Direction::Decreasing), 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum Direction {
    /// Higher values are more positive.
    Increasing,
    /// Lower values are more positive.
    Decreasing,
}

/// Checks the special values of the features: empty, or for each feature distinct finite numbers,
/// none for a category.
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
        if !(numbers.iter().all(|number| number.is_finite()) && are_distinct(numbers)) {
            return refuse(format!("{numbers:?}"), "finite, and no two equal");
        }
        if n_levels.is_some() && !numbers.is_empty() {
            return refuse(format!("{numbers:?}"), "empty for a category");
        }
    }
    Ok(())
}

/// A feature in bins.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{Mad2cParams, fit_mad2c};
/// use aucrank::data::{ClassSums, Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, f64::NAN], 1)?;
/// let labels = Labels::new(&[false, true, false, true, true], None)?;
/// let model = fit_mad2c(&columns, &labels, &Mad2cParams::default(), &Interrupt::default())?;
/// let feature = &model.features()[0];
/// // Bins of the values 1, of 2 and 3, and of 4: of four pairs three are won and one is tied.
/// assert_eq!(feature.known(), ClassSums { pos: 2, neg: 2, rows: 4 });
/// assert_eq!(feature.gini(), 2.0 * (3.5 / 4.0 - 0.5));
/// assert_eq!(feature.sums[3], ClassSums { pos: 1, neg: 0, rows: 1 });
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct BinnedFeature {
    /// Its bins.
    pub bins: Bins,
    /// The training rows in each bin, those with a missing value last.
    pub sums: Vec<ClassSums>,
    /// The direction of a number; `None` for a category.
    pub direction: Option<Direction>,
}

impl BinnedFeature {
    /// The rows whose value is known.
    #[must_use]
    pub fn known(&self) -> ClassSums {
        self.sums[..self.bins.n_bins()].iter().copied().sum()
    }

    /// Checks the consistency of the bins with the training rows in `total`.
    ///
    /// # Errors
    ///
    /// A description of the fault.
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

    /// `2(AUC - 1/2)` of the known rows, ranked by the share of positives of their bins: from 0 to
    /// 1, and 0 if a class is absent (DECISIONS R7).
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

/// Checks class sums of training rows read from a file: both classes, weights that add up to no
/// more than fixed point allows, and a unit that a weight can have.
///
/// # Errors
///
/// A description of the fault.
pub(super) fn check_total(total: ClassSums, exponent: i32) -> Result<(), String> {
    if !total.is_mixed() {
        return Err("the training rows lack a class".to_owned());
    }
    check_weight(total, exponent)
}

/// `2(AUC - 1/2)` of groups of rows in ascending order of their score, 0 if a class is absent.
pub(super) fn gini(groups: Vec<ClassSums>) -> f64 {
    let total: ClassSums = groups.iter().copied().sum();
    if !total.is_mixed() {
        return 0.0;
    }
    let masses = groups.into_iter().map(|sums| ClassMasses { pos: sums.pos, neg: sums.neg });
    let area = ClassMasses::area(masses);
    area as f64 / (u128::from(total.pos) * u128::from(total.neg)) as f64
}
