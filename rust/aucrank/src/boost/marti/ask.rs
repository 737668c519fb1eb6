//! Questions of `MartiRank` to rows, and the answers of a part: sums over the nodes of a layer, or
//! over ranges of scores.
//!
//! Rows go through the program from its root, tile by tile, so that no state of a row is kept.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chance::Chance;
use super::in_memory::{CodedNode, PartProgram};
use super::params::ProgramScore;
use super::places::n_layers_of;
use super::program::score_of;
use super::start::{MassScale, Start};
use super::step::{spread, spread_from_root};
use super::walk::{MassTile, TILE_ROWS, TilePlaces, WideSums};
use crate::data::{
    Binned, ClassMasses, ClassSums, FeatureBins, MassHistogram, RowSquares, least_hashes, seeded,
};
use crate::rows::words::{WordReader, put_list};
use crate::rows::{
    Kept, Mergeable, PartView, Question, RowFrame, ScoreCounts, ScoreRanges, View, other,
    put_packed, take_packed,
};
use crate::{Interrupt, RankError};

/// A question about rows that go through a program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskProgram {
    pub(super) scale: MassScale,
    /// All layers before the one that is queried; to score, all layers.
    pub(super) nodes: Arc<Vec<CodedNode>>,
    pub(super) want: ProgramWant,
}

/// Quantities queried of the rows in the layer after the last one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum ProgramWant {
    /// Class masses of its nodes and, if these learn, the sums of one-byte features.
    Layer { learns: bool },
    /// The sums of a wide feature in some nodes, from all rows or from samples of them.
    Wide { feature: usize, nodes: Vec<usize>, samples: Option<Arc<NodeSamples>> },
    /// For each node and class the hashes of the rows of its samples: from all rows of the class,
    /// and from those in the node.
    Least { from: SampleOrder, size: usize },
    /// The share of each sample that is in its node, and the sums of one-byte features there.
    Sampled(Arc<NodeSamples>),
    /// Class weights by ranges of the score.
    Ranges { score: CodedScore, edges: Vec<u64> },
    /// Class weights of each score.
    Scores(CodedScore),
}

/// Start of the sample of each node of a layer, in the order of a hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SampleOrder {
    pub(super) seed: u64,
    /// For each node.
    pub(super) from: Vec<u64>,
}

impl SampleOrder {
    /// Distance of a row from the start of the sample of a node, given its hash in the order of the
    /// seed.
    pub(super) fn distance(&self, node: usize, seeded: u64) -> u64 {
        seeded.wrapping_sub(self.from[node])
    }
}

/// Extent of a sample by class, negatives first; `None` if a class has no rows.
pub(super) type Reaches = [Option<u64>; 2];

/// The samples of the nodes of a layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NodeSamples {
    pub(super) order: SampleOrder,
    /// For each node, the extent of the sample of all rows.
    pub(super) of_all: Vec<Reaches>,
    /// For each node, the extent of the sample of the rows in it.
    pub(super) inside: Vec<Reaches>,
}

/// Conversion of the summed worth of path ends to a score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct CodedScore {
    pub(super) row_bits: u32,
    pub(super) score: ProgramScore,
}

/// Sums of one-byte features over the nodes of a layer.
#[derive(Debug, Clone)]
pub(crate) struct NarrowSums {
    pub(super) histogram: MassHistogram,
    /// For each node, if rates of categories are shrunk.
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

/// Answer of rows.
#[derive(Debug, Clone)]
pub(crate) enum ProgramAnswer {
    Layer {
        masses: Vec<ClassMasses>,
        sums: Option<NarrowSums>,
    },
    Wide(WideSums),
    Least {
        size: usize,
        /// For each node.
        nodes: Vec<NodeHashes>,
    },
    Sampled {
        /// For each node, the mass of the sample of all rows that is in the node, and its total
        /// mass.
        shares: Vec<[ClassMasses; 2]>,
        sums: NarrowSums,
    },
    Ranges(ScoreRanges),
    Scores(ScoreCounts),
}

impl ProgramAnswer {
    /// The answer of no rows.
    pub(super) fn none(ask: &AskProgram, binned: &Binned) -> Self {
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

    fn put_words(&mut self, words: &mut Vec<u64>) {
        match self {
            Self::Layer { masses, sums } => {
                for masses in masses {
                    put_masses(words, *masses);
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

impl Question for AskProgram {
    const NAME: &'static str = "program";

    type Answer = ProgramAnswer;

    fn none(&self, frame: &RowFrame) -> ProgramAnswer {
        ProgramAnswer::none(self, &frame.no_rows())
    }

    fn needs_hashes(&self, view: &View, _: &Kept<'_>) -> bool {
        let draws_samples = match &self.want {
            ProgramWant::Least { .. } | ProgramWant::Sampled(_) => true,
            ProgramWant::Wide { samples, .. } => samples.is_some(),
            ProgramWant::Layer { .. } | ProgramWant::Ranges { .. } | ProgramWant::Scores(_) => {
                false
            }
        };
        draws_samples || *view != View::All
    }

    fn add(
        &self,
        view: &PartView<'_>,
        _: &mut Kept<'_>,
        sum: &mut ProgramAnswer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        self.scale.check()?;
        let program = PartProgram::new(&self.nodes, view.binned())?;
        let units = view.units();
        let start = Start::of_part(units.as_deref(), self.scale);
        let rows = ProgramPart { view, units: units.as_ref(), start, program, interrupt };
        let n_nodes = rows.program.n_layers + 1;
        let checked = |samples: &NodeSamples| {
            let n = [samples.order.from.len(), samples.of_all.len(), samples.inside.len()];
            if n == [n_nodes; 3] { Ok(()) } else { Err(bad("samples of another layer")) }
        };
        match (&self.want, sum) {
            (ProgramWant::Layer { .. }, ProgramAnswer::Layer { masses, sums }) => {
                rows.layer(masses, sums.as_mut())
            }
            (ProgramWant::Wide { feature, nodes, samples }, ProgramAnswer::Wide(sums)) => {
                if *feature >= view.binned().features().len() {
                    return Err(bad("another feature"));
                }
                if let Some(samples) = samples {
                    checked(samples)?;
                }
                let mut place_of = vec![None; n_nodes];
                for (place, &node) in nodes.iter().enumerate() {
                    *place_of.get_mut(node).ok_or_else(|| bad("another node"))? = Some(place);
                }
                rows.for_each(|row, node, mass| {
                    let Some(place) = place_of[node] else { return };
                    if samples.as_ref().is_none_or(|samples| rows.is_sampled(samples, row, node)) {
                        let code = view.binned().code(row, *feature);
                        sums.add(code, place, view.positive()[row], mass);
                    }
                })
            }
            (ProgramWant::Least { from, size }, ProgramAnswer::Least { nodes, .. }) => {
                if from.from.len() != n_nodes {
                    return Err(bad("samples of another layer"));
                }
                rows.least(from, *size, nodes)
            }
            (ProgramWant::Sampled(samples), ProgramAnswer::Sampled { shares, sums }) => {
                checked(samples)?;
                rows.sampled(samples, shares, sums)
            }
            (ProgramWant::Ranges { score, edges }, ProgramAnswer::Ranges(ranges)) => {
                score.check()?;
                rows.for_each_score(*score, |row, score| {
                    if let Some(sums) = rows.class_units(row) {
                        ranges.add(edges, score, sums);
                    }
                })
            }
            (ProgramWant::Scores(score), ProgramAnswer::Scores(scores)) => {
                score.check()?;
                let mut found = Vec::new();
                rows.for_each_score(*score, |row, score| {
                    found.extend(rows.class_units(row).map(|sums| (score, sums)));
                })?;
                scores.add(found.into_iter());
                Ok(())
            }
            _ => Err(bad("the answer is to another question")),
        }
    }
}

impl CodedScore {
    fn check(self) -> Result<(), RankError> {
        if self.row_bits < u32::BITS { Ok(()) } else { Err(bad("another unit of mass")) }
    }
}

/// The rows of a part, and the program that they go through.
struct ProgramPart<'a> {
    view: &'a PartView<'a>,
    units: Option<&'a Cow<'a, [u64]>>,
    start: Start<'a>,
    program: PartProgram<'a>,
    interrupt: &'a Interrupt,
}

impl ProgramPart<'_> {
    /// Calls `add` with each tile of the rows in the layer after the program.
    fn for_each_tile(&self, mut add: impl FnMut(&MassTile<'_>)) -> Result<(), RankError> {
        let n_nodes = self.program.n_layers + 1;
        let mut masses = vec![0; TILE_ROWS * n_nodes];
        let mut chances = vec![Chance::HALF; TILE_ROWS];
        for (tile, positive) in self.view.positive().chunks(TILE_ROWS).enumerate() {
            self.interrupt.check()?;
            let (first, n_rows) = (tile * TILE_ROWS, positive.len());
            let (masses, chances) = (&mut masses[..n_nodes * n_rows], &mut chances[..n_rows]);
            let layers = (1..n_nodes).map(|layer| self.program.layer(layer).iter());
            spread_from_root(&self.start, layers, first, masses, chances);
            let places = TilePlaces::Spread(masses);
            add(&MassTile { start: &self.start, first, positive, n_nodes, places });
        }
        Ok(())
    }

    /// Calls `add` with row, node and mass for each nonzero mass.
    fn for_each(&self, mut add: impl FnMut(usize, usize, u64)) -> Result<(), RankError> {
        self.for_each_tile(|tile| tile.for_each(&mut add))
    }

    fn layer(
        &self,
        masses: &mut [ClassMasses],
        mut sums: Option<&mut NarrowSums>,
    ) -> Result<(), RankError> {
        let mut of_nodes = [vec![0; masses.len()], vec![0; masses.len()]];
        let mut by_row = Vec::new();
        self.for_each_tile(|tile| {
            tile.add_to_nodes(&mut of_nodes);
            let Some(NarrowSums { histogram, squares }) = &mut sums else { return };
            tile.add_to(histogram, self.view.binned(), &mut by_row);
            if !squares.is_empty() {
                tile.for_each(|row, node, mass| squares[node].add(self.sums(row, mass), 1));
            }
        })?;
        let [neg, pos] = of_nodes;
        for (own, (neg, pos)) in masses.iter_mut().zip(neg.into_iter().zip(pos)) {
            *own += ClassMasses { pos, neg };
        }
        Ok(())
    }

    /// Sums of a row in a node, as counted by a learner.
    fn sums(&self, row: usize, mass: u64) -> ClassSums {
        let units = self.units.map_or(1, |units| units[row]);
        ClassSums::of_row(self.view.positive()[row], mass, self.view.rows_of(units))
    }

    /// The class weight of a row, if it has any.
    fn class_units(&self, row: usize) -> Option<ClassMasses> {
        self.view.class_units(row, self.units.map_or(1, |units| units[row]))
    }

    fn is_sampled(&self, samples: &NodeSamples, row: usize, node: usize) -> bool {
        self.is_within(&samples.order, samples.inside[node], row, node)
    }

    fn is_within(&self, order: &SampleOrder, reaches: Reaches, row: usize, node: usize) -> bool {
        let distance = || order.distance(node, seeded(self.view.hashes()[row], order.seed));
        reaches[usize::from(self.view.positive()[row])].is_some_and(|reach| distance() <= reach)
    }

    fn least(
        &self,
        order: &SampleOrder,
        size: usize,
        nodes: &mut [NodeHashes],
    ) -> Result<(), RankError> {
        let mut found: Vec<NodeHashes> = vec![NodeHashes::default(); nodes.len()];
        self.for_each(|row, node, _| {
            let class = usize::from(self.view.positive()[row]);
            let distance = order.distance(node, seeded(self.view.hashes()[row], order.seed));
            found[node][class][1].push(distance);
        })?;
        for (row, &positive) in self.view.positive().iter().enumerate() {
            if self.start.mass(row) > 0 {
                let hash = seeded(self.view.hashes()[row], order.seed);
                for (node, found) in found.iter_mut().enumerate() {
                    found[usize::from(positive)][0].push(order.distance(node, hash));
                }
            }
        }
        let found = found.into_iter().flatten().flatten();
        for (own, found) in nodes.iter_mut().flatten().flatten().zip(found) {
            *own = least_hashes(&own.iter().chain(&found).copied(), size);
        }
        Ok(())
    }

    fn sampled(
        &self,
        samples: &NodeSamples,
        shares: &mut [[ClassMasses; 2]],
        sums: &mut NarrowSums,
    ) -> Result<(), RankError> {
        let of_class = |row: usize, mass: u64| {
            let pos = if self.view.positive()[row] { mass } else { 0 };
            ClassMasses { pos, neg: mass - pos }
        };
        for row in 0..self.view.n_rows() {
            let mass = self.start.total_mass(row);
            for (node, [_, all]) in shares.iter_mut().enumerate() {
                if mass > 0 && self.is_within(&samples.order, samples.of_all[node], row, node) {
                    *all += of_class(row, mass);
                }
            }
        }
        let binned = self.view.binned();
        self.for_each(|row, node, mass| {
            if self.is_within(&samples.order, samples.of_all[node], row, node) {
                shares[node][0] += of_class(row, mass);
            }
            if self.is_sampled(samples, row, node) {
                let positive = self.view.positive()[row];
                sums.histogram.add_to_one(binned, row, positive, node, mass);
                if let Some(squares) = sums.squares.get_mut(node) {
                    squares.add(self.sums(row, mass), 1);
                }
            }
        })
    }

    /// Calls `add` with each row and its score.
    fn for_each_score(
        &self,
        score: CodedScore,
        mut add: impl FnMut(usize, f64),
    ) -> Result<(), RankError> {
        let n_layers = self.program.n_layers;
        let mut masses = vec![0; TILE_ROWS * (n_layers + 1)];
        let mut chances = vec![Chance::HALF; TILE_ROWS];
        let mut sums = vec![0_u64; TILE_ROWS];
        for first in (0..self.view.n_rows()).step_by(TILE_ROWS) {
            self.interrupt.check()?;
            let n_rows = TILE_ROWS.min(self.view.n_rows() - first);
            let masses = &mut masses[..(n_layers + 1) * n_rows];
            let sums = &mut sums[..n_rows];
            let (root, others) = masses.split_at_mut(n_rows);
            root.fill(1 << score.row_bits);
            others.fill(0);
            sums.fill(0);
            for layer in 1..=n_layers {
                for (masses, &worth) in masses.chunks(n_rows).zip(self.program.worths(layer)) {
                    if worth > 0 {
                        for (sum, &mass) in sums.iter_mut().zip(masses) {
                            *sum += u64::from(mass) * u64::from(worth);
                        }
                    }
                }
                let outcomes = self.program.layer(layer).iter();
                spread(outcomes, first, masses, &mut chances[..n_rows]);
            }
            for (row, &sum) in (first..).zip(&*sums) {
                add(row, score_of(score.score, score.row_bits, sum));
            }
        }
        Ok(())
    }
}

fn bad(why: &str) -> RankError {
    RankError::BadAnswer(format!("a question about {why}"))
}
