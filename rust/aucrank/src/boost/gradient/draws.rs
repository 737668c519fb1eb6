//! The rows and features that a tree learns from.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::params::GradientParams;
use crate::data::{Columns, below, content_hashes, mix};
use crate::{Interrupt, RankError};

/// Draws of rows and features, tree by tree.
#[derive(Debug)]
pub(super) struct Draws<'a> {
    training: &'a [u32],
    /// Hash of the content of each training row: copies are drawn together. Empty if all rows are
    /// taken.
    hashes: Vec<u64>,
    subsample: f64,
    max_features: Option<usize>,
    n_features: usize,
}

impl<'a> Draws<'a> {
    pub(super) fn new(
        columns: &Columns<'_>,
        training: &'a [u32],
        params: &GradientParams,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let n_features = columns.n_features();
        let hashes = if params.subsample < 1.0 {
            let hashes = content_hashes(columns, training, seed, interrupt)?;
            hashes.into_iter().map(|(hash, _)| hash).collect()
        } else {
            Vec::new()
        };
        Ok(Self {
            training,
            hashes,
            subsample: params.subsample,
            max_features: params.max_features.filter(|&max| max < n_features),
            n_features,
        })
    }

    /// Whether a tree may see a part of the data only.
    pub(super) fn are_partial(&self) -> bool {
        !self.hashes.is_empty() || self.max_features.is_some()
    }

    /// Draws the rows that a tree learns from; the other training rows are `others`. Both ascend.
    pub(super) fn rows(&self, seed: u64, drawn: &mut Vec<u32>, others: &mut Vec<u32>) {
        drawn.clear();
        others.clear();
        if self.hashes.is_empty() {
            drawn.extend_from_slice(self.training);
            return;
        }
        let bound = (self.subsample * 2_f64.powi(64)) as u64;
        for (&row, &hash) in self.training.iter().zip(&self.hashes) {
            if mix(seed ^ hash) < bound {
                drawn.push(row);
            } else {
                others.push(row);
            }
        }
    }

    /// The features that a tree may ask, ascending.
    pub(super) fn features(&self, seed: u64) -> Vec<usize> {
        let mut features: Vec<usize> = (0..self.n_features).collect();
        let Some(number) = self.max_features else { return features };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for place in 0..number {
            let other = place + below(&mut random, self.n_features - place);
            features.swap(place, other);
        }
        features.truncate(number);
        features.sort_unstable();
        features
    }
}
