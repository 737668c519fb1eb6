//! Why a text is not a model.

use super::FORMAT_VERSION;
use crate::VERSION;

/// Why a text is not a model.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Document, ModelError};
///
/// let err = Document::from_json("{\"format\": \"aucr").unwrap_err();
/// assert!(matches!(err, ModelError::NotJson(_)));
/// let err = Document::from_json("{\"format\": \"other\"}").unwrap_err();
/// let message = "this JSON document is not an aucrank model: its \"format\" is \"other\"";
/// assert_eq!(err.to_string(), message);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Cut short, or something else altogether.
    #[error("this is not a complete JSON document: {0}")]
    NotJson(String),
    /// JSON, but not ours.
    #[error("this JSON document is not an aucrank model: its \"format\" is {0}")]
    Foreign(String),
    /// Written by a later version.
    #[error(
        "the model has format version {found}, written by aucrank {written_by}; this is aucrank \
         {VERSION}, which reads versions up to {FORMAT_VERSION}: upgrade aucrank to read it"
    )]
    Newer {
        /// Version of the form.
        found: u64,
        /// Version of the library that wrote it.
        written_by: String,
    },
    /// Some byte is not what was written.
    #[error("the model is corrupt: its checksum is {found}, but its content gives {expected}")]
    Checksum {
        /// As written in the document.
        found: String,
        /// As the content has it.
        expected: String,
    },
    /// Well-formed, but not a model.
    #[error("the model is malformed: {0}")]
    Malformed(String),
    /// The caller requested a stop (Ctrl-C in Python).
    #[error("interrupted")]
    Interrupted,
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
pub(super) fn malformed(err: serde_json::Error) -> ModelError {
    ModelError::Malformed(err.to_string())
}
