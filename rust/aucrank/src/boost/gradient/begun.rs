//! What is known of a bag before its rounds, and what comes of it.

use super::model::{GradientBoosted, GradientFields};
use super::tree::GradientTree;

/// A fitted model without its threshold.
pub(super) struct Bag<T> {
    /// As learned without the rows that the bag holds out.
    pub(super) parts: GradientFields,
    /// The same trees with values from all rows, if they were set again.
    pub(super) refitted: Option<GradientFields>,
    /// `None` for several bags, of which only the mean gives scores.
    pub(super) state: Option<T>,
}

impl<T> Bag<T> {
    pub(super) fn without_state(self) -> Bag<()> {
        Bag { parts: self.parts, refitted: self.refitted, state: None }
    }

    /// The model for new rows.
    pub(super) fn into_final(self) -> GradientFields {
        self.refitted.unwrap_or(self.parts)
    }
}

/// What a booster learns of all folds but one.
///
/// For an example see [`fit_gradient_folds`](crate::boost::fit_gradient_folds).
#[derive(Debug, Clone, PartialEq)]
pub struct GradientFold {
    /// The model without the rows of the fold, whose scores of these are those of new rows.
    pub without_fold: GradientBoosted,
    /// Its trees with the values of leaves set again from all rows, those of the fold included, by
    /// [`GradientRefit::Leaves`](crate::boost::GradientRefit::Leaves): it ranks new rows better.
    pub of_all_rows: Option<GradientBoosted>,
}

impl GradientFold {
    pub(super) fn new<T>(bag: Bag<T>) -> Self {
        Self {
            without_fold: GradientBoosted::new(bag.parts),
            of_all_rows: bag.refitted.map(GradientBoosted::new),
        }
    }
}

/// Rounds that others follow: those of single features before those of pairs, or those of a trial.
pub(super) struct Begun<T> {
    pub(super) trees: Vec<GradientTree>,
    /// Measure on the held-out rows after each round.
    pub(super) values: Option<Vec<f64>>,
    pub(super) state: T,
}

/// The rows of the bags, with the chosen pairs, and the rounds of the first bags from trials.
pub(super) struct PairChoice<D, T> {
    pub(super) dealt: Vec<D>,
    pub(super) begun: Vec<Begun<T>>,
}
