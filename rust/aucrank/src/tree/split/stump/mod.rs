//! Stumps: a cell cut in two by a question to one feature.
//!
//! - `best`: the best stump of a cell and its constraints, by thresholds of a number and by cell means for
//!   missing values; `level_sets`: the best one of a category.

mod best;
mod level_sets;

pub(in crate::tree) use best::StumpTerms;
pub(super) use best::{CellMeans, Stump, best_stump};
