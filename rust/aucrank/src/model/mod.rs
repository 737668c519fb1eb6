//! Models of every family: scoring, and their saved form, one JSON document with a version and a
//! checksum.
//!
//! Without the feature `serde` there is no saved form; [`Family`], [`Model`], [`ModelRef`],
//! [`Ensemble`], [`Member`] and [`TwoSidedModel`] remain.

mod ensemble;
mod family;
#[cfg(feature = "serde")]
mod saved;
mod two_sided;

pub use ensemble::{Ensemble, Member};
pub use family::{Family, Model, ModelRef};
#[cfg(feature = "arrow")]
pub use saved::{BatchError, BatchRows, features_of_batches};
#[cfg(feature = "serde")]
pub use saved::{
    Classes, DateUnit, Document, Estimator, FORMAT_VERSION, Feature, FeatureKind, Header,
    HeaderBuilder, Json, Levels, ModelError, SampledRows, TextError, TextRows, learn_features,
};
pub use two_sided::TwoSidedModel;
