//! Multi-word integers, the lowest word first.

/// Adds a number times `2^shift`; returns whether the sum needs another word.
pub(super) fn add_shifted(into: &mut [u64], number: u128, shift: u32) -> bool {
    let (word, bit) = ((shift / u64::BITS) as usize, shift % u64::BITS);
    let low = number << bit;
    let high = number.checked_shr(u128::BITS - bit).unwrap_or(0);
    add_at(into, word, &[low as u64, (low >> 64) as u64, high as u64])
}

/// Adds a multi-word number times `2^shift`; returns whether the sum needs another word.
pub(super) fn add_words(into: &mut [u64], number: &[u64], shift: u32) -> bool {
    let (word, bit) = ((shift / u64::BITS) as usize, shift % u64::BITS);
    if bit == 0 {
        return add_at(into, word, number);
    }
    number.iter().enumerate().fold(false, |overflows, (i, &part)| {
        let moved = u128::from(part) << bit;
        overflows | add_at(into, word + i, &[moved as u64, (moved >> 64) as u64])
    })
}

fn add_at(into: &mut [u64], word: usize, number: &[u64]) -> bool {
    let mut carry = false;
    for (i, &part) in number.iter().enumerate() {
        let Some(place) = into.get_mut(word + i) else {
            if part > 0 || carry {
                return true;
            }
            continue;
        };
        let (sum, over) = place.overflowing_add(part);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        *place = sum;
        carry = over | over_again;
    }
    for place in into.iter_mut().skip(word + number.len()) {
        if !carry {
            break;
        }
        (*place, carry) = place.overflowing_add(1);
    }
    carry
}

/// Number of bits up to the highest one set.
pub(super) fn bit_length(number: &[u64]) -> u32 {
    let highest = number.iter().rposition(|&word| word > 0);
    highest.map_or(0, |word| (word as u32 + 1) * u64::BITS - number[word].leading_zeros())
}

/// The 128 bits from a given bit on.
fn bits_from(number: &[u64], first: u32) -> u128 {
    let (word, bit) = ((first / u64::BITS) as usize, first % u64::BITS);
    let [a, b, c] =
        [0, 1, 2].map(|i| u128::from(number.get(word + i).copied().unwrap_or_default()));
    (a | b << 64) >> bit | c.checked_shl(u128::BITS - bit).unwrap_or(0)
}

/// The number over `2^dropped`, rounded; below 2^127, and 0 only if the number is 0.
pub(super) fn rounded(number: &[u64], dropped: u32) -> u128 {
    if dropped == 0 {
        return bits_from(number, 0);
    }
    let whole = bits_from(number, dropped) + (bits_from(number, dropped - 1) & 1);
    whole.max(u128::from(number.iter().any(|&word| word > 0)))
}

/// The `f64` nearest to the number over `2^dropped`.
pub(super) fn to_f64(number: &[u64], dropped: u32) -> f64 {
    let first = bit_length(number).saturating_sub(u128::BITS);
    let (word, bit) = ((first / u64::BITS) as usize, first % u64::BITS);
    // A sticky bit far below the last bit kept: it only tells a tie from a number above it.
    let is_more = number.iter().take(word).any(|&word| word > 0)
        || number.get(word).is_some_and(|&word| word & ((1 << bit) - 1) > 0);
    let leading = bits_from(number, first) | u128::from(is_more);
    leading as f64 * 2_f64.powi(first.cast_signed() - dropped.cast_signed())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_of_words_are_those_of_wide_integers(
            numbers in prop::collection::vec((any::<u64>(), 0..50_u32), 0..20), shift in 0..130_u32,
        ) {
            let (mut words, mut expected) = ([0_u64; 4], 0_u128);
            for &(number, by) in &numbers {
                prop_assert!(!add_shifted(&mut words, number.into(), by));
                expected += u128::from(number) << by;
            }
            prop_assert_eq!(bits_from(&words, 0), expected);
            prop_assert_eq!(bit_length(&words), u128::BITS - expected.leading_zeros());
            prop_assert_eq!(to_f64(&words, 0), expected as f64);
            prop_assert_eq!(rounded(&words, 0), expected);
            let half = expected + 4;
            prop_assert_eq!(rounded(&words, 3), (half >> 3).max(u128::from(expected > 0)));
            // Shifted up, and back down.
            let mut moved = [0_u64; 5];
            prop_assert!(!add_words(&mut moved, &words, shift));
            prop_assert_eq!(bits_from(&moved, shift), expected);
            prop_assert_eq!(to_f64(&moved, shift), expected as f64);
            let mut twice = moved;
            prop_assert!(!add_words(&mut twice, &moved, 0));
            prop_assert_eq!(bits_from(&twice, shift + 1), expected);
        }
    }

    #[test]
    fn a_word_that_is_missing_is_told() {
        let mut words = [u64::MAX; 2];
        assert!(add_shifted(&mut words, 1, 0));
        assert!(add_shifted(&mut [0; 2], 1, 128));
        assert!(add_words(&mut [0; 2], &[0, 1], 64));
        assert!(!add_words(&mut [0; 3], &[0, 1], 64));
    }
}
