//! What a fit asks of rows.

use std::sync::Arc;

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::super::code_tree::CodeTree;
use super::super::draws::Draw;
use super::super::histogram::CODES;
use super::super::rows::MassScale;
use super::codes::{LevelMap, RateCodes};
use crate::data::{CellSplit, N_RATE_FOLDS, RowOrder};
use crate::rows::View;

/// A question of a fit.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) enum GradientAsk {
    /// Number of rows of each category, feature by feature.
    Levels,
    /// What the rows of a view come to.
    Mass { view: View, scale: MassScale },
    /// Class masses of the categories of some features, by folds of the rows.
    Rates(RatesAsk),
    /// About the rows of several bags.
    Bags(BagsAsk),
}

/// A question about the rates of categories by the rows of a view.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(crate) struct RatesAsk {
    pub(super) view: View,
    pub(super) order: Arc<RowOrder>,
    pub(super) n_folds: u16,
    pub(super) features: Vec<usize>,
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
    /// Which rows they are; `None` where it was told before.
    pub(super) rows: Option<Arc<BagRowsAsk>>,
    /// Number of trees that were told before.
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
    pub(super) scale: MassScale,
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
    /// Cells whose sums are asked.
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

/// A cell whose sums are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(super) struct CellAsk {
    pub(super) cell: usize,
    /// Whether the number of rows by code is asked, too.
    pub(super) is_counted: bool,
}

impl RatesAsk {
    /// Number of folds, of which a fit asks for few.
    pub(super) fn n_folds(&self) -> usize {
        usize::from(self.n_folds.min(N_RATE_FOLDS))
    }
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

    /// Number of splits whose sides are asked.
    pub(super) fn n_sides(&self) -> usize {
        let steps = self.steps.get(self.first_new..).unwrap_or_default();
        steps.iter().filter(|step| matches!(step, CellStep::Split(_))).count()
    }
}
