//! In which unit the rows of each class have their masses, as boosting reweights them.

use crate::data::{ClassMasses, times_power_of_two};

/// Bits of the mass of a class: sums are then also exact in `f64`.
const CLASS_BITS: i32 = 52;

/// The units of mass of both classes, negatives first, and what their masses add up to.
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

    /// Factors are divided by 2 to these powers from now on.
    pub(super) fn rescale(&mut self, powers: [i32; 2]) {
        for (sum, power) in self.powers.iter_mut().zip(powers) {
            *sum += power;
        }
    }

    /// The log of the mass of each class, the one of all negatives being a `share` of their weight.
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
    largest.map(|largest| if largest > 0.0 { largest.log2().ceil() as i32 } else { 0 })
}

/// What factors are multiplied by to be rescaled.
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
    (factor.min(1.0) * unit + 0.5) as u64
}
