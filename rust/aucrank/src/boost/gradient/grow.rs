//! One tree, grown best leaf first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use super::best_split::{Criterion, Node, Split};
use super::histogram::{Derivatives, Layout};
use super::partition::Sides;
use super::rows::FitRows;
use super::sums::Sums;
use super::tree::{GradientNode, GradientTree};
use crate::data::{CodeTest, mix, snap};
use crate::formula::Test;
use crate::{Interrupt, RankError, parallel};

/// Memory that the sums of open leaves may take in all; beyond it they are counted anew.
const MOST_SUMS: usize = (1 << 28) / size_of::<Sums>();

/// Bins that one task looks for a split in.
const TASK_BINS: usize = 2048;

/// Grows trees on one set of rows.
pub(super) struct Grower<'a> {
    pub(super) data: &'a FitRows<'a>,
    pub(super) derivatives: &'a Derivatives,
    pub(super) layout: Layout,
    pub(super) criterion: &'a Criterion,
    pub(super) max_leaves: usize,
    pub(super) max_depth: usize,
    pub(super) interactions: Option<&'a [Vec<usize>]>,
    /// Factor on the values of the leaves.
    pub(super) rate: f64,
    pub(super) seed: u64,
    /// The question about raw values that is one about codes.
    pub(super) raw_test: &'a (dyn Fn(&CodeTest) -> Test + Sync),
    pub(super) interrupt: &'a Interrupt,
}

/// A grown tree, and which of its rows are in which leaf.
#[derive(Debug)]
pub(super) struct Grown {
    pub(super) tree: GradientTree,
    /// The same tree in codes: for each node the question, and where its right side is.
    pub(super) sides: Vec<Option<(Sides, usize)>>,
    /// For each leaf the range of its rows in the order that the growth left, and its value.
    pub(super) leaves: Vec<(Range<usize>, f64)>,
}

/// A node of the tree while it grows.
#[derive(Debug)]
struct GrowNode {
    rows: Range<usize>,
    /// Number of rows, as they count.
    n_rows: u64,
    depth: usize,
    sums: Sums,
    bounds: [f64; 2],
    /// Features asked on the way here.
    asked: Vec<usize>,
    /// Sums by bin, if they are kept.
    bins: Option<Vec<Sums>>,
    /// The best split, and whether its sides have enough rows.
    best: Option<Split>,
    is_checked: bool,
    /// The question and the two nodes below.
    split: Option<(Split, usize, usize)>,
}

/// A leaf that may be split: the one that gains most first, of equals the first.
#[derive(Debug, PartialEq)]
struct Open {
    gain: f64,
    node: Reverse<usize>,
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

impl Grower<'_> {
    /// Grows a tree on some rows, ascending; leaves them in the order of the leaves.
    pub(super) fn grow(&self, rows: &mut [u32], scratch: &mut [u32]) -> Result<Grown, RankError> {
        let sums = self.layout.sums(self.data.binned, rows, self.derivatives, self.interrupt)?;
        let total: Sums = match self.layout.features.first() {
            Some(_) => self.layout.of(0, &sums).iter().copied().sum(),
            None => Sums::default(),
        };
        let mut nodes = vec![GrowNode {
            rows: 0..rows.len(),
            n_rows: self.data.count_all(rows),
            depth: 0,
            sums: total,
            bounds: [f64::NEG_INFINITY, f64::INFINITY],
            asked: Vec::new(),
            bins: Some(sums),
            best: None,
            is_checked: false,
            split: None,
        }];
        let mut open = BinaryHeap::new();
        self.find_splits(&mut nodes, &[0], &mut open)?;
        let mut n_leaves = 1;
        let keeps_sums = self.layout.n_bins().saturating_mul(self.max_leaves) <= MOST_SUMS;
        while n_leaves < self.max_leaves
            && let Some(Open { node: Reverse(number), .. }) = open.pop()
        {
            self.interrupt.check()?;
            let Some(split) = nodes[number].best.take() else { continue };
            let node = &nodes[number];
            let range = node.rows.clone();
            let sides = Sides::new(&split.test, self.data);
            let (n_left, left_count) =
                sides.part(self.data, &mut rows[range.clone()], &mut scratch[range.clone()]);
            let least = left_count.min(node.n_rows - left_count);
            if least < self.criterion.min_rows && !node.is_checked {
                // Sums do not tell how many rows there are: this node is looked at again.
                rows[range].sort_unstable();
                self.find_with_counts(&mut nodes[number], rows, &mut open, number)?;
                continue;
            }
            let middle = range.start + n_left;
            let parts = [range.start..middle, middle..range.end];
            let counts = [left_count, node.n_rows - left_count];
            let children = self.part(&mut nodes, number, split, parts, counts);
            n_leaves += 1;
            if n_leaves < self.max_leaves {
                self.count_children(&mut nodes, number, children, rows)?;
                self.find_splits(&mut nodes, &children, &mut open)?;
                if !keeps_sums {
                    for child in children {
                        nodes[child].bins = None;
                    }
                }
            }
        }
        Ok(self.finish(nodes, rows))
    }

    /// Adds the two sides of a split.
    fn part(
        &self,
        nodes: &mut Vec<GrowNode>,
        number: usize,
        split: Split,
        parts: [Range<usize>; 2],
        counts: [u64; 2],
    ) -> [usize; 2] {
        let node = &nodes[number];
        let sums = [split.left, node.sums - split.left];
        let mut bounds = [node.bounds; 2];
        let feature = split.test.feature;
        let direction = self.criterion.monotonic.get(feature).copied().unwrap_or(0);
        let is_cut = matches!(&split.test.rule, crate::data::CodeRule::Below(bound)
            if (*bound as usize) < self.data.binned.features()[feature].n_bins());
        if direction != 0 && is_cut {
            let [left, right] = sums.map(|sums| self.criterion.leaf(sums, node.bounds));
            let middle = f64::midpoint(left, right);
            // The side with the lower values, and the bound above it.
            let low = usize::from(direction < 0);
            bounds[low][1] = bounds[low][1].min(middle);
            bounds[1 - low][0] = bounds[1 - low][0].max(middle);
        }
        let mut asked = node.asked.clone();
        if self.interactions.is_some() && !asked.contains(&feature) {
            asked.push(feature);
        }
        let depth = node.depth + 1;
        let children = [nodes.len(), nodes.len() + 1];
        for ((rows, n_rows), (sums, bounds)) in
            parts.into_iter().zip(counts).zip(sums.into_iter().zip(bounds))
        {
            let asked = asked.clone();
            let (best, bins, is_checked, split) = (None, None, false, None);
            nodes.push(GrowNode {
                rows,
                n_rows,
                depth,
                sums,
                bounds,
                asked,
                bins,
                best,
                is_checked,
                split,
            });
        }
        nodes[number].split = Some((split, children[0], children[1]));
        children
    }

    fn may_split(&self, node: &GrowNode) -> bool {
        node.depth < self.max_depth && node.n_rows >= 2 * self.criterion.min_rows.max(1)
    }

    /// Sums by bin of two siblings: the smaller is counted, the other is the difference.
    fn count_children(
        &self,
        nodes: &mut [GrowNode],
        parent: usize,
        children: [usize; 2],
        rows: &[u32],
    ) -> Result<(), RankError> {
        let of_parent = nodes[parent].bins.take();
        if !children.iter().any(|&child| self.may_split(&nodes[child])) {
            return Ok(());
        }
        let count = |node: &GrowNode| {
            let rows = &rows[node.rows.clone()];
            self.layout.sums(self.data.binned, rows, self.derivatives, self.interrupt)
        };
        let [left, right] = children;
        let (small, large) = if nodes[left].rows.len() <= nodes[right].rows.len() {
            (left, right)
        } else {
            (right, left)
        };
        let of_small = count(&nodes[small])?;
        nodes[large].bins = Some(match of_parent {
            Some(mut bins) => {
                bins.iter_mut().zip(&of_small).for_each(|(bin, part)| *bin -= *part);
                bins
            }
            None => count(&nodes[large])?,
        });
        nodes[small].bins = Some(of_small);
        Ok(())
    }

    /// Whether a feature may be asked after others.
    fn may_ask(&self, asked: &[usize], feature: usize) -> bool {
        let Some(sets) = self.interactions else { return true };
        asked.is_empty()
            || (asked.len() == 1 && asked[0] == feature)
            || sets
                .iter()
                .any(|set| set.contains(&feature) && asked.iter().all(|asked| set.contains(asked)))
    }

    fn node(&self, node: &GrowNode, number: usize) -> Node {
        let seed = mix(self.seed ^ number as u64);
        Node { sums: node.sums, rows: node.n_rows, bounds: node.bounds, seed, direction: 0 }
    }

    /// Finds the best split of each of some nodes.
    fn find_splits(
        &self,
        nodes: &mut [GrowNode],
        numbers: &[usize],
        open: &mut BinaryHeap<Open>,
    ) -> Result<(), RankError> {
        self.interrupt.check()?;
        let places = 0..self.layout.features.len();
        let tasks = numbers.iter().filter(|&&number| self.may_split(&nodes[number]));
        let tasks = tasks.flat_map(|&number| places.clone().map(move |place| (number, place)));
        let bins_of_feature = self.layout.n_bins().div_ceil(places.len().max(1)).max(1);
        let found = parallel::map_with(
            tasks.collect(),
            TASK_BINS.div_ceil(bins_of_feature),
            || (),
            |(), (number, place): (usize, usize)| {
                let node = &nodes[number];
                let bins = node.bins.as_ref()?;
                let split = self.best_of_feature(node, number, place, bins, None)?;
                Some((number, split))
            },
        );
        for (number, split) in found.into_iter().flatten() {
            let best = &mut nodes[number].best;
            if best.as_ref().is_none_or(|best| split.gain > best.gain) {
                *best = Some(split);
            }
        }
        for &number in numbers {
            if let Some(best) = &nodes[number].best {
                open.push(Open { gain: best.gain, node: Reverse(number) });
            }
        }
        Ok(())
    }

    fn best_of_feature(
        &self,
        node: &GrowNode,
        number: usize,
        place: usize,
        bins: &[Sums],
        counts: Option<&[u64]>,
    ) -> Option<Split> {
        let feature = self.layout.features[place];
        if !self.may_ask(&node.asked, feature) {
            return None;
        }
        let sums = self.layout.of(place, bins);
        let counts = counts.map(|counts| self.layout.of(place, counts));
        let bins = &self.data.binned.features()[feature];
        self.criterion.best_of_feature(&self.node(node, number), feature, bins, sums, counts)
    }

    /// Finds the best split of a node whose sides have enough rows.
    fn find_with_counts(
        &self,
        node: &mut GrowNode,
        rows: &[u32],
        open: &mut BinaryHeap<Open>,
        number: usize,
    ) -> Result<(), RankError> {
        let rows = &rows[node.rows.clone()];
        let counts = self.layout.counts(self.data, rows, self.interrupt)?;
        let counted;
        let bins = if let Some(bins) = &node.bins {
            bins
        } else {
            counted = self.layout.sums(self.data.binned, rows, self.derivatives, self.interrupt)?;
            &counted
        };
        let places = (0..self.layout.features.len()).collect();
        let found = parallel::map_with(
            places,
            8,
            || (),
            |(), place: usize| self.best_of_feature(node, number, place, bins, Some(&counts)),
        );
        let mut best: Option<Split> = None;
        for split in found.into_iter().flatten() {
            if best.as_ref().is_none_or(|best| split.gain > best.gain) {
                best = Some(split);
            }
        }
        node.is_checked = true;
        if let Some(best) = &best {
            open.push(Open { gain: best.gain, node: Reverse(number) });
        }
        node.best = best;
        Ok(())
    }

    /// The tree in its final order.
    fn finish(&self, mut nodes: Vec<GrowNode>, rows: &[u32]) -> Grown {
        let mut grown =
            Grown { tree: GradientTree::new(Vec::new()), sides: Vec::new(), leaves: Vec::new() };
        let mut flat: Vec<GradientNode> = Vec::with_capacity(nodes.len());
        // A node, and the place of the split that it is the right side of.
        let mut waiting = vec![(0, None)];
        while let Some((number, above)) = waiting.pop() {
            let place = flat.len();
            if let Some(above) = above {
                if let GradientNode::Split { right, .. } = &mut flat[above] {
                    *right = place;
                }
                if let Some((_, right)) = &mut grown.sides[above] {
                    *right = place;
                }
            }
            let node = &mut nodes[number];
            if let Some((split, left, right)) = node.split.take() {
                waiting.extend([(right, Some(place)), (left, None)]);
                grown.sides.push(Some((Sides::new(&split.test, self.data), 0)));
                let gain = self.criterion.in_loss(split.gain);
                flat.push(GradientNode::Split {
                    test: (self.raw_test)(&split.test),
                    right: 0,
                    gain,
                });
            } else {
                let value = Criterion::leaf_value(self.criterion.leaf(node.sums, node.bounds));
                let value = snap(self.rate * value);
                let mass: u64 = if self.data.are_equal() {
                    node.rows.len() as u64
                } else {
                    rows[node.rows.clone()].iter().map(|&row| self.data.mass(row as usize)).sum()
                };
                flat.push(GradientNode::Leaf {
                    value,
                    weight: mass as f64 * self.data.mass_unit(),
                });
                grown.sides.push(None);
                grown.leaves.push((node.rows.clone(), value));
            }
        }
        grown.tree = GradientTree::new(flat);
        grown
    }
}

impl Grown {
    /// The value of the leaf of a row.
    #[inline]
    pub(super) fn value(&self, data: &FitRows<'_>, row: u32) -> f64 {
        let mut place = 0;
        while let Some((sides, right)) = &self.sides[place] {
            place = if sides.goes_left(data, row) { place + 1 } else { *right };
        }
        match self.tree.nodes()[place] {
            GradientNode::Leaf { value, .. } => value,
            GradientNode::Split { .. } => unreachable!("the nodes are those of the tree"),
        }
    }
}
