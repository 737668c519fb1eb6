//! Damage to the text of a model: to its structure, to its values, and to its bytes.

use crate::json::{Kind, Part, parts_of};
use crate::random::Random;

/// Numbers at the limits of the types that a reader may use, and some invalid ones.
const NUMBERS: [&str; 44] = [
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "0.5",
    "0.49999999999999994",
    "1.0000000000000002",
    "-1.5",
    "127",
    "128",
    "255",
    "256",
    "32767",
    "32768",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "268435455",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "5e-324",
    "-5e-324",
    "2.2250738585072014e-308",
    "1e-300",
    "1e300",
    "-1e300",
    "1.7976931348623157e308",
    "-1.7976931348623157e308",
    "1e400",
    "NaN",
    "01",
    "1.",
];

/// Values of other kinds.
const VALUES: [&str; 12] =
    ["null", "true", "false", "0", "\"\"", "[]", "{}", "[[]]", "[null]", "[0]", "\"x\"", "[1,0]"];

/// Strings that are hard to preserve.
const STRINGS: [&str; 12] = [
    r#""""#,
    r#""\u0000""#,
    r#""\ud800""#,
    r#""\"""#,
    r#""é😀""#,
    r#""a`b'c\\""#,
    r#"".""#,
    r#""<..""#,
    r#""lr""#,
    r#""leaf""#,
    r#""fnv1a64:0000000000000000""#,
    r#""nan""#,
];

/// Maximum length of a damaged text.
const LONGEST: usize = 4 << 20;

/// A text after some damage to parts of `models[which]`.
pub fn damaged(models: &[String], which: usize, random: &mut Random) -> Vec<u8> {
    let mut text = models[which].clone();
    let n_changes = 1 + (random.bits().trailing_zeros() as usize).min(8);
    for _ in 0..n_changes {
        change(&mut text, models, random);
    }
    let mut bytes = text.into_bytes();
    if random.once_in(20) {
        for _ in 0..=random.below(3) {
            damage_bytes(&mut bytes, random);
        }
    }
    bytes
}

/// Changes one part of a text.
fn change(text: &mut String, models: &[String], random: &mut Random) {
    let parts = parts_of(text);
    if parts.is_empty() {
        return;
    }
    let part = random.one_of(&parts);
    let old = &text[part.place.clone()];
    let new = match random.below(12) {
        0..=2 => match part.kind {
            Kind::Number => number(old, random),
            Kind::String | Kind::Key => string(old, random),
            Kind::Entry => String::new(),
            _ => (*random.one_of(&VALUES)).to_owned(),
        },
        3 => (*random.one_of(&VALUES)).to_owned(),
        // A part of the same kind, from this or another model.
        4 | 5 => other_part(text, &parts, part.kind, random),
        6 => {
            let model = random.one_of(models);
            other_part(model, &parts_of(model), part.kind, random)
        }
        7 => return remove(text, part),
        8 => {
            let n = if random.once_in(30) { 1 << random.below(20) } else { 1 + random.below(3) };
            return repeat(text, part, n);
        }
        9 => {
            let other = random.one_of(&parts).clone();
            return swap(text, part, &other);
        }
        10 => match part.kind {
            Kind::Array => "[]".to_owned(),
            Kind::Object => "{}".to_owned(),
            Kind::Number => number(old, random),
            _ => shortened(old, random),
        },
        _ => match part.kind {
            Kind::Number => number(old, random),
            Kind::Array | Kind::Object if random.once_in(20) => {
                let depth = 1 + random.below(400);
                format!("{}{old}{}", "[".repeat(depth), "]".repeat(depth))
            }
            Kind::Array => reordered(text, part, &parts, random),
            _ => string(old, random),
        },
    };
    text.replace_range(part.place.clone(), &new);
}

/// A number near another, or far from it.
fn number(old: &str, random: &mut Random) -> String {
    let nudged = match (old.parse::<i64>(), old.parse::<f64>()) {
        (Ok(old), _) => match random.below(5) {
            0 => old.checked_add(1).map(|new| new.to_string()),
            1 => old.checked_sub(1).map(|new| new.to_string()),
            2 => old.checked_neg().map(|new| new.to_string()),
            3 => Some(format!("{old}.5")),
            _ => None,
        },
        (_, Ok(old)) => match random.below(6) {
            0 => Some(format!("{:e}", old.next_up())),
            1 => Some(format!("{:e}", old.next_down())),
            2 => Some(format!("{:e}", -old)),
            3 => Some(format!("{:e}", old * 1e200)),
            4 => Some(format!("{:e}", old / 1e200)),
            _ => None,
        },
        _ => None,
    };
    nudged.unwrap_or_else(|| (*random.one_of(&NUMBERS)).to_owned())
}

/// A string with other letters.
fn string(old: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = old.trim_matches('"').chars().collect();
    if letters.is_empty() || random.once_in(3) {
        return (*random.one_of(&STRINGS)).to_owned();
    }
    let at = random.below(letters.len());
    let letter = letters[random.below(letters.len())];
    match random.below(5) {
        0 => letters[at] = letter,
        1 => letters.insert(at, letter),
        2 => drop(letters.remove(at)),
        3 => letters.truncate(at),
        _ => letters.extend_from_within(..at),
    }
    format!("\"{}\"", letters.into_iter().collect::<String>())
}

/// The beginning of a text, up to a letter.
fn shortened(old: &str, random: &mut Random) -> String {
    let mut end = random.below(old.len() + 1);
    while !old.is_char_boundary(end) {
        end -= 1;
    }
    old[..end].to_owned()
}

/// A part of the same kind, if there is one.
fn other_part(text: &str, parts: &[Part], kind: Kind, random: &mut Random) -> String {
    let same: Vec<&Part> = parts.iter().filter(|part| part.kind == kind).collect();
    if same.is_empty() {
        return "null".to_owned();
    }
    text[same[random.below(same.len())].place.clone()].to_owned()
}

/// Takes a part out, with a comma next to it.
fn remove(text: &mut String, part: &Part) {
    let (mut start, mut end) = (part.place.start, part.place.end);
    if part.is_item {
        let before = text[..start].trim_end();
        let after = &text[end..];
        if after.trim_start().starts_with(',') {
            end += after.len() - after.trim_start().len() + 1;
        } else if before.ends_with(',') {
            start = before.len() - 1;
        }
    }
    text.replace_range(start..end, if part.is_item { "" } else { "null" });
}

/// Repeats a part after itself.
fn repeat(text: &mut String, part: &Part, n: usize) {
    let item = text[part.place.clone()].to_owned();
    let n = n.min(LONGEST / (item.len() + 1));
    if part.is_item {
        text.insert_str(part.place.end, &format!(",{item}").repeat(n));
    } else if part.kind == Kind::String && item.len() > 2 {
        text.insert_str(part.place.end - 1, &item[1..item.len() - 1].repeat(n));
    }
}

/// Exchanges two parts, neither of which contains the other.
fn swap(text: &mut String, a: &Part, b: &Part) {
    let (first, second) = if a.place.start < b.place.start { (a, b) } else { (b, a) };
    if first.place.end > second.place.start {
        return;
    }
    let (before, after) =
        (text[first.place.clone()].to_owned(), text[second.place.clone()].to_owned());
    text.replace_range(second.place.clone(), &before);
    text.replace_range(first.place.clone(), &after);
}

/// A list with two of its items exchanged.
fn reordered(text: &str, list: &Part, parts: &[Part], random: &mut Random) -> String {
    let within = |part: &&Part| {
        part.is_item && part.place.start > list.place.start && part.place.end < list.place.end
    };
    let items: Vec<&Part> = parts.iter().filter(within).collect();
    let mut new = text[list.place.clone()].to_owned();
    if !items.is_empty() {
        let shifted = |part: &Part| Part {
            place: part.place.start - list.place.start..part.place.end - list.place.start,
            ..part.clone()
        };
        let mut one = || shifted(items[random.below(items.len())]);
        let (a, b) = (one(), one());
        swap(&mut new, &a, &b);
    }
    new
}

/// Damage regardless of JSON.
fn damage_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match random.below(4) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes.insert(at, random.bits() as u8),
        2 => drop(bytes.remove(at)),
        _ => bytes.truncate(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_is_damaged_in_one_way() {
        let models = vec![r#"{"a":[1,2.5,"é"],"b":{"c":null}}"#.to_owned(), "[3]".to_owned()];
        let all = |seed| -> Vec<Vec<u8>> {
            (0..2000).map(|case| damaged(&models, 0, &mut Random::new(seed, case))).collect()
        };
        let cases = all(1);
        assert_eq!(cases, all(1));
        assert_ne!(cases, all(2));
        let mut different = cases;
        different.sort();
        different.dedup();
        assert!(different.len() > 500, "{}", different.len());
    }
}
