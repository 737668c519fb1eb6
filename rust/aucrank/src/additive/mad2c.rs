//! MAD2C: discretisation of every feature into bins of the largest AUC.

use std::ops::Range;

use crate::parallel::prelude::*;
use serde::{Deserialize, Serialize};

use super::bins::{BinnedFeature, Direction, check_special, check_total};
use super::cut_search::{CutSearch, FoldView, RawRows};
use super::hull::{BestCuts, HullFeature, HullMemory, best_cuts};
use crate::data::{
    Bins, ClassSums, Column, Columns, CountedRows, Labels, Lookups, MISSING_CODE, RowTally,
    WeightedRows,
};
use crate::interrupt::PartCounter;
use crate::roc::PARALLEL_FROM;
use crate::rows::TrainingRows;
use crate::{Interrupt, RankError, parallel};

/// How features are cut into bins.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{Mad2cParams, fit_mad2c};
/// use aucrank::data::{Columns, Labels};
///
/// // -1 is the code of an unknown age.
/// let ages = [-1.0, 20.0, 30.0, 40.0, 50.0];
/// let columns = Columns::from_column_major(&ages, 5)?;
/// let labels = Labels::new(&[true, false, false, true, true], None)?;
/// let params = Mad2cParams { special: vec![vec![-1.0]], ..Mad2cParams::default() };
/// let model = fit_mad2c((&columns, &labels), &params, &Interrupt::default())?;
/// assert_eq!(model.bins(&columns)?, [2.0, 0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mad2cParams {
    /// For each feature the special values, which have their own bins; empty if there are none at
    /// all.
    pub special: Vec<Vec<f64>>,
    /// For each feature the direction in which it may rank; empty for the better one of each.
    pub directions: Vec<Option<Direction>>,
}

impl Mad2cParams {
    /// Checks the parameters for columns with these numbers of categories, `None` for a number.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`].
    pub fn validate(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        check_special(&self.special, n_levels)?;
        let refuse = |value, rule| Err(RankError::BadParameter { name: "directions", value, rule });
        if ![0, n_levels.len()].contains(&self.directions.len()) {
            let value = format!("a list of length {}", self.directions.len());
            return refuse(value, "empty, or one entry for each feature");
        }
        for (direction, n_levels) in self.directions.iter().zip(n_levels) {
            if let (Some(direction), Some(_)) = (direction, n_levels) {
                return refuse(format!("{direction:?}"), "absent for a category");
            }
        }
        Ok(())
    }
}

/// Features in bins.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{Mad2cParams, fit_mad2c};
/// use aucrank::data::{ClassSums, Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let model = fit_mad2c((&columns, &labels), &Mad2cParams::default(), &Interrupt::default())?;
/// assert_eq!(model.total(), ClassSums { pos: 2, neg: 2, rows: 4 });
/// let new = Columns::from_row_major(&[0.0, 2.5, 9.0, f64::NAN], 1)?;
/// assert_eq!(model.bins(&new)?, [0.0, 1.0, 2.0, 3.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mad2c {
    /// For each feature its number of categories, or `None` if it is numeric.
    n_levels: Vec<Option<u32>>,
    /// Class sums of the training rows.
    total: ClassSums,
    /// Binary exponent of the unit of weight.
    exponent: i32,
    features: Vec<BinnedFeature>,
}

impl Mad2c {
    pub(super) fn new(
        n_levels: Vec<Option<u32>>,
        total: ClassSums,
        exponent: i32,
        features: Vec<BinnedFeature>,
    ) -> Self {
        Self { n_levels, total, exponent, features }
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// Class sums of the training rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.total
    }

    /// Binary exponent of the unit of class weight.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The features.
    #[must_use]
    pub fn features(&self) -> &[BinnedFeature] {
        &self.features
    }

    /// The bin of each value, row by row; missing values have the index after the last bin.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn bins(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let bins_of = self.features.iter().map(|feature| &feature.bins);
        Lookups::new(bins_of.enumerate()).bins(columns, f64::from)
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        check_total(self.total, self.exponent)?;
        let (found, expected) = (self.features.len(), self.n_levels.len());
        if found != expected {
            return Err(format!("bins of {found} features, expected {expected}"));
        }
        for (place, (feature, &n_levels)) in self.features.iter().zip(&self.n_levels).enumerate() {
            let named = |what: String| format!("feature {place}: {what}");
            feature.check(n_levels, self.total).map_err(named)?;
        }
        Ok(())
    }
}

/// Finds the bins of all features. Rows elsewhere are read in passes ([`RawRows`]).
///
/// # Errors
///
/// [`RankError`] for a parameter out of range, an infinite value, a category code out of range,
/// lengths that differ, a class without weight, or when interrupted; as for [`RawRows::pass`].
pub fn fit_mad2c<'a>(
    rows: impl Into<TrainingRows<'a, &'a dyn RawRows>>,
    params: &Mad2cParams,
    interrupt: &Interrupt,
) -> Result<Mad2c, RankError> {
    match rows.into() {
        TrainingRows::Memory(columns, labels) => {
            let done = PartCounter::new(interrupt, "feature", columns.n_features());
            bin_features(columns, labels, params, Some(&done), interrupt)
        }
        TrainingRows::Elsewhere(rows) => {
            CutSearch::read(rows, params, None, interrupt)?.table(FoldView::All)
        }
    }
}

/// [`fit_mad2c`]; each feature is reported as progress if `done` is given.
pub(super) fn bin_features(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &Mad2cParams,
    done: Option<&PartCounter<'_>>,
    interrupt: &Interrupt,
) -> Result<Mad2c, RankError> {
    if columns.n_rows() != labels.n_rows() {
        let (found, expected) = (columns.n_rows(), labels.n_rows());
        return Err(RankError::LengthMismatch { name: "X", found, expected });
    }
    let columns = &columns.until(interrupt);
    let n_levels: Vec<Option<u32>> = columns.iter().map(Column::n_levels).collect();
    params.validate(&n_levels)?;
    let features = match labels.weights() {
        None => bin_all(columns, labels, &CountedRows(labels.positive()), params, done, interrupt),
        Some(_) => bin_all(columns, labels, &WeightedRows(labels), params, done, interrupt),
    };
    Ok(Mad2c::new(n_levels, labels.total(), labels.exponent(), features?))
}

/// Columns of a matrix that are copied together, since they share cache lines.
const BLOCK: usize = 4;

/// Rows copied of one column before the next one: their lines stay in the cache.
const TILE_ROWS: usize = 256;

fn bin_all<R: RowTally>(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    rows: &R,
    params: &Mad2cParams,
    done: Option<&PartCounter<'_>>,
    interrupt: &Interrupt,
) -> Result<Vec<BinnedFeature>, RankError> {
    let blocks = blocks(columns);
    let n_threads = crate::parallel::current_num_threads();
    let shared = columns.n_rows() >= PARALLEL_FROM && blocks.len() < 2 * n_threads;
    let n_shares = if shared { n_threads } else { 1 };
    let bin_block = |(memory, copies): &mut (HullMemory<R::Tally>, Vec<Vec<f64>>),
                     block: &Range<usize>| {
        let mut bins = Vec::with_capacity(block.len());
        // Several columns of a row-major matrix at a time: each cache line has values of all of
        // them, and would be loaded for every column anew.
        if columns[block.start].is_strided() {
            copy(columns, block.clone(), copies, n_shares);
        }
        for feature in block.clone() {
            if feature > block.start {
                done.map_or(Ok(()), PartCounter::add)?;
            }
            let special = params.special.get(feature).map_or(&[][..], Vec::as_slice);
            let direction = params.directions.get(feature).copied().flatten();
            let none: &[f64] = &[];
            let numeric = HullFeature { values: none, rows, special, direction, n_shares };
            let copy = || copies[feature - block.start].as_slice();
            let found = match columns[feature] {
                Column::F64(values) => {
                    let values = values.contiguous().unwrap_or_else(copy);
                    best_cuts(&numeric.of(values), memory, interrupt)?
                }
                Column::F32(values) => match values.contiguous() {
                    Some(values) => best_cuts(&numeric.of(values), memory, interrupt)?,
                    None => best_cuts(&numeric.of(copy()), memory, interrupt)?,
                },
                Column::Codes { codes, n_levels } => {
                    bins.push(categorical(feature, codes, n_levels, labels)?);
                    continue;
                }
            };
            let Some(BestCuts { direction, cuts, sums }) = found else {
                return Err(columns.refusal());
            };
            let direction = Some(direction);
            let bins_of = Bins::Numeric { cuts, special: special.to_vec() };
            bins.push(BinnedFeature { bins: bins_of, sums, direction });
        }
        done.map_or(Ok(()), PartCounter::add)?;
        Ok(bins)
    };
    let found: Result<Vec<Vec<BinnedFeature>>, RankError> =
        blocks.par_iter().map_init(Default::default, bin_block).collect();
    Ok(found?.into_iter().flatten().collect())
}

/// Features that are binned in sequence: several columns of a row-major matrix, or one.
fn blocks(columns: &Columns<'_>) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    for (feature, column) in columns.iter().enumerate() {
        match blocks.last_mut() {
            Some(block)
                if block.len() < BLOCK
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

/// Copies columns of a row-major matrix into separate buffers.
fn copy(columns: &Columns<'_>, block: Range<usize>, copies: &mut Vec<Vec<f64>>, n_shares: usize) {
    let n_rows = columns.n_rows();
    copies.resize_with(copies.len().max(block.len()), Vec::new);
    let share = n_rows.div_ceil(n_shares);
    let mut shares: Vec<Vec<&mut [f64]>> = (0..n_shares).map(|_| Vec::new()).collect();
    for copy in &mut copies[..block.len()] {
        copy.resize(n_rows, 0.0);
        shares.iter_mut().zip(copy.chunks_mut(share)).for_each(|(share, part)| share.push(part));
    }
    parallel::map(shares.into_iter().enumerate().collect(), |(number, mut parts)| {
        let n_here = parts.first().map_or(0, |part| part.len());
        for start in (0..n_here).step_by(TILE_ROWS) {
            let rows = start..n_here.min(start + TILE_ROWS);
            for (feature, part) in block.clone().zip(&mut parts) {
                let first = number * share;
                columns[feature]
                    .read(first + rows.start..first + rows.end, &mut part[rows.clone()]);
            }
        }
    });
}

fn categorical(
    feature: usize,
    codes: &[u32],
    n_levels: u32,
    labels: &Labels<'_>,
) -> Result<BinnedFeature, RankError> {
    let mut of_level = vec![ClassSums::default(); n_levels as usize];
    let mut missing = ClassSums::default();
    for &row in &labels.rows() {
        let code = codes[row as usize];
        let sums = match of_level.get_mut(code as usize) {
            Some(sums) => sums,
            None if code == MISSING_CODE => &mut missing,
            None => {
                let row = row as usize;
                return Err(RankError::BadCode { column: feature, row, code, n_levels });
            }
        };
        *sums += labels.sums(row as usize);
    }
    Ok(binned_levels(of_level, missing))
}

/// The bins of categories with these rows: those that have any, in their order.
pub(super) fn binned_levels(of_level: Vec<ClassSums>, missing: ClassSums) -> BinnedFeature {
    let n_bins = of_level.iter().filter(|sums| sums.rows > 0).count();
    let mut next = 0;
    let bin_of_level = of_level
        .iter()
        .map(|sums| {
            if sums.rows == 0 {
                return n_bins;
            }
            next += 1;
            next - 1
        })
        .collect();
    let mut sums: Vec<ClassSums> = of_level.into_iter().filter(|sums| sums.rows > 0).collect();
    sums.push(missing);
    let bins = Bins::Categorical { bin_of_level, n_bins };
    BinnedFeature { bins, sums, direction: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: usize = 3 * PARALLEL_FROM;

    /// Columns of all kinds with `N` rows, and which rows are positive.
    fn sample() -> (Vec<Vec<f64>>, Vec<u32>, Vec<bool>) {
        let draw = |seed: usize, row: usize| crate::data::mix((seed * N + row) as u64);
        let unit = |seed, row| (draw(seed, row) >> 11) as f64 * 2_f64.powi(-53);
        let positive: Vec<bool> = (0..N).map(|row| unit(0, row) < 0.4).collect();
        let column = |seed: usize| {
            let value = |row: usize| match draw(10 + seed, row) % 10 {
                0 => f64::NAN,
                1 => -9.0,
                _ => unit(seed, row) + 0.1 * f64::from(u8::from(positive[row])),
            };
            (0..N).map(value).collect()
        };
        let codes = (0..N).map(|row| match draw(30, row) % 5 {
            4 => MISSING_CODE,
            code => code as u32 + 1,
        });
        ((1..=6).map(column).collect(), codes.collect(), positive)
    }

    fn fit(columns: &Columns<'_>, labels: &Labels<'_>, n_threads: usize) -> Mad2c {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        let special = |column: &Column<'_>| column.n_levels().map_or(vec![-9.0], |_| Vec::new());
        let special = columns.iter().map(special).collect();
        let params = Mad2cParams { special, directions: Vec::new() };
        pool.install(|| fit_mad2c((columns, labels), &params, &Interrupt::default()).unwrap())
    }

    #[test]
    fn threads_and_the_layout_of_the_matrix_change_nothing() {
        let (values, _, positive) = sample();
        let labels = Labels::new(&positive, None).unwrap();
        for n_features in [1, 2, 6] {
            let by_column = values[..n_features].concat();
            let by_row: Vec<f64> = (0..N * n_features)
                .map(|place| values[place % n_features][place / n_features])
                .collect();
            let by_column = Columns::from_column_major(&by_column, N).unwrap();
            let by_row = Columns::from_row_major(&by_row, n_features).unwrap();
            let expected = fit(&by_column, &labels, 1);
            assert!(expected.check().is_ok());
            for n_threads in [1, 2, 3] {
                assert!(fit(&by_row, &labels, n_threads) == expected);
                assert!(fit(&by_column, &labels, n_threads) == expected);
            }
        }
    }

    #[test]
    fn every_row_is_counted_in_its_bin() {
        let (values, codes, positive) = sample();
        let weights: Vec<f64> = (0..N).map(|row| (row % 3) as f64).collect();
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        let mut columns: Vec<Column<'_>> =
            values.iter().map(|values| values.as_slice().into()).collect();
        // Category 0 has no rows.
        columns.push(Column::Codes { codes: &codes, n_levels: 5 });
        let columns = Columns::new(columns, N).unwrap();
        let table = fit(&columns, &labels, 2);
        table.check().unwrap();
        let bins = table.bins(&columns).unwrap();
        for (place, feature) in table.features().iter().enumerate() {
            let mut sums = vec![ClassSums::default(); feature.sums.len()];
            for (row, bins) in bins.chunks(columns.n_features()).enumerate() {
                sums[bins[place] as usize] += labels.sums(row);
            }
            assert_eq!(sums, feature.sums);
        }
    }

    #[test]
    fn parameters_that_fit_no_feature_are_named() {
        let (codes, values) = ([0, 1, 0], [1.0, 2.0, 3.0]);
        let columns = vec![values.as_slice().into(), Column::Codes { codes: &codes, n_levels: 2 }];
        let columns = Columns::new(columns, 3).unwrap();
        let labels = Labels::new(&[true, false, true], None).unwrap();
        let refused = |special: &[&[f64]], directions: &[Option<Direction>], words: &str| {
            let special = special.iter().map(|numbers| numbers.to_vec()).collect();
            let params = Mad2cParams { special, directions: directions.to_vec() };
            let found = fit_mad2c((&columns, &labels), &params, &Interrupt::default());
            let found = found.expect_err(words).to_string();
            assert!(found.contains(words), "{found}");
        };
        refused(&[&[1.0]], &[], "special is a list of length 1");
        refused(&[&[1.0, f64::NAN], &[]], &[], "special is [1.0, NaN]");
        refused(&[&[f64::INFINITY], &[]], &[], "special is [inf]");
        refused(&[&[0.0, 1.0, -0.0], &[]], &[], "no two equal");
        refused(&[&[], &[1.0]], &[], "empty for a category");
        let up = Some(Direction::Increasing);
        refused(&[], &[up], "directions is a list of length 1");
        refused(&[], &[None, up], "directions is Increasing");
        let params = Mad2cParams { special: vec![vec![3.0], vec![]], directions: vec![up, None] };
        fit_mad2c((&columns, &labels), &params, &Interrupt::default()).unwrap();
    }

    #[test]
    fn infinity_is_named_by_its_column_and_row() {
        let (mut values, _, positive) = sample();
        values[2][7] = f64::NEG_INFINITY;
        values[1][N - 1] = f64::INFINITY;
        let columns = values.iter().map(|values| values.as_slice().into()).collect();
        let columns = Columns::new(columns, N).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let params = Mad2cParams::default();
        let found = fit_mad2c((&columns, &labels), &params, &Interrupt::default()).unwrap_err();
        let value = f64::INFINITY;
        assert_eq!(found, RankError::InfiniteValue { column: 1, row: N - 1, value });
    }
}
