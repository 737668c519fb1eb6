//! Where the rows of a state lie: buffered, in the table, in files.

use super::RocState;
use super::batch::{cells_of, counts_of, hardly_repeat, wide_cells_of, wide_counts};
use super::cells::{Cell, Count, cut_down};
use super::files::Kind;
use super::runs::Runs;
use super::sums::power;
use super::table::{Form, Table, keep_size, with_runs};
use super::wide_cells::{self, Scale, WideCell, unit_below};
use crate::RankError;

/// Rows buffered before they are sorted.
pub(super) const BUFFER: usize = 1 << 20;

/// The same if few scores repeat, so that an entry of the table takes more memory than a row.
pub(super) const LARGEST_BUFFER: usize = 1 << 24;

/// Share of the memory of a state with files that its table may take.
pub(super) const TABLE_SHARE: usize = 8;

impl RocState {
    /// Switches to keeping weights exactly.
    pub(super) fn forget_unit(&mut self) -> Result<(), RankError> {
        let Some(bits) = self.unit_bits else { return Ok(()) };
        self.sort_waiting()?;
        if bits > 0 {
            self.spill_beyond(0)?;
        }
        self.unit_bits = None;
        if bits > 0 {
            self.low = self.low.min(unit_below(-bits.cast_signed()));
            let form = self.form();
            let table = std::mem::replace(&mut self.table, Table::Counts(Runs::default()));
            self.table = table.widened(form, bits);
        }
        Ok(())
    }

    /// Merges all rows into one run, in memory or in a file.
    pub(super) fn settle(&mut self) -> Result<(), RankError> {
        self.check_loss()?;
        self.sort_waiting()?;
        if self.files.as_ref().is_some_and(|files| !files.is_empty()) {
            self.spill_beyond(0)?;
            let kind = self.kind();
            if let Some(files) = self.files.as_mut().filter(|files| !files.is_one(kind)) {
                match &self.table {
                    Table::Counts(_) => files.merge::<Count>(kind)?,
                    Table::Cells(_) => files.merge::<Cell>(kind)?,
                    Table::Wide2(..) => files.merge::<WideCell<2>>(kind)?,
                    Table::Wide4(..) => files.merge::<WideCell<4>>(kind)?,
                    Table::Wide34(..) => files.merge::<WideCell<34>>(kind)?,
                }
            }
            return Ok(());
        }
        with_runs!(&mut self.table, |runs| {
            runs.one();
        });
        Ok(())
    }

    /// Form of the entries of the table.
    pub(super) fn kind(&self) -> Kind {
        let bits = self.bits();
        match self.table {
            Table::Counts(_) => Kind::Counts { bits },
            Table::Cells(_) => Kind::Cells { bits },
            Table::Wide2(_, low) => Kind::Wide { words: 2, low },
            Table::Wide4(_, low) => Kind::Wide { words: 4, low },
            Table::Wide34(_, low) => Kind::Wide { words: wide_cells::ALL_WORDS, low },
        }
    }

    /// Unweighted rows whose scores hardly repeat stay buffered up to the maximum buffer size: they
    /// take 9 bytes each, an entry of the table 24.
    pub(super) fn sort_if_enough(&mut self) -> Result<(), RankError> {
        let waiting = self.n_waiting();
        if waiting < self.enough.min(self.piece()) {
            return Ok(());
        }
        let keeps = self.weighted.is_empty() && self.max_size.is_none() && self.files.is_none();
        if keeps && waiting < LARGEST_BUFFER && hardly_repeat(&self.scores) {
            self.enough = (2 * waiting).min(LARGEST_BUFFER);
            return Ok(());
        }
        self.sort_waiting()
    }

    pub(super) fn sort_waiting(&mut self) -> Result<(), RankError> {
        self.enough = self.buffer();
        self.widen()?;
        let piece = self.piece();
        while !self.scores.is_empty() {
            let start = self.scores.len().saturating_sub(piece);
            let counts = counts_of(&self.scores[start..], &self.positive[start..]);
            self.scores.truncate(start);
            self.positive.truncate(start);
            self.push_counts(counts);
            self.spill()?;
        }
        let piece = self.piece();
        while !self.weighted.is_empty() {
            let start = self.weighted.len().saturating_sub(piece);
            let weighted = self.weighted.split_off(start);
            let scale = power(self.bits());
            match &mut self.table {
                Table::Wide2(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                Table::Wide4(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                Table::Wide34(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                _ => self.cells().push(cells_of(weighted, scale)),
            }
            self.spill()?;
        }
        if self.files.is_none() {
            // As much as a batch took is not kept for the next.
            (self.scores, self.positive, self.weighted) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.keep_size();
        Ok(())
    }

    /// Makes the sums of the table as wide as those of all rows.
    pub(super) fn widen(&mut self) -> Result<(), RankError> {
        let (form, bits) = (self.form(), self.bits());
        if let Form::Wide { words, low } = form {
            if self.kind() != (Kind::Wide { words, low }) {
                // Wider entries might exceed the memory.
                self.spill_beyond(0)?;
            }
            let table = std::mem::replace(&mut self.table, Table::Counts(Runs::default()));
            self.table = table.widened(form, bits);
        }
        Ok(())
    }

    /// Moves the table to files if it takes too much memory.
    pub(super) fn spill(&mut self) -> Result<(), RankError> {
        let most = self.files.as_ref().map_or(usize::MAX, |files| files.max_bytes / TABLE_SHARE);
        self.spill_beyond(most)
    }

    pub(super) fn spill_beyond(&mut self, n_bytes: usize) -> Result<(), RankError> {
        let kind = self.kind();
        let Some(files) = &mut self.files else { return Ok(()) };
        with_runs!(&mut self.table, |runs| {
            if runs.n_bytes() > n_bytes {
                files.take(runs, kind)?;
            }
        });
        Ok(())
    }

    /// Number of rows from which they are sorted.
    pub(super) fn buffer(&self) -> usize {
        if self.files.is_some() { self.piece() } else { in_memory(self.max_size) }
    }

    /// Number of rows that are sorted at once: all, unless there are files.
    pub(super) fn piece(&self) -> usize {
        let Some(files) = &self.files else { return usize::MAX };
        let entry = match (self.form(), self.kind()) {
            (Form::Wide { words: 2, .. }, _) => size_of::<WideCell<2>>(),
            (Form::Wide { words: 4, .. }, _) => size_of::<WideCell<4>>(),
            (Form::Wide { .. }, _) => size_of::<WideCell<34>>(),
            (Form::Narrow, Kind::Counts { .. }) if self.weighted.is_empty() => size_of::<Count>(),
            (Form::Narrow, _) => size_of::<Cell>(),
        };
        // A row waits, is moved, and becomes an entry, of which there is a copy for a while in
        // memory that grows.
        (files.max_bytes / (3 * entry + 56)).clamp(64, LARGEST_BUFFER)
    }

    pub(super) fn push_counts(&mut self, run: Vec<Count>) {
        let bits = self.bits();
        let cell = |count| Cell::of_rows(count, bits);
        match &mut self.table {
            Table::Counts(runs) => runs.push(run),
            Table::Cells(runs) => runs.push(run.into_iter().map(cell).collect()),
            // Weights are kept exactly, and a row has weight 1.
            Table::Wide2(runs, low) => runs.push(wide_counts(run, *low)),
            Table::Wide4(runs, low) => runs.push(wide_counts(run, *low)),
            Table::Wide34(runs, low) => runs.push(wide_counts(run, *low)),
        }
    }

    /// The table as cells of narrow sums, converted from counts if need be.
    pub(super) fn cells(&mut self) -> &mut Runs<Cell> {
        let bits = self.bits();
        if let Table::Counts(runs) = &mut self.table {
            let run = std::mem::take(runs.one());
            let mut cells = Runs::default();
            cells.push(run.into_iter().map(|count| Cell::of_rows(count, bits)).collect());
            self.table = Table::Cells(cells);
        }
        match &mut self.table {
            Table::Cells(runs) => runs,
            _ => unreachable!("made into cells above"),
        }
    }

    pub(super) fn keep_size(&mut self) {
        let Some(max_size) = self.max_size else { return };
        let scale = Scale::of(&self.totals, self.low);
        // Cut below the maximum, so that the cost of cutting is amortised over many rows.
        let target = max_size.div_ceil(2);
        match &mut self.table {
            Table::Counts(_) => {}
            Table::Cells(runs) => keep_size(runs, max_size, |run| cut_down(run, target, ())),
            Table::Wide2(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
            Table::Wide4(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
            Table::Wide34(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
        }
    }
}

/// Initial buffer size without files: with a maximum size, as many rows as fit in the cache as
/// cells.
pub(super) fn in_memory(max_size: Option<usize>) -> usize {
    max_size.map_or(BUFFER, |size| size.saturating_mul(4).clamp(BUFFER >> 3, BUFFER))
}
