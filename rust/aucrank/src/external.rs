//! What fits external classifiers.

use crate::RankError;
use crate::tree::model::RowDecider;

/// Fits classifiers. Trees that are grown without a fold are grown in parallel, so that the calls of
/// one tree are in order and those of several are not: what is learned must not depend on it.
pub trait RowSplitter: RowDecider {
    /// Fits a classifier to the rows of a node and returns its number, of the caller's choice but
    /// used once, with its answers about these rows.
    ///
    /// A row may come more than once. `costs` has what a mistake about each row costs: both classes
    /// cost the same in all. `seed` is for what is random in the classifier.
    ///
    /// # Errors
    ///
    /// [`RankError::External`] where the classifier fails.
    fn fit(&self, seed: u64, rows: &[u32], costs: &[f64]) -> Result<(usize, Vec<bool>), RankError>;

    /// These classifiers are not needed any more.
    fn forget(&self, classifiers: &[usize]);

    /// At the end of a fit: the classifiers of the tree, in the order of their new numbers 0, 1, ...
    fn keep(&self, classifiers: &[usize]);
}
