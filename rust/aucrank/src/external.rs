//! Models outside the core that a model uses: classifiers that split the nodes of a tree, weak
//! rankers that are boosted.
//!
//! Both sides identify a model, and each row, by a number. The core decides which rows a model is
//! fitted to, with which weights, and how its answers are used; an [`ExternalFitter`] decides how
//! it learns.

use std::fmt::Debug;

use crate::RankError;

/// Fitted models that are evaluated on rows.
///
/// # Examples
///
/// ```
/// use aucrank::RankError;
/// use aucrank::external::ExternalModels;
///
/// /// Ranks rows by one of several lists of scores, which are kept next to the columns.
/// #[derive(Debug)]
/// struct Listed(Vec<Vec<f64>>);
///
/// impl ExternalModels for Listed {
///     fn answer(&self, model: usize, rows: &[u32]) -> Result<Vec<f64>, RankError> {
///         let unknown = || RankError::External(format!("there is no list {model}"));
///         let scores = self.0.get(model).ok_or_else(unknown)?;
///         Ok(rows.iter().map(|&row| scores[row as usize]).collect())
///     }
/// }
///
/// let lists = Listed(vec![vec![0.5, -0.5, 2.0]]);
/// assert_eq!(lists.answer(0, &[2, 0])?, [2.0, 0.5]);
/// assert_eq!(lists.answer(1, &[0]).unwrap_err().to_string(), "there is no list 1");
/// # Ok::<(), RankError>(())
/// ```
pub trait ExternalModels: Debug + Sync {
    /// The output of a model for each of the `rows`, not NaN. A ranker returns the score, higher if
    /// the row is more likely positive; a classifier returns a number above 0 if it predicts
    /// positive.
    ///
    /// # Errors
    ///
    /// [`RankError::External`] if the model fails.
    fn answer(&self, model: usize, rows: &[u32]) -> Result<Vec<f64>, RankError>;
}

/// Fits models.
///
/// Trees are grown in parallel: the calls of one tree are in order, those of several trees are not,
/// and the fitted models must not depend on it.
///
/// # Examples
///
/// `AUCBoost` with rankers of the caller, which here rank by a list whatever they are fitted to:
///
/// ```
/// use aucrank::boost::{
///     AucBoostParams, FitExtras, RoundParams, WeakRankerParams, fit_auc_boost,
/// };
/// use aucrank::data::{Columns, Labels};
/// use aucrank::external::{ExternalFitter, ExternalModels};
/// use aucrank::{Interrupt, RankError};
///
/// #[derive(Debug)]
/// struct Listed(Vec<f64>);
///
/// impl ExternalModels for Listed {
///     fn answer(&self, _model: usize, rows: &[u32]) -> Result<Vec<f64>, RankError> {
///         Ok(rows.iter().map(|&row| self.0[row as usize]).collect())
///     }
/// }
///
/// impl ExternalFitter for Listed {
///     fn fit(&self, _seed: u64, _rows: &[u32], _weights: &[f64]) -> Result<usize, RankError> {
///         Ok(0)
///     }
///
///     fn forget(&self, _models: &[usize]) {}
///
///     fn keep(&self, _models: &[usize]) {}
/// }
///
/// let columns = Columns::from_row_major(&[1.0, 2.0, 3.0, 4.0], 1)?;
/// let positive = [false, true, false, true];
/// let labels = Labels::new(&positive, None)?;
/// let weak_ranker = WeakRankerParams::External;
/// let rounds = RoundParams { n_rounds: 1, weak_ranker, ..RoundParams::default() };
/// let params = AucBoostParams { rounds, ..AucBoostParams::default() };
/// let rankers = Listed(vec![0.0, 2.0, 1.0, 3.0]);
/// let extras = FitExtras { external: Some(&rankers), ..FitExtras::default() };
/// let model = fit_auc_boost((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// let scores = model.score(&columns, Some(&rankers))?;
/// assert_eq!(aucrank::roc::auc(&scores, &positive)?, 1.0);
/// # Ok::<(), RankError>(())
/// ```
pub trait ExternalFitter: ExternalModels {
    /// Fits a model to some rows and returns its number, chosen by the fitter and never reused.
    ///
    /// A row may occur more than once. `weights` has the weight of each row; both classes have the
    /// same total. `seed` is the random seed of the model.
    ///
    /// # Errors
    ///
    /// [`RankError::External`] if the model fails.
    fn fit(&self, seed: u64, rows: &[u32], weights: &[f64]) -> Result<usize, RankError>;

    /// Releases models that are no longer needed.
    fn forget(&self, models: &[usize]);

    /// Called at the end of a fit with the models in use, in the order of their new numbers 0, 1,
    /// ...; all others are released.
    fn keep(&self, models: &[usize]);
}

/// The scores of a ranker, made finite: infinities are clipped to the largest number.
pub(crate) fn scores_of<M: ExternalModels + ?Sized>(
    rankers: &M,
    number: usize,
    rows: &[u32],
) -> Result<Vec<f64>, RankError> {
    let mut scores = answers_of("a ranker", rankers, number, rows)?;
    for score in &mut scores {
        // Adding 0.0 removes the negative zero, which would sort apart by its bits.
        *score = score.clamp(f64::MIN, f64::MAX) + 0.0;
    }
    Ok(scores)
}

/// Whether a classifier predicts positive, for each of the rows.
pub(crate) fn called_positive<M: ExternalModels + ?Sized>(
    classifiers: &M,
    number: usize,
    rows: &[u32],
) -> Result<Vec<bool>, RankError> {
    let answers = answers_of("a classifier", classifiers, number, rows)?;
    Ok(answers.into_iter().map(|answer| answer > 0.0).collect())
}

/// The outputs of a model: one for each row, none NaN. Error messages call it by its `kind`.
fn answers_of<M: ExternalModels + ?Sized>(
    kind: &str,
    models: &M,
    number: usize,
    rows: &[u32],
) -> Result<Vec<f64>, RankError> {
    let answers = models.answer(number, rows)?;
    let (n_answers, n_rows) = (answers.len(), rows.len());
    if n_answers != n_rows {
        let what = format!("{kind} gave {n_answers} answers about {n_rows} rows");
        return Err(RankError::External(what));
    }
    match answers.iter().position(|answer| answer.is_nan()) {
        Some(place) => Err(RankError::NanScore(rows[place] as usize)),
        None => Ok(answers),
    }
}

/// Called at the end of a fit: renumbers the models in use, given by their `numbers`, to 0, 1, ...
/// and has the fitter keep only these.
pub(crate) fn keep_used<'n>(
    numbers: impl Iterator<Item = &'n mut usize>,
    fitter: Option<&dyn ExternalFitter>,
) {
    let used: Vec<usize> =
        numbers.enumerate().map(|(new, number)| std::mem::replace(number, new)).collect();
    if let Some(fitter) = fitter {
        fitter.keep(&used);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Returns a fixed number for each row, whatever it is fitted to.
    #[derive(Debug)]
    pub(crate) struct Fixed {
        pub(crate) answers: Vec<f64>,
        pub(crate) fits: Mutex<Vec<(Vec<u32>, Vec<f64>)>>,
        pub(crate) forgotten: Mutex<Vec<usize>>,
        pub(crate) kept: Mutex<Vec<usize>>,
    }

    impl Fixed {
        pub(crate) fn new(answers: Vec<f64>) -> Self {
            let (forgotten, kept) = (Mutex::default(), Mutex::default());
            Self { answers, fits: Mutex::default(), forgotten, kept }
        }
    }

    impl ExternalModels for Fixed {
        fn answer(&self, _: usize, rows: &[u32]) -> Result<Vec<f64>, RankError> {
            Ok(rows.iter().map(|&row| self.answers[row as usize]).collect())
        }
    }

    impl ExternalFitter for Fixed {
        fn fit(&self, _: u64, rows: &[u32], weights: &[f64]) -> Result<usize, RankError> {
            let mut fits = self.fits.lock().unwrap();
            fits.push((rows.to_vec(), weights.to_vec()));
            Ok(10 * fits.len())
        }

        fn forget(&self, models: &[usize]) {
            self.forgotten.lock().unwrap().extend(models);
        }

        fn keep(&self, models: &[usize]) {
            self.kept.lock().unwrap().extend(models);
        }
    }

    /// Returns one answer too few.
    #[derive(Debug)]
    struct TooFewAnswers;

    impl ExternalModels for TooFewAnswers {
        fn answer(&self, _: usize, rows: &[u32]) -> Result<Vec<f64>, RankError> {
            Ok(vec![1.0; rows.len() - 1])
        }
    }

    #[test]
    fn a_classifier_predicts_positive_above_0_and_scores_are_finite() {
        let fixed = Fixed::new(vec![1.0, 0.0, -0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY]);
        let found = called_positive(&fixed, 0, &[5, 4, 3, 2, 1, 0, 0]).unwrap();
        assert_eq!(found, [false, true, false, false, false, true, true]);
        let found = scores_of(&fixed, 0, &[0, 2, 3, 4, 5]).unwrap();
        assert_eq!(found, [1.0, 0.0, -1.0, f64::MAX, f64::MIN]);
        assert!(found[1].is_sign_positive());
    }

    #[test]
    fn nan_answers_and_too_few_answers_are_errors() {
        let fixed = Fixed::new(vec![1.0, f64::NAN, 0.0]);
        assert_eq!(scores_of(&fixed, 0, &[2, 1]), Err(RankError::NanScore(1)));
        assert_eq!(called_positive(&fixed, 0, &[2, 1]), Err(RankError::NanScore(1)));
        let err = scores_of(&TooFewAnswers, 0, &[2, 1]).unwrap_err();
        assert_eq!(err.to_string(), "a ranker gave 1 answers about 2 rows");
        let err = called_positive(&TooFewAnswers, 0, &[2, 1]).unwrap_err();
        assert_eq!(err.to_string(), "a classifier gave 1 answers about 2 rows");
    }

    #[test]
    fn models_in_use_are_kept_and_renumbered() {
        let mut numbers = [40, 10, 20];
        let fixed = Fixed::new(Vec::new());
        keep_used(numbers.iter_mut(), Some(&fixed));
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(*fixed.kept.lock().unwrap(), [40, 10, 20]);
    }
}
