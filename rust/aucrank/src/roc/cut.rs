//! Where a score is cut into two labels.

use super::curve::RocCurve;
use crate::RankError;
use crate::data::{Labels, midpoint};

/// The score from which on rows are best called positive: the middle between the scores on both
/// sides of the largest TPR - FPR, the highest such place where there are several.
///
/// Rows of weight zero have no say. Where all scores are equal, it is that score.
///
/// # Errors
///
/// [`RankError`] if the lengths differ, or a score is NaN.
///
/// # Examples
///
/// ```
/// use aucrank::{data::Labels, roc::largest_gap};
///
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// assert_eq!(largest_gap(&[0.0, 3.0, 1.0, 4.0], &labels), Ok(2.0));
/// ```
pub fn largest_gap(scores: &[f64], labels: &Labels<'_>) -> Result<f64, RankError> {
    let curve = curve_of(scores, labels)?;
    let (fps, tps) = (curve.false_positives(), curve.true_positives());
    let total = |counts: &[u64]| i128::from(counts[counts.len() - 1]);
    let (n_neg, n_pos) = (total(fps), total(tps));
    let gap = |knot: usize| i128::from(tps[knot]) * n_neg - i128::from(fps[knot]) * n_pos;
    let last = fps.len() - 1;
    // Knot 0 calls nothing positive, the last knot everything.
    let (mut best, mut largest) = (0, 0);
    for knot in 1..last {
        if gap(knot) > largest {
            (best, largest) = (knot, gap(knot));
        }
    }
    let thresholds = curve.thresholds();
    Ok(if best == 0 { thresholds[1] } else { midpoint(thresholds[best + 1], thresholds[best]) })
}

/// The curve of rows that count, one knot for each of their distinct scores, in units of their weights.
///
/// # Errors
///
/// [`RankError`] if the lengths differ, or a score is NaN.
pub(crate) fn curve_of(scores: &[f64], labels: &Labels<'_>) -> Result<RocCurve, RankError> {
    let Some(weights) = labels.weights() else {
        return RocCurve::new(scores, labels.positive());
    };
    if scores.len() != labels.n_rows() {
        let (found, expected) = (scores.len(), labels.n_rows());
        return Err(RankError::LengthMismatch { name: "y_score", found, expected });
    }
    let rows = labels.rows();
    let of_rows = |values: &[f64]| rows.iter().map(|&row| values[row as usize]).collect();
    let units: Vec<f64> = weights.units().iter().map(|&units| units as f64).collect();
    let (scores, units): (Vec<f64>, Vec<f64>) = (of_rows(scores), of_rows(&units));
    let positive: Vec<bool> = rows.iter().map(|&row| labels.positive()[row as usize]).collect();
    RocCurve::weighted(&scores, &positive, &units)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: TPR - FPR of every cut between two scores, the highest cut first.
    fn by_definition(scores: &[f64], positive: &[bool], weights: &[f64]) -> f64 {
        let sum = |keep: &dyn Fn(usize) -> bool| -> f64 {
            (0..scores.len()).filter(|&row| keep(row)).map(|row| weights[row]).sum()
        };
        let mut distinct: Vec<f64> =
            (0..scores.len()).filter(|&row| weights[row] > 0.0).map(|row| scores[row]).collect();
        distinct.sort_by(|a, b| b.total_cmp(a));
        distinct.dedup();
        let mut best = (0.0, distinct[0]);
        for pair in distinct.windows(2) {
            let cut = pair[0] / 2.0 + pair[1] / 2.0;
            let rate = |class: bool| {
                let above = sum(&|row| positive[row] == class && scores[row] > cut);
                above / sum(&|row| positive[row] == class)
            };
            let gap = rate(true) - rate(false);
            if gap > best.0 + 1e-12 {
                best = (gap, cut);
            }
        }
        best.1
    }

    #[test]
    fn equals_the_definition_for_every_labelling_and_ties() {
        let scores = [0.0, 1.0, -2.0, 1.0, 0.5, 3.0, 3.0];
        for bits in 1..127_u32 {
            let positive: Vec<bool> = (0..7).map(|row| bits >> row & 1 == 1).collect();
            let labels = Labels::new(&positive, None).unwrap();
            assert_eq!(
                largest_gap(&scores, &labels).unwrap(),
                by_definition(&scores, &positive, &[1.0; 7]),
                "{positive:?}"
            );
        }
    }

    #[test]
    fn rows_without_weight_have_no_say() {
        let scores = [0.0, 1.0, 1.5, 2.0, 9.0];
        let positive = [false, false, true, true, false];
        let weights = [1.0, 2.0, 0.0, 0.5, 0.0];
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        assert_eq!(largest_gap(&scores, &labels), Ok(1.5));
        assert_eq!(by_definition(&scores, &positive, &weights), 1.5);
    }

    #[test]
    fn equal_scores_have_no_cut() {
        let labels = Labels::new(&[true, false], None).unwrap();
        assert_eq!(largest_gap(&[0.25, 0.25], &labels), Ok(0.25));
        // Ranked the wrong way round, nothing is called positive.
        assert_eq!(largest_gap(&[1.0, 2.0], &labels), Ok(2.0));
    }
}
