//! What a tree or a forest says of a feature.
//!
//! - `dependence`: partial dependence of the score on features (paper 2 sec. 5.2); `leaf_value`: what
//!   a leaf may stand for there.

mod dependence;
mod leaf_value;

pub use dependence::partial_dependence;
pub use leaf_value::LeafValue;
