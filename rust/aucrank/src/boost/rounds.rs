//! The loop that `AUCBoost` and `RankBoost` share: rank the reweighted rows, give the ranking a
//! value, take mass off the rows that it ranks well.

use serde::{Deserialize, Serialize};

use super::boosted_model::BoostedModel;
use super::distribution::Distribution;
use super::term::{Term, snap};
use super::weak::outside::{RowRanker, keep_rankers};
use super::weak::{WeakRankerParams, WeakSample, WeakTask};
use crate::data::{Binned, BinningParams, ClassMasses, Columns, FeatureBins, Labels, mix};
use crate::roc::largest_gap;
use crate::{Interrupt, RankError};

/// What `AUCBoost` and `RankBoost` can both be told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundParams {
    /// How finely numeric features are cut.
    pub binning: BinningParams,
    /// What is boosted.
    pub weak_ranker: WeakRankerParams,
    /// Most rounds.
    pub n_rounds: usize,
    /// Factor on the value of each round, above 0 and at most 1.
    pub learning_rate: f64,
    /// For what is random.
    pub seed: u64,
}

/// What a round makes of a ranking.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RoundValues {
    /// Of each group of the ranking, before shrinkage.
    pub(super) values: Vec<f64>,
    /// Of a feature that is missing where no row missed it.
    pub(super) unseen: f64,
    /// Whether nothing is left to learn after this round.
    pub(super) is_last: bool,
}

/// How a method values a ranking; `None` where it is no better than chance.
pub(super) trait RoundRule {
    /// `groups` has the masses of the groups in ascending order, both classes among them; `n_rows`
    /// is the number of rows.
    fn values(&self, groups: &[ClassMasses], n_rows: u64) -> Option<RoundValues>;

    /// Groups that it has use for, where rankings are by scores, of which each row may have its own.
    fn most_groups(&self) -> usize {
        usize::MAX
    }
}

/// Boosts.
pub(super) fn boost(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &RoundParams,
    rule: &dyn RoundRule,
    outside: Option<&dyn RowRanker>,
    interrupt: &Interrupt,
) -> Result<BoostedModel, RankError> {
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    let sample = WeakSample { columns, binned: &binned, labels, outside, interrupt };
    let weak = params.weak_ranker.ranker(&sample)?;
    let rows = labels.rows();
    let mut distribution = Distribution::new(labels);
    let mut scores = vec![0.0; labels.n_rows()];
    let mut terms: Vec<Term> = Vec::new();
    let mut bounds = Vec::new();
    for round in 0..params.n_rounds {
        interrupt.check()?;
        let seed = mix(params.seed ^ mix(round as u64));
        let task = WeakTask { masses: distribution.masses(), rows: &rows, features: None, seed };
        let Some(ranking) = weak.rank(&sample, &task)? else { break };
        let ranking = ranking.with_at_most(rule.most_groups());
        let Some(found) = rule.values(&ranking.sums, labels.total().rows) else { break };
        let values: Vec<f64> =
            found.values.iter().map(|value| snap(params.learning_rate * value)).collect();
        let unseen = snap(params.learning_rate * found.unseen);
        let value_of_row = ranking.groups.lookup(&binned, &values, 0.0);
        for &row in &rows {
            scores[row as usize] += value_of_row(row as usize);
        }
        drop(value_of_row);
        let factors: Vec<[f64; 2]> = values.iter().map(|v| [v.exp(), (-v).exp()]).collect();
        let factor_of_row = ranking.groups.lookup(&binned, &factors, [1.0; 2]);
        distribution.reweight(factor_of_row);
        bounds.push(distribution.mean_exponential());
        terms.push(ranking.into_term(&sample, &values, unseen));
        let left = distribution.total();
        if found.is_last || left.pos == 0 || left.neg == 0 {
            break;
        }
    }
    keep_rankers(terms.iter_mut(), outside);
    let n_levels = binned.features().iter().map(|bins| match bins {
        FeatureBins::Numeric { .. } => None,
        FeatureBins::Categorical { n_levels } => Some(*n_levels),
    });
    let threshold = largest_gap(&scores, labels)?;
    Ok(BoostedModel::new(n_levels.collect(), terms, bounds, threshold))
}
