//! The saved form of the trees of gradient boosting: columns of numbers instead of nodes, a third
//! of the text.
//!
//! As in forests, derived data are not saved: nodes are in order from the root on, left before
//! right, and thresholds and sets of categories are saved once for all trees. Values of leaves are
//! integer multiples of a unit.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::tree::{GradientNode, GradientTree};
use crate::data::{LevelSet, of_units, to_units};
use crate::formula::{LEAF, SharedColumns, TestColumns, next};

/// Trees as they are saved.
#[derive(Serialize, Deserialize)]
struct SavedTrees {
    /// The sets that go left, each once. Up to format version 4 trees have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    level_sets: Vec<LevelSet>,
    /// For each feature the thresholds of all trees, ascending.
    thresholds: Vec<Vec<f64>>,
    trees: Vec<SavedGradientTree>,
}

/// A tree as it is saved.
#[derive(Default, Serialize, Deserialize)]
struct SavedGradientTree {
    /// The feature of each test.
    features: Vec<u32>,
    /// Decrease of the loss by each test.
    gains: Vec<f64>,
    /// For each test of categories, the place of its left side among the sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    level_sets: Vec<u32>,
    /// The sets themselves, in format version 4.
    #[serde(default, skip_serializing)]
    levels: Vec<LevelSet>,
    /// For each test a letter for the side of missing values.
    missing: String,
    /// A letter for each node.
    nodes: String,
    /// For each test by a threshold, its place among those of the feature.
    thresholds: Vec<u32>,
    /// The value of each leaf, in units.
    values: Vec<i64>,
    /// Weight of the rows of each leaf.
    weights: Vec<f64>,
}

/// Writes trees.
pub(super) fn serialize<S: Serializer>(
    trees: &[GradientTree],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let tests = || trees.iter().flat_map(GradientTree::tests).map(|(test, _)| test);
    let n_features = tests().map(|test| test.feature + 1).max().unwrap_or(0);
    let shared = SharedColumns::of(n_features, tests());
    let trees =
        trees.iter().map(|tree| SavedGradientTree::of(tree, &shared)).collect::<Result<_, _>>();
    let SharedColumns { level_sets, thresholds } = shared;
    let trees = trees.map_err(S::Error::custom)?;
    SavedTrees { level_sets, thresholds, trees }.serialize(serializer)
}

/// Reads trees, also those of format version 3: lists of nodes.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<GradientTree>, D::Error> {
    deserializer.deserialize_any(TreesVisitor)
}

struct TreesVisitor;

impl<'de> Visitor<'de> for TreesVisitor {
    type Value = Vec<GradientTree>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("trees")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, trees: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(trees))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let SavedTrees { level_sets, thresholds, trees } =
            SavedTrees::deserialize(MapAccessDeserializer::new(map))?;
        let shared = SharedColumns { level_sets, thresholds };
        let read = |(number, tree): (usize, SavedGradientTree)| {
            tree.read(&shared).map_err(|what| A::Error::custom(format!("tree {number}: {what}")))
        };
        trees.into_iter().enumerate().map(read).collect()
    }
}

impl SavedGradientTree {
    fn of(tree: &GradientTree, shared: &SharedColumns) -> Result<Self, String> {
        let mut saved = Self::default();
        let mut tests = TestColumns::default();
        for node in tree.nodes() {
            saved.nodes.push(match node {
                GradientNode::Split { test, gain, .. } => {
                    saved.gains.push(*gain);
                    tests.push(test, shared)
                }
                GradientNode::Leaf { value, weight } => {
                    let units = to_units(*value).ok_or_else(|| format!("a leaf of {value}"))?;
                    saved.values.push(units);
                    saved.weights.push(*weight);
                    LEAF
                }
            });
        }
        let TestColumns { features, level_sets, levels: _, missing, thresholds } = tests;
        Ok(Self { features, level_sets, missing, thresholds, ..saved })
    }

    fn read(self, shared: &SharedColumns) -> Result<GradientTree, String> {
        let Self { features, level_sets, levels, missing, thresholds, .. } = self;
        let tests = TestColumns { features, level_sets, levels, missing, thresholds };
        let mut tests = tests.read();
        let (mut gains, mut values) = (self.gains.into_iter(), self.values.into_iter());
        let mut weights = self.weights.into_iter();
        // There are only as many leaves as numbers for them, however many letters there are.
        let n_nodes = self.nodes.len().min((2 * values.len()).saturating_sub(1));
        let mut nodes: Vec<GradientNode> = Vec::with_capacity(n_nodes);
        // Tests without their right node so far, the last first.
        let mut open: Vec<usize> = Vec::new();
        for letter in self.nodes.chars() {
            let place = nodes.len();
            if let Some(GradientNode::Leaf { .. }) = nodes.last() {
                let above = open.pop().map(|above| &mut nodes[above]);
                let Some(GradientNode::Split { right, .. }) = above else {
                    return Err("nodes go on behind the last leaf".to_owned());
                };
                *right = place;
            }
            nodes.push(if letter == LEAF {
                let value = of_units(next(&mut values)?);
                GradientNode::Leaf { value, weight: next(&mut weights)? }
            } else {
                open.push(place);
                let test = tests.next(letter, shared)?;
                GradientNode::Split { test, right: 0, gain: next(&mut gains)? }
            });
        }
        if nodes.is_empty() || !open.is_empty() {
            return Err("a node is missing at the end".to_owned());
        }
        if !tests.is_read() || gains.len() + values.len() + weights.len() > 0 {
            return Err("a column goes on behind the last node".to_owned());
        }
        Ok(GradientTree::new(nodes))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::formula::{Rule, Test};

    /// The trees of a model.
    #[derive(Debug, Serialize, Deserialize)]
    #[serde(transparent)]
    struct Trees(#[serde(with = "super")] Vec<GradientTree>);

    fn split(feature: usize, left: Rule, right: usize) -> GradientNode {
        let test = Test { feature, left, missing_left: right.is_multiple_of(2) };
        GradientNode::Split { test, right, gain: 0.1 + right as f64 }
    }

    fn leaf(value: f64) -> GradientNode {
        GradientNode::Leaf { value, weight: 2.5 }
    }

    /// With tests of all kinds.
    fn trees() -> Vec<GradientTree> {
        let one = vec![
            split(2, Rule::Below(0.5), 4),
            split(0, Rule::Levels(LevelSet::all_but([1, 3])), 3),
            leaf(-0.25),
            leaf(3.0),
            split(2, Rule::AtLeast(-0.0), 8),
            split(2, Rule::Known(true), 7),
            leaf(0.0),
            leaf(1.0 / 1024.0),
            split(0, Rule::Known(false), 10),
            leaf(-7.0),
            leaf(2.0_f64.powi(-32)),
        ];
        let other = vec![split(2, Rule::Below(0.5), 2), leaf(1.0), leaf(-1.0)];
        [one, other, vec![leaf(0.5)]].map(GradientTree::new).to_vec()
    }

    #[test]
    fn trees_are_read_unchanged_from_columns_and_from_lists_of_nodes() {
        let text = serde_json::to_string(&Trees(trees())).unwrap();
        assert_eq!(serde_json::from_str::<Trees>(&text).unwrap().0, trees());
        let of_nodes = serde_json::to_string(&trees()).unwrap();
        assert_eq!(serde_json::from_str::<Trees>(&of_nodes).unwrap().0, trees());
        for tree in trees() {
            tree.check(&[Some(5), None, None]).unwrap();
        }
    }

    #[test]
    fn trees_are_written_in_columns() {
        let found = serde_json::to_value(Trees(trees())).unwrap();
        assert_eq!(found["thresholds"], json!([[], [], [-0.0, 0.5]]));
        assert_eq!(found["level_sets"], json!([{"all_but": [1, 2]}]));
        let expected = json!({
            "features": [2, 0, 2, 2, 0],
            "gains": [4.1, 3.1, 8.1, 7.1, 10.1],
            "level_sets": [0],
            "missing": "lrlrl",
            "nodes": "<=..>k..u..",
            "thresholds": [1, 0],
            "values": [-1_i64 << 30, 3_i64 << 32, 0, 1 << 22, -7_i64 << 32, 1],
            "weights": [2.5, 2.5, 2.5, 2.5, 2.5, 2.5],
        });
        assert_eq!(found["trees"][0], expected);
    }

    #[test]
    fn a_set_of_many_tests_is_written_once_and_read_from_every_tree() {
        let sets = [LevelSet::only([4]), LevelSet::all_but([4]), LevelSet::only([0, 4])];
        let tree = |set: &LevelSet| {
            let nodes = vec![split(0, Rule::Levels(set.clone()), 2), leaf(1.0), leaf(0.0)];
            GradientTree::new(nodes)
        };
        let same = LevelSet::only([4, 4]);
        let trees = [&sets[1], &sets[0], &sets[2], &sets[1], &same].map(tree).to_vec();
        let mut found = serde_json::to_value(Trees(trees.clone())).unwrap();
        let expected = json!([{"only": [0, 4]}, {"only": [4]}, {"all_but": [4]}]);
        assert_eq!(found["level_sets"], expected);
        let places = found["trees"].as_array().unwrap().iter().map(|tree| &tree["level_sets"][0]);
        assert_eq!(places.collect::<Vec<_>>(), [2, 1, 0, 2, 1]);
        let read: Trees = serde_json::from_value(found.clone()).unwrap();
        assert_eq!(read.0, trees);

        for (place, set) in sets.iter().enumerate() {
            let saved = if place == 0 { json!([set]) } else { json!([sets[0]]) };
            let tree = &mut found["trees"][place];
            (tree["levels"], tree["level_sets"]) = (saved, json!([]));
        }
        let read: Trees = serde_json::from_value(found.clone()).unwrap();
        assert_eq!(read.0[0], tree(&sets[0]), "of format version 4");
        found["trees"][4]["level_sets"] = json!([3]);
        let err = serde_json::from_value::<Trees>(found.clone()).unwrap_err();
        assert_eq!(err.to_string(), "tree 4: there is no set of categories 3");
        found["trees"][4]["level_sets"] = json!([]);
        let err = serde_json::from_value::<Trees>(found).unwrap_err();
        assert_eq!(err.to_string(), "tree 4: a column ends before the last node");
    }

    #[test]
    fn invalid_trees_are_refused() {
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut found = serde_json::to_value(Trees(trees())).unwrap();
            change(&mut found["trees"][1]);
            serde_json::from_value::<Trees>(found).unwrap_err().to_string()
        };
        let with = |key: &'static str, value: Value| {
            refused(&move |tree: &mut Value| tree[key] = value.clone())
        };
        let missing = "tree 1: a node is missing at the end";
        let ends = "tree 1: a column ends before the last node";
        let goes_on = "tree 1: a column goes on behind the last node";
        for (found, expected) in [
            (with("nodes", json!("")), missing),
            (with("nodes", json!("<.")), missing),
            (with("nodes", json!("<")), missing),
            (with("nodes", json!("<...")), "tree 1: nodes go on behind the last leaf"),
            (with("nodes", json!("<<...")), ends),
            (with("nodes", json!("x..")), "tree 1: 'x' is not a kind of node"),
            (with("missing", json!("x")), "tree 1: 'x' is not a side for missing values"),
            (with("thresholds", json!([7])), "tree 1: feature 2 has no threshold 7"),
            (with("features", json!([9])), "tree 1: feature 9 has no threshold 1"),
            (with("features", json!([])), ends),
            (with("gains", json!([])), ends),
            (with("values", json!([1])), ends),
            (with("weights", json!([1])), ends),
            (with("gains", json!([1, 1])), goes_on),
            (with("values", json!([1, 1, 1])), goes_on),
            (with("levels", json!([{"only": [1]}])), goes_on),
            (with("level_sets", json!([0])), goes_on),
            (with("missing", json!("ll")), goes_on),
        ] {
            assert_eq!(found, expected);
        }
        assert!(with("values", json!([0.5, 1])).contains("expected i64"));
    }
}
