//! Growing a forest: trees on bootstrap samples, evaluated on their out-of-bag rows.
//!
//! Its trees may test the columns of rates of a fit (`data/rates/rate_columns.rs`); the finished
//! forest tests sets of categories. During a fit, out-of-bag rows are ranked by the steps of their
//! folds, so that their own labels do not bias the measurements on them.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::vec::IntoIter;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::bootstrap::ForestBootstrap;
use super::judged::{BLOCK_TREES, Judged};
use super::params::{Choices, ForestParams};
use super::ranking_forest::{Aggregation, RankingForest};
use super::trial::ForestTrial;
use super::votes::Consensus;
use crate::data::{
    Binned, ClassSums, Columns, CountedRows, FeatureBins, Labels, RateColumns, RowTally,
    WeightedRows, below, mix,
};
use crate::formula::{Rule, Test};
use crate::interrupt::PartCounter;
use crate::parallel::prelude::*;
use crate::prepared::Prepared;
use crate::tree::fit::TreeGrower;
use crate::tree::model::{RankingTree, TreeFrame};
use crate::tree::sample::Sample;
use crate::tree::split::CutCriterion;
use crate::{Interrupt, RankError, parallel};

/// Bytes that a growing tree may take before the number of trees grown at once is limited.
const SMALL_BYTES: usize = 4 << 20;

/// Maximum number of rows that order a consensus of rankings.
const REFERENCE_ROWS: usize = 512;

/// Maximum number of rows for medians and consensus scores after the growth: they need the votes of
/// all trees at once.
const SAMPLED_ROWS: usize = 20_000;

/// Fits a forest, or adds trees to an `earlier` one up to the requested number.
///
/// A tree depends only on the seed and its number, so that a forest grown in two fits on the same
/// rows equals that of one fit, bit for bit. To choose the size of leaves or the criterion, 60
/// trees of each are grown, or as many as the forest will have if these are fewer; those chosen are
/// the first of the forest. An earlier forest keeps its size and its criterion.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted; if the columns are
/// not those of the earlier forest; and if rows out of bag or ranks are requested, and the earlier
/// forest was grown on other rows or draws.
///
/// # Examples
///
/// ```
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{
///     Aggregation, BootstrapParams, TreeRankParams, ForestParams, GrowParams, LeafRankParams, SplitRule,
///     fit_forest,
/// };
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1).unwrap();
/// let labels = Labels::new(&[false, false, false, true, true, true], None).unwrap();
/// let grow = GrowParams { max_depth: 3, min_samples_leaf: 1, ..GrowParams::default() };
/// let tree = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let params = ForestParams {
///     tree,
///     leaf_sizes: Vec::new(),
///     criteria: Vec::new(),
///     n_trees: 20,
///     bootstrap: Some(BootstrapParams { share: 1.0 }),
///     aggregation: Aggregation::Eta,
///     out_of_bag: false,
///     early_stopping: None,
/// };
/// let interrupt = aucrank::Interrupt::default();
/// let forest = fit_forest(&columns, &labels, &params, None, &interrupt).unwrap();
/// let scores = forest.score(&columns).unwrap();
/// assert!(scores[0] < 0.0 && scores[5] > 0.0);
/// ```
pub fn fit_forest(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &ForestParams,
    earlier: Option<RankingForest>,
    interrupt: &Interrupt,
) -> Result<RankingForest, RankError> {
    params.validate()?;
    let columns = &columns.until(interrupt);
    if let Some(earlier) = &earlier {
        earlier.trees[0].check_columns(columns)?;
    }
    let binned = Binned::new(columns, labels, params.tree.binning, interrupt)?;
    let mut choices = params.choices(earlier.as_ref())?;
    let seed = earlier.as_ref().map_or(params.tree.seed, |earlier| earlier.seed);
    let plain = |choices: &Choices, earlier| {
        ForestFit { columns, binned: &binned, labels, params, choices, interrupt }.fit(earlier)
    };
    let Some(rare) = params.tree.rare_levels(columns, labels, seed, interrupt)? else {
        return plain(&choices, earlier);
    };
    let most = params.tree.binning.max_bins;
    let rates = rare.columns(columns, labels, &labels.rows(), most, interrupt)?;
    if rates.is_empty() {
        return plain(&choices, earlier);
    }
    let (columns, binned) = (&rates.behind(columns, interrupt)?, rates.codes(&binned)?);
    for tree in &mut choices.trees {
        *tree = tree.with_rates(&rates);
    }
    let earlier = earlier.map(|earlier| earlier.with_rates(&rates));
    let (binned, choices) = (&binned, &choices);
    let fit = ForestFit { columns, binned, labels, params, choices, interrupt };
    Ok(fit.fit(earlier)?.without_rates(&rates))
}

/// The fit of a forest of the best of the trees in `choices`.
struct ForestFit<'a> {
    columns: &'a Columns<'a>,
    binned: &'a Binned,
    labels: &'a Labels<'a>,
    params: &'a ForestParams,
    choices: &'a Choices,
    interrupt: &'a Interrupt,
}

impl ForestFit<'_> {
    fn fit(&self, earlier: Option<RankingForest>) -> Result<RankingForest, RankError> {
        let Self { columns, binned, labels, params, choices, interrupt } = *self;
        let growers = choices
            .trees
            .iter()
            .map(|tree| TreeGrower::new(columns, binned, labels, tree, None, interrupt))
            .collect::<Result<Vec<_>, _>>()?;
        if labels.weights().is_none() {
            let row_tally = CountedRows(labels.positive());
            let growers: Vec<_> = growers.iter().map(|g| g.counted_by(row_tally, None)).collect();
            fit_by_best(&growers, choices, params, earlier, interrupt)
        } else {
            let row_tally = WeightedRows(labels);
            let growers: Vec<_> = growers.iter().map(|g| g.counted_by(row_tally, None)).collect();
            fit_by_best(&growers, choices, params, earlier, interrupt)
        }
    }
}

/// Fits a forest by the grower whose trees rank their out-of-bag rows best, the first of ties:
/// first over all sizes of leaf with the first criterion, then over all criteria with that size.
/// The trees of the best so far are kept while others grow.
///
/// With many rows, sizes are tried from the largest, whose trees are the cheapest, until one is
/// worse than that before it: in between, the AUC has one maximum.
fn fit_by_best<'a, R: RowTally + Copy>(
    growers: &'a [TreeGrower<'a, R>],
    choices: &Choices,
    params: &'a ForestParams,
    earlier: Option<RankingForest>,
    interrupt: &Interrupt,
) -> Result<RankingForest, RankError> {
    let growing = |number: usize, earlier, grown| {
        let criterion = choices.criterion(number);
        GrowingForest::new(&growers[number], criterion, params, earlier, grown)
    };
    let [grower, _, ..] = growers else {
        return growing(0, earlier, Vec::new()).fit(interrupt);
    };
    let trial = ForestTrial::of(grower.sample.labels.n_rows(), params.n_trees);
    let mut best = Tried { auc: f64::NEG_INFINITY, number: usize::MAX, trees: Vec::new() };
    let n_sizes = choices.n_sizes;
    for number in (0..n_sizes).rev() {
        let (auc, trees) = growing(number, None, Vec::new()).tried(trial, interrupt)?;
        // Of ties the smallest size.
        if auc >= best.auc {
            best = Tried { auc, number, trees };
        } else if trial.ends_at_worse {
            break;
        }
    }
    for number in (n_sizes + best.number..growers.len()).step_by(n_sizes) {
        let (auc, trees) = growing(number, None, Vec::new()).tried(trial, interrupt)?;
        if auc > best.auc {
            best = Tried { auc, number, trees };
        }
    }
    growing(best.number, earlier, best.trees).fit(interrupt)
}

/// The trees of a trial, by the number of their grower.
struct Tried {
    auc: f64,
    number: usize,
    trees: Vec<RankingTree>,
}

/// A forest during growth.
struct GrowingForest<'a, R> {
    grower: &'a TreeGrower<'a, R>,
    params: &'a ForestParams,
    bootstrap: Option<ForestBootstrap>,
    forest: RankingForest,
    /// Trees of the next numbers that have been grown but are not yet in the forest.
    grown: IntoIter<RankingTree>,
}

impl<'a, R: RowTally + Copy> GrowingForest<'a, R> {
    fn new(
        grower: &'a TreeGrower<'a, R>,
        criterion: CutCriterion,
        params: &'a ForestParams,
        earlier: Option<RankingForest>,
        grown: Vec<RankingTree>,
    ) -> Self {
        let (trees, seed) = match earlier {
            Some(earlier) => (earlier.trees, earlier.seed),
            None => (Vec::new(), params.tree.seed),
        };
        Self {
            grower,
            params,
            bootstrap: params
                .bootstrap
                .map(|params| ForestBootstrap::new(grower.sample.labels, params)),
            forest: RankingForest {
                trees,
                aggregation: params.aggregation,
                seed,
                min_samples_leaf: Some(grower.sample.params.min_samples_leaf),
                criterion,
                consensus: None,
                calibration: None,
                out_of_bag: None,
                prepared: Prepared::default(),
            },
            grown: grown.into_iter(),
        }
    }

    fn fit(mut self, interrupt: &Interrupt) -> Result<RankingForest, RankError> {
        let n_trees = self.params.n_trees;
        if self.asks_rows() && !(0..self.forest.trees.len()).all(|tree| self.has_grown(tree)) {
            return Err(RankError::BadParameter {
                name: "the earlier forest",
                value: "of other rows or draws".to_owned(),
                rule: "of these where its trees score rows that they have not seen",
            });
        }
        let Some(stopping) = self.params.early_stopping else {
            self.grow(n_trees, interrupt)?;
            return self.finish(interrupt);
        };
        let mut judged = Judged::new(self.grower.sample.labels.rows(), &self.forest);
        let (mut path_trees, mut path_aucs) = (Vec::new(), Vec::<f64>::new());
        let (mut best, mut trees_of_best) = (f64::NEG_INFINITY, 0);
        loop {
            let next = n_trees.min((judged.n_trees / BLOCK_TREES + 1) * BLOCK_TREES);
            self.grow(next, interrupt)?;
            self.ask(&mut judged, next, interrupt)?;
            let scored = judged.scored(&self.forest, self.grower.sample.labels);
            let auc = scored.auc()?.unwrap_or(0.5);
            path_trees.push(next);
            path_aucs.push(auc);
            if auc > best + stopping.tol {
                (best, trees_of_best) = (auc, next);
            }
            if next >= n_trees || next - trees_of_best >= stopping.n_iter_no_change {
                break;
            }
        }
        // Trees of an earlier fit beyond the stop are kept: they were requested.
        let mut forest = self.finish(interrupt)?;
        if let Some(out_of_bag) = &mut forest.out_of_bag {
            (out_of_bag.path_trees, out_of_bag.path_aucs) = (path_trees, path_aucs);
        }
        Ok(forest)
    }

    /// Grows the trees of a trial, without reporting progress, and returns with them the out-of-bag
    /// AUC that a whole forest is expected to have. For a consensus, the mean of ranks is used.
    fn tried(
        mut self,
        trial: ForestTrial,
        interrupt: &Interrupt,
    ) -> Result<(f64, Vec<RankingTree>), RankError> {
        self.forest.trees = self.trees(0..trial.n_trees, interrupt, || Ok(()))?;
        let mut judged = Judged::new(self.judged_rows(), &self.forest);
        let mut auc_of = |n_trees| {
            self.ask(&mut judged, n_trees, interrupt)?;
            let scored = judged.scored(&self.forest, self.grower.sample.labels);
            Ok::<f64, RankError>(scored.auc()?.unwrap_or(0.5))
        };
        let of_half = if trial.is_extrapolated { Some(auc_of(trial.n_trees / 2)?) } else { None };
        let of_all = auc_of(trial.n_trees)?;
        let auc = of_half.map_or(of_all, |of_half| trial.expected_auc(of_half, of_all));
        Ok((auc, self.forest.trees))
    }

    fn seed_of(&self, tree: usize) -> u64 {
        mix(self.forest.seed ^ mix(tree as u64))
    }

    /// Whether trees score training rows.
    fn asks_rows(&self) -> bool {
        self.forest.aggregation != Aggregation::Eta
            || self.params.out_of_bag
            || self.params.early_stopping.is_some()
    }

    /// Rows of a tree, ascending, each as often as it counts.
    fn rows_of(&self, tree: usize) -> Vec<u32> {
        match &self.bootstrap {
            Some(bootstrap) => {
                let (mut counts, mut rows) =
                    (self.grower.sample.buffer(), self.grower.sample.buffer());
                bootstrap.rows(self.seed_of(tree), &mut counts, &mut rows);
                self.grower.sample.leave([counts]);
                rows
            }
            None => self.grower.sample.labels.rows(),
        }
    }

    /// Whether a tree may have been grown on these rows, judging by its root and its thresholds.
    fn has_grown(&self, tree: usize) -> bool {
        let Sample { labels, binned, .. } = self.grower.sample;
        let rows = self.rows_of(tree);
        let total: ClassSums = rows.into_iter().map(|row| labels.sums(row as usize)).sum();
        let tree = &self.forest.trees[tree];
        let is_cut = |test: &Test| match (&test.left, &binned.features()[test.feature]) {
            (Rule::Below(threshold) | Rule::AtLeast(threshold), FeatureBins::Numeric { cuts }) => {
                cuts.binary_search_by(|cut| cut.total_cmp(threshold)).is_ok()
            }
            _ => true,
        };
        tree.total() == total && tree.exponent() == labels.exponent() && tree.tests().all(is_cut)
    }

    /// Grows trees until there are `n_trees`, and reports them.
    fn grow(&mut self, n_trees: usize, interrupt: &Interrupt) -> Result<(), RankError> {
        let first = self.forest.trees.len();
        if first >= n_trees {
            return Ok(());
        }
        let done = PartCounter::new(interrupt, "tree", self.params.n_trees).after(first);
        for tree in self.grown.by_ref().take(n_trees - first) {
            done.add()?;
            self.forest.trees.push(tree);
        }
        let others = self.trees(self.forest.trees.len()..n_trees, interrupt, || done.add())?;
        self.forest.trees.extend(others);
        Ok(())
    }

    /// Grows the trees of some numbers.
    fn trees(
        &self,
        numbers: Range<usize>,
        interrupt: &Interrupt,
        done: impl Fn() -> Result<(), RankError> + Sync + Send,
    ) -> Result<Vec<RankingTree>, RankError> {
        let grow = |tree: usize| {
            interrupt.check()?;
            let grown = self.grower.grow(self.rows_of(tree), self.seed_of(tree), interrupt)?;
            done()?;
            Ok(grown)
        };
        let binned = self.grower.sample.binned;
        // A tree keeps two row numbers for each row. If that is much, few trees grow at once, each
        // on several threads, so that together they take at most half the memory of the binned
        // data.
        let a_tree = 8 * binned.n_rows();
        let at_once =
            if a_tree > SMALL_BYTES { (binned.n_bytes() / 2 / a_tree).max(1) } else { usize::MAX };
        run_each(numbers, at_once, grow)
    }

    /// Adds the votes of trees on their out-of-bag rows.
    fn ask(
        &self,
        judged: &mut Judged,
        n_trees: usize,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let left_out = |tree| self.bootstrap.as_ref().map(|bag| bag.left_out(self.seed_of(tree)));
        judged.add(&self.forest, self.grower.sample.binned, n_trees, left_out, interrupt)
    }

    /// Rows on which the forest is evaluated: all, or a sample if the votes of all trees are needed
    /// at once.
    fn judged_rows(&self) -> Vec<u32> {
        let rows = self.grower.sample.labels.rows();
        match self.forest.aggregation {
            Aggregation::RankMedian | Aggregation::Kendall => {
                sampled(&rows, SAMPLED_ROWS, mix(self.forest.seed))
            }
            _ => rows,
        }
    }

    /// Forms the consensus, evaluates the forest on the out-of-bag rows, and calibrates ranks.
    fn finish(mut self, interrupt: &Interrupt) -> Result<RankingForest, RankError> {
        let labels = self.grower.sample.labels;
        if self.forest.aggregation == Aggregation::Kendall {
            let rows = sampled(&labels.rows(), REFERENCE_ROWS, self.forest.seed);
            let places = self.forest.leaves_of(self.grower.sample.binned, &rows);
            self.forest.consensus = Some(Consensus::new(&places));
        }
        if !self.asks_rows() {
            return Ok(self.forest);
        }
        let is_rank = self.forest.aggregation != Aggregation::Eta;
        let stops_early = self.params.early_stopping.is_some();
        let mut judged = Judged::new(self.judged_rows(), &self.forest);
        self.ask(&mut judged, self.forest.trees.len(), interrupt)?;
        let scored = judged.scored(&self.forest, labels);
        if is_rank && scored.is_mixed() {
            self.forest.calibration = Some(scored.calibration());
        } else if is_rank {
            // If a class has no out-of-bag rows, those in the bag are used.
            let mut judged = Judged::new(judged.rows, &self.forest);
            let n_trees = self.forest.trees.len();
            let binned = self.grower.sample.binned;
            judged.add(&self.forest, binned, n_trees, |_| None, interrupt)?;
            self.forest.calibration = Some(judged.scored(&self.forest, labels).calibration());
        }
        if self.params.out_of_bag || stops_early {
            self.forest.out_of_bag = scored.out_of_bag()?;
        }
        Ok(self.forest)
    }
}

/// Runs `work` for each number on the threads of the current pool, at most `at_once` of them at a
/// time, each on its own share of the threads only: so the memory of growing trees stays bounded.
fn run_each<T: Send>(
    numbers: Range<usize>,
    at_once: usize,
    work: impl Fn(usize) -> Result<T, RankError> + Sync + Send,
) -> Result<Vec<T>, RankError> {
    let n_threads = parallel::current_num_threads();
    let n_workers = n_threads.min(at_once).min(numbers.len());
    if n_workers <= 1 {
        return numbers.map(work).collect();
    }
    let next = AtomicUsize::new(numbers.start);
    let worker = |_| -> Result<Vec<(usize, T)>, RankError> {
        parallel::in_own_pool(n_threads / n_workers, || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= numbers.end {
                    return Ok(done);
                }
                done.push((number, work(number)?));
            }
        })?
    };
    let parts: Result<Vec<_>, RankError> =
        (0..n_workers).into_par_iter().with_max_len(1).map(worker).collect();
    let mut all: Vec<(usize, T)> = parts?.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(number, _)| *number);
    Ok(all.into_iter().map(|(_, done)| done).collect())
}

/// A sample of the rows, one at random from each of `n` equal runs.
fn sampled(rows: &[u32], n: usize, seed: u64) -> Vec<u32> {
    if rows.len() <= n {
        return rows.to_vec();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let bound = |k: usize| k * rows.len() / n;
    (0..n).map(|k| rows[bound(k) + below(&mut random, bound(k + 1) - bound(k))]).collect()
}

impl RankingForest {
    /// An earlier forest in its form during growth, if it grew with these rates.
    pub(super) fn with_rates(self, rates: &RateColumns) -> Self {
        self.changed(|test| test.with_rates(rates), |frame| frame.with_rates(rates))
    }

    /// The forest with tests of features only.
    pub(super) fn without_rates(self, rates: &RateColumns) -> Self {
        self.changed(|test| test.without_rates(rates), |frame| frame.without_rates(rates))
    }

    /// Changes the tests of trees and their frames, which remain shared.
    fn changed(
        mut self,
        of_test: impl Fn(&Test) -> Option<Test>,
        of_frame: impl Fn(&TreeFrame) -> TreeFrame,
    ) -> Self {
        let mut last: Option<[Arc<TreeFrame>; 2]> = None;
        for tree in &mut self.trees {
            let before = Arc::clone(tree.frame());
            let after = match &last {
                Some([of, after]) if Arc::ptr_eq(of, &before) => Arc::clone(after),
                _ => Arc::new(of_frame(&before)),
            };
            tree.change(&after, &of_test);
            last = Some([before, after]);
        }
        self.prepared = Prepared::default();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roc;
    use crate::tree::forest::ranking_forest::ProbabilitySteps;
    use crate::tree::{BootstrapParams, GrowParams, LeafRankParams, SplitRule, TreeRankParams};

    fn params(aggregation: Aggregation, share: f64) -> ForestParams {
        let tree = TreeRankParams {
            seed: 8,
            ..TreeRankParams::new(
                GrowParams { max_depth: 4, min_samples_leaf: 1, ..GrowParams::default() },
                SplitRule::Stumps(LeafRankParams {
                    max_features: Some(1),
                    ..LeafRankParams::orthogonal(1)
                }),
            )
        };
        ForestParams {
            tree,
            leaf_sizes: Vec::new(),
            criteria: Vec::new(),
            n_trees: 13,
            bootstrap: Some(BootstrapParams { share }),
            aggregation,
            out_of_bag: true,
            early_stopping: None,
        }
    }

    /// Values of two features, labels and weights, some of them 0.
    fn sample(n_rows: usize) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let mut state = 29_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((state >> 33) % n) as f64
        };
        let values: Vec<f64> = (0..2 * n_rows).map(|_| draw(20)).collect();
        let positive = values.chunks(2).map(|row| draw(40) < row[0] + row[1]).collect();
        (values, positive, (0..n_rows).map(|_| draw(4)).collect())
    }

    fn fit(
        (values, positive, weights): &(Vec<f64>, Vec<bool>, Vec<f64>),
        params: &ForestParams,
        is_weighted: bool,
    ) -> RankingForest {
        let columns = Columns::from_row_major(values, 2).unwrap();
        let labels = Labels::new(positive, is_weighted.then_some(&weights[..])).unwrap();
        fit_forest(&columns, &labels, params, None, &Interrupt::default()).unwrap()
    }

    /// Values that trees give to their out-of-bag rows, with the bootstrap drawn again.
    fn values_out_of_bag(
        forest: &RankingForest,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        share: f64,
    ) -> Vec<Vec<f64>> {
        let bootstrap = ForestBootstrap::new(labels, BootstrapParams { share });
        let mut of_rows = vec![Vec::new(); columns.n_rows()];
        for (number, tree) in forest.trees().iter().enumerate() {
            let mut drawn = Vec::new();
            bootstrap.rows(mix(forest.seed ^ mix(number as u64)), &mut Vec::new(), &mut drawn);
            let total: ClassSums = drawn.iter().map(|&row| labels.sums(row as usize)).sum();
            assert_eq!(tree.total(), total);
            let values = forest.leaf_values(tree);
            for (row, leaf) in (0..).zip(tree.apply(columns, None).unwrap()) {
                if !drawn.contains(&row) {
                    of_rows[row as usize].push(values[leaf as usize]);
                }
            }
        }
        of_rows
    }

    #[test]
    fn the_out_of_bag_auc_is_that_of_the_trees_that_have_not_seen_each_row() {
        let sample = sample(120);
        let (values, positive, weights) = &sample;
        let columns = Columns::from_row_major(values, 2).unwrap();
        for aggregation in [Aggregation::Eta, Aggregation::RankMean, Aggregation::RankMedian] {
            for (share, is_weighted) in [(1.0, false), (0.4, true)] {
                let forest = fit(&sample, &params(aggregation, share), is_weighted);
                let labels = Labels::new(positive, is_weighted.then_some(&weights[..])).unwrap();
                let of_rows = values_out_of_bag(&forest, &columns, &labels, share);
                let score = |values: &[f64]| {
                    let mut sorted = values.to_vec();
                    sorted.sort_by(f64::total_cmp);
                    let n = sorted.len();
                    match aggregation {
                        Aggregation::RankMedian => {
                            f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
                        }
                        _ => values.iter().sum::<f64>() / n as f64,
                    }
                };
                let judged =
                    |&row: &usize| !of_rows[row].is_empty() && (!is_weighted || weights[row] > 0.0);
                let rows: Vec<usize> = (0..positive.len()).filter(judged).collect();
                assert!(rows.len() > 60);
                let scores: Vec<f64> = rows.iter().map(|&row| score(&of_rows[row])).collect();
                // A row of weight k counts as k rows.
                let copies = |row: usize| if is_weighted { weights[row] as usize } else { 1 };
                let (mut all_scores, mut all_positive) = (Vec::new(), Vec::new());
                for (&row, &score) in rows.iter().zip(&scores) {
                    all_scores.extend(vec![score; copies(row)]);
                    all_positive.extend(vec![positive[row]; copies(row)]);
                }
                let expected = roc::auc(&all_scores, &all_positive).unwrap();
                let found = forest.out_of_bag().unwrap();
                assert!((found.auc - expected).abs() < 1e-14, "{} {expected}", found.auc);

                let calibration = (aggregation != Aggregation::Eta).then(|| {
                    let sums = rows.iter().map(|&row| labels.sums(row));
                    ProbabilitySteps::new(&mut scores.iter().copied().zip(sums).collect::<Vec<_>>())
                });
                assert_eq!(forest.calibration, calibration);
                let written = forest.probability_formula();
                let written = written.map(|formula| formula.values(&columns).unwrap());
                let stepped = calibration.map(|_| forest.probability(&columns).unwrap());
                assert_eq!(written, stepped);
            }
        }
    }

    #[test]
    fn a_trial_returns_the_trees_that_a_forest_begins_with() {
        let (values, positive, _) = sample(80);
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let interrupt = Interrupt::default();
        let params = ForestParams { n_trees: 30, ..params(Aggregation::Eta, 1.0) };
        let binned = Binned::new(&columns, &labels, params.tree.binning, &interrupt).unwrap();
        let grower =
            TreeGrower::new(&columns, &binned, &labels, &params.tree, None, &interrupt).unwrap();
        let grower = grower.counted_by(CountedRows(labels.positive()), None);
        let growing =
            || GrowingForest::new(&grower, CutCriterion::Youden, &params, None, Vec::new());
        let forest = growing().fit(&interrupt).unwrap();
        let auc_of = |n_trees: usize| {
            let bootstrap = ForestBootstrap::new(&labels, BootstrapParams { share: 1.0 });
            let left_out =
                |tree: usize| Some(bootstrap.left_out(mix(forest.seed ^ mix(tree as u64))));
            let mut judged = Judged::new(labels.rows(), &forest);
            judged.add(&forest, &binned, n_trees, left_out, &interrupt).unwrap();
            judged.scored(&forest, &labels).auc().unwrap().unwrap()
        };
        for n_rows in [80, 1 << 20] {
            let trial = ForestTrial::of(n_rows, 30);
            let (auc, trees) = growing().tried(trial, &interrupt).unwrap();
            let n = trial.n_trees;
            assert_eq!(trees, forest.trees[..n]);
            let expected = if trial.is_extrapolated {
                trial.expected_auc(auc_of(n / 2), auc_of(n))
            } else {
                auc_of(n)
            };
            assert_eq!(auc.to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn without_out_of_bag_rows_those_in_the_bag_calibrate() {
        let columns = Columns::from_row_major(&[0.0, 5.0, 1.0, 5.0], 2).unwrap();
        let labels = Labels::new(&[false, true], None).unwrap();
        for aggregation in [Aggregation::RankMean, Aggregation::RankMedian, Aggregation::Kendall] {
            let params = params(aggregation, 1.0);
            let interrupt = Interrupt::default();
            let forest = fit_forest(&columns, &labels, &params, None, &interrupt).unwrap();
            assert_eq!(forest.out_of_bag(), None);
            assert_eq!(forest.check(), Ok(()));
            assert_eq!(forest.probability(&columns).unwrap(), [0.0, 1.0]);
        }
    }

    #[test]
    fn a_sample_has_a_row_of_each_run() {
        let rows: Vec<u32> = (100..1100).collect();
        assert_eq!(sampled(&rows, 1000, 1), rows);
        let some = sampled(&rows, 300, 1);
        assert_eq!(some.len(), 300);
        for (k, &row) in some.iter().enumerate() {
            assert!((100 + k * 1000 / 300..100 + (k + 1) * 1000 / 300).contains(&(row as usize)));
        }
        assert_ne!(sampled(&rows, 300, 2), some);
    }

    #[test]
    fn work_on_any_number_of_threads_comes_back_in_order_or_fails() {
        for n_threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            for n in [0, 3, 40] {
                let squares = pool.install(|| run_each(7..7 + n, 3, |i| Ok(i * i)));
                assert_eq!(squares, Ok((7..7 + n).map(|i| i * i).collect()));
            }
            let failing = |i| if i == 23 { Err(RankError::Interrupted) } else { Ok(i) };
            assert_eq!(pool.install(|| run_each(0..40, 3, failing)), Err(RankError::Interrupted));
        }
    }
}

#[cfg(test)]
mod tests_of_rate_columns {
    use super::*;
    use crate::Interrupt;
    use crate::data::{Column, Columns, Labels, LevelRates, MISSING_CODE, mix};
    use crate::formula::Rule;
    use crate::tree::forest::fit_forest;
    use crate::tree::{
        Aggregation, BootstrapParams, ForestParams, GrowParams, LeafRankParams, RankingTree,
        SplitRule, TreeRankParams,
    };

    const N_LEVELS: u32 = 400;

    fn unit(row: usize, what: u64) -> f64 {
        (mix(mix(row as u64) ^ what) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn params(n_trees: usize) -> ForestParams {
        let grow = GrowParams { min_samples_leaf: 5, ..GrowParams::default() };
        let split = SplitRule::Stumps(LeafRankParams::orthogonal(1));
        ForestParams {
            tree: TreeRankParams { seed: 3, ..TreeRankParams::new(grow, split) },
            leaf_sizes: Vec::new(),
            criteria: Vec::new(),
            n_trees,
            bootstrap: Some(BootstrapParams { share: 1.0 }),
            aggregation: Aggregation::Eta,
            out_of_bag: true,
            early_stopping: None,
        }
    }

    /// Fits a forest to a numeric noise feature and a feature of many categories that determines
    /// the class, and scores rows of some categories.
    fn fit(
        params: &ForestParams,
        earlier: Option<RankingForest>,
        scored: &[u32],
    ) -> (RankingForest, Vec<f64>) {
        let noise: Vec<f64> = (0..3000).map(|row| unit(row, 0)).collect();
        // The last categories have no rows.
        let codes: Vec<u32> =
            (0..3000).map(|row| (unit(row, 1) * f64::from(N_LEVELS - 10)) as u32).collect();
        let positive: Vec<bool> =
            (0..3000).map(|row| unit(codes[row] as usize, 2) > unit(row, 3)).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let of = |codes| Column::Codes { codes, n_levels: N_LEVELS };
        let columns = Columns::new(vec![Column::from(&noise[..]), of(&codes)], 3000).unwrap();
        let forest = fit_forest(&columns, &labels, params, earlier, &Interrupt::default()).unwrap();
        let rows = Column::from(&noise[..scored.len()]);
        let columns = Columns::new(vec![rows, of(scored)], scored.len()).unwrap();
        let scores = forest.score(&columns).unwrap();
        (forest, scores)
    }

    #[test]
    fn a_finished_forest_tests_sets_of_categories() {
        let (forest, scores) = fit(&params(20), None, &[]);
        assert!(scores.is_empty());
        let tests = || forest.trees.iter().flat_map(RankingTree::tests);
        assert!(tests().all(|test| test.feature < 2));
        let n_sets = tests().filter(|test| matches!(&test.left, Rule::Levels(_))).count();
        assert!(n_sets > 20);
        assert_eq!(forest.check(), Ok(()));
        assert!(forest.out_of_bag.as_ref().unwrap().auc > 0.65);
        let text = serde_json::to_string(&forest).unwrap();
        assert_eq!(serde_json::from_str::<RankingForest>(&text).unwrap(), forest);
    }

    #[test]
    fn a_forest_is_continued_in_the_form_of_its_growth() {
        let (half, _) = fit(&params(7), None, &[]);
        let (all, _) = fit(&params(16), None, &[]);
        assert_eq!(fit(&params(16), Some(half), &[]).0, all);
    }

    #[test]
    fn a_category_that_was_not_seen_is_scored_as_a_missing_one() {
        let many = |code| vec![code; 50];
        let (_, unseen) = fit(&params(10), None, &many(N_LEVELS - 1));
        let (_, missing) = fit(&params(10), None, &many(MISSING_CODE));
        let (_, seen) = fit(&params(10), None, &many(7));
        assert_eq!(unseen, missing);
        assert_ne!(seen, missing);
    }

    #[test]
    fn raw_rates_give_the_search_of_the_paper() {
        let mut raw = params(3);
        raw.tree.binning.level_rates = LevelRates::Raw;
        let (forest, _) = fit(&raw, None, &[]);
        let (other, _) = fit(&params(3), None, &[]);
        assert_ne!(forest, other);
    }
}
