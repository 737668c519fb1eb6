//! Variance of the area under a part of the ROC curve, and covariance of such areas on the same
//! rows.
//!
//! The area over a band of false positive rates depends on the scores of the negative rows twice:
//! they determine where the band begins and ends, and how the curve runs in between. Both are in
//! their influence, and no density has to be estimated (He and Escobar, 2008): with the curve
//! within the bands from (f, r) to (g, s), the influence of a positive row is the false positive
//! rate at its score, clipped to [f, g], with a minus; that of a negative row is the true positive
//! rate at its score, clipped to [r, s]. The same holds for a band of true positive rates, and for
//! both, as the ends of the curve within the bands add nothing: there the integrand is 0, or does
//! not change.
//!
//! A row in a tie lies on a sloping segment of the curve, and its influence is the mean of the
//! clipped rate over that segment. Without bands that is the placement value with ties as one half,
//! and the variance is `DeLong`'s.

use super::RocCurve;
use super::chunks::PARALLEL_FROM;
use super::delong::{RowMasses, Spread, place, split_rows};
use super::mass::{Mass, Weights};
use super::partial::{CurvePart, check_bands};
use super::sample::{MassOf, ScoreSample, Unweighted, Weigh};
use super::score::Score;
use crate::RankError;
use crate::data::times_power_of_two;
use crate::parallel::prelude::*;

/// Meaning of the weight of a row.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{PartialAreas, Weighting};
///
/// let variance = |scores: &[f64], positive: &[bool], weights: Option<&[f64]>, weighting| {
///     let whole = ([0.0, 1.0], [0.0, 1.0]);
///     let found = PartialAreas::new(&[scores], positive, weights, weighting, whole).unwrap();
///     found.covariance(0, 0).unwrap()
/// };
/// let (scores, positive) = ([1.0, 3.0, 2.0, 4.0], [false, false, true, true]);
/// let weights = [2.0, 2.0, 2.0, 2.0];
/// let one = variance(&scores, &positive, None, Weighting::Sampling);
/// // All rows weigh the same: nothing is written.
/// assert_eq!(variance(&scores, &positive, Some(&weights), Weighting::Sampling), one);
/// // There are twice as many rows.
/// let twice = [scores, scores].concat();
/// let labels = [positive, positive].concat();
/// let two = variance(&twice, &labels, None, Weighting::Sampling);
/// assert_eq!(variance(&scores, &positive, Some(&weights), Weighting::Frequency), two);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weighting {
    /// The row stands for that many of the population, but is one observation, as in a survey.
    Sampling,
    /// Number of equal rows that were observed; a whole number.
    Frequency,
}

/// Areas under a part of the curves of one or more models on the same rows, with their covariance
/// matrix.
///
/// # Examples
///
/// ```
/// use aucrank::roc::{PartialAreas, Weighting};
///
/// let positive = [false, false, true, true];
/// let scores: &[f64] = &[0.1, 0.4, 0.35, 0.8];
/// let left = ([0.0, 0.5], [0.0, 1.0]);
/// let found = PartialAreas::new(&[scores], &positive, None, Weighting::Sampling, left).unwrap();
/// assert_eq!(found.areas(), [0.25]);
/// // The positive rows lie at false positive rates 0 and 1/2, the negative ones at true positive
/// // rates 1/2 and, clipped where the band ends, 1: each class has variance 1/8, over two rows.
/// assert_eq!(found.covariance(0, 0), Some(0.125));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PartialAreas {
    areas: Vec<f64>,
    spread: Option<Spread>,
    effective: [f64; 2],
}

impl PartialAreas {
    /// Computes areas and covariances from the scores of each model, within the bands of false and
    /// of true positive rates of [`RocCurve::partial_auc`].
    ///
    /// With weights that are frequencies, all results are as if each row were repeated. Otherwise
    /// the variance is that of [`DeLong::weighted`](super::DeLong::weighted). The order of the rows
    /// does not matter.
    ///
    /// # Errors
    ///
    /// [`RankError`] as for [`RocCurve::weighted`] and [`RocCurve::partial_auc`], if there is no
    /// model, and for a frequency that is not whole.
    pub fn new<S: Score>(
        models: &[&[S]],
        positive: &[bool],
        weights: Option<&[f64]>,
        weighting: Weighting,
        (fpr, tpr): ([f64; 2], [f64; 2]),
    ) -> Result<Self, RankError> {
        check_bands(fpr, tpr)?;
        if models.is_empty() {
            let (value, rule) = ("empty".to_owned(), "the scores of one model at least");
            return Err(RankError::BadParameter { name: "models", value, rule });
        }
        let mut areas = Vec::with_capacity(models.len());
        let mut parts = Vec::with_capacity(models.len());
        for scores in models {
            ScoreSample::new(scores, positive, Unweighted)?;
            let curve = match weights {
                None => RocCurve::new(scores, positive)?,
                Some(weights) => RocCurve::weighted(scores, positive, weights)?,
            };
            areas.push(curve.partial_auc(fpr, tpr, false)?);
            parts.push(CurvePart::of(&curve.fpr(), &curve.tpr(), fpr, tpr));
        }
        let (spread, effective) =
            match weights.map(|weights| Weights::new(weights, positive)).transpose()? {
                None => spread_of(models, &parts, positive, Unweighted, weighting)?,
                Some(Weights::Few(few)) => spread_of(models, &parts, positive, few, weighting)?,
                Some(Weights::Many(many)) => spread_of(models, &parts, positive, many, weighting)?,
            };
        if let (Weighting::Frequency, Some(weights)) = (weighting, weights)
            && let Some(weight) = weights.iter().find(|weight| weight.fract() != 0.0)
        {
            return Err(RankError::BadParameter {
                name: "weights",
                value: weight.to_string(),
                rule: "whole numbers, where they are frequencies",
            });
        }
        Ok(Self { areas, spread, effective })
    }

    /// Area of each model.
    #[must_use]
    pub fn areas(&self) -> &[f64] {
        &self.areas
    }

    /// Covariance of the areas of models `a` and `b`; `None` if a class has a single row.
    ///
    /// # Panics
    ///
    /// If there is no such model.
    #[must_use]
    pub fn covariance(&self, a: usize, b: usize) -> Option<f64> {
        let place = self.place(a, b);
        self.spread.as_ref().map(|spread| spread.covariances[place])
    }

    /// Variance of the difference of the areas of models `a` and `b`, without cancellation for
    /// nearly equal rankings. `None` as for [`PartialAreas::covariance`].
    ///
    /// # Panics
    ///
    /// If there is no such model.
    #[must_use]
    pub fn difference_variance(&self, a: usize, b: usize) -> Option<f64> {
        let place = self.place(a, b);
        self.spread.as_ref().map(|spread| spread.differences[place])
    }

    /// Numbers of positive and of negative rows: Kish's effective ones
    /// ([`DeLong::effective_rows`](super::DeLong::effective_rows)), or the sums of frequencies.
    #[must_use]
    pub fn effective_rows(&self) -> [f64; 2] {
        self.effective
    }

    fn place(&self, a: usize, b: usize) -> usize {
        let n_models = self.areas.len();
        assert!(a < n_models && b < n_models, "there are {n_models} models");
        a * n_models + b
    }
}

/// Spread, unless a class has a single row, and the numbers of positive and of negative rows.
fn spread_of<S: Score, W: Weigh>(
    models: &[&[S]],
    parts: &[CurvePart],
    positive: &[bool],
    weights: W,
    weighting: Weighting,
) -> Result<(Option<Spread>, [f64; 2]), RankError> {
    let classes = split_rows(positive, weights)?;
    let totals = classes.each_ref().map(|rows| rows.iter().map(|row| row.1).sum::<MassOf<W>>());
    let mut influences = [Vec::new(), Vec::new()];
    for (scores, part) in models.iter().zip(parts) {
        let found = place(scores, classes.each_ref(), |class, below, up_to| {
            let all = totals[1 - class];
            // The row lies between these rates of the other class.
            let [u, v] = [up_to, below].map(|below| (all - below).to_f64() / all.to_f64());
            if class == 1 { -mean_clipped(u, v, part.fpr) } else { mean_clipped(u, v, part.tpr) }
        });
        for (influences, found) in influences.iter_mut().zip(found) {
            influences.push(found);
        }
    }
    let exponents = weights.exponents();
    let class = |class: usize| {
        let rows = &classes[class];
        let total = totals[class].to_f64();
        let shares: Vec<f64> = rows.iter().map(|row| row.1.to_f64() / total).collect();
        let squares = sum_of(rows, |row| shares[row].powi(2));
        let total = times_power_of_two(total, exponents[class]);
        match weighting {
            Weighting::Sampling => (rows.len() as f64, squares.recip(), shares),
            Weighting::Frequency => (total, total, shares),
        }
    };
    let [negative, positives] = [class(0), class(1)];
    let effective = [positives.1, negative.1];
    if negative.0 < 2.0 || positives.0 < 2.0 {
        return Ok((None, effective));
    }
    let classes = [(0, negative), (1, positives)].map(|(class, (n, _, shares))| {
        let rows = &classes[class];
        let deviations: Vec<Vec<f64>> = influences[class]
            .iter()
            .map(|values| {
                // Taken from the least, values that are all equal deviate by exactly 0.
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let mean = sum_of(rows, |row| shares[row] * (values[row] - least));
                values.iter().map(|value| value - least - mean).collect()
            })
            .collect();
        move |a: usize, b: usize| {
            let (x, y) = (&deviations[a], &deviations[b]);
            let weigh = |row: usize, product: f64| match weighting {
                Weighting::Sampling => n / (n - 1.0) * shares[row].powi(2) * product,
                Weighting::Frequency => shares[row] * product / (n - 1.0),
            };
            [
                sum_of(rows, |row| weigh(row, x[row] * y[row])),
                sum_of(rows, |row| weigh(row, (x[row] - y[row]).powi(2))),
            ]
        }
    });
    Ok((Some(Spread::sum(models.len(), classes)), effective))
}

/// A sum over the rows of a class that does not depend on their order.
fn sum_of<M: Mass>(rows: &RowMasses<M>, term: impl Fn(usize) -> f64) -> f64 {
    let mut terms: Vec<f64> = (0..rows.len()).map(term).collect();
    if terms.len() < PARALLEL_FROM {
        terms.sort_unstable_by(f64::total_cmp);
    } else {
        terms.par_sort_unstable_by(f64::total_cmp);
    }
    terms.iter().sum()
}

/// Mean of a rate that is uniform from `u` to `v`, clipped to a band.
pub(super) fn mean_clipped(u: f64, v: f64, [low, high]: [f64; 2]) -> f64 {
    if u >= v {
        return u.clamp(low, high);
    }
    let (p, q) = (u.clamp(low, high), v.clamp(low, high));
    let below = (v.min(low) - u).max(0.0) * low;
    let above = (v - u.max(high)).max(0.0) * high;
    // Rounding must not take the mean out of the range of its values.
    ((below + 0.5 * (q - p) * (p + q) + above) / (v - u)).clamp(p, q)
}

impl RocCurve {
    /// Variance of [`RocCurve::partial_auc`] if the weights are [`Weighting::Frequency`], or there
    /// are none: the curve then suffices. `None` if a class has a single row.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] as for [`RocCurve::partial_auc`].
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::roc::{DeLong, RocCurve};
    ///
    /// let (scores, positive) = ([0.1, 0.4, 0.35, 0.8], [false, false, true, true]);
    /// let curve = RocCurve::new(&scores, &positive).unwrap();
    /// assert_eq!(curve.partial_variance([0.0, 1.0], [0.0, 1.0]), Ok(Some(0.125)));
    /// assert_eq!(DeLong::new(&[&scores], &positive).unwrap().covariance(0, 0), Some(0.125));
    /// ```
    pub fn partial_variance(&self, fpr: [f64; 2], tpr: [f64; 2]) -> Result<Option<f64>, RankError> {
        check_bands(fpr, tpr)?;
        let totals = self.weights_above().map(|weights| weights[weights.len() - 1]);
        if totals.iter().any(|&total| total < 2.0) {
            return Ok(None);
        }
        let (x, y) = (self.fpr(), self.tpr());
        let part = CurvePart::of(&x, &y, fpr, tpr);
        let of_class = |own: &[f64], other: &[f64], band, total: f64| {
            let segments = || {
                own.windows(2)
                    .zip(other.windows(2))
                    .filter(|(own, _)| own[1] > own[0])
                    .map(|(own, other)| (own[1] - own[0], mean_clipped(other[0], other[1], band)))
            };
            let least = segments().map(|segment| segment.1).fold(f64::INFINITY, f64::min);
            let mean: f64 = segments().map(|(share, value)| share * (value - least)).sum();
            let squares = segments().map(|(share, value)| share * (value - least - mean).powi(2));
            squares.sum::<f64>() / (total - 1.0)
        };
        let of_neg = of_class(&x, &y, part.tpr, totals[0]);
        Ok(Some(of_neg + of_class(&y, &x, part.fpr, totals[1])))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::roc::DeLong;
    use crate::roc::curve::tests::samples;

    const ALL: [f64; 2] = [0.0, 1.0];

    /// Scores of two models, class and weight.
    type Row = (i8, i8, bool, u8);

    fn band() -> impl Strategy<Value = [f64; 2]> {
        prop_oneof![
            Just(ALL),
            (0.0..0.9, 0.05..1.0)
                .prop_map(|(low, width): (f64, f64)| [low, (low + width).min(1.0)]),
        ]
    }

    /// The area of a sample as a smooth function of weights: its derivative in the weight of a row
    /// is the influence of the row, over the weight of its class, less the mean of its class.
    fn influence_by_reweighting(
        scores: &[f64],
        positive: &[bool],
        row: usize,
        bands: ([f64; 2], [f64; 2]),
    ) -> f64 {
        let area = |weight: f64| {
            let mut weights = vec![1.0; scores.len()];
            weights[row] = weight;
            RocCurve::weighted(scores, positive, &weights)
                .unwrap()
                .partial_auc(bands.0, bands.1, false)
                .unwrap()
        };
        let step = 2_f64.powi(-12);
        (area(1.0 + step) - area(1.0 - step)) / (2.0 * step)
    }

    #[test]
    fn the_influence_is_the_derivative_of_the_area() {
        let scores: Vec<f64> = (0..60).map(|i| f64::from(i * 37 % 101 + i % 3 * 20)).collect();
        let positive: Vec<bool> = (0..60).map(|i| i % 3 > 0).collect();
        for bands in
            [(ALL, ALL), ([0.0, 0.23], ALL), (ALL, [0.71, 1.0]), ([0.11, 0.47], [0.41, 0.93])]
        {
            let found =
                PartialAreas::new(&[&scores], &positive, None, Weighting::Sampling, bands).unwrap();
            let mut expected = 0.0;
            for class in [false, true] {
                let rows: Vec<usize> = (0..60).filter(|&row| positive[row] == class).collect();
                let n = rows.len() as f64;
                let squares: f64 = rows
                    .iter()
                    .map(|&row| influence_by_reweighting(&scores, &positive, row, bands).powi(2))
                    .sum();
                expected += squares * n / (n - 1.0);
            }
            let found = found.covariance(0, 0).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-2, "{bands:?}: {found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn without_bands_the_variance_is_delongs((scores, positive) in samples()) {
            let turned: Vec<f64> = scores.iter().map(|score| (score * 7.0).sin()).collect();
            let models = [&scores[..], &turned[..]];
            let found =
                PartialAreas::new(&models, &positive, None, Weighting::Sampling, (ALL, ALL)).unwrap();
            let delong = DeLong::new(&models, &positive).unwrap();
            prop_assert_eq!(found.areas(), delong.aucs());
            for (a, b) in [(0, 0), (0, 1), (1, 1)] {
                let both = found.covariance(a, b).zip(delong.covariance(a, b));
                prop_assert_eq!(both.is_some(), delong.covariance(a, b).is_some());
                prop_assert!(both.is_none_or(|(found, delong)| (found - delong).abs() < 1e-14));
                let both = found.difference_variance(a, b).zip(delong.difference_variance(a, b));
                prop_assert!(both.is_none_or(|(found, delong)| (found - delong).abs() < 1e-14));
            }
        }

        #[test]
        fn a_frequency_is_that_many_rows_and_a_sampling_weight_only_a_ratio(
            rows in prop::collection::vec((-4..4_i8, -2..3_i8, any::<bool>(), 0..4_u8), 0..40),
            fpr in band(), tpr in band(),
        ) {
            let mut rows = rows;
            rows.extend([(0, 0, true, 1), (1, -1, false, 2), (2, 2, true, 3), (0, 1, false, 1)]);
            let column = |of: &dyn Fn(&Row) -> f64, repeat: bool| -> Vec<f64> {
                rows.iter()
                    .flat_map(|row| vec![of(row); if repeat { usize::from(row.3) } else { 1 }])
                    .collect()
            };
            let columns = |repeat| {
                [
                    column(&|row| f64::from(row.0), repeat),
                    column(&|row| f64::from(row.1), repeat),
                    column(&|row| f64::from(u8::from(row.2)), repeat),
                    column(&|row| f64::from(row.3), repeat),
                ]
            };
            let of = |[first, second, labels, _]: &[Vec<f64>; 4], weights: Option<&[f64]>, how| {
                let positive: Vec<bool> = labels.iter().map(|&label| label == 1.0).collect();
                PartialAreas::new(&[first, second], &positive, weights, how, (fpr, tpr)).unwrap()
            };
            let (short, long) = (columns(false), columns(true));
            let copies = of(&long, None, Weighting::Sampling);
            let counted = of(&short, Some(&short[3]), Weighting::Frequency);
            prop_assert_eq!(counted.areas(), copies.areas());
            for (rows, copies) in counted.effective_rows().iter().zip(copies.effective_rows()) {
                prop_assert!((rows - copies).abs() < 1e-9);
            }
            for (a, b) in [(0, 0), (0, 1), (1, 1)] {
                let near = |x: Option<f64>, y: Option<f64>| (x.unwrap() - y.unwrap()).abs() < 1e-14;
                prop_assert!(near(counted.covariance(a, b), copies.covariance(a, b)));
                let of_both = (counted.difference_variance(a, b), copies.difference_variance(a, b));
                prop_assert!(near(of_both.0, of_both.1));
            }
            let positive: Vec<bool> = short[2].iter().map(|&label| label == 1.0).collect();
            let curve = RocCurve::weighted(&short[0], &positive, &short[3]).unwrap();
            let variance = curve.partial_variance(fpr, tpr).unwrap().unwrap();
            prop_assert!((variance - copies.covariance(0, 0).unwrap()).abs() < 1e-14);
            let tripled: Vec<f64> = short[3].iter().map(|weight| 3.0 * weight).collect();
            let one = of(&short, Some(&short[3]), Weighting::Sampling);
            let three = of(&short, Some(&tripled), Weighting::Sampling);
            let gap = one.covariance(0, 1).unwrap() - three.covariance(0, 1).unwrap();
            prop_assert!(gap.abs() < 1e-14);
        }

        #[test]
        fn the_order_of_the_rows_changes_no_bit((scores, positive) in samples(), by in any::<usize>()) {
            let weights: Vec<f64> = (0..scores.len()).map(|row| 0.3 + row as f64).collect();
            let of = |scores: &[f64], positive: &[bool], weights: &[f64]| {
                let bands = ([0.1, 0.6], [0.2, 0.9]);
                PartialAreas::new(&[scores], positive, Some(weights), Weighting::Sampling, bands)
            };
            let found = of(&scores, &positive, &weights);
            let by = by % scores.len();
            let (mut scores, mut positive, mut weights) = (scores, positive, weights);
            scores.rotate_left(by);
            positive.rotate_left(by);
            weights.rotate_left(by);
            prop_assert_eq!(of(&scores, &positive, &weights), found);
        }
    }

    #[test]
    fn a_frequency_is_whole() {
        let half = PartialAreas::new(
            &[&[0.0, 1.0]],
            &[false, true],
            Some(&[1.0, 0.5]),
            Weighting::Frequency,
            (ALL, ALL),
        );
        assert!(matches!(half, Err(RankError::BadParameter { name: "weights", .. })));
    }
}
