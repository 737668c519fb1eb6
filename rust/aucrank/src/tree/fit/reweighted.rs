//! Trees on rows that a learner reweights as it goes.

use std::sync::Arc;

use super::tree_rank::{Sample, TreeRankParams};
use crate::data::{Binned, Columns, Labels, ReweightedRows};
use crate::tree::model::RankingTree;
use crate::{Interrupt, RankError};

/// Grows trees on masses of rows, without pruning; what does not depend on the masses is found once.
#[derive(Debug)]
pub(crate) struct ReweightedTrees<'a> {
    sample: Sample<'a, ()>,
    rows: Vec<u32>,
}

impl<'a> ReweightedTrees<'a> {
    /// The rows of `binned`; of `params` the binning and the pruning have no part in it.
    pub(crate) fn new(
        columns: &'a Columns<'a>,
        binned: &'a Binned,
        labels: &'a Labels<'a>,
        params: &'a TreeRankParams,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        params.check_for(columns)?;
        let mut sample = Sample::new(columns, binned, labels, (), params, None, interrupt)?;
        // Masses are in no unit of the weights.
        Arc::make_mut(&mut sample.frame).exponent = 0;
        Ok(Self { sample, rows: (0..labels.n_rows() as u32).collect() })
    }

    /// Grows a tree on some of the rows, given the mass of every row; it asks the features given, or
    /// all.
    pub(crate) fn grow(
        &self,
        masses: &[u64],
        rows: Vec<u32>,
        features: Option<&[usize]>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        if let Some(features) = features.filter(|_| self.sample.cubes.is_some()) {
            return Err(RankError::BadParameter {
                name: "max_features",
                value: features.len().to_string(),
                rule: "left out where trees split by cubes, which ask all features at once",
            });
        }
        let row_tally = ReweightedRows { labels: self.sample.labels, masses };
        let sample = self.sample.counted_by(row_tally, features);
        sample.grow(rows, seed, interrupt)
    }

    /// Place in the ranking of the leaf of every row.
    pub(crate) fn places(&self, tree: &RankingTree) -> Vec<u32> {
        self.sample.places(tree, &self.rows)
    }
}
