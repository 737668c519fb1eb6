//! The number of leaves of a tree, where the fit is to choose it: a trial of few rounds for each of two
//! numbers, by what the held-out rows of the first bag say.
//!
//! Many leaves lose on few rows, and on many rows gain points where the classes are parted by
//! combinations of features: so only the rows can tell. The rounds of the better trial are those that the
//! first bag begins with.

use super::bag_fit::Terms;
use super::bags::{paths, run};
use super::fit::Begun;
use super::params::{FEW_LEAVES, GradientParams, Interactions};
use super::source::{FitSource, StateOf};
use crate::RankError;

/// Numbers of leaves to choose from; of equals the first.
const CANDIDATES: [usize; 2] = [FEW_LEAVES, 128];

/// Rows from which on there is a trial.
const LEAST_ROWS: u64 = 20_000;

/// Rounds of each trial.
const TRIAL_ROUNDS: usize = 300;

/// The number of leaves of a fit, and the rounds of its first bag that are known by the choice.
pub(super) struct Capacity<T> {
    pub(super) max_leaves: usize,
    pub(super) begun: Option<Begun<T>>,
}

/// The number of leaves of the parameters, or the one that is chosen by the first bag, for a fit in one
/// series of rounds.
pub(super) fn capacity<F: FitSource>(
    source: &F,
    params: &GradientParams,
    first: &[F::Dealt],
) -> Result<Capacity<StateOf<F>>, RankError> {
    let max_leaves = params.max_leaves.unwrap_or(FEW_LEAVES);
    let mut best = Capacity { max_leaves, begun: None };
    let asks_alone =
        matches!(&params.interactions, Interactions::Groups(groups) if groups.is_empty());
    let is_tried = params.max_leaves.is_none()
        && source.n_rows() >= LEAST_ROWS
        && !source.goes_on()
        && !asks_alone;
    let Some(asked) = params.held_out.filter(|_| is_tried) else { return Ok(best) };
    let mut most = f64::NEG_INFINITY;
    for max_leaves in CANDIDATES {
        let params = GradientParams { max_leaves: Some(max_leaves), ..params.clone() };
        let mut bags = source.begin(&params, first, Terms::Asked)?;
        if bags[0].values.is_none() {
            break;
        }
        bags[0].bound_rounds(TRIAL_ROUNDS.min(params.n_rounds));
        run(&mut bags, &params, "trial round", source.interrupt())?;
        let path = paths(&bags, &params).swap_remove(0);
        let bag = bags.swap_remove(0);
        let is_ended = bag.is_ended;
        if let Some(path) = path
            && let Some(&value) =
                path.n_rounds.checked_sub(1).and_then(|last| path.values.get(last))
            && asked.measure.merit(value) > most
        {
            most = asked.measure.merit(value);
            best = Capacity { max_leaves, begun: Some(bag.into_begun()) };
        }
        if is_ended {
            break;
        }
    }
    Ok(best)
}
