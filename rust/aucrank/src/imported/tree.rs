//! A tree of another library.

use std::sync::Arc;

use crate::formula::{Condition, DecisionTree, Rule, Test, TreeNode};

/// A binary tree with a number in each leaf.
///
/// For an example see [`ImportedTrees`](crate::imported::ImportedTrees).
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedTree {
    /// The root first; after a split its left side, then its right side.
    nodes: Vec<ImportedNode>,
}

/// A node of an [`ImportedTree`]; the node on the left of a split is the next.
///
/// For an example see [`ImportedTrees`](crate::imported::ImportedTrees).
#[derive(Debug, Clone, PartialEq)]
pub enum ImportedNode {
    /// A test against a threshold, for categories, or of whether a value is known.
    Split {
        /// The test.
        test: Test,
        /// Place of the node on its right.
        right: usize,
    },
    /// A test of whether a number lies in one of some ranges. Libraries that read categories as
    /// numbers make such tests, and those for which numbers next to 0 are missing.
    Ranges {
        /// The feature tested.
        feature: usize,
        /// Ascending. A number goes left if it is at least an odd number of them: if it lies
        /// between the first and the second, the third and the fourth and so on, the lower bound
        /// included.
        bounds: Arc<[f64]>,
        /// Whether rows that miss the number go left.
        missing_left: bool,
        /// Place of the node on its right.
        right: usize,
    },
    /// A leaf.
    Leaf {
        /// Contribution to the sum.
        value: f64,
        /// Weight of its training rows; 0 if it is not known.
        weight: f64,
    },
}

/// Most tests on the way to a leaf: explanations and some exports recurse.
const DEEPEST: usize = 500;

/// Targets of a test: the number of a test of the tree, or of a leaf.
pub(super) type Targets = [Result<usize, usize>; 2];

impl ImportedTree {
    /// A tree from its nodes: the root first, after a split its left side, then its right side.
    #[must_use]
    pub fn new(nodes: Vec<ImportedNode>) -> Self {
        Self { nodes }
    }

    /// The nodes: the root first, after a split its left side, then its right side.
    #[must_use]
    pub fn nodes(&self) -> &[ImportedNode] {
        &self.nodes
    }

    /// The values of its leaves, from left to right.
    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.nodes.iter().filter_map(|node| match node {
            ImportedNode::Leaf { value, .. } => Some(*value),
            _ => None,
        })
    }

    /// Its tests of single features in the form of the scorer, with their targets. A test of ranges
    /// becomes a binary search among its bounds.
    pub(super) fn routes(&self) -> Vec<(Test, Targets)> {
        let (mut n_tests, mut n_leaves) = (0, 0);
        let targets: Vec<Result<usize, usize>> = self
            .nodes
            .iter()
            .map(|node| {
                let (number, of, n_more): (_, fn(usize) -> _, _) = match node {
                    ImportedNode::Split { .. } => (&mut n_tests, Ok, 1),
                    ImportedNode::Ranges { bounds, .. } => (&mut n_tests, Ok, bounds.len()),
                    ImportedNode::Leaf { .. } => (&mut n_leaves, Err, 1),
                };
                let me = *number;
                *number += n_more;
                of(me)
            })
            .collect();
        let mut routes = Vec::with_capacity(n_tests);
        for (place, node) in self.nodes.iter().enumerate() {
            match node {
                ImportedNode::Split { test, right } => {
                    routes.push((test.clone(), [targets[place + 1], targets[*right]]));
                }
                ImportedNode::Ranges { feature, bounds, missing_left, right } => {
                    let search = RangeSearch {
                        feature: *feature,
                        bounds,
                        missing_place: usize::from(*missing_left),
                        sides: [targets[*right], targets[place + 1]],
                    };
                    search.push(0, bounds.len(), &mut routes);
                }
                ImportedNode::Leaf { .. } => {}
            }
        }
        routes
    }

    /// The tree as an operation of a formula.
    pub(super) fn formula(&self) -> DecisionTree {
        let mut weights = vec![0.0; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().rev() {
            weights[place] = match node {
                ImportedNode::Leaf { weight, .. } => *weight,
                ImportedNode::Split { right, .. } | ImportedNode::Ranges { right, .. } => {
                    weights[place + 1] + weights[*right]
                }
            };
        }
        let node = |(place, (node, weight)): (usize, (&ImportedNode, f64))| {
            let branch = |condition, right: &usize| TreeNode::Branch {
                weight,
                condition,
                left: place + 1,
                right: *right,
            };
            match node {
                ImportedNode::Leaf { value, .. } => TreeNode::Leaf { weight, value: *value },
                ImportedNode::Split { test, right } => branch(Condition::Test(test.clone()), right),
                ImportedNode::Ranges { feature, bounds, missing_left, right } => {
                    branch(in_ranges(*feature, bounds, *missing_left), right)
                }
            }
        };
        DecisionTree { nodes: self.nodes.iter().zip(weights).enumerate().map(node).collect() }
    }

    /// Checks a tree, given the number of categories of each feature.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        // Nodes to come with their depths, the next one last.
        let mut next = vec![(0, 0)];
        for (place, node) in self.nodes.iter().enumerate() {
            let Some((_, depth)) = next.pop().filter(|(expected, _)| *expected == place) else {
                return Err(format!("node {place} is not in its place"));
            };
            if depth > DEEPEST {
                return Err(format!("node {place} is below {DEEPEST} others"));
            }
            let (suits, right) = match node {
                ImportedNode::Split { test, right } => {
                    (n_levels.get(test.feature).is_some_and(|&n| test.suits(n)), right)
                }
                ImportedNode::Ranges { feature, bounds, right, .. } => {
                    let are_bounds = !bounds.is_empty()
                        && bounds.iter().all(|bound| bound.is_finite())
                        && bounds.is_sorted_by(|a, b| a < b);
                    (n_levels.get(*feature) == Some(&None) && are_bounds, right)
                }
                ImportedNode::Leaf { value, weight } => {
                    if !value.is_finite() {
                        return Err(format!("the value of node {place} is {value}"));
                    }
                    if !(*weight >= 0.0 && weight.is_finite()) {
                        return Err(format!("the weight of node {place} is {weight}"));
                    }
                    continue;
                }
            };
            if !suits {
                return Err(format!("the question of node {place} suits no feature"));
            }
            next.extend([(*right, depth + 1), (place + 1, depth + 1)]);
        }
        if next.is_empty() { Ok(()) } else { Err("a node is missing at the end".to_owned()) }
    }
}

/// A search for the number of bounds that a value reaches.
struct RangeSearch<'a> {
    feature: usize,
    bounds: &'a [f64],
    /// The number of bounds that a missing value counts as reaching.
    missing_place: usize,
    /// Targets of an even and of an odd number of bounds.
    sides: Targets,
}

impl RangeSearch<'_> {
    /// Adds the tests of the bounds from `low` to before `high`.
    fn push(&self, low: usize, high: usize, routes: &mut Vec<(Test, Targets)>) {
        let middle = usize::midpoint(low, high);
        let missing_left = self.missing_place <= middle;
        let left = Rule::Below(self.bounds[middle]);
        let me = routes.len();
        routes.push((Test { feature: self.feature, left, missing_left }, self.sides));
        let target = |low: usize, high: usize, routes: &mut Vec<(Test, Targets)>| {
            if low == high {
                return self.sides[low % 2];
            }
            let first = routes.len();
            self.push(low, high, routes);
            Ok(first)
        };
        let below = target(low, middle, routes);
        let above = target(middle + 1, high, routes);
        routes[me].1 = [below, above];
    }
}

/// The condition that a number lies in one of some ranges.
fn in_ranges(feature: usize, bounds: &[f64], missing_left: bool) -> Condition {
    let test = |left| Condition::Test(Test { feature, left, missing_left });
    let range = |bounds: &[f64]| match bounds {
        [low, high] => Condition::All(vec![test(Rule::AtLeast(*low)), test(Rule::Below(*high))]),
        _ => test(Rule::AtLeast(bounds[0])),
    };
    let mut ranges: Vec<Condition> = bounds.chunks(2).map(range).collect();
    match ranges.len() {
        1 => ranges.swap_remove(0),
        _ => Condition::Any(ranges),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Formula;

    /// The node that a test leads a value to, step by step.
    fn leaf_of(routes: &[(Test, Targets)], row: &[f64]) -> usize {
        let mut at = 0;
        loop {
            let (test, [left, right]) = &routes[at];
            match if test.goes_left(row) { *left } else { *right } {
                Ok(next) => at = next,
                Err(leaf) => return leaf,
            }
        }
    }

    #[test]
    fn a_tree_that_is_too_deep_is_refused() {
        let chain = |n_tests: usize| {
            let left = Rule::Below(0.5);
            let test = Test { feature: 0, left, missing_left: false };
            let split =
                |place| ImportedNode::Split { test: test.clone(), right: 2 * n_tests - place };
            let leaf = ImportedNode::Leaf { value: 0.0, weight: 0.0 };
            let splits = (0..n_tests).map(split);
            let leaves = (0..=n_tests).map(|_| leaf.clone());
            ImportedTree::new(splits.chain(leaves).collect()).check(&[None])
        };
        assert_eq!(chain(DEEPEST), Ok(()));
        assert_eq!(chain(DEEPEST + 1), Err("node 501 is below 500 others".to_owned()));
    }

    #[test]
    fn a_number_is_in_a_range_in_the_search_the_formula_and_by_definition() {
        let all: Vec<f64> = (0..7).map(|bound| f64::from(bound) * 1.5 - 4.0).collect();
        for n_bounds in 1..=all.len() {
            for missing_left in [false, true] {
                let bounds: Arc<[f64]> = all[..n_bounds].into();
                let leaf = |value| ImportedNode::Leaf { value, weight: 0.0 };
                let test = ImportedNode::Ranges { feature: 0, bounds, missing_left, right: 2 };
                let tree = ImportedTree::new(vec![test, leaf(1.0), leaf(0.0)]);
                tree.check(&[None]).unwrap();
                let (routes, formula) = (tree.routes(), Formula::Tree(tree.formula()));
                assert_eq!(routes.len(), n_bounds);
                let edges = all.iter().flat_map(|&b| [b.next_down(), b, b.next_up()]);
                for value in edges.chain([-1e300, 1e300, f64::NAN]) {
                    let n_reached = all[..n_bounds].iter().filter(|&&b| value >= b).count();
                    let is_inside = if value.is_nan() { missing_left } else { n_reached % 2 == 1 };
                    assert_eq!(leaf_of(&routes, &[value]), usize::from(!is_inside));
                    assert_eq!(formula.value(&[value]), Ok(f64::from(is_inside)));
                }
            }
        }
    }
}
