//! From columns to a pruned ranking tree.

use super::cube_level::fit_best_level;
use super::grower::Grower;
use super::growth::grow_and_prune;
use super::in_memory::InMemory;
use super::params::TreeRankParams;
use super::tree_rank_model::TreeRankModel;
use super::with_rates::WithRates;
use crate::data::{Binned, Columns, CountedRows, Labels, RareLevels, RowTally, WeightedRows};
use crate::external::{ExternalFitter, keep_asked};
use crate::tree::prune::PruningRule;
use crate::tree::split::{DyadicParams, SplitRule};
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
/// ([`RankingTree::score`](crate::tree::RankingTree::score)).
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
    let fit = |params: &TreeRankParams| {
        fit_binned(columns, &binned, labels, params, classifiers, interrupt)
    };
    match params.split {
        SplitRule::Dyadic(DyadicParams { level: None }) => fit_best_level(params, fit),
        _ => fit(params),
    }
}

fn fit_binned<'a>(
    columns: &'a Columns<'a>,
    binned: &'a Binned,
    labels: &'a Labels<'a>,
    params: &'a TreeRankParams,
    classifiers: Option<&'a dyn ExternalFitter>,
    interrupt: &'a Interrupt,
) -> Result<TreeRankModel, RankError> {
    let grower = Grower::new(columns, binned, labels, params, classifiers, interrupt)?;
    let rare = params.rare_levels(columns, labels, params.seed, interrupt)?;
    if labels.weights().is_none() {
        fit_counted(&grower, CountedRows(labels.positive()), rare, params, interrupt)
    } else {
        fit_counted(&grower, WeightedRows(labels), rare, params, interrupt)
    }
}

fn fit_counted<'a, R: RowTally + Copy>(
    grower: &Grower<'a, ()>,
    row_tally: R,
    rare: Option<RareLevels>,
    params: &'a TreeRankParams,
    interrupt: &'a Interrupt,
) -> Result<TreeRankModel, RankError> {
    let grower = grower.counted_by(row_tally, None);
    let rows = InMemory { grower, seed: params.seed, interrupt };
    match rare {
        None => grow_and_prune(&rows, params, interrupt),
        Some(rare) => {
            grow_and_prune(&WithRates { rows, row_tally, rare, params }, params, interrupt)
        }
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
