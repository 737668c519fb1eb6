//! The tree as a formula.

use super::ranking_tree::RankingTree;
use super::split_form::{SplitForm, SplitNode};
use crate::data::ClassSums;
use crate::formula::{Condition, DecisionTree, OpaqueCondition, TreeNode};

impl RankingTree {
    /// The tree with a number for each leaf, given in ranking order. Nodes keep their places.
    #[must_use]
    pub fn formula(&self, of_leaves: &[f64]) -> DecisionTree {
        let mut values = vec![0.0; self.nodes().len()];
        for (leaf, &value) in self.leaves().into_iter().zip(of_leaves) {
            values[leaf] = value;
        }
        let nodes = self.nodes().iter().zip(values).map(|(node, value)| {
            let weight = self.weight(total(node.sums));
            match &node.split {
                None => TreeNode::Leaf { weight, value },
                Some(split) => TreeNode::Branch {
                    weight,
                    condition: self.condition(&split.form),
                    left: split.left(),
                    right: split.right(),
                },
            }
        });
        DecisionTree { nodes: nodes.collect() }
    }

    fn condition(&self, form: &SplitForm) -> Condition {
        match form {
            SplitForm::Stump(test) => Condition::Test(test.clone()),
            SplitForm::Cuts(cuts) => condition_of_cuts(cuts, 0),
            SplitForm::Cubes(cubes) => {
                let grid = self.grid().expect("checked when the tree was read");
                let (n_left, n_cubes) = cubes.count();
                let level = grid.level();
                Condition::Opaque(OpaqueCondition::Cubes { n_left, n_cubes, level })
            }
            &SplitForm::Classifier { number, positive_left } => {
                Condition::Opaque(OpaqueCondition::Classifier { number, positive_left })
            }
        }
    }
}

/// Whether a row at some place of a tree of stumps goes to the left side.
fn condition_of_cuts(cuts: &[SplitNode], place: usize) -> Condition {
    match &cuts[place] {
        SplitNode::Part { goes_left, .. } => Condition::Constant(*goes_left),
        SplitNode::Cut { sums, test, left, right } => Condition::Branch {
            test: test.clone(),
            left_share: total(cuts[*left].sums()) as f64 / total(*sums) as f64,
            left: Box::new(condition_of_cuts(cuts, *left)),
            right: Box::new(condition_of_cuts(cuts, *right)),
        },
    }
}

fn total(sums: ClassSums) -> u64 {
    sums.pos + sums.neg
}
