//! Trees that are searched instead of grown, and the choice of their number of leaves.

use super::grower::Growth;
use super::{TreeRankModel, TreeRankParams};
use crate::interrupt::PartCounter;
use crate::tree::prune::{CrossValidation, PruningRule, SizePath, Validation, ValidationParams};
use crate::{Interrupt, RankError, parallel};

/// Searches trees of up to the largest number of leaves, and chooses among them by the rule in
/// `params`.
pub(super) fn search_and_choose<G: Growth>(
    rows: &G,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    let max_fpr = params.grow.max_fpr;
    let largest = |subset: &G::Subset| {
        let mut trees = rows.search(subset)?;
        Ok(TreeRankModel::unpruned(trees.pop().expect("there is a tree of one leaf")))
    };
    // The path of the trees found on some rows, and their areas on others.
    let judged = |[kept, left_out]: &[G::Subset; 2]| {
        let trees = rows.search(kept)?;
        let path = SizePath::of(&trees, max_fpr);
        let area = |&place: &usize| {
            let tree = &trees[place];
            Ok(tree.auc_up_to(max_fpr, &rows.sums_of_nodes(tree, left_out)?))
        };
        let areas = path.places.iter().map(area).collect::<Result<Vec<f64>, RankError>>()?;
        Ok((trees, path, areas))
    };
    match &params.pruning {
        None | Some(PruningRule::Penalty(_)) => largest(&rows.all()),
        Some(PruningRule::CrossValidation(pruning)) => {
            let folds = rows.folds(pruning.n_folds, pruning.seed)?;
            if folds.len() < 2 {
                return largest(&rows.all());
            }
            let done = PartCounter::new(interrupt, "fold", folds.len());
            let mut trees = rows.search(&rows.all())?;
            let SizePath { steps, places } = SizePath::of(&trees, max_fpr);
            let of_folds = parallel::try_map(folds.iter().collect(), |fold| {
                let (_, path, areas) = judged(fold)?;
                done.add()?;
                Ok::<_, RankError>((path, areas))
            })?;
            let at =
                |price: f64| of_folds.iter().map(move |(path, areas)| areas[path.step_at(price)]);
            let found = CrossValidation::by_price(steps, pruning.one_standard_error, |price| {
                at(price).collect()
            });
            let tree = trees.swap_remove(places[found.chosen]);
            Ok(TreeRankModel { cross_validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
        Some(PruningRule::Validation(ValidationParams { fraction, seed })) => {
            let Some(parts) = rows.hold_out(*fraction, *seed)? else {
                return largest(&rows.all());
            };
            let (mut trees, SizePath { steps, places }, auc) = judged(&parts)?;
            let found = Validation::of_steps(steps, auc);
            let tree = trees.swap_remove(places[found.chosen]);
            Ok(TreeRankModel { validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
    }
}
