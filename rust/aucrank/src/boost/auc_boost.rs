//! `AUCBoost` (paper 3 Theorem 2): `AdaBoost` over the two-sided classifiers of weak rankers.

use serde::{Deserialize, Serialize};

use super::boosted_model::BoostedModel;
use super::queried_rounds::boost_rows;
use super::rounds::{FitExtras, RoundParams, RoundRule, RoundValues, boost};
use super::two_sided::{ThresholdCriterion, two_sided};
use crate::data::ClassMasses;
use crate::rows::TrainingRows;
use crate::{Interrupt, RankError};

/// Least advantage of a ranking that contributes a round (DECISIONS B6).
const LEAST_ADVANTAGE: f64 = 1e-12;

/// Parameters of `AUCBoost`.
///
/// For an example see [`fit_auc_boost`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AucBoostParams {
    /// Parameters of the boosting loop.
    pub rounds: RoundParams,
    /// How rankings are cut into classifiers.
    pub criterion: ThresholdCriterion,
    /// The score of a row.
    pub output: Output,
    /// The false positive rate up to which rows are to be ranked well, above 0 and at most 1. Below
    /// 1, this share of the negatives, those of the highest sums of the rounds so far, counts in
    /// full, and the others count 0.3; held-out rows are then evaluated by their partial AUC up to
    /// it.
    pub max_fpr: f64,
}

impl Default for AucBoostParams {
    /// Defaults of the Python estimator `AUCBoost`.
    fn default() -> Self {
        let (rounds, criterion, output) = Default::default();
        Self { rounds, criterion, output, max_fpr: 1.0 }
    }
}

/// The score of a row (DECISIONS B7).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     AucBoostParams, ThresholdCriterion, FitExtras, Output, RoundParams, fit_auc_boost,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let (rounds, output) = (RoundParams::default(), Output::Sign);
/// let params = AucBoostParams { rounds, output, ..AucBoostParams::default() };
/// let extras = FitExtras::default();
/// let model = fit_auc_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// assert_eq!(model.score(&columns, None)?, [-1.0, -1.0, 1.0, 1.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// The sum over the rounds.
    #[default]
    Real,
    /// Its sign, that of 0 being +1: the classifier of Theorem 2.
    Sign,
}

impl RoundRule for AucBoostParams {
    fn values(&self, groups: &[ClassMasses], n_rows: u64) -> Option<RoundValues> {
        let cut = two_sided(groups, self.criterion, 0.0).ok()?;
        if cut.error >= 0.5 - LEAST_ADVANTAGE {
            return None;
        }
        // The weight of AdaBoost; a ranker without mistakes gets a finite one and is the last (B5,
        // B6).
        let most = 0.5 * (2.0 * n_rows as f64).ln();
        let alpha = (0.5 * ((1.0 - cut.error) / cut.error).ln()).min(most);
        let value = |chance: f64| alpha * (2.0 * chance - 1.0);
        let values = (0..groups.len())
            .map(|group| value(if group < cut.n_low { cut.low } else { cut.high }))
            .collect();
        Some(RoundValues { values, unseen: 0.0, is_last: cut.error == 0.0 })
    }

    fn max_fpr(&self) -> f64 {
        self.max_fpr
    }

    fn scores_by_sign(&self) -> bool {
        self.output == Output::Sign
    }
}

/// Fits `AUCBoost`. Works like [`fit_rank_boost`](super::fit_rank_boost) on rows elsewhere.
///
/// # Errors
///
/// As [`fit_rank_boost`](super::fit_rank_boost).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     AucBoostParams, ThresholdCriterion, FitExtras, Output, RoundParams, fit_auc_boost,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let rounds = RoundParams { n_rounds: 3, ..RoundParams::default() };
/// let params = AucBoostParams { rounds, criterion: ThresholdCriterion::Sum, output: Output::Real, max_fpr: 1.0 };
/// let extras = FitExtras::default();
/// let model = fit_auc_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// assert_eq!((model.terms().len(), model.n_levels()), (3, &[None][..]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_auc_boost<'a>(
    rows: impl Into<TrainingRows<'a>>,
    params: &AucBoostParams,
    given: &FitExtras<'_>,
    interrupt: &Interrupt,
) -> Result<BoostedModel, RankError> {
    match rows.into() {
        TrainingRows::Memory(columns, labels) => {
            boost(columns, labels, &params.rounds, params, given, interrupt)
        }
        TrainingRows::Elsewhere(rows) => {
            given.check_elsewhere()?;
            boost_rows(rows, &params.rounds, |_| params.clone(), interrupt)
        }
    }
}
