//! What a tree is grown on and pruned by, wherever the rows are.

use super::params::TreeRankParams;
use super::tree_rank_model::TreeRankModel;
use crate::data::ClassSums;
use crate::interrupt::PartCounter;
use crate::tree::model::RankingTree;
use crate::tree::prune::{
    PruningPath, PruningRule, Validation, ValidationParams, WithoutFold, cross_validate, penalize,
};
use crate::{Interrupt, RankError, parallel};

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

    /// Grows a tree on all rows, and one without each fold.
    fn grow_with_folds(
        &self,
        folds: &[[Self::Subset; 2]],
        done: &PartCounter<'_>,
    ) -> Result<(RankingTree, Vec<WithoutFold>), RankError> {
        let tree = self.grow(&self.all())?;
        let without = |fold: &[Self::Subset; 2]| self.grow_without(fold, done);
        Ok((tree, parallel::try_map(folds.iter().collect(), without)?))
    }

    /// Grows a tree without a fold.
    fn grow_without(
        &self,
        [others, inside]: &[Self::Subset; 2],
        done: &PartCounter<'_>,
    ) -> Result<WithoutFold, RankError> {
        let tree = self.grow(others)?;
        let sums = self.sums_of_nodes(&tree, inside)?;
        self.forget(&tree);
        done.add()?;
        Ok((tree, sums))
    }
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
            let folds = rows.folds(pruning.n_folds, pruning.seed)?;
            if folds.len() < 2 {
                return Ok(TreeRankModel::unpruned(rows.grow(&rows.all())?));
            }
            let done = PartCounter::new(interrupt, "fold", folds.len());
            let (tree, without) = rows.grow_with_folds(&folds, &done)?;
            let one_standard_error = pruning.one_standard_error;
            let found = cross_validate(&tree, without, params.grow.max_fpr, one_standard_error);
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
