//! MAD2C: every feature in the bins that reach its largest AUC.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bins::{BinnedFeature, Bins, Direction, place_among};
use super::hull::{BestCuts, best_cuts};
use crate::data::{ClassSums, Column, Columns, Labels, MISSING_CODE, Strided, Value};
use crate::{Interrupt, RankError};

/// How features are cut into bins.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mad2cParams {
    /// For each feature the numbers that each get a bin of their own; empty for none at all.
    pub special: Vec<Vec<f64>>,
    /// For each feature the direction in which it may rank; empty for the better one of each.
    pub directions: Vec<Option<Direction>>,
}

/// Features in bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mad2c {
    /// For each feature its number of categories, or `None` if it is numeric.
    n_levels: Vec<Option<u32>>,
    /// The training rows.
    total: ClassSums,
    /// Power of two that one unit of their weight stands for.
    exponent: i32,
    features: Vec<BinnedFeature>,
}

impl Mad2c {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// The training rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.total
    }

    /// Power of two that one unit of class weight stands for.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// The features.
    #[must_use]
    pub fn features(&self) -> &[BinnedFeature] {
        &self.features
    }

    /// The bin of each value, row by row; missing ones have the number after the last.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn bins(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let n_features = self.features.len();
        let mut bins = vec![0.0; columns.n_rows() * n_features];
        columns.by_tile(&mut bins, n_features, |(): &mut (), _, values, out| {
            for (place, (out, &value)) in out.iter_mut().zip(values).enumerate() {
                *out = self.features[place % n_features].bins.bin(value) as f64;
            }
        })?;
        Ok(bins)
    }

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Finds the bins of all features.
///
/// # Errors
///
/// [`RankError`] for an infinite value, a category code out of range, lengths that differ, or when
/// interrupted.
pub fn fit_mad2c(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &Mad2cParams,
    interrupt: &Interrupt,
) -> Result<Mad2c, RankError> {
    if columns.n_rows() != labels.n_rows() {
        let (found, expected) = (columns.n_rows(), labels.n_rows());
        return Err(RankError::LengthMismatch { name: "X", found, expected });
    }
    columns.infinite_value().map_or(Ok(()), Err)?;
    let bin = |feature: usize| -> Result<BinnedFeature, RankError> {
        interrupt.check()?;
        let special = params.special.get(feature).map_or(&[][..], Vec::as_slice);
        let direction = params.directions.get(feature).copied().flatten();
        match columns[feature] {
            Column::F64(values) => Ok(numeric(values, labels, special, direction)),
            Column::F32(values) => Ok(numeric(values, labels, special, direction)),
            Column::Codes { codes, n_levels } => categorical(feature, codes, n_levels, labels),
        }
    };
    let features: Vec<BinnedFeature> =
        (0..columns.n_features()).into_par_iter().map(bin).collect::<Result<_, _>>()?;
    let n_levels = columns.iter().map(Column::n_levels).collect();
    Ok(Mad2c { n_levels, total: labels.total(), exponent: labels.exponent(), features })
}

fn numeric<T: Value>(
    column: Strided<'_, T>,
    labels: &Labels<'_>,
    special: &[f64],
    direction: Option<Direction>,
) -> BinnedFeature {
    let BestCuts { direction, cuts, mut sums } = best_cuts(column, labels, special, direction);
    let n_intervals = sums.len();
    sums.resize(n_intervals + special.len() + 1, ClassSums::default());
    for &row in &labels.rows() {
        let value = column.get(row as usize);
        let apart = place_among(special, value);
        if let Some(place) = apart.or(value.is_nan().then_some(special.len())) {
            sums[n_intervals + place] += labels.sums(row as usize);
        }
    }
    let bins = Bins::Numeric { cuts, special: special.to_vec() };
    BinnedFeature { bins, sums, direction: Some(direction) }
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
    Ok(BinnedFeature { bins, sums, direction: None })
}
