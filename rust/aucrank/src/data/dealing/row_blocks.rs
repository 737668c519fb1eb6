//! Rows that are dealt together, those of a group or of a time: the blocks of all rows with their
//! weights, and how they are dealt.

use serde::{Deserialize, Serialize};

use super::folds::{Folds, NO_FOLD, TwoParts};
use super::row_order::seeded;
use crate::RankError;
use crate::data::accumulate::ClassSums;
use crate::data::input::columns::Columns;
use crate::data::input::labels::Labels;

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

/// The block of each row.
#[derive(Debug)]
pub(crate) struct LabelBlocks {
    table: BlockTable,
    of_row: Vec<u16>,
}

impl LabelBlocks {
    pub(in crate::data) fn new(labels: &Labels<'_>, blocks: RowBlocks<'_>) -> Self {
        let table = BlockTable::of(blocks, labels);
        Self { of_row: table.places(blocks.of_row()), table }
    }

    /// Blocks of rows that are given by their places in a table.
    pub(crate) fn of_places(table: BlockTable, mut of_row: Vec<u16>) -> Self {
        // Rows that were sent may be damaged.
        let last = table.n_blocks().saturating_sub(1) as u16;
        for place in &mut of_row {
            *place = (*place).min(last);
        }
        Self { table, of_row }
    }

    /// The group of each row, and the number of groups; `None` for times.
    pub(crate) fn groups(&self) -> Option<(&[u16], usize)> {
        (self.table.kind() == BlockKind::Groups).then_some((&self.of_row, self.table.n_blocks()))
    }

    /// See [`BlockTable::folds`].
    pub(in crate::data) fn deal(&self, labels: &Labels<'_>, n_folds: u16, seed: u64) -> Folds {
        let parts = self.table.folds(&self.weights(labels), n_folds, seed);
        let mut of_row = vec![NO_FOLD; labels.n_rows()];
        for row in labels.rows().into_iter().map(|row| row as usize) {
            of_row[row] = parts.of_block[usize::from(self.of_row[row])];
        }
        Folds { of_row, n_folds: parts.n_parts }
    }

    /// See [`BlockTable::hold_out`].
    pub(in crate::data) fn hold_out(
        &self,
        labels: &Labels<'_>,
        share: f64,
        seed: u64,
    ) -> Option<TwoParts> {
        let part_of = self.table.hold_out(&self.weights(labels), share, seed)?;
        let is_out = |&row: &u32| part_of[usize::from(self.of_row[row as usize])] == 1;
        let (held_out, kept) = labels.rows().into_iter().partition(is_out);
        Some(TwoParts { kept, held_out })
    }

    /// The weight of each block, by labels that may be those of some of the rows.
    fn weights(&self, labels: &Labels<'_>) -> Vec<ClassWeights> {
        let mut weights = vec![[0; 2]; self.table.n_blocks()];
        for row in labels.rows().into_iter().map(|row| row as usize) {
            let (sums, of_block) = (labels.sums(row), &mut weights[usize::from(self.of_row[row])]);
            *of_block = [of_block[0] + sums.neg, of_block[1] + sums.pos];
        }
        weights
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
    fn new(kind: BlockKind) -> Self {
        Self { kind, shift: 0, blocks: Vec::new(), n_settled: 0 }
    }

    /// Blocks of a part of the rows; `None` if they are dealt by their content.
    pub(crate) fn of(columns: &Columns<'_>, labels: &Labels<'_>) -> Option<Self> {
        let blocks = columns.blocks()?;
        let mut found = Self::new(blocks.kind());
        found.add_labelled(blocks, labels);
        Some(found)
    }

    fn add_labelled(&mut self, blocks: RowBlocks<'_>, labels: &Labels<'_>) {
        let of_row = |row: u32| (blocks.of_row()[row as usize], labels.sums(row as usize));
        self.add(labels.rows().into_iter().map(of_row));
    }

    pub(crate) fn kind(&self) -> BlockKind {
        self.kind
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
    /// Table of all rows.
    pub(in crate::data) fn of(blocks: RowBlocks<'_>, labels: &Labels<'_>) -> Self {
        let mut sums = BlockSums::new(blocks.kind());
        sums.add_labelled(blocks, labels);
        sums.table()
    }

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::Interrupt;
    use crate::data::{Columns, hold_out, mix};

    struct Rows {
        positive: Vec<bool>,
        blocks: Vec<u64>,
        weights: Vec<f64>,
    }

    fn draw(n_rows: usize, n_blocks: u64, seed: u64) -> Rows {
        let hash = |row: usize, what: u64| mix(mix(row as u64 ^ (seed << 32)) ^ what);
        Rows {
            positive: (0..n_rows).map(|row| hash(row, 1) % 4 == 0 || row == 0).collect(),
            // Some blocks are many times as large as others.
            blocks: (0..n_rows).map(|row| hash(row, 2) % (1 + hash(row, 3) % n_blocks)).collect(),
            weights: (0..n_rows).map(|row| (hash(row, 4) % 4) as f64).collect(),
        }
    }

    fn labels<'a>(rows: &'a Rows, blocks: RowBlocks<'a>, weighted: bool) -> Labels<'a> {
        let weights = weighted.then_some(rows.weights.as_slice());
        Labels::new(&rows.positive, weights).unwrap().in_blocks(blocks).unwrap()
    }

    fn deal(labels: &Labels<'_>, n_folds: u16, seed: u64) -> Folds {
        let values: Vec<f64> = (0..labels.n_rows()).map(|row| row as f64).collect();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        Folds::deal(&columns, labels, n_folds, seed, &Interrupt::default()).unwrap()
    }

    fn held_out(labels: &Labels<'_>, share: f64, seed: u64) -> Option<TwoParts> {
        let values: Vec<f64> = (0..labels.n_rows()).map(|row| row as f64).collect();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        hold_out(&columns, labels, share, seed, &Interrupt::default()).unwrap()
    }

    /// Weights of the classes in each fold.
    fn weights_of_folds(labels: &Labels<'_>, folds: &Folds) -> Vec<[u64; 2]> {
        let mut found = vec![[0; 2]; usize::from(folds.n_folds)];
        for row in 0..labels.n_rows() {
            let fold = folds.of_row[row];
            if fold != NO_FOLD {
                let class = usize::from(labels.positive()[row]);
                let sums = labels.sums(row);
                found[usize::from(fold)][class] += sums.pos + sums.neg;
            }
        }
        found
    }

    proptest! {
        #[test]
        fn blocks_stay_whole_and_each_fold_has_both_classes(
            n_rows in 20..300_usize, n_blocks in 1..40_u64, n_folds in 2..8_u16, seed in 0..1000_u64,
            weighted: bool, of_times: bool,
        ) {
            let rows = draw(n_rows, n_blocks, seed);
            let blocks = if of_times {
                RowBlocks::Times(&rows.blocks)
            } else {
                RowBlocks::Groups(&rows.blocks)
            };
            let weights = weighted.then_some(rows.weights.as_slice());
            let Ok(plain) = Labels::new(&rows.positive, weights) else { return Ok(()) };
            let labels = plain.in_blocks(blocks).unwrap();
            let folds = deal(&labels, n_folds, seed);
            prop_assert!((1..=n_folds).contains(&folds.n_folds));
            let mut fold_of = BTreeMap::new();
            for row in labels.rows() {
                let fold = folds.of_row[row as usize];
                let known = *fold_of.entry(rows.blocks[row as usize]).or_insert(fold);
                prop_assert_eq!(known, fold);
            }
            prop_assert!(weights_of_folds(&labels, &folds).iter().flatten().all(|&weight| weight > 0));
            if of_times {
                prop_assert!(fold_of.values().is_sorted());
            }
            if let Some(TwoParts { kept, held_out }) = held_out(&labels, 0.25, seed) {
                prop_assert_eq!(kept.len() + held_out.len(), labels.rows().len());
                for part in [&kept, &held_out] {
                    let classes = part.iter().map(|&row| rows.positive[row as usize]);
                    prop_assert!(classes.clone().any(|class| class));
                    prop_assert!(classes.clone().any(|class| !class));
                }
                let blocks = |part: &[u32]| -> Vec<u64> {
                    part.iter().map(|&row| rows.blocks[row as usize]).collect()
                };
                let (kept, held_out) = (blocks(&kept), blocks(&held_out));
                prop_assert!(kept.iter().all(|block| !held_out.contains(block)));
                if of_times {
                    prop_assert!(kept.iter().max() < held_out.iter().min());
                }
            }
        }
    }

    #[test]
    fn the_order_of_rows_and_copies_do_not_matter() {
        let rows = draw(300, 25, 1);
        for of_times in [false, true] {
            let blocks = |ids| {
                if of_times { RowBlocks::Times(ids) } else { RowBlocks::Groups(ids) }
            };
            let dealt = labels(&rows, blocks(&rows.blocks), true);
            let folds = deal(&dealt, 4, 9);
            let copies: Vec<usize> =
                (0..300).rev().flat_map(|row| vec![row; rows.weights[row] as usize]).collect();
            let copied = Rows {
                positive: copies.iter().map(|&row| rows.positive[row]).collect(),
                blocks: copies.iter().map(|&row| rows.blocks[row]).collect(),
                weights: Vec::new(),
            };
            let of_copies = deal(&labels(&copied, blocks(&copied.blocks), false), 4, 9);
            for (place, &row) in copies.iter().enumerate() {
                assert_eq!(of_copies.of_row[place], folds.of_row[row]);
            }
        }
    }

    #[test]
    fn classes_have_about_the_same_weight_in_all_folds_of_many_groups() {
        let rows = draw(20_000, 1000, 3);
        let dealt = labels(&rows, RowBlocks::Groups(&rows.blocks), false);
        let folds = deal(&dealt, 5, 0);
        assert_eq!(folds.n_folds, 5);
        for class in 0..2 {
            let weights: Vec<u64> =
                weights_of_folds(&dealt, &folds).iter().map(|found| found[class]).collect();
            let (least, most) = (weights.iter().min().unwrap(), weights.iter().max().unwrap());
            assert!(most - least < most / 20, "{weights:?}");
        }
        let out = held_out(&dealt, 0.2, 0).unwrap().held_out.len();
        assert!((3600..4400).contains(&out), "{out}");
        assert_ne!(held_out(&dealt, 0.2, 0), held_out(&dealt, 0.2, 1));
    }

    #[test]
    fn times_are_cut_into_ranges_of_about_the_same_weight_and_the_latest_is_held_out() {
        let times: Vec<u64> = (0..1000).map(|row| row / 10).collect();
        let positive: Vec<bool> = (0..1000).map(|row| row % 3 == 0).collect();
        let dealt = Labels::new(&positive, None).unwrap().in_blocks(RowBlocks::Times(&times));
        let dealt = dealt.unwrap();
        let folds = deal(&dealt, 4, 0);
        let expected: Vec<u16> = (0..1000).map(|row| row / 250).collect();
        assert_eq!(folds.of_row, expected);
        let parts = held_out(&dealt, 0.2, 7).unwrap();
        assert_eq!(parts.held_out, (800..1000).collect::<Vec<u32>>());
    }

    #[test]
    fn blocks_that_leave_a_part_without_a_class_are_not_divided() {
        let positive = [true, true, false, false];
        let of_blocks = |blocks: &[u64]| {
            let dealt =
                Labels::new(&positive, None).unwrap().in_blocks(RowBlocks::Groups(blocks)).unwrap();
            (deal(&dealt, 2, 0).n_folds, held_out(&dealt, 0.5, 0).is_some())
        };
        assert_eq!(of_blocks(&[1, 2, 1, 2]), (2, true));
        // All positives are of one group.
        assert_eq!(of_blocks(&[1, 1, 2, 3]), (1, false));
        assert_eq!(of_blocks(&[1, 1, 1, 1]), (1, false));
        let labels = Labels::new(&positive, None).unwrap();
        assert!(labels.in_blocks(RowBlocks::Groups(&[1, 2])).is_err());
    }

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
