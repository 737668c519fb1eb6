//! Precision and recall at each threshold of a curve.

use super::RocCurve;
use super::curve::with_counts;
use super::mass::{Mass, share_of_sum};

/// Precision and recall at the thresholds of a curve, in ascending order.
///
/// # Examples
///
/// ```
/// use aucrank::roc::RocCurve;
///
/// let curve = RocCurve::new(&[0.1, 0.4, 0.4], &[false, false, true]).unwrap();
/// let found = curve.precision_recall(false);
/// assert_eq!((found.precision, found.recall), (vec![1.0 / 3.0, 0.5], vec![1.0, 1.0]));
/// assert_eq!(found.thresholds, [0.1, 0.4]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PrecisionRecall {
    /// Weighted share of positive rows among those that score at least the threshold.
    pub precision: Vec<f64>,
    /// Share of the positive rows that score at least the threshold.
    pub recall: Vec<f64>,
    /// Distinct scores, ascending.
    pub thresholds: Vec<f64>,
}

impl RocCurve {
    /// Precision and recall at each threshold except infinity, where no row is called positive.
    ///
    /// With `drop_intermediate`, thresholds are dropped at which the recall is the same as at both
    /// neighbours.
    #[must_use]
    pub fn precision_recall(&self, drop_intermediate: bool) -> PrecisionRecall {
        let exponents = self.exponents();
        with_counts!(self, |fp, tp| {
            let last = tp.len() - 1;
            let kept = (1..=last).rev().filter(|&knot| {
                let is_between = knot > 1 && knot < last;
                let is_flat = || tp[knot - 1] == tp[knot] && tp[knot] == tp[knot + 1];
                !(drop_intermediate && is_between && is_flat())
            });
            let kept: Vec<usize> = kept.collect();
            let all = tp[last].to_f64();
            let [neg, pos] = exponents;
            PrecisionRecall {
                precision: kept.iter().map(|&i| share_of_sum(tp[i], fp[i], [pos, neg])).collect(),
                recall: kept.iter().map(|&knot| tp[knot].to_f64() / all).collect(),
                thresholds: kept.iter().map(|&knot| self.thresholds()[knot]).collect(),
            }
        })
    }
}
