//! `RankOpt`: a linear score that maximises a smooth AUC.
//!
//! Herschtal and Raskutti, "Optimising area under the ROC curve using gradient descent",
//! International Conference on Machine Learning, 2004 (<https://doi.org/10.1145/1015330.1015366>).
//! The step function of the AUC, by which a pair counts 1 if its positive row scores higher,
//! becomes a sigmoid or a ramp of the score difference. The weights of the standardised features
//! are on a sphere, whose radius determines its steepness; the radius is increased step by step,
//! each ascent starting where the previous one ended (DECISIONS O1-O3, O5-O7).

mod climb;
mod model;
mod pairs;
mod rows;

use crate::parallel::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::{Column, Columns, Labels};
use crate::roc::{Ramp, auc, largest_gap, weighted_auc};
use crate::{FitPart, Interrupt, RankError};

use climb::{Ascent, Climb, FLAT, Objective, SpherePoint, norm};
pub use model::{RadiusStep, RankOpt};
use pairs::Sigmoid;
use rows::RankOptRows;

/// Largest radius: a pair of rows one standard deviation apart counts up to 1 - 1e-43.
const LARGEST_RADIUS: f64 = 100.0;

/// A difference of class means below this is rounding.
const NO_DIFFERENCE: f64 = 1e-12;

/// The value of a pair whose scores differ by `x`.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{PairObjective, RankOptParams, fit_rank_opt};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::roc::Ramp;
///
/// // One pair, two standard deviations apart; the only weight is the radius.
/// let columns = Columns::from_row_major(&[1.0, 3.0], 1)?;
/// let labels = Labels::new(&[false, true], None)?;
/// let reached = |objective| {
///     let params = RankOptParams { objective, radii: vec![1.0], ..RankOptParams::default() };
///     fit_rank_opt(&columns, &labels, &params, &Interrupt::default())
///         .map(|model| model.chosen().objective)
/// };
/// let sigmoid = 1.0 / (1.0 + (-2_f64).exp());
/// assert!((reached(PairObjective::Sigmoid)? - sigmoid).abs() < 1e-6);
/// assert!((reached(PairObjective::Ramp)? - Ramp::default().at(2.0)).abs() < 1e-6);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairObjective {
    /// 1 / (1 + exp(-x)).
    #[default]
    Sigmoid,
    /// [`Ramp::default`] at x.
    Ramp,
}

/// Parameters of [`RankOpt`].
///
/// For an example see [`fit_rank_opt`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankOptParams {
    /// The value of a pair.
    pub objective: PairObjective,
    /// Norms of the weights of the standardised features, ascending; at least one, each above 0 and
    /// at most 100.
    pub radii: Vec<f64>,
    /// Maximum number of iterations of each ascent; at least 1.
    pub max_iterations: usize,
    /// An ascent ends with an iteration that improves the objective by less; non-negative.
    pub tolerance: f64,
}

impl Default for RankOptParams {
    fn default() -> Self {
        Self {
            objective: PairObjective::default(),
            radii: vec![1.0, 2.0, 4.0, 8.0],
            max_iterations: 200,
            tolerance: 1e-8,
        }
    }
}

impl RankOptParams {
    /// Checks each parameter.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] naming the one that is out of its range.
    pub fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        let in_range = |radius: &f64| *radius > 0.0 && *radius <= LARGEST_RADIUS;
        let ascending = self.radii.is_sorted_by(|a, b| a < b);
        if self.radii.is_empty() || !ascending || !self.radii.iter().all(in_range) {
            let rule = "numbers above 0 and at most 100, ascending, and at least one";
            return bad("radii", format!("{:?}", self.radii), rule);
        }
        if self.max_iterations == 0 {
            return bad("max_iterations", "0".to_owned(), "at least 1");
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return bad("tolerance", self.tolerance.to_string(), "finite and not negative");
        }
        Ok(())
    }
}

/// Fits a linear score.
///
/// The model does not depend on the order of the rows or the number of threads, and weight k equals
/// k copies of a row.
///
/// # Errors
///
/// [`RankError`] if a parameter is out of its range, a feature is categorical, a value is missing
/// or infinite, or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{RankOptParams, fit_rank_opt};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[0.0, 3.0, 1.0, 0.0, 2.0, 3.0, 3.0, 0.0], 2)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let model = fit_rank_opt(&columns, &labels, &RankOptParams::default(), &Interrupt::default())?;
/// assert!(model.coefficients()[0] > 0.0);
/// assert_eq!(model.chosen().auc, 1.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_rank_opt(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &RankOptParams,
    interrupt: &Interrupt,
) -> Result<RankOpt, RankError> {
    params.validate()?;
    let columns = &columns.until(interrupt);
    let categorical = |column: &Column<'_>| matches!(column, Column::Codes { .. });
    if let Some(column) = columns.iter().position(categorical) {
        return Err(RankError::CategoricalWeight { column });
    }
    if let Some(err) = columns.infinite_value().or_else(|| columns.missing_value()) {
        return Err(err);
    }
    let copied = RankOptRows::copied(columns, labels, interrupt)?;
    let moments = copied.moments(interrupt)?;
    // Dividing by a smaller deviation would overflow.
    let varies = |&feature: &usize| (LARGEST_RADIUS / moments[feature].deviation).is_finite();
    let features: Vec<usize> = (0..columns.n_features()).filter(varies).collect();
    let rows = copied.standardised(&features, &moments);
    let found = match params.objective {
        PairObjective::Sigmoid => raise_radius(&rows, &Sigmoid::new(), params, interrupt)?,
        PairObjective::Ramp => raise_radius(&rows, &Ramp::default(), params, interrupt)?,
    };
    let importances = importances(&rows, &found, interrupt)?;

    let n_features = columns.n_features();
    let radius = found.path[found.chosen].radius;
    let (mut coefficients, mut of_all) = (vec![0.0; n_features], vec![0.0; n_features]);
    for (place, &feature) in features.iter().enumerate() {
        coefficients[feature] = radius * found.at.weights[place] / moments[feature].deviation;
        of_all[feature] = importances[place];
    }
    let means = moments.iter().map(|moments| moments.mean).collect();
    let mut model = RankOpt::new(coefficients, means, of_all, found.path, found.chosen);
    // From the model's own scores.
    let threshold = largest_gap(&model.score(columns)?, labels)?;
    model.set_threshold(threshold);
    Ok(model)
}

impl Objective for Sigmoid {
    fn gradient(
        &self,
        rows: &RankOptRows,
        scores: &[f64],
        slopes: &mut [f64],
        interrupt: &Interrupt,
    ) -> Result<f64, RankError> {
        self.gradient(rows, scores, slopes, interrupt)
    }
}

impl Objective for Ramp {
    fn gradient(
        &self,
        rows: &RankOptRows,
        scores: &[f64],
        slopes: &mut [f64],
        interrupt: &Interrupt,
    ) -> Result<f64, RankError> {
        interrupt.check()?;
        let found = Ramp::gradient(self, scores, rows.positive(), Some(rows.units()))?;
        slopes.copy_from_slice(&found.by_score);
        Ok(found.value)
    }
}

/// The result of the search.
struct SearchResult {
    path: Vec<RadiusStep>,
    /// Index of the chosen radius in the path.
    chosen: usize,
    at: SpherePoint,
}

/// Ascends at each radius from the end of the previous ascent, and chooses by the AUC of the
/// training rows; of ties the largest radius.
fn raise_radius<O: Objective>(
    rows: &RankOptRows,
    objective: &O,
    params: &RankOptParams,
    interrupt: &Interrupt,
) -> Result<SearchResult, RankError> {
    let mut weights = start(rows, interrupt)?;
    let mut path: Vec<RadiusStep> = Vec::with_capacity(params.radii.len());
    let mut best: Option<(usize, SpherePoint)> = None;
    for &radius in &params.radii {
        let (tolerance, most_iterations) = (params.tolerance, params.max_iterations);
        let climb = Climb { rows, objective, radius, tolerance, most_iterations, interrupt };
        let mut at = SpherePoint::new(weights, radius, rows, interrupt)?;
        let (value, slope) = climb.look(&at)?;
        // If every pair counts 0 or 1, the full gradient vanishes. The tangent component alone also
        // vanishes at a maximum, and a larger radius may have another.
        if slope < FLAT && !path.is_empty() {
            break;
        }
        // The values of both objectives at a point and its antipode add up to 1.
        if value < 0.5 {
            at.turn();
        }
        let Ascent { mut value, n_iterations, has_converged, .. } = climb.ascend(&mut at)?;
        let mut auc = training_auc(rows, &at.scores)?;
        // A maximum of a smooth objective may still rank most pairs in reverse order.
        if auc < 0.5 {
            at.turn();
            (value, auc) = (1.0 - value, 1.0 - auc);
        }
        if best.as_ref().is_none_or(|(chosen, _)| auc >= path[*chosen].auc) {
            best = Some((path.len(), at.clone()));
        }
        path.push(RadiusStep { radius, objective: value, auc, n_iterations, has_converged });
        let goes_on = interrupt.part_done(&FitPart {
            unit: "radius",
            number: path.len(),
            most: Some(params.radii.len()),
            figures: &[("radius", Some(radius)), ("train_auc", Some(auc))],
        })?;
        if !goes_on {
            break;
        }
        weights = at.weights;
    }
    let (chosen, at) = best.expect("a radius");
    Ok(SearchResult { path, chosen, at })
}

/// The difference of the class means, of norm 1; the first axis if there is none (DECISIONS O3).
fn start(rows: &RankOptRows, interrupt: &Interrupt) -> Result<Vec<f64>, RankError> {
    let signed = rows.shares().iter().zip(rows.positive());
    let signed: Vec<f64> = signed.map(|(&s, &positive)| if positive { s } else { -s }).collect();
    let mut weights = rows.gradient(&signed, interrupt)?;
    let length = norm(&weights);
    if length > NO_DIFFERENCE {
        for weight in &mut weights {
            *weight /= length;
        }
    } else {
        for (place, weight) in weights.iter_mut().enumerate() {
            *weight = f64::from(u8::from(place == 0));
        }
    }
    Ok(weights)
}

fn training_auc(rows: &RankOptRows, scores: &[f64]) -> Result<f64, RankError> {
    #[expect(clippy::float_cmp, reason = "a count of rows is exact")]
    let all_one = rows.units().iter().all(|&units| units == 1.0);
    if all_one {
        auc(scores, rows.positive())
    } else {
        weighted_auc(scores, rows.positive(), rows.units())
    }
}

/// Loss of AUC on the training rows if a feature is replaced by its mean.
fn importances(
    rows: &RankOptRows,
    found: &SearchResult,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, RankError> {
    let RadiusStep { radius, auc, .. } = found.path[found.chosen];
    let weights = found.at.weights.par_iter().enumerate();
    weights
        .map(|(feature, weight)| {
            interrupt.check()?;
            let scores = rows.without(feature, radius * weight, &found.at.scores);
            Ok(auc - training_auc(rows, &scores)?)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    /// Uniform on (0, 1).
    fn uniform(seed: u64) -> f64 {
        ((mix(seed) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(seed: u64) -> f64 {
        let (radius, angle) = (uniform(2 * seed), uniform(2 * seed + 1));
        (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).cos()
    }

    /// Two Gaussian classes of equal covariance, and a constant.
    fn gaussian_pair(n: usize) -> (Vec<f64>, Vec<bool>) {
        let positive: Vec<bool> = (0..n).map(|i| i % 3 == 0).collect();
        let row = |(i, &positive): (usize, &bool)| {
            let [a, b] = [0, 1].map(|j| normal((4 * i + j) as u64));
            let shift = if positive { 1.0 } else { 0.0 };
            [100.0 + 20.0 * (a + shift), 0.8 * a + 0.6 * b, 7.25]
        };
        (positive.iter().enumerate().flat_map(row).collect(), positive)
    }

    fn fitted(values: &[f64], positive: &[bool], weights: Option<&[f64]>) -> RankOpt {
        fitted_by(values, positive, weights, &RankOptParams::default())
    }

    fn fitted_by(
        values: &[f64],
        positive: &[bool],
        weights: Option<&[f64]>,
        params: &RankOptParams,
    ) -> RankOpt {
        let columns = Columns::from_row_major(values, 3).unwrap();
        let labels = Labels::new(positive, weights).unwrap();
        fit_rank_opt(&columns, &labels, params, &Interrupt::default()).unwrap()
    }

    #[test]
    fn the_direction_is_that_of_the_linear_discriminant() {
        let (values, positive) = gaussian_pair(30_000);
        for objective in [PairObjective::Sigmoid, PairObjective::Ramp] {
            let params = RankOptParams { objective, ..RankOptParams::default() };
            let model = fitted_by(&values, &positive, None, &params);
            // Covariance of (a, 0.8 a + 0.6 b) is [1, 0.8; 0.8, 1]: its inverse takes (1, 0) to a
            // multiple of (1, -0.8).
            let [a, b, constant] = model.coefficients() else { unreachable!() };
            assert!((b / (20.0 * a) + 0.8).abs() < 0.04, "{objective:?}: {}", b / (20.0 * a));
            assert_eq!(*constant, 0.0);
            // Phi of the distance 1 / 0.6 over the square root of 2.
            assert!((model.chosen().auc - 0.8807).abs() < 0.006, "{}", model.chosen().auc);
            let importances = model.importances();
            assert!(importances[0] > importances[1] && importances[1] > 0.05);
            assert_eq!(importances[2], 0.0);
            assert_eq!(model.check(), Ok(()));
        }
    }

    #[test]
    fn order_copies_and_threads_do_not_matter() {
        let (values, positive) = gaussian_pair(20_000);
        let n = positive.len();
        let weights: Vec<f64> = (0..n as u64).map(|i| (mix(i) % 3) as f64).collect();
        let expected = fitted(&values, &positive, Some(&weights));
        let (mut repeated, mut labels) = (Vec::new(), Vec::new());
        for row in (0..n).rev() {
            for _ in 0..weights[row] as usize {
                repeated.extend_from_slice(&values[3 * row..3 * row + 3]);
                labels.push(positive[row]);
            }
        }
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| fitted(&repeated, &labels, None)), expected);
        }
    }

    #[test]
    fn the_radius_of_the_highest_auc_is_kept_and_the_largest_of_ties() {
        let (values, positive) = gaussian_pair(500);
        let path = fitted(&values, &positive, None);
        let highest = path.path().iter().map(|step| step.auc).fold(0.0, f64::max);
        assert_eq!(path.path().len(), 4);
        assert_eq!(path.chosen().auc, highest);
        let later = path.path().iter().filter(|step| step.radius > path.chosen().radius);
        assert!(later.map(|step| step.auc).all(|auc| auc < highest));
        // A sphere of two points offers no direction.
        let one: Vec<f64> = values.chunks_exact(3).flat_map(|row| [-row[0], 1.0, 2.0]).collect();
        let model = fitted(&one, &positive, None);
        assert!(model.coefficients()[0] < 0.0);
        assert!(model.path().iter().all(|step| step.n_iterations == 1));
        assert_eq!((model.path().len(), model.chosen().radius), (4, 8.0));
        // Well separated classes: all pairs count 1, and a larger radius changes nothing.
        let far: Vec<f64> =
            positive.iter().flat_map(|&p| [f64::from(u8::from(p)), 1.0, 2.0]).collect();
        let radii = vec![1.0, 50.0, 100.0];
        let params = RankOptParams { radii, ..RankOptParams::default() };
        assert_eq!(fitted_by(&far, &positive, None, &params).path().len(), 1);
    }

    #[test]
    fn a_saddle_is_left_at_the_first_axis() {
        // Equal means: the positives are on both sides.
        let rows = [[-3.0, 1.0, 0.0], [3.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [1.0, -2.0, 0.0]];
        let model = fitted(rows.as_flattened(), &[true, true, false, false], None);
        assert!(model.chosen().auc >= 0.5);
        assert!(model.coefficients().iter().all(|weight| weight.is_finite()));
    }

    #[test]
    fn features_that_cannot_have_a_weight_are_named() {
        let values: &[f64] = &[1.0, 2.0, f64::NAN, 0.0];
        let codes = Column::Codes { codes: &[0, 1, 0, 1], n_levels: 2 };
        let labels = Labels::new(&[false, true, true, false], None).unwrap();
        let fit = |columns: Vec<Column<'_>>, params: &RankOptParams| {
            let columns = Columns::new(columns, 4).unwrap();
            fit_rank_opt(&columns, &labels, params, &Interrupt::default()).unwrap_err()
        };
        let params = RankOptParams::default();
        let known: &[f64] = &[1.0, 2.0, 5.0, 0.0];
        let err = fit(vec![known.into(), codes], &params);
        assert_eq!(err, RankError::CategoricalWeight { column: 1 });
        let err = fit(vec![known.into(), values.into()], &params);
        assert_eq!(err, RankError::MissingValue { column: 1, row: 2 });
        let bad = [
            ("radii", RankOptParams { radii: Vec::new(), ..params.clone() }),
            ("radii", RankOptParams { radii: vec![2.0, 1.0], ..params.clone() }),
            ("radii", RankOptParams { radii: vec![0.0], ..params.clone() }),
            ("radii", RankOptParams { radii: vec![f64::NAN], ..params.clone() }),
            ("radii", RankOptParams { radii: vec![101.0], ..params.clone() }),
            ("max_iterations", RankOptParams { max_iterations: 0, ..params.clone() }),
            ("tolerance", RankOptParams { tolerance: f64::NAN, ..params.clone() }),
        ];
        for (parameter, params) in bad {
            let err = fit(vec![known.into()], &params);
            assert!(
                matches!(err, RankError::BadParameter { name, .. } if name == parameter),
                "{err}"
            );
        }
    }
}
