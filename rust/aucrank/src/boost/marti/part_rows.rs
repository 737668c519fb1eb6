//! What the rows of a part answer `MartiRank`: tile by tile they go through the program from its
//! root, so that nothing need be remembered of a row.

use std::borrow::Cow;

use super::ask::{
    CodedScore, NarrowSums, NodeHashes, NodeSamples, ProgramAnswer, ProgramAsk, ProgramWant,
    SampleOrder,
};
use super::in_memory::PartProgram;
use super::in_memory::Start;
use super::score::score_of;
use super::step::Chance;
use super::step::{spread, spread_from_root};
use super::walk::TILE_ROWS;
use super::walk::{MassTile, TilePlaces};
use crate::data::{ClassMasses, ClassSums, least_hashes, seeded};
use crate::rows::{Kept, PartView, Question, RowFrame, View};
use crate::{Interrupt, RankError};

impl Question for ProgramAsk {
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

    /// Calls `add` with row, node and mass wherever there is mass.
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

    /// A row in a node, as a learner counts it.
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

    fn is_within(
        &self,
        order: &SampleOrder,
        reaches: super::ask::Reaches,
        row: usize,
        node: usize,
    ) -> bool {
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
