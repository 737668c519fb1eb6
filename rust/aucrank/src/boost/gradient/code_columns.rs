//! The codes of features that split many rows, in columns of their own.

use super::fit_rows::FitRows;

/// Minimum size of a matrix for which columns pay, in bytes.
const LEAST_CODES: usize = 1 << 20;

/// One in this many features may have a column.
const SHARE: usize = 8;

/// The columns.
#[derive(Debug, Default)]
pub(super) struct CodeColumns {
    of_feature: Vec<Option<Vec<u8>>>,
    /// Rows that each feature without a column has split.
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

    /// Counts rows that a feature is about to split; it may have a column from then on.
    pub(super) fn count(&mut self, feature: usize, n_rows: usize, data: &FitRows<'_>) {
        if self.n_free == 0 || self.of_feature[feature].is_some() {
            return;
        }
        self.n_parted[feature] += n_rows;
        // Copying a column takes about as long as splitting as many rows without it.
        if self.n_parted[feature] >= data.binned.n_rows() {
            let codes = data.binned.narrow_codes(0..data.binned.n_rows(), feature);
            self.of_feature[feature] = codes.map(Iterator::collect);
            self.n_free -= 1;
        }
    }
}
