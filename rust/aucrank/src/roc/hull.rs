//! The upper concave hull of a curve, reached by mixtures of thresholds.

use super::RocCurve;
use super::curve::with_counts;
use super::mass::Mass;

impl RocCurve {
    /// Upper concave hull: the ROC curve after the best monotone transformation of the scores,
    /// which may tie some of them (Fawcett and Niculescu-Mizil, 2007).
    ///
    /// Its knots are its vertices: collinear knots are dropped. Slopes are compared exactly, as
    /// products of counts.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocCurve;
    ///
    /// let curve = RocCurve::new(&[4.0, 3.0, 2.0, 1.0], &[true, false, true, false]).unwrap();
    /// assert_eq!(curve.hull().thresholds(), [f64::INFINITY, 4.0, 2.0, 1.0]);
    /// assert_eq!(curve.hull().auc(), 0.875);
    /// ```
    #[must_use]
    pub fn hull(&self) -> Self {
        let corners = with_counts!(self, |fp, tp| corners(fp, tp));
        let mut corners = corners.into_iter().peekable();
        self.filtered(|knot| corners.next_if_eq(&knot).is_some())
    }
}

fn corners<M: Mass>(fp: &[M], tp: &[M]) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for knot in 0..fp.len() {
        while let [.., before, corner] = corners[..] {
            // On or below the line from `before` to `knot`.
            let rise = |a: usize, b: usize| tp[b] - tp[a];
            let run = |a: usize, b: usize| fp[b] - fp[a];
            // Products of counts, not slopes: a vertical step has no slope, and a rounded quotient
            // would keep or drop collinear knots by its last bit (DECISIONS R9). A knot is popped
            // once at most, so all of it takes O(n).
            if rise(before, corner).times(run(corner, knot))
                > rise(corner, knot).times(run(before, corner))
            {
                break;
            }
            corners.pop();
        }
        corners.push(knot);
    }
    corners
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::curve::tests::samples;

    /// A knot is a vertex if no line between two other knots passes at or above it.
    fn is_corner(fp: &[u64], tp: &[u64], knot: usize) -> bool {
        let (x, y) = (i128::from(fp[knot]), i128::from(tp[knot]));
        (0..knot).all(|a| {
            (knot + 1..fp.len()).all(|b| {
                let (xa, ya) = (i128::from(fp[a]), i128::from(tp[a]));
                let (xb, yb) = (i128::from(fp[b]), i128::from(tp[b]));
                (y - ya) * (xb - xa) > (yb - ya) * (x - xa)
            })
        })
    }

    proptest! {
        #[test]
        fn the_corners_are_those_above_every_chord((scores, positive) in samples()) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            let (fp, tp) = (curve.false_positives(), curve.true_positives());
            let expected = curve.filtered(|knot| is_corner(fp, tp, knot));
            let hull = curve.hull();
            prop_assert_eq!(&hull, &expected);
            prop_assert_eq!(&hull.hull(), &hull);
        }
    }

    #[test]
    fn products_of_the_greatest_counts_do_not_overflow() {
        let top = 1_u64 << 53;
        let knots = vec![f64::INFINITY, 3.0, 2.0, 1.0];
        let curve =
            RocCurve::from_counts(knots, vec![0, 1, top / 2, top], vec![0, 2, top / 2, top]);
        assert_eq!(curve.unwrap().hull().false_positives(), [0, 1, top]);
    }
}
