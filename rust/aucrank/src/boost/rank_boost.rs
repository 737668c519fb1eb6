//! `RankBoost` for two classes (Freund, Iyer, Schapire and Singer, 2003): pairs of a positive and a
//! negative row, whose weights factor into those of the rows.

use serde::{Deserialize, Serialize};

use super::boosted_model::BoostedModel;
use super::rounds::{Given, RoundParams, RoundRule, RoundValues, boost};
use crate::data::{ClassMasses, Columns, Labels};
use crate::{Interrupt, RankError};

/// How the value of a ranking is chosen (DECISIONS K5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alpha {
    /// The third method of the paper: from the mean difference of a pair.
    #[default]
    Third,
    /// The value of the least loss.
    Exact,
}

/// Everything that a fit of `RankBoost` can be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankBoostParams {
    /// The loop.
    pub rounds: RoundParams,
    /// How rankings are valued.
    pub alpha: Alpha,
}

impl RoundRule for Alpha {
    fn values(&self, groups: &[ClassMasses], n_rows: u64) -> Option<RoundValues> {
        let total: ClassMasses = groups.iter().copied().sum();
        // The ranking in [0, 1]: the place of a group among the groups.
        let grade = |group: usize| group as f64 / (groups.len() - 1) as f64;
        let r: f64 = (0..groups.len())
            .map(|group| {
                let share = groups[group].pos as f64 / total.pos as f64
                    - groups[group].neg as f64 / total.neg as f64;
                grade(group) * share
            })
            .sum();
        if groups.len() < 2 || r <= 0.0 {
            return None;
        }
        let most = 0.5 * (2.0 * n_rows as f64).ln();
        let alpha = (0.5 * ((1.0 + r) / (1.0 - r)).ln()).min(most);
        let values = (0..groups.len()).map(|group| alpha * grade(group)).collect();
        Some(RoundValues { values, unseen: 0.5 * alpha, is_last: r >= 1.0 })
    }
}

/// Fits `RankBoost`.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted.
pub fn fit_rank_boost(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &RankBoostParams,
    given: &Given<'_>,
    interrupt: &Interrupt,
) -> Result<BoostedModel, RankError> {
    boost(columns, labels, &params.rounds, &params.alpha, given, interrupt)
}
