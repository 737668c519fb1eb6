//! One tree, grown best leaf first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use super::best_split::{BestSplit, SearchMemory};
use super::grown::Grown;
use super::histogram::BinLayout;
use super::rate_columns::BoosterRates;
use super::split_criterion::{NodeToSplit, SplitCriterion};
use super::sums::UnitSums;
use super::tree::{GradientNode, GradientTree};
use crate::data::{CodeRule, CodeTest, FeatureBins, mix, snap};
use crate::formula::Test;
use crate::{Interrupt, RankError, parallel};

/// Limit on the sums of all open leaves; beyond it they are counted again.
const MOST_SUMS: usize = (1 << 28) / size_of::<UnitSums>();

/// Number of bins of all features from which a thread may search each of two nodes.
const JOINED_BINS: usize = 2048;

/// Number of features that one task searches for a split.
const TASK_FEATURES: usize = 64;

/// Settings for the growth of a tree.
pub(super) struct TreePlan<'a> {
    /// The features that it may test, ascending.
    pub(super) features: Vec<usize>,
    pub(super) criterion: &'a SplitCriterion,
    pub(super) max_leaves: usize,
    pub(super) max_depth: usize,
    pub(super) interactions: Option<&'a [Vec<usize>]>,
    /// Factor on the values of the leaves.
    pub(super) rate: f64,
    pub(super) seed: u64,
    /// Whether the tree is grown to its end even if the time of the fit is over.
    pub(super) is_needed: bool,
    pub(super) interrupt: &'a Interrupt,
}

/// Grows a tree from the sums of some rows.
pub(super) struct GradientGrower<'a> {
    pub(super) plan: TreePlan<'a>,
    pub(super) layout: BinLayout,
    /// Meaning of the codes, feature by feature.
    pub(super) features: &'a [FeatureBins],
    rates: &'a BoosterRates,
    /// Converts a test of codes to the equivalent test of raw values.
    raw_test: &'a (dyn Fn(&CodeTest) -> Test + Sync),
}

/// The rows of a tree, node by node.
pub(super) trait TreeSource: Sync {
    /// Data kept for a node.
    type Kept: Sync;

    /// All rows.
    fn root(&mut self, grower: &GradientGrower<'_>) -> Result<Root<Self::Kept>, RankError>;

    /// The best split of a node.
    fn best(
        &self,
        grower: &GradientGrower<'_>,
        node: &GrowNode<Self::Kept>,
        number: usize,
        memory: &mut SearchMemory,
    ) -> Option<BestSplit>;

    /// Splits the rows of a node, the first of the open leaves.
    fn part(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<Self::Kept>,
        number: usize,
        split: &BestSplit,
    ) -> Result<Parted<Self::Kept>, RankError>;

    /// Finds the sums that two new siblings need to be split.
    fn count_children(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<Self::Kept>,
        parent: usize,
        children: [usize; 2],
    ) -> Result<(), RankError>;

    /// Frees the memory of leaves that need not be split.
    fn drop_unneeded(&mut self, grower: &GradientGrower<'_>, leaves: &mut GrowingTree<Self::Kept>);

    /// The rows of a leaf, and their mass as a number of rows.
    fn leaf(&self, node: &GrowNode<Self::Kept>) -> (Range<usize>, f64);

    /// Takes back the memory of a finished tree.
    fn end(&mut self, leaves: &mut GrowingTree<Self::Kept>);
}

/// All rows of a tree.
pub(super) struct Root<K> {
    pub(super) kept: K,
    /// Number of rows, counting copies.
    pub(super) n_rows: u64,
    pub(super) sums: UnitSums,
}

/// Result of splitting the rows of a node.
pub(super) enum Parted<K> {
    /// Its sides, each with the number of its rows.
    Sides([(K, u64); 2]),
    /// A side has too few rows: the node has this best split instead, if any.
    TooFew(Option<BestSplit>),
}

/// The nodes of a growing tree, with those that may be split.
pub(super) struct GrowingTree<K> {
    pub(super) nodes: Vec<GrowNode<K>>,
    pub(super) open: BinaryHeap<Open>,
    pub(super) n_leaves: usize,
}

/// A node of a growing tree.
#[derive(Debug)]
pub(super) struct GrowNode<K> {
    pub(super) kept: K,
    /// Number of rows, counting copies.
    pub(super) n_rows: u64,
    pub(super) depth: usize,
    pub(super) sums: UnitSums,
    bounds: [f64; 2],
    /// Features tested on the path to it.
    pub(super) tested: Vec<usize>,
    pub(super) best: Option<BestSplit>,
    /// The test and the two nodes below.
    split: Option<(BestSplit, usize, usize)>,
}

/// A leaf that may be split, ordered by gain, the largest first; ties by number.
#[derive(Debug, PartialEq)]
pub(super) struct Open {
    pub(super) gain: f64,
    pub(super) node: Reverse<usize>,
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.node.cmp(&other.node))
    }
}

impl<'a> GradientGrower<'a> {
    pub(super) fn new(
        plan: TreePlan<'a>,
        features: &'a [FeatureBins],
        rates: &'a BoosterRates,
        raw_test: &'a (dyn Fn(&CodeTest) -> Test + Sync),
    ) -> Self {
        let layout = BinLayout::new(features, rates.with_rates(plan.features.clone()));
        Self { plan, layout, features, rates, raw_test }
    }

    /// Grows a tree on the rows of a source.
    pub(super) fn grow<S: TreeSource>(&self, source: &mut S) -> Result<Grown, RankError> {
        let Root { kept, n_rows, sums } = source.root(self)?;
        let root = GrowNode {
            kept,
            n_rows,
            depth: 0,
            sums,
            bounds: [f64::NEG_INFINITY, f64::INFINITY],
            tested: Vec::new(),
            best: None,
            split: None,
        };
        let mut leaves = GrowingTree { nodes: vec![root], open: BinaryHeap::new(), n_leaves: 1 };
        let mut memory = [SearchMemory::default(), SearchMemory::default()];
        self.find_splits(&mut leaves, &[0], source, &mut memory)?;
        while leaves.n_leaves < self.plan.max_leaves
            && let Some(Open { node: Reverse(number), .. }) = leaves.open.pop()
        {
            self.plan.interrupt.check()?;
            let Some(split) = leaves.nodes[number].best.take() else { continue };
            let sides = match source.part(self, &mut leaves, number, &split)? {
                Parted::Sides(sides) => sides,
                Parted::TooFew(best) => {
                    leaves.open(number, best);
                    continue;
                }
            };
            let children = self.add_children(&mut leaves.nodes, number, split, sides);
            leaves.n_leaves += 1;
            if leaves.n_leaves < self.plan.max_leaves {
                source.count_children(self, &mut leaves, number, children)?;
                self.find_splits(&mut leaves, &children, source, &mut memory)?;
                source.drop_unneeded(self, &mut leaves);
            }
        }
        source.end(&mut leaves);
        Ok(self.finish(leaves.nodes, source))
    }

    /// Whether the sums of all open leaves are kept.
    pub(super) fn keeps_sums(&self) -> bool {
        self.layout.n_bins().saturating_mul(self.plan.max_leaves) <= MOST_SUMS
    }

    /// Adds the two sides of a split.
    fn add_children<K>(
        &self,
        nodes: &mut Vec<GrowNode<K>>,
        number: usize,
        split: BestSplit,
        sides: [(K, u64); 2],
    ) -> [usize; 2] {
        let node = &nodes[number];
        let sums = [split.left, node.sums - split.left];
        let mut bounds = [node.bounds; 2];
        let feature = split.test.feature;
        let direction = self.plan.criterion.monotonic.get(feature).copied().unwrap_or(0);
        let is_cut = matches!(&split.test.rule, CodeRule::Below(bound)
            if (*bound as usize) < self.features[feature].n_bins());
        if direction != 0 && is_cut {
            let [left, right] = sums.map(|sums| self.plan.criterion.leaf(sums, node.bounds));
            // The leaves below either side must not pass those of the other: all of the lower ones
            // stay below the middle of the two values, and all of the upper ones above it.
            let middle = f64::midpoint(left, right);
            // The side with the lower values, and the bound above it.
            let low = usize::from(direction < 0);
            bounds[low][1] = bounds[low][1].min(middle);
            bounds[1 - low][0] = bounds[1 - low][0].max(middle);
        }
        let mut tested = node.tested.clone();
        for feature in self.rates.features(feature) {
            if self.plan.interactions.is_some() && !tested.contains(&feature) {
                tested.push(feature);
            }
        }
        let depth = node.depth + 1;
        let children = [nodes.len(), nodes.len() + 1];
        for ((kept, n_rows), (sums, bounds)) in sides.into_iter().zip(sums.into_iter().zip(bounds))
        {
            let tested = tested.clone();
            let (best, split) = (None, None);
            nodes.push(GrowNode { kept, n_rows, depth, sums, bounds, tested, best, split });
        }
        nodes[number].split = Some((split, children[0], children[1]));
        children
    }

    pub(super) fn may_split<K>(&self, node: &GrowNode<K>) -> bool {
        self.may_split_at(node.depth, node.n_rows)
    }

    /// Whether a node of `n_rows` rows at some depth may be split.
    pub(super) fn may_split_at(&self, depth: usize, n_rows: u64) -> bool {
        depth < self.plan.max_depth && n_rows >= 2 * self.plan.criterion.min_rows.max(1)
    }

    /// Whether a feature may be tested after others.
    pub(super) fn may_ask(&self, tested: &[usize], feature: usize) -> bool {
        let Some(sets) = self.plan.interactions else { return true };
        let [feature, other] = self.rates.features(feature);
        let all = || tested.iter().chain([&feature, &other]);
        all().all(|&tested| tested == feature)
            || sets.iter().any(|set| all().all(|tested| set.contains(tested)))
    }

    /// A node in the form for the search of its best split.
    pub(super) fn node<K>(&self, node: &GrowNode<K>, number: usize) -> NodeToSplit {
        let seed = mix(self.plan.seed ^ number as u64);
        NodeToSplit { sums: node.sums, rows: node.n_rows, bounds: node.bounds, seed, direction: 0 }
    }

    /// Finds the best split of each of some nodes; two threads share those of two siblings.
    fn find_splits<S: TreeSource>(
        &self,
        leaves: &mut GrowingTree<S::Kept>,
        numbers: &[usize],
        source: &S,
        [memory, other_memory]: &mut [SearchMemory; 2],
    ) -> Result<(), RankError> {
        self.plan.interrupt.check()?;
        let nodes = &leaves.nodes;
        let best = |number: usize, memory: &mut SearchMemory| {
            let node = &nodes[number];
            self.may_split(node).then(|| source.best(self, node, number, memory))
        };
        let found = match *numbers {
            [left, right] if self.layout.n_bins() >= JOINED_BINS => {
                let of_right = || best(right, other_memory);
                let (of_left, of_right) = parallel::join(|| best(left, memory), of_right);
                vec![of_left, of_right]
            }
            _ => numbers.iter().map(|&number| best(number, memory)).collect(),
        };
        for (&number, best) in numbers.iter().zip(found) {
            if let Some(best) = best {
                leaves.open(number, best);
            }
        }
        Ok(())
    }

    /// The best of the splits of a node by single features, given by place; of ties the first.
    pub(super) fn best_of(
        &self,
        memory: &mut SearchMemory,
        of_place: impl Fn(&mut SearchMemory, usize) -> Option<BestSplit> + Sync,
    ) -> Option<BestSplit> {
        let places = 0..self.layout.features.len();
        let mut best = None;
        let mut offer = |split: Option<BestSplit>| {
            if let Some(split) = split
                && best.as_ref().is_none_or(|best: &BestSplit| split.gain > best.gain)
            {
                best = Some(split);
            }
        };
        if places.len() <= TASK_FEATURES {
            places.for_each(|place| offer(of_place(memory, place)));
        } else {
            let found = parallel::map_with(
                places.collect(),
                TASK_FEATURES,
                SearchMemory::default,
                of_place,
            );
            found.into_iter().for_each(offer);
        }
        best
    }

    /// The tree in its final order.
    fn finish<S: TreeSource>(&self, mut nodes: Vec<GrowNode<S::Kept>>, source: &S) -> Grown {
        let mut grown =
            Grown { tree: GradientTree::new(Vec::new()), tests: Vec::new(), leaves: Vec::new() };
        let mut flat: Vec<GradientNode> = Vec::with_capacity(nodes.len());
        // A node, and the place of the split with this right side.
        let mut waiting = vec![(0, None)];
        while let Some((number, above)) = waiting.pop() {
            let place = flat.len();
            if let Some(above) = above {
                if let GradientNode::Split { right, .. } = &mut flat[above] {
                    *right = place;
                }
                if let Some((_, right)) = &mut grown.tests[above] {
                    *right = place;
                }
            }
            if let Some((split, left, right)) = nodes[number].split.take() {
                waiting.extend([(right, Some(place)), (left, None)]);
                let gain = self.plan.criterion.in_loss(split.gain);
                let test = (self.raw_test)(&split.test);
                flat.push(GradientNode::Split { test, right: 0, gain });
                grown.tests.push(Some((split.test, 0)));
            } else {
                let node = &nodes[number];
                let value =
                    SplitCriterion::leaf_value(self.plan.criterion.leaf(node.sums, node.bounds));
                let value = snap(self.plan.rate * value);
                let (rows, weight) = source.leaf(node);
                flat.push(GradientNode::Leaf { value, weight });
                grown.tests.push(None);
                grown.leaves.push((rows, value));
            }
        }
        grown.tree = GradientTree::new(flat);
        grown
    }
}

impl<K> GrowingTree<K> {
    /// The leaves that may be split, the largest gain first.
    pub(super) fn open_numbers(&self) -> impl Iterator<Item = usize> + use<K> {
        let mut leaves: Vec<(f64, Reverse<usize>)> =
            self.open.iter().map(|leaf| (leaf.gain, leaf.node)).collect();
        leaves.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        leaves.into_iter().map(|(_, Reverse(number))| number)
    }

    /// Keeps the best split of a leaf.
    fn open(&mut self, number: usize, best: Option<BestSplit>) {
        if let Some(best) = &best {
            self.open.push(Open { gain: best.gain, node: Reverse(number) });
        }
        self.nodes[number].best = best;
    }
}
