//! `MartiRank` and `SMartiRank`, wherever the rows are.

use super::in_memory::InMemory;
use super::layers::LayerNodes;
use super::learner::Outcome;
use super::noise_guess::guess_noise_rate;
use super::params::MartiParams;
use super::program::{BranchingProgram, Node, NodeKind};
use crate::boost::term::Term;
use crate::boost::two_sided::TwoSided;
use crate::data::{ClassSums, Columns, Labels};
use crate::external::{ExternalFitter, keep_asked};
use crate::{Interrupt, RankError};

/// Rows to which programs are fitted.
pub(super) trait ProgramRows {
    /// Some of the rows.
    type Subset;

    /// All of them.
    fn all(&self) -> Self::Subset;

    /// The other rows, and a share of the rows of each class held out; `None` where a class has a
    /// single distinct row.
    fn hold_out(&self, share: f64, seed: u64) -> Result<Option<[Self::Subset; 2]>, RankError>;

    /// Their class weights.
    fn total(&self, subset: &Self::Subset) -> Result<ClassSums, RankError>;

    /// Learns all layers on some of the rows, at a share of flipped labels.
    fn layers(&self, subset: &Self::Subset, noise_rate: f64) -> Result<CutLayers, RankError>;

    /// For each feature its number of categories, or `None` if it is numeric.
    fn n_levels(&self) -> Vec<Option<u32>>;

    /// The score of largest TPR - FPR.
    fn threshold(&self, program: &BranchingProgram) -> Result<f64, RankError>;

    /// The AUC of some of the rows.
    fn auc(&self, program: &BranchingProgram, subset: &Self::Subset) -> Result<f64, RankError>;
}

/// The layers of a program, with what each node sends rows on by.
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
    let rows = InMemory::new(columns, labels, params, external, interrupt)?;
    let mut program = fit_program(&rows, params)?;
    keep_asked(program.terms_mut().filter_map(Term::external_number_mut), external);
    Ok(program)
}

/// Fits a program, at the share of flipped labels that is given or guessed.
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
pub(super) fn program_at<R: ProgramRows>(
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
        Node { masses, kind }
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
pub(super) fn rarer_share(total: ClassSums) -> f64 {
    total.pos.min(total.neg) as f64 / (total.pos + total.neg) as f64
}
