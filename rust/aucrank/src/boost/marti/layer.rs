//! A layer as a learner sees it.

use super::node_sample::SampleRing;
use super::program::place;
use super::walk::Walk;
use crate::data::{ClassMasses, mix};

/// A layer whose nodes are about to learn.
///
/// # Examples
///
/// A learner that looks at its layers, and finds no classifier that is better than chance:
///
/// ```
/// use aucrank::boost::{Layer, MartiBoostParams, MassTile, TwoSidedLearner, marti_boost};
/// # use aucrank::boost::{Chance, RowChance};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::{Interrupt, RankError};
///
/// # struct Half;
/// # impl RowChance for Half {
/// #     fn chance(&self, _row: usize) -> Chance { Chance::HALF }
/// # }
/// struct Learner;
///
/// impl TwoSidedLearner for Learner {
///     type Classifier = Half;
///     type Sums = ();
///
///     fn empty(&self, _: usize) {}
///     fn add(&self, (): &mut (), _: &MassTile<'_>) {}
///     fn merge(&self, (): &mut (), (): ()) {}
///
///     fn learn(&self, (): (), layer: &Layer<'_>) -> Result<Vec<Option<Half>>, RankError> {
///         // Layer t has nodes 0 to t - 1; coins send some of every row to each of them.
///         assert_eq!(layer.open(), (0..layer.number()).collect::<Vec<_>>());
///         assert_eq!(layer.rows(0), [0, 1, 2, 3]);
///         let of_node = layer.class_masses()[0];
///         assert_eq!(layer.masses(0).iter().sum::<u64>(), of_node.pos + of_node.neg);
///         Ok(layer.open().iter().map(|_| None).collect())
///     }
/// }
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let params = MartiBoostParams { n_rounds: 3, ..MartiBoostParams::default() };
/// marti_boost(&columns, &labels, &params, &Learner, &Interrupt::default())?;
/// # Ok::<(), RankError>(())
/// ```
#[derive(Debug)]
pub struct Layer<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) number: usize,
    pub(super) open: &'a [usize],
    pub(super) masses: &'a [ClassMasses],
    pub(super) estimates: &'a [ClassMasses],
    pub(super) ring: Option<&'a SampleRing>,
    pub(super) seed: u64,
}

impl Layer<'_> {
    /// Its number, counted from 1.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The nodes that learn, ascending: those reached and not frozen.
    #[must_use]
    pub fn open(&self) -> &[usize] {
        self.open
    }

    /// Mass of each class in each node of the layer.
    #[must_use]
    pub fn class_masses(&self) -> &[ClassMasses] {
        self.masses
    }

    /// Mass of each class in each node, as estimated from the samples of the nodes.
    #[must_use]
    pub fn estimates(&self) -> &[ClassMasses] {
        self.estimates
    }

    /// Mass of every row in a node.
    #[must_use]
    pub fn masses(&self, node: usize) -> Vec<u64> {
        self.walk.masses(node)
    }

    /// Rows that a node learns from, ascending: all that have mass there, or a sample of them.
    #[must_use]
    pub fn rows(&self, node: usize) -> Vec<u32> {
        let has_mass = |row: u32| self.walk.mass(row as usize, node) > 0;
        let Some(ring) = self.ring else {
            return (0..self.walk.n_rows() as u32).filter(|&row| has_mass(row)).collect();
        };
        let from = self.seed_of(node);
        let mut rows = ring.rows(false, from, has_mass);
        rows.extend(ring.rows(true, from, has_mass));
        rows.sort_unstable();
        rows
    }

    /// A random seed for a node.
    #[must_use]
    pub fn seed_of(&self, node: usize) -> u64 {
        seed_of(self.seed, self.number, node)
    }
}

/// A random seed for a node of a layer.
pub(super) fn seed_of(seed: u64, layer: usize, node: usize) -> u64 {
    mix(seed ^ mix(place(layer, node) as u64))
}
