//! From columns to a pruned ranking tree.

use super::grower::Grower;
use super::params::TreeRankParams;
use super::tree_rank_model::TreeRankModel;
use crate::data::{
    Binned, Columns, CountedRows, Folds, Labels, NO_FOLD, RowTally, WeightedRows, hold_out,
};
use crate::external::{ExternalFitter, keep_asked};
use crate::interrupt::PartCounter;
use crate::tree::model::RankingTree;
use crate::tree::prune::{
    CrossValidation, CvParams, PruningPath, PruningRule, Validation, ValidationParams,
    cross_validate, penalize,
};
use crate::tree::sample::Sample;
use crate::{Interrupt, RankError};

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
/// [`SplitRule::Classifier`]: crate::tree::SplitRule::Classifier
///
/// The tree is known by the classifiers that `classifiers` is told to keep, and scores with them
/// ([`RankingTree::score`]).
///
/// # Errors
///
/// As [`fit`], and what the classifiers run into.
pub fn fit_by_classifiers(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &TreeRankParams,
    classifiers: &dyn ExternalFitter,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let mut model = fit_with(columns, labels, params, Some(classifiers), interrupt)?;
    keep_asked(model.tree.classifiers_mut(), Some(classifiers));
    Ok(model)
}

fn fit_with(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &TreeRankParams,
    classifiers: Option<&dyn ExternalFitter>,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    params.check_for(columns)?;
    let columns = &columns.until(interrupt);
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    let grower = Grower::new(columns, &binned, labels, params, classifiers, interrupt)?;
    if labels.weights().is_none() {
        grow_and_prune(&grower.counted_by(CountedRows(labels.positive()), None), params, interrupt)
    } else {
        grow_and_prune(&grower.counted_by(WeightedRows(labels), None), params, interrupt)
    }
}

/// As [`fit`], with other rows to prune by than training rows held out: of the nested path the tree
/// of largest AUC on them is kept.
///
/// # Errors
///
/// [`RankError`] as of [`fit`]; [`RankError::InValidation`] for what is wrong with the other rows;
/// [`RankError::BadParameter`] unless the pruning rule is [`PruningRule::Validation`].
pub fn fit_validated(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    (other_columns, other_labels): (&Columns<'_>, &Labels<'_>),
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    if !matches!(params.pruning, Some(PruningRule::Validation(_))) {
        return Err(RankError::BadParameter {
            name: "pruning",
            value: "another rule".to_owned(),
            rule: "validation where rows to validate on are given",
        });
    }
    params.validate()?;
    let (columns, other_columns) = (&columns.until(interrupt), &other_columns.until(interrupt));
    // Before the tree is grown, which may take long.
    if let Some(err) = other_columns.infinite_value() {
        return Err(err.in_validation());
    }
    let unpruned = TreeRankParams { pruning: None, ..params.clone() };
    let grown = fit(columns, labels, &unpruned, interrupt)?.tree;
    let found = grown.best_up_to(params.grow.max_fpr, other_columns, other_labels);
    let (tree, found) = found.map_err(RankError::in_validation)?;
    Ok(TreeRankModel { validation: Some(found), ..TreeRankModel::unpruned(tree) })
}

fn grow_and_prune<R: RowTally + Copy>(
    grower: &Grower<'_, R>,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let Sample { columns, labels, .. } = grower.sample;
    let grow = |rows| grower.grow(rows, params.seed, interrupt);
    match &params.pruning {
        None => Ok(TreeRankModel::unpruned(grow(labels.rows())?)),
        Some(PruningRule::CrossValidation(pruning)) => {
            let tree = grow(labels.rows())?;
            let folds = Folds::deal(columns, labels, pruning.n_folds, pruning.seed, interrupt)?;
            if folds.n_folds < 2 {
                return Ok(TreeRankModel::unpruned(tree));
            }
            let found = cross_validate_on(grower, &tree, &folds, pruning, interrupt)?;
            let tree = PruningPath::of(&tree).tree(&tree, found.chosen);
            Ok(TreeRankModel { cross_validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
        Some(PruningRule::Penalty(pruning)) => {
            let tree = grow(labels.rows())?;
            let (tree, found) = penalize(&tree, params.complexity()?, pruning, interrupt)?;
            Ok(TreeRankModel { penalization: Some(found), ..TreeRankModel::unpruned(tree) })
        }
        Some(PruningRule::Validation(ValidationParams { fraction, seed })) => {
            let Some(parts) = hold_out(columns, labels, *fraction, *seed, interrupt)? else {
                return Ok(TreeRankModel::unpruned(grow(labels.rows())?));
            };
            let tree = grow(parts.kept)?;
            let sums = grower.held_out_sums(&tree, &parts.held_out)?;
            let (tree, found) = Validation::on_sums(&tree, &sums, params.grow.max_fpr);
            Ok(TreeRankModel { validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
    }
}

/// Cross-validates the size of a tree; the folds share the binned data.
fn cross_validate_on<R: RowTally + Copy>(
    grower: &Grower<'_, R>,
    tree: &RankingTree,
    folds: &Folds,
    params: &CvParams,
    interrupt: &Interrupt,
) -> Result<CrossValidation, RankError> {
    let rows = |fold: u16, inside: bool| -> Vec<u32> {
        let of_row = (0..).zip(&folds.of_row);
        let is_there = |&of: &u16| of != NO_FOLD && (of == fold) == inside;
        of_row.filter(|(_, of)| is_there(of)).map(|(row, _)| row).collect()
    };
    let done = PartCounter::new(interrupt, "fold", folds.n_folds.into());
    let without = |fold| {
        let tree = grower.grow(rows(fold, false), params.seed, interrupt)?;
        let sums = grower.held_out_sums(&tree, &rows(fold, true))?;
        grower.forget(&tree);
        done.add()?;
        Ok((tree, sums))
    };
    let all = (0..folds.n_folds).collect();
    let max_fpr = grower.sample.params.max_fpr;
    cross_validate(tree, all, max_fpr, params.one_standard_error, without)
}
