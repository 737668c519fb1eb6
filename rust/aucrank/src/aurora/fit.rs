//! `AURORA`.

use serde::{Deserialize, Serialize};

use super::ascent::{Climber, Limits};
use super::binarize::{Binarizer, BinarizerParams};
use super::observations::Observations;
use super::packed::PackedTerms;
use super::search::{SearchParams, search};
use super::select::Depth;
use super::term::{BinaryTerm, Literal};
use crate::data::{Columns, Labels, hold_out};
use crate::{Interrupt, RankError};

/// How `AURORA` learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuroraParams {
    pub max_features: usize,
    pub order: usize,
    pub radius: f64,
    pub shortlist: usize,
    pub by_midpoint: usize,
    pub combined: usize,
    pub first_gain: f64,
    pub last_gain: f64,
    pub least_gain: f64,
    pub circles: usize,
    pub final_circles: usize,
    pub validation_fraction: f64,
    pub seed: u64,
}

/// A fitted `AURORA`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Aurora {
    pub binarizer: Binarizer,
    pub terms: Vec<BinaryTerm>,
    pub weights: Vec<f64>,
    /// Ramp and AUC, on the rows learned from and on those held out, after each term.
    pub path: Vec<[f64; 4]>,
}

/// Fits `AURORA`.
///
/// # Errors
///
/// [`RankError`].
pub fn fit_aurora(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &AuroraParams,
    interrupt: &Interrupt,
) -> Result<Aurora, RankError> {
    columns.infinite_value().map_or(Ok(()), Err)?;
    let parts = hold_out(columns, labels, params.validation_fraction, params.seed, interrupt)?;
    let parts = parts.expect("two rows of each class");
    let binarizer = Binarizer::new(columns, labels, &parts.kept, &BinarizerParams::default());
    let kept = Observations::new(columns, labels, &parts.kept, &binarizer);
    let held_out = Observations::new(columns, labels, &parts.held_out, &binarizer);
    let search_params = SearchParams {
        max_terms: params.max_features,
        order: params.order,
        radius: params.radius,
        depth: Depth {
            shortlist: params.shortlist,
            by_midpoint: params.by_midpoint,
            combined: params.combined,
        },
        first_gain: params.first_gain,
        last_gain: params.last_gain,
        short_limits: Limits { circles: params.circles, least_gain: params.least_gain },
        limits: Limits { circles: params.final_circles, least_gain: params.least_gain },
    };
    let mut path = search(&kept, Some(&held_out), &search_params, interrupt)?;
    let table: Vec<[f64; 4]> = path
        .steps
        .iter()
        .map(|step| {
            let held = step.validation.expect("rows held out");
            [step.train.ramp, step.train.auc, held.ramp, held.auc]
        })
        .collect();
    let held: Vec<f64> = table.iter().map(|step| step[2]).collect();
    let smoothed: Vec<f64> = (0..held.len())
        .map(|at| {
            let (mut sum, mut total) = (0.0, 0.0);
            for other in at.saturating_sub(7)..(at + 8).min(held.len()) {
                let weight = 8.0 - at.abs_diff(other) as f64;
                sum += weight * held[other];
                total += weight;
            }
            sum / total
        })
        .collect();
    let mut best = 0;
    for (at, &value) in smoothed.iter().enumerate() {
        if value > smoothed[best] {
            best = at;
        }
    }
    let mut weights = path.steps.swap_remove(best).weights;
    path.terms.truncate(best + 1);
    let all = Observations::new(columns, labels, &labels.rows(), &binarizer);
    let mut pooled = PackedTerms::default();
    for &term in &path.terms {
        pooled.push(&all.on(term));
    }
    let mut climber = Climber::default();
    climber.here.resize(all.len(), 0.0);
    pooled.scores(&weights, &mut climber.here);
    climber.climb(&all, &pooled, &mut weights, search_params.limits);
    Ok(Aurora { binarizer, terms: path.terms, weights, path: table })
}

impl Aurora {
    /// Score of each row.
    ///
    /// # Errors
    ///
    /// [`RankError`].
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let rows: Vec<u32> = (0..columns.n_rows() as u32).collect();
        let codes: Vec<Vec<u16>> = self
            .binarizer
            .features
            .iter()
            .zip(columns)
            .map(|(feature, column)| feature.codes(column, &rows))
            .collect();
        let on = |literal: Literal, row: usize| {
            let code = codes[literal.feature][row] as usize;
            self.binarizer.features[literal.feature].is_on(literal.slot, code)
        };
        Ok((0..columns.n_rows())
            .map(|row| {
                let value = |(term, weight): (&BinaryTerm, &f64)| {
                    let is_on = match *term {
                        BinaryTerm::First(a) => on(a, row),
                        BinaryTerm::And(a, b) => on(a, row) && on(b, row),
                        BinaryTerm::Or(a, b) => on(a, row) || on(b, row),
                    };
                    if is_on { *weight } else { 0.0 }
                };
                self.terms.iter().zip(&self.weights).map(value).sum()
            })
            .collect())
    }
}
