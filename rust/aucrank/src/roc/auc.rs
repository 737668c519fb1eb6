//! Area under the ROC curve, read as the Mann–Whitney statistic.

use crate::RankError;

/// Chance that a random positive row outranks a random negative one, a tie counting one half.
///
/// # Errors
///
/// [`RankError`] if the lengths differ, a score is NaN, or a class is absent.
#[expect(clippy::float_cmp, reason = "a tie is exact equality")]
pub fn auc(scores: &[f64], positive: &[bool]) -> Result<f64, RankError> {
    if scores.len() != positive.len() {
        return Err(RankError::LengthMismatch {
            name: "y_score",
            found: scores.len(),
            expected: positive.len(),
        });
    }
    if let Some(row) = scores.iter().position(|s| s.is_nan()) {
        return Err(RankError::NanScore(row));
    }
    let n_pos = positive.iter().filter(|&&p| p).count();
    let n_neg = positive.len() - n_pos;
    if n_pos == 0 || n_neg == 0 {
        return Err(RankError::OneClass { n_pos, n_neg });
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut half_wins, mut neg_below) = (0, 0);
    for tied in order.chunk_by(|&a, &b| scores[a] == scores[b]) {
        let pos = tied.iter().filter(|&&row| positive[row]).count() as u64;
        let neg = tied.len() as u64 - pos;
        half_wins += pos * (2 * neg_below + neg);
        neg_below += neg;
    }
    Ok(half_wins as f64 / (2 * n_pos as u64 * n_neg as u64) as f64)
}
