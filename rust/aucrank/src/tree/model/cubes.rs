//! Which dyadic cubes make up the left side of a split.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::cube_grid::{CubeGrid, NO_CUBE};
use crate::data::ClassSums;

#[cfg(feature = "serde")]
mod saved;

/// The cubes of a node that its training rows occupy, level by level, and the side of each.
///
/// A row of a cube that no training row of the node occupies takes the side of the smallest cube
/// around it that one does, and goes right where there is none (DECISIONS T7).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{DyadicParams, GrowParams, SplitForm, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
/// let params = TreeRankParams::new(grow, SplitRule::Dyadic(DyadicParams { level: Some(1) }));
/// let tree = fit(&columns, &labels, &params, &Interrupt::default())?.tree;
/// // Two halves of the range, of which the upper one goes left.
/// let split = tree.nodes()[0].split.as_ref().expect("the classes differ");
/// let SplitForm::Cubes(cubes) = &split.form else { unreachable!("the rule is dyadic") };
/// assert_eq!((cubes.n_cubes(), cubes.n_left()), (2, 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(transparent))]
pub struct Cubes {
    /// From the coarsest to the finest.
    levels: Vec<SidedCubes>,
}

/// Numbers of cubes, ascending, each doubled and one more where the cube goes left. Saved as the
/// steps from one to the next, which have few digits.
#[derive(Debug, Clone, PartialEq)]
struct SidedCubes(Vec<u64>);

impl Cubes {
    /// Takes the number, the class sums and the side of each cube of a node. The cubes around them go
    /// left where they have at least the share of positives of the node.
    pub(in crate::tree) fn new(
        grid: &CubeGrid,
        node: ClassSums,
        cubes: impl Iterator<Item = (u64, ClassSums, bool)>,
    ) -> Self {
        let sided = |key: u64, goes_left: bool| key << 1 | u64::from(goes_left);
        let mut level: Vec<(u64, ClassSums)> =
            cubes.map(|(key, sums, goes_left)| (sided(key, goes_left), sums)).collect();
        level.sort_unstable_by_key(|&(sided, _)| sided);
        let mut levels = vec![SidedCubes(level.iter().map(|&(sided, _)| sided).collect())];
        for _ in 1..grid.n_depths() {
            let around = |cube: &(u64, ClassSums)| cube.0 >> 1 >> grid.n_scaled;
            let merged = level.chunk_by(|a, b| around(a) == around(b)).map(|inside| {
                let sums: ClassSums = inside.iter().map(|&(_, sums)| sums).sum();
                (sided(around(&inside[0]), sums.cmp_eta(node).is_ge()), sums)
            });
            level = merged.collect();
            levels.push(SidedCubes(level.iter().map(|&(sided, _)| sided).collect()));
        }
        levels.reverse();
        Self { levels }
    }

    /// Whether a row of this cube goes left.
    #[inline]
    pub(in crate::tree) fn goes_left(&self, grid: &CubeGrid, key: u64) -> bool {
        if key == NO_CUBE {
            return false;
        }
        let (mut key, mut levels) = (key, self.levels.iter().rev());
        loop {
            let Some(level) = levels.next() else { return false };
            if let Some(side) = level.side(key) {
                return side;
            }
            key >>= grid.n_scaled;
        }
    }

    /// Cubes of the finest level on the left, and all of them.
    pub(super) fn count(&self) -> (usize, usize) {
        let finest = self.finest();
        (finest.iter().filter(|&&sided| sided & 1 == 1).count(), finest.len())
    }

    fn finest(&self) -> &[u64] {
        self.levels.last().map_or(&[], |level| &level.0)
    }

    /// Number of cubes of the finest level that the training rows of the node occupy.
    #[must_use]
    pub fn n_cubes(&self) -> usize {
        self.finest().len()
    }

    /// How many of them go left.
    #[must_use]
    pub fn n_left(&self) -> usize {
        self.finest().iter().filter(|&&sided| sided & 1 == 1).count()
    }

    /// Whether these can be the cubes of a node.
    pub(in crate::tree) fn check(&self, grid: &CubeGrid) -> Result<(), String> {
        let ascends =
            |level: &SidedCubes| level.0.windows(2).all(|pair| pair[0] >> 1 < pair[1] >> 1);
        let fits = self.finest().last().is_none_or(|&last| last >> 1 >> grid.n_bits() == 0);
        if self.levels.len() != grid.n_depths() || !fits || !self.levels.iter().all(ascends) {
            return Err("its cubes are not in order".to_owned());
        }
        if self.n_left() == 0 || self.n_left() == self.n_cubes() {
            return Err("a side has no cube".to_owned());
        }
        let around = |pair: &[SidedCubes]| {
            let mut keys: Vec<u64> =
                pair[1].0.iter().map(|sided| sided >> 1 >> grid.n_scaled).collect();
            keys.dedup();
            keys.into_iter().eq(pair[0].0.iter().map(|sided| sided >> 1))
        };
        if self.levels.windows(2).all(around) {
            Ok(())
        } else {
            Err("a level of its cubes is not around the next".to_owned())
        }
    }
}

impl SidedCubes {
    /// Whether a cube goes left, if it is here.
    fn side(&self, key: u64) -> Option<bool> {
        let place = self.0.binary_search_by_key(&key, |sided| sided >> 1).ok()?;
        Some(self.0[place] & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{Columns, Labels};
    use crate::tree::model::cube_grid::CubeKeys;

    fn node() -> (CubeGrid, Cubes) {
        let columns = Columns::from_row_major(&[0.0, 0.0, 1.0, 1.0], 2).unwrap();
        let labels = Labels::new(&[true, false], None).unwrap();
        let keys = CubeKeys::new(&columns, &labels, &[false; 2], 2, &Interrupt::default());
        let grid = keys.unwrap().grid;
        let sums = |pos, neg| ClassSums { pos, neg, rows: pos + neg };
        let inside = [
            (0b0000, sums(3, 0), true),
            (0b0011, sums(0, 2), false),
            (0b0100, sums(0, 2), false),
            (0b0111, sums(2, 1), true),
        ];
        let cubes = Cubes::new(&grid, sums(5, 5), inside.into_iter());
        (grid, cubes)
    }

    #[test]
    fn an_unseen_cube_goes_with_the_smallest_one_around_it_or_right() {
        let (grid, cubes) = node();
        cubes.check(&grid).unwrap();
        assert_eq!((cubes.n_cubes(), cubes.n_left()), (4, 2));
        for (key, goes_left) in [(0b0000, true), (0b0011, false), (0b0111, true), (0b0100, false)] {
            assert_eq!(cubes.goes_left(&grid, key), goes_left);
        }
        // Around it 3 of 5 are positive, then 2 of 5, of the node 1 of 2; then nothing is around it.
        for (key, goes_left) in [(0b0001, true), (0b0110, false), (0b1000, false), (NO_CUBE, false)]
        {
            assert_eq!(cubes.goes_left(&grid, key), goes_left, "{key:b}");
        }
    }

    #[test]
    #[cfg(feature = "serde")]
    fn saved_cubes_are_read_and_forged_ones_refused() {
        let (grid, cubes) = node();
        let text = serde_json::to_string(&cubes).unwrap();
        // Coarse: 0 left, 1 right. Fine: 0 left, 3 right, 4 right, 7 left. Doubled, and as steps.
        assert_eq!(text, "[[1,1],[1,5,2,7]]");
        assert_eq!(serde_json::from_str::<Cubes>(&text).unwrap(), cubes);
        let overflow = format!("[[1,1],[1,{}]]", u64::MAX);
        assert!(serde_json::from_str::<Cubes>(&overflow).is_err());
        for forged in [
            "[]",
            "[[1,5,2,7]]",
            "[[1,1],[]]",
            "[[1,1],[1,0,2,7]]",
            "[[1,1],[1,6,2,8]]",
            "[[1,3],[1,5,2,7]]",
            "[[1,1],[0,6,2,6]]",
            "[[1,1],[1,5,2,99]]",
            "[[1],[1,5,2,7]]",
        ] {
            let cubes: Cubes = serde_json::from_str(forged).unwrap();
            assert!(cubes.check(&grid).is_err(), "{forged}");
        }
    }
}
