//! What comes in: borrowed columns, labels with weights, and bins. The only place where raw values
//! become codes.

mod binary;
mod weights;

pub use binary::{Label, positive_rows};
pub(crate) use weights::FixedScale;
pub use weights::FixedWeights;
