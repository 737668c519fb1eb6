//! A fit: bags in one series of rounds, or in one of single features and one of pairs.

use super::bag_fit::{BagFit, Terms, criterion};
use super::bags::{BagRows, average, paths, run};
use super::capacity::capacity;
use super::feature_pairs::{PairSearch, RankedPairs};
use super::held_out::GradientHeldOut;
use super::level_codes::LevelCodes;
use super::loss::Loss;
use super::model::{GradientBoosted, Parts};
use super::params::{GradientParams, Interactions, MOST_PAIRS};
use super::rate_columns::BoosterRates;
use super::rows::FitRows;
use super::tree::GradientTree;
use crate::data::{
    Binned, BinningParams, CodeRule, CodeTest, Column, Columns, Folds, Labels, LevelRates,
    LevelSet, check_monotonic,
};
use crate::formula::{Rule, Test};
use crate::roc::largest_gap;
use crate::{Interrupt, RankError, parallel};

/// Most bins of a number in trees of two features: a table of more would be learned from few rows a
/// cell.
const PAIR_BINS: usize = 32;

/// Pairs that are tried for each feature, where their number is not given.
const PAIRS_PER_FEATURE: usize = 3;

/// What a fit reports.
const ROUND: &str = "round";

/// Optional inputs of a fit beside its rows.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|value| (30.0..70.0).contains(value)).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let fit = |n_rounds, earlier| {
///     let learning_rate = Some(0.1);
///     let params = GradientParams { n_rounds, learning_rate, ..GradientParams::default() };
///     let extras = GradientExtras { earlier, ..GradientExtras::default() };
///     fit_gradient_boosting(&columns, &labels, &params, &extras, &Interrupt::default())
/// };
/// let first = fit(5, None)?;
/// assert_eq!(fit(10, Some(&first))?, fit(10, None)?);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct GradientExtras<'a> {
    /// A model for a warm start: its rounds come first, and its seed is used. Further rounds on the
    /// same rows give the same model as one longer fit, at the same learning rate.
    pub earlier: Option<&'a GradientBoosted>,
    /// Validation rows that choose the number of rounds, in place of held-out rows of the fit.
    pub validation: Option<(&'a Columns<'a>, &'a Labels<'a>)>,
    /// The folds of the rows, where each bag leaves out one; `None` to deal them by the seed.
    pub folds: Option<&'a Folds>,
}

/// Fits a model by gradient boosting.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, a category code out of range, lengths that
/// differ, or when interrupted.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|value| (30.0..70.0).contains(value)).collect();
/// let columns = Columns::from_column_major(&values, 100).unwrap();
/// let labels = Labels::new(&positive, None).unwrap();
/// let params = GradientParams { n_rounds: 50, ..GradientParams::default() };
/// let (extras, interrupt) = (GradientExtras::default(), Interrupt::default());
/// let model = fit_gradient_boosting(&columns, &labels, &params, &extras, &interrupt).unwrap();
/// let scores = model.score(&columns).unwrap();
/// assert!(scores[50] > 0.0 && scores[10] < 0.0 && scores[90] < 0.0);
/// ```
pub fn fit_gradient_boosting(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
    interrupt: &Interrupt,
) -> Result<GradientBoosted, RankError> {
    let mut bags = fit_all_bags(columns, labels, params, given, interrupt)?;
    if params.n_bags == 1 {
        let Bag { mut parts, scores } = bags.swap_remove(0);
        parts.threshold = threshold(params.loss, &scores, labels)?;
        return Ok(GradientBoosted::new(parts));
    }
    with_threshold(average(bags.into_iter().map(|bag| bag.parts).collect()), columns, labels)
}

/// Fits a model without each fold of the rows, all with the number of rounds that is best on the mean of
/// the folds: what [`fit_gradient_boosting`] takes the mean of.
///
/// # Errors
///
/// As [`fit_gradient_boosting`]; [`RankError::BadParameter`] for fewer than two folds, or if the
/// parameters do not hold folds out.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientParams, fit_gradient_folds};
/// use aucrank::data::{Columns, Folds, Labels};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|value| (30.0..70.0).contains(value)).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let interrupt = Interrupt::default();
/// let folds = Folds::deal(&columns, &labels, 4, 0, &interrupt)?;
/// let models = fit_gradient_folds(&columns, &labels, &folds, &GradientParams::stopped(), &interrupt)?;
/// assert_eq!(models.len(), 4);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_gradient_folds(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    folds: &Folds,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<Vec<GradientBoosted>, RankError> {
    if !params.shares_rounds() {
        let (name, value) = ("held_out", "other rows".to_owned());
        return Err(RankError::BadParameter { name, value, rule: "folds for a fit to folds" });
    }
    check_folds(folds, labels)?;
    let params = GradientParams { n_bags: usize::from(folds.n_folds), ..params.clone() };
    let given = GradientExtras { folds: Some(folds), ..GradientExtras::default() };
    let bags = fit_all_bags(columns, labels, &params, &given, interrupt)?;
    bags.into_iter().map(|bag| with_threshold(bag.parts, columns, labels)).collect()
}

/// Checks that there are folds, and rows of both classes in each.
fn check_folds(folds: &Folds, labels: &Labels<'_>) -> Result<(), RankError> {
    let (found, expected) = (folds.of_row.len(), labels.n_rows());
    if found != expected {
        return Err(RankError::LengthMismatch { name: "folds", found, expected });
    }
    let mut has_class = vec![[false; 2]; usize::from(folds.n_folds)];
    for row in labels.rows().into_iter().map(|row| row as usize) {
        if let Some(of_fold) = has_class.get_mut(usize::from(folds.of_row[row])) {
            of_fold[usize::from(labels.positive()[row])] = true;
        }
    }
    if has_class.len() < 2 || has_class.iter().any(|classes| classes.contains(&false)) {
        let rule = "at least 2, each with rows of both classes";
        let value = folds.n_folds.to_string();
        return Err(RankError::BadParameter { name: "n_folds", value, rule });
    }
    Ok(())
}

/// The model of some trees, with the threshold that the rows of the fit ask for.
fn with_threshold(
    mut parts: Parts,
    columns: &Columns<'_>,
    labels: &Labels<'_>,
) -> Result<GradientBoosted, RankError> {
    if parts.loss != Loss::Log {
        let scores = GradientBoosted::new(parts.clone()).score(columns)?;
        parts.threshold = threshold(parts.loss, &scores, labels)?;
    }
    Ok(GradientBoosted::new(parts))
}

/// Fits the bags, whose thresholds are left at 0.
fn fit_all_bags(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Bag>, RankError> {
    params.validate(columns.n_features())?;
    check_monotonic(&params.monotonic, &columns.n_levels())?;
    let columns = &columns.until(interrupt);
    let mut params = params.clone();
    params.seed = given.earlier.map_or(params.seed, GradientBoosted::seed);
    let n_levels: Vec<Option<u32>> = columns.iter().map(Column::n_levels).collect();
    if let Some(earlier) = given.earlier {
        columns.check_kinds(earlier.n_levels())?;
        let n_bags = params.n_bags.max(earlier.bags().len());
        if n_bags > 1 {
            let (name, rule) = ("n_bags", "1 where an earlier fit goes on");
            return Err(RankError::BadParameter { name, value: n_bags.to_string(), rule });
        }
    }
    if let (Some(_), Some(value)) = (given.earlier, params.interactions.chosen_pairs()) {
        let rule = "without pairs where an earlier fit goes on";
        return Err(RankError::BadParameter { name: "interactions", value, rule });
    }
    if let (Some(_), Some((columns, _))) = (&params.held_out, given.validation) {
        columns.check_kinds(&n_levels)?;
        if let Some(err) = columns.infinite_value() {
            return Err(err.in_validation());
        }
    }
    let level_codes = LevelCodes::new(columns, labels)?;
    let binning = BinningParams {
        max_bins: Some(params.max_bins),
        seed: params.seed,
        level_rates: LevelRates::Raw,
    };
    let coded = level_codes.columns(columns, interrupt)?;
    let binned = Binned::new(&coded, labels, binning, interrupt)?;
    let data = Data { columns, labels, binned: &binned, level_codes: &level_codes, interrupt };
    if params.interactions.chosen_pairs().is_some() {
        let max_bins = Some(params.max_bins.min(PAIR_BINS));
        let binning = BinningParams { max_bins, ..binning };
        let coarse = Binned::new(&coded, labels, binning, interrupt)?;
        fit_in_two_series(data, Data { binned: &coarse, ..data }, &params, given)
    } else {
        fit_in_one_series(data, &params, given)
    }
}

/// Fits all bags in one series of rounds.
fn fit_in_one_series(
    data: Data<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
) -> Result<Vec<Bag>, RankError> {
    let dealt = BagRows::deal(data, params, given)?;
    let rows = rows_of(data, params, &dealt)?;
    let chosen = capacity(data, params, given, (&dealt[0], &rows[0]))?;
    let params = &GradientParams { max_leaves: Some(chosen.max_leaves), ..params.clone() };
    let mut bags = begin(data, params, &dealt, &rows, Terms::Asked)?;
    if let ([bag], Some(earlier)) = (&mut bags[..], given.earlier) {
        bag.replay(earlier)?;
    }
    if let Some(begun) = chosen.begun {
        bags[0].take_up(begun);
    }
    run(&mut bags, params, ROUND, data.interrupt)?;
    let paths = paths(&bags, params);
    if !params.refits() {
        return finish(bags, paths);
    }
    let all = BagRows::all(data, params);
    let rows = rows_of(data, params, &all)?;
    // The rate is that of the rounds that were asked for.
    let mut again = begin(data, params, &all, &rows, Terms::Asked)?;
    for ((bag, before), path) in again.iter_mut().zip(bags).zip(&paths) {
        bag.bound_rounds(path.as_ref().map_or(before.trees.len(), |path| path.n_rounds));
    }
    run(&mut again, params, ROUND, data.interrupt)?;
    finish(again, paths)
}

/// Fits all bags to single features, chooses pairs of them for all, and goes on with rounds of pairs,
/// whose numbers are in few bins: those of `coarse`.
fn fit_in_two_series(
    data: Data<'_>,
    coarse: Data<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
) -> Result<Vec<Bag>, RankError> {
    let dealt = BagRows::deal(data, params, given)?;
    let rows = rows_of(data, params, &dealt)?;
    let mut singles = begin(data, params, &dealt, &rows, Terms::Singles)?;
    run(&mut singles, params, ROUND, data.interrupt)?;
    let chosen = paths(&singles, params);
    cut(&mut singles, &chosen)?;
    let is_ended = singles.iter().any(|bag| bag.is_ended);
    let begun: Vec<Begun> = singles.into_iter().map(BagFit::into_begun).collect();
    let n_singles: Vec<usize> = begun.iter().map(|bag| bag.trees.len()).collect();
    let pairs = choose_pairs(coarse, params, &begun)?;

    let rows = rows_of(coarse, params, &dealt)?;
    let mut bags = begin(coarse, params, &dealt, &rows, Terms::Pairs(&pairs))?;
    bags.iter_mut().zip(begun).for_each(|(bag, begun)| bag.begin_after(begun));
    if !is_ended {
        run(&mut bags, params, ROUND, data.interrupt)?;
    }
    let paths = paths(&bags, params);
    if !params.refits() {
        return finish(bags, paths);
    }

    let all = BagRows::all(data, params);
    let rows = rows_of(data, params, &all)?;
    let mut again = begin(data, params, &all, &rows, Terms::Singles)?;
    for (bag, &n_rounds) in again.iter_mut().zip(&n_singles) {
        bag.bound_rounds(n_rounds);
    }
    run(&mut again, params, ROUND, data.interrupt)?;
    let begun: Vec<Begun> = again.into_iter().map(BagFit::into_begun).collect();
    let rows = rows_of(coarse, params, &all)?;
    let mut again = begin(coarse, params, &all, &rows, Terms::Pairs(&pairs))?;
    for (number, (bag, begun)) in again.iter_mut().zip(begun).enumerate() {
        let of_all = paths[number].as_ref().map_or(bags[number].trees.len(), |path| path.n_rounds);
        bag.bound_rounds(of_all.saturating_sub(n_singles[number]));
        bag.begin_after(begun);
    }
    run(&mut again, params, ROUND, data.interrupt)?;
    finish(again, paths)
}

/// The rows that each bag learns from.
fn rows_of<'r>(
    data: Data<'r>,
    params: &GradientParams,
    dealt: &'r [BagRows<'_>],
) -> Result<Vec<FitRows<'r>>, RankError> {
    parallel::try_map(dealt.iter().collect(), |bag: &BagRows<'_>| bag.fit_rows(data, params))
}

/// The bags before their first round.
fn begin<'a>(
    data: Data<'a>,
    params: &'a GradientParams,
    dealt: &[BagRows<'a>],
    rows: &'a [FitRows<'a>],
    terms: Terms<'a>,
) -> Result<Vec<BagFit<'a>>, RankError> {
    let begin = |(dealt, rows): (&BagRows<'a>, &'a FitRows<'a>)| {
        let mut bag = BagFit::new(data, params, dealt.seed, rows, terms)?;
        if let Some(held_out) = dealt.held_out(data) {
            bag.judge_by(held_out);
        }
        Ok(bag)
    };
    parallel::try_map(dealt.iter().zip(rows).collect(), begin)
}

/// Keeps of each bag the rounds that were chosen.
fn cut(bags: &mut [BagFit<'_>], paths: &[Option<GradientHeldOut>]) -> Result<(), RankError> {
    for (bag, path) in bags.iter_mut().zip(paths) {
        if let Some(path) = path {
            bag.cut(path.n_rounds)?;
        }
    }
    Ok(())
}

fn finish(
    mut bags: Vec<BagFit<'_>>,
    paths: Vec<Option<GradientHeldOut>>,
) -> Result<Vec<Bag>, RankError> {
    cut(&mut bags, &paths)?;
    Ok(bags.into_iter().zip(paths).map(|(bag, path)| bag.into_bag(path)).collect())
}

/// The pairs that tell most beside the mean of some sums of single features.
fn choose_pairs(
    data: Data<'_>,
    params: &GradientParams,
    begun: &[Begun],
) -> Result<RankedPairs, RankError> {
    let training = data.labels.rows();
    let rows = FitRows::new(data.binned, data.labels, &training);
    let n_bags = begun.len() as f64;
    // Sums of scores are exact.
    let scores = parallel::values(data.labels.n_rows(), |row| {
        begun.iter().map(|bag| bag.scores[row]).sum::<f64>() / n_bags
    });
    let mut gains = vec![0.0; data.columns.n_features()];
    let trees = begun.iter().flat_map(|bag| &bag.trees);
    for (test, gain) in trees.flat_map(GradientTree::tests) {
        gains[test.feature] += gain;
    }
    let search = PairSearch {
        rows: &rows,
        at: &params.loss.at(&scores, &rows, params.max_fpr),
        scores: &scores,
        gains: &gains,
        criterion: &criterion(params, &rows),
        interrupt: data.interrupt,
    };
    let mut found = search.ranked()?;
    let most = match params.interactions {
        Interactions::Pairs(most) => most.min(found.n_above_chance),
        _ => (PAIRS_PER_FEATURE * gains.len()).min(MOST_PAIRS),
    };
    found.truncate(most);
    Ok(found)
}

/// The sum from which on a row is called positive, given those of the rows of the fit.
fn threshold(loss: Loss, scores: &[f64], labels: &Labels<'_>) -> Result<f64, RankError> {
    match loss {
        Loss::Log => Ok(0.0),
        Loss::PairExponential | Loss::PairLogistic => largest_gap(scores, labels),
    }
}

/// A fitted model, but for its threshold.
pub(super) struct Bag {
    pub(super) parts: Parts,
    /// The sums of the rows.
    pub(super) scores: Vec<f64>,
}

/// Rounds that others come after: those of single features before those of pairs, or those of a trial.
pub(super) struct Begun {
    pub(super) trees: Vec<GradientTree>,
    /// The scores of all rows.
    pub(super) scores: Vec<f64>,
    /// The scores of the held-out rows, and what they say of each round.
    pub(super) held_out: Option<(Vec<f64>, Vec<f64>)>,
}

/// What all parts of a fit read.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) labels: &'a Labels<'a>,
    pub(super) binned: &'a Binned,
    pub(super) level_codes: &'a LevelCodes,
    pub(super) interrupt: &'a Interrupt,
}

impl<'a> Data<'a> {
    /// Some rows to learn from, with the rates of categories of many levels by them.
    pub(super) fn rows(
        self,
        params: &GradientParams,
        seed: u64,
        training: &'a [u32],
    ) -> Result<FitRows<'a>, RankError> {
        let Self { columns, labels, binned, level_codes, interrupt } = self;
        let coded = (level_codes, binned);
        let coded = BoosterRates::new(columns, labels, training, coded, params, seed, interrupt)?;
        Ok(FitRows::with_rates(coded, labels, training))
    }

    /// The question about raw values that gives the same answers as one about codes.
    pub(super) fn raw_test(&self, test: &CodeTest) -> Test {
        let feature = test.feature;
        let (CodeRule::Levels(codes), Some(kept)) = (&test.rule, &self.level_codes.kept[feature])
        else {
            return Test::of_codes(test, &self.binned.features()[feature]);
        };
        // What has no code goes where missing values go.
        let is_listed = |code: u32| codes.contains(code) != test.missing_left;
        let levels = (0..).zip(kept).filter(|(code, _)| is_listed(*code)).map(|(_, level)| *level);
        let left =
            if test.missing_left { LevelSet::all_but(levels) } else { LevelSet::only(levels) };
        Test { feature, left: Rule::Levels(left), missing_left: test.missing_left }
    }
}
