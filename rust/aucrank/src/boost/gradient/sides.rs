//! The sides of a split: which codes go left, and the rows of a node in that order.

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

/// An item for each row of a part, and memory for the right side.
type RowSides<'a, T> = (&'a mut [T], &'a mut [T]);

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
    (rows, other_rows): RowSides<'_, u32>,
    (derivatives, others): RowSides<'_, D>,
) -> usize {
    let n_parts = (rows.len() / LEAST_PARTITION).clamp(1, crate::parallel::current_num_threads());
    let size = rows.len().div_ceil(n_parts).max(1);
    let of_rows = rows.chunks_mut(size).zip(other_rows.chunks_mut(size));
    let of_derivatives = derivatives.chunks_mut(size).zip(others.chunks_mut(size));
    let part = |(rows, derivatives): (RowSides<'_, u32>, RowSides<'_, D>)| {
        let ((rows, other_rows), (derivatives, others)) = (rows, derivatives);
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
    let n_left = parallel::map(of_rows.zip(of_derivatives).collect(), part);
    gather(rows, other_rows, &n_left, size);
    gather(derivatives, others, &n_left, size);
    n_left.iter().sum()
}

/// Merges the sides of several parts, given the number on the left of each.
fn gather<T: Copy>(places: &mut [T], others: &[T], n_left: &[usize], size: usize) {
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
