//! The saved form of a model: one JSON document with a version and a checksum, and readers of rows
//! by its features.
//!
//! - `document`: header and model as one text, and errors of reading it; `canonical_json`: the form
//!   that the checksum covers, and models in texts of any length;
//! - `header`: metadata of a fitted estimator; `levels`: the values in it;
//! - `text_rows`, `batch_rows`: rows of text, and batches of Apache Arrow, as the features of a
//!   header;
//! - `nested`: models that contain models.

#[cfg(feature = "arrow")]
mod batch_rows;
mod canonical_json;
mod document;
mod header;
mod levels;
pub(super) mod nested;
mod text_rows;

#[cfg(feature = "arrow")]
pub use batch_rows::{BatchError, BatchRows, features_of_batches};
pub(super) use canonical_json::read_json;
use document::malformed;
pub use document::{Document, ModelError};
pub use header::{
    Classes, DateUnit, Estimator, Feature, FeatureKind, Header, HeaderBuilder, SampledRows,
};
pub use levels::{Json, Levels};
pub use text_rows::{TextError, TextRows, learn_features};

/// Name of the format in a document.
const FORMAT: &str = "aucrank";

/// Newest version of the format that this version reads, and the one it writes.
pub const FORMAT_VERSION: u64 = 5;

#[cfg(test)]
mod tests;
