//! Binning of many values at once.
//!
//! Rows are processed in tiles, one feature after the other: the cuts of a feature stay in the
//! cache, and no branch depends on a value. One multiplication finds the cell of a uniform grid
//! that a number is in, and one or two comparisons with the cuts in that cell find its bin, in a
//! quarter of the time of a binary search among a hundred cuts.

use std::ops::Range;

use crate::parallel::prelude::*;

use crate::data::accumulate::{ClassSums, CountedRows, RowTally, Tally, WeightedRows};
use crate::data::binning::bins::Bins;
use crate::data::input::columns::{Column, Columns};
use crate::data::input::labels::Labels;
use crate::{RankError, parallel};

/// Rows looked up at a time.
const TILE_ROWS: usize = 512;

/// Minimum number of tiles per thread.
const LEAST_TILES: usize = 16;

/// Grid cells per cut, so that few cells hold two cuts.
const CELLS_OF_CUT: usize = 4;

/// Bins of one feature, prepared for many lookups.
#[derive(Debug)]
enum Lookup<'a> {
    Numeric { grid: CutGrid, n_intervals: usize, special: &'a [f64] },
    Categorical { bin_of_level: &'a [usize], n_bins: usize },
}

impl<'a> Lookup<'a> {
    fn new(bins: &'a Bins) -> Self {
        match bins {
            Bins::Numeric { cuts, special } => {
                Self::Numeric { grid: CutGrid::new(cuts), n_intervals: cuts.len() + 1, special }
            }
            Bins::Categorical { bin_of_level, n_bins } => {
                Self::Categorical { bin_of_level, n_bins: *n_bins }
            }
        }
    }

    /// Computes the bin of each value, equal to [`Bins::bin`].
    fn fill(&self, values: &[f64], bins: &mut [u32]) {
        match self {
            Self::Numeric { grid, n_intervals, special } => {
                let missing = (n_intervals + special.len()) as u32;
                grid.fill(values, bins, missing);
                for (bin_of_special, &special) in (*n_intervals as u32..).zip(*special) {
                    for (bin, value) in bins.iter_mut().zip(values) {
                        #[expect(clippy::float_cmp, reason = "a special value is one exactly")]
                        let is_special = *value == special;
                        *bin = if is_special { bin_of_special } else { *bin };
                    }
                }
            }
            Self::Categorical { bin_of_level, n_bins } => {
                for (bin, value) in bins.iter_mut().zip(values) {
                    let bin_of_level = bin_of_level.get(*value as usize).copied();
                    let known = bin_of_level.unwrap_or(*n_bins) as u32;
                    *bin = if value.is_nan() { *n_bins as u32 } else { known };
                }
            }
        }
    }
}

/// Cuts indexed by a grid of cells of equal width.
///
/// The cell of a number is computed by the same rounded, monotone arithmetic for cuts and values:
/// all cuts in the cells below that of a value are below it, and those in the cells above are above
/// it. So any cell width gives the right result; it affects the speed only. A cell is searched by
/// bisection, and if too many cuts fall into one cell, all cuts are.
#[derive(Debug)]
pub(crate) struct CutGrid {
    low: f64,
    cells_of_one: f64,
    /// Number of cuts in the cells before each.
    n_below: Vec<u32>,
    n_cuts: usize,
    /// The cuts, padded with NaN as far as a search may look ahead.
    cuts: Vec<f64>,
    /// Bisection steps that suffice in any cell.
    n_steps: u32,
}

impl CutGrid {
    pub(crate) fn new(cuts: &[f64]) -> Self {
        let low = cuts.first().copied().unwrap_or(0.0);
        let high = cuts.last().copied().unwrap_or(0.0);
        let n_cells = CELLS_OF_CUT * cuts.len() + 1;
        let mut grid = Self {
            low,
            // Infinite or 0 for extreme widths, which is still correct.
            cells_of_one: n_cells as f64 / (high - low),
            n_below: vec![0; n_cells],
            n_cuts: cuts.len(),
            cuts: cuts.to_vec(),
            n_steps: 0,
        };
        let cells: Vec<usize> = cuts.iter().map(|&cut| grid.cell(cut)).collect();
        let most = cells.chunk_by(|a, b| a == b).map(<[usize]>::len).max().unwrap_or(0);
        grid.n_steps = (most + 1).next_power_of_two().ilog2();
        grid.cuts.resize(cuts.len() + (1 << grid.n_steps), f64::NAN);
        let mut n_below = 0;
        for (cell, place) in grid.n_below.iter_mut().enumerate() {
            while cells.get(n_below).is_some_and(|&of_cut| of_cut < cell) {
                n_below += 1;
            }
            *place = n_below as u32;
        }
        grid
    }

    /// The cuts.
    pub(crate) fn cuts(&self) -> &[f64] {
        &self.cuts[..self.n_cuts]
    }

    #[inline]
    fn cell(&self, value: f64) -> usize {
        // NaN converts to 0, as do all values below the grid.
        let cell = ((value - self.low) * self.cells_of_one) as u32;
        (cell as usize).min(self.n_below.len() - 1)
    }

    /// Computes the number of cuts at or below each value, or `missing` for NaN.
    pub(crate) fn fill(&self, values: &[f64], bins: &mut [u32], missing: u32) {
        match self.n_steps {
            ..=1 => self.fill_in::<1>(values, bins, missing),
            2 => self.fill_in::<2>(values, bins, missing),
            3 => self.fill_in::<3>(values, bins, missing),
            4 => self.fill_in::<4>(values, bins, missing),
            _ => self.fill_by_search(values, bins, missing),
        }
    }

    /// In `N_STEPS` steps, a constant, since a loop of variable length compiles to unpredictable
    /// branches.
    fn fill_in<const N_STEPS: u32>(&self, values: &[f64], bins: &mut [u32], missing: u32) {
        for (bin, &value) in bins.iter_mut().zip(values) {
            let mut place = self.n_below[self.cell(value)] as usize;
            for step in (0..N_STEPS).rev() {
                // The search may look beyond the cuts of its cell: those of later cells are above
                // the value, and no comparison with the NaN behind the last is true.
                place += usize::from(self.cuts[place + (1 << step) - 1] <= value) << step;
            }
            *bin = if value.is_nan() { missing } else { place as u32 };
        }
    }

    /// As [`Grid::fill`], for cells with many cuts.
    fn fill_by_search(&self, values: &[f64], bins: &mut [u32], missing: u32) {
        let cuts = self.cuts();
        for (bin, &value) in bins.iter_mut().zip(values) {
            let place = cuts.partition_point(|&cut| cut <= value) as u32;
            *bin = if value.is_nan() { missing } else { place };
        }
    }
}

/// Lookups of the bins of several features.
#[derive(Debug)]
pub(crate) struct Lookups<'a> {
    /// The features with their lookups.
    features: Vec<(usize, Lookup<'a>)>,
    /// Number of bins of each, including that of missing values.
    n_bins: Vec<usize>,
}

/// Buffers for some rows.
#[derive(Debug, Default)]
struct LookupTile {
    values: Vec<f64>,
    /// The bins of the rows, feature by feature.
    bins: Vec<u32>,
}

impl<'a> Lookups<'a> {
    /// Rows looked up at a time.
    pub const TILE_ROWS: usize = TILE_ROWS;

    /// Lookups of the given features.
    pub fn new(features: impl IntoIterator<Item = (usize, &'a Bins)>) -> Self {
        let mut lookups = Self { features: Vec::new(), n_bins: Vec::new() };
        for (feature, bins) in features {
            lookups.features.push((feature, Lookup::new(bins)));
            lookups.n_bins.push(bins.n_bins() + 1);
        }
        lookups
    }

    /// The features.
    pub fn features(&self) -> impl Iterator<Item = usize> {
        self.features.iter().map(|&(feature, _)| feature)
    }

    /// The other numeric features: infinity is an error in them too.
    fn others(&self, columns: &Columns<'_>) -> Vec<usize> {
        let mut is_other: Vec<bool> =
            columns.iter().map(|column| !matches!(column, Column::Codes { .. })).collect();
        self.features().for_each(|feature| is_other[feature] = false);
        (0..is_other.len()).filter(|&feature| is_other[feature]).collect()
    }

    /// Looks up some rows; returns whether they are unusable, for the reason in
    /// [`Columns::refusal`].
    fn look_up(
        &self,
        columns: &Columns<'_>,
        others: &[usize],
        rows: &Range<usize>,
        tile: &mut LookupTile,
    ) -> bool {
        let LookupTile { values, bins } = tile;
        values.resize(rows.len(), 0.0);
        bins.resize(rows.len() * self.features.len(), 0);
        if columns.check_interrupt().is_err() {
            return true;
        }
        let mut any_infinite = false;
        for ((feature, lookup), bins) in self.features.iter().zip(bins.chunks_mut(rows.len())) {
            any_infinite |= columns[*feature].read(rows.clone(), &mut *values);
            lookup.fill(values, bins);
        }
        for &feature in others {
            any_infinite |= columns[feature].read(rows.clone(), &mut *values);
        }
        any_infinite
    }

    /// Calls `work` for all rows, tile by tile and in parallel, with scratch memory, the bins of
    /// the rows feature by feature, and the rows' part of `out`, which has `width` values per row.
    ///
    /// # Errors
    ///
    /// [`RankError::InfiniteValue`] if a number is infinite.
    pub fn by_tile<M: Default, T: Send>(
        &self,
        columns: &Columns<'_>,
        out: &mut [T],
        width: usize,
        work: impl Fn(&mut M, std::slice::Chunks<'_, u32>, &mut [T]) + Sync,
    ) -> Result<(), RankError> {
        if width == 0 {
            // There is no lookup, but infinity is still an error.
            columns.check_interrupt()?;
            return columns.infinite_value().map_or(Ok(()), Err);
        }
        let tiles = out.chunks_mut(TILE_ROWS * width).enumerate();
        let parts = tiles.map(|(number, out)| {
            let start = number * TILE_ROWS;
            (start..start + out.len() / width, out)
        });
        self.by_part(columns, parts.collect(), work)
    }

    /// As [`Lookups::by_tile`], for given ranges of rows, each with a value that is passed to
    /// `work` in place of `out`. Each has at most `TILE_ROWS` rows, and together they cover all
    /// rows.
    pub fn by_part<M: Default, P: Send>(
        &self,
        columns: &Columns<'_>,
        parts: Vec<(Range<usize>, P)>,
        work: impl Fn(&mut M, std::slice::Chunks<'_, u32>, P) + Sync,
    ) -> Result<(), RankError> {
        let others = self.others(columns);
        let of_part = |(memory, tile): &mut (M, LookupTile), (rows, part): (Range<usize>, P)| {
            let is_refused = self.look_up(columns, &others, &rows, tile);
            if !is_refused {
                work(memory, tile.bins.chunks(rows.len()), part);
            }
            is_refused
        };
        let are_refused = parallel::map_with(parts, LEAST_TILES, Default::default, of_part);
        check(columns, are_refused.contains(&true))
    }

    /// The bin of each row in each feature, row by row.
    ///
    /// # Errors
    ///
    /// As [`Lookups::by_tile`].
    pub fn bins<T: Clone + Default + Send>(
        &self,
        columns: &Columns<'_>,
        value: impl Fn(u32) -> T + Sync,
    ) -> Result<Vec<T>, RankError> {
        let width = self.n_bins.len();
        let mut out = vec![T::default(); columns.n_rows() * width];
        self.by_tile(columns, &mut out, width, |(): &mut (), of_feature, out| {
            for (feature, bins) in of_feature.enumerate() {
                let places = out[feature..].iter_mut().step_by(width);
                places.zip(bins).for_each(|(place, &bin)| *place = value(bin));
            }
        })?;
        Ok(out)
    }

    /// Tallies of labelled rows in each bin of each feature.
    ///
    /// # Errors
    ///
    /// As [`Lookups::by_tile`].
    pub fn count_labelled(
        &self,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
    ) -> Result<Vec<Vec<ClassSums>>, RankError> {
        match labels.weights() {
            None => self.count(columns, &CountedRows(labels.positive())),
            Some(_) => self.count(columns, &WeightedRows(labels)),
        }
    }

    /// Tallies of the rows in each bin of each feature.
    ///
    /// # Errors
    ///
    /// As [`Lookups::by_tile`].
    pub fn count<R: RowTally>(
        &self,
        columns: &Columns<'_>,
        rows: &R,
    ) -> Result<Vec<Vec<ClassSums>>, RankError> {
        let others = self.others(columns);
        let n_rows = columns.n_rows();
        // The tallies of all features, concatenated.
        let starts: Vec<usize> = self
            .n_bins
            .iter()
            .scan(0, |end, n_bins| {
                *end += n_bins;
                Some(*end - n_bins)
            })
            .collect();
        let none = || vec![R::Tally::default(); self.n_bins.iter().sum()];
        let start = || (none(), false, LookupTile::default(), Vec::new());
        let tiles = (0..n_rows.div_ceil(TILE_ROWS)).into_par_iter().with_min_len(LEAST_TILES);
        let parts = tiles.fold(start, |(mut tallies, refused, mut tile, mut of_row), number| {
            let here = number * TILE_ROWS..n_rows.min((number + 1) * TILE_ROWS);
            let is_refused = self.look_up(columns, &others, &here, &mut tile);
            of_row.clear();
            of_row.extend(here.map(|row| rows.of(row)));
            for (bins, &start) in tile.bins.chunks(of_row.len()).zip(&starts) {
                let tallies = &mut tallies[start..];
                bins.iter().zip(&of_row).for_each(|(&bin, &row)| tallies[bin as usize] += row);
            }
            (tallies, refused | is_refused, tile, of_row)
        });
        let (tallies, any_refused) = parts.map(|(tallies, refused, ..)| (tallies, refused)).reduce(
            || (none(), false),
            |(mut tallies, refused), (more, more_refused)| {
                tallies.iter_mut().zip(more).for_each(|(tally, more)| *tally += more);
                (tallies, refused | more_refused)
            },
        );
        check(columns, any_refused)?;
        let of_feature = |(&start, &n_bins): (&usize, &usize)| {
            tallies[start..start + n_bins].iter().map(|tally| tally.sums()).collect()
        };
        Ok(starts.iter().zip(&self.n_bins).map(of_feature).collect())
    }
}

fn check(columns: &Columns<'_>, any_refused: bool) -> Result<(), RankError> {
    if any_refused { Err(columns.refusal()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::data::{CountedRows, Labels, WeightedRows};

    fn filled(bins: &Bins, values: &[f64]) -> Vec<usize> {
        let mut found = vec![7; values.len()];
        Lookup::new(bins).fill(values, &mut found);
        found.into_iter().map(|bin| bin as usize).collect()
    }

    fn numeric(mut cuts: Vec<f64>, special: Vec<f64>) -> Bins {
        cuts.sort_unstable_by(f64::total_cmp);
        cuts.dedup();
        Bins::Numeric { cuts, special }
    }

    /// Every cut and its neighbouring floats, and numbers of all magnitudes.
    fn around(cuts: &[f64]) -> Vec<f64> {
        let ends = [0.0, -0.0, 1.0, -1.0, 5e-324, f64::MAX, f64::MIN, f64::NAN, -f64::NAN];
        let near = cuts.iter().flat_map(|cut| [*cut, cut.next_up(), cut.next_down(), -cut]);
        near.chain(ends).collect()
    }

    #[test]
    fn cuts_of_any_law_are_found() {
        let powers = |base: f64| (0..200).map(|k| base.powi(k - 100)).collect::<Vec<f64>>();
        for cuts in [
            vec![],
            vec![0.0],
            vec![f64::MAX],
            vec![f64::MIN, f64::MAX],
            vec![f64::MIN, -1.0, 0.0, 1.0, f64::MAX],
            vec![0.0, 5e-324, 1e-323],
            vec![1.0, 1.0_f64.next_up(), 1e300],
            powers(2.0),
            powers(1e3),
            (0..1000).map(f64::from).collect(),
            (0..1000).map(|k| 1e9 + 1e-3 * f64::from(k)).collect(),
        ] {
            let values = around(&cuts);
            let special = vec![1.0, -7.0, 0.0];
            for bins in [numeric(cuts.clone(), vec![]), numeric(cuts, special)] {
                let expected: Vec<usize> = values.iter().map(|&value| bins.bin(value)).collect();
                assert_eq!(filled(&bins, &values), expected, "{bins:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_value_has_the_same_bin_as_by_itself(
            cuts in prop::collection::vec(
                prop_oneof![any::<f64>(), -1.0..1.0, (-9..9).prop_map(f64::from)], 0..60),
            values in prop::collection::vec(any::<f64>(), 0..40),
        ) {
            let cuts: Vec<f64> = cuts.into_iter().filter(|cut| cut.is_finite()).collect();
            let mut values: Vec<f64> =
                values.into_iter().filter(|value| !value.is_infinite()).collect();
            values.extend(around(&cuts));
            values.retain(|value| !value.is_infinite());
            let bins = numeric(cuts, vec![2.0]);
            let expected: Vec<usize> = values.iter().map(|&value| bins.bin(value)).collect();
            prop_assert_eq!(filled(&bins, &values), expected);
        }
    }

    #[test]
    fn categories_without_a_bin_are_missing() {
        let bins = Bins::Categorical { bin_of_level: vec![1, 2, 0], n_bins: 2 };
        assert_eq!(filled(&bins, &[0.0, 1.0, 2.0, 3.0, 4e9, f64::NAN]), [1, 2, 0, 2, 2, 2]);
    }

    #[test]
    fn rows_are_counted_one_by_one() {
        const N: usize = 40 * TILE_ROWS + 3;
        let draw = |seed: u64, row: usize| crate::data::mix(seed << 32 | row as u64);
        let values: Vec<f64> = (0..2 * N)
            .map(|place| match draw(1, place) % 9 {
                8 => f64::NAN,
                value => value as f64,
            })
            .collect();
        let codes: Vec<u32> = (0..N).map(|row| (draw(2, row) % 3) as u32).collect();
        let positive: Vec<bool> = (0..N).map(|row| draw(3, row) % 4 == 0).collect();
        let weights: Vec<f64> = (0..N).map(|row| (draw(4, row) % 3) as f64).collect();
        let columns = Columns::new(
            vec![
                values[..N].into(),
                Column::Codes { codes: &codes, n_levels: 3 },
                values[N..].into(),
            ],
            N,
        )
        .unwrap();
        let bins = [
            numeric(vec![1.5, 3.0, 4.5], vec![6.0]),
            Bins::Categorical { bin_of_level: vec![0, 1, 0], n_bins: 2 },
        ];
        let lookups = Lookups::new([(2, &bins[0]), (1, &bins[1])]);
        let raw = |feature: usize, row: usize| match feature {
            1 => f64::from(codes[row]),
            _ => values[N + row],
        };
        for weights in [None, Some(&weights[..])] {
            let labels = Labels::new(&positive, weights).unwrap();
            let mut expected: Vec<Vec<ClassSums>> =
                bins.iter().map(|bins| vec![ClassSums::default(); bins.n_bins() + 1]).collect();
            for (place, feature) in [2, 1].into_iter().enumerate() {
                for row in 0..N {
                    expected[place][bins[place].bin(raw(feature, row))] += labels.sums(row);
                }
            }
            assert_eq!(lookups.count(&columns, &WeightedRows(&labels)).unwrap(), expected);
            if weights.is_none() {
                assert_eq!(lookups.count(&columns, &CountedRows(&positive)).unwrap(), expected);
            }
        }
        let mut out = vec![0.0; N];
        lookups
            .by_tile(&columns, &mut out, 1, |(): &mut (), bins, out| {
                for bins in bins {
                    out.iter_mut().zip(bins).for_each(|(out, &bin)| *out += f64::from(bin));
                }
            })
            .unwrap();
        for (row, &found) in out.iter().enumerate() {
            assert_eq!(found, (bins[0].bin(raw(2, row)) + bins[1].bin(raw(1, row))) as f64);
        }
    }

    #[test]
    fn infinity_is_found_in_any_column() {
        let (fine, bad) = ([1.0, 2.0], [0.0, f64::INFINITY]);
        let columns = Columns::new(vec![fine[..].into(), bad[..].into()], 2).unwrap();
        let bins = numeric(vec![1.5], vec![]);
        let value = f64::INFINITY;
        let expected = RankError::InfiniteValue { column: 1, row: 1, value };
        for feature in 0..2 {
            let lookups = Lookups::new([(feature, &bins)]);
            let counted = lookups.count(&columns, &CountedRows(&[true, false]));
            assert_eq!(counted, Err(expected.clone()));
            let mut out = [0.0; 2];
            let looked = lookups.by_tile(&columns, &mut out, 1, |(): &mut (), _, _| ());
            assert_eq!(looked, Err(expected.clone()));
        }
    }
}
