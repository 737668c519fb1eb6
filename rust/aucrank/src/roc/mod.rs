//! What is optimised: the area under the ROC curve, the curve and its hull.

mod auc;

pub use auc::auc;
