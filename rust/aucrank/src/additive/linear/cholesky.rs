//! Cholesky factors of symmetric positive definite matrices.

/// Number of partial sums of a dot product.
const LANES: usize = 8;

/// What remains of a diagonal entry at least: rounding may cancel the rest.
const LEAST_PIVOT: f64 = 1e-13;

/// The factor `L` of `A = L L'`, by the rows of its lower triangle.
#[derive(Debug)]
pub(super) struct Cholesky(Vec<Vec<f64>>);

impl Cholesky {
    /// Factorises a matrix, given by the rows of its lower triangle, whose diagonal is positive.
    pub(super) fn of(mut lower: Vec<Vec<f64>>) -> Self {
        for j in 0..lower.len() {
            let (above, rest) = lower.split_at_mut(j);
            let row = &mut rest[0];
            for (k, of_k) in above.iter().enumerate() {
                row[k] = (row[k] - dot(&row[..k], &of_k[..k])) / of_k[k];
            }
            let least = LEAST_PIVOT * row[j];
            row[j] = (row[j] - dot(&row[..j], &row[..j])).max(least).sqrt();
        }
        Self(lower)
    }

    /// Solves `A x = b` in place.
    pub(super) fn solve(&self, b: &mut [f64]) {
        let Self(lower) = self;
        for (j, row) in lower.iter().enumerate() {
            b[j] = (b[j] - dot(&row[..j], &b[..j])) / row[j];
        }
        for (j, row) in lower.iter().enumerate().rev() {
            b[j] /= row[j];
            let found = b[j];
            b[..j].iter_mut().zip(row).for_each(|(b, entry)| *b -= found * entry);
        }
    }
}

/// Dot product, summed in an order that depends on the length only.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a, b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f64 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    #[test]
    fn the_solution_solves_the_equations() {
        for size in [0, 1, 2, 9, 40] {
            let draw = |i: u64| (mix(i) >> 11) as f64 / 2_f64.powi(53) - 0.5;
            let factor: Vec<Vec<f64>> =
                (0..size).map(|i| (0..size).map(|j| draw(i * 97 + j)).collect()).collect();
            let entry = |i: usize, j: usize| {
                let product: f64 = factor[i].iter().zip(&factor[j]).map(|(a, b)| a * b).sum();
                product + if i == j { 0.1 } else { 0.0 }
            };
            let size = size as usize;
            let lower = (0..size).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
            let b: Vec<f64> = (0..size as u64).map(|i| draw(i + 5000)).collect();
            let mut x = b.clone();
            Cholesky::of(lower).solve(&mut x);
            for (i, expected) in b.into_iter().enumerate() {
                let found: f64 = (0..size).map(|j| entry(i, j) * x[j]).sum();
                assert!((found - expected).abs() < 1e-10, "{found} {expected}");
            }
        }
    }
}
