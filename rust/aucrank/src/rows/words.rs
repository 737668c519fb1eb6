//! Numbers as a list of 64-bit words, the form in which sums travel.

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

/// What [`to_bytes`] has written.
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
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u64]);

impl<'a> Reader<'a> {
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

    /// Number of words that are left.
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

    pub(crate) fn end(self) -> Result<(), RankError> {
        if self.0.is_empty() {
            return Ok(());
        }
        Err(RankError::BadAnswer("there are more words than were asked for".to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_is_told() {
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
