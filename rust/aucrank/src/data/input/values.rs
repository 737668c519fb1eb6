//! Raw numbers in fixed point, so that their sums are exact and means do not depend on the order of
//! the rows.

use crate::data::input::columns::{Column, Columns};
use crate::data::input::labels::Labels;
use crate::data::input::weights::{power_of_two_factors, times_power_of_two};
use crate::{Interrupt, RankError, parallel};

/// Bits of the largest absolute value of a feature. With weights that add up to at most 2^60, a sum
/// fits in 128 bits.
const VALUE_BITS: i32 = 61;

/// Least exponent of a normal number, used for all smaller ones too.
const MIN_EXPONENT: i32 = -1022;

/// The unit in which the values of one feature are summed: a power of two, 2^-61 to 2^-60 of the
/// largest absolute value. Doubles of at least 2^-8 of that value keep every bit.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{
///     Binned, Columns, CountedRows, FeatureBins, HistogramRequest, MemorySource, SumSource,
///     ValueScale,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 2.5, 4.0], 1)?;
/// let bins = vec![FeatureBins::Numeric { cuts: vec![2.0] }];
/// let interrupt = Interrupt::default();
/// let binned = Binned::with_features(&columns, bins, &interrupt)?;
/// let scales = ValueScale::of(&columns, &[0, 1, 2]);
/// let rows = CountedRows(&[false, true, true]);
/// let source = MemorySource::new(&binned, rows, vec![0, 1, 2], &interrupt);
/// let source = source.with_values(&columns, &scales);
/// let histograms = source.histograms(&[HistogramRequest::all(0)])?;
/// let (_, bins) = histograms[0].features().next().expect("there is a feature");
/// let sum = bins.value_sum().expect("the source sums values");
/// assert_eq!(scales[0].mean(sum, 3), 2.5);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueScale {
    exponent: i32,
    /// Two factors whose product is `2^-exponent`, each of them in range.
    factors: [f64; 2],
}

impl ValueScale {
    /// The unit of each feature, computed from the given rows. That of a categorical feature is
    /// meaningless.
    #[must_use]
    pub fn of(columns: &Columns<'_>, rows: &[u32]) -> Vec<Self> {
        let scale = |column: &Column<'_>| {
            let value = |row: u32| match column {
                Column::F64(values) => values.get(row as usize),
                Column::F32(values) => values.get(row as usize),
                Column::Codes { .. } => 0.0,
            };
            // `max` ignores NaN.
            Self::for_largest(rows.iter().map(|&row| value(row).abs()).fold(0.0, f64::max))
        };
        columns.iter().map(scale).collect()
    }

    fn for_largest(largest: f64) -> Self {
        // From the bits, since a logarithm may be rounded.
        let biased = (largest.to_bits() >> 52) as i32;
        let exponent = (biased - 1023).max(MIN_EXPONENT) + 1 - VALUE_BITS;
        Self { exponent, factors: power_of_two_factors(-exponent) }
    }

    /// A value in units, rounded.
    #[inline]
    pub(in crate::data) fn units(self, value: f64) -> i64 {
        (value * self.factors[0] * self.factors[1]).round() as i64
    }

    /// The mean of values, rounded once, from `sum`, the weighted sum in units, and `weight`, the
    /// sum of the weights, which is positive.
    #[must_use]
    pub fn mean(self, sum: i128, weight: u64) -> f64 {
        let magnitude = sum.unsigned_abs();
        let shift = magnitude.leading_zeros();
        let (magnitude, weight) = (magnitude.checked_shl(shift).unwrap_or(0), u128::from(weight));
        // More bits than a double has, and a sticky last bit: so the single rounding below is that
        // of the exact quotient.
        let quotient = (magnitude / weight) | u128::from(magnitude % weight > 0);
        let mean = times_power_of_two(quotient as f64, self.exponent - shift as i32);
        if sum < 0 { -mean } else { mean }
    }
}

/// Bits dropped from a deviation from the mean before it is squared, so that the square takes 60.
const DEVIATION_SHIFT: i32 = VALUE_BITS - 30;

/// Weighted mean and standard deviation of the known values of a feature; both 0 if none is known,
/// and for a categorical feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ValueMoments {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl ValueMoments {
    /// The moments of each feature. Sums are integers, so the order of the rows does not matter.
    pub(crate) fn of(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        interrupt: &Interrupt,
    ) -> Result<Vec<Self>, RankError> {
        let rows = labels.rows();
        let of_column = |column: &Column<'_>| {
            interrupt.check()?;
            Ok(match column {
                Column::F64(values) => Self::of_values(|row| values.get(row), labels, &rows),
                Column::F32(values) => Self::of_values(|row| values.get(row), labels, &rows),
                Column::Codes { .. } => Self { mean: 0.0, deviation: 0.0 },
            })
        };
        let columns: Vec<&Column<'_>> = columns.iter().collect();
        parallel::try_map(columns, of_column)
    }

    fn of_values(value: impl Fn(usize) -> f64, labels: &Labels<'_>, rows: &[u32]) -> Self {
        Self::of_weighted(|| {
            rows.iter().map(|&row| {
                let sums = labels.sums(row as usize);
                (value(row as usize), sums.pos + sums.neg)
            })
        })
    }

    /// The moments of one feature, from the values and weights of its rows, which are iterated
    /// several times.
    pub(crate) fn of_weighted<I: Iterator<Item = (f64, u64)>>(rows: impl Fn() -> I) -> Self {
        let known = || rows().filter(|(value, _)| !value.is_nan());
        let weight: u64 = known().map(|(_, weight)| weight).sum();
        if weight == 0 {
            return Self { mean: 0.0, deviation: 0.0 };
        }
        let largest = |values: &mut dyn Iterator<Item = f64>| {
            ValueScale::for_largest(values.fold(0.0, |most, value| most.max(value.abs())))
        };
        let scale = largest(&mut known().map(|(value, _)| value));
        let sum = known().map(|(value, w)| i128::from(scale.units(value)) * i128::from(w)).sum();
        let mean = scale.mean(sum, weight);
        // The difference of large numbers of opposite signs may overflow.
        let deviation = |value: f64| (value - mean).clamp(f64::MIN, f64::MAX);
        let scale = largest(&mut known().map(|(value, _)| deviation(value)));
        let squares = known().map(|(value, w)| {
            let units = i128::from(scale.units(deviation(value)) >> DEVIATION_SHIFT);
            units * units * i128::from(w)
        });
        let variance = squares.sum::<i128>() as f64 / weight as f64;
        let deviation = times_power_of_two(variance.sqrt(), scale.exponent + DEVIATION_SHIFT);
        Self { mean, deviation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(values: &[f64], weights: &[u64]) -> f64 {
        let columns = Columns::from_row_major(values, 1).unwrap();
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        let scale = ValueScale::of(&columns, &rows)[0];
        let sum = values
            .iter()
            .zip(weights)
            .map(|(&v, &w)| i128::from(scale.units(v)) * i128::from(w))
            .sum();
        scale.mean(sum, weights.iter().sum())
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the nearest double is one number")]
    fn a_mean_is_the_double_nearest_to_it() {
        assert_eq!(mean_of(&[1.0, 2.0, 4.5], &[1, 1, 1]), 2.5);
        assert_eq!(mean_of(&[1.0, 2.0], &[1, 2]), 5.0 / 3.0);
        assert_eq!(mean_of(&[-1.0, -2.0], &[1, 2]), -5.0 / 3.0);
        assert_eq!(mean_of(&[0.0, 0.0], &[1, 2]), 0.0);
        // Exact to the last bit: a sum in doubles would round 0.1 + 0.2 + 0.3 first.
        assert_eq!(mean_of(&[0.1, 0.2, 0.3], &[1, 1, 1]), 0.2);
        for value in [0.1, 1e-310, 1e300, -f64::MAX, f64::from_bits(1), 1.0_f64.next_up()] {
            assert_eq!(mean_of(&[value; 3], &[1, 1 << 50, 5]), value);
        }
    }

    #[test]
    fn the_largest_sum_fits() {
        let scale = ValueScale::for_largest(f64::MAX);
        let units = i128::from(scale.units(f64::MAX));
        assert!(units < 1 << VALUE_BITS);
        assert!(units.checked_mul(1 << 60).is_some());
    }

    #[test]
    fn moments_are_those_of_the_known_values_however_they_are_ordered_or_counted() {
        let values = [2.0, f64::NAN, 4.0, 4.0, 9.0, f64::NAN];
        let positive = [true, false, true, false, false, true];
        let of = |values: &[f64], positive: &[bool], weights: Option<&[f64]>| {
            let columns = Columns::from_row_major(values, 1).unwrap();
            let labels = Labels::new(positive, weights).unwrap();
            ValueMoments::of(&columns, &labels, &Interrupt::default()).unwrap()[0]
        };
        let found = of(&values, &positive, None);
        assert_eq!(found.mean, 4.75);
        assert!((found.deviation - 6.6875_f64.sqrt()).abs() < 1e-8);
        let weights = [1.0, 3.0, 2.0, 0.0, 1.0, 1.0];
        assert_eq!(of(&values, &positive, Some(&weights)), found);
        let (mut turned, mut labels) = (values, positive);
        turned.reverse();
        labels.reverse();
        assert_eq!(of(&turned, &labels, None), found);
        let constant = of(&[3.5, 3.5, f64::NAN], &[true, false, true], None);
        assert_eq!(constant, ValueMoments { mean: 3.5, deviation: 0.0 });
        let none = of(&[f64::NAN; 2], &[true, false], None);
        assert_eq!(none, ValueMoments { mean: 0.0, deviation: 0.0 });
    }
}
