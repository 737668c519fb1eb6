//! Storage of the rows of a state: in a buffer, in the table, in files.

use super::cells::{Cell, Count, LowBits, PlacedDigits, WideCell, cut_down, unit_below};
use super::files::Kind;
use super::statistics::power;
use super::table::{EntryTable, Runs, SumWidth, keep_size, with_runs};
use super::{RocState, cells};
use crate::RankError;
use crate::parallel::prelude::*;
use crate::roc::sample::{ScoreSample, Unweighted};
use crate::roc::score::ScoreCoding;
use crate::roc::sink::Sink;
use crate::roc::sort::sweep;
use crate::roc::{PARALLEL_FROM, Score};

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
            let table = std::mem::replace(&mut self.table, EntryTable::Counts(Runs::default()));
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
                    EntryTable::Counts(_) => files.merge::<Count>(kind)?,
                    EntryTable::Cells(_) => files.merge::<Cell>(kind)?,
                    EntryTable::Wide2(..) => files.merge::<WideCell<2>>(kind)?,
                    EntryTable::Wide4(..) => files.merge::<WideCell<4>>(kind)?,
                    EntryTable::Wide34(..) => files.merge::<WideCell<34>>(kind)?,
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
            EntryTable::Counts(_) => Kind::Counts { bits },
            EntryTable::Cells(_) => Kind::Cells { bits },
            EntryTable::Wide2(_, low) => Kind::Wide { words: 2, low },
            EntryTable::Wide4(_, low) => Kind::Wide { words: 4, low },
            EntryTable::Wide34(_, low) => Kind::Wide { words: cells::ALL_WORDS, low },
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
                EntryTable::Wide2(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                EntryTable::Wide4(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                EntryTable::Wide34(runs, low) => runs.push(wide_cells_of(weighted, *low)),
                _ => self.cells().push(cells_of(weighted, scale)),
            }
            self.spill()?;
        }
        if self.files.is_none() {
            // The memory of a batch is not kept for the next.
            (self.scores, self.positive, self.weighted) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.keep_size();
        Ok(())
    }

    /// Makes the sums of the table as wide as those of all rows.
    pub(super) fn widen(&mut self) -> Result<(), RankError> {
        let (form, bits) = (self.form(), self.bits());
        if let SumWidth::Wide { words, low } = form {
            if self.kind() != (Kind::Wide { words, low }) {
                // Wider entries might exceed the memory.
                self.spill_beyond(0)?;
            }
            let table = std::mem::replace(&mut self.table, EntryTable::Counts(Runs::default()));
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
            (SumWidth::Wide { words: 2, .. }, _) => size_of::<WideCell<2>>(),
            (SumWidth::Wide { words: 4, .. }, _) => size_of::<WideCell<4>>(),
            (SumWidth::Wide { .. }, _) => size_of::<WideCell<34>>(),
            (SumWidth::Narrow, Kind::Counts { .. }) if self.weighted.is_empty() => {
                size_of::<Count>()
            }
            (SumWidth::Narrow, _) => size_of::<Cell>(),
        };
        // A row waits, is moved, and becomes an entry, of which there is a copy for a while in
        // memory that grows.
        (files.max_bytes / (3 * entry + 56)).clamp(64, LARGEST_BUFFER)
    }

    pub(super) fn push_counts(&mut self, run: Vec<Count>) {
        let bits = self.bits();
        let cell = |count| Cell::of_rows(count, bits);
        match &mut self.table {
            EntryTable::Counts(runs) => runs.push(run),
            EntryTable::Cells(runs) => runs.push(run.into_iter().map(cell).collect()),
            // Weights are kept exactly, and a row has weight 1.
            EntryTable::Wide2(runs, low) => runs.push(wide_counts(run, *low)),
            EntryTable::Wide4(runs, low) => runs.push(wide_counts(run, *low)),
            EntryTable::Wide34(runs, low) => runs.push(wide_counts(run, *low)),
        }
    }

    /// The table as cells of narrow sums, converted from counts if need be.
    pub(super) fn cells(&mut self) -> &mut Runs<Cell> {
        let bits = self.bits();
        if let EntryTable::Counts(runs) = &mut self.table {
            let run = std::mem::take(runs.one());
            let mut cells = Runs::default();
            cells.push(run.into_iter().map(|count| Cell::of_rows(count, bits)).collect());
            self.table = EntryTable::Cells(cells);
        }
        match &mut self.table {
            EntryTable::Cells(runs) => runs,
            _ => unreachable!("made into cells above"),
        }
    }

    pub(super) fn keep_size(&mut self) {
        let Some(max_size) = self.max_size else { return };
        let scale = LowBits::of(&self.totals, self.low);
        // Cut below the maximum, so that the cost of cutting is amortised over many rows.
        let target = max_size.div_ceil(2);
        match &mut self.table {
            EntryTable::Counts(_) => {}
            EntryTable::Cells(runs) => keep_size(runs, max_size, |run| cut_down(run, target, ())),
            EntryTable::Wide2(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
            EntryTable::Wide4(runs, _) => {
                keep_size(runs, max_size, |run| cut_down(run, target, scale));
            }
            EntryTable::Wide34(runs, _) => {
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

/// Whether more than half of a sample of the scores are distinct.
pub(super) fn hardly_repeat(scores: &[f64]) -> bool {
    const STEP: usize = 64;
    let mut keys: Vec<u64> = scores.iter().step_by(STEP).map(|score| score.key()).collect();
    keys.sort_unstable();
    2 * keys.chunk_by(|a, b| a == b).count() > keys.len()
}

/// A sink that collects the distinct scores of a range.
pub(super) struct Counting {
    coding: ScoreCoding<f64>,
    counts: Vec<Count>,
}

impl Sink<u64, u64> for Counting {
    type Scratch = ();

    fn tie(&mut self, code: u64, positive: u64, negative: u64) {
        let key = self.coding.score(code).key();
        self.counts.push(Count { key, rows: [negative, positive] });
    }
}

pub(super) fn counts_of(scores: &[f64], positive: &[bool]) -> Vec<Count> {
    let Ok((sample, _)) = ScoreSample::of_any_class(scores, positive, Unweighted) else {
        unreachable!("checked before they were gathered");
    };
    let parts = sweep::<f64, _, u64, _>(&sample, |coding| Counting { coding, counts: Vec::new() });
    let counts: Vec<Vec<Count>> = parts.into_iter().map(|part| part.counts).collect();
    counts.concat()
}

/// Cells of weighted rows, in units of `1 / scale`.
pub(super) fn cells_of(rows: Vec<(u64, u64)>, scale: f64) -> Vec<Cell> {
    sorted_into(rows, |tied| {
        let mut cell = Cell { key: tied[0].0, width: 0, units: [0; 2], squares: [0; 2] };
        for &(_, word) in tied {
            let (class, weight) = weight_of(word);
            let units = (weight * scale).round() as u64;
            cell.units[class] += units;
            cell.squares[class] += u128::from(units) * u128::from(units);
        }
        cell
    })
}

pub(super) fn wide_cells_of<const WORDS: usize>(
    rows: Vec<(u64, u64)>,
    low: i32,
) -> Vec<WideCell<WORDS>> {
    sorted_into(rows, |tied| {
        let mut cell = WideCell::empty(tied[0].0, 0);
        for &(_, word) in tied {
            let (class, weight) = weight_of(word);
            cell.add_row(class, PlacedDigits::of(weight, low));
        }
        cell
    })
}

/// Class and weight of a buffered row.
pub(super) fn weight_of(word: u64) -> (usize, f64) {
    ((word >> 63) as usize, f64::from_bits(word & (u64::MAX >> 1)))
}

pub(super) fn wide_counts<const WORDS: usize>(run: Vec<Count>, low: i32) -> Vec<WideCell<WORDS>> {
    let shift = low.unsigned_abs();
    run.into_iter().map(|count| WideCell::of_cell(&Cell::of_rows(count, 0), shift)).collect()
}

/// One entry for the rows of each score.
pub(super) fn sorted_into<E>(
    mut rows: Vec<(u64, u64)>,
    entry: impl Fn(&[(u64, u64)]) -> E,
) -> Vec<E> {
    if rows.len() < PARALLEL_FROM {
        rows.sort_unstable_by_key(|row| row.0);
    } else {
        rows.par_sort_unstable_by_key(|row| row.0);
    }
    rows.chunk_by(|a, b| a.0 == b.0).map(entry).collect()
}
