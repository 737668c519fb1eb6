//! Ensembles: a weighted sum of the scores of models of any families.

use serde::Serialize;

use super::family::Model;
use crate::RankError;
use crate::boost::BoostError;
use crate::data::{Columns, logistic};
use crate::external::{ExternalModels, scores_of};
use crate::formula::{Formula, Opaque};

/// A fitted ensemble: log-odds of the positive class as a weighted sum of scores.
///
/// A member has several models, such as one for each fold that was left out of its fit; its score
/// is the sum of theirs.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{RimarcParams, fit_rimarc};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::model::{Ensemble, Member};
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let model = fit_rimarc((&columns, &labels), &RimarcParams::default(), &Interrupt::default())?;
/// let of_model = model.score(&columns)?;
///
/// let member = Member { factor: 2.0, models: vec![model.into()], external: Vec::new() };
/// let ensemble = Ensemble::new(vec![None], vec![member], -0.5)?;
/// assert_eq!(ensemble.score(&columns, None)?[3], 2.0 * of_model[3] - 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ensemble {
    pub(super) n_levels: Vec<Option<u32>>,
    pub(super) members: Vec<Member>,
    pub(super) intercept: f64,
}

/// A member of an ensemble: models of this crate, or external rankers.
///
/// # Examples
///
/// ```
/// use aucrank::RankError;
/// use aucrank::data::Columns;
/// use aucrank::external::ExternalModels;
/// use aucrank::model::{Ensemble, Member};
///
/// /// Scores a row by its number.
/// #[derive(Debug)]
/// struct ByNumber;
///
/// impl ExternalModels for ByNumber {
///     fn answer(&self, _model: usize, rows: &[u32]) -> Result<Vec<f64>, RankError> {
///         Ok(rows.iter().map(|&row| row.into()).collect())
///     }
/// }
///
/// // Two rankers of the caller's, whose scores are added up.
/// let member = Member { factor: 0.5, models: Vec::new(), external: vec![0, 1] };
/// let ensemble = Ensemble::new(vec![None], vec![member], 0.0)?;
/// assert_eq!(ensemble.external_rankers(), [0, 1]);
/// let columns = Columns::from_row_major(&[7.0, 8.0, 9.0], 1)?;
/// assert_eq!(ensemble.score(&columns, Some(&ByNumber))?, [0.0, 1.0, 2.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Member {
    /// Factor of the sum of the scores of its models.
    pub factor: f64,
    /// Its models; empty if they are external.
    #[serde(serialize_with = "super::saved::nested::write_models")]
    pub models: Vec<Model>,
    /// Numbers of its external rankers; empty if its models are of this crate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub external: Vec<usize>,
}

impl Ensemble {
    /// An ensemble of models of the same columns.
    ///
    /// # Errors
    ///
    /// A description of the mismatch.
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

    /// Log-odds of a row to whose score no member contributes.
    #[must_use]
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// Numbers of the external rankers of its members.
    #[must_use]
    pub fn external_rankers(&self) -> Vec<usize> {
        self.members.iter().flat_map(|member| &member.external).copied().collect()
    }

    /// Score of each row: log-odds of the positive class.
    ///
    /// # Errors
    ///
    /// [`RankError`] if the columns are not those of the fit in number and kind, or hold infinity;
    /// if it has external rankers, without `external`; and errors of those.
    pub fn score(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        columns.check_kinds(&self.n_levels)?;
        if let Some(err) = columns.infinite_value() {
            return Err(err);
        }
        let mut scores = vec![0.0; columns.n_rows()];
        let mut of_member = vec![0.0; columns.n_rows()];
        for member in &self.members {
            of_member.fill(0.0);
            let mut add = |of_model: Vec<f64>| {
                of_member.iter_mut().zip(of_model).for_each(|(sum, score)| *sum += score);
            };
            for model in &member.models {
                add(model.family().score(columns)?);
            }
            if !member.external.is_empty() {
                let rankers = external.ok_or(RankError::Boost(BoostError::NeedsRankers))?;
                let rows: Vec<u32> = (0..columns.n_rows() as u32).collect();
                for &number in &member.external {
                    add(scores_of(rankers, number, &rows)?);
                }
            }
            let factor = member.factor;
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
    pub fn probability(
        &self,
        columns: &Columns<'_>,
        external: Option<&dyn ExternalModels>,
    ) -> Result<Vec<f64>, RankError> {
        Ok(self.score(columns, external)?.into_iter().map(logistic).collect())
    }

    /// Its score.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let of_member = |member: &Member| {
            let models = member.models.iter().map(|model| model.family().formula());
            let rankers = member.external.iter().map(|_| Formula::Opaque(Opaque::ExternalMember));
            let sum = Formula::Sum(models.chain(rankers).collect());
            Formula::Product { factor: member.factor, of: Box::new(sum) }
        };
        let members = self.members.iter().map(of_member);
        Formula::Sum(members.chain([Formula::Constant(self.intercept)]).collect())
    }

    /// Checks that its parts, and those of its models, are consistent.
    ///
    /// # Errors
    ///
    /// A description of the fault.
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
            if member.models.is_empty() && member.external.is_empty() {
                return Err("a member of an ensemble has no models".to_owned());
            }
            if !member.models.is_empty() && !member.external.is_empty() {
                return Err("a member of an ensemble has models and external rankers".to_owned());
            }
        }
        for model in self.models() {
            if matches!(model, Model::Ensemble(_)) {
                return Err("a member of an ensemble is an ensemble".to_owned());
            }
            if matches!(model, Model::TwoSided(_)) {
                return Err("a member of an ensemble is a two-sided classifier".to_owned());
            }
            if matches!(model, Model::Mad2c(_) | Model::ThresholdBinarizer(_)) {
                return Err("a member of an ensemble ranks no rows".to_owned());
            }
            if asks_external(model) {
                return Err("a model of an ensemble asks external models".to_owned());
            }
            if model.n_levels() != self.n_levels {
                return Err("a member of an ensemble is of other columns".to_owned());
            }
        }
        Ok(())
    }
}

/// Whether a model uses external models: their numbers would clash with others in an ensemble.
pub(super) fn asks_external(model: &Model) -> bool {
    match model {
        Model::TreeRank(model) => !model.tree.classifiers().is_empty(),
        Model::Boosted(model) => !model.external_rankers().is_empty(),
        Model::BranchingProgram(program) => !program.external_rankers().is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Column;
    use crate::external::tests::Fixed;

    fn of_external() -> Ensemble {
        let member = Member { factor: 2.0, models: Vec::new(), external: vec![0, 1] };
        Ensemble::new(vec![None], vec![member], 0.5).unwrap()
    }

    #[test]
    fn scores_of_external_rankers_are_added_up() {
        let columns = Columns::new(vec![Column::from(&[1.0, 2.0][..])], 2).unwrap();
        let ensemble = of_external();
        assert_eq!(ensemble.external_rankers(), [0, 1]);
        let rankers = Fixed::new(vec![0.25, -1.0]);
        assert_eq!(ensemble.score(&columns, Some(&rankers)), Ok(vec![1.5, -3.5]));
        assert_eq!(ensemble.score(&columns, None), Err(RankError::Boost(BoostError::NeedsRankers)));
        assert_eq!(ensemble.formula().opaque(), Some(Opaque::ExternalMember));
    }

    #[test]
    fn a_member_needs_models_or_external_rankers() {
        let neither = Member { factor: 1.0, models: Vec::new(), external: Vec::new() };
        let err = Ensemble::new(vec![None], vec![neither], 0.0).unwrap_err();
        assert_eq!(err, "a member of an ensemble has no models");
    }
}
