//! The next term (sec. 3.1).

use std::f64::consts::PI;

use rayon::prelude::*;

use super::ascent::{Climber, Limits};
use super::observations::Observations;
use super::packed::PackedTerms;
use super::params::SearchDepth;
use super::term::{BinaryTerm, Literal};
use crate::{Interrupt, RankError};

/// Angle of the contour midpoint.
const MIDPOINT: f64 = PI / 6.0;

/// Where the ascent stands.
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

/// A candidate with its anti-polar gradient.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    term: BinaryTerm,
    gradient: f64,
}

/// A candidate with the statistic at its contour midpoint.
#[derive(Debug, Clone)]
struct AtMidpoint {
    candidate: Candidate,
    value: f64,
}

/// A candidate after its ascent.
#[derive(Debug, Clone)]
pub(super) struct Climbed {
    pub term: BinaryTerm,
    pub weights: Vec<f64>,
    pub value: f64,
}

impl Position<'_, '_> {
    /// The term of one feature that climbs highest.
    pub fn best_of_one(&self) -> Result<Option<Climbed>, RankError> {
        let mut candidates = self.first_order();
        candidates.retain(|candidate| !self.chosen.contains(&candidate.term));
        self.best(&self.ranked(candidates)?)
    }

    /// The term of two features that climbs highest: pairs of the best terms of one, those of the score
    /// included (DECISIONS A13, A14).
    pub fn best_of_two(&self) -> Result<Option<Climbed>, RankError> {
        let ranked = self.ranked(self.first_order())?;
        let mut literals: Vec<Literal> = Vec::new();
        for candidate in ranked.short(self.depth.combined / 2) {
            if let BinaryTerm::First(literal) = candidate.term {
                literals.push(literal);
            }
        }
        let mut candidates = self.second_order(&literals);
        candidates.retain(|candidate| !self.chosen.contains(&candidate.term));
        self.best(&self.ranked(candidates)?)
    }

    fn first_order(&self) -> Vec<Candidate> {
        let of_feature = |feature: usize| {
            let gradients = self.observations.sums_by_term(feature, self.slopes);
            gradients.into_iter().enumerate().map(move |(slot, gradient)| Candidate {
                term: BinaryTerm::First(Literal { feature, slot }),
                gradient,
            })
        };
        let n_features = self.observations.binarizer.features.len();
        (0..n_features).into_par_iter().flat_map_iter(of_feature).collect()
    }

    /// All pairs, from the weighted counts of where both are on.
    fn second_order(&self, literals: &[Literal]) -> Vec<Candidate> {
        let columns: Vec<Vec<u64>> =
            literals.par_iter().map(|&literal| self.observations.bits(literal)).collect();
        let single: Vec<f64> =
            columns.iter().map(|bits| sum_where(bits, bits, self.slopes)).collect();
        let of_first = |a: usize| {
            let (columns, single) = (&columns, &single);
            (a + 1..literals.len()).flat_map(move |b| {
                let both = sum_where(&columns[a], &columns[b], self.slopes);
                let first = literals[a].min(literals[b]);
                let second = literals[a].max(literals[b]);
                let and = Candidate { term: BinaryTerm::And(first, second), gradient: both };
                let either = single[a] + single[b] - both;
                let or = Candidate { term: BinaryTerm::Or(first, second), gradient: either };
                let features = &self.observations.binarizer.features;
                let is_new = first.feature != second.feature;
                let or_is_new =
                    is_new || !features[first.feature].are_thresholds(first.slot, second.slot);
                is_new.then_some(and).into_iter().chain(or_is_new.then_some(or))
            })
        };
        (0..literals.len()).into_par_iter().flat_map_iter(of_first).collect()
    }

    /// Ranks candidates by gradient, and the first of these by midpoint; the lower index first among
    /// equals (DECISIONS A24).
    fn ranked(&self, mut candidates: Vec<Candidate>) -> Result<Ranked, RankError> {
        self.interrupt.check()?;
        candidates.sort_by(|a, b| b.gradient.abs().total_cmp(&a.gradient.abs()));
        candidates
            .truncate(self.depth.midpoints.max(self.depth.shortlist).max(self.depth.combined));
        let mut by_midpoint: Vec<AtMidpoint> = candidates
            .par_iter()
            .take(self.depth.midpoints)
            .map_init(
                || Climber::new(self.observations),
                |climber, &candidate| {
                    self.aim(climber, candidate);
                    AtMidpoint { candidate, value: climber.value_at(self.observations, MIDPOINT) }
                },
            )
            .collect();
        by_midpoint.sort_by(|a, b| b.value.total_cmp(&a.value));
        Ok(Ranked { by_gradient: candidates, by_midpoint })
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

    /// The candidate of the short list that climbs highest.
    fn best(&self, ranked: &Ranked) -> Result<Option<Climbed>, RankError> {
        let climbed: Vec<Climbed> = ranked
            .short(self.depth.shortlist)
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

    /// The ascent that a term would have from the short list.
    pub fn climb_to(&self, term: BinaryTerm) -> Result<Climbed, RankError> {
        // The sums of `first_order` and `second_order`, to the last bit.
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
        self.climb(&mut Climber::new(self.observations), Candidate { term, gradient })
    }

    fn climb(&self, climber: &mut Climber, candidate: Candidate) -> Result<Climbed, RankError> {
        self.interrupt.check()?;
        let on = self.aim(climber, candidate);
        let is_higher = climber.value_at(self.observations, MIDPOINT) > self.value;
        let start = if is_higher { MIDPOINT } else { FIRST_TRY };
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
            let limits = Limits { circles: self.depth.circles - 1, least_gain: self.least_gain };
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

/// First angle on the way to a pole whose midpoint is lower.
const FIRST_TRY: f64 = 0.05;

/// Candidates in two orders.
struct Ranked {
    by_gradient: Vec<Candidate>,
    by_midpoint: Vec<AtMidpoint>,
}

impl Ranked {
    /// The first of either order, each once.
    fn short(&self, n_each: usize) -> Vec<Candidate> {
        let mut short: Vec<Candidate> =
            self.by_midpoint.iter().take(n_each).map(|at| at.candidate).collect();
        for &candidate in self.by_gradient.iter().take(n_each) {
            if !short.iter().any(|other| other.term == candidate.term) {
                short.push(candidate);
            }
        }
        short
    }
}

/// Sum of the values where both bits are set, in the same order always.
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
