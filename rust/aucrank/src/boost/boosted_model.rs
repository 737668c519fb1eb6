//! A sum of terms: what `AUCBoost` and `RankBoost` learn.

use serde::{Deserialize, Serialize};

use super::scored::{RowScorer, ScoredTerm};
use super::term::{FeatureTerm, Term};
use super::weak::outside::RowScores;
use crate::RankError;
use crate::data::Columns;

/// Rows scored at a time.
const TILE_ROWS: usize = 1024;

/// A sum of terms, one for each round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoostedModel {
    n_levels: Vec<Option<u32>>,
    terms: Vec<Term>,
    /// After each round and for each class, negatives first, the mean of `exp(-y f(x))` on the
    /// training rows, which bounds the share of rows on the wrong side of 0.
    mean_exponentials: Vec<[f64; 2]>,
    threshold: f64,
}

impl BoostedModel {
    pub(super) fn new(
        n_levels: Vec<Option<u32>>,
        terms: Vec<Term>,
        mean_exponentials: Vec<[f64; 2]>,
        threshold: f64,
    ) -> Self {
        Self { n_levels, terms, mean_exponentials, threshold }
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// The terms, round by round.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The sum of terms from which on a row is called positive.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The terms of single features, one for each feature that has any, by feature.
    #[must_use]
    pub fn merged_terms(&self) -> Vec<FeatureTerm> {
        let mut merged: Vec<Option<FeatureTerm>> = vec![None; self.n_levels.len()];
        for term in &self.terms {
            let Term::Feature(term) = term else { continue };
            match &mut merged[term.feature] {
                Some(sum) => sum.add(term),
                none => *none = Some(term.clone()),
            }
        }
        merged.into_iter().flatten().collect()
    }

    /// Numbers of the rankers outside that it asks, ascending.
    #[must_use]
    pub fn outside_rankers(&self) -> Vec<usize> {
        let number = |term: &Term| match term {
            Term::Scored(ScoredTerm { scorer: RowScorer::Outside { number, .. }, .. }) => {
                Some(*number)
            }
            _ => None,
        };
        self.terms.iter().filter_map(number).collect()
    }

    /// Score of each row, above 0 where it is called positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn score(
        &self,
        columns: &Columns<'_>,
        outside: Option<&dyn RowScores>,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let terms = self.merged_terms();
        let (n_rows, n_features) = (columns.n_rows(), columns.n_features());
        let mut scores = vec![-self.threshold; n_rows];
        let mut row = vec![0.0; TILE_ROWS * n_features];
        for (tile, scores) in scores.chunks_mut(TILE_ROWS).enumerate() {
            let start = tile * TILE_ROWS;
            row.truncate(scores.len() * n_features);
            columns.read_rows(start..start + scores.len(), &mut row);
            for (score, row) in scores.iter_mut().zip(row.chunks(n_features)) {
                *score += terms.iter().map(|term| term.value(row[term.feature])).sum::<f64>();
            }
        }
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        for term in self.terms.iter().filter(|term| !matches!(term, Term::Feature(_))) {
            term.add_values(columns, outside, &mut scores)?;
        }
        Ok(scores)
    }

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        self.terms.iter().try_for_each(|term| match term {
            Term::Feature(_) => Ok(()),
            Term::Tree(term) => term.check(&self.n_levels),
            Term::Scored(term) => term.check(&self.n_levels),
        })
    }
}
