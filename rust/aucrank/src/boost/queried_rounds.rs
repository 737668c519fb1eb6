//! The rounds of `RankBoost` and `AUCBoost` on rows elsewhere, which are queried for sums.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::boosted_model::{BoostedFields, BoostedModel};
use super::distribution::{MassUnits, powers_of};
use super::rounds::{RoundParams, RoundRows, RoundRule, RoundsFit as Rounds};
use super::subsampling::draw_features;
use super::term::{LevelBudget, Term};
use super::validation_set::HeldOutPath;
use super::weak::WeakRanking;
use super::weak::feature::{Best, BinRule};
use crate::data::{
    Binned, ClassMasses, FeatureBins, FeatureTerm, Histogram, HistogramRequest, MOST_COPIES,
    RateColumns, RowSquares, check_monotonic, direction, empty_histograms,
};
use crate::prepared::Prepared;
use crate::roc::check_max_fpr;
use crate::rows::words::WordReader;
use crate::rows::{
    AskClassUnits, ClassUnits, FitId, Mergeable, NumberedRows, QueriedLevels, Recoded, Rows,
    ScoreCounts, ScoreRanges, SentSteps, StepLog, View, largest_gap_of_ranges, other, put_packed,
    take_packed_list,
};
use crate::{Interrupt, RankError};

/// Fits a boosted model to rows elsewhere, by the rule for the numbers of rows of each class,
/// negatives first.
pub(super) fn boost_rows<R: RoundRule>(
    NumberedRows { rows, fit_number }: NumberedRows<'_>,
    params: &RoundParams,
    rule: impl FnOnce([u64; 2]) -> R,
    interrupt: &Interrupt,
) -> Result<BoostedModel, RankError> {
    params.validate()?;
    let frame = rows.frame();
    check_monotonic(&params.monotonic, &frame.n_levels())?;
    let fit = FitId::new(fit_number);
    let rule = rule(units(rows, &fit, &View::All, interrupt)?.rows);
    check_max_fpr(rule.max_fpr())?;
    let bin_rule = check_sums(params, &rule)?;
    let rule = &rule;
    let levels = &QueriedLevels::find(rows, &fit, params.binning, params.seed, interrupt)?;
    let context = QueriedRoundsFit { rows, fit: &fit, levels, params, rule, bin_rule, interrupt };
    let kept = match &params.held_out {
        Some(held_out) => context.hold_out(held_out.fraction)?,
        None => None,
    };
    let (view, held_out) = match kept {
        Some([kept, held_out]) => (kept, Some(held_out)),
        None => (View::All, None),
    };
    let (mut run, path) = context.run(view, held_out, params.n_rounds)?;
    if let (Some(path), Some(held_out)) = (&path, &params.held_out)
        && held_out.refit
    {
        (run, _) = context.run(View::All, None, path.n_rounds)?;
    }
    let by_sign = rule.scores_by_sign();
    Ok(BoostedModel::new(BoostedFields {
        n_levels: frame.n_levels(),
        threshold: if by_sign { 0.0 } else { run.rows.threshold(run.terms.len())? },
        terms: run.terms,
        mean_exponentials: run.mean_exponentials,
        advantages: run.advantages,
        by_sign,
        held_out: path,
        seed: params.seed,
        prepared: Prepared::default(),
    }))
}

/// Weights of the rows of a view.
fn units(
    rows: &dyn Rows,
    fit: &FitId,
    view: &View,
    interrupt: &Interrupt,
) -> Result<ClassUnits, RankError> {
    let found = fit.ask(rows, view.clone(), AskClassUnits, interrupt)?;
    found.total().check_classes()?;
    Ok(found)
}

/// Checks that sums are enough; returns the rule that chooses a weak ranker from them.
fn check_sums(params: &RoundParams, rule: &dyn RoundRule) -> Result<BinRule, RankError> {
    let refuse = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
    let Some(bin_rule) = params.weak_ranker.bin_rule() else {
        let rule = "'feature' or 'threshold' where rows are read in parts";
        return refuse("weak_ranker", "another one".to_owned(), rule);
    };
    if params.subsample < 1.0 {
        let rule = "1 where rows are read in parts";
        return refuse("subsample", params.subsample.to_string(), rule);
    }
    if rule.max_fpr() < 1.0 {
        return refuse("max_fpr", rule.max_fpr().to_string(), "1 where rows are read in parts");
    }
    Ok(bin_rule)
}

/// A fit to rows elsewhere.
#[derive(Clone, Copy)]
struct QueriedRoundsFit<'a> {
    rows: &'a dyn Rows,
    fit: &'a FitId,
    levels: &'a QueriedLevels,
    params: &'a RoundParams,
    rule: &'a dyn RoundRule,
    bin_rule: BinRule,
    interrupt: &'a Interrupt,
}

/// The rounds of a run.
struct QueriedRun<'a> {
    rows: QueriedRounds<'a>,
    terms: Vec<Term>,
    mean_exponentials: Vec<[f64; 2]>,
    advantages: Vec<f64>,
}

impl<'a> QueriedRoundsFit<'a> {
    fn hold_out(&self, share: f64) -> Result<Option<[View; 2]>, RankError> {
        self.fit.hold_out(self.rows, share, self.params.seed, self.interrupt)
    }

    fn run(
        &self,
        view: View,
        held_out: Option<View>,
        n_rounds: usize,
    ) -> Result<(QueriedRun<'a>, Option<HeldOutPath>), RankError> {
        let is_held_out = held_out.is_some();
        let rows = QueriedRounds::new(*self, view, held_out)?;
        let mut fit = Rounds::new(rows, self.params, self.rule, self.interrupt);
        fit.go_on(n_rounds)?;
        let stopping = self.params.held_out.filter(|_| is_held_out);
        let path = stopping.map(|stopping| (stopping.rule.path(fit.take_aucs()), stopping.refit));
        if let Some((path, false)) = &path {
            fit.keep(path.n_rounds);
        }
        let Rounds { rows, terms, mean_exponentials, advantages, .. } = fit;
        Ok((QueriedRun { rows, terms, mean_exponentials, advantages }, path.map(|(path, _)| path)))
    }
}

/// For each feature the sums of the values of its terms by code. The values are chosen such that
/// sums are exact.
#[derive(Default)]
struct ScoreSums(Vec<(usize, Vec<f64>)>);

impl ScoreSums {
    fn add(&mut self, term: &FeatureTerm, binned: &Binned) {
        let values = term.values_by_code(&binned.features()[term.feature]);
        match self.0.iter_mut().find(|(feature, _)| *feature == term.feature) {
            Some((_, sums)) => sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value),
            None => self.0.push((term.feature, values)),
        }
    }

    fn tables(&self) -> ScoreTables {
        let table = |(feature, sums): &(usize, Vec<f64>)| {
            (*feature, CodeRuns::of(sums.iter().map(|sum| sum.to_bits())))
        };
        Arc::new(self.0.iter().map(table).collect())
    }

    /// Bounds of all scores.
    fn bounds(&self) -> (f64, f64) {
        self.0.iter().fold((0.0, 0.0), |(low, high), (_, sums)| {
            let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
            let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (low + least, high + most)
        })
    }
}

fn feature_of(term: &Term) -> &FeatureTerm {
    match term {
        Term::Feature(term) => term,
        _ => unreachable!("rankers are of single features"),
    }
}

/// Rows elsewhere that rounds reweight.
struct QueriedRounds<'a> {
    context: QueriedRoundsFit<'a>,
    /// The rows in the codes of the rounds, and no rows in them.
    rows: Recoded<'a>,
    binned: Binned,
    rates: RateColumns,
    view: View,
    held_out: Option<View>,
    n_rows: u64,
    counts_copies: bool,
    units: MassUnits,
    log: StepLog<'a, RoundStep>,
    /// Sums of the rows after the last step.
    sums: RoundSums,
    /// The terms of the rounds so far, of columns of rates where these are used, and their sum.
    terms: Vec<FeatureTerm>,
    scores: ScoreSums,
}

impl<'a> QueriedRounds<'a> {
    fn new(
        context: QueriedRoundsFit<'a>,
        view: View,
        held_out: Option<View>,
    ) -> Result<Self, RankError> {
        let units = units(context.rows, context.fit, &view, context.interrupt)?;
        let (frame, total) = (context.rows.frame(), context.rows.frame().total());
        let are_few = total.pos + total.neg <= MOST_COPIES;
        let counts_copies = !frame.is_weighted() || frame.counts_copies() && are_few;
        let (fit, interrupt) = (context.fit, context.interrupt);
        let (recoded, rates) = context.levels.with_rates(context.rows, fit, &view, interrupt)?;
        let binned = recoded.frame().no_rows();
        let mut rows = Self {
            context,
            rows: recoded,
            rates,
            view,
            held_out,
            n_rows: units.rows.iter().sum(),
            counts_copies,
            units: MassUnits::new(if counts_copies { units.units } else { units.present }),
            log: StepLog::new(fit),
            sums: RoundSums::none(&binned),
            binned,
            terms: Vec::new(),
            scores: ScoreSums::default(),
        };
        let largest = units.largest.map(|units| if counts_copies { 1.0 } else { units as f64 });
        rows.rescale(largest);
        rows.sums = rows.masses()?;
        Ok(rows)
    }

    /// Keeps the largest factors from 1/2 to 1; returns whether they had to be rescaled.
    fn rescale(&mut self, largest: [f64; 2]) -> bool {
        let powers = powers_of(largest);
        if powers == [0; 2] {
            return false;
        }
        self.units.rescale(powers);
        self.log.push(RoundStep::Rescale(powers));
        true
    }

    /// Queries scores, which are sums of the values of terms: no state of the rows is needed.
    fn ask_scores(&self, view: &View, want: RoundWant) -> Result<RoundAnswer, RankError> {
        let ask = AskRound { counts_copies: true, steps: SentSteps::none(), want };
        self.context.fit.ask(&self.rows, view.clone(), ask, self.context.interrupt)
    }

    /// The score of largest TPR - FPR by the first rounds. Training rows are scored by the rates of
    /// their folds, as in memory.
    fn threshold(&self, n_rounds: usize) -> Result<f64, RankError> {
        let mut sums = ScoreSums::default();
        self.terms[..n_rounds].iter().for_each(|term| sums.add(term, &self.binned));
        let total = self.rows.frame().total();
        let tables = sums.tables();
        largest_gap_of_ranges(total, sums.bounds(), |edges| {
            let want = RoundWant::Ranges { tables: Arc::clone(&tables), edges };
            match self.ask_scores(&View::All, want)? {
                RoundAnswer::Ranges(ranges) => Ok(ranges),
                _ => Err(other()),
            }
        })
    }

    /// Sums of the rows after all steps.
    fn masses(&self) -> Result<RoundSums, RankError> {
        let (bits, squares) = (self.units.bits(), self.binned.shrinks_levels());
        let ask = |steps| {
            let want = RoundWant::Masses { bits, squares };
            AskRound { counts_copies: self.counts_copies, steps, want }
        };
        match self.log.ask(&self.rows, &self.view, ask, self.context.interrupt)? {
            RoundAnswer::Masses(sums) => Ok(sums),
            _ => Err(other()),
        }
    }
}

impl RoundRows for QueriedRounds<'_> {
    fn n_rows(&self) -> u64 {
        self.n_rows
    }

    fn total(&self) -> ClassMasses {
        self.sums.total
    }

    fn rank(&mut self, seed: u64, takes_all: bool) -> Result<Option<WeakRanking>, RankError> {
        let (QueriedRoundsFit { params, bin_rule, .. }, binned) = (self.context, &self.binned);
        let n_features = self.rates.n_features();
        let drawn = match params.max_features {
            Some(max) if !takes_all && max < n_features => {
                Some(self.rates.with_rates(draw_features(seed, n_features, max)))
            }
            _ => None,
        };
        let units = binned.shrinks_levels().then(|| self.sums.squares.units());
        let mut best = Best::default();
        for (feature, sums) in self.sums.histogram.features() {
            if drawn.as_ref().is_some_and(|drawn| drawn.binary_search(&feature).is_err()) {
                continue;
            }
            let masses = sums.occupied();
            let masses = masses.map(|(code, m)| (code, ClassMasses { pos: m.pos, neg: m.neg }));
            let bound = (feature, direction(&params.monotonic, feature));
            best.ask_bound(binned, bound, masses, units.as_ref(), bin_rule);
        }
        Ok(best.into_ranking(binned))
    }

    fn are_partial(&self) -> bool {
        let n_features = self.rates.n_features();
        self.context.params.max_features.is_some_and(|max| max < n_features)
    }

    fn take(
        &mut self,
        ranking: WeakRanking,
        values: Vec<f64>,
        unseen: f64,
        budget: &LevelBudget,
    ) -> Result<Term, RankError> {
        let features = self.binned.features();
        let (term, _) = ranking.into_term(features, &values, unseen);
        let of_codes = feature_of(&term).clone();
        let feature = of_codes.feature;
        let by_code = of_codes.values_by_code(&features[feature]);
        let term = term.without_rates(&self.rates);
        budget.spend(&term)?;
        let factors = by_code.iter().map(|value| [value.exp(), (-value).exp()].map(f64::to_bits));
        let factors = CodeRuns::of(factors);
        self.log.push(RoundStep::Reweight { feature, factors });
        self.scores.add(&of_codes, &self.binned);
        self.terms.push(of_codes);
        let before = self.units.log_total(self.sums.total, 1.0);
        let mut sums = self.masses()?;
        if self.rescale(sums.largest) {
            sums = self.masses()?;
        }
        self.sums = sums;
        let after = self.units.log_total(self.sums.total, 1.0);
        self.units.normalize(before, after);
        Ok(term)
    }

    fn mean_exponential(&self) -> [f64; 2] {
        self.units.mean_exponential()
    }

    fn held_out_auc(&mut self) -> Result<Option<f64>, RankError> {
        let Some(view) = &self.held_out else { return Ok(None) };
        let want = RoundWant::Scores(self.scores.tables());
        match self.ask_scores(view, want)? {
            // Weights in units, as in memory.
            RoundAnswer::Scores(scores) => scores.auc_up_to(1.0, 0).map(Some),
            _ => Err(other()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{
        AucBoostParams, FitExtras, HeldOutParams, HeldOutRule, Output, RankBoostParams,
        ThresholdCriterion, WeakRankerParams, fit_auc_boost, fit_rank_boost,
    };
    use crate::data::{BinningParams, FeatureSteps, Labels};
    use crate::rows::tests::{Data, Weights, everywhere, raw};
    use crate::rows::{Answer, Ask, words};

    fn check(name: &str, rounds: &RoundParams, by_auc: bool) {
        check_on(|weights| Data::new(1500, weights), name, rounds, by_auc);
    }

    /// Checks models of rows in memory and elsewhere; returns those in memory.
    fn check_on(
        data: impl Fn(Weights) -> Data,
        name: &str,
        rounds: &RoundParams,
        by_auc: bool,
    ) -> Vec<BoostedModel> {
        let mut in_memory = Vec::new();
        for (weights, n_parts) in [(Weights::None, 3), (Weights::Whole, 7), (Weights::Fractions, 2)]
        {
            let (data, interrupt) = (data(weights), Interrupt::default());
            let (criterion, output, max_fpr) = (ThresholdCriterion::Sum, Output::Real, 1.0);
            let auc = AucBoostParams { rounds: rounds.clone(), criterion, output, max_fpr };
            let rank = RankBoostParams { rounds: rounds.clone(), ..RankBoostParams::default() };
            let expected = data.with_columns(0..data.positive.len(), |columns| {
                let labels = Labels::new(&data.positive, data.weights.as_deref()).unwrap();
                let extras = FitExtras::default();
                if by_auc {
                    fit_auc_boost((columns, &labels), &auc, &extras, &interrupt).unwrap()
                } else {
                    fit_rank_boost((columns, &labels), &rank, &extras, &interrupt).unwrap()
                }
            });
            assert!(!expected.terms().is_empty());
            let at = (&*format!("{name}-{weights:?}"), n_parts);
            everywhere(&data, raw(rounds.binning), at, |rows| {
                let found = if by_auc {
                    fit_auc_boost((rows, 3), &auc, &FitExtras::default(), &interrupt)
                } else {
                    fit_rank_boost((rows, 3), &rank, &FitExtras::default(), &interrupt)
                };
                assert_eq!(found.as_ref(), Ok(&expected), "{at:?}");
            });
            in_memory.push(expected);
        }
        in_memory
    }

    fn plain() -> RoundParams {
        let weak_ranker = WeakRankerParams::Threshold;
        let binning = raw(BinningParams::default());
        RoundParams { n_rounds: 12, weak_ranker, binning, ..RoundParams::default() }
    }

    #[test]
    fn rounds_are_the_same_from_memory_a_file_and_a_cluster() {
        check("thresholds", &plain(), false);
        check("aucs", &plain(), true);
        let feature = WeakRankerParams::Feature;
        let wide = BinningParams { max_bins: None, ..plain().binning };
        let monotonic = vec![1, -1, 0, 0];
        let features = RoundParams { weak_ranker: feature, learning_rate: 0.5, ..plain() };
        check("features", &RoundParams { monotonic, binning: wide, ..features.clone() }, false);
        check("drawn", &RoundParams { max_features: Some(2), seed: 5, ..features }, true);
    }

    #[test]
    fn rows_held_out_choose_the_same_rounds() {
        let rule = HeldOutRule::Patience { n_iter_no_change: 3, tol: 0.0 };
        for (name, rule, refit) in [
            ("stopped", rule, false),
            ("again", rule, true),
            ("window", HeldOutRule::Window, false),
        ] {
            let held_out = Some(HeldOutParams { fraction: 0.3, rule, refit });
            check(name, &RoundParams { held_out, n_rounds: 15, ..plain() }, name == "window");
        }
    }

    #[test]
    fn rates_of_many_rare_categories_are_those_of_memory() {
        let shrunken = RoundParams { binning: BinningParams::default(), ..plain() };
        // Few rows have categories whose rates are used.
        check("shrunken", &RoundParams { n_rounds: 2, ..shrunken.clone() }, false);
        let rule = HeldOutRule::Patience { n_iter_no_change: 3, tol: 0.0 };
        let held_out = Some(HeldOutParams { fraction: 0.3, rule, refit: true });
        let feature = WeakRankerParams::Feature;
        let drawn = RoundParams { max_features: Some(2), weak_ranker: feature, ..shrunken.clone() };
        for (name, rounds, by_auc) in [
            ("rates", shrunken.clone(), true),
            ("rates stopped", RoundParams { held_out, ..shrunken }, false),
            ("rates drawn", drawn, false),
        ] {
            for model in check_on(|weights| Data::of_towns(3000, weights), name, &rounds, by_auc) {
                let many = |term: &Term| match &feature_of(term).steps {
                    FeatureSteps::Categorical { values } => {
                        values.iter().filter(|value| **value != values[0]).count() > 20
                    }
                    FeatureSteps::Numeric { .. } => false,
                };
                assert!(model.terms().iter().any(many), "{name}");
            }
        }
    }

    #[test]
    fn an_option_that_needs_more_than_sums_is_named() {
        let data = Data::new(200, Weights::None);
        everywhere(&data, plain().binning, ("refused rounds", 2), |rows| {
            let refused = |rounds: RoundParams, max_fpr| {
                let params = RankBoostParams { rounds, max_fpr, ..RankBoostParams::default() };
                fit_rank_boost((rows, 0), &params, &FitExtras::default(), &Interrupt::default())
                    .unwrap_err()
                    .to_string()
            };
            let linear = RoundParams { weak_ranker: WeakRankerParams::Linear, ..plain() };
            assert!(refused(linear, 1.0).starts_with("weak_ranker is another one, but must be"));
            let drawn = RoundParams { subsample: 0.5, ..plain() };
            assert!(refused(drawn, 1.0).starts_with("subsample is 0.5, but must be 1"));
            assert!(refused(plain(), 0.2).starts_with("max_fpr is 0.2, but must be 1"));
        });
    }

    #[test]
    fn damaged_questions_and_answers_are_errors_and_a_holder_reports_that_it_is_behind() {
        let (data, interrupt) = (Data::new(300, Weights::Whole), Interrupt::default());
        let fit = FitId::new(0);
        everywhere(&data, plain().binning, ("damaged rounds", 2), |rows| {
            let ask = |n_before, steps, bits| {
                let want = RoundWant::Masses { bits, squares: true };
                let steps = SentSteps { n_before, steps };
                let ask = AskRound { counts_copies: true, steps, want };
                fit.question_of(fit.begin_log(), View::All, ask)
            };
            let step = |feature, n| RoundStep::Reweight {
                feature,
                factors: CodeRuns::of((0..n).map(|_| [1.0_f64, 0.5].map(f64::to_bits))),
            };
            let n_codes = rows.frame().features()[0].n_codes();
            let good = ask(0, vec![step(0, n_codes)], [20; 2]);
            let bytes = rows.pass(&good, &interrupt).unwrap().to_bytes();
            let words = words::from_bytes(&bytes).unwrap();
            let received =
                |n: usize| Answer::from_bytes(&words::to_bytes(&words[..n]), &good, rows.frame());
            assert!(received(words.len()).is_ok());
            for n in (0..words.len()).step_by(7) {
                assert!(matches!(received(n), Err(RankError::BadAnswer(_))), "{n} words");
            }
            for bad in [
                ask(0, vec![step(9, n_codes)], [20; 2]),
                ask(0, vec![step(0, n_codes + 1)], [20; 2]),
                ask(0, Vec::new(), [20, 99]),
                ask(0, Vec::new(), [-1, 20]),
            ] {
                let bad = Ask::from_bytes(&bad.to_bytes()).unwrap();
                let err = rows.pass(&bad, &interrupt).unwrap_err();
                assert!(matches!(err, RankError::BadAnswer(_)), "{err}");
            }
            let later = ask(7, Vec::new(), [20; 2]);
            assert!(rows.pass(&later, &interrupt).unwrap().is_behind());
        });
    }
}

/// A question about rows that rounds reweight.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AskRound {
    /// Whether weights are counts of copies, or all 1.
    pub(super) counts_copies: bool,
    pub(super) steps: SentSteps<RoundStep>,
    pub(super) want: RoundWant,
}

/// A change of the factors of the rows. Numbers are written as their bits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum RoundStep {
    /// For each code of a feature, the factors of a negative and of a positive row.
    Reweight { feature: usize, factors: CodeRuns<[u64; 2]> },
    /// Division of factors by two to these powers, negatives first.
    Rescale([i32; 2]),
}

/// A value for each code, in runs of equal ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CodeRuns<T>(Vec<(u32, T)>);

impl<T: Copy + PartialEq> CodeRuns<T> {
    pub(super) fn of(values: impl Iterator<Item = T>) -> Self {
        let mut runs: Vec<(u32, T)> = Vec::new();
        for value in values {
            match runs.last_mut() {
                Some((n, last)) if *last == value => *n += 1,
                _ => runs.push((1, value)),
            }
        }
        Self(runs)
    }

    /// The values of the codes of a feature.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] if there is no such feature, or it has another number of codes.
    pub(super) fn values(&self, binned: &Binned, feature: usize) -> Result<Vec<T>, RankError> {
        let n_codes = binned.features().get(feature).map(FeatureBins::n_codes);
        if n_codes.map(|n| n as u64) != Some(self.0.iter().map(|&(n, _)| u64::from(n)).sum()) {
            return Err(RankError::BadAnswer("a step is of other features".to_owned()));
        }
        let values = self.0.iter().flat_map(|&(n, value)| std::iter::repeat_n(value, n as usize));
        Ok(values.collect())
    }
}

/// For some features, once each, the bits of a value for each code; a score is their sum.
pub(super) type ScoreTables = Arc<Vec<(usize, CodeRuns<u64>)>>;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum RoundWant {
    /// Masses by code, given the bits of the mass of a copy of a row, and sums of the rows.
    Masses { bits: [i32; 2], squares: bool },
    /// Class weights by ranges of the score.
    Ranges { tables: ScoreTables, edges: Vec<u64> },
    /// Class weights of each score.
    Scores(ScoreTables),
}

/// Answer of rows.
#[derive(Debug, Clone)]
pub(crate) enum RoundAnswer {
    Masses(RoundSums),
    Ranges(ScoreRanges),
    Scores(ScoreCounts),
}

/// Sums of reweighted rows.
#[derive(Debug, Clone)]
pub(crate) struct RoundSums {
    /// The largest factor of each class, negatives first.
    pub(super) largest: [f64; 2],
    pub(super) histogram: Histogram<ClassMasses>,
    pub(super) total: ClassMasses,
    /// If they were requested.
    pub(super) squares: RowSquares,
}

impl RoundSums {
    /// The sums of no rows.
    fn none(binned: &Binned) -> Self {
        let all = HistogramRequest::all(0);
        let histogram = empty_histograms(binned, &[all]).pop().expect("one was requested");
        let (largest, total, squares) = Default::default();
        Self { largest, histogram, total, squares }
    }
}

impl RoundAnswer {
    /// The answer of no rows.
    pub(super) fn none(ask: &AskRound, binned: &Binned) -> Self {
        match &ask.want {
            RoundWant::Masses { .. } => Self::Masses(RoundSums::none(binned)),
            RoundWant::Ranges { edges, .. } => Self::Ranges(ScoreRanges::none(edges.len() + 1)),
            RoundWant::Scores(_) => Self::Scores(ScoreCounts::default()),
        }
    }
}

impl Mergeable for RoundAnswer {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        match (self, more) {
            (Self::Masses(own), Self::Masses(more)) => {
                for (own, more) in own.largest.iter_mut().zip(more.largest) {
                    *own = own.max(more);
                }
                own.histogram.merge(more.histogram);
                own.total += more.total;
                own.squares.merge(&more.squares);
            }
            (Self::Ranges(own), Self::Ranges(more)) => own.merge(&more),
            (Self::Scores(own), Self::Scores(more)) => own.merge(&more),
            _ => return Err(other()),
        }
        Ok(())
    }

    fn put_words(&mut self, words: &mut Vec<u64>) {
        match self {
            Self::Masses(RoundSums { largest, histogram, total, squares }) => {
                words.extend(largest.map(f64::to_bits));
                let mut sums = Vec::new();
                histogram.put_words(&mut sums);
                words.push(sums.len() as u64);
                put_packed(words, &sums);
                words.extend([total.pos, total.neg]);
                words.extend(squares.to_words());
            }
            Self::Ranges(ranges) => ranges.put_words(words),
            Self::Scores(scores) => scores.put_words(words),
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
        match self {
            Self::Masses(RoundSums { largest, histogram, total, squares }) => {
                *largest = reader.array::<2>()?.map(f64::from_bits);
                if !largest.iter().all(|factor| (0.0..f64::INFINITY).contains(factor)) {
                    return Err(RankError::BadAnswer(
                        "a factor is negative or infinite".to_owned(),
                    ));
                }
                let sums = take_packed_list(reader)?;
                let mut sums = WordReader::new(&sums);
                histogram.take_words(|n| sums.take(n))?;
                sums.end()?;
                let &[pos, neg] = reader.array()?;
                *total = ClassMasses { pos, neg };
                *squares = RowSquares::from_words(reader.array()?);
            }
            Self::Ranges(ranges) => ranges.take_words(reader)?,
            Self::Scores(scores) => scores.take_words(reader)?,
        }
        Ok(())
    }
}
