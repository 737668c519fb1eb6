//! Bins, weight unit and class sums of all rows, needed before any query.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::part::{Kept, PartView};
use super::question::{Mergeable, Question};
use super::words::WordReader;
use crate::data::{Binned, BlockTable, ClassSums, FeatureBins, FixedScale, LevelRates};
use crate::{Interrupt, RankError};

/// Bins of all rows, the unit of their weights, and their class sums.
///
/// # Examples
///
/// ```
/// use aucrank::rows::RowFrame;
/// # use aucrank::Interrupt;
/// # use aucrank::data::{BinningParams, Columns};
/// # use aucrank::rows::Survey;
/// # let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// # let (positive, interrupt) = ([false, true, false, true], Interrupt::default());
/// # let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// # survey.add(&columns, &positive, None, &interrupt)?;
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

/// Asks for the weight of each class.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskClassUnits;

/// Totals of each class, negatives first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ClassUnits {
    /// Units of weight.
    pub(crate) units: [u64; 2],
    /// Rows of positive weight; a row of whole weight k counts as k rows.
    pub(crate) rows: [u64; 2],
    /// Rows of positive weight, each counted once.
    pub(crate) present: [u64; 2],
    /// Units of the heaviest row.
    pub(crate) largest: [u64; 2],
}

impl Question for AskClassUnits {
    const NAME: &'static str = "class units";

    type Answer = ClassUnits;

    fn none(&self, _: &RowFrame) -> ClassUnits {
        ClassUnits::default()
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        sums: &mut ClassUnits,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let units = part.units();
        for (row, &positive) in part.positive().iter().enumerate() {
            let (class, units) = (usize::from(positive), units.as_ref().map_or(1, |all| all[row]));
            sums.units[class] += units;
            sums.rows[class] += part.rows_of(units);
            sums.present[class] += u64::from(units > 0);
            sums.largest[class] = sums.largest[class].max(units);
        }
        Ok(())
    }
}

impl Mergeable for ClassUnits {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        for class in 0..2 {
            self.units[class] += more.units[class];
            self.rows[class] += more.rows[class];
            self.present[class] += more.present[class];
            self.largest[class] = self.largest[class].max(more.largest[class]);
        }
        Ok(())
    }

    fn put_words(&self, words: &mut Vec<u64>) {
        let sums = [self.units, self.rows, self.present, self.largest];
        words.extend(sums.as_flattened());
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        let Self { units, rows, present, largest } = self;
        for numbers in [units, rows, present, largest] {
            *numbers = *reader.array()?;
        }
        Ok(())
    }
}

impl ClassUnits {
    /// Both classes together.
    pub(crate) fn total(&self) -> ClassSums {
        let [neg, pos] = self.units;
        ClassSums { pos, neg, rows: self.rows.iter().sum() }
    }
}
