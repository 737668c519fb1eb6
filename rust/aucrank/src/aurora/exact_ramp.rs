//! The ramp statistic of scores to the last bit, by a sort.

use serde::{Deserialize, Serialize};

use super::grid_ramp::{Circle, HALF_WIDTH, RampOnCircle, SIDE_SLOPE};
use super::observations::Observations;

/// How well a score ranks rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The ramp statistic, equation (2.2).
    pub ramp: f64,
    /// The AUC.
    pub auc: f64,
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub(super) struct ExactRamp {
    /// Observations by score.
    order: Vec<u32>,
    scores: Vec<f64>,
    /// Up to each place: share of the positives, of the negatives, share times score of the negatives.
    running: Vec<[f64; 3]>,
    slopes: Vec<f64>,
    at_point: Vec<f64>,
}

impl ExactRamp {
    /// The statistic at an angle of a circle.
    pub fn at(
        &mut self,
        observations: &Observations<'_>,
        circle: Circle<'_>,
        angle: f64,
    ) -> RampOnCircle {
        let (sin, cos) = angle.sin_cos();
        let points = circle.here.iter().zip(circle.across);
        let mut scores = std::mem::take(&mut self.at_point);
        scores.clear();
        scores.extend(points.clone().map(|(here, across)| cos * here + sin * across));
        let value = self.of(observations, &scores).ramp;
        self.at_point = scores;
        let speeds = points.map(|(here, across)| cos * across - sin * here);
        let slope = self.slopes.iter().zip(speeds).map(|(slope, speed)| slope * speed).sum();
        RampOnCircle { value, slope }
    }

    /// The slopes in the score of each observation, at the point that was asked for last.
    pub fn slopes(&self) -> &[f64] {
        &self.slopes
    }

    /// Both statistics, from sums in the order of the scores.
    pub fn of(&mut self, observations: &Observations<'_>, scores: &[f64]) -> Statistics {
        let n = scores.len();
        self.order.clear();
        self.order.extend(0..n as u32);
        self.order.sort_unstable_by(|&a, &b| scores[a as usize].total_cmp(&scores[b as usize]));
        let is_pos = |row: u32| (row as usize) < observations.n_pos;
        let mut up_to = [0.0; 3];
        self.running.clear();
        self.running.push(up_to);
        self.scores.clear();
        for &row in &self.order {
            let (share, score) = (observations.shares[row as usize], scores[row as usize]);
            self.scores.push(score);
            if is_pos(row) {
                up_to[0] += share;
            } else {
                up_to[1] += share;
                up_to[2] += share * score;
            }
            self.running.push(up_to);
        }
        let a = 0.5 / HALF_WIDTH;
        let (mut first, mut end, mut below, mut above) = (0, 0, 0, 0);
        let (mut clipped, mut mean, mut auc) = (0.0, 0.0, 0.0);
        self.slopes.resize(n, 0.0);
        for (&row, &score) in self.order.iter().zip(&self.scores) {
            let share = observations.shares[row as usize];
            while score - self.scores[first] > HALF_WIDTH {
                first += 1;
            }
            while end < n && self.scores[end] - score <= HALF_WIDTH {
                end += 1;
            }
            let (from, to) = (self.running[first], self.running[end]);
            let slope = |central: f64| a * share * (SIDE_SLOPE + (1.0 - SIDE_SLOPE) * central);
            if !is_pos(row) {
                mean -= share * score;
                self.slopes[row as usize] = -slope(to[0] - from[0]);
                continue;
            }
            while self.scores[below] < score {
                below += 1;
            }
            while above < n && self.scores[above] <= score {
                above += 1;
            }
            let central = score * (to[1] - from[1]) - (to[2] - from[2]);
            clipped += share * (central + HALF_WIDTH * (from[1] - (up_to[1] - to[1])));
            mean += share * score;
            auc += share * f64::midpoint(self.running[below][1], self.running[above][1]);
            self.slopes[row as usize] = slope(to[1] - from[1]);
        }
        Statistics { ramp: 0.5 + a * ((1.0 - SIDE_SLOPE) * clipped + SIDE_SLOPE * mean), auc }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::observations::tests::Rows;
    use crate::data::mix;
    use crate::roc::Ramp;

    /// Few scores, so that ties and differences of just a half-width are common.
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
                let found = ExactRamp::default().of(observations, &scores);
                assert!((found.ramp - ramp).abs() < 1e-12, "{} {ramp}", found.ramp);
                assert!((found.auc - auc).abs() < 1e-12, "{} {auc}", found.auc);
            });
        }
    }

    #[test]
    fn slopes_are_differences_of_the_statistic() {
        Rows::new(60, 3).observe(None, |observations| {
            // No pair lies near a corner.
            let scores: Vec<f64> =
                scores(observations.len(), 4).iter().map(|score| score * 0.77).collect();
            let mut ramp = ExactRamp::default();
            ramp.of(observations, &scores);
            let slopes = ramp.slopes().to_vec();
            for row in 0..scores.len() {
                let step = 1e-6;
                let mut moved = scores.clone();
                moved[row] += step;
                let above = ramp.of(observations, &moved).ramp;
                moved[row] -= 2.0 * step;
                let below = ramp.of(observations, &moved).ramp;
                let expected = (above - below) / (2.0 * step);
                assert!((slopes[row] - expected).abs() < 1e-9, "{} {expected}", slopes[row]);
            }
        });
    }
}
