//! Rows in memory to which programs are fitted.

use super::cutter::Cutter;
use super::fit::{CutLayers, ProgramRows};
use super::freezing::Freezing;
use super::marti_boost::{MartiBoostParams, marti_boost};
use super::params::{MartiParams, Routing};
use super::program::BranchingProgram;
use super::rank_learner::{CutRanker, RankLearner};
use crate::boost::weak::WeakSample;
use crate::data::{Binned, ClassSums, Columns, Labels, hold_out, times_power_of_two};
use crate::external::{ExternalFitter, ExternalModels};
use crate::roc::{auc_up_to, largest_gap};
use crate::{Interrupt, RankError};

/// Rows in memory, binned once for all fits.
pub(super) struct InMemory<'a> {
    columns: &'a Columns<'a>,
    labels: &'a Labels<'a>,
    binned: Binned,
    params: &'a MartiParams,
    external: Option<&'a dyn ExternalFitter>,
    interrupt: &'a Interrupt,
}

impl<'a> InMemory<'a> {
    pub(super) fn new(
        columns: &'a Columns<'a>,
        labels: &'a Labels<'a>,
        params: &'a MartiParams,
        external: Option<&'a dyn ExternalFitter>,
        interrupt: &'a Interrupt,
    ) -> Result<Self, RankError> {
        let binned = Binned::new(columns, labels, params.binning, interrupt)?;
        Ok(Self { columns, labels, binned, params, external, interrupt })
    }

    fn scores(&self, program: &BranchingProgram) -> Result<Vec<f64>, RankError> {
        program.score(self.columns, self.external.map(|external| external as &dyn ExternalModels))
    }
}

impl<'a> ProgramRows for InMemory<'a> {
    /// Rows not among them have no weight.
    type Subset = Labels<'a>;

    fn all(&self) -> Labels<'a> {
        self.labels.clone()
    }

    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Labels<'a>; 2]>, RankError> {
        let Some(parts) = hold_out(self.columns, self.labels, share, seed, self.interrupt)? else {
            return Ok(None);
        };
        let mut is_held_out = vec![false; self.labels.n_rows()];
        for row in parts.held_out {
            is_held_out[row as usize] = true;
        }
        let kept = self.labels.among(|row| !is_held_out[row])?;
        Ok(Some([kept, self.labels.among(|row| is_held_out[row])?]))
    }

    fn total(&self, subset: &Labels<'a>) -> Result<ClassSums, RankError> {
        Ok(subset.total())
    }

    fn layers(&self, subset: &Labels<'a>, noise_rate: f64) -> Result<CutLayers, RankError> {
        let Self { columns, params, external, interrupt, .. } = *self;
        let sample =
            WeakSample { columns, binned: &self.binned, labels: subset, external, interrupt };
        let weak = params.weak_ranker.ranker(&sample, &[])?;
        let is_sampled = params.sample_size.is_some();
        let learner = RankLearner {
            sample,
            rule: if is_sampled { None } else { weak.bin_rule() },
            weak,
            cutter: Cutter::new(params.criterion, noise_rate),
            is_sampled,
        };
        let boost_params = MartiBoostParams {
            n_rounds: params.n_rounds,
            freezing: Freezing::of(params, noise_rate),
            is_sampled: params.routing == Routing::Sampled,
            sample_size: params.sample_size,
            seed: params.seed,
        };
        let layers = marti_boost(columns, subset, &boost_params, &learner, interrupt)?;
        let nodes = layers.nodes.into_iter().map(|(masses, outcome)| {
            (masses, outcome.map(|CutRanker { term, cut, .. }| (term, cut)))
        });
        let (row_bits, exponent) = (layers.row_bits, layers.exponent);
        Ok(CutLayers { nodes: nodes.collect(), row_bits, exponent })
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.columns.n_levels()
    }

    fn threshold(&self, program: &BranchingProgram) -> Result<f64, RankError> {
        largest_gap(&self.scores(program)?, self.labels)
    }

    fn auc(&self, program: &BranchingProgram, subset: &Labels<'a>) -> Result<f64, RankError> {
        let (scores, rows) = (self.scores(program)?, subset.rows());
        let rows = || rows.iter().map(|&row| row as usize);
        let weight = |row: usize| {
            subset.weights().map_or(1.0, |weights| {
                times_power_of_two(weights.units()[row] as f64, weights.exponent())
            })
        };
        let scores: Vec<f64> = rows().map(|row| scores[row]).collect();
        let positive: Vec<bool> = rows().map(|row| subset.positive()[row]).collect();
        let weights: Vec<f64> = rows().map(weight).collect();
        auc_up_to(1.0, &scores, &positive, Some(&weights))
    }
}
