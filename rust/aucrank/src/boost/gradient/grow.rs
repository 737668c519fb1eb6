//! One tree, grown best leaf first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use super::best_split::{Criterion, Node, SearchMemory, Split};
use super::code_columns::CodeColumns;
use super::histogram::{Bins, Layout, Memory};
use super::partition::Sides;
use super::rows::FitRows;
use super::sums::Sums;
use super::tree::{GradientNode, GradientTree};
use super::tree_rows::{Derivatives, TreeRows};
use crate::data::{CodeTest, mix, snap};
use crate::formula::Test;
use crate::tree::Cuts;
use crate::{Interrupt, RankError, parallel};

/// Memory that the sums of open leaves may take in all; beyond it they are counted anew.
const MOST_SUMS: usize = (1 << 28) / size_of::<Sums>();

/// Features that one task looks for a split in.
const TASK_FEATURES: usize = 64;

/// A node whose rows are fewer than its bins, divided by this, is searched row by row.
const FEW: usize = 3;

/// The same where cuts are drawn: rows are only passed over then.
const FEW_TO_DRAW: usize = 1;

/// Open leaves are looked through for such that will not be split so many times.
const LOOKS: usize = 32;

/// Grows trees on one set of rows.
pub(super) struct Grower<'a> {
    pub(super) data: &'a FitRows<'a>,
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

/// Memory that trees share.
#[derive(Debug, Default)]
pub(super) struct GrowMemory {
    bins: Memory,
    search: SearchMemory,
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
    bins: Option<Bins>,
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
    pub(super) fn grow(
        &self,
        rows: &mut TreeRows,
        columns: &mut CodeColumns,
        memory: &mut GrowMemory,
    ) -> Result<Grown, RankError> {
        let all = 0..rows.rows.len();
        let are_few = self.is_few(rows, &all);
        let bins = if are_few { None } else { Some(self.count(rows, &all, memory)?) };
        let mut nodes = vec![GrowNode {
            rows: all.clone(),
            n_rows: self.data.count_all(&rows.rows),
            depth: 0,
            sums: self.total(rows, bins.as_ref()),
            bounds: [f64::NEG_INFINITY, f64::INFINITY],
            asked: Vec::new(),
            bins,
            best: None,
            is_checked: are_few,
            split: None,
        }];
        let mut open = BinaryHeap::new();
        self.find_splits(&mut nodes, &[0], rows, memory, &mut open)?;
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
            columns.count(split.test.feature, range.len(), self.data);
            let (n_left, left_count) = rows.part(range.clone(), &sides, self.data, columns);
            let least = left_count.min(node.n_rows - left_count);
            if least < self.criterion.min_rows && !node.is_checked {
                // Sums do not tell how many rows there are: this node is looked at again.
                rows.merge(range, n_left);
                self.find_with_counts(&mut nodes[number], rows, memory, &mut open, number)?;
                continue;
            }
            let middle = range.start + n_left;
            let parts = [range.start..middle, middle..range.end];
            let counts = [left_count, node.n_rows - left_count];
            let children = self.part(&mut nodes, number, split, parts, counts);
            n_leaves += 1;
            if n_leaves < self.max_leaves {
                self.count_children(&mut nodes, number, children, rows, memory)?;
                self.find_splits(&mut nodes, &children, rows, memory, &mut open)?;
                if !keeps_sums {
                    for child in children {
                        nodes[child].bins = None;
                    }
                }
                self.drop_bins(&mut nodes, &open, self.max_leaves - n_leaves, memory);
            }
        }
        for node in &mut nodes {
            memory.bins.take_back(node.bins.take());
        }
        Ok(self.finish(nodes, &rows.rows))
    }

    /// Whether a node has so few rows that they are not counted by bin.
    fn is_few(&self, rows: &TreeRows, range: &Range<usize>) -> bool {
        let n_features = self.layout.features.len();
        let few = if self.criterion.cuts == Cuts::Random { FEW_TO_DRAW } else { FEW };
        rows.are_packed() && few * range.len() * n_features < self.layout.n_bins()
    }

    fn count(
        &self,
        rows: &TreeRows,
        range: &Range<usize>,
        memory: &mut GrowMemory,
    ) -> Result<Bins, RankError> {
        let rows = rows.of(range.clone());
        self.layout.sums(&self.data.binned, &rows, &mut memory.bins, self.interrupt)
    }

    /// Sums of all rows.
    fn total(&self, rows: &TreeRows, bins: Option<&Bins>) -> Sums {
        if self.layout.features.is_empty() {
            return Sums::default();
        }
        match (bins, &rows.derivatives) {
            (Some(Bins::Packed(bins)), _) => {
                self.layout.of(0, bins).iter().map(|bin| bin.sums()).sum()
            }
            (Some(Bins::Plain(bins)), _) => self.layout.of(0, bins).iter().copied().sum(),
            (None, Derivatives::Packed(packed)) => packed.iter().map(|word| word.sums()).sum(),
            (None, Derivatives::Plain(plain)) => plain.iter().copied().sum(),
        }
    }

    /// Forgets the sums of leaves that others come before until the tree is full: their memory is the
    /// most of a fit to some ten thousand rows. Should one be split after all, it is counted anew.
    fn drop_bins(
        &self,
        nodes: &mut [GrowNode],
        open: &BinaryHeap<Open>,
        n_splits: usize,
        memory: &mut GrowMemory,
    ) {
        if open.len() <= n_splits || !n_splits.is_multiple_of(self.max_leaves.div_ceil(LOOKS)) {
            return;
        }
        let mut leaves: Vec<&Open> = open.iter().collect();
        leaves.sort_unstable_by(|a, b| b.cmp(a));
        for Open { node: Reverse(number), .. } in &leaves[n_splits..] {
            memory.bins.take_back(nodes[*number].bins.take());
        }
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
        let feature = self.data.rates.feature(feature);
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

    /// Sums by bin of two siblings, where they are needed: the smaller is counted, the other is the
    /// difference.
    fn count_children(
        &self,
        nodes: &mut [GrowNode],
        parent: usize,
        children: [usize; 2],
        rows: &TreeRows,
        memory: &mut GrowMemory,
    ) -> Result<(), RankError> {
        let of_parent = nodes[parent].bins.take();
        for child in children {
            nodes[child].is_checked = self.is_few(rows, &nodes[child].rows);
        }
        let needs_bins = |node: &GrowNode| !node.is_checked && self.may_split(node);
        let [left, right] = children;
        let (small, large) = if nodes[left].rows.len() <= nodes[right].rows.len() {
            (left, right)
        } else {
            (right, left)
        };
        let of_small = if needs_bins(&nodes[small]) || needs_bins(&nodes[large]) {
            Some(self.count(rows, &nodes[small].rows, memory)?)
        } else {
            None
        };
        match (of_parent, &of_small) {
            (Some(bins), Some(of_small)) if needs_bins(&nodes[large]) => {
                let n_rows = nodes[large].rows.len();
                nodes[large].bins = Some(bins.without(of_small, n_rows, &mut memory.bins));
            }
            (None, _) if needs_bins(&nodes[large]) => {
                nodes[large].bins = Some(self.count(rows, &nodes[large].rows, memory)?);
            }
            (of_parent, _) => memory.bins.take_back(of_parent),
        }
        if needs_bins(&nodes[small]) {
            nodes[small].bins = of_small;
        } else {
            memory.bins.take_back(of_small);
        }
        Ok(())
    }

    /// Whether a feature may be asked after others.
    fn may_ask(&self, asked: &[usize], feature: usize) -> bool {
        let Some(sets) = self.interactions else { return true };
        let feature = self.data.rates.feature(feature);
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
        rows: &TreeRows,
        memory: &mut GrowMemory,
        open: &mut BinaryHeap<Open>,
    ) -> Result<(), RankError> {
        self.interrupt.check()?;
        for &number in numbers {
            if !self.may_split(&nodes[number]) {
                continue;
            }
            let node = &nodes[number];
            let best = self.best_of(&mut memory.search, |memory, place| {
                self.best_of_feature(node, number, place, rows, memory)
            });
            if let Some(best) = &best {
                open.push(Open { gain: best.gain, node: Reverse(number) });
            }
            nodes[number].best = best;
        }
        Ok(())
    }

    /// The best of the splits that a node has by one feature, by place; of equals the first.
    fn best_of(
        &self,
        memory: &mut SearchMemory,
        of_place: impl Fn(&mut SearchMemory, usize) -> Option<Split> + Sync,
    ) -> Option<Split> {
        let places = 0..self.layout.features.len();
        let mut best = None;
        let mut offer = |split: Option<Split>| {
            if let Some(split) = split
                && best.as_ref().is_none_or(|best: &Split| split.gain > best.gain)
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

    fn best_of_feature(
        &self,
        node: &GrowNode,
        number: usize,
        place: usize,
        rows: &TreeRows,
        memory: &mut SearchMemory,
    ) -> Option<Split> {
        let feature = self.layout.features[place];
        if !self.may_ask(&node.asked, feature) {
            return None;
        }
        let (criterion, asked) = (self.criterion, self.node(node, number));
        let features = self.data.binned.features();
        match &node.bins {
            Some(Bins::Packed(bins)) => {
                let bins = self.layout.of(place, bins);
                criterion.best_of_packed(&asked, feature, &features[feature], bins, memory)
            }
            Some(Bins::Plain(bins)) => {
                let bins = self.layout.of(place, bins);
                criterion.best_of_feature(&asked, feature, &features[feature], bins, None)
            }
            None => {
                let rows = rows.of(node.rows.clone());
                let Derivatives::Packed(words) = rows.derivatives else { return None };
                let codes =
                    rows.rows.iter().map(|&row| self.data.binned.narrow_row(row as usize)[feature]);
                let rows = codes.zip(words.iter().copied());
                criterion.best_of_rows(&asked, feature, &features[feature], rows, memory)
            }
        }
    }

    /// Finds the best split of a node whose sides have enough rows.
    fn find_with_counts(
        &self,
        node: &mut GrowNode,
        rows: &TreeRows,
        memory: &mut GrowMemory,
        open: &mut BinaryHeap<Open>,
        number: usize,
    ) -> Result<(), RankError> {
        let of_node = rows.of(node.rows.clone());
        let counts = self.layout.counts(self.data, of_node.rows, self.interrupt)?;
        if node.bins.is_none() {
            node.bins = Some(self.count(rows, &node.rows, memory)?);
        }
        let (binned, criterion, asked) =
            (&self.data.binned, self.criterion, self.node(node, number));
        node.is_checked = true;
        node.best = self.best_of(&mut memory.search, |_, place| {
            let feature = self.layout.features[place];
            if !self.may_ask(&node.asked, feature) {
                return None;
            }
            let counts = Some(self.layout.of(place, &counts));
            let unpacked: Vec<Sums>;
            let sums = match node.bins.as_ref()? {
                Bins::Plain(bins) => self.layout.of(place, bins),
                Bins::Packed(bins) => {
                    let packed = self.layout.of(place, bins);
                    unpacked = packed.iter().map(|packed| packed.sums()).collect();
                    &unpacked
                }
            };
            criterion.best_of_feature(&asked, feature, &binned.features()[feature], sums, counts)
        });
        if let Some(best) = &node.best {
            open.push(Open { gain: best.gain, node: Reverse(number) });
        }
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
