//! Scores as unsigned integers in the same order.

use std::borrow::Cow;
use std::fmt::Debug;

mod sealed {
    pub trait SealedScore {}
    impl SealedScore for f32 {}
    impl SealedScore for f64 {}
}

/// A type of score: `f32` or `f64`. Infinities are legal scores, NaN is not, and `-0.0` ties with
/// `0.0`.
///
/// # Examples
///
/// ```
/// use aucrank::RankError;
/// use aucrank::roc::{Score, auc};
///
/// fn gini<S: Score>(scores: &[S], positive: &[bool]) -> Result<f64, RankError> {
///     Ok(2.0 * auc(scores, positive)? - 1.0)
/// }
///
/// // Of four pairs the positive row ranks higher in three.
/// let positive = [false, true, false, true];
/// assert_eq!(gini(&[1.0_f32, 2.0, 3.0, 4.0], &positive)?, 0.5);
/// assert_eq!(gini(&[1.0_f64, 2.0, 3.0, 4.0], &positive)?, 0.5);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub trait Score: sealed::SealedScore + Copy + PartialOrd + Into<f64> + Debug + Send + Sync {
    /// Unsigned integer of the same width.
    #[doc(hidden)]
    type Key: Word;

    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    const INFINITY: Self;
    #[doc(hidden)]
    const NEG_INFINITY: Self;

    /// The absolute value.
    #[doc(hidden)]
    #[must_use]
    fn size(self) -> Self;

    /// Keys are ordered as the scores are, and equal if the scores are.
    #[doc(hidden)]
    fn key(self) -> Self::Key;

    /// The score of a key.
    #[doc(hidden)]
    fn from_key(key: Self::Key) -> Self;

    #[doc(hidden)]
    #[must_use]
    fn code(self, offsets: &Offsets<Self::Key>) -> Self::Key;

    /// The scores as `f64`.
    #[doc(hidden)]
    fn widened(scores: &[Self]) -> Cow<'_, [f64]>;
}

/// What makes a code of the bits of a score.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Offsets<K> {
    /// Added to the complement of the bits of a score below zero, and to the bits of one above.
    negative: K,
    positive: K,
    /// Bits in place of those of zero.
    zero: K,
}

/// An unsigned integer that can hold the code of a score.
#[doc(hidden)]
pub trait Word: Copy + Default + Ord + Debug + Send + Sync + Into<u64> {
    const BITS: u32;
    /// The low bits of `value`.
    fn truncate(value: u64) -> Self;
}

macro_rules! score {
    ($float:ty, $word:ty, $widened:expr) => {
        impl Score for $float {
            type Key = $word;

            const ZERO: Self = 0.0;
            const INFINITY: Self = <$float>::INFINITY;
            const NEG_INFINITY: Self = <$float>::NEG_INFINITY;

            #[inline]
            fn size(self) -> Self {
                self.abs()
            }

            #[inline]
            fn key(self) -> $word {
                // Adding 0.0 turns -0.0 into 0.0 and leaves every other score unchanged.
                let bits = (self + 0.0).to_bits();
                // Floats are stored as sign and size: all bits of a negative number are flipped,
                // since a larger size ranks lower, and the sign bit of the others. The shift fills
                // a word with the sign, which takes no branch.
                let negative = (bits.cast_signed() >> (<$word>::BITS - 1)).cast_unsigned();
                bits ^ (negative | 1 << (<$word>::BITS - 1))
            }

            #[inline]
            fn from_key(key: $word) -> Self {
                let positive = (key.cast_signed() >> (<$word>::BITS - 1)).cast_unsigned();
                Self::from_bits(key ^ (!positive | 1 << (<$word>::BITS - 1)))
            }

            #[inline]
            fn code(self, offsets: &Offsets<$word>) -> $word {
                // Masks of two comparisons of floats, and no branch or look-up, which the compiler
                // turns into vectors of any processor.
                let mask = |is_true: bool| if is_true { <$word>::MAX } else { 0 };
                let (zero, negative) = (mask(self == 0.0), mask(self < 0.0));
                let bits = (self.to_bits() & !zero) | (offsets.zero & zero);
                let offset = (offsets.positive & !negative) | (offsets.negative & negative);
                (bits ^ negative).wrapping_add(offset)
            }

            fn widened(scores: &[Self]) -> Cow<'_, [f64]> {
                $widened(scores)
            }
        }

        impl Word for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline]
            fn truncate(value: u64) -> Self {
                value as $word
            }
        }
    };
}

score!(f32, u32, |scores: &[f32]| scores.iter().map(|&score| score.into()).collect());
score!(f64, u64, Cow::Borrowed);

/// Least and greatest score, and how close to zero they come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extremes<S> {
    pub least: S,
    pub greatest: S,
    /// Least distance from zero of a score other than zero; infinity if there is none. One bound
    /// for both signs takes half the time of two.
    pub nearest: S,
}

impl<S: Score> Extremes<S> {
    pub const NONE: Self =
        Self { least: S::INFINITY, greatest: S::NEG_INFINITY, nearest: S::INFINITY };

    #[inline]
    fn of_one(s: S) -> Self {
        let size = s.size();
        let nearest = if size > S::ZERO { size } else { S::INFINITY };
        Self { least: s, greatest: s, nearest }
    }

    #[inline]
    pub fn merge(self, other: Self) -> Self {
        let min = |a: S, b: S| if b < a { b } else { a };
        let max = |a: S, b: S| if b > a { b } else { a };
        Self {
            least: min(self.least, other.least),
            greatest: max(self.greatest, other.greatest),
            nearest: min(self.nearest, other.nearest),
        }
    }

    /// Extremes of `scores`; NaN is ignored.
    pub fn of(scores: &[S]) -> Self {
        // Independent lanes, so that the compiler vectorises.
        const LANES: usize = 8;
        let mut lanes = [Self::NONE; LANES];
        let chunks = scores.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (lane, &s) in lanes.iter_mut().zip(chunk) {
                *lane = lane.merge(Self::of_one(s));
            }
        }
        let rest = rest.iter().fold(Self::NONE, |extremes, &s| extremes.merge(Self::of_one(s)));
        lanes.into_iter().fold(rest, Self::merge)
    }
}

/// Dense codes of scores from 0 upwards that skip the unused range of keys around zero.
///
/// Half of all floating-point numbers are between -1 and 1, most of them so close to zero that no
/// score is there. Without that gap the leading bits of a code discriminate scores of both signs as
/// well as those of one sign.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreCoding<S: Score> {
    zero: S::Key,
    /// Offset subtracted from a key below, at and above that of zero.
    off: [u64; 3],
    offsets: Offsets<S::Key>,
    /// Greatest code.
    pub last: u64,
}

impl<S: Score> ScoreCoding<S> {
    pub fn new(extremes: Extremes<S>) -> Self {
        let zero = S::ZERO.key();
        let first: u64 = extremes.least.key().into();
        let zero_key: u64 = zero.into();
        let above: u64 = extremes.nearest.key().into();
        // Keys are symmetrical about that of zero: the last code below it is as far away.
        let below = zero_key.wrapping_sub(above - zero_key) - 1;
        let n_negative = if extremes.least < S::ZERO { below - first + 1 } else { 0 };
        // The code of zero is `n_negative`, and that of the least positive score the one after it.
        let mut coding = Self {
            zero,
            off: [first, zero_key.wrapping_sub(n_negative), above.wrapping_sub(n_negative + 1)],
            offsets: Offsets::default(),
            last: 0,
        };
        // The bits of a score above zero are its key without the leading bit, which is that of zero.
        let positive = zero_key.wrapping_sub(coding.off[2]);
        coding.offsets = Offsets {
            negative: S::Key::truncate(first.wrapping_neg()),
            positive: S::Key::truncate(positive),
            zero: S::Key::truncate(n_negative.wrapping_sub(positive)),
        };
        coding.last = coding.code(extremes.greatest).into();
        coding
    }

    #[inline]
    pub fn code(&self, score: S) -> S::Key {
        score.code(&self.offsets)
    }

    /// The codes of `scores`, of which there are at most as many as places.
    #[inline]
    pub fn fill(&self, scores: &[S], codes: &mut [S::Key]) {
        for (code, &score) in codes.iter_mut().zip(scores) {
            *code = self.code(score);
        }
    }

    /// The score of a code.
    #[inline]
    pub fn score(&self, code: S::Key) -> S {
        let code = code.into();
        let zero: u64 = self.zero.into();
        let key = |off: u64| S::Key::truncate(code.wrapping_add(off));
        // The code of zero: its key less its offset.
        match code.cmp(&zero.wrapping_sub(self.off[1])) {
            std::cmp::Ordering::Less => S::from_key(key(self.off[0])),
            std::cmp::Ordering::Equal => S::from_key(key(self.off[1])),
            std::cmp::Ordering::Greater => S::from_key(key(self.off[2])),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_order_and_return<S: Score>(scores: &[S]) {
        let coding = ScoreCoding::new(Extremes::of(scores));
        for &a in scores {
            assert_eq!(coding.score(coding.code(a)), a);
            assert!(coding.code(a).into() <= coding.last);
            for &b in scores {
                assert_eq!(coding.code(a).cmp(&coding.code(b)), a.partial_cmp(&b).unwrap());
            }
        }
    }

    #[test]
    fn codes_keep_the_order_of_awkward_scores_of_either_width() {
        let ends = [f64::NEG_INFINITY, f64::MIN, -1.5, -5e-324, -0.0, 0.0, 5e-324, 1.0, f64::MAX];
        for first in 0..ends.len() {
            for last in first + 1..=ends.len() {
                check_order_and_return(&ends[first..last]);
                let narrow: Vec<f32> = ends[first..last].iter().map(|&s| s as f32).collect();
                check_order_and_return(&narrow);
            }
        }
        check_order_and_return(&[f64::NEG_INFINITY, f64::INFINITY]);
    }

    #[test]
    fn codes_of_scores_around_zero_skip_the_gap() {
        let coding = ScoreCoding::new(Extremes::of(&[-2.0_f64, -1.0, 0.0, 1.0, 2.0]));
        assert_eq!(coding.last, 2 * (1 << 52) + 2);
    }

    proptest! {
        #[test]
        fn codes_keep_the_order(scores in prop::collection::vec(any::<f64>(), 1..40)) {
            let narrow: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
            check_order_and_return(&scores);
            check_order_and_return(&narrow);
        }
    }
}
