//! Trees that are searched instead of grown, and the choice of their number of leaves.

use super::grower::Growth;
use super::{TreeRankModel, TreeRankParams};
use crate::interrupt::PartCounter;
use crate::tree::prune::{CrossValidation, PruningRule, SizePath, Validation, ValidationParams};
use crate::tree::search::SearchedTrees;
use crate::{Interrupt, RankError, parallel};

/// Searches trees of up to the largest number of leaves, and chooses among them by the rule in
/// `params`.
pub(super) fn search_and_choose<G: Growth>(
    rows: &G,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let max_fpr = params.grow.max_fpr;
    let chosen = |mut found: SearchedTrees, place: usize| {
        let bound = found.bounds[place];
        TreeRankModel { bound, ..TreeRankModel::unpruned(found.trees.swap_remove(place)) }
    };
    let largest = |subset: &G::Subset| {
        let found = rows.search(subset)?;
        let last = found.trees.len() - 1;
        Ok(chosen(found, last))
    };
    // The path of the trees found on some rows, and their areas on others.
    let judged = |[kept, left_out]: &[G::Subset; 2]| {
        let found = rows.search(kept)?;
        let path = SizePath::of(&found.trees, max_fpr);
        let area = |&place: &usize| {
            let tree = &found.trees[place];
            Ok(tree.auc_up_to(max_fpr, &rows.sums_of_nodes(tree, left_out)?))
        };
        let areas = path.places.iter().map(area).collect::<Result<Vec<f64>, RankError>>()?;
        Ok((found, path, areas))
    };
    match &params.pruning {
        None | Some(PruningRule::Penalty(_)) => largest(&rows.all()),
        Some(PruningRule::CrossValidation(pruning)) => {
            let folds = rows.folds(pruning.n_folds, pruning.seed)?;
            if folds.len() < 2 {
                return largest(&rows.all());
            }
            let done = PartCounter::new(interrupt, "fold", folds.len());
            let found = rows.search(&rows.all())?;
            let SizePath { steps, places } = SizePath::of(&found.trees, max_fpr);
            let of_folds = parallel::try_map(folds.iter().collect(), |fold| {
                let (_, path, areas) = judged(fold)?;
                done.add()?;
                Ok::<_, RankError>((path, areas))
            })?;
            let one_standard_error = pruning.one_standard_error;
            let validation = CrossValidation::by_price(steps, one_standard_error, |price| {
                of_folds.iter().map(|(path, areas)| areas[path.step_at(price)]).collect()
            });
            let model = chosen(found, places[validation.chosen]);
            Ok(TreeRankModel { cross_validation: Some(validation), ..model })
        }
        Some(PruningRule::Validation(ValidationParams { fraction, seed })) => {
            let Some(parts) = rows.hold_out(*fraction, *seed)? else {
                return largest(&rows.all());
            };
            let (found, SizePath { steps, places }, auc) = judged(&parts)?;
            let validation = Validation::of_steps(steps, auc);
            let model = chosen(found, places[validation.chosen]);
            Ok(TreeRankModel { validation: Some(validation), ..model })
        }
    }
}
