//! Trees that grow on the features and on columns of rates of rare categories, on rows in memory:
//! the finished tree tests sets of categories.
//!
//! Each tree has the rates of the rows that it grows on; the label of a row does not enter its own
//! rate (`data/rates/rate_columns.rs`). Rows that were left out are sent down the finished tree,
//! whose sets depend on the labels of the other rows only: so their own labels do not affect the
//! tree that they evaluate.

use std::sync::Arc;

use super::TreeRankParams;
use super::grower::{Growth, Searching, Subset, TreeGrower, TreesInMemory};
use crate::data::{
    Binned, ClassSums, Columns, Labels, RareLevels, RateColumns, ReweightedRows, RowTally,
};
use crate::formula::Test;
use crate::tree::model::{RankingTree, TreeFrame};
use crate::tree::search::{SearchParams, SearchedTree};
use crate::{Interrupt, RankError};

impl TreeRankParams {
    /// The rare categories whose rates trees may test, for splits by stumps.
    pub(in crate::tree) fn rare_levels(
        &self,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Option<RareLevels>, RankError> {
        if !self.split.rule().is_of_stumps() {
            return Ok(None);
        }
        RareLevels::find(columns, labels, self.binning.level_rates, seed, interrupt)
    }

    /// The parameters of a tree for columns of rates as well.
    pub(crate) fn with_rates(&self, rates: &RateColumns) -> Self {
        let mut params = self.clone();
        if !params.monotonic.is_empty() {
            params.monotonic.resize(rates.n_columns(), 0);
        }
        params
    }
}

impl TreeFrame {
    /// The frame of the tree during growth.
    pub(in crate::tree) fn with_rates(&self, rates: &RateColumns) -> Self {
        let mut frame = self.clone();
        frame.n_levels.resize(rates.n_columns(), None);
        frame.has_missing.resize(rates.n_columns(), false);
        if !frame.monotonic.is_empty() {
            frame.monotonic.resize(rates.n_columns(), 0);
        }
        frame
    }

    /// The frame of the finished tree.
    pub(in crate::tree) fn without_rates(&self, rates: &RateColumns) -> Self {
        let mut frame = self.clone();
        frame.n_levels.truncate(rates.n_features());
        frame.has_missing.truncate(rates.n_features());
        frame.monotonic.truncate(rates.n_features());
        frame
    }
}

impl RankingTree {
    /// A finished tree in its form during growth, if it grew with these rates.
    pub(crate) fn with_rates(mut self, rates: &RateColumns) -> Self {
        let frame = Arc::new(self.frame().with_rates(rates));
        self.change(&frame, |test| test.with_rates(rates));
        self
    }

    /// The tree with tests of features only.
    pub(crate) fn without_rates(mut self, rates: &RateColumns) -> Self {
        let frame = Arc::new(self.frame().without_rates(rates));
        self.change(&frame, |test| test.without_rates(rates));
        self
    }

    /// Changes its tests and its frame.
    pub(in crate::tree) fn change(
        &mut self,
        frame: &Arc<TreeFrame>,
        of_test: impl Fn(&Test) -> Option<Test>,
    ) {
        for test in self.splits_mut().flat_map(|split| split.form.tests_mut()) {
            if let Some(changed) = of_test(test) {
                *test = changed;
            }
        }
        self.set_frame(frame);
    }
}

/// Rows in memory, some with rare categories.
#[derive(Debug)]
pub(super) struct WithRates<'a, R> {
    pub(super) rows: TreesInMemory<'a, R>,
    pub(super) row_tally: R,
    pub(super) rare: RareLevels,
    pub(super) params: &'a TreeRankParams,
}

impl<R: RowTally + Copy> WithRates<'_, R> {
    /// What `work` returns for some of the rows with columns of rates, and these; `None` if there
    /// are no rates.
    fn on_rates<F>(
        &self,
        subset: &Subset,
        work: impl Fn(&TreeGrower<'_, R>, Vec<u32>) -> Result<F, RankError>,
    ) -> Result<Option<(F, RateColumns)>, RankError> {
        let TreesInMemory { grower, interrupt, .. } = &self.rows;
        let (columns, labels) = (grower.sample.columns, grower.sample.labels);
        let rows = self.rows.rows(subset);
        let most = self.params.binning.max_bins;
        let rates = self.rare.columns(columns, labels, &rows, most, interrupt)?;
        if rates.is_empty() {
            return Ok(None);
        }
        let with_rates = rates.behind(columns, interrupt)?;
        let binned = rates.codes_of_either(columns, grower.sample.binned, interrupt)?;
        let params = self.params.with_rates(&rates);
        let grower = TreeGrower::new(&with_rates, &binned, labels, &params, None, interrupt)?;
        let found = work(&grower.counted_by(self.row_tally, None), rows)?;
        Ok(Some((found, rates)))
    }
}

impl<R: RowTally + Copy> Growth for WithRates<'_, R> {
    type Subset = Subset;

    fn all(&self) -> Subset {
        self.rows.all()
    }

    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[Subset; 2]>, RankError> {
        self.rows.folds(n_folds, seed)
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Subset; 2]>, RankError> {
        self.rows.hold_out(share, seed)
    }

    fn grow(&self, subset: &Subset) -> Result<RankingTree, RankError> {
        let TreesInMemory { seed, interrupt, .. } = &self.rows;
        let grow = |grower: &TreeGrower<'_, R>, rows| grower.grow(rows, *seed, interrupt);
        match self.on_rates(subset, grow)? {
            Some((tree, rates)) => Ok(tree.without_rates(&rates)),
            None => self.rows.grow(subset),
        }
    }

    fn sums_of_nodes(
        &self,
        tree: &RankingTree,
        subset: &Subset,
    ) -> Result<Vec<ClassSums>, RankError> {
        let sample = &self.rows.grower.sample;
        let of_row = tree.apply(sample.columns, None)?;
        let rows = self.rows.rows(subset);
        let places: Vec<u32> = rows.iter().map(|&row| of_row[row as usize]).collect();
        Ok(sample.sums_of_nodes(tree, &rows, &places))
    }
}

impl<R: RowTally + Copy> Searching for WithRates<'_, R> {
    fn search(&self, subset: &Subset, params: &SearchParams) -> Result<SearchedTree, RankError> {
        let TreesInMemory { seed, interrupt, .. } = &self.rows;
        let search = |grower: &TreeGrower<'_, R>, rows: Vec<u32>| {
            grower.search(&rows, params, *seed, interrupt)
        };
        match self.on_rates(subset, search)? {
            Some((SearchedTree { tree, bound, near_best }, rates)) => {
                let without = |tree: RankingTree| tree.without_rates(&rates);
                let near_best = near_best.into_iter().map(without).collect();
                Ok(SearchedTree { tree: without(tree), bound, near_best })
            }
            None => self.rows.search(subset, params),
        }
    }
}

/// Grows trees on masses of rows, without pruning; data that do not depend on the masses are
/// computed once.
#[derive(Debug)]
pub(crate) struct ReweightedTrees<'a> {
    grower: TreeGrower<'a, ()>,
    /// Whether trees can test some of the features only.
    takes_features: bool,
    rows: Vec<u32>,
}

impl<'a> ReweightedTrees<'a> {
    /// From the rows of `binned`; the binning and the pruning of `params` are ignored.
    pub(crate) fn new(
        columns: &'a Columns<'a>,
        binned: &'a Binned,
        labels: &'a Labels<'a>,
        params: &'a TreeRankParams,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        params.check_for(columns)?;
        let mut grower = TreeGrower::new(columns, binned, labels, params, None, interrupt)?;
        // Masses are in no unit of the weights.
        Arc::make_mut(&mut grower.sample.frame).exponent = 0;
        let takes_features = params.split.rule().is_of_stumps();
        Ok(Self { grower, takes_features, rows: (0..labels.n_rows() as u32).collect() })
    }

    /// Grows a tree on some of the rows, given the mass of every row; it tests the features given,
    /// or all.
    pub(crate) fn grow(
        &self,
        masses: &[u64],
        rows: Vec<u32>,
        features: Option<&[usize]>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        if let Some(features) = features.filter(|_| !self.takes_features) {
            return Err(RankError::BadParameter {
                name: "max_features",
                value: features.len().to_string(),
                rule: "left out for rules such as cubes, which ask all features at once",
            });
        }
        let row_tally = ReweightedRows { labels: self.grower.sample.labels, masses };
        let features = features.map(<[usize]>::to_vec);
        self.grower.counted_by(row_tally, features).grow(rows, seed, interrupt)
    }

    /// Place in the ranking of the leaf of every row.
    ///
    /// # Errors
    ///
    /// Errors of the split rule.
    pub(crate) fn places(&self, tree: &RankingTree) -> Result<Vec<u32>, RankError> {
        self.grower.places(tree, &self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::rare_rows::{N_LEVELS, RareRows};
    use crate::data::{CountedRows, MISSING_CODE};
    use crate::formula::Rule;
    use crate::roc::auc;
    use crate::tree::{
        CvParams, GrowParams, LeafRankParams, PruningRule, SplitRule, TreeRankModel,
        ValidationParams, fit,
    };

    fn params(depth: usize, pruning: Option<PruningRule>) -> TreeRankParams {
        let grow = GrowParams { min_samples_leaf: 5, max_depth: 6, ..GrowParams::default() };
        let split = LeafRankParams { max_depth: depth, ..LeafRankParams::orthogonal(5) };
        TreeRankParams { pruning, seed: 3, ..TreeRankParams::new(grow, SplitRule::Stumps(split)) }
    }

    fn cross_validation() -> PruningRule {
        PruningRule::CrossValidation(CvParams { n_folds: 4, one_standard_error: false, seed: 1 })
    }

    fn fit_to(sample: &RareRows, params: &TreeRankParams) -> TreeRankModel {
        fit((&sample.columns(), &sample.labels()), params, &Interrupt::default()).unwrap()
    }

    /// Whether sets separate rare categories.
    fn asks_rates(tree: &RankingTree) -> bool {
        tree.tests().any(|test| {
            matches!(&test.left, Rule::Levels(set) if set.listed().iter().any(|&code| code >= 4))
        })
    }

    #[test]
    fn a_finished_tree_tests_sets_of_categories() {
        let (sample, new) = (RareRows::new(3000), RareRows::new(6000));
        let new = new.rows(&(3000..6000).collect::<Vec<_>>());
        let validation = PruningRule::Validation(ValidationParams { fraction: 0.3, seed: 1 });
        for pruning in [None, Some(cross_validation()), Some(validation)] {
            for depth in [1, 3] {
                let params = params(depth, pruning);
                let model = fit_to(&sample, &params);
                let tree = &model.tree;
                assert!(asks_rates(tree) && tree.tests().all(|test| test.feature < 2));
                assert_eq!(model.check(), Ok(()));
                let auc_of = |tree: &RankingTree, new: &RareRows| {
                    auc(&tree.score(&new.columns(), None).unwrap(), &new.positive).unwrap()
                };
                let without = fit_to(&sample.without_rare(), &params).tree;
                assert!(auc_of(tree, &new) > auc_of(&without, &new.without_rare()) + 0.02);
                let of = |code| {
                    let rows = RareRows { codes: vec![code; 3000], ..new.clone() };
                    tree.score(&rows.columns(), None).unwrap()
                };
                assert_eq!(of(N_LEVELS - 1), of(MISSING_CODE));
                let scores = tree.score(&new.columns(), None).unwrap();
                assert_eq!(model.formula().values(&new.columns()).unwrap(), scores);
                let text = serde_json::to_string(&model).unwrap();
                assert_eq!(serde_json::from_str::<TreeRankModel>(&text).unwrap(), model);
            }
        }
    }

    #[test]
    fn neither_threads_nor_the_order_of_rows_nor_copies_matter() {
        let [weighted, copied] = RareRows::new(2000).weighted_and_copied();
        for depth in [1, 3] {
            let params = params(depth, Some(cross_validation()));
            let fits = [1, 3].map(|n_threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                pool.install(|| fit_to(&weighted, &params))
            });
            assert!(asks_rates(&fits[0].tree));
            assert_eq!(fits[0], fits[1]);
            assert_eq!(fit_to(&copied, &params), fits[0]);
        }
    }

    #[test]
    fn rows_left_out_are_ranked_by_a_tree_that_has_not_seen_their_labels() {
        let sample = RareRows::new(3000);
        let (columns, labels, interrupt) =
            (sample.columns(), sample.labels(), Interrupt::default());
        let params = params(1, None);
        let binned = Binned::new(&columns, &labels, params.binning, &interrupt).unwrap();
        let left_out = |row: usize| row.is_multiple_of(4);
        let [inside, others] = [true, false].map(|side| {
            let rows = (0..3000).filter(|&row| left_out(row as usize) == side).collect();
            Subset::Listed(rows)
        });
        let grow = |labels: &Labels<'_>| {
            let grower =
                TreeGrower::new(&columns, &binned, labels, &params, None, &interrupt).unwrap();
            let row_tally = CountedRows(labels.positive());
            let grower = grower.counted_by(row_tally, None);
            let rows = TreesInMemory { grower, seed: params.seed, interrupt: &interrupt };
            // Rows are dealt to folds by their labels, which is not what is tested.
            let rare = sample.rare(&sample.labels());
            let rows = WithRates { rows, row_tally, rare, params: &params };
            let tree = rows.grow(&others).unwrap();
            let sums = rows.sums_of_nodes(&tree, &inside).unwrap();
            (tree, sums)
        };
        let (tree, sums) = grow(&labels);
        assert!(asks_rates(&tree));
        let mut positive = sample.positive.clone();
        positive.iter_mut().step_by(4).for_each(|label| *label = !*label);
        let (other, flipped) = grow(&Labels::new(&positive, None).unwrap());
        assert_eq!(tree, other);
        // The definition: rows one by one, by the leaves of the finished tree.
        let places = tree.apply(&columns, None).unwrap();
        for (place, leaf) in tree.leaves().into_iter().enumerate() {
            let rows = || (0..3000).filter(|&row| left_out(row) && places[row] as usize == place);
            let n_pos = rows().filter(|&row| sample.positive[row]).count() as u64;
            assert_eq!((sums[leaf].pos, sums[leaf].rows), (n_pos, rows().count() as u64));
            assert_eq!((flipped[leaf].neg, flipped[leaf].pos), (sums[leaf].pos, sums[leaf].neg));
        }
    }
}
