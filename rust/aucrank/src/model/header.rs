//! What a fitted estimator is, beside what it learned.

use serde::{Deserialize, Serialize};

use super::{Json, Levels, ModelError, malformed};

/// Kind of a feature, with its categories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FeatureKind {
    /// A number; NaN is missing.
    Numeric,
    /// A category.
    Categorical {
        /// The categories. The code of one is its place here.
        levels: Levels,
    },
}

/// A column of the training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedFeature")]
pub struct Feature {
    /// Its name, if the columns had names.
    pub name: Option<String>,
    /// Its kind.
    #[serde(flatten)]
    pub kind: FeatureKind,
}

/// A column as it is saved. A flattened form would be read by way of a copy that takes many times the
/// memory of the text.
#[derive(Deserialize)]
struct SavedFeature {
    name: Option<String>,
    kind: SavedKind,
    levels: Option<Levels>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedKind {
    Numeric,
    Categorical,
}

impl TryFrom<SavedFeature> for Feature {
    type Error = &'static str;

    fn try_from(saved: SavedFeature) -> Result<Self, Self::Error> {
        let kind = match (saved.kind, saved.levels) {
            (SavedKind::Numeric, None) => FeatureKind::Numeric,
            (SavedKind::Categorical, Some(levels)) => FeatureKind::Categorical { levels },
            _ => return Err("the categories of a feature do not suit its kind"),
        };
        Ok(Self { name: saved.name, kind })
    }
}

/// The estimator that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimator {
    /// Its class.
    pub class: String,
    /// Its parameters.
    pub params: Json,
}

/// The two labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// Type that the caller keeps them in.
    pub dtype: String,
    /// Negative, positive.
    pub values: [Json; 2],
}

/// What a fitted estimator is, beside what it learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The estimator that was fitted.
    pub estimator: Estimator,
    /// The two labels, if the fit was told any: a ranker always is.
    pub classes: Option<Classes>,
    /// The columns of the training data.
    pub features: Vec<Feature>,
}

impl Header {
    /// Reads a header from JSON text.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`].
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        serde_json::from_str(text).map_err(malformed)
    }

    /// The header as JSON text.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`].
    pub fn to_json(&self) -> Result<String, ModelError> {
        serde_json::to_string(self).map_err(malformed)
    }
}
