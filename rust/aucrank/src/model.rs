//! The saved form of every model, and scoring from it: one JSON document with a version and a checksum.

mod json;
mod levels;
mod reading;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::additive::{Mad2c, Rimarc, Scorecard};
use crate::aurora::{Aurora, RankOpt, ThresholdBinarizer};
use crate::boost::{BoostedModel, BranchingProgram};
use crate::canonical_json::{append_canonical, to_text};
use crate::data::Columns;
use crate::fnv::fnv1a64;
use crate::tree::{RankingForest, TreeRankModel};
use crate::{Interrupt, RankError, VERSION};

pub use json::Json;
pub use levels::Levels;
use reading::read_json;

/// The name by which a document says what it is.
const FORMAT: &str = "aucrank";

/// Newest form of the document that this version reads, and the one it writes.
pub const FORMAT_VERSION: u64 = 3;

/// Lists and objects that the parameters of an estimator may hold in a file.
const MOST_CONTAINERS: usize = 100_000;

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
    /// The caller asked to stop (Ctrl-C in Python).
    #[error("interrupted")]
    Interrupted,
}

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

/// What was learned.
#[derive(Debug, Clone, PartialEq)]
pub enum Model {
    /// A ranking tree.
    TreeRank(TreeRankModel),
    /// A forest of ranking trees.
    RankingForest(RankingForest),
    /// A sum of the terms of boosting.
    Boosted(BoostedModel),
    /// A branching program.
    BranchingProgram(BranchingProgram),
    /// Features in bins.
    Mad2c(Mad2c),
    /// A fitted `RIMARC`.
    Rimarc(Rimarc),
    /// A scorecard.
    Scorecard(Scorecard),
    /// A linear score over binary terms.
    Aurora(Aurora),
    /// Features as binary terms.
    ThresholdBinarizer(ThresholdBinarizer),
    /// A fitted `RankOpt`.
    RankOpt(RankOpt),
}

/// A borrowed [`Model`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "family", rename_all = "snake_case")]
pub enum ModelRef<'a> {
    /// A ranking tree.
    TreeRank(&'a TreeRankModel),
    /// A forest of ranking trees.
    RankingForest(&'a RankingForest),
    /// A sum of the terms of boosting.
    Boosted(&'a BoostedModel),
    /// A branching program.
    BranchingProgram(&'a BranchingProgram),
    /// Features in bins.
    Mad2c(&'a Mad2c),
    /// A fitted `RIMARC`.
    Rimarc(&'a Rimarc),
    /// A scorecard.
    Scorecard(&'a Scorecard),
    /// A linear score over binary terms.
    Aurora(&'a Aurora),
    /// Features as binary terms.
    ThresholdBinarizer(&'a ThresholdBinarizer),
    /// A fitted `RankOpt`.
    RankOpt(&'a RankOpt),
}

impl ModelRef<'_> {
    /// The document of a fitted estimator as JSON text, the same for the same content.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`] if a part cannot be written as JSON.
    pub fn to_json(self, header: &Header) -> Result<String, ModelError> {
        self.to_json_heeding(header, &Interrupt::default())
    }

    /// As [`ModelRef::to_json`], for a caller who may lose patience.
    ///
    /// # Errors
    ///
    /// As [`ModelRef::to_json`], or [`ModelError::Interrupted`].
    pub fn to_json_heeding(
        self,
        header: &Header,
        interrupt: &Interrupt,
    ) -> Result<String, ModelError> {
        let wrong = |err| match interrupt.check() {
            Ok(()) => malformed(err),
            Err(_) => ModelError::Interrupted,
        };
        let body = to_text(&BodyRef { header, model: self }, interrupt).map_err(wrong)?;
        let mut document = String::with_capacity(body.len() + 200);
        document.push_str("{\"body\":");
        let start = document.len();
        let document = append_canonical(document, &body, interrupt).map_err(wrong)?;
        let checksum = checksum(&document[start..]);
        // Keys are sorted here too.
        let rest = format!(
            ",\"checksum\":\"{checksum}\",\"format\":\"{FORMAT}\",\
             \"format_version\":{FORMAT_VERSION},\"library_version\":\"{VERSION}\"}}"
        );
        Ok(document + &rest)
    }
}

/// The content of a document, to be written.
#[derive(Serialize)]
struct BodyRef<'a> {
    header: &'a Header,
    model: ModelRef<'a>,
}

/// The content of a document, its model still to be read.
#[derive(Deserialize)]
struct Body<'a> {
    header: Header,
    #[serde(borrow)]
    model: &'a RawValue,
}

/// What a document holds, its content still to be read. Nothing has to be there.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    #[serde(borrow)]
    checksum: Option<&'a RawValue>,
    #[serde(borrow)]
    format: Option<&'a RawValue>,
    #[serde(borrow)]
    format_version: Option<&'a RawValue>,
    #[serde(borrow)]
    library_version: Option<&'a RawValue>,
}

/// A string or a number, if it is there and is one.
fn plain<'de, T: Deserialize<'de>>(value: Option<&'de RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

/// The part of a model that says how the rest is to be read.
#[derive(Deserialize)]
struct Tag {
    family: Family,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Family {
    TreeRank,
    RankingForest,
    Boosted,
    BranchingProgram,
    Mad2c,
    Rimarc,
    Scorecard,
    Aurora,
    ThresholdBinarizer,
    RankOpt,
}

impl Model {
    /// Reads a model in two passes: a derived reader would hold all of it in a form that takes many
    /// times the memory of the text, until it has found the family.
    fn from_json(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        let Tag { family } = read_json(text, interrupt)?;
        Ok(match family {
            Family::TreeRank => Self::TreeRank(read_json(text, interrupt)?),
            Family::RankingForest => Self::RankingForest(read_json(text, interrupt)?),
            Family::Boosted => Self::Boosted(read_json(text, interrupt)?),
            Family::BranchingProgram => Self::BranchingProgram(read_json(text, interrupt)?),
            Family::Mad2c => Self::Mad2c(read_json(text, interrupt)?),
            Family::Rimarc => Self::Rimarc(read_json(text, interrupt)?),
            Family::Scorecard => Self::Scorecard(read_json(text, interrupt)?),
            Family::Aurora => Self::Aurora(read_json(text, interrupt)?),
            Family::ThresholdBinarizer => Self::ThresholdBinarizer(read_json(text, interrupt)?),
            Family::RankOpt => Self::RankOpt(read_json(text, interrupt)?),
        })
    }

    fn borrow(&self) -> ModelRef<'_> {
        match self {
            Self::TreeRank(model) => ModelRef::TreeRank(model),
            Self::RankingForest(forest) => ModelRef::RankingForest(forest),
            Self::Boosted(model) => ModelRef::Boosted(model),
            Self::BranchingProgram(program) => ModelRef::BranchingProgram(program),
            Self::Mad2c(table) => ModelRef::Mad2c(table),
            Self::Rimarc(model) => ModelRef::Rimarc(model),
            Self::Scorecard(card) => ModelRef::Scorecard(card),
            Self::Aurora(model) => ModelRef::Aurora(model),
            Self::ThresholdBinarizer(model) => ModelRef::ThresholdBinarizer(model),
            Self::RankOpt(model) => ModelRef::RankOpt(model),
        }
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        match self {
            Self::TreeRank(model) => model.tree.n_levels(),
            Self::RankingForest(forest) => forest.n_levels(),
            Self::Boosted(model) => model.n_levels(),
            Self::BranchingProgram(program) => program.n_levels(),
            Self::Mad2c(table) => table.n_levels(),
            Self::Rimarc(model) => model.n_levels(),
            Self::Scorecard(card) => card.n_levels(),
            Self::Aurora(model) => model.n_levels(),
            Self::ThresholdBinarizer(model) => model.n_levels(),
            Self::RankOpt(model) => model.n_levels(),
        }
    }

    /// Whether it knows two classes; all that ranks rows does.
    fn has_classes(&self) -> bool {
        !matches!(self, Self::ThresholdBinarizer(model) if !model.has_labels())
    }

    fn check(&self, header: &Header) -> Result<(), String> {
        match self {
            Self::TreeRank(model) => model.check()?,
            Self::RankingForest(forest) => forest.check()?,
            Self::Boosted(model) => model.check()?,
            Self::BranchingProgram(program) => program.check()?,
            Self::Mad2c(table) => table.check()?,
            Self::Rimarc(model) => model.check()?,
            Self::Scorecard(card) => card.check()?,
            Self::Aurora(model) => model.check()?,
            Self::ThresholdBinarizer(model) => model.check()?,
            Self::RankOpt(model) => model.check()?,
        }
        // Whoever reads the parameters needs some hundred bytes for each.
        let found = header.estimator.params.n_containers();
        if found > MOST_CONTAINERS {
            return Err(format!("its parameters hold {found} lists and objects"));
        }
        let of_feature = |feature: &Feature| match &feature.kind {
            FeatureKind::Numeric => None,
            FeatureKind::Categorical { levels } => Some(levels.len()),
        };
        if header.classes.is_some() != self.has_classes() {
            return Err("the classes are not those of the model".to_owned());
        }
        if header.features.iter().map(of_feature).eq(self.n_levels().iter().copied()) {
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
#[derive(Debug, Clone, PartialEq)]
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
        self.model.borrow().to_json(&self.header)
    }

    /// Reads a document; white space and the order of keys do not matter.
    ///
    /// # Errors
    ///
    /// [`ModelError`], whatever the text is: nothing in it is executed or believed unchecked.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        Self::from_json_heeding(text, &Interrupt::default())
    }

    /// As [`Document::from_json`], for a caller who may lose patience.
    ///
    /// # Errors
    ///
    /// As [`Document::from_json`], or [`ModelError::Interrupted`].
    pub fn from_json_heeding(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        let canonical = append_canonical(String::with_capacity(text.len()), text, interrupt);
        let canonical = canonical.map_err(|err| match interrupt.check() {
            Ok(()) => ModelError::NotJson(err.to_string()),
            Err(_) => ModelError::Interrupted,
        })?;
        // What we wrote ourselves is so already: no second copy is kept.
        let canonical = if canonical == text { Cow::Borrowed(text) } else { Cow::Owned(canonical) };
        if !canonical.starts_with('{') {
            return Err(ModelError::Foreign("absent".to_owned()));
        }
        let document: Envelope<'_> = serde_json::from_str(&canonical).map_err(malformed)?;
        if plain(document.format) != Some(FORMAT.to_owned()) {
            let found = document.format.map_or("absent", RawValue::get);
            return Err(ModelError::Foreign(found.to_owned()));
        }
        let written_by = plain(document.library_version).unwrap_or_else(|| "unknown".to_owned());
        let Some(found) = plain(document.format_version) else {
            return Err(ModelError::Malformed("it has no format version".to_owned()));
        };
        if found > FORMAT_VERSION {
            return Err(ModelError::Newer { found, written_by });
        }
        let found = plain(document.checksum).unwrap_or_else(|| "absent".to_owned());
        let Some(body) = document.body.map(RawValue::get) else {
            return Err(ModelError::Malformed("it has no body".to_owned()));
        };
        let expected = checksum(body);
        if found != expected {
            return Err(ModelError::Checksum { found, expected });
        }
        let Body { header, model } = serde_json::from_str(body).map_err(malformed)?;
        let model = Model::from_json(model.get(), interrupt)?;
        drop(canonical);
        model.check(&header).map_err(ModelError::Malformed)?;
        Ok(Self { header, model })
    }

    /// Score of each row; higher is more positive, above 0 is predicted positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity;
    /// [`RankError::NoScore`] if the model turns features into others.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        match &self.model {
            Model::TreeRank(model) => model.tree.score(columns),
            Model::RankingForest(forest) => forest.score(columns),
            Model::Boosted(model) => model.score(columns, None),
            Model::BranchingProgram(program) => program.score(columns, None),
            Model::Mad2c(_) | Model::ThresholdBinarizer(_) => Err(RankError::NoScore),
            Model::Rimarc(model) => model.score(columns),
            Model::Scorecard(card) => card.score(columns),
            Model::Aurora(model) => model.score(columns),
            Model::RankOpt(model) => model.score(columns),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
pub(crate) fn malformed(err: serde_json::Error) -> ModelError {
    ModelError::Malformed(err.to_string())
}

/// 64-bit FNV-1a of the canonical text: against a damaged file, not against an adversary.
fn checksum(body: &str) -> String {
    format!("fnv1a64:{:016x}", fnv1a64(body.as_bytes()))
}

#[cfg(test)]
mod tests;
