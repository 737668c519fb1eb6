//! Choice of the number of rounds on held-out or given validation rows.

use serde::{Deserialize, Serialize};

use super::scored::RowValues;
use super::term::Term;
use super::weak::WeakSample;
use crate::RankError;
use crate::data::{Columns, FixedWeights, Labels, hold_out};
use crate::roc::{auc_up_to, smoothed};

/// Parameters of held-out validation.
///
/// For an example see [`HeldOutRule`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeldOutParams {
    /// Share of the distinct rows of each class that is held out, above 0 and below 1. Their
    /// values, but not their classes, contribute to the bins. Ignored if validation rows are given.
    pub fraction: f64,
    /// How the number of rounds is chosen.
    pub rule: HeldOutRule,
    /// Whether the chosen number of rounds is refitted on all rows.
    pub refit: bool,
}

/// How the number of rounds is chosen by the AUC of the held-out rows. Of equal numbers, the
/// smallest.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     FitExtras, HeldOutParams, HeldOutRule, RankBoostParams, RoundParams, fit_rank_boost,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|value| (30.0..70.0).contains(value)).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let is_smoothed = |rule| {
///     let held_out = Some(HeldOutParams { fraction: 0.2, rule, refit: false });
///     let rounds = RoundParams { held_out, ..RoundParams::default() };
///     let params = RankBoostParams { rounds, ..RankBoostParams::default() };
///     let extras = FitExtras::default();
///     fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())
///         .map(|model| model.held_out().is_some_and(|path| path.smoothed.is_some()))
/// };
/// assert!(is_smoothed(HeldOutRule::Window)?);
/// assert!(!is_smoothed(HeldOutRule::Patience { n_iter_no_change: 3, tol: 0.0 })?);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldOutRule {
    /// The highest AUC, with early stopping once `n_iter_no_change` rounds have not raised it by
    /// more than `tol`.
    Patience {
        /// At least 1.
        n_iter_no_change: usize,
        /// At least 0.
        tol: f64,
    },
    /// The highest AUC over all rounds after smoothing by a triangular window of 15 rounds (paper 5
    /// sec. 3.5).
    Window,
}

/// The AUC of the held-out rows, round by round; with a `max_fpr` below 1, their partial AUC up to
/// it, standardised.
///
/// For an example see [`HeldOutRule`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HeldOutPath {
    /// AUC after each round.
    pub auc: Vec<f64>,
    /// The smoothed AUC, if it chose the number of rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smoothed: Option<Vec<f64>>,
    /// Number of rounds kept.
    pub n_rounds: usize,
}

impl HeldOutParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if !(self.fraction > 0.0 && self.fraction < 1.0) {
            return bad("validation_fraction", self.fraction.to_string(), "in (0, 1)");
        }
        match self.rule {
            HeldOutRule::Patience { n_iter_no_change: 0, .. } => {
                bad("n_iter_no_change", "0".to_owned(), "at least 1")
            }
            HeldOutRule::Patience { tol, .. } if !(0.0..f64::INFINITY).contains(&tol) => {
                bad("tol", tol.to_string(), "at least 0 and finite")
            }
            _ => Ok(()),
        }
    }
}

impl HeldOutRule {
    /// Whether to stop early.
    pub(super) fn stops(self, aucs: &[f64]) -> bool {
        let Self::Patience { n_iter_no_change, tol } = self else { return false };
        let Some(n_before) = aucs.len().checked_sub(n_iter_no_change).filter(|&n| n > 0) else {
            return false;
        };
        let best = |aucs: &[f64]| aucs.iter().copied().fold(0.0, f64::max);
        best(&aucs[n_before..]) <= best(&aucs[..n_before]) + tol
    }

    /// Chooses the number of rounds.
    pub(super) fn path(self, auc: Vec<f64>) -> HeldOutPath {
        let smoothed = (self == Self::Window).then(|| smoothed(&auc));
        let (mut n_rounds, mut best) = (0, f64::NEG_INFINITY);
        for (n, &value) in (1..).zip(smoothed.as_ref().unwrap_or(&auc)) {
            if value > best {
                (n_rounds, best) = (n, value);
            }
        }
        HeldOutPath { auc, smoothed, n_rounds }
    }
}

impl HeldOutPath {
    /// Checks the consistency of the path with a model of `n_terms` rounds.
    pub(super) fn check(&self, n_terms: usize) -> Result<(), String> {
        let is_auc = |auc: &f64| (0.0..=1.0).contains(auc);
        let fits = self
            .smoothed
            .as_ref()
            .is_none_or(|smoothed| smoothed.len() == self.auc.len() && smoothed.iter().all(is_auc));
        if !(fits && self.auc.iter().all(is_auc)) {
            return Err("the AUC by round is not one of each round".to_owned());
        }
        // A refit on all rows may end earlier.
        if self.n_rounds > self.auc.len() || n_terms > self.n_rounds {
            return Err(format!("{n_terms} rounds are not the {} chosen", self.n_rounds));
        }
        Ok(())
    }
}

/// Validation rows and their scores so far.
pub(super) struct ValidationSet<'a> {
    place: ValidationSource<'a>,
    positive: Vec<bool>,
    weights: Option<Vec<f64>>,
    max_fpr: f64,
    scores: Vec<f64>,
}

/// Source of validation rows.
enum ValidationSource<'a> {
    /// Rows of the sample.
    Inside(Vec<u32>),
    /// Other rows.
    Outside(&'a Columns<'a>),
}

impl<'a> ValidationSet<'a> {
    /// The validation rows given by the caller; rows of weight zero do not contribute.
    pub(super) fn given(columns: &'a Columns<'a>, labels: &Labels<'_>, max_fpr: f64) -> Self {
        let all: Vec<u32> = (0..labels.n_rows() as u32).collect();
        Self::new(ValidationSource::Outside(columns), &all, labels, max_fpr)
    }

    /// Holds out rows of the sample; also returns the others. `None` if a class has a single
    /// distinct row.
    pub(super) fn of_sample(
        sample: &WeakSample<'_>,
        fraction: f64,
        seed: u64,
        max_fpr: f64,
    ) -> Result<Option<(Self, Vec<u32>)>, RankError> {
        let parts = hold_out(sample.columns, sample.labels, fraction, seed, sample.interrupt)?;
        Ok(parts.map(|parts| {
            let (place, rows) = (ValidationSource::Inside(parts.held_out.clone()), parts.held_out);
            (Self::new(place, &rows, sample.labels, max_fpr), parts.kept)
        }))
    }

    fn new(place: ValidationSource<'a>, rows: &[u32], labels: &Labels<'_>, max_fpr: f64) -> Self {
        let rows = rows.iter().map(|&row| row as usize);
        let weights = labels.weights().map(FixedWeights::units);
        Self {
            place,
            positive: rows.clone().map(|row| labels.positive()[row]).collect(),
            weights: weights.map(|units| rows.clone().map(|row| units[row] as f64).collect()),
            max_fpr,
            scores: vec![0.0; rows.len()],
        }
    }

    /// Adds a round.
    pub(super) fn follow(
        &mut self,
        term: &Term,
        values: &RowValues,
        sample: &WeakSample<'_>,
    ) -> Result<(), RankError> {
        match &self.place {
            ValidationSource::Inside(rows) => {
                for (score, &row) in self.scores.iter_mut().zip(rows) {
                    *score += values.get(sample.binned, row as usize);
                }
            }
            ValidationSource::Outside(columns) => {
                for (score, value) in self.scores.iter_mut().zip(term.values(columns, None)?) {
                    *score += value;
                }
            }
        }
        Ok(())
    }

    /// The AUC after the last round.
    pub(super) fn auc(&self) -> Result<f64, RankError> {
        let weights = self.weights.as_deref();
        auc_up_to(self.max_fpr, &self.scores, &self.positive, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_of_equal_rounds_are_chosen() {
        let patience = HeldOutRule::Patience { n_iter_no_change: 3, tol: 0.0 };
        assert_eq!(patience.path(vec![0.5, 0.7, 0.6, 0.7]).n_rounds, 2);
        assert_eq!(HeldOutRule::Window.path(vec![0.6; 20]).n_rounds, 1);
    }

    #[test]
    fn patience_ends_when_no_recent_round_has_raised_the_best() {
        let rule = HeldOutRule::Patience { n_iter_no_change: 2, tol: 0.01 };
        assert!(!rule.stops(&[0.5, 0.6]));
        assert!(!rule.stops(&[0.5, 0.5, 0.6]));
        assert!(rule.stops(&[0.5, 0.6, 0.6, 0.605]));
        assert!(!rule.stops(&[0.5, 0.6, 0.6, 0.62]));
        assert!(!HeldOutRule::Window.stops(&[0.9; 100]));
    }
}
