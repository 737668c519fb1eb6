//! Bags: their rounds side by side, and their mean, which is a model of the same form.
//!
//! Bags that leave out a fold each are cut after the same number of rounds, the best on the mean of
//! their folds: every row tells, and one number is less subject to chance than one for each bag.

use super::bag_fit::BagFit;
use super::held_out::{GradientHeldOut, HeldOutMeasure};
use super::model::{GradientBag, Parts};
use super::params::GradientParams;
use super::source::BagSource;
use crate::data::{mix, snap};
use crate::{Interrupt, Part, RankError};

/// Rounds that several bags run before they wait for each other.
const BLOCK_ROUNDS: usize = 8;

/// The seed of a bag; the first has that of the fit.
pub(super) fn bag_seed(seed: u64, number: usize) -> u64 {
    // Rounds are seeded by the numbers from 0 upwards.
    if number == 0 { seed } else { mix(seed ^ mix(u64::MAX - number as u64)) }
}

/// Runs the rounds of some bags side by side, until each has all of its series or stops early.
///
/// Reports each round with the mean of what the held-out rows say.
pub(super) fn run<S: BagSource>(
    bags: &mut [BagFit<'_, S>],
    params: &GradientParams,
    unit: &'static str,
    interrupt: &Interrupt,
) -> Result<(), RankError> {
    let block = if bags.len() == 1 { 1 } else { BLOCK_ROUNDS };
    let most = bags.iter().map(BagFit::n_bound).max();
    let shares_rounds = params.shares_rounds();
    let has_stopped = |bag: &BagFit<'_, S>| {
        let values = bag.values.as_deref();
        let stops = values.zip(params.held_out).is_some_and(|(values, asked)| asked.stops(values));
        !shares_rounds && stops
    };
    let goes_on = |bag: &BagFit<'_, S>| bag.goes_on() && !has_stopped(bag);
    let mut n_before = n_done(bags, goes_on);
    loop {
        let going: Vec<&mut BagFit<'_, S>> = bags.iter_mut().filter(|bag| goes_on(bag)).collect();
        if going.is_empty() {
            return Ok(());
        }
        S::side_by_side(going, async |bag: &mut BagFit<'_, S>| {
            for number in n_before..n_before + block {
                bag.run_until(number + 1).await?;
                if has_stopped(bag) {
                    break;
                }
            }
            Ok(())
        })?;
        for number in n_before + 1..=n_done(bags, goes_on) {
            if !report(bags, params, number, most, unit, interrupt)? {
                return bags.iter_mut().try_for_each(|bag| bag.end_after(number));
            }
        }
        n_before += block;
        if let Some(asked) = params.held_out.filter(|_| shares_rounds)
            && asked.stops(&mean_path(bags))
        {
            return Ok(());
        }
    }
}

/// Reports a round; whether there are to be more.
fn report<S: BagSource>(
    bags: &[BagFit<'_, S>],
    params: &GradientParams,
    number: usize,
    most: Option<usize>,
    unit: &'static str,
    interrupt: &Interrupt,
) -> Result<bool, RankError> {
    let value = |bag: &BagFit<'_, S>| {
        let values = bag.values.as_ref()?;
        values.get(bag.n_begun() + number - 1).or(values.last()).copied()
    };
    let values: Vec<f64> = bags.iter().filter_map(value).collect();
    let reached = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    let name = match params.held_out.map(|asked| asked.measure) {
        Some(HeldOutMeasure::Loss) => "validation_loss",
        _ => "validation_auc",
    };
    interrupt.part_done(&Part { unit, number, most, figures: &[(name, reached)] })
}

/// Rounds of this series that all bags have that go on; some may be ahead by those of a trial.
fn n_done<'a, S: BagSource>(
    bags: &[BagFit<'a, S>],
    goes_on: impl Fn(&BagFit<'a, S>) -> bool,
) -> usize {
    let going = bags.iter().filter(|bag| goes_on(bag)).map(BagFit::n_done).min();
    going.or(bags.iter().map(BagFit::n_done).max()).unwrap_or(0)
}

/// The mean over bags of what the held-out rows say of each round that they have. A bag that has nothing
/// left to learn stays where it is.
fn mean_path<S: BagSource>(bags: &[BagFit<'_, S>]) -> Vec<f64> {
    let paths = bags.iter().filter_map(|bag| bag.values.as_deref());
    let paths: Vec<&[f64]> = paths.filter(|values| !values.is_empty()).collect();
    let n_begun = bags.iter().map(BagFit::n_begun).max().unwrap_or(0);
    let n_rounds = n_begun + n_done(bags, BagFit::goes_on);
    let mean = |round: usize| {
        let values = paths.iter().map(|values| values[round.min(values.len() - 1)]);
        values.sum::<f64>() / paths.len() as f64
    };
    (0..n_rounds).map(mean).collect()
}

/// What the held-out rows of each bag say, and how many rounds it is to keep.
pub(super) fn paths<S: BagSource>(
    bags: &[BagFit<'_, S>],
    params: &GradientParams,
) -> Vec<Option<GradientHeldOut>> {
    let Some(asked) = params.held_out else { return vec![None; bags.len()] };
    let shared = params.shares_rounds().then(|| asked.path(mean_path(bags)));
    let of_bag = |bag: &BagFit<'_, S>| {
        let mut values = bag.values.clone()?;
        Some(match &shared {
            None => asked.path(values),
            Some(path) => {
                values.truncate(path.values.len());
                let n_rounds = path.n_rounds.min(values.len());
                GradientHeldOut { measure: asked.measure, values, n_rounds }
            }
        })
    };
    bags.iter().map(of_bag).collect()
}

/// The mean of the scores of models: all their trees, with values divided by the number of models.
///
/// Trees are in the order of the rounds, so that the first ones are the mean of the first rounds.
/// The threshold is left as it is.
pub(super) fn average(bags: Vec<Parts>) -> Parts {
    let n_bags = bags.len() as f64;
    let start = snap(bags.iter().map(|bag| bag.start).sum::<f64>() / n_bags);
    let (mut mean, mut trees, mut of_bags) = (None, Vec::new(), Vec::new());
    let mut pairs = Vec::new();
    for mut bag in bags {
        // The pairs of a bag come after those of the bags before.
        let (n_features, n_pairs) = (bag.n_levels.len(), pairs.len());
        for tree in &mut bag.trees {
            tree.map_features(
                |feature| {
                    if feature < n_features { feature } else { feature + n_pairs }
                },
            );
        }
        pairs.append(&mut bag.pairs);
        of_bags.push(GradientBag { n_rounds: bag.trees.len(), held_out: bag.held_out.take() });
        trees.push(std::mem::take(&mut bag.trees).into_iter());
        mean.get_or_insert(bag);
    }
    let mut mean = mean.expect("at least one bag");
    let n_rounds = of_bags.iter().map(|bag| bag.n_rounds).max().unwrap_or(0);
    for _ in 0..n_rounds {
        let of_round = trees.iter_mut().filter_map(Iterator::next);
        mean.trees.extend(of_round.map(|tree| tree.map_values(|value| snap(value / n_bags))));
    }
    Parts { start, bags: of_bags, pairs, ..mean }.without_unasked_pairs()
}
