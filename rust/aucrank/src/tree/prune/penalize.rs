//! Choice of a subtree by a penalty on its number of leaves (paper 2 sec. 4.2).

use serde::{Deserialize, Serialize};

use super::path::BestSubtrees;
use crate::tree::model::RankingTree;
use crate::{Interrupt, RankError};

/// Maximum number of doublings in an exponent of the penalties. More than 2^900 cuts or cubes count
/// as 2^900: any such penalty keeps only the root, and nothing overflows.
const MOST_DOUBLINGS: usize = 900;

/// Minimum number of sizes to fit a slope to: those left for six leaves.
const LEAST_SIZES: usize = 5;

/// Complexity of the splits of a tree, on which its penalty depends besides its size.
///
/// # Examples
///
/// ```
/// use aucrank::tree::{Complexity, DyadicParams, LeafRankParams, SplitRule};
///
/// // A tree of stumps of depth 2 has three of them.
/// let split = LeafRankParams { max_depth: 2, ..LeafRankParams::orthogonal(1) };
/// assert_eq!(Complexity::of(&SplitRule::Stumps(split)), Some(Complexity::Cuts(3.0)));
/// let split = SplitRule::Dyadic(DyadicParams { level: Some(4) });
/// assert_eq!(Complexity::of(&split), Some(Complexity::Cubes { level: 4 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Complexity {
    /// Maximum number of perpendicular cuts in a split (situation O1 of paper 2 sec. 4.2).
    Cuts(f64),
    /// Unions of dyadic cubes of side `2^-level` (situation O2).
    Cubes {
        /// The J of the paper.
        level: usize,
    },
}

impl Complexity {
    /// The complexity of splits by trees of stumps of some depth and number of leaves.
    pub(in crate::tree) fn of_cuts(max_depth: usize, max_leaves: Option<usize>) -> Self {
        let by_depth = 2_f64.powi(max_depth.min(MOST_DOUBLINGS) as i32) - 1.0;
        let by_leaves = max_leaves.map_or(f64::INFINITY, |n| n as f64 - 1.0);
        Self::Cuts(by_depth.min(by_leaves))
    }

    /// The penalty of a tree of `n_leaves` leaves (paper 2 Proposition 6, its root read from the
    /// proof: DECISIONS T15), for a share of positives that lies between `low` and `high`.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::tree::Complexity;
    ///
    /// // Larger than any AUC: the penalty needs a scale.
    /// let penalty = Complexity::Cuts(1.0).penalty(2, 10_000, 10, (0.5, 0.5));
    /// assert!((penalty - 1.613).abs() < 1e-3);
    /// ```
    #[must_use]
    pub fn penalty(
        self,
        n_leaves: usize,
        n_rows: u64,
        n_features: usize,
        (low, high): (f64, f64),
    ) -> f64 {
        let (n_leaves, n_rows) = (n_leaves as f64, n_rows as f64);
        let square = match self {
            Self::Cuts(n_cuts) => {
                // log of 16 ((n + 1) q)^(2 K kappa).
                let per_cut = ((n_rows + 1.0) * n_features as f64).ln();
                let log_shatter = 16_f64.ln() + 2.0 * n_leaves * n_cuts * per_cut;
                32.0 * (log_shatter + n_leaves) / n_rows
            }
            Self::Cubes { level } => {
                // log of 4 K^(2^(J q)): the power itself may overflow.
                let doublings = level.saturating_mul(n_features).min(MOST_DOUBLINGS);
                let log_unions = 4_f64.ln() + 2_f64.powi(doublings as i32) * n_leaves.ln();
                (log_unions + n_leaves) / (2.0 * n_rows)
            }
        };
        square.sqrt() / (low * (1.0 - high))
    }
}

/// Factor of the penalty.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{PenaltyParams, PenaltyScale, PruningRule, TreeRankParams, fit};
/// # use aucrank::tree::{GrowParams, LeafRankParams, SplitRule};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// # let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let scale_of = |scale| {
///     let pruning = PenaltyParams { scale, p_low: None, p_high: None };
///     let pruning = Some(PruningRule::Penalty(pruning));
///     let params = TreeRankParams { pruning, ..params.clone() };
///     let fitted = fit((&columns, &labels), &params, &Interrupt::default());
///     fitted.map(|fitted| fitted.penalization.map(|found| found.scale))
/// };
/// assert_eq!(scale_of(PenaltyScale::Fixed(0.001))?, Some(0.001));
/// // A line is not fitted to a tree of four leaves, which is then not pruned.
/// assert_eq!(scale_of(PenaltyScale::Slope)?, Some(0.0));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PenaltyScale {
    /// A positive number.
    Fixed(f64),
    /// Twice the slope of the training AUC in the penalty, fitted by least squares to the best
    /// subtrees of more than a quarter of the leaves of the grown tree (a measured choice,
    /// `benches/pruning_study.py`). A tree of fewer than six leaves is not pruned.
    ///
    /// The slope heuristic: the further gain of large subtrees comes from noise, and the least
    /// penalty that cancels it is half of the one that selects best (Birgé and Massart, 2007,
    /// <https://doi.org/10.1007/s00440-006-0011-8>; Baudry, Maugis and Michel, 2012,
    /// <https://doi.org/10.1007/s11222-011-9236-1>).
    Slope,
}

/// How the number of leaves is penalised.
///
/// For an example see [`Penalization`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PenaltyParams {
    /// Factor of the penalty.
    pub scale: PenaltyScale,
    /// Least share of positives; `None` for that of the training rows, or for `p_high` if that is
    /// less.
    pub p_low: Option<f64>,
    /// Largest share of positives; `None` for that of the training rows, or for `p_low` if that is
    /// more.
    pub p_high: Option<f64>,
}

impl PenaltyParams {
    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: f64, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        if let PenaltyScale::Fixed(scale) = self.scale
            && !(scale > 0.0 && scale.is_finite())
        {
            return bad("scale", scale, "positive and finite");
        }
        for (name, bound) in [("p_low", self.p_low), ("p_high", self.p_high)] {
            if let Some(bound) = bound.filter(|&bound| !(bound > 0.0 && bound < 1.0)) {
                return bad(name, bound, "between 0 and 1");
            }
        }
        match (self.p_low, self.p_high) {
            (Some(low), Some(high)) if low > high => bad("p_low", low, "at most p_high"),
            _ => Ok(()),
        }
    }

    /// Bounds on the share of positives, where `share` is that of the training rows.
    fn bounds(&self, share: f64) -> (f64, f64) {
        let low = self.p_low.unwrap_or(share.min(self.p_high.unwrap_or(1.0)));
        let high = self.p_high.unwrap_or(share.max(self.p_low.unwrap_or(0.0)));
        (low, high)
    }
}

/// Result for each number of leaves, from 1 to that of the grown tree.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{PenaltyParams, PenaltyScale, PruningRule, TreeRankParams, fit};
/// # use aucrank::tree::{GrowParams, LeafRankParams, SplitRule};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// # let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// # let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let scale = PenaltyScale::Fixed(0.001);
/// let pruning = Some(PruningRule::Penalty(PenaltyParams { scale, p_low: None, p_high: None }));
/// let params = TreeRankParams { pruning, ..params };
/// let found = fit((&columns, &labels), &params, &Interrupt::default())?.penalization;
/// let found = found.expect("a penalty was requested");
/// // From the root alone to one leaf for each row.
/// assert_eq!((found.train_auc[0], found.train_auc[3]), (0.5, 1.0));
/// assert!((0..4).all(|index| found.criterion(index) <= found.criterion(found.chosen)));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Penalization {
    /// Factor of the penalty; 0 if there were too few leaves to fit it, so that the tree was not
    /// pruned.
    pub scale: f64,
    /// Training AUC of the best subtree of that size, leaves ranked from left to right.
    pub train_auc: Vec<f64>,
    /// The penalty, without the factor.
    pub penalty: Vec<f64>,
    /// Index of the size that was kept.
    pub chosen: usize,
}

impl Penalization {
    /// The largest AUC less the scaled penalty, ties to fewer leaves.
    fn new(train_auc: Vec<f64>, penalty: Vec<f64>, scale: PenaltyScale) -> Self {
        let scale = match scale {
            PenaltyScale::Fixed(scale) => scale,
            PenaltyScale::Slope => 2.0 * slope_of_larger_sizes(&penalty, &train_auc),
        };
        let mut found = Self { scale, train_auc, penalty, chosen: 0 };
        for index in 1..found.train_auc.len() {
            if found.criterion(index) > found.criterion(found.chosen) {
                found.chosen = index;
            }
        }
        found
    }

    /// Criterion of the size at an index: AUC less scaled penalty.
    #[must_use]
    pub fn criterion(&self, index: usize) -> f64 {
        self.train_auc[index] - self.scale * self.penalty[index]
    }

    pub(in crate::tree) fn check(&self, tree: &RankingTree) -> Result<(), String> {
        if self.penalty.len() == self.train_auc.len() && self.chosen + 1 == tree.n_leaves() {
            Ok(())
        } else {
            Err("the table of the penalties does not suit the tree".to_owned())
        }
    }
}

/// Slope of the line fitted by least squares to the sizes of more than a quarter of the leaves; 0
/// if these are fewer than [`LEAST_SIZES`].
fn slope_of_larger_sizes(penalty: &[f64], train_auc: &[f64]) -> f64 {
    let from = penalty.len() / 4;
    let (x, y) = (&penalty[from..], &train_auc[from..]);
    if x.len() < LEAST_SIZES {
        return 0.0;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (x_mean, y_mean) = (mean(x), mean(y));
    let (mut xy, mut xx) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        xy += (x - x_mean) * (y - y_mean);
        xx += (x - x_mean).powi(2);
    }
    // Both increase with the size; only rounding could make the slope negative or NaN.
    if xy > 0.0 && xx > 0.0 { xy / xx } else { 0.0 }
}

/// Finds the best subtree of every size, and keeps the one of the largest AUC less its penalty
/// (paper 2 sec. 4.2, DECISIONS T15).
///
/// Both penalties are concave in the number of leaves. So AUC less penalty is largest at a vertex
/// of the upper hull of (leaves, AUC), which is the nested path: the exact search over all sizes
/// and the path agree. The search does not rely on this.
pub(in crate::tree) fn penalize(
    tree: &RankingTree,
    complexity: Complexity,
    params: &PenaltyParams,
    interrupt: &Interrupt,
) -> Result<(RankingTree, Penalization), RankError> {
    let subtrees = BestSubtrees::of(tree, tree.n_leaves(), interrupt)?;
    let train_auc = subtrees.aucs(tree);
    let total = tree.total();
    let bounds = params.bounds(total.eta());
    let penalty = (1..=train_auc.len())
        .map(|n_leaves| complexity.penalty(n_leaves, total.rows, tree.n_levels().len(), bounds))
        .collect();
    let found = Penalization::new(train_auc, penalty, params.scale);
    Ok((subtrees.tree(tree, found.chosen + 1), found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{LeafRankParams, SplitRule};

    fn close(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= 1e-12 * expected
    }

    #[test]
    fn penalties_are_those_of_the_paper() {
        // 16 ((n + 1) q)^(2 K kappa) and 4 K^(2^(J q)), small enough to be written out.
        for (n_leaves, n_rows, n_features, n_cuts) in
            [(1, 9, 1, 1), (2, 9, 1, 1), (3, 100, 4, 1), (2, 1000, 7, 3), (5, 50, 2, 7)]
        {
            let base = (n_rows + 1) as f64 * n_features as f64;
            let power = 16.0 * base.powi(2 * n_leaves * n_cuts);
            let inner = (power.ln() + f64::from(n_leaves)) / n_rows as f64;
            let expected = 1.0 / (0.2 * (1.0 - 0.3)) * (32.0 * inner).sqrt();
            let found = Complexity::Cuts(f64::from(n_cuts)).penalty(
                n_leaves as usize,
                n_rows,
                n_features,
                (0.2, 0.3),
            );
            assert!(close(found, expected), "{found} {expected}");
        }
        for (n_leaves, n_rows, n_features, level) in
            [(1, 10, 1, 1), (2, 10, 1, 1), (3, 100, 2, 1), (7, 1000, 2, 2), (4, 30, 1, 6)]
        {
            let power = 4.0 * f64::from(n_leaves).powi(2_i32.pow(level * n_features));
            let inner = (power.ln() + f64::from(n_leaves)) / (2.0 * n_rows as f64);
            let expected = 1.0 / (0.4 * (1.0 - 0.4)) * inner.sqrt();
            let found = Complexity::Cubes { level: level as usize }.penalty(
                n_leaves as usize,
                n_rows,
                n_features as usize,
                (0.4, 0.4),
            );
            assert!(close(found, expected), "{found} {expected}");
        }
    }

    #[test]
    fn more_cubes_than_a_float_can_count_do_not_overflow() {
        // 4 * 2^(2^15) is 2^32770, which f64 cannot hold; its logarithm it can.
        let found = Complexity::Cubes { level: 5 }.penalty(2, 100, 3, (0.5, 0.5));
        let expected = 4.0 * ((32770.0 * 2_f64.ln() + 2.0) / 200.0).sqrt();
        assert!(close(found, expected), "{found} {expected}");
        for complexity in
            [Complexity::Cubes { level: usize::MAX }, Complexity::Cuts(2_f64.powi(900))]
        {
            for n_leaves in [1, 2, 1_000_000] {
                let penalty = complexity.penalty(n_leaves, 10, 1000, (1e-9, 1.0 - 1e-9));
                assert!(penalty.is_finite() && penalty > 0.0, "{penalty}");
            }
        }
    }

    #[test]
    fn cuts_of_a_split_are_bounded_by_its_depth_or_its_cells() {
        let of = |max_depth, max_leaves| {
            let params = LeafRankParams { max_depth, max_leaves, ..LeafRankParams::orthogonal(1) };
            Complexity::of(&SplitRule::Stumps(params))
        };
        assert_eq!(of(1, None), Some(Complexity::Cuts(1.0)));
        assert_eq!(of(3, None), Some(Complexity::Cuts(7.0)));
        assert_eq!(of(3, Some(5)), Some(Complexity::Cuts(4.0)));
        assert_eq!(of(2, Some(5)), Some(Complexity::Cuts(3.0)));
        assert_eq!(of(usize::MAX, None), Some(Complexity::Cuts(2_f64.powi(900) - 1.0)));
    }

    #[test]
    fn the_slope_of_noise_is_doubled() {
        let penalty: Vec<f64> = (1..=40).map(|k| f64::from(k).sqrt()).collect();
        // Signal of 0.1 per unit up to 4 leaves, then noise of 0.003 per unit.
        let train_auc: Vec<f64> = penalty
            .iter()
            .map(|&pen| 0.5 + 0.1 * pen.min(2.0) + 0.003 * (pen - 2.0).max(0.0))
            .collect();
        let found = Penalization::new(train_auc, penalty, PenaltyScale::Slope);
        assert!((found.scale - 0.006).abs() < 1e-12, "{}", found.scale);
        assert_eq!(found.chosen + 1, 4);
    }

    #[test]
    fn few_leaves_give_no_slope_and_the_first_of_equal_sizes_is_kept() {
        for (n_sizes, has_slope) in [(1, false), (5, false), (6, true)] {
            let sizes: Vec<f64> = (1..=n_sizes).map(f64::from).collect();
            let train_auc = sizes.iter().map(|k| 0.5 + 0.01 * k).collect();
            let found = Penalization::new(train_auc, sizes, PenaltyScale::Slope);
            assert_eq!(found.scale > 0.0, has_slope, "{n_sizes}");
            // With pure noise the root is kept; without a slope, the whole tree.
            assert_eq!(found.chosen, if has_slope { 0 } else { n_sizes as usize - 1 });
        }
        let flat = Penalization::new(vec![0.75; 9], vec![1.0; 9], PenaltyScale::Slope);
        assert_eq!((flat.scale, flat.chosen), (0.0, 0));
        let tied =
            Penalization::new(vec![0.5, 0.75, 1.0], vec![1.0, 2.0, 3.0], PenaltyScale::Fixed(0.25));
        assert_eq!(tied.chosen, 0);
    }

    #[test]
    fn bounds_of_the_share_are_those_given_or_that_of_the_rows() {
        let bounds = |p_low, p_high, share| {
            PenaltyParams { scale: PenaltyScale::Slope, p_low, p_high }.bounds(share)
        };
        assert_eq!(bounds(None, None, 0.3), (0.3, 0.3));
        assert_eq!(bounds(Some(0.1), None, 0.3), (0.1, 0.3));
        assert_eq!(bounds(Some(0.4), None, 0.3), (0.4, 0.4));
        assert_eq!(bounds(None, Some(0.2), 0.3), (0.2, 0.2));
        assert_eq!(bounds(Some(0.1), Some(0.2), 0.3), (0.1, 0.2));
    }

    #[test]
    fn bad_parameters_are_named() {
        let good = PenaltyParams { scale: PenaltyScale::Slope, p_low: None, p_high: None };
        assert_eq!(good.validate(), Ok(()));
        for (params, name) in [
            (PenaltyParams { scale: PenaltyScale::Fixed(0.0), ..good }, "scale"),
            (PenaltyParams { scale: PenaltyScale::Fixed(f64::NAN), ..good }, "scale"),
            (PenaltyParams { p_low: Some(0.0), ..good }, "p_low"),
            (PenaltyParams { p_high: Some(1.0), ..good }, "p_high"),
            (PenaltyParams { p_low: Some(0.6), p_high: Some(0.5), ..good }, "p_low"),
        ] {
            let err = params.validate().unwrap_err();
            assert!(err.to_string().starts_with(name), "{err}");
        }
    }
}
