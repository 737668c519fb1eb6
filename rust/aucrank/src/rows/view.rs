//! Which of the rows a question is about.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{DealtRow, HeldOutPart, RowFolds};

/// A subset of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum View {
    /// All rows of positive weight.
    All,
    /// The rows of a fold, or all others.
    Fold { folds: Arc<RowFolds>, fold: u16, inside: bool },
    /// The rows held out, or all others.
    Held { part: HeldOutPart, inside: bool },
}

impl View {
    /// Whether a row is in the view.
    pub(crate) fn contains(&self, row: DealtRow) -> bool {
        match self {
            Self::All => true,
            Self::Fold { folds, fold, inside } => (folds.fold(row) == *fold) == *inside,
            Self::Held { part, inside } => part.contains(row) == *inside,
        }
    }
}
