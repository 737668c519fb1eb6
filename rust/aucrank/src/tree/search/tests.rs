//! The best tree by trying all.

use proptest::prelude::*;

use super::{SearchExtent, SearchParams};
use crate::Interrupt;
use crate::data::{ClassSums, Columns, Labels, mix};
use crate::tree::{
    CvParams, GrowParams, LeafRankParams, PruningRule, SplitRule, TreeRankModel, TreeRankParams,
    ValidationParams, fit,
};

const N_FEATURES: usize = 3;

/// Rows with few values, some missing, and labels that depend on them.
#[derive(Debug)]
struct SmallSample {
    values: Vec<f64>,
    positive: Vec<bool>,
    weights: Option<Vec<f64>>,
}

fn samples() -> impl Strategy<Value = SmallSample> {
    let row = (prop::array::uniform3(0_u8..5), any::<u8>(), 1_u8..4);
    (prop::collection::vec(row, 8..40), any::<bool>()).prop_map(|(rows, is_weighted)| {
        let value = |value: u8| if value == 4 { f64::NAN } else { f64::from(value) };
        SmallSample {
            values: rows.iter().flat_map(|row| row.0.map(value)).collect(),
            positive: rows
                .iter()
                .map(|(x, noise, _)| (x[0] + x[1]) % 3 * 60 + 40 > *noise)
                .collect(),
            weights: is_weighted.then(|| rows.iter().map(|row| f64::from(row.2)).collect()),
        }
    })
}

impl SmallSample {
    fn has_both_classes(&self) -> bool {
        self.positive.contains(&true) && self.positive.contains(&false)
    }

    fn has_rows(&self, max_leaves: usize, least: u64) -> bool {
        self.positive.len() as u64 >= least * max_leaves as u64
    }

    fn fit(&self, params: &TreeRankParams) -> TreeRankModel {
        let columns = Columns::from_row_major(&self.values, N_FEATURES).unwrap();
        let labels = Labels::new(&self.positive, self.weights.as_deref()).unwrap();
        fit((&columns, &labels), params, &Interrupt::default()).unwrap()
    }

    fn sums(&self, rows: &[usize]) -> ClassSums {
        let of_row = |&row: &usize| {
            let weight = self.weights.as_ref().map_or(1, |weights| weights[row] as u64);
            ClassSums::of_row(self.positive[row], weight, weight)
        };
        rows.iter().map(of_row).sum()
    }

    /// The leaves of every tree of at most `most` leaves and `depth` levels.
    fn trees(&self, rows: &[usize], most: usize, depth: usize, least: u64) -> Vec<Vec<ClassSums>> {
        let mut trees = vec![vec![self.sums(rows)]];
        if most < 2 || depth == 0 {
            return trees;
        }
        for feature in 0..N_FEATURES {
            for (threshold, missing_low) in (0..5).flat_map(|t| [(t, false), (t, true)]) {
                let is_low = |row: &usize| {
                    let value = self.values[row * N_FEATURES + feature];
                    if value.is_nan() { missing_low } else { value < f64::from(threshold) }
                };
                let (low, high): (Vec<usize>, Vec<usize>) =
                    rows.iter().partition(|row| is_low(row));
                let enough = |rows: &[usize]| self.sums(rows).rows >= least;
                if low.is_empty() || high.is_empty() || !enough(&low) || !enough(&high) {
                    continue;
                }
                let highs = self.trees(&high, most - 1, depth - 1, least);
                for of_low in self.trees(&low, most - 1, depth - 1, least) {
                    for of_high in &highs {
                        if of_low.len() + of_high.len() <= most {
                            trees.push([of_low.clone(), of_high.clone()].concat());
                        }
                    }
                }
            }
        }
        trees
    }
}

/// AUC of leaves in order of eta.
fn auc_of(mut leaves: Vec<ClassSums>) -> f64 {
    leaves.sort_by(|&a, &b| b.cmp_eta(a));
    let (mut half_wins, mut above) = (0, ClassSums::default());
    for leaf in leaves {
        half_wins += leaf.neg * (2 * above.pos + leaf.pos);
        above += leaf;
    }
    half_wins as f64 / (2 * above.pos * above.neg) as f64
}

fn params(extent: Option<SearchExtent>, grow: GrowParams) -> TreeRankParams {
    let split = SplitRule::Stumps(LeafRankParams::orthogonal(grow.min_samples_leaf));
    let search = extent.map(|extent| SearchParams { extent, ..SearchParams::default() });
    TreeRankParams { search, ..TreeRankParams::new(grow, split) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_search_of_all_trees_finds_the_best(
        sample in samples(), max_leaves in 2_usize..5, depth in 1_usize..4, least in 1_u64..4,
    ) {
        prop_assume!(sample.has_both_classes() && sample.has_rows(max_leaves, least));
        let grow = GrowParams {
            max_depth: depth,
            max_leaves: Some(max_leaves),
            min_samples_leaf: least,
            ..GrowParams::default()
        };
        let rows: Vec<usize> = (0..sample.positive.len()).collect();
        // The root always is a tree.
        let aucs = sample.trees(&rows, max_leaves, depth, least).into_iter().map(auc_of);
        let best = aucs.fold(0.5, f64::max);
        let found = sample.fit(&params(Some(SearchExtent::All), grow));
        prop_assert!((found.tree.auc() - best).abs() < 1e-12, "{} {best}", found.tree.auc());
        prop_assert_eq!(found.gap.map(|gap| gap < 1e-12), Some(true));
        prop_assert!(found.tree.n_leaves() <= max_leaves);
        prop_assert!(found.tree.check().is_ok());

        // Neither lookahead nor growth finds a better one, and lookahead is no worse than growth by
        // much.
        let lookahead = sample.fit(&params(Some(SearchExtent::Lookahead(2)), grow)).tree.auc();
        prop_assert!(lookahead <= best + 1e-12);
        prop_assert!(sample.fit(&params(None, grow)).tree.auc() <= best + 1e-12);
    }

    #[test]
    fn the_trees_near_the_best_are_those_of_all(
        sample in samples(), max_leaves in 2_usize..5, depth in 1_usize..3,
    ) {
        prop_assume!(sample.has_both_classes() && sample.has_rows(max_leaves, 1));
        let grow = GrowParams {
            max_depth: depth,
            max_leaves: Some(max_leaves),
            min_samples_leaf: 1,
            ..GrowParams::default()
        };
        let tolerance = 0.02;
        let mut params = params(Some(SearchExtent::All), grow);
        params.search.as_mut().unwrap().tolerance = Some(tolerance);
        let columns = Columns::from_row_major(&sample.values, N_FEATURES).unwrap();
        let labels = Labels::new(&sample.positive, sample.weights.as_deref()).unwrap();
        let found = match fit((&columns, &labels), &params, &Interrupt::default()) {
            Ok(found) => found,
            Err(err) => {
                prop_assert!(err.to_string().starts_with("tolerance must be"), "{err}");
                return Ok(());
            }
        };
        let key = |mut leaves: Vec<ClassSums>| {
            leaves.sort_by_key(|leaf| (leaf.pos, leaf.neg, leaf.rows));
            let parts = |leaf: &ClassSums| [leaf.pos, leaf.neg, leaf.rows];
            let sums: Vec<[u64; 3]> = leaves.iter().map(parts).collect();
            (sums, auc_of(leaves))
        };
        let rows: Vec<usize> = (0..sample.positive.len()).collect();
        let all: Vec<_> = sample.trees(&rows, max_leaves, depth, 1).into_iter().map(key).collect();
        let best = all.iter().map(|(_, auc)| *auc).fold(0.5, f64::max);
        let listed: Vec<_> =
            found.near_best.iter().map(|tree| key(tree.leaf_sums())).collect();
        prop_assert!(listed.is_sorted_by(|(_, a), (_, b)| *a > *b - 1e-12));
        prop_assert!(found.near_best.iter().all(|tree| tree.check().is_ok()));
        for (sums, auc) in &listed {
            prop_assert!(*auc > best - tolerance - 1e-9);
            prop_assert!(all.iter().any(|(other, _)| other == sums));
        }
        for (sums, auc) in all.iter().filter(|(_, auc)| *auc > best - tolerance + 1e-9) {
            // Itself, or one with leaves joined.
            let is_listed = listed.iter().any(|(other, of_other)| {
                (of_other - auc).abs() < 1e-12 && other.len() <= sums.len()
            });
            prop_assert!(is_listed, "{sums:?} {auc}");
        }
    }

    #[test]
    fn a_searched_tree_has_enough_rows_in_each_leaf_and_runs_in_the_direction_of_its_features(
        sample in samples(), least in 1_u64..6, direction in -1_i8..2,
    ) {
        prop_assume!(sample.has_both_classes() && sample.has_rows(6, least));
        let grow =
            GrowParams { max_leaves: Some(6), min_samples_leaf: least, ..GrowParams::default() };
        let bound = TreeRankParams {
            monotonic: vec![direction, 0, 0],
            ..params(Some(SearchExtent::Lookahead(1)), grow)
        };
        let tree = sample.fit(&bound).tree;
        prop_assert!(tree.check().is_ok());
        let enough = tree.leaf_sums().iter().all(|leaf| leaf.rows >= least);
        prop_assert!(tree.n_leaves() == 1 || enough);
    }
}
/// Labels of two features that only matter together, or only noise.
fn chosen(is_noise: bool, pruning: PruningRule) -> TreeRankModel {
    let n_rows = 600;
    let value = |i: u64| (mix(i) % 16) as f64;
    let values: Vec<f64> = (0..2 * n_rows).map(value).collect();
    let positive: Vec<bool> = (0..n_rows)
        .map(|row| {
            let [a, b] = [0, 1].map(|feature| values[(2 * row + feature) as usize] < 8.0);
            let noise = mix(!row);
            if is_noise { noise.is_multiple_of(2) } else { (a != b) != noise.is_multiple_of(5) }
        })
        .collect();
    let columns = Columns::from_row_major(&values, 2).unwrap();
    let labels = Labels::new(&positive, None).unwrap();
    let grow = GrowParams { max_leaves: Some(4), ..GrowParams::default() };
    let params =
        TreeRankParams { pruning: Some(pruning), ..params(Some(SearchExtent::Lookahead(1)), grow) };
    fit((&columns, &labels), &params, &Interrupt::default()).unwrap()
}

#[test]
fn a_searched_tree_is_kept_if_it_ranks_other_rows_better_than_the_grown_one() {
    let validation = PruningRule::Validation(ValidationParams { fraction: 0.3, seed: 1 });
    let folds = CvParams { n_folds: 4, one_standard_error: false, seed: 1 };
    let both = chosen(false, validation);
    let found = both.validation.as_ref().unwrap();
    assert_eq!((found.chosen, both.tree.n_leaves()), (0, 4));
    // Four quarters, of which two are mostly positive.
    assert!(both.tree.auc() > 0.75);
    assert!(both.check().is_ok());
    let both = chosen(false, PruningRule::CrossValidation(folds));
    let found = both.cross_validation.as_ref().unwrap();
    assert_eq!((found.chosen, found.steps[0].n_leaves), (0, both.tree.n_leaves()));
    assert!(both.check().is_ok());
    for pruning in [validation, PruningRule::CrossValidation(folds)] {
        let of_noise = chosen(true, pruning);
        assert!(of_noise.tree.n_leaves() < 4);
        assert!(of_noise.check().is_ok());
    }
}
