//! The best list of rules by trying all.

use super::{SearchExtent, SearchParams};
use crate::data::{Columns, Labels, mix};
use crate::tree::{
    CvParams, GrowParams, LeafRankParams, PruningRule, RankingTree, SplitForm, SplitNode,
    SplitRule, TreeRankModel, TreeRankParams, ValidationParams, fit, fit_validated,
};
use crate::{Interrupt, RankError};

const N_FEATURES: usize = 2;

/// Few rows of few values, some missing, and labels that depend on them.
struct FewRows {
    values: Vec<f64>,
    positive: Vec<bool>,
}

impl FewRows {
    fn new(seed: u64, n_rows: usize) -> Self {
        let draw = |place: u64| mix(seed ^ mix(place));
        let value = |place: u64| match draw(place) % 5 {
            4 => f64::NAN,
            value => value as f64,
        };
        let values: Vec<f64> = (0..(N_FEATURES * n_rows) as u64).map(value).collect();
        let positive = (0..n_rows)
            .map(|row| {
                let of_row = &values[N_FEATURES * row..][..N_FEATURES];
                let is_likely = of_row[0] < 2.0 && of_row[1] >= 1.0;
                draw(!(row as u64)) % 100 < if is_likely { 75 } else { 35 }
            })
            .collect();
        Self { values, positive }
    }

    fn fit(&self, params: &TreeRankParams) -> Result<TreeRankModel, RankError> {
        let columns = Columns::from_row_major(&self.values, N_FEATURES)?;
        let labels = Labels::new(&self.positive, None)?;
        fit((&columns, &labels), params, &Interrupt::default())
    }

    fn all(&self) -> u64 {
        (1 << self.positive.len()) - 1
    }

    /// The rows, a bit each, of every rule of at most `most` conditions.
    fn rules(&self, most: usize) -> Vec<u64> {
        let mut conditions = Vec::new();
        for feature in 0..N_FEATURES {
            for (threshold, missing_low) in (0..5).flat_map(|t| [(t, false), (t, true)]) {
                let low = (0..self.positive.len()).fold(0, |low, row| {
                    let value = self.values[row * N_FEATURES + feature];
                    let is_low =
                        if value.is_nan() { missing_low } else { value < f64::from(threshold) };
                    low | u64::from(is_low) << row
                });
                conditions.extend([low, self.all() & !low]);
            }
        }
        let mut rules = vec![self.all()];
        for _ in 0..most {
            let longer =
                rules.iter().flat_map(|rule| conditions.iter().map(move |more| rule & more));
            rules = longer.collect();
            rules.sort_unstable();
            rules.dedup();
        }
        rules
    }

    /// AUC of strata in order of eta; `None` if one has fewer than `least` rows.
    fn auc_of(&self, strata: &[u64], least: u32) -> Option<f64> {
        let positive = (0..self.positive.len())
            .fold(0, |bits, row| bits | u64::from(self.positive[row]) << row);
        let of = |bits: u64| u64::from(bits.count_ones());
        let sums = |rows: u64| (of(rows & positive), of(rows & !positive));
        let mut sums: Vec<(u64, u64)> = strata.iter().map(|&rows| sums(rows)).collect();
        if strata.iter().any(|rows| rows.count_ones() < least) {
            return None;
        }
        sums.sort_by(|a, b| (b.0 * a.1).cmp(&(a.0 * b.1)));
        let (mut half_wins, mut above) = (0, 0);
        for (pos, neg) in sums {
            half_wins += neg * (2 * above + pos);
            above += pos;
        }
        let n_neg = self.positive.len() as u64 - above;
        Some(half_wins as f64 / (2 * above * n_neg) as f64)
    }

    /// The largest AUC of all lists of at most `n_rules` rules.
    fn best(&self, n_rules: usize, most_conditions: usize, least: u32) -> f64 {
        let rules = self.rules(most_conditions);
        let mut best = 0.5;
        let mut lists: Vec<(Vec<u64>, u64)> = vec![(Vec::new(), self.all())];
        for _ in 0..n_rules {
            let mut longer = Vec::new();
            for (strata, rest) in &lists {
                let mut parts: Vec<u64> = rules.iter().map(|rule| rule & rest).collect();
                parts.sort_unstable();
                parts.dedup();
                for part in parts.into_iter().filter(|part| part.count_ones() >= least) {
                    let strata = [&strata[..], &[part]].concat();
                    let rest = rest & !part;
                    let all = [&strata[..], &[rest]].concat();
                    best = f64::max(best, self.auc_of(&all, least).unwrap_or(0.0));
                    longer.push((strata, rest));
                }
            }
            lists = longer;
        }
        best
    }
}

fn params(most_conditions: usize, max_leaves: usize, least: u64) -> TreeRankParams {
    let grow = GrowParams {
        max_leaves: Some(max_leaves),
        max_depth: max_leaves - 1,
        min_samples_leaf: least,
        ..GrowParams::default()
    };
    let split = SplitRule::Stumps(LeafRankParams::orthogonal(grow.min_samples_leaf));
    let extent = SearchExtent::Rules(most_conditions);
    let search = Some(SearchParams { extent, ..SearchParams::default() });
    TreeRankParams { search, ..TreeRankParams::new(grow, split) }
}

/// The conditions of each rule, if a tree is a list of rules.
fn conditions_of(tree: &RankingTree) -> Vec<usize> {
    let mut counts = Vec::new();
    let mut node = 0;
    while let Some(split) = &tree.nodes()[node].split {
        counts.push(match &split.form {
            SplitForm::Stump(_) => 1,
            SplitForm::Cuts(cuts) => {
                let is_cut = |cut: &&SplitNode| matches!(cut, SplitNode::Cut { .. });
                cuts.iter().filter(is_cut).count()
            }
            _ => panic!("a rule has conditions"),
        });
        let inner = |side: &usize| tree.nodes()[*side].split.is_some();
        let mut next = [split.left(), split.right()].into_iter().filter(inner);
        let Some(side) = next.next() else { break };
        assert_eq!(next.next(), None, "one side of a rule is a leaf");
        node = side;
    }
    counts
}

#[test]
fn a_searched_list_is_the_best_of_all_lists_or_nearly() {
    // Of 200 samples: how many lists are the best, and the mean area below it.
    for (n_rules, most_conditions, least_best, most_lost) in
        [(1, 1, 200, 1e-12), (1, 2, 200, 1e-12), (2, 1, 160, 0.015), (2, 2, 160, 0.005)]
    {
        let (mut n_best, mut lost) = (0, 0.0);
        for seed in 0..200 {
            let sample = FewRows::new(seed, 12 + seed as usize % 20);
            let least = 1 + seed % 3;
            let best = sample.best(n_rules, most_conditions, least as u32);
            let tree = sample.fit(&params(most_conditions, n_rules + 1, least)).unwrap().tree;
            assert!(tree.check().is_ok());
            assert!(tree.n_leaves() <= n_rules + 1);
            assert!(conditions_of(&tree).iter().all(|&count| count <= most_conditions));
            assert!(tree.leaf_sums().iter().all(|leaf| leaf.rows >= least));
            assert!(tree.auc() <= best + 1e-12, "{} {best}", tree.auc());
            n_best += usize::from(tree.auc() > best - 1e-12);
            lost += (best - tree.auc()) / 200.0;
        }
        let found = (n_rules, most_conditions, n_best, lost);
        assert!(n_best >= least_best && lost <= most_lost, "{found:?}");
    }
}

#[test]
fn rules_run_in_the_direction_of_their_features_and_stop_in_time() {
    for seed in 0..60 {
        let sample = FewRows::new(seed, 40);
        for direction in [-1, 1] {
            let bound = TreeRankParams { monotonic: vec![direction, 0], ..params(3, 5, 2) };
            let tree = sample.fit(&bound).unwrap().tree;
            assert!(tree.check().is_ok(), "{:?}", tree.check());
            assert!(conditions_of(&tree).iter().all(|&count| count <= 3));
        }
    }
    let interrupt = Interrupt::default();
    interrupt.stop();
    let sample = FewRows::new(0, 40);
    let columns = Columns::from_row_major(&sample.values, N_FEATURES).unwrap();
    let labels = Labels::new(&sample.positive, None).unwrap();
    let found = fit((&columns, &labels), &params(2, 3, 1), &interrupt);
    assert_eq!(found.map(|_| ()), Err(RankError::Interrupted));
}

#[test]
fn the_last_rules_are_pruned() {
    let sample = FewRows::new(3, 60);
    let whole = sample.fit(&params(2, 6, 2)).unwrap().tree;
    let folds = CvParams { n_folds: 5, one_standard_error: false, seed: 1 };
    let pruning = Some(PruningRule::CrossValidation(folds));
    let pruned = sample.fit(&TreeRankParams { pruning, ..params(2, 6, 2) }).unwrap();
    assert!(pruned.check().is_ok());
    let (kept, all) = (conditions_of(&pruned.tree), conditions_of(&whole));
    assert!(kept.len() < all.len());
    assert_eq!(kept, all[..kept.len()]);
    let steps = &pruned.cross_validation.as_ref().unwrap().steps;
    assert_eq!(steps[0].n_leaves, whole.n_leaves());

    // Other rows choose among the same lists.
    let pruning = PruningRule::Validation(ValidationParams { fraction: 0.3, seed: 1 });
    let params = TreeRankParams { pruning: Some(pruning), ..params(2, 6, 2) };
    let columns = Columns::from_row_major(&sample.values, N_FEATURES).unwrap();
    let labels = Labels::new(&sample.positive, None).unwrap();
    let rows = (&columns, &labels);
    let chosen = fit_validated(&columns, &labels, rows, &params, &Interrupt::default()).unwrap();
    assert_eq!(chosen.tree, whole);
}

#[test]
fn as_many_rows_as_strata_need_are_required() {
    let refused = |params: &TreeRankParams| FewRows::new(0, 12).fit(params).unwrap_err();
    let err = refused(&params(2, 8, 2));
    let expected = "max_rules is 7, but must be less than the number of rows over min_samples_leaf";
    assert_eq!(err.to_string(), expected);
    let err = refused(&params(0, 3, 1));
    assert_eq!(err.to_string(), "max_conditions is 0, but must be at least 1");
}
