//! What a forest says of rows.

use std::ops::Range;

use super::ranking_forest::RankingForest;
use super::row_codes::Tile;
use super::scorer::{Scorer, TILE_ROWS};
use super::votes::Votes;
use crate::data::{Binned, Columns};
use crate::{RankError, parallel};

/// Trees that are asked together, with the value of each of their leaves.
#[derive(Debug)]
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

impl RankingForest {
    /// Score of each row; positive exactly where [`RankingForest::probability`] is above one half.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let middle = self.middle();
        self.raw_scores(columns, |score| score - middle)
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
        let asked = self.prepared.get(|| Asked::new(self, 0..self.trees.len()));
        let mut out = vec![0.0; columns.n_rows()];
        let of_tile = |(tile, leaves): &mut (Tile, Vec<_>), (chunk, out): (usize, &mut [f64])| {
            let start = chunk * TILE_ROWS;
            if !asked.scorer.coder.code(columns, start..start + out.len(), tile) {
                return true;
            }
            let mut votes = Votes::new(self, out.len());
            if out.len() == 1 {
                leaves.resize(self.trees.len(), 0);
                asked.scorer.leaves_of_row(tile, leaves);
                for (tree, (values, leaf)) in asked.values.iter().zip(leaves.chunks(1)).enumerate()
                {
                    votes.add(self, tree, values, leaf, |_| true);
                }
            } else {
                leaves.resize(out.len(), 0);
                for (tree, values) in asked.values.iter().enumerate() {
                    asked.scorer.leaves(tree, tile, leaves);
                    votes.add(self, tree, values, leaves, |_| true);
                }
            }
            for (out, score) in out.iter_mut().zip(votes.scores(self)) {
                *out = form(score.expect("every tree has voted"));
            }
            false
        };
        let tiles = out.chunks_mut(TILE_ROWS).enumerate().collect();
        if parallel::map_with(tiles, 4, Default::default, of_tile).contains(&true) {
            return Err(columns.refusal());
        }
        Ok(out)
    }

    /// For each tree, the places of the leaves of some training rows.
    pub(in crate::tree) fn leaves_of(&self, binned: &Binned, rows: &[u32]) -> Vec<Vec<u32>> {
        let asked = Asked::new(self, 0..self.trees.len());
        let recoding = asked.scorer.coder.recoding(binned);
        let mut tile = Tile::default();
        asked.scorer.coder.recode(binned, &recoding, rows, &mut tile);
        let leaves = |tree| {
            let mut leaves = vec![0; rows.len()];
            asked.scorer.leaves(tree, &tile, &mut leaves);
            leaves
        };
        (0..self.trees.len()).map(leaves).collect()
    }
}
