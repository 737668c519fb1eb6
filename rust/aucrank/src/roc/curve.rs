//! The ROC curve as exact counts.

use super::RocState;
use super::chunks::PARALLEL_FROM;
use super::mass::{Mass, Shifted, Weights, is_few, simplest};
use super::order::in_order;
use super::record::{Record, Words};
use super::sample::{MassOf, ScoreSample, Unweighted, Weigh};
use super::score::{Score, ScoreCoding};
use super::sink::Sink;
use super::sort::sweep;
use crate::data::times_power_of_two;
use crate::{RankError, parallel};

/// Knots of an ROC curve, from (0, 0) to (1, 1), with linear interpolation between them.
///
/// The knot of a threshold counts the rows that score at least as high. Counts are integers (of
/// rows, or of units of weight, with a unit for each class), so that areas and slopes are compared
/// exactly.
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
    /// The exact counts, if they exceed one word; those above are then rounded.
    exact: Option<Box<ExactCounts>>,
    /// Binary exponents of one count of the negative and of the positive class.
    exponents: [i32; 2],
}

/// Counts of two words each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExactCounts {
    pub false_positives: Vec<u128>,
    pub true_positives: Vec<u128>,
}

/// Evaluates an expression with the false and true positive counts of either width.
macro_rules! with_counts {
    ($curve:expr, |$fp:ident, $tp:ident| $body:expr) => {
        match $curve.exact_counts() {
            None => {
                let ($fp, $tp) = ($curve.false_positives(), $curve.true_positives());
                $body
            }
            Some(exact) => {
                let ($fp, $tp) = (&exact.false_positives[..], &exact.true_positives[..]);
                $body
            }
        }
    };
}
pub(super) use with_counts;

impl RocCurve {
    /// One knot for each distinct score.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ, a score is NaN, or a class is absent.
    pub fn new<S: Score>(scores: &[S], positive: &[bool]) -> Result<Self, RankError> {
        Self::with_knots(scores, positive, None, Knots::All)
    }

    /// The curve of weighted rows: weight k counts as k rows, weight 0 as none.
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

    /// The curve of rows with or without weights, with all or only some of its knots.
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
        measure(scores, positive, weights, knots)
    }

    /// A curve from its knots, as returned by the accessors.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`] or [`RankError::BadParameter`] if they are not the knots of a
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
        let exponents = [0; 2];
        Ok(Self { thresholds, false_positives, true_positives, exact: None, exponents })
    }

    fn of_exact(thresholds: Vec<f64>, exact: ExactCounts, exponents: [i32; 2]) -> Self {
        let few = |counts: &[u128]| counts.last().is_none_or(|&all| is_few(all));
        let is_few = few(&exact.false_positives) && few(&exact.true_positives);
        let [false_positives, true_positives] =
            [&exact.false_positives, &exact.true_positives].map(|counts| rounded(counts));
        let exact = (!is_few).then(|| Box::new(exact));
        Self { thresholds, false_positives, true_positives, exact, exponents }
    }

    /// A curve from its knots, as returned by the accessors and [`RocCurve::exact_parts`].
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocCurve::from_counts`]; counts must end below 2^127.
    pub fn from_exact_parts(
        thresholds: Vec<f64>,
        [false_positives, true_positives]: [Vec<u128>; 2],
        exponents: [i32; 2],
    ) -> Result<Self, RankError> {
        let few = |counts: &[u128]| rounded(counts);
        let sorted = [&false_positives, &true_positives].into_iter().all(|counts| {
            counts.is_sorted()
                && counts.first() == Some(&0)
                && counts.last().is_some_and(|&all| all > 0 && all >> 127 == 0)
        });
        if !sorted {
            return Err(RankError::BadParameter {
                name: "counts",
                value: "out of order".to_owned(),
                rule: "counts that rise from 0 to less than 2^127",
            });
        }
        // Checks the remaining conditions.
        Self::from_counts(thresholds.clone(), few(&false_positives), few(&true_positives))?;
        Ok(Self::of_exact(thresholds, ExactCounts { false_positives, true_positives }, exponents))
    }

    /// Unrounded false and true positive counts, and the binary exponents of one count of the
    /// negative and of the positive class.
    #[must_use]
    pub fn exact_parts(&self) -> ([Vec<u128>; 2], [i32; 2]) {
        let counts = with_counts!(self, |fp, tp| [fp, tp].map(in_two_words));
        (counts, self.exponents)
    }

    /// Number of knots.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there are always two knots at least")]
    pub fn len(&self) -> usize {
        self.thresholds.len()
    }

    /// The lowest score counted at each knot; infinity at the first.
    #[must_use]
    pub fn thresholds(&self) -> &[f64] {
        &self.thresholds
    }

    /// Negative rows at or above each threshold, in units of their weights; rounded to 53 bits if
    /// they take more.
    #[must_use]
    pub fn false_positives(&self) -> &[u64] {
        &self.false_positives
    }

    /// Positive rows at or above each threshold, in units of their weights; rounded to 53 bits if
    /// they take more.
    #[must_use]
    pub fn true_positives(&self) -> &[u64] {
        &self.true_positives
    }

    pub(super) fn exact_counts(&self) -> Option<&ExactCounts> {
        self.exact.as_deref()
    }

    pub(super) fn exponents(&self) -> [i32; 2] {
        self.exponents
    }

    /// False positive rate of each knot.
    #[must_use]
    pub fn fpr(&self) -> Vec<f64> {
        with_counts!(self, |fp, _tp| rates(fp))
    }

    /// True positive rate of each knot.
    #[must_use]
    pub fn tpr(&self) -> Vec<f64> {
        with_counts!(self, |_fp, tp| rates(tp))
    }

    /// Weights of the negative and of the positive rows that score at least each threshold: of all
    /// of them at the last knot.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::RocCurve;
    ///
    /// let (scores, positive) = ([0.1, 0.4, 0.4], [false, false, true]);
    /// let curve = RocCurve::weighted(&scores, &positive, &[3.0, 0.5, 2.0]).unwrap();
    /// assert_eq!(curve.weights_above(), [vec![0.0, 0.5, 3.5], vec![0.0, 2.0, 2.0]]);
    /// ```
    #[must_use]
    pub fn weights_above(&self) -> [Vec<f64>; 2] {
        let [neg, pos] = self.exponents();
        with_counts!(self, |fp, tp| [weights(fp, neg), weights(tp, pos)])
    }

    /// Area under the curve, equal to the last bit to [`auc`](super::auc) of the same rows.
    #[must_use]
    pub fn auc(&self) -> f64 {
        self.area_of(self.len())
    }

    /// Area under the first `n_knots` knots, as a share of the unit square.
    pub(super) fn area_of(&self, n_knots: usize) -> f64 {
        with_counts!(self, |fp, tp| area_of(fp, tp, n_knots))
    }

    /// The knots whose index fulfils `keep`.
    pub(super) fn filtered(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.len()).filter(|&knot| keep(knot)).collect();
        Self {
            thresholds: pick(&kept, &self.thresholds),
            false_positives: pick(&kept, &self.false_positives),
            true_positives: pick(&kept, &self.true_positives),
            exact: self.exact.as_ref().map(|exact| {
                Box::new(ExactCounts {
                    false_positives: pick(&kept, &exact.false_positives),
                    true_positives: pick(&kept, &exact.true_positives),
                })
            }),
            exponents: self.exponents,
        }
    }

    /// The same counts at other thresholds, one per knot.
    ///
    /// # Errors
    ///
    /// [`RankError::LengthMismatch`].
    pub fn with_thresholds(mut self, thresholds: Vec<f64>) -> Result<Self, RankError> {
        if thresholds.len() != self.len() {
            let (found, expected) = (thresholds.len(), self.len());
            return Err(RankError::LengthMismatch { name: "thresholds", found, expected });
        }
        self.thresholds = thresholds;
        Ok(self)
    }

    /// The same curve without most of the knots that are collinear with their neighbours, by the
    /// rule of scikit-learn's `drop_intermediate`: a knot is dropped if the steps before and after
    /// it are equal. The first two knots and the last are kept.
    #[must_use]
    pub fn without_intermediate(&self) -> Self {
        let last = self.len() - 1;
        with_counts!(self, |fp, tp| self.filtered(|knot| {
            knot < 2 || knot == last || !(equal_steps(fp, knot) && equal_steps(tp, knot))
        }))
    }
}

/// Masses that can be the counts of a curve.
pub(super) trait CountedMass: Mass {
    fn curve(thresholds: Vec<f64>, counts: [Vec<Self>; 2], exponents: [i32; 2]) -> RocCurve;
}

impl CountedMass for u64 {
    fn curve(thresholds: Vec<f64>, counts: [Vec<Self>; 2], mut exponents: [i32; 2]) -> RocCurve {
        let mut counts = counts;
        for (counts, exponent) in counts.iter_mut().zip(&mut exponents) {
            // Whole numbers are already in simplest form.
            if *exponent != 0 {
                *exponent = simplest(counts, *exponent);
            }
        }
        let [false_positives, true_positives] = counts;
        RocCurve { thresholds, false_positives, true_positives, exact: None, exponents }
    }
}

impl CountedMass for u128 {
    fn curve(
        thresholds: Vec<f64>,
        mut counts: [Vec<Self>; 2],
        mut exponents: [i32; 2],
    ) -> RocCurve {
        for (counts, exponent) in counts.iter_mut().zip(&mut exponents) {
            *exponent = simplest(counts, *exponent);
        }
        let [false_positives, true_positives] = counts;
        RocCurve::of_exact(thresholds, ExactCounts { false_positives, true_positives }, exponents)
    }
}

fn in_two_words<M: Mass>(counts: &[M]) -> Vec<u128> {
    counts.iter().map(|&count| count.into()).collect()
}

fn rates<M: Mass>(counts: &[M]) -> Vec<f64> {
    let all = counts[counts.len() - 1].to_f64();
    counts.iter().map(|count| count.to_f64() / all).collect()
}

fn weights<M: Mass>(counts: &[M], unit: i32) -> Vec<f64> {
    counts.iter().map(|count| times_power_of_two(count.to_f64(), unit)).collect()
}

fn area_of<M: Mass>(fp: &[M], tp: &[M], n_knots: usize) -> f64 {
    let mut twice = M::Product::default();
    for (fp, tp) in fp[..n_knots].windows(2).zip(tp[..n_knots].windows(2)) {
        twice += (fp[1] - fp[0]).times(tp[0] + tp[1]);
    }
    let last = fp.len() - 1;
    M::product_to_f64(twice) / M::half_wins_of(tp[last], fp[last])
}

fn equal_steps<M: Mass>(counts: &[M], knot: usize) -> bool {
    counts[knot] - counts[knot - 1] == counts[knot + 1] - counts[knot]
}

fn pick<T: Copy>(kept: &[usize], values: &[T]) -> Vec<T> {
    kept.iter().map(|&knot| values[knot]).collect()
}

/// Counts shifted so that they end at no more than 2^53; unchanged if they already do.
fn rounded(counts: &[u128]) -> Vec<u64> {
    let all = counts.last().copied().unwrap_or_default();
    let spare = if is_few(all) { 0 } else { u128::BITS - all.leading_zeros() - 53 };
    // All counts are shifted alike, so that they still never fall. Rounded up, the last one is 2^53
    // at most.
    let half = (1_u128 << spare) >> 1;
    counts.iter().map(|count| ((count + half) >> spare) as u64).collect()
}

/// Which knots a curve has.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{Knots, RocCurve};
///
/// let (scores, positive) = ([1.0, 2.0, 3.0, 4.0], [false, false, true, true]);
/// let all = RocCurve::with_knots(&scores, &positive, None, Knots::All)?;
/// assert_eq!(all.thresholds(), [f64::INFINITY, 4.0, 3.0, 2.0, 1.0]);
/// // The knot of 2 is halfway from that of 3, (0, 1), to that of 1, (1, 1).
/// let fewer = RocCurve::with_knots(&scores, &positive, None, Knots::WithoutIntermediate)?;
/// assert_eq!(fewer.thresholds(), [f64::INFINITY, 4.0, 3.0, 1.0]);
/// assert_eq!(fewer.auc(), all.auc());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knots {
    /// One for each distinct score.
    All,
    /// Those kept by [`RocCurve::without_intermediate`].
    WithoutIntermediate,
}

/// A result that is computed from the knots of a curve.
trait FromKnots: Sized {
    /// The form in which a count is kept.
    type Value<M: Mass>: Copy + Default + Send;

    fn value<M: Mass>(count: M, all: M) -> Self::Value<M>;

    /// False and true positive counts come in this order.
    fn from_knots<M: CountedMass>(
        thresholds: Vec<f64>,
        values: [Vec<Self::Value<M>>; 2],
        exponents: [i32; 2],
    ) -> Self;

    fn from_curve(curve: RocCurve) -> Self;
}

impl FromKnots for RocCurve {
    type Value<M: Mass> = M;

    fn value<M: Mass>(count: M, _: M) -> M {
        count
    }

    fn from_knots<M: CountedMass>(
        thresholds: Vec<f64>,
        counts: [Vec<M>; 2],
        exponents: [i32; 2],
    ) -> Self {
        M::curve(thresholds, counts, exponents)
    }

    fn from_curve(curve: Self) -> Self {
        curve
    }
}

impl FromKnots for Rates {
    type Value<M: Mass> = f64;

    fn value<M: Mass>(count: M, all: M) -> f64 {
        count.to_f64() / all.to_f64()
    }

    fn from_knots<M: CountedMass>(
        thresholds: Vec<f64>,
        [fpr, tpr]: [Vec<f64>; 2],
        _: [i32; 2],
    ) -> Self {
        Self { thresholds, fpr, tpr }
    }

    fn from_curve(curve: RocCurve) -> Self {
        let (fpr, tpr) = (curve.fpr(), curve.tpr());
        Self { thresholds: curve.thresholds, fpr, tpr }
    }
}

fn measure<T: FromKnots, S: Score>(
    scores: &[S],
    positive: &[bool],
    weights: Option<&[f64]>,
    knots: Knots,
) -> Result<T, RankError> {
    let Some(weights) = weights else {
        return measure_sample::<T, S, _, S::Key>(
            &ScoreSample::new(scores, positive, Unweighted)?,
            knots,
        );
    };
    match Weights::new(weights, positive)? {
        Weights::Few(few) => measure_sample::<T, S, _, (S::Key, u64)>(
            &ScoreSample::new(scores, positive, few)?,
            knots,
        ),
        Weights::Many(many) => {
            let sample = ScoreSample::new(scores, positive, many)?;
            if many.is_exact {
                return measure_sample::<T, S, _, (S::Key, Shifted)>(&sample, knots);
            }
            let curve = RocState::of_sample(&sample)?.curve()?;
            let is_whole = knots == Knots::All;
            Ok(T::from_curve(if is_whole { curve } else { curve.without_intermediate() }))
        }
    }
}

fn measure_sample<T, S, W, R>(sample: &ScoreSample<'_, S, W>, knots: Knots) -> Result<T, RankError>
where
    T: FromKnots,
    S: Score,
    W: Weigh,
    R: Record<S::Key, Unit = W::Unit, Mass = MassOf<W>>,
    MassOf<W>: CountedMass,
{
    let sinks = sweep::<S, W, R, _>(sample, |coding| Stretch::new(coding, knots));
    // From the highest scores down.
    let stretches: Vec<&Stretch<S, MassOf<W>>> =
        sinks.iter().rev().filter(|stretch| !stretch.runs.is_empty()).collect();
    let written: Vec<Written<'_, S, MassOf<W>>> = (0..stretches.len())
        .map(|i| stretches[i].written(i == 0, stretches.get(i + 1).copied()))
        .collect();
    let n_knots = 1 + written.iter().map(Written::n_knots).sum::<usize>();
    let none = MassOf::<W>::default();
    let mut all = RowTotal::default();
    for stretch in &stretches {
        all.negative += stretch.total.negative;
        all.positive += stretch.total.positive;
    }
    if all.negative == none || all.positive == none {
        let class = if all.positive == none { "positive" } else { "negative" };
        return Err(RankError::ClassWithoutWeight { class });
    }
    let mut thresholds = vec![f64::INFINITY; n_knots];
    let mut values = [0, 1].map(|_| vec![T::Value::<MassOf<W>>::default(); n_knots]);

    // Each stretch writes to its own range, starting from the counts of those above it.
    let mut above = RowTotal::default();
    let [false_positives, true_positives] = &mut values;
    let mut rest = KnotSlots {
        thresholds: &mut thresholds[1..],
        false_positives: &mut false_positives[1..],
        true_positives: &mut true_positives[1..],
    };
    let mut tasks = Vec::with_capacity(written.len());
    for part in &written {
        let (slots, after) = rest.split_at(part.n_knots());
        tasks.push((part, above, slots));
        rest = after;
        above.negative += part.stretch.total.negative;
        above.positive += part.stretch.total.positive;
    }
    let least = if sample.scores.len() >= PARALLEL_FROM { 8 } else { usize::MAX };
    parallel::map_with(
        tasks,
        least,
        || (),
        |(), (part, above, out)| {
            part.write::<T>(all, above, out);
        },
    );
    Ok(T::from_knots(thresholds, values, sample.weights.exponents()))
}

/// Rates of the knots of a curve alone, in less time and memory than a [`RocCurve`].
///
/// # Examples
///
/// ```
/// use aucrank::roc::{Knots, Rates};
///
/// let rates = Rates::new(&[0.1, 0.4, 0.4], &[false, false, true], None, Knots::All).unwrap();
/// assert_eq!(rates.thresholds, [f64::INFINITY, 0.4, 0.1]);
/// assert_eq!((rates.fpr, rates.tpr), (vec![0.0, 0.5, 1.0], vec![0.0, 1.0, 1.0]));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// The lowest score counted at each knot; infinity at the first.
    pub thresholds: Vec<f64>,
    /// False positive rates.
    pub fpr: Vec<f64>,
    /// True positive rates.
    pub tpr: Vec<f64>,
}

impl Rates {
    /// Rates of [`RocCurve::with_knots`].
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocCurve::weighted`].
    pub fn new<S: Score>(
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
        knots: Knots,
    ) -> Result<Self, RankError> {
        measure(scores, positive, weights, knots)
    }
}

/// Weights of some rows.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct RowTotal<M> {
    negative: M,
    positive: M,
}

/// A distinct score or, if intermediate knots are dropped, consecutive scores with equal weights.
#[derive(Debug, Clone, Copy, Default)]
struct ScoreRun<K, M> {
    /// Code of the lowest score.
    lowest: K,
    /// Weights of the rows of the same stretch that score less.
    below: RowTotal<M>,
}

/// A sink that collects the runs of a range of scores, ascending.
struct Stretch<S: Score, M> {
    coding: ScoreCoding<S>,
    knots: Knots,
    runs: Vec<ScoreRun<S::Key, M>>,
    total: RowTotal<M>,
    /// Weights at each score of the lowest and of the highest run.
    at: [RowTotal<M>; 2],
    /// Code of the highest score.
    highest: S::Key,
}

impl<S: Score, M: Mass> Stretch<S, M> {
    fn new(coding: ScoreCoding<S>, knots: Knots) -> Self {
        let at = [RowTotal::default(); 2];
        let highest = S::Key::default();
        Self { coding, knots, runs: Vec::new(), total: RowTotal::default(), at, highest }
    }

    /// The knots of this stretch, if `next` has the next lower scores.
    fn written(&self, is_first: bool, next: Option<&Self>) -> Written<'_, S, M> {
        let ends_in_run = self.runs.last().is_some_and(|run| run.lowest < self.highest);
        // The very first knot is kept, even if the step after it is equal.
        let has_top = is_first && self.knots == Knots::WithoutIntermediate && ends_in_run;
        // A run that goes on in the next stretch has its knot there, at its lowest score. If it is
        // all of the first stretch, the knot is the second of the curve, which is kept.
        let is_joined = self.knots == Knots::WithoutIntermediate
            && next.is_some_and(|next| next.at[1] == self.at[0])
            && (!is_first || has_top || self.runs.len() > 1);
        Written { stretch: self, has_top, runs: &self.runs[usize::from(is_joined)..] }
    }

    /// Adds the rows of a score above all so far. Returns its run, and whether that is a new one.
    #[inline]
    fn add(&mut self, code: S::Key, at: RowTotal<M>) -> (ScoreRun<S::Key, M>, bool) {
        let run = ScoreRun { lowest: code, below: self.total };
        if self.total == RowTotal::default() {
            self.at[0] = at;
        }
        // No score is without weight, so that the first one starts a run.
        let is_new = self.knots == Knots::All || self.at[1] != at;
        self.at[1] = at;
        self.highest = code;
        self.total.negative += at.negative;
        self.total.positive += at.positive;
        (run, is_new)
    }
}

impl<S: Score, M: Mass> Sink<S::Key, M> for Stretch<S, M> {
    type Scratch = Vec<ScoreRun<S::Key, M>>;

    fn tie(&mut self, code: S::Key, positive: M, negative: M) {
        let (run, is_new) = self.add(code, RowTotal { negative, positive });
        if is_new {
            self.runs.push(run);
        }
    }

    fn rows<R: Record<S::Key, Mass = M>>(
        &mut self,
        rows: &mut [R],
        scratch: &mut [R],
        place: (Words, S::Key),
        runs: &mut Vec<ScoreRun<S::Key, M>>,
    ) {
        // Every score writes its run, and the next one overwrites it if it was not new: no branch
        // depends on the classes.
        runs.resize(runs.len().max(rows.len()), ScoreRun::default());
        let mut n_runs = 0;
        in_order(rows, scratch, place, |code, positive, negative| {
            let (run, is_new) = self.add(code, RowTotal { negative, positive });
            runs[n_runs] = run;
            n_runs += usize::from(is_new);
        });
        self.runs.extend_from_slice(&runs[..n_runs]);
    }
}

/// Destinations of knots.
struct KnotSlots<'a, V> {
    thresholds: &'a mut [f64],
    false_positives: &'a mut [V],
    true_positives: &'a mut [V],
}

impl<V> KnotSlots<'_, V> {
    /// The first slots, and all others.
    fn split_at(self, n: usize) -> (Self, Self) {
        let (thresholds, thresholds_after) = self.thresholds.split_at_mut(n);
        let (false_positives, fps_after) = self.false_positives.split_at_mut(n);
        let (true_positives, tps_after) = self.true_positives.split_at_mut(n);
        let after = KnotSlots {
            thresholds: thresholds_after,
            false_positives: fps_after,
            true_positives: tps_after,
        };
        (KnotSlots { thresholds, false_positives, true_positives }, after)
    }
}

/// A stretch whose knots are known.
struct Written<'a, S: Score, M> {
    stretch: &'a Stretch<S, M>,
    /// Whether the highest score has a knot of its own.
    has_top: bool,
    /// Runs that have a knot.
    runs: &'a [ScoreRun<S::Key, M>],
}

impl<S: Score, M: Mass> Written<'_, S, M> {
    fn n_knots(&self) -> usize {
        self.runs.len() + usize::from(self.has_top)
    }

    fn write<T: FromKnots>(
        &self,
        all: RowTotal<M>,
        above: RowTotal<M>,
        slots: KnotSlots<'_, T::Value<M>>,
    ) {
        let KnotSlots { thresholds, false_positives, true_positives } = slots;
        let Stretch { coding, total, at: [_, top], highest, .. } = self.stretch;
        if self.has_top {
            thresholds[0] = coding.score(*highest).into();
            false_positives[0] = T::value(above.negative + top.negative, all.negative);
            true_positives[0] = T::value(above.positive + top.positive, all.positive);
        }
        let (negative, positive) =
            (above.negative + total.negative, above.positive + total.positive);
        let first = usize::from(self.has_top);
        let places = thresholds[first..].iter_mut().zip(&mut false_positives[first..]);
        let places = places.zip(&mut true_positives[first..]);
        for (((threshold, fp), tp), run) in places.zip(self.runs.iter().rev()) {
            *threshold = coding.score(run.lowest).into();
            *fp = T::value(negative - run.below.negative, all.negative);
            *tp = T::value(positive - run.below.positive, all.positive);
        }
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

    #[test]
    fn knots_are_dropped_across_the_ranges_that_rows_are_sorted_in() {
        let n = 100_000_u64;
        let number = |row: u64| row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let scores: Vec<f64> = (0..n).map(|row| number(row) as f64 - 1e13).collect();
        // Long runs of one class, short ones, and many scores at which rows of both tie.
        for (divisor, n_distinct) in [(1_u64 << 38, u64::MAX), (1 << 20, u64::MAX), (1 << 30, 5000)]
        {
            let tied: Vec<f64> =
                scores.iter().map(|score| score.rem_euclid(n_distinct as f64)).collect();
            let positive: Vec<bool> = (0..n).map(|row| number(row) / divisor % 3 == 0).collect();
            let all = RocCurve::new(&tied, &positive).unwrap().without_intermediate();
            for n_threads in [1, 2] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                let found = pool.install(|| {
                    RocCurve::with_knots(&tied, &positive, None, Knots::WithoutIntermediate)
                });
                assert_eq!(found.as_ref(), Ok(&all));
                let rates = Rates::new(&tied, &positive, None, Knots::WithoutIntermediate).unwrap();
                assert_eq!((rates.fpr, rates.tpr), (all.fpr(), all.tpr()));
                assert_eq!(rates.thresholds, all.thresholds);
            }
        }
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
