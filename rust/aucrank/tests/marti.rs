//! Martingale boosting through the public API: walks against all flips of their coins, noise,
//! freezing, and invariances.

#![expect(clippy::float_cmp, reason = "tests expect exact values")]

use std::sync::atomic::{AtomicUsize, Ordering};

use aucrank::boost::{
    BoostedLayers, BranchingProgram, Chance, Freezing, Layer, MartiBoostParams, MartiParams,
    MassTile, NodeKind, Outcome, ProgramScore, Routing, RowChance, Term, ThresholdCriterion,
    TwoSidedLearner, WeakRankerParams, fit_marti_rank, marti_boost,
};
use aucrank::data::{
    BinningParams, ClassMasses, Column, Columns, FeatureSteps, Labels, MISSING_CODE,
};
use aucrank::tree::{GrowParams, LeafOrder, LeafRankParams, SplitRule, TreeRankParams};
use aucrank::{Interrupt, RankError};
use proptest::prelude::*;

/// A number that looks random.
fn hash(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A classifier with a prediction for each value of the only feature, whatever the labels.
struct ByValue {
    layer: usize,
    node: usize,
    values: Vec<f64>,
}

/// Quarters, so that masses of a few layers are exact.
fn quarters(layer: usize, node: usize, value: f64) -> f64 {
    let seed = (layer * 100 + node) as u64 * 1000 + value as u64;
    (hash(seed) % 5) as f64 / 4.0
}

impl RowChance for ByValue {
    fn chance(&self, row: usize) -> Chance {
        Chance::new(quarters(self.layer, self.node, self.values[row]))
    }
}

struct Fixed {
    values: Vec<f64>,
    rows_seen: AtomicUsize,
}

impl TwoSidedLearner for Fixed {
    type Classifier = ByValue;
    type Sums = usize;

    fn empty(&self, _: usize) -> usize {
        0
    }

    fn add(&self, sums: &mut usize, tile: &MassTile<'_>) {
        *sums += tile.n_rows();
    }

    fn merge(&self, sums: &mut usize, more: usize) {
        *sums += more;
    }

    fn learn(&self, sums: usize, layer: &Layer<'_>) -> Result<Vec<Option<ByValue>>, RankError> {
        self.rows_seen.fetch_add(sums, Ordering::Relaxed);
        let classifier = |&node: &usize| {
            Some(ByValue { layer: layer.number(), node, values: self.values.clone() })
        };
        Ok(layer.open().iter().map(classifier).collect())
    }
}

fn run_fixed(
    values: &[f64],
    positive: &[bool],
    weights: Option<&[f64]>,
    params: &MartiBoostParams,
) -> (BoostedLayers<ByValue>, usize) {
    let columns = Columns::from_row_major(values, 1).unwrap();
    let labels = Labels::new(positive, weights).unwrap();
    let learner = Fixed { values: values.to_vec(), rows_seen: AtomicUsize::new(0) };
    let done = marti_boost(&columns, &labels, params, &learner, &Interrupt::default()).unwrap();
    (done, learner.rows_seen.into_inner())
}

fn place(layer: usize, node: usize) -> usize {
    layer * (layer - 1) / 2 + node
}

#[test]
fn masses_are_means_over_all_flips_of_the_coins() {
    let n_rounds = 3;
    let values: Vec<f64> = (0..12).map(|row| f64::from(row % 7)).collect();
    let positive: Vec<bool> = (0..12).map(|row| row % 3 == 0).collect();
    let params = MartiBoostParams { n_rounds, ..MartiBoostParams::default() };
    let (done, _) = run_fixed(&values, &positive, None, &params);
    // A coin at each of the six nodes with a classifier: 64 outcomes, each a walk without chance.
    let mut expected = vec![ClassMasses::default(); place(n_rounds + 2, 0)];
    for (row, &value) in values.iter().enumerate() {
        for flips in 0..64_u32 {
            let falls_right = |layer: usize, node: usize| flips >> place(layer, node) & 1 == 1;
            let mut weight = f64::from(1_u32 << 31);
            for layer in 1..=n_rounds {
                for node in 0..layer {
                    let chance = match &done.nodes[place(layer, node)].1 {
                        Outcome::Classifier(_) => quarters(layer, node, value),
                        _ => 0.5,
                    };
                    weight *= if falls_right(layer, node) { chance } else { 1.0 - chance };
                }
            }
            let mut node = 0;
            for layer in 1..=n_rounds + 1 {
                let sum = &mut expected[place(layer, node)];
                if positive[row] {
                    sum.pos += weight as u64;
                } else {
                    sum.neg += weight as u64;
                }
                if layer > n_rounds
                    || matches!(done.nodes[place(layer, node)].1, Outcome::Frozen { .. })
                {
                    break;
                }
                node += usize::from(falls_right(layer, node));
            }
        }
    }
    let found: Vec<ClassMasses> = done.nodes.iter().map(|(masses, _)| *masses).collect();
    assert_eq!(found, expected);
}

#[test]
fn single_paths_have_the_same_mean() {
    let n_rounds = 4;
    let values: Vec<f64> = (0..400).map(f64::from).collect();
    let positive: Vec<bool> = (0..400).map(|row| row % 2 == 0).collect();
    let params = MartiBoostParams { n_rounds, ..MartiBoostParams::default() };
    let (spread, _) = run_fixed(&values, &positive, None, &params);
    let n_seeds = 200;
    let mut means = vec![0.0; spread.nodes.len()];
    for seed in 0..n_seeds {
        let params = MartiBoostParams { is_sampled: true, seed, ..params.clone() };
        let (single, _) = run_fixed(&values, &positive, None, &params);
        for (mean, (masses, _)) in means.iter_mut().zip(&single.nodes) {
            let unit = f64::from(1_u32 << single.row_bits);
            assert_eq!(masses.pos % (1 << single.row_bits), 0, "whole rows");
            *mean += masses.pos as f64 / unit / n_seeds as f64;
        }
    }
    for (mean, (masses, _)) in means.iter().zip(&spread.nodes) {
        let expected = masses.pos as f64 / f64::from(1_u32 << spread.row_bits);
        // At most 200 coins a seed with a variance of 1/4 each: five standard errors.
        let error = 5.0 * (200.0 * 0.25 / n_seeds as f64).sqrt();
        assert!((mean - expected).abs() < error, "{mean} {expected}");
    }
}

#[test]
fn masses_at_a_node_under_noise_are_those_of_flipped_labels() {
    // Theorem 8: a quarter of the labels flipped, each row in both classes by its exact share.
    let values: Vec<f64> = (0..30).map(f64::from).collect();
    let positive: Vec<bool> = (0..30).map(|row| hash(row).is_multiple_of(3)).collect();
    let weights: Vec<f64> = (0..30).map(|row| (1 + hash(row + 50) % 9) as f64).collect();
    let twice = |of: &[f64]| [of, of].concat();
    let flipped: Vec<bool> = positive.iter().map(|positive| !positive).collect();
    let noisy_positive = [positive.clone(), flipped].concat();
    let tripled: Vec<f64> = weights.iter().map(|weight| 3.0 * weight).collect();
    let noisy_weights = [tripled, weights.clone()].concat();
    let params = MartiBoostParams { n_rounds: 5, ..MartiBoostParams::default() };
    let (clean, _) = run_fixed(&values, &positive, Some(&weights), &params);
    let (noisy, _) = run_fixed(&twice(&values), &noisy_positive, Some(&noisy_weights), &params);
    let mut n_frozen = 0;
    for ((clean, outcome), (noisy, _)) in clean.nodes.iter().zip(&noisy.nodes) {
        // Nodes of one class freeze only without noise, and so do not continue.
        n_frozen += usize::from(matches!(outcome, Outcome::Frozen { .. }));
        if n_frozen == 0 {
            assert_eq!(noisy.pos, 3 * clean.pos + clean.neg);
            assert_eq!(noisy.neg, clean.pos + 3 * clean.neg);
        }
    }
    assert_eq!(n_frozen, 0, "no node to be left out");
}

/// A classifier that is right with probability 3/4 on either class.
struct ThreeQuarters(Vec<bool>);

impl RowChance for ThreeQuarters {
    fn chance(&self, row: usize) -> Chance {
        Chance::new(if self.0[row] { 0.75 } else { 0.25 })
    }
}

impl TwoSidedLearner for ThreeQuarters {
    type Classifier = Self;
    type Sums = ();

    fn empty(&self, _: usize) {}

    fn add(&self, (): &mut (), _: &MassTile<'_>) {}

    fn merge(&self, (): &mut (), (): ()) {}

    fn learn(&self, (): (), layer: &Layer<'_>) -> Result<Vec<Option<Self>>, RankError> {
        Ok(layer.open().iter().map(|_| Some(Self(self.0.clone()))).collect())
    }
}

#[test]
fn with_an_advantage_everywhere_votes_are_binomial_and_errors_fall() {
    let positive = [true, false, true];
    let columns = Columns::from_row_major(&[1.0, 2.0, 3.0], 1).unwrap();
    let labels = Labels::new(&positive, None).unwrap();
    let mut last = 1.0;
    for n_rounds in [1, 3, 5, 7, 9, 11] {
        let params = MartiBoostParams { n_rounds, ..MartiBoostParams::default() };
        let learner = ThreeQuarters(positive.to_vec());
        let done = marti_boost(&columns, &labels, &params, &learner, &Interrupt::default());
        let done = done.unwrap();
        let unit = f64::from(1_u32 << done.row_bits);
        let (mut binomial, mut error) = (0.25_f64.powi(n_rounds as i32), 0.0);
        for votes in 0..=n_rounds {
            let (masses, _) = &done.nodes[place(n_rounds + 1, votes)];
            let share = masses.pos as f64 / unit / 2.0;
            assert!((share - binomial).abs() < 1e-7, "{share} {binomial}");
            let (mirrored, _) = &done.nodes[place(n_rounds + 1, n_rounds - votes)];
            assert!(mirrored.neg.abs_diff(masses.pos / 2) < 100);
            if 2 * votes < n_rounds {
                error += share;
            }
            binomial *= 3.0 * (n_rounds - votes) as f64 / (votes + 1) as f64;
        }
        // Hoeffding's bound, with a two-sided advantage of 1/4.
        assert!(error < last && error <= (-2.0 * n_rounds as f64 / 16.0).exp());
        last = error;
    }
}

#[test]
fn each_layer_reads_the_rows_once() {
    let values: Vec<f64> = (0..20_000).map(f64::from).collect();
    let positive: Vec<bool> = (0..20_000).map(|row| row % 5 == 0).collect();
    for is_sampled in [false, true] {
        let params = MartiBoostParams { n_rounds: 7, is_sampled, ..MartiBoostParams::default() };
        let (_, rows_seen) = run_fixed(&values, &positive, None, &params);
        assert_eq!(rows_seen, 7 * values.len());
    }
}

fn defaults() -> MartiParams {
    MartiParams {
        binning: BinningParams::default(),
        weak_ranker: WeakRankerParams::Feature,
        n_rounds: 5,
        criterion: ThresholdCriterion::Sum,
        routing: Routing::Expected,
        score: ProgramScore::Votes,
        noise_rate: Some(0.0),
        epsilon: None,
        min_samples_class: 0.0,
        sample_size: None,
        seed: 3,
    }
}

/// Rows with two numbers, one of them sometimes missing, and a category.
#[derive(Debug, Clone)]
struct Data {
    numbers: [Vec<f64>; 2],
    codes: Vec<u32>,
    positive: Vec<bool>,
    weights: Option<Vec<f64>>,
}

impl Data {
    /// `n_values` distinct numbers; the label goes with both numbers and the category.
    fn new(n_rows: usize, n_values: u64, seed: u64) -> Self {
        let draw = |row: usize, what: u64| hash(seed * 7919 + row as u64 * 31 + what);
        let mut data = Self {
            numbers: [Vec::new(), Vec::new()],
            codes: Vec::new(),
            positive: Vec::new(),
            weights: None,
        };
        for row in 0..n_rows {
            let [a, b] = [0, 1].map(|what| (draw(row, what) % n_values) as f64);
            let code = (draw(row, 2) % 4) as u32;
            let noise = (draw(row, 3) % n_values) as f64;
            let is_missing = draw(row, 4) % 6 == 0;
            data.positive.push(match row {
                0 => true,
                1 => false,
                _ => a + b + f64::from(code % 2) * 4.0 + noise > 1.6 * n_values as f64,
            });
            data.numbers[0].push(a);
            data.numbers[1].push(if is_missing { f64::NAN } else { b });
            data.codes.push(if draw(row, 5) % 9 == 0 { MISSING_CODE } else { code });
        }
        data
    }

    fn columns(&self) -> Columns<'_> {
        let codes = Column::Codes { codes: &self.codes, n_levels: 4 };
        let numbers = self.numbers.each_ref().map(|values| Column::from(&values[..]));
        Columns::new(vec![numbers[0], codes, numbers[1]], self.codes.len()).unwrap()
    }

    fn fit(&self, params: &MartiParams) -> Result<BranchingProgram, RankError> {
        let labels = Labels::new(&self.positive, self.weights.as_deref()).unwrap();
        fit_marti_rank((&self.columns(), &labels), params, None, &Interrupt::default())
    }

    fn rows(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            numbers: self.numbers.each_ref().map(|v| rows.clone().map(|row| v[row]).collect()),
            codes: rows.clone().map(|row| self.codes[row]).collect(),
            positive: rows.clone().map(|row| self.positive[row]).collect(),
            weights: self.weights.as_ref().map(|w| rows.map(|row| w[row]).collect()),
        }
    }

    fn value(&self, row: usize, feature: usize) -> f64 {
        match feature {
            0 => self.numbers[0][row],
            1 if self.codes[row] == MISSING_CODE => f64::NAN,
            1 => f64::from(self.codes[row]),
            _ => self.numbers[1][row],
        }
    }
}

/// The probability from a term, by the definition.
fn chance_of(term: &Term, data: &Data, row: usize) -> f64 {
    let Term::Feature(term) = term else { panic!("a feature") };
    let value = data.value(row, term.feature);
    match &term.steps {
        _ if value.is_nan() => term.missing,
        FeatureSteps::Numeric { thresholds, values } => {
            values[thresholds.iter().filter(|&&threshold| threshold <= value).count()]
        }
        FeatureSteps::Categorical { values } => values[value as usize],
    }
}

/// Mean worth of the paths of a row, from a node on.
fn mean_of_ways(
    program: &BranchingProgram,
    data: &Data,
    row: usize,
    (layer, index): (usize, usize),
    worth: &dyn Fn(usize, usize) -> f64,
) -> f64 {
    let chance = match &program.node(layer, index).kind {
        NodeKind::Ranker { term, .. } => chance_of(term, data, row),
        NodeKind::Coin => 0.5,
        _ => return worth(layer, index),
    };
    let on = |index| mean_of_ways(program, data, row, (layer + 1, index), worth);
    (1.0 - chance) * on(index) + chance * on(index + 1)
}

#[test]
fn a_score_is_the_mean_over_the_paths_of_a_row() {
    let data = Data::new(400, 12, 1);
    let half = data.rows(0..200);
    for score in [ProgramScore::Votes, ProgramScore::Sign, ProgramScore::NodeRate] {
        for (n_rounds, epsilon) in [(4, None), (5, Some(0.9)), (1, None)] {
            let params = MartiParams { score, n_rounds, epsilon, ..defaults() };
            let program = half.fit(&params).unwrap();
            let worth = |layer: usize, index: usize| {
                let left = (n_rounds + 1 - layer) as f64;
                let node = program.node(layer, index);
                let votes = index as f64
                    + match node.kind {
                        NodeKind::Frozen { positive } => left * f64::from(positive),
                        NodeKind::Unreached => left / 2.0,
                        _ => 0.0,
                    };
                let h = match node.kind {
                    NodeKind::Frozen { positive } => positive,
                    _ => votes >= n_rounds as f64 / 2.0,
                };
                let ClassMasses { pos, neg } = match node.kind {
                    NodeKind::Unreached => program.node(1, 0).masses,
                    _ => node.masses,
                };
                match score {
                    ProgramScore::Votes => votes,
                    ProgramScore::Sign => 2.0 * f64::from(h) - 1.0,
                    ProgramScore::NodeRate => pos as f64 / (pos + neg) as f64,
                }
            };
            let scores = program.score(&data.columns(), None).unwrap();
            for (row, found) in scores.iter().enumerate() {
                let mean = mean_of_ways(&program, &data, row, (1, 0), &worth);
                let expected = mean - program.threshold();
                assert!((found - expected).abs() < 1e-6, "row {row}: {found} {expected}");
            }
        }
    }
}

#[test]
fn scores_follow_the_paths_of_the_fit() {
    for routing in [Routing::Expected, Routing::Sampled] {
        let data = Data::new(600, 12, 2);
        let program = data.fit(&MartiParams { routing, epsilon: Some(0.5), ..defaults() }).unwrap();
        let scores = program.score(&data.columns(), None).unwrap();
        // Votes of all ends against votes of all rows, class by class.
        let mut of_nodes = [0.0; 2];
        for (layer, index, node) in program.nodes() {
            if let Some(twice) = program.twice_votes(layer, index) {
                of_nodes[0] += twice as f64 / 2.0 * node.masses.neg as f64 * program.unit();
                of_nodes[1] += twice as f64 / 2.0 * node.masses.pos as f64 * program.unit();
            }
        }
        let mut of_rows = [0.0; 2];
        for (score, &positive) in scores.iter().zip(&data.positive) {
            of_rows[usize::from(positive)] += score + program.threshold();
        }
        for class in 0..2 {
            assert!((of_nodes[class] - of_rows[class]).abs() < 1e-9, "{of_nodes:?} {of_rows:?}");
        }
        // A single path each: integer votes, with as many rows at each number as ended there.
        if routing == Routing::Sampled {
            for votes in 0..=5_u32 {
                let ended =
                    |score: &&f64| (**score + program.threshold() - f64::from(votes)).abs() < 1e-9;
                let n_rows = scores.iter().filter(ended).count();
                let n_ended: f64 = program
                    .nodes()
                    .filter(|&(t, i, _)| program.twice_votes(t, i) == Some(u64::from(2 * votes)))
                    .map(|(_, _, node)| (node.masses.pos + node.masses.neg) as f64 * program.unit())
                    .sum();
                assert_eq!(n_rows as f64, n_ended);
            }
        }
    }
}

#[test]
fn no_mass_is_created_or_lost() {
    let data = Data::new(500, 30, 4);
    for params in [
        defaults(),
        MartiParams { epsilon: Some(0.9), min_samples_class: 10.0, ..defaults() },
        MartiParams { routing: Routing::Sampled, epsilon: Some(0.9), ..defaults() },
    ] {
        let program = data.fit(&params).unwrap();
        let total = program.node(1, 0).masses;
        let mut frozen = ClassMasses::default();
        for layer in 1..=params.n_rounds + 1 {
            let mut here = frozen;
            for index in 0..layer {
                let node = program.node(layer, index);
                here += node.masses;
                if matches!(node.kind, NodeKind::Frozen { .. }) {
                    frozen += node.masses;
                }
            }
            assert_eq!(here, total, "layer {layer}");
        }
    }
}

#[test]
fn a_node_freezes_exactly_by_inequality_2() {
    let (mut n_frozen, mut n_open) = (0, 0);
    for seed in 0..10 {
        let data = Data::new(300, 15, seed);
        let (epsilon, n_rounds) = (0.8, 6);
        let program = data.fit(&MartiParams { epsilon: Some(epsilon), n_rounds, ..defaults() });
        let program = program.unwrap();
        let total = program.node(1, 0).masses;
        let bound = |class: u64| epsilon * class as f64 / (n_rounds * (n_rounds + 1)) as f64;
        let mut frozen_rare = [0; 2];
        for (layer, index, node) in program.nodes().filter(|(layer, ..)| *layer <= n_rounds) {
            let ClassMasses { pos, neg } = node.masses;
            let pos_is_rare = (pos as f64) < bound(total.pos);
            let neg_is_rare = (neg as f64) < bound(total.neg);
            match node.kind {
                NodeKind::Unreached => assert_eq!(pos + neg, 0),
                NodeKind::Frozen { positive } => {
                    n_frozen += 1;
                    assert!(pos_is_rare || neg_is_rare, "{layer} {index}");
                    if pos_is_rare != neg_is_rare {
                        assert_eq!(positive, neg_is_rare);
                        frozen_rare[usize::from(neg_is_rare)] += if positive { neg } else { pos };
                    }
                }
                _ => {
                    n_open += 1;
                    assert!(!pos_is_rare && !neg_is_rare, "{layer} {index}");
                }
            }
        }
        // Inequality 3: the mass that freezes at the other label is at most half of epsilon of its
        // class.
        assert!(frozen_rare[0] as f64 <= epsilon / 2.0 * total.pos as f64);
        assert!(frozen_rare[1] as f64 <= epsilon / 2.0 * total.neg as f64);
    }
    assert!(n_frozen > 10 && n_open > 100, "{n_frozen} {n_open}");
}

#[test]
fn the_first_node_has_the_best_feature_and_lemma_4() {
    // One feature: AUC 3/4, against 1/4 in the other direction.
    let data = [1.0, 2.0, 3.0, 4.0];
    let columns = Columns::from_row_major(&data, 1).unwrap();
    let labels = Labels::new(&[false, true, false, true], None).unwrap();
    let program =
        fit_marti_rank((&columns, &labels), &defaults(), None, &Interrupt::default()).unwrap();
    let NodeKind::Ranker { term: Term::Feature(term), cut } = &program.node(1, 0).kind else {
        panic!("a ranker")
    };
    // TPR - FPR is 1/2 at 2 and at 4; the larger threshold: p_+ = 1/2, p_- = 0, zeta = 1/3.
    let FeatureSteps::Numeric { thresholds, values } = &term.steps else { panic!("a number") };
    assert_eq!(thresholds, &[3.5]);
    assert_eq!((cut.p_pos, cut.p_neg), (0.5, 0.0));
    assert!((values[0] - 1.0 / 3.0).abs() < 1e-9 && values[1] == 1.0, "{values:?}");
    assert_eq!(term.missing, 0.5);
}

#[test]
fn separable_rows_are_separated_whatever_the_number_of_rounds() {
    let values: Vec<f64> = (0..40).map(f64::from).collect();
    let positive: Vec<bool> = (0..40).map(|row| row >= 25).collect();
    let columns = Columns::from_row_major(&values, 1).unwrap();
    let labels = Labels::new(&positive, None).unwrap();
    for n_rounds in 1..6 {
        let params = MartiParams { n_rounds, ..defaults() };
        let program =
            fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default()).unwrap();
        for (score, &positive) in program.score(&columns, None).unwrap().iter().zip(&positive) {
            let votes = if positive { n_rounds as f64 } else { 0.0 };
            assert_eq!(score + program.threshold(), votes);
            assert_eq!(*score > 0.0, positive);
        }
    }
}

#[test]
fn if_nothing_can_be_learned_all_rows_have_equal_scores() {
    let columns = Columns::from_row_major(&[2.0, 2.0, 2.0], 1).unwrap();
    let labels = Labels::new(&[false, true, true], None).unwrap();
    for routing in [Routing::Expected, Routing::Sampled] {
        let params = MartiParams { routing, ..defaults() };
        let program =
            fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default()).unwrap();
        assert_eq!(program.score(&columns, None).unwrap(), [0.0; 3]);
        assert!(program.nodes().all(|(.., node)| !matches!(node.kind, NodeKind::Ranker { .. })));
    }
}

#[test]
fn a_whole_layer_of_bins_and_single_nodes_give_the_same_program() {
    // A sample of all rows takes the other code path, node by node.
    for (n_values, max_bins) in [(12, Some(255)), (200, Some(255)), (5000, None)] {
        let data = Data::new(1500, n_values, 6);
        for weak_ranker in [WeakRankerParams::Feature, WeakRankerParams::Threshold] {
            for routing in [Routing::Expected, Routing::Sampled] {
                let binning = BinningParams { max_bins, ..BinningParams::default() };
                let weak_ranker = weak_ranker.clone();
                let params = MartiParams { binning, weak_ranker, routing, ..defaults() };
                let at_once = data.fit(&params).unwrap();
                let alone = MartiParams { sample_size: Some(1 << 40), ..params };
                assert_eq!(data.fit(&alone).unwrap(), at_once);
            }
        }
    }
}

#[test]
fn scores_follow_the_paths_of_the_fit_for_any_weak_ranker() {
    let data = Data::new(500, 40, 12);
    let numbers = data.numbers.each_ref().map(|values| Column::from(&values[..]));
    let columns = Columns::new(numbers.to_vec(), 500).unwrap();
    let labels = Labels::new(&data.positive, None).unwrap();
    let grow = GrowParams { max_depth: 2, leaf_order: LeafOrder::Tree, ..GrowParams::default() };
    let tree = WeakRankerParams::Tree(Box::new(TreeRankParams::new(
        grow,
        SplitRule::Stumps(LeafRankParams::orthogonal(5)),
    )));
    for weak_ranker in [WeakRankerParams::Linear, tree] {
        for (routing, sample_size) in
            [(Routing::Expected, None), (Routing::Sampled, None), (Routing::Expected, Some(100))]
        {
            let weak_ranker = weak_ranker.clone();
            let params = MartiParams { weak_ranker, routing, sample_size, ..defaults() };
            let program = fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default());
            let program = program.unwrap();
            let of_nodes: f64 = program
                .nodes()
                .filter_map(|(layer, index, node)| {
                    let mass = (node.masses.pos + node.masses.neg) as f64 * program.unit();
                    Some(program.twice_votes(layer, index)? as f64 / 2.0 * mass)
                })
                .sum();
            let scores = program.score(&columns, None).unwrap();
            let of_rows: f64 = scores.iter().map(|score| score + program.threshold()).sum();
            assert!((of_nodes - of_rows).abs() < 1e-9, "{of_nodes} {of_rows}");
            assert!(aucrank::roc::auc(&scores, &data.positive).unwrap() > 0.8);
        }
    }
}

#[test]
fn a_sample_of_the_rows_ranks_nearly_as_well() {
    let (train, test) = (Data::new(8000, 200, 7), Data::new(8000, 200, 8));
    let auc = |params: &MartiParams| {
        let scores = train.fit(params).unwrap().score(&test.columns(), None).unwrap();
        aucrank::roc::auc(&scores, &test.positive).unwrap()
    };
    let all = auc(&defaults());
    let sampled = MartiParams { sample_size: Some(400), epsilon: Some(0.1), ..defaults() };
    assert!(all > 0.75, "{all}");
    assert!((auc(&sampled) - all).abs() < 0.05, "{all} {}", auc(&sampled));
}

#[test]
fn on_exact_noise_the_noise_rate_gives_the_program_of_the_true_labels() {
    for seed in 0..5 {
        let mut clean = Data::new(200, 40, 20 + seed);
        let mut noisy = clean.rows((0..200).chain(0..200));
        for row in 200..400 {
            noisy.positive[row] = !noisy.positive[row];
        }
        clean.weights = Some(vec![4.0; 200]);
        noisy.weights = Some((0..400).map(|row| if row < 200 { 3.0 } else { 1.0 }).collect());
        let params = MartiParams { n_rounds: 3, ..defaults() };
        let expected = clean.fit(&params).unwrap();
        let found = noisy.fit(&MartiParams { noise_rate: Some(0.25), ..params.clone() }).unwrap();
        let literal = noisy.fit(&params).unwrap();
        let cuts = |program: &BranchingProgram| -> Vec<[f64; 2]> {
            let cut = |(.., node): (usize, usize, &aucrank::boost::MartiNode)| match &node.kind {
                NodeKind::Ranker { cut, .. } => [cut.p_pos, cut.p_neg],
                _ => [-1.0; 2],
            };
            program.nodes().map(cut).collect()
        };
        let distance = |program: &BranchingProgram| {
            let pairs =
                cuts(program).into_iter().flatten().zip(cuts(&expected).into_iter().flatten());
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(distance(&found) < 1e-6, "{}", distance(&found));
        assert!(distance(&literal) > 0.05, "noise shows where its rate is not given");
    }
}

#[test]
fn bad_parameters_are_named() {
    let data = Data::new(100, 10, 9);
    let share = data.positive.iter().filter(|&&positive| positive).count() as f64 / 100.0;
    assert!(share < 0.5);
    let refused = |params: MartiParams| match data.fit(&params) {
        Err(RankError::BadParameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(MartiParams { n_rounds: 0, ..defaults() }), "n_rounds");
    assert_eq!(refused(MartiParams { n_rounds: 1001, ..defaults() }), "n_rounds");
    for noise_rate in [-0.1, 0.5, f64::NAN, share] {
        assert_eq!(
            refused(MartiParams { noise_rate: Some(noise_rate), ..defaults() }),
            "noise_rate"
        );
    }
    assert!(data.fit(&MartiParams { noise_rate: Some(share - 0.01), ..defaults() }).is_ok());
    for epsilon in [0.0, 1.0, f64::NAN] {
        assert_eq!(refused(MartiParams { epsilon: Some(epsilon), ..defaults() }), "epsilon");
    }
    for least in [-1.0, f64::INFINITY] {
        let params = MartiParams { min_samples_class: least, ..defaults() };
        assert_eq!(refused(params), "min_samples_class");
    }
    assert_eq!(refused(MartiParams { sample_size: Some(0), ..defaults() }), "sample_size");
}

#[test]
fn a_fit_stops_on_request() {
    let data = Data::new(100, 10, 9);
    let labels = Labels::new(&data.positive, None).unwrap();
    let interrupt = Interrupt::default();
    interrupt.stop();
    let err =
        fit_marti_rank((&data.columns(), &labels), &defaults(), None, &interrupt).unwrap_err();
    assert_eq!(err, RankError::Interrupted);
}

fn settings() -> impl Strategy<Value = MartiParams> {
    let of_fit = (1..7_usize, any::<bool>(), any::<bool>(), any::<bool>());
    let of_rows =
        (prop::option::of(0.05..0.9), 0..20_u32, prop::option::of(1..60_usize), any::<bool>());
    (of_fit, of_rows).prop_map(
        |((n_rounds, is_sampled, cuts, by_error), (epsilon, least, size, rate))| MartiParams {
            n_rounds,
            routing: if is_sampled { Routing::Sampled } else { Routing::Expected },
            weak_ranker: if cuts { WeakRankerParams::Threshold } else { WeakRankerParams::Feature },
            criterion: if by_error { ThresholdCriterion::Error } else { ThresholdCriterion::Sum },
            epsilon,
            min_samples_class: f64::from(least),
            sample_size: size,
            score: if rate { ProgramScore::NodeRate } else { ProgramScore::Votes },
            ..defaults()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn order_copies_weights_and_threads_do_not_matter(
        params in settings(), seed in 0..1000_u64, shift in 1..79_usize,
    ) {
        let mut data = Data::new(80, 9, seed);
        let counts: Vec<usize> = (0..80).map(|row| match row {
            0 | 1 => 1,
            _ => (hash(seed + row) % 4) as usize,
        }).collect();
        let copies = data.rows((0..80).flat_map(|row| std::iter::repeat_n(row, counts[row])));
        data.weights = Some(counts.iter().map(|&count| count as f64).collect());
        let program = data.fit(&params).unwrap();
        prop_assert_eq!(&copies.fit(&params).unwrap(), &program);

        let turned = data.rows((0..80).map(|row| (row + shift) % 80));
        prop_assert_eq!(&turned.fit(&params).unwrap(), &program);

        // Rows of weight zero are ignored.
        let present = data.rows((0..80).filter(|&row| counts[row] > 0));
        prop_assert_eq!(&present.fit(&params).unwrap(), &program);
    }

    #[test]
    fn only_ratios_of_fractional_weights_matter(
        params in settings(), seed in 0..1000_u64, shift in 1..79_usize,
    ) {
        let mut data = Data::new(80, 9, seed);
        let weights: Vec<f64> = (0..80).map(|row| 0.1 + (hash(seed + row) % 1000) as f64 / 37.0).collect();
        data.weights = Some(weights.clone());
        let scores = data.fit(&params).unwrap().score(&data.columns(), None).unwrap();
        let turned = data.rows((0..80).map(|row| (row + shift) % 80));
        let of_turned = turned.fit(&params).unwrap().score(&data.columns(), None).unwrap();
        prop_assert_eq!(&of_turned, &scores);
        data.weights = Some(weights.iter().map(|weight| weight * 8.0).collect());
        prop_assert_eq!(&data.fit(&params).unwrap().score(&data.columns(), None).unwrap(), &scores);
    }
}

#[test]
fn threads_do_not_matter() {
    let data = Data::new(30_000, 150, 10);
    for params in [
        defaults(),
        MartiParams { routing: Routing::Sampled, ..defaults() },
        MartiParams { sample_size: Some(500), epsilon: Some(0.1), ..defaults() },
    ] {
        let on = |n_threads: usize| {
            let pool = rayon_pool(n_threads);
            pool.install(|| {
                let program = data.fit(&params).unwrap();
                let scores = program.score(&data.columns(), None).unwrap();
                (program, scores)
            })
        };
        let one = on(1);
        for n_threads in [2, 3] {
            assert!(on(n_threads) == one, "{n_threads} threads");
        }
    }
}

fn rayon_pool(n_threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap()
}

#[test]
fn a_user_of_the_engine_may_freeze() {
    let values: Vec<f64> = (0..60).map(f64::from).collect();
    let positive: Vec<bool> = (0..60).map(|row| row % 2 == 0).collect();
    let freezing = Freezing { min_rows: 30.5, ..Freezing::default() };
    let params = MartiBoostParams { n_rounds: 3, freezing, ..MartiBoostParams::default() };
    let (done, _) = run_fixed(&values, &positive, None, &params);
    assert!(matches!(done.nodes[0].1, Outcome::Frozen { positive: false }));
    assert!(done.nodes[1..].iter().all(|(_, outcome)| matches!(outcome, Outcome::Unreached)));
}
