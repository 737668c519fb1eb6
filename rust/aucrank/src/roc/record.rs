//! Rows on their way through a sort.

use super::mass::{Mass, Unit};
use super::score::Word;

/// A row being sorted: a plain number or pair, so that zeroed memory comes untouched from the
/// system.
pub(super) trait Record<K: Word>: Copy + Default + Send + Sync {
    /// Its weight, as stored.
    type Unit: Unit<Mass = Self::Mass>;
    type Mass: Mass;
    /// Whether the weight is 1.
    const IS_ONE: bool;
    /// `code << 1 | positive`, without the leading bit of the code.
    fn word(self) -> K;
    fn weight(self) -> Self::Mass;
    fn new(word: K, weight: Self::Unit) -> Self;
}

/// An unweighted row.
impl<K: Word> Record<K> for K {
    type Unit = u64;
    type Mass = u64;
    const IS_ONE: bool = true;

    #[inline]
    fn word(self) -> K {
        self
    }

    #[inline]
    fn weight(self) -> u64 {
        1
    }

    #[inline]
    fn new(word: K, _: u64) -> Self {
        word
    }
}

/// A weighted row.
impl<K: Word, U: Unit> Record<K> for (K, U) {
    type Unit = U;
    type Mass = U::Mass;
    const IS_ONE: bool = false;

    #[inline]
    fn word(self) -> K {
        self.0
    }

    #[inline]
    fn weight(self) -> U::Mass {
        self.1.mass()
    }

    #[inline]
    fn new(word: K, weight: U) -> Self {
        (word, weight)
    }
}

/// Bounds of the words of some rows: those of a negative row at the least code, and of a positive
/// one at the greatest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words {
    pub least: u64,
    pub greatest: u64,
}

impl Words {
    /// Bits of the codes less the least one, at least one.
    pub fn code_bits(self) -> u32 {
        u64::BITS - (((self.greatest >> 1) - (self.least >> 1)) | 1).leading_zeros()
    }

    /// Bounds of the words of some rows, at least one.
    pub fn of<K: Word, R: Record<K>>(rows: &[R]) -> Self {
        let (mut least, mut greatest) = (u64::MAX, 0);
        for row in rows {
            least = least.min(row.word().into());
            greatest = greatest.max(row.word().into());
        }
        Self { least: least & !1, greatest: greatest | 1 }
    }
}
