//! Split rules that read the rows of a node, through the public API: cubes and pruned stumps.

use aucrank::data::{Column, Columns, Folds, Labels};
use aucrank::tree::{
    CvParams, DyadicParams, GrowParams, LeafOrder, LeafRankParams, PruningRule, RankingTree,
    SplitRule, TreeRankModel, TreeRankParams, fit,
};
use aucrank::{Interrupt, roc};
use proptest::prelude::*;

fn params(split: SplitRule, n_folds: Option<u16>) -> TreeRankParams {
    TreeRankParams {
        pruning: n_folds.map(|n_folds| PruningRule::CrossValidation(cv(n_folds))),
        ..TreeRankParams::new(
            GrowParams {
                max_depth: 5,
                min_samples_leaf: 1,
                leaf_order: LeafOrder::Tree,
                ..GrowParams::default()
            },
            split,
        )
    }
}

fn cv(n_folds: u16) -> CvParams {
    CvParams { n_folds, one_standard_error: false, seed: 5 }
}

fn rules() -> [SplitRule; 3] {
    let stumps = LeafRankParams { max_depth: 3, ..LeafRankParams::orthogonal(1) };
    [
        SplitRule::Dyadic(DyadicParams { level: Some(2) }),
        SplitRule::Stumps(LeafRankParams { pruning: Some(cv(3)), ..stumps }),
        SplitRule::Stumps(LeafRankParams {
            pruning: Some(cv(4)),
            max_features: Some(1),
            max_leaves: Some(4),
            ..stumps
        }),
    ]
}

/// Two numbers, the first with missing values, and a category.
struct Rows {
    numbers: Vec<f64>,
    codes: Vec<u32>,
    positive: Vec<bool>,
    weights: Vec<f64>,
}

impl Rows {
    fn draw(n_rows: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut draw = |n: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let (mut numbers, mut codes, mut positive) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..n_rows {
            let (a, b, c) = (draw(7), draw(40), draw(3));
            numbers.extend([if a == 6 { f64::NAN } else { a as f64 }, b as f64]);
            codes.push(c as u32);
            positive.push(draw(10) < 2 + a / 2 + 2 * u64::from(b > 20) + c);
        }
        (positive[0], positive[1]) = (true, false);
        Self { numbers, codes, positive, weights: vec![1.0; n_rows] }
    }

    fn pick(&self, rows: &[usize]) -> Self {
        Self {
            numbers: rows.iter().flat_map(|&r| self.numbers[2 * r..2 * r + 2].to_vec()).collect(),
            codes: rows.iter().map(|&r| self.codes[r]).collect(),
            positive: rows.iter().map(|&r| self.positive[r]).collect(),
            weights: rows.iter().map(|&r| self.weights[r]).collect(),
        }
    }

    fn columns(&self) -> Columns<'_> {
        let numbers = Columns::from_row_major(&self.numbers, 2).unwrap();
        let codes = Column::Codes { codes: &self.codes, n_levels: 3 };
        Columns::new(vec![numbers[0], codes, numbers[1]], self.codes.len()).unwrap()
    }

    fn fit(&self, params: &TreeRankParams) -> TreeRankModel {
        let labels = Labels::new(&self.positive, Some(&self.weights)).unwrap();
        fit((&self.columns(), &labels), params, &Interrupt::default()).unwrap()
    }

    fn auc(&self, tree: &RankingTree) -> f64 {
        roc::auc(&tree.score(&self.columns(), None).unwrap(), &self.positive).unwrap()
    }
}

#[test]
fn training_rows_reach_the_leaves_of_the_fit() {
    for (seed, rule) in rules().into_iter().enumerate() {
        let rows = Rows::draw(2000, seed as u64);
        let tree = rows.fit(&params(rule, None)).tree;
        tree.check().unwrap();
        assert!(tree.n_leaves() > 3, "{rule:?}: {}", tree.n_leaves());
        assert!((tree.auc() - rows.auc(&tree)).abs() < 1e-14, "{rule:?}");
        let leaf_of = tree.apply(&rows.columns(), None).unwrap();
        for (place, sums) in tree.leaf_sums().into_iter().enumerate() {
            let of = |class| {
                let inside = leaf_of.iter().zip(&rows.positive);
                inside.filter(|&(&leaf, &p)| leaf as usize == place && p == class).count() as u64
            };
            assert_eq!((sums.pos, sums.neg), (of(true), of(false)));
        }
    }
}

#[test]
fn cubes_are_cross_validated_by_a_plain_loop_over_folds() {
    let rows = Rows::draw(400, 21);
    let params = params(SplitRule::Dyadic(DyadicParams { level: Some(2) }), Some(4));
    let model = rows.fit(&params);
    let found = model.cross_validation.unwrap();
    let labels = Labels::new(&rows.positive, None).unwrap();
    let folds = Folds::deal(&rows.columns(), &labels, 4, 5, &Interrupt::default()).unwrap();
    let path = &found.steps;
    assert!(path.len() > 3);
    let mut means = vec![0.0; path.len()];
    for fold in 0..4 {
        let of = |inside: bool| {
            let of_fold = (0..400).filter(|&row| (folds.of_row[row] == fold) == inside);
            rows.pick(&of_fold.collect::<Vec<_>>())
        };
        // Both ends of each range are in every part, so a part is scaled like the whole.
        let (train, test) = (of(false), of(true));
        let tree = train.fit(&TreeRankParams { pruning: None, ..params.clone() }).tree;
        for (i, mean) in means.iter_mut().enumerate() {
            let next = path.get(i + 1).map_or(f64::INFINITY, |step| step.alpha);
            *mean += test.auc(&tree.prune((path[i].alpha * next).sqrt())) / 4.0;
        }
    }
    for (mean, found) in means.iter().zip(&found.mean_auc) {
        assert!((mean - found).abs() < 1e-12, "{mean} {found}");
    }
}

fn on_threads<T: Send>(n_threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap().install(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 10))]

    #[test]
    fn the_model_does_not_depend_on_threads_order_or_copies(
        seed in any::<u64>(),
        rule in 0..3_usize,
        weights in prop::collection::vec(0..4_u8, 120),
    ) {
        let params = params(rules()[rule], Some(3));
        let mut rows = Rows::draw(120, seed);
        rows.weights = weights.into_iter().map(f64::from).collect();
        (rows.weights[0], rows.weights[1]) = (1.0, 2.0);
        let one = on_threads(1, || rows.fit(&params));
        prop_assert_eq!(&one, &on_threads(2, || rows.fit(&params)));
        prop_assert_eq!(&one, &rows.pick(&(0..120).rev().collect::<Vec<_>>()).fit(&params));
        let copies: Vec<usize> =
            (0..120).flat_map(|i| std::iter::repeat_n(i, rows.weights[i] as usize)).collect();
        let mut repeated = rows.pick(&copies);
        repeated.weights.fill(1.0);
        prop_assert_eq!(&one, &repeated.fit(&params));
    }
}
