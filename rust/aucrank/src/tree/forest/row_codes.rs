//! Rows in codes, as many trees test them.

use std::ops::Range;

use crate::data::{Binned, Columns, CutGrid, FeatureBins};

/// Rows that walk down a tree side by side.
pub(super) const LANES: usize = 8;

/// Code of a missing number.
pub(super) const MISSING: u32 = u32::MAX;

/// What the codes of a column are.
#[derive(Debug)]
pub(super) enum ColumnCoding {
    /// The number of cuts that are `<=` the value.
    Cuts(CutGrid),
    /// The category; the number of categories where it is missing, and one more where it is beyond.
    Levels(u32),
}

impl ColumnCoding {
    /// The highest code of a value that is not missing.
    pub(super) fn highest(&self) -> u32 {
        match self {
            Self::Cuts(grid) => grid.cuts().len() as u32,
            Self::Levels(n_levels) => n_levels.saturating_add(1),
        }
    }
}

/// Codes of some rows: for each group of [`LANES`] rows, column by column.
#[derive(Debug, Default)]
pub(in crate::tree) struct CodeTile {
    pub(super) codes: Vec<[u32; LANES]>,
    /// Values of one column, and their codes.
    values: Vec<f64>,
    of_column: Vec<u32>,
}

/// What codes rows.
#[derive(Debug)]
pub(super) struct RowCoder {
    /// Features that some tree tests, ascending, and how they are coded.
    pub(super) columns: Vec<(usize, ColumnCoding)>,
}

impl RowCoder {
    /// Codes rows of raw values; `false` where [`Columns::refusal`] has a reason to make nothing of them.
    pub(in crate::tree) fn code(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        tile: &mut CodeTile,
    ) -> bool {
        if columns.check_interrupt().is_err() {
            return false;
        }
        let n_columns = self.columns.len();
        let CodeTile { codes, values, of_column } = tile;
        codes.resize(rows.len().div_ceil(LANES) * n_columns, [0; LANES]);
        values.resize(rows.len(), 0.0);
        of_column.resize(rows.len(), 0);
        let mut asked = self.columns.iter().enumerate().peekable();
        for (feature, column) in columns.iter().enumerate() {
            // Infinity is an error in a feature that no tree tests, too.
            if column.read(rows.clone(), &mut *values) {
                return false;
            }
            let Some((column, (_, coding))) = asked.next_if(|(_, (asked, _))| *asked == feature)
            else {
                continue;
            };
            match coding {
                ColumnCoding::Cuts(grid) => grid.fill(values, of_column, MISSING),
                ColumnCoding::Levels(n_levels) => {
                    for (code, &value) in of_column.iter_mut().zip(&*values) {
                        let is_known = value < f64::from(*n_levels);
                        let level = if is_known { value as u32 } else { n_levels + 1 };
                        *code = if value.is_nan() { *n_levels } else { level };
                    }
                }
            }
            let groups = codes.chunks_exact_mut(n_columns).zip(of_column.chunks(LANES));
            for (group, of_rows) in groups {
                match of_rows.first_chunk() {
                    Some(of_rows) => group[column] = *of_rows,
                    None => group[column][..of_rows.len()].copy_from_slice(of_rows),
                }
            }
        }
        true
    }

    /// For each column of the codes, what the codes of `binned` become; every threshold of the
    /// trees must be a cut of its bins.
    pub(in crate::tree) fn recoding(&self, binned: &Binned) -> Vec<Vec<u32>> {
        let recode = |(feature, coding): &(usize, ColumnCoding)| match (
            coding,
            &binned.features()[*feature],
        ) {
            (ColumnCoding::Cuts(grid), FeatureBins::Numeric { cuts: bounds }) => {
                let lowest = std::iter::once(0);
                let from = |&bound: &f64| grid.cuts().partition_point(|&cut| cut <= bound) as u32;
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
        tile: &mut CodeTile,
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
