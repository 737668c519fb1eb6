//! RIMARC: the weighted mean of the positive rates of a row's bins, each feature weighted by its
//! AUC.
//!
//! The score is `r - 1/2`, a quotient of two sums over the features whose value is known:
//! `w (Pr(p) - 1/2)` and `w`. Both are rounded to multiples of one power of two, so small that no
//! sum of them rounds: equal rows tie, the order of the features does not matter, and exchanging
//! the classes exactly negates the score.

use std::ops::AddAssign;

use crate::parallel::prelude::*;
use serde::{Deserialize, Serialize};

use super::bins::BinnedFeature;
use super::cut_search::{CutSearch, FoldView, RawRows};
use super::mad2c::{Mad2c, Mad2cParams, bin_features, fit_mad2c};
use crate::data::{
    Bins, ClassMasses, ClassSums, Column, Columns, FeatureSteps, FeatureTerm, Folds, Labels,
    LevelRates, Lookups, NO_FOLD, RateShrinkage, RowUnits, TwoParts, times_power_of_two,
};
use crate::formula::{Formula, Steps};
use crate::interrupt::PartCounter;
use crate::rows::TrainingRows;
use crate::{Interrupt, RankError};

/// No AUC of two classes of at most 2^53 units of weight is closer to one half, except one half
/// itself.
const LEAST_WEIGHT: f64 = 1.0 / (1_u128 << 106) as f64;

/// A feature of positive weight counts at least 2^-28 of the largest weight: in rows where only
/// that feature is known it must not be lost in rounding.
const LEAST_SHARE: i32 = -28;

/// Treatment of missing values.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{MissingValues, RimarcParams, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, f64::NAN], 1)?;
/// let labels = Labels::new(&[false, true, true], None)?;
/// let of_missing = |missing| {
///     let params = RimarcParams { missing, ..RimarcParams::default() };
///     fit_rimarc((&columns, &labels), &params, &Interrupt::default())
///         .map(|model| model.bin_scores(0)[2])
/// };
/// assert_eq!(of_missing(MissingValues::Ignore)?, None);
/// assert_eq!(of_missing(MissingValues::Value)?, Some(1.0));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingValues {
    /// The feature does not contribute to the row (the paper).
    #[default]
    Ignore,
    /// A value like any other.
    Value,
}

/// Parameters of `RIMARC`; the paper has none of them.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{RimarcParams, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// // As if there were two more rows in every bin, one of them positive.
/// let params = RimarcParams { shrinkage: 2.0, ..RimarcParams::default() };
/// let model = fit_rimarc((&columns, &labels), &params, &Interrupt::default())?;
/// let scores: Vec<f64> = model.bin_scores(0).into_iter().flatten().collect();
/// assert_eq!(scores.len(), 3);
/// for (score, expected) in scores.iter().zip([1.0 / 3.0, 1.0 / 2.0, 2.0 / 3.0]) {
///     assert!((score - expected).abs() < 1e-12);
/// }
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RimarcParams {
    /// How features are cut into bins.
    pub bins: Mad2cParams,
    /// Treatment of missing values.
    pub missing: MissingValues,
    /// Number of rows at the prevalence that are added to every bin. Not negative.
    pub shrinkage: f64,
    /// How the class rates of categories are estimated.
    #[serde(default)]
    pub level_rates: LevelRates,
    /// Number of folds over which the weights of features are cross-fitted, at least 2; `None`
    /// estimates them from all rows.
    pub weight_folds: Option<u16>,
    /// Seed of the folds.
    pub seed: u64,
}

impl RimarcParams {
    fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        if !(self.shrinkage.is_finite() && self.shrinkage >= 0.0) {
            return bad("shrinkage", self.shrinkage.to_string(), "finite and not negative");
        }
        match self.weight_folds {
            Some(folds @ (0 | 1 | NO_FOLD)) => {
                bad("weight_folds", folds.to_string(), "from 2 to 65534")
            }
            _ => Ok(()),
        }
    }

    /// How features with these numbers of categories are scored, `None` for a number.
    fn scoring(&self, n_levels: &[Option<u32>], units: impl FnOnce() -> RowUnits) -> Scoring {
        let has_categories = n_levels.iter().any(Option::is_some);
        let level_units = (has_categories && self.level_rates == LevelRates::Shrunken).then(units);
        Scoring { missing: self.missing, shrinkage: self.shrinkage, level_units }
    }
}

/// A fitted `RIMARC`.
///
/// For an example see [`fit_rimarc`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedRimarc", into = "SavedRimarc")]
pub struct Rimarc {
    parts: SavedRimarc,
    /// Contributions of each bin of each feature to the numerator and the denominator of the score.
    shares: Vec<Vec<Share>>,
}

/// The saved form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SavedRimarc {
    table: Mad2c,
    scoring: Scoring,
    weights: Vec<f64>,
    weight_folds: Option<u16>,
}

/// Parameters by which bins are scored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Scoring {
    missing: MissingValues,
    shrinkage: f64,
    /// Variance due to chance of the rates of categories; `None` if rates are not shrunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level_units: Option<RowUnits>,
}

/// Contribution of a value to the two sums of the score.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{RimarcParams, Share, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let model = fit_rimarc((&columns, &labels), &RimarcParams::default(), &Interrupt::default())?;
/// let shares = model.shares(0);
/// // No row of the first bin is positive.
/// assert_eq!(shares[0].numerator / shares[0].weight, -0.5);
/// assert_eq!(shares[3], Share::default());
///
/// let mut sum = shares[0];
/// sum += shares[1];
/// assert_eq!(sum.numerator / sum.weight, -0.25);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Share {
    /// `w (Pr(p) - 1/2)`.
    pub numerator: f64,
    /// `w`, 0 if the value does not contribute.
    pub weight: f64,
}

impl AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.numerator += other.numerator;
        self.weight += other.weight;
    }
}

impl TryFrom<SavedRimarc> for Rimarc {
    type Error = String;

    fn try_from(parts: SavedRimarc) -> Result<Self, String> {
        parts.check()?;
        Ok(Self::new(parts))
    }
}

impl From<Rimarc> for SavedRimarc {
    fn from(model: Rimarc) -> Self {
        model.parts
    }
}

impl SavedRimarc {
    fn check(&self) -> Result<(), String> {
        self.table.check()?;
        let (n_features, n_weights) = (self.table.features().len(), self.weights.len());
        if n_features == 0 {
            return Err("there is no feature".to_owned());
        }
        if n_weights != n_features {
            return Err(format!("there are {n_weights} weights of {n_features} features"));
        }
        let is_weight = |w: f64| w == 0.0 || (LEAST_WEIGHT..=1.0).contains(&w);
        if let Some(weight) = self.weights.iter().find(|&&weight| !is_weight(weight)) {
            return Err(format!("{weight} is not a weight of a feature"));
        }
        let Scoring { shrinkage, level_units, .. } = self.scoring;
        if !(shrinkage.is_finite() && shrinkage >= 0.0) {
            return Err(format!("{shrinkage} is not a shrinkage"));
        }
        level_units.iter().try_for_each(RowUnits::check)?;
        match self.weight_folds {
            Some(folds @ (0 | 1 | NO_FOLD)) => Err(format!("there are not {folds} folds")),
            _ => Ok(()),
        }
    }
}

impl Scoring {
    /// `2 Pr(p) - 1` of each bin of a feature, missing values last; `None` if it does not
    /// contribute. Exchanging the classes exactly negates it.
    fn balances(self, feature: &BinnedFeature, table: &Mad2c) -> Vec<Option<f64>> {
        // Not from a rounded rate `p`: `1 - p` would be rounded once more, and negate less than
        // exactly.
        let balance_of =
            |sums: ClassSums| (sums.pos as f64 - sums.neg as f64) / (sums.pos + sums.neg) as f64;
        let towards = balance_of(table.total());
        let belief = self.belief(feature);
        let n_bins = feature.bins.n_bins();
        // The bin of missing values was not selected among many.
        let of_rows = |place: usize, sums: ClassSums| match belief {
            Belief::None if place < n_bins => balance_of(feature.known()),
            Belief::Shrunken(shrinkage) if place < n_bins => {
                let kept = shrinkage.kept(sums.into());
                kept * balance_of(sums) + (1.0 - kept) * balance_of(feature.known())
            }
            _ => balance_of(sums),
        };
        let of_bin = |(place, &sums): (usize, &ClassSums)| -> Option<f64> {
            if sums.pos + sums.neg == 0 {
                return None;
            }
            let balance = of_rows(place, sums);
            if self.shrinkage == 0.0 {
                return Some(balance);
            }
            let n_rows = times_power_of_two((sums.pos + sums.neg) as f64, table.exponent());
            // Both stay in range for any weights: `added` is infinite if weights are tiny.
            let added = self.shrinkage / n_rows;
            let kept = 1.0 / (1.0 + added);
            Some(kept * balance + (1.0 - kept) * towards)
        };
        let mut balances: Vec<Option<f64>> = feature.sums.iter().enumerate().map(of_bin).collect();
        if self.missing == MissingValues::Ignore {
            balances[n_bins] = None;
        }
        balances
    }

    /// The shrinkage of the rates of the bins of a feature; there is none for a number.
    fn belief(self, feature: &BinnedFeature) -> Belief {
        let Some(units) = self.level_units.filter(|_| feature.direction.is_none()) else {
            return Belief::Rates;
        };
        let levels = feature.sums[..feature.bins.n_bins()].iter().map(|&sums| sums.into());
        RateShrinkage::of(levels, &units).map_or(Belief::None, |shrinkage| {
            if shrinkage.is_none() { Belief::Rates } else { Belief::Shrunken(shrinkage) }
        })
    }

    /// The class masses of each bin after shrinkage, by which the feature is weighted.
    fn shrunken_masses(self, feature: &BinnedFeature) -> Vec<ClassMasses> {
        let n_bins = feature.bins.n_bins();
        let mut masses: Vec<ClassMasses> = feature.sums.iter().map(|&sums| sums.into()).collect();
        match self.belief(feature) {
            // If rates have no weight, all balances are equal.
            Belief::Rates | Belief::None => {}
            Belief::Shrunken(shrinkage) => {
                masses[..n_bins].iter_mut().for_each(|level| *level = shrinkage.shrink(*level));
            }
        }
        masses
    }
}

/// The extent to which the class rates of categories are shrunk.
#[derive(Debug, Clone, Copy)]
enum Belief {
    /// Not at all.
    Rates,
    /// In part.
    Shrunken(RateShrinkage),
    /// Completely: chance explains them.
    None,
}

impl Rimarc {
    fn new(parts: SavedRimarc) -> Self {
        let bits_of_sum = parts.weights.len().max(1).next_power_of_two().ilog2() as i32;
        let largest = parts.weights.iter().copied().fold(LEAST_WEIGHT, f64::max);
        // The power of two above the largest weight.
        let top = (largest.to_bits() >> 52) as i32 - 1022;
        let power = |exponent: i32| times_power_of_two(1.0, exponent);
        // A sum over all features takes 52 bits: no score is rounded before its division, so that
        // equal rows tie, and neither the order of the features nor an export in another language
        // changes a bit.
        let unit = power(top + bits_of_sum - 52);
        let least = power(LEAST_SHARE + 52 - bits_of_sum).max(1.0);
        let shares_of = |(feature, &weight): (&BinnedFeature, &f64)| {
            let units = if weight > 0.0 { (weight / unit).round().max(least) } else { 0.0 };
            let share = |balance: Option<f64>| match balance {
                Some(balance) => Share {
                    numerator: (units * balance).round() * unit / 2.0,
                    weight: units * unit,
                },
                None => Share::default(),
            };
            parts.scoring.balances(feature, &parts.table).into_iter().map(share).collect()
        };
        let shares = parts.table.features().iter().zip(&parts.weights).map(shares_of).collect();
        Self { parts, shares }
    }

    /// With cross-fitted weights and their number of folds, or else with weights from all rows.
    fn of_table(table: Mad2c, scoring: Scoring, cross_fitted: Option<(Vec<f64>, u16)>) -> Self {
        let weight = |feature: &BinnedFeature| {
            ScoredPairs::of(&scoring.shrunken_masses(feature), &scoring.balances(feature, &table))
                .weight()
        };
        let (weights, weight_folds) = cross_fitted.map_or_else(
            || (table.features().iter().map(weight).collect(), None),
            |(weights, n_folds)| (weights, Some(n_folds)),
        );
        Self::new(SavedRimarc { table, scoring, weights, weight_folds })
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

    /// Number of folds over which the weights are cross-fitted: as requested, or the number of
    /// distinct rows of the rarer class if that is less. `None` if they are from all rows, as they
    /// also are if that class has a single distinct row.
    #[must_use]
    pub fn weight_folds(&self) -> Option<u16> {
        self.parts.weight_folds
    }

    /// Share of positives among all training rows.
    #[must_use]
    pub fn prevalence(&self) -> f64 {
        self.parts.table.total().eta()
    }

    /// The score of a row without known values: the prevalence less one half.
    #[must_use]
    pub fn base_score(&self) -> f64 {
        let ClassSums { pos, neg, .. } = self.parts.table.total();
        (pos as f64 - neg as f64) / (2 * (pos + neg)) as f64
    }

    /// Treatment of missing values.
    #[must_use]
    pub fn missing(&self) -> MissingValues {
        self.parts.scoring.missing
    }

    /// The score of each bin of a feature, (6) of the paper, that of missing values last; `None` if
    /// it does not contribute.
    #[must_use]
    pub fn bin_scores(&self, feature: usize) -> Vec<Option<f64>> {
        let SavedRimarc { table, scoring, .. } = &self.parts;
        let feature = &table.features()[feature];
        let is_plain = scoring.shrinkage == 0.0 && matches!(scoring.belief(feature), Belief::Rates);
        let balances = scoring.balances(feature, table).into_iter().zip(&feature.sums);
        let score = |(balance, sums): (Option<f64>, &ClassSums)| {
            balance.map(|balance| if is_plain { sums.eta() } else { f64::midpoint(balance, 1.0) })
        };
        balances.map(score).collect()
    }

    /// Contributions of each bin of a feature to the two sums whose quotient is the score.
    #[must_use]
    pub fn shares(&self, feature: usize) -> &[Share] {
        &self.shares[feature]
    }

    /// `r(q)` of each row, (9) of the paper: the prevalence if no value is known (DECISIONS R6). It
    /// is above one half exactly when the score is above 0.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let prevalence = self.prevalence();
        self.of_rows(columns, |sum| {
            // The sum in the numerator is exact too.
            if sum.weight > 0.0 {
                (sum.weight / 2.0 + sum.numerator) / sum.weight
            } else {
                prevalence
            }
        })
    }

    /// `r(q) - 1/2` of each row.
    ///
    /// # Errors
    ///
    /// As [`Rimarc::probability`].
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let base_score = self.base_score();
        self.of_rows(columns, |sum| {
            if sum.weight > 0.0 { sum.numerator / sum.weight } else { base_score }
        })
    }

    fn of_rows(
        &self,
        columns: &Columns<'_>,
        score: impl Fn(Share) -> f64 + Sync,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        let (shares, lookups) = self.lookups();
        let mut out = vec![0.0; columns.n_rows()];
        lookups.by_tile(columns, &mut out, 1, |sums: &mut Vec<Share>, of_feature, out| {
            sums.clear();
            sums.resize(out.len(), Share::default());
            for (shares, bins) in shares.iter().zip(of_feature) {
                for (sum, &bin) in sums.iter_mut().zip(bins) {
                    *sum += shares[bin as usize];
                }
            }
            out.iter_mut().zip(sums).for_each(|(out, &mut sum)| *out = score(sum));
        })?;
        Ok(out)
    }

    /// The contributing features, and the shares of their bins.
    fn lookups(&self) -> (Vec<&[Share]>, Lookups<'_>) {
        let features = self.parts.table.features().iter().zip(&self.shares).enumerate();
        let has_say = |shares: &[Share]| shares.iter().any(|share| share.weight > 0.0);
        let said: Vec<_> = features.filter(|(_, (_, shares))| has_say(shares)).collect();
        let shares = said.iter().map(|(_, (_, shares))| shares.as_slice()).collect();
        (shares, Lookups::new(said.iter().map(|&(place, (feature, _))| (place, &feature.bins))))
    }

    /// The contributions to the score of each row, row by row, one for each feature: the shift of
    /// `r` from the prevalence by its bin. They add up to the score less [`Rimarc::base_score`].
    ///
    /// # Errors
    ///
    /// As [`Rimarc::probability`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        let n_features = self.shares.len();
        let (shares, lookups) = self.lookups();
        let features: Vec<usize> = lookups.features().collect();
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        lookups.by_tile(
            columns,
            &mut parts,
            n_features,
            |weights: &mut Vec<f64>, of_feature, parts| {
                weights.clear();
                weights.resize(parts.len() / n_features, 0.0);
                for (shares, bins) in shares.iter().zip(of_feature.clone()) {
                    for (weight, &bin) in weights.iter_mut().zip(bins) {
                        *weight += shares[bin as usize].weight;
                    }
                }
                for ((shares, bins), feature) in shares.iter().zip(of_feature).zip(&features) {
                    let places = parts[*feature..].iter_mut().step_by(n_features);
                    for ((part, &bin), &total) in places.zip(bins).zip(&*weights) {
                        *part = self.part(shares[bin as usize], total);
                    }
                }
            },
        )?;
        Ok(parts)
    }

    /// Shift of the score by a share, given the `total` of the weights.
    fn part(&self, share: Share, total: f64) -> f64 {
        if share.weight > 0.0 {
            (share.numerator - share.weight * self.base_score()) / total
        } else {
            0.0
        }
    }

    /// `r` of rows without missing values as a sum of step functions, one for each feature of
    /// positive weight. A value that does not contribute adds what the prevalence would. A special
    /// value is a step of its own, up to the next number.
    #[must_use]
    pub fn terms(&self) -> Vec<FeatureTerm> {
        let weight_of = |shares: &Vec<Share>| shares.iter().map(|s| s.weight).fold(0.0, f64::max);
        let total: f64 = self.shares.iter().map(weight_of).sum();
        let shares = self.shares.iter().zip(self.parts.table.features()).enumerate();
        let said = shares.filter(|(_, (shares, _))| weight_of(shares) > 0.0);
        let terms = said.map(|(feature, (shares, BinnedFeature { bins, .. }))| {
            let of_prevalence = weight_of(shares) / total * self.prevalence();
            let of_bin: Vec<f64> =
                shares.iter().map(|&share| self.part(share, total) + of_prevalence).collect();
            let steps = match bins {
                Bins::Categorical { bin_of_level, .. } => {
                    let values = bin_of_level.iter().map(|&bin| of_bin[bin]).collect();
                    FeatureSteps::Categorical { values }
                }
                Bins::Numeric { cuts, special } => {
                    let mut thresholds = cuts.clone();
                    thresholds.extend(special.iter().flat_map(|&apart| [apart, apart.next_up()]));
                    // There is no number above the largest.
                    thresholds.retain(|threshold| threshold.is_finite());
                    thresholds.sort_unstable_by(f64::total_cmp);
                    thresholds.dedup();
                    let least = std::iter::once(f64::NEG_INFINITY);
                    let starts = least.chain(thresholds.iter().copied());
                    let values = starts.map(|start| of_bin[bins.bin(start)]).collect();
                    FeatureSteps::Numeric { thresholds, values }
                }
            };
            FeatureTerm { feature, steps, missing: of_bin[bins.n_bins()] }
        });
        terms.collect()
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        self.parts.check()
    }
}

/// Pairs of scored rows: concordant less discordant ones, and all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ScoredPairs {
    won: i128,
    all: u128,
}

impl ScoredPairs {
    /// The pairs of rows in bins, by the score of each bin.
    fn of(masses: &[ClassMasses], balances: &[Option<f64>]) -> Self {
        let scored =
            balances.iter().zip(masses).filter_map(|(&balance, &masses)| Some((balance?, masses)));
        let mut scored: Vec<(f64, ClassMasses)> = scored.collect();
        scored.sort_by(|a, b| a.0.total_cmp(&b.0));
        let groups: Vec<ClassMasses> = scored
            .chunk_by(|a, b| a.0 >= b.0)
            .map(|tied| tied.iter().map(|&(_, masses)| masses).sum())
            .collect();
        let total: ClassMasses = groups.iter().copied().sum();
        Self { won: ClassMasses::area(groups), all: u128::from(total.pos) * u128::from(total.neg) }
    }

    /// `2(AUC - 1/2)`, 0 if that is negative (DECISIONS R14) or there is no pair (R7).
    fn weight(self) -> f64 {
        if self.all == 0 { 0.0 } else { (self.won as f64 / self.all as f64).max(0.0) }
    }
}

impl std::iter::Sum for ScoredPairs {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            won: sum.won + part.won,
            all: sum.all + part.all,
        })
    }
}

/// Fits `RIMARC` (Algorithm 1 of the paper). Rows elsewhere are read in passes ([`RawRows`]).
///
/// # Errors
///
/// [`RankError`] for an infinite value, a category code out of range, lengths that differ, a
/// parameter out of range, a class without weight, or when interrupted; as for [`RawRows::pass`].
///
/// # Examples
///
/// ```
/// use aucrank::additive::{RimarcParams, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
///
/// let x = [1.0, 2.0, 3.0, 4.0];
/// let columns = Columns::from_row_major(&x, 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let model = fit_rimarc((&columns, &labels), &RimarcParams::default(), &Default::default())?;
/// assert_eq!(model.weights(), [0.75]);
/// assert_eq!(model.probability(&columns)?, [0.0, 0.5, 0.5, 1.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_rimarc<'a>(
    rows: impl Into<TrainingRows<'a, &'a dyn RawRows>>,
    params: &RimarcParams,
    interrupt: &Interrupt,
) -> Result<Rimarc, RankError> {
    let (columns, labels) = match rows.into() {
        TrainingRows::Memory(columns, labels) => (columns, labels),
        TrainingRows::Elsewhere(rows) => return fit_in_passes(rows, params, interrupt),
    };
    params.validate()?;
    let columns = &columns.until(interrupt);
    let table = fit_mad2c((columns, labels), &params.bins, interrupt)?;
    let scoring = params.scoring(table.n_levels(), || RowUnits::of_labels(labels));
    let cross_fitted = match params.weight_folds {
        Some(n_folds) => cross_fit(columns, labels, n_folds, params, interrupt)?,
        None => None,
    };
    Ok(Rimarc::of_table(table, scoring, cross_fitted))
}

/// Fits `RIMARC` to rows that are read in passes.
fn fit_in_passes(
    rows: &dyn RawRows,
    params: &RimarcParams,
    interrupt: &Interrupt,
) -> Result<Rimarc, RankError> {
    params.validate()?;
    let folds = params.weight_folds.map(|n_folds| (n_folds, params.seed));
    let search = CutSearch::read(rows, &params.bins, folds, interrupt)?;
    let table = search.table(FoldView::All)?;
    let scoring = params.scoring(table.n_levels(), || search.units(FoldView::All));
    let n_folds = search.n_folds();
    let mut by_fold = Vec::new();
    // With one fold, no training rows remain.
    for fold in (0..n_folds).filter(|_| n_folds > 1) {
        let view = FoldView::Without(fold);
        let table = search.table(view)?;
        let scoring = params.scoring(table.n_levels(), || search.units(view));
        let pairs = |(place, feature): (usize, &BinnedFeature)| {
            let sums = search.of_fold(fold, place, &feature.bins);
            ScoredPairs::of(&sums, &scoring.balances(feature, &table))
        };
        by_fold.push(table.features().iter().enumerate().map(pairs).collect());
    }
    let cross_fitted = (n_folds > 1).then(|| (weights_of_folds(&by_fold), n_folds as u16));
    Ok(Rimarc::of_table(table, scoring, cross_fitted))
}

/// The cross-fitted weight of each feature, from the AUC over the pairs of rows within a fold, each
/// fold scored by bins learned without it; and the number of folds. Folds are thus weighted by
/// their pairs of contributing rows. `None` if a class has a single distinct row, which leaves
/// nothing to learn from.
fn cross_fit(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    n_folds: u16,
    params: &RimarcParams,
    interrupt: &Interrupt,
) -> Result<Option<(Vec<f64>, u16)>, RankError> {
    let folds = Folds::deal(columns, labels, n_folds, params.seed, interrupt)?;
    let n_folds = folds.n_folds;
    if n_folds < 2 {
        return Ok(None);
    }
    let done = PartCounter::new(interrupt, "fold", n_folds.into());
    let mut by_fold = Vec::with_capacity(n_folds.into());
    for fold in 0..n_folds {
        let TwoParts { kept, held_out } = folds.parts(labels, fold)?;
        let mut is_kept = vec![false; labels.n_rows()];
        for row in kept {
            is_kept[row as usize] = true;
        }
        let others = labels.among(|row| is_kept[row])?;
        let table = bin_features(columns, &others, &params.bins, None, interrupt)?;
        let scoring = params.scoring(table.n_levels(), || RowUnits::of_labels(&others));
        let pairs = |(feature, column): (&BinnedFeature, &Column<'_>)| {
            let sums = sums_by_bin(column, &feature.bins, labels, &held_out);
            ScoredPairs::of(&sums, &scoring.balances(feature, &table))
        };
        let features: Vec<_> = table.features().iter().zip(columns).collect();
        by_fold.push(features.into_par_iter().map(pairs).collect::<Vec<ScoredPairs>>());
        done.add()?;
    }
    Ok(Some((weights_of_folds(&by_fold), n_folds)))
}

/// The weight of each feature, from its pairs of each fold.
fn weights_of_folds(by_fold: &[Vec<ScoredPairs>]) -> Vec<f64> {
    let n_features = by_fold.first().map_or(0, Vec::len);
    let weight = |feature| by_fold.iter().map(|pairs| pairs[feature]).sum::<ScoredPairs>().weight();
    (0..n_features).map(weight).collect()
}

/// The sums of some rows by bin.
fn sums_by_bin(
    column: &Column<'_>,
    bins: &Bins,
    labels: &Labels<'_>,
    rows: &[u32],
) -> Vec<ClassMasses> {
    let mut sums = vec![ClassMasses::default(); bins.n_bins() + 1];
    let mut fill = |bin: &dyn Fn(usize) -> usize| {
        for row in rows.iter().map(|&row| row as usize) {
            sums[bin(row)] += labels.sums(row).into();
        }
    };
    match *column {
        Column::F64(values) => fill(&|row| bins.bin(values.get(row))),
        Column::F32(values) => fill(&|row| bins.bin(values.get(row))),
        // A code beyond the last counts as missing.
        Column::Codes { codes, .. } => fill(&|row| bins.bin(codes[row].into())),
    }
    sums
}

impl Rimarc {
    /// Its score: (9) of the paper less one half, a quotient of two sums over the features.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let sum_of = |part: fn(&Share) -> f64| {
            let features = self.table().features().iter().enumerate();
            let steps = features.filter_map(|(feature, binned)| {
                let shares = self.shares(feature);
                let contributes = shares.iter().any(|share| share.weight > 0.0);
                let of_bin: Vec<f64> = shares.iter().map(part).collect();
                let steps = || Formula::Steps(Steps::of_bins(feature, &binned.bins, &of_bin));
                contributes.then(steps)
            });
            Box::new(Formula::Sum(steps.collect()))
        };
        Formula::Quotient {
            numerator: sum_of(|share| share.numerator),
            denominator: sum_of(|share| share.weight),
            otherwise: self.base_score(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    /// Categories and classes of the single feature of sec. 4.1.
    const SEC_4_1: [(u32, bool); 12] = [
        (0, false),
        (1, true),
        (1, false),
        (1, false),
        (1, false),
        (2, true),
        (2, true),
        (2, false),
        (2, false),
        (3, true),
        (3, true),
        (3, false),
    ];

    /// Table 1: the scores 1/4, 1/3, 2/3 and 1 of 7 positive and 6 negative rows leave these
    /// counts.
    const TABLE_1: [(u64, u64); 4] = [(1, 3), (1, 2), (2, 1), (3, 0)];

    fn fit(columns: &Columns<'_>, positive: &[bool], params: &RimarcParams) -> Rimarc {
        let labels = Labels::new(positive, None).unwrap();
        fit_rimarc((columns, &labels), params, &Interrupt::default()).unwrap()
    }

    fn fit_codes(rows: &[(u32, bool)], n_levels: u32) -> Rimarc {
        let (codes, positive): (Vec<u32>, Vec<bool>) = rows.iter().copied().unzip();
        let column = Column::Codes { codes: &codes, n_levels };
        // The paper has no shrinkage.
        let raw = RimarcParams { level_rates: LevelRates::Raw, ..RimarcParams::default() };
        fit(&Columns::new(vec![column], codes.len()).unwrap(), &positive, &raw)
    }

    fn table_1(swapped: bool) -> Vec<(u32, bool)> {
        let of_level = |(level, (pos, neg)): (u32, (u64, u64))| {
            let rows = (0..pos).map(move |_| (level, !swapped));
            rows.chain((0..neg).map(move |_| (level, swapped)))
        };
        (0..).zip(TABLE_1).flat_map(of_level).collect()
    }

    fn scores(model: &Rimarc) -> Vec<f64> {
        model.bin_scores(0).into_iter().flatten().collect()
    }

    #[test]
    fn the_best_order_of_section_4_1_is_that_of_the_shares() {
        let model = fit_codes(&SEC_4_1, 4);
        // The paper draws a <= c <= b <= d, and the better curve with b and c swapped.
        assert_eq!(scores(&model), [0.0, 0.25, 0.5, 2.0 / 3.0]);
        // Pair by pair: c wins 2 of (a, 3 b) and ties with 2; b ties with 3, d with 1, ...
        let pairs = (1.0 + 1.5) + 2.0 * (1.0 + 3.0 + 1.0) + 2.0 * (1.0 + 3.0 + 2.0 + 0.5);
        let auc = f64::midpoint(1.0, model.weights()[0]);
        assert!((auc - pairs / 35.0).abs() < 1e-15, "{auc}");
    }

    #[test]
    fn table_1_has_the_scores_and_the_auc_of_the_paper() {
        let model = fit_codes(&table_1(false), 4);
        assert_eq!(scores(&model), [0.25, 1.0 / 3.0, 2.0 / 3.0, 1.0]);
        assert_eq!(f64::midpoint(1.0, model.weights()[0]), 34.5 / 42.0);
        // Table 3: with the classes swapped the scores are swapped, and the AUC is unchanged.
        let swapped = fit_codes(&table_1(true), 4);
        assert_eq!(scores(&swapped), [0.75, 2.0 / 3.0, 1.0 / 3.0, 0.0]);
        assert_eq!(swapped.weights(), model.weights());
    }

    #[test]
    fn the_laplace_estimate_would_violate_condition_5() {
        let table = [(1_u64, 0_u64), (10, 1)].map(|(pos, neg)| ClassSums { pos, neg, rows: 1 });
        assert!(table[0].cmp_eta(table[1]).is_gt());
        let laplace = table.map(|s| (s.pos + 1) as f64 / (s.pos + s.neg + 2) as f64);
        assert!(laplace[0] < laplace[1]);
    }

    /// Rows of two numbers with gaps and ties, a number with special values, and a category.
    struct Sample {
        numbers: Vec<f64>,
        codes: Vec<u32>,
        positive: Vec<bool>,
    }

    const N: usize = 150;

    impl Sample {
        fn new(seed: u64) -> Self {
            let draw = |row: usize, place: u64| mix(seed ^ (row as u64 * 8 + place) << 8) >> 40;
            let positive: Vec<bool> = (0..N).map(|row| draw(row, 0).is_multiple_of(3)).collect();
            let number = |column: u64, row: usize| {
                let balance = if positive[row] { 2 * column } else { 4 };
                match draw(row, 1 + column) % 12 {
                    0 => f64::NAN,
                    value => (value + balance) as f64 / 4.0,
                }
            };
            let special = |row: usize| {
                if draw(row, 4).is_multiple_of(4) { -1.0 } else { number(2, row) }
            };
            let numbers = (0..N).map(|row| number(0, row)).chain((0..N).map(|row| number(1, row)));
            let numbers = numbers.chain((0..N).map(special)).collect();
            let code = |row: usize| match draw(row, 5) % 5 {
                0 => crate::data::MISSING_CODE,
                code => ((code + u64::from(positive[row])) % 4) as u32,
            };
            Self { numbers, codes: (0..N).map(code).collect(), positive }
        }

        fn columns(&self) -> Columns<'_> {
            let mut columns: Vec<Column<'_>> = self.numbers.chunks(N).map(Column::from).collect();
            columns.push(Column::Codes { codes: &self.codes, n_levels: 4 });
            Columns::new(columns, N).unwrap()
        }

        fn value(&self, row: usize, feature: usize) -> f64 {
            match self.numbers.get(feature * N + row) {
                Some(&number) => number,
                None if self.codes[row] == crate::data::MISSING_CODE => f64::NAN,
                None => self.codes[row].into(),
            }
        }
    }

    fn params(missing: MissingValues, shrinkage: f64, weight_folds: Option<u16>) -> RimarcParams {
        let special = vec![vec![], vec![], vec![-1.0], vec![]];
        let bins = Mad2cParams { special, directions: vec![] };
        let level_rates = LevelRates::Raw;
        RimarcParams { bins, missing, shrinkage, level_rates, weight_folds, seed: 3 }
    }

    /// `2(AUC - 1/2)` of scored rows, pair by pair.
    fn gini_by_pairs(rows: &[(f64, bool)]) -> f64 {
        let (mut won, mut all) = (0.0, 0.0);
        for &(high, _) in rows.iter().filter(|(_, positive)| *positive) {
            for &(low, _) in rows.iter().filter(|(_, positive)| !positive) {
                won += f64::from(high > low) - f64::from(high < low);
                all += 1.0;
            }
        }
        if all > 0.0 { f64::max(won / all, 0.0) } else { 0.0 }
    }

    /// (6), (8) and (9) as in the paper, with the extensions, on the bins of a table.
    fn plain(sample: &Sample, table: &Mad2c, params: &RimarcParams) -> (Vec<f64>, Vec<f64>) {
        let prevalence = sample.positive.iter().filter(|&&p| p).count() as f64 / N as f64;
        let score = |row: usize, feature: usize| -> Option<f64> {
            let bins = &table.features()[feature].bins;
            let bin = bins.bin(sample.value(row, feature));
            if bin == bins.n_bins() && params.missing == MissingValues::Ignore {
                return None;
            }
            let (mut pos, mut n) = (params.shrinkage * prevalence, params.shrinkage);
            for other in (0..N).filter(|&other| bins.bin(sample.value(other, feature)) == bin) {
                pos += f64::from(sample.positive[other]);
                n += 1.0;
            }
            Some(pos / n)
        };
        let weight = |feature: usize| {
            let scored = |row| Some((score(row, feature)?, sample.positive[row]));
            gini_by_pairs(&(0..N).filter_map(scored).collect::<Vec<_>>())
        };
        let weights: Vec<f64> = (0..4).map(weight).collect();
        let r = |row: usize| {
            let (mut weighted, mut total) = (0.0, 0.0);
            for (feature, weight) in weights.iter().enumerate() {
                if let Some(score) = score(row, feature) {
                    weighted += weight * score;
                    total += weight;
                }
            }
            if total > 0.0 { weighted / total } else { prevalence }
        };
        let rows = (0..N).map(r).collect();
        (weights, rows)
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (place, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!((a - b).abs() < 1e-13, "{a} and {b} at {place}");
        }
    }

    #[test]
    fn weights_and_scores_are_those_of_the_equations() {
        for seed in 0..5 {
            let sample = Sample::new(seed);
            for missing in [MissingValues::Ignore, MissingValues::Value] {
                for shrinkage in [0.0, 2.5] {
                    let params = params(missing, shrinkage, None);
                    let model = fit(&sample.columns(), &sample.positive, &params);
                    let (weights, rows) = plain(&sample, model.table(), &params);
                    assert!(weights.iter().all(|&weight| weight > 0.01), "{weights:?}");
                    assert_close(model.weights(), &weights);
                    let found = model.probability(&sample.columns()).unwrap();
                    assert_close(&found, &rows);
                    let scores = model.score(&sample.columns()).unwrap();
                    assert_close(&scores, &rows.iter().map(|r| r - 0.5).collect::<Vec<_>>());
                    for (r, score) in found.iter().zip(&scores) {
                        assert_eq!(*r > 0.5, *score > 0.0);
                    }
                }
            }
        }
    }

    #[test]
    fn cross_fitted_weights_are_those_of_bins_learned_on_the_other_folds() {
        for missing in [MissingValues::Ignore, MissingValues::Value] {
            let sample = Sample::new(11);
            let columns = sample.columns();
            let params = params(missing, 1.5, Some(4));
            let model = fit(&columns, &sample.positive, &params);
            assert_eq!(model.weight_folds(), Some(4));
            let labels = Labels::new(&sample.positive, None).unwrap();
            let deal = Folds::deal(&columns, &labels, 4, 3, &Interrupt::default()).unwrap();
            for feature in 0..4 {
                // Over the pairs of rows within a fold.
                let (mut won, mut all) = (0.0, 0.0);
                for fold in 0..4 {
                    let in_fold = |row: &usize| deal.of_row[*row] == fold;
                    let kept: Vec<usize> = (0..N).filter(|row| !in_fold(row)).collect();
                    let take = |rows: &[usize]| Sample {
                        numbers: (0..3)
                            .flat_map(|f| rows.iter().map(move |&row| (f, row)))
                            .map(|(f, row)| sample.value(row, f))
                            .collect(),
                        codes: rows.iter().map(|&row| sample.codes[row]).collect(),
                        positive: rows.iter().map(|&row| sample.positive[row]).collect(),
                    };
                    let others = take(&kept);
                    let mut parts: Vec<Column<'_>> =
                        others.numbers.chunks(kept.len()).map(Column::from).collect();
                    parts.push(Column::Codes { codes: &others.codes, n_levels: 4 });
                    let others_columns = Columns::new(parts, kept.len()).unwrap();
                    let plain_params = RimarcParams { weight_folds: None, ..params.clone() };
                    let other = fit(&others_columns, &others.positive, &plain_params);
                    let of_bin = other.bin_scores(feature);
                    let bins = &other.table().features()[feature].bins;
                    let rows: Vec<(f64, bool)> = (0..N)
                        .filter(in_fold)
                        .filter_map(|row| {
                            let score = of_bin[bins.bin(sample.value(row, feature))]?;
                            Some((score, sample.positive[row]))
                        })
                        .collect();
                    for &(high, _) in rows.iter().filter(|row| row.1) {
                        for &(low, _) in rows.iter().filter(|row| !row.1) {
                            won += f64::from(high > low) - f64::from(high < low);
                            all += 1.0;
                        }
                    }
                }
                let weight = f64::max(won / all, 0.0);
                let found = model.weights()[feature];
                assert!((found - weight).abs() < 1e-13, "{found} and {weight} of {feature}");
            }
            // They are smaller than those of the training rows.
            let all = RimarcParams { weight_folds: None, ..params };
            let all = fit(&columns, &sample.positive, &all);
            let sum = |model: &Rimarc| model.weights().iter().sum::<f64>();
            assert!(sum(&model) < sum(&all));
        }
    }

    #[test]
    fn if_nothing_can_be_left_out_the_weights_are_those_of_all_rows() {
        let positive = [true, false, false, true];
        let columns = Columns::from_row_major(&[2.0, 1.0, 0.0, 2.0], 1).unwrap();
        let params = RimarcParams { weight_folds: Some(5), ..RimarcParams::default() };
        let model = fit(&columns, &positive, &params);
        assert_eq!((model.weight_folds(), model.weights()), (None, &[1.0][..]));
        // As many folds as the rarer class has distinct rows.
        let columns = Columns::from_row_major(&[2.0, 1.0, 0.0, 3.0], 1).unwrap();
        assert_eq!(fit(&columns, &positive, &params).weight_folds(), Some(2));
    }

    #[test]
    fn a_tiny_weight_still_has_an_effect() {
        // 2(AUC - 1/2) of the first is 1/(PN), some 2^-60; the second ranks perfectly.
        let n = 1_u64 << 30;
        let counts = [(n, n - 1), (1, 0), (0, 1), (n, n), (1, 0), (0, 1)];
        let codes = [[0, 1], [0, 1], [0, 0], [1, 1], [1, 1], [1, 0]];
        let weights = counts.map(|(pos, neg)| (pos + neg) as f64);
        // Weights of one class at a time: each cell is two rows.
        let mut rows: Vec<([u32; 2], bool, f64)> = Vec::new();
        for (&code, (pos, neg)) in codes.iter().zip(counts) {
            rows.push((code, true, pos as f64));
            rows.push((code, false, neg as f64));
        }
        assert!(weights.iter().sum::<f64>() < 9e15);
        let columns: Vec<Vec<u32>> =
            (0..2).map(|f| rows.iter().map(|(code, ..)| code[f]).collect()).collect();
        let positive: Vec<bool> = rows.iter().map(|&(_, positive, _)| positive).collect();
        let weights: Vec<f64> = rows.iter().map(|&(.., weight)| weight).collect();
        let labels = Labels::new(&positive, Some(&weights)).unwrap();
        let of = |codes: &[Vec<u32>]| -> Rimarc {
            let columns = codes.iter().map(|codes| Column::Codes { codes, n_levels: 2 }).collect();
            let columns = Columns::new(columns, positive.len()).unwrap();
            let params = RimarcParams::default();
            fit_rimarc((&columns, &labels), &params, &Interrupt::default()).unwrap()
        };
        let model = of(&columns);
        let missing = crate::data::MISSING_CODE;
        let known = |model: &Rimarc, feature: usize, code: u32| {
            let mut codes = [[missing], [missing]];
            codes[feature] = [code];
            let columns = codes.iter().map(|c| Column::Codes { codes: c, n_levels: 2 }).collect();
            model.probability(&Columns::new(columns, 1).unwrap()).unwrap()[0]
        };
        for feature in 0..2 {
            let alone = model.bin_scores(feature);
            for code in 0..2 {
                if model.weights()[feature] > 0.0 {
                    let r = known(&model, feature, code);
                    let score = alone[code as usize].unwrap();
                    assert!((r - score).abs() < 1e-6, "{r} and {score}");
                }
            }
        }
        assert!(model.weights().iter().any(|&w| w > 0.0 && w < 1e-8), "{:?}", model.weights());
    }

    #[test]
    fn the_order_of_features_and_the_sign_of_classes_do_not_matter() {
        let sample = Sample::new(2);
        let columns = sample.columns();
        let mut params = params(MissingValues::Ignore, 0.7, None);
        let expected = fit(&columns, &sample.positive, &params).score(&columns).unwrap();
        let swapped: Vec<bool> = sample.positive.iter().map(|positive| !positive).collect();
        let found = fit(&columns, &swapped, &params).score(&columns).unwrap();
        assert_eq!(found, expected.iter().map(|score| -score).collect::<Vec<_>>());

        let order = [2, 3, 0, 1];
        let moved = order.iter().map(|&feature| columns[feature]).collect();
        let moved = Columns::new(moved, N).unwrap();
        params.bins.special = order.map(|f| params.bins.special[f].clone()).to_vec();
        assert_eq!(fit(&moved, &sample.positive, &params).score(&moved).unwrap(), expected);
    }

    #[test]
    fn parts_and_terms_add_up_to_the_score() {
        let sample = Sample::new(4);
        let columns = sample.columns();
        let model = fit(&columns, &sample.positive, &params(MissingValues::Ignore, 0.0, None));
        let scores = model.score(&columns).unwrap();
        let parts = model.explain(&columns).unwrap();
        let terms = model.terms();
        let missing: f64 = terms.iter().map(|term| term.missing).sum();
        assert!((missing - model.prevalence()).abs() < 1e-15);
        let mut n_complete = 0;
        for row in 0..N {
            let part = &parts[row * 4..][..4];
            let sum: f64 = part.iter().sum();
            assert!((sum - (scores[row] - model.base_score())).abs() < 1e-13);
            let values: Vec<f64> = (0..4).map(|feature| sample.value(row, feature)).collect();
            if values.iter().any(|value| value.is_nan()) {
                continue;
            }
            n_complete += 1;
            for ((term, value), part) in terms.iter().zip(values).zip(part) {
                let found = match &term.steps {
                    FeatureSteps::Numeric { thresholds, values } => {
                        values[thresholds.partition_point(|&t| t <= value)]
                    }
                    FeatureSteps::Categorical { values } => values[value as usize],
                };
                // A missing value adds what the prevalence would.
                let found = found - term.missing;
                assert!((found - part).abs() < 1e-15, "{found} {part}");
            }
        }
        assert!(n_complete > 20);
    }

    #[test]
    fn steps_of_special_values_end_with_the_numbers() {
        let values = [f64::MAX, f64::MAX, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0];
        let positive = [true, false, false, false, true, true, false, true];
        let columns = Columns::from_row_major(&values, 1).unwrap();
        let bins = Mad2cParams { special: vec![vec![0.0, f64::MAX]], directions: vec![] };
        let params = RimarcParams { bins, ..RimarcParams::default() };
        let [term] = &fit(&columns, &positive, &params).terms()[..] else { panic!("one term") };
        let FeatureSteps::Numeric { thresholds, values } = &term.steps else {
            panic!("of a number")
        };
        assert_eq!(thresholds, &[0.0, 0.0_f64.next_up(), 2.5, f64::MAX]);
        assert_eq!(values, &[0.0, 0.5, 0.0, 1.0, 0.5]);
    }

    #[test]
    fn features_without_weight_give_the_prevalence() {
        let columns = Columns::from_row_major(&[1.0, f64::NAN, 1.0, f64::NAN], 2).unwrap();
        let model = fit(&columns, &[true, false], &RimarcParams::default());
        assert_eq!(model.weights(), [0.0, 0.0]);
        assert_eq!(model.terms(), []);
        assert_eq!(model.probability(&columns).unwrap(), [0.5, 0.5]);
        assert_eq!(model.explain(&columns).unwrap(), [0.0; 4]);
        // Known in one class only (DECISIONS R7).
        let columns = Columns::from_row_major(&[1.0, 2.0, f64::NAN], 1).unwrap();
        let model = fit(&columns, &[true, true, false], &RimarcParams::default());
        assert_eq!(model.weights(), [0.0]);
        assert_eq!(model.probability(&columns).unwrap(), [2.0 / 3.0; 3]);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let columns = Columns::from_row_major(&[1.0, 2.0], 1).unwrap();
        let labels = Labels::new(&[true, false], None).unwrap();
        let refusal = |params: &RimarcParams| {
            fit_rimarc((&columns, &labels), params, &Interrupt::default()).unwrap_err().to_string()
        };
        for shrinkage in [-0.5, f64::NAN, f64::INFINITY] {
            let params = RimarcParams { shrinkage, ..RimarcParams::default() };
            let message = format!("shrinkage is {shrinkage}, but must be finite and not negative");
            assert_eq!(refusal(&params), message);
        }
        for folds in [0, 1, NO_FOLD] {
            let params = RimarcParams { weight_folds: Some(folds), ..RimarcParams::default() };
            assert!(refusal(&params).starts_with(&format!("weight_folds is {folds}, but must be")));
        }
    }

    #[test]
    fn forged_documents_are_refused_with_a_message() {
        let sample = Sample::new(1);
        let model = fit(&sample.columns(), &sample.positive, &RimarcParams::default());
        let document = serde_json::to_value(&model).unwrap();
        let read = |document: &serde_json::Value| -> Result<Rimarc, String> {
            serde_json::from_value(document.clone()).map_err(|err| err.to_string())
        };
        assert_eq!(read(&document), Ok(model));
        let cases = [
            ("/weights/1", serde_json::json!(1.5), "1.5 is not a weight of a feature"),
            ("/weights/1", serde_json::json!(-0.1), "-0.1 is not a weight of a feature"),
            ("/weights/0", serde_json::json!(5e-324), "is not a weight of a feature"),
            ("/weights", serde_json::json!([0.5]), "there are 1 weights of 4 features"),
            ("/scoring/shrinkage", serde_json::json!(-1.0), "-1 is not a shrinkage"),
            ("/scoring/missing", serde_json::json!("guess"), "unknown variant"),
            ("/weight_folds", serde_json::json!(1), "there are not 1 folds"),
            ("/weight_folds", serde_json::json!(70_000), "invalid value"),
        ];
        for (place, forged, message) in cases {
            let mut document = document.clone();
            *document.pointer_mut(place).unwrap() = forged;
            let err = read(&document).unwrap_err();
            assert!(err.contains(message), "{err}");
        }
    }
}
