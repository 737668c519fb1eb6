//! The sides of a split: which codes go left, and the rows of a node in that order.

use std::ops::Range;

use super::code_columns::CodeColumns;
use super::fit_rows::FitRows;
use crate::data::{Binned, CodeTest, FeatureBins};
use crate::parallel;

/// Minimum number of rows in a node split by several threads.
const LEAST_PARTITION: usize = 8192;

/// Codes of a feature that go left.
#[derive(Debug)]
pub(super) struct Sides {
    feature: usize,
    goes_left: [bool; 256],
}

/// An item for each row of a part, and memory for those of the right side.
pub(super) struct RowSides<'a, T> {
    items: &'a mut [T],
    others: &'a mut [T],
}

impl<'a, T> RowSides<'a, T> {
    /// A range of all items, and of the memory for the right side.
    pub(super) fn of(items: &'a mut [T], others: &'a mut [T], range: &Range<usize>) -> Self {
        Self { items: &mut items[range.clone()], others: &mut others[range.clone()] }
    }

    /// The same in pieces of some rows.
    fn chunks(&mut self, size: usize) -> impl Iterator<Item = RowSides<'_, T>> {
        let pieces = self.items.chunks_mut(size).zip(self.others.chunks_mut(size));
        pieces.map(|(items, others)| RowSides { items, others })
    }
}

impl Sides {
    pub(super) fn new(test: &CodeTest, features: &[FeatureBins]) -> Self {
        let missing = features[test.feature].n_bins() as u32;
        let mut goes_left = [false; 256];
        for (code, goes_left) in (0..=missing).zip(&mut goes_left) {
            *goes_left = test.goes_left(code, missing);
        }
        Self { feature: test.feature, goes_left }
    }

    #[inline]
    pub(super) fn goes_left(&self, binned: &Binned, row: u32) -> bool {
        self.goes_left[usize::from(binned.narrow_row(row as usize)[self.feature])]
    }

    /// Moves the rows that go left to the front, and their derivatives with them; both sides keep
    /// their order. The other slices are buffers for the right side. Returns the number of rows on
    /// the left.
    pub(super) fn part<D: Copy + Send>(
        &self,
        data: &FitRows<'_>,
        columns: &CodeColumns,
        rows: RowSides<'_, u32>,
        derivatives: RowSides<'_, D>,
    ) -> usize {
        match columns.get(self.feature) {
            Some(codes) => {
                let goes_left = |row: u32| self.goes_left[usize::from(codes[row as usize])];
                part(goes_left, rows, derivatives)
            }
            None => part(|row| self.goes_left(&data.binned, row), rows, derivatives),
        }
    }
}

fn part<D: Copy + Send>(
    goes_left: impl Fn(u32) -> bool + Sync,
    mut of_rows: RowSides<'_, u32>,
    mut of_derivatives: RowSides<'_, D>,
) -> usize {
    let n_rows = of_rows.items.len();
    let n_parts = (n_rows / LEAST_PARTITION).clamp(1, crate::parallel::current_num_threads());
    let size = n_rows.div_ceil(n_parts).max(1);
    let parts = of_rows.chunks(size).zip(of_derivatives.chunks(size)).collect();
    let part = |(of_rows, of_derivatives): (RowSides<'_, u32>, RowSides<'_, D>)| {
        let RowSides { items: rows, others: other_rows } = of_rows;
        let RowSides { items: derivatives, others } = of_derivatives;
        let (mut n_left, mut n_right) = (0, 0);
        for place in 0..rows.len() {
            // Written to both sides, without a branch: which side a row goes to is unpredictable.
            let (row, derivative) = (rows[place], derivatives[place]);
            let is_left = goes_left(row);
            (rows[n_left], derivatives[n_left]) = (row, derivative);
            (other_rows[n_right], others[n_right]) = (row, derivative);
            n_left += usize::from(is_left);
            n_right += usize::from(!is_left);
        }
        n_left
    };
    let n_left = parallel::map(parts, part);
    gather(of_rows, &n_left, size);
    gather(of_derivatives, &n_left, size);
    n_left.iter().sum()
}

/// Merges the sides of several parts, given the number on the left of each.
fn gather<T: Copy>(sides: RowSides<'_, T>, n_left: &[usize], size: usize) {
    let RowSides { items: places, others } = sides;
    let mut end = 0;
    for (part, &n_left) in n_left.iter().enumerate() {
        places.copy_within(part * size..part * size + n_left, end);
        end += n_left;
    }
    for (part, &n_left) in n_left.iter().enumerate() {
        let start = part * size;
        let n_right = size.min(places.len() - start) - n_left;
        places[end..end + n_right].copy_from_slice(&others[start..start + n_right]);
        end += n_right;
    }
}
