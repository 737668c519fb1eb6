//! Hashes of the content of rows.

use crate::data::random::mix;

/// Hash of an earlier hash and a further word: both halves of a product, since the upper one
/// depends on all bits.
#[inline]
pub(crate) fn combine(hash: u64, word: u64) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    // Numbers such as 1.0 and 2.0 differ in their leading bits only, and so would the lower halves
    // of their products: a bit of a product depends on none above it.
    let product = u128::from(hash ^ word) * u128::from(FACTOR);
    (product as u64) ^ ((product >> 64) as u64)
}

pub(crate) fn number_word(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

/// A hash of content in the order of a seed.
#[inline]
pub(crate) fn seeded(hash: u64, seed: u64) -> u64 {
    mix(mix(seed) ^ hash)
}

/// The least of some hashes, ascending and distinct: at most `most` of them.
///
/// Those of a whole are the least of those of its parts.
pub(crate) fn least_hashes(hashes: &(impl Iterator<Item = u64> + Clone), most: usize) -> Vec<u64> {
    // The hashes are iterated again instead of collected: sorting those of all rows would take 8
    // bytes a row and O(n log n).
    let n_hashes = hashes.clone().count();
    // Of hashes without copies, about twice as many as requested lie below this share of all.
    let mut share = 2.0 * most as f64 / n_hashes as f64;
    loop {
        let bound = if share < 1.0 { (share * 2_f64.powi(64)) as u64 } else { u64::MAX };
        let mut least: Vec<u64> = hashes.clone().filter(|&hash| hash <= bound).collect();
        least.sort_unstable();
        least.dedup();
        if least.len() >= most || bound == u64::MAX {
            least.truncate(most);
            return least;
        }
        share *= 8.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_hashes_are_those_of_a_sorted_list_whatever_the_copies() {
        for n_distinct in [1, 10, 5000] {
            let hashes: Vec<u64> = (0..6000).map(|i| mix(i % n_distinct)).collect();
            let mut sorted = hashes.clone();
            sorted.sort_unstable();
            sorted.dedup();
            for most in [1, 3, 100, 10_000] {
                let least = &sorted[..most.min(sorted.len())];
                assert_eq!(least_hashes(&hashes.iter().copied(), most), least);
                // The same from parts.
                let parts =
                    hashes.chunks(700).flat_map(|part| least_hashes(&part.iter().copied(), most));
                assert_eq!(least_hashes(&parts.collect::<Vec<_>>().into_iter(), most), least);
            }
        }
    }
}
