//! Forward selection of terms, each followed by an ascent (table 3).

use super::ascent::{Climber, Limits};
use super::binary_feature::{BinaryTerm, Literal};
use super::circle::{Ranked, n_distinct_at_midpoint};
use super::observations::Observations;
use super::packed::{PackedTerms, Sign, SignedTerms};
use super::params::AuroraParams;
use super::ramp::{ExactRamp, Statistics};
use super::select::{ClimbedCandidate, Position};
use super::trial::TrialGrid;
use crate::roc::smoothed;
use crate::{Interrupt, RankError, parallel};

/// An ascent within the search ends with a circle that gains less than this.
const LEAST_GAIN: f64 = 1e-6;
/// The same for the final ascent of the weights (DECISIONS A12).
const LEAST_LAST_GAIN: f64 = 1e-8;
/// Maximum number of great circles of an ascent.
const MOST_CIRCLES: usize = 30;

/// Number of distinct scores from which trials use cells of scores instead of rows, however few
/// rows there are: with fewer, the differences of many pairs may lie near a corner of the ramp.
const MANY_SCORES: usize = 256;

/// The score of the first k terms, with its statistics on the training and the held-out rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SelectionStep {
    pub weights: Vec<f64>,
    pub train: Statistics,
    pub validation: Option<Statistics>,
}

/// The result of a search: terms in order, and the score after each.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    pub terms: Vec<BinaryTerm>,
    pub steps: Vec<SelectionStep>,
    /// The current required gain of a term.
    pub enough: f64,
    /// Whether no term is to follow, however many there may be.
    pub ended: bool,
}

impl Path {
    /// No terms yet; `enough` is the required gain of the first.
    pub fn new(enough: f64) -> Self {
        Self { enough, ..Self::default() }
    }
}

/// Rows with the terms of a score.
#[derive(Debug)]
struct ScoredCandidates<'a, 'b> {
    observations: &'a Observations<'b>,
    /// As [`AuroraParams::monotonic`].
    monotonic: &'a [i8],
    terms: PackedTerms,
    /// The signs that the weights of the terms may have.
    signs: Vec<Sign>,
    scores: Vec<f64>,
    ramp: ExactRamp,
}

impl<'a, 'b> ScoredCandidates<'a, 'b> {
    fn of(observations: &'a Observations<'b>, terms: &[BinaryTerm], monotonic: &'a [i8]) -> Self {
        let mut scored = Self {
            observations,
            monotonic,
            terms: PackedTerms::default(),
            signs: Vec::new(),
            scores: vec![0.0; observations.len()],
            ramp: ExactRamp::new(observations),
        };
        for &term in terms {
            scored.push(term);
        }
        scored
    }

    fn push(&mut self, term: BinaryTerm) {
        self.terms.push(&self.observations.on(term));
        let features = &self.observations.binarizer.features;
        self.signs.push(Sign::of(term, features, self.monotonic));
    }

    fn statistics(&mut self, weights: &[f64]) -> Statistics {
        self.terms.scores(weights, &mut self.scores);
        self.ramp.of(&self.scores)
    }

    /// Climbs from `weights` such that the exact statistic never decreases: if an ascent on the
    /// grid loses, an exact one replaces it.
    fn climb(
        &mut self,
        climber: &mut Climber,
        weights: &mut Vec<f64>,
        least_gain: f64,
        interrupt: &Interrupt,
    ) -> Result<Statistics, RankError> {
        let limits = Limits { circles: MOST_CIRCLES, least_gain, walks: true };
        let start = weights.clone();
        let Self { observations, terms, signs, scores, ramp, .. } = self;
        let (observations, terms) = (*observations, &*terms);
        let mut statistics = |weights: &[f64]| {
            terms.scores(weights, scores);
            ramp.of(scores)
        };
        let ascend = |climber: &mut Climber| -> Result<Vec<f64>, RankError> {
            let mut weights = start.clone();
            climber.stand(observations, terms, &weights);
            let terms = SignedTerms { terms, signs };
            climber.climb(observations, terms, &mut weights, limits, interrupt)?;
            Ok(weights)
        };
        // Two threads: the exact statistic takes a sort.
        let (before, reached) = parallel::join(|| statistics(&start), || ascend(climber));
        let mut reached = reached?;
        let mut after = statistics(&reached);
        if after.ramp < before.ramp {
            reached = ascend(&mut Climber::exact(observations))?;
            after = statistics(&reached);
        }
        if after.ramp < before.ramp {
            return Ok(before);
        }
        *weights = reached;
        Ok(after)
    }
}

/// Climbs to convergence from the weights of a score on other rows.
pub(super) fn climb_to_the_end(
    observations: &Observations<'_>,
    terms: &[BinaryTerm],
    monotonic: &[i8],
    weights: &mut Vec<f64>,
    interrupt: &Interrupt,
) -> Result<(), RankError> {
    let mut scored = ScoredCandidates::of(observations, terms, monotonic);
    let mut climber = Climber::new(observations);
    scored.climb(&mut climber, weights, LEAST_LAST_GAIN, interrupt).map(drop)
}

/// The number of the first of the highest values, counted from 1; 0 if there is none.
pub(super) fn best_number(values: &[f64]) -> usize {
    let higher = |best: usize, number: usize| {
        if best == 0 || values[number - 1] > values[best - 1] { number } else { best }
    };
    (1..=values.len()).fold(0, higher)
}

/// Scores of rows by some terms.
pub(super) fn scores_of(
    observations: &Observations<'_>,
    terms: &[BinaryTerm],
    weights: &[f64],
) -> Vec<f64> {
    let mut scored = ScoredCandidates::of(observations, terms, &[]);
    scored.terms.scores(weights, &mut scored.scores);
    scored.scores
}

/// A search for terms on some rows, with held-out rows scored after each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Search<'a, 'b> {
    pub observations: &'a Observations<'b>,
    pub held_out: Option<&'a Observations<'b>>,
    pub params: &'a AuroraParams,
    pub radius: f64,
    pub max_features: usize,
    pub interrupt: &'a Interrupt,
}

impl Search<'_, '_> {
    /// Continues a search, starting with the `given` terms, whatever their gain. Calls `chosen`
    /// after each term, which may end the search.
    pub fn run(
        &self,
        mut path: Path,
        given: &[BinaryTerm],
        chosen: &mut dyn FnMut(&SelectionStep) -> Result<bool, RankError>,
    ) -> Result<Path, RankError> {
        let monotonic = &self.params.monotonic;
        let mut rows = ScoredCandidates::of(self.observations, &path.terms, monotonic);
        let mut held_out =
            self.held_out.map(|rows| ScoredCandidates::of(rows, &path.terms, monotonic));
        let mut here = Climber::new(self.observations);
        while path.terms.len() < self.max_features && !path.ended {
            self.interrupt.check()?;
            let given = given.get(path.terms.len()).copied();
            if given.is_none() && self.is_past_its_best(&path) {
                path.ended = true;
                break;
            }
            let next = match path.steps.last() {
                None => self.first(given),
                Some(step) => {
                    here.stand(self.observations, &rows.terms, &step.weights);
                    let value = here.value_here(self.observations);
                    let n_distinct = n_distinct_at_midpoint(&here.here, MANY_SCORES);
                    // Cells also for few rows, once many of their scores are distinct: a fit to
                    // 1,990 rows takes 0.47 s of CPU, without them 1.12; one to 2,010 rows, whose
                    // statistic is on a grid anyway, 0.40.
                    let grid = (!here.is_exact() || n_distinct >= MANY_SCORES)
                        .then(|| TrialGrid::new(self.observations, &here.here))
                        .flatten();
                    // The cells of many rows replace merges of all of them, which took a third of
                    // a fit.
                    let has_cells = grid.as_ref().is_some_and(|grid| grid.is_fine);
                    let ranked = (!has_cells).then(|| Ranked::new(self.observations, &here.here));
                    let position = Position {
                        observations: self.observations,
                        chosen: &path.terms,
                        terms: &rows.terms,
                        signs: &rows.signs,
                        monotonic,
                        weights: &step.weights,
                        radius: self.radius,
                        scores: &here.here,
                        slopes: &here.slopes,
                        n_distinct,
                        ranked: ranked.as_ref(),
                        grid: grid.as_ref(),
                        value,
                        least_gain: LEAST_GAIN,
                        depth: self.params.depth,
                        interrupt: self.interrupt,
                    };
                    match given {
                        Some(term) => Some(position.climb_to(term)?),
                        None => self.next(&position, &mut path.enough)?,
                    }
                }
            };
            let Some(ClimbedCandidate { term, mut weights, .. }) = next else {
                path.ended = true;
                break;
            };
            rows.push(term);
            let train = rows.climb(&mut here, &mut weights, LEAST_GAIN, self.interrupt)?;
            let last = path.steps.last().map(|last| last.train);
            if given.is_none() && last.is_some_and(|last| train.ramp < last.ramp) {
                // The gain was an artefact of the grid.
                path.ended = true;
                break;
            }
            let validation = held_out.as_mut().map(|rows| {
                rows.push(term);
                rows.statistics(&weights)
            });
            path.terms.push(term);
            path.steps.push(SelectionStep { weights, train, validation });
            let goes_on = chosen(&path.steps[path.steps.len() - 1])?;
            let gain = last.map_or(f64::INFINITY, |last| train.auc - last.auc);
            path.ended = !goes_on || self.params.tol.is_some_and(|tol| gain < tol);
        }
        Ok(path)
    }

    /// Whether the best ranking of the held-out rows was too many terms ago.
    fn is_past_its_best(&self, path: &Path) -> bool {
        let criterion =
            |step: &SelectionStep| step.validation.map(|found| self.params.criterion.of(found));
        let found: Vec<f64> = path.steps.iter().filter_map(criterion).collect();
        let n_since = || found.len() - best_number(&smoothed(&found));
        self.params.patience.is_some_and(|patience| found.len() > patience && n_since() >= patience)
    }

    /// The one-feature term with the highest AUC on its own (DECISIONS A11).
    fn first(&self, given: Option<BinaryTerm>) -> Option<ClimbedCandidate> {
        let observations = self.observations;
        let signed = |(row, &share): (usize, &f64)| {
            if row < observations.n_pos { share } else { -share }
        };
        let shares: Vec<f64> = observations.shares.iter().enumerate().map(signed).collect();
        let mut best: Option<(BinaryTerm, f64)> = None;
        for feature in 0..observations.binarizer.features.len() {
            // TPR - FPR of a binary term: its AUC is 1/2 plus half of that.
            let excesses = observations.sums_by_term(feature, &shares);
            for (slot, excess) in excesses.into_iter().enumerate() {
                let term = BinaryTerm::First(Literal { feature, slot });
                let is_tried = match given {
                    None => self.sign(term).allows(excess),
                    Some(given) => given == term,
                };
                if is_tried && best.is_none_or(|best| excess.abs() > best.1.abs()) {
                    best = Some((term, excess));
                }
            }
        }
        let (term, excess) = best?;
        let weight = self.radius * self.sign(term).toward(excess + 0.0);
        Some(ClimbedCandidate { term, weights: vec![weight], value: 0.0 })
    }

    /// The sign that the weight of a term may have.
    fn sign(&self, term: BinaryTerm) -> Sign {
        Sign::of(term, &self.observations.binarizer.features, &self.params.monotonic)
    }

    /// The next term: the best of one feature if its gain suffices, else the best of two, else the
    /// required gain is halved. The candidates stay the same meanwhile (DECISIONS A16).
    fn next(
        &self,
        position: &Position<'_, '_>,
        enough: &mut f64,
    ) -> Result<Option<ClimbedCandidate>, RankError> {
        let adds = |found: &Option<ClimbedCandidate>| {
            found.as_ref().map_or(0.0, |found| found.value - position.value)
        };
        let mut first_order = position.first_order();
        let one = position.best(&mut first_order)?;
        if adds(&one) > *enough {
            return Ok(one);
        }
        let two = if self.params.order > 1 {
            position.best(&mut position.second_order(&mut first_order)?)?
        } else {
            None
        };
        while *enough >= self.params.last_gain {
            if adds(&one) > *enough {
                return Ok(one);
            }
            if adds(&two) > *enough {
                return Ok(two);
            }
            *enough /= 2.0;
        }
        Ok(None)
    }
}
