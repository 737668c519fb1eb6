//! The loop of `AUCBoost` and `RankBoost`: rank the reweighted rows, give the ranking a value, and
//! reduce the mass of rows that it ranks well.

use serde::{Deserialize, Serialize};

use super::boosted_model::{BoostedFields, BoostedModel};
use super::distribution::Distribution;
use super::scored::RowValues;
use super::subsampling::Subsampling;
use super::term::{LevelBudget, Term};
use super::validation_set::{HeldOutParams, HeldOutPath, ValidationSet};
use super::weak::{WeakRanker, WeakRankerParams, WeakRanking, WeakSample, WeakTask};
use crate::data::{
    Binned, BinningParams, ClassMasses, Column, Columns, Labels, RareLevels, RateColumns,
    check_monotonic, mix, snap,
};
use crate::external::{ExternalFitter, keep_used};
use crate::prepared::Prepared;
use crate::roc::{check_max_fpr, largest_gap};
use crate::rows::check_elsewhere;
use crate::{FitPart, Interrupt, RankError};

/// Parameters that `AUCBoost` and `RankBoost` share.
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
/// let range = |learning_rate| {
///     let rounds = RoundParams { n_rounds: 1, learning_rate, ..RoundParams::default() };
///     let params = RankBoostParams { rounds, ..RankBoostParams::default() };
///     let extras = FitExtras::default();
///     let model = fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
///     model.round_values(&columns, 0, None).map(|values| values[3] - values[0])
/// };
/// // Half the rate, half the value of the round.
/// assert!((range(0.5)? - range(1.0)? / 2.0).abs() < 1e-12);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundParams {
    /// How features are binned.
    pub binning: BinningParams,
    /// The weak ranker.
    pub weak_ranker: WeakRankerParams,
    /// Maximum number of rounds, at least 1.
    pub n_rounds: usize,
    /// Shrinkage factor on the value of each round, above 0 and at most 1.
    pub learning_rate: f64,
    /// Share of the distinct rows that each round learns from, above 0 and at most 1.
    pub subsample: f64,
    /// Number of features that each round learns from, at least 1; `None` for all.
    pub max_features: Option<usize>,
    /// For each feature, 1 if the score may only rise with it, -1 if it may only fall, 0 if it is
    /// free; empty to leave all free. Only numeric features can be bound, and linear and external
    /// rankers cannot obey it. A missing value may have any score.
    #[serde(default)]
    pub monotonic: Vec<i8>,
    /// How the number of rounds is chosen on held-out rows, if it is.
    pub held_out: Option<HeldOutParams>,
    /// Random seed.
    pub seed: u64,
}

impl Default for RoundParams {
    fn default() -> Self {
        Self {
            binning: BinningParams::default(),
            weak_ranker: WeakRankerParams::Feature,
            n_rounds: 50,
            learning_rate: 1.0,
            subsample: 1.0,
            max_features: None,
            monotonic: Vec::new(),
            held_out: None,
            seed: 0,
        }
    }
}

impl RoundParams {
    pub(super) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        let is_share = |value: f64| value > 0.0 && value <= 1.0;
        if self.n_rounds == 0 {
            return bad("n_rounds", "0".to_owned(), "at least 1");
        }
        if self.max_features == Some(0) {
            return bad("max_features", "0".to_owned(), "at least 1");
        }
        for (name, value) in [("learning_rate", self.learning_rate), ("subsample", self.subsample)]
        {
            if !is_share(value) {
                return bad(name, value.to_string(), "in (0, 1]");
            }
        }
        self.held_out.iter().try_for_each(HeldOutParams::validate)
    }
}

/// Optional inputs of a fit besides its rows.
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
/// let fit = |n_rounds, earlier| {
///     let rounds = RoundParams { n_rounds, ..RoundParams::default() };
///     let params = RankBoostParams { rounds, ..RankBoostParams::default() };
///     let extras = FitExtras { earlier, ..FitExtras::default() };
///     fit_rank_boost((&columns, &labels), &params, &extras, &Interrupt::default())
/// };
/// let first = fit(2, None)?;
/// assert_eq!(fit(4, Some(&first))?, fit(4, None)?);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct FitExtras<'a> {
    /// A model for a warm start: its rounds come first, and its seed is used. Further rounds on the
    /// same rows give the same model as one longer fit.
    pub earlier: Option<&'a BoostedModel>,
    /// Validation rows that choose the number of rounds, in place of held-out rows of the fit.
    pub validation: Option<(&'a Columns<'a>, &'a Labels<'a>)>,
    /// External rankers, if those are boosted; indexed as in `earlier`, if given.
    pub external: Option<&'a dyn ExternalFitter>,
}

impl FitExtras<'_> {
    /// Checks that nothing is given that needs rows in memory.
    pub(super) fn check_elsewhere(&self) -> Result<(), RankError> {
        check_elsewhere(&[
            ("an earlier model", self.earlier.is_some()),
            ("validation rows", self.validation.is_some()),
            ("an external ranker", self.external.is_some()),
        ])
    }
}

/// The values that a round gives to a ranking.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RoundValues {
    /// Value of each group of the ranking, before shrinkage.
    pub(super) values: Vec<f64>,
    /// Value for a missing feature that was never missing in training.
    pub(super) unseen: f64,
    /// Whether nothing is left to learn after this round.
    pub(super) is_last: bool,
}

/// How a method values a ranking; `None` if it is no better than chance.
pub(super) trait RoundRule {
    /// `groups` are the masses of the groups in ascending order, both classes among them; `n_rows`
    /// is the number of rows.
    fn values(&self, groups: &[ClassMasses], n_rows: u64) -> Option<RoundValues>;

    /// Maximum number of groups that are useful for rankings by scores, which may differ in every
    /// row.
    fn most_groups(&self) -> usize {
        usize::MAX
    }

    /// The share of the negatives, those of the highest scores, that counts in full.
    fn max_fpr(&self) -> f64 {
        1.0
    }

    /// Whether a row is scored by the sign of the sum.
    fn scores_by_sign(&self) -> bool {
        false
    }
}

/// Fits a boosted model.
pub(super) fn boost(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &RoundParams,
    rule: &dyn RoundRule,
    given: &FitExtras<'_>,
    interrupt: &Interrupt,
) -> Result<BoostedModel, RankError> {
    params.validate()?;
    check_max_fpr(rule.max_fpr())?;
    let columns = &columns.until(interrupt);
    check_monotonic(&params.monotonic, &columns.n_levels())?;
    let mut params = params.clone();
    params.weak_ranker.bind(&params.monotonic)?;
    params.seed = given.earlier.map_or(params.seed, BoostedModel::seed);
    let binned = Binned::new(columns, labels, params.binning, interrupt)?;
    let n_levels: Vec<Option<u32>> = columns.iter().map(Column::n_levels).collect();
    if let Some(earlier) = given.earlier {
        columns.check_kinds(earlier.n_levels())?;
    }
    let external = given.external;
    let level_rates = params.binning.level_rates;
    let rare = if params.weak_ranker.can_ask_rates() {
        RareLevels::find(columns, labels, level_rates, params.seed, interrupt)?
    } else {
        None
    };
    let sample = WeakSample { columns, binned: &binned, labels, external, interrupt };
    let rounds = Rounds { sample, rare, params: &params, rule };
    let all = labels.rows();
    let (mut held_out, mut kept) = (None, None);
    if let Some(stopping) = &params.held_out {
        if let Some((columns, labels)) = given.validation {
            if external.is_some() {
                return Err(RankError::BadParameter {
                    name: "X_val",
                    value: "given".to_owned(),
                    rule: "left out for a weak ranker of your own: a part of X is held out instead",
                });
            }
            columns.check_kinds(&n_levels)?;
            if let Some(err) = columns.infinite_value() {
                return Err(err.in_validation());
            }
            held_out = Some(ValidationSet::given(columns, labels, rule.max_fpr()));
        } else if let Some((found, rest)) =
            ValidationSet::of_sample(&sample, stopping.fraction, params.seed, rule.max_fpr())?
        {
            (held_out, kept) = (Some(found), Some(rest));
        }
    }
    let training = kept.as_ref().unwrap_or(&all);
    let mut run = rounds.run(training, held_out, given.earlier, params.n_rounds)?;
    let path = run.path.take();
    if let (Some(path), Some(HeldOutParams { refit: true, .. })) = (&path, params.held_out) {
        run = rounds.run(&all, None, None, path.n_rounds)?;
    }
    keep_used(run.terms.iter_mut().filter_map(Term::external_number_mut), external);
    let by_sign = rule.scores_by_sign();
    let threshold = if by_sign { 0.0 } else { largest_gap(&run.scores, labels)? };
    Ok(BoostedModel::new(BoostedFields {
        n_levels,
        terms: run.terms,
        mean_exponentials: run.mean_exponentials,
        advantages: run.advantages,
        threshold,
        by_sign,
        held_out: path,
        seed: params.seed,
        prepared: Prepared::default(),
    }))
}

/// The rows of a fit; rounds may learn from a subset.
struct Rounds<'a> {
    sample: WeakSample<'a>,
    rare: Option<RareLevels>,
    params: &'a RoundParams,
    rule: &'a dyn RoundRule,
}

/// The rounds of a run, and the values of its terms on all rows.
struct RoundsRun {
    terms: Vec<Term>,
    mean_exponentials: Vec<[f64; 2]>,
    advantages: Vec<f64>,
    scores: Vec<f64>,
    /// The AUC of the held-out rows, if there are any.
    path: Option<HeldOutPath>,
}

impl Rounds<'_> {
    /// Runs rounds on some rows, and keeps the number chosen on held-out rows, unless they are to
    /// be run again.
    fn run(
        &self,
        rows: &[u32],
        held_out: Option<ValidationSet<'_>>,
        earlier: Option<&BoostedModel>,
        n_rounds: usize,
    ) -> Result<RoundsRun, RankError> {
        let WeakSample { columns, binned, labels, interrupt, .. } = self.sample;
        let most = self.params.binning.max_bins;
        let rates = match &self.rare {
            Some(rare) => rare.columns(columns, labels, rows, most, interrupt)?,
            None => RateColumns::none(columns.n_features()),
        };
        if rates.is_empty() {
            return self.run_on(&self.sample, &rates, rows, held_out, earlier, n_rounds);
        }
        let binned = &rates.codes_of_either(columns, binned, interrupt)?;
        let columns = &rates.behind(columns, interrupt)?;
        let sample = WeakSample { columns, binned, ..self.sample };
        self.run_on(&sample, &rates, rows, held_out, earlier, n_rounds)
    }

    /// The same, given the columns including those of rates.
    fn run_on(
        &self,
        sample: &WeakSample<'_>,
        rates: &RateColumns,
        rows: &[u32],
        held_out: Option<ValidationSet<'_>>,
        earlier: Option<&BoostedModel>,
        n_rounds: usize,
    ) -> Result<RoundsRun, RankError> {
        let weak_ranker = self.params.weak_ranker.with_rates(rates);
        let weak = weak_ranker.ranker(sample, &self.params.monotonic)?;
        let WeakSample { labels, .. } = *sample;
        let rows = MemoryRounds {
            sample,
            rates,
            weak: &*weak,
            rows,
            n_rows: rows.iter().map(|&row| labels.sums(row as usize).rows).sum(),
            draws: Subsampling::new(sample, rows, self.params, rates.n_features())?,
            distribution: Distribution::new(labels, rows, self.rule.max_fpr()),
            held_out,
            scores: vec![0.0; labels.n_rows()],
        };
        let interrupt = sample.interrupt;
        let mut fit = RoundsFit::new(rows, self.params, self.rule, interrupt);
        fit.replay(earlier)?;
        fit.go_on(n_rounds)?;
        let stopping = self.params.held_out.filter(|_| fit.rows.held_out.is_some());
        let path = stopping.map(|stopping| (stopping.rule.path(fit.take_aucs()), stopping.refit));
        if let Some((path, false)) = &path {
            fit.cut(path.n_rounds)?;
        }
        let RoundsFit { rows, terms, mean_exponentials, advantages, .. } = fit;
        let (scores, path) = (rows.scores, path.map(|(path, _)| path));
        Ok(RoundsRun { terms, mean_exponentials, advantages, scores, path })
    }
}

/// Rows that rounds reweight, wherever they are.
pub(super) trait RoundRows {
    /// Number of training rows; one of integer weight k counts as k rows.
    fn n_rows(&self) -> u64;

    /// Mass of each class; zero if all rows of a class are below the range of fixed point.
    fn total(&self) -> ClassMasses;

    /// A ranking of the rows and features drawn for a round, or of all; `None` if none is better
    /// than chance.
    fn rank(&mut self, seed: u64, takes_all: bool) -> Result<Option<WeakRanking>, RankError>;

    /// Whether a round may be restricted to a subset.
    fn are_partial(&self) -> bool;

    /// Reweights the rows by the values of the groups of a ranking, which become a term of the
    /// model; `unseen` is the value of a missing feature that was never missing.
    fn take(
        &mut self,
        ranking: WeakRanking,
        values: Vec<f64>,
        unseen: f64,
        budget: &LevelBudget,
    ) -> Result<Term, RankError>;

    /// For each class the mean of `exp(-y f(x))`.
    fn mean_exponential(&self) -> [f64; 2];

    /// The AUC of the held-out rows, if there are any.
    fn held_out_auc(&mut self) -> Result<Option<f64>, RankError>;
}

/// A model during its fit.
pub(super) struct RoundsFit<'a, R> {
    pub(super) rows: R,
    params: &'a RoundParams,
    rule: &'a dyn RoundRule,
    interrupt: &'a Interrupt,
    pub(super) terms: Vec<Term>,
    budget: LevelBudget,
    pub(super) mean_exponentials: Vec<[f64; 2]>,
    pub(super) advantages: Vec<f64>,
    aucs: Vec<f64>,
    is_complete: bool,
}

impl<'a, R: RoundRows> RoundsFit<'a, R> {
    pub(super) fn new(
        rows: R,
        params: &'a RoundParams,
        rule: &'a dyn RoundRule,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self {
            rows,
            params,
            rule,
            interrupt,
            terms: Vec::new(),
            budget: LevelBudget::default(),
            mean_exponentials: Vec::new(),
            advantages: Vec::new(),
            aucs: Vec::new(),
            is_complete: false,
        }
    }

    /// Runs rounds until there are `n_rounds`, or until nothing is left to learn.
    pub(super) fn go_on(&mut self, n_rounds: usize) -> Result<(), RankError> {
        while self.terms.len() < n_rounds && !self.is_complete {
            self.interrupt.check()?;
            let total = self.rows.total();
            if total.pos == 0 || total.neg == 0 {
                break;
            }
            let Some((ranking, found)) = self.rank()? else { break };
            self.is_complete = found.is_last;
            self.take(ranking, &found)?;
            let goes_on = self.report(n_rounds)?;
            if let Some(stopping) = self.params.held_out
                && !self.aucs.is_empty()
                && stopping.rule.stops(&self.aucs)
            {
                break;
            }
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Reports the last round; returns whether to continue.
    fn report(&self, n_rounds: usize) -> Result<bool, RankError> {
        self.interrupt.part_done(&FitPart {
            unit: "round",
            number: self.terms.len(),
            most: Some(n_rounds),
            figures: &[("validation_auc", self.aucs.last().copied())],
        })
    }

    /// The next ranking and its values, from the subsample of the round, or from all rows and
    /// features if that gives none.
    fn rank(&mut self) -> Result<Option<(WeakRanking, RoundValues)>, RankError> {
        // By the number of the round, so that a warm start goes on as one longer fit would.
        let seed = mix(self.params.seed ^ mix(self.terms.len() as u64));
        let found = self.rank_of(seed, false)?;
        // A subsample may have nothing to learn from although all rows have: only they can end a
        // fit.
        if found.is_none() && self.rows.are_partial() {
            return self.rank_of(seed, true);
        }
        Ok(found)
    }

    fn rank_of(
        &mut self,
        seed: u64,
        takes_all: bool,
    ) -> Result<Option<(WeakRanking, RoundValues)>, RankError> {
        let Some(ranking) = self.rows.rank(seed, takes_all)? else { return Ok(None) };
        let ranking = ranking.with_at_most(self.rule.most_groups());
        let found = self.rule.values(&ranking.sums, self.rows.n_rows());
        Ok(found.map(|found| (ranking, found)))
    }

    fn take(&mut self, ranking: WeakRanking, found: &RoundValues) -> Result<(), RankError> {
        let values: Vec<f64> =
            // Values are rounded to a grid on which sums are exact: the score of a row does not
            // depend on the order of the terms, nor on terms of one feature being added up in the
            // model (DECISIONS K10).
            found.values.iter().map(|value| snap(self.params.learning_rate * value)).collect();
        let unseen = snap(self.params.learning_rate * found.unseen);
        let advantage = advantage(&ranking.sums, &values);
        let term = self.rows.take(ranking, values, unseen, &self.budget)?;
        self.add(term, advantage)
    }

    /// Adds a term that has reweighted the rows.
    fn add(&mut self, term: Term, advantage: f64) -> Result<(), RankError> {
        self.aucs.extend(self.rows.held_out_auc()?);
        self.mean_exponentials.push(self.rows.mean_exponential());
        self.advantages.push(advantage);
        self.terms.push(term);
        Ok(())
    }

    /// The AUC of the held-out rows, round by round.
    pub(super) fn take_aucs(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.aucs)
    }

    /// Keeps the first rounds only; returns the terms of the others.
    pub(super) fn keep(&mut self, n_rounds: usize) -> Vec<Term> {
        self.mean_exponentials.truncate(n_rounds);
        self.advantages.truncate(n_rounds);
        self.terms.split_off(n_rounds)
    }
}

/// Rows in memory.
struct MemoryRounds<'a> {
    sample: &'a WeakSample<'a>,
    rates: &'a RateColumns,
    weak: &'a dyn WeakRanker,
    rows: &'a [u32],
    n_rows: u64,
    draws: Subsampling,
    distribution: Distribution<'a>,
    held_out: Option<ValidationSet<'a>>,
    /// The score of every row of the sample.
    scores: Vec<f64>,
}

impl MemoryRounds<'_> {
    /// Reweights the rows by a term, given its values in the fit.
    fn apply(
        &mut self,
        term: &Term,
        values: &RowValues,
        budget: &LevelBudget,
    ) -> Result<(), RankError> {
        budget.spend(term)?;
        values.apply(self.sample.binned, &mut self.distribution, &mut self.scores);
        match &mut self.held_out {
            Some(held_out) => held_out.follow(term, values, self.sample),
            None => Ok(()),
        }
    }

    /// Whether all positive rows have one value, and all negative rows a lower one.
    fn is_separated_by(&self, values: &RowValues) -> bool {
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for row in self.rows.iter().map(|&row| row as usize) {
            if self.distribution.masses()[row] > 0 {
                let class = usize::from(self.sample.labels.positive()[row]);
                let value = values.get(self.sample.binned, row);
                (low[class], high[class]) = (low[class].min(value), high[class].max(value));
            }
        }
        low[0] >= high[0] && low[1] >= high[1] && low[1] > high[0]
    }
}

impl RoundRows for MemoryRounds<'_> {
    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn total(&self) -> ClassMasses {
        self.distribution.total()
    }

    fn rank(&mut self, seed: u64, takes_all: bool) -> Result<Option<WeakRanking>, RankError> {
        let masses = self.distribution.masses();
        if takes_all {
            let task = WeakTask { masses, rows: self.rows, features: None, seed };
            return self.weak.rank(self.sample, &task);
        }
        let rows = self.draws.rows(self.rows, seed, self.sample.labels.positive(), masses);
        let features = self.draws.features(seed);
        let features = features.map(|drawn| self.rates.with_rates(drawn));
        let task = WeakTask { masses, rows: &rows, features: features.as_deref(), seed };
        self.weak.rank(self.sample, &task)
    }

    fn are_partial(&self) -> bool {
        self.draws.are_partial()
    }

    fn take(
        &mut self,
        ranking: WeakRanking,
        values: Vec<f64>,
        unseen: f64,
        budget: &LevelBudget,
    ) -> Result<Term, RankError> {
        let binned = self.sample.binned;
        let (term, groups) = ranking.into_term(binned.features(), &values, unseen);
        let values = RowValues::of_ranking(&term, groups, values, binned);
        let term = term.without_rates(self.rates);
        self.apply(&term, &values, budget)?;
        Ok(term)
    }

    fn mean_exponential(&self) -> [f64; 2] {
        self.distribution.mean_exponential()
    }

    fn held_out_auc(&mut self) -> Result<Option<f64>, RankError> {
        self.held_out.as_ref().map(ValidationSet::auc).transpose()
    }
}

impl RoundsFit<'_, MemoryRounds<'_>> {
    /// Adds the rounds of an earlier model.
    fn replay(&mut self, earlier: Option<&BoostedModel>) -> Result<(), RankError> {
        let Some(earlier) = earlier else { return Ok(()) };
        for (term, &advantage) in earlier.terms().iter().zip(earlier.advantages()) {
            self.interrupt.check()?;
            if !term.keeps_to(&self.params.monotonic) {
                return Err(RankError::BadParameter {
                    name: "monotonic_cst",
                    value: "given".to_owned(),
                    rule: "what the rounds of the last fit keep to",
                });
            }
            let MemoryRounds { sample, rates, .. } = self.rows;
            let values = RowValues::of_term(&term.clone().with_rates(rates), sample)?;
            let is_last = self.terms.len() + 1 == earlier.terms().len();
            // A fit ends when a ranker makes no mistakes.
            self.is_complete = is_last && self.rows.is_separated_by(&values);
            self.rows.apply(term, &values, &self.budget)?;
            self.add(term.clone(), advantage)?;
        }
        Ok(())
    }

    /// Keeps the first rounds only.
    fn cut(&mut self, n_rounds: usize) -> Result<(), RankError> {
        for term in self.keep(n_rounds) {
            // Values are exact, so subtracting them restores the earlier scores.
            let MemoryRounds { sample, rates, .. } = self.rows;
            let values = RowValues::of_term(&term.with_rates(rates), sample)?;
            for (row, score) in self.rows.scores.iter_mut().enumerate() {
                *score -= values.get(sample.binned, row);
            }
        }
        Ok(())
    }
}

/// AUC, less one half, of a score given by group.
#[expect(clippy::float_cmp, reason = "groups tie whose values are equal")]
fn advantage(groups: &[ClassMasses], values: &[f64]) -> f64 {
    let mut by_value: Vec<(f64, ClassMasses)> =
        values.iter().copied().zip(groups.iter().copied()).collect();
    by_value.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let ties = by_value.chunk_by(|(a, _), (b, _)| a == b);
    let area = ClassMasses::area(ties.map(|tied| tied.iter().map(|(_, masses)| *masses).sum()));
    let total: ClassMasses = groups.iter().copied().sum();
    area as f64 / (2.0 * total.pos as f64 * total.neg as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{
        AucBoostParams, HeldOutRule, Output, RankBoostParams, ThresholdCriterion, fit_auc_boost,
        fit_rank_boost,
    };
    use crate::data::hold_out;
    use crate::roc::auc;

    const N_ROWS: usize = 400;

    /// Two numbers and a category, all with missing values, and labels that depend on them weakly.
    struct Sample {
        numbers: Vec<f64>,
        codes: Vec<u32>,
        positive: Vec<bool>,
    }

    fn sample(seed: u64) -> Sample {
        let draw = |row: usize, j: u64| (mix(mix(row as u64 ^ seed << 32) ^ j) >> 40) as f64 / 2e7;
        let rows = 0..N_ROWS;
        let value = |row, j| if draw(row, j + 9) < 0.1 { f64::NAN } else { draw(row, j) };
        let numbers: Vec<f64> =
            rows.clone().flat_map(|row| [value(row, 0), value(row, 1)]).collect();
        let codes: Vec<u32> = rows.clone().map(|row| (draw(row, 2) * 5.0) as u32).collect();
        let known = |value: f64| if value.is_nan() { 0.3 } else { value };
        let positive = rows
            .map(|row| {
                let sum = known(numbers[2 * row]) + (5.0 * known(numbers[2 * row + 1])).sin();
                sum + f64::from(codes[row] % 3) / 2.0 + draw(row, 3) > 1.8
            })
            .collect();
        Sample { numbers, codes, positive }
    }

    impl Sample {
        fn columns(&self) -> Columns<'_> {
            let column = |j: usize| {
                let values = Columns::from_row_major(&self.numbers, 2).unwrap();
                values[j]
            };
            let codes = Column::Codes { codes: &self.codes, n_levels: 6 };
            Columns::new(vec![column(0), column(1), codes], N_ROWS).unwrap()
        }

        fn fit(&self, rounds: RoundParams, by_auc: bool, given: &FitExtras<'_>) -> BoostedModel {
            let labels = Labels::new(&self.positive, None).unwrap();
            let (columns, interrupt) = (self.columns(), Interrupt::default());
            if by_auc {
                let (criterion, output) = (ThresholdCriterion::Sum, Output::Real);
                let params = AucBoostParams { rounds, criterion, output, max_fpr: 1.0 };
                fit_auc_boost((&columns, &labels), &params, given, &interrupt).unwrap()
            } else {
                let params = RankBoostParams { rounds, ..RankBoostParams::default() };
                fit_rank_boost((&columns, &labels), &params, given, &interrupt).unwrap()
            }
        }
    }

    fn params(n_rounds: usize) -> RoundParams {
        RoundParams { n_rounds, ..RoundParams::default() }
    }

    /// Sums of terms after each round, computed from raw values.
    fn stages(model: &BoostedModel, columns: &Columns<'_>) -> Vec<Vec<f64>> {
        let mut sums = vec![0.0; columns.n_rows()];
        let rounds = 0..model.terms().len();
        rounds
            .map(|round| {
                for (sum, value) in
                    sums.iter_mut().zip(model.round_values(columns, round, None).unwrap())
                {
                    *sum += value;
                }
                sums.clone()
            })
            .collect()
    }

    #[test]
    fn scores_are_the_sums_of_the_rounds_to_the_bit() {
        let sample = sample(0);
        let columns = sample.columns();
        for by_auc in [true, false] {
            for subsample in [1.0, 0.3] {
                let rounds = RoundParams { subsample, ..params(40) };
                let model = sample.fit(rounds, by_auc, &FitExtras::default());
                assert_eq!(model.terms().len(), 40);
                let last = stages(&model, &columns).pop().unwrap();
                let labels = Labels::new(&sample.positive, None).unwrap();
                assert_eq!(largest_gap(&last, &labels).unwrap(), model.threshold());
                let scores: Vec<f64> = last.iter().map(|sum| model.score_of(*sum)).collect();
                assert_eq!(scores, model.score(&columns, None).unwrap());
            }
        }
    }

    #[test]
    fn the_means_of_exponentials_are_those_of_the_scores() {
        let sample = sample(1);
        for by_auc in [true, false] {
            for subsample in [1.0, 0.4] {
                let rounds = RoundParams { subsample, learning_rate: 0.7, ..params(25) };
                let model = sample.fit(rounds, by_auc, &FitExtras::default());
                let stages = stages(&model, &sample.columns());
                for (sums, means) in stages.iter().zip(model.mean_exponentials()) {
                    for class in [false, true] {
                        let of_class: Vec<f64> = (0..N_ROWS)
                            .filter(|&row| sample.positive[row] == class)
                            .map(|row| if class { (-sums[row]).exp() } else { sums[row].exp() })
                            .collect();
                        let mean = of_class.iter().sum::<f64>() / of_class.len() as f64;
                        assert!((means[usize::from(class)] / mean - 1.0).abs() < 1e-9);
                    }
                }
            }
        }
    }

    #[test]
    fn a_warm_start_gives_the_rounds_of_one_fit() {
        let sample = sample(2);
        for by_auc in [true, false] {
            let rounds = |n| RoundParams { subsample: 0.5, max_features: Some(2), ..params(n) };
            let whole = sample.fit(rounds(20), by_auc, &FitExtras::default());
            let half = sample.fit(rounds(10), by_auc, &FitExtras::default());
            let given = FitExtras { earlier: Some(&half), ..FitExtras::default() };
            assert_eq!(sample.fit(rounds(20), by_auc, &given), whole);
        }
    }

    #[test]
    fn a_warm_start_adds_nothing_after_a_ranker_without_mistakes() {
        let mut sample = sample(3);
        for row in 0..N_ROWS {
            sample.numbers[2 * row] = f64::from(u8::from(sample.positive[row]));
        }
        for by_auc in [true, false] {
            let first = sample.fit(params(1), by_auc, &FitExtras::default());
            let given = FitExtras { earlier: Some(&first), ..FitExtras::default() };
            assert_eq!(sample.fit(params(9), by_auc, &given), first);
        }
    }

    #[test]
    fn the_path_is_the_auc_of_the_rows_held_out() {
        let mut sample = sample(4);
        // Few values, so that cuts are the same with and without the held-out rows.
        sample.numbers.iter_mut().for_each(|value| *value = (*value * 20.0).floor());
        let (columns, labels) = (sample.columns(), Labels::new(&sample.positive, None).unwrap());
        let parts = hold_out(&columns, &labels, 0.25, 0, &Interrupt::default()).unwrap().unwrap();
        let of_rows = |sums: &[f64]| -> Vec<f64> {
            parts.held_out.iter().map(|&row| sums[row as usize]).collect()
        };
        let held_positive: Vec<bool> =
            parts.held_out.iter().map(|&row| sample.positive[row as usize]).collect();
        for rule in [HeldOutRule::Window, HeldOutRule::Patience { n_iter_no_change: 4, tol: 0.0 }] {
            let stopping = HeldOutParams { fraction: 0.25, rule, refit: false };
            let rounds = RoundParams { held_out: Some(stopping), ..params(60) };
            let model = sample.fit(rounds, true, &FitExtras::default());
            let path = model.held_out().unwrap();
            assert_eq!(path.n_rounds, model.terms().len());
            for (sums, &found) in stages(&model, &columns).iter().zip(&path.auc) {
                assert_eq!(auc(&of_rows(sums), &held_positive).unwrap(), found);
            }
            // The kept rounds were learned without the held-out rows.
            let kept: Vec<f64> = (0..N_ROWS)
                .map(|row| f64::from(u8::from(!parts.held_out.contains(&(row as u32)))))
                .collect();
            let rest = Labels::new(&sample.positive, Some(&kept)).unwrap();
            let (criterion, output) = (ThresholdCriterion::Sum, Output::Real);
            let plain =
                AucBoostParams { rounds: params(path.n_rounds), criterion, output, max_fpr: 1.0 };
            let none = FitExtras::default();
            let plain =
                fit_auc_boost((&columns, &rest), &plain, &none, &Interrupt::default()).unwrap();
            assert_eq!(plain.terms(), model.terms());
        }
    }

    #[test]
    fn a_refit_is_a_fit_of_the_chosen_rounds() {
        let sample = sample(5);
        let rule = HeldOutRule::Window;
        let stopping = HeldOutParams { fraction: 0.25, rule, refit: true };
        let model = sample.fit(
            RoundParams { held_out: Some(stopping), ..params(40) },
            false,
            &FitExtras::default(),
        );
        let n_rounds = model.held_out().unwrap().n_rounds;
        let plain = sample.fit(params(n_rounds), false, &FitExtras::default());
        assert_eq!((plain.terms(), plain.threshold()), (model.terms(), model.threshold()));
    }

    #[test]
    fn validation_rows_are_scored_like_any_others() {
        let (sample, other) = (sample(6), sample(7));
        let weights: Vec<f64> = (0..N_ROWS).map(|row| f64::from(row as u32 % 3)).collect();
        let labels = Labels::new(&other.positive, Some(&weights)).unwrap();
        let columns = other.columns();
        let rule = HeldOutRule::Patience { n_iter_no_change: 5, tol: 1e-3 };
        let stopping = HeldOutParams { fraction: 0.1, rule, refit: false };
        let rounds = RoundParams { held_out: Some(stopping), ..params(60) };
        let given = FitExtras { validation: Some((&columns, &labels)), ..FitExtras::default() };
        let model = sample.fit(rounds, true, &given);
        let path = model.held_out().unwrap();
        assert!(path.auc.len() < 60, "it stopped");
        for (sums, &found) in stages(&model, &columns).iter().zip(&path.auc) {
            let expected = crate::roc::weighted_auc(sums, &other.positive, &weights).unwrap();
            assert_eq!(expected, found);
        }
    }
}
