//! The distinct rows of each class in the order of a seeded hash of their content, and how all rows
//! are dealt, wherever they are: in that order, or by their blocks.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::blocks::{BlockParts, BlockTable};
use super::hashes::{least_hashes, number_word, seeded};
use crate::data::input::columns::{Column, Columns};
use crate::data::input::labels::Labels;
use crate::data::random::mix;
use crate::{Interrupt, RankError};

/// Most distinct rows of a class that have a rank. Of more rows, the place of a row is found by its
/// hash alone, so that no list of all hashes is needed: it would be sent with each question about a
/// fold. Folds of a tenth are then equal to within a few hundredths.
pub(crate) const MOST_RANKED: usize = 1 << 14;

/// The order of the distinct rows of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum ClassOrder {
    /// All seeded hashes, ascending.
    Ranked(Vec<u64>),
    /// There are more than [`MOST_RANKED`].
    ByHash,
}

impl ClassOrder {
    /// Takes at most one more than [`MOST_RANKED`] hashes.
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RowOrder {
    seed: u64,
    /// Negatives first.
    classes: [ClassOrder; 2],
}

impl RowOrder {
    /// Order of the rows of positive weight.
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

    /// Takes the least [`MOST_RANKED`] `+ 1` seeded hashes of each class, negatives first.
    pub(crate) fn of_hashes(seed: u64, least: [Vec<u64>; 2]) -> Self {
        Self { seed, classes: least.map(ClassOrder::of) }
    }

    /// Number of folds that each have rows of both classes: as requested, or the number of distinct
    /// rows of the rarer class if that is less.
    pub(crate) fn n_folds(&self, wanted: u16) -> u16 {
        let of_class = |class: &ClassOrder| match class {
            ClassOrder::Ranked(hashes) => u16::try_from(hashes.len()).unwrap_or(u16::MAX),
            ClassOrder::ByHash => u16::MAX,
        };
        self.classes.iter().map(of_class).fold(wanted, u16::min)
    }

    /// The fold of a row out of `n_folds`, given the hash of its content.
    pub(crate) fn fold(&self, positive: bool, hash: u64, n_folds: u16) -> u16 {
        // Ranks in turn give folds of equal size up to one row. A hash alone gives ranges of equal
        // width, which needs no list.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// The hash of one row, chained from a seed; a program draws the path of a row by it.
pub(crate) fn coin(columns: &Columns<'_>, row: usize, seed: u64) -> u64 {
    columns.iter().fold(mix(seed), |hash, column| {
        let word = match column {
            Column::F64(values) => number_word(values.get(row)),
            Column::F32(values) => number_word(values.get(row)),
            Column::Codes { codes, .. } => u64::from(codes[row]),
        };
        mix(hash ^ word)
    })
}

/// Seeded hashes of some rows, with their row numbers.
pub(crate) fn content_hashes(
    columns: &Columns<'_>,
    rows: &[u32],
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Vec<(u64, u32)>, RankError> {
    let hashes = columns.hashes(interrupt)?;
    Ok(rows.iter().map(|&row| (seeded(hashes[row as usize], seed), row)).collect())
}

/// Class, hash and block of a row, by which it is dealt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DealtRow {
    pub(crate) positive: bool,
    /// Hash of its content.
    pub(crate) hash: u64,
    /// The place of its block; 0 if it has none.
    pub(crate) block: u16,
}

/// All rows in the order of a seed.
#[derive(Debug, Clone)]
pub(crate) enum DealOrder {
    Contents(Arc<RowOrder>),
    Blocks(Arc<BlockTable>, u64),
}

impl DealOrder {
    /// Folds that each have rows of both classes: as many as requested, or fewer if necessary.
    pub(crate) fn folds(&self, wanted: u16) -> RowFolds {
        match self {
            Self::Contents(order) => {
                RowFolds::Contents { n_folds: order.n_folds(wanted), order: Arc::clone(order) }
            }
            Self::Blocks(table, seed) => {
                let BlockParts { of_block, n_parts } = table.folds_of_all(wanted, *seed);
                RowFolds::Blocks { of_block: of_block.into(), n_folds: n_parts }
            }
        }
    }

    /// The rows to hold out so that each class has a share there; `None` if a class has a single
    /// distinct row, or no division of the blocks leaves both classes on either side.
    pub(crate) fn held_out(&self, share: f64) -> Option<HeldOutPart> {
        match self {
            Self::Contents(order) => order.holdout(share).map(HeldOutPart::Contents),
            Self::Blocks(table, seed) => {
                table.held_out_of_all(share, *seed).map(|parts| HeldOutPart::Blocks(parts.into()))
            }
        }
    }
}

/// The folds of all rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RowFolds {
    Contents {
        order: Arc<RowOrder>,
        n_folds: u16,
    },
    /// The fold of each block.
    Blocks {
        of_block: Arc<[u16]>,
        n_folds: u16,
    },
}

impl RowFolds {
    pub(crate) fn n_folds(&self) -> u16 {
        match self {
            Self::Contents { n_folds, .. } | Self::Blocks { n_folds, .. } => *n_folds,
        }
    }

    /// The fold of a row: a valid one, even if it was sent another.
    pub(crate) fn fold(&self, row: DealtRow) -> u16 {
        match self {
            Self::Contents { order, n_folds } => order.fold(row.positive, row.hash, *n_folds),
            Self::Blocks { of_block, n_folds } => {
                let fold = of_block.get(usize::from(row.block)).copied().unwrap_or(0);
                fold.min(n_folds.saturating_sub(1))
            }
        }
    }
}

/// Rows that are held out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum HeldOutPart {
    Contents(Holdout),
    /// For each block 1 if it is held out, else 0.
    Blocks(Arc<[u16]>),
}

impl HeldOutPart {
    /// Whether a row is held out.
    pub(crate) fn contains(&self, row: DealtRow) -> bool {
        match self {
            Self::Contents(holdout) => holdout.contains(row.positive, row.hash),
            Self::Blocks(parts) => parts.get(usize::from(row.block)) == Some(&1),
        }
    }
}
