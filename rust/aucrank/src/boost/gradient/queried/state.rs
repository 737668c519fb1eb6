//! The state that a part of the rows keeps for a fit, and its answers.

use std::ops::Range;
use std::sync::Arc;

use super::super::code_tree::CodeTree;
use super::super::fit_rows::MOST_MASS;
use super::super::gain::GainSums;
use super::super::histogram::BinLayout;
use super::super::loss::log_loss_units;
use super::super::loss_of_rows::LossAt;
use super::super::memory_fit::fill;
use super::super::pair_merit::{MeritSums, StepSums};
use super::super::sides::Sides;
use super::super::sums::{LeafGradients, PackedSums, UnitSums};
use super::super::tree_rows::{Derivatives, NodeRows};
use super::ask::{
    AskBag, AskMass, BagStart, BagStep, BagSums, BagWant, CellSums, LevelMap, MassSums, TreeDraw,
};
use super::trial::{AskTrial, PairStep, TrialSums, TrialWant, merge_equal};
use crate::data::{Binned, CellId, CellSplit, RowTally, seeded};
use crate::rows::{
    CodedRows, Kept, PartView, Question, RowFrame, SentSteps, Step, View, pair_of_row,
};
use crate::{Interrupt, RankError};

/// The rows of a part in a bag, after some steps.
#[derive(Debug)]
pub(crate) struct BagState {
    bag: Arc<BagStart>,
    /// Codes of the columns of rates.
    rates: Vec<Vec<u8>>,
    scores: Vec<f64>,
    /// The cells of the growing tree.
    cells: Option<TreeCells>,
}

impl Step for BagStep {
    /// `None` before the bag begins.
    type States = Option<BagState>;
}

/// The cells of a tree.
#[derive(Debug, Default)]
struct TreeCells {
    /// Row numbers; each cell is a run of them.
    order: Vec<u16>,
    cells: Vec<(CellId, Range<usize>)>,
}

/// Codes of the rows of a part, for all bags without columns of rates.
#[derive(Default)]
struct SharedCodes(Option<(LevelMap, Option<Arc<Binned>>)>);

/// The state of a bag, and the codes of its rows if they are not those of the holder.
type StateWithCodes = (BagState, Option<Arc<Binned>>);

/// Buffers for one cell at a time.
#[derive(Debug, Default)]
struct CellBuffers {
    rows: Vec<u32>,
    packed: Vec<PackedSums>,
    plain: Vec<UnitSums>,
    right: Vec<u16>,
}

/// The rows of a part, as a fit sees them.
#[derive(Clone, Copy)]
struct RowsOfPart<'a> {
    coded: &'a CodedRows,
    frame: &'a RowFrame,
    interrupt: &'a Interrupt,
}

impl<'a> RowsOfPart<'a> {
    fn new(part: &PartView<'a>, interrupt: &'a Interrupt) -> Self {
        Self { coded: part.coded(), frame: part.frame, interrupt }
    }
}

impl Question for AskMass {
    const NAME: &'static str = "mass";

    type Answer = MassSums;

    fn none(&self, _: &RowFrame) -> MassSums {
        MassSums::default()
    }

    fn add(
        &self,
        part: &PartView<'_>,
        _: &mut Kept<'_>,
        sums: &mut MassSums,
        _: &Interrupt,
    ) -> Result<(), RankError> {
        let tally = part.sums();
        for row in part.rows() {
            let of_row = tally.of(row as usize);
            sums.weight += of_row;
            let class = usize::from(part.positive()[row as usize]);
            sums.mass[class] += self.scale.mass(of_row.pos + of_row.neg);
        }
        Ok(())
    }
}

impl Question for AskBag {
    const NAME: &'static str = "bag";

    type Answer = BagSums;

    fn none(&self, _: &RowFrame) -> BagSums {
        BagSums::none(&self.want)
    }

    fn needs_hashes(&self, _: &View, _: &Kept<'_>) -> bool {
        let is_drawn = |step: &BagStep| matches!(step, BagStep::Begin(_) | BagStep::Draw(_));
        self.want.measures || self.steps.steps.iter().any(is_drawn)
    }

    fn add(
        &self,
        part: &PartView<'_>,
        kept: &mut Kept<'_>,
        sums: &mut BagSums,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let rows = RowsOfPart::new(part, interrupt);
        let Some((state, codes)) = BagState::after(&self.steps, rows, kept)? else { return Ok(()) };
        let codes = codes.as_deref().unwrap_or(&rows.coded.binned);
        state.add_sums(&self.want, codes, rows, kept.buffers(), sums)?;
        self.steps.keep(kept, Some(state));
        Ok(())
    }
}

impl Question for AskTrial {
    const NAME: &'static str = "trial";

    type Answer = TrialSums;

    fn none(&self, _: &RowFrame) -> TrialSums {
        TrialSums::none(&self.want)
    }

    fn needs_hashes(&self, _: &View, _: &Kept<'_>) -> bool {
        true
    }

    fn add(
        &self,
        part: &PartView<'_>,
        kept: &mut Kept<'_>,
        sums: &mut TrialSums,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let rows = RowsOfPart::new(part, interrupt);
        let Some((state, _)) = BagState::after(&self.steps, rows, kept)? else { return Ok(()) };
        match (&self.want, sums) {
            (TrialWant::Gain { shift, log, after }, TrialSums::Gain(sums)) => {
                let mut other = kept.of_log(*log);
                let found = BagState::after(after, rows, &mut other)?;
                let is_behind = found.is_none();
                if let Some((second, _)) = found {
                    state.add_gain(&second, *shift, rows, sums);
                    after.keep(&mut other, Some(second));
                }
                drop(other);
                if is_behind {
                    kept.fall_behind();
                }
            }
            (TrialWant::Steps(pairs), TrialSums::Steps(of_pairs)) => {
                for (&features, sums) in pairs.iter().zip(of_pairs) {
                    interrupt.check()?;
                    state.add_steps(features, rows, sums)?;
                }
            }
            (TrialWant::Merits(steps), TrialSums::Merits(of_pairs)) => {
                for (step, sums) in steps.iter().zip(of_pairs) {
                    interrupt.check()?;
                    state.add_merits(step, rows, sums)?;
                }
            }
            _ => return Err(bad("sums are of another question")),
        }
        self.steps.keep(kept, Some(state));
        Ok(())
    }
}

impl BagState {
    fn begin(bag: &Arc<BagStart>, rows: RowsOfPart<'_>) -> Result<Self, RankError> {
        let (rates, scores) = (bag.rate_codes(rows.coded)?, vec![bag.score; rows.coded.n_rows()]);
        Ok(Self { bag: Arc::clone(bag), rates, scores, cells: None })
    }

    /// The state after all steps; `None` if the part is behind.
    fn after(
        steps: &SentSteps<BagStep>,
        rows: RowsOfPart<'_>,
        kept: &mut Kept<'_>,
    ) -> Result<Option<StateWithCodes>, RankError> {
        let Some((known, steps)) = steps.missing(kept, || None) else { return Ok(None) };
        let (mut state, steps) = match (known, steps) {
            (Some(state), steps) => (state, steps),
            (None, [BagStep::Begin(bag), steps @ ..]) => (Self::begin(bag, rows)?, steps),
            (None, _) => return Err(bad("a bag does not begin")),
        };
        let own = state.codes(rows, kept)?;
        let codes = own.as_deref().unwrap_or(&rows.coded.binned);
        for step in steps {
            state.follow(step, codes, rows, kept.buffers())?;
        }
        Ok(Some((state, own)))
    }

    /// The codes of the rows; `None` if they are those of the holder.
    fn codes(
        &self,
        rows: RowsOfPart<'_>,
        kept: &mut Kept<'_>,
    ) -> Result<Option<Arc<Binned>>, RankError> {
        let new = || Ok(self.bag.codes(rows.coded, &self.rates)?.map(Arc::new));
        if !self.rates.is_empty() {
            return new();
        }
        let shared = &mut kept.of_part::<SharedCodes>().0;
        if let Some((_, codes)) = shared.as_ref().filter(|(levels, _)| *levels == self.bag.levels) {
            return Ok(codes.clone());
        }
        let codes = new()?;
        *shared = Some((self.bag.levels.clone(), codes.clone()));
        Ok(codes)
    }

    fn follow(
        &mut self,
        step: &BagStep,
        codes: &Binned,
        rows: RowsOfPart<'_>,
        buffers: &mut CellBuffers,
    ) -> Result<(), RankError> {
        match step {
            BagStep::Begin(_) => return Err(bad("a bag begins again")),
            BagStep::Draw(draw) => self.cells = Some(self.draw(*draw, rows)),
            BagStep::Split(split) => {
                let cells = self.cells.as_mut().ok_or_else(|| bad("there is no tree"))?;
                cells.split(split, codes, &mut buffers.right)?;
            }
            BagStep::Join { left, right, cell } => {
                let cells = self.cells.as_mut().ok_or_else(|| bad("there is no tree"))?;
                cells.join(*left, *right, *cell)?;
            }
            BagStep::Tree(tree) => {
                rows.interrupt.check()?;
                self.add_tree(tree, codes)?;
            }
        }
        Ok(())
    }

    /// The held-out rows, each with its weight in units.
    fn held_out<'r>(&'r self, rows: RowsOfPart<'r>) -> impl Iterator<Item = (usize, u64)> + 'r {
        let listed = self.bag.held_out.iter().flat_map(move |view| rows.coded.of_view(view));
        listed.map(move |row| {
            let row = row as usize;
            (row, rows.coded.units.get(row).copied().unwrap_or(1))
        })
    }

    fn add_gain(&self, after: &Self, shift: u32, rows: RowsOfPart<'_>, sums: &mut GainSums) {
        let tally = rows.coded.sums(rows.frame);
        for (row, units) in self.held_out(rows) {
            let copies = if rows.coded.units.is_empty() { 1 } else { tally.of(row).rows };
            let scores = [self.scores[row], after.scores[row]];
            let mass = units.unbounded_shr(shift);
            sums.add(scores, rows.coded.positive[row], mass, copies);
        }
    }

    fn add_steps(
        &self,
        features: [usize; 2],
        rows: RowsOfPart<'_>,
        sums: &mut Vec<(u64, StepSums)>,
    ) -> Result<(), RankError> {
        let pair = pair_of_row(rows.coded, features).ok_or_else(|| bad("pairs of other rows"))?;
        for row in rows.coded.of_view(&self.bag.learned) {
            let row = row as usize;
            let Some(number) = pair(row) else { continue };
            let mass = rows.coded.units.get(row).map_or(1, |&units| self.bag.scale.mass(units));
            let mut of_row = StepSums::default();
            of_row.add(self.scores[row], rows.coded.positive[row], mass);
            sums.push((number, of_row));
        }
        merge_equal(sums);
        Ok(())
    }

    fn add_merits(
        &self,
        step: &PairStep,
        rows: RowsOfPart<'_>,
        sums: &mut MeritSums,
    ) -> Result<(), RankError> {
        let pair = pair_of_row(rows.coded, step.features);
        let pair = pair.filter(|_| step.pairs.len() == step.steps.len() && step.pairs.is_sorted());
        let pair = pair.ok_or_else(|| bad("pairs of other rows"))?;
        for (row, units) in self.held_out(rows) {
            let place = pair(row).and_then(|number| step.pairs.binary_search(&number).ok());
            if let Some(place) = place {
                let positive = rows.coded.positive[row];
                sums.add(self.scores[row], positive, units, step.steps[place]);
            }
        }
        Ok(())
    }

    /// Adds the values of a tree to all scores.
    fn add_tree(&mut self, tree: &CodeTree, codes: &Binned) -> Result<(), RankError> {
        let walk = tree.walk(codes.features())?;
        // Without cells only the values of its leaves are set.
        let TreeCells { order, cells } = self.cells.take().unwrap_or_default();
        // A cell lies in one leaf.
        let mut is_added = vec![false; self.scores.len()];
        for (_, range) in cells {
            let rows = &order[range];
            let Some(&first) = rows.first() else { continue };
            let value = walk.value(codes, first.into());
            for row in rows.iter().map(|&row| usize::from(row)) {
                self.scores[row] += value;
                is_added[row] = true;
            }
        }
        for (row, score) in self.scores.iter_mut().enumerate() {
            if !is_added[row] {
                *score += walk.value(codes, row as u32);
            }
        }
        Ok(())
    }

    /// Adds the requested sums.
    fn add_sums(
        &self,
        want: &BagWant,
        codes: &Binned,
        rows: RowsOfPart<'_>,
        buffers: &mut CellBuffers,
        sums: &mut BagSums,
    ) -> Result<(), RankError> {
        if want.measures {
            for (row, units) in self.held_out(rows) {
                let loss = log_loss_units(self.scores[row], rows.coded.positive[row]);
                sums.loss[0] += loss * u128::from(units);
                sums.loss[1] += u128::from(units);
            }
        }
        if let Some(tree) = &want.leaves {
            return self.add_leaves(tree, codes, rows, &mut sums.leaves);
        }
        let cells = self.cells.as_ref().ok_or_else(|| bad("there is no tree"))?;
        for (&cell, sums) in want.sides.iter().zip(&mut sums.sides) {
            let of_cell = self.count(cells.rows(cell)?, rows);
            sums.iter_mut().zip(of_cell).for_each(|(sum, more)| *sum += more);
        }
        let columns: Vec<usize> = want.columns.iter().map(|(column, _)| *column).collect();
        let are_of_codes = |&(column, n_codes): &(usize, usize)| {
            codes.features().get(column).is_some_and(|bins| bins.n_codes() == n_codes)
        };
        if !want.columns.iter().all(are_of_codes) {
            return Err(bad("a tree is of other rows"));
        }
        let layout = BinLayout::new(codes.features(), columns);
        for (cell, sums) in want.cells.iter().zip(&mut sums.cells) {
            rows.interrupt.check()?;
            let of_cell = cells.rows(cell.cell)?;
            let [n_rows, mass] = self.count(of_cell, rows);
            if mass > 2 * MOST_MASS {
                return Err(bad("rows have too much mass"));
            }
            sums.n_rows += n_rows;
            sums.mass += mass;
            buffers.rows.clear();
            buffers.rows.extend(of_cell.iter().map(|&row| u32::from(row)));
            self.add_cell(buffers, &layout, codes, rows, sums);
        }
        Ok(())
    }

    /// Adds the sums of all rows to those of the leaves of a tree.
    fn add_leaves(
        &self,
        tree: &CodeTree,
        codes: &Binned,
        rows: RowsOfPart<'_>,
        sums: &mut [LeafGradients],
    ) -> Result<(), RankError> {
        let walk = tree.walk(codes.features())?;
        for row in 0..rows.coded.n_rows() {
            let mass = rows.coded.units.get(row).map_or(1, |&units| self.bag.scale.mass(units));
            let positive = rows.coded.positive[row];
            let (gradient, hessian) = LossAt::Log.derivatives(self.scores[row], positive);
            let of_row = UnitSums::of(gradient, hessian).times(mass as i64);
            let leaf = walk.leaf(codes, row as u32).0;
            let sums = sums.get_mut(leaf).ok_or_else(|| bad("a tree has more leaves"))?;
            sums.merge(LeafGradients { sums: of_row, mass });
            if sums.mass > 2 * MOST_MASS {
                return Err(bad("rows have too much mass"));
            }
        }
        Ok(())
    }

    /// The rows of a tree, in one cell.
    fn draw(&self, TreeDraw { seed, draws }: TreeDraw, rows: RowsOfPart<'_>) -> TreeCells {
        let is_drawn = |&row: &u32| match self.bag.draw {
            Some((draw, of_bag)) if draws => {
                draw.takes(seed, seeded(rows.coded.hashes[row as usize], of_bag))
            }
            _ => true,
        };
        let learned = rows.coded.of_view(&self.bag.learned);
        let order: Vec<u16> = learned.filter(is_drawn).map(|row| row as u16).collect();
        let cells = vec![(0, 0..order.len())];
        TreeCells { order, cells }
    }

    /// Number and mass of some rows.
    fn count(&self, order: &[u16], rows: RowsOfPart<'_>) -> [u64; 2] {
        if rows.coded.units.is_empty() {
            return [order.len() as u64; 2];
        }
        let tally = rows.coded.sums(rows.frame);
        order.iter().fold([0; 2], |[n_rows, mass], &row| {
            let row = usize::from(row);
            let units = rows.coded.units[row];
            [n_rows + tally.of(row).rows, mass + self.bag.scale.mass(units)]
        })
    }

    /// Adds the rows of a cell, listed in the buffers.
    fn add_cell(
        &self,
        buffers: &mut CellBuffers,
        layout: &BinLayout,
        codes: &Binned,
        rows: RowsOfPart<'_>,
        sums: &mut CellSums,
    ) {
        let CellBuffers { rows: listed, packed, plain, .. } = buffers;
        let scores = (&self.scores[..], &rows.coded.positive[..]);
        let derivatives = if rows.coded.units.is_empty() {
            packed.resize(listed.len(), PackedSums::default());
            fill(&LossAt::Log, scores, listed, packed, &|_, sums| sums.into());
            Derivatives::Packed(&packed[..])
        } else {
            plain.resize(listed.len(), UnitSums::default());
            let mass = |row: u32| self.bag.scale.mass(rows.coded.units[row as usize]) as i64;
            fill(&LossAt::Log, scores, listed, plain, &|row, sums| sums.times(mass(row)));
            Derivatives::Plain(&plain[..])
        };
        layout.add_sums(codes, &NodeRows { rows: listed, derivatives }, &mut sums.sums);
        if !sums.counts.is_empty() {
            let tally = rows.coded.sums(rows.frame);
            let counted = listed.iter().map(|&row| (row, tally.of(row as usize).rows));
            layout.add_counts(codes, counted, &mut sums.counts);
        }
    }
}

impl TreeCells {
    fn place(&self, cell: CellId) -> Result<usize, RankError> {
        let place = self.cells.iter().position(|(id, _)| *id == cell);
        place.ok_or_else(|| bad("there is no such cell"))
    }

    fn rows(&self, cell: CellId) -> Result<&[u16], RankError> {
        Ok(&self.order[self.cells[self.place(cell)?].1.clone()])
    }

    /// Splits a cell.
    fn split(
        &mut self,
        split: &CellSplit,
        codes: &Binned,
        right: &mut Vec<u16>,
    ) -> Result<(), RankError> {
        let place = self.place(split.cell)?;
        let range = self.cells.swap_remove(place).1;
        if split.test.feature >= codes.features().len() {
            return Err(bad("a split is of other rows"));
        }
        let sides = Sides::new(&split.test, codes.features());
        let rows = &mut self.order[range.clone()];
        right.resize(rows.len(), 0);
        let (mut n_left, mut n_right) = (0, 0);
        for place in 0..rows.len() {
            let row = rows[place];
            let is_left = sides.goes_left(codes, row.into());
            (rows[n_left], right[n_right]) = (row, row);
            n_left += usize::from(is_left);
            n_right += usize::from(!is_left);
        }
        rows[n_left..].copy_from_slice(&right[..n_right]);
        let middle = range.start + n_left;
        self.cells.push((split.left, range.start..middle));
        self.cells.push((split.right, middle..range.end));
        Ok(())
    }

    /// Joins two neighbours to one cell.
    fn join(&mut self, left: CellId, right: CellId, cell: CellId) -> Result<(), RankError> {
        let place = self.place(left)?;
        let of_left = self.cells.swap_remove(place).1;
        let place = self.place(right)?;
        let of_right = self.cells.swap_remove(place).1;
        if of_left.end != of_right.start {
            return Err(bad("cells are not neighbours"));
        }
        self.cells.push((cell, of_left.start..of_right.end));
        Ok(())
    }
}

fn bad(why: &str) -> RankError {
    RankError::BadAnswer(why.to_owned())
}
