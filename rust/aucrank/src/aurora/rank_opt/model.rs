//! The fitted model of `RankOpt`, and its scores.

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::Columns;
use crate::formula::{Formula, WeightedSum, for_rows};

/// The ascent at one radius.
///
/// For an example see [`fit_rank_opt`](crate::aurora::fit_rank_opt).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RadiusStep {
    /// Norm of the weights of the standardised features.
    pub radius: f64,
    /// The objective reached: the mean over all pairs of training rows.
    pub objective: f64,
    /// AUC of the training rows.
    pub auc: f64,
    /// Iterations of the ascent.
    pub n_iterations: usize,
    /// Whether the ascent ended before the maximum number of iterations.
    pub has_converged: bool,
}

/// A linear score.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{RankOptParams, fit_rank_opt};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let model = fit_rank_opt(&columns, &labels, &RankOptParams::default(), &Interrupt::default())?;
/// assert_eq!(model.means(), [2.5]);
/// let scores = model.score(&columns)?;
/// assert!(scores[1] < 0.0 && scores[2] > 0.0);
/// assert_eq!(model.score_of(&[3.0]), scores[2]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RankOpt(RankOptFields);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RankOptFields {
    n_levels: Vec<Option<u32>>,
    coefficients: Vec<f64>,
    means: Vec<f64>,
    importances: Vec<f64>,
    threshold: f64,
    path: Vec<RadiusStep>,
    chosen: usize,
}

impl RankOpt {
    pub(super) fn new(
        coefficients: Vec<f64>,
        means: Vec<f64>,
        importances: Vec<f64>,
        path: Vec<RadiusStep>,
        chosen: usize,
    ) -> Self {
        let n_levels = vec![None; coefficients.len()];
        Self(RankOptFields {
            n_levels,
            coefficients,
            means,
            importances,
            threshold: 0.0,
            path,
            chosen,
        })
    }

    /// Sets the weighted sum from which a row is predicted as positive.
    pub(crate) fn set_threshold(&mut self, threshold: f64) {
        self.0.threshold = threshold;
    }

    /// For each feature its number of categories: always `None`.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    /// Weight of each raw feature; 0 for a constant one.
    #[must_use]
    pub fn coefficients(&self) -> &[f64] {
        &self.0.coefficients
    }

    /// Mean of each feature in the training rows.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.0.means
    }

    /// For each feature the loss of AUC on the training rows if it is replaced by its mean.
    #[must_use]
    pub fn importances(&self) -> &[f64] {
        &self.0.importances
    }

    /// The weighted sum from which a row is predicted as positive.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.0.threshold
    }

    /// The radii that were tried.
    #[must_use]
    pub fn path(&self) -> &[RadiusStep] {
        &self.0.path
    }

    /// The radius that was chosen.
    #[must_use]
    pub fn chosen(&self) -> &RadiusStep {
        &self.0.path[self.0.chosen]
    }

    /// Score of a row whose features are the training means.
    #[must_use]
    pub fn base_score(&self) -> f64 {
        self.score_of(&self.0.means)
    }

    /// Score of a row without missing values.
    #[must_use]
    pub fn score_of(&self, row: &[f64]) -> f64 {
        self.weighted_sum().score_of(row)
    }

    fn weighted_sum(&self) -> WeightedSum<'_> {
        WeightedSum { coefficients: &self.0.coefficients, threshold: self.0.threshold }
    }

    /// Its score: a weighted sum less the threshold.
    #[must_use]
    pub fn formula(&self) -> Formula {
        self.weighted_sum().formula()
    }

    /// Score of each row, above 0 if it is predicted as positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or a value is
    /// missing or infinite.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        self.weighted_sum().score(columns)
    }

    /// Contributions to the score of each row, row by row, one for each feature: its weight times
    /// its deviation from the training mean. They add up to the score less [`RankOpt::base_score`],
    /// up to rounding; overflows are clipped to the largest number.
    ///
    /// # Errors
    ///
    /// As [`RankOpt::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let RankOptFields { coefficients, means, .. } = &self.0;
        let n_features = coefficients.len();
        for_rows(columns, n_features, n_features, |row, parts| {
            let features = coefficients.iter().zip(means).zip(row);
            for (part, ((weight, mean), value)) in parts.iter_mut().zip(features) {
                let from_mean = weight * (value - mean);
                // The difference of the halves is finite.
                let half = || weight * (value / 2.0 - mean / 2.0);
                *part = if from_mean.is_finite() {
                    from_mean
                } else {
                    (half() * 2.0).clamp(f64::MIN, f64::MAX)
                };
            }
        })
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let RankOptFields { n_levels, coefficients, means, importances, threshold, path, chosen } =
            &self.0;
        if n_levels.iter().any(Option::is_some) {
            return Err("a linear score weighs a feature that is not a number".to_owned());
        }
        for (what, part) in
            [("weights", coefficients), ("means", means), ("importances", importances)]
        {
            let (found, expected) = (part.len(), n_levels.len());
            if found != expected {
                return Err(format!("{found} {what} for {expected} features"));
            }
            if !part.iter().all(|number| number.is_finite()) {
                return Err(format!("one of the {what} is not finite"));
            }
        }
        if !importances.iter().all(|importance| importance.abs() <= 1.0) {
            return Err("an importance is not a difference of AUCs".to_owned());
        }
        if !threshold.is_finite() {
            return Err("the threshold is not finite".to_owned());
        }
        let is_share = |number: f64| (0.0..=1.0).contains(&number);
        let radius_fits = |step: &RadiusStep| step.radius > 0.0 && step.radius.is_finite();
        if !path.iter().all(radius_fits) || !path.is_sorted_by(|a, b| a.radius < b.radius) {
            return Err("the radii are not positive and ascending".to_owned());
        }
        if !path.iter().all(|step| is_share(step.auc) && step.objective.is_finite()) {
            return Err("the AUC or the objective of a radius is out of its range".to_owned());
        }
        if *chosen >= path.len() {
            return Err(format!("radius {chosen} was chosen of {}", path.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(coefficients: &[f64], threshold: f64) -> RankOpt {
        let step = RadiusStep {
            radius: 1.0,
            objective: 0.7,
            auc: 0.8,
            n_iterations: 3,
            has_converged: true,
        };
        let means = vec![1.0; coefficients.len()];
        let importances = vec![0.1; coefficients.len()];
        let mut model = RankOpt::new(coefficients.to_vec(), means, importances, vec![step], 0);
        model.set_threshold(threshold);
        model
    }

    #[test]
    fn scores_are_weighted_sums_and_parts_add_up_to_them() {
        let model = model(&[2.0, 0.0, -0.5], 0.25);
        let columns = Columns::from_row_major(&[1.0, 9.0, 4.0, 0.5, -9.0, 0.0], 3).unwrap();
        assert_eq!(model.score(&columns).unwrap(), [-0.25, 0.75]);
        assert_eq!(model.base_score(), 1.25);
        assert_eq!(model.explain(&columns).unwrap(), [0.0, 0.0, -1.5, -1.0, 0.0, 0.5]);
    }

    #[test]
    fn parts_are_finite_for_all_finite_numbers() {
        let extremes = [f64::MAX, f64::MIN, 1e308, -1e300, 1.0, 0.0, 1e-290];
        for weight in [f64::MAX, -1e200, 1e10, 1.0, -0.5, 1e-300] {
            for mean in extremes {
                let mut model = model(&[weight], 0.0);
                model.0.means = vec![mean];
                let columns = Columns::from_row_major(&extremes, 1).unwrap();
                for (part, value) in model.explain(&columns).unwrap().into_iter().zip(extremes) {
                    assert!(part.is_finite(), "{weight} * ({value} - {mean}) is {part}");
                    let (quarter, less) = (weight / 4.0, value / 4.0 - mean / 4.0);
                    let expected = quarter * less;
                    if expected.is_finite() && expected.abs() < f64::MAX / 16.0 {
                        let error = (part / 16.0 - expected).abs();
                        assert!(error <= 1e-14 * expected.abs() + 1e-300, "{part} {expected}");
                    } else {
                        assert_eq!(part.abs(), f64::MAX, "{weight} * ({value} - {mean})");
                        assert_eq!(part.signum(), expected.signum());
                    }
                }
            }
        }
    }
}
