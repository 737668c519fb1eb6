//! A sum of terms, the model of `AUCBoost` and `RankBoost`, and its additive explanation if its
//! terms each use one feature.

use serde::{Deserialize, Serialize};

use super::error::BoostError;
use super::marti::BranchingProgram;
use super::scored::{RowScorer, ScoredTerm};
use super::term::{Term, TreeTerm};
use super::validation_set::HeldOutPath;
use super::weak::linear::{LinearRanker, MOST_DEVIATIONS};
use crate::data::{Columns, FeatureTerm, LARGEST_SUM, is_snapped};
use crate::external::ExternalModels;
use crate::formula::{Formula, Linear, LinearTerm, Opaque, Scale};
use crate::prepared::Prepared;
use crate::tree::{LeafSums, RankingTree};
use crate::{RankError, parallel};

/// Rows per task.
const TILE_ROWS: usize = 1024;

/// A sum of terms, one per round.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{FitExtras, RankBoostParams, RoundParams, fit_rank_boost};
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let rounds = RoundParams { n_rounds: 2, ..RoundParams::default() };
/// let params = RankBoostParams { rounds, ..RankBoostParams::default() };
/// let extras = FitExtras::default();
/// let model = fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// // The feature ranks three of four pairs right, before rows are weighted.
/// assert_eq!(model.advantages()[0], 0.25);
/// // The two terms are functions of the one feature, and so is their sum.
/// let sum = &model.merged_terms()[0];
/// let difference = sum.value(4.0) - model.threshold() - model.score(&columns, None)?[3];
/// assert!(difference.abs() < 1e-12);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoostedModel(BoostedFields);

/// The fields of a boosted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct BoostedFields {
    pub(super) n_levels: Vec<Option<u32>>,
    pub(super) terms: Vec<Term>,
    /// After each round and for each class, negatives first, the mean of `exp(-y f(x))` on the
    /// training rows, which bounds the share of rows on the wrong side of 0.
    pub(super) mean_exponentials: Vec<[f64; 2]>,
    /// AUC less one half of each term, under the weights of its round.
    pub(super) advantages: Vec<f64>,
    pub(super) threshold: f64,
    pub(super) by_sign: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) held_out: Option<HeldOutPath>,
    pub(super) seed: u64,
    #[serde(skip)]
    pub(super) prepared: Prepared<ScoredTerms>,
}

/// The terms of a sum in the form in which they score rows.
#[derive(Debug)]
pub(super) struct ScoredTerms {
    /// Terms of single features, merged.
    features: Vec<FeatureTerm>,
    /// Trees that test single features; `None` if there are none.
    trees: Option<LeafSums>,
}

impl BoostedModel {
    pub(super) fn new(parts: BoostedFields) -> Self {
        Self(parts)
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.0.n_levels
    }

    /// The terms, round by round.
    #[must_use]
    pub fn terms(&self) -> &[Term] {
        &self.0.terms
    }

    /// The sum of terms, or its sign if rows are scored by it, from which a row is predicted as
    /// positive.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.0.threshold
    }

    /// Sets the raw score from which a row is predicted as positive, such as that of even odds.
    pub(crate) fn set_threshold(&mut self, threshold: f64) {
        self.0.threshold = threshold;
    }

    /// After each round and for each class, negatives first, the mean of `exp(-y f(x))` over the
    /// initial distribution of the training rows, `f` being the sum of the rounds so far and `y` 1
    /// or -1. It bounds the share of rows of the class on the wrong side of 0; both are products of
    /// one factor per round. After a fit up to a false positive rate below 1, each negative enters
    /// the mean and the share with the part of its weight that counts.
    #[must_use]
    pub fn mean_exponentials(&self) -> &[[f64; 2]] {
        &self.0.mean_exponentials
    }

    /// For each round the AUC of its term, less one half, under the weights of that round.
    #[must_use]
    pub fn advantages(&self) -> &[f64] {
        &self.0.advantages
    }

    /// The AUC of the held-out rows, if it determined the number of rounds.
    #[must_use]
    pub fn held_out(&self) -> Option<&HeldOutPath> {
        self.0.held_out.as_ref()
    }

    /// The seed of the fit.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.0.seed
    }

    /// Whether rows are scored by the sign of the sum.
    #[must_use]
    pub fn scores_by_sign(&self) -> bool {
        self.0.by_sign
    }

    /// The merged terms of single features, one for each feature that has any, in the order of the
    /// features.
    #[must_use]
    pub fn merged_terms(&self) -> Vec<FeatureTerm> {
        let mut merged: Vec<Option<FeatureTerm>> = vec![None; self.0.n_levels.len()];
        for term in &self.0.terms {
            let Term::Feature(term) = term else { continue };
            match &mut merged[term.feature] {
                Some(sum) => sum.add(term),
                none => *none = Some(term.clone()),
            }
        }
        merged.into_iter().flatten().collect()
    }

    /// Numbers of the external rankers of the model, ascending.
    #[must_use]
    pub fn external_rankers(&self) -> Vec<usize> {
        self.0.terms.iter().filter_map(Term::external_number).collect()
    }

    /// For each feature the mean of [`BoostedModel::advantages`] over all rounds, each weighted by
    /// the range of the values of its term, rounds on other features counting as 0; the share of a
    /// tree is divided among its features by their squared gains. `None` if a term combines
    /// features in a way that cannot be attributed.
    #[must_use]
    pub fn importances(&self) -> Option<Vec<f64>> {
        let (mut importances, mut total) = (vec![0.0; self.0.n_levels.len()], 0.0);
        for (term, advantage) in self.0.terms.iter().zip(&self.0.advantages) {
            let range = term.range();
            total += range;
            term.share_out(range * advantage, &mut importances)?;
        }
        let total = if total > 0.0 { total } else { 1.0 };
        Some(importances.into_iter().map(|importance| importance / total).collect())
    }

    /// Score of each row, above 0 if it is predicted as positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns differ from those of the fit in number or kind, or hold
    /// infinity.
    pub fn score(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        let mut scores = self.sums(columns, external)?;
        let scored = |sum: &mut f64| *sum = self.score_of(*sum);
        let tiles = scores.chunks_mut(TILE_ROWS).collect();
        parallel::map_with(tiles, 16, || (), |(), tile| tile.iter_mut().for_each(scored));
        Ok(scores)
    }

    /// The score for a sum of terms.
    #[inline]
    #[must_use]
    pub fn score_of(&self, sum: f64) -> f64 {
        let raw = match (self.0.by_sign, sum >= 0.0) {
            (false, _) => sum,
            (true, true) => 1.0,
            (true, false) => -1.0,
        };
        raw - self.0.threshold
    }

    fn scored_terms(&self) -> ScoredTerms {
        let trees: Vec<_> = self.0.terms.iter().filter_map(scored_tree).collect();
        let trees = (!trees.is_empty()).then(|| LeafSums::new(trees.into_iter()));
        ScoredTerms { features: self.merged_terms(), trees }
    }

    /// Sum of all terms for each row.
    fn sums(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.0.n_levels)?;
        let n_features = columns.n_features();
        let ScoredTerms { features, trees } = self.0.prepared.get(|| self.scored_terms());
        let mut sums = vec![0.0; columns.n_rows()];
        columns.by_tile(&mut sums, 1, |memory, rows, values, sums| {
            for term in features {
                let values = values[term.feature..].iter().step_by(n_features);
                for (sum, &value) in sums.iter_mut().zip(values) {
                    *sum += term.value(value);
                }
            }
            if let Some(trees) = trees {
                trees.add(columns, rows, memory, sums);
            }
        })?;
        for term in &self.0.terms {
            if !matches!(term, Term::Feature(_)) && scored_tree(term).is_none() {
                term.add_values(columns, external, &mut sums)?;
            }
        }
        Ok(sums)
    }

    /// Checks that the columns are those of the fit in number and kind, and hold no infinity.
    ///
    /// # Errors
    ///
    /// If they are not.
    pub fn check_columns(&self, columns: &Columns<'_>) -> Result<(), RankError> {
        columns.check_kinds(&self.0.n_levels)?;
        columns.infinite_value().map_or(Ok(()), Err)
    }

    /// Contribution of one round to the sum of each row of [checked](BoostedModel::check_columns)
    /// columns.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind.
    ///
    /// # Panics
    ///
    /// If there is no such round.
    pub fn round_values(
        &self,
        columns: &Columns<'_>,
        round: usize,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.0.n_levels)?;
        self.0.terms[round].values(columns, external)
    }

    /// Checks the consistency of a model read from a file.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub fn check(&self) -> Result<(), String> {
        let parts = &self.0;
        let n_terms = parts.terms.len();
        if parts.mean_exponentials.len() != n_terms || parts.advantages.len() != n_terms {
            return Err(format!("the figures of {n_terms} rounds are not of as many"));
        }
        let is_mean = |mean: &f64| mean.is_finite() && *mean >= 0.0;
        if !parts.mean_exponentials.as_flattened().iter().all(is_mean) {
            return Err("a mean of exponentials is below 0 or not finite".to_owned());
        }
        if !parts.advantages.iter().all(|advantage| advantage.abs() <= 0.5) {
            return Err("the AUC of a round is not in [0, 1]".to_owned());
        }
        let mut largest = 0.0;
        for (round, term) in parts.terms.iter().enumerate() {
            let found = term.check(&parts.n_levels).and_then(|()| largest_value(term));
            largest += found.map_err(|what| format!("the term of round {round}: {what}"))?;
        }
        if !(largest <= LARGEST_SUM && parts.threshold.abs() <= LARGEST_SUM) {
            return Err("the values of the terms are too large to be summed".to_owned());
        }
        parts.held_out.iter().try_for_each(|path| path.check(n_terms))
    }
}

impl Term {
    /// Largest less smallest value.
    fn range(&self) -> f64 {
        let low = self.all_values().fold(f64::INFINITY, f64::min);
        let high = self.all_values().fold(f64::NEG_INFINITY, f64::max);
        if high > low { high - low } else { 0.0 }
    }
}

/// The largest absolute value of a term, all of whose values must be multiples of their unit.
fn largest_value(term: &Term) -> Result<f64, String> {
    let mut largest = 0.0_f64;
    for value in term.all_values() {
        if !is_snapped(value) || value.abs() > LARGEST_SUM {
            return Err(format!("{value} is not a value of a term"));
        }
        largest = largest.max(value.abs());
    }
    Ok(largest)
}

/// The tree of a term, if rows are coded for it, with the values of its leaves.
fn scored_tree(term: &Term) -> Option<(&RankingTree, &[f64])> {
    match term {
        Term::Tree(TreeTerm { tree, values }) if tree.asks_single_features() => {
            Some((tree, values))
        }
        _ => None,
    }
}

impl BoostedModel {
    /// Its score: the terms of single features merged, then the others, round by round. Sums of
    /// their values are exact, so that the order does not matter.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let merged = self.merged_terms();
        let merged = merged.iter().map(|term| Formula::Steps(term.into()));
        let others = self.terms().iter().filter(|term| !matches!(term, Term::Feature(_)));
        let mut terms: Vec<Formula> = merged.chain(others.map(Term::formula)).collect();
        if self.scores_by_sign() {
            let values = [-1.0, 1.0].map(|sign| sign - self.threshold()).to_vec();
            let thresholds = vec![0.0];
            return Formula::StepsOf { of: Box::new(Formula::Sum(terms)), thresholds, values };
        }
        terms.push(Formula::Constant(-self.threshold()));
        Formula::Sum(terms)
    }
}

impl Term {
    pub(super) fn formula(&self) -> Formula {
        match self {
            Self::Feature(term) => Formula::Steps(term.into()),
            Self::Tree(term) => Formula::Tree(term.tree.formula(&term.values)),
            Self::Scored(ScoredTerm { scorer, thresholds, values }) => match scorer {
                RowScorer::Linear(linear) => Formula::StepsOf {
                    of: Box::new(Formula::Linear(linear.formula())),
                    thresholds: thresholds.clone(),
                    values: values.clone(),
                },
                RowScorer::External { .. } => Formula::Opaque(Opaque::ExternalRanker),
            },
        }
    }
}

impl LinearRanker {
    fn formula(&self) -> Linear {
        let term = |feature| LinearTerm {
            feature,
            weight: self.coefficients[feature],
            scale: Some(Scale {
                mean: self.means[feature],
                deviation: self.deviations[feature],
                limit: MOST_DEVIATIONS,
                unit: None,
            }),
        };
        let weighted = (0..self.means.len()).filter(|&feature| self.coefficients[feature] != 0.0);
        Linear { terms: weighted.map(term).collect(), intercept: 0.0 }
    }
}

impl BranchingProgram {
    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let (factor, constant) = self.scale_of_worth();
        let program = self.worth_formula().map_or_else(Formula::Opaque, Formula::Program);
        let score = Formula::Product { factor, of: Box::new(program) };
        Formula::Sum(vec![score, Formula::Constant(constant), Formula::Constant(-self.threshold())])
    }
}

impl BoostedModel {
    /// Whether every term uses one feature, so that the score is a sum of step functions.
    #[must_use]
    pub fn is_additive(&self) -> bool {
        self.terms().iter().all(|term| matches!(term, Term::Feature(_)))
    }

    /// The contributions to the score of each row, row by row, one for each feature: the value of
    /// its step function. They add up to the score plus the threshold, exactly and in any order.
    ///
    /// # Errors
    ///
    /// [`BoostError::NotAdditive`] if a term uses several features; otherwise as
    /// [`BoostedModel::score`].
    pub fn explain(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(self.n_levels())?;
        if !self.is_additive() {
            return Err(RankError::Boost(BoostError::NotAdditive));
        }
        let mut of_feature = vec![None; columns.n_features()];
        for term in self.merged_terms() {
            let feature = term.feature;
            of_feature[feature] = Some(term);
        }
        let n_features = columns.n_features();
        let mut parts = vec![0.0; columns.n_rows() * n_features];
        columns.by_tile(&mut parts, n_features, |(): &mut (), _, values, parts| {
            let rows = values.chunks(n_features).zip(parts.chunks_mut(n_features));
            for (values, parts) in rows {
                for ((part, &value), term) in parts.iter_mut().zip(values).zip(&of_feature) {
                    *part = term.as_ref().map_or(0.0, |term| term.value(value));
                }
            }
        })?;
        Ok(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::boost::{FitExtras, RankBoostParams, RoundParams, WeakRankerParams, fit_rank_boost};
    use crate::data::{Labels, mix};

    const N_ROWS: usize = 5000;

    /// Three features, the last of which is uninformative; every ninth value is missing.
    fn sample() -> (Vec<f64>, Vec<bool>) {
        let unit =
            |row: usize, j: u64| (mix(row as u64 ^ j << 40) >> 11) as f64 / (1_u64 << 53) as f64;
        let value = |row: usize, j: u64| match mix(row as u64 ^ j << 50) % 9 {
            0 => f64::NAN,
            _ if j == 2 => 1.0,
            _ => unit(row, j),
        };
        let values = (0..N_ROWS).flat_map(|row| (0..3).map(move |j| value(row, j))).collect();
        let positive =
            (0..N_ROWS).map(|row| unit(row, 0) + unit(row, 1) + unit(row, 5) > 1.5).collect();
        (values, positive)
    }

    fn fit(values: &[f64], positive: &[bool]) -> BoostedModel {
        let rounds = RoundParams {
            weak_ranker: WeakRankerParams::Threshold,
            n_rounds: 50,
            ..RoundParams::default()
        };
        let params = RankBoostParams { rounds, ..RankBoostParams::default() };
        let columns = Columns::from_row_major(values, 3).unwrap();
        let labels = Labels::new(positive, None).unwrap();
        fit_rank_boost((&columns, &labels), &params, &FitExtras::default(), &Interrupt::default())
            .unwrap()
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the parts are exact")]
    fn parts_are_values_of_the_terms_and_add_up_to_the_score() {
        let (values, positive) = sample();
        let model = fit(&values, &positive);
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let (parts, scores) =
            (model.explain(&columns).unwrap(), model.score(&columns, None).unwrap());
        assert_eq!(parts.len(), 3 * N_ROWS);
        for ((row, parts), score) in values.chunks(3).zip(parts.chunks(3)).zip(scores) {
            assert_eq!(parts.iter().sum::<f64>() - model.threshold(), score);
            for (feature, part) in parts.iter().enumerate() {
                let of_feature = model.terms().iter().filter_map(|term| match term {
                    Term::Feature(term) if term.feature == feature => {
                        Some(term.value(row[feature]))
                    }
                    _ => None,
                });
                assert_eq!(of_feature.sum::<f64>(), *part);
            }
        }
    }

    #[test]
    fn a_model_that_cannot_be_explained_is_refused() {
        let (mut values, positive) = sample();
        let model = fit(&values, &positive);
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let err = RankError::ColumnMismatch { found: 2, expected: 3 };
        assert_eq!(model.explain(&columns), Err(err));
        values[3 * (N_ROWS - 1) + 1] = f64::INFINITY;
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let err = RankError::InfiniteValue { column: 1, row: N_ROWS - 1, value: f64::INFINITY };
        assert_eq!(model.explain(&columns), Err(err));
    }

    /// A tree is put among the terms through the JSON of a model.
    mod of_trees {
        use super::*;
        use crate::boost::TreeTerm;
        use crate::tree::{
            self, GrowParams, LeafOrder, LeafRankParams, RankingTree, SplitRule, TreeRankParams,
        };

        fn tree(values: &[f64], positive: &[bool]) -> RankingTree {
            let grow = GrowParams {
                max_depth: 2,
                min_samples_leaf: 1,
                leaf_order: LeafOrder::Tree,
                ..GrowParams::default()
            };
            let params =
                TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
            let columns = Columns::from_row_major(values, 3).unwrap();
            let labels = Labels::new(positive, None).unwrap();
            tree::fit((&columns, &labels), &params, &Interrupt::default()).unwrap().tree
        }

        #[test]
        fn a_sum_with_a_tree_cannot_be_explained() {
            let (values, positive) = sample();
            let model = fit(&values, &positive);
            let tree = tree(&values, &positive);
            let n_leaves = tree.leaves().len();
            let term = Term::Tree(TreeTerm { tree, values: vec![0.0; n_leaves] });
            let mut document = serde_json::to_value(&model).unwrap();
            document["terms"].as_array_mut().unwrap().push(serde_json::to_value(term).unwrap());
            let with_tree: BoostedModel = serde_json::from_value(document).unwrap();
            let columns = Columns::from_row_major(&values, 3).unwrap();
            assert_eq!(with_tree.explain(&columns), Err(RankError::Boost(BoostError::NotAdditive)));
        }
    }
}
