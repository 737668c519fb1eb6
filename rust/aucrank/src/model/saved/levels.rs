//! The categories of a feature in a saved model.

use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::canonical_json::append_canonical;
use super::{ModelError, malformed};
use crate::Interrupt;

/// The categories of a feature in the order of their codes: strings, numbers or booleans.
///
/// # Examples
///
/// ```
/// use aucrank::model::Levels;
/// use serde_json::json;
///
/// let levels = Levels::try_from(vec![json!("blue"), json!("red")])?;
/// assert_eq!(levels.len(), 2);
/// assert_eq!(levels.values(), [json!("blue"), json!("red")]);
/// assert!(Levels::try_from(vec![json!(null)]).is_err());
/// # Ok::<(), aucrank::model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Levels {
    list: Json,
    #[serde(skip)]
    len: u32,
}

impl Levels {
    /// Number of categories.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a number of categories, not of things kept")]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The categories themselves.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the text is that of such values")]
    pub fn values(&self) -> Vec<Value> {
        serde_json::from_str(self.list.text()).expect("checked when it was made")
    }

    /// Categories that are strings.
    pub(super) fn of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let texts = texts.into_iter().map(Value::from).collect::<Vec<_>>();
        Self::try_from(texts).expect("texts are plain values")
    }

    fn of(list: Json) -> serde_json::Result<Self> {
        let LevelCount(len) = serde_json::from_str(list.text())?;
        Ok(Self { list, len })
    }
}

impl TryFrom<Vec<Value>> for Levels {
    type Error = ModelError;

    fn try_from(values: Vec<Value>) -> Result<Self, Self::Error> {
        Self::of(Value::from(values).into()).map_err(malformed)
    }
}

impl<'de> Deserialize<'de> for Levels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::of(Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Number of items of a list of plain values.
struct LevelCount(u32);

impl<'de> Deserialize<'de> for LevelCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Counter)
    }
}

struct Counter;

impl<'de> Visitor<'de> for Counter {
    type Value = LevelCount;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of categories")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut levels: A) -> Result<LevelCount, A::Error> {
        let mut len = 0_u32;
        while levels.next_element::<Plain>()?.is_some() {
            len = len.checked_add(1).ok_or_else(|| A::Error::custom("too many categories"))?;
        }
        Ok(LevelCount(len))
    }
}

/// A string, a number or a boolean.
struct Plain;

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor)
    }
}

struct PlainVisitor;

impl Visitor<'_> for PlainVisitor {
    type Value = Plain;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number or a boolean")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Plain, E> {
        Ok(Plain)
    }

    fn visit_str<E>(self, _: &str) -> Result<Plain, E> {
        Ok(Plain)
    }
}

/// A JSON value, kept as its text: the value itself may take up to sixteen times as much memory.
///
/// # Examples
///
/// ```
/// use aucrank::model::Json;
/// use serde_json::json;
///
/// assert_eq!(Json::from(json!({"max_depth": 4})).value(), json!({"max_depth": 4}));
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// The value.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the text is that of such values")]
    pub fn value(&self) -> Value {
        serde_json::from_str(self.text()).expect("it was made of a value")
    }

    pub(super) fn text(&self) -> &str {
        self.0.get()
    }

    /// Number of lists and objects in it.
    pub(super) fn n_containers(&self) -> usize {
        let (mut n, mut in_string, mut is_escaped) = (0, false, false);
        for byte in self.text().bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_string = !in_string,
                b'[' | b'{' if !in_string => n += 1,
                _ => {}
            }
        }
        n
    }

    fn of_text(text: &str) -> serde_json::Result<Self> {
        let canonical = String::with_capacity(text.len());
        let canonical = append_canonical(canonical, text, &Interrupt::default())?;
        Ok(Self(RawValue::from_string(canonical)?))
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        Self::of_text(&value.to_string()).expect("a value prints JSON")
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Self::of_text(text.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests_of_json {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_and_objects_are_counted_outside_of_strings() {
        let n_containers = |value: Value| Json::from(value).n_containers();
        assert_eq!(n_containers(json!(7)), 0);
        assert_eq!(n_containers(json!({"a[": [[], {}, "]{[\\\"["], "\"{": "\\"})), 4);
    }
}
