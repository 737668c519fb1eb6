//! What `MartiRank` queries of rows, and what they answer: sums over the nodes of a layer, or over
//! ranges of scores.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::in_memory::CodedNode;
use super::in_memory::MassScale;
use super::params::ProgramScore;
use super::program::n_layers_of;
use super::walk::WideSums;
use crate::RankError;
use crate::data::{Binned, ClassMasses, FeatureBins, MassHistogram, RowSquares};
use crate::rows::words::{WordReader, put_list};
use crate::rows::{Mergeable, ScoreCounts, ScoreRanges, other, put_packed, take_packed};

/// A question about rows that go through a program.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct ProgramAsk {
    pub(super) scale: MassScale,
    /// All layers before the one that is queried; to score, all layers.
    pub(super) nodes: Arc<Vec<CodedNode>>,
    pub(super) want: ProgramWant,
}

/// What is queried of the rows in the layer after the last one.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) enum ProgramWant {
    /// Class masses of its nodes, and where these learn the sums of one-byte features.
    Layer { learns: bool },
    /// The sums of a wide feature in some nodes, from all rows or from samples of them.
    Wide { feature: usize, nodes: Vec<usize>, samples: Option<Arc<NodeSamples>> },
    /// For each node and class the hashes of the rows of its sample: of all rows of the class, and
    /// of those in the node.
    Least { from: SampleOrder, size: usize },
    /// The share of each sample that is in its node, and the sums of one-byte features there.
    Sampled(Arc<NodeSamples>),
    /// Class weights by ranges of the score.
    Ranges { score: CodedScore, edges: Vec<u64> },
    /// Class weights of each score.
    Scores(CodedScore),
}

/// Where the samples of the nodes of a layer begin in the order of a hash.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct SampleOrder {
    pub(super) seed: u64,
    /// Of each node.
    pub(super) from: Vec<u64>,
}

impl SampleOrder {
    /// How far a row is from the place where the sample of a node begins, given its hash in the
    /// order of the seed.
    pub(super) fn distance(&self, node: usize, seeded: u64) -> u64 {
        seeded.wrapping_sub(self.from[node])
    }
}

/// How far samples reach, by class, negatives first; `None` where a class has no rows.
pub(super) type Reaches = [Option<u64>; 2];

/// The samples of the nodes of a layer.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct NodeSamples {
    pub(super) order: SampleOrder,
    /// Of each node, that of all rows.
    pub(super) of_all: Vec<Reaches>,
    /// Of each node, that of the rows in it.
    pub(super) inside: Vec<Reaches>,
}

/// How a sum of what the ends of ways are worth becomes a score.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct CodedScore {
    pub(super) row_bits: u32,
    pub(super) score: ProgramScore,
}

/// Sums of one-byte features over the nodes of a layer.
#[derive(Debug, Clone)]
pub(crate) struct NarrowSums {
    pub(super) histogram: MassHistogram,
    /// Of each node, where rates of categories are shrunk.
    pub(super) squares: Vec<RowSquares>,
}

impl NarrowSums {
    pub(super) fn new(binned: &Binned, n_nodes: usize) -> Self {
        let n_squares = if binned.shrinks_levels() { n_nodes } else { 0 };
        Self {
            histogram: MassHistogram::new(binned, n_nodes),
            squares: vec![RowSquares::default(); n_squares],
        }
    }

    fn merge(&mut self, more: &Self) {
        self.histogram.merge(&more.histogram);
        self.squares.iter_mut().zip(&more.squares).for_each(|(own, more)| own.merge(more));
    }

    fn put_words(&self, words: &mut Vec<u64>) {
        put_packed(words, self.histogram.sums());
        words.extend(self.squares.iter().flat_map(|squares| squares.to_words()));
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        take_packed(reader, self.histogram.sums_mut())?;
        for squares in &mut self.squares {
            *squares = RowSquares::from_words(reader.array()?);
        }
        Ok(())
    }
}

/// Hashes of the samples of a node: for each class those of all rows, then those of the rows in it.
pub(super) type NodeHashes = [[Vec<u64>; 2]; 2];

/// What rows answer.
#[derive(Debug, Clone)]
pub(crate) enum ProgramAnswer {
    Layer {
        masses: Vec<ClassMasses>,
        sums: Option<NarrowSums>,
    },
    Wide(WideSums),
    Least {
        size: usize,
        /// Of each node.
        nodes: Vec<NodeHashes>,
    },
    Sampled {
        /// Of each node, mass of the sample of all rows that is in it, and in all.
        shares: Vec<[ClassMasses; 2]>,
        sums: NarrowSums,
    },
    Ranges(ScoreRanges),
    Scores(ScoreCounts),
}

impl ProgramAnswer {
    /// That of no rows.
    pub(super) fn none(ask: &ProgramAsk, binned: &Binned) -> Self {
        let n_nodes = n_layers_of(ask.nodes.len()) + 1;
        match &ask.want {
            ProgramWant::Layer { learns } => Self::Layer {
                masses: vec![ClassMasses::default(); n_nodes],
                sums: learns.then(|| NarrowSums::new(binned, n_nodes)),
            },
            ProgramWant::Wide { feature, nodes, .. } => {
                let n_codes = binned.features().get(*feature).map_or(0, FeatureBins::n_codes);
                Self::Wide(WideSums::new(n_codes, nodes.len()))
            }
            ProgramWant::Least { size, .. } => {
                Self::Least { size: *size, nodes: vec![NodeHashes::default(); n_nodes] }
            }
            ProgramWant::Sampled(_) => Self::Sampled {
                shares: vec![[ClassMasses::default(); 2]; n_nodes],
                sums: NarrowSums::new(binned, n_nodes),
            },
            ProgramWant::Ranges { edges, .. } => Self::Ranges(ScoreRanges::none(edges.len() + 1)),
            ProgramWant::Scores(_) => Self::Scores(ScoreCounts::default()),
        }
    }
}

impl Mergeable for ProgramAnswer {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        match (self, more) {
            (
                Self::Layer { masses, sums },
                Self::Layer { masses: more_masses, sums: more_sums },
            ) => {
                masses.iter_mut().zip(more_masses).for_each(|(own, more)| *own += more);
                if let (Some(own), Some(more)) = (sums, more_sums) {
                    own.merge(&more);
                }
            }
            (Self::Wide(own), Self::Wide(more)) => own.merge(&more),
            (Self::Least { size, nodes }, Self::Least { nodes: more, .. }) => {
                let more = more.into_iter().flatten().flatten();
                for (own, more) in nodes.iter_mut().flatten().flatten().zip(more) {
                    own.extend(more);
                    own.sort_unstable();
                    own.dedup();
                    own.truncate(*size);
                }
            }
            (
                Self::Sampled { shares, sums },
                Self::Sampled { shares: more_shares, sums: more_sums },
            ) => {
                let more = more_shares.into_iter().flatten();
                shares.iter_mut().flatten().zip(more).for_each(|(own, more)| *own += more);
                sums.merge(&more_sums);
            }
            (Self::Ranges(own), Self::Ranges(more)) => own.merge(&more),
            (Self::Scores(own), Self::Scores(more)) => own.merge(&more),
            _ => return Err(other()),
        }
        Ok(())
    }

    fn put_words(&self, words: &mut Vec<u64>) {
        match self {
            Self::Layer { masses, sums } => {
                for &masses in masses {
                    put_masses(words, masses);
                }
                if let Some(sums) = sums {
                    sums.put_words(words);
                }
            }
            Self::Wide(wide) => {
                let sums: Vec<u64> = wide.sums.iter().flat_map(|sum| [sum.pos, sum.neg]).collect();
                put_packed(words, &sums);
            }
            Self::Least { nodes, .. } => {
                for hashes in nodes.iter().flatten().flatten() {
                    put_list(words, hashes.iter().copied());
                }
            }
            Self::Sampled { shares, sums } => {
                shares.iter().flatten().for_each(|&masses| put_masses(words, masses));
                sums.put_words(words);
            }
            Self::Ranges(ranges) => ranges.put_words(words),
            Self::Scores(scores) => scores.put_words(words),
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        match self {
            Self::Layer { masses, sums } => {
                for masses in masses {
                    *masses = take_masses(reader)?;
                }
                if let Some(sums) = sums {
                    sums.take_words(reader)?;
                }
            }
            Self::Wide(wide) => {
                let mut sums = vec![0; 2 * wide.sums.len()];
                take_packed(reader, &mut sums)?;
                for (sum, pair) in wide.sums.iter_mut().zip(sums.chunks_exact(2)) {
                    *sum = ClassMasses { pos: pair[0], neg: pair[1] };
                }
            }
            Self::Least { nodes, .. } => {
                for hashes in nodes.iter_mut().flatten().flatten() {
                    *hashes = reader.list()?.to_vec();
                }
            }
            Self::Sampled { shares, sums } => {
                for masses in shares.iter_mut().flatten() {
                    *masses = take_masses(reader)?;
                }
                sums.take_words(reader)?;
            }
            Self::Ranges(ranges) => ranges.take_words(reader)?,
            Self::Scores(scores) => scores.take_words(reader)?,
        }
        Ok(())
    }
}

fn put_masses(words: &mut Vec<u64>, masses: ClassMasses) {
    words.extend([masses.pos, masses.neg]);
}

fn take_masses(reader: &mut WordReader<'_>) -> Result<ClassMasses, RankError> {
    let &[pos, neg] = reader.array()?;
    Ok(ClassMasses { pos, neg })
}
