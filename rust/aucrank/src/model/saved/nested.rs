//! The saved form of models that contain models: ensembles, and two-sided classifiers.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Interrupt;
use crate::calibration::Calibration;
use crate::model::{Ensemble, Member, Model, TwoSidedModel};

/// Writes the models of a member.
pub(in crate::model) fn write_models<S: Serializer>(
    models: &[Model],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(models.iter().map(|model| model.family().as_model()))
}

/// The saved fields of an ensemble, before its models are read.
#[derive(Deserialize)]
struct SavedEnsemble {
    n_levels: Vec<Option<u32>>,
    members: Vec<SavedMember>,
    intercept: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedMember {
    factor: f64,
    models: Box<RawValue>,
    #[serde(default)]
    external: Vec<usize>,
}

/// A list of models, read one by one up to the first error.
struct ModelList(Vec<Model>);

impl<'de> Deserialize<'de> for ModelList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor)
    }
}

struct ListVisitor;

impl<'de> Visitor<'de> for ListVisitor {
    type Value = ModelList;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of models")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ModelList, A::Error> {
        let mut models = Vec::new();
        while let Some(text) = list.next_element::<&RawValue>()? {
            let model = Model::member_from_json(text.get(), &Interrupt::default());
            models.push(model.map_err(A::Error::custom)?);
        }
        Ok(ModelList(models))
    }
}

impl<'de> Deserialize<'de> for Ensemble {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let SavedEnsemble { n_levels, members, intercept } =
            SavedEnsemble::deserialize(deserializer)?;
        let members = members
            .into_iter()
            .map(|SavedMember { factor, models, external }| {
                let read = serde_json::from_str(models.get());
                let ModelList(models) = read.map_err(D::Error::custom)?;
                Ok(Member { factor, models, external })
            })
            .collect::<Result<_, D::Error>>()?;
        Ok(Self { n_levels, members, intercept })
    }
}

/// Writes the ranker.
pub(in crate::model) fn write_ranker<S: Serializer>(
    ranker: &Model,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    ranker.family().as_model().serialize(serializer)
}

/// A threshold that may be infinite, which JSON numbers cannot be.
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

/// The saved fields of a two-sided classifier, before its ranker is read.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ensemble_of_external_rankers_is_read_as_it_was_written() {
        let member = Member { factor: 2.0, models: Vec::new(), external: vec![0, 1] };
        let ensemble = Ensemble::new(vec![None], vec![member], 0.5).unwrap();
        let text = serde_json::to_string(&ensemble).unwrap();
        assert_eq!(serde_json::from_str::<Ensemble>(&text).unwrap(), ensemble);
    }
}
