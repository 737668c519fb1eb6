//! What a tree or a forest says of a feature.
//!
//! - `dependence`: partial dependence of the score on features (paper 2 sec. 5.2), by `paths` through
//!   trees and `row_weights`; `leaf_value`: what a leaf may stand for there.

mod dependence;
mod leaf_value;
mod paths;
mod row_weights;

pub use dependence::partial_dependence;
pub use leaf_value::LeafValue;
