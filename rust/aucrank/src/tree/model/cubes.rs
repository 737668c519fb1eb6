//! Dyadic cubes: the cube of a row, and the cubes on the left side of a split.
//!
//! Every number is scaled to `[0, 1]` by the least and the largest value of the training rows and
//! cut into `2^level` equal pieces (DECISIONS T8, T9). The high bits of the number of a cube hold
//! what is not scaled: the code of each category and, for each feature with missing values in
//! training, whether it is missing. The low bits hold, for l = 1, ..., level, the l-th binary digit
//! of every scaled number. So a right shift gives the cube of a coarser level around a cube, and
//! rows that differ in a category, or in which values are missing, share no cube at any level.

use serde::{Deserialize, Serialize};

use crate::data::{ClassSums, Column, Columns, Labels};
use crate::parallel::prelude::*;
use crate::tree::TreeError;
use crate::{Interrupt, RankError};

/// Binary digits of the number of a cube. One bit of the word is left for the side of the cube.
const KEY_BITS: u32 = 63;

/// The number of no cube: for a row with a missing value in a feature without any in training.
pub(in crate::tree) const NO_CUBE: u64 = u64::MAX;

/// Rows whose cubes one thread numbers at a time.
const TILE_ROWS: usize = 128;

/// Contribution of a feature to the number of a cube.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CubeAxis {
    /// A number.
    Numeric {
        /// Least value of the training rows.
        low: f64,
        /// Largest value.
        high: f64,
        /// Whether a training row has a missing value.
        has_missing: bool,
    },
    /// A category.
    Categorical {
        /// Number of categories; also the code of a missing one.
        n_levels: u32,
    },
    /// A numeric feature without a known value in training.
    Unknown,
}

impl CubeAxis {
    /// Whether a number has a range to cut. Half of the range is always finite.
    fn is_scaled(self) -> bool {
        matches!(self, Self::Numeric { low, high, .. } if 0.5 * high - 0.5 * low > 0.0)
    }

    /// Digits that do not depend on the level.
    fn n_label_bits(self) -> u32 {
        match self {
            Self::Numeric { has_missing, .. } => has_missing.into(),
            Self::Categorical { n_levels } => u32::BITS - n_levels.leading_zeros(),
            Self::Unknown => 0,
        }
    }
}

/// How the feature space is cut into cubes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::tree) struct CubeGrid {
    /// Cubes have sides of `2^-level`.
    level: u32,
    /// Number of scaled features, each with one digit per level.
    n_scaled: u32,
    axes: Vec<CubeAxis>,
}

impl CubeGrid {
    /// Scales the features by the training rows.
    fn new(
        columns: &Columns<'_>,
        rows: &[u32],
        has_missing: &[bool],
        level: u32,
    ) -> Result<Self, RankError> {
        let axis = |(column, &has_missing): (&Column<'_>, &bool)| {
            let range = match column {
                Column::F64(values) => range_of(rows, |row| values.get(row)),
                Column::F32(values) => range_of(rows, |row| values.get(row)),
                Column::Codes { n_levels, .. } => {
                    return CubeAxis::Categorical { n_levels: *n_levels };
                }
            };
            range.map_or(CubeAxis::Unknown, |(low, high)| CubeAxis::Numeric {
                low,
                high,
                has_missing,
            })
        };
        let axes: Vec<CubeAxis> = columns.iter().zip(has_missing).map(axis).collect();
        let n_scaled = axes.iter().filter(|axis| axis.is_scaled()).count() as u32;
        let grid = Self { level, n_scaled, axes };
        if grid.n_bits() > KEY_BITS.into() {
            let labels = grid.n_bits() - u64::from(level) * u64::from(n_scaled);
            let left = u64::from(KEY_BITS).saturating_sub(labels);
            return Err(RankError::Tree(TreeError::CubesTooFine {
                level,
                n_features: grid.axes.len(),
                n_bits: grid.n_bits(),
                finest: left.checked_div(n_scaled.into()).unwrap_or(0),
            }));
        }
        Ok(grid)
    }

    pub(super) fn n_bits(&self) -> u64 {
        let labels: u64 = self.axes.iter().map(|axis| u64::from(axis.n_label_bits())).sum();
        labels + u64::from(self.level) * u64::from(self.n_scaled)
    }

    /// Cubes have sides of 2 to the power of minus this.
    pub(in crate::tree) fn level(&self) -> u32 {
        self.level
    }

    /// Number of levels at which cubes differ.
    fn n_depths(&self) -> usize {
        if self.n_scaled == 0 { 1 } else { self.level as usize }
    }

    /// The cube of a row in the form that [`Columns::read_rows`] returns; values beyond the range
    /// of the training rows lie in the outermost cubes.
    pub(in crate::tree) fn key(&self, row: &[f64]) -> u64 {
        let (mut labels, mut digits, mut place) = (0, 0, 0);
        for (&axis, &value) in self.axes.iter().zip(row) {
            match axis {
                CubeAxis::Numeric { low, high, has_missing } => {
                    let is_missing = value.is_nan();
                    if has_missing {
                        labels = labels << 1 | u64::from(is_missing);
                    } else if is_missing {
                        return NO_CUBE;
                    }
                    if axis.is_scaled() {
                        if !is_missing {
                            digits |= self.spread(self.piece(value, low, high)) << place;
                        }
                        place += 1;
                    }
                }
                CubeAxis::Categorical { n_levels } => {
                    let code = if value < n_levels.into() { value as u64 } else { n_levels.into() };
                    labels = labels << axis.n_label_bits() | code;
                }
                CubeAxis::Unknown => {}
            }
        }
        labels << (self.level * self.n_scaled) | digits
    }

    /// The piece of the range that holds a number, from 0 on; the largest value is in the last one.
    fn piece(&self, value: f64, low: f64, high: f64) -> u64 {
        // Halves, since the range of two finite numbers may overflow. At `high` the piece would be
        // one too many: the last one is closed (DECISIONS T9).
        let share = (0.5 * value.clamp(low, high) - 0.5 * low) / (0.5 * high - 0.5 * low);
        let n_pieces = 1_u64 << self.level;
        ((share * n_pieces as f64) as u64).min(n_pieces - 1)
    }

    /// Spreads the digits of a number, to leave room for those of the others.
    fn spread(&self, piece: u64) -> u64 {
        // The digits of all features are interleaved, the coarsest highest: one shift by the number
        // of features gives the cube around a cube, whatever the level.
        (0..self.level)
            .fold(0, |word, digit| word | (piece >> digit & 1) << (digit * self.n_scaled))
    }

    /// Checks that the grid fits the features of a loaded tree.
    pub(in crate::tree) fn check(&self, n_levels: &[Option<u32>]) -> Result<(), String> {
        let suits = |(axis, n_levels): (&CubeAxis, &Option<u32>)| match *axis {
            CubeAxis::Numeric { low, high, .. } => {
                n_levels.is_none() && low.is_finite() && high.is_finite() && low <= high
            }
            CubeAxis::Categorical { n_levels: n } => *n_levels == Some(n),
            CubeAxis::Unknown => n_levels.is_none(),
        };
        if self.axes.len() != n_levels.len() || !self.axes.iter().zip(n_levels).all(suits) {
            return Err("the cubes are not those of the features".to_owned());
        }
        let n_scaled = self.axes.iter().filter(|axis| axis.is_scaled()).count();
        let fits = (1..=KEY_BITS).contains(&self.level) && self.n_bits() <= KEY_BITS.into();
        if fits && n_scaled == self.n_scaled as usize {
            Ok(())
        } else {
            Err("the cubes cannot be numbered".to_owned())
        }
    }
}

/// Least and largest known value.
fn range_of(rows: &[u32], value: impl Fn(usize) -> f64 + Sync) -> Option<(f64, f64)> {
    // A sum with 0.0 leaves no -0.0, which would tie with 0.0 and be taken by the order of the
    // rows.
    let known = rows.par_iter().map(|&row| value(row as usize) + 0.0).filter(|v| !v.is_nan());
    known.map(|value| (value, value)).reduce_with(|a, b| (f64::min(a.0, b.0), f64::max(a.1, b.1)))
}

/// The grid and the cube of each training row, shared by every tree of a fit.
#[derive(Debug)]
pub(in crate::tree) struct CubeKeys {
    pub(in crate::tree) grid: CubeGrid,
    pub(in crate::tree) of_row: Vec<u64>,
}

impl CubeKeys {
    /// Scales the features by the rows of positive weight and numbers the cube of every row.
    pub(in crate::tree) fn new(
        columns: &Columns<'_>,
        labels: &Labels<'_>,
        has_missing: &[bool],
        level: u32,
        interrupt: &Interrupt,
    ) -> Result<Self, RankError> {
        let grid = CubeGrid::new(columns, &labels.rows(), has_missing, level)?;
        let n_features = columns.n_features();
        let mut of_row = vec![0; columns.n_rows()];
        if n_features > 0 {
            of_row.par_chunks_mut(TILE_ROWS).enumerate().with_min_len(16).try_for_each_init(
                Vec::new,
                |tile, (chunk, keys)| {
                    interrupt.check()?;
                    let first = chunk * TILE_ROWS;
                    tile.resize(keys.len() * n_features, 0.0);
                    columns.read_rows(first..first + keys.len(), tile);
                    for (row, key) in tile.chunks_exact(n_features).zip(keys) {
                        *key = grid.key(row);
                    }
                    Ok(())
                },
            )?;
        }
        Ok(Self { grid, of_row })
    }
}

/// The cubes of a node that its training rows occupy, level by level, and the side of each.
///
/// A row of a cube without training rows of the node takes the side of the smallest cube around it
/// that has some, and goes right if there is none (DECISIONS T7).
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
/// let tree = fit((&columns, &labels), &params, &Interrupt::default())?.tree;
/// // Two halves of the range, of which the upper one goes left.
/// let split = tree.nodes()[0].split.as_ref().expect("the classes differ");
/// let SplitForm::Cubes(cubes) = &split.form else { unreachable!("the rule is dyadic") };
/// assert_eq!((cubes.n_cubes(), cubes.n_left()), (2, 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cubes {
    /// From the coarsest to the finest.
    levels: Vec<SidedCubes>,
}

/// Numbers of cubes, ascending, each doubled, plus 1 if the cube goes left. Saved as differences
/// from one to the next, which have few digits.
#[derive(Debug, Clone, PartialEq)]
struct SidedCubes(Vec<u64>);

impl Cubes {
    /// From the number, the class sums and the side of each cube of a node. The cubes around them
    /// go left if their share of positives is at least that of the node.
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
                // A cube that training rows did not reach is sent with the smallest one around it
                // that they did (DECISIONS T7); its side is that of its rows together, at least the
                // rate of the node.
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

    /// Number of cubes of the finest level on the left, and of all.
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

    /// Number of these cubes that go left.
    #[must_use]
    pub fn n_left(&self) -> usize {
        self.finest().iter().filter(|&&sided| sided & 1 == 1).count()
    }

    /// Checks that these can be the cubes of a node.
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

/// The saved form of the cubes of a node.
mod saved {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::SidedCubes;

    impl Serialize for SidedCubes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let before = std::iter::once(&0).chain(&self.0);
            serializer.collect_seq(self.0.iter().zip(before).map(|(sided, before)| sided - before))
        }
    }

    impl<'de> Deserialize<'de> for SidedCubes {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let mut words = Vec::<u64>::deserialize(deserializer)?;
            let mut sum = 0_u64;
            for word in &mut words {
                sum = sum
                    .checked_add(*word)
                    .ok_or_else(|| D::Error::custom("the numbers of cubes are too large"))?;
                *word = sum;
            }
            Ok(Self(words))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    fn keys(
        columns: &Columns<'_>,
        has_missing: &[bool],
        level: u32,
    ) -> Result<CubeKeys, RankError> {
        let positive: Vec<bool> = (0..columns.n_rows()).map(|row| row == 0).collect();
        let labels = Labels::new(&positive, None).unwrap();
        CubeKeys::new(columns, &labels, has_missing, level, &Interrupt::default())
    }

    #[test]
    fn digits_are_ordered_by_level_so_that_a_shift_gives_the_cube_around() {
        // Scaled by [0, 8] and [0, 1]; 8 and 1 are in the last of four pieces.
        let values = [0.0, 0.0, 8.0, 1.0, 2.0, 0.5, 5.9, 0.25];
        let columns = Columns::from_row_major(&values, 2).unwrap();
        let found = keys(&columns, &[false; 2], 2).unwrap();
        // Pieces (0, 0), (3, 3), (1, 2), (2, 1); the digit of the second feature comes first.
        assert_eq!(found.of_row, [0b0000, 0b1111, 0b1001, 0b0110]);
        assert_eq!(found.grid.key(&[-5.0, 7.0]), 0b1010, "beyond the range: the outermost cubes");
        assert_eq!(found.grid.key(&[NAN, 0.5]), NO_CUBE);
    }

    #[test]
    fn unscaled_values_are_in_the_high_bits_at_every_level() {
        let (numbers, constant, unknown) = ([1.0, NAN, 2.0], [3.0; 3], [NAN; 3]);
        let codes = Column::Codes { codes: &[1, 2, 0], n_levels: 3 };
        let columns = Columns::new(
            vec![numbers[..].into(), codes, constant[..].into(), unknown[..].into()],
            3,
        )
        .unwrap();
        let grid = keys(&columns, &[true, false, false, true], 2).unwrap().grid;
        assert_eq!(grid.n_bits(), 1 + 2 + 2);
        // Missing or not, two digits of the category, two of the number.
        assert_eq!(grid.key(&[1.0, 1.0, 3.0, NAN]), 0b0_01_00);
        assert_eq!(grid.key(&[NAN, 2.0, 3.0, NAN]), 0b1_10_00);
        assert_eq!(grid.key(&[2.0, NAN, 9.0, 1.0]), 0b0_11_11);
        assert_eq!(grid.key(&[2.0, 7.0, 9.0, 1.0]), 0b0_11_11, "a code beyond the last is missing");
    }

    #[test]
    fn a_range_may_be_wider_than_a_number() {
        let values = [f64::MIN, f64::MAX, 0.0, 1e300];
        let columns = Columns::from_row_major(&values, 1).unwrap();
        assert_eq!(keys(&columns, &[false], 1).unwrap().of_row, [0, 1, 1, 1]);
    }

    #[test]
    fn cubes_that_cannot_be_numbered_are_refused() {
        let values = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        let columns = Columns::from_row_major(&values, 3).unwrap();
        assert_eq!(keys(&columns, &[false; 3], 21).unwrap().of_row, [0, u64::MAX >> 1]);
        let err = keys(&columns, &[false; 3], 22).unwrap_err();
        assert_eq!(
            err.to_string(),
            "level is 22, but must be at most 21 for 3 features: the number of a cube has 63 binary \
             digits, and this level takes 66"
        );
        let one_missing = keys(&columns, &[true, false, false], 21).unwrap_err();
        assert!(one_missing.to_string().contains("at most 20"), "{one_missing}");
        let wide: Vec<f64> = (0..128).map(|i| f64::from(i / 64)).collect();
        let columns = Columns::from_row_major(&wide, 64).unwrap();
        let err = keys(&columns, &[false; 64], 1).unwrap_err();
        assert!(
            err.to_string().starts_with("level is 1, but none is coarse enough for 64"),
            "{err}"
        );
    }

    #[test]
    fn a_forged_grid_is_refused() {
        let columns = Columns::from_row_major(&[0.0, 0.0, 1.0, 1.0], 2).unwrap();
        let grid = keys(&columns, &[false; 2], 2).unwrap().grid;
        assert_eq!(grid.check(&[None, None]), Ok(()));
        assert!(grid.check(&[None]).is_err());
        assert!(grid.check(&[None, Some(2)]).is_err());
        let text = serde_json::to_string(&grid).unwrap();
        for (from, to) in [
            ("\"level\":2", "\"level\":0"),
            ("\"level\":2", "\"level\":40"),
            ("1.0", "-1.0"),
            ("\"n_scaled\":2", "\"n_scaled\":1"),
        ] {
            let forged: CubeGrid = serde_json::from_str(&text.replacen(from, to, 1)).unwrap();
            assert!(forged.check(&[None, None]).is_err(), "{from} {to}");
        }
    }

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
        // Around it 3 of 5 are positive, then 2 of 5, of the node 1 of 2; then nothing is around
        // it.
        for (key, goes_left) in [(0b0001, true), (0b0110, false), (0b1000, false), (NO_CUBE, false)]
        {
            assert_eq!(cubes.goes_left(&grid, key), goes_left, "{key:b}");
        }
    }

    #[test]
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
