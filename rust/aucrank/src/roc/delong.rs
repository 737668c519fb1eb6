//! Variance of the AUC and covariance of several AUCs on the same rows, from placement values.
//!
//! The placement value of a positive row is the share of the negative rows that it outranks, ties
//! counting one half; that of a negative row is the share of the positive rows that outrank it. The
//! AUC is the mean of either kind, and their variances give its variance (`DeLong`, `DeLong` and
//! Clarke-Pearson, 1988). One sort per model gives all of them (Sun and Xu, 2014), where the
//! definition compares every pair.
//!
//! Without weights, sums of placement values and of their products are integers, so that nothing is
//! lost when squares of means are subtracted. For one unweighted model the placement values are not
//! even stored: their sums are computed range by range, like the pairs of [`auc`](super::auc()).

use super::chunks::PARALLEL_FROM;
use super::descend::descend;
use super::mass::{Mass, Unit, Weights};
use super::record::{Record, Words};
use super::sample::{MassOf, ScoreSample, Unweighted, Weigh};
use super::score::{Score, Word};
use super::sink::{RangeSink, Sink};
use super::sort::sweep;
use crate::RankError;

use crate::parallel::prelude::*;

/// AUCs of one or more models on the same rows, with their covariance matrix.
///
/// # Examples
///
/// ```
/// use aucrank::roc::DeLong;
///
/// let positive = [false, false, true, true];
/// let delong = DeLong::new(&[&[0.1, 0.4, 0.35, 0.8]], &positive).unwrap();
/// assert_eq!(delong.aucs(), [0.75]);
/// // Placement values 1/2 and 1 of either class: each has variance 1/8, over two rows.
/// assert_eq!(delong.covariance(0, 0), Some(0.125));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DeLong {
    aucs: Vec<f64>,
    /// `None` if a class has a single row.
    spread: Option<Spread>,
    n_pos: usize,
    n_neg: usize,
    effective: [f64; 2],
}

impl DeLong {
    /// Computes AUCs and covariances from the scores of each model, all as long as `positive`.
    ///
    /// # Errors
    ///
    /// [`RankError`] if there is no model, lengths differ, a score is NaN, or a class is absent.
    pub fn new<S: Score>(models: &[&[S]], positive: &[bool]) -> Result<Self, RankError> {
        if let [scores] = models {
            return Ok(of_one(&ScoreSample::new(scores, positive, Unweighted)?));
        }
        let placed = Placed::of_models(models, positive, Unweighted)?;
        let spread = Spread::of(&placed, |class| {
            let m = class.rows.len() as u64;
            let divisor = 2.0 * class.others as f64;
            let sums: Vec<u128> = class.values.iter().map(|v| sum(v.iter().copied())).collect();
            move |a: usize, b: usize| {
                let (mut products, mut squares) = (0, 0);
                for (&v, &w) in class.values[a].iter().zip(&class.values[b]) {
                    products += u128::from(v) * u128::from(w);
                    squares += u128::from(v.abs_diff(w)).pow(2);
                }
                // The difference has sums of its own. From variances and covariance, the variance
                // of two nearly equal rankings would be rounding error.
                let gap = sums[a].abs_diff(sums[b]);
                [scatter(m, products, sums[a], sums[b]), scatter(m, squares, gap, gap)]
                    .map(|value| value / divisor / divisor)
            }
        });
        Ok(placed.finish(spread))
    }

    /// As [`DeLong::new`], for weighted rows.
    ///
    /// Each AUC weights a pair of rows by the product of their weights. Its variance is that of a
    /// sample with unequal weights, stratified by class: with the share `w` of a row in the weight
    /// of its class, and `m` rows of positive weight in it, a class adds
    /// `m / (m - 1) * sum(w² * (placement - auc)²)`. With equal weights that is `DeLong`'s
    /// variance, and scaling the weights does not change it: weight k is *not* k independent rows.
    /// The sum is in floating point: its last bits depend on the order of the rows, but not on the
    /// number of threads.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`DeLong::new`], and if a weight is negative, NaN or infinite, or a
    /// class has no weight.
    pub fn weighted<S: Score>(
        models: &[&[S]],
        positive: &[bool],
        weights: &[f64],
    ) -> Result<Self, RankError> {
        match Weights::new(weights, positive)? {
            Weights::Few(few) => Self::of_weights(models, positive, few),
            Weights::Many(many) => Self::of_weights(models, positive, many),
        }
    }

    fn of_weights<S: Score, W: Weigh>(
        models: &[&[S]],
        positive: &[bool],
        weights: W,
    ) -> Result<Self, RankError> {
        let placed = Placed::of_models(models, positive, weights)?;
        let spread = Spread::of(&placed, |class| {
            let (own, rows) = (class.total, &class.rows);
            // Weight of the class over all pairs, of which the half-wins of a row are a share.
            let scale = own.to_f64() * MassOf::<W>::half_wins_of(own, class.others);
            let m = rows.len() as f64;
            let half_wins = &placed.half_wins;
            move |a: usize, b: usize| {
                let mut sums = [0.0, 0.0];
                let (values, wins) =
                    ([a, b].map(|i| &class.values[i]), [a, b].map(|i| half_wins[i]));
                for (row, &(_, units)) in rows.iter().enumerate() {
                    // Placements less AUCs as integers: for a row of dominant weight they are
                    // close.
                    let [v, w] = values.map(|values| values[row].times(own));
                    let less = |a, b| units.to_f64() * MassOf::<W>::difference(a, b) / scale;
                    let x = less(v, wins[0]);
                    if a == b {
                        sums[0] += x * x;
                        continue;
                    }
                    let gap = less(v + wins[1], w + wins[0]);
                    sums[0] += x * less(w, wins[1]);
                    sums[1] += gap * gap;
                }
                sums.map(|sum| m / (m - 1.0) * sum)
            }
        });
        Ok(placed.finish(spread))
    }

    /// AUC of each model.
    #[must_use]
    pub fn aucs(&self) -> &[f64] {
        &self.aucs
    }

    /// Covariance of the AUCs of models `a` and `b`; `None` if a class has a single row, since the
    /// variance of one placement value is unknown.
    ///
    /// # Panics
    ///
    /// If there is no such model.
    #[must_use]
    pub fn covariance(&self, a: usize, b: usize) -> Option<f64> {
        let n_models = self.aucs.len();
        assert!(a < n_models && b < n_models, "there are {n_models} models");
        self.spread.as_ref().map(|spread| spread.covariances[a * n_models + b])
    }

    /// Variance of the difference of the AUCs of models `a` and `b`. Also accurate for nearly equal
    /// rankings, for which the sum of the variances less twice the covariance would be rounding
    /// error. `None` as for [`DeLong::covariance`].
    ///
    /// # Panics
    ///
    /// If there is no such model.
    #[must_use]
    pub fn difference_variance(&self, a: usize, b: usize) -> Option<f64> {
        let n_models = self.aucs.len();
        assert!(a < n_models && b < n_models, "there are {n_models} models");
        self.spread.as_ref().map(|spread| spread.differences[a * n_models + b])
    }

    /// Positive rows of positive weight.
    #[must_use]
    pub fn n_pos(&self) -> usize {
        self.n_pos
    }

    /// Negative rows of positive weight.
    #[must_use]
    pub fn n_neg(&self) -> usize {
        self.n_neg
    }

    /// Kish's effective number of positive and of negative rows, `(sum of w)² / (sum of w²)`; the
    /// number of rows if weights are equal.
    #[must_use]
    pub fn effective_rows(&self) -> [f64; 2] {
        self.effective
    }
}

/// Variance of an AUC from its value and the numbers of rows alone, for exponentially distributed
/// scores in both classes (Hanley and McNeil, 1982); defined even for a single row per class.
///
/// # Examples
///
/// ```
/// // For uninformative scores, that of the Mann-Whitney statistic, (m + n + 1) / (12 m n).
/// let variance = aucrank::roc::hanley_mcneil_variance(0.5, 10.0, 20.0);
/// assert!((variance - 31.0 / 2400.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn hanley_mcneil_variance(auc: f64, n_pos: f64, n_neg: f64) -> f64 {
    // Probability that two positive rows outrank one negative, and that one outranks two.
    let q1 = auc / (2.0 - auc);
    let q2 = 2.0 * auc * auc / (1.0 + auc);
    let square = auc * auc;
    let spread = auc * (1.0 - auc) + (n_pos - 1.0) * (q1 - square) + (n_neg - 1.0) * (q2 - square);
    (spread / (n_pos * n_neg)).max(0.0)
}

/// Placement value of each row, in the order of the rows; NaN for a row of weight 0.
///
/// The share of the other class that a positive row outranks, or that outranks a negative row; the
/// weighted mean of either kind is the AUC.
///
/// # Errors
///
/// [`RankError`] as for [`weighted_auc`](super::weighted_auc).
///
/// # Examples
///
/// ```
/// let values = aucrank::roc::placements(&[0.1, 0.4, 0.4], &[false, false, true], None);
/// assert_eq!(values, Ok(vec![1.0, 0.5, 0.75]));
/// ```
pub fn placements<S: Score>(
    scores: &[S],
    positive: &[bool],
    weights: Option<&[f64]>,
) -> Result<Vec<f64>, RankError> {
    match weights.map(|weights| Weights::new(weights, positive)).transpose()? {
        None => placements_of(scores, positive, Unweighted),
        Some(Weights::Few(few)) => placements_of(scores, positive, few),
        Some(Weights::Many(many)) => placements_of(scores, positive, many),
    }
}

fn placements_of<S: Score, W: Weigh>(
    scores: &[S],
    positive: &[bool],
    weights: W,
) -> Result<Vec<f64>, RankError> {
    let placed = Placed::of_models(&[scores], positive, weights)?;
    let mut values = vec![f64::NAN; scores.len()];
    for class in &placed.classes {
        let divisor = 2.0 * class.others.to_f64();
        for (&(row, _), &half_wins) in class.rows.iter().zip(&class.values[0]) {
            values[row] = half_wins.to_f64() / divisor;
        }
    }
    Ok(values)
}

/// Rows of a class with their placement values.
struct Class<M> {
    /// Rows of positive weight with their units of weight, in the order of the input.
    rows: Vec<(usize, M)>,
    /// Units of weight of this class.
    total: M,
    /// Units of weight of the other class.
    others: M,
    /// For each model, half-wins of each row: a placement value is that over `2 * others`.
    values: Vec<Vec<M>>,
}

struct Placed<M: Mass> {
    /// Negative, then positive.
    classes: [Class<M>; 2],
    /// For each model, the sum over the rows of each class of half-wins times weight.
    half_wins: Vec<M::Product>,
    aucs: Vec<f64>,
}

impl<M: Mass> Placed<M> {
    fn of_models<S: Score, W: Weigh>(
        models: &[&[S]],
        positive: &[bool],
        weights: W,
    ) -> Result<Self, RankError>
    where
        W::Unit: Unit<Mass = M>,
    {
        if models.is_empty() {
            let (value, rule) = ("empty".to_owned(), "the scores of one model at least");
            return Err(RankError::BadParameter { name: "models", value, rule });
        }
        for scores in models {
            ScoreSample::new(scores, positive, weights)?;
        }
        let [negative, positives] = split_rows(positive, weights)?;
        let totals = [&negative, &positives].map(|rows| rows.iter().map(|row| row.1).sum::<M>());
        let class = |rows, total, others| Class { rows, total, others, values: Vec::new() };
        let mut classes =
            [class(negative, totals[0], totals[1]), class(positives, totals[1], totals[0])];
        let mut aucs = Vec::with_capacity(models.len());
        let mut of_models = Vec::with_capacity(models.len());
        for scores in models {
            let mut half_wins = M::Product::default();
            let rows = [0, 1].map(|class: usize| &classes[class].rows);
            let half_wins_of = |class: usize, below, up_to| {
                let all = totals[1 - class];
                if class == 1 { below + up_to } else { all - below + (all - up_to) }
            };
            for (class, values) in place(scores, rows, half_wins_of).into_iter().enumerate() {
                if class == 1 {
                    for (&wins, row) in values.iter().zip(&classes[1].rows) {
                        half_wins += wins.times(row.1);
                    }
                }
                classes[class].values.push(values);
            }
            aucs.push(M::product_to_f64(half_wins) / M::half_wins_of(totals[1], totals[0]));
            of_models.push(half_wins);
        }
        Ok(Self { classes, half_wins: of_models, aucs })
    }

    fn finish(self, spread: Option<Spread>) -> DeLong {
        let [n_neg, n_pos] = [0, 1].map(|class: usize| self.classes[class].rows.len());
        let effective = [1, 0].map(|class: usize| {
            let Class { rows, total, .. } = &self.classes[class];
            let share = |row: &(usize, M)| row.1.to_f64() / total.to_f64();
            let squares: f64 = rows.iter().map(|row| share(row).powi(2)).sum();
            squares.recip()
        });
        DeLong { aucs: self.aucs, spread, n_pos, n_neg, effective }
    }
}

/// Rows with their units of weight.
pub(super) type RowMasses<M> = Vec<(usize, M)>;

/// Negative, then positive rows of positive weight, each with its units of weight.
pub(super) fn split_rows<W: Weigh>(
    positive: &[bool],
    weights: W,
) -> Result<[RowMasses<MassOf<W>>; 2], RankError> {
    let mut classes = [Vec::new(), Vec::new()];
    for ((row, &positive), raw) in positive.iter().enumerate().zip(weights.slice(0, positive.len()))
    {
        if weights.counts(raw) {
            let units = weights.units(raw, positive).mass();
            classes[usize::from(positive)].push((row, units));
        }
    }
    for (rows, class) in classes.iter().zip(["negative", "positive"]) {
        if rows.is_empty() {
            return Err(RankError::ClassWithoutWeight { class });
        }
    }
    Ok(classes)
}

/// Positions in each class, by rising score; of a tie, in the order of the rows.
pub(super) fn order<S: Score, M: Mass>(scores: &[S], rows: &[(usize, M)]) -> Vec<(S::Key, usize)> {
    let keyed = |(position, &(row, _)): (usize, &(usize, M))| (scores[row].key(), position);
    let mut order: Vec<_> = rows.iter().enumerate().map(keyed).collect();
    if rows.len() < PARALLEL_FROM {
        order.sort_unstable();
    } else {
        order.par_sort_unstable();
    }
    order
}

/// A value for each row of each class, given its class and the weight of the other class below it,
/// and below it or tied with it; by one merge of the two classes in order.
pub(super) fn place<S: Score, M: Mass, T: Copy + Default>(
    scores: &[S],
    classes: [&RowMasses<M>; 2],
    value: impl Fn(usize, M, M) -> T,
) -> [Vec<T>; 2] {
    let orders = classes.map(|rows| order(scores, rows));
    [0, 1].map(|class: usize| {
        let (own, others) = (&orders[class], &orders[1 - class]);
        let weight = |other: &(S::Key, usize)| classes[1 - class][other.1].1;
        let mut values = vec![T::default(); own.len()];
        // Weight of the other class up to this score, and the next row to be added to it.
        let (mut up_to, mut next) = (M::default(), 0);
        for tied in own.chunk_by(|a, b| a.0 == b.0) {
            while next < others.len() && others[next].0 < tied[0].0 {
                up_to += weight(&others[next]);
                next += 1;
            }
            let below = up_to;
            while next < others.len() && others[next].0 == tied[0].0 {
                up_to += weight(&others[next]);
                next += 1;
            }
            let found = value(class, below, up_to);
            for &(_, position) in tied {
                values[position] = found;
            }
        }
        values
    })
}

/// Matrices over the models, in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spread {
    pub covariances: Vec<f64>,
    /// Variances of differences.
    pub differences: Vec<f64>,
}

impl Spread {
    /// Adds the contributions of both classes for each pair of models; `None` if a class has one
    /// row.
    fn of<'a, M: Mass, F>(
        placed: &'a Placed<M>,
        of_class: impl Fn(&'a Class<M>) -> F,
    ) -> Option<Self>
    where
        F: Fn(usize, usize) -> [f64; 2],
    {
        if placed.classes.iter().any(|class| class.rows.len() < 2) {
            return None;
        }
        Some(Self::sum(placed.aucs.len(), placed.classes.each_ref().map(of_class)))
    }

    /// The sum of what each class adds to the covariance of two models, and to the variance of
    /// their difference.
    pub fn sum(n_models: usize, classes: [impl Fn(usize, usize) -> [f64; 2]; 2]) -> Self {
        let zeros = vec![0.0; n_models * n_models];
        let mut spread = Self { covariances: zeros.clone(), differences: zeros };
        for of_models in classes {
            for a in 0..n_models {
                for b in 0..=a {
                    let [covariance, difference] = of_models(a, b);
                    spread.covariances[a * n_models + b] += covariance;
                    spread.differences[a * n_models + b] += difference;
                }
            }
        }
        for a in 0..n_models {
            for b in 0..a {
                for matrix in [&mut spread.covariances, &mut spread.differences] {
                    matrix[b * n_models + a] = matrix[a * n_models + b];
                }
            }
        }
        spread
    }
}

fn sum(values: impl Iterator<Item = u64>) -> u128 {
    values.map(u128::from).sum()
}

/// Covariance of the means of `m` paired integers, from their sums and the sum of the products.
fn scatter(m: u64, products: u128, sum_a: u128, sum_b: u128) -> f64 {
    let wide = u128::from(m);
    let terms = (wide.checked_mul(products), sum_a.checked_mul(sum_b));
    // Exact up to 2^32 rows.
    let centred = if let (Some(a), Some(b)) = terms {
        if a >= b { (a - b) as f64 } else { -((b - a) as f64) }
    } else {
        m as f64 * products as f64 - sum_a as f64 * sum_b as f64
    };
    let m = m as f64;
    centred / (m * m * (m - 1.0))
}

/// One unweighted model: sums only.
fn of_one<S: Score>(sample: &ScoreSample<'_, S, Unweighted>) -> DeLong {
    let parts = sweep::<S, _, S::Key, _>(sample, |_| WinMoments::default());
    let all = parts.into_iter().fold(WinMoments::default(), WinMoments::then);
    let (n_pos, n_neg) = (all.positive, all.negative);
    let pairs = 2 * u128::from(n_pos) * u128::from(n_neg);
    let aucs = vec![all.half_wins as f64 / pairs as f64];
    let mut spread = None;
    if n_pos > 1 && n_neg > 1 {
        let part = |m: u64, others: u64, squares: u128, sum: u128| {
            let divisor = 2.0 * others as f64;
            scatter(m, squares, sum, sum) / divisor / divisor
        };
        let of_pos = part(n_pos, n_neg, all.pos_squares, all.half_wins);
        let of_neg = part(n_neg, n_pos, all.neg_squares, pairs - all.half_wins);
        spread = Some(Spread { covariances: vec![of_neg + of_pos], differences: vec![0.0] });
    }
    let effective = [n_pos as f64, n_neg as f64];
    let (n_pos, n_neg) = (n_pos as usize, n_neg as usize);
    DeLong { aucs, spread, n_pos, n_neg, effective }
}

/// Sums of half-wins within a range of scores.
#[derive(Debug, Clone, Copy, Default)]
struct WinMoments {
    positive: u64,
    negative: u64,
    /// Sum of the half-wins of the positive rows.
    half_wins: u128,
    /// Sum of their squares.
    pos_squares: u128,
    /// Sum over the negative rows of the squared half-*losses* of the positive rows to each. They
    /// have the same variance as half-wins, and do not depend on the rows above.
    neg_squares: u128,
}

impl WinMoments {
    /// Sums over this range followed by one above it.
    fn then(self, above: Self) -> Self {
        let (negative, positive) = (2 * u128::from(self.negative), 2 * u128::from(self.positive));
        let (pos, neg) = (u128::from(above.positive), u128::from(above.negative));
        // A pair has two half-wins in all, so that losses need no sum of their own.
        let half_losses = 2 * pos * neg - above.half_wins;
        // Each row above wins two more half-wins per row here: sum (v + s)² from the sums of v and
        // v².
        let shifted = |squares, sum, count, shift| squares + shift * (2 * sum + count * shift);
        Self {
            positive: self.positive + above.positive,
            negative: self.negative + above.negative,
            half_wins: self.half_wins + above.half_wins + pos * negative,
            pos_squares: self.pos_squares
                + shifted(above.pos_squares, above.half_wins, pos, negative),
            neg_squares: self.neg_squares + shifted(above.neg_squares, half_losses, neg, positive),
        }
    }
}

impl<K: Word> Sink<K, u64> for WinMoments {
    type Scratch = ();

    fn tie(&mut self, _: K, positive: u64, negative: u64) {
        let (pos, neg) = (u128::from(positive), u128::from(negative));
        *self = self.then(Self {
            positive,
            negative,
            half_wins: pos * neg,
            pos_squares: pos * neg * neg,
            neg_squares: neg * pos * pos,
        });
    }

    fn rows<R: Record<K, Mass = u64>>(
        &mut self,
        rows: &mut [R],
        scratch: &mut [R],
        (words, top): (Words, K),
        (): &mut (),
    ) {
        descend(rows, scratch, Some(words), top, self);
    }
}

impl<K: Word> RangeSink<K, u64> for WinMoments {
    #[inline]
    fn range<R: Record<K, Mass = u64>>(&mut self, rows: &mut [R], n_neg: usize, _: K) {
        let (neg, pos) = rows.split_at(n_neg);
        let (mut half_wins, mut pos_squares, mut neg_squares) = (0_u64, 0_u64, 0_u64);
        // As for the AUC, but from the view of both classes: a positive row tied with a negative one
        // of `word` has `word | 1`. Pairs are few, so their squares fit.
        if !neg.is_empty() && !pos.is_empty() {
            for p in pos {
                let word: u64 = p.word().into();
                let mut wins = 0;
                for q in neg {
                    let other: u64 = q.word().into();
                    wins += u64::from(other < word) + u64::from(other < word - 1);
                }
                half_wins += wins;
                pos_squares += wins * wins;
            }
            for q in neg {
                let word: u64 = q.word().into();
                let mut losses = 0;
                for p in pos {
                    let other: u64 = p.word().into();
                    losses += u64::from(other < word) + u64::from(other <= word | 1);
                }
                neg_squares += losses * losses;
            }
        }
        *self = self.then(Self {
            positive: pos.len() as u64,
            negative: neg.len() as u64,
            half_wins: half_wins.into(),
            pos_squares: pos_squares.into(),
            neg_squares: neg_squares.into(),
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, pair by pair: AUCs and the covariance matrix.
    fn by_pairs(
        models: &[Vec<f64>],
        positive: &[bool],
        weights: &[f64],
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let rows = |class: bool| -> Vec<usize> {
            (0..positive.len()).filter(|&r| positive[r] == class && weights[r] > 0.0).collect()
        };
        let (pos, neg) = (rows(true), rows(false));
        let total = |rows: &[usize]| rows.iter().map(|&r| weights[r]).sum::<f64>();
        let wins = |scores: &[f64], p: usize, q: usize| {
            0.5 * (f64::from(scores[p] > scores[q]) + f64::from(scores[p] >= scores[q]))
        };
        let placement = |scores: &[f64], row: usize| {
            if positive[row] {
                neg.iter().map(|&q| weights[q] * wins(scores, row, q)).sum::<f64>() / total(&neg)
            } else {
                pos.iter().map(|&p| weights[p] * wins(scores, p, row)).sum::<f64>() / total(&pos)
            }
        };
        let auc = |scores: &[f64]| {
            pos.iter().map(|&p| weights[p] * placement(scores, p)).sum::<f64>() / total(&pos)
        };
        let covariance = |a: &[f64], b: &[f64]| {
            let part = |rows: &[usize]| {
                let m = rows.len() as f64;
                let products = rows.iter().map(|&r| {
                    let share = weights[r] / total(rows);
                    share.powi(2) * (placement(a, r) - auc(a)) * (placement(b, r) - auc(b))
                });
                m / (m - 1.0) * products.sum::<f64>()
            };
            part(&pos) + part(&neg)
        };
        let matrix =
            models.iter().map(|a| models.iter().map(|b| covariance(a, b)).collect()).collect();
        (models.iter().map(|scores| auc(scores)).collect(), matrix)
    }

    fn check(found: &DeLong, models: &[Vec<f64>], positive: &[bool], weights: &[f64]) {
        let (aucs, covariances) = by_pairs(models, positive, weights);
        for a in 0..models.len() {
            assert!((found.aucs()[a] - aucs[a]).abs() < 1e-12);
            for b in 0..models.len() {
                let value = found.covariance(a, b).unwrap();
                assert!((value - covariances[a][b]).abs() < 1e-12, "{value} {covariances:?}");
                let difference = covariances[a][a] + covariances[b][b] - 2.0 * covariances[a][b];
                let value = found.difference_variance(a, b).unwrap();
                assert!((value - difference).abs() < 1e-12, "{value} {difference}");
            }
        }
    }

    /// Two models with few distinct scores, labels, and weights with zeros among them; at least two
    /// rows of positive weight in each class.
    fn samples() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<bool>, Vec<f64>)> {
        let row = (-4..4_i8, -2..3_i8, any::<bool>(), 0..4_u8);
        prop::collection::vec(row, 0..60).prop_map(|mut rows| {
            rows.extend([(1, 0, true, 1), (0, 1, true, 2), (1, 1, false, 1), (-1, 0, false, 3)]);
            let first = rows.iter().map(|row| f64::from(row.0)).collect();
            let second = rows.iter().map(|row| f64::from(row.1)).collect();
            let positive = rows.iter().map(|row| row.2).collect();
            (vec![first, second], positive, rows.iter().map(|row| f64::from(row.3)).collect())
        })
    }

    proptest! {
        #[test]
        fn equals_the_definition((models, positive, weights) in samples()) {
            let ones = vec![1.0; positive.len()];
            let slices: Vec<&[f64]> = models.iter().map(Vec::as_slice).collect();
            check(&DeLong::new(&slices, &positive).unwrap(), &models, &positive, &ones);
            check(&DeLong::new(&slices[..1], &positive).unwrap(), &models[..1], &positive, &ones);
            let weighted = DeLong::weighted(&slices, &positive, &weights).unwrap();
            check(&weighted, &models, &positive, &weights);
            let fractions: Vec<f64> = weights.iter().map(|w| w * 0.37).collect();
            let scaled = DeLong::weighted(&slices, &positive, &fractions).unwrap();
            check(&scaled, &models, &positive, &weights);
        }

        #[test]
        fn placement_values_average_to_the_auc((models, positive, weights) in samples()) {
            let values = placements(&models[0], &positive, Some(&weights)).unwrap();
            let auc = crate::roc::weighted_auc(&models[0], &positive, &weights).unwrap();
            for class in [false, true] {
                let (mut sum, mut total) = (0.0, 0.0);
                for row in (0..values.len()).filter(|&r| positive[r] == class) {
                    prop_assert_eq!(values[row].is_nan(), weights[row] == 0.0);
                    if weights[row] > 0.0 {
                        sum += weights[row] * values[row];
                        total += weights[row];
                    }
                }
                prop_assert!((sum / total - auc).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_sums_of_many_rows_are_those_of_the_placement_values() {
        use rand_xoshiro::Xoshiro256PlusPlus;
        use rand_xoshiro::rand_core::{Rng, SeedableRng};

        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut uniform = || (rng.next_u64() >> 11) as f64 * 2_f64.powi(-53);
        for n in [100, 20_000, PARALLEL_FROM + 1] {
            let positive: Vec<bool> = (0..n).map(|_| uniform() < 0.3).collect();
            for step in [1e-9, 1e-3, 0.3] {
                let scores: Vec<f64> = positive
                    .iter()
                    .map(|&p| ((uniform() + 0.2 * f64::from(p) - 0.5) / step).round())
                    .collect();
                let mut found = Vec::new();
                for n_threads in [1, 3] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads);
                    pool.build().unwrap().install(|| {
                        found.push(DeLong::new(&[&scores], &positive).unwrap());
                        // Stored placement values must give the same integers.
                        let twice = DeLong::new(&[&scores[..], &scores], &positive).unwrap();
                        assert_eq!(twice.covariance(0, 1), found[0].covariance(0, 0));
                    });
                }
                assert_eq!(found[0], found[1]);
            }
        }
    }

    #[test]
    fn one_swap_among_many_rows_has_a_variance() {
        // Rows 0..n alternate between the classes; the second model swaps the two lowest.
        let n = 40_000;
        let positive: Vec<bool> = (0..n).map(|row| row % 2 == 1).collect();
        let first: Vec<f64> = (0..n).map(f64::from).collect();
        let mut second = first.clone();
        second.swap(0, 1);
        let delong = DeLong::new(&[&first, &second], &positive).unwrap();
        // One placement value of each class differs, by 1 / m: the variance of the mean of m values
        // of which one is 1 / m and the others 0 is 1 / m^4.
        let m = f64::from(n / 2);
        let expected = 2.0 / m.powi(4);
        let found = delong.difference_variance(0, 1).unwrap();
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
    }

    #[test]
    fn one_row_of_a_class_has_an_auc_but_no_spread() {
        let delong = DeLong::new(&[&[0.0, 1.0, 2.0]], &[false, true, false]).unwrap();
        assert_eq!((delong.aucs(), delong.covariance(0, 0)), (&[0.5][..], None));
        let none: [&[f64]; 0] = [];
        assert!(DeLong::new(&none, &[false, true]).is_err());
    }
}
