//! Rows in codes, as many trees ask them.

use std::ops::Range;

use crate::data::{Binned, Columns, FeatureBins};

/// Rows that walk down a tree side by side.
pub(super) const LANES: usize = 8;

/// Code of a missing number.
pub(super) const MISSING: u32 = u32::MAX;

/// What the codes of a column are.
#[derive(Debug)]
pub(super) enum Coding {
    /// The number of cuts that are `<=` the value.
    Cuts(Vec<f64>),
    /// The category; the number of categories where it is missing, and one more where it is beyond.
    Levels(u32),
}

/// Codes of some rows: for each group of [`LANES`] rows, column by column.
#[derive(Debug, Default)]
pub(in crate::tree) struct Tile {
    pub(super) codes: Vec<[u32; LANES]>,
    raw: Vec<f64>,
}

/// What codes rows.
#[derive(Debug)]
pub(super) struct RowCoder {
    /// Features that some tree asks, and how they are coded.
    pub(super) columns: Vec<(usize, Coding)>,
}

impl RowCoder {
    /// Codes rows of raw values; `false` where [`Columns::refusal`] has a reason to make nothing of them.
    pub(in crate::tree) fn code(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        tile: &mut Tile,
    ) -> bool {
        let (n_columns, n_features) = (self.columns.len(), columns.n_features());
        tile.codes.resize(rows.len().div_ceil(LANES) * n_columns, [0; LANES]);
        tile.raw.resize(rows.len() * n_features, 0.0);
        if columns.read_rows(rows, &mut tile.raw) {
            return false;
        }
        for (column, (feature, coding)) in self.columns.iter().enumerate() {
            let raw = tile.raw.iter().skip(*feature).step_by(n_features);
            let codes = tile.codes.iter_mut().skip(column).step_by(n_columns).flatten();
            match coding {
                Coding::Cuts(cuts) => codes.zip(raw).for_each(|(code, &value)| {
                    let n_cuts = cuts.partition_point(|&cut| cut <= value);
                    *code = if value.is_nan() { MISSING } else { n_cuts as u32 };
                }),
                Coding::Levels(n_levels) => codes.zip(raw).for_each(|(code, &value)| {
                    let beyond = n_levels + 1;
                    let level = if value < f64::from(*n_levels) { value as u32 } else { beyond };
                    *code = if value.is_nan() { *n_levels } else { level };
                }),
            }
        }
        true
    }

    /// For each column of the codes, what the codes of `binned` become; every threshold of the
    /// trees must be a cut of its bins.
    pub(in crate::tree) fn recoding(&self, binned: &Binned) -> Vec<Vec<u32>> {
        let recode =
            |(feature, coding): &(usize, Coding)| match (coding, &binned.features()[*feature]) {
                (Coding::Cuts(cuts), FeatureBins::Numeric { cuts: bounds }) => {
                    let lowest = std::iter::once(0);
                    let from = |&bound: &f64| cuts.partition_point(|&cut| cut <= bound) as u32;
                    lowest.chain(bounds.iter().map(from)).chain([MISSING]).collect()
                }
                (_, bins) => (0..bins.n_codes() as u32).collect(),
            };
        self.columns.iter().map(recode).collect()
    }

    /// Codes rows of a binned matrix.
    pub(in crate::tree) fn recode(
        &self,
        binned: &Binned,
        recoding: &[Vec<u32>],
        rows: &[u32],
        tile: &mut Tile,
    ) {
        let n_columns = self.columns.len();
        tile.codes.resize(rows.len().div_ceil(LANES) * n_columns, [0; LANES]);
        for (column, ((feature, _), recoding)) in self.columns.iter().zip(recoding).enumerate() {
            let codes = tile.codes.iter_mut().skip(column).step_by(n_columns).flatten();
            for (code, &row) in codes.zip(rows) {
                *code = recoding[binned.code(row as usize, *feature) as usize];
            }
        }
    }
}
