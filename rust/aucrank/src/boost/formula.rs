//! Sums of terms and branching programs as formulas.

use super::boosted_model::BoostedModel;
use super::marti::BranchingProgram;
use super::scored::{RowScorer, ScoredTerm};
use super::term::Term;
use super::weak::linear::{LinearRanker, MOST_DEVIATIONS};
use crate::formula::{Formula, Linear, LinearTerm, Opaque, Scale};

impl BoostedModel {
    /// Its score: the terms of single features merged, then the others, round by round. Sums of their
    /// values are exact, so that the order does not matter.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let merged = self.merged_terms();
        let merged = merged.iter().map(|term| Formula::Steps(term.into()));
        let others = self.terms().iter().filter(|term| !matches!(term, Term::Feature(_)));
        let mut terms: Vec<Formula> = merged.chain(others.map(Term::formula)).collect();
        if self.scores_by_sign() {
            let values = [-1.0, 1.0].map(|sign| sign - self.threshold()).to_vec();
            let thresholds = vec![0.0];
            return Formula::StepsOf { of: Box::new(Formula::Sum(terms)), thresholds, values };
        }
        terms.push(Formula::Constant(-self.threshold()));
        Formula::Sum(terms)
    }
}

impl Term {
    pub(super) fn formula(&self) -> Formula {
        match self {
            Self::Feature(term) => Formula::Steps(term.into()),
            Self::Tree(term) => Formula::Tree(term.tree.formula(&term.values)),
            Self::Scored(ScoredTerm { scorer, thresholds, values }) => match scorer {
                RowScorer::Linear(linear) => Formula::StepsOf {
                    of: Box::new(Formula::Linear(linear.formula())),
                    thresholds: thresholds.clone(),
                    values: values.clone(),
                },
                RowScorer::External { .. } => Formula::Opaque(Opaque::ExternalRanker),
            },
        }
    }
}

impl LinearRanker {
    fn formula(&self) -> Linear {
        let term = |feature| LinearTerm {
            feature,
            weight: self.coefficients[feature],
            scale: Some(Scale {
                mean: self.means[feature],
                deviation: self.deviations[feature],
                limit: MOST_DEVIATIONS,
                unit: None,
            }),
        };
        let weighted = (0..self.means.len()).filter(|&feature| self.coefficients[feature] != 0.0);
        Linear { terms: weighted.map(term).collect(), intercept: 0.0 }
    }
}

impl BranchingProgram {
    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let (factor, constant) = self.scale_of_worth();
        let program = self.worth_formula().map_or_else(Formula::Opaque, Formula::Program);
        let score = Formula::Product { factor, of: Box::new(program) };
        Formula::Sum(vec![score, Formula::Constant(constant), Formula::Constant(-self.threshold())])
    }
}
