//! `RankBoost` for two classes (Freund, Iyer, Schapire and Singer, "An efficient boosting algorithm
//! for combining preferences", J. Mach. Learn. Res. 4, 2003): pairs of a positive and a negative
//! row.
//!
//! A distribution over pairs is a product of one over the positive rows and one over the negative
//! rows (their fig. 2), so pairs are never enumerated. Each round minimises the mean over pairs of
//! `exp(f(negative) - f(positive))`: the product of the two means that a [`BoostedModel`] keeps.
//!
//! A ranking becomes a grade from 0 to 1 by [`Grades`]. Since weak rankers are oriented to rank
//! positives higher, values are positive: the reverse of a stump, with a negative value, differs
//! from the stump by a constant (DECISIONS K6).

use serde::{Deserialize, Serialize};

use super::boosted_model::BoostedModel;
use super::queried_rounds::boost_rows;
use super::rounds::{FitExtras, RoundParams, RoundRule, RoundValues, boost};
use super::weak::WeakRankerParams;
use crate::data::ClassMasses;
use crate::rows::TrainingRows;
use crate::{Interrupt, RankError};

/// Maximum number of Newton steps; a handful suffices.
const MOST_STEPS: usize = 100;

/// How the value of a ranking is chosen (DECISIONS K5).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{Alpha, FitExtras, RankBoostParams, RoundParams, fit_rank_boost};
/// use aucrank::data::{Columns, Labels};
///
/// // One of three positive and two of three negative rows have the lower value.
/// let columns = Columns::from_row_major(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], 1)?;
/// let labels = Labels::new(&[false, false, true, false, true, true], None)?;
/// let value_of = |alpha| {
///     let rounds = RoundParams { n_rounds: 1, ..RoundParams::default() };
///     let params = RankBoostParams { rounds, alpha, ..RankBoostParams::default() };
///     let extras = FitExtras::default();
///     let model = fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
///     model.round_values(&columns, 0, None).map(|values| values[3] - values[2])
/// };
/// // r is 1/3; of nine pairs four are right and one is wrong, and one is added to either: 5 / 2.
/// let (third, exact) = (0.5 * 2_f64.ln(), 0.5 * 2.5_f64.ln());
/// // Masses are fractions of a fixed unit.
/// assert!((value_of(Alpha::Third)? - third).abs() < 1e-6);
/// assert!((value_of(Alpha::Exact)? - exact).abs() < 1e-6);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alpha {
    /// The third method of the paper: `1/2 ln((1 + r) / (1 - r))`, where `r` is the mean difference
    /// of the grades of a pair.
    #[default]
    Third,
    /// The value that minimises the pair loss: the second method, in closed form, for two grades,
    /// else the first, by Newton's method. The loss is smoothed by a pair's share, `1/PQ`, at both
    /// the best ranked and the worst ranked pairs (DECISIONS K4).
    Exact,
}

/// Parameters of `RankBoost`.
///
/// For an example see [`fit_rank_boost`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RankBoostParams {
    /// Parameters of the boosting loop.
    pub rounds: RoundParams,
    /// How the value of a ranking is chosen.
    pub alpha: Alpha,
    /// The false positive rate up to which rows are to be ranked well, above 0 and at most 1. Below
    /// 1, this share of the negatives, those of the highest sums of the rounds so far, counts in
    /// full in pairs, and the others count 0.3; held-out rows are then evaluated by their partial
    /// AUC up to it.
    pub max_fpr: f64,
}

impl Default for RankBoostParams {
    /// Defaults of the Python estimator `RankBoost`.
    fn default() -> Self {
        let weak_ranker = WeakRankerParams::Threshold;
        let rounds = RoundParams { weak_ranker, n_rounds: 200, ..RoundParams::default() };
        Self { rounds, alpha: Alpha::Third, max_fpr: 1.0 }
    }
}

/// Maximum number of distinct values of a ranking by scores, which may differ in every row.
const MOST_GRADES: usize = 256;

/// Valuation of a ranking in a fit.
#[derive(Debug, Clone, Copy)]
struct PairRule {
    alpha: Alpha,
    max_fpr: f64,
    n_pairs: f64,
}

impl PairRule {
    /// For these numbers of rows of each class, negatives first.
    fn new(params: &RankBoostParams, [n_neg, n_pos]: [u64; 2]) -> Self {
        let RankBoostParams { alpha, max_fpr, .. } = *params;
        Self { alpha, max_fpr, n_pairs: n_pos as f64 * n_neg as f64 }
    }
}

impl RoundRule for PairRule {
    fn most_groups(&self) -> usize {
        MOST_GRADES
    }

    fn max_fpr(&self) -> f64 {
        self.max_fpr
    }

    fn values(&self, groups: &[ClassMasses], n_rows: u64) -> Option<RoundValues> {
        let grades = Grades::of(groups)?;
        let most = 0.5 * (2.0 * n_rows as f64).ln();
        let alpha = match self.alpha {
            // Infinite for a stump without mistakes.
            Alpha::Third => (0.5 * ((1.0 + grades.r) / (1.0 - grades.r)).ln()).min(most),
            Alpha::Exact => {
                PairLoss::new(groups, &grades.of_group, 1.0 / self.n_pairs).minimum(most)
            }
        };
        Some(RoundValues {
            values: grades.of_group.iter().map(|grade| alpha * grade).collect(),
            // The middle grade, since nothing is known of rows with a missing value (DECISIONS K3).
            unseen: 0.5 * alpha,
            is_last: grades.separate,
        })
    }
}

/// A ranking as a function of a row with values from 0 to 1.
///
/// The grade of a group is its mid-rank under the distribution of the round, 1/2 D+ + 1/2 D-: the
/// mass below the group plus half of its own, rescaled so that the lowest group has grade 0 and the
/// highest 1. Two groups thus have grades 0 and 1, a stump. Before rescaling, `r` is the AUC less
/// one half.
#[derive(Debug)]
struct Grades {
    of_group: Vec<f64>,
    /// Mean grade of the positive rows less that of the negative rows; above 0.
    r: f64,
    /// Whether every positive row ranks above every negative one.
    separate: bool,
}

impl Grades {
    /// The grades of groups in ascending order; `None` if `r` is not positive.
    fn of(groups: &[ClassMasses]) -> Option<Self> {
        let total: ClassMasses = groups.iter().copied().sum();
        let area = ClassMasses::area(groups.iter().copied());
        if area <= 0 {
            return None;
        }
        // Twice the mid-ranks in each class, as integers.
        let (mut twice, mut below) = (Vec::new(), ClassMasses::default());
        for group in groups {
            twice.push((2 * below.pos + group.pos, 2 * below.neg + group.neg));
            below += *group;
        }
        let (n_pos, n_neg) = (total.pos as f64, total.neg as f64);
        let first = twice[0];
        // Four times the mid-rank, relative to the lowest.
        let rank = |(pos, neg): (u64, u64)| {
            (pos - first.0) as f64 / n_pos + (neg - first.1) as f64 / n_neg
        };
        let highest = rank(twice[twice.len() - 1]);
        let r = 2.0 * area as f64 / (n_pos * n_neg) / highest;
        Some(Self {
            of_group: twice.into_iter().map(|twice| rank(twice) / highest).collect(),
            r: r.min(1.0),
            separate: area == i128::from(total.pos) * i128::from(total.neg),
        })
    }
}

/// The pair loss of a ranking as a function of its value `alpha`: the mean over pairs of
/// `exp(alpha (grade of the negative - grade of the positive))`, plus `smoothing` times the terms
/// of the best and of the worst ranked pair.
struct PairLoss {
    /// Grade, share of the positives, share of the negatives.
    groups: Vec<(f64, f64, f64)>,
    smoothing: f64,
}

impl PairLoss {
    fn new(groups: &[ClassMasses], grades: &[f64], smoothing: f64) -> Self {
        let total: ClassMasses = groups.iter().copied().sum();
        let share = |part: u64, whole: u64| part as f64 / whole as f64;
        let groups = groups
            .iter()
            .zip(grades)
            .map(|(group, &grade)| {
                (grade, share(group.pos, total.pos), share(group.neg, total.neg))
            })
            .collect();
        Self { groups, smoothing }
    }

    /// First and second derivative.
    fn derivatives(&self, alpha: f64) -> (f64, f64) {
        // The loss is a product of one mean per class; moments of both.
        let (mut pos, mut neg) = ([0.0; 3], [0.0; 3]);
        for &(grade, p, n) in &self.groups {
            let factor = (alpha * grade).exp();
            let (mut p, mut n) = (p / factor, n * factor);
            for moment in 0..3 {
                pos[moment] += p;
                neg[moment] += n;
                (p, n) = (-grade * p, grade * n);
            }
        }
        let smooth = 2.0 * self.smoothing;
        (
            pos[1] * neg[0] + pos[0] * neg[1] + smooth * alpha.sinh(),
            pos[2] * neg[0] + 2.0 * pos[1] * neg[1] + pos[0] * neg[2] + smooth * alpha.cosh(),
        )
    }

    /// The minimiser of the loss in [0, `most`]. The loss decreases at 0.
    fn minimum(&self, most: f64) -> f64 {
        // Two grades, as of a stump: the second method of the paper, in closed form.
        if let [(_, low_pos, low_neg), (_, high_pos, high_neg)] = self.groups[..] {
            let (right, wrong) = (high_pos * low_neg, low_pos * high_neg);
            return (0.5 * ((right + self.smoothing) / (wrong + self.smoothing)).ln()).min(most);
        }
        if self.derivatives(most).0 <= 0.0 {
            return most;
        }
        // The loss is convex: Newton's method, safeguarded by shrinking bounds.
        let (mut low, mut high, mut alpha) = (0.0, most, 0.5 * most);
        for _ in 0..MOST_STEPS {
            let (slope, curvature) = self.derivatives(alpha);
            if slope < 0.0 {
                low = alpha;
            } else {
                high = alpha;
            }
            let newton = alpha - slope / curvature;
            let next =
                if low < newton && newton < high { newton } else { f64::midpoint(low, high) };
            if (next - alpha).abs() <= 1e-14 * next {
                return next;
            }
            alpha = next;
        }
        alpha
    }
}

/// Fits `RankBoost`.
///
/// The categories of rows elsewhere must be coded without shrinkage ([`LevelRates::Raw`]). A holder
/// keeps a factor of 8 bytes for each row. Scores of held-out rows are sent after each round, each
/// distinct score with its weights.
///
/// [`LevelRates::Raw`]: crate::data::LevelRates::Raw
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, or when interrupted, and errors of
/// external rankers. `external` fits
/// [`WeakRankerParams::External`](super::WeakRankerParams::External). For rows elsewhere,
/// [`RankError::BadParameter`] also for what needs more than sums: weak rankers of more than one
/// feature, `subsample` and `max_fpr` below 1, and extras. Errors of the holder of the rows.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{FitExtras, RankBoostParams, RoundParams, fit_rank_boost};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let rounds = RoundParams { n_rounds: 3, ..RoundParams::default() };
/// let params = RankBoostParams { rounds, ..RankBoostParams::default() };
/// let extras = FitExtras::default();
/// let model = fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// assert_eq!(model.terms().len(), 3);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_rank_boost<'a>(
    rows: impl Into<TrainingRows<'a>>,
    params: &RankBoostParams,
    given: &FitExtras<'_>,
    interrupt: &Interrupt,
) -> Result<BoostedModel, RankError> {
    let rule = |class_rows| PairRule::new(params, class_rows);
    match rows.into() {
        TrainingRows::Memory(columns, labels) => {
            let rule = rule(labels.class_rows());
            boost(columns, labels, &params.rounds, &rule, given, interrupt)
        }
        TrainingRows::Elsewhere(rows) => {
            given.check_elsewhere()?;
            boost_rows(rows, &params.rounds, rule, interrupt)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn masses(groups: &[(u64, u64)]) -> Vec<ClassMasses> {
        groups.iter().map(|&(pos, neg)| ClassMasses { pos, neg }).collect()
    }

    /// Random rankings better than chance.
    fn rankings(n_groups: usize) -> impl Iterator<Item = Vec<ClassMasses>> {
        (0..20_u64).map(move |seed| {
            let mass =
                |group: usize, class: u64| 1 + mix(seed ^ mix(group as u64 ^ class << 32)) % 50;
            (0..n_groups)
                .map(|group| ClassMasses {
                    pos: mass(group, 0) * (group as u64 + 1),
                    neg: mass(group, 1) * (2 * n_groups - group) as u64,
                })
                .collect()
        })
    }

    /// The plain definition, pair by pair.
    fn pair_loss(groups: &[ClassMasses], grades: &[f64], alpha: f64) -> f64 {
        let (mut loss, mut mass) = (0.0, 0.0);
        for (positive, high) in groups.iter().zip(grades) {
            for (negative, low) in groups.iter().zip(grades) {
                let pairs = positive.pos as f64 * negative.neg as f64;
                loss += pairs * (alpha * (low - high)).exp();
                mass += pairs;
            }
        }
        loss / mass
    }

    fn rule(alpha: Alpha) -> PairRule {
        PairRule { alpha, max_fpr: 1.0, n_pairs: 1e4 }
    }

    #[test]
    fn grades_are_stretched_mid_ranks_and_r_is_the_mean_difference_of_a_pair() {
        for groups in rankings(2).chain(rankings(3)).chain(rankings(9)) {
            let total: ClassMasses = groups.iter().copied().sum();
            let mut below = ClassMasses::default();
            let ranks: Vec<f64> = groups
                .iter()
                .map(|group| {
                    let pos = (below.pos as f64 + 0.5 * group.pos as f64) / total.pos as f64;
                    let neg = (below.neg as f64 + 0.5 * group.neg as f64) / total.neg as f64;
                    below += *group;
                    0.5 * (pos + neg)
                })
                .collect();
            let (first, last) = (ranks[0], ranks[ranks.len() - 1]);
            let expected: Vec<f64> =
                ranks.iter().map(|rank| (rank - first) / (last - first)).collect();
            let (mut r, mut mass) = (0.0, 0.0);
            for (positive, high) in groups.iter().zip(&expected) {
                for (negative, low) in groups.iter().zip(&expected) {
                    let pairs = positive.pos as f64 * negative.neg as f64;
                    r += pairs * (high - low);
                    mass += pairs;
                }
            }
            let found = Grades::of(&groups);
            if r <= 0.0 {
                assert!(found.is_none());
                continue;
            }
            let found = found.unwrap();
            assert!((found.r - r / mass).abs() < 1e-14);
            for (found, expected) in found.of_group.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_stump_has_grades_0_and_1_and_r_is_the_gap_of_the_rates() {
        let grades = Grades::of(&masses(&[(1, 3), (3, 1)])).unwrap();
        assert_eq!((grades.of_group, grades.r), (vec![0.0, 1.0], 0.5));
        let found = rule(Alpha::Third).values(&masses(&[(1, 3), (3, 1)]), 8).unwrap();
        assert_eq!(found.values, [0.0, 0.5 * 3.0_f64.ln()]);
        assert_eq!((found.unseen, found.is_last), (0.25 * 3.0_f64.ln(), false));
    }

    #[test]
    fn a_ranking_no_better_than_chance_has_no_value() {
        for groups in
            [&[(3, 3)][..], &[(3, 1), (1, 3)], &[(2, 4), (1, 2)], &[(0, 1), (2, 0), (0, 1)]]
        {
            assert_eq!(rule(Alpha::Third).values(&masses(groups), 8), None);
            assert_eq!(rule(Alpha::Exact).values(&masses(groups), 8), None);
        }
    }

    #[test]
    fn a_ranking_without_mistakes_is_the_last_and_has_a_finite_value() {
        let most = 0.5 * 16_f64.ln();
        for alpha in [Alpha::Third, Alpha::Exact] {
            let found = rule(alpha).values(&masses(&[(0, 4), (4, 0)]), 8).unwrap();
            assert_eq!((found.values, found.is_last), (vec![0.0, most], true));
            let found = rule(alpha).values(&masses(&[(0, 1), (0, 3), (2, 0), (2, 0)]), 8).unwrap();
            assert!(found.is_last && found.values[3] <= most && found.values[3] > 0.5);
            // A tie between the classes is a mistake.
            let found = rule(alpha).values(&masses(&[(0, 4), (1, 1), (4, 0)]), 8).unwrap();
            assert!(!found.is_last);
        }
    }

    #[test]
    fn the_exact_value_has_the_least_pair_loss() {
        for groups in rankings(2).chain(rankings(3)).chain(rankings(9)) {
            let Some(grades) = Grades::of(&groups) else { continue };
            let smoothing = 1e-4;
            let loss = |alpha: f64| {
                pair_loss(&groups, &grades.of_group, alpha) + 2.0 * smoothing * alpha.cosh()
            };
            let found = rule(Alpha::Exact).values(&groups, 1000).unwrap();
            let alpha = found.values[groups.len() - 1];
            // Values determine a minimum to half of the digits only.
            for step in [1e-6, 1e-3, 0.1] {
                assert!(loss(alpha) < loss(alpha - step), "{groups:?}");
                assert!(loss(alpha) < loss(alpha + step), "{groups:?}");
            }
            let third = rule(Alpha::Third).values(&groups, 1000).unwrap().values[groups.len() - 1];
            assert!(loss(alpha) <= loss(third));
            // The bound of the third method.
            let bound = (1.0 - grades.r * grades.r).sqrt();
            assert!(pair_loss(&groups, &grades.of_group, third) <= bound + 1e-15);
        }
    }

    #[test]
    fn the_closed_form_of_a_stump_has_zero_slope() {
        for groups in rankings(2) {
            let Some(grades) = Grades::of(&groups) else { continue };
            let loss = PairLoss::new(&groups, &grades.of_group, 1e-3);
            assert!(loss.derivatives(loss.minimum(10.0)).0.abs() < 1e-14);
        }
    }
}
