//! `AURORA` and `RankOpt` as formulas.

use super::binary_feature::{BinaryFeature, TermTest};
use super::model::Aurora;
use super::rank_opt::RankOpt;
use super::term::{BinaryTerm, Literal};
use crate::data::LevelSet;
use crate::formula::{Condition, Formula, Linear, LinearTerm};
use crate::formula::{Rule, Test};

impl Aurora {
    /// Its score: the weights of the terms that are on, less the threshold.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let tests: Vec<Vec<TermTest>> =
            self.binarizer().features.iter().map(BinaryFeature::tests).collect();
        let is_on =
            |Literal { feature, slot }| Condition::Test(test_of(feature, tests[feature][slot]));
        let indicators = self.terms().iter().zip(self.values()).map(|(term, &value)| {
            let condition = match *term {
                BinaryTerm::First(a) => is_on(a),
                BinaryTerm::And(a, b) => Condition::All(vec![is_on(a), is_on(b)]),
                BinaryTerm::Or(a, b) => Condition::Any(vec![is_on(a), is_on(b)]),
            };
            Formula::Indicator { condition, value }
        });
        let threshold = Formula::Constant(-self.threshold());
        Formula::Sum(std::iter::once(threshold).chain(indicators).collect())
    }
}

/// Whether a binary term is on.
fn test_of(feature: usize, test: TermTest) -> Test {
    let (left, missing_left) = match test {
        TermTest::AtLeast(threshold) => (Rule::AtLeast(threshold), false),
        TermTest::Equals(code) => (Rule::Levels(LevelSet::only([code])), false),
        TermTest::Missing => (Rule::Known(false), true),
    };
    Test { feature, left, missing_left }
}

impl RankOpt {
    /// Its score: a weighted sum less the threshold.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let weighted = self.coefficients().iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let terms = weighted.map(|(feature, &weight)| LinearTerm { feature, weight, scale: None });
        Formula::Linear(Linear { terms: terms.collect(), intercept: -self.threshold() })
    }
}
