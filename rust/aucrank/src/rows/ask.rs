//! What a learner queries of rows.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::frame::RowFrame;
use super::kept::TreeId;
use super::question::{AnyAnswer, AnyQuestion, Question, other};
use super::recoded::Coding;
use super::words;
use super::words::WordReader;
use crate::RankError;
use crate::data::{DealtRow, HeldOutPart, RowFolds};

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
