//! Conjugate gradient ascent on a sphere.
//!
//! Scores are linear in the weights, so along a great circle they are a cosine times the scores at
//! its start plus a sine times those of its direction: a line search reads no features. An
//! iteration reads the features twice, once for the gradient and once for the scores of the new
//! direction.

use crate::parallel::prelude::*;

use super::rows::{RankOptRows, dot};
use crate::{Interrupt, RankError, parallel};

/// Norm of the gradient below which there is no ascent direction (DECISIONS O6).
pub(super) const FLAT: f64 = 1e-10;

/// Maximum angle along one great circle, in radians.
const LONGEST: f64 = std::f64::consts::FRAC_PI_3;

/// First step of an ascent.
const FIRST_STEP: f64 = 0.1;

/// Maximum number of points evaluated on one great circle.
const MOST_TRIALS: usize = 12;

/// A line search may end if the objective has risen by this share of what the slope predicts, and
/// the slope has fallen below [`FLATTER`] times the first (the Wolfe conditions).
const LEAST_RISE: f64 = 1e-4;

/// See [`LEAST_RISE`].
const FLATTER: f64 = 0.2;

/// Rows per task.
const CHUNK_ROWS: usize = 8192;

/// A statistic of scores.
pub(super) trait Objective: Sync {
    /// Its value, and its derivative with respect to each score.
    fn gradient(
        &self,
        rows: &RankOptRows,
        scores: &[f64],
        slopes: &mut [f64],
        interrupt: &Interrupt,
    ) -> Result<f64, RankError>;
}

/// A point on a sphere.
#[derive(Debug, Clone)]
pub(super) struct SpherePoint {
    /// Weights of the features, of norm 1.
    pub(super) weights: Vec<f64>,
    /// Scores of the rows by these weights times the radius.
    pub(super) scores: Vec<f64>,
}

impl SpherePoint {
    pub(super) fn new(
        weights: Vec<f64>,
        radius: f64,
        rows: &RankOptRows,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let scaled: Vec<f64> = weights.iter().map(|weight| radius * weight).collect();
        let mut scores = vec![0.0; rows.len()];
        rows.scores(&scaled, &mut scores, interrupt)?;
        Ok(Self { weights, scores })
    }

    /// Moves to the antipode.
    pub(super) fn turn(&mut self) {
        for weight in &mut self.weights {
            *weight = -*weight;
        }
        self.scores.par_iter_mut().for_each(|score| *score = -*score);
    }
}

/// The result of an ascent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ascent {
    pub(super) value: f64,
    /// Number of iterations, each with a gradient.
    pub(super) n_iterations: usize,
    /// Whether it ended before the maximum number of iterations.
    pub(super) has_converged: bool,
    /// Value at the start and after each iteration.
    #[cfg(test)]
    pub(super) values: Vec<f64>,
}

/// An ascent on the sphere of a radius.
pub(super) struct Climb<'a, O> {
    pub(super) rows: &'a RankOptRows,
    pub(super) objective: &'a O,
    pub(super) radius: f64,
    pub(super) tolerance: f64,
    pub(super) most_iterations: usize,
    pub(super) interrupt: &'a Interrupt,
}

/// A great circle from a point.
struct GreatCircle<'a> {
    start: &'a SpherePoint,
    /// A unit tangent, and its scores.
    direction: &'a SpherePoint,
}

/// A point of a circle.
#[derive(Debug, Clone, Copy)]
struct CirclePoint {
    angle: f64,
    value: f64,
    slope: f64,
}

/// Gradient and direction of the last iteration, transported to the current point.
struct Before {
    gradient: Vec<f64>,
    direction: Vec<f64>,
}

impl<O: Objective> Climb<'_, O> {
    /// Value at a point and norm of the full gradient, including the component normal to the
    /// sphere.
    pub(super) fn look(&self, at: &SpherePoint) -> Result<(f64, f64), RankError> {
        let mut slopes = vec![0.0; self.rows.len()];
        let value = self.slopes_at(&at.scores, &mut slopes)?;
        Ok((value, norm(&self.rows.gradient(&slopes, self.interrupt)?)))
    }

    /// Climbs from a point; the value never decreases.
    pub(super) fn ascend(&self, at: &mut SpherePoint) -> Result<Ascent, RankError> {
        let n_rows = self.rows.len();
        let (mut slopes, mut moved) = (vec![0.0; n_rows], vec![0.0; n_rows]);
        let mut value = self.slopes_at(&at.scores, &mut slopes)?;
        let mut before: Option<Before> = None;
        let mut last_gain: Option<f64> = None;
        let mut n_iterations = 0;
        #[cfg(test)]
        let mut values = vec![value];
        let has_converged = loop {
            self.interrupt.check()?;
            let gradient = self.rows.gradient(&slopes, self.interrupt)?;
            let gradient = tangent(&at.weights, &gradient);
            if norm(&gradient) < FLAT {
                n_iterations += 1;
                break true;
            }
            if n_iterations == self.most_iterations {
                break false;
            }
            let conjugate = before.as_ref().and_then(|before| before.conjugate(&gradient, at));
            let is_steepest = conjugate.is_none();
            let unscaled = conjugate.unwrap_or_else(|| gradient.clone());
            let length = norm(&unscaled);
            let unit = unscaled.iter().map(|entry| entry / length).collect();
            let direction = SpherePoint::new(unit, self.radius, self.rows, self.interrupt)?;
            let slope = self.radius * dot(&gradient, &direction.weights);
            let circle = GreatCircle { start: at, direction: &direction };
            let from = CirclePoint { angle: 0.0, value, slope };
            // The step that a parabola with this slope and the gain of the last circle has its
            // maximum at.
            let first = last_gain.map_or(FIRST_STEP, |gain| 2.0 * gain / slope);
            n_iterations += 1;
            let found = self.search(&circle, from, first, &mut moved, &mut slopes)?;
            let gain = found.value - value;
            if found.angle > 0.0 {
                before = Some(arrive(at, &direction.weights, &gradient, length, found.angle));
                std::mem::swap(&mut at.scores, &mut moved);
                value = found.value;
            }
            #[cfg(test)]
            values.push(value);
            if gain < self.tolerance {
                // A conjugate direction may fail even if the steepest does not.
                if is_steepest {
                    break true;
                }
                before = None;
                if found.angle == 0.0 {
                    value = self.slopes_at(&at.scores, &mut slopes)?;
                }
            }
            last_gain = (gain > self.tolerance).then_some(gain);
        };
        Ok(Ascent {
            value,
            n_iterations,
            has_converged,
            #[cfg(test)]
            values,
        })
    }

    fn slopes_at(&self, scores: &[f64], slopes: &mut [f64]) -> Result<f64, RankError> {
        self.objective.gradient(self.rows, scores, slopes, self.interrupt)
    }

    /// Line search along a circle: returns the point of the highest value seen, and leaves its
    /// scores and slopes; the start if none is higher.
    fn search(
        &self,
        circle: &GreatCircle<'_>,
        from: CirclePoint,
        first: f64,
        scores: &mut [f64],
        slopes: &mut [f64],
    ) -> Result<CirclePoint, RankError> {
        let (mut low, mut high): (CirclePoint, Option<CirclePoint>) = (from, None);
        let mut best = from;
        let mut angle = first.clamp(1e-8, LONGEST);
        let mut last = from;
        for _ in 0..MOST_TRIALS {
            self.interrupt.check()?;
            last = self.try_at(circle, angle, scores, slopes)?;
            if last.value >= best.value && last.value > from.value {
                best = last;
            }
            let has_risen = last.value >= from.value + LEAST_RISE * last.angle * from.slope;
            if has_risen && last.slope.abs() <= FLATTER * from.slope {
                break;
            }
            if has_risen && last.value >= low.value && last.slope > 0.0 {
                low = last;
            } else {
                high = Some(last);
            }
            angle = match high {
                None if low.angle >= LONGEST => break,
                None => {
                    // Extrapolates to where the slope vanishes.
                    let fall = (from.slope - low.slope) / low.angle;
                    let zero = low.angle + low.slope / fall;
                    let zero = if fall > 0.0 { zero } else { f64::INFINITY };
                    zero.clamp(1.5 * low.angle, 5.0 * low.angle).min(LONGEST)
                }
                Some(high) => between(low, high),
            };
            // At smaller distances the differences of values are rounding.
            if high.is_some_and(|high| high.angle - low.angle < 1e-12) {
                break;
            }
        }
        // The last is the best, or lower.
        if last.value < best.value && best.angle > 0.0 {
            self.try_at(circle, best.angle, scores, slopes)?;
        }
        Ok(best)
    }

    fn try_at(
        &self,
        circle: &GreatCircle<'_>,
        angle: f64,
        scores: &mut [f64],
        slopes: &mut [f64],
    ) -> Result<CirclePoint, RankError> {
        let (sin, cos) = angle.sin_cos();
        let (start, direction) = (&circle.start.scores, &circle.direction.scores);
        let rows_of = |chunk: usize, n: usize| chunk * CHUNK_ROWS..chunk * CHUNK_ROWS + n;
        let chunks = scores.chunks_mut(CHUNK_ROWS).enumerate().collect();
        parallel::map(chunks, |(chunk, scores): (usize, &mut [f64])| {
            let rows = rows_of(chunk, scores.len());
            let parts = start[rows.clone()].iter().zip(&direction[rows]);
            for (score, (start, direction)) in scores.iter_mut().zip(parts) {
                *score = cos * start + sin * direction;
            }
        });
        let value = self.slopes_at(scores, slopes)?;
        let chunks = slopes.chunks(CHUNK_ROWS).enumerate().collect();
        let parts: Vec<f64> = parallel::map(chunks, |(chunk, slopes): (usize, &[f64])| {
            let rows = rows_of(chunk, slopes.len());
            cos * dot(slopes, &direction[rows.clone()]) - sin * dot(slopes, &start[rows])
        });
        Ok(CirclePoint { angle, value, slope: parts.iter().sum() })
    }
}

impl Before {
    /// The direction of Polak and Ribière, or `None` if it does not ascend.
    fn conjugate(&self, gradient: &[f64], at: &SpherePoint) -> Option<Vec<f64>> {
        let change: Vec<f64> = gradient.iter().zip(&self.gradient).map(|(a, b)| a - b).collect();
        let share = dot(gradient, &change) / dot(&self.gradient, &self.gradient);
        if !(share > 0.0 && share.is_finite()) {
            return None;
        }
        let sum: Vec<f64> =
            gradient.iter().zip(&self.direction).map(|(g, d)| g + share * d).collect();
        let direction = tangent(&at.weights, &sum);
        let climbs = dot(&direction, gradient) > 1e-3 * norm(&direction) * norm(gradient);
        climbs.then_some(direction)
    }
}

/// The component of a vector tangent to the sphere.
fn tangent(at: &[f64], vector: &[f64]) -> Vec<f64> {
    let outward = dot(at, vector);
    vector.iter().zip(at).map(|(entry, at)| entry - outward * at).collect()
}

/// Moves the weights along a circle, and transports the gradient and the direction.
fn arrive(
    at: &mut SpherePoint,
    direction: &[f64],
    gradient: &[f64],
    length: f64,
    angle: f64,
) -> Before {
    let (sin, cos) = angle.sin_cos();
    let carried: Vec<f64> =
        at.weights.iter().zip(direction).map(|(w, d)| cos * d - sin * w).collect();
    let along = dot(gradient, direction);
    let gradient = gradient.iter().zip(direction).zip(&carried);
    let gradient = gradient.map(|((g, d), carried)| g + along * (carried - d)).collect();
    for (weight, d) in at.weights.iter_mut().zip(direction) {
        *weight = cos * *weight + sin * d;
    }
    let norm = norm(&at.weights);
    for weight in &mut at.weights {
        *weight /= norm;
    }
    Before { gradient, direction: carried.iter().map(|entry| length * entry).collect() }
}

/// The maximum of a cubic through two points with their slopes, kept away from both ends.
fn between(low: CirclePoint, high: CirclePoint) -> f64 {
    let width = high.angle - low.angle;
    let chord = 3.0 * (low.value - high.value) / width + low.slope + high.slope;
    let root = chord * chord - low.slope * high.slope;
    let root = root.max(0.0).sqrt();
    let share = 1.0 - (chord + root - high.slope) / (low.slope - high.slope + 2.0 * root);
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.5 };
    low.angle + share * width
}

pub(super) fn norm(vector: &[f64]) -> f64 {
    dot(vector, vector).sqrt()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::pairs::Sigmoid;
    use super::*;
    use crate::data::{Columns, Labels, mix};
    use crate::roc::Ramp;

    const N_FEATURES: usize = 4;

    fn rows(seed: u64, n: usize) -> RankOptRows {
        let draw = |i: usize| (mix(seed ^ ((i as u64) << 20)) % 2001) as f64 / 1000.0 - 1.0;
        let mut values: Vec<f64> = (0..n * N_FEATURES).map(draw).collect();
        // No feature is constant, which the ascent assumes: the first row has distinct values.
        values[..N_FEATURES].iter_mut().for_each(|value| *value += 0.0005);
        let positive: Vec<bool> =
            (0..n).map(|i| i < 2 && i == 1 || draw(i + n * 8) > 0.3).collect();
        for (row, positive) in values.chunks_exact_mut(N_FEATURES).zip(&positive) {
            row[1] += 0.9 * row[0];
            row[2] += if *positive { 0.6 } else { 0.0 };
        }
        let columns = Columns::from_row_major(&values, N_FEATURES).unwrap();
        let mut positive = positive;
        (positive[0], positive[1]) = (false, true);
        let labels = Labels::new(&positive, None).unwrap();
        let interrupt = Interrupt::default();
        let rows = RankOptRows::copied(&columns, &labels, &interrupt).unwrap();
        let moments = rows.moments(&interrupt).unwrap();
        rows.standardised(&[0, 1, 2, 3], &moments)
    }

    fn point(seed: u64, radius: f64, rows: &RankOptRows) -> SpherePoint {
        let draw = |i: u64| (mix(seed.wrapping_add(i)) % 2001) as f64 / 1000.0 - 1.0;
        let weights: Vec<f64> = (0..N_FEATURES as u64).map(draw).collect();
        let length = norm(&weights);
        let unit = weights.iter().map(|weight| weight / length).collect();
        SpherePoint::new(unit, radius, rows, &Interrupt::default()).unwrap()
    }

    /// Slope along each axis by central differences.
    fn by_differences<O: Objective>(
        objective: &O,
        rows: &RankOptRows,
        weights: &[f64],
    ) -> Vec<f64> {
        let interrupt = Interrupt::default();
        let value = |weights: Vec<f64>| {
            let at = SpherePoint::new(weights, 1.0, rows, &interrupt).unwrap();
            let mut slopes = vec![0.0; rows.len()];
            objective.gradient(rows, &at.scores, &mut slopes, &interrupt).unwrap()
        };
        let step = 1e-5;
        let moved = |axis: usize, by: f64| {
            let mut weights = weights.to_vec();
            weights[axis] += by;
            value(weights)
        };
        (0..N_FEATURES).map(|j| (moved(j, step) - moved(j, -step)) / (2.0 * step)).collect()
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        let rows = rows(5, 400);
        let interrupt = Interrupt::default();
        for radius in [0.5, 3.0, 20.0] {
            let at = point(8, radius, &rows);
            let weights: Vec<f64> = at.weights.iter().map(|weight| radius * weight).collect();
            let mut slopes = vec![0.0; rows.len()];
            let sigmoid = Sigmoid::new();
            sigmoid.gradient(&rows, &at.scores, &mut slopes, &interrupt).unwrap();
            let gradient = rows.gradient(&slopes, &interrupt).unwrap();
            let expected = by_differences(&sigmoid, &rows, &weights);
            for (found, expected) in gradient.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-8, "{radius}: {found} {expected}");
            }
        }
    }

    fn climb<O: Objective>(objective: &O, seed: u64, n: usize, radius: f64) -> (Ascent, f64) {
        let rows = rows(seed, n);
        let interrupt = &Interrupt::default();
        let climb = Climb {
            rows: &rows,
            objective,
            radius,
            tolerance: 1e-9,
            most_iterations: 500,
            interrupt,
        };
        let mut at = point(seed, radius, &rows);
        let climbed = climb.ascend(&mut at).unwrap();
        assert!((norm(&at.weights) - 1.0).abs() < 1e-12);
        let again = SpherePoint::new(at.weights.clone(), radius, &rows, interrupt).unwrap();
        assert!(again.scores.iter().zip(&at.scores).all(|(a, b)| (a - b).abs() < 1e-9 * radius));
        let mut slopes = vec![0.0; rows.len()];
        let value = objective.gradient(&rows, &again.scores, &mut slopes, interrupt).unwrap();
        assert!((value - climbed.value).abs() < 1e-9);
        let gradient = rows.gradient(&slopes, interrupt).unwrap();
        let slope = norm(&tangent(&again.weights, &gradient));
        (climbed, slope)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 5))]

        #[test]
        fn the_objective_never_falls(seed in any::<u64>(), n in 2_usize..120, log in -1.0..5.0_f64) {
            let radius = log.exp2();
            let (smooth, _) = climb(&Sigmoid::new(), seed, n, radius);
            let (broken, _) = climb(&Ramp::default(), seed, n, radius);
            for climbed in [smooth, broken] {
                prop_assert!(climbed.values.is_sorted(), "{:?}", climbed.values);
                prop_assert_eq!(climbed.values.last(), Some(&climbed.value));
            }
        }
    }

    #[test]
    fn an_ascent_ends_where_it_is_flat() {
        for seed in 0..20 {
            let (climbed, slope) = climb(&Sigmoid::new(), seed, 2000, 2.0);
            assert!(climbed.has_converged && slope < 1e-4, "{seed}: {climbed:?} {slope}");
            assert!(climbed.n_iterations < 40, "{climbed:?}");
        }
    }

    #[test]
    fn a_cubic_is_searched_at_its_maximum() {
        // x (1 - x)^2 between 0 and 1 has its maximum at 1/3.
        let at = |angle: f64| CirclePoint {
            angle,
            value: angle * (1.0 - angle) * (1.0 - angle),
            slope: (1.0 - angle) * (1.0 - 3.0 * angle),
        };
        assert!((between(at(0.0), at(1.0)) - 1.0 / 3.0).abs() < 1e-12);
        assert!((between(at(0.1), at(0.7)) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn an_ascent_can_be_interrupted() {
        let rows = rows(1, 50);
        let interrupt = Interrupt::default();
        let mut at = point(1, 1.0, &rows);
        interrupt.stop();
        let climb = Climb {
            rows: &rows,
            objective: &Sigmoid::new(),
            radius: 1.0,
            tolerance: 0.0,
            most_iterations: 5,
            interrupt: &interrupt,
        };
        assert_eq!(climb.ascend(&mut at), Err(RankError::Interrupted));
    }
}
