//! Rows dealt into folds, held-out parts and samples by their content, group or time.

pub(super) mod batch;
pub(super) mod blocks;
pub(super) mod contents;
pub(super) mod folds;
pub(super) mod hashes;
mod row_blocks;
pub(super) mod row_order;
