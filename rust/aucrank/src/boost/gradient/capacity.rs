//! The number of leaves of a tree, where the fit is to choose it: a trial of few rounds for each of two
//! numbers, by what the held-out rows of the first bag say.
//!
//! Many leaves lose on few rows, and on many rows gain points where the classes are parted by
//! combinations of features: so only the rows can tell.

use super::bag_fit::{BagFit, Terms};
use super::bags::{BagRows, paths, run};
use super::fit::{Data, GradientExtras};
use super::params::{FEW_LEAVES, GradientParams, Interactions};
use crate::RankError;

/// Numbers of leaves to choose from; of equals the first.
const CANDIDATES: [usize; 2] = [FEW_LEAVES, 128];

/// Rows from which on there is a trial.
const LEAST_ROWS: u64 = 20_000;

/// Rounds of each trial.
const TRIAL_ROUNDS: usize = 300;

/// The number of leaves of the parameters, or the one that is chosen.
pub(super) fn max_leaves(
    data: Data<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
) -> Result<usize, RankError> {
    if let Some(leaves) = params.max_leaves {
        return Ok(leaves);
    }
    let combines = match &params.interactions {
        Interactions::Any => true,
        Interactions::Groups(groups) => !groups.is_empty(),
        Interactions::Pairs(_) => false,
    };
    let Some(asked) = params.held_out.filter(|_| combines) else { return Ok(FEW_LEAVES) };
    if data.labels.total().rows < LEAST_ROWS || given.earlier.is_some() {
        return Ok(FEW_LEAVES);
    }
    let dealt = BagRows::deal(data, params, given)?;
    let rows = dealt[0].fit_rows(data, params)?;
    let mut best = (f64::NEG_INFINITY, FEW_LEAVES);
    for leaves in CANDIDATES {
        let params = GradientParams { max_leaves: Some(leaves), ..params.clone() };
        let mut bag = BagFit::new(data, &params, dealt[0].seed, &rows, Terms::Asked)?;
        let Some(held_out) = dealt[0].held_out(data) else { return Ok(FEW_LEAVES) };
        bag.judge_by(held_out);
        bag.bound_rounds(TRIAL_ROUNDS.min(params.n_rounds));
        let mut bags = [bag];
        run(&mut bags, &params, "trial round", data.interrupt)?;
        let Some(path) = &paths(&bags, &params)[0] else { continue };
        let merit = path.n_rounds.checked_sub(1).map(|last| asked.measure.merit(path.values[last]));
        if merit.is_some_and(|merit| merit > best.0) {
            best = (merit.unwrap_or(best.0), leaves);
        }
        if bags[0].is_ended {
            break;
        }
    }
    Ok(best.1)
}
