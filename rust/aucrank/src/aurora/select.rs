//! Selection of the next term (sec. 3.1).

use std::f64::consts::PI;

use rayon::prelude::*;

use super::ascent::{Climber, FIRST_ANGLE, Limits};
use super::observations::Observations;
use super::packed::PackedTerms;
use super::params::SearchDepth;
use super::term::{BinaryTerm, Literal};
use crate::{Interrupt, RankError};

/// Angle of the contour midpoint.
const MIDPOINT: f64 = PI / 6.0;

/// The current point of the ascent.
pub(super) struct Position<'a, 'b> {
    pub observations: &'a Observations<'b>,
    pub chosen: &'a [BinaryTerm],
    pub terms: &'a PackedTerms,
    pub weights: &'a [f64],
    pub radius: f64,
    /// Scores, and the slopes of the statistic in them.
    pub scores: &'a [f64],
    pub slopes: &'a [f64],
    /// The statistic on the grid.
    pub value: f64,
    /// A circle that gains less ends an ascent.
    pub least_gain: f64,
    pub depth: SearchDepth,
    pub interrupt: &'a Interrupt,
}

/// A candidate for the next term.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    term: BinaryTerm,
    /// Its anti-polar gradient.
    gradient: f64,
    /// The statistic at its contour midpoint, if evaluated.
    midpoint: Option<f64>,
}

impl Candidate {
    fn new(term: BinaryTerm, gradient: f64) -> Self {
        Self { term, gradient, midpoint: None }
    }
}

/// A candidate after its ascent.
#[derive(Debug, Clone)]
pub(super) struct Climbed {
    pub term: BinaryTerm,
    pub weights: Vec<f64>,
    pub value: f64,
}

impl Position<'_, '_> {
    /// The candidate that climbs highest, among those not yet in the score.
    pub fn best(&self, candidates: &mut [Candidate]) -> Result<Option<Climbed>, RankError> {
        let is_new = |candidate: &Candidate| !self.chosen.contains(&candidate.term);
        let climbed: Vec<Climbed> = self
            .short_list(candidates, is_new, self.depth.shortlist)?
            .into_par_iter()
            .map_init(
                || Climber::new(self.observations),
                |climber, candidate| self.climb(climber, candidate),
            )
            .collect::<Result<_, RankError>>()?;
        let higher =
            |best: Climbed, other: Climbed| if other.value > best.value { other } else { best };
        Ok(climbed.into_iter().reduce(higher))
    }

    /// All terms of one feature.
    pub fn first_order(&self) -> Vec<Candidate> {
        let of_feature = |feature: usize| {
            let gradients = self.observations.sums_by_term(feature, self.slopes);
            gradients.into_iter().enumerate().map(move |(slot, gradient)| {
                Candidate::new(BinaryTerm::First(Literal { feature, slot }), gradient)
            })
        };
        let n_features = self.observations.binarizer.features.len();
        (0..n_features).into_par_iter().flat_map_iter(of_feature).collect()
    }

    /// Pairs of the best one-feature terms, including those of the score (DECISIONS A13, A14): all
    /// gradients follow from the weighted counts of where both terms are on.
    pub fn second_order(&self, first_order: &mut [Candidate]) -> Result<Vec<Candidate>, RankError> {
        let short = self.short_list(first_order, |_| true, self.depth.combined / 2)?;
        let literals: Vec<Literal> =
            short.iter().flat_map(|candidate| candidate.term.literals()).collect();
        let columns: Vec<Vec<u64>> =
            literals.par_iter().map(|&literal| self.observations.bits(literal)).collect();
        let single: Vec<f64> =
            columns.iter().map(|bits| sum_where(bits, bits, self.slopes)).collect();
        let of_first = |a: usize| {
            let (literals, columns, single) = (&literals, &columns, &single);
            (a + 1..literals.len()).flat_map(move |b| {
                let both = sum_where(&columns[a], &columns[b], self.slopes);
                let first = literals[a].min(literals[b]);
                let second = literals[a].max(literals[b]);
                let and = Candidate::new(BinaryTerm::And(first, second), both);
                let either = single[a] + single[b] - both;
                let or = Candidate::new(BinaryTerm::Or(first, second), either);
                let features = &self.observations.binarizer.features;
                let is_new = first.feature != second.feature;
                let or_is_new =
                    is_new || !features[first.feature].are_thresholds(first.slot, second.slot);
                is_new.then_some(and).into_iter().chain(or_is_new.then_some(or))
            })
        };
        Ok((0..literals.len()).into_par_iter().flat_map_iter(of_first).collect())
    }

    /// The best of the candidates that satisfy `is_eligible`, by midpoint and by gradient, each once;
    /// the lower index first among equals (DECISIONS A24). Midpoints are evaluated for the steepest
    /// only, and once.
    fn short_list(
        &self,
        candidates: &mut [Candidate],
        is_eligible: impl Fn(&Candidate) -> bool,
        n_each: usize,
    ) -> Result<Vec<Candidate>, RankError> {
        self.interrupt.check()?;
        candidates.sort_by(|a, b| b.gradient.abs().total_cmp(&a.gradient.abs()));
        let mut eligible: Vec<&mut Candidate> =
            candidates.iter_mut().filter(|candidate| is_eligible(candidate)).collect();
        let n_midpoints = eligible.len().min(self.depth.midpoints);
        let steepest = &mut eligible[..n_midpoints];
        let unknown = steepest.par_iter_mut().filter(|candidate| candidate.midpoint.is_none());
        unknown.for_each_init(
            || Climber::new(self.observations),
            |climber, candidate| {
                self.aim(climber, **candidate);
                candidate.midpoint = Some(climber.value_at(self.observations, MIDPOINT));
            },
        );
        let mut short: Vec<Candidate> = steepest.iter().map(|candidate| **candidate).collect();
        let value = |candidate: &Candidate| candidate.midpoint.unwrap_or(f64::NEG_INFINITY);
        short.sort_by(|a, b| value(b).total_cmp(&value(a)));
        short.truncate(n_each);
        for candidate in eligible.into_iter().take(n_each) {
            if !short.iter().any(|other| other.term == candidate.term) {
                short.push(*candidate);
            }
        }
        Ok(short)
    }

    /// Places a climber on the circle from here to the pole of a candidate.
    fn aim(&self, climber: &mut Climber, candidate: Candidate) -> Vec<u8> {
        let on = self.observations.on(candidate.term);
        climber.here.clear();
        climber.here.extend_from_slice(self.scores);
        let pole = self.radius * candidate.gradient.signum();
        climber.across.clear();
        climber.across.extend(on.iter().map(|&on| pole * f64::from(on)));
        on
    }

    /// The trial ascent of a given term, equal to that from the short list.
    pub fn climb_to(&self, term: BinaryTerm) -> Result<Climbed, RankError> {
        // Equal to the sums of `first_order` and `second_order`, to the last bit.
        let of_pair = |a: Literal, b: Literal| {
            let [a, b] = [a, b].map(|literal| self.observations.bits(literal));
            let single = |bits: &[u64]| sum_where(bits, bits, self.slopes);
            (sum_where(&a, &b, self.slopes), single(&a) + single(&b))
        };
        let gradient = match term {
            BinaryTerm::First(Literal { feature, slot }) => {
                self.observations.sums_by_term(feature, self.slopes)[slot]
            }
            BinaryTerm::And(a, b) => of_pair(a, b).0,
            BinaryTerm::Or(a, b) => {
                let (both, singles) = of_pair(a, b);
                singles - both
            }
        };
        self.climb(&mut Climber::new(self.observations), Candidate::new(term, gradient))
    }

    fn climb(&self, climber: &mut Climber, candidate: Candidate) -> Result<Climbed, RankError> {
        self.interrupt.check()?;
        let on = self.aim(climber, candidate);
        let midpoint = candidate.midpoint;
        let midpoint = midpoint.unwrap_or_else(|| climber.value_at(self.observations, MIDPOINT));
        let start = if midpoint > self.value { MIDPOINT } else { FIRST_ANGLE };
        let slope = self.radius * candidate.gradient.abs();
        let (value, angle) = climber.search(self.observations, self.value, slope, start);
        let (sin, cos) = angle.sin_cos();
        let mut weights: Vec<f64> = self.weights.iter().map(|weight| cos * weight).collect();
        weights.push(sin * self.radius * candidate.gradient.signum());
        let mut climbed = Climbed { term: candidate.term, weights, value };
        if self.depth.circles > 1 && value > self.value {
            climber.turn(angle);
            let mut terms = self.terms.clone();
            terms.push(&on);
            let (circles, least_gain) = (self.depth.circles - 1, self.least_gain);
            let limits = Limits { circles, least_gain, walks: false };
            climbed.value = climber.climb(
                self.observations,
                &terms,
                &mut climbed.weights,
                limits,
                self.interrupt,
            )?;
        }
        Ok(climbed)
    }
}

/// Sum of the values where both bits are set, always in the same order.
fn sum_where(a: &[u64], b: &[u64], values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    for ((&a, &b), values) in a.iter().zip(b).zip(values.chunks(64)) {
        let word = a & b;
        for (place, &value) in values.iter().enumerate() {
            lanes[place % 8] += value * ((word >> place) & 1) as f64;
        }
    }
    lanes.iter().sum()
}
