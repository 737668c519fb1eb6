//! Probabilities of scores that only rank.

use serde::{Deserialize, Serialize};

use crate::data::ClassSums;

/// A probability that rises with the score in steps: the share of positives of training rows, made
/// monotone by pooling adjacent violators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Calibration {
    /// A score above `thresholds[i]` and not above the next has probability `probabilities[i + 1]`.
    thresholds: Vec<f64>,
    probabilities: Vec<f64>,
}

impl Calibration {
    /// Learns from scores with the class sums of their rows, which it sorts.
    pub(super) fn new(scored: &mut [(f64, ClassSums)]) -> Self {
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Pools from the lowest score up: sums, lowest and highest score.
        let mut pools: Vec<(ClassSums, f64, f64)> = Vec::new();
        for tied in scored.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let mut sums: ClassSums = tied.iter().map(|(_, sums)| *sums).sum();
            let (mut low, high) = (tied[0].0, tied[0].0);
            while let Some(&(below, lowest, _)) = pools.last()
                && below.cmp_eta(sums).is_ge()
            {
                sums += below;
                low = lowest;
                pools.pop();
            }
            pools.push((sums, low, high));
        }
        Self {
            thresholds: pools.windows(2).map(|pair| between(pair[0].2, pair[1].1)).collect(),
            probabilities: pools.iter().map(|(sums, ..)| sums.eta()).collect(),
        }
    }

    pub(super) fn probability(&self, score: f64) -> f64 {
        self.probabilities[self.thresholds.partition_point(|&threshold| threshold < score)]
    }

    /// The score above which the probability is above one half. Scores are from 0 to 1.
    pub(super) fn middle(&self) -> f64 {
        match self.probabilities.partition_point(|&probability| probability <= 0.5) {
            0 => -1.0,
            n if n == self.probabilities.len() => 2.0,
            n => self.thresholds[n - 1],
        }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let rising = |values: &[f64]| values.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = self.probabilities.len() == self.thresholds.len() + 1
            && rising(&self.thresholds)
            && rising(&self.probabilities)
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        if fits { Ok(()) } else { Err("the probabilities do not rise with the score".to_owned()) }
    }
}

/// A threshold at least `low` and below `high`, so that what is above it is nearer to `high`.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    if middle < high { middle } else { low }
}
