//! Row weights as integers, so that sums of weights are exact.

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
    pub(super) fn counted(&self, row: usize) -> (u64, u64) {
        let units = self.units[row];
        (units, if self.is_whole { units } else { u64::from(units > 0) })
    }
}

/// The unit of [`FixedWeights`], for passes that read each weight once and store none.
#[derive(Debug, Clone, Copy)]
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

    #[expect(clippy::float_cmp, reason = "a whole number is one exactly")]
    fn of_rows(rows: impl Iterator<Item = (usize, f64)> + Clone) -> Result<Self, RankError> {
        let (mut largest, mut total, mut whole) = (0.0_f64, 0_u64, true);
        for (row, value) in rows.clone() {
            if !(value.is_finite() && value >= 0.0) {
                return Err(RankError::BadWeight { row, value });
            }
            largest = largest.max(value);
            // A weight beyond the integers, whole or not, saturates the total.
            let units = value as u64;
            total = total.saturating_add(units);
            whole &= units as f64 == value;
        }
        if whole && total <= 1 << TOTAL_BITS {
            return Ok(Self { exponent: 0, whole, factors: [1.0; 2] });
        }
        // In units of the largest weight the total neither overflows nor underflows. It is summed
        // in integers, rounded up: the exponent must not depend on the order of the rows. One bit
        // is left for rounding up.
        let fine = 2_f64.powi(32);
        let relative: u128 = rows.map(|(_, w)| (w / largest * fine) as u128 + 1).sum();
        let exponent = (largest.log2() + (relative as f64 / fine).log2()).ceil() as i32 + 1;
        let exponent = exponent - TOTAL_BITS;
        Ok(Self { exponent, whole: false, factors: power_of_two_factors(-exponent) })
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
