//! A linear weak ranker: Fisher's discriminant of the weighted rows.
//!
//! Its moments are integer sums, so that neither the order of the rows nor the number of threads
//! changes a bit: features are standardised once per fit, in fixed point, and masses are integers.

use serde::{Deserialize, Serialize};

use super::{WeakRanker, WeakRanking, WeakSample, WeakTask, ranking_by_score};
use crate::boost::scored::RowScorer;
use crate::data::{Column, Columns, ValueMoments};
use crate::{Interrupt, RankError, parallel};

/// Standard deviations from the mean at which a value is clipped. Few distributions reach that far,
/// and a product of two standardised values then takes 61 bits, which times a total mass of 2^52 is
/// less than 2^127.
pub(in crate::boost) const MOST_DEVIATIONS: f64 = 1024.0;

/// Fixed-point units per standard deviation.
const UNITS: f64 = (1 << 20) as f64;

/// Added to the variance of each standardised feature, so that duplicated features share their
/// weight and a class of one row has a covariance that can be inverted.
const RIDGE: f64 = 1e-6;

/// Rows scored at a time.
const TILE_ROWS: usize = 512;

/// A weighted sum of standardised features, a missing value counting as the mean.
///
/// # Examples
///
/// ```
/// use aucrank::boost::LinearRanker;
///
/// let ranker = LinearRanker {
///     coefficients: vec![1.0, -0.5],
///     means: vec![10.0, 0.0],
///     deviations: vec![2.0, 1.0],
/// };
/// // One standard deviation up, and half of one down; what is missing adds nothing.
/// assert_eq!(ranker.score(&[12.0, 1.0]), 0.5);
/// assert_eq!(ranker.score(&[12.0, f64::NAN]), 1.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearRanker {
    /// For each feature its weight per standard deviation; the largest is 1 or -1, and constant
    /// features have 0.
    pub coefficients: Vec<f64>,
    /// For each feature the mean of its known training values.
    pub means: Vec<f64>,
    /// For each feature the standard deviation of these. Values more than 1024 deviations from the
    /// mean are clipped there.
    pub deviations: Vec<f64>,
}

impl LinearRanker {
    /// The score of a row; NaN is a missing value.
    #[must_use]
    pub fn score(&self, row: &[f64]) -> f64 {
        let features = self.coefficients.iter().zip(&self.means).zip(&self.deviations);
        let terms = features.zip(row).filter(|(((coefficient, _), _), _)| **coefficient != 0.0);
        // In the order of the features, starting from positive zero: equal rows tie exactly.
        terms.fold(0.0, |sum, (((coefficient, &mean), &deviation), &value)| {
            sum + coefficient * standardised(value, mean, deviation)
        })
    }

    /// The scores of all rows, which must not hold infinity.
    pub(in crate::boost) fn scores(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let n_features = columns.n_features();
        let mut scores = vec![0.0; columns.n_rows()];
        if n_features == 0 {
            return Ok(scores);
        }
        let of_tile = |values: &mut Vec<f64>, (tile, scores): (usize, &mut [f64])| {
            values.resize(scores.len() * n_features, 0.0);
            let first = tile * TILE_ROWS;
            if columns.read_rows(first..first + scores.len(), values) {
                return true;
            }
            for (score, row) in scores.iter_mut().zip(values.chunks_exact(n_features)) {
                *score = self.score(row);
            }
            false
        };
        let tiles = scores.chunks_mut(TILE_ROWS).enumerate().collect();
        if parallel::map_with(tiles, 1, Vec::new, of_tile).contains(&true) {
            return Err(columns.refusal());
        }
        Ok(scores)
    }

    pub(in crate::boost) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let parts = [&self.coefficients, &self.means, &self.deviations];
        if parts.iter().any(|part| part.len() != n_levels.len()) {
            return Err("a linear ranker has another number of features".to_owned());
        }
        if parts.iter().any(|part| part.iter().any(|number| !number.is_finite())) {
            return Err("a linear ranker has a number that is not finite".to_owned());
        }
        let features = self.coefficients.iter().zip(&self.deviations).zip(n_levels);
        for ((&coefficient, &deviation), n_levels) in features {
            if coefficient != 0.0 && (n_levels.is_some() || deviation <= 0.0) {
                return Err(
                    "a linear ranker weighs a feature that is not a number or constant".into()
                );
            }
        }
        Ok(())
    }
}

/// A value in standard deviations from the mean; 0 if missing.
#[inline]
fn standardised(value: f64, mean: f64, deviation: f64) -> f64 {
    // The difference may overflow to infinity, which is then clipped.
    let deviations = (value - mean) / deviation;
    if deviations.is_nan() { 0.0 } else { deviations.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS) }
}

/// Fits linear rankers.
#[derive(Debug)]
pub(super) struct FisherRanker {
    moments: Vec<ValueMoments>,
    /// For each feature its standardised values in fixed point; empty for a constant one.
    standardised: Vec<Vec<i32>>,
}

impl FisherRanker {
    pub(super) fn new(sample: &WeakSample<'_>) -> Result<Self, RankError> {
        let WeakSample { columns, labels, interrupt, .. } = *sample;
        let categorical = |column: &Column<'_>| matches!(column, Column::Codes { .. });
        if let Some(column) = columns.iter().position(categorical) {
            return Err(RankError::CategoricalWeight { column });
        }
        let moments = ValueMoments::of(columns, labels, interrupt)?;
        let standardised = columns
            .iter()
            .zip(&moments)
            .map(|(column, moments)| {
                interrupt.check()?;
                Ok(in_fixed_point(column, *moments, columns.n_rows()))
            })
            .collect::<Result<_, RankError>>()?;
        Ok(Self { moments, standardised })
    }

    /// Weights of the features: Fisher's discriminant with equal class weights.
    fn direction(
        &self,
        classes: &[ClassRows; 2],
        features: &[usize],
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, RankError> {
        let size = features.len();
        let means = classes.each_ref().map(|class| -> Vec<f64> {
            parallel::map(features.to_vec(), |j| class.mean(&self.standardised[j]))
        });
        let row = |j: usize| {
            interrupt.check()?;
            let within = |k: usize| {
                let covariance = |class: usize| {
                    let columns = [j, k].map(|j| &self.standardised[features[j]][..]);
                    classes[class].mean_product(columns) - means[class][j] * means[class][k]
                };
                0.5 * (covariance(0) + covariance(1)) + if j == k { RIDGE } else { 0.0 }
            };
            Ok((0..=j).map(within).collect::<Vec<f64>>())
        };
        let within = parallel::try_map((0..size).collect(), row)?;
        let difference = (0..size).map(|j| means[1][j] - means[0][j]).collect();
        Ok(solve(within, difference))
    }
}

impl WeakRanker for FisherRanker {
    fn rank(
        &self,
        sample: &WeakSample<'_>,
        task: &WeakTask<'_>,
    ) -> Result<Option<WeakRanking>, RankError> {
        let n_features = self.standardised.len();
        let all: Vec<usize> = (0..n_features).collect();
        let varies = |&feature: &usize| !self.standardised[feature].is_empty();
        let features: Vec<usize> =
            task.features.unwrap_or(&all).iter().copied().filter(varies).collect();
        let positive = sample.labels.positive();
        let classes = [false, true].map(|class| ClassRows::of(task, |row| positive[row] == class));
        let direction = self.direction(&classes, &features, sample.interrupt)?;
        let largest = direction.iter().fold(0.0, |largest: f64, weight| largest.max(weight.abs()));
        if largest == 0.0 {
            return Ok(None);
        }
        let mut coefficients = vec![0.0; n_features];
        for (&feature, weight) in features.iter().zip(direction) {
            coefficients[feature] = weight / largest;
        }
        let means = self.moments.iter().map(|moments| moments.mean).collect();
        let deviations = self.moments.iter().map(|moments| moments.deviation).collect();
        let mut linear = LinearRanker { coefficients, means, deviations };
        let scores = linear.scores(sample.columns)?;
        ranking_by_score(sample, task, scores, |is_reversed| {
            if is_reversed {
                for weight in &mut linear.coefficients {
                    *weight = -*weight;
                }
            }
            RowScorer::Linear(linear)
        })
    }
}

fn in_fixed_point(column: &Column<'_>, moments: ValueMoments, n_rows: usize) -> Vec<i32> {
    let ValueMoments { mean, deviation } = moments;
    if deviation == 0.0 {
        return Vec::new();
    }
    let units = |value: f64| (standardised(value, mean, deviation) * UNITS).round() as i32;
    match column {
        Column::F64(values) => parallel::values(n_rows, |row| units(values.get(row))),
        Column::F32(values) => parallel::values(n_rows, |row| units(values.get(row))),
        Column::Codes { .. } => unreachable!("refused"),
    }
}

/// The rows of one class that have mass.
struct ClassRows {
    rows: Vec<(u32, u64)>,
    total: f64,
}

impl ClassRows {
    fn of(task: &WeakTask<'_>, is_of_class: impl Fn(usize) -> bool) -> Self {
        let with_mass = task.rows.iter().map(|&row| (row, task.masses[row as usize]));
        let rows: Vec<(u32, u64)> =
            with_mass.filter(|&(row, mass)| mass > 0 && is_of_class(row as usize)).collect();
        let total: u64 = rows.iter().map(|&(_, mass)| mass).sum();
        Self { rows, total: total as f64 }
    }

    fn mean(&self, values: &[i32]) -> f64 {
        let product =
            |&(row, mass): &(u32, u64)| i128::from(mass) * i128::from(values[row as usize]);
        self.rows.iter().map(product).sum::<i128>() as f64 / self.total / UNITS
    }

    fn mean_product(&self, [a, b]: [&[i32]; 2]) -> f64 {
        let product = |&(row, mass): &(u32, u64)| {
            let values = i64::from(a[row as usize]) * i64::from(b[row as usize]);
            // Masses are below 2^63: a single word multiplication.
            i128::from(mass as i64) * i128::from(values)
        };
        self.rows.iter().map(product).sum::<i128>() as f64 / self.total / (UNITS * UNITS)
    }
}

/// Solves `A x = b` for a symmetric positive definite `A`, given by the rows of its lower triangle,
/// by its Cholesky factor.
fn solve(mut lower: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let size = b.len();
    for j in 0..size {
        let (above, rest) = lower.split_at_mut(j);
        let row = &mut rest[0];
        for k in 0..j {
            let dot: f64 = (0..k).map(|i| row[i] * above[k][i]).sum();
            row[k] = (row[k] - dot) / above[k][k];
        }
        let dot: f64 = row[..j].iter().map(|entry| entry * entry).sum();
        // Rounding may cancel the variance left by the previous features; the ridge remains.
        row[j] = (row[j] - dot).max(0.5 * RIDGE).sqrt();
        let dot: f64 = (0..j).map(|k| row[k] * b[k]).sum();
        b[j] = (b[j] - dot) / row[j];
    }
    for j in (0..size).rev() {
        let dot: f64 = (j + 1..size).map(|k| lower[k][j] * b[k]).sum();
        b[j] = (b[j] - dot) / lower[j][j];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::weak::tests::{Draws, ranked};
    use crate::boost::weak::{Ranker, WeakRankerParams};
    use crate::data::{Columns, Labels};

    fn linear_of(ranking: &WeakRanking) -> &LinearRanker {
        match &ranking.ranker {
            Ranker::Scored { scorer: RowScorer::Linear(linear), .. } => linear,
            _ => panic!("a linear ranker"),
        }
    }

    #[test]
    fn the_solution_solves() {
        let a = [[4.0, 2.0, -1.0], [2.0, 5.0, 0.5], [-1.0, 0.5, 3.0]];
        let lower = (0..3).map(|j| a[j][..=j].to_vec()).collect();
        let x = solve(lower, vec![1.0, -2.0, 0.25]);
        for (row, b) in a.iter().zip([1.0, -2.0, 0.25]) {
            let found: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
            assert!((found - b).abs() < 1e-12);
        }
    }

    #[test]
    fn two_features_have_the_weights_of_the_formula() {
        let mut draws = Draws(3);
        let n = 400;
        let positive: Vec<bool> = (0..n).map(|_| draws.below(3) == 0).collect();
        let values: Vec<f64> = positive
            .iter()
            .flat_map(|&positive| {
                let (a, b) = (draws.number(100), draws.number(100));
                let shift = if positive { 20.0 } else { 0.0 };
                [a + shift, 1e-3 * (0.5 * a + b) + 7.0]
            })
            .collect();
        let masses: Vec<u64> = (0..n).map(|_| draws.below(1 << 40)).collect();
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let found = ranked(&WeakRankerParams::Linear, &columns, &labels, &masses, None).unwrap();
        let linear = linear_of(&found);

        let mut means = [[0.0; 2]; 2];
        let mut within = [[0.0; 2]; 2];
        for (class, means) in means.iter_mut().enumerate() {
            let rows = || (0..n).filter(|&row| usize::from(positive[row]) == class);
            let total: f64 = rows().map(|row| masses[row] as f64).sum();
            let mean = |of: &dyn Fn(usize) -> f64| {
                rows().map(|row| masses[row] as f64 * of(row)).sum::<f64>() / total
            };
            *means = [0, 1].map(|j| mean(&|row| values[2 * row + j]));
            let from_mean = |row: usize, j: usize| values[2 * row + j] - means[j];
            for (j, within) in within.iter_mut().enumerate() {
                for (k, within) in within.iter_mut().enumerate() {
                    *within += 0.5 * mean(&|row| from_mean(row, j) * from_mean(row, k));
                }
            }
        }
        let difference = [means[1][0] - means[0][0], means[1][1] - means[0][1]];
        // The inverse of a 2 by 2 matrix, up to a factor that the scale absorbs.
        let expected = [
            within[1][1] * difference[0] - within[0][1] * difference[1],
            within[0][0] * difference[1] - within[1][0] * difference[0],
        ];
        let weight = |j: usize| linear.coefficients[j] / linear.deviations[j];
        let ratio = (weight(0) / weight(1)) / (expected[0] / expected[1]);
        assert!((ratio - 1.0).abs() < 1e-4, "{ratio}");
        assert!(weight(0) * expected[0] > 0.0);
    }

    #[test]
    fn constant_duplicated_and_missing_features_do_no_harm() {
        let nan = f64::NAN;
        let rows = [
            [1.0, 5.0, 1.0, nan, 1e300],
            [2.0, 5.0, 2.0, nan, -1e300],
            [3.0, 5.0, 3.0, nan, 1e308],
            [nan, 5.0, nan, nan, nan],
            [4.0, 5.0, 4.0, nan, -1e308],
        ];
        let positive = [false, false, true, false, true];
        let values = rows.as_flattened();
        let columns = Columns::from_row_major(values, 5).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let found = ranked(&WeakRankerParams::Linear, &columns, &labels, &[3; 5], None).unwrap();
        let linear = linear_of(&found);
        assert_eq!((linear.coefficients[1], linear.coefficients[3]), (0.0, 0.0));
        assert!((linear.coefficients[0] - linear.coefficients[2]).abs() < 1e-6);
        assert_eq!(linear.check(&[None; 5]), Ok(()));
        assert!(linear.scores(&columns).unwrap().iter().all(|score| score.is_finite()));
        assert!(linear.check(&[Some(2), None, None, None, None]).is_err());

        let flat = Columns::from_row_major(&[2.0; 5], 1).unwrap();
        assert!(ranked(&WeakRankerParams::Linear, &flat, &labels, &[3; 5], None).is_none());
    }

    #[test]
    fn a_categorical_feature_is_an_error_that_names_its_column() {
        let values: &[f64] = &[1.0, 2.0];
        let codes = Column::Codes { codes: &[0, 1], n_levels: 2 };
        let columns = Columns::new(vec![values.into(), codes], 2).unwrap();
        let labels = Labels::new(&[false, true], None).unwrap();
        let weak = WeakRankerParams::Linear;
        let err =
            crate::boost::weak::tests::ranked_by(&weak, &columns, &labels, &[1; 2], None, None)
                .unwrap_err();
        assert_eq!(err, RankError::CategoricalWeight { column: 1 });
    }
}
