//! The exact ramp statistic of scores, by sorting.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::grid_ramp::{Circle, HALF_WIDTH, RampOnCircle, SIDE_SLOPE};
use super::observations::Observations;
use crate::roc::{Ramp, RampClimber};

/// Statistics of how well a score ranks rows.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{Statistics, fit_aurora};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::roc::Ramp;
/// # use aucrank::aurora::{AuroraParams, BinarizerParams, Criterion, Radius, SearchDepth};
/// # use aucrank::aurora::Selection;
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let params = AuroraParams {
/// #     binarizer: BinarizerParams::default(), max_features: 10, order: 1,
/// #     radius: Radius::Fixed(2.0), depth: SearchDepth::default(), first_gain: 0.01,
/// #     last_gain: 0.01, tol: None, selection: Selection::Keep, criterion: Criterion::Auc,
/// #     radius_terms: None, patience: None, monotonic: vec![], max_fpr: 1.0, seed: 0,
/// # };
/// let model = fit_aurora(&columns, &labels, &params, None, &Interrupt::default())?;
/// // One threshold separates the classes: the scores of all pairs differ by its weight.
/// assert_eq!(model.values(), [2.0]);
/// let Statistics { ramp, auc } = model.path()[0].train;
/// assert_eq!(auc, 1.0);
/// assert!((ramp - Ramp::default().at(2.0)).abs() < 1e-12);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct Statistics {
    /// The ramp statistic, equation (2.2).
    pub ramp: f64,
    /// The AUC.
    pub auc: f64,
}

/// Evaluates the exact statistics of some observations under changing scores.
#[derive(Debug)]
pub(super) struct ExactRamp {
    climber: RampClimber,
    scores: Vec<f64>,
}

impl ExactRamp {
    pub fn new(observations: &Observations<'_>) -> Self {
        let (pos, neg) = observations.units.split_at(observations.n_pos);
        let of_class = |before: usize, units: &[u64], after: usize| {
            let zeros = |n: usize| std::iter::repeat_n(0, n);
            zeros(before).chain(units.iter().copied()).chain(zeros(after)).collect::<Vec<u64>>()
        };
        let (pos, neg) = (of_class(0, pos, neg.len()), of_class(pos.len(), neg, 0));
        let ramp = Ramp { half_width: HALF_WIDTH, side_slope: SIDE_SLOPE };
        let climber = RampClimber::new(ramp, &neg, &pos).expect("rows of both classes");
        Self { climber, scores: Vec::new() }
    }

    /// The statistic at an angle of a circle.
    pub fn at(&mut self, circle: Circle<'_>, angle: f64) -> RampOnCircle {
        let (sin, cos) = angle.sin_cos();
        let points = circle.here.iter().zip(circle.across);
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        scores.extend(points.clone().map(|(here, across)| cos * here + sin * across));
        let value = self.of(&scores).ramp;
        self.scores = scores;
        let speeds = points.map(|(here, across)| cos * across - sin * here);
        let slope = self.slopes().iter().zip(speeds).map(|(slope, speed)| slope * speed).sum();
        RampOnCircle { value, slope }
    }

    /// The slopes in the score of each observation, at the last point evaluated.
    pub fn slopes(&self) -> &[f64] {
        self.climber.slopes()
    }

    /// Both statistics of the scores.
    pub fn of(&mut self, scores: &[f64]) -> Statistics {
        let ramp = self.climber.evaluate(scores).expect("one finite score for each");
        Statistics { ramp, auc: self.climber.auc() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::observations::tests::Rows;
    use crate::data::mix;

    /// Few distinct scores, so that ties and differences of exactly a half-width are common.
    fn scores(n: usize, seed: u64) -> Vec<f64> {
        (0..n as u64).map(|row| (mix(seed ^ mix(row)) % 13) as f64 / 4.0).collect()
    }

    #[test]
    fn the_statistics_are_means_over_all_pairs() {
        let rows = Rows::new(150, 1);
        let weights: Vec<f64> = (0..150).map(|row| f64::from(row % 3)).collect();
        for weights in [None, Some(&weights[..])] {
            rows.observe(weights, |observations| {
                let scores = scores(observations.len(), 2);
                let (mut ramp, mut auc) = (0.0, 0.0);
                for pos in 0..observations.n_pos {
                    for neg in observations.n_pos..observations.len() {
                        let pair = observations.shares[pos] * observations.shares[neg];
                        let difference = scores[pos] - scores[neg];
                        ramp += pair * Ramp::default().at(difference);
                        auc += pair
                            * (0.5 * (f64::from(difference > 0.0) + f64::from(difference >= 0.0)));
                    }
                }
                let found = ExactRamp::new(observations).of(&scores);
                assert!((found.ramp - ramp).abs() < 1e-12, "{} {ramp}", found.ramp);
                assert!((found.auc - auc).abs() < 1e-12, "{} {auc}", found.auc);
            });
        }
    }

    #[test]
    fn slopes_are_differences_of_the_statistic() {
        Rows::new(60, 3).observe(None, |observations| {
            // No pair is near a corner.
            let scores: Vec<f64> =
                scores(observations.len(), 4).iter().map(|score| score * 0.77).collect();
            let mut ramp = ExactRamp::new(observations);
            ramp.of(&scores);
            let slopes = ramp.slopes().to_vec();
            for row in 0..scores.len() {
                let step = 1e-6;
                let mut moved = scores.clone();
                moved[row] += step;
                let above = ramp.of(&moved).ramp;
                moved[row] -= 2.0 * step;
                let below = ramp.of(&moved).ramp;
                let expected = (above - below) / (2.0 * step);
                assert!((slopes[row] - expected).abs() < 1e-9, "{} {expected}", slopes[row]);
            }
        });
    }
}
