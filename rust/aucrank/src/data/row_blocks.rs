//! Rows that are dealt together: those of a group, or of a time.

use std::collections::BTreeMap;

use super::folds::{Folds, NO_FOLD, TwoParts};
use super::labels::Labels;
use super::row_order::seeded;

/// What rows are dealt by, instead of each by its own content.
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
    /// For each row a number that the rows of its group share: a hash of what names the group, so that
    /// neither the order of the rows nor other groups matter.
    Groups(&'a [u64]),
    /// For each row a number that rises with its time.
    Times(&'a [u64]),
}

/// Units of weight of a block by class, negatives first.
type ClassWeights = [u64; 2];

impl RowBlocks<'_> {
    pub(super) fn of_row(&self) -> &[u64] {
        match self {
            Self::Groups(blocks) | Self::Times(blocks) => blocks,
        }
    }

    /// Deals whole blocks into folds, of which each has rows of both classes: at most as many as asked
    /// for, and one where that cannot be.
    ///
    /// Groups are dealt so that the weight of each class is about the same in all folds, large ones
    /// first and, among those of about one size, in the order of a seeded hash. Times are cut into ranges
    /// of about the same weight, the earliest first.
    pub(super) fn deal(&self, labels: &Labels<'_>, n_folds: u16, seed: u64) -> Folds {
        let blocks = self.blocks(labels);
        let has = |class: usize| blocks.values().filter(|weights| weights[class] > 0).count();
        let most = has(0).min(has(1)).min(usize::from(n_folds.max(1)));
        let fold_of = (2..=most as u16).rev().find_map(|n| {
            let shares = vec![1.0; usize::from(n)];
            let fold_of = self.parts(&blocks, &shares, seed);
            have_both_classes(&blocks, &fold_of, n).then_some((fold_of, n))
        });
        let (fold_of, n_folds) = fold_of.unwrap_or((BTreeMap::new(), 1));
        let mut of_row = vec![NO_FOLD; labels.n_rows()];
        for row in labels.rows() {
            let block = self.of_row()[row as usize];
            of_row[row as usize] = fold_of.get(&block).copied().unwrap_or(0);
        }
        Folds { of_row, n_folds }
    }

    /// Holds out whole blocks with about a share of the weight of each class, the latest of times; `None`
    /// if no division leaves rows of both classes on either side.
    pub(super) fn hold_out(&self, labels: &Labels<'_>, share: f64, seed: u64) -> Option<TwoParts> {
        let blocks = self.blocks(labels);
        let part_of = self.parts(&blocks, &[1.0 - share, share], seed);
        if !have_both_classes(&blocks, &part_of, 2) {
            return None;
        }
        let is_out = |row: &u32| part_of[&self.of_row()[*row as usize]] == 1;
        let (held_out, kept) = labels.rows().into_iter().partition(is_out);
        Some(TwoParts { kept, held_out })
    }

    /// The weight of each block.
    fn blocks(&self, labels: &Labels<'_>) -> BTreeMap<u64, ClassWeights> {
        let mut blocks = BTreeMap::<u64, ClassWeights>::new();
        for row in labels.rows() {
            let sums = labels.sums(row as usize);
            let weights = blocks.entry(self.of_row()[row as usize]).or_default();
            weights[0] += sums.neg;
            weights[1] += sums.pos;
        }
        blocks
    }

    /// The part of each block, of parts with shares of the weight.
    fn parts(
        &self,
        blocks: &BTreeMap<u64, ClassWeights>,
        shares: &[f64],
        seed: u64,
    ) -> BTreeMap<u64, u16> {
        match self {
            Self::Groups(_) => parts_of_groups(blocks, shares, seed),
            Self::Times(_) => parts_of_times(blocks, shares),
        }
    }
}

/// Whether each of some parts has weight of both classes.
fn have_both_classes(
    blocks: &BTreeMap<u64, ClassWeights>,
    part_of: &BTreeMap<u64, u16>,
    n_parts: u16,
) -> bool {
    let mut has = vec![[false; 2]; usize::from(n_parts)];
    for (block, weights) in blocks {
        if let Some(&part) = part_of.get(block) {
            let has = &mut has[usize::from(part)];
            *has = [has[0] || weights[0] > 0, has[1] || weights[1] > 0];
        }
    }
    has.iter().flatten().all(|&has| has)
}

/// Puts one group after the other, large ones first, where its classes have least, by the shares.
fn parts_of_groups(
    blocks: &BTreeMap<u64, ClassWeights>,
    shares: &[f64],
    seed: u64,
) -> BTreeMap<u64, u16> {
    let mut totals = [0.0; 2];
    for weights in blocks.values() {
        totals = [totals[0] + weights[0] as f64, totals[1] + weights[1] as f64];
    }
    let of_totals = |weights: &ClassWeights| {
        [weights[0] as f64 / totals[0].max(1.0), weights[1] as f64 / totals[1].max(1.0)]
    };
    // Groups of about one size, by powers of two, come in an order that the seed draws.
    let mut groups: Vec<_> =
        blocks.iter().map(|(&block, weights)| (block, of_totals(weights))).collect();
    groups.sort_by_key(|&(block, [neg, pos])| {
        let size = -(neg + pos).log2().floor() as i64;
        (size, seeded(block, seed), block)
    });
    let mut loads = vec![[0.0; 2]; shares.len()];
    let mut part_of = BTreeMap::new();
    for (block, own) in groups {
        let cost = |part: usize| (own[0] * loads[part][0] + own[1] * loads[part][1]) / shares[part];
        let best = (0..shares.len()).min_by(|&a, &b| cost(a).total_cmp(&cost(b))).unwrap_or(0);
        loads[best] = [loads[best][0] + own[0], loads[best][1] + own[1]];
        part_of.insert(block, best as u16);
    }
    part_of
}

/// Cuts times into ranges of shares of the weight, each as near to its share as both classes allow.
fn parts_of_times(blocks: &BTreeMap<u64, ClassWeights>, shares: &[f64]) -> BTreeMap<u64, u16> {
    let weight = |weights: &ClassWeights| weights[0] as f64 + weights[1] as f64;
    let total: f64 = blocks.values().map(weight).sum();
    let whole: f64 = shares.iter().sum();
    // From the latest on: what is held out last must have both classes first of all.
    let mut part = shares.len() - 1;
    let mut wanted = shares[part] / whole * total;
    let (mut reached, mut has) = (0.0, [false; 2]);
    let mut part_of = BTreeMap::new();
    for (&block, weights) in blocks.iter().rev() {
        let own = weight(weights);
        // A block belongs where more than half of it lies.
        if part > 0 && has == [true; 2] && reached + own / 2.0 > wanted {
            part -= 1;
            wanted += shares[part] / whole * total;
            has = [false; 2];
        }
        reached += own;
        has = [has[0] || weights[0] > 0, has[1] || weights[1] > 0];
        part_of.insert(block, part as u16);
    }
    part_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{Columns, hold_out, mix};
    use proptest::prelude::*;

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
    fn what_cannot_be_parted_is_not() {
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
}
