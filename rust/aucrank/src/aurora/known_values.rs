//! The known values of a numeric feature, and their percentiles.
//!
//! No column is sorted completely. If a number has few values, one pass finds them. Otherwise
//! values are distributed into cells of equal width, and only cells that contain a percentile or a
//! possible spike are examined: about as many rows as there are percentiles, unless values pile up.

use std::ops::Range;

use crate::parallel::prelude::*;

use crate::data::{Column, Columns, midpoint};

/// Rows copied of one column before the next one.
const TILE_ROWS: usize = 256;

/// Number of values up to which one pass finds them by lookup; more of them are sorted.
const FEW: usize = 256;

/// Maximum number of cells: their counts stay in the cache.
const MOST_CELLS: usize = 1 << 16;

/// Minimum number of rows per cell.
const ROWS_OF_CELL: usize = 16;

/// A value and its number of rows.
pub(super) type ValueCount = (f64, u64);

/// Merges equal adjacent values.
fn joined(values: impl Iterator<Item = ValueCount>) -> Vec<ValueCount> {
    let mut levels: Vec<ValueCount> = Vec::new();
    for (value, count) in values {
        match levels.last_mut() {
            #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
            Some(last) if last.0 == value => last.1 += count,
            _ => levels.push((value, count)),
        }
    }
    levels
}

/// Thresholds between adjacent levels, unless both are rare (DECISIONS A2, A3).
pub(super) fn between(levels: &[ValueCount], min_share: f64) -> Vec<f64> {
    let n: u64 = levels.iter().map(|level| level.1).sum();
    let is_rare = |level: &ValueCount| (level.1 as f64) < min_share * n as f64;
    levels
        .windows(2)
        .filter(|pair| !(is_rare(&pair[0]) && is_rare(&pair[1])))
        .map(|pair| midpoint(pair[0].0, pair[1].0))
        .collect()
}

/// The known values of a number in some rows.
pub(super) struct Known {
    pub values: Vec<f64>,
    /// Number of rows that each value represents; `None` if one each.
    copies: Option<Vec<u64>>,
    pub any_missing: bool,
}

impl Known {
    pub fn read(
        columns: &Columns<'_>,
        block: Range<usize>,
        copies: Option<&(dyn Fn(usize) -> u64 + Sync)>,
        rows: &[u32],
    ) -> Vec<Self> {
        let new = || Self {
            values: Vec::with_capacity(rows.len()),
            copies: copies.map(|_| Vec::with_capacity(rows.len())),
            any_missing: false,
        };
        let mut all: Vec<Self> = block.clone().map(|_| new()).collect();
        for rows in rows.chunks(TILE_ROWS) {
            for (feature, known) in block.clone().zip(&mut all) {
                match columns[feature] {
                    Column::F64(values) => known.add(|row| values.get(row), copies, rows),
                    Column::F32(values) => known.add(|row| values.get(row), copies, rows),
                    Column::Codes { .. } => unreachable!("a block of numbers"),
                }
            }
        }
        all
    }

    fn add(
        &mut self,
        value: impl Fn(usize) -> f64,
        copies: Option<&(dyn Fn(usize) -> u64 + Sync)>,
        rows: &[u32],
    ) {
        for &row in rows {
            // Adding 0.0 turns -0.0 into 0.0, so that equal numbers have equal bits.
            let value = value(row as usize) + 0.0;
            if value.is_nan() {
                self.any_missing = true;
                continue;
            }
            self.values.push(value);
            if let (Some(all), Some(copies)) = (&mut self.copies, copies) {
                all.push(copies(row as usize));
            }
        }
    }

    fn copies(&self, place: usize) -> u64 {
        self.copies.as_ref().map_or(1, |copies| copies[place])
    }

    fn levels(&self) -> impl Iterator<Item = ValueCount> {
        self.values.iter().enumerate().map(|(place, &value)| (value, self.copies(place)))
    }

    /// All values in ascending order.
    pub fn all_levels(&self) -> Vec<ValueCount> {
        sorted(self.levels().collect())
    }

    /// All values in ascending order, if there are at most `most`.
    pub fn few_levels(&self, most: usize) -> Option<Vec<ValueCount>> {
        if most > FEW {
            return self.few_levels(FEW).or_else(|| {
                let levels = self.all_levels();
                (levels.len() <= most).then_some(levels)
            });
        }
        let mut levels: Vec<ValueCount> = Vec::new();
        let mut last = 0;
        for (value, count) in self.levels() {
            // Neighbouring rows are often equal.
            #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
            let is_last = levels.get(last).is_some_and(|level| level.0 == value);
            if !is_last {
                last = levels.partition_point(|level| level.0 < value);
                #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
                let is_new = levels.get(last).is_none_or(|level| level.0 != value);
                if is_new {
                    if levels.len() == most {
                        return None;
                    }
                    levels.insert(last, (value, 0));
                }
            }
            levels[last].1 += count;
        }
        Some(levels)
    }

    /// Percentiles, by linear interpolation, of values that each count for at most a share of the
    /// rows (DECISIONS A4, A5); only those that partition the rows, and each differently (DECISIONS
    /// A6).
    pub fn percentiles(&self, percentiles: &[f64], max_spike_share: f64) -> Vec<f64> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let n: u64 = match &self.copies {
            None => self.values.len() as u64,
            Some(copies) => copies.iter().sum(),
        };
        let cap = ((max_spike_share * n as f64).floor() as u64).max(1);
        let cells = EqualCells::new(self, cap);
        let last = cells.n() - 1;
        let places = percentiles.iter().map(|percentile| {
            let place = percentile / 100.0 * last as f64;
            (place.floor() as u64, place.fract())
        });
        let places: Vec<(u64, f64)> = places.collect();
        let wanted = places.iter().flat_map(|&(below, _)| [below, (below + 1).min(last)]);
        let values = cells.values_at(self, wanted);
        let mut thresholds = Vec::new();
        let mut first_on = cells.low;
        for (&(_, share), pair) in places.iter().zip(values.chunks(2)) {
            let (low, high) = (pair[0], pair[1]);
            let threshold = interpolated(low, high, share);
            // The least value at or above it, which determines the partition of the rows.
            let on = if threshold > low { high } else { low };
            if on > first_on {
                first_on = on;
                thresholds.push(threshold);
            }
        }
        thresholds
    }
}

fn sorted(mut values: Vec<ValueCount>) -> Vec<ValueCount> {
    values.par_sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    joined(values.into_iter())
}

/// Interpolates between two numbers from the nearer one, as numpy does.
pub(super) fn interpolated(low: f64, high: f64, share: f64) -> f64 {
    let width = high - low;
    if width.is_infinite() {
        return low * (1.0 - share) + high * share;
    }
    if share >= 0.5 { high - width * (1.0 - share) } else { low + width * share }
}

/// Values in cells of equal width. The cell of a value is computed by rounded, monotone arithmetic,
/// so any cell width gives the right result; it affects the speed only.
struct EqualCells {
    low: f64,
    per_unit: f64,
    /// Capped row counts before each cell and after the last.
    starts: Vec<u64>,
    /// Values of the cells in which some value may exceed the cap.
    heaped: Vec<(u32, Vec<ValueCount>)>,
    cap: u64,
}

impl EqualCells {
    fn new(known: &Known, cap: u64) -> Self {
        let values = &known.values;
        let n_cells = (values.len() / ROWS_OF_CELL).clamp(1, MOST_CELLS);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Infinite or 0 for extreme widths, which is still correct.
        let per_unit = n_cells as f64 / (high - low);
        let mut cells =
            Self { low, per_unit, starts: vec![0; n_cells + 1], heaped: Vec::new(), cap };
        let mut counts = vec![0_u64; n_cells];
        for (value, count) in known.levels() {
            counts[cells.cell(value)] += count;
        }
        cells.heaped = cells.gather(known, |cell| counts[cell] > cap);
        for (cell, levels) in &cells.heaped {
            counts[*cell as usize] = levels.iter().map(|level| level.1.min(cap)).sum();
        }
        for (cell, count) in counts.iter().enumerate() {
            cells.starts[cell + 1] = cells.starts[cell] + count;
        }
        cells
    }

    #[inline]
    fn cell(&self, value: f64) -> usize {
        // NaN, from infinity times 0, converts to 0.
        let cell = ((value - self.low) * self.per_unit) as u32;
        (cell as usize).min(self.starts.len() - 2)
    }

    /// Capped number of rows.
    fn n(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// The values of some cells, in ascending order.
    fn gather(
        &self,
        known: &Known,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<(u32, Vec<ValueCount>)> {
        let is_wanted: Vec<bool> = (0..self.starts.len() - 1).map(is_wanted).collect();
        if !is_wanted.contains(&true) {
            return Vec::new();
        }
        let levels = known.levels().filter(|&(value, _)| is_wanted[self.cell(value)]);
        let levels = sorted(levels.collect());
        let cells = levels.chunk_by(|a, b| self.cell(a.0) == self.cell(b.0));
        cells.map(|levels| (self.cell(levels[0].0) as u32, levels.to_vec())).collect()
    }

    /// The values at these positions in ascending order.
    fn values_at(&self, known: &Known, places: impl Iterator<Item = u64>) -> Vec<f64> {
        let cell_of = |place: u64| self.starts.partition_point(|&start| start <= place) - 1;
        let places: Vec<(u64, usize)> = places.map(|place| (place, cell_of(place))).collect();
        let find = |cells: &[(u32, Vec<ValueCount>)], cell: usize| {
            cells.binary_search_by_key(&(cell as u32), |cell| cell.0).ok()
        };
        let mut is_light = vec![false; self.starts.len() - 1];
        for &(_, cell) in &places {
            is_light[cell] = find(&self.heaped, cell).is_none();
        }
        let light = self.gather(known, |cell| is_light[cell]);
        let value_at = |&(place, cell): &(u64, usize)| {
            let levels = match find(&self.heaped, cell) {
                Some(found) => &self.heaped[found].1,
                None => &light[find(&light, cell).expect("gathered")].1,
            };
            let mut end = self.starts[cell];
            let reaches = |level: &&ValueCount| {
                end += level.1.min(self.cap);
                end > place
            };
            let mut levels = levels.iter();
            levels.find(reaches).expect("a place before the next cell").0
        };
        places.iter().map(value_at).collect()
    }
}
