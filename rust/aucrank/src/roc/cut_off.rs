//! The best threshold of a score, given the costs of the two kinds of error.

use super::RocCurve;
use super::mass::FewBits;
use super::record::Record;
use super::sample::{MassOf, ScoreSample, Unweighted, Weigh};
use super::score::{Score, ScoreCoding};
use super::sink::Sink;
use super::sort::sweep;
use crate::RankError;
use crate::data::{ClassSums, Labels, midpoint};

/// Criterion of the best threshold.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{CutOffCriterion, RocCurve};
///
/// let positive = [false, false, false, false, true, true];
/// let curve = RocCurve::new(&[1.0, 2.0, 3.0, 5.0, 4.0, 6.0], &positive).unwrap();
/// // At 4 both positive rows are found, and one negative row of four is taken for one.
/// assert_eq!(curve.thresholds()[curve.cut_off(CutOffCriterion::Slope(1.0))], 4.0);
/// // Where a false positive costs much, only the row at the top is called positive.
/// assert_eq!(curve.thresholds()[curve.cut_off(CutOffCriterion::Slope(9.0))], 6.0);
/// assert_eq!(curve.thresholds()[curve.cut_off(CutOffCriterion::Corner)], 4.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CutOffCriterion {
    /// Greatest `TPR - slope * FPR`. Slope 1 is Youden's index; if a false positive costs `c` and a
    /// false negative `d`, and a share `p` of the rows is positive, slope `c (1 - p) / (d p)` makes
    /// the mean cost least (Metz, 1978).
    Slope(f64),
    /// Least distance to the corner of no error, (0, 1).
    Corner,
    /// Sensitivity and specificity as close as can be.
    Equal,
    /// Greatest sensitivity where the specificity is at least so much.
    Sensitivity {
        /// Least specificity.
        specificity: f64,
    },
    /// Greatest precision where the recall is at least so much.
    Precision {
        /// Least recall.
        recall: f64,
        /// Share of positive rows.
        prevalence: f64,
    },
    /// Greatest F score, the weighted harmonic mean of precision and recall.
    FBeta {
        /// How many times as much the recall counts.
        beta: f64,
        /// Share of positive rows.
        prevalence: f64,
    },
    /// Greatest correlation of the label and the call (Matthews, 1975).
    Matthews {
        /// Share of positive rows.
        prevalence: f64,
    },
    /// Greatest sensitivity where at most a share of the rows is called positive.
    Capacity {
        /// Greatest share of rows.
        share: f64,
        /// Share of positive rows.
        prevalence: f64,
    },
}

/// A bound counts as kept if it is missed by no more than rounding.
const ROUNDING: f64 = 1e-12;

impl CutOffCriterion {
    /// Index of the best of the knots of a curve; of equally good ones, that of the highest
    /// threshold.
    pub(super) fn best(self, x: &[f64], y: &[f64]) -> usize {
        let loss = |knot: usize| self.loss(x[knot], y[knot]);
        let least = (0..x.len()).map(loss).fold(f64::INFINITY, f64::min);
        // Values that differ only by rounding are equal.
        let slack = ROUNDING * least.abs().max(1.0);
        (0..x.len()).find(|&knot| loss(knot) <= least + slack).unwrap_or_default()
    }

    /// What is made least; infinite where a bound is missed.
    fn loss(self, fpr: f64, tpr: f64) -> f64 {
        // Shares of all rows: called positive, rightly and wrongly.
        let shares = |prevalence: f64| (prevalence * tpr, (1.0 - prevalence) * fpr);
        let (is_kept, loss) = match self {
            Self::Slope(slope) => (true, slope * fpr - tpr),
            Self::Corner => (true, fpr * fpr + (1.0 - tpr) * (1.0 - tpr)),
            Self::Equal => (true, (tpr - (1.0 - fpr)).abs()),
            Self::Sensitivity { specificity } => (1.0 - fpr >= specificity - ROUNDING, -tpr),
            Self::Precision { recall, prevalence } => {
                let (right, wrong) = shares(prevalence);
                // Without a row called positive there is no precision.
                let called = right + wrong;
                (tpr >= recall - ROUNDING && called > 0.0, -right / called)
            }
            Self::FBeta { beta, prevalence } => {
                let (right, wrong) = shares(prevalence);
                // 1 / (1 + errors / right), where the rows missed count beta² times.
                let missed = beta * beta * (prevalence - right);
                let weight = (1.0 + beta * beta) * right;
                (true, if weight > 0.0 { -weight / (weight + missed + wrong) } else { 0.0 })
            }
            Self::Matthews { prevalence } => {
                let (right, wrong) = shares(prevalence);
                let called = right + wrong;
                let spread = called * (1.0 - called);
                let covariance = (1.0 - prevalence) * right - prevalence * wrong;
                let deviation = (spread * prevalence * (1.0 - prevalence)).sqrt();
                (true, if deviation > 0.0 { -covariance / deviation } else { 0.0 })
            }
            Self::Capacity { share, prevalence } => {
                let (right, wrong) = shares(prevalence);
                (right + wrong <= share + ROUNDING, -tpr)
            }
        };
        if is_kept { loss } else { f64::INFINITY }
    }
}

impl RocCurve {
    /// Index of the knot that is best by a criterion; of equally good ones, that of the highest
    /// threshold.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::{CutOffCriterion, RocCurve};
    ///
    /// let curve = RocCurve::new(&[0.1, 0.4, 0.35, 0.8], &[false, false, true, true]).unwrap();
    /// let best = curve.cut_off(CutOffCriterion::Slope(1.0));
    /// assert_eq!(curve.thresholds()[best], 0.8);
    /// let best = curve.cut_off(CutOffCriterion::Slope(0.1));
    /// assert_eq!(curve.thresholds()[best], 0.35);
    /// ```
    #[must_use]
    pub fn cut_off(&self, criterion: CutOffCriterion) -> usize {
        criterion.best(&self.fpr(), &self.tpr())
    }
}

/// The cut that maximises TPR - FPR: the midpoint of the scores on its two sides, and the highest
/// such cut if several are best.
///
/// Rows of weight zero do not contribute. If all scores are equal, the cut is that score.
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
    match labels.weights() {
        None => {
            let sample = ScoreSample::new(scores, labels.positive(), Unweighted)?;
            Ok(cut::<_, <f64 as Score>::Key>(&sample, labels.total()))
        }
        Some(weights) => {
            let units: Vec<f64> = weights.units().iter().map(|&units| units as f64).collect();
            let sample = ScoreSample::new(scores, labels.positive(), FewBits::whole(&units))?;
            Ok(cut::<_, (<f64 as Score>::Key, u64)>(&sample, labels.total()))
        }
    }
}

fn cut<W: Weigh, R>(sample: &ScoreSample<'_, f64, W>, total: ClassSums) -> f64
where
    R: Record<<f64 as Score>::Key, Unit = W::Unit, Mass = MassOf<W>>,
    Gaps: Sink<<f64 as Score>::Key, MassOf<W>>,
{
    let parts = sweep::<f64, W, R, _>(sample, |coding| Gaps {
        coding,
        n_pos: total.pos.into(),
        n_neg: total.neg.into(),
        below: 0,
        last: None,
        best: None,
    });
    // Below the lowest score every row is called positive, where TPR - FPR is 0.
    let (mut below, mut last) = (0, f64::NEG_INFINITY);
    let mut best: Option<(i128, f64)> = None;
    for part in parts {
        if let Some((gap, low, high)) = part.best {
            let gap = below + gap;
            // Of equal gaps, the highest cut.
            if gap > 0 && best.is_none_or(|(largest, _)| gap >= largest) {
                best = Some((gap, midpoint(low.unwrap_or(last), high)));
            }
        }
        below += part.below;
        last = part.last.unwrap_or(last);
    }
    best.map_or(last, |(_, cut)| cut)
}

/// The largest TPR - FPR among the scores of a range, in units of `1/PN`.
struct Gaps {
    coding: ScoreCoding<f64>,
    n_pos: i128,
    n_neg: i128,
    /// Contribution of the rows so far to the gap at higher scores.
    below: i128,
    last: Option<f64>,
    /// The largest gap relative to the start of the range; the score below the cut, if it is in the
    /// range, and the score above it.
    best: Option<(i128, Option<f64>, f64)>,
}

impl Sink<<f64 as Score>::Key, u64> for Gaps {
    type Scratch = ();

    fn tie(&mut self, code: <f64 as Score>::Key, positive: u64, negative: u64) {
        let score = self.coding.score(code);
        if self.best.is_none_or(|(largest, ..)| self.below >= largest) {
            self.best = Some((self.below, self.last, score));
        }
        self.below += i128::from(negative) * self.n_pos - i128::from(positive) * self.n_neg;
        self.last = Some(score);
    }
}

/// The curve of the rows of positive weight, one knot per distinct score, in units of weight.
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

    #[test]
    fn ties_take_the_highest_threshold_whatever_the_rounding() {
        // TPR less FPR is 0.2 at both inner knots; in floating point it is less at the first.
        let (x, y) = ([0.0, 0.1, 0.3, 1.0], [0.0, 0.3, 0.5, 1.0]);
        assert_eq!(CutOffCriterion::Slope(1.0).best(&x, &y), 1);
        // Here it is less at the second.
        let (x, y) = ([0.0, 0.0, 0.1, 1.0], [0.0, 0.2, 0.3, 1.0]);
        assert_eq!(CutOffCriterion::Slope(1.0).best(&x, &y), 1);
    }

    #[test]
    fn each_criterion_takes_its_knot() {
        let (x, y) = ([0.0, 0.1, 0.3, 0.6, 1.0], [0.0, 0.5, 0.75, 0.9, 1.0]);
        // 0.45 at the second; distances² 0.26, 0.1525; gaps 0.4, 0.05.
        assert_eq!(CutOffCriterion::Slope(1.0).best(&x, &y), 2);
        assert_eq!(CutOffCriterion::Slope(2.0).best(&x, &y), 1);
        assert_eq!(CutOffCriterion::Corner.best(&x, &y), 2);
        assert_eq!(CutOffCriterion::Equal.best(&x, &y), 2);
        assert_eq!(CutOffCriterion::Slope(100.0).best(&x, &y), 0);
        assert_eq!(CutOffCriterion::Slope(0.0).best(&x, &y), 4);
    }

    #[test]
    fn bounds_are_kept_and_a_share_of_positives_counts() {
        let (x, y) = ([0.0, 0.1, 0.3, 0.6, 1.0], [0.0, 0.5, 0.75, 0.9, 1.0]);
        let best = |criterion: CutOffCriterion| criterion.best(&x, &y);
        for (specificity, expected) in [(1.0, 0), (0.9, 1), (0.71, 1), (0.7, 2), (0.0, 4)] {
            assert_eq!(best(CutOffCriterion::Sensitivity { specificity }), expected);
        }
        // Precisions of 1/2: 5/6, 5/7, 3/5, 1/2.
        for (recall, expected) in [(0.0, 1), (0.5, 1), (0.6, 2), (0.76, 3), (1.0, 4)] {
            assert_eq!(best(CutOffCriterion::Precision { recall, prevalence: 0.5 }), expected);
        }
        // Called: .3, .525, .75, 1 of the rows; with one positive row in ten .14, .345, ...
        for (share, prevalence, expected) in
            [(0.2, 0.5, 0), (0.2, 0.1, 1), (0.525, 0.5, 2), (0.35, 0.1, 2), (1.0, 0.1, 4)]
        {
            assert_eq!(best(CutOffCriterion::Capacity { share, prevalence }), expected);
        }
        // F1 .625, .732, .72, .667; F2 .543, .743, .818, .833; F1 of one in ten .417, .337, ...
        let f = |beta, prevalence| CutOffCriterion::FBeta { beta, prevalence };
        assert_eq!([best(f(1.0, 0.5)), best(f(2.0, 0.5)), best(f(1.0, 0.1))], [2, 4, 1]);
        // Correlations .436, .451, .346, 0; of one in ten .346, .284, .186.
        let matthews = |prevalence| CutOffCriterion::Matthews { prevalence };
        assert_eq!([best(matthews(0.5)), best(matthews(0.1))], [2, 1]);
    }
}

#[cfg(test)]
mod tests_of_cut {
    use super::*;
    use crate::data::mix;

    /// The definition: TPR - FPR at every cut between two scores, the highest cut first.
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
    fn equals_the_definition_on_more_rows_than_one_range_holds() {
        for (n, n_values) in [(3000, 40), (3000, 1 << 20), (200_000, 1000)] {
            let draw = |row: usize, seed: u64| mix(row as u64 ^ seed << 32) % n_values;
            let scores: Vec<f64> = (0..n).map(|row| draw(row, 1) as f64 - 17.5).collect();
            let positive: Vec<bool> =
                (0..n).map(|row| draw(row, 2) + draw(row, 1) / 2 > n_values / 2).collect();
            let weights: Vec<f64> = (0..n).map(|row| (draw(row, 3) % 3) as f64).collect();
            for weights in [None, Some(&weights[..])] {
                let labels = Labels::new(&positive, weights).unwrap();
                let curve = curve_of(&scores, &labels).unwrap();
                let (fps, tps) = (curve.false_positives(), curve.true_positives());
                let last = fps.len() - 1;
                let gap = |knot: usize| {
                    i128::from(tps[knot]) * i128::from(fps[last])
                        - i128::from(fps[knot]) * i128::from(tps[last])
                };
                let best = (1..last).rev().max_by_key(|&knot| gap(knot)).unwrap();
                let thresholds = curve.thresholds();
                let expected = midpoint(thresholds[best + 1], thresholds[best]);
                assert_eq!(largest_gap(&scores, &labels), Ok(expected), "{n} rows");
            }
        }
    }

    #[test]
    fn rows_without_weight_do_not_matter() {
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
        // If the ranking is reversed, nothing is called positive.
        assert_eq!(largest_gap(&[1.0, 2.0], &labels), Ok(2.0));
    }
}
