//! From columns to a pruned ranking tree.

use serde::{Deserialize, Serialize};

use super::cross_validate::{CrossValidation, CvParams, Sample, cross_validate};
use super::grow::GrowParams;
use super::prune::PruningPath;
use super::ranking_tree::RankingTree;
use crate::data::{
    Binned, BinningParams, Columns, CountedRows, Folds, Labels, RowTally, WeightedRows,
};
use crate::{Interrupt, RankError};

/// Everything that a fit of a ranking tree can be told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitParams {
    /// How finely numeric features are cut.
    pub binning: BinningParams,
    /// When the tree stops growing.
    pub grow: GrowParams,
    /// How it is pruned, if at all.
    pub pruning: Option<CvParams>,
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
/// use aucrank::tree::{FitParams, GrowParams, LeafOrder, LeafRankParams, fit};
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
///         split: LeafRankParams::orthogonal(1),
///         leaf_order: LeafOrder::Tree,
///     },
///     pruning: None,
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
    params.grow.validate()?;
    if let Some(pruning) = &params.pruning {
        pruning.validate()?;
    }
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    let folds = params
        .pruning
        .map(|pruning| Folds::deal(columns, labels, pruning.n_folds, pruning.seed, interrupt))
        .transpose()?
        .filter(|folds| folds.n_folds > 1);
    if labels.weights().is_none() {
        let row_tally = CountedRows(labels.positive());
        let sample = Sample { binned: &binned, labels, row_tally };
        grow_and_prune(&sample, folds.as_ref(), params, interrupt)
    } else {
        let sample = Sample { binned: &binned, labels, row_tally: WeightedRows(labels) };
        grow_and_prune(&sample, folds.as_ref(), params, interrupt)
    }
}

fn grow_and_prune<R: RowTally + Copy>(
    sample: &Sample<'_, R>,
    folds: Option<&Folds>,
    params: &FitParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let tree = sample.grow(sample.labels.rows(), &params.grow, interrupt)?;
    let (Some(folds), Some(pruning)) = (folds, &params.pruning) else {
        return Ok(TreeRankModel { tree, cross_validation: None });
    };
    let found = cross_validate(sample, &tree, folds, &params.grow, pruning, interrupt)?;
    let tree = PruningPath::of(&tree).tree(&tree, found.chosen);
    Ok(TreeRankModel { tree, cross_validation: Some(found) })
}
