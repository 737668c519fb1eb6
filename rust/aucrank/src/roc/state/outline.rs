//! The knots of a curve that some questions need, out of any number, in one pass over a table.

use super::cells::Seen;
use super::statistics::total;
use crate::roc::curve::CountedMass;
use crate::roc::mass::Mass;
use crate::roc::{RocCurve, Score};

/// Which knots are kept, besides the first and the last.
#[derive(Debug, Clone, Default)]
pub(super) struct WantedKnots<'a> {
    /// Those next to these false positive rates, on both sides.
    pub fpr: &'a [f64],
    /// Those next to these true positive rates.
    pub tpr: &'a [f64],
    /// So many at most, evenly along the curve, and that of the largest TPR - FPR.
    pub most: Option<usize>,
}

/// Some knots of a curve, with the exact area left of each.
///
/// What lies between two knots next to each other on the curve is known; between others, only the
/// area.
#[derive(Debug, Clone)]
pub(super) struct Outline {
    pub curve: RocCurve,
    /// Area under the whole curve from 0 to each knot.
    pub areas: Vec<f64>,
}

/// Knots that every curve has: its ends, and that of the largest TPR - FPR.
const ALWAYS: usize = 3;

#[derive(Clone, Copy)]
struct Knot<M: Mass> {
    /// Number in ascending order of the scores.
    number: usize,
    threshold: f64,
    counts: [M; 2],
    /// Twice the area right of it.
    twice_right: M::Product,
}

/// How far TPR - FPR is up, in units of one pair, and where.
type Gap<M> = (<M as Mass>::Product, Knot<M>);

/// Where a knot is among the wanted rates, and in which piece of the curve.
#[derive(Clone, Copy, PartialEq)]
struct KnotPlace {
    among: [usize; 2],
    piece: usize,
}

pub(super) fn outline<C: Seen>(
    cells: impl Iterator<Item = C> + Clone,
    exponents: [i32; 2],
    wanted: &WantedKnots<'_>,
) -> Outline {
    let all = total(cells.clone());
    let sorted = [wanted.fpr, wanted.tpr].map(|rates| {
        let mut rates = rates.to_vec();
        rates.sort_unstable_by(f64::total_cmp);
        rates
    });
    // A curve is two sides of a square long at most.
    let pieces = wanted.most.map_or(0.0, |most| 0.5 * most.saturating_sub(ALWAYS + 1) as f64);
    let place = |counts: [C::Mass; 2]| {
        let rates = [0, 1].map(|class| counts[class].to_f64() / all[class].to_f64());
        // Tells knots below, at and above each rate apart.
        let among = |class: usize| {
            let (rate, wanted) = (rates[class], &sorted[class]);
            wanted.partition_point(|&w| w < rate) + wanted.partition_point(|&w| w <= rate)
        };
        let piece = ((rates[0] + rates[1]) * pieces) as usize;
        KnotPlace { among: [among(0), among(1)], piece }
    };

    let mut above = all;
    let mut twice_right = <C::Mass as Mass>::Product::default();
    let mut kept: Vec<Knot<C::Mass>> = Vec::new();
    let mut before: Option<(Knot<C::Mass>, KnotPlace)> = None;
    let mut best: Option<Gap<C::Mass>> = None;
    let mut number = 0;
    let mut add = |threshold: f64, counts: [C::Mass; 2], twice_right| {
        let knot = Knot { number, threshold, counts, twice_right };
        number += 1;
        let here = place(counts);
        match before {
            None => kept.push(knot),
            Some((last, there)) => {
                let is_beside = here.among != there.among;
                if is_beside && kept.last().is_some_and(|kept| kept.number != last.number) {
                    kept.push(last);
                }
                if is_beside || here.piece != there.piece {
                    kept.push(knot);
                }
            }
        }
        if wanted.most.is_some() {
            // TPR + (1 - FPR), in units of one pair. Of equal ones, the highest threshold.
            let gap = counts[1].times(all[0]) + (all[0] - counts[0]).times(all[1]);
            if best.as_ref().is_none_or(|(largest, _)| gap >= *largest) {
                best = Some((gap, knot));
            }
        }
        before = Some((knot, here));
    };
    for cell in cells {
        // A cell may begin below the least possible score.
        add(f64::from_key(cell.key().max(f64::NEG_INFINITY.key())), above, twice_right);
        let [neg, pos] = cell.masses();
        let next = [above[0] - neg, above[1] - pos];
        twice_right += neg.times(above[1] + next[1]);
        above = next;
    }
    add(f64::INFINITY, above, twice_right);
    if let Some((last, _)) = before
        && kept.last().is_some_and(|kept| kept.number != last.number)
    {
        kept.push(last);
    }
    if let Some((_, knot)) = best
        && let Err(at) = kept.binary_search_by_key(&knot.number, |kept| kept.number)
    {
        kept.insert(at, knot);
    }
    kept.reverse();

    let whole = C::Mass::half_wins_of(all[1], all[0]);
    let areas = kept
        .iter()
        .map(|knot| C::Mass::product_to_f64(twice_right - knot.twice_right) / whole)
        .collect();
    let thresholds = kept.iter().map(|knot| knot.threshold).collect();
    let counts = [0, 1].map(|class| kept.iter().map(|knot| knot.counts[class]).collect());
    Outline { curve: C::Mass::curve(thresholds, counts, exponents), areas }
}
