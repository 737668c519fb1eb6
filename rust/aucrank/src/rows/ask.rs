//! What a learner asks of rows.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::fit_id::TreeId;
use crate::boost::{GradientAsk, ProgramAsk, RoundAsk};
use crate::data::{CellSplit, HistogramRequest, Holdout, Regroup, RowOrder};
use crate::tree::RankingTree;

/// A question to rows, which any holder of the same rows answers alike.
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
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Ask {
    /// Whose cells they are.
    pub(crate) tree: TreeId,
    /// Of which rows.
    pub(crate) view: View,
    /// How cells came about, from the first on.
    pub(crate) log: Arc<Vec<Step>>,
    /// What is asked.
    pub(crate) want: Want,
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

/// A decision that changes the cells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum Step {
    Split(Vec<CellSplit>),
    Regroup(Vec<Regroup>),
}

/// What is asked of a view.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum Want {
    /// Its class sums.
    Totals,
    /// Histograms of cells.
    Histograms(Vec<HistogramRequest>),
    /// Class sums of its rows in the leaves of a tree, in ranking order.
    Leaves(Arc<RankingTree>),
    /// For each class, the least hashes in the order of a seed.
    Hashes { seed: u64, most: usize },
    /// What each class weighs.
    ClassUnits,
    /// Sums of rows that go through a branching program.
    Program(Arc<ProgramAsk>),
    /// Sums of a fit by gradient boosting.
    Gradients(GradientAsk),
    /// Sums of rows that boosting rounds reweight.
    Round(Arc<RoundAsk>),
}
