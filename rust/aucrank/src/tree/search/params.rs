//! Parameters of a search.

use serde::{Deserialize, Serialize};

use super::places::MOST_PLACES;
use crate::RankError;

/// Cuts of a node that are judged by a search of both sides: those that growth judges best.
const WIDTH: usize = 12;

/// Which trees of a few leaves are searched.
///
/// # Examples
///
/// ```
/// use aucrank::tree::{SearchExtent, SearchParams};
///
/// let all = SearchParams { extent: SearchExtent::All, ..SearchParams::default() };
/// assert_eq!(serde_json::to_string(&all).unwrap(), r#"{"extent":"all","n_bins":16}"#);
/// assert_eq!(SearchParams::default().extent, SearchExtent::Lookahead(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchExtent {
    /// Those whose upper levels of cuts, as many as given, are tried in all ways before growth
    /// judges; at least 1. Below the first level, the best by growth are tried.
    Lookahead(usize),
    /// All, as long as time permits.
    All,
    /// Lists of rules, each with at most so many conditions, at least 1, that are to be met at
    /// once: a row belongs to the first rule that it meets, or to the rest. As a tree, a rule is
    /// the split of a node of which one side is a leaf, and the other goes on to the next rule.
    Rules(usize),
}

impl SearchExtent {
    /// How many cuts of a node are judged by a search of both sides, and that search; `None` if
    /// growth judges.
    pub(super) fn below(self) -> Option<(usize, Self)> {
        match self {
            Self::All => Some((usize::MAX, Self::All)),
            Self::Lookahead(levels @ 2..) => Some((WIDTH, Self::Lookahead(levels - 1))),
            Self::Lookahead(_) | Self::Rules(_) => None,
        }
    }
}

/// How a tree of a few leaves is searched.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::data::{Columns, Labels};
/// use aucrank::tree::{
///     GrowParams, LeafRankParams, SearchExtent, SearchParams, SplitRule, TreeRankParams, fit,
/// };
///
/// // A row is positive if just one of two features is 1: neither says anything alone.
/// let columns = Columns::from_row_major(&[0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0], 2)?;
/// let labels = Labels::new(&[false, true, true, false], None)?;
/// let fit = |extent: Option<SearchExtent>| {
///     let grow =
///         GrowParams { min_samples_leaf: 1, max_leaves: Some(4), ..GrowParams::default() };
///     let split = SplitRule::Stumps(LeafRankParams::orthogonal(1));
///     let search = extent.map(|extent| SearchParams { extent, ..SearchParams::default() });
///     let params = TreeRankParams { search, ..TreeRankParams::new(grow, split) };
///     fit((&columns, &labels), &params, &Interrupt::default())
/// };
/// assert_eq!(fit(None)?.tree.auc(), 0.5);
/// assert_eq!(fit(Some(SearchExtent::Lookahead(1)))?.tree.auc(), 1.0);
/// let best = fit(Some(SearchExtent::All))?;
/// assert_eq!((best.tree.auc(), best.gap), (1.0, Some(0.0)));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchParams {
    /// Which trees.
    pub extent: SearchExtent,
    /// Maximum number of places of a feature, at quantiles, between which cuts are searched; from 2
    /// to 255. The cuts found then move over all bins.
    pub n_bins: usize,
    /// If all trees are searched: by how much the AUC of a tree, that up to `max_fpr` standardised,
    /// may be below the largest for [`TreeRankModel::near_best`] to list it; `None` for no list.
    /// At least 0.
    ///
    /// [`TreeRankModel::near_best`]: crate::tree::TreeRankModel::near_best
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

impl Default for SearchParams {
    fn default() -> Self {
        Self { extent: SearchExtent::Lookahead(1), n_bins: 16, tolerance: None }
    }
}

impl SearchParams {
    /// Whether lists of rules are searched.
    pub(in crate::tree) fn is_of_rules(&self) -> bool {
        matches!(self.extent, SearchExtent::Rules(_))
    }

    pub(in crate::tree) fn validate(&self) -> Result<(), RankError> {
        let bad = |name, value: usize, rule| {
            Err(RankError::BadParameter { name, value: value.to_string(), rule })
        };
        match self.extent {
            SearchExtent::Lookahead(0) => return bad("lookahead", 0, "at least 1"),
            SearchExtent::Rules(0) => return bad("max_conditions", 0, "at least 1"),
            _ => {}
        }
        if !(2..=MOST_PLACES).contains(&self.n_bins) {
            return bad("search_bins", self.n_bins, "from 2 to 255");
        }
        if let Some(tolerance) = self.tolerance {
            let bad = |rule| {
                let value = tolerance.to_string();
                Err(RankError::BadParameter { name: "tolerance", value, rule })
            };
            if !(tolerance >= 0.0 && tolerance.is_finite()) {
                return bad("at least 0 and finite");
            }
            if self.extent != SearchExtent::All {
                return bad("left out unless all trees are searched");
            }
        }
        Ok(())
    }
}
