//! Ridge logistic regression on raw features: a weighted sum of standardised numbers, their
//! thresholds, and categories.
//!
//! - `design`: the columns, never formed; `solver`: their weights; `model`: the fitted score;
//! - `rate_columns`: categories by their rates;
//! - `interactions`: which terms of two features are beyond chance; `joint_columns`: their columns;
//!   `joint_term`: their functions.

mod design;
mod interactions;
mod joint_columns;
mod joint_term;
mod model;
mod rate_columns;
mod solver;

use serde::{Deserialize, Serialize};

use crate::data::{Columns, Labels, times_power_of_two};
use crate::roc::{auc, weighted_auc};
use crate::{Interrupt, RankError, parallel};

use design::{Design, DistinctRows};
use interactions::{InteractionSearch, n_searched};
use joint_columns::JointColumns;
pub use joint_term::{Arithmetic, ArithmeticTerm, JointTerm};
use model::LinearFields;
pub use model::{LinearModel, NumberTerm};
use rate_columns::LinearRates;
use solver::{Problem, Solution};

/// Maximum number of thresholds of a number.
const MOST_THRESHOLDS: usize = 1000;

/// Maximum number of terms of two features, if it is not given; and the greatest.
const USUAL_INTERACTIONS: usize = 30;
const MOST_INTERACTIONS: usize = 1000;

/// Distinct rows from which importances are computed: a random sample.
const JUDGED_ROWS: usize = 20_000;

/// Number of thresholds of a number in addition to its linear part.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{LinearParams, Thresholds, fit_linear};
/// use aucrank::data::{Columns, Labels, FeatureSteps};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 60.0).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let fit = |thresholds| {
///     let params = LinearParams { thresholds, ..LinearParams::default() };
///     fit_linear(&columns, &labels, &params, &Interrupt::default())
/// };
/// assert!(fit(Thresholds::None)?.steps().is_empty());
/// let model = fit(Thresholds::AtMost(1))?;
/// let FeatureSteps::Numeric { thresholds, .. } = &model.steps()[0].steps else { unreachable!() };
/// assert_eq!(thresholds.len(), 1);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thresholds {
    /// None.
    None,
    /// By the number of rows.
    #[default]
    Auto,
    /// At most this number, at quantiles; from 1 to 1000.
    AtMost(usize),
}

impl Thresholds {
    /// Maximum number of thresholds of a number, for `n_rows` rows.
    fn most(self, n_rows: u64) -> usize {
        match self {
            Self::None => 0,
            Self::Auto => (n_rows / 60).clamp(4, 24) as usize,
            Self::AtMost(most) => most,
        }
    }
}

/// Parameters of a linear model.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{LinearParams, Thresholds, fit_linear};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let weight_at = |c| {
///     let params = LinearParams { c, thresholds: Thresholds::None, ..LinearParams::default() };
///     fit_linear(&columns, &labels, &params, &Interrupt::default())
///         .map(|model| model.numbers()[0].weight)
/// };
/// // The less the rows count relative to the penalty, the smaller the weight.
/// let (small, large) = (weight_at(0.01)?, weight_at(1.0)?);
/// assert!(0.0 < small && small < large);
///
/// let err = LinearParams { c: 0.0, ..LinearParams::default() }.validate().unwrap_err();
/// assert_eq!(err.to_string(), "C is 0, but must be finite and positive");
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinearParams {
    /// Weight of the losses of the rows relative to half the sum of squared weights; positive.
    pub c: f64,
    /// Thresholds of numbers.
    pub thresholds: Thresholds,
    /// Maximum number of terms of two features; at most 1000, 0 for none.
    pub interactions: usize,
    /// Maximum number of iterations; at least 1.
    pub max_iterations: usize,
    /// An iteration that decreases the objective, divided by the total weight of the rows, by less
    /// is the last; not negative.
    pub tolerance: f64,
}

impl Default for LinearParams {
    fn default() -> Self {
        Self {
            c: 0.1,
            thresholds: Thresholds::default(),
            interactions: USUAL_INTERACTIONS,
            max_iterations: 100,
            tolerance: 1e-10,
        }
    }
}

impl LinearParams {
    /// Checks each parameter.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] naming the one that is out of its range.
    pub fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if !(self.c > 0.0 && self.c.is_finite()) {
            return bad("C", self.c.to_string(), "finite and positive");
        }
        if let Thresholds::AtMost(most) = self.thresholds
            && !(1..=MOST_THRESHOLDS).contains(&most)
        {
            return bad("thresholds", most.to_string(), "from 1 to 1000");
        }
        if self.interactions > MOST_INTERACTIONS {
            return bad("interactions", self.interactions.to_string(), "at most 1000");
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

/// Fits a linear model: the log-odds of the positive class that minimise the logistic loss of the
/// rows, with half the sum of squared weights as a penalty.
///
/// Numbers are standardised and clipped at six standard deviations, and may have thresholds at
/// quantiles; categories have a weight each, except those of fewer than 0.2 % of the rows, which
/// count as missing; if these hold more than 5 % of the rows, the rate of each category counts in
/// addition to its weight, learned from its rate in other folds of the rows; a missing value has
/// its own weight if the training rows have any. If the residuals of this score depend on two
/// features together more than shuffled ones do, cells of these features, or steps of their ratio or
/// difference, are further terms ([`JointTerm`]), and all weights are fitted again. The model does
/// not depend on the order of the rows or the number of threads, and weight k equals k copies of a
/// row.
///
/// # Errors
///
/// [`RankError`] if a parameter is out of its range, a value is infinite, a code is out of range,
/// or when interrupted.
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
/// assert!(model.numbers()[0].weight > 0.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_linear(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &LinearParams,
    interrupt: &Interrupt,
) -> Result<LinearModel, RankError> {
    params.validate()?;
    let columns = &columns.until(interrupt);
    let (found, expected) = (columns.n_rows(), labels.n_rows());
    if found != expected {
        return Err(RankError::LengthMismatch { name: "X", found, expected });
    }
    if let Some(err) = columns.infinite_value() {
        return Err(err);
    }
    let rows = DistinctRows::of(columns, labels, interrupt)?;
    let n_thresholds = params.thresholds.most(labels.total().rows);
    let rates = LinearRates::new(columns, labels, interrupt)?;
    let with_rates = rates.behind(columns)?;
    let shares = rows.shares();
    let n_with_lines = with_rates.n_features();
    // The columns of an earlier solution come first.
    let solve = |columns: &Columns<'_>, earlier: Option<&Solution>| {
        let design = Design::new(columns, labels, &rows, n_thresholds, n_with_lines, interrupt)?;
        let problem = Problem {
            design: &design,
            positive: &rows.positive,
            shares: &shares,
            ridge: ridge(params.c, labels),
            max_iterations: params.max_iterations,
            tolerance: params.tolerance,
            interrupt,
        };
        let from = earlier.map(|earlier| (&earlier.columns[..], earlier.intercept));
        let solution = problem.solve(from)?;
        let cells = design.to_cells(&solution.columns);
        Ok::<_, RankError>((design, solution, cells))
    };
    let mut solved = solve(&with_rates, None)?;
    let search = |(design, solution, cells): &(Design, Solution, Vec<f64>)| {
        let search = InteractionSearch {
            columns,
            labels,
            rows: &rows,
            parts: &rates.feature_parts(design, cells, n_searched(&rows)),
            intercept: solution.intercept,
            interrupt,
        };
        search.found(params.interactions)
    };
    let found = if params.interactions > 0 { search(&solved)? } else { Vec::new() };
    let joint = JointColumns::new(columns, found, n_with_lines);
    if joint.len() > 0 {
        solved = solve(&joint.behind(&with_rates)?, Some(&solved.1))?;
    }
    let (design, solution, cells) = solved;

    let number = |(number, &weight): (&design::Number, &f64)| NumberTerm {
        feature: number.feature,
        weight,
        mean: number.moments.mean,
        deviation: number.moments.deviation,
    };
    let mut numbers = design.numbers.iter().zip(&cells).map(number).collect();
    let mut steps = design.tables.iter().map(|table| table.term(&cells[table.cells()])).collect();
    let (places, joint_terms): (Vec<usize>, Vec<JointTerm>) =
        joint.take_out(&mut steps).into_iter().unzip();
    rates.take_out(&mut numbers, &mut steps);
    let mut model = LinearModel::new(LinearFields {
        n_levels: columns.iter().map(crate::data::Column::n_levels).collect(),
        numbers,
        steps,
        intercept: solution.intercept,
        means: vec![0.0; columns.n_features() + joint_terms.len()],
        joint: joint_terms,
        importances: vec![0.0; columns.n_features()],
        n_iterations: solution.n_iterations,
        has_converged: solution.has_converged,
    });
    let mut means = design.mean_parts(&cells, &shares, n_with_lines + joint.len());
    rates.set_means(columns, &rows, model.steps(), &mut means);
    let of_joint: Vec<f64> = places.iter().map(|&column| means[column]).collect();
    means.truncate(columns.n_features());
    means.extend(of_joint);
    model.set_means(&means);
    let parts_of = |n_rows| {
        let mut parts = rates.feature_parts(&design, &cells, n_rows);
        joint.share(&mut parts);
        parts
    };
    let importances = importances(columns.n_features(), parts_of, &rows, interrupt)?;
    model.set_importances(importances);
    Ok(model)
}

/// The ridge relative to the mean loss.
fn ridge(c: f64, labels: &Labels<'_>) -> f64 {
    let total = labels.total();
    let units = (total.pos + total.neg) as f64;
    // Weights may be so small or large that their total is out of range.
    times_power_of_two((c * units).recip(), -labels.exponent()).clamp(1e-30, 1e30)
}

/// For each feature the loss of AUC on a sample of the training rows if it contributes equally to
/// all, given the contributions of features to the scores of the first rows.
fn importances(
    n_features: usize,
    parts_of: impl Fn(usize) -> Vec<(usize, Vec<f64>)>,
    rows: &DistinctRows,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, RankError> {
    let mut n_rows = rows.len().min(JUDGED_ROWS);
    let positive = &rows.positive[..n_rows];
    if positive.iter().all(|&p| p) || positive.iter().all(|&p| !p) {
        n_rows = rows.len();
    }
    let positive = &rows.positive[..n_rows];
    let is_counted = rows.units[..n_rows].iter().all(|&units| units == 1);
    let weights: Vec<f64> = rows.units[..n_rows].iter().map(|&units| units as f64).collect();
    let auc_of = |scores: &[f64]| {
        if is_counted { auc(scores, positive) } else { weighted_auc(scores, positive, &weights) }
    };
    let parts = parts_of(n_rows);
    let mut scores = vec![0.0; n_rows];
    for (_, part) in &parts {
        scores.iter_mut().zip(part).for_each(|(score, part)| *score += part);
    }
    let full = auc_of(&scores)?;
    let of_feature = |(feature, part): &(usize, Vec<f64>)| {
        interrupt.check()?;
        let without: Vec<f64> = scores.iter().zip(part).map(|(score, part)| score - part).collect();
        Ok((*feature, full - auc_of(&without)?))
    };
    let mut importances = vec![0.0; n_features];
    for (feature, importance) in parallel::try_map(parts.iter().collect(), of_feature)? {
        importances[feature] = importance;
    }
    Ok(importances)
}
