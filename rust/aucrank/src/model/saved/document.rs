//! The saved form of a fitted estimator: a header and a model in one JSON text, with a checksum;
//! and the errors of reading it.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::canonical_json::{append_canonical, read_json, to_text};
use super::{FORMAT, FORMAT_VERSION, Feature, FeatureKind, Header, Json};
use crate::calibration::Calibration;
use crate::data::Columns;
use crate::model::{Family, Model, ModelRef, SavedFamily};
use crate::spilled::fnv1a64;
use crate::{Interrupt, RankError, VERSION};

/// Reason why a text is not a model.
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
    /// Cut short, or not JSON.
    #[error("this is not a complete JSON document: {0}")]
    NotJson(String),
    /// JSON, but of another format.
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
    /// Some byte has changed.
    #[error("the model is corrupt: its checksum is {found}, but its content gives {expected}")]
    Checksum {
        /// As written in the document.
        found: String,
        /// Computed from the content.
        expected: String,
    },
    /// Well-formed, but not a model.
    #[error("the model is malformed: {0}")]
    Malformed(String),
    /// A model of another family than the one that is read.
    #[error("the model is a {found}, not a {expected}")]
    OtherFamily {
        /// The tag of its family.
        found: String,
        /// The tag of the expected one.
        expected: &'static str,
    },
    /// The caller requested a stop (Ctrl-C in Python).
    #[error("interrupted")]
    Interrupted,
}

#[expect(clippy::needless_pass_by_value, reason = "the form that map_err wants")]
pub(super) fn malformed(err: serde_json::Error) -> ModelError {
    ModelError::Malformed(err.to_string())
}

/// Most lists and objects in the parameters of an estimator in a file, and in its report.
const MOST_CONTAINERS: usize = 100_000;

impl ModelRef<'_> {
    /// The document of a fitted estimator as JSON text, the same for the same content.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`] if a part cannot be written as JSON.
    pub fn to_json(
        self,
        header: &Header,
        calibration: Option<&Calibration>,
    ) -> Result<String, ModelError> {
        self.to_json_interruptible(header, calibration, &Interrupt::default())
    }

    /// As [`ModelRef::to_json`], but can be interrupted.
    ///
    /// # Errors
    ///
    /// As [`ModelRef::to_json`], or [`ModelError::Interrupted`].
    pub fn to_json_interruptible(
        self,
        header: &Header,
        calibration: Option<&Calibration>,
        interrupt: &Interrupt,
    ) -> Result<String, ModelError> {
        let wrong = |err| match interrupt.check() {
            Ok(()) => malformed(err),
            Err(_) => ModelError::Interrupted,
        };
        let body =
            to_text(&BodyRef { calibration, header, model: self }, interrupt).map_err(wrong)?;
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
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'a Calibration>,
    header: &'a Header,
    model: ModelRef<'a>,
}

/// The content of a document, before its model is read.
#[derive(Deserialize)]
struct Body<'a> {
    calibration: Option<Calibration>,
    header: Header,
    #[serde(borrow)]
    model: &'a RawValue,
}

/// The fields of a document, before its content is read. All are optional.
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
    /// That of the body as it stands.
    #[serde(skip)]
    expected_checksum: Option<String>,
}

impl<'a> Envelope<'a> {
    fn read(text: &'a str) -> Result<Self, ModelError> {
        // A list could be one, too.
        if !text.trim_start().starts_with('{') {
            return Err(ModelError::Foreign("absent".to_owned()));
        }
        let mut read: Self = serde_json::from_str(text).map_err(malformed)?;
        read.expected_checksum = read.body.map(|body| checksum(body.get()));
        Ok(read)
    }

    /// Whether the checksum is that of the body as it stands.
    fn is_whole(&self) -> bool {
        self.expected_checksum.is_some() && plain(self.checksum) == self.expected_checksum
    }
}

/// A string or a number, if the value is present and one of them.
fn plain<'de, T: Deserialize<'de>>(value: Option<&'de RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

/// All saved data of a fitted estimator.
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
    /// The estimator and its training data.
    pub header: Header,
    /// The fitted model.
    pub model: Model,
    /// The probabilities of its scores, if they were calibrated.
    pub calibration: Option<Calibration>,
}

impl Document {
    /// A fitted model with its header; its scores are not calibrated.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`] if the header does not match this model: other features, or
    /// classes although the model has none.
    pub fn new(header: Header, model: impl Into<Model>) -> Result<Self, ModelError> {
        Self { header, model: model.into(), calibration: None }.checked()
    }

    /// The document as JSON text, the same for the same content.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`] if a part cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, ModelError> {
        self.model.family().as_model().to_json(&self.header, self.calibration.as_ref())
    }

    /// Reads a document; white space and the order of keys do not matter.
    ///
    /// # Errors
    ///
    /// [`ModelError`], whatever the text is: nothing in it is executed, and nothing is used
    /// unchecked.
    pub fn from_json(text: &str) -> Result<Self, ModelError> {
        Self::from_json_interruptible(text, &Interrupt::default())
    }

    /// As [`Document::from_json`], but can be interrupted.
    ///
    /// # Errors
    ///
    /// As [`Document::from_json`], or [`ModelError::Interrupted`].
    pub fn from_json_interruptible(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        with_body(text, interrupt, |Body { calibration, header, model }| {
            let model = Model::from_json(model.get(), interrupt)?;
            Self { header, model, calibration }.checked()
        })
    }

    /// Reads a document whose model is of one family: its header and the model. A program that
    /// needs no other family then contains no other. The document has no calibration, as is the
    /// case for families with probabilities of their own.
    ///
    /// # Errors
    ///
    /// As [`Document::from_json`]; [`ModelError::OtherFamily`] if the model is of another family.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::Interrupt;
    /// use aucrank::additive::{Mad2c, RimarcParams, Rimarc, fit_rimarc};
    /// use aucrank::data::{Columns, Labels};
    /// use aucrank::model::{Document, Feature, Header};
    ///
    /// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
    /// let labels = Labels::new(&[false, true, false, true], None)?;
    /// let model =
    ///     fit_rimarc((&columns, &labels), &RimarcParams::default(), &Interrupt::default())?;
    /// let header = Header::builder("RIMARC").feature(Feature::numeric("age")).build()?;
    /// let text = Document::new(header.clone(), model.clone())?.to_json()?;
    /// assert_eq!(Document::read_as::<Rimarc>(&text), Ok((header, model)));
    /// let err = Document::read_as::<Mad2c>(&text).unwrap_err();
    /// assert_eq!(err.to_string(), "the model is a rimarc, not a mad2c");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_as<M: SavedFamily>(text: &str) -> Result<(Header, M), ModelError> {
        let interrupt = Interrupt::default();
        with_body(text, &interrupt, |Body { calibration, header, model }| {
            let FamilyName { family } = serde_json::from_str(model.get()).map_err(malformed)?;
            if family != M::TAG {
                return Err(ModelError::OtherFamily { found: family, expected: M::TAG });
            }
            if calibration.is_some() {
                let what = "probabilities of a model that has its own";
                return Err(ModelError::Malformed(what.to_owned()));
            }
            let model: M = read_json(model.get(), &interrupt)?;
            check(&header, &model).map_err(ModelError::Malformed)?;
            Ok((header, model))
        })
    }

    fn checked(self) -> Result<Self, ModelError> {
        self.check().map_err(ModelError::Malformed)?;
        Ok(self)
    }

    /// Checks that header and model match, and each is valid by itself.
    fn check(&self) -> Result<(), String> {
        let Self { header, model, calibration } = self;
        let family = model.family();
        if let Some(calibration) = calibration {
            calibration.check()?;
            if !family.has_score() {
                return Err("probabilities of a model that has no score".to_owned());
            }
        }
        check(header, family)
    }

    /// Score of each row; higher is more positive, above 0 is predicted positive.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity;
    /// [`RankError::NoScore`] if the model turns features into others.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        self.model.family().score(columns)
    }

    /// Probability of the positive class of each row, above one half exactly where the score is
    /// above 0.
    ///
    /// # Errors
    ///
    /// As [`Document::score`]; [`RankError::NoProbability`] if the model ranks rows without one.
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let Some(calibration) = &self.calibration else {
            return self.model.family().probability(columns);
        };
        let scores = self.score(columns)?;
        Ok(scores.into_iter().map(|score| calibration.probability(score)).collect())
    }
}

/// Reads the content of a document, and of it what is wanted.
fn with_body<T>(
    text: &str,
    interrupt: &Interrupt,
    read: impl Fn(Body<'_>) -> Result<T, ModelError>,
) -> Result<T, ModelError> {
    // What we wrote is canonical, as its checksum shows: no second copy is made, and numbers are
    // read once.
    if let Ok(own) = Envelope::read(text)
        && own.is_whole()
    {
        return read(own.body()?);
    }
    let canonical = append_canonical(String::with_capacity(text.len()), text, interrupt);
    let canonical = canonical.map_err(|err| match interrupt.check() {
        Ok(()) => ModelError::NotJson(err.to_string()),
        Err(_) => ModelError::Interrupted,
    })?;
    read(Envelope::read(&canonical)?.body()?)
}

impl<'a> Envelope<'a> {
    /// The content, if format, version and checksum are right.
    fn body(&self) -> Result<Body<'a>, ModelError> {
        if plain(self.format) != Some(FORMAT.to_owned()) {
            let found = self.format.map_or("absent", RawValue::get);
            return Err(ModelError::Foreign(found.to_owned()));
        }
        let written_by = plain(self.library_version).unwrap_or_else(|| "unknown".to_owned());
        let Some(found) = plain(self.format_version) else {
            return Err(ModelError::Malformed("it has no format version".to_owned()));
        };
        if found > FORMAT_VERSION {
            return Err(ModelError::Newer { found, written_by });
        }
        let found = plain(self.checksum).unwrap_or_else(|| "absent".to_owned());
        let Some(body) = self.body.map(RawValue::get) else {
            return Err(ModelError::Malformed("it has no body".to_owned()));
        };
        let expected = self.expected_checksum.clone().unwrap_or_default();
        if found != expected {
            return Err(ModelError::Checksum { found, expected });
        }
        serde_json::from_str(body).map_err(malformed)
    }
}

/// The family of a model.
#[derive(Deserialize)]
struct FamilyName {
    family: String,
}

/// Checks that a header and a model match, and the model is valid by itself.
fn check(header: &Header, model: &(impl Family + ?Sized)) -> Result<(), String> {
    model.check()?;
    // A reader needs some hundred bytes for each.
    let params = ("its parameters hold", Some(&header.estimator.params));
    for (what, json) in [params, ("its report holds", header.report.as_ref())] {
        let found = json.map_or(0, Json::n_containers);
        if found > MOST_CONTAINERS {
            return Err(format!("{what} {found} lists and objects"));
        }
    }
    let of_feature = |feature: &Feature| match &feature.kind {
        FeatureKind::Numeric => None,
        FeatureKind::Categorical { levels } => Some(levels.len()),
    };
    if header.classes.is_some() != model.has_classes() {
        return Err("the classes are not those of the model".to_owned());
    }
    if header.features.iter().map(of_feature).eq(model.n_levels().iter().copied()) {
        Ok(())
    } else {
        Err("the features are not those of the model".to_owned())
    }
}

/// 64-bit FNV-1a of the canonical text: detects damage, not forgery.
pub(super) fn checksum(body: &str) -> String {
    format!("fnv1a64:{:016x}", fnv1a64(body.as_bytes()))
}
