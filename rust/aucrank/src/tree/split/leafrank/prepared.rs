//! The rule once there are rows.

use super::params::LeafRankParams;
use crate::Interrupt;
use crate::data::{Folds, MemorySource, RowTally};
use crate::tree::prune::CvParams;
use crate::tree::sample::Sample;
use crate::tree::split::stump::CellMeans;

/// Stumps on the rows of a fit.
#[derive(Debug)]
pub(in crate::tree) struct PreparedStumps {
    pub(super) params: LeafRankParams,
    /// Where missing values count as means.
    pub(super) means: Option<CellMeans>,
    /// Where trees of stumps are pruned: the folds of all rows.
    pub(super) folds: Option<(Folds, CvParams)>,
}

impl PreparedStumps {
    /// Some of the rows, as a source of sums.
    pub(super) fn source<'s, R: RowTally + Copy>(
        &'s self,
        sample: &'s Sample<'_, R>,
        rows: Vec<u32>,
        interrupt: &'s Interrupt,
    ) -> MemorySource<'s, R> {
        let source = sample.source(rows, interrupt);
        match &self.means {
            Some(means) => source.with_values(sample.columns, &means.scales),
            None => source,
        }
    }
}
