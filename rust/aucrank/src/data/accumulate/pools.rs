//! Rows along a score: those that tie, and pools whose shares of positives rise.

use crate::RankError;
use crate::data::{ClassSums, Labels};

/// The class sums of each score, ascending; rows of weight zero do not contribute.
///
/// # Errors
///
/// [`RankError`] if the lengths differ or a score is NaN.
pub(crate) fn score_groups(
    scores: &[f64],
    labels: &Labels<'_>,
) -> Result<Vec<(f64, ClassSums)>, RankError> {
    if scores.len() != labels.n_rows() {
        let (found, expected) = (scores.len(), labels.n_rows());
        return Err(RankError::LengthMismatch { name: "y_score", found, expected });
    }
    if let Some(row) = scores.iter().position(|score| score.is_nan()) {
        return Err(RankError::NanScore(row));
    }
    let rows = labels.rows();
    // Adding 0 makes -0 the same as 0.
    let scored = rows.iter().map(|&row| (scores[row as usize] + 0.0, labels.sums(row as usize)));
    let mut scored: Vec<(f64, ClassSums)> = scored.collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let tied = scored.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq());
    Ok(tied.map(|tied| (tied[0].0, tied.iter().map(|(_, sums)| *sums).sum())).collect())
}

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

/// Isotonic regression of the positive share by pooling adjacent violators: pools of scores with the class sums of their rows, whose shares of positives strictly rise; sorts
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
