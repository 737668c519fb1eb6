//! Rows as codes, with all else that is asked of them.

use super::frame::RowFrame;
use crate::data::{Binned, ClassSums, Columns, CountedRows, FixedWeights, RowTally};
use crate::{Interrupt, RankError};

/// Rows as codes, with their classes, weights and hashes.
#[derive(Debug)]
pub(super) struct CodedRows {
    pub(super) binned: Binned,
    pub(super) positive: Vec<bool>,
    /// In units of the frame; empty where every row counts once.
    pub(super) units: Vec<u64>,
    /// Hash of the content of each row; empty where it was not read.
    pub(super) hashes: Vec<u64>,
}

impl CodedRows {
    pub(super) fn none(frame: &RowFrame) -> Self {
        let (positive, units, hashes) = Default::default();
        Self { binned: frame.no_rows(), positive, units, hashes }
    }

    /// Codes raw rows.
    pub(super) fn new(
        frame: &RowFrame,
        columns: &Columns<'_>,
        positive: &[bool],
        weights: Option<&[f64]>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        columns.check_kinds(&frame.n_levels())?;
        columns.check_lengths(positive, weights)?;
        let weights = weights.zip(frame.scale);
        let units = weights.map(|(w, scale)| FixedWeights::in_scale(w, scale).units().to_vec());
        Ok(Self {
            binned: Binned::with_features(columns, frame.features.clone(), interrupt)?,
            positive: positive.to_vec(),
            units: units.unwrap_or_default(),
            hashes: columns.hashes(interrupt)?.to_vec(),
        })
    }

    pub(super) fn n_rows(&self) -> usize {
        self.positive.len()
    }

    pub(super) fn append(&mut self, more: Self) {
        if self.n_rows() == 0 {
            *self = more;
            return;
        }
        self.binned.append(&more.binned);
        self.positive.extend(more.positive);
        self.units.extend(more.units);
        self.hashes.extend(more.hashes);
    }

    /// Takes away the rows from one on.
    pub(super) fn split_off(&mut self, row: usize) -> Self {
        Self {
            binned: self.binned.split_off(row),
            positive: self.positive.split_off(row),
            units: self.units.split_off(row.min(self.units.len())),
            hashes: self.hashes.split_off(row),
        }
    }

    /// How often rows count, where each counts once.
    pub(super) fn counts(&self) -> CountedRows<'_> {
        CountedRows(&self.positive)
    }

    /// How rows count by weight.
    pub(super) fn sums(&self, frame: &RowFrame) -> CodedSums<'_> {
        let is_whole = frame.scale.is_none_or(|scale| scale.is_whole());
        CodedSums { positive: &self.positive, units: &self.units, is_whole }
    }

    /// All but the hashes as bytes, filled up to whole words.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(9 * self.n_rows() + self.binned.n_bytes() + 8);
        bytes.extend(self.units.iter().flat_map(|units| units.to_le_bytes()));
        bytes.extend(self.positive.iter().map(|&positive| u8::from(positive)));
        self.binned.put_bytes(&mut bytes);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    /// Replaces the rows by those that [`CodedRows::to_bytes`] has written; hashes are forgotten.
    pub(super) fn take_bytes(&mut self, n_rows: usize, is_weighted: bool, bytes: &[u8]) {
        let n_units = if is_weighted { n_rows } else { 0 };
        let (units, bytes) = bytes.split_at(8 * n_units);
        self.units.clear();
        self.units.extend(units.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)));
        let (positive, bytes) = bytes.split_at(n_rows);
        self.positive.clear();
        self.positive.extend(positive.iter().map(|&positive| positive != 0));
        self.binned.take_bytes(n_rows, bytes);
        self.hashes.clear();
    }
}

/// How coded rows count by weight.
#[derive(Debug, Clone, Copy)]
pub(super) struct CodedSums<'a> {
    positive: &'a [bool],
    units: &'a [u64],
    is_whole: bool,
}

impl RowTally for CodedSums<'_> {
    type Tally = ClassSums;

    #[inline]
    fn of(&self, row: usize) -> ClassSums {
        let units = self.units.get(row).copied().unwrap_or(1);
        let rows = if self.is_whole { units } else { u64::from(units > 0) };
        ClassSums::of_row(self.positive[row], units, rows)
    }
}
