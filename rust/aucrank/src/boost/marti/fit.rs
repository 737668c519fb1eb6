//! `MartiRank` and `SMartiRank`.

use super::freezing::Freezing;
use super::learner::Outcome;
use super::marti_boost::{MartiBoostParams, marti_boost};
use super::noise_guess::guess_noise_rate;
use super::params::{MartiParams, Routing};
use super::program::{BranchingProgram, Node, NodeKind};
use super::rank_learner::RankLearner;
use crate::boost::term::{LevelBudget, Term};
use crate::boost::weak::WeakSample;
use crate::data::{Binned, Column, Columns, Labels};
use crate::external::{ExternalFitter, ExternalModels, keep_asked};
use crate::roc::largest_gap;
use crate::{Interrupt, RankError};

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
    let fit = |labels: &Labels<'_>, noise_rate: f64| {
        fit_at(columns, labels, params, noise_rate, external, interrupt)
    };
    let noise_rate = match params.noise_rate {
        Some(noise_rate) => noise_rate,
        None => guess_noise_rate(columns, labels, params.seed, external, fit, interrupt)?,
    };
    let mut program = fit(labels, noise_rate)?;
    keep_asked(program.terms_mut().filter_map(Term::external_number_mut), external);
    Ok(program)
}

/// Fits a program at a share of flipped labels.
fn fit_at(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &MartiParams,
    noise_rate: f64,
    external: Option<&dyn ExternalFitter>,
    interrupt: &Interrupt,
) -> Result<BranchingProgram, RankError> {
    let total = labels.total();
    let rarer = total.pos.min(total.neg) as f64;
    if noise_rate >= rarer / (total.pos + total.neg) as f64 {
        return Err(RankError::BadParameter {
            name: "noise_rate",
            value: noise_rate.to_string(),
            rule: "below the share of the rarer class",
        });
    }
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    let sample = WeakSample { columns, binned: &binned, labels, external, interrupt };
    let weak = params.weak_ranker.ranker(&sample, &[])?;
    let is_sampled = params.sample_size.is_some();
    let learner = RankLearner {
        sample,
        rule: if is_sampled { None } else { weak.bin_rule() },
        weak,
        criterion: params.criterion,
        noise_rate,
        is_sampled,
        budget: LevelBudget::default(),
    };
    let boost_params = MartiBoostParams {
        n_rounds: params.n_rounds,
        freezing: Freezing {
            epsilon: params.epsilon,
            min_rows: params.min_samples_class,
            noise_rate,
        },
        is_sampled: params.routing == Routing::Sampled,
        sample_size: params.sample_size,
        seed: params.seed,
    };
    let layers = marti_boost(columns, labels, &boost_params, &learner, interrupt)?;
    let nodes = layers.nodes.into_iter().map(|(masses, outcome)| {
        let kind = match outcome {
            Outcome::Classifier(ranker) => NodeKind::Ranker { term: ranker.term, cut: ranker.cut },
            Outcome::Coin => NodeKind::Coin,
            Outcome::Frozen { positive } => NodeKind::Frozen { positive },
            Outcome::Terminal => NodeKind::Terminal,
            Outcome::Unreached => NodeKind::Unreached,
        };
        Node { masses, kind }
    });
    let mut program = BranchingProgram {
        n_levels: columns.iter().map(Column::n_levels).collect(),
        n_rounds: params.n_rounds,
        routing: params.routing,
        score: params.score,
        seed: params.seed,
        nodes: nodes.collect(),
        row_bits: layers.row_bits,
        exponent: layers.exponent,
        threshold: 0.0,
        noise_rate,
    };
    let rankers = external.map(|external| external as &dyn ExternalModels);
    program.threshold = largest_gap(&program.score(columns, rankers)?, labels)?;
    Ok(program)
}
