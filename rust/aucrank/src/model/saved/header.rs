//! What a fitted estimator is, beside what it learned.

use serde::{Deserialize, Serialize};

use super::{Json, Levels, ModelError, malformed};

/// Kind of a feature, with its categories.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, FeatureKind};
///
/// assert_eq!(Feature::numeric("age").kind, FeatureKind::Numeric);
/// let town = Feature::categorical("town", ["Lyon", "Oslo"])?;
/// assert!(matches!(town.kind, FeatureKind::Categorical { levels } if levels.len() == 2));
/// # Ok::<(), aucrank::model::ModelError>(())
/// ```
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

/// What the numbers of a column count since 1970, where they are dates.
///
/// # Examples
///
/// ```
/// use aucrank::model::{DateUnit, Feature};
///
/// let opened = Feature { counts: Some(DateUnit::Days), ..Feature::numeric("opened") };
/// assert_ne!(opened, Feature::numeric("opened"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateUnit {
    /// Whole days.
    Days,
    /// Moments, as fractions of days.
    Moments,
}

/// A column of the training data.
///
/// # Examples
///
/// ```
/// use aucrank::model::Feature;
///
/// assert_eq!(Feature::numeric("age").name.as_deref(), Some("age"));
/// // A column of a matrix has no name.
/// let unnamed = Feature { name: None, ..Feature::numeric("") };
/// assert_ne!(unnamed, Feature::numeric(""));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedFeature")]
pub struct Feature {
    /// Its name, if the columns had names.
    pub name: Option<String>,
    /// Its kind.
    #[serde(flatten)]
    pub kind: FeatureKind,
    /// What its numbers count, if they are dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<DateUnit>,
}

/// A column as it is saved. A flattened form would be read by way of a copy that takes many times the
/// memory of the text.
#[derive(Deserialize)]
struct SavedFeature {
    name: Option<String>,
    kind: SavedKind,
    levels: Option<Levels>,
    counts: Option<DateUnit>,
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
        if saved.counts.is_some() && kind != FeatureKind::Numeric {
            return Err("the categories of a feature count no days");
        }
        Ok(Self { name: saved.name, kind, counts: saved.counts })
    }
}

/// The estimator that was fitted.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, Header};
/// use serde_json::json;
///
/// let header =
///     Header::builder("TreeRank").param("max_depth", 4).feature(Feature::numeric("age")).build()?;
/// let estimator = header.estimator;
/// assert_eq!(estimator.class, "TreeRank");
/// assert_eq!(estimator.params.value(), json!({"max_depth": 4}));
/// # Ok::<(), aucrank::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimator {
    /// Its class.
    pub class: String,
    /// Its parameters.
    pub params: Json,
}

/// The two labels.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, Header};
/// use serde_json::json;
///
/// let age = Feature::numeric("age");
/// let header = Header::builder("RIMARC").feature(age).classes("stays", "leaves").build()?;
/// let classes = header.classes.expect("a builder always sets them");
/// assert_eq!(classes.values.map(|value| value.value()), [json!("stays"), json!("leaves")]);
/// # Ok::<(), aucrank::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// Type that the caller keeps them in.
    pub dtype: String,
    /// Negative, positive.
    pub values: [Json; 2],
}

/// How many of the rows it was given a fit has learned from, where it was fitted to a sample of them.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, Header, SampledRows};
///
/// let mut header = Header::builder("AURORA").feature(Feature::numeric("age")).build()?;
/// header.sample = Some(SampledRows { n_rows: 200_000, n_all_rows: 3_000_000 });
/// assert_eq!(Header::from_json(&header.to_json()?)?, header);
/// # Ok::<(), aucrank::model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledRows {
    /// Rows of the sample.
    pub n_rows: u64,
    /// All rows.
    pub n_all_rows: u64,
}

/// What a fitted estimator is, beside what it learned.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, Header};
///
/// let header = Header::builder("RIMARC").feature(Feature::numeric("age")).build()?;
/// assert_eq!(header.features, [Feature::numeric("age")]);
/// assert_eq!(Header::from_json(&header.to_json()?)?, header);
/// # Ok::<(), aucrank::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The estimator that was fitted.
    pub estimator: Estimator,
    /// The two labels, if the fit was told any: a ranker always is.
    pub classes: Option<Classes>,
    /// The columns of the training data.
    pub features: Vec<Feature>,
    /// The sample that was learned from; `None` where it was all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampledRows>,
    /// How the files of the fit were read, in the form of the Python package, which reads others by it;
    /// `None` where the rows came with types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Json>,
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
