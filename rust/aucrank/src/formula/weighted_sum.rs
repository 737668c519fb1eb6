//! A weighted sum of numbers as a score: of `RankOpt`, and of linear models of other libraries.

use super::{Formula, Linear, LinearTerm};
use crate::RankError;
use crate::data::Columns;

/// Factor by which sums that overflow are scaled down temporarily.
const SMALLER: f64 = 1.0 / (1_u128 << 100) as f64;

/// A weighted sum of features, less a threshold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedSum<'a> {
    /// Weight of each feature.
    pub coefficients: &'a [f64],
    /// Subtracted last.
    pub threshold: f64,
}

impl WeightedSum<'_> {
    /// Score of a row without missing values.
    pub fn score_of(self, row: &[f64]) -> f64 {
        let Self { coefficients, threshold } = self;
        let terms = || coefficients.iter().zip(row).filter(|(weight, _)| **weight != 0.0);
        // In the order of the features: equal rows tie exactly, and SQL sums in the same order.
        let sum = terms().fold(0.0, |sum, (weight, value)| sum + weight * value);
        let score = sum - threshold;
        if score.is_finite() {
            return score;
        }
        // Some terms overflow, possibly with both signs. The sum itself may be finite; at least its
        // sign is right.
        let small = terms().map(|(weight, value)| {
            (weight * SMALLER * value).clamp(f64::MIN, f64::MAX) / row.len() as f64
        });
        let score = small.sum::<f64>() - threshold * SMALLER / row.len() as f64;
        (score / SMALLER * row.len() as f64).clamp(f64::MIN, f64::MAX)
    }

    /// Score of each row.
    ///
    /// # Errors
    ///
    /// As [`for_rows`].
    pub fn score(self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        for_rows(columns, self.coefficients.len(), 1, |row, score| score[0] = self.score_of(row))
    }

    /// The score as a formula.
    pub fn formula(self) -> Formula {
        let weighted = self.coefficients.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let terms = weighted.map(|(feature, &weight)| LinearTerm { feature, weight, scale: None });
        Formula::Linear(Linear { terms: terms.collect(), intercept: -self.threshold })
    }
}

/// Computes `width` numbers for each row of `n_features` numbers.
///
/// # Errors
///
/// [`RankError`] if the columns are not that many numeric ones, or a value is missing or infinite.
pub(crate) fn for_rows(
    columns: &Columns<'_>,
    n_features: usize,
    width: usize,
    work: impl Fn(&[f64], &mut [f64]) + Sync,
) -> Result<Vec<f64>, RankError> {
    columns.check_kinds(&vec![None; n_features])?;
    let mut out = vec![0.0; columns.n_rows() * width];
    columns.by_tile(&mut out, width, |(): &mut (), _, values, out| {
        for (row, out) in values.chunks_exact(n_features).zip(out.chunks_exact_mut(width)) {
            if row.iter().any(|value| value.is_nan()) {
                out.fill(f64::NAN);
            } else {
                work(row, out);
            }
        }
    })?;
    if out.iter().any(|number| number.is_nan())
        && let Some(err) = columns.missing_value()
    {
        return Err(err);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_numbers_keep_their_sign() {
        let sum = WeightedSum { coefficients: &[1e10, -1e10, 1.0], threshold: 0.0 };
        let columns =
            Columns::from_row_major(&[1e308, 1e308, 5.0, 1e308, 1e307, 0.0, -1e308, 0.0, 0.0], 3)
                .unwrap();
        let scores = sum.score(&columns).unwrap();
        assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}");
        assert!(scores[1] > 1e300 && scores[2] < -1e300 && scores[0].abs() < 1e300, "{scores:?}");
    }

    #[test]
    fn a_missing_value_is_named() {
        let sum = WeightedSum { coefficients: &[2.0, 0.0], threshold: 0.0 };
        let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, f64::NAN], 2).unwrap();
        let expected = Err(RankError::MissingValue { column: 1, row: 1 });
        assert_eq!(sum.score(&columns), expected);
        let halves = for_rows(&columns, 2, 2, |row, out| out.copy_from_slice(row));
        assert_eq!(halves, expected);
    }

    #[test]
    fn the_formula_has_the_same_scores() {
        let sum = WeightedSum { coefficients: &[0.1, 0.0, -0.7, 1e-3], threshold: 0.3 };
        let rows = [[0.3, 5.0, 0.7, 1e5], [-0.0, 1.0, 5e-324, 3.3], [1e16, 0.0, 1e16, -1.0]];
        let values = rows.concat();
        let columns = Columns::from_row_major(&values, 4).unwrap();
        let expected: Vec<f64> = rows.iter().map(|row| sum.formula().value(row).unwrap()).collect();
        assert_eq!(sum.score(&columns).unwrap(), expected);
    }
}
