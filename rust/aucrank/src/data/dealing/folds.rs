//! Assignment of rows to folds and holdouts by their content.

use crate::parallel::prelude::*;

use crate::data::dealing::row_order::RowOrder;
use crate::data::input::columns::Columns;
use crate::data::input::labels::Labels;
use crate::{Interrupt, RankError};

/// Fewest rows of a task.
const TASK_ROWS: usize = 1 << 12;

/// Fold of a row of weight zero, which belongs to none.
pub const NO_FOLD: u16 = u16::MAX;

/// Rows assigned to folds.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Folds, Labels, NO_FOLD};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 4.0, 5.0], 1)?;
/// let positive = [false, true, false, true, true, true];
/// let labels = Labels::new(&positive, Some(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.0]))?;
/// let folds = Folds::deal(&columns, &labels, 10, 0, &Interrupt::default())?;
/// // There are two distinct rows of each class; copies stay together.
/// assert_eq!(folds.n_folds, 2);
/// assert_ne!(folds.of_row[0], folds.of_row[2]);
/// assert_eq!(folds.of_row[3], folds.of_row[4]);
/// assert_eq!(folds.of_row[5], NO_FOLD);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    /// Fold of each row, [`NO_FOLD`] for rows of weight zero.
    pub of_row: Vec<u16>,
    /// Number of folds: as requested, or the number of distinct rows of the rarer class if that is
    /// less, so that every fold has both classes. One fold leaves nothing to validate on.
    pub n_folds: u16,
}

impl Folds {
    /// Assigns the distinct rows (values and class) of each class to folds in the order of a seeded
    /// hash of their content: in turn up to 2^14 of them, and by equal ranges of the hash above.
    ///
    /// Hence a row of weight k is assigned as k copies of it are, the order of the rows does not
    /// matter, and duplicates are always in the same fold. Rows in blocks ([`Labels::in_blocks`])
    /// are dealt block by block, those of a time in its order.
    ///
    /// # Errors
    ///
    /// [`RankError::Interrupted`].
    pub fn deal(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        n_folds: u16,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        if let Some(blocks) = labels.blocks() {
            return Ok(blocks.deal(labels, n_folds, seed));
        }
        let order = RowOrder::of(columns, labels, seed, interrupt)?;
        let hashes = columns.hashes(interrupt)?;
        let n_folds = order.n_folds(n_folds);
        let rows = labels.rows();
        let fold =
            |&row: &u32| order.fold(labels.positive()[row as usize], hashes[row as usize], n_folds);
        let folds: Vec<u16> = rows.par_iter().with_min_len(TASK_ROWS).map(fold).collect();
        let mut of_row = vec![NO_FOLD; labels.n_rows()];
        for (row, fold) in rows.into_iter().zip(folds) {
            of_row[row as usize] = fold;
        }
        Ok(Self { of_row, n_folds })
    }

    /// The rows of a fold, and the others: of those of times, without the
    /// [gap](Labels::with_gap) before and after the fold.
    ///
    /// # Errors
    ///
    /// [`RankError::GapTooLarge`].
    pub fn parts(&self, labels: &Labels<'_>, fold: u16) -> Result<TwoParts, RankError> {
        let parts = TwoParts::of(labels, |row| self.of_row[row as usize] == fold);
        // A single fold leaves nothing to learn from in any case.
        if self.n_folds < 2 { Ok(parts) } else { parts.checked(labels) }
    }
}

/// Training and validation rows, each in order.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels, hold_out};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let parts = hold_out(&columns, &labels, 0.5, 0, &Interrupt::default())?;
/// let parts = parts.expect("each class has two distinct rows");
/// // A row of each class is on either side: the classes alternate.
/// assert_eq!((parts.kept.len(), parts.held_out.len()), (2, 2));
/// assert_ne!(parts.held_out[0] % 2, parts.held_out[1] % 2);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TwoParts {
    /// Rows to learn from.
    pub kept: Vec<u32>,
    /// Rows to validate on.
    pub held_out: Vec<u32>,
}

impl TwoParts {
    pub(super) fn of(labels: &Labels<'_>, is_held_out: impl Fn(u32) -> bool) -> Self {
        let (held_out, mut kept): (Vec<u32>, _) =
            labels.rows().into_iter().partition(|&row| is_held_out(row));
        labels.leave_gap(&mut kept, &held_out);
        Self { kept, held_out }
    }

    /// Checks that a gap leaves rows of both classes to learn from.
    pub(super) fn checked(self, labels: &Labels<'_>) -> Result<Self, RankError> {
        let has = |class| self.kept.iter().any(|&row| labels.positive()[row as usize] == class);
        let is_valid = !labels.has_gap() || (has(false) && has(true));
        is_valid.then_some(self).ok_or(RankError::GapTooLarge)
    }
}

/// Holds out a share of the distinct rows (values and class) of each class: the first in the order
/// of the same seeded hash as in [`Folds::deal`], or blocks with about that share, the latest if
/// they are of times, before which a [gap](Labels::with_gap) is left. Each part has at least one row
/// of each class; `None` if a class has a single distinct row.
///
/// # Errors
///
/// [`RankError::Interrupted`], [`RankError::GapTooLarge`].
pub fn hold_out(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    fraction: f64,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Option<TwoParts>, RankError> {
    if let Some(blocks) = labels.blocks() {
        let parts = blocks.hold_out(labels, fraction, seed);
        return parts.map(|parts| parts.checked(labels)).transpose();
    }
    let order = RowOrder::of(columns, labels, seed, interrupt)?;
    let Some(holdout) = order.holdout(fraction) else { return Ok(None) };
    let hashes = columns.hashes(interrupt)?;
    let is_held_out =
        |&row: &u32| holdout.contains(labels.positive()[row as usize], hashes[row as usize]);
    let (held_out, kept) = labels.rows().into_iter().partition(is_held_out);
    Ok(Some(TwoParts { kept, held_out }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dealing::hashes::seeded;
    use crate::data::dealing::row_order::MOST_RANKED;

    /// The fold of each content: (value, class) -> fold.
    fn folds_by_content(
        values: &[f64],
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Vec<(u64, bool, u16)> {
        let columns = Columns::from_row_major(values, 1).unwrap();
        let labels = Labels::new(positive, weights).unwrap();
        let folds = Folds::deal(&columns, &labels, 5, 3, &Interrupt::default()).unwrap().of_row;
        let mut by_content: Vec<_> = (0..values.len())
            .filter(|&row| folds[row] != NO_FOLD)
            .map(|row| (values[row].to_bits(), positive[row], folds[row]))
            .collect();
        by_content.sort_unstable();
        by_content.dedup();
        by_content
    }

    #[test]
    fn order_copies_and_weights_do_not_matter() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 60)).collect();
        let positive: Vec<bool> = (0..200).map(|i| i % 3 == 0).collect();
        let reference = folds_by_content(&values, &positive, None);
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        let reversed_positive: Vec<bool> = positive.iter().rev().copied().collect();
        assert_eq!(reference, folds_by_content(&reversed, &reversed_positive, None));
        let weights: Vec<f64> = (0..200).map(|i| f64::from(1 + i % 4)).collect();
        assert_eq!(reference, folds_by_content(&values, &positive, Some(&weights)));
    }

    #[test]
    fn classes_are_spread_evenly() {
        let values: Vec<f64> = (0..1003).map(f64::from).collect();
        let positive: Vec<bool> = (0..1003).map(|i| i % 10 == 0).collect();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let folds = Folds::deal(&columns, &labels, 10, 0, &Interrupt::default()).unwrap().of_row;
        for class in [true, false] {
            let sizes: Vec<usize> = (0..10)
                .map(|k| (0..1003).filter(|&r| positive[r] == class && folds[r] == k).count())
                .collect();
            let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(high - low <= 1, "{sizes:?}");
        }
    }

    #[test]
    fn no_fold_lacks_a_class() {
        let values = [1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let positive = [true, true, true, true, false, false, false];
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        // Copies count once: two distinct positive rows make two folds.
        let folds = Folds::deal(&columns, &labels, 10, 0, &Interrupt::default()).unwrap();
        assert_eq!(folds.n_folds, 2);
        for fold in 0..2 {
            for class in [true, false] {
                assert!((0..7).any(|row| positive[row] == class && folds.of_row[row] == fold));
            }
        }
    }

    #[test]
    fn a_share_of_each_class_is_held_out_whatever_the_order_and_the_copies() {
        // 40 distinct positive and 80 distinct negative values, copies up to four.
        let contents: Vec<(f64, bool)> = (0..120).map(|i| (f64::from(i), i % 3 == 0)).collect();
        let held_out = |rows: &[(f64, bool)], weights: Option<&[f64]>, fraction| {
            let (values, positive): (Vec<f64>, Vec<bool>) = rows.iter().copied().unzip();
            let columns = Columns::from_row_major(&values, 1).unwrap();
            let labels = Labels::new(&positive, weights).unwrap();
            let parts = hold_out(&columns, &labels, fraction, 7, &Interrupt::default()).unwrap();
            let TwoParts { kept, held_out } = parts.unwrap();
            let mut both = [kept.clone(), held_out.clone()].concat();
            both.sort_unstable();
            assert_eq!(both, labels.rows());
            let values = |part: Vec<u32>| {
                let mut values: Vec<u64> =
                    part.iter().map(|&row| rows[row as usize].0 as u64).collect();
                values.sort_unstable();
                values.dedup();
                values
            };
            let (kept, held_out) = (values(kept), values(held_out));
            assert!(kept.iter().all(|value| !held_out.contains(value)));
            held_out
        };
        let reference = held_out(&contents, None, 0.25);
        let of_class = |class: bool| {
            reference.iter().filter(|&&value| contents[value as usize].1 == class).count()
        };
        assert_eq!((of_class(true), of_class(false)), (10, 20));

        let backwards: Vec<_> = contents.iter().rev().copied().collect();
        assert_eq!(reference, held_out(&backwards, None, 0.25));
        let weights: Vec<f64> = (0..120).map(|i| f64::from(1 + i % 4)).collect();
        assert_eq!(reference, held_out(&contents, Some(&weights), 0.25));
        let copies: Vec<_> =
            (0..120).flat_map(|i| std::iter::repeat_n(contents[i], 1 + i % 4)).collect();
        assert_eq!(reference, held_out(&copies, None, 0.25));
        // At the extremes one row of each class stays.
        assert_eq!(held_out(&contents, None, 1e-9).len(), 2);
        assert_eq!(held_out(&contents, None, 1.0 - 1e-9).len(), 118);
    }

    #[test]
    fn many_rows_are_dealt_by_ranges_of_their_hashes() {
        let n_rows = 3 * MOST_RANKED;
        let values: Vec<f64> = (0..n_rows).map(|i| (i % (2 * MOST_RANKED)) as f64).collect();
        // Twice as many negatives as positives, of which there are too few for ranges.
        let positive: Vec<bool> = values.iter().map(|value| value % 3.0 == 0.0).collect();
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let interrupt = Interrupt::default();
        let folds = Folds::deal(&columns, &labels, 10, 4, &interrupt).unwrap();
        let hashes = columns.hashes(&interrupt).unwrap();
        for row in (0..n_rows).filter(|&row| !positive[row]) {
            let share = seeded(hashes[row], 4) as f64 / 2_f64.powi(64);
            assert_eq!(folds.of_row[row], (10.0 * share) as u16);
        }
        let in_fold = |class: bool, fold: u16| {
            (0..2 * MOST_RANKED)
                .filter(|&row| positive[row] == class && folds.of_row[row] == fold)
                .count()
        };
        let positives: Vec<usize> = (0..10).map(|fold| in_fold(true, fold)).collect();
        assert!(positives.iter().max().unwrap() - positives.iter().min().unwrap() <= 1);
        // A binomial number of the others: within five standard deviations.
        let expected = 2.0 * MOST_RANKED as f64 * 2.0 / 3.0 / 10.0;
        assert!((0..10).all(|fold| {
            (in_fold(false, fold) as f64 - expected).abs() < 5.0 * expected.sqrt()
        }));
        let parts = hold_out(&columns, &labels, 0.25, 4, &interrupt).unwrap().unwrap();
        for &row in parts.held_out.iter().filter(|&&row| !positive[row as usize]) {
            assert!(seeded(hashes[row as usize], 4) < 1 << 62);
        }
        assert_eq!(parts.held_out.len() + parts.kept.len(), n_rows);
    }

    #[test]
    fn a_single_row_cannot_be_held_out() {
        let columns = Columns::from_row_major(&[1.0, 1.0, 2.0, 3.0], 1).unwrap();
        let labels = Labels::new(&[true, true, false, false], None).unwrap();
        let parts = hold_out(&columns, &labels, 0.5, 0, &Interrupt::default()).unwrap();
        assert_eq!(parts, None);
    }
}
