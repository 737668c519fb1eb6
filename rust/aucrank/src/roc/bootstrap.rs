//! Stratified bootstrap of the AUC and of points of the ROC curve.
//!
//! A resample draws as many rows of each class as there are, with replacement. The rows are sorted
//! once: a resample is then a count for each negative row, prefix sums of these counts in the order
//! of each model, and one lookup for each positive row drawn. No resample sorts. All models share
//! the rows of a resample, so that their difference is a paired one.
//!
//! Resample r has its own random stream, derived from the seed and r, so the result does not depend
//! on the number of threads.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::compare::highest_at;
use super::cut_off::CutOffCriterion;
use super::delong::{RowMasses, order, split_rows};
use super::mass::{Mass, Weights};
use super::partial::{area_of_rates, check_bands};
use super::sample::{MassOf, ScoreSample, Unweighted, Weigh};
use super::score::Score;
use crate::data::Wide;
use crate::{Interrupt, RankError, parallel};

/// Stratified bootstrap: the number of resamples and the seed of their random streams.
///
/// Its methods run on the current rayon pool.
///
/// # Examples
///
/// ```
/// use aucrank::{Interrupt, roc::Bootstrap};
///
/// let bootstrap = Bootstrap { n_resamples: 100, seed: 7 };
/// let (scores, positive) = ([0.1, 0.4, 0.35, 0.8], [false, false, true, true]);
/// let aucs = bootstrap.aucs(&[&scores], &positive, None, &Interrupt::default()).unwrap();
/// assert!(aucs.len() == 100 && aucs.iter().all(|auc| (0.0..=1.0).contains(auc)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of resamples.
    pub n_resamples: usize,
    /// The same seed gives the same resamples.
    pub seed: u64,
}

impl Bootstrap {
    /// AUC of each model on each resample: `n_resamples` rows with one value per model.
    ///
    /// A row of weight 0 is never drawn; all other rows are drawn with equal probability and keep
    /// their weight.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`weighted_auc`](super::weighted_auc), and if there is no model or the
    /// caller interrupts.
    pub fn aucs<S: Score>(
        &self,
        models: &[&[S]],
        positive: &[bool],
        weights: Option<&[f64]>,
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, RankError> {
        if models.is_empty() {
            let (value, rule) = ("empty".to_owned(), "the scores of one model at least");
            return Err(RankError::BadParameter { name: "models", value, rule });
        }
        for scores in models {
            ScoreSample::new(scores, positive, Unweighted)?;
        }
        match weights.map(|weights| Weights::new(weights, positive)).transpose()? {
            // Integer sums in both cases; those of counts fit in one word.
            None => self.aucs_by(models, positive, Unweighted, interrupt, |wins, _| wins),
            Some(Weights::Few(few)) => self.aucs_by(models, positive, few, interrupt, Mass::times),
            Some(Weights::Many(many)) => {
                self.aucs_by(models, positive, many, interrupt, Mass::times)
            }
        }
    }

    /// As [`Bootstrap::aucs`], given the product of two masses.
    fn aucs_by<S: Score, W: Weigh, T: HalfWinTotal>(
        &self,
        models: &[&[S]],
        positive: &[bool],
        weights: W,
        interrupt: &Interrupt,
        times: impl Fn(MassOf<W>, MassOf<W>) -> T + Sync,
    ) -> Result<Vec<f64>, RankError> {
        let classes = split(positive, weights)?;
        let [negative, positives] = sorted_by(models[0], &classes);
        let models: Vec<ResampledModel> = models
            .iter()
            .map(|scores| ResampledModel::new(scores, &negative, &positives))
            .collect();
        let one = MassOf::<W>::from(1);
        self.on_each_resample(
            || ResampleScratch::new(negative.len(), positives.len(), models.len()),
            |scratch, resample| {
                interrupt.check()?;
                let mut rng = self.stream(resample);
                Ok(resampled_aucs(
                    &mut rng,
                    &models,
                    scratch,
                    positives.len(),
                    |count, row| negative[row].1.repeated(count.into()),
                    |wins, row| times(wins, positives[row].1),
                    |row| times(one, positives[row].1),
                ))
            },
        )
    }

    /// True positive rate at each false positive rate on each resample, computed as by
    /// [`RocCurve::tpr_at`](super::RocCurve::tpr_at): `n_resamples` rows with one value per rate.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`Bootstrap::aucs`], and for a rate outside of [0, 1].
    pub fn tprs<S: Score>(
        &self,
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
        fpr: &[f64],
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, RankError> {
        super::compare::check_rates("fpr", fpr)?;
        self.of_curves(&[scores], positive, weights, interrupt, |x, y| {
            fpr.iter().map(|&rate| highest_at(x, y, rate)).collect()
        })
    }

    /// Area of each model within bands of false and of true positive rates on each resample, as by
    /// [`RocCurve::partial_auc`](super::RocCurve::partial_auc): `n_resamples` rows with one value
    /// per model.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`Bootstrap::aucs`], and for invalid bands.
    pub fn partial_aucs<S: Score>(
        &self,
        models: &[&[S]],
        positive: &[bool],
        weights: Option<&[f64]>,
        (fpr, tpr): ([f64; 2], [f64; 2]),
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, RankError> {
        check_bands(fpr, tpr)?;
        let area = |x: &[f64], y: &[f64]| vec![area_of_rates(x, y, fpr, tpr)];
        self.of_curves(models, positive, weights, interrupt, area)
    }

    /// The best cut-off of each resample: three values a resample, the index of the knot in the
    /// curve of all rows, as of [`RocCurve::cut_off`](super::RocCurve::cut_off), and the false and
    /// the true positive rate of the resample there.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`Bootstrap::aucs`].
    pub fn cut_offs<S: Score>(
        &self,
        scores: &[S],
        positive: &[bool],
        weights: Option<&[f64]>,
        criterion: CutOffCriterion,
        interrupt: &Interrupt,
    ) -> Result<Vec<f64>, RankError> {
        // A score that was not drawn repeats the knot before it, which is then the best one.
        self.of_curves(&[scores], positive, weights, interrupt, |x, y| {
            let best = criterion.best(x, y);
            vec![best as f64, x[best], y[best]]
        })
    }

    fn of_curves<S: Score>(
        &self,
        models: &[&[S]],
        positive: &[bool],
        weights: Option<&[f64]>,
        interrupt: &Interrupt,
        work: impl Fn(&[f64], &[f64]) -> Vec<f64> + Sync,
    ) -> Result<Vec<f64>, RankError> {
        if models.is_empty() {
            let (value, rule) = ("empty".to_owned(), "the scores of one model at least");
            return Err(RankError::BadParameter { name: "models", value, rule });
        }
        for scores in models {
            ScoreSample::new(scores, positive, Unweighted)?;
        }
        match weights.map(|weights| Weights::new(weights, positive)).transpose()? {
            None => self.on_each_curve(models, positive, Unweighted, interrupt, work),
            Some(Weights::Few(few)) => self.on_each_curve(models, positive, few, interrupt, work),
            Some(Weights::Many(many)) => {
                self.on_each_curve(models, positive, many, interrupt, work)
            }
        }
    }

    /// The result of `work` on the curve of each model on each resample: rates at each distinct
    /// score of the model, whether it was drawn or not.
    fn on_each_curve<S: Score, W: Weigh>(
        &self,
        models: &[&[S]],
        positive: &[bool],
        weights: W,
        interrupt: &Interrupt,
        work: impl Fn(&[f64], &[f64]) -> Vec<f64> + Sync,
    ) -> Result<Vec<f64>, RankError> {
        let none = MassOf::<W>::default();
        let classes = sorted_by(models[0], &split(positive, weights)?);
        // For each model, the number of distinct scores, and the index of each row's score in them
        // in descending order.
        let places: Vec<(usize, [Vec<usize>; 2])> =
            models.iter().map(|scores| places_of(scores, &classes)).collect();
        let new_scratch = || -> Vec<_> {
            let tables =
                |n_distinct| [0, 1].map(|_| (vec![none; n_distinct], vec![0.0; n_distinct + 1]));
            places.iter().map(|(n_distinct, _)| tables(*n_distinct)).collect()
        };
        self.on_each_resample(new_scratch, |scratch, resample| {
            interrupt.check()?;
            let mut rng = self.stream(resample);
            for (sums, _) in scratch.iter_mut().flatten() {
                sums.fill(none);
            }
            for (class, rows) in classes.iter().enumerate() {
                draw(&mut rng, rows.len(), |row| {
                    for (tables, (_, places)) in scratch.iter_mut().zip(&places) {
                        tables[class].0[places[class][row]] += rows[row].1;
                    }
                });
            }
            let mut found = Vec::new();
            for tables in scratch {
                for (sums, rates) in &mut *tables {
                    let total = sums.iter().copied().sum::<MassOf<W>>().to_f64();
                    let mut above = none;
                    for (rate, sum) in rates[1..].iter_mut().zip(sums) {
                        above += *sum;
                        *rate = above.to_f64() / total;
                    }
                }
                let [(_, x), (_, y)] = tables;
                found.extend(work(x, y));
            }
            Ok(found)
        })
    }

    /// The result of `work` on each resample, concatenated.
    fn on_each_resample<S>(
        &self,
        new_scratch: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, u64) -> Result<Vec<f64>, RankError> + Sync,
    ) -> Result<Vec<f64>, RankError> {
        let resamples = (0..self.n_resamples as u64).collect();
        let found = parallel::map_with(resamples, 1, new_scratch, work);
        Ok(found.into_iter().collect::<Result<Vec<Vec<f64>>, RankError>>()?.concat())
    }

    fn stream(&self, resample: u64) -> Xoshiro256PlusPlus {
        // Mixed first, so that neighbouring seeds do not share streams.
        let base = Xoshiro256PlusPlus::seed_from_u64(self.seed).next_u64();
        Xoshiro256PlusPlus::seed_from_u64(base.wrapping_add(resample))
    }
}

/// Rows of positive weight, negative then positive, with their weights.
fn split<W: Weigh>(positive: &[bool], weights: W) -> Result<[RowMasses<MassOf<W>>; 2], RankError> {
    let classes = split_rows(positive, weights)?;
    for rows in &classes {
        if u32::try_from(rows.len()).is_err() {
            let (value, rule) = (rows.len().to_string(), "below 2^32");
            return Err(RankError::BadParameter { name: "number of rows of a class", value, rule });
        }
    }
    Ok(classes)
}

/// Rows of each class in ascending order of the score.
fn sorted_by<S: Score, M: Mass>(scores: &[S], classes: &[RowMasses<M>; 2]) -> [RowMasses<M>; 2] {
    classes
        .each_ref()
        .map(|rows| order(scores, rows).into_iter().map(|(_, position)| rows[position]).collect())
}

/// The number of distinct scores, and the index of the score of each row of each class in them, in
/// descending order.
fn places_of<S: Score, M: Mass>(
    scores: &[S],
    classes: &[RowMasses<M>; 2],
) -> (usize, [Vec<usize>; 2]) {
    let keys = classes
        .each_ref()
        .map(|rows| -> Vec<S::Key> { rows.iter().map(|&(row, _)| scores[row].key()).collect() });
    let mut distinct = keys.concat();
    distinct.sort_unstable_by(|a, b| b.cmp(a));
    distinct.dedup();
    let places = keys
        .map(|keys| keys.iter().map(|key| distinct.partition_point(|other| other > key)).collect());
    (distinct.len(), places)
}

/// Data of a model for all resamples.
struct ResampledModel {
    /// Negative rows in ascending order of the score; `None` if they are already in that order.
    negative: Option<Vec<u32>>,
    /// For each positive row, the number of negative rows below it, and of those below or tied with
    /// it.
    bounds: Vec<[u32; 2]>,
}

impl ResampledModel {
    fn new<S: Score, M: Mass>(
        scores: &[S],
        negative: &RowMasses<M>,
        positive: &RowMasses<M>,
    ) -> Self {
        let order = order(scores, negative);
        let bound = |&(row, _): &(usize, M)| {
            let key = scores[row].key();
            let below = order.partition_point(|other| other.0 < key);
            let up_to = order.partition_point(|other| other.0 <= key);
            [below as u32, up_to as u32]
        };
        let bounds = positive.iter().map(bound).collect();
        let sorted = order.iter().enumerate().all(|(place, other)| place == other.1);
        let negative = order.iter().map(|other| other.1 as u32).collect();
        Self { negative: (!sorted).then_some(negative), bounds }
    }
}

/// Scratch memory of one thread.
struct ResampleScratch<M> {
    /// How often each negative row was drawn.
    counts: Vec<u32>,
    /// Prefix sums of the weights of the negative rows in the order of a model.
    below: Vec<M>,
    /// For each model, half-wins of each positive row.
    half_wins: Vec<Vec<M>>,
}

impl<M: Mass> ResampleScratch<M> {
    fn new(n_neg: usize, n_pos: usize, n_models: usize) -> Self {
        let none = M::default();
        let half_wins = vec![vec![none; n_pos]; n_models];
        Self { counts: vec![0; n_neg], below: vec![none; n_neg + 1], half_wins }
    }
}

/// A sum of weighted half-wins.
trait HalfWinTotal: Copy + Default + Send + std::ops::AddAssign {
    fn value(self) -> f64;
}

impl HalfWinTotal for u64 {
    fn value(self) -> f64 {
        self as f64
    }
}

impl HalfWinTotal for u128 {
    fn value(self) -> f64 {
        self as f64
    }
}

impl HalfWinTotal for Wide {
    fn value(self) -> f64 {
        self.to_f64()
    }
}

/// AUC of each model on one resample, given the weight of a count of negative rows, the
/// contribution of the half-wins of a positive row, and its weight.
fn resampled_aucs<M: Mass, T: HalfWinTotal>(
    rng: &mut Xoshiro256PlusPlus,
    models: &[ResampledModel],
    scratch: &mut ResampleScratch<M>,
    n_pos: usize,
    negative: impl Fn(u32, usize) -> M,
    wins: impl Fn(M, usize) -> T,
    positive: impl Fn(usize) -> T,
) -> Vec<f64> {
    let ResampleScratch { counts, below, half_wins } = scratch;
    // Models are sorted once, before all resamples. A resample counts how often each row was drawn,
    // and takes O(n) by prefix sums instead of a sort.
    counts.fill(0);
    draw(rng, counts.len(), |row| counts[row] += 1);
    let mut n_neg = M::default();
    for (model, half_wins) in models.iter().zip(&mut *half_wins) {
        n_neg = M::default();
        match &model.negative {
            None => {
                for (row, (&count, after)) in counts.iter().zip(&mut below[1..]).enumerate() {
                    n_neg += negative(count, row);
                    *after = n_neg;
                }
            }
            Some(order) => {
                for (&row, after) in order.iter().zip(&mut below[1..]) {
                    n_neg += negative(counts[row as usize], row as usize);
                    *after = n_neg;
                }
            }
        }
        for (&[lower, upper], half_wins) in model.bounds.iter().zip(half_wins) {
            *half_wins = below[lower as usize] + below[upper as usize];
        }
    }
    let mut total = T::default();
    let mut sums = vec![T::default(); models.len()];
    if let ([sum], [half_wins]) = (&mut sums[..], &half_wins[..]) {
        draw(rng, n_pos, |row| {
            *sum += wins(half_wins[row], row);
            total += positive(row);
        });
    } else {
        draw(rng, n_pos, |row| {
            for (sum, half_wins) in sums.iter_mut().zip(&*half_wins) {
                *sum += wins(half_wins[row], row);
            }
            total += positive(row);
        });
    }
    // Rounding must not lift a perfect AUC above 1.
    let share = |sum: &T| (sum.value() / (2.0 * n_neg.to_f64()) / total.value()).min(1.0);
    sums.iter().map(share).collect()
}

/// Draws `n` of the numbers `0..n` with replacement, each uniformly; `n` is below 2^32.
#[inline]
fn draw(rng: &mut Xoshiro256PlusPlus, n: usize, mut take: impl FnMut(usize)) {
    let bound = n as u64;
    // Rejection sampling: values that would make some numbers likelier are rejected.
    let refused = (1 << 32) % bound;
    let mut left = n;
    while left > 0 {
        let word = rng.next_u64();
        for half in [word >> 32, word & u64::from(u32::MAX)] {
            let product = half * bound;
            if product & u64::from(u32::MAX) >= refused && left > 0 {
                take((product >> 32) as usize);
                left -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::{RocCurve, weighted_auc};

    /// Weights of the rows on a resample, drawn as by the code under test: rows of each class in
    /// ascending order of the score of the first model, ties in the order of the input.
    fn drawn(bootstrap: Bootstrap, resample: u64, scores: &[f64], positive: &[bool]) -> Vec<f64> {
        let mut counts = vec![0.0; scores.len()];
        let mut rng = bootstrap.stream(resample);
        for class in [false, true] {
            let mut rows: Vec<usize> =
                (0..scores.len()).filter(|&r| positive[r] == class).collect();
            rows.sort_by(|&a, &b| scores[a].partial_cmp(&scores[b]).unwrap());
            draw(&mut rng, rows.len(), |row| counts[rows[row]] += 1.0);
        }
        counts
    }

    proptest! {
        #[test]
        fn a_resample_has_the_auc_and_the_curve_of_its_rows(
            rows in prop::collection::vec((-4..4_i8, -2..3_i8, any::<bool>(), 1..4_u8), 0..60),
            seed in any::<u64>(),
        ) {
            let mut rows = rows;
            rows.extend([(0, 0, true, 1), (1, -1, false, 2)]);
            let first: Vec<f64> = rows.iter().map(|row| f64::from(row.0)).collect();
            let second: Vec<f64> = rows.iter().map(|row| f64::from(row.1)).collect();
            let positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
            let weights: Vec<f64> = rows.iter().map(|row| f64::from(row.3)).collect();
            let grid = [0.0, 0.1, 0.5, 0.77, 1.0];
            let bootstrap = Bootstrap { n_resamples: 5, seed };
            let go = Interrupt::default();
            for weights in [None, Some(&weights[..])] {
                let aucs = bootstrap.aucs(&[&first, &second], &positive, weights, &go).unwrap();
                let one = bootstrap.aucs(&[&first], &positive, weights, &go).unwrap();
                let tprs = bootstrap.tprs(&first, &positive, weights, &grid, &go).unwrap();
                let bands = ([0.1, 0.6], [0.2, 0.9]);
                let models = [&first[..], &second[..]];
                let areas = bootstrap.partial_aucs(&models, &positive, weights, bands, &go).unwrap();
                let youden = CutOffCriterion::Slope(1.0);
                let cuts = bootstrap.cut_offs(&first, &positive, weights, youden, &go).unwrap();
                let all = weights.map_or_else(
                    || RocCurve::new(&first, &positive),
                    |weights| RocCurve::weighted(&first, &positive, weights),
                );
                let thresholds = all.unwrap().thresholds().to_vec();
                for resample in 0..5 {
                    let mut counts = drawn(bootstrap, resample as u64, &first, &positive);
                    for (count, weight) in counts.iter_mut().zip(weights.unwrap_or(&[])) {
                        *count *= weight;
                    }
                    let expected = [&first, &second]
                        .map(|scores| weighted_auc(scores, &positive, &counts).unwrap());
                    let found = &aucs[2 * resample..2 * resample + 2];
                    prop_assert!((found[0] - expected[0]).abs() < 1e-12);
                    prop_assert!((found[1] - expected[1]).abs() < 1e-12);
                    prop_assert_eq!(one[resample], found[0]);
                    let curve = RocCurve::weighted(&first, &positive, &counts).unwrap();
                    let cut = &cuts[3 * resample..3 * resample + 3];
                    let best = curve.cut_off(youden);
                    prop_assert_eq!(thresholds[cut[0] as usize], curve.thresholds()[best]);
                    prop_assert_eq!(&cut[1..], [curve.fpr()[best], curve.tpr()[best]]);
                    let other = RocCurve::weighted(&second, &positive, &counts).unwrap();
                    for (curve, area) in [&curve, &other].iter().zip(&areas[2 * resample..]) {
                        let expected = curve.partial_auc(bands.0, bands.1, false).unwrap();
                        prop_assert!((area - expected).abs() < 1e-12);
                    }
                    let tprs = &tprs[5 * resample..5 * resample + 5];
                    for (found, expected) in tprs.iter().zip(curve.tpr_at(&grid).unwrap()) {
                        prop_assert!((found - expected).abs() < 1e-12);
                    }
                }
            }
        }
    }

    #[test]
    fn draws_are_uniform() {
        // Chi-squared with 6 degrees of freedom exceeds 22.5 for one seed in a thousand.
        let mut counts = [0_u32; 7];
        for resample in 0..10_000 {
            let mut rng = Bootstrap { n_resamples: 1, seed: 1 }.stream(resample);
            let mut n_drawn = 0;
            draw(&mut rng, 7, |row| {
                counts[row] += 1;
                n_drawn += 1;
            });
            assert_eq!(n_drawn, 7);
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 22.5, "{counts:?}");
    }

    #[test]
    fn threads_change_nothing_and_an_interrupt_stops() {
        let scores: Vec<f64> = (0..500).map(|i| f64::from(i * 7919 % 101)).collect();
        let positive: Vec<bool> = (0..500).map(|i| i % 3 == 0).collect();
        let bootstrap = Bootstrap { n_resamples: 50, seed: 0 };
        let interrupt = Interrupt::default();
        let run = |n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| bootstrap.aucs(&[&scores], &positive, None, &interrupt))
        };
        assert_eq!(run(1).unwrap(), run(3).unwrap());
        interrupt.stop();
        assert_eq!(run(2), Err(RankError::Interrupted));
    }
}
