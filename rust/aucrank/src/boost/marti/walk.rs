//! Where the rows of a fit are.

use rayon::prelude::*;

use super::chance::Chance;
use super::marti_boost::{Outcome, RowChance, TwoSidedLearner};
use super::program::place;
use super::start::Start;
use crate::data::{ClassMasses, Columns, Labels, Lanes, MassHistogram, content_hash, mix};
use crate::{Interrupt, RankError};

/// Rows that take a step together: their masses stay in the nearest cache.
const TILE_ROWS: usize = 512;

/// Least rows of a thread.
const PART_ROWS: usize = 16 * TILE_ROWS;

/// Node of a row whose way has ended.
const ENDED: u32 = u32::MAX;

/// Where rows are, in one layer.
#[derive(Debug)]
enum Places {
    /// Everywhere, in part: for each row its mass in each node, side by side.
    Spread { masses: Vec<u32>, stride: usize },
    /// At one node each.
    Single { nodes: Vec<u32>, coins: Vec<u64> },
}

/// The rows of a fit on their way.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    positive: &'a [bool],
    start: Start<'a>,
    places: Places,
}

/// Some rows in a layer, with their masses in its nodes.
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
    Spread { masses: &'a [u32], stride: usize },
    Single { nodes: &'a [u32] },
}

impl<'a> Walk<'a> {
    /// All rows at the root, to spread over the nodes.
    pub(super) fn expected(labels: &Labels<'a>, start: Start<'a>, n_rounds: usize) -> Self {
        let stride = n_rounds + 1;
        let mut masses = vec![0; labels.n_rows() * stride];
        for (row, masses) in masses.chunks_exact_mut(stride).enumerate() {
            masses[0] = start.mass(row);
        }
        Self { positive: labels.positive(), start, places: Places::Spread { masses, stride } }
    }

    /// All rows at the root, to go one way each.
    pub(super) fn sampled(
        columns: &Columns<'_>,
        labels: &Labels<'a>,
        start: Start<'a>,
        seed: u64,
    ) -> Self {
        let rows = (0..labels.n_rows()).into_par_iter();
        let coins = rows.map(|row| content_hash(columns, row, seed)).collect();
        let nodes = vec![0; labels.n_rows()];
        Self { positive: labels.positive(), start, places: Places::Single { nodes, coins } }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.positive.len()
    }

    /// Mass of a row in a node.
    pub(super) fn mass(&self, row: usize, node: usize) -> u64 {
        let mass = match &self.places {
            Places::Spread { masses, stride } => masses[row * stride + node],
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
        (0..self.n_rows()).into_par_iter().map(|row| self.mass(row, node)).collect()
    }

    /// All rows as one tile.
    pub(super) fn all(&self, n_nodes: usize) -> MassTile<'_> {
        let places = match &self.places {
            Places::Spread { masses, stride } => TilePlaces::Spread { masses, stride: *stride },
            Places::Single { nodes, .. } => TilePlaces::Single { nodes },
        };
        MassTile { start: &self.start, first: 0, positive: self.positive, n_nodes, places }
    }

    /// One pass: rows take the step that the layer `before` sends them on, and the learner, if there is
    /// one, sums what it needs. Returns the mass of each class in each node, too.
    pub(super) fn step<L: TwoSidedLearner>(
        &mut self,
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
        let tile_of = |first: usize, n_rows: usize, places| {
            let positive = &positive[first..first + n_rows];
            MassTile { start, first, positive, n_nodes, places }
        };
        let parts: Vec<Sums<L::Sums>> = match &mut self.places {
            Places::Spread { masses, stride } => {
                let stride = *stride;
                let parts = masses.par_chunks_mut(part_rows * stride).enumerate();
                let sums = parts.map(|(part, masses)| {
                    let mut sums = empty();
                    let mut chances = vec![Chance::HALF; TILE_ROWS];
                    for (tile, masses) in masses.chunks_mut(TILE_ROWS * stride).enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        spread(before, first, masses, stride, &mut chances);
                        let places = TilePlaces::Spread { masses, stride };
                        sums.add(learner, &tile_of(first, masses.len() / stride, places));
                    }
                    Ok(sums)
                });
                sums.collect::<Result<_, RankError>>()?
            }
            Places::Single { nodes, coins } => {
                let parts = nodes.par_chunks_mut(part_rows).zip(coins.par_chunks(part_rows));
                let sums = parts.enumerate().map(|(part, (nodes, coins))| {
                    let mut sums = empty();
                    let tiles = nodes.chunks_mut(TILE_ROWS).zip(coins.chunks(TILE_ROWS));
                    for (tile, (nodes, coins)) in tiles.enumerate() {
                        interrupt.check()?;
                        let first = part * part_rows + tile * TILE_ROWS;
                        move_on(before, first, nodes, coins);
                        let n_rows = nodes.len();
                        sums.add(learner, &tile_of(first, n_rows, TilePlaces::Single { nodes }));
                    }
                    Ok(sums)
                });
                sums.collect::<Result<_, RankError>>()?
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

/// What a pass sums.
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

/// Parts the masses of some rows.
fn spread<C: RowChance>(
    before: &[Outcome<C>],
    first: usize,
    masses: &mut [u32],
    stride: usize,
    chances: &mut [Chance],
) {
    let chances = &mut chances[..masses.len() / stride];
    // From the last node on: what stays left of a node is there before the node below adds to it.
    for (node, outcome) in before.iter().enumerate().rev() {
        match outcome {
            Outcome::Classifier(classifier) => {
                classifier.chances(first..first + chances.len(), chances);
            }
            Outcome::Coin => chances.fill(Chance::HALF),
            Outcome::Frozen { .. } | Outcome::Terminal | Outcome::Unreached => {
                masses.iter_mut().skip(node).step_by(stride).for_each(|mass| *mass = 0);
                continue;
            }
        }
        for (masses, chance) in masses.chunks_exact_mut(stride).zip(&*chances) {
            let right = chance.right_of(masses[node]);
            masses[node] -= right;
            masses[node + 1] += right;
        }
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

/// The coin of a row at a node, from the hash of what the row holds.
#[inline]
pub(super) fn coin_at(content: u64, layer: usize, node: usize) -> u64 {
    mix(content ^ mix(place(layer, node) as u64))
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

    /// Calls `add` with row, node and mass for all that have mass.
    pub fn for_each(&self, mut add: impl FnMut(usize, usize, u64)) {
        match self.places {
            TilePlaces::Spread { masses, stride } => {
                for (row, masses) in (self.first..).zip(masses.chunks_exact(stride)) {
                    let copies = self.start.copies(row);
                    for (node, &mass) in masses[..self.n_nodes].iter().enumerate() {
                        if mass > 0 {
                            add(row, node, u64::from(mass) * u64::from(copies));
                        }
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

    /// Adds the rows to sums of each class, negatives first, over the nodes.
    fn add_to_nodes(&self, sums: &mut [Vec<u64>; 2]) {
        let TilePlaces::Spread { masses, stride } = self.places else {
            self.for_each(|row, node, mass| sums[usize::from(self.is_positive(row))][node] += mass);
            return;
        };
        let rows = (self.first..).zip(self.positive).zip(masses.chunks_exact(stride));
        for ((row, &is_positive), masses) in rows {
            let copies = self.start.copies(row);
            for (sum, &mass) in sums[usize::from(is_positive)].iter_mut().zip(masses) {
                *sum += u64::from(mass) * u64::from(copies);
            }
        }
    }

    /// Adds the rows to a histogram; `lanes` is memory to be used.
    pub(super) fn add_to(
        &self,
        histogram: &mut MassHistogram,
        binned: &crate::data::Binned,
        lanes: &mut Vec<Lanes>,
    ) {
        let TilePlaces::Spread { masses, stride } = self.places else {
            self.for_each(|row, node, mass| {
                histogram.add_to_one(binned, row, self.is_positive(row), node, mass);
            });
            return;
        };
        let n_blocks = MassHistogram::n_blocks(self.n_nodes);
        lanes.resize(self.n_rows() * n_blocks, Lanes::default());
        let rows = (self.first..).zip(masses.chunks_exact(stride));
        for ((row, masses), lanes) in rows.zip(lanes.chunks_exact_mut(n_blocks)) {
            let copies = self.start.copies(row);
            for (lane, &mass) in lanes.as_flattened_mut().iter_mut().zip(&masses[..self.n_nodes]) {
                *lane = u64::from(mass) * u64::from(copies);
            }
        }
        histogram.add(binned, self.first, self.positive, lanes);
    }
}
