//! The area under a part of the curve.

use super::RocCurve;
use crate::RankError;

impl RocCurve {
    /// Area under the curve up to `max_fpr`, standardised to be 1/2 for scores that tell nothing
    /// and 1 for perfect ones (McClish, 1989).
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] unless `0 < max_fpr <= 1`.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocCurve;
    ///
    /// let curve = RocCurve::new(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]).unwrap();
    /// assert_eq!(curve.standardized_auc(0.5), Ok(2.0 / 3.0));
    /// assert_eq!(curve.standardized_auc(1.0), Ok(curve.auc()));
    /// ```
    pub fn standardized_auc(&self, max_fpr: f64) -> Result<f64, RankError> {
        if !(max_fpr > 0.0 && max_fpr <= 1.0) {
            return Err(RankError::BadParameter {
                name: "max_fpr",
                value: max_fpr.to_string(),
                rule: "above 0 and at most 1",
            });
        }
        if max_fpr >= 1.0 {
            return Ok(self.auc());
        }
        let (fp, tp) = (self.false_positives(), self.true_positives());
        let (n_neg, n_pos) = (fp[self.len() - 1] as f64, tp[self.len() - 1] as f64);
        // The first knot beyond; there is one, as the last has a rate of 1.
        let beyond = fp.partition_point(|&count| count as f64 / n_neg <= max_fpr);
        let (low, high) = (beyond - 1, beyond);
        let run = max_fpr - fp[low] as f64 / n_neg;
        let slope = (tp[high] - tp[low]) as f64 / (fp[high] - fp[low]) as f64 * n_neg / n_pos;
        let area = self.twice_area(beyond) as f64 / self.twice_whole()
            + run * (tp[low] as f64 / n_pos + 0.5 * run * slope);
        let least = 0.5 * max_fpr * max_fpr;
        // Rounding must not lift a perfect score above 1.
        Ok((0.5 * (1.0 + (area - least) / (max_fpr - least))).min(1.0))
    }
}
