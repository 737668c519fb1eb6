//! The score as a sum of step functions, where each tree asks one feature.

use super::model::GradientBoosted;
use super::tree::GradientTree;
use crate::RankError;
use crate::data::{Columns, FeatureTerm, Steps};
use crate::formula::{Rule, Test};

impl GradientTree {
    /// The feature that it asks, if it asks no other.
    fn single_feature(&self) -> Option<usize> {
        let mut features = self.tests().map(|(test, _)| test.feature);
        let first = features.next()?;
        features.all(|feature| feature == first).then_some(first)
    }

    /// The tree as a step function of its only feature, given its number of categories.
    #[expect(clippy::float_cmp, reason = "a step is between values that differ at all")]
    fn steps(&self, feature: usize, n_levels: Option<u32>) -> FeatureTerm {
        let value = |raw: f64| self.value(|test| test.goes_left_by(raw));
        let missing = value(f64::NAN);
        let steps = if let Some(n_levels) = n_levels {
            Steps::Categorical { values: (0..n_levels).map(|level| value(level.into())).collect() }
        } else {
            let mut cuts: Vec<f64> =
                self.tests().filter_map(|(test, _)| test.threshold()).collect();
            cuts.sort_unstable_by(f64::total_cmp);
            cuts.dedup();
            let (mut thresholds, mut values) = (Vec::new(), vec![value(f64::NEG_INFINITY)]);
            for cut in cuts {
                let next = value(cut);
                if values[values.len() - 1] != next {
                    thresholds.push(cut);
                    values.push(next);
                }
            }
            Steps::Numeric { thresholds, values }
        };
        FeatureTerm { feature, steps, missing }
    }
}

impl Test {
    /// The side of a row with this value of the feature; NaN is missing.
    fn goes_left_by(&self, value: f64) -> bool {
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

    /// The threshold, of a question that has one.
    fn threshold(&self) -> Option<f64> {
        match self.left {
            Rule::Below(threshold) | Rule::AtLeast(threshold) => Some(threshold),
            Rule::Known(_) | Rule::Levels(_) => None,
        }
    }
}

impl GradientBoosted {
    /// Whether each tree asks a single feature, so that the score is a sum of step functions.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.trees().iter().all(|tree| tree.single_feature().is_some())
    }

    /// The step functions that the trees add up to, one for each feature that any of them asks, in the
    /// order of the features.
    ///
    /// # Errors
    ///
    /// [`RankError::NotAdditive`] if a tree asks several features.
    pub fn merged_terms(&self) -> Result<Vec<FeatureTerm>, RankError> {
        let mut merged: Vec<Option<FeatureTerm>> = vec![None; self.n_levels().len()];
        for tree in self.trees() {
            let feature = tree.single_feature().ok_or(RankError::NotAdditive)?;
            let term = tree.steps(feature, self.n_levels()[feature]);
            match &mut merged[feature] {
                Some(sum) => sum.add(&term),
                none => *none = Some(term),
            }
        }
        Ok(merged.into_iter().flatten().collect())
    }

    /// The contributions to the score of each row, row by row, one for each feature: the value of its
    /// step function. They and the base add up to the score, exactly and in any order.
    ///
    /// # Errors
    ///
    /// [`RankError::NotAdditive`] if a tree asks several features; otherwise as
    /// [`GradientBoosted::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        let n_features = columns.n_features();
        let terms = self.merged_terms()?;
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        columns.by_tile(&mut parts, n_features, |(): &mut (), _, values, parts| {
            let rows = values.chunks(n_features).zip(parts.chunks_mut(n_features));
            for (values, parts) in rows {
                for term in &terms {
                    parts[term.feature] = term.value(values[term.feature]);
                }
            }
        })?;
        Ok(parts)
    }
}
