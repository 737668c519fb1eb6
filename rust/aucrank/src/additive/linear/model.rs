//! The fitted linear model: its scores, and their parts.

use serde::{Deserialize, Serialize};

use super::design::{MOST_DEVIATIONS, UNIT, standardised};
use super::joint_term::JointTerm;
use crate::RankError;
use crate::data::{Columns, FeatureTerm, logistic};
use crate::formula::{Formula, Linear, LinearTerm, Scale};

/// Largest sum of the parts of a row that a loaded model may have.
const LARGEST: f64 = 1e300;

/// A number of a linear model.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{LinearParams, fit_linear};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 3.0, 1.0, 3.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let model = fit_linear(&columns, &labels, &LinearParams::default(), &Interrupt::default())?;
/// let term = &model.numbers()[0];
/// assert_eq!((term.feature, term.mean, term.deviation), (0, 2.0, 1.0));
/// assert!(term.weight > 0.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberTerm {
    /// The feature.
    pub feature: usize,
    /// Its weight per standard deviation.
    pub weight: f64,
    /// Mean of its known training values.
    pub mean: f64,
    /// Their standard deviation. A value is clipped at six of them from the mean.
    pub deviation: f64,
}

impl NumberTerm {
    /// Contribution to the score; 0 if the value is missing.
    #[inline]
    fn value(&self, raw: f64) -> f64 {
        self.weight * standardised(raw, self.mean, self.deviation)
    }
}

/// A weighted sum of standardised numbers, thresholds and categories.
///
/// Weights and standardised numbers are multiples of powers of two, so that the sums of their
/// products are exact: the order of the features does not matter, and parts add up to the score.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{LinearParams, fit_linear};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[0.0, 3.0, 1.0, 0.0, 2.0, 3.0, 3.0, 0.0], 2)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let model = fit_linear(&columns, &labels, &LinearParams::default(), &Interrupt::default())?;
/// let (scores, parts) = (model.score(&columns)?, model.explain(&columns)?);
/// for (score, of_features) in scores.iter().zip(parts.chunks(2)) {
///     assert_eq!(of_features[0] + of_features[1] + model.base_score(), *score);
/// }
/// assert!(model.probability(&columns)?[3] > 0.5);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LinearModel(LinearFields);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LinearFields {
    pub(super) n_levels: Vec<Option<u32>>,
    pub(super) numbers: Vec<NumberTerm>,
    pub(super) steps: Vec<FeatureTerm>,
    /// Terms of two features.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) joint: Vec<JointTerm>,
    pub(super) intercept: f64,
    /// Mean contribution of each feature, and of each term of two, to the scores of the training
    /// rows.
    pub(super) means: Vec<f64>,
    pub(super) importances: Vec<f64>,
    pub(super) n_iterations: usize,
    pub(super) has_converged: bool,
}

impl LinearModel {
    /// Rounds the weights so that sums are exact, except the means, which follow from them.
    pub(super) fn new(mut parts: LinearFields) -> Self {
        let unit = parts.unit();
        let snap = |value: &mut f64, unit: f64| *value = (*value / unit).round() * unit;
        for number in &mut parts.numbers {
            // A standardised number is a multiple of its own unit.
            snap(&mut number.weight, unit / UNIT);
        }
        for term in &mut parts.steps {
            term.change(|value| (value / unit).round() * unit);
        }
        for term in &mut parts.joint {
            term.change(|value| (value / unit).round() * unit);
        }
        snap(&mut parts.intercept, unit);
        Self(parts)
    }

    /// Sets the means of the parts of features, rounded so that sums are exact.
    pub(super) fn set_means(&mut self, means: &[f64]) {
        let unit = self.0.unit();
        self.0.means = means.iter().map(|mean| (mean / unit).round() * unit).collect();
    }

    pub(super) fn set_importances(&mut self, importances: Vec<f64>) {
        self.0.importances = importances;
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    /// The numbers that have a weight.
    #[must_use]
    pub fn numbers(&self) -> &[NumberTerm] {
        &self.0.numbers
    }

    /// The thresholds, categories and missing values of features, as step functions.
    #[must_use]
    pub fn steps(&self) -> &[FeatureTerm] {
        &self.0.steps
    }

    /// The terms of two features, the strongest first.
    #[must_use]
    pub fn joint_terms(&self) -> &[JointTerm] {
        &self.0.joint
    }

    /// Score of a row without contributions of features.
    #[must_use]
    pub fn intercept(&self) -> f64 {
        self.0.intercept
    }

    /// Mean score of the training rows.
    #[must_use]
    pub fn base_score(&self) -> f64 {
        self.0.intercept + self.0.means.iter().sum::<f64>()
    }

    /// For each feature the loss of AUC on training rows if it contributes its mean to all of them.
    #[must_use]
    pub fn importances(&self) -> &[f64] {
        &self.0.importances
    }

    /// Iterations of the fit.
    #[must_use]
    pub fn n_iterations(&self) -> usize {
        self.0.n_iterations
    }

    /// Whether the fit ended before the maximum number of iterations.
    #[must_use]
    pub fn has_converged(&self) -> bool {
        self.0.has_converged
    }

    /// Log-odds of the positive class for each row.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let LinearFields { numbers, steps, joint, intercept, .. } = &self.0;
        let joint: Vec<_> = joint.iter().map(|term| (term.features(), term.reader())).collect();
        self.for_rows(columns, 1, |row, score| {
            let of_numbers = numbers.iter().map(|term| term.value(row[term.feature]));
            let of_steps = steps.iter().map(|term| term.value(row[term.feature]));
            let of_joint = joint.iter().map(|(features, value)| value(features.map(|at| row[at])));
            // In the order of the formula.
            let of_numbers = of_numbers.fold(0.0, |a, b| a + b) + intercept;
            score[0] = of_steps.chain(of_joint).fold(of_numbers, |a, b| a + b);
        })
    }

    /// Probability of the positive class for each row: above one half exactly if the score is above
    /// 0.
    ///
    /// # Errors
    ///
    /// As [`LinearModel::score`].
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let mut scores = self.score(columns)?;
        for score in &mut scores {
            *score = logistic(*score);
        }
        Ok(scores)
    }

    /// Contribution of each feature to the score of each row, row by row, and then of each of the
    /// [`LinearModel::joint_terms`], less its mean. They add up to the score less
    /// [`LinearModel::base_score`] exactly.
    ///
    /// # Errors
    ///
    /// As [`LinearModel::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let LinearFields { n_levels, numbers, steps, joint, means, .. } = &self.0;
        let joint: Vec<_> = joint.iter().map(|term| (term.features(), term.reader())).collect();
        self.for_rows(columns, means.len(), |row, parts| {
            parts.iter_mut().zip(means).for_each(|(part, mean)| *part = -mean);
            for term in numbers {
                parts[term.feature] += term.value(row[term.feature]);
            }
            for term in steps {
                parts[term.feature] += term.value(row[term.feature]);
            }
            for (part, (features, value)) in parts[n_levels.len()..].iter_mut().zip(&joint) {
                *part += value(features.map(|at| row[at]));
            }
        })
    }

    /// Computes `width` numbers for each row.
    fn for_rows(
        &self,
        columns: &Columns<'_>,
        width: usize,
        work: impl Fn(&[f64], &mut [f64]) + Sync,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.0.n_levels)?;
        let n_features = columns.n_features();
        let mut out = vec![0.0; columns.n_rows() * width];
        columns.by_tile(&mut out, width, |(): &mut (), _, values, out| {
            for (row, out) in values.chunks_exact(n_features).zip(out.chunks_exact_mut(width)) {
                work(row, out);
            }
        })?;
        Ok(out)
    }

    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let LinearFields { numbers, steps, joint, intercept, .. } = &self.0;
        let term = |term: &NumberTerm| LinearTerm {
            feature: term.feature,
            weight: term.weight,
            scale: Some(Scale {
                mean: term.mean,
                deviation: term.deviation,
                limit: MOST_DEVIATIONS,
                unit: Some(UNIT),
            }),
        };
        let linear = Linear { terms: numbers.iter().map(term).collect(), intercept: *intercept };
        let steps = steps.iter().map(|term| Formula::Steps(term.into()));
        let joint = joint.iter().map(JointTerm::formula);
        Formula::Sum(std::iter::once(Formula::Linear(linear)).chain(steps).chain(joint).collect())
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let LinearFields {
            n_levels, numbers, steps, joint, means, importances, n_iterations, ..
        } = &self.0;
        if n_levels.is_empty() {
            return Err("there is no feature".to_owned());
        }
        let n_terms = n_levels.len() + joint.len();
        for (what, part, expected) in
            [("means", means, n_terms), ("importances", importances, n_levels.len())]
        {
            let found = part.len();
            if found != expected {
                return Err(format!("{found} {what} for {expected} features"));
            }
        }
        if !numbers.is_sorted_by(|a, b| a.feature < b.feature)
            || !steps.is_sorted_by(|a, b| a.feature < b.feature)
        {
            return Err("the features of the terms do not ascend".to_owned());
        }
        for number in numbers {
            if n_levels.get(number.feature) != Some(&None) {
                return Err(format!("feature {} is not a number", number.feature));
            }
            let deviation_fits = number.deviation > 0.0 && number.deviation.is_finite();
            if !(deviation_fits && number.mean.is_finite()) {
                return Err(format!("feature {} cannot be standardised", number.feature));
            }
        }
        steps.iter().try_for_each(|term| term.check(n_levels))?;
        joint.iter().try_for_each(|term| term.check(n_levels))?;
        let bound = self.0.bound();
        if bound.is_nan() || bound > LARGEST {
            return Err("the weights are not finite, or too large".to_owned());
        }
        if !importances.iter().all(|importance| importance.abs() <= 1.0) {
            return Err("an importance is not a difference of AUCs".to_owned());
        }
        if *n_iterations > u32::MAX as usize {
            return Err(format!("there were not {n_iterations} iterations"));
        }
        Ok(())
    }
}

impl LinearFields {
    /// Bound on sums of parts of a row, and of their distances from the means.
    fn bound(&self) -> f64 {
        let of_numbers = self.numbers.iter().map(|term| MOST_DEVIATIONS * term.weight.abs());
        let of_steps = self.steps.iter().map(|term| {
            term.steps.values().iter().fold(term.missing.abs(), |most, value| most.max(value.abs()))
        });
        let of_means = self.means.iter().map(|mean| mean.abs());
        let of_joint = self.joint.iter().map(JointTerm::largest);
        let of_parts = of_numbers.chain(of_steps).chain(of_joint).sum::<f64>();
        // A mean is no larger than its part.
        self.intercept.abs() + of_parts + of_means.sum::<f64>().max(of_parts)
    }

    /// The unit of all weights, a power of two such that no sum has more than 53 bits.
    fn unit(&self) -> f64 {
        // Rounding to the unit may add to the bound, by less than the factor of two.
        let bound = (2.0 * self.bound()).max(f64::MIN_POSITIVE.sqrt());
        // The power of two above it, from the bits.
        let power = (bound.to_bits() >> 52) as i32 - 1022;
        2_f64.powi(power - 53)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::FeatureSteps;

    fn parts() -> LinearFields {
        LinearFields {
            n_levels: vec![None, Some(2), None],
            numbers: vec![
                NumberTerm { feature: 0, weight: 0.3, mean: 1.0, deviation: 2.0 },
                NumberTerm { feature: 2, weight: -1.0 / 3.0, mean: -1e300, deviation: 1e300 },
            ],
            steps: vec![FeatureTerm {
                feature: 1,
                steps: FeatureSteps::Categorical { values: vec![0.1, -0.7] },
                missing: 0.2,
            }],
            joint: Vec::new(),
            intercept: 0.123,
            means: vec![0.0; 3],
            importances: vec![0.0; 3],
            n_iterations: 4,
            has_converged: true,
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "sums are exact")]
    fn parts_add_up_in_any_order() {
        let mut model = LinearModel::new(parts());
        model.set_means(&[0.01, 0.02, -0.3]);
        model.check().unwrap();
        let values = [0.77, 3.0, 1e301, f64::NAN, -4.0, -1e308];
        let codes = [0, 1, 1, 0, u32::MAX, 7];
        let others = [0.0, 1e300, -3e299, 5.0, f64::NAN, 1.0];
        let columns = vec![
            values.as_slice().into(),
            crate::data::Column::Codes { codes: &codes, n_levels: 2 },
            others.as_slice().into(),
        ];
        let columns = Columns::new(columns, 6).unwrap();
        let scores = model.score(&columns).unwrap();
        assert_eq!(model.formula().values(&columns).unwrap(), scores);
        for (parts, score) in model.explain(&columns).unwrap().chunks(3).zip(scores) {
            assert_eq!(parts.iter().rev().sum::<f64>() + model.base_score(), score);
            assert_eq!(parts.iter().sum::<f64>() + model.base_score(), score);
        }
    }

    #[test]
    fn invalid_models_are_refused() {
        let changed = |change: &dyn Fn(&mut LinearFields)| {
            let mut parts = parts();
            change(&mut parts);
            LinearModel(parts).check().unwrap_err()
        };
        let found = [
            changed(&|parts| parts.numbers[0].feature = 1),
            changed(&|parts| parts.numbers[0].feature = 2),
            changed(&|parts| parts.numbers[1].feature = 3),
            changed(&|parts| parts.numbers[0].deviation = 0.0),
            changed(&|parts| parts.numbers[0].mean = f64::NAN),
            changed(&|parts| parts.numbers[0].weight = f64::MAX),
            changed(&|parts| parts.intercept = f64::NAN),
            changed(&|parts| parts.steps[0].feature = 0),
            changed(&|parts| parts.means.truncate(1)),
            changed(&|parts| parts.importances[0] = 2.0),
        ];
        assert_eq!(found[0], "feature 1 is not a number");
        assert_eq!(found[1], "the features of the terms do not ascend");
        assert_eq!(found[5], "the weights are not finite, or too large");
    }
}
