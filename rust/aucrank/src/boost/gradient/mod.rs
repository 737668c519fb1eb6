//! Gradient boosting of binned trees (Friedman, 2001, <https://doi.org/10.1214/aos/1013203451>;
//! leaf values by a Newton step as in Chen and Guestrin, 2016,
//! <https://doi.org/10.1145/2939672.2939785>).
//!
//! Gradients and hessians are fixed-point integers, multiplied by the integer mass of their row:
//! sums over rows are exact, so that the model does not depend on threads or on the order of the
//! rows, and a row of weight k equals k copies of it, to the bit. Values of leaves are multiples of
//! a power of two, so that sums over trees are exact too. Exponentials are implemented here,
//! logarithms and powers come from the crate `libm`: they are the same on every platform.
//!
//! - `params`: its parameters;
//! - `loss`: the losses and their derivatives; `sums`: the derivatives as integers, added up bin by
//!   bin;
//! - `rate_columns`: categories of many levels by their rates; `tree`: one tree, its rows with
//!   their derivatives, and trees over codes in columns;
//! - `histogram`: sums by bin, and the rows of a node on the sides of its split; `best_split`: the
//!   best split of a node, by numbers and by sets of categories;
//! - `grow`: one tree, best leaf first; `bags`: the rounds of a bag, concurrent bags, and their
//!   mean; `held_out`: the number of rounds kept; `fit`: all of it, with the number of leaves;
//!   `category_pairs`: pairs of categories by their rates, and whether to use them;
//! - `source`: the rows of a fit, the data of a bag and a tree, and its random draws: `memory_fit`
//!   in memory, `queried` for rows that are queried for sums;
//! - `feature_pairs`: the pairs of features of such trees; `pair_table`: the sum of these trees;
//! - `model`: the fitted model; `saved`: its saved form; `explain`: its explanations.

mod bags;
mod begun;
mod best_split;
mod category_pairs;
mod code_columns;
mod code_tree;
mod draws;
mod explain;
mod feature_pairs;
mod fit;
mod fit_data;
mod fit_rows;
mod grow;
mod grown;
mod held_out;
mod histogram;
mod level_codes;
mod loss;
mod memory_fit;
mod model;
mod pair_steps;
mod pair_table;
mod params;
mod queried;
mod rate_columns;
mod saved;
mod sides;
mod source;
mod sums;
#[cfg(test)]
mod tests;
mod tree;
mod tree_rows;

pub use fit::{fit_gradient_boosting, fit_gradient_folds};
pub use fit_data::GradientExtras;
pub use held_out::{GradientHeldOut, GradientHeldOutParams, HeldOutMeasure, HeldOutRows};
pub use loss::Loss;
pub use model::{GradientBag, GradientBoosted};
pub use pair_table::{Axis, AxisPlaces, PairTerm};
pub use params::{GradientParams, Interactions, LeafRows};
pub(crate) use queried::GradientAsk;
pub use queried::{fit_gradient_boosting_rows, fit_gradient_folds_rows};
pub use tree::{GradientNode, GradientTree};
