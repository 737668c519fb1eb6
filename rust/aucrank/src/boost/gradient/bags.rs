//! The mean of several models, which is a model of the same form.

use super::model::{GradientBag, Parts};
use crate::data::{mix, snap};

/// The seed of a bag; the first has that of the fit.
pub(super) fn bag_seed(seed: u64, number: usize) -> u64 {
    // Rounds are seeded by the numbers from 0 upwards.
    if number == 0 { seed } else { mix(seed ^ mix(u64::MAX - number as u64)) }
}

/// The mean of the scores of models: all their trees, with values divided by the number of models.
///
/// Trees are in the order of the rounds, so that the first ones are the mean of the first rounds.
/// The threshold is left as it is.
pub(super) fn average(bags: Vec<Parts>) -> Parts {
    let n_bags = bags.len() as f64;
    let start = snap(bags.iter().map(|bag| bag.start).sum::<f64>() / n_bags);
    let (mut mean, mut trees, mut of_bags) = (None, Vec::new(), Vec::new());
    for mut bag in bags {
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
    Parts { start, bags: of_bags, ..mean }
}
