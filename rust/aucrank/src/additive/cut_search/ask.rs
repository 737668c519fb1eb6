//! Questions to raw rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::FEW_CELLS;
use super::key_cells::KeyLayout;
use crate::data::{Bins, BlockTable, FixedScale, RowFolds, WeightRange};

/// A question: the counts that a pass over raw rows returns.
///
/// # Examples
///
/// A holder of rows elsewhere answers a received question:
///
/// ```
/// use std::sync::Arc;
///
/// use aucrank::additive::{RawAsk, RawSums};
/// use aucrank::data::{Batch, Columns};
/// use aucrank::rows::Mergeable;
/// use aucrank::{Interrupt, RankError};
///
/// fn answer(ask: &[u8], values: &[f64], positive: &[bool]) -> Result<Vec<u8>, RankError> {
///     let ask = RawAsk::from_bytes(ask)?;
///     let columns = Columns::from_row_major(values, ask.n_levels().len())?;
///     let mut sums = RawSums::new(Arc::new(ask));
///     sums.add(&Batch::new(&columns, positive), &Interrupt::default())?;
///     Ok(sums.to_bytes())
/// }
/// ```
#[derive(Debug, Clone)]
pub struct RawAsk {
    pub(super) head: PassHead,
    /// Counts of each feature.
    pub(super) features: Vec<WantedCounts>,
}

/// Settings for reading rows and dealing them into folds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct PassHead {
    /// Number of categories of each feature, or `None` for a number.
    pub(super) n_levels: Vec<Option<u32>>,
    /// Unit of weights; `None` if every row counts once.
    pub(super) scale: Option<FixedScale>,
    /// Special values of each feature; empty if there are none at all.
    pub(super) special: Vec<Vec<f64>>,
    pub(super) dealt: FoldDeal,
    /// Maximum number of cells of a feature with a cell for each of few keys.
    pub(super) most_cells: usize,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum FoldDeal {
    /// All rows are one fold.
    Together,
    /// Into folds, by the blocks of all rows if they have any.
    Folds(Arc<RowFolds>, Option<Arc<BlockTable>>),
    /// Not yet: the least hashes of each class are requested, in the order of a seed, or the
    /// blocks.
    NotYet(u64),
}

/// Counts of a feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum WantedCounts {
    Nothing,
    /// The rows of each category.
    Levels,
    /// The rows of special values, of missing ones, and of cells of the others.
    Keys(KeyLayout),
    /// The rows of each of some bins.
    Bins(Bins),
}

impl PassHead {
    pub(super) fn n_folds(&self) -> usize {
        match self.dealt {
            FoldDeal::Together | FoldDeal::NotYet(_) => 1,
            FoldDeal::Folds(ref folds, _) => folds.n_folds().into(),
        }
    }

    pub(super) fn special(&self, feature: usize) -> &[f64] {
        self.special.get(feature).map_or(&[], Vec::as_slice)
    }
}

impl RawAsk {
    /// Queries the rows of bins of some distinct features.
    pub(in crate::additive) fn of_bins(
        n_levels: &[Option<u32>],
        weights: Option<(WeightRange, u128)>,
        bins: impl IntoIterator<Item = (usize, Bins)>,
    ) -> Self {
        let mut features = vec![WantedCounts::Nothing; n_levels.len()];
        for (feature, bins) in bins {
            features[feature] = WantedCounts::Bins(bins);
        }
        let head = PassHead {
            n_levels: n_levels.to_vec(),
            scale: weights.map(|(range, relative)| FixedScale::new(range, relative)),
            special: Vec::new(),
            dealt: FoldDeal::Together,
            most_cells: FEW_CELLS,
        };
        Self { head, features }
    }

    /// Number of categories of each feature, or `None` for a number.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.head.n_levels
    }
}
