//! The saved form of a set of categories.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::LevelSet;

/// A set as it is saved.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SavedLevelSet {
    Only(Vec<u32>),
    AllBut(Vec<u32>),
}

impl Serialize for LevelSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        let steps = self.0.codes.iter().map(|&code| code - std::mem::replace(&mut last, code));
        let saved = if self.0.are_out { SavedLevelSet::AllBut } else { SavedLevelSet::Only };
        saved(steps.collect()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LevelSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LevelSetVisitor)
    }
}

struct LevelSetVisitor;

impl<'de> Visitor<'de> for LevelSetVisitor {
    type Value = LevelSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set of categories")
    }

    /// Up to format version 2: the codes of the set.
    fn visit_seq<A: SeqAccess<'de>>(self, mut codes: A) -> Result<LevelSet, A::Error> {
        let mut set = Vec::new();
        while let Some(code) = codes.next_element()? {
            set.push(code);
        }
        Ok(LevelSet::only(set))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<LevelSet, A::Error> {
        let saved = SavedLevelSet::deserialize(MapAccessDeserializer::new(map))?;
        let (mut codes, are_out) = match saved {
            SavedLevelSet::Only(steps) => (steps, false),
            SavedLevelSet::AllBut(steps) => (steps, true),
        };
        let mut last = None;
        for step in &mut codes {
            let code = match last {
                None => Some(*step),
                Some(last) => {
                    Some(*step).filter(|&step| step > 0).and_then(|step| step.checked_add(last))
                }
            };
            *step = code.ok_or_else(|| A::Error::custom("codes of categories do not ascend"))?;
            last = Some(*step);
        }
        Ok(LevelSet::of_sorted(codes, are_out))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_is_read_as_it_was_written(codes in prop::collection::vec(0..40_u32, 0..30)) {
            let (only, all_but) =
                (LevelSet::only(codes.iter().copied()), LevelSet::all_but(codes.iter().copied()));
            for set in [only, all_but] {
                let text = serde_json::to_string(&set).unwrap();
                prop_assert_eq!(serde_json::from_str::<LevelSet>(&text).unwrap(), set);
            }
            let plain = serde_json::to_string(&codes).unwrap();
            prop_assert_eq!(serde_json::from_str::<LevelSet>(&plain).unwrap(), LevelSet::only(codes));
        }
    }

    #[test]
    fn steps_are_saved() {
        let text = |set: &LevelSet| serde_json::to_string(set).unwrap();
        assert_eq!(text(&LevelSet::only([900_003, 7, 900_001])), r#"{"only":[7,899994,2]}"#);
        assert_eq!(text(&LevelSet::all_but([0, 1])), r#"{"all_but":[0,1]}"#);
    }

    #[test]
    fn what_is_no_set_is_refused() {
        for text in [
            "7",
            "null",
            "{}",
            r#"{"some":[1]}"#,
            r#"{"only":[1],"all_but":[2]}"#,
            "[-1]",
            r#"{"only":[1,0]}"#,
            r#"{"only":[4294967295,1]}"#,
            "[4294967296]",
            r#"{"only":null}"#,
        ] {
            assert!(serde_json::from_str::<LevelSet>(text).is_err(), "{text}");
        }
    }
}
