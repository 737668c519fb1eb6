//! Gradient boosting on rows that are queried, wherever they are: the same model as in memory, byte
//! for byte.
//!
//! A holder keeps the scores of its rows in each bag, and the cell of each row in the growing tree.
//! A question carries the trees and splits decided since the last one; a holder that lacks earlier
//! ones is sent the whole log. Answers are integers: gradients and hessians of some cells by code,
//! numbers of rows, the loss of held-out rows.
//!
//! One question queries the children of all leaves that may be split before the tree is full: extra
//! sums change no decision, so that the tree is the one grown leaf by leaf. Bags wait concurrently,
//! and their questions are merged.
//!
//! - `ask`: the codes of a fit, its questions, and the sums in answers; `state`: the state kept by
//!   a part of the rows, and its answers;
//! - `trial`: questions about the trial of pairs of categories; `tree`: the source of one tree, and
//!   the questions of concurrent bags; `fit`: the source of a bag and of a fit.

mod ask;
mod fit;
mod state;
#[cfg(test)]
mod tests;
mod tree;
mod trial;

pub(crate) use ask::GradientAsk;
pub(super) use fit::{fit_gradient_boosting_rows, fit_gradient_folds_rows};
