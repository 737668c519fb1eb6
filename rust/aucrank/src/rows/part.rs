//! A part of the rows, which answers.

use super::answer::{Answer, Sums};
use super::ask::{Ask, Step, View, Want};
use super::coded::CodedRows;
use super::frame::RowFrame;
use super::part_view::PartView;
use super::remembered::{Remembered, RowStates};
use super::spill::{Slot, Spill};
use crate::boost::{BagStates, CellBuffers};
use crate::data::{
    CellRows, FeatureBins, Histogram, HistogramRequest, MemorySource, RowTally, SumSource,
    least_hashes, seeded,
};
use crate::tree::{RankingTree, places_by_codes};
use crate::{Interrupt, RankError};

/// Trees of which a part remembers the cells, and fits by boosting of which it remembers the factors.
const MOST_TREES: usize = 16;
const MOST_BOOSTED: usize = 4;

/// Coded rows in memory or in a file, with the cells of the trees that grow on them.
#[derive(Debug)]
pub(super) struct Part {
    rows: PartRows,
    /// The cells of its rows in trees that grow.
    trees: Remembered<CellRows>,
    bags: BagStates,
    /// The factors of its rows in boosting rounds.
    factors: Remembered<Vec<f64>>,
}

#[derive(Debug)]
enum PartRows {
    Memory(CodedRows),
    File(Slot),
}

/// Memory that is used part by part.
#[derive(Debug)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    rows: CodedRows,
    orders: [Vec<u32>; 2],
    buffers: CellBuffers,
}

impl Scratch {
    pub(super) fn new(frame: &RowFrame) -> Self {
        let (bytes, orders, buffers) = Default::default();
        Self { bytes, rows: CodedRows::none(frame), orders, buffers }
    }
}

impl Part {
    /// Rows that stay in memory.
    pub(super) fn in_memory(rows: CodedRows) -> Self {
        Self::of(PartRows::Memory(rows))
    }

    /// Rows that lie in a file.
    pub(super) fn in_file(slot: Slot) -> Self {
        Self::of(PartRows::File(slot))
    }

    fn of(rows: PartRows) -> Self {
        Self {
            rows,
            trees: Remembered::new(MOST_TREES),
            bags: BagStates::default(),
            factors: Remembered::new(MOST_BOOSTED),
        }
    }

    /// Its rows, with their hashes, read into the scratch if they lie in a file.
    pub(super) fn rows<'s>(
        &'s self,
        with_hashes: bool,
        spill: Option<&Spill>,
        scratch: &'s mut Scratch,
    ) -> Result<(&'s CodedRows, &'s mut [Vec<u32>; 2]), RankError> {
        let Scratch { bytes, rows, orders, .. } = scratch;
        match (&self.rows, spill) {
            (PartRows::Memory(rows), _) => Ok((rows, orders)),
            (PartRows::File(slot), Some(spill)) => {
                spill.read(*slot, with_hashes, bytes, rows)?;
                Ok((rows, orders))
            }
            (PartRows::File(_), None) => unreachable!("parts of a file have one"),
        }
    }

    /// Adds what its rows answer.
    pub(super) fn answer(
        &self,
        ask: &Ask,
        frame: &RowFrame,
        spill: Option<&Spill>,
        scratch: &mut Scratch,
        sum: &mut Answer,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let grown = match &ask.want {
            Want::Histograms(_) => self.remembered(ask),
            _ => None,
        };
        let is_begun = grown.is_some();
        let asks_hashes = match &ask.want {
            Want::Hashes { .. } => true,
            Want::Program(program) => program.reads_hashes(),
            Want::Gradients(ask) => ask.needs_hashes(),
            Want::Totals
            | Want::Histograms(_)
            | Want::Leaves(_)
            | Want::ClassUnits
            | Want::Round(_) => false,
        };
        let with_hashes = asks_hashes || (!is_begun && ask.view != View::All);
        let mut buffers = std::mem::take(&mut scratch.buffers);
        let (rows, orders) = self.rows(with_hashes, spill, scratch)?;
        match &mut sum.0 {
            Sums::Totals(totals) => {
                let tally = rows.sums(frame);
                let view = rows_of_view(rows, &ask.view);
                for &row in &view {
                    let sums = tally.of(row as usize);
                    totals.sums += sums;
                    totals.squares.add(sums, 1);
                }
                let missing = rows.binned.has_missing(&view);
                for (has_missing, own) in totals.has_missing.iter_mut().zip(missing) {
                    *has_missing |= own;
                }
            }
            Sums::Counts(histograms) => {
                let grown = grown.unwrap_or_else(|| ungrown(ask, rows));
                let counts = rows.counts();
                let grown =
                    add_histograms(ask, rows, counts, grown, orders, histograms, interrupt)?;
                self.trees.put(ask.tree, grown);
            }
            Sums::Weights(histograms) => {
                let grown = grown.unwrap_or_else(|| ungrown(ask, rows));
                let sums = rows.sums(frame);
                let grown = add_histograms(ask, rows, sums, grown, orders, histograms, interrupt)?;
                self.trees.put(ask.tree, grown);
            }
            Sums::Leaves(leaves) => {
                let Want::Leaves(tree) = &ask.want else { unreachable!("made for this question") };
                let (view, tally) = (rows_of_view(rows, &ask.view), rows.sums(frame));
                check_tests(tree, frame.features())?;
                let places = places_by_codes(&rows.binned, tree, &view, None);
                for (place, row) in places.into_iter().zip(view) {
                    leaves[place as usize] += tally.of(row as usize);
                }
            }
            Sums::Hashes(classes) => {
                let Want::Hashes { seed, most } = ask.want else {
                    unreachable!("made for this question")
                };
                let view = rows_of_view(rows, &ask.view);
                for (class, found) in [false, true].into_iter().zip(classes) {
                    let of_class = view.iter().filter(|&&row| rows.positive[row as usize] == class);
                    let hashes = of_class.map(|&row| seeded(rows.hashes[row as usize], seed));
                    let own = least_hashes(&hashes, most);
                    *found = least_hashes(&found.iter().copied().chain(own), most);
                }
            }
            Sums::ClassUnits(units) => units.add(&PartView::new(rows, &ask.view, frame)),
            Sums::Program(answer) => {
                let Want::Program(program) = &ask.want else {
                    unreachable!("made for this question")
                };
                program.add(&PartView::new(rows, &ask.view, frame), answer, interrupt)?;
            }
            Sums::Gradients(sums) => {
                let Want::Gradients(want) = &ask.want else {
                    unreachable!("made for this question")
                };
                let of_fit = (ask.tree.fit, &self.bags);
                want.add_part(of_fit, (rows, frame), &mut buffers, sums, interrupt)?;
            }
            Sums::Round(answer) => {
                let Want::Round(round) = &ask.want else { unreachable!("made for this question") };
                let (view, known) =
                    (PartView::new(rows, &ask.view, frame), self.factors.take(ask.tree));
                if let Some(states) = round.add(&view, known, answer, interrupt)? {
                    self.factors.put(ask.tree, states);
                }
            }
        }
        scratch.buffers = buffers;
        Ok(())
    }

    /// The cells of the tree that is asked about, if they are known and no further than asked.
    fn remembered(&self, ask: &Ask) -> Option<RowStates<CellRows>> {
        self.trees.take(ask.tree).filter(|grown| grown.n_steps <= ask.log.len())
    }
}

/// The cells of a tree before its first step.
fn ungrown(ask: &Ask, rows: &CodedRows) -> RowStates<CellRows> {
    let states = CellRows::new(rows_of_view(rows, &ask.view).into_iter());
    RowStates { n_steps: 0, states }
}

/// Rows of positive weight of a view, ascending.
fn rows_of_view(rows: &CodedRows, view: &View) -> Vec<u32> {
    let all = 0..rows.n_rows() as u32;
    let has_weight = |&row: &u32| rows.units.get(row as usize).is_none_or(|&units| units > 0);
    let weighted = all.filter(has_weight);
    if *view == View::All {
        return weighted.collect();
    }
    let is_there = |&row: &u32| {
        let row = row as usize;
        view.contains(rows.positive[row], rows.hashes[row])
    };
    weighted.filter(is_there).collect()
}

/// Takes the steps that are new, and adds the histograms that are asked for.
fn add_histograms<R: RowTally>(
    ask: &Ask,
    rows: &CodedRows,
    tally: R,
    grown: RowStates<CellRows>,
    orders: &mut [Vec<u32>; 2],
    histograms: &mut [Histogram<R::Tally>],
    interrupt: &Interrupt,
) -> Result<RowStates<CellRows>, RankError> {
    let Want::Histograms(requests) = &ask.want else { unreachable!("made for this question") };
    let buffers = std::mem::take(orders);
    let RowStates { n_steps, states } = grown;
    let mut source = MemorySource::of_cells(&rows.binned, tally, states, buffers, interrupt);
    for step in &ask.log[n_steps..] {
        match step {
            Step::Split(splits) => source.split(splits)?,
            Step::Regroup(regroups) => source.regroup(regroups)?,
        }
    }
    add_all(&source, requests, histograms)?;
    let (states, buffers) = source.into_cells();
    *orders = buffers;
    Ok(RowStates { n_steps: ask.log.len(), states })
}

fn add_all<R: RowTally>(
    source: &MemorySource<'_, R>,
    requests: &[HistogramRequest],
    histograms: &mut [Histogram<R::Tally>],
) -> Result<(), RankError> {
    for (request, histogram) in requests.iter().zip(histograms) {
        source.add_to(histogram, request)?;
    }
    Ok(())
}

/// Checks a tree from elsewhere: it must ask these features, of which it must not have more.
fn check_tests(tree: &RankingTree, features: &[FeatureBins]) -> Result<(), RankError> {
    let bad = |why: String| Err(RankError::BadAnswer(why));
    tree.check().or_else(bad)?;
    if tree.n_levels().len() != features.len() {
        return bad("the tree is of other rows".to_owned());
    }
    Ok(())
}
