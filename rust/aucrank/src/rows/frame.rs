//! Bins, weight unit and class sums of all rows, needed before any query.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Binned, BlockTable, ClassSums, FeatureBins, FixedScale, LevelRates};

/// Bins of all rows, the unit of their weights, and their class sums.
///
/// # Examples
///
/// ```
/// use aucrank::rows::RowFrame;
/// # use aucrank::Interrupt;
/// # use aucrank::data::{Batch, BinningParams, Columns};
/// # use aucrank::rows::Survey;
/// # let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// # let (positive, interrupt) = ([false, true, false, true], Interrupt::default());
/// # let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// # survey.add(&Batch::new(&columns, &positive), &interrupt)?;
/// // Of a survey of all rows.
/// let frame = survey.frame()?;
/// assert_eq!((frame.n_rows(), frame.total().pos, frame.features()[0].n_bins()), (4, 2, 4));
/// assert_eq!(RowFrame::from_bytes(&frame.to_bytes())?, frame);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowFrame {
    pub(super) features: Arc<[FeatureBins]>,
    pub(super) level_rates: LevelRates,
    /// The unit of weight; `None` if every row counts once.
    pub(super) scale: Option<FixedScale>,
    pub(super) total: ClassSums,
    /// Rows of weight zero included.
    pub(super) n_rows: u64,
    /// Blocks by which rows are dealt, if not by their content.
    pub(super) blocks: Option<Arc<BlockTable>>,
}

impl RowFrame {
    /// Bins of each feature; they define its codes.
    #[must_use]
    pub fn features(&self) -> &[FeatureBins] {
        &self.features
    }

    /// Class weight of all rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.total
    }

    /// Number of rows, those of weight zero included.
    #[must_use]
    pub fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Binary exponent of the unit of class weight.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.scale.map_or(0, FixedScale::exponent)
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> Vec<Option<u32>> {
        let n_levels = |bins: &FeatureBins| match bins {
            FeatureBins::Numeric { .. } => None,
            FeatureBins::Categorical { n_levels, .. } => Some(*n_levels),
        };
        self.features.iter().map(n_levels).collect()
    }

    /// Whether class rates of categories are shrunk for some feature.
    pub(crate) fn shrinks_levels(&self) -> bool {
        self.no_rows().shrinks_levels()
    }

    /// Whether rows have weights.
    pub(crate) fn is_weighted(&self) -> bool {
        self.scale.is_some()
    }

    /// Whether weights are counts of copies, or all 1.
    pub(crate) fn counts_copies(&self) -> bool {
        self.scale.is_none_or(FixedScale::is_whole)
    }

    /// Whether both classes of a bin can be counted in one word.
    pub(crate) fn counts_fit(&self) -> bool {
        self.scale.is_none() && u32::try_from(self.n_rows).is_ok()
    }

    /// A matrix of no rows in these bins.
    pub(crate) fn no_rows(&self) -> Binned {
        Binned::empty(Arc::clone(&self.features), self.level_rates)
    }
}
