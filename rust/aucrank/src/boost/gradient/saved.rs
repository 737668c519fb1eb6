//! The saved form of the trees of gradient boosting: columns of numbers instead of nodes, a third of the
//! text.
//!
//! As in forests, what follows from something else is not there: nodes stand from the root on, left
//! before right, and thresholds once for all trees. Values of leaves are whole numbers of units.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::tree::{GradientNode, GradientTree};
use crate::data::{LevelSet, of_units, to_units};
use crate::formula::{LEAF, TestColumns, next, thresholds_of};

/// Trees as they are saved.
#[derive(Serialize, Deserialize)]
struct SavedTrees {
    /// For each feature those of all trees, ascending.
    thresholds: Vec<Vec<f64>>,
    trees: Vec<SavedTree>,
}

/// A tree as it is saved.
#[derive(Default, Serialize, Deserialize)]
struct SavedTree {
    /// What each question asks.
    features: Vec<u32>,
    /// By how much each question lowered the loss.
    gains: Vec<f64>,
    /// The categories that go left, one list for each question for categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelSet>,
    /// For each question a letter for where rows go that miss its feature.
    missing: String,
    /// A letter for each node.
    nodes: String,
    /// For each question for a threshold, its place among those of the feature.
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
    let thresholds = thresholds_of(n_features, tests());
    let trees = trees.iter().map(|tree| SavedTree::of(tree, &thresholds)).collect::<Result<_, _>>();
    SavedTrees { trees: trees.map_err(S::Error::custom)?, thresholds }.serialize(serializer)
}

/// Reads trees, also those of format version 3: lists of nodes.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<GradientTree>, D::Error> {
    deserializer.deserialize_any(Reader)
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Vec<GradientTree>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("trees")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, trees: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(trees))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let SavedTrees { thresholds, trees } =
            SavedTrees::deserialize(MapAccessDeserializer::new(map))?;
        let read = |(number, tree): (usize, SavedTree)| {
            tree.read(&thresholds)
                .map_err(|what| A::Error::custom(format!("tree {number}: {what}")))
        };
        trees.into_iter().enumerate().map(read).collect()
    }
}

impl SavedTree {
    fn of(tree: &GradientTree, thresholds: &[Vec<f64>]) -> Result<Self, String> {
        let mut saved = Self::default();
        let mut tests = TestColumns::default();
        for node in tree.nodes() {
            saved.nodes.push(match node {
                GradientNode::Split { test, gain, .. } => {
                    saved.gains.push(*gain);
                    tests.push(test, thresholds)
                }
                GradientNode::Leaf { value, weight } => {
                    let units = to_units(*value).ok_or_else(|| format!("a leaf of {value}"))?;
                    saved.values.push(units);
                    saved.weights.push(*weight);
                    LEAF
                }
            });
        }
        let TestColumns { features, levels, missing, thresholds } = tests;
        Ok(Self { features, levels, missing, thresholds, ..saved })
    }

    fn read(self, thresholds: &[Vec<f64>]) -> Result<GradientTree, String> {
        let Self { features, levels, missing, thresholds: places, .. } = self;
        let mut tests = TestColumns { features, levels, missing, thresholds: places }.read();
        let (mut gains, mut values) = (self.gains.into_iter(), self.values.into_iter());
        let mut weights = self.weights.into_iter();
        // Without its numbers there is no leaf, however many letters there are.
        let n_nodes = self.nodes.len().min((2 * values.len()).saturating_sub(1));
        let mut nodes: Vec<GradientNode> = Vec::with_capacity(n_nodes);
        // Questions that wait for the node on their right, the last first.
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
                let test = tests.next(letter, thresholds)?;
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
