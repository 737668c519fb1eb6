//! Step functions of one feature, the terms of additive models.

use serde::{Deserialize, Serialize};

use crate::data::binning::feature_bins::FeatureBins;

/// A step function of one feature.
///
/// # Examples
///
/// ```
/// use aucrank::data::{FeatureTerm, FeatureSteps};
///
/// let steps = |threshold| FeatureSteps::Numeric { thresholds: vec![threshold], values: vec![0.0, 1.0] };
/// let mut term = FeatureTerm { feature: 0, steps: steps(10.0), missing: 0.5 };
/// term.add(&FeatureTerm { feature: 0, steps: steps(20.0), missing: 0.25 });
/// assert_eq!([5.0, 10.0, 20.0, f64::NAN].map(|raw| term.value(raw)), [0.0, 1.0, 2.0, 0.75]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "saved::SavedTerm")]
pub struct FeatureTerm {
    /// The feature.
    pub feature: usize,
    /// Its values if the feature is known.
    #[serde(flatten)]
    pub steps: FeatureSteps,
    /// The value if the feature is missing.
    pub missing: f64,
}

/// The values of a step function.
///
/// # Examples
///
/// ```
/// use aucrank::data::{FeatureTerm, FeatureSteps};
///
/// let steps = FeatureSteps::Categorical { values: vec![-1.0, 1.0] };
/// let term = FeatureTerm { feature: 0, steps, missing: 0.0 };
/// // Codes of categories; that of 2 is unknown.
/// assert_eq!([0.0, 1.0, 2.0].map(|code| term.value(code)), [-1.0, 1.0, 0.0]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeatureSteps {
    /// Steps of a number.
    Numeric {
        /// Ascending; a number equal to a threshold is above it.
        thresholds: Vec<f64>,
        /// One more than there are thresholds: below the first, ..., from the last on.
        values: Vec<f64>,
    },
    /// The value of each category. Codes beyond the last count as missing.
    Categorical {
        /// By code.
        values: Vec<f64>,
    },
}

impl FeatureSteps {
    /// The values of all steps.
    pub(crate) fn values(&self) -> &[f64] {
        match self {
            Self::Numeric { values, .. } | Self::Categorical { values } => values,
        }
    }
}

impl FeatureTerm {
    /// Changes all its values.
    pub(crate) fn change(&mut self, change: impl Fn(f64) -> f64) {
        let (FeatureSteps::Numeric { values, .. } | FeatureSteps::Categorical { values }) =
            &mut self.steps;
        for value in values {
            *value = change(*value);
        }
        self.missing = change(self.missing);
    }

    /// Its value at each code of the feature, the missing one last. All values in a bin must be on
    /// the same side of every threshold.
    pub(crate) fn values_by_code(&self, bins: &FeatureBins) -> Vec<f64> {
        let mut values: Vec<f64> = match bins {
            FeatureBins::Categorical { n_levels, .. } => {
                (0..*n_levels).map(|level| self.value(level.into())).collect()
            }
            // A value equal to a cut has the code above it.
            FeatureBins::Numeric { cuts } => {
                let least = std::iter::once(f64::NEG_INFINITY);
                least.chain(cuts.iter().copied()).map(|value| self.value(value)).collect()
            }
        };
        values.push(self.missing);
        values
    }

    /// Checks that it is a step function of one of the features, given their numbers of categories.
    /// The range of its values is checked by the caller.
    pub(crate) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let Some(n_levels) = n_levels.get(self.feature) else {
            return Err(format!("there is no feature {}", self.feature));
        };
        match (&self.steps, n_levels) {
            (FeatureSteps::Numeric { thresholds, values }, None) => {
                if values.len() != thresholds.len() + 1 {
                    return Err("a term has not one value more than thresholds".to_owned());
                }
                let ascend = thresholds.windows(2).all(|pair| pair[0] < pair[1]);
                if !(ascend && thresholds.iter().all(|t| t.is_finite())) {
                    return Err("the thresholds of a term are not finite and ascending".to_owned());
                }
            }
            (FeatureSteps::Categorical { values }, Some(n_levels)) => {
                if values.len() > *n_levels as usize {
                    return Err("a term has more values than there are categories".to_owned());
                }
            }
            _ => return Err(format!("feature {} is of another kind", self.feature)),
        }
        Ok(())
    }

    /// The value at a raw value of the feature; NaN is missing.
    #[inline]
    #[must_use]
    pub fn value(&self, raw: f64) -> f64 {
        if raw.is_nan() {
            return self.missing;
        }
        match &self.steps {
            FeatureSteps::Numeric { thresholds, values } => {
                values[thresholds.partition_point(|&threshold| threshold <= raw)]
            }
            FeatureSteps::Categorical { values } => {
                values.get(raw as usize).copied().unwrap_or(self.missing)
            }
        }
    }

    /// The step function with the given values at the occupied codes of a feature, `None` at the
    /// others. Between two occupied codes of a number the step is half-way; a category that does
    /// not occur counts as missing.
    #[expect(clippy::float_cmp, reason = "a step is between values that differ at all")]
    pub(crate) fn of_codes(
        feature: usize,
        bins: &FeatureBins,
        value_of_code: &[Option<f64>],
        missing: f64,
    ) -> Self {
        let steps = match bins {
            FeatureBins::Categorical { n_levels, .. } => {
                let levels = 0..*n_levels as usize;
                let value =
                    |code: usize| value_of_code.get(code).copied().flatten().unwrap_or(missing);
                FeatureSteps::Categorical { values: levels.map(value).collect() }
            }
            FeatureBins::Numeric { cuts } => {
                let (mut thresholds, mut values) = (Vec::new(), Vec::new());
                let mut last_code = 0;
                for (code, value) in value_of_code[..bins.n_bins()].iter().enumerate() {
                    let Some(value) = *value else { continue };
                    if values.last().is_none_or(|&last| last != value) {
                        if !values.is_empty() {
                            // The codes in between hold no rows: the step is at the middle one.
                            thresholds.push(cuts[usize::midpoint(last_code, code)]);
                        }
                        values.push(value);
                    }
                    last_code = code;
                }
                if values.is_empty() {
                    values.push(missing);
                }
                FeatureSteps::Numeric { thresholds, values }
            }
        };
        Self { feature, steps, missing }
    }

    /// Adds another step function of the same feature.
    pub fn add(&mut self, other: &Self) {
        debug_assert_eq!(self.feature, other.feature);
        match (&mut self.steps, &other.steps) {
            (FeatureSteps::Categorical { values }, FeatureSteps::Categorical { values: more }) => {
                let n_levels = values.len().max(more.len());
                values.resize(n_levels, self.missing);
                for (code, value) in values.iter_mut().enumerate() {
                    *value += more.get(code).copied().unwrap_or(other.missing);
                }
            }
            (
                FeatureSteps::Numeric { thresholds, values },
                FeatureSteps::Numeric { thresholds: more_thresholds, values: more },
            ) => {
                let mut merged: Vec<f64> =
                    thresholds.iter().chain(more_thresholds).copied().collect();
                merged.sort_unstable_by(f64::total_cmp);
                merged.dedup();
                let at = |thresholds: &[f64], values: &[f64], raw: f64| {
                    values[thresholds.partition_point(|&threshold| threshold <= raw)]
                };
                let sum = |raw| at(thresholds, values, raw) + at(more_thresholds, more, raw);
                let below = std::iter::once(f64::NEG_INFINITY);
                let sums = below.chain(merged.iter().copied()).map(sum).collect();
                (*thresholds, *values) = (merged, sums);
            }
            _ => unreachable!("a feature is of one kind"),
        }
        self.missing += other.missing;
    }
}

/// The saved form of a step function.
mod saved {
    use serde::Deserialize;

    use super::{FeatureSteps, FeatureTerm};

    /// A step function as it is saved. A flattened enum would be read through a buffer that takes
    /// many times the memory of the text.
    #[derive(Deserialize)]
    pub(super) struct SavedTerm {
        feature: usize,
        numeric: Option<SavedNumeric>,
        categorical: Option<SavedCategorical>,
        missing: f64,
    }

    #[derive(Deserialize)]
    struct SavedNumeric {
        thresholds: Vec<f64>,
        values: Vec<f64>,
    }

    #[derive(Deserialize)]
    struct SavedCategorical {
        values: Vec<f64>,
    }

    impl TryFrom<SavedTerm> for FeatureTerm {
        type Error = &'static str;

        fn try_from(saved: SavedTerm) -> Result<Self, Self::Error> {
            let SavedTerm { feature, numeric, categorical, missing } = saved;
            let steps = match (numeric, categorical) {
                (Some(SavedNumeric { thresholds, values }), None) => {
                    FeatureSteps::Numeric { thresholds, values }
                }
                (None, Some(SavedCategorical { values })) => FeatureSteps::Categorical { values },
                _ => return Err("a term is not of one kind"),
            };
            Ok(Self { feature, steps, missing })
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "sums of multiples of a power of two are exact")]
mod tests {
    use super::*;
    use crate::data::{mix, snap};

    /// Multiples of the unit from -4 to 4 that are not short fractions.
    fn value(seed: u64) -> f64 {
        snap((mix(seed) >> 11) as f64 / (1_u64 << 50) as f64 - 4.0)
    }

    /// A step function of up to four steps at whole numbers from 0 to 9.
    fn steps(seed: u64) -> FeatureTerm {
        let mut thresholds: Vec<f64> = (0..4).map(|step| (mix(seed + step) % 10) as f64).collect();
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let values = (0..=thresholds.len() as u64).map(|step| value(seed + 10 + step)).collect();
        let steps = FeatureSteps::Numeric { thresholds, values };
        FeatureTerm { feature: 2, steps, missing: value(seed + 20) }
    }

    fn levels(seed: u64, n_levels: u64) -> FeatureTerm {
        let values = (0..n_levels).map(|level| value(seed + level)).collect();
        FeatureTerm {
            feature: 2,
            steps: FeatureSteps::Categorical { values },
            missing: value(seed + 20),
        }
    }

    fn sum(terms: &[FeatureTerm]) -> FeatureTerm {
        let mut sum = terms[0].clone();
        terms[1..].iter().for_each(|term| sum.add(term));
        sum
    }

    #[test]
    fn a_number_on_a_threshold_lies_above_it() {
        let steps =
            FeatureSteps::Numeric { thresholds: vec![1.0, 2.0], values: vec![5.0, 6.0, 7.0] };
        let term = FeatureTerm { feature: 0, steps, missing: 9.0 };
        let raw = [-f64::MAX, 1.0, f64::midpoint(1.0, 2.0), 2.0, f64::MAX, f64::NAN];
        assert_eq!(raw.map(|raw| term.value(raw)), [5.0, 6.0, 6.0, 7.0, 7.0, 9.0]);
    }

    #[test]
    fn steps_lie_half_way_between_codes_that_hold_rows() {
        let bins = FeatureBins::Numeric { cuts: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0] };
        // Codes 1 to 3 and 6 hold no rows; codes 4 and 5 have the same value.
        let values = [Some(1.0), None, None, None, Some(2.0), Some(2.0), None, Some(8.0)];
        let term = FeatureTerm::of_codes(3, &bins, &values, 8.0);
        let expected = FeatureSteps::Numeric { thresholds: vec![3.0], values: vec![1.0, 2.0] };
        assert_eq!(term, FeatureTerm { feature: 3, steps: expected, missing: 8.0 });
        // Adjacent codes: the step is the cut between them.
        let values = [None, None, Some(1.0), Some(2.0), None, None, None, None];
        let term = FeatureTerm::of_codes(3, &bins, &values, 0.0);
        let expected = FeatureSteps::Numeric { thresholds: vec![3.0], values: vec![1.0, 2.0] };
        assert_eq!(term.steps, expected);
    }

    #[test]
    fn a_feature_without_a_known_value_is_a_constant() {
        let bins = FeatureBins::Numeric { cuts: vec![] };
        let term = FeatureTerm::of_codes(0, &bins, &[None, Some(3.0)], 3.0);
        assert_eq!([f64::NAN, -1.0, 1.0].map(|raw| term.value(raw)), [3.0; 3]);
    }

    #[test]
    fn a_category_that_did_not_occur_is_missing() {
        let bins = FeatureBins::Categorical { n_levels: 3, rare: None };
        let term = FeatureTerm::of_codes(0, &bins, &[Some(1.0), None, Some(2.0), None], 0.5);
        let found = [0.0, 1.0, 2.0, 3.0, f64::NAN].map(|code| term.value(code));
        assert_eq!(found, [1.0, 0.5, 2.0, 0.5, 0.5]);
    }

    #[test]
    fn a_merged_term_is_the_sum_of_its_terms_in_any_order_bit_for_bit() {
        let raw = (-1..22).map(|half| f64::from(half) / 2.0).chain([f64::NAN]);
        for seed in (0..50).map(|seed| 1000 * seed) {
            let many: Vec<FeatureTerm> = (0..40).map(|round| steps(seed + 30 * round)).collect();
            let categories: Vec<FeatureTerm> =
                (0..40).map(|round| levels(seed + 30 * round, 3 + round % 5)).collect();
            for mut terms in [many, categories] {
                let merged = sum(&terms);
                terms.sort_by(|a, b| a.missing.total_cmp(&b.missing));
                let otherwise = sum(&terms);
                for raw in raw.clone().filter(|&raw| raw.is_nan() || raw >= 0.0) {
                    let expected: f64 = terms.iter().map(|term| term.value(raw)).sum();
                    assert_eq!(merged.value(raw), expected);
                    assert_eq!(otherwise.value(raw), expected);
                }
            }
        }
    }
}
