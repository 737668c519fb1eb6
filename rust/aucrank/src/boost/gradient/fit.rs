//! A fit: bags in one series of rounds, or in one of single features and one of pairs.

use std::borrow::Cow;

use super::bags::{BagFit, RoundTerms, Stage, average, criterion, paths, run};
use super::begun::{Bag, Begun, GradientFold};
use super::feature_pairs::{PairSearch, RankedPairs};
use super::fit_data::{BagFolds, Data, GradientExtras};
use super::fit_rows::FitRows;
use super::held_out_params::GradientRefit;
use super::level_codes::LevelCodes;
use super::loss::Loss;
use super::memory_fit::{MemoryFit, Scores};
use super::model::{GradientBoosted, GradientFields};
use super::params::{GradientParams, Interactions, MOST_PAIRS};
use super::queried::{fit_gradient_boosting_rows, fit_gradient_folds_rows};
use super::series::{cut, finish, in_one_series, n_kept};
use super::source::FitSource;
use super::tree::GradientTree;
use crate::data::{
    Binned, BinningParams, Column, Columns, FewContents, Folds, Labels, LevelRates, check_monotonic,
};
use crate::roc::largest_gap;
use crate::rows::{FitId, TrainingRows, check_elsewhere, gathered_contents};
use crate::{Interrupt, RankError, parallel};

/// Maximum number of bins of a number in trees of two features: with more, a table would have few
/// rows per cell.
const PAIR_BINS: usize = 32;

/// Number of pairs tried per feature, if it is not given.
const PAIRS_PER_FEATURE: usize = 3;

/// Fits a model by gradient boosting.
///
/// # Errors
///
/// [`RankError`] for a bad parameter, an infinite value, a category code out of range, lengths that
/// differ, or when interrupted. For rows elsewhere, [`RankError::BadParameter`] also for what needs
/// more than sums: losses over pairs, rounds chosen by the AUC, chosen pairs of features, and
/// extras; and for bins that are not those of the parameters. Errors of the holder of the rows.
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
/// let model = fit_gradient_boosting((&columns, &labels), &params, &extras, &interrupt).unwrap();
/// let scores = model.score(&columns).unwrap();
/// assert!(scores[50] > 0.0 && scores[10] < 0.0 && scores[90] < 0.0);
/// ```
pub fn fit_gradient_boosting<'a>(
    rows: impl Into<TrainingRows<'a>>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
    interrupt: &Interrupt,
) -> Result<GradientBoosted, RankError> {
    let (columns, labels) = match rows.into() {
        TrainingRows::Memory(columns, labels) => (columns, labels),
        TrainingRows::Elsewhere(rows) => {
            given.check_elsewhere()?;
            let fit = FitId::new(rows.fit_number);
            if params.held_out.is_some()
                && let Some(contents) = gathered_contents(rows.rows, &fit, true, interrupt)?
            {
                let (columns, labels) = (contents.columns()?, contents.labels()?);
                return fit_gradient_boosting((&columns, &labels), params, given, interrupt);
            }
            return fit_gradient_boosting_rows(rows, params, interrupt);
        }
    };
    // Held-out rows of few contents are copies of those of the fit, as new rows will be.
    let counted = labels.counted_once();
    if params.held_out.is_some()
        && given.are_none()
        && columns.n_rows() == labels.n_rows()
        && let Some(contents) =
            FewContents::of(columns, counted.as_ref().unwrap_or(labels), params.seed, interrupt)?
    {
        let (columns, labels) = (contents.columns(columns)?, contents.labels()?);
        return fit_gradient_boosting((&columns, &labels), params, given, interrupt);
    }
    let mut bags = fit_all_bags(columns, labels, params, given, interrupt)?;
    let parts = if params.n_bags == 1 {
        let mut bag = bags.swap_remove(0);
        let state = bag.state.take();
        let mut parts = bag.into_final().without_unasked_pairs();
        if let Some(scores) = state {
            parts.threshold = threshold(params.loss, &scores.of_all, labels)?;
        }
        parts
    } else {
        with_threshold(average(bags.into_iter().map(Bag::into_final).collect()), columns, labels)?
    };
    let model = GradientBoosted::new(parts);
    // Only here: pairs that the caller lists may also be fitted to rows elsewhere, which would need
    // another question, and the model must be the same.
    match params.interactions.chosen_pairs() {
        Some(_) => model.with_cells(columns, labels, interrupt),
        None => Ok(model),
    }
}

/// Fits a model without each fold of the rows, all with the number of rounds that is best on the
/// mean of the folds: the models that [`fit_gradient_boosting`] averages. There are fewer folds
/// than requested if a class has fewer distinct rows.
///
/// # Errors
///
/// As [`fit_gradient_boosting`]; [`RankError::BadParameter`] for fewer than two folds, if the
/// parameters do not hold folds out, or if the folds of rows elsewhere are given.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientParams, GradientRefit, fit_gradient_folds};
/// use aucrank::data::{Columns, Folds, Labels};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|value| (30.0..70.0).contains(value)).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let interrupt = Interrupt::default();
/// let mut params = GradientParams::stopped();
/// let of_folds = fit_gradient_folds((&columns, &labels), 4, &params, &interrupt)?;
/// assert_eq!(of_folds.len(), 4);
/// assert!(of_folds.iter().all(|fold| fold.of_all_rows.is_none()));
///
/// let folds = Folds::deal(&columns, &labels, 4, params.seed, &interrupt)?;
/// params.held_out.as_mut().unwrap().refit = GradientRefit::Leaves;
/// let with_values_of_all = fit_gradient_folds((&columns, &labels), &folds, &params, &interrupt)?;
/// for (one, other) in of_folds.iter().zip(&with_values_of_all) {
///     assert_eq!(one.without_fold, other.without_fold);
///     assert_ne!(Some(&other.without_fold), other.of_all_rows.as_ref());
/// }
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn fit_gradient_folds<'a>(
    rows: impl Into<TrainingRows<'a>>,
    folds: impl Into<BagFolds<'a>>,
    params: &GradientParams,
    interrupt: &Interrupt,
) -> Result<Vec<GradientFold>, RankError> {
    let folds = folds.into();
    let (columns, labels) = match rows.into() {
        TrainingRows::Memory(columns, labels) => (columns, labels),
        TrainingRows::Elsewhere(rows) => {
            check_elsewhere(&[("folds", matches!(folds, BagFolds::Given(_)))])?;
            return fit_gradient_folds_rows(rows, folds.n_folds(), params, interrupt);
        }
    };
    params.check_folds()?;
    let folds = &*match folds {
        BagFolds::Given(folds) => Cow::Borrowed(folds),
        BagFolds::Dealt(n_folds) => {
            Cow::Owned(Folds::deal(columns, labels, n_folds, params.seed, interrupt)?)
        }
    };
    check_folds(folds, labels)?;
    let params = GradientParams { n_bags: usize::from(folds.n_folds), ..params.clone() };
    let given = GradientExtras { folds: Some(folds), ..GradientExtras::default() };
    let bags = fit_all_bags(columns, labels, &params, &given, interrupt)?;
    let finished = |mut bag: Bag<Scores>| {
        bag.parts = with_threshold(bag.parts, columns, labels)?;
        Ok(GradientFold::new(bag))
    };
    bags.into_iter().map(finished).collect()
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

/// Some trees with the threshold from the rows of the fit.
fn with_threshold(
    mut parts: GradientFields,
    columns: &Columns<'_>,
    labels: &Labels<'_>,
) -> Result<GradientFields, RankError> {
    if parts.loss != Loss::Log {
        let scores = GradientBoosted::new(parts.clone()).score(columns)?;
        parts.threshold = threshold(parts.loss, &scores, labels)?;
    }
    Ok(parts)
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
    if given.validation.is_some() || given.earlier.is_some() {
        // No row of the fit is held out.
        params = params.without_refit_of_leaves();
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
    run(&mut singles, params, Stage::ROUNDS, interrupt)?;
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
        run(&mut bags, params, Stage::ROUNDS, interrupt)?;
    }
    let paths = paths(&bags, params);
    if params.refit() != GradientRefit::Trees || is_ended || bags.iter().any(|bag| bag.is_ended) {
        return finish(bags, paths);
    }

    let n_rounds = n_kept(&bags, &paths);
    drop(bags);
    let all = source.deal_all(params)?;
    let mut again = source.begin(params, &all, RoundTerms::Singles)?;
    for (bag, &n_rounds) in again.iter_mut().zip(&n_singles) {
        bag.bound_rounds(n_rounds);
    }
    run(&mut again, params, Stage::ROUNDS, interrupt)?;
    let begun: Vec<Begun<Scores>> = again.into_iter().map(BagFit::into_begun).collect();
    let all = coarse.recoded(params, &all, &[])?;
    let mut again = coarse.begin(params, &all, RoundTerms::Pairs(&pairs))?;
    for (((bag, begun), of_all), singles) in
        again.iter_mut().zip(begun).zip(n_rounds).zip(n_singles)
    {
        bag.bound_rounds(of_all.saturating_sub(singles));
        bag.begin_after(begun);
    }
    run(&mut again, params, Stage::ROUNDS, interrupt)?;
    finish(again, paths)
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
