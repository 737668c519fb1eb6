//! Trees that are searched, and their choice against those that grow.

use super::grower::{Growth, Searching, grow_and_prune};
use super::{TreeRankModel, TreeRankParams};
use crate::data::ClassSums;
use crate::tree::model::RankingTree;
use crate::tree::prune::{PruningRule, ValidationParams};
use crate::tree::search::{SearchParams, SearchedTree};
use crate::{Interrupt, RankError, parallel};

/// Searches a tree, and keeps it if it ranks rows that it was not fitted to better than the pruned
/// tree that grows: where the rows are few, what a search gains may be their noise.
pub(super) fn search_and_choose<G: Searching>(
    rows: &G,
    search: &SearchParams,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let max_fpr = params.grow.max_fpr;
    let area_on = |tree: &RankingTree, others: &G::Subset| {
        Ok::<_, RankError>(tree.auc_up_to(max_fpr, &rows.sums_of_nodes(tree, others)?))
    };
    let on_all = || rows.search(&rows.all(), search);
    let one = &SearchParams { tolerance: None, ..*search };
    let (mut model, SearchedTree { tree, bound, near_best }, is_kept) = match &params.pruning {
        None | Some(PruningRule::Penalty(_)) => {
            let searched = on_all()?;
            (TreeRankModel::unpruned(searched.tree.clone()), searched, true)
        }
        Some(PruningRule::CrossValidation(pruning)) => {
            let mut model = grow_and_prune(rows, params, interrupt)?;
            let searched = on_all()?;
            if let Some(found) = model.cross_validation.take() {
                let folds = rows.folds(pruning.n_folds, pruning.seed)?;
                let of_folds = parallel::try_map(folds.iter().collect(), |[kept, left_out]| {
                    area_on(&rows.search(kept, one)?.tree, left_out)
                })?;
                model.cross_validation = Some(found.against(&searched.tree, of_folds));
            }
            let is_kept = model.cross_validation.as_ref().is_none_or(|found| found.chosen == 0);
            (model, searched, is_kept)
        }
        Some(PruningRule::Validation(ValidationParams { fraction, seed })) => {
            let mut model = grow_and_prune(rows, params, interrupt)?;
            let parts = rows.hold_out(*fraction, *seed)?;
            let searched = match (parts, model.validation.take()) {
                (Some([kept, held_out]), Some(found)) => {
                    let searched = rows.search(&kept, one)?;
                    let area = area_on(&searched.tree, &held_out)?;
                    model.validation = Some(found.against(&searched.tree, area));
                    searched
                }
                _ => on_all()?,
            };
            let is_kept = model.validation.as_ref().is_none_or(|found| found.chosen == 0);
            (model, searched, is_kept)
        }
    };
    if is_kept {
        model.tree = tree;
    }
    let reached = training_auc_up_to(max_fpr, &model.tree);
    // The cuts move beyond the bins of the search, so that the tree may exceed the bound.
    model.gap = bound.map(|bound| (bound - reached).max(0.0));
    model.near_best = near_best;
    Ok(model)
}

/// Rows on which trees are searched wherever others would grow, and pruned as those are.
pub(super) struct SearchedNotGrown<'a, G> {
    pub(super) rows: &'a G,
    pub(super) search: &'a SearchParams,
}

impl<G: Searching> Growth for SearchedNotGrown<'_, G> {
    type Subset = G::Subset;

    fn all(&self) -> G::Subset {
        self.rows.all()
    }

    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[G::Subset; 2]>, RankError> {
        self.rows.folds(n_folds, seed)
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[G::Subset; 2]>, RankError> {
        self.rows.hold_out(share, seed)
    }

    fn grow(&self, rows: &G::Subset) -> Result<RankingTree, RankError> {
        Ok(self.rows.search(rows, self.search)?.tree)
    }

    fn sums_of_nodes(
        &self,
        tree: &RankingTree,
        rows: &G::Subset,
    ) -> Result<Vec<ClassSums>, RankError> {
        self.rows.sums_of_nodes(tree, rows)
    }
}

/// AUC of the training rows up to a false positive rate, standardised.
pub(super) fn training_auc_up_to(max_fpr: f64, tree: &RankingTree) -> f64 {
    let sums: Vec<_> = tree.nodes().iter().map(|node| node.sums).collect();
    tree.auc_up_to(max_fpr, &sums)
}
