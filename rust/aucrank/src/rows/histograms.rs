//! Histograms of the cells of a tree.

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::Rows;
use super::fit_id::FitId;
use super::frame::RowFrame;
use super::kept::Kept;
use super::mergeable::Mergeable;
use super::part_view::PartView;
use super::question::{Question, other};
use super::steps::{SentSteps, Step, StepLog};
use super::view::View;
use super::words::WordReader;
use crate::data::{
    CellRows, CellSplit, ClassSums, Counts, FeatureBins, Histogram, HistogramRequest, MemorySource,
    Regroup, RowTally, SumSource, Tally, empty_histograms,
};
use crate::{Interrupt, RankError};

/// Asks for histograms of cells of a tree.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AskHistograms {
    pub(super) steps: SentSteps<CellStep>,
    pub(super) requests: Vec<HistogramRequest>,
}

/// A decision that changes the cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CellStep {
    Split(Vec<CellSplit>),
    Regroup(Vec<Regroup>),
}

impl Step for CellStep {
    type States = CellRows;
}

#[derive(Debug, Clone)]
pub(crate) enum Histograms {
    /// Histograms of rows that count once each.
    Counts(Vec<Histogram<Counts>>),
    /// Histograms of weighted rows.
    Weights(Vec<Histogram<ClassSums>>),
}

/// Bins of the histograms in answers.
pub(crate) trait HistogramTally: Tally {
    /// The requested histograms.
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

/// Row numbers in the order of cells, before and after a step.
type Orders = [Vec<u32>; 2];

impl AskHistograms {
    /// Follows the new steps and adds the requested histograms.
    fn add_all<R: RowTally>(
        &self,
        part: &PartView<'_>,
        tally: R,
        kept: &mut Kept<'_>,
        histograms: &mut [Histogram<R::Tally>],
        interrupt: &Interrupt,
    ) -> Result<(), RankError> {
        let first = || CellRows::new(part.rows().into_iter());
        let Some((cells, steps)) = self.steps.missing(kept, first) else { return Ok(()) };
        let orders = std::mem::take(kept.buffers::<Orders>());
        let mut source = MemorySource::of_cells(part.binned(), tally, cells, orders, interrupt);
        for step in steps {
            match step {
                CellStep::Split(splits) => source.split(splits)?,
                CellStep::Regroup(regroups) => source.regroup(regroups)?,
            }
        }
        for (request, histogram) in self.requests.iter().zip(histograms) {
            source.add_to(histogram, request)?;
        }
        let (cells, orders) = source.into_cells();
        *kept.buffers() = orders;
        self.steps.keep(kept, cells);
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
        *view != View::All && self.steps.begins(kept)
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

    fn put_words(&mut self, words: &mut Vec<u64>) {
        match self {
            Self::Counts(found) => found.iter().for_each(|histogram| histogram.put_words(words)),
            Self::Weights(found) => found.iter().for_each(|histogram| histogram.put_words(words)),
        }
    }

    fn take_words(&mut self, reader: &mut WordReader<'_>) -> Result<(), RankError> {
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

/// The cells of a tree that grows on rows elsewhere. Steps are sent with the next question.
pub(crate) struct QueriedCells<'a, T> {
    rows: &'a dyn Rows,
    view: View,
    log: StepLog<'a, CellStep>,
    interrupt: &'a Interrupt,
    tally: PhantomData<T>,
}

impl<'a, T: HistogramTally> QueriedCells<'a, T> {
    /// All rows of a view in cell 0.
    pub(crate) fn new(
        rows: &'a dyn Rows,
        fit: &'a FitId,
        view: View,
        interrupt: &'a Interrupt,
    ) -> Self {
        Self { rows, view, log: StepLog::new(fit), interrupt, tally: PhantomData }
    }
}

impl<T: HistogramTally> SumSource for QueriedCells<'_, T> {
    type Tally = T;

    fn features(&self) -> &[FeatureBins] {
        self.rows.frame().features()
    }

    fn histograms(&self, requests: &[HistogramRequest]) -> Result<Vec<Histogram<T>>, RankError> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let ask = |steps| AskHistograms { steps, requests: requests.to_vec() };
        let found = self.log.ask(self.rows, &self.view, ask, self.interrupt)?;
        let mut histograms = T::histograms(found)?;
        histograms.iter_mut().for_each(Histogram::settle);
        Ok(histograms)
    }

    fn split(&mut self, splits: &[CellSplit]) -> Result<(), RankError> {
        if !splits.is_empty() {
            self.log.push(CellStep::Split(splits.to_vec()));
        }
        Ok(())
    }

    fn regroup(&mut self, regroups: &[Regroup]) -> Result<(), RankError> {
        if !regroups.is_empty() {
            self.log.push(CellStep::Regroup(regroups.to_vec()));
        }
        Ok(())
    }
}

/// For each feature the codes of all rows, ascending, each with the class sums of its rows.
///
/// A missing value has the code after those of the bins. `fit_number` distinguishes this from fits
/// that query the same rows.
///
/// # Errors
///
/// Errors of the holder, such as [`RankError::Storage`] or [`RankError::Interrupted`].
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Batch, BinningParams, Columns};
/// use aucrank::rows::{StoredRows, Survey, sums_by_code};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, f64::NAN, 2.0], 1)?;
/// let (positive, interrupt) = ([false, true, true, true], Interrupt::default());
/// let mut survey = Survey::new(&[None], BinningParams::default(), None)?;
/// survey.add(&Batch::new(&columns, &positive), &interrupt)?;
/// let mut rows = StoredRows::new(survey.frame()?, None)?;
/// rows.add(&Batch::new(&columns, &positive), &interrupt)?;
/// rows.finish()?;
/// let found = sums_by_code(&rows, 0, &interrupt)?;
/// let found: Vec<_> = found[0].iter().map(|(code, sums)| (*code, sums.pos)).collect();
/// assert_eq!(found, [(0, 0), (1, 2), (2, 1)]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn sums_by_code(
    rows: &dyn Rows,
    fit_number: u64,
    interrupt: &Interrupt,
) -> Result<Vec<Vec<(u32, ClassSums)>>, RankError> {
    fn of_all<T: HistogramTally>(
        rows: &dyn Rows,
        fit: &FitId,
        interrupt: &Interrupt,
    ) -> Result<Vec<Vec<(u32, ClassSums)>>, RankError> {
        let cells = QueriedCells::<T>::new(rows, fit, View::All, interrupt);
        let found = cells.histograms(&[HistogramRequest::all(0)])?;
        let features = found.iter().flat_map(Histogram::features);
        Ok(features.map(|(_, sums)| sums.occupied().collect()).collect())
    }
    let fit = FitId::new(fit_number);
    if rows.frame().counts_fit() {
        of_all::<Counts>(rows, &fit, interrupt)
    } else {
        of_all::<ClassSums>(rows, &fit, interrupt)
    }
}
