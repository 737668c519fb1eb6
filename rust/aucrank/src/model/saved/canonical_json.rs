//! Canonical JSON, over which checksums are computed: compact, with sorted keys.
//!
//! It is the text that `serde_json::Value` prints if its maps are sorted. Converting text to text
//! takes a fraction of the memory of such a value, and does not depend on the features with which
//! `serde_json` is built, one of which preserves the order of keys.

use std::io::{BufReader, Read};
use std::{fmt, io};

use serde::Deserialize;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde::ser::Serialize;

use super::{ModelError, malformed};
use crate::Interrupt;
use crate::model::Model;
use crate::model::family::Tag;

/// Appends a JSON text to `out` without white space, with the keys of each object sorted; of equal
/// keys, the last wins. Returns an error, whatever its text, once interrupted.
pub(crate) fn append_canonical(
    before: String,
    text: &str,
    interrupt: &Interrupt,
) -> serde_json::Result<String> {
    let mut out = before.into_bytes();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Canonical { out: &mut out, interrupt }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(String::from_utf8(out).expect("serde_json writes UTF-8"))
}

/// JSON text of a value. Returns an error, whatever its text, once interrupted.
pub(crate) fn to_text(value: &impl Serialize, interrupt: &Interrupt) -> serde_json::Result<String> {
    let mut out = InterruptibleWriter { out: Vec::new(), interrupt };
    serde_json::to_writer(&mut out, value)?;
    Ok(String::from_utf8(out.out).expect("serde_json writes UTF-8"))
}

/// A writer that fails once interrupted.
struct InterruptibleWriter<'a> {
    out: Vec<u8>,
    interrupt: &'a Interrupt,
}

impl io::Write for InterruptibleWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.interrupt.check().map_err(io::Error::other)?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A visitor that writes what it reads.
struct Canonical<'a> {
    out: &'a mut Vec<u8>,
    interrupt: &'a Interrupt,
}

impl Canonical<'_> {
    fn write<E: Error>(self, value: &(impl Serialize + ?Sized)) -> Result<(), E> {
        self.interrupt.check().map_err(E::custom)?;
        serde_json::to_writer(self.out, value).map_err(E::custom)
    }
}

impl<'de> DeserializeSeed<'de> for Canonical<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Canonical<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.write(&())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.write(&value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.write(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { out, interrupt } = self;
        out.push(b'[');
        while items.next_element_seed(Canonical { out, interrupt })?.is_some() {
            out.push(b',');
        }
        close(out, b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { out, interrupt } = self;
        out.push(b'{');
        let start = out.len();
        // Each key with the range of its entry, relative to `start`.
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            let first = out.len() - start;
            Canonical { out, interrupt }.write(&key)?;
            out.push(b':');
            map.next_value_seed(Canonical { out, interrupt })?;
            out.push(b',');
            entries.push((key, first..out.len() - start));
        }
        // Entries are written as they are read, and copied only where keys are out of order.
        if !entries.is_sorted_by(|(a, _), (b, _)| a < b) {
            let unsorted = out.split_off(start);
            entries.sort_by(|(a, _), (b, _)| a.cmp(b));
            for same in entries.chunk_by(|(a, _), (b, _)| a == b) {
                let (_, place) = &same[same.len() - 1];
                out.extend_from_slice(&unsorted[place.clone()]);
            }
        }
        close(out, b'}');
        Ok(())
    }
}

/// Replaces the comma after the last item, if there is one, by the closing bracket.
fn close(out: &mut Vec<u8>, bracket: u8) {
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(bracket);
}

/// Bytes between two checks of the interrupt.
const PIECE: usize = 64 << 10;

/// Reads a value, and checks the interrupt meanwhile.
///
/// Short texts are read as long ones are: a second set of readers for all parts of a model would be
/// a twentieth of the module, and take a fifth off the time.
pub(in crate::model) fn read_json<T: DeserializeOwned>(
    text: &str,
    interrupt: &Interrupt,
) -> Result<T, ModelError> {
    let source = InterruptibleText { rest: text.as_bytes(), interrupt };
    let read = serde_json::from_reader(BufReader::with_capacity(PIECE.min(text.len()), source));
    interrupt.check().map_err(|_| ModelError::Interrupted)?;
    read.map_err(malformed)
}

impl Model {
    /// Reads a model in two passes, the first of which only skips: until it has found the family, a
    /// derived reader would hold the whole model in a form that takes many times the memory of the
    /// text.
    pub(super) fn from_json(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        let Tagged { family } = serde_json::from_str(text).map_err(malformed)?;
        family.read(text, interrupt)
    }

    /// Reads a member of an ensemble, which holds no models itself.
    pub(super) fn member_from_json(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        let Tagged { family } = serde_json::from_str(text).map_err(malformed)?;
        let what = match family {
            Tag::Ensemble => "a member of an ensemble is an ensemble",
            Tag::TwoSided => "a member of an ensemble is a two-sided classifier",
            _ => return family.read(text, interrupt),
        };
        Err(ModelError::Malformed(what.to_owned()))
    }

    /// Reads the ranker of a two-sided classifier, which is not one itself.
    pub(super) fn ranker_from_json(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        let Tagged { family } = serde_json::from_str(text).map_err(malformed)?;
        if matches!(family, Tag::TwoSided) {
            let what = "the ranker of a two-sided classifier is one itself";
            return Err(ModelError::Malformed(what.to_owned()));
        }
        family.read(text, interrupt)
    }
}

/// The tag of a model, which determines its type.
#[derive(Deserialize)]
struct Tagged {
    family: Tag,
}

/// A text that ends in an error once interrupted.
struct InterruptibleText<'a> {
    rest: &'a [u8],
    interrupt: &'a Interrupt,
}

impl Read for InterruptibleText<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.interrupt.check().map_err(io::Error::other)?;
        self.rest.read(out)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn canonical(text: &str) -> serde_json::Result<String> {
        append_canonical(String::new(), text, &Interrupt::default())
    }

    /// Spaces, keys in any order and more than once, numbers and strings of all kinds.
    fn texts() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|value| value.to_string()),
            any::<i64>().prop_map(|value| value.to_string()),
            any::<u64>().prop_map(|value| value.to_string()),
            any::<f64>()
                .prop_filter("JSON", |value| value.is_finite())
                .prop_map(|value| format!("{value:e}")),
            Just("-0".to_owned()),
            any::<String>().prop_map(|value| Value::from(value).to_string()),
            Just("\"\\u00e9\\/\\ud83d\\ude00\"".to_owned()),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            let key = prop_oneof!["[a-d]{0,2}", any::<String>()];
            let list = prop::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[ {} ]", items.join(" , ")));
            let object = prop::collection::vec((key, inner), 0..6).prop_map(|entries| {
                let mut text = "{\n".to_owned();
                for (i, (key, value)) in entries.iter().enumerate() {
                    let comma = if i == 0 { "" } else { "," };
                    writeln!(text, "{comma}{} :\t{value}", Value::from(key.as_str())).unwrap();
                }
                text + "}"
            });
            prop_oneof![list, object]
        })
    }

    proptest! {
        #[test]
        fn it_is_what_a_sorted_value_prints(text in texts()) {
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(canonical(&text).unwrap(), value.to_string());
        }
    }

    #[test]
    fn malformed_json_is_refused() {
        for text in ["", "{", "[1,]", "{} {}", "{\"a\":1,}", "1e999", "\"\\ud800\"", "nul", "{1:2}"]
        {
            assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
            assert!(canonical(text).is_err(), "{text}");
        }
        assert!(canonical(&"[".repeat(1_000_000)).is_err());
    }
}
