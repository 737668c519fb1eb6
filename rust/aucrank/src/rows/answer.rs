//! What rows answer: sums, which are merged.

use std::any::Any;

use super::ask::Ask;
use super::frame::RowFrame;
use super::question::{AnyAnswer, Question};
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
pub struct Answer(pub(super) Box<dyn AnyAnswer>);

impl Clone for Answer {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

impl Answer {
    /// That of no rows.
    pub(crate) fn none(ask: &Ask, frame: &RowFrame) -> Self {
        Self(ask.question.none_of_any(frame))
    }

    /// Adds the answer of other rows to the same question.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if it is one to another question.
    pub fn merge(&mut self, more: Self) -> Result<(), RankError> {
        self.0.merge_any(more.0)
    }

    /// The answer as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = Vec::new();
        self.0.put(&mut words);
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
        answer.0.take(&mut reader)?;
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

    /// What was asked for by a question of a kind.
    pub(crate) fn to<Q: Question>(self) -> Result<Q::Answer, RankError> {
        let sums: Box<dyn Any> = self.0;
        let other = |_| RankError::BadAnswer(format!("it does not answer about {}", Q::NAME));
        sums.downcast().map(|sums| *sums).map_err(other)
    }
}
