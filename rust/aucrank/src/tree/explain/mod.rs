//! What a tree or a forest says of a feature.
//!
//! - `dependence`: partial dependence of the score on features (paper 2 sec. 5.2); `paths`: the paths of
//!   rows through trees, with their weights; `leaf_value`: the value of a leaf in it.

mod dependence;
mod leaf_value;
mod paths;

pub use dependence::partial_dependence;
pub use leaf_value::LeafValue;
