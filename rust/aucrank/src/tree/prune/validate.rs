//! Choice of a subtree by rows that it was not grown on: rows held out (DECISIONS T21), or folds
//! that validate the price of a leaf (paper 2 sec. 4.1).

use serde::{Deserialize, Serialize};

use super::path::{PruningPath, PruningStep};
use super::penalize::PenaltyParams;
use crate::data::{ClassSums, Columns, Labels};
use crate::tree::model::RankingTree;
use crate::{RankError, parallel};

/// The training rows that are held out, if no validation rows are given.
///
/// For an example see [`Validation`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValidationParams {
    /// Share of the distinct rows of each class that is held out; between 0 and 1.
    pub fraction: f64,
    /// Seed of the choice of rows.
    pub seed: u64,
}

impl ValidationParams {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        if self.fraction > 0.0 && self.fraction < 1.0 {
            return Ok(());
        }
        Err(RankError::BadParameter {
            name: "fraction",
            value: self.fraction.to_string(),
            rule: "between 0 and 1",
        })
    }
}

/// Result for each tree of the nested path.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let tree = fit((&columns, &labels), &params, &Interrupt::default())?.tree;
/// // On these rows the classes are the other way round.
/// let others = Labels::new(&[true, false, true, false], None)?;
/// let (pruned, found) = tree.best_on(&columns, &others)?;
/// // The root ties all rows, the whole tree ranks every pair wrong.
/// assert_eq!((found.auc[0], found.auc[found.chosen]), (0.0, 0.5));
/// assert_eq!((found.steps[found.chosen].n_leaves, pruned.n_leaves()), (1, 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Validation {
    /// The trees of the path.
    pub steps: Vec<PruningStep>,
    /// AUC of each on the held-out rows.
    pub auc: Vec<f64>,
    /// Index of the step that was kept: the largest AUC, ties to the smaller tree.
    pub chosen: usize,
}

impl Validation {
    /// Scores the trees of the path by their AUC up to `max_fpr`, on rows given by their class sums
    /// in each node of the largest tree.
    pub(in crate::tree) fn on_sums(
        tree: &RankingTree,
        sums: &[ClassSums],
        max_fpr: f64,
    ) -> (RankingTree, Self) {
        let path = PruningPath::of(tree);
        let auc: Vec<f64> =
            path.aucs_up_to(max_fpr, tree, sums).into_iter().map(|(auc, _)| auc).collect();
        let best = auc.iter().copied().fold(0.0, f64::max);
        let chosen = auc.iter().rposition(|&auc| auc >= best).unwrap_or(0);
        (path.tree(tree, chosen), Self { steps: tree.pruning_path(), auc, chosen })
    }

    /// Puts a tree that is no subtree of the others in front of them, with its AUC on the held-out
    /// rows; it is chosen if that is larger than that of the tree chosen so far.
    pub(in crate::tree) fn against(mut self, other: &RankingTree, auc: f64) -> Self {
        self.chosen = if auc > self.auc[self.chosen] { 0 } else { 1 + self.chosen };
        self.auc.insert(0, auc);
        let step = PruningStep { alpha: 0.0, n_leaves: other.n_leaves(), auc: other.auc() };
        self.steps.insert(0, step);
        self
    }

    pub(in crate::tree) fn check(&self, tree: &RankingTree) -> Result<(), String> {
        let chosen = self.steps.get(self.chosen).map(|step| step.n_leaves);
        if self.auc.len() == self.steps.len() && chosen == Some(tree.n_leaves()) {
            Ok(())
        } else {
            Err("the table of the validation does not suit the tree".to_owned())
        }
    }
}

impl RankingTree {
    /// The tree of the nested path that has the largest AUC on the given rows, ties to the smaller
    /// one, and the AUCs of all. Subtrees outside the path are not searched.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, hold infinity, or
    /// have another number of rows than the labels.
    ///
    /// # Examples
    ///
    /// ```
    /// # use aucrank::data::{Columns, Labels};
    /// # use aucrank::tree::{TreeRankParams, GrowParams, LeafRankParams, SplitRule, fit};
    /// # let grow = GrowParams { max_depth: 3, min_samples_leaf: 1, ..GrowParams::default() };
    /// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
    /// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
    /// let labels = Labels::new(&[false, true, false, true], None).unwrap();
    /// let tree = fit((&columns, &labels), &params, &aucrank::Interrupt::default()).unwrap().tree;
    /// assert_eq!(tree.n_leaves(), 4);
    ///
    /// let others = Labels::new(&[false, false, true, true], None).unwrap();
    /// let (best, found) = tree.best_on(&columns, &others).unwrap();
    /// assert_eq!((best.n_leaves(), found.auc[found.chosen]), (2, 0.75));
    /// ```
    pub fn best_on(
        &self,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
    ) -> Result<(Self, Validation), RankError> {
        self.best_up_to(1.0, columns, labels)
    }

    /// The same by the AUC up to `max_fpr`.
    pub(in crate::tree) fn best_up_to(
        &self,
        max_fpr: f64,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
    ) -> Result<(Self, Validation), RankError> {
        let (found, expected) = (columns.n_rows(), labels.n_rows());
        if found != expected {
            return Err(RankError::LengthMismatch { name: "X", found, expected });
        }
        let leaves = self.leaves();
        let mut sums = vec![ClassSums::default(); self.nodes().len()];
        for (row, place) in self.apply(columns, None)?.into_iter().enumerate() {
            sums[leaves[place as usize]] += labels.sums(row);
        }
        self.add_up(&mut sums);
        Ok(Validation::on_sums(self, &sums, max_fpr))
    }
}

/// How a tree is pruned.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{PruningRule, TreeRankParams, ValidationParams, fit};
/// # use aucrank::tree::{GrowParams, LeafRankParams, SplitRule};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let pruning = PruningRule::Validation(ValidationParams { fraction: 0.5, seed: 0 });
/// let params = TreeRankParams { pruning: Some(pruning), ..params };
/// let fitted = fit((&columns, &labels), &params, &Interrupt::default())?;
/// assert!(fitted.validation.is_some() && fitted.cross_validation.is_none());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruningRule {
    /// By the price of a leaf that is best in cross-validation.
    CrossValidation(CvParams),
    /// By a penalty on the number of leaves.
    Penalty(PenaltyParams),
    /// By rows that the tree is not grown on.
    Validation(ValidationParams),
}

impl PruningRule {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        match self {
            Self::CrossValidation(params) => params.validate(),
            Self::Penalty(params) => params.validate(),
            Self::Validation(params) => params.validate(),
        }
    }
}

/// How the price of a leaf is cross-validated.
///
/// For an example see [`CrossValidation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CvParams {
    /// Number of folds; at least 2. Fewer are used if a class has fewer distinct rows.
    pub n_folds: u16,
    /// Keep the smallest tree whose mean AUC is within one standard error of the best.
    pub one_standard_error: bool,
    /// Seed of the assignment of rows to folds.
    pub seed: u64,
}

impl CvParams {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        if self.n_folds < 2 {
            return Err(RankError::BadParameter {
                name: "n_folds",
                value: self.n_folds.to_string(),
                rule: "at least 2",
            });
        }
        Ok(())
    }
}

/// Result of cross-validation for each tree of the nested path.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{CvParams, PruningRule, TreeRankParams, fit};
/// # use aucrank::tree::{GrowParams, LeafRankParams, SplitRule};
///
/// let values: Vec<f64> = (0..40).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value >= 20.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// # let params = TreeRankParams::new(
/// #     GrowParams::default(), SplitRule::Stumps(LeafRankParams::orthogonal(5)),
/// # );
/// let pruning = CvParams { n_folds: 4, one_standard_error: false, seed: 0 };
/// let pruning = Some(PruningRule::CrossValidation(pruning));
/// let params = TreeRankParams { pruning, ..params };
/// let fitted = fit((&columns, &labels), &params, &Interrupt::default())?;
/// let found = fitted.cross_validation.expect("each class has rows for all folds");
/// // The step of highest AUC on the folds left out, of as many leaves as the tree has.
/// let best = found.mean_auc.iter().copied().fold(0.0, f64::max);
/// assert_eq!(found.mean_auc[found.chosen], best);
/// assert_eq!(found.steps[found.chosen].n_leaves, fitted.tree.n_leaves());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// Number of folds.
    pub n_folds: usize,
    /// The trees of the path on the full sample.
    pub steps: Vec<PruningStep>,
    /// For each, the mean over the folds of the AUC on the fold left out of the tree that was grown
    /// without it and pruned at the same price; with a `max_fpr` below 1 the partial AUC up to it,
    /// standardised to 1/2 for an uninformative ranking.
    pub mean_auc: Vec<f64>,
    /// Standard errors of the means.
    pub standard_error: Vec<f64>,
    /// Index of the step that was kept.
    pub chosen: usize,
}

impl CrossValidation {
    /// Puts a tree that is no subtree of the others in front of them, with its AUC on each fold
    /// left out; it is chosen if its mean AUC is larger than that of the tree chosen so far.
    pub(in crate::tree) fn against(self, other: &RankingTree, of_folds: Vec<f64>) -> Self {
        let step = PruningStep { alpha: 0.0, n_leaves: other.n_leaves(), auc: other.auc() };
        let of_folds: Vec<Vec<f64>> = of_folds.into_iter().map(|auc| vec![auc]).collect();
        let mut found = Self::new(vec![step], &of_folds, false);
        let is_better = found.mean_auc[0] > self.mean_auc[self.chosen];
        found.chosen = if is_better { 0 } else { 1 + self.chosen };
        found.steps.extend(self.steps);
        found.mean_auc.extend(self.mean_auc);
        found.standard_error.extend(self.standard_error);
        found
    }

    /// Summarises the AUCs of each fold, one for each step, and chooses: the largest mean, ties to
    /// the smaller tree; or the smallest tree within one standard error of it.
    fn new(steps: Vec<PruningStep>, fold_aucs: &[Vec<f64>], one_standard_error: bool) -> Self {
        let n_folds = fold_aucs.len();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / n_folds as f64;
        let (mut mean_auc, mut standard_error) = (Vec::new(), Vec::new());
        for step in 0..steps.len() {
            let aucs: Vec<f64> = fold_aucs.iter().map(|aucs| aucs[step]).collect();
            let centre = mean(&aucs);
            let squares: f64 = aucs.iter().map(|auc| (auc - centre).powi(2)).sum();
            mean_auc.push(centre);
            standard_error.push((squares / (n_folds as f64 - 1.0) / n_folds as f64).sqrt());
        }
        let last_from = |bound: f64| mean_auc.iter().rposition(|&mean| mean >= bound).unwrap_or(0);
        let mut chosen = last_from(mean_auc.iter().copied().fold(0.0, f64::max));
        if one_standard_error {
            chosen = last_from(mean_auc[chosen] - standard_error[chosen]);
        }
        Self { n_folds, steps, mean_auc, standard_error, chosen }
    }
}

/// A tree that was grown without a fold, and class sums of the rows of the fold in its nodes.
pub(in crate::tree) type WithoutFold = (RankingTree, Vec<ClassSums>);

/// Prunes the trees that were grown without each fold along their paths, and scores every pruned
/// tree on the fold left out (DECISIONS E18, T13, T14). The AUC up to `max_fpr` is averaged.
pub(in crate::tree) fn cross_validate(
    tree: &RankingTree,
    without: Vec<WithoutFold>,
    max_fpr: f64,
    one_standard_error: bool,
) -> CrossValidation {
    let steps = tree.pruning_path();
    // Between two prices the tree is the same, so their geometric mean represents the interval.
    let prices: Vec<f64> = (0..steps.len())
        .map(|i| match steps.get(i + 1) {
            Some(next) => (steps[i].alpha * next.alpha).sqrt(),
            None => f64::INFINITY,
        })
        .collect();
    let score_fold = |(tree, left_out): WithoutFold| -> Vec<f64> {
        let path = PruningPath::of(&tree);
        let aucs = path.aucs_up_to(max_fpr, &tree, &left_out);
        prices.iter().map(|&price| aucs[path.step_at(price)].0).collect()
    };
    let fold_aucs = parallel::map(without, score_fold);
    CrossValidation::new(steps, &fold_aucs, one_standard_error)
}
