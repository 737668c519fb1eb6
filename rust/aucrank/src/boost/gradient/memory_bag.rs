//! The rows of a bag in memory, with their scores.

use std::sync::Arc;

use super::bag_fit::BagFit;
use super::code_columns::CodeColumns;
use super::code_tree::Walk;
use super::draws::RowDraws;
use super::fit::Data;
use super::grow::{Grower, Grown, TreePlan};
use super::held_out::HeldOut;
use super::loss::LossAt;
use super::memory_tree::{GrowMemory, MemoryTree};
use super::model::GradientBoosted;
use super::pair_steps::PairSteps;
use super::params::GradientParams;
use super::rows::{CHUNK_ROWS, FitRows, Mass};
use super::source::{BagSource, NextTree, at_once};
use super::sums::Sums;
use super::tree::GradientTree;
use super::tree_rows::{Derivatives, TreeRows};
use crate::data::{CodeTest, Column};
use crate::{RankError, parallel};

/// Rows whose derivatives are computed at a time.
pub(super) const BLOCK_ROWS: usize = 512;

/// The rows of a bag in memory.
pub(super) struct MemoryBag<'a> {
    data: Data<'a>,
    params: GradientParams,
    rows: Arc<FitRows<'a>>,
    draws: RowDraws,
    held_out: Option<HeldOut<'a>>,
    /// The score of every row of the sample, in the training subset or not.
    pub(super) scores: Vec<f64>,
    /// The rows that it does not learn from: held out, or without weight.
    outside: Vec<u32>,
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

/// The scores of a bag after some rounds.
pub(super) struct Scores {
    /// Those of all rows.
    pub(super) of_all: Vec<f64>,
    pub(super) of_held_out: Option<Vec<f64>>,
}

impl<'a> MemoryBag<'a> {
    pub(super) fn new(
        data: Data<'a>,
        params: &GradientParams,
        seed: u64,
        rows: Arc<FitRows<'a>>,
        held_out: Option<HeldOut<'a>>,
    ) -> Result<Self, RankError> {
        let training = Arc::clone(rows.training());
        let n_rows = data.labels.n_rows();
        Ok(Self {
            data,
            params: params.clone(),
            outside: others(&training, n_rows),
            draws: RowDraws::new(data.columns, training, params, seed, data.interrupt)?,
            rows,
            held_out,
            scores: vec![0.0; n_rows],
            memory: None,
        })
    }

    /// Adds the values of a tree of an earlier fit. What the held-out rows say then.
    pub(super) fn replay(&mut self, tree: &GradientTree) -> Result<Option<f64>, RankError> {
        self.rows.add_values(tree, self.data.columns, &mut self.scores)?;
        self.follow(tree)?;
        self.measure()
    }

    /// What the held-out rows say.
    fn measure(&self) -> Result<Option<f64>, RankError> {
        let Some((held_out, asked)) = self.held_out.as_ref().zip(self.params.held_out) else {
            return Ok(None);
        };
        held_out.measure(asked.measure, self.params.loss, self.params.max_fpr).map(Some)
    }

    /// Brings the scores of the held-out rows to those after one more tree.
    fn follow(&mut self, tree: &GradientTree) -> Result<(), RankError> {
        let Some(held_out) = &mut self.held_out else { return Ok(()) };
        let pairs = self.rows.rates.pairs();
        held_out.follow(&self.scores, |columns, scores| tree.add_values(columns, pairs, scores))
    }

    fn grow_with(
        &self,
        plan: TreePlan<'_>,
        draws: bool,
        memory: &mut RoundMemory,
    ) -> Result<Grown, RankError> {
        let RoundMemory { rows, others, columns, grow } = memory;
        if draws {
            self.draws.rows(plan.seed, &mut rows.rows, others);
        } else {
            rows.rows.clear();
            rows.rows.extend_from_slice(self.rows.training());
            others.clear();
        }
        let at = self.params.loss.at(&self.scores, &self.rows, self.params.max_fpr);
        self.differentiate(&at, rows);
        let (data, FitRows { binned, rates, .. }) = (self.data, &*self.rows);
        let raw_test =
            |test: &CodeTest| rates.raw_test(test).unwrap_or_else(|| data.raw_test(test));
        let grower = Grower::new(plan, binned.features(), rates, &raw_test);
        at_once(grower.grow(&mut MemoryTree { data: &self.rows, rows, columns, memory: grow }))
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
        let chunks = rows.chunks(CHUNK_ROWS).zip(places.chunks_mut(CHUNK_ROWS)).collect();
        parallel::map(chunks, |(rows, places): (&[u32], &mut [T])| {
            fill(at, (&self.scores, self.rows.positive()), rows, places, &of);
        });
    }

    /// Adds the values of a tree to all scores; `rows` are those it was grown on, in the order of its
    /// leaves, and `others` the other training rows.
    fn update(&mut self, grown: &Grown, rows: &[u32], others: &[u32]) {
        let walk = Walk::new(grown, self.rows.binned.features());
        let (binned, outside) = (&self.rows.binned, &self.outside[..]);
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
                scores[(row - start) as usize] += walk.value(binned, row);
            }
        });
    }
}

impl BagSource for MemoryBag<'_> {
    type State = Scores;

    fn total(&self) -> Mass {
        self.rows.total()
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.data.columns.iter().map(Column::n_levels).collect()
    }

    fn pairs(&self) -> Vec<PairSteps> {
        self.rows.rates.pairs().to_vec()
    }

    fn start(&mut self, score: f64) {
        self.scores.fill(score);
        if let Some(held_out) = &mut self.held_out {
            held_out.scores.fill(score);
        }
    }

    fn has_held_out(&self) -> bool {
        self.held_out.is_some()
    }

    async fn grow(&mut self, plan: TreePlan<'_>, draws: bool) -> Result<Grown, RankError> {
        let mut memory = self.memory.take().unwrap_or_else(|| RoundMemory {
            rows: TreeRows::new(self.rows.are_equal() && self.params.loss.is_bounded()),
            others: Vec::new(),
            columns: CodeColumns::new(&self.rows),
            grow: GrowMemory::default(),
        });
        let grown = self.grow_with(plan, draws, &mut memory);
        self.memory = Some(memory);
        grown
    }

    async fn add(&mut self, grown: Grown, _next: NextTree) -> Result<Option<f64>, RankError> {
        if let Some(memory) = self.memory.take() {
            self.update(&grown, &memory.rows.rows, &memory.others);
            self.memory = Some(memory);
        }
        self.follow(&grown.tree)?;
        self.measure()
    }

    fn take_off(&mut self, trees: &[GradientTree]) -> Result<(), RankError> {
        let mut taken = vec![0.0; self.scores.len()];
        for tree in trees {
            self.rows.add_values(tree, self.data.columns, &mut taken)?;
        }
        // Values are exact, so that subtracting them restores the earlier scores.
        self.scores.iter_mut().zip(taken).for_each(|(score, taken)| *score -= taken);
        let Some(held_out) = &mut self.held_out else { return Ok(()) };
        let pairs = self.rows.rates.pairs();
        held_out.follow(&self.scores, |columns, scores| {
            let mut taken = vec![0.0; scores.len()];
            for tree in trees {
                tree.add_values(columns, pairs, &mut taken)?;
            }
            scores.iter_mut().zip(taken).for_each(|(score, taken)| *score -= taken);
            Ok(())
        })
    }

    fn into_state(self) -> Scores {
        Scores { of_all: self.scores, of_held_out: self.held_out.map(|held_out| held_out.scores) }
    }

    fn take_up(&mut self, state: Scores) {
        self.scores = state.of_all;
        if let (Some(held_out), Some(scores)) = (&mut self.held_out, state.of_held_out) {
            held_out.scores = scores;
        }
    }

    fn side_by_side<'b>(
        bags: Vec<&mut BagFit<'b, Self>>,
        work: impl AsyncFn(&mut BagFit<'b, Self>) -> Result<(), RankError> + Sync,
    ) -> Result<(), RankError> {
        parallel::try_map(bags, |bag| at_once(work(bag))).map(drop)
    }
}

impl BagFit<'_, MemoryBag<'_>> {
    /// Begins with the rounds of an earlier model, which count as those of this series.
    pub(super) fn replay(&mut self, earlier: &GradientBoosted) -> Result<(), RankError> {
        self.begin_at(earlier.start());
        for tree in earlier.trees() {
            self.interrupt.check()?;
            let value = self.source.replay(tree)?;
            self.push(tree.clone(), value);
        }
        Ok(())
    }
}

/// Computes the derivatives of some rows, given the scores and classes of all.
pub(super) fn fill<T>(
    at: &LossAt,
    (scores, positive): (&[f64], &[bool]),
    rows: &[u32],
    places: &mut [T],
    of: &impl Fn(u32, Sums) -> T,
) {
    let mut of_rows = [0.0; BLOCK_ROWS];
    let mut classes = [false; BLOCK_ROWS];
    let mut found = [(0.0, 0.0); BLOCK_ROWS];
    for (rows, places) in rows.chunks(BLOCK_ROWS).zip(places.chunks_mut(BLOCK_ROWS)) {
        let n = rows.len();
        for ((score, class), &row) in of_rows.iter_mut().zip(&mut classes).zip(rows) {
            (*score, *class) = (scores[row as usize], positive[row as usize]);
        }
        at.fill(&of_rows[..n], &classes[..n], &mut found[..n]);
        for ((place, &row), &(gradient, hessian)) in places.iter_mut().zip(rows).zip(&found) {
            *place = of(row, Sums::of(gradient, hessian));
        }
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
