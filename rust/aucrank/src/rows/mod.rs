//! Rows that do not lie in one matrix: batches of a file, or the partitions of a cluster.
//!
//! A fit is a conversation. The learner asks for sums of cells, with all that it has decided since it
//! began; whoever holds rows answers in integers; answers are merged. An answer depends on the rows and
//! the [`Ask`] alone, so any holder of the same rows gives it, after any crash, and merging is exact in
//! any grouping: the same model comes from a matrix, a file and a cluster, bit for bit.
//!
//! - `survey`: one pass over raw rows, from which bins are chosen; `frame`: what it comes to;
//! - `coded`: rows as codes; `spill`: in a file; `part`: what answers; `stored`: many parts;
//! - `ask`, `answer`: what travels; `words`: in which form; `fit_id`: which trees it is about;
//! - `matrix`: all rows as codes in memory, for learners that need more than sums of cells;
//! - `cells`: answers as the source of sums that learners grow trees from.

mod answer;
mod ask;
mod cells;
mod coded;
mod fit_id;
mod frame;
mod matrix;
mod part;
mod spill;
mod stored;
mod survey;
#[cfg(test)]
mod tests;
mod words;

pub use answer::Answer;
pub(crate) use answer::Totals;
pub use ask::Ask;
pub(crate) use ask::{View, Want};
pub(crate) use cells::{AskedCells, HistogramTally};
pub(crate) use fit_id::Fit;
pub use frame::RowFrame;
pub use matrix::CodedMatrix;
pub use stored::StoredRows;
pub use survey::Survey;

use crate::{Interrupt, RankError};

/// Rows that can be asked, whoever holds them.
pub trait Rows: Sync {
    /// What is known of all rows.
    fn frame(&self) -> &RowFrame;

    /// The merged answer of all rows.
    ///
    /// # Errors
    ///
    /// What the holder runs into, such as [`RankError::Storage`] or [`RankError::Interrupted`].
    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError>;
}
