//! Histograms of the cells of a tree.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::ask::View;
use super::frame::RowFrame;
use super::kept::{Kept, RowStates};
use super::part_view::PartView;
use super::question::{Mergeable, Question, other};
use super::words::Reader;
use crate::data::{
    CellRows, CellSplit, ClassSums, Counts, Histogram, HistogramRequest, MemorySource, Regroup,
    RowTally, SumSource, Tally, empty_histograms,
};
use crate::{Interrupt, RankError};

/// Histograms of cells of a tree.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct AskHistograms {
    /// How cells came about, from the first on.
    pub(super) log: Arc<Vec<Step>>,
    pub(super) requests: Vec<HistogramRequest>,
}

/// A decision that changes the cells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) enum Step {
    Split(Vec<CellSplit>),
    Regroup(Vec<Regroup>),
}

#[derive(Debug, Clone)]
pub(crate) enum Histograms {
    /// Of rows that count once each.
    Counts(Vec<Histogram<Counts>>),
    /// Of weighted rows.
    Weights(Vec<Histogram<ClassSums>>),
}

/// Bins in which answers come.
pub(crate) trait HistogramTally: Tally {
    /// The histograms that were asked for.
    fn histograms(answer: Histograms) -> Result<Vec<Histogram<Self>>, RankError>;
}

impl HistogramTally for Counts {
    fn histograms(answer: Histograms) -> Result<Vec<Histogram<Self>>, RankError> {
        if let Histograms::Counts(found) = answer { Ok(found) } else { Err(other()) }
    }
}

impl HistogramTally for ClassSums {
    fn histograms(answer: Histograms) -> Result<Vec<Histogram<Self>>, RankError> {
        if let Histograms::Weights(found) = answer { Ok(found) } else { Err(other()) }
    }
}

/// The cells that a tree had at its last question.
type Cells = RowStates<CellRows>;

/// Row numbers in the order of cells, before and after a step.
type Orders = [Vec<u32>; 2];

impl AskHistograms {
    /// Whether the cells are known, and no further than asked.
    fn is_begun(&self, kept: &Kept<'_>) -> bool {
        kept.get::<Cells>().is_some_and(|cells| cells.n_steps <= self.log.len())
    }

    /// Takes the steps that are new, and adds the histograms that are asked for.
    fn add_all<R: RowTally>(
        &self,
        part: &PartView<'_>,
        tally: R,
        kept: &mut Kept<'_>,
        histograms: &mut [Histogram<R::Tally>],
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let known = if self.is_begun(kept) { kept.take() } else { None };
        let RowStates { n_steps, states } = known.unwrap_or_else(|| Cells {
            n_steps: 0,
            states: CellRows::new(part.rows().into_iter()),
        });
        let orders = std::mem::take(kept.buffers::<Orders>());
        let mut source = MemorySource::of_cells(part.binned(), tally, states, orders, interrupt);
        for step in &self.log[n_steps..] {
            match step {
                Step::Split(splits) => source.split(splits)?,
                Step::Regroup(regroups) => source.regroup(regroups)?,
            }
        }
        for (request, histogram) in self.requests.iter().zip(histograms) {
            source.add_to(histogram, request)?;
        }
        let (states, orders) = source.into_cells();
        *kept.buffers() = orders;
        kept.put(Cells { n_steps: self.log.len(), states });
        Ok(())
    }
}

impl Question for AskHistograms {
    const NAME: &'static str = "histograms";

    type Answer = Histograms;

    fn none(&self, frame: &RowFrame) -> Histograms {
        let (no_rows, requests) = (frame.no_rows(), &self.requests);
        if frame.counts_fit() {
            Histograms::Counts(empty_histograms(&no_rows, requests))
        } else {
            Histograms::Weights(empty_histograms(&no_rows, requests))
        }
    }

    fn needs_hashes(&self, view: &View, kept: &Kept<'_>) -> bool {
        *view != View::All && !self.is_begun(kept)
    }

    fn add(
        &self,
        part: &PartView<'_>,
        kept: &mut Kept<'_>,
        answer: &mut Histograms,
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        match answer {
            Histograms::Counts(found) => self.add_all(part, part.counts(), kept, found, interrupt),
            Histograms::Weights(found) => self.add_all(part, part.sums(), kept, found, interrupt),
        }
    }
}

impl Mergeable for Histograms {
    fn merge(&mut self, more: Self) -> Result<(), RankError> {
        match (self, more) {
            (Self::Counts(own), Self::Counts(more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| own.merge(more));
            }
            (Self::Weights(own), Self::Weights(more)) => {
                own.iter_mut().zip(more).for_each(|(own, more)| own.merge(more));
            }
            _ => return Err(other()),
        }
        Ok(())
    }

    fn put_words(&self, words: &mut Vec<u64>) {
        match self {
            Self::Counts(found) => found.iter().for_each(|histogram| histogram.put_words(words)),
            Self::Weights(found) => found.iter().for_each(|histogram| histogram.put_words(words)),
        }
    }

    fn take_words(&mut self, reader: &mut Reader<'_>) -> Result<(), RankError> {
        match self {
            Self::Counts(found) => {
                found.iter_mut().try_for_each(|histogram| histogram.take_words(|n| reader.take(n)))
            }
            Self::Weights(found) => {
                found.iter_mut().try_for_each(|histogram| histogram.take_words(|n| reader.take(n)))
            }
        }
    }
}
