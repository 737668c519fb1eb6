//! Step functions of one feature.

use serde::Serialize;

use super::test::{Rule, Test};
use crate::data::{Bins, FeatureTerm, LevelSteps, RateColumns, step_above, threshold};

/// A step function of one feature.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, StepValues, Steps};
///
/// let values = StepValues::Categorical { values: vec![-1.0, 1.0] };
/// let formula = Formula::Steps(Steps { feature: 1, values, missing: 0.25 });
/// assert_eq!(formula.value(&[7.0, 1.0]), Ok(1.0));
/// assert_eq!(formula.value(&[7.0, f64::NAN]), Ok(0.25));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Steps {
    /// The feature.
    pub feature: usize,
    /// Its known values.
    #[serde(flatten)]
    pub values: StepValues,
    /// The value of rows that miss the feature.
    pub missing: f64,
}

/// The values of a step function.
///
/// # Examples
///
/// ```
/// use aucrank::formula::{Formula, StepValues, Steps};
///
/// let values = StepValues::Numeric {
///     thresholds: vec![10.0],
///     values: vec![0.0, 1.0],
///     special: vec![(99.0, -1.0)],
/// };
/// let formula = Formula::Steps(Steps { feature: 0, values, missing: 0.0 });
/// let value = |number| formula.value(&[number]);
/// assert_eq!([9.0, 10.0, 99.0].map(value), [Ok(0.0), Ok(1.0), Ok(-1.0)]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepValues {
    /// A step function of a number.
    Numeric {
        /// Ascending; a number equal to a threshold lies above it.
        thresholds: Vec<f64>,
        /// One more than thresholds: below the first, ..., from the last on.
        values: Vec<f64>,
        /// Numbers that have a value of their own, and that value.
        special: Vec<(f64, f64)>,
    },
    /// A value for each category. Categories beyond the last count as missing.
    Categorical {
        /// By code.
        values: Vec<f64>,
    },
}

impl Steps {
    /// The step function with a value for each bin of a feature, that of missing values last.
    pub(crate) fn of_bins(feature: usize, bins: &Bins, of_bin: &[f64]) -> Self {
        let (known, missing) = (&of_bin[..bins.n_bins()], of_bin[bins.n_bins()]);
        let values = match bins {
            Bins::Numeric { cuts, special } => {
                let (of_steps, of_special) = known.split_at(cuts.len() + 1);
                StepValues::Numeric {
                    thresholds: cuts.clone(),
                    values: of_steps.to_vec(),
                    special: special.iter().copied().zip(of_special.iter().copied()).collect(),
                }
            }
            Bins::Categorical { bin_of_level, .. } => StepValues::Categorical {
                values: bin_of_level.iter().map(|&bin| of_bin[bin]).collect(),
            },
        };
        Self { feature, values, missing }
    }

    /// The value for a row.
    #[expect(clippy::float_cmp, reason = "a special value is one exactly")]
    pub(super) fn value(&self, row: &[f64]) -> f64 {
        let raw = row[self.feature];
        if raw.is_nan() {
            return self.missing;
        }
        match &self.values {
            StepValues::Numeric { thresholds, values, special } => {
                match special.iter().find(|(number, _)| *number == raw) {
                    Some((_, value)) => *value,
                    None => step(thresholds, values, raw),
                }
            }
            StepValues::Categorical { values } => {
                values.get(raw as usize).copied().unwrap_or(self.missing)
            }
        }
    }
}

impl From<&FeatureTerm> for Steps {
    fn from(term: &FeatureTerm) -> Self {
        let values = match &term.steps {
            crate::data::FeatureSteps::Numeric { thresholds, values } => StepValues::Numeric {
                thresholds: thresholds.clone(),
                values: values.clone(),
                special: Vec::new(),
            },
            crate::data::FeatureSteps::Categorical { values } => {
                StepValues::Categorical { values: values.clone() }
            }
        };
        Self { feature: term.feature, values, missing: term.missing }
    }
}

/// The value of the step that an argument lies on.
pub(super) fn step(thresholds: &[f64], values: &[f64], argument: f64) -> f64 {
    // A missing argument is above all.
    values[thresholds.iter().filter(|&&at| argument.is_nan() || at <= argument).count()]
}

impl Test {
    /// The test whether a feature's category is in the first `step` steps.
    pub(crate) fn of_rates(feature: usize, steps: &LevelSteps, step: u32) -> Self {
        let left = Rule::Levels(steps.before(step).clone());
        Self { feature, left, missing_left: steps.of_missing() < step }
    }

    /// The test that sends the other categories left.
    pub(crate) fn of_rates_from(feature: usize, steps: &LevelSteps, step: u32) -> Self {
        let left = Rule::Levels(steps.from(step).clone());
        Self { feature, left, missing_left: steps.of_missing() >= step }
    }

    /// The step for which [`Test::of_rates_from`] gives this test, if there is one.
    pub(crate) fn step_of_rates_from(&self, steps: &LevelSteps) -> Option<u32> {
        let Rule::Levels(set) = &self.left else { return None };
        let step = steps.find(&set.complement())?;
        (self.missing_left == (steps.of_missing() >= step)).then_some(step)
    }

    /// The number of steps for which [`Test::of_rates`] gives this test, if there is one.
    pub(crate) fn step_of_rates(&self, steps: &LevelSteps) -> Option<u32> {
        let Rule::Levels(set) = &self.left else { return None };
        steps.find(set).filter(|&step| self.missing_left == (steps.of_missing() < step))
    }
    /// The test of a feature that is equivalent to this test of rates, if it is one.
    pub(crate) fn without_rates(&self, rates: &RateColumns) -> Option<Self> {
        let rates = rates.get(self.feature)?;
        Some(match self.left {
            Rule::Below(threshold) => {
                Self::of_rates(rates.feature, &rates.steps, step_above(threshold))
            }
            Rule::AtLeast(threshold) => {
                Self::of_rates_from(rates.feature, &rates.steps, step_above(threshold))
            }
            _ => unreachable!("no rate is missing"),
        })
    }

    /// The test of rates for which [`Test::without_rates`] gives this test, if there is one.
    pub(crate) fn with_rates(&self, rates: &RateColumns) -> Option<Self> {
        rates.of_feature(self.feature).find_map(|(feature, rates)| {
            let below = self.step_of_rates(&rates.steps).map(|step| Rule::Below(threshold(step)));
            let from = || {
                let step = self.step_of_rates_from(&rates.steps)?;
                Some(Rule::AtLeast(threshold(step)))
            };
            let left = below.or_else(from)?;
            Some(Self { feature, left, missing_left: self.missing_left })
        })
    }
}
