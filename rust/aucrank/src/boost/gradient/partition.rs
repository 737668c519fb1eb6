//! The rows of a node on their sides.

use super::rows::FitRows;
use crate::data::CodeTest;
use crate::parallel;

/// Rows from which on a node is parted by several threads.
const LEAST_PART: usize = 8192;

/// Which codes of a feature go left.
#[derive(Debug)]
pub(super) struct Sides {
    feature: usize,
    goes_left: [bool; 256],
}

impl Sides {
    pub(super) fn new(test: &CodeTest, data: &FitRows<'_>) -> Self {
        let missing = data.binned.features()[test.feature].n_bins() as u32;
        let mut goes_left = [false; 256];
        for (code, goes_left) in (0..=missing).zip(&mut goes_left) {
            *goes_left = test.goes_left(code, missing);
        }
        Self { feature: test.feature, goes_left }
    }

    #[inline]
    pub(super) fn goes_left(&self, data: &FitRows<'_>, row: u32) -> bool {
        self.goes_left[usize::from(data.binned.narrow_row(row as usize)[self.feature])]
    }

    /// Moves the rows that go left to the front; both sides keep their order. Returns the number of
    /// rows on the left, and what they count as.
    pub(super) fn part(
        &self,
        data: &FitRows<'_>,
        rows: &mut [u32],
        scratch: &mut [u32],
    ) -> (usize, u64) {
        let n_parts = (rows.len() / LEAST_PART).clamp(1, rayon::current_num_threads());
        let size = rows.len().div_ceil(n_parts).max(1);
        let parts = rows.chunks_mut(size).zip(scratch.chunks_mut(size)).collect();
        let n_left = parallel::map(parts, |(rows, scratch): (&mut [u32], &mut [u32])| {
            let (mut n_left, mut n_right) = (0, 0);
            for place in 0..rows.len() {
                let row = rows[place];
                let is_left = self.goes_left(data, row);
                rows[n_left] = row;
                scratch[n_right] = row;
                n_left += usize::from(is_left);
                n_right += usize::from(!is_left);
            }
            n_left
        });
        let mut end = 0;
        for (part, &n_left) in n_left.iter().enumerate() {
            rows.copy_within(part * size..part * size + n_left, end);
            end += n_left;
        }
        let total = end;
        for (part, &n_left) in n_left.iter().enumerate() {
            let start = part * size;
            let n_right = size.min(rows.len() - start) - n_left;
            rows[end..end + n_right].copy_from_slice(&scratch[start..start + n_right]);
            end += n_right;
        }
        (total, data.count_all(&rows[..total]))
    }
}
