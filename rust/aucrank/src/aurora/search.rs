//! Terms chosen one by one, each followed by an ascent (table 3).

use super::ascent::{Climber, Limits};
use super::exact_ramp::{Statistics, statistics};
use super::observations::Observations;
use super::packed::PackedTerms;
use super::select::{Climbed, Depth, Position};
use super::term::{BinaryTerm, Literal};
use crate::{Interrupt, RankError};

/// How terms are searched for.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchParams {
    pub max_terms: usize,
    pub order: usize,
    pub radius: f64,
    pub depth: Depth,
    /// What a term has to add to the statistic: at first, and at last.
    pub first_gain: f64,
    pub last_gain: f64,
    /// Of the ascents of the short list, and of the term that was chosen.
    pub short_limits: Limits,
    pub limits: Limits,
}

/// A score of the first k terms.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub weights: Vec<f64>,
    /// On the rows learned from, and on those held out.
    pub train: Statistics,
    pub validation: Option<Statistics>,
}

/// What a search found: terms in their order, and the score after each.
#[derive(Debug, Clone, Default)]
pub(super) struct Path {
    pub terms: Vec<BinaryTerm>,
    pub steps: Vec<Step>,
}

/// Rows with the terms of a score.
struct Scored<'a, 'b> {
    observations: &'a Observations<'b>,
    terms: PackedTerms,
    scores: Vec<f64>,
}

impl<'a, 'b> Scored<'a, 'b> {
    fn new(observations: &'a Observations<'b>) -> Self {
        let scores = vec![0.0; observations.len()];
        Self { observations, terms: PackedTerms::default(), scores }
    }

    fn push(&mut self, term: BinaryTerm) {
        self.terms.push(&self.observations.on(term));
    }

    fn statistics(&mut self, weights: &[f64]) -> Statistics {
        self.terms.scores(weights, &mut self.scores);
        statistics(self.observations, &self.scores)
    }
}

/// Searches for terms on some rows, and looks at others after each.
pub(super) fn search(
    observations: &Observations<'_>,
    held_out: Option<&Observations<'_>>,
    params: &SearchParams,
    interrupt: &Interrupt,
) -> Result<Path, RankError> {
    let mut path = Path::default();
    let Some((term, sign)) = best_alone(observations) else { return Ok(path) };
    let mut rows = Scored::new(observations);
    let mut held_out = held_out.map(Scored::new);
    let mut climber = Climber::default();
    let mut weights = vec![sign * params.radius];
    let mut next = Some(term);
    let mut gain = params.first_gain;
    while let Some(term) = next {
        path.terms.push(term);
        rows.push(term);
        if let Some(held_out) = &mut held_out {
            held_out.push(term);
        }
        climber.here.resize(observations.len(), 0.0);
        rows.terms.scores(&weights, &mut climber.here);
        climber.climb(observations, &rows.terms, &mut weights, params.limits);
        let train = rows.statistics(&weights);
        let validation = held_out.as_mut().map(|rows| rows.statistics(&weights));
        path.steps.push(Step { weights: weights.clone(), train, validation });
        interrupt.check()?;
        if path.terms.len() >= params.max_terms {
            break;
        }
        climber.here.clone_from(&rows.scores);
        let value = climber.value_here(observations);
        let position = Position {
            observations,
            chosen: &path.terms,
            terms: &rows.terms,
            weights: &weights,
            radius: params.radius,
            scores: &rows.scores,
            slopes: &climber.slopes,
            value,
            limits: params.short_limits,
            interrupt,
        };
        let found = choose(&position, params, &mut gain)?;
        next = found.as_ref().map(|found| found.term);
        if let Some(found) = found {
            weights = found.weights;
        }
    }
    Ok(path)
}

/// The next term: the best of one feature if it adds enough, else the best of two, else what is enough
/// is halved (sec. 3.1; DECISIONS A16). The best of either kind does not change meanwhile.
fn choose(
    position: &Position<'_, '_>,
    params: &SearchParams,
    enough: &mut f64,
) -> Result<Option<Climbed>, RankError> {
    let adds = |found: &Option<Climbed>| {
        found.as_ref().map_or(0.0, |found| found.value - position.value)
    };
    let one = position.best_of_one(params.depth)?;
    if adds(&one) > *enough {
        return Ok(one);
    }
    let two = if params.order > 1 { position.best_of_two(params.depth)? } else { None };
    loop {
        if adds(&one) > *enough {
            return Ok(one);
        }
        if adds(&two) > *enough {
            return Ok(two);
        }
        *enough /= 2.0;
        if *enough < params.last_gain {
            return Ok(None);
        }
    }
}

/// The term of one feature with the best AUC on its own, and the sign of its weight (DECISIONS A11).
fn best_alone(observations: &Observations<'_>) -> Option<(BinaryTerm, f64)> {
    let shares: Vec<f64> = observations
        .shares
        .iter()
        .enumerate()
        .map(|(row, &share)| if row < observations.n_pos { share } else { -share })
        .collect();
    let mut best: Option<(BinaryTerm, f64)> = None;
    for feature in 0..observations.binarizer.features.len() {
        // The AUC of a binary term is 1/2 + (TPR - FPR) / 2.
        for (slot, excess) in observations.sums_by_term(feature, &shares).into_iter().enumerate() {
            if best.is_none_or(|best| excess.abs() > best.1.abs()) {
                best = Some((BinaryTerm::First(Literal { feature, slot }), excess));
            }
        }
    }
    best.map(|(term, excess)| (term, if excess < 0.0 { -1.0 } else { 1.0 }))
}
