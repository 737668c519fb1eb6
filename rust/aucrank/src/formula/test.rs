//! Tests of one feature of a row, in raw values and in codes, and conditions.

use serde::{Deserialize, Serialize};

use super::Opaque;
use crate::data::{CodeRule, CodeTest, FeatureBins, LevelSet};

/// Which known values go left.
///
/// # Examples
///
/// ```
/// use aucrank::data::LevelSet;
/// use aucrank::formula::{Condition, Rule, Test};
///
/// let goes_left = |left, value| {
///     Condition::Test(Test { feature: 0, left, missing_left: false }).holds(&[value])
/// };
/// assert_eq!(goes_left(Rule::Below(2.0), 2.0), Ok(false));
/// assert_eq!(goes_left(Rule::AtLeast(2.0), 2.0), Ok(true));
/// assert_eq!(goes_left(Rule::Known(true), f64::MIN), Ok(true));
/// assert_eq!(goes_left(Rule::Levels(LevelSet::all_but([4])), 4.0), Ok(false));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Numbers below the threshold.
    Below(f64),
    /// Numbers from the threshold on.
    AtLeast(f64),
    /// All of them, or none: the test is whether the value is known.
    Known(bool),
    /// Some categories.
    Levels(LevelSet),
}

/// A test of a row that sends it left or right.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Condition, Rule, Test};
///
/// let test = Test { feature: 1, left: Rule::Below(0.5), missing_left: true };
/// let condition = Condition::Test(test);
/// assert_eq!(condition.holds(&[9.0, 0.0]), Ok(true));
/// assert_eq!(condition.holds(&[9.0, 0.5]), Ok(false));
/// assert_eq!(condition.holds(&[9.0, f64::NAN]), Ok(true));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Test {
    /// The feature tested.
    pub feature: usize,
    /// Which of its known values go left.
    pub left: Rule,
    /// Whether rows that miss it go left.
    pub missing_left: bool,
}

impl Test {
    /// Whether a row goes left, given as by [`Columns::read_rows`](crate::data::Columns).
    #[inline]
    pub(crate) fn goes_left(&self, row: &[f64]) -> bool {
        let value = row[self.feature];
        if value.is_nan() {
            return self.missing_left;
        }
        match &self.left {
            Rule::Below(threshold) => value < *threshold,
            Rule::AtLeast(threshold) => value >= *threshold,
            Rule::Known(known) => *known,
            Rule::Levels(left) => left.contains(value as u32),
        }
    }

    /// Whether the test suits a feature with this many levels, or a number if `None`.
    pub(crate) fn suits(&self, n_levels: Option<u32>) -> bool {
        match (&self.left, n_levels) {
            (Rule::Below(threshold) | Rule::AtLeast(threshold), None) => threshold.is_finite(),
            (Rule::Levels(left), Some(n_levels)) => left.listed().last() < Some(&n_levels),
            (Rule::Known(_), _) => true,
            _ => false,
        }
    }

    /// The test of raw values that is equivalent to a test of codes.
    pub(crate) fn of_codes(test: &CodeTest, bins: &FeatureBins) -> Self {
        let n_bins = bins.n_bins() as u32;
        let left = match (&test.rule, bins) {
            (CodeRule::Below(bound), _) if *bound >= n_bins => Rule::Known(true),
            (CodeRule::AtLeast(bound), _) if *bound >= n_bins => Rule::Known(false),
            (CodeRule::Below(bound), FeatureBins::Numeric { cuts }) => {
                Rule::Below(cuts[*bound as usize - 1])
            }
            (CodeRule::AtLeast(bound), FeatureBins::Numeric { cuts }) => {
                Rule::AtLeast(cuts[*bound as usize - 1])
            }
            (CodeRule::Levels(left), _) => Rule::Levels(left.clone()),
            (_, FeatureBins::Categorical { .. }) => unreachable!("levels have no order to cut"),
        };
        Self { feature: test.feature, left, missing_left: test.missing_left }
    }

    /// The equivalent test of codes; all thresholds must be cuts of `bins`.
    pub(crate) fn to_codes(&self, bins: &FeatureBins) -> CodeTest {
        let bound = |threshold: f64| match bins {
            FeatureBins::Numeric { cuts } => cuts.partition_point(|&cut| cut <= threshold) as u32,
            FeatureBins::Categorical { .. } => unreachable!("levels have no order to cut"),
        };
        let rule = match &self.left {
            Rule::Below(threshold) => CodeRule::Below(bound(*threshold)),
            Rule::AtLeast(threshold) => CodeRule::AtLeast(bound(*threshold)),
            Rule::Known(true) => CodeRule::Below(bins.n_bins() as u32),
            Rule::Known(false) => CodeRule::AtLeast(bins.n_bins() as u32),
            Rule::Levels(left) => CodeRule::Levels(left.clone()),
        };
        CodeTest { feature: self.feature, rule, missing_left: self.missing_left }
    }
}

/// Whether a row goes left.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Condition, Rule, Test};
///
/// let test = |feature, left| Condition::Test(Test { feature, left, missing_left: false });
/// let between = Condition::All(vec![test(0, Rule::AtLeast(1.0)), test(0, Rule::Below(2.0))]);
/// assert_eq!(between.holds(&[1.5]), Ok(true));
/// assert_eq!(between.holds(&[2.0]), Ok(false));
/// assert_eq!(between.holds(&[f64::NAN]), Ok(false));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The same for every row.
    Constant(bool),
    /// A test of one feature.
    Test(Test),
    /// All hold.
    All(Vec<Condition>),
    /// At least one holds.
    Any(Vec<Condition>),
    /// One of two conditions, chosen by a test: a tree of tests whose leaves are merged into two
    /// sides.
    Branch {
        /// The test.
        test: Test,
        /// Share of the training weight that it sends left.
        left_share: f64,
        /// Condition on the rows that it sends left.
        left: Box<Condition>,
        /// Condition on the others.
        right: Box<Condition>,
    },
    /// A condition without a formula.
    #[serde(serialize_with = "with_reason")]
    Opaque(OpaqueCondition),
}

/// A condition without a formula, and its known properties.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Condition, Opaque, OpaqueCondition};
///
/// let classifier = OpaqueCondition::Classifier { number: 3, positive_left: true };
/// assert_eq!(classifier.reason(), Opaque::Classifier);
/// assert_eq!(Condition::Opaque(classifier).holds(&[1.0]), Err(Opaque::Classifier));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OpaqueCondition {
    /// Whether the row is in one of some dyadic cubes.
    Cubes {
        /// Cubes on the left, at the finest level.
        n_left: usize,
        /// All cubes.
        n_cubes: usize,
        /// The side of a cube is `2^-level` of the range of each feature.
        level: u32,
    },
    /// The decision of a classifier of the caller.
    Classifier {
        /// Its number.
        number: usize,
        /// Whether the rows that it calls positive go left; if not, the others do.
        positive_left: bool,
    },
}

/// Writes the known properties of a condition, and why it has no formula.
fn with_reason<S: serde::Serializer>(
    condition: &OpaqueCondition,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (condition, condition.reason()).serialize(serializer)
}

impl OpaqueCondition {
    /// Why the condition has no formula.
    #[must_use]
    pub fn reason(self) -> Opaque {
        match self {
            Self::Cubes { .. } => Opaque::Cubes,
            Self::Classifier { .. } => Opaque::Classifier,
        }
    }
}

impl Condition {
    /// Whether the condition holds for a row: numbers as they are, categories by code, NaN if
    /// missing.
    ///
    /// # Errors
    ///
    /// [`Opaque`] for a condition without a formula.
    pub fn holds(&self, row: &[f64]) -> Result<bool, Opaque> {
        match self {
            Self::Constant(holds) => Ok(*holds),
            Self::Test(test) => Ok(test.goes_left(row)),
            Self::All(conditions) => {
                conditions.iter().try_fold(true, |all, condition| Ok(condition.holds(row)? && all))
            }
            Self::Any(conditions) => {
                conditions.iter().try_fold(false, |any, condition| Ok(condition.holds(row)? || any))
            }
            Self::Branch { test, left, right, .. } => {
                if test.goes_left(row) {
                    left.holds(row)
                } else {
                    right.holds(row)
                }
            }
            Self::Opaque(opaque) => Err(opaque.reason()),
        }
    }

    /// The first part without a formula, if there is one.
    pub(super) fn opaque(&self) -> Option<Opaque> {
        match self {
            Self::Constant(_) | Self::Test(_) => None,
            Self::All(of) | Self::Any(of) => of.iter().find_map(Self::opaque),
            Self::Branch { left, right, .. } => left.opaque().or_else(|| right.opaque()),
            Self::Opaque(opaque) => Some(opaque.reason()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_values_and_codes_go_to_the_same_side() {
        let bins = FeatureBins::Numeric { cuts: vec![0.5, 1.5, 2.5] };
        let values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, f64::NAN];
        for rule in [Rule::Below(1.5), Rule::AtLeast(2.5), Rule::Known(true), Rule::Known(false)] {
            for missing_left in [true, false] {
                let test = Test { feature: 0, left: rule.clone(), missing_left };
                let in_codes = test.to_codes(&bins);
                assert_eq!(Test::of_codes(&in_codes, &bins), test);
                for value in values {
                    let code = if value.is_nan() { 4 } else { (value + 0.5).floor() as u32 };
                    assert_eq!(test.goes_left(&[value]), in_codes.goes_left(code, 4));
                }
            }
        }
    }
}
