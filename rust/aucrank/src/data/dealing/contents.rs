//! Rows of a few distinct contents, such as one column of six categories: copies of a row are dealt
//! apart.
//!
//! Elsewhere copies stay together, so that no model is judged on a row that it was fitted to. Where
//! all rows have one of a few contents, a fold would then lack whole cells of the table, although
//! new rows fall into the same cells: a ranking tree of six categories was pruned to a single leaf.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use super::blocks::RowBlocks;
use super::hashes::seeded;
use crate::data::input::columns::{Column, Columns};
use crate::data::input::labels::Labels;
use crate::data::random::mix;
use crate::{Interrupt, RankError};

/// Most distinct contents whose copies are dealt apart.
pub(crate) const MOST_CONTENTS: usize = 100;

/// Fewest copies of a content of a class, in the mean, that are dealt apart.
const LEAST_COPIES: u64 = 4;

/// Number of blocks in which copies are dealt, a power of two: several for each of ten folds.
const N_BLOCKS: u64 = 64;

/// The same rows as one row for each content, class and block, with the number of copies as its
/// weight. Learners for which a row of weight k is k rows learn the same from them.
///
/// Each copy falls into a block by chance, drawn from the hash of its content: so the order of the
/// rows does not matter. Copies dealt in turn would leave the same rates in and out of each fold,
/// and no tree would look too large: of 27 cells of noise 25 stayed leaves.
#[derive(Debug)]
pub(crate) struct FewContents {
    columns: Vec<ContentColumn>,
    positive: Vec<bool>,
    copies: Vec<f64>,
    /// The block of each row.
    block: Vec<u64>,
    /// The hash of the content of each row, which values that stand for bins do not give.
    hashes: Arc<OnceLock<Vec<u64>>>,
}

/// One value for each row.
#[derive(Debug)]
enum ContentColumn {
    F64(Vec<f64>),
    F32(Vec<f32>),
    Codes { codes: Vec<u32>, n_levels: u32 },
}

impl FewContents {
    /// `None` if the rows have too many contents or too few copies of them, blocks of their own, or
    /// weights that are not whole.
    pub(crate) fn of(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>, RankError> {
        let copies = labels.copies();
        if labels.blocks().is_some() || (labels.weights().is_some() && copies.is_none()) {
            return Ok(None);
        }
        // First row and number of copies of each content and class.
        let mut cells: HashMap<(bool, u64), (u32, u64)> = HashMap::new();
        let mut contents = HashSet::new();
        let hashes = columns.hashes(interrupt)?;
        for row in labels.rows() {
            let place = row as usize;
            let key = (labels.positive()[place], hashes[place]);
            cells.entry(key).or_insert((row, 0)).1 += copies.map_or(1, |copies| copies[place]);
            // Both classes of a content are one: 67 contents of 30,000 rows were 110 cells, so that
            // whole contents were held out, and a booster stopped after a round (.60 of .71).
            if contents.insert(hashes[place]) && contents.len() > MOST_CONTENTS {
                return Ok(None);
            }
        }
        let (mut n_cells, mut n_rows) = ([0_u64; 2], [0; 2]);
        for (&(positive, _), &(_, copies)) in &cells {
            n_cells[usize::from(positive)] += 1;
            n_rows[usize::from(positive)] += copies;
        }
        // Of each class: copies of positives alone, as oversampling makes them, are not cells of a
        // table.
        if n_cells.iter().zip(n_rows).any(|(&cells, rows)| rows < LEAST_COPIES * cells) {
            return Ok(None);
        }
        let mut cells: Vec<_> = cells
            .into_iter()
            .map(|((positive, hash), (row, copies))| (positive, seeded(hash, seed), row, copies))
            .collect();
        cells.sort_unstable();
        Ok(Some(Self::dealt(columns, hashes, &cells)))
    }

    fn dealt(columns: &Columns<'_>, hashes: &[u64], cells: &[(bool, u64, u32, u64)]) -> Self {
        let mut rows = Vec::new();
        let (mut positive, mut copies, mut block) = (Vec::new(), Vec::new(), Vec::new());
        for &(label, key, row, total) in cells {
            deal(total, mix(key ^ u64::from(label)), 0, N_BLOCKS, &mut |of_block, n| {
                rows.push(row);
                positive.push(label);
                copies.push(n as f64);
                block.push(of_block);
            });
        }
        let of_rows = |column: &Column<'_>| match column {
            Column::Codes { codes, n_levels } => ContentColumn::Codes {
                codes: rows.iter().map(|&row| codes[row as usize]).collect(),
                n_levels: *n_levels,
            },
            Column::F64(values) => {
                ContentColumn::F64(rows.iter().map(|&row| values.get(row as usize)).collect())
            }
            Column::F32(values) => ContentColumn::F32(
                rows.iter().map(|&row| values.get(row as usize) as f32).collect(),
            ),
        };
        let columns = columns.iter().map(of_rows).collect();
        let hashes: Vec<u64> = rows.iter().map(|&row| hashes[row as usize]).collect();
        Self { columns, positive, copies, block, hashes: Arc::new(OnceLock::from(hashes)) }
    }

    /// The features, in the bins of the columns that these were made from if these are known.
    pub(crate) fn columns<'c>(&'c self, made_from: &Columns<'c>) -> Result<Columns<'c>, RankError> {
        let columns = self.columns.iter().zip(made_from).map(|(column, from)| match column {
            ContentColumn::F64(values) => Column::from(&values[..]).with_cuts(from.cuts()),
            ContentColumn::F32(values) => Column::from(&values[..]).with_cuts(from.cuts()),
            ContentColumn::Codes { codes, n_levels } => {
                Column::Codes { codes, n_levels: *n_levels }
            }
        });
        Ok(Columns::new(columns.collect(), self.positive.len())?.with_hashes(&self.hashes))
    }

    /// Classes, copies as weights, and blocks.
    pub(crate) fn labels(&self) -> Result<Labels<'_>, RankError> {
        Labels::new(&self.positive, Some(&self.copies))?.in_blocks(RowBlocks::Groups(&self.block))
    }
}

/// Deals copies into blocks from a first one on, each copy by coins, a bit of a hash for each.
fn deal(copies: u64, key: u64, first: u64, n_blocks: u64, visit: &mut impl FnMut(u64, u64)) {
    if n_blocks == 1 || copies == 0 {
        if copies > 0 {
            visit(first, copies);
        }
        return;
    }
    // 64 copies by one hash. By chance, since copies dealt in turn leave equal rates in and out of
    // each fold.
    let coins = |word: u64| {
        let n_coins = (copies - 64 * word).min(64) as u32;
        u64::from((mix(key.wrapping_add(word)) >> (64 - n_coins)).count_ones())
    };
    let left = (0..copies.div_ceil(64)).map(coins).sum();
    let half = n_blocks / 2;
    deal(left, mix(key ^ 1), first, half, visit);
    deal(copies - left, mix(key ^ 2), first + half, half, visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dealing::folds::{Folds, TwoParts, hold_out};

    /// Rows of six contents, the share of positive ones depends on the content.
    fn sample(n_rows: u64) -> (Vec<f64>, Vec<bool>) {
        let values: Vec<f64> = (0..n_rows).map(|row| (mix(row) % 6) as f64).collect();
        let is_positive = |(row, &value): (u64, &f64)| mix(row + n_rows) % 8 <= value as u64;
        let positive = (0..n_rows).zip(&values).map(is_positive).collect();
        (values, positive)
    }

    fn cells_of(values: &[f64], positive: &[bool], weights: Option<&[f64]>) -> Option<FewContents> {
        let columns = Columns::from_row_major(values, 1).unwrap();
        let labels = Labels::new(positive, weights).unwrap();
        FewContents::of(&columns, &labels, 3, &Interrupt::default()).unwrap()
    }

    #[test]
    fn copies_of_each_cell_are_dealt_to_all_folds_by_chance() {
        let (values, positive) = sample(20_000);
        let cells = cells_of(&values, &positive, None).unwrap();
        let made_from = Columns::from_row_major(&values, 1).unwrap();
        let (columns, labels) = (cells.columns(&made_from).unwrap(), cells.labels().unwrap());
        assert_eq!(labels.total(), Labels::new(&positive, None).unwrap().total());
        let folds = Folds::deal(&columns, &labels, 10, 0, &Interrupt::default()).unwrap();
        assert_eq!(folds.n_folds, 10);
        let ContentColumn::F64(kept) = &cells.columns[0] else { panic!("another type") };
        let mut of_cell: HashMap<(bool, u64), [f64; 10]> = HashMap::new();
        for (row, &fold) in folds.of_row.iter().enumerate() {
            let key = (cells.positive[row], kept[row] as u64);
            of_cell.entry(key).or_default()[usize::from(fold)] += cells.copies[row];
        }
        let (mut statistic, mut degrees) = (0.0, 0.0);
        for (&(class, value), n) in &of_cell {
            let rows = values.iter().zip(&positive);
            let expected = rows.filter(|&(&v, &p)| p == class && v as u64 == value).count() as f64;
            assert_eq!(n.iter().sum::<f64>(), expected);
            // A block in 64 is .016 of the copies: six or seven of them make a fold.
            let of_fold = expected / 10.0;
            statistic += n.iter().map(|n| (n - of_fold).powi(2) / of_fold).sum::<f64>();
            degrees += 9.0;
        }
        // Neither equal parts, which would be 0, nor whole cells, which would be thousands.
        assert!(statistic > 0.5 * degrees && statistic < 6.0 * degrees, "{statistic} {degrees}");

        let parts = hold_out(&columns, &labels, 0.25, 0, &Interrupt::default()).unwrap().unwrap();
        let TwoParts { held_out, .. } = parts;
        let copies: f64 = held_out.iter().map(|&row| cells.copies[row as usize]).sum();
        assert!((copies / 20_000.0 - 0.25).abs() < 0.02, "{copies}");
    }

    #[test]
    fn the_split_of_copies_is_binomial() {
        let in_first = |key: u64, copies: u64| {
            let mut found = 0;
            deal(copies, mix(key), 0, 4, &mut |block, n| found += if block == 0 { n } else { 0 });
            found as f64
        };
        for copies in [1, 63, 64, 65, 1000] {
            let (n, draws) = (copies as f64, 4000.0);
            let found: Vec<f64> = (0..4000).map(|key| in_first(key, copies)).collect();
            let mean = found.iter().sum::<f64>() / draws;
            let variance = found.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws;
            let expected = n * 3.0 / 16.0;
            assert!((mean - n / 4.0).abs() < 5.0 * (expected / draws).sqrt());
            assert!((variance / expected - 1.0).abs() < 0.15, "{copies}: {variance} {expected}");
        }
    }

    #[test]
    fn order_and_whole_weights_do_not_matter() {
        let (values, positive) = sample(400);
        let weights: Vec<f64> = (0..400).map(|row| f64::from(row % 4)).collect();
        let weighted = cells_of(&values, &positive, Some(&weights)).unwrap();
        let copied = (0..400).rev().flat_map(|row| std::iter::repeat_n(row, row % 4));
        let (repeated, labels): (Vec<f64>, Vec<bool>) =
            copied.map(|row| (values[row], positive[row])).unzip();
        let repeated = cells_of(&repeated, &labels, None).unwrap();
        assert_eq!(format!("{weighted:?}"), format!("{repeated:?}"));
    }

    #[test]
    fn many_contents_few_copies_and_other_weights_are_not_cells() {
        let (values, positive) = sample(400);
        let distinct: Vec<f64> = (0..400).map(f64::from).collect();
        assert!(cells_of(&distinct, &positive, None).is_none());
        // Positives repeated to balance the classes are not cells: the negatives differ.
        let oversampled: Vec<f64> = (0..400)
            .map(|row| f64::from(if positive[row as usize] { row % 5 } else { row }))
            .collect();
        assert!(cells_of(&oversampled, &positive, None).is_none());
        assert!(cells_of(&values[..40], &positive[..40], None).is_none());
        assert!(cells_of(&values, &positive, Some(&[0.5; 400])).is_none());
        assert!(cells_of(&values, &positive, Some(&[2.0; 400])).is_some());
    }
}
