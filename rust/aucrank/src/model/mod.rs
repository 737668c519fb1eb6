//! The saved form of every model, and scoring from it: one JSON document with a version and a checksum.

mod document;
mod ensemble;
mod error;
mod family;
mod header;
mod header_builder;
mod json;
mod levels;
mod reading;
mod text_rows;

pub use document::Document;
pub use ensemble::{Ensemble, Member};
pub use error::ModelError;
pub(crate) use error::malformed;
pub use family::{Family, Model, ModelRef};
pub use header::{Classes, Estimator, Feature, FeatureKind, Header, SampledRows};
pub use header_builder::HeaderBuilder;
pub use json::Json;
pub use levels::Levels;
pub use text_rows::{TextError, TextRows, learn_features};

/// The name by which a document says what it is.
const FORMAT: &str = "aucrank";

/// Newest form of the document that this version reads, and the one it writes.
pub const FORMAT_VERSION: u64 = 4;

#[cfg(test)]
mod tests;
