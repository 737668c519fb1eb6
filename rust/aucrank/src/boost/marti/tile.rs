//! A tile of rows in a layer: what a learner adds to its sums.

use super::start::Start;
use crate::data::{Binned, MassHistogram};

/// Node of a row whose path has ended.
pub(super) const ENDED: u32 = u32::MAX;

/// A tile of rows in a layer, with their masses in its nodes.
///
/// # Examples
///
/// The [`add`](crate::boost::TwoSidedLearner::add) of a learner that needs the mass of the positive
/// rows of each node:
///
/// ```
/// use aucrank::boost::MassTile;
///
/// fn add(positive_masses: &mut [u64], tile: &MassTile<'_>) {
///     assert_eq!(positive_masses.len(), tile.n_nodes());
///     tile.for_each(|row, node, mass| {
///         if tile.is_positive(row) {
///             positive_masses[node] += mass;
///         }
///     });
/// }
/// ```
#[derive(Debug)]
pub struct MassTile<'a> {
    pub(super) start: &'a Start<'a>,
    pub(super) first: usize,
    pub(super) positive: &'a [bool],
    pub(super) n_nodes: usize,
    pub(super) places: TilePlaces<'a>,
}

#[derive(Debug)]
pub(super) enum TilePlaces<'a> {
    /// The masses of the rows, for each node.
    Spread(&'a [u32]),
    /// The node of each row.
    Single { nodes: &'a [u32] },
}

impl MassTile<'_> {
    /// Number of nodes of the layer.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.n_nodes
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
    pub(super) fn add_to_nodes(&self, sums: &mut [Vec<u64>; 2]) {
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
        binned: &Binned,
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
