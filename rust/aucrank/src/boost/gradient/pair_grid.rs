//! Derivatives of losses over pairs of rows, on a grid of scores.

use super::fit_rows::{CHUNK_ROWS, FitRows};
use super::loss::{counted, logistic, share, softplus};
use crate::parallel;
use crate::roc::TopNegatives;

/// Cells of the grid.
const CELLS: usize = 2048;

/// Derivatives of the mean over pairs, by cell and class.
pub(super) struct PairGrid {
    grid: GridOfPair,
    /// For each class, negatives first, and each cell.
    derivatives: [Vec<(f64, f64)>; 2],
}

#[derive(Clone, Copy)]
struct GridOfPair {
    low: f64,
    width: f64,
}

impl GridOfPair {
    fn over(low: f64, high: f64) -> Self {
        Self { low, width: (high - low) / (CELLS - 1) as f64 }
    }

    #[inline]
    fn cell(self, score: f64) -> usize {
        if self.width > 0.0 {
            (((score - self.low) / self.width + 0.5) as usize).min(CELLS - 1)
        } else {
            0
        }
    }

    /// Differences of scores from `1 - CELLS` to `CELLS - 1` cells, each mapped.
    fn of_differences<T>(self, of: impl Fn(f64) -> T) -> Vec<T> {
        let cells = CELLS as i32;
        (1 - cells..cells).map(|cells| of(f64::from(cells) * self.width)).collect()
    }
}

impl PairGrid {
    /// From the scores of the training rows.
    pub(super) fn new(scores: &[f64], rows: &FitRows<'_>, max_fpr: f64) -> Self {
        let chunks = || rows.training().chunks(CHUNK_ROWS).collect::<Vec<_>>();
        let ranges = parallel::map(chunks(), |chunk: &[u32]| {
            chunk.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &row| {
                (low.min(scores[row as usize]), high.max(scores[row as usize]))
            })
        });
        let low = ranges.iter().fold(f64::INFINITY, |low, range| low.min(range.0));
        let high = ranges.iter().fold(f64::NEG_INFINITY, |high, range| high.max(range.1));
        let grid = GridOfPair::over(low, high);
        let counts = parallel::map(chunks(), |chunk: &[u32]| {
            let mut masses = [vec![0_u64; CELLS], vec![0_u64; CELLS]];
            for row in chunk.iter().map(|&row| row as usize) {
                masses[usize::from(rows.positive()[row])][grid.cell(scores[row])] += rows.mass(row);
            }
            masses
        });
        let mut masses = [vec![0; CELLS], vec![0; CELLS]];
        for part in &counts {
            for (sum, part) in masses.iter_mut().zip(part) {
                sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            }
        }
        Self::of(grid, &masses, max_fpr)
    }

    fn of(grid: GridOfPair, masses: &[Vec<u64>; 2], max_fpr: f64) -> Self {
        let totals = masses.each_ref().map(|masses| masses.iter().sum::<u64>());
        let top = top_cells(&masses[0], max_fpr);
        let part = |class: usize, cell: usize| if class == 0 { part(top, cell) } else { 1.0 };
        let occupied = [0, 1].map(|class| {
            let masses = masses[class].iter().enumerate();
            let counted = masses.map(|(cell, &mass)| (cell, part(class, cell) * mass as f64));
            counted.filter(|(_, mass)| *mass > 0.0).collect::<Vec<_>>()
        });
        let half = 0.5 * counted(totals, max_fpr);
        let totals = totals.map(|total| total as f64);
        // The cells have equal width, so that a difference of scores is a number of cells: the
        // logistic function is computed once for each of 4095, and pairs of cells are at most 2^22,
        // however many rows there are.
        let table = grid.of_differences(|difference| {
            let rate = logistic(difference);
            (rate, rate * (1.0 - rate))
        });
        let of_class = |class: usize| {
            let mut derivatives = vec![(0.0, 0.0); CELLS];
            let own: Vec<usize> = occupied[class].iter().map(|(cell, _)| *cell).collect();
            let found = parallel::map_with(
                own.clone(),
                16,
                || (),
                |(), cell: usize| {
                    let (mut first, mut second) = (0.0, 0.0);
                    for &(other, mass) in &occupied[1 - class] {
                        // The score of the negative row less that of the positive one.
                        let (negative, positive) =
                            if class == 0 { (cell, other) } else { (other, cell) };
                        let (rate, curve) = table[CELLS - 1 + negative - positive];
                        first += mass * rate;
                        second += mass * curve;
                    }
                    let scale = half / (share(max_fpr) * totals[0]) / totals[1] * part(class, cell);
                    (if class == 0 { scale * first } else { -scale * first }, scale * second)
                },
            );
            own.into_iter().zip(found).for_each(|(cell, found)| derivatives[cell] = found);
            derivatives
        };
        Self { grid, derivatives: [of_class(0), of_class(1)] }
    }

    #[inline]
    pub(super) fn derivatives(&self, score: f64, positive: bool) -> (f64, f64) {
        self.derivatives[usize::from(positive)][self.grid.cell(score)]
    }

    /// The mean loss of a counted pair of rows, given as score, class and mass.
    pub(super) fn mean_loss(
        rows: impl Iterator<Item = (f64, usize, u64)> + Clone,
        max_fpr: f64,
    ) -> f64 {
        let (low, high) = rows.clone().fold((f64::INFINITY, f64::NEG_INFINITY), |range, row| {
            (range.0.min(row.0), range.1.max(row.0))
        });
        let grid = GridOfPair::over(low, high);
        let mut masses = [vec![0_u64; CELLS], vec![0_u64; CELLS]];
        rows.for_each(|(score, class, mass)| masses[class][grid.cell(score)] += mass);
        let table = grid.of_differences(softplus);
        let top = top_cells(&masses[0], max_fpr);
        let mut sum = 0.0;
        for (negative, &neg) in masses[0].iter().enumerate().filter(|(_, mass)| **mass > 0) {
            let neg = part(top, negative) * neg as f64;
            for (positive, &pos) in masses[1].iter().enumerate().filter(|(_, mass)| **mass > 0) {
                sum += neg * pos as f64 * table[CELLS - 1 + negative - positive];
            }
        }
        let totals = masses.map(|masses| masses.iter().sum::<u64>() as f64);
        sum / (share(max_fpr) * totals[0]) / totals[1]
    }
}

/// The part by which the negatives of each cell count; `None` for all in full.
fn top_cells(negatives: &[u64], max_fpr: f64) -> Option<TopNegatives> {
    let cells = || (0..).map(f64::from).zip(negatives.iter().copied()).filter(|cell| cell.1 > 0);
    (max_fpr < 1.0).then(|| TopNegatives::of(cells().collect(), max_fpr))
}

/// The part by which the negatives of a cell count.
#[inline]
fn part(top: Option<TopNegatives>, cell: usize) -> f64 {
    top.map_or(1.0, |top| top.part(cell as f64))
}
