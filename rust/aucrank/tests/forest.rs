//! Forests of ranking trees through the public API, against their definitions written plainly.

use std::collections::HashSet;

use aucrank::data::{Column, Columns, Labels, MISSING_CODE};
use aucrank::tree::{
    Aggregation, BootstrapParams, CutCriterion, Cuts, DyadicParams, EarlyStopping, ForestParams,
    GrowParams, LeafRankParams, RankingForest, RankingTree, SplitRule, TreeRankParams, fit_forest,
};
use aucrank::{Interrupt, RankError, roc};

const AGGREGATIONS: [Aggregation; 4] =
    [Aggregation::Eta, Aggregation::RankMean, Aggregation::RankMedian, Aggregation::Kendall];

fn params(n_trees: usize, aggregation: Aggregation) -> ForestParams {
    let tree = TreeRankParams {
        seed: 4,
        ..TreeRankParams::new(
            GrowParams { max_depth: 5, min_samples_leaf: 1, ..GrowParams::default() },
            SplitRule::Stumps(LeafRankParams {
                max_depth: 2,
                max_features: Some(2),
                ..LeafRankParams::orthogonal(1)
            }),
        )
    };
    ForestParams {
        tree,
        leaf_sizes: Vec::new(),
        criteria: Vec::new(),
        n_trees,
        bootstrap: Some(BootstrapParams { share: 1.0 }),
        aggregation,
        out_of_bag: true,
        early_stopping: None,
    }
}

/// Two numbers and a category, with missing values, and labels that depend on all of them.
#[derive(Clone, Default)]
struct Rows {
    numbers: [Vec<f64>; 2],
    codes: Vec<u32>,
    positive: Vec<bool>,
}

impl Rows {
    fn new(n_rows: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut draw = |n: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let mut rows = Self::default();
        for _ in 0..n_rows {
            let (a, b, code) = (draw(30) as f64, draw(12) as f64, draw(4) as u32);
            rows.positive.push((draw(50) as f64) < a + b + if code == 2 { 10.0 } else { 0.0 });
            rows.numbers[0].push(if draw(9) == 0 { f64::NAN } else { a });
            rows.numbers[1].push(b);
            rows.codes.push(if draw(7) == 0 { MISSING_CODE } else { code });
        }
        rows
    }

    /// Some of the rows, each as often as it is listed.
    fn some(&self, rows: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            numbers: [0, 1].map(|j| rows.clone().map(|row| self.numbers[j][row]).collect()),
            codes: rows.clone().map(|row| self.codes[row]).collect(),
            positive: rows.map(|row| self.positive[row]).collect(),
        }
    }

    fn columns(&self) -> Columns<'_> {
        let codes = Column::Codes { codes: &self.codes, n_levels: 4 };
        let [a, b] = [0, 1].map(|j| Column::from(&self.numbers[j][..]));
        Columns::new(vec![a, codes, b], self.positive.len()).unwrap()
    }

    fn fit(&self, params: &ForestParams) -> RankingForest {
        self.try_fit(params, None, None).unwrap()
    }

    fn try_fit(
        &self,
        params: &ForestParams,
        weights: Option<&[f64]>,
        earlier: Option<RankingForest>,
    ) -> Result<RankingForest, RankError> {
        let labels = Labels::new(&self.positive, weights).unwrap();
        fit_forest(&self.columns(), &labels, params, earlier, &Interrupt::default())
    }
}

/// Value of each row in each tree: `of` gives the values of its leaves.
fn by_tree(
    forest: &RankingForest,
    columns: &Columns<'_>,
    of: impl Fn(&RankingTree) -> Vec<f64>,
) -> Vec<Vec<f64>> {
    let rows = |tree: &RankingTree| {
        let values = of(tree);
        let leaves = tree.apply(columns, None).unwrap();
        leaves.into_iter().map(|leaf| values[leaf as usize]).collect()
    };
    forest.trees().iter().map(rows).collect()
}

/// Share of the rows of a tree that lie below each leaf, plus half of its own.
fn ranks(tree: &RankingTree) -> Vec<f64> {
    let sizes: Vec<f64> =
        tree.leaf_sums().iter().map(|sums| (sums.pos + sums.neg) as f64).collect();
    let below = |leaf: usize| sizes[leaf + 1..].iter().sum::<f64>() + sizes[leaf] / 2.0;
    (0..sizes.len()).map(|leaf| below(leaf) / sizes.iter().sum::<f64>()).collect()
}

fn json(forest: &RankingForest) -> String {
    serde_json::to_string(forest).unwrap()
}

#[test]
fn the_score_is_the_mean_share_of_positives_in_the_leaves() {
    let (train, test) = (Rows::new(400, 1), Rows::new(1500, 2));
    let forest = train.fit(&params(17, Aggregation::Eta));
    assert_eq!(forest.check(), Ok(()));
    let shares = |tree: &RankingTree| tree.leaf_sums().iter().map(|sums| sums.eta()).collect();
    let of_trees = by_tree(&forest, &test.columns(), shares);
    let (scores, probabilities) =
        (forest.score(&test.columns()).unwrap(), forest.probability(&test.columns()).unwrap());
    for row in 0..1500 {
        let mean = of_trees.iter().map(|values| values[row]).sum::<f64>() / 17.0;
        // The probability is rounded like the score.
        assert_eq!((scores[row], probabilities[row]), (mean - 0.5, (mean - 0.5) + 0.5));
    }
    assert!(roc::auc(&scores, &test.positive).unwrap() > 0.6);
}

#[test]
fn aggregated_ranks_are_their_mean_and_median() {
    let (train, test) = (Rows::new(400, 1), Rows::new(700, 2));
    for aggregation in [Aggregation::RankMean, Aggregation::RankMedian] {
        for n_trees in [1, 10, 11] {
            let forest = train.fit(&params(n_trees, aggregation));
            let of_trees = by_tree(&forest, &test.columns(), ranks);
            let plain = |row: usize| {
                let mut values: Vec<f64> = of_trees.iter().map(|values| values[row]).collect();
                if aggregation == Aggregation::RankMean {
                    return values.iter().sum::<f64>() / n_trees as f64;
                }
                values.sort_by(f64::total_cmp);
                f64::midpoint(values[(n_trees - 1) / 2], values[n_trees / 2])
            };
            let scores = forest.score(&test.columns()).unwrap();
            // The score is shifted so that its sign is the label.
            let shift = plain(0) - scores[0];
            for (row, score) in scores.iter().enumerate() {
                assert!((plain(row) - score - shift).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn a_score_is_positive_exactly_where_the_probability_is_above_one_half() {
    let (train, test) = (Rows::new(300, 3), Rows::new(1000, 4));
    for aggregation in AGGREGATIONS {
        for bootstrap in [Some(BootstrapParams { share: 0.6 }), None] {
            let params = ForestParams { bootstrap, out_of_bag: false, ..params(12, aggregation) };
            let forest = train.fit(&params);
            assert_eq!(forest.check(), Ok(()));
            let scores = forest.score(&test.columns()).unwrap();
            let probabilities = forest.probability(&test.columns()).unwrap();
            let n_positive = scores.iter().filter(|&&score| score > 0.0).count();
            assert!((40..960).contains(&n_positive), "{n_positive}");
            let mut rows: Vec<_> = scores.into_iter().zip(probabilities).collect();
            assert!(rows.iter().all(|(score, p)| (*score > 0.0) == (*p > 0.5)));
            // The shift may round two probabilities to the same score.
            rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
            assert!(rows.is_sorted_by(|a, b| a.1 <= b.1), "{aggregation:?}");
        }
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let (train, test) = (Rows::new(500, 5), Rows::new(3000, 6));
    for aggregation in AGGREGATIONS {
        let mut params = params(23, aggregation);
        if aggregation == Aggregation::RankMean {
            params.early_stopping = Some(EarlyStopping { n_iter_no_change: 10, tol: 0.0 });
        }
        let found = [1, 2, 5].map(|n_threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| {
                let forest = train.fit(&params);
                let scores = forest.score(&test.columns()).unwrap();
                (json(&forest), scores, forest.probability(&test.columns()).unwrap())
            })
        });
        assert!(found[0] == found[1] && found[0] == found[2], "{aggregation:?}");
    }
}

#[test]
fn added_trees_give_the_forest_of_one_fit() {
    let rows = Rows::new(300, 7);
    for aggregation in AGGREGATIONS {
        for n_iter_no_change in [None, Some(10), Some(30)] {
            if n_iter_no_change.is_some() && aggregation == Aggregation::Kendall {
                continue;
            }
            let early_stopping =
                n_iter_no_change.map(|n| EarlyStopping { n_iter_no_change: n, tol: 0.002 });
            let of = |n_trees| ForestParams { early_stopping, ..params(n_trees, aggregation) };
            for (first, second) in [(10, 20), (7, 34), (1, 2), (20, 20)] {
                let earlier = rows.fit(&of(first));
                let both = rows.try_fit(&of(second), None, Some(earlier)).unwrap();
                assert!(json(&both) == json(&rows.fit(&of(second))), "{aggregation:?}");
            }
        }
    }
}

#[test]
fn trees_of_other_rows_or_draws_do_not_count_as_out_of_bag() {
    let (rows, others) = (Rows::new(200, 7), Rows::new(210, 8));
    let earlier = rows.fit(&params(5, Aggregation::Eta));
    let add = |rows: &Rows, share, aggregation, out_of_bag| {
        let bootstrap = Some(BootstrapParams { share });
        let params = ForestParams { bootstrap, out_of_bag, ..params(8, aggregation) };
        rows.try_fit(&params, None, Some(earlier.clone()))
    };
    assert!(add(&rows, 1.0, Aggregation::Eta, true).is_ok());
    // Other numbers, in rows of the same classes.
    let mut moved = rows.clone();
    moved.numbers[0].iter_mut().for_each(|value| *value += 0.25);
    for (rows, share) in [(&others, 1.0), (&rows, 0.5), (&moved, 1.0)] {
        for (aggregation, out_of_bag) in [(Aggregation::Eta, true), (Aggregation::Kendall, false)] {
            let err = add(rows, share, aggregation, out_of_bag).unwrap_err();
            assert!(err.to_string().starts_with("the earlier forest is of other rows"), "{err}");
        }
        let forest = add(rows, share, Aggregation::Eta, false).unwrap();
        assert_eq!(forest.trees()[..5], *earlier.trees());
    }
    let narrow = Columns::from_row_major(&[0.0, 1.0], 1).unwrap();
    let labels = Labels::new(&[true, false], None).unwrap();
    let params = params(8, Aggregation::Eta);
    let err = fit_forest(&narrow, &labels, &params, Some(earlier), &Interrupt::default());
    assert_eq!(err.unwrap_err(), RankError::ColumnMismatch { found: 1, expected: 3 });
}

#[test]
fn growth_stops_when_the_out_of_bag_auc_no_longer_rises() {
    let rows = Rows::new(300, 9);
    for (n_iter_no_change, tol) in [(10, 0.001), (20, 0.0), (5, 0.01)] {
        let of = |n_trees, early_stopping| ForestParams {
            early_stopping,
            ..params(n_trees, Aggregation::Eta)
        };
        let forest = rows.fit(&of(400, Some(EarlyStopping { n_iter_no_change, tol })));
        let found = forest.out_of_bag().unwrap();
        let n_trees = forest.trees().len();
        assert!(n_trees < 400);
        assert_eq!(found.path_trees, (1..=n_trees / 10).map(|i| 10 * i).collect::<Vec<_>>());
        assert_eq!(found.path_aucs.last(), Some(&found.auc));
        let (mut best, mut trees_of_best) = (0.0, 0);
        for (&n, &auc) in found.path_trees.iter().zip(&found.path_aucs) {
            // As many trees without a stop.
            assert_eq!(rows.fit(&of(n, None)).out_of_bag().unwrap().auc.to_bits(), auc.to_bits());
            if auc > best + tol {
                (best, trees_of_best) = (auc, n);
            }
            assert_eq!(n - trees_of_best >= n_iter_no_change, n == n_trees);
        }
    }
    // The last check is after the last trees, however many.
    let stopping = Some(EarlyStopping { n_iter_no_change: 100, tol: 0.0 });
    let forest =
        rows.fit(&ForestParams { early_stopping: stopping, ..params(24, Aggregation::RankMedian) });
    assert_eq!(forest.out_of_bag().unwrap().path_trees, [10, 20, 24]);
}

/// The size whose trees, 60 or as many as requested, have the largest out-of-bag AUC, the smallest
/// of ties.
fn best_size(rows: &Rows, weights: Option<&[f64]>, params: &ForestParams, sizes: &[u64]) -> u64 {
    let (mut best, mut chosen) = (0.0, 0);
    for &size in sizes {
        let n_trees = params.n_trees.min(60);
        let params = ForestParams { out_of_bag: true, n_trees, ..of_size(params, size) };
        let auc = rows.try_fit(&params, weights, None).unwrap().out_of_bag().unwrap().auc;
        if auc > best {
            (best, chosen) = (auc, size);
        }
    }
    chosen
}

fn of_size(params: &ForestParams, size: u64) -> ForestParams {
    let mut params = ForestParams { leaf_sizes: Vec::new(), ..params.clone() };
    params.tree.grow.min_samples_leaf = size;
    if let SplitRule::Stumps(stumps) = &mut params.tree.split
        && stumps.max_depth == 1
    {
        stumps.min_samples_leaf = size;
    }
    params
}

#[test]
fn out_of_bag_rows_choose_the_size_of_leaves() {
    let mut chosen = HashSet::new();
    let sizes = [1, 4, 15, 40];
    for (n_rows, seed, noise, depth) in [(200, 7, 0, 1), (200, 7, 3, 1), (300, 5, 2, 2)] {
        let mut rows = Rows::new(n_rows, seed);
        // Some labels are flipped, so that large leaves are needed.
        for row in (0..n_rows).filter(|row| row % 7 < noise) {
            rows.positive[row] = !rows.positive[row];
        }
        let weights: Vec<f64> = (0..n_rows).map(|row| 1.0 + (row % 3) as f64).collect();
        for weights in [None, Some(&weights[..])] {
            for aggregation in [Aggregation::Eta, Aggregation::RankMean, Aggregation::RankMedian] {
                let mut params =
                    ForestParams { leaf_sizes: sizes.to_vec(), ..params(1, aggregation) };
                params.tree.grow.max_depth = 20;
                if depth == 1 {
                    params.tree.split = SplitRule::Stumps(LeafRankParams::orthogonal(1));
                }
                // Fewer and more trees than the maximum of a trial.
                for n_trees in [7, 64] {
                    let params = ForestParams { n_trees, ..params.clone() };
                    let size = best_size(&rows, weights, &params, &sizes);
                    let forest = rows.try_fit(&params, weights, None).unwrap();
                    assert_eq!(forest.min_samples_leaf(), Some(size));
                    let alone = rows.try_fit(&of_size(&params, size), weights, None).unwrap();
                    assert!(json(&forest) == json(&alone), "{aggregation:?}");
                    chosen.insert(size);
                }
            }
        }
    }
    assert!(chosen.len() > 1, "{chosen:?}");
}

/// The expected choice: the best size by the first criterion, then the best criterion with that
/// size; the first of ties.
fn best_of(rows: &Rows, params: &ForestParams) -> ForestParams {
    let by = |params: &ForestParams, criterion| {
        let mut params = ForestParams { criteria: Vec::new(), ..params.clone() };
        if let SplitRule::Stumps(stumps) = &mut params.tree.split {
            stumps.criterion = criterion;
        }
        params
    };
    let first = by(params, params.criteria[0]);
    let sized = of_size(&first, best_size(rows, None, &first, &params.leaf_sizes));
    let (mut best, mut chosen) = (0.0, sized.clone());
    for &criterion in &params.criteria {
        let tried = by(&sized, criterion);
        let trial = ForestParams { n_trees: params.n_trees.min(60), ..tried.clone() };
        let auc = rows.try_fit(&trial, None, None).unwrap().out_of_bag().unwrap().auc;
        if auc > best {
            (best, chosen) = (auc, tried);
        }
    }
    chosen
}

#[test]
fn out_of_bag_rows_choose_the_criterion_for_the_chosen_size_of_leaves() {
    let mut chosen = HashSet::new();
    for (seed, cuts) in (1..7).zip([Cuts::Best, Cuts::Best, Cuts::Random].iter().cycle()) {
        let rows = Rows::new(150, seed);
        let criteria = vec![CutCriterion::Gini, CutCriterion::Youden, CutCriterion::LogLoss];
        let mut params =
            ForestParams { leaf_sizes: vec![1, 10], criteria, ..params(9, Aggregation::Eta) };
        if let SplitRule::Stumps(stumps) = &mut params.tree.split {
            stumps.cuts = *cuts;
        }
        let forest = rows.fit(&params);
        let alone = rows.fit(&best_of(&rows, &params));
        assert!(json(&forest) == json(&alone));
        chosen.insert(forest.criterion());
        // It continues to grow by that criterion, and is unchanged by saving and loading.
        let whole = rows.fit(&ForestParams { n_trees: 14, ..best_of(&rows, &params) });
        let back: RankingForest = serde_json::from_str(&json(&forest)).unwrap();
        assert_eq!(back, forest);
        let grown = ForestParams { n_trees: 14, ..params };
        assert!(json(&rows.try_fit(&grown, None, Some(back)).unwrap()) == json(&whole));
    }
    assert!(chosen.len() > 1, "{chosen:?}");
}

#[test]
fn a_forest_file_of_an_earlier_version_has_the_youden_criterion() {
    let rows = Rows::new(100, 3);
    let forest = rows.fit(&params(3, Aggregation::Eta));
    let mut saved = serde_json::to_value(&forest).unwrap();
    assert_eq!(saved.get("criterion"), None);
    let earlier: RankingForest = serde_json::from_value(saved.clone()).unwrap();
    assert_eq!(earlier.criterion(), CutCriterion::Youden);
    saved["criterion"] = "entropy".into();
    assert!(serde_json::from_value::<RankingForest>(saved).is_err());
}

#[test]
fn a_forest_that_grows_on_keeps_the_size_that_was_chosen() {
    let rows = Rows::new(300, 7);
    for aggregation in AGGREGATIONS {
        let of =
            |n_trees| ForestParams { leaf_sizes: vec![1, 5, 20], ..params(n_trees, aggregation) };
        let whole = rows.fit(&of(80));
        for first in [5, 70] {
            let earlier = rows.fit(&of(first));
            let both = rows.try_fit(&of(80), None, Some(earlier)).unwrap();
            assert!(json(&both) == json(&whole), "{aggregation:?}");
        }
    }
    // Files of an earlier version lack the size.
    let mut saved = serde_json::to_value(rows.fit(&params(3, Aggregation::Eta))).unwrap();
    saved.as_object_mut().unwrap().remove("min_samples_leaf").unwrap();
    let earlier: RankingForest = serde_json::from_value(saved).unwrap();
    assert_eq!(earlier.min_samples_leaf(), None);
    let sizes = ForestParams { leaf_sizes: vec![1, 5], ..params(9, Aggregation::Eta) };
    let err = rows.try_fit(&sizes, None, Some(earlier.clone())).unwrap_err().to_string();
    assert!(err.starts_with("the earlier forest is of leaves of unknown size"), "{err}");
    let forest = rows.try_fit(&params(9, Aggregation::Eta), None, Some(earlier)).unwrap();
    assert_eq!(forest.min_samples_leaf(), Some(1));
}

#[test]
fn the_smallest_of_equally_good_sizes_is_taken() {
    // One row of each class: none is ever out of bag.
    let rows = Rows::new(300, 7);
    let first = |class| rows.positive.iter().position(|&positive| positive == class).unwrap();
    let two = rows.some([first(false), first(true)].into_iter());
    let params = ForestParams {
        leaf_sizes: vec![1, 2, 3],
        out_of_bag: false,
        ..params(4, Aggregation::Eta)
    };
    assert_eq!(two.fit(&params).min_samples_leaf(), Some(1));
}

#[test]
fn each_tree_sees_the_requested_share_of_each_class() {
    let rows = Rows::new(333, 10);
    let n_pos = rows.positive.iter().filter(|&&positive| positive).count();
    for share in [1.0, 0.37, 1e-9] {
        let bootstrap = Some(BootstrapParams { share });
        let forest = rows.fit(&ForestParams { bootstrap, ..params(5, Aggregation::Eta) });
        let drawn = |n: usize| (share * n as f64).round().max(1.0) as u64;
        for tree in forest.trees() {
            let total = tree.total();
            assert_eq!((total.pos, total.neg), (drawn(n_pos), drawn(333 - n_pos)));
        }
        assert_ne!(forest.trees()[0], forest.trees()[1]);
    }
    let all = ForestParams { bootstrap: None, out_of_bag: false, ..params(3, Aggregation::Eta) };
    for tree in rows.fit(&all).trees() {
        assert_eq!((tree.total().pos, tree.total().rows), (n_pos as u64, 333));
    }
}

#[test]
fn a_row_of_weight_zero_is_ignored() {
    let rows = Rows::new(260, 11);
    let weights: Vec<f64> = (0..260).map(|row| f64::from(row % 4 != 1)).collect();
    let there = rows.some((0..260).filter(|row| row % 4 != 1));
    for aggregation in AGGREGATIONS {
        let params = params(12, aggregation);
        let weighted = rows.try_fit(&params, Some(&weights), None).unwrap();
        let without = there.try_fit(&params, Some(&[1.0; 195]), None).unwrap();
        assert!(json(&weighted) == json(&without), "{aggregation:?}");
    }
}

#[test]
fn without_a_bootstrap_a_row_of_weight_k_equals_k_rows() {
    let (rows, test) = (Rows::new(150, 12), Rows::new(400, 13));
    let weights: Vec<f64> = (0..150).map(|row| f64::from(row % 4)).collect();
    let copies = rows.some((0..150).flat_map(|row| std::iter::repeat_n(row, row % 4)));
    for aggregation in [Aggregation::Eta, Aggregation::RankMean, Aggregation::RankMedian] {
        let params = ForestParams { bootstrap: None, out_of_bag: false, ..params(9, aggregation) };
        let weighted = rows.try_fit(&params, Some(&weights), None).unwrap();
        let repeated = copies.fit(&params);
        for question in [RankingForest::score, RankingForest::probability] {
            assert_eq!(
                question(&weighted, &test.columns()).unwrap(),
                question(&repeated, &test.columns()).unwrap()
            );
        }
    }
}

#[test]
fn importances_are_the_mean_and_spread_of_the_trees() {
    let forest = Rows::new(300, 14).fit(&params(7, Aggregation::Eta));
    let (mean, spread) = forest.importances();
    for feature in 0..3 {
        let of_trees: Vec<f64> =
            forest.trees().iter().map(|tree| tree.importances()[feature].sqrt()).collect();
        let expected = of_trees.iter().sum::<f64>() / 7.0;
        let squares = of_trees.iter().map(|value| (value - expected).powi(2)).sum::<f64>();
        assert!((mean[feature] - expected).abs() < 1e-15);
        assert!((spread[feature] - (squares / 7.0).sqrt()).abs() < 1e-15);
        assert!(mean[feature] > 0.0 && spread[feature] > 0.0);
    }
}

#[test]
fn invalid_parameters_are_refused() {
    let rows = Rows::new(50, 15);
    let good = params(3, Aggregation::Eta);
    let stopping = Some(EarlyStopping { n_iter_no_change: 10, tol: 0.0 });
    let of_split = |split| {
        let tree = TreeRankParams { split, ..good.tree.clone() };
        ForestParams { tree, ..good.clone() }
    };
    let of_share =
        |share| ForestParams { bootstrap: Some(BootstrapParams { share }), ..good.clone() };
    let of_sizes = |sizes: &[u64]| ForestParams { leaf_sizes: sizes.to_vec(), ..good.clone() };
    let of_criteria = ForestParams { criteria: vec![CutCriterion::Gini], ..good.clone() };
    let unbagged_criteria = ForestParams { bootstrap: None, out_of_bag: false, ..of_criteria };
    let unbagged_sizes = ForestParams { bootstrap: None, out_of_bag: false, ..of_sizes(&[1, 5]) };
    let kendall = ForestParams { early_stopping: stopping, ..params(3, Aggregation::Kendall) };
    let unbagged = ForestParams { bootstrap: None, ..good.clone() };
    let unbagged_stop =
        ForestParams { out_of_bag: false, early_stopping: stopping, ..unbagged.clone() };
    for (params, message) in [
        (ForestParams { n_trees: 0, ..good.clone() }, "n_trees is 0, but must be at least 1"),
        (
            of_split(SplitRule::Dyadic(DyadicParams { level: Some(2) })),
            "split is dyadic, but must be",
        ),
        (of_split(SplitRule::Classifier), "split is a classifier, but must be made of stumps"),
        (of_sizes(&[0, 1]), "leaf_sizes is [0, 1], but must be positive and ascending"),
        (of_sizes(&[5, 1]), "leaf_sizes is [5, 1], but must be positive and ascending"),
        (of_sizes(&[2, 2]), "leaf_sizes is [2, 2], but must be positive and ascending"),
        (unbagged_sizes, "bootstrap is none, but must be given"),
        (unbagged_criteria, "bootstrap is none, but must be given"),
        (of_share(0.0), "share is 0, but must be in (0, 1]"),
        (of_share(1.5), "share is 1.5, but must be in (0, 1]"),
        (of_share(f64::NAN), "share is NaN, but must be in (0, 1]"),
        (unbagged, "bootstrap is none, but must be given where rows out of bag are requested"),
        (unbagged_stop, "bootstrap is none, but must be given"),
        (kendall, "aggregation is kendall, but must be another one for early stopping"),
    ] {
        let err = rows.try_fit(&params, None, None).unwrap_err().to_string();
        assert!(err.starts_with(message), "{err}");
    }

    let forest = rows.fit(&good);
    let narrow = Columns::from_row_major(&[0.0, 1.0], 1).unwrap();
    assert_eq!(
        forest.score(&narrow).unwrap_err(),
        RankError::ColumnMismatch { found: 1, expected: 3 }
    );
    let mut infinite = rows.clone();
    infinite.numbers[1][31] = f64::NEG_INFINITY;
    let err = forest.probability(&infinite.columns()).unwrap_err();
    assert!(matches!(err, RankError::InfiniteValue { column: 2, row: 31, .. }), "{err}");
    assert_eq!(infinite.try_fit(&good, None, None).unwrap_err(), err);

    let interrupt = Interrupt::default();
    interrupt.stop();
    let labels = Labels::new(&rows.positive, None).unwrap();
    let stopped = fit_forest(&rows.columns(), &labels, &good, None, &interrupt);
    assert_eq!(stopped.unwrap_err(), RankError::Interrupted);
}
