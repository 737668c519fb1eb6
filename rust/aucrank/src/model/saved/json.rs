//! Parts of a document that the core keeps for others.

use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::canonical_json::append_canonical;
use crate::Interrupt;

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
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_and_objects_are_counted_where_they_are_no_text() {
        let n_containers = |value: Value| Json::from(value).n_containers();
        assert_eq!(n_containers(json!(7)), 0);
        assert_eq!(n_containers(json!({"a[": [[], {}, "]{[\\\"["], "\"{": "\\"})), 4);
    }
}
