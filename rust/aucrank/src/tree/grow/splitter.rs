//! What the loop over nodes asks of a split rule.

use crate::RankError;
use crate::data::{CellId, ClassSums, SumSource};
use crate::tree::model::SplitForm;

/// A node that may be split.
#[derive(Debug)]
pub(in crate::tree) struct OpenNode<K> {
    pub(in crate::tree) node: usize,
    pub(in crate::tree) depth: usize,
    pub(in crate::tree) cell: CellId,
    pub(in crate::tree) sums: ClassSums,
    /// Weight of the negatives that rank above the node when leaves stand from left to right.
    pub(in crate::tree) neg_above: u64,
    /// Drawn from the seed of the tree and the way from its root, so that what is random in a node
    /// does not depend on the order in which nodes are taken.
    pub(in crate::tree) seed: u64,
    /// What the split rule keeps of the node.
    pub(in crate::tree) kept: K,
}

/// What a split must come to, or its node is a leaf.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct LeastSplit {
    /// Rows that each side keeps.
    pub(in crate::tree) rows: u64,
    /// What it gains, as [`ClassSums::gain`]: more than this.
    pub(in crate::tree) gain: f64,
}

/// How one node is split, and which cells of the source make up each side: none where the rule needs
/// the rows of the node no more.
#[derive(Debug)]
pub(in crate::tree) struct Division {
    pub(in crate::tree) form: SplitForm,
    pub(in crate::tree) left_cells: Vec<CellId>,
    pub(in crate::tree) right_cells: Vec<CellId>,
    pub(in crate::tree) left: ClassSums,
}

/// A split node with its children, of which at least one may be split in its turn.
#[derive(Debug)]
pub(in crate::tree) struct SplitFamily<K> {
    pub(in crate::tree) parent: OpenNode<K>,
    pub(in crate::tree) children: [OpenNode<()>; 2],
    pub(in crate::tree) may_split: [bool; 2],
}

/// A rule that divides nodes. Each keeps what it likes of a node until the node is divided, such as
/// its histogram.
pub(in crate::tree) trait Splitter<S: SumSource> {
    /// What is kept of a node that waits.
    type Kept;

    /// Looks at the root.
    fn start(&self, source: &S, root: OpenNode<()>) -> Result<OpenNode<Self::Kept>, RankError>;

    /// Divides nodes, all at once, so that each pass over the data serves them all. `None` for a
    /// node that cannot be divided with a gain.
    fn divide(
        &self,
        source: &mut S,
        nodes: &[OpenNode<Self::Kept>],
        next_cell: &mut CellId,
    ) -> Result<Vec<Option<Division>>, RankError>;

    /// Looks at the children of divided nodes and returns those that may be split.
    fn descend(
        &self,
        source: &S,
        families: Vec<SplitFamily<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError>;

    /// Bytes that are kept of a node.
    fn n_bytes(&self, kept: &Self::Kept) -> usize;
}

impl OpenNode<()> {
    pub(in crate::tree) fn keeping<K>(self, kept: K) -> OpenNode<K> {
        let Self { node, depth, cell, sums, neg_above, seed, kept: () } = self;
        OpenNode { node, depth, cell, sums, neg_above, seed, kept }
    }
}

impl<K> SplitFamily<K> {
    /// The children that may be split, where nothing is kept of them.
    pub(in crate::tree) fn splittable(self) -> impl Iterator<Item = OpenNode<()>> {
        let Self { children, may_split, .. } = self;
        children
            .into_iter()
            .zip(may_split)
            .filter_map(|(child, may_split)| may_split.then_some(child))
    }
}
