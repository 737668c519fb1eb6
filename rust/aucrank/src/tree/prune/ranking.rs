//! The area under the curve of a changing set of leaves.

use crate::data::ClassSums;
use crate::tree::model::RankingTree;

/// Leaves that stand side by side in the ranking.
#[derive(Debug, Clone, Copy, Default)]
struct LeafRun {
    pos: u64,
    neg: u64,
    /// Twice the pairs that they win among themselves, ties counting one half.
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

/// A set of leaves that changes one by one, each change in O(log n): a segment tree over the order in
/// which all nodes of a tree would rank.
pub(in crate::tree) struct LeafRanking<'a> {
    sums: &'a [ClassSums],
    place: Vec<usize>,
    /// Run 1 is the whole; runs 2i and 2i + 1 are the halves of run i.
    runs: Vec<LeafRun>,
    pub(in crate::tree) n_leaves: usize,
}

impl<'a> LeafRanking<'a> {
    /// No leaves yet, of a sample given by its class sums in each node.
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

    /// Area under the curve up to a false positive rate, standardised to 1/2 for a ranking that says
    /// nothing and 1 for a perfect one (McClish, 1989). Up to 1 it is the AUC.
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
    use crate::tree::model::{LeafOrder, Node, TreeFrame};

    /// The area by [`RocCurve`], from a score for each row.
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
    fn the_area_is_that_of_the_curve_whatever_came_and_went() {
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
            // A tree of one node lends its order; the leaves are any sums from left to right.
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
