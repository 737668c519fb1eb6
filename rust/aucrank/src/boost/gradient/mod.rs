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
//! From the bottom up, each using those above it:
//!
//! - `held_out_params`, `params`: its parameters; `loss`: the losses, and functions of one score;
//!   `sums`: derivatives as integers, added up bin by bin; `split_criterion`: what a split gains;
//!   `running_sums`: the best cut of a number; `best_split`: the best split of a node, by numbers and
//!   by sets of categories;
//! - `tree`, `grown`: one tree, finished and just grown; `level_codes`: categories in few codes;
//!   `pair_steps`: pairs of categories by their rates; `rate_columns`: columns of codes of rates;
//! - `fit_rows`: the training rows with their masses; `pair_table`: a sum of trees of two features;
//!   `pair_grid`: losses over pairs of rows; `loss_of_rows`: losses of rows, and their derivatives;
//!   `held_out`: the number of rounds kept;
//! - `code_columns`, `sides`, `tree_rows`: the rows of a node on the sides of its split; `code_tree`:
//!   trees over codes; `histogram`: sums by bin; `grow`: one tree, best leaf first;
//! - `model`: the fitted model; `saved`: its saved form; `explain`: its explanations; `begun`,
//!   `fit_data`, `draws`: what bags begin with, what all steps share, what is drawn for a tree;
//! - `source`, `bags`: the rows of a fit and of a bag, the rounds of a bag, concurrent bags, and
//!   their mean; `feature_pairs`: the pairs of features of trees of two;
//! - `gain`, `pair_merit`: what held-out rows gain from one model to another, and from pairs of
//!   categories; `category_pairs`: whether to use these;
//! - `series`: all bags in one series of rounds, with the number of leaves; `refit_leaves`: the
//!   values of their leaves from all rows; `memory_fit`: rows in memory; `queried`: rows that are
//!   queried for sums; `fit`: all of it.

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
mod gain;
mod grow;
mod grown;
mod held_out;
mod held_out_params;
mod histogram;
mod level_codes;
mod loss;
mod loss_of_rows;
mod memory_fit;
mod model;
mod pair_grid;
mod pair_merit;
mod pair_steps;
mod pair_table;
mod params;
mod queried;
mod rate_columns;
mod refit_leaves;
mod running_sums;
mod saved;
mod series;
mod sides;
mod source;
mod split_criterion;
mod sums;
#[cfg(test)]
mod tests;
mod tree;
mod tree_rows;

pub use begun::GradientFold;
pub use fit::{fit_gradient_boosting, fit_gradient_folds};
pub use fit_data::{BagFolds, GradientExtras};
pub use held_out::GradientHeldOut;
pub use held_out_params::{GradientHeldOutParams, GradientRefit, HeldOutMeasure, HeldOutRows};
pub use loss::Loss;
pub use model::{GradientBag, GradientBoosted};
pub use params::{GradientParams, Interactions, LeafRows};
pub(crate) use queried::{AskBag, AskMass, AskTrial};
pub use tree::{GradientNode, GradientTree};
