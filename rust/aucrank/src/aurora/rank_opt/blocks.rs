//! Rows in blocks, column by column, dense or sparse.
//!
//! A column of a sparse block is written out when it is used: so both forms give the same numbers in
//! the same order, and with them the same sums, bit for bit.

use std::borrow::Cow;

use crate::data::{Column, Columns};
use crate::{Interrupt, RankError, parallel};

/// Rows of a block.
pub(super) const BLOCK_ROWS: usize = 1024;

/// Some consecutive rows.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    n_rows: usize,
    form: Form,
}

#[derive(Debug, PartialEq)]
enum Form {
    /// One column after the other.
    Dense(Vec<f64>),
    Sparse(Vec<SparseColumn>),
}

/// Rows in a block and their values, in ascending order of the rows; other rows have the value
/// `other`.
#[derive(Debug, Clone, PartialEq)]
struct SparseColumn {
    entries: Vec<(u16, f64)>,
    other: f64,
}

impl Block {
    /// Copies rows of columns of numbers, which were checked to be finite.
    ///
    /// # Errors
    ///
    /// [`RankError::Changed`] if they are not any more, because another thread writes to them;
    /// [`RankError::Interrupted`].
    pub(super) fn copied(
        columns: &Columns<'_>,
        rows: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Vec<Self>, RankError> {
        if columns.iter().any(Column::is_sparse) {
            return Self::copied_sparse(columns, rows, interrupt);
        }
        let of_block = |rows: &[u32]| {
            interrupt.check()?;
            let mut values = vec![0.0; rows.len() * columns.n_features()];
            for (places, column) in values.chunks_exact_mut(rows.len()).zip(columns) {
                column.read_each(rows, places);
            }
            let is_finite = values.iter().all(|value| value.is_finite());
            let block = Self { n_rows: rows.len(), form: Form::Dense(values) };
            is_finite.then_some(block).ok_or(RankError::Changed)
        };
        parallel::try_map(rows.chunks(BLOCK_ROWS).collect(), of_block)
    }

    fn copied_sparse(
        columns: &Columns<'_>,
        rows: &[u32],
        interrupt: &Interrupt,
    ) -> Result<Vec<Self>, RankError> {
        let mut place_of_row = vec![u32::MAX; columns.n_rows()];
        for (&row, place) in rows.iter().zip(0..) {
            place_of_row[row as usize] = place;
        }
        let of_column = |column: &Column<'_>| {
            interrupt.check()?;
            let none = SparseColumn { entries: Vec::new(), other: 0.0 };
            let mut parts = vec![none; rows.len().div_ceil(BLOCK_ROWS)];
            let mut is_finite = true;
            column.for_entries(&mut |row, value| {
                // A row out of range was written by another thread after the checks.
                let place = place_of_row.get(row).map_or(usize::MAX, |&place| place as usize);
                if let Some(part) = parts.get_mut(place / BLOCK_ROWS) {
                    part.entries.push(((place % BLOCK_ROWS) as u16, value));
                    is_finite &= value.is_finite();
                }
            });
            for part in &mut parts {
                part.entries.sort_unstable_by_key(|&(row, _)| row);
                part.entries.shrink_to_fit();
            }
            is_finite.then_some(parts).ok_or(RankError::Changed)
        };
        let by_column = parallel::try_map(columns.iter().collect(), of_column)?;
        let mut blocks: Vec<Vec<SparseColumn>> =
            rows.chunks(BLOCK_ROWS).map(|_| Vec::with_capacity(columns.n_features())).collect();
        for parts in by_column {
            blocks.iter_mut().zip(parts).for_each(|(block, part)| block.push(part));
        }
        let sized = blocks.into_iter().zip(rows.chunks(BLOCK_ROWS));
        Ok(sized
            .map(|(columns, rows)| Self { n_rows: rows.len(), form: Form::Sparse(columns) })
            .collect())
    }

    /// The values of a feature.
    pub(super) fn column(&self, feature: usize) -> Cow<'_, [f64]> {
        match &self.form {
            Form::Dense(values) => {
                let start = feature * self.n_rows;
                Cow::Borrowed(&values[start..start + self.n_rows])
            }
            Form::Sparse(columns) => {
                let SparseColumn { entries, other } = &columns[feature];
                let mut values = vec![*other; self.n_rows];
                for &(row, value) in entries {
                    values[usize::from(row)] = value;
                }
                Cow::Owned(values)
            }
        }
    }

    /// The given features alone, the values of each changed by `change`, which is given its place
    /// among them.
    pub(super) fn restricted(
        self,
        features: &[usize],
        change: impl Fn(usize, &mut dyn Iterator<Item = &mut f64>),
    ) -> Self {
        let n_rows = self.n_rows;
        let form = match self.form {
            Form::Dense(all) => {
                let columns = features.iter().map(|feature| feature * n_rows);
                let mut values: Vec<f64> =
                    columns.flat_map(|start| all[start..start + n_rows].to_vec()).collect();
                for (place, column) in values.chunks_exact_mut(n_rows).enumerate() {
                    change(place, &mut column.iter_mut());
                }
                Form::Dense(values)
            }
            Form::Sparse(mut all) => {
                let none = SparseColumn { entries: Vec::new(), other: 0.0 };
                let taken = |(place, &feature): (usize, &usize)| {
                    let mut column = std::mem::replace(&mut all[feature], none.clone());
                    let entries = column.entries.iter_mut().map(|(_, value)| value);
                    change(place, &mut entries.chain([&mut column.other]));
                    column
                };
                Form::Sparse(features.iter().enumerate().map(taken).collect())
            }
        };
        Self { n_rows, form }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    #[test]
    fn sparse_and_dense_blocks_have_the_same_columns() {
        let (n_rows, n_features) = (2500, 3);
        let value = |row: usize, feature: usize| match mix((row * 3 + feature) as u64) % 7 {
            0 => row as f64,
            1 => -0.0,
            _ => 0.0,
        };
        let (mut starts, mut known, mut values) = (vec![0], Vec::new(), Vec::new());
        for feature in 0..n_features {
            for row in (0..n_rows).filter(|&row| value(row, feature).to_bits() != 0) {
                known.push(row as u32);
                values.push(value(row, feature));
            }
            starts.push(known.len());
        }
        let dense: Vec<f64> =
            (0..n_rows * n_features).map(|i| value(i % n_rows, i / n_rows)).collect();
        let interrupt = Interrupt::default();
        // Some rows, in another order.
        let mut rows: Vec<u32> = (0..n_rows as u32).filter(|row| row % 5 > 0).collect();
        rows.sort_unstable_by_key(|&row| mix(row.into()));
        let [sparse, dense] = [
            Columns::from_sparse(&starts, &known, &values, n_rows).unwrap(),
            Columns::from_column_major(&dense, n_rows).unwrap(),
        ]
        .map(|columns| Block::copied(&columns, &rows, &interrupt).unwrap());
        assert_eq!((sparse.len(), dense.len()), (2, 2));
        let bits = |block: &Block, feature: usize| -> Vec<u64> {
            block.column(feature).iter().map(|value| value.to_bits()).collect()
        };
        for (sparse, dense) in sparse.into_iter().zip(dense) {
            assert!(matches!(sparse.form, Form::Sparse(_)));
            assert!((0..n_features).all(|j| bits(&sparse, j) == bits(&dense, j)));
            let change = |place: usize, values: &mut dyn Iterator<Item = &mut f64>| {
                values.for_each(|value| *value = (*value - 3.0) * place as f64);
            };
            let (sparse, dense) =
                (sparse.restricted(&[2, 0], change), dense.restricted(&[2, 0], change));
            assert!((0..2).all(|j| bits(&sparse, j) == bits(&dense, j)));
        }
    }
}
