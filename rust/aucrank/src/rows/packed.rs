//! Numbers without their leading zero bytes, for answers of many sums.

use super::words::{Reader, put_list};
use crate::RankError;

/// Appends numbers, each in as few bytes as it needs, after half a byte that says how many.
pub(crate) fn put_packed(words: &mut Vec<u64>, numbers: &[u64]) {
    let n_bytes = |number: u64| 8 - number.leading_zeros() as usize / 8;
    let mut bytes = Vec::with_capacity(6 * numbers.len());
    for pair in numbers.chunks(2) {
        let sizes = [pair[0], *pair.get(1).unwrap_or(&0)].map(n_bytes);
        bytes.push((sizes[0] | sizes[1] << 4) as u8);
        for (number, size) in pair.iter().zip(sizes) {
            bytes.extend_from_slice(&number.to_le_bytes()[..size]);
        }
    }
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    put_list(words, bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)));
}

/// Fills `numbers` with what [`put_packed`] has written.
pub(crate) fn take_packed(reader: &mut Reader<'_>, numbers: &mut [u64]) -> Result<(), RankError> {
    let bad = || RankError::BadAnswer("packed sums are damaged".to_owned());
    let bytes: Vec<u8> = reader.list()?.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut rest = &bytes[..];
    for pair in numbers.chunks_mut(2) {
        let (&sizes, others) = rest.split_first().ok_or_else(bad)?;
        rest = others;
        for (number, size) in pair.iter_mut().zip([sizes & 15, sizes >> 4]) {
            let (own, others) = rest.split_at_checked(usize::from(size)).ok_or_else(bad)?;
            let mut word = [0; 8];
            word.get_mut(..own.len()).ok_or_else(bad)?.copy_from_slice(own);
            *number = u64::from_le_bytes(word);
            rest = others;
        }
    }
    // What is left fills the last word.
    if rest.len() < 8 && rest.iter().all(|&byte| byte == 0) { Ok(()) } else { Err(bad()) }
}

/// Numbers that [`put_packed`] has written, before which stands how many they are.
pub(crate) fn take_packed_list(reader: &mut Reader<'_>) -> Result<Vec<u64>, RankError> {
    let n = usize::try_from(reader.word()?).unwrap_or(usize::MAX);
    // Each takes half a byte at the least.
    if n > 16 * reader.n_left() {
        return Err(RankError::BadAnswer("packed sums are cut off".to_owned()));
    }
    let mut numbers = vec![0; n];
    take_packed(reader, &mut numbers)?;
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_small_ones_take_few_bytes() {
        for n in [0, 1, 2, 7, 100] {
            let numbers: Vec<u64> =
                (0..n).map(|i: u64| crate::data::mix(i) >> (7 * i % 65).min(63)).collect();
            let mut words = vec![9];
            put_packed(&mut words, &numbers);
            words.push(7);
            let mut reader = Reader::new(&words[1..]);
            let mut found = vec![1; numbers.len()];
            take_packed(&mut reader, &mut found).unwrap();
            assert_eq!((found, reader.word()), (numbers, Ok(7)));
        }
        let mut words = Vec::new();
        put_packed(&mut words, &[0; 1600]);
        assert_eq!(words.len(), 101);
    }

    #[test]
    fn damaged_bytes_are_told() {
        let mut words = Vec::new();
        put_packed(&mut words, &[1, 1 << 60, 3]);
        let take = |words: &[u64], n| take_packed(&mut Reader::new(words), &mut vec![0; n]);
        assert_eq!(take(&words, 3), Ok(()));
        for n in [0, 2, 30] {
            assert!(take(&words, n).is_err(), "{n} numbers");
        }
        words[1] |= 15;
        assert!(take(&words, 3).is_err());
        assert!(take(&words[..1], 3).is_err());
        for words in [&[u64::MAX, 0][..], &[40, 1, 0], &[2, 1, 15]] {
            assert!(take_packed_list(&mut Reader::new(words)).is_err());
        }
    }
}
