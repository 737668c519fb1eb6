//! RIMARC: the mean of the positive rates of a row's bins, weighted by how well each feature ranks.

use serde::{Deserialize, Serialize};

use super::bins::{BinnedFeature, Bins, gini};
use super::mad2c::{Mad2c, Mad2cParams, fit_mad2c};
use crate::boost::{FeatureTerm, Steps};
use crate::data::{ClassSums, Columns, Labels, times_power_of_two};
use crate::{Interrupt, RankError};

/// What a missing value is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingValues {
    /// Nothing: the feature has no say in the row (the paper).
    #[default]
    Ignore,
    /// A value like any other.
    Value,
}

/// How `RIMARC` learns; the paper has none of this.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RimarcParams {
    /// How features are cut into bins.
    pub bins: Mad2cParams,
    /// What a missing value is.
    pub missing: MissingValues,
    /// Rows of the prevalence that are added to every bin. Not negative.
    pub shrinkage: f64,
    /// Folds over which the weights of features are cross-fitted; `None` takes them from all rows.
    pub weight_folds: Option<u16>,
    /// Seed of the folds.
    pub seed: u64,
}

/// A fitted `RIMARC`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct Rimarc {
    parts: Parts,
    /// What each bin of each feature adds to the numerator and the denominator of (9).
    shares: Vec<Vec<Share>>,
}

/// What is saved of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Parts {
    table: Mad2c,
    missing: MissingValues,
    shrinkage: f64,
    weights: Vec<f64>,
}

/// `w_f Pr(p | q_f)` and `w_f`: whole multiples of a power of two that sums of all features hold
/// exactly, so that equal rows tie and the order of the features does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Share {
    weighted: f64,
    weight: f64,
}

impl TryFrom<Parts> for Rimarc {
    type Error = String;

    fn try_from(parts: Parts) -> Result<Self, String> {
        parts.table.check()?;
        Ok(Self::new(parts))
    }
}

impl From<Rimarc> for Parts {
    fn from(model: Rimarc) -> Self {
        model.parts
    }
}

impl Rimarc {
    fn new(parts: Parts) -> Self {
        let n_features = parts.weights.len();
        let unit = 2_f64.powi(n_features.max(1).next_power_of_two().ilog2() as i32 - 52);
        let snap = |value: f64| (value / unit).round() * unit;
        let mut model = Self { parts, shares: Vec::new() };
        model.shares = (0..n_features)
            .map(|feature| {
                let weight = model.parts.weights[feature];
                let share = |score: Option<f64>| match score {
                    Some(score) => Share { weighted: snap(weight * score), weight: snap(weight) },
                    None => Share::default(),
                };
                model.bin_scores(feature).into_iter().map(share).collect()
            })
            .collect();
        model
    }

    /// The features in bins.
    #[must_use]
    pub fn table(&self) -> &Mad2c {
        &self.parts.table
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.parts.table.n_levels()
    }

    /// `w_f` of each feature: `2(AUC_f - 1/2)`, (8) of the paper.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.parts.weights
    }

    /// Share of positives among all training rows.
    #[must_use]
    pub fn prevalence(&self) -> f64 {
        self.parts.table.total().eta()
    }

    /// What a missing value is.
    #[must_use]
    pub fn missing(&self) -> MissingValues {
        self.parts.missing
    }

    /// The score of each bin of a feature, (6) of the paper, that of what is missing the last;
    /// `None` where it has no say.
    #[must_use]
    pub fn bin_scores(&self, feature: usize) -> Vec<Option<f64>> {
        let Parts { table, missing, shrinkage, .. } = &self.parts;
        bin_scores(&table.features()[feature], table, *missing, *shrinkage)
    }

    /// `r(q)` of each row, (9) of the paper: the prevalence where nothing is known (DECISIONS R6).
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        let n_features = self.shares.len();
        let mut out = vec![0.0; columns.n_rows()];
        columns.by_tile(&mut out, 1, |(): &mut (), _, values, out| {
            for (out, values) in out.iter_mut().zip(values.chunks(n_features)) {
                let sum = self.sum(values);
                *out = if sum.weight > 0.0 { sum.weighted / sum.weight } else { self.prevalence() };
            }
        })?;
        Ok(out)
    }

    /// `r(q) - 1/2` of each row.
    ///
    /// # Errors
    ///
    /// As [`Rimarc::probability`].
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let mut scores = self.probability(columns)?;
        for score in &mut scores {
            *score -= 0.5;
        }
        Ok(scores)
    }

    /// The parts of the score of each row, row by row, one for each feature: how far its bin moves
    /// `r` from the prevalence. A row adds up to `r` less the prevalence.
    ///
    /// # Errors
    ///
    /// As [`Rimarc::probability`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        let n_features = self.shares.len();
        let prevalence = self.prevalence();
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        columns.by_tile(&mut parts, n_features, |(): &mut (), _, values, parts| {
            for (parts, values) in parts.chunks_mut(n_features).zip(values.chunks(n_features)) {
                let total = self.sum(values).weight;
                for (feature, (part, &value)) in parts.iter_mut().zip(values).enumerate() {
                    let share = self.share(feature, value);
                    if total > 0.0 {
                        *part = (share.weighted - share.weight * prevalence) / total;
                    }
                }
            }
        })?;
        Ok(parts)
    }

    /// The score of rows that miss nothing as a sum of step functions, one for each feature of any
    /// weight: their values add up to `r`. A feature that is missing without being a value adds
    /// what the prevalence would. A special value is a step of its own, up to the next number.
    #[must_use]
    pub fn terms(&self) -> Vec<FeatureTerm> {
        let total: f64 = self.parts.weights.iter().sum();
        let weights = self.parts.weights.iter().enumerate();
        let terms = weights.filter(|&(_, &weight)| weight > 0.0).map(|(feature, &weight)| {
            let of_bin: Vec<f64> = self
                .bin_scores(feature)
                .into_iter()
                .map(|score| weight * score.unwrap_or(self.prevalence()) / total)
                .collect();
            let bins = &self.parts.table.features()[feature].bins;
            let steps = match bins {
                Bins::Categorical { bin_of_level, .. } => {
                    let values = bin_of_level.iter().map(|&bin| of_bin[bin]).collect();
                    Steps::Categorical { values }
                }
                Bins::Numeric { cuts, special } => {
                    let mut thresholds = cuts.clone();
                    thresholds.extend(special.iter().flat_map(|&apart| [apart, apart.next_up()]));
                    thresholds.sort_unstable_by(f64::total_cmp);
                    thresholds.dedup();
                    let least = std::iter::once(f64::NEG_INFINITY);
                    let starts = least.chain(thresholds.iter().copied());
                    let values = starts.map(|start| of_bin[bins.bin(start)]).collect();
                    Steps::Numeric { thresholds, values }
                }
            };
            FeatureTerm { feature, steps, missing: of_bin[bins.n_bins()] }
        });
        terms.collect()
    }

    fn share(&self, feature: usize, value: f64) -> Share {
        self.shares[feature][self.parts.table.features()[feature].bins.bin(value)]
    }

    fn sum(&self, values: &[f64]) -> Share {
        let mut sum = Share::default();
        for (feature, &value) in values.iter().enumerate() {
            let share = self.share(feature, value);
            sum.weighted += share.weighted;
            sum.weight += share.weight;
        }
        sum
    }

    /// Whether the parts fit together: what a file is asked before it is believed.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn check(&self) -> Result<(), String> {
        self.parts.table.check()
    }
}

/// The score of each bin, that of what is missing the last; `None` where it has no say.
fn bin_scores(
    feature: &BinnedFeature,
    table: &Mad2c,
    missing: MissingValues,
    shrinkage: f64,
) -> Vec<Option<f64>> {
    let prevalence = table.total().eta();
    let score = |sums: &ClassSums| -> Option<f64> {
        if sums.pos + sums.neg == 0 {
            return None;
        }
        if shrinkage == 0.0 {
            return Some(sums.eta());
        }
        let weight = |units: u64| times_power_of_two(units as f64, table.exponent());
        let n_rows = weight(sums.pos + sums.neg);
        Some((weight(sums.pos) + shrinkage * prevalence) / (n_rows + shrinkage))
    };
    let mut scores: Vec<Option<f64>> = feature.sums.iter().map(score).collect();
    if missing == MissingValues::Ignore {
        scores[feature.bins.n_bins()] = None;
    }
    scores
}

/// `2(AUC - 1/2)` of the rows that have a score, ranked by it.
fn weight_of(sums: &[ClassSums], scores: &[Option<f64>]) -> f64 {
    let mut scored: Vec<(f64, ClassSums)> =
        scores.iter().zip(sums).filter_map(|(score, &sums)| Some(((*score)?, sums))).collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut groups: Vec<(f64, ClassSums)> = Vec::new();
    for (score, sums) in scored {
        match groups.last_mut() {
            Some((last, group)) if *last >= score => *group += sums,
            _ => groups.push((score, sums)),
        }
    }
    gini(groups.into_iter().map(|(_, sums)| sums).collect()).max(0.0)
}

/// Fits `RIMARC` (Algorithm 2 of the paper).
///
/// # Errors
///
/// [`RankError`] for an infinite value, a category code out of range, lengths that differ, a
/// parameter out of range, or when interrupted.
pub fn fit_rimarc(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &RimarcParams,
    interrupt: &Interrupt,
) -> Result<Rimarc, RankError> {
    let table = fit_mad2c(columns, labels, &params.bins, interrupt)?;
    let (missing, shrinkage) = (params.missing, params.shrinkage);
    let weight = |feature: &BinnedFeature| {
        weight_of(&feature.sums, &bin_scores(feature, &table, missing, shrinkage))
    };
    let weights = table.features().iter().map(weight).collect();
    Ok(Rimarc::new(Parts { table, missing, shrinkage, weights }))
}
