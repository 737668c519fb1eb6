//! Scorecards: integer points for the bins of each feature, which can be added up by hand.

use serde::{Deserialize, Serialize};

use super::bins::{BinSum, ValuedBins};
use super::bins::{check_total, gini};
use super::point_counts::{DriftCounts, count_points};
use crate::RankError;
use crate::data::{Bins, ClassSums, Columns, Lookups, NewRows, logistic, sum_checked};
use crate::formula::Formula;

/// Bound on the absolute points of a row, so that sums are exact in doubles.
pub(super) const MOST_POINTS: i64 = 1_000_000_000;

/// The class that high points indicate.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{HighPoints, ScorecardParams, build_scorecard};
/// use aucrank::data::{Columns, FeatureTerm, Labels, FeatureSteps};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1)?;
/// let labels = Labels::new(&[false, false, true, false, true, true], None)?;
/// let steps = FeatureSteps::Numeric { thresholds: vec![3.5], values: vec![-1.0, 1.0] };
/// let terms = [FeatureTerm { feature: 0, steps, missing: 0.0 }];
/// let scores = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
///
/// let params = ScorecardParams { high_points: HighPoints::Negative, ..Default::default() };
/// let card =
///     build_scorecard((&columns, &labels, &scores[..]), &terms, &params, &Interrupt::default())?;
/// let points = card.points(&columns)?;
/// assert!(points[0] > points[5]);
/// // Scores are higher for the positive class all the same.
/// let scores = card.score(&columns)?;
/// assert!(scores[0] < 0.0 && scores[5] > 0.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HighPoints {
    /// The positive class.
    Positive,
    /// The negative class, as in banks whose positive class is default.
    Negative,
}

impl HighPoints {
    /// 1 for the positive class, -1 for the negative one.
    #[must_use]
    pub fn sign(self) -> f64 {
        match self {
            Self::Positive => 1.0,
            Self::Negative => -1.0,
        }
    }
}

/// A feature of a scorecard.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{ScorecardParams, build_scorecard};
/// use aucrank::data::{ClassSums, Columns, FeatureTerm, Labels, FeatureSteps};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1)?;
/// let labels = Labels::new(&[false, false, true, false, true, true], None)?;
/// let steps = FeatureSteps::Numeric { thresholds: vec![3.5], values: vec![-1.0, 1.0] };
/// let terms = [FeatureTerm { feature: 0, steps, missing: 0.0 }];
/// let scores = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
/// let (params, interrupt) = (ScorecardParams::default(), Interrupt::default());
/// let card = build_scorecard((&columns, &labels, &scores[..]), &terms, &params, &interrupt)?;
///
/// let feature = &card.features()[0];
/// assert_eq!(feature.sums[0], ClassSums { pos: 1, neg: 2, rows: 3 });
/// assert_eq!(feature.values, [-1.0, 1.0, 0.0]);
/// let [low, high, missing] = feature.points[..] else { unreachable!("there are two bins") };
/// assert!(low == 0 && low < missing && missing < high);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardFeature {
    /// The feature.
    pub feature: usize,
    /// Its bins.
    pub bins: Bins,
    /// The training rows in each bin, those with a missing value last.
    pub sums: Vec<ClassSums>,
    /// Contribution of each bin to the score of the ranker that the card approximates: the mean
    /// over the training rows of the bin of its step function.
    pub values: Vec<f64>,
    /// Points of each bin, the lowest 0.
    pub points: Vec<i64>,
}

impl CardFeature {
    /// AUC of the training rows by the points of this feature alone, oriented towards the positive
    /// class.
    fn auc(&self, high_points: HighPoints) -> f64 {
        let groups = self.points.iter().copied().zip(self.sums.iter().copied()).collect();
        auc_by_points(groups, high_points)
    }

    fn most_points(&self) -> i64 {
        self.points.iter().copied().max().unwrap_or(0)
    }

    fn check(&self, n_levels: &[Option<u32>], total: ClassSums) -> Result<(), String> {
        let Some(&n_levels) = n_levels.get(self.feature) else {
            return Err(format!("there is no feature {}", self.feature));
        };
        self.bins.check(n_levels)?;
        let n_bins = self.bins.n_bins();
        let lengths = [self.sums.len(), self.values.len(), self.points.len()];
        if lengths.iter().any(|&length| length.checked_sub(1) != Some(n_bins)) {
            return Err("a feature has not one entry for each bin".to_owned());
        }
        if !self.values.iter().all(|value| value.is_finite()) {
            return Err("the value of a bin is not finite".to_owned());
        }
        if !self.points.iter().all(|points| (0..=MOST_POINTS).contains(points)) {
            return Err(format!("points are not from 0 to {MOST_POINTS}"));
        }
        if sum_checked(&self.sums) != Some(total) {
            return Err("the rows of the bins are not the training rows".to_owned());
        }
        Ok(())
    }
}

/// A scorecard.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{RimarcParams, ScorecardParams, build_scorecard, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let interrupt = Interrupt::default();
/// let ranker = fit_rimarc((&columns, &labels), &RimarcParams::default(), &interrupt)?;
/// let (terms, scores) = (ranker.terms(), ranker.score(&columns)?);
/// let params = ScorecardParams::default();
/// let card = build_scorecard((&columns, &labels, &scores[..]), &terms, &params, &interrupt)?;
///
/// // Of four pairs three are won and one is tied, by the ranker and by its card.
/// assert_eq!((card.ranker_auc(), card.auc()), (0.875, 0.875));
/// let (points, parts) = (card.points(&columns)?, card.explain(&columns)?);
/// assert_eq!(points[3], card.initial_points() + parts[3] as i64);
/// assert_eq!((points[0], points[3]), card.points_range());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scorecard {
    pub(super) n_levels: Vec<Option<u32>>,
    /// Class sums of the training rows.
    pub(super) total: ClassSums,
    /// Binary exponent of the unit of their weight.
    pub(super) exponent: i32,
    /// The features that have points, in order.
    pub(super) features: Vec<CardFeature>,
    pub(super) initial_points: i64,
    /// Points at even odds.
    pub(super) offset: f64,
    /// Points that multiply the odds by `e`.
    pub(super) factor: f64,
    pub(super) high_points: HighPoints,
    /// The training rows by their points, ascending.
    pub(super) distribution: Vec<(i64, ClassSums)>,
    /// AUC of the training rows by the ranker that the card approximates.
    pub(super) ranker_auc: f64,
    /// AUC of the training rows by its values in the bins of the card, before rounding to points; of
    /// a searched score, the largest AUC that its lines allow.
    pub(super) exact_auc: f64,
}

impl Scorecard {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// The features that have points, in order.
    #[must_use]
    pub fn features(&self) -> &[CardFeature] {
        &self.features
    }

    /// Class sums of the training rows.
    #[must_use]
    pub fn total(&self) -> ClassSums {
        self.total
    }

    /// Binary exponent of the unit of class weight.
    #[must_use]
    pub fn exponent(&self) -> i32 {
        self.exponent
    }

    /// Points that every row starts with.
    #[must_use]
    pub fn initial_points(&self) -> i64 {
        self.initial_points
    }

    /// The fewest and the most points that a row can have.
    #[must_use]
    pub fn points_range(&self) -> (i64, i64) {
        let most: i64 = self.features.iter().map(CardFeature::most_points).sum();
        (self.initial_points, self.initial_points + most)
    }

    /// The class that high points indicate.
    #[must_use]
    pub fn high_points(&self) -> HighPoints {
        self.high_points
    }

    /// The training rows by their points, ascending.
    #[must_use]
    pub fn distribution(&self) -> &[(i64, ClassSums)] {
        &self.distribution
    }

    /// AUC of the training rows by the ranker that the card approximates.
    #[must_use]
    pub fn ranker_auc(&self) -> f64 {
        self.ranker_auc
    }

    /// AUC of the training rows by the ranker's values in the bins of the card, before rounding to
    /// points. Of a score that was searched, not taken from a ranker, the largest AUC that any
    /// function of its lines has.
    #[must_use]
    pub fn exact_auc(&self) -> f64 {
        self.exact_auc
    }

    /// AUC of the training rows by their points.
    #[must_use]
    pub fn auc(&self) -> f64 {
        auc_by_points(self.distribution.clone(), self.high_points)
    }

    /// For each feature of the data the AUC of the training rows by its points alone, less 1/2; 0
    /// if it ranks no better than chance, or is not on the card.
    #[must_use]
    pub fn importances(&self) -> Vec<f64> {
        let mut importances = vec![0.0; self.n_levels.len()];
        for card in &self.features {
            importances[card.feature] = (card.auc(self.high_points) - 0.5).max(0.0);
        }
        importances
    }

    /// Points of each row.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn points(&self, columns: &Columns<'_>) -> Result<Vec<i64>, RankError> {
        let points = self.of_points(columns, |points| points)?;
        Ok(points.into_iter().map(|points| points as i64).collect())
    }

    /// The points of a row as a sum of those of its bins.
    pub(super) fn points_sum(&self) -> BinSum {
        let of_feature = |card: &CardFeature| ValuedBins {
            feature: card.feature,
            bins: card.bins.clone(),
            values: card.points.iter().map(|&points| points as f64).collect(),
        };
        BinSum {
            n_levels: self.n_levels.clone(),
            initial: self.initial_points as f64,
            features: self.features.iter().map(of_feature).collect(),
        }
    }

    /// A function of the points of each row.
    fn of_points(
        &self,
        columns: &Columns<'_>,
        of: impl Fn(f64) -> f64 + Sync,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let mut out = vec![0.0; columns.n_rows()];
        self.lookups().by_tile(columns, &mut out, 1, |(): &mut (), of_feature, out| {
            out.fill(self.initial_points as f64);
            for (card, bins) in self.features.iter().zip(of_feature) {
                for (out, &bin) in out.iter_mut().zip(bins) {
                    *out += card.points[bin as usize] as f64;
                }
            }
            for out in out {
                *out = of(*out);
            }
        })?;
        Ok(out)
    }

    fn lookups(&self) -> Lookups<'_> {
        Lookups::new(self.features.iter().map(|card| (card.feature, &card.bins)))
    }

    /// Points of each feature for each row, row by row; 0 for a feature that is not on the card.
    /// They add up to the points of the row less the initial points.
    ///
    /// # Errors
    ///
    /// As [`Scorecard::points`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let n_features = self.n_levels.len();
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        self.lookups().by_tile(
            columns,
            &mut parts,
            n_features,
            |(): &mut (), of_feature, parts| {
                for (card, bins) in self.features.iter().zip(of_feature) {
                    let places = parts[card.feature..].iter_mut().step_by(n_features);
                    for (part, &bin) in places.zip(bins) {
                        *part = card.points[bin as usize] as f64;
                    }
                }
            },
        )?;
        Ok(parts)
    }

    /// Counts of new rows by bin and by points.
    ///
    /// # Errors
    ///
    /// As [`Scorecard::points`], or if lengths differ.
    pub fn drift(
        &self,
        columns: &Columns<'_>,
        rows: &NewRows<'_>,
    ) -> Result<DriftCounts, RankError> {
        rows.check_length(columns)?;
        let points = self.points(columns)?;
        let features = self.lookups().count(columns, rows)?;
        let distribution = count_points(&points, rows);
        let total = distribution.iter().map(|&(_, sums)| sums).sum();
        Ok(DriftCounts { exponent: rows.exponent(), total, features, distribution })
    }

    /// Log-odds of the positive class at the given points.
    #[must_use]
    pub fn log_odds(&self, points: f64) -> f64 {
        self.high_points.sign() * ((points - self.offset) / self.factor)
    }

    /// Log-odds of the positive class of each row, from its points.
    ///
    /// # Errors
    ///
    /// As [`Scorecard::points`].
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        self.of_points(columns, |points| self.log_odds(points))
    }

    /// Probability of the positive class of each row, from its points: above 1/2 exactly when
    /// [`Scorecard::score`] is above 0.
    ///
    /// # Errors
    ///
    /// As [`Scorecard::points`].
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        self.of_points(columns, |points| logistic(self.log_odds(points)))
    }

    /// Whether the points of the rows add up to those of their bins, in each class.
    pub(super) fn points_add_up(&self) -> bool {
        let counts = |sums: ClassSums| [sums.pos, sums.neg, sums.rows].map(i128::from);
        let mut left = counts(self.total).map(|all| all * i128::from(self.initial_points));
        let of_bins = self.features.iter().flat_map(|card| card.points.iter().zip(&card.sums));
        for (&points, &sums) in of_bins {
            left.iter_mut().zip(counts(sums)).for_each(|(l, n)| *l += n * i128::from(points));
        }
        for &(points, sums) in &self.distribution {
            left.iter_mut().zip(counts(sums)).for_each(|(l, n)| *l -= n * i128::from(points));
        }
        let by_points: ClassSums = self.distribution.iter().map(|&(_, sums)| sums).sum();
        left == [0; 3] && by_points == self.total
    }

    /// Checks the consistency of a card read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let total = self.total;
        check_total(total, self.exponent)?;
        if !(self.offset.is_finite() && self.factor.is_finite() && self.factor > 0.0) {
            return Err("the scale of the points is not finite and positive".to_owned());
        }
        if ![self.ranker_auc, self.exact_auc].iter().all(|auc| (0.0..=1.0).contains(auc)) {
            return Err("an AUC is not from 0 to 1".to_owned());
        }
        if !self.features.windows(2).all(|pair| pair[0].feature < pair[1].feature) {
            return Err("the features of the card do not ascend".to_owned());
        }
        for card in &self.features {
            let named = |err| format!("feature {} of the card: {err}", card.feature);
            card.check(&self.n_levels, total).map_err(named)?;
        }
        // Each is bounded by now, and there are fewer than 2^32 of them.
        let most: i64 = self.features.iter().map(CardFeature::most_points).sum();
        let fits = |points: i64| (-MOST_POINTS..=MOST_POINTS).contains(&points);
        if !(fits(self.initial_points) && fits(most) && fits(self.initial_points + most)) {
            return Err(format!("a row may have more than {MOST_POINTS} points"));
        }
        let (low, high) = self.points_range();
        if ![low, high].iter().all(|&points| self.log_odds(points as f64).is_finite()) {
            return Err("the scale of the points is too fine for log-odds to be numbers".to_owned());
        }
        if !self.distribution.windows(2).all(|pair| pair[0].0 < pair[1].0)
            || !self.distribution.iter().all(|(points, _)| (low..=high).contains(points))
        {
            return Err("the points of the training rows do not ascend within their range".into());
        }
        let by_points: Vec<ClassSums> = self.distribution.iter().map(|&(_, sums)| sums).collect();
        if sum_checked(&by_points) != Some(total) {
            return Err("the rows by their points are not the training rows".to_owned());
        }
        Ok(())
    }
}

/// AUC of groups of rows by their points.
fn auc_by_points(mut groups: Vec<(i64, ClassSums)>, high_points: HighPoints) -> f64 {
    groups.sort_unstable_by_key(|&(points, _)| match high_points {
        HighPoints::Positive => points,
        HighPoints::Negative => -points,
    });
    let tied = groups.chunk_by(|a, b| a.0 == b.0);
    f64::midpoint(1.0, gini(tied.map(|tied| tied.iter().map(|&(_, sums)| sums).sum()).collect()))
}

impl Scorecard {
    /// The points of a row.
    #[must_use]
    pub fn points_formula(&self) -> Formula {
        self.points_sum().formula()
    }

    /// Its score: the log-odds for the points of a row.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let points = self.points_sum();
        let above_offset = points.parts().chain([Formula::Constant(-self.offset)]);
        Formula::Product {
            factor: self.high_points().sign(),
            of: Box::new(Formula::Quotient {
                numerator: Box::new(Formula::Sum(above_offset.collect())),
                denominator: Box::new(Formula::Constant(self.factor)),
                otherwise: 0.0,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn card() -> Value {
        json!({
            "n_levels": [null, 3, null],
            "total": {"pos": 4, "neg": 6, "rows": 10},
            "exponent": 0,
            "features": [
                {
                    "feature": 0,
                    "bins": {"numeric": {"cuts": [0.5, 2.0], "special": [-1.0]}},
                    "sums": [
                        {"pos": 1, "neg": 3, "rows": 4}, {"pos": 1, "neg": 1, "rows": 2},
                        {"pos": 2, "neg": 0, "rows": 2}, {"pos": 0, "neg": 1, "rows": 1},
                        {"pos": 0, "neg": 1, "rows": 1},
                    ],
                    "values": [0.1, 0.2, 0.4, 0.0, 0.1],
                    "points": [12, 20, 40, 0, 12],
                },
                {
                    "feature": 1,
                    "bins": {"categorical": {"bin_of_level": [1, 0, 2], "n_bins": 2}},
                    "sums": [
                        {"pos": 1, "neg": 5, "rows": 6}, {"pos": 3, "neg": 1, "rows": 4},
                        {"pos": 0, "neg": 0, "rows": 0},
                    ],
                    "values": [0.1, 0.3, 0.2],
                    "points": [0, 25, 13],
                },
            ],
            "initial_points": 570,
            "offset": 600.0,
            "factor": 28.85,
            "high_points": "positive",
            "distribution": [
                [570, {"pos": 0, "neg": 4, "rows": 4}], [590, {"pos": 1, "neg": 2, "rows": 3}],
                [635, {"pos": 3, "neg": 0, "rows": 3}],
            ],
            "ranker_auc": 0.9,
            "exact_auc": 0.9,
        })
    }

    fn read(card: Value) -> Scorecard {
        serde_json::from_value(card).unwrap()
    }

    #[test]
    fn points_are_those_of_the_bins_and_add_up() {
        let card = read(card());
        card.check().unwrap();
        assert_eq!(card.points_range(), (570, 635));
        let codes = [0, 1, 2, u32::MAX, 7];
        let first = [0.5, 0.4, -1.0, f64::NAN, 9.0];
        let second = [0.0; 5];
        let columns = vec![
            first[..].into(),
            crate::data::Column::Codes { codes: &codes, n_levels: 3 },
            second[..].into(),
        ];
        let columns = Columns::new(columns, 5).unwrap();
        let points = card.points(&columns).unwrap();
        let expected = [20 + 25, 12, 13, 12 + 13, 40 + 13].map(|points| 570 + points);
        assert_eq!(points, expected);
        let parts = card.explain(&columns).unwrap();
        for (parts, points) in parts.chunks(3).zip(points) {
            assert_eq!(570 + parts.iter().sum::<f64>() as i64, points);
        }
    }

    #[test]
    fn the_auc_is_that_of_the_pairs_by_points() {
        let mut card = read(card());
        // Of 24 pairs: three positives beat all; one beats four negatives and ties with two.
        assert!((card.auc() - (3.0 * 6.0 + 4.0 + 1.0) / 24.0).abs() < 1e-15);
        card.high_points = HighPoints::Negative;
        assert!((card.auc() - 1.0 / 24.0).abs() < 1e-15);
    }

    #[test]
    fn a_probability_is_above_one_half_if_the_score_is_above_0() {
        for x in [1e-300, 1e-17, 1e-16, 1e-9, 1.0, 40.0, 800.0, f64::MAX] {
            assert!(logistic(x) > 0.5 && logistic(x) <= 1.0, "{x}");
            assert!(logistic(-x) <= 0.5 && logistic(-x) >= 0.0, "{x}");
        }
        assert!(logistic(0.0) <= 0.5 && logistic(-0.0) <= 0.5);
    }

    #[test]
    fn a_forged_card_is_refused_with_a_message() {
        read(card()).check().unwrap();
        let big = u64::MAX;
        let forgeries: Vec<(&str, Value, &str)> = vec![
            ("/total/pos", json!(0), "lack a class"),
            ("/total/neg", json!(big), "weigh too much"),
            ("/exponent", json!(i32::MIN), "in units of"),
            ("/offset", json!(1e308), ""),
            ("/factor", json!(0.0), "scale"),
            ("/factor", json!(-1.0), "scale"),
            ("/factor", json!(5e-324), "too fine"),
            ("/factor", json!(1e-307), "too fine"),
            ("/exact_auc", json!(1.5), "AUC"),
            ("/ranker_auc", json!(-0.5), "AUC"),
            ("/features/1/feature", json!(0), "ascend"),
            ("/features/1/feature", json!(3), "no feature 3"),
            ("/features/1/feature", json!(2), "for a numeric feature"),
            ("/n_levels", json!([3, 3, null]), "for a categorical feature"),
            ("/n_levels", json!([]), "no feature 0"),
            ("/n_levels/1", json!(4), "bins of 3 categories, expected 4"),
            ("/features/1/bins/categorical/bin_of_level/0", json!(3), "is in bin 3 of 2"),
            ("/features/1/bins/categorical/n_bins", json!(big), "bins of 3 categories"),
            ("/features/1/bins/categorical/n_bins", json!(3), "one entry for each bin"),
            ("/features/0/bins/numeric/cuts", json!([2.0, 0.5]), "ascending"),
            ("/features/0/bins/numeric/cuts", json!([2.0, 2.0]), "ascending"),
            ("/features/0/bins/numeric/special", json!([-1.0, -1.0]), "occurs twice"),
            ("/features/0/bins/numeric/special", json!([0.0, 7.0, -0.0]), "occurs twice"),
            ("/features/0/bins/numeric/special", json!([]), "one entry for each bin"),
            ("/features/0/sums", json!([]), "one entry for each bin"),
            ("/features/0/values", json!([0.0]), "one entry for each bin"),
            ("/features/0/points", json!([0]), "one entry for each bin"),
            ("/features/0/points/0", json!(-1), "points are not from 0"),
            ("/features/0/points/0", json!(i64::MAX), "points are not from 0"),
            ("/features/0/sums/0/pos", json!(2), "not the training rows"),
            ("/features/0/sums/0/pos", json!(big), "not the training rows"),
            ("/features/0/sums/0/rows", json!(big), "not the training rows"),
            ("/initial_points", json!(i64::MIN), "more than"),
            ("/initial_points", json!(i64::MAX), "more than"),
            ("/initial_points", json!(580), "within their range"),
            ("/features/0/points/2", json!(MOST_POINTS), "more than"),
            ("/distribution/0/0", json!(600), "ascend"),
            ("/distribution/2/0", json!(636), "within their range"),
            ("/distribution/0/1/neg", json!(5), "by their points"),
            ("/distribution/0/1/neg", json!(big), "by their points"),
            ("/distribution", json!([]), "by their points"),
        ];
        for (place, forged, message) in forgeries {
            let mut document = card();
            *document.pointer_mut(place).unwrap() = forged.clone();
            let checked = read(document).check();
            if message.is_empty() {
                checked.unwrap();
            } else {
                let err = checked.expect_err(place);
                assert!(err.contains(message), "{place} {forged}: {err}");
            }
        }
    }
}
