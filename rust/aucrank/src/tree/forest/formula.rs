//! The forest as a formula.

use super::ranking_forest::{Aggregation, RankingForest};
use crate::formula::{Formula, Opaque};
use crate::tree::model::RankingTree;

impl RankingForest {
    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let of_tree = |tree: &RankingTree| Formula::Tree(tree.formula(&self.leaf_values(tree)));
        let trees: Vec<Formula> = self.trees().iter().map(of_tree).collect();
        let together = match self.aggregation() {
            Aggregation::Eta | Aggregation::RankMean => Formula::Quotient {
                denominator: Box::new(Formula::Constant(trees.len() as f64)),
                numerator: Box::new(Formula::Sum(trees)),
                otherwise: 0.0,
            },
            Aggregation::RankMedian => Formula::Median(trees),
            Aggregation::Kendall => Formula::Opaque(Opaque::Consensus),
        };
        Formula::Sum(vec![together, Formula::Constant(-self.middle())])
    }
}
