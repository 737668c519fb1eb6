//! Construction of a scorecard from the step functions of a ranker, on rows in memory or read in
//! passes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bins::{BinSum, ValuedBins, check_special};
use super::cut_search::{RawAsk, RawRows};
use super::draft::Draft;
use super::point_counts::PointCounts;
use super::scorecard::{HighPoints, MOST_POINTS, Scorecard};
use crate::data::{Bins, ClassSums, Columns, FeatureTerm, FixedScale, Labels, Lookups};
use crate::roc::{Line, RocState, curve_of};
use crate::{FitPart, Interrupt, RankError};

/// Rows that a scorecard is built from in passes, wherever they are.
///
/// One pass counts bins ([`RawRows::pass`]), each other pass one score of the rows. Weights are in
/// the unit of all rows ([`WeightRange::units_of_part`](crate::data::WeightRange::units_of_part)),
/// so that all sums are integers, and the order of the rows does not matter. A state may be in
/// files ([`RocState::spilling_to`]): no step of the construction loads it whole.
///
/// # Examples
///
/// Rows in two parts:
///
/// ```
/// use std::sync::Arc;
///
/// use aucrank::additive::{
///     BinSum, CardRows, PointCounts, RawAsk, RawRows, RawSums, ScorecardParams, build_scorecard,
/// };
/// use aucrank::data::{Batch, Columns, FeatureSteps, FeatureTerm, Labels, WeightRange};
/// use aucrank::roc::RocState;
/// use aucrank::{Interrupt, RankError};
///
/// struct TwoParts([(Vec<f64>, Vec<bool>); 2]);
///
/// impl RawRows for TwoParts {
///     fn n_levels(&self) -> &[Option<u32>] {
///         &[None]
///     }
///
///     fn weights(&self) -> Option<(WeightRange, u128)> {
///         None
///     }
///
///     fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError> {
///         let mut sums = RawSums::new(Arc::clone(ask));
///         for (values, positive) in &self.0 {
///             sums.add(&Batch::new(&Columns::from_row_major(values, 1)?, positive), interrupt)?;
///         }
///         Ok(sums)
///     }
/// }
///
/// impl CardRows for TwoParts {
///     fn ranker_scores(&self, _: &Interrupt) -> Result<RocState, RankError> {
///         let mut state = RocState::new(None, None)?;
///         for (values, positive) in &self.0 {
///             state.update(values, positive, None)?;
///         }
///         Ok(state)
///     }
///
///     fn scores(&self, of: &BinSum, _: &Interrupt) -> Result<RocState, RankError> {
///         let mut state = RocState::new(None, None)?;
///         for (values, positive) in &self.0 {
///             let scores = of.values(&Columns::from_row_major(values, 1)?)?;
///             state.update(&scores, positive, None)?;
///         }
///         Ok(state)
///     }
///
///     fn point_counts(&self, of: &BinSum, _: &Interrupt) -> Result<PointCounts, RankError> {
///         let mut counts = PointCounts::new(None);
///         for (values, positive) in &self.0 {
///             counts.add(&of.values(&Columns::from_row_major(values, 1)?)?, positive, None)?;
///         }
///         Ok(counts)
///     }
/// }
///
/// let parts = TwoParts([(vec![1.0, 4.0], vec![false, true]), (vec![2.0, 3.0], vec![true, false])]);
/// let steps = FeatureSteps::Numeric { thresholds: vec![1.5, 3.5], values: vec![0.0, 0.5, 1.0] };
/// let terms = [FeatureTerm { feature: 0, steps, missing: 0.5 }];
/// let (params, interrupt) = (ScorecardParams::default(), Interrupt::default());
/// let of_parts = build_scorecard(&parts, &terms, &params, &interrupt)?;
///
/// let scores = [1.0, 2.0, 3.0, 4.0];
/// let columns = Columns::from_row_major(&scores, 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let whole = build_scorecard((&columns, &labels, &scores[..]), &terms, &params, &interrupt)?;
/// assert_eq!(of_parts, whole);
/// # Ok::<(), RankError>(())
/// ```
pub trait CardRows: RawRows {
    /// The scores of all rows by the ranker that the card approximates.
    ///
    /// # Errors
    ///
    /// Errors of the holder, such as [`RankError::Storage`] or [`RankError::Interrupted`].
    fn ranker_scores(&self, interrupt: &Interrupt) -> Result<RocState, RankError>;

    /// The sums of all rows.
    ///
    /// # Errors
    ///
    /// As [`CardRows::ranker_scores`].
    fn scores(&self, of: &BinSum, interrupt: &Interrupt) -> Result<RocState, RankError>;

    /// All rows by their sums, which are integers.
    ///
    /// # Errors
    ///
    /// As [`CardRows::ranker_scores`].
    fn point_counts(&self, of: &BinSum, interrupt: &Interrupt) -> Result<PointCounts, RankError>;
}

/// Bound on the values of terms, so that their sums and squares are finite.
const MOST_VALUE: f64 = 1e100;

/// Lower bound on `pdo`: points are integers, so fewer per doubling are useless, and log-odds
/// overflow.
const LEAST_PDO: f64 = 1e-9;

/// How points are assigned.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{ScorecardParams, build_scorecard};
/// use aucrank::data::{Columns, FeatureTerm, Labels, FeatureSteps};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1)?;
/// let labels = Labels::new(&[false, false, true, false, true, true], None)?;
/// let steps = FeatureSteps::Numeric { thresholds: vec![3.5], values: vec![-1.0, 1.0] };
/// let terms = [FeatureTerm { feature: 0, steps, missing: 0.0 }];
/// let scores = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
///
/// // Even odds at 500 points, and 40 points more for twice the odds.
/// let params = ScorecardParams { base_points: 500.0, pdo: 40.0, ..ScorecardParams::default() };
/// let card =
///     build_scorecard((&columns, &labels, &scores[..]), &terms, &params, &Interrupt::default())?;
/// assert_eq!(card.log_odds(500.0), 0.0);
/// assert!((card.log_odds(540.0) - 2_f64.ln()).abs() < 1e-12);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScorecardParams {
    /// Points of a row whose odds are `base_odds`.
    pub base_points: f64,
    /// Odds of the class of high points. Positive.
    pub base_odds: f64,
    /// Points that double the odds. From 10^-9 to 10^9.
    pub pdo: f64,
    /// The class that high points indicate.
    pub high_points: HighPoints,
    /// For each feature whether, if it is a number, its points must be monotone; empty for none at
    /// all.
    pub monotone: Vec<bool>,
    /// Minimum share of all rows in a bin of known values, except for special values. In [0, 1).
    pub min_bin_share: f64,
    /// For each feature the special values, which have their own bins, ascending; empty for none at
    /// all.
    pub special: Vec<Vec<f64>>,
}

impl Default for ScorecardParams {
    /// 600 points for even odds, 20 more points for twice the odds of the positive class.
    fn default() -> Self {
        Self {
            base_points: 600.0,
            base_odds: 1.0,
            pdo: 20.0,
            high_points: HighPoints::Positive,
            monotone: Vec::new(),
            min_bin_share: 0.0,
            special: Vec::new(),
        }
    }
}

impl ScorecardParams {
    /// Checks the parameters for columns with these numbers of categories, `None` for a number.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`].
    pub fn validate(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        let most = MOST_POINTS as f64;
        if self.base_points.is_nan() || self.base_points.abs() > most {
            return Err(bad("base_points", &self.base_points, "from -10^9 to 10^9"));
        }
        if !(self.base_odds > 0.0 && self.base_odds.is_finite()) {
            return Err(bad("base_odds", &self.base_odds, "positive and finite"));
        }
        if !(LEAST_PDO..=most).contains(&self.pdo) {
            return Err(bad("pdo", &self.pdo, "from 10^-9 to 10^9"));
        }
        if !(0.0..1.0).contains(&self.min_bin_share) {
            return Err(bad("min_bin_share", &self.min_bin_share, "in [0, 1)"));
        }
        if ![0, n_levels.len()].contains(&self.monotone.len()) {
            let value = format!("a list of length {}", self.monotone.len());
            return Err(bad("monotone", &value, "empty, or one entry for each feature"));
        }
        check_special(&self.special, n_levels)?;
        for numbers in &self.special {
            if !numbers.is_sorted() {
                return Err(bad("special", &format!("{numbers:?}"), "ascending"));
            }
        }
        Ok(())
    }
}

fn bad(name: &'static str, value: &impl ToString, rule: &'static str) -> RankError {
    RankError::BadParameter { name, value: value.to_string(), rule }
}

/// Checks that these are step functions of the columns, at most one for each.
fn check_terms(terms: &[FeatureTerm], n_levels: &[Option<u32>]) -> Result<(), RankError> {
    let mut is_taken = vec![false; n_levels.len()];
    for term in terms {
        let refuse = |what: String| {
            bad("terms", &what, "step functions of the columns, at most one for each")
        };
        term.check(n_levels).map_err(refuse)?;
        if std::mem::replace(&mut is_taken[term.feature], true) {
            return Err(refuse(format!("a list with two of feature {}", term.feature)));
        }
        if let Some(value) = term
            .steps
            .values()
            .iter()
            .chain([&term.missing])
            .find(|value| value.is_nan() || value.abs() > MOST_VALUE)
        {
            return Err(bad("a value of terms", &value, "from -10^100 to 10^100"));
        }
    }
    Ok(())
}

/// Converts a sum of step functions, one for each feature, to points.
///
/// Steps are merged into bins: those with no or too few training rows, and on request those that
/// are not monotone. A maximum likelihood line of log-odds along the sum of the bins' values
/// converts each value to points: `pdo` of them double the odds, and they are rounded to integers,
/// the lowest of each feature 0. A feature whose points are all 0 is dropped from the card.
///
/// The AUC of the scores of the rows by the ranker of these terms is kept, to show the loss of the
/// card.
///
/// Rows elsewhere are read in four passes: for the scores of the ranker, the rows of each bin, the
/// sums of their values, and the points. Memory: the state of scores at the holder of the rows,
/// some 50 MB while the line is fitted, and the distinct points, which the card has anyway. None of
/// it grows with the rows.
///
/// # Errors
///
/// [`RankError`] for a parameter out of range, terms that are not of these columns, a category code
/// out of range, an infinite value, lengths that differ, a NaN score, or when interrupted; errors
/// of the holder of the rows, and if the rows differ between passes.
pub fn build_scorecard<'a>(
    rows: impl Into<RankedRows<'a>>,
    terms: &[FeatureTerm],
    params: &ScorecardParams,
    interrupt: &Interrupt,
) -> Result<Scorecard, RankError> {
    let (columns, labels, ranker_scores) = match rows.into() {
        RankedRows::Memory(columns, labels, scores) => (columns, labels, scores),
        RankedRows::Elsewhere(rows) => {
            let answers = InPasses { rows, interrupt };
            let card = build(rows.n_levels(), &answers, terms, params, interrupt)?;
            return if card.points_add_up() { Ok(card) } else { Err(RankError::PointsDiffer) };
        }
    };
    let columns = &columns.until(interrupt);
    for (name, found) in [("X", columns.n_rows()), ("ranker_scores", ranker_scores.len())] {
        let expected = labels.n_rows();
        if found != expected {
            return Err(RankError::LengthMismatch { name, found, expected });
        }
    }
    let rows = PointsInMemory { columns, labels, ranker_scores };
    let card = build(&columns.n_levels(), &rows, terms, params, interrupt)?;
    debug_assert_eq!(card.check(), Ok(()));
    Ok(card)
}

/// The rows of a card with the scores of its ranker: `(&columns, &labels, &scores)` in memory, or
/// [`CardRows`] elsewhere.
///
/// For an example see [`CardRows`].
#[derive(Clone, Copy)]
pub enum RankedRows<'a> {
    /// All rows in memory, each with its score by the ranker of the terms.
    Memory(&'a Columns<'a>, &'a Labels<'a>, &'a [f64]),
    /// Rows that are read in passes.
    Elsewhere(&'a dyn CardRows),
}

impl<'a> From<(&'a Columns<'_>, &'a Labels<'_>, &'a [f64])> for RankedRows<'a> {
    fn from((columns, labels, scores): (&'a Columns<'_>, &'a Labels<'_>, &'a [f64])) -> Self {
        Self::Memory(columns, labels, scores)
    }
}

impl<'a, R: CardRows> From<&'a R> for RankedRows<'a> {
    fn from(rows: &'a R) -> Self {
        Self::Elsewhere(rows)
    }
}

impl<'a> From<&'a dyn CardRows> for RankedRows<'a> {
    fn from(rows: &'a dyn CardRows) -> Self {
        Self::Elsewhere(rows)
    }
}

/// Questions to the rows of a card.
trait Answers {
    /// AUC of the ranker that the card approximates.
    fn ranker_auc(&self) -> Result<f64, RankError>;

    /// The rows in the bins of each draft.
    fn counts(&self, drafts: &[Draft]) -> Result<BinCounts, RankError>;

    /// AUC of a sum, and log-odds along it; given the numbers of negative and of positive rows.
    fn line(&self, of: &BinSum, class_rows: [u64; 2]) -> Result<(f64, Line), RankError>;

    /// The rows of positive weight by a sum of points, ascending.
    fn distribution(&self, of: &BinSum) -> Result<Vec<(i64, ClassSums)>, RankError>;
}

/// The rows in bins.
struct BinCounts {
    /// For each draft, rows with a missing value last.
    of_drafts: Vec<Vec<ClassSums>>,
    total: ClassSums,
    exponent: i32,
    /// Numbers of negative and positive rows.
    class_rows: [u64; 2],
}

struct PointsInMemory<'a> {
    columns: &'a Columns<'a>,
    labels: &'a Labels<'a>,
    ranker_scores: &'a [f64],
}

impl Answers for PointsInMemory<'_> {
    fn ranker_auc(&self) -> Result<f64, RankError> {
        Ok(curve_of(self.ranker_scores, self.labels)?.auc())
    }

    fn counts(&self, drafts: &[Draft]) -> Result<BinCounts, RankError> {
        let Self { columns, labels, .. } = self;
        for feature in drafts.iter().map(Draft::feature) {
            columns[feature].check_codes(feature)?;
        }
        let bins: Vec<Bins> = drafts.iter().map(Draft::bins).collect();
        let lookups = Lookups::new(drafts.iter().map(Draft::feature).zip(&bins));
        let of_drafts = lookups.count_labelled(columns, labels)?;
        let (total, exponent) = (labels.total(), labels.exponent());
        Ok(BinCounts { of_drafts, total, exponent, class_rows: labels.class_rows() })
    }

    fn line(&self, of: &BinSum, class_rows: [u64; 2]) -> Result<(f64, Line), RankError> {
        let curve = curve_of(&of.values(self.columns)?, self.labels)?;
        self.columns.check_interrupt()?;
        Ok((curve.auc(), Line::of_log_odds(&curve, class_rows)))
    }

    fn distribution(&self, of: &BinSum) -> Result<Vec<(i64, ClassSums)>, RankError> {
        Ok(PointCounts::of(&of.values(self.columns)?, self.labels).into_list())
    }
}

struct InPasses<'a> {
    rows: &'a dyn CardRows,
    interrupt: &'a Interrupt,
}

impl InPasses<'_> {
    fn done(&self, number: usize) -> Result<(), RankError> {
        let part = FitPart { unit: "pass", number, most: Some(4), figures: &[] };
        self.interrupt.part_done(&part)?;
        Ok(())
    }
}

impl Answers for InPasses<'_> {
    fn ranker_auc(&self) -> Result<f64, RankError> {
        let auc = self.rows.ranker_scores(self.interrupt)?.auc()?;
        self.done(1)?;
        Ok(auc)
    }

    fn counts(&self, drafts: &[Draft]) -> Result<BinCounts, RankError> {
        let weights = self.rows.weights();
        let bins = drafts.iter().map(|draft| (draft.feature(), draft.bins()));
        let ask = Arc::new(RawAsk::of_bins(self.rows.n_levels(), weights, bins));
        let sums = self.rows.pass(&ask, self.interrupt)?;
        self.done(2)?;
        let of_draft = |draft: &Draft| sums.of_bins(draft.feature()).to_vec();
        let exponent = weights.map_or(0, |(range, sum)| FixedScale::new(range, sum).exponent());
        Ok(BinCounts {
            of_drafts: drafts.iter().map(of_draft).collect(),
            total: sums.total(),
            exponent,
            class_rows: sums.class_rows,
        })
    }

    fn line(&self, of: &BinSum, class_rows: [u64; 2]) -> Result<(f64, Line), RankError> {
        let mut state = self.rows.scores(of, self.interrupt)?;
        let found = (state.auc()?, state.log_odds_line(class_rows)?);
        self.done(3)?;
        Ok(found)
    }

    fn distribution(&self, of: &BinSum) -> Result<Vec<(i64, ClassSums)>, RankError> {
        let counts = self.rows.point_counts(of, self.interrupt)?;
        self.done(4)?;
        Ok(counts.into_list())
    }
}

/// The card, from the answers of its rows.
fn build(
    n_levels: &[Option<u32>],
    rows: &impl Answers,
    terms: &[FeatureTerm],
    params: &ScorecardParams,
    interrupt: &Interrupt,
) -> Result<Scorecard, RankError> {
    params.validate(n_levels)?;
    check_terms(terms, n_levels)?;
    interrupt.check()?;
    let ranker_auc = rows.ranker_auc()?;
    interrupt.check()?;
    let mut drafts = drafts_of(n_levels, terms, params);
    let BinCounts { of_drafts, total, exponent, class_rows } = rows.counts(&drafts)?;
    for (draft, sums) in drafts.iter_mut().zip(of_drafts) {
        draft.count(&sums, total);
        if params.monotone.get(draft.feature()) == Some(&true) {
            draft.make_monotone();
        }
        draft.join_small(params.min_bin_share, total);
    }
    snap_values(&mut drafts);

    interrupt.check()?;
    let exact = exact_sum(n_levels, &drafts);
    let (exact_auc, Line { intercept, slope }) = rows.line(&exact, class_rows)?;

    let factor = params.pdo / std::f64::consts::LN_2;
    let offset = params.base_points - factor * params.base_odds.ln();
    let sign = params.high_points.sign();
    let mut initial = offset + sign * factor * intercept;
    let (mut features, mut most) = (Vec::with_capacity(drafts.len()), 0.0);
    for draft in drafts {
        let (card, lowest) = draft.finish(sign * factor * slope);
        initial += lowest;
        let highest = card.points.iter().copied().max().unwrap_or(0);
        most += highest as f64;
        if highest > 0 {
            features.push(card);
        }
    }
    let largest = initial.abs() + most;
    if largest.is_nan() || largest >= MOST_POINTS as f64 {
        return Err(bad("pdo", &params.pdo, "so small that no row has more than 10^9 points"));
    }
    let mut card = Scorecard {
        n_levels: n_levels.to_vec(),
        total,
        exponent,
        features,
        initial_points: initial.round() as i64,
        offset,
        factor,
        high_points: params.high_points,
        distribution: Vec::new(),
        ranker_auc,
        exact_auc,
    };
    interrupt.check()?;
    card.distribution = rows.distribution(&card.points_sum())?;
    Ok(card)
}

/// The features in bins, in their order, still without rows.
fn drafts_of(
    n_levels: &[Option<u32>],
    terms: &[FeatureTerm],
    params: &ScorecardParams,
) -> Vec<Draft> {
    let draft = |term: &FeatureTerm| {
        let special = params.special.get(term.feature).map_or(&[][..], Vec::as_slice);
        Draft::new(term, n_levels[term.feature], special)
    };
    let mut drafts: Vec<Draft> = terms.iter().map(draft).collect();
    drafts.sort_by_key(Draft::feature);
    drafts
}

/// Rounds all values to multiples of a power of two in which sums of one value per feature are
/// exact, so that the order of the features does not matter.
fn snap_values(drafts: &mut [Draft]) {
    let largest = |draft: &Draft| draft.values().into_iter().map(f64::abs).fold(0.0, f64::max);
    let bound: f64 = drafts.iter().map(largest).sum();
    // Rounded to 51 bits of the largest sum, so that sums over features are exact, in any order.
    if bound >= 1.0 / MOST_VALUE {
        let unit = 2_f64.powi(bound.log2().ceil() as i32 - 51);
        for draft in drafts {
            draft.map_values(|value| (value / unit).round() * unit);
        }
    }
}

/// The sum of the values of the bins of a row.
fn exact_sum(n_levels: &[Option<u32>], drafts: &[Draft]) -> BinSum {
    let of_draft = |draft: &Draft| ValuedBins {
        feature: draft.feature(),
        bins: draft.bins(),
        values: draft.values(),
    };
    let features = drafts.iter().map(of_draft).collect();
    BinSum { n_levels: n_levels.to_vec(), initial: 0.0, features }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::additive::cut_search::RawSums;
    use crate::data::{Batch, Column, FeatureSteps, WeightRange, mix};
    use crate::rows::Mergeable;

    fn numeric(feature: usize, thresholds: &[f64], values: &[f64], missing: f64) -> FeatureTerm {
        let steps =
            FeatureSteps::Numeric { thresholds: thresholds.to_vec(), values: values.to_vec() };
        FeatureTerm { feature, steps, missing }
    }

    fn categorical(feature: usize, values: &[f64], missing: f64) -> FeatureTerm {
        FeatureTerm {
            feature,
            steps: FeatureSteps::Categorical { values: values.to_vec() },
            missing,
        }
    }

    /// Rows of a number from -1 to 8 with missing values, a category, and the class.
    struct Sample {
        numbers: Vec<f64>,
        codes: Vec<u32>,
        positive: Vec<bool>,
    }

    impl Sample {
        fn new(n_rows: u64, seed: u64) -> Self {
            let draw = |row: u64, salt: u64| mix(mix(seed + salt) ^ row);
            let number = |row| match draw(row, 1) % 11 {
                10 => f64::NAN,
                number => number as f64 - 1.0,
            };
            let code = |row| match draw(row, 2) % 6 {
                5 => u32::MAX,
                code => code as u32,
            };
            let numbers: Vec<f64> = (0..n_rows).map(number).collect();
            let codes: Vec<u32> = (0..n_rows).map(code).collect();
            let positive = (0..n_rows)
                .map(|row| {
                    let place = row as usize;
                    let pull = numbers[place].max(0.0) as u64 + u64::from(codes[place] % 5);
                    draw(row, 3) % 14 < pull.max(1)
                })
                .collect();
            Self { numbers, codes, positive }
        }

        fn columns(&self) -> Columns<'_> {
            let codes = Column::Codes { codes: &self.codes, n_levels: 6 };
            Columns::new(vec![self.numbers[..].into(), codes], self.numbers.len()).unwrap()
        }

        fn build(
            &self,
            terms: &[FeatureTerm],
            params: &ScorecardParams,
            weights: Option<&[f64]>,
        ) -> Result<Scorecard, RankError> {
            let labels = Labels::new(&self.positive, weights)?;
            let scores = vec![0.0; self.numbers.len()];
            let interrupt = Interrupt::default();
            build_scorecard((&self.columns(), &labels, &scores[..]), terms, params, &interrupt)
        }

        /// The same rows in another order.
        fn permuted(&self, of: &[usize]) -> Self {
            Self {
                numbers: of.iter().map(|&row| self.numbers[row]).collect(),
                codes: of.iter().map(|&row| self.codes[row]).collect(),
                positive: of.iter().map(|&row| self.positive[row]).collect(),
            }
        }
    }

    fn terms() -> Vec<FeatureTerm> {
        vec![
            categorical(1, &[0.1, 0.25, 0.25, 0.6, 0.7, 0.9], 0.3),
            numeric(
                0,
                &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.5, 7.0, 8.0],
                &[0.05, 0.1, 0.3, 0.2, 0.5, 0.4, 0.7, 0.8, 0.6, 1.0],
                0.45,
            ),
        ]
    }

    #[test]
    fn pdo_points_double_the_odds_and_base_points_have_base_odds() {
        let sample = Sample::new(2000, 1);
        for high_points in [HighPoints::Positive, HighPoints::Negative] {
            let (base_points, base_odds, pdo) = (300.0, 8.0, 35.0);
            let params =
                ScorecardParams { base_points, base_odds, pdo, high_points, ..Default::default() };
            let card = sample.build(&terms(), &params, None).unwrap();
            let odds = |points: f64| (high_points.sign() * card.log_odds(points)).exp();
            assert!((odds(300.0) - 8.0).abs() < 1e-12);
            assert!((odds(335.0) - 16.0).abs() < 1e-12);
            card.check().unwrap();
            let n_rows: u64 = card.distribution().iter().map(|(_, sums)| sums.rows).sum();
            assert_eq!(n_rows, 2000);
            assert!(card.features().iter().all(|card| card.points.iter().min() == Some(&0)));
            assert!(card.auc() > 0.6);
        }
    }

    #[test]
    fn points_are_the_nearest_whole_numbers_to_the_log_odds_of_the_values() {
        let sample = Sample::new(3000, 2);
        let params = ScorecardParams { pdo: 500.0, ..Default::default() };
        let card = sample.build(&terms(), &params, None).unwrap();
        // The points of any two bins of the card differ as the line implies, up to rounding.
        let (a, b) = (&card.features()[0], &card.features()[1]);
        let slope = (a.points[8] - a.points[0]) as f64 / (a.values[8] - a.values[0]);
        for feature in [a, b] {
            for (points, value) in feature.points.iter().zip(&feature.values) {
                let least = feature.values.iter().copied().fold(f64::INFINITY, f64::min);
                assert!((*points as f64 - slope * (value - least)).abs() < 1.5);
            }
        }
        assert!(card.exact_auc() - card.auc() < 1e-3);
    }

    #[test]
    fn neither_order_nor_copies_nor_threads_nor_the_order_of_terms_change_a_bit() {
        let sample = Sample::new(700, 3);
        let params = ScorecardParams {
            min_bin_share: 0.1,
            monotone: vec![true, true],
            special: vec![vec![-1.0], vec![]],
            ..Default::default()
        };
        let copies: Vec<f64> = (0..700_u64).map(|row| (mix(row) % 4) as f64).collect();
        let expected = sample.build(&terms(), &params, Some(&copies)).unwrap();
        let mut rows: Vec<usize> =
            (0..700).flat_map(|row| std::iter::repeat_n(row, copies[row] as usize)).collect();
        rows.sort_by_key(|&row| mix(row as u64 + 5));
        let repeated = sample.permuted(&rows);
        let mut turned = terms();
        turned.reverse();
        for n_threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            let found = pool.install(|| repeated.build(&turned, &params, None)).unwrap();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn bins_hold_their_share_and_means_of_their_values() {
        let sample = Sample::new(1000, 4);
        for min_bin_share in [0.0, 0.05, 0.12, 0.3, 0.9] {
            let params = ScorecardParams {
                min_bin_share,
                pdo: 1e4,
                special: vec![vec![-1.0], vec![]],
                ..Default::default()
            };
            let terms = terms();
            let card = sample.build(&terms, &params, None).unwrap();
            for card in card.features() {
                let n_known = match &card.bins {
                    Bins::Numeric { cuts, .. } => cuts.len() + 1,
                    Bins::Categorical { n_bins, .. } => *n_bins,
                };
                let term = terms.iter().find(|term| term.feature == card.feature).unwrap();
                for bin in 0..n_known {
                    // Counted and averaged row by row.
                    let raw = |row: usize| match card.feature {
                        0 => sample.numbers[row],
                        _ if sample.codes[row] == u32::MAX => f64::NAN,
                        _ => f64::from(sample.codes[row]),
                    };
                    let rows = (0..1000).filter(|&row| card.bins.bin(raw(row)) == bin);
                    let values: Vec<f64> = rows.map(|row| term.value(raw(row))).collect();
                    assert_eq!(values.len() as u64, card.sums[bin].rows);
                    assert!(n_known == 1 || values.len() as f64 / 1000.0 >= min_bin_share);
                    assert!(!values.is_empty());
                    let mean = values.iter().sum::<f64>() / values.len() as f64;
                    assert!((card.values[bin] - mean).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_share_is_compared_as_a_quotient_not_as_a_product() {
        // 0.07 * 100 is above 7 in doubles.
        let numbers: Vec<f64> = (0..100).map(|row| f64::from(u8::from(row >= 7))).collect();
        let positive: Vec<bool> = (0..100).map(|row| row % 3 == 0 || row < 6).collect();
        let sample = Sample { codes: vec![0; 100], numbers, positive };
        let terms = [numeric(0, &[0.5], &[1.0, 0.0], 0.0)];
        for (min_bin_share, n_features) in [(0.07, 1), (0.070_001, 0)] {
            let params = ScorecardParams { min_bin_share, ..Default::default() };
            assert_eq!(sample.build(&terms, &params, None).unwrap().features().len(), n_features);
        }
    }

    /// The isotonic fit to values of equal weight, by the max-min formula.
    fn isotonic(values: &[f64]) -> Vec<f64> {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let n = values.len();
        (0..n)
            .map(|at| {
                (0..=at)
                    .map(|from| {
                        (at..n).map(|to| mean(&values[from..=to])).fold(f64::INFINITY, f64::min)
                    })
                    .fold(f64::NEG_INFINITY, f64::max)
            })
            .collect()
    }

    #[test]
    fn monotone_bins_are_the_nearest_monotone_function() {
        for seed in 0..60 {
            // Ten rows of each number, so that all steps have the same weight.
            let steps: Vec<f64> = (0..9).map(|s| (mix(seed * 100 + s) % 50) as f64).collect();
            let numbers: Vec<f64> = (0..90).map(|row| f64::from(row / 10)).collect();
            let positive: Vec<bool> =
                (0..90).map(|row| mix(row) % 50 < steps[row as usize / 10] as u64).collect();
            let sample = Sample { codes: vec![0; 90], numbers, positive };
            let thresholds: Vec<f64> = (1..9).map(f64::from).collect();
            let terms = [numeric(0, &thresholds, &steps, 0.0)];
            let params =
                ScorecardParams { monotone: vec![true, false], pdo: 1e5, ..Default::default() };
            let card = sample.build(&terms, &params, None).unwrap();
            let rising = isotonic(&steps);
            let falling: Vec<f64> = {
                let mut turned = steps.clone();
                turned.reverse();
                let mut falling = isotonic(&turned);
                falling.reverse();
                falling
            };
            let change = |other: &[f64]| -> f64 {
                steps.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum()
            };
            let expected = if change(&falling) < change(&rising) { falling } else { rising };
            let Some(card) = card.features().first() else {
                // A flat function, or a ranker worse than chance.
                continue;
            };
            for (number, expected) in expected.into_iter().enumerate() {
                let found = card.values[card.bins.bin(number as f64)];
                assert!((found - expected).abs() < 1e-9, "seed {seed}: {found} {expected}");
            }
        }
    }

    #[test]
    fn special_and_missing_values_have_their_own_bins() {
        let sample = Sample::new(1500, 6);
        let params = ScorecardParams {
            special: vec![vec![-1.0, 4.0], vec![]],
            min_bin_share: 0.2,
            monotone: vec![true, true],
            ..Default::default()
        };
        let card = sample.build(&terms(), &params, None).unwrap();
        let card = &card.features()[0];
        let count = |test: &dyn Fn(f64) -> bool| {
            sample.numbers.iter().filter(|&&number| test(number)).count() as u64
        };
        let n_intervals = card.sums.len() - 3;
        let apart: Vec<u64> = card.sums[n_intervals..].iter().map(|sums| sums.rows).collect();
        assert_eq!(apart, [count(&|v| v == -1.0), count(&|v| v == 4.0), count(&f64::is_nan)]);
        assert!((card.values[n_intervals] - 0.05).abs() < 1e-12);
        assert!((card.values[n_intervals + 1] - 0.4).abs() < 1e-12);
        assert!((card.values[n_intervals + 2] - 0.45).abs() < 1e-12);
    }

    #[test]
    fn a_cut_of_the_ranker_at_a_special_value_is_kept() {
        let sample = Sample::new(2000, 6);
        let params = ScorecardParams { special: vec![vec![4.0], vec![]], ..Default::default() };
        let terms = [numeric(0, &[4.0, 4_f64.next_up()], &[0.2, 0.5, 0.9], 0.5)];
        let card = sample.build(&terms, &params, None).unwrap();
        let bins = &card.features()[0].bins;
        assert_eq!(*bins, Bins::Numeric { cuts: vec![4.0], special: vec![4.0] });
        assert_eq!([3.9, 4_f64.next_up(), 4.0].map(|value| bins.bin(value)), [0, 1, 2]);
    }

    #[test]
    fn categories_without_rows_are_missing_ones() {
        let sample = Sample::new(500, 7);
        let card = sample.build(&terms(), &ScorecardParams::default(), None).unwrap();
        let card = card.features().iter().find(|card| card.feature == 1).unwrap();
        // No row has code 5.
        assert_eq!(card.bins.bin(5.0), card.bins.n_bins());
        assert_eq!(card.bins.bin(1.0), card.bins.bin(2.0));
    }

    #[test]
    fn features_without_points_are_dropped_from_the_card() {
        let sample = Sample::new(500, 8);
        let flat = [numeric(0, &[], &[3.0], 3.0), categorical(1, &[0.0, 0.2, 0.4, 0.6, 0.8], 0.3)];
        let card = sample.build(&flat, &ScorecardParams::default(), None).unwrap();
        assert_eq!(card.features().iter().map(|card| card.feature).collect::<Vec<_>>(), [1]);
        let none = sample.build(&[], &ScorecardParams::default(), None).unwrap();
        assert!(none.features().is_empty());
        assert!((none.auc() - 0.5).abs() < 1e-15 && (none.exact_auc() - 0.5).abs() < 1e-15);
        none.check().unwrap();
    }

    #[test]
    fn invalid_arguments_are_named() {
        let sample = Sample::new(50, 9);
        let refused = |terms: &[FeatureTerm], params: ScorecardParams, words: &str| {
            let err = sample.build(terms, &params, None).expect_err(words).to_string();
            assert!(err.contains(words), "{err}");
        };
        let default = ScorecardParams::default;
        for base_points in [f64::NAN, 1e10, f64::NEG_INFINITY] {
            refused(&terms(), ScorecardParams { base_points, ..default() }, "base_points is");
        }
        for base_odds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            refused(&terms(), ScorecardParams { base_odds, ..default() }, "base_odds is");
        }
        for pdo in [0.0, 1e-310, 1e-10, -20.0, f64::NAN, 1e10, 1e9] {
            refused(&terms(), ScorecardParams { pdo, ..default() }, "pdo is");
        }
        for min_bin_share in [-0.1, 1.0, f64::NAN] {
            refused(&terms(), ScorecardParams { min_bin_share, ..default() }, "min_bin_share is");
        }
        refused(&terms(), ScorecardParams { monotone: vec![true], ..default() }, "monotone is");
        for special in [
            vec![vec![]],
            vec![vec![2.0, 1.0], vec![]],
            vec![vec![1.0, 1.0], vec![]],
            vec![vec![f64::NAN], vec![]],
            vec![vec![], vec![1.0]],
        ] {
            refused(&terms(), ScorecardParams { special, ..default() }, "special is");
        }
        for (term, words) in [
            (numeric(2, &[], &[1.0], 1.0), "there is no feature 2"),
            (numeric(1, &[], &[1.0], 1.0), "feature 1 is of another kind"),
            (categorical(0, &[1.0], 1.0), "feature 0 is of another kind"),
            (categorical(1, &[0.0; 7], 1.0), "more values than there are categories"),
            (numeric(0, &[1.0], &[1.0], 1.0), "one value more than thresholds"),
            (numeric(0, &[], &[], 1.0), "one value more than thresholds"),
            (numeric(0, &[2.0, 1.0], &[1.0; 3], 1.0), "not finite and ascending"),
            (numeric(0, &[f64::NAN], &[1.0; 2], 1.0), "not finite and ascending"),
            (numeric(0, &[1.0], &[1.0, f64::NAN], 1.0), "a value of terms is NaN"),
            (numeric(0, &[1.0], &[1.0, 2.0], f64::INFINITY), "a value of terms is inf"),
            (numeric(0, &[1.0], &[1.0, 1e101], 0.0), "a value of terms is 1"),
        ] {
            refused(&[term], default(), words);
        }
        let twice = [numeric(0, &[], &[1.0], 1.0), numeric(0, &[], &[1.0], 1.0)];
        refused(&twice, default(), "two of feature 0");
        let labels = Labels::new(&sample.positive, None).unwrap();
        let stop = Interrupt::default();
        let err =
            build_scorecard((&sample.columns(), &labels, &[0.0][..]), &terms(), &default(), &stop);
        assert_eq!(err.unwrap_err().to_string(), "ranker_scores has 1 rows, but y has 50");
        stop.stop();
        let scores = vec![0.0; 50];
        let err =
            build_scorecard((&sample.columns(), &labels, &scores[..]), &terms(), &default(), &stop);
        assert_eq!(err, Err(RankError::Interrupted));
    }

    #[test]
    fn a_code_out_of_range_and_infinity_are_named() {
        let mut sample = Sample::new(50, 10);
        sample.codes[7] = 6;
        let err = sample.build(&terms(), &ScorecardParams::default(), None).unwrap_err();
        assert_eq!(err, RankError::BadCode { column: 1, row: 7, code: 6, n_levels: 6 });
        sample.codes[7] = 0;
        sample.numbers[9] = f64::INFINITY;
        let err = sample.build(&terms(), &ScorecardParams::default(), None).unwrap_err();
        assert_eq!(err, RankError::InfiniteValue { column: 0, row: 9, value: f64::INFINITY });
    }

    #[test]
    fn values_of_any_size_give_the_same_card() {
        let sample = Sample::new(800, 11);
        let of = |scale: f64| {
            let scaled: Vec<FeatureTerm> = terms()
                .into_iter()
                .map(|mut term| {
                    let (FeatureSteps::Numeric { values, .. }
                    | FeatureSteps::Categorical { values }) = &mut term.steps;
                    for value in values.iter_mut() {
                        *value *= scale;
                    }
                    FeatureTerm { missing: term.missing * scale, ..term }
                })
                .collect();
            sample.build(&scaled, &ScorecardParams::default(), None).unwrap()
        };
        let expected = of(1.0);
        for scale in [2_f64.powi(-90), 2_f64.powi(90)] {
            assert_eq!(of(scale).distribution(), expected.distribution());
        }
    }

    /// Rows in parts, whose answers are sent as bytes; `shift` is added to the points of a faulty
    /// one.
    struct Parts {
        samples: Vec<Sample>,
        weights: Option<Vec<Vec<f64>>>,
        shift: f64,
    }

    impl Parts {
        fn new(whole: &Sample, edges: &[usize], weights: Option<&[f64]>) -> Self {
            let cut = |rows: &[usize]| (rows[0]..rows[1]).collect::<Vec<usize>>();
            let samples = edges.windows(2).map(|rows| whole.permuted(&cut(rows))).collect();
            let of_part = |weights: &[f64]| {
                edges.windows(2).map(|rows| weights[rows[0]..rows[1]].to_vec()).collect()
            };
            Self { samples, weights: weights.map(of_part), shift: 0.0 }
        }

        fn parts(&self) -> impl Iterator<Item = (&Sample, Option<&[f64]>)> {
            let weights = |part: usize| self.weights.as_ref().map(|weights| &weights[part][..]);
            self.samples.iter().enumerate().map(move |(part, sample)| (sample, weights(part)))
        }
    }

    /// A question as received by a holder of rows elsewhere.
    fn received(ask: &RawAsk) -> RawAsk {
        RawAsk::from_bytes(&ask.to_bytes()).unwrap()
    }

    impl RawRows for Parts {
        fn n_levels(&self) -> &[Option<u32>] {
            &[None, Some(6)]
        }

        fn weights(&self) -> Option<(WeightRange, u128)> {
            let all = self.weights.as_ref()?.concat();
            let range = WeightRange::of_part(&all, 0).unwrap();
            Some((range, range.relative_sum_of_part(&all)))
        }

        fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError> {
            let mut whole = RawSums::new(Arc::clone(ask));
            for (sample, weights) in self.parts() {
                let mut part = RawSums::new(Arc::new(received(ask)));
                part.add(
                    &Batch::new(&sample.columns(), &sample.positive).weighted(weights),
                    interrupt,
                )?;
                whole.merge_bytes(&part.to_bytes())?;
            }
            Ok(whole)
        }
    }

    impl CardRows for Parts {
        fn ranker_scores(&self, _: &Interrupt) -> Result<RocState, RankError> {
            let of = BinSum { n_levels: self.n_levels().to_vec(), initial: 0.0, features: vec![] };
            self.scores(&of, &Interrupt::default())
        }

        fn scores(&self, of: &BinSum, _: &Interrupt) -> Result<RocState, RankError> {
            let (mut state, unit) = (RocState::new(None, None)?, self.weights());
            for (sample, weights) in self.parts() {
                let units = unit.zip(weights).map(|((range, sum), w)| range.units_of_part(sum, w));
                state.update(&of.values(&sample.columns())?, &sample.positive, units.as_deref())?;
            }
            Ok(state)
        }

        fn point_counts(&self, of: &BinSum, _: &Interrupt) -> Result<PointCounts, RankError> {
            let mut counts = PointCounts::new(self.weights());
            for (sample, weights) in self.parts() {
                let mut points = of.values(&sample.columns())?;
                points[0] += self.shift;
                counts.add(&points, &sample.positive, weights)?;
            }
            Ok(counts)
        }
    }

    #[test]
    fn the_card_of_rows_in_parts_is_that_of_all_at_once() {
        let sample = Sample::new(700, 5);
        let weights: Vec<f64> = (0..700).map(|row| (mix(row) % 40) as f64 / 13.0).collect();
        let special = vec![vec![-1.0, 3.0], vec![]];
        let params = ScorecardParams { special, min_bin_share: 0.04, ..Default::default() };
        let interrupt = Interrupt::default();
        for weights in [None, Some(&weights[..])] {
            let whole = sample.build(&terms(), &params, weights).unwrap();
            for edges in [&[0, 700][..], &[0, 1, 2, 350, 700]] {
                let parts = Parts::new(&sample, edges, weights);
                let card = build_scorecard(&parts, &terms(), &params, &interrupt).unwrap();
                assert_eq!(card, whole);
            }
        }
    }

    #[test]
    fn rows_scored_differently_are_refused() {
        let parts = Parts { shift: 1.0, ..Parts::new(&Sample::new(300, 2), &[0, 300], None) };
        let (params, interrupt) = (ScorecardParams::default(), Interrupt::default());
        let err = build_scorecard(&parts, &terms(), &params, &interrupt).unwrap_err();
        assert_eq!(err, RankError::PointsDiffer);
    }

    #[test]
    fn a_question_about_bins_of_another_kind_is_refused() {
        let bins = Bins::Numeric { cuts: vec![1.0], special: vec![] };
        let ask = |feature| RawAsk::of_bins(&[None, Some(6)], None, [(feature, bins.clone())]);
        RawAsk::from_bytes(&ask(0).to_bytes()).unwrap();
        assert!(RawAsk::from_bytes(&ask(1).to_bytes()).is_err());
    }
}
