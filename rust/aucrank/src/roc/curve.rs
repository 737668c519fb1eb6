//! The ROC curve as exact counts.

use rayon::prelude::*;

use super::sample::{Fixed, PARALLEL_FROM, Sample, Unweighted, Weigh};
use super::score::{Coding, Score};
use super::sort::{Record, Sink, for_ties, sweep};
use crate::RankError;

/// Knots of an ROC curve, from (0, 0) to (1, 1); between them it is linear.
///
/// The knot of a threshold counts the rows that score at least as high. Counts stay whole numbers
/// (of rows, or of units of weight), so that areas and slopes are compared exactly.
///
/// # Examples
///
/// ```
/// use aucrank::roc::RocCurve;
///
/// let curve = RocCurve::new(&[0.1, 0.4, 0.4], &[false, false, true]).unwrap();
/// assert_eq!(curve.thresholds(), [f64::INFINITY, 0.4, 0.1]);
/// assert_eq!((curve.fpr(), curve.tpr()), (vec![0.0, 0.5, 1.0], vec![0.0, 1.0, 1.0]));
/// assert_eq!(curve.auc(), 0.75);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RocCurve {
    thresholds: Vec<f64>,
    false_positives: Vec<u64>,
    true_positives: Vec<u64>,
}

impl RocCurve {
    /// One knot for each distinct score.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ, a score is NaN, or a class is absent.
    pub fn new<S: Score>(scores: &[S], positive: &[bool]) -> Result<Self, RankError> {
        Self::with_knots(scores, positive, None, Knots::All)
    }

    /// The curve of rows with weights: weight k counts as k rows, weight 0 as none.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocCurve::new`], and if a weight is negative, NaN or infinite, or a
    /// class has no weight.
    pub fn weighted<S: Score>(
        scores: &[S],
        positive: &[bool],
        weights: &[f64],
    ) -> Result<Self, RankError> {
        Self::with_knots(scores, positive, Some(weights), Knots::All)
    }

    /// The curve of rows with or without weights, with all of its knots or fewer.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocCurve::weighted`].
    pub fn with_knots<S: Score>(
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
        knots: Knots,
    ) -> Result<Self, RankError> {
        if let Some(weights) = weights {
            let weights = Fixed::new(weights, positive.len())?;
            let sample = Sample::new(scores, positive, weights)?;
            return Self::of::<S, _, (S::Key, u64)>(&sample, knots);
        }
        Self::of::<S, _, S::Key>(&Sample::new(scores, positive, Unweighted)?, knots)
    }

    /// A curve from its knots, as the accessors gave them.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`] or [`RankError::BadParameter`] if they are not those of a
    /// curve: counts that start at 0, never fall, and end above 0 and at no more than 2^53.
    pub fn from_counts(
        thresholds: Vec<f64>,
        false_positives: Vec<u64>,
        true_positives: Vec<u64>,
    ) -> Result<Self, RankError> {
        for (name, counts) in
            [("false_positives", &false_positives), ("true_positives", &true_positives)]
        {
            if counts.len() != thresholds.len() {
                let (found, expected) = (counts.len(), thresholds.len());
                return Err(RankError::LengthMismatch { name, found, expected });
            }
            let ends = (counts.first().copied(), counts.last().copied());
            let whole = matches!(ends, (Some(0), Some(last)) if last > 0 && last <= 1 << 53);
            if !(whole && counts.is_sorted()) {
                return Err(RankError::BadParameter {
                    name,
                    value: format!("{ends:?} at its ends"),
                    rule: "counts that rise from 0 to at most 2^53",
                });
            }
        }
        Ok(Self { thresholds, false_positives, true_positives })
    }

    fn of<S: Score, W: Weigh, R: Record<S::Key>>(
        sample: &Sample<'_, S, W>,
        knots: Knots,
    ) -> Result<Self, RankError> {
        let sinks =
            sweep::<S, W, R, _>(sample, |coding| Groups { coding, knots, found: Vec::new() });
        // From the highest scores down.
        let parts: Vec<&[Group<S>]> = sinks
            .iter()
            .rev()
            .map(|sink| &sink.found[..])
            .filter(|part| !part.is_empty())
            .collect();
        let stretches: Vec<Stretch<'_, S>> = (0..parts.len())
            .map(|i| Stretch {
                groups: parts[i],
                next: parts.get(i + 1).and_then(|part| part.last()),
                is_first: i == 0,
                knots,
            })
            .collect();
        let parallel = sample.scores.len() >= PARALLEL_FROM;
        let totals: Vec<Total> = if parallel {
            stretches.par_iter().map(Stretch::total).collect()
        } else {
            stretches.iter().map(Stretch::total).collect()
        };
        let n_knots = 1 + totals.iter().map(|total| total.n_knots).sum::<usize>();
        let mut curve = Self {
            thresholds: vec![f64::INFINITY; n_knots],
            false_positives: vec![0; n_knots],
            true_positives: vec![0; n_knots],
        };

        // Each stretch has its own place, and begins with the counts of those above it.
        let mut above = Total::default();
        let mut rest = (
            &mut curve.thresholds[1..],
            &mut curve.false_positives[1..],
            &mut curve.true_positives[1..],
        );
        let mut tasks = Vec::with_capacity(stretches.len());
        for (stretch, total) in stretches.iter().zip(totals) {
            let (thresholds, fps, tps) = rest;
            let (thresholds, thresholds_after) = thresholds.split_at_mut(total.n_knots);
            let (fps, fps_after) = fps.split_at_mut(total.n_knots);
            let (tps, tps_after) = tps.split_at_mut(total.n_knots);
            tasks.push((stretch, above, (thresholds, fps, tps)));
            rest = (thresholds_after, fps_after, tps_after);
            above.negative += total.negative;
            above.positive += total.positive;
        }
        if above.negative == 0 || above.positive == 0 {
            let class = if above.positive == 0 { "positive" } else { "negative" };
            return Err(RankError::ClassWithoutWeight { class });
        }
        if parallel {
            tasks.into_par_iter().with_min_len(8).for_each(|(s, above, out)| s.write(above, out));
        } else {
            for (stretch, above, out) in tasks {
                stretch.write(above, out);
            }
        }
        Ok(curve)
    }

    fn push(&mut self, threshold: f64, false_positives: u64, true_positives: u64) {
        self.thresholds.push(threshold);
        self.false_positives.push(false_positives);
        self.true_positives.push(true_positives);
    }

    /// Number of knots.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there are always two knots at least")]
    pub fn len(&self) -> usize {
        self.thresholds.len()
    }

    /// Score from which on a row counts at each knot; infinity at the first.
    #[must_use]
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// Negative rows at or above each threshold, in units of weight.
    #[must_use]
    pub fn false_positives(&self) -> &[u64] {
        &self.false_positives
    }

    /// Positive rows at or above each threshold, in units of weight.
    #[must_use]
    pub fn true_positives(&self) -> &[u64] {
        &self.true_positives
    }

    /// False positive rate of each knot.
    #[must_use]
    pub fn fpr(&self) -> Vec<f64> {
        rates(&self.false_positives)
    }

    /// True positive rate of each knot.
    #[must_use]
    pub fn tpr(&self) -> Vec<f64> {
        rates(&self.true_positives)
    }

    /// Area under the curve: equal, to the last bit, to [`auc`](super::auc) of the same rows.
    #[must_use]
    pub fn auc(&self) -> f64 {
        self.twice_area(self.len()) as f64 / self.twice_whole()
    }

    /// Twice the area under the first `n_knots` knots, in pairs of units.
    pub(super) fn twice_area(&self, n_knots: usize) -> u128 {
        let (fp, tp) = (&self.false_positives[..n_knots], &self.true_positives[..n_knots]);
        fp.windows(2)
            .zip(tp.windows(2))
            .map(|(fp, tp)| u128::from(fp[1] - fp[0]) * u128::from(tp[0] + tp[1]))
            .sum()
    }

    /// Twice the area of the unit square, in pairs of units.
    pub(super) fn twice_whole(&self) -> f64 {
        let last = self.len() - 1;
        let pairs = u128::from(self.false_positives[last]) * u128::from(self.true_positives[last]);
        (2 * pairs) as f64
    }

    /// The knots whose index fulfils `keep`.
    pub(super) fn filtered(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        let mut kept = Self {
            thresholds: Vec::new(),
            false_positives: Vec::new(),
            true_positives: Vec::new(),
        };
        for knot in (0..self.len()).filter(|&knot| keep(knot)) {
            let (fp, tp) = (self.false_positives[knot], self.true_positives[knot]);
            kept.push(self.thresholds[knot], fp, tp);
        }
        kept
    }

    /// The same curve without most of the knots that lie on a line with their neighbours, by the
    /// rule of scikit-learn's `drop_intermediate`: a knot goes when the steps before and after it
    /// are equal. The first two knots and the last stay.
    #[must_use]
    pub fn without_intermediate(&self) -> Self {
        let last = self.len() - 1;
        let equal_steps = |counts: &[u64], knot: usize| {
            counts[knot] - counts[knot - 1] == counts[knot + 1] - counts[knot]
        };
        self.filtered(|knot| {
            knot < 2
                || knot == last
                || !(equal_steps(&self.false_positives, knot)
                    && equal_steps(&self.true_positives, knot))
        })
    }
}

fn rates(counts: &[u64]) -> Vec<f64> {
    let all = counts[counts.len() - 1] as f64;
    counts.iter().map(|&count| count as f64 / all).collect()
}

/// Which knots a curve has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knots {
    /// One for each distinct score.
    All,
    /// Those that [`RocCurve::without_intermediate`] leaves.
    WithoutIntermediate,
}

/// Rows and knots of a part of a curve.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    negative: u64,
    positive: u64,
    n_knots: usize,
}

/// Consecutive distinct scores, ascending, on the way to knots.
struct Stretch<'a, S> {
    groups: &'a [Group<S>],
    /// The highest scores below.
    next: Option<&'a Group<S>>,
    is_first: bool,
    knots: Knots,
}

impl<S: Score> Stretch<'_, S> {
    /// Steps of the curve from the highest score down: the score at the end of each, what it adds to
    /// the counts of both classes, and whether it ends in a knot.
    fn walk(&self) -> impl Iterator<Item = Step<S>> {
        let top = self.groups.last().filter(|_| self.is_first).filter(|top| top.n_scores > 1);
        // The first knot of all stays, though the step after it is equal.
        let first = top.map(|top| Step {
            score: top.highest,
            positive: top.positive,
            negative: top.negative,
            has_knot: true,
        });
        let others = (0..self.groups.len()).rev().map(move |i| {
            let group = &self.groups[i];
            let below = if i == 0 { self.next } else { Some(&self.groups[i - 1]) };
            let is_first = self.is_first && i + 1 == self.groups.len() && first.is_none();
            let same_step = below.is_some_and(|below| {
                (below.positive, below.negative) == (group.positive, group.negative)
            });
            let done = u64::from(i + 1 == self.groups.len() && first.is_some());
            let n_scores = group.n_scores - done;
            Step {
                score: group.lowest,
                positive: group.positive * n_scores,
                negative: group.negative * n_scores,
                has_knot: self.knots == Knots::All || is_first || !same_step,
            }
        });
        first.into_iter().chain(others)
    }

    fn total(&self) -> Total {
        self.walk().fold(Total::default(), |total, step| Total {
            negative: total.negative + step.negative,
            positive: total.positive + step.positive,
            n_knots: total.n_knots + usize::from(step.has_knot),
        })
    }

    fn write(
        &self,
        above: Total,
        (thresholds, false_positives, true_positives): (&mut [f64], &mut [u64], &mut [u64]),
    ) {
        let Total { negative: mut fp, positive: mut tp, .. } = above;
        let mut knot = 0;
        for step in self.walk() {
            fp += step.negative;
            tp += step.positive;
            if step.has_knot {
                thresholds[knot] = step.score.into();
                (false_positives[knot], true_positives[knot]) = (fp, tp);
                knot += 1;
            }
        }
    }
}

/// A step of a curve.
#[derive(Clone, Copy)]
struct Step<S> {
    score: S,
    positive: u64,
    negative: u64,
    has_knot: bool,
}

/// One distinct score; where intermediate knots are left out, neighbours with as many rows too.
struct Group<S> {
    lowest: S,
    highest: S,
    n_scores: u64,
    /// Rows of each of the scores.
    positive: u64,
    negative: u64,
}

/// Collects the distinct scores of a range.
struct Groups<S: Score> {
    coding: Coding<S>,
    knots: Knots,
    found: Vec<Group<S>>,
}

impl<S: Score> Sink<S::Key> for Groups<S> {
    fn tie(&mut self, code: S::Key, positive: u64, negative: u64) {
        let score = self.coding.score(code);
        if let Some(last) = self.found.last_mut()
            && self.knots == Knots::WithoutIntermediate
            && (last.positive, last.negative) == (positive, negative)
        {
            last.highest = score;
            last.n_scores += 1;
            return;
        }
        self.found.push(Group { lowest: score, highest: score, n_scores: 1, positive, negative });
    }

    fn range<R: Record<S::Key>>(&mut self, rows: &mut [R], _: usize, top: S::Key) {
        rows.sort_unstable_by_key(|row| row.word());
        for_ties(rows, top, |code, positive, negative| self.tie(code, positive, negative));
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rates at or above each distinct score, by counting.
    fn knots_by_counting(scores: &[f64], positive: &[bool]) -> Vec<(f64, u64, u64)> {
        let mut thresholds = scores.to_vec();
        thresholds.sort_by(|a, b| b.total_cmp(a));
        thresholds.dedup();
        let count = |t: f64, class: bool| {
            scores.iter().zip(positive).filter(|&(&s, &p)| s >= t && p == class).count() as u64
        };
        let knots = thresholds.into_iter().map(|t| (t, count(t, false), count(t, true)));
        std::iter::once((f64::INFINITY, 0, 0)).chain(knots).collect()
    }

    fn knots(curve: &RocCurve) -> Vec<(f64, u64, u64)> {
        (0..curve.len())
            .map(|k| (curve.thresholds[k], curve.false_positives[k], curve.true_positives[k]))
            .collect()
    }

    pub(in crate::roc) fn samples() -> impl Strategy<Value = (Vec<f64>, Vec<bool>)> {
        prop::collection::vec((-9..9_i8, any::<bool>()), 0..60).prop_map(|rows| {
            let (mut scores, mut positive) = (vec![1.0, 0.0], vec![true, false]);
            scores.extend(rows.iter().map(|row| f64::from(row.0)));
            positive.extend(rows.iter().map(|row| row.1));
            (scores, positive)
        })
    }

    #[test]
    fn a_curve_comes_back_from_its_counts() {
        let curve = RocCurve::new(&[0.1, 0.4, 0.4], &[false, false, true]).unwrap();
        let parts = (curve.thresholds.clone(), vec![0, 1, 2], vec![0, 1, 1]);
        assert_eq!(RocCurve::from_counts(parts.0, parts.1, parts.2), Ok(curve));
        for counts in [vec![0, 2, 1], vec![1, 1, 2], vec![0, 0, 0], vec![0, 1, 1 << 54], vec![0]] {
            let thresholds = vec![f64::INFINITY, 0.4, 0.1];
            assert!(RocCurve::from_counts(thresholds, counts, vec![0, 1, 1]).is_err());
        }
        assert!(RocCurve::from_counts(vec![], vec![], vec![]).is_err());
    }

    #[test]
    fn a_class_without_weight_has_no_curve() {
        let curve = RocCurve::weighted(&[0.0, 1.0], &[false, true], &[1.0, 0.0]);
        assert_eq!(curve, Err(RankError::ClassWithoutWeight { class: "positive" }));
    }

    proptest! {
        #[test]
        fn knots_are_counts_above_each_score((scores, positive) in samples()) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            prop_assert_eq!(knots(&curve), knots_by_counting(&scores, &positive));
        }

        #[test]
        fn dropping_knots_keeps_the_area((scores, positive) in samples()) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            let fewer = curve.without_intermediate();
            prop_assert!(fewer.len() <= curve.len());
            let at_once =
                RocCurve::with_knots(&scores, &positive, None, Knots::WithoutIntermediate);
            prop_assert_eq!(at_once.as_ref(), Ok(&fewer));
            prop_assert_eq!(fewer.auc(), curve.auc());
        }

        #[test]
        fn the_whole_standardised_area_is_the_auc((scores, positive) in samples()) {
            let curve = RocCurve::new(&scores, &positive).unwrap();
            prop_assert_eq!(curve.standardized_auc(1.0), Ok(curve.auc()));
            let nearly = curve.standardized_auc(1.0 - 1e-12).unwrap();
            prop_assert!((nearly - curve.auc()).abs() < 1e-9);
        }
    }
}
