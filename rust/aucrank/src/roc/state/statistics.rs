//! Statistics of the cells of a state in ascending order, and the knots of its curve that some of
//! them need, out of any number, in one pass.

use super::cells::{LOWEST, PlacedDigits, Seen, WideTotal, add_shifted, add_words, unit_below};
use super::table::few_units;
use super::{RocState, cells};
use crate::RankError;
use crate::data::times_power_of_two;
use crate::roc::auc::ConcordantPairs;
use crate::roc::curve::CountedMass;
use crate::roc::mass::{Mass, digits};
use crate::roc::partial::CurvePart;
use crate::roc::partial_spread::mean_clipped;
use crate::roc::{RocCurve, Score, Weighting};

pub(super) fn area<C: Seen>(cells: impl Iterator<Item = C>) -> Result<f64, RankError> {
    let mut pairs = ConcordantPairs::default();
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
    let mut half_wins = ConcordantPairs::default();
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

/// Sums over some rows.
#[derive(Debug, Clone)]
pub(super) struct StateSums {
    pub(super) rows: [u64; 2],
    pub(super) totals: [WideTotal; 2],
    pub(super) low: i32,
}

impl Default for StateSums {
    fn default() -> Self {
        Self { rows: [0; 2], totals: [[0; cells::ALL_WORDS]; 2], low: 0 }
    }
}

impl StateSums {
    /// Adds integer multiples of `2^exponent`.
    pub(super) fn add_whole(&mut self, units: [u128; 2], exponent: i32) {
        for (total, units) in self.totals.iter_mut().zip(units) {
            add_shifted(total, units, (exponent - LOWEST).cast_unsigned());
        }
    }
}

pub(super) fn power(bits: u32) -> f64 {
    2_f64.powi(bits.cast_signed())
}

impl RocState {
    /// Sums over the rows of a batch.
    #[expect(clippy::float_cmp, reason = "a whole number is one exactly")]
    pub(super) fn sums_of(
        &self,
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Result<StateSums, RankError> {
        let mut sums = StateSums::default();
        let Some(weights) = weights else {
            let n_pos = positive.iter().map(|&p| u64::from(p)).sum::<u64>();
            sums.rows = [positive.len() as u64 - n_pos, n_pos];
            sums.add_whole(sums.rows.map(u128::from), 0);
            return Ok(sums);
        };
        let rows = || weights.iter().zip(positive).enumerate();
        let mut whole = [0_u128; 2];
        let mut is_whole = true;
        for (row, (&weight, &positive)) in rows() {
            let units = self.units_of(row, weight)?;
            let class = usize::from(positive);
            sums.rows[class] += u64::from(weight > 0.0);
            whole[class] += u128::from(units);
            is_whole &= units as f64 == weight;
        }
        if self.unit_bits.is_some() || is_whole {
            sums.add_whole(whole, -self.bits().cast_signed());
            return Ok(sums);
        }
        for (_, (&weight, &positive)) in rows() {
            if weight > 0.0 {
                let PlacedDigits { number, shift } = PlacedDigits::of(weight, LOWEST);
                add_shifted(&mut sums.totals[usize::from(positive)], number, shift);
                sums.low = sums.low.min(unit_below(digits(weight).1));
            }
        }
        Ok(sums)
    }

    /// A weight in units, rounded; in a state without a unit its integer part.
    pub(super) fn units_of(&self, row: usize, weight: f64) -> Result<u64, RankError> {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(RankError::BadWeight { row, value: weight });
        }
        let Some(bits) = self.unit_bits else { return Ok(weight as u64) };
        let exact = weight * power(bits);
        let units = exact.round();
        if bits == 0 && exact.fract() > 0.0 || units < 1.0 && weight > 0.0 {
            return Err(RankError::BadParameter {
                name: "sample_weight",
                value: format!("{weight} in row {row}"),
                rule: "a whole number of weight_unit, to which fractions are rounded if it is below 1",
            });
        }
        // A weight beyond the integers saturates, and the total shows it.
        Ok(units as u64)
    }

    pub(super) fn add_sums(&mut self, sums: &StateSums) -> Result<(), RankError> {
        let mut totals = self.totals;
        for (total, added) in totals.iter_mut().zip(&sums.totals) {
            add_words(total, added, 0);
        }
        if let Some(bits) = self.unit_bits
            && few_units(&totals, bits).is_none()
        {
            return Err(RankError::TooMuchWeight { unit: power(bits).recip() });
        }
        self.totals = totals;
        self.rows = [0, 1].map(|class| self.rows[class].saturating_add(sums.rows[class]));
        self.low = self.low.min(sums.low);
        Ok(())
    }
}

/// As in [`PartialAreas`](crate::roc::PartialAreas): for each class, from the mean clipped rate of
/// the other class over each score. The numbers of rows are those of the weighting.
pub(super) fn of_part<C: Seen>(
    cells: &(impl Iterator<Item = C> + Clone),
    rows: [f64; 2],
    part: CurvePart,
    weighting: Weighting,
) -> [f64; 2] {
    let all = total(cells.clone());
    let bands = [part.tpr, part.fpr];
    // Share of a score in the weight of a class, its value, and the sum of squared shares.
    let terms = |class: usize| {
        let (own, other) = (all[class].to_f64(), all[1 - class].to_f64());
        let mut above = all[1 - class];
        cells.clone().filter_map(move |cell| {
            let masses = cell.masses();
            let after = above - masses[1 - class];
            let [u, v] = [after, above].map(|above| above.to_f64() / other);
            above = after;
            (masses[class] > C::Mass::default()).then(|| {
                let share = masses[class].to_f64() / own;
                let squares = cell.squares()[class] / own / own;
                (share, mean_clipped(u, v, bands[class]), squares)
            })
        })
    };
    [0, 1].map(|class| {
        // Taken from the least, values that are all equal deviate by exactly 0.
        let least = terms(class).map(|term| term.1).fold(f64::INFINITY, f64::min);
        let mean: f64 = terms(class).map(|(share, value, _)| share * (value - least)).sum();
        let deviation = |value: f64| (value - least - mean).powi(2);
        let n = rows[class];
        match weighting {
            Weighting::Sampling => {
                n / (n - 1.0) * terms(class).map(|(_, v, s)| s * deviation(v)).sum::<f64>()
            }
            Weighting::Frequency => {
                terms(class).map(|(share, v, _)| share * deviation(v)).sum::<f64>() / (n - 1.0)
            }
        }
    })
}

/// Weights of both classes, if those of every score are whole numbers.
///
/// # Errors
///
/// [`RankError::BadParameter`] for the first that is not.
pub(super) fn whole_weights<C: Seen>(
    cells: impl Iterator<Item = C> + Clone,
    exponents: [i32; 2],
) -> Result<[f64; 2], RankError> {
    let all = total(cells.clone());
    for cell in cells {
        for (mass, exponent) in cell.masses().into_iter().zip(exponents) {
            let digits: u128 = mass.into();
            if digits > 0 && digits.trailing_zeros().cast_signed() < -exponent {
                let weight = times_power_of_two(mass.to_f64(), exponent);
                return Err(RankError::BadParameter {
                    name: "weights",
                    value: format!("{weight} at a score"),
                    rule: "whole numbers, where they are frequencies",
                });
            }
        }
    }
    Ok([0, 1].map(|class| times_power_of_two(all[class].to_f64(), exponents[class])))
}

/// Which knots are kept, besides the first and the last.
#[derive(Debug, Clone, Default)]
pub(super) struct WantedKnots<'a> {
    /// Those next to these false positive rates, on both sides.
    pub fpr: &'a [f64],
    /// Those next to these true positive rates.
    pub tpr: &'a [f64],
    /// At most this many, evenly along the curve, and that of the largest TPR - FPR.
    pub most: Option<usize>,
}

/// Some knots of a curve, with the exact area left of each.
///
/// The curve is known between two knots next to each other on it; between others, only the area.
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

/// The largest TPR - FPR so far, in units of one pair, and its knot.
type Gap<M> = (<M as Mass>::Product, Knot<M>);

/// Position of a knot among the requested rates, and its piece of the curve.
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
    // A curve is at most as long as two sides of a square.
    let pieces = wanted.most.map_or(0.0, |most| 0.5 * most.saturating_sub(ALWAYS + 1) as f64);
    let place = |counts: [C::Mass; 2]| {
        let rates = [0, 1].map(|class| counts[class].to_f64() / all[class].to_f64());
        // Separates knots below, at and above each rate.
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
                let is_next_cell = here.among != there.among;
                if is_next_cell && kept.last().is_some_and(|kept| kept.number != last.number) {
                    kept.push(last);
                }
                if is_next_cell || here.piece != there.piece {
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
