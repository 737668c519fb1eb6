//! All bags of a fit in one series of rounds, wherever the rows are, with the number of leaves.

use super::bags::{BagFit, RoundTerms, Stage, TRIAL_ROUNDS, paths, run};
use super::begun::{Bag, Begun, PairChoice};
use super::category_pairs::category_pairs;
use super::held_out::GradientHeldOut;
use super::held_out_params::GradientRefit;
use super::params::GradientParams;
use super::refit_leaves::refit_leaves;
use super::source::{BagSource, FitSource, StateOf};
use crate::RankError;

/// Rounds of coarse steps up to which finer ones are taken instead, from the first round on: those
/// are few, too, and rank better. On a set of calls of a bank (20,594 rows), where 36 rounds were
/// best, coarse steps lost 0.20 points.
const FEW_ROUNDS: usize = 100;

/// Fits all bags in one series of rounds.
pub(super) fn in_one_series<F: FitSource>(
    source: &F,
    params: &GradientParams,
) -> Result<Vec<Bag<StateOf<F>>>, RankError> {
    let dealt = source.deal(params)?;
    let coarse = params.of_coarse_steps(source.n_rows());
    let tried = capacity(source, coarse.as_ref().unwrap_or(params), &dealt)?;
    let (params, begun) = match &coarse {
        Some(_) if tried.n_rounds <= FEW_ROUNDS => (params, Vec::new()),
        coarse => (coarse.as_ref().unwrap_or(params), tried.begun),
    };
    let params = &params.of_leaves(tried.max_leaves);
    let PairChoice { dealt, begun } = category_pairs(source, params, dealt, begun)?;
    let mut bags = source.begin(params, &dealt, RoundTerms::Given)?;
    source.replay(&mut bags)?;
    for (bag, begun) in bags.iter_mut().zip(begun) {
        bag.take_up(begun);
    }
    run(&mut bags, params, Stage::ROUNDS, source.interrupt())?;
    let paths = paths(&bags, params);
    // A refit that has no time would have one round.
    let refit =
        if bags.iter().any(|bag| bag.is_ended) { GradientRefit::None } else { params.refit() };
    match refit {
        GradientRefit::None => return finish(bags, paths),
        GradientRefit::Leaves => {
            cut(&mut bags, &paths)?;
            if source.has_held_out(&dealt[0]) {
                refit_leaves(&mut bags)?;
            }
            return finish(bags, paths);
        }
        GradientRefit::Trees => {}
    }
    // The rate is that for the requested number of rounds.
    let mut again = source.begin(params, &source.deal_all(params)?, RoundTerms::Given)?;
    for (bag, n_rounds) in again.iter_mut().zip(n_kept(&bags, &paths)) {
        bag.bound_rounds(n_rounds);
    }
    run(&mut again, params, Stage::ROUNDS, source.interrupt())?;
    finish(again, paths)
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

/// The number of leaves of a fit, and the rounds of its first bags from the trial.
pub(super) struct Capacity<T> {
    pub(super) max_leaves: usize,
    pub(super) begun: Vec<Begun<T>>,
    /// The number of rounds that was best in the trial; 0 without one, and the greatest number if
    /// time has ended it.
    pub(super) n_rounds: usize,
}

/// The number of leaves of a fit in one series of rounds: if there are several to choose from, the
/// one that is best on the held-out rows of the first bags, of ties the first.
///
/// The bags begin with the rounds of the trial. Run again, they took 0.65 of 7.0 s of CPU
/// (50,000 x 20).
fn capacity<F: FitSource>(
    source: &F,
    params: &GradientParams,
    dealt: &[F::Dealt],
) -> Result<Capacity<StateOf<F>>, RankError> {
    let candidates = params.leaves_to_try(source.n_rows());
    let mut best = Capacity { max_leaves: candidates[0], begun: Vec::new(), n_rounds: 0 };
    if candidates.len() == 1 || params.held_out.is_none() || source.goes_on() {
        return Ok(best);
    }
    let first = &dealt[..params.n_trial_bags(source.n_rows())];
    let mut most = f64::NEG_INFINITY;
    for max_leaves in candidates {
        let params = params.of_leaves(max_leaves);
        let mut bags = source.begin(&params, first, RoundTerms::Given)?;
        if bags.iter().any(|bag| bag.values.is_none()) {
            break;
        }
        for bag in &mut bags {
            bag.bound_rounds(TRIAL_ROUNDS.min(params.n_rounds));
        }
        run(&mut bags, &params, Stage::LEAVES, source.interrupt())?;
        let paths = paths(&bags, &params);
        let merits: Option<Vec<f64>> = paths.iter().map(|path| path.as_ref()?.merit()).collect();
        let is_ended = bags.iter().any(|bag| bag.is_ended);
        if is_ended && !best.begun.is_empty() {
            // Of fewer rounds than the others.
            break;
        }
        if let Some(merits) = merits
            && let merit = merits.iter().sum::<f64>() / merits.len() as f64
            && merit > most
        {
            most = merit;
            let n_rounds = paths.iter().flatten().map(|path| path.n_rounds).max().unwrap_or(0);
            let begun = bags.into_iter().map(BagFit::into_begun).collect();
            let n_rounds = if is_ended { usize::MAX } else { n_rounds };
            best = Capacity { max_leaves, begun, n_rounds };
        }
        if is_ended {
            break;
        }
    }
    Ok(best)
}
