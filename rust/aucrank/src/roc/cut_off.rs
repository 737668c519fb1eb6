//! Where to cut a score in two, by what the two kinds of error are worth.

use super::RocCurve;

/// What makes a threshold the best one.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{Criterion, RocCurve};
///
/// let positive = [false, false, false, false, true, true];
/// let curve = RocCurve::new(&[1.0, 2.0, 3.0, 5.0, 4.0, 6.0], &positive).unwrap();
/// // At 4 both positive rows are found, and one negative row of four is taken for one.
/// assert_eq!(curve.thresholds()[curve.cut_off(Criterion::Slope(1.0))], 4.0);
/// // Where a false positive costs much, only the row at the top is called positive.
/// assert_eq!(curve.thresholds()[curve.cut_off(Criterion::Slope(9.0))], 6.0);
/// assert_eq!(curve.thresholds()[curve.cut_off(Criterion::Corner)], 4.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Criterion {
    /// Greatest `TPR - slope * FPR`. Slope 1 is Youden's index; where a false positive costs `c` and
    /// a false negative `d`, and a share `p` of the rows is positive, slope `c (1 - p) / (d p)`
    /// makes the mean cost least (Metz, 1978).
    Slope(f64),
    /// Least distance to the corner of no error, (0, 1).
    Corner,
    /// Sensitivity and specificity as close as can be.
    Equal,
}

impl Criterion {
    /// Index of the best of the knots of a curve; of equally good ones, that of the highest
    /// threshold.
    pub(super) fn best(self, x: &[f64], y: &[f64]) -> usize {
        let loss = |knot: usize| {
            let (fpr, tpr) = (x[knot], y[knot]);
            match self {
                Self::Slope(slope) => slope * fpr - tpr,
                Self::Corner => fpr * fpr + (1.0 - tpr) * (1.0 - tpr),
                Self::Equal => (tpr - (1.0 - fpr)).abs(),
            }
        };
        let least = (0..x.len()).map(loss).fold(f64::INFINITY, f64::min);
        // What is equal but for rounding is equal.
        let slack = 1e-12 * least.abs().max(1.0);
        (0..x.len()).find(|&knot| loss(knot) <= least + slack).unwrap_or_default()
    }
}

impl RocCurve {
    /// Index of the knot that is best by a criterion; of equally good ones, that of the highest
    /// threshold.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::{Criterion, RocCurve};
    ///
    /// let curve = RocCurve::new(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]).unwrap();
    /// let best = curve.cut_off(Criterion::Slope(1.0));
    /// assert_eq!(curve.thresholds()[best], 0.8);
    /// let best = curve.cut_off(Criterion::Slope(0.1));
    /// assert_eq!(curve.thresholds()[best], 0.35);
    /// ```
    #[must_use]
    pub fn cut_off(&self, criterion: Criterion) -> usize {
        criterion.best(&self.fpr(), &self.tpr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_take_the_highest_threshold_whatever_the_rounding() {
        // TPR less FPR is 0.2 at both inner knots; in floating point it is less at the first.
        let (x, y) = ([0.0, 0.1, 0.3, 1.0], [0.0, 0.3, 0.5, 1.0]);
        assert_eq!(Criterion::Slope(1.0).best(&x, &y), 1);
        // Here it is less at the second.
        let (x, y) = ([0.0, 0.0, 0.1, 1.0], [0.0, 0.2, 0.3, 1.0]);
        assert_eq!(Criterion::Slope(1.0).best(&x, &y), 1);
    }

    #[test]
    fn each_criterion_takes_its_knot() {
        let (x, y) = ([0.0, 0.1, 0.3, 0.6, 1.0], [0.0, 0.5, 0.75, 0.9, 1.0]);
        // 0.45 at the second; distances² 0.26, 0.1525; gaps 0.4, 0.05.
        assert_eq!(Criterion::Slope(1.0).best(&x, &y), 2);
        assert_eq!(Criterion::Slope(2.0).best(&x, &y), 1);
        assert_eq!(Criterion::Corner.best(&x, &y), 2);
        assert_eq!(Criterion::Equal.best(&x, &y), 2);
        assert_eq!(Criterion::Slope(100.0).best(&x, &y), 0);
        assert_eq!(Criterion::Slope(0.0).best(&x, &y), 4);
    }
}
