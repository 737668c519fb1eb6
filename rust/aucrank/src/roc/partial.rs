//! Partial areas under the curve.

use super::RocCurve;
use super::compare::{highest_at, leftmost_at};
use super::curve::with_counts;
use super::mass::Mass;
use super::top_negatives::check_max_fpr;
use super::{auc, weighted_auc};
use crate::RankError;

impl RocCurve {
    /// Area below the curve within a band `fpr` of false positive rates and a band `tpr` of true
    /// positive rates: with bands `[a, b]` and `[c, d]`, the integral of
    /// `min(max(TPR(f), c), d) - c` over f from a to b.
    ///
    /// If `tpr` is [0, 1], it is the usual partial area (McClish, 1989); if `fpr` is [0, 1], the
    /// area of specificity over a band of sensitivities (Jiang, Metz and Nishikawa, 1996); with
    /// `[0, b]` and `[c, 1]`, the two-way partial AUC (Yang, Lu, Lyu and Hu, 2019).
    ///
    /// `standardize` maps it to 1/2 for the diagonal and 1 for a perfect curve:
    /// `(1 + (area - least) / (greatest - least)) / 2`, where `least` is the area below the diagonal
    /// within the bands and `greatest` that of the bands, `(b - a) * (d - c)`.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] unless `0 <= a < b <= 1` and `0 <= c < d <= 1`, and if an area
    /// cannot be standardised because the bands lie below the diagonal (`d <= a`).
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocCurve;
    ///
    /// let curve = RocCurve::new(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]).unwrap();
    /// let all = [0.0, 1.0];
    /// assert_eq!(curve.partial_auc([0.0, 0.5], all, false), Ok(0.25));
    /// assert_eq!(curve.partial_auc(all, [0.5, 1.0], false), Ok(0.25));
    /// assert_eq!(curve.partial_auc([0.0, 0.75], [0.5, 1.0], false), Ok(0.125));
    /// ```
    pub fn partial_auc(
        &self,
        fpr: [f64; 2],
        tpr: [f64; 2],
        standardize: bool,
    ) -> Result<f64, RankError> {
        self.partial_area(|rate| self.area_up_to(rate), fpr, tpr, standardize)
    }

    /// [`RocCurve::partial_auc`] for a curve with some of its knots, given the area under all of it
    /// from 0 to a rate.
    pub(super) fn partial_area(
        &self,
        area_up_to: impl Fn(f64) -> f64,
        fpr: [f64; 2],
        tpr: [f64; 2],
        standardize: bool,
    ) -> Result<f64, RankError> {
        check_bands(fpr, tpr)?;
        let ([a, b], [c, d]) = (fpr, tpr);
        // Where the curve enters and leaves the band of true positive rates.
        let enters = if c > 0.0 { self.fpr_at(&[c])?[0] } else { 0.0 };
        let leaves = if d < 1.0 { self.fpr_at(&[d])?[0] } else { 1.0 };
        let (low, high) = (enters.clamp(a, b), leaves.clamp(a, b));
        let within = area_up_to(high) - area_up_to(low) - c * (high - low);
        let area = (within + (d - c) * (b - high)).max(0.0);
        if !standardize {
            return Ok(area);
        }
        // The same area for the diagonal.
        let (low, high) = (c.clamp(a, b), d.clamp(a, b));
        let least = (high - low) * (0.5 * (high + low) - c) + (d - c) * (b - high);
        let greatest = (b - a) * (d - c);
        if d <= a {
            return Err(RankError::BadParameter {
                name: "tpr",
                value: format!("({c}, {d})"),
                rule: "above fpr somewhere: below the diagonal there is nothing to standardize by",
            });
        }
        // Rounding must not lift a perfect score above 1.
        Ok((0.5 * (1.0 + (area - least) / (greatest - least))).min(1.0))
    }

    /// Area under the curve up to `max_fpr`, standardised to be 1/2 for uninformative scores and 1
    /// for perfect ones (McClish, 1989).
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
        check_max_fpr(max_fpr)?;
        if max_fpr >= 1.0 {
            return Ok(self.auc());
        }
        self.partial_auc([0.0, max_fpr], [0.0, 1.0], true)
    }

    /// Area under the curve from 0 to `fpr`; exact except for the last, partial segment.
    fn area_up_to(&self, fpr: f64) -> f64 {
        let (beyond, cut) = self.cut_segment(fpr);
        self.area_of(beyond) + cut
    }

    /// The number of knots up to a false positive rate, and the area from the last of them to that
    /// rate.
    pub(super) fn cut_segment(&self, fpr: f64) -> (usize, f64) {
        with_counts!(self, |fp, tp| cut_segment(fp, tp, fpr))
    }
}

/// [`RocCurve::standardized_auc`] of scores, whose rows may have weights.
pub(crate) fn auc_up_to(
    max_fpr: f64,
    scores: &[f64],
    positive: &[bool],
    weights: Option<&[f64]>,
) -> Result<f64, RankError> {
    match weights {
        None if max_fpr >= 1.0 => auc(scores, positive),
        None => RocCurve::new(scores, positive)?.standardized_auc(max_fpr),
        Some(weights) if max_fpr >= 1.0 => weighted_auc(scores, positive, weights),
        Some(weights) => RocCurve::weighted(scores, positive, weights)?.standardized_auc(max_fpr),
    }
}

pub(super) fn check_bands(fpr: [f64; 2], tpr: [f64; 2]) -> Result<(), RankError> {
    for (name, [low, high]) in [("fpr", fpr), ("tpr", tpr)] {
        if !(0.0 <= low && low < high && high <= 1.0) {
            return Err(RankError::BadParameter {
                name,
                value: format!("({low}, {high})"),
                rule: "a band (low, high) with 0 <= low < high <= 1",
            });
        }
    }
    Ok(())
}

/// The part of a curve within two bands of rates: false positive rates from `fpr[0]` to `fpr[1]`,
/// over which it climbs from `tpr[0]` to `tpr[1]`. Left of it the curve is below the band of true
/// positive rates, right of it, above.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Part {
    pub fpr: [f64; 2],
    pub tpr: [f64; 2],
}

impl Part {
    /// The part of the curve through these knots, for bands that have been checked.
    pub fn of(x: &[f64], y: &[f64], [a, b]: [f64; 2], [c, d]: [f64; 2]) -> Self {
        let enters = if c > 0.0 { leftmost_at(x, y, c) } else { 0.0 };
        let leaves = if d < 1.0 { leftmost_at(x, y, d) } else { 1.0 };
        let height = |rate| highest_at(x, y, rate).clamp(c, d);
        Self {
            fpr: [enters.clamp(a, b), leaves.clamp(a, b)],
            // Where the curve enters or leaves on a jump, the jump goes on outside of the band.
            tpr: [if enters > a { c } else { height(a) }, if leaves < b { d } else { height(b) }],
        }
    }
}

/// [`RocCurve::partial_auc`] of the curve through knots that are rates, for bands that have been
/// checked.
pub(super) fn area_of_rates(x: &[f64], y: &[f64], fpr: [f64; 2], tpr: [f64; 2]) -> f64 {
    let ([_, b], [c, d]) = (fpr, tpr);
    let Part { fpr: [low, high], .. } = Part::of(x, y, fpr, tpr);
    let first = x.partition_point(|&knot| knot <= low).max(1) - 1;
    let mut area = (d - c) * (b - high);
    for segment in first..x.len() - 1 {
        if x[segment] >= high {
            break;
        }
        let run = x[segment + 1] - x[segment];
        let (left, right) = (x[segment].max(low), x[segment + 1].min(high));
        if right > left {
            let slope = (y[segment + 1] - y[segment]) / run;
            let middle = y[segment] + slope * (0.5 * (left + right) - x[segment]);
            area += (right - left) * (middle - c);
        }
    }
    area.max(0.0)
}

fn cut_segment<M: Mass>(fp: &[M], tp: &[M], fpr: f64) -> (usize, f64) {
    let (n_neg, n_pos) = (fp[fp.len() - 1].to_f64(), tp[tp.len() - 1].to_f64());
    let beyond = fp.partition_point(|&count| count.to_f64() / n_neg <= fpr);
    if beyond == fp.len() {
        return (beyond, 0.0);
    }
    let (low, high) = (beyond - 1, beyond);
    let run = fpr - fp[low].to_f64() / n_neg;
    let slope = (tp[high] - tp[low]).to_f64() / (fp[high] - fp[low]).to_f64() * n_neg / n_pos;
    (beyond, run * (tp[low].to_f64() / n_pos + 0.5 * run * slope))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::curve::tests::samples;

    /// The definition: heights of the clipped curve at the midpoints of a fine grid that contains
    /// the knots and the ends of the bands. A cut segment is linear, so this is exact except for
    /// the grid cells in which the curve crosses an end of `tpr`.
    fn area_by_sum(curve: &RocCurve, [a, b]: [f64; 2], [c, d]: [f64; 2]) -> f64 {
        let n = 20_000_u32;
        let mid: Vec<f64> =
            (0..n).map(|i| a + (b - a) * (f64::from(i) + 0.5) / f64::from(n)).collect();
        let heights = curve.tpr_at(&mid).unwrap();
        let sum: f64 = heights.iter().map(|tpr| tpr.clamp(c, d) - c).sum();
        sum * (b - a) / f64::from(n)
    }

    fn band() -> impl Strategy<Value = [f64; 2]> {
        prop_oneof![
            Just([0.0, 1.0]),
            (0.0..1.0, 0.0..1.0)
                .prop_filter("empty", |(u, v): &(f64, f64)| (u - v).abs() > 0.01)
                .prop_map(|(u, v)| [u.min(v), u.max(v)]),
        ]
    }

    #[test]
    fn bands_that_are_none_or_lie_below_the_diagonal_are_refused() {
        let curve = RocCurve::new(&[0.0, 1.0], &[false, true]).unwrap();
        let all = [0.0, 1.0];
        for bad in [[0.5, 0.5], [0.6, 0.5], [-0.1, 0.5], [0.5, 1.1], [f64::NAN, 1.0]] {
            assert!(curve.partial_auc(bad, all, false).is_err());
            assert!(curve.partial_auc(all, bad, false).is_err());
        }
        assert_eq!(curve.partial_auc([0.5, 1.0], [0.0, 0.5], false), Ok(0.25));
        assert!(curve.partial_auc([0.5, 1.0], [0.0, 0.5], true).is_err());
    }

    proptest! {
        #[test]
        fn equals_the_integral_of_the_clipped_curve(
            (scores, positive) in samples(), fpr in band(), tpr in band(),
        ) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            let area = curve.partial_auc(fpr, tpr, false).unwrap();
            prop_assert!((area - area_by_sum(&curve, fpr, tpr)).abs() < 1e-3);
            let of_rates = area_of_rates(&curve.fpr(), &curve.tpr(), fpr, tpr);
            prop_assert!((area - of_rates).abs() < 1e-12);
        }

        #[test]
        fn bands_that_fit_together_add_up((scores, positive) in samples(), cut in 0.01..0.99) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            let [left, right, all] = [[0.0, cut], [cut, 1.0], [0.0, 1.0]];
            let area = |fpr, tpr| curve.partial_auc(fpr, tpr, false).unwrap();
            prop_assert_eq!(area(all, all), curve.auc());
            for parts in [
                area(left, all) + area(right, all),
                area(all, left) + area(all, right),
                area(left, left) + area(left, right) + area(right, left) + area(right, right),
            ] {
                prop_assert!((parts - curve.auc()).abs() < 1e-12);
            }
        }

        #[test]
        fn the_diagonal_is_a_half_and_a_perfect_curve_one(
            [fpr, tpr] in [band(), band()].prop_filter("below", |[fpr, tpr]| tpr[1] > fpr[0] + 0.01)
        ) {
            let chance = RocCurve::new(&[0.0, 0.0], &[false, true]).unwrap();
            let perfect = RocCurve::new(&[0.0, 1.0], &[false, true]).unwrap();
            prop_assert!((chance.partial_auc(fpr, tpr, true).unwrap() - 0.5).abs() < 1e-9);
            prop_assert!((perfect.partial_auc(fpr, tpr, true).unwrap() - 1.0).abs() < 1e-9);
        }
    }
}
