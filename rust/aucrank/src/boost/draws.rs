//! Which rows and features a round learns from.

use std::borrow::Cow;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use rayon::prelude::*;

use super::rounds::RoundParams;
use super::weak::WeakSample;
use crate::RankError;
use crate::data::{below, content_hash, mix};

/// What is drawn for each round.
pub(super) struct Draws {
    /// Hash of the content of each row to learn from, and its number; nothing where all rows are
    /// taken. A row of weight k and k copies of it are drawn alike.
    hashes: Vec<(u64, u32)>,
    subsample: f64,
    max_features: Option<usize>,
    n_features: usize,
}

impl Draws {
    pub(super) fn new(
        sample: &WeakSample<'_>,
        rows: &[u32],
        params: &RoundParams,
    ) -> Result<Self, RankError> {
        let n_features = sample.columns.n_features();
        let hash = |&row: &u32| {
            sample.interrupt.check()?;
            Ok((content_hash(sample.columns, row as usize, params.seed), row))
        };
        let hashes = if params.subsample < 1.0 {
            rows.par_iter().map(hash).collect::<Result<_, RankError>>()?
        } else {
            Vec::new()
        };
        Ok(Self {
            hashes,
            subsample: params.subsample,
            max_features: params.max_features.filter(|&max| max < n_features),
            n_features,
        })
    }

    /// Whether a round may see less than all.
    pub(super) fn are_partial(&self) -> bool {
        !self.hashes.is_empty() || self.max_features.is_some()
    }

    /// The rows of a round, among those of positive mass at least one of each class: where none of a
    /// class is drawn, the first in the order of the draw is.
    pub(super) fn rows<'r>(
        &self,
        rows: &'r [u32],
        seed: u64,
        positive: &[bool],
        masses: &[u64],
    ) -> Cow<'r, [u32]> {
        if self.hashes.is_empty() {
            return Cow::Borrowed(rows);
        }
        let (mut lowest, mut has_mass) = ([u64::MAX; 2], [false; 2]);
        let bound = (self.subsample * 2_f64.powi(64)) as u64;
        let word = |hash: u64| mix(seed ^ hash);
        let drawn = |&(hash, row): &(u64, u32)| {
            let class = usize::from(positive[row as usize]);
            let has = masses[row as usize] > 0;
            let word = word(hash);
            if has {
                lowest[class] = lowest[class].min(word);
            }
            has_mass[class] |= has && word < bound;
            (word < bound).then_some(row)
        };
        let mut drawn: Vec<u32> = self.hashes.iter().filter_map(drawn).collect();
        for class in 0..2 {
            if !has_mass[class] {
                let is_first = |&&(hash, row): &&(u64, u32)| {
                    usize::from(positive[row as usize]) == class && word(hash) == lowest[class]
                };
                drawn.extend(self.hashes.iter().filter(is_first).map(|&(_, row)| row));
                drawn.sort_unstable();
            }
        }
        Cow::Owned(drawn)
    }

    /// The features of a round, ascending; `None` for all.
    pub(super) fn features(&self, seed: u64) -> Option<Vec<usize>> {
        let number = self.max_features?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut features: Vec<usize> = (0..self.n_features).collect();
        for place in 0..number {
            let other = place + below(&mut random, self.n_features - place);
            features.swap(place, other);
        }
        features.truncate(number);
        features.sort_unstable();
        Some(features)
    }
}
