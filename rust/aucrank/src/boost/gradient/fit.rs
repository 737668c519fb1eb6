//! A fit: bags in one series of rounds, or in one of single features and one of pairs.

use super::bags::{BagFit, RoundTerms, average, criterion, paths, run};
use super::begun::{Bag, Begun, PairChoice};
use super::category_pairs::category_pairs;
use super::feature_pairs::{PairSearch, RankedPairs};
use super::fit_data::{Data, GradientExtras};
use super::fit_rows::FitRows;
use super::held_out::GradientHeldOut;
use super::level_codes::LevelCodes;
use super::loss::Loss;
use super::memory_fit::{MemoryFit, Scores};
use super::model::{GradientBoosted, GradientFields};
use super::params::{FEW_LEAVES, GradientParams, Interactions, MOST_PAIRS};
use super::source::{BagSource, FitSource, StateOf};
use super::tree::GradientTree;
use crate::data::{
    Binned, BinningParams, Column, Columns, Folds, Labels, LevelRates, check_monotonic,
};
use crate::roc::largest_gap;
use crate::{Interrupt, RankError, parallel};

/// Maximum number of bins of a number in trees of two features: with more, a table would have few
/// rows per cell.
const PAIR_BINS: usize = 32;

/// Number of pairs tried per feature, if it is not given.
const PAIRS_PER_FEATURE: usize = 3;

/// Unit of the progress of a fit.
const ROUND: &str = "round";

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
        let Bag { parts, state } = bags.swap_remove(0);
        let mut parts = parts.without_unasked_pairs();
        if let Some(scores) = state {
            parts.threshold = threshold(params.loss, &scores.of_all, labels)?;
        }
        return Ok(GradientBoosted::new(parts));
    }
    with_threshold(average(bags.into_iter().map(|bag| bag.parts).collect()), columns, labels)
}

/// Fits a model without each fold of the rows, all with the number of rounds that is best on the
/// mean of the folds: the models that [`fit_gradient_boosting`] averages.
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
    params.check_folds()?;
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

/// The model of some trees, with the threshold from the rows of the fit.
fn with_threshold(
    mut parts: GradientFields,
    columns: &Columns<'_>,
    labels: &Labels<'_>,
) -> Result<GradientBoosted, RankError> {
    if parts.loss != Loss::Log {
        let scores = GradientBoosted::new(parts.clone()).score(columns)?;
        parts.threshold = threshold(parts.loss, &scores, labels)?;
    }
    Ok(GradientBoosted::new(parts))
}

/// Fits the bags, with thresholds of 0.
fn fit_all_bags(
    columns: &Columns<'_>,
    labels: &Labels<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
    interrupt: &Interrupt,
) -> Result<Vec<Bag<Scores>>, RankError> {
    params.validate(columns.n_features())?;
    check_monotonic(&params.monotonic, &columns.n_levels())?;
    let columns = &columns.until(interrupt);
    let mut params = params.clone();
    params.seed = given.earlier.map_or(params.seed, GradientBoosted::seed);
    let n_levels: Vec<Option<u32>> = columns.iter().map(Column::n_levels).collect();
    if let Some(earlier) = given.earlier {
        columns.check_kinds(earlier.n_levels())?;
        if !earlier.pair_steps().is_empty() {
            let (name, value) = ("category_pairs", "those of the earlier fit".to_owned());
            let rule = "none where an earlier fit goes on";
            return Err(RankError::BadParameter { name, value, rule });
        }
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
    let rows = MemoryFit::new(data, given);
    if params.interactions.chosen_pairs().is_some() {
        let max_bins = Some(params.max_bins.min(PAIR_BINS));
        let binning = BinningParams { max_bins, ..binning };
        let coarse = Binned::new(&coded, labels, binning, interrupt)?;
        let coarse = MemoryFit::new(Data { binned: &coarse, ..data }, given);
        in_two_series(&rows, &coarse, &params)
    } else {
        in_one_series(&rows, &params)
    }
}

/// Fits all bags in one series of rounds.
pub(super) fn in_one_series<F: FitSource>(
    source: &F,
    params: &GradientParams,
) -> Result<Vec<Bag<StateOf<F>>>, RankError> {
    let dealt = source.deal(params)?;
    let Capacity { max_leaves, begun } = capacity(source, params, &dealt[..1])?;
    let params = &GradientParams { max_leaves: Some(max_leaves), ..params.clone() };
    let PairChoice { dealt, begun } = category_pairs(source, params, dealt, begun)?;
    let mut bags = source.begin(params, &dealt, RoundTerms::Given)?;
    source.replay(&mut bags)?;
    if let Some(begun) = begun {
        bags[0].take_up(begun);
    }
    run(&mut bags, params, ROUND, source.interrupt())?;
    let paths = paths(&bags, params);
    if !params.refits() {
        return finish(bags, paths);
    }
    let n_rounds: Vec<usize> = n_kept(&bags, &paths);
    drop(bags);
    // The rate is that for the requested number of rounds.
    let mut again = source.begin(params, &source.deal_all(params)?, RoundTerms::Given)?;
    for (bag, n_rounds) in again.iter_mut().zip(n_rounds) {
        bag.bound_rounds(n_rounds);
    }
    run(&mut again, params, ROUND, source.interrupt())?;
    finish(again, paths)
}

/// Fits all bags to single features, chooses pairs of features for all, and continues with rounds
/// of pairs on the few bins of `coarse`.
fn in_two_series<'a>(
    source: &MemoryFit<'a>,
    coarse: &MemoryFit<'a>,
    params: &GradientParams,
) -> Result<Vec<Bag<Scores>>, RankError> {
    let interrupt = source.interrupt();
    let dealt = source.deal(params)?;
    let mut singles = source.begin(params, &dealt, RoundTerms::Singles)?;
    run(&mut singles, params, ROUND, interrupt)?;
    let chosen = paths(&singles, params);
    cut(&mut singles, &chosen)?;
    let is_ended = singles.iter().any(|bag| bag.is_ended);
    let begun: Vec<Begun<Scores>> = singles.into_iter().map(BagFit::into_begun).collect();
    let n_singles: Vec<usize> = begun.iter().map(|bag| bag.trees.len()).collect();
    let pairs = choose_pairs(coarse.data, params, &begun)?;

    let dealt = coarse.recoded(params, &dealt, &[])?;
    let mut bags = coarse.begin(params, &dealt, RoundTerms::Pairs(&pairs))?;
    bags.iter_mut().zip(begun).for_each(|(bag, begun)| bag.begin_after(begun));
    if !is_ended {
        run(&mut bags, params, ROUND, interrupt)?;
    }
    let paths = paths(&bags, params);
    if !params.refits() {
        return finish(bags, paths);
    }

    let n_rounds = n_kept(&bags, &paths);
    drop(bags);
    let all = source.deal_all(params)?;
    let mut again = source.begin(params, &all, RoundTerms::Singles)?;
    for (bag, &n_rounds) in again.iter_mut().zip(&n_singles) {
        bag.bound_rounds(n_rounds);
    }
    run(&mut again, params, ROUND, interrupt)?;
    let begun: Vec<Begun<Scores>> = again.into_iter().map(BagFit::into_begun).collect();
    let all = coarse.recoded(params, &all, &[])?;
    let mut again = coarse.begin(params, &all, RoundTerms::Pairs(&pairs))?;
    for (((bag, begun), of_all), singles) in
        again.iter_mut().zip(begun).zip(n_rounds).zip(n_singles)
    {
        bag.bound_rounds(of_all.saturating_sub(singles));
        bag.begin_after(begun);
    }
    run(&mut again, params, ROUND, interrupt)?;
    finish(again, paths)
}

/// Number of rounds kept of each bag.
fn n_kept<S: BagSource>(bags: &[BagFit<'_, S>], paths: &[Option<GradientHeldOut>]) -> Vec<usize> {
    let n_rounds = |(bag, path): (&BagFit<'_, S>, &Option<GradientHeldOut>)| {
        path.as_ref().map_or(bag.trees.len(), |path| path.n_rounds)
    };
    bags.iter().zip(paths).map(n_rounds).collect()
}

/// Truncates each bag to its chosen rounds.
fn cut<S: BagSource>(
    bags: &mut [BagFit<'_, S>],
    paths: &[Option<GradientHeldOut>],
) -> Result<(), RankError> {
    for (bag, path) in bags.iter_mut().zip(paths) {
        if let Some(path) = path {
            bag.cut(path.n_rounds)?;
        }
    }
    Ok(())
}

fn finish<S: BagSource>(
    mut bags: Vec<BagFit<'_, S>>,
    paths: Vec<Option<GradientHeldOut>>,
) -> Result<Vec<Bag<S::State>>, RankError> {
    cut(&mut bags, &paths)?;
    Ok(bags.into_iter().zip(paths).map(|(bag, path)| bag.into_bag(path)).collect())
}

/// The most informative pairs, given the mean of some sums of single features.
fn choose_pairs(
    data: Data<'_>,
    params: &GradientParams,
    begun: &[Begun<Scores>],
) -> Result<RankedPairs, RankError> {
    let rows = FitRows::new(data.binned, data.labels, data.labels.rows().into());
    let n_bags = begun.len() as f64;
    // Sums of scores are exact.
    let scores = parallel::values(data.labels.n_rows(), |row| {
        begun.iter().map(|bag| bag.state.of_all[row]).sum::<f64>() / n_bags
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
        criterion: &criterion(params, rows.total()),
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

/// The sum from which a row is predicted as positive, given those of the rows of the fit.
fn threshold(loss: Loss, scores: &[f64], labels: &Labels<'_>) -> Result<f64, RankError> {
    match loss {
        Loss::Log => Ok(0.0),
        Loss::PairExponential | Loss::PairLogistic => largest_gap(scores, labels),
    }
}

/// Numbers of leaves to choose from; of ties the first.
const CANDIDATES: [usize; 2] = [FEW_LEAVES, 128];

/// Minimum number of rows for a trial.
const LEAST_ROWS: u64 = 20_000;

/// Rounds of each trial.
const TRIAL_ROUNDS: usize = 300;

/// The number of leaves of a fit, and the rounds of its first bag from the trial.
pub(super) struct Capacity<T> {
    pub(super) max_leaves: usize,
    pub(super) begun: Option<Begun<T>>,
}

/// The number of leaves of the parameters, or the one chosen on the first bag, for a fit in one
/// series of rounds.
pub(super) fn capacity<F: FitSource>(
    source: &F,
    params: &GradientParams,
    first: &[F::Dealt],
) -> Result<Capacity<StateOf<F>>, RankError> {
    let max_leaves = params.max_leaves.unwrap_or(FEW_LEAVES);
    let mut best = Capacity { max_leaves, begun: None };
    let asks_alone =
        matches!(&params.interactions, Interactions::Groups(groups) if groups.is_empty());
    let is_tried = params.max_leaves.is_none()
        && source.n_rows() >= LEAST_ROWS
        && !source.goes_on()
        && !asks_alone;
    let Some(stopping) = params.held_out.filter(|_| is_tried) else { return Ok(best) };
    let mut most = f64::NEG_INFINITY;
    for max_leaves in CANDIDATES {
        let params = GradientParams { max_leaves: Some(max_leaves), ..params.clone() };
        let mut bags = source.begin(&params, first, RoundTerms::Given)?;
        if bags[0].values.is_none() {
            break;
        }
        bags[0].bound_rounds(TRIAL_ROUNDS.min(params.n_rounds));
        run(&mut bags, &params, "trial round", source.interrupt())?;
        let path = paths(&bags, &params).swap_remove(0);
        let bag = bags.swap_remove(0);
        let is_ended = bag.is_ended;
        if let Some(path) = path
            && let Some(&value) =
                path.n_rounds.checked_sub(1).and_then(|last| path.values.get(last))
            && stopping.measure.merit(value) > most
        {
            most = stopping.measure.merit(value);
            // The first bag begins with the rounds of the trial. Run again, they took 0.65 of 7.0 s
            // of CPU (50,000 x 20).
            best = Capacity { max_leaves, begun: Some(bag.into_begun()) };
        }
        if is_ended {
            break;
        }
    }
    Ok(best)
}
