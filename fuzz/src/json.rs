//! Positions of the parts of a JSON text, so that they can be cut out and put elsewhere.

use std::ops::Range;

/// Kind of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`, `true` or `false`.
    Word,
    /// A number.
    Number,
    /// A string that is a value.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
    /// The key of an entry, with quotes.
    Key,
    /// Key, colon and value.
    Entry,
}

/// A part of a text.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its kind.
    pub kind: Kind,
    /// Its bytes.
    pub place: Range<usize>,
    /// Whether it is separated by commas: an item of a list, or an entry.
    pub is_item: bool,
}

/// All parts of a text, in the order of their ends; for invalid JSON, those before the first fault.
pub fn parts_of(text: &str) -> Vec<Part> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0, parts: Vec::new() };
    reader.value(false, 0);
    reader.parts
}

/// Maximum depth that is parsed, since parsing takes a call for each level.
const DEEPEST: usize = 150;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    parts: Vec<Part>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn keep(&mut self, kind: Kind, start: usize, is_item: bool) {
        self.parts.push(Part { kind, place: start..self.at, is_item });
    }

    fn value(&mut self, is_item: bool, depth: usize) -> Option<()> {
        let first = self.peek()?;
        let start = self.at;
        let kind = match first {
            b'{' | b'[' => {
                if depth == DEEPEST {
                    return None;
                }
                self.at += 1;
                let close = if first == b'{' { b'}' } else { b']' };
                self.items(close, depth)?;
                if first == b'{' { Kind::Object } else { Kind::Array }
            }
            b'"' => {
                self.string()?;
                Kind::String
            }
            _ => {
                let rest = &self.bytes[start..];
                let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                self.at += rest.iter().take_while(is_part).count();
                if self.at == start {
                    return None;
                }
                if first.is_ascii_alphabetic() { Kind::Word } else { Kind::Number }
            }
        };
        self.keep(kind, start, is_item);
        Some(())
    }

    fn items(&mut self, close: u8, depth: usize) -> Option<()> {
        if self.take(close).is_some() {
            return Some(());
        }
        loop {
            if close == b']' {
                self.value(true, depth + 1)?;
            } else {
                self.peek()?;
                let start = self.at;
                self.string()?;
                self.keep(Kind::Key, start, false);
                self.take(b':')?;
                self.value(false, depth + 1)?;
                self.keep(Kind::Entry, start, true);
            }
            if self.take(b',').is_none() {
                return self.take(close);
            }
        }
    }

    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            let byte = *self.bytes.get(self.at)?;
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                return Some(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_at_its_position() {
        let text = r#" {"a\"b": [1, -2.5e3, {"c":null}], "d":"x,]"} "#;
        let found: Vec<_> =
            parts_of(text).into_iter().map(|part| (part.kind, &text[part.place])).collect();
        let list = r#"[1, -2.5e3, {"c":null}]"#;
        let expected = [
            (Kind::Key, r#""a\"b""#),
            (Kind::Number, "1"),
            (Kind::Number, "-2.5e3"),
            (Kind::Key, r#""c""#),
            (Kind::Word, "null"),
            (Kind::Entry, r#""c":null"#),
            (Kind::Object, r#"{"c":null}"#),
            (Kind::Array, list),
            (Kind::Entry, &format!(r#""a\"b": {list}"#)),
            (Kind::Key, r#""d""#),
            (Kind::String, r#""x,]""#),
            (Kind::Entry, r#""d":"x,]""#),
            (Kind::Object, text.trim()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn invalid_json_has_the_parts_before_its_fault() {
        for (text, n) in [("", 0), ("[1,", 1), ("{\"a", 0), ("[[],!]", 1), ("\"\\", 0)] {
            assert_eq!(parts_of(text).len(), n, "{text}");
        }
        assert!(parts_of(&"[".repeat(100_000)).is_empty());
    }
}
