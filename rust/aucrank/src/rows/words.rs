//! Numbers as a list of 64-bit words, the form in which sums are sent.

use crate::RankError;
use crate::data::ClassSums;
use crate::spilled::checksum;

/// Words as bytes, the lowest first, after a checksum.
pub(crate) fn to_bytes(words: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 * words.len() + 8);
    bytes.extend([0; 8]);
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    let sum = checksum(&bytes[8..]);
    bytes[..8].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Reads words written by [`to_bytes`].
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Vec<u64>, RankError> {
    let bad = |why: &str| RankError::BadAnswer(why.to_owned());
    let Some((sum, bytes)) = bytes.split_first_chunk() else { return Err(bad("there are none")) };
    let (words, []) = bytes.as_chunks() else { return Err(bad("they are cut off")) };
    if checksum(bytes) != u64::from_le_bytes(*sum) {
        return Err(bad("the checksum does not match"));
    }
    Ok(words.iter().map(|&word| u64::from_le_bytes(word)).collect())
}

/// Reads words one after the other.
///
/// For an example see [`Mergeable`](super::Mergeable).
#[derive(Debug)]
pub struct WordReader<'a>(&'a [u64]);

impl<'a> WordReader<'a> {
    pub(crate) fn new(words: &'a [u64]) -> Self {
        Self(words)
    }

    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u64], RankError> {
        let (taken, rest) = self
            .0
            .split_at_checked(n)
            .ok_or_else(|| RankError::BadAnswer("there are too few words".to_owned()))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<&'a [u64; N], RankError> {
        let (taken, rest) = self
            .0
            .split_first_chunk()
            .ok_or_else(|| RankError::BadAnswer("there are too few words".to_owned()))?;
        self.0 = rest;
        Ok(taken)
    }

    /// Number of words left.
    pub(crate) fn n_left(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn word(&mut self) -> Result<u64, RankError> {
        let [word] = self.array()?;
        Ok(*word)
    }

    /// A list that begins with its length.
    pub(crate) fn list(&mut self) -> Result<&'a [u64], RankError> {
        let n = self.word()?;
        self.take(usize::try_from(n).unwrap_or(usize::MAX))
    }

    pub(crate) fn sums(&mut self) -> Result<ClassSums, RankError> {
        let &[pos, neg, rows] = self.array()?;
        Ok(ClassSums { pos, neg, rows })
    }

    /// A number of two words, the lower one first.
    pub(crate) fn wide(&mut self) -> Result<u128, RankError> {
        let [low, high] = *self.array()?;
        Ok(u128::from(low) | u128::from(high) << u64::BITS)
    }

    pub(crate) fn end(self) -> Result<(), RankError> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(RankError::BadAnswer("there are more words than were requested".to_owned()))
    }
}

/// Appends a list with its length.
pub(crate) fn put_list(words: &mut Vec<u64>, list: impl ExactSizeIterator<Item = u64>) {
    words.push(list.len() as u64);
    words.extend(list);
}

pub(crate) fn put_sums(words: &mut Vec<u64>, sums: ClassSums) {
    words.extend([sums.pos, sums.neg, sums.rows]);
}

/// Appends a number of two words, the lower one first.
pub(crate) fn put_wide(words: &mut Vec<u64>, number: u128) {
    words.extend([number as u64, (number >> u64::BITS) as u64]);
}

/// Appends numbers, each in as few bytes as it needs, after half a byte with that count.
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

/// Fills `numbers` with those written by [`put_packed`].
pub(crate) fn take_packed(
    reader: &mut WordReader<'_>,
    numbers: &mut [u64],
) -> Result<(), RankError> {
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

/// Numbers written by [`put_packed`], preceded by their count.
pub(crate) fn take_packed_list(reader: &mut WordReader<'_>) -> Result<Vec<u64>, RankError> {
    let n = usize::try_from(reader.word()?).unwrap_or(usize::MAX);
    // Each takes at least half a byte.
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
    fn every_changed_bit_is_reported() {
        let words: Vec<u64> = (0..11).map(|i| i * 0x0123_4567_89AB).collect();
        let bytes = to_bytes(&words);
        assert_eq!(from_bytes(&bytes), Ok(words));
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(from_bytes(&other).is_err(), "bit {bit}");
        }
        for n in 0..bytes.len() {
            assert!(from_bytes(&bytes[..n]).is_err(), "{n} bytes");
        }
    }
}

#[cfg(test)]
mod tests_of_packed {
    use super::*;

    #[test]
    fn numbers_come_back_and_small_ones_take_few_bytes() {
        for n in [0, 1, 2, 7, 100] {
            let numbers: Vec<u64> =
                (0..n).map(|i: u64| crate::data::mix(i) >> (7 * i % 65).min(63)).collect();
            let mut words = vec![9];
            put_packed(&mut words, &numbers);
            words.push(7);
            let mut reader = WordReader::new(&words[1..]);
            let mut found = vec![1; numbers.len()];
            take_packed(&mut reader, &mut found).unwrap();
            assert_eq!((found, reader.word()), (numbers, Ok(7)));
        }
        let mut words = Vec::new();
        put_packed(&mut words, &[0; 1600]);
        assert_eq!(words.len(), 101);
    }

    #[test]
    fn damaged_bytes_are_reported() {
        let mut words = Vec::new();
        put_packed(&mut words, &[1, 1 << 60, 3]);
        let take = |words: &[u64], n| take_packed(&mut WordReader::new(words), &mut vec![0; n]);
        assert_eq!(take(&words, 3), Ok(()));
        for n in [0, 2, 30] {
            assert!(take(&words, n).is_err(), "{n} numbers");
        }
        words[1] |= 15;
        assert!(take(&words, 3).is_err());
        assert!(take(&words[..1], 3).is_err());
        for words in [&[u64::MAX, 0][..], &[40, 1, 0], &[2, 1, 15]] {
            assert!(take_packed_list(&mut WordReader::new(words)).is_err());
        }
    }
}
