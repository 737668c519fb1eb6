//! Ranking trees through the public API, against their definitions written plainly.

use aucrank::data::{ClassSums, Columns, Folds, Labels, hold_out};
use aucrank::tree::{
    Complexity, CvParams, GrowParams, LeafOrder, LeafRankParams, PenaltyParams, PenaltyScale,
    PruningRule, RankingTree, SplitRule, TreeRankModel, TreeRankParams, ValidationParams, fit,
    fit_validated,
};
use aucrank::{Interrupt, roc};
use proptest::prelude::*;

fn params(split_depth: usize, leaf_order: LeafOrder, n_folds: Option<u16>) -> TreeRankParams {
    TreeRankParams {
        pruning: n_folds.map(|n_folds| {
            PruningRule::CrossValidation(CvParams { n_folds, one_standard_error: false, seed: 5 })
        }),
        ..TreeRankParams::new(
            GrowParams { max_depth: 6, min_samples_leaf: 1, leaf_order, ..GrowParams::default() },
            SplitRule::Stumps(LeafRankParams {
                max_depth: split_depth,
                ..LeafRankParams::orthogonal(1)
            }),
        )
    }
}

/// Few distinct values, so that ties are common and every fold sees all of them.
fn sample(n_rows: usize, seed: u64) -> (Vec<f64>, Vec<bool>) {
    let mut state = seed;
    let mut draw = |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let values: Vec<f64> = (0..3 * n_rows).map(|_| draw(6) as f64).collect();
    let positive = (0..n_rows).map(|row| {
        let [a, b, _] = values[3 * row..3 * row + 3] else { unreachable!() };
        (draw(10) as f64) < 2.0 + a + if b > 2.0 { 2.0 } else { 0.0 }
    });
    let positive = positive.collect();
    (values, positive)
}

fn fit_rows(values: &[f64], positive: &[bool], params: &TreeRankParams) -> TreeRankModel {
    let columns = Columns::from_row_major(values, 3).unwrap();
    let labels = Labels::new(positive, None).unwrap();
    fit((&columns, &labels), params, &Interrupt::default()).unwrap()
}

fn auc_on(tree: &RankingTree, values: &[f64], positive: &[bool]) -> f64 {
    let columns = Columns::from_row_major(values, 3).unwrap();
    roc::auc(&tree.score(&columns, None).unwrap(), positive).unwrap()
}

#[test]
fn the_auc_of_a_tree_is_that_of_its_scores() {
    for leaf_order in [LeafOrder::Tree, LeafOrder::Eta] {
        for split_depth in 1..4 {
            let (values, positive) = sample(300, 3);
            let tree = fit_rows(&values, &positive, &params(split_depth, leaf_order, None)).tree;
            assert!(tree.n_leaves() > 10);
            assert!((tree.auc() - auc_on(&tree, &values, &positive)).abs() < 1e-14);
            // Additive over the splits, of all levels (DECISIONS E1), in the order of the tree.
            let gains: f64 =
                (0..tree.nodes().len()).map(|node| tree.auc_of_gain(tree.gain(node))).sum();
            match leaf_order {
                LeafOrder::Tree => assert!((tree.auc() - 0.5 - gains).abs() < 1e-12),
                LeafOrder::Eta => assert!(tree.auc() >= 0.5 + gains - 1e-12),
            }
        }
    }
}

#[test]
fn the_path_holds_the_smallest_best_tree_at_every_price() {
    let (values, positive) = sample(60, 8);
    let tree = fit_rows(&values, &positive, &params(1, LeafOrder::Tree, None)).tree;
    let subtrees = all_subtrees(&tree, 0);
    assert!(subtrees.len() > 100, "{}", subtrees.len());
    let path = tree.pruning_path();
    let prices = path.iter().map(|step| step.alpha);
    let between = path.windows(2).map(|pair| f64::midpoint(pair[0].alpha, pair[1].alpha));
    for price in prices.chain(between).chain([0.0, 1.0]) {
        // A price on the edge of its interval is moved inside, so that rounding does not matter.
        let price = price + 1e-9;
        let value =
            |(gain, n_leaves): &(i128, usize)| tree.auc_of_gain(*gain) - price * *n_leaves as f64;
        let best = subtrees.iter().map(value).fold(f64::MIN, f64::max);
        let tied = subtrees.iter().filter(|subtree| value(subtree) > best - 1e-13);
        let smallest = tied.map(|(_, n_leaves)| *n_leaves).min().unwrap();
        let pruned = tree.prune(price);
        assert_eq!(pruned.n_leaves(), smallest, "price {price}");
        assert!((pruned.auc() - 0.5 - price * smallest as f64 - best).abs() < 1e-12);
    }
    for step in &path {
        assert_eq!(tree.prune(step.alpha).n_leaves(), step.n_leaves);
        assert!((tree.prune(step.alpha).auc() - step.auc).abs() < 1e-14);
    }
    for n_leaves in 1..=tree.n_leaves() {
        let best = subtrees.iter().filter(|(_, n)| *n == n_leaves).map(|(gain, _)| *gain).max();
        let found = tree.best_subtree(n_leaves).unwrap();
        assert_eq!(found.n_leaves(), n_leaves);
        assert!((found.auc() - 0.5 - tree.auc_of_gain(best.unwrap())).abs() < 1e-12);
    }
}

/// Gain and number of leaves of every subtree of a branch, by enumeration.
fn all_subtrees(tree: &RankingTree, node: usize) -> Vec<(i128, usize)> {
    let mut subtrees = vec![(0, 1)];
    if let Some(split) = &tree.nodes()[node].split {
        let right = all_subtrees(tree, split.right());
        for (gain, n_leaves) in all_subtrees(tree, split.left()) {
            let joined = right.iter().map(|(g, n)| (tree.gain(node) + gain + g, n_leaves + n));
            subtrees.extend(joined);
        }
    }
    subtrees
}

#[test]
fn cross_validation_is_a_plain_loop_over_folds() {
    for (leaf_order, split_depth) in
        [(LeafOrder::Tree, 1), (LeafOrder::Tree, 2), (LeafOrder::Eta, 1)]
    {
        let (values, positive) = sample(400, 21);
        let params = params(split_depth, leaf_order, Some(4));
        let model = fit_rows(&values, &positive, &params);
        let found = model.cross_validation.unwrap();
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let folds = Folds::deal(&columns, &labels, 4, 5, &Interrupt::default()).unwrap();

        let path = &found.steps;
        let mut means = vec![0.0; path.len()];
        for fold in 0..4 {
            let of = |inside: bool| {
                let rows = (0..400).filter(|&row| (folds.of_row[row] == fold) == inside);
                let rows: Vec<usize> = rows.collect();
                let values: Vec<f64> =
                    rows.iter().flat_map(|&row| values[3 * row..3 * row + 3].to_vec()).collect();
                (values, rows.iter().map(|&row| positive[row]).collect::<Vec<_>>())
            };
            let ((train, train_positive), (test, test_positive)) = (of(false), of(true));
            let unpruned = TreeRankParams { pruning: None, ..params.clone() };
            let tree = fit_rows(&train, &train_positive, &unpruned).tree;
            for (i, mean) in means.iter_mut().enumerate() {
                let next = path.get(i + 1).map_or(f64::INFINITY, |step| step.alpha);
                let pruned = tree.prune((path[i].alpha * next).sqrt());
                *mean += auc_on(&pruned, &test, &test_positive) / 4.0;
            }
        }
        for (mean, found) in means.iter().zip(&found.mean_auc) {
            assert!((mean - found).abs() < 1e-12, "{mean} {found}");
        }
        let best = found.mean_auc.iter().copied().fold(0.0, f64::max);
        let last = found.mean_auc.iter().rposition(|&mean| mean >= best);
        assert_eq!(Some(found.chosen), last);
        assert_eq!(model.tree.n_leaves(), path[found.chosen].n_leaves);
    }
}

#[test]
fn leaf_values_are_the_shares_of_positives_without_constraints() {
    for leaf_order in [LeafOrder::Tree, LeafOrder::Eta] {
        let (values, positive) = sample(300, 5);
        let tree = fit_rows(&values, &positive, &params(2, leaf_order, None)).tree;
        let shares: Vec<f64> = tree.leaf_sums().into_iter().map(ClassSums::eta).collect();
        assert_eq!(tree.leaf_values(), shares);
        assert!(!tree.to_json().unwrap().contains("monotonic"));
    }
}

#[test]
fn leaf_values_follow_the_directions() {
    for leaf_order in [LeafOrder::Tree, LeafOrder::Eta] {
        for split_depth in 1..4 {
            let (values, positive) = sample(300, 6);
            let monotonic = vec![-1, 1, 0];
            let params = TreeRankParams { monotonic, ..params(split_depth, leaf_order, None) };
            let tree = fit_rows(&values, &positive, &params).tree;
            assert!(tree.n_leaves() > 3 && tree.check().is_ok());
            let leaf_values = tree.leaf_values();
            let at = |row: [f64; 3]| {
                let columns = Columns::from_row_major(&row, 3).unwrap();
                leaf_values[tree.apply(&columns, None).unwrap()[0] as usize]
            };
            for (a, b, c) in (0..216).map(|i| (f64::from(i % 6), f64::from(i / 6 % 6), i / 36)) {
                let c = f64::from(c);
                assert!(at([a + 1.0, b, c]) <= at([a, b, c]));
                assert!(at([a, b + 1.0, c]) >= at([a, b, c]));
            }
        }
    }
}

#[test]
fn invalid_directions_are_named() {
    let (values, positive) = sample(50, 5);
    let message = |monotonic: Vec<i8>| {
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let params = TreeRankParams { monotonic, ..params(1, LeafOrder::Tree, None) };
        fit((&columns, &labels), &params, &Interrupt::default()).unwrap_err().to_string()
    };
    let too_few = message(vec![1]);
    assert_eq!(too_few, "monotonic_cst is of length 1, but must be as long as X has columns");
    assert_eq!(message(vec![0, 2, 0]), "monotonic_cst is 2 somewhere, but must be -1, 0 or 1");
}

#[test]
fn a_saved_tree_that_violates_its_directions_is_refused() {
    let (values, positive) = sample(300, 6);
    let params = TreeRankParams { monotonic: vec![1, 1, 1], ..params(1, LeafOrder::Tree, None) };
    let json = fit_rows(&values, &positive, &params).tree.to_json().unwrap();
    for (directions, is_fine) in
        [("[1,1,1]", true), ("[-1,-1,-1]", false), ("[1,1]", false), ("[1,1,3]", false)]
    {
        let directions = format!("\"monotonic\":{directions}");
        let text = json.replace("\"monotonic\":[1,1,1]", &directions);
        let tree: RankingTree = serde_json::from_str(&text).unwrap();
        assert_eq!(tree.check().is_ok(), is_fine, "{directions}");
    }
}

fn penalised(scale: f64) -> PruningRule {
    let scale = PenaltyScale::Fixed(scale);
    PruningRule::Penalty(PenaltyParams { scale, p_low: None, p_high: None })
}

#[test]
fn a_penalty_keeps_the_best_of_all_subtrees_of_all_sizes() {
    let mut sizes = Vec::new();
    for seed in [8, 9, 10] {
        let (values, positive) = sample(60, seed);
        let unpruned = params(1, LeafOrder::Tree, None);
        let tree = fit_rows(&values, &positive, &unpruned).tree;
        let subtrees = all_subtrees(&tree, 0);
        let share = positive.iter().filter(|&&p| p).count() as f64 / 60.0;
        for scale in [1e-4, 1e-3, 3e-3, 1e-2, 1.0] {
            let pruned = TreeRankParams { pruning: Some(penalised(scale)), ..unpruned.clone() };
            let model = fit_rows(&values, &positive, &pruned);
            let found = model.penalization.unwrap();
            assert_eq!(found.train_auc.len(), tree.n_leaves());
            let mut best = f64::MIN;
            for n_leaves in 1..=tree.n_leaves() {
                let of_size = subtrees.iter().filter(|(_, n)| *n == n_leaves);
                let auc = 0.5 + tree.auc_of_gain(of_size.map(|(gain, _)| *gain).max().unwrap());
                assert_eq!(found.train_auc[n_leaves - 1].to_bits(), auc.to_bits());
                assert!((tree.best_subtree(n_leaves).unwrap().auc() - auc).abs() < 1e-12);
                let penalty = Complexity::Cuts(1.0).penalty(n_leaves, 60, 3, (share, share));
                assert!((found.penalty[n_leaves - 1] - penalty).abs() < 1e-12);
                best = best.max(auc - scale * penalty);
            }
            let kept = model.tree.n_leaves();
            assert_eq!(found.chosen + 1, kept);
            assert!((model.tree.auc() - scale * found.penalty[kept - 1] - best).abs() < 1e-12);
            sizes.push(kept);
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    assert!(sizes.len() >= 4 && sizes[0] == 1, "the scales must reach several sizes: {sizes:?}");
}

#[test]
fn best_subtrees_of_a_chain_of_many_leaves_are_found() {
    // Classes that alternate on a line: each stump cuts off one end, or little more.
    let n_rows = 1500;
    let values: Vec<f64> = (0..n_rows).flat_map(|row| [f64::from(row), 0.0, 0.0]).collect();
    let positive: Vec<bool> = (0..n_rows).map(|row| row % 2 == 0).collect();
    let mut params = params(1, LeafOrder::Tree, None);
    params.binning.max_bins = None;
    params.grow.max_depth = n_rows as usize;
    let tree = fit_rows(&values, &positive, &params).tree;
    assert_eq!(tree.n_leaves(), n_rows as usize);
    assert!(tree.depths().into_iter().max().unwrap() > 500);
    // The greedy path has the best tree of each of its sizes.
    for step in tree.pruning_path().into_iter().step_by(7) {
        let best = tree.best_subtree(step.n_leaves).unwrap();
        assert_eq!(best.n_leaves(), step.n_leaves);
        assert!((best.auc() - step.auc).abs() < 1e-12);
    }
}

#[test]
fn validation_keeps_the_tree_of_the_path_that_ranks_other_rows_best() {
    for leaf_order in [LeafOrder::Tree, LeafOrder::Eta] {
        let (values, positive) = sample(300, 4);
        let (others, other_positive) = sample(200, 77);
        let unpruned = params(1, leaf_order, None);
        let pruning = PruningRule::Validation(ValidationParams { fraction: 0.5, seed: 0 });
        let pruned = TreeRankParams { pruning: Some(pruning), ..unpruned.clone() };
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let other_columns = Columns::from_row_major(&others, 3).unwrap();
        let other_labels = Labels::new(&other_positive, None).unwrap();
        let held_out = (&other_columns, &other_labels);
        let interrupt = Interrupt::default();
        let model = fit_validated(&columns, &labels, held_out, &pruned, &interrupt).unwrap();
        let found = model.validation.unwrap();

        let tree = fit_rows(&values, &positive, &unpruned).tree;
        assert_eq!(found.steps, tree.pruning_path());
        for (step, auc) in found.steps.iter().zip(&found.auc) {
            let expected = auc_on(&tree.prune(step.alpha), &others, &other_positive);
            assert!((auc - expected).abs() < 1e-14);
        }
        let best = found.auc.iter().copied().fold(0.0, f64::max);
        assert_eq!(Some(found.chosen), found.auc.iter().rposition(|&auc| auc >= best));
        assert_eq!(model.tree, tree.best_on(&other_columns, &other_labels).unwrap().0);
        assert!(model.tree.n_leaves() < tree.n_leaves());

        let err = fit_validated(&columns, &labels, held_out, &unpruned, &interrupt).unwrap_err();
        assert!(err.to_string().starts_with("pruning is"), "{err}");
        let mut infinite = others;
        infinite[7] = f64::INFINITY;
        let infinite = Columns::from_row_major(&infinite, 3).unwrap();
        let held_out = (&infinite, &other_labels);
        let err = fit_validated(&columns, &labels, held_out, &pruned, &interrupt).unwrap_err();
        assert_eq!(err.column(), Some(1));
        assert!(
            err.to_string().starts_with("in the rows to validate on: column 1 is inf in row 2")
        );
    }
}

#[test]
fn held_out_rows_do_not_affect_the_growth() {
    let (values, positive) = sample(300, 4);
    let unpruned = params(1, LeafOrder::Tree, None);
    let rule = ValidationParams { fraction: 0.3, seed: 5 };
    let pruned =
        TreeRankParams { pruning: Some(PruningRule::Validation(rule)), ..unpruned.clone() };
    let model = fit_rows(&values, &positive, &pruned);

    let columns = Columns::from_row_major(&values, 3).unwrap();
    let labels = Labels::new(&positive, None).unwrap();
    let parts = hold_out(&columns, &labels, 0.3, 5, &Interrupt::default()).unwrap().unwrap();
    let take = |rows: &[u32]| -> (Vec<f64>, Vec<bool>) {
        let rows: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        let values = rows.iter().flat_map(|&row| values[3 * row..3 * row + 3].to_vec());
        (values.collect(), rows.iter().map(|&row| positive[row]).collect())
    };
    let ((kept, kept_positive), (others, other_positive)) =
        (take(&parts.kept), take(&parts.held_out));
    // Every value is in both parts, so that the bins are the same.
    let tree = fit_rows(&kept, &kept_positive, &unpruned).tree;
    let others_columns = Columns::from_row_major(&others, 3).unwrap();
    let others_labels = Labels::new(&other_positive, None).unwrap();
    let (best, found) = tree.best_on(&others_columns, &others_labels).unwrap();
    assert_eq!(model.tree, best);
    assert_eq!(model.validation, Some(found));
}

fn on_threads<T: Send>(n_threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap().install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 10))]

    #[test]
    fn the_model_does_not_depend_on_threads_order_or_copies(
        seed in any::<u64>(),
        split_depth in 1..4_usize,
        by_eta in any::<bool>(),
        pruning in 0..4_usize,
        weights in prop::collection::vec(0..4_u8, 120),
    ) {
        let leaf_order = if by_eta { LeafOrder::Eta } else { LeafOrder::Tree };
        let mut params = params(split_depth, leaf_order, Some(3));
        let slope = PenaltyParams { scale: PenaltyScale::Slope, p_low: None, p_high: None };
        params.pruning = [
            params.pruning,
            Some(penalised(0.002)),
            Some(PruningRule::Penalty(slope)),
            Some(PruningRule::Validation(ValidationParams { fraction: 0.4, seed: 1 })),
        ][pruning];
        let (values, mut positive) = sample(120, seed);
        (positive[0], positive[1]) = (true, false);
        let mut weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
        (weights[0], weights[1]) = (1.0, 2.0);

        let fit_weighted = |values: &[f64], positive: &[bool], weights: &[f64]| {
            let columns = Columns::from_row_major(values, 3).unwrap();
            let labels = Labels::new(positive, Some(weights)).unwrap();
            fit((&columns, &labels), &params, &Interrupt::default()).unwrap()
        };
        let one = on_threads(1, || fit_weighted(&values, &positive, &weights));
        let two = on_threads(2, || fit_weighted(&values, &positive, &weights));
        prop_assert_eq!(&one, &two);

        let row = |row: usize| values[3 * row..3 * row + 3].to_vec();
        let backwards: Vec<usize> = (0..120).rev().collect();
        let reversed = fit_weighted(
            &backwards.iter().flat_map(|&i| row(i)).collect::<Vec<_>>(),
            &backwards.iter().map(|&i| positive[i]).collect::<Vec<_>>(),
            &backwards.iter().map(|&i| weights[i]).collect::<Vec<_>>(),
        );
        prop_assert_eq!(&one, &reversed);

        let copies: Vec<usize> =
            (0..120).flat_map(|i| std::iter::repeat_n(i, weights[i] as usize)).collect();
        let repeated = fit_rows(
            &copies.iter().flat_map(|&i| row(i)).collect::<Vec<_>>(),
            &copies.iter().map(|&i| positive[i]).collect::<Vec<_>>(),
            &params,
        );
        prop_assert_eq!(&one, &repeated);
    }

    /// A concave penalty makes AUC less penalty largest at a vertex of the hull of (leaves, AUC).
    #[test]
    fn the_tree_of_a_penalty_is_on_the_nested_path(
        seed in any::<u64>(),
        split_depth in 1..3_usize,
        scale in 1e-4..2e-2_f64,
    ) {
        let (values, mut positive) = sample(120, seed);
        (positive[0], positive[1]) = (true, false);
        let unpruned = params(split_depth, LeafOrder::Tree, None);
        let tree = fit_rows(&values, &positive, &unpruned).tree;
        let pruned = TreeRankParams { pruning: Some(penalised(scale)), ..unpruned.clone() };
        let model = fit_rows(&values, &positive, &pruned);
        let found = model.penalization.unwrap();
        let criterion = |n_leaves: usize| found.criterion(n_leaves - 1);
        let on_path = tree.pruning_path().iter().map(|step| criterion(step.n_leaves)).fold(f64::MIN, f64::max);
        let overall = criterion(model.tree.n_leaves());
        prop_assert!((on_path - overall).abs() < 1e-12, "{} {}", on_path, overall);
        let complexity = Complexity::Cubes { level: 1 };
        let penalty = |k: usize| complexity.penalty(k, 120, 3, (0.4, 0.4));
        let best = |sizes: &mut dyn Iterator<Item = usize>| {
            sizes.map(|k| found.train_auc[k - 1] - scale * penalty(k)).fold(f64::MIN, f64::max)
        };
        let overall = best(&mut (1..=tree.n_leaves()));
        let on_path = best(&mut tree.pruning_path().iter().map(|step| step.n_leaves));
        prop_assert!((on_path - overall).abs() < 1e-12, "{} {}", on_path, overall);
    }
}
