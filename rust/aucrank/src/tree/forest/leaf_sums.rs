//! Sums of values of leaves of many trees, for scores that are such sums.

use std::ops::Range;

use super::row_codes::Tile;
use super::scorer::{Scorer, TILE_ROWS};
use crate::data::Columns;
use crate::formula::Test;
use crate::tree::model::{RankingTree, Router};
use crate::{RankError, parallel};

/// Minimum number of tiles per thread.
const LEAST_TILES: usize = 4;

/// Values of the leaves of trees, to be summed for each row.
#[derive(Debug)]
pub(crate) struct LeafSums {
    scorer: Scorer,
    n_trees: usize,
    /// By place of the leaf among the steps of all trees.
    values: Vec<f64>,
}

/// Memory that [`LeafSums::add`] uses.
#[derive(Debug, Default)]
pub(crate) struct LeafTile {
    tile: Tile,
    /// Leaves of rows in one tree, or of one row in all trees.
    ends: Vec<u32>,
}

impl LeafSums {
    /// Of trees that ask single features, with the values of their leaves.
    pub(crate) fn new<'t>(trees: impl Iterator<Item = (&'t RankingTree, &'t [f64])>) -> Self {
        let (trees, values): (Vec<_>, Vec<_>) = trees.unzip();
        let values: Vec<Vec<f64>> = values.into_iter().map(<[f64]>::to_vec).collect();
        Self::of_values(Scorer::new(trees), &values)
    }

    /// Of trees given by their questions, as [`Router::of_tests`] takes them, with the values of their
    /// leaves by number; and the number of categories of each feature.
    pub(crate) fn of_routes(
        n_levels: &[Option<u32>],
        trees: impl Iterator<Item = (Vec<(Test, [Result<usize, usize>; 2])>, Vec<f64>)>,
    ) -> Self {
        let (routers, values): (Vec<_>, Vec<_>) =
            trees.map(|(routes, values)| (Router::of_tests(routes), values)).unzip();
        Self::of_values(Scorer::of_routers(&routers, n_levels), &values)
    }

    /// With the values of each tree by place of the leaf in the ranking.
    fn of_values(scorer: Scorer, values: &[Vec<f64>]) -> Self {
        Self { n_trees: values.len(), values: scorer.values_of_steps(values), scorer }
    }

    /// Adds the values of all trees to the sums of all rows.
    ///
    /// # Errors
    ///
    /// [`RankError::InfiniteValue`] if a number is infinite; [`RankError::Interrupted`].
    pub(crate) fn add_to_all(
        &self,
        columns: &Columns<'_>,
        sums: &mut [f64],
    ) -> Result<(), RankError> {
        let of_tile = |memory: &mut LeafTile, (tile, sums): (usize, &mut [f64])| {
            let start = tile * TILE_ROWS;
            !self.add(columns, start..start + sums.len(), memory, sums)
        };
        let tiles = sums.chunks_mut(TILE_ROWS).enumerate().collect();
        if parallel::map_with(tiles, LEAST_TILES, LeafTile::default, of_tile).contains(&true) {
            return Err(columns.refusal());
        }
        Ok(())
    }

    /// Adds the values of all trees to the sums of some rows; `false` where [`Columns::refusal`] has a
    /// reason not to.
    pub(crate) fn add(
        &self,
        columns: &Columns<'_>,
        rows: Range<usize>,
        memory: &mut LeafTile,
        sums: &mut [f64],
    ) -> bool {
        let LeafTile { tile, ends } = memory;
        if !self.scorer.coder.code(columns, rows, tile) {
            return false;
        }
        if let [sum] = sums {
            ends.resize(self.n_trees, 0);
            self.scorer.ends_of_row(tile, ends);
            *sum = ends.iter().fold(*sum, |sum, &end| sum + self.values[end as usize]);
            return true;
        }
        ends.resize(sums.len(), 0);
        for tree in 0..self.n_trees {
            self.scorer.ends(tree, tile, ends);
            for (sum, &end) in sums.iter_mut().zip(&*ends) {
                *sum += self.values[end as usize];
            }
        }
        true
    }
}
