//! A forest of ranking trees, whose scores or rankings are put together (paper 2 secs. 7 and 8;
//! DECISIONS T29).

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::consensus::Consensus;
use super::score::Asked;
use crate::prepared::Prepared;
use crate::tree::model::RankingTree;

/// How the trees make one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The mean of the shares of positives in the leaves.
    Eta,
    /// The mean of the ranks: the share of a tree's rows that lie below the leaf, and half of its
    /// own.
    RankMean,
    /// Their median.
    RankMedian,
    /// A consensus of the rankings in the sense of Kendall.
    Kendall,
}

/// How well trees rank rows that they have not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfBag {
    /// AUC of the scores of rows, each from the trees that have not seen it.
    pub auc: f64,
    /// Variance of the AUC, by `DeLong`; `None` where a class has one row.
    pub variance: Option<f64>,
    /// Effective numbers of rows, positive and negative.
    pub effective_rows: [f64; 2],
    /// Numbers of trees at which early stopping looked.
    pub path_trees: Vec<usize>,
    /// AUC of the forest of so many trees.
    pub path_aucs: Vec<f64>,
}

/// A forest of ranking trees.
#[derive(Debug, Clone, PartialEq)]
pub struct RankingForest {
    pub(in crate::tree) trees: Vec<RankingTree>,
    pub(in crate::tree) aggregation: Aggregation,
    pub(in crate::tree) seed: u64,
    /// Rows that each side of a split keeps in the trees grown last; `None` in a file that does not tell.
    pub(in crate::tree) min_samples_leaf: Option<u64>,
    pub(in crate::tree) consensus: Option<Consensus>,
    pub(in crate::tree) calibration: Option<Calibration>,
    pub(in crate::tree) out_of_bag: Option<OutOfBag>,
    pub(in crate::tree) prepared: Prepared<Asked>,
}

impl RankingForest {
    /// The trees.
    #[must_use]
    pub fn trees(&self) -> &[RankingTree] {
        &self.trees
    }

    /// How the trees make one score.
    #[must_use]
    pub fn aggregation(&self) -> Aggregation {
        self.aggregation
    }

    /// What seeds its trees.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Rows that each side of a split keeps in the trees that were grown last, chosen where there was a
    /// choice; `None` for a forest from a file of an earlier version, which does not tell.
    #[must_use]
    pub fn min_samples_leaf(&self) -> Option<u64> {
        self.min_samples_leaf
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.trees[0].n_levels()
    }

    /// How well the trees rank rows that they have not seen, if it was asked for and every class had
    /// such rows.
    #[must_use]
    pub fn out_of_bag(&self) -> Option<&OutOfBag> {
        self.out_of_bag.as_ref()
    }

    /// What a tree says of the rows of each of its leaves, in ranking order.
    pub(in crate::tree) fn leaf_values(&self, tree: &RankingTree) -> Vec<f64> {
        match self.aggregation {
            Aggregation::Eta => tree.leaf_values(),
            _ => tree.leaf_ranks(),
        }
    }

    /// What the trees say of a row whose score is 0.
    pub(in crate::tree) fn middle(&self) -> f64 {
        self.calibration.as_ref().map_or(0.5, Calibration::middle)
    }

    /// For each feature, its importance in each tree in units of AUC (the square root of
    /// [`RankingTree::importances`]): mean and standard deviation over the trees.
    #[must_use]
    pub fn importances(&self) -> (Vec<f64>, Vec<f64>) {
        let by_tree: Vec<Vec<f64>> = self.trees.iter().map(RankingTree::importances).collect();
        let n_trees = by_tree.len() as f64;
        let of_feature = |feature: usize| {
            let values = || by_tree.iter().map(|tree| tree[feature].sqrt());
            let mean = values().sum::<f64>() / n_trees;
            let squares: f64 = values().map(|value| (value - mean).powi(2)).sum();
            (mean, (squares / n_trees).sqrt())
        };
        (0..self.n_levels().len()).map(of_feature).unzip()
    }

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        let Some(first) = self.trees.first() else {
            return Err("the forest has no trees".to_owned());
        };
        if self.min_samples_leaf == Some(0) {
            return Err("leaves have no rows".to_owned());
        }
        // Frames of many features may be shared by many small trees.
        let mut frames = HashSet::new();
        for (number, tree) in self.trees.iter().enumerate() {
            let named = |what| format!("tree {number}: {what}");
            if frames.insert(Arc::as_ptr(tree.frame())) {
                tree.frame().check().map_err(named)?;
                if tree.n_levels() != first.n_levels() {
                    return Err(format!("tree {number} has other features than the first"));
                }
            }
            tree.check_nodes().map_err(named)?;
            if !tree.asks_single_features() {
                return Err(format!("tree {number} does not split by questions to features"));
            }
        }
        if self.consensus.is_some() != (self.aggregation == Aggregation::Kendall) {
            return Err("a consensus of rankings belongs to the aggregation \"kendall\"".to_owned());
        }
        if self.calibration.is_some() == (self.aggregation == Aggregation::Eta) {
            return Err("a calibration belongs to aggregated rankings".to_owned());
        }
        if let Some(consensus) = &self.consensus {
            let n_leaves: Vec<usize> = self.trees.iter().map(RankingTree::n_leaves).collect();
            consensus.check(&n_leaves)?;
        }
        self.calibration.as_ref().map_or(Ok(()), Calibration::check)
    }
}
