//! The rows of a tree in memory.

use std::ops::Range;

use super::best_split::{SearchMemory, Split};
use super::code_columns::CodeColumns;
use super::grow::{GrowNode, Grower, GrowingTree, Parted, Root, TreeSource};
use super::histogram::{Bins, Memory};
use super::partition::Sides;
use super::rows::FitRows;
use super::sums::Sums;
use super::tree_rows::{Derivatives, TreeRows};
use crate::RankError;
use crate::tree::Cuts;

/// A node whose rows are fewer than its bins, divided by this, is searched row by row.
const FEW: usize = 3;

/// The same where cuts are drawn: rows are only passed over then.
const FEW_TO_DRAW: usize = 1;

/// Open leaves are looked through for such that will not be split so many times.
const LOOKS: usize = 32;

/// Memory that trees share.
#[derive(Debug, Default)]
pub(super) struct GrowMemory {
    bins: Memory,
    search: SearchMemory,
}

/// The rows of a tree, which are left in the order of its leaves.
pub(super) struct MemoryTree<'t, 'a> {
    pub(super) data: &'t FitRows<'a>,
    /// Ascending at first.
    pub(super) rows: &'t mut TreeRows,
    pub(super) columns: &'t mut CodeColumns,
    pub(super) memory: &'t mut GrowMemory,
}

/// What is kept of a node.
#[derive(Debug)]
pub(super) struct MemoryNode {
    rows: Range<usize>,
    /// Sums by bin, if they are kept.
    bins: Option<Bins>,
    /// Whether the sides of its best split have enough rows.
    is_checked: bool,
}

type Node = GrowNode<MemoryNode>;

impl TreeSource for MemoryTree<'_, '_> {
    type Kept = MemoryNode;

    async fn root(&mut self, grower: &Grower<'_>) -> Result<Root<MemoryNode>, RankError> {
        let rows = 0..self.rows.rows.len();
        let is_checked = self.is_few(grower, &rows);
        let bins = if is_checked { None } else { Some(self.count(grower, &rows)?) };
        let sums = self.total(grower, bins.as_ref());
        let n_rows = self.data.count_all(&self.rows.rows);
        Ok(Root { kept: MemoryNode { rows, bins, is_checked }, n_rows, sums })
    }

    fn best(&mut self, grower: &Grower<'_>, node: &Node, number: usize) -> Option<Split> {
        let (data, rows) = (self.data, &*self.rows);
        grower.best_of(&mut self.memory.search, |memory, place| {
            best_of_feature(grower, node, number, place, (data, rows), memory)
        })
    }

    async fn part(
        &mut self,
        grower: &Grower<'_>,
        leaves: &mut GrowingTree<MemoryNode>,
        number: usize,
        split: &Split,
    ) -> Result<Parted<MemoryNode>, RankError> {
        let node = &mut leaves.nodes[number];
        let range = node.kept.rows.clone();
        let sides = Sides::new(&split.test, grower.features);
        self.columns.count(split.test.feature, range.len(), self.data);
        let (n_left, left_count) = self.rows.part(range.clone(), &sides, self.data, self.columns);
        let least = left_count.min(node.n_rows - left_count);
        if least < grower.plan.criterion.min_rows && !node.kept.is_checked {
            // Sums do not tell how many rows there are: this node is looked at again.
            self.rows.merge(range, n_left);
            return Ok(Parted::TooFew(self.best_with_counts(grower, node, number)?));
        }
        let middle = range.start + n_left;
        let side = |rows| MemoryNode { rows, bins: None, is_checked: false };
        Ok(Parted::Sides([
            (side(range.start..middle), left_count),
            (side(middle..range.end), node.n_rows - left_count),
        ]))
    }

    /// The smaller is counted, the other is the difference.
    async fn count_children(
        &mut self,
        grower: &Grower<'_>,
        leaves: &mut GrowingTree<MemoryNode>,
        parent: usize,
        children: [usize; 2],
    ) -> Result<(), RankError> {
        let nodes = &mut leaves.nodes;
        let of_parent = nodes[parent].kept.bins.take();
        for child in children {
            nodes[child].kept.is_checked = self.is_few(grower, &nodes[child].kept.rows);
        }
        let needs_bins = |node: &Node| !node.kept.is_checked && grower.may_split(node);
        let [left, right] = children;
        let (small, large) = if nodes[left].kept.rows.len() <= nodes[right].kept.rows.len() {
            (left, right)
        } else {
            (right, left)
        };
        let of_small = if needs_bins(&nodes[small]) || needs_bins(&nodes[large]) {
            Some(self.count(grower, &nodes[small].kept.rows)?)
        } else {
            None
        };
        match (of_parent, &of_small) {
            (Some(bins), Some(of_small)) if needs_bins(&nodes[large]) => {
                let n_rows = nodes[large].kept.rows.len();
                let of_large = bins.without(of_small, n_rows, &mut self.memory.bins);
                nodes[large].kept.bins = Some(of_large);
            }
            (None, _) if needs_bins(&nodes[large]) => {
                nodes[large].kept.bins = Some(self.count(grower, &nodes[large].kept.rows)?);
            }
            (of_parent, _) => self.memory.bins.take_back(of_parent),
        }
        if needs_bins(&nodes[small]) {
            nodes[small].kept.bins = of_small;
        } else {
            self.memory.bins.take_back(of_small);
        }
        Ok(())
    }

    /// Forgets the sums of leaves that others come before until the tree is full: their memory is the
    /// most of a fit to some ten thousand rows. Should one be split after all, it is counted anew.
    fn drop_unneeded(&mut self, grower: &Grower<'_>, leaves: &mut GrowingTree<MemoryNode>) {
        let nodes = &mut leaves.nodes;
        if !grower.keeps_sums() {
            for child in nodes.len() - 2..nodes.len() {
                nodes[child].kept.bins = None;
            }
        }
        let n_splits = grower.plan.max_leaves - leaves.n_leaves;
        if leaves.open.len() <= n_splits
            || !n_splits.is_multiple_of(grower.plan.max_leaves.div_ceil(LOOKS))
        {
            return;
        }
        for number in leaves.open_numbers().skip(n_splits) {
            self.memory.bins.take_back(leaves.nodes[number].kept.bins.take());
        }
    }

    fn leaf(&self, node: &Node) -> (Range<usize>, f64) {
        let rows = node.kept.rows.clone();
        let mass = self.data.mass_of(&self.rows.rows[rows.clone()]);
        (rows, mass as f64 * self.data.mass_unit())
    }

    fn end(&mut self, leaves: &mut GrowingTree<MemoryNode>) {
        for node in &mut leaves.nodes {
            self.memory.bins.take_back(node.kept.bins.take());
        }
    }
}

impl MemoryTree<'_, '_> {
    /// Whether a node has so few rows that they are not counted by bin.
    fn is_few(&self, grower: &Grower<'_>, range: &Range<usize>) -> bool {
        let n_features = grower.layout.features.len();
        let few = if grower.plan.criterion.cuts == Cuts::Random { FEW_TO_DRAW } else { FEW };
        self.rows.are_packed() && few * range.len() * n_features < grower.layout.n_bins()
    }

    fn count(&mut self, grower: &Grower<'_>, range: &Range<usize>) -> Result<Bins, RankError> {
        let rows = self.rows.of(range.clone());
        grower.layout.sums(&self.data.binned, &rows, &mut self.memory.bins, grower.plan.interrupt)
    }

    /// Sums of all rows.
    fn total(&self, grower: &Grower<'_>, bins: Option<&Bins>) -> Sums {
        let layout = &grower.layout;
        if layout.features.is_empty() {
            return Sums::default();
        }
        match (bins, &self.rows.derivatives) {
            (Some(Bins::Packed(bins)), _) => layout.of(0, bins).iter().map(|bin| bin.sums()).sum(),
            (Some(Bins::Plain(bins)), _) => layout.of(0, bins).iter().copied().sum(),
            (None, Derivatives::Packed(packed)) => packed.iter().map(|word| word.sums()).sum(),
            (None, Derivatives::Plain(plain)) => plain.iter().copied().sum(),
        }
    }

    /// The best split of a node whose sides have enough rows.
    fn best_with_counts(
        &mut self,
        grower: &Grower<'_>,
        node: &mut Node,
        number: usize,
    ) -> Result<Option<Split>, RankError> {
        let of_node = self.rows.of(node.kept.rows.clone());
        let counts = grower.layout.counts(self.data, of_node.rows, grower.plan.interrupt)?;
        if node.kept.bins.is_none() {
            node.kept.bins = Some(self.count(grower, &node.kept.rows)?);
        }
        node.kept.is_checked = true;
        let (layout, asked) = (&grower.layout, grower.node(node, number));
        Ok(grower.best_of(&mut self.memory.search, |_, place| {
            let feature = layout.features[place];
            if !grower.may_ask(&node.asked, feature) {
                return None;
            }
            let counts = Some(layout.of(place, &counts));
            let unpacked: Vec<Sums>;
            let sums = match node.kept.bins.as_ref()? {
                Bins::Plain(bins) => layout.of(place, bins),
                Bins::Packed(bins) => {
                    let packed = layout.of(place, bins);
                    unpacked = packed.iter().map(|packed| packed.sums()).collect();
                    &unpacked
                }
            };
            let bins = &grower.features[feature];
            grower.plan.criterion.best_of_feature(&asked, feature, bins, sums, counts)
        }))
    }
}

fn best_of_feature(
    grower: &Grower<'_>,
    node: &Node,
    number: usize,
    place: usize,
    (data, rows): (&FitRows<'_>, &TreeRows),
    memory: &mut SearchMemory,
) -> Option<Split> {
    let feature = grower.layout.features[place];
    if !grower.may_ask(&node.asked, feature) {
        return None;
    }
    let (criterion, asked) = (grower.plan.criterion, grower.node(node, number));
    let of_feature = &grower.features[feature];
    match &node.kept.bins {
        Some(Bins::Packed(bins)) => {
            let bins = grower.layout.of(place, bins);
            criterion.best_of_packed(&asked, feature, of_feature, bins, memory)
        }
        Some(Bins::Plain(bins)) => {
            let bins = grower.layout.of(place, bins);
            criterion.best_of_feature(&asked, feature, of_feature, bins, None)
        }
        None => {
            let rows = rows.of(node.kept.rows.clone());
            let Derivatives::Packed(words) = rows.derivatives else { return None };
            let codes = rows.rows.iter().map(|&row| data.binned.narrow_row(row as usize)[feature]);
            let rows = codes.zip(words.iter().copied());
            criterion.best_of_rows(&asked, feature, of_feature, rows, memory)
        }
    }
}
