//! Assignment of rows to folds and holdouts by their content.

use crate::parallel::prelude::*;

use super::columns::{Column, Columns};
use super::labels::Labels;
use super::random::mix;
use crate::{Interrupt, RankError};

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
    /// hash of their content.
    ///
    /// Hence a row of weight k is assigned as k copies of it are, the order of the rows does not
    /// matter, and duplicates are always in the same fold.
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
        let rows = DistinctRows::of(columns, labels, seed, interrupt)?;
        let n_rarer = rows.count(true).min(rows.count(false));
        let n_folds = n_folds.min(u16::try_from(n_rarer).unwrap_or(u16::MAX));

        let mut of_row = vec![NO_FOLD; labels.n_rows()];
        let mut place = [0; 2];
        for copies in rows.copies() {
            let place = &mut place[usize::from(copies[0].0)];
            for &(_, _, row) in copies {
                of_row[row as usize] = (*place % usize::from(n_folds.max(1))) as u16;
            }
            *place += 1;
        }
        Ok(Self { of_row, n_folds })
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

/// Holds out a share of the distinct rows (values and class) of each class: the first in the order
/// of the same seeded hash as in [`Folds::deal`]. Each part has at least one row of each class;
/// `None` if a class has a single distinct row.
///
/// # Errors
///
/// [`RankError::Interrupted`].
pub fn hold_out(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    fraction: f64,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Option<TwoParts>, RankError> {
    let rows = DistinctRows::of(columns, labels, seed, interrupt)?;
    let n_distinct = [rows.count(false), rows.count(true)];
    if n_distinct.contains(&1) {
        return Ok(None);
    }
    let mut to_hold_out =
        n_distinct.map(|n| ((fraction * n as f64).round() as usize).clamp(1, n - 1));
    let (mut kept, mut held_out) = (Vec::new(), Vec::new());
    for copies in rows.copies() {
        let left = &mut to_hold_out[usize::from(copies[0].0)];
        let part = if *left > 0 { &mut held_out } else { &mut kept };
        *left = left.saturating_sub(1);
        part.extend(copies.iter().map(|&(_, _, row)| row));
    }
    kept.sort_unstable();
    held_out.sort_unstable();
    Ok(Some(TwoParts { kept, held_out }))
}

/// Rows of positive weight as (class, content hash, row number), sorted, so that copies are
/// adjacent and each class is in the order of its hashes.
struct DistinctRows(Vec<(bool, u64, u32)>);

impl DistinctRows {
    fn of(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let hashed = content_hashes(columns, &labels.rows(), seed, interrupt)?;
        let class = |(hash, row)| (labels.positive()[row as usize], hash, row);
        let mut rows: Vec<_> = hashed.into_iter().map(class).collect();
        rows.par_sort_unstable();
        Ok(Self(rows))
    }

    /// The copies of each distinct row.
    fn copies(&self) -> impl Iterator<Item = &[(bool, u64, u32)]> {
        self.0.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
    }

    /// Number of distinct rows of a class.
    fn count(&self, class: bool) -> usize {
        self.copies().filter(|copies| copies[0].0 == class).count()
    }
}

/// [`content_hash`] of many rows, with their row numbers.
pub(crate) fn content_hashes(
    columns: &Columns<'_>,
    rows: &[u32],
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Vec<(u64, u32)>, RankError> {
    let hash = |&row: &u32| {
        interrupt.check()?;
        Ok((content_hash(columns, row as usize, seed), row))
    };
    rows.par_iter().map(hash).collect()
}

/// Hash of the values of a row. Equal numbers hash equally: 0.0 and -0.0, either float width, any
/// NaN.
pub(crate) fn content_hash(columns: &Columns<'_>, row: usize, seed: u64) -> u64 {
    columns.iter().fold(mix(seed), |hash, column| {
        let word = match column {
            Column::F64(values) => number_word(values.get(row)),
            Column::F32(values) => number_word(values.get(row)),
            Column::Codes { codes, .. } => u64::from(codes[row]),
        };
        mix(hash ^ word)
    })
}

fn number_word(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { (value + 0.0).to_bits() }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn of_a_single_row_none_can_be_held_out() {
        let columns = Columns::from_row_major(&[1.0, 1.0, 2.0, 3.0], 1).unwrap();
        let labels = Labels::new(&[true, true, false, false], None).unwrap();
        let parts = hold_out(&columns, &labels, 0.5, 0, &Interrupt::default()).unwrap();
        assert_eq!(parts, None);
    }
}
