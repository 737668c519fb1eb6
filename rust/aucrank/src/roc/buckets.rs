//! Ranges of codes that hold about equally many rows.

use std::ops::Range;

use super::record::Words;
use super::score::Word;

/// The mapping of codes to buckets.
pub(super) struct Buckets {
    /// Bucket of a shifted code.
    pub of: Vec<u16>,
    /// First shifted code of each bucket, and the end of the last.
    starts: Vec<usize>,
    /// Rows of each bucket.
    pub sizes: Vec<usize>,
    /// First bucket of the codes with the leading bit set.
    upper: usize,
}

impl Buckets {
    /// Merges neighbouring `counts` of shifted codes; those from `middle` on have the leading bit.
    pub fn join(counts: &[usize], middle: usize, target: usize) -> Self {
        let (mut of, mut starts) = (Vec::with_capacity(counts.len()), vec![0]);
        let (mut sizes, mut upper) = (vec![0], None);
        for (digit, &count) in counts.iter().enumerate() {
            let filled = sizes[sizes.len() - 1];
            if digit == middle || filled > 0 && filled + count > target {
                sizes.push(0);
                starts.push(digit);
            }
            if digit == middle {
                upper = Some(sizes.len() - 1);
            }
            of.push((sizes.len() - 1) as u16);
            if let Some(size) = sizes.last_mut() {
                *size += count;
            }
        }
        let upper = upper.unwrap_or(sizes.len());
        starts.push(counts.len());
        Self { of, starts, sizes, upper }
    }

    /// Shifted codes of a bucket.
    pub fn digits(&self, bucket: usize) -> Range<usize> {
        self.starts[bucket]..self.starts[bucket + 1]
    }

    /// Leading bit of the codes of a bucket.
    pub fn top<K: Word>(&self, bucket: usize) -> K {
        K::truncate(u64::from(bucket >= self.upper) << (K::BITS - 1))
    }

    /// Bounds of the words of a bucket of codes that were shifted by `shift`.
    pub fn words<K: Word>(&self, bucket: usize, shift: u32) -> Words {
        let digits = self.digits(bucket);
        let word = |code: u64| K::truncate(code << 1).into();
        Words {
            least: word((digits.start as u64) << shift),
            greatest: word(((digits.end as u64 - 1) << shift) | ((1 << shift) - 1)) | 1,
        }
    }
}
