//! Trees on rows that a learner reweights as it goes.

use std::sync::Arc;

use super::grower::Grower;
use super::params::TreeRankParams;
use crate::data::{Binned, Columns, Labels, ReweightedRows};
use crate::tree::model::RankingTree;
use crate::{Interrupt, RankError};

/// Grows trees on masses of rows, without pruning; what does not depend on the masses is found once.
#[derive(Debug)]
pub(crate) struct ReweightedTrees<'a> {
    grower: Grower<'a, ()>,
    /// Whether trees can ask some of the features only.
    takes_features: bool,
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
        let mut grower = Grower::new(columns, binned, labels, params, None, interrupt)?;
        // Masses are in no unit of the weights.
        Arc::make_mut(&mut grower.sample.frame).exponent = 0;
        let takes_features = params.split.rule().is_of_stumps();
        Ok(Self { grower, takes_features, rows: (0..labels.n_rows() as u32).collect() })
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
        if let Some(features) = features.filter(|_| !self.takes_features) {
            return Err(RankError::BadParameter {
                name: "max_features",
                value: features.len().to_string(),
                rule: "left out for rules such as cubes, which ask all features at once",
            });
        }
        let row_tally = ReweightedRows { labels: self.grower.sample.labels, masses };
        let features = features.map(<[usize]>::to_vec);
        self.grower.counted_by(row_tally, features).grow(rows, seed, interrupt)
    }

    /// Place in the ranking of the leaf of every row.
    ///
    /// # Errors
    ///
    /// What the split rule runs into.
    pub(crate) fn places(&self, tree: &RankingTree) -> Result<Vec<u32>, RankError> {
        self.grower.places(tree, &self.rows)
    }
}
