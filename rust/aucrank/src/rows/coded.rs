//! Coded rows, with what else is queried of them.

use std::ops::Range;

use super::frame::RowFrame;
use super::view::View;
use crate::data::{Batch, Binned, ClassSums, DealtRow, FixedScale, FixedWeights, RowTally};
use crate::{Interrupt, RankError};

/// Rows as codes, with their classes, weights and hashes.
#[derive(Debug)]
pub(crate) struct CodedRows {
    pub(crate) binned: Binned,
    pub(crate) positive: Vec<bool>,
    /// In units of the frame; empty if every row counts once.
    pub(crate) units: Vec<u64>,
    /// Hash of the content of each row; empty if it was not read.
    pub(crate) hashes: Vec<u64>,
    /// Place of the block of each row; empty if rows are dealt by their content.
    blocks: Vec<u16>,
}

impl CodedRows {
    pub(super) fn none(frame: &RowFrame) -> Self {
        let (positive, units, hashes, blocks) = Default::default();
        Self { binned: frame.no_rows(), positive, units, hashes, blocks }
    }

    /// Codes raw rows.
    pub(super) fn new(
        frame: &RowFrame,
        batch: &Batch<'_>,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        batch.check(&frame.n_levels())?;
        let (columns, weights) = (batch.columns(), batch.weights());
        if frame.scale.is_some() && weights.is_none() {
            let (name, expected) = ("sample_weight", columns.n_rows());
            return Err(RankError::LengthMismatch { name, found: 0, expected });
        }
        let weights = weights.zip(frame.scale);
        let units = weights.map(|(w, scale)| FixedWeights::in_scale(w, scale).units().to_vec());
        Ok(Self {
            binned: Binned::with_features(columns, frame.features.clone(), interrupt)?,
            positive: batch.positive().to_vec(),
            units: units.unwrap_or_default(),
            hashes: columns.hashes(interrupt)?.to_vec(),
            blocks: batch.places(frame.blocks.as_deref())?,
        })
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.positive.len()
    }

    /// No rows, with capacity for `n_rows`.
    pub(super) fn with_room(frame: &RowFrame, n_rows: usize) -> Self {
        let mut rows = Self::none(frame);
        rows.binned.reserve(n_rows);
        rows.positive.reserve_exact(n_rows);
        rows.units.reserve_exact(if frame.scale.is_some() { n_rows } else { 0 });
        rows.hashes.reserve_exact(n_rows);
        rows.blocks.reserve_exact(if frame.blocks.is_some() { n_rows } else { 0 });
        rows
    }

    pub(super) fn append(&mut self, more: Self) {
        if self.n_rows() == 0 {
            *self = more;
            return;
        }
        self.extend(&more);
    }

    /// Adds copies of rows.
    pub(super) fn extend(&mut self, more: &Self) {
        self.binned.append(&more.binned);
        self.positive.extend_from_slice(&more.positive);
        self.units.extend_from_slice(&more.units);
        self.hashes.extend_from_slice(&more.hashes);
        self.blocks.extend_from_slice(&more.blocks);
    }

    /// Copy of some of the rows.
    pub(super) fn copy_of(&self, rows: Range<usize>) -> Self {
        Self {
            binned: self.binned.copy_of(rows.clone()),
            positive: self.positive[rows.clone()].to_vec(),
            units: self.units.get(rows.clone()).map(<[u64]>::to_vec).unwrap_or_default(),
            hashes: self.hashes[rows.clone()].to_vec(),
            blocks: self.blocks.get(rows).map(<[u16]>::to_vec).unwrap_or_default(),
        }
    }

    /// Rows of positive weight of a view, ascending.
    pub(crate) fn of_view<'r>(&'r self, view: &'r View) -> impl Iterator<Item = u32> + 'r {
        let has_weight = |&row: &u32| self.units.get(row as usize).is_none_or(|&units| units > 0);
        let is_there = |&row: &u32| *view == View::All || view.contains(self.dealt(row as usize));
        (0..self.n_rows() as u32).filter(has_weight).filter(is_there)
    }

    /// Class, hash and block of a row.
    pub(crate) fn dealt(&self, row: usize) -> DealtRow {
        DealtRow {
            positive: self.positive[row],
            hash: self.hashes[row],
            block: self.blocks.get(row).copied().unwrap_or(0),
        }
    }

    /// Takes out the block places of all rows.
    pub(super) fn take_blocks(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.blocks)
    }

    /// Tally of the rows by weight.
    pub(crate) fn sums(&self, frame: &RowFrame) -> CodedSums<'_> {
        let is_whole = frame.scale.is_none_or(FixedScale::is_whole);
        CodedSums { positive: &self.positive, units: &self.units, is_whole }
    }

    pub(super) fn extra(&self) -> ExtraColumns {
        ExtraColumns { units: !self.units.is_empty(), blocks: !self.blocks.is_empty() }
    }

    /// Number of bytes that [`CodedRows::to_bytes`] writes for `n_rows` rows.
    pub(super) fn n_bytes_of(frame: &RowFrame, n_rows: usize) -> usize {
        let units = if frame.scale.is_some() { 8 } else { 0 };
        let blocks = if frame.blocks.is_some() { 2 } else { 0 };
        (n_rows * (units + blocks + 1 + frame.no_rows().n_row_bytes())).next_multiple_of(8)
    }

    /// All fields but the hashes as bytes, padded to whole words.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(11 * self.n_rows() + self.binned.n_bytes() + 8);
        bytes.extend(self.units.iter().flat_map(|units| units.to_le_bytes()));
        bytes.extend(self.blocks.iter().flat_map(|block| block.to_le_bytes()));
        bytes.extend(self.positive.iter().map(|&positive| u8::from(positive)));
        self.binned.put_bytes(&mut bytes);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    /// The hashes as bytes.
    pub(super) fn hashes_to_bytes(&self) -> Vec<u8> {
        self.hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
    }

    /// Adds hashes written by [`CodedRows::hashes_to_bytes`].
    pub(super) fn take_hashes(&mut self, bytes: &[u8]) {
        self.hashes.extend(bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)));
    }

    /// Replaces the rows by those written by [`CodedRows::to_bytes`]; clears the hashes.
    pub(super) fn take_bytes(&mut self, n_rows: usize, extra: ExtraColumns, bytes: &[u8]) {
        let n_units = if extra.units { n_rows } else { 0 };
        let (units, bytes) = bytes.split_at(8 * n_units);
        self.units.clear();
        self.units.extend(units.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)));
        let (blocks, bytes) = bytes.split_at(if extra.blocks { 2 * n_rows } else { 0 });
        self.blocks.clear();
        self.blocks.extend(blocks.as_chunks().0.iter().map(|&block| u16::from_le_bytes(block)));
        let (positive, bytes) = bytes.split_at(n_rows);
        self.positive.clear();
        self.positive.extend(positive.iter().map(|&positive| positive != 0));
        self.binned.take_bytes(n_rows, bytes);
        self.hashes.clear();
    }
}

/// Columns of rows in bytes besides codes and classes.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtraColumns {
    pub(super) units: bool,
    pub(super) blocks: bool,
}

impl ExtraColumns {
    pub(super) fn of(frame: &RowFrame) -> Self {
        Self { units: frame.scale.is_some(), blocks: frame.blocks.is_some() }
    }
}

/// Tally of coded rows by weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodedSums<'a> {
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
