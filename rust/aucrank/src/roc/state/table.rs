//! The table of a state: entries as wide as the sums of their weights.

use super::cells;
use super::cells::{Cell, Count, LOWEST, WideCell, WideTotal, bit_length};
use crate::parallel::prelude::*;
use crate::roc::PARALLEL_FROM;

/// Sums of weights up to this are also exact in `f64`.
pub(super) const MAX_UNITS: u64 = 1 << 53;

#[derive(Debug, Clone)]
pub(super) enum EntryTable {
    /// Unweighted rows, one entry per score.
    Counts(Runs<Count>),
    /// Weighted rows, or a maximum size.
    Cells(Runs<Cell>),
    /// Sums of weights of more than 53 bits.
    Wide2(Runs<WideCell<2>>, i32),
    Wide4(Runs<WideCell<4>>, i32),
    /// Wide enough for any weights.
    Wide34(Runs<WideCell<34>>, i32),
}

/// Width of the sums of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SumWidth {
    /// At most 2^53 units of the state.
    Narrow,
    /// Of that many words, in units of `2^low`.
    Wide { words: usize, low: i32 },
}

impl SumWidth {
    /// The form depends on the rows only, not on their batches.
    pub(super) fn of(totals: &[WideTotal; 2], low: i32, is_exact: bool) -> Self {
        if !is_exact || low == 0 && few_units(totals, 0).is_some() {
            return Self::Narrow;
        }
        let unit = (low - LOWEST).cast_unsigned();
        let bits = bit_length(&totals[0]).max(bit_length(&totals[1])).saturating_sub(unit);
        let words = if bits <= 128 {
            2
        } else if bits <= 256 {
            4
        } else {
            34
        };
        Self::Wide { words, low }
    }
}

/// Sums in units of `2^-bits`; `None` if they exceed 2^53 or are not integers.
pub(super) fn few_units(totals: &[WideTotal; 2], bits: u32) -> Option<[u64; 2]> {
    let unit = LOWEST.unsigned_abs() - bits;
    let units = totals.each_ref().map(|total| {
        let fits = bit_length(total) <= unit + 64;
        let units = if fits { cells::rounded(total, unit) as u64 } else { u64::MAX };
        (units <= MAX_UNITS).then_some(units)
    });
    Some([units[0]?, units[1]?])
}

impl EntryTable {
    /// The same rows with wider sums.
    pub(super) fn widened(self, form: SumWidth, bits: u32) -> Self {
        match (form, &self) {
            (SumWidth::Narrow, _) => self,
            (SumWidth::Wide { words: 2, low }, Self::Wide2(_, own)) if *own == low => self,
            (SumWidth::Wide { words: 4, low }, Self::Wide4(_, own)) if *own == low => self,
            (SumWidth::Wide { words: 34, low }, Self::Wide34(_, own)) if *own == low => self,
            (SumWidth::Wide { words: 2, low }, _) => Self::Wide2(self.wide(low, bits), low),
            (SumWidth::Wide { words: 4, low }, _) => Self::Wide4(self.wide(low, bits), low),
            (SumWidth::Wide { low, .. }, _) => Self::Wide34(self.wide(low, bits), low),
        }
    }

    fn wide<const WORDS: usize>(self, low: i32, bits: u32) -> Runs<WideCell<WORDS>> {
        // By how much the unit of the entries exceeds the new one.
        let shift = |unit: i32| (unit - low).cast_unsigned();
        let whole = shift(-bits.cast_signed());
        match self {
            Self::Counts(runs) => {
                runs.map(|&count| WideCell::of_cell(&Cell::of_rows(count, bits), whole))
            }
            Self::Cells(runs) => runs.map(|cell| WideCell::of_cell(cell, whole)),
            Self::Wide2(runs, own) => runs.map(|cell| cell.in_finer_units(shift(own))),
            Self::Wide4(runs, own) => runs.map(|cell| cell.in_finer_units(shift(own))),
            Self::Wide34(runs, own) => runs.map(|cell| cell.in_finer_units(shift(own))),
        }
    }
}

pub(super) fn keep_size<E: Entry>(
    runs: &mut Runs<E>,
    max_size: usize,
    cut_down: impl FnOnce(&[E]) -> Vec<E>,
) {
    if runs.len() > max_size {
        let run = runs.one();
        if run.len() > max_size {
            *run = cut_down(run);
        }
    }
}

/// Evaluates an expression with the runs of a table of any form.
macro_rules! with_runs {
    ($table:expr, |$runs:ident| $body:expr) => {
        match $table {
            EntryTable::Counts($runs) => $body,
            EntryTable::Cells($runs) => $body,
            EntryTable::Wide2($runs, _) => $body,
            EntryTable::Wide4($runs, _) => $body,
            EntryTable::Wide34($runs, _) => $body,
        }
    };
}

pub(super) use with_runs;

/// Rows of one score, or of a cell of neighbouring scores; cells are nested or disjoint.
pub(super) trait Entry: Copy + Send + Sync {
    /// Key of the least score.
    fn key(&self) -> u64;
    /// Key of the greatest score.
    fn last_key(&self) -> u64;
    /// The rows of both; `other` is inside this cell or begins where it does.
    fn join(self, other: Self) -> Self;
}

/// Runs in order of the score, each more than twice as long as the next.
#[derive(Debug, Clone)]
pub(super) struct Runs<E>(Vec<Vec<E>>);

impl<E> Default for Runs<E> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<E: Entry> Runs<E> {
    /// A single sorted run.
    pub fn of(run: Vec<E>) -> Self {
        Self(vec![run])
    }

    pub fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    pub fn is_one(&self) -> bool {
        self.0.len() <= 1
    }

    pub fn push(&mut self, run: Vec<E>) {
        if run.is_empty() {
            return;
        }
        self.0.push(run);
        while let [.., before, last] = &self.0[..] {
            if before.len() > 2 * last.len() {
                break;
            }
            self.merge_last();
        }
    }

    /// Merges all runs into one.
    pub fn one(&mut self) -> &mut Vec<E> {
        while self.0.len() > 1 {
            self.merge_last();
        }
        if self.0.is_empty() {
            self.0.push(Vec::new());
        }
        &mut self.0[0]
    }

    /// The same runs with each entry converted.
    pub fn map<F: Entry>(self, entry: impl Fn(&E) -> F) -> Runs<F> {
        Runs(self.0.iter().map(|run| run.iter().map(&entry).collect()).collect())
    }

    /// Adds all entries of another table.
    pub fn append(&mut self, other: Self) {
        for run in other.0 {
            self.push(run);
        }
    }

    /// The runs, none of which need be merged.
    pub fn each(&self) -> impl Iterator<Item = &[E]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// Bytes of memory that the entries take.
    pub fn n_bytes(&self) -> usize {
        self.len() * size_of::<E>()
    }

    pub fn into_runs(self) -> Vec<Vec<E>> {
        self.0
    }

    fn merge_last(&mut self) {
        if let (Some(a), Some(b)) = (self.0.pop(), self.0.pop()) {
            self.0.push(merge(&b, &a));
        }
    }
}

/// Merges two runs; entries that overlap are joined.
fn merge<E: Entry>(a: &[E], b: &[E]) -> Vec<E> {
    let n = a.len() + b.len();
    if n < PARALLEL_FROM || crate::parallel::current_num_threads() == 1 {
        let mut out = Vec::with_capacity(n);
        merge_into(a, b, &mut out);
        return out;
    }
    // Pieces begin where no cell of either run is cut: at a key of `a`, unless `b` has a wider
    // cell.
    let n_pieces = 4 * crate::parallel::current_num_threads();
    let mut pieces = Vec::with_capacity(n_pieces);
    let (mut start_a, mut start_b) = (0, 0);
    for piece in 1..=n_pieces {
        let (mut end_a, mut end_b) = (a.len(), b.len());
        if piece < n_pieces {
            end_a = (piece * a.len() / n_pieces).max(start_a);
            if end_a == 0 {
                continue;
            }
            // Everything up to the end of the last cell of `a`, then of the last cell of `b`.
            end_b = b.partition_point(|e| e.key() <= a[end_a - 1].last_key()).max(start_b);
            if end_b > 0 {
                let last = b[end_b - 1].last_key();
                end_a += a[end_a..].partition_point(|e| e.key() <= last);
            }
        }
        pieces.push((&a[start_a..end_a], &b[start_b..end_b]));
        (start_a, start_b) = (end_a, end_b);
    }
    let parts: Vec<Vec<E>> = pieces
        .into_par_iter()
        .map(|(a, b)| {
            let mut out = Vec::with_capacity(a.len() + b.len());
            merge_into(a, b, &mut out);
            out
        })
        .collect();
    parts.concat()
}

fn merge_into<E: Entry>(mut a: &[E], mut b: &[E], out: &mut Vec<E>) {
    let mut add = |next: E| match out.last_mut() {
        Some(last) if next.key() <= last.last_key() => *last = last.join(next),
        _ => out.push(next),
    };
    while let ([first_a, rest_a @ ..], [first_b, rest_b @ ..]) = (a, b) {
        // No branch on the order of the keys, which is unpredictable.
        let take_b = first_b.key() < first_a.key();
        add(if take_b { *first_b } else { *first_a });
        a = if take_b { a } else { rest_a };
        b = if take_b { rest_b } else { b };
    }
    a.iter().chain(b).for_each(|&entry| add(entry));
}
