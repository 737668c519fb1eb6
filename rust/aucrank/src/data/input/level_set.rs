//! Sets of categories.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, LazyLock};

/// Some of the categories of a feature: the listed ones, or all others.
///
/// Its memory is that of the list, whatever the number of categories, and clones share it. It is
/// saved as the first code of the list and the differences between successive ones, which have few
/// digits.
///
/// # Examples
///
/// ```
/// use aucrank::data::LevelSet;
///
/// let rare = LevelSet::only([7, 2]);
/// assert!(rare.contains(2) && !rare.contains(3));
/// let common = LevelSet::all_but([7, 2]);
/// assert!(common.contains(3) && !common.contains(7));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct LevelSet(Arc<Listed>);

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Listed {
    /// Ascending.
    codes: Box<[u32]>,
    /// Whether the set is the complement of the list.
    are_out: bool,
}

/// Shared by sets with an empty list: a file may have one for every three of its bytes.
static NONE: LazyLock<Arc<Listed>> = LazyLock::new(|| Arc::new(Listed::empty(false)));
static ALL: LazyLock<Arc<Listed>> = LazyLock::new(|| Arc::new(Listed::empty(true)));

impl Listed {
    fn empty(are_out: bool) -> Self {
        Self { codes: Box::default(), are_out }
    }
}

impl LevelSet {
    /// The categories with the given codes, in any order.
    #[must_use]
    pub fn only(codes: impl IntoIterator<Item = u32>) -> Self {
        Self::of(codes, false)
    }

    /// All categories but those with the given codes, including categories without training rows.
    #[must_use]
    pub fn all_but(codes: impl IntoIterator<Item = u32>) -> Self {
        Self::of(codes, true)
    }

    fn of(codes: impl IntoIterator<Item = u32>, are_out: bool) -> Self {
        let mut codes: Vec<u32> = codes.into_iter().collect();
        if !codes.is_sorted_by(|a, b| a < b) {
            codes.sort_unstable();
            codes.dedup();
        }
        Self::of_sorted(codes, are_out)
    }

    /// From ascending codes.
    fn of_sorted(codes: impl Into<Box<[u32]>>, are_out: bool) -> Self {
        let codes = codes.into();
        if codes.is_empty() {
            return Self(Arc::clone(if are_out { &ALL } else { &NONE }));
        }
        Self(Arc::new(Listed { codes, are_out }))
    }

    /// All other categories.
    pub(crate) fn complement(&self) -> Self {
        Self::of_sorted(self.0.codes.clone(), !self.0.are_out)
    }

    /// Whether the set contains the category of a code.
    #[inline]
    #[must_use]
    pub fn contains(&self, code: u32) -> bool {
        self.0.codes.binary_search(&code).is_ok() != self.0.are_out
    }

    /// An order of sets, in which equal ones are neighbours. Clones are equal at once.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) { Ordering::Equal } else { self.0.cmp(&other.0) }
    }

    /// A number that clones share, and no set of other categories has while they exist.
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// The listed codes, ascending.
    #[must_use]
    pub fn listed(&self) -> &[u32] {
        &self.0.codes
    }

    /// Whether the set is the complement of the list.
    #[must_use]
    pub fn lists_others(&self) -> bool {
        self.0.are_out
    }
}

impl fmt::Debug for LevelSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.are_out { "AllBut" } else { "Only" })?;
        f.debug_list().entries(&self.0.codes).finish()
    }
}

/// The saved form of a set of categories.
mod saved {
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
                *step =
                    code.ok_or_else(|| A::Error::custom("codes of categories do not ascend"))?;
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
        fn malformed_sets_are_refused() {
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
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_set_contains_exactly_its_codes(
            codes in prop::collection::vec(0..40_u32, 0..30),
        ) {
            let (only, all_but) =
                (LevelSet::only(codes.iter().copied()), LevelSet::all_but(codes.iter().copied()));
            for code in 0..50 {
                prop_assert_eq!(only.contains(code), codes.contains(&code));
                prop_assert_eq!(all_but.contains(code), !codes.contains(&code));
            }
        }
    }
}
