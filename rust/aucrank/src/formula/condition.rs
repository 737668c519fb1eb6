//! Conditions on a row.

#[cfg(feature = "serde")]
use serde::Serialize;

use super::Opaque;
use super::Test;

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
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize), serde(rename_all = "snake_case"))]
pub enum Condition {
    /// The same for every row.
    Constant(bool),
    /// A test of one feature.
    Test(Test),
    /// All hold.
    All(Vec<Condition>),
    /// At least one holds.
    Any(Vec<Condition>),
    /// One of two conditions, chosen by a test: a tree of tests whose leaves are merged into two sides.
    Branch {
        /// The test.
        test: Test,
        /// Share of the training weight that it sends left.
        left_share: f64,
        /// What counts for the rows that it sends left.
        left: Box<Condition>,
        /// What counts for the others.
        right: Box<Condition>,
    },
    /// Something that cannot be written down.
    #[cfg_attr(feature = "serde", serde(serialize_with = "with_reason"))]
    Opaque(OpaqueCondition),
}

/// A condition that cannot be written down, with what can be said of it.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize), serde(rename_all = "snake_case"))]
pub enum OpaqueCondition {
    /// Whether the row is in one of some dyadic cubes.
    Cubes {
        /// Cubes on the left, at the finest level.
        n_left: usize,
        /// All of them.
        n_cubes: usize,
        /// Their side is `2^-level` of the range of each feature.
        level: u32,
    },
    /// Whether a classifier of the caller's says so.
    Classifier {
        /// Its number.
        number: usize,
        /// Whether the rows that it calls positive go left; if not, the others do.
        positive_left: bool,
    },
}

/// Writes what can be said of a condition, and why it cannot be written down.
#[cfg(feature = "serde")]
fn with_reason<S: serde::Serializer>(
    condition: &OpaqueCondition,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    (condition, condition.reason()).serialize(serializer)
}

impl OpaqueCondition {
    /// Why it cannot be written down.
    #[must_use]
    pub fn reason(self) -> Opaque {
        match self {
            Self::Cubes { .. } => Opaque::Cubes,
            Self::Classifier { .. } => Opaque::Classifier,
        }
    }
}

impl Condition {
    /// Whether it holds for a row: numbers as they are, codes for categories, NaN for what is missing.
    ///
    /// # Errors
    ///
    /// [`Opaque`] for a condition that cannot be written down.
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

    /// The first part that cannot be written down, if there is one.
    pub(super) fn opaque(&self) -> Option<Opaque> {
        match self {
            Self::Constant(_) | Self::Test(_) => None,
            Self::All(of) | Self::Any(of) => of.iter().find_map(Self::opaque),
            Self::Branch { left, right, .. } => left.opaque().or_else(|| right.opaque()),
            Self::Opaque(opaque) => Some(opaque.reason()),
        }
    }
}
