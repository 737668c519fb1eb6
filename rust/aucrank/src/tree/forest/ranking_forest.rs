//! A forest of ranking trees, whose scores or rankings are put together (paper 2 secs. 7 and 8;
//! DECISIONS T29).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::consensus::Consensus;
use super::saved::SavedForest;
use super::scorer::{Scorer, TILE_ROWS, Tile};
use super::votes::Votes;
use crate::data::{Binned, Columns};
use crate::tree::model::RankingTree;
use crate::{RankError, parallel};

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
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "SavedForest<'_>")]
pub struct RankingForest {
    pub(in crate::tree) trees: Vec<RankingTree>,
    pub(in crate::tree) aggregation: Aggregation,
    pub(in crate::tree) seed: u64,
    pub(in crate::tree) consensus: Option<Consensus>,
    pub(in crate::tree) calibration: Option<Calibration>,
    pub(in crate::tree) out_of_bag: Option<OutOfBag>,
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

    /// For each tree, the places of the leaves of some training rows.
    pub(in crate::tree) fn leaves_of(&self, binned: &Binned, rows: &[u32]) -> Vec<Vec<u32>> {
        let asked = Asked::new(self, 0..self.trees.len());
        let recoding = asked.scorer.recoding(binned);
        let mut tile = Tile::default();
        asked.scorer.recode_rows(binned, &recoding, rows, &mut tile);
        let leaves = |tree| {
            let mut leaves = vec![0; rows.len()];
            asked.scorer.leaves(tree, &tile, &mut leaves);
            leaves
        };
        (0..self.trees.len()).map(leaves).collect()
    }

    /// Score of each row; positive exactly where [`RankingForest::probability`] is above one half.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let middle = self.middle();
        self.raw_scores(columns, |score| score - middle)
    }

    /// What the trees say of a row whose score is 0.
    pub(in crate::tree) fn middle(&self) -> f64 {
        self.calibration.as_ref().map_or(0.5, Calibration::middle)
    }

    /// Probability of the positive class of each row: the mean share of positives of its leaves;
    /// for rankings, what the training rows say of the score, made monotone by pooling adjacent
    /// violators.
    ///
    /// # Errors
    ///
    /// As [`RankingForest::score`].
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        match &self.calibration {
            // Rounded as the score is, so that rows of one score have one probability.
            None => self.raw_scores(columns, |mean| (mean - 0.5) + 0.5),
            Some(calibration) => self.raw_scores(columns, |score| calibration.probability(score)),
        }
    }

    fn raw_scores(
        &self,
        columns: &Columns<'_>,
        form: impl Fn(f64) -> f64 + Sync,
    ) -> Result<Vec<f64>, RankError> {
        self.trees[0].check_columns(columns)?;
        let asked = Asked::new(self, 0..self.trees.len());
        let mut out = vec![0.0; columns.n_rows()];
        let new_scratch = || (Tile::default(), vec![0; TILE_ROWS]);
        let of_tile = |(tile, leaves): &mut (Tile, Vec<_>), (chunk, out): (usize, &mut [f64])| {
            let start = chunk * TILE_ROWS;
            if !asked.scorer.code_rows(columns, start..start + out.len(), tile) {
                return true;
            }
            let mut votes = Votes::new(self, out.len());
            let leaves = &mut leaves[..out.len()];
            for (tree, values) in asked.values.iter().enumerate() {
                asked.scorer.leaves(tree, tile, leaves);
                votes.add(self, tree, values, leaves, |_| true);
            }
            for (out, score) in out.iter_mut().zip(votes.scores(self)) {
                *out = form(score.expect("every tree has voted"));
            }
            false
        };
        let tiles = out.chunks_mut(TILE_ROWS).enumerate().collect();
        if parallel::map_with(tiles, 4, new_scratch, of_tile).contains(&true) {
            return Err(columns.refusal());
        }
        Ok(out)
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

/// Trees that are asked together, with the value of each of their leaves.
pub(in crate::tree) struct Asked {
    pub(in crate::tree) scorer: Scorer,
    pub(in crate::tree) values: Vec<Vec<f64>>,
}

impl Asked {
    pub(in crate::tree) fn new(forest: &RankingForest, trees: Range<usize>) -> Self {
        let trees = &forest.trees[trees];
        let scorer = Scorer::new(trees);
        let values = trees.iter().map(|tree| forest.leaf_values(tree)).collect();
        Self { scorer, values }
    }
}
