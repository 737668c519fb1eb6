//! Two-sided classifiers on the rows of a fit, and what learns them.

use std::ops::Range;

use super::chance::Chance;
use super::layer::Layer;
use super::tile::MassTile;
use crate::RankError;

/// The predictions of a classifier on the rows of the fit.
pub trait RowChance: Sync {
    /// The probability that it calls a row positive.
    fn chance(&self, row: usize) -> Chance;

    /// [`RowChance::chance`] of consecutive rows, written to `chances`.
    fn chances(&self, rows: Range<usize>, chances: &mut [Chance]) {
        for (row, chance) in rows.zip(chances) {
            *chance = self.chance(row);
        }
    }
}

/// Learns two-sided classifiers, one for each node of a layer.
pub trait TwoSidedLearner: Sync {
    /// A classifier on the rows of the fit.
    type Classifier: RowChance + Send;

    /// What is accumulated in a pass over the rows; `()` for a learner that reads the rows of a
    /// node afterwards, by [`Layer::masses`].
    type Sums: Send;

    /// Empty sums for a layer of that many nodes.
    fn empty(&self, n_nodes: usize) -> Self::Sums;

    /// Adds a tile of rows.
    fn add(&self, sums: &mut Self::Sums, tile: &MassTile<'_>);

    /// Adds the sums of other rows.
    fn merge(&self, sums: &mut Self::Sums, more: Self::Sums);

    /// A classifier for each of [`Layer::open`]; `None` if none is better than chance, which leaves
    /// the rows to a fair coin.
    ///
    /// # Errors
    ///
    /// [`RankError`], which ends the fit.
    fn learn(
        &self,
        sums: Self::Sums,
        layer: &Layer<'_>,
    ) -> Result<Vec<Option<Self::Classifier>>, RankError>;

    /// Whether classifiers can be evaluated on the rows in all later layers, and the learner uses
    /// neither [`Layer::masses`] nor [`Layer::rows`]: the masses of the rows are then not stored.
    fn learns_from_sums_only(&self) -> bool {
        false
    }

    /// Called after the last step by a classifier: what only the rows needed may be freed.
    fn settle(&self, classifier: &mut Self::Classifier) {
        let _ = classifier;
    }
}

/// What happens at a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome<C> {
    /// A classifier sends rows on.
    Classifier(C),
    /// A fair coin does.
    Coin,
    /// Paths end early, at a label.
    Frozen {
        /// Whether it is "positive".
        positive: bool,
    },
    /// Paths end in the last layer.
    Terminal,
    /// No row reaches the node.
    Unreached,
}
