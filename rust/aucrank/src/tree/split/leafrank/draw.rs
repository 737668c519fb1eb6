//! Stumps on features that are drawn for them.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::growing::Growing;
use super::params::LeafRankParams;
use crate::data::{FeatureBins, HistogramRequest, SumSource, below};
use crate::tree::split::stump::{Stump, StumpTerms, best_stump};
use crate::{RankError, parallel};

/// Bytes of the histograms of features that are drawn, which are counted together. They are forgotten
/// once the stumps are known: many small nodes need no more than a few large ones.
const HISTOGRAM_BYTES: usize = 1 << 20;

impl LeafRankParams {
    /// Finds stumps for parts, each given by its tree and its place there, on features that are
    /// drawn for it.
    pub(super) fn draw_stumps<S: SumSource + Sync>(
        &self,
        source: &S,
        growing: &mut [Growing<'_, S::Tally>],
        parts: &[(usize, usize)],
        terms: StumpTerms<'_>,
    ) -> Result<(), RankError> {
        let features = source.features();
        let n_drawn = self.max_features.unwrap_or(features.len()).max(1);
        let mut waiting: Vec<(usize, usize, Vec<usize>)> = parts
            .iter()
            .map(|&(tree, part)| (tree, part, &growing[tree].parts[part]))
            .filter(|(.., part)| self.is_large(part.sums))
            .map(|(tree, place, part)| {
                let mut drawn = shuffled(features.len(), part.seed);
                drawn.retain(|&feature| terms.may_ask(feature));
                (tree, place, drawn)
            })
            .collect();
        while !waiting.is_empty() {
            let wanted: Vec<HistogramRequest> = waiting
                .iter_mut()
                .map(|(tree, part, rest)| {
                    let mut drawn = rest.split_off(rest.len().saturating_sub(n_drawn));
                    drawn.sort_unstable();
                    HistogramRequest {
                        cell: growing[*tree].parts[*part].cell,
                        features: Some(drawn),
                    }
                })
                .collect();
            let mut found = Vec::with_capacity(waiting.len());
            let mut rest = &wanted[..];
            while !rest.is_empty() {
                let first = found.len();
                let n_rows = |part: usize| {
                    let &(tree, part, _) = &waiting[first + part];
                    growing[tree].parts[part].sums.rows as usize
                };
                let piece;
                (piece, rest) =
                    rest.split_at(n_counted_at_once::<S::Tally>(features, rest, n_rows));
                let histograms = source.histograms(piece)?;
                let trees = &*growing;
                let wanted = waiting[first..].iter().zip(&histograms).collect();
                let stumps: Vec<Option<Stump>> =
                    parallel::map(wanted, |((tree, part, _), histogram)| {
                        let part = &trees[*tree].parts[*part];
                        let terms = self.drawing(terms, part.seed);
                        best_stump(features, histogram, part.sums, self.min_samples_leaf, terms)
                    });
                for (&(tree, part, _), stump) in waiting[first..].iter().zip(stumps) {
                    found.push(stump.is_some());
                    growing[tree].parts[part].stump = stump;
                }
            }
            let mut found = found.into_iter();
            waiting.retain(|(.., rest)| !(found.next() == Some(true) || rest.is_empty()));
        }
        Ok(())
    }
}

/// How many of the wanted histograms are counted before stumps are found in them: at least one, and
/// as many as [`HISTOGRAM_BYTES`] hold. `n_rows` are those of the cell of each.
fn n_counted_at_once<T>(
    features: &[FeatureBins],
    wanted: &[HistogramRequest],
    n_rows: impl Fn(usize) -> usize,
) -> usize {
    let mut bytes = 0;
    for (place, wanted) in wanted.iter().enumerate() {
        // A feature of many codes takes no more than two bins a row, or a list of as many bytes.
        let most = 2 * n_rows(place) + 256;
        for &feature in wanted.features.iter().flatten() {
            bytes += size_of::<T>() * features[feature].n_codes().min(most);
        }
        if bytes > HISTOGRAM_BYTES {
            return place.max(1);
        }
    }
    wanted.len()
}

/// The numbers below `n` in random order.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, below(&mut random, i + 1));
    }
    order
}
