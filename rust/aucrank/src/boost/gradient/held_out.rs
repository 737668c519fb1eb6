//! Choice of the number of rounds on held-out or given validation rows.

use serde::{Deserialize, Serialize};

use super::gain::{GainSums, mass_shift};
use super::held_out_params::{GradientHeldOutParams, HeldOutMeasure, HeldOutRows};
use super::loss::Loss;
use crate::RankError;
use crate::data::{Columns, FixedWeights, Labels};
use crate::roc::auc_up_to;

/// Share of the first loss at which there is nothing left to rank. The loss of a column that gives the
/// label away falls in each of 3000 rounds, which took six times as long as a fit without it
/// (5,000 x 10: 5.2 s of 0.95).
const SOLVED: f64 = 1e-3;

/// The AUC or loss of the held-out rows, round by round.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     GradientExtras, GradientHeldOutParams, GradientParams, GradientRefit, HeldOutMeasure,
///     HeldOutRows, fit_gradient_boosting,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let columns = Columns::from_row_major(&[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0], 1)?;
/// let labels = Labels::new(&[false, true, false, true, false, true, false, true], None)?;
/// let held_out = GradientHeldOutParams {
///     rows: HeldOutRows::Share(0.5),
///     measure: HeldOutMeasure::Auc,
///     n_iter_no_change: 1,
///     tol: 0.0,
///     refit: GradientRefit::None,
/// };
/// let params = GradientParams {
///     n_rounds: 10,
///     subsample: 1.0,
///     held_out: Some(held_out),
///     ..GradientParams::default()
/// };
/// // The rows to validate on, of which every round ranks the only pair right.
/// let other_columns = Columns::from_row_major(&[0.0, 1.0], 1)?;
/// let other_labels = Labels::new(&[false, true], None)?;
/// let validation = Some((&other_columns, &other_labels));
/// let extras = GradientExtras { validation, ..GradientExtras::default() };
/// let model =
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// let found = model.held_out().expect("there are rows to validate on");
/// assert_eq!((found.values[0], found.n_rounds), (1.0, 1));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradientHeldOut {
    /// The measure.
    pub measure: HeldOutMeasure,
    /// Its value after each round.
    pub values: Vec<f64>,
    /// Number of rounds kept.
    pub n_rounds: usize,
}

impl GradientHeldOutParams {
    pub(super) fn validate(&self, n_bags: usize) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        match self.rows {
            HeldOutRows::Share(share) if !(share > 0.0 && share < 1.0) => {
                return bad("validation_fraction", share.to_string(), "in (0, 1)");
            }
            HeldOutRows::Fold if n_bags < 2 => {
                return bad(
                    "n_bags",
                    n_bags.to_string(),
                    "at least 2 where each leaves out a fold",
                );
            }
            HeldOutRows::Share(_) | HeldOutRows::Fold => {}
        }
        if self.n_iter_no_change == 0 {
            return bad("n_iter_no_change", "0".to_owned(), "at least 1");
        }
        if !(0.0..f64::INFINITY).contains(&self.tol) {
            return bad("tol", self.tol.to_string(), "at least 0 and finite");
        }
        Ok(())
    }

    /// Whether to stop after these rounds of a loss.
    pub(super) fn stops(&self, values: &[f64], loss: Loss) -> bool {
        if matches!(self.measure, HeldOutMeasure::Loss)
            && let [first, .., last] = values
            && loss.ratio(*last, *first) <= SOLVED
        {
            return true;
        }
        let Some(n_before) = values.len().checked_sub(self.n_iter_no_change).filter(|&n| n > 0)
        else {
            return false;
        };
        let best = |values: &[f64]| {
            values.iter().map(|value| self.measure.merit(*value)).fold(f64::NEG_INFINITY, f64::max)
        };
        best(&values[n_before..]) <= best(&values[..n_before]) + self.tol
    }

    /// The best number of rounds, of ties the smallest.
    pub(super) fn path(&self, values: Vec<f64>) -> GradientHeldOut {
        let (mut n_rounds, mut best) = (0, f64::NEG_INFINITY);
        for (n, &value) in (1..).zip(&values) {
            if self.measure.merit(value) > best {
                (n_rounds, best) = (n, self.measure.merit(value));
            }
        }
        GradientHeldOut { measure: self.measure, values, n_rounds }
    }
}

impl HeldOutMeasure {
    /// Higher is better.
    pub(super) fn merit(self, value: f64) -> f64 {
        match self {
            Self::Auc => value,
            Self::Loss => -value,
        }
    }
}

impl GradientHeldOut {
    /// The measure after the rounds kept, greater if better; `None` if there are none.
    pub(super) fn merit(&self) -> Option<f64> {
        let last = self.values.get(self.n_rounds.checked_sub(1)?)?;
        Some(self.measure.merit(*last))
    }

    /// Checks the consistency of the path with a model of `n_trees` rounds.
    pub(super) fn check(&self, n_trees: usize) -> Result<(), String> {
        let is_value = |value: &f64| match self.measure {
            HeldOutMeasure::Auc => (0.0..=1.0).contains(value),
            HeldOutMeasure::Loss => value.is_finite(),
        };
        if !self.values.iter().all(is_value) {
            return Err("what the held-out rows say is not an AUC or loss".to_owned());
        }
        // A refit on all rows may end earlier.
        if self.n_rounds > self.values.len() || n_trees > self.n_rounds {
            return Err(format!("{n_trees} rounds are not the {} chosen", self.n_rounds));
        }
        Ok(())
    }
}

/// Held-out rows and their scores so far.
pub(super) struct HeldOut<'a> {
    place: HeldOutSource<'a>,
    positive: Vec<bool>,
    masses: Option<Vec<u64>>,
    /// Number of copies of each row; as many as masses.
    copies: Vec<u64>,
    pub(super) scores: Vec<f64>,
}

/// Source of held-out rows.
pub(super) enum HeldOutSource<'a> {
    /// Rows of the sample.
    Inside(Vec<u32>),
    /// Other rows.
    Outside(&'a Columns<'a>),
}

impl<'a> HeldOut<'a> {
    /// `rows` are the held-out rows, as indices into the labels.
    pub(super) fn new(place: HeldOutSource<'a>, rows: &[u32], labels: &Labels<'_>) -> Self {
        let rows = rows.iter().map(|&row| row as usize);
        let masses = labels.weights().map(FixedWeights::units);
        Self {
            place,
            positive: rows.clone().map(|row| labels.positive()[row]).collect(),
            copies: match masses {
                Some(_) => rows.clone().map(|row| labels.sums(row).rows).collect(),
                None => Vec::new(),
            },
            masses: masses.map(|units| rows.clone().map(|row| units[row]).collect()),
            scores: vec![0.0; rows.len()],
        }
    }

    /// Updates the scores after those of all rows of the sample have changed: rows of the sample
    /// copy theirs, which are exact, and `change` updates other rows.
    pub(super) fn follow(
        &mut self,
        scores: &[f64],
        change: impl FnOnce(&Columns<'_>, &mut [f64]) -> Result<(), RankError>,
    ) -> Result<(), RankError> {
        match &self.place {
            HeldOutSource::Inside(rows) => {
                for (score, &row) in self.scores.iter_mut().zip(rows) {
                    *score = scores[row as usize];
                }
                Ok(())
            }
            HeldOutSource::Outside(columns) => change(columns, &mut self.scores),
        }
    }

    /// Whether each of them is positive.
    pub(super) fn positive(&self) -> &[bool] {
        &self.positive
    }

    /// The mass of one of them.
    pub(super) fn mass(&self, place: usize) -> u64 {
        self.masses.as_ref().map_or(1, |masses| masses[place])
    }

    /// The columns that contain them, given those of the sample.
    pub(super) fn columns<'c>(&self, of_sample: &'c Columns<'a>) -> &'c Columns<'a>
    where
        'a: 'c,
    {
        match self.place {
            HeldOutSource::Inside(_) => of_sample,
            HeldOutSource::Outside(columns) => columns,
        }
    }

    /// The number of one of them in these columns.
    pub(super) fn row(&self, place: usize) -> usize {
        match &self.place {
            HeldOutSource::Inside(rows) => rows[place] as usize,
            HeldOutSource::Outside(_) => place,
        }
    }

    /// Decrease of log loss from some scores to others, and its standard error.
    pub(super) fn gain(&self, before: &[f64], after: &[f64]) -> [f64; 2] {
        let total = (0..self.positive.len()).map(|place| u128::from(self.mass(place))).sum();
        let shift = mass_shift(total);
        let mut sums = GainSums::default();
        for (place, &positive) in self.positive.iter().enumerate() {
            let (mass, copies) = (self.mass(place) >> shift, self.copies.get(place));
            let copies = copies.copied().unwrap_or(1);
            sums.add([before[place], after[place]], positive, mass, copies);
        }
        sums.gain()
    }

    /// Measures the scores.
    pub(super) fn measure(
        &self,
        measure: HeldOutMeasure,
        loss: Loss,
        max_fpr: f64,
    ) -> Result<f64, RankError> {
        let (scores, positive, masses) = (&self.scores, &self.positive, self.masses.as_deref());
        Ok(match measure {
            HeldOutMeasure::Auc => {
                let weights = |masses: &[u64]| masses.iter().map(|&mass| mass as f64).collect();
                let weights: Option<Vec<f64>> = masses.map(weights);
                auc_up_to(max_fpr, scores, positive, weights.as_deref())?
            }
            HeldOutMeasure::Loss => loss.value(scores, positive, masses, max_fpr),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::held_out_params::GradientRefit;
    use super::*;

    fn params(measure: HeldOutMeasure, n_iter_no_change: usize, tol: f64) -> GradientHeldOutParams {
        GradientHeldOutParams {
            rows: HeldOutRows::Share(0.1),
            measure,
            n_iter_no_change,
            tol,
            refit: GradientRefit::None,
        }
    }

    #[test]
    fn the_fewest_of_equal_rounds_are_chosen() {
        let by_auc = params(HeldOutMeasure::Auc, 3, 0.0);
        assert_eq!(by_auc.path(vec![0.5, 0.7, 0.6, 0.7]).n_rounds, 2);
        let by_loss = params(HeldOutMeasure::Loss, 3, 0.0);
        assert_eq!(by_loss.path(vec![0.5, -0.1, 0.3, -0.1]).n_rounds, 2);
    }

    #[test]
    fn it_stops_when_no_recent_round_has_improved() {
        let by_auc = params(HeldOutMeasure::Auc, 2, 0.01);
        assert!(!by_auc.stops(&[0.5, 0.6], Loss::Log));
        assert!(!by_auc.stops(&[0.5, 0.5, 0.6], Loss::Log));
        assert!(by_auc.stops(&[0.5, 0.6, 0.6, 0.605], Loss::Log));
        let by_loss = params(HeldOutMeasure::Loss, 2, 0.0);
        let stops = |values: &[f64]| by_loss.stops(values, Loss::Log);
        assert!(!stops(&[0.5]));
        assert!(!stops(&[0.5, 0.4, 0.5, 0.3]));
        // A thousandth of the first is nothing, though it still falls.
        assert!(!stops(&[0.5, 0.3, 0.1, 0.001]));
        assert!(stops(&[0.5, 0.3, 0.1, 0.0005]));
        assert!(stops(&[0.5, -0.4, 0.5, -0.3]));
    }

    #[test]
    fn a_logarithm_below_zero_is_not_a_loss_of_nothing() {
        let by_loss = params(HeldOutMeasure::Loss, 2, 0.0);
        let stops = |values: &[f64]| by_loss.stops(values, Loss::PairExponential);
        assert!(!stops(&[-0.1, -0.3, -0.5]));
        assert!(!stops(&[0.2, 0.1, -0.1]));
        // exp(-6.9) is above a thousandth, exp(-7) below.
        assert!(!stops(&[-1.0, -4.0, -7.9]));
        assert!(stops(&[-1.0, -4.0, -8.0]));
    }

    #[test]
    fn a_gain_is_the_mean_of_differences_and_copies_count_as_rows() {
        let positive = [true, false, true, false, false, true];
        let weights = [1.0, 3.0, 2.0, 1.0, 0.0, 4.0];
        let before = [0.3, -0.2, 1.5, 0.0, 9.0, -1.0];
        let after = [0.9, -1.0, 1.0, 0.25, -9.0, 0.5];
        let copies: Vec<usize> = (0..6).flat_map(|row| vec![row; weights[row] as usize]).collect();
        let of = |rows: &[usize], weights: Option<&[f64]>| {
            let pick =
                |values: &[f64]| -> Vec<f64> { rows.iter().map(|&row| values[row]).collect() };
            let positive: Vec<bool> = rows.iter().map(|&row| positive[row]).collect();
            let labels = Labels::new(&positive, weights).unwrap();
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let held_out = HeldOut::new(HeldOutSource::Inside(all.clone()), &all, &labels);
            held_out.gain(&pick(&before), &pick(&after))
        };
        let found = of(&copies, None);
        assert_eq!(of(&[0, 1, 2, 3, 4, 5], Some(&weights)), found);
        let reversed: Vec<usize> = copies.iter().rev().copied().collect();
        assert_eq!(of(&reversed, None), found);

        let loss =
            |score: f64, positive: bool| (1.0 + (if positive { -score } else { score }).exp()).ln();
        let differences: Vec<f64> = copies
            .iter()
            .map(|&row| loss(before[row], positive[row]) - loss(after[row], positive[row]))
            .collect();
        let n = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
        assert!((found[0] - mean).abs() < 1e-4);
        assert!((found[1] - squares.sqrt() / n).abs() < 1e-4);
    }
}
