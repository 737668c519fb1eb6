//! Calibration: of rows with a probability of 20 %, one in five is positive.

use super::regression::{MOST_COLUMNS, Regression, RegressionRows, Vector};
use super::student::{NORMAL, quantile_above};
use super::{check_confidence, check_probabilities};
use crate::RankError;
use crate::data::{ClassSums, Pool, logistic, rising_pools};

/// Probabilities are clipped this far from 0 and 1 before log-odds are taken.
const NEAREST: f64 = 1e-8;

/// Quantiles of the log-odds at the knots of the smooth curve (Harrell, "Regression modeling
/// strategies", 2nd edition, 2015, section 2.4.6).
const KNOTS: [f64; MOST_COLUMNS] = [0.05, 0.275, 0.5, 0.725, 0.95];

const N_POINTS: usize = 101;

/// A figure with its confidence interval; NaN where it is undefined.
///
/// For an example see [`calibration`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A step of the isotonic regression of the labels on the probability.
///
/// For an example see [`calibration`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IsotonicStep {
    /// Lowest probability.
    pub low: f64,
    /// Highest probability.
    pub high: f64,
    /// Number of rows.
    pub size: u64,
    /// Share of positive rows.
    pub observed: f64,
}

/// A point of the smooth curve.
///
/// For an example see [`calibration`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothPoint {
    /// Where it is.
    pub probability: f64,
    /// Share of positive rows there, with a pointwise interval.
    pub observed: Estimate,
}

/// How far probabilities agree with labels.
///
/// For an example see [`calibration`].
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationMeasures {
    /// Calibration in the large: what must be added to the log-odds to make expected and observed
    /// positives equal.
    pub intercept: Estimate,
    /// Factor of the log-odds in a recalibration with an intercept; below 1, probabilities are too
    /// extreme.
    pub slope: Estimate,
    /// Observed positives divided by the sum of the probabilities.
    pub observed_to_expected: Estimate,
    /// Mean squared error: `miscalibration - discrimination + uncertainty`.
    pub brier: Estimate,
    /// Reduction of the Brier score if isotonic regression recalibrated the probabilities.
    pub miscalibration: f64,
    /// Brier score of the share of positives less that of the recalibrated probabilities.
    pub discrimination: f64,
    /// Brier score of the share of positives as the probability of every row.
    pub uncertainty: f64,
    /// Integrated calibration index: mean distance of a probability from the smooth curve.
    pub ici: f64,
    /// Median, 90 % quantile and maximum of that distance.
    pub distances: [f64; 3],
    /// The smooth curve, in steps over the range of the probabilities; empty if it is undefined.
    pub curve: Vec<SmoothPoint>,
    /// The isotonic regression, in order of the probability.
    pub isotonic: Vec<IsotonicStep>,
}

/// Compares probabilities with labels.
///
/// The intercept is that of a logistic regression with the log-odds of the probabilities as offset,
/// the slope that of one on them (Cox, 1958, doi:10.2307/2333203). The smooth curve is a logistic
/// regression on their restricted cubic spline. Intervals are normal, with the variance of the
/// influence of each row.
///
/// # Errors
///
/// [`RankError`] if a probability is not from 0 to 1, lengths differ, a class is absent, or the
/// level of confidence is not in (0, 1).
///
/// # Examples
///
/// ```
/// use aucrank::measures::calibration;
///
/// // One in four of the rows with 1/5 is positive, and two in three of those with 3/4.
/// let probabilities = [0.2, 0.2, 0.2, 0.2, 0.75, 0.75, 0.75];
/// let positive = [false, false, false, true, false, true, true];
/// let found = calibration(&probabilities, &positive, 0.95)?;
/// assert_eq!((found.isotonic[0].size, found.isotonic[0].observed), (4, 0.25));
/// assert!((found.observed_to_expected.value - 3.0 / 3.05).abs() < 1e-12);
/// // Less spread than the log-odds of 1/5 and 3/4, which are ln 12 apart.
/// assert!((found.slope.value - 6.0_f64.ln() / 12.0_f64.ln()).abs() < 1e-9);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn calibration(
    probabilities: &[f64],
    positive: &[bool],
    confidence: f64,
) -> Result<CalibrationMeasures, RankError> {
    check_confidence(confidence)?;
    let [_, n_pos] = check_probabilities(probabilities, positive)?;
    let z = quantile_above(0.5 * (1.0 - confidence), NORMAL);
    let n = positive.len() as f64;
    let rate = n_pos as f64 / n;
    let labels = || positive.iter().map(|&positive| f64::from(u8::from(positive)));
    let rows = || probabilities.iter().copied().zip(labels());

    let brier = rows().map(|(p, y)| (p - y).powi(2)).sum::<f64>() / n;
    let expected = probabilities.iter().sum::<f64>() / n;
    // Standard error of a mean, from the squares of the influences of the rows.
    let error = |squares: f64| (squares / (n - 1.0) / n).sqrt();
    let of_brier = error(rows().map(|(p, y)| ((p - y).powi(2) - brier).powi(2)).sum());
    let of_ratio = error(rows().map(|(p, y)| (y / rate - p / expected).powi(2)).sum());
    let ratio = rate / expected;
    let isotonic = isotonic(probabilities, positive);
    let of_step = |step: &IsotonicStep| step.size as f64 * step.observed * (1.0 - step.observed);
    let of_isotonic = isotonic.iter().map(of_step).sum::<f64>() / n;
    let uncertainty = rate * (1.0 - rate);

    let log_odds: Vec<f64> = probabilities.iter().map(|&p| to_log_odds(p)).collect();
    let in_large = Regression::fit(
        &RegressionRows {
            n_columns: 1,
            columns: &|_| [1.0, 0.0, 0.0, 0.0, 0.0],
            offset: &|row| log_odds[row],
            positive,
        },
        Vector::default(),
    );
    let on_columns = |n_columns: usize, columns: &dyn Fn(usize) -> Vector, start: Vector| {
        Regression::fit(&RegressionRows { n_columns, columns, offset: &|_| 0.0, positive }, start)
    };
    let line = on_columns(2, &|row| [1.0, log_odds[row], 0.0, 0.0, 0.0], Vector::default());
    let smooth = line.as_ref().and_then(|line| {
        let spline = Spline::of(&log_odds);
        let columns = |row: usize| spline.columns(log_odds[row]);
        let curve = on_columns(spline.n_columns(), &columns, line.coefficients)?;
        Some((spline, curve))
    });

    let (mut ici, mut distances, mut curve) = (f64::NAN, [f64::NAN; 3], Vec::new());
    if let Some((spline, fitted)) = &smooth {
        let distance =
            |(&x, &p): (&f64, &f64)| (logistic(fitted.at(&spline.columns(x)).0) - p).abs();
        let mut all: Vec<f64> = log_odds.iter().zip(probabilities).map(distance).collect();
        ici = all.iter().sum::<f64>() / n;
        all.sort_by(f64::total_cmp);
        distances = [0.5, 0.9, 1.0].map(|share| quantile(&all, share));
        let range = probabilities
            .iter()
            .fold((1.0_f64, 0.0_f64), |(low, high), &p| (low.min(p), high.max(p)));
        curve = smooth_curve(spline, fitted, range, z);
    }
    let about = |regression: Option<&Regression>| {
        let (value, error) = regression.map_or((f64::NAN, f64::NAN), Regression::last);
        Estimate { value, low: value - z * error, high: value + z * error }
    };
    Ok(CalibrationMeasures {
        intercept: about(in_large.as_ref()),
        slope: about(line.as_ref()),
        observed_to_expected: Estimate {
            value: ratio,
            low: ratio * (-z * of_ratio).exp(),
            high: ratio * (z * of_ratio).exp(),
        },
        brier: Estimate { value: brier, low: brier - z * of_brier, high: brier + z * of_brier },
        miscalibration: brier - of_isotonic,
        discrimination: uncertainty - of_isotonic,
        uncertainty,
        ici,
        distances,
        curve,
        isotonic,
    })
}

fn to_log_odds(probability: f64) -> f64 {
    let clipped = probability.clamp(NEAREST, 1.0 - NEAREST);
    libm::log(clipped / (1.0 - clipped))
}

fn isotonic(probabilities: &[f64], positive: &[bool]) -> Vec<IsotonicStep> {
    // Adding 0 makes a negative zero a positive one, which it ties with.
    let row = |(&p, &positive): (&f64, &bool)| (p + 0.0, ClassSums::of_row(positive, 1, 1));
    let mut rows: Vec<(f64, ClassSums)> = probabilities.iter().zip(positive).map(row).collect();
    let step = |pool: &Pool| IsotonicStep {
        low: pool.low,
        high: pool.high,
        size: pool.sums.rows,
        observed: pool.sums.eta(),
    };
    rising_pools(&mut rows).iter().map(step).collect()
}

/// The least of sorted values that at least a share of them do not exceed.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    // A share that is reached up to rounding is reached.
    let wanted = share * sorted.len() as f64 * (1.0 - 4.0 * f64::EPSILON);
    sorted[(wanted.ceil() as usize).max(1) - 1]
}

/// A restricted cubic spline, linear beyond its outer knots.
struct Spline {
    /// Distinct, ascending.
    knots: Vec<f64>,
}

impl Spline {
    fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let mut knots = KNOTS.map(|share| quantile(&sorted, share)).to_vec();
        knots.dedup();
        Self { knots }
    }

    fn n_columns(&self) -> usize {
        self.knots.len().max(2)
    }

    /// 1, `x`, and a column for each knot but two.
    fn columns(&self, x: f64) -> Vector {
        let mut columns = [1.0, x, 0.0, 0.0, 0.0];
        if let [inner @ .., before, last] = &self.knots[..]
            && let Some(first) = inner.first()
        {
            let cube = |knot: f64| (x - knot).max(0.0).powi(3);
            let scale = (last - first).powi(2);
            for (column, &knot) in columns[2..].iter_mut().zip(inner) {
                let towards_last = (last - knot) / (last - before) * cube(*before);
                let towards_before = (before - knot) / (last - before) * cube(*last);
                *column = (cube(knot) - towards_last + towards_before) / scale;
            }
        }
        columns
    }
}

fn smooth_curve(
    spline: &Spline,
    fitted: &Regression,
    (low, high): (f64, f64),
    z: f64,
) -> Vec<SmoothPoint> {
    let at = |point: usize| {
        let probability = low + (high - low) * (point as f64 / (N_POINTS - 1) as f64);
        let (middle, error) = fitted.at(&spline.columns(to_log_odds(probability)));
        let [value, low, high] = [0.0, -z, z].map(|side| logistic(middle + side * error));
        SmoothPoint { probability, observed: Estimate { value, low, high } }
    };
    (0..N_POINTS).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn sample(n: u64) -> (Vec<f64>, Vec<bool>) {
        let uniform = |seed: u64| (mix(seed) >> 11) as f64 / (1_u64 << 53) as f64;
        let rows = (0..n).map(|row| {
            let log_odds = 6.0 * uniform(2 * row) - 4.0;
            (logistic(log_odds), uniform(2 * row + 1) < logistic(0.7 * log_odds + 0.4))
        });
        rows.unzip()
    }

    #[test]
    fn the_line_makes_residuals_orthogonal_to_its_columns() {
        let (probabilities, positive) = sample(2000);
        let found = calibration(&probabilities, &positive, 0.95).unwrap();
        let sum: f64 = probabilities
            .iter()
            .zip(&positive)
            .map(|(&p, &y)| {
                f64::from(u8::from(y)) - logistic(to_log_odds(p) + found.intercept.value)
            })
            .sum();
        assert!(sum.abs() < 1e-6, "{sum}");
        // The probabilities are too extreme by a factor of 0.7; a half-width is about two errors.
        let Estimate { value, low, high } = found.slope;
        assert!((value - 0.7).abs() < high - low, "{:?}", found.slope);
        assert!(found.curve.len() == N_POINTS && found.ici > 0.02);
    }

    #[test]
    fn the_parts_of_the_brier_score_add_up() {
        let (probabilities, positive) = sample(500);
        let found = calibration(&probabilities, &positive, 0.95).unwrap();
        let sum = found.miscalibration - found.discrimination + found.uncertainty;
        assert!((sum - found.brier.value).abs() < 1e-14);
        assert_eq!(found.isotonic.iter().map(|step| step.size).sum::<u64>(), 500);
        assert!(found.isotonic.is_sorted_by(|a, b| a.high < b.low && a.observed < b.observed));
    }

    #[test]
    fn the_spline_is_linear_beyond_its_outer_knots() {
        let spline = Spline { knots: vec![-2.0, -1.0, 0.0, 1.5, 3.0] };
        for at in [-5.0, 4.0] {
            let [a, b, c] = [at, at + 1.0, at + 2.0].map(|x| spline.columns(x));
            for column in 0..MOST_COLUMNS {
                let bend: f64 = a[column] - 2.0 * b[column] + c[column];
                assert!(bend.abs() < 1e-12, "{at} {column}: {bend}");
            }
        }
    }

    #[test]
    fn figures_of_separated_classes_are_undefined() {
        let found = calibration(&[0.1, 0.2, 0.8, 0.9], &[false, false, true, true], 0.95).unwrap();
        assert!(found.slope.value.is_nan() && found.ici.is_nan() && found.curve.is_empty());
        assert!((found.brier.value - 0.025).abs() < 1e-15);
        assert_eq!(found.isotonic.len(), 2);
    }
}
