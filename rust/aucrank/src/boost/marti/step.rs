//! One pass over the rows: the step of a layer, and the sums of the learner.

use super::chance::{Chance, split_mass};
use super::learner::{RowChance, TwoSidedLearner};
use super::outcome::Outcome;
use super::places::{coin_at, place};
use super::start::Start;
use super::walk::{ENDED, MassTile, NodePlaces, ProgramWalk, TILE_ROWS, TilePlaces, set_out};
use crate::data::ClassMasses;
use crate::{Interrupt, RankError, parallel};

/// Minimum number of rows per thread.
const PART_ROWS: usize = 16 * TILE_ROWS;

impl ProgramWalk<'_> {
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
        let part_rows =
            self.n_rows().div_ceil(crate::parallel::current_num_threads()).max(PART_ROWS);
        let part_rows = part_rows.next_multiple_of(TILE_ROWS);
        let (positive, start) = (self.positive, &self.start);
        let empty = || PassSums {
            masses: [vec![0; n_nodes], vec![0; n_nodes]],
            learner: learner.map(|learner| learner.empty(n_nodes)),
        };
        let parts: Vec<PassSums<L::Sums>> = match &mut self.places {
            NodePlaces::Spread { masses, stride } => {
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
            NodePlaces::Recomputed => {
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
                        let layers = (1..before.len()).map(|layer| {
                            let nodes = &earlier[place(layer, 0)..place(layer + 1, 0)];
                            nodes.iter().map(|(_, outcome)| outcome)
                        });
                        spread_from_root(start, layers, first, masses, chances);
                        spread(before.iter(), first, masses, chances);
                        let places = TilePlaces::Spread(masses);
                        sums.add(learner, &MassTile { start, first, positive, n_nodes, places });
                    }
                    Ok(sums)
                })?
            }
            NodePlaces::Single { nodes, coins } => {
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
struct PassSums<S> {
    /// Mass in each node of each class, negatives first.
    masses: [Vec<u64>; 2],
    learner: Option<S>,
}

impl<S> PassSums<S> {
    fn add<L: TwoSidedLearner<Sums = S>>(&mut self, learner: Option<&L>, tile: &MassTile<'_>) {
        tile.add_to_nodes(&mut self.masses);
        if let (Some(learner), Some(sums)) = (learner, &mut self.learner) {
            learner.add(sums, tile);
        }
    }
}

/// Spreads some rows over the layer after others, from the root on.
#[inline]
pub(super) fn spread_from_root<'o, C: RowChance + 'o, O>(
    start: &Start<'_>,
    layers: impl Iterator<Item = O>,
    first: usize,
    masses: &mut [u32],
    chances: &mut [Chance],
) where
    O: DoubleEndedIterator<Item = &'o Outcome<C>> + ExactSizeIterator,
{
    let (root, others) = masses.split_at_mut(chances.len());
    set_out(start, first, root);
    others.fill(0);
    for outcomes in layers {
        spread(outcomes, first, masses, chances);
    }
}

/// Splits the masses of some rows; `chances` is scratch memory with an element per row.
#[inline]
pub(super) fn spread<'o, C: RowChance + 'o>(
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
