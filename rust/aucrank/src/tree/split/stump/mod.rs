//! Stumps: a cell cut in two by a question to one feature.
//!
//! - `candidate`: a stump, and what it heeds; `best`: the best one of a cell;
//! - `threshold`, `level_sets`: the best one of a number and of a category; `cell_means`: where a
//!   missing value counts as the mean.

mod best;
mod candidate;
mod cell_means;
mod level_sets;
mod threshold;

pub(super) use best::best_stump;
pub(super) use candidate::Stump;
pub(in crate::tree) use candidate::StumpTerms;
pub(super) use cell_means::CellMeans;
