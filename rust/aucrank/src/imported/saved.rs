//! The saved form of imported trees: columns of numbers instead of nodes, as those of gradient
//! boosting. Thresholds, sets and ranges are saved once for all trees.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::tree::{ImportedNode, ImportedTree};
use crate::data::LevelSet;
use crate::formula::{LEAF, SharedColumns, Test, TestColumns, next};

/// Letters of a node that tests whether a number lies in ranges, by the side of missing values.
const RANGES_MISSING_LEFT: char = 'L';
const RANGES_MISSING_RIGHT: char = 'R';

/// Trees as they are saved.
#[derive(Serialize, Deserialize)]
struct SavedImportedTrees {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    level_sets: Vec<LevelSet>,
    /// Bounds of ranges, each list once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<Vec<f64>>,
    /// For each feature the thresholds of all trees, ascending.
    thresholds: Vec<Vec<f64>>,
    trees: Vec<SavedImportedTree>,
}

/// A tree as it is saved.
#[derive(Default, Serialize, Deserialize)]
struct SavedImportedTree {
    /// The feature of each test, without those of ranges.
    features: Vec<u32>,
    /// For each test of categories, the place of its left side among the sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    level_sets: Vec<u32>,
    /// For each test, without those of ranges, a letter for the side of missing values.
    missing: String,
    /// A letter for each node.
    nodes: String,
    /// For each test of ranges its feature and the place of its ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<[u32; 2]>,
    /// For each test by a threshold, its place among those of the feature.
    thresholds: Vec<u32>,
    /// The value of each leaf.
    values: Vec<f64>,
    /// Weight of the rows of each leaf; none if all are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
}

/// Writes trees.
pub(super) fn serialize<S: Serializer>(
    trees: &[ImportedTree],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let tests = || trees.iter().flat_map(|tree| tree.nodes().iter().filter_map(test_of));
    let n_features = tests().map(|test| test.feature + 1).max().unwrap_or(0);
    let shared = SharedColumns::of(n_features, tests());
    let mut ranges: Vec<Arc<[f64]>> =
        trees.iter().flat_map(|tree| tree.nodes().iter().filter_map(bounds_of)).collect();
    ranges.sort_unstable_by(|a, b| order(a, b));
    ranges.dedup_by(|a, b| order(a, b).is_eq());
    let trees = trees.iter().map(|tree| SavedImportedTree::of(tree, &shared, &ranges)).collect();
    let SharedColumns { level_sets, thresholds } = shared;
    let ranges = ranges.iter().map(|bounds| bounds.to_vec()).collect();
    SavedImportedTrees { level_sets, ranges, thresholds, trees }.serialize(serializer)
}

/// Reads trees.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ImportedTree>, D::Error> {
    let SavedImportedTrees { level_sets, ranges, thresholds, trees } =
        SavedImportedTrees::deserialize(deserializer)?;
    let shared = SharedColumns { level_sets, thresholds };
    let ranges: Vec<Arc<[f64]>> = ranges.into_iter().map(Arc::from).collect();
    let read = |(number, tree): (usize, SavedImportedTree)| {
        let tree = tree.read(&shared, &ranges);
        tree.map_err(|what| D::Error::custom(format!("tree {number}: {what}")))
    };
    trees.into_iter().enumerate().map(read).collect()
}

fn test_of(node: &ImportedNode) -> Option<&Test> {
    if let ImportedNode::Split { test, .. } = node { Some(test) } else { None }
}

fn bounds_of(node: &ImportedNode) -> Option<Arc<[f64]>> {
    if let ImportedNode::Ranges { bounds, .. } = node { Some(Arc::clone(bounds)) } else { None }
}

/// An order of lists of bounds in which equal ones are neighbours.
fn order(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    a.iter().map(|bound| bound.to_bits()).cmp(b.iter().map(|bound| bound.to_bits()))
}

impl SavedImportedTree {
    fn of(tree: &ImportedTree, shared: &SharedColumns, ranges: &[Arc<[f64]>]) -> Self {
        let mut saved = Self::default();
        let mut tests = TestColumns::default();
        for node in tree.nodes() {
            saved.nodes.push(match node {
                ImportedNode::Split { test, .. } => tests.push(test, shared),
                ImportedNode::Ranges { feature, bounds, missing_left, .. } => {
                    let place = ranges.binary_search_by(|at| order(at, bounds));
                    let place = place.expect("each stands in the list");
                    saved.ranges.push([*feature as u32, place as u32]);
                    if *missing_left { RANGES_MISSING_LEFT } else { RANGES_MISSING_RIGHT }
                }
                ImportedNode::Leaf { value, weight } => {
                    saved.values.push(*value);
                    saved.weights.push(*weight);
                    LEAF
                }
            });
        }
        if saved.weights.iter().all(|&weight| weight == 0.0) {
            saved.weights.clear();
        }
        let TestColumns { features, level_sets, levels: _, missing, thresholds } = tests;
        Self { features, level_sets, missing, thresholds, ..saved }
    }

    fn read(
        self,
        shared: &SharedColumns,
        all_ranges: &[Arc<[f64]>],
    ) -> Result<ImportedTree, String> {
        let Self { features, level_sets, missing, thresholds, .. } = self;
        let tests = TestColumns { features, level_sets, levels: Vec::new(), missing, thresholds };
        let mut tests = tests.read();
        let mut ranges = self.ranges.into_iter();
        let (mut values, has_weights) = (self.values.into_iter(), !self.weights.is_empty());
        let mut weights = self.weights.into_iter();
        // There are only as many leaves as numbers for them, however many letters there are.
        let n_nodes = self.nodes.len().min((2 * values.len()).saturating_sub(1));
        let mut nodes: Vec<ImportedNode> = Vec::with_capacity(n_nodes);
        // Tests without their right node so far, the last first.
        let mut open: Vec<usize> = Vec::new();
        for letter in self.nodes.chars() {
            let place = nodes.len();
            if let Some(ImportedNode::Leaf { .. }) = nodes.last() {
                let Some(ImportedNode::Split { right, .. } | ImportedNode::Ranges { right, .. }) =
                    open.pop().map(|above| &mut nodes[above])
                else {
                    return Err("nodes go on behind the last leaf".to_owned());
                };
                *right = place;
            }
            nodes.push(match letter {
                LEAF => {
                    let weight = if has_weights { next(&mut weights)? } else { 0.0 };
                    ImportedNode::Leaf { value: next(&mut values)?, weight }
                }
                RANGES_MISSING_LEFT | RANGES_MISSING_RIGHT => {
                    open.push(place);
                    let [feature, ranges] = next(&mut ranges)?;
                    let known = all_ranges.get(ranges as usize);
                    let bounds = known.ok_or_else(|| format!("there are no ranges {ranges}"))?;
                    ImportedNode::Ranges {
                        feature: feature as usize,
                        bounds: Arc::clone(bounds),
                        missing_left: letter == RANGES_MISSING_LEFT,
                        right: 0,
                    }
                }
                _ => {
                    open.push(place);
                    ImportedNode::Split { test: tests.next(letter, shared)?, right: 0 }
                }
            });
        }
        if nodes.is_empty() || !open.is_empty() {
            return Err("a node is missing at the end".to_owned());
        }
        if !tests.is_read() || ranges.len() + values.len() + weights.len() > 0 {
            return Err("a column goes on behind the last node".to_owned());
        }
        Ok(ImportedTree::new(nodes))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::formula::Rule;

    /// The trees of a model.
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(transparent)]
    struct Trees(#[serde(with = "super")] Vec<ImportedTree>);

    fn split(feature: usize, left: Rule, right: usize) -> ImportedNode {
        ImportedNode::Split { test: Test { feature, left, missing_left: right == 4 }, right }
    }

    fn leaf(value: f64) -> ImportedNode {
        ImportedNode::Leaf { value, weight: 2.5 }
    }

    fn ranges(bounds: &[f64], right: usize) -> ImportedNode {
        let missing_left = right == 2;
        ImportedNode::Ranges { feature: 1, bounds: bounds.into(), missing_left, right }
    }

    fn trees() -> Vec<ImportedTree> {
        let one = vec![
            split(1, Rule::Below(0.5), 4),
            split(0, Rule::Levels(LevelSet::only([1, 3])), 3),
            leaf(-0.1),
            leaf(3.0),
            ranges(&[-1.0, 2.0, 3.0], 6),
            leaf(5e-324),
            split(1, Rule::Known(true), 8),
            leaf(1e300),
            leaf(-0.0),
        ];
        let other = vec![ranges(&[-1.0, 2.0, 3.0], 2), leaf(1.0), leaf(-1.0)];
        [one, other, vec![leaf(0.5)]].map(ImportedTree::new).to_vec()
    }

    #[test]
    fn trees_are_read_as_they_were_written_to_the_last_bit() {
        let text = serde_json::to_string(&Trees(trees())).unwrap();
        let read = serde_json::from_str::<Trees>(&text).unwrap().0;
        assert_eq!(format!("{read:?}"), format!("{:?}", trees()));
        for tree in trees() {
            tree.check(&[Some(5), None]).unwrap();
        }
        let found: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(found["ranges"], json!([[-1.0, 2.0, 3.0]]));
        assert_eq!(found["trees"][0]["nodes"], "<=..R.k..");
        assert_eq!(found["trees"][1]["nodes"], "L..");
    }

    #[test]
    fn invalid_trees_are_refused() {
        let with = |key: &str, value: Value| {
            let mut found = serde_json::to_value(Trees(trees())).unwrap();
            found["trees"][1][key] = value;
            serde_json::from_value::<Trees>(found).unwrap_err().to_string()
        };
        let missing = "tree 1: a node is missing at the end";
        let goes_on = "tree 1: a column goes on behind the last node";
        for (found, expected) in [
            (with("nodes", json!("")), missing),
            (with("nodes", json!("L.")), missing),
            (with("nodes", json!("L...")), "tree 1: nodes go on behind the last leaf"),
            (with("nodes", json!("LL...")), "tree 1: a column ends before the last node"),
            (with("ranges", json!([[1, 1]])), "tree 1: there are no ranges 1"),
            (with("ranges", json!([[1, 0], [1, 0]])), goes_on),
            (with("values", json!([1.0, 2.0, 3.0])), goes_on),
            (with("weights", json!([1.0, 2.0, 3.0])), goes_on),
            (with("weights", json!([1.0])), "tree 1: a column ends before the last node"),
        ] {
            assert_eq!(found, expected);
        }
    }
}
