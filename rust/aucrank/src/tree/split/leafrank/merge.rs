//! The parts of a node, merged into two sides by the partition-based rule.

use super::growing::{Growing, Part};
use crate::data::{CellId, ClassSums, Tally};
use crate::tree::grow::{Division, LeastSplit};
use crate::tree::model::{Node, NodeSplit, RankingTree, SplitForm, SplitNode, monotone};
use crate::tree::split::CutCriterion;
use crate::tree::split::partition::{best_run, best_union};

/// What a merger heeds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Merger<'t> {
    pub(super) least: LeastSplit,
    /// For each feature its direction, or empty.
    pub(super) monotonic: &'t [i8],
    pub(super) criterion: CutCriterion,
}

impl Merger<'_> {
    /// Merges the parts into two sides.
    pub(super) fn merge<T: Tally>(self, mut growing: Growing<'_, T>) -> Option<Division> {
        let part = |part: &'_ Part<T>| (part.position, part.cell);
        let places: Vec<(usize, CellId)> = growing.parts.iter().map(part).collect();
        let parts: Vec<_> =
            places.iter().map(|(place, cell)| (*place, std::slice::from_ref(cell))).collect();
        self.merge_parts(growing.node.sums, &mut growing.cuts, &parts)
    }

    /// Merges the leaves of a subtree of [`Growing::tree`] into two sides.
    pub(super) fn merge_leaves<T: Tally>(
        self,
        growing: &Growing<'_, T>,
        subtree: &RankingTree,
    ) -> Option<Division> {
        let mut cuts: Vec<SplitNode> = subtree.nodes().iter().map(split_node).collect();
        // Leaves and parts both stand from left to right, so a leaf is a run of parts.
        let cells: Vec<CellId> = growing.parts.iter().map(|part| part.cell).collect();
        let (mut rest, mut sizes) = (&cells[..], growing.parts.iter().map(|part| part.sums.rows));
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
        self.merge_parts(growing.node.sums, &mut cuts, &parts)
    }

    /// Merges the parts of a node into two sides: each with its place among the stumps, and the cells
    /// that make it up.
    fn merge_parts(
        self,
        node: ClassSums,
        cuts: &mut [SplitNode],
        parts: &[(usize, &[CellId])],
    ) -> Option<Division> {
        let sums: Vec<ClassSums> = parts.iter().map(|&(place, _)| cuts[place].sums()).collect();
        let monotonic = self.monotonic;
        let (is_left, left) = if monotonic.is_empty() {
            best_union(node, &sums, self.least.rows, self.criterion)?
        } else {
            let places = parts.iter().map(|&(place, _)| place);
            let order = by_clipped_eta(cuts, &places.collect::<Vec<_>>(), monotonic);
            best_run(node, &sums, &order, self.least.rows, self.criterion)?
        };
        if node.gain(left) as f64 <= self.least.gain {
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
