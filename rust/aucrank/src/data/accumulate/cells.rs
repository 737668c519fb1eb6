//! Positions of the rows of each cell.

use std::ops::Range;

use crate::data::accumulate::source::CellId;

/// The stretch of rows of each cell. Cells that were split or merged are removed: a fit keeps one
/// list for each of many parts.
#[derive(Debug, Clone)]
pub(in crate::data) struct Cells(Vec<CellStretch>);

#[derive(Debug, Clone, Copy)]
struct CellStretch {
    id: CellId,
    start: u32,
    end: u32,
}

impl Cells {
    /// All `n_rows` rows in cell 0.
    pub(in crate::data) fn one(n_rows: usize) -> Self {
        Self(vec![CellStretch { id: 0, start: 0, end: n_rows as u32 }])
    }

    /// Rows of a cell.
    ///
    /// # Panics
    ///
    /// If there is no such cell.
    pub(in crate::data) fn get(&self, id: CellId) -> Range<usize> {
        let place =
            self.0.binary_search_by_key(&id, |cell| cell.id).expect("a cell of this source");
        let CellStretch { start, end, .. } = self.0[place];
        start as usize..end as usize
    }

    /// Replaces some cells by others.
    pub(in crate::data) fn replace(
        &mut self,
        mut old: Vec<CellId>,
        new: impl IntoIterator<Item = (CellId, Range<usize>)>,
    ) {
        old.sort_unstable();
        self.0.retain(|cell| old.binary_search(&cell.id).is_err());
        let cell = |(id, Range { start, end }): (CellId, Range<usize>)| CellStretch {
            id,
            start: start as u32,
            end: end as u32,
        };
        self.0.extend(new.into_iter().map(cell));
        // New cells mostly have higher numbers than those before.
        if !self.0.is_sorted_by_key(|cell| cell.id) {
            self.0.sort_unstable_by_key(|cell| cell.id);
        }
    }
}
