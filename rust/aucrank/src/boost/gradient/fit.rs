//! The rounds.

use super::bags::{average, bag_seed};
use super::best_split::Criterion;
use super::code_columns::CodeColumns;
use super::draws::Draws;
use super::grow::{GrowMemory, Grower, Grown};
use super::held_out::{GradientHeldOut, HeldOut, HeldOutMeasure, Place};
use super::histogram::Layout;
use super::level_codes::LevelCodes;
use super::loss::{Loss, LossAt};
use super::model::{GradientBoosted, Parts};
use super::params::GradientParams;
use super::rows::{CHUNK_ROWS, FitRows};
use super::sums::{HESSIAN_UNITS, Sums};
use super::tree::GradientTree;
use super::tree_rows::{Derivatives, TreeRows};
use crate::data::{
    Binned, BinningParams, CodeRule, CodeTest, Column, Columns, LARGEST_SUM, Labels, LevelRates,
    LevelSet, hold_out, mix,
};
use crate::formula::{Rule, Test};
use crate::interrupt::PartCounter;
use crate::prepared::Prepared;
use crate::roc::largest_gap;
use crate::{Interrupt, Part, RankError, parallel};

/// Rows whose derivatives are computed at a time.
const BLOCK_ROWS: usize = 512;

/// Optional inputs of a fit beside its rows.
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
    check_monotonic(&params.monotonic, columns)?;
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
    let binned = Binned::new(&level_codes.columns(columns)?, labels, binning, interrupt)?;
    let data = Data { columns, labels, binned: &binned, kept: &level_codes.kept, interrupt };
    let bag = |number: usize| {
        let params = GradientParams { seed: bag_seed(params.seed, number), ..params.clone() };
        fit_bag(data, &params, given, &n_levels)
    };
    if params.n_bags == 1 {
        let (mut parts, scores) = bag(0)?;
        parts.threshold = threshold(params.loss, &scores, labels)?;
        return Ok(GradientBoosted::new(parts));
    }
    let done = PartCounter::new(interrupt, "bag", params.n_bags);
    let bags = parallel::try_map((0..params.n_bags).collect(), |number| {
        let (parts, _) = bag(number)?;
        done.add()?;
        Ok::<_, RankError>(parts)
    })?;
    let mut parts = average(bags);
    if params.loss != Loss::Log {
        let scores = GradientBoosted::new(parts.clone()).score(columns)?;
        parts.threshold = threshold(params.loss, &scores, labels)?;
    }
    Ok(GradientBoosted::new(parts))
}

/// The sum from which on a row is called positive, given those of the rows of the fit.
fn threshold(loss: Loss, scores: &[f64], labels: &Labels<'_>) -> Result<f64, RankError> {
    match loss {
        Loss::Log => Ok(0.0),
        Loss::PairExponential | Loss::PairLogistic => largest_gap(scores, labels),
    }
}

/// Fits one model, but for its threshold: its parts, and the sums of the rows.
fn fit_bag(
    data: Data<'_>,
    params: &GradientParams,
    given: &GradientExtras<'_>,
    n_levels: &[Option<u32>],
) -> Result<(Parts, Vec<f64>), RankError> {
    let Data { columns, labels, binned, interrupt, .. } = data;
    let all = labels.rows();
    let (mut held_out, mut kept) = (None, None);
    if let Some(asked) = &params.held_out {
        if let Some((columns, labels)) = given.validation {
            let rows: Vec<u32> = (0..labels.n_rows() as u32).collect();
            held_out = Some(HeldOut::new(Place::Outside(columns), &rows, labels));
        } else if let Some(parts) =
            hold_out(columns, labels, asked.fraction, params.seed, interrupt)?
        {
            let rows = parts.held_out;
            held_out = Some(HeldOut::new(Place::Inside(rows.clone()), &rows, labels));
            kept = Some(parts.kept);
        }
    }
    let rows = FitRows::new(binned, labels, kept.as_ref().unwrap_or(&all));
    let mut fit = Fit::new(data, params, &rows, given.earlier, held_out)?;
    fit.replay(given.earlier)?;
    fit.go_on(params.n_rounds)?;
    let path: Option<GradientHeldOut> = fit.held_out.take().and_then(|held_out| {
        let asked = params.held_out?;
        Some(asked.path(held_out.values))
    });
    let all_rows;
    if let (Some(path), Some(asked)) = (&path, params.held_out) {
        if asked.refit {
            all_rows = FitRows::new(binned, labels, &all);
            // The rate is that of the rounds that were asked for.
            fit = Fit::new(data, params, &all_rows, None, None)?;
            fit.go_on(path.n_rounds)?;
        } else {
            fit.cut(path.n_rounds)?;
        }
    }
    let parts = Parts {
        n_levels: n_levels.to_vec(),
        loss: params.loss,
        start: fit.start,
        threshold: 0.0,
        learning_rate: fit.rate,
        trees: fit.trees,
        held_out: path,
        bags: Vec::new(),
        seed: params.seed,
        prepared: Prepared::default(),
    };
    Ok((parts, fit.scores))
}

fn check_monotonic(monotonic: &[i8], columns: &Columns<'_>) -> Result<(), RankError> {
    let bad =
        |value: String, rule| Err(RankError::BadParameter { name: "monotonic_cst", value, rule });
    if monotonic.is_empty() {
        return Ok(());
    }
    if monotonic.len() != columns.n_features() {
        return bad(format!("of length {}", monotonic.len()), "as long as X has columns");
    }
    if let Some(value) = monotonic.iter().find(|value| !(-1..=1).contains(*value)) {
        return bad(format!("{value} somewhere"), "-1, 0 or 1");
    }
    let is_bound = |(value, column): (&i8, &Column<'_>)| *value != 0 && column.n_levels().is_some();
    match monotonic.iter().zip(columns).position(is_bound) {
        Some(column) => Err(RankError::CategoricalConstraint { column }),
        None => Ok(()),
    }
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

/// A model during its fit.
struct Fit<'a> {
    data: Data<'a>,
    params: &'a GradientParams,
    rows: &'a FitRows<'a>,
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
    /// Sum over the trees of the largest absolute value.
    largest: f64,
    is_complete: bool,
}

impl<'a> Fit<'a> {
    fn new(
        data: Data<'a>,
        params: &'a GradientParams,
        rows: &'a FitRows<'a>,
        earlier: Option<&GradientBoosted>,
        mut held_out: Option<HeldOut<'a>>,
    ) -> Result<Self, RankError> {
        let mut criterion = Criterion {
            l2: params.l2 * f64::from(HESSIAN_UNITS) / rows.mass_unit(),
            min_gain: 0.0,
            min_rows: params.min_samples_leaf.of(rows.n_rows()),
            cuts: params.cuts,
            monotonic: params.monotonic.clone(),
            mass_unit: rows.mass_unit(),
        };
        if criterion.monotonic.iter().all(|&direction| direction == 0) {
            criterion.monotonic.clear();
        }
        criterion.min_gain = criterion.gain_in_units(params.min_gain);
        let start = params.loss.start(rows.class_masses());
        let start = earlier.map_or(start, |earlier| earlier.base() + earlier.threshold());
        if let Some(held_out) = &mut held_out {
            held_out.scores.fill(start);
        }
        Ok(Self {
            data,
            params,
            rows,
            criterion,
            draws: Draws::new(data.columns, rows.training(), params, data.interrupt)?,
            held_out,
            start,
            rate: params.rate(rows.n_rows()),
            scores: vec![start; data.labels.n_rows()],
            outside: others(rows.training(), data.labels.n_rows()),
            trees: Vec::new(),
            largest: start.abs(),
            is_complete: false,
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

    /// Measures the held-out rows after a round.
    fn measure(&mut self) -> Result<(), RankError> {
        match (&mut self.held_out, self.params.held_out) {
            (Some(held_out), Some(asked)) => held_out.measure(asked.measure, self.params.loss),
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
        while self.trees.len() < n_rounds && !self.is_complete {
            self.data.interrupt.check()?;
            let at = self.params.loss.at(&self.scores, self.rows);
            let seed = mix(self.params.seed ^ mix(self.trees.len() as u64));
            self.draws.rows(seed, &mut rows.rows, &mut others);
            self.differentiate(&at, &mut rows);
            let features = self.draws.features(seed);
            let mut grown = self.grow(&mut rows, &mut columns, &mut memory, features, seed)?;
            if grown.leaves.len() == 1 && self.draws.are_partial() {
                rows.rows.clear();
                rows.rows.extend_from_slice(self.rows.training());
                others.clear();
                self.differentiate(&at, &mut rows);
                let all = (0..self.data.columns.n_features()).collect();
                grown = self.grow(&mut rows, &mut columns, &mut memory, all, seed)?;
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
        let (number, most) = (self.trees.len(), Some(n_rounds));
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
            max_leaves: self.params.max_leaves,
            max_depth: self.params.max_depth,
            interactions: self.params.interactions.as_deref(),
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
        let mut taken = vec![0.0; self.scores.len()];
        for tree in self.trees.drain(n_rounds..) {
            tree.add_values(self.data.columns, &mut taken)?;
        }
        // Values are exact, so that subtracting them restores the earlier scores.
        self.scores.iter_mut().zip(taken).for_each(|(score, taken)| *score -= taken);
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
