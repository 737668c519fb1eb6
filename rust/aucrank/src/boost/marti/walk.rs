//! The distribution of the rows of a fit over the nodes of a layer.
//!
//! Rows step together in tiles, in which the masses of a node are contiguous for all rows, so that
//! a step is a few vector instructions for several rows. If there are few layers, and the
//! classifiers can be evaluated on all rows, masses are not stored: in each layer they are
//! recomputed from the root, tile by tile, which takes about as long as reading stored ones.

use super::chance::{Chance, split_mass};
use super::marti_boost::{Outcome, RowChance, TwoSidedLearner};
use super::program::{coin_at, place};
use super::start::Start;
use crate::data::{ClassMasses, Columns, Labels, MassHistogram, content_hash};
use crate::{Interrupt, RankError, parallel};

/// Rows that step together: their masses stay in the first-level cache.
const TILE_ROWS: usize = 512;

/// Minimum number of rows per thread.
const PART_ROWS: usize = 16 * TILE_ROWS;

/// Maximum number of layers for which masses are recomputed: the steps of a row grow as the cube of
/// the layers.
const MOST_LAYERS_RECOMPUTED: usize = 16;

/// Node of a row whose path has ended.
const ENDED: u32 = u32::MAX;

/// The nodes that rows are in, in one layer.
#[derive(Debug)]
enum Places {
    /// In all nodes in part: tile by tile, the masses of the rows for each node.
    Spread { masses: Vec<u32>, stride: usize },
    /// The same, recomputed instead of stored.
    Recomputed,
    /// In one node each.
    Single { nodes: Vec<u32>, coins: Vec<u64> },
}

/// The rows of a fit during the walk.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    positive: &'a [bool],
    start: Start<'a>,
    places: Places,
}

/// A tile of rows in a layer, with their masses in its nodes.
#[derive(Debug)]
pub struct MassTile<'a> {
    start: &'a Start<'a>,
    first: usize,
    positive: &'a [bool],
    n_nodes: usize,
    places: TilePlaces<'a>,
}

#[derive(Debug)]
enum TilePlaces<'a> {
    /// The masses of the rows, for each node.
    Spread(&'a [u32]),
    Single {
        nodes: &'a [u32],
    },
}

impl<'a> Walk<'a> {
    /// All rows at the root, to be spread over the nodes. Masses are recomputed in each pass if the
    /// learner needs only their sums and every classifier remains available.
    pub(super) fn expected(
        labels: &Labels<'a>,
        start: Start<'a>,
        n_rounds: usize,
        recomputes_masses: bool,
    ) -> Self {
        let places = if recomputes_masses && n_rounds <= MOST_LAYERS_RECOMPUTED {
            Places::Recomputed
        } else {
            let stride = n_rounds + 1;
            let mut masses = vec![0; labels.n_rows() * stride];
            for (tile, masses) in masses.chunks_mut(TILE_ROWS * stride).enumerate() {
                let n_rows = masses.len() / stride;
                set_out(&start, tile * TILE_ROWS, &mut masses[..n_rows]);
            }
            Places::Spread { masses, stride }
        };
        Self { positive: labels.positive(), start, places }
    }

    /// Whether classifiers are evaluated again in later layers.
    pub(super) fn recomputes_masses(&self) -> bool {
        matches!(self.places, Places::Recomputed)
    }

    /// All rows at the root, to take one path each.
    pub(super) fn sampled(
        columns: &Columns<'_>,
        labels: &Labels<'a>,
        start: Start<'a>,
        seed: u64,
    ) -> Self {
        let coins = parallel::values(labels.n_rows(), |row| content_hash(columns, row, seed));
        let nodes = vec![0; labels.n_rows()];
        Self { positive: labels.positive(), start, places: Places::Single { nodes, coins } }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.positive.len()
    }

    /// Mass of a row in a node.
    pub(super) fn mass(&self, row: usize, node: usize) -> u64 {
        let mass = match &self.places {
            Places::Spread { masses, stride } => {
                let first = row - row % TILE_ROWS;
                let n_rows = TILE_ROWS.min(self.n_rows() - first);
                masses[first * stride + node * n_rows + row % TILE_ROWS]
            }
            Places::Recomputed => unreachable!("nobody asks for masses that are not remembered"),
            Places::Single { nodes, .. } if nodes[row] as usize == node => self.start.mass(row),
            Places::Single { .. } => 0,
        };
        u64::from(mass) * u64::from(self.start.copies(row))
    }

    /// Mass of a row at the root.
    pub(super) fn mass_at_start(&self, row: usize) -> u64 {
        self.start.total_mass(row)
    }

    /// Mass of every row in a node.
    pub(super) fn masses(&self, node: usize) -> Vec<u64> {
        parallel::values(self.n_rows(), |row| self.mass(row, node))
    }

    /// All rows, tile by tile.
    pub(super) fn tiles(&self, n_nodes: usize) -> impl Iterator<Item = MassTile<'_>> {
        (0..self.n_rows()).step_by(TILE_ROWS).map(move |first| {
            let rows = first..self.n_rows().min(first + TILE_ROWS);
            let places = match &self.places {
                Places::Spread { masses, stride } => {
                    TilePlaces::Spread(&masses[rows.start * stride..rows.end * stride])
                }
                Places::Recomputed => {
                    unreachable!("nobody asks for masses that are not remembered")
                }
                Places::Single { nodes, .. } => TilePlaces::Single { nodes: &nodes[rows.clone()] },
            };
            MassTile { start: &self.start, first, positive: &self.positive[rows], n_nodes, places }
        })
    }

    /// One pass: rows take the step given by the layer `before`, and the learner, if given,
    /// accumulates its sums. Also returns the mass of each class in each node. `earlier` are the
    /// nodes of all layers before that one.
    pub(super) fn step<L: TwoSidedLearner>(
        &mut self,
        earlier: &[(ClassMasses, Outcome<L::Classifier>)],
        before: &[Outcome<L::Classifier>],
        learner: Option<&L>,
        interrupt: &Interrupt,
    ) -> Result<(Vec<ClassMasses>, Option<L::Sums>), RankError> {
        let n_nodes = before.len() + 1;
        let part_rows = self.n_rows().div_ceil(rayon::current_num_threads()).max(PART_ROWS);
        let part_rows = part_rows.next_multiple_of(TILE_ROWS);
        let (positive, start) = (self.positive, &self.start);
        let empty = || Sums {
            masses: [vec![0; n_nodes], vec![0; n_nodes]],
            learner: learner.map(|learner| learner.empty(n_nodes)),
        };
        let parts: Vec<Sums<L::Sums>> = match &mut self.places {
            Places::Spread { masses, stride } => {
                let stride = *stride;
                let parts = masses.chunks_mut(part_rows * stride).enumerate().collect();
                parallel::try_map(parts, |(part, masses): (usize, &mut [u32])| {
                    let mut sums = empty();
                    let mut chances = vec![Chance::HALF; TILE_ROWS];
                    for (tile, masses) in masses.chunks_mut(TILE_ROWS * stride).enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        let positive = &positive[first..first + masses.len() / stride];
                        spread(before.iter(), first, masses, &mut chances[..positive.len()]);
                        let places = TilePlaces::Spread(masses);
                        sums.add(learner, &MassTile { start, first, positive, n_nodes, places });
                    }
                    Ok(sums)
                })?
            }
            Places::Recomputed => {
                let parts = positive.chunks(part_rows).enumerate().collect();
                parallel::try_map(parts, |(part, positive): (usize, &[bool])| {
                    let mut sums = empty();
                    let mut chances = vec![Chance::HALF; TILE_ROWS];
                    let mut all_masses = vec![0; TILE_ROWS * n_nodes];
                    for (tile, positive) in positive.chunks(TILE_ROWS).enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        let n_rows = positive.len();
                        let chances = &mut chances[..n_rows];
                        let masses = &mut all_masses[..n_nodes * n_rows];
                        let (root, others) = masses.split_at_mut(n_rows);
                        set_out(start, first, root);
                        others.fill(0);
                        for layer in 1..before.len() {
                            let nodes = &earlier[place(layer, 0)..place(layer + 1, 0)];
                            let outcomes = nodes.iter().map(|(_, outcome)| outcome);
                            spread(outcomes, first, masses, chances);
                        }
                        spread(before.iter(), first, masses, chances);
                        let places = TilePlaces::Spread(masses);
                        sums.add(learner, &MassTile { start, first, positive, n_nodes, places });
                    }
                    Ok(sums)
                })?
            }
            Places::Single { nodes, coins } => {
                let parts = nodes.chunks_mut(part_rows).zip(coins.chunks(part_rows)).enumerate();
                parallel::try_map(parts.collect(), |(part, (nodes, coins))| {
                    let mut sums = empty();
                    let tiles = nodes.chunks_mut(TILE_ROWS).zip(coins.chunks(TILE_ROWS));
                    for (tile, (nodes, coins)) in tiles.enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        move_on(before, first, nodes, coins);
                        let positive = &positive[first..first + nodes.len()];
                        let places = TilePlaces::Single { nodes };
                        sums.add(learner, &MassTile { start, first, positive, n_nodes, places });
                    }
                    Ok(sums)
                })?
            }
        };
        let mut parts = parts.into_iter();
        let mut sums = parts.next().unwrap_or_else(empty);
        for part in parts {
            let more = part.masses.iter().flatten();
            sums.masses.iter_mut().flatten().zip(more).for_each(|(sum, more)| *sum += more);
            if let (Some(learner), Some(sums), Some(more)) =
                (learner, &mut sums.learner, part.learner)
            {
                learner.merge(sums, more);
            }
        }
        let [neg, pos] = sums.masses;
        let masses = neg.into_iter().zip(pos).map(|(neg, pos)| ClassMasses { pos, neg });
        Ok((masses.collect(), sums.learner))
    }
}

/// The sums of a pass.
struct Sums<S> {
    /// Mass in each node of each class, negatives first.
    masses: [Vec<u64>; 2],
    learner: Option<S>,
}

impl<S> Sums<S> {
    fn add<L: TwoSidedLearner<Sums = S>>(&mut self, learner: Option<&L>, tile: &MassTile<'_>) {
        tile.add_to_nodes(&mut self.masses);
        if let (Some(learner), Some(sums)) = (learner, &mut self.learner) {
            learner.add(sums, tile);
        }
    }
}

/// Places some rows at the root.
fn set_out(start: &Start<'_>, first: usize, root: &mut [u32]) {
    for (row, mass) in (first..).zip(root) {
        *mass = start.mass(row);
    }
}

/// Splits the masses of some rows; `chances` is scratch memory with an element per row.
fn spread<'o, C: RowChance + 'o>(
    before: impl DoubleEndedIterator<Item = &'o Outcome<C>> + ExactSizeIterator,
    first: usize,
    masses: &mut [u32],
    chances: &mut [Chance],
) {
    let n_rows = chances.len();
    // From the last node on: a node's left part must be written before the node below adds to it.
    for (node, outcome) in before.enumerate().rev() {
        let (here, next) = masses[node * n_rows..].split_at_mut(n_rows);
        match outcome {
            Outcome::Classifier(classifier) => classifier.chances(first..first + n_rows, chances),
            Outcome::Coin => chances.fill(Chance::HALF),
            Outcome::Frozen { .. } | Outcome::Terminal | Outcome::Unreached => {
                here.fill(0);
                continue;
            }
        }
        split_mass(here, next, chances, |chance| chance);
    }
}

/// Sends each of some rows to the next layer.
fn move_on<C: RowChance>(before: &[Outcome<C>], first: usize, nodes: &mut [u32], coins: &[u64]) {
    if before.is_empty() {
        return;
    }
    for ((row, node), &coin) in (first..).zip(nodes).zip(coins) {
        if *node == ENDED {
            continue;
        }
        let chance = match &before[*node as usize] {
            Outcome::Classifier(classifier) => classifier.chance(row),
            Outcome::Coin => Chance::HALF,
            Outcome::Frozen { .. } | Outcome::Terminal | Outcome::Unreached => {
                *node = ENDED;
                continue;
            }
        };
        *node += u32::from(chance.falls_right(coin_at(coin, before.len(), *node as usize)));
    }
}

impl MassTile<'_> {
    /// Number of nodes of the layer.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// The first of the rows.
    #[must_use]
    pub fn first_row(&self) -> usize {
        self.first
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.positive.len()
    }

    /// Whether a row is positive, by its number in the sample.
    #[must_use]
    pub fn is_positive(&self, row: usize) -> bool {
        self.positive[row - self.first]
    }

    /// Calls `add` with row, node and mass wherever there is mass.
    pub fn for_each(&self, mut add: impl FnMut(usize, usize, u64)) {
        match self.places {
            TilePlaces::Spread(masses) => {
                let nodes = masses.chunks_exact(self.n_rows()).take(self.n_nodes);
                for (node, masses) in nodes.enumerate() {
                    for (row, &mass) in (self.first..).zip(masses).filter(|(_, mass)| **mass > 0) {
                        add(row, node, u64::from(mass) * u64::from(self.start.copies(row)));
                    }
                }
            }
            TilePlaces::Single { nodes } => {
                for (row, &node) in (self.first..).zip(nodes) {
                    let mass = self.start.total_mass(row);
                    if node != ENDED && mass > 0 {
                        add(row, node as usize, mass);
                    }
                }
            }
        }
    }

    /// Adds the rows to the sums of each class, negatives first, over the nodes.
    fn add_to_nodes(&self, sums: &mut [Vec<u64>; 2]) {
        let TilePlaces::Spread(masses) = self.places else {
            self.for_each(|row, node, mass| sums[usize::from(self.is_positive(row))][node] += mass);
            return;
        };
        let [neg, pos] = sums;
        let of_nodes = masses.chunks_exact(self.n_rows());
        for ((neg, pos), masses) in neg.iter_mut().zip(pos).zip(of_nodes) {
            for ((row, &is_positive), &mass) in (self.first..).zip(self.positive).zip(masses) {
                let mass = u64::from(mass) * u64::from(self.start.copies(row));
                let of_pos = mass * u64::from(is_positive);
                *pos += of_pos;
                *neg += mass - of_pos;
            }
        }
    }

    /// Adds the rows to a histogram; `by_row` is scratch memory.
    pub(super) fn add_to(
        &self,
        histogram: &mut MassHistogram,
        binned: &crate::data::Binned,
        by_row: &mut Vec<u64>,
    ) {
        let TilePlaces::Spread(masses) = self.places else {
            self.for_each(|row, node, mass| {
                histogram.add_to_one(binned, row, self.is_positive(row), node, mass);
            });
            return;
        };
        let width = MassHistogram::width(self.n_nodes);
        by_row.resize(self.n_rows() * width, 0);
        let of_nodes = masses.chunks_exact(self.n_rows()).take(self.n_nodes);
        for (node, masses) in of_nodes.enumerate() {
            let places = by_row.iter_mut().skip(node).step_by(width);
            for ((row, &mass), place) in (self.first..).zip(masses).zip(places) {
                *place = u64::from(mass) * u64::from(self.start.copies(row));
            }
        }
        histogram.add(binned, self.first, self.positive, by_row);
    }
}
