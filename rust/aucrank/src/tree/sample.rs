//! The rows of a fit: coded and counted, with the data that all its trees share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::parallel::prelude::*;

use super::grow::{GrowParams, Splitter, grow};
use super::model::{NO_CUBE, RankingTree, Router, TILE_ROWS, TreeFrame};
use crate::data::{
    Binned, ClassSums, Columns, Labels, MemorySource, RowTally, SumSource, Tally, binding,
};
use crate::{Interrupt, RankError};

/// Data shared by the trees of a fit: the tree on the whole sample and those of its folds.
#[derive(Debug)]
pub(super) struct Sample<'a, R> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) binned: &'a Binned,
    pub(super) labels: &'a Labels<'a>,
    pub(super) params: &'a GrowParams,
    pub(super) frame: Arc<TreeFrame>,
    /// Tally of a row; `()` before it is known.
    row_tally: R,
    /// Features that stumps may test, in ascending order; `None` for all.
    pub(super) features: Option<Vec<usize>>,
    spare: Mutex<Vec<Vec<u32>>>,
}

impl<'a> Sample<'a, ()> {
    /// Rows that are not counted yet. `monotonic` is as in
    /// [`TreeRankParams`](super::TreeRankParams).
    pub(super) fn new(
        columns: &'a Columns<'a>,
        binned: &'a Binned,
        labels: &'a Labels<'a>,
        params: &'a GrowParams,
        monotonic: &[i8],
    ) -> Self {
        let frame = Arc::new(TreeFrame {
            n_levels: columns.n_levels(),
            has_missing: binned.has_missing(&labels.rows()),
            exponent: labels.exponent(),
            leaf_order: params.leaf_order,
            monotonic: binding(monotonic),
            grid: None,
        });
        let spare = Mutex::default();
        Self { columns, binned, labels, params, frame, row_tally: (), features: None, spare }
    }
}

impl<'a, R> Sample<'a, R> {
    /// The same rows with another tally, for trees that test some of the features.
    pub(super) fn counted_by<Q>(
        &self,
        row_tally: Q,
        features: Option<Vec<usize>>,
    ) -> Sample<'a, Q> {
        Sample {
            columns: self.columns,
            binned: self.binned,
            labels: self.labels,
            params: self.params,
            frame: Arc::clone(&self.frame),
            row_tally,
            features,
            spare: Mutex::default(),
        }
    }

    /// An empty buffer of row numbers, reused from an earlier tree if possible.
    pub(super) fn buffer(&self) -> Vec<u32> {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = spare.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// Returns buffers for later trees: a forest allocates them once per thread.
    pub(super) fn leave(&self, buffers: impl IntoIterator<Item = Vec<u32>>) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).extend(buffers);
    }

    /// Grows a tree on the rows of a source, whose class sums are `total`.
    pub(super) fn grow_by<S: SumSource>(
        &self,
        splitter: &impl Splitter<S>,
        source: &mut S,
        total: ClassSums,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        let frame = Arc::clone(&self.frame);
        grow(source, splitter, total, frame, self.params, seed, interrupt)
    }
}

impl<R: RowTally + Copy> Sample<'_, R> {
    /// Contribution of a row to a bin.
    pub(super) fn tally(&self, row: u32) -> R::Tally {
        self.row_tally.of(row as usize)
    }

    /// Contribution of a row to the sums of its node.
    pub(super) fn sums(&self, row: u32) -> ClassSums {
        self.tally(row).sums()
    }

    /// Class sums of some rows.
    pub(super) fn total(&self, rows: &[u32]) -> ClassSums {
        rows.iter().map(|&row| self.sums(row)).sum()
    }

    /// Class sums of some rows in every node of a tree, given the places of their leaves in the
    /// ranking.
    pub(super) fn sums_of_nodes(
        &self,
        tree: &RankingTree,
        rows: &[u32],
        places: &[u32],
    ) -> Vec<ClassSums> {
        let leaves = tree.leaves();
        let mut sums = vec![ClassSums::default(); tree.nodes().len()];
        for (&place, &row) in places.iter().zip(rows) {
            sums[leaves[place as usize]] += self.sums(row);
        }
        tree.add_up(&mut sums);
        sums
    }

    /// Some of the rows, as a source of sums.
    pub(super) fn source<'s>(
        &'s self,
        rows: Vec<u32>,
        interrupt: &'s Interrupt,
    ) -> MemorySource<'s, R> {
        MemorySource::with_scratch(self.binned, self.row_tally, rows, self.buffer(), interrupt)
    }
}

/// Place in the ranking of the leaf of each of some rows, given in codes. `cubes` has the cube of
/// every row, for trees that split by cubes.
pub(crate) fn places_by_codes(
    binned: &Binned,
    tree: &RankingTree,
    rows: &[u32],
    cubes: Option<&[u64]>,
) -> Vec<u32> {
    let features = binned.features();
    let router = Router::new(tree, |test| test.to_codes(&features[test.feature]));
    let place = |&row: &u32| {
        let row = row as usize;
        let cube = cubes.map_or(NO_CUBE, |cubes| cubes[row]);
        router.leaf(cube, |test| {
            let missing = features[test.feature].n_bins() as u32;
            test.goes_left(binned.code(row, test.feature), missing)
        }) as u32
    };
    rows.par_iter().with_min_len(TILE_ROWS).map(place).collect()
}
