//! The function of a fitted model as data: all exports are written from it.
//!
//! A [`Formula`] is a small expression over the columns of a row, with the exact constants of the
//! model. Each family defines its own. [`Formula::value`] evaluates one row, operation by
//! operation, and is the reference for both the fast scorers and the exports. A model without a
//! closed form is [`Formula::Opaque`], which gives the reason.

mod pair_term;
mod purify;
mod shapley;
mod steps;
mod test;
mod test_columns;
mod tree;
mod weighted_sum;

pub use pair_term::{Axis, AxisPlaces, PairTerm};
pub use steps::{StepValues, Steps};
pub use test::{Condition, OpaqueCondition, Rule, Test};
pub(crate) use test_columns::{LEAF, SharedColumns, TestColumns, TestReader, next};
pub use tree::{DecisionTree, Program, ProgramNode, TreeNode};
pub(crate) use weighted_sum::{WeightedSum, for_rows};

use serde::Serialize;

use crate::RankError;
use crate::data::Columns;
use steps::step;

/// A number computed from a row.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, StepValues, Steps};
///
/// let steps = StepValues::Numeric { thresholds: vec![2.0], values: vec![-1.0, 1.0], special: vec![] };
/// let formula = Formula::Sum(vec![
///     Formula::Steps(Steps { feature: 0, values: steps, missing: 0.0 }),
///     Formula::Constant(-0.25),
/// ]);
/// assert_eq!(formula.value(&[3.0]), Ok(0.75));
/// assert_eq!(formula.value(&[f64::NAN]), Ok(-0.25));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Formula {
    /// The same number for every row.
    Constant(f64),
    /// The value of the leaf of a tree.
    Tree(DecisionTree),
    /// A step function of one feature.
    Steps(Steps),
    /// A step function of another formula; if that is missing, it lies above all thresholds.
    StepsOf {
        /// Its argument.
        of: Box<Formula>,
        /// Ascending; an argument equal to a threshold lies above it.
        thresholds: Vec<f64>,
        /// One more than thresholds: below the first, ..., from the last on.
        values: Vec<f64>,
    },
    /// A weighted sum of numbers.
    Linear(Linear),
    /// A number if a condition holds, else 0.
    Indicator {
        /// The condition.
        condition: Condition,
        /// The number.
        value: f64,
    },
    /// The sum from left to right, from 0 on.
    Sum(Vec<Formula>),
    /// The same in single precision: each term and each partial sum is rounded to 32 bits.
    SingleSum(Vec<Formula>),
    /// A constant times a formula.
    Product {
        /// The constant.
        factor: f64,
        /// The formula.
        of: Box<Formula>,
    },
    /// A quotient, or a constant if the denominator is not above 0.
    Quotient {
        /// The dividend.
        numerator: Box<Formula>,
        /// The divisor.
        denominator: Box<Formula>,
        /// The constant.
        otherwise: f64,
    },
    /// The median; of an even number of formulas the mean of the middle two.
    Median(Vec<Formula>),
    /// The mean value of the ends of a branching program.
    Program(Program),
    /// A part without a formula.
    Opaque(Opaque),
}

/// A weighted sum of numbers, added in the order of its terms, from 0 on, and then the constant.
/// The value is unspecified if a partial sum overflows.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, Linear, LinearTerm};
///
/// let term = |feature, weight| LinearTerm { feature, weight, scale: None };
/// let linear = Linear { terms: vec![term(0, 2.0), term(1, -1.0)], intercept: 0.5 };
/// assert_eq!(Formula::Linear(linear).value(&[3.0, 4.0]), Ok(2.5));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Linear {
    /// The terms.
    pub terms: Vec<LinearTerm>,
    /// The constant.
    pub intercept: f64,
}

/// A weighted number.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, Linear, LinearTerm, Scale};
///
/// let scale = Scale { mean: 10.0, deviation: 2.0, limit: 6.0, unit: None };
/// let of = |scale| Linear {
///     terms: vec![LinearTerm { feature: 0, weight: 3.0, scale }],
///     intercept: 0.0,
/// };
/// let (standardised, plain) = (Formula::Linear(of(Some(scale))), Formula::Linear(of(None)));
/// assert_eq!((standardised.value(&[12.0]), plain.value(&[12.0])), (Ok(3.0), Ok(36.0)));
/// // A missing value counts as the mean, where there is one.
/// assert_eq!(standardised.value(&[f64::NAN]), Ok(0.0));
/// assert!(plain.value(&[f64::NAN])?.is_nan());
/// # Ok::<(), aucrank::formula::Opaque>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearTerm {
    /// The feature.
    pub feature: usize,
    /// Its weight.
    pub weight: f64,
    /// How the number is standardised; `None` if it is weighted as it is, so that the sum is
    /// missing if the number is.
    pub scale: Option<Scale>,
}

/// Standardisation of a number: its distance from the mean in standard deviations, clipped, and
/// then rounded if there is a unit; 0 if the number is missing.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, Linear, LinearTerm, Scale};
///
/// let scale = Scale { mean: 10.0, deviation: 4.0, limit: 3.0, unit: Some(0.5) };
/// let terms = vec![LinearTerm { feature: 0, weight: 1.0, scale: Some(scale) }];
/// let formula = Formula::Linear(Linear { terms, intercept: 0.0 });
/// // 1/2 and 3/4 of a deviation below the mean, the latter rounded away from 0; 25 above it.
/// let value = |number| formula.value(&[number]);
/// assert_eq!([8.0, 7.0, 110.0].map(value), [Ok(-0.5), Ok(-1.0), Ok(3.0)]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scale {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
    /// Largest distance from the mean, in standard deviations.
    pub limit: f64,
    /// A power of two; the result is rounded to a multiple of it, halves away from 0.
    pub unit: Option<f64>,
}

/// Why a part of a model has no formula. Serialised as its message.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, Opaque};
///
/// let formula = Formula::Sum(vec![Formula::Constant(1.0), Formula::Opaque(Opaque::Consensus)]);
/// assert_eq!(formula.opaque(), Some(Opaque::Consensus));
/// let err = formula.value(&[0.0]).unwrap_err();
/// assert!(err.to_string().starts_with("a consensus of rankings compares a row with"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Opaque {
    /// A split into cubes.
    #[error("each split of a DyadicSplit is a list of cubes")]
    Cubes,
    /// A split by a classifier of the caller.
    #[error("its splits are classifiers, which live outside the model")]
    Classifier,
    /// A weak ranker of the caller.
    #[error("its weak rankers are estimators, which live outside the model")]
    ExternalRanker,
    /// A member of an ensemble that is a model of the caller.
    #[error("some of its members are estimators, which live outside the model")]
    ExternalMember,
    /// A consensus of rankings.
    #[error("a consensus of rankings compares a row with the reference rows of the fit")]
    Consensus,
    /// One random path through a branching program.
    #[error("a row takes one random way through the program, by a hash of its values")]
    RandomWalk,
    /// Tests of very many pairs of categories.
    #[error(
        "its questions for pairs of categories list millions of them; fit it with category_pairs=False"
    )]
    CategoryPairs,
    /// A transformer.
    #[error("it transforms features and scores no rows")]
    NoScore,
}

impl Serialize for Opaque {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Why a formula has no value or no explanation.
///
/// # Examples
///
/// ```
/// use aucrank::RankError;
/// use aucrank::data::Columns;
/// use aucrank::formula::{Formula, FormulaError};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0], 1)?;
/// let found = Formula::Median(Vec::new()).shapley_values(&columns, &columns);
/// assert_eq!(found, Err(RankError::Formula(FormulaError::NotASum("a median"))));
/// # Ok::<(), RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormulaError {
    /// A model with a part that has no formula.
    #[error("this model has no formula: {0}")]
    NoFormula(Opaque),
    /// A model that is not a sum of trees and of functions of one feature.
    #[error(
        "Shapley values are computed for sums of trees and of functions of single features; this model \
         has {0}"
    )]
    NotASum(&'static str),
    /// There is nothing to compare a row with.
    #[error("the background has no rows")]
    EmptyBackground,
}

impl Formula {
    /// The value for a row, which has numbers as they are, categories by code, and NaN for missing
    /// values. NaN if a weighted number is missing.
    ///
    /// # Errors
    ///
    /// [`Opaque`] if a part has no formula.
    pub fn value(&self, row: &[f64]) -> Result<f64, Opaque> {
        match self {
            Self::Constant(value) => Ok(*value),
            Self::Tree(tree) => tree.value(row),
            Self::Steps(steps) => Ok(steps.value(row)),
            Self::StepsOf { of, thresholds, values } => {
                Ok(step(thresholds, values, of.value(row)?))
            }
            Self::Linear(linear) => Ok(linear.value(row)),
            Self::Indicator { condition, value } => {
                Ok(if condition.holds(row)? { *value } else { 0.0 })
            }
            Self::Sum(terms) => terms.iter().try_fold(0.0, |sum, term| Ok(sum + term.value(row)?)),
            Self::SingleSum(terms) => terms
                .iter()
                .try_fold(0.0_f32, |sum, term| Ok(sum + term.value(row)? as f32))
                .map(f64::from),
            Self::Product { factor, of } => Ok(factor * of.value(row)?),
            Self::Quotient { numerator, denominator, otherwise } => {
                let denominator = denominator.value(row)?;
                if denominator > 0.0 {
                    Ok(numerator.value(row)? / denominator)
                } else {
                    Ok(*otherwise)
                }
            }
            Self::Median(of) => {
                let mut values =
                    of.iter().map(|of| of.value(row)).collect::<Result<Vec<f64>, Opaque>>()?;
                values.sort_by(f64::total_cmp);
                let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
                Ok(f64::midpoint(low, high))
            }
            Self::Program(program) => program.value(row),
            Self::Opaque(opaque) => Err(*opaque),
        }
    }

    /// The value for each row of `columns`.
    ///
    /// # Errors
    ///
    /// [`FormulaError::NoFormula`] if a part has no formula; [`RankError`] for a value that is
    /// infinite, or missing although it must not be.
    pub fn values(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        if let Some(opaque) = self.opaque() {
            return Err(RankError::Formula(FormulaError::NoFormula(opaque)));
        }
        let n_features = columns.n_features();
        let mut out = vec![0.0; columns.n_rows()];
        columns.by_tile(&mut out, 1, |(): &mut (), _, rows, out| {
            for (place, out) in out.iter_mut().enumerate() {
                let row = &rows[place * n_features..(place + 1) * n_features];
                *out = self.value(row).unwrap_or(f64::NAN);
            }
        })?;
        match out.iter().any(|value| value.is_nan()).then(|| columns.missing_value()).flatten() {
            Some(err) => Err(err),
            None => Ok(out),
        }
    }

    /// The first part without a formula, if there is one.
    #[must_use]
    pub fn opaque(&self) -> Option<Opaque> {
        match self {
            Self::Constant(_) | Self::Steps(_) | Self::Linear(_) => None,
            Self::Tree(tree) => tree.nodes.iter().find_map(|node| match node {
                TreeNode::Branch { condition, .. } => condition.opaque(),
                TreeNode::Leaf { .. } => None,
            }),
            Self::StepsOf { of, .. } | Self::Product { of, .. } => of.opaque(),
            Self::Indicator { condition, .. } => condition.opaque(),
            Self::Sum(of) | Self::SingleSum(of) | Self::Median(of) => {
                of.iter().find_map(Self::opaque)
            }
            Self::Quotient { numerator, denominator, .. } => {
                numerator.opaque().or_else(|| denominator.opaque())
            }
            Self::Program(program) => program.layers.iter().flatten().find_map(|node| match node {
                ProgramNode::Split(share) => share.opaque(),
                ProgramNode::End(_) => None,
            }),
            Self::Opaque(opaque) => Some(*opaque),
        }
    }
}

impl Linear {
    fn value(&self, row: &[f64]) -> f64 {
        let sum = self.terms.iter().fold(0.0, |sum, term| sum + term.value(row));
        sum + self.intercept
    }
}

impl LinearTerm {
    fn value(&self, row: &[f64]) -> f64 {
        let number = row[self.feature];
        self.weight * self.scale.map_or(number, |scale| scale.of(number))
    }
}

impl Scale {
    fn of(self, number: f64) -> f64 {
        let deviations = (number - self.mean) / self.deviation;
        if deviations.is_nan() {
            return 0.0;
        }
        let clipped = deviations.clamp(-self.limit, self.limit);
        self.unit.map_or(clipped, |unit| (clipped / unit).round() * unit)
    }
}
