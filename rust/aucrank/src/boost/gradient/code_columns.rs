//! Codes of the features that are asked most, column by column.
//!
//! Rows are parted by the codes of one feature. In the matrix of all codes, which lies row by row,
//! each of them is a cache miss; in a column of its own 64 neighbours share a cache line. Columns take
//! memory, so few features have one: those that part many rows, the first of them first.

use super::rows::FitRows;

/// Size of a matrix from which on it is worth while, in bytes.
const LEAST_CODES: usize = 1 << 20;

/// One of so many features may have a column.
const SHARE: usize = 8;

/// The columns.
#[derive(Debug)]
pub(super) struct CodeColumns {
    of_feature: Vec<Option<Vec<u8>>>,
    /// Rows that each feature without a column has parted.
    n_parted: Vec<usize>,
    /// Columns that may still be made.
    n_free: usize,
}

impl CodeColumns {
    pub(super) fn new(data: &FitRows<'_>) -> Self {
        let n_features = data.binned.features().len();
        let is_large = data.binned.n_rows() * n_features >= LEAST_CODES;
        Self {
            of_feature: vec![None; n_features],
            n_parted: vec![0; n_features],
            n_free: if is_large { n_features / SHARE } else { 0 },
        }
    }

    pub(super) fn get(&self, feature: usize) -> Option<&[u8]> {
        self.of_feature[feature].as_deref()
    }

    /// Counts rows that a feature is about to part; it may have a column from then on.
    pub(super) fn count(&mut self, feature: usize, n_rows: usize, data: &FitRows<'_>) {
        if self.n_free == 0 || self.of_feature[feature].is_some() {
            return;
        }
        self.n_parted[feature] += n_rows;
        // To copy a column takes about as long as to part as many rows without it.
        if self.n_parted[feature] >= data.binned.n_rows() {
            let codes = data.binned.narrow_codes(0..data.binned.n_rows(), feature);
            self.of_feature[feature] = codes.map(Iterator::collect);
            self.n_free -= 1;
        }
    }
}
