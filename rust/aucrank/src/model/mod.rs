//! Models of every family: scoring, and their saved form, one JSON document with a version and a
//! checksum.

mod ensemble;
mod family;
mod saved;
mod two_sided;

pub use ensemble::{Ensemble, Member};
pub use family::{Family, Model, ModelRef, SavedFamily};
#[cfg(feature = "arrow")]
pub use saved::{BatchError, BatchRows, features_of_batches};
pub use saved::{
    Classes, DateUnit, Document, Estimator, FORMAT_VERSION, Feature, FeatureKind, Header,
    HeaderBuilder, Json, Levels, ModelError, SampledRows, TextError, TextRows, learn_features,
};
pub use two_sided::TwoSidedModel;
