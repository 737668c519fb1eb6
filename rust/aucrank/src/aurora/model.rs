//! A linear score over binary terms, the model of `AURORA`.

use serde::{Deserialize, Serialize};

use super::binarize::Binarizer;
use super::binary_feature::{BinaryFeature, BinaryRule, TermTest};
use super::binary_feature::{BinaryTerm, Literal};
use super::params::SelectionCriterion;
use super::ramp::Statistics;
use crate::RankError;
use crate::data::{
    Bins, Columns, FeatureSteps, FeatureTerm, LARGEST_SUM, Labels, LevelSet, Lookups, is_snapped,
    snap,
};
use crate::formula::{Condition, Formula, Rule, Test};
use crate::roc::largest_gap;

/// A fitted `AURORA`.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{BinaryTerm, fit_aurora};
/// use aucrank::data::{Columns, Labels};
/// # use aucrank::aurora::{AuroraParams, BinarizerParams, SelectionCriterion, Radius, SearchDepth};
/// # use aucrank::aurora::Selection;
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// # let params = AuroraParams {
/// #     binarizer: BinarizerParams::default(), max_features: 10, order: 1,
/// #     radius: Radius::Fixed(2.0), depth: SearchDepth::default(), first_gain: 0.01,
/// #     last_gain: 0.01, tol: None, selection: Selection::Keep, criterion: SelectionCriterion::Auc,
/// #     radius_terms: None, patience: None, monotonic: vec![], max_fpr: 1.0, seed: 0,
/// # };
/// let model = fit_aurora(&columns, &labels, &params, None, &Interrupt::default())?;
/// // The one term is whether the number is at least 6.5; its weight is the radius.
/// assert!(matches!(model.terms(), [BinaryTerm::First(_)]));
/// assert_eq!((model.values(), model.threshold()), (&[2.0][..], 1.0));
/// assert_eq!(model.score(&columns)?, [-1.0, -1.0, 1.0, 1.0]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Aurora(AuroraFields);

/// The fields of a fitted `AURORA`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AuroraFields {
    pub n_levels: Vec<Option<u32>>,
    pub binarizer: Binarizer,
    /// All terms that the search found; those that are kept come first.
    pub terms: Vec<BinaryTerm>,
    /// The weights of the terms that are kept.
    pub values: Vec<f64>,
    pub threshold: f64,
    /// The gain of the ramp statistic of the training rows by each of them.
    pub gains: Vec<f64>,
    pub radius: f64,
    pub radii: Vec<TriedRadius>,
    pub path: Vec<PathStep>,
    /// The statistic that chose the number of terms.
    pub criterion: SelectionCriterion,
    /// Number of folds that chose it, if it was chosen by folds.
    pub n_folds: Option<u16>,
    /// The gain required of the next term.
    pub enough: f64,
    pub seed: u64,
}

/// Statistics of a score with a given number of terms, averaged over folds.
///
/// For an example see [`fit_aurora`](crate::aurora::fit_aurora).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathStep {
    /// Statistics of the training rows.
    pub train: Statistics,
    /// Statistics of the held-out rows.
    pub validation: Option<Statistics>,
    /// The smoothed statistic of the held-out rows that chooses the number of terms.
    pub smoothed: Option<f64>,
}

/// A radius that was tried.
///
/// For an example see [`fit_aurora`](crate::aurora::fit_aurora).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriedRadius {
    /// Norm of the weights.
    pub radius: f64,
    /// Number of terms that would be kept.
    pub n_terms: usize,
    /// AUC of the held-out rows with that many terms.
    pub auc: Option<f64>,
    /// Standard error of its difference from the highest AUC of the radii that were searched for as
    /// many terms as any.
    pub standard_error: Option<f64>,
}

impl Aurora {
    /// Rounds the weights, and finds the threshold.
    pub(super) fn new(
        mut parts: AuroraFields,
        columns: &Columns<'_>,
        labels: &Labels<'_>,
    ) -> Result<Self, RankError> {
        for value in &mut parts.values {
            *value = snap(*value);
        }
        let mut model = Self(parts);
        model.0.threshold = largest_gap(&model.score(columns)?, labels)?;
        Ok(model)
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    /// The binary terms of all raw features.
    #[must_use]
    pub fn binarizer(&self) -> &Binarizer {
        &self.0.binarizer
    }

    /// The terms of the score, in the order of selection.
    #[must_use]
    pub fn terms(&self) -> &[BinaryTerm] {
        &self.0.terms[..self.0.values.len()]
    }

    /// All terms of the search, including those that were not kept.
    #[must_use]
    pub fn all_terms(&self) -> &[BinaryTerm] {
        &self.0.terms
    }

    /// The weight of each term of the score.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0.values
    }

    /// The gain of the ramp statistic of the training rows by each term of the score; that of the
    /// first is relative to one half.
    #[must_use]
    pub fn gains(&self) -> &[f64] {
        &self.0.gains
    }

    /// The sum of weights from which a row is predicted as positive.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.0.threshold
    }

    /// Sets the raw score from which a row is predicted as positive, such as that of even odds.
    pub(crate) fn set_threshold(&mut self, threshold: f64) {
        self.0.threshold = threshold;
    }

    /// The norm of the weights.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.0.radius
    }

    /// The radii that were tried, ascending.
    #[must_use]
    pub fn radii(&self) -> &[TriedRadius] {
        &self.0.radii
    }

    /// The statistics after each term of the search.
    #[must_use]
    pub fn path(&self) -> &[PathStep] {
        &self.0.path
    }

    /// The statistic of held-out rows that chose the number of terms, if rows were held out.
    #[must_use]
    pub fn criterion(&self) -> SelectionCriterion {
        self.0.criterion
    }

    /// Number of folds that chose the number of terms, if it was chosen by folds.
    #[must_use]
    pub fn n_folds(&self) -> Option<u16> {
        self.0.n_folds
    }

    /// The gain required of the next term of the search.
    #[must_use]
    pub fn enough(&self) -> f64 {
        self.0.enough
    }

    /// The seed of the fit.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// The sum of [`Aurora::gains`] of each feature; that of a term of two features is divided
    /// equally.
    #[must_use]
    pub fn importances(&self) -> Vec<f64> {
        let mut importances = vec![0.0; self.0.n_levels.len()];
        for (term, gain) in self.terms().iter().zip(&self.0.gains) {
            let literals = term.literals();
            for literal in literals.clone() {
                importances[literal.feature] += gain / literals.len() as f64;
            }
        }
        importances
    }

    /// Whether every term uses one feature.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.terms().iter().all(|term| matches!(term, BinaryTerm::First(_)))
    }

    /// The score as a sum of step functions, one for each feature that has a term; `None` if a term
    /// uses two features.
    #[must_use]
    pub fn feature_terms(&self) -> Option<Vec<FeatureTerm>> {
        if !self.is_additive() {
            return None;
        }
        let of_feature = |(feature, binary): (usize, &BinaryFeature)| {
            let terms: Vec<(usize, f64)> = self
                .terms()
                .iter()
                .zip(&self.0.values)
                .flat_map(|(term, &value)| term.literals().map(move |literal| (literal, value)))
                .filter(|(literal, _)| literal.feature == feature)
                .map(|(literal, value)| (literal.slot, value))
                .collect();
            let at = |code: usize| -> f64 {
                let on = terms.iter().filter(|(slot, _)| binary.codes_on(*slot).contains(&code));
                // An empty sum would be -0.
                on.fold(0.0, |sum, (_, value)| sum + value)
            };
            let steps = match &binary.rule {
                BinaryRule::AtLeast(all) => {
                    let has_term = |&slot: &usize| terms.iter().any(|(other, _)| *other == slot);
                    let slots: Vec<usize> = (0..all.len()).filter(has_term).collect();
                    FeatureSteps::Numeric {
                        thresholds: slots.iter().map(|&slot| all[slot]).collect(),
                        values: std::iter::once(0)
                            .chain(slots.iter().map(|slot| slot + 1))
                            .map(at)
                            .collect(),
                    }
                }
                BinaryRule::Equals { n_levels, .. } => {
                    FeatureSteps::Categorical { values: (0..*n_levels as usize).map(at).collect() }
                }
            };
            (!terms.is_empty()).then(|| FeatureTerm {
                feature,
                steps,
                missing: at(binary.n_codes() - 1),
            })
        };
        Some(self.0.binarizer.features.iter().enumerate().filter_map(of_feature).collect())
    }

    /// Score of each row: the sum of its terms less the threshold.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        // 0 less 0, since minus 0 would be -0.
        let mut scores = vec![0.0 - self.0.threshold; columns.n_rows()];
        self.for_terms(columns, &mut scores, 1, |term, on, scores| {
            let value = self.0.values[term];
            for (score, on) in scores.iter_mut().zip(on) {
                *score += value * f64::from(on);
            }
        })?;
        Ok(scores)
    }

    /// Contributions to the score of each row, row by row, one for each term: its weight if it is
    /// on, else 0. They add up to the score plus the threshold.
    ///
    /// # Errors
    ///
    /// As [`Aurora::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let n_terms = self.0.values.len();
        let mut parts = vec![0.0; columns.n_rows() * n_terms];
        self.for_terms(columns, &mut parts, n_terms, |term, on, parts| {
            let value = self.0.values[term];
            for (part, on) in parts[term..].iter_mut().step_by(n_terms).zip(on) {
                *part = value * f64::from(on);
            }
        })?;
        Ok(parts)
    }

    /// Calls `visit` for each block of rows and each term, with the rows where it is on and their
    /// part of `out`, which has `width` values per row.
    fn for_terms(
        &self,
        columns: &Columns<'_>,
        out: &mut [f64],
        width: usize,
        visit: impl Fn(usize, Vec<u8>, &mut [f64]) + Sync,
    ) -> Result<(), RankError> {
        columns.check_kinds(self.n_levels())?;
        let features = &self.0.binarizer.features;
        let mut used: Vec<usize> = self
            .terms()
            .iter()
            .flat_map(BinaryTerm::literals)
            .map(|literal| literal.feature)
            .collect();
        used.sort_unstable();
        used.dedup();
        let bins: Vec<Bins> = used.iter().map(|&feature| features[feature].bins()).collect();
        let lookups = Lookups::new(used.iter().copied().zip(&bins));
        lookups.by_tile(columns, out, width, |(): &mut (), of_feature, out| {
            let codes: Vec<&[u32]> = of_feature.collect();
            let of = |Literal { feature, slot }: Literal| {
                let place = used.partition_point(|&other| other < feature);
                let on = features[feature].codes_on(slot);
                let (start, n) = (on.start as u32, on.len() as u32);
                codes[place].iter().map(|code| (code.wrapping_sub(start) < n).into()).collect()
            };
            for (number, term) in self.terms().iter().enumerate() {
                visit(number, term.on(of), out);
            }
        })
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let AuroraFields { n_levels, binarizer, terms, values, gains, path, .. } = &self.0;
        if binarizer.features.len() != n_levels.len() {
            return Err("the binary terms are not those of the features".to_owned());
        }
        for (place, (feature, &n_levels)) in binarizer.features.iter().zip(n_levels).enumerate() {
            feature.check(n_levels).map_err(|what| format!("feature {place}: {what}"))?;
        }
        binarizer.check_codes().map_err(|err| err.to_string())?;
        for literal in terms.iter().flat_map(BinaryTerm::literals) {
            let feature = binarizer.features.get(literal.feature);
            if feature.is_none_or(|feature| literal.slot >= feature.n_terms()) {
                return Err(format!(
                    "there is no term {} of feature {}",
                    literal.slot, literal.feature
                ));
            }
        }
        if values.len() > terms.len() || gains.len() != values.len() || path.len() < values.len() {
            return Err(format!("{} weights do not fit the terms", values.len()));
        }
        if !(self.0.radius > 0.0 && self.0.radius.is_finite() && self.0.enough > 0.0) {
            return Err("the radius, or what a term has to add, is not positive".to_owned());
        }
        let sum: f64 = values.iter().map(|value| value.abs()).sum();
        if !(sum <= LARGEST_SUM && values.iter().copied().all(is_snapped)) {
            return Err("the weights are not multiples of 2^-32 of a bounded sum".to_owned());
        }
        if !(self.0.threshold.abs() <= LARGEST_SUM && gains.iter().all(|gain| gain.is_finite())) {
            return Err("the threshold or a gain is out of its range".to_owned());
        }
        Ok(())
    }
}

impl Aurora {
    /// Its score: the weights of the terms that are on, less the threshold.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let tests: Vec<Vec<TermTest>> =
            self.binarizer().features.iter().map(BinaryFeature::tests).collect();
        let is_on =
            |Literal { feature, slot }| Condition::Test(test_of(feature, tests[feature][slot]));
        let indicators = self.terms().iter().zip(self.values()).map(|(term, &value)| {
            let condition = match *term {
                BinaryTerm::First(a) => is_on(a),
                BinaryTerm::And(a, b) => Condition::All(vec![is_on(a), is_on(b)]),
                BinaryTerm::Or(a, b) => Condition::Any(vec![is_on(a), is_on(b)]),
            };
            Formula::Indicator { condition, value }
        });
        let threshold = Formula::Constant(-self.threshold());
        Formula::Sum(std::iter::once(threshold).chain(indicators).collect())
    }
}

/// Whether a binary term is on.
fn test_of(feature: usize, test: TermTest) -> Test {
    let (left, missing_left) = match test {
        TermTest::AtLeast(threshold) => (Rule::AtLeast(threshold), false),
        TermTest::Equals(code) => (Rule::Levels(LevelSet::only([code])), false),
        TermTest::Missing => (Rule::Known(false), true),
    };
    Test { feature, left, missing_left }
}
