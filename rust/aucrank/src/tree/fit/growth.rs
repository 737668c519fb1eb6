//! What a tree is grown on and pruned by, wherever the rows are.

use super::params::TreeRankParams;
use super::tree_rank_model::TreeRankModel;
use crate::data::ClassSums;
use crate::interrupt::PartCounter;
use crate::tree::model::RankingTree;
use crate::tree::prune::{
    CrossValidation, CvParams, PruningPath, PruningRule, Validation, ValidationParams,
    cross_validate, penalize,
};
use crate::{Interrupt, RankError};

/// Rows on which trees are grown.
pub(super) trait Growth: Sync {
    /// Some of the rows, by what tells them from the others.
    type Subset: Sync;

    /// All rows of positive weight.
    fn all(&self) -> Self::Subset;

    /// For each fold the rows outside and those inside; fewer than two where a class has a single
    /// distinct row.
    fn folds(&self, n_folds: u16, seed: u64) -> Result<Vec<[Self::Subset; 2]>, RankError>;

    /// A share of the rows of each class held out, after the others; `None` where a class has a single
    /// distinct row.
    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Self::Subset; 2]>, RankError>;

    /// Grows a tree on some of the rows.
    fn grow(&self, rows: &Self::Subset) -> Result<RankingTree, RankError>;

    /// Class sums of other rows in every node of a tree.
    fn sums_of_nodes(
        &self,
        tree: &RankingTree,
        rows: &Self::Subset,
    ) -> Result<Vec<ClassSums>, RankError>;

    /// Lets go of what is kept elsewhere for a tree that was grown to be measured.
    fn forget(&self, _tree: &RankingTree) {}
}

/// Grows a tree, and prunes it as `params` say.
pub(super) fn grow_and_prune<G: Growth>(
    rows: &G,
    params: &TreeRankParams,
    interrupt: &Interrupt,
) -> Result<TreeRankModel, RankError> {
    match &params.pruning {
        None => Ok(TreeRankModel::unpruned(rows.grow(&rows.all())?)),
        Some(PruningRule::CrossValidation(pruning)) => {
            let tree = rows.grow(&rows.all())?;
            let folds = rows.folds(pruning.n_folds, pruning.seed)?;
            if folds.len() < 2 {
                return Ok(TreeRankModel::unpruned(tree));
            }
            let max_fpr = params.grow.max_fpr;
            let found = cross_validate_on(rows, &tree, &folds, max_fpr, pruning, interrupt)?;
            let tree = PruningPath::of(&tree).tree(&tree, found.chosen);
            Ok(TreeRankModel { cross_validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
        Some(PruningRule::Penalty(pruning)) => {
            let tree = rows.grow(&rows.all())?;
            let (tree, found) = penalize(&tree, params.complexity()?, pruning, interrupt)?;
            Ok(TreeRankModel { penalization: Some(found), ..TreeRankModel::unpruned(tree) })
        }
        Some(PruningRule::Validation(ValidationParams { fraction, seed })) => {
            let Some([kept, held_out]) = rows.hold_out(*fraction, *seed)? else {
                return Ok(TreeRankModel::unpruned(rows.grow(&rows.all())?));
            };
            let tree = rows.grow(&kept)?;
            let sums = rows.sums_of_nodes(&tree, &held_out)?;
            let (tree, found) = Validation::on_sums(&tree, &sums, params.grow.max_fpr);
            Ok(TreeRankModel { validation: Some(found), ..TreeRankModel::unpruned(tree) })
        }
    }
}

/// Cross-validates the size of a tree.
fn cross_validate_on<G: Growth>(
    rows: &G,
    tree: &RankingTree,
    folds: &[[G::Subset; 2]],
    max_fpr: f64,
    params: &CvParams,
    interrupt: &Interrupt,
) -> Result<CrossValidation, RankError> {
    let done = PartCounter::new(interrupt, "fold", folds.len());
    let without = |fold: u16| {
        let [others, inside] = &folds[usize::from(fold)];
        let tree = rows.grow(others)?;
        let sums = rows.sums_of_nodes(&tree, inside)?;
        rows.forget(&tree);
        done.add()?;
        Ok((tree, sums))
    };
    let all = (0..folds.len() as u16).collect();
    cross_validate(tree, all, max_fpr, params.one_standard_error, without)
}
