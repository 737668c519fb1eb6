//! Terms of a score: functions of a row built from a weak ranker. Those on columns of rates are
//! terms on categories once the fit is over.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::error::BoostError;
use super::scored::{RowScorer, ScoredTerm};
use crate::data::{
    ClassMasses, Column, Columns, FeatureSteps, FeatureTerm, LevelSteps, MISSING_CODE, RateColumns,
    binds, direction, threshold,
};
use crate::external::{ExternalModels, scores_of};
use crate::tree::RankingTree;
use crate::{RankError, parallel};

/// Maximum number of values of categories in all terms of a model, a gigabyte.
const MOST_LEVEL_VALUES: usize = 1 << 27;

/// A function of a row: the contribution of a boosting round, or the probability with which a node
/// of a branching program predicts "positive".
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     FitExtras, RankBoostParams, RoundParams, Term, WeakRankerParams, fit_rank_boost,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let first_term = |weak_ranker| {
///     let rounds = RoundParams { n_rounds: 1, weak_ranker, ..RoundParams::default() };
///     let params = RankBoostParams { rounds, ..RankBoostParams::default() };
///     let extras = FitExtras::default();
///     fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())
///         .map(|model| model.terms()[0].clone())
/// };
/// assert!(matches!(first_term(WeakRankerParams::Feature)?, Term::Feature(_)));
/// assert!(matches!(first_term(WeakRankerParams::Linear)?, Term::Scored(_)));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// A step function of one feature.
    Feature(FeatureTerm),
    /// A value for each leaf of a tree.
    Tree(TreeTerm),
    /// A function of the score of a linear or an external ranker.
    Scored(ScoredTerm),
}

/// A value for each leaf of a tree.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     FitExtras, RankBoostParams, RoundParams, Term, WeakRankerParams, fit_rank_boost,
/// };
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let tree = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
/// let weak_ranker = WeakRankerParams::Tree(Box::new(tree));
/// let rounds = RoundParams { n_rounds: 1, weak_ranker, ..RoundParams::default() };
/// let params = RankBoostParams { rounds, ..RankBoostParams::default() };
/// let extras = FitExtras::default();
/// let model = fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// let Term::Tree(term) = &model.terms()[0] else { unreachable!("the rankers are trees") };
/// // A leaf for each of three intervals, the one of the positive rows first.
/// assert_eq!((term.tree.n_leaves(), term.values.len()), (3, 3));
/// assert!(term.values[0] > term.values[1]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeTerm {
    /// The tree.
    pub tree: RankingTree,
    /// Values by rank of the leaf, the best first.
    pub values: Vec<f64>,
}

impl Term {
    /// All of its values, that of missing values last.
    pub(super) fn all_values(&self) -> impl Iterator<Item = f64> {
        let (values, missing) = match self {
            Self::Feature(FeatureTerm { steps, missing, .. }) => (steps.values(), Some(missing)),
            Self::Tree(term) => (&term.values[..], None),
            Self::Scored(term) => (&term.values[..], None),
        };
        values.iter().chain(missing).copied()
    }

    /// Checks the consistency of the term, given the number of categories of each feature. The
    /// range of its values is checked by the caller.
    pub(super) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        match self {
            Self::Feature(term) => term.check(n_levels),
            Self::Tree(term) => term.check(n_levels),
            Self::Scored(term) => term.check(n_levels),
        }
    }

    /// Whether the term obeys the directions of features, as far as its form shows.
    pub(super) fn keeps_to(&self, monotonic: &[i8]) -> bool {
        match self {
            Self::Feature(FeatureTerm { feature, steps, .. }) => {
                let values = steps.values();
                match direction(monotonic, *feature) {
                    0 => true,
                    1 => values.is_sorted(),
                    _ => values.is_sorted_by(|low, high| low >= high),
                }
            }
            Self::Tree(TreeTerm { tree, .. }) => {
                let is_kept = |(feature, &bound): (usize, &i8)| {
                    bound == 0 || direction(tree.monotonic(), feature) == bound
                };
                monotonic.iter().enumerate().all(is_kept)
            }
            Self::Scored(_) => !binds(monotonic),
        }
    }

    /// Adds what the term contributes to the importances of its features; that of a tree is divided
    /// among them by their squared gains. `None` if it combines features in a way that cannot be
    /// attributed.
    pub(super) fn share_out(&self, contribution: f64, importances: &mut [f64]) -> Option<()> {
        match self {
            Self::Feature(term) => importances[term.feature] += contribution,
            Self::Tree(term) if term.tree.has_importances() => {
                let gains = term.tree.importances();
                let all: f64 = gains.iter().sum();
                for (importance, gain) in importances.iter_mut().zip(gains) {
                    *importance += contribution * gain / if all > 0.0 { all } else { 1.0 };
                }
            }
            Self::Tree(_) | Self::Scored(_) => return None,
        }
        Some(())
    }

    /// Number of its external ranker, if any.
    pub(super) fn external_number(&self) -> Option<usize> {
        match self {
            Self::Scored(term) => term.scorer.external_number(),
            Self::Feature(_) | Self::Tree(_) => None,
        }
    }

    /// As [`Term::external_number`], mutable.
    pub(super) fn external_number_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Scored(ScoredTerm { scorer: RowScorer::External { number, .. }, .. }) => {
                Some(number)
            }
            Self::Feature(_) | Self::Tree(_) | Self::Scored(_) => None,
        }
    }
}

/// Remaining budget for values of categories: a term has one per category, whatever the rows. A fit
/// that exceeds it fails with an error instead of running out of memory.
#[derive(Debug)]
pub(super) struct LevelBudget {
    most: usize,
    spent: AtomicUsize,
}

impl Default for LevelBudget {
    fn default() -> Self {
        Self { most: MOST_LEVEL_VALUES, spent: AtomicUsize::default() }
    }
}

impl LevelBudget {
    /// Reserves the values of one more term.
    ///
    /// # Errors
    ///
    /// [`RankError::TooManyCodes`] naming its column if the budget is exceeded.
    pub(super) fn spend(&self, term: &Term) -> Result<(), RankError> {
        let Term::Feature(FeatureTerm {
            feature, steps: FeatureSteps::Categorical { values }, ..
        }) = term
        else {
            return Ok(());
        };
        let n_codes = values.len();
        let spent = self.spent.fetch_add(n_codes, Ordering::Relaxed);
        match self.most.checked_sub(spent) {
            Some(left) if n_codes <= left => Ok(()),
            left => {
                Err(RankError::TooManyCodes { column: *feature, n_codes, most: left.unwrap_or(0) })
            }
        }
    }
}

impl TreeTerm {
    fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        self.tree.check()?;
        if !self.tree.classifiers().is_empty() {
            return Err("the tree of a term asks classifiers".to_owned());
        }
        if self.tree.n_levels() != n_levels {
            return Err("the tree of a term is of other features".to_owned());
        }
        if self.values.len() != self.tree.n_leaves() {
            return Err("the tree of a term has not one value for each leaf".to_owned());
        }
        Ok(())
    }
}

/// Rows per task.
const CHUNK_ROWS: usize = 1 << 12;

impl Term {
    /// The value of each row, equal to what [`Term::add_values`] adds.
    pub(super) fn values(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        let mut values = vec![0.0; columns.n_rows()];
        self.add_values(columns, external, &mut values)?;
        Ok(values)
    }

    /// Adds the value of each row to `out`; `external` provides the scores of external rankers.
    ///
    /// The columns must be those of the fit in number and kind, and finite.
    pub(super) fn add_values(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
        out: &mut [f64],
    ) -> Result<(), RankError> {
        columns.check_interrupt()?;
        match self {
            Self::Feature(term) => {
                term.add_values(&columns[term.feature], out);
                Ok(())
            }
            Self::Tree(term) => {
                let values = term.tree.values_of_rows(columns, &term.values)?;
                add_all(out, |row| values[row]);
                Ok(())
            }
            Self::Scored(term) => {
                let scores = term.scores(columns, external)?;
                add_all(out, |row| term.value(scores[row]));
                Ok(())
            }
        }
    }
}

fn add_all(out: &mut [f64], value: impl Fn(usize) -> f64 + Sync) {
    parallel::map(out.chunks_mut(CHUNK_ROWS).enumerate().collect(), |(chunk, out)| {
        let rows = chunk * CHUNK_ROWS..;
        rows.zip(out).for_each(|(row, out): (usize, &mut f64)| *out += value(row));
    });
}

impl FeatureTerm {
    fn add_values(&self, column: &Column<'_>, out: &mut [f64]) {
        match column {
            Column::F64(values) => add_all(out, |row| self.value(values.get(row))),
            Column::F32(values) => add_all(out, |row| self.value(values.get(row))),
            Column::Codes { codes, .. } => add_all(out, |row| {
                let code = codes[row];
                self.value(if code == MISSING_CODE { f64::NAN } else { f64::from(code) })
            }),
        }
    }
}

impl ScoredTerm {
    /// The scores of all rows.
    fn scores(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        match &self.scorer {
            RowScorer::Linear(linear) => linear.scores(columns),
            RowScorer::External { number, is_reversed } => {
                let external = external.ok_or(RankError::Boost(BoostError::NeedsRankers))?;
                let rows: Vec<u32> = (0..columns.n_rows() as u32).collect();
                let mut scores = scores_of(external, *number, &rows)?;
                if *is_reversed {
                    for score in &mut scores {
                        *score = -*score;
                    }
                }
                Ok(scores)
            }
        }
    }
}

/// Number of binary digits of a gain that are compared.
const DIGITS: u32 = 40;

/// Rounding of gains between masses.
#[derive(Debug, Clone, Copy)]
pub(super) struct TiedGains(i128);

impl TiedGains {
    /// For gains at most as large as the product of the masses of the classes.
    pub(super) fn of(total: ClassMasses) -> Self {
        // After the first round masses are rounded, and gains that are equal in real numbers differ
        // in their last digits. Without this, of 148 tied second thresholds of mirrored samples 66
        // were the higher one, which DECISIONS K2 asks for.
        let pairs = i128::from(total.pos) * i128::from(total.neg);
        Self((pairs >> DIGITS).max(1))
    }

    /// A gain, which is not negative, as a multiple of the unit of comparison.
    pub(super) fn round(self, gain: i128) -> i128 {
        // Halves round up: no gain of small masses lies there.
        gain / self.0 + i128::from(2 * (gain % self.0) >= self.0 && self.0 > 1)
    }
}

impl Term {
    /// The equivalent term on features, by all training rows.
    pub(super) fn without_rates(self, rates: &RateColumns) -> Self {
        match self {
            Self::Feature(term) => Self::Feature(match rates.get(term.feature) {
                Some(column) => of_levels(&term, column.feature, &column.steps),
                None => term,
            }),
            Self::Tree(TreeTerm { tree, values }) if !rates.is_empty() => {
                Self::Tree(TreeTerm { tree: tree.without_rates(rates), values })
            }
            Self::Tree(_) | Self::Scored(_) => self,
        }
    }

    /// A term of a finished model in its form during the fit, if it was found with these rates.
    pub(super) fn with_rates(self, rates: &RateColumns) -> Self {
        match self {
            Self::Feature(term) => {
                let mut columns = rates.of_feature(term.feature);
                let of_rates =
                    columns.find_map(|(column, rates)| of_steps(&term, column, &rates.steps));
                Self::Feature(of_rates.unwrap_or(term))
            }
            Self::Tree(TreeTerm { tree, values }) if !rates.is_empty() => {
                Self::Tree(TreeTerm { tree: tree.with_rates(rates), values })
            }
            Self::Tree(_) | Self::Scored(_) => self,
        }
    }
}

/// A term on the steps of rates, category by category.
fn of_levels(term: &FeatureTerm, feature: usize, steps: &LevelSteps) -> FeatureTerm {
    let value = |step: u32| term.value(step.into());
    let values = (0..steps.n_levels()).map(|level| value(steps.of_level(level))).collect();
    let missing = value(steps.of_missing());
    FeatureTerm { feature, steps: FeatureSteps::Categorical { values }, missing }
}

/// The term on steps of rates from which [`of_levels`] made this term, if it did. Values then rise
/// or fall with the rates. Those of a term on codes do not unless they are all equal: there rare
/// categories have the value of a missing one, and the first step and the last contain rare
/// categories or the mean.
#[expect(clippy::float_cmp, reason = "the values of a step are the same number")]
fn of_steps(term: &FeatureTerm, column: usize, steps: &LevelSteps) -> Option<FeatureTerm> {
    let mut of_step: Vec<Option<f64>> = vec![None; steps.cuts().len() + 1];
    let levels =
        (0..steps.n_levels()).map(|level| (steps.of_level(level), term.value(level.into())));
    for (step, value) in levels.chain([(steps.of_missing(), term.missing)]) {
        let known = of_step[step as usize].get_or_insert(value);
        if *known != value {
            return None;
        }
    }
    // Each step has a category or the mean.
    let of_step: Vec<f64> = of_step.into_iter().collect::<Option<_>>()?;
    if !(of_step.is_sorted() || of_step.is_sorted_by(|a, b| a >= b)) {
        return None;
    }
    let (mut thresholds, mut values) = (Vec::new(), vec![of_step[0]]);
    for (step, value) in (0..).zip(of_step) {
        if values.last() != Some(&value) {
            thresholds.push(threshold(step));
            values.push(value);
        }
    }
    Some(FeatureTerm {
        feature: column,
        steps: FeatureSteps::Numeric { thresholds, values },
        missing: term.missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::boost::weak::tests::{Draws, graded};
    use crate::boost::{WeakRankerParams, *};
    use crate::data::rare_rows::{N_LEVELS, RareRows};
    use crate::data::{Labels, hold_out, mix};
    use crate::roc::auc;
    use crate::tree::{GrowParams, LeafOrder, LeafRankParams, SplitRule, TreeRankParams};

    #[test]
    fn values_of_categories_are_limited_and_the_error_names_the_column() {
        let term = |feature, steps| Term::Feature(FeatureTerm { feature, steps, missing: 0.0 });
        let levels = |feature, n| term(feature, FeatureSteps::Categorical { values: vec![0.0; n] });
        let number = FeatureSteps::Numeric { thresholds: vec![1.0; 99], values: vec![0.0; 100] };
        let budget = LevelBudget { most: 10, ..LevelBudget::default() };
        for term in [levels(0, 7), term(1, number), levels(2, 3)] {
            assert_eq!(budget.spend(&term), Ok(()));
        }
        let err = budget.spend(&levels(5, 1)).unwrap_err();
        assert_eq!(err, RankError::TooManyCodes { column: 5, n_codes: 1, most: 0 });
        let budget = LevelBudget { most: 10, ..LevelBudget::default() };
        let err = budget.spend(&levels(5, 11)).unwrap_err();
        assert!(err.to_string().contains("column 5 needs 11 codes, but at most 10 fit"), "{err}");
    }

    #[test]
    fn rows_have_the_values_of_their_groups() {
        let mut draws = Draws(1);
        let n = 300;
        let values: Vec<f64> = (0..3 * n)
            .map(|_| if draws.below(8) == 0 { f64::NAN } else { draws.number(60) })
            .collect();
        let positive: Vec<bool> =
            (0..n).map(|row| values[3 * row] + draws.number(40) > 45.0).collect();
        let tree = TreeRankParams::new(
            GrowParams { max_depth: 3, leaf_order: LeafOrder::Tree, ..GrowParams::default() },
            SplitRule::Stumps(LeafRankParams::orthogonal(5)),
        );
        let columns = Columns::from_row_major(&values, 3).unwrap();
        let labels = Labels::new(&positive, None).unwrap();
        let masses: Vec<u64> = (0..n).map(|_| draws.below(100) + 1).collect();
        let rankers = [
            WeakRankerParams::Feature,
            WeakRankerParams::Threshold,
            WeakRankerParams::Linear,
            WeakRankerParams::Tree(Box::new(tree)),
        ];
        for weak in rankers {
            for most in [usize::MAX, 9, 2] {
                let (term, of_row) = graded(&weak, &columns, &labels, &masses, most);
                let mut out = vec![0.5; n];
                term.add_values(&columns, None, &mut out).unwrap();
                let expected: Vec<f64> = of_row.iter().map(|value| 0.5 + value).collect();
                assert_eq!(out, expected, "{weak:?}");
                if let Term::Scored(scored) = &term {
                    assert!(scored.values.len() <= most);
                }
                assert_eq!(term.check(&[None; 3]), Ok(()));
            }
        }
    }

    #[test]
    fn gains_of_whole_rows_are_exact_and_those_of_rounded_masses_tie() {
        let whole = TiedGains::of(ClassMasses { pos: 900_000, neg: 1_000_000 });
        assert_eq!([whole.round(17), whole.round(18)], [17, 18]);
        // Two fifths of the pairs, from masses that were rounded up or down.
        let (pos, neg) = (1 << 52, 1 << 52);
        let tied = TiedGains::of(ClassMasses { pos, neg });
        let gain = |part: i128| part * i128::from(neg);
        let two_fifths = i128::from(pos) * 2 / 5;
        assert_eq!(tied.round(gain(two_fifths)), tied.round(gain(two_fifths + 3)));
        assert!(tied.round(gain(two_fifths)) < tied.round(gain(two_fifths + (1 << 13))));
    }

    fn tree() -> WeakRankerParams {
        let grow = GrowParams { max_depth: 3, ..GrowParams::default() };
        let split = SplitRule::Stumps(LeafRankParams::orthogonal(5));
        WeakRankerParams::Tree(Box::new(TreeRankParams::new(grow, split)))
    }

    fn rankers() -> [WeakRankerParams; 3] {
        [WeakRankerParams::Threshold, WeakRankerParams::Feature, tree()]
    }

    fn rounds(weak_ranker: WeakRankerParams, n_rounds: usize) -> RoundParams {
        RoundParams { weak_ranker, n_rounds, seed: 5, ..RoundParams::default() }
    }

    /// Fits of both boosters.
    fn fit_given(
        sample: &RareRows,
        rounds: &RoundParams,
        given: [&FitExtras<'_>; 2],
    ) -> [BoostedModel; 2] {
        let (columns, labels) = (sample.columns(), sample.labels());
        let interrupt = Interrupt::default();
        let of_pairs = RankBoostParams { rounds: rounds.clone(), ..RankBoostParams::default() };
        let of_auc = AucBoostParams { rounds: rounds.clone(), ..AucBoostParams::default() };
        [
            fit_rank_boost((&columns, &labels), &of_pairs, given[0], &interrupt).unwrap(),
            fit_auc_boost((&columns, &labels), &of_auc, given[1], &interrupt).unwrap(),
        ]
    }

    fn fit(sample: &RareRows, rounds: &RoundParams) -> [BoostedModel; 2] {
        fit_given(sample, rounds, [&FitExtras::default(); 2])
    }

    fn score(model: &BoostedModel, sample: &RareRows) -> Vec<f64> {
        model.score(&sample.columns(), None).unwrap()
    }

    /// Whether rare categories are distinguished from one another.
    fn asks_rates(model: &BoostedModel) -> bool {
        let rows = RareRows {
            number: vec![0.5; 300],
            codes: (4..304).collect(),
            positive: vec![true; 300],
            weights: None,
        };
        let scores = score(model, &rows);
        scores.iter().any(|other| other != &scores[0])
    }

    #[test]
    fn a_term_of_rates_is_one_of_categories_and_back() {
        let sample = RareRows::new(3000);
        let (columns, labels) = (sample.columns(), sample.labels());
        let (rows, interrupt) = (labels.rows(), Interrupt::default());
        let rare = sample.rare(&labels);
        let rates = rare.columns(&columns, &labels, &rows, Some(20), &interrupt).unwrap();
        let steps = &rates.get(2).unwrap().steps;
        let n_cuts = steps.cuts().len() as u32;
        for seed in 0..50_u64 {
            let mut at: Vec<u32> = (0..3)
                .map(|place| 1 + (mix(seed << 8 ^ place) % u64::from(n_cuts)) as u32)
                .collect();
            at.sort_unstable();
            at.dedup();
            let sign = if seed % 2 == 0 { 1.0 } else { -1.0 };
            let values: Vec<f64> = (0..=at.len()).map(|step| sign * step as f64).collect();
            let thresholds = at.iter().map(|&step| threshold(step)).collect();
            let of_rates = FeatureSteps::Numeric { thresholds, values: values.clone() };
            let term = FeatureTerm { feature: 2, steps: of_rates, missing: 0.0 };
            let Term::Feature(found) = Term::Feature(term.clone()).without_rates(&rates) else {
                panic!("a feature")
            };
            // The definition: each category by the cuts at or below its rate.
            for level in 0..N_LEVELS {
                let step = at.iter().filter(|&&step| step <= steps.of_level(level)).count();
                assert_eq!(found.value(level.into()), values[step]);
            }
            assert_eq!(found.feature, 1);
            assert_eq!(found.value(f64::NAN), found.value((N_LEVELS - 1).into()));
            let Term::Feature(back) = Term::Feature(found).with_rates(&rates) else {
                panic!("a feature")
            };
            assert_eq!((back.feature, back.steps), (2, term.steps));
        }
        // A term on frequent categories does not change.
        let mut values = vec![0.5; N_LEVELS as usize];
        values[..4].copy_from_slice(&[1.0, 0.5, -1.0, 0.5]);
        let steps = FeatureSteps::Categorical { values };
        let term = Term::Feature(FeatureTerm { feature: 1, steps, missing: 0.5 });
        assert_eq!(term.clone().with_rates(&rates), term);
    }

    #[test]
    fn rare_categories_are_ranked_by_their_rates_and_unseen_ones_as_missing() {
        let (sample, new) = (RareRows::new(3000), RareRows::new(6000));
        let new = new.rows(&(3000..6000).collect::<Vec<_>>());
        for weak in rankers() {
            let with_rates = fit(&sample, &rounds(weak.clone(), 40));
            let without = fit(&sample.without_rare(), &rounds(weak, 40));
            for (model, other) in with_rates.iter().zip(&without) {
                assert!(asks_rates(model) && model.check().is_ok());
                let auc_of = |model, new| auc(&score(model, new), &new.positive).unwrap();
                assert!(auc_of(model, &new) > auc_of(other, &new.without_rare()) + 0.02);
                let of = |code| score(model, &RareRows { codes: vec![code; 3000], ..new.clone() });
                assert_eq!(of(N_LEVELS - 1), of(MISSING_CODE));
                assert_eq!(model.formula().values(&new.columns()).unwrap(), score(model, &new));
                let text = serde_json::to_string(model).unwrap();
                assert_eq!(&serde_json::from_str::<BoostedModel>(&text).unwrap(), model);
            }
        }
    }

    #[test]
    fn neither_threads_nor_the_order_of_rows_nor_copies_matter() {
        let [weighted, copied] = RareRows::new(2000).weighted_and_copied();
        for weak in rankers() {
            let drawn = RoundParams {
                subsample: 0.6,
                max_features: Some(1),
                held_out: Some(HeldOutParams {
                    fraction: 0.2,
                    rule: HeldOutRule::Window,
                    refit: true,
                }),
                ..rounds(weak.clone(), 12)
            };
            for params in [rounds(weak, 12), drawn] {
                let fits = [1, 3].map(|n_threads| {
                    let pool =
                        rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
                    pool.install(|| fit(&weighted, &params))
                });
                assert!(fits[0].iter().all(asks_rates));
                assert_eq!(fits[0], fits[1]);
                assert_eq!(fit(&copied, &params), fits[0]);
            }
        }
    }

    #[test]
    fn further_rounds_are_those_of_one_longer_fit() {
        let sample = RareRows::new(2000);
        for weak in rankers() {
            let longer = fit(&sample, &rounds(weak.clone(), 16));
            assert!(longer.iter().all(asks_rates));
            let half = fit(&sample, &rounds(weak.clone(), 7));
            let given =
                [0, 1].map(|of| FitExtras { earlier: Some(&half[of]), ..FitExtras::default() });
            assert_eq!(fit_given(&sample, &rounds(weak, 16), [&given[0], &given[1]]), longer);
        }
    }

    #[test]
    fn held_out_or_given_rows_are_evaluated_by_the_scores_of_the_model() {
        let sample = RareRows::new(3000);
        let held_out = HeldOutParams {
            fraction: 0.3,
            rule: HeldOutRule::Patience { n_iter_no_change: 50, tol: 0.0 },
            refit: false,
        };
        let (columns, labels) = (sample.columns(), sample.labels());
        let parts = hold_out(&columns, &labels, 0.3, 5, &Interrupt::default()).unwrap().unwrap();
        let rows: Vec<usize> = parts.held_out.into_iter().map(|row| row as usize).collect();
        let others = sample.rows(&rows);
        let (other_columns, other_labels) = (others.columns(), others.labels());
        for weak in rankers() {
            let params = RoundParams { held_out: Some(held_out), ..rounds(weak, 30) };
            let validation = Some((&other_columns, &other_labels));
            let given = FitExtras { validation, ..FitExtras::default() };
            for models in [fit(&sample, &params), fit_given(&sample, &params, [&given; 2])] {
                for model in &models {
                    let path = model.held_out().unwrap();
                    let found = auc(&score(model, &others), &others.positive).unwrap();
                    assert_eq!(path.auc[path.n_rounds - 1], found);
                }
            }
        }
    }
}
