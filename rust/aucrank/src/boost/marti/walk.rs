//! The distribution of the rows of a fit over the nodes of a layer.
//!
//! Rows step together in tiles, in which the masses of a node are contiguous for all rows, so that
//! a step is a few vector instructions for several rows. If there are few layers, and the
//! classifiers can be evaluated on all rows, masses are not stored: in each layer they are
//! recomputed from the root, tile by tile, which takes about as long as reading stored ones.

use super::start::Start;
use super::tile::{MassTile, TilePlaces};
use crate::data::{Columns, Labels, coin};
use crate::parallel;

/// Rows that step together: their masses stay in the first-level cache.
pub(super) const TILE_ROWS: usize = 512;

/// Maximum number of layers for which masses are recomputed: the steps of a row grow as the cube of
/// the layers.
const MOST_LAYERS_RECOMPUTED: usize = 16;

/// The nodes that rows are in, in one layer.
#[derive(Debug)]
pub(super) enum Places {
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
    pub(super) positive: &'a [bool],
    pub(super) start: Start<'a>,
    pub(super) places: Places,
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
        let coins = parallel::values(labels.n_rows(), |row| coin(columns, row, seed));
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
}

/// Places some rows at the root.
pub(super) fn set_out(start: &Start<'_>, first: usize, root: &mut [u32]) {
    for (row, mass) in (first..).zip(root) {
        *mass = start.mass(row);
    }
}
