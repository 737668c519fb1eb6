//! Passes over the rows, which threads share if there are many.

use std::ops::Range;

use crate::parallel;

/// Number of rows from which the functions of this module use the current rayon pool. With fewer
/// rows they do not use rayon at all, so that no pool need exist.
pub const PARALLEL_FROM: usize = 1 << 16;

/// Rows per task.
const CHUNK: usize = 1 << 16;

/// What `of_rows` finds in each part of `0..n_rows`, in order.
pub(super) fn by_chunks<T: Send>(
    n_rows: usize,
    of_rows: impl Fn(Range<usize>) -> T + Sync,
) -> Vec<T> {
    if n_rows < PARALLEL_FROM {
        return vec![of_rows(0..n_rows)];
    }
    let starts = (0..n_rows).step_by(CHUNK).collect();
    parallel::map(starts, |start| of_rows(start..n_rows.min(start + CHUNK)))
}
