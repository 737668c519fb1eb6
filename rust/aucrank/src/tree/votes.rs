//! What the trees of a forest say of a few rows, put together.

use super::consensus::Consensus;
use super::forest::{Aggregation, RankingForest};

/// Answers of trees about some rows, as far as the aggregation has to keep them.
#[derive(Debug)]
pub(super) struct Votes {
    /// Sum of the values of the leaves of each row, and the number of trees that voted.
    sums: Vec<f64>,
    n_trees: Vec<u32>,
    /// For medians: all values.
    values: Vec<Vec<f64>>,
    /// For a consensus: the leads of each row over the reference rows, row by row.
    leads: Vec<i32>,
}

impl Votes {
    pub(super) fn new(forest: &RankingForest, n_rows: usize) -> Self {
        let n_references = forest.consensus.as_ref().map_or(0, Consensus::n_rows);
        let keeps_values = forest.aggregation == Aggregation::RankMedian;
        Self {
            sums: vec![0.0; n_rows],
            n_trees: vec![0; n_rows],
            values: if keeps_values { vec![Vec::new(); n_rows] } else { Vec::new() },
            leads: vec![0; n_rows * n_references],
        }
    }

    /// Adds what one tree says of the rows that count for it, given its leaf of each row and the
    /// values of its leaves.
    pub(super) fn add(
        &mut self,
        forest: &RankingForest,
        tree: usize,
        values: &[f64],
        leaves: &[u32],
        counts: impl Fn(usize) -> bool,
    ) {
        if self.values.is_empty() && forest.consensus.is_none() {
            let sums = self.sums.iter_mut().zip(&mut self.n_trees);
            for (row, ((sum, n_trees), &leaf)) in sums.zip(leaves).enumerate() {
                let counts = counts(row);
                *sum += if counts { values[leaf as usize] } else { 0.0 };
                *n_trees += u32::from(counts);
            }
            return;
        }
        for (row, &leaf) in leaves.iter().enumerate() {
            if !counts(row) {
                continue;
            }
            let value = values[leaf as usize];
            self.sums[row] += value;
            self.n_trees[row] += 1;
            if let Some(all) = self.values.get_mut(row) {
                all.push(value);
            }
            if let Some(consensus) = &forest.consensus {
                let n = consensus.n_rows();
                consensus.add(tree, leaf, &mut self.leads[row * n..(row + 1) * n]);
            }
        }
    }

    /// Score of each row before it is shifted, `None` for a row on which no tree voted.
    pub(super) fn scores(&self, forest: &RankingForest) -> impl Iterator<Item = Option<f64>> {
        (0..self.sums.len()).map(move |row| {
            let mean = self.sums[row] / f64::from(self.n_trees[row]);
            (self.n_trees[row] > 0).then(|| match &forest.consensus {
                Some(consensus) => {
                    let n = consensus.n_rows();
                    Consensus::score(&self.leads[row * n..(row + 1) * n], mean)
                }
                None if self.values.is_empty() => mean,
                None => median(&self.values[row]),
            })
        })
    }
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    let middle = values.len() / 2;
    let is_odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if is_odd {
        return upper;
    }
    f64::midpoint(below.iter().copied().fold(f64::NEG_INFINITY, f64::max), upper)
}
