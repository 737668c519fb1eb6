//! Scores with their classes and weights, validated once for every statistic.

use std::ops::Range;

use super::chunks::by_chunks;
use super::mass::{FewBits, ManyBits, Shifted, Unit};
use super::score::{Extremes, Score};
use crate::RankError;

/// Rows that stay in the first-level cache while several loops process them.
pub(super) const PIECE: usize = 1024;

/// Rows whose number fits in a byte.
const BYTES: usize = 128;

/// Row weights, raw and as integers.
pub(super) trait Weigh: Copy + Sync {
    /// Raw weight of a row, as returned by [`Weigh::slice`].
    type Raw: Copy;
    /// Weight of a row in units of its class.
    type Unit: Unit;
    /// The weights of the rows `start..end`.
    fn slice(
        &self,
        start: usize,
        end: usize,
    ) -> impl DoubleEndedIterator<Item = Self::Raw> + ExactSizeIterator;
    /// Whether the row has positive weight.
    fn counts(&self, raw: Self::Raw) -> bool;
    /// The weight of a row of this class, in units.
    fn units(&self, raw: Self::Raw, positive: bool) -> Self::Unit;
    /// Binary exponents of the units of the negative and of the positive class.
    fn exponents(&self) -> [i32; 2];
}

/// Sums of weights in units.
pub(super) type MassOf<W> = <<W as Weigh>::Unit as Unit>::Mass;

/// Every row has weight 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unweighted;

impl Weigh for Unweighted {
    type Raw = ();
    type Unit = u64;

    #[inline]
    fn slice(
        &self,
        start: usize,
        end: usize,
    ) -> impl DoubleEndedIterator<Item = ()> + ExactSizeIterator {
        std::iter::repeat_n((), end - start)
    }

    #[inline]
    fn counts(&self, (): ()) -> bool {
        true
    }

    #[inline]
    fn units(&self, (): (), _: bool) -> u64 {
        1
    }

    fn exponents(&self) -> [i32; 2] {
        [0; 2]
    }
}

/// Weights that are converted as they are read.
macro_rules! weigh_raw {
    ($weights:ident, $unit:ty) => {
        impl Weigh for $weights<'_> {
            type Raw = f64;
            type Unit = $unit;

            #[inline]
            fn slice(
                &self,
                start: usize,
                end: usize,
            ) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator {
                self.raw[start..end].iter().copied()
            }

            #[inline]
            fn counts(&self, raw: f64) -> bool {
                raw > 0.0
            }

            #[inline]
            fn units(&self, raw: f64, positive: bool) -> $unit {
                $weights::units(self, raw, positive)
            }

            fn exponents(&self) -> [i32; 2] {
                self.exponents
            }
        }
    };
}

weigh_raw!(FewBits, u64);
weigh_raw!(ManyBits, Shifted);

/// Order of the scores in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputOrder {
    Ascending,
    Descending,
    None,
}

/// Validated input.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreSample<'a, S, W> {
    pub scores: &'a [S],
    pub positive: &'a [bool],
    pub weights: W,
    pub order: InputOrder,
    pub extremes: Extremes<S>,
}

impl<'a, S: Score, W: Weigh> ScoreSample<'a, S, W> {
    /// Validates the input in one pass.
    pub fn new(scores: &'a [S], positive: &'a [bool], weights: W) -> Result<Self, RankError> {
        let (sample, n_pos) = Self::of_any_class(scores, positive, weights)?;
        let n_neg = positive.len() - n_pos;
        if n_pos == 0 || n_neg == 0 {
            return Err(RankError::OneClass { n_pos, n_neg });
        }
        Ok(sample)
    }

    /// A sample in which a class may be absent, and the number of its positive rows.
    pub fn of_any_class(
        scores: &'a [S],
        positive: &'a [bool],
        weights: W,
    ) -> Result<(Self, usize), RankError> {
        let n = positive.len();
        if scores.len() != n {
            return Err(RankError::LengthMismatch {
                name: "y_score",
                found: scores.len(),
                expected: n,
            });
        }
        // One score more than labels: parts overlap, so that every pair of neighbours is compared.
        let of_part = |rows: Range<usize>| {
            ScoreSurvey::of(&scores[rows.start..(rows.end + 1).min(n)], &positive[rows])
        };
        let survey = by_chunks(n, of_part).into_iter().fold(ScoreSurvey::EMPTY, ScoreSurvey::merge);
        if survey.has_nan {
            let row = scores.iter().position(|s| s.partial_cmp(s).is_none());
            return Err(RankError::NanScore(row.unwrap_or_default()));
        }
        let order = match (survey.ascending, survey.descending) {
            (true, _) => InputOrder::Ascending,
            (false, true) => InputOrder::Descending,
            (false, false) => InputOrder::None,
        };
        Ok((Self { scores, positive, weights, order, extremes: survey.extremes }, survey.n_pos))
    }
}

/// Summary of one pass over some rows.
#[derive(Clone, Copy)]
struct ScoreSurvey<S> {
    has_nan: bool,
    n_pos: usize,
    ascending: bool,
    descending: bool,
    extremes: Extremes<S>,
}

impl<S: Score> ScoreSurvey<S> {
    const EMPTY: Self = Self {
        has_nan: false,
        n_pos: 0,
        ascending: true,
        descending: true,
        extremes: Extremes::NONE,
    };

    fn of(scores: &[S], positive: &[bool]) -> Self {
        let mut survey = Self::EMPTY;
        for (piece, positive) in positive.chunks(PIECE).enumerate() {
            let start = piece * PIECE;
            let end = start + positive.len();
            let own = &scores[start..end];
            // Sums of bytes: eight times as many at once.
            let counts = positive.chunks(BYTES).map(|p| p.iter().map(|&p| u8::from(p)).sum::<u8>());
            survey.n_pos += counts.map(usize::from).sum::<usize>();
            survey.has_nan |= own.iter().fold(false, |nan, s| nan | s.partial_cmp(s).is_none());
            survey.extremes = survey.extremes.merge(Extremes::of(own));
            if survey.ascending || survey.descending {
                let next = &scores[start + 1..scores.len().min(end + 1)];
                let (mut rises, mut falls) = (false, false);
                for (a, b) in own.iter().zip(next) {
                    rises |= a < b;
                    falls |= a > b;
                }
                survey.ascending &= !falls;
                survey.descending &= !rises;
            }
        }
        survey
    }

    fn merge(self, other: Self) -> Self {
        Self {
            has_nan: self.has_nan | other.has_nan,
            n_pos: self.n_pos + other.n_pos,
            ascending: self.ascending & other.ascending,
            descending: self.descending & other.descending,
            extremes: self.extremes.merge(other.extremes),
        }
    }
}
