//! A weighted sum of numbers: the score of a logistic regression that was fitted elsewhere.

use serde::{Deserialize, Serialize};

use super::model::ImportedLink;
use crate::RankError;
use crate::data::{Columns, logistic};
use crate::formula::{Formula, WeightedSum};

/// A linear model of another library, or a published equation: weights of numbers, and a constant.
///
/// # Examples
///
/// A published logistic regression, `0.5 x0 - x1 - 2` in log-odds:
///
/// ```
/// use aucrank::RankError;
/// use aucrank::data::Columns;
/// use aucrank::imported::{ImportedLinear, ImportedLink};
///
/// let model = ImportedLinear::new(vec![0.5, -1.0], -2.0, ImportedLink::LogOdds(1.0)).unwrap();
/// let columns = Columns::from_row_major(&[6.0, 1.0], 2)?;
/// assert_eq!(model.score(&columns)?, [0.0]);
/// assert_eq!(model.probability(&columns)?, [0.5]);
/// # Ok::<(), RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImportedLinear(ImportedLinearFields);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ImportedLinearFields {
    n_levels: Vec<Option<u32>>,
    coefficients: Vec<f64>,
    intercept: f64,
    link: ImportedLink,
}

impl ImportedLinear {
    /// A weighted sum, given the weight of each feature.
    ///
    /// # Errors
    ///
    /// A description of a number that is not finite, or of a link that is not one of linear models.
    pub fn new(coefficients: Vec<f64>, intercept: f64, link: ImportedLink) -> Result<Self, String> {
        let n_levels = vec![None; coefficients.len()];
        let model = Self(ImportedLinearFields { n_levels, coefficients, intercept, link });
        model.check()?;
        Ok(model)
    }

    /// For each feature its number of categories: always `None`.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    /// Weight of each feature.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.0.coefficients
    }

    /// Score of a row of zeros.
    #[must_use]
    pub fn intercept(&self) -> f64 {
        self.0.intercept
    }

    /// What the score says of probabilities.
    #[must_use]
    pub fn link(&self) -> ImportedLink {
        self.0.link
    }

    fn weighted_sum(&self) -> WeightedSum<'_> {
        WeightedSum { coefficients: &self.0.coefficients, threshold: -self.0.intercept }
    }

    /// Score of each row: the weighted numbers, added in their order, and then the intercept.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the model in number or kind, or a value is
    /// missing or infinite.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        self.weighted_sum().score(columns)
    }

    /// Probability of the positive class of each row.
    ///
    /// # Errors
    ///
    /// As [`ImportedLinear::score`]; [`RankError::NoProbability`] if the model only ranks.
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let ImportedLink::LogOdds(slope) = self.0.link else {
            return Err(RankError::NoProbability);
        };
        let scores = self.score(columns)?;
        Ok(scores.into_iter().map(|score| logistic(slope * score)).collect())
    }

    /// The score as a formula.
    #[must_use]
    pub fn formula(&self) -> Formula {
        self.weighted_sum().formula()
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let ImportedLinearFields { n_levels, coefficients, intercept, link } = &self.0;
        if n_levels.iter().any(Option::is_some) {
            return Err("a linear score weighs a feature that is not a number".to_owned());
        }
        if coefficients.is_empty() || coefficients.len() != n_levels.len() {
            return Err(format!("{} weights for {} features", coefficients.len(), n_levels.len()));
        }
        if let Some(number) = coefficients.iter().chain([intercept]).find(|n| !n.is_finite()) {
            return Err(format!("a weight or the intercept is {number}"));
        }
        if *link == ImportedLink::AboveHalf {
            return Err("a weighted sum is not a probability less one half".to_owned());
        }
        link.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG_ODDS: ImportedLink = ImportedLink::LogOdds(1.0);

    #[test]
    fn probabilities_follow_the_link() {
        let columns = Columns::from_row_major(&[1.0, 9.0, 4.0, 0.5, -9.0, 0.0], 3).unwrap();
        let model = ImportedLinear::new(vec![2.0, 0.0, -0.5], -0.25, LOG_ODDS).unwrap();
        assert_eq!(model.score(&columns).unwrap(), [-0.25, 0.75]);
        for (score, rate) in [-0.25_f64, 0.75].iter().zip(model.probability(&columns).unwrap()) {
            assert!((rate - 1.0 / (1.0 + (-score).exp())).abs() < 1e-15);
        }
        let ranks = ImportedLinear::new(vec![1.0; 3], 0.0, ImportedLink::None).unwrap();
        assert_eq!(ranks.probability(&columns), Err(RankError::NoProbability));
    }

    #[test]
    fn numbers_that_make_no_score_are_refused() {
        let refused = |weights: &[f64], intercept, link| {
            ImportedLinear::new(weights.to_vec(), intercept, link).unwrap_err()
        };
        assert_eq!(refused(&[], 0.0, LOG_ODDS), "0 weights for 0 features");
        assert_eq!(refused(&[1.0, f64::NAN], 0.0, LOG_ODDS), "a weight or the intercept is NaN");
        assert_eq!(refused(&[1.0], f64::INFINITY, LOG_ODDS), "a weight or the intercept is inf");
        let half = "a weighted sum is not a probability less one half";
        assert_eq!(refused(&[1.0], -0.5, ImportedLink::AboveHalf), half);
        let odds = ImportedLink::LogOdds(0.0);
        assert_eq!(refused(&[1.0], 0.0, odds), "log-odds of 0 times the score");
    }
}
