//! From columns to a pruned ranking tree.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::data::{
    Binned, BinningParams, ClassSums, Columns, CountedRows, FeatureBins, Folds, Labels,
    MemorySource, RowTally, RowUnits, Tally, WeightedRows, hold_out, mix,
};
use crate::formula::Formula;
use crate::tree::grow::{GrowParams, Missing, grow};
use crate::tree::model::CubeKeys;
use crate::tree::model::monotone;
use crate::tree::model::{RankingTree, TreeFrame};
use crate::tree::prune::PruningPath;
use crate::tree::prune::{Complexity, Penalization, PenaltyParams, penalize};
use crate::tree::prune::{CrossValidation, CvParams, cross_validate, held_out_sums};
use crate::tree::prune::{Validation, ValidationParams};
use crate::tree::split::PrunedLeafRankSplitter;
use crate::tree::split::{CellMeans, StumpTerms};
use crate::tree::split::{ClassifierSplitter, RowSplitter};
use crate::tree::split::{DyadicParams, DyadicSplitter};
use crate::tree::split::{LeafRankParams, LeafRankSplitter};
use crate::{Interrupt, RankError};

/// How a node is split.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitRule {
    /// By a small tree of stumps whose cells are merged into two sides, or by a single stump.
    Stumps(LeafRankParams),
    /// By a union of dyadic cubes.
    Dyadic(DyadicParams),
    /// By a classifier from outside, for [`fit_by_classifiers`].
    Classifier,
}

impl SplitRule {
    fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::Stumps(params) => params.validate(),
            Self::Dyadic(params) => params.validate(),
            Self::Classifier => Ok(()),
        }
    }

    /// Whether it is made of stumps, which know of cell means and of directions.
    fn is_of_stumps(&self) -> bool {
        match self {
            Self::Stumps(_) => true,
            Self::Dyadic(_) | Self::Classifier => false,
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeRankParams {
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
    /// For each feature, 1 if the score may only rise with it, -1 if it may only fall, 0 if it is
    /// free; empty to leave all free. Only numeric features can be bound.
    #[serde(default)]
    pub monotonic: Vec<i8>,
}

impl TreeRankParams {
    /// A tree that is not pruned, of bins by default, with seed 0 and all features free.
    #[must_use]
    pub fn new(grow: GrowParams, split: SplitRule) -> Self {
        Self {
            binning: BinningParams::default(),
            grow,
            split,
            pruning: None,
            seed: 0,
            monotonic: Vec::new(),
        }
    }

    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        self.grow.validate()?;
        self.split.validate()?;
        let refuse = |name, value: &str| {
            let rule = "left out: this split rule cannot honour it";
            Err(RankError::BadParameter { name, value: value.to_owned(), rule })
        };
        if !self.split.is_of_stumps() {
            if self.monotonic.iter().any(|&direction| direction != 0) {
                return refuse("monotonic_cst", "given");
            }
            if self.grow.missing == Missing::CellMean {
                return refuse("missing", "'cell_mean'");
            }
        }
        self.pruning.iter().try_for_each(PruningRule::validate)?;
        match self.pruning {
            Some(PruningRule::Penalty(_)) => self.complexity().map(|_| ()),
            _ => Ok(()),
        }
    }

    /// Checks the parameters, and that they suit the columns.
    pub(in crate::tree) fn check_for(&self, columns: &Columns<'_>) -> Result<(), RankError> {
        self.validate()?;
        monotone::check(&self.monotonic, columns)
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
    pub(in crate::tree) fn unpruned(tree: RankingTree) -> Self {
        Self { tree, cross_validation: None, penalization: None, validation: None }
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.tree.n_levels()
    }

    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        Formula::Tree(self.tree.formula(&self.tree.leaf_scores()))
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
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{TreeRankParams, GrowParams, LeafRankParams, SplitRule, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// let grow = GrowParams { max_depth: 3, min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let fitted = fit(&columns, &labels, &params, &aucrank::Interrupt::default()).unwrap();
/// assert_eq!(fitted.tree.auc(), 1.0);
/// ```
pub fn fit(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &TreeRankParams,
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
    params: &TreeRankParams,
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
    params: &TreeRankParams,
    classifiers: Option<&dyn RowSplitter>,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    params.check_for(columns)?;
    let columns = &columns.until(interrupt);
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    if labels.weights().is_none() {
        let row_tally = CountedRows(labels.positive());
        let sample =
            Sample::new(columns, &binned, labels, row_tally, params, classifiers, interrupt)?;
        sample.fit(interrupt)
    } else {
        let row_tally = WeightedRows(labels);
        let sample =
            Sample::new(columns, &binned, labels, row_tally, params, classifiers, interrupt)?;
        sample.fit(interrupt)
    }
}

/// What the trees of a fit share: that of the whole sample, and those of its folds.
#[derive(Debug)]
pub(in crate::tree) struct Sample<'a, R> {
    columns: &'a Columns<'a>,
    pub(in crate::tree) binned: &'a Binned,
    pub(in crate::tree) labels: &'a Labels<'a>,
    pub(in crate::tree) classifiers: Option<&'a dyn RowSplitter>,
    pub(in crate::tree) row_tally: R,
    pub(in crate::tree) frame: Arc<TreeFrame>,
    pub(in crate::tree) params: &'a TreeRankParams,
    /// Where missing values count as means.
    means: Option<Arc<CellMeans>>,
    /// For splits by cubes.
    pub(in crate::tree) cubes: Option<Arc<CubeKeys>>,
    /// For splits that are cross-validated on their own.
    pub(in crate::tree) inner_folds: Option<Arc<Folds>>,
    /// Features that stumps may ask, ascending; `None` for all.
    features: Option<&'a [usize]>,
    spare: Mutex<Vec<Vec<u32>>>,
}

impl<'a, R> Sample<'a, R> {
    pub(in crate::tree) fn new(
        columns: &'a Columns<'a>,
        binned: &'a Binned,
        labels: &'a Labels<'a>,
        row_tally: R,
        params: &'a TreeRankParams,
        classifiers: Option<&'a dyn RowSplitter>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let n_levels = binned.features().iter().map(|bins| match bins {
            FeatureBins::Numeric { .. } => None,
            FeatureBins::Categorical { n_levels, .. } => Some(*n_levels),
        });
        let has_missing = binned.has_missing(&labels.rows());
        let (mut cubes, mut inner_folds) = (None, None);
        match &params.split {
            SplitRule::Dyadic(DyadicParams { level }) => {
                let keys = CubeKeys::new(columns, labels, &has_missing, *level, interrupt)?;
                cubes = Some(Arc::new(keys));
            }
            SplitRule::Stumps(LeafRankParams { pruning: Some(inner), .. }) => {
                // Not the folds of the whole tree, of which one is empty in each of its trees.
                let seed = mix(params.seed ^ inner.seed);
                let folds = Folds::deal(columns, labels, inner.n_folds, seed, interrupt)?;
                inner_folds = Some(Arc::new(folds));
            }
            SplitRule::Stumps(_) | SplitRule::Classifier => {}
        }
        let means = (params.grow.missing == Missing::CellMean)
            .then(|| Arc::new(CellMeans::new(columns, binned, &labels.rows(), &has_missing)));
        let frame = Arc::new(TreeFrame {
            n_levels: n_levels.collect(),
            has_missing,
            exponent: labels.exponent(),
            leaf_order: params.grow.leaf_order,
            // Where nothing is bound, a list of zeros is as good as none.
            monotonic: if params.monotonic.iter().all(|&direction| direction == 0) {
                Vec::new()
            } else {
                params.monotonic.clone()
            },
            grid: cubes.as_ref().map(|cubes| cubes.grid.clone()),
        });
        Ok(Self {
            columns,
            binned,
            labels,
            classifiers,
            row_tally,
            frame,
            params,
            means,
            cubes,
            inner_folds,
            features: None,
            spare: Mutex::default(),
        })
    }

    /// The same rows counted in another way, for trees that ask some of the features.
    pub(in crate::tree) fn counted_by<'b, Q>(
        &self,
        row_tally: Q,
        features: Option<&'b [usize]>,
    ) -> Sample<'b, Q>
    where
        'a: 'b,
    {
        Sample {
            columns: self.columns,
            binned: self.binned,
            labels: self.labels,
            classifiers: self.classifiers,
            row_tally,
            frame: Arc::clone(&self.frame),
            params: self.params,
            means: self.means.clone(),
            cubes: self.cubes.clone(),
            inner_folds: self.inner_folds.clone(),
            features,
            spare: Mutex::default(),
        }
    }

    /// An empty buffer of row numbers, one that an earlier tree has left if there is one.
    pub(in crate::tree) fn buffer(&self) -> Vec<u32> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = spare.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Leaves buffers to later trees: a forest takes them once for each thread.
    pub(in crate::tree) fn leave(&self, buffers: impl IntoIterator<Item = Vec<u32>>) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).extend(buffers);
    }

    fn stump_terms<'s>(&'s self, level_units: Option<&'s RowUnits>) -> StumpTerms<'s> {
        StumpTerms {
            level_units,
            means: self.means.as_deref(),
            monotonic: &self.frame.monotonic,
            features: self.features,
        }
    }

    /// Lets the classifiers of a tree go that was grown to be measured.
    pub(in crate::tree) fn forget(&self, tree: &RankingTree) {
        if let Some(classifiers) = self.classifiers {
            classifiers.forget(&tree.classifiers());
        }
    }
}

impl<R: RowTally + Copy> Sample<'_, R> {
    /// What a row adds to the sums of its node.
    pub(in crate::tree) fn sums(&self, row: u32) -> ClassSums {
        self.row_tally.of(row as usize).sums()
    }

    /// What chance can do to the rates of categories among some rows, ascending; `None` where rates
    /// are taken as they are, or there are no categories.
    fn level_units(&self, rows: &[u32]) -> Option<RowUnits> {
        let times = |same: &[u32]| (self.sums(same[0]), same.len() as u32);
        self.binned.shrinks_levels().then(|| RowUnits::of(rows.chunk_by(|a, b| a == b).map(times)))
    }

    /// Some of the rows, as a source of sums.
    pub(in crate::tree) fn source<'s>(
        &'s self,
        rows: Vec<u32>,
        interrupt: &'s Interrupt,
    ) -> MemorySource<'s, R> {
        let scratch = self.buffer();
        let source =
            MemorySource::with_scratch(self.binned, self.row_tally, rows, scratch, interrupt);
        match &self.means {
            Some(means) => source.with_values(self.columns, &means.scales),
            None => source,
        }
    }

    /// Grows a tree on some of the rows.
    pub(in crate::tree) fn grow(
        &self,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        let TreeRankParams { grow: params, split, .. } = self.params;
        let total = rows.iter().map(|&row| self.sums(row)).sum();
        let (frame, min_rows) = (Arc::clone(&self.frame), params.min_samples_leaf);
        let min_gain = params.least_gain(total);
        match split {
            SplitRule::Stumps(stumps) => {
                let level_units = self.level_units(&rows);
                let terms = self.stump_terms(level_units.as_ref());
                let splitter = LeafRankSplitter::new(*stumps, min_rows, min_gain, terms);
                let mut source = self.source(rows, interrupt);
                let tree = if let Some((folds, pruning)) =
                    self.inner_folds.as_deref().zip(stumps.pruning)
                {
                    let splitter =
                        PrunedLeafRankSplitter::new(splitter, self, folds, pruning, interrupt);
                    grow(&mut source, &splitter, total, frame, params, seed, interrupt)
                } else {
                    grow(&mut source, &splitter, total, frame, params, seed, interrupt)
                };
                self.leave(source.into_buffers());
                tree
            }
            SplitRule::Dyadic(_) => {
                let keys = self.cubes.as_ref().expect("numbered for this rule");
                let splitter =
                    DyadicSplitter::new(keys, |row| self.sums(row), &rows, min_rows, min_gain);
                let mut source = self.source(rows, interrupt);
                grow(&mut source, &splitter, total, frame, params, seed, interrupt)
            }
            SplitRule::Classifier => {
                let classifiers = self.classifiers.ok_or(RankError::NeedsClassifiers)?;
                let splitter =
                    ClassifierSplitter::new(classifiers, self.labels, min_rows, min_gain);
                let mut source = self.source(rows, interrupt);
                grow(&mut source, &splitter, total, frame, params, seed, interrupt)
            }
        }
    }

    fn fit(&self, interrupt: &Interrupt) -> Result<TreeRankModel, RankError> {
        match &self.params.pruning {
            None => {
                let tree = self.grow(self.labels.rows(), self.params.seed, interrupt)?;
                Ok(TreeRankModel::unpruned(tree))
            }
            Some(PruningRule::CrossValidation(pruning)) => {
                self.fit_cross_validated(pruning, interrupt)
            }
            Some(PruningRule::Penalty(pruning)) => {
                let tree = self.grow(self.labels.rows(), self.params.seed, interrupt)?;
                let complexity = self.params.complexity()?;
                let (tree, found) = penalize(&tree, complexity, pruning, interrupt)?;
                Ok(TreeRankModel { penalization: Some(found), ..TreeRankModel::unpruned(tree) })
            }
            Some(PruningRule::Validation(pruning)) => {
                self.fit_with_rows_held_out(pruning, interrupt)
            }
        }
    }

    fn fit_cross_validated(
        &self,
        pruning: &CvParams,
        interrupt: &Interrupt,
    ) -> Result<TreeRankModel, RankError> {
        let tree = self.grow(self.labels.rows(), self.params.seed, interrupt)?;
        let folds =
            Folds::deal(self.columns, self.labels, pruning.n_folds, pruning.seed, interrupt)?;
        if folds.n_folds < 2 {
            return Ok(TreeRankModel::unpruned(tree));
        }
        let found = cross_validate(self, &tree, &folds, pruning, interrupt)?;
        let tree = PruningPath::of(&tree).tree(&tree, found.chosen);
        Ok(TreeRankModel { cross_validation: Some(found), ..TreeRankModel::unpruned(tree) })
    }

    fn fit_with_rows_held_out(
        &self,
        pruning: &ValidationParams,
        interrupt: &Interrupt,
    ) -> Result<TreeRankModel, RankError> {
        let ValidationParams { fraction, seed } = *pruning;
        let Some(parts) = hold_out(self.columns, self.labels, fraction, seed, interrupt)? else {
            let tree = self.grow(self.labels.rows(), self.params.seed, interrupt)?;
            return Ok(TreeRankModel::unpruned(tree));
        };
        let tree = self.grow(parts.kept, self.params.seed, interrupt)?;
        let sums = held_out_sums(self, &tree, &parts.held_out)?;
        let (tree, found) = Validation::on_sums(&tree, &sums, self.params.grow.max_fpr);
        Ok(TreeRankModel { validation: Some(found), ..TreeRankModel::unpruned(tree) })
    }
}
