//! What is known of a bag before its rounds, and what comes of it.

use super::model::GradientFields;
use super::tree::GradientTree;

/// A fitted model without its threshold.
pub(super) struct Bag<T> {
    pub(super) parts: GradientFields,
    /// `None` for several bags, of which only the mean gives scores.
    pub(super) state: Option<T>,
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
