//! The table of a state: entries as wide as the sums of their weights.

use super::cells::{Cell, Count};
use super::limbs::{self, bit_length};
use super::runs::{Entry, Runs};
use super::wide_cells::{LOWEST, Total, WideCell};

/// Sums of weights up to this are also exact in `f64`.
pub(super) const MAX_UNITS: u64 = 1 << 53;

#[derive(Debug, Clone)]
pub(super) enum Table {
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
pub(super) enum Form {
    /// At most 2^53 units of the state.
    Narrow,
    /// Of that many words, in units of `2^low`.
    Wide { words: usize, low: i32 },
}

impl Form {
    /// The form depends on the rows only, not on their batches.
    pub(super) fn of(totals: &[Total; 2], low: i32, is_exact: bool) -> Self {
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
pub(super) fn few_units(totals: &[Total; 2], bits: u32) -> Option<[u64; 2]> {
    let unit = LOWEST.unsigned_abs() - bits;
    let units = totals.each_ref().map(|total| {
        let fits = bit_length(total) <= unit + 64;
        let units = if fits { limbs::rounded(total, unit) as u64 } else { u64::MAX };
        (units <= MAX_UNITS).then_some(units)
    });
    Some([units[0]?, units[1]?])
}

impl Table {
    /// The same rows with wider sums.
    pub(super) fn widened(self, form: Form, bits: u32) -> Self {
        match (form, &self) {
            (Form::Narrow, _) => self,
            (Form::Wide { words: 2, low }, Self::Wide2(_, own)) if *own == low => self,
            (Form::Wide { words: 4, low }, Self::Wide4(_, own)) if *own == low => self,
            (Form::Wide { words: 34, low }, Self::Wide34(_, own)) if *own == low => self,
            (Form::Wide { words: 2, low }, _) => Self::Wide2(self.wide(low, bits), low),
            (Form::Wide { words: 4, low }, _) => Self::Wide4(self.wide(low, bits), low),
            (Form::Wide { low, .. }, _) => Self::Wide34(self.wide(low, bits), low),
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
            Table::Counts($runs) => $body,
            Table::Cells($runs) => $body,
            Table::Wide2($runs, _) => $body,
            Table::Wide4($runs, _) => $body,
            Table::Wide34($runs, _) => $body,
        }
    };
}

pub(super) use with_runs;
