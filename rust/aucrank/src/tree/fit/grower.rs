//! A sample with its split rule: what grows trees.

use std::sync::Arc;

use super::params::TreeRankParams;
use crate::data::{Binned, ClassSums, Columns, Labels, RowTally};
use crate::external::ExternalFitter;
use crate::tree::model::RankingTree;
use crate::tree::sample::Sample;
use crate::tree::split::AnyPrepared;
use crate::{Interrupt, RankError};

/// Rows and the rule that splits them.
#[derive(Debug)]
pub(in crate::tree) struct Grower<'a, R> {
    pub(in crate::tree) sample: Sample<'a, R>,
    rule: Arc<AnyPrepared<'a>>,
}

impl<'a> Grower<'a, ()> {
    /// Of rows that are not counted yet.
    pub(in crate::tree) fn new(
        columns: &'a Columns<'a>,
        binned: &'a Binned,
        labels: &'a Labels<'a>,
        params: &'a TreeRankParams,
        classifiers: Option<&'a dyn ExternalFitter>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let mut sample = Sample::new(columns, binned, labels, &params.grow, &params.monotonic);
        let rule = params.split.prepare(&sample, params.seed, classifiers, interrupt)?;
        if let Some(grid) = rule.rule().grid() {
            Arc::make_mut(&mut sample.frame).grid = Some(grid.clone());
        }
        Ok(Self { sample, rule: Arc::new(rule) })
    }
}

impl<'a, R> Grower<'a, R> {
    /// The same rows counted in another way, for trees that ask some of the features.
    pub(in crate::tree) fn counted_by<Q>(
        &self,
        row_tally: Q,
        features: Option<Vec<usize>>,
    ) -> Grower<'a, Q> {
        let sample = self.sample.counted_by(row_tally, features);
        Grower { sample, rule: Arc::clone(&self.rule) }
    }

    /// Place in the ranking of the leaf of each of some rows.
    pub(in crate::tree) fn places(
        &self,
        tree: &RankingTree,
        rows: &[u32],
    ) -> Result<Vec<u32>, RankError> {
        self.rule.rule().places(self.sample.binned, tree, rows)
    }

    /// Lets go of what is kept elsewhere for a tree that was grown to be measured.
    pub(super) fn forget(&self, tree: &RankingTree) {
        self.rule.rule().forget(tree);
    }
}

impl<R: RowTally + Copy> Grower<'_, R> {
    /// Grows a tree on some of the rows.
    pub(in crate::tree) fn grow(
        &self,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        self.rule.grow(&self.sample, rows, seed, interrupt)
    }

    /// Class sums of other rows in every node of a tree.
    pub(super) fn held_out_sums(
        &self,
        tree: &RankingTree,
        rows: &[u32],
    ) -> Result<Vec<ClassSums>, RankError> {
        Ok(self.sample.sums_of_nodes(tree, rows, &self.places(tree, rows)?))
    }
}
