//! Choice of a subtree (paper 2 sec. 4).
//!
//! - `path`: the best subtree of every size, and the nested path of subtrees;
//! - `penalize`, `validate`: the rules that choose one of them, and their list.

mod path;
mod penalize;
mod validate;

pub(super) use path::PruningPath;
pub use path::PruningStep;
pub(super) use penalize::penalize;
pub use penalize::{Complexity, Penalization, PenaltyParams, PenaltyScale};
pub use validate::{CrossValidation, CvParams, PruningRule, Validation, ValidationParams};
pub(super) use validate::{WithoutFold, cross_validate};
