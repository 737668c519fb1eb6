//! Scorecards: whole points for the bins of each feature, which a person can add up.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bins::{Bins, gini, place_among};
use super::drift::{DriftCounts, NewRows, count_bins, count_points};
use super::log_odds::log_odds_line;
use crate::boost::{FeatureTerm, Steps};
use crate::data::{ClassSums, Column, Columns, Labels, times_power_of_two};
use crate::roc::curve_of;
use crate::{Interrupt, RankError};

/// The class that many points speak for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HighPoints {
    /// The positive class.
    Positive,
    /// The negative class, as banks have it whose positive class is default.
    Negative,
}

/// How points are given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScorecardParams {
    /// Points of a row whose odds are `base_odds`.
    pub base_points: f64,
    /// Odds of the class with many points. Positive.
    pub base_odds: f64,
    /// Points that double the odds. Positive.
    pub pdo: f64,
    /// The class that many points speak for.
    pub high_points: HighPoints,
    /// Whether the points of a number may only rise or only fall.
    pub monotone: bool,
    /// Share of all rows that a bin of known values holds at least. In [0, 1).
    pub min_bin_share: f64,
    /// For each feature the numbers that each get a bin of their own; empty for none at all.
    pub special: Vec<Vec<f64>>,
}

/// A feature of a scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardFeature {
    /// Which feature.
    pub feature: usize,
    /// Its bins.
    pub bins: Bins,
    /// The training rows in each bin, those that miss the feature the last.
    pub sums: Vec<ClassSums>,
    /// What each bin adds to the score that the points stand for.
    pub values: Vec<f64>,
    /// Its points, at least 0.
    pub points: Vec<i64>,
}

/// A scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scorecard {
    n_levels: Vec<Option<u32>>,
    total: ClassSums,
    exponent: i32,
    features: Vec<CardFeature>,
    initial_points: i64,
    /// Points of even odds.
    offset: f64,
    /// Points by which the odds grow `e` times.
    factor: f64,
    high_points: HighPoints,
    /// The training rows by their points, ascending.
    distribution: Vec<(i64, ClassSums)>,
    /// AUC of the training rows before points were rounded.
    exact_auc: f64,
}

impl Scorecard {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// The features that have points.
    #[must_use]
    pub fn features(&self) -> &[CardFeature] {
        &self.features
    }

    /// Points that every row has.
    #[must_use]
    pub fn initial_points(&self) -> i64 {
        self.initial_points
    }

    /// AUC of the training rows before points were rounded.
    #[must_use]
    pub fn exact_auc(&self) -> f64 {
        self.exact_auc
    }

    /// AUC of the training rows by their points.
    #[must_use]
    pub fn auc(&self) -> f64 {
        let mut groups: Vec<ClassSums> = self.distribution.iter().map(|&(_, sums)| sums).collect();
        if self.high_points == HighPoints::Negative {
            groups.reverse();
        }
        f64::midpoint(1.0, gini(groups))
    }

    /// Points of each row.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn points(&self, columns: &Columns<'_>) -> Result<Vec<i64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let n_features = self.n_levels.len();
        let mut out = vec![0.0; columns.n_rows()];
        columns.by_tile(&mut out, 1, |(): &mut (), _, values, out| {
            for (out, values) in out.iter_mut().zip(values.chunks(n_features)) {
                let of_feature =
                    |card: &CardFeature| card.points[card.bins.bin(values[card.feature])];
                let points: i64 = self.features.iter().map(of_feature).sum();
                *out = (self.initial_points + points) as f64;
            }
        })?;
        Ok(out.into_iter().map(|points| points as i64).collect())
    }

    /// Points of each feature of the card for each row, row by row.
    ///
    /// # Errors
    ///
    /// As [`Scorecard::points`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        let n_features = self.n_levels.len();
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        columns.by_tile(&mut parts, n_features, |(): &mut (), _, values, parts| {
            for (parts, values) in parts.chunks_mut(n_features).zip(values.chunks(n_features)) {
                for card in &self.features {
                    parts[card.feature] = card.points[card.bins.bin(values[card.feature])] as f64;
                }
            }
        })?;
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
        let points = self.points(columns)?;
        let bins: Vec<_> = self.features.iter().map(|card| (card.feature, &card.bins)).collect();
        let features = count_bins(columns, &bins, rows)?;
        let distribution = count_points(&points, rows);
        let total = distribution.iter().map(|&(_, sums)| sums).sum();
        Ok(DriftCounts { exponent: rows.exponent(), total, features, distribution })
    }

    /// Log-odds of the positive class that some points stand for.
    #[must_use]
    pub fn log_odds(&self, points: i64) -> f64 {
        let log_odds = (points as f64 - self.offset) / self.factor;
        match self.high_points {
            HighPoints::Positive => log_odds,
            HighPoints::Negative => -log_odds,
        }
    }

    /// Log-odds of the positive class of each row, by its points.
    ///
    /// # Errors
    ///
    /// As [`Scorecard::points`].
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let points = self.points(columns)?;
        Ok(points.into_iter().map(|points| self.log_odds(points)).collect())
    }

    /// Probability of the positive class of each row, by its points.
    ///
    /// # Errors
    ///
    /// As [`Scorecard::points`].
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let scores = self.score(columns)?;
        Ok(scores.into_iter().map(|score| 1.0 / (1.0 + (-score).exp())).collect())
    }

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// Some values of a feature that share a bin.
#[derive(Debug, Clone)]
struct Part {
    value: f64,
    sums: ClassSums,
    /// Of a category.
    levels: Vec<usize>,
}

impl Part {
    fn weight(&self) -> u64 {
        self.sums.pos + self.sums.neg
    }

    /// Both as one bin: its value is the mean over the rows.
    fn join(&mut self, other: Self) {
        let (a, b) = (self.weight(), other.weight());
        if a == 0 {
            self.value = other.value;
        } else if b > 0 {
            let (a, b) = (a as f64, b as f64);
            self.value = (a * self.value + b * other.value) / (a + b);
        }
        self.sums += other.sums;
        self.levels.extend(other.levels);
    }
}

/// A feature on its way to the card: parts in the order of its values, with cuts between them if they
/// are numbers; special values; what is missing.
#[derive(Debug, Clone)]
struct Draft {
    feature: usize,
    cuts: Option<Vec<f64>>,
    parts: Vec<Part>,
    special: Vec<(f64, Part)>,
    missing: Part,
}

impl Draft {
    /// The step function with the rows of each step.
    #[expect(clippy::float_cmp, reason = "a step is between values that differ at all")]
    fn new(
        term: &FeatureTerm,
        column: &Column<'_>,
        labels: &Labels<'_>,
        special_values: &[f64],
    ) -> Self {
        let part = |value: f64| Part { value, sums: ClassSums::default(), levels: Vec::new() };
        let (cuts, mut parts) = match &term.steps {
            Steps::Numeric { thresholds, values } => {
                let (mut cuts, mut parts) = (Vec::new(), vec![part(values[0])]);
                for (place, (&threshold, &value)) in thresholds.iter().zip(&values[1..]).enumerate()
                {
                    // A step that holds a special value alone is that value's bin.
                    let next = thresholds.get(place + 1);
                    let is_special = place_among(special_values, threshold).is_some();
                    if is_special && next == Some(&threshold.next_up()) {
                        continue;
                    }
                    if parts.last().is_some_and(|last| last.value == value) {
                        continue;
                    }
                    cuts.push(threshold);
                    parts.push(part(value));
                }
                (Some(cuts), parts)
            }
            Steps::Categorical { values } => {
                let mut parts: Vec<Part> = Vec::new();
                let mut levels: Vec<usize> = (0..values.len()).collect();
                levels.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
                for level in levels {
                    match parts.last_mut() {
                        Some(last) if last.value == values[level] => last.levels.push(level),
                        _ => parts.push(Part { levels: vec![level], ..part(values[level]) }),
                    }
                }
                (None, parts)
            }
        };
        let mut special: Vec<(f64, Part)> =
            special_values.iter().map(|&value| (value, part(term.value(value)))).collect();
        let mut missing = part(term.missing);
        let n_levels = parts.iter().map(|part| part.levels.len()).sum();
        let mut part_of_level = vec![0; n_levels];
        for (place, part) in parts.iter().enumerate() {
            part.levels.iter().for_each(|&level| part_of_level[level] = place);
        }
        for &row in &labels.rows() {
            let row = row as usize;
            let sums = labels.sums(row);
            let number = match column {
                Column::F64(values) => values.get(row),
                Column::F32(values) => values.get(row),
                Column::Codes { codes, .. } => {
                    match part_of_level.get(codes[row] as usize) {
                        Some(&place) => parts[place].sums += sums,
                        None => missing.sums += sums,
                    }
                    continue;
                }
            };
            if number.is_nan() {
                missing.sums += sums;
            } else if let Some(place) = place_among(special_values, number) {
                special[place].1.sums += sums;
            } else if let Some(cuts) = &cuts {
                parts[cuts.partition_point(|&cut| cut <= number)].sums += sums;
            }
        }
        Self { feature: term.feature, cuts, parts, special, missing }
    }

    /// Joins a part and the one after it.
    fn join(&mut self, place: usize) {
        let next = self.parts.remove(place + 1);
        self.parts[place].join(next);
        if let Some(cuts) = &mut self.cuts {
            cuts.remove(place);
        }
    }

    /// Joins parts that hold too few rows to the neighbour whose value is nearest, the fewest first.
    fn join_small(&mut self, least: f64) {
        while self.parts.len() > 1 {
            let small = |part: &Part| part.weight() == 0 || (part.weight() as f64) < least;
            let places = (0..self.parts.len()).filter(|&place| small(&self.parts[place]));
            let Some(place) = places.min_by_key(|&place| self.parts[place].weight()) else { break };
            let gap = |place: usize| {
                let above = self.parts.get(place + 1)?;
                Some((self.parts[place].value - above.value).abs())
            };
            let below = place.checked_sub(1).and_then(gap);
            let above = gap(place);
            let with_below = match (below, above) {
                (Some(below), Some(above)) => below <= above,
                (below, _) => below.is_some(),
            };
            self.join(if with_below { place - 1 } else { place });
        }
    }

    /// Pools neighbours until the values of a number only rise or only fall, whichever changes them
    /// less.
    fn make_monotone(&mut self) {
        if self.cuts.is_none() {
            return;
        }
        let pooled = |sign: f64| {
            let mut draft = self.clone();
            let mut place = 0;
            while place + 1 < draft.parts.len() {
                if sign * (draft.parts[place + 1].value - draft.parts[place].value) > 0.0 {
                    place += 1;
                } else {
                    draft.join(place);
                    place = place.saturating_sub(1);
                }
            }
            let cuts = draft.cuts.as_deref().unwrap_or(&[]);
            let change = |(place, part): (usize, &Part)| {
                let edge = self.cuts.as_ref().and_then(|cuts| cuts.get(place)).copied();
                let bin = edge.map_or(cuts.len(), |edge| cuts.partition_point(|&cut| cut < edge));
                part.weight() as f64 * (part.value - draft.parts[bin].value).powi(2)
            };
            let change: f64 = self.parts.iter().enumerate().map(change).sum();
            (change, draft)
        };
        let (rising, falling) = (pooled(1.0), pooled(-1.0));
        *self = if falling.0 < rising.0 { falling.1 } else { rising.1 };
    }

    fn all_parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.iter().chain(self.special.iter().map(|(_, part)| part)).chain([&self.missing])
    }

    fn bins(&self) -> Bins {
        if let Some(cuts) = &self.cuts {
            let special = self.special.iter().map(|&(value, _)| value).collect();
            return Bins::Numeric { cuts: cuts.clone(), special };
        }
        let n_levels = self.parts.iter().map(|part| part.levels.len()).sum();
        let mut bin_of_level = vec![0; n_levels];
        for (bin, part) in self.parts.iter().enumerate() {
            part.levels.iter().for_each(|&level| bin_of_level[level] = bin);
        }
        Bins::Categorical { bin_of_level, n_bins: self.parts.len() }
    }

    /// The feature with points `scale * value`, the lowest 0, and what was taken off to make it so;
    /// neighbours of equal points are one bin.
    fn finish(mut self, scale: f64) -> (CardFeature, f64) {
        let lowest = self.all_parts().map(|part| scale * part.value).fold(f64::INFINITY, f64::min);
        let points = |part: &Part| (scale * part.value - lowest).round() as i64;
        let mut place = 0;
        while place + 1 < self.parts.len() {
            if points(&self.parts[place]) == points(&self.parts[place + 1]) {
                let kept = self.parts[place].value;
                self.join(place);
                self.parts[place].value = kept;
            } else {
                place += 1;
            }
        }
        let card = CardFeature {
            feature: self.feature,
            bins: self.bins(),
            sums: self.all_parts().map(|part| part.sums).collect(),
            values: self.all_parts().map(|part| part.value).collect(),
            points: self.all_parts().map(points).collect(),
        };
        (card, lowest)
    }
}

/// Gives points to a sum of step functions, one for each feature.
///
/// # Errors
///
/// [`RankError`] if the terms or columns do not fit together, for an infinite value, or a parameter
/// out of range.
pub fn build_scorecard(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    terms: &[FeatureTerm],
    params: &ScorecardParams,
    interrupt: &Interrupt,
) -> Result<Scorecard, RankError> {
    let n_levels: Vec<Option<u32>> = columns.iter().map(Column::n_levels).collect();
    let total = labels.total();
    let least = params.min_bin_share * (total.pos + total.neg) as f64;
    let mut drafts = Vec::with_capacity(terms.len());
    for term in terms {
        interrupt.check()?;
        let special = params.special.get(term.feature).map_or(&[][..], Vec::as_slice);
        let mut draft = Draft::new(term, &columns[term.feature], labels, special);
        draft.join_small(0.0);
        if params.monotone {
            draft.make_monotone();
        }
        draft.join_small(least);
        drafts.push(draft);
    }

    // The score before rounding, and the line of log-odds along it.
    let bins: Vec<Bins> = drafts.iter().map(Draft::bins).collect();
    let values: Vec<Vec<f64>> =
        drafts.iter().map(|draft| draft.all_parts().map(|part| part.value).collect()).collect();
    let n_features = n_levels.len();
    let mut scores = vec![0.0; columns.n_rows()];
    columns.by_tile(&mut scores, 1, |(): &mut (), _, raw, out| {
        for (out, raw) in out.iter_mut().zip(raw.chunks(n_features)) {
            let parts = drafts.iter().zip(&bins).zip(&values);
            *out = parts.map(|((draft, bins), values)| values[bins.bin(raw[draft.feature])]).sum();
        }
    })?;
    let curve = curve_of(&scores, labels)?;
    let groups: Vec<(f64, ClassSums)> = (1..curve.len())
        .rev()
        .map(|knot| {
            let step = |counts: &[u64]| counts[knot] - counts[knot - 1];
            let pos = step(curve.true_positives());
            let neg = step(curve.false_positives());
            (curve.thresholds()[knot], ClassSums { pos, neg, rows: 0 })
        })
        .collect();
    let unit = times_power_of_two(1.0, labels.exponent());
    let (intercept, slope) = log_odds_line(&groups, unit);

    let factor = params.pdo / std::f64::consts::LN_2;
    let offset = params.base_points - factor * params.base_odds.ln();
    let sign = match params.high_points {
        HighPoints::Positive => 1.0,
        HighPoints::Negative => -1.0,
    };
    let mut initial = offset + sign * factor * intercept;
    let mut features = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let (card, lowest) = draft.finish(sign * factor * slope);
        initial += lowest;
        if card.points.iter().any(|&points| points > 0) {
            features.push(card);
        }
    }
    let mut card = Scorecard {
        n_levels,
        total,
        exponent: labels.exponent(),
        features,
        initial_points: initial.round() as i64,
        offset,
        factor,
        high_points: params.high_points,
        distribution: Vec::new(),
        exact_auc: curve.auc(),
    };
    let mut distribution: BTreeMap<i64, ClassSums> = BTreeMap::new();
    for (row, points) in card.points(columns)?.into_iter().enumerate() {
        let sums = labels.sums(row);
        if sums.rows > 0 {
            *distribution.entry(points).or_default() += sums;
        }
    }
    card.distribution = distribution.into_iter().collect();
    Ok(card)
}
