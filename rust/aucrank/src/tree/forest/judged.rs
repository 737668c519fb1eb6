//! What trees say of training rows that they have not seen.

use crate::parallel::prelude::*;

use super::bootstrap::RowSet;
use super::probability_steps::ProbabilitySteps;
use super::ranking_forest::{OutOfBag, RankingForest};
use super::row_codes::Tile;
use super::score::Asked;
use super::scorer::TILE_ROWS;
use super::votes::Votes;
use crate::data::{Binned, Labels};
use crate::roc::{DeLong, auc_up_to};
use crate::{Interrupt, RankError};

/// Trees that are asked together about the rows that they have not seen; also how often early
/// stopping looks.
pub(super) const BLOCK_TREES: usize = 10;

/// What trees say of training rows that they have not seen, or of all rows where each tree saw all.
pub(super) struct Judged {
    pub(super) rows: Vec<u32>,
    /// One for each tile of rows.
    votes: Vec<Votes>,
    pub(super) n_trees: usize,
}

impl Judged {
    pub(super) fn new(rows: Vec<u32>, forest: &RankingForest) -> Self {
        let votes = rows.chunks(TILE_ROWS).map(|rows| Votes::new(forest, rows.len())).collect();
        Self { rows, votes, n_trees: 0 }
    }

    /// Asks the trees up to `n_trees` that were not asked before. `left_out` has the rows that a tree has
    /// not seen; `None` to ask it about all.
    pub(super) fn add(
        &mut self,
        forest: &RankingForest,
        binned: &Binned,
        n_trees: usize,
        left_out: impl Fn(usize) -> Option<RowSet> + Sync,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        while self.n_trees < n_trees {
            interrupt.check()?;
            let block = self.n_trees..n_trees.min(self.n_trees + BLOCK_TREES);
            let left_out: Vec<_> = block.clone().into_par_iter().map(&left_out).collect();
            let asked = Asked::new(forest, block.clone());
            let recoding = asked.scorer.coder.recoding(binned);
            let tiles = self.votes.par_iter_mut().zip(self.rows.par_chunks(TILE_ROWS));
            tiles.for_each_init(
                || (Tile::default(), vec![0; TILE_ROWS]),
                |(tile, leaves), (votes, rows)| {
                    asked.scorer.coder.recode(binned, &recoding, rows, tile);
                    for (i, left_out) in left_out.iter().enumerate() {
                        let leaves = &mut leaves[..rows.len()];
                        asked.scorer.leaves(i, tile, leaves);
                        let counts = |row: usize| {
                            left_out.as_ref().is_none_or(|left_out| left_out.contains(rows[row]))
                        };
                        votes.add(forest, block.start + i, &asked.values[i], leaves, counts);
                    }
                },
            );
            self.n_trees = block.end;
        }
        Ok(())
    }

    pub(super) fn scored<'l>(&self, forest: &RankingForest, labels: &'l Labels<'l>) -> Scored<'l> {
        let scores = self.votes.par_iter().flat_map_iter(|votes| votes.scores(forest));
        let scores: Vec<Option<f64>> = scores.collect();
        let (rows, scores) = self
            .rows
            .iter()
            .zip(scores)
            .filter_map(|(&row, score)| score.map(|score| (row, score)))
            .unzip();
        Scored { labels, rows, scores }
    }
}

/// Training rows with scores.
pub(super) struct Scored<'l> {
    labels: &'l Labels<'l>,
    rows: Vec<u32>,
    scores: Vec<f64>,
}

impl Scored<'_> {
    fn positive(&self) -> Vec<bool> {
        self.rows.iter().map(|&row| self.labels.positive()[row as usize]).collect()
    }

    pub(super) fn is_mixed(&self) -> bool {
        let positive = self.positive();
        positive.contains(&true) && positive.contains(&false)
    }

    fn weights(&self) -> Option<Vec<f64>> {
        let weights = self.labels.weights()?;
        Some(self.rows.iter().map(|&row| weights.units()[row as usize] as f64).collect())
    }

    /// `None` if a class is absent.
    fn delong(&self) -> Result<Option<DeLong>, RankError> {
        let positive = self.positive();
        let models = [&self.scores[..]];
        let delong = match self.weights() {
            None => DeLong::new(&models, &positive),
            Some(weights) => DeLong::weighted(&models, &positive, &weights),
        };
        match delong {
            Err(RankError::OneClass { .. }) => Ok(None),
            delong => delong.map(Some),
        }
    }

    pub(super) fn auc(&self) -> Result<Option<f64>, RankError> {
        let weights = self.weights();
        match auc_up_to(1.0, &self.scores, &self.positive(), weights.as_deref()) {
            Err(RankError::OneClass { .. }) => Ok(None),
            auc => auc.map(Some),
        }
    }

    pub(super) fn out_of_bag(&self) -> Result<Option<OutOfBag>, RankError> {
        Ok(self.delong()?.map(|delong| OutOfBag {
            auc: delong.aucs()[0],
            variance: delong.covariance(0, 0),
            effective_rows: delong.effective_rows(),
            path_trees: Vec::new(),
            path_aucs: Vec::new(),
        }))
    }

    pub(super) fn calibration(&self) -> ProbabilitySteps {
        let sums = |&row: &u32| self.labels.sums(row as usize);
        let mut scored: Vec<_> =
            self.scores.iter().copied().zip(self.rows.iter().map(sums)).collect();
        ProbabilitySteps::new(&mut scored)
    }
}
