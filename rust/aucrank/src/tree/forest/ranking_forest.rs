//! A forest of ranking trees, whose scores or rankings are combined (paper 2 secs. 7 and 8;
//! DECISIONS T29), and the probabilities of scores that only rank.

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::judged::QueriedTrees;
use super::votes::Consensus;
use crate::data::{ClassSums, rising_pools};
use crate::formula::{Formula, Opaque};
use crate::prepared::Prepared;
use crate::tree::model::RankingTree;
use crate::tree::split::CutCriterion;

/// How the trees are combined to one score.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::formula::Opaque;
/// use aucrank::tree::{Aggregation, ForestParams, fit_forest};
/// # use aucrank::tree::{BootstrapParams, GrowParams, LeafRankParams, SplitRule, TreeRankParams};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// # let tree = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// # let params = ForestParams {
/// #     tree, leaf_sizes: Vec::new(), criteria: Vec::new(), n_trees: 5, aggregation: Aggregation::Eta,
/// #     bootstrap: Some(BootstrapParams { share: 1.0 }), out_of_bag: false, early_stopping: None,
/// # };
/// let fit = |aggregation| {
///     let params = ForestParams { aggregation, ..params.clone() };
///     fit_forest(&columns, &labels, &params, None, &Interrupt::default())
/// };
/// // A mean or a median of trees can be written down, a consensus cannot.
/// assert_eq!(fit(Aggregation::RankMean)?.formula().opaque(), None);
/// assert_eq!(fit(Aggregation::Kendall)?.formula().opaque(), Some(Opaque::Consensus));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The mean of the shares of positives in the leaves.
    Eta,
    /// The mean of the ranks: the share of a tree's rows that lie below the leaf, plus half of its
    /// own.
    RankMean,
    /// Their median.
    RankMedian,
    /// A consensus of the rankings by Kendall's distance.
    Kendall,
}

/// Performance of the trees on their out-of-bag rows.
///
/// For an example see [`fit_forest`](crate::tree::fit_forest).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutOfBag {
    /// AUC of the scores of rows, each from the trees that have not seen it.
    pub auc: f64,
    /// Variance of the AUC, by `DeLong`; `None` if a class has one row.
    pub variance: Option<f64>,
    /// Effective numbers of rows, positive and negative.
    pub effective_rows: [f64; 2],
    /// Numbers of trees at which early stopping was checked.
    pub path_trees: Vec<usize>,
    /// AUC of the forest at each of these numbers.
    pub path_aucs: Vec<f64>,
}

/// A forest of ranking trees.
///
/// For an example see [`fit_forest`](crate::tree::fit_forest).
#[derive(Debug, Clone, PartialEq)]
pub struct RankingForest {
    pub(in crate::tree) trees: Vec<RankingTree>,
    pub(in crate::tree) aggregation: Aggregation,
    pub(in crate::tree) seed: u64,
    /// Least number of rows on each side of a split in the trees grown last; `None` if the file
    /// lacks it.
    pub(in crate::tree) min_samples_leaf: Option<u64>,
    /// Criterion for cuts in the trees grown last.
    pub(in crate::tree) criterion: CutCriterion,
    pub(in crate::tree) consensus: Option<Consensus>,
    pub(in crate::tree) calibration: Option<ProbabilitySteps>,
    pub(in crate::tree) out_of_bag: Option<OutOfBag>,
    pub(in crate::tree) prepared: Prepared<QueriedTrees>,
}

impl RankingForest {
    /// The trees.
    #[must_use]
    pub fn trees(&self) -> &[RankingTree] {
        &self.trees
    }

    /// How the trees are combined to one score.
    #[must_use]
    pub fn aggregation(&self) -> Aggregation {
        self.aggregation
    }

    /// Seed of its trees.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Least number of rows on each side of a split in the trees grown last, as chosen if there was
    /// a choice; `None` for a forest from a file of an earlier version, which lacks it.
    #[must_use]
    pub fn min_samples_leaf(&self) -> Option<u64> {
        self.min_samples_leaf
    }

    /// Criterion for cuts in the trees grown last.
    #[must_use]
    pub fn criterion(&self) -> CutCriterion {
        self.criterion
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.trees[0].n_levels()
    }

    /// Performance of the trees on their out-of-bag rows, if it was requested and every class had
    /// such rows.
    #[must_use]
    pub fn out_of_bag(&self) -> Option<&OutOfBag> {
        self.out_of_bag.as_ref()
    }

    /// Value that a tree gives to the rows of each of its leaves, in ranking order.
    pub(in crate::tree) fn leaf_values(&self, tree: &RankingTree) -> Vec<f64> {
        match self.aggregation {
            Aggregation::Eta => tree.leaf_values(),
            _ => tree.leaf_ranks(),
        }
    }

    /// Combined value of the trees for a row of score 0.
    pub(in crate::tree) fn middle(&self) -> f64 {
        self.calibration.as_ref().map_or(0.5, ProbabilitySteps::middle)
    }

    /// For each feature, its importance in each tree in units of AUC (the square root of
    /// [`RankingTree::importances`]): mean and standard deviation over the trees.
    #[must_use]
    pub fn importances(&self) -> (Vec<f64>, Vec<f64>) {
        let by_tree: Vec<Vec<f64>> = self.trees.iter().map(RankingTree::importances).collect();
        let n_trees = by_tree.len() as f64;
        let of_feature = |feature: usize| {
            let values = || by_tree.iter().map(|tree| tree[feature].sqrt());
            let mean = values().sum::<f64>() / n_trees;
            let squares: f64 = values().map(|value| (value - mean).powi(2)).sum();
            (mean, (squares / n_trees).sqrt())
        };
        (0..self.n_levels().len()).map(of_feature).unzip()
    }

    /// Validates a loaded model: its parts must be consistent.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let Some(first) = self.trees.first() else {
            return Err("the forest has no trees".to_owned());
        };
        if self.min_samples_leaf == Some(0) {
            return Err("leaves have no rows".to_owned());
        }
        // Many small trees may share a frame of many features.
        let mut frames = HashSet::new();
        for (number, tree) in self.trees.iter().enumerate() {
            let named = |what| format!("tree {number}: {what}");
            if frames.insert(Arc::as_ptr(tree.frame())) {
                tree.frame().check().map_err(named)?;
                if tree.n_levels() != first.n_levels() {
                    return Err(format!("tree {number} has other features than the first"));
                }
            }
            tree.check_nodes().map_err(named)?;
            if !tree.asks_single_features() {
                return Err(format!("tree {number} does not split by questions to features"));
            }
        }
        if self.consensus.is_some() != (self.aggregation == Aggregation::Kendall) {
            return Err("a consensus of rankings belongs to the aggregation \"kendall\"".to_owned());
        }
        if self.calibration.is_some() == (self.aggregation == Aggregation::Eta) {
            return Err("a calibration belongs to aggregated rankings".to_owned());
        }
        if let Some(consensus) = &self.consensus {
            let n_leaves: Vec<usize> = self.trees.iter().map(RankingTree::n_leaves).collect();
            consensus.check(&n_leaves)?;
        }
        self.calibration.as_ref().map_or(Ok(()), ProbabilitySteps::check)
    }
}

impl RankingForest {
    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        Formula::Sum(vec![self.unshifted_formula(), Formula::Constant(-self.middle())])
    }

    /// [`RankingForest::probability`] if it is not a function of the score in double precision: for
    /// aggregated rankings, whose steps lie between scores before they are shifted.
    #[must_use]
    pub fn probability_formula(&self) -> Option<Formula> {
        let (thresholds, values) = self.calibration.as_ref()?.steps();
        Some(Formula::StepsOf { of: Box::new(self.unshifted_formula()), thresholds, values })
    }

    fn unshifted_formula(&self) -> Formula {
        let of_tree = |tree: &RankingTree| Formula::Tree(tree.formula(&self.leaf_values(tree)));
        let trees: Vec<Formula> = self.trees().iter().map(of_tree).collect();
        match self.aggregation() {
            Aggregation::Eta | Aggregation::RankMean => Formula::Quotient {
                denominator: Box::new(Formula::Constant(trees.len() as f64)),
                numerator: Box::new(Formula::Sum(trees)),
                otherwise: 0.0,
            },
            Aggregation::RankMedian => Formula::Median(trees),
            Aggregation::Kendall => Formula::Opaque(Opaque::Consensus),
        }
    }
}

/// A probability that increases with the score in steps: the share of positives of training rows,
/// made monotone by pooling adjacent violators.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::tree) struct ProbabilitySteps {
    /// A score above `thresholds[i]` and not above the next has probability `probabilities[i + 1]`.
    thresholds: Vec<f64>,
    probabilities: Vec<f64>,
}

impl ProbabilitySteps {
    /// Fits the steps to scores with the class sums of their rows; sorts them.
    pub(in crate::tree) fn new(scored: &mut [(f64, ClassSums)]) -> Self {
        let pools = rising_pools(scored);
        Self {
            thresholds: pools.windows(2).map(|pair| between(pair[0].high, pair[1].low)).collect(),
            probabilities: pools.iter().map(|pool| pool.sums.eta()).collect(),
        }
    }

    pub(in crate::tree) fn probability(&self, score: f64) -> f64 {
        self.probabilities[self.thresholds.partition_point(|&threshold| threshold < score)]
    }

    /// The start of each step, the least score above its threshold, and the probabilities: below
    /// the first, ..., from the last on.
    pub(in crate::tree) fn steps(&self) -> (Vec<f64>, Vec<f64>) {
        let starts = self.thresholds.iter().map(|threshold| threshold.next_up()).collect();
        (starts, self.probabilities.clone())
    }

    /// The score above which the probability is above one half. Scores are from 0 to 1.
    pub(in crate::tree) fn middle(&self) -> f64 {
        match self.probabilities.partition_point(|&probability| probability <= 0.5) {
            0 => -1.0,
            n if n == self.probabilities.len() => 2.0,
            n => self.thresholds[n - 1],
        }
    }

    pub(in crate::tree) fn check(&self) -> Result<(), String> {
        // Shares that differ by less than a rounding error are equal.
        let fits = self.probabilities.len() == self.thresholds.len() + 1
            && self.thresholds.iter().all(|threshold| threshold.is_finite())
            && self.thresholds.is_sorted_by(|a, b| a < b)
            && self.probabilities.is_sorted_by(|a, b| a <= b)
            && self.probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        if fits { Ok(()) } else { Err("the probabilities do not rise with the score".to_owned()) }
    }
}

/// A threshold at least `low` and below `high`, about midway between them.
fn between(low: f64, high: f64) -> f64 {
    let middle = f64::midpoint(low, high);
    if middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(pos: u64, neg: u64) -> ClassSums {
        ClassSums { pos, neg, rows: pos + neg }
    }

    /// Isotonic regression by its min-max formula: the value at a score is the maximum over starts
    /// at or below it of the minimum, over ends at or above it, of the share of the run.
    fn isotonic(scored: &[(f64, ClassSums)], at: f64) -> f64 {
        let mut scores: Vec<f64> = scored.iter().map(|(score, _)| *score).collect();
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        let share = |low: f64, high: f64| {
            let within = scored.iter().filter(|(score, _)| (low..=high).contains(score));
            within.map(|(_, sums)| *sums).sum::<ClassSums>().eta()
        };
        let lows = scores.iter().filter(|&&score| score <= at);
        lows.map(|&low| {
            let highs = scores.iter().filter(|&&score| score >= at);
            highs.map(|&high| share(low, high)).fold(f64::INFINITY, f64::min)
        })
        .fold(f64::NEG_INFINITY, f64::max)
    }

    fn samples() -> Vec<Vec<(f64, ClassSums)>> {
        let mut state = 17_u64;
        let mut draw = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let mut sample = |n_rows, n_scores, rises: bool| {
            let row = |_| {
                let score = draw(n_scores);
                let chance = if rises { 2 + 16 * score / n_scores } else { 10 };
                let weight = 1 + draw(3);
                let is_positive = draw(20) < chance;
                let sums = if is_positive { sums(weight, 0) } else { sums(0, weight) };
                (score as f64 / n_scores as f64, sums)
            };
            (0..n_rows).map(row).collect()
        };
        let sizes = [(1, 5), (2, 2), (7, 3), (40, 1000), (60, 8), (200, 30)];
        let sizes = sizes.into_iter().flat_map(|size| [(size, true), (size, false)]);
        sizes.map(|((n_rows, n_scores), rises)| sample(n_rows, n_scores, rises)).collect()
    }

    #[test]
    fn probabilities_of_the_scores_are_their_isotonic_regression() {
        for sample in samples() {
            let calibration = ProbabilitySteps::new(&mut sample.clone());
            assert_eq!(calibration.check(), Ok(()));
            for &(score, _) in &sample {
                let (found, expected) = (calibration.probability(score), isotonic(&sample, score));
                assert!((found - expected).abs() < 1e-14, "{found} {expected}");
            }
        }
    }

    #[test]
    fn the_order_of_the_rows_and_copies_of_them_do_not_matter() {
        for sample in samples() {
            let calibration = ProbabilitySteps::new(&mut sample.clone());
            let mut reversed: Vec<_> = sample.iter().rev().copied().collect();
            assert_eq!(ProbabilitySteps::new(&mut reversed), calibration);
            let mut twice = [&sample[..], &sample[..]].concat();
            assert_eq!(ProbabilitySteps::new(&mut twice), calibration);
        }
    }

    #[test]
    fn the_probability_is_above_one_half_exactly_above_the_middle() {
        for sample in samples() {
            let calibration = ProbabilitySteps::new(&mut sample.clone());
            let thresholds = calibration.thresholds.iter();
            let around = thresholds.flat_map(|&t| [t.next_down(), t, t.next_up()]);
            for score in around.chain(sample.iter().map(|(score, _)| *score)).chain([0.0, 1.0]) {
                let is_above = score - calibration.middle() > 0.0;
                assert_eq!(is_above, calibration.probability(score) > 0.5, "{score}");
            }
        }
    }

    #[test]
    fn a_share_of_one_half_is_not_positive() {
        let calibration = ProbabilitySteps::new(&mut [(0.25, sums(1, 1)), (0.75, sums(2, 1))]);
        assert_eq!(calibration.probability(0.5), 0.5);
        assert_eq!(calibration.middle(), 0.5);
        assert_eq!(calibration.probability(0.5_f64.next_up()), 2.0 / 3.0);
    }

    #[test]
    fn neighbouring_scores_are_distinguished() {
        let (low, high) = (0.5_f64, 0.5_f64.next_up());
        let calibration = ProbabilitySteps::new(&mut [(high, sums(1, 0)), (low, sums(0, 1))]);
        assert_eq!([low, high].map(|score| calibration.probability(score)), [0.0, 1.0]);
        assert_eq!(calibration.middle(), low);
    }

    #[test]
    fn with_one_class_the_probability_is_0_or_1_everywhere() {
        let positive = ProbabilitySteps::new(&mut [(0.2, sums(1, 0)), (0.7, sums(3, 0))]);
        let negative = ProbabilitySteps::new(&mut [(0.2, sums(0, 1)), (0.7, sums(0, 3))]);
        for score in [0.0, 0.2, 0.5, 1.0] {
            assert_eq!((positive.probability(score), negative.probability(score)), (1.0, 0.0));
            assert!(score > positive.middle() && score < negative.middle());
        }
    }

    #[test]
    fn broken_tables_are_refused() {
        let of = |thresholds: &[f64], probabilities: &[f64]| {
            let (thresholds, probabilities) = (thresholds.to_vec(), probabilities.to_vec());
            ProbabilitySteps { thresholds, probabilities }.check().is_ok()
        };
        assert!(of(&[], &[0.3]));
        assert!(of(&[0.1, 0.4], &[0.0, 0.5, 1.0]));
        // Two shares may round to the same number.
        assert!(of(&[0.1, 0.4], &[0.0, 0.5, 0.5]));
        assert!(!of(&[], &[]));
        assert!(!of(&[0.1], &[0.3]));
        assert!(!of(&[0.4, 0.1], &[0.0, 0.5, 1.0]));
        assert!(!of(&[0.1, 0.1], &[0.0, 0.5, 1.0]));
        assert!(!of(&[0.1], &[0.5, 0.4]));
        assert!(!of(&[0.1], &[-0.1, 0.4]));
        assert!(!of(&[0.1], &[0.4, 1.5]));
        assert!(!of(&[f64::NAN], &[0.4, 0.5]));
        assert!(!of(&[0.1, f64::NAN], &[0.3, 0.4, 0.5]));
        assert!(!of(&[0.1], &[0.4, f64::NAN]));
    }

    #[test]
    fn shares_too_close_for_a_float_make_a_valid_table() {
        let n = 1_u64 << 52;
        let calibration =
            ProbabilitySteps::new(&mut [(0.25, sums(n, n + 2)), (0.75, sums(n + 1, n + 2))]);
        assert_eq!(calibration.probabilities.len(), 2);
        assert_eq!(calibration.check(), Ok(()));
    }
}
