//! The definitions of one tree and of the losses, and invariances of a fit.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::bags::bag_seed;
use super::fit_rows::FitRows;
use super::loss::Loss;
use super::*;
use crate::boost::BoostError;
use crate::data::{Binned, BinningParams, Column, Columns, Folds, Labels, MISSING_CODE, mix, snap};
use crate::tree::Cuts;
use crate::{Interrupt, RankError};

/// Two numbers and a category, with missing values, and labels that depend on all of them.
#[derive(Clone)]
struct Sample {
    numbers: [Vec<f64>; 2],
    codes: Vec<u32>,
    positive: Vec<bool>,
    weights: Option<Vec<f64>>,
}

const N_LEVELS: u32 = 12;

fn unit(row: usize, j: u64) -> f64 {
    (mix(mix(row as u64) ^ j) >> 11) as f64 / (1_u64 << 53) as f64
}

impl Sample {
    fn new(n_rows: usize) -> Self {
        let number = |j: u64| -> Vec<f64> {
            let value = |row| if unit(row, j + 9) < 0.1 { f64::NAN } else { unit(row, j) };
            (0..n_rows).map(value).collect()
        };
        let numbers = [number(0), number(1)];
        let code = |row| match (unit(row, 2) * 13.0) as u32 {
            code @ 0..N_LEVELS => code,
            _ => MISSING_CODE,
        };
        let codes: Vec<u32> = (0..n_rows).map(code).collect();
        let known = |value: f64| if value.is_nan() { 0.8 } else { value };
        let positive = (0..n_rows)
            .map(|row| {
                let [a, b] = [known(numbers[0][row]), known(numbers[1][row])];
                let of_code = f64::from(codes[row].min(12) % 3) / 2.0;
                a + (5.0 * b).sin() * of_code + unit(row, 3) > 1.2
            })
            .collect();
        Self { numbers, codes, positive, weights: None }
    }

    /// The rows with these numbers, in this order.
    fn rows(&self, rows: &[usize]) -> Self {
        fn take<T: Copy>(of: &[T], rows: &[usize]) -> Vec<T> {
            rows.iter().map(|&row| of[row]).collect()
        }
        Self {
            numbers: self.numbers.each_ref().map(|numbers| take(numbers, rows)),
            codes: take(&self.codes, rows),
            positive: take(&self.positive, rows),
            weights: self.weights.as_ref().map(|weights| take(weights, rows)),
        }
    }

    fn len(&self) -> usize {
        self.positive.len()
    }

    fn columns(&self) -> Columns<'_> {
        let [a, b] = &self.numbers;
        let codes = Column::Codes { codes: &self.codes, n_levels: N_LEVELS };
        Columns::new(vec![a.as_slice().into(), b.as_slice().into(), codes], self.len()).unwrap()
    }

    fn labels(&self) -> Labels<'_> {
        Labels::new(&self.positive, self.weights.as_deref()).unwrap()
    }

    fn fit(&self, params: &GradientParams) -> GradientBoosted {
        self.fit_given(params, &GradientExtras::default()).unwrap()
    }

    fn fit_given(
        &self,
        params: &GradientParams,
        given: &GradientExtras<'_>,
    ) -> Result<GradientBoosted, RankError> {
        let interrupt = Interrupt::default();
        fit_gradient_boosting((&self.columns(), &self.labels()), params, given, &interrupt)
    }
}

fn few(loss: Loss) -> GradientParams {
    let (learning_rate, max_leaves) = (Some(0.2), Some(32));
    GradientParams { loss, n_rounds: 12, learning_rate, max_leaves, ..GradientParams::default() }
}

const LOSSES: [Loss; 3] = [Loss::Log, Loss::PairExponential, Loss::PairLogistic];

/// Losses, with the false positive rates up to which they should rank well.
const AIMS: [(Loss, f64); 5] = [
    (Loss::Log, 1.0),
    (Loss::PairExponential, 1.0),
    (Loss::PairLogistic, 1.0),
    (Loss::PairExponential, 0.1),
    (Loss::PairLogistic, 0.1),
];

/// Gradient and hessian of log loss of each row at the start, in units and with its weight.
fn plain_derivatives(sample: &Sample, start: f64) -> Vec<(f64, f64)> {
    let rate = 1.0 / (1.0 + (-start).exp());
    (0..sample.len())
        .map(|row| {
            let weight = sample.weights.as_ref().map_or(1.0, |weights| weights[row]);
            let gradient = rate - f64::from(u8::from(sample.positive[row]));
            let [g, h] = [(gradient, 20), (rate * (1.0 - rate), 19)]
                .map(|(value, bits)| (value * 2_f64.powi(bits)).round() / 2_f64.powi(bits));
            (weight * g, weight * h)
        })
        .collect()
}

/// The largest gain of any test of these rows, by the definition.
fn best_gain(sample: &Sample, rows: &[usize], derivatives: &[(f64, f64)], least: usize) -> f64 {
    let sums = |rows: &mut dyn Iterator<Item = usize>| {
        rows.fold((0.0, 0.0, 0), |(g, h, n), row| {
            (g + derivatives[row].0, h + derivatives[row].1, n + 1)
        })
    };
    let of = |(g, h, _): (f64, f64, usize)| g * g / (h + 1.0) / 2.0;
    let all = sums(&mut rows.iter().copied());
    let mut best: f64 = 0.0;
    let mut offer = |goes_left: &dyn Fn(usize) -> bool| {
        let left = sums(&mut rows.iter().copied().filter(|&row| goes_left(row)));
        let right = sums(&mut rows.iter().copied().filter(|&row| !goes_left(row)));
        if left.2.min(right.2) >= least {
            best = best.max(of(left) + of(right) - of(all));
        }
    };
    for numbers in &sample.numbers {
        for &cut in rows.iter().map(|&row| &numbers[row]).filter(|value| !value.is_nan()) {
            offer(&|row| numbers[row] < cut);
            offer(&|row| numbers[row].is_nan() || numbers[row] < cut);
        }
        offer(&|row| numbers[row].is_nan());
    }
    best
}

#[test]
fn each_split_of_a_tree_gains_most_by_the_definition() {
    for weighted in [false, true] {
        let mut sample = Sample::new(240);
        if weighted {
            sample.weights = Some((0..240).map(|row| 1.0 + f64::from(row % 3)).collect());
        }
        // Fewer distinct numbers than bins, and a constant category.
        let params = GradientParams {
            n_rounds: 1,
            learning_rate: Some(0.5),
            max_leaves: Some(9),
            min_samples_leaf: LeafRows::Rows(7),
            l2: 1.0,
            cuts: Cuts::Best,
            subsample: 1.0,
            ..GradientParams::default()
        };
        sample.codes.fill(0);
        let mut copies: Vec<usize> = (0..240).collect();
        if let Some(weights) = &sample.weights {
            copies = (0..240).flat_map(|row| vec![row; weights[row] as usize]).collect();
        }
        let model = sample.fit(&params);
        let sample = Sample { weights: None, ..sample.rows(&copies) };
        let derivatives = plain_derivatives(&sample, model.base());
        let tree = &model.trees()[0];
        assert_eq!(tree.n_leaves(), 9);
        let [a, b] = &sample.numbers;
        let raw: Vec<[f64; 3]> = (0..sample.len()).map(|row| [a[row], b[row], 0.0]).collect();
        let mut of_leaves = Vec::new();
        let mut waiting = vec![(0, (0..sample.len()).collect::<Vec<_>>())];
        let mut least_gain = f64::INFINITY;
        while let Some((place, rows)) = waiting.pop() {
            match &tree.nodes()[place] {
                GradientNode::Split { test, right, gain } => {
                    let best = best_gain(&sample, &rows, &derivatives, 7);
                    assert!((gain / best - 1.0).abs() < 1e-9, "{gain} {best}");
                    least_gain = least_gain.min(*gain);
                    let (left, others): (Vec<_>, Vec<_>) =
                        rows.into_iter().partition(|&row| test.goes_left(&raw[row]));
                    waiting.extend([(*right, others), (place + 1, left)]);
                }
                GradientNode::Leaf { value, weight } => {
                    let (g, h) = rows.iter().fold((0.0, 0.0), |(g, h), &row| {
                        (g + derivatives[row].0, h + derivatives[row].1)
                    });
                    assert_eq!(*value, snap(0.5 * -(g / (h + 1.0))));
                    assert_eq!(*weight, rows.len() as f64);
                    of_leaves.push(best_gain(&sample, &rows, &derivatives, 7));
                }
            }
        }
        // The best leaf was always split first.
        assert!(of_leaves.into_iter().all(|gain| gain <= least_gain * (1.0 + 1e-9)));
    }
}

#[test]
fn derivatives_are_those_of_the_losses() {
    let sample = Sample {
        weights: Some((0..60).map(|row| f64::from(row % 3)).collect()),
        ..Sample::new(60)
    };
    let (columns, labels) = (sample.columns(), sample.labels());
    let interrupt = Interrupt::default();
    let binned = Binned::new(&columns, &labels, BinningParams::default(), &interrupt).unwrap();
    let training = labels.rows();
    let rows = FitRows::new(&binned, &labels, training.into());
    let scores: Vec<f64> = (0..60).map(|row| 4.0 * unit(row, 77) - 2.0).collect();
    let masses: Vec<f64> = (0..60).map(|row| rows.mass(row) as f64).collect();
    let mass_of = |class: bool| -> f64 {
        (0..60).filter(|&row| sample.positive[row] == class).map(|row| masses[row]).sum()
    };
    let logistic_loss = |difference: f64| (1.0 + difference.exp()).ln();
    for max_fpr in [1.0, 0.35, 0.01] {
        // The highest negatives count in full, up to the share, and the others 0.3.
        let part = |scores: &[f64], row: usize| {
            let sum = |is_in: &dyn Fn(f64) -> bool| -> f64 {
                let rows = (0..60).filter(|&other| !sample.positive[other]);
                rows.filter(|&other| is_in(scores[other])).map(|other| masses[other]).sum()
            };
            let above = sum(&|score| score > scores[row]);
            let tied = sum(&|score| score == scores[row]).max(1.0);
            let within = ((max_fpr * mass_of(false) - above) / tied).clamp(0.0, 1.0);
            0.3 + 0.7 * within
        };
        let total = mass_of(true) + (0.3 + 0.7 * max_fpr) * mass_of(false);
        let mean_over_pairs = |scores: &[f64], of: &dyn Fn(f64) -> f64| {
            let (mut sum, mut pairs) = (0.0, 0.0);
            for j in (0..60).filter(|&j| !sample.positive[j]) {
                let mass = masses[j] * part(scores, j);
                for i in (0..60).filter(|&i| sample.positive[i]) {
                    sum += masses[i] * mass * of(scores[j] - scores[i]);
                    pairs += masses[i] * mass;
                }
            }
            sum / pairs
        };
        let plain = |loss: Loss, scores: &[f64]| match loss {
            Loss::Log => (0..60)
                .map(|row| {
                    let sign = if sample.positive[row] { -1.0 } else { 1.0 };
                    masses[row] * logistic_loss(sign * scores[row])
                })
                .sum::<f64>(),
            Loss::PairExponential => total / 2.0 * mean_over_pairs(scores, &f64::exp).ln(),
            Loss::PairLogistic => total / 2.0 * mean_over_pairs(scores, &logistic_loss),
        };
        for (loss, tolerance) in LOSSES.into_iter().zip([1e-6, 1e-6, 2e-3]) {
            let at = loss.at(&scores, &rows, max_fpr);
            for row in 0..60 {
                let step = 1e-4;
                let moved = |by: f64| {
                    let mut scores = scores.clone();
                    scores[row] += by;
                    plain(loss, &scores)
                };
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                let (gradient, hessian) = at.derivatives(scores[row], sample.positive[row]);
                assert!((masses[row] * gradient - slope).abs() < tolerance, "{loss:?} {row}");
                // For the exponential loss, the square of the gradient is left out.
                if loss == Loss::PairExponential {
                    assert_eq!(hessian, gradient.abs());
                } else {
                    let curve = (moved(step) + moved(-step) - 2.0 * moved(0.0)) / (step * step);
                    let off = (masses[row] * hessian - curve).abs();
                    assert!(off < 1e-4 + tolerance, "{loss:?} {row}");
                }
            }
            let units: Vec<u64> = (0..60).map(|row| rows.mass(row)).collect();
            let value = loss.value(&scores, &sample.positive, Some(&units), max_fpr);
            let expected = match loss {
                Loss::Log => plain(loss, &scores) / (mass_of(true) + mass_of(false)),
                _ => plain(loss, &scores) / (total / 2.0),
            };
            assert!((value - expected).abs() < tolerance, "{loss:?}: {value} {expected}");
        }
    }
}

#[test]
fn neither_threads_nor_the_order_of_rows_matter() {
    let sample = Sample::new(20_000);
    for (loss, max_fpr) in AIMS {
        let params = GradientParams { max_fpr, ..few(loss) };
        let fits = [1, 2, 7].map(|n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| sample.fit(&params))
        });
        assert!(fits[0].trees().len() == 12);
        assert!(fits.iter().all(|fit| *fit == fits[0]));
        let mut order: Vec<usize> = (0..sample.len()).collect();
        order.sort_by_key(|&row| mix(row as u64));
        let shuffled = sample.rows(&order);
        assert_eq!(shuffled.fit(&params), fits[0]);
    }
}

#[test]
fn a_weight_counts_copies_and_a_row_without_weight_is_ignored() {
    let mut sample = Sample::new(500);
    sample.weights = Some((0..500).map(|row| (mix(row as u64) % 4) as f64).collect());
    let weights = sample.weights.clone().unwrap();
    let copies: Vec<usize> = (0..500).flat_map(|row| vec![row; weights[row] as usize]).collect();
    let copied = Sample { weights: None, ..sample.rows(&copies) };
    for (loss, max_fpr) in AIMS {
        for cuts in [Cuts::Best, Cuts::Random] {
            let params = GradientParams { cuts, max_fpr, learning_rate: None, ..few(loss) };
            assert_eq!(sample.fit(&params), copied.fit(&params), "{loss:?}");
        }
    }
    let held_out = GradientHeldOutParams {
        rows: HeldOutRows::Share(0.3),
        measure: HeldOutMeasure::Loss,
        n_iter_no_change: 3,
        tol: 0.0,
        refit: GradientRefit::Trees,
    };
    let params = GradientParams { held_out: Some(held_out), ..few(Loss::Log) };
    assert_eq!(sample.fit(&params), copied.fit(&params));
}

#[test]
fn further_rounds_are_those_of_one_longer_fit() {
    let sample = Sample::new(600);
    for (loss, max_fpr) in AIMS {
        let params = GradientParams { max_fpr, ..few(loss) };
        let half = sample.fit(&GradientParams { n_rounds: 5, ..params.clone() });
        let given = GradientExtras { earlier: Some(&half), ..GradientExtras::default() };
        let other_seed = GradientParams { seed: 99, ..params.clone() };
        assert_eq!(sample.fit_given(&other_seed, &given).unwrap(), sample.fit(&params));
    }
}

#[test]
fn scores_are_those_of_the_formula_and_of_the_rounds() {
    let sample = Sample::new(700);
    for loss in LOSSES {
        let model = sample.fit(&few(loss));
        assert_eq!(model.check(), Ok(()));
        let columns = sample.columns();
        let scores = model.score(&columns).unwrap();
        assert_eq!(model.formula().values(&columns).unwrap(), scores);
        let mut sums = vec![model.base(); 700];
        for round in 0..model.trees().len() {
            let values = model.round_values(&columns, round).unwrap();
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        assert_eq!(sums, scores);
        check_saved(&model);
    }
}

#[test]
fn a_threshold_off_the_grid_is_subtracted_from_the_exact_sum() {
    let sample = Sample::new(700);
    let columns = sample.columns();
    let model = sample.fit(&few(Loss::PairExponential));
    let (raw, base) = (model.score(&columns).unwrap(), model.base());
    assert_eq!(base + model.threshold(), 0.0);
    for threshold in [0.1, -1.0 / 3.0, 1e-17, 1e5 / 7.0] {
        let mut model = model.clone();
        model.set_threshold(threshold);
        let scores = model.score(&columns).unwrap();
        assert_eq!(model.formula().values(&columns).unwrap(), scores);
        let expected: Vec<f64> = raw.iter().map(|raw| (raw - base) - threshold).collect();
        assert_eq!(scores, expected);
    }
}

#[test]
fn a_tree_tests_one_feature_if_it_must_not_combine_them() {
    let sample = Sample::new(800);
    let params =
        GradientParams { interactions: Interactions::Groups(Vec::new()), ..few(Loss::Log) };
    let model = sample.fit(&params);
    assert!(model.is_additive() && model.trees().len() == 12);
    let columns = sample.columns();
    let parts = model.explain(&columns).unwrap();
    for (parts, score) in parts.chunks(3).zip(model.score(&columns).unwrap()) {
        assert_eq!(parts.iter().sum::<f64>() + model.base(), score);
    }
    let pairs =
        GradientParams { interactions: Interactions::Groups(vec![vec![0, 2]]), ..params.clone() };
    for tree in sample.fit(&pairs).trees() {
        let asks = |feature| tree.tests().any(|(test, _)| test.feature == feature);
        assert!(!(asks(1) && (asks(0) || asks(2))));
    }
    let free = sample.fit(&GradientParams { interactions: Interactions::Any, ..params });
    assert_eq!(free.explain(&columns), Err(RankError::Boost(BoostError::NotAdditive)));
}

/// Boosting with all options that depend on the seed.
fn drawn(loss: Loss) -> GradientParams {
    let held_out = GradientHeldOutParams {
        rows: HeldOutRows::Share(0.2),
        measure: HeldOutMeasure::Loss,
        n_iter_no_change: 3,
        tol: 0.0,
        refit: GradientRefit::None,
    };
    GradientParams { held_out: Some(held_out), cuts: Cuts::Random, ..few(loss) }
}

#[test]
fn bags_are_the_mean_of_fits_of_other_seeds() {
    let sample = Sample::new(600);
    let columns = sample.columns();
    for loss in LOSSES {
        let params = drawn(loss);
        let bags = GradientParams { n_bags: 3, seed: 7, ..params.clone() };
        let model = sample.fit(&bags);
        assert_eq!(model.check(), Ok(()));
        let alone: Vec<GradientBoosted> = (0..3)
            .map(|bag| GradientParams { seed: bag_seed(7, bag), ..params.clone() })
            .map(|params| sample.fit(&params))
            .collect();
        assert!(alone[0] != alone[1] && alone[1] != alone[2]);
        let n_trees: Vec<usize> = alone.iter().map(|model| model.trees().len()).collect();
        let of_bags = model.bags().iter();
        assert_eq!(of_bags.clone().map(|bag| bag.n_rounds).collect::<Vec<_>>(), n_trees);
        assert!(of_bags.zip(&alone).all(|(bag, model)| bag.held_out.as_ref() == model.held_out()));
        assert_eq!(model.trees().len(), n_trees.iter().sum::<usize>());
        // Sums of all trees: thresholds of pair losses are recomputed.
        let sums = |model: &GradientBoosted| -> Vec<f64> {
            let scores = model.score(&columns).unwrap();
            scores.into_iter().map(|score| score + model.threshold()).collect()
        };
        let of_alone: Vec<Vec<f64>> = alone.iter().map(sums).collect();
        for (row, sum) in sums(&model).into_iter().enumerate() {
            let mean = of_alone.iter().map(|sums| sums[row]).sum::<f64>() / 3.0;
            assert!((sum - mean).abs() < 1e-8, "{sum} {mean}");
        }
        // The first trees are the first of each bag.
        for (tree, model) in model.trees().iter().zip(&alone) {
            let values = model.trees()[0].values().map(|value| snap(value / 3.0));
            assert_eq!(tree.values().collect::<Vec<_>>(), values.collect::<Vec<_>>());
        }
    }
}

/// By the definition, with sums of doubles.
#[test]
fn values_that_are_set_again_are_newton_steps_of_all_rows() {
    for weights in [None, Some((0..500).map(|row| f64::from(row % 4)).collect::<Vec<f64>>())] {
        let sample = Sample { weights, ..Sample::new(500) };
        let columns = sample.columns();
        let fit = |refit| {
            let mut params = GradientParams { n_rounds: 30, ..drawn(Loss::Log) };
            params.held_out.as_mut().unwrap().refit = refit;
            sample.fit(&params)
        };
        let (before, after) = (fit(GradientRefit::None), fit(GradientRefit::Leaves));
        assert_eq!(after.check(), Ok(()));
        assert_eq!(after.held_out(), before.held_out());
        assert!(before.trees().len() > 5);
        let mass: Vec<f64> = (0..500)
            .map(|row| sample.weights.as_ref().map_or(1.0, |weights| weights[row]))
            .collect();
        let rows: Vec<usize> = (0..500).filter(|&row| mass[row] > 0.0).collect();
        let total = |class: bool| -> f64 {
            rows.iter().filter(|&&row| sample.positive[row] == class).map(|&row| mass[row]).sum()
        };
        let mut scores = vec![(total(true) / total(false)).ln(); 500];
        assert!((after.base() - scores[0]).abs() < 1e-9);
        for (round, (old, new)) in before.trees().iter().zip(after.trees()).enumerate() {
            assert!(old.tests().eq(new.tests()));
            let numbered = old.clone().with_leaves((0..).map(|leaf| (f64::from(leaf), 0.0)));
            let mut leaves = vec![0.0; 500];
            numbered.add_values(&columns, &[], &mut leaves).unwrap();
            let found = after.round_values(&columns, round).unwrap();
            for leaf in numbered.values() {
                let of_leaf = || rows.iter().copied().filter(|&row| leaves[row] == leaf);
                let [mut gradient, mut hessian] = [0.0; 2];
                for row in of_leaf() {
                    let rate = 1.0 / (1.0 + (-scores[row]).exp());
                    gradient += mass[row] * (rate - f64::from(u8::from(sample.positive[row])));
                    hessian += mass[row] * rate * (1.0 - rate);
                }
                let expected = -gradient / (hessian + 1.0) * after.learning_rate();
                assert!(of_leaf().all(|row| (found[row] - expected).abs() < 1e-4), "{expected}");
            }
            // The sum of the weights of all leaves is the number of rows.
            let n_rows: f64 = rows.iter().map(|&row| mass[row]).sum();
            assert!((new.weights()[0] - n_rows).abs() < 1e-6);
            scores.iter_mut().zip(found).for_each(|(score, value)| *score += value);
        }
    }
}

#[test]
fn folds_keep_the_models_without_them_where_values_are_set_again() {
    let sample = Sample::new(400);
    let (columns, labels) = (sample.columns(), sample.labels());
    let params = |refit| {
        let mut params = by_folds(Loss::Log);
        params.held_out.as_mut().unwrap().refit = refit;
        params
    };
    let folds = |refit| {
        let interrupt = Interrupt::default();
        fit_gradient_folds((&columns, &labels), 5, &params(refit), &interrupt).unwrap()
    };
    let (before, after) = (folds(GradientRefit::None), folds(GradientRefit::Leaves));
    let models = |of: &[GradientFold]| -> Vec<GradientBoosted> {
        of.iter().map(|fold| fold.without_fold.clone()).collect()
    };
    assert_eq!(models(&before), models(&after));
    assert!(before.iter().all(|fold| fold.of_all_rows.is_none()));
    // The models for new rows are the bags of one fit.
    let scores = sample.fit(&params(GradientRefit::Leaves)).score(&columns).unwrap();
    let of_folds = after.iter().map(|fold| fold.of_all_rows.as_ref().unwrap());
    let of_folds: Vec<Vec<f64>> = of_folds.map(|model| model.score(&columns).unwrap()).collect();
    for (row, score) in scores.into_iter().enumerate() {
        let mean = of_folds.iter().map(|scores| scores[row]).sum::<f64>() / 5.0;
        assert!((score - mean).abs() < 1e-8, "{score} {mean}");
    }
}

/// Five bags that each leave out a fold.
fn by_folds(loss: Loss) -> GradientParams {
    let params = drawn(loss);
    let held_out = params
        .held_out
        .map(|stopping| GradientHeldOutParams { rows: HeldOutRows::Fold, ..stopping });
    GradientParams { held_out, n_bags: 5, n_rounds: 40, ..params }
}

/// A sample with few distinct numbers, so that subsets of its rows have the same cuts.
fn coarse(n_rows: usize) -> Sample {
    let mut sample = Sample::new(n_rows);
    for number in sample.numbers.iter_mut().flatten() {
        *number = (*number * 20.0).floor();
    }
    sample
}

#[test]
fn bags_without_a_fold_are_fits_to_the_others_and_stop_where_their_mean_is_best() {
    let sample = coarse(700);
    let (columns, labels) = (sample.columns(), sample.labels());
    for loss in LOSSES {
        let params = GradientParams { seed: 4, learning_rate: Some(0.3), ..by_folds(loss) };
        let stopping = params.held_out.unwrap();
        let folds = Folds::deal(&columns, &labels, 5, params.seed, &Interrupt::default()).unwrap();
        let of_folds =
            fit_gradient_folds((&columns, &labels), &folds, &params, &Interrupt::default())
                .unwrap();
        let models: Vec<&GradientBoosted> =
            of_folds.iter().map(|fold| &fold.without_fold).collect();
        let paths: Vec<&GradientHeldOut> =
            models.iter().map(|model| model.held_out().unwrap()).collect();
        let n_values = paths[0].values.len();
        let mean = |round: usize| paths.iter().map(|path| path.values[round]).sum::<f64>() / 5.0;
        let best = (0..n_values).min_by(|&a, &b| mean(a).total_cmp(&mean(b))).unwrap();
        assert!(n_values >= params.n_rounds || n_values > best + stopping.n_iter_no_change);
        for (number, model) in models.iter().enumerate() {
            let is_out = |row: &usize| usize::from(folds.of_row[*row]) == number;
            let (out, kept): (Vec<usize>, Vec<usize>) = (0..sample.len()).partition(is_out);
            let (out, kept) = (sample.rows(&out), sample.rows(&kept));
            let alone = kept.fit(&GradientParams {
                n_rounds: best + 1,
                held_out: None,
                n_bags: 1,
                seed: bag_seed(params.seed, number),
                ..params.clone()
            });
            assert_eq!(model.trees(), alone.trees());
            let scores: Vec<f64> = {
                let base = model.threshold();
                model.score(&out.columns()).unwrap().iter().map(|score| score + base).collect()
            };
            let found = loss.value(&scores, &out.positive, None, 1.0);
            assert!((paths[number].values[best] - found).abs() < 1e-6);
        }
        // The model of all bags is their mean.
        let whole = sample.fit(&params);
        let bags: Vec<Option<&GradientHeldOut>> =
            whole.bags().iter().map(|bag| bag.held_out.as_ref()).collect();
        assert_eq!(bags, paths.into_iter().map(Some).collect::<Vec<_>>());
        assert_eq!(whole.trees().len(), 5 * (best + 1));
        assert_eq!(whole.check(), Ok(()));
    }
}

/// A trial for the number of leaves, with whose rounds the first bags start, affects nothing else.
#[test]
fn a_chosen_number_of_leaves_acts_like_a_given_one() {
    let folds = (HeldOutRows::Fold, 3);
    let shares = (HeldOutRows::Share(0.1), 2);
    for (n, candidates, (rows, n_bags)) in [
        (20_000, [32, 128], folds),
        (20_000, [32, 128], shares),
        (19_999, [32, 8], folds),
        (19_999, [32, 8], shares),
    ] {
        let sample = coarse(n);
        // Bags that run all rounds, and bags that stop long before.
        for (n_rounds, rate) in [(24, 0.1), (320, 0.8)] {
            let params = by_folds(Loss::Log);
            let held_out =
                params.held_out.map(|stopping| GradientHeldOutParams { rows, ..stopping });
            let (learning_rate, max_leaves) = (Some(rate), None);
            let params =
                GradientParams { n_rounds, learning_rate, max_leaves, held_out, n_bags, ..params };
            let chosen = sample.fit(&params);
            let n_kept = chosen.trees().len() / n_bags;
            assert!(if rate < 0.5 { n_kept >= 20 } else { n_kept < 100 }, "{n_kept} rounds");
            let given =
                |leaves| sample.fit(&GradientParams { max_leaves: Some(leaves), ..params.clone() });
            assert!(candidates.into_iter().any(|leaves| chosen == given(leaves)));
        }
    }
}

#[test]
fn a_trial_leaves_most_of_the_time_to_the_fit() {
    let sample = coarse(1000);
    let stopping = by_folds(Loss::Log).held_out.unwrap();
    let params = GradientParams {
        n_rounds: 1000,
        learning_rate: Some(0.01),
        max_leaves: None,
        held_out: Some(GradientHeldOutParams { n_iter_no_change: 1000, ..stopping }),
        ..by_folds(Loss::Log)
    };
    // Of a thousand looks at the clock, one for each round of a bag, the trial has a fifth.
    let n_looks = AtomicUsize::new(0);
    let spent = move || n_looks.fetch_add(1, Ordering::Relaxed) as f64 / 1000.0;
    let interrupt = Interrupt::default().limited_by(spent);
    let (columns, labels) = (sample.columns(), sample.labels());
    let extras = GradientExtras::default();
    let model = fit_gradient_boosting((&columns, &labels), &params, &extras, &interrupt).unwrap();
    assert!(model.bags().iter().all(|bag| bag.n_rounds > 100), "{:?}", model.bags());
}

#[test]
fn bags_without_a_fold_depend_neither_on_threads_nor_on_the_order_of_rows_or_copies() {
    let sample = Sample::new(900);
    let order: Vec<usize> = (0..900).map(|row| (row * 7) % 900).collect();
    for loss in LOSSES {
        for interactions in [Interactions::Any, Interactions::Pairs(2)] {
            let params = GradientParams { interactions, n_bags: 3, n_rounds: 20, ..by_folds(loss) };
            let fits = [1, 3].map(|n_threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                pool.install(|| sample.fit(&params))
            });
            assert_eq!(fits[0], fits[1]);
            assert_eq!(sample.rows(&order).fit(&params), fits[0]);
        }
    }
    let mut weighted = Sample::new(300);
    weighted.weights = Some((0..300).map(|row| (mix(row as u64) % 4) as f64).collect());
    let weights = weighted.weights.clone().unwrap();
    let copies: Vec<usize> = (0..300).flat_map(|row| vec![row; weights[row] as usize]).collect();
    let copied = Sample { weights: None, ..weighted.rows(&copies) };
    let params = by_folds(Loss::Log);
    assert_eq!(weighted.fit(&params), copied.fit(&params));
}

#[test]
fn folds_that_cannot_be_left_out_are_refused() {
    let sample = Sample::new(60);
    let (columns, labels) = (sample.columns(), sample.labels());
    let refused = |of_row: Vec<u16>, n_folds, params: &GradientParams| {
        let folds = Folds { of_row, n_folds };
        fit_gradient_folds((&columns, &labels), &folds, params, &Interrupt::default())
            .unwrap_err()
            .to_string()
    };
    let params = by_folds(Loss::Log);
    let alternating: Vec<u16> = (0..60).map(|row| row % 2).collect();
    assert!(refused(vec![0; 60], 1, &params).contains("n_folds is 1"));
    assert!(refused(alternating.clone(), 3, &params).contains("n_folds is 3"));
    assert!(refused(vec![0; 59], 2, &params).contains("59"));
    let by_class: Vec<u16> = sample.positive.iter().map(|&positive| positive.into()).collect();
    assert!(refused(by_class, 2, &params).contains("both classes"));
    assert!(refused(alternating, 2, &few(Loss::Log)).contains("held_out"));
    let one = GradientParams { n_bags: 1, ..params };
    let extras = GradientExtras::default();
    assert!(sample.fit_given(&one, &extras).unwrap_err().to_string().starts_with("n_bags is 1"));
}

#[test]
fn bags_do_not_depend_on_threads_and_can_be_saved() {
    let sample = Sample::new(3000);
    let params = GradientParams {
        n_bags: 5,
        interactions: Interactions::Groups(Vec::new()),
        ..drawn(Loss::Log)
    };
    let fits = [1, 2, 7].map(|n_threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| sample.fit(&params))
    });
    assert!(fits.iter().all(|fit| *fit == fits[0]));
    let model = &fits[0];
    check_saved(model);
    let columns = sample.columns();
    let scores = model.score(&columns).unwrap();
    assert_eq!(model.formula().values(&columns).unwrap(), scores);
    for (parts, score) in model.explain(&columns).unwrap().chunks(3).zip(scores) {
        assert_eq!(parts.iter().sum::<f64>() + model.base(), score);
    }
}

#[test]
fn bags_have_no_warm_start() {
    let sample = Sample::new(300);
    let bags = GradientParams { n_bags: 2, ..few(Loss::Log) };
    let (one, two) = (sample.fit(&few(Loss::Log)), sample.fit(&bags));
    for (params, earlier) in [(&bags, &one), (&few(Loss::Log), &two)] {
        let given = GradientExtras { earlier: Some(earlier), ..GradientExtras::default() };
        let refusal = sample.fit_given(params, &given).unwrap_err().to_string();
        assert!(refusal.starts_with("n_bags is 2"), "{refusal}");
    }
}

#[test]
fn a_rate_is_a_share_and_works_with_pairs() {
    let sample = Sample::new(60);
    for (loss, max_fpr) in
        [(Loss::Log, 0.5), (Loss::PairExponential, 0.0), (Loss::PairLogistic, 1.5)]
    {
        let params = GradientParams { max_fpr, ..few(loss) };
        let refusal = sample.fit_given(&params, &GradientExtras::default()).unwrap_err();
        assert!(refusal.to_string().starts_with(&format!("max_fpr is {max_fpr}")), "{refusal}");
    }
}

/// Settings of few rounds with pairs.
fn paired(loss: Loss) -> GradientParams {
    GradientParams { interactions: Interactions::Pairs(2), max_leaves: Some(3), ..few(loss) }
}

/// Checks that contributions and the base add up to the scores, like the formula, to the bit.
fn check_parts(model: &GradientBoosted, sample: &Sample) {
    let columns = sample.columns();
    let scores = model.score(&columns).unwrap();
    let n_pairs = model.pairs().unwrap().len();
    let parts = model.explain(&columns).unwrap();
    assert_eq!(parts.len(), sample.len() * (3 + n_pairs));
    for (parts, score) in parts.chunks(3 + n_pairs).zip(&scores) {
        assert_eq!(parts.iter().sum::<f64>() + model.base(), *score);
    }
    assert_eq!(model.formula().values(&columns).unwrap(), scores);
    assert_eq!(model.check(), Ok(()));
    check_saved(model);
}

#[test]
fn features_and_pairs_add_up_to_the_score() {
    let mut sample = Sample::new(4000);
    sample.weights = Some((0..4000).map(|row| f64::from(row as u32 % 3)).collect());
    for loss in LOSSES {
        // The number b and the category are informative together.
        let params = GradientParams { n_rounds: 30, ..paired(loss) };
        let model = sample.fit(&params);
        assert!(model.pairs().unwrap().contains(&[1, 2]), "{loss:?}: {:?}", model.pairs());
        assert_eq!(model.trees().len(), 60);
        assert!(model.trees()[..30].iter().all(|tree| {
            let first = tree.tests().next().unwrap().0.feature;
            tree.tests().all(|(test, _)| test.feature == first)
        }));
        assert!(model.trees()[30..].iter().all(|tree| tree.n_leaves() <= 8));
        check_parts(&model, &sample);
        for refit in [GradientRefit::None, GradientRefit::Trees] {
            let held_out =
                drawn(loss).held_out.map(|stopping| GradientHeldOutParams { refit, ..stopping });
            let params = GradientParams { held_out, ..params.clone() };
            let model = sample.fit(&params);
            let n_rounds = model.held_out().unwrap().n_rounds;
            // A refit may find nothing left to learn earlier.
            let is_refit = refit == GradientRefit::Trees;
            assert!(model.trees().len() == n_rounds || is_refit && model.trees().len() < n_rounds);
            assert!(model.pairs().unwrap().contains(&[1, 2]));
            check_parts(&model, &sample);
            let bags = sample.fit(&GradientParams { n_bags: 3, ..params });
            assert!(bags.pairs().unwrap().contains(&[1, 2]));
            check_parts(&bags, &sample);
        }
    }
    // All pairs share a feature: a tree may test one on either side of its root.
    let groups = Interactions::Groups(vec![vec![0, 1], vec![1, 2]]);
    let params = GradientParams { interactions: groups, max_leaves: Some(8), ..few(Loss::Log) };
    let model = sample.fit(&params);
    assert_eq!(model.pairs(), Some(vec![[0, 1], [1, 2]]));
    check_parts(&model, &sample);
}

#[test]
fn chosen_pairs_have_a_mean_of_zero_at_each_place_of_either_feature() {
    let mut sample = Sample::new(3000);
    for weights in [None, Some((0..3000).map(|row| f64::from(row as u32 % 3) + 0.25).collect())] {
        sample.weights = weights;
        let model = sample.fit(&GradientParams { n_rounds: 40, ..paired(Loss::Log) });
        let tables = model.pair_terms().unwrap();
        assert!(tables.iter().any(|table| table.values.iter().any(|value| value.abs() > 0.1)));
        let columns = sample.columns();
        let width = 3 + tables.len();
        let parts = model.explain(&columns).unwrap();
        for (place, table) in tables.iter().enumerate() {
            for axis in &table.axes {
                let reader = axis.reader();
                let mut sums = vec![(0.0, 0.0); axis.n_places()];
                for row in 0..sample.len() {
                    let weight = sample.weights.as_ref().map_or(1.0, |weights| weights[row]);
                    let (total, sum) = &mut sums[reader(columns[axis.feature].raw(row))];
                    *total += weight;
                    *sum += weight * parts[row * width + 3 + place];
                }
                for (total, sum) in sums.into_iter().filter(|(total, _)| *total > 0.0) {
                    // The unit of the values is 2.3e-10.
                    assert!((sum / total).abs() < 1e-9, "{}", sum / total);
                }
            }
        }
        check_parts(&model, &sample);

        // A model without the weights shows what its trees add up to, with the same scores.
        let mut plain = model.clone();
        plain.set_cells(Vec::new());
        check_parts(&plain, &sample);
        assert_ne!(plain.pair_terms(), model.pair_terms());
        let mut damaged = model.clone();
        damaged.set_cells(vec![vec![1; 7]; tables.len()]);
        assert!(damaged.check().unwrap_err().starts_with("weights of cells"));
    }
}

#[test]
fn a_formula_of_many_rounds_of_a_pair_is_a_table() {
    let sample = Sample::new(2000);
    let params = GradientParams { n_rounds: 400, max_bins: 8, ..paired(Loss::Log) };
    let model = sample.fit(&params);
    check_parts(&model, &sample);
    let crate::formula::Formula::Sum(parts) = model.formula() else { panic!("a sum") };
    let n_pairs = model.pairs().unwrap().len();
    assert!(n_pairs > 0 && parts.len() == 3 + n_pairs + 1);
}

#[test]
fn pairs_depend_neither_on_threads_nor_on_the_order_of_rows_or_copies() {
    let mut sample = Sample::new(6000);
    let held_out = drawn(Loss::Log).held_out;
    let cases = [(1, Interactions::Pairs(2)), (3, Interactions::Pairs(2)), (3, Interactions::Auto)];
    for (n_bags, interactions) in cases {
        let params =
            GradientParams { n_bags, held_out, n_rounds: 20, interactions, ..paired(Loss::Log) };
        sample.weights = None;
        let fits = [1, 2, 7].map(|n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| sample.fit(&params))
        });
        assert!(!fits[0].is_additive());
        assert!(fits.iter().all(|fit| *fit == fits[0]));
        let mut order: Vec<usize> = (0..sample.len()).collect();
        order.sort_by_key(|&row| mix(row as u64));
        assert_eq!(sample.rows(&order).fit(&params), fits[0]);
        sample.weights = Some((0..6000).map(|row| f64::from(row as u32 % 3)).collect());
        let copies: Vec<usize> = (0..6000).flat_map(|row| vec![row; row % 3]).collect();
        let copied = Sample { weights: None, ..sample.rows(&copies) };
        assert_eq!(sample.fit(&params), copied.fit(&params));
    }
}

#[test]
fn the_folds_choose_the_rounds_of_the_strongest_pairs_after_single_features() {
    let sample = Sample::new(3000);
    let params = GradientParams { max_leaves: Some(3), ..by_folds(Loss::Log) };
    let alone = GradientParams { interactions: Interactions::Groups(Vec::new()), ..params.clone() };
    let alone = sample.fit(&alone);
    let params = GradientParams { interactions: Interactions::Auto, ..params };
    let model = sample.fit(&params);
    assert!(model.pairs().unwrap().contains(&[1, 2]), "{:?}", model.pairs());
    check_parts(&model, &sample);
    // All bags have the same number of rounds of single features, and of pairs.
    let rounds = |model: &GradientBoosted| {
        let of_bags: Vec<usize> = model.bags().iter().map(|bag| bag.n_rounds).collect();
        assert_eq!(of_bags, [of_bags[0]; 5]);
        of_bags[0]
    };
    let (n_singles, n_rounds) = (rounds(&alone), rounds(&model));
    assert!(n_rounds > n_singles);
    assert_eq!(model.trees()[..5 * n_singles], *alone.trees());
    // The mean loss of the folds is least after the last round that is kept.
    let mean = |round: usize| {
        let bags = model.bags().iter().map(|bag| bag.held_out.as_ref().unwrap().values[round - 1]);
        bags.sum::<f64>() / 5.0
    };
    assert!((1..n_rounds).all(|round| mean(round) > mean(n_rounds)));
}

#[test]
fn validation_rows_choose_the_rounds_of_pairs() {
    let (sample, other) =
        (Sample::new(3000), Sample::new(5000).rows(&(3000..5000).collect::<Vec<_>>()));
    let params =
        GradientParams { n_rounds: 60, held_out: drawn(Loss::Log).held_out, ..paired(Loss::Log) };
    let (columns, labels) = (other.columns(), other.labels());
    let given =
        GradientExtras { validation: Some((&columns, &labels)), ..GradientExtras::default() };
    let model = sample.fit_given(&params, &given).unwrap();
    let path = model.held_out().unwrap();
    let scores = model.score(&columns).unwrap();
    let value = Loss::Log.value(&scores, &other.positive, None, 1.0);
    assert_eq!(path.values[path.n_rounds - 1], value);
    assert_eq!(path.values.iter().copied().fold(f64::INFINITY, f64::min), value);
    assert!(!model.is_additive());
}

#[test]
fn scores_obey_a_direction() {
    let sample = Sample::new(800);
    for direction in [-1, 1] {
        for cuts in [Cuts::Best, Cuts::Random] {
            let params = GradientParams {
                monotonic: vec![direction, 0, 0],
                cuts,
                n_rounds: 40,
                max_leaves: Some(31),
                ..few(Loss::Log)
            };
            let model = sample.fit(&params);
            let mut last = vec![f64::NEG_INFINITY; 800];
            for step in 0..30 {
                let share = f64::from(step) / 29.0;
                let mut moved = sample.clone();
                moved.numbers[0].fill(if direction > 0 { share } else { 1.0 - share });
                let scores = model.score(&moved.columns()).unwrap();
                assert!(scores.iter().zip(&last).all(|(now, before)| now >= before));
                last = scores;
            }
        }
    }
}

#[test]
fn each_side_of_a_split_has_the_minimum_number_of_rows() {
    let sample = Sample::new(900);
    for (least, expected) in
        [(LeafRows::Rows(60), 60.0), (LeafRows::Share(0.05), 45.0), (LeafRows::Auto, 9.0)]
    {
        let params = GradientParams {
            min_samples_leaf: least,
            max_leaves: Some(64),
            subsample: 1.0,
            ..few(Loss::Log)
        };
        let model = sample.fit(&params);
        let weights = model.trees().iter().flat_map(|tree| {
            tree.nodes().iter().filter_map(|node| match node {
                GradientNode::Leaf { weight, .. } => Some(*weight),
                GradientNode::Split { .. } => None,
            })
        });
        assert!(weights.fold(f64::INFINITY, f64::min) >= expected);
    }
}

#[test]
fn categories_of_noise_have_little_importance() {
    let n_rows = 6000;
    let sample = Sample::new(n_rows);
    for (n_levels, cuts) in
        [40, 300, 1500].into_iter().flat_map(|n| [(n, Cuts::Best), (n, Cuts::Random)])
    {
        let noise: Vec<u32> =
            (0..n_rows).map(|row| (unit(row, 55) * f64::from(n_levels)) as u32).collect();
        let [a, b] = &sample.numbers;
        let codes = Column::Codes { codes: &noise, n_levels };
        let columns = Columns::new(vec![a.as_slice().into(), b.as_slice().into(), codes], n_rows);
        let (columns, labels) = (columns.unwrap(), sample.labels());
        let importance_of_noise = |seed| {
            let params = GradientParams {
                n_rounds: 50,
                max_leaves: Some(16),
                l2: 1.0,
                cuts,
                seed,
                ..few(Loss::Log)
            };
            let (given, interrupt) = (GradientExtras::default(), Interrupt::default());
            let model = fit_gradient_boosting((&columns, &labels), &params, &given, &interrupt);
            model.unwrap().importances()[2]
        };
        // The rows drawn in a round are random, too.
        let found: Vec<f64> = (0..4).map(importance_of_noise).collect();
        assert!(found.iter().sum::<f64>() / 4.0 < 0.06, "{n_levels}, {cuts:?}: {found:?}");
    }
}

#[test]
fn invalid_parameters_are_refused() {
    let sample = Sample::new(100);
    let refused = |params: GradientParams| {
        sample.fit_given(&params, &GradientExtras::default()).unwrap_err().to_string()
    };
    let params = few(Loss::Log);
    let rate = GradientParams { learning_rate: Some(0.0), ..params.clone() };
    assert!(refused(rate).starts_with("learning_rate is 0"));
    let leaves = GradientParams { max_leaves: Some(1), ..params.clone() };
    assert!(refused(leaves).starts_with("max_leaves is 1"));
    let bags = GradientParams { n_bags: 0, ..params.clone() };
    assert!(refused(bags).starts_with("n_bags is 0"));
    let groups =
        GradientParams { interactions: Interactions::Groups(vec![vec![3]]), ..params.clone() };
    assert!(refused(groups).starts_with("interactions is about feature 3"));
    for most in [0, 1001] {
        let pairs = GradientParams { interactions: Interactions::Pairs(most), ..params.clone() };
        let rule = "but must be from 1 to 1000 pairs";
        assert_eq!(refused(pairs), format!("interactions is {most} pairs, {rule}"));
    }
    let earlier = sample.fit(&params);
    let given = GradientExtras { earlier: Some(&earlier), ..GradientExtras::default() };
    for (interactions, what) in
        [(Interactions::Pairs(1), "1 pairs"), (Interactions::Auto, "the strongest pairs")]
    {
        let on = GradientParams { interactions, ..params.clone() };
        let refusal = sample.fit_given(&on, &given).unwrap_err().to_string();
        assert!(refusal.starts_with(&format!("interactions is {what}")), "{refusal}");
    }
    let bound = GradientParams { monotonic: vec![0, 0, 1], ..params.clone() };
    assert!(refused(bound).contains("column 2 is categorical"));
}

/// Checks that a model is unchanged by saving and loading.
fn check_saved(model: &GradientBoosted) {
    let text = serde_json::to_string(model).unwrap();
    assert_eq!(serde_json::from_str::<GradientBoosted>(&text).unwrap(), *model);
}

#[test]
fn damaged_models_are_refused() {
    let sample = Sample::new(100);
    let bags = GradientParams {
        n_bags: 5,
        interactions: Interactions::Groups(Vec::new()),
        ..drawn(Loss::Log)
    };
    let mut damaged = serde_json::to_value(sample.fit(&bags)).unwrap();
    *damaged.pointer_mut("/bags/0/n_rounds").unwrap() = 1.into();
    assert!(serde_json::from_value::<GradientBoosted>(damaged).unwrap().check().is_err());
    let params = few(Loss::Log);
    let fitted = sample.fit(&params);
    let refused = |model: &serde_json::Value, pointer: &str, value: i64| {
        let mut model = model.clone();
        *model.pointer_mut(pointer).unwrap() = value.into();
        let damaged: GradientBoosted = serde_json::from_value(model).unwrap();
        assert!(damaged.check().is_err(), "{pointer}");
    };
    let mut model = serde_json::to_value(&fitted).unwrap();
    for (pointer, value) in [
        ("/trees/trees/0/gains/0", -1),
        ("/trees/trees/0/weights/0", 0),
        ("/trees/trees/0/values/0", i64::MAX),
        ("/threshold", 1),
        ("/start", 1 << 30),
    ] {
        refused(&model, pointer, value);
    }
    // As up to format version 3.
    model["trees"] = serde_json::to_value(fitted.trees()).unwrap();
    for (pointer, value) in [
        ("/trees/0/0/split/right", 0),
        ("/trees/0/0/split/gain", -1),
        ("/trees/0/0/split/test/feature", 9),
    ] {
        refused(&model, pointer, value);
    }
}
