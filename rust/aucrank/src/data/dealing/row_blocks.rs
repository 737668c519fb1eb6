//! Rows that are dealt together, those of a group or of a time, by their labels.

use super::blocks::{ClassWeights, LabelBlocks};
use super::folds::{Folds, NO_FOLD, TwoParts};
use crate::data::input::labels::Labels;

impl LabelBlocks {
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
        let is_out = |row: u32| part_of[usize::from(self.of_row[row as usize])] == 1;
        Some(TwoParts::of(labels, is_out))
    }

    /// Removes the rows that are in the range of times of the held-out rows, or no farther from it
    /// than the gap. Where blocks are of several times, a row may have any of these.
    pub(crate) fn leave_gap(&self, kept: &mut Vec<u32>, held_out: &[u32]) {
        let Some(gap) = self.gap else { return };
        let place = |row: u32| self.of_row[row as usize];
        let places = || held_out.iter().map(|&row| place(row));
        let (Some(first), Some(last)) = (places().min(), places().max()) else { return };
        let ([first, _], [_, last]) = (self.table.times(first), self.table.times(last));
        kept.retain(|&row| {
            let [begin, end] = self.table.times(place(row));
            end < first - gap || begin > last + gap
        });
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::data::{Columns, RowBlocks, hold_out, mix, rising_bits};
    use crate::{Interrupt, RankError};

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

    fn split(labels: &Labels<'_>, share: f64) -> Result<Option<TwoParts>, RankError> {
        let values: Vec<f64> = (0..labels.n_rows()).map(|row| row as f64).collect();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        hold_out(&columns, labels, share, 0, &Interrupt::default())
    }

    proptest! {
        #[test]
        fn no_row_that_is_learned_from_is_as_near_as_the_gap_to_a_held_out_one(
            n_rows in 20..300_usize, n_times in 2..40_u64, n_folds in 1..8_u16, seed in 0..1000_u64,
            gap in 0..9_u32, weighted: bool,
        ) {
            let rows = draw(n_rows, n_times, seed);
            // Whole numbers and halves around 0.
            let times: Vec<f64> = rows.blocks.iter().map(|&time| time as f64 / 2.0 - 4.0).collect();
            let bits: Vec<u64> = times.iter().map(|&time| rising_bits(time)).collect();
            let weights = weighted.then_some(rows.weights.as_slice());
            let Ok(plain) = Labels::new(&rows.positive, weights) else { return Ok(()) };
            let plain = plain.in_blocks(RowBlocks::Times(&bits)).unwrap();
            let gap = f64::from(gap) / 2.0;
            let labels = plain.clone().with_gap(gap).unwrap();
            let folds = deal(&plain, n_folds, seed);
            prop_assert_eq!(&deal(&labels, n_folds, seed), &folds);
            let held_out = (0..folds.n_folds).map(|fold| {
                let is_out = |row: &u32| folds.of_row[*row as usize] == fold;
                labels.rows().into_iter().filter(is_out).collect::<Vec<u32>>()
            });
            let mut cases: Vec<_> =
                held_out.zip((0..folds.n_folds).map(|fold| folds.parts(&labels, fold))).collect();
            if let Some(parts) = split(&plain, 0.3).unwrap() {
                cases.push((parts.held_out, split(&labels, 0.3).map(Option::unwrap)));
            }
            for (held_out, found) in cases {
                let distance = |row: u32, other: u32| {
                    (times[row as usize] - times[other as usize]).abs()
                };
                let is_far = |row: &u32| held_out.iter().all(|&other| distance(*row, other) > gap);
                let kept: Vec<u32> = labels.rows().into_iter().filter(is_far).collect();
                let has = |class| kept.iter().any(|&row| rows.positive[row as usize] == class);
                let is_valid = (has(false) && has(true)) || held_out == labels.rows();
                let expected = if is_valid {
                    Ok(TwoParts { kept, held_out })
                } else {
                    Err(RankError::GapTooLarge)
                };
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn times_that_are_dealt_as_one_leave_at_least_the_gap() {
        let n_rows = 40_000_u32;
        let bits: Vec<u64> = (0..n_rows).map(|row| rising_bits(f64::from(row))).collect();
        let positive: Vec<bool> = (0..n_rows).map(|row| row % 3 == 0).collect();
        let plain = Labels::new(&positive, None).unwrap();
        let labels = plain.in_blocks(RowBlocks::Times(&bits)).unwrap().with_gap(500.0).unwrap();
        let TwoParts { kept, held_out } = split(&labels, 0.25).unwrap().unwrap();
        let distance = held_out[0] - kept.last().unwrap();
        assert!((501..520).contains(&distance), "{distance}");
        assert_eq!(kept, (0..=*kept.last().unwrap()).collect::<Vec<u32>>());
    }

    #[test]
    fn a_gap_is_of_times_alone_and_not_negative() {
        let positive = [true, false, true, false];
        let labels = Labels::new(&positive, None).unwrap();
        for gap in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(labels.clone().with_gap(gap).is_err());
        }
        let of_groups = labels.in_blocks(RowBlocks::Groups(&[1, 1, 2, 2])).unwrap();
        assert!(!of_groups.with_gap(1.0).unwrap().has_gap());
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
}
