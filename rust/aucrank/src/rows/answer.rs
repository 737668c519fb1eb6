//! What rows answer: sums, which are merged.

use std::any::Any;

use super::ask::Ask;
use super::frame::RowFrame;
use super::question::{AnyAnswer, Question, other};
use super::words::{self, Reader};
use crate::RankError;

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
#[derive(Debug)]
pub struct Answer(pub(super) Vec<Box<dyn AnyAnswer>>);

impl Clone for Answer {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|one| one.copy()).collect())
    }
}

impl Answer {
    /// That of no rows.
    pub(crate) fn none(ask: &Ask, frame: &RowFrame) -> Self {
        Self(ask.0.iter().map(|one| one.question.none_of_any(frame)).collect())
    }

    /// Adds the answer of other rows to the same question.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if it is one to another question.
    pub fn merge(&mut self, more: Self) -> Result<(), RankError> {
        if self.0.len() != more.0.len() {
            return Err(other());
        }
        self.0.iter_mut().zip(more.0).try_for_each(|(own, more)| own.merge_any(more))
    }

    /// The answer as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = Vec::new();
        self.0.iter().for_each(|one| one.put(&mut words));
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
        answer.0.iter_mut().try_for_each(|one| one.take(&mut reader))?;
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

    /// The answers to questions that were joined.
    #[cfg(feature = "parallel")]
    pub(super) fn parts_of(self, asks: &[Ask]) -> Vec<Self> {
        let mut all = self.0.into_iter();
        asks.iter().map(|ask| Self(all.by_ref().take(ask.0.len()).collect())).collect()
    }

    /// What was asked for by one question of a kind.
    pub(crate) fn to<Q: Question>(mut self) -> Result<Q::Answer, RankError> {
        let other = || RankError::BadAnswer(format!("it does not answer about {}", Q::NAME));
        let sums: Box<dyn Any> = self.0.pop().filter(|_| self.0.is_empty()).ok_or_else(other)?;
        sums.downcast().map(|sums| *sums).map_err(|_| other())
    }
}
