//! A bag during its fit: its rounds.

use super::best_split::Criterion;
use super::code_columns::CodeColumns;
use super::draws::Draws;
use super::feature_pairs::RankedPairs;
use super::fit::{Bag, Begun, Data};
use super::grow::{GrowMemory, Grower, Grown};
use super::held_out::{GradientHeldOut, HeldOut};
use super::histogram::Layout;
use super::loss::LossAt;
use super::model::{GradientBoosted, Parts};
use super::params::{FEW_LEAVES, GradientParams, Interactions};
use super::rows::{CHUNK_ROWS, FitRows};
use super::sums::{HESSIAN_UNITS, Sums};
use super::tree::GradientTree;
use super::tree_rows::{Derivatives, TreeRows};
use crate::data::{Column, LARGEST_SUM, binds, mix};
use crate::prepared::Prepared;
use crate::{RankError, parallel};

/// Least number of leaves that trees of two features may have: those of one question to each on either
/// side. More of them overfit where positives are few.
const PAIR_LEAVES: usize = 4;

/// Rows whose derivatives are computed at a time.
const BLOCK_ROWS: usize = 512;

/// What the trees of a series of rounds may ask.
#[derive(Clone, Copy)]
pub(super) enum Terms<'a> {
    /// What the parameters say.
    Asked,
    /// One feature each.
    Singles,
    /// One of these pairs each.
    Pairs(&'a RankedPairs),
}

/// A bag during its fit.
pub(super) struct BagFit<'a> {
    data: Data<'a>,
    params: &'a GradientParams,
    seed: u64,
    rows: &'a FitRows<'a>,
    terms: Terms<'a>,
    /// Groups of features that may be asked together; `None` for all.
    groups: Option<Vec<Vec<usize>>>,
    criterion: Criterion,
    draws: Draws<'a>,
    pub(super) held_out: Option<HeldOut<'a>>,
    start: f64,
    rate: f64,
    max_leaves: usize,
    /// Most rounds of this series.
    n_rounds: usize,
    /// The score of every row of the sample, in the training subset or not.
    scores: Vec<f64>,
    /// The rows that it does not learn from: held out, or without weight.
    outside: Vec<u32>,
    pub(super) trees: Vec<GradientTree>,
    /// How many of them are those of another series.
    n_begun: usize,
    /// Sum over the trees of the largest absolute value.
    largest: f64,
    is_complete: bool,
    /// Whether the observer has asked the fit to end.
    pub(super) is_ended: bool,
    /// Made by the first round.
    memory: Option<RoundMemory>,
}

/// Buffers of the rounds.
struct RoundMemory {
    rows: TreeRows,
    /// Training rows that the tree does not learn from.
    others: Vec<u32>,
    columns: CodeColumns,
    grow: GrowMemory,
}

impl<'a> BagFit<'a> {
    /// A bag before its first round, which draws by a seed of its own.
    pub(super) fn new(
        data: Data<'a>,
        params: &'a GradientParams,
        seed: u64,
        rows: &'a FitRows<'a>,
        terms: Terms<'a>,
    ) -> Result<Self, RankError> {
        let groups = match (terms, &params.interactions) {
            (Terms::Asked, Interactions::Groups(groups)) => Some(groups.clone()),
            (Terms::Asked, _) => None,
            (Terms::Singles, _) => Some(Vec::new()),
            (Terms::Pairs(pairs), _) => {
                Some(pairs.pairs.iter().map(|pair| pair.to_vec()).collect())
            }
        };
        let start = params.loss.start(rows.class_masses());
        let max_leaves = params.max_leaves.unwrap_or(FEW_LEAVES);
        Ok(Self {
            data,
            params,
            seed,
            rows,
            terms,
            groups,
            criterion: criterion(params, rows),
            draws: Draws::new(data.columns, rows.training(), params, seed, data.interrupt)?,
            held_out: None,
            start,
            rate: params.rate(rows.n_rows(), max_leaves),
            max_leaves: match terms {
                Terms::Pairs(_) => max_leaves.max(PAIR_LEAVES),
                Terms::Asked | Terms::Singles => max_leaves,
            },
            n_rounds: params.n_rounds,
            scores: vec![start; data.labels.n_rows()],
            outside: others(rows.training(), data.labels.n_rows()),
            trees: Vec::new(),
            n_begun: 0,
            largest: start.abs(),
            is_complete: matches!(terms, Terms::Pairs(pairs) if pairs.pairs.is_empty()),
            is_ended: false,
            memory: None,
        })
    }

    /// Rows to judge the rounds by.
    pub(super) fn judge_by(&mut self, mut held_out: HeldOut<'a>) {
        held_out.scores.fill(self.start);
        self.held_out = Some(held_out);
    }

    /// Bounds the rounds of this series.
    pub(super) fn bound_rounds(&mut self, n_rounds: usize) {
        self.n_rounds = n_rounds;
    }

    /// Most rounds of this series.
    pub(super) fn n_bound(&self) -> usize {
        self.n_rounds
    }

    /// Number of rounds of another series, which come first.
    pub(super) fn n_begun(&self) -> usize {
        self.n_begun
    }

    /// Keeps so many rounds of this series at most, and runs no more.
    pub(super) fn end_after(&mut self, n_rounds: usize) -> Result<(), RankError> {
        self.is_ended = true;
        self.cut(self.n_begun + n_rounds)
    }

    /// Number of rounds of this series.
    pub(super) fn n_done(&self) -> usize {
        self.trees.len() - self.n_begun
    }

    /// Whether there may be more rounds.
    pub(super) fn goes_on(&self) -> bool {
        !self.is_complete && !self.is_ended && self.n_done() < self.n_rounds
    }

    /// Begins with the rounds of an earlier model, which count as those of this series.
    pub(super) fn replay(&mut self, earlier: &GradientBoosted) -> Result<(), RankError> {
        self.start = earlier.start();
        self.largest = self.start.abs();
        self.scores.fill(self.start);
        if let Some(held_out) = &mut self.held_out {
            held_out.scores.fill(self.start);
        }
        for tree in earlier.trees() {
            self.data.interrupt.check()?;
            self.rows.add_values(tree, self.data.columns, &mut self.scores)?;
            self.largest += tree.largest_value();
            if let Some(held_out) = &mut self.held_out {
                held_out
                    .follow(&self.scores, |columns, scores| tree.add_values(columns, scores))?;
            }
            self.trees.push(tree.clone());
            self.measure()?;
        }
        Ok(())
    }

    /// Begins after the trees of another series.
    pub(super) fn begin_after(&mut self, begun: Begun) {
        self.n_begun = begun.trees.len();
        self.take_up(begun);
    }

    /// Begins with trees of its own series.
    pub(super) fn take_up(&mut self, begun: Begun) {
        self.largest += begun.trees.iter().map(GradientTree::largest_value).sum::<f64>();
        (self.trees, self.scores) = (begun.trees, begun.scores);
        if let (Some(held_out), Some((scores, values))) = (&mut self.held_out, begun.held_out) {
            (held_out.scores, held_out.values) = (scores, values);
        }
    }

    pub(super) fn into_begun(self) -> Begun {
        Begun {
            trees: self.trees,
            scores: self.scores,
            held_out: self.held_out.map(|held_out| (held_out.scores, held_out.values)),
        }
    }

    pub(super) fn into_bag(self, held_out: Option<GradientHeldOut>) -> Bag {
        let parts = Parts {
            n_levels: self.data.columns.iter().map(Column::n_levels).collect(),
            loss: self.params.loss,
            start: self.start,
            threshold: 0.0,
            learning_rate: self.rate,
            trees: self.trees,
            held_out,
            bags: Vec::new(),
            seed: self.seed,
            prepared: Prepared::default(),
        };
        // Of several bags only the mean is asked for scores.
        let scores = if self.params.n_bags > 1 { Vec::new() } else { self.scores };
        Bag { parts, scores }
    }

    /// The features that the next tree may ask, and those that one may ask that learns from all rows if
    /// the rows and features drawn tell nothing: the first of these sets that tells anything.
    fn features(&self, seed: u64) -> (Vec<usize>, Vec<Vec<usize>>) {
        let is_partial = self.draws.are_partial();
        if let Terms::Pairs(pairs) = self.terms {
            // A tree takes the pair whose first question gains most. As a pair may tell nothing by
            // that alone, those that tell more than chance have every other tree, in turn.
            let mut all = pairs.pairs.concat();
            all.sort_unstable();
            all.dedup();
            let round = self.trees.len() - self.n_begun;
            if round % 2 == 1 && pairs.n_above_chance > 0 {
                let turn = round / 2 % pairs.n_above_chance;
                return (pairs.pairs[turn].to_vec(), vec![all]);
            }
            let others = if is_partial { vec![all.clone()] } else { Vec::new() };
            return (all, others);
        }
        let all = || (0..self.data.columns.n_features()).collect();
        (self.draws.features(seed), if is_partial { vec![all()] } else { Vec::new() })
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

    /// Runs rounds until this series has so many, or nothing is left to learn.
    pub(super) fn run_until(&mut self, n_rounds: usize) -> Result<(), RankError> {
        let mut memory = self.memory.take().unwrap_or_else(|| RoundMemory {
            rows: TreeRows::new(self.rows.are_equal() && self.params.loss.is_bounded()),
            others: Vec::new(),
            columns: CodeColumns::new(self.rows),
            grow: GrowMemory::default(),
        });
        let found = self.run_with(n_rounds, &mut memory);
        self.memory = Some(memory);
        found
    }

    fn run_with(&mut self, n_rounds: usize, memory: &mut RoundMemory) -> Result<(), RankError> {
        let RoundMemory { rows, others, columns, grow } = memory;
        while self.goes_on() && self.n_done() < n_rounds {
            self.data.interrupt.check()?;
            let at = self.params.loss.at(&self.scores, self.rows, self.params.max_fpr);
            let seed = mix(self.seed ^ mix(self.trees.len() as u64));
            self.draws.rows(seed, &mut rows.rows, others);
            self.differentiate(&at, rows);
            let (features, instead) = self.features(seed);
            let mut grown = self.grow(rows, columns, grow, features, seed)?;
            for features in instead {
                if grown.leaves.len() > 1 {
                    break;
                }
                rows.rows.clear();
                rows.rows.extend_from_slice(self.rows.training());
                others.clear();
                self.differentiate(&at, rows);
                grown = self.grow(rows, columns, grow, features, seed)?;
            }
            let largest = grown.tree.largest_value();
            if grown.leaves.len() == 1 || self.largest + largest > LARGEST_SUM {
                self.is_complete = true;
                break;
            }
            self.largest += largest;
            self.update(&grown, &rows.rows, others)?;
            self.trees.push(grown.tree);
            self.measure()?;
        }
        Ok(())
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
            layout: Layout::new(&self.rows.binned, self.rows.rates.with_rates(features)),
            criterion: &self.criterion,
            max_leaves: self.max_leaves,
            max_depth: self.params.max_depth,
            interactions: self.groups.as_deref(),
            rate: self.rate,
            seed,
            raw_test: &|test| {
                self.rows.rates.raw_test(test).unwrap_or_else(|| self.data.raw_test(test))
            },
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
            let tree = &grown.tree;
            held_out.follow(&self.scores, |columns, scores| tree.add_values(columns, scores))?;
        }
        Ok(())
    }

    /// Keeps the first rounds only, of all series.
    pub(super) fn cut(&mut self, n_rounds: usize) -> Result<(), RankError> {
        if n_rounds >= self.trees.len() {
            return Ok(());
        }
        let cut = self.trees.split_off(n_rounds);
        let mut taken = vec![0.0; self.scores.len()];
        for tree in &cut {
            self.rows.add_values(tree, self.data.columns, &mut taken)?;
        }
        // Values are exact, so that subtracting them restores the earlier scores.
        self.scores.iter_mut().zip(taken).for_each(|(score, taken)| *score -= taken);
        if let Some(held_out) = &mut self.held_out {
            held_out.values.truncate(n_rounds);
            held_out.follow(&self.scores, |columns, scores| {
                let mut taken = vec![0.0; scores.len()];
                for tree in &cut {
                    tree.add_values(columns, &mut taken)?;
                }
                scores.iter_mut().zip(taken).for_each(|(score, taken)| *score -= taken);
                Ok(())
            })?;
        }
        Ok(())
    }
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
