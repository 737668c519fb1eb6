//! Trees from arrays of nodes that refer to each other by number.

use std::sync::Arc;

use super::tree::{ImportedNode, ImportedTree};
use crate::data::LevelSet;
use crate::formula::{Rule, Test};

/// What a node of a [`NodeTable`] is.
///
/// For an example see [`ImportedTrees`](crate::imported::ImportedTrees).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ImportedKind {
    /// A leaf; its number is its value.
    Leaf = 0,
    /// A number goes left if it is below the number of the node.
    Below = 1,
    /// A category goes left if it is in the set of the node.
    Levels = 2,
    /// A number goes left if it lies in the ranges of the node.
    Ranges = 3,
    /// All known values go left if the number of the node is above 0, else none.
    Known = 4,
}

impl ImportedKind {
    fn of(code: u8) -> Option<Self> {
        [Self::Leaf, Self::Below, Self::Levels, Self::Ranges, Self::Known]
            .into_iter()
            .find(|kind| *kind as u8 == code)
    }
}

/// Trees as other libraries store them: arrays of nodes, tree by tree, in any order.
///
/// For an example see [`ImportedTrees`](crate::imported::ImportedTrees).
#[derive(Debug, Clone, Copy)]
pub struct NodeTable<'a> {
    /// Number of nodes of each tree; its first node is the root.
    pub sizes: &'a [u32],
    /// A [`ImportedKind`] for each node.
    pub kinds: &'a [u8],
    /// The feature that it tests; not read for a leaf.
    pub features: &'a [u32],
    /// Its threshold, or its value.
    pub numbers: &'a [f64],
    /// The place of its set or of its ranges; not read for others.
    pub places: &'a [u32],
    /// Whether missing values go left.
    pub missing_left: &'a [bool],
    /// The node on its left, counted from the root of the tree; not read for a leaf.
    pub left: &'a [u32],
    /// The node on its right.
    pub right: &'a [u32],
    /// Weight of its training rows; read for leaves only.
    pub weights: &'a [f64],
    /// Sets of categories.
    pub level_sets: &'a [LevelSet],
    /// Ascending bounds of ranges.
    pub ranges: &'a [Arc<[f64]>],
}

impl NodeTable<'_> {
    /// The trees.
    ///
    /// # Errors
    ///
    /// A description of the fault: arrays of different lengths, a node that is not there, or one
    /// that is reached in two ways.
    pub fn trees(&self) -> Result<Vec<ImportedTree>, String> {
        let n_nodes = self.kinds.len();
        let lengths = [
            self.features.len(),
            self.numbers.len(),
            self.places.len(),
            self.missing_left.len(),
            self.left.len(),
            self.right.len(),
            self.weights.len(),
        ];
        let total = self.sizes.iter().fold(0_usize, |sum, &size| sum.saturating_add(size as usize));
        if total != n_nodes || lengths.iter().any(|&length| length != n_nodes) {
            return Err("the columns of the nodes have different lengths".to_owned());
        }
        let mut start = 0;
        let mut trees = Vec::with_capacity(self.sizes.len());
        for (number, &size) in self.sizes.iter().enumerate() {
            let tree = self.tree(start, size as usize);
            trees.push(tree.map_err(|what| format!("tree {number}: {what}"))?);
            start += size as usize;
        }
        Ok(trees)
    }

    /// The tree of some nodes, which are brought into their order.
    fn tree(&self, start: usize, size: usize) -> Result<ImportedTree, String> {
        let mut nodes = Vec::with_capacity(size);
        // Nodes to go to, the next one last, each with the split on whose right it is.
        let mut waiting: Vec<(u32, Option<usize>)> = vec![(0, None)];
        while let Some((node, right_of)) = waiting.pop() {
            let place = nodes.len();
            if node as usize >= size {
                return Err(format!("there is no node {node}"));
            }
            if place == size {
                return Err(format!("node {node} is reached in two ways"));
            }
            if let Some(ImportedNode::Split { right, .. } | ImportedNode::Ranges { right, .. }) =
                right_of.map(|split: usize| &mut nodes[split])
            {
                *right = place;
            }
            let at = start + node as usize;
            let found = self.node(at).ok_or_else(|| format!("node {node} is of no known kind"))?;
            if !matches!(found, ImportedNode::Leaf { .. }) {
                waiting.extend([(self.right[at], Some(place)), (self.left[at], None)]);
            }
            nodes.push(found);
        }
        Ok(ImportedTree::new(nodes))
    }

    /// A node, not yet with its right side.
    fn node(&self, at: usize) -> Option<ImportedNode> {
        let (feature, number) = (self.features[at] as usize, self.numbers[at]);
        let (missing_left, place) = (self.missing_left[at], self.places[at] as usize);
        let split =
            |left| ImportedNode::Split { test: Test { feature, left, missing_left }, right: 0 };
        Some(match ImportedKind::of(self.kinds[at])? {
            ImportedKind::Leaf => ImportedNode::Leaf { value: number, weight: self.weights[at] },
            ImportedKind::Below => split(Rule::Below(number)),
            ImportedKind::Known => split(Rule::Known(number > 0.0)),
            ImportedKind::Levels => split(Rule::Levels(self.level_sets.get(place)?.clone())),
            ImportedKind::Ranges => {
                let bounds = Arc::clone(self.ranges.get(place)?);
                ImportedNode::Ranges { feature, bounds, missing_left, right: 0 }
            }
        })
    }
}
