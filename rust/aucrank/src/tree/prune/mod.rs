//! Which subtree to keep (paper 2 sec. 4).
//!
//! - `path`: the best subtree of every size, and the nested path of subtrees; `ranking`: the AUC of changing
//!   leaves;
//! - `cross_validate`, `penalize`, `validate`: how one of them is chosen, and the list of these rules.

mod cross_validate;
mod path;
mod penalize;
mod ranking;
mod validate;

pub use cross_validate::{CrossValidation, CvParams};
pub(super) use cross_validate::{WithoutFold, cross_validate};
pub(super) use path::PruningPath;
pub use path::PruningStep;
pub(super) use penalize::penalize;
pub use penalize::{Complexity, Penalization, PenaltyParams, PenaltyScale};
pub use validate::{PruningRule, Validation, ValidationParams};
