//! Raw features as binary terms.
//!
//! No column is sorted whole. A number that takes few values shows them in one pass. Any other is dealt
//! into cells of equal width, and only cells in which a value may be a spike, or a percentile falls,
//! are looked into: about as many rows as there are percentiles, where nothing is heaped.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{Column, Columns, Labels, MISSING_CODE, midpoint};
use crate::{Interrupt, RankError};

/// Columns that are copied together where they do not lie side by side: they share lines of the cache.
const BLOCK: usize = 8;

/// Rows copied of one column before the next one.
const TILE_ROWS: usize = 256;

/// Most cells that a column is dealt into: their counts stay in the cache.
const MOST_CELLS: usize = 1 << 16;

/// Rows for each cell, at least.
const ROWS_OF_CELL: usize = 16;

/// How the terms of a feature are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureType {
    /// A threshold between all neighbouring values, however many there are.
    Discrete,
    /// Thresholds at percentiles, however few values there are.
    Continuous,
}

/// How raw features become binary terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinarizerParams {
    /// Up to so many distinct values a number is cut between all of them. At least 1.
    pub max_levels: usize,
    /// Runs of neighbouring values that each hold a smaller share of the rows are joined.
    pub min_level_share: f64,
    /// Percentiles at which other numbers are cut, ascending.
    pub percentiles: Vec<f64>,
    /// Share of the rows that a single value has at most when percentiles are taken.
    pub max_spike_share: f64,
    /// For each feature its type, `None` where the number of its values decides; or empty for none at
    /// all.
    pub feature_types: Vec<Option<FeatureType>>,
    /// Whether there is a term for missing values, where the rows had some.
    pub missing_indicator: bool,
}

impl Default for BinarizerParams {
    fn default() -> Self {
        Self {
            max_levels: 22,
            min_level_share: 0.001,
            percentiles: (1..20).map(|k| f64::from(5 * k)).collect(),
            max_spike_share: 0.01,
            feature_types: Vec::new(),
            missing_indicator: true,
        }
    }
}

impl BinarizerParams {
    /// Whether these are parameters for features with these numbers of categories.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`].
    pub fn validate(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        let refuse = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if self.max_levels == 0 {
            return refuse("max_levels", "0".to_owned(), "at least 1");
        }
        for (name, share) in
            [("min_level_share", self.min_level_share), ("max_spike_share", self.max_spike_share)]
        {
            if !(0.0..=1.0).contains(&share) {
                return refuse(name, share.to_string(), "in [0, 1]");
            }
        }
        let percentiles = &self.percentiles;
        if percentiles.is_empty()
            || !percentiles.iter().all(|percentile| (0.0..=100.0).contains(percentile))
            || !percentiles.is_sorted_by(|low, high| low < high)
        {
            let rule = "one number or more in [0, 100], in strictly ascending order";
            return refuse("percentiles", format!("{percentiles:?}"), rule);
        }
        let types = &self.feature_types;
        if !types.is_empty() && types.len() != n_levels.len() {
            let found = format!("a list of length {}", types.len());
            return refuse("feature_types", found, "empty, or have an entry for each feature");
        }
        if types.iter().zip(n_levels).any(|(of, n_levels)| of.is_some() && n_levels.is_some()) {
            let found = "the type of a number".to_owned();
            return refuse("feature_types", found, "absent for a category");
        }
        Ok(())
    }
}

/// What the terms of a feature ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// `x >= t` for each threshold, ascending.
    AtLeast(Vec<f64>),
    /// `x = level` for each of these codes, ascending; the feature has `n_levels`.
    Equals {
        /// Codes.
        levels: Vec<u32>,
        /// Number of categories.
        n_levels: u32,
    },
}

/// A raw feature as binary terms: those of its rule, then that of missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BinaryFeature {
    /// What its terms ask.
    pub rule: Rule,
    /// Whether there is a term for missing values.
    pub missing: bool,
}

impl BinaryFeature {
    /// Number of terms.
    #[must_use]
    pub fn n_terms(&self) -> usize {
        let known = match &self.rule {
            Rule::AtLeast(thresholds) => thresholds.len(),
            Rule::Equals { levels, .. } => levels.len(),
        };
        known + usize::from(self.missing)
    }

    /// Number of codes that rows may have.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        match &self.rule {
            Rule::AtLeast(thresholds) => thresholds.len() + 2,
            Rule::Equals { n_levels, .. } => *n_levels as usize + 1,
        }
    }

    /// Whether a term is on for rows of a code.
    #[inline]
    #[must_use]
    pub fn is_on(&self, term: usize, code: usize) -> bool {
        let missing = self.n_codes() - 1;
        match &self.rule {
            Rule::AtLeast(thresholds) if term < thresholds.len() => code > term && code < missing,
            Rule::Equals { levels, .. } if term < levels.len() => levels[term] as usize == code,
            _ => code == missing,
        }
    }

    /// Whether it may be read from a file, for a feature of this number of categories.
    pub(super) fn check(&self, n_levels: Option<u32>) -> Result<(), String> {
        match (&self.rule, n_levels) {
            (Rule::AtLeast(thresholds), None) => {
                if !thresholds.iter().all(|threshold| threshold.is_finite()) {
                    return Err("a threshold is not a finite number".to_owned());
                }
                if !thresholds.is_sorted_by(|low, high| low < high) {
                    return Err("thresholds are not in strictly ascending order".to_owned());
                }
            }
            (Rule::Equals { levels, n_levels: found }, Some(n_levels)) => {
                if *found != n_levels {
                    return Err(format!("terms of {found} categories, expected {n_levels}"));
                }
                if !levels.is_sorted_by(|low, high| low < high) {
                    return Err("categories are not in strictly ascending order".to_owned());
                }
                if let Some(level) = levels.last().filter(|&&level| level >= n_levels) {
                    return Err(format!("a term of category {level}, and there are {n_levels}"));
                }
            }
            (Rule::AtLeast(_), Some(_)) => return Err("thresholds of a category".to_owned()),
            (Rule::Equals { .. }, None) => return Err("categories of a number".to_owned()),
        }
        Ok(())
    }

    /// Whether two terms ask for thresholds: then both are on where the higher one is, and one of them
    /// is where the lower one is.
    pub(super) fn are_thresholds(&self, a: usize, b: usize) -> bool {
        matches!(&self.rule, Rule::AtLeast(thresholds) if a.max(b) < thresholds.len())
    }

    /// The code of a number.
    #[inline]
    fn code_of_number(&self, value: f64) -> usize {
        let Rule::AtLeast(thresholds) = &self.rule else { return self.n_codes() - 1 };
        if value.is_nan() {
            return thresholds.len() + 1;
        }
        thresholds.partition_point(|&threshold| threshold <= value)
    }

    /// The codes of some rows of a column: those of a number count the thresholds that it has reached,
    /// those of categories are their own, and the last is that of missing values. They are whole where
    /// [`Binarizer::check_codes`] is content.
    #[must_use]
    pub fn codes(&self, column: &Column<'_>, rows: &[u32]) -> Vec<u16> {
        let missing = (self.n_codes() - 1) as u16;
        match column {
            Column::F64(values) => rows
                .iter()
                .map(|&row| self.code_of_number(values.get(row as usize)) as u16)
                .collect(),
            Column::F32(values) => rows
                .iter()
                .map(|&row| self.code_of_number(values.get(row as usize)) as u16)
                .collect(),
            Column::Codes { codes, .. } => rows
                .iter()
                .map(|&row| match codes[row as usize] {
                    MISSING_CODE => missing,
                    code => (code as u16).min(missing),
                })
                .collect(),
        }
    }
}

/// Raw features as binary terms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Binarizer {
    /// By feature.
    pub features: Vec<BinaryFeature>,
}

impl Binarizer {
    /// Chooses the terms from some rows. Rows count as [`Labels::sums`] counts them; their classes do
    /// not matter. An infinite value makes no sense, and a category beyond the last is missing.
    #[must_use]
    pub fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        rows: &[u32],
        params: &BinarizerParams,
    ) -> Self {
        let copies = |row: usize| labels.sums(row).rows;
        let copies: Option<&(dyn Fn(usize) -> u64 + Sync)> =
            if labels.weights().is_some() { Some(&copies) } else { None };
        let found = Self::choose(columns, copies, rows, params, &Interrupt::default());
        found.unwrap_or_else(|_| unreachable!("nobody interrupts it"))
    }

    /// As [`Binarizer::new`], of rows that count as `copies` says, or once each.
    pub(super) fn choose(
        columns: &Columns<'_>,
        copies: Option<&(dyn Fn(usize) -> u64 + Sync)>,
        rows: &[u32],
        params: &BinarizerParams,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let of_block = |block: Range<usize>| {
            interrupt.check()?;
            if let Column::Codes { codes, n_levels } = columns[block.start] {
                return Ok(vec![categorical(codes, n_levels, rows, params)]);
            }
            let known = Known::read(columns, block.clone(), copies, rows);
            let features = block.zip(known).map(|(feature, known)| {
                interrupt.check()?;
                let of_type = params.feature_types.get(feature).copied().flatten();
                Ok(numeric(&known, of_type, params))
            });
            features.collect()
        };
        let features: Result<Vec<Vec<BinaryFeature>>, RankError> =
            blocks(columns).into_par_iter().map(of_block).collect();
        Ok(Self { features: features?.into_iter().flatten().collect() })
    }

    /// Whether the codes of every feature fit the 16 bits of [`BinaryFeature::codes`].
    ///
    /// # Errors
    ///
    /// [`RankError::TooManyCodes`] for the first feature that has too many.
    pub fn check_codes(&self) -> Result<(), RankError> {
        let most = usize::from(u16::MAX) + 1;
        match self.features.iter().position(|feature| feature.n_codes() > most) {
            None => Ok(()),
            Some(column) => {
                let n_codes = self.features[column].n_codes();
                Err(RankError::TooManyCodes { column, n_codes, most })
            }
        }
    }

    /// Number of terms.
    #[must_use]
    pub fn n_terms(&self) -> usize {
        self.features.iter().map(BinaryFeature::n_terms).sum()
    }
}

/// Features that are read one after the other: several columns of a row-major matrix, or one.
fn blocks(columns: &Columns<'_>) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    // Every thread is to have some.
    let most = BLOCK.min(columns.n_features().div_ceil(rayon::current_num_threads()));
    for (feature, column) in columns.iter().enumerate() {
        match blocks.last_mut() {
            Some(block)
                if block.len() < most
                    && column.is_strided()
                    && columns[block.start].is_strided() =>
            {
                block.end = feature + 1;
            }
            _ => blocks.push(feature..feature + 1),
        }
    }
    blocks
}

fn categorical(
    codes: &[u32],
    n_levels: u32,
    rows: &[u32],
    params: &BinarizerParams,
) -> BinaryFeature {
    let mut is_known = vec![false; n_levels as usize];
    let mut any_missing = false;
    for &row in rows {
        match is_known.get_mut(codes[row as usize] as usize) {
            Some(is_known) => *is_known = true,
            None => any_missing = true,
        }
    }
    let mut levels: Vec<u32> = (0..n_levels).filter(|&level| is_known[level as usize]).collect();
    let missing = any_missing && !levels.is_empty() && params.missing_indicator;
    let parts = levels.len() + usize::from(any_missing);
    // One part of all rows is no term, and of two complementary terms one says all (DECISIONS A6, A27).
    if parts == 1 || parts == 2 && (missing || !any_missing) {
        levels.pop();
    }
    BinaryFeature { rule: Rule::Equals { levels, n_levels }, missing }
}

fn numeric(known: &Known, of_type: Option<FeatureType>, params: &BinarizerParams) -> BinaryFeature {
    let levels = match of_type {
        Some(FeatureType::Continuous) => None,
        Some(FeatureType::Discrete) => Some(known.all_levels()),
        None => known.few_levels(params.max_levels),
    };
    let thresholds = match levels {
        Some(levels) => between(&levels, params.min_level_share),
        None => known.percentiles(&params.percentiles, params.max_spike_share),
    };
    let missing = known.any_missing && !known.values.is_empty() && params.missing_indicator;
    BinaryFeature { rule: Rule::AtLeast(thresholds), missing }
}

/// A value and how many rows have it.
type Level = (f64, u64);

/// Joins equal values, which lie side by side.
fn joined(values: impl Iterator<Item = Level>) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for (value, count) in values {
        match levels.last_mut() {
            #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
            Some(last) if last.0 == value => last.1 += count,
            _ => levels.push((value, count)),
        }
    }
    levels
}

/// Thresholds between neighbouring levels, unless both are rare (DECISIONS A2, A3).
fn between(levels: &[Level], min_share: f64) -> Vec<f64> {
    let n: u64 = levels.iter().map(|level| level.1).sum();
    let is_rare = |level: &Level| (level.1 as f64) < min_share * n as f64;
    levels
        .windows(2)
        .filter(|pair| !(is_rare(&pair[0]) && is_rare(&pair[1])))
        .map(|pair| midpoint(pair[0].0, pair[1].0))
        .collect()
}

/// The known values of a number in some rows.
struct Known {
    values: Vec<f64>,
    /// How many rows each stands for; `None` for one each.
    copies: Option<Vec<u64>>,
    any_missing: bool,
}

impl Known {
    fn read(
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
            // Adding 0.0 turns -0.0 into 0.0, so that equal numbers are equal bits.
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

    fn levels(&self) -> impl Iterator<Item = Level> {
        self.values.iter().enumerate().map(|(place, &value)| (value, self.copies(place)))
    }

    /// All values in ascending order.
    fn all_levels(&self) -> Vec<Level> {
        sorted(self.levels().collect())
    }

    /// All values in ascending order, if there are no more than `most`.
    fn few_levels(&self, most: usize) -> Option<Vec<Level>> {
        let mut levels: Vec<Level> = Vec::new();
        let mut last = 0;
        for (value, count) in self.levels() {
            // Neighbouring rows are often alike.
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

    /// Percentiles, by linear interpolation, of values that count for no more than a share of the rows
    /// each (DECISIONS A4, A5); only those that part the rows, and each in another way (DECISIONS A6).
    fn percentiles(&self, percentiles: &[f64], max_spike_share: f64) -> Vec<f64> {
        if self.values.is_empty() {
            return Vec::new();
        }
        let n: u64 = match &self.copies {
            None => self.values.len() as u64,
            Some(copies) => copies.iter().sum(),
        };
        let cap = ((max_spike_share * n as f64).floor() as u64).max(1);
        let cells = Cells::new(self, cap);
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
            // The least value that reaches it: it tells how the rows are parted.
            let on = if threshold > low { high } else { low };
            if on > first_on {
                first_on = on;
                thresholds.push(threshold);
            }
        }
        thresholds
    }
}

fn sorted(mut values: Vec<Level>) -> Vec<Level> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    joined(values.into_iter())
}

/// A number between two others, from the nearer one, as numpy has it.
fn interpolated(low: f64, high: f64, share: f64) -> f64 {
    let width = high - low;
    if width.is_infinite() {
        return low * (1.0 - share) + high * share;
    }
    if share >= 0.5 { high - width * (1.0 - share) } else { low + width * share }
}

/// Values under cells of equal width. The cell of a value is found by rounded arithmetic that never falls
/// where the value rises: cells of whatever width are right, and slow at worst.
struct Cells {
    low: f64,
    per_unit: f64,
    /// Rows before each cell and after the last, no value counted more than so many times.
    starts: Vec<u64>,
    /// Values of the cells in which some value may count too often.
    heaped: Vec<(u32, Vec<Level>)>,
    cap: u64,
}

impl Cells {
    fn new(known: &Known, cap: u64) -> Self {
        let values = &known.values;
        let n_cells = (values.len() / ROWS_OF_CELL).clamp(1, MOST_CELLS);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Infinite or 0 for widths that no double holds, which is right too.
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
        // No number, which two infinities make, is 0.
        let cell = ((value - self.low) * self.per_unit) as u32;
        (cell as usize).min(self.starts.len() - 2)
    }

    /// Rows that count.
    fn n(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// The values of some cells, in ascending order.
    fn gather(&self, known: &Known, is_wanted: impl Fn(usize) -> bool) -> Vec<(u32, Vec<Level>)> {
        let is_wanted: Vec<bool> = (0..self.starts.len() - 1).map(is_wanted).collect();
        if !is_wanted.contains(&true) {
            return Vec::new();
        }
        let levels = known.levels().filter(|&(value, _)| is_wanted[self.cell(value)]);
        let levels = sorted(levels.collect());
        let cells = levels.chunk_by(|a, b| self.cell(a.0) == self.cell(b.0));
        cells.map(|levels| (self.cell(levels[0].0) as u32, levels.to_vec())).collect()
    }

    /// The values that have these places among all in ascending order.
    fn values_at(&self, known: &Known, places: impl Iterator<Item = u64>) -> Vec<f64> {
        let cell_of = |place: u64| self.starts.partition_point(|&start| start <= place) - 1;
        let places: Vec<(u64, usize)> = places.map(|place| (place, cell_of(place))).collect();
        let find = |cells: &[(u32, Vec<Level>)], cell: usize| {
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
            let reaches = |level: &&Level| {
                end += level.1.min(self.cap);
                end > place
            };
            let mut levels = levels.iter();
            levels.find(reaches).expect("a place before the next cell").0
        };
        places.iter().map(value_at).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The terms of one column of numbers, where each row counts as often as it is told.
    fn feature(values: &[f64], copies: Option<&[u64]>, params: &BinarizerParams) -> BinaryFeature {
        let columns = Columns::from_row_major(values, 1).unwrap();
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        let copies = copies.map(|copies| |row: usize| copies[row]);
        let copies: Option<&(dyn Fn(usize) -> u64 + Sync)> = match &copies {
            None => None,
            Some(copies) => Some(copies),
        };
        let interrupt = Interrupt::default();
        let found = Binarizer::choose(&columns, copies, &rows, params, &interrupt).unwrap();
        found.features[0].clone()
    }

    fn thresholds(values: &[f64], params: &BinarizerParams) -> Vec<f64> {
        match feature(values, None, params).rule {
            Rule::AtLeast(thresholds) => thresholds,
            Rule::Equals { .. } => unreachable!(),
        }
    }

    /// Percentiles as they are defined: of a sorted copy in which no value stands too often. Those that
    /// part the values as the one before does are left out.
    fn percentiles_by_sorting(values: &[f64], params: &BinarizerParams) -> Vec<f64> {
        let mut sorted: Vec<f64> =
            values.iter().filter(|value| !value.is_nan()).map(|value| value + 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let cap = ((params.max_spike_share * n as f64).floor() as usize).max(1);
        let mut thinned: Vec<f64> = Vec::new();
        for &value in &sorted {
            if thinned.iter().rev().take(cap).filter(|&&kept| kept == value).count() < cap {
                thinned.push(value);
            }
        }
        let (mut thresholds, mut n_below) = (Vec::new(), 0);
        for percentile in &params.percentiles {
            let Some(last) = thinned.len().checked_sub(1) else { break };
            let place = percentile / 100.0 * last as f64;
            let low = thinned[place.floor() as usize];
            let high = thinned[(place.floor() as usize + 1).min(last)];
            let threshold = interpolated(low, high, place.fract());
            let below = sorted.iter().filter(|&&value| value < threshold).count();
            if below > n_below {
                n_below = below;
                thresholds.push(threshold);
            }
        }
        thresholds
    }

    fn continuous() -> BinarizerParams {
        let feature_types = vec![Some(FeatureType::Continuous)];
        BinarizerParams { feature_types, ..BinarizerParams::default() }
    }

    #[test]
    fn few_values_have_a_threshold_between_all_of_them() {
        let params = BinarizerParams::default();
        assert_eq!(thresholds(&[3.0, -0.0, f64::NAN, 1.0, 0.0, 3.0], &params), [0.5, 2.0]);
        let values: Vec<f64> = (0..22).map(f64::from).collect();
        assert_eq!(thresholds(&values, &params).len(), 21);
        assert!(thresholds(&[2.0, 2.0], &params).is_empty());
        assert!(thresholds(&[f64::NAN, f64::NAN], &params).is_empty());
    }

    #[test]
    fn runs_of_rare_values_are_joined_and_a_lone_one_stays() {
        // Of 3,000 rows, 2 are less than 0.1% and 3 are not.
        let counts = [1000, 2, 2, 990, 2, 1002, 2];
        let values: Vec<f64> = (0..7)
            .flat_map(|value| std::iter::repeat_n(f64::from(value), counts[value as usize]))
            .collect();
        let params = BinarizerParams::default();
        assert_eq!(values.len(), 3000);
        assert_eq!(thresholds(&values, &params), [0.5, 2.5, 3.5, 4.5, 5.5]);
        let params = BinarizerParams { min_level_share: 2.0 / 3000.0, ..params };
        assert_eq!(thresholds(&values, &params).len(), 6);
    }

    #[test]
    fn a_type_that_is_given_overrides_the_number_of_values() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let feature_types = vec![Some(FeatureType::Discrete)];
        let params = BinarizerParams { feature_types, ..BinarizerParams::default() };
        assert_eq!(thresholds(&values, &params).len(), 99);
        let found = thresholds(&values[..3], &continuous());
        // 0.1 and 1.1 are the first percentiles beyond 0 and 1.
        assert!((found[0] - 0.1).abs() < 1e-12 && (found[1] - 1.1).abs() < 1e-12, "{found:?}");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_spike_does_not_draw_the_percentiles() {
        let mut values: Vec<f64> = (0..1000).map(f64::from).collect();
        values.extend(std::iter::repeat_n(500.5, 9000));
        let params = BinarizerParams { percentiles: vec![50.0], ..BinarizerParams::default() };
        // 100 copies are kept of 9,000: 1,100 values, the middle two of which are 499 and 500.
        assert_eq!(thresholds(&values, &params), percentiles_by_sorting(&values, &params));
        let params = BinarizerParams { percentiles: vec![25.0, 75.0], ..params };
        let found = thresholds(&values, &params);
        assert!(found[0] < 300.0 && found[1] > 700.0, "{found:?}");
        let params = BinarizerParams { max_spike_share: 1.0, ..params };
        assert_eq!(thresholds(&values, &params), [500.5]);
    }

    #[test]
    fn missing_values_have_a_term_where_others_are_known() {
        let params = BinarizerParams::default();
        let gap = f64::NAN;
        let none = BinarizerParams { missing_indicator: false, ..params.clone() };
        for (values, n_terms, n_without) in [
            (vec![1.0, 2.0], 1, 1),
            (vec![1.0, 2.0, gap], 2, 1),
            (vec![1.0, gap], 1, 0),
            (vec![gap, gap], 0, 0),
        ] {
            assert_eq!(feature(&values, None, &params).n_terms(), n_terms);
            assert_eq!(feature(&values, None, &none).n_terms(), n_without);
        }
    }

    #[test]
    fn the_second_of_two_complementary_categories_is_dropped() {
        const GAP: u32 = MISSING_CODE;
        let of = |codes: &[u32], missing_indicator: bool| {
            let params = BinarizerParams { missing_indicator, ..BinarizerParams::default() };
            let columns = vec![Column::Codes { codes, n_levels: 4 }];
            let columns = Columns::new(columns, codes.len()).unwrap();
            let rows: Vec<u32> = (0..codes.len() as u32).collect();
            let interrupt = Interrupt::default();
            let found = Binarizer::choose(&columns, None, &rows, &params, &interrupt).unwrap();
            let BinaryFeature { rule: Rule::Equals { levels, .. }, missing } = &found.features[0]
            else {
                unreachable!()
            };
            (levels.clone(), *missing)
        };
        for indicator in [true, false] {
            assert_eq!(of(&[3, 0, 2], indicator), (vec![0, 2, 3], false));
            assert_eq!(of(&[3, 1, 3], indicator), (vec![1], false));
            assert_eq!(of(&[2, 2], indicator), (vec![], false));
            assert_eq!(of(&[GAP, GAP], indicator), (vec![], false));
            assert_eq!(of(&[3, 1, GAP], indicator), (vec![1, 3], indicator));
        }
        assert_eq!(of(&[2, GAP], true), (vec![], true));
        assert_eq!(of(&[2, GAP], false), (vec![2], false));
    }

    #[test]
    fn codes_that_do_not_fit_are_refused_by_their_column() {
        let equals = |n_levels| BinaryFeature {
            rule: Rule::Equals { levels: vec![0], n_levels },
            missing: false,
        };
        let binarizer = Binarizer { features: vec![equals(3), equals(65_535)] };
        assert_eq!(binarizer.check_codes(), Ok(()));
        let binarizer = Binarizer { features: vec![equals(3), equals(65_536)] };
        let found = binarizer.check_codes().unwrap_err();
        assert_eq!(found.column(), Some(1));
        assert!(found.to_string().starts_with("column 1 needs 65537 codes"), "{found}");
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let params = BinarizerParams::default;
        let all = [
            ("max_levels is 0", BinarizerParams { max_levels: 0, ..params() }),
            ("min_level_share is NaN", BinarizerParams { min_level_share: f64::NAN, ..params() }),
            ("max_spike_share is 1.5", BinarizerParams { max_spike_share: 1.5, ..params() }),
            ("percentiles is []", BinarizerParams { percentiles: vec![], ..params() }),
            (
                "percentiles is [5.0, 5.0]",
                BinarizerParams { percentiles: vec![5.0; 2], ..params() },
            ),
            ("percentiles is [101.0]", BinarizerParams { percentiles: vec![101.0], ..params() }),
            ("a list of length 1", continuous()),
            (
                "absent for a category",
                BinarizerParams {
                    feature_types: vec![None, Some(FeatureType::Discrete)],
                    ..params()
                },
            ),
        ];
        for (words, params) in all {
            let found = params.validate(&[None, Some(3)]).unwrap_err().to_string();
            assert!(found.contains(words), "{found}");
        }
        assert_eq!(params().validate(&[None, Some(3)]), Ok(()));
    }

    fn any_values() -> impl Strategy<Value = Vec<f64>> {
        let value = prop_oneof![
            4 => (-20..20_i32).prop_map(f64::from),
            4 => -1.0..1.0_f64,
            2 => Just(7.5),
            1 => Just(f64::NAN),
            1 => any::<f64>().prop_filter("finite", |value| value.is_finite()),
        ];
        prop::collection::vec(value, 1..400)
    }

    proptest! {
        #[test]
        fn percentiles_are_those_of_a_sorted_copy(
            values in any_values(),
            share in prop_oneof![Just(0.01), Just(0.0), Just(1.0), 0.0..0.2_f64],
            mut percentiles in prop::collection::vec(0.0..100.0_f64, 1..30),
        ) {
            percentiles.sort_by(f64::total_cmp);
            percentiles.dedup();
            let params = BinarizerParams { max_spike_share: share, percentiles, ..continuous() };
            prop_assert_eq!(
                thresholds(&values, &params),
                percentiles_by_sorting(&values, &params)
            );
        }

        #[test]
        fn a_row_that_counts_k_times_is_k_rows(
            rows in prop::collection::vec((-30..30_i32, 1..4_u64), 1..200),
            is_fine in any::<bool>(),
        ) {
            let scale = if is_fine { 0.1 } else { 3.0 };
            let values: Vec<f64> =
                rows.iter().map(|row| (f64::from(row.0) / scale).round()).collect();
            let copies: Vec<u64> = rows.iter().map(|row| row.1).collect();
            let each = values.iter().zip(&copies);
            let copied: Vec<f64> =
                each.flat_map(|(&value, &n)| std::iter::repeat_n(value, n as usize)).collect();
            for params in [BinarizerParams::default(), continuous()] {
                prop_assert_eq!(
                    feature(&values, Some(&copies), &params),
                    feature(&copied, None, &params)
                );
            }
        }

        #[test]
        fn every_threshold_parts_the_rows_in_another_way(values in any_values()) {
            for params in [BinarizerParams::default(), continuous()] {
                let found = feature(&values, None, &params);
                let Rule::AtLeast(thresholds) = &found.rule else { unreachable!() };
                let columns = Columns::from_row_major(&values, 1).unwrap();
                let rows: Vec<u32> = (0..values.len() as u32).collect();
                let codes = found.codes(&columns[0], &rows);
                for (&value, &code) in values.iter().zip(&codes) {
                    for (term, threshold) in thresholds.iter().enumerate() {
                        prop_assert_eq!(found.is_on(term, code.into()), value >= *threshold);
                    }
                    if found.missing {
                        prop_assert_eq!(found.is_on(thresholds.len(), code.into()), value.is_nan());
                    }
                }
                for code in 0..=thresholds.len() {
                    prop_assert!(thresholds.is_empty() || codes.contains(&(code as u16)));
                }
            }
        }
    }
}
