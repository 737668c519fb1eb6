//! Row weights as integer multiples of a unit of their class, in one word or two.
//!
//! Every statistic of this module is a ratio of weights within a class, so each class has its own
//! unit: the largest power of two that divides all its weights. Nothing is then rounded. One word
//! suffices for counts and weights of few digits; two words for weights of full `f64` precision
//! over some twenty decades and more. Weights further apart are summed score by score, in as many
//! words as needed ([`RocState`](super::RocState)).

use std::fmt::Debug;
use std::ops::{Add, AddAssign, Range, Shl, Shr, Sub};

use super::chunks::by_chunks;
use crate::RankError;
use crate::data::{Wide, power_of_two_factors, times_power_of_two};

/// A sum of weights, in units.
pub(super) trait Mass:
    Copy
    + Default
    + Debug
    + Ord
    + Send
    + Sync
    + From<u64>
    + Into<u128>
    + Add<Output = Self>
    + Sub<Output = Self>
    + AddAssign
    + std::iter::Sum
    + 'static
{
    /// A sum of products.
    type Product: Copy
        + Default
        + Debug
        + Ord
        + Send
        + Sync
        + Add<Output = Self::Product>
        + Sub<Output = Self::Product>
        + AddAssign;

    fn times(self, other: Self) -> Self::Product;

    /// The weight of that many rows of this weight.
    fn repeated(self, count: u64) -> Self;

    /// The nearest `f64`.
    fn to_f64(self) -> f64;

    /// The nearest `f64` of a product.
    fn product_to_f64(product: Self::Product) -> f64;

    /// The first product less the second, without cancellation error.
    fn difference(a: Self::Product, b: Self::Product) -> f64 {
        if a >= b { Self::product_to_f64(a - b) } else { -Self::product_to_f64(b - a) }
    }

    /// Twice the number of pairs of two classes, the maximum of half-wins.
    fn half_wins_of(positive: Self, negative: Self) -> f64 {
        Self::product_to_f64((positive + positive).times(negative))
    }
}

/// At most 2^53 in total.
impl Mass for u64 {
    type Product = u128;

    #[inline]
    fn times(self, other: Self) -> u128 {
        u128::from(self) * u128::from(other)
    }

    #[inline]
    fn repeated(self, count: u64) -> Self {
        self * count
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self as f64
    }

    #[inline]
    fn product_to_f64(product: u128) -> f64 {
        product as f64
    }
}

/// At most `2^MOST_BITS` in total.
impl Mass for u128 {
    type Product = Wide;

    #[inline]
    fn times(self, other: Self) -> Wide {
        Wide::product(self, other)
    }

    #[inline]
    fn repeated(self, count: u64) -> Self {
        self * Self::from(count)
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self as f64
    }

    #[inline]
    fn product_to_f64(product: Wide) -> f64 {
        product.to_f64()
    }
}

/// The weight of a row, as stored with it.
pub(super) trait Unit: Copy + Default + Send + Sync {
    type Mass: Mass;

    fn mass(self) -> Self::Mass;
}

impl Unit for u64 {
    type Mass = u64;

    #[inline]
    fn mass(self) -> u64 {
        self
    }
}

/// A mass of at most 53 significant bits in one word: the digits and their shift.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Shifted(u64);

impl Unit for Shifted {
    type Mass = u128;

    #[inline]
    fn mass(self) -> u128 {
        // 53 digits and 7 bits of shift fit in a word. Stored as `u128`, which is aligned to 16
        // bytes, a row would take 32 bytes while it is sorted, not 16.
        u128::from(self.0 >> 7) << (self.0 & 127)
    }
}

/// Bits of the total weight of a class in one word; also exact in `f64`.
const FEW_BITS: i32 = 53;

/// Bits of the total weight of a class in two words; twice the total still fits.
pub(super) const MOST_BITS: i32 = 126;

/// `(digits, exponent)` of a weight, which is `digits * 2^exponent`; the digits are odd unless 0.
#[inline]
pub(super) fn digits(weight: f64) -> (u64, i32) {
    let bits = weight.to_bits();
    let (biased, fraction) = ((bits >> 52) as i32 & 0x7FF, bits & ((1 << 52) - 1));
    let digits = if biased == 0 { fraction } else { fraction | 1 << 52 };
    let spare = digits.trailing_zeros().min(63);
    (digits >> spare, biased.max(1) - 1075 + spare.cast_signed())
}

/// Checked row weights, in as few words as possible.
#[derive(Debug, Clone, Copy)]
pub(super) enum Weights<'a> {
    /// One word holds the sum of each class.
    Few(FewBits<'a>),
    /// Two words do.
    Many(ManyBits<'a>),
}

impl<'a> Weights<'a> {
    /// Checks the weights of rows of two classes.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`], or [`RankError::BadWeight`] for the first weight that is
    /// negative, NaN or infinite.
    pub fn new(raw: &'a [f64], positive: &[bool]) -> Result<Self, RankError> {
        if raw.len() != positive.len() {
            let (found, expected) = (raw.len(), positive.len());
            return Err(RankError::LengthMismatch { name: "sample_weight", found, expected });
        }
        let checks = by_chunks(raw.len(), |rows| WeightCheck::of(&raw[rows]));
        let check = checks.into_iter().fold(WeightCheck::default(), WeightCheck::merge);
        if check.is_bad {
            let row = raw.iter().position(|&weight| !is_weight(weight)).unwrap_or_default();
            return Err(RankError::BadWeight { row, value: raw[row] });
        }
        // Below the limit no sum of whole numbers was rounded.
        if !check.has_fractions && check.total < 2_f64.powi(FEW_BITS) {
            return Ok(Self::Few(FewBits { raw, exponents: [0; 2], factors: None }));
        }
        let spans_of = |rows: Range<usize>| {
            let mut spans = [WeightSpan::default(); 2];
            for (&weight, &positive) in raw[rows.clone()].iter().zip(&positive[rows]) {
                if weight > 0.0 {
                    spans[usize::from(positive)].add(weight);
                }
            }
            spans
        };
        let mut spans = [WeightSpan::default(); 2];
        for of_part in by_chunks(raw.len(), spans_of) {
            for (span, other) in spans.iter_mut().zip(of_part) {
                span.merge(other);
            }
        }
        // A class without weight is refused later; its unit is irrelevant.
        let spans = spans.map(|span| if span.rows == 0 { WeightSpan::NONE } else { span });
        let bits = spans.map(|span| span.top() - span.low);
        if bits.iter().all(|&bits| bits <= FEW_BITS) {
            let exponents = spans.map(|span| span.low);
            let factors = Some(exponents.map(|exponent| power_of_two_factors(-exponent)));
            return Ok(Self::Few(FewBits { raw, exponents, factors }));
        }
        let is_exact = bits.iter().all(|&bits| bits <= MOST_BITS);
        // If weights are too far apart, the smallest lose digits.
        let exponents = spans.map(|span| span.low.max(span.top() - MOST_BITS));
        Ok(Self::Many(ManyBits { raw, exponents, is_exact }))
    }
}

/// Whether a number may be a weight: finite and not negative.
#[inline]
fn is_weight(number: f64) -> bool {
    (0.0..=f64::MAX).contains(&number)
}

/// What one pass over weights of both classes finds.
#[derive(Debug, Clone, Copy, Default)]
struct WeightCheck {
    /// Whether a weight is negative, NaN or infinite.
    is_bad: bool,
    has_fractions: bool,
    total: f64,
}

impl WeightCheck {
    #[expect(clippy::float_cmp, reason = "a whole number is one exactly")]
    fn of(weights: &[f64]) -> Self {
        // Independent lanes, so that the compiler vectorises.
        const LANES: usize = 8;
        // Adding it rounds numbers below it to whole ones; above it all are whole.
        const ROUNDING: f64 = (1_u64 << 52) as f64;
        let mut lanes = [Self::default(); LANES];
        for chunk in weights.chunks(LANES) {
            for (lane, &weight) in lanes.iter_mut().zip(chunk) {
                lane.is_bad |= !is_weight(weight);
                lane.has_fractions |= weight + ROUNDING - ROUNDING != weight;
                lane.total += weight;
            }
        }
        lanes.into_iter().fold(Self::default(), Self::merge)
    }

    fn merge(self, other: Self) -> Self {
        Self {
            is_bad: self.is_bad | other.is_bad,
            has_fractions: self.has_fractions | other.has_fractions,
            total: self.total + other.total,
        }
    }
}

/// The weights of one class, summarised to choose its unit; independent of the order of the rows.
#[derive(Debug, Clone, Copy)]
struct WeightSpan {
    rows: u64,
    /// Exponent of the lowest digit of all.
    low: i32,
    largest: f64,
}

impl Default for WeightSpan {
    fn default() -> Self {
        Self { rows: 0, low: i32::MAX, largest: 0.0 }
    }
}

impl WeightSpan {
    const NONE: Self = Self { rows: 0, low: 0, largest: 0.0 };

    fn add(&mut self, weight: f64) {
        self.rows += 1;
        self.low = self.low.min(digits(weight).1);
        self.largest = self.largest.max(weight);
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.low = self.low.min(other.low);
        self.largest = self.largest.max(other.largest);
    }

    /// Exponent of a power of two above the largest weight times the number of rows.
    fn top(&self) -> i32 {
        let (digits, exponent) = digits(self.largest);
        let bits = |number: u64| (u64::BITS - number.leading_zeros()).cast_signed();
        // The largest weight times the number of rows bounds the sum in any order of the rows. The
        // sum itself would have to be exact to do so, which is what the unit is chosen for.
        exponent + bits(digits) + bits(self.rows)
    }
}

/// Weights with at most 2^53 units per class, converted as they are read: a copy would take 8 bytes
/// per row.
#[derive(Debug, Clone, Copy)]
pub(super) struct FewBits<'a> {
    pub raw: &'a [f64],
    /// Binary exponents of the units of the negative and of the positive class.
    pub exponents: [i32; 2],
    /// For each class, two factors whose product converts weights to units; `None` if they are
    /// units.
    factors: Option<[[f64; 2]; 2]>,
}

impl<'a> FewBits<'a> {
    /// Integer weights, which are units already.
    pub fn whole(raw: &'a [f64]) -> Self {
        Self { raw, exponents: [0; 2], factors: None }
    }

    #[inline]
    pub fn units(&self, weight: f64, positive: bool) -> u64 {
        match &self.factors {
            None => weight as u64,
            Some(factors) => {
                let [a, b] = factors[usize::from(positive)];
                // Both factors are powers of two, so the product is exact. One factor could be out
                // of the range of `f64`: the unit of subnormal weights is 2^-1074.
                (weight * a * b) as u64
            }
        }
    }
}

/// Weights that need more than one word.
#[derive(Debug, Clone, Copy)]
pub(super) struct ManyBits<'a> {
    pub raw: &'a [f64],
    /// Binary exponents of the units of the negative and of the positive class.
    pub exponents: [i32; 2],
    /// Whether no weight is rounded.
    pub is_exact: bool,
}

impl ManyBits<'_> {
    #[inline]
    pub fn units(&self, weight: f64, positive: bool) -> Shifted {
        if weight <= 0.0 {
            return Shifted::default();
        }
        let (digits, exponent) = digits(weight);
        let shift = exponent - self.exponents[usize::from(positive)];
        if shift >= 0 {
            return Shifted(digits << 7 | u64::from(shift.cast_unsigned()));
        }
        // Rounded, but never to zero: a row of positive weight keeps one.
        let half = digits.checked_shr(shift.unsigned_abs() - 1).unwrap_or(0);
        Shifted((half.div_ceil(2)).max(1) << 7)
    }
}

/// Brings the masses of one class into a canonical unit: the largest that divides all of them, but
/// 1 for integers of few bits. The result does not depend on the unit they came in. Returns its
/// exponent.
pub(super) fn simplest<M>(masses: &mut [M], exponent: i32) -> i32
where
    M: Mass + Shr<u32, Output = M> + Shl<u32, Output = M>,
{
    let all: u128 = masses.iter().fold(0, |all, &mass| all | mass.into());
    if all == 0 {
        return exponent;
    }
    let spare = all.trailing_zeros();
    let bits = (u128::BITS - (all >> spare).leading_zeros()).cast_signed();
    let mut least = exponent + spare.cast_signed();
    if least > 0 && bits + least <= FEW_BITS {
        least = 0;
    }
    let shift = least - exponent;
    if shift != 0 {
        for mass in masses {
            *mass = if shift > 0 {
                *mass >> shift.unsigned_abs()
            } else {
                *mass << shift.unsigned_abs()
            };
        }
    }
    least
}

/// Whether masses of at most this size fit in one word.
pub(super) fn is_few(mass: u128) -> bool {
    mass <= 1 << FEW_BITS
}

/// `a / (a + b)` for masses in units of powers of two.
pub(super) fn share_of_sum<M: Mass>(a: M, b: M, [unit_a, unit_b]: [i32; 2]) -> f64 {
    if unit_a == unit_b {
        return a.to_f64() / (a + b).to_f64();
    }
    let (a, b) = (a.to_f64(), times_power_of_two(b.to_f64(), unit_b - unit_a));
    a / (a + b)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn digits_and_exponent_give_the_weight(bits in 0..f64::INFINITY.to_bits()) {
            let weight = f64::from_bits(bits);
            let (digits, exponent) = digits(weight);
            prop_assert!(digits % 2 == 1 || digits == 0);
            prop_assert_eq!(times_power_of_two(digits as f64, exponent), weight);
        }

        #[test]
        fn units_of_a_class_are_its_weights(
            rows in prop::collection::vec((any::<bool>(), 0.5..1.0, 0..30_i32), 1..40),
            spread in 0..2_i32,
        ) {
            let positive: Vec<bool> = rows.iter().map(|row| row.0).collect();
            let power = |row: &(bool, f64, i32)| 2_f64.powi(row.2 * spread - 500 * i32::from(row.0));
            let raw: Vec<f64> = rows.iter().map(|row| row.1 * power(row)).collect();
            let halves: Vec<f64> = rows.iter().map(|row| f64::from(row.2) / 2.0).collect();
            for raw in [raw, halves] {
                for (row, &positive_row) in positive.iter().enumerate() {
                    let class = usize::from(positive_row);
                    let (units, exponent) = match Weights::new(&raw, &positive).unwrap() {
                        Weights::Few(few) => (few.units(raw[row], positive_row).into(), few.exponents[class]),
                        Weights::Many(many) => {
                            prop_assert!(many.is_exact);
                            (many.units(raw[row], positive_row).mass(), many.exponents[class])
                        }
                    };
                    prop_assert_eq!(times_power_of_two(units as f64, exponent), raw[row]);
                }
            }
        }
    }

    #[test]
    fn masses_have_one_canonical_form() {
        let mut masses = [12_u64, 40, 8];
        // Eighths: 12, 40 and 8 of 2^-5 are 3, 10 and 2 of 2^-3.
        assert_eq!((simplest(&mut masses, -5), masses), (-3, [3, 10, 2]));
        let mut whole = [12_u64, 40, 8];
        assert_eq!((simplest(&mut whole, 0), whole), (0, [12, 40, 8]));
        let mut halves = [12_u64, 40, 8];
        assert_eq!((simplest(&mut halves, 1), halves), (0, [24, 80, 16]));
        let mut large = [3_u128 << 60, 0];
        assert_eq!((simplest(&mut large, 0), large), (60, [3, 0]));
    }

    #[test]
    fn weights_further_apart_than_two_words_never_round_to_nothing() {
        let raw = [1e300, 1e-300, 3.0];
        let Weights::Many(many) = Weights::new(&raw, &[true, true, false]).unwrap() else {
            panic!("more bits than a word has");
        };
        assert!(!many.is_exact);
        assert_eq!(many.units(1e-300, true).mass(), 1);
        assert_eq!(many.units(3.0, false).mass(), 3);
    }
}
