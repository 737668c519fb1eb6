//! Models of other libraries, with exactly the scores that these give.
//!
//! - `tree`: a tree as another library has it; `table`: trees from arrays of nodes that refer to
//!   each other by number, as the libraries store them;
//! - `saved`: the form in which trees are saved;
//! - `model`: a sum of such trees, added in the order and the precision of the library;
//! - `linear`: a weighted sum of numbers.
//!
//! Nothing is fitted here, and files of other libraries are read elsewhere: in the Python package.

mod linear;
mod model;
mod saved;
mod table;
mod tree;

pub use linear::ImportedLinear;
pub use model::{ImportedLink, ImportedSum, ImportedTrees};
pub use table::{ImportedKind, NodeTable};
pub use tree::{ImportedNode, ImportedTree};
