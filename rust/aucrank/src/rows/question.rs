//! Interface of the questions to rows. Each learner defines its own.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::coding::Coding;
use super::frame::RowFrame;
use super::kept::{Kept, LogId};
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::view::View;
use super::words;
use super::words::WordReader;
use crate::{Interrupt, RankError};

/// A question about rows, answered part by part.
pub(crate) trait Question:
    Debug + Send + Sync + Serialize + DeserializeOwned + 'static
{
    /// Name under which it is sent, unique among questions.
    const NAME: &'static str;

    type Answer: Mergeable;

    /// The answer over no rows.
    fn none(&self, frame: &RowFrame) -> Self::Answer;

    /// Whether the hashes of the rows are read, given the kept state.
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
    fn name(&self) -> &'static str;
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
    fn name(&self) -> &'static str {
        Q::NAME
    }

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
    fn put(&mut self, words: &mut Vec<u64>);
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

    fn put(&mut self, words: &mut Vec<u64>) {
        self.put_words(words);
    }

    fn take(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        self.take_words(reader)
    }
}

/// The error for an answer to another question.
pub(crate) fn other() -> RankError {
    RankError::BadAnswer("it answers another question".to_owned())
}

/// The error if holders lack steps that they were sent.
pub(super) fn lacking() -> RankError {
    RankError::BadAnswer("a holder lacks what it was sent".to_owned())
}

/// A question to rows, or several at once. Any holder of the same rows gives the same answer.
///
/// It carries the decisions of the learner since its last question, or all: the state that a holder
/// keeps of earlier questions saves time and does not change the answer.
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
pub struct Ask(pub(super) Vec<PackedQuestion>);

/// One of the questions that are sent together: rows are read once for all.
#[derive(Debug, Clone)]
pub(crate) struct PackedQuestion {
    pub(super) head: Head,
    pub(super) question: Arc<dyn AnyQuestion>,
}

/// Fields of every question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The log of the steps before it.
    pub(super) log: LogId,
    /// The rows that it concerns.
    pub(super) view: View,
    /// Its codes, if they are not those in which rows are held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) coding: Option<Arc<Coding>>,
}

impl Head {
    /// Frame of all rows, in the codes of the question.
    pub(super) fn frame<'f>(&self, held: &'f RowFrame) -> Cow<'f, RowFrame> {
        let own = self.coding.as_ref().map(|coding| coding.frame(held));
        own.map_or(Cow::Borrowed(held), Cow::Owned)
    }
}

impl Ask {
    /// A question about the rows of a view.
    pub(super) fn new(log: LogId, view: View, question: impl Question) -> Self {
        let head = Head { log, view, coding: None };
        Self(vec![PackedQuestion { head, question: Arc::new(question) }])
    }

    /// The same question in the codes of a fit.
    pub(super) fn in_codes(&self, coding: &Arc<Coding>) -> Self {
        let mut ask = self.clone();
        for PackedQuestion { head, .. } in &mut ask.0 {
            head.coding = Some(Arc::clone(coding));
        }
        ask
    }

    /// All questions in one.
    pub(super) fn joined(asks: &[Self]) -> Self {
        Self(asks.iter().flat_map(|ask| ask.0.iter().cloned()).collect())
    }
}

/// Sums over some rows, to be merged with those over others.
///
/// For an example see [`Ask`].
#[derive(Debug)]
pub struct Answer(pub(super) Vec<Reply>);

/// The sums of one question; `None` if some of the rows lack earlier steps.
pub(super) type Reply = Option<Box<dyn AnyAnswer>>;

impl Clone for Answer {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|reply| reply.as_ref().map(|sums| sums.copy())).collect())
    }
}

impl Answer {
    /// The answer over no rows.
    pub(crate) fn none(ask: &Ask, frame: &RowFrame) -> Self {
        let none = |PackedQuestion { head, question }: &PackedQuestion| {
            Some(question.none_of_any(&head.frame(frame)))
        };
        Self(ask.0.iter().map(none).collect())
    }

    /// Whether some of the rows lack earlier steps.
    #[cfg(test)]
    pub(crate) fn is_behind(&self) -> bool {
        self.0.iter().any(Option::is_none)
    }

    /// Adds the answer of other rows to the same question.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if it answers another question.
    pub fn merge(&mut self, more: Self) -> Result<(), RankError> {
        if self.0.len() != more.0.len() {
            return Err(other());
        }
        for (own, more) in self.0.iter_mut().zip(more.0) {
            match (&mut *own, more) {
                (Some(own), Some(more)) => own.merge_any(more)?,
                _ => *own = None,
            }
        }
        Ok(())
    }

    /// The answer as bytes; it may be put in order for it.
    #[must_use]
    pub fn to_bytes(&mut self) -> Vec<u8> {
        let mut words = Vec::new();
        for reply in &mut self.0 {
            words.push(u64::from(reply.is_none()));
            if let Some(sums) = reply {
                sums.put(&mut words);
            }
        }
        words::to_bytes(&words)
    }

    /// Reads an answer written by [`Answer::to_bytes`], given its question and the frame of the
    /// rows.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes.
    pub fn from_bytes(bytes: &[u8], ask: &Ask, frame: &RowFrame) -> Result<Self, RankError> {
        let words = words::from_bytes(bytes)?;
        let mut reader = WordReader::new(&words);
        let mut answer = Self::none(ask, frame);
        for reply in &mut answer.0 {
            match (reader.word()?, &mut *reply) {
                (0, Some(sums)) => sums.take(&mut reader)?,
                (1, _) => *reply = None,
                _ => return Err(other()),
            }
        }
        reader.end()?;
        Ok(answer)
    }

    /// Merges answers in their form as bytes; the result is the same in any grouping.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for bytes that do not answer this question.
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
    pub(super) fn parts_of(self, asks: &[Ask]) -> Vec<Self> {
        let mut all = self.0.into_iter();
        asks.iter().map(|ask| Self(all.by_ref().take(ask.0.len()).collect())).collect()
    }

    /// The answer to a single question of type `Q`; `None` if some of the rows lack earlier steps.
    pub(super) fn to<Q: Question>(mut self) -> Result<Option<Q::Answer>, RankError> {
        let other = || RankError::BadAnswer(format!("it does not answer about {}", Q::NAME));
        let reply = self.0.pop().filter(|_| self.0.is_empty()).ok_or_else(other)?;
        let Some(sums) = reply else { return Ok(None) };
        let sums: Box<dyn Any> = sums;
        sums.downcast().map(|sums| Some(*sums)).map_err(|_| other())
    }
}
