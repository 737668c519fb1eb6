//! Parameters of `MartiRank` and `SMartiRank`.

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::boost::two_sided::ThresholdCriterion;
use crate::boost::weak::WeakRankerParams;
use crate::data::BinningParams;

/// Maximum number of layers: a program has a node for each pair of layers.
pub(super) const MOST_ROUNDS: usize = 1000;

/// How a row passes through a program (DECISIONS B4).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{MartiParams, Routing, fit_marti_rank};
/// # use aucrank::boost::{ThresholdCriterion, ProgramScore, WeakRankerParams};
/// # use aucrank::data::BinningParams;
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// # let params = MartiParams {
/// #     binning: BinningParams::default(), weak_ranker: WeakRankerParams::Feature, n_rounds: 3,
/// #     criterion: ThresholdCriterion::Sum, routing: Routing::Expected, score: ProgramScore::Votes,
/// #     noise_rate: Some(0.0), epsilon: None, min_samples_class: 0.0, sample_size: None, seed: 0,
/// # };
/// let params = MartiParams { routing: Routing::Sampled, ..params };
/// let program = fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default())?;
/// // Each row is at one node of every layer.
/// for layer in 1..=4 {
///     let masses = (0..layer).map(|index| program.node(layer, index).masses);
///     for class in masses.flat_map(|masses| [masses.pos, masses.neg]) {
///         assert_eq!((class as f64 * program.unit()).fract(), 0.0);
///     }
/// }
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Routing {
    /// On all paths at once, each with the probability that coin flips lead there.
    #[default]
    Expected,
    /// On one path; the coins are a hash of the content of the row.
    Sampled,
}

/// The score of a row (DECISIONS B12), averaged over its paths.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{MartiParams, ProgramScore, fit_marti_rank};
/// # use aucrank::boost::{ThresholdCriterion, Routing, WeakRankerParams};
/// # use aucrank::data::BinningParams;
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let params = MartiParams {
/// #     binning: BinningParams::default(), weak_ranker: WeakRankerParams::Feature, n_rounds: 3,
/// #     criterion: ThresholdCriterion::Sum, routing: Routing::Expected, score: ProgramScore::Votes,
/// #     noise_rate: Some(0.0), epsilon: None, min_samples_class: 0.0, sample_size: None, seed: 0,
/// # };
/// let range = |score| {
///     let params = MartiParams { score, ..params.clone() };
///     let program = fit_marti_rank((&columns, &labels), &params, None, &Interrupt::default())?;
///     program.score(&columns, None).map(|scores| scores[3] - scores[0])
/// };
/// // The classes are separated at once: none of three votes or all, -1 or 1, no positives or all.
/// assert_eq!(range(ProgramScore::Votes)?, 3.0);
/// assert_eq!(range(ProgramScore::Sign)?, 2.0);
/// assert_eq!(range(ProgramScore::NodeRate)?, 1.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramScore {
    /// The number of classifiers on the path that vote "positive", 0 to the number of rounds; a
    /// frozen node casts all remaining votes for its label.
    #[default]
    Votes,
    /// The paper's H: 1 if at least half of the votes are for "positive", else -1.
    Sign,
    /// The share of positives in the node where the path ends.
    NodeRate,
}

/// Parameters of `MartiRank` and `SMartiRank`, which differ in the rules of freezing: `MartiRank`
/// freezes a node only if a class has no mass there.
///
/// For an example see [`fit_marti_rank`](crate::boost::fit_marti_rank).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MartiParams {
    /// How features are binned.
    pub binning: BinningParams,
    /// The weak ranker.
    pub weak_ranker: WeakRankerParams,
    /// Number of layers of rankers, the paper's T; 1 to 1000.
    pub n_rounds: usize,
    /// How rankings are cut into classifiers.
    pub criterion: ThresholdCriterion,
    /// How rows pass through the program, in the fit and in scoring.
    pub routing: Routing,
    /// The score of a row.
    pub score: ProgramScore,
    /// Share of flipped labels, below the share of the rarer class. `None` to try values from 0 on
    /// in steps of 0.05 and use that of the program which ranks held-out rows best (paper 3 section
    /// 5).
    pub noise_rate: Option<f64>,
    /// `SMartiRank`: freezes a node reached by so small a share of a class that all such nodes
    /// together hold at most half of this share; in (0, 1). `None` for `MartiRank`.
    pub epsilon: Option<f64>,
    /// Freezes a node with fewer rows of a class than this, each counting by its share in the node.
    pub min_samples_class: f64,
    /// Maximum number of distinct rows of each class to which a node is fitted and from which its
    /// masses are estimated, sampled by a content hash; `None` for all.
    pub sample_size: Option<usize>,
    /// Random seed.
    pub seed: u64,
}

impl Default for MartiParams {
    /// Defaults of the Python estimator `MartiRank`.
    fn default() -> Self {
        Self {
            binning: BinningParams::default(),
            weak_ranker: WeakRankerParams::Feature,
            n_rounds: 10,
            criterion: ThresholdCriterion::Sum,
            routing: Routing::Expected,
            score: ProgramScore::Votes,
            noise_rate: Some(0.0),
            epsilon: None,
            min_samples_class: 0.0,
            sample_size: None,
            seed: 0,
        }
    }
}

impl MartiParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if !(1..=MOST_ROUNDS).contains(&self.n_rounds) {
            return bad("n_rounds", self.n_rounds.to_string(), "from 1 to 1000");
        }
        if let Some(noise_rate) = self.noise_rate.filter(|rate| !(0.0..0.5).contains(rate)) {
            return bad("noise_rate", noise_rate.to_string(), "at least 0 and below 0.5");
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
