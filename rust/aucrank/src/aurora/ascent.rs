//! Gradient ascent on the sphere of weights (sec. 3.2).

use super::circle::FewScores;
use super::observations::Observations;
use super::packed::{PackedTerms, SignedTerms, angles_to_bounds, hold_back};
use super::ramp::ExactRamp;
use super::ramp::{GridCircle, GridRamp, RampOnCircle};
use crate::{Interrupt, RankError};

/// Initial angle along a great circle.
pub(super) const FIRST_ANGLE: f64 = 0.05;
/// Maximum change of the angle per step.
const LARGEST_STEP: f64 = std::f64::consts::PI / 3.0;
/// Maximum number of evaluations along a great circle.
const MOST_EVALUATIONS: usize = 6;
/// A line search ends once the slope is this fraction of the first.
const FLAT: f64 = 0.1;

/// Stopping rules of an ascent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Maximum number of great circles.
    pub circles: usize,
    /// A circle that gains less is the last.
    pub least_gain: f64,
    /// Whether the last circle is searched exhaustively if few scores are distinct: a line search
    /// ends on a plateau, beyond which the circle may rise again. Off for mere comparisons, since
    /// it takes longer.
    pub walks: bool,
}

/// Number of observations up to which the statistic is always exact: sorting so few is cheap, and
/// they may have few distinct scores, whose differences a grid might miss by much.
const EXACT_UP_TO: usize = 1500;

/// The objective, exact or on a grid.
#[derive(Debug)]
enum RampObjective {
    Exact(Box<ExactRamp>),
    Grid(GridRamp),
}

impl RampObjective {
    fn at(
        &mut self,
        observations: &Observations<'_>,
        circle: GridCircle<'_>,
        angle: f64,
    ) -> RampOnCircle {
        match self {
            Self::Exact(ramp) => ramp.at(circle, angle),
            Self::Grid(ramp) => ramp.at(observations, circle, angle),
        }
    }
}

/// State and scratch memory of an ascent.
#[derive(Debug)]
pub(super) struct Climber {
    ramp: RampObjective,
    /// Scores at the current point, and their derivative along the circle.
    pub here: Vec<f64>,
    pub across: Vec<f64>,
    pub slopes: Vec<f64>,
}

impl Climber {
    /// A climber that uses the exact statistic where that is cheap.
    pub fn new(observations: &Observations<'_>) -> Self {
        if observations.len() <= EXACT_UP_TO {
            return Self::exact(observations);
        }
        Self::on(RampObjective::Grid(GridRamp::default()))
    }

    /// A climber that always uses the exact statistic.
    pub fn exact(observations: &Observations<'_>) -> Self {
        Self::on(RampObjective::Exact(Box::new(ExactRamp::new(observations))))
    }

    fn on(ramp: RampObjective) -> Self {
        Self { ramp, here: Vec::new(), across: Vec::new(), slopes: Vec::new() }
    }

    /// Whether the statistic is exact.
    pub fn is_exact(&self) -> bool {
        matches!(self.ramp, RampObjective::Exact(_))
    }

    /// Moves to the point with the given weights.
    pub fn stand(&mut self, observations: &Observations<'_>, terms: &PackedTerms, weights: &[f64]) {
        self.here.resize(observations.len(), 0.0);
        terms.scores(weights, &mut self.here);
    }

    /// The statistic at `self.here`; leaves its slopes in the scores in `self.slopes`.
    pub fn value_here(&mut self, observations: &Observations<'_>) -> f64 {
        let circle = GridCircle::point(&self.here);
        let value = self.ramp.at(observations, circle, 0.0).value;
        match &self.ramp {
            RampObjective::Exact(ramp) => ramp.slopes().clone_into(&mut self.slopes),
            RampObjective::Grid(ramp) => ramp.slopes(observations, &self.here, &mut self.slopes),
        }
        value
    }

    /// The statistic at an angle of the circle through `self.here` along `self.across`.
    pub fn at(&mut self, observations: &Observations<'_>, angle: f64) -> RampOnCircle {
        self.ramp.at(observations, GridCircle::new(&self.here, &self.across), angle)
    }

    /// [`line_search`] along the circle through `self.here` and `self.across`.
    pub fn search(&mut self, observations: &Observations<'_>, arc: CircleArc) -> (f64, f64) {
        let circle = GridCircle::new(&self.here, &self.across);
        line_search(|angle| self.ramp.at(observations, circle, angle), arc)
    }

    /// Moves `self.here` along the circle.
    pub fn turn(&mut self, angle: f64) {
        // Scores are linear in the weights: those of the new point follow from two vectors, without
        // a look at the terms.
        let (sin, cos) = angle.sin_cos();
        for (here, across) in self.here.iter_mut().zip(&self.across) {
            *here = cos * *here + sin * across;
        }
    }

    /// Climbs from `weights`, whose scores are `self.here`; returns the statistic reached.
    ///
    /// Each great circle starts in the direction of the tangent gradient, conjugate to the circle
    /// before (Polak and Ribière). It ends where a weight reaches the bound of its sign; from then
    /// on the weight stays at zero until the gradient leads it back.
    pub fn climb(
        &mut self,
        observations: &Observations<'_>,
        SignedTerms { terms, signs }: SignedTerms<'_>,
        weights: &mut [f64],
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<f64, RankError> {
        let mut value = self.value_here(observations);
        if weights.len() < 2 {
            return Ok(value);
        }
        let radius = norm(weights);
        // Of the last circle: tangent gradient at its start, transported direction at its end.
        let mut before: Option<(Vec<f64>, Vec<f64>)> = None;
        let mut first_angle = FIRST_ANGLE;
        for circle in 0..limits.circles {
            interrupt.check()?;
            let mut tangent = terms.gradient(&self.slopes);
            hold_back(&mut tangent, weights, radius, signs);
            project(&mut tangent, weights);
            let steepness = norm(&tangent);
            if steepness == 0.0 || steepness * radius < limits.least_gain && !limits.walks {
                break;
            }
            let mut direction = tangent.clone();
            if let Some((then, carried)) = &before {
                let change: f64 =
                    tangent.iter().zip(then).map(|(now, then)| now * (now - then)).sum();
                // Where the share is below 0, the direction starts anew from the gradient, as is
                // usual with the method of Polak and Ribière.
                let share = (change / dot(then, then)).max(0.0);
                let mut turned: Vec<f64> =
                    tangent.iter().zip(carried).map(|(t, c)| t + share * c).collect();
                hold_back(&mut turned, weights, radius, signs);
                // Signs that hold weights back may have turned it downhill.
                if dot(&turned, &tangent) > 0.0 {
                    direction = turned;
                }
            }
            project(&mut direction, weights);
            let length = norm(&direction);
            // A tangent that consists of rounding errors may vanish.
            if length == 0.0 {
                break;
            }
            let slope = radius * dot(&direction, &tangent) / length;
            for d in &mut direction {
                *d *= radius / length;
            }
            self.across.resize(observations.len(), 0.0);
            terms.scores(&direction, &mut self.across);
            let bounds = angles_to_bounds(weights, &direction, signs);
            let end = bounds.iter().copied().fold(f64::INFINITY, f64::min);
            let arc = CircleArc { value, slope, first: first_angle.min(end), end };
            let (mut found, mut angle) = self.search(observations, arc);
            // On a plateau the slope says nothing of what comes after it: on two of 16 data sets of
            // 44 rows the line search ended up to 0.023 of the statistic below a full ascent.
            if limits.walks
                && found - value < limits.least_gain
                && let Some(few) = FewScores::of(observations, &self.here, &self.across)
                && let (gain, beyond) = few.highest(end)
                && gain >= limits.least_gain
                && gain > found - value
            {
                (found, angle) = (value + gain, beyond);
            }
            let gain = found - value;
            if gain <= 0.0 {
                break;
            }
            // An angle from the exhaustive search, or up to a bound, is no guide for the next
            // circle.
            let at_bound = angle >= end;
            let is_guide = (0.0..=LARGEST_STEP).contains(&angle) && !at_bound;
            first_angle = if is_guide { angle } else { FIRST_ANGLE };
            let (sin, cos) = angle.sin_cos();
            // The direction transported to the end of the circle, with its original length.
            let carried = weights.iter().zip(&direction);
            let carried = carried.map(|(w, d)| (cos * d - sin * w) * length / radius).collect();
            before = Some((tangent, carried));
            turn_weights(weights, &direction, angle, radius);
            for ((weight, bound), sign) in weights.iter_mut().zip(bounds).zip(signs) {
                if angle >= bound || !sign.allows(*weight) {
                    *weight = 0.0;
                }
            }
            self.turn(angle);
            value = found;
            if gain < limits.least_gain && !at_bound || circle + 1 == limits.circles {
                break;
            }
            value = self.value_here(observations);
        }
        Ok(value)
    }
}

/// The part of a great circle that is searched.
#[derive(Debug, Clone, Copy)]
pub(super) struct CircleArc {
    /// The statistic at its start, and its slope in the angle.
    pub value: f64,
    pub slope: f64,
    /// The first angle that is tried.
    pub first: f64,
    /// The largest angle.
    pub end: f64,
}

/// Line search along an arc by the secant method on the slope. If no point is higher than the
/// start, smaller angles are tried until one is (DECISIONS A12). Returns the best value and angle,
/// which may be those of the start.
pub(super) fn line_search(
    mut at: impl FnMut(f64) -> RampOnCircle,
    CircleArc { value, slope, first, end }: CircleArc,
) -> (f64, f64) {
    let (mut last, mut angle) = ((0.0, slope), first);
    let mut best = (value, 0.0);
    for _ in 0..MOST_EVALUATIONS {
        let found = at(angle);
        if found.value > best.0 {
            best = (found.value, angle);
        }
        // Where the slope does not fall, its secant leads to a minimum: the search goes on uphill,
        // by the longest step. The statistic is piecewise linear, so that a step may also end
        // lower, and the best point of all is returned.
        let bend = (found.slope - last.1) / (angle - last.0);
        let step =
            if bend < 0.0 { -found.slope / bend } else { found.slope.signum() * LARGEST_STEP };
        let step = step.clamp(-LARGEST_STEP, LARGEST_STEP).min(end - angle);
        last = (angle, found.slope);
        if found.slope.abs() < FLAT * slope || angle + step <= 0.0 || step == 0.0 {
            break;
        }
        angle += step;
    }
    let mut smaller = first.min(FIRST_ANGLE);
    while best.1 == 0.0 && smaller > 1e-5 {
        smaller /= 4.0;
        let found = at(smaller);
        if found.value > best.0 {
            best = (found.value, smaller);
        }
    }
    best
}

/// Moves weights along the circle, and renormalises them to the sphere.
fn turn_weights(weights: &mut [f64], direction: &[f64], angle: f64, radius: f64) {
    let (sin, cos) = angle.sin_cos();
    for (weight, direction) in weights.iter_mut().zip(direction) {
        *weight = cos * *weight + sin * direction;
    }
    let scale = radius / norm(weights);
    for weight in weights {
        *weight *= scale;
    }
}

/// Removes the component along `weights`.
fn project(vector: &mut [f64], weights: &[f64]) {
    let along = dot(vector, weights) / dot(weights, weights);
    for (v, w) in vector.iter_mut().zip(weights) {
        *v -= along * w;
    }
}

pub(super) fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aurora::binary_feature::BinaryTerm;
    use crate::aurora::observations::tests::{ExampleRows, literals};
    use crate::aurora::packed::Sign;
    use crate::data::mix;

    const LIMITS: Limits = Limits { circles: 30, least_gain: 1e-8, walks: true };

    /// Some terms, and weights of norm `radius`.
    fn start(observations: &Observations<'_>, seed: u64, radius: f64) -> (PackedTerms, Vec<f64>) {
        let mut terms = PackedTerms::default();
        let mut weights = Vec::new();
        for (place, literal) in literals(observations).into_iter().enumerate().step_by(3) {
            terms.push(&observations.on(BinaryTerm::First(literal)));
            weights.push((mix(seed ^ mix(place as u64)) % 100) as f64 - 49.5);
        }
        let factor = radius / norm(&weights);
        for weight in &mut weights {
            *weight *= factor;
        }
        (terms, weights)
    }

    fn exact_value(observations: &Observations<'_>, terms: &PackedTerms, weights: &[f64]) -> f64 {
        let mut climber = Climber::exact(observations);
        climber.stand(observations, terms, weights);
        climber.value_here(observations)
    }

    #[test]
    fn an_ascent_rises_stays_on_the_sphere_and_keeps_its_scores() {
        for (n, seed, radius) in [(300, 1, 1.0), (300, 2, 6.0), (4000, 3, 1.5), (4000, 4, 5.0)] {
            ExampleRows::new(n, seed).observe(None, |observations| {
                let (terms, mut weights) = start(observations, seed, radius);
                let before = exact_value(observations, &terms, &weights);
                let mut climber = Climber::new(observations);
                climber.stand(observations, &terms, &weights);
                let value = climber
                    .climb(
                        observations,
                        SignedTerms::free(&terms),
                        &mut weights,
                        LIMITS,
                        &Interrupt::default(),
                    )
                    .unwrap();
                let after = exact_value(observations, &terms, &weights);
                assert!(after > before + 0.05, "{before} {after}");
                assert!((value - after).abs() < 1e-5, "{value} {after}");
                assert!((norm(&weights) - radius).abs() < 1e-9);
                let mut scores = vec![0.0; observations.len()];
                terms.scores(&weights, &mut scores);
                let off = scores.iter().zip(&climber.here).map(|(a, b)| (a - b).abs());
                assert!(off.fold(0.0, f64::max) < 1e-9);
            });
        }
    }

    #[test]
    fn bound_weights_keep_their_signs_and_the_others_continue_to_climb() {
        let mut n_held = 0;
        for (n, seed, radius) in [(300, 1, 1.0), (300, 2, 6.0), (4000, 3, 1.5), (4000, 4, 5.0)] {
            ExampleRows::new(n, seed).observe(None, |observations| {
                let (terms, start) = start(observations, seed, radius);
                let sign = |(place, &weight): (usize, &f64)| match (place % 4, weight > 0.0) {
                    (0, _) => Sign::Free,
                    (_, true) => Sign::Positive,
                    (_, false) => Sign::Negative,
                };
                let signs: Vec<Sign> = start.iter().enumerate().map(sign).collect();
                let climb = |signs: &[Sign]| {
                    let mut weights = start.clone();
                    let mut climber = Climber::exact(observations);
                    climber.stand(observations, &terms, &weights);
                    let interrupt = Interrupt::default();
                    let terms = SignedTerms { terms: &terms, signs };
                    let value =
                        climber.climb(observations, terms, &mut weights, LIMITS, &interrupt);
                    (value.unwrap(), weights)
                };
                let (free, _) = climb(&vec![Sign::Free; start.len()]);
                let (bound, weights) = climb(&signs);
                assert!(weights.iter().zip(&signs).all(|(weight, sign)| sign.allows(*weight)));
                assert!((norm(&weights) - radius).abs() < 1e-9);
                let value = exact_value(observations, &terms, &weights);
                assert!((value - bound).abs() < 1e-9, "{value} {bound}");
                let before = exact_value(observations, &terms, &start);
                assert!(bound > before + 0.02 && bound < free, "{before} {bound} {free}");
                n_held += weights.iter().filter(|weight| **weight == 0.0).count();
            });
        }
        assert!(n_held > 3, "{n_held}");
    }

    #[test]
    fn no_circle_of_an_exact_ascent_falls() {
        ExampleRows::new(500, 5).observe(None, |observations| {
            let (terms, mut weights) = start(observations, 5, 4.0);
            let mut last = exact_value(observations, &terms, &weights);
            for _ in 0..12 {
                let mut climber = Climber::exact(observations);
                climber.stand(observations, &terms, &weights);
                let limits = Limits { circles: 1, least_gain: 0.0, walks: false };
                climber
                    .climb(
                        observations,
                        SignedTerms::free(&terms),
                        &mut weights,
                        limits,
                        &Interrupt::default(),
                    )
                    .unwrap();
                let value = exact_value(observations, &terms, &weights);
                assert!(value >= last - 1e-13, "{last} {value}");
                last = value;
            }
        });
    }

    #[test]
    fn two_weights_climb_to_the_highest_point_of_their_circle() {
        ExampleRows::new(800, 6).observe(None, |observations| {
            let all = literals(observations);
            let mut terms = PackedTerms::default();
            for literal in [all[8], all[28]] {
                terms.push(&observations.on(BinaryTerm::First(literal)));
            }
            let at = |angle: f64| [2.0 * angle.cos(), 2.0 * angle.sin()];
            let highest = (0..2000)
                .map(|step| {
                    exact_value(
                        observations,
                        &terms,
                        &at(f64::from(step) * 0.001 * std::f64::consts::PI),
                    )
                })
                .fold(0.0, f64::max);
            let mut weights = at(0.0).to_vec();
            let mut climber = Climber::exact(observations);
            climber.stand(observations, &terms, &weights);
            let value = climber
                .climb(
                    observations,
                    SignedTerms::free(&terms),
                    &mut weights,
                    LIMITS,
                    &Interrupt::default(),
                )
                .unwrap();
            assert!(value > highest - 1e-4, "{value} {highest}");
        });
    }

    #[test]
    fn an_ascent_can_be_stopped() {
        ExampleRows::new(300, 7).observe(None, |observations| {
            let (terms, mut weights) = start(observations, 7, 1.0);
            let interrupt = Interrupt::default();
            interrupt.stop();
            let mut climber = Climber::new(observations);
            climber.stand(observations, &terms, &weights);
            let found = climber.climb(
                observations,
                SignedTerms::free(&terms),
                &mut weights,
                LIMITS,
                &interrupt,
            );
            assert_eq!(found, Err(RankError::Interrupted));
        });
    }
}
