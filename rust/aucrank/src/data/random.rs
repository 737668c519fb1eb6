//! Derived seeds, and random integers below a bound.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, 2014) after its step.
pub(crate) fn mix(word: u64) -> u64 {
    // A bijection, so that distinct words never collide. Programs draw the path of a row by it when
    // they score: another function would change models that are saved.
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A random integer below `bound`, uniform to within 2^-64 `bound`.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    // The high half of a product, which avoids a division.
    ((u128::from(random.next_u64()) * bound as u128) >> 64) as usize
}

/// The numbers below `n` in random order.
pub(crate) fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, below(&mut random, i + 1));
    }
    order
}
