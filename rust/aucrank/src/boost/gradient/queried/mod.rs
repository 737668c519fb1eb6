//! Gradient boosting on rows that are queried, wherever they are: the model of a fit in memory, byte for
//! byte.
//!
//! Who holds rows keeps their scores in each bag, and in which cell of the growing tree each is. A question
//! carries the trees and splits that were decided since the last one; to a holder that has not seen earlier
//! ones, the whole log is sent. What comes back is whole numbers: gradients and hessians of some cells by
//! code, numbers of rows, the loss of rows held out.
//!
//! The children of all leaves that may be split before the tree is full are queried in one question:
//! sums decide nothing, so that the tree is the one that is grown leaf by leaf. Bags wait side by side, and
//! their questions are one.
//!
//! - `ask`: the codes of a fit, what travels, and sums that come back; `state`: what a part of the rows
//!   keeps, and its answers;
//! - `tree`: the source of one tree, and the questions of bags that wait side by side; `fit`: the source of
//!   a bag and of a fit.

mod ask;
mod fit;
mod state;
#[cfg(all(test, feature = "serde"))]
mod tests;
mod tree;

#[cfg(feature = "serde")]
pub(crate) use ask::GradientAsk;
pub use fit::{fit_gradient_boosting_rows, fit_gradient_folds_rows};
