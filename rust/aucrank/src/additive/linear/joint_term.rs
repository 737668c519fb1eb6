//! Terms of two features.

use serde::{Deserialize, Serialize};

use crate::formula::{Formula, Linear, LinearTerm, PairTerm};

/// A function of two features in a [`LinearModel`](super::LinearModel).
///
/// For an example see [`ArithmeticTerm`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointTerm {
    /// A table of the values of two features.
    Cells(PairTerm),
    /// A step function of a number computed from two.
    Arithmetic(ArithmeticTerm),
}

/// How a number is computed from two.
///
/// # Examples
///
/// ```
/// use aucrank::additive::Arithmetic;
///
/// assert_eq!(Arithmetic::Ratio.of([3.0, 2.0]), Some(1.5));
/// assert_eq!(Arithmetic::Difference.of([3.0, -2.0]), Some(5.0));
/// // There is no ratio to a number that is not above 0, and none of a missing one.
/// assert_eq!(Arithmetic::Ratio.of([3.0, -2.0]), None);
/// assert_eq!(Arithmetic::Difference.of([f64::NAN, 1.0]), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// The first divided by the second, if that is above 0.
    Ratio,
    /// The first less the second.
    Difference,
}

impl Arithmetic {
    /// The number; `None` if one of the two is missing, if it is a ratio to a number that is not
    /// above 0, or if it is too large for a double.
    #[inline]
    #[must_use]
    pub fn of(self, [first, second]: [f64; 2]) -> Option<f64> {
        let found = match self {
            Self::Ratio if second > 0.0 => first / second,
            Self::Ratio => f64::NAN,
            Self::Difference => first - second,
        };
        (found < f64::MAX).then_some(found)
    }
}

/// A step function of a number computed from two.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{Arithmetic, JointTerm, LinearParams, fit_linear};
/// use aucrank::data::{Columns, Labels};
///
/// // Debts and incomes that tell the class by their ratio alone.
/// let rows: Vec<f64> = (0..2000_u32)
///     .flat_map(|row| [row * 37 % 101 + 1, row * 53 % 97 + 1].map(f64::from))
///     .collect();
/// let positive: Vec<bool> = rows.chunks(2).map(|row| row[0] / row[1] > 1.2).collect();
/// let (columns, labels) = (Columns::from_row_major(&rows, 2)?, Labels::new(&positive, None)?);
/// let model = fit_linear(&columns, &labels, &LinearParams::default(), &Interrupt::default())?;
/// let ratio = model.joint_terms().iter().find_map(|term| match term {
///     JointTerm::Arithmetic(term) if term.operation == Arithmetic::Ratio => Some(term),
///     _ => None,
/// });
/// let ratio = ratio.expect("their ratio is a term");
/// // Incomes over debts, which are small where a row is positive.
/// assert_eq!(ratio.features, [1, 0]);
/// assert!(ratio.values.last() < ratio.values.first());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArithmeticTerm {
    /// How the number is computed.
    pub operation: Arithmetic,
    /// The features that it is computed from, in this order.
    pub features: [usize; 2],
    /// Ascending; a number equal to a threshold is above it.
    pub thresholds: Vec<f64>,
    /// One more than thresholds: below the first, ..., from the last on.
    pub values: Vec<f64>,
    /// The value where there is no number: see [`Arithmetic::of`].
    pub missing: f64,
}

impl ArithmeticTerm {
    #[inline]
    fn value(&self, both: [f64; 2]) -> f64 {
        self.operation.of(both).map_or(self.missing, |number| {
            self.values[self.thresholds.partition_point(|&threshold| threshold <= number)]
        })
    }

    fn formula(&self) -> Formula {
        let [first, second] = self.features;
        let term = |feature, weight| LinearTerm { feature, weight, scale: None };
        let sum = |terms| Formula::Linear(Linear { terms, intercept: 0.0 });
        // What has no number lies above the last threshold, which none reaches.
        let of = match self.operation {
            Arithmetic::Ratio => Formula::Quotient {
                numerator: Box::new(sum(vec![term(first, 1.0)])),
                denominator: Box::new(sum(vec![term(second, 1.0)])),
                otherwise: f64::MAX,
            },
            Arithmetic::Difference => sum(vec![term(first, 1.0), term(second, -1.0)]),
        };
        Formula::StepsOf {
            of: Box::new(of),
            thresholds: self.thresholds.iter().copied().chain([f64::MAX]).collect(),
            values: self.values.iter().copied().chain([self.missing]).collect(),
        }
    }

    fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let [first, second] = self.features;
        for feature in self.features {
            if n_levels.get(feature) != Some(&None) {
                return Err(format!("feature {feature} is not a number to compute with"));
            }
        }
        if first == second {
            return Err(format!("a number is computed from feature {first} alone"));
        }
        if self.values.len() != self.thresholds.len() + 1 {
            return Err("a computed number has not one value more than thresholds".to_owned());
        }
        let is_reached = |threshold: &f64| threshold.abs() < f64::MAX;
        if !self.thresholds.is_sorted_by(|a, b| a < b) || !self.thresholds.iter().all(is_reached) {
            return Err("thresholds of a computed number are not finite and ascending".to_owned());
        }
        Ok(())
    }
}

impl JointTerm {
    /// The two features: ascending for a table, in their order for a computed number.
    #[must_use]
    pub fn features(&self) -> [usize; 2] {
        match self {
            Self::Cells(table) => table.features(),
            Self::Arithmetic(term) => term.features,
        }
    }

    /// The value of many rows, given as the raw values of the two features.
    pub(super) fn reader(&self) -> Box<dyn Fn([f64; 2]) -> f64 + Sync + '_> {
        match self {
            Self::Cells(table) => Box::new(table.reader()),
            Self::Arithmetic(term) => Box::new(|both| term.value(both)),
        }
    }

    pub(super) fn formula(&self) -> Formula {
        match self {
            Self::Cells(table) => Formula::Tree(table.formula()),
            Self::Arithmetic(term) => term.formula(),
        }
    }

    /// Changes all values.
    pub(super) fn change(&mut self, change: impl Fn(f64) -> f64) {
        let change = |value: &mut f64| *value = change(*value);
        match self {
            Self::Cells(table) => table.values.iter_mut().for_each(change),
            Self::Arithmetic(term) => {
                term.values.iter_mut().chain([&mut term.missing]).for_each(change);
            }
        }
    }

    /// The largest absolute value.
    pub(super) fn largest(&self) -> f64 {
        let most =
            |values: &[f64]| values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        match self {
            Self::Cells(table) => most(&table.values),
            Self::Arithmetic(term) => most(&term.values).max(term.missing.abs()),
        }
    }

    /// Checks what was read from a file, given the number of categories of each feature. The range
    /// of values is checked by the caller.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        match self {
            Self::Cells(table) => table.check(n_levels),
            Self::Arithmetic(term) => term.check(n_levels),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Axis, AxisPlaces};

    /// A change that makes a term invalid, and a part of the message.
    type Fault<'a, T> = (&'a dyn Fn(&mut T), &'static str);

    fn computed(operation: Arithmetic) -> ArithmeticTerm {
        ArithmeticTerm {
            operation,
            features: [2, 0],
            thresholds: vec![0.1, 0.5],
            values: vec![1.0, 2.0, 4.0],
            missing: -8.0,
        }
    }

    #[test]
    fn values_are_those_of_the_formula_also_where_there_is_no_number() {
        let numbers =
            [f64::NAN, -1e308, -3.0, -0.0, 0.0, f64::MIN_POSITIVE, 0.1, 0.5, 1.0, 10.0, 1e308];
        for operation in [Arithmetic::Ratio, Arithmetic::Difference] {
            let term = JointTerm::Arithmetic(computed(operation));
            let value = term.reader();
            for first in numbers {
                for second in numbers {
                    let found = value([first, second]);
                    assert_eq!(term.formula().value(&[second, 7.0, first]), Ok(found));
                    let is_missing = first.is_nan() || second.is_nan();
                    assert!(!is_missing || (found + 8.0).abs() < 1e-12);
                }
            }
            // A number equal to a threshold is above it.
            let [first, second] = match operation {
                Arithmetic::Ratio => [1.0, 2.0],
                Arithmetic::Difference => [1.5, 1.0],
            };
            assert!((value([first, second]) - 4.0).abs() < 1e-12);
        }
        let ratio = JointTerm::Arithmetic(computed(Arithmetic::Ratio));
        assert!((ratio.reader()([1.0, -2.0]) + 8.0).abs() < 1e-12);
    }

    #[test]
    fn invalid_terms_are_refused() {
        let n_levels = [None, Some(3), None];
        let checked = |change: &dyn Fn(&mut ArithmeticTerm)| {
            let mut term = computed(Arithmetic::Ratio);
            change(&mut term);
            JointTerm::Arithmetic(term).check(&n_levels)
        };
        assert_eq!(checked(&|_| ()), Ok(()));
        let faults: [Fault<'_, ArithmeticTerm>; 6] = [
            (&|term| term.features[0] = 1, "not a number"),
            (&|term| term.features[1] = 9, "not a number"),
            (&|term| term.features[0] = 0, "alone"),
            (&|term| term.values.truncate(2), "one value more"),
            (&|term| term.thresholds[1] = 0.1, "ascending"),
            (&|term| term.thresholds[1] = f64::MAX, "finite"),
        ];
        for (change, message) in faults {
            let refused = checked(change).unwrap_err();
            assert!(refused.contains(message), "{refused}");
        }

        let table = || PairTerm {
            axes: [
                Axis { feature: 0, known: AxisPlaces::Numeric { thresholds: vec![1.0] } },
                Axis {
                    feature: 1,
                    known: AxisPlaces::Categorical { groups: vec![vec![2]], has_others: true },
                },
            ],
            values: vec![0.0; 9],
        };
        let checked = |change: &dyn Fn(&mut PairTerm)| {
            let mut table = table();
            change(&mut table);
            JointTerm::Cells(table).check(&n_levels)
        };
        assert_eq!(checked(&|_| ()), Ok(()));
        let groups = |groups: Vec<Vec<u32>>, has_others| {
            move |table: &mut PairTerm| {
                let groups = groups.clone();
                table.axes[1].known = AxisPlaces::Categorical { groups, has_others };
            }
        };
        let faults: [Fault<'_, PairTerm>; 9] = [
            (&|table| table.values.truncate(8), "lacks cells"),
            (&|table| table.axes.swap(0, 1), "not in order"),
            (&|table| table.axes[0].feature = 1, "another kind"),
            (&|table| table.axes[1].feature = 7, "another kind"),
            (
                &|table| {
                    let thresholds = vec![f64::NAN];
                    table.axes[0].known = AxisPlaces::Numeric { thresholds };
                },
                "do not ascend",
            ),
            (&groups(vec![vec![3]], true), "not its categories"),
            (&groups(vec![vec![2], vec![2]], false), "not its categories"),
            (&groups(vec![vec![]], true), "not its categories"),
            (&groups(Vec::new(), false), "not its categories"),
        ];
        for (change, message) in faults {
            let refused = checked(change).unwrap_err();
            assert!(refused.contains(message), "{refused}");
        }
    }
}
