//! The rows and the features that are drawn for each tree.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::params::GradientParams;
use crate::data::{Columns, below, content_hashes, mix};
use crate::{Interrupt, RankError};

/// Draws of rows, tree by tree.
#[derive(Debug)]
pub(super) struct RowDraws {
    training: Arc<[u32]>,
    /// Hash of the content of each training row: copies are drawn together. Empty if all rows are
    /// taken.
    hashes: Vec<u64>,
    draw: Draw,
}

/// The rule that draws the rows of a tree.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Draw {
    bound: u64,
}

impl Draw {
    /// Draws a share of the rows.
    pub(super) fn share(subsample: f64) -> Self {
        Self { bound: (subsample * 2_f64.powi(64)) as u64 }
    }

    /// Whether a row is drawn, given the hash of its content.
    #[inline]
    pub(super) fn takes(self, seed: u64, hash: u64) -> bool {
        mix(seed ^ hash) < self.bound
    }
}

impl RowDraws {
    pub(super) fn new(
        columns: &Columns<'_>,
        training: Arc<[u32]>,
        params: &GradientParams,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let hashes = if params.subsample < 1.0 {
            let hashes = content_hashes(columns, &training, seed, interrupt)?;
            hashes.into_iter().map(|(hash, _)| hash).collect()
        } else {
            Vec::new()
        };
        Ok(Self { training, hashes, draw: Draw::share(params.subsample) })
    }

    /// Draws the rows of a tree; the other training rows are `others`. Both are ascending.
    pub(super) fn rows(&self, seed: u64, drawn: &mut Vec<u32>, others: &mut Vec<u32>) {
        drawn.clear();
        others.clear();
        if self.hashes.is_empty() {
            drawn.extend_from_slice(&self.training);
            return;
        }
        for (&row, &hash) in self.training.iter().zip(&self.hashes) {
            // By content, not by a sequence of random numbers: the rows of a tree depend neither on
            // the order of the rows nor on who holds them.
            if self.draw.takes(seed, hash) {
                drawn.push(row);
            } else {
                others.push(row);
            }
        }
    }
}

/// Draws of features, tree by tree.
#[derive(Debug)]
pub(super) struct FeatureDraws {
    max_features: Option<usize>,
    n_features: usize,
}

impl FeatureDraws {
    pub(super) fn new(n_features: usize, params: &GradientParams) -> Self {
        let max_features = params.max_features.filter(|&max| max < n_features);
        Self { max_features, n_features }
    }

    /// Number of all features.
    pub(super) fn n_features(&self) -> usize {
        self.n_features
    }

    /// Whether a tree may test only a part of the features.
    pub(super) fn are_partial(&self) -> bool {
        self.max_features.is_some()
    }

    /// The features that a tree may test, ascending.
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
