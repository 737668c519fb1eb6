//! The ramp statistic on the circles from a score to binary terms.
//!
//! A point of such a circle is `h cos t + p sin t` in the rows where the term is on and `h cos t`
//! elsewhere, `h` being the score and `p` the pole. So the differences of all pairs follow from `h`
//! and the rows where the term is on: the sums over the rows of each cell of `h`, on and off, give
//! the statistic at every angle, without another pass over the rows. A term costs one pass over the
//! smaller of its two sides.
//!
//! In a sum of `max(s - t + d, 0)` over pairs, rows are taken to be at the mean of their cell; the
//! partners of a cell end within another cell, and a linear share of that cell is counted. The
//! function vanishes there, so that the error is of second order in the width of a cell, and nearly
//! the same for all terms of a score, which are only compared.

use super::observations::Observations;
use super::ramp::{HALF_WIDTH, RampOnCircle, SIDE_SLOPE, bounds};

/// Cells of a half-width of the ramp, at most and at least.
const MOST_HALF_CELLS: usize = 64;
const LEAST_HALF_CELLS: usize = 16;

/// Number of cells, and of rows, from which cells give the AUC of candidates on the short list.
const FINE_CELLS: usize = 256;
const FINE_ROWS: usize = 4096;

/// Largest angle: beyond it, little is left of the score.
pub(super) const LAST_ANGLE: f64 = 1.4;

/// Weight, and weight times score, of the rows of a class by cell: side by side, since a row adds
/// to both.
#[derive(Debug, Clone, Default)]
struct ClassCellSums(Vec<[f64; 2]>);

impl ClassCellSums {
    fn reset(&mut self, n_cells: usize) {
        self.0.clear();
        self.0.resize(n_cells, [0.0; 2]);
    }

    fn add(&mut self, cell: u32, row: TrialRow) {
        let cell = &mut self.0[cell as usize];
        cell[0] += row.share;
        cell[1] += row.moment;
    }

    /// Sets this to all rows less the others.
    fn become_difference(&mut self, all: &Self, others: &Self) {
        self.0.clear();
        self.0.extend(all.0.iter().zip(&others.0).map(|(a, b)| [a[0] - b[0], a[1] - b[1]]));
    }
}

/// The positives by cell: weight, and weight times score, each in a list of its own, since a pass
/// over the cells reads several at a time.
#[derive(Debug, Clone, Default)]
struct PositiveCells {
    weight: Vec<f64>,
    moment: Vec<f64>,
    total: [f64; 2],
}

impl PositiveCells {
    fn set(&mut self, sums: &ClassCellSums) {
        self.weight.resize(sums.0.len(), 0.0);
        self.moment.resize(sums.0.len(), 0.0);
        // Both totals in one pass: each of their additions waits for the one before.
        let [mut weight, mut moment] = [0.0; 2];
        let out = self.weight.iter_mut().zip(&mut self.moment);
        for ((out_weight, out_moment), cell) in out.zip(&sums.0) {
            (*out_weight, *out_moment) = (cell[0], cell[1]);
            weight += cell[0];
            moment += cell[1];
        }
        self.total = [weight, moment];
    }
}

/// Sums over the rows below the middle of each cell, preceded by zeros and followed by totals.
#[derive(Debug, Clone, Default)]
struct Below {
    weight: Vec<f64>,
    moment: Vec<f64>,
}

impl Below {
    fn set(&mut self, sums: &ClassCellSums) {
        let n_cells = sums.0.len();
        self.weight.resize(n_cells + 2, 0.0);
        self.moment.resize(n_cells + 2, 0.0);
        // Likewise.
        let [mut weight, mut moment] = [0.0; 2];
        let out = self.weight[1..].iter_mut().zip(&mut self.moment[1..]);
        for ((out_weight, out_moment), cell) in out.zip(&sums.0) {
            (*out_weight, *out_moment) = (weight + 0.5 * cell[0], moment + 0.5 * cell[1]);
            weight += cell[0];
            moment += cell[1];
        }
        (self.weight[n_cells + 1], self.moment[n_cells + 1]) = (weight, moment);
    }

    fn total(&self) -> [f64; 2] {
        [&self.weight, &self.moment].map(|values| values[values.len() - 1])
    }
}

/// Share of a row in the weight of its class, and share times score.
#[derive(Debug, Clone, Copy)]
struct TrialRow {
    share: f64,
    moment: f64,
}

/// The rows by cells of their score.
#[derive(Debug)]
pub(super) struct TrialGrid {
    /// The cell of each row.
    cells: Vec<u32>,
    rows: Vec<TrialRow>,
    /// Width of a cell.
    width: f64,
    n_cells: usize,
    n_pos: usize,
    /// The sums of each class: the positives, the negatives.
    all: [ClassCellSums; 2],
    /// The statistic of the score itself.
    value: f64,
    /// Whether there are so many rows and cells that an AUC by cells is that by rows.
    pub is_fine: bool,
}

impl TrialGrid {
    /// Lays out a grid over scores; `None` if it would have more cells than half the rows.
    pub fn new(observations: &Observations<'_>, scores: &[f64]) -> Option<Self> {
        let (low, high) = bounds(scores);
        let mut half = MOST_HALF_CELLS;
        let n_cells = |half: usize| (high - low) / HALF_WIDTH * half as f64 + 1.0;
        let most = scores.len() as f64 / 2.0;
        while half > LEAST_HALF_CELLS && n_cells(half) > most / 8.0 {
            half /= 2;
        }
        if n_cells(half) > most {
            return None;
        }
        let (scale, n_cells) = (half as f64 / HALF_WIDTH, n_cells(half) as usize + 1);
        let cells: Vec<u32> = scores.iter().map(|score| ((score - low) * scale) as u32).collect();
        let scored = scores.iter().zip(&observations.shares);
        let rows: Vec<TrialRow> =
            scored.map(|(score, &share)| TrialRow { share, moment: share * score }).collect();
        let n_pos = observations.n_pos;
        let mut all = [ClassCellSums::default(), ClassCellSums::default()];
        for (sums, range) in all.iter_mut().zip([0..n_pos, n_pos..scores.len()]) {
            sums.reset(n_cells);
            for (&cell, &row) in cells[range.clone()].iter().zip(&rows[range]) {
                sums.add(cell, row);
            }
        }
        let width = 1.0 / scale;
        let is_fine = scores.len() >= FINE_ROWS && n_cells >= FINE_CELLS;
        let mut grid = Self { cells, rows, width, n_cells, n_pos, all, value: 0.0, is_fine };
        let mut trial = Trial::default();
        trial.set(&grid, &vec![0; scores.len().div_ceil(64)], 0.0);
        grid.value = trial.at(&grid, 0.0).value;
        Some(grid)
    }

    /// The statistic of the score itself.
    pub fn value(&self) -> f64 {
        self.value
    }
}

/// A term on trial, with its memory.
#[derive(Debug, Default)]
pub(super) struct Trial {
    /// The sums of each class where the term is off, and where it is on.
    sums: [[ClassCellSums; 2]; 2],
    /// The same of the positives, and of the negatives, accumulated.
    positive: [PositiveCells; 2],
    below: [Below; 2],
    pole: f64,
}

/// Sums over pairs of a positive and a negative row whose scores differ by more than `-d`.
#[derive(Debug, Clone, Copy)]
struct Above {
    /// Their weight.
    weight: f64,
    /// Weight times difference of `h`.
    difference: f64,
}

impl Trial {
    /// Sets the term, given a bit for each row where it is on, and the score of its pole.
    pub fn set(&mut self, grid: &TrialGrid, on: &[u64], pole: f64) {
        self.pole = pole;
        let n_on: u32 = on.iter().map(|word| word.count_ones()).sum();
        // The side with fewer rows is summed, the other is the difference.
        let few = usize::from(2 * n_on as usize <= grid.cells.len());
        let flip = if few == 1 { 0 } else { u64::MAX };
        for sums in &mut self.sums {
            sums[few].reset(grid.n_cells);
        }
        let n_rows = grid.cells.len();
        let [pos, neg] = &mut self.sums;
        let (pos, neg) = (&mut pos[few], &mut neg[few]);
        for (number, &word) in on.iter().enumerate() {
            let start = 64 * number;
            let end = n_rows.min(start + 64);
            let (cells, rows) = (&grid.cells[start..end], &grid.rows[start..end]);
            let mut left = (word ^ flip) & (u64::MAX >> (64 - (end - start)));
            while left != 0 {
                let place = left.trailing_zeros() as usize;
                left &= left - 1;
                let sums = if start + place < grid.n_pos { &mut *pos } else { &mut *neg };
                sums.add(cells[place], rows[place]);
            }
        }
        for (class, all) in grid.all.iter().enumerate() {
            let [off, on] = &mut self.sums[class];
            let (many, few) = if few == 1 { (off, on) } else { (on, off) };
            many.become_difference(all, few);
        }
        for side in 0..2 {
            self.positive[side].set(&self.sums[0][side]);
            self.below[side].set(&self.sums[1][side]);
        }
    }

    /// The statistic at an angle, which is not negative and at most [`LAST_ANGLE`].
    pub fn at(&self, grid: &TrialGrid, angle: f64) -> RampOnCircle {
        let (sin, cos) = angle.sin_cos();
        let (mut value, mut slope) = (0.0, 0.0);
        for (pos, PositiveCells { total: total_pos, .. }) in self.positive.iter().enumerate() {
            for (neg, below) in self.below.iter().enumerate() {
                // The score of the term: that of the positive row less that of the negative one.
                let term = self.pole * (pos as f64 - neg as f64);
                let shift = sin * term;
                let above = |d: f64| self.above(pos, below, d / (cos * grid.width));
                let (low, high) = (above(shift + HALF_WIDTH), above(shift - HALF_WIDTH));
                let ([pos, pos_moment], [neg, neg_moment]) = (*total_pos, below.total());
                let difference = pos_moment * neg - pos * neg_moment;
                let all = Above { weight: pos * neg, difference };
                let clipped = cos * (low.difference - high.difference)
                    + (shift + HALF_WIDTH) * low.weight
                    - (shift - HALF_WIDTH) * high.weight
                    - HALF_WIDTH * all.weight;
                let mean = cos * all.difference + shift * all.weight;
                value += (1.0 - SIDE_SLOPE) * clipped + SIDE_SLOPE * mean;
                let speed = |sum: Above| cos * term * sum.weight - sin * sum.difference;
                slope += (1.0 - SIDE_SLOPE) * (speed(low) - speed(high)) + SIDE_SLOPE * speed(all);
            }
        }
        let a = 0.5 / HALF_WIDTH;
        RampOnCircle { value: 0.5 + a * value, slope: a * slope }
    }

    /// The AUC at an angle, likewise.
    pub fn auc(&self, grid: &TrialGrid, angle: f64) -> f64 {
        let shift = angle.tan() * self.pole / grid.width;
        let of_sides = |pos: usize, neg: usize| {
            self.above(pos, &self.below[neg], shift * (pos as f64 - neg as f64)).weight
        };
        of_sides(0, 0) + of_sides(0, 1) + of_sides(1, 0) + of_sides(1, 1)
    }

    /// The pairs whose scores differ by more than `-offset` cells.
    fn above(&self, pos: usize, neg: &Below, offset: f64) -> Above {
        let PositiveCells { weight, moment, .. } = &self.positive[pos];
        let n = weight.len();
        let whole = offset.floor();
        // The cells from `first` to `last` have partners that end within the grid.
        let first = (-1.0 - whole).clamp(0.0, n as f64) as usize;
        let last = (n as f64 - whole).clamp(first as f64, n as f64) as usize;
        let share = offset - whole;
        let mut sums = [[0.0; 2]; 4];
        if first < last {
            let from = (first as f64 + whole + 1.0) as usize;
            let to = from + (last - first);
            let (weight, moment) = (&weight[first..last], &moment[first..last]);
            let (w0, w1) = (&neg.weight[from..to], &neg.weight[from + 1..=to]);
            let (m0, m1) = (&neg.moment[from..to], &neg.moment[from + 1..=to]);
            let pos = weight.chunks(4).zip(moment.chunks(4));
            let below = w0.chunks(4).zip(w1.chunks(4)).zip(m0.chunks(4).zip(m1.chunks(4)));
            for ((weight, moment), ((w0, w1), (m0, m1))) in pos.zip(below) {
                let lanes = sums.iter_mut().zip(weight.iter().zip(moment));
                let below = w0.iter().zip(w1).zip(m0.iter().zip(m1));
                for ((sums, (weight, moment)), ((w0, w1), (m0, m1))) in lanes.zip(below) {
                    let below = w0 + share * (w1 - w0);
                    let below_moment = m0 + share * (m1 - m0);
                    sums[0] += weight * below;
                    sums[1] += moment * below - weight * below_moment;
                }
            }
        }
        // Further cells have all rows as partners.
        let mut rest = [0.0; 2];
        for (weight, moment) in weight[last..].iter().zip(&moment[last..]) {
            rest[0] += weight;
            rest[1] += moment;
        }
        let [all, all_moment] = neg.total();
        let sum = |k: usize| sums.iter().map(|lane| lane[k]).sum::<f64>();
        Above {
            weight: sum(0) + rest[0] * all,
            difference: sum(1) + rest[1] * all - rest[0] * all_moment,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::binary_feature::BinaryTerm;
    use crate::aurora::observations::tests::{ExampleRows, literals, turned};
    use crate::aurora::ramp::ExactRamp;
    use crate::aurora::ramp::GridCircle;
    use crate::data::mix;

    /// Scores spread like those of many terms.
    fn spread(n: usize, width: f64) -> Vec<f64> {
        let draw = |place: u64| (mix(place) % 10_000) as f64 / 10_000.0;
        (0..n as u64).map(|row| width * (draw(2 * row) + draw(2 * row + 1) - 1.0)).collect()
    }

    /// Calls `check` with the results of the trial and of the definition, for some terms and
    /// angles.
    fn compare(n: usize, width: f64, mut check: impl FnMut(RampOnCircle, RampOnCircle)) {
        ExampleRows::new(n, 8).observe(None, |observations| {
            let scores = spread(observations.len(), width);
            let grid = TrialGrid::new(observations, &scores).unwrap();
            let mut exact = ExactRamp::new(observations);
            let start = exact.of(&scores).ramp;
            let all = literals(observations);
            let pair = BinaryTerm::Or(all[3], all[25]);
            for term in all.into_iter().step_by(5).map(BinaryTerm::First).chain([pair]) {
                let on = observations.on(term);
                for pole in [-1.5, 1.5] {
                    let across: Vec<f64> = on.iter().map(|&on| pole * f64::from(on)).collect();
                    let mut trial = Trial::default();
                    trial.set(&grid, &observations.bits_of(term), pole);
                    for angle in [0.0, 0.05, 0.5, 1.2, LAST_ANGLE] {
                        let mut found = trial.at(&grid, angle);
                        found.value -= grid.value();
                        let mut expected = exact.at(GridCircle::new(&scores, &across), angle);
                        expected.value -= start;
                        check(found, expected);
                    }
                }
            }
        });
    }

    #[test]
    fn a_trial_is_the_statistic_of_the_definition() {
        for (n, width) in [(6000, 1.0), (6000, 4.0), (20_000, 2.0)] {
            compare(n, width, |found, expected| {
                assert!((found.value - expected.value).abs() < 1e-4, "{found:?} {expected:?}");
                assert!((found.slope - expected.slope).abs() < 1e-2, "{found:?} {expected:?}");
            });
        }
    }

    #[test]
    fn the_auc_of_a_trial_is_that_of_the_scores() {
        for (n, width) in [(20_000, 4.0), (6_000, 5.0)] {
            ExampleRows::new(n, 11).observe(None, |observations| {
                let scores = spread(observations.len(), width);
                let grid = TrialGrid::new(observations, &scores).unwrap();
                assert!(grid.is_fine);
                let mut exact = ExactRamp::new(observations);
                for term in literals(observations).into_iter().step_by(5).map(BinaryTerm::First) {
                    let on = observations.on(term);
                    for pole in [-4.0, -0.7, 1.5] {
                        let mut trial = Trial::default();
                        trial.set(&grid, &observations.bits_of(term), pole);
                        for angle in [0.0_f64, 0.2, 0.5] {
                            let mixed = turned(&scores, &on, pole, angle);
                            let expected = exact.of(&mixed).auc;
                            let found = trial.auc(&grid, angle);
                            assert!((found - expected).abs() < 1e-4, "{found} {expected}");
                        }
                    }
                }
            });
        }
    }

    #[test]
    fn scores_too_wide_for_a_grid_have_none() {
        ExampleRows::new(2000, 9).observe(None, |observations| {
            assert!(TrialGrid::new(observations, &spread(observations.len(), 500.0)).is_none());
        });
    }

    #[test]
    fn a_term_that_is_on_nowhere_or_everywhere_changes_only_the_scale() {
        ExampleRows::new(3000, 10).observe(None, |observations| {
            let n = observations.len();
            let scores = spread(n, 2.0);
            let grid = TrialGrid::new(observations, &scores).unwrap();
            let mut exact = ExactRamp::new(observations);
            let shrunk: Vec<f64> = scores.iter().map(|score| 0.5_f64.cos() * score).collect();
            let expected = exact.of(&shrunk).ramp - exact.of(&scores).ramp;
            for word in [0, u64::MAX] {
                let mut on = vec![word; n.div_ceil(64)];
                let rest = n % 64;
                if let Some(last) = on.last_mut().filter(|_| rest > 0) {
                    *last &= (1 << rest) - 1;
                }
                let mut trial = Trial::default();
                trial.set(&grid, &on, 1.0);
                let found = trial.at(&grid, 0.5).value - grid.value();
                assert!((found - expected).abs() < 1e-4, "{found} {expected}");
            }
        });
    }
}
