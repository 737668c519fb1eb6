//! The rows of a fit in memory: the training rows of each bag, and its held-out rows.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::bags::{BagFit, RoundTerms, bag_seed};
use super::best_split::{BestSplit, SearchMemory};
use super::code_columns::CodeColumns;
use super::code_tree::CodeTree;
use super::draws::RowDraws;
use super::fit_data::{Data, GradientExtras};
use super::fit_rows::{CHUNK_ROWS, FitRows, RowMass};
use super::grow::{GradientGrower, GrowNode, GrowingTree, Parted, Root, TreePlan, TreeSource};
use super::grown::Grown;
use super::held_out::{HeldOut, HeldOutSource};
use super::held_out_params::{GradientRefit, HeldOutRows};
use super::histogram::{BinSums, HistogramMemory};
use super::loss_of_rows::LossAt;
use super::model::GradientBoosted;
use super::pair_merit::{MeritSums, StepSums, newton_steps};
use super::pair_steps::PairSteps;
use super::params::GradientParams;
use super::sides::Sides;
use super::source::{BagSource, FitSource, NextTree};
use super::split_criterion::NodeToSplit;
use super::sums::{LeafGradients, UnitSums};
use super::tree::GradientTree;
use super::tree_rows::{Derivatives, TreeRows};
use crate::data::{CodeTest, Column, Columns, FixedWeights, Folds, Labels, TwoParts, hold_out};
use crate::tree::Cuts;
use crate::{Interrupt, RankError, parallel};

/// The rows of a fit in memory.
pub(super) struct MemoryFit<'a> {
    pub(super) data: Data<'a>,
    pub(super) given: &'a GradientExtras<'a>,
    /// Pairs of features whose pairs of categories trees may test, once chosen.
    pairs: OnceLock<Vec<[usize; 2]>>,
}

/// The rows of a bag.
pub(super) struct BagRows<'a> {
    /// Seed of the bag.
    seed: u64,
    /// Its training rows.
    pub(super) rows: Arc<FitRows<'a>>,
    /// Its held-out rows.
    held_out: Option<Judges<'a>>,
}

/// Held-out rows of a bag.
#[derive(Clone)]
enum Judges<'a> {
    /// Rows of the fit.
    Inside(Arc<[u32]>),
    /// The validation rows that were given.
    Given((&'a Columns<'a>, &'a Labels<'a>)),
}

/// The training rows of a bag, ascending, and its held-out rows.
type DealtBag<'a> = (Arc<[u32]>, Option<Judges<'a>>);

impl<'a> MemoryFit<'a> {
    pub(super) fn new(data: Data<'a>, given: &'a GradientExtras<'a>) -> Self {
        Self { data, given, pairs: OnceLock::new() }
    }

    fn dealt(&self, params: &GradientParams) -> Result<Vec<DealtBag<'a>>, RankError> {
        let Data { columns, labels, interrupt, .. } = self.data;
        let all: Arc<[u32]> = labels.rows().into();
        let of_all = |judges: Option<Judges<'a>>| vec![(Arc::clone(&all), judges); params.n_bags];
        let Some(stopping) = &params.held_out else { return Ok(of_all(None)) };
        if let Some(validation) = self.given.validation {
            return Ok(of_all(Some(Judges::Given(validation))));
        }
        match stopping.rows {
            HeldOutRows::Share(share) => {
                parallel::try_map((0..params.n_bags).collect(), |number| {
                    let seed = bag_seed(params.seed, number);
                    let parts = hold_out(columns, labels, share, seed, interrupt)?;
                    Ok(parts.map_or((Arc::clone(&all), None), |parts| {
                        (parts.kept.into(), Some(Judges::Inside(parts.held_out.into())))
                    }))
                })
            }
            HeldOutRows::Fold => {
                let dealt;
                let folds = if let Some(folds) = self.given.folds {
                    folds
                } else {
                    let n_folds = params.n_bags.min(usize::from(u16::MAX) - 1) as u16;
                    dealt = Folds::deal(columns, labels, n_folds, params.seed, interrupt)?;
                    &dealt
                };
                if folds.n_folds < 2 {
                    return Ok(of_all(None));
                }
                let of_bag = |number: usize| {
                    // If there are fewer folds than bags, several bags leave out the same fold.
                    let fold = (number % usize::from(folds.n_folds)) as u16;
                    let TwoParts { kept, held_out } = folds.parts(labels, fold)?;
                    Ok((kept.into(), Some(Judges::Inside(held_out.into()))))
                };
                (0..params.n_bags).map(of_bag).collect()
            }
        }
    }

    /// The rows of a bag, with columns of the rates of some pairs of features.
    fn coded(
        &self,
        params: &GradientParams,
        seed: u64,
        (training, held_out): DealtBag<'a>,
        pairs: &[[usize; 2]],
    ) -> Result<BagRows<'a>, RankError> {
        let rows = Arc::new(self.data.rows(params, seed, training, pairs)?);
        Ok(BagRows { seed, rows, held_out })
    }

    fn with_rows(
        &self,
        params: &GradientParams,
        dealt: Vec<DealtBag<'a>>,
        pairs: &[[usize; 2]],
    ) -> Result<Vec<BagRows<'a>>, RankError> {
        let dealt = dealt.into_iter().enumerate().collect();
        parallel::try_map(dealt, |(number, bag)| {
            self.coded(params, bag_seed(params.seed, number), bag, pairs)
        })
    }

    /// The held-out rows of a bag, if there are any.
    fn held_out(&self, bag: &BagRows<'a>) -> Option<HeldOut<'a>> {
        let labels = self.data.labels;
        bag.held_out.as_ref().map(|judges| match judges {
            Judges::Inside(rows) => {
                HeldOut::new(HeldOutSource::Inside(rows.to_vec()), rows, labels)
            }
            Judges::Given((columns, labels)) => {
                let rows: Vec<u32> = (0..labels.n_rows() as u32).collect();
                HeldOut::new(HeldOutSource::Outside(columns), &rows, labels)
            }
        })
    }
}

impl<'s> FitSource for MemoryFit<'s> {
    type Bag = MemoryBag<'s>;
    type Dealt = BagRows<'s>;

    fn n_rows(&self) -> u64 {
        self.data.labels.total().rows
    }

    fn interrupt(&self) -> &Interrupt {
        self.data.interrupt
    }

    fn deal(&self, params: &GradientParams) -> Result<Vec<BagRows<'s>>, RankError> {
        self.with_rows(params, self.dealt(params)?, &[])
    }

    fn deal_all(&self, params: &GradientParams) -> Result<Vec<BagRows<'s>>, RankError> {
        let all: Arc<[u32]> = self.data.labels.rows().into();
        let pairs = self.pairs.get().map_or(&[][..], Vec::as_slice);
        self.with_rows(params, vec![(all, None); params.n_bags], pairs)
    }

    fn goes_on(&self) -> bool {
        self.given.earlier.is_some()
    }

    fn n_levels(&self) -> Vec<Option<u32>> {
        self.data.columns.n_levels()
    }

    fn has_held_out(&self, bag: &BagRows<'s>) -> bool {
        bag.held_out.is_some()
    }

    fn recoded(
        &self,
        params: &GradientParams,
        dealt: &[BagRows<'s>],
        pairs: &[[usize; 2]],
    ) -> Result<Vec<BagRows<'s>>, RankError> {
        parallel::try_map(dealt.iter().collect(), |bag: &BagRows<'s>| {
            let rows = (Arc::clone(bag.rows.training()), bag.held_out.clone());
            self.coded(params, bag.seed, rows, pairs)
        })
    }

    fn set_pairs(&self, pairs: Vec<[usize; 2]>) {
        self.pairs.get_or_init(|| pairs);
    }

    fn gain(
        &self,
        bag: &BagRows<'s>,
        before: &Scores,
        after: &Scores,
    ) -> Result<[f64; 2], RankError> {
        let held_out = self.held_out(bag).expect("rows are held out");
        Ok(held_out.gain(before.of_held_out(), after.of_held_out()))
    }

    fn merits(
        &self,
        bag: &BagRows<'s>,
        state: &Scores,
        pairs: &[[usize; 2]],
    ) -> Result<Vec<f64>, RankError> {
        let held_out = self.held_out(bag).expect("rows are held out");
        let columns = self.data.columns;
        Ok(parallel::map(pairs.to_vec(), |pair: [usize; 2]| {
            let steps = newton_step(pair, columns, &bag.rows, &state.of_all);
            merit(pair, &steps, columns, state.of_held_out(), &held_out)
        }))
    }

    fn replay(&self, bags: &mut [BagFit<'_, MemoryBag<'s>>]) -> Result<(), RankError> {
        match (bags, self.given.earlier) {
            ([bag], Some(earlier)) => bag.replay(earlier),
            _ => Ok(()),
        }
    }

    fn begin<'a>(
        &'a self,
        params: &'a GradientParams,
        dealt: &[BagRows<'s>],
        terms: RoundTerms<'a>,
    ) -> Result<Vec<BagFit<'a, MemoryBag<'s>>>, RankError> {
        let spare = Arc::new(SpareMemory::default());
        parallel::try_map(dealt.iter().collect(), |bag: &BagRows<'s>| {
            let (rows, held_out) = (Arc::clone(&bag.rows), self.held_out(bag));
            let spare = Arc::clone(&spare);
            let source = MemoryBag::new(self.data, params, bag.seed, rows, held_out, spare)?;
            Ok(BagFit::new(source, params, bag.seed, terms, self.data.interrupt))
        })
    }
}

/// Rows whose derivatives are computed at a time.
pub(super) const BLOCK_ROWS: usize = 512;

/// The rows of a bag in memory.
pub(super) struct MemoryBag<'a> {
    data: Data<'a>,
    params: GradientParams,
    rows: Arc<FitRows<'a>>,
    draws: RowDraws,
    held_out: Option<HeldOut<'a>>,
    /// The trees, if the values of their leaves are to be set again.
    codes: Vec<CodeTree>,
    /// All rows, while the values of leaves are set again.
    refit: RefitRows,
    /// The score of every row of the sample, in the training subset or not.
    pub(super) scores: Vec<f64>,
    /// Rows outside its training rows: held out, or without weight.
    outside: Vec<u32>,
    columns: CodeColumns,
    /// The rows of the last tree, until they have its values.
    memory: Option<RoundMemory>,
    spare: Arc<SpareMemory>,
}

/// Buffers of a round.
struct RoundMemory {
    rows: TreeRows,
    /// Training rows that are not drawn for the tree.
    others: Vec<u32>,
    bins: HistogramMemory,
}

/// Buffers of rounds that are over. A bag holds some only while it grows a tree, so that there are
/// no more than bags that grow at once.
#[derive(Default)]
pub(super) struct SpareMemory(Mutex<Vec<RoundMemory>>);

impl SpareMemory {
    fn lock(&self) -> MutexGuard<'_, Vec<RoundMemory>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Buffers for derivatives of one form.
    fn take(&self, are_packed: bool) -> RoundMemory {
        let spare = self.lock().pop();
        match spare {
            Some(memory) if memory.rows.are_packed() == are_packed => memory,
            _ => RoundMemory {
                rows: TreeRows::new(are_packed),
                others: Vec::new(),
                bins: HistogramMemory::default(),
            },
        }
    }

    fn give_back(&self, memory: RoundMemory) {
        self.lock().push(memory);
    }

    fn clear(&self) {
        self.lock().clear();
    }
}

/// All rows, while the values of leaves are set again.
#[derive(Default)]
struct RefitRows {
    scores: Vec<f64>,
    /// The number of the leaf of each in the last tree.
    leaves: Vec<u32>,
}

/// The scores of a bag after some rounds.
pub(super) struct Scores {
    /// Scores of all rows.
    pub(super) of_all: Vec<f64>,
    of_held_out: Option<Vec<f64>>,
    codes: Vec<CodeTree>,
}

impl<'a> MemoryBag<'a> {
    pub(super) fn new(
        data: Data<'a>,
        params: &GradientParams,
        seed: u64,
        rows: Arc<FitRows<'a>>,
        held_out: Option<HeldOut<'a>>,
        spare: Arc<SpareMemory>,
    ) -> Result<Self, RankError> {
        let training = Arc::clone(rows.training());
        let n_rows = data.labels.n_rows();
        Ok(Self {
            data,
            params: params.clone(),
            outside: others(&training, n_rows),
            draws: RowDraws::new(data.columns, training, params, seed, data.interrupt)?,
            columns: CodeColumns::new(&rows),
            rows,
            held_out,
            codes: Vec::new(),
            refit: RefitRows::default(),
            scores: vec![0.0; n_rows],
            memory: None,
            spare,
        })
    }

    /// Adds the values of a tree of an earlier fit. Returns the measure on held-out rows.
    pub(super) fn replay(&mut self, tree: &GradientTree) -> Result<Option<f64>, RankError> {
        self.rows.add_values(tree, self.data.columns, &mut self.scores)?;
        self.follow(tree)?;
        self.measure()
    }

    /// Measure on the held-out rows.
    fn measure(&self) -> Result<Option<f64>, RankError> {
        let Some((held_out, stopping)) = self.held_out.as_ref().zip(self.params.held_out) else {
            return Ok(None);
        };
        held_out.measure(stopping.measure, self.params.loss, self.params.max_fpr).map(Some)
    }

    /// Updates the scores of the held-out rows by one more tree.
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
        columns: &mut CodeColumns,
    ) -> Result<Grown, RankError> {
        let RoundMemory { rows, others, bins } = memory;
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
        let grower = GradientGrower::new(plan, binned.features(), rates, &raw_test);
        grower.grow(&mut MemoryTree { data: &self.rows, rows, columns, memory: bins })
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
        of: impl Fn(u32, UnitSums) -> T + Sync,
    ) {
        let chunks = rows.chunks(CHUNK_ROWS).zip(places.chunks_mut(CHUNK_ROWS)).collect();
        parallel::map(chunks, |(rows, places): (&[u32], &mut [T])| {
            fill(at, (&self.scores, self.rows.positive()), rows, places, &of);
        });
    }

    /// Adds the values of a tree to all scores; `rows` are those it was grown on, in the order of
    /// its leaves, and `others` the other training rows.
    fn update(&mut self, grown: &Grown, codes: &CodeTree, rows: &[u32], others: &[u32]) {
        let walk = codes.ready(self.rows.binned.features());
        let (binned, outside) = (&self.rows.binned, &self.outside[..]);
        let chunks = self.scores.chunks_mut(CHUNK_ROWS).enumerate().collect();
        parallel::map(chunks, |(chunk, scores): (usize, &mut [f64])| {
            let start = (chunk * CHUNK_ROWS) as u32;
            let end = start + scores.len() as u32;
            // A split keeps the order of its rows, so that those of each leaf ascend: a task finds
            // the rows of its chunk by bisection, and no two tasks write to the same scores.
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
    type Line<'l> = ();

    fn total(&self) -> RowMass {
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

    fn grow(&mut self, (): (), plan: TreePlan<'_>, draws: bool) -> Result<Grown, RankError> {
        let are_packed = self.rows.are_equal() && self.params.loss.is_bounded();
        let mut memory = self.memory.take().unwrap_or_else(|| self.spare.take(are_packed));
        let mut columns = std::mem::take(&mut self.columns);
        let grown = self.grow_with(plan, draws, &mut memory, &mut columns);
        (self.memory, self.columns) = (Some(memory), columns);
        grown
    }

    fn add(&mut self, (): (), grown: Grown, _: NextTree) -> Result<Option<f64>, RankError> {
        let codes = CodeTree::of(&grown);
        if let Some(memory) = self.memory.take() {
            self.update(&grown, &codes, &memory.rows.rows, &memory.others);
            self.spare.give_back(memory);
        }
        if self.params.refit() == GradientRefit::Leaves {
            self.codes.push(codes);
        }
        self.follow(&grown.tree)?;
        self.measure()
    }

    fn take_off(&mut self, trees: &[GradientTree]) -> Result<(), RankError> {
        self.codes.truncate(self.codes.len().saturating_sub(trees.len()));
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

    fn total_of_all(&self, (): ()) -> Result<RowMass, RankError> {
        Ok(self.rows.total_of(&self.data.labels.rows()))
    }

    fn restart(&mut self, score: f64) {
        self.memory = None;
        self.spare.clear();
        let n_rows = self.scores.len();
        // Only the state of a single bag is of use later.
        self.refit.scores =
            if self.params.n_bags == 1 { Vec::new() } else { std::mem::take(&mut self.scores) };
        self.refit.scores.clear();
        self.refit.scores.resize(n_rows, score);
        self.refit.leaves = vec![0; n_rows];
    }

    fn leaf_sums(&mut self, (): (), number: usize) -> Result<Vec<LeafGradients>, RankError> {
        let (tree, rows) = (&self.codes[number], &self.rows);
        let walk = tree.ready(rows.binned.features());
        let units = self.data.labels.weights().map(FixedWeights::units);
        let RefitRows { scores, leaves } = &mut self.refit;
        let of_chunk = |(chunk, (scores, leaves)): (usize, (&[f64], &mut [u32]))| {
            let mut sums = vec![LeafGradients::default(); tree.n_leaves()];
            let mut found = [(0.0, 0.0); BLOCK_ROWS];
            let starts = (chunk * CHUNK_ROWS..).step_by(BLOCK_ROWS);
            let blocks = scores.chunks(BLOCK_ROWS).zip(leaves.chunks_mut(BLOCK_ROWS));
            for (start, (scores, leaves)) in starts.zip(blocks) {
                let n = scores.len();
                LossAt::Log.fill(scores, &rows.positive()[start..start + n], &mut found[..n]);
                for ((row, of_row), &(gradient, hessian)) in (start..).zip(leaves).zip(&found) {
                    let counts = units.is_none_or(|units| units[row] > 0);
                    let mass = if counts { rows.mass(row) } else { 0 };
                    let leaf = walk.leaf(&rows.binned, row as u32).0;
                    *of_row = leaf as u32;
                    let derivatives = UnitSums::of(gradient, hessian).times(mass as i64);
                    sums[leaf].merge(LeafGradients { sums: derivatives, mass });
                }
            }
            sums
        };
        let chunks = scores.chunks(CHUNK_ROWS).zip(leaves.chunks_mut(CHUNK_ROWS)).enumerate();
        let mut all = vec![LeafGradients::default(); tree.n_leaves()];
        for sums in parallel::map(chunks.collect(), of_chunk) {
            all.iter_mut().zip(sums).for_each(|(all, more)| all.merge(more));
        }
        Ok(all)
    }

    fn add_leaves(&mut self, _: usize, values: &[f64]) {
        let RefitRows { scores, leaves } = &mut self.refit;
        for (score, &leaf) in scores.iter_mut().zip(&*leaves) {
            *score += values[leaf as usize];
        }
    }

    fn into_state(self) -> Scores {
        let of_held_out = self.held_out.map(|held_out| held_out.scores);
        Scores { of_all: self.scores, of_held_out, codes: self.codes }
    }

    fn take_up(&mut self, state: Scores) {
        (self.scores, self.codes) = (state.of_all, state.codes);
        if let (Some(held_out), Some(scores)) = (&mut self.held_out, state.of_held_out) {
            held_out.scores = scores;
        }
    }

    fn side_by_side<'b>(
        bags: Vec<&mut BagFit<'b, Self>>,
        work: impl Fn(&mut BagFit<'b, Self>, ()) -> Result<(), RankError> + Sync,
    ) -> Result<(), RankError> {
        parallel::try_map(bags, |bag| work(bag, ())).map(drop)
    }
}

impl BagFit<'_, MemoryBag<'_>> {
    /// Starts with the rounds of an earlier model, which count as rounds of this series.
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
    of: &impl Fn(u32, UnitSums) -> T,
) {
    let mut of_rows = [0.0; BLOCK_ROWS];
    let mut classes = [false; BLOCK_ROWS];
    let mut found = [(0.0, 0.0); BLOCK_ROWS];
    for (rows, places) in rows.chunks(BLOCK_ROWS).zip(places.chunks_mut(BLOCK_ROWS)) {
        let n = rows.len();
        // Gathered first, so that the loop over the losses has no look-ups and is vectorised.
        for ((score, class), &row) in of_rows.iter_mut().zip(&mut classes).zip(rows) {
            (*score, *class) = (scores[row as usize], positive[row as usize]);
        }
        at.fill(&of_rows[..n], &classes[..n], &mut found[..n]);
        for ((place, &row), &(gradient, hessian)) in places.iter_mut().zip(rows).zip(&found) {
            *place = of(row, UnitSums::of(gradient, hessian));
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

/// A node whose rows are fewer than its bins, divided by this, is searched row by row.
const FEW: usize = 3;

/// The same for drawn cuts, which need only passes over the rows.
const FEW_TO_DRAW: usize = 1;

/// Number of searches per tree for open leaves that will not be split.
const LOOKS: usize = 32;

/// The rows of a tree; at the end they are in the order of its leaves.
pub(super) struct MemoryTree<'t, 'a> {
    pub(super) data: &'t FitRows<'a>,
    /// Ascending at first.
    pub(super) rows: &'t mut TreeRows,
    pub(super) columns: &'t mut CodeColumns,
    pub(super) memory: &'t mut HistogramMemory,
}

/// Data kept for a node.
#[derive(Debug)]
pub(super) struct MemoryNode {
    rows: Range<usize>,
    /// Sums by bin, if they are kept.
    bins: Option<BinSums>,
    /// Whether the sides of its best split have enough rows.
    is_checked: bool,
}

type MemoryGrowNode = GrowNode<MemoryNode>;

impl TreeSource for MemoryTree<'_, '_> {
    type Kept = MemoryNode;

    fn root(&mut self, grower: &GradientGrower<'_>) -> Result<Root<MemoryNode>, RankError> {
        let rows = 0..self.rows.rows.len();
        let is_checked = self.is_few(grower, &rows);
        let bins = if is_checked { None } else { Some(self.count(grower, &rows)?) };
        let sums = self.total(grower, bins.as_ref());
        let n_rows = self.data.count_all(&self.rows.rows);
        Ok(Root { kept: MemoryNode { rows, bins, is_checked }, n_rows, sums })
    }

    fn best(
        &self,
        grower: &GradientGrower<'_>,
        node: &MemoryGrowNode,
        number: usize,
        memory: &mut SearchMemory,
    ) -> Option<BestSplit> {
        let search = FeatureSearch {
            grower,
            node,
            searched: grower.node(node, number),
            data: self.data,
            rows: self.rows,
        };
        grower.best_of(memory, |memory, place| search.best(place, memory))
    }

    fn part(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<MemoryNode>,
        number: usize,
        split: &BestSplit,
    ) -> Result<Parted<MemoryNode>, RankError> {
        let node = &mut leaves.nodes[number];
        let range = node.kept.rows.clone();
        let sides = Sides::new(&split.test, grower.features);
        self.columns.count(split.test.feature, range.len(), self.data);
        let (n_left, left_count) = self.rows.part(range.clone(), &sides, self.data, self.columns);
        let least = left_count.min(node.n_rows - left_count);
        if least < grower.plan.criterion.min_rows && !node.kept.is_checked {
            // Sums do not give the number of rows: this node is tried again.
            self.rows.merge(range, n_left);
            return Ok(Parted::TooFew(self.best_with_counts(grower, node, number)?));
        }
        let middle = range.start + n_left;
        let side = |rows| MemoryNode { rows, bins: None, is_checked: false };
        Ok(Parted::Sides([
            (side(range.start..middle), left_count),
            (side(middle..range.end), node.n_rows - left_count),
        ]))
    }

    /// Counts the smaller child; the other is the difference.
    fn count_children(
        &mut self,
        grower: &GradientGrower<'_>,
        leaves: &mut GrowingTree<MemoryNode>,
        parent: usize,
        children: [usize; 2],
    ) -> Result<(), RankError> {
        let nodes = &mut leaves.nodes;
        let of_parent = nodes[parent].kept.bins.take();
        for child in children {
            nodes[child].kept.is_checked = self.is_few(grower, &nodes[child].kept.rows);
        }
        let needs_bins = |node: &MemoryGrowNode| !node.kept.is_checked && grower.may_split(node);
        let [left, right] = children;
        let (small, large) = if nodes[left].kept.rows.len() <= nodes[right].kept.rows.len() {
            (left, right)
        } else {
            (right, left)
        };
        // The sums of the larger child are those of the parent less these: half of the rows at most
        // are counted, and integers leave no residue.
        let of_small = if needs_bins(&nodes[small]) || needs_bins(&nodes[large]) {
            Some(self.count(grower, &nodes[small].kept.rows)?)
        } else {
            None
        };
        match (of_parent, &of_small) {
            (Some(bins), Some(of_small)) if needs_bins(&nodes[large]) => {
                let n_rows = nodes[large].kept.rows.len();
                let of_large = bins.without(of_small, n_rows, self.memory);
                nodes[large].kept.bins = Some(of_large);
            }
            (None, _) if needs_bins(&nodes[large]) => {
                nodes[large].kept.bins = Some(self.count(grower, &nodes[large].kept.rows)?);
            }
            (of_parent, _) => self.memory.take_back(of_parent),
        }
        if needs_bins(&nodes[small]) {
            nodes[small].kept.bins = of_small;
        } else {
            self.memory.take_back(of_small);
        }
        Ok(())
    }

    /// Drops the sums of leaves that will not be split before the tree is full: they take most of
    /// the memory of a fit to some ten thousand rows. If one is split after all, it is counted
    /// again.
    fn drop_unneeded(&mut self, grower: &GradientGrower<'_>, leaves: &mut GrowingTree<MemoryNode>) {
        let nodes = &mut leaves.nodes;
        if !grower.keeps_sums() {
            for child in nodes.len() - 2..nodes.len() {
                nodes[child].kept.bins = None;
            }
        }
        let n_splits = grower.plan.max_leaves - leaves.n_leaves;
        if leaves.open.len() <= n_splits
            || !n_splits.is_multiple_of(grower.plan.max_leaves.div_ceil(LOOKS))
        {
            return;
        }
        for number in leaves.open_numbers().skip(n_splits) {
            self.memory.take_back(leaves.nodes[number].kept.bins.take());
        }
    }

    fn leaf(&self, node: &MemoryGrowNode) -> (Range<usize>, f64) {
        let rows = node.kept.rows.clone();
        let mass = self.data.mass_of(&self.rows.rows[rows.clone()]);
        (rows, mass as f64 * self.data.mass_unit())
    }

    fn end(&mut self, leaves: &mut GrowingTree<MemoryNode>) {
        for node in &mut leaves.nodes {
            self.memory.take_back(node.kept.bins.take());
        }
    }
}

impl MemoryTree<'_, '_> {
    /// Whether a node has so few rows that they are not counted by bin.
    fn is_few(&self, grower: &GradientGrower<'_>, range: &Range<usize>) -> bool {
        let n_features = grower.layout.features.len();
        let few = if grower.plan.criterion.cuts == Cuts::Random { FEW_TO_DRAW } else { FEW };
        self.rows.are_packed() && few * range.len() * n_features < grower.layout.n_bins()
    }

    fn count(
        &mut self,
        grower: &GradientGrower<'_>,
        range: &Range<usize>,
    ) -> Result<BinSums, RankError> {
        let rows = self.rows.of(range.clone());
        grower.layout.sums(&self.data.binned, &rows, self.memory, grower.plan.interrupt)
    }

    /// Sums of all rows.
    fn total(&self, grower: &GradientGrower<'_>, bins: Option<&BinSums>) -> UnitSums {
        let layout = &grower.layout;
        if layout.features.is_empty() {
            return UnitSums::default();
        }
        match (bins, &self.rows.derivatives) {
            (Some(BinSums::Packed(bins)), _) => {
                layout.of(0, bins).iter().map(|bin| bin.sums()).sum()
            }
            (Some(BinSums::Plain(bins)), _) => layout.of(0, bins).iter().copied().sum(),
            (None, Derivatives::Packed(packed)) => packed.iter().map(|word| word.sums()).sum(),
            (None, Derivatives::Plain(plain)) => plain.iter().copied().sum(),
        }
    }

    /// The best split of a node whose sides have enough rows.
    fn best_with_counts(
        &mut self,
        grower: &GradientGrower<'_>,
        node: &mut MemoryGrowNode,
        number: usize,
    ) -> Result<Option<BestSplit>, RankError> {
        let of_node = self.rows.of(node.kept.rows.clone());
        let counts = grower.layout.counts(self.data, of_node.rows, grower.plan.interrupt)?;
        if node.kept.bins.is_none() {
            node.kept.bins = Some(self.count(grower, &node.kept.rows)?);
        }
        node.kept.is_checked = true;
        let (layout, searched) = (&grower.layout, grower.node(node, number));
        Ok(grower.best_of(&mut SearchMemory::default(), |_, place| {
            let feature = layout.features[place];
            if !grower.may_ask(&node.tested, feature) {
                return None;
            }
            let counts = Some(layout.of(place, &counts));
            let unpacked: Vec<UnitSums>;
            let sums = match node.kept.bins.as_ref()? {
                BinSums::Plain(bins) => layout.of(place, bins),
                BinSums::Packed(bins) => {
                    let packed = layout.of(place, bins);
                    unpacked = packed.iter().map(|packed| packed.sums()).collect();
                    &unpacked
                }
            };
            let bins = &grower.features[feature];
            grower.plan.criterion.best_of_feature(&searched, feature, bins, sums, counts)
        }))
    }
}

/// The search for the best split of a node, feature by feature.
struct FeatureSearch<'s, 'a> {
    grower: &'s GradientGrower<'s>,
    node: &'s MemoryGrowNode,
    /// The same node in the form that is searched.
    searched: NodeToSplit,
    data: &'s FitRows<'a>,
    rows: &'s TreeRows,
}

impl FeatureSearch<'_, '_> {
    /// The best split by the feature at a place.
    fn best(&self, place: usize, memory: &mut SearchMemory) -> Option<BestSplit> {
        let Self { grower, node, searched, data, rows } = self;
        let feature = grower.layout.features[place];
        if !grower.may_ask(&node.tested, feature) {
            return None;
        }
        let (criterion, of_feature) = (grower.plan.criterion, &grower.features[feature]);
        match &node.kept.bins {
            Some(BinSums::Packed(bins)) => {
                let bins = grower.layout.of(place, bins);
                criterion.best_of_packed(searched, feature, of_feature, bins, memory)
            }
            Some(BinSums::Plain(bins)) => {
                let bins = grower.layout.of(place, bins);
                criterion.best_of_feature(searched, feature, of_feature, bins, None)
            }
            None => {
                let rows = rows.of(node.kept.rows.clone());
                let Derivatives::Packed(words) = rows.derivatives else { return None };
                let code = |&row: &u32| data.binned.narrow_row(row as usize)[feature];
                let rows = rows.rows.iter().map(code).zip(words.iter().copied());
                criterion.best_of_rows(searched, feature, of_feature, rows, memory)
            }
        }
    }
}

impl Scores {
    /// The scores of the held-out rows.
    ///
    /// # Panics
    ///
    /// If none are held out.
    fn of_held_out(&self) -> &[f64] {
        self.of_held_out.as_ref().expect("rows are held out")
    }
}

/// The Newton step of each pair of categories on the training rows, in ascending order of the
/// pairs.
fn newton_step(
    pair: [usize; 2],
    columns: &Columns<'_>,
    rows: &FitRows<'_>,
    scores: &[f64],
) -> Vec<([u32; 2], f64)> {
    let levels = levels_of(pair, columns);
    let listed = rows.training().iter().map(|&row| row as usize);
    let mut listed: Vec<([u32; 2], usize)> =
        listed.filter_map(|row| levels(row).map(|levels| (levels, row))).collect();
    listed.sort_unstable();
    let (mut found, mut sums) = (Vec::new(), Vec::new());
    for of_pair in listed.chunk_by(|a, b| a.0 == b.0) {
        let mut of_levels = StepSums::default();
        for &(_, row) in of_pair {
            of_levels.add(scores[row], rows.positive()[row], rows.mass(row));
        }
        found.push(of_pair[0].0);
        sums.push(of_levels);
    }
    found.into_iter().zip(newton_steps(&sums, rows.total().n_rows)).collect()
}

/// Decrease of the loss of the held-out rows by the step, in standard deviations.
fn merit(
    pair: [usize; 2],
    steps: &[([u32; 2], f64)],
    columns: &Columns<'_>,
    scores: &[f64],
    held_out: &HeldOut<'_>,
) -> f64 {
    let levels = levels_of(pair, held_out.columns(columns));
    let mut sums = MeritSums::default();
    for (place, (&score, &positive)) in scores.iter().zip(held_out.positive()).enumerate() {
        let found = levels(held_out.row(place))
            .and_then(|levels| steps.binary_search_by_key(&levels, |(levels, _)| *levels).ok());
        if let Some(found) = found {
            sums.add(score, positive, held_out.mass(place), steps[found].1);
        }
    }
    sums.merit()
}

/// The categories of a row of two features; `None` if one is missing.
fn levels_of<'c>(
    pair: [usize; 2],
    columns: &'c Columns<'_>,
) -> impl Fn(usize) -> Option<[u32; 2]> + 'c {
    let [first, second] = pair.map(|feature| match columns[feature] {
        Column::Codes { codes, n_levels } => (codes, n_levels),
        _ => unreachable!("pairs are of categories"),
    });
    move |row| {
        let levels = [first.0[row], second.0[row]];
        (levels[0] < first.1 && levels[1] < second.1).then_some(levels)
    }
}
