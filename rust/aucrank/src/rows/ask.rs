//! What a learner asks of rows.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::fit_id::TreeId;
use super::question::{AnyQuestion, Question};
use crate::data::{Holdout, RowOrder};

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
pub struct Ask(pub(super) Vec<Asked>);

/// One of the questions that are sent together: rows are read once for all.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
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
}

impl Ask {
    /// A question about the rows of a view, for a tree or whatever else a fit has states of rows for.
    pub(super) fn new(tree: TreeId, view: View, question: impl Question) -> Self {
        Self(vec![Asked { head: Head { tree, view }, question: Arc::new(question) }])
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
    Fold { order: Arc<RowOrder>, n_folds: u16, fold: u16, inside: bool },
    /// Those held out, or all others.
    Held { holdout: Holdout, inside: bool },
}

impl View {
    /// Whether a row is one of them, given its class and the hash of its content.
    pub(crate) fn contains(&self, positive: bool, hash: u64) -> bool {
        match self {
            Self::All => true,
            Self::Fold { order, n_folds, fold, inside } => {
                (order.fold(positive, hash, *n_folds) == *fold) == *inside
            }
            Self::Held { holdout, inside } => holdout.contains(positive, hash) == *inside,
        }
    }
}
