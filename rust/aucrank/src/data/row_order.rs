//! The distinct rows of each class in the order of a seeded hash of their content.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::columns::Columns;
use super::labels::Labels;
use super::row_hash::{least_hashes, seeded};
use crate::{Interrupt, RankError};

/// Distinct rows of a class up to which each has a rank. Of more rows, the place of a row is told by
/// its hash alone, so that no list of all hashes is needed, which would travel with each question about
/// a fold. Folds of a tenth are then equal to within a few hundredths.
pub(crate) const MOST_RANKED: usize = 1 << 14;

/// The order of the distinct rows of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
enum ClassOrder {
    /// All seeded hashes, ascending.
    Ranked(Vec<u64>),
    /// There are more than [`MOST_RANKED`].
    ByHash,
}

impl ClassOrder {
    /// From at most one more than [`MOST_RANKED`] hashes.
    fn of(least: Vec<u64>) -> Self {
        if least.len() > MOST_RANKED { Self::ByHash } else { Self::Ranked(least) }
    }

    fn rank(hashes: &[u64], hash: u64) -> usize {
        hashes.partition_point(|&other| other < hash)
    }
}

/// The distinct rows (values and class) of each class, in the order of a seeded hash.
///
/// It is the same however the rows are divided: see [`RowOrder::of_hashes`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct RowOrder {
    seed: u64,
    /// The negative one first.
    classes: [ClassOrder; 2],
}

impl RowOrder {
    /// That of the rows of positive weight.
    pub(crate) fn of(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let hashes = columns.hashes(interrupt)?;
        let rows = labels.rows();
        let of_class = |class: bool| {
            let rows = rows.iter().map(|&row| row as usize);
            let rows = rows.filter(|&row| labels.positive()[row] == class);
            least_hashes(&rows.map(|row| seeded(hashes[row], seed)), MOST_RANKED + 1)
        };
        Ok(Self::of_hashes(seed, [of_class(false), of_class(true)]))
    }

    /// From the least [`MOST_RANKED`] `+ 1` seeded hashes of each class, negatives first.
    pub(crate) fn of_hashes(seed: u64, least: [Vec<u64>; 2]) -> Self {
        Self { seed, classes: least.map(ClassOrder::of) }
    }

    /// A number of folds of which each has rows of both classes: as wanted, or the number of distinct
    /// rows of the rarer class if that is less.
    pub(crate) fn n_folds(&self, wanted: u16) -> u16 {
        let of_class = |class: &ClassOrder| match class {
            ClassOrder::Ranked(hashes) => u16::try_from(hashes.len()).unwrap_or(u16::MAX),
            ClassOrder::ByHash => u16::MAX,
        };
        self.classes.iter().map(of_class).fold(wanted, u16::min)
    }

    /// The fold of a row, given the hash of its content, of so many folds.
    pub(crate) fn fold(&self, positive: bool, hash: u64, n_folds: u16) -> u16 {
        let hash = seeded(hash, self.seed);
        match &self.classes[usize::from(positive)] {
            ClassOrder::Ranked(hashes) => {
                (ClassOrder::rank(hashes, hash) % usize::from(n_folds.max(1))) as u16
            }
            ClassOrder::ByHash => ((u128::from(hash) * u128::from(n_folds)) >> 64) as u16,
        }
    }

    /// The rows to hold out so that each class has a share there, at least one row, and keeps one;
    /// `None` if a class has a single distinct row.
    pub(crate) fn holdout(&self, share: f64) -> Option<Holdout> {
        let mut bounds = [0; 2];
        for (bound, class) in bounds.iter_mut().zip(&self.classes) {
            *bound = match class {
                ClassOrder::Ranked(hashes) => {
                    let n = hashes.len();
                    if n < 2 {
                        return None;
                    }
                    hashes[((share * n as f64).round() as usize).clamp(1, n - 1)]
                }
                ClassOrder::ByHash => (share * 2_f64.powi(64)) as u64,
            };
        }
        Some(Holdout { seed: self.seed, bounds })
    }
}

/// Rows that are held out: the first of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct Holdout {
    seed: u64,
    /// For each class, the seeded hash below which rows are held out.
    bounds: [u64; 2],
}

impl Holdout {
    /// Whether a row is held out, given the hash of its content.
    pub(crate) fn contains(self, positive: bool, hash: u64) -> bool {
        seeded(hash, self.seed) < self.bounds[usize::from(positive)]
    }
}
