//! Bins of rows that are read in passes: files, and the partitions of a cluster.
//!
//! The cuts of a number are at the corners of the hull of its curve, and few of its values are next
//! to one (see the module `hull` for the argument, which holds for any cells). Each pass counts the
//! classes in cells of values. Cells that cannot have a corner inside or next to them are skipped;
//! the next pass counts the others in finer cells, until the values next to the cuts are known:
//!
//! - `ask`: questions of a pass, sent as bytes; `sums`: the counts of some rows, merged in any
//!   grouping;
//! - `key_cells`: cells of one number, each with its least and its greatest value, so that a cell
//!   of one value is recognised; the search for the cell of a value; and the state of a number
//!   between passes: the cells that are wanted, and the others, which are joined.
//!
//! The first pass gives each value a cell, as long as there are not too many; beyond that, values
//! that share their leading bits share one. So numbers with few values need no further pass. Later
//! passes divide each wanted cell in proportion to its rows, and finally the values themselves are
//! counted.
//!
//! With folds, cells have the sums of each fold, and a cell is wanted if it affects the cuts of all
//! rows, or those of the rows outside some fold. Values of the fold that is left out may lie
//! between the two values next to a cut: they are distinguished, too, so that its rows have bins.
//!
//! Cuts do not depend on the cells, and sums are integers. So the result does not depend on the
//! division of the rows, and equals that of one matrix, bit for bit.
//!
//! Memory: two words for each cell of a pass and three for each of its folds. A number has about
//! [`MOST_SUMS`] cells over numbers and folds, from [`FEW_CELLS`] to [`MOST_CELLS`]: up to twice as many
//! while cells of prefixes are found, and up to three times as many if each of as many pieces is
//! divided in two.

mod ask;
mod key_cells;
mod sent;
mod sums;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use ask::RawAsk;
pub(super) use key_cells::FoldView;
pub use sums::RawSums;

use self::ask::{FoldDeal, PassHead, WantedCounts};
use self::key_cells::KeyLayout;
use super::bins::BinnedFeature;
use super::mad2c::{Mad2c, Mad2cParams, binned_levels};
use crate::data::{
    Bins, ClassMasses, ClassSums, DealOrder, FixedScale, RowOrder, RowSquares, RowUnits,
    WeightRange,
};
use crate::rows::TrainingRows;
use crate::{FitPart, Interrupt, RankError, parallel};
use key_cells::NumberTable;

/// Maximum number of cells of all numbers, times folds, in a pass: 50 MB of sums.
const MOST_SUMS: usize = 1 << 21;

/// Maximum number of cells of a number. Each row touches one of them at random, and each part of
/// the rows sends them.
const MOST_CELLS: usize = 1 << 15;

/// Maximum number of cells of a number in the first pass: few enough to stay in the cache.
const FIRST_CELLS: usize = 1 << 13;

/// Cells that a number may always have, however many numbers there are.
const FEW_CELLS: usize = 1 << 12;

/// Bounds on the cells of a pass.
#[derive(Debug, Clone, Copy)]
struct CellLimits {
    /// Maximum number of cells of all numbers, times folds.
    most_sums: usize,
    /// Cells that a number may always have.
    few_cells: usize,
}

impl Default for CellLimits {
    fn default() -> Self {
        Self { most_sums: MOST_SUMS, few_cells: FEW_CELLS }
    }
}

/// Rows whose raw values are read in passes, wherever they are.
///
/// # Examples
///
/// Rows in two parts, whose answers are sent as bytes:
///
/// ```
/// use std::sync::Arc;
///
/// use aucrank::additive::{Mad2cParams, RawAsk, RawRows, RawSums, fit_mad2c};
/// use aucrank::data::{Batch, Columns, Labels, WeightRange};
/// use aucrank::rows::Mergeable;
/// use aucrank::{Interrupt, RankError};
///
/// struct TwoParts([(Vec<f64>, Vec<bool>); 2]);
///
/// impl RawRows for TwoParts {
///     fn n_levels(&self) -> &[Option<u32>] {
///         &[None]
///     }
///
///     fn weights(&self) -> Option<(WeightRange, u128)> {
///         None
///     }
///
///     fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError> {
///         let mut whole = RawSums::new(Arc::clone(ask));
///         for (values, positive) in &self.0 {
///             let ask = RawAsk::from_bytes(&ask.to_bytes())?;
///             let mut part = RawSums::new(Arc::new(ask));
///             part.add(&Batch::new(&Columns::from_row_major(values, 1)?, positive), interrupt)?;
///             whole.merge_bytes(&part.to_bytes())?;
///         }
///         Ok(whole)
///     }
/// }
///
/// let parts = TwoParts([(vec![1.0, 4.0], vec![false, true]), (vec![2.0, 3.0], vec![true, false])]);
/// let (params, interrupt) = (Mad2cParams::default(), Interrupt::default());
/// let of_parts = fit_mad2c(&parts, &params, &interrupt)?;
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// assert_eq!(of_parts, fit_mad2c((&columns, &labels), &params, &interrupt)?);
/// # Ok::<(), RankError>(())
/// ```
pub trait RawRows: Sync {
    /// Number of categories of each feature, or `None` for a number.
    fn n_levels(&self) -> &[Option<u32>];

    /// The range of all weights and their relative sum ([`WeightRange::relative_sum_of_part`]), or
    /// `None` if every row counts once.
    fn weights(&self) -> Option<(WeightRange, u128)>;

    /// The merged sums of all rows.
    ///
    /// # Errors
    ///
    /// Errors of the holder, such as [`RankError::Storage`] or [`RankError::Interrupted`].
    fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError>;
}

impl<'a, R: RawRows> From<&'a R> for TrainingRows<'a, &'a dyn RawRows> {
    fn from(rows: &'a R) -> Self {
        Self::Elsewhere(rows)
    }
}

impl<'a> From<&'a dyn RawRows> for TrainingRows<'a, &'a dyn RawRows> {
    fn from(rows: &'a dyn RawRows) -> Self {
        Self::Elsewhere(rows)
    }
}

/// State that determines the bins of all rows and of those outside each fold.
#[derive(Debug)]
pub(super) struct CutSearch {
    n_levels: Vec<Option<u32>>,
    exponent: i32,
    n_folds: usize,
    /// For each fold.
    totals: Vec<ClassSums>,
    /// For each fold.
    squares: Vec<RowSquares>,
    features: Vec<SievedFeature>,
}

#[derive(Debug)]
enum SievedFeature {
    Number(NumberTable),
    /// The rows of each category, then those with a missing value, by fold.
    Levels(Vec<ClassSums>),
}

impl CutSearch {
    /// Reads the rows, dealt into the given number of folds in the order of a seed, if there are to
    /// be any.
    pub(super) fn read(
        rows: &dyn RawRows,
        params: &Mad2cParams,
        folds: Option<(u16, u64)>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        Self::in_cells(rows, params, folds, CellLimits::default(), interrupt)
    }

    fn in_cells(
        rows: &dyn RawRows,
        params: &Mad2cParams,
        folds: Option<(u16, u64)>,
        limits: CellLimits,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let CellLimits { most_sums, few_cells } = limits;
        let n_levels = rows.n_levels();
        params.validate(n_levels)?;
        let scale = rows.weights().map(|(range, relative)| FixedScale::new(range, relative));
        let mut passes = Passes { rows, n_done: 0, interrupt };
        let mut head = PassHead {
            n_levels: n_levels.to_vec(),
            scale,
            special: params.special.clone(),
            dealt: FoldDeal::Together,
            most_cells: few_cells,
        };
        if let Some((wanted, seed)) = folds {
            let nothing = vec![WantedCounts::Nothing; n_levels.len()];
            let asking = PassHead { dealt: FoldDeal::NotYet(seed), ..head.clone() };
            let RawSums { hashes, blocks, .. } = passes.next(asking, nothing)?;
            let table = blocks.map(|blocks| Arc::new(blocks.table()));
            let order = match &table {
                Some(table) => DealOrder::Blocks(Arc::clone(table), seed),
                None => DealOrder::Contents(Arc::new(RowOrder::of_hashes(seed, hashes))),
            };
            let folds = order.folds(wanted);
            if folds.n_folds() > 1 {
                head.dealt = FoldDeal::Folds(Arc::new(folds), table);
            }
        }
        let n_folds = head.n_folds();
        let n_numbers = n_levels.iter().filter(|n_levels| n_levels.is_none()).count();
        let most = (most_sums / (n_numbers * n_folds).max(1)).clamp(few_cells, MOST_CELLS);
        head.most_cells = most.min(FIRST_CELLS);
        let wanted = |n_levels: &Option<u32>| match n_levels {
            None => WantedCounts::Keys(KeyLayout::Prefixes(None)),
            Some(_) => WantedCounts::Levels,
        };
        let first = passes.next(head.clone(), n_levels.iter().map(wanted).collect())?;
        let RawSums { totals, squares, features, .. } = first;
        let learn = |(feature, sums): (usize, sums::NumberSums)| match sums.cells {
            None => SievedFeature::Levels(sums.apart),
            Some(cells) => {
                let special = head.special(feature).to_vec();
                let direction = params.directions.get(feature).copied().flatten();
                let table = NumberTable::new(&cells, sums.apart, n_folds, special, direction);
                SievedFeature::Number(table)
            }
        };
        let features = parallel::map(features.into_iter().enumerate().collect(), learn);
        head.most_cells = most;
        let exponent = scale.map_or(0, FixedScale::exponent);
        let n_levels = n_levels.to_vec();
        let mut search = Self { n_levels, exponent, n_folds, totals, squares, features };
        search.total(FoldView::All).check_classes()?;
        search.refine(&head, &mut passes)?;
        Ok(search)
    }

    /// Further passes, until all cuts are known.
    fn refine(&mut self, head: &PassHead, passes: &mut Passes<'_>) -> Result<(), RankError> {
        loop {
            let wanted = |feature: &SievedFeature| match feature {
                SievedFeature::Levels(_) => WantedCounts::Nothing,
                SievedFeature::Number(table) => {
                    table.wants(head.most_cells).map_or(WantedCounts::Nothing, WantedCounts::Keys)
                }
            };
            let wanted: Vec<WantedCounts> = self.features.iter().map(wanted).collect();
            if wanted.iter().all(|wanted| *wanted == WantedCounts::Nothing) {
                return Ok(());
            }
            let found = passes.next(head.clone(), wanted)?.features;
            let work = self.features.iter_mut().zip(found).collect();
            parallel::try_map(work, |(feature, found): (&mut SievedFeature, sums::NumberSums)| {
                match (feature, found.cells) {
                    (SievedFeature::Number(table), Some(cells)) => table.split(&cells),
                    _ => Ok(()),
                }
            })?;
        }
    }

    /// Number of folds; 1 if there are none.
    pub(super) fn n_folds(&self) -> usize {
        self.n_folds
    }

    fn total(&self, view: FoldView) -> ClassSums {
        view.of(&self.totals)
    }

    /// The bins of the rows of a view.
    pub(super) fn table(&self, view: FoldView) -> Result<Mad2c, RankError> {
        self.total(view).check_classes()?;
        let binned = |feature: &SievedFeature| -> BinnedFeature {
            match feature {
                SievedFeature::Number(table) => table.binned(view),
                SievedFeature::Levels(sums) => {
                    let levels = sums.chunks(self.n_folds).map(|folds| view.of(folds));
                    let mut levels: Vec<ClassSums> = levels.collect();
                    let missing = levels.pop().unwrap_or_default();
                    binned_levels(levels, missing)
                }
            }
        };
        let features = self.features.iter().map(binned).collect();
        Ok(Mad2c::new(self.n_levels.clone(), self.total(view), self.exponent, features))
    }

    /// Effective weights of single rows of a view.
    pub(super) fn units(&self, view: FoldView) -> RowUnits {
        let mut squares = RowSquares::default();
        for (fold, own) in self.squares.iter().enumerate() {
            if view != FoldView::Without(fold) {
                squares.merge(own);
            }
        }
        squares.units()
    }

    /// The rows of a fold by bin, for bins learned without it.
    pub(super) fn of_fold(&self, fold: usize, feature: usize, bins: &Bins) -> Vec<ClassMasses> {
        match &self.features[feature] {
            SievedFeature::Number(table) => table.of_fold(fold, bins),
            SievedFeature::Levels(sums) => {
                let mut masses = vec![ClassMasses::default(); bins.n_bins() + 1];
                // The place after the last category is that of missing values.
                for (level, folds) in sums.chunks(self.n_folds).enumerate() {
                    masses[bins.bin(level as f64)] += folds[fold].into();
                }
                masses
            }
        }
    }
}

/// Queries the rows pass by pass.
struct Passes<'a> {
    rows: &'a dyn RawRows,
    n_done: usize,
    interrupt: &'a Interrupt,
}

impl Passes<'_> {
    fn next(&mut self, head: PassHead, features: Vec<WantedCounts>) -> Result<RawSums, RankError> {
        self.interrupt.check()?;
        let ask = Arc::new(RawAsk { head, features });
        let sums = self.rows.pass(&ask, self.interrupt)?;
        self.n_done += 1;
        let part = FitPart { unit: "pass", number: self.n_done, most: None, figures: &[] };
        self.interrupt.part_done(&part)?;
        Ok(sums)
    }
}
