//! Choice among trees of several sizes, each found by itself: the nested path of subtrees has its
//! counterpart in those that are best for some price of a leaf.

use super::path::{PruningPath, PruningStep};
use crate::data::ClassSums;
use crate::tree::model::RankingTree;

/// Trees that are best for some price of a leaf, the largest first.
#[derive(Debug)]
pub(in crate::tree) struct SizePath {
    /// What each is, and the least price at which it is the best.
    pub(in crate::tree) steps: Vec<PruningStep>,
    /// Its place among all trees.
    pub(in crate::tree) places: Vec<usize>,
}

impl RankingTree {
    /// AUC up to a false positive rate on rows given by their class sums in each node.
    pub(in crate::tree) fn auc_up_to(&self, max_fpr: f64, sums: &[ClassSums]) -> f64 {
        PruningPath::of(self).aucs_up_to(max_fpr, self, sums)[0].0
    }
}

impl SizePath {
    /// From trees in ascending order of their numbers of leaves.
    pub(in crate::tree) fn of(trees: &[RankingTree], max_fpr: f64) -> Self {
        let areas: Vec<f64> = trees
            .iter()
            .map(|tree| {
                let sums: Vec<ClassSums> = tree.nodes().iter().map(|node| node.sums).collect();
                tree.auc_up_to(max_fpr, &sums)
            })
            .collect();
        let price = |small: usize, large: usize| {
            let n_more = trees[large].n_leaves() - trees[small].n_leaves();
            (areas[large] - areas[small]) / n_more as f64
        };
        // The corners of the concave curve of the area in the number of leaves.
        let mut places: Vec<usize> = Vec::new();
        for place in 0..trees.len() {
            if places.last().is_some_and(|&last| areas[place] <= areas[last]) {
                continue;
            }
            while let [.., before, last] = places[..]
                && price(before, last) <= price(before, place)
            {
                places.pop();
            }
            places.push(place);
        }
        places.reverse();
        let step = |(number, &place): (usize, &usize)| PruningStep {
            alpha: if number == 0 { 0.0 } else { price(place, places[number - 1]) },
            n_leaves: trees[place].n_leaves(),
            auc: trees[place].auc(),
        };
        let steps = places.iter().enumerate().map(step).collect();
        Self { steps, places }
    }

    /// Step of the tree that is best at a price.
    pub(in crate::tree) fn step_at(&self, alpha: f64) -> usize {
        self.steps.partition_point(|step| step.alpha <= alpha).max(1) - 1
    }
}
