//! From columns to a pruned ranking tree.

use serde::{Deserialize, Serialize};

use super::classifier_split::{ClassifierSplitter, RowSplitter};
use super::cross_validate::{CrossValidation, CvParams, cross_validate};
use super::grow::{GrowParams, grow};
use super::leafrank::{LeafRankParams, LeafRankSplitter};
use super::prune::PruningPath;
use super::ranking_tree::{RankingTree, TreeFrame};
use crate::data::{
    Binned, BinningParams, Columns, CountedRows, FeatureBins, Folds, Labels, MemorySource,
    RowTally, WeightedRows,
};
use crate::{Interrupt, RankError};

/// How a node is split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitRule {
    /// By a small tree of stumps whose cells are merged into two sides, or by a single stump.
    Stumps(LeafRankParams),
    /// By a classifier from outside, for [`fit_by_classifiers`].
    Classifier,
}

impl SplitRule {
    fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::Stumps(params) => params.validate(),
            Self::Classifier => Ok(()),
        }
    }
}

/// How a tree is pruned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruningRule {
    /// By the price of a leaf that cross-validates best.
    CrossValidation(CvParams),
}

impl PruningRule {
    fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::CrossValidation(params) => params.validate(),
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
    fn validate(&self) -> Result<(), RankError> {
        self.grow.validate()?;
        self.split.validate()?;
        self.pruning.iter().try_for_each(PruningRule::validate)
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
}

impl TreeRankModel {
    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        self.tree.check()?;
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
    fit_with(columns, labels, params, None, interrupt)
}

/// Fits a ranking tree whose nodes are split by classifiers ([`SplitRule::Classifier`]), which
/// `classifiers` fits to rows that it knows by their numbers.
///
/// The tree is known by the classifiers that `classifiers` is told to keep, and scores with them
/// ([`RankingTree::score_by`]).
///
/// # Errors
///
/// As [`fit`], and what the classifiers run into.
pub fn fit_by_classifiers(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &FitParams,
    classifiers: &dyn RowSplitter,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let mut model = fit_with(columns, labels, params, Some(classifiers), interrupt)?;
    classifiers.keep(&model.tree.number_classifiers());
    Ok(model)
}

fn fit_with(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &FitParams,
    classifiers: Option<&dyn RowSplitter>,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    params.validate()?;
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    if labels.weights().is_none() {
        let row_tally = CountedRows(labels.positive());
        Sample::new(&binned, labels, row_tally, params, classifiers).fit(columns, interrupt)
    } else {
        let row_tally = WeightedRows(labels);
        Sample::new(&binned, labels, row_tally, params, classifiers).fit(columns, interrupt)
    }
}

/// What the trees of a fit share: that of the whole sample, and those of its folds.
#[derive(Debug)]
pub(super) struct Sample<'a, R> {
    pub(super) binned: &'a Binned,
    pub(super) labels: &'a Labels<'a>,
    pub(super) classifiers: Option<&'a dyn RowSplitter>,
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
        classifiers: Option<&'a dyn RowSplitter>,
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
        Self { binned, labels, classifiers, row_tally, frame, params }
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
            SplitRule::Classifier => {
                let classifiers = self.classifiers.ok_or(RankError::NeedsClassifiers)?;
                let gain = params.least_gain(total);
                let splitter = ClassifierSplitter::new(classifiers, self.labels, min_rows, gain);
                grow(&mut source, &splitter, total, frame, params, *seed, interrupt)
            }
        }
    }

    /// Lets the classifiers of a tree go that was grown to be measured.
    pub(super) fn forget(&self, tree: &RankingTree) {
        if let Some(classifiers) = self.classifiers {
            classifiers.forget(&tree.classifiers());
        }
    }

    fn fit(
        &self,
        columns: &Columns<'_>,
        interrupt: &Interrupt,
    ) -> Result<TreeRankModel, RankError> {
        let tree = self.grow(self.labels.rows(), interrupt)?;
        let Some(PruningRule::CrossValidation(pruning)) = &self.params.pruning else {
            return Ok(TreeRankModel { tree, cross_validation: None });
        };
        let folds = Folds::deal(columns, self.labels, pruning.n_folds, pruning.seed, interrupt)?;
        if folds.n_folds < 2 {
            return Ok(TreeRankModel { tree, cross_validation: None });
        }
        let found = cross_validate(self, &tree, &folds, pruning, interrupt)?;
        let tree = PruningPath::of(&tree).tree(&tree, found.chosen);
        Ok(TreeRankModel { tree, cross_validation: Some(found) })
    }
}
