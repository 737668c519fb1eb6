//! What is optimised: the area under the ROC curve, the curve and its hull.

mod auc;
mod sample;
mod score;
mod sort;

pub use auc::{auc, weighted_auc};
pub use score::Score;
