//! A ranking model cut into a classifier with equal errors on both classes (paper 3 Lemma 4).

use serde::Serialize;

use super::ensemble::asks_external;
use super::family::Model;
use crate::RankError;
use crate::boost::TwoSided;
use crate::calibration::Calibration;
use crate::data::Columns;
use crate::formula::Formula;

/// A ranker with a threshold and the randomised labels on both sides of it, in expectation.
///
/// The score has two values: the expected vote of a row, which is the probability of being called
/// positive less that of being called negative, minus the midpoint of both votes.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::additive::{RimarcParams, fit_rimarc};
/// use aucrank::boost::{ThresholdCriterion, two_sided_by_scores};
/// use aucrank::data::{Columns, Labels};
/// use aucrank::model::TwoSidedModel;
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 1)?;
/// let labels = Labels::new(&[false, false, true, false, true, true], None)?;
/// let ranker = fit_rimarc((&columns, &labels), &RimarcParams::default(), &Interrupt::default())?;
/// let scores = ranker.score(&columns)?;
/// let (theta, cut) = two_sided_by_scores(&scores, &labels, ThresholdCriterion::Sum, 0.0)?;
/// let model = TwoSidedModel::new(ranker, None, theta, &cut)?;
/// let cut_scores = model.score(&columns)?;
/// assert!(scores.iter().zip(cut_scores).all(|(score, cut)| (*score >= theta) == (cut > 0.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoSidedModel {
    #[serde(serialize_with = "super::saved::nested::write_ranker")]
    pub(super) ranker: Box<Model>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ranker_calibration: Option<Calibration>,
    #[serde(with = "super::saved::nested::threshold")]
    pub(super) theta: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) zeta: f64,
    pub(super) p_pos: f64,
    pub(super) p_neg: f64,
    pub(super) error: f64,
}

impl TwoSidedModel {
    /// Cuts a ranker, whose own probabilities are those of `ranker_calibration`, at the score
    /// `theta`.
    ///
    /// # Errors
    ///
    /// A description of the mismatch: a model that ranks no rows, uses external models or is
    /// two-sided already.
    pub fn new(
        ranker: impl Into<Model>,
        ranker_calibration: Option<Calibration>,
        theta: f64,
        cut: &TwoSided,
    ) -> Result<Self, String> {
        let TwoSided { n_low: _, low, high, zeta, p_pos, p_neg, error } = *cut;
        let ranker = Box::new(ranker.into());
        let model =
            Self { ranker, ranker_calibration, theta, low, high, zeta, p_pos, p_neg, error };
        model.check_parts()?;
        Ok(model)
    }

    /// For each feature its number of categories, or `None` if it is numeric.
    #[must_use]
    pub fn n_levels(&self) -> &[Option<u32>] {
        self.ranker.n_levels()
    }

    /// The model that is cut.
    #[must_use]
    pub fn ranker(&self) -> &Model {
        &self.ranker
    }

    /// The probabilities of the scores of the ranker, if they were calibrated.
    #[must_use]
    pub fn ranker_calibration(&self) -> Option<&Calibration> {
        self.ranker_calibration.as_ref()
    }

    /// The score of the ranker from which rows are on the high side; infinite if all are on one.
    #[must_use]
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// The probabilities that a row below `theta`, and one from `theta` on, is called positive.
    #[must_use]
    pub fn chances(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// Probability of the coin flip.
    #[must_use]
    pub fn zeta(&self) -> f64 {
        self.zeta
    }

    /// Share of the positives below `theta`, and of the negatives from `theta` on, in the fit.
    #[must_use]
    pub fn one_sided_errors(&self) -> [f64; 2] {
        [self.p_pos, self.p_neg]
    }

    /// Probability of a mistake, the same for both classes.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Score of each row: its expected vote, less the midpoint of both votes.
    ///
    /// # Errors
    ///
    /// [`RankError`] as the ranker raises it, or [`RankError::NanScore`].
    pub fn score(&self, columns: &Columns<'_>) -> Result<Vec<f64>, RankError> {
        let mut scores = self.ranker.family().score(columns)?;
        if let Some(row) = scores.iter().position(|score| score.is_nan()) {
            return Err(RankError::NanScore(row));
        }
        let values = self.values();
        for score in &mut scores {
            *score = values[usize::from(*score >= self.theta)];
        }
        Ok(scores)
    }

    /// Its score: a step function of that of the ranker.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let values = self.values();
        if self.theta.is_infinite() {
            return Formula::Constant(values[usize::from(self.theta < 0.0)]);
        }
        Formula::StepsOf {
            of: Box::new(self.ranker.family().formula()),
            thresholds: vec![self.theta],
            values: values.to_vec(),
        }
    }

    /// The scores of both sides.
    fn values(&self) -> [f64; 2] {
        let votes = self.chances().map(|chance| 2.0 * chance - 1.0);
        let midpoint = f64::midpoint(votes[0], votes[1]);
        votes.map(|vote| vote - midpoint)
    }

    /// Checks that its parts, and those of its ranker, are consistent.
    ///
    /// # Errors
    ///
    /// A description of the fault.
    pub(super) fn check(&self) -> Result<(), String> {
        self.check_parts()?;
        if let Some(calibration) = &self.ranker_calibration {
            calibration.check()?;
        }
        self.ranker.family().check()
    }

    fn check_parts(&self) -> Result<(), String> {
        if matches!(*self.ranker, Model::TwoSided(_)) {
            return Err("the ranker of a two-sided classifier is one itself".to_owned());
        }
        if !self.ranker.family().has_score() {
            return Err("the ranker of a two-sided classifier ranks no rows".to_owned());
        }
        let external = match &*self.ranker {
            Model::Ensemble(ensemble) => !ensemble.external_rankers().is_empty(),
            ranker => asks_external(ranker),
        };
        if external {
            return Err("the ranker of a two-sided classifier asks external models".to_owned());
        }
        let rates = [self.low, self.high, self.zeta, self.p_pos, self.p_neg, self.error];
        if !rates.iter().all(|rate| (0.0..=1.0).contains(rate)) {
            return Err("a rate of a two-sided classifier is not from 0 to 1".to_owned());
        }
        if self.theta.is_nan() || self.low >= self.high {
            return Err("the sides of a two-sided classifier are out of order".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interrupt;
    use crate::additive::{RimarcParams, fit_rimarc};
    use crate::boost::{ThresholdCriterion, two_sided_by_scores};
    use crate::data::{Columns, Labels};
    use crate::model::{Ensemble, Member};

    const VALUES: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN];

    fn columns() -> Columns<'static> {
        Columns::from_column_major(&VALUES, 6).unwrap()
    }

    fn ranker() -> Model {
        let labels = Labels::new(&[false, false, true, false, true, true], None).unwrap();
        let params = RimarcParams::default();
        fit_rimarc((&columns(), &labels), &params, &Interrupt::default()).unwrap().into()
    }

    fn cut_of(scores: &[f64]) -> (f64, TwoSided) {
        let labels = Labels::new(&[false, false, true, false, true, true], None).unwrap();
        two_sided_by_scores(scores, &labels, ThresholdCriterion::Sum, 0.0).unwrap()
    }

    #[test]
    fn its_score_and_its_formula_are_the_vote_of_the_side_less_the_midpoint() {
        let scores = ranker().family().score(&columns()).unwrap();
        let (theta, cut) = cut_of(&scores);
        for theta in [theta, f64::INFINITY, f64::NEG_INFINITY] {
            let model = TwoSidedModel::new(ranker(), None, theta, &cut).unwrap();
            let vote = |high: bool| 2.0 * if high { cut.high } else { cut.low } - 1.0;
            let midpoint = f64::midpoint(vote(false), vote(true));
            let expected: Vec<f64> =
                scores.iter().map(|&score| vote(score >= theta) - midpoint).collect();
            assert_eq!(model.score(&columns()).unwrap(), expected);
            assert_eq!(model.formula().values(&columns()).unwrap(), expected);
        }
    }

    #[test]
    fn inconsistent_parts_are_refused() {
        let (theta, cut) = cut_of(&ranker().family().score(&columns()).unwrap());
        let model = TwoSidedModel::new(ranker(), None, theta, &cut).unwrap();
        let err = TwoSidedModel::new(model.clone(), None, theta, &cut).unwrap_err();
        assert_eq!(err, "the ranker of a two-sided classifier is one itself");
        let member = Member { factor: 1.0, models: Vec::new(), external: vec![0] };
        let external = Ensemble::new(vec![None], vec![member], 0.0).unwrap();
        let err = TwoSidedModel::new(external, None, theta, &cut).unwrap_err();
        assert_eq!(err, "the ranker of a two-sided classifier asks external models");
        let err = TwoSidedModel::new(ranker(), None, f64::NAN, &cut).unwrap_err();
        assert_eq!(err, "the sides of a two-sided classifier are out of order");
        let unfair = TwoSided { error: 1.5, ..cut };
        let err = TwoSidedModel::new(ranker(), None, theta, &unfair).unwrap_err();
        assert_eq!(err, "a rate of a two-sided classifier is not from 0 to 1");
        let member = Member { factor: 1.0, models: vec![model.into()], external: Vec::new() };
        let err = Ensemble::new(vec![None], vec![member], 0.0).unwrap_err();
        assert_eq!(err, "a member of an ensemble is a two-sided classifier");
    }
}
