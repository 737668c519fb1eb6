//! Selection of the next term (sec. 3.1).

use std::f64::consts::PI;

use crate::parallel::prelude::*;

use super::ascent::{CircleArc, Climber, FIRST_ANGLE, Limits, line_search};
use super::binary_feature::{BinaryTerm, Literal};
use super::circle::{FewScores, MOST_SCORES};
use super::circle::{MIDPOINT, MergeMemory, Ranked};
use super::observations::Observations;
use super::packed::{PackedTerms, Sign, SignedTerms};
use super::params::SearchDepth;
use super::ramp::RampOnCircle;
use super::trial::{LAST_ANGLE, Trial, TrialGrid};
use crate::data::binds;
use crate::{Interrupt, RankError};

/// The current point of the ascent.
pub(super) struct Position<'a, 'b> {
    pub observations: &'a Observations<'b>,
    pub chosen: &'a [BinaryTerm],
    pub terms: &'a PackedTerms,
    /// The signs that their weights may have.
    pub signs: &'a [Sign],
    /// As [`AuroraParams::monotonic`](super::AuroraParams::monotonic).
    pub monotonic: &'a [i8],
    pub weights: &'a [f64],
    pub radius: f64,
    /// Scores, and the slopes of the statistic in them.
    pub scores: &'a [f64],
    pub slopes: &'a [f64],
    /// Number of distinct scores, of which more than [`MOST_SCORES`] may be counted in part.
    pub n_distinct: usize,
    /// The rows by their scores, if no cells give the AUC of candidates.
    pub ranked: Option<&'a Ranked>,
    /// Cells of the scores for candidates on trial; `None` if each takes passes over the rows.
    pub grid: Option<&'a TrialGrid>,
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
    /// The AUC at its contour midpoint, if evaluated.
    midpoint: Option<f64>,
}

impl Candidate {
    fn new(term: BinaryTerm, gradient: f64) -> Self {
        Self { term, gradient, midpoint: None }
    }
}

/// A candidate after its ascent.
#[derive(Debug, Clone)]
pub(super) struct ClimbedCandidate {
    pub term: BinaryTerm,
    pub weights: Vec<f64>,
    pub value: f64,
}

impl Position<'_, '_> {
    /// The candidate that climbs highest, among those not yet in the score.
    pub fn best(
        &self,
        candidates: &mut [Candidate],
    ) -> Result<Option<ClimbedCandidate>, RankError> {
        let is_new = |candidate: &Candidate| {
            !self.chosen.contains(&candidate.term)
                && self.sign(candidate.term).allows(candidate.gradient)
        };
        let climbed: Vec<ClimbedCandidate> = self
            .short_list(candidates, is_new, self.depth.shortlist)?
            .into_par_iter()
            .map_init(
                || Bench::new(self.observations),
                |bench, candidate| self.climb(bench, candidate),
            )
            .collect::<Result<_, RankError>>()?;
        let higher = |best: ClimbedCandidate, other: ClimbedCandidate| {
            if other.value > best.value { other } else { best }
        };
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
    /// gradients follow from the weighted counts of rows where both terms are on.
    pub fn second_order(&self, first_order: &mut [Candidate]) -> Result<Vec<Candidate>, RankError> {
        let short = self.short_list(first_order, |_| true, self.depth.combined / 2)?;
        let literals: Vec<Literal> =
            short.iter().flat_map(|candidate| candidate.term.literals()).collect();
        let columns: Vec<Vec<u64>> =
            literals.par_iter().map(|&literal| self.observations.bits(literal)).collect();
        let mut terms = PackedTerms::default();
        for bits in &columns {
            terms.push(&bytes_of(bits, self.slopes.len()).collect::<Vec<u8>>());
        }
        // Each pair once, in the row of its first literal.
        let both: Vec<Vec<f64>> = columns
            .par_iter()
            .enumerate()
            .map(|(first, bits)| terms.gradient_where(bits, self.slopes, first))
            .collect();
        let of_first = |a: usize| {
            let (literals, sums) = (&literals, &both);
            (a + 1..literals.len()).flat_map(move |b| {
                let both = sums[a][b - a];
                let first = literals[a].min(literals[b]);
                let second = literals[a].max(literals[b]);
                let and = Candidate::new(BinaryTerm::And(first, second), both);
                let either = sums[a][0] + sums[b][0] - both;
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

    /// The best of the candidates that satisfy `is_eligible`, by midpoint and by gradient, each
    /// once; the lower index first among equals (DECISIONS A24). Midpoints are evaluated only for
    /// the steepest, and once.
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
        unknown.for_each_init(<(MergeMemory, Trial)>::default, |(memory, trial), candidate| {
            let bits = self.observations.bits_of(candidate.term);
            let pole = self.pole(candidate.term, candidate.gradient);
            candidate.midpoint = if let Some(ranked) = self.ranked {
                Some(ranked.auc(&bits, pole, memory))
            } else {
                self.grid.map(|grid| {
                    trial.set(grid, &bits, pole);
                    trial.auc(grid, MIDPOINT)
                })
            };
        });
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

    /// The sign that the weight of a term may have.
    fn sign(&self, term: BinaryTerm) -> Sign {
        Sign::of(term, &self.observations.binarizer.features, self.monotonic)
    }

    /// The weight of a term at its pole, towards which the statistic rises if its sign allows that.
    fn pole(&self, term: BinaryTerm, gradient: f64) -> f64 {
        self.radius * self.sign(term).toward(gradient)
    }

    /// Takes the circle from here to the pole of a term.
    fn aim(&self, bench: &mut Bench, bits: &[u64], pole: f64) {
        match self.grid {
            Some(grid) => bench.trial.set(grid, bits, pole),
            None => self.stand(&mut bench.climber, bits, pole),
        }
    }

    /// Places a climber on the circle from here to the pole of a term.
    fn stand(&self, climber: &mut Climber, bits: &[u64], pole: f64) {
        climber.here.clear();
        climber.here.extend_from_slice(self.scores);
        climber.across.clear();
        climber.across.extend(bytes_of(bits, self.scores.len()).map(|on| pole * f64::from(on)));
    }

    /// The statistic at an angle of the circle.
    fn at(&self, bench: &mut Bench, angle: f64) -> RampOnCircle {
        match self.grid {
            Some(grid) => {
                let found = bench.trial.at(grid, angle);
                RampOnCircle { value: self.value + (found.value - grid.value()), ..found }
            }
            None => bench.climber.at(self.observations, angle),
        }
    }

    /// The trial ascent of a given term, equal to that from the short list.
    pub fn climb_to(&self, term: BinaryTerm) -> Result<ClimbedCandidate, RankError> {
        self.climb(&mut Bench::new(self.observations), Candidate::new(term, 0.0))
    }

    /// If few scores are distinct, the highest point of the circle to a pole, as its gain and its
    /// angle: a line search may then end on a plateau.
    fn highest(&self, bench: &mut Bench, bits: &[u64], pole: f64) -> Option<(f64, f64)> {
        if self.n_distinct > MOST_SCORES {
            return None;
        }
        self.stand(&mut bench.climber, bits, pole);
        let Climber { here, across, .. } = &bench.climber;
        Some(FewScores::of(self.observations, here, across)?.highest(self.last_angle()))
    }

    /// Searches along the circle to a pole; returns the value and the angle found.
    fn search(&self, bench: &mut Bench, bits: &[u64], pole: f64, slope: f64) -> (f64, f64) {
        self.aim(bench, bits, pole);
        let first =
            if self.at(bench, MIDPOINT).value > self.value { MIDPOINT } else { FIRST_ANGLE };
        let end = if self.grid.is_some() { LAST_ANGLE } else { self.last_angle() };
        let arc = CircleArc { value: self.value, slope, first, end };
        line_search(|angle| self.at(bench, angle), arc)
    }

    /// Largest angle: beyond a right angle the existing weights change their signs, which bounds
    /// may forbid.
    fn last_angle(&self) -> f64 {
        if binds(self.monotonic) { 0.5 * PI } else { f64::INFINITY }
    }

    fn climb(
        &self,
        bench: &mut Bench,
        candidate: Candidate,
    ) -> Result<ClimbedCandidate, RankError> {
        self.interrupt.check()?;
        let bits = self.observations.bits_of(candidate.term);
        // Summed again, so that no bit depends on the other candidates.
        let gradient = sum_where(&bits, self.slopes);
        let pole = self.pole(candidate.term, gradient);
        let (value, angle) = match self.highest(bench, &bits, pole) {
            Some((gain, angle)) => (self.value + gain, angle),
            None => self.search(bench, &bits, pole, pole * gradient),
        };
        let (sin, cos) = angle.sin_cos();
        let mut weights: Vec<f64> = self.weights.iter().map(|weight| cos * weight).collect();
        // 0 if there is no gain, not -0.
        weights.push(sin * pole + 0.0);
        let mut climbed = ClimbedCandidate { term: candidate.term, weights, value };
        if self.depth.circles > 1 && value > self.value {
            let climber = &mut bench.climber;
            self.stand(climber, &bits, pole);
            climber.turn(angle);
            let mut terms = self.terms.clone();
            terms.push(&bytes_of(&bits, self.scores.len()).collect::<Vec<u8>>());
            let (circles, least_gain) = (self.depth.circles - 1, self.least_gain);
            let limits = Limits { circles, least_gain, walks: false };
            let mut signs = self.signs.to_vec();
            signs.push(self.sign(candidate.term));
            climbed.value = climber.climb(
                self.observations,
                SignedTerms { terms: &terms, signs: &signs },
                &mut climbed.weights,
                limits,
                self.interrupt,
            )?;
        }
        Ok(climbed)
    }
}

/// Scratch memory for trials of candidates, one after another.
struct Bench {
    trial: Trial,
    climber: Climber,
}

impl Bench {
    fn new(observations: &Observations<'_>) -> Self {
        Self { trial: Trial::default(), climber: Climber::new(observations) }
    }
}

/// The bits of the rows, each as a byte.
fn bytes_of(bits: &[u64], n_rows: usize) -> impl Iterator<Item = u8> {
    (0..n_rows).map(|row| (bits[row / 64] >> (row % 64) & 1) as u8)
}

/// For each value of a byte, all bits of the places that it has set.
const MASKS: [[u64; 8]; 256] = {
    let mut masks = [[0; 8]; 256];
    let mut place = 0;
    while place < 8 * 256 {
        let (byte, bit) = (place / 8, place % 8);
        masks[byte][bit] = ((byte >> bit & 1) as u64).wrapping_neg();
        place += 1;
    }
    masks
};

/// Sum of the values where bits are set, always in the same order.
fn sum_where(bits: &[u64], values: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    for (&word, values) in bits.iter().zip(values.chunks(64)) {
        // Whole bytes take 0.7 of the time of a multiplication by each bit.
        for (byte, values) in word.to_le_bytes().into_iter().zip(values.chunks(8)) {
            let masks = &MASKS[usize::from(byte)];
            for (lane, (value, mask)) in lanes.iter_mut().zip(values.iter().zip(masks)) {
                *lane += f64::from_bits(value.to_bits() & mask);
            }
        }
    }
    lanes.iter().sum()
}
