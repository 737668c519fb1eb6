//! Trees on rows that are asked, wherever they are.

use std::sync::Arc;

use super::growth::{Growth, grow_and_prune};
use super::leaf_question::AskLeaves;
use super::params::TreeRankParams;
use super::tree_rank_model::TreeRankModel;
use crate::data::{ClassSums, Counts, binding, check_monotonic};
use crate::interrupt::PartCounter;
use crate::rows::{AskedCells, Fit, HistogramTally, RowFrame, Rows, Totals, View, together};
use crate::tree::grow::{Missing, grow};
use crate::tree::model::{RankingTree, TreeFrame};
use crate::tree::prune::WithoutFold;
use crate::tree::split::{LeafRankParams, LeafRankSplitter, SplitRule, StumpTerms};
use crate::{Interrupt, RankError};

/// Fits a ranking tree to rows in parts, wherever they are: the same tree as [`fit`](super::fit) gives
/// on all of them in memory.
///
/// `fit_number` tells the fit from others that ask the same rows at the same time.
///
/// # Errors
///
/// As [`fit`](super::fit); [`RankError::BadParameter`] also for what needs more than sums of cells:
/// split rules other than stumps, trees of stumps that are pruned by themselves, and missing values that
/// count as means. What the holder of the rows runs into.
pub fn fit_rows(
    rows: &dyn Rows,
    fit_number: u64,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    params.validate()?;
    let frame = rows.frame();
    check_monotonic(&params.monotonic, &frame.n_levels())?;
    let split = stumps_of(params)?;
    let fit = Fit::new(fit_number);
    let totals = fit.totals(rows, View::All, interrupt)?;
    let tree_frame = tree_frame(frame, params, &totals);
    let elsewhere = Elsewhere { rows, fit: &fit, split, params, tree_frame, interrupt };
    grow_and_prune(&elsewhere, params, interrupt)
}

/// The parameters of stumps that need nothing but sums of cells.
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

/// Most trees that grow at once, if two do not take more than the bytes below.
const MOST_TREES: u64 = 6;

/// What the cells of their rows take at most, two bytes a row and tree, ...
const MOST_CELL_BYTES: u64 = 1 << 27;

/// ... and an answer about a level of them, where one of depth 10 has half a megabyte a feature.
const MOST_ANSWER_BYTES: u64 = 1 << 26;
const BYTES_OF_LEVEL: u64 = 1 << 19;

/// Number of trees that are asked about in one pass.
fn trees_at_once(frame: &RowFrame) -> usize {
    let by_rows = MOST_CELL_BYTES / (2 * frame.n_rows().max(1));
    let by_features = MOST_ANSWER_BYTES / (BYTES_OF_LEVEL * frame.features().len().max(1) as u64);
    by_rows.min(by_features).clamp(2, MOST_TREES) as usize
}

/// Rows elsewhere on which trees are grown.
struct Elsewhere<'a> {
    rows: &'a dyn Rows,
    fit: &'a Fit,
    split: LeafRankParams,
    params: &'a TreeRankParams,
    tree_frame: Arc<TreeFrame>,
    interrupt: &'a Interrupt,
}

impl Elsewhere<'_> {
    /// The same with other rows to ask.
    fn through<'b>(&'b self, rows: &'b dyn Rows) -> Elsewhere<'b> {
        Elsewhere { rows, tree_frame: Arc::clone(&self.tree_frame), ..*self }
    }

    fn grow_counted<T: HistogramTally>(&self, view: &View) -> Result<RankingTree, RankError> {
        let totals = self.fit.totals(self.rows, view.clone(), self.interrupt)?;
        let units = self.rows.frame().shrinks_levels().then(|| totals.squares.units());
        let terms = StumpTerms {
            level_units: units.as_ref(),
            means: None,
            monotonic: &self.tree_frame.monotonic,
            features: None,
            draw: None,
            criterion: self.split.criterion,
        };
        let least = self.params.grow.least_split(totals.sums);
        let splitter = LeafRankSplitter::new(self.split, least, terms);
        let mut cells = AskedCells::<T>::new(self.rows, self.fit, view.clone(), self.interrupt);
        let frame = Arc::clone(&self.tree_frame);
        let TreeRankParams { grow: params, seed, .. } = self.params;
        grow(&mut cells, &splitter, totals.sums, frame, params, *seed, self.interrupt)
    }
}

impl Growth for Elsewhere<'_> {
    type Subset = View;

    fn all(&self) -> View {
        View::All
    }

    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[View; 2]>, RankError> {
        let order = Arc::new(self.fit.order(self.rows, seed, self.interrupt)?);
        let n_folds = order.n_folds(n_folds);
        let view = |fold, inside| View::Fold { order: Arc::clone(&order), n_folds, fold, inside };
        Ok((0..n_folds).map(|fold| [false, true].map(|inside| view(fold, inside))).collect())
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[View; 2]>, RankError> {
        self.fit.hold_out(self.rows, share, seed, self.interrupt)
    }

    fn grow(&self, rows: &View) -> Result<RankingTree, RankError> {
        if self.rows.frame().counts_fit() {
            self.grow_counted::<Counts>(rows)
        } else {
            self.grow_counted::<ClassSums>(rows)
        }
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
