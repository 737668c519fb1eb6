//! Metadata of a fitted estimator.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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

/// Unit of the numbers of a column of dates, which count from 1970.
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
    /// Unit of its numbers, if they are dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<DateUnit>,
}

/// A column in its saved form. A flattened form would be read through a copy that takes many times
/// the memory of the text.
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

/// Size of the sample that a fit has learned from, and the number of all rows.
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

/// Metadata of a fitted estimator.
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
    /// The two labels, if the fit had any: a ranker always is.
    pub classes: Option<Classes>,
    /// The columns of the training data.
    pub features: Vec<Feature>,
    /// The sample that was learned from; `None` if all rows were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<SampledRows>,
    /// Settings for reading the files of the fit, in the form of the Python package, which reads
    /// others by them; `None` if the rows came with types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Json>,
    /// Report of the fit that no score needs, such as the leaderboard of an ensemble, in the form
    /// of the Python package; `None` if the model itself contains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Json>,
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

impl Feature {
    /// A number.
    #[must_use]
    pub fn numeric(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), kind: FeatureKind::Numeric, counts: None }
    }

    /// A category, with its levels in the order of their codes: strings, numbers or booleans.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`] if a level is something else.
    pub fn categorical<T: Into<Value>>(
        name: impl Into<String>,
        levels: impl IntoIterator<Item = T>,
    ) -> Result<Self, ModelError> {
        let levels = levels.into_iter().map(Into::into).collect::<Vec<Value>>();
        let kind = FeatureKind::Categorical { levels: Levels::try_from(levels)? };
        Ok(Self { name: Some(name.into()), kind, counts: None })
    }
}

impl Header {
    /// Begins the header of a model of the Python class with this name: `"TreeRank"`,
    /// `"GradientBoostingRanker"` and so on.
    ///
    /// # Examples
    ///
    /// ```
    /// use aucrank::model::{Feature, Header};
    ///
    /// let header = Header::builder("TreeRank")
    ///     .param("max_depth", 4)
    ///     .feature(Feature::numeric("age"))
    ///     .feature(Feature::categorical("town", ["Lyon", "Oslo"])?)
    ///     .classes("good", "bad")
    ///     .build()?;
    /// assert_eq!(header.features.len(), 2);
    /// # Ok::<(), aucrank::model::ModelError>(())
    /// ```
    pub fn builder(class: impl Into<String>) -> HeaderBuilder {
        HeaderBuilder { class: class.into(), ..HeaderBuilder::default() }
    }
}

/// Builder of a header, from [`Header::builder`].
///
/// # Examples
///
/// A model is fitted and saved; the Python package reads the text with `aucrank.load`.
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{RimarcParams, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::model::{Document, Feature, Header};
///
/// let ages = [19.0, 23.0, 31.0, 35.0, 48.0, 52.0];
/// let positive = [false, false, true, false, true, true];
/// let columns = Columns::from_column_major(&ages, 6)?;
/// let labels = Labels::new(&positive, None)?;
/// let model =
///     fit_rimarc((&columns, &labels), &RimarcParams::default(), &Interrupt::default())?;
///
/// let header = Header::builder("RIMARC")
///     .feature(Feature::numeric("age"))
///     .classes("stays", "leaves")
///     .build()?;
/// let text = Document::new(header, model)?.to_json()?;
/// let scores = Document::from_json(&text)?.score(&columns)?;
/// assert!(scores[5] > scores[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct HeaderBuilder {
    class: String,
    params: Map<String, Value>,
    features: Vec<Feature>,
    classes: Option<[Value; 2]>,
}

impl HeaderBuilder {
    /// Sets a parameter of the class; others have their defaults.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Adds a feature after the others.
    #[must_use]
    pub fn feature(mut self, feature: Feature) -> Self {
        self.features.push(feature);
        self
    }

    /// Adds features after the others.
    #[must_use]
    pub fn features(mut self, features: impl IntoIterator<Item = Feature>) -> Self {
        self.features.extend(features);
        self
    }

    /// Sets the two labels: both strings, both integers, both other numbers or both booleans.
    /// Without them, they are 0 and 1.
    #[must_use]
    pub fn classes<T: Into<Value>>(mut self, negative: T, positive: T) -> Self {
        self.classes = Some([negative.into(), positive.into()]);
        self
    }

    /// The header.
    ///
    /// # Errors
    ///
    /// [`ModelError::Malformed`] if there is no feature, two of them have the same name, or the two
    /// labels are the same or of different types.
    pub fn build(self) -> Result<Header, ModelError> {
        let malformed = |what: String| Err(ModelError::Malformed(what));
        let Self { class, params, features, classes } = self;
        if features.is_empty() {
            return malformed("there is no feature".to_owned());
        }
        let mut names: Vec<_> = features.iter().filter_map(|f| f.name.as_deref()).collect();
        names.sort_unstable();
        if let Some([twice, _]) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return malformed(format!("two features are called {twice:?}"));
        }
        let values = classes.unwrap_or_else(|| [0.into(), 1.into()]);
        let [negative, positive] = &values;
        let Some(dtype) = common_dtype(negative, positive) else {
            return malformed(format!(
                "the labels are {negative} and {positive}, not two of the same type"
            ));
        };
        if negative == positive {
            return malformed(format!("both labels are {negative}"));
        }
        Ok(Header {
            estimator: Estimator { class, params: Value::Object(params).into() },
            classes: Some(Classes { dtype: dtype.to_owned(), values: values.map(Json::from) }),
            features,
            sample: None,
            reading: None,
            report: None,
        })
    }
}

/// The numpy type that can hold both labels exactly.
fn common_dtype(negative: &Value, positive: &Value) -> Option<&'static str> {
    match (negative, positive) {
        (Value::Bool(_), Value::Bool(_)) => Some("bool"),
        (Value::String(_), Value::String(_)) => Some("object"),
        (Value::Number(a), Value::Number(b)) if a.is_i64() && b.is_i64() => Some("int64"),
        (Value::Number(a), Value::Number(b)) if a.is_f64() && b.is_f64() => Some("float64"),
        _ => None,
    }
}

#[cfg(test)]
mod tests_of_header_builder {
    use super::*;

    fn message(builder: HeaderBuilder) -> String {
        match builder.build().unwrap_err() {
            ModelError::Malformed(what) => what,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn invalid_headers_are_refused() {
        let header = || Header::builder("RIMARC").feature(Feature::numeric("a"));
        assert_eq!(message(Header::builder("RIMARC")), "there is no feature");
        assert_eq!(
            message(header().feature(Feature::numeric("a"))),
            "two features are called \"a\""
        );
        assert_eq!(message(header().classes("no", "no")), "both labels are \"no\"");
        assert_eq!(
            message(header().classes(Value::from(0), Value::from("yes"))),
            "the labels are 0 and \"yes\", not two of the same type"
        );
        assert!(Feature::categorical("b", [Value::Null]).is_err());
    }

    #[test]
    fn labels_have_the_type_that_holds_them() {
        let dtype = |negative: Value, positive: Value| {
            let header = Header::builder("RIMARC").feature(Feature::numeric("a"));
            header.classes(negative, positive).build().unwrap().classes.unwrap().dtype
        };
        assert_eq!(dtype(false.into(), true.into()), "bool");
        assert_eq!(dtype(0.into(), 1.into()), "int64");
        assert_eq!(dtype(0.5.into(), 1.5.into()), "float64");
        assert_eq!(dtype("a".into(), "b".into()), "object");
    }
}
