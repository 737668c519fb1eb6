//! Gradient boosting of binned trees (Friedman, 2001, <https://doi.org/10.1214/aos/1013203451>; leaf
//! values by a Newton step as in Chen and Guestrin, 2016, <https://doi.org/10.1145/2939672.2939785>).
//!
//! Gradients and hessians are fixed-point integers, multiplied by the integer mass of their row: sums
//! over rows are exact, so that the model does not depend on threads or on the order of the rows, and a
//! row of weight k is k copies of it, to the bit. Values of leaves are multiples of a power of two, so
//! that sums over trees are exact too. Exponentials are our own, logarithms and powers those of the crate
//! `libm`: they are the same on every platform.
//!
//! - `params`: what a fit is told;
//! - `loss`: the losses and their derivatives, by `exponential`; `sums`: the derivatives as integers; `pair_grid`: sums
//!   over pairs;
//! - `level_codes`: categories as few codes; `rate_columns`: those of many levels by their rates; `rows`: the rows of a fit, `tree_rows`: those of a tree with their
//!   derivatives;
//! - `histogram`: sums by bin; `best_split`, `running_sums`, `level_sets`: the best question to a node; `partition`:
//!   the rows of a node on their sides, `code_columns`: by codes that lie side by side; `code_tree`: trees that ask codes;
//! - `grow`: one tree, best leaf first; `bag_fit`: the rounds of a bag, `held_out`: how many of them are kept; `bags`:
//!   bags side by side, and their mean; `capacity`: the number of leaves; `category_pairs`: whether pairs of categories
//!   pay, `pair_steps`: in which step the rate of each is; `fit`: all of it;
//! - `source`: what a fit, a bag and a tree learn from: `memory_fit`, `memory_bag`, `memory_tree`, or `asked`, rows that
//!   are asked for sums;
//! - `feature_pairs`: which features are asked together after rounds of single ones; `pair_table`: what trees of two
//!   features add up to;
//! - `tree`, `model`: what was learned, `saved`: the form in which it is saved; `formula`, `explain`: what is said of it.

mod asked;
mod bag_fit;
mod bags;
mod best_split;
mod capacity;
mod category_pairs;
mod code_columns;
mod code_tree;
mod draws;
mod explain;
mod exponential;
mod feature_pairs;
mod fit;
mod formula;
mod grow;
mod held_out;
mod histogram;
mod level_codes;
mod level_sets;
mod loss;
mod memory_bag;
mod memory_fit;
mod memory_tree;
mod model;
mod pair_grid;
mod pair_steps;
mod pair_table;
mod params;
mod partition;
mod rate_columns;
mod rows;
mod running_sums;
#[cfg(feature = "serde")]
mod saved;
mod source;
mod sums;
#[cfg(test)]
mod tests;
mod tree;
mod tree_rows;

#[cfg(feature = "serde")]
pub(crate) use asked::GradientAsk;
pub use asked::{fit_gradient_boosting_rows, fit_gradient_folds_rows};
pub use fit::{GradientExtras, fit_gradient_boosting, fit_gradient_folds};
pub use held_out::{GradientHeldOut, GradientHeldOutParams, HeldOutMeasure, HeldOutRows};
pub use loss::Loss;
pub use model::{GradientBag, GradientBoosted};
pub use pair_table::{Axis, PairTerm, Places};
pub use params::{GradientParams, Interactions, LeafRows};
pub use tree::{GradientNode, GradientTree};
