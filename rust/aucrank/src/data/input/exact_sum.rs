//! Rounding of values so that their sums are exact.

use std::ops::{Add, AddAssign, Sub};

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
#[cfg(feature = "serde")]
pub(crate) fn to_units(value: f64) -> Option<i64> {
    (is_snapped(value) && value.abs() <= LARGEST_SUM).then(|| (value / VALUE_UNIT) as i64)
}

/// The value of so many units; rounded where they are more than [`LARGEST_SUM`].
#[cfg(feature = "serde")]
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
        // A sticky bit far below the last bit kept: it only distinguishes a tie from a number above it.
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
mod tests_of_wide {
    use proptest::prelude::*;

    use super::*;

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
