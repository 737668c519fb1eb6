//! How much the loss of held-out rows falls from one model to another, with its standard error.

use super::loss::softplus;

/// Units of differences of losses.
const GAIN_UNITS: f64 = (1_u64 << 16) as f64;

/// Bits of the masses that weight differences: sums of their squares do not overflow.
const MASS_BITS: u32 = 40;

/// Sums over held-out rows of the differences of their losses by two models. They are whole numbers,
/// so that the order of the rows does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GainSums {
    masses: i128,
    /// Of the differences, each times its mass.
    sum: i128,
    /// Of the squared masses, each divided by how many rows it counts as; then the same times the
    /// difference, and times its square.
    squares: [i128; 3],
}

/// By how many bits masses are shifted, given their total.
pub(super) fn mass_shift(total: u128) -> u32 {
    (u128::BITS - total.leading_zeros()).saturating_sub(MASS_BITS)
}

impl GainSums {
    /// Adds a row of some mass, already shifted, that counts as `copies` rows, by its scores before
    /// and after.
    pub(super) fn add(&mut self, scores: [f64; 2], positive: bool, mass: u64, copies: u64) {
        let [before, after] = scores.map(|score| softplus(if positive { -score } else { score }));
        let difference = ((before - after) * GAIN_UNITS).round() as i128;
        let mass = i128::from(mass);
        // Each copy of a row of weight k has a k-th of the mass.
        let square = mass * mass / i128::from(copies.max(1));
        self.masses += mass;
        self.sum += mass * difference;
        self.squares[0] += square;
        self.squares[1] += square * difference;
        self.squares[2] += square * difference * difference;
    }

    pub(super) fn merge(&mut self, more: &Self) {
        let own = self.numbers_mut();
        own.into_iter().zip(more.numbers()).for_each(|(own, more)| *own += more);
    }

    /// All sums, in a fixed order.
    pub(super) fn numbers(&self) -> [i128; 5] {
        let [constant, linear, quadratic] = self.squares;
        [self.masses, self.sum, constant, linear, quadratic]
    }

    pub(super) fn numbers_mut(&mut self) -> [&mut i128; 5] {
        let [constant, linear, quadratic] = &mut self.squares;
        [&mut self.masses, &mut self.sum, constant, linear, quadratic]
    }

    /// Decrease of the mean loss, and its standard error.
    pub(super) fn gain(&self) -> [f64; 2] {
        let [masses, sum, constant, linear, squares] = self.numbers();
        let mean = sum as f64 / masses as f64;
        let variance = squares as f64 - 2.0 * mean * linear as f64 + mean * mean * constant as f64;
        [mean / GAIN_UNITS, variance.max(0.0).sqrt() / masses as f64 / GAIN_UNITS]
    }
}
