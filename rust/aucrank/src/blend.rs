//! Blends: one score from several, weighted by how they rank rows that they were not fitted to.
//!
//! Each score is converted to log-odds by a line of maximum likelihood (Platt). The weights are on
//! the simplex and maximise the ramp AUC of the weighted mean, less a penalty that draws them to
//! equal weights if rows are few; a second line calibrates the mean. The weights are found by
//! projected gradient ascent.

use serde::{Deserialize, Serialize};

use crate::data::Labels;
use crate::roc::{Line, Ramp, RampClimber, by_coefficient, curve_of};
use crate::{Interrupt, RankError};

/// Parameters of a blend.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::blend::{BlendParams, blend};
/// use aucrank::data::Labels;
///
/// let labels = Labels::new(&[false, false, false, true, true, true], None)?;
/// // Both rank better than chance, the first one best.
/// let (best, second) = ([0.1, 0.2, 0.4, 0.3, 0.5, 0.6], [0.1, 0.4, 0.5, 0.2, 0.3, 0.6]);
/// let weights_at = |shrinkage| {
///     let params = BlendParams { shrinkage, ..BlendParams::default() };
///     blend(&[&best, &second], &labels, &params, &Interrupt::default()).map(|found| found.weights)
/// };
/// assert!(weights_at(0.0)?[0] > 0.5);
/// assert_eq!(weights_at(1e6)?, [0.5, 0.5]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlendParams {
    /// Strength of the shrinkage to equal weights: this, times the squared distance from them,
    /// divided by the number of rows of the rarer class, is subtracted from the ramp AUC. Not
    /// negative.
    pub shrinkage: f64,
    /// Half-width of the ramp in units of log-odds; positive.
    pub half_width: f64,
}

impl Default for BlendParams {
    fn default() -> Self {
        Self { shrinkage: 1.0, half_width: 1.0 }
    }
}

impl BlendParams {
    fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: f64, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        if !(self.shrinkage >= 0.0 && self.shrinkage.is_finite()) {
            return bad("shrinkage", self.shrinkage, "finite and not negative");
        }
        if !(self.half_width > 0.0 && self.half_width.is_finite()) {
            return bad("half_width", self.half_width, "positive and finite");
        }
        Ok(())
    }
}

/// A weighted sum of scores: log-odds of the positive class.
///
/// # Examples
///
/// ```
/// use aucrank::blend::Blend;
///
/// let (weights, factors) = (vec![0.25, 0.75], vec![2.0, 4.0]);
/// let blend = Blend { weights, factors, intercept: -1.5 };
/// assert_eq!(blend.at([0.5, 0.25]), 0.5);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Blend {
    /// Weight of each score in the mean; multiples of 2^-10 that add up to 1.
    pub weights: Vec<f64>,
    /// Factor of each score: 0 if its weight is 0.
    pub factors: Vec<f64>,
    /// Constant.
    pub intercept: f64,
}

impl Blend {
    /// The blend of the scores of one row, from left to right.
    pub fn at(&self, scores: impl IntoIterator<Item = f64>) -> f64 {
        let terms = self.factors.iter().zip(scores).filter(|(factor, _)| **factor != 0.0);
        terms.map(|(factor, score)| factor * score).sum::<f64>() + self.intercept
    }
}

/// Blends scores of rows that none of them was fitted to; higher is more positive.
///
/// If no score ranks better than chance, all weights are equal and all factors 0.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, lengths that differ, no scores, a NaN score, or when
/// interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::blend::{BlendParams, blend};
/// use aucrank::data::Labels;
///
/// let positive = [false, false, false, true, true, true];
/// let labels = Labels::new(&positive, None).unwrap();
/// let (good, noise) = ([0.1, 0.2, 0.4, 0.3, 0.5, 0.6], [0.5, 0.1, 0.6, 0.2, 0.3, 0.4]);
/// let params = BlendParams { shrinkage: 0.0, ..BlendParams::default() };
/// let found = blend(&[&good, &noise], &labels, &params, &Default::default()).unwrap();
/// assert!(found.weights[0] > 0.9);
/// ```
pub fn blend(
    scores: &[&[f64]],
    labels: &Labels<'_>,
    params: &BlendParams,
    interrupt: &Interrupt,
) -> Result<Blend, RankError> {
    params.validate()?;
    if scores.is_empty() {
        let (name, value) = ("the number of scores", "0".to_owned());
        return Err(RankError::BadParameter { name, value, rule: "at least 1" });
    }
    let class_rows = labels.class_rows();
    let line = |scores: &[f64]| Ok(Line::of_log_odds(&curve_of(scores, labels)?, class_rows));
    let lines =
        scores.iter().map(|scores| line(scores)).collect::<Result<Vec<Line>, RankError>>()?;
    interrupt.check()?;
    // A score that ranks no better than chance has a flat line.
    let useful: Vec<usize> = (0..scores.len()).filter(|&s| lines[s].slope > 0.0).collect();
    let mut blend = Blend {
        weights: vec![1.0 / scores.len() as f64; scores.len()],
        factors: vec![0.0; scores.len()],
        intercept: lines[0].intercept,
    };
    if useful.is_empty() {
        return Ok(blend);
    }
    let log_odds: Vec<Vec<f64>> = useful
        .iter()
        .map(|&s| scores[s].iter().map(|&score| lines[s].at(score)).collect())
        .collect();
    let found = best(&log_odds, labels, params, interrupt)?;
    let mean: Vec<f64> = (0..labels.n_rows())
        .map(|row| log_odds.iter().zip(&found).map(|(scores, weight)| weight * scores[row]).sum())
        .collect();
    let whole = line(&mean)?;
    blend.weights.fill(0.0);
    blend.intercept = whole.intercept;
    for (&s, &weight) in useful.iter().zip(&found) {
        blend.weights[s] = weight;
        blend.factors[s] = whole.slope * weight * lines[s].slope;
        blend.intercept += whole.slope * weight * lines[s].intercept;
    }
    Ok(blend)
}

/// Maximum number of steps; about ten are usual.
const MOST_STEPS: usize = 100;

/// A step with a smaller gain is the last.
const LEAST_GAIN: f64 = 1e-7;

/// Steps without a gain are halved down to this length.
const SHORTEST: f64 = 1e-4;

/// Number of units of weight: weights are multiples of its inverse, so that rounding errors, such
/// as from another order of sums, do not change them.
const PARTS: u32 = 1 << 10;

/// The weights that maximise the ramp AUC of the mean of some scores, shrunk to equal weights.
fn best(
    scores: &[Vec<f64>],
    labels: &Labels<'_>,
    params: &BlendParams,
    interrupt: &Interrupt,
) -> Result<Vec<f64>, RankError> {
    let n = scores.len();
    let equal = 1.0 / n as f64;
    if n == 1 {
        return Ok(vec![1.0]);
    }
    let [n_neg, n_pos] = labels.class_rows();
    let price = params.shrinkage / n_neg.min(n_pos) as f64;
    let columns: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
    let ramp = Ramp { half_width: params.half_width, side_slope: 0.0 };
    let mut climber = RampClimber::of_labels(ramp, labels)?;
    let mut mean = vec![0.0; labels.n_rows()];
    // The objective, and its gradient.
    let mut at = |weights: &[f64]| -> Result<(f64, Vec<f64>), RankError> {
        interrupt.check()?;
        for (place, mean) in mean.iter_mut().enumerate() {
            *mean =
                columns.iter().zip(weights).map(|(column, weight)| weight * column[place]).sum();
        }
        let value = climber.evaluate(&mean)?;
        let mut slopes = by_coefficient(climber.slopes(), &columns)?;
        let mut penalty = 0.0;
        for (slope, weight) in slopes.iter_mut().zip(weights) {
            penalty += price * (weight - equal) * (weight - equal);
            *slope -= 2.0 * price * (weight - equal);
        }
        Ok((value - penalty, slopes))
    };
    let mut weights = vec![equal; n];
    let (mut value, mut slopes) = at(&weights)?;
    let mut step = 1.0;
    for _ in 0..MOST_STEPS {
        // Scaled by the steepest slope, a step moves no weight by more than its length, whatever
        // the unit of the objective.
        let steepest = slopes.iter().fold(0.0_f64, |most, slope| most.max(slope.abs()));
        if steepest <= f64::MIN_POSITIVE {
            break;
        }
        let next = loop {
            let moved: Vec<f64> = weights
                .iter()
                .zip(&slopes)
                .map(|(weight, slope)| weight + step * slope / steepest)
                .collect();
            let candidate = nearest(&moved);
            let found = at(&candidate)?;
            if found.0 > value {
                break Some((candidate, found));
            }
            step /= 2.0;
            if step < SHORTEST {
                break None;
            }
        };
        let Some((candidate, found)) = next else { break };
        let gain = found.0 - value;
        weights = candidate;
        (value, slopes) = found;
        step = (2.0 * step).min(1.0);
        if gain < LEAST_GAIN {
            break;
        }
    }
    Ok(in_parts(&weights, PARTS))
}

/// Projection of a point onto the simplex.
///
/// Duchi, Shalev-Shwartz, Singer and Chandra, "Efficient projections onto the l1-ball for learning
/// in high dimensions", ICML 2008, fig. 1.
fn nearest(point: &[f64]) -> Vec<f64> {
    let mut descending = point.to_vec();
    descending.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (n, value) in (1..).zip(descending) {
        sum += value;
        let candidate = (sum - 1.0) / f64::from(n);
        if value > candidate {
            shift = candidate;
        }
    }
    point.iter().map(|value| (value - shift).max(0.0)).collect()
}

/// Weights of the simplex as multiples of `1 / n_parts`, by largest remainders, earlier ones first.
fn in_parts(weights: &[f64], n_parts: u32) -> Vec<f64> {
    let scaled: Vec<f64> = weights.iter().map(|weight| weight * f64::from(n_parts)).collect();
    let mut parts: Vec<f64> = scaled.iter().map(|weight| weight.floor()).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| (scaled[b] - parts[b]).total_cmp(&(scaled[a] - parts[a])));
    let n_left = (f64::from(n_parts) - parts.iter().sum::<f64>()).max(0.0) as usize;
    for place in order.into_iter().take(n_left) {
        parts[place] += 1.0;
    }
    parts.iter().map(|part| part / f64::from(n_parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    /// A roughly normal number.
    fn normal(seed: u64) -> f64 {
        (0..12).map(|draw| mix(seed ^ mix(draw)) as f64 / u64::MAX as f64).sum::<f64>() - 6.0
    }

    fn sample(n: u64) -> (Vec<bool>, [Vec<f64>; 3]) {
        let positive: Vec<bool> = (0..n).map(|row| mix(row).is_multiple_of(3)).collect();
        let of = |strength: f64, salt: u64| -> Vec<f64> {
            let rows = (0..n).zip(&positive);
            rows.map(|(row, &positive)| {
                normal(row << 8 | salt) + if positive { strength } else { 0.0 }
            })
            .collect()
        };
        let scores = [of(1.0, 1), of(1.0, 2), of(0.0, 3)];
        (positive, scores)
    }

    #[test]
    fn two_informative_scores_share_the_weight_and_noise_has_little() {
        let (positive, scores) = sample(3000);
        let labels = Labels::new(&positive, None).unwrap();
        let views: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
        let params = BlendParams { shrinkage: 0.0, ..BlendParams::default() };
        let found = blend(&views, &labels, &params, &Interrupt::default()).unwrap();
        assert!((found.weights[0] - 0.5).abs() < 0.1, "{found:?}");
        assert_eq!(found.weights.iter().sum::<f64>(), 1.0);
        let auc = |scores: &[f64]| curve_of(scores, &labels).unwrap().auc();
        let blended: Vec<f64> = (0..positive.len())
            .map(|row| found.at(scores.iter().map(|scores| scores[row])))
            .collect();
        assert!(auc(&blended) > auc(&scores[0]) + 0.05);
        // The blend is calibrated: the line of its own scores is the identity.
        let line = Line::of_log_odds(&curve_of(&blended, &labels).unwrap(), labels.class_rows());
        assert!(line.intercept.abs() < 1e-6 && (line.slope - 1.0).abs() < 1e-6, "{line:?}");
    }

    #[test]
    fn few_rows_leave_the_weights_nearly_equal() {
        let (positive, scores) = sample(40);
        let labels = Labels::new(&positive, None).unwrap();
        let views: Vec<&[f64]> = scores[..2].iter().map(Vec::as_slice).collect();
        let params = BlendParams { shrinkage: 1000.0, ..BlendParams::default() };
        let found = blend(&views, &labels, &params, &Interrupt::default()).unwrap();
        assert!((found.weights[0] - 0.5).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn copies_are_weights_and_the_order_of_rows_does_not_matter() {
        let (positive, scores) = sample(200);
        let weights: Vec<f64> = (0..200).map(|row| (mix(row + 7) % 3) as f64).collect();
        let of = |rows: &[usize], weights: Option<&[f64]>| {
            let positive: Vec<bool> = rows.iter().map(|&row| positive[row]).collect();
            let scores: Vec<Vec<f64>> =
                scores.iter().map(|scores| rows.iter().map(|&row| scores[row]).collect()).collect();
            let views: Vec<&[f64]> = scores.iter().map(Vec::as_slice).collect();
            let labels = Labels::new(&positive, weights).unwrap();
            blend(&views, &labels, &BlendParams::default(), &Interrupt::default()).unwrap()
        };
        let all: Vec<usize> = (0..200).collect();
        let weighted = of(&all, Some(&weights));
        let mut copies: Vec<usize> =
            all.iter().flat_map(|&row| vec![row; weights[row] as usize]).collect();
        assert_eq!(of(&copies, None), weighted);
        copies.reverse();
        assert_eq!(of(&copies, None).weights, weighted.weights);
    }

    #[test]
    fn scores_that_do_not_rank_get_no_factor() {
        let positive = [true, false, true, false];
        let labels = Labels::new(&positive, None).unwrap();
        let found = blend(
            &[&[0.0, 1.0, 0.0, 1.0], &[2.0; 4]],
            &labels,
            &BlendParams::default(),
            &Interrupt::default(),
        )
        .unwrap();
        assert_eq!(found.factors, [0.0, 0.0]);
        assert_eq!(found.weights, [0.5, 0.5]);
        assert_eq!(found.at([3.0, 4.0]), 0.0);
    }

    #[test]
    fn bad_parameters_are_rejected() {
        let labels = Labels::new(&[true, false], None).unwrap();
        let of = |params: BlendParams, scores: &[&[f64]]| {
            blend(scores, &labels, &params, &Interrupt::default()).unwrap_err().to_string()
        };
        let default = BlendParams::default();
        assert!(of(default, &[]).contains("number of scores"));
        assert!(
            of(BlendParams { shrinkage: -1.0, ..default }, &[&[0.0, 1.0]]).contains("shrinkage")
        );
        let flat = BlendParams { half_width: 0.0, ..default };
        assert!(of(flat, &[&[0.0, 1.0]]).contains("half_width"));
        assert!(of(default, &[&[0.0]]).contains("y_score"));
    }

    #[test]
    fn no_other_point_of_the_simplex_is_nearer() {
        let draw = |seed: u64| mix(seed) as f64 / u64::MAX as f64;
        for seed in 0..200 {
            let point: Vec<f64> = (0..4).map(|place| 3.0 * draw(seed * 4 + place) - 1.0).collect();
            let found = nearest(&point);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(found.iter().all(|&weight| weight >= 0.0));
            let distance =
                |to: &[f64]| -> f64 { point.iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum() };
            for other in 0..50 {
                let draws: Vec<f64> =
                    (0..4).map(|place| -draw(!(seed * 999 + other * 4 + place)).ln()).collect();
                let total: f64 = draws.iter().sum();
                let other: Vec<f64> = draws.iter().map(|draw| draw / total).collect();
                assert!(distance(&found) <= distance(&other) + 1e-12);
            }
        }
    }

    #[test]
    fn rounded_weights_add_up_and_are_near() {
        let found = in_parts(&[1.0 / 3.0; 3], 1024);
        assert_eq!(found, [342.0 / 1024.0, 341.0 / 1024.0, 341.0 / 1024.0]);
        assert_eq!(in_parts(&[1.0, 0.0], 1024), [1.0, 0.0]);
    }
}
