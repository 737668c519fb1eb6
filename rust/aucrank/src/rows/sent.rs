//! Questions and frames as bytes, to be sent to the holder of the rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::class_units::AskClassUnits;
use super::contents::AskContents;
use super::histograms::AskHistograms;
use super::least_hashes::AskLeastHashes;
use super::pair_rates::AskPairRates;
use super::question::{Head, PackedQuestion, Question};
use super::rare_levels::AskLevels;
use super::rates::AskRates;
use super::totals::AskTotals;
use super::{Ask, RowFrame};
use crate::RankError;

/// Header line of a question that is sent.
#[derive(Serialize)]
struct SentLine<'a> {
    name: &'a str,
    head: &'a Head,
}

/// The header line of a received question.
#[derive(Deserialize)]
struct Received<'a> {
    name: &'a str,
    head: Head,
}

impl Ask {
    /// The question as bytes, to be sent to the holder of the rows.
    ///
    /// # Panics
    ///
    /// Never: all parts of a question can be written.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for PackedQuestion { head, question } in &self.0 {
            let line = SentLine { name: question.name(), head };
            bytes.extend(serde_json::to_vec(&line).expect("numbers and lists"));
            bytes.push(b'\n');
            bytes.extend(question.to_json().expect("numbers and lists"));
            bytes.push(b'\n');
        }
        bytes
    }

    /// Decodes a question written by [`Ask::to_bytes`], given the readers by name.
    pub(crate) fn received(
        bytes: &[u8],
        reader_of: impl Fn(&str) -> Option<QuestionReader>,
    ) -> Result<Self, RankError> {
        let bad = |why: &str| RankError::BadAnswer(why.to_owned());
        let bytes = bytes.strip_suffix(b"\n").ok_or_else(|| bad("a question is cut off"))?;
        let mut lines = bytes.split(|&byte| byte == b'\n');
        let mut all = Vec::new();
        while let Some(line) = lines.next() {
            let question = lines.next().ok_or_else(|| bad("a question is cut off"))?;
            let Received { name, head } =
                serde_json::from_slice(line).map_err(|err| not_read(&err))?;
            let reader = reader_of(name).ok_or_else(|| bad("there is no such question"))?;
            all.push(reader(head, question)?);
        }
        Ok(Self(all))
    }
}

/// Reads a question after its line.
pub(crate) type QuestionReader = fn(Head, &[u8]) -> Result<PackedQuestion, RankError>;

/// Reads a question of type `Q`.
pub(crate) fn read<Q: Question>(head: Head, bytes: &[u8]) -> Result<PackedQuestion, RankError> {
    let question: Q = serde_json::from_slice(bytes).map_err(|err| not_read(&err))?;
    Ok(PackedQuestion { head, question: Arc::new(question) })
}

/// The questions of several learners.
pub(crate) const SHARED_QUESTIONS: [(&str, QuestionReader); 8] = [
    (AskContents::NAME, read::<AskContents>),
    (AskTotals::NAME, read::<AskTotals>),
    (AskClassUnits::NAME, read::<AskClassUnits>),
    (AskLeastHashes::NAME, read::<AskLeastHashes>),
    (AskHistograms::NAME, read::<AskHistograms>),
    (AskLevels::NAME, read::<AskLevels>),
    (AskRates::NAME, read::<AskRates>),
    (AskPairRates::NAME, read::<AskPairRates>),
];

fn not_read(err: &serde_json::Error) -> RankError {
    RankError::BadAnswer(err.to_string())
}

impl RowFrame {
    /// The frame as bytes, to be sent to the holder of the rows.
    ///
    /// # Panics
    ///
    /// Never: all parts of a frame can be written.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers and lists")
    }

    /// Reads a frame written by [`RowFrame::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`RankError::BadAnswer`] for other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RankError> {
        let frame: Self =
            serde_json::from_slice(bytes).map_err(|err| RankError::BadAnswer(err.to_string()))?;
        match &frame.blocks {
            Some(table) if !table.is_valid() => {
                Err(RankError::BadAnswer("the blocks of rows do not ascend".to_owned()))
            }
            _ => Ok(frame),
        }
    }
}
