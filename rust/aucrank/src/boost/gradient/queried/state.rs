//! The state that a part of the rows keeps for a fit, and its answers.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::super::gain::GainSums;
use super::super::histogram::BinLayout;
use super::super::loss::log_loss_units;
use super::super::loss_of_rows::LossAt;
use super::super::memory_fit::fill;
use super::super::pair_merit::{MeritSums, StepSums};
use super::super::sides::Sides;
use super::super::sums::{PackedSums, UnitSums};
use super::super::tree_rows::{Derivatives, NodeRows};
use super::ask::{
    BagAsk, BagRowsAsk, BagSums, BagsAsk, CellGrowth, CellStep, CellSums, GradientAsk,
    GradientSums, GrowAsk, SentTree,
};
use super::trial::{PairStep, TrialSums, TrialWant, merge_equal};
use crate::boost::gradient::fit_rows::MOST_MASS;
use crate::data::{Binned, CellId, CellSplit, RowTally, seeded};
use crate::rows::{CodedRows, Kept, PartView, Question, RowFrame, View, pair_of_row};
use crate::{Interrupt, RankError};

/// The state that a part of the rows keeps for the bags of a fit.
#[derive(Debug, Default)]
struct BagStates(Vec<BagState>);

/// The rows of a part in a bag, after some trees.
#[derive(Debug)]
struct BagState {
    key: u64,
    bag: Arc<BagRowsAsk>,
    /// Codes of the columns of rates.
    rates: Vec<Vec<u8>>,
    n_trees: usize,
    scores: Vec<f64>,
    /// The cells of the growing tree.
    cells: Option<TreeCells>,
}

/// The cells of a tree after some steps.
#[derive(Debug)]
struct TreeCells {
    /// Number of the trees before it.
    n_trees: usize,
    seed: u64,
    draws: bool,
    n_steps: usize,
    /// Row numbers; each cell is a run of them.
    order: Vec<u16>,
    cells: Vec<(CellId, Range<usize>)>,
}

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

impl Question for GradientAsk {
    const NAME: &'static str = "gradients";

    type Answer = GradientSums;

    fn none(&self, _: &RowFrame) -> GradientSums {
        GradientSums::none(self)
    }

    fn needs_hashes(&self, _: &View, _: &Kept<'_>) -> bool {
        match self {
            Self::Mass { view, .. } => *view != View::All,
            Self::Bags(ask) => ask.bags.iter().any(|bag| {
                bag.rows.is_some() || bag.measures || bag.grow.as_ref().is_some_and(GrowAsk::begins)
            }),
            // For the rows of a bag.
            Self::Trial { .. } => true,
        }
    }

    fn add(
        &self,
        part: &PartView<'_>,
        kept: &mut Kept<'_>,
        sum: &mut GradientSums,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let frame = part.frame;
        let rows = RowsOfPart { coded: part.coded(), frame, interrupt };
        match (self, sum) {
            (_, GradientSums::Behind) => {}
            (Self::Mass { view, scale }, GradientSums::Mass(sums)) => {
                let tally = rows.coded.sums(frame);
                for row in rows.coded.of_view(view) {
                    let of_row = tally.of(row as usize);
                    sums.weight += of_row;
                    let class = usize::from(rows.coded.positive[row as usize]);
                    sums.mass[class] += scale.mass(of_row.pos + of_row.neg);
                }
            }
            (Self::Bags(ask), sum) => {
                let mut states = kept.take::<BagStates>().unwrap_or_default();
                states.add_bags(ask, rows, kept.buffers(), sum)?;
                kept.put(states);
            }
            (Self::Trial { bags, want }, sum) => {
                let mut states = kept.take::<BagStates>().unwrap_or_default();
                states.add_trial(bags, want, rows, kept.buffers(), sum)?;
                kept.put(states);
            }
            _ => return Err(bad("sums are of another question")),
        }
        Ok(())
    }
}

impl BagStates {
    fn add_bags(
        &mut self,
        ask: &BagsAsk,
        rows: RowsOfPart<'_>,
        buffers: &mut CellBuffers,
        sum: &mut GradientSums,
    ) -> Result<(), RankError> {
        let GradientSums::Bags(sums) = sum else {
            return Err(bad("sums are of another question"));
        };
        self.0.retain(|state| ask.live.contains(&state.key));
        let mut found = Vec::new();
        // Bags without columns of rates have the same codes.
        let mut shared: Option<Cow<'_, Binned>> = None;
        let mut are_known = true;
        for (bag, sums) in ask.bags.iter().zip(sums) {
            let place = self.0.iter().position(|state| state.key == bag.key);
            let state = place.map(|place| self.0.remove(place));
            let Some(mut state) = BagState::caught_up(state, bag, rows)? else {
                are_known = false;
                continue;
            };
            let own;
            let codes: &Binned = if state.rates.is_empty() {
                if shared.is_none() {
                    shared = Some(state.bag.codes(rows.coded, &[])?);
                }
                shared.as_deref().unwrap_or(&rows.coded.binned)
            } else {
                own = state.bag.codes(rows.coded, &state.rates)?;
                &own
            };
            are_known &= state.answer(bag, codes, rows, buffers, sums)?;
            found.push(state);
        }
        if !are_known {
            *sum = GradientSums::Behind;
        }
        self.0.extend(found);
        Ok(())
    }
}

impl BagStates {
    /// Adds the sums of a trial, at the scores after all trees that were sent.
    fn add_trial(
        &mut self,
        ask: &BagsAsk,
        want: &TrialWant,
        rows: RowsOfPart<'_>,
        buffers: &mut CellBuffers,
        sum: &mut GradientSums,
    ) -> Result<(), RankError> {
        let mut none = GradientSums::Bags(ask.bags.iter().map(BagSums::none).collect());
        self.add_bags(ask, rows, buffers, &mut none)?;
        if matches!(none, GradientSums::Behind) {
            *sum = GradientSums::Behind;
            return Ok(());
        }
        let GradientSums::Trial(sums) = sum else {
            return Err(bad("sums are of another question"));
        };
        let state = |place: usize| {
            let bag = ask.bags.get(place)?;
            self.0.iter().find(|state| state.key == bag.key)
        };
        let first = state(0).ok_or_else(|| bad("there is no bag"))?;
        match (want, sums) {
            (TrialWant::Gain { shift }, TrialSums::Gain(sums)) => {
                let second = state(1).ok_or_else(|| bad("there is one bag"))?;
                first.add_gain(second, *shift, rows, sums);
            }
            (TrialWant::Steps(pairs), TrialSums::Steps(of_pairs)) => {
                for (&features, sums) in pairs.iter().zip(of_pairs) {
                    rows.interrupt.check()?;
                    first.add_steps(features, rows, sums)?;
                }
            }
            (TrialWant::Merits(steps), TrialSums::Merits(of_pairs)) => {
                for (step, sums) in steps.iter().zip(of_pairs) {
                    rows.interrupt.check()?;
                    first.add_merits(step, rows, sums)?;
                }
            }
            _ => return Err(bad("sums are of another question")),
        }
        Ok(())
    }
}

impl BagState {
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

    /// The state from which a question starts; `None` if it requires decisions that were not sent.
    fn caught_up(
        state: Option<Self>,
        ask: &BagAsk,
        rows: RowsOfPart<'_>,
    ) -> Result<Option<Self>, RankError> {
        let n_trees = ask.n_sent.saturating_add(ask.trees.len());
        let is_known = |state: &Self| (ask.n_sent..=n_trees).contains(&state.n_trees);
        if let Some(state) = state.filter(is_known) {
            return Ok(Some(state));
        }
        let Some(bag) = ask.rows.as_ref().filter(|_| ask.n_sent == 0) else { return Ok(None) };
        Ok(Some(Self {
            key: ask.key,
            rates: bag.rate_codes(rows.coded)?,
            scores: vec![bag.start; rows.coded.n_rows()],
            bag: Arc::clone(bag),
            n_trees: 0,
            cells: None,
        }))
    }

    /// Applies new trees and steps, and adds the requested sums; returns whether all earlier
    /// decisions are known.
    fn answer(
        &mut self,
        ask: &BagAsk,
        codes: &Binned,
        rows: RowsOfPart<'_>,
        buffers: &mut CellBuffers,
        sums: &mut BagSums,
    ) -> Result<bool, RankError> {
        for tree in &ask.trees[self.n_trees - ask.n_sent..] {
            rows.interrupt.check()?;
            self.add_tree(tree, codes)?;
        }
        if ask.measures
            && let Some(view) = &self.bag.held_out
        {
            for row in rows.coded.of_view(view) {
                let row = row as usize;
                let units = rows.coded.units.get(row).copied().unwrap_or(1);
                let loss = log_loss_units(self.scores[row], rows.coded.positive[row]);
                sums.loss[0] += loss * u128::from(units);
                sums.loss[1] += u128::from(units);
            }
        }
        match &ask.grow {
            Some(grow) => self.add_cells(grow, codes, rows, buffers, sums),
            None => Ok(true),
        }
    }

    /// Adds the values of a tree to all scores.
    fn add_tree(&mut self, sent: &SentTree, codes: &Binned) -> Result<(), RankError> {
        let walk = sent.tree.walk(codes.features())?;
        let n_trees = self.n_trees;
        let cells = self
            .cells
            .take()
            .filter(|cells| cells.n_trees == n_trees && cells.growth() == sent.growth);
        self.n_trees += 1;
        let Some(TreeCells { order, cells, .. }) = cells else {
            for (row, score) in (0..).zip(&mut self.scores) {
                *score += walk.value(codes, row);
            }
            return Ok(());
        };
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

    fn add_cells(
        &mut self,
        ask: &GrowAsk,
        codes: &Binned,
        rows: RowsOfPart<'_>,
        buffers: &mut CellBuffers,
        sums: &mut BagSums,
    ) -> Result<bool, RankError> {
        let is_known = |cells: &TreeCells| {
            let is_same =
                (cells.n_trees, cells.seed, cells.draws) == (self.n_trees, ask.seed, ask.draws);
            is_same && cells.n_steps <= ask.first_new
        };
        let mut cells = match self.cells.take().filter(is_known) {
            Some(cells) => cells,
            None if rows.coded.hashes.len() == rows.coded.n_rows() => self.draw(ask, rows),
            None => return Ok(false),
        };
        let mut sides = sums.sides.iter_mut();
        for (number, step) in ask.steps.iter().enumerate().skip(cells.n_steps) {
            match step {
                CellStep::Split(split) => {
                    let left = cells.split(split, codes, &mut buffers.right)?;
                    if number >= ask.first_new
                        && let Some([n_rows, mass]) = sides.next()
                    {
                        let [more_rows, more_mass] = self.count(&cells.order[left], rows);
                        *n_rows += more_rows;
                        *mass += more_mass;
                    }
                }
                CellStep::Join { left, right, cell } => cells.join(*left, *right, *cell)?,
            }
        }
        cells.n_steps = ask.steps.len();
        let columns: Vec<usize> = ask.columns.iter().map(|(column, _)| *column).collect();
        let are_of_codes = |&(column, n_codes): &(usize, usize)| {
            codes.features().get(column).is_some_and(|bins| bins.n_codes() == n_codes)
        };
        if !ask.columns.iter().all(are_of_codes) {
            return Err(bad("a tree is of other rows"));
        }
        let layout = BinLayout::new(codes.features(), columns);
        for (cell, sums) in ask.cells.iter().zip(&mut sums.cells) {
            rows.interrupt.check()?;
            let of_cell = &cells.order[cells.rows(cell.cell)?];
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
        self.cells = Some(cells);
        Ok(true)
    }

    /// The rows of a tree, in one cell.
    fn draw(&self, ask: &GrowAsk, rows: RowsOfPart<'_>) -> TreeCells {
        let is_drawn = |&row: &u32| match self.bag.draw {
            Some((draw, seed)) if ask.draws => {
                let hash = seeded(rows.coded.hashes[row as usize], seed);
                draw.takes(ask.seed, hash)
            }
            _ => true,
        };
        let learned = rows.coded.of_view(&self.bag.learned);
        let order: Vec<u16> = learned.filter(is_drawn).map(|row| row as u16).collect();
        let (n_trees, seed, draws) = (self.n_trees, ask.seed, ask.draws);
        let cells = vec![(0, 0..order.len())];
        TreeCells { n_trees, seed, draws, n_steps: 0, order, cells }
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
    fn growth(&self) -> CellGrowth {
        CellGrowth { seed: self.seed, draws: self.draws, n_steps: self.n_steps }
    }

    fn place(&self, cell: CellId) -> Result<usize, RankError> {
        let place = self.cells.iter().position(|(id, _)| *id == cell);
        place.ok_or_else(|| bad("there is no such cell"))
    }

    fn rows(&self, cell: CellId) -> Result<Range<usize>, RankError> {
        Ok(self.cells[self.place(cell)?].1.clone())
    }

    /// Splits a cell; returns the place of its left side.
    fn split(
        &mut self,
        split: &CellSplit,
        codes: &Binned,
        right: &mut Vec<u16>,
    ) -> Result<Range<usize>, RankError> {
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
        Ok(range.start..middle)
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
