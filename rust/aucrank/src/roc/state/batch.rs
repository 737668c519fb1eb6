//! Rows of a batch sorted into entries of the table.

use super::cells::{Cell, Count};
use super::wide_cells::{WideCell, placed};
use crate::parallel::prelude::*;
use crate::roc::sample::{Sample, Unweighted};
use crate::roc::score::Coding;
use crate::roc::sort::{Record, Sink, for_ties, sort_range, sweep};
use crate::roc::{PARALLEL_FROM, Score};

/// Whether more than half of a sample of the scores are distinct.
pub(super) fn hardly_repeat(scores: &[f64]) -> bool {
    const STEP: usize = 64;
    let mut keys: Vec<u64> = scores.iter().step_by(STEP).map(|score| score.key()).collect();
    keys.sort_unstable();
    2 * keys.chunk_by(|a, b| a == b).count() > keys.len()
}

/// A sink that collects the distinct scores of a range.
pub(super) struct Counting {
    coding: Coding<f64>,
    counts: Vec<Count>,
}

impl Sink<u64, u64> for Counting {
    fn tie(&mut self, code: u64, positive: u64, negative: u64) {
        let key = self.coding.score(code).key();
        self.counts.push(Count { key, rows: [negative, positive] });
    }

    fn range<R: Record<u64, Mass = u64>>(&mut self, rows: &mut [R], _: usize, top: u64) {
        sort_range(rows);
        for_ties(rows, top, |code, positive, negative| self.tie(code, positive, negative));
    }
}

pub(super) fn counts_of(scores: &[f64], positive: &[bool]) -> Vec<Count> {
    let Ok((sample, _)) = Sample::of_any_class(scores, positive, Unweighted) else {
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
            cell.add_row(class, placed(weight, low));
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
