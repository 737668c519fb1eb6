//! What `RankBoost` and `AUCBoost` ask of rows, and what they answer.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::{
    Binned, ClassMasses, FeatureBins, Histogram, HistogramRequest, RowSquares, empty_histograms,
};
use crate::rows::words::Reader;
use crate::rows::{Mergeable, ScoreCounts, ScoreRanges, other, put_packed, take_packed_list};

/// A question about rows that rounds reweight.
///
/// Steps are sent once. A holder that lacks earlier ones answers that it is behind, and is then sent
/// all of them.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct RoundAsk {
    /// Whether weights are counts of copies, or all 1.
    pub(super) counts_copies: bool,
    /// Steps that were told before.
    pub(super) n_before: usize,
    pub(super) steps: Vec<RoundStep>,
    pub(super) want: RoundWant,
}

/// What changes the factors of the rows. Numbers are written as their bits.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) enum RoundStep {
    /// By the code of a feature: factors of a negative and of a positive row.
    Reweight { feature: usize, factors: Runs<[u64; 2]> },
    /// Factors are divided by two to these powers, negatives first.
    Rescale([i32; 2]),
}

/// A value for each code, in runs of equal ones.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct Runs<T>(Vec<(u32, T)>);

impl<T: Copy + PartialEq> Runs<T> {
    pub(super) fn of(values: impl Iterator<Item = T>) -> Self {
        let mut runs: Vec<(u32, T)> = Vec::new();
        for value in values {
            match runs.last_mut() {
                Some((n, last)) if *last == value => *n += 1,
                _ => runs.push((1, value)),
            }
        }
        Self(runs)
    }

    /// The values of the codes of a feature.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if there is no such feature, or it has another number of codes.
    pub(super) fn values(&self, binned: &Binned, feature: usize) -> Result<Vec<T>, RankError> {
        let n_codes = binned.features().get(feature).map(FeatureBins::n_codes);
        if n_codes.map(|n| n as u64) != Some(self.0.iter().map(|&(n, _)| u64::from(n)).sum()) {
            return Err(RankError::BadAnswer("a step is of other features".to_owned()));
        }
        let values = self.0.iter().flat_map(|&(n, value)| std::iter::repeat_n(value, n as usize));
        Ok(values.collect())
    }
}

/// For some features, once each, the bits of a value for each code; a score is their sum.
pub(super) type ScoreTables = Arc<Vec<(usize, Runs<u64>)>>;

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) enum RoundWant {
    /// Masses by code, given the bits of the mass of a copy of a row, and what the rows come to.
    Masses { bits: [i32; 2], squares: bool },
    /// Class weights by ranges of the score.
    Ranges { tables: ScoreTables, edges: Vec<u64> },
    /// Class weights of each score.
    Scores(ScoreTables),
}

/// What rows answer.
#[derive(Debug, Clone)]
pub(crate) enum RoundAnswer {
    /// Some holder lacks earlier steps.
    Behind,
    Masses(RoundSums),
    Ranges(ScoreRanges),
    Scores(ScoreCounts),
}

/// What reweighted rows come to.
#[derive(Debug, Clone)]
pub(crate) struct RoundSums {
    /// The largest factor of each class, negatives first.
    pub(super) largest: [f64; 2],
    pub(super) histogram: Histogram<ClassMasses>,
    pub(super) total: ClassMasses,
    /// If they were asked for.
    pub(super) squares: RowSquares,
}

impl RoundAnswer {
    /// That of no rows.
    pub(super) fn none(ask: &RoundAsk, binned: &Binned) -> Self {
        match &ask.want {
            RoundWant::Masses { .. } => {
                let all = HistogramRequest::all(0);
                let histogram = empty_histograms(binned, &[all]).pop().expect("one was asked for");
                let (largest, total, squares) = Default::default();
                Self::Masses(RoundSums { largest, histogram, total, squares })
            }
            RoundWant::Ranges { edges, .. } => Self::Ranges(ScoreRanges::none(edges.len() + 1)),
            RoundWant::Scores(_) => Self::Scores(ScoreCounts::default()),
        }
    }
}

impl Mergeable for RoundAnswer {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        match (&mut *self, more) {
            (Self::Behind, _) => {}
            (_, Self::Behind) => *self = Self::Behind,
            (Self::Masses(own), Self::Masses(more)) => {
                for (own, more) in own.largest.iter_mut().zip(more.largest) {
                    *own = own.max(more);
                }
                own.histogram.merge(more.histogram);
                own.total += more.total;
                own.squares.merge(&more.squares);
            }
            (Self::Ranges(own), Self::Ranges(more)) => own.merge(&more),
            (Self::Scores(own), Self::Scores(more)) => own.merge(&more),
            _ => return Err(other()),
        }
        Ok(())
    }

    fn put_words(&self, words: &mut Vec<u64>) {
        words.push(u64::from(matches!(self, Self::Behind)));
        match self {
            Self::Behind => {}
            Self::Masses(RoundSums { largest, histogram, total, squares }) => {
                words.extend(largest.map(f64::to_bits));
                let mut sums = Vec::new();
                histogram.put_words(&mut sums);
                words.push(sums.len() as u64);
                put_packed(words, &sums);
                words.extend([total.pos, total.neg]);
                words.extend(squares.to_words());
            }
            Self::Ranges(ranges) => ranges.put_words(words),
            Self::Scores(scores) => scores.put_words(words),
        }
    }

    fn take_words(&mut self, reader: &mut Reader<'_>) -> Result<(), RankError> {
        if reader.word()? != 0 {
            *self = Self::Behind;
            return Ok(());
        }
        match self {
            Self::Behind => {}
            Self::Masses(RoundSums { largest, histogram, total, squares }) => {
                *largest = reader.array::<2>()?.map(f64::from_bits);
                if !largest.iter().all(|factor| (0.0..f64::INFINITY).contains(factor)) {
                    return Err(RankError::BadAnswer("a factor is no factor".to_owned()));
                }
                let sums = take_packed_list(reader)?;
                let mut sums = Reader::new(&sums);
                histogram.take_words(|n| sums.take(n))?;
                sums.end()?;
                let &[pos, neg] = reader.array()?;
                *total = ClassMasses { pos, neg };
                *squares = RowSquares::from_words(reader.array()?);
            }
            Self::Ranges(ranges) => ranges.take_words(reader)?,
            Self::Scores(scores) => scores.take_words(reader)?,
        }
        Ok(())
    }
}
