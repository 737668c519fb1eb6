//! The saved form of every model, and scoring from it: one JSON document with a version and a checksum.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data::Columns;
use crate::tree::{RankingForest, TreeRankModel};
use crate::{RankError, VERSION};

/// The name by which a document says what it is.
const FORMAT: &str = "aucrank";

/// Newest form of the document that this version reads, and the one it writes.
pub const FORMAT_VERSION: u64 = 2;

/// Why a text is not a model.
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
}

/// Kind of a feature, with its categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FeatureKind {
    /// A number; NaN is missing.
    Numeric,
    /// A category.
    Categorical {
        /// The categories: strings, numbers or booleans. The code of one is its place here.
        levels: Vec<Value>,
    },
}

/// A column of the training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its name, if the columns had names.
    pub name: Option<String>,
    /// Its kind.
    #[serde(flatten)]
    pub kind: FeatureKind,
}

/// The estimator that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimator {
    /// Its class.
    pub class: String,
    /// Its parameters.
    pub params: Value,
}

/// The two labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classes {
    /// Type that the caller keeps them in.
    pub dtype: String,
    /// Negative, positive.
    pub values: [Value; 2],
}

/// What was learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "snake_case")]
pub enum Model {
    /// A ranking tree.
    TreeRank(TreeRankModel),
    /// A forest of ranking trees.
    RankingForest(RankingForest),
}

impl Model {
    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        match self {
            Self::TreeRank(model) => model.tree.n_levels(),
            Self::RankingForest(forest) => forest.n_levels(),
        }
    }

    fn check(&self, features: &[Feature]) -> Result<(), String> {
        match self {
            Self::TreeRank(model) => model.check()?,
            Self::RankingForest(forest) => forest.check()?,
        }
        let of_feature = |feature: &Feature| match &feature.kind {
            FeatureKind::Numeric => None,
            FeatureKind::Categorical { levels } => Some(levels.len() as u32),
        };
        if features.iter().map(of_feature).eq(self.n_levels().iter().copied()) {
            Ok(())
        } else {
            Err("the features are not those of the model".to_owned())
        }
    }
}

/// What a fitted estimator is, beside what it learned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The estimator that was fitted.
    pub estimator: Estimator,
    /// The two labels.
    pub classes: Classes,
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

/// Everything that is saved of a fitted estimator.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Document, ModelError};
///
/// let err = Document::from_json("{\"format\": \"other\"}").unwrap_err();
/// assert_eq!(err, ModelError::Foreign("\"other\"".to_owned()));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// What was fitted, and on what.
    pub header: Header,
    /// What was learned.
    pub model: Model,
}

impl Document {
    /// The document as JSON text, the same for the same content.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`] if a part cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, ModelError> {
        let body = serde_json::to_value(self).map_err(malformed)?;
        let document = json!({
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "library_version": VERSION,
            "checksum": checksum(&body),
            "body": body,
        });
        Ok(document.to_string())
    }

    /// Reads a document; white space and the order of keys do not matter.
    ///
    /// # Errors
    ///
    /// [`ModelError`], whatever the text is: nothing in it is executed or believed unchecked.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        let mut document: Value =
            serde_json::from_str(text).map_err(|err| ModelError::NotJson(err.to_string()))?;
        if document.get("format").and_then(Value::as_str) != Some(FORMAT) {
            let found = document.get("format").map_or("absent".to_owned(), Value::to_string);
            return Err(ModelError::Foreign(found));
        }
        let text_of = |key: &str| document.get(key).and_then(Value::as_str).map(str::to_owned);
        let written_by = text_of("library_version").unwrap_or_else(|| "unknown".to_owned());
        let Some(found) = document.get("format_version").and_then(Value::as_u64) else {
            return Err(ModelError::Malformed("it has no format version".to_owned()));
        };
        if found > FORMAT_VERSION {
            return Err(ModelError::Newer { found, written_by });
        }
        let found = text_of("checksum").unwrap_or_else(|| "absent".to_owned());
        let Some(body) = document.get_mut("body").map(Value::take) else {
            return Err(ModelError::Malformed("it has no body".to_owned()));
        };
        let expected = checksum(&body);
        if found != expected {
            return Err(ModelError::Checksum { found, expected });
        }
        let document: Self = serde_json::from_value(body).map_err(malformed)?;
        document.model.check(&document.header.features).map_err(ModelError::Malformed)?;
        Ok(document)
    }

    /// Score of each row; higher is more positive, above 0 is predicted positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        match &self.model {
            Model::TreeRank(model) => model.tree.score(columns),
            Model::RankingForest(forest) => forest.score(columns),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
pub(crate) fn malformed(err: serde_json::Error) -> ModelError {
    ModelError::Malformed(err.to_string())
}

/// 64-bit FNV-1a of the compact text: against a damaged file, not against an adversary.
fn checksum(body: &Value) -> String {
    format!("fnv1a64:{:016x}", fnv1a64(body.to_string().as_bytes()))
}

/// Hash of Fowler, Noll and Vo: it tells changed bytes, not a forger.
pub(crate) fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::data::{BinningParams, Column, Labels};
    use crate::tree::{FitParams, GrowParams, LeafOrder, LeafRankParams, SplitRule, fit};

    const VALUES: [f64; 8] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, f64::NAN, 0.8];
    const CODES: [u32; 8] = [0, 1, 0, 1, 2, 2, 1, 0];
    const POSITIVE: [bool; 8] = [false, true, false, true, true, false, true, false];

    fn columns() -> Columns<'static> {
        let column = Column::Codes { codes: &CODES, n_levels: 3 };
        Columns::new(vec![Column::from(&VALUES[..]), column], 8).unwrap()
    }

    fn document() -> Document {
        let labels = Labels::new(&POSITIVE, None).unwrap();
        let params = FitParams {
            binning: BinningParams::default(),
            grow: GrowParams {
                max_depth: 4,
                min_samples_split: 2,
                min_samples_leaf: 1,
                min_gain: 0.0,
                leaf_order: LeafOrder::Tree,
            },
            split: SplitRule::Stumps(LeafRankParams {
                max_depth: 2,
                ..LeafRankParams::orthogonal(1)
            }),
            pruning: None,
            seed: 0,
        };
        let model = fit(&columns(), &labels, &params, &Interrupt::default()).unwrap();
        let levels = ["blue", "green", "red"].map(Value::from).to_vec();
        let header = Header {
            estimator: Estimator { class: "TreeRank".to_owned(), params: json!({"max_depth": 4}) },
            classes: Classes { dtype: "int64".to_owned(), values: [json!(0), json!(1)] },
            features: vec![
                Feature { name: Some("size".to_owned()), kind: FeatureKind::Numeric },
                Feature {
                    name: Some("colour".to_owned()),
                    kind: FeatureKind::Categorical { levels },
                },
            ],
        };
        Document { header, model: Model::TreeRank(model) }
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let document = document();
        let text = document.to_json().unwrap();
        let read = Document::from_json(&text).unwrap();
        assert_eq!(read, document);
        assert_eq!(read.to_json().unwrap(), text);
        assert_eq!(read.score(&columns()).unwrap(), document.score(&columns()).unwrap());
        let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&text).unwrap());
        assert_eq!(Document::from_json(&pretty.unwrap()).unwrap(), document);
    }

    #[test]
    fn a_damaged_text_is_refused_wherever_the_damage() {
        let text = document().to_json().unwrap();
        for end in 0..text.len() {
            let err = Document::from_json(&text[..end]).unwrap_err();
            assert!(matches!(err, ModelError::NotJson(_)), "cut at {end}: {err}");
        }
        for place in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[place] = if bytes[place] == b'7' { b'3' } else { b'7' };
            let damaged = String::from_utf8(bytes).unwrap();
            // The version of the library alone is not content.
            if let Ok(read) = Document::from_json(&damaged) {
                assert_eq!(read.to_json().unwrap(), text, "byte {place}");
            }
        }
    }

    #[test]
    fn a_later_format_is_named() {
        let text = document().to_json().unwrap();
        let later = text.replace("\"format_version\":2", "\"format_version\":3");
        let err = Document::from_json(&later).unwrap_err();
        assert!(matches!(err, ModelError::Newer { found: 3, .. }), "{err}");
    }

    /// Changes the body and gives it a checksum that fits.
    fn forged(change: impl Fn(&mut Value)) -> Result<Document, ModelError> {
        let mut document: Value = serde_json::from_str(&document().to_json().unwrap()).unwrap();
        change(&mut document["body"]);
        document["checksum"] = checksum(&document["body"]).into();
        Document::from_json(&document.to_string())
    }

    #[test]
    fn a_forged_tree_is_refused_not_believed() {
        assert!(forged(|_| ()).is_ok());
        let changes: [fn(&mut Value); 8] = [
            |body| body["model"]["tree"]["nodes"][0]["split"]["left"] = json!(0),
            |body| body["model"]["tree"]["nodes"][0]["split"]["right"] = json!(10_000),
            |body| body["model"]["tree"]["nodes"][0]["sums"]["pos"] = json!(0),
            |body| body["model"]["tree"]["nodes"][1]["sums"]["neg"] = json!(u64::MAX),
            |body| body["model"]["tree"]["nodes"] = json!([]),
            |body| body["model"]["tree"]["nodes"][0]["split"]["cuts"] = json!([]),
            |body| body["header"]["features"] = json!([]),
            |body| {
                let cut = &mut body["model"]["tree"]["nodes"][0]["split"]["cuts"][0]["cut"];
                cut["test"]["feature"] = json!(7);
            },
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let err = forged(change).unwrap_err();
            assert!(matches!(err, ModelError::Malformed(_)), "change {i}: {err}");
        }
    }
}
