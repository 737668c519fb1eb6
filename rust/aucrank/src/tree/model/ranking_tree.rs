//! The model: nodes, leaves in ranking order, and the curve that the leaves draw.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::cubes::{CubeGrid, Cubes};
use super::monotone;
use crate::data::{ClassSums, times_power_of_two};
use crate::formula::Test;

/// In which order leaves are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeafOrder {
    /// From left to right in the tree (the papers').
    #[default]
    Tree,
    /// By the share of positives, ties from left to right; the training AUC can only rise (paper 2
    /// Theorem 1).
    Eta,
}

/// A node of the tree of stumps inside a split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitNode {
    /// A stump; its sides are further on in the list.
    Cut {
        /// Class sums of the rows that reach it.
        sums: ClassSums,
        /// The question.
        test: Test,
        /// Place of what lies left.
        left: usize,
        /// Place of what lies right.
        right: usize,
    },
    /// A part of the node, and the side that it was merged into.
    Part {
        /// Class sums of the part.
        sums: ClassSums,
        /// Whether it belongs to the left side.
        goes_left: bool,
    },
}

impl SplitNode {
    /// Class sums of the rows that reach this place.
    #[must_use]
    pub fn sums(&self) -> ClassSums {
        match self {
            Self::Cut { sums, .. } | Self::Part { sums, .. } => *sums,
        }
    }
}

/// What sends a row of a node left or right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitForm {
    /// One question.
    Stump(Test),
    /// A tree of stumps, its root first, left before right, whose parts are merged into two sides.
    Cuts(Vec<SplitNode>),
    /// Dyadic cubes, each on its side.
    Cubes(Cubes),
    /// A classifier that lives outside the tree.
    Classifier {
        /// Its number; rising from node to node.
        number: usize,
        /// Whether the rows that it calls positive go left; if not, the others do.
        positive_left: bool,
    },
}

/// How a node is split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedSplit")]
pub struct NodeSplit {
    /// What sends a row left or right.
    #[serde(flatten)]
    pub form: SplitForm,
    // Of four bytes each: there are many nodes in a forest.
    left: u32,
    right: u32,
}

impl NodeSplit {
    /// A split whose sides lead to the nodes `left` and `right`, of which a tree has fewer than 2^32.
    #[must_use]
    pub fn new(form: SplitForm, left: usize, right: usize) -> Self {
        debug_assert!(u32::try_from(left.max(right)).is_ok());
        Self { form, left: left as u32, right: right as u32 }
    }

    /// Node of the side that ranks higher.
    #[inline]
    #[must_use]
    pub fn left(&self) -> usize {
        self.left as usize
    }

    /// Node of the side that ranks lower.
    #[inline]
    #[must_use]
    pub fn right(&self) -> usize {
        self.right as usize
    }

    pub(in crate::tree) fn set_right(&mut self, node: usize) {
        self.right = node as u32;
    }
}

/// A split as it is saved. A flattened form would be read by way of a copy that takes many times the
/// memory of the text; so would a flattened frame.
#[derive(Deserialize)]
struct SavedSplit {
    stump: Option<Test>,
    cuts: Option<Vec<SplitNode>>,
    cubes: Option<Cubes>,
    classifier: Option<SavedClassifier>,
    left: u32,
    right: u32,
}

/// [`SplitForm::Classifier`] as it is saved.
#[derive(Deserialize)]
struct SavedClassifier {
    number: usize,
    positive_left: bool,
}

impl TryFrom<SavedSplit> for NodeSplit {
    type Error = &'static str;

    fn try_from(saved: SavedSplit) -> Result<Self, Self::Error> {
        let SavedSplit { stump, cuts, cubes, classifier, left, right } = saved;
        let form = match (stump, cuts, cubes, classifier) {
            (Some(test), None, None, None) => SplitForm::Stump(test),
            (None, Some(cuts), None, None) => SplitForm::Cuts(cuts),
            (None, None, Some(cubes), None) => SplitForm::Cubes(cubes),
            (None, None, None, Some(SavedClassifier { number, positive_left })) => {
                SplitForm::Classifier { number, positive_left }
            }
            _ => return Err("a split is not of one form"),
        };
        Ok(Self { form, left, right })
    }
}

/// A node of the ranking tree; a leaf has no split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Class sums of the training rows in the node.
    pub sums: ClassSums,
    /// How it is split.
    pub split: Option<NodeSplit>,
}

/// A ranking tree: leaves from the one that ranks highest to the one that ranks lowest.
///
/// Nodes are numbered from the root on, left before right. Weights are in units of
/// `2^exponent`, so that all sums are exact.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "SavedTree")]
pub struct RankingTree {
    /// That of many trees, where they belong together.
    frame: Arc<TreeFrame>,
    nodes: Vec<Node>,
}

/// A ranking tree as it is saved.
#[derive(Deserialize)]
struct SavedTree {
    n_levels: Vec<Option<u32>>,
    has_missing: Vec<bool>,
    exponent: i32,
    leaf_order: LeafOrder,
    #[serde(default)]
    monotonic: Vec<i8>,
    #[serde(default)]
    grid: Option<CubeGrid>,
    nodes: Vec<Node>,
}

impl From<SavedTree> for RankingTree {
    fn from(saved: SavedTree) -> Self {
        let SavedTree { n_levels, has_missing, exponent, leaf_order, monotonic, grid, nodes } =
            saved;
        let frame = TreeFrame { n_levels, has_missing, exponent, leaf_order, monotonic, grid };
        Self { frame: Arc::new(frame), nodes }
    }
}

impl Serialize for RankingTree {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Saved<'a> {
            #[serde(flatten)]
            frame: &'a TreeFrame,
            nodes: &'a [Node],
        }
        Saved { frame: &self.frame, nodes: &self.nodes }.serialize(serializer)
    }
}

/// What a tree knows beside its nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::tree) struct TreeFrame {
    pub(in crate::tree) n_levels: Vec<Option<u32>>,
    pub(in crate::tree) has_missing: Vec<bool>,
    pub(in crate::tree) exponent: i32,
    pub(in crate::tree) leaf_order: LeafOrder,
    /// For each feature, whether the score may only rise (1) or fall (-1) with it; empty for none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::tree) monotonic: Vec<i8>,
    /// What numbers the cubes of a row, for splits by cubes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::tree) grid: Option<CubeGrid>,
}

impl TreeFrame {
    /// Whether the parts fit together: what a file is asked before it is believed.
    pub(in crate::tree) fn check(&self) -> Result<(), String> {
        let Self { n_levels, has_missing, monotonic, grid, .. } = self;
        if has_missing.len() != n_levels.len() {
            return Err("the tree does not say of each feature whether it was missing".to_owned());
        }
        let fits = |(value, n_levels): (&i8, &Option<u32>)| match n_levels {
            None => (-1..=1).contains(value),
            Some(_) => *value == 0,
        };
        let has_length = monotonic.is_empty() || monotonic.len() == n_levels.len();
        if !(has_length && monotonic.iter().zip(n_levels).all(fits)) {
            return Err("the constraints of the tree do not suit its features".to_owned());
        }
        grid.iter().try_for_each(|grid| grid.check(n_levels))
    }
}

impl RankingTree {
    /// Numbers the nodes anew: what no split reaches is dropped.
    pub(in crate::tree) fn new(frame: impl Into<Arc<TreeFrame>>, mut nodes: Vec<Node>) -> Self {
        let mut ordered: Vec<Node> = Vec::with_capacity(nodes.len());
        // An old number, and the node whose right child it is.
        let mut open = vec![(0, None)];
        while let Some((old, right_of)) = open.pop() {
            let number = ordered.len();
            let parent = right_of.and_then(|parent: usize| ordered[parent].split.as_mut());
            if let Some(split) = parent {
                split.set_right(number);
            }
            let Node { sums, mut split } = std::mem::replace(
                &mut nodes[old],
                Node { sums: ClassSums::default(), split: None },
            );
            if let Some(split) = &mut split {
                open.push((split.right(), Some(number)));
                open.push((split.left(), None));
                split.left = number as u32 + 1;
            }
            ordered.push(Node { sums, split });
        }
        Self { frame: frame.into(), nodes: ordered }
    }

    /// Nodes that are numbered from the root on, left before right.
    pub(in crate::tree) fn of_numbered(frame: Arc<TreeFrame>, nodes: Vec<Node>) -> Self {
        Self { frame, nodes }
    }

    /// The same tree with every node of `is_leaf` turned into a leaf.
    pub(in crate::tree) fn cut_at(&self, is_leaf: impl Fn(usize) -> bool) -> Self {
        let mut nodes = self.nodes.clone();
        for (number, node) in nodes.iter_mut().enumerate() {
            if is_leaf(number) {
                node.split = None;
            }
        }
        Self::new(Arc::clone(&self.frame), nodes)
    }

    pub(in crate::tree) fn splits_mut(&mut self) -> impl Iterator<Item = &mut NodeSplit> {
        self.nodes.iter_mut().filter_map(|node| node.split.as_mut())
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.frame.n_levels
    }

    /// For each feature, whether a row of the training data missed it.
    #[must_use]
    pub fn has_missing(&self) -> &[bool] {
        &self.frame.has_missing
    }

    /// Power of two that a unit of class weight stands for.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.frame.exponent
    }

    /// A class weight in the units of the caller's weights.
    #[must_use]
    pub fn weight(&self, units: u64) -> f64 {
        times_power_of_two(units as f64, self.frame.exponent)
    }

    pub(in crate::tree) fn frame(&self) -> &Arc<TreeFrame> {
        &self.frame
    }

    /// What numbers the cubes of a row, where nodes are split by cubes.
    pub(in crate::tree) fn grid(&self) -> Option<&CubeGrid> {
        self.frame.grid.as_ref()
    }

    /// In which order the leaves are ranked.
    #[must_use]
    pub fn leaf_order(&self) -> LeafOrder {
        self.frame.leaf_order
    }

    /// For each feature, 1 where the score may only rise with it, -1 where it may only fall, 0 where
    /// it is free; empty where no feature is bound.
    #[must_use]
    pub fn monotonic(&self) -> &[i8] {
        &self.frame.monotonic
    }

    /// The nodes, the root first, left before right.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Class sums of the training rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.nodes[0].sums
    }

    /// Gain of the split of a node, as [`ClassSums::gain`]; 0 for a leaf.
    #[must_use]
    pub fn gain(&self, node: usize) -> i128 {
        let Node { sums, split } = &self.nodes[node];
        split.as_ref().map_or(0, |split| sums.gain(self.nodes[split.left()].sums))
    }

    /// What a gain adds to the AUC of the whole sample.
    #[must_use]
    pub fn auc_of_gain(&self, gain: i128) -> f64 {
        let ClassSums { pos, neg, .. } = self.total();
        gain as f64 / (2 * u128::from(pos) * u128::from(neg)) as f64
    }

    /// Nodes that are leaves, in ranking order.
    #[must_use]
    pub fn leaves(&self) -> Vec<usize> {
        let mut leaves: Vec<usize> =
            (0..self.nodes.len()).filter(|&node| self.nodes[node].split.is_none()).collect();
        self.rank(&mut leaves);
        leaves
    }

    /// Brings nodes that stand from left to right into ranking order.
    pub(in crate::tree) fn rank(&self, nodes: &mut [usize]) {
        if self.frame.leaf_order == LeafOrder::Tree {
            return;
        }
        if self.frame.monotonic.is_empty() {
            nodes.sort_by(|&a, &b| self.nodes[b].sums.cmp_eta(self.nodes[a].sums));
        } else {
            let etas = self.clipped_etas();
            nodes.sort_by(|&a, &b| etas[b].total_cmp(&etas[a]));
        }
    }

    /// Eta of each node, within the bounds that monotonic constraints set.
    fn clipped_etas(&self) -> Vec<f64> {
        let monotonic = &self.frame.monotonic;
        let sums = self.nodes.iter().map(|node| node.sums);
        monotone::clipped_etas(sums, |node| {
            let split = self.nodes[node].split.as_ref()?;
            Some((split.left(), split.right(), monotone::orders_sides(monotonic, &split.form)))
        })
    }

    /// Estimate of eta in each leaf, in ranking order: its share of positives, clipped to the bounds
    /// that the splits above it set where the score is bound to rise or fall with a feature. Unlike
    /// [`RankingTree::probabilities`] it is a leaf's own: what a forest averages.
    #[must_use]
    pub fn leaf_values(&self) -> Vec<f64> {
        let etas = self.clipped_etas();
        self.leaves().into_iter().map(|leaf| etas[leaf]).collect()
    }

    /// Number of leaves.
    #[must_use]
    pub fn n_leaves(&self) -> usize {
        self.nodes.len().div_ceil(2)
    }

    /// Depth of each node, 0 for the root.
    #[must_use]
    pub fn depths(&self) -> Vec<usize> {
        let mut depths = vec![0; self.nodes.len()];
        for (node, Node { split, .. }) in self.nodes.iter().enumerate() {
            if let Some(split) = split {
                depths[split.left()] = depths[node] + 1;
                depths[split.right()] = depths[node] + 1;
            }
        }
        depths
    }

    /// Class sums of the leaves, in ranking order.
    #[must_use]
    pub fn leaf_sums(&self) -> Vec<ClassSums> {
        self.leaves().into_iter().map(|leaf| self.nodes[leaf].sums).collect()
    }

    /// AUC of the training rows: exact, rounded once.
    #[must_use]
    pub fn auc(&self) -> f64 {
        auc_of_strata(&self.leaf_sums())
    }

    /// Knots of the training ROC curve: false and true positive rates, from (0, 0) to (1, 1), one
    /// per leaf after the first.
    #[must_use]
    pub fn roc(&self) -> (Vec<f64>, Vec<f64>) {
        let total = self.total();
        let mut above = ClassSums::default();
        let knots = self.leaf_sums().into_iter().map(|sums| {
            above += sums;
            (above.neg as f64 / total.neg as f64, above.pos as f64 / total.pos as f64)
        });
        std::iter::once((0.0, 0.0)).chain(knots).unzip()
    }

    /// Probability of the positive class in each leaf, in ranking order: the share of positives,
    /// made monotone along the ranking by pooling adjacent violators.
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        let mut pools: Vec<(ClassSums, usize)> = Vec::new();
        for mut sums in self.leaf_sums() {
            let mut n_leaves = 1;
            while let Some(&(above, n_above)) = pools.last()
                && above.cmp_eta(sums).is_lt()
            {
                sums += above;
                n_leaves += n_above;
                pools.pop();
            }
            pools.push((sums, n_leaves));
        }
        pools.into_iter().flat_map(|(sums, n)| std::iter::repeat_n(sums.eta(), n)).collect()
    }

    /// Score of each leaf, in ranking order: the number of leaves from it to the last (paper 1's
    /// D representation), less the number of leaves whose probability is at most one half, so that a
    /// score is positive exactly where the probability is above one half.
    #[must_use]
    pub fn leaf_scores(&self) -> Vec<f64> {
        let n_above = self.probabilities().iter().filter(|&&eta| eta > 0.5).count();
        (0..self.n_leaves()).map(|position| n_above as f64 - position as f64).collect()
    }

    /// Whether gains belong to single features. They do not where nodes are split by cubes or by
    /// classifiers, which ask many features at once.
    #[must_use]
    pub fn has_importances(&self) -> bool {
        self.frame.grid.is_none() && self.asks_single_features()
    }

    /// Rank of each leaf, in ranking order: the share of the training rows that lie below it, and
    /// half of its own.
    pub(in crate::tree) fn leaf_ranks(&self) -> Vec<f64> {
        let weight = |sums: ClassSums| sums.pos + sums.neg;
        let total = weight(self.total());
        let mut above = 0;
        let rank = |sums: ClassSums| {
            let twice_below = 2 * (total - above) - weight(sums);
            above += weight(sums);
            twice_below as f64 / (2.0 * total as f64)
        };
        self.leaf_sums().into_iter().map(rank).collect()
    }

    /// Whether every split is made of questions to one feature each.
    pub(crate) fn asks_single_features(&self) -> bool {
        let forms =
            self.nodes.iter().filter_map(|node| node.split.as_ref()).map(|split| &split.form);
        forms.into_iter().all(|form| matches!(form, SplitForm::Stump(_) | SplitForm::Cuts(_)))
    }

    /// The questions to single features, in no order that means anything.
    pub(in crate::tree) fn tests(&self) -> impl Iterator<Item = &Test> {
        let splits = self.nodes.iter().filter_map(|node| node.split.as_ref());
        splits.flat_map(|split| {
            let (stump, cuts) = match &split.form {
                SplitForm::Stump(test) => (Some(test), &[][..]),
                SplitForm::Cuts(cuts) => (None, &cuts[..]),
                SplitForm::Cubes(_) | SplitForm::Classifier { .. } => (None, &[][..]),
            };
            let cuts = cuts.iter().filter_map(|cut| match cut {
                SplitNode::Cut { test, .. } => Some(test),
                SplitNode::Part { .. } => None,
            });
            stump.into_iter().chain(cuts)
        })
    }

    /// For each feature, the sum of squared AUC gains of the stumps on it (the `I_j` of paper 2 sec.
    /// 5.1, rates relative to the whole sample). Cubes and classifiers, which ask many features at
    /// once, add nothing; see [`RankingTree::has_importances`].
    #[must_use]
    pub fn importances(&self) -> Vec<f64> {
        let mut importances = vec![0.0; self.frame.n_levels.len()];
        let mut add = |feature: usize, gain: i128| {
            let gain = self.auc_of_gain(gain);
            importances[feature] += gain * gain;
        };
        for (number, node) in self.nodes.iter().enumerate() {
            match node.split.as_ref().map(|split| &split.form) {
                None | Some(SplitForm::Cubes(_) | SplitForm::Classifier { .. }) => {}
                Some(SplitForm::Stump(test)) => add(test.feature, self.gain(number)),
                Some(SplitForm::Cuts(cuts)) => {
                    for cut in cuts {
                        if let SplitNode::Cut { sums, test, left, .. } = cut {
                            add(test.feature, sums.gain(cuts[*left].sums()));
                        }
                    }
                }
            }
        }
        importances
    }

    /// The tree as JSON text: the same as in a saved model.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`](crate::model::ModelError::Malformed).
    pub fn to_json(&self) -> Result<String, crate::model::ModelError> {
        serde_json::to_string(self).map_err(crate::model::malformed)
    }

    /// Whether the nodes form a tree whose sums add up: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        self.frame.check()?;
        self.check_nodes()
    }

    /// The same of a tree whose frame is known to be right.
    pub(in crate::tree) fn check_nodes(&self) -> Result<(), String> {
        let Some(root) = self.nodes.first() else { return Err("the tree has no nodes".to_owned()) };
        // A bootstrap may draw heavy rows often: more than 2^53, the limit of the weights themselves.
        let limit = 1_u64 << 60;
        if root.sums.pos == 0 || root.sums.neg == 0 || root.sums.pos.max(root.sums.neg) > limit {
            return Err("the root of the tree lacks a class".to_owned());
        }
        let mut next = vec![0];
        for (number, node) in self.nodes.iter().enumerate() {
            if next.pop() != Some(number) {
                return Err(format!("node {number} is not in its place"));
            }
            if node.sums.pos == 0 && node.sums.neg == 0 {
                return Err(format!("node {number} has no rows"));
            }
            let Some(split) = &node.split else { continue };
            let sums_of = |child: usize| self.nodes.get(child).map(|node| node.sums);
            let children = (sums_of(split.left()), sums_of(split.right()));
            let (Some(left), Some(right)) = children else {
                return Err(format!("a child of node {number} does not exist"));
            };
            if !adds_up(node.sums, left, right) {
                return Err(format!("the children of node {number} do not add up to it"));
            }
            // Pruning adds up gains; no split is made without one.
            if node.sums.gain(left) < 0 {
                return Err(format!("the split of node {number} ranks its sides the wrong way"));
            }
            next.extend([split.right(), split.left()]);
            let checked = match &split.form {
                SplitForm::Stump(test) => self.check_test(test),
                SplitForm::Cuts(cuts) => self.check_cuts(cuts, node.sums, left),
                SplitForm::Cubes(cubes) => match &self.frame.grid {
                    Some(grid) => cubes.check(grid),
                    None => Err("cubes without their grid".to_owned()),
                },
                SplitForm::Classifier { .. } => Ok(()),
            };
            checked.map_err(|what| format!("the split of node {number}: {what}"))?;
        }
        if !next.is_empty() {
            return Err("a node is missing at the end".to_owned());
        }
        let classifiers = self.classifiers();
        if !classifiers.is_sorted_by(|a, b| a < b) {
            return Err("the numbers of the classifiers do not rise".to_owned());
        }
        if classifiers.is_empty() || classifiers.len() == self.nodes.len() / 2 {
            Ok(())
        } else {
            Err("classifiers split some of the nodes only".to_owned())
        }
    }

    fn check_test(&self, test: &Test) -> Result<(), String> {
        match self.frame.n_levels.get(test.feature) {
            None => Err(format!("asks feature {}", test.feature)),
            Some(n_levels) if !test.suits(*n_levels) => Err("does not suit its feature".to_owned()),
            Some(_) if !monotone::allows(&self.frame.monotonic, test) => {
                Err("runs against the constraint of its feature".to_owned())
            }
            Some(_) => Ok(()),
        }
    }

    fn check_cuts(
        &self,
        cuts: &[SplitNode],
        node: ClassSums,
        left_side: ClassSums,
    ) -> Result<(), String> {
        if cuts.first().map(SplitNode::sums) != Some(node) {
            return Err("the stumps do not cover the node".to_owned());
        }
        let mut next = vec![0];
        let mut merged = ClassSums::default();
        for (place, cut) in cuts.iter().enumerate() {
            if next.pop() != Some(place) {
                return Err(format!("stump {place} is not in its place"));
            }
            match cut {
                SplitNode::Cut { sums, test, left, right } => {
                    let of = |side: usize| cuts.get(side).map(SplitNode::sums);
                    let (Some(on_left), Some(on_right)) = (of(*left), of(*right)) else {
                        return Err(format!("a side of stump {place} does not exist"));
                    };
                    if !adds_up(*sums, on_left, on_right) {
                        return Err(format!("the sides of stump {place} do not add up to it"));
                    }
                    self.check_test(test).map_err(|what| format!("stump {place} {what}"))?;
                    next.extend([*right, *left]);
                }
                SplitNode::Part { sums, goes_left: true } => merged += *sums,
                SplitNode::Part { .. } => {}
            }
        }
        if next.is_empty() && merged == left_side {
            Ok(())
        } else {
            Err("its parts do not make up its sides".to_owned())
        }
    }
}

fn adds_up(whole: ClassSums, left: ClassSums, right: ClassSums) -> bool {
    let sum = |of: fn(ClassSums) -> u64| of(left).checked_add(of(right)) == Some(of(whole));
    sum(|s| s.pos) && sum(|s| s.neg) && sum(|s| s.rows)
}

/// AUC of a score that is constant on strata, given from the highest to the lowest.
pub(in crate::tree) fn auc_of_strata(strata: &[ClassSums]) -> f64 {
    let (mut half_wins, mut above) = (0_u128, ClassSums::default());
    for &sums in strata {
        // A negative loses to the positives above it and ties with those of its own stratum.
        half_wins += u128::from(sums.neg) * u128::from(2 * above.pos + sums.pos);
        above += sums;
    }
    half_wins as f64 / (2 * u128::from(above.pos) * u128::from(above.neg)) as f64
}
