//! The forest as a formula.

use super::ranking_forest::{Aggregation, RankingForest};
use crate::formula::{Formula, Opaque};
use crate::tree::model::RankingTree;

impl RankingForest {
    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        Formula::Sum(vec![self.unshifted_formula(), Formula::Constant(-self.middle())])
    }

    /// [`RankingForest::probability`] where it is no function of the score in double precision: of
    /// aggregated rankings, whose steps lie between scores before they are shifted.
    #[must_use]
    pub fn probability_formula(&self) -> Option<Formula> {
        let (thresholds, values) = self.calibration.as_ref()?.steps();
        Some(Formula::StepsOf { of: Box::new(self.unshifted_formula()), thresholds, values })
    }

    fn unshifted_formula(&self) -> Formula {
        let of_tree = |tree: &RankingTree| Formula::Tree(tree.formula(&self.leaf_values(tree)));
        let trees: Vec<Formula> = self.trees().iter().map(of_tree).collect();
        match self.aggregation() {
            Aggregation::Eta | Aggregation::RankMean => Formula::Quotient {
                denominator: Box::new(Formula::Constant(trees.len() as f64)),
                numerator: Box::new(Formula::Sum(trees)),
                otherwise: 0.0,
            },
            Aggregation::RankMedian => Formula::Median(trees),
            Aggregation::Kendall => Formula::Opaque(Opaque::Consensus),
        }
    }
}
