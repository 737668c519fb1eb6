//! The ramp statistic on a grid of scores, for repeated evaluation in an ascent.
//!
//! Sorted scores give the statistic exactly, but a sort at each point would dominate the time of an
//! ascent. Instead scores are binned into cells, a whole number of which fit in the half-width of
//! the ramp: the cells of a pair then show whether it is on the central piece, and sums by cell
//! replace the sort. Only pairs whose cells are a half-width apart are ambiguous: if scores are
//! spread over their cells, half of these pairs are inside, and their clipped difference is a sixth
//! of a cell below the half-width on average. The score itself is not rounded. The remaining error
//! is about 10^-7.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::observations::Observations;
use crate::parallel;
use crate::roc::{Ramp, RampClimber};

/// Half-width of the ramp (DECISIONS A7).
pub(super) const HALF_WIDTH: f64 = 0.5;
/// Slope of the ramp outside its central piece, whose slope is 1 (sec. 2.2).
pub(super) const SIDE_SLOPE: f64 = 1e-3;

/// Rows from which each class is a task of its own.
const PARALLEL_ROWS: usize = 4096;

/// Minimum and maximum number of cells in the half-width.
const HALF_CELLS: std::ops::RangeInclusive<usize> = 16..=256;

/// Points on a great circle: `here cos t + across sin t`, both being scores of all observations.
#[derive(Debug, Clone, Copy)]
pub(super) struct GridCircle<'a> {
    pub here: &'a [f64],
    pub across: &'a [f64],
    /// Minimum and maximum of `here`, and of `across`.
    pub bounds: [(f64, f64); 2],
}

impl<'a> GridCircle<'a> {
    pub fn new(here: &'a [f64], across: &'a [f64]) -> Self {
        Self { here, across, bounds: [bounds(here), bounds(across)] }
    }

    /// A circle for its angle 0 only.
    pub fn point(here: &'a [f64]) -> Self {
        Self { here, across: here, bounds: [bounds(here); 2] }
    }
}

/// Minimum and maximum.
pub(super) fn bounds(values: &[f64]) -> (f64, f64) {
    let mut lanes = [(f64::INFINITY, f64::NEG_INFINITY); 4];
    for values in values.chunks(4) {
        for (lane, &value) in lanes.iter_mut().zip(values) {
            *lane = (lane.0.min(value), lane.1.max(value));
        }
    }
    lanes.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// Sums over a class in a cell: weight, weight times score, weight times derivative of the score.
type RampCell = [f64; 4];

/// Evaluates the statistic on a grid, with its scratch memory.
#[derive(Debug, Default)]
pub(super) struct GridRamp {
    /// The sums of each class, by cell.
    cells: [Vec<RampCell>; 2],
    /// Prefix sums over the cells, preceded by `half + 1` empty ones: weight of the positives, of
    /// the negatives, weight times score of the negatives.
    running: Vec<[f64; 3]>,
    /// Origin of the grid, and cells per unit of score.
    low: f64,
    scale: f64,
    /// Slopes of the statistic in the score of a positive and of a negative row, by cell.
    slopes_by_cell: Vec<[f64; 2]>,
}

/// The statistic at a point of a circle, and its slope in the angle.
#[derive(Debug, Clone, Copy)]
pub(super) struct RampOnCircle {
    pub value: f64,
    pub slope: f64,
}

impl GridRamp {
    /// The statistic at an angle.
    pub fn at(
        &mut self,
        observations: &Observations<'_>,
        circle: GridCircle<'_>,
        angle: f64,
    ) -> RampOnCircle {
        let (sin, cos) = angle.sin_cos();
        let [here, across] = circle.bounds;
        let by = |factor: f64, (low, high): (f64, f64)| {
            if factor < 0.0 { (factor * high, factor * low) } else { (factor * low, factor * high) }
        };
        let (here, across) = (by(cos, here), by(sin, across));
        let half = self.lay(observations.len(), here.0 + across.0, here.1 + across.1);
        let n_pos = observations.n_pos;
        let (low, scale) = (self.low, self.scale);
        let add = |cells: &mut [RampCell], range: Range<usize>| {
            let rows = observations.shares[range.clone()].iter();
            let rows = rows.zip(circle.here[range.clone()].iter().zip(&circle.across[range]));
            for (&share, (&here, &across)) in rows {
                let score = cos * here + sin * across;
                let speed = cos * across - sin * here;
                let cell = &mut cells[((score - low) * scale) as usize];
                cell[0] += share;
                cell[1] += share * score;
                cell[2] += share * speed;
            }
        };
        let [pos, neg] = &mut self.cells;
        let mut of_pos = || add(pos, 0..n_pos);
        let mut of_neg = || add(neg, n_pos..observations.len());
        if observations.len() < PARALLEL_ROWS {
            of_pos();
            of_neg();
        } else {
            parallel::join(of_pos, of_neg);
        }
        self.decide(half)
    }

    /// Lays out the grid between two bounds of the scores; returns the number of cells in the
    /// half-width.
    fn lay(&mut self, n: usize, low: f64, high: f64) -> usize {
        let mut half = *HALF_CELLS.end();
        // No more cells than rows, so that the rows dominate the time.
        while half > *HALF_CELLS.start()
            && (high - low) / HALF_WIDTH * half as f64 > (n / 2).max(1024) as f64
        {
            half /= 2;
        }
        self.scale = half as f64 / HALF_WIDTH;
        self.low = low - 0.5 / self.scale;
        let n_cells = ((high - self.low) * self.scale) as usize + 2;
        for cells in &mut self.cells {
            cells.clear();
            cells.resize(n_cells, [0.0; 4]);
        }
        half
    }

    /// The statistic from the sums by cell.
    fn decide(&mut self, half: usize) -> RampOnCircle {
        let [pos, neg] = &self.cells;
        let margin = half + 1;
        let n_cells = pos.len();
        let mut up_to = [0.0; 3];
        self.running.clear();
        self.running.resize(margin, up_to);
        for (pos, neg) in pos.iter().zip(neg) {
            up_to[0] += pos[0];
            up_to[1] += neg[0];
            up_to[2] += neg[1];
            self.running.push(up_to);
        }
        self.running.resize(n_cells + 2 * margin, up_to);
        let sixth = HALF_WIDTH / half as f64 / 6.0;
        let (mut clipped, mut mean, mut slope) = (0.0, 0.0, 0.0);
        self.slopes_by_cell.clear();
        let running = &self.running[..n_cells + 2 * margin];
        for cell in 0..n_cells {
            let at = cell + margin;
            let (before, first) = (running[at - half - 1], running[at - half]);
            let (last, after) = (running[at + half - 1], running[at + half]);
            // Between the midpoints of the two cells a half-width away.
            let central = |k: usize| 0.5 * ((last[k] + after[k]) - (before[k] + first[k]));
            let (central_pos, central_neg) = (central(0), central(1));
            let far_below = 0.5 * (before[1] + first[1]);
            let far_above = up_to[1] - 0.5 * (last[1] + after[1]);
            let corner = (first[1] - before[1]) - (after[1] - last[1]);
            let (pos, neg) = (pos[cell], neg[cell]);
            clipped += pos[1] * central_neg - pos[0] * central(2)
                + pos[0] * (HALF_WIDTH * (far_below - far_above) - sixth * corner);
            mean += pos[1] - neg[1];
            let of_pos = SIDE_SLOPE + (1.0 - SIDE_SLOPE) * central_neg;
            let of_neg = SIDE_SLOPE + (1.0 - SIDE_SLOPE) * central_pos;
            slope += pos[2] * of_pos - neg[2] * of_neg;
            self.slopes_by_cell.push([of_pos, of_neg]);
        }
        let a = 0.5 / HALF_WIDTH;
        RampOnCircle {
            value: 0.5 + a * ((1.0 - SIDE_SLOPE) * clipped + SIDE_SLOPE * mean),
            slope: a * slope,
        }
    }

    /// The slopes in the score of each observation, at the last point evaluated; `scores` are its
    /// scores.
    pub fn slopes(&self, observations: &Observations<'_>, scores: &[f64], out: &mut Vec<f64>) {
        let a = 0.5 / HALF_WIDTH;
        let rows = scores.iter().zip(&observations.shares).enumerate();
        out.clear();
        out.extend(rows.map(|(row, (&score, &share))| {
            let cell = ((score - self.low) * self.scale) as usize;
            let [of_pos, of_neg] = self.slopes_by_cell[cell];
            if row < observations.n_pos { a * share * of_pos } else { -a * share * of_neg }
        }));
    }
}

/// Statistics of the ranking by a score.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{Statistics, fit_aurora};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::roc::Ramp;
/// # use aucrank::aurora::{AuroraParams, BinarizerParams, SelectionCriterion, Radius, SearchDepth};
/// # use aucrank::aurora::Selection;
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let params = AuroraParams {
/// #     binarizer: BinarizerParams::default(), max_features: 10, order: 1,
/// #     radius: Radius::Fixed(2.0), depth: SearchDepth::default(), first_gain: 0.01,
/// #     last_gain: 0.01, tol: None, selection: Selection::Keep, criterion: SelectionCriterion::Auc,
/// #     radius_terms: None, patience: None, monotonic: vec![], max_fpr: 1.0, seed: 0,
/// # };
/// let model = fit_aurora(&columns, &labels, &params, None, &Interrupt::default())?;
/// // One threshold separates the classes: the scores of all pairs differ by its weight.
/// assert_eq!(model.values(), [2.0]);
/// let Statistics { ramp, auc } = model.path()[0].train;
/// assert_eq!(auc, 1.0);
/// assert!((ramp - Ramp::default().at(2.0)).abs() < 1e-12);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// The ramp statistic, equation (2.2).
    pub ramp: f64,
    /// The AUC.
    pub auc: f64,
}

/// Evaluates the exact statistics of some observations under changing scores.
#[derive(Debug)]
pub(super) struct ExactRamp {
    climber: RampClimber,
    scores: Vec<f64>,
}

impl ExactRamp {
    pub fn new(observations: &Observations<'_>) -> Self {
        let (pos, neg) = observations.units.split_at(observations.n_pos);
        let of_class = |before: usize, units: &[u64], after: usize| {
            let zeros = |n: usize| std::iter::repeat_n(0, n);
            zeros(before).chain(units.iter().copied()).chain(zeros(after)).collect::<Vec<u64>>()
        };
        let (pos, neg) = (of_class(0, pos, neg.len()), of_class(pos.len(), neg, 0));
        let ramp = Ramp { half_width: HALF_WIDTH, side_slope: SIDE_SLOPE };
        let climber = RampClimber::new(ramp, &neg, &pos).expect("rows of both classes");
        Self { climber, scores: Vec::new() }
    }

    /// The statistic at an angle of a circle.
    pub fn at(&mut self, circle: GridCircle<'_>, angle: f64) -> RampOnCircle {
        let (sin, cos) = angle.sin_cos();
        let points = circle.here.iter().zip(circle.across);
        let mut scores = std::mem::take(&mut self.scores);
        scores.clear();
        scores.extend(points.clone().map(|(here, across)| cos * here + sin * across));
        let value = self.of(&scores).ramp;
        self.scores = scores;
        let speeds = points.map(|(here, across)| cos * across - sin * here);
        let slope = self.slopes().iter().zip(speeds).map(|(slope, speed)| slope * speed).sum();
        RampOnCircle { value, slope }
    }

    /// The slopes in the score of each observation, at the last point evaluated.
    pub fn slopes(&self) -> &[f64] {
        self.climber.slopes()
    }

    /// Both statistics of the scores.
    pub fn of(&mut self, scores: &[f64]) -> Statistics {
        let ramp = self.climber.evaluate(scores).expect("one finite score for each");
        Statistics { ramp, auc: self.climber.auc() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::aurora::observations::tests::ExampleRows;
    use crate::data::mix;

    fn draws(n: usize, seed: u64, spread: f64) -> Vec<f64> {
        let draw = |row: usize, what: u64| {
            mix(seed ^ mix(row as u64 ^ what << 32)) as f64 / 2_f64.powi(64)
        };
        (0..n).map(|row| spread * (draw(row, 1) + draw(row, 2) + draw(row, 3) - 1.5)).collect()
    }

    #[test]
    fn cells_give_the_statistic_and_its_slope_to_a_millionth() {
        for (seed, spread) in [(1, 0.3), (2, 1.0), (3, 4.0), (4, 12.0)] {
            ExampleRows::new(6000, seed).observe(None, |observations| {
                let (here, across) = (draws(6000, seed, spread), draws(6000, seed + 9, spread));
                let circle =
                    GridCircle::new(&here[..observations.len()], &across[..observations.len()]);
                let (mut grid, mut exact) = (GridRamp::default(), ExactRamp::new(observations));
                for angle in [0.0, 0.02, 0.7, 2.5, -1.0] {
                    let found = grid.at(observations, circle, angle);
                    let expected = exact.at(circle, angle);
                    let off = (found.value - expected.value).abs();
                    assert!(off < 3e-6, "{off} at spread {spread}");
                    let off = (found.slope - expected.slope).abs();
                    assert!(off < 2e-3 * spread, "{off} at spread {spread}");
                }
                grid.at(observations, circle, 0.0);
                exact.at(circle, 0.0);
                let mut slopes = Vec::new();
                grid.slopes(observations, circle.here, &mut slopes);
                let largest = exact.slopes().iter().fold(0.0, |most: f64, s| most.max(s.abs()));
                for (found, expected) in slopes.iter().zip(exact.slopes()) {
                    assert!((found - expected).abs() < 0.05 * largest, "{found} {expected}");
                }
            });
        }
    }

    #[test]
    fn equal_scores_give_one_half_and_no_slope_is_lost() {
        ExampleRows::new(2000, 5).observe(None, |observations| {
            let here = vec![0.25; observations.len()];
            let across = vec![0.0; observations.len()];
            let found = GridRamp::default().at(observations, GridCircle::new(&here, &across), 0.1);
            assert!((found.value - 0.5).abs() < 1e-9, "{}", found.value);
            assert!(found.slope.abs() < 1e-9, "{}", found.slope);
        });
    }

    #[test]
    fn bounds_are_the_least_and_the_greatest() {
        for n in 1..11 {
            let values = draws(n, 7, 3.0);
            let expected = (
                values.iter().copied().fold(f64::INFINITY, f64::min),
                values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            );
            assert_eq!(bounds(&values), expected);
        }
    }
}

#[cfg(test)]
mod tests_of_exact_ramp {
    use super::*;
    use crate::aurora::observations::tests::ExampleRows;
    use crate::data::mix;

    /// Few distinct scores, so that ties and differences of exactly a half-width are common.
    fn scores(n: usize, seed: u64) -> Vec<f64> {
        (0..n as u64).map(|row| (mix(seed ^ mix(row)) % 13) as f64 / 4.0).collect()
    }

    #[test]
    fn the_statistics_are_means_over_all_pairs() {
        let rows = ExampleRows::new(150, 1);
        let weights: Vec<f64> = (0..150).map(|row| f64::from(row % 3)).collect();
        for weights in [None, Some(&weights[..])] {
            rows.observe(weights, |observations| {
                let scores = scores(observations.len(), 2);
                let (mut ramp, mut auc) = (0.0, 0.0);
                for pos in 0..observations.n_pos {
                    for neg in observations.n_pos..observations.len() {
                        let pair = observations.shares[pos] * observations.shares[neg];
                        let difference = scores[pos] - scores[neg];
                        ramp += pair * Ramp::default().at(difference);
                        auc += pair
                            * (0.5 * (f64::from(difference > 0.0) + f64::from(difference >= 0.0)));
                    }
                }
                let found = ExactRamp::new(observations).of(&scores);
                assert!((found.ramp - ramp).abs() < 1e-12, "{} {ramp}", found.ramp);
                assert!((found.auc - auc).abs() < 1e-12, "{} {auc}", found.auc);
            });
        }
    }

    #[test]
    fn slopes_are_differences_of_the_statistic() {
        ExampleRows::new(60, 3).observe(None, |observations| {
            // No pair is near a corner.
            let scores: Vec<f64> =
                scores(observations.len(), 4).iter().map(|score| score * 0.77).collect();
            let mut ramp = ExactRamp::new(observations);
            ramp.of(&scores);
            let slopes = ramp.slopes().to_vec();
            for row in 0..scores.len() {
                let step = 1e-6;
                let mut moved = scores.clone();
                moved[row] += step;
                let above = ramp.of(&moved).ramp;
                moved[row] -= 2.0 * step;
                let below = ramp.of(&moved).ramp;
                let expected = (above - below) / (2.0 * step);
                assert!((slopes[row] - expected).abs() < 1e-9, "{} {expected}", slopes[row]);
            }
        });
    }
}
