//! The rows that the benches learn from.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Rows of the sample.
pub const N_ROWS: usize = 200_000;

/// Columns of the sample.
pub const N_FEATURES: usize = 20;

/// Uniform features, row by row, and labels whose odds depend on the first four of them.
pub fn sample() -> (Vec<f64>, Vec<bool>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    // 53 bits: every value is a multiple of 2^-53 below 1.
    let mut uniform = || (random.next_u64() >> 11) as f64 * 2_f64.powi(-53);
    let values: Vec<f64> = (0..N_ROWS * N_FEATURES).map(|_| uniform()).collect();
    let is_positive = |row: &[f64]| {
        let logit = 3.0 * row[0] + 3.0 * (row[1] - 0.5).abs() - 4.0 * row[2] * row[3] - 3.0;
        uniform() < 1.0 / (1.0 + (-logit).exp())
    };
    let positive = values.chunks_exact(N_FEATURES).map(is_positive).collect();
    (values, positive)
}
