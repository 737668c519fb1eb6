//! The rule: stumps, merged, pruned or alone.

use super::params::LeafRankParams;
use super::prepared::PreparedStumps;
use super::pruned::PrunedLeafRankSplitter;
use super::splitter::LeafRankSplitter;
use crate::data::{Folds, RowTally, RowUnits, mix};
use crate::external::ExternalFitter;
use crate::tree::grow::Missing;
use crate::tree::model::RankingTree;
use crate::tree::prune::{Complexity, CvParams};
use crate::tree::sample::Sample;
use crate::tree::split::rule::{PreparedRule, Rule};
use crate::tree::split::stump::{CellMeans, StumpTerms};
use crate::{Interrupt, RankError};

impl Rule for LeafRankParams {
    type Prepared<'a> = PreparedStumps;

    fn name(&self) -> &'static str {
        "stumps"
    }

    fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: usize, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        match *self {
            Self { max_depth: 0, .. } => bad("max_depth of the split", 0, "at least 1"),
            Self { max_leaves: Some(n @ 0..2), .. } => {
                bad("max_leaves of the split", n, "at least 2")
            }
            Self { min_samples_leaf: 0, .. } => {
                bad("min_samples_leaf of the split", 0, "at least 1")
            }
            Self { max_features: Some(0), .. } => bad("max_features", 0, "at least 1"),
            Self { pruning, .. } => pruning.iter().try_for_each(CvParams::validate),
        }
    }

    fn is_of_stumps(&self) -> bool {
        true
    }

    fn complexity(&self) -> Option<Complexity> {
        Some(Complexity::of_cuts(self.max_depth, self.max_leaves))
    }

    fn prepare<'a>(
        &self,
        sample: &Sample<'a, ()>,
        seed: u64,
        _: Option<&'a dyn ExternalFitter>,
        interrupt: &Interrupt,
    ) -> Result<PreparedStumps, RankError> {
        let Sample { columns, binned, labels, frame, .. } = sample;
        let deal = |pruning: CvParams| {
            // Not the folds of the whole tree, of which one is empty in each of its trees.
            let seed = mix(seed ^ pruning.seed);
            let folds = Folds::deal(columns, labels, pruning.n_folds, seed, interrupt)?;
            Ok((folds, pruning))
        };
        Ok(PreparedStumps {
            params: *self,
            folds: self.pruning.map(deal).transpose()?,
            means: (sample.params.missing == Missing::CellMean)
                .then(|| CellMeans::new(columns, binned, &labels.rows(), &frame.has_missing)),
        })
    }
}

impl PreparedRule for PreparedStumps {
    fn grow<R: RowTally + Copy>(
        &self,
        sample: &Sample<'_, R>,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        let total = sample.total(&rows);
        let level_units = level_units(sample, &rows);
        let terms = StumpTerms {
            level_units: level_units.as_ref(),
            means: self.means.as_ref(),
            monotonic: &sample.frame.monotonic,
            features: sample.features.as_deref(),
            draw: None,
            criterion: self.params.criterion,
        };
        let splitter = LeafRankSplitter::new(self.params, sample.params.least_split(total), terms);
        let mut source = self.source(sample, rows, interrupt);
        let tree = if let Some((folds, pruning)) = &self.folds {
            let splitter = PrunedLeafRankSplitter {
                stumps: splitter,
                prepared: self,
                sample,
                folds,
                pruning: *pruning,
                interrupt,
            };
            sample.grow_by(&splitter, &mut source, total, seed, interrupt)
        } else {
            sample.grow_by(&splitter, &mut source, total, seed, interrupt)
        };
        sample.leave(source.into_buffers());
        tree
    }
}

/// What chance can do to the rates of categories among some rows, ascending; `None` where rates are
/// taken as they are, or there are no categories.
fn level_units<R: RowTally + Copy>(sample: &Sample<'_, R>, rows: &[u32]) -> Option<RowUnits> {
    let times = |same: &[u32]| (sample.sums(same[0]), same.len() as u32);
    let shrinks = sample.binned.shrinks_levels();
    shrinks.then(|| RowUnits::of(rows.chunk_by(|a, b| a == b).map(times)))
}
