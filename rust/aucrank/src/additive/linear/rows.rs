//! The distinct training rows in the order of their content, which makes every floating-point sum
//! the same for any order of the input, any number of copies and any number of threads.

use crate::parallel::prelude::*;

use crate::data::{Columns, Labels, content_hashes};
use crate::{Interrupt, RankError};

/// Distinct rows of positive weight.
#[derive(Debug)]
pub(super) struct DistinctRows {
    /// A training row with the values of each.
    pub(super) rows: Vec<u32>,
    /// Which of them are positive.
    pub(super) positive: Vec<bool>,
    /// The weight of each, all copies together, in units of [`Labels::exponent`].
    pub(super) units: Vec<u64>,
}

impl DistinctRows {
    /// The rows in the order of a hash of their values: any stretch of them is a random sample.
    pub(super) fn of(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let hashed = content_hashes(columns, &labels.rows(), 0, interrupt)?;
        let class = |(hash, row)| (hash, labels.positive()[row as usize], row);
        let mut by_content: Vec<(u64, bool, u32)> = hashed.into_iter().map(class).collect();
        by_content.par_sort_unstable();
        let mut found = Self { rows: Vec::new(), positive: Vec::new(), units: Vec::new() };
        for copies in by_content.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let weight = |&(_, _, row): &(u64, bool, u32)| {
                let sums = labels.sums(row as usize);
                sums.pos + sums.neg
            };
            found.rows.push(copies[0].2);
            found.positive.push(copies[0].1);
            found.units.push(copies.iter().map(weight).sum());
        }
        Ok(found)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The weight of each row as a share of that of all rows.
    pub(super) fn shares(&self) -> Vec<f64> {
        let total = self.units.iter().sum::<u64>() as f64;
        self.units.iter().map(|&units| units as f64 / total).collect()
    }
}
