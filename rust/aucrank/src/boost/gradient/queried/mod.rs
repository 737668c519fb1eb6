//! Gradient boosting on rows that are queried, wherever they are: the same model as in memory, byte
//! for byte.
//!
//! Each bag has a log of its splits and trees. A part of the rows keeps their scores in each bag, and
//! the cell of each row in the growing tree. Answers are integers: gradients and hessians of some
//! cells by code, numbers of rows, the loss of held-out rows.
//!
//! One question queries the children of all leaves that may be split before the tree is full: extra
//! sums change no decision, so that the tree is the one grown leaf by leaf. Bags run in tasks of
//! their own, whose questions are joined.
//!
//! - `ask`: the codes of a fit, the steps of a bag, questions about it, and the sums in answers;
//!   `trial`: questions about the trial of pairs of categories;
//! - `state`: the state kept by a part of the rows, and its answers;
//! - `tree`: the source of one tree; `fit`: the source of a bag and of a fit.

mod ask;
mod fit;
mod state;
#[cfg(test)]
mod tests;
mod tree;
mod trial;

pub(crate) use ask::{AskBag, AskMass};
pub(super) use fit::{fit_gradient_boosting_rows, fit_gradient_folds_rows};
pub(crate) use trial::AskTrial;
