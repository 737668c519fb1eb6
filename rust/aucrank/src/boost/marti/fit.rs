//! `MartiRank` and `SMartiRank`, wherever the rows are: parameters and fit.

use serde::{Deserialize, Serialize};

use super::in_memory::ProgramInMemory;
use super::learner::Outcome;
use super::program::{BranchingProgram, MartiNode, NodeKind};
use super::walk::LayerNodes;
use crate::boost::term::Term;
use crate::boost::two_sided::{ThresholdCriterion, TwoSided};
use crate::boost::weak::WeakRankerParams;
use crate::data::{BinningParams, ClassSums, Columns, Labels};
use crate::external::{ExternalFitter, keep_used};
use crate::{Interrupt, RankError};

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
/// let program = fit_marti_rank(&columns, &labels, &params, None, &Interrupt::default())?;
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
///     let program = fit_marti_rank(&columns, &labels, &params, None, &Interrupt::default())?;
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
/// For an example see [`fit_marti_rank`].
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

/// Rows to which programs are fitted.
pub(super) trait ProgramRows {
    /// Some of the rows.
    type Subset;

    /// All of them.
    fn all(&self) -> Self::Subset;

    /// The remaining rows, and a held-out share of the rows of each class; `None` if a class has a
    /// single distinct row.
    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Self::Subset; 2]>, RankError>;

    /// Their class weights.
    fn total(&self, subset: &Self::Subset) -> Result<ClassSums, RankError>;

    /// Fits all layers to some of the rows, at a share of flipped labels.
    fn layers(&self, subset: &Self::Subset, noise_rate: f64) -> Result<CutLayers, RankError>;

    /// For each feature its number of categories, or `None` if it is numeric.
    fn n_levels(&self) -> Vec<Option<u32>>;

    /// The score of largest TPR - FPR.
    fn threshold(&self, program: &BranchingProgram) -> Result<f64, RankError>;

    /// The AUC of some of the rows.
    fn auc(&self, program: &BranchingProgram, subset: &Self::Subset) -> Result<f64, RankError>;
}

/// The layers of a program, with the classifier of each node.
pub(super) struct CutLayers {
    pub(super) nodes: LayerNodes<(Term, TwoSided)>,
    pub(super) row_bits: u32,
    pub(super) exponent: i32,
}

/// Fits `MartiRank`, or with `epsilon` `SMartiRank`: Basic `MartiBoost` over weak rankers cut into
/// classifiers by Lemma 4 (paper 3 sections 4 and 5).
///
/// If the weak ranker uses single features, a fit takes `n_rounds + 1` passes over the binned rows.
/// Beyond these it needs no memory that grows with the rows, up to 16 rounds and 255 bins per
/// feature; otherwise, `n_rounds + 1` 32-bit numbers per row.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, among them a noise rate that is not below the share of the
/// rarer class; for an infinite value; from external rankers; or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{MartiParams, fit_marti_rank};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1).unwrap();
/// let labels = Labels::new(&[false, true, false, true], None).unwrap();
/// let params = MartiParams { n_rounds: 4, ..MartiParams::default() };
/// let program = fit_marti_rank(&columns, &labels, &params, None, &Interrupt::default()).unwrap();
/// let scores = program.score(&columns, None).unwrap();
/// assert!(scores[0] < 0.0 && scores[3] > 0.0);
/// ```
pub fn fit_marti_rank(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &MartiParams,
    external: Option<&dyn ExternalFitter>,
    interrupt: &Interrupt,
) -> Result<BranchingProgram, RankError> {
    params.validate()?;
    let columns = &columns.until(interrupt);
    let rows = ProgramInMemory::new(columns, labels, params, external, interrupt)?;
    let mut program = fit_program(&rows, params)?;
    keep_used(program.terms_mut().filter_map(Term::external_number_mut), external);
    Ok(program)
}

/// Fits a program, at the given or guessed share of flipped labels.
pub(super) fn fit_program<R: ProgramRows>(
    rows: &R,
    params: &MartiParams,
) -> Result<BranchingProgram, RankError> {
    let noise_rate = match params.noise_rate {
        Some(noise_rate) => noise_rate,
        None => guess_noise_rate(rows, params)?,
    };
    let mut program = program_at(rows, &rows.all(), params, noise_rate)?;
    program.threshold = rows.threshold(&program)?;
    Ok(program)
}

/// The program of some of the rows at a share of flipped labels, without a threshold.
fn program_at<R: ProgramRows>(
    rows: &R,
    subset: &R::Subset,
    params: &MartiParams,
    noise_rate: f64,
) -> Result<BranchingProgram, RankError> {
    if noise_rate >= rarer_share(rows.total(subset)?) {
        return Err(RankError::BadParameter {
            name: "noise_rate",
            value: noise_rate.to_string(),
            rule: "below the share of the rarer class",
        });
    }
    let CutLayers { nodes, row_bits, exponent } = rows.layers(subset, noise_rate)?;
    let nodes = nodes.into_iter().map(|(masses, outcome)| {
        let kind = match outcome {
            Outcome::Classifier((term, cut)) => NodeKind::Ranker { term, cut },
            Outcome::Coin => NodeKind::Coin,
            Outcome::Frozen { positive } => NodeKind::Frozen { positive },
            Outcome::Terminal => NodeKind::Terminal,
            Outcome::Unreached => NodeKind::Unreached,
        };
        MartiNode { masses, kind }
    });
    Ok(BranchingProgram {
        n_levels: rows.n_levels(),
        n_rounds: params.n_rounds,
        routing: params.routing,
        score: params.score,
        seed: params.seed,
        nodes: nodes.collect(),
        row_bits,
        exponent,
        threshold: 0.0,
        noise_rate,
    })
}

/// The share of the rarer class.
fn rarer_share(total: ClassSums) -> f64 {
    total.pos.min(total.neg) as f64 / (total.pos + total.neg) as f64
}

/// Share of the rows on which guesses are evaluated.
const HELD_OUT: f64 = 0.25;
/// Guesses for a share of one half.
const N_GUESSES: u32 = 10;

/// The guess whose program, fitted to the other rows, ranks held-out rows best, the smallest of
/// ties; 0 if a class has a single distinct row. All fits use the bins of all rows.
fn guess_noise_rate<R: ProgramRows>(rows: &R, params: &MartiParams) -> Result<f64, RankError> {
    let Some([kept, held_out]) = rows.hold_out(HELD_OUT, params.seed)? else {
        return Ok(0.0);
    };
    let most = rarer_share(rows.total(&kept)?);
    let (mut best, mut chosen) = (f64::NEG_INFINITY, 0.0);
    for guess in 0..N_GUESSES {
        let noise_rate = f64::from(guess) / f64::from(2 * N_GUESSES);
        if noise_rate >= most {
            break;
        }
        let auc = rows.auc(&program_at(rows, &kept, params, noise_rate)?, &held_out)?;
        if auc > best {
            (best, chosen) = (auc, noise_rate);
        }
    }
    // The share of the rarer class among all rows may be a little smaller than among those kept.
    Ok(if chosen < rarer_share(rows.total(&rows.all())?) { chosen } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};

    use super::*;
    use crate::boost::fit_marti_rank;
    use crate::data::{Binned, hold_out, mix};
    use crate::roc::auc;

    #[test]
    fn the_guess_is_the_one_whose_program_ranks_held_out_rows_best() {
        let n = 600;
        let values: Vec<f64> = (0..2 * n).map(|place| (mix(place) % 1000) as f64).collect();
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let mut chosen = Vec::new();
        for seed in 0..6 {
            // A quarter of the labels are flipped.
            let positive: Vec<bool> = (0..n as usize)
                .map(|row| {
                    let is_high = values[2 * row] + 0.5 * values[2 * row + 1] > 800.0;
                    is_high != mix(seed ^ mix(row as u64)).is_multiple_of(4)
                })
                .collect();
            let labels = Labels::new(&positive, None).unwrap();
            let params = |noise_rate| MartiParams {
                n_rounds: 6,
                epsilon: Some(0.2),
                noise_rate,
                seed,
                ..MartiParams::default()
            };
            // In the bins of all rows.
            let interrupt = Interrupt::default();
            let binned =
                Binned::new(&columns, &labels, BinningParams::default(), &interrupt).unwrap();
            let hashes = columns.hashes(&interrupt).unwrap().to_vec();
            let hashes = Arc::new(OnceLock::from(hashes));
            let known = Columns::from_row_major(&values, 2).unwrap();
            let known = known.known(&binned.features().into(), &hashes);
            let fit = |labels: &Labels<'_>, noise_rate| {
                fit_marti_rank(&known, labels, &params(noise_rate), None, &interrupt).unwrap()
            };
            let parts = hold_out(&columns, &labels, 0.25, seed, &Interrupt::default());
            let parts = parts.unwrap().unwrap();
            let mut weights = vec![0.0; positive.len()];
            parts.kept.iter().for_each(|&row| weights[row as usize] = 1.0);
            let kept = Labels::new(&positive, Some(&weights)).unwrap();
            let held_out_auc = |noise_rate: f64| {
                let scores = fit(&kept, Some(noise_rate)).score(&columns, None).unwrap();
                let rows = parts.held_out.iter().map(|&row| row as usize);
                let (scores, positive): (Vec<f64>, Vec<bool>) =
                    rows.map(|row| (scores[row], positive[row])).unzip();
                auc(&scores, &positive).unwrap()
            };
            let guesses = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45];
            let rarer = kept.total().pos.min(kept.total().neg) as f64;
            let share = rarer / parts.kept.len() as f64;
            let aucs = guesses.into_iter().filter(|&guess| guess < share).map(held_out_auc);
            let aucs: Vec<f64> = aucs.collect();
            let best = aucs.iter().copied().fold(0.0, f64::max);
            let expected = guesses[aucs.iter().position(|&auc| auc > best - 1e-12).unwrap()];
            let found = fit(&labels, None);
            assert_eq!(found.noise_rate(), expected);
            assert_eq!(found, fit(&labels, Some(expected)));
            chosen.push(expected);
        }
        assert!(chosen.iter().any(|&guess| guess > 0.0), "{chosen:?}");
    }
}
