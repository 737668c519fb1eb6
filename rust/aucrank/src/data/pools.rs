//! Isotonic regression of the positive share along a score, by pooling adjacent violators.

use super::ClassSums;

/// Rows of neighbouring scores that are given one share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pool {
    /// Class sums of its rows.
    pub sums: ClassSums,
    /// Lowest score.
    pub low: f64,
    /// Highest score.
    pub high: f64,
}

/// Pools of scores with the class sums of their rows, whose shares of positives strictly rise; sorts
/// the scores.
pub(crate) fn rising_pools(scored: &mut [(f64, ClassSums)]) -> Vec<Pool> {
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut pools: Vec<Pool> = Vec::new();
    for tied in scored.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let mut sums: ClassSums = tied.iter().map(|(_, sums)| *sums).sum();
        let (mut low, high) = (tied[0].0, tied[0].0);
        while let Some(below) = pools.last()
            && below.sums.cmp_eta(sums).is_ge()
        {
            sums += below.sums;
            low = below.low;
            pools.pop();
        }
        pools.push(Pool { sums, low, high });
    }
    pools
}
