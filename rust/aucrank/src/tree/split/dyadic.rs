//! A split by the partition-based rule on dyadic cubes (paper 2 sec. 3.2).
//!
//! Only occupied cubes are processed, never all `2^(level q)`. Their class sums are computed once
//! for a tree, and the cubes are sorted by eta once: a side of a split is a leading or a trailing
//! run of its node's cubes, so every node is a run of that list, whatever the splits above it. That
//! also shows why the training curve is concave at one level (paper 2 Remark 8): from the first
//! leaf to the last, no cube comes before one of larger eta.
//!
//! A row keeps its cube on its way down. If missing values were imputed again in each node, `start`
//! and `descend` would have to compute class sums from the rows of the node instead.

use std::ops::Range;

use crate::parallel::prelude::*;
use serde::{Deserialize, Serialize};

use super::criterion::{CutCriterion, best_prefix};
use super::{PreparedRule, RuleParams};
use crate::data::{Binned, CellId, ClassSums, RowTally, SumSource};
use crate::external::ExternalFitter;
use crate::tree::grow::{Division, LeastSplit, OpenNode, SplitFamily, Splitter};
use crate::tree::model::{CubeGrid, CubeKeys, Cubes, RankingTree, SplitForm};
use crate::tree::prune::Complexity;
use crate::tree::sample::{Sample, places_by_codes};
use crate::{Interrupt, RankError, parallel};

/// How fine the cubes are.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{DyadicParams, GrowParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let fit = |level| {
///     let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Dyadic(DyadicParams { level }));
///     fit((&columns, &labels), &params, &Interrupt::default()).map(|fitted| fitted.tree.auc())
/// };
/// // Halves of the range have a row of each class; quarters have one row each.
/// assert_eq!((fit(Some(1))?, fit(Some(2))?), (0.5, 1.0));
/// assert_eq!(fit(Some(64)).unwrap_err().to_string(), "level is 64, but must be from 1 to 63");
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DyadicParams {
    /// Cubes have sides of `2^-level`, the features being scaled to `[0, 1]`; at least 1. The
    /// number of a cube, of `level` binary digits for each feature, must fit 63 bits. `None` for
    /// the level up to 16 whose trees rank rows outside their training set best: those of the
    /// pruning, by cross-validation or by rows held out, else 5 folds (paper 2 Remark 6). It is
    /// chosen for a single tree on rows in memory.
    pub level: Option<u32>,
}

impl RuleParams for DyadicParams {
    type Prepared<'a> = CubeKeys;

    fn name(&self) -> &'static str {
        "dyadic"
    }

    fn validate(&self) -> Result<(), RankError> {
        match self.level {
            None | Some(1..=63) => Ok(()),
            Some(level) => Err(RankError::BadParameter {
                name: "level",
                value: level.to_string(),
                rule: "from 1 to 63",
            }),
        }
    }

    fn complexity(&self) -> Option<Complexity> {
        // If the level is chosen, the trees of each level are penalised by their own level.
        Some(Complexity::Cubes { level: self.level.unwrap_or(1) as usize })
    }

    fn prepare<'a>(
        &self,
        sample: &Sample<'a, ()>,
        _: u64,
        _: Option<&'a dyn ExternalFitter>,
        interrupt: &Interrupt,
    ) -> Result<CubeKeys, RankError> {
        let Sample { columns, labels, frame, .. } = sample;
        let level = self.level.ok_or(RankError::BadParameter {
            name: "level",
            value: "'auto'".to_owned(),
            rule: "a number here: it is chosen for a single tree alone",
        })?;
        CubeKeys::new(columns, labels, &frame.has_missing, level, interrupt)
    }
}

impl PreparedRule for CubeKeys {
    fn grow<R: RowTally + Copy>(
        &self,
        sample: &Sample<'_, R>,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        let total = sample.total(&rows);
        let least = sample.params.least_split(total);
        let splitter = DyadicSplitter::new(self, |row| sample.sums(row), &rows, least);
        let mut source = sample.source(rows, interrupt);
        sample.grow_by(&splitter, &mut source, total, seed, interrupt)
    }

    fn grid(&self) -> Option<&CubeGrid> {
        Some(&self.grid)
    }

    fn places(
        &self,
        binned: &Binned,
        tree: &RankingTree,
        rows: &[u32],
    ) -> Result<Vec<u32>, RankError> {
        Ok(places_by_codes(binned, tree, rows, Some(&self.of_row)))
    }
}

/// Splits nodes by dyadic cubes.
#[derive(Debug)]
pub(in crate::tree) struct DyadicSplitter<'a> {
    grid: &'a CubeGrid,
    /// The occupied cubes by decreasing eta, ties by ascending number.
    cubes: Vec<(u64, ClassSums)>,
    least: LeastSplit,
}

impl<'a> DyadicSplitter<'a> {
    pub(in crate::tree) fn new(
        keys: &'a CubeKeys,
        sums: impl Fn(u32) -> ClassSums,
        rows: &[u32],
        least: LeastSplit,
    ) -> Self {
        let mut rows: Vec<(u64, u32)> =
            rows.iter().map(|&row| (keys.of_row[row as usize], row)).collect();
        rows.par_sort_unstable();
        let cube = |rows: &[(u64, u32)]| (rows[0].0, rows.iter().map(|&(_, row)| sums(row)).sum());
        let mut cubes: Vec<(u64, ClassSums)> = rows.chunk_by(|a, b| a.0 == b.0).map(cube).collect();
        cubes.par_sort_unstable_by(|a, b| b.1.cmp_eta(a.1).then(a.0.cmp(&b.0)));
        Self { grid: &keys.grid, cubes, least }
    }

    fn sums(&self, cubes: Range<usize>) -> impl Iterator<Item = ClassSums> {
        self.cubes[cubes].iter().map(|&(_, sums)| sums)
    }

    fn division(&self, node: &OpenNode<Range<usize>>) -> Option<Division> {
        let cubes = node.kept.clone();
        let (n_left, left) = best_prefix(
            node.sums,
            self.sums(cubes.clone()),
            self.least.rows,
            CutCriterion::Youden,
        )?;
        if node.sums.gain(left) as f64 <= self.least.gain {
            return None;
        }
        let sided = self.cubes[cubes].iter().enumerate();
        let sided = sided.map(|(place, &(key, sums))| (key, sums, place < n_left));
        Some(Division {
            form: SplitForm::Cubes(Cubes::new(self.grid, node.sums, sided)),
            // The rows stay where they are: they are not queried again.
            left_cells: Vec::new(),
            right_cells: Vec::new(),
            left,
        })
    }
}

impl<S: SumSource> Splitter<S> for DyadicSplitter<'_> {
    /// The range of the cubes of the node.
    type Kept = Range<usize>;

    fn start(&self, _: &S, root: OpenNode<()>) -> Result<OpenNode<Self::Kept>, RankError> {
        Ok(root.keeping(0..self.cubes.len()))
    }

    fn divide(
        &self,
        _: &mut S,
        nodes: &[OpenNode<Self::Kept>],
        _: &mut CellId,
    ) -> Result<Vec<Option<Division>>, RankError> {
        Ok(parallel::map(nodes.iter().collect(), |node| self.division(node)))
    }

    fn descend(
        &self,
        _: &S,
        families: Vec<SplitFamily<Self::Kept>>,
    ) -> Result<Vec<OpenNode<Self::Kept>>, RankError> {
        let mut open = Vec::with_capacity(2 * families.len());
        for family in families {
            let (cubes, left_rows) = (family.parent.kept.clone(), family.children[0].sums.rows);
            let mut rows = 0;
            let is_left = |sums: &ClassSums| {
                rows += sums.rows;
                rows <= left_rows
            };
            let middle = cubes.start + self.sums(cubes.clone()).take_while(is_left).count();
            let kept = [cubes.start..middle, middle..cubes.end];
            let children = family.children.into_iter().zip(family.may_split).zip(kept);
            open.extend(
                children.filter_map(|((child, may_split), kept)| {
                    may_split.then(|| child.keeping(kept))
                }),
            );
        }
        Ok(open)
    }

    fn n_bytes(&self, _: &Self::Kept) -> usize {
        size_of::<Self::Kept>()
    }
}
