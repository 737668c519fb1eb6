//! Random subsets of rows and features for each round.

use std::borrow::Cow;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::rounds::RoundParams;
use super::weak::WeakSample;
use crate::RankError;
use crate::data::{below, content_hashes, mix};

/// The subsampling of rows and features.
pub(super) struct Subsampling {
    /// Content hash and number of each training row; empty if all rows are taken. A row of weight k
    /// is drawn like k copies of it.
    hashes: Vec<(u64, u32)>,
    subsample: f64,
    max_features: Option<usize>,
    n_features: usize,
}

impl Subsampling {
    /// For `n_features` features, the first columns of the sample.
    pub(super) fn new(
        sample: &WeakSample<'_>,
        rows: &[u32],
        params: &RoundParams,
        n_features: usize,
    ) -> Result<Self, RankError> {
        let hashes = if params.subsample < 1.0 {
            content_hashes(sample.columns, rows, params.seed, sample.interrupt)?
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

    /// Whether a round may be restricted to a subset.
    pub(super) fn are_partial(&self) -> bool {
        !self.hashes.is_empty() || self.max_features.is_some()
    }

    /// The rows of a round, among those of positive mass, with at least one of each class: if none
    /// of a class is drawn, its first in the order of the draw.
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
        Some(draw_features(seed, self.n_features, self.max_features?))
    }
}

/// Some of the features, ascending.
pub(super) fn draw_features(seed: u64, n_features: usize, number: usize) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut features: Vec<usize> = (0..n_features).collect();
    for place in 0..number {
        let other = place + below(&mut random, n_features - place);
        features.swap(place, other);
    }
    features.truncate(number);
    features.sort_unstable();
    features
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::boost::WeakRankerParams;
    use crate::data::{Binned, Columns, Labels};

    fn with_draws(
        values: &[f64],
        n_features: usize,
        params: &RoundParams,
        test: impl Fn(&Subsampling),
    ) {
        let n_rows = values.len() / n_features;
        let positive: Vec<bool> = (0..n_rows).map(|row| row % 4 == 0).collect();
        let columns = Columns::from_row_major(values, n_features).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let interrupt = Interrupt::default();
        let binned = Binned::new(&columns, &labels, params.binning, &interrupt).unwrap();
        let sample = WeakSample {
            columns: &columns,
            binned: &binned,
            labels: &labels,
            external: None,
            interrupt: &interrupt,
        };
        test(&Subsampling::new(&sample, &labels.rows(), params, n_features).unwrap());
    }

    #[test]
    fn copies_are_drawn_together_and_each_round_anew() {
        // Rows k and k + 1000 are copies.
        let values: Vec<f64> = (0..4000).map(|row| f64::from(row % 1000)).collect();
        let params = RoundParams {
            subsample: 0.3,
            weak_ranker: WeakRankerParams::Feature,
            ..RoundParams::default()
        };
        let positive: Vec<bool> = (0..4000).map(|row| row % 4 == 0).collect();
        with_draws(&values, 1, &params, |draws| {
            let (rows, masses): (Vec<u32>, Vec<u64>) = (0..4000).map(|row| (row, 1)).unzip();
            let drawn = |seed| draws.rows(&rows, seed, &positive, &masses).into_owned();
            let (first, second) = (drawn(1), drawn(2));
            assert_ne!(first, second);
            let share = first.len() as f64 / 4000.0;
            assert!((share - 0.3).abs() < 0.05, "{share}");
            assert!(first.is_sorted());
            for row in 0..1000 {
                let with = (0..4).filter(|k| first.contains(&(row + 1000 * k))).count();
                assert!(with == 0 || with == 4);
            }
        });
    }

    #[test]
    fn a_draw_has_mass_of_both_classes() {
        let values: Vec<f64> = (0..8).map(f64::from).collect();
        let params = RoundParams { subsample: 1e-9, ..RoundParams::default() };
        let positive: Vec<bool> = (0..8).map(|row| row % 4 == 0).collect();
        // Of the positive rows only the second has mass.
        let masses = [0, 1, 1, 1, 1, 1, 1, 1];
        with_draws(&values, 1, &params, |draws| {
            for seed in 0..20 {
                let drawn = draws.rows(&[], seed, &positive, &masses);
                let n_pos = drawn.iter().filter(|&&row| positive[row as usize]).count();
                assert_eq!((n_pos, drawn.len()), (1, 2));
                assert!(drawn.contains(&4));
            }
        });
    }

    #[test]
    fn features_are_drawn_without_repetition() {
        let values = vec![0.5; 40];
        let params = RoundParams { max_features: Some(3), ..RoundParams::default() };
        with_draws(&values, 10, &params, |draws| {
            let mut seen = [0; 10];
            for seed in 0..2000 {
                let features = draws.features(seed).unwrap();
                assert_eq!(features.len(), 3);
                assert!(features.windows(2).all(|pair| pair[0] < pair[1]));
                for feature in features {
                    seen[feature] += 1;
                }
            }
            // 600 each on average.
            assert!(seen.iter().all(|n| (500..700).contains(n)), "{seen:?}");
        });
    }
}
