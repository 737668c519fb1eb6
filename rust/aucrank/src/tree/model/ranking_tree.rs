//! The model: a tree of nodes whose leaves are in ranking order, with their scores, probabilities
//! and ROC curve.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::cubes::CubeGrid;
use super::node::{Node, NodeSplit};
use super::split_form;
use super::split_form::{SplitForm, SplitNode, adds_up};
use crate::data::{ClassSums, times_power_of_two};
use crate::formula::{Condition, DecisionTree, OpaqueCondition, Test, TreeNode};

/// A ranking tree: leaves from the one that ranks highest to the one that ranks lowest.
///
/// Nodes are numbered from the root on, left before right. Weights are in units of
/// `2^exponent`, so that all sums are exact.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let tree = fit((&columns, &labels), &params, &Interrupt::default())?.tree;
/// assert_eq!((tree.n_leaves(), tree.depths()), (2, vec![0, 1, 1]));
/// assert_eq!(tree.roc(), (vec![0.0, 0.0, 1.0], vec![0.0, 1.0, 1.0]));
/// let scores = tree.score(&columns, None)?;
/// assert_eq!(scores, [0.0, 0.0, 1.0, 1.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "saved::SavedRankingTree")]
pub struct RankingTree {
    /// Shared by the trees of a forest.
    frame: Arc<TreeFrame>,
    nodes: Vec<Node>,
}

impl RankingTree {
    /// Renumbers the nodes; those that no split reaches are dropped.
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
                split.set_left(number + 1);
            }
            ordered.push(Node { sums, split });
        }
        Self { frame: frame.into(), nodes: ordered }
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

    /// Sets all fields of the tree except its nodes.
    pub(in crate::tree) fn set_frame(&mut self, frame: &Arc<TreeFrame>) {
        self.frame = Arc::clone(frame);
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.frame.n_levels
    }

    /// For each feature, whether it has missing values in the training data.
    #[must_use]
    pub fn has_missing(&self) -> &[bool] {
        &self.frame.has_missing
    }

    /// Binary exponent of the unit of class weight.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.frame.exponent
    }

    /// Class weight on the scale of the caller's weights.
    #[must_use]
    pub fn weight(&self, units: u64) -> f64 {
        times_power_of_two(units as f64, self.frame.exponent)
    }

    pub(in crate::tree) fn frame(&self) -> &Arc<TreeFrame> {
        &self.frame
    }

    /// The grid that gives the cube of a row, if nodes are split by cubes.
    pub(in crate::tree) fn grid(&self) -> Option<&CubeGrid> {
        self.frame.grid.as_ref()
    }

    /// Level of the dyadic cubes that split nodes, if any: their sides are `2^-level`.
    #[must_use]
    pub fn cube_level(&self) -> Option<u32> {
        self.grid().map(CubeGrid::level)
    }

    /// The ranking order of the leaves.
    #[must_use]
    pub fn leaf_order(&self) -> LeafOrder {
        self.frame.leaf_order
    }

    /// For each feature, 1 if the score may only rise with it, -1 if it may only fall, 0 if it is
    /// free; empty if no feature is bound.
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

    /// Contribution of a gain to the AUC of the whole sample.
    #[must_use]
    pub fn auc_of_gain(&self, gain: i128) -> f64 {
        let ClassSums { pos, neg, .. } = self.total();
        gain as f64 / (2 * u128::from(pos) * u128::from(neg)) as f64
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

    /// Whether gains belong to single features. They do not if nodes are split by cubes or by
    /// classifiers, which test many features at once.
    #[must_use]
    pub fn has_importances(&self) -> bool {
        self.frame.grid.is_none() && self.asks_single_features()
    }

    fn splits(&self) -> impl Iterator<Item = &NodeSplit> {
        self.nodes.iter().filter_map(|node| node.split.as_ref())
    }

    /// Whether every split consists of tests of one feature each.
    pub(crate) fn asks_single_features(&self) -> bool {
        self.splits().all(|split| split.form.asks_single_features())
    }

    /// The tests of single features, in arbitrary order.
    pub(crate) fn tests(&self) -> impl Iterator<Item = &Test> {
        self.splits().flat_map(|split| split.form.tests())
    }

    /// Numbers of the classifiers that split its nodes, in the order of the nodes; none in a tree
    /// of stumps.
    #[must_use]
    pub fn classifiers(&self) -> Vec<usize> {
        self.splits().filter_map(|split| split.form.classifier()).collect()
    }

    /// For each feature, the sum of squared AUC gains of the stumps on it (the `I_j` of paper 2
    /// sec. 5.1, rates relative to the whole sample). Cubes and classifiers, which test many
    /// features at once, add nothing; see [`RankingTree::has_importances`].
    #[must_use]
    pub fn importances(&self) -> Vec<f64> {
        let mut importances = vec![0.0; self.frame.n_levels.len()];
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(split) = &node.split else { continue };
            for (feature, gain) in split.form.gains(self.gain(number)) {
                let gain = self.auc_of_gain(gain);
                importances[feature] += gain * gain;
            }
        }
        importances
    }
}

impl RankingTree {
    /// Validates a loaded tree: its nodes must form a tree whose sums add up.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        self.frame().check()?;
        self.check_nodes()
    }

    /// The same for a tree whose frame is valid.
    pub(in crate::tree) fn check_nodes(&self) -> Result<(), String> {
        let Some(root) = self.nodes().first() else {
            return Err("the tree has no nodes".to_owned());
        };
        // A bootstrap may draw heavy rows often, so sums may exceed 2^53, the limit of the weights.
        let limit = 1_u64 << 60;
        if root.sums.pos == 0 || root.sums.neg == 0 || root.sums.pos.max(root.sums.neg) > limit {
            return Err("the root of the tree lacks a class".to_owned());
        }
        let mut next = vec![0];
        for (number, node) in self.nodes().iter().enumerate() {
            if next.pop() != Some(number) {
                return Err(format!("node {number} is not in its place"));
            }
            if node.sums.pos == 0 && node.sums.neg == 0 {
                return Err(format!("node {number} has no rows"));
            }
            let Some(split) = &node.split else { continue };
            let sums_of = |child: usize| self.nodes().get(child).map(|node| node.sums);
            let children = (sums_of(split.left()), sums_of(split.right()));
            let (Some(left), Some(right)) = children else {
                return Err(format!("a child of node {number} does not exist"));
            };
            if !adds_up(node.sums, left, right) {
                return Err(format!("the children of node {number} do not add up to it"));
            }
            // Pruning adds up gains, and every split has one.
            if node.sums.gain(left) < 0 {
                return Err(format!("the split of node {number} ranks its sides the wrong way"));
            }
            next.extend([split.right(), split.left()]);
            let checked = split.form.check(self.frame(), node.sums, left);
            checked.map_err(|what| format!("the split of node {number}: {what}"))?;
        }
        if !next.is_empty() {
            return Err("a node is missing at the end".to_owned());
        }
        let classifiers = self.classifiers();
        if !classifiers.is_sorted_by(|a, b| a < b) {
            return Err("the numbers of the classifiers do not rise".to_owned());
        }
        if classifiers.is_empty() || classifiers.len() == self.nodes().len() / 2 {
            Ok(())
        } else {
            Err("classifiers split some of the nodes only".to_owned())
        }
    }
}

/// The ranking order of leaves.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{ClassSums, Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafOrder, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 2.0, 3.0, 3.0, 3.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false, true, false], None)?;
/// let fit = |leaf_order| {
///     let grow = GrowParams { leaf_order, min_samples_leaf: 1, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
///     fit((&columns, &labels), &params, &Interrupt::default()).map(|fitted| fitted.tree)
/// };
/// let (by_tree, by_eta) = (fit(LeafOrder::Tree)?, fit(LeafOrder::Eta)?);
/// let etas: Vec<f64> = by_eta.leaf_sums().into_iter().map(ClassSums::eta).collect();
/// assert!(etas.is_sorted_by(|first, second| first >= second));
/// assert!(by_eta.auc() >= by_tree.auc());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeafOrder {
    /// From left to right in the tree, as in the papers.
    #[default]
    Tree,
    /// By the share of positives, ties from left to right; the training AUC can only rise (paper 2
    /// Theorem 1).
    Eta,
}

/// Data of a tree besides its nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::tree) struct TreeFrame {
    pub(in crate::tree) n_levels: Vec<Option<u32>>,
    pub(in crate::tree) has_missing: Vec<bool>,
    pub(in crate::tree) exponent: i32,
    pub(in crate::tree) leaf_order: LeafOrder,
    /// For each feature, 1 if the score may only rise with it, -1 if it may only fall; empty for
    /// none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::tree) monotonic: Vec<i8>,
    /// The grid that gives the cube of a row, for splits by cubes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::tree) grid: Option<CubeGrid>,
}

impl TreeFrame {
    /// Validates a loaded model: its parts must be consistent.
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
    /// The tree with a number for each leaf, given in ranking order. Nodes keep their numbers.
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

/// Condition under which a row at some place of a tree of stumps goes to the left side.
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

/// The saved form of a ranking tree.
mod saved {
    use std::sync::Arc;

    use serde::{Deserialize, Serialize, Serializer};

    use super::RankingTree;
    use crate::tree::model::{CubeGrid, LeafOrder, Node, TreeFrame};

    /// A ranking tree as it is saved.
    #[derive(Deserialize)]
    pub(super) struct SavedRankingTree {
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

    impl From<SavedRankingTree> for RankingTree {
        fn from(saved: SavedRankingTree) -> Self {
            let SavedRankingTree {
                n_levels,
                has_missing,
                exponent,
                leaf_order,
                monotonic,
                grid,
                nodes,
            } = saved;
            let frame = TreeFrame { n_levels, has_missing, exponent, leaf_order, monotonic, grid };
            Self { frame: Arc::new(frame), nodes }
        }
    }

    impl Serialize for RankingTree {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            #[derive(Serialize)]
            struct SavedModel<'a> {
                #[serde(flatten)]
                frame: &'a TreeFrame,
                nodes: &'a [Node],
            }
            SavedModel { frame: &self.frame, nodes: &self.nodes }.serialize(serializer)
        }
    }

    impl RankingTree {
        /// From nodes that are numbered from the root on, left before right.
        pub(in crate::tree) fn of_numbered(frame: Arc<TreeFrame>, nodes: Vec<Node>) -> Self {
            Self { frame, nodes }
        }

        /// The tree as JSON text: the same as in a saved model.
        ///
        /// # Errors
        ///
        /// [`serde_json::Error`], which does not occur for a fitted tree.
        pub fn to_json(&self) -> serde_json::Result<String> {
            serde_json::to_string(self)
        }
    }
}

impl RankingTree {
    /// Nodes that are leaves, in ranking order.
    #[must_use]
    pub fn leaves(&self) -> Vec<usize> {
        let mut leaves: Vec<usize> =
            (0..self.nodes().len()).filter(|&node| self.nodes()[node].split.is_none()).collect();
        self.rank(&mut leaves);
        leaves
    }

    /// Sorts nodes, given from left to right, into ranking order.
    pub(in crate::tree) fn rank(&self, nodes: &mut [usize]) {
        if self.frame().leaf_order == LeafOrder::Tree {
            return;
        }
        if self.frame().monotonic.is_empty() {
            nodes.sort_by(|&a, &b| self.nodes()[b].sums.cmp_eta(self.nodes()[a].sums));
        } else {
            let etas = self.clipped_etas();
            nodes.sort_by(|&a, &b| etas[b].total_cmp(&etas[a]));
        }
    }

    /// Eta of each node, within the bounds that monotonic constraints set.
    fn clipped_etas(&self) -> Vec<f64> {
        let monotonic = &self.frame().monotonic;
        let sums = self.nodes().iter().map(|node| node.sums);
        split_form::clipped_etas(sums, |node| {
            let split = self.nodes()[node].split.as_ref()?;
            Some((
                split.left(),
                split.right(),
                split.form.tests().any(|test| split_form::orders(monotonic, test)),
            ))
        })
    }

    /// Estimate of eta in each leaf, in ranking order: its share of positives, clipped to the
    /// bounds that the splits above it set if the score is bound to rise or fall with a feature.
    /// Unlike [`RankingTree::probabilities`] it is not pooled with other leaves; a forest averages
    /// it.
    #[must_use]
    pub fn leaf_values(&self) -> Vec<f64> {
        let etas = self.clipped_etas();
        self.leaves().into_iter().map(|leaf| etas[leaf]).collect()
    }

    /// Class sums of the leaves, in ranking order.
    #[must_use]
    pub fn leaf_sums(&self) -> Vec<ClassSums> {
        self.leaves().into_iter().map(|leaf| self.nodes()[leaf].sums).collect()
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
    /// D representation), less the number of leaves whose probability is at most one half, so that
    /// a score is positive exactly where the probability is above one half.
    #[must_use]
    pub fn leaf_scores(&self) -> Vec<f64> {
        let n_above = self.probabilities().iter().filter(|&&eta| eta > 0.5).count();
        (0..self.n_leaves()).map(|position| n_above as f64 - position as f64).collect()
    }

    /// Rank of each leaf, in ranking order: the share of the training rows that lie below it, plus
    /// half of its own share.
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

    /// Fills in the sums of nodes from those of the leaves.
    pub(in crate::tree) fn add_up(&self, sums: &mut [ClassSums]) {
        for node in (0..sums.len()).rev() {
            if let Some(split) = &self.nodes()[node].split {
                sums[node] = sums[split.left()] + sums[split.right()];
            }
        }
    }
}

/// AUC of a score that is constant on strata, given from the highest to the lowest.
fn auc_of_strata(strata: &[ClassSums]) -> f64 {
    let (mut half_wins, mut above) = (0_u128, ClassSums::default());
    for &sums in strata {
        // A negative loses to the positives above it and ties with those of its own stratum.
        half_wins += u128::from(sums.neg) * u128::from(2 * above.pos + sums.pos);
        above += sums;
    }
    half_wins as f64 / (2 * u128::from(above.pos) * u128::from(above.neg)) as f64
}
