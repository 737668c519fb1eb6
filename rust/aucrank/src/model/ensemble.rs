//! Ensembles: a weighted sum of the scores of models of any families.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use super::family::Model;
use crate::data::{Columns, logistic};
use crate::formula::Formula;
use crate::{Interrupt, RankError};

/// A fitted ensemble: log-odds of the positive class as a weighted sum of scores.
///
/// A member has several models, such as one for each fold that was left out of its fit; its score is
/// the sum of theirs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ensemble {
    n_levels: Vec<Option<u32>>,
    members: Vec<Member>,
    intercept: f64,
}

/// A member of an ensemble.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// What the sum of the scores of its models is multiplied by.
    pub factor: f64,
    /// Its models, at least one.
    #[serde(serialize_with = "write_models")]
    pub models: Vec<Model>,
}

fn write_models<S: serde::Serializer>(models: &[Model], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(models.iter().map(|model| model.family().as_model()))
}

impl Ensemble {
    /// An ensemble of models of the same columns.
    ///
    /// # Errors
    ///
    /// What does not fit together, in words.
    pub fn new(
        n_levels: Vec<Option<u32>>,
        members: Vec<Member>,
        intercept: f64,
    ) -> Result<Self, String> {
        let ensemble = Self { n_levels, members, intercept };
        ensemble.check_parts()?;
        Ok(ensemble)
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        &self.n_levels
    }

    /// Its members.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Log-odds of a row of which no member says anything.
    #[must_use]
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// Score of each row: log-odds of the positive class.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity.
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        let mut scores = vec![0.0; columns.n_rows()];
        let mut of_member = vec![0.0; columns.n_rows()];
        for Member { factor, models } in &self.members {
            of_member.fill(0.0);
            for model in models {
                let of_model = model.family().score(columns)?;
                of_member.iter_mut().zip(of_model).for_each(|(sum, score)| *sum += score);
            }
            scores.iter_mut().zip(&of_member).for_each(|(sum, score)| *sum += factor * score);
        }
        for score in &mut scores {
            *score += self.intercept;
        }
        Ok(scores)
    }

    /// Probability of the positive class of each row.
    ///
    /// # Errors
    ///
    /// As [`Ensemble::score`].
    pub fn probability(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        Ok(self.score(columns)?.into_iter().map(logistic).collect())
    }

    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let of_member = |Member { factor, models }: &Member| Formula::Product {
            factor: *factor,
            of: Box::new(Formula::Sum(
                models.iter().map(|model| model.family().formula()).collect(),
            )),
        };
        let members = self.members.iter().map(of_member);
        Formula::Sum(members.chain([Formula::Constant(self.intercept)]).collect())
    }

    /// Whether its parts fit together, and those of its models.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_parts()?;
        self.models().try_for_each(|model| model.family().check())
    }

    fn models(&self) -> impl Iterator<Item = &Model> {
        self.members.iter().flat_map(|member| &member.models)
    }

    fn check_parts(&self) -> Result<(), String> {
        if !self.intercept.is_finite() {
            return Err("the intercept of an ensemble is not finite".to_owned());
        }
        for member in &self.members {
            if !(member.factor.is_finite() && member.factor > 0.0) {
                return Err("a factor of an ensemble is not positive and finite".to_owned());
            }
            if member.models.is_empty() {
                return Err("a member of an ensemble has no models".to_owned());
            }
        }
        for model in self.models() {
            if matches!(model, Model::Ensemble(_)) {
                return Err("a member of an ensemble is an ensemble".to_owned());
            }
            if matches!(model, Model::Mad2c(_) | Model::ThresholdBinarizer(_)) {
                return Err("a member of an ensemble ranks no rows".to_owned());
            }
            if model.n_levels() != self.n_levels {
                return Err("a member of an ensemble is of other columns".to_owned());
            }
        }
        Ok(())
    }
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
            .map(|SavedMember { factor, models }| {
                let read = serde_json::from_str(models.get());
                let ModelList(models) = read.map_err(D::Error::custom)?;
                Ok(Member { factor, models })
            })
            .collect::<Result<_, D::Error>>()?;
        Ok(Self { n_levels, members, intercept })
    }
}
