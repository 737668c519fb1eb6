//! Questions and frames as bytes, to be sent to who holds the rows.

use super::{Ask, RowFrame};
use crate::RankError;

impl Ask {
    /// The question as bytes, to be sent to who holds the rows.
    ///
    /// # Panics
    ///
    /// Never: all parts of a question can be written.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and lists")
    }

    /// What [`Ask::to_bytes`] has written.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RankError> {
        serde_json::from_slice(bytes).map_err(|err| RankError::BadAnswer(err.to_string()))
    }
}

impl RowFrame {
    /// The frame as bytes, to be sent to who holds the rows.
    ///
    /// # Panics
    ///
    /// Never: all parts of a frame can be written.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and lists")
    }

    /// What [`RowFrame::to_bytes`] has written.
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RankError> {
        serde_json::from_slice(bytes).map_err(|err| RankError::BadAnswer(err.to_string()))
    }
}
