//! Draws that depend only on a seed and the number of a case.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of draws.
pub struct Random(SplitMix64);

impl Random {
    /// The stream of a case.
    pub fn new(seed: u64, case: u64) -> Self {
        let start = SplitMix64::seed_from_u64(seed).next_u64();
        Self(SplitMix64::seed_from_u64(start ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    /// True once in `n` draws.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of some items; there must be at least one.
    pub fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
