//! The saved form of a forest: columns of numbers instead of nodes, some seven bytes of text a node.
//!
//! What follows from something else is not there. Nodes stand from the root on, left before right,
//! so that a letter for each tells where its children are; its sums are those of its leaves. What
//! trees share stands once: frames, and for each feature the thresholds, to which trees point.

use std::borrow::Cow;
use std::str::Chars;
use std::sync::Arc;
use std::vec::IntoIter;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::calibration::Calibration;
use super::consensus::Consensus;
use super::ranking_forest::{Aggregation, OutOfBag, RankingForest};
use crate::data::{ClassSums, LevelSet};
use crate::formula::{Rule, Test};
use crate::prepared::Prepared;
use crate::tree::model::{Node, NodeSplit, RankingTree, SplitForm, SplitNode, TreeFrame};

/// Letter of a leaf.
const LEAF: char = '.';
/// Letter of a node that asks whether a number is below a threshold.
const BELOW: char = '<';
/// Whether it is not.
const AT_LEAST: char = '>';
/// Whether the value is known, which goes left.
const KNOWN: char = 'k';
/// Whether the value is known, which goes right.
const UNKNOWN: char = 'u';
/// Whether it is one of some categories.
const LEVELS: char = '=';
/// Letter of a node that asks a tree of stumps.
const CUTS: char = 'c';
/// Letter of a question that sends rows left that miss its feature.
const MISSING_LEFT: char = 'l';
/// That sends them right.
const MISSING_RIGHT: char = 'r';

/// A forest as it is saved.
#[derive(Serialize, Deserialize)]
struct SavedForest<'a> {
    aggregation: Aggregation,
    calibration: Option<Cow<'a, Calibration>>,
    consensus: Option<Cow<'a, Consensus>>,
    /// Those that differ: trees of a forest grown in two fits may have seen other weights and other
    /// missing values.
    frames: Vec<Cow<'a, TreeFrame>>,
    /// Files of earlier versions do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_samples_leaf: Option<u64>,
    out_of_bag: Option<Cow<'a, OutOfBag>>,
    seed: u64,
    /// For each feature those of its stumps, ascending.
    thresholds: Vec<Vec<f64>>,
    trees: Vec<SavedTree<'a>>,
}

/// A tree as it is saved.
#[derive(Default, Serialize, Deserialize)]
struct SavedTree<'a> {
    /// Trees of stumps, one for each node that has one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cuts: Vec<Cow<'a, [SplitNode]>>,
    /// What each question to one feature asks.
    features: Vec<u32>,
    /// Place of the frame.
    #[serde(default, skip_serializing_if = "is_zero")]
    frame: usize,
    /// The categories that go left, one list for each question for categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    levels: Vec<LevelSet>,
    /// For each question to one feature, a letter for where rows go that miss it.
    missing: String,
    /// Weight of the negative rows in each leaf.
    neg: Vec<u64>,
    /// A letter for each node.
    nodes: String,
    /// Weight of the positive rows in each leaf.
    pos: Vec<u64>,
    /// Number of rows in each leaf, where it is not the sum of their weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<u64>>,
    /// For each question for a threshold, its place among those of the feature.
    thresholds: Vec<u32>,
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
        let thresholds = thresholds_of(forest);
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
            trees.push(SavedTree::of(tree, frame, &thresholds)?);
        }
        Ok(Self {
            aggregation: forest.aggregation,
            calibration: forest.calibration.as_ref().map(Cow::Borrowed),
            consensus: forest.consensus.as_ref().map(Cow::Borrowed),
            frames: frames.into_iter().map(|frame| Cow::Borrowed(&**frame)).collect(),
            min_samples_leaf: forest.min_samples_leaf,
            out_of_bag: forest.out_of_bag.as_ref().map(Cow::Borrowed),
            seed: forest.seed,
            thresholds,
            trees,
        })
    }
}

/// For each feature the thresholds of its stumps, ascending, each once.
fn thresholds_of(forest: &RankingForest) -> Vec<Vec<f64>> {
    let mut thresholds = vec![Vec::new(); forest.n_levels().len()];
    let splits = forest.trees.iter().flat_map(RankingTree::nodes).flat_map(|node| &node.split);
    for split in splits {
        if let SplitForm::Stump(Test { feature, left, .. }) = &split.form
            && let Rule::Below(threshold) | Rule::AtLeast(threshold) = left
        {
            thresholds[*feature].push(*threshold);
        }
    }
    for thresholds in &mut thresholds {
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup_by_key(|threshold| threshold.to_bits());
    }
    thresholds
}

impl<'a> SavedTree<'a> {
    fn of(tree: &'a RankingTree, frame: usize, thresholds: &[Vec<f64>]) -> Result<Self, String> {
        let mut saved = Self { frame, ..Self::default() };
        let mut rows = Vec::with_capacity(tree.n_leaves());
        for Node { sums, split } in tree.nodes() {
            let letter = match split.as_ref().map(|split| &split.form) {
                None => {
                    saved.pos.push(sums.pos);
                    saved.neg.push(sums.neg);
                    rows.push(sums.rows);
                    LEAF
                }
                Some(SplitForm::Stump(test)) => saved.push_test(test, thresholds),
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
        saved.rows = (!weights.eq(rows.iter().copied().map(Some))).then_some(rows);
        Ok(saved)
    }

    fn push_test(&mut self, test: &Test, thresholds: &[Vec<f64>]) -> char {
        self.features.push(test.feature as u32);
        self.missing.push(if test.missing_left { MISSING_LEFT } else { MISSING_RIGHT });
        let mut push_threshold = |threshold: f64| {
            let place = thresholds[test.feature].binary_search_by(|at| at.total_cmp(&threshold));
            self.thresholds.push(place.expect("each stands in the list") as u32);
        };
        match &test.left {
            Rule::Below(threshold) => {
                push_threshold(*threshold);
                BELOW
            }
            Rule::AtLeast(threshold) => {
                push_threshold(*threshold);
                AT_LEAST
            }
            Rule::Known(true) => KNOWN,
            Rule::Known(false) => UNKNOWN,
            Rule::Levels(levels) => {
                self.levels.push(levels.clone());
                LEVELS
            }
        }
    }
}

impl TryFrom<SavedForest<'_>> for RankingForest {
    type Error = String;

    fn try_from(saved: SavedForest<'_>) -> Result<Self, String> {
        let SavedForest { frames, thresholds, .. } = saved;
        let frames: Vec<Arc<TreeFrame>> =
            frames.into_iter().map(|frame| Arc::new(frame.into_owned())).collect();
        let read = |(number, tree): (usize, SavedTree<'_>)| {
            let frame = frames.get(tree.frame).ok_or_else(|| "its frame is absent".to_owned());
            frame
                .and_then(|frame| tree.read(frame, &thresholds))
                .map_err(|what| format!("tree {number}: {what}"))
        };
        Ok(Self {
            trees: saved.trees.into_iter().enumerate().map(read).collect::<Result<_, _>>()?,
            aggregation: saved.aggregation,
            seed: saved.seed,
            min_samples_leaf: saved.min_samples_leaf,
            consensus: saved.consensus.map(Cow::into_owned),
            calibration: saved.calibration.map(Cow::into_owned),
            out_of_bag: saved.out_of_bag.map(Cow::into_owned),
            prepared: Prepared::default(),
        })
    }
}

impl SavedTree<'_> {
    fn read(
        mut self,
        frame: &Arc<TreeFrame>,
        thresholds: &[Vec<f64>],
    ) -> Result<RankingTree, String> {
        // The lists are there until all nodes are: without the room that they did not need.
        self.features.shrink_to_fit();
        self.neg.shrink_to_fit();
        self.pos.shrink_to_fit();
        self.thresholds.shrink_to_fit();
        let mut columns = Columns {
            cuts: self.cuts.into_iter(),
            features: self.features.into_iter(),
            levels: self.levels.into_iter(),
            missing: self.missing.chars(),
            neg: self.neg.into_iter(),
            pos: self.pos.into_iter(),
            rows: self.rows.map(Vec::into_iter),
            thresholds: self.thresholds.into_iter(),
        };
        // A letter takes 64 bytes as a node, but a leaf has numbers as well: without them there is none.
        let n_nodes = self.nodes.len().min((2 * columns.pos.len()).saturating_sub(1));
        let mut nodes: Vec<Node> = Vec::with_capacity(n_nodes);
        // Nodes that wait for their right child, the last first.
        let mut open: Vec<usize> = Vec::new();
        for letter in self.nodes.chars() {
            let number = nodes.len();
            if nodes.last().is_some_and(|node| node.split.is_none()) {
                let parent = open.pop().and_then(|parent| nodes[parent].split.as_mut());
                parent.ok_or("nodes go on behind the last leaf")?.set_right(number);
            }
            nodes.push(if letter == LEAF {
                Node { sums: columns.sums()?, split: None }
            } else {
                open.push(number);
                let form = columns.form(letter, thresholds)?;
                let split = NodeSplit::new(form, number + 1, 0);
                Node { sums: ClassSums::default(), split: Some(split) }
            });
        }
        if nodes.is_empty() || !open.is_empty() {
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

/// What is left to read of the columns of a tree.
struct Columns<'a> {
    cuts: IntoIter<Cow<'a, [SplitNode]>>,
    features: IntoIter<u32>,
    levels: IntoIter<LevelSet>,
    missing: Chars<'a>,
    neg: IntoIter<u64>,
    pos: IntoIter<u64>,
    rows: Option<IntoIter<u64>>,
    thresholds: IntoIter<u32>,
}

impl Columns<'_> {
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
    fn form(&mut self, letter: char, thresholds: &[Vec<f64>]) -> Result<SplitForm, String> {
        if letter == CUTS {
            return Ok(SplitForm::Cuts(next(&mut self.cuts)?.into_owned()));
        }
        let feature = next(&mut self.features)? as usize;
        let mut threshold = || {
            let place = next(&mut self.thresholds)? as usize;
            let known = thresholds.get(feature).and_then(|thresholds| thresholds.get(place));
            known.copied().ok_or_else(|| format!("feature {feature} has no threshold {place}"))
        };
        let left = match letter {
            BELOW => Rule::Below(threshold()?),
            AT_LEAST => Rule::AtLeast(threshold()?),
            KNOWN => Rule::Known(true),
            UNKNOWN => Rule::Known(false),
            LEVELS => Rule::Levels(next(&mut self.levels)?),
            _ => return Err(format!("{letter:?} is no kind of node")),
        };
        let missing_left = match next(&mut self.missing)? {
            MISSING_LEFT => true,
            MISSING_RIGHT => false,
            letter => return Err(format!("{letter:?} is no side for missing values")),
        };
        Ok(SplitForm::Stump(Test { feature, left, missing_left }))
    }

    fn is_read(&self) -> bool {
        let Self { cuts, features, levels, missing, neg, pos, rows, thresholds } = self;
        let numbers = [neg, pos].into_iter().chain(rows);
        numbers.map(IntoIter::len).sum::<usize>() == 0
            && features.len() + thresholds.len() + cuts.len() + levels.len() == 0
            && missing.as_str().is_empty()
    }
}

fn next<T>(column: &mut impl Iterator<Item = T>) -> Result<T, String> {
    column.next().ok_or_else(|| "a column ends before the last node".to_owned())
}
