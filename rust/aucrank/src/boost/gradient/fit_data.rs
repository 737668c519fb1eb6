//! What a fit is given, and what all its steps share.

use std::sync::Arc;

use super::fit_rows::FitRows;
use super::level_codes::LevelCodes;
use super::model::GradientBoosted;
use super::params::GradientParams;
use super::rate_columns::{RateSource, RatedCodes};
use crate::data::{Binned, CodeTest, Columns, Folds, Labels};
use crate::formula::Test;
use crate::rows::check_elsewhere;
use crate::{Interrupt, RankError};

/// Optional inputs of a fit besides its rows.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|value| (30.0..70.0).contains(value)).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let fit = |n_rounds, earlier| {
///     let learning_rate = Some(0.1);
///     let params = GradientParams { n_rounds, learning_rate, ..GradientParams::default() };
///     let extras = GradientExtras { earlier, ..GradientExtras::default() };
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())
/// };
/// let first = fit(5, None)?;
/// assert_eq!(fit(10, Some(&first))?, fit(10, None)?);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct GradientExtras<'a> {
    /// A model for a warm start: its rounds come first, and its seed is used. Further rounds on the
    /// same rows give the same model as one longer fit, at the same learning rate.
    pub earlier: Option<&'a GradientBoosted>,
    /// Validation rows that choose the number of rounds, in place of held-out rows of the fit.
    pub validation: Option<(&'a Columns<'a>, &'a Labels<'a>)>,
    /// The folds of the rows, if each bag leaves out one; `None` to deal them by the seed.
    pub folds: Option<&'a Folds>,
}

impl GradientExtras<'_> {
    /// Each with whether it is given; all need rows in memory.
    fn inputs(&self) -> [(&'static str, bool); 3] {
        [
            ("an earlier model", self.earlier.is_some()),
            ("validation rows", self.validation.is_some()),
            ("folds", self.folds.is_some()),
        ]
    }

    /// Whether nothing is given.
    pub(super) fn are_none(&self) -> bool {
        self.inputs().iter().all(|(_, is_given)| !is_given)
    }

    /// Checks that nothing is given that needs rows in memory.
    pub(super) fn check_elsewhere(&self) -> Result<(), RankError> {
        check_elsewhere(&self.inputs())
    }
}

/// The folds of a fit without each of them.
///
/// For an example see [`fit_gradient_folds`](crate::boost::fit_gradient_folds).
#[derive(Debug, Clone, Copy)]
pub enum BagFolds<'a> {
    /// The fold of each row in memory.
    Given(&'a Folds),
    /// So many, [dealt](Folds::deal) by the seed of the parameters.
    Dealt(u16),
}

impl BagFolds<'_> {
    /// Number of folds.
    pub(super) fn n_folds(&self) -> u16 {
        match self {
            Self::Given(folds) => folds.n_folds,
            Self::Dealt(n_folds) => *n_folds,
        }
    }
}

impl<'a> From<&'a Folds> for BagFolds<'a> {
    fn from(folds: &'a Folds) -> Self {
        Self::Given(folds)
    }
}

impl From<u16> for BagFolds<'_> {
    fn from(n_folds: u16) -> Self {
        Self::Dealt(n_folds)
    }
}

/// Data shared by all steps of a fit.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub(super) columns: &'a Columns<'a>,
    pub(super) labels: &'a Labels<'a>,
    pub(super) binned: &'a Binned,
    pub(super) level_codes: &'a LevelCodes,
    pub(super) interrupt: &'a Interrupt,
}

impl<'a> Data<'a> {
    /// Some training rows, with the rates of rare categories among them, and of the pairs of
    /// categories of some features.
    pub(super) fn rows(
        self,
        params: &GradientParams,
        seed: u64,
        training: Arc<[u32]>,
        pairs: &[[usize; 2]],
    ) -> Result<FitRows<'a>, RankError> {
        let Self { columns, labels, binned, level_codes, interrupt } = self;
        let source = RateSource { columns, labels, training: &training, level_codes, pairs };
        let coded = RatedCodes::new(binned, source, params, seed, interrupt)?;
        Ok(FitRows::with_rates(coded, labels, training))
    }

    /// The test of raw values that is equivalent to one of codes.
    pub(super) fn raw_test(&self, test: &CodeTest) -> Test {
        self.level_codes.kept.raw_test(test, self.binned.features())
    }
}
