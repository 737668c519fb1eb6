//! Parameters of early stopping.

use serde::{Deserialize, Serialize};

/// Parameters of early stopping.
///
/// For an example see [`GradientHeldOut`](crate::boost::GradientHeldOut).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradientHeldOutParams {
    /// Choice of held-out rows. Ignored if validation rows are given.
    pub rows: HeldOutRows,
    /// Measure by which rounds are compared.
    pub measure: HeldOutMeasure,
    /// Number of rounds without an improvement before stopping, at least 1.
    pub n_iter_no_change: usize,
    /// Least improvement that counts, at least 0.
    pub tol: f64,
    /// What is fitted again on all rows, once the number of rounds is chosen.
    pub refit: GradientRefit,
}

/// What of a model is fitted again on all rows of the fit, those that were held out among them. The
/// measure on held-out rows remains that from before.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{
///     GradientExtras, GradientHeldOutParams, GradientParams, GradientRefit, fit_gradient_boosting,
/// };
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = (0..100).map(|row| row * 37 % 101 < row).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let fit = |refit| {
///     let mut params = GradientParams::stopped();
///     params.held_out = params.held_out.map(|held_out| GradientHeldOutParams { refit, ..held_out });
///     let extras = GradientExtras::default();
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())
/// };
/// let (before, after) = (fit(GradientRefit::None)?, fit(GradientRefit::Leaves)?);
/// assert_eq!(before.trees().len(), after.trees().len());
/// // As many leaves, of other values.
/// let [before, after] = [&before.trees()[0], &after.trees()[0]];
/// assert_eq!(before.n_leaves(), after.n_leaves());
/// assert_ne!(before.range(), after.range());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GradientRefit {
    /// Nothing.
    None,
    /// The values of the leaves, tree by tree: each is that of a Newton step of all rows at the
    /// scores of the trees before. The splits are kept. Nothing is set again if validation rows are
    /// given or an earlier fit goes on; losses over pairs, chosen pairs of features and directions of
    /// features are refused.
    Leaves,
    /// All trees.
    Trees,
}

/// Choice of held-out rows.
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
/// use aucrank::tree::Cuts;
///
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// // The higher the value, the more often positive.
/// let positive: Vec<bool> = (0..100).map(|row| row * 37 % 101 < row).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let held_out = GradientHeldOutParams {
///     rows: HeldOutRows::Fold,
///     measure: HeldOutMeasure::Loss,
///     n_iter_no_change: 5,
///     tol: 0.0,
///     refit: GradientRefit::None,
/// };
/// let params = GradientParams {
///     held_out: Some(held_out),
///     n_bags: 5,
///     cuts: Cuts::Best,
///     ..GradientParams::default()
/// };
/// let extras = GradientExtras::default();
/// let model =
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())?;
/// // The five bags have the same number of rounds.
/// let n_rounds: Vec<usize> = model.bags().iter().map(|bag| bag.n_rounds).collect();
/// assert_eq!(n_rounds, [n_rounds[0]; 5]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldOutRows {
    /// A share of the distinct rows of each class, above 0 and below 1. With several bags, each
    /// draws its own rows and chooses its own number of rounds.
    Share(f64),
    /// One of as many folds as there are bags, at least 2: each bag leaves out its own, and all
    /// keep the number of rounds that is best on the mean of the folds.
    Fold,
}

/// Measure by which rounds are compared.
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
/// let values: Vec<f64> = (0..100).map(f64::from).collect();
/// let positive: Vec<bool> = values.iter().map(|value| (30.0..70.0).contains(value)).collect();
/// let columns = Columns::from_column_major(&values, 100)?;
/// let labels = Labels::new(&positive, None)?;
/// let path = |measure| {
///     let (rows, n_iter_no_change, tol) = (HeldOutRows::Share(0.2), 3, 0.0);
///     let held_out =
///         GradientHeldOutParams { rows, measure, n_iter_no_change, tol, refit: GradientRefit::None };
///     let params = GradientParams { held_out: Some(held_out), ..GradientParams::default() };
///     let extras = GradientExtras::default();
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())
///         .map(|model| model.held_out().cloned().expect("rows were held out"))
/// };
/// // The highest AUC, or the least loss.
/// let found = path(HeldOutMeasure::Auc)?;
/// assert!(found.values.iter().all(|&auc| auc <= found.values[found.n_rounds - 1]));
/// let found = path(HeldOutMeasure::Loss)?;
/// assert!(found.values.iter().all(|&loss| loss >= found.values[found.n_rounds - 1]));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeldOutMeasure {
    /// The AUC of the held-out rows; with a `max_fpr` below 1, their partial AUC up to it,
    /// standardised.
    Auc,
    /// Their loss.
    Loss,
}
