//! Row weights as integers, so that sums of weights are exact.

use serde::{Deserialize, Serialize};

use crate::RankError;

/// Bits of the sum of all weights: sums are then exact in `f64`, JSON and `i64` alike.
const TOTAL_BITS: i32 = 53;

/// Row weights in fixed point: the weight of a row is `units * 2^exponent`.
///
/// Whole weights are kept as they are (`exponent == 0`), so that weight k is exactly k copies of
/// the row. Others are rounded to a multiple of a power of two, about 2^-53 of their total, an
/// error no larger than that of a sum in `f64`. Either way every sum of weights is a sum of
/// integers: it is associative, so no number of threads, chunks or machines changes a bit of it;
/// differences (parent minus child) leave no residue; and ties of gains are ties.
///
/// # Examples
///
/// ```
/// use aucrank::data::FixedWeights;
///
/// let weights = FixedWeights::new(&[1.0, 0.0, 3.0]).unwrap();
/// assert_eq!((weights.units(), weights.exponent()), (&[1, 0, 3][..], 0));
/// assert!(FixedWeights::new(&[1.0, -0.5]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedWeights {
    units: Vec<u64>,
    exponent: i32,
    is_whole: bool,
}

impl FixedWeights {
    /// Rounds `weights` to fixed point.
    ///
    /// # Errors
    ///
    /// [`RankError::BadWeight`] for the first weight that is negative, NaN or infinite.
    pub fn new(weights: &[f64]) -> Result<Self, RankError> {
        let scale = FixedScale::of(weights)?;
        let units = weights.iter().map(|&w| scale.units(w)).collect();
        Ok(Self { units, exponent: scale.exponent, is_whole: scale.whole })
    }

    /// Rounds the weights of a part of the rows, in the unit of the whole.
    pub(crate) fn in_scale(weights: &[f64], scale: FixedScale) -> Self {
        let units = weights.iter().map(|&w| scale.units(w)).collect();
        Self { units, exponent: scale.exponent, is_whole: scale.whole }
    }

    /// Weights that are in units already.
    pub(crate) fn of_units(units: Vec<u64>, scale: FixedScale) -> Self {
        Self { units, exponent: scale.exponent, is_whole: scale.whole }
    }

    /// Weights that are counts of copies.
    pub(crate) fn counts(units: Vec<u64>) -> Self {
        Self { units, exponent: 0, is_whole: true }
    }

    /// The same weights, set to zero in all rows but those kept.
    pub(crate) fn among(&self, kept: impl Fn(usize) -> bool) -> Self {
        let units = self.units.iter().enumerate();
        let units = units.map(|(row, &units)| if kept(row) { units } else { 0 }).collect();
        Self { units, ..*self }
    }

    /// The weights, in units of `2^exponent`.
    #[must_use]
    pub fn units(&self) -> &[u64] {
        &self.units
    }

    /// Binary exponent of the unit.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Whether every weight is a whole number, and so a count of copies.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Units of one row, and how many rows it counts as: k for a whole weight k; if some weight is
    /// not whole, every row of positive weight counts as one.
    pub(in crate::data) fn counted(&self, row: usize) -> (u64, u64) {
        let units = self.units[row];
        (units, if self.is_whole { units } else { u64::from(units > 0) })
    }
}

/// Units of the relative sum of weights.
const FINE: f64 = (1_u64 << 32) as f64;

/// Statistics that determine the unit of weights; those of a whole are merged from its parts.
///
/// # Examples
///
/// ```
/// use aucrank::data::WeightRange;
///
/// let parts = [&[0.5, 2.0][..], &[0.25, 0.0]].map(|part| WeightRange::of_part(part, 0).unwrap());
/// let whole = WeightRange::of_part(&[0.5, 2.0, 0.25, 0.0], 0).unwrap();
/// assert_eq!(parts[0].merge(parts[1]), whole);
/// assert!(!whole.are_counts());
/// // In a unit of all rows, the ratios of weights are as they were.
/// let relative = whole.relative_sum_of_part(&[0.5, 2.0, 0.25, 0.0]);
/// let units = whole.units_of_part(relative, &[0.5, 0.25]);
/// assert_eq!(units[0], 2.0 * units[1]);
/// let err = WeightRange::of_part(&[1.0, -1.0], 100).unwrap_err();
/// assert!(err.to_string().starts_with("sample_weight of row 101 is -1"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WeightRange {
    largest: f64,
    /// Saturating.
    total: u64,
    whole: bool,
}

impl Default for WeightRange {
    /// Range of no rows.
    fn default() -> Self {
        Self { largest: 0.0, total: 0, whole: true }
    }
}

impl WeightRange {
    #[expect(clippy::float_cmp, reason = "a whole number is one exactly")]
    fn of(rows: impl Iterator<Item = (usize, f64)>) -> Result<Self, RankError> {
        let mut range = Self::default();
        for (row, value) in rows {
            if !(value.is_finite() && value >= 0.0) {
                return Err(RankError::BadWeight { row, value });
            }
            range.largest = range.largest.max(value);
            // A weight beyond the integers, whole or not, saturates the total.
            let units = value as u64;
            range.total = range.total.saturating_add(units);
            range.whole &= units as f64 == value;
        }
        Ok(range)
    }

    /// Range of a part of the rows; `first_row` is the number of its first.
    ///
    /// # Errors
    ///
    /// [`RankError::BadWeight`] for the first weight that is negative, NaN or infinite.
    pub fn of_part(weights: &[f64], first_row: usize) -> Result<Self, RankError> {
        Self::of((first_row..).zip(weights.iter().copied()))
    }

    /// Range of the rows of both.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            largest: self.largest.max(other.largest),
            total: self.total.saturating_add(other.total),
            whole: self.whole && other.whole,
        }
    }

    /// Range of the same rows, each `times` times, at least once.
    #[must_use]
    pub fn repeated(self, times: u64) -> Self {
        Self { total: self.total.saturating_mul(times), ..self }
    }

    /// Whether every weight is a number of copies; the unit is then 1.
    #[must_use]
    pub fn are_counts(self) -> bool {
        self.whole && self.total <= 1 << TOTAL_BITS
    }

    /// The sum of the weights of a part of the rows, relative to the largest weight of all. It is
    /// summed in integers, rounded up: the unit must not depend on the order of the rows.
    #[must_use]
    pub fn relative_sum_of_part(self, weights: &[f64]) -> u128 {
        self.relative_sum(weights.iter().copied().enumerate())
    }

    /// The weights of a part of the rows in the unit of all, whose relative sum is as given: whole
    /// numbers, which add up to 2^53 at most.
    #[must_use]
    pub fn units_of_part(self, relative: u128, weights: &[f64]) -> Vec<f64> {
        let scale = FixedScale::new(self, relative);
        weights.iter().map(|&weight| scale.units(weight) as f64).collect()
    }

    fn relative_sum(self, rows: impl Iterator<Item = (usize, f64)>) -> u128 {
        rows.map(|(_, weight)| (weight / self.largest * FINE) as u128 + 1).sum()
    }
}

/// The unit of [`FixedWeights`], for passes that read each weight once and store none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct FixedScale {
    exponent: i32,
    whole: bool,
    /// Two factors whose product is `2^-exponent`, each of them in range.
    factors: [f64; 2],
}

impl FixedScale {
    /// The unit for `weights`.
    pub(crate) fn of(weights: &[f64]) -> Result<Self, RankError> {
        Self::of_rows(weights.iter().copied().enumerate())
    }

    /// Separate units for the negative and the positive rows, for statistics that depend only on
    /// ratios of weights within a class.
    pub(crate) fn of_classes(weights: &[f64], positive: &[bool]) -> Result<[Self; 2], RankError> {
        if weights.len() != positive.len() {
            let (found, expected) = (weights.len(), positive.len());
            return Err(RankError::LengthMismatch { name: "sample_weight", found, expected });
        }
        // The first bad weight of either class is reported.
        Self::of(weights)?;
        let of_class = |class: bool| {
            let rows = weights.iter().copied().enumerate();
            Self::of_rows(rows.filter(move |&(row, _)| positive[row] == class))
        };
        Ok([of_class(false)?, of_class(true)?])
    }

    fn of_rows(rows: impl Iterator<Item = (usize, f64)> + Clone) -> Result<Self, RankError> {
        let range = WeightRange::of(rows.clone())?;
        Ok(Self::new(range, if range.are_counts() { 0 } else { range.relative_sum(rows) }))
    }

    /// The unit for weights of a range whose sum, relative to the largest, is as given.
    pub(crate) fn new(range: WeightRange, relative: u128) -> Self {
        if range.are_counts() {
            return Self { exponent: 0, whole: true, factors: [1.0; 2] };
        }
        // In units of the largest weight the total neither overflows nor underflows. One bit is
        // left for rounding up.
        let exponent = (range.largest.log2() + (relative as f64 / FINE).log2()).ceil() as i32 + 1;
        let exponent = exponent - TOTAL_BITS;
        Self { exponent, whole: false, factors: power_of_two_factors(-exponent) }
    }

    /// Binary exponent of the unit.
    pub(crate) fn exponent(self) -> i32 {
        self.exponent
    }

    /// Whether weights are counts of copies.
    pub(crate) fn is_whole(self) -> bool {
        self.whole
    }

    /// A weight in units of `2^exponent`.
    #[inline]
    pub(crate) fn units(self, weight: f64) -> u64 {
        if self.whole {
            return weight as u64;
        }
        (weight * self.factors[0] * self.factors[1]).round() as u64
    }
}

/// `value * 2^power`, even if `2^power` itself is out of range.
pub(crate) fn times_power_of_two(value: f64, power: i32) -> f64 {
    let [half, rest] = power_of_two_factors(power);
    value * half * rest
}

/// Two powers of two, each in range, whose product is `2^power`, which itself may be out of range.
pub(crate) fn power_of_two_factors(power: i32) -> [f64; 2] {
    [2_f64.powi(power / 2), 2_f64.powi(power - power / 2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(weights: &FixedWeights, row: usize) -> f64 {
        times_power_of_two(weights.units()[row] as f64, weights.exponent())
    }

    #[test]
    fn whole_weights_are_counts() {
        let weights = FixedWeights::new(&[2.0, 0.0, 7.0]).unwrap();
        assert!(weights.is_whole());
        assert_eq!(weights.units(), [2, 0, 7]);
    }

    #[test]
    fn fractions_keep_their_value_and_the_total_fits() {
        for scale in [1.0, 1e-300, 1e300, 3e-12] {
            let raw: Vec<f64> = (1..=1000).map(|i| scale / f64::from(i)).collect();
            let weights = FixedWeights::new(&raw).unwrap();
            assert!(weights.units().iter().sum::<u64>() <= 1 << TOTAL_BITS);
            for (row, &w) in raw.iter().enumerate() {
                let relative = (value(&weights, row) / w - 1.0).abs();
                assert!(relative < 1e-11, "row {row} of scale {scale}: {relative}");
            }
        }
    }

    #[test]
    fn halving_every_weight_changes_nothing_but_the_exponent() {
        let raw: Vec<f64> = (1..=50).map(|i| f64::from(i).sqrt()).collect();
        let half: Vec<f64> = raw.iter().map(|w| w / 2.0).collect();
        let (a, b) = (FixedWeights::new(&raw).unwrap(), FixedWeights::new(&half).unwrap());
        assert_eq!(a.units(), b.units());
        assert_eq!(a.exponent(), b.exponent() + 1);
    }

    #[test]
    fn a_bad_weight_is_named() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let err = FixedWeights::new(&[1.0, bad]).unwrap_err();
            assert!(err.to_string().starts_with("sample_weight of row 1 is "), "{err}");
        }
    }
}
