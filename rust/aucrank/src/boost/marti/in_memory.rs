//! Fits of programs to rows in memory.

use serde::{Deserialize, Serialize};

use super::chance::Chance;
use super::freezing::Freezing;
use super::learner::{CutRanker, RankLearner, RowChance};
use super::marti_boost::{MartiBoostParams, marti_boost};
use super::outcome::Outcome;
use super::params::{MartiParams, Routing};
use super::places::{n_layers_of, place};
use super::program::BranchingProgram;
use super::program_rows::{CutLayers, ProgramRows};
use super::walk::Cutter;
use crate::boost::weak::WeakSample;
use crate::data::{
    Binned, ClassSums, Columns, FeatureBins, FeatureTerm, Labels, hold_out, times_power_of_two,
};
use crate::external::{ExternalFitter, ExternalModels};
use crate::roc::{auc_up_to, largest_gap};
use crate::{Interrupt, RankError};

/// Rows in memory, binned once for all fits.
pub(super) struct ProgramInMemory<'a> {
    columns: &'a Columns<'a>,
    labels: &'a Labels<'a>,
    binned: Binned,
    params: &'a MartiParams,
    external: Option<&'a dyn ExternalFitter>,
    interrupt: &'a Interrupt,
}

impl<'a> ProgramInMemory<'a> {
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

impl<'a> ProgramRows for ProgramInMemory<'a> {
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

/// What happens to a row of codes at a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum CodedNode {
    /// It goes right with a probability that depends on its code of a feature.
    Cut {
        feature: usize,
        /// For each run of codes of equal probability, their number, and the probability in units
        /// of 2^-31.
        runs: Vec<(u32, u32)>,
    },
    /// It goes right by a fair coin.
    Coin,
    /// Its path ends, with this worth.
    End(u32),
}

impl CodedNode {
    /// The node of a function of one feature.
    pub(super) fn of_term(term: &FeatureTerm, features: &[FeatureBins]) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for value in term.values_by_code(&features[term.feature]) {
            let units = Chance::new(value).units();
            match runs.last_mut() {
                Some((n, last)) if *last == units => *n += 1,
                _ => runs.push((1, units)),
            }
        }
        Self::Cut { feature: term.feature, runs }
    }
}

/// A program prepared for the rows of a part.
pub(super) struct PartProgram<'a> {
    /// Layer by layer.
    nodes: Vec<Outcome<CodeChance<'a>>>,
    /// The worth of each node, if paths end there.
    worths: Vec<u32>,
    /// Number of layers.
    pub(super) n_layers: usize,
}

/// Probabilities by the code of a feature.
pub(super) struct CodeChance<'a> {
    binned: &'a Binned,
    feature: usize,
    of_code: Vec<Chance>,
}

impl RowChance for CodeChance<'_> {
    #[inline]
    fn chance(&self, row: usize) -> Chance {
        self.of_code[self.binned.code(row, self.feature) as usize]
    }

    fn chances(&self, rows: std::ops::Range<usize>, chances: &mut [Chance]) {
        match self.binned.narrow_codes(rows.clone(), self.feature) {
            Some(codes) => {
                for (code, chance) in codes.zip(chances) {
                    *chance = self.of_code[usize::from(code)];
                }
            }
            None => {
                for (row, chance) in rows.zip(chances) {
                    *chance = self.chance(row);
                }
            }
        }
    }
}

impl<'a> PartProgram<'a> {
    /// Reads a program of whole layers.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if it does not fit these features.
    pub(super) fn new(nodes: &[CodedNode], binned: &'a Binned) -> Result<Self, RankError> {
        let bad = |why: &str| RankError::BadAnswer(why.to_owned());
        let n_layers = n_layers_of(nodes.len());
        if place(n_layers + 1, 0) != nodes.len() {
            return Err(bad("a layer of the program is cut off"));
        }
        let outcome = |node: &CodedNode| match node {
            CodedNode::Cut { feature, runs } => {
                let bins = binned.features().get(*feature);
                let bins = bins.ok_or_else(|| bad("the program asks for another feature"))?;
                let n_codes: u64 = runs.iter().map(|&(n, _)| u64::from(n)).sum();
                if n_codes != bins.n_codes() as u64 {
                    return Err(bad("the program is of other bins"));
                }
                let mut of_code = Vec::with_capacity(bins.n_codes());
                for &(n, units) in runs {
                    let chance =
                        Chance::of_units(units).ok_or_else(|| bad("a probability above 1"))?;
                    of_code.extend(std::iter::repeat_n(chance, n as usize));
                }
                Ok(Outcome::Classifier(CodeChance { binned, feature: *feature, of_code }))
            }
            CodedNode::Coin => Ok(Outcome::Coin),
            CodedNode::End(_) => Ok(Outcome::Terminal),
        };
        let worth = |node: &CodedNode| if let CodedNode::End(worth) = node { *worth } else { 0 };
        Ok(Self {
            worths: nodes.iter().map(worth).collect(),
            nodes: nodes.iter().map(outcome).collect::<Result<_, _>>()?,
            n_layers,
        })
    }

    /// The nodes of a layer, counted from 1.
    pub(super) fn layer(&self, number: usize) -> &[Outcome<CodeChance<'a>>] {
        &self.nodes[place(number, 0)..place(number + 1, 0)]
    }

    /// Worth of the ends of paths in a layer.
    pub(super) fn worths(&self, number: usize) -> &[u32] {
        &self.worths[place(number, 0)..place(number + 1, 0)]
    }
}

#[cfg(test)]
mod tests_of_coded {
    use super::*;
    use crate::data::{BinningParams, Columns, Labels};
    use crate::{Interrupt, boost::MartiParams};

    #[test]
    fn programs_for_other_rows_are_errors() {
        let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
        let labels = Labels::new(&[false, true, false, true], None).unwrap();
        let params: BinningParams = MartiParams::default().binning;
        let binned = Binned::new(&columns, &labels, params, &Interrupt::default()).unwrap();
        let cut = |feature, runs| CodedNode::Cut { feature, runs };
        assert!(PartProgram::new(&[cut(0, vec![(2, 5), (3, 1 << 31)])], &binned).is_ok());
        assert_eq!(PartProgram::new(&[], &binned).unwrap().n_layers, 0);
        for nodes in [
            vec![cut(1, vec![(5, 0)])],
            vec![cut(0, vec![(4, 0)])],
            vec![cut(0, vec![(u32::MAX, 0), (6, 0)])],
            vec![cut(0, vec![(5, (1 << 31) + 1)])],
            vec![CodedNode::Coin, CodedNode::Coin],
        ] {
            assert!(PartProgram::new(&nodes, &binned).is_err(), "{nodes:?}");
        }
    }
}
