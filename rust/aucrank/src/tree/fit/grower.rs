//! Growth of trees on a sample by a split rule.

use std::sync::Arc;

use super::{AskLeaves, TreeRankModel, TreeRankParams};
use crate::data::{
    Binned, ClassSums, Columns, Counts, Folds, Labels, NO_FOLD, RowTally, TwoParts, binding,
    check_monotonic, hold_out,
};
use crate::external::ExternalFitter;
use crate::interrupt::PartCounter;
use crate::rows::{
    FitId, HistogramTally, NumberedRows, QueriedCells, QueriedLevels, RowFrame, Rows, Totals, View,
    gathered_contents, together,
};
use crate::tree::TreeError;
use crate::tree::grow::{Missing, grow};
use crate::tree::model::{RankingTree, TreeFrame};
use crate::tree::prune::{
    CvParams, PruningPath, PruningRule, Validation, ValidationParams, WithoutFold, cross_validate,
    penalize,
};
use crate::tree::sample::Sample;
use crate::tree::search::{SearchParams, SearchedTree, search};
use crate::tree::split::{
    AnyPrepared, DyadicParams, LeafRankParams, LeafRankSplitter, SplitRule, StumpTerms, level_units,
};
use crate::{Interrupt, RankError, parallel};

/// Rows and the rule that splits them.
#[derive(Debug)]
pub(in crate::tree) struct TreeGrower<'a, R> {
    pub(in crate::tree) sample: Sample<'a, R>,
    rule: Arc<AnyPrepared<'a>>,
}

impl<'a> TreeGrower<'a, ()> {
    /// From rows that are not counted yet.
    pub(in crate::tree) fn new(
        columns: &'a Columns<'a>,
        binned: &'a Binned,
        labels: &'a Labels<'a>,
        params: &'a TreeRankParams,
        classifiers: Option<&'a dyn ExternalFitter>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let mut sample = Sample::new(columns, binned, labels, &params.grow, &params.monotonic);
        let rule = params.split.prepare(&sample, params.seed, classifiers, interrupt)?;
        if let Some(grid) = rule.rule().grid() {
            Arc::make_mut(&mut sample.frame).grid = Some(grid.clone());
        }
        Ok(Self { sample, rule: Arc::new(rule) })
    }
}

impl<'a, R> TreeGrower<'a, R> {
    /// The same rows with another tally, for trees that test some of the features.
    pub(in crate::tree) fn counted_by<Q>(
        &self,
        row_tally: Q,
        features: Option<Vec<usize>>,
    ) -> TreeGrower<'a, Q> {
        let sample = self.sample.counted_by(row_tally, features);
        TreeGrower { sample, rule: Arc::clone(&self.rule) }
    }

    /// Place in the ranking of the leaf of each of some rows.
    pub(in crate::tree) fn places(
        &self,
        tree: &RankingTree,
        rows: &[u32],
    ) -> Result<Vec<u32>, RankError> {
        self.rule.rule().places(self.sample.binned, tree, rows)
    }

    /// Frees data kept elsewhere for a trial tree.
    pub(super) fn forget(&self, tree: &RankingTree) {
        self.rule.rule().forget(tree);
    }
}

impl<R: RowTally + Copy> TreeGrower<'_, R> {
    /// Grows a tree on some of the rows.
    pub(in crate::tree) fn grow(
        &self,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        self.rule.grow(&self.sample, rows, seed, interrupt)
    }

    /// Searches a tree on some of the rows, in ascending order.
    pub(super) fn search(
        &self,
        rows: &[u32],
        params: &SearchParams,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<SearchedTree, RankError> {
        let units = level_units(&self.sample, rows);
        search(&self.sample, rows, units.as_ref(), params, seed, interrupt)
    }

    /// Class sums of other rows in every node of a tree.
    pub(super) fn held_out_sums(
        &self,
        tree: &RankingTree,
        rows: &[u32],
    ) -> Result<Vec<ClassSums>, RankError> {
        Ok(self.sample.sums_of_nodes(tree, rows, &self.places(tree, rows)?))
    }
}

/// Rows on which trees are grown.
pub(super) trait Growth: Sync {
    /// Description of some of the rows.
    type Subset: Sync;

    /// All rows of positive weight.
    fn all(&self) -> Self::Subset;

    /// For each fold the rows outside and those inside; fewer than two folds if a class has a
    /// single distinct row.
    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[Self::Subset; 2]>, RankError>;

    /// The remaining rows, then a held-out share of the rows of each class; `None` if a class has a
    /// single distinct row.
    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Self::Subset; 2]>, RankError>;

    /// Grows a tree on some of the rows.
    fn grow(&self, rows: &Self::Subset) -> Result<RankingTree, RankError>;

    /// Class sums of other rows in every node of a tree.
    fn sums_of_nodes(
        &self,
        tree: &RankingTree,
        rows: &Self::Subset,
    ) -> Result<Vec<ClassSums>, RankError>;

    /// Frees data kept elsewhere for a trial tree.
    fn forget(&self, _tree: &RankingTree) {}

    /// Grows a tree on all rows, and one without each fold.
    fn grow_with_folds(
        &self,
        folds: &[[Self::Subset; 2]],
        done: &PartCounter<'_>,
    ) -> Result<(RankingTree, Vec<WithoutFold>), RankError> {
        let tree = self.grow(&self.all())?;
        let without = |fold: &[Self::Subset; 2]| self.grow_without(fold, done);
        Ok((tree, parallel::try_map(folds.iter().collect(), without)?))
    }

    /// Grows a tree without a fold.
    fn grow_without(
        &self,
        [others, inside]: &[Self::Subset; 2],
        done: &PartCounter<'_>,
    ) -> Result<WithoutFold, RankError> {
        let tree = self.grow(others)?;
        let sums = self.sums_of_nodes(&tree, inside)?;
        self.forget(&tree);
        done.add()?;
        Ok((tree, sums))
    }
}

/// Rows on which trees are searched, too.
pub(super) trait Searching: Growth {
    /// Searches a tree on some of the rows.
    fn search(&self, rows: &Self::Subset, params: &SearchParams)
    -> Result<SearchedTree, RankError>;
}

/// Grows a tree, and prunes it by the rule in `params`.
pub(super) fn grow_and_prune<G: Growth>(
    rows: &G,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    match &params.pruning {
        None => Ok(TreeRankModel::unpruned(rows.grow(&rows.all())?)),
        Some(PruningRule::CrossValidation(pruning)) => {
            let folds = rows.folds(pruning.n_folds, pruning.seed)?;
            if folds.len() < 2 {
                return Ok(TreeRankModel::unpruned(rows.grow(&rows.all())?));
            }
            let done = PartCounter::new(interrupt, "fold", folds.len());
            let (tree, without) = rows.grow_with_folds(&folds, &done)?;
            let one_standard_error = pruning.one_standard_error;
            let found = cross_validate(&tree, without, params.grow.max_fpr, one_standard_error);
            let tree = PruningPath::of(&tree).tree(&tree, found.chosen);
            Ok(TreeRankModel { cross_validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
        Some(PruningRule::Penalty(pruning)) => {
            let tree = rows.grow(&rows.all())?;
            let (tree, found) = penalize(&tree, params.complexity()?, pruning, interrupt)?;
            Ok(TreeRankModel { penalization: Some(found), ..TreeRankModel::unpruned(tree) })
        }
        Some(PruningRule::Validation(ValidationParams { fraction, seed })) => {
            let Some([kept, held_out]) = rows.hold_out(*fraction, *seed)? else {
                return Ok(TreeRankModel::unpruned(rows.grow(&rows.all())?));
            };
            let tree = rows.grow(&kept)?;
            let sums = rows.sums_of_nodes(&tree, &held_out)?;
            let (tree, found) = Validation::on_sums(&tree, &sums, params.grow.max_fpr);
            Ok(TreeRankModel { validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
    }
}

/// Rows in memory on which trees are grown from a seed.
#[derive(Debug)]
pub(super) struct TreesInMemory<'a, R> {
    pub(super) grower: TreeGrower<'a, R>,
    pub(super) seed: u64,
    pub(super) interrupt: &'a Interrupt,
}

/// A subset of the rows.
#[derive(Debug)]
pub(super) enum Subset {
    All,
    Fold { folds: Arc<Folds>, fold: u16, inside: bool },
    Listed(Vec<u32>),
}

impl<R: RowTally + Copy> TreesInMemory<'_, R> {
    pub(super) fn rows(&self, subset: &Subset) -> Vec<u32> {
        match subset {
            Subset::All => self.grower.sample.labels.rows(),
            Subset::Listed(rows) => rows.clone(),
            Subset::Fold { folds, fold, inside } => {
                let of_row = (0..).zip(&folds.of_row);
                let is_there = |of: u16| of != NO_FOLD && (of == *fold) == *inside;
                of_row.filter(|&(_, &of)| is_there(of)).map(|(row, _)| row).collect()
            }
        }
    }
}

impl<R: RowTally + Copy> Growth for TreesInMemory<'_, R> {
    type Subset = Subset;

    fn all(&self) -> Subset {
        Subset::All
    }

    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[Subset; 2]>, RankError> {
        let (columns, labels) = (self.grower.sample.columns, self.grower.sample.labels);
        let folds = Arc::new(Folds::deal(columns, labels, n_folds, seed, self.interrupt)?);
        let subset = |fold, inside| Subset::Fold { folds: Arc::clone(&folds), fold, inside };
        let sides = |fold| {
            let outside = if labels.has_gap() {
                Subset::Listed(folds.parts(labels, fold)?.kept)
            } else {
                subset(fold, false)
            };
            Ok([outside, subset(fold, true)])
        };
        (0..folds.n_folds).map(sides).collect()
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Subset; 2]>, RankError> {
        let (columns, labels) = (self.grower.sample.columns, self.grower.sample.labels);
        let parts = hold_out(columns, labels, share, seed, self.interrupt)?;
        let listed = |TwoParts { kept, held_out }| [kept, held_out].map(Subset::Listed);
        Ok(parts.map(listed))
    }

    fn grow(&self, rows: &Subset) -> Result<RankingTree, RankError> {
        self.grower.grow(self.rows(rows), self.seed, self.interrupt)
    }

    fn sums_of_nodes(
        &self,
        tree: &RankingTree,
        rows: &Subset,
    ) -> Result<Vec<ClassSums>, RankError> {
        self.grower.held_out_sums(tree, &self.rows(rows))
    }

    fn forget(&self, tree: &RankingTree) {
        self.grower.forget(tree);
    }
}

impl<R: RowTally + Copy> Searching for TreesInMemory<'_, R> {
    fn search(&self, rows: &Subset, params: &SearchParams) -> Result<SearchedTree, RankError> {
        self.grower.search(&self.rows(rows), params, self.seed, self.interrupt)
    }
}

/// Fits a ranking tree to rows elsewhere.
pub(super) fn fit_rows(
    NumberedRows { rows, fit_number }: NumberedRows<'_>,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    params.validate()?;
    let frame = rows.frame();
    check_monotonic(&params.monotonic, &frame.n_levels())?;
    let split = stumps_of(params)?;
    let fit = FitId::new(fit_number);
    if params.holds_out()
        && let Some(contents) = gathered_contents(rows, &fit, false, interrupt)?
    {
        return super::fit((&contents.columns()?, &contents.labels()?), params, interrupt);
    }
    let levels = QueriedLevels::find(rows, &fit, params.binning, params.seed, interrupt)?;
    let recoded = levels.recoded(rows);
    let totals = fit.totals(&recoded, View::All, interrupt)?;
    let tree_frame = tree_frame(recoded.frame(), params, &totals);
    let levels = &levels;
    let elsewhere =
        TreesElsewhere { rows, fit: &fit, split, params, levels, tree_frame, interrupt };
    grow_and_prune(&elsewhere, params, interrupt)
}

/// The parameters of stumps, if they need only sums of cells.
fn stumps_of(params: &TreeRankParams) -> Result<LeafRankParams, RankError> {
    let refuse = |name, value: &str, rule| {
        Err(RankError::BadParameter { name, value: value.to_owned(), rule })
    };
    let SplitRule::Stumps(split) = &params.split else {
        let rule = "'orthogonal', 'leafrank' or a rule of stumps where rows are read in parts";
        return refuse("split", params.split.rule().name(), rule);
    };
    if split.pruning.is_some() {
        return refuse("pruning of the split", "given", "None where rows are read in parts");
    }
    if params.grow.missing == Missing::CellMean {
        return refuse("missing", "'cell_mean'", "'learn' where rows are read in parts");
    }
    if params.search.is_some() {
        return refuse("search", "given", "'greedy' where rows are read in parts");
    }
    Ok(*split)
}

fn tree_frame(frame: &RowFrame, params: &TreeRankParams, totals: &Totals) -> Arc<TreeFrame> {
    Arc::new(TreeFrame {
        n_levels: frame.n_levels(),
        has_missing: totals.has_missing.clone(),
        exponent: frame.exponent(),
        leaf_order: params.grow.leaf_order,
        monotonic: binding(&params.monotonic),
        grid: None,
    })
}

/// Maximum number of trees that grow at once, within the limits on memory below but at least two.
const MOST_TREES: u64 = 6;

/// Memory limit for the cells of their rows, two bytes per row and tree, ...
const MOST_CELL_BYTES: u64 = 1 << 27;

/// ... and for an answer about one level of them; at depth 10 it has half a megabyte per feature.
const MOST_ANSWER_BYTES: u64 = 1 << 26;
const BYTES_OF_LEVEL: u64 = 1 << 19;

/// Number of trees that are queried in one pass.
fn trees_at_once(frame: &RowFrame) -> usize {
    let by_rows = MOST_CELL_BYTES / (2 * frame.n_rows().max(1));
    let by_features = MOST_ANSWER_BYTES / (BYTES_OF_LEVEL * frame.features().len().max(1) as u64);
    by_rows.min(by_features).clamp(2, MOST_TREES) as usize
}

/// Rows elsewhere on which trees are grown.
struct TreesElsewhere<'a> {
    rows: &'a dyn Rows,
    fit: &'a FitId,
    split: LeafRankParams,
    params: &'a TreeRankParams,
    levels: &'a QueriedLevels,
    /// Frame of trees that do not test rates.
    tree_frame: Arc<TreeFrame>,
    interrupt: &'a Interrupt,
}

impl TreesElsewhere<'_> {
    /// The same with other rows to query.
    fn through<'b>(&'b self, rows: &'b dyn Rows) -> TreesElsewhere<'b> {
        TreesElsewhere { rows, tree_frame: Arc::clone(&self.tree_frame), ..*self }
    }

    /// Grows a tree on the rows of a view, in the codes of the fit.
    fn grow_counted<T: HistogramTally>(
        &self,
        rows: &dyn Rows,
        frame: &Arc<TreeFrame>,
        view: &View,
    ) -> Result<RankingTree, RankError> {
        let totals = self.fit.totals(rows, view.clone(), self.interrupt)?;
        let units = rows.frame().shrinks_levels().then(|| totals.squares.units());
        let terms = StumpTerms {
            level_units: units.as_ref(),
            means: None,
            monotonic: &frame.monotonic,
            features: None,
            draw: None,
            criterion: self.split.criterion,
        };
        let least = self.params.grow.least_split(totals.sums);
        let splitter = LeafRankSplitter::new(self.split, least, terms);
        let mut cells = QueriedCells::<T>::new(rows, self.fit, view.clone(), self.interrupt);
        let TreeRankParams { grow: params, seed, .. } = self.params;
        let frame = Arc::clone(frame);
        grow(&mut cells, &splitter, totals.sums, frame, params, *seed, self.interrupt)
    }

    fn grow_on(
        &self,
        rows: &dyn Rows,
        frame: &Arc<TreeFrame>,
        view: &View,
    ) -> Result<RankingTree, RankError> {
        if rows.frame().counts_fit() {
            self.grow_counted::<Counts>(rows, frame, view)
        } else {
            self.grow_counted::<ClassSums>(rows, frame, view)
        }
    }
}

impl Growth for TreesElsewhere<'_> {
    type Subset = View;

    fn all(&self) -> View {
        View::All
    }

    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[View; 2]>, RankError> {
        let order = self.fit.order(self.rows, seed, self.interrupt)?;
        let folds = Arc::new(order.folds(n_folds));
        let view = |fold, inside| View::Fold { folds: Arc::clone(&folds), fold, inside };
        Ok((0..folds.n_folds())
            .map(|fold| [false, true].map(|inside| view(fold, inside)))
            .collect())
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[View; 2]>, RankError> {
        self.fit.hold_out(self.rows, share, seed, self.interrupt)
    }

    fn grow(&self, view: &View) -> Result<RankingTree, RankError> {
        let (rows, rates) = self.levels.with_rates(self.rows, self.fit, view, self.interrupt)?;
        if rates.is_empty() {
            return self.grow_on(&rows, &self.tree_frame, view);
        }
        // Categories that enter by their rates count as missing.
        let totals = self.fit.totals(&rows, View::All, self.interrupt)?;
        let frame = tree_frame(rows.frame(), &self.params.with_rates(&rates), &totals);
        Ok(self.grow_on(&rows, &frame, view)?.without_rates(&rates))
    }

    fn sums_of_nodes(&self, tree: &RankingTree, rows: &View) -> Result<Vec<ClassSums>, RankError> {
        let ask = AskLeaves(Arc::new(tree.clone()));
        let of_leaves = self.fit.ask(self.rows, rows.clone(), ask, self.interrupt)?.0;
        let mut sums = vec![ClassSums::default(); tree.nodes().len()];
        for (leaf, of_leaf) in tree.leaves().into_iter().zip(of_leaves) {
            sums[leaf] = of_leaf;
        }
        tree.add_up(&mut sums);
        Ok(sums)
    }

    fn grow_with_folds(
        &self,
        folds: &[[View; 2]],
        done: &PartCounter<'_>,
    ) -> Result<(RankingTree, Vec<WithoutFold>), RankError> {
        let work = |fold: Option<_>| {
            move |rows: &dyn Rows| match (self.through(rows), fold) {
                (rows, Some(fold)) => rows.grow_without(fold, done),
                (rows, None) => Ok((rows.grow(&View::All)?, Vec::new())),
            }
        };
        let all: Vec<_> = std::iter::once(None).chain(folds.iter().map(Some)).collect();
        let mut grown = Vec::new();
        for some in all.chunks(trees_at_once(self.rows.frame())) {
            let works = some.iter().copied().map(work).collect();
            grown.extend(together(self.rows, works, self.interrupt)?);
        }
        let (tree, _) = grown.remove(0);
        Ok((tree, grown))
    }
}

/// The finest level that is tried.
const FINEST: u32 = 16;
/// Successive finer levels that rank no better before the trials end.
const MOST_WORSE: usize = 2;
/// Number of folds if the pruning has none.
const N_FOLDS: u16 = 5;

/// The parameters with cubes of a level.
fn with_level(params: &TreeRankParams, level: u32) -> TreeRankParams {
    let split = SplitRule::Dyadic(DyadicParams { level: Some(level) });
    TreeRankParams { split, ..params.clone() }
}

/// Fits trees of cubes of several levels by `fit`, and returns the one chosen.
pub(super) fn fit_best_level(
    params: &TreeRankParams,
    fit: impl Fn(&TreeRankParams) -> Result<TreeRankModel, RankError>,
) -> Result<TreeRankModel, RankError> {
    let holds_out = matches!(
        params.pruning,
        Some(PruningRule::CrossValidation(_) | PruningRule::Validation(_))
    );
    let mut judged = params.clone();
    if !holds_out {
        let by_folds = CvParams { n_folds: N_FOLDS, one_standard_error: false, seed: params.seed };
        judged.pruning = Some(PruningRule::CrossValidation(by_folds));
    }
    let mut best: Option<(u32, f64, TreeRankModel)> = None;
    let mut n_worse = 0;
    for level in 1..=FINEST {
        let model = match fit(&with_level(&judged, level)) {
            Err(RankError::Tree(TreeError::CubesTooFine { .. })) if level > 1 => break,
            model => model?,
        };
        let auc = held_out_auc(&model, params.pruning.is_some());
        if best.as_ref().is_none_or(|best| auc > best.1) {
            best = Some((level, auc, model));
            n_worse = 0;
        } else {
            n_worse += 1;
            if n_worse == MOST_WORSE {
                break;
            }
        }
    }
    let (level, _, model) = best.expect("the coarsest level was tried");
    if holds_out { Ok(model) } else { fit(&with_level(params, level)) }
}

/// The AUC on rows that the trees were not grown on, of whole trees or of those kept; 0 if no rows
/// could be held out.
fn held_out_auc(model: &TreeRankModel, is_pruned: bool) -> f64 {
    if let Some(found) = &model.validation {
        return found.auc[found.chosen];
    }
    let found = model.cross_validation.as_ref();
    found.map_or(0.0, |found| found.mean_auc[if is_pruned { found.chosen } else { 0 }])
}

#[cfg(test)]
mod tests_of_cube_level {
    use super::*;
    use crate::Interrupt;
    use crate::data::{Columns, Labels, mix};
    use crate::tree::{GrowParams, ValidationParams, fit};

    #[test]
    fn the_level_is_the_one_whose_tree_ranks_held_out_rows_best() {
        let values: Vec<f64> = (0..600).map(|place| (mix(place) % 1000) as f64 / 999.0).collect();
        let columns = Columns::from_row_major(&values, 2).unwrap();
        // Positive in two of the four quarters of one feature, apart from some noise.
        let positive: Vec<bool> = (0..300)
            .map(|row| {
                let quarter = (4.0 * values[2 * row]) as u32;
                (quarter % 2 == 1) != mix(!(row as u64)).is_multiple_of(5)
            })
            .collect();
        let labels = Labels::new(&positive, None).unwrap();
        let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
        let of_folds = CvParams { n_folds: 4, one_standard_error: false, seed: 1 };
        for pruning in [
            None,
            Some(PruningRule::CrossValidation(of_folds)),
            Some(PruningRule::Validation(ValidationParams { fraction: 0.3, seed: 1 })),
        ] {
            let params = |level| TreeRankParams {
                pruning,
                ..TreeRankParams::new(grow, SplitRule::Dyadic(DyadicParams { level }))
            };
            let fit = |params: &TreeRankParams| {
                fit((&columns, &labels), params, &Interrupt::default()).unwrap()
            };
            let auc = |level| {
                let folds = CvParams { n_folds: N_FOLDS, seed: 0, ..of_folds };
                let by_folds = Some(PruningRule::CrossValidation(folds));
                let mut judged = params(Some(level));
                judged.pruning = judged.pruning.or(by_folds);
                held_out_auc(&fit(&judged), pruning.is_some())
            };
            let chosen = fit(&params(None));
            let level = chosen.tree.cube_level().unwrap();
            assert!((1..6).all(|other| auc(level) >= auc(other)), "{level}");
            assert_eq!(chosen, fit(&params(Some(level))));
            // Halves cannot distinguish the quarters.
            assert!(level > 1);
        }
    }

    #[test]
    fn with_a_class_of_one_row_the_coarsest_cubes_are_chosen() {
        let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
        let labels = Labels::new(&[false, true, false, false], None).unwrap();
        let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
        let params = TreeRankParams::new(grow, SplitRule::Dyadic(DyadicParams { level: None }));
        let tree = fit((&columns, &labels), &params, &Interrupt::default()).unwrap().tree;
        assert_eq!(tree.cube_level(), Some(1));
    }
}
