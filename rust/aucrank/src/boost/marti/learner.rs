//! Two-sided classifiers on the rows of a fit, and what learns them.

use std::ops::Range;

use super::chance::Chance;
use super::layer::Layer;
use super::tile::MassTile;
use crate::RankError;

/// The predictions of a classifier on the rows of the fit.
///
/// # Examples
///
/// ```
/// use aucrank::boost::{Chance, RowChance};
///
/// /// Calls rows positive with the probabilities of a list.
/// struct Listed(Vec<f64>);
///
/// impl RowChance for Listed {
///     fn chance(&self, row: usize) -> Chance {
///         Chance::new(self.0[row])
///     }
/// }
///
/// let classifier = Listed(vec![0.25, 1.0, 0.5]);
/// assert_eq!(classifier.chance(0).value(), 0.25);
/// let mut chances = [Chance::HALF; 2];
/// classifier.chances(1..3, &mut chances);
/// assert_eq!(chances.map(Chance::value), [1.0, 0.5]);
/// ```
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
///
/// # Examples
///
/// A learner of one sum for each node, the mass of its positive rows, that calls all rows positive
/// where they are more than half of the mass:
///
/// ```
/// use aucrank::boost::{
///     Chance, Layer, MartiBoostParams, MassTile, Outcome, RowChance, TwoSidedLearner, marti_boost,
/// };
/// use aucrank::data::{Columns, Labels};
/// use aucrank::{Interrupt, RankError};
///
/// struct Always;
///
/// impl RowChance for Always {
///     fn chance(&self, _row: usize) -> Chance {
///         Chance::new(1.0)
///     }
/// }
///
/// struct Majority;
///
/// impl TwoSidedLearner for Majority {
///     type Classifier = Always;
///     type Sums = Vec<u64>;
///
///     fn empty(&self, n_nodes: usize) -> Vec<u64> {
///         vec![0; n_nodes]
///     }
///
///     fn add(&self, sums: &mut Vec<u64>, tile: &MassTile<'_>) {
///         tile.for_each(|row, node, mass| {
///             sums[node] += if tile.is_positive(row) { mass } else { 0 };
///         });
///     }
///
///     fn merge(&self, sums: &mut Vec<u64>, more: Vec<u64>) {
///         sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
///     }
///
///     fn learn(
///         &self,
///         sums: Vec<u64>,
///         layer: &Layer<'_>,
///     ) -> Result<Vec<Option<Always>>, RankError> {
///         let is_positive = |&node: &usize| 2 * sums[node] > layer.masses(node).iter().sum();
///         Ok(layer.open().iter().map(|node| is_positive(node).then_some(Always)).collect())
///     }
/// }
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0], 1)?;
/// let params = MartiBoostParams { n_rounds: 1, ..MartiBoostParams::default() };
/// let fit = |positive: &[bool]| {
///     let labels = Labels::new(positive, None)?;
///     marti_boost(&columns, &labels, &params, &Majority, &Interrupt::default())
/// };
/// assert!(matches!(fit(&[true, false, true])?.nodes[0].1, Outcome::Classifier(Always)));
/// assert!(matches!(fit(&[true, false, false])?.nodes[0].1, Outcome::Coin));
/// # Ok::<(), RankError>(())
/// ```
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
///
/// # Examples
///
/// ```
/// use aucrank::boost::Outcome;
///
/// fn describe<C>(outcome: &Outcome<C>) -> &'static str {
///     match outcome {
///         Outcome::Classifier(_) | Outcome::Coin => "goes on",
///         Outcome::Frozen { .. } | Outcome::Terminal => "ends",
///         Outcome::Unreached => "is not reached",
///     }
/// }
///
/// assert_eq!(describe(&Outcome::Classifier("x > 2")), "goes on");
/// assert_eq!(describe(&Outcome::<&str>::Frozen { positive: true }), "ends");
/// ```
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

impl<C> Outcome<C> {
    /// The same with another form of its classifier.
    pub(super) fn map<D>(self, classifier: impl FnOnce(C) -> D) -> Outcome<D> {
        match self {
            Self::Classifier(found) => Outcome::Classifier(classifier(found)),
            Self::Coin => Outcome::Coin,
            Self::Frozen { positive } => Outcome::Frozen { positive },
            Self::Terminal => Outcome::Terminal,
            Self::Unreached => Outcome::Unreached,
        }
    }
}
