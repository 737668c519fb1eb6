//! Small integer scores: a few features with a few lines each, whose points are searched together
//! for the largest AUC of the training rows.
//!
//! With the points of the other features fixed, one pass over the rows gives the AUC of every
//! choice of lines and points of a feature (`shifts`). So features are added, their lines improved
//! in turn and exchanged for others by exact gains (`steps`, `search`). A question must gain more
//! than chance would, so that the score holds for other rows, too.
//!
//! - `params`: the parameters; `candidates`: round cuts, and categories in order; `rows`: the rows
//!   in these bins;
//! - `shifts`: the AUC of any points of one feature; `steps`: its best points; `search`: all
//!   features.

mod candidates;
mod params;
mod rows;
mod search;
mod shifts;
mod steps;
#[cfg(test)]
mod tests;

pub use self::params::IntegerScoreParams;

use std::collections::{BTreeMap, BTreeSet};

use self::candidates::{CandidateParams, candidate_bins};
use self::rows::{BinnedRows, CandidateFeature};
use self::search::{PointSearch, PointsOfFeatures};
use super::bins::{BinSum, ValuedBins, gini};
use super::point_counts::PointCounts;
use super::scorecard::{CardFeature, Scorecard};
use crate::data::{Bins, ClassSums, Columns, Labels, Lookups, logistic};
use crate::roc::Line;
use crate::{Interrupt, RankError};

/// Least slope of the log-odds along points, so that the scale is finite.
const LEAST_SLOPE: f64 = 1e-6;

/// The likelihood ratio that a question gains by chance where its place and points are searched: of
/// 0 to 8 the one chosen by leaving out each set in turn. The mean logarithm of the slope of other
/// rows along the log-odds is -.04 ± .04, and -.44 ± .05 if nothing is shrunk
/// (`python -m benches.studies.slopes_of_scores DATA DATA2`).
const GAIN_OF_QUESTION: f64 = 8.0;

/// Searches a small integer score.
///
/// Log-odds follow a line along the total points, by maximum likelihood with the targets of Platt,
/// whose slope is shrunk as far as questions gain by chance: the mean probability stays.
/// If no question gains enough, the score has no feature. Its [`Scorecard::exact_auc`] is the
/// largest AUC of the training rows that any function of its lines has, whole or not, a sum or not.
///
/// # Errors
///
/// [`RankError`] for a parameter out of range, lengths that differ, a category code out of range,
/// an infinite value, a required feature without two lines, or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{IntegerScoreParams, fit_integer_score};
/// use aucrank::data::{Columns, Labels};
///
/// // Of two questions each counts, the first one twice.
/// let rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]];
/// let (mut values, mut positive) = (Vec::<f64>::new(), Vec::new());
/// for (row, n_pos) in rows.iter().zip([5, 20, 35, 45]) {
///     for number in 0..50 {
///         values.extend(row);
///         positive.push(number < n_pos);
///     }
/// }
/// let columns = Columns::from_row_major(&values, 2)?;
/// let labels = Labels::new(&positive, None)?;
/// let params = IntegerScoreParams { max_points: 2, ..IntegerScoreParams::default() };
/// let score = fit_integer_score((&columns, &labels), &params, &Interrupt::default())?;
/// let points = score.points(&columns)?;
/// assert_eq!([points[0], points[50], points[100], points[150]], [0, 1, 2, 3]);
/// // No other points for these lines rank better.
/// assert_eq!(score.auc(), score.exact_auc());
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_integer_score(
    (columns, labels): (&Columns<'_>, &Labels<'_>),
    params: &IntegerScoreParams,
    interrupt: &Interrupt,
) -> Result<Scorecard, RankError> {
    let mut cards = searched((columns, labels), params, interrupt, |search| {
        search.best().map(|best| vec![best])
    })?;
    Ok(cards.swap_remove(0))
}

/// Searches small integer scores of all numbers of features, from 1 or as many as are required up
/// to `max_features` or until none gains.
///
/// One search serves all sizes: each set of features begins with the best ones of fewer. Where
/// that matters, a score may be slightly worse than that of [`fit_integer_score`] for its size.
///
/// # Errors
///
/// Those of [`fit_integer_score`].
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{IntegerScoreParams, fit_integer_scores};
/// use aucrank::data::{Columns, Labels};
///
/// // The third column says nothing.
/// let rows = [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0]];
/// let (mut values, mut positive) = (Vec::<f64>::new(), Vec::new());
/// for (row, n_pos) in rows.iter().zip([5, 15, 35, 45]) {
///     for number in 0..50 {
///         values.extend(row);
///         positive.push(number < n_pos);
///     }
/// }
/// let columns = Columns::from_row_major(&values, 3)?;
/// let labels = Labels::new(&positive, None)?;
/// let params = IntegerScoreParams::default();
/// let scores = fit_integer_scores((&columns, &labels), &params, &Interrupt::default())?;
/// assert_eq!(scores.len(), 2);
/// assert!(scores[0].auc() < scores[1].auc());
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_integer_scores(
    rows: (&Columns<'_>, &Labels<'_>),
    params: &IntegerScoreParams,
    interrupt: &Interrupt,
) -> Result<Vec<Scorecard>, RankError> {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime")]
    searched(rows, params, interrupt, |search| search.best_by_size())
}

/// The cards of scores that a search finds.
fn searched(
    (columns, labels): (&Columns<'_>, &Labels<'_>),
    params: &IntegerScoreParams,
    interrupt: &Interrupt,
    search: impl FnOnce(&PointSearch<'_>) -> Result<Vec<PointsOfFeatures>, RankError>,
) -> Result<Vec<Scorecard>, RankError> {
    let columns = &columns.until(interrupt);
    if columns.n_rows() != labels.n_rows() {
        let (found, expected) = (columns.n_rows(), labels.n_rows());
        return Err(RankError::LengthMismatch { name: "X", found, expected });
    }
    params.validate(&columns.n_levels())?;
    let candidates = CandidateParams { max_cuts: params.max_cuts, round_cuts: params.round_cuts };
    let bins = candidate_bins(columns, labels, &params.special, candidates)?;
    let least_weight = params.min_bin_share * (labels.total().pos + labels.total().neg) as f64;
    let direction = (params.monotonic.as_slice(), params.high_points.sign());
    let rows = BinnedRows::new(columns, labels, &bins, direction, least_weight)?;
    let found = search(&PointSearch {
        rows: &rows,
        params,
        least_weight,
        price: params.min_gain * rows.unit_of_gain,
        most_questions: params.max_questions.unwrap_or(usize::MAX),
        interrupt,
    })?;
    let card = |score: PointsOfFeatures| {
        let mut card = card_of(columns, labels, lines_of(&rows, &bins, &score), params)?;
        card.ranker_auc = card.auc();
        // In different order, the same area may differ in the last bit.
        card.exact_auc = bound_of(columns, labels, &card)?.max(card.ranker_auc);
        debug_assert_eq!(card.check(), Ok(()));
        Ok(card)
    };
    found.into_iter().map(card).collect()
}

/// Bins of a feature and their points, those of missing values last.
struct FeatureLines {
    feature: usize,
    bins: Bins,
    points: Vec<i64>,
}

impl FeatureLines {
    /// One less than the different points of bins that have rows, whose sums are given.
    fn n_questions(&self, sums: &[ClassSums]) -> usize {
        let held = self.points.iter().zip(sums).filter(|(_, sums)| sums.rows > 0);
        let points: BTreeSet<i64> = held.map(|(&points, _)| points).collect();
        points.len().saturating_sub(1)
    }
}

/// The share of the slope of log-odds that is likely to hold for other rows: of the likelihood
/// ratio of the line to a constant, each question that was searched is likely to have gained
/// [`GAIN_OF_QUESTION`] by chance alone.
fn kept_slope(line: Line, groups: &[(f64, ClassSums)], n_questions: usize) -> f64 {
    let total: ClassSums = groups.iter().map(|&(_, sums)| sums).sum();
    let weight = (total.pos + total.neg) as f64;
    let likelihood = |log_odds: &dyn Fn(f64) -> f64| -> f64 {
        let of_group = |&(points, sums): &(f64, ClassSums)| {
            let z = log_odds(points);
            sums.pos as f64 * logistic(z).ln() + sums.neg as f64 * logistic(-z).ln()
        };
        groups.iter().map(of_group).sum()
    };
    let of_all = (total.pos as f64 / total.neg as f64).ln();
    let gain = likelihood(&|points| line.at(points)) - likelihood(&|_| of_all);
    // Weights are in a unit of their own.
    let ratio = (2.0 * gain * total.rows as f64 / weight).max(0.0);
    let by_chance = GAIN_OF_QUESTION * n_questions as f64;
    if by_chance > 0.0 { ratio / (ratio + by_chance) } else { 1.0 }
}

/// The lines of a score: candidate bins of equal points joined.
fn lines_of(rows: &BinnedRows, bins: &[Bins], score: &PointsOfFeatures) -> Vec<FeatureLines> {
    let of_feature = |&(feature, ref points): &(usize, Vec<i32>)| {
        let placed = &rows.features[feature];
        let points = filled(placed, points);
        let (ordered, apart) = points.split_at(placed.n_ordered);
        let (bins, joined): (Bins, Vec<i64>) = match &bins[feature] {
            Bins::Numeric { cuts, special } => {
                let kept = (1..ordered.len()).filter(|&bin| ordered[bin] != ordered[bin - 1]);
                let kept: Vec<usize> = kept.collect();
                let cuts = kept.iter().map(|&bin| cuts[bin - 1]).collect();
                let firsts = std::iter::once(0).chain(kept);
                let joined = firsts.map(|bin| ordered[bin]).collect();
                (Bins::Numeric { cuts, special: special.clone() }, joined)
            }
            Bins::Categorical { bin_of_level, .. } => {
                // Categories of equal points are one line.
                let mut line_of: BTreeMap<i64, usize> = BTreeMap::new();
                for &points in ordered {
                    line_of.insert(points, 0);
                }
                for (line, of_points) in line_of.values_mut().enumerate() {
                    *of_points = line;
                }
                let n_bins = line_of.len();
                let line = |&bin: &usize| ordered.get(bin).map_or(n_bins, |points| line_of[points]);
                let bin_of_level = bin_of_level.iter().map(line).collect();
                (Bins::Categorical { bin_of_level, n_bins }, line_of.into_keys().collect())
            }
        };
        let joined = joined.into_iter().chain(apart.iter().copied()).collect();
        FeatureLines { feature, bins, points: joined }
    };
    let mut lines: Vec<FeatureLines> = score.features.iter().map(of_feature).collect();
    lines.sort_by_key(|lines| lines.feature);
    lines
}

/// Points by bin, where a bin without rows of its own has those of the middle row.
fn filled(placed: &CandidateFeature, points: &[i32]) -> Vec<i64> {
    let of_bin = |(&own, &size): (&i32, &u64)| {
        if size > 0 { own.into() } else { points[placed.middle].into() }
    };
    points.iter().zip(&placed.sizes).map(of_bin).collect()
}

/// The card of some lines.
fn card_of(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    lines: Vec<FeatureLines>,
    params: &IntegerScoreParams,
) -> Result<Scorecard, RankError> {
    let n_levels = columns.n_levels();
    let of_lines = |lines: &FeatureLines| ValuedBins {
        feature: lines.feature,
        bins: lines.bins.clone(),
        values: lines.points.iter().map(|&points| points as f64).collect(),
    };
    let features = lines.iter().map(of_lines).collect();
    let sum = BinSum { n_levels: n_levels.clone(), initial: 0.0, features };
    let distribution = PointCounts::of(&sum.values(columns)?, labels).into_list();

    let groups: Vec<(f64, ClassSums)> =
        distribution.iter().map(|&(points, sums)| (points as f64, sums)).collect();
    let line = Line::of_groups(&groups, labels.class_rows());

    let lookups = Lookups::new(lines.iter().map(|lines| (lines.feature, &lines.bins)));
    let sums = lookups.count_labelled(columns, labels)?;
    let n_questions = lines.iter().zip(&sums).map(|(lines, sums)| lines.n_questions(sums)).sum();
    let share = kept_slope(line, &groups, n_questions);
    let Line { intercept, slope } = line.with_less_slope(share, &groups);
    let sign = params.high_points.sign();
    let factor = if lines.is_empty() { 1.0 } else { 1.0 / (sign * slope).max(LEAST_SLOPE) };

    let feature = |(lines, sums): (FeatureLines, Vec<ClassSums>)| CardFeature {
        feature: lines.feature,
        values: lines.points.iter().map(|&points| sign * points as f64 / factor).collect(),
        bins: lines.bins,
        sums,
        points: lines.points,
    };
    Ok(Scorecard {
        n_levels,
        total: labels.total(),
        exponent: labels.exponent(),
        features: lines.into_iter().zip(sums).map(feature).collect(),
        initial_points: 0,
        offset: -sign * intercept * factor,
        factor,
        high_points: params.high_points,
        distribution,
        ranker_auc: 0.5,
        exact_auc: 0.5,
    })
}

/// The largest AUC of any function of the lines: rows ordered by the rates of all combinations.
fn bound_of(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    card: &Scorecard,
) -> Result<f64, RankError> {
    let n_features = card.features.len();
    let lookups = Lookups::new(card.features.iter().map(|card| (card.feature, &card.bins)));
    let places = lookups.bins(columns, |bin| bin)?;
    let mut cells: BTreeMap<&[u32], ClassSums> = BTreeMap::new();
    for row in labels.rows() {
        let cell = &places[row as usize * n_features..][..n_features];
        *cells.entry(cell).or_default() += labels.sums(row as usize);
    }
    let mut cells: Vec<ClassSums> = cells.into_values().collect();
    cells.sort_by(|&a, &b| a.cmp_eta(b));
    Ok(f64::midpoint(1.0, gini(cells)))
}
