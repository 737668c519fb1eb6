//! How all rows are dealt, whoever holds them: by their content, or by their blocks.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::data::dealing::block_table::{BlockParts, BlockTable};
use crate::data::dealing::row_order::{Holdout, RowOrder};

/// What a row is dealt by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DealtRow {
    pub(crate) positive: bool,
    /// Of its content.
    pub(crate) hash: u64,
    /// The place of its block; 0 where rows have none.
    pub(crate) block: u16,
}

/// All rows in the order of a seed.
#[derive(Debug, Clone)]
pub(crate) enum DealOrder {
    Contents(Arc<RowOrder>),
    Blocks(Arc<BlockTable>, u64),
}

impl DealOrder {
    /// Folds of which each has rows of both classes: as many as wanted, or fewer where there must be.
    pub(crate) fn folds(&self, wanted: u16) -> RowFolds {
        match self {
            Self::Contents(order) => {
                RowFolds::Contents { n_folds: order.n_folds(wanted), order: Arc::clone(order) }
            }
            Self::Blocks(table, seed) => {
                let BlockParts { of_block, n_parts } = table.folds_of_all(wanted, *seed);
                RowFolds::Blocks { of_block: of_block.into(), n_folds: n_parts }
            }
        }
    }

    /// The rows to hold out so that each class has a share there; `None` if a class has a single distinct
    /// row, or no division of the blocks leaves both classes on either side.
    pub(crate) fn held_out(&self, share: f64) -> Option<HeldOutPart> {
        match self {
            Self::Contents(order) => order.holdout(share).map(HeldOutPart::Contents),
            Self::Blocks(table, seed) => {
                table.held_out_of_all(share, *seed).map(|parts| HeldOutPart::Blocks(parts.into()))
            }
        }
    }
}

/// The folds of all rows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum RowFolds {
    Contents {
        order: Arc<RowOrder>,
        n_folds: u16,
    },
    /// The fold of each block.
    Blocks {
        of_block: Arc<[u16]>,
        n_folds: u16,
    },
}

impl RowFolds {
    pub(crate) fn n_folds(&self) -> u16 {
        match self {
            Self::Contents { n_folds, .. } | Self::Blocks { n_folds, .. } => *n_folds,
        }
    }

    /// The fold of a row; one that there is, also if it was sent another.
    pub(crate) fn fold(&self, row: DealtRow) -> u16 {
        match self {
            Self::Contents { order, n_folds } => order.fold(row.positive, row.hash, *n_folds),
            Self::Blocks { of_block, n_folds } => {
                let fold = of_block.get(usize::from(row.block)).copied().unwrap_or(0);
                fold.min(n_folds.saturating_sub(1))
            }
        }
    }
}

/// Rows that are held out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum HeldOutPart {
    Contents(Holdout),
    /// For each block 1 if it is held out, else 0.
    Blocks(Arc<[u16]>),
}

impl HeldOutPart {
    /// Whether a row is held out.
    pub(crate) fn contains(&self, row: DealtRow) -> bool {
        match self {
            Self::Contents(holdout) => holdout.contains(row.positive, row.hash),
            Self::Blocks(parts) => parts.get(usize::from(row.block)) == Some(&1),
        }
    }
}
