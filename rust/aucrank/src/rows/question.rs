//! What a learner queries of rows, and what a question is. Learners have their own, of which rows know no
//! more than this.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::de::DeserializeOwned;
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::coded::Coding;
use super::frame::RowFrame;
use super::part::{Kept, PartView, TreeId};
use super::words;
use super::words::WordReader;
use crate::data::{DealtRow, HeldOutPart, RowFolds};
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

/// The error of an answer to another question.
pub(crate) fn other() -> RankError {
    RankError::BadAnswer("it answers another question".to_owned())
}

/// A question to rows, or several at once, which any holder of the same rows answers alike.
///
/// It carries all that was decided since the fit began: what a holder remembers of earlier questions
/// saves time and changes nothing.
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

/// What every question has.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct Head {
    /// Whose question it is.
    pub(super) tree: TreeId,
    /// Of which rows.
    pub(super) view: View,
    /// In which codes, where they are not those in which rows are held.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(super) coding: Option<Arc<Coding>>,
}

impl Head {
    /// What is known of all rows, in the codes that are queried.
    pub(super) fn frame<'f>(&self, held: &'f RowFrame) -> Cow<'f, RowFrame> {
        let own = self.coding.as_ref().map(|coding| coding.frame(held));
        own.map_or(Cow::Borrowed(held), Cow::Owned)
    }
}

impl Ask {
    /// A question about the rows of a view, for a tree or whatever else a fit has states of rows for.
    pub(super) fn new(tree: TreeId, view: View, question: impl Question) -> Self {
        let head = Head { tree, view, coding: None };
        Self(vec![PackedQuestion { head, question: Arc::new(question) }])
    }

    /// The same about the codes of a fit.
    pub(super) fn in_codes(&self, coding: &Arc<Coding>) -> Self {
        let mut ask = self.clone();
        for PackedQuestion { head, .. } in &mut ask.0 {
            head.coding = Some(Arc::clone(coding));
        }
        ask
    }

    /// All questions in one.
    #[cfg(feature = "parallel")]
    pub(super) fn joined(asks: &[Self]) -> Self {
        Self(asks.iter().flat_map(|ask| ask.0.iter().cloned()).collect())
    }
}

/// Some of the rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum View {
    /// All of positive weight.
    All,
    /// Those of a fold, or all others.
    Fold { folds: Arc<RowFolds>, fold: u16, inside: bool },
    /// Those held out, or all others.
    Held { part: HeldOutPart, inside: bool },
}

impl View {
    /// Whether a row is one of them.
    pub(crate) fn contains(&self, row: DealtRow) -> bool {
        match self {
            Self::All => true,
            Self::Fold { folds, fold, inside } => (folds.fold(row) == *fold) == *inside,
            Self::Held { part, inside } => part.contains(row) == *inside,
        }
    }
}

/// Sums of some rows, to be merged with those of others.
///
/// For an example see [`Ask`].
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
        Self(ask.0.iter().map(|one| one.question.none_of_any(&one.head.frame(frame))).collect())
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
        let mut reader = WordReader::new(&words);
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

    /// What was requested by one question of a kind.
    pub(crate) fn to<Q: Question>(mut self) -> Result<Q::Answer, RankError> {
        let other = || RankError::BadAnswer(format!("it does not answer about {}", Q::NAME));
        let sums: Box<dyn Any> = self.0.pop().filter(|_| self.0.is_empty()).ok_or_else(other)?;
        sums.downcast().map(|sums| *sums).map_err(|_| other())
    }
}
