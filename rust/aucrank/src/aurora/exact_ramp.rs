//! The ramp statistic and the AUC of scores, by a sort.

use super::grid_ramp::{HALF_WIDTH, SIDE_SLOPE};
use super::observations::Observations;

/// The ramp statistic and the AUC.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Statistics {
    pub ramp: f64,
    pub auc: f64,
}

/// Both statistics, from sums in the order of the scores.
pub(super) fn statistics(observations: &Observations<'_>, scores: &[f64]) -> Statistics {
    let n = scores.len();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_unstable_by(|&a, &b| scores[a as usize].total_cmp(&scores[b as usize]));
    let is_pos = |row: u32| (row as usize) < observations.n_pos;
    let (mut neg, mut neg_scores) = (vec![0.0], vec![0.0]);
    let (mut sum, mut sum_scores) = (0.0, 0.0);
    for &row in &order {
        if !is_pos(row) {
            sum += observations.shares[row as usize];
            sum_scores += observations.shares[row as usize] * scores[row as usize];
        }
        neg.push(sum);
        neg_scores.push(sum_scores);
    }
    let at = |place: usize| scores[order[place] as usize];
    let (mut first, mut end, mut below, mut above) = (0, 0, 0, 0);
    let (mut clipped, mut mean, mut auc) = (0.0, 0.0, 0.0);
    for (place, &row) in order.iter().enumerate() {
        let score = at(place);
        let share = observations.shares[row as usize];
        if !is_pos(row) {
            mean -= share * score;
            continue;
        }
        while score - at(first) > HALF_WIDTH {
            first += 1;
        }
        while end < n && at(end) - score <= HALF_WIDTH {
            end += 1;
        }
        while at(below) < score {
            below += 1;
        }
        while above < n && at(above) <= score {
            above += 1;
        }
        let central = score * (neg[end] - neg[first]) - (neg_scores[end] - neg_scores[first]);
        clipped += share * (central + HALF_WIDTH * (neg[first] - (sum - neg[end])));
        mean += share * score;
        auc += share * (neg[below] + neg[above]) / 2.0;
    }
    let a = 0.5 / HALF_WIDTH;
    Statistics { ramp: 0.5 + a * ((1.0 - SIDE_SLOPE) * clipped + SIDE_SLOPE * mean), auc }
}
