//! Statistics of the cells of a state, which come in ascending order.

use super::cells::Seen;
use crate::RankError;
use crate::data::times_power_of_two;
use crate::roc::auc::Pairs;
use crate::roc::curve::Counted;
use crate::roc::mass::Mass;
use crate::roc::{RocCurve, Score};

pub(super) fn area<C: Seen>(cells: impl Iterator<Item = C>) -> Result<f64, RankError> {
    let mut pairs = Pairs::default();
    for cell in cells {
        let [neg, pos] = cell.masses();
        pairs.push(pos, neg);
    }
    pairs.area()
}

/// Weights of both classes.
pub(super) fn total<C: Seen>(cells: impl Iterator<Item = C>) -> [C::Mass; 2] {
    cells.fold([C::Mass::default(); 2], |sums, cell| {
        let masses = cell.masses();
        [sums[0] + masses[0], sums[1] + masses[1]]
    })
}

/// Half the share of pairs whose scores are in one cell but may differ.
pub(super) fn half_of_joined_pairs<C: Seen>(cells: impl Iterator<Item = C> + Clone) -> f64 {
    let [neg, pos] = total(cells.clone());
    let mut joined = <C::Mass as Mass>::Product::default();
    for cell in cells.filter(|cell| cell.width() > 0) {
        let [neg, pos] = cell.masses();
        joined += neg.times(pos);
    }
    C::Mass::product_to_f64(joined) / C::Mass::half_wins_of(pos, neg)
}

/// For each class, `sum(w^2 (V - AUC)^2) / sum(w)^2`.
pub(super) fn spread<C: Seen>(cells: impl Iterator<Item = C> + Clone) -> [f64; 2] {
    let [neg, pos] = total(cells.clone());
    let (pairs, all) = (C::Mass::half_wins_of(pos, neg), [neg, pos].map(Mass::to_f64));
    let mut half_wins = Pairs::default();
    for cell in cells.clone() {
        let [neg, pos] = cell.masses();
        half_wins.push(pos, neg);
    }
    let half_wins = half_wins.half_wins();
    let (mut below, mut sums) = ([C::Mass::default(); 2], [0.0; 2]);
    for cell in cells {
        let (masses, squares) = (cell.masses(), cell.squares());
        // Twice the weight of the other class below, a tie counting once.
        let twice_below = |other: usize| below[other] + below[other] + masses[other];
        let half_losses = twice_below(1);
        let places = [(pos + pos - half_losses).times(neg), twice_below(0).times(pos)];
        for class in [0, 1] {
            let gap = C::Mass::difference(places[class], half_wins) / pairs;
            sums[class] += squares[class] * gap.powi(2);
            below[class] += masses[class];
        }
    }
    [0, 1].map(|class| sums[class] / (all[class] * all[class]))
}

pub(super) fn effective_rows<C: Seen>(cells: impl Iterator<Item = C> + Clone) -> [f64; 2] {
    let [neg, pos] = total(cells.clone()).map(Mass::to_f64);
    let squares = cells.fold([0.0; 2], |sums, cell| {
        let squares = cell.squares();
        [sums[0] + squares[0], sums[1] + squares[1]]
    });
    [pos * pos / squares[1], neg * neg / squares[0]]
}

/// The score of a cell with the weights of the negative and of the positive rows.
pub(super) fn weighed<C: Seen>(cell: &C, exponents: [i32; 2]) -> (f64, [f64; 2]) {
    let masses = cell.masses();
    let weight = |class: usize| times_power_of_two(masses[class].to_f64(), exponents[class]);
    (f64::from_key(cell.key()), [weight(0), weight(1)])
}

pub(super) fn curve<C: Seen>(
    cells: impl Iterator<Item = C> + Clone,
    exponents: [i32; 2],
) -> RocCurve {
    let mut above = total(cells.clone());
    let (mut thresholds, mut counts) = (Vec::new(), [Vec::new(), Vec::new()]);
    for cell in cells {
        // A cell may begin below the least possible score.
        thresholds.push(f64::from_key(cell.key().max(f64::NEG_INFINITY.key())));
        let masses = cell.masses();
        for class in [0, 1] {
            counts[class].push(above[class]);
            above[class] = above[class] - masses[class];
        }
    }
    thresholds.push(f64::INFINITY);
    thresholds.reverse();
    for counts in &mut counts {
        counts.push(C::Mass::default());
        counts.reverse();
    }
    C::Mass::curve(thresholds, counts, exponents)
}
