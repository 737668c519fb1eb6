//! Training data: borrowed columns, labels and weights.

pub(super) mod columns;
pub(super) mod labels;
pub(super) mod level_set;
#[cfg(feature = "ndarray")]
pub(super) mod matrix_views;
pub(super) mod monotonic;
pub(super) mod new_rows;
mod row_hashes;
pub(super) mod values;
pub(super) mod weights;
