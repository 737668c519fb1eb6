//! Answers as a source of sums, from which trees are grown.

use std::marker::PhantomData;
use std::sync::Arc;

use super::Rows;
use super::answer::{Answer, Sums, other};
use super::ask::{Ask, Step, View, Want};
use super::fit_id::Fit;
use crate::data::{
    CellSplit, ClassSums, Counts, FeatureBins, Histogram, HistogramRequest, Regroup, SumSource,
    Tally,
};
use crate::{Interrupt, RankError};

/// Bins in which answers come.
pub(crate) trait HistogramTally: Tally {
    /// The histograms that were asked for.
    fn histograms(answer: Answer) -> Result<Vec<Histogram<Self>>, RankError>;
}

impl HistogramTally for Counts {
    fn histograms(answer: Answer) -> Result<Vec<Histogram<Self>>, RankError> {
        match answer.0 {
            Sums::Counts(histograms) => Ok(histograms),
            _ => Err(other()),
        }
    }
}

impl HistogramTally for ClassSums {
    fn histograms(answer: Answer) -> Result<Vec<Histogram<Self>>, RankError> {
        match answer.0 {
            Sums::Weights(histograms) => Ok(histograms),
            _ => Err(other()),
        }
    }
}

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
        let ask = Ask {
            tree: self.fit.tree_id(self.tree),
            view: self.view.clone(),
            log: Arc::clone(&self.log),
            want: Want::Histograms(requests.to_vec()),
        };
        let mut histograms = T::histograms(self.rows.pass(&ask, self.interrupt)?)?;
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
