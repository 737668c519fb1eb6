//! What `MartiRank` and `SMartiRank` can be told.

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::boost::two_sided::Criterion;
use crate::boost::weak::WeakRankerParams;
use crate::data::BinningParams;

/// Most layers: a program has a node for each pair of layers.
pub(super) const MOST_ROUNDS: usize = 1000;

/// How a row walks through a program (DECISIONS B4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// On all ways at once, each with the share of coins that send the row there.
    #[default]
    Expected,
    /// On one way; the coins are a hash of what the row holds.
    Sampled,
}

/// What a row scores (DECISIONS B12), in the mean over its ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramScore {
    /// The votes of the classifiers on the way for "positive", 0 to the number of rounds; a frozen
    /// node casts all that are left for its label.
    #[default]
    Votes,
    /// The paper's H: 1 where at least half of the votes are for "positive", else -1.
    Sign,
    /// The share of positives in the node where the way ends.
    NodeRate,
}

/// Everything that a fit of `MartiRank` or `SMartiRank` can be told. They differ in the rules of
/// freezing: `MartiRank` freezes a node where one class has no mass, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MartiParams {
    /// How finely numeric features are cut.
    pub binning: BinningParams,
    /// What is boosted.
    pub weak_ranker: WeakRankerParams,
    /// Layers of rankers, the paper's T; 1 to 1000.
    pub n_rounds: usize,
    /// How rankings are cut.
    pub criterion: Criterion,
    /// How rows walk, in the fit and in scoring.
    pub routing: Routing,
    /// What a row scores.
    pub score: ProgramScore,
    /// Share of the labels that were flipped, below the share of the rarer class.
    pub noise_rate: f64,
    /// `SMartiRank`: freezes a node that so small a share of a class reaches that all such nodes
    /// together hold no more than half of this share; in (0, 1). `None` for `MartiRank`.
    pub epsilon: Option<f64>,
    /// Freezes a node with fewer rows of a class, each counting by its share in the node.
    pub min_samples_class: f64,
    /// Most distinct rows of each class that a node is fitted to and its masses are estimated from,
    /// drawn by a hash of what they hold; `None` for all.
    pub sample_size: Option<usize>,
    /// For what is random.
    pub seed: u64,
}

impl MartiParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if !(1..=MOST_ROUNDS).contains(&self.n_rounds) {
            return bad("n_rounds", self.n_rounds.to_string(), "from 1 to 1000");
        }
        if !(0.0..0.5).contains(&self.noise_rate) {
            return bad("noise_rate", self.noise_rate.to_string(), "at least 0 and below 0.5");
        }
        if let Some(epsilon) = self.epsilon
            && !(epsilon > 0.0 && epsilon < 1.0)
        {
            return bad("epsilon", epsilon.to_string(), "above 0 and below 1");
        }
        let least = self.min_samples_class;
        if !(least.is_finite() && least >= 0.0) {
            return bad("min_samples_class", least.to_string(), "finite and at least 0");
        }
        match self.sample_size {
            Some(0) => bad("sample_size", "0".to_owned(), "at least 1"),
            _ => Ok(()),
        }
    }
}
