//! Votes of trees on their out-of-bag training rows.

use std::ops::Range;

use super::bootstrap::RowSet;
use super::ranking_forest::{OutOfBag, ProbabilitySteps, RankingForest};
use super::scorer::{CodeTile, ForestScorer, TILE_ROWS};
use super::votes::Votes;
use crate::data::{Binned, Columns, Labels};
use crate::parallel::prelude::*;
use crate::roc::{DeLong, auc_up_to};
use crate::{Interrupt, RankError, parallel};

/// Number of trees evaluated together on their out-of-bag rows; also the interval between checks
/// for early stopping.
pub(super) const BLOCK_TREES: usize = 10;

/// Votes of trees on their out-of-bag training rows, or on all rows if each tree saw all.
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

    /// Adds the votes of the trees up to `n_trees` that have not voted yet. `left_out` gives the
    /// out-of-bag rows of a tree; `None` for all rows.
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
            let queried = QueriedTrees::new(forest, block.clone());
            let recoding = queried.scorer.coder.recoding(binned);
            let tiles = self.votes.par_iter_mut().zip(self.rows.par_chunks(TILE_ROWS));
            tiles.for_each_init(
                || (CodeTile::default(), vec![0; TILE_ROWS]),
                |(tile, leaves), (votes, rows)| {
                    queried.scorer.coder.recode(binned, &recoding, rows, tile);
                    for (i, left_out) in left_out.iter().enumerate() {
                        let leaves = &mut leaves[..rows.len()];
                        queried.scorer.leaves(i, tile, leaves);
                        let counts = |row: usize| {
                            left_out.as_ref().is_none_or(|left_out| left_out.contains(rows[row]))
                        };
                        votes.add(forest, block.start + i, &queried.values[i], leaves, counts);
                    }
                },
            );
            self.n_trees = block.end;
        }
        Ok(())
    }

    pub(super) fn scored<'l>(
        &self,
        forest: &RankingForest,
        labels: &'l Labels<'l>,
    ) -> ScoredRows<'l> {
        let scores = self.votes.par_iter().flat_map_iter(|votes| votes.scores(forest));
        let scores: Vec<Option<f64>> = scores.collect();
        let (rows, scores) = self
            .rows
            .iter()
            .zip(scores)
            .filter_map(|(&row, score)| score.map(|score| (row, score)))
            .unzip();
        ScoredRows { labels, rows, scores }
    }
}

/// Training rows with scores.
pub(super) struct ScoredRows<'l> {
    labels: &'l Labels<'l>,
    rows: Vec<u32>,
    scores: Vec<f64>,
}

impl ScoredRows<'_> {
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
        // Not by `delong`: with weights it stores the placement of each row, which only the variance
        // needs.
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

/// Trees evaluated together, with the value of each of their leaves.
#[derive(Debug)]
pub(in crate::tree) struct QueriedTrees {
    pub(in crate::tree) scorer: ForestScorer,
    pub(in crate::tree) values: Vec<Vec<f64>>,
}

impl QueriedTrees {
    pub(in crate::tree) fn new(forest: &RankingForest, trees: Range<usize>) -> Self {
        let trees = &forest.trees[trees];
        let scorer = ForestScorer::new(trees);
        let values = trees.iter().map(|tree| forest.leaf_values(tree)).collect();
        Self { scorer, values }
    }
}

impl RankingForest {
    /// Score of each row; positive exactly where [`RankingForest::probability`] is above one half.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let middle = self.middle();
        self.raw_scores(columns, |score| score - middle)
    }

    /// Probability of the positive class of each row: the mean share of positives of its leaves;
    /// for rankings, the share of positives among the training rows by score, made monotone by
    /// pooling adjacent violators.
    ///
    /// # Errors
    ///
    /// As [`RankingForest::score`].
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        match &self.calibration {
            // Rounded like the score, so that rows of equal score have equal probability.
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
        let queried = self.prepared.get(|| QueriedTrees::new(self, 0..self.trees.len()));
        let mut out = vec![0.0; columns.n_rows()];
        let of_tile = |(tile, leaves): &mut (CodeTile, Vec<_>),
                       (chunk, out): (usize, &mut [f64])| {
            let start = chunk * TILE_ROWS;
            if !queried.scorer.coder.code(columns, start..start + out.len(), tile) {
                return true;
            }
            let mut votes = Votes::new(self, out.len());
            if out.len() == 1 {
                leaves.resize(self.trees.len(), 0);
                queried.scorer.leaves_of_row(tile, leaves);
                for (tree, (values, leaf)) in
                    queried.values.iter().zip(leaves.chunks(1)).enumerate()
                {
                    votes.add(self, tree, values, leaf, |_| true);
                }
            } else {
                leaves.resize(out.len(), 0);
                for (tree, values) in queried.values.iter().enumerate() {
                    queried.scorer.leaves(tree, tile, leaves);
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
        let queried = QueriedTrees::new(self, 0..self.trees.len());
        let recoding = queried.scorer.coder.recoding(binned);
        let mut tile = CodeTile::default();
        queried.scorer.coder.recode(binned, &recoding, rows, &mut tile);
        let leaves = |tree| {
            let mut leaves = vec![0; rows.len()];
            queried.scorer.leaves(tree, &tile, &mut leaves);
            leaves
        };
        (0..self.trees.len()).map(leaves).collect()
    }
}
