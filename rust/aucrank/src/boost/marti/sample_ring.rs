//! Samples of the rows of a node.

use super::start::Start;
use crate::data::{Columns, Labels, content_hashes};
use crate::parallel::prelude::*;
use crate::{Interrupt, RankError};

/// The rows of each class in the order of a content hash. A sample starts at a random position and
/// wraps around: the order of the rows does not matter, copies of a row are adjacent, and a sample
/// costs no more than its size.
#[derive(Debug)]
pub(super) struct SampleRing {
    /// For each class, negatives first, hashes with rows, ascending.
    classes: [Vec<(u64, u32)>; 2],
    /// Maximum number of distinct rows of each class.
    size: usize,
}

impl SampleRing {
    pub(super) fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        start: &Start<'_>,
        size: usize,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let of_class = |class: bool| {
            let has_mass = |row: usize| start.mass(row) > 0 && labels.positive()[row] == class;
            let rows: Vec<u32> =
                (0..labels.n_rows() as u32).filter(|&row| has_mass(row as usize)).collect();
            let mut hashed = content_hashes(columns, &rows, seed, interrupt)?;
            hashed.par_sort_unstable();
            Ok(hashed)
        };
        Ok(Self { classes: [of_class(false)?, of_class(true)?], size })
    }

    /// Rows of a class that satisfy `is_wanted`, from a position on.
    pub(super) fn rows(
        &self,
        class: bool,
        place: u64,
        is_wanted: impl Fn(u32) -> bool,
    ) -> Vec<u32> {
        let ring = &self.classes[usize::from(class)];
        let first = ring.partition_point(|&(hash, _)| hash < place);
        let (mut rows, mut n_distinct, mut last) = (Vec::new(), 0, None);
        for &(hash, row) in ring[first..].iter().chain(&ring[..first]) {
            if !is_wanted(row) {
                continue;
            }
            if last != Some(hash) {
                if n_distinct == self.size {
                    break;
                }
                (n_distinct, last) = (n_distinct + 1, Some(hash));
            }
            rows.push(row);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_the_requested_distinct_rows_with_all_their_copies() {
        let values = [1.0, 2.0, 1.0, 3.0, 4.0, 2.0, 9.0];
        let positive = [true, true, true, true, true, true, false];
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let start = Start::new(&labels).unwrap();
        let interrupt = Interrupt::default();
        let ring = SampleRing::new(&columns, &labels, &start, 2, 5, &interrupt).unwrap();
        let mut seen = [false; 7];
        for place in 0..200 {
            let place = crate::data::mix(place);
            let rows = ring.rows(true, place, |_| true);
            let held = |value: f64| rows.iter().filter(|&&r| values[r as usize] == value).count();
            let kinds = [1.0, 2.0, 3.0, 4.0].map(held);
            assert_eq!(kinds.iter().filter(|&&n| n > 0).count(), 2);
            assert!([0, 2].contains(&kinds[0]) && [0, 2].contains(&kinds[1]));
            for &row in &rows {
                seen[row as usize] = true;
            }
            // Rows that are not wanted do not count towards the size.
            let rows = ring.rows(true, place, |row| row == 3 || row == 4);
            assert_eq!(rows.len(), 2);
        }
        assert_eq!(seen, positive, "every row of the class is in some sample");
    }
}
