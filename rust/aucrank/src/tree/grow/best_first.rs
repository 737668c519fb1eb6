//! Growth of the largest gain first, until a tree has so many leaves.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::tree::model::RankingTree;

/// The subtree of so many leaves at most that growth would reach if it always split the leaf that
/// raises the AUC most (the global Lambda of DECISIONS T2), the left-most of equal ones.
///
/// How a node is split depends on its rows and on the way from the root alone, so the splits of that
/// growth are those of the whole tree.
pub(super) fn best_first(tree: RankingTree, max_leaves: usize) -> RankingTree {
    if tree.n_leaves() <= max_leaves {
        return tree;
    }
    let nodes = tree.nodes();
    let candidate = |node: usize| {
        let split = nodes[node].split.as_ref()?;
        let gain = nodes[node].sums.gain(nodes[split.left()].sums);
        // Nodes are numbered from left to right.
        Some((gain, Reverse(node)))
    };
    let mut open = BinaryHeap::from_iter(candidate(0));
    let mut is_split = vec![false; nodes.len()];
    for _ in 1..max_leaves {
        let Some((_, Reverse(node))) = open.pop() else { break };
        is_split[node] = true;
        if let Some(split) = &nodes[node].split {
            open.extend([split.left(), split.right()].into_iter().filter_map(candidate));
        }
    }
    tree.cut_at(|node| !is_split[node])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Interrupt;
    use crate::data::{Columns, Labels};
    use crate::tree::{GrowParams, LeafRankParams, RankingTree, SplitRule, TreeRankParams, fit};

    fn grown(values: &[f64], positive: &[bool], max_leaves: Option<usize>) -> RankingTree {
        let columns = Columns::from_row_major(values, 2).unwrap();
        let labels = Labels::new(positive, None).unwrap();
        let grow =
            GrowParams { max_depth: 8, min_samples_leaf: 1, max_leaves, ..GrowParams::default() };
        let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(2)));
        fit(&columns, &labels, &params, &Interrupt::default()).unwrap().tree
    }

    /// Class sums of the leaves that remain, from left to right, where the frontier is searched anew for
    /// each split.
    fn by_definition(tree: &RankingTree, max_leaves: usize) -> Vec<(u64, u64)> {
        let nodes = tree.nodes();
        let mut leaves = vec![0_usize];
        while leaves.len() < max_leaves {
            let mut best: Option<(i128, usize)> = None;
            for (i, &leaf) in leaves.iter().enumerate() {
                let Some(split) = &nodes[leaf].split else { continue };
                let (whole, part) = (nodes[leaf].sums, nodes[split.left()].sums);
                let gain = i128::from(whole.neg) * i128::from(part.pos)
                    - i128::from(whole.pos) * i128::from(part.neg);
                if best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, i));
                }
            }
            let Some((_, i)) = best else { break };
            let split = nodes[leaves[i]].split.as_ref().unwrap();
            leaves.splice(i..=i, [split.left(), split.right()]);
        }
        leaves.iter().map(|&leaf| (nodes[leaf].sums.pos, nodes[leaf].sums.neg)).collect()
    }

    fn leaves_in_order(tree: &RankingTree) -> Vec<(u64, u64)> {
        let nodes = tree.nodes();
        let (mut open, mut leaves) = (vec![0], Vec::new());
        while let Some(node) = open.pop() {
            match &nodes[node].split {
                Some(split) => open.extend([split.right(), split.left()]),
                None => leaves.push((nodes[node].sums.pos, nodes[node].sums.neg)),
            }
        }
        leaves
    }

    proptest! {
        #[test]
        fn the_leaf_of_largest_gain_is_split_first(
            rows in prop::collection::vec((0_u8..12, 0_u8..4, any::<bool>()), 10..80),
            max_leaves in 2_usize..20,
        ) {
            let positive: Vec<bool> = rows.iter().map(|row| row.2).collect();
            prop_assume!(positive.iter().any(|&p| p) && positive.iter().any(|&p| !p));
            let values: Vec<f64> =
                rows.iter().flat_map(|&(a, b, _)| [f64::from(a), f64::from(b)]).collect();
            let whole = grown(&values, &positive, None);
            let found = grown(&values, &positive, Some(max_leaves));
            prop_assert_eq!(found.n_leaves(), whole.n_leaves().min(max_leaves));
            prop_assert_eq!(leaves_in_order(&found), by_definition(&whole, max_leaves));
        }
    }
}
