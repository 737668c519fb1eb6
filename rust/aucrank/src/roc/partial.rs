//! Partial areas under the curve.

use super::compare::{highest_at, leftmost_at};
use super::curve::with_counts;
use super::mass::Mass;
use super::{RocCurve, auc, weighted_auc};
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
    /// `standardize` maps it to 1/2 for the diagonal and 1 for a perfect curve: `(1 + (area -
    /// least) / (greatest - least)) / 2`, where `least` is the area below the diagonal within the
    /// bands and `greatest` that of the bands, `(b - a) * (d - c)`.
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
pub(super) struct CurvePart {
    pub fpr: [f64; 2],
    pub tpr: [f64; 2],
}

impl CurvePart {
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
    let CurvePart { fpr: [low, high], .. } = CurvePart::of(x, y, fpr, tpr);
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

/// Checks a share of the negative rows.
pub(crate) fn check_max_fpr(max_fpr: f64) -> Result<(), RankError> {
    if max_fpr > 0.0 && max_fpr <= 1.0 {
        return Ok(());
    }
    Err(RankError::BadParameter {
        name: "max_fpr",
        value: max_fpr.to_string(),
        rule: "above 0 and at most 1",
    })
}

/// Fraction by which the other negative rows count. With 0, rows enter and leave the share from
/// round to round, and the loss of those outside rises: of 0, 0.1, 0.2, 0.3, 0.5 and 0.7, this one
/// gave the highest partial AUC (`benches/studies/partial_auc.py`, on folds of another seed).
const LEAST_PART: f64 = 0.3;

/// Fraction by which each negative row counts if only the highest matter: in full up to a share of
/// the weight of all, from the highest score down, and in part below. All rows of the score at
/// which the share ends count alike, so that the order of the rows does not matter.
///
/// Of all choices of rows of that share, this one gives the greatest sum of a function that rises
/// with the score. So the weighted sum of a convex function of the scores that rises with each is
/// the maximum of convex sums, and convex itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TopNegatives {
    /// The score at which the share ends, and the fraction of its rows.
    score: f64,
    part: f64,
}

impl TopNegatives {
    /// Of negative rows given as score and weight, in any order, at least one of positive weight;
    /// O(n).
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    pub(crate) fn of(mut rows: Vec<(f64, u64)>, max_fpr: f64) -> Self {
        let weight =
            |rows: &[(f64, u64)]| -> u128 { rows.iter().map(|row| u128::from(row.1)).sum() };
        let limit = max_fpr * weight(&rows) as f64;
        // The row at which the weight from the top reaches the limit, by halves.
        let (mut above, mut rest) = (0, &mut rows[..]);
        while rest.len() > 1 {
            let middle = rest.len() / 2;
            rest.select_nth_unstable_by(middle, |a, b| b.0.total_cmp(&a.0));
            let (high, low) = rest.split_at_mut(middle);
            let more = above + weight(high);
            if (more as f64) < limit {
                (above, rest) = (more, low);
            } else {
                rest = high;
            }
        }
        let score = rest[0].0;
        let (mut above, mut tied) = (0, 0);
        for &(other, weight) in &rows {
            if other > score {
                above += u128::from(weight);
            } else if other == score {
                tied += u128::from(weight);
            }
        }
        let within = ((limit - above as f64) / tied as f64).min(1.0);
        Self { score, part: at_least(within) }
    }

    /// The share of the weight of all rows that counts: 1 if all are to count in full.
    pub(crate) fn share(max_fpr: f64) -> f64 {
        at_least(max_fpr)
    }

    /// The fraction of a row of this score that counts.
    #[inline]
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    pub(crate) fn part(self, score: f64) -> f64 {
        if score > self.score {
            1.0
        } else if score == self.score {
            self.part
        } else {
            LEAST_PART
        }
    }
}

/// The fraction for rows of which `within` is inside the share, and the rest below.
fn at_least(within: f64) -> f64 {
    LEAST_PART * (1.0 - within) + within
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
    fn invalid_bands_and_bands_below_the_diagonal_are_refused() {
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

#[cfg(test)]
mod tests_of_top_negatives {
    use proptest::prelude::*;

    use super::*;

    /// The definition: in full from the top until the share is reached, each group of ties at once.
    fn parts_by_sorting(rows: &[(f64, u64)], max_fpr: f64) -> Vec<f64> {
        let total: u64 = rows.iter().map(|row| row.1).sum();
        let of_row = |&(score, _): &(f64, u64)| {
            let sum = |is_in: &dyn Fn(f64) -> bool| -> u64 {
                rows.iter().filter(|row| is_in(row.0)).map(|row| row.1).sum()
            };
            let (above, tied) = (sum(&|other| other > score), sum(&|other| other == score));
            let within = ((max_fpr * total as f64 - above as f64) / tied as f64).clamp(0.0, 1.0);
            0.3 * (1.0 - within) + within
        };
        rows.iter().map(of_row).collect()
    }

    fn rows() -> impl Strategy<Value = Vec<(f64, u64)>> {
        prop::collection::vec((-4_i32..5, 1_u64..6), 1..40).prop_map(|rows| {
            let score = |level: i32| if level == 0 { -0.0 } else { f64::from(level % 3) * 0.5 };
            rows.into_iter().map(|(level, weight)| (score(level), weight)).collect()
        })
    }

    proptest! {
        #[test]
        fn rows_count_in_full_from_the_highest_score_up_to_the_share(
            rows in rows(), max_fpr in prop_oneof![Just(0.25), Just(0.5), 0.001..1.0]
        ) {
            let top = TopNegatives::of(rows.clone(), max_fpr);
            for (found, expected) in rows.iter().map(|row| top.part(row.0)).zip(parts_by_sorting(&rows, max_fpr)) {
                prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
            }
        }

        #[test]
        fn order_does_not_matter_and_weights_are_copies(rows in rows(), max_fpr in 0.01..1.0) {
            let found = TopNegatives::of(rows.clone(), max_fpr);
            let copies = rows.iter().rev().flat_map(|&(score, n)| (0..n).map(move |_| (score, 1)));
            let copied = TopNegatives::of(copies.collect(), max_fpr);
            prop_assert_eq!(found.part(0.5).to_bits(), copied.part(0.5).to_bits());
            prop_assert_eq!(found, copied);
        }
    }

    #[test]
    fn a_share_is_above_0_and_at_most_1() {
        assert_eq!(check_max_fpr(1.0), Ok(()));
        for bad in [0.0, -0.1, 1.5, f64::NAN] {
            let message = check_max_fpr(bad).unwrap_err().to_string();
            assert!(message.starts_with("max_fpr is"), "{message}");
        }
    }
}
