//! Probabilities from scores that only rank, learned from rows that the ranker has not seen.
//!
//! A [`Calibration`] is a rising, piecewise linear function from scores to log-odds: one line,
//! which Platt's method fits, or a line for each stretch between the pools of an isotonic
//! regression. Both rise everywhere, so that exactly one score has a probability of one half. That
//! score becomes the threshold of the ranker, and is 0 here: a row is predicted positive exactly if
//! its probability exceeds one half, and the order of rows does not change.

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::data::{ClassSums, Labels, Pool, logistic, rising_pools, score_groups};
use crate::roc::Line;

/// Least rise of log-odds: over all scores, and within a pool, as a share of the rise of the line.
/// Without it, a score that ranks no better than chance would have constant log-odds, and no score
/// would have even odds.
const LEAST_RISE: f64 = 1.0 / 32.0;

/// Method by which probabilities are learned.
///
/// # Examples
///
/// ```
/// use aucrank::calibration::{Calibration, CalibrationMethod};
/// use aucrank::data::Labels;
///
/// let scores: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = (0..100).map(|row| row % 10 < if row < 50 { 2 } else { 7 }).collect();
/// let labels = Labels::new(&positive, None)?;
/// // A line has one slope; pools follow the step from 20 % to 70 %.
/// let (line, _) = Calibration::fit(&scores, &labels, CalibrationMethod::Sigmoid)?;
/// assert_eq!(line.knots().0.len(), 1);
/// let (curve, cut) = Calibration::fit(&scores, &labels, CalibrationMethod::Isotonic)?;
/// assert!((curve.probability(25.0 - cut) - 0.2).abs() < 0.05);
/// assert!((curve.probability(75.0 - cut) - 0.7).abs() < 0.05);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationMethod {
    /// One line of maximum likelihood (Platt, 1999), for few rows.
    Sigmoid,
    /// Isotonic regression, its log-odds interpolated between the mean scores of its pools (Oron
    /// and Flournoy, 2017). The first and the last pool, which may be wide, have constant log-odds
    /// up to their inner ends, except for a slight rise; beyond all scores, log-odds rise as the
    /// line does. One more positive row at the lowest score and one more negative row at the
    /// highest keep probabilities away from 0 and 1.
    Isotonic,
}

/// Log-odds of the positive class as a rising function of a score, 0 at 0.
///
/// # Examples
///
/// ```
/// use aucrank::calibration::{Calibration, CalibrationMethod};
/// use aucrank::data::Labels;
///
/// let labels = Labels::new(&[false, false, true, false, true, true], None).unwrap();
/// let scores = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0];
/// let (found, cut) = Calibration::fit(&scores, &labels, CalibrationMethod::Sigmoid)?;
/// assert!((cut - 12.5).abs() < 1e-9);
/// assert!(found.probability(15.0 - cut) > 0.7);
/// assert_eq!(found.probability(0.0), 0.5);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Scores of the knots, ascending; 0 is one of them.
    scores: Vec<f64>,
    /// Log-odds at the knots.
    log_odds: Vec<f64>,
    /// Slopes below the first knot and above the last.
    slopes: [f64; 2],
}

impl Calibration {
    /// Fits a calibration to scores of rows that their ranker has not seen. Also returns the score
    /// of even odds, which is to be subtracted from all scores.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ or a score is NaN.
    pub fn fit(
        scores: &[f64],
        labels: &Labels<'_>,
        method: CalibrationMethod,
    ) -> Result<(Self, f64), RankError> {
        let groups = score_groups(scores, labels)?;
        let class_rows = labels.class_rows();
        let (pivot, slope) = rising_line(&groups, Line::of_groups(&groups, class_rows));
        let range = groups[groups.len() - 1].0 - groups[0].0;
        let knots = match method {
            CalibrationMethod::Isotonic if range.is_finite() => {
                isotonic_knots(&groups, class_rows, LEAST_RISE * slope)
            }
            _ => vec![pivot],
        };
        Ok(Self::around_even_odds(&knots, [slope; 2]))
    }

    /// A calibration through given knots, scores and log-odds that both rise, with the slopes of
    /// the log-odds below the first knot and above the last. Also returns the score of even odds,
    /// which is to be subtracted from all scores.
    ///
    /// # Errors
    ///
    /// A description of the fault: no knots, numbers that are not finite, or log-odds that do not
    /// rise.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::calibration::Calibration;
    ///
    /// let (found, cut) = Calibration::through(&[(2.0, -1.0), (4.0, 1.0)], [1.0, 0.5])?;
    /// assert_eq!((cut, found.log_odds(3.5 - cut), found.log_odds(6.0 - cut)), (3.0, 0.5, 2.0));
    /// # Ok::<(), String>(())
    /// ```
    pub fn through(knots: &[(f64, f64)], slopes: [f64; 2]) -> Result<(Self, f64), String> {
        let rises = knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        let is_finite = |knot: &(f64, f64)| knot.0.is_finite() && knot.1.is_finite();
        let are_positive = slopes.iter().all(|slope| *slope > 0.0 && slope.is_finite());
        if knots.is_empty() || !rises || !are_positive || !knots.iter().all(is_finite) {
            return Err("log-odds that do not rise with the score".to_owned());
        }
        let (found, cut) = Self::around_even_odds(knots, slopes);
        found.check()?;
        Ok((found, cut))
    }

    /// The score of even odds if each row counts by the factor of its class, negative first. From
    /// it on, a false positive costs less than a false negative. It is found on the line of
    /// [`CalibrationMethod::Sigmoid`].
    ///
    /// # Errors
    ///
    /// [`RankError`] if the lengths differ, or a score is NaN.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::calibration::Calibration;
    /// use aucrank::data::Labels;
    ///
    /// let labels = Labels::new(&[false, false, true, false, true, true], None)?;
    /// let scores = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0];
    /// let even = Calibration::even_odds(&scores, &labels, [1.0, 1.0])?;
    /// assert!((even - 12.5).abs() < 1e-9);
    /// // Negatives are ten times as dear.
    /// assert!(Calibration::even_odds(&scores, &labels, [10.0, 1.0])? > 14.0);
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    pub fn even_odds(
        scores: &[f64],
        labels: &Labels<'_>,
        factors: [f64; 2],
    ) -> Result<f64, RankError> {
        let groups = score_groups(scores, labels)?;
        let line = Line::of_weighted_classes(&groups, labels.class_rows(), factors);
        let (pivot, slope) = rising_line(&groups, line);
        Ok(Self::around_even_odds(&[pivot], [slope; 2]).1)
    }

    /// The function through some knots, shifted so that it is 0 at 0, and the shift.
    fn around_even_odds(knots: &[(f64, f64)], slopes: [f64; 2]) -> (Self, f64) {
        let (first, last) = (knots[0], knots[knots.len() - 1]);
        // Log-odds rise strictly, so that they are 0 at one score, which may lie beyond all knots.
        let cut = match knots.partition_point(|&(_, log_odds)| log_odds < 0.0) {
            0 => first.0 - first.1 / slopes[0],
            n if n == knots.len() => last.0 - last.1 / slopes[1],
            n => {
                let ((low, below), (high, above)) = (knots[n - 1], knots[n]);
                (low + (high - low) * (below / (below - above))).clamp(low, high)
            }
        };
        // Finite even for the largest scores.
        let cut = cut.clamp(f64::MIN / 4.0, f64::MAX / 4.0);
        let mut found = Self { scores: vec![0.0], log_odds: vec![0.0], slopes };
        if knots.len() == 1 && slopes[0].to_bits() == slopes[1].to_bits() {
            return (found, cut); // Of one line, a single knot is enough.
        }
        let moved = || knots.iter().map(|&(score, log_odds)| (score - cut, log_odds));
        for (score, log_odds) in moved().rev().filter(|knot| knot.0 < 0.0 && knot.1 < 0.0) {
            // Rounding may have given two knots the same score.
            if score < found.scores[0] {
                found.scores.insert(0, score);
                found.log_odds.insert(0, log_odds);
            }
        }
        for (score, log_odds) in moved().filter(|knot| knot.0 > 0.0 && knot.1 > 0.0) {
            if score > found.scores[found.scores.len() - 1] {
                found.scores.push(score);
                found.log_odds.push(log_odds);
            }
        }
        (found, cut)
    }

    /// Log-odds of the positive class at a score minus the cut; above 0 exactly if the score is.
    #[must_use]
    pub fn log_odds(&self, score: f64) -> f64 {
        let Self { scores, log_odds, slopes: [below, above] } = self;
        let last = scores.len() - 1;
        let found = match scores.partition_point(|&knot| knot < score) {
            0 => log_odds[0] + below * (score - scores[0]),
            n if n > last => log_odds[last] + above * (score - scores[last]),
            n => {
                let share = (score - scores[n - 1]) / (scores[n] - scores[n - 1]);
                let rise = log_odds[n] - log_odds[n - 1];
                (log_odds[n - 1] + share * rise).min(log_odds[n])
            }
        };
        // A product may underflow to 0.
        if score > 0.0 { found.max(f64::MIN_POSITIVE) } else { found.min(0.0) }
    }

    /// Probability of the positive class at a score minus the cut; above one half exactly if the
    /// score is above 0.
    #[must_use]
    pub fn probability(&self, score: f64) -> f64 {
        logistic(self.log_odds(score))
    }

    /// Scores and log-odds of the knots, ascending.
    #[must_use]
    pub fn knots(&self) -> (&[f64], &[f64]) {
        (&self.scores, &self.log_odds)
    }

    /// Slopes of the log-odds below the first knot and above the last.
    #[must_use]
    pub fn slopes(&self) -> [f64; 2] {
        self.slopes
    }

    /// Checks the consistency of a calibration read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let Self { scores, log_odds, slopes } = self;
        let is_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let fits = scores.len() == log_odds.len()
            && is_finite(scores)
            && is_finite(log_odds)
            && scores.is_sorted_by(|a, b| a < b)
            && log_odds.is_sorted_by(|a, b| a <= b)
            && scores.iter().zip(log_odds).any(|(&score, &odds)| score == 0.0 && odds == 0.0)
            && (scores[scores.len() - 1] - scores[0]).is_finite()
            && slopes.iter().all(|slope| *slope > 0.0 && slope.is_finite());
        if fits { Ok(()) } else { Err("log-odds that do not rise with the score".to_owned()) }
    }
}

/// A knot of the line of maximum likelihood, and its slope, made positive.
fn rising_line(groups: &[(f64, ClassSums)], line: Line) -> ((f64, f64), f64) {
    let range = groups[groups.len() - 1].0 - groups[0].0;
    let least = if range > 0.0 { LEAST_RISE / range.min(f64::MAX) } else { 1.0 };
    let middle = mean_score(groups).clamp(groups[0].0, groups[groups.len() - 1].0);
    ((middle, line.at(middle)), line.slope.max(least).clamp(f64::MIN_POSITIVE, f64::MAX))
}

/// The knots of an isotonic regression. A pool has a knot at the mean of its scores; the first and
/// the last pool have one at either end, between which log-odds rise by the given slope.
fn isotonic_knots(
    groups: &[(f64, ClassSums)],
    class_rows: [u64; 2],
    slope: f64,
) -> Vec<(f64, f64)> {
    let total: ClassSums = groups.iter().map(|&(_, sums)| sums).sum();
    let a_row = ((total.pos + total.neg) / (class_rows[0] + class_rows[1]).max(1)).max(1);
    let mut guarded = groups.to_vec();
    // A pool of one class would have infinite log-odds. A row of the other class at either end
    // bounds those of all pools, since they rise.
    guarded[0].1.pos += a_row;
    guarded[groups.len() - 1].1.neg += a_row;
    let pools = rising_pools(&mut guarded);
    let (mut knots, mut rest) = (Vec::with_capacity(pools.len() + 2), groups);
    for (place, &Pool { sums, low, high }) in pools.iter().enumerate() {
        let (of_pool, above) = rest.split_at(rest.partition_point(|group| group.0 <= high));
        rest = above;
        let log_odds = (sums.pos as f64 / sums.neg as f64).ln();
        let rise = slope * (high - low);
        match (place == 0, place + 1 == pools.len()) {
            (true, false) => knots.extend([(low, log_odds - rise), (high, log_odds)]),
            (false, true) => knots.extend([(low, log_odds), (high, log_odds + rise)]),
            _ => knots.push((mean_score(of_pool).clamp(low, high), log_odds)),
        }
    }
    knots.dedup_by(|above, below| above.0 <= below.0);
    knots
}

/// The mean of the scores over all rows.
fn mean_score(groups: &[(f64, ClassSums)]) -> f64 {
    let weight = |sums: &ClassSums| (sums.pos + sums.neg) as f64;
    let total: f64 = groups.iter().map(|(_, sums)| weight(sums)).sum();
    groups.iter().map(|(score, sums)| score * (weight(sums) / total)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    const METHODS: [CalibrationMethod; 2] =
        [CalibrationMethod::Sigmoid, CalibrationMethod::Isotonic];

    /// Scores with many ties, labels that are more often positive at high scores, and weights.
    fn sample(seed: u64, n: u64) -> (Vec<f64>, Vec<bool>, Vec<f64>) {
        let draw = |row: u64, of: u64| mix(mix(seed) ^ mix(8 * row + of));
        let levels = 2 + draw(0, 7) % 60;
        let shift = (draw(1, 7) % 5) as f64 - 2.0;
        let row = |row: u64| {
            let level = draw(row, 0) % levels;
            let is_positive = draw(row, 1) % 20 < 2 + 14 * level / levels;
            (level as f64 / 3.0 + shift, is_positive || row == 0, (1 + draw(row, 2) % 3) as f64)
        };
        let rows: Vec<_> = (0..n).map(row).collect();
        let positive = rows.iter().enumerate().map(|(n, row)| n != 1 && row.1).collect();
        (rows.iter().map(|row| row.0).collect(), positive, rows.iter().map(|row| row.2).collect())
    }

    /// Isotonic regression by its min-max formula, at each score.
    fn isotonic(rows: &[(f64, bool)], at: f64) -> f64 {
        let mut scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        let share = |low: f64, high: f64| {
            let within = || rows.iter().filter(|(score, _)| (low..=high).contains(score));
            within().filter(|(_, positive)| *positive).count() as f64 / within().count() as f64
        };
        let lows = scores.iter().filter(|&&score| score <= at);
        lows.map(|&low| {
            let highs = scores.iter().filter(|&&score| score >= at);
            highs.map(|&high| share(low, high)).fold(f64::INFINITY, f64::min)
        })
        .fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn pools_are_those_of_isotonic_regression_with_two_more_rows() {
        for seed in 0..40 {
            let (scores, positive, _) = sample(seed, 60);
            let labels = Labels::new(&positive, None).unwrap();
            let (found, cut) =
                Calibration::fit(&scores, &labels, CalibrationMethod::Isotonic).unwrap();
            let mut rows: Vec<(f64, bool)> =
                scores.iter().copied().zip(positive.iter().copied()).collect();
            let low = scores.iter().copied().fold(f64::INFINITY, f64::min);
            let high = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            rows.extend([(low, true), (high, false)]);
            let mut values: Vec<f64> = rows.iter().map(|row| isotonic(&rows, row.0)).collect();
            values.sort_by(f64::total_cmp);
            values.dedup_by(|a, b| (*a - *b).abs() < 1e-12);
            // The mean score of the rows of each value is its knot; at the ends, the inner end.
            let last = values.len() - 1;
            let of_row: Vec<f64> = scores.iter().map(|&score| isotonic(&rows, score)).collect();
            for (place, value) in values.into_iter().enumerate() {
                let rows = scores.iter().zip(&of_row);
                let of_value = rows.filter(|(_, found)| (**found - value).abs() < 1e-12);
                let of_value: Vec<f64> = of_value.map(|(&score, _)| score).collect();
                let knot = match (place == 0, place == last) {
                    (true, false) => of_value.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                    (false, true) => of_value.iter().copied().fold(f64::INFINITY, f64::min),
                    _ => of_value.iter().sum::<f64>() / of_value.len() as f64,
                };
                let at_knot = found.probability(knot - cut);
                assert!((at_knot - value).abs() < 1e-9, "{seed}: {at_knot} {value}");
            }
        }
    }

    #[test]
    fn the_sigmoid_is_the_line_of_maximum_likelihood() {
        for seed in 0..40 {
            let (scores, positive, _) = sample(seed, 400);
            let labels = Labels::new(&positive, None).unwrap();
            let (found, cut) =
                Calibration::fit(&scores, &labels, CalibrationMethod::Sigmoid).unwrap();
            let line = Line::of_log_odds(
                &crate::roc::RocCurve::new(&scores, &positive).unwrap(),
                labels.class_rows(),
            );
            assert!(line.slope > 0.0);
            for score in scores {
                let (found, expected) = (found.log_odds(score - cut), line.at(score));
                assert!((found - expected).abs() < 1e-9, "{found} {expected}");
            }
        }
    }

    #[test]
    fn probabilities_rise_and_exceed_one_half_exactly_above_0() {
        for (seed, method) in (0..60).flat_map(|seed| METHODS.map(|method| (seed, method))) {
            let (scores, positive, weights) = sample(seed, 2 + seed * 3);
            let labels = Labels::new(&positive, Some(&weights)).unwrap();
            let (found, cut) = Calibration::fit(&scores, &labels, method).unwrap();
            assert_eq!(found.check(), Ok(()), "{seed} {method:?}: {found:?}");
            let knots = found.knots().0.iter().copied();
            let mut tried: Vec<f64> = knots
                .flat_map(|knot| [knot.next_down(), knot, knot.next_up()])
                .chain(scores.iter().map(|score| score - cut))
                .chain((-90..90).map(|n| f64::from(n) / 7.0))
                .chain([-f64::MAX, -5e-324, 5e-324, f64::MAX])
                .collect();
            tried.sort_by(f64::total_cmp);
            let probabilities: Vec<f64> =
                tried.iter().map(|&score| found.probability(score)).collect();
            assert!(probabilities.is_sorted(), "{seed} {method:?}");
            for (score, probability) in tried.into_iter().zip(probabilities) {
                assert!((0.0..=1.0).contains(&probability));
                assert_eq!(score > 0.0, probability > 0.5, "{score}");
            }
        }
    }

    #[test]
    fn knots_are_kept_whatever_the_score_of_even_odds() {
        for seed in 0..60 {
            let draw = |of: u64| (mix(8 * seed + of) % 2000) as f64 / 100.0;
            let shift = draw(0) - 10.0;
            let mut knots = vec![(shift, draw(1) - 15.0)];
            for place in 2..3 + seed % 4 {
                let (score, log_odds) = knots[knots.len() - 1];
                knots.push((score + 0.01 + draw(place), log_odds + draw(place + 1)));
            }
            let slopes = [0.5, 2.0];
            let (found, cut) = Calibration::through(&knots, slopes).unwrap();
            let close = |score: f64, expected: f64| {
                let log_odds = found.log_odds(score - cut);
                assert!((log_odds - expected).abs() < 1e-9, "{seed}: {log_odds} {expected}");
            };
            for pair in knots.windows(2) {
                close(pair[0].0, pair[0].1);
                close(pair[0].0.midpoint(pair[1].0), pair[0].1.midpoint(pair[1].1));
            }
            let (first, last) = (knots[0], knots[knots.len() - 1]);
            close(first.0 - 3.0, first.1 - 1.5);
            close(last.0 + 3.0, last.1 + 6.0);
        }
        let refused: [&[(f64, f64)]; 4] =
            [&[], &[(0.0, 1.0), (0.0, 2.0)], &[(0.0, 1.0), (1.0, 0.5)], &[(0.0, f64::NAN)]];
        for knots in refused {
            assert!(Calibration::through(knots, [1.0, 1.0]).is_err());
        }
        assert!(Calibration::through(&[(0.0, 0.0)], [1.0, 0.0]).is_err());
    }

    #[test]
    fn copies_are_weights_and_the_order_of_rows_does_not_matter() {
        for (seed, method) in (0..20).flat_map(|seed| METHODS.map(|method| (seed, method))) {
            let (scores, positive, weights) = sample(seed, 50);
            let of = |scores: &[f64], positive: &[bool], weights: Option<&[f64]>| {
                Calibration::fit(scores, &Labels::new(positive, weights).unwrap(), method).unwrap()
            };
            let weighted = of(&scores, &positive, Some(&weights));
            let repeated: Vec<(f64, bool)> = (0..scores.len())
                .rev()
                .flat_map(|row| vec![(scores[row], positive[row]); weights[row] as usize])
                .collect();
            let (scores, positive): (Vec<f64>, Vec<bool>) = repeated.into_iter().unzip();
            assert_eq!(of(&scores, &positive, None), weighted);
        }
    }

    #[test]
    fn even_odds_rise_with_the_factor_of_negatives() {
        for seed in 0..20 {
            let (scores, positive, weights) = sample(seed, 60);
            let labels = Labels::new(&positive, Some(&weights)).unwrap();
            let (_, cut) = Calibration::fit(&scores, &labels, CalibrationMethod::Sigmoid).unwrap();
            let even = |factors| Calibration::even_odds(&scores, &labels, factors).unwrap();
            assert_eq!(even([1.0, 1.0]).to_bits(), even([8.0, 8.0]).to_bits());
            assert!((even([1.0, 1.0]) - cut).abs() < 1e-9 * cut.abs().max(1.0), "{seed}");
            let cuts = [0.01, 0.1, 1.0, 10.0, 100.0].map(|factor| even([factor, 1.0]));
            assert!(cuts.is_sorted(), "{seed}: {cuts:?}");
        }
    }

    #[test]
    fn light_rows_of_one_class_alone_do_not_outweigh_the_other() {
        // Only 4 positives have the higher score.
        let positive: Vec<bool> = (0..50).map(|row| row >= 24).collect();
        let scores: Vec<f64> = (0..50).map(|row| f64::from(u8::from(row >= 46))).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let even = |factors| Calibration::even_odds(&scores, &labels, factors).unwrap();
        assert!(even([1.0, 1.0]) < 1.0);
        assert!(even([1000.0, 1e-4]) > 1.0);
        // By the two targets: at the higher score the odds are 27 to 1.
        assert!(even([26.9, 1.0]) < 1.0 && even([27.1, 1.0]) > 1.0);
    }

    #[test]
    fn a_score_that_does_not_rank_gives_about_the_share_of_positives() {
        let positive: Vec<bool> = (0..100).map(|row| row % 10 == 0).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let reversed: Vec<f64> = (0..100).map(|row| f64::from(row % 10)).collect();
        for (scores, method) in
            [vec![7.0; 100], reversed].into_iter().flat_map(|s| METHODS.map(|m| (s.clone(), m)))
        {
            let (found, cut) = Calibration::fit(&scores, &labels, method).unwrap();
            for score in &scores {
                let probability = found.probability(score - cut);
                assert!((probability - 0.1).abs() < 0.03, "{method:?}: {probability}");
            }
        }
    }

    #[test]
    fn classes_separated_without_error_are_not_certain() {
        let positive: Vec<bool> = (0..40).map(|row| row >= 30).collect();
        let scores: Vec<f64> = (0..40).map(f64::from).collect();
        let labels = Labels::new(&positive, None).unwrap();
        let (found, cut) = Calibration::fit(&scores, &labels, CalibrationMethod::Isotonic).unwrap();
        // Pools of 30 negative rows and a positive one, and of 10 positive rows and a negative one.
        assert!((found.probability(29.0 - cut) - 1.0 / 31.0).abs() < 1e-9);
        assert!((found.probability(30.0 - cut) - 10.0 / 11.0).abs() < 1e-9);
        assert!(29.0 < cut && cut < 30.0);
    }

    #[test]
    fn the_largest_scores_have_probabilities() {
        let labels = Labels::new(&[false, true, false, true], None).unwrap();
        for method in METHODS {
            let scores = [f64::MIN, -1.0, 2.0, f64::MAX];
            let (found, cut) = Calibration::fit(&scores, &labels, method).unwrap();
            assert_eq!(found.check(), Ok(()));
            assert!(cut.is_finite());
            for score in scores {
                assert!((0.0..=1.0).contains(&found.probability(score - cut)));
            }
        }
    }

    #[test]
    fn nan_scores_and_other_lengths_are_rejected() {
        let labels = Labels::new(&[false, true], None).unwrap();
        let fit = |scores: &[f64]| Calibration::fit(scores, &labels, CalibrationMethod::Sigmoid);
        assert_eq!(fit(&[0.0, f64::NAN]), Err(RankError::NanScore(1)));
        assert!(matches!(fit(&[0.0]), Err(RankError::LengthMismatch { .. })));
    }

    #[test]
    fn inconsistent_calibrations_are_rejected() {
        let of = |scores: &[f64], log_odds: &[f64], slopes| {
            let (scores, log_odds) = (scores.to_vec(), log_odds.to_vec());
            Calibration { scores, log_odds, slopes }.check().is_ok()
        };
        assert!(of(&[0.0], &[0.0], [1.0, 2.0]));
        assert!(of(&[-1.0, 0.0, 2.0], &[-0.5, 0.0, 0.0], [1.0; 2]));
        assert!(!of(&[], &[], [1.0; 2]));
        assert!(!of(&[0.0], &[], [1.0; 2]));
        assert!(!of(&[1.0], &[0.0], [1.0; 2]));
        assert!(!of(&[0.0, 1.0], &[0.0, -1.0], [1.0; 2]));
        assert!(!of(&[1.0, 0.0], &[0.0, 0.0], [1.0; 2]));
        assert!(!of(&[0.0, f64::NAN], &[0.0, 1.0], [1.0; 2]));
        assert!(!of(&[f64::MIN, 0.0, f64::MAX], &[-1.0, 0.0, 1.0], [1.0; 2]));
        assert!(!of(&[0.0], &[0.0], [0.0, 1.0]));
        assert!(!of(&[0.0], &[0.0], [1.0, f64::INFINITY]));
    }
}
