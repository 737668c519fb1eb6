//! Blocks of rows, those of a group or of a time: all of them with their weights, and how they are
//! divided.

use serde::{Deserialize, Serialize};

use super::hashes::seeded;
use crate::RankError;
use crate::data::accumulate::ClassSums;

/// Blocks by which rows are dealt, instead of each by its own content.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Folds, Labels, RowBlocks, hold_out};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true, true, false], None)?;
/// let interrupt = Interrupt::default();
///
/// let of_patients = labels.clone().in_blocks(RowBlocks::Groups(&[7, 7, 9, 9, 11, 11]))?;
/// let folds = Folds::deal(&columns, &of_patients, 3, 0, &interrupt)?.of_row;
/// assert!(folds[0] == folds[1] && folds[2] == folds[3] && folds[1] != folds[2]);
///
/// let of_months = labels.in_blocks(RowBlocks::Times(&[3, 3, 1, 1, 2, 2]))?;
/// let parts = hold_out(&columns, &of_months, 1.0 / 3.0, 0, &interrupt)?;
/// assert_eq!(parts.expect("each month has both classes").held_out, [0, 1]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub enum RowBlocks<'a> {
    /// For each row a number that the rows of its group share: a hash of the name of the group, so
    /// that neither the order of the rows nor other groups matter.
    Groups(&'a [u64]),
    /// For each row a number that rises with its time.
    Times(&'a [u64]),
}

impl RowBlocks<'_> {
    pub(crate) fn of_row(&self) -> &[u64] {
        match self {
            Self::Groups(blocks) | Self::Times(blocks) => blocks,
        }
    }

    pub(crate) fn kind(&self) -> BlockKind {
        match self {
            Self::Groups(_) => BlockKind::Groups,
            Self::Times(_) => BlockKind::Times,
        }
    }

    /// Checks that there is a block for each row.
    pub(in crate::data) fn check_length(&self, expected: usize) -> Result<(), RankError> {
        let found = self.of_row().len();
        if found == expected {
            return Ok(());
        }
        Err(RankError::LengthMismatch { name: self.kind().name(), found, expected })
    }
}

impl BlockKind {
    /// Name of the parameter.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Groups => "groups",
            Self::Times => "time",
        }
    }
}

/// Most blocks that are dealt one by one. Of more, those whose numbers agree in their leading bits
/// are dealt as one, so that no list of all blocks is needed: it would be sent with each question
/// about a fold.
const MOST_BLOCKS: usize = 1 << 14;

/// Units of weight of a block by class, negatives first.
pub(crate) type ClassWeights = [u64; 2];

/// Kind of the blocks of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BlockKind {
    Groups,
    Times,
}

/// The blocks of some rows, with their weights. Those of a whole are merged from those of its
/// parts, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockSums {
    kind: BlockKind,
    /// Number of trailing bits that are ignored: as few as leave at most [`MOST_BLOCKS`].
    shift: u32,
    /// Numbers without these bits; ascending and distinct up to `n_settled`.
    blocks: Vec<(u64, ClassWeights)>,
    n_settled: usize,
}

impl BlockSums {
    pub(super) fn new(kind: BlockKind) -> Self {
        Self { kind, shift: 0, blocks: Vec::new(), n_settled: 0 }
    }

    pub(crate) fn kind(&self) -> BlockKind {
        self.kind
    }

    /// Adds rows of positive weight by their place among all.
    pub(super) fn add_rows(
        &mut self,
        blocks: RowBlocks<'_>,
        rows: impl Iterator<Item = (u32, ClassSums)>,
    ) {
        self.add(rows.map(|(row, sums)| (blocks.of_row()[row as usize], sums)));
    }

    /// Adds rows of positive weight, each with the number of its block.
    fn add(&mut self, rows: impl Iterator<Item = (u64, ClassSums)>) {
        for (block, sums) in rows {
            self.blocks.push((block >> self.shift, [sums.neg, sums.pos]));
            if self.blocks.len() >= self.n_settled + 4 * MOST_BLOCKS {
                self.settle();
            }
        }
        self.settle();
    }

    /// Adds the blocks of other rows.
    pub(crate) fn merge(&mut self, other: &Self) {
        let shift = self.shift.max(other.shift);
        for (block, _) in &mut self.blocks {
            *block >>= shift - self.shift;
        }
        let more = other.blocks.iter().map(|&(block, sums)| (block >> (shift - other.shift), sums));
        self.blocks.extend(more);
        self.shift = shift;
        self.settle();
    }

    /// Adds up rows of the same block, and leaves out bits while there are too many blocks.
    ///
    /// The number of bits left out depends on all blocks alone: a part of them never needs more.
    fn settle(&mut self) {
        self.add_up();
        if self.blocks.len() > MOST_BLOCKS {
            // Neighbours become one block once the highest bit in which they differ is left out.
            let mut n_of_bits = [0; 65];
            for pair in self.blocks.windows(2) {
                n_of_bits[(u64::BITS - (pair[0].0 ^ pair[1].0).leading_zeros()) as usize] += 1;
            }
            let (mut n_blocks, mut more) = (self.blocks.len(), 0);
            while n_blocks > MOST_BLOCKS {
                more += 1;
                n_blocks -= n_of_bits[more as usize];
            }
            self.shift += more;
            for (block, _) in &mut self.blocks {
                *block >>= more;
            }
            self.add_up();
        }
        self.n_settled = self.blocks.len();
    }

    fn add_up(&mut self) {
        self.blocks.sort_unstable_by_key(|&(block, _)| block);
        self.blocks.dedup_by(|(block, more), (kept, sums)| {
            let is_same = block == kept;
            if is_same {
                *sums = [sums[0] + more[0], sums[1] + more[1]];
            }
            is_same
        });
    }

    /// As words, to be read by [`BlockSums::from_words`].
    pub(crate) fn to_words(&self) -> Vec<u64> {
        let of_kind = match self.kind {
            BlockKind::Groups => 0,
            BlockKind::Times => 1,
        };
        let blocks = self.blocks.iter().flat_map(|&(block, [neg, pos])| [block, neg, pos]);
        [of_kind, self.shift.into()].into_iter().chain(blocks).collect()
    }

    /// Reads words written by [`BlockSums::to_words`]; `None` for other words.
    pub(crate) fn from_words(words: &[u64]) -> Option<Self> {
        let (&[kind, shift], rest) = words.split_first_chunk()?;
        let kind = match kind {
            0 => BlockKind::Groups,
            1 => BlockKind::Times,
            _ => return None,
        };
        let (blocks, []) = rest.as_chunks() else { return None };
        let blocks: Vec<_> = blocks.iter().map(|&[block, neg, pos]| (block, [neg, pos])).collect();
        let shift = u32::try_from(shift).ok().filter(|&shift| shift < u64::BITS)?;
        let is_settled = blocks.len() <= MOST_BLOCKS && blocks.is_sorted_by(|a, b| a.0 < b.0);
        is_settled.then_some(Self { kind, shift, n_settled: blocks.len(), blocks })
    }

    pub(crate) fn table(&self) -> BlockTable {
        let (numbers, weights) = self.blocks.iter().copied().unzip();
        BlockTable { kind: self.kind, shift: self.shift, numbers, weights }
    }
}

/// All blocks, ascending. A block is identified by its place among them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BlockTable {
    kind: BlockKind,
    shift: u32,
    numbers: Vec<u64>,
    weights: Vec<ClassWeights>,
}

impl BlockTable {
    /// Whether it is valid: it may have been read from damaged bytes.
    pub(crate) fn is_valid(&self) -> bool {
        self.shift < u64::BITS
            && self.numbers.len() == self.weights.len()
            && (1..=MOST_BLOCKS).contains(&self.numbers.len())
            && self.numbers.is_sorted_by(|a, b| a < b)
    }

    pub(crate) fn kind(&self) -> BlockKind {
        self.kind
    }

    pub(crate) fn n_blocks(&self) -> usize {
        self.numbers.len()
    }

    /// The places of the blocks of rows. For rows of weight zero, whose blocks may be unknown, the
    /// place does not matter.
    pub(crate) fn places(&self, of_row: &[u64]) -> Vec<u16> {
        let last = self.numbers.len().saturating_sub(1);
        let place = |&block: &u64| {
            let number = block >> self.shift;
            self.numbers.partition_point(|&other| other < number).min(last) as u16
        };
        of_row.iter().map(place).collect()
    }

    /// Deals whole blocks into folds, each with rows of both classes: at most as many as requested,
    /// and one if that is impossible.
    ///
    /// Groups are dealt so that the weight of each class is about the same in all folds, large ones
    /// first and, among those of about one size, in the order of a seeded hash. Times are cut into
    /// ranges of about the same weight, the earliest first.
    pub(in crate::data) fn folds(
        &self,
        weights: &[ClassWeights],
        n_folds: u16,
        seed: u64,
    ) -> BlockParts {
        let has = |class: usize| weights.iter().filter(|weights| weights[class] > 0).count();
        let most = has(0).min(has(1)).min(usize::from(n_folds.max(1)));
        let found = (2..=most as u16).rev().find_map(|n| {
            let of_block = self.parts(weights, &vec![1.0; usize::from(n)], seed);
            have_both_classes(weights, &of_block, n).then_some(BlockParts { of_block, n_parts: n })
        });
        found.unwrap_or_else(|| BlockParts { of_block: vec![0; weights.len()], n_parts: 1 })
    }

    /// Holds out whole blocks with about a share of the weight of each class, the latest of times:
    /// they are part 1. `None` if no division leaves rows of both classes on either side.
    pub(in crate::data) fn hold_out(
        &self,
        weights: &[ClassWeights],
        share: f64,
        seed: u64,
    ) -> Option<Vec<u16>> {
        let parts = self.parts(weights, &[1.0 - share, share], seed);
        have_both_classes(weights, &parts, 2).then_some(parts)
    }

    /// As [`BlockTable::folds`] of all rows.
    pub(crate) fn folds_of_all(&self, n_folds: u16, seed: u64) -> BlockParts {
        self.folds(&self.weights, n_folds, seed)
    }

    /// As [`BlockTable::hold_out`] of all rows.
    pub(crate) fn held_out_of_all(&self, share: f64, seed: u64) -> Option<Vec<u16>> {
        self.hold_out(&self.weights, share, seed)
    }

    /// The earliest and the latest time of a block.
    pub(super) fn times(&self, place: u16) -> [f64; 2] {
        let number = self.numbers[usize::from(place)];
        let bits_left_out = (1 << self.shift) - 1;
        [number << self.shift, (number << self.shift) | bits_left_out].map(time_of)
    }

    /// The part of each block, given the shares of the parts of the weight; 0 if it has no weight.
    fn parts(&self, weights: &[ClassWeights], shares: &[f64], seed: u64) -> Vec<u16> {
        match self.kind {
            BlockKind::Groups => self.parts_of_groups(weights, shares, seed),
            BlockKind::Times => parts_of_times(weights, shares),
        }
    }

    /// Assigns groups one by one, large ones first, to the part with least of their classes for its
    /// share.
    fn parts_of_groups(&self, weights: &[ClassWeights], shares: &[f64], seed: u64) -> Vec<u16> {
        let mut totals = [0.0; 2];
        for [neg, pos] in weights {
            totals = [totals[0] + *neg as f64, totals[1] + *pos as f64];
        }
        let of_totals = |[neg, pos]: ClassWeights| {
            [neg as f64 / totals[0].max(1.0), pos as f64 / totals[1].max(1.0)]
        };
        let with_weight = weights.iter().enumerate().filter(|(_, weights)| **weights != [0; 2]);
        let mut groups: Vec<_> =
            with_weight.map(|(place, &weights)| (place, of_totals(weights))).collect();
        // Groups of about one size, by powers of two, come in an order that the seed draws.
        groups.sort_by_key(|&(place, [neg, pos])| {
            let size = -(neg + pos).log2().floor() as i64;
            (size, seeded(self.numbers[place], seed), place)
        });
        let mut loads = vec![[0.0; 2]; shares.len()];
        let mut part_of = vec![0; weights.len()];
        for (place, own) in groups {
            // What a group adds to the squared loads of a part over its share, to first order:
            // their sum is least where each part has its share of either class.
            let cost =
                |part: usize| (own[0] * loads[part][0] + own[1] * loads[part][1]) / shares[part];
            let best = (0..shares.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(0);
            loads[best] = [loads[best][0] + own[0], loads[best][1] + own[1]];
            part_of[place] = best as u16;
        }
        part_of
    }
}

/// The part of each block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockParts {
    pub(crate) of_block: Vec<u16>,
    pub(crate) n_parts: u16,
}

/// Whether each of some parts has weight of both classes.
fn have_both_classes(weights: &[ClassWeights], part_of: &[u16], n_parts: u16) -> bool {
    let mut has = vec![[false; 2]; usize::from(n_parts)];
    for (weights, &part) in weights.iter().zip(part_of) {
        let has = &mut has[usize::from(part)];
        *has = [has[0] || weights[0] > 0, has[1] || weights[1] > 0];
    }
    has.iter().flatten().all(|&has| has)
}

/// Cuts times into ranges of shares of the weight, each as near to its share as both classes allow.
fn parts_of_times(weights: &[ClassWeights], shares: &[f64]) -> Vec<u16> {
    let weight = |weights: &ClassWeights| weights[0] as f64 + weights[1] as f64;
    let total: f64 = weights.iter().map(weight).sum();
    let whole: f64 = shares.iter().sum();
    // From the latest on: what is held out last must have both classes first of all.
    let mut part = shares.len() - 1;
    let mut wanted = shares[part] / whole * total;
    let (mut reached, mut has) = (0.0, [false; 2]);
    let mut part_of = vec![0; weights.len()];
    let with_weight = weights.iter().enumerate().rev().filter(|(_, weights)| **weights != [0; 2]);
    for (place, weights) in with_weight {
        let own = weight(weights);
        // A block belongs to the range that contains more than half of it.
        if part > 0 && has == [true; 2] && reached + own / 2.0 > wanted {
            part -= 1;
            wanted += shares[part] / whole * total;
            has = [false; 2];
        }
        reached += own;
        has = [has[0] || weights[0] > 0, has[1] || weights[1] > 0];
        part_of[place] = part as u16;
    }
    part_of
}

/// A number that rises with a time, for [`RowBlocks::Times`]: the bits of the time, those of negative
/// ones reversed.
///
/// # Examples
///
/// ```
/// use aucrank::data::rising_bits;
///
/// assert!([-2.0, -1.5, 0.0, 1e-9, 3.0].map(rising_bits).is_sorted());
/// assert_eq!(rising_bits(-0.0), rising_bits(0.0));
/// ```
#[must_use]
pub fn rising_bits(time: f64) -> u64 {
    let bits = (time + 0.0).to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The time with these [`rising_bits`].
fn time_of(bits: u64) -> f64 {
    f64::from_bits(if bits & SIGN == 0 { !bits } else { bits ^ SIGN })
}

const SIGN: u64 = 1 << 63;

/// The block of each row.
#[derive(Debug, Clone)]
pub(crate) struct LabelBlocks {
    pub(super) table: BlockTable,
    pub(super) of_row: Vec<u16>,
    /// How far the times of rows to learn from are from those of held-out rows, and more.
    pub(super) gap: Option<f64>,
}

impl LabelBlocks {
    /// Blocks of rows, given those of positive weight.
    pub(in crate::data) fn new(
        blocks: RowBlocks<'_>,
        rows: impl Iterator<Item = (u32, ClassSums)>,
    ) -> Self {
        let mut sums = BlockSums::new(blocks.kind());
        sums.add_rows(blocks, rows);
        let table = sums.table();
        Self { of_row: table.places(blocks.of_row()), table, gap: None }
    }

    /// Blocks of rows that are given by their places in a table.
    pub(crate) fn of_places(table: BlockTable, mut of_row: Vec<u16>) -> Self {
        // Rows that were sent may be damaged.
        let last = table.n_blocks().saturating_sub(1) as u16;
        for place in &mut of_row {
            *place = (*place).min(last);
        }
        Self { table, of_row, gap: None }
    }

    /// See [`Labels::with_gap`](crate::data::Labels::with_gap).
    pub(in crate::data) fn gap(&self) -> Option<f64> {
        self.gap
    }

    /// The same blocks with another gap, if they are of times.
    pub(in crate::data) fn with_gap(mut self, gap: f64) -> Self {
        self.gap = (self.table.kind == BlockKind::Times).then_some(gap);
        self
    }

    /// The group of each row, and the number of groups; `None` for times.
    pub(crate) fn groups(&self) -> Option<(&[u16], usize)> {
        (self.table.kind() == BlockKind::Groups).then_some((&self.of_row, self.table.n_blocks()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::data::random::mix;

    fn sums(blocks: &[u64]) -> BlockSums {
        let mut found = BlockSums::new(BlockKind::Times);
        found.add(blocks.iter().map(|&block| (block, ClassSums::of_row(block % 3 == 0, 2, 1))));
        found
    }

    /// The definition: the fewest bits that leave few enough blocks.
    fn plain(blocks: &[u64]) -> (u32, BTreeMap<u64, ClassWeights>) {
        (0..64)
            .map(|shift| {
                let mut found = BTreeMap::<u64, ClassWeights>::new();
                for block in blocks {
                    let weights = found.entry(block >> shift).or_default();
                    weights[usize::from(block % 3 == 0)] += 2;
                }
                (shift, found)
            })
            .find(|(_, found)| found.len() <= MOST_BLOCKS)
            .unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn blocks_are_those_of_the_definition_however_the_rows_are_divided(
            n_rows in 0..60_000_u64, bits in 1..64_u32, seed: u64, n_parts in 1..7_usize,
        ) {
            let blocks: Vec<u64> = (0..n_rows).map(|row| mix(row ^ seed) >> (64 - bits)).collect();
            let (shift, expected) = plain(&blocks);
            let whole = sums(&blocks);
            prop_assert_eq!(whole.shift, shift);
            prop_assert_eq!(&whole.blocks, &expected.into_iter().collect::<Vec<_>>());
            let mut merged = BlockSums::new(BlockKind::Times);
            for part in 0..n_parts {
                let of_part = sums(&blocks.iter().copied().skip(part).step_by(n_parts).collect::<Vec<_>>());
                merged.merge(&BlockSums::from_words(&of_part.to_words()).unwrap());
            }
            prop_assert_eq!(&merged, &whole);
            let table = whole.table();
            for (&block, place) in blocks.iter().zip(table.places(&blocks)) {
                prop_assert_eq!(table.numbers[usize::from(place)], block >> shift);
            }
        }
    }

    #[test]
    fn a_far_value_takes_one_place_and_does_not_merge_the_others() {
        let mut blocks: Vec<u64> =
            (0..MOST_BLOCKS as u64 - 1).map(|block| block + (1 << 40)).collect();
        blocks.push(u64::MAX);
        assert_eq!((sums(&blocks).shift, sums(&blocks).blocks.len()), (0, MOST_BLOCKS));
        blocks.push(0);
        assert_eq!(sums(&blocks).shift, 1);
    }

    #[test]
    fn other_words_are_refused() {
        let words = sums(&[1, 2, 3]).to_words();
        assert!(BlockSums::from_words(&words).is_some());
        assert!(BlockSums::from_words(&words[..words.len() - 1]).is_none());
        assert!(BlockSums::from_words(&[]).is_none());
        assert!(BlockSums::from_words(&[2, 0]).is_none());
        assert!(BlockSums::from_words(&[0, 64]).is_none());
        assert!(BlockSums::from_words(&[0, 0, 5, 1, 1, 5, 1, 1]).is_none());
    }
}
