//! A split by a small tree of stumps whose cells are merged into two sides.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use super::partition::{best_run, best_union};
use super::stump::{Stump, StumpTerms, best_stump};
use crate::data::{
    CellId, CellSplit, ClassSums, FeatureBins, Histogram, HistogramRequest, SumSource, Tally,
    below, mix,
};
use crate::formula::Test;
use crate::tree::grow::{Division, Family, OpenNode, Splitter};
use crate::tree::model::monotone;
use crate::tree::model::{Node, NodeSplit, RankingTree, SplitForm, SplitNode, TreeFrame};
use crate::tree::prune::CvParams;
use crate::{RankError, parallel};

/// Bytes of the histograms of features that are drawn, which are counted together. They are forgotten
/// once the stumps are known: many small nodes need no more than a few large ones.
const HISTOGRAM_BYTES: usize = 1 << 20;

/// Size of the tree of stumps inside a split. Depth 1 is a single stump: the orthogonal split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Features that are drawn for each stump, or all of them. Where none of those drawn gains, as
    /// many others are, until one does. At least 1.
    pub max_features: Option<usize>,
    /// How the tree of stumps is pruned before its parts are merged, if at all (paper 2 sec. 6.3 iv).
    /// The seed is joined to that of the fit.
    #[serde(default)]
    pub pruning: Option<CvParams>,
}

impl LeafRankParams {
    /// A single stump.
    #[must_use]
    pub fn orthogonal(min_samples_leaf: u64) -> Self {
        Self {
            max_depth: 1,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf,
            max_features: None,
            pruning: None,
        }
    }

    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
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
            Self { max_features: Some(0), .. } => bad("max_features", 0, "at least 1"),
            Self { pruning, .. } => pruning.iter().try_for_each(CvParams::validate),
        }
    }
}

/// Splits nodes by trees of stumps.
#[derive(Debug)]
pub(in crate::tree) struct LeafRankSplitter<'t> {
    params: LeafRankParams,
    /// Rows that each side of a split keeps.
    min_side_rows: u64,
    /// What a split must gain, as [`ClassSums::gain`].
    min_gain: f64,
    terms: StumpTerms<'t>,
}

/// A part of a node, while its tree of stumps grows.
#[derive(Debug)]
struct Part<T> {
    cell: CellId,
    sums: ClassSums,
    depth: usize,
    /// Its place among the stumps.
    position: usize,
    seed: u64,
    /// What it may be cut by, with the histogram that its parts are derived from. The histogram of a
    /// whole node stays with the node.
    stump: Option<Stump>,
    histogram: Option<Histogram<T>>,
}

/// The tree of stumps of one node, its parts from left to right.
#[derive(Debug)]
pub(in crate::tree) struct Growing<'a, T> {
    node: &'a OpenNode<Option<Histogram<T>>>,
    cuts: Vec<SplitNode>,
    parts: Vec<Part<T>>,
}

impl<'t> LeafRankSplitter<'t> {
    pub(in crate::tree) fn new(
        params: LeafRankParams,
        min_side_rows: u64,
        min_gain: f64,
        terms: StumpTerms<'t>,
    ) -> Self {
        Self { params, min_side_rows, min_gain, terms }
    }

    /// Whether every stump looks at every feature, so that histograms can be derived from one
    /// another.
    fn sees_all(&self) -> bool {
        self.params.max_features.is_none()
    }

    /// Grows the tree of stumps of each node, which is what is kept of it.
    pub(in crate::tree) fn grow_parts<'a, S: SumSource + Sync>(
        &self,
        source: &mut S,
        nodes: &'a [OpenNode<Option<Histogram<S::Tally>>>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Growing<'a, S::Tally>>, RankError> {
        let mut growing: Vec<Growing<'_, S::Tally>> = nodes.iter().map(Growing::new).collect();
        if self.sees_all() {
            let features = source.features();
            parallel::map(growing.iter_mut().collect(), |tree: &mut Growing<'_, S::Tally>| {
                let histogram = tree.node.kept.as_ref().expect("kept for every node");
                let sums = tree.node.sums;
                tree.parts[0].stump = self.params.stump_for(features, histogram, sums, self.terms);
            });
        } else {
            let all: Vec<(usize, usize)> = (0..growing.len()).map(|tree| (tree, 0)).collect();
            self.params.draw_stumps(source, &mut growing, &all, self.terms)?;
        }
        while cut_once(source, &mut growing, &self.params, self.terms, next_cell)? {}
        Ok(growing)
    }

    /// Merges the parts of a node into two sides: each with its place among the stumps, and the cells
    /// that make it up.
    fn merge(
        &self,
        node: ClassSums,
        cuts: &mut [SplitNode],
        parts: &[(usize, &[CellId])],
    ) -> Option<Division> {
        let sums: Vec<ClassSums> = parts.iter().map(|&(place, _)| cuts[place].sums()).collect();
        let monotonic = self.terms.monotonic;
        let (is_left, left) = if monotonic.is_empty() {
            best_union(node, &sums, self.min_side_rows)?
        } else {
            let places = parts.iter().map(|&(place, _)| place);
            let order = by_clipped_eta(cuts, &places.collect::<Vec<_>>(), monotonic);
            best_run(node, &sums, &order, self.min_side_rows)?
        };
        if node.gain(left) as f64 <= self.min_gain {
            return None;
        }
        let (mut left_cells, mut right_cells) = (Vec::new(), Vec::new());
        for (&(place, cells), &is_left) in parts.iter().zip(&is_left) {
            if let SplitNode::Part { goes_left, .. } = &mut cuts[place] {
                *goes_left = is_left;
            }
            if is_left { &mut left_cells } else { &mut right_cells }.extend_from_slice(cells);
        }
        let form = match cuts {
            // The left part of a stump is the one that gains.
            [SplitNode::Cut { test, .. }, _, _] => SplitForm::Stump(test.clone()),
            cuts => SplitForm::Cuts(in_preorder(cuts)),
        };
        Some(Division { form, left_cells, right_cells, left })
    }
}

impl<S: SumSource + Sync> Splitter<S> for LeafRankSplitter<'_> {
    type Kept = Option<Histogram<S::Tally>>;

    fn start(&self, source: &S, root: OpenNode<()>) -> Result<OpenNode<Self::Kept>, RankError> {
        let wanted =
            if self.sees_all() { vec![HistogramRequest::all(root.cell)] } else { Vec::new() };
        let histogram = source.histograms(&wanted)?.pop();
        Ok(root.keeping(histogram))
    }

    fn divide(
        &self,
        source: &mut S,
        nodes: &[OpenNode<Self::Kept>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Option<Division>>, RankError> {
        let growing = self.grow_parts(source, nodes, next_cell)?;
        Ok(growing.into_iter().map(|tree| tree.merge(self)).collect())
    }

    fn descend(
        &self,
        source: &S,
        families: Vec<Family<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError> {
        if !self.sees_all() {
            let children = families.into_iter().flat_map(Family::splittable);
            return Ok(children.map(|child| child.keeping(None)).collect());
        }
        // Count the smaller child and derive the other.
        let smaller = |children: &[OpenNode<()>; 2]| {
            usize::from(children[1].sums.rows < children[0].sums.rows)
        };
        let wanted: Vec<HistogramRequest> = families
            .iter()
            .map(|family| HistogramRequest::all(family.children[smaller(&family.children)].cell))
            .collect();
        let counted = source.histograms(&wanted)?;
        let mut open = Vec::with_capacity(2 * families.len());
        for (family, small) in families.into_iter().zip(counted) {
            let whole = family.parent.kept.as_ref().expect("kept for every node");
            let large = whole.without(&small);
            let is_first = smaller(&family.children) == 0;
            let histograms = if is_first { [small, large] } else { [large, small] };
            let children = family.children.into_iter().zip(family.may_split).zip(histograms);
            open.extend(children.filter_map(|((child, may_split), histogram)| {
                may_split.then(|| child.keeping(Some(histogram)))
            }));
        }
        Ok(open)
    }

    fn n_bytes(&self, kept: &Self::Kept) -> usize {
        kept.as_ref().map_or(0, Histogram::n_bytes)
    }
}

impl LeafRankParams {
    fn is_large(&self, sums: ClassSums) -> bool {
        sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf) && sums.is_mixed()
    }

    fn stump_for<T: Tally>(
        &self,
        features: &[FeatureBins],
        histogram: &Histogram<T>,
        sums: ClassSums,
        terms: StumpTerms<'_>,
    ) -> Option<Stump> {
        let min_rows = self.min_samples_leaf;
        self.is_large(sums).then(|| best_stump(features, histogram, sums, min_rows, terms))?
    }

    /// Finds stumps for parts, each given by its tree and its place there, on features that are
    /// drawn for it.
    fn draw_stumps<S: SumSource + Sync>(
        &self,
        source: &S,
        growing: &mut [Growing<'_, S::Tally>],
        parts: &[(usize, usize)],
        terms: StumpTerms<'_>,
    ) -> Result<(), RankError> {
        let features = source.features();
        let n_drawn = self.max_features.unwrap_or(features.len()).max(1);
        let mut waiting: Vec<(usize, usize, Vec<usize>)> = parts
            .iter()
            .map(|&(tree, part)| (tree, part, &growing[tree].parts[part]))
            .filter(|(.., part)| self.is_large(part.sums))
            .map(|(tree, place, part)| {
                let mut drawn = shuffled(features.len(), part.seed);
                drawn.retain(|&feature| terms.may_ask(feature));
                (tree, place, drawn)
            })
            .collect();
        while !waiting.is_empty() {
            let wanted: Vec<HistogramRequest> = waiting
                .iter_mut()
                .map(|(tree, part, rest)| {
                    let mut drawn = rest.split_off(rest.len().saturating_sub(n_drawn));
                    drawn.sort_unstable();
                    HistogramRequest {
                        cell: growing[*tree].parts[*part].cell,
                        features: Some(drawn),
                    }
                })
                .collect();
            let mut found = Vec::with_capacity(waiting.len());
            let mut rest = &wanted[..];
            while !rest.is_empty() {
                let first = found.len();
                let n_rows = |part: usize| {
                    let &(tree, part, _) = &waiting[first + part];
                    growing[tree].parts[part].sums.rows as usize
                };
                let piece;
                (piece, rest) =
                    rest.split_at(n_counted_at_once::<S::Tally>(features, rest, n_rows));
                let histograms = source.histograms(piece)?;
                let trees = &*growing;
                let wanted = waiting[first..].iter().zip(&histograms).collect();
                let stumps: Vec<Option<Stump>> =
                    parallel::map(wanted, |((tree, part, _), histogram)| {
                        let sums = trees[*tree].parts[*part].sums;
                        best_stump(features, histogram, sums, self.min_samples_leaf, terms)
                    });
                for (&(tree, part, _), stump) in waiting[first..].iter().zip(stumps) {
                    found.push(stump.is_some());
                    growing[tree].parts[part].stump = stump;
                }
            }
            let mut found = found.into_iter();
            waiting.retain(|(.., rest)| !(found.next() == Some(true) || rest.is_empty()));
        }
        Ok(())
    }
}

/// How many of the wanted histograms are counted before stumps are found in them: at least one, and
/// as many as [`HISTOGRAM_BYTES`] hold. `n_rows` are those of the cell of each.
fn n_counted_at_once<T>(
    features: &[FeatureBins],
    wanted: &[HistogramRequest],
    n_rows: impl Fn(usize) -> usize,
) -> usize {
    let mut bytes = 0;
    for (place, wanted) in wanted.iter().enumerate() {
        // A feature of many codes takes no more than two bins a row, or a list of as many bytes.
        let most = 2 * n_rows(place) + 256;
        for &feature in wanted.features.iter().flatten() {
            bytes += size_of::<T>() * features[feature].n_codes().min(most);
        }
        if bytes > HISTOGRAM_BYTES {
            return place.max(1);
        }
    }
    wanted.len()
}

/// The numbers below `n` in random order.
fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        order.swap(i, below(&mut random, i + 1));
    }
    order
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
    terms: StumpTerms<'_>,
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
    siblings.retain(|pair| growing[pair.tree].may_grow(params, pair.left));
    if params.max_features.is_some() {
        let both = |pair: &Siblings<_>| [(pair.tree, pair.left), (pair.tree, pair.left + 1)];
        let parts: Vec<(usize, usize)> = siblings.iter().flat_map(both).collect();
        params.draw_stumps(source, growing, &parts, terms)?;
        return Ok(true);
    }

    // Count the smaller of two parts and derive the other.
    let trees = &*growing;
    let smaller = |pair: &Siblings<S::Tally>| {
        let parts = &trees[pair.tree].parts;
        pair.left + usize::from(parts[pair.left + 1].sums.rows < parts[pair.left].sums.rows)
    };
    let wanted: Vec<HistogramRequest> = siblings
        .iter()
        .map(|pair| HistogramRequest::all(trees[pair.tree].parts[smaller(pair)].cell))
        .collect();
    let counted = source.histograms(&wanted)?;
    let features = source.features();
    let found = parallel::map(siblings.into_iter().zip(counted).collect(), |(pair, histogram)| {
        let tree = &trees[pair.tree];
        let small = smaller(&pair);
        let large = 2 * pair.left + 1 - small;
        let parent = pair.parent.as_ref().or(tree.node.kept.as_ref());
        let rest = parent.expect("kept for every node").without(&histogram);
        [(small, histogram), (large, rest)].map(|(part, histogram)| {
            let sums = tree.parts[part].sums;
            (pair.tree, part, params.stump_for(features, &histogram, sums, terms), histogram)
        })
    });
    for (tree, part, stump, histogram) in found.into_iter().flatten() {
        let part = &mut growing[tree].parts[part];
        part.histogram = stump.is_some().then_some(histogram);
        part.stump = stump;
    }
    Ok(true)
}

impl<'a, T: Tally> Growing<'a, T> {
    fn new(node: &'a OpenNode<Option<Histogram<T>>>) -> Self {
        let whole = Part {
            cell: node.cell,
            sums: node.sums,
            depth: 0,
            position: 0,
            seed: node.seed,
            stump: None,
            histogram: None,
        };
        let cuts = vec![SplitNode::Part { sums: node.sums, goes_left: false }];
        Self { node, cuts, parts: vec![whole] }
    }

    /// Whether the part at `left` and the one after it may be cut in their turn.
    fn may_grow(&self, params: &LeafRankParams, left: usize) -> bool {
        self.parts[left].depth < params.max_depth
            && params.max_leaves.is_none_or(|most| self.parts.len() < most)
    }

    /// The parts to cut next: all that gain, or the one of the largest merit.
    fn chosen(&self, params: &LeafRankParams) -> Vec<bool> {
        let merit = |part: &Part<T>| part.stump.as_ref().map(|stump| stump.merit);
        let Some(most) = params.max_leaves else {
            return self.parts.iter().map(|part| part.stump.is_some()).collect();
        };
        let best = self.parts.iter().filter_map(merit).max().filter(|_| self.parts.len() < most);
        let place = self.parts.iter().position(|part| best.is_some() && merit(part) == best);
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
            for (side, (cell, sums, position)) in (1..).zip(new) {
                self.cuts.push(SplitNode::Part { sums, goes_left: false });
                self.parts.push(Part {
                    cell,
                    sums,
                    depth: part.depth + 1,
                    position,
                    // Not the way of a child of the node, which has a seed of its own.
                    seed: mix(!part.seed ^ side),
                    stump: None,
                    histogram: None,
                });
            }
            let split =
                CellSplit { cell: part.cell, test: stump.test, left: cells.0, right: cells.1 };
            splits.push(split);
        }
    }

    /// Merges the parts into two sides.
    pub(in crate::tree) fn merge(mut self, splitter: &LeafRankSplitter<'_>) -> Option<Division> {
        let part = |part: &'_ Part<T>| (part.position, part.cell);
        let places: Vec<(usize, CellId)> = self.parts.iter().map(part).collect();
        let parts: Vec<_> =
            places.iter().map(|(place, cell)| (*place, std::slice::from_ref(cell))).collect();
        splitter.merge(self.node.sums, &mut self.cuts, &parts)
    }

    /// Merges the leaves of a subtree of [`Growing::tree`] into two sides.
    pub(in crate::tree) fn merge_leaves(
        &self,
        subtree: &RankingTree,
        splitter: &LeafRankSplitter<'_>,
    ) -> Option<Division> {
        let mut cuts: Vec<SplitNode> = subtree.nodes().iter().map(split_node).collect();
        // Leaves and parts both stand from left to right, so a leaf is a run of parts.
        let cells: Vec<CellId> = self.parts.iter().map(|part| part.cell).collect();
        let (mut rest, mut sizes) = (&cells[..], self.parts.iter().map(|part| part.sums.rows));
        let mut parts = Vec::with_capacity(subtree.n_leaves());
        for (place, node) in subtree.nodes().iter().enumerate() {
            if node.split.is_none() {
                let (mut n_cells, mut n_rows) = (0, 0);
                while n_rows < node.sums.rows {
                    n_rows += sizes.next().expect("the parts make up the leaves");
                    n_cells += 1;
                }
                let (mine, others) = rest.split_at(n_cells);
                parts.push((place, mine));
                rest = others;
            }
        }
        splitter.merge(self.node.sums, &mut cuts, &parts)
    }

    /// The tree of stumps as a ranking tree.
    pub(in crate::tree) fn tree(&self, frame: Arc<TreeFrame>) -> RankingTree {
        let node = |cut: &SplitNode| match cut {
            SplitNode::Part { sums, .. } => Node { sums: *sums, split: None },
            SplitNode::Cut { sums, test, left, right } => {
                let (form, left, right) = (SplitForm::Stump(test.clone()), *left, *right);
                Node { sums: *sums, split: Some(NodeSplit::new(form, left, right)) }
            }
        };
        RankingTree::new(frame, self.cuts.iter().map(node).collect())
    }
}

/// A node of a tree of stumps as a part of a split; sides are not known yet.
fn split_node(node: &Node) -> SplitNode {
    let sums = node.sums;
    match &node.split {
        Some(split @ NodeSplit { form: SplitForm::Stump(test), .. }) => {
            let (left, right) = (split.left(), split.right());
            SplitNode::Cut { sums, test: test.clone(), left, right }
        }
        _ => SplitNode::Part { sums, goes_left: false },
    }
}

/// Parts, given by their places among the stumps, by their etas clipped to what directions of features
/// ask, so that a row which may not rank below another is in the same part or in one that stands
/// before.
fn by_clipped_eta(cuts: &[SplitNode], parts: &[usize], monotonic: &[i8]) -> Vec<usize> {
    let etas =
        monotone::clipped_etas(cuts.iter().map(SplitNode::sums), |place| match &cuts[place] {
            SplitNode::Cut { test, left, right, .. } => {
                Some((*left, *right, monotone::orders(monotonic, test)))
            }
            SplitNode::Part { .. } => None,
        });
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|&a, &b| etas[parts[b]].total_cmp(&etas[parts[a]]));
    order
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
