//! What each feature adds to a score, where every term asks one feature.

use rayon::prelude::*;

use super::boosted_model::BoostedModel;
use super::term::Term;
use crate::RankError;
use crate::data::Columns;

/// Rows explained at a time: read once, while they are in the cache.
const TILE_ROWS: usize = 1024;

impl BoostedModel {
    /// Whether every term asks one feature, so that the score is a sum of step functions.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.terms().iter().all(|term| matches!(term, Term::Feature(_)))
    }

    /// The parts of the score of each row, row by row, one for each feature: the value of its step
    /// function. They add up to the score and the threshold, exactly and in any order.
    ///
    /// # Errors
    ///
    /// [`RankError::NotAdditive`] if a term asks several features; else as [`BoostedModel::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        if !self.is_additive() {
            return Err(RankError::NotAdditive);
        }
        let mut of_feature = vec![None; columns.n_features()];
        for term in self.merged_terms() {
            let feature = term.feature;
            of_feature[feature] = Some(term);
        }
        let n_features = columns.n_features();
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        let any_infinite = parts
            .par_chunks_mut(TILE_ROWS * n_features.max(1))
            .enumerate()
            .with_min_len(4)
            .map(|(tile, parts)| {
                let start = tile * TILE_ROWS;
                if columns.read_rows(start..start + parts.len() / n_features, parts) {
                    return true;
                }
                for row in parts.chunks_mut(n_features) {
                    for (value, term) in row.iter_mut().zip(&of_feature) {
                        *value = term.as_ref().map_or(0.0, |term| term.value(*value));
                    }
                }
                false
            })
            .reduce(|| false, |a, b| a | b);
        match columns.infinite_value().filter(|_| any_infinite) {
            Some(err) => Err(err),
            None => Ok(parts),
        }
    }
}
