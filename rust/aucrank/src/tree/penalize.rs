//! Which subtree to keep, by a penalty on its number of leaves (paper 2 sec. 4.2).

use serde::{Deserialize, Serialize};

use super::best_subtrees::BestSubtrees;
use super::fit::SplitRule;
use super::ranking_tree::RankingTree;
use crate::{Interrupt, RankError};

/// Doublings that an exponent of the penalties can count. More cuts or cubes than 2^900 are taken
/// for so many: any such penalty keeps the root alone, and a number stays a number.
const MOST_DOUBLINGS: usize = 900;

/// A slope is fitted where the larger half of the subtrees has at least so many sizes.
const LEAST_SIZES: usize = 5;

/// How rich the splits of a tree can be: what its penalty depends on beside its size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Complexity {
    /// At most so many perpendicular cuts a split (situation O1 of paper 2 sec. 4.2).
    Cuts(f64),
    /// Unions of dyadic cubes of side `2^-level` (situation O2).
    Cubes {
        /// The J of the paper.
        level: usize,
    },
}

impl Complexity {
    /// That of a split rule; `None` where no penalty is known.
    #[must_use]
    pub fn of(split: &SplitRule) -> Option<Self> {
        match split {
            SplitRule::Stumps(params) => {
                let by_depth = 2_f64.powi(params.max_depth.min(MOST_DOUBLINGS) as i32) - 1.0;
                let by_leaves = params.max_leaves.map_or(f64::INFINITY, |n| n as f64 - 1.0);
                Some(Self::Cuts(by_depth.min(by_leaves)))
            }
        }
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
    /// assert!((penalty - 1.602).abs() < 1e-3);
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
                // log of 4 K^(2^(J q)): the power itself is out of reach.
                let doublings = level.saturating_mul(n_features).min(MOST_DOUBLINGS);
                let log_unions = 4_f64.ln() + 2_f64.powi(doublings as i32) * n_leaves.ln();
                (log_unions + n_leaves) / (2.0 * n_rows)
            }
        };
        square.sqrt() / (low * (1.0 - high))
    }
}

/// What the penalty is multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PenaltyScale {
    /// A positive number.
    Fixed(f64),
    /// Twice the slope of the training AUC in the penalty, fitted by least squares to the larger
    /// half of the sizes: those of more than half of the leaves of the grown tree. The tree is not
    /// pruned where these are fewer than five.
    ///
    /// The slope heuristic: what large subtrees still gain is gained from noise, and the penalty
    /// that only just makes up for it is half of the one that selects best (Birgé and Massart, 2007,
    /// <https://doi.org/10.1007/s00440-006-0011-8>; Baudry, Maugis and Michel, 2012,
    /// <https://doi.org/10.1007/s11222-011-9236-1>).
    Slope,
}

/// How the number of leaves is penalised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PenaltyParams {
    /// What the penalty is multiplied by.
    pub scale: PenaltyScale,
    /// Least share of positives, or no more than that of the training rows.
    pub p_low: Option<f64>,
    /// Largest share of positives, or no less than that of the training rows.
    pub p_high: Option<f64>,
}

impl PenaltyParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
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

/// What was found for each number of leaves, from 1 to that of the grown tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Penalization {
    /// What the penalty was multiplied by; 0 where there were too few leaves to fit it, and the tree
    /// was not pruned.
    pub scale: f64,
    /// Training AUC of the best subtree of that size, leaves ranked from left to right.
    pub train_auc: Vec<f64>,
    /// The penalty, before it is scaled.
    pub penalty: Vec<f64>,
    /// Index of the size that was kept.
    pub chosen: usize,
}

impl Penalization {
    /// The largest AUC less the scaled penalty, ties to fewer leaves.
    fn new(train_auc: Vec<f64>, penalty: Vec<f64>, scale: PenaltyScale) -> Self {
        let scale = match scale {
            PenaltyScale::Fixed(scale) => scale,
            PenaltyScale::Slope => 2.0 * slope_of_larger_half(&penalty, &train_auc),
        };
        let mut found = Self { scale, train_auc, penalty, chosen: 0 };
        for index in 1..found.train_auc.len() {
            if found.criterion(index) > found.criterion(found.chosen) {
                found.chosen = index;
            }
        }
        found
    }

    /// What the size of an index was judged by.
    #[must_use]
    pub fn criterion(&self, index: usize) -> f64 {
        self.train_auc[index] - self.scale * self.penalty[index]
    }

    pub(super) fn check(&self, tree: &RankingTree) -> Result<(), String> {
        if self.penalty.len() == self.train_auc.len() && self.chosen + 1 == tree.n_leaves() {
            Ok(())
        } else {
            Err("the table of the penalties does not suit the tree".to_owned())
        }
    }
}

/// Slope of the line fitted by least squares to the sizes of more than half of the leaves; 0 where
/// these are fewer than [`LEAST_SIZES`].
fn slope_of_larger_half(penalty: &[f64], train_auc: &[f64]) -> f64 {
    let from = penalty.len() / 2;
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
    // Both rise with the size; rounding alone could make the slope negative, or not a number.
    if xy > 0.0 && xx > 0.0 { xy / xx } else { 0.0 }
}

/// Finds the best subtree of every size, and keeps the one of the largest AUC less its penalty
/// (paper 2 sec. 4.2, DECISIONS T15).
///
/// Both penalties are concave in the number of leaves. So AUC less penalty is largest at a vertex of
/// the upper hull of (leaves, AUC), which is the nested path: the exact search over all sizes and the
/// path agree. The search does not rely on it.
pub(super) fn penalize(
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
