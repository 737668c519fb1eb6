//! Ensembles as they are saved: each member holds models of any families.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::value::RawValue;

use crate::Interrupt;
use crate::model::{Ensemble, Member, Model};

/// Writes the models of a member.
pub(in crate::model) fn write_models<S: Serializer>(
    models: &[Model],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(models.iter().map(|model| model.family().as_model()))
}

/// What of an ensemble is saved, its models still to be read.
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

/// A list of models, read one by one: what is no model ends it.
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
