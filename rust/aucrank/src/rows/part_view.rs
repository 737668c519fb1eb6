//! The rows of a part that a question is about.

use std::borrow::Cow;

use super::coded::{CodedRows, CodedSums};
use super::frame::RowFrame;
use super::view::View;
use crate::data::{Binned, ClassMasses, CountedRows, FixedScale};

/// Coded rows of a part; rows outside a view have no weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartView<'a> {
    rows: &'a CodedRows,
    /// In the codes of the question.
    binned: &'a Binned,
    view: &'a View,
    pub(crate) frame: &'a RowFrame,
}

impl<'a> PartView<'a> {
    pub(super) fn new(
        rows: &'a CodedRows,
        binned: &'a Binned,
        view: &'a View,
        frame: &'a RowFrame,
    ) -> Self {
        Self { rows, binned, view, frame }
    }

    /// All rows of the part, in the codes in which they are held.
    pub(crate) fn coded(&self) -> &'a CodedRows {
        self.rows
    }

    /// Rows of positive weight in view, ascending.
    pub(crate) fn rows(&self) -> Vec<u32> {
        self.rows.of_view(self.view).collect()
    }

    /// Tally of the rows if each counts once.
    pub(super) fn counts(&self) -> CountedRows<'a> {
        CountedRows(&self.rows.positive)
    }

    /// Tally of the rows by weight.
    pub(crate) fn sums(&self) -> CodedSums<'a> {
        self.rows.sums(self.frame)
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.n_rows()
    }

    pub(crate) fn binned(&self) -> &'a Binned {
        self.binned
    }

    pub(crate) fn positive(&self) -> &'a [bool] {
        &self.rows.positive
    }

    /// Hash of the content of each row; empty if no question needs it.
    pub(crate) fn hashes(&self) -> &'a [u64] {
        &self.rows.hashes
    }

    /// Units of weight of each row, 0 outside the view; `None` if every row counts once.
    pub(crate) fn units(&self) -> Option<Cow<'a, [u64]>> {
        let all = (self.frame.scale.is_some()).then_some(&self.rows.units);
        if *self.view == View::All {
            return all.map(|units| Cow::Borrowed(&units[..]));
        }
        let units = (0..self.n_rows()).map(|row| {
            let is_there = self.view.contains(self.rows.dealt(row));
            if is_there { all.map_or(1, |units| units[row]) } else { 0 }
        });
        Some(units.collect())
    }

    /// Class weight of a row of `units` units, if it has any.
    pub(crate) fn class_units(&self, row: usize, units: u64) -> Option<ClassMasses> {
        let pos = if self.rows.positive[row] { units } else { 0 };
        (units > 0).then_some(ClassMasses { pos, neg: units - pos })
    }

    /// Number of rows that one of `units` units counts as.
    pub(crate) fn rows_of(&self, units: u64) -> u64 {
        if self.frame.scale.is_none_or(FixedScale::is_whole) { units } else { u64::from(units > 0) }
    }
}
