//! Raw numbers in fixed point, so that their sums are exact and means do not depend on the order of
//! the rows.

use std::ops::{Add, AddAssign, Sub};

use super::columns::{Column, Columns};
use super::labels::Labels;
use super::weights::{power_of_two_factors, times_power_of_two};
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

/// Values are rounded to multiples of this, so that their sums are exact up to [`LARGEST_SUM`] in
/// any order: equal rows tie exactly, a step function merged from many terms equals the sum of the
/// terms, and the parts of an explanation and of SQL add up to the score (DECISIONS K10).
const VALUE_UNIT: f64 = 1.0 / (1_u64 << 32) as f64;

/// Bound up to which sums of rounded values are exact.
pub(crate) const LARGEST_SUM: f64 = (1_u64 << 20) as f64;

/// The multiple of the unit nearest to a value.
pub(crate) fn snap(value: f64) -> f64 {
    (value / VALUE_UNIT).round() * VALUE_UNIT
}

/// Whether a value is a multiple of the unit.
pub(crate) fn is_snapped(value: f64) -> bool {
    (value / VALUE_UNIT).fract().abs() == 0.0
}

/// A value as a whole number of units; `None` if it is not one.
pub(crate) fn to_units(value: f64) -> Option<i64> {
    (is_snapped(value) && value.abs() <= LARGEST_SUM).then(|| (value / VALUE_UNIT) as i64)
}

/// The value of `units` units; rounded beyond [`LARGEST_SUM`].
pub(crate) fn of_units(units: i64) -> f64 {
    units as f64 * VALUE_UNIT
}

/// A 256-bit unsigned integer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wide {
    // In this order, which the derived comparison uses.
    high: u128,
    low: u128,
}

impl Wide {
    /// `a * b`; cannot overflow.
    pub(crate) fn product(a: u128, b: u128) -> Self {
        let low = |number: u128| number & u128::from(u64::MAX);
        if a >> 64 == 0 {
            let left = a * (b >> 64);
            let (sum, carry) = (a * low(b)).overflowing_add(left << 64);
            return Self { high: (left >> 64) + u128::from(carry), low: sum };
        }
        // Four products of halves. No sum overflows: the middle adds three numbers below 2^64.
        let lowest = low(a) * low(b);
        let (left, right) = ((a >> 64) * low(b), low(a) * (b >> 64));
        let middle = (lowest >> 64) + low(left) + low(right);
        let high = (a >> 64) * (b >> 64) + (left >> 64) + (right >> 64) + (middle >> 64);
        Self { high, low: middle << 64 | low(lowest) }
    }

    /// The nearest `f64`.
    pub(crate) fn to_f64(self) -> f64 {
        if self.high == 0 {
            return self.low as f64;
        }
        let free = self.high.leading_zeros();
        let leading = self.high << free | self.low.checked_shr(u128::BITS - free).unwrap_or(0);
        // A sticky bit far below the last bit kept: it only distinguishes a tie from a number above
        // it.
        let rest = u128::from(self.low << free != 0);
        (leading | rest) as f64 * 2_f64.powi((u128::BITS - free).cast_signed())
    }
}

impl Add for Wide {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (low, carry) = self.low.overflowing_add(other.low);
        Self { high: self.high + other.high + u128::from(carry), low }
    }
}

impl Sub for Wide {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let (low, borrow) = self.low.overflowing_sub(other.low);
        Self { high: self.high - other.high - u128::from(borrow), low }
    }
}

impl AddAssign for Wide {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// `a / b`, rounded once, so that equal shares give equal floats; `b` is above 0 and below 2^127.
pub(crate) fn quotient(a: u128, b: u128) -> f64 {
    const EXACT: u128 = 1 << f64::MANTISSA_DIGITS;
    debug_assert!(b > 0 && b >> 127 == 0);
    if a <= EXACT && b <= EXACT || a == 0 {
        return a as f64 / b as f64;
    }
    let (mut bits, mut rest, mut scale) = (a / b, a % b, 0);
    while bits >> 64 == 0 {
        rest <<= 1;
        bits = bits << 1 | u128::from(rest >= b);
        rest -= if rest >= b { b } else { 0 };
        scale += 1;
    }
    (bits | u128::from(rest > 0)) as f64 * 0.5_f64.powi(scale)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    /// A number of 256 bits as four digits, by schoolbook multiplication of halves.
    fn product_by_digits(a: u128, b: u128) -> [u64; 4] {
        let digits = |n: u128| [n as u32, (n >> 32) as u32, (n >> 64) as u32, (n >> 96) as u32];
        let mut sums = [0_u128; 8];
        for (i, x) in digits(a).into_iter().enumerate() {
            for (j, y) in digits(b).into_iter().enumerate() {
                sums[i + j] += u128::from(x) * u128::from(y);
            }
        }
        let mut carry = 0;
        let halves = sums.map(|sum| {
            carry += sum;
            let digit = carry as u32;
            carry >>= 32;
            u64::from(digit)
        });
        [0, 1, 2, 3].map(|i| halves[2 * i] | halves[2 * i + 1] << 32)
    }

    fn any_size() -> impl Strategy<Value = u128> {
        (any::<u128>(), 0..128_u32).prop_map(|(number, shift)| number >> shift)
    }

    proptest! {
        #[test]
        fn a_product_has_the_digits_of_long_multiplication(a in any_size(), b in any_size()) {
            let product = Wide::product(a, b);
            let [d0, d1, d2, d3] = product_by_digits(a, b).map(u128::from);
            prop_assert_eq!((product.high, product.low), (d3 << 64 | d2, d1 << 64 | d0));
        }

        #[test]
        fn sums_carry_and_differences_borrow(a in any_size(), b in any_size(), c in any_size()) {
            // (a + b) c = a c + b c.
            let (a, b) = (a >> 1, b >> 1);
            let sum = Wide::product(a, c) + Wide::product(b, c);
            prop_assert_eq!(sum, Wide::product(a + b, c));
            prop_assert_eq!(sum - Wide::product(b, c), Wide::product(a, c));
        }

        #[test]
        fn numbers_become_the_nearest_float(mantissa in 1_u64 << 53..1 << 54, shift in 0..128_u32) {
            // An odd number of 54 bits is a tie, which goes to the even neighbour; with any bit
            // below it, it goes up.
            let tied = u128::from(mantissa | 1);
            let powers = |below: u128| {
                let number = Wide::product(tied, 1 << (shift / 2)).low;
                let scaled = Wide::product(number, 1 << (shift - shift / 2));
                (scaled + Wide { high: 0, low: below }).to_f64()
            };
            let unit = 2_f64.powi(shift.cast_signed());
            prop_assert_eq!(powers(0), tied as f64 * unit);
            if shift > 1 {
                prop_assert_eq!(powers(1), (tied + 1) as f64 * unit);
            }
        }

        #[test]
        fn a_quotient_is_the_nearest_float(a in 1..1_u64 << 60, b in 1..1_u64 << 60) {
            let (a, b) = (u128::from(a), u128::from(b));
            let found = quotient(a, b).to_bits();
            let mantissa = u128::from(found & ((1 << 52) - 1) | 1 << 52);
            let exponent = 1075 - (found >> 52) as i32;
            // No further off than half a unit in the last place: |2 a 2^e - 2 b m| <= b.
            let (up, down) = (exponent.max(0), (-exponent).max(0));
            let exact = Wide::product(2 * a, 1 << up);
            let rounded = Wide::product(2 * b, mantissa << down);
            let half = Wide::product(b, 1 << down);
            prop_assert!(exact <= rounded + half && rounded <= exact + half);
        }

        #[test]
        fn equal_shares_are_equal_floats(a in 0..1_u64 << 40, b in 1..1_u64 << 40, by in 1..1_u64 << 60) {
            let (a, b, by) = (u128::from(a), u128::from(b), u128::from(by));
            prop_assert_eq!(quotient(a * by, b * by), quotient(a, b));
        }
    }
}
