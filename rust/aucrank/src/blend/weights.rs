//! The weights of a blend: projected gradient ascent.

use super::BlendParams;
use super::simplex::{in_parts, nearest};
use crate::data::Labels;
use crate::roc::{Ramp, RampClimber, by_coefficient};
use crate::{Interrupt, RankError};

/// Most steps; some ten are usual.
const MOST_STEPS: usize = 100;

/// A step that gains less than this is the last.
const LEAST_GAIN: f64 = 1e-7;

/// Steps that do not gain are halved, until they are so short.
const SHORTEST: f64 = 1e-4;

/// Weights are multiples of one over this: what the rows cannot tell apart, such as the rounding of
/// sums in another order, changes none.
const PARTS: u32 = 1 << 10;

/// The weights of the largest ramp AUC of the mean of some scores, drawn to equal ones.
pub(super) fn best(
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
