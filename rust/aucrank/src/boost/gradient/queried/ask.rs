//! What a fit queries of rows.

use std::borrow::Cow;
use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::super::code_tree::CodeTree;
use super::super::histogram::CODES;
use super::super::rows::RowMassScale;
use super::super::source::Draw;
use crate::RankError;
use crate::data::{Binned, CellSplit, FeatureBins, LevelRates};
use crate::rows::{CodedRows, RateCodes, View};

/// A question of a fit.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum GradientAsk {
    /// What the rows of a view come to.
    Mass { view: View, scale: RowMassScale },
    /// About the rows of several bags.
    Bags(BagsAsk),
}

/// A question about several bags.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct BagsAsk {
    /// The bags of the fit that are still needed.
    pub(super) live: Vec<u64>,
    pub(super) bags: Vec<BagAsk>,
}

/// A question about the rows of a bag.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct BagAsk {
    /// No other bag of the fit has it.
    pub(super) key: u64,
    /// Which rows they are; `None` where it was sent before.
    pub(super) rows: Option<Arc<BagRowsAsk>>,
    /// Number of trees that were sent before.
    pub(super) n_told: usize,
    /// The trees that follow.
    pub(super) trees: Vec<Arc<ToldTree>>,
    /// Whether the loss of the rows held out is asked.
    pub(super) measures: bool,
    pub(super) grow: Option<GrowAsk>,
}

/// A tree, and how it was grown: who has its cells need not ask which leaf their rows are in.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct ToldTree {
    pub(super) tree: CodeTree,
    pub(super) growth: CellGrowth,
}

/// The growth of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct CellGrowth {
    pub(super) seed: u64,
    /// Whether rows are drawn by the seed.
    pub(super) draws: bool,
    /// Number of changes of its cells.
    pub(super) n_steps: usize,
}

/// The rows of a bag.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct BagRowsAsk {
    /// Those that it learns from.
    pub(super) learned: View,
    pub(super) held_out: Option<View>,
    /// What rows are drawn by; `None` where each tree learns from all.
    pub(super) draw: Option<(Draw, u64)>,
    /// The score before the first tree.
    pub(super) start: f64,
    pub(super) scale: RowMassScale,
    pub(super) levels: LevelMap,
    pub(super) rates: Vec<RateCodes>,
}

/// A question about the cells of a tree.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct GrowAsk {
    pub(super) seed: u64,
    /// Whether rows are drawn by the seed.
    pub(super) draws: bool,
    /// Columns of codes, each with the number of its codes.
    pub(super) columns: Vec<(usize, usize)>,
    /// How cells came about, from the first on.
    pub(super) steps: Vec<CellStep>,
    /// Of the splits from this step on it is asked how many rows go left.
    pub(super) first_new: usize,
    /// Cells whose sums are requested.
    pub(super) cells: Vec<CellAsk>,
}

/// A change of the cells of a tree, of which 0 holds all rows.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) enum CellStep {
    Split(CellSplit),
    /// The two sides of a split become one cell again.
    Join {
        left: usize,
        right: usize,
        cell: usize,
    },
}

/// A cell whose sums are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct CellAsk {
    pub(super) cell: usize,
    /// Whether the number of rows by code is requested, too.
    pub(super) is_counted: bool,
}

impl GrowAsk {
    /// Whether it is the first question about a tree.
    pub(super) fn begins(&self) -> bool {
        self.steps.is_empty()
    }

    /// Number of bins of a cell.
    pub(super) fn n_bins(&self) -> usize {
        // A question that asks for more is refused before its answer takes memory.
        self.columns.iter().map(|(_, n_codes)| n_codes.min(&CODES)).sum()
    }

    /// Number of splits whose sides are requested.
    pub(super) fn n_sides(&self) -> usize {
        let steps = self.steps.get(self.first_new..).unwrap_or_default();
        steps.iter().filter(|step| matches!(step, CellStep::Split(_))).count()
    }
}

/// For each feature the categories that have a code of their own, in the order of their codes; `None` for
/// a number, and where the codes are those in which rows are held.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct LevelMap(pub(super) Vec<Option<Vec<u32>>>);

impl LevelMap {
    /// What the codes mean.
    pub(super) fn features(&self, held: &[FeatureBins]) -> Vec<FeatureBins> {
        let bins = |(kept, held): (&Option<Vec<u32>>, &FeatureBins)| match (kept, held) {
            (Some(kept), FeatureBins::Categorical { .. }) => {
                let n_levels = kept.len() as u32;
                FeatureBins::Categorical { n_levels, rare: None }
            }
            _ => held.clone(),
        };
        self.0.iter().zip(held).map(bins).collect()
    }
}

impl BagRowsAsk {
    /// What the codes mean, feature by feature, with the columns of rates.
    pub(super) fn features(&self, held: &[FeatureBins]) -> Vec<FeatureBins> {
        let rates =
            self.rates.iter().map(|rates| FeatureBins::Numeric { cuts: rates.cuts.clone() });
        self.levels.features(held).into_iter().chain(rates).collect()
    }

    /// The codes of some rows, given those of the columns of rates.
    pub(super) fn codes<'r>(
        &self,
        rows: &'r CodedRows,
        rates: &[Vec<u8>],
    ) -> Result<Cow<'r, Binned>, RankError> {
        let held = &rows.binned;
        let n_features = held.features().len();
        if self.levels.0.len() != n_features || rates.len() != self.rates.len() {
            return Err(bad());
        }
        if rates.is_empty() && self.levels.0.iter().all(Option::is_none) {
            let are_narrow = (0..n_features).all(|feature| held.is_narrow(feature));
            return if are_narrow { Ok(Cow::Borrowed(held)) } else { Err(bad()) };
        }
        let features = self.features(held.features());
        if features.iter().any(|bins| bins.n_codes() > CODES) {
            return Err(bad());
        }
        let (n_rows, width) = (rows.n_rows(), features.len());
        let mut narrow = vec![0; n_rows * width];
        for (feature, kept) in self.levels.0.iter().enumerate() {
            let to = narrow.iter_mut().skip(feature).step_by(width);
            let Some(kept) = kept else {
                let codes = held.narrow_codes(0..n_rows, feature).ok_or_else(bad)?;
                to.zip(codes).for_each(|(to, code)| *to = code);
                continue;
            };
            // What has no code of its own has that of a missing value.
            let mut code_of_level = vec![kept.len() as u8; held.features()[feature].n_codes()];
            for (code, &level) in kept.iter().enumerate() {
                *code_of_level.get_mut(level as usize).ok_or_else(bad)? = code as u8;
            }
            for (row, to) in to.enumerate() {
                *to = code_of_level[held.code(row, feature) as usize];
            }
        }
        for (column, codes) in (n_features..).zip(rates) {
            let to = narrow.iter_mut().skip(column).step_by(width);
            to.zip(codes).for_each(|(to, code)| *to = *code);
        }
        let mut binned = Binned::empty(features.into(), LevelRates::Raw);
        binned.take_bytes(n_rows, &narrow);
        Ok(Cow::Owned(binned))
    }

    /// The codes of the columns of rates. Rows that are learned from have the steps of their folds.
    pub(super) fn rate_codes(&self, rows: &CodedRows) -> Result<Vec<Vec<u8>>, RankError> {
        RateCodes::columns(&self.rates, rows, &self.learned)
    }
}

fn bad() -> RankError {
    RankError::BadAnswer("a bag is of other rows".to_owned())
}
