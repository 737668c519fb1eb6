//! The rounds.

use super::bags::{average, bag_seed};
use super::best_split::Criterion;
use super::code_columns::CodeColumns;
use super::draws::Draws;
use super::feature_pairs::PairSearch;
use super::grow::{GrowMemory, Grower, Grown};
use super::held_out::{GradientHeldOut, HeldOut, HeldOutMeasure, Place};
use super::histogram::Layout;
use super::level_codes::LevelCodes;
use super::loss::{Loss, LossAt};
use super::model::{GradientBoosted, Parts};
use super::params::{GradientParams, Interactions};
use super::rows::{CHUNK_ROWS, FitRows};
use super::sums::{HESSIAN_UNITS, Sums};
use super::tree::GradientTree;
use super::tree_rows::{Derivatives, TreeRows};
use crate::data::{
    Binned, BinningParams, CodeRule, CodeTest, Column, Columns, LARGEST_SUM, Labels, LevelRates,
    LevelSet, binds, check_monotonic, hold_out, mix,
};
use crate::formula::{Rule, Test};
use crate::interrupt::PartCounter;
use crate::prepared::Prepared;
use crate::roc::largest_gap;
use crate::{Interrupt, Part, RankError, parallel};

/// Most bins of a number in trees of two features: a table of more would be learned from few rows a
/// cell.
const PAIR_BINS: usize = 32;

/// Least number of leaves that trees of two features may have: few leaves suit functions of one feature.
const PAIR_LEAVES: usize = 8;

/// Rows whose derivatives are computed at a time.
const BLOCK_ROWS: usize = 512;

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
    if let (Some(_), Interactions::Pairs(most)) = (given.earlier, &params.interactions) {
        let (value, rule) = (format!("{most} pairs"), "without pairs where an earlier fit goes on");
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
    let data = Data { columns, labels, binned: &binned, kept: &level_codes.kept, interrupt };
    let mut bags = if let Interactions::Pairs(most) = params.interactions {
        let max_bins = Some(params.max_bins.min(PAIR_BINS));
        let binning = BinningParams { max_bins, ..binning };
        let coarse = Binned::new(&coded, labels, binning, interrupt)?;
        fit_in_two_series(data, Data { binned: &coarse, ..data }, &params, given, most)?
    } else {
        fit_bags(data, &params, vec![(); params.n_bags], |(), params| fit_bag(data, params, given))?
    };
    if params.n_bags == 1 {
        let Bag { mut parts, scores } = bags.swap_remove(0);
        parts.threshold = threshold(params.loss, &scores, labels)?;
        return Ok(GradientBoosted::new(parts));
    }
    let mut parts = average(bags.into_iter().map(|bag| bag.parts).collect());
    if params.loss != Loss::Log {
        let scores = GradientBoosted::new(parts.clone()).score(columns)?;
        parts.threshold = threshold(params.loss, &scores, labels)?;
    }
    Ok(GradientBoosted::new(parts))
}

/// Runs a part of the fit of each bag, from what it has begun with.
fn fit_bags<B: Send, T: Send>(
    data: Data<'_>,
    params: &GradientParams,
    begun: Vec<B>,
    work: impl Fn(B, &GradientParams) -> Result<T, RankError> + Sync,
) -> Result<Vec<T>, RankError> {
    if let [_] = begun[..] {
        return begun.into_iter().map(|begun| work(begun, params)).collect();
    }
    let done = PartCounter::new(data.interrupt, "bag", params.n_bags);
    parallel::try_map(begun.into_iter().enumerate().collect(), |(number, begun)| {
        let params = GradientParams { seed: bag_seed(params.seed, number), ..params.clone() };
        let found = work(begun, &params)?;
        done.add()?;
        Ok(found)
    })
}

/// Fits each bag to single features, chooses pairs of them for all, and fits the bags on.
fn fit_in_two_series(
    data: Data<'_>,
    coarse: Data<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
    most: usize,
) -> Result<Vec<Bag>, RankError> {
    let bags = vec![(); params.n_bags];
    let begun = fit_bags(data, params, bags, |(), params| fit_singles(data, params, given))?;
    let pairs = choose_pairs(coarse, params, &begun, most)?;
    fit_bags(data, params, begun, |begun, params| {
        fit_pairs([data, coarse], params, given, begun, &pairs)
    })
}

/// The pairs that tell most beside the mean of some sums of single features.
fn choose_pairs(
    data: Data<'_>,
    params: &GradientParams,
    begun: &[Begun],
    most: usize,
) -> Result<Vec<[usize; 2]>, RankError> {
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
    search.best(most)
}

/// The sum from which on a row is called positive, given those of the rows of the fit.
fn threshold(loss: Loss, scores: &[f64], labels: &Labels<'_>) -> Result<f64, RankError> {
    match loss {
        Loss::Log => Ok(0.0),
        Loss::PairExponential | Loss::PairLogistic => largest_gap(scores, labels),
    }
}

/// A fitted model, but for its threshold.
struct Bag {
    parts: Parts,
    /// The sums of the rows.
    scores: Vec<f64>,
}

/// Rounds of single features that those of pairs come after.
struct Begun {
    trees: Vec<GradientTree>,
    /// The scores of all rows.
    scores: Vec<f64>,
    /// The scores of the held-out rows, and what they say of each round.
    held_out: Option<(Vec<f64>, Vec<f64>)>,
    /// Whether the fit was asked to end.
    is_ended: bool,
}

/// The rows of a fit that are held out, and those that are not if any are.
fn hold_rows_out<'a>(
    data: Data<'a>,
    params: &GradientParams,
    given: &GradientExtras<'a>,
) -> Result<(Option<HeldOut<'a>>, Option<Vec<u32>>), RankError> {
    let Data { columns, labels, interrupt, .. } = data;
    let Some(asked) = &params.held_out else { return Ok((None, None)) };
    if let Some((columns, labels)) = given.validation {
        let rows: Vec<u32> = (0..labels.n_rows() as u32).collect();
        return Ok((Some(HeldOut::new(Place::Outside(columns), &rows, labels)), None));
    }
    let parts = hold_out(columns, labels, asked.fraction, params.seed, interrupt)?;
    Ok(parts.map_or((None, None), |parts| {
        let rows = parts.held_out;
        (Some(HeldOut::new(Place::Inside(rows.clone()), &rows, labels)), Some(parts.kept))
    }))
}

/// Fits one model in one series of rounds.
fn fit_bag(
    data: Data<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
) -> Result<Bag, RankError> {
    let all = data.labels.rows();
    let (held_out, kept) = hold_rows_out(data, params, given)?;
    let rows = FitRows::new(data.binned, data.labels, kept.as_ref().unwrap_or(&all));
    let mut fit = Fit::new(data, params, &rows, Terms::Asked, given.earlier, held_out)?;
    fit.replay(given.earlier)?;
    fit.go_on(params.n_rounds)?;
    let path = fit.take_path();
    let all_rows;
    if let (Some(path), Some(asked)) = (&path, params.held_out) {
        if asked.refit {
            all_rows = FitRows::new(data.binned, data.labels, &all);
            // The rate is that of the rounds that were asked for.
            fit = Fit::new(data, params, &all_rows, Terms::Asked, None, None)?;
            fit.go_on(path.n_rounds)?;
        } else {
            fit.cut(path.n_rounds)?;
        }
    }
    Ok(fit.into_bag(path))
}

/// Fits a sum of single features: the rounds up to the best.
fn fit_singles(
    data: Data<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
) -> Result<Begun, RankError> {
    let all = data.labels.rows();
    let (held_out, kept) = hold_rows_out(data, params, given)?;
    let rows = FitRows::new(data.binned, data.labels, kept.as_ref().unwrap_or(&all));
    let mut fit = Fit::new(data, params, &rows, Terms::Singles, None, held_out)?;
    fit.go_on(params.n_rounds)?;
    if let Some(path) = fit.take_path() {
        fit.cut(path.n_rounds)?;
        let kept = path.values[..path.n_rounds].to_vec();
        fit.held_out.iter_mut().for_each(|held_out| held_out.values.clone_from(&kept));
    }
    Ok(fit.into_begun())
}

/// Goes on with rounds of pairs, whose numbers are in few bins: the second of `data`.
fn fit_pairs(
    [data, coarse]: [Data<'_>; 2],
    params: &GradientParams,
    given: &GradientExtras<'_>,
    begun: Begun,
    pairs: &[[usize; 2]],
) -> Result<Bag, RankError> {
    let all = data.labels.rows();
    let (held_out, kept) = hold_rows_out(coarse, params, given)?;
    let rows = FitRows::new(coarse.binned, data.labels, kept.as_ref().unwrap_or(&all));
    let (n_singles, is_ended) = (begun.trees.len(), begun.is_ended);
    let mut fit = Fit::new(coarse, params, &rows, Terms::Pairs(pairs), None, held_out)?;
    fit.take_up(begun);
    if !is_ended {
        fit.go_on(n_singles + params.n_rounds)?;
    }
    let path = fit.take_path();
    let (fine_rows, coarse_rows);
    if let (Some(path), Some(asked)) = (&path, params.held_out) {
        if asked.refit {
            fine_rows = FitRows::new(data.binned, data.labels, &all);
            let mut singles = Fit::new(data, params, &fine_rows, Terms::Singles, None, None)?;
            singles.go_on(n_singles)?;
            let n_rounds = singles.trees.len() + path.n_rounds - n_singles;
            coarse_rows = FitRows::new(coarse.binned, data.labels, &all);
            fit = Fit::new(coarse, params, &coarse_rows, Terms::Pairs(pairs), None, None)?;
            fit.take_up(singles.into_begun());
            fit.go_on(n_rounds)?;
        } else {
            fit.cut(path.n_rounds)?;
        }
    }
    Ok(fit.into_bag(path))
}

/// How the splits of a fit are judged.
pub(super) fn criterion(params: &GradientParams, rows: &FitRows<'_>) -> Criterion {
    let mut criterion = Criterion {
        l2: params.l2 * f64::from(HESSIAN_UNITS) / rows.mass_unit(),
        min_gain: 0.0,
        min_rows: params.min_samples_leaf.of(rows.n_rows()),
        cuts: params.cuts,
        monotonic: params.monotonic.clone(),
        mass_unit: rows.mass_unit(),
    };
    if !binds(&criterion.monotonic) {
        criterion.monotonic.clear();
    }
    criterion.min_gain = criterion.gain_in_units(params.min_gain);
    criterion
}

/// What all parts of a fit read.
#[derive(Clone, Copy)]
struct Data<'a> {
    columns: &'a Columns<'a>,
    labels: &'a Labels<'a>,
    binned: &'a Binned,
    /// For each categorical feature the categories that have a code.
    kept: &'a [Option<Vec<u32>>],
    interrupt: &'a Interrupt,
}

impl Data<'_> {
    /// The question about raw values that gives the same answers as one about codes.
    fn raw_test(&self, test: &CodeTest) -> Test {
        let feature = test.feature;
        let (CodeRule::Levels(codes), Some(kept)) = (&test.rule, &self.kept[feature]) else {
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

/// What the trees of a series of rounds may ask.
#[derive(Clone, Copy)]
enum Terms<'a> {
    /// What the parameters say.
    Asked,
    /// One feature each.
    Singles,
    /// One of these pairs each, in turn.
    Pairs(&'a [[usize; 2]]),
}

/// A model during its fit.
struct Fit<'a> {
    data: Data<'a>,
    params: &'a GradientParams,
    rows: &'a FitRows<'a>,
    terms: Terms<'a>,
    /// Groups of features that may be asked together; `None` for all.
    groups: Option<Vec<Vec<usize>>>,
    criterion: Criterion,
    draws: Draws<'a>,
    held_out: Option<HeldOut<'a>>,
    start: f64,
    rate: f64,
    /// The score of every row of the sample, in the training subset or not.
    scores: Vec<f64>,
    /// The rows that it does not learn from: held out, or without weight.
    outside: Vec<u32>,
    trees: Vec<GradientTree>,
    /// How many of them are those of another series.
    n_begun: usize,
    /// Sum over the trees of the largest absolute value.
    largest: f64,
    is_complete: bool,
    /// Whether the observer has asked the fit to end.
    is_ended: bool,
}

impl<'a> Fit<'a> {
    fn new(
        data: Data<'a>,
        params: &'a GradientParams,
        rows: &'a FitRows<'a>,
        terms: Terms<'a>,
        earlier: Option<&GradientBoosted>,
        mut held_out: Option<HeldOut<'a>>,
    ) -> Result<Self, RankError> {
        let groups = match (terms, &params.interactions) {
            (Terms::Asked, Interactions::Groups(groups)) => Some(groups.clone()),
            (Terms::Asked | Terms::Pairs(_), _) => None,
            (Terms::Singles, _) => Some(Vec::new()),
        };
        let start = params.loss.start(rows.class_masses());
        let start = earlier.map_or(start, GradientBoosted::start);
        if let Some(held_out) = &mut held_out {
            held_out.scores.fill(start);
        }
        Ok(Self {
            data,
            params,
            rows,
            terms,
            groups,
            criterion: criterion(params, rows),
            draws: Draws::new(data.columns, rows.training(), params, data.interrupt)?,
            held_out,
            start,
            rate: params.rate(rows.n_rows()),
            scores: vec![start; data.labels.n_rows()],
            outside: others(rows.training(), data.labels.n_rows()),
            trees: Vec::new(),
            n_begun: 0,
            largest: start.abs(),
            is_complete: false,
            is_ended: false,
        })
    }

    /// Adds the trees of an earlier model.
    fn replay(&mut self, earlier: Option<&GradientBoosted>) -> Result<(), RankError> {
        let Some(earlier) = earlier else { return Ok(()) };
        for tree in earlier.trees() {
            self.data.interrupt.check()?;
            tree.add_values(self.data.columns, &mut self.scores)?;
            self.largest += tree.largest_value();
            if let Some(held_out) = &mut self.held_out {
                match &held_out.place {
                    // Only once all trees are there: the scores are exact.
                    Place::Inside(rows) => {
                        for (score, &row) in held_out.scores.iter_mut().zip(rows) {
                            *score = self.scores[row as usize];
                        }
                    }
                    Place::Outside(columns) => tree.add_values(columns, &mut held_out.scores)?,
                }
            }
            self.trees.push(tree.clone());
            self.measure()?;
        }
        Ok(())
    }

    /// Begins with the trees of another series.
    fn take_up(&mut self, begun: Begun) {
        self.n_begun = begun.trees.len();
        self.largest += begun.trees.iter().map(GradientTree::largest_value).sum::<f64>();
        (self.trees, self.scores) = (begun.trees, begun.scores);
        if let (Some(held_out), Some((scores, values))) = (&mut self.held_out, begun.held_out) {
            (held_out.scores, held_out.values) = (scores, values);
        }
    }

    /// What the held-out rows say of all rounds.
    fn take_path(&mut self) -> Option<GradientHeldOut> {
        let (held_out, asked) = (self.held_out.as_mut()?, self.params.held_out?);
        Some(asked.path(std::mem::take(&mut held_out.values)))
    }

    fn into_begun(self) -> Begun {
        Begun {
            trees: self.trees,
            scores: self.scores,
            held_out: self.held_out.map(|held_out| (held_out.scores, held_out.values)),
            is_ended: self.is_ended,
        }
    }

    fn into_bag(self, held_out: Option<GradientHeldOut>) -> Bag {
        let parts = Parts {
            n_levels: self.data.columns.iter().map(Column::n_levels).collect(),
            loss: self.params.loss,
            start: self.start,
            threshold: 0.0,
            learning_rate: self.rate,
            trees: self.trees,
            held_out,
            bags: Vec::new(),
            seed: self.params.seed,
            prepared: Prepared::default(),
        };
        // Of several bags only the mean is asked for scores.
        let scores = if self.params.n_bags > 1 { Vec::new() } else { self.scores };
        Bag { parts, scores }
    }

    /// The features that the next tree may ask, and those that one may ask that learns from all rows if
    /// the rows and features drawn tell nothing: the first of these sets that tells anything.
    fn features(&self, seed: u64) -> (Vec<usize>, Vec<Vec<usize>>) {
        if let Terms::Pairs(pairs) = self.terms {
            let turn = (self.trees.len() - self.n_begun) % pairs.len();
            let in_turn = pairs[turn..].iter().chain(&pairs[..turn]);
            return (pairs[turn].to_vec(), in_turn.map(|pair| pair.to_vec()).collect());
        }
        let all = || (0..self.data.columns.n_features()).collect();
        let others = if self.draws.are_partial() { vec![all()] } else { Vec::new() };
        (self.draws.features(seed), others)
    }

    /// Measures the held-out rows after a round.
    fn measure(&mut self) -> Result<(), RankError> {
        match (&mut self.held_out, self.params.held_out) {
            (Some(held_out), Some(asked)) => {
                held_out.measure(asked.measure, self.params.loss, self.params.max_fpr)
            }
            _ => Ok(()),
        }
    }

    /// Runs rounds until there are `n_rounds`, or nothing is left to learn.
    fn go_on(&mut self, n_rounds: usize) -> Result<(), RankError> {
        let are_packed = self.rows.are_equal() && self.params.loss.is_bounded();
        let mut rows = TreeRows::new(are_packed);
        let mut columns = CodeColumns::new(self.rows);
        let mut memory = GrowMemory::default();
        let mut others = Vec::new();
        self.is_complete |= matches!(self.terms, Terms::Pairs([]));
        while self.trees.len() < n_rounds && !self.is_complete {
            self.data.interrupt.check()?;
            let at = self.params.loss.at(&self.scores, self.rows, self.params.max_fpr);
            let seed = mix(self.params.seed ^ mix(self.trees.len() as u64));
            self.draws.rows(seed, &mut rows.rows, &mut others);
            self.differentiate(&at, &mut rows);
            let (features, instead) = self.features(seed);
            let mut grown = self.grow(&mut rows, &mut columns, &mut memory, features, seed)?;
            for features in instead {
                if grown.leaves.len() > 1 {
                    break;
                }
                rows.rows.clear();
                rows.rows.extend_from_slice(self.rows.training());
                others.clear();
                self.differentiate(&at, &mut rows);
                grown = self.grow(&mut rows, &mut columns, &mut memory, features, seed)?;
            }
            let largest = grown.tree.largest_value();
            if grown.leaves.len() == 1 || self.largest + largest > LARGEST_SUM {
                self.is_complete = true;
                break;
            }
            self.largest += largest;
            self.update(&grown, &rows.rows, &others)?;
            self.trees.push(grown.tree);
            self.measure()?;
            let goes_on = self.report(n_rounds)?;
            if let (Some(held_out), Some(asked)) = (&self.held_out, self.params.held_out)
                && asked.stops(&held_out.values)
            {
                break;
            }
            if !goes_on {
                self.is_ended = true;
                break;
            }
        }
        Ok(())
    }

    /// Reports the last round; whether there are to be more. Of several bags, each reports its end.
    fn report(&self, n_rounds: usize) -> Result<bool, RankError> {
        if self.params.n_bags > 1 {
            return Ok(true);
        }
        let reached = self.held_out.as_ref().and_then(|rows| rows.values.last().copied());
        let name = match self.params.held_out.map(|asked| asked.measure) {
            Some(HeldOutMeasure::Loss) => "validation_loss",
            _ => "validation_auc",
        };
        let number = self.trees.len() - self.n_begun;
        let most = Some(n_rounds - self.n_begun);
        let figures = [(name, reached)];
        self.data.interrupt.part_done(&Part { unit: "round", number, most, figures: &figures })
    }

    /// Computes the derivatives of some rows at their scores.
    fn differentiate(&self, at: &LossAt, rows: &mut TreeRows) {
        rows.resize();
        match &mut rows.derivatives {
            Derivatives::Packed(packed) => {
                self.fill(at, &rows.rows, packed, |_, sums| sums.into());
            }
            Derivatives::Plain(plain) => {
                let mass = |row: u32| self.rows.mass(row as usize) as i64;
                self.fill(at, &rows.rows, plain, |row, sums| sums.times(mass(row)));
            }
        }
    }

    fn fill<T: Send>(
        &self,
        at: &LossAt,
        rows: &[u32],
        places: &mut [T],
        of: impl Fn(u32, Sums) -> T + Sync,
    ) {
        let positive = self.rows.positive();
        let chunks = rows.chunks(CHUNK_ROWS).zip(places.chunks_mut(CHUNK_ROWS)).collect();
        parallel::map(chunks, |(rows, places): (&[u32], &mut [T])| {
            let mut scores = [0.0; BLOCK_ROWS];
            let mut classes = [false; BLOCK_ROWS];
            let mut found = [(0.0, 0.0); BLOCK_ROWS];
            for (rows, places) in rows.chunks(BLOCK_ROWS).zip(places.chunks_mut(BLOCK_ROWS)) {
                let n = rows.len();
                for ((score, class), &row) in scores.iter_mut().zip(&mut classes).zip(rows) {
                    (*score, *class) = (self.scores[row as usize], positive[row as usize]);
                }
                at.fill(&scores[..n], &classes[..n], &mut found[..n]);
                for ((place, &row), &(gradient, hessian)) in places.iter_mut().zip(rows).zip(&found)
                {
                    *place = of(row, Sums::of(gradient, hessian));
                }
            }
        });
    }

    fn max_leaves(&self) -> usize {
        match self.terms {
            Terms::Pairs(_) => self.params.max_leaves.max(PAIR_LEAVES),
            Terms::Asked | Terms::Singles => self.params.max_leaves,
        }
    }

    fn grow(
        &self,
        rows: &mut TreeRows,
        columns: &mut CodeColumns,
        memory: &mut GrowMemory,
        features: Vec<usize>,
        seed: u64,
    ) -> Result<Grown, RankError> {
        let grower = Grower {
            data: self.rows,
            layout: Layout::new(self.data.binned, features),
            criterion: &self.criterion,
            max_leaves: self.max_leaves(),
            max_depth: self.params.max_depth,
            interactions: self.groups.as_deref(),
            rate: self.rate,
            seed,
            raw_test: &|test| self.data.raw_test(test),
            interrupt: self.data.interrupt,
        };
        grower.grow(rows, columns, memory)
    }

    /// Adds the values of a tree to all scores; `rows` are those it was grown on, in the order of its
    /// leaves, and `others` the other training rows.
    fn update(&mut self, grown: &Grown, rows: &[u32], others: &[u32]) -> Result<(), RankError> {
        let (data, outside) = (self.rows, &self.outside[..]);
        let chunks = self.scores.chunks_mut(CHUNK_ROWS).enumerate().collect();
        parallel::map(chunks, |(chunk, scores): (usize, &mut [f64])| {
            let start = (chunk * CHUNK_ROWS) as u32;
            let end = start + scores.len() as u32;
            for (range, value) in &grown.leaves {
                for &row in between(&rows[range.clone()], start, end) {
                    scores[(row - start) as usize] += value;
                }
            }
            let others = between(others, start, end).iter().chain(between(outside, start, end));
            for &row in others {
                scores[(row - start) as usize] += grown.value(data, row);
            }
        });
        if let Some(held_out) = &mut self.held_out {
            match &held_out.place {
                Place::Inside(rows) => {
                    for (score, &row) in held_out.scores.iter_mut().zip(rows) {
                        *score = self.scores[row as usize];
                    }
                }
                Place::Outside(columns) => {
                    grown.tree.add_values(columns, &mut held_out.scores)?;
                }
            }
        }
        Ok(())
    }

    /// Keeps the first rounds only.
    fn cut(&mut self, n_rounds: usize) -> Result<(), RankError> {
        let cut = self.trees.split_off(n_rounds);
        let mut taken = vec![0.0; self.scores.len()];
        for tree in &cut {
            tree.add_values(self.data.columns, &mut taken)?;
        }
        // Values are exact, so that subtracting them restores the earlier scores.
        self.scores.iter_mut().zip(taken).for_each(|(score, taken)| *score -= taken);
        if let Some(held_out) = &mut self.held_out {
            match &held_out.place {
                Place::Inside(rows) => {
                    for (score, &row) in held_out.scores.iter_mut().zip(rows) {
                        *score = self.scores[row as usize];
                    }
                }
                Place::Outside(columns) => {
                    let mut taken = vec![0.0; held_out.scores.len()];
                    for tree in &cut {
                        tree.add_values(columns, &mut taken)?;
                    }
                    held_out.scores.iter_mut().zip(taken).for_each(|(s, taken)| *s -= taken);
                }
            }
        }
        Ok(())
    }
}

/// Row numbers below `n_rows` that are not in an ascending list.
fn others(rows: &[u32], n_rows: usize) -> Vec<u32> {
    let mut listed = rows.iter().peekable();
    (0..n_rows as u32).filter(|row| listed.next_if(|listed| *listed == row).is_none()).collect()
}

/// The part of ascending row numbers from `start` to `end`.
fn between(rows: &[u32], start: u32, end: u32) -> &[u32] {
    let first = rows.partition_point(|&row| row < start);
    let count = rows[first..].partition_point(|&row| row < end);
    &rows[first..first + count]
}
