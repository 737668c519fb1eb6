//! Two-sided classifiers as they are saved: each holds a model of another family.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Interrupt;
use crate::calibration::Calibration;
use crate::model::{Model, TwoSidedModel};

/// Writes the ranker.
pub(in crate::model) fn write_ranker<S: Serializer>(
    ranker: &Model,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    ranker.family().as_model().serialize(serializer)
}

/// A threshold that may be infinite, which is no number in JSON.
pub(in crate::model) mod threshold {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum InfiniteSide {
        /// All rows lie above it.
        AllAbove,
        /// All rows lie below it.
        AllBelow,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum SavedThreshold {
        Finite(f64),
        Infinite(InfiniteSide),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
    pub fn serialize<S: Serializer>(threshold: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        let threshold = match *threshold {
            f64::NEG_INFINITY => SavedThreshold::Infinite(InfiniteSide::AllAbove),
            f64::INFINITY => SavedThreshold::Infinite(InfiniteSide::AllBelow),
            finite => SavedThreshold::Finite(finite),
        };
        threshold.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(match SavedThreshold::deserialize(deserializer)? {
            SavedThreshold::Finite(threshold) => threshold,
            SavedThreshold::Infinite(InfiniteSide::AllAbove) => f64::NEG_INFINITY,
            SavedThreshold::Infinite(InfiniteSide::AllBelow) => f64::INFINITY,
        })
    }
}

/// What of a two-sided classifier is saved, its ranker still to be read.
#[derive(Deserialize)]
struct SavedTwoSided {
    ranker: Box<RawValue>,
    ranker_calibration: Option<Calibration>,
    #[serde(with = "threshold")]
    theta: f64,
    low: f64,
    high: f64,
    zeta: f64,
    p_pos: f64,
    p_neg: f64,
    error: f64,
}

impl<'de> Deserialize<'de> for TwoSidedModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = SavedTwoSided::deserialize(deserializer)?;
        let ranker = Model::ranker_from_json(saved.ranker.get(), &Interrupt::default());
        Ok(Self {
            ranker: Box::new(ranker.map_err(D::Error::custom)?),
            ranker_calibration: saved.ranker_calibration,
            theta: saved.theta,
            low: saved.low,
            high: saved.high,
            zeta: saved.zeta,
            p_pos: saved.p_pos,
            p_neg: saved.p_neg,
            error: saved.error,
        })
    }
}
