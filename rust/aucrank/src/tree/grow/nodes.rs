//! The loop over nodes: `TreeRank` itself (paper 2 Fig. 2), whatever splits the nodes.

use std::sync::Arc;

use super::best_first::best_first;
use super::params::GrowParams;
use super::splitter::{Family, OpenNode, Splitter};
use crate::data::{ClassSums, Regroup, SumSource, mix};
use crate::tree::model::{Node, NodeSplit, RankingTree, TreeFrame};
use crate::{Interrupt, RankError};

/// Bytes that one batch of nodes may keep. Nodes are taken depth first, batch by batch, so that a
/// wide or deep tree does not keep a histogram for each node of a level.
const BATCH_BYTES: usize = 64 << 20;

/// Most nodes of a batch, for rules that keep nothing.
const BATCH_NODES: usize = 4096;

/// Grows a ranking tree on the rows of cell 0, whose class sums are `total`.
pub(in crate::tree) fn grow<S: SumSource, P: Splitter<S>>(
    source: &mut S,
    splitter: &P,
    total: ClassSums,
    frame: Arc<TreeFrame>,
    params: &GrowParams,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<RankingTree, RankError> {
    let mut nodes = vec![Node { sums: total, split: None }];
    let mut next_cell = 1;
    let mut open = Vec::new();
    let root = OpenNode { node: 0, depth: 0, cell: 0, sums: total, neg_above: 0, seed, kept: () };
    if params.may_split(&root, total) {
        open.push(splitter.start(source, root)?);
    }
    while !open.is_empty() {
        interrupt.check()?;
        let batch = next_batch(&mut open, |kept| splitter.n_bytes(kept));
        let divisions = splitter.divide(source, &batch, &mut next_cell)?;

        let (mut regroups, mut families) = (Vec::new(), Vec::new());
        for (parent, division) in batch.into_iter().zip(divisions) {
            let Some(division) = division else { continue };
            let left = nodes.len();
            let children = [
                (division.left, next_cell, parent.neg_above),
                (parent.sums - division.left, next_cell + 1, parent.neg_above + division.left.neg),
            ];
            next_cell += 2;
            nodes[parent.node].split = Some(NodeSplit::new(division.form, left, left + 1));
            nodes.extend(children.map(|(sums, ..)| Node { sums, split: None }));
            if !division.left_cells.is_empty() {
                regroups.push(Regroup {
                    left_cells: division.left_cells,
                    right_cells: division.right_cells,
                    left: children[0].1,
                    right: children[1].1,
                });
            }
            let side = |side: usize| {
                let (sums, cell, neg_above) = children[side];
                let seed = mix(parent.seed ^ (side as u64 + 1));
                let depth = parent.depth + 1;
                OpenNode { node: left + side, depth, cell, sums, neg_above, seed, kept: () }
            };
            let children = [side(0), side(1)];
            let may_split = [0, 1].map(|side: usize| params.may_split(&children[side], total));
            if may_split != [false; 2] {
                families.push(Family { parent, children, may_split });
            }
        }
        source.regroup(&regroups)?;
        open.extend(splitter.descend(source, families)?);
    }
    let tree = RankingTree::new(frame, nodes);
    Ok(match params.max_leaves {
        Some(most) => best_first(tree, most),
        None => tree,
    })
}

fn next_batch<K>(open: &mut Vec<OpenNode<K>>, n_bytes: impl Fn(&K) -> usize) -> Vec<OpenNode<K>> {
    let mut bytes = 0;
    let mut start = open.len();
    while start > 0
        && (start == open.len() || bytes < BATCH_BYTES)
        && open.len() - start < BATCH_NODES
    {
        start -= 1;
        bytes += n_bytes(&open[start].kept);
    }
    open.split_off(start)
}
