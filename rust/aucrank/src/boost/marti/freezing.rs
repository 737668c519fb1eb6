//! The additions of `SMartiBoost`: nodes that are frozen.

use super::params::MartiParams;
use crate::data::ClassMasses;

/// When a node is frozen: its label then decides for the rows that reach it.
///
/// A class is rare in a node that almost none of its mass reaches, and a node where one class is
/// rare gets the label of the other (DECISIONS E8). If both are rare, the label is that of the
/// class with the larger share in the node, and negative if the shares are equal (B9). Without any
/// rule a class is rare only if it has no mass (B8).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{Freezing, MartiBoostParams, Outcome, marti_boost};
/// # use aucrank::boost::{Chance, Layer, MassTile, RowChance, TwoSidedLearner};
/// use aucrank::data::{Columns, Labels};
///
/// # struct Half;
/// # impl RowChance for Half {
/// #     fn chance(&self, _row: usize) -> Chance { Chance::HALF }
/// # }
/// # struct Learner;
/// # impl TwoSidedLearner for Learner {
/// #     type Classifier = Half;
/// #     type Sums = ();
/// #     fn empty(&self, _: usize) {}
/// #     fn add(&self, (): &mut (), _: &MassTile<'_>) {}
/// #     fn merge(&self, (): &mut (), (): ()) {}
/// #     fn learn(
/// #         &self, (): (), layer: &Layer<'_>,
/// #     ) -> Result<Vec<Option<Half>>, aucrank::RankError> {
/// #         Ok(layer.open().iter().map(|_| Some(Half)).collect())
/// #     }
/// # }
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0], 1)?;
/// let labels = Labels::new(&[false, true, true, true, true], None)?;
/// // A node needs two rows of each class, and only one is negative.
/// let freezing = Freezing { min_rows: 2.0, ..Freezing::default() };
/// let params = MartiBoostParams { n_rounds: 1, freezing, ..MartiBoostParams::default() };
/// let done = marti_boost(&columns, &labels, &params, &Learner, &Interrupt::default())?;
/// assert!(matches!(done.nodes[0].1, Outcome::Frozen { positive: true }));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Freezing {
    /// A class is rare if less than `epsilon / (T (T + 1))` of its mass reaches the node
    /// (inequality 2). Under noise, where that is an estimate, `epsilon / (4 T (T + 1))` or less.
    pub epsilon: Option<f64>,
    /// A class is rare if fewer of its rows reach the node than this, each counting by the share
    /// that does.
    pub min_rows: f64,
    /// Share of flipped labels. Masses are then estimates of those by true labels; negative
    /// estimates count as zero (B10).
    pub noise_rate: f64,
}

/// Relative error of the number of rows in a node: their parts are rounded at each step, and so is
/// their sum.
const ROUNDING: f64 = 1e-6;

/// The masses that reach a node, relative to those at the root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// Mass of each class that reaches the node.
    pub(super) node: ClassMasses,
    /// Mass of each class at the root.
    pub(super) total: ClassMasses,
    /// Rows of each class at the root, negatives first.
    pub(super) rows: [f64; 2],
}

impl Freezing {
    /// The rules of a fit at a share of flipped labels.
    pub(super) fn of(params: &MartiParams, noise_rate: f64) -> Self {
        Self { epsilon: params.epsilon, min_rows: params.min_samples_class, noise_rate }
    }

    /// The label of a node to be frozen, `true` for positive.
    pub(super) fn label(&self, reach: &Reach, n_rounds: usize) -> Option<bool> {
        let [neg_is_rare, pos_is_rare] = [false, true].map(|c| self.is_rare(reach, c, n_rounds));
        let cross = |a: u64, b: u64| u128::from(a) * u128::from(b);
        match (neg_is_rare, pos_is_rare) {
            (false, false) => None,
            (true, false) => Some(true),
            (false, true) => Some(false),
            (true, true) => Some(
                cross(reach.node.pos, reach.total.neg) > cross(reach.node.neg, reach.total.pos),
            ),
        }
    }

    fn is_rare(&self, reach: &Reach, class: bool, n_rounds: usize) -> bool {
        let (node, total) = (self.clean(reach.node, class), self.clean(reach.total, class));
        let n_nodes = (n_rounds * (n_rounds + 1)) as f64;
        let is_below = self.epsilon.is_some_and(|epsilon| {
            if self.noise_rate > 0.0 {
                node * 4.0 * n_nodes <= epsilon * total
            } else {
                node * n_nodes < epsilon * total
            }
        });
        let least = self.min_rows * total * (1.0 - ROUNDING);
        node <= 0.0 || is_below || node * reach.rows[usize::from(class)] < least
    }

    /// Estimated mass of a class by true labels.
    fn clean(&self, masses: ClassMasses, class: bool) -> f64 {
        let (pos, neg) = (masses.pos as f64, masses.neg as f64);
        let seen = if class { pos } else { neg };
        (seen - self.noise_rate * (pos + neg)).max(0.0) / (1.0 - 2.0 * self.noise_rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reach(pos: u64, neg: u64) -> Reach {
        let total = ClassMasses { pos: 1200, neg: 2400 };
        Reach { node: ClassMasses { pos, neg }, total, rows: [2400.0, 1200.0] }
    }

    #[test]
    fn without_a_rule_a_node_of_one_class_gets_its_label() {
        let rule = Freezing::default();
        assert_eq!(rule.label(&reach(5, 0), 3), Some(true));
        assert_eq!(rule.label(&reach(0, 5), 3), Some(false));
        assert_eq!(rule.label(&reach(1, 1), 3), None);
    }

    #[test]
    fn inequality_2_is_strict() {
        // epsilon / (T (T + 1)) = 1/120 of 1200 and 2400 is 10 and 20.
        let rule = Freezing { epsilon: Some(0.1), ..Freezing::default() };
        assert_eq!(rule.label(&reach(10, 20), 3), None);
        assert_eq!(rule.label(&reach(9, 20), 3), Some(false));
        assert_eq!(rule.label(&reach(10, 19), 3), Some(true));
    }

    #[test]
    fn if_both_are_rare_the_larger_share_wins_and_a_tie_is_negative() {
        let rule = Freezing { epsilon: Some(0.1), ..Freezing::default() };
        assert_eq!(rule.label(&reach(5, 9), 3), Some(true));
        assert_eq!(rule.label(&reach(5, 10), 3), Some(false));
        assert_eq!(rule.label(&reach(5, 11), 3), Some(false));
    }

    #[test]
    fn under_noise_true_masses_are_compared_and_equality_freezes() {
        // With a quarter flipped, (pos, neg) is observed as (3 pos + neg, pos + 3 neg) / 4.
        let rule = Freezing { epsilon: Some(0.4), noise_rate: 0.25, ..Freezing::default() };
        let noisy = |pos: u64, neg: u64| ClassMasses { pos: 3 * pos + neg, neg: pos + 3 * neg };
        let total = noisy(1200, 2400);
        // epsilon / (4 T (T + 1)) = 1/120.
        let label = |pos, neg| {
            let reach = Reach { node: noisy(pos, neg), total, rows: [0.0; 2] };
            rule.label(&reach, 3)
        };
        assert_eq!(label(11, 21), None);
        assert_eq!(label(10, 21), Some(false));
        assert_eq!(label(11, 20), Some(true));
        // Fewer positives than noise alone would produce: none.
        let node = ClassMasses { pos: 10, neg: 90 };
        let rule = Freezing { noise_rate: 0.25, ..Freezing::default() };
        assert_eq!(rule.label(&Reach { node, total, rows: [0.0; 2] }, 3), Some(false));
    }

    #[test]
    fn rounding_loses_no_row() {
        // Two of n rows: 2 / 49 * 49 is below 2. And one row that lost a unit of mass.
        let rule = Freezing { min_rows: 2.0, ..Freezing::default() };
        for n in 2..400_u32 {
            let mass = u64::from(n) << 31;
            let total = ClassMasses { pos: mass, neg: mass };
            let rows = [f64::from(n); 2];
            for lost in 0..3 {
                let node = ClassMasses { pos: (2 << 31) - lost, neg: (2 << 31) - lost };
                assert_eq!(rule.label(&Reach { node, total, rows }, 3), None, "{n}");
            }
            let node = ClassMasses { pos: 199 << 24, neg: 2 << 31 };
            assert_eq!(rule.label(&Reach { node, total, rows }, 3), Some(false));
        }
    }

    #[test]
    fn few_rows_of_a_class_freeze() {
        let rule = Freezing { min_rows: 10.0, ..Freezing::default() };
        assert_eq!(rule.label(&reach(10, 10), 3), None);
        assert_eq!(rule.label(&reach(9, 10), 3), Some(false));
        assert_eq!(rule.label(&reach(10, 9), 3), Some(true));
    }
}
