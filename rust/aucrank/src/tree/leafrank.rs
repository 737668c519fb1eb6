//! A split by a small tree of stumps whose cells are merged into two sides.

use rayon::prelude::*;

use super::grow::OpenNode;
use super::partition::best_union;
use super::ranking_tree::SplitNode;
use super::split::{Stump, best_stump};
use super::test::Test;
use crate::RankError;
use crate::data::{CellId, CellSplit, ClassSums, FeatureBins, Histogram, SumSource, Tally};

/// Size of the tree of stumps inside a split. Depth 1 is a single stump: the orthogonal split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeafRankParams {
    /// Stumps between the cell and its parts; at least 1.
    pub max_depth: usize,
    /// Most parts; stumps are then placed where they gain most, the left-most of equal ones first
    /// (DECISIONS T10). At least 2.
    pub max_leaves: Option<usize>,
    /// Rows that a part needs to be cut again.
    pub min_samples_split: u64,
    /// Rows that each part keeps.
    pub min_samples_leaf: u64,
}

impl LeafRankParams {
    /// A single stump.
    #[must_use]
    pub fn orthogonal(min_samples_leaf: u64) -> Self {
        Self { max_depth: 1, max_leaves: None, min_samples_split: 2, min_samples_leaf }
    }

    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: usize, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        match *self {
            Self { max_depth: 0, .. } => bad("max_depth of the split", 0, "at least 1"),
            Self { max_leaves: Some(n @ 0..2), .. } => {
                bad("max_leaves of the split", n, "at least 2")
            }
            Self { min_samples_leaf: 0, .. } => {
                bad("min_samples_leaf of the split", 0, "at least 1")
            }
            _ => Ok(()),
        }
    }
}

/// How one node is split: the stumps, and which of their cells make up each side.
#[derive(Debug)]
pub(super) struct Division {
    pub(super) cuts: Vec<SplitNode>,
    pub(super) left_cells: Vec<CellId>,
    pub(super) right_cells: Vec<CellId>,
    pub(super) left: ClassSums,
}

/// A part of a node, while its tree of stumps grows.
#[derive(Debug)]
struct Part<T> {
    cell: CellId,
    sums: ClassSums,
    depth: usize,
    /// Its place among the stumps.
    position: usize,
    /// What it may be cut by, with the histogram that its parts are derived from. The histogram of a
    /// whole node stays with the node.
    stump: Option<Stump>,
    histogram: Option<Histogram<T>>,
}

/// The tree of stumps of one node, its parts from left to right.
#[derive(Debug)]
struct Growing<'a, T> {
    node: &'a OpenNode<T>,
    cuts: Vec<SplitNode>,
    parts: Vec<Part<T>>,
}

/// Divides every node of a batch, all of them level by level at once, so that each pass over the
/// data serves them all. Nodes that cannot be divided with a gain above `min_gain` (as
/// [`ClassSums::gain`]) give `None`.
pub(super) fn divide<S: SumSource + Sync>(
    source: &mut S,
    nodes: &[OpenNode<S::Tally>],
    params: &LeafRankParams,
    min_side_rows: u64,
    min_gain: f64,
    next_cell: &mut CellId,
) -> Result<Vec<Option<Division>>, RankError> {
    let features = source.features();
    let whole = |node: &OpenNode<S::Tally>| Part {
        cell: node.cell,
        sums: node.sums,
        depth: 0,
        position: 0,
        stump: params.stump_for(features, &node.histogram, node.sums),
        histogram: None,
    };
    let mut growing: Vec<Growing<'_, S::Tally>> = nodes
        .par_iter()
        .map(|node| Growing {
            node,
            cuts: vec![SplitNode::Part { sums: node.sums, goes_left: false }],
            parts: vec![whole(node)],
        })
        .collect();
    while cut_once(source, &mut growing, params, next_cell)? {}
    Ok(growing.into_iter().map(|tree| tree.merge(min_side_rows, min_gain)).collect())
}

impl LeafRankParams {
    fn stump_for<T: Tally>(
        &self,
        features: &[FeatureBins],
        histogram: &Histogram<T>,
        sums: ClassSums,
    ) -> Option<Stump> {
        let large = sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf);
        (large && sums.is_mixed())
            .then(|| best_stump(features, histogram, sums, self.min_samples_leaf))?
    }
}

/// Two parts that came from one, before their own stumps are known.
struct Siblings<T> {
    tree: usize,
    /// Index of the left one; the right one follows.
    left: usize,
    /// Histogram that theirs add up to, or `None` for that of the whole node.
    parent: Option<Histogram<T>>,
}

/// Cuts the parts that are to be cut next in every tree; `false` when there are none.
fn cut_once<S: SumSource + Sync>(
    source: &mut S,
    growing: &mut [Growing<'_, S::Tally>],
    params: &LeafRankParams,
    next_cell: &mut CellId,
) -> Result<bool, RankError> {
    let (mut splits, mut siblings) = (Vec::new(), Vec::new());
    for (index, tree) in growing.iter_mut().enumerate() {
        tree.cut(index, params, source.features(), next_cell, &mut splits, &mut siblings);
    }
    if splits.is_empty() {
        return Ok(false);
    }
    source.split(&splits)?;

    // Count the smaller of two parts and derive the other.
    let trees = &*growing;
    siblings.retain(|pair| trees[pair.tree].may_grow(params, pair.left));
    let smaller = |pair: &Siblings<S::Tally>| {
        let parts = &trees[pair.tree].parts;
        pair.left + usize::from(parts[pair.left + 1].sums.rows < parts[pair.left].sums.rows)
    };
    let wanted: Vec<CellId> =
        siblings.iter().map(|pair| trees[pair.tree].parts[smaller(pair)].cell).collect();
    let counted = source.histograms(&wanted)?;
    let features = source.features();
    let found: Vec<_> = siblings
        .into_par_iter()
        .zip(counted)
        .flat_map_iter(|(pair, histogram)| {
            let tree = &trees[pair.tree];
            let small = smaller(&pair);
            let large = 2 * pair.left + 1 - small;
            let parent = pair.parent.as_ref().unwrap_or(&tree.node.histogram);
            let rest = parent.without(&histogram);
            [(small, histogram), (large, rest)].into_iter().map(move |(part, histogram)| {
                let sums = tree.parts[part].sums;
                (pair.tree, part, params.stump_for(features, &histogram, sums), histogram)
            })
        })
        .collect();
    for (tree, part, stump, histogram) in found {
        let part = &mut growing[tree].parts[part];
        part.histogram = stump.is_some().then_some(histogram);
        part.stump = stump;
    }
    Ok(true)
}

impl<T: Tally> Growing<'_, T> {
    /// Whether the part at `left` and the one after it may be cut in their turn.
    fn may_grow(&self, params: &LeafRankParams, left: usize) -> bool {
        self.parts[left].depth < params.max_depth
            && params.max_leaves.is_none_or(|most| self.parts.len() < most)
    }

    /// The parts to cut next: all that gain, or the one that gains most.
    fn chosen(&self, params: &LeafRankParams) -> Vec<bool> {
        let gain = |part: &Part<T>| part.stump.as_ref().map(|stump| stump.gain);
        let Some(most) = params.max_leaves else {
            return self.parts.iter().map(|part| part.stump.is_some()).collect();
        };
        let best = self.parts.iter().filter_map(gain).max().filter(|_| self.parts.len() < most);
        let place = self.parts.iter().position(|part| best.is_some() && gain(part) == best);
        (0..self.parts.len()).map(|part| place == Some(part)).collect()
    }

    fn cut(
        &mut self,
        index: usize,
        params: &LeafRankParams,
        features: &[FeatureBins],
        next_cell: &mut CellId,
        splits: &mut Vec<CellSplit>,
        siblings: &mut Vec<Siblings<T>>,
    ) {
        let chosen = self.chosen(params);
        let before = std::mem::take(&mut self.parts);
        for (mut part, is_chosen) in before.into_iter().zip(chosen) {
            let Some(stump) = part.stump.take_if(|_| is_chosen) else {
                self.parts.push(part);
                continue;
            };
            let (left, right) = (self.cuts.len(), self.cuts.len() + 1);
            self.cuts[part.position] = SplitNode::Cut {
                sums: part.sums,
                test: Test::of_codes(&stump.test, &features[stump.test.feature]),
                left,
                right,
            };
            let parent = part.histogram.take();
            siblings.push(Siblings { tree: index, left: self.parts.len(), parent });
            let cells = (*next_cell, *next_cell + 1);
            *next_cell += 2;
            let new = [(cells.0, stump.left, left), (cells.1, part.sums - stump.left, right)];
            for (cell, sums, position) in new {
                self.cuts.push(SplitNode::Part { sums, goes_left: false });
                let depth = part.depth + 1;
                self.parts.push(Part { cell, sums, depth, position, stump: None, histogram: None });
            }
            let split =
                CellSplit { cell: part.cell, test: stump.test, left: cells.0, right: cells.1 };
            splits.push(split);
        }
    }

    fn merge(mut self, min_side_rows: u64, min_gain: f64) -> Option<Division> {
        let sums: Vec<ClassSums> = self.parts.iter().map(|part| part.sums).collect();
        let (is_left, left) = best_union(self.node.sums, &sums, min_side_rows)?;
        if self.node.sums.gain(left) as f64 <= min_gain {
            return None;
        }
        let (mut left_cells, mut right_cells) = (Vec::new(), Vec::new());
        for (part, &is_left) in self.parts.iter().zip(&is_left) {
            if let SplitNode::Part { goes_left, .. } = &mut self.cuts[part.position] {
                *goes_left = is_left;
            }
            if is_left { &mut left_cells } else { &mut right_cells }.push(part.cell);
        }
        Some(Division { cuts: in_preorder(&self.cuts), left_cells, right_cells, left })
    }
}

/// Renumbers stumps from the root on, left before right.
fn in_preorder(cuts: &[SplitNode]) -> Vec<SplitNode> {
    let mut ordered: Vec<SplitNode> = Vec::with_capacity(cuts.len());
    // An old place, and the stump whose right side it is.
    let mut open = vec![(0, None)];
    while let Some((old, right_of)) = open.pop() {
        let place = ordered.len();
        if let Some(SplitNode::Cut { right, .. }) =
            right_of.map(|parent: usize| &mut ordered[parent])
        {
            *right = place;
        }
        let mut node = cuts[old].clone();
        if let SplitNode::Cut { left, right, .. } = &mut node {
            open.push((*right, Some(place)));
            open.push((*left, None));
            *left = place + 1;
        }
        ordered.push(node);
    }
    ordered
}
