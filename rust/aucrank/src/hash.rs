//! A hash that tells changed bytes.

/// 64-bit FNV-1a, the hash of Fowler, Noll and Vo: against a damaged file, not against an adversary.
pub(crate) fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
