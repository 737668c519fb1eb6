//! Trees that are searched, and their choice against those that grow.

use super::grower::{Growth, grow_and_prune};
use super::{TreeRankModel, TreeRankParams};
use crate::tree::model::RankingTree;
use crate::tree::prune::{PruningRule, ValidationParams};
use crate::tree::search::SearchedTree;
use crate::{Interrupt, RankError, parallel};

/// Searches a tree, and keeps it if it ranks rows that it was not fitted to better than the pruned
/// tree that grows: where the rows are few, what a search gains may be their noise.
pub(super) fn search_and_choose<G: Growth>(
    rows: &G,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let max_fpr = params.grow.max_fpr;
    let area_on = |tree: &RankingTree, others: &G::Subset| {
        Ok::<_, RankError>(tree.auc_up_to(max_fpr, &rows.sums_of_nodes(tree, others)?))
    };
    let mut grown = match params.pruning {
        None | Some(PruningRule::Penalty(_)) => None,
        Some(_) => Some(grow_and_prune(rows, params, interrupt)?),
    };
    let (mut searched, mut is_kept) = (None, true);
    if let Some(PruningRule::Validation(ValidationParams { fraction, seed })) = &params.pruning
        && let Some([kept, held_out]) = rows.hold_out(*fraction, *seed)?
        && let Some(model) = &mut grown
        && let Some(found) = model.validation.take()
    {
        let other = rows.search(&kept)?;
        let found = found.against(&other.tree, area_on(&other.tree, &held_out)?);
        is_kept = found.chosen == 0;
        (model.validation, searched) = (Some(found), Some(other));
    }
    let SearchedTree { tree, bound } = match searched {
        Some(searched) => searched,
        None => rows.search(&rows.all())?,
    };
    if let Some(PruningRule::CrossValidation(pruning)) = &params.pruning
        && let Some(model) = &mut grown
        && let Some(found) = model.cross_validation.take()
    {
        let folds = rows.folds(pruning.n_folds, pruning.seed)?;
        let of_folds = parallel::try_map(folds.iter().collect(), |[kept, left_out]| {
            area_on(&rows.search(kept)?.tree, left_out)
        })?;
        let found = found.against(&tree, of_folds);
        is_kept = found.chosen == 0;
        model.cross_validation = Some(found);
    }
    let mut model = match grown {
        Some(model) if is_kept => TreeRankModel { tree, ..model },
        Some(model) => model,
        None => TreeRankModel::unpruned(tree),
    };
    let reached = training_auc_up_to(max_fpr, &model.tree);
    // The cuts move beyond the bins of the search, so that the tree may exceed the bound.
    model.gap = bound.map(|bound| (bound - reached).max(0.0));
    Ok(model)
}

/// AUC of the training rows up to a false positive rate, standardised.
pub(super) fn training_auc_up_to(max_fpr: f64, tree: &RankingTree) -> f64 {
    let sums: Vec<_> = tree.nodes().iter().map(|node| node.sums).collect();
    tree.auc_up_to(max_fpr, &sums)
}
