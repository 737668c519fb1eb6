//! Interpolation on a curve, and the distance between two curves.

use super::RocCurve;
use crate::RankError;

/// The metric of the distance between two curves (Clémençon and Vayatis, "Approximation of the
/// optimal ROC curve and a tree-based ranking algorithm", 2008, sec. 2.3).
///
/// # Examples
///
/// ```
/// use aucrank::roc::{Norm, RocCurve};
///
/// let positive = [false, false, true, true];
/// let perfect = RocCurve::new(&[1.0, 2.0, 3.0, 4.0], &positive)?;
/// let diagonal = RocCurve::new(&[0.0; 4], &positive)?;
/// // Areas of 1 and of 1/2; at a false positive rate of 0 the curves are at 1 and at 0.
/// assert_eq!(perfect.distance(&diagonal, Norm::L1), 0.5);
/// assert_eq!(perfect.distance(&diagonal, Norm::Linf), 1.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// Area between the curves: if they do not cross, the difference of their AUCs.
    L1,
    /// Largest difference of the true positive rates at the same false positive rate.
    Linf,
}

impl RocCurve {
    /// Highest true positive rate at each false positive rate, linear between knots.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] for a rate outside of [0, 1].
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocCurve;
    ///
    /// let curve = RocCurve::new(&[0.1, 0.4, 0.4], &[false, false, true]).unwrap();
    /// assert_eq!(curve.tpr_at(&[0.0, 0.25, 1.0]), Ok(vec![0.0, 0.5, 1.0]));
    /// ```
    pub fn tpr_at(&self, fpr: &[f64]) -> Result<Vec<f64>, RankError> {
        check_rates("fpr", fpr)?;
        let (x, y) = (self.fpr(), self.tpr());
        Ok(fpr.iter().map(|&rate| highest_at(&x, &y, rate)).collect())
    }

    /// Lowest false positive rate that reaches each true positive rate, linear between knots.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] for a rate outside of [0, 1].
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocCurve;
    ///
    /// let curve = RocCurve::new(&[0.1, 0.4, 0.4], &[false, false, true]).unwrap();
    /// assert_eq!(curve.fpr_at(&[0.0, 0.5, 1.0]), Ok(vec![0.0, 0.25, 0.5]));
    /// ```
    pub fn fpr_at(&self, tpr: &[f64]) -> Result<Vec<f64>, RankError> {
        check_rates("tpr", tpr)?;
        let (x, y) = (self.fpr(), self.tpr());
        Ok(tpr.iter().map(|&rate| leftmost_at(&x, &y, rate)).collect())
    }

    /// Distance from this curve to another, exact for piecewise linear curves.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::{Norm, RocCurve};
    ///
    /// let perfect = RocCurve::new(&[0.0, 1.0], &[false, true]).unwrap();
    /// let chance = RocCurve::new(&[0.0, 0.0], &[false, true]).unwrap();
    /// assert_eq!(perfect.distance(&chance, Norm::L1), 0.5);
    /// assert_eq!(perfect.distance(&chance, Norm::Linf), 1.0);
    /// ```
    #[must_use]
    pub fn distance(&self, other: &Self, norm: Norm) -> f64 {
        let curves = [(self.fpr(), self.tpr()), (other.fpr(), other.tpr())];
        // The current segment of each curve.
        let mut segments = [0, 0];
        let (mut left, mut distance) = (0.0, 0.0_f64);
        while left < 1.0 {
            for (segment, (x, _)) in segments.iter_mut().zip(&curves) {
                while x[*segment + 1] <= left {
                    *segment += 1;
                }
            }
            let [a, b] = segments;
            let right = curves[0].0[a + 1].min(curves[1].0[b + 1]);
            let gap = |at: f64| {
                on_segment(&curves[0].0, &curves[0].1, a, at)
                    - on_segment(&curves[1].0, &curves[1].1, b, at)
            };
            let ends = [gap(left), gap(right)];
            distance = match norm {
                Norm::L1 => distance + area_between(ends) * (right - left),
                Norm::Linf => distance.max(ends[0].abs()).max(ends[1].abs()),
            };
            left = right;
        }
        distance
    }
}

/// Mean of |gap| over an interval where the gap is linear, from its values at the ends.
fn area_between([left, right]: [f64; 2]) -> f64 {
    let sum = left.abs() + right.abs();
    if left * right < 0.0 {
        // Two triangles, one on either side of the crossing.
        0.5 * (left * left + right * right) / sum
    } else {
        0.5 * sum
    }
}

/// Highest point at `rate` of the line through the knots, which rises from (0, 0) to (1, 1).
pub(super) fn highest_at(x: &[f64], y: &[f64], rate: f64) -> f64 {
    // The last of the knots at this rate is the highest.
    let beyond = x.partition_point(|&knot| knot <= rate);
    if beyond == x.len() { 1.0 } else { on_segment(x, y, beyond - 1, rate) }
}

/// Leftmost point at the height `rate` of the line through the knots.
pub(super) fn leftmost_at(x: &[f64], y: &[f64], rate: f64) -> f64 {
    // The first of the knots at this rate is the leftmost.
    let reached = y.partition_point(|&knot| knot < rate);
    if reached == 0 { 0.0 } else { on_segment(y, x, reached - 1, rate) }
}

/// The line through the knots `segment` and `segment + 1`, at `at`.
fn on_segment(x: &[f64], y: &[f64], segment: usize, at: f64) -> f64 {
    let share = (at - x[segment]) / (x[segment + 1] - x[segment]);
    let [low, high] = [y[segment], y[segment + 1]];
    // Exact at both ends and monotone, which a weighted mean is not after rounding.
    if share >= 1.0 { high } else { (low + share * (high - low)).min(high) }
}

pub(super) fn check_rates(name: &'static str, rates: &[f64]) -> Result<(), RankError> {
    match rates.iter().find(|rate| !(0.0..=1.0).contains(*rate)) {
        None => Ok(()),
        Some(rate) => {
            Err(RankError::BadParameter { name, value: rate.to_string(), rule: "between 0 and 1" })
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::curve::tests::samples;

    fn curve(fp: &[u64], tp: &[u64]) -> RocCurve {
        RocCurve::from_counts(vec![0.0; fp.len()], fp.to_vec(), tp.to_vec()).unwrap()
    }

    #[test]
    fn crossing_curves_have_the_distance_of_a_hand_calculation() {
        // (0,0) (0,1/2) (1,1) and (0,0) (1/2,1/2) (1/2,1) (1,1): they meet at x = 1/2.
        let a = curve(&[0, 0, 2], &[0, 1, 2]);
        let b = curve(&[0, 1, 1, 2], &[0, 1, 2, 2]);
        // Gaps 1/2 -> 1/4 on the left half, 1/4 -> 0 on the right one.
        assert_eq!(a.distance(&b, Norm::L1), 0.1875 + 0.0625);
        assert_eq!(a.distance(&b, Norm::Linf), 0.5);
        // Lines 1/4 + x/2 (after a jump) and x^... cut in the middle of a segment.
        let c = curve(&[0, 0, 4, 4], &[0, 1, 3, 4]);
        let chance = curve(&[0, 1], &[0, 1]);
        // |1/4 - x/2| over [0, 1]: two triangles with base 1/2 and height 1/4.
        assert_eq!(c.distance(&chance, Norm::L1), 0.125);
        assert_eq!(c.distance(&chance, Norm::Linf), 0.25);
    }

    #[test]
    fn rates_outside_of_the_square_are_refused() {
        let chance = curve(&[0, 1], &[0, 1]);
        for rate in [-0.1, 1.1, f64::NAN] {
            let message = chance.tpr_at(&[0.5, rate]).unwrap_err().to_string();
            assert!(message.starts_with("fpr is ") && message.contains("between 0 and 1"));
            assert!(chance.fpr_at(&[rate]).is_err());
        }
    }

    proptest! {
        #[test]
        fn knots_lie_on_the_curve((scores, positive) in samples()) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            let (fpr, tpr) = (curve.fpr(), curve.tpr());
            let highest: Vec<f64> = fpr
                .iter()
                .map(|x| fpr.iter().zip(&tpr).filter(|k| k.0 == x).map(|k| *k.1).fold(0., f64::max))
                .collect();
            let leftmost: Vec<f64> = tpr
                .iter()
                .map(|y| tpr.iter().zip(&fpr).filter(|k| k.0 == y).map(|k| *k.1).fold(1., f64::min))
                .collect();
            prop_assert_eq!(curve.tpr_at(&fpr), Ok(highest));
            prop_assert_eq!(curve.fpr_at(&tpr), Ok(leftmost));
        }

        #[test]
        fn the_curve_never_falls((scores, positive) in samples(), n_rates in 2..200_u32) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            let rates: Vec<f64> =
                (0..=n_rates).map(|i| f64::from(i) / f64::from(n_rates)).collect();
            for found in [curve.tpr_at(&rates).unwrap(), curve.fpr_at(&rates).unwrap()] {
                prop_assert!(found.is_sorted(), "{:?}", found);
                prop_assert!(found.iter().all(|rate| (0.0..=1.0).contains(rate)), "{:?}", found);
            }
        }

        #[test]
        fn distance_to_the_hull_is_the_area_gained((scores, positive) in samples()) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            let hull = curve.hull();
            let l1 = curve.distance(&hull, Norm::L1);
            prop_assert!((l1 - (hull.auc() - curve.auc())).abs() < 1e-12);
            prop_assert_eq!(l1, hull.distance(&curve, Norm::L1));
            prop_assert!(curve.distance(&hull, Norm::Linf) >= l1 - 1e-12);
            prop_assert_eq!(curve.distance(&curve, Norm::L1), 0.0);
        }

        #[test]
        fn distance_is_what_a_fine_grid_approaches(a in samples(), b in samples()) {
            let a = RocCurve::new(&a.0, &a.1).unwrap();
            let b = RocCurve::new(&b.0, &b.1).unwrap();
            let grid: Vec<f64> = (0..20_000).map(|i| (f64::from(i) + 0.5) / 20_000.0).collect();
            let (ya, yb) = (a.tpr_at(&grid).unwrap(), b.tpr_at(&grid).unwrap());
            let gaps = || ya.iter().zip(&yb).map(|(a, b)| (a - b).abs());
            let mean = gaps().sum::<f64>() / 20_000.0;
            prop_assert!((a.distance(&b, Norm::L1) - mean).abs() < 1e-2);
            prop_assert!((a.distance(&b, Norm::Linf) - gaps().fold(0.0, f64::max)).abs() < 1e-2);
        }
    }
}
