//! Leaves in ranking order, and what they give: scores, probabilities, the curve that they draw.

use super::ranking_tree::LeafOrder;
use super::ranking_tree::RankingTree;
use super::split_form;
use crate::data::ClassSums;

impl RankingTree {
    /// Nodes that are leaves, in ranking order.
    #[must_use]
    pub fn leaves(&self) -> Vec<usize> {
        let mut leaves: Vec<usize> =
            (0..self.nodes().len()).filter(|&node| self.nodes()[node].split.is_none()).collect();
        self.rank(&mut leaves);
        leaves
    }

    /// Brings nodes that stand from left to right into ranking order.
    pub(in crate::tree) fn rank(&self, nodes: &mut [usize]) {
        if self.frame().leaf_order == LeafOrder::Tree {
            return;
        }
        if self.frame().monotonic.is_empty() {
            nodes.sort_by(|&a, &b| self.nodes()[b].sums.cmp_eta(self.nodes()[a].sums));
        } else {
            let etas = self.clipped_etas();
            nodes.sort_by(|&a, &b| etas[b].total_cmp(&etas[a]));
        }
    }

    /// Eta of each node, within the bounds that monotonic constraints set.
    fn clipped_etas(&self) -> Vec<f64> {
        let monotonic = &self.frame().monotonic;
        let sums = self.nodes().iter().map(|node| node.sums);
        split_form::clipped_etas(sums, |node| {
            let split = self.nodes()[node].split.as_ref()?;
            Some((
                split.left(),
                split.right(),
                split.form.tests().any(|test| split_form::orders(monotonic, test)),
            ))
        })
    }

    /// Estimate of eta in each leaf, in ranking order: its share of positives, clipped to the bounds
    /// that the splits above it set where the score is bound to rise or fall with a feature. Unlike
    /// [`RankingTree::probabilities`] it is a leaf's own: what a forest averages.
    #[must_use]
    pub fn leaf_values(&self) -> Vec<f64> {
        let etas = self.clipped_etas();
        self.leaves().into_iter().map(|leaf| etas[leaf]).collect()
    }

    /// Class sums of the leaves, in ranking order.
    #[must_use]
    pub fn leaf_sums(&self) -> Vec<ClassSums> {
        self.leaves().into_iter().map(|leaf| self.nodes()[leaf].sums).collect()
    }

    /// AUC of the training rows: exact, rounded once.
    #[must_use]
    pub fn auc(&self) -> f64 {
        auc_of_strata(&self.leaf_sums())
    }

    /// Knots of the training ROC curve: false and true positive rates, from (0, 0) to (1, 1), one
    /// per leaf after the first.
    #[must_use]
    pub fn roc(&self) -> (Vec<f64>, Vec<f64>) {
        let total = self.total();
        let mut above = ClassSums::default();
        let knots = self.leaf_sums().into_iter().map(|sums| {
            above += sums;
            (above.neg as f64 / total.neg as f64, above.pos as f64 / total.pos as f64)
        });
        std::iter::once((0.0, 0.0)).chain(knots).unzip()
    }

    /// Probability of the positive class in each leaf, in ranking order: the share of positives,
    /// made monotone along the ranking by pooling adjacent violators.
    #[must_use]
    pub fn probabilities(&self) -> Vec<f64> {
        let mut pools: Vec<(ClassSums, usize)> = Vec::new();
        for mut sums in self.leaf_sums() {
            let mut n_leaves = 1;
            while let Some(&(above, n_above)) = pools.last()
                && above.cmp_eta(sums).is_lt()
            {
                sums += above;
                n_leaves += n_above;
                pools.pop();
            }
            pools.push((sums, n_leaves));
        }
        pools.into_iter().flat_map(|(sums, n)| std::iter::repeat_n(sums.eta(), n)).collect()
    }

    /// Score of each leaf, in ranking order: the number of leaves from it to the last (paper 1's
    /// D representation), less the number of leaves whose probability is at most one half, so that a
    /// score is positive exactly where the probability is above one half.
    #[must_use]
    pub fn leaf_scores(&self) -> Vec<f64> {
        let n_above = self.probabilities().iter().filter(|&&eta| eta > 0.5).count();
        (0..self.n_leaves()).map(|position| n_above as f64 - position as f64).collect()
    }

    /// Rank of each leaf, in ranking order: the share of the training rows that lie below it, and
    /// half of its own.
    pub(in crate::tree) fn leaf_ranks(&self) -> Vec<f64> {
        let weight = |sums: ClassSums| sums.pos + sums.neg;
        let total = weight(self.total());
        let mut above = 0;
        let rank = |sums: ClassSums| {
            let twice_below = 2 * (total - above) - weight(sums);
            above += weight(sums);
            twice_below as f64 / (2.0 * total as f64)
        };
        self.leaf_sums().into_iter().map(rank).collect()
    }

    /// Fills in the sums of nodes from those of the leaves.
    pub(in crate::tree) fn add_up(&self, sums: &mut [ClassSums]) {
        for node in (0..sums.len()).rev() {
            if let Some(split) = &self.nodes()[node].split {
                sums[node] = sums[split.left()] + sums[split.right()];
            }
        }
    }
}

/// AUC of a score that is constant on strata, given from the highest to the lowest.
pub(in crate::tree) fn auc_of_strata(strata: &[ClassSums]) -> f64 {
    let (mut half_wins, mut above) = (0_u128, ClassSums::default());
    for &sums in strata {
        // A negative loses to the positives above it and ties with those of its own stratum.
        half_wins += u128::from(sums.neg) * u128::from(2 * above.pos + sums.pos);
        above += sums;
    }
    half_wins as f64 / (2 * u128::from(above.pos) * u128::from(above.neg)) as f64
}
