//! The subtree of largest AUC for every number of leaves, by dynamic programming.
//!
//! AUC is additive over splits (DECISIONS E1), so what a branch gains with k leaves is what its own
//! split gains and the best way to share k out to its two sides. Each pair of nodes is looked at
//! once, where their branches meet, so the time is O(K^2) for K leaves, and O(k K) where no more than
//! k leaves are asked for.

use crate::tree::model::{Node, RankingTree};
use crate::{Interrupt, RankError};

/// What the best subtrees of all sizes gain, and how to find them.
#[derive(Debug)]
pub(in crate::tree) struct BestSubtrees {
    /// Most that the splits of a subtree of k leaves gain, at `[k - 1]`.
    gains: Vec<i128>,
    /// For each node, how many of its k leaves are on the left, at `[k - 2]`. Where a side is a leaf
    /// there is no choice, and nothing is kept: a chain of splits costs no memory.
    on_left: Vec<Vec<u32>>,
}

impl BestSubtrees {
    /// Those of up to `most_leaves` leaves; of equal ones those with fewer leaves on the left.
    pub(in crate::tree) fn of(
        tree: &RankingTree,
        most_leaves: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let n_nodes = tree.nodes().len();
        // A branch hands its gains on to its parent, so that few of them exist at a time.
        let mut gains: Vec<Vec<i128>> = vec![Vec::new(); n_nodes];
        let mut on_left: Vec<Vec<u32>> = vec![Vec::new(); n_nodes];
        for (node, Node { split, .. }) in tree.nodes().iter().enumerate().rev() {
            gains[node].push(0);
            let Some(split) = split else { continue };
            let left = std::mem::take(&mut gains[split.left()]);
            let right = std::mem::take(&mut gains[split.right()]);
            let (best, shares) = share_out(&left, &right, most_leaves, interrupt)?;
            let own = tree.gain(node);
            gains[node].extend(best.into_iter().map(|gain| own + gain));
            if left.len() > 1 && right.len() > 1 {
                on_left[node] = shares;
            }
        }
        Ok(Self { gains: std::mem::take(&mut gains[0]), on_left })
    }

    /// Training AUC of the best subtree of k leaves ranked from left to right, at `[k - 1]`.
    pub(in crate::tree) fn aucs(&self, tree: &RankingTree) -> Vec<f64> {
        self.gains.iter().map(|&gain| 0.5 + tree.auc_of_gain(gain)).collect()
    }

    /// The best subtree of `n_leaves` leaves.
    pub(in crate::tree) fn tree(&self, tree: &RankingTree, n_leaves: usize) -> RankingTree {
        let nodes = tree.nodes();
        let mut is_leaf = vec![false; nodes.len()];
        let mut open = vec![(0, n_leaves)];
        while let Some((node, k)) = open.pop() {
            match &nodes[node].split {
                Some(split) if k > 1 => {
                    let on_left = match self.on_left[node].get(k - 2) {
                        Some(&share) => share as usize,
                        None if nodes[split.left()].split.is_none() => 1,
                        None => k - 1,
                    };
                    open.extend([(split.left(), on_left), (split.right(), k - on_left)]);
                }
                _ => is_leaf[node] = true,
            }
        }
        tree.cut_at(|node| is_leaf[node])
    }
}

/// Most that two branches gain together with k leaves, at `[k - 2]`, and how many of them are then
/// on the left: the fewest.
fn share_out(
    left: &[i128],
    right: &[i128],
    most_leaves: usize,
    interrupt: &Interrupt,
) -> Result<(Vec<i128>, Vec<u32>), RankError> {
    let n_sums = (left.len() + right.len()).min(most_leaves).saturating_sub(1);
    let mut best = vec![i128::MIN; n_sums];
    let mut shares = vec![0; n_sums];
    for (i, on_left) in left.iter().take(n_sums).enumerate() {
        interrupt.check()?;
        let sums = right.iter().map(|on_right| on_left + on_right);
        for ((best, share), sum) in best[i..].iter_mut().zip(&mut shares[i..]).zip(sums) {
            if sum > *best {
                (*best, *share) = (sum, i as u32 + 1);
            }
        }
    }
    Ok((best, shares))
}

impl RankingTree {
    /// The subtree of exactly `n_leaves` leaves that has the largest training AUC when its leaves
    /// are ranked from left to right; of equal ones that with fewer leaves on the left.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] unless `n_leaves` is from 1 to the number of leaves.
    pub fn best_subtree(&self, n_leaves: usize) -> Result<Self, RankError> {
        if n_leaves == 0 || n_leaves > self.n_leaves() {
            return Err(RankError::BadParameter {
                name: "n_leaves",
                value: n_leaves.to_string(),
                rule: "from 1 to the number of leaves of the tree",
            });
        }
        let subtrees = BestSubtrees::of(self, n_leaves, &Interrupt::default())?;
        Ok(subtrees.tree(self, n_leaves))
    }
}
