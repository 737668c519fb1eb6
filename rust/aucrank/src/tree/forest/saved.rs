//! The saved form of a forest: columns of numbers instead of nodes, about seven bytes of text per
//! node.
//!
//! Derived data are not saved. Nodes are in order from the root on, left before right, so that a
//! letter for each determines its children; its sums are those of its leaves. Data shared by trees
//! are saved once: frames, the thresholds of each feature, and sets of categories, to which trees
//! refer.

use std::borrow::Cow;
use std::sync::Arc;
use std::vec::IntoIter;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ranking_forest::{Aggregation, OutOfBag, ProbabilitySteps, RankingForest};
use super::votes::Consensus;
use crate::data::{ClassSums, LevelSet};
use crate::formula::{LEAF, SharedColumns, Test, TestColumns, TestReader, next};
use crate::prepared::Prepared;
use crate::tree::model::{Node, NodeSplit, RankingTree, SplitForm, SplitNode, TreeFrame};
use crate::tree::split::CutCriterion;

/// Letter of a node whose test is a tree of stumps.
const CUTS: char = 'c';

/// A forest as it is saved.
#[derive(Serialize, Deserialize)]
struct SavedForest<'a> {
    aggregation: Aggregation,
    calibration: Option<Cow<'a, ProbabilitySteps>>,
    consensus: Option<Cow<'a, Consensus>>,
    /// Left out if it is the criterion of earlier versions, whose files lack it.
    #[serde(default, skip_serializing_if = "is_youden")]
    criterion: CutCriterion,
    /// The distinct frames: trees of a forest grown in two fits may have seen different weights and
    /// missing values.
    frames: Vec<Cow<'a, TreeFrame>>,
    /// The sets that go left by the stumps, each once. Up to format version 4 trees have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    level_sets: Vec<LevelSet>,
    /// Files of earlier versions lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_samples_leaf: Option<u64>,
    out_of_bag: Option<Cow<'a, OutOfBag>>,
    seed: u64,
    /// For each feature the thresholds of its stumps, ascending.
    thresholds: Vec<Vec<f64>>,
    trees: Vec<SavedForestTree<'a>>,
}

/// A tree as it is saved.
#[derive(Default, Serialize, Deserialize)]
struct SavedForestTree<'a> {
    /// Trees of stumps, one for each node that has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cuts: Vec<Cow<'a, [SplitNode]>>,
    /// The feature of each test of a single feature.
    features: Vec<u32>,
    /// Place of its frame.
    #[serde(default, skip_serializing_if = "is_zero")]
    frame: usize,
    /// For each test of categories, the place of its left side among the sets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    level_sets: Vec<u32>,
    /// The sets themselves, up to format version 4.
    #[serde(default, skip_serializing)]
    levels: Vec<LevelSet>,
    /// For each test of a single feature, a letter for the side of missing values.
    missing: String,
    /// Weight of the negative rows in each leaf.
    neg: Vec<u64>,
    /// A letter for each node.
    nodes: String,
    /// Weight of the positive rows in each leaf.
    pos: Vec<u64>,
    /// Number of rows in each leaf, if it is not the sum of their weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<u64>>,
    /// For each test by a threshold, its place among those of the feature.
    thresholds: Vec<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde wants")]
fn is_youden(criterion: &CutCriterion) -> bool {
    *criterion == CutCriterion::Youden
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde wants")]
fn is_zero(place: &usize) -> bool {
    *place == 0
}

impl Serialize for RankingForest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SavedForest::of(self).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RankingForest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SavedForest::deserialize(deserializer)?.try_into().map_err(D::Error::custom)
    }
}

impl<'a> SavedForest<'a> {
    fn of(forest: &'a RankingForest) -> Result<Self, String> {
        let shared = SharedColumns::of(forest.n_levels().len(), stumps(forest));
        let mut frames: Vec<&Arc<TreeFrame>> = Vec::new();
        let mut trees = Vec::with_capacity(forest.trees.len());
        for tree in &forest.trees {
            let this = tree.frame();
            let is_this = |frame: &&Arc<TreeFrame>| Arc::ptr_eq(frame, this) || *frame == this;
            let frame = frames.iter().rposition(is_this);
            let frame = frame.unwrap_or_else(|| {
                frames.push(this);
                frames.len() - 1
            });
            trees.push(SavedForestTree::of(tree, frame, &shared)?);
        }
        let SharedColumns { level_sets, thresholds } = shared;
        Ok(Self {
            aggregation: forest.aggregation,
            calibration: forest.calibration.as_ref().map(Cow::Borrowed),
            criterion: forest.criterion,
            consensus: forest.consensus.as_ref().map(Cow::Borrowed),
            frames: frames.into_iter().map(|frame| Cow::Borrowed(&**frame)).collect(),
            level_sets,
            min_samples_leaf: forest.min_samples_leaf,
            out_of_bag: forest.out_of_bag.as_ref().map(Cow::Borrowed),
            seed: forest.seed,
            thresholds,
            trees,
        })
    }
}

/// The stumps of a forest.
fn stumps(forest: &RankingForest) -> impl Iterator<Item = &Test> {
    let splits = forest.trees.iter().flat_map(RankingTree::nodes).flat_map(|node| &node.split);
    splits.filter_map(|split| match &split.form {
        SplitForm::Stump(test) => Some(test),
        _ => None,
    })
}

impl<'a> SavedForestTree<'a> {
    fn of(tree: &'a RankingTree, frame: usize, shared: &SharedColumns) -> Result<Self, String> {
        let mut saved = Self { frame, ..Self::default() };
        let mut tests = TestColumns::default();
        let mut rows = Vec::with_capacity(tree.n_leaves());
        for Node { sums, split } in tree.nodes() {
            let letter = match split.as_ref().map(|split| &split.form) {
                None => {
                    saved.pos.push(sums.pos);
                    saved.neg.push(sums.neg);
                    rows.push(sums.rows);
                    LEAF
                }
                Some(SplitForm::Stump(test)) => tests.push(test, shared),
                Some(SplitForm::Cuts(cuts)) => {
                    saved.cuts.push(Cow::Borrowed(cuts));
                    CUTS
                }
                Some(SplitForm::Cubes(_) | SplitForm::Classifier { .. }) => {
                    return Err("a forest is made of questions to single features".to_owned());
                }
            };
            saved.nodes.push(letter);
        }
        let weights = saved.pos.iter().zip(&saved.neg).map(|(pos, neg)| pos.checked_add(*neg));
        let rows = (!weights.eq(rows.iter().copied().map(Some))).then_some(rows);
        let TestColumns { features, level_sets, levels: _, missing, thresholds } = tests;
        Ok(Self { features, level_sets, missing, rows, thresholds, ..saved })
    }
}

impl TryFrom<SavedForest<'_>> for RankingForest {
    type Error = String;

    fn try_from(saved: SavedForest<'_>) -> Result<Self, String> {
        let SavedForest { frames, level_sets, thresholds, .. } = saved;
        let shared = SharedColumns { level_sets, thresholds };
        let frames: Vec<Arc<TreeFrame>> =
            frames.into_iter().map(|frame| Arc::new(frame.into_owned())).collect();
        let read = |(number, tree): (usize, SavedForestTree<'_>)| {
            let frame = frames.get(tree.frame).ok_or_else(|| "its frame is absent".to_owned());
            frame
                .and_then(|frame| tree.read(frame, &shared))
                .map_err(|what| format!("tree {number}: {what}"))
        };
        Ok(Self {
            trees: saved.trees.into_iter().enumerate().map(read).collect::<Result<_, _>>()?,
            aggregation: saved.aggregation,
            seed: saved.seed,
            min_samples_leaf: saved.min_samples_leaf,
            criterion: saved.criterion,
            consensus: saved.consensus.map(Cow::into_owned),
            calibration: saved.calibration.map(Cow::into_owned),
            out_of_bag: saved.out_of_bag.map(Cow::into_owned),
            prepared: Prepared::default(),
        })
    }
}

impl SavedForestTree<'_> {
    fn read(
        mut self,
        frame: &Arc<TreeFrame>,
        shared: &SharedColumns,
    ) -> Result<RankingTree, String> {
        // The lists are kept until all nodes exist: without their spare capacity.
        self.features.shrink_to_fit();
        self.missing.shrink_to_fit();
        self.neg.shrink_to_fit();
        self.nodes.shrink_to_fit();
        self.pos.shrink_to_fit();
        let Self { features, level_sets, levels, missing, thresholds, .. } = self;
        let mut columns = SavedColumns {
            cuts: self.cuts.into_iter(),
            neg: self.neg.into_iter(),
            pos: self.pos.into_iter(),
            rows: self.rows.map(Vec::into_iter),
            tests: TestColumns { features, level_sets, levels, missing, thresholds }.read(),
        };
        // A letter becomes a node of 64 bytes, but there are only as many leaves as numbers for
        // them.
        let n_nodes = self.nodes.len().min((2 * columns.pos.len()).saturating_sub(1));
        let mut nodes: Vec<Node> = Vec::with_capacity(n_nodes);
        // The last node without its right child so far. In place of that child it holds the number
        // of the previous such node, and the first one its own number.
        let mut open = None;
        for letter in self.nodes.chars() {
            let number = nodes.len();
            if nodes.last().is_some_and(|node| node.split.is_none()) {
                let parent: usize = open.ok_or("nodes go on behind the last leaf")?;
                if let Some(split) = &mut nodes[parent].split {
                    open = (split.right() != parent).then_some(split.right());
                    split.set_right(number);
                }
            }
            nodes.push(if letter == LEAF {
                Node { sums: columns.sums()?, split: None }
            } else {
                let form = columns.form(letter, shared)?;
                let split =
                    NodeSplit::new(form, number + 1, open.replace(number).unwrap_or(number));
                Node { sums: ClassSums::default(), split: Some(split) }
            });
        }
        if nodes.is_empty() || open.is_some() {
            return Err("a node is missing at the end".to_owned());
        }
        if !columns.is_read() {
            return Err("a column goes on behind the last node".to_owned());
        }
        for number in (0..nodes.len()).rev() {
            if let Some(split) = &nodes[number].split {
                let sums = checked_add(nodes[split.left()].sums, nodes[split.right()].sums);
                nodes[number].sums = sums.ok_or("its weight is too large")?;
            }
        }
        Ok(RankingTree::of_numbered(Arc::clone(frame), nodes))
    }
}

fn checked_add(a: ClassSums, b: ClassSums) -> Option<ClassSums> {
    Some(ClassSums {
        pos: a.pos.checked_add(b.pos)?,
        neg: a.neg.checked_add(b.neg)?,
        rows: a.rows.checked_add(b.rows)?,
    })
}

/// Unread rest of the columns of a tree.
struct SavedColumns<'a> {
    cuts: IntoIter<Cow<'a, [SplitNode]>>,
    neg: IntoIter<u64>,
    pos: IntoIter<u64>,
    rows: Option<IntoIter<u64>>,
    tests: TestReader,
}

impl SavedColumns<'_> {
    /// Class sums of the next leaf.
    fn sums(&mut self) -> Result<ClassSums, String> {
        let (pos, neg) = (next(&mut self.pos)?, next(&mut self.neg)?);
        let rows = match &mut self.rows {
            Some(rows) => next(rows)?,
            None => pos.checked_add(neg).ok_or("a leaf is too heavy")?,
        };
        Ok(ClassSums { pos, neg, rows })
    }

    /// The split of the next node, given by its letter.
    fn form(&mut self, letter: char, shared: &SharedColumns) -> Result<SplitForm, String> {
        if letter == CUTS {
            return Ok(SplitForm::Cuts(next(&mut self.cuts)?.into_owned()));
        }
        self.tests.next(letter, shared).map(SplitForm::Stump)
    }

    fn is_read(&self) -> bool {
        let Self { cuts, neg, pos, rows, tests } = self;
        let numbers = [neg, pos].into_iter().chain(rows);
        numbers.map(IntoIter::len).sum::<usize>() + cuts.len() == 0 && tests.is_read()
    }
}
