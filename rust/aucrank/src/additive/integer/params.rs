//! Parameters of a small integer score.

use serde::{Deserialize, Serialize};

use crate::RankError;
use crate::additive::bins::check_special;
use crate::additive::scorecard::HighPoints;
use crate::data::check_monotonic;

/// Greatest number of candidate cuts of a number.
const MOST_CUTS: usize = 64;

/// Greatest number of points of a line, which bounds tables of all differences of points.
const MOST_LINE_POINTS: u32 = 100;

/// Greatest number of bins of a feature, with those of special and missing values.
const MOST_BINS: usize = 256;

/// How a small integer score is searched.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{IntegerScoreParams, fit_integer_score};
/// use aucrank::data::{Columns, Labels};
///
/// let ages: Vec<f64> = (20..80).map(f64::from).collect();
/// let positive: Vec<bool> = ages.iter().map(|&age| age >= 45.0 || age == 30.0).collect();
/// let columns = Columns::from_column_major(&ages, ages.len())?;
/// let labels = Labels::new(&positive, None)?;
/// let params = IntegerScoreParams { max_questions: Some(1), ..IntegerScoreParams::default() };
/// let score = fit_integer_score((&columns, &labels), &params, &Interrupt::default())?;
/// // One question: 45 or older?
/// assert_eq!(score.points(&columns)?[24..26], [0, 10]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntegerScoreParams {
    /// Maximum number of features. At least 1.
    pub max_features: usize,
    /// Points of the line with most points, where the least of a feature has 0; from 1 to 100.
    pub max_points: u32,
    /// Maximum number of lines of a feature, apart from special and missing values. At least 2.
    pub max_lines: usize,
    /// Maximum number of questions that can be answered by yes or no, one less than lines for each
    /// feature. At least 1; `None` for no limit.
    pub max_questions: Option<usize>,
    /// AUC of the training rows that a question must gain, in units of `1 / n_pos + 1 / n_neg`. At
    /// least 0.
    pub min_gain: f64,
    /// Maximum number of candidate cuts of a number, at quantiles; and of places of categories in
    /// the order of their rates, less 1. From 1 to 64.
    pub max_cuts: usize,
    /// Whether each candidate is the roundest number between two quantiles.
    pub round_cuts: bool,
    /// Minimum share of all rows, by weight, of a line; missing and special values of less have the
    /// points of the middle row of their feature. In [0, 1).
    pub min_bin_share: f64,
    /// The class that high points indicate.
    pub high_points: HighPoints,
    /// For each feature 1 if the positive class may only become likelier with it, -1 if it may only
    /// become less likely, 0 if it is free; empty if all are.
    pub monotonic: Vec<i8>,
    /// For each feature the special values, which have lines of their own; empty for none at all.
    pub special: Vec<Vec<f64>>,
    /// Features that must be in the score.
    pub required: Vec<usize>,
    /// Features that may not be in it.
    pub excluded: Vec<usize>,
    /// Sets of features, of each of which at most one may be in the score.
    pub exclusive: Vec<Vec<usize>>,
}

impl Default for IntegerScoreParams {
    /// Five features of at most four lines each, with 0 to 10 points.
    fn default() -> Self {
        Self {
            max_features: 5,
            max_points: 10,
            max_lines: 4,
            max_questions: None,
            min_gain: 0.3,
            max_cuts: 16,
            round_cuts: true,
            min_bin_share: 0.0,
            high_points: HighPoints::Positive,
            monotonic: Vec::new(),
            special: Vec::new(),
            required: Vec::new(),
            excluded: Vec::new(),
            exclusive: Vec::new(),
        }
    }
}

impl IntegerScoreParams {
    /// Checks the parameters for columns with these numbers of categories, `None` for a number.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`], or [`RankError::CategoricalConstraint`].
    pub fn validate(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        if self.max_features == 0 {
            return bad("max_features", 0, "at least 1");
        }
        if !(1..=MOST_LINE_POINTS).contains(&self.max_points) {
            return bad("max_points", self.max_points, "from 1 to 100");
        }
        if self.max_lines < 2 {
            return bad("max_lines", self.max_lines, "at least 2");
        }
        if self.max_questions == Some(0) {
            return bad("max_questions", 0, "at least 1");
        }
        if !(self.min_gain >= 0.0 && self.min_gain.is_finite()) {
            return bad("min_gain", self.min_gain, "at least 0 and finite");
        }
        if !(1..=MOST_CUTS).contains(&self.max_cuts) {
            return bad("max_cuts", self.max_cuts, "from 1 to 64");
        }
        if !(0.0..1.0).contains(&self.min_bin_share) {
            return bad("min_bin_share", self.min_bin_share, "in [0, 1)");
        }
        check_monotonic(&self.monotonic, n_levels)?;
        check_special(&self.special, n_levels)?;
        let most_special = MOST_BINS - MOST_CUTS - 2;
        if let Some(numbers) = self.special.iter().find(|numbers| numbers.len() > most_special) {
            return bad("special", numbers.len(), "at most 190 numbers for a feature");
        }
        self.check_sets(n_levels.len())
    }

    /// Checks which features are required, excluded or exclusive.
    fn check_sets(&self, n_features: usize) -> Result<(), RankError> {
        let lists = [("required", &self.required), ("excluded", &self.excluded)];
        let sets = self.exclusive.iter().map(|set| ("exclusive", set));
        for (name, list) in lists.into_iter().chain(sets) {
            if let Some(feature) = list.iter().find(|feature| **feature >= n_features) {
                return bad(name, feature, "below the number of features");
            }
            if let Some(at) = (1..list.len()).find(|&at| list[..at].contains(&list[at])) {
                return bad(name, list[at], "given once");
            }
        }
        let limits = [
            (Some(self.max_features), "at most as many as max_features"),
            (self.max_questions, "at most as many as max_questions"),
        ];
        for (most, rule) in limits {
            if most.is_some_and(|most| self.required.len() > most) {
                return bad("required", format!("{} features", self.required.len()), rule);
            }
        }
        if let Some(feature) = self.required.iter().find(|at| self.excluded.contains(at)) {
            return bad("required", feature, "not excluded");
        }
        for set in &self.exclusive {
            let mut required = self.required.iter().filter(|feature| set.contains(feature));
            if let (Some(_), Some(second)) = (required.next(), required.next()) {
                return bad("required", second, "at most one of an exclusive set");
            }
        }
        if (0..n_features).all(|feature| self.excluded.contains(&feature)) {
            return bad("excluded", format!("all {n_features}"), "not all features");
        }
        Ok(())
    }

    /// Whether a feature may join others.
    pub(super) fn may_join(&self, feature: usize, others: impl Iterator<Item = usize>) -> bool {
        let excludes = |other: usize| {
            other == feature
                || self.exclusive.iter().any(|set| set.contains(&other) && set.contains(&feature))
        };
        !self.excluded.contains(&feature) && !others.into_iter().any(excludes)
    }
}

fn bad<T>(
    name: &'static str,
    value: impl std::fmt::Display,
    rule: &'static str,
) -> Result<T, RankError> {
    Err(RankError::BadParameter { name, value: value.to_string(), rule })
}
