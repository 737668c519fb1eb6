//! What a question is. Learners have their own, of which rows know no more than this.

use std::any::Any;
use std::fmt::Debug;

#[cfg(feature = "serde")]
use serde::{Serialize, de::DeserializeOwned};

use super::ask::View;
use super::frame::RowFrame;
use super::kept::Kept;
use super::part::PartView;
use super::words::WordReader;
use crate::{Interrupt, RankError};

/// Sums over some rows, to be merged with those over others.
pub(crate) trait Mergeable: Debug + Clone + Send + 'static {
    /// Adds the sums over other rows for the same question.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if they are for another one.
    fn merge(&mut self, more: Self) -> Result<(), RankError>;

    fn put_words(&self, words: &mut Vec<u64>);

    /// Replaces the sums over no rows by what [`Mergeable::put_words`] has written.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other words.
    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError>;
}

/// What can be sent where models can be saved.
#[cfg(feature = "serde")]
pub(crate) trait Sendable: Serialize + DeserializeOwned {}
#[cfg(feature = "serde")]
impl<T: Serialize + DeserializeOwned> Sendable for T {}
#[cfg(not(feature = "serde"))]
pub(crate) trait Sendable {}
#[cfg(not(feature = "serde"))]
impl<T> Sendable for T {}

/// A question about rows, answered part by part.
pub(crate) trait Question: Debug + Send + Sync + Sendable + 'static {
    /// The name by which it is sent; no other question has it.
    const NAME: &'static str;

    type Answer: Mergeable;

    /// The answer of no rows.
    fn none(&self, frame: &RowFrame) -> Self::Answer;

    /// Whether the hashes of the rows are read, given what the part has kept.
    fn needs_hashes(&self, view: &View, _kept: &Kept<'_>) -> bool {
        *view != View::All
    }

    /// Adds the answer of the rows of a part.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for a question about other rows; [`RankError::Interrupted`].
    fn add(
        &self,
        part: &PartView<'_>,
        kept: &mut Kept<'_>,
        answer: &mut Self::Answer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError>;
}

/// A question of any kind.
pub(super) trait AnyQuestion: Debug + Send + Sync {
    #[cfg(feature = "serde")]
    fn name(&self) -> &'static str;
    #[cfg(feature = "serde")]
    fn to_json(&self) -> serde_json::Result<Vec<u8>>;
    fn none_of_any(&self, frame: &RowFrame) -> Box<dyn AnyAnswer>;
    fn reads_hashes(&self, view: &View, kept: &Kept<'_>) -> bool;
    fn add_to_any(
        &self,
        part: &PartView<'_>,
        kept: &mut Kept<'_>,
        answer: &mut dyn AnyAnswer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError>;
}

impl<Q: Question> AnyQuestion for Q {
    #[cfg(feature = "serde")]
    fn name(&self) -> &'static str {
        Q::NAME
    }

    #[cfg(feature = "serde")]
    fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(self)
    }

    fn none_of_any(&self, frame: &RowFrame) -> Box<dyn AnyAnswer> {
        Box::new(self.none(frame))
    }

    fn reads_hashes(&self, view: &View, kept: &Kept<'_>) -> bool {
        self.needs_hashes(view, kept)
    }

    fn add_to_any(
        &self,
        part: &PartView<'_>,
        kept: &mut Kept<'_>,
        answer: &mut dyn AnyAnswer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let answer: &mut dyn Any = answer;
        self.add(part, kept, answer.downcast_mut().ok_or_else(other)?, interrupt)
    }
}

/// An answer of any kind.
pub(super) trait AnyAnswer: Any + Debug + Send {
    fn copy(&self) -> Box<dyn AnyAnswer>;
    fn merge_any(&mut self, more: Box<dyn AnyAnswer>) -> Result<(), RankError>;
    fn put(&self, words: &mut Vec<u64>);
    fn take(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError>;
}

impl<M: Mergeable> AnyAnswer for M {
    fn copy(&self) -> Box<dyn AnyAnswer> {
        Box::new(self.clone())
    }

    fn merge_any(&mut self, more: Box<dyn AnyAnswer>) -> Result<(), RankError> {
        let more: Box<dyn Any> = more;
        self.merge(*more.downcast().map_err(|_| other())?)
    }

    fn put(&self, words: &mut Vec<u64>) {
        self.put_words(words);
    }

    fn take(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        self.take_words(reader)
    }
}

/// The error of an answer to another question than was asked.
pub(crate) fn other() -> RankError {
    RankError::BadAnswer("it answers another question".to_owned())
}
