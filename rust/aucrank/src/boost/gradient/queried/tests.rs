//! Tests that queried rows give the same models as rows in memory, however they are divided.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::super::*;
use crate::data::{Batch, BinningParams, Folds, Labels, LevelRates, NO_FOLD, mix};
use crate::formula::Rule;
use crate::rows::tests::{Cluster, Data, Weights, path_of, uneven};
use crate::rows::{Answer, Ask, RowFrame, Rows, StoredRows, deal_among, words};
use crate::tree::Cuts;
use crate::{Interrupt, RankError};

fn binning(params: &GradientParams) -> BinningParams {
    let max_bins = Some(params.max_bins);
    BinningParams { max_bins, seed: params.seed, level_rates: LevelRates::Raw }
}

fn in_memory(data: &Data, params: &GradientParams) -> GradientBoosted {
    data.with_columns(0..data.positive.len(), |columns| {
        let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
        let (extras, interrupt) = (GradientExtras::default(), Interrupt::default());
        fit_gradient_boosting((columns, &labels), params, &extras, &interrupt).unwrap()
    })
}

fn plain() -> GradientParams {
    GradientParams {
        n_rounds: 4,
        learning_rate: Some(0.2),
        max_leaves: Some(12),
        seed: 3,
        ..GradientParams::default()
    }
}

fn stopped(rows: HeldOutRows, n_bags: usize, refit: GradientRefit) -> GradientParams {
    let (measure, n_iter_no_change, tol) = (HeldOutMeasure::Loss, 3, 0.0);
    let held_out = GradientHeldOutParams { rows, measure, n_iter_no_change, tol, refit };
    GradientParams { held_out: Some(held_out), n_bags, n_rounds: 8, ..plain() }
}

fn cluster<'a>(
    data: &'a Data,
    frame: &RowFrame,
    bounds: &[usize],
    loses_state: bool,
) -> Cluster<'a> {
    let holders = bounds.windows(2).map(|bounds| data.store(frame.clone(), bounds, None));
    Cluster {
        frame: frame.clone(),
        holders: holders.collect(),
        data,
        bounds: bounds.to_vec(),
        n_queries: AtomicUsize::new(0),
        loses_state,
    }
}

#[test]
fn models_are_the_same_from_memory_a_file_and_a_cluster() {
    let n_rows = 1200;
    let best = GradientParams { cuts: Cuts::Best, max_features: Some(3), ..plain() };
    let all = GradientParams { subsample: 1.0, min_samples_leaf: LeafRows::Rows(1), ..plain() };
    let directed = GradientParams {
        monotonic: vec![1, -1, 0, 0],
        interactions: Interactions::Groups(vec![vec![0, 2], vec![1, 3]]),
        max_depth: 4,
        min_samples_leaf: LeafRows::Rows(60),
        ..plain()
    };
    let share = stopped(HeldOutRows::Share(0.2), 1, GradientRefit::Trees);
    for (weights, params, parts) in [
        (Weights::None, plain(), &[1, 2, 7, 64][..]),
        (Weights::None, best.clone(), &[7]),
        (Weights::Whole, all, &[2, 7]),
        (Weights::Fractions, directed, &[7]),
        (Weights::Fractions, best, &[2]),
        (Weights::None, share.clone(), &[7]),
        (Weights::Whole, share, &[2]),
        (Weights::Fractions, stopped(HeldOutRows::Fold, 3, GradientRefit::None), &[2, 7]),
        (Weights::None, stopped(HeldOutRows::Fold, 2, GradientRefit::Trees), &[7]),
        (Weights::None, stopped(HeldOutRows::Fold, 2, GradientRefit::Leaves), &[7]),
        (Weights::Whole, stopped(HeldOutRows::Share(0.2), 1, GradientRefit::Leaves), &[2]),
        (Weights::Fractions, stopped(HeldOutRows::Fold, 3, GradientRefit::Leaves), &[2]),
        (Weights::None, GradientParams { n_bags: 2, ..plain() }, &[2]),
    ] {
        let data = Data::new(n_rows, weights);
        let interrupt = Interrupt::default();
        let expected = in_memory(&data, &params);
        assert!(expected.trees().iter().any(|tree| tree.n_leaves() > 4));
        for &n_parts in parts {
            let bounds = uneven(n_rows, n_parts);
            let frame = data.survey(&bounds, binning(&params));
            let path: PathBuf = path_of(&format!("gradient-{n_parts}-{weights:?}"));
            for path in [None, Some(&path)] {
                let stored = data.store(frame.clone(), &bounds, path);
                let found = fit_gradient_boosting(
                    (&stored, 1),
                    &params,
                    &GradientExtras::default(),
                    &interrupt,
                );
                assert_eq!(found.as_ref(), Ok(&expected), "{weights:?}, {params:?}");
            }
            // Holders that lose their state are sent the whole log in each round, which is slow
            // with many parts.
            for &loses_state in if n_parts < 64 { &[false, true][..] } else { &[false] } {
                let cluster = cluster(&data, &frame, &bounds, loses_state);
                let found = fit_gradient_boosting(
                    (&cluster, 2),
                    &params,
                    &GradientExtras::default(),
                    &interrupt,
                );
                assert_eq!(found.as_ref(), Ok(&expected), "{weights:?}, {params:?}");
            }
        }
    }
}

#[test]
fn models_without_each_fold_are_those_of_memory() {
    let (n_rows, n_folds, interrupt) = (1200, 4, Interrupt::default());
    for (weights, refit) in [
        (Weights::None, GradientRefit::None),
        (Weights::Whole, GradientRefit::Leaves),
        (Weights::Fractions, GradientRefit::Leaves),
    ] {
        let params = stopped(HeldOutRows::Fold, 2, refit);
        let data = Data::new(n_rows, weights);
        let bounds = uneven(n_rows, 7);
        let frame = data.survey(&bounds, binning(&params));
        let cluster = cluster(&data, &frame, &bounds, false);
        data.with_columns(0..n_rows, |columns| {
            let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
            let folds = Folds::deal(columns, &labels, n_folds, params.seed, &interrupt).unwrap();
            let expected = fit_gradient_folds((columns, &labels), &folds, &params, &interrupt);
            let found = fit_gradient_folds((&cluster, 3), n_folds, &params, &interrupt);
            assert_eq!(found, expected, "{weights:?}");

            let rows = Batch::new(columns, &data.positive);
            let dealt = deal_among(&cluster, 4, &rows, n_folds, params.seed, &interrupt).unwrap();
            assert_eq!(dealt.n_folds, folds.n_folds);
            let both = dealt.of_row.iter().zip(&folds.of_row);
            assert!(both.into_iter().all(|(dealt, fold)| *fold == NO_FOLD || dealt == fold));
        });
        let some = 300..340;
        data.with_columns(some.clone(), |columns| {
            let rows = Batch::new(columns, &data.positive[some.start + 1..some.end]);
            let found = deal_among(&cluster, 4, &rows, n_folds, params.seed, &interrupt);
            let (found, expected) = (found.unwrap_err(), 39);
            assert_eq!(found, RankError::LengthMismatch { name: "X", found: 40, expected });
        });
        let refused = |params: &GradientParams| {
            let found = fit_gradient_folds((&cluster, 5), 1, params, &interrupt);
            found.unwrap_err().to_string()
        };
        assert!(refused(&params).contains("n_folds"), "{}", refused(&params));
        assert!(refused(&plain()).contains("held_out"), "{}", refused(&plain()));
    }
}

#[test]
fn rates_of_many_categories_are_those_of_memory() {
    let n_rows = 3000;
    for (weights, params) in [
        (Weights::None, plain()),
        (Weights::Whole, stopped(HeldOutRows::Fold, 2, GradientRefit::None)),
        (Weights::Fractions, stopped(HeldOutRows::Share(0.3), 1, GradientRefit::Trees)),
    ] {
        let data = Data::of_towns(n_rows, weights);
        let expected = in_memory(&data, &params);
        let of_rare = |test: &crate::formula::Test| match &test.left {
            Rule::Levels(set) => set.listed().len() > 20,
            _ => false,
        };
        let mut tests = expected.trees().iter().flat_map(GradientTree::tests);
        assert!(tests.any(|(test, _)| test.feature == 2 && of_rare(test)), "{weights:?}");
        let bounds = uneven(n_rows, 5);
        let frame = data.survey(&bounds, binning(&params));
        for loses_state in [false, true] {
            let cluster = cluster(&data, &frame, &bounds, loses_state);
            let found = fit_gradient_boosting(
                (&cluster, 2),
                &params,
                &GradientExtras::default(),
                &Interrupt::default(),
            );
            assert_eq!(found.as_ref(), Ok(&expected), "{weights:?}");
        }
    }
}

#[test]
fn pairs_of_categories_are_those_of_memory() {
    let n_rows = 3000;
    for (weights, n_categories, params) in [
        (Weights::None, 3, stopped(HeldOutRows::Fold, 3, GradientRefit::None)),
        (Weights::Whole, 2, stopped(HeldOutRows::Share(0.3), 1, GradientRefit::Trees)),
        (Weights::Fractions, 2, stopped(HeldOutRows::Share(0.3), 2, GradientRefit::None)),
        // More pairs than a fit may use: the strongest are chosen.
        (Weights::Fractions, 12, stopped(HeldOutRows::Share(0.3), 1, GradientRefit::None)),
    ] {
        let params = GradientParams { n_rounds: 30, ..params };
        let data = Data::of_pairs(n_rows, weights, n_categories);
        let expected = in_memory(&data, &params);
        let n_features = 2 + n_categories;
        let meant = [n_features - 2, n_features - 1];
        assert!(expected.pair_steps().iter().any(|pair| pair.features() == meant), "{weights:?}");
        let bounds = uneven(n_rows, 5);
        let frame = data.survey(&bounds, binning(&params));
        for loses_state in [false, true] {
            let cluster = cluster(&data, &frame, &bounds, loses_state);
            let found = fit_gradient_boosting(
                (&cluster, 2),
                &params,
                &GradientExtras::default(),
                &Interrupt::default(),
            );
            assert_eq!(found.as_ref(), Ok(&expected), "{weights:?}, {n_categories}");
        }
    }
    // Pairs that do not tell are tried, and left alone.
    let data = Data::new(n_rows, Weights::Whole);
    let params = stopped(HeldOutRows::Fold, 2, GradientRefit::None);
    let bounds = uneven(n_rows, 3);
    let stored = data.store(data.survey(&bounds, binning(&params)), &bounds, None);
    let found = fit_gradient_boosting(
        (&stored, 2),
        &params,
        &GradientExtras::default(),
        &Interrupt::default(),
    );
    assert_eq!(found, Ok(in_memory(&data, &params)));
}

/// Rows during whose questions the time of a fit ends.
struct Ending<'a> {
    rows: &'a StoredRows,
    n_before: usize,
    n_passes: AtomicUsize,
    is_over: Arc<AtomicBool>,
}

impl Rows for Ending<'_> {
    fn frame(&self) -> &RowFrame {
        self.rows.frame()
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        if self.n_passes.fetch_add(1, Ordering::Relaxed) == self.n_before {
            self.is_over.store(true, Ordering::Relaxed);
        }
        self.rows.pass(ask, interrupt)
    }
}

#[test]
fn a_fit_ends_between_two_questions_with_the_rounds_before() {
    let data = Data::new(900, Weights::None);
    for n_bags in [1, 3] {
        let params = GradientParams { n_bags, n_rounds: 6, ..plain() };
        let stored = data.store(data.survey(&[0, 900], binning(&params)), &[0, 900], None);
        let fit = |n_before| {
            let is_over = Arc::new(AtomicBool::new(false));
            let rows = Ending {
                rows: &stored,
                n_before,
                n_passes: AtomicUsize::new(0),
                is_over: Arc::clone(&is_over),
            };
            let spent = move || f64::from(u8::from(is_over.load(Ordering::Relaxed)));
            let interrupt = Interrupt::default().limited_by(spent);
            let extras = GradientExtras::default();
            let model = fit_gradient_boosting((&rows, 5), &params, &extras, &interrupt).unwrap();
            (model, rows.n_passes.into_inner())
        };
        let (whole, n_passes) = fit(usize::MAX);
        assert_eq!(whole, in_memory(&data, &params));
        let mut found = BTreeSet::new();
        for n_before in (0..n_passes).step_by(3) {
            let (model, n_sent) = fit(n_before);
            let n_rounds = model.trees().len() / n_bags;
            let first = GradientParams { n_rounds, ..params.clone() };
            assert_eq!(model, in_memory(&data, &first), "{n_before}");
            // The first round is grown to its end.
            assert!(n_rounds == 1 || n_sent == n_before + 1, "{n_rounds}, {n_sent}, {n_before}");
            found.insert(n_rounds);
        }
        assert!(found.len() > 4, "{found:?}");
    }
}

/// Rows that record questions and answers.
struct Listened {
    rows: StoredRows,
    said: Mutex<Vec<(Vec<u8>, Vec<u8>)>>,
}

impl Rows for Listened {
    fn frame(&self) -> &RowFrame {
        self.rows.frame()
    }

    fn pass(&self, ask: &Ask, interrupt: &Interrupt) -> Result<Answer, RankError> {
        let answer = self.rows.pass(ask, interrupt)?;
        self.said.lock().unwrap().push((ask.to_bytes(), answer.clone().to_bytes()));
        Ok(answer)
    }
}

fn said(data: &Data, params: &GradientParams) -> (GradientBoosted, Listened) {
    let bounds = [0, data.positive.len()];
    let rows = data.store(data.survey(&bounds, binning(params)), &bounds, None);
    let listened = Listened { rows, said: Mutex::default() };
    let model = fit_gradient_boosting(
        (&listened, 0),
        params,
        &GradientExtras::default(),
        &Interrupt::default(),
    )
    .unwrap();
    (model, listened)
}

#[test]
fn a_tree_of_many_leaves_takes_few_questions_which_do_not_grow() {
    let params = GradientParams {
        max_leaves: Some(31),
        n_rounds: 20,
        learning_rate: Some(0.1),
        min_samples_leaf: LeafRows::Rows(20),
        ..GradientParams::default()
    };
    let (model, listened) = said(&Data::new(20_000, Weights::None), &params);
    let said = listened.said.into_inner().unwrap();
    let n_leaves: usize = model.trees().iter().map(GradientTree::n_leaves).sum();
    assert!(n_leaves > 25 * model.trees().len());
    // The cuts drawn for a node depend on the nodes before it: so a question cannot precede the
    // split of the next leaf.
    assert!(said.len() <= 18 * model.trees().len(), "{} questions", said.len());
    // Neither questions about late trees nor their answers are longer than for early trees.
    let longest = |said: &[(Vec<u8>, Vec<u8>)]| {
        [said.iter().map(|said| said.0.len()).max(), said.iter().map(|said| said.1.len()).max()]
    };
    let (first, last) = said.split_at(said.len() / 2);
    let ([asks, answers], [late_asks, late_answers]) = (longest(first), longest(last));
    assert!(late_asks.unwrap() < 2 * asks.unwrap() && late_answers.unwrap() < 2 * answers.unwrap());
}

#[test]
fn several_bags_take_no_more_questions_than_one() {
    let data = Data::new(3000, Weights::None);
    let n_queries = |n_bags| {
        let params = GradientParams { n_bags, max_leaves: Some(8), ..plain() };
        said(&data, &params).1.said.into_inner().unwrap().len()
    };
    assert!(n_queries(4) < 2 * n_queries(1), "{} and {}", n_queries(4), n_queries(1));
}

#[test]
fn damaged_questions_and_answers_are_errors() {
    let params =
        GradientParams { n_rounds: 2, ..stopped(HeldOutRows::Fold, 2, GradientRefit::None) };
    are_refused_if_damaged(&Data::new(400, Weights::Whole), &params);
    are_refused_if_damaged(&Data::of_pairs(600, Weights::Whole, 2), &params);
}

fn are_refused_if_damaged(data: &Data, params: &GradientParams) {
    let (_, listened) = said(data, params);
    let frame = listened.rows.frame();
    let rows = data.store(frame.clone(), &[0, data.positive.len()], None);
    let mut n_refused = 0;
    for (number, (ask, answer)) in listened.said.lock().unwrap().iter().enumerate() {
        let known = Ask::from_bytes(ask).unwrap();
        // Rows that keep the decisions sent before.
        let passed = rows.pass(&known, &Interrupt::default());
        assert!(passed.is_ok() || number > 0);
        let draw = |what: u64| mix(mix(number as u64) ^ what) as usize;
        for place in 0..40 {
            // A changed digit of a small number in the question: most large ones are hashes.
            let mut bytes = ask.clone();
            let numbers = ask.split_inclusive(|byte| !byte.is_ascii_digit());
            let starts = numbers.clone().scan(0, |end, number| {
                *end += number.len();
                Some(*end - number.len())
            });
            let small = starts.zip(numbers).filter(|(_, number)| (2..5).contains(&number.len()));
            let digits: Vec<usize> = small.map(|(start, _)| start).collect();
            bytes[digits[draw(place) % digits.len()]] = b'0' + (draw(place + 100) % 10) as u8;
            if let Ok(ask) = Ask::from_bytes(&bytes) {
                n_refused += usize::from(rows.pass(&ask, &Interrupt::default()).is_err());
            }
            // A changed word of the answer.
            let mut words = words::from_bytes(answer).unwrap();
            let changed = draw(place + 200) % words.len();
            words[changed] = mix(draw(place + 300) as u64) >> (draw(place + 400) % 64);
            let bytes = words::to_bytes(&words);
            if let Ok(mut answer) = Answer::from_bytes(&bytes, &known, frame) {
                let none = Answer::none(&known, frame);
                answer.merge(none).unwrap();
            }
            // A word less, or one more.
            words.pop();
            let short = Answer::from_bytes(&words::to_bytes(&words), &known, frame);
            words.extend([0; 3]);
            let long = Answer::from_bytes(&words::to_bytes(&words), &known, frame);
            assert!(short.is_err() || long.is_err());
        }
    }
    assert!(n_refused > 5, "{n_refused}");
}

#[test]
fn an_option_that_needs_more_than_sums_is_named() {
    let data = Data::new(100, Weights::None);
    let frame = data.survey(&[0, 100], binning(&plain()));
    let stored = data.store(frame, &[0, 100], None);
    let refused = |params: &GradientParams| {
        let interrupt = Interrupt::default();
        fit_gradient_boosting((&stored, 0), params, &GradientExtras::default(), &interrupt)
            .unwrap_err()
            .to_string()
    };
    let pairs = GradientParams { loss: Loss::PairLogistic, ..plain() };
    assert!(refused(&pairs).starts_with("loss is PairLogistic, but must be 'log'"));
    let mut auc = stopped(HeldOutRows::Share(0.2), 1, GradientRefit::None);
    if let Some(held_out) = &mut auc.held_out {
        held_out.measure = HeldOutMeasure::Auc;
    }
    assert!(refused(&auc).starts_with("scoring is 'auc', but must be 'loss'"));
    let chosen = GradientParams { interactions: Interactions::Pairs(2), ..plain() };
    assert!(refused(&chosen).starts_with("interactions is 2 pairs"));
    let few = GradientParams { max_bins: 16, ..plain() };
    assert!(refused(&few).starts_with("max_bins is 16, but must be that of the rows"));
}
