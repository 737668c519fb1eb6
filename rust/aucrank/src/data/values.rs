//! Raw numbers in fixed point, so that sums of them are exact, and means do not depend on the order
//! of the rows.

use super::columns::{Column, Columns};
use super::weights::{power_of_two_factors, times_power_of_two};

/// Bits of the largest absolute value of a feature. With weights that add up to 2^60 at most, a sum
/// fits 128 bits.
const VALUE_BITS: i32 = 61;

/// Least exponent of a normal number, which stands for all smaller ones too.
const MIN_EXPONENT: i32 = -1022;

/// The unit in which the values of one feature are summed: a power of two, 2^-61 to 2^-60 of the
/// largest absolute value. Doubles of at least 2^-8 of that value keep every bit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueScale {
    exponent: i32,
    /// Two factors whose product is `2^-exponent`, each of them in range.
    factors: [f64; 2],
}

impl ValueScale {
    /// The unit of each feature, from the values of the given rows. Those of a categorical feature
    /// mean nothing.
    #[must_use]
    pub fn of(columns: &Columns<'_>, rows: &[u32]) -> Vec<Self> {
        let scale = |column: &Column<'_>| {
            let value = |row: u32| match column {
                Column::F64(values) => values.get(row as usize),
                Column::F32(values) => values.get(row as usize),
                Column::Codes { .. } => 0.0,
            };
            // `max` passes over NaN.
            Self::for_largest(rows.iter().map(|&row| value(row).abs()).fold(0.0, f64::max))
        };
        columns.iter().map(scale).collect()
    }

    fn for_largest(largest: f64) -> Self {
        // From the bits, since a logarithm may round.
        let biased = (largest.to_bits() >> 52) as i32;
        let exponent = (biased - 1023).max(MIN_EXPONENT) + 1 - VALUE_BITS;
        Self { exponent, factors: power_of_two_factors(-exponent) }
    }

    /// A value in units, rounded.
    #[inline]
    pub(super) fn units(self, value: f64) -> i64 {
        (value * self.factors[0] * self.factors[1]).round() as i64
    }

    /// The mean of values whose weighted units add up to `sum` and whose weights to `weight`, which
    /// is positive: the nearest double.
    #[must_use]
    pub fn mean(self, sum: i128, weight: u64) -> f64 {
        let magnitude = sum.unsigned_abs();
        let shift = magnitude.leading_zeros();
        let (magnitude, weight) = (magnitude.checked_shl(shift).unwrap_or(0), u128::from(weight));
        // More bits than a double has, and a last one that tells whether there were more: so the
        // one rounding below is that of the true quotient.
        let quotient = (magnitude / weight) | u128::from(magnitude % weight > 0);
        let mean = times_power_of_two(quotient as f64, self.exponent - shift as i32);
        if sum < 0 { -mean } else { mean }
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
        // Every bit counts: a sum in doubles would round 0.1 + 0.2 + 0.3 first.
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
}
