//! Logistic regression on few columns, with the covariance of its coefficients.

use crate::data::logistic;

/// Most columns of a design.
pub(super) const MOST_COLUMNS: usize = 5;

pub(super) type Vector = [f64; MOST_COLUMNS];
type Matrix = [Vector; MOST_COLUMNS];

/// For Newton's method. The remaining distance is about the square of the last step.
const MOST_STEPS: usize = 50;
const CONVERGED: f64 = 1e-12;

/// Mean log loss below which the fit is perfect.
const SEPARATED: f64 = 1e-9;

/// Information on the intercept below which all rows are certain, even of the wrong class.
const FLAT: f64 = 1e-7;

/// Share of a column that the other ones leave, below which it is a combination of them.
const COLLINEAR: f64 = 1e-14;

/// The rows of a regression: the first column is constant.
pub(super) struct RegressionRows<'a> {
    pub n_columns: usize,
    /// The columns of a row; those beyond their number are 0.
    pub columns: &'a dyn Fn(usize) -> Vector,
    /// What is added to the log-odds of a row.
    pub offset: &'a dyn Fn(usize) -> f64,
    pub positive: &'a [bool],
}

/// A fitted regression.
pub(super) struct Regression {
    pub coefficients: Vector,
    /// Valid even if the regression is misspecified ("sandwich").
    pub covariance: Matrix,
    n_columns: usize,
}

impl Regression {
    /// Fits it by Newton's method; `None` if it has no maximum, or more than one.
    pub fn fit(design: &RegressionRows<'_>, start: Vector) -> Option<Self> {
        let (k, n) = (design.n_columns, design.positive.len() as f64);
        let mut coefficients = start;
        let mut loss = design.loss(&coefficients);
        for _ in 0..MOST_STEPS {
            let (gradient, information) = design.derivatives(&coefficients);
            if loss < SEPARATED || information[0][0] < FLAT {
                return None;
            }
            let factor = cholesky(&information, k)?;
            let mut step = solve(&factor, gradient, k);
            let fall = dot(&gradient, &step);
            let mut tried = added(&coefficients, &step);
            let mut further = design.loss(&tried);
            // A step that overshoots is halved.
            for _ in 1..MOST_STEPS {
                if further <= loss + CONVERGED {
                    break;
                }
                step = step.map(|part| 0.5 * part);
                tried = added(&coefficients, &step);
                further = design.loss(&tried);
            }
            (coefficients, loss) = (tried, further);
            if fall < CONVERGED {
                let (_, information) = design.derivatives(&coefficients);
                let factor = cholesky(&information, k)?;
                let inner = design.squares(&coefficients);
                // The inverse on both sides: columns, then rows, of a symmetric matrix.
                let half = transposed(&inner.map(|row| solve(&factor, row, k)));
                let covariance = over(half.map(|row| solve(&factor, row, k)), n - 1.0);
                return Some(Self { coefficients, covariance, n_columns: k });
            }
        }
        None
    }

    /// Log-odds at some columns, with their standard error.
    pub fn at(&self, columns: &Vector) -> (f64, f64) {
        let variance = dot(columns, &self.covariance.map(|row| dot(&row, columns)));
        (dot(&self.coefficients, columns), variance.max(0.0).sqrt())
    }

    /// The last coefficient, with its standard error.
    pub fn last(&self) -> (f64, f64) {
        let last = self.n_columns - 1;
        (self.coefficients[last], self.covariance[last][last].max(0.0).sqrt())
    }
}

impl RegressionRows<'_> {
    fn log_odds(&self, row: usize, columns: &Vector, coefficients: &Vector) -> f64 {
        (self.offset)(row) + dot(columns, coefficients)
    }

    /// Mean log loss.
    fn loss(&self, coefficients: &Vector) -> f64 {
        let of_row = |(row, &positive): (usize, &bool)| {
            let score = self.log_odds(row, &(self.columns)(row), coefficients);
            let wrong = if positive { -score } else { score };
            wrong.max(0.0) + libm::log1p(libm::exp(-wrong.abs()))
        };
        let sum: f64 = self.positive.iter().enumerate().map(of_row).sum();
        sum / self.positive.len() as f64
    }

    /// The gradient of the mean log likelihood, and its information.
    fn derivatives(&self, coefficients: &Vector) -> (Vector, Matrix) {
        let (mut gradient, mut information) = (Vector::default(), Matrix::default());
        for (row, &positive) in self.positive.iter().enumerate() {
            let columns = (self.columns)(row);
            let fitted = logistic(self.log_odds(row, &columns, coefficients));
            let residual = f64::from(u8::from(positive)) - fitted;
            for (sum, column) in gradient.iter_mut().zip(columns) {
                *sum += residual * column;
            }
            self.add_products(&mut information, &columns, fitted * (1.0 - fitted));
        }
        let n = self.positive.len() as f64;
        (gradient.map(|sum| sum / n), over(information, n))
    }

    /// Mean of the products of the gradients of rows.
    fn squares(&self, coefficients: &Vector) -> Matrix {
        let mut squares = Matrix::default();
        for (row, &positive) in self.positive.iter().enumerate() {
            let columns = (self.columns)(row);
            let fitted = logistic(self.log_odds(row, &columns, coefficients));
            let residual = f64::from(u8::from(positive)) - fitted;
            self.add_products(&mut squares, &columns, residual * residual);
        }
        let n = self.positive.len() as f64;
        over(squares, n)
    }

    fn add_products(&self, sums: &mut Matrix, columns: &Vector, factor: f64) {
        for a in 0..self.n_columns {
            for b in 0..self.n_columns {
                sums[a][b] += factor * columns[a] * columns[b];
            }
        }
    }
}

fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn added(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|i| a[i] + b[i])
}

fn over(matrix: Matrix, divisor: f64) -> Matrix {
    matrix.map(|row| row.map(|value| value / divisor))
}

fn transposed(matrix: &Matrix) -> Matrix {
    std::array::from_fn(|i| matrix.map(|row| row[i]))
}

/// The lower triangle whose product with itself transposed is the first `k` rows and columns of a
/// matrix; `None` if one of them is a combination of the others.
fn cholesky(matrix: &Matrix, k: usize) -> Option<Matrix> {
    let mut lower = Matrix::default();
    for i in 0..k {
        for j in 0..=i {
            let known: f64 = (0..j).map(|m| lower[i][m] * lower[j][m]).sum();
            let rest = matrix[i][j] - known;
            if i != j {
                lower[i][j] = rest / lower[j][j];
            } else if rest > COLLINEAR * matrix[i][i] {
                lower[i][i] = rest.sqrt();
            } else {
                return None;
            }
        }
    }
    Some(lower)
}

/// Solves for one right-hand side, given the lower triangle.
fn solve(lower: &Matrix, mut side: Vector, k: usize) -> Vector {
    for i in 0..k {
        let known: f64 = (0..i).map(|j| lower[i][j] * side[j]).sum();
        side[i] = (side[i] - known) / lower[i][i];
    }
    for i in (0..k).rev() {
        let known: f64 = (i + 1..k).map(|j| lower[j][i] * side[j]).sum();
        side[i] = (side[i] - known) / lower[i][i];
    }
    side
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(x: &[f64], positive: &[bool]) -> Option<Regression> {
        let columns = |row: usize| [1.0, x[row], 0.0, 0.0, 0.0];
        let design = RegressionRows { n_columns: 2, columns: &columns, offset: &|_| 0.0, positive };
        Regression::fit(&design, Vector::default())
    }

    #[test]
    fn two_values_have_the_log_odds_of_their_shares() {
        // Of 4 rows at 0, 1 is positive; of 6 at 2, 4 are.
        let x: Vec<f64> = (0..10).map(|row| if row < 4 { 0.0 } else { 2.0 }).collect();
        let positive: Vec<bool> = (0..10).map(|row| row == 0 || row > 5).collect();
        let found = line(&x, &positive).unwrap();
        let (low, high) = ((1.0_f64 / 3.0).ln(), 2.0_f64.ln());
        assert!((found.coefficients[0] - low).abs() < 1e-9);
        assert!((found.coefficients[1] - (high - low) / 2.0).abs() < 1e-9);
        // At 0, the variance of the log-odds of a share is 1 / (n p (1 - p)), times n / (n - 1) of
        // all rows.
        let expected = 1.0 / (4.0 * 0.25 * 0.75) * 10.0 / 9.0;
        assert!((found.covariance[0][0] - expected).abs() < 1e-8, "{:?}", found.covariance);
        let (middle, error) = found.at(&[1.0, 2.0, 0.0, 0.0, 0.0]);
        let expected = 1.0 / (6.0 * 2.0 / 9.0) * 10.0 / 9.0;
        assert!((middle - high).abs() < 1e-9 && (error * error - expected).abs() < 1e-8);
    }

    #[test]
    fn separated_classes_and_equal_columns_have_no_line() {
        let positive = [false, false, true, true];
        assert!(line(&[1.0, 2.0, 3.0, 4.0], &positive).is_none());
        assert!(line(&[0.3; 4], &positive).is_none());
        assert!(line(&[1.0, 3.0, 2.0, 4.0], &positive).is_some());
    }
}
