//! Questions as bytes, to be sent to the holders of rows.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ask::{FoldDeal, PassHead, RawAsk, WantedCounts};
use super::key_cells::Interval;
use super::key_cells::KeyLayout;
use crate::RankError;
use crate::rows::words;
use crate::rows::words::{WordReader, put_list};

impl RawAsk {
    /// The question as bytes, to be sent to the holders of rows.
    ///
    /// # Panics
    ///
    /// Never: all parts of a question can be written.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut words = Vec::new();
        put_json(&mut words, &self.head);
        for wanted in &self.features {
            match wanted {
                WantedCounts::Nothing => words.push(0),
                WantedCounts::Levels => words.push(1),
                WantedCounts::Keys(KeyLayout::Prefixes(None)) => words.push(2),
                WantedCounts::Keys(KeyLayout::Prefixes(Some(ranges))) => {
                    words.push(3);
                    put_list(&mut words, ranges.as_flattened().iter().copied());
                }
                WantedCounts::Keys(KeyLayout::Parts(parts)) => {
                    words.push(4);
                    words.push(parts.len() as u64);
                    for &Interval { least, greatest, shift } in parts {
                        words.extend([least, greatest, shift.into()]);
                    }
                }
                WantedCounts::Bins(bins) => {
                    words.push(5);
                    put_json(&mut words, bins);
                }
            }
        }
        words::to_bytes(&words)
    }

    /// Reads the output of [`RawAsk::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RankError> {
        let bad = || RankError::BadAnswer("they ask for what cannot be counted".to_owned());
        let words = words::from_bytes(bytes)?;
        let mut reader = WordReader::new(&words);
        let head: PassHead = read_json(&mut reader)?;
        let mut features = Vec::with_capacity(head.n_levels.len());
        for _ in &head.n_levels {
            features.push(match reader.word()? {
                0 => WantedCounts::Nothing,
                1 => WantedCounts::Levels,
                2 => WantedCounts::Keys(KeyLayout::Prefixes(None)),
                3 => {
                    let (ranges, []) = reader.list()?.as_chunks() else { return Err(bad()) };
                    WantedCounts::Keys(KeyLayout::Prefixes(Some(ranges.to_vec())))
                }
                4 => {
                    let n_parts = reader.word()?;
                    let mut parts = Vec::new();
                    for _ in 0..n_parts {
                        let &[least, greatest, shift] = reader.array()?;
                        parts.push(Interval { least, greatest, shift: shift as u32 });
                    }
                    WantedCounts::Keys(KeyLayout::Parts(parts))
                }
                5 => WantedCounts::Bins(read_json(&mut reader)?),
                _ => return Err(bad()),
            });
        }
        reader.end()?;
        let ask = Self { head, features };
        if ask.is_valid() { Ok(ask) } else { Err(bad()) }
    }

    /// Whether intervals are ascending, and requests match the kinds of the features.
    fn is_valid(&self) -> bool {
        let is_number = |wanted: &WantedCounts, n_levels: &Option<u32>| match wanted {
            WantedCounts::Nothing => true,
            WantedCounts::Levels => n_levels.is_some(),
            WantedCounts::Keys(layout) => n_levels.is_none() && layout.is_valid(),
            WantedCounts::Bins(bins) => bins.check(*n_levels).is_ok(),
        };
        let has_table = match &self.head.dealt {
            FoldDeal::Folds(_, Some(table)) => table.is_valid(),
            _ => true,
        };
        has_table
            && self.head.n_folds() > 0
            && self.head.most_cells > 1
            && self.features.iter().zip(&self.head.n_levels).all(|(a, b)| is_number(a, b))
    }
}

/// Writes a value as JSON text, its length in bytes before it.
fn put_json(words: &mut Vec<u64>, value: &impl Serialize) {
    let text = serde_json::to_vec(value).expect("numbers and lists");
    words.push(text.len() as u64);
    words.extend(text.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    }));
}

/// Reads the output of [`put_json`].
fn read_json<T: DeserializeOwned>(reader: &mut WordReader<'_>) -> Result<T, RankError> {
    let bad = |message: String| RankError::BadAnswer(message);
    let n_bytes = usize::try_from(reader.word()?).map_err(|err| bad(err.to_string()))?;
    let words = reader.take(n_bytes.div_ceil(8))?;
    let mut text: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    text.truncate(n_bytes);
    serde_json::from_slice(&text).map_err(|err| bad(err.to_string()))
}

impl KeyLayout {
    fn is_valid(&self) -> bool {
        match self {
            Self::Prefixes(None) => true,
            Self::Prefixes(Some(ranges)) => {
                ranges.iter().all(|range| range[0] <= range[1])
                    && ranges.is_sorted_by(|a, b| a[1] < b[0])
            }
            Self::Parts(parts) => {
                parts.iter().all(|part| part.least <= part.greatest && part.shift < u64::BITS)
                    && parts.is_sorted_by(|a, b| a.greatest < b.least)
            }
        }
    }
}
