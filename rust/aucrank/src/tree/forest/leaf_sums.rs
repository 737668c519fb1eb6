//! Sums of values of leaves of many trees, for scores that are such sums.

use std::ops::Range;

use super::row_codes::Tile;
use super::scorer::Scorer;
use crate::data::Columns;
use crate::tree::model::RankingTree;

/// Values of the leaves of trees, to be summed for each row.
#[derive(Debug)]
pub(crate) struct LeafSums<'t> {
    scorer: Scorer,
    /// For each tree, by place of the leaf in the ranking.
    values: Vec<&'t [f64]>,
}

/// Memory that [`LeafSums::add`] uses.
#[derive(Debug, Default)]
pub(crate) struct LeafTile {
    tile: Tile,
    leaves: Vec<u32>,
}

impl<'t> LeafSums<'t> {
    /// Of trees that ask single features, with the values of their leaves.
    pub(crate) fn new(trees: impl Iterator<Item = (&'t RankingTree, &'t [f64])>) -> Self {
        let (trees, values): (Vec<_>, _) = trees.unzip();
        Self { scorer: Scorer::new(trees), values }
    }

    /// Adds the values of all trees to the sums of some rows, which hold no infinity.
    pub(crate) fn add(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        memory: &mut LeafTile,
        sums: &mut [f64],
    ) {
        let LeafTile { tile, leaves } = memory;
        if self.values.is_empty() || !self.scorer.coder.code(columns, rows, tile) {
            return;
        }
        leaves.resize(sums.len(), 0);
        for (tree, values) in self.values.iter().enumerate() {
            self.scorer.leaves(tree, tile, leaves);
            for (sum, &leaf) in sums.iter_mut().zip(&*leaves) {
                *sum += values[leaf as usize];
            }
        }
    }
}
