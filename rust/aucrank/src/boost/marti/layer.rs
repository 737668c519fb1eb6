//! A layer as a learner sees it.

use super::node_sample::SampleRing;
use super::program::place;
use super::walk::Walk;
use crate::data::{ClassMasses, mix};

/// A layer whose nodes are about to learn.
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
