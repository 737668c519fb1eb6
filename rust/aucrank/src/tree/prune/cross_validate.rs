//! Which subtree to keep, by cross-validation of the price of a leaf (paper 2 sec. 4.1).

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::path::{PruningPath, PruningStep};
use crate::data::ClassSums;
use crate::tree::model::RankingTree;
use crate::{RankError, parallel};

/// How the price of a leaf is cross-validated.
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
/// let found = fit(&columns, &labels, &params, &Interrupt::default())?.cross_validation;
/// assert_eq!(found.map(|found| found.n_folds), Some(4));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(deny_unknown_fields))]
pub struct CvParams {
    /// Number of folds; at least 2. Fewer are used where a class has fewer distinct rows.
    pub n_folds: u16,
    /// Keep the smallest tree whose mean AUC is within one standard error of the best.
    pub one_standard_error: bool,
    /// Seed by which rows are dealt into folds.
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

/// What cross-validation found for each tree of the nested path.
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
/// let fitted = fit(&columns, &labels, &params, &Interrupt::default())?;
/// let found = fitted.cross_validation.expect("each class has rows for all folds");
/// // The step of highest AUC on the folds left out, of as many leaves as the tree has.
/// let best = found.mean_auc.iter().copied().fold(0.0, f64::max);
/// assert_eq!(found.mean_auc[found.chosen], best);
/// assert_eq!(found.steps[found.chosen].n_leaves, fitted.tree.n_leaves());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub struct CrossValidation {
    /// Number of folds.
    pub n_folds: usize,
    /// The trees of the path of the full sample.
    pub steps: Vec<PruningStep>,
    /// For each, the mean over the folds of the AUC on the fold left out of the tree that was grown
    /// without it and pruned at the same price; with a `max_fpr` below 1 the partial AUC up to it,
    /// standardised to 1/2 for a ranking that says nothing.
    pub mean_auc: Vec<f64>,
    /// Standard errors of the means.
    pub standard_error: Vec<f64>,
    /// Index of the step that was kept.
    pub chosen: usize,
}

impl CrossValidation {
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

/// Prunes the trees that were grown without each fold along their paths, and scores every pruned tree on
/// the fold left out (DECISIONS E18, T13, T14). What is averaged is the AUC up to `max_fpr`.
pub(in crate::tree) fn cross_validate(
    tree: &RankingTree,
    without: Vec<WithoutFold>,
    max_fpr: f64,
    one_standard_error: bool,
) -> CrossValidation {
    let steps = tree.pruning_path();
    // Between two prices the tree is the same, so their geometric mean stands for all of them.
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
