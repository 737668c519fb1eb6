//! The distributions over the rows of each class, which boosting reweights in each round.

use crate::data::{ClassMasses, Labels, times_power_of_two};
use crate::parallel;
use crate::roc::TopNegatives;

/// Rows per task.
const CHUNK_ROWS: usize = 1 << 13;

/// Contribution of a round to a row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Worth {
    value: f64,
    /// Factors by which the mass of the row is multiplied, if it is negative and if it is positive.
    factors: [f64; 2],
}

impl Worth {
    pub(super) fn of(value: f64) -> Self {
        Self { value, factors: [value.exp(), (-value).exp()] }
    }
}

/// A distribution over the positive rows and one over the negative rows: the factored form of a
/// distribution over pairs (DECISIONS K7), and that of `AUCBoost` on 1/2 D+ + 1/2 D- (B16), since
/// no weak ranker depends on the ratio of the class weights.
///
/// The factor of a row depends on that row alone, whatever the order of the rows; it is rounded to
/// fixed point before anything is summed, so that sums are exact, and a row of weight k equals k
/// copies of it. A row takes 16 bytes here.
///
/// If only the highest negatives matter, the mass of each negative is multiplied by the part by
/// which it counts ([`TopNegatives`]), recomputed after each round.
#[derive(Debug, Clone)]
pub(super) struct Distribution<'a> {
    labels: &'a Labels<'a>,
    /// Number of copies that each row represents, if weights are counts.
    copies: Option<&'a [u64]>,
    /// Factor of one copy of the row, times its weight if weights are not counts; relative to the
    /// largest of the class.
    factors: Vec<f64>,
    /// The factors in fixed point, times the copies.
    masses: Vec<u64>,
    total: ClassMasses,
    units: MassUnits,
    /// The negatives that count in full; `None` for all.
    top: Option<Top>,
}

/// The emphasis on the negatives of the highest scores.
#[derive(Debug, Clone)]
struct Top {
    max_fpr: f64,
    /// The negatives that have mass.
    negatives: Vec<u32>,
    /// The share of the weight of the negatives that counts; all of it before the first round.
    share: f64,
}

/// Result of a pass over rows.
#[derive(Debug, Clone, Copy, Default)]
struct Pass {
    /// Largest factor of each class, negatives first.
    largest: [f64; 2],
    total: ClassMasses,
}

impl Pass {
    fn and(mut self, other: Self) -> Self {
        for (largest, more) in self.largest.iter_mut().zip(other.largest) {
            *largest = largest.max(more);
        }
        self.total += other.total;
        self
    }
}

/// Factors, masses and, if requested, scores of a chunk of rows, with the number of the chunk.
type WeightChunk<'a> = (usize, ((&'a mut [f64], &'a mut [u64]), Option<&'a mut [f64]>));

impl<'a> Distribution<'a> {
    /// The initial distribution: the given rows by their weights; other rows never have mass.
    pub(super) fn new(labels: &'a Labels<'a>, rows: &[u32], max_fpr: f64) -> Self {
        let copies = labels.copies();
        let (mut factors, mut n_copies) = (vec![0.0; labels.n_rows()], [0_u64; 2]);
        for row in rows.iter().map(|&row| row as usize) {
            factors[row] = match (copies, labels.weights()) {
                (None, Some(weights)) => weights.units()[row] as f64,
                _ => 1.0,
            };
            n_copies[usize::from(labels.positive()[row])] += copies.map_or(1, |copies| copies[row]);
        }
        let mut distribution = Self {
            labels,
            copies,
            masses: vec![0; factors.len()],
            factors,
            total: ClassMasses::default(),
            units: MassUnits::new(n_copies),
            top: (max_fpr < 1.0).then(|| {
                let is_negative = |row: &u32| labels.sums(*row as usize).neg > 0;
                let negatives = rows.iter().copied().filter(is_negative).collect();
                Top { max_fpr, negatives, share: 1.0 }
            }),
        };
        distribution.multiply(&mut [], |_| Worth { value: 0.0, factors: [1.0; 2] });
        distribution
    }

    /// Mass of each row.
    pub(super) fn masses(&self) -> &[u64] {
        &self.masses
    }

    /// Mass of each class; zero if all rows of a class are below the range of fixed point.
    pub(super) fn total(&self) -> ClassMasses {
        self.total
    }

    /// For each class, negatives first, the mean of `exp(-y f(x))`, `f` being the sum of the rounds
    /// so far: a bound on the share of its rows with `y f(x) <= 0`. Each negative has the part of
    /// weight by which it counts.
    pub(super) fn mean_exponential(&self) -> [f64; 2] {
        self.units.mean_exponential()
    }

    /// Adds the values of a round to the scores, and reduces the mass of rows that it ranks well:
    /// it is multiplied by `exp(-value)` for a positive and `exp(value)` for a negative row.
    pub(super) fn reweight(&mut self, scores: &mut [f64], worth: impl Fn(usize) -> Worth + Sync) {
        let before = self.log_total();
        self.multiply(scores, worth);
        self.weigh_parts(scores);
        let after = self.log_total();
        self.units.normalize(before, after);
    }

    fn log_total(&self) -> [f64; 2] {
        self.units.log_total(self.total, self.top.as_ref().map_or(1.0, |top| top.share))
    }

    /// Weighs the negatives by the part by which they count.
    fn weigh_parts(&mut self, scores: &[f64]) {
        let Some(top) = &mut self.top else { return };
        let (labels, copies) = (self.labels, self.copies);
        let rows = || top.negatives.iter().map(|&row| row as usize);
        let weighted = rows().map(|row| (scores[row], labels.sums(row).neg)).collect();
        let found = TopNegatives::of(weighted, top.max_fpr);
        let [unit, _] = units_of(self.units.bits());
        self.total.neg = 0;
        for row in rows() {
            let factor = found.part(scores[row]) * self.factors[row];
            let copies = copies.map_or(1, |copies| copies[row]);
            self.masses[row] = mass_of(factor, unit) * copies;
            self.total.neg += self.masses[row];
        }
        top.share = TopNegatives::share(top.max_fpr);
    }

    fn multiply(&mut self, scores: &mut [f64], worth: impl Fn(usize) -> Worth + Sync) {
        let positive = self.labels.positive();
        let times =
            |row: usize, factor: f64| factor * worth(row).factors[usize::from(positive[row])];
        // A single pass suffices if the largest factors keep their power of two, as they usually
        // do.
        let mut pass = if scores.is_empty() {
            self.pass(&mut [], times, |_| 0.0)
        } else {
            self.pass(scores, times, |row| worth(row).value)
        };
        let powers = powers_of(pass.largest);
        if powers != [0; 2] {
            let rescale = rescaling(powers);
            let times = |row: usize, factor: f64| factor * rescale[usize::from(positive[row])];
            pass = self.pass(&mut [], times, |_| 0.0);
            self.units.rescale(powers);
        }
        self.total = pass.total;
    }

    /// Updates every factor and rounds it to fixed point; masses are valid if no factor exceeds 1.
    fn pass(
        &mut self,
        scores: &mut [f64],
        times: impl Fn(usize, f64) -> f64 + Sync,
        value: impl Fn(usize) -> f64 + Sync,
    ) -> Pass {
        let (positive, copies) = (self.labels.positive(), self.copies);
        let unit = units_of(self.units.bits());
        let of_row = |row: usize, factor: &mut f64, mass: &mut u64, pass: &mut Pass| {
            let class = usize::from(positive[row]);
            *factor = times(row, *factor);
            let copies = copies.map_or(1, |copies| copies[row]);
            if *factor > pass.largest[class] && copies > 0 {
                pass.largest[class] = *factor;
            }
            *mass = mass_of(*factor, unit[class]) * copies;
            let pos = *mass * class as u64;
            pass.total += ClassMasses { pos, neg: *mass - pos };
        };
        let scores = scores.chunks_mut(CHUNK_ROWS).map(Some).chain(std::iter::repeat_with(|| None));
        let factors = self.factors.chunks_mut(CHUNK_ROWS);
        let parts = factors.zip(self.masses.chunks_mut(CHUNK_ROWS)).zip(scores).enumerate();
        let of_part = |(chunk, ((factors, masses), scores)): WeightChunk<'_>| {
            let first = chunk * CHUNK_ROWS;
            for (row, score) in (first..).zip(scores.into_iter().flatten()) {
                *score += value(row);
            }
            let mut pass = Pass::default();
            for ((row, factor), mass) in (first..).zip(factors).zip(masses) {
                of_row(row, factor, mass, &mut pass);
            }
            pass
        };
        parallel::map(parts.collect(), of_part).into_iter().fold(Pass::default(), Pass::and)
    }
}

/// Bits of the mass of a class: sums are then also exact in `f64`.
const CLASS_BITS: i32 = 52;

/// The units of mass of both classes, negatives first, and their normalisers.
#[derive(Debug, Clone)]
pub(super) struct MassUnits {
    /// Bits of the mass of one copy of a row.
    bits: [i32; 2],
    /// The binary exponent of a factor of 1.
    powers: [i32; 2],
    /// The log of the product of the normalisers so far.
    log_normalizer: [f64; 2],
}

impl MassUnits {
    /// For so many copies of rows of each class, whose masses fit the bits of a class with factors
    /// of at most 1.
    pub(super) fn new(n_copies: [u64; 2]) -> Self {
        let bits = n_copies.map(|n| CLASS_BITS - (n.max(1) as f64).log2().ceil() as i32);
        Self { bits, powers: [0; 2], log_normalizer: [0.0; 2] }
    }

    /// Bits of the mass of one copy of a row.
    pub(super) fn bits(&self) -> [i32; 2] {
        self.bits
    }

    /// Divides factors by 2 to these powers from now on.
    pub(super) fn rescale(&mut self, powers: [i32; 2]) {
        for (sum, power) in self.powers.iter_mut().zip(powers) {
            *sum += power;
        }
    }

    /// The log of the mass of each class; that of the negatives is a `share` of their weight.
    pub(super) fn log_total(&self, total: ClassMasses, share: f64) -> [f64; 2] {
        let log = |mass: u64, class: usize| {
            let exponent = self.powers[class] - self.bits[class];
            (mass as f64).ln() + f64::from(exponent) * std::f64::consts::LN_2
        };
        [log(total.neg, 0) - share.ln(), log(total.pos, 1)]
    }

    /// Takes account of a round, given the logs of the masses before and after it.
    pub(super) fn normalize(&mut self, before: [f64; 2], after: [f64; 2]) {
        for class in 0..2 {
            self.log_normalizer[class] += after[class] - before[class];
        }
    }

    /// The products of the normalisers so far.
    pub(super) fn mean_exponential(&self) -> [f64; 2] {
        self.log_normalizer.map(f64::exp)
    }
}

/// The powers of two that bring the largest factors to between 1/2 and 1.
pub(super) fn powers_of(largest: [f64; 2]) -> [i32; 2] {
    // Dividing by a power of two loses no digit, short of underflow: masses do not depend on the
    // round in which the factors are rescaled.
    largest.map(|largest| if largest > 0.0 { largest.log2().ceil() as i32 } else { 0 })
}

/// Multipliers that rescale factors.
pub(super) fn rescaling(powers: [i32; 2]) -> [f64; 2] {
    powers.map(|power| times_power_of_two(1.0, -power))
}

/// The masses of factors of 1.
pub(super) fn units_of(bits: [i32; 2]) -> [f64; 2] {
    bits.map(|bits| times_power_of_two(1.0, bits))
}

/// The mass of a factor in fixed point, which depends on it alone.
#[inline]
pub(super) fn mass_of(factor: f64, unit: f64) -> u64 {
    // Rounded row by row, before anything is added up: sums are exact in any order, and copies of a
    // row have the same mass.
    (factor.min(1.0) * unit + 0.5) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{mix, snap};

    /// A number in [0, 1) derived from two others.
    fn draw(a: u64, b: u64) -> f64 {
        (mix(mix(a) ^ b) >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[test]
    fn masses_and_means_are_those_of_the_definition() {
        let n_rows = 500;
        let positive: Vec<bool> = (0..n_rows).map(|row| row % 3 == 0).collect();
        let weights: Vec<f64> = (0..n_rows as u64).map(|row| 0.1 + draw(row, 1)).collect();
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        let mut distribution = Distribution::new(&labels, &labels.rows(), 1.0);
        let (mut plain, mut sums) = (weights.clone(), vec![0.0; n_rows]);
        for round in 0..60 {
            let value = |row: usize| 2.0 * draw(row as u64, 7 + round) - 0.7;
            distribution.reweight(&mut sums, |row| Worth::of(value(row)));
            for (row, weight) in plain.iter_mut().enumerate() {
                *weight *= if positive[row] { (-value(row)).exp() } else { value(row).exp() };
            }
            let class_sum = |values: &[f64], class: bool| -> f64 {
                (0..n_rows).filter(|&row| positive[row] == class).map(|row| values[row]).sum()
            };
            for class in [false, true] {
                let total = class_sum(&plain, class);
                let mean = total / class_sum(&weights, class);
                let found = distribution.mean_exponential()[usize::from(class)];
                assert!((found / mean - 1.0).abs() < 1e-10, "{found} {mean}");
                let of_class = distribution.total();
                let of_class = if class { of_class.pos } else { of_class.neg } as f64;
                for row in (0..n_rows).filter(|&row| positive[row] == class) {
                    let share = distribution.masses()[row] as f64 / of_class;
                    // Rounding to fixed point is coarsest if one row outweighs the others.
                    assert!((share - plain[row] / total).abs() < 1e-11);
                }
            }
        }
        let sum = |row: usize| (0..60).map(|round| 2.0 * draw(row as u64, 7 + round) - 0.7).sum();
        assert!(sums.iter().enumerate().all(|(row, found)| {
            let sum: f64 = sum(row);
            (found - sum).abs() < 1e-12
        }));
    }

    /// Masses after some rounds, row by row, with values derived from `contents`.
    fn masses(
        contents: &[u64],
        positive: &[bool],
        weights: Option<&[f64]>,
        max_fpr: f64,
    ) -> Vec<u64> {
        let labels = Labels::new(positive, weights).unwrap();
        let mut distribution = Distribution::new(&labels, &labels.rows(), max_fpr);
        let mut scores = vec![0.0; contents.len()];
        for round in 0..40 {
            // Few values, so that scores tie.
            let of_row = |row: usize| snap((4.0 * draw(contents[row], round)).floor() / 8.0 - 0.2);
            distribution.reweight(&mut scores, |row| Worth::of(of_row(row)));
        }
        distribution.masses().to_vec()
    }

    #[test]
    fn neither_order_nor_threads_matter_and_weights_are_copies() {
        for max_fpr in [1.0, 0.1] {
            // More rows than in a chunk.
            let contents: Vec<u64> = (0..20_000).collect();
            let positive: Vec<bool> = contents.iter().map(|c| c % 5 < 2).collect();
            let all =
                |contents: &[u64], positive: &[bool]| masses(contents, positive, None, max_fpr);
            let one = all(&contents, &positive);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            assert_eq!(one, pool.install(|| all(&contents, &positive)));
            let backwards: Vec<u64> = contents.iter().rev().copied().collect();
            let backwards_positive: Vec<bool> = positive.iter().rev().copied().collect();
            let mut other = all(&backwards, &backwards_positive);
            other.reverse();
            assert_eq!(one, other);

            let (contents, positive) = (&contents[..100], &positive[..100]);
            let weights: Vec<f64> = (0..100).map(|row| f64::from(row % 4)).collect();
            let of_copy = |row: usize| std::iter::repeat_n(row, row % 4);
            let copies: Vec<usize> = (0..100).flat_map(of_copy).collect();
            let copied: Vec<u64> = copies.iter().map(|&row| contents[row]).collect();
            let copied_positive: Vec<bool> = copies.iter().map(|&row| positive[row]).collect();
            let repeated = all(&copied, &copied_positive);
            let mut sums = vec![0; 100];
            for (&row, mass) in copies.iter().zip(repeated) {
                sums[row] += mass;
            }
            assert_eq!(masses(contents, positive, Some(&weights), max_fpr), sums);
        }
    }

    #[test]
    fn negatives_of_the_highest_scores_have_their_mass_and_the_others_a_part_of_it() {
        // Half of the negatives count in full: those of scores 3 and 2, and half of the two of 1.
        let positive = [true, false, false, false, false, false, false];
        let scores = [0.0, 3.0, 1.0, 1.0, 2.0, 0.0, -1.0];
        let labels = Labels::new(&positive, None).unwrap();
        let mut distribution = Distribution::new(&labels, &labels.rows(), 0.5);
        assert_eq!(distribution.mean_exponential(), [1.0, 1.0]);
        distribution.reweight(&mut [0.0; 7], |row| Worth::of(scores[row]));
        let parts = [1.0, 0.65, 0.65, 1.0, 0.3, 0.3];
        let expected = |row: usize| parts[row - 1] * f64::exp(scores[row]);
        let masses = distribution.masses();
        for row in 2..7 {
            let found = masses[row] as f64 / masses[1] as f64;
            assert!((found - expected(row) / expected(1)).abs() < 1e-12);
        }
        let mean = (1..7).map(expected).sum::<f64>() / parts.iter().sum::<f64>();
        assert!((distribution.mean_exponential()[0] / mean - 1.0).abs() < 1e-12);
    }

    #[test]
    fn rows_outside_the_subset_never_have_mass() {
        let positive = [true, false, true, false];
        let labels = Labels::new(&positive, Some(&[0.5, 1.5, 2.0, 0.25])).unwrap();
        let mut distribution = Distribution::new(&labels, &[0, 1, 3], 1.0);
        distribution.reweight(&mut [0.0; 4], |_| Worth::of(1.0));
        assert_eq!(distribution.masses()[2], 0);
        let [neg, pos] = distribution.mean_exponential();
        let e = std::f64::consts::E;
        assert!((neg - e).abs() < 1e-12 && (pos - 1.0 / e).abs() < 1e-12);
    }
}
