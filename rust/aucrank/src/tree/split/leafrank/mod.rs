//! A split by a small tree of stumps whose cells are merged into two sides (paper 2 Fig. 5), pruned
//! or not, or by a single stump: the rule and its parameters.
//!
//! - `growing`: the tree of stumps of a node, on features that are drawn, and its parts merged into
//!   two sides;
//! - `splitter`: the trees of many nodes at once, also pruned before the merger.

mod growing;
mod splitter;

pub(in crate::tree) use splitter::LeafRankSplitter;

use serde::{Deserialize, Serialize};

use super::stump::{CellMeans, StumpTerms};
use super::{CutCriterion, PreparedRule, RuleParams};
use crate::data::{ClassSums, Folds, MemorySource, RowTally, RowUnits, mix};
use crate::external::ExternalFitter;
use crate::tree::grow::Missing;
use crate::tree::model::RankingTree;
use crate::tree::prune::{Complexity, CvParams};
use crate::tree::sample::Sample;
use crate::{Interrupt, RankError};
use splitter::PrunedLeafRankSplitter;

impl RuleParams for LeafRankParams {
    type Prepared<'a> = PreparedStumps;

    fn name(&self) -> &'static str {
        "stumps"
    }

    fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: usize, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        match *self {
            Self { max_depth: 0, .. } => bad("max_depth of the split", 0, "at least 1"),
            Self { max_leaves: Some(n @ 0..2), .. } => {
                bad("max_leaves of the split", n, "at least 2")
            }
            Self { min_samples_leaf: 0, .. } => {
                bad("min_samples_leaf of the split", 0, "at least 1")
            }
            Self { max_features: Some(0), .. } => bad("max_features", 0, "at least 1"),
            Self { pruning, .. } => pruning.iter().try_for_each(CvParams::validate),
        }
    }

    fn is_of_stumps(&self) -> bool {
        true
    }

    fn complexity(&self) -> Option<Complexity> {
        Some(Complexity::of_cuts(self.max_depth, self.max_leaves))
    }

    fn prepare<'a>(
        &self,
        sample: &Sample<'a, ()>,
        seed: u64,
        _: Option<&'a dyn ExternalFitter>,
        interrupt: &Interrupt,
    ) -> Result<PreparedStumps, RankError> {
        let Sample { columns, binned, labels, frame, .. } = sample;
        let deal = |pruning: CvParams| {
            // Not the folds of the whole tree: each of its trees has an empty one.
            let seed = mix(seed ^ pruning.seed);
            let folds = Folds::deal(columns, labels, pruning.n_folds, seed, interrupt)?;
            // In a node, folds without rows of both classes are passed over.
            for fold in 0..folds.n_folds {
                folds.parts(labels, fold)?;
            }
            Ok((folds, pruning))
        };
        Ok(PreparedStumps {
            params: *self,
            folds: self.pruning.map(deal).transpose()?,
            means: (sample.params.missing == Missing::CellMean)
                .then(|| CellMeans::new(columns, binned, &labels.rows(), &frame.has_missing)),
        })
    }
}

impl PreparedRule for PreparedStumps {
    fn grow<R: RowTally + Copy>(
        &self,
        sample: &Sample<'_, R>,
        rows: Vec<u32>,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<RankingTree, RankError> {
        let total = sample.total(&rows);
        let level_units = level_units(sample, &rows);
        let terms = StumpTerms {
            level_units: level_units.as_ref(),
            means: self.means.as_ref(),
            monotonic: &sample.frame.monotonic,
            features: sample.features.as_deref(),
            draw: None,
            criterion: self.params.criterion,
        };
        let splitter = LeafRankSplitter::new(self.params, sample.params.least_split(total), terms);
        let mut source = self.source(sample, rows, interrupt);
        let tree = if let Some((folds, pruning)) = &self.folds {
            let splitter = PrunedLeafRankSplitter {
                stumps: splitter,
                prepared: self,
                sample,
                folds,
                pruning: *pruning,
                interrupt,
            };
            sample.grow_by(&splitter, &mut source, total, seed, interrupt)
        } else {
            sample.grow_by(&splitter, &mut source, total, seed, interrupt)
        };
        sample.leave(source.into_buffers());
        tree
    }
}

/// Effective row weights for the shrinkage of rates of categories, from some rows in ascending
/// order; `None` if rates are not shrunk, or there are no categories.
pub(in crate::tree) fn level_units<R: RowTally + Copy>(
    sample: &Sample<'_, R>,
    rows: &[u32],
) -> Option<RowUnits> {
    let times = |same: &[u32]| (sample.sums(same[0]), same.len() as u32);
    let shrinks = sample.binned.shrinks_levels();
    shrinks.then(|| RowUnits::of(rows.chunk_by(|a, b| a == b).map(times)))
}

/// Size of the tree of stumps inside a split. Depth 1 is a single stump: the orthogonal split.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false], None)?;
/// let n_leaves = |split| {
///     let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(split));
///     fit((&columns, &labels), &params, &Interrupt::default())
///         .map(|fitted| fitted.tree.n_leaves())
/// };
/// // Three intervals are a leaf each, or parts of a single split in two.
/// let orthogonal = LeafRankParams::orthogonal(1);
/// assert_eq!(n_leaves(orthogonal)?, 3);
/// assert_eq!(n_leaves(LeafRankParams { max_depth: 2, ..orthogonal })?, 2);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafRankParams {
    /// Maximum number of stumps between the cell and a part; at least 1.
    pub max_depth: usize,
    /// Maximum number of parts, at least 2; stumps are then placed where they gain most, ties from
    /// left to right (DECISIONS T10).
    pub max_leaves: Option<usize>,
    /// Least number of rows in a part that is cut again.
    pub min_samples_split: u64,
    /// Least number of rows in each part.
    pub min_samples_leaf: u64,
    /// Number of features drawn for each stump, at least 1; `None` for all. If none of those drawn
    /// gains, as many others are drawn, until one does.
    pub max_features: Option<usize>,
    /// Thresholds of a number that are tried.
    #[serde(default)]
    pub cuts: Cuts,
    /// Criterion for the choice of a stump and the merger of parts.
    #[serde(default)]
    pub criterion: CutCriterion,
    /// How the tree of stumps is pruned before its parts are merged, if at all (paper 2 sec. 6.3
    /// iv). The seed is combined with that of the fit.
    #[serde(default)]
    pub pruning: Option<CvParams>,
}

impl LeafRankParams {
    /// A single stump.
    #[must_use]
    pub fn orthogonal(min_samples_leaf: u64) -> Self {
        Self {
            max_depth: 1,
            max_leaves: None,
            min_samples_split: 2,
            min_samples_leaf,
            max_features: None,
            cuts: Cuts::Best,
            criterion: CutCriterion::Youden,
            pruning: None,
        }
    }
}

/// Thresholds of a number that are tried for a stump.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{Cuts, GrowParams, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let fit = |cuts, seed| {
///     let grow = GrowParams { min_samples_leaf: 1, ..GrowParams::default() };
///     let split = SplitRule::Stumps(LeafRankParams { cuts, ..LeafRankParams::orthogonal(1) });
///     let params = TreeRankParams { seed, ..TreeRankParams::new(grow, split) };
///     fit((&columns, &labels), &params, &Interrupt::default()).map(|fitted| fitted.tree)
/// };
/// assert_eq!(fit(Cuts::Best, 0)?.n_leaves(), 2);
/// // A draw may miss the threshold between the classes, and then more cuts are needed.
/// let n_leaves = (0..20).map(|seed| fit(Cuts::Random, seed).map(|tree| tree.n_leaves()));
/// let n_leaves = n_leaves.collect::<Result<Vec<_>, _>>()?;
/// assert!(n_leaves.contains(&2) && n_leaves.iter().any(|&n| n > 2));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cuts {
    /// All: the best is taken.
    #[default]
    Best,
    /// One, drawn from the bins between the lowest and the highest value of the cell, as in
    /// extremely randomised trees. Sets of categories are still the best ones.
    Random,
}

impl LeafRankParams {
    /// Whether a part of a node may be cut again.
    fn is_large(&self, sums: ClassSums) -> bool {
        sums.rows >= self.min_samples_split.max(2 * self.min_samples_leaf) && sums.is_mixed()
    }
}

/// Stumps on the rows of a fit.
#[derive(Debug)]
pub(in crate::tree) struct PreparedStumps {
    params: LeafRankParams,
    /// Present if missing values count as means.
    means: Option<CellMeans>,
    /// If trees of stumps are pruned: the folds of all rows.
    folds: Option<(Folds, CvParams)>,
}

impl PreparedStumps {
    /// Some of the rows, as a source of sums.
    fn source<'s, R: RowTally + Copy>(
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
