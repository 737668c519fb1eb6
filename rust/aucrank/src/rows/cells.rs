//! Answers as a source of sums, from which trees are grown.

use std::marker::PhantomData;
use std::sync::Arc;

use super::Rows;
use super::ask::View;
use super::fit_id::Fit;
use super::histograms::{AskHistograms, HistogramTally, Step};
use crate::data::{CellSplit, FeatureBins, Histogram, HistogramRequest, Regroup, SumSource};
use crate::{Interrupt, RankError};

/// The cells of a tree that grows on rows elsewhere. What is decided is told with the next question.
pub(crate) struct AskedCells<'a, T> {
    rows: &'a dyn Rows,
    fit: &'a Fit,
    tree: u64,
    view: View,
    log: Arc<Vec<Step>>,
    interrupt: &'a Interrupt,
    tally: PhantomData<T>,
}

impl<'a, T: HistogramTally> AskedCells<'a, T> {
    /// All rows of a view in cell 0.
    pub(crate) fn new(
        rows: &'a dyn Rows,
        fit: &'a Fit,
        view: View,
        interrupt: &'a Interrupt,
    ) -> Self {
        let tree = fit.begin_tree();
        Self { rows, fit, tree, view, log: Arc::default(), interrupt, tally: PhantomData }
    }
}

impl<T> Drop for AskedCells<'_, T> {
    fn drop(&mut self) {
        self.fit.end_tree(self.tree);
    }
}

impl<T: HistogramTally> SumSource for AskedCells<'_, T> {
    type Tally = T;

    fn features(&self) -> &[FeatureBins] {
        self.rows.frame().features()
    }

    fn histograms(&self, requests: &[HistogramRequest]) -> Result<Vec<Histogram<T>>, RankError> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let ask = AskHistograms { log: Arc::clone(&self.log), requests: requests.to_vec() };
        let view = self.view.clone();
        let found = self.fit.ask_of(self.tree, self.rows, view, ask, self.interrupt)?;
        let mut histograms = T::histograms(found)?;
        histograms.iter_mut().for_each(Histogram::settle);
        Ok(histograms)
    }

    fn split(&mut self, splits: &[CellSplit]) -> Result<(), RankError> {
        if !splits.is_empty() {
            Arc::make_mut(&mut self.log).push(Step::Split(splits.to_vec()));
        }
        Ok(())
    }

    fn regroup(&mut self, regroups: &[Regroup]) -> Result<(), RankError> {
        if !regroups.is_empty() {
            Arc::make_mut(&mut self.log).push(Step::Regroup(regroups.to_vec()));
        }
        Ok(())
    }
}
