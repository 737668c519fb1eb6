//! What comes in: borrowed columns, labels with weights, and bins. The only place where raw values
//! become codes.

mod weights;

pub(crate) use weights::FixedScale;
pub use weights::FixedWeights;
