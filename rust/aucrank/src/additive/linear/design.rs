//! The design matrix, never formed: a row is a few standardised numbers and a few cells of tables.
//!
//! A feature has up to two *parts*: a number its standardised value, and a table of its steps (one
//! column for each threshold: 1/2 from the threshold on) or levels (one column for each category),
//! with a column for missing values if training rows have any. A row is in one cell of each table,
//! so that sums over rows are sums by cell, and columns are found from cells at the end.
//!
//! Vectors are indexed by column (numbers first, then the columns of each table) or by cell
//! (numbers first, then the cells of each table). Rows are the distinct ones, in the order of their
//! content.

use std::ops::Range;

use crate::data::{
    Column, Columns, FeatureSteps, FeatureTerm, Labels, MISSING_CODE, ValueMoments, content_hashes,
    least_level_rows, quantile_cuts,
};
use crate::parallel::prelude::*;
use crate::{Interrupt, RankError, parallel};

/// Distinct rows of positive weight.
#[derive(Debug)]
pub(super) struct DistinctRows {
    /// A training row with the values of each.
    pub(super) rows: Vec<u32>,
    /// Whether each of them is positive.
    pub(super) positive: Vec<bool>,
    /// The weight of each, all copies together, in units of [`Labels::exponent`].
    pub(super) units: Vec<u64>,
}

impl DistinctRows {
    /// The rows in the order of a hash of their values: any run of them is a random sample.
    pub(super) fn of(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let hashed = content_hashes(columns, &labels.rows(), 0, interrupt)?;
        let class = |(hash, row)| (hash, labels.positive()[row as usize], row);
        let mut by_content: Vec<(u64, bool, u32)> = hashed.into_iter().map(class).collect();
        // By the hash of the content: sums of floats over the rows do not depend on the order in
        // which they were given, and copies become one row.
        by_content.par_sort_unstable();
        let mut found = Self { rows: Vec::new(), positive: Vec::new(), units: Vec::new() };
        for copies in by_content.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let weight = |&(_, _, row): &(u64, bool, u32)| {
                let sums = labels.sums(row as usize);
                sums.pos + sums.neg
            };
            found.rows.push(copies[0].2);
            found.positive.push(copies[0].1);
            found.units.push(copies.iter().map(weight).sum());
        }
        Ok(found)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The weight of each row as a share of that of all rows.
    pub(super) fn shares(&self) -> Vec<f64> {
        let total = self.units.iter().sum::<u64>() as f64;
        self.units.iter().map(|&units| units as f64 / total).collect()
    }
}

/// Rows of a block.
pub(super) const BLOCK_ROWS: usize = 1024;

/// Standard deviations from the mean at which a number is clipped.
pub(super) const MOST_DEVIATIONS: f64 = 6.0;

/// Standardised numbers are multiples of this, so that their weighted sums are exact.
pub(super) const UNIT: f64 = 1.0 / (1 << 20) as f64;

/// Contribution of a threshold to the value of its column.
const STEP: f64 = 0.5;

/// Size of the random sample from which thresholds are taken.
const CUT_SAMPLE: usize = 50_000;

/// A standardised number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    pub(super) feature: usize,
    pub(super) moments: ValueMoments,
}

impl Number {
    /// A value in units of [`UNIT`] standard deviations from the mean, clipped; 0 if missing.
    #[inline]
    fn units(self, value: f64) -> i32 {
        (clipped(value, self.moments.mean, self.moments.deviation) / UNIT).round() as i32
    }
}

/// A value in standard deviations from the mean, clipped; 0 if missing.
#[inline]
fn clipped(value: f64, mean: f64, deviation: f64) -> f64 {
    // The difference may overflow to infinity, which is then clipped.
    let deviations = (value - mean) / deviation;
    if deviations.is_nan() { 0.0 } else { deviations.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS) }
}

/// A standardised value: clipped, and rounded to a multiple of [`UNIT`].
#[inline]
pub(super) fn standardised(value: f64, mean: f64, deviation: f64) -> f64 {
    (clipped(value, mean, deviation) / UNIT).round() * UNIT
}

/// Meaning of the cells of a table.
#[derive(Debug)]
enum CellKind {
    /// The steps of a number between thresholds.
    Steps { thresholds: Vec<f64> },
    /// Categories: the cell of each, by code; that of missing values for those of few rows.
    Levels { of_level: Vec<u16>, n_kept: usize },
}

/// The cells of a feature, that of missing values last.
#[derive(Debug)]
pub(super) struct CellTable {
    pub(super) feature: usize,
    cells: CellKind,
    /// Whether training rows are in the cell of missing values.
    has_missing: bool,
    first_column: usize,
    first_cell: usize,
}

impl CellTable {
    /// Number of cells, without that of missing values; also its place.
    fn n_known(&self) -> usize {
        match &self.cells {
            CellKind::Steps { thresholds } => thresholds.len() + 1,
            CellKind::Levels { n_kept, .. } => *n_kept,
        }
    }

    fn n_cells(&self) -> usize {
        self.n_known() + usize::from(self.has_missing)
    }

    fn n_columns(&self) -> usize {
        // The lowest step has no column.
        self.n_cells() - usize::from(matches!(self.cells, CellKind::Steps { .. }))
    }

    fn columns(&self) -> Range<usize> {
        self.first_column..self.first_column + self.n_columns()
    }

    pub(super) fn cells(&self) -> Range<usize> {
        self.first_cell..self.first_cell + self.n_cells()
    }

    /// The values of the cells for the weights of the columns.
    pub(super) fn to_cells(&self, columns: &[f64], cells: &mut [f64]) {
        match &self.cells {
            CellKind::Steps { thresholds } => {
                let (steps, missing) = columns.split_at(thresholds.len());
                let mut value = 0.0;
                cells[0] = value;
                for (cell, weight) in cells[1..].iter_mut().zip(steps) {
                    // Thresholds are running sums over cells, so that a row reads one number for
                    // all thresholds of a feature, however many there are.
                    value += STEP * weight;
                    *cell = value;
                }
                cells[thresholds.len() + 1..].copy_from_slice(missing);
            }
            CellKind::Levels { .. } => cells.copy_from_slice(columns),
        }
    }

    /// Sums by column from sums by cell: the transpose of [`Table::to_cells`].
    pub(super) fn to_columns(&self, cells: &[f64], columns: &mut [f64]) {
        match &self.cells {
            CellKind::Steps { thresholds } => {
                let n_steps = thresholds.len();
                let mut above = 0.0;
                for step in (0..n_steps).rev() {
                    above += cells[step + 1];
                    columns[step] = STEP * above;
                }
                columns[n_steps..].copy_from_slice(&cells[n_steps + 1..]);
            }
            CellKind::Levels { .. } => columns.copy_from_slice(cells),
        }
    }

    /// The step function with the given values of the cells.
    pub(super) fn term(&self, cells: &[f64]) -> FeatureTerm {
        let missing = cells.get(self.n_known()).copied().unwrap_or(0.0);
        let steps = match &self.cells {
            CellKind::Steps { thresholds } => FeatureSteps::Numeric {
                thresholds: thresholds.clone(),
                values: cells[..self.n_known()].to_vec(),
            },
            CellKind::Levels { of_level, .. } => {
                let value = |&cell: &u16| cells.get(usize::from(cell)).copied().unwrap_or(missing);
                FeatureSteps::Categorical { values: of_level.iter().map(value).collect() }
            }
        };
        FeatureTerm { feature: self.feature, steps, missing }
    }
}

/// The training rows, in blocks that store their parts one after the other.
#[derive(Debug)]
pub(super) struct Design {
    n_rows: usize,
    pub(super) numbers: Vec<Number>,
    pub(super) tables: Vec<CellTable>,
    values: Vec<i32>,
    codes: Vec<u16>,
    n_columns: usize,
    n_cells: usize,
}

/// The parts of a feature, by their places: its number, and the table of its cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeatureParts {
    pub(super) number: Option<usize>,
    pub(super) table: Option<usize>,
}

/// Some consecutive rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct DesignBlock<'a> {
    pub(super) start: usize,
    pub(super) n_rows: usize,
    values: &'a [i32],
    codes: &'a [u16],
}

impl DesignBlock<'_> {
    pub(super) fn rows(&self) -> Range<usize> {
        self.start..self.start + self.n_rows
    }

    /// The standardised values of a number, in units.
    pub(super) fn number(&self, place: usize) -> &[i32] {
        &self.values[place * self.n_rows..(place + 1) * self.n_rows]
    }

    /// The cells of a table, counted from its first.
    pub(super) fn table(&self, place: usize) -> &[u16] {
        &self.codes[place * self.n_rows..(place + 1) * self.n_rows]
    }
}

/// How a feature enters the design.
struct Plan {
    number: Option<Number>,
    table: Option<(CellKind, bool)>,
}

impl Design {
    /// Chooses the parts and copies the rows. Numbers from column `n_with_lines` on have steps, and
    /// no line.
    ///
    /// Another thread may write to the data meanwhile: the fit uses these copies only, so that a
    /// value never changes.
    pub(super) fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        rows: &DistinctRows,
        n_thresholds: usize,
        n_with_lines: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let moments = ValueMoments::of(columns, labels, interrupt)?;
        let n_rows = labels.total().rows;
        let least = least_level_rows(n_rows);
        let plan = |feature: usize| {
            interrupt.check()?;
            Ok(match columns[feature] {
                Column::Codes { codes, n_levels } => {
                    plan_of_levels(feature, codes, n_levels, labels, least)?
                }
                Column::F64(values) => {
                    let value = |row: u32| values.get(row as usize);
                    plan_of_number(feature, value, moments[feature], rows, n_thresholds)
                }
                Column::F32(values) => {
                    let value = |row: u32| values.get(row as usize);
                    plan_of_number(feature, value, moments[feature], rows, n_thresholds)
                }
            })
        };
        let plans = parallel::try_map((0..columns.n_features()).collect(), plan)?;
        let (mut numbers, mut tables) = (Vec::new(), Vec::<CellTable>::new());
        for (feature, Plan { number, table }) in plans.into_iter().enumerate() {
            numbers.extend(number.filter(|_| feature < n_with_lines));
            if let Some((cells, has_missing)) = table {
                tables.push(CellTable {
                    feature,
                    cells,
                    has_missing,
                    first_column: 0,
                    first_cell: 0,
                });
            }
        }
        let (mut n_columns, mut n_cells) = (numbers.len(), numbers.len());
        for table in &mut tables {
            (table.first_column, table.first_cell) = (n_columns, n_cells);
            n_columns += table.n_columns();
            n_cells += table.n_cells();
        }
        let n_rows = rows.len();
        let values = vec![0; n_rows * numbers.len()];
        let codes = vec![0; n_rows * tables.len()];
        let mut design = Self { n_rows, numbers, tables, values, codes, n_columns, n_cells };
        design.copy(columns, rows, interrupt)?;
        Ok(design)
    }

    fn copy(
        &mut self,
        columns: &Columns<'_>,
        rows: &DistinctRows,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let Self { numbers, tables, values, codes, .. } = self;
        let of_values = |(places, rows): (&mut [i32], &[u32])| -> Result<(), RankError> {
            interrupt.check()?;
            for (places, &number) in places.chunks_exact_mut(rows.len()).zip(numbers.iter()) {
                let places = places.iter_mut().zip(rows);
                match columns[number.feature] {
                    Column::F64(values) => {
                        places.for_each(|(place, &row)| {
                            *place = number.units(values.get(row as usize));
                        });
                    }
                    Column::F32(values) => {
                        places.for_each(|(place, &row)| {
                            *place = number.units(values.get(row as usize));
                        });
                    }
                    Column::Codes { .. } => unreachable!("a number"),
                }
            }
            Ok(())
        };
        let of_codes = |(places, rows): (&mut [u16], &[u32])| -> Result<(), RankError> {
            interrupt.check()?;
            for (places, table) in places.chunks_exact_mut(rows.len()).zip(tables.iter()) {
                copy_cells(&columns[table.feature], table, rows, places)?;
            }
            Ok(())
        };
        let n_values = BLOCK_ROWS * numbers.len().max(1);
        let blocks = values.chunks_mut(n_values).zip(rows.rows.chunks(BLOCK_ROWS)).collect();
        parallel::try_map(blocks, of_values)?;
        let n_codes = BLOCK_ROWS * tables.len().max(1);
        let blocks = codes.chunks_mut(n_codes).zip(rows.rows.chunks(BLOCK_ROWS)).collect();
        parallel::try_map(blocks, of_codes)?;
        Ok(())
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of columns, without the intercept.
    pub(super) fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of cells, numbers included.
    pub(super) fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Number of parts of a row.
    pub(super) fn n_parts(&self) -> usize {
        self.numbers.len() + self.tables.len()
    }

    pub(super) fn n_blocks(&self) -> usize {
        self.n_rows.div_ceil(BLOCK_ROWS)
    }

    pub(super) fn block(&self, block: usize) -> DesignBlock<'_> {
        let start = block * BLOCK_ROWS;
        let n_rows = BLOCK_ROWS.min(self.n_rows - start);
        let part = |width: usize| start * width..(start + n_rows) * width;
        DesignBlock {
            start,
            n_rows,
            values: &self.values[part(self.numbers.len())],
            codes: &self.codes[part(self.tables.len())],
        }
    }

    /// The values of the cells for the weights of the columns.
    pub(super) fn to_cells(&self, columns: &[f64]) -> Vec<f64> {
        let mut cells = vec![0.0; self.n_cells];
        let n_numbers = self.numbers.len();
        cells[..n_numbers].copy_from_slice(&columns[..n_numbers]);
        for table in &self.tables {
            table.to_cells(&columns[table.columns()], &mut cells[table.cells()]);
        }
        cells
    }

    /// Sums by column from sums by cell.
    pub(super) fn to_columns(&self, cells: &[f64]) -> Vec<f64> {
        let mut columns = vec![0.0; self.n_columns];
        let n_numbers = self.numbers.len();
        columns[..n_numbers].copy_from_slice(&cells[..n_numbers]);
        for table in &self.tables {
            table.to_columns(&cells[table.cells()], &mut columns[table.columns()]);
        }
        columns
    }

    /// Contribution of each feature that has parts to the scores of the first rows.
    pub(super) fn feature_parts(&self, cells: &[f64], n_rows: usize) -> Vec<(usize, Vec<f64>)> {
        let of_feature = |FeatureParts { number, table }: FeatureParts| {
            let mut parts = vec![0.0; n_rows];
            for (block, parts) in parts.chunks_mut(BLOCK_ROWS).enumerate() {
                let block = self.block(block);
                if let Some(number) = number {
                    let values = parts.iter_mut().zip(block.number(number));
                    let weight = cells[number] * UNIT;
                    values.for_each(|(part, &value)| *part += weight * f64::from(value));
                }
                if let Some(table) = table {
                    let of_cell = &cells[self.tables[table].cells()];
                    let codes = parts.iter_mut().zip(block.table(table));
                    codes.for_each(|(part, &cell)| *part += of_cell[usize::from(cell)]);
                }
            }
            let of_table = || self.tables[table.expect("a part")].feature;
            (number.map_or_else(of_table, |number| self.numbers[number].feature), parts)
        };
        parallel::map(self.features(), of_feature)
    }

    /// Mean contribution of each feature to the scores of the rows, weighted by their shares.
    pub(super) fn mean_parts(&self, cells: &[f64], shares: &[f64], n_features: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_cells];
        for block in (0..self.n_blocks()).map(|block| self.block(block)) {
            let shares = &shares[block.rows()];
            for (place, sum) in sums[..self.numbers.len()].iter_mut().enumerate() {
                let values = block.number(place).iter().map(|&value| f64::from(value) * UNIT);
                *sum += values.zip(shares).map(|(value, share)| value * share).sum::<f64>();
            }
            for (place, table) in self.tables.iter().enumerate() {
                let sums = &mut sums[table.cells()];
                for (&cell, share) in block.table(place).iter().zip(shares) {
                    sums[usize::from(cell)] += share;
                }
            }
        }
        let mut means = vec![0.0; n_features];
        for (place, number) in self.numbers.iter().enumerate() {
            means[number.feature] += cells[place] * sums[place];
        }
        for table in &self.tables {
            let of_cells = cells[table.cells()].iter().zip(&sums[table.cells()]);
            means[table.feature] += of_cells.map(|(value, share)| value * share).sum::<f64>();
        }
        means
    }

    /// Parts by feature.
    pub(super) fn features(&self) -> Vec<FeatureParts> {
        let mut found = Vec::new();
        let (mut number, mut table) = (0, 0);
        while number < self.numbers.len() || table < self.tables.len() {
            let of_number = self.numbers.get(number).map_or(usize::MAX, |part| part.feature);
            let of_table = self.tables.get(table).map_or(usize::MAX, |part| part.feature);
            let feature = of_number.min(of_table);
            let (has_number, has_table) = (of_number == feature, of_table == feature);
            found.push(FeatureParts {
                number: has_number.then_some(number),
                table: has_table.then_some(table),
            });
            number += usize::from(has_number);
            table += usize::from(has_table);
        }
        found
    }

    /// The columns of a feature.
    pub(super) fn columns_of(&self, FeatureParts { number, table }: FeatureParts) -> Vec<usize> {
        let of_table = table.map_or(0..0, |table| self.tables[table].columns());
        number.into_iter().chain(of_table).collect()
    }
}

fn plan_of_number(
    feature: usize,
    value: impl Fn(u32) -> f64,
    moments: ValueMoments,
    rows: &DistinctRows,
    n_thresholds: usize,
) -> Plan {
    // Dividing by a smaller deviation would overflow.
    let varies = moments.deviation > 0.0 && moments.deviation.recip().is_finite();
    let has_missing = rows.rows.iter().any(|&row| value(row).is_nan());
    let mut thresholds = Vec::new();
    if varies && n_thresholds > 0 {
        let sample = rows.rows.iter().zip(&rows.units).take(CUT_SAMPLE);
        let sample = sample.map(|(&row, &units)| (value(row), units)).collect();
        thresholds = quantile_cuts(sample, n_thresholds + 1);
    }
    let has_cells = has_missing || !thresholds.is_empty();
    Plan {
        number: varies.then_some(Number { feature, moments }),
        table: has_cells.then_some((CellKind::Steps { thresholds }, has_missing)),
    }
}

fn plan_of_levels(
    column: usize,
    codes: &[u32],
    n_levels: u32,
    labels: &Labels<'_>,
    least: u64,
) -> Result<Plan, RankError> {
    let mut rows_of_level = vec![0; n_levels as usize];
    let mut n_missing = 0;
    for (row, &code) in codes.iter().enumerate() {
        let n_rows = labels.sums(row).rows;
        match rows_of_level.get_mut(code as usize) {
            Some(of_level) => *of_level += n_rows,
            None if code == MISSING_CODE => n_missing += n_rows,
            None => return Err(RankError::BadCode { column, row, code, n_levels }),
        }
    }
    let n_kept = rows_of_level.iter().filter(|&&rows| rows >= least).count();
    let pooled: u64 = rows_of_level.iter().filter(|&&rows| rows < least).sum();
    let has_missing = n_missing + pooled > 0;
    if n_kept + usize::from(has_missing) < 2 {
        // The same for all rows.
        return Ok(Plan { number: None, table: None });
    }
    // There are at most 500 that are kept.
    let mut next = 0;
    let cell = |&rows: &u64| {
        if rows < least {
            return n_kept as u16;
        }
        next += 1;
        next - 1
    };
    let of_level = rows_of_level.iter().map(cell).collect();
    Ok(Plan { number: None, table: Some((CellKind::Levels { of_level, n_kept }, has_missing)) })
}

/// Copies the cells of some rows.
fn copy_cells(
    column: &Column<'_>,
    table: &CellTable,
    rows: &[u32],
    places: &mut [u16],
) -> Result<(), RankError> {
    let missing = table.n_known() as u16;
    let last = table.n_cells() as u16 - 1;
    let cell_of_number = |value: f64| match &table.cells {
        CellKind::Steps { thresholds } if !value.is_nan() => {
            thresholds.iter().filter(|&&threshold| threshold <= value).count() as u16
        }
        _ => missing,
    };
    let cell_of_level = |code: u32| match &table.cells {
        CellKind::Levels { of_level, .. } => {
            of_level.get(code as usize).copied().unwrap_or(missing)
        }
        CellKind::Steps { .. } => missing,
    };
    let places = places.iter_mut().zip(rows.iter().map(|&row| row as usize));
    let mut most = 0;
    let mut put = |place: &mut u16, cell: u16| {
        *place = cell;
        most = most.max(cell);
    };
    match column {
        Column::F64(values) => {
            places.for_each(|(place, row)| put(place, cell_of_number(values.get(row))));
        }
        Column::F32(values) => {
            places.for_each(|(place, row)| put(place, cell_of_number(values.get(row))));
        }
        Column::Codes { codes, .. } => {
            places.for_each(|(place, row)| put(place, cell_of_level(codes[row])));
        }
    }
    // The feature had no missing value when it was read before.
    if most > last { Err(RankError::Changed) } else { Ok(()) }
}
