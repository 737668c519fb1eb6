//! All bags of a fit in one series of rounds, wherever the rows are, with the number of leaves.

use super::bags::{BagFit, RoundTerms, paths, run};
use super::begun::{Bag, Begun, PairChoice};
use super::category_pairs::category_pairs;
use super::held_out::GradientHeldOut;
use super::params::{FEW_LEAVES, GradientParams, Interactions};
use super::source::{BagSource, FitSource, StateOf};
use crate::RankError;

/// Unit of the progress of a fit.
pub(super) const ROUND: &str = "round";

/// Fits all bags in one series of rounds.
pub(super) fn in_one_series<F: FitSource>(
    source: &F,
    params: &GradientParams,
) -> Result<Vec<Bag<StateOf<F>>>, RankError> {
    let dealt = source.deal(params)?;
    let Capacity { max_leaves, begun } = capacity(source, params, &dealt[..1])?;
    let of_leaves = |max_leaves| GradientParams { max_leaves: Some(max_leaves), ..params.clone() };
    let params = &of_leaves(max_leaves);
    let PairChoice { dealt, begun } = category_pairs(source, params, dealt, begun)?;
    let mut best = run_series(source, params, &dealt, begun)?;
    let mut chosen = params.clone();
    for &max_leaves in &params.other_leaves {
        if best.is_ended {
            break;
        }
        let params = of_leaves(max_leaves);
        let other = run_series(source, &params, &dealt, None)?;
        if other.merit > best.merit {
            (best, chosen) = (other, params);
        }
    }
    // A refit that has no time would have one round.
    if !chosen.refits() || best.is_ended {
        return Ok(best.bags);
    }
    let params = &chosen;
    let paths = best.bags.iter_mut().map(|bag| bag.parts.held_out.take()).collect();
    // The rate is that for the requested number of rounds.
    let mut again = source.begin(params, &source.deal_all(params)?, RoundTerms::Given)?;
    for (bag, n_rounds) in again.iter_mut().zip(best.n_rounds) {
        bag.bound_rounds(n_rounds);
    }
    run(&mut again, params, ROUND, source.interrupt())?;
    finish(again, paths)
}

/// The bags after their rounds, with one maximum number of leaves.
struct Series<T> {
    bags: Vec<Bag<T>>,
    /// Number of rounds kept of each.
    n_rounds: Vec<usize>,
    /// The mean over bags of the measure on held-out rows after these, greater if better; negative
    /// infinity without such rows.
    merit: f64,
    /// Whether the observer has requested the end of the fit, or its time is over.
    is_ended: bool,
}

fn run_series<F: FitSource>(
    source: &F,
    params: &GradientParams,
    dealt: &[F::Dealt],
    begun: Option<Begun<StateOf<F>>>,
) -> Result<Series<StateOf<F>>, RankError> {
    let mut bags = source.begin(params, dealt, RoundTerms::Given)?;
    source.replay(&mut bags)?;
    if let Some(begun) = begun {
        bags[0].take_up(begun);
    }
    run(&mut bags, params, ROUND, source.interrupt())?;
    let paths = paths(&bags, params);
    let merits: Option<Vec<f64>> = paths.iter().map(|path| path.as_ref()?.merit()).collect();
    let merit =
        merits.map_or(f64::NEG_INFINITY, |merits| merits.iter().sum::<f64>() / merits.len() as f64);
    let (n_rounds, is_ended) = (n_kept(&bags, &paths), bags.iter().any(|bag| bag.is_ended));
    Ok(Series { bags: finish(bags, paths)?, n_rounds, merit, is_ended })
}

/// Number of rounds kept of each bag.
pub(super) fn n_kept<S: BagSource>(
    bags: &[BagFit<'_, S>],
    paths: &[Option<GradientHeldOut>],
) -> Vec<usize> {
    let n_rounds = |(bag, path): (&BagFit<'_, S>, &Option<GradientHeldOut>)| {
        path.as_ref().map_or(bag.trees.len(), |path| path.n_rounds)
    };
    bags.iter().zip(paths).map(n_rounds).collect()
}

/// Truncates each bag to its chosen rounds.
pub(super) fn cut<S: BagSource>(
    bags: &mut [BagFit<'_, S>],
    paths: &[Option<GradientHeldOut>],
) -> Result<(), RankError> {
    for (bag, path) in bags.iter_mut().zip(paths) {
        if let Some(path) = path {
            bag.cut(path.n_rounds)?;
        }
    }
    Ok(())
}

pub(super) fn finish<S: BagSource>(
    mut bags: Vec<BagFit<'_, S>>,
    paths: Vec<Option<GradientHeldOut>>,
) -> Result<Vec<Bag<S::State>>, RankError> {
    cut(&mut bags, &paths)?;
    Ok(bags.into_iter().zip(paths).map(|(bag, path)| bag.into_bag(path)).collect())
}

/// Numbers of leaves to choose from; of ties the first.
const CANDIDATES: [usize; 2] = [FEW_LEAVES, 128];

/// Minimum number of rows for a trial.
const LEAST_ROWS: u64 = 20_000;

/// Rounds of each trial.
const TRIAL_ROUNDS: usize = 300;

/// The number of leaves of a fit, and the rounds of its first bag from the trial.
pub(super) struct Capacity<T> {
    pub(super) max_leaves: usize,
    pub(super) begun: Option<Begun<T>>,
}

/// The number of leaves of the parameters, or the one chosen on the first bag, for a fit in one
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
    if params.held_out.is_none() || !is_tried {
        return Ok(best);
    }
    let mut most = f64::NEG_INFINITY;
    for max_leaves in CANDIDATES {
        let params = GradientParams { max_leaves: Some(max_leaves), ..params.clone() };
        let mut bags = source.begin(&params, first, RoundTerms::Given)?;
        if bags[0].values.is_none() {
            break;
        }
        bags[0].bound_rounds(TRIAL_ROUNDS.min(params.n_rounds));
        run(&mut bags, &params, "trial round", source.interrupt())?;
        let path = paths(&bags, &params).swap_remove(0);
        let bag = bags.swap_remove(0);
        let is_ended = bag.is_ended;
        if let Some(merit) = path.and_then(|path| path.merit())
            && merit > most
        {
            most = merit;
            // The first bag begins with the rounds of the trial. Run again, they took 0.65 of 7.0 s
            // of CPU (50,000 x 20).
            best = Capacity { max_leaves, begun: Some(bag.into_begun()) };
        }
        if is_ended {
            break;
        }
    }
    Ok(best)
}
