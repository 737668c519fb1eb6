//! The distributions over the rows of each class that boosting reweights round by round.

use crate::data::{ClassMasses, FixedWeights, Labels, times_power_of_two};

/// Bits that the mass of a class may take: sums are then exact in `f64`, too.
const CLASS_BITS: i32 = 52;

/// Whole weights up to this total are counts of copies that are reweighted one by one.
const MOST_COPIES: u64 = 1 << 32;

/// A distribution over the positive rows and one over the negative rows: the factored form of a
/// distribution over pairs (DECISIONS K7), and that of `AUCBoost` on 1/2 D+ + 1/2 D- (B16), since no
/// weak ranker asks how much one class weighs beside the other.
///
/// What boosting makes of a row follows from the row alone, by the same steps in whatever order the
/// rows come; it is rounded to fixed point before anything is summed, so that sums are exact, and a
/// row of weight k is k copies of it.
#[derive(Debug, Clone)]
pub(super) struct Distribution<'a> {
    labels: &'a Labels<'a>,
    /// Copies that a row stands for, where weights are counts.
    copies: Option<&'a [u64]>,
    /// What boosting made of one copy of the row, times its weight where weights are no counts; beside
    /// the largest of the class.
    factors: Vec<f64>,
    /// The same in fixed point, times the copies.
    masses: Vec<u64>,
    total: ClassMasses,
    /// For each class, negatives first, the power of two that a factor of 1 stands for.
    powers: [i32; 2],
    /// The same of one unit of mass.
    exponents: [i32; 2],
    /// For each class, the log of the product of the normalisers so far.
    log_normalizer: [f64; 2],
}

impl<'a> Distribution<'a> {
    /// Each class as its weights have it.
    pub(super) fn new(labels: &'a Labels<'a>) -> Self {
        let counts = |weights: &&FixedWeights| {
            let total = labels.total();
            weights.is_whole() && total.pos + total.neg <= MOST_COPIES
        };
        let copies = labels.weights().filter(counts).map(FixedWeights::units);
        let factors = match (copies, labels.weights()) {
            (None, Some(weights)) => weights.units().iter().map(|&units| units as f64).collect(),
            _ => vec![1.0; labels.n_rows()],
        };
        let mut distribution = Self {
            labels,
            copies,
            masses: vec![0; factors.len()],
            factors,
            total: ClassMasses::default(),
            powers: [0; 2],
            exponents: [0; 2],
            log_normalizer: [0.0; 2],
        };
        distribution.fix();
        distribution
    }

    /// Mass of each row.
    pub(super) fn masses(&self) -> &[u64] {
        &self.masses
    }

    /// Mass of each class; none where all rows of a class are beyond the reach of fixed point.
    pub(super) fn total(&self) -> ClassMasses {
        self.total
    }

    /// For each class, negatives first, the mean of `exp(-y f(x))`, `f` being the sum of the values so
    /// far: a bound on the share of its rows with `y f(x) <= 0`.
    pub(super) fn mean_exponential(&self) -> [f64; 2] {
        self.log_normalizer.map(f64::exp)
    }

    /// Takes mass off the rows that `value` ranks well: multiplies by `exp(-value)` where a row is
    /// positive and `exp(value)` where it is not. `factors` returns both for a row.
    pub(super) fn reweight(&mut self, factors: impl Fn(usize) -> [f64; 2]) {
        let before = self.log_total();
        for (row, factor) in self.factors.iter_mut().enumerate() {
            *factor *= factors(row)[usize::from(self.labels.positive()[row])];
        }
        self.fix();
        let after = self.log_total();
        for class in 0..2 {
            self.log_normalizer[class] += after[class] - before[class];
        }
    }

    fn log_total(&self) -> [f64; 2] {
        let log = |mass: u64, exponent: i32| {
            (mass as f64).ln() + f64::from(exponent) * std::f64::consts::LN_2
        };
        [log(self.total.neg, self.exponents[0]), log(self.total.pos, self.exponents[1])]
    }

    /// Rounds the factors to fixed point.
    fn fix(&mut self) {
        let positive = self.labels.positive();
        let (mut largest, mut n_copies) = ([0.0_f64; 2], [0_u64; 2]);
        for (row, &factor) in self.factors.iter().enumerate() {
            let class = usize::from(positive[row]);
            let copies = self.copies.map_or(1, |copies| copies[row]);
            if copies > 0 {
                largest[class] = largest[class].max(factor);
            }
            n_copies[class] += copies;
        }
        // The largest factor becomes at most 1, and at most 2^bits units, so that the sum of all fits.
        let (mut rescale, mut unit) = ([1.0; 2], [0.0; 2]);
        for class in 0..2 {
            let bits = CLASS_BITS - (n_copies[class].max(1) as f64).log2().ceil() as i32;
            let power = if largest[class] > 0.0 { largest[class].log2().ceil() as i32 } else { 0 };
            self.powers[class] += power;
            self.exponents[class] = self.powers[class] - bits;
            rescale[class] = times_power_of_two(1.0, -power);
            unit[class] = times_power_of_two(1.0, bits);
        }
        self.total = ClassMasses::default();
        for (row, mass) in self.masses.iter_mut().enumerate() {
            let class = usize::from(positive[row]);
            let copies = self.copies.map_or(1, |copies| copies[row]);
            let factor = &mut self.factors[row];
            *factor *= rescale[class];
            *mass = (*factor * unit[class]).round() as u64 * copies;
            if class == 1 {
                self.total.pos += *mass;
            } else {
                self.total.neg += *mass;
            }
        }
    }
}
