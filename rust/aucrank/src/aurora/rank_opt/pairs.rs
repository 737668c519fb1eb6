//! The mean of a sigmoid over all pairs of a positive and a negative row, and its slopes, in O(n).
//!
//! A pair of scores s and t counts 1 / (1 + exp(t - s)). The sum over all pairs is a sum over pairs
//! of *cells*, intervals of length 1 of the score: with x and y the positions of s and t in their
//! cells, from -1 to 1, the sigmoid is a polynomial in both,
//!
//! ```text
//! sigmoid(k + (x - y) / 2) = sum over p and q of C_k[p][q] T_p(x) T_q(y)
//! ```
//!
//! where k is the distance of the cells and T are Chebyshev polynomials. The sigmoid is analytic up
//! to a distance of pi from the real line, so that 13 terms leave an error of about 1e-14. Cells
//! thus only need the moments of their rows, the sums of `T_p(x)`: rows are read once for the
//! moments and once for the slopes, and pairs of rows are never enumerated. Cells further apart
//! than 37 count 1 or 0, to 1e-16.
//!
//! The paper reaches O(n) by omitting most pairs; here none is omitted (DECISIONS O4).

use crate::parallel::prelude::*;

use super::rows::RankOptRows;
use crate::{Interrupt, RankError};

/// Number of terms of the polynomials.
const N_TERMS: usize = 13;

/// Distance of cells from which the sigmoid is 0 or 1.
const REACH: i64 = 38;

/// Number of interpolation points.
const N_POINTS: usize = 20;

/// Smaller coefficients are dropped.
const SMALLEST: f64 = 1e-17;

/// Rows per task.
const CHUNK_ROWS: usize = 8192;

/// Maximum number of consecutive cells, some of which may be empty. If scores spread further, only
/// the occupied cells are listed.
const MOST_CELLS: i64 = 512;

type PairTermSums = [f64; N_TERMS];

/// 1 / (1 + exp(-x)), without overflow or loss of digits at either end.
fn sigmoid(x: f64) -> f64 {
    0.5 * (1.0 + (0.5 * x).tanh())
}

/// The polynomials by the distance of the cells, starting at `-REACH`.
#[derive(Debug)]
pub(super) struct Sigmoid {
    of_distance: Vec<Coefficients>,
}

#[derive(Debug)]
struct Coefficients {
    /// Coefficients by term of the positive row, then of the negative one.
    terms: [PairTermSums; N_TERMS],
    /// Number of terms of the negative row for each term of the positive one.
    n_terms: [usize; N_TERMS],
}

impl Sigmoid {
    pub(super) fn new() -> Self {
        Self { of_distance: (-REACH..=REACH).map(Coefficients::of).collect() }
    }

    /// Mean over all pairs, and its derivative with respect to the score of each row.
    pub(super) fn gradient(
        &self,
        rows: &RankOptRows,
        scores: &[f64],
        slopes: &mut [f64],
        interrupt: &Interrupt,
    ) -> Result<f64, RankError> {
        let moments = PairMoments::of(rows, scores, interrupt)?;
        let of_positive = self.of_positive(&moments);
        let of_negative = self.of_negative(&moments);
        let value = moments.value(&of_positive);
        let derivatives = [of_negative, of_positive].map(|polynomials| -> Vec<PairTermSums> {
            polynomials.iter().map(derivative).collect()
        });
        let chunks = slopes.par_chunks_mut(CHUNK_ROWS).enumerate();
        chunks.try_for_each(|(chunk, slopes)| {
            interrupt.check()?;
            for (place, slope) in slopes.iter_mut().enumerate() {
                let row = chunk * CHUNK_ROWS + place;
                let (cell, x) = moments.cells.place(scores[row]);
                let terms = &derivatives[usize::from(row >= rows.n_neg())][cell];
                *slope = rows.shares()[row] * at(terms, x);
            }
            Ok(())
        })?;
        Ok(value)
    }

    /// For each cell the mean of the sigmoid over the negative rows, as a polynomial in the score
    /// of a positive row.
    fn of_positive(&self, moments: &PairMoments) -> Vec<PairTermSums> {
        let (cells, negative) = (&moments.cells.ids, &moments.of_class[0]);
        let of_cell = |cell: usize| {
            // Distances decrease along the other cells.
            let first = cells.partition_point(|&other| cells[cell] - other > REACH);
            let mut sum = [0.0; N_TERMS];
            sum[0] = negative[..first].iter().map(|terms| terms[0]).sum();
            for (&other, moments) in cells[first..].iter().zip(&negative[first..]) {
                let distance = cells[cell] - other;
                if distance < -REACH {
                    break;
                }
                if moments[0] == 0.0 {
                    continue;
                }
                let polynomial = &self.of_distance[(distance + REACH) as usize];
                for (p, sum) in sum.iter_mut().enumerate() {
                    let n_terms = polynomial.n_terms[p];
                    let products = polynomial.terms[p][..n_terms].iter().zip(moments);
                    *sum += products.map(|(c, m)| c * m).sum::<f64>();
                }
            }
            sum
        };
        moments.for_cells(1, of_cell)
    }

    /// For each cell the mean over the positive rows, as a polynomial in the score of a negative
    /// row.
    fn of_negative(&self, moments: &PairMoments) -> Vec<PairTermSums> {
        let (cells, positive) = (&moments.cells.ids, &moments.of_class[1]);
        let of_cell = |cell: usize| {
            let end = cells.partition_point(|&other| other - cells[cell] <= REACH);
            let mut sum = [0.0; N_TERMS];
            sum[0] = positive[end..].iter().map(|terms| terms[0]).sum();
            for (&other, moments) in cells[..end].iter().zip(&positive[..end]).rev() {
                let distance = other - cells[cell];
                if distance < -REACH {
                    break;
                }
                if moments[0] == 0.0 {
                    continue;
                }
                let polynomial = &self.of_distance[(distance + REACH) as usize];
                for (p, &moment) in moments.iter().enumerate() {
                    let n_terms = polynomial.n_terms[p];
                    for (sum, c) in sum.iter_mut().zip(&polynomial.terms[p][..n_terms]) {
                        *sum += c * moment;
                    }
                }
            }
            sum
        };
        moments.for_cells(0, of_cell)
    }
}

impl Coefficients {
    /// Interpolation at the Chebyshev points of both cells.
    fn of(distance: i64) -> Self {
        let angle = |point: usize| std::f64::consts::PI * (point as f64 + 0.5) / N_POINTS as f64;
        let points: [f64; N_POINTS] = std::array::from_fn(|point| angle(point).cos());
        let transform = |values: [f64; N_POINTS]| -> PairTermSums {
            std::array::from_fn(|p| {
                let wave = |(point, value)| value * (p as f64 * angle(point)).cos();
                let sum: f64 = values.into_iter().enumerate().map(wave).sum();
                sum * if p == 0 { 1.0 } else { 2.0 } / N_POINTS as f64
            })
        };
        let by_point =
            points.map(|x| transform(points.map(|y| sigmoid(distance as f64 + 0.5 * (x - y)))));
        let mut terms = [[0.0; N_TERMS]; N_TERMS];
        for q in 0..N_TERMS {
            for (p, coefficient) in transform(by_point.map(|of_y| of_y[q])).into_iter().enumerate()
            {
                terms[p][q] = coefficient;
            }
        }
        let n_terms = terms.map(|terms| {
            terms.iter().rposition(|term| term.abs() > SMALLEST).map_or(0, |last| last + 1)
        });
        Self { terms, n_terms }
    }
}

/// The coefficients of the derivative of a polynomial in the score; a cell has length 1.
fn derivative(terms: &PairTermSums) -> PairTermSums {
    let mut slopes = [0.0; N_TERMS];
    for p in (1..N_TERMS).rev() {
        let above = slopes.get(p + 1).copied().unwrap_or(0.0);
        slopes[p - 1] = above + 2.0 * p as f64 * terms[p];
    }
    slopes[0] *= 0.5;
    // The position in a cell runs over two units.
    slopes.map(|slope| 2.0 * slope)
}

/// Value of a polynomial (Clenshaw, 1955).
#[inline]
fn at(terms: &PairTermSums, x: f64) -> f64 {
    let (mut next, mut after) = (0.0, 0.0);
    for &term in terms[1..].iter().rev() {
        (next, after) = (2.0 * x * next - after + term, next);
    }
    x * next - after + terms[0]
}

/// The cells that scores fall into.
#[derive(Debug)]
struct ScoreCells {
    /// The integer at which each starts, ascending.
    ids: Vec<i64>,
    /// Whether the cells are consecutive.
    side_by_side: bool,
}

impl ScoreCells {
    fn of(scores: &[f64]) -> Self {
        let id = |score: &f64| score.floor() as i64;
        let ends = |scores: &[f64]| {
            let ends = (i64::MAX, i64::MIN);
            scores.iter().map(id).fold(ends, |(low, high), id| (low.min(id), high.max(id)))
        };
        let (low, high) = scores
            .par_chunks(CHUNK_ROWS)
            .map(ends)
            .reduce(|| (i64::MAX, i64::MIN), |a, b| (a.0.min(b.0), a.1.max(b.1)));
        if high - low < MOST_CELLS {
            return Self { ids: (low..=high).collect(), side_by_side: true };
        }
        let mut ids: Vec<i64> = scores.par_iter().map(id).collect();
        ids.par_sort_unstable();
        ids.dedup();
        Self { ids, side_by_side: false }
    }

    /// The cell of a score, and its position there, from -1 to 1.
    #[inline]
    fn place(&self, score: f64) -> (usize, f64) {
        let start = score.floor();
        let id = start as i64;
        let cell = if self.side_by_side {
            (id - self.ids[0]) as usize
        } else {
            self.ids.partition_point(|&other| other < id)
        };
        (cell, 2.0 * (score - start) - 1.0)
    }
}

/// Sums over the rows of each cell.
#[derive(Debug)]
struct PairMoments {
    cells: ScoreCells,
    /// For each class, negatives first, and each cell the sums of the terms of its rows.
    of_class: [Vec<PairTermSums>; 2],
}

impl PairMoments {
    fn of(rows: &RankOptRows, scores: &[f64], interrupt: &Interrupt) -> Result<Self, RankError> {
        let cells = ScoreCells::of(scores);
        let n_cells = cells.ids.len();
        let chunks = scores.par_chunks(CHUNK_ROWS).zip(rows.shares().par_chunks(CHUNK_ROWS));
        let parts = chunks.enumerate().map(|(chunk, (scores, shares))| {
            interrupt.check()?;
            let mut of_class = [const { Vec::new() }; 2].map(|_: Vec<PairTermSums>| Vec::new());
            let n_neg = rows.n_neg().saturating_sub(chunk * CHUNK_ROWS).min(scores.len());
            for (class, range) in [(0, 0..n_neg), (1, n_neg..scores.len())] {
                if range.is_empty() {
                    continue;
                }
                let moments = &mut of_class[class];
                moments.resize(n_cells, [0.0; N_TERMS]);
                for (&score, &share) in scores[range.clone()].iter().zip(&shares[range]) {
                    let (cell, x) = cells.place(score);
                    add_terms(&mut moments[cell], x, share);
                }
            }
            Ok(of_class)
        });
        let parts: Vec<[Vec<PairTermSums>; 2]> = parts.collect::<Result<_, RankError>>()?;
        let mut of_class = [vec![[0.0; N_TERMS]; n_cells], vec![[0.0; N_TERMS]; n_cells]];
        for part in parts {
            for (sums, part) in of_class.iter_mut().zip(part) {
                for (sum, part) in sums.as_flattened_mut().iter_mut().zip(part.as_flattened()) {
                    *sum += part;
                }
            }
        }
        Ok(Self { cells, of_class })
    }

    /// The result for each cell with rows of a class, and zeros for the others.
    fn for_cells(
        &self,
        class: usize,
        of_cell: impl Fn(usize) -> PairTermSums + Sync,
    ) -> Vec<PairTermSums> {
        let of_cell = |cell: usize| {
            let is_empty = self.of_class[class][cell][0] == 0.0;
            if is_empty { [0.0; N_TERMS] } else { of_cell(cell) }
        };
        (0..self.cells.ids.len()).into_par_iter().with_min_len(16).map(of_cell).collect()
    }

    /// Mean over the pairs, from that over the negative rows.
    fn value(&self, of_positive: &[PairTermSums]) -> f64 {
        let products = of_positive.as_flattened().iter().zip(self.of_class[1].as_flattened());
        products.map(|(c, m)| c * m).sum()
    }
}

/// Adds a share of each Chebyshev polynomial at a position.
#[inline]
fn add_terms(sums: &mut PairTermSums, x: f64, share: f64) {
    let (mut before, mut term) = (share, share * x);
    sums[0] += before;
    sums[1] += term;
    for sum in &mut sums[2..] {
        (before, term) = (term, 2.0 * x * term - before);
        *sum += term;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn uniform(seed: u64) -> f64 {
        (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn by_definition(rows: &RankOptRows, scores: &[f64]) -> (f64, Vec<f64>) {
        let (mut value, mut slopes) = (0.0, vec![0.0; scores.len()]);
        for j in rows.n_neg()..scores.len() {
            for k in 0..rows.n_neg() {
                let share = rows.shares()[j] * rows.shares()[k];
                let chance = 1.0 / (1.0 + (scores[k] - scores[j]).exp());
                let slope = share / (2.0 + 2.0 * (scores[j] - scores[k]).cosh());
                value += share * chance;
                slopes[j] += slope;
                slopes[k] -= slope;
            }
        }
        (value, slopes)
    }

    #[test]
    fn the_sums_are_those_of_all_pairs() {
        let sigmoid = Sigmoid::new();
        let interrupt = Interrupt::default();
        // Narrow, as wide as the reach of the sigmoid, far apart, and with a few outliers.
        for (spread, far) in [(0.3, 0.0), (3.0, 0.0), (60.0, 0.0), (4000.0, 0.0), (5.0, 1e7)] {
            let n = 700;
            let positive: Vec<bool> = (0..n).map(|i| uniform(i) < 0.3).collect();
            let weights: Vec<f64> = (0..n).map(|i| (mix(i + 99) % 3) as f64 + 0.5).collect();
            let rows = RankOptRows::of_weights(&positive, &weights);
            let score = |i: u64| {
                let outlier = if i.is_multiple_of(97) { far } else { 0.0 };
                spread * (uniform(i + 7000) - 0.5) - 3.0 + outlier
            };
            let mut scores: Vec<f64> = (0..n).map(score).collect();
            scores[3] = 2.0;
            scores[4] = 2.0;
            let mut slopes = vec![f64::NAN; scores.len()];
            let value = sigmoid.gradient(&rows, &scores, &mut slopes, &interrupt).unwrap();
            let (expected, by_pair) = by_definition(&rows, &scores);
            assert!((value - expected).abs() < 1e-12, "{spread}: {value} {expected}");
            for (row, (found, expected)) in slopes.iter().zip(&by_pair).enumerate() {
                let error = (found - expected).abs() / rows.shares()[row];
                assert!(error < 1e-10, "{spread}, row {row}: {found} {expected}");
            }
        }
    }

    #[test]
    fn scores_far_apart_neither_overflow_nor_pull() {
        let rows = RankOptRows::of_weights(&[false, false, true, true], &[1.0; 4]);
        let sigmoid = Sigmoid::new();
        let mut slopes = vec![f64::NAN; 4];
        let scores = [-1e12, 0.0, 1e9, 1e12];
        let value = sigmoid.gradient(&rows, &scores, &mut slopes, &Interrupt::default());
        assert_eq!((value, &slopes[..]), (Ok(1.0), &[0.0; 4][..]));
    }
}
