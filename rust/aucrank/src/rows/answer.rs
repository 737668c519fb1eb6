//! What rows answer: sums, which are merged.

use super::ask::{Ask, Want};
use super::class_units::ClassUnits;
use super::frame::RowFrame;
use super::words::{self, Reader, put_list, put_sums};
use crate::RankError;
use crate::boost::{GradientSums, ProgramAnswer, RoundAnswer};
use crate::data::{ClassSums, Counts, Histogram, MOST_RANKED, RowSquares, empty_histograms};

/// Sums of some rows, to be merged with those of others.
///
/// # Examples
///
/// ```
/// use aucrank::rows::{Answer, Ask, Rows, StoredRows};
/// use aucrank::{Interrupt, RankError};
///
/// /// Asks one holder as if it were far away.
/// fn send(
///     ask: &Ask,
///     holder: &StoredRows,
///     interrupt: &Interrupt,
/// ) -> Result<Answer, RankError> {
///     let received = Ask::from_bytes(&ask.to_bytes())?;
///     let bytes = holder.pass(&received, interrupt)?.to_bytes();
///     Answer::from_bytes(&bytes, ask, holder.frame())
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Answer(pub(super) Sums);

#[derive(Debug, Clone)]
pub(super) enum Sums {
    Totals(Totals),
    /// Histograms of rows that count once each.
    Counts(Vec<Histogram<Counts>>),
    /// Histograms of weighted rows.
    Weights(Vec<Histogram<ClassSums>>),
    Leaves(Vec<ClassSums>),
    /// Negatives first.
    Hashes([Vec<u64>; 2]),
    ClassUnits(ClassUnits),
    Program(ProgramAnswer),
    Gradients(GradientSums),
    Round(RoundAnswer),
}

/// What the rows of a view come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) sums: ClassSums,
    pub(crate) squares: RowSquares,
    /// For each feature, whether some row misses it.
    pub(crate) has_missing: Vec<bool>,
}

impl Answer {
    /// That of no rows.
    pub(crate) fn none(ask: &Ask, frame: &RowFrame) -> Self {
        Self(match &ask.want {
            Want::Totals => Sums::Totals(Totals {
                has_missing: vec![false; frame.features.len()],
                ..Totals::default()
            }),
            Want::Histograms(requests) if frame.counts_fit() => {
                Sums::Counts(empty_histograms(&frame.no_rows(), requests))
            }
            Want::Histograms(requests) => {
                Sums::Weights(empty_histograms(&frame.no_rows(), requests))
            }
            Want::Leaves(tree) => Sums::Leaves(vec![ClassSums::default(); tree.n_leaves()]),
            Want::Hashes { .. } => Sums::Hashes(Default::default()),
            Want::ClassUnits => Sums::ClassUnits(ClassUnits::default()),
            Want::Program(ask) => Sums::Program(ProgramAnswer::none(ask, &frame.no_rows())),
            Want::Gradients(ask) => Sums::Gradients(GradientSums::none(ask, frame)),
            Want::Round(ask) => Sums::Round(RoundAnswer::none(ask, &frame.no_rows())),
        })
    }

    /// Adds the answer of other rows to the same question.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if it is one to another question.
    pub fn merge(&mut self, more: Self) -> Result<(), RankError> {
        match (&mut self.0, more.0) {
            (Sums::Totals(own), Sums::Totals(more)) => {
                own.sums += more.sums;
                own.squares.merge(&more.squares);
                for (own, more) in own.has_missing.iter_mut().zip(more.has_missing) {
                    *own |= more;
                }
            }
            (Sums::Counts(own), Sums::Counts(more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| own.merge(more));
            }
            (Sums::Weights(own), Sums::Weights(more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| own.merge(more));
            }
            (Sums::Leaves(own), Sums::Leaves(more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
            }
            (Sums::Hashes(own), Sums::Hashes(more)) => {
                for (own, more) in own.iter_mut().zip(more) {
                    own.extend(more);
                    own.sort_unstable();
                    own.dedup();
                    own.truncate(MOST_RANKED + 1);
                }
            }
            (Sums::ClassUnits(own), Sums::ClassUnits(more)) => own.merge(&more),
            (Sums::Program(own), Sums::Program(more)) => own.merge(more)?,
            (Sums::Gradients(own), Sums::Gradients(more)) => {
                if !own.merge(more) {
                    return Err(other());
                }
            }
            (Sums::Round(own), Sums::Round(more)) => own.merge(more)?,
            _ => return Err(other()),
        }
        Ok(())
    }

    /// The answer as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = Vec::new();
        match &self.0 {
            Sums::Totals(totals) => {
                put_sums(&mut words, totals.sums);
                words.extend(totals.squares.to_words());
                words.extend(totals.has_missing.iter().map(|&missing| u64::from(missing)));
            }
            Sums::Counts(histograms) => {
                for histogram in histograms {
                    histogram.put_words(&mut words);
                }
            }
            Sums::Weights(histograms) => {
                for histogram in histograms {
                    histogram.put_words(&mut words);
                }
            }
            Sums::Leaves(leaves) => leaves.iter().for_each(|&sums| put_sums(&mut words, sums)),
            Sums::Hashes(classes) => {
                for hashes in classes {
                    put_list(&mut words, hashes.iter().copied());
                }
            }
            Sums::ClassUnits(units) => units.put_words(&mut words),
            Sums::Program(answer) => answer.put_words(&mut words),
            Sums::Gradients(sums) => sums.put(&mut words),
            Sums::Round(answer) => answer.put_words(&mut words),
        }
        words::to_bytes(&words)
    }

    /// What [`Answer::to_bytes`] has written, as an answer to a question about rows of a frame.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes.
    pub fn from_bytes(bytes: &[u8], ask: &Ask, frame: &RowFrame) -> Result<Self, RankError> {
        let words = words::from_bytes(bytes)?;
        let mut reader = Reader::new(&words);
        let mut answer = Self::none(ask, frame);
        match &mut answer.0 {
            Sums::Totals(totals) => {
                totals.sums = reader.sums()?;
                totals.squares = RowSquares::from_words(reader.array()?);
                let flags = reader.take(totals.has_missing.len())?;
                totals.has_missing = flags.iter().map(|&flag| flag != 0).collect();
            }
            Sums::Counts(histograms) => {
                for histogram in histograms {
                    histogram.take_words(|n| reader.take(n))?;
                }
            }
            Sums::Weights(histograms) => {
                for histogram in histograms {
                    histogram.take_words(|n| reader.take(n))?;
                }
            }
            Sums::Leaves(leaves) => {
                for sums in leaves {
                    *sums = reader.sums()?;
                }
            }
            Sums::Hashes(classes) => {
                for hashes in classes {
                    *hashes = reader.list()?.to_vec();
                }
            }
            Sums::ClassUnits(units) => units.take_words(&mut reader)?,
            Sums::Program(answer) => answer.take_words(&mut reader)?,
            Sums::Gradients(sums) => sums.take(&mut reader)?,
            Sums::Round(answer) => answer.take_words(&mut reader)?,
        }
        reader.end()?;
        Ok(answer)
    }

    /// Merges answers in their form as bytes; the result is the same in any grouping.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for bytes that are none to this question.
    pub fn merge_bytes<B: AsRef<[u8]>>(
        answers: &[B],
        ask: &Ask,
        frame: &RowFrame,
    ) -> Result<Vec<u8>, RankError> {
        let mut sum = Self::none(ask, frame);
        for bytes in answers {
            sum.merge(Self::from_bytes(bytes.as_ref(), ask, frame)?)?;
        }
        Ok(sum.to_bytes())
    }

    /// The totals that were asked for.
    pub(crate) fn into_totals(self) -> Result<Totals, RankError> {
        match self.0 {
            Sums::Totals(totals) => Ok(totals),
            _ => Err(other()),
        }
    }

    /// The leaves that were asked for.
    pub(crate) fn into_leaves(self) -> Result<Vec<ClassSums>, RankError> {
        match self.0 {
            Sums::Leaves(leaves) => Ok(leaves),
            _ => Err(other()),
        }
    }

    /// The weights of the classes that were asked for.
    pub(crate) fn into_class_units(self) -> Result<ClassUnits, RankError> {
        match self.0 {
            Sums::ClassUnits(units) => Ok(units),
            _ => Err(other()),
        }
    }

    /// The sums over a program that were asked for.
    pub(crate) fn into_program(self) -> Result<ProgramAnswer, RankError> {
        match self.0 {
            Sums::Program(answer) => Ok(answer),
            _ => Err(other()),
        }
    }

    /// The sums of a fit by gradient boosting that were asked for.
    pub(crate) fn into_gradients(self) -> Result<GradientSums, RankError> {
        match self.0 {
            Sums::Gradients(sums) => Ok(sums),
            _ => Err(other()),
        }
    }

    /// The sums of reweighted rows that were asked for.
    pub(crate) fn into_round(self) -> Result<RoundAnswer, RankError> {
        match self.0 {
            Sums::Round(answer) => Ok(answer),
            _ => Err(other()),
        }
    }

    /// The hashes that were asked for.
    pub(crate) fn into_hashes(self) -> Result<[Vec<u64>; 2], RankError> {
        match self.0 {
            Sums::Hashes(hashes) => Ok(hashes),
            _ => Err(other()),
        }
    }
}

/// The error of an answer to another question than was asked.
pub(super) fn other() -> RankError {
    RankError::BadAnswer("it answers another question".to_owned())
}
