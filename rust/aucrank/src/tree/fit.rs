//! From columns to a pruned ranking tree.

use serde::{Deserialize, Serialize};

use super::cross_validate::{CrossValidation, CvParams, cross_validate, held_out_sums};
use super::grow::{GrowParams, grow};
use super::leafrank::{LeafRankParams, LeafRankSplitter};
use super::penalize::{Complexity, Penalization, PenaltyParams, penalize};
use super::prune::PruningPath;
use super::ranking_tree::{RankingTree, TreeFrame};
use super::validate::{Validation, ValidationParams};
use crate::data::{
    Binned, BinningParams, Columns, CountedRows, FeatureBins, Folds, Labels, MemorySource,
    RowTally, WeightedRows, hold_out,
};
use crate::{Interrupt, RankError};

/// How a node is split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitRule {
    /// By a small tree of stumps whose cells are merged into two sides, or by a single stump.
    Stumps(LeafRankParams),
}

impl SplitRule {
    fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::Stumps(params) => params.validate(),
        }
    }
}

/// How a tree is pruned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruningRule {
    /// By the price of a leaf that cross-validates best.
    CrossValidation(CvParams),
    /// By a penalty on the number of leaves.
    Penalty(PenaltyParams),
    /// By rows that the tree is not grown on.
    Validation(ValidationParams),
}

impl PruningRule {
    fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::CrossValidation(params) => params.validate(),
            Self::Penalty(params) => params.validate(),
            Self::Validation(params) => params.validate(),
        }
    }
}

/// Everything that a fit of a ranking tree can be told.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitParams {
    /// How finely numeric features are cut.
    pub binning: BinningParams,
    /// When the tree stops growing.
    pub grow: GrowParams,
    /// How nodes are split.
    pub split: SplitRule,
    /// How the tree is pruned, if at all.
    pub pruning: Option<PruningRule>,
    /// Seed of what is random in the growth.
    pub seed: u64,
}

impl FitParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        self.grow.validate()?;
        self.split.validate()?;
        self.pruning.iter().try_for_each(PruningRule::validate)?;
        match self.pruning {
            Some(PruningRule::Penalty(_)) => self.complexity().map(|_| ()),
            _ => Ok(()),
        }
    }

    fn complexity(&self) -> Result<Complexity, RankError> {
        Complexity::of(&self.split).ok_or(RankError::BadParameter {
            name: "pruning",
            value: "a penalty".to_owned(),
            rule: "another rule: no penalty is known for this split rule",
        })
    }
}

/// A fitted tree, and how it was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeRankModel {
    /// The tree.
    pub tree: RankingTree,
    /// What cross-validation found. `None` where it was not asked for, or where a class has a single
    /// distinct row, so that no fold can be left out; the tree is then as it was grown.
    pub cross_validation: Option<CrossValidation>,
    /// What the penalty made of each number of leaves, where it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalization: Option<Penalization>,
    /// What was found on the rows held out, where they were asked for and there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
}

impl TreeRankModel {
    /// A tree as it was grown.
    pub(super) fn unpruned(tree: RankingTree) -> Self {
        Self { tree, cross_validation: None, penalization: None, validation: None }
    }

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        self.tree.check()?;
        self.penalization.iter().try_for_each(|found| found.check(&self.tree))?;
        self.validation.iter().try_for_each(|found| found.check(&self.tree))?;
        let Some(found) = &self.cross_validation else { return Ok(()) };
        let n_steps = found.steps.len();
        let fits = found.mean_auc.len() == n_steps && found.standard_error.len() == n_steps;
        if fits && found.chosen < n_steps {
            Ok(())
        } else {
            Err("the table of the cross-validation has columns of several lengths".to_owned())
        }
    }
}

/// Fits a ranking tree: bins the columns, grows, prunes.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::data::{BinningParams, Columns, Labels};
/// use aucrank::tree::{FitParams, GrowParams, LeafOrder, LeafRankParams, SplitRule, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// let params = FitParams {
///     binning: BinningParams::default(),
///     grow: GrowParams {
///         max_depth: 3,
///         min_samples_split: 2,
///         min_samples_leaf: 1,
///         min_gain: 0.0,
///         leaf_order: LeafOrder::Tree,
///     },
///     split: SplitRule::Stumps(LeafRankParams::orthogonal(1)),
///     pruning: None,
///     seed: 0,
/// };
/// let fitted = fit(&columns, &labels, &params, &aucrank::Interrupt::default()).unwrap();
/// assert_eq!(fitted.tree.auc(), 1.0);
/// ```
pub fn fit(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &FitParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    params.validate()?;
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    if labels.weights().is_none() {
        let row_tally = CountedRows(labels.positive());
        Sample::new(&binned, labels, row_tally, params).fit(columns, interrupt)
    } else {
        let row_tally = WeightedRows(labels);
        Sample::new(&binned, labels, row_tally, params).fit(columns, interrupt)
    }
}

/// What the trees of a fit share: that of the whole sample, and those of its folds.
#[derive(Debug)]
pub(super) struct Sample<'a, R> {
    pub(super) binned: &'a Binned,
    pub(super) labels: &'a Labels<'a>,
    row_tally: R,
    frame: TreeFrame,
    params: &'a FitParams,
}

impl<'a, R: RowTally + Copy> Sample<'a, R> {
    fn new(
        binned: &'a Binned,
        labels: &'a Labels<'a>,
        row_tally: R,
        params: &'a FitParams,
    ) -> Self {
        let n_levels = binned.features().iter().map(|bins| match bins {
            FeatureBins::Numeric { .. } => None,
            FeatureBins::Categorical { n_levels } => Some(*n_levels),
        });
        let frame = TreeFrame {
            n_levels: n_levels.collect(),
            has_missing: binned.has_missing(&labels.rows()),
            exponent: labels.exponent(),
            leaf_order: params.grow.leaf_order,
        };
        Self { binned, labels, row_tally, frame, params }
    }

    /// Grows a tree on some of the rows.
    pub(super) fn grow(
        &self,
        rows: Vec<u32>,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        let FitParams { grow: params, split, seed, .. } = self.params;
        let total = rows.iter().map(|&row| self.labels.sums(row as usize)).sum();
        let mut source = MemorySource::new(self.binned, self.row_tally, rows, interrupt);
        let (frame, min_rows) = (self.frame.clone(), params.min_samples_leaf);
        match split {
            SplitRule::Stumps(stumps) => {
                let splitter = LeafRankSplitter::new(*stumps, min_rows, params.least_gain(total));
                grow(&mut source, &splitter, total, frame, params, *seed, interrupt)
            }
        }
    }

    fn fit(
        &self,
        columns: &Columns<'_>,
        interrupt: &Interrupt,
    ) -> Result<TreeRankModel, RankError> {
        match &self.params.pruning {
            None => {
                let tree = self.grow(self.labels.rows(), interrupt)?;
                Ok(TreeRankModel::unpruned(tree))
            }
            Some(PruningRule::CrossValidation(pruning)) => {
                self.fit_cross_validated(columns, pruning, interrupt)
            }
            Some(PruningRule::Penalty(pruning)) => {
                let tree = self.grow(self.labels.rows(), interrupt)?;
                let complexity = self.params.complexity()?;
                let (tree, found) = penalize(&tree, complexity, pruning, interrupt)?;
                Ok(TreeRankModel { penalization: Some(found), ..TreeRankModel::unpruned(tree) })
            }
            Some(PruningRule::Validation(pruning)) => {
                self.fit_with_rows_held_out(columns, pruning, interrupt)
            }
        }
    }

    fn fit_cross_validated(
        &self,
        columns: &Columns<'_>,
        pruning: &CvParams,
        interrupt: &Interrupt,
    ) -> Result<TreeRankModel, RankError> {
        let tree = self.grow(self.labels.rows(), interrupt)?;
        let folds = Folds::deal(columns, self.labels, pruning.n_folds, pruning.seed, interrupt)?;
        if folds.n_folds < 2 {
            return Ok(TreeRankModel::unpruned(tree));
        }
        let found = cross_validate(self, &tree, &folds, pruning, interrupt)?;
        let tree = PruningPath::of(&tree).tree(&tree, found.chosen);
        Ok(TreeRankModel { cross_validation: Some(found), ..TreeRankModel::unpruned(tree) })
    }

    fn fit_with_rows_held_out(
        &self,
        columns: &Columns<'_>,
        pruning: &ValidationParams,
        interrupt: &Interrupt,
    ) -> Result<TreeRankModel, RankError> {
        let ValidationParams { fraction, seed } = *pruning;
        let Some(parts) = hold_out(columns, self.labels, fraction, seed, interrupt)? else {
            let tree = self.grow(self.labels.rows(), interrupt)?;
            return Ok(TreeRankModel::unpruned(tree));
        };
        let tree = self.grow(parts.kept, interrupt)?;
        let sums = held_out_sums(self, &tree, &parts.held_out);
        let (tree, found) = Validation::on_sums(&tree, &sums);
        Ok(TreeRankModel { validation: Some(found), ..TreeRankModel::unpruned(tree) })
    }
}
