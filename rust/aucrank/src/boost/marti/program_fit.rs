//! The fit of a program, wherever the rows are.

use super::outcome::Outcome;
use super::params::MartiParams;
use super::program::{BranchingProgram, MartiNode, NodeKind};
use super::program_rows::{CutLayers, ProgramRows};
use crate::RankError;
use crate::data::ClassSums;

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
