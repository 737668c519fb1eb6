//! What a tree knows beside its nodes.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::cube_grid::CubeGrid;

/// In which order leaves are ranked.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{ClassSums, Columns, Labels};
/// use aucrank::tree::{GrowParams, LeafOrder, LeafRankParams, SplitRule, TreeRankParams, fit};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 2.0, 3.0, 3.0, 3.0], 1)?;
/// let labels = Labels::new(&[false, true, true, false, true, false], None)?;
/// let fit = |leaf_order| {
///     let grow = GrowParams { leaf_order, min_samples_leaf: 1, ..GrowParams::default() };
///     let params = TreeRankParams::new(grow, SplitRule::Stumps(LeafRankParams::orthogonal(1)));
///     fit(&columns, &labels, &params, &Interrupt::default()).map(|fitted| fitted.tree)
/// };
/// let (by_tree, by_eta) = (fit(LeafOrder::Tree)?, fit(LeafOrder::Eta)?);
/// let etas: Vec<f64> = by_eta.leaf_sums().into_iter().map(ClassSums::eta).collect();
/// assert!(etas.is_sorted_by(|first, second| first >= second));
/// assert!(by_eta.auc() >= by_tree.auc());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize), serde(rename_all = "snake_case"))]
pub enum LeafOrder {
    /// From left to right in the tree (the papers').
    #[default]
    Tree,
    /// By the share of positives, ties from left to right; the training AUC can only rise (paper 2
    /// Theorem 1).
    Eta,
}

/// What a tree knows beside its nodes.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(Serialize, Deserialize))]
pub(in crate::tree) struct TreeFrame {
    pub(in crate::tree) n_levels: Vec<Option<u32>>,
    pub(in crate::tree) has_missing: Vec<bool>,
    pub(in crate::tree) exponent: i32,
    pub(in crate::tree) leaf_order: LeafOrder,
    /// For each feature, whether the score may only rise (1) or fall (-1) with it; empty for none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(in crate::tree) monotonic: Vec<i8>,
    /// What numbers the cubes of a row, for splits by cubes.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(in crate::tree) grid: Option<CubeGrid>,
}

impl TreeFrame {
    /// Whether the parts fit together: what a file is asked before it is believed.
    pub(in crate::tree) fn check(&self) -> Result<(), String> {
        let Self { n_levels, has_missing, monotonic, grid, .. } = self;
        if has_missing.len() != n_levels.len() {
            return Err("the tree does not say of each feature whether it was missing".to_owned());
        }
        let fits = |(value, n_levels): (&i8, &Option<u32>)| match n_levels {
            None => (-1..=1).contains(value),
            Some(_) => *value == 0,
        };
        let has_length = monotonic.is_empty() || monotonic.len() == n_levels.len();
        if !(has_length && monotonic.iter().zip(n_levels).all(fits)) {
            return Err("the constraints of the tree do not suit its features".to_owned());
        }
        grid.iter().try_for_each(|grid| grid.check(n_levels))
    }
}
