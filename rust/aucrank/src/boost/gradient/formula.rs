//! The sum of trees as a formula.

use std::collections::BTreeMap;

use super::model::GradientBoosted;
use super::pair_steps::PairSteps;
use super::tree::{GradientNode, GradientTree};
use crate::data::LevelSet;
use crate::formula::{Condition, DecisionTree, Formula, Opaque, Rule, Test, TreeNode};

/// Most pairs of categories that a formula lists: some twenty megabytes of text.
const MOST_LISTED: usize = 2_000_000;

impl GradientBoosted {
    /// Its score: the base and the trees. Where no tree asks more than two features, those of one are
    /// merged to step functions, and those of two to one tree for each pair if that has no more leaves.
    /// Sums of their values are exact, so that the order does not matter; the base is added last.
    ///
    /// Questions for pairs of categories list these, up to two million in all: beyond, there is no formula.
    #[must_use]
    pub fn formula(&self) -> Formula {
        if self.n_listed_pairs() > MOST_LISTED {
            return Formula::Opaque(Opaque::CategoryPairs);
        }
        let mut terms = self.merged_trees();
        terms.push(Formula::Constant(self.base()));
        Formula::Sum(terms)
    }
}

impl GradientBoosted {
    /// The number of pairs of categories that all questions list together.
    fn n_listed_pairs(&self) -> usize {
        let n_features = self.n_levels().len();
        let tests = self.trees().iter().flat_map(GradientTree::tests);
        let listed = tests.filter_map(|(test, _)| {
            let pair = &self.pair_steps()[test.feature.checked_sub(n_features)?];
            Some(pair.n_apart(test.threshold()?))
        });
        listed.sum()
    }

    /// The tree of a round as an operation of a formula. A question for pairs of categories is written as
    /// the pairs that are apart from those that the fit has not seen, so that the sides may be exchanged.
    ///
    /// # Panics
    ///
    /// If there is no such round.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::Interrupt;
    /// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
    /// use aucrank::data::{Columns, Labels};
    ///
    /// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
    /// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
    /// let columns = Columns::from_column_major(&values, 40)?;
    /// let labels = Labels::new(&positive, None)?;
    /// let params = GradientParams { n_rounds: 2, ..GradientParams::default() };
    /// let extras = GradientExtras::default();
    /// let model = fit_gradient_boosting(&columns, &labels, &params, &extras, &Interrupt::default())?;
    /// assert_eq!(model.tree(1).nodes.len(), model.trees()[1].nodes().len());
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    #[must_use]
    pub fn tree(&self, round: usize) -> DecisionTree {
        self.trees()[round].formula_of(self.n_levels().len(), self.pair_steps())
    }
}

impl GradientTree {
    /// The tree as an operation of a formula, where it asks single features only.
    pub(super) fn formula(&self) -> DecisionTree {
        self.formula_of(usize::MAX, &[])
    }

    /// The same, where features from a number on are pairs of categories.
    fn formula_of(&self, n_features: usize, pairs: &[PairSteps]) -> DecisionTree {
        let node = |(place, (node, weight)): (usize, (&GradientNode, f64))| match node {
            GradientNode::Leaf { value, .. } => TreeNode::Leaf { weight, value: *value },
            GradientNode::Split { test, right, .. } => {
                let (left, right) = (place + 1, *right);
                let pair = test.feature.checked_sub(n_features).map(|pair| &pairs[pair]);
                let Some((pair, step)) = pair.zip(test.threshold()) else {
                    let condition = Condition::Test(test.clone());
                    return TreeNode::Branch { weight, condition, left, right };
                };
                let condition = pair.condition(step);
                if pair.others_below(step) {
                    TreeNode::Branch { weight, condition, left: right, right: left }
                } else {
                    TreeNode::Branch { weight, condition, left, right }
                }
            }
        };
        let weights = self.weights();
        DecisionTree { nodes: self.nodes().iter().zip(weights).enumerate().map(node).collect() }
    }
}

impl PairSteps {
    /// That the step of a pair is on the other side of a step than that of the others: that its category of
    /// one feature is among some and that of the other among some others, in one way or another.
    fn condition(&self, step: f64) -> Condition {
        let mut firsts = BTreeMap::<Vec<u32>, Vec<u32>>::new();
        for (first, seconds) in self.apart(step) {
            firsts.entry(seconds).or_default().push(first);
        }
        let is_among = |feature, levels| {
            let left = Rule::Levels(LevelSet::only(levels));
            Condition::Test(Test { feature, left, missing_left: false })
        };
        let [first, second] = self.features();
        let ways = firsts.into_iter().map(|(seconds, firsts)| {
            Condition::All(vec![is_among(first, firsts), is_among(second, seconds)])
        });
        Condition::Any(ways.collect())
    }
}
