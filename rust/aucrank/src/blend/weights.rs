//! The weights of a blend: projected gradient ascent.

use super::BlendParams;
use crate::data::Labels;
use crate::roc::{Ramp, RampClimber, by_coefficient};
use crate::{Interrupt, RankError};

/// Most steps; some ten are usual.
const MOST_STEPS: usize = 100;

/// A step that gains less than this is the last.
const LEAST_GAIN: f64 = 1e-7;

/// Steps that do not gain are halved, until they are so short.
const SHORTEST: f64 = 1e-4;

/// Weights are multiples of one over this: what the rows cannot distinguish, such as the rounding of
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

/// The point of the simplex next to a point.
///
/// Duchi, Shalev-Shwartz, Singer and Chandra, "Efficient projections onto the l1-ball for learning
/// in high dimensions", ICML 2008, fig. 1.
pub(super) fn nearest(point: &[f64]) -> Vec<f64> {
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
pub(super) fn in_parts(weights: &[f64], n_parts: u32) -> Vec<f64> {
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
mod tests_of_simplex {
    use super::*;
    use crate::data::mix;

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
    fn parts_add_up_and_are_near() {
        let found = in_parts(&[1.0 / 3.0; 3], 1024);
        assert_eq!(found, [342.0 / 1024.0, 341.0 / 1024.0, 341.0 / 1024.0]);
        assert_eq!(in_parts(&[1.0, 0.0], 1024), [1.0, 0.0]);
    }
}
