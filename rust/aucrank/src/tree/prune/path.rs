//! Subtrees: the nested path of cost-complexity pruning, subtrees given by their leaves, and the
//! area under the curve of a changing set of leaves.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::data::ClassSums;
use crate::tree::model::{Node, RankingTree};
use crate::{Interrupt, RankError};

/// One tree of the nested path.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let tree = fit((&columns, &labels), &params, &Interrupt::default())?.tree;
/// let [whole, root] = tree.pruning_path()[..] else { unreachable!("there is one split") };
/// assert_eq!((whole.n_leaves, whole.auc), (2, 1.0));
/// // The second leaf is worth half an AUC.
/// assert_eq!((root.alpha, root.n_leaves, root.auc), (0.5, 1, 0.5));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PruningStep {
    /// Least price of a leaf, in units of AUC, at which the tree is the best (paper 2 (13)).
    pub alpha: f64,
    /// Its number of leaves.
    pub n_leaves: usize,
    /// Its AUC on the training rows.
    pub auc: f64,
}

/// Mean gain of the splits of a branch, compared exactly.
#[derive(Debug, Clone, Copy)]
struct Link {
    gain: u128,
    n_splits: u64,
}

impl Ord for Link {
    fn cmp(&self, other: &Self) -> Ordering {
        // Integer parts first, then the remainders, so that no product overflows.
        let parts = |link: &Self| {
            let n = u128::from(link.n_splits);
            (link.gain / n, link.gain % n)
        };
        let ((whole_a, rest_a), (whole_b, rest_b)) = (parts(self), parts(other));
        let cross = |rest: u128, link: &Self| rest * u128::from(link.n_splits);
        whole_a.cmp(&whole_b).then_with(|| cross(rest_a, other).cmp(&cross(rest_b, self)))
    }
}

impl PartialOrd for Link {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Link {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Link {}

/// The nested path of subtrees that are best for some price of a leaf (paper 2 Theorem 3).
#[derive(Debug)]
pub(in crate::tree) struct PruningPath {
    /// Prices from which on each tree is best: 0 for the whole tree, then rising strictly.
    alphas: Vec<f64>,
    /// Step at which each node loses its split; 0 for leaves.
    collapsed_at: Vec<usize>,
}

impl PruningPath {
    /// Collapses the weakest links until the root is left (DECISIONS T12): the branch whose splits
    /// gain least on average, with all ties, so that each tree is the smallest best one.
    pub(in crate::tree) fn of(tree: &RankingTree) -> Self {
        let nodes = tree.nodes();
        let children = |node: usize| nodes[node].split.as_ref().map(|s| (s.left(), s.right()));
        let mut parents = vec![None; nodes.len()];
        let mut links: Vec<Link> = vec![Link { gain: 0, n_splits: 0 }; nodes.len()];
        // Nodes are in preorder, so that children come before their parents here.
        for node in (0..nodes.len()).rev() {
            if let Some((left, right)) = children(node) {
                (parents[left], parents[right]) = (Some(node), Some(node));
                links[node] = Link {
                    gain: tree.gain(node) as u128 + links[left].gain + links[right].gain,
                    n_splits: 1 + links[left].n_splits + links[right].n_splits,
                };
            }
        }
        // An entry is out of date if its link is no longer that of its node.
        let is_split = |node: &usize| nodes[*node].split.is_some();
        let mut heap: BinaryHeap<Reverse<(Link, usize, u64)>> = (0..nodes.len())
            .filter(is_split)
            .map(|node| Reverse((links[node], node, links[node].n_splits)))
            .collect();
        let mut collapsed_at = vec![0; nodes.len()];
        let mut alphas = vec![0.0];
        let mut weakest: Option<Link> = None;
        while let Some(Reverse((link, node, n_splits))) = heap.pop() {
            if collapsed_at[node] > 0 || links[node].n_splits != n_splits {
                continue;
            }
            // Means as fractions of integers: equal ones collapse at one price (DECISIONS T12). As
            // floats they would differ by rounding, and the path have two trees of nearly one
            // price. Removing the branch of least mean never lowers another, so that the prices
            // rise.
            if weakest != Some(link) {
                weakest = Some(link);
                alphas.push(tree.auc_of_gain(link.gain as i128) / link.n_splits as f64);
            }
            let mut branch = vec![node];
            while let Some(inner) = branch.pop() {
                if let Some((left, right)) = children(inner).filter(|_| collapsed_at[inner] == 0) {
                    collapsed_at[inner] = alphas.len() - 1;
                    branch.extend([left, right]);
                }
            }
            let mut above = parents[node];
            while let Some(ancestor) = above {
                links[ancestor].gain -= link.gain;
                links[ancestor].n_splits -= link.n_splits;
                heap.push(Reverse((links[ancestor], ancestor, links[ancestor].n_splits)));
                above = parents[ancestor];
            }
        }
        Self { alphas, collapsed_at }
    }

    /// Step of the tree that is best at a price.
    pub(in crate::tree) fn step_at(&self, alpha: f64) -> usize {
        self.alphas.partition_point(|&from| from <= alpha).max(1) - 1
    }

    /// The tree of a step.
    pub(in crate::tree) fn tree(&self, tree: &RankingTree, step: usize) -> RankingTree {
        tree.cut_at(|node| (1..=step).contains(&self.collapsed_at[node]))
    }

    /// AUC of the tree of every step, on a sample given by its class sums in each node, and its
    /// number of leaves.
    pub(in crate::tree) fn aucs(
        &self,
        tree: &RankingTree,
        sums: &[ClassSums],
    ) -> Vec<(f64, usize)> {
        self.aucs_up_to(1.0, tree, sums)
    }

    /// The same for the standardised partial AUC up to a false positive rate.
    pub(in crate::tree) fn aucs_up_to(
        &self,
        max_fpr: f64,
        tree: &RankingTree,
        sums: &[ClassSums],
    ) -> Vec<(f64, usize)> {
        let nodes = tree.nodes();
        let mut ranking = LeafRanking::new(tree, sums);
        let mut by_step: Vec<Vec<usize>> = vec![Vec::new(); self.alphas.len()];
        for (node, &step) in self.collapsed_at.iter().enumerate() {
            if nodes[node].split.is_some() {
                by_step[step].push(node);
            } else {
                ranking.insert(node);
            }
        }
        let mut aucs = vec![(ranking.auc_up_to(max_fpr), ranking.n_leaves)];
        for collapsed in by_step.into_iter().skip(1) {
            // Children before parents, so that each collapse replaces two leaves by one.
            for node in collapsed.into_iter().rev() {
                if let Some(split) = &nodes[node].split {
                    ranking.remove(split.left());
                    ranking.remove(split.right());
                    ranking.insert(node);
                }
            }
            aucs.push((ranking.auc_up_to(max_fpr), ranking.n_leaves));
        }
        aucs
    }
}

impl RankingTree {
    /// AUC up to a false positive rate, standardised, on rows given by their class sums in each
    /// node.
    pub(in crate::tree) fn auc_up_to(&self, max_fpr: f64, sums: &[ClassSums]) -> f64 {
        PruningPath::of(self).aucs_up_to(max_fpr, self, sums)[0].0
    }

    /// The nested path of subtrees, from the whole tree to its root.
    #[must_use]
    pub fn pruning_path(&self) -> Vec<PruningStep> {
        let path = PruningPath::of(self);
        let sums: Vec<ClassSums> = self.nodes().iter().map(|node| node.sums).collect();
        let aucs = path.aucs(self, &sums);
        path.alphas
            .iter()
            .zip(aucs)
            .map(|(&alpha, (auc, n_leaves))| PruningStep { alpha, n_leaves, auc })
            .collect()
    }

    /// The smallest subtree of largest AUC less `alpha` per leaf (paper 2 (13)).
    #[must_use]
    pub fn prune(&self, alpha: f64) -> Self {
        let path = PruningPath::of(self);
        path.tree(self, path.step_at(alpha))
    }

    /// The subtree in which the given nodes are leaves; the rest of the tree is unchanged.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] for a node that does not exist or lies below another of them.
    pub fn subtree(&self, leaves: &[usize]) -> Result<Self, RankError> {
        let bad = |node: usize, rule| {
            Err(RankError::BadParameter { name: "a leaf", value: node.to_string(), rule })
        };
        let mut is_leaf = vec![false; self.nodes().len()];
        for &node in leaves {
            match is_leaf.get_mut(node) {
                Some(mark) => *mark = true,
                None => return bad(node, "the number of a node of the tree"),
            }
        }
        let mut is_below = vec![false; self.nodes().len()];
        for (node, split) in self.nodes().iter().map(|node| &node.split).enumerate() {
            if is_below[node] && is_leaf[node] {
                return bad(node, "no node below another leaf");
            }
            if let Some(split) = split {
                let below = is_below[node] || is_leaf[node];
                (is_below[split.left()], is_below[split.right()]) = (below, below);
            }
        }
        Ok(self.cut_at(|node| is_leaf[node]))
    }
}

/// Gains of the best subtrees of all sizes, and the choices that lead to them.
#[derive(Debug)]
pub(in crate::tree) struct BestSubtrees {
    /// Largest gain of the splits of a subtree of k leaves, at `[k - 1]`.
    gains: Vec<i128>,
    /// For each node, the number of its k leaves that are on the left, at `[k - 2]`. If a side is a
    /// leaf there is no choice, and nothing is kept: a chain of splits costs no memory.
    on_left: Vec<Vec<u32>>,
}

impl BestSubtrees {
    /// The best subtrees of up to `most_leaves` leaves; of ties those with fewer leaves on the
    /// left.
    pub(in crate::tree) fn of(
        tree: &RankingTree,
        most_leaves: usize,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let n_nodes = tree.nodes().len();
        // A branch passes its gains to its parent, so that few of them exist at a time.
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

/// Largest joint gain of two branches with k leaves, at `[k - 2]`, and the least number of leaves
/// on the left that attains it.
fn share_out(
    left: &[i128],
    right: &[i128],
    most_leaves: usize,
    interrupt: &Interrupt,
) -> Result<(Vec<i128>, Vec<u32>), RankError> {
    // The sizes of both branches bound the loops. Each pair of leaves meets in one node only, so
    // that all nodes of a tree together take O(leaves^2).
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
    /// are ranked from left to right; of ties the one with fewer leaves on the left.
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

/// A run of leaves in the ranking.
#[derive(Debug, Clone, Copy, Default)]
struct LeafRun {
    pos: u64,
    neg: u64,
    /// Twice the number of concordant pairs among them, ties counting one half.
    half_wins: u128,
}

impl LeafRun {
    fn of(leaf: ClassSums) -> Self {
        let ClassSums { pos, neg, .. } = leaf;
        Self { pos, neg, half_wins: u128::from(pos) * u128::from(neg) }
    }

    fn then(self, below: Self) -> Self {
        let between = 2 * u128::from(self.pos) * u128::from(below.neg);
        Self {
            pos: self.pos + below.pos,
            neg: self.neg + below.neg,
            half_wins: self.half_wins + below.half_wins + between,
        }
    }
}

/// A set of leaves that changes one at a time, in O(log n): a segment tree over all nodes in
/// ranking order.
struct LeafRanking<'a> {
    sums: &'a [ClassSums],
    place: Vec<usize>,
    /// Run 1 is the whole; runs 2i and 2i + 1 are the halves of run i.
    runs: Vec<LeafRun>,
    pub(in crate::tree) n_leaves: usize,
}

impl<'a> LeafRanking<'a> {
    /// An empty set, for a sample given by its class sums in each node.
    pub(in crate::tree) fn new(tree: &RankingTree, sums: &'a [ClassSums]) -> Self {
        let mut order: Vec<usize> = (0..sums.len()).collect();
        tree.rank(&mut order);
        let n_places = sums.len().next_power_of_two();
        let mut place = vec![0; sums.len()];
        for (i, node) in order.into_iter().enumerate() {
            place[node] = n_places + i;
        }
        Self { sums, place, runs: vec![LeafRun::default(); 2 * n_places], n_leaves: 0 }
    }

    pub(in crate::tree) fn insert(&mut self, node: usize) {
        self.set(node, LeafRun::of(self.sums[node]));
        self.n_leaves += 1;
    }

    pub(in crate::tree) fn remove(&mut self, node: usize) {
        self.set(node, LeafRun::default());
        self.n_leaves -= 1;
    }

    fn set(&mut self, node: usize, run: LeafRun) {
        let mut i = self.place[node];
        self.runs[i] = run;
        while i > 1 {
            i /= 2;
            self.runs[i] = self.runs[2 * i].then(self.runs[2 * i + 1]);
        }
    }

    /// Area under the curve: exact, rounded once.
    pub(in crate::tree) fn auc(&self) -> f64 {
        let LeafRun { pos, neg, half_wins } = self.runs[1];
        half_wins as f64 / (2 * u128::from(pos) * u128::from(neg)) as f64
    }

    /// Area under the curve up to a false positive rate, standardised to 1/2 for an uninformative
    /// ranking and 1 for a perfect one (McClish, 1989). Up to 1 it is the AUC.
    pub(in crate::tree) fn auc_up_to(&self, max_fpr: f64) -> f64 {
        if max_fpr >= 1.0 {
            return self.auc();
        }
        let LeafRun { pos, neg, .. } = self.runs[1];
        let limit = max_fpr * neg as f64;
        // The longest run from the top that ends within the limit, and the leaf after it.
        let (mut above, mut i) = (LeafRun::default(), 1);
        while 2 * i < self.runs.len() {
            i *= 2;
            let longer = above.then(self.runs[i]);
            if longer.neg as f64 <= limit {
                (above, i) = (longer, i + 1);
            }
        }
        let cut = self.runs[i];
        let rest = limit - above.neg as f64;
        let rise = if cut.neg > 0 { cut.pos as f64 / cut.neg as f64 } else { 0.0 };
        let twice_cut = rest * (2.0 * above.pos as f64 + rest * rise);
        let area = (above.half_wins as f64 + twice_cut) / (2.0 * pos as f64 * neg as f64);
        let least = 0.5 * max_fpr * max_fpr;
        0.5 * (1.0 + (area - least) / (max_fpr - least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roc::RocCurve;
    use crate::tree::model::{LeafOrder, TreeFrame};

    /// The area from [`RocCurve`], with a score for each row.
    fn area_of(leaves: &[ClassSums], max_fpr: f64) -> f64 {
        let (mut scores, mut positive) = (Vec::new(), Vec::new());
        for (place, leaf) in leaves.iter().enumerate() {
            for (n, class) in [(leaf.pos, true), (leaf.neg, false)] {
                scores.extend(std::iter::repeat_n(-(place as f64), n as usize));
                positive.extend(std::iter::repeat_n(class, n as usize));
            }
        }
        RocCurve::new(&scores, &positive).unwrap().standardized_auc(max_fpr).unwrap()
    }

    #[test]
    fn the_area_is_that_of_the_curve_after_any_changes() {
        let mut state = 3_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let frame = TreeFrame {
            n_levels: Vec::new(),
            has_missing: Vec::new(),
            exponent: 0,
            leaf_order: LeafOrder::Tree,
            monotonic: Vec::new(),
            grid: None,
        };
        for n_nodes in [1, 2, 5, 8, 13] {
            // A tree of one node provides the order; the leaves have arbitrary sums, from left to
            // right.
            let node = Node { sums: ClassSums { pos: 1, neg: 1, rows: 2 }, split: None };
            let tree = RankingTree::new(frame.clone(), vec![node]);
            let sums: Vec<ClassSums> = (0..n_nodes)
                .map(|_| ClassSums { pos: draw(4), neg: draw(4), rows: 0 })
                .chain([ClassSums { pos: 1, neg: 1, rows: 0 }])
                .collect();
            let mut ranking = LeafRanking::new(&tree, &sums);
            let mut is_in = vec![false; sums.len()];
            ranking.insert(n_nodes);
            is_in[n_nodes] = true;
            for _ in 0..60 {
                let node = draw(n_nodes as u64) as usize;
                if is_in[node] {
                    ranking.remove(node);
                } else {
                    ranking.insert(node);
                }
                is_in[node] = !is_in[node];
                let leaves: Vec<ClassSums> =
                    (0..sums.len()).filter(|&node| is_in[node]).map(|node| sums[node]).collect();
                assert_eq!(ranking.n_leaves, leaves.len());
                for max_fpr in [0.05, 0.3, 0.5, 0.9, 1.0] {
                    let (found, expected) = (ranking.auc_up_to(max_fpr), area_of(&leaves, max_fpr));
                    assert!((found - expected).abs() < 1e-13, "{found} {expected}");
                }
            }
        }
    }
}
