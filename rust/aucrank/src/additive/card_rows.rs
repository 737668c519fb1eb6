//! Rows that are read in passes for a scorecard.

use super::bins::BinSum;
use super::cut_search::RawRows;
use super::point_counts::PointCounts;
use crate::roc::RocState;
use crate::{Interrupt, RankError};

/// Rows that a scorecard is built from in passes, whoever holds them.
///
/// A pass counts bins ([`RawRows::pass`]), and each of the others one score of whole rows. Their weights
/// are in the unit of all rows ([`WeightRange::units_of_part`](crate::data::WeightRange::units_of_part)),
/// so that all sums are whole numbers, and the order of the rows does not matter. A state may lie in
/// files ([`RocState::spilling_to`]): no step of the construction reads it at once.
///
/// # Examples
///
/// Rows in two parts:
///
/// ```
/// use std::sync::Arc;
///
/// use aucrank::additive::{
///     BinSum, CardRows, PointCounts, RawAsk, RawRows, RawSums, ScorecardParams, build_scorecard,
///     build_scorecard_rows,
/// };
/// use aucrank::data::{Columns, FeatureTerm, Labels, FeatureSteps, WeightRange};
/// use aucrank::roc::RocState;
/// use aucrank::{Interrupt, RankError};
///
/// struct TwoParts([(Vec<f64>, Vec<bool>); 2]);
///
/// impl RawRows for TwoParts {
///     fn n_levels(&self) -> &[Option<u32>] {
///         &[None]
///     }
///
///     fn weights(&self) -> Option<(WeightRange, u128)> {
///         None
///     }
///
///     fn pass(&self, ask: &Arc<RawAsk>, interrupt: &Interrupt) -> Result<RawSums, RankError> {
///         let mut sums = RawSums::new(Arc::clone(ask));
///         for (values, positive) in &self.0 {
///             sums.add(&Columns::from_row_major(values, 1)?, positive, None, interrupt)?;
///         }
///         Ok(sums)
///     }
/// }
///
/// impl CardRows for TwoParts {
///     fn ranker_scores(&self, _: &Interrupt) -> Result<RocState, RankError> {
///         let mut state = RocState::new(None, None)?;
///         for (values, positive) in &self.0 {
///             state.update(values, positive, None)?;
///         }
///         Ok(state)
///     }
///
///     fn scores(&self, of: &BinSum, _: &Interrupt) -> Result<RocState, RankError> {
///         let mut state = RocState::new(None, None)?;
///         for (values, positive) in &self.0 {
///             let scores = of.values(&Columns::from_row_major(values, 1)?)?;
///             state.update(&scores, positive, None)?;
///         }
///         Ok(state)
///     }
///
///     fn point_counts(&self, of: &BinSum, _: &Interrupt) -> Result<PointCounts, RankError> {
///         let mut counts = PointCounts::new(None);
///         for (values, positive) in &self.0 {
///             counts.add(&of.values(&Columns::from_row_major(values, 1)?)?, positive, None)?;
///         }
///         Ok(counts)
///     }
/// }
///
/// let parts = TwoParts([(vec![1.0, 4.0], vec![false, true]), (vec![2.0, 3.0], vec![true, false])]);
/// let steps = FeatureSteps::Numeric { thresholds: vec![1.5, 3.5], values: vec![0.0, 0.5, 1.0] };
/// let terms = [FeatureTerm { feature: 0, steps, missing: 0.5 }];
/// let (params, interrupt) = (ScorecardParams::default(), Interrupt::default());
/// let of_parts = build_scorecard_rows(&parts, &terms, &params, &interrupt)?;
///
/// let scores = [1.0, 2.0, 3.0, 4.0];
/// let columns = Columns::from_row_major(&scores, 1)?;
/// let labels = Labels::new(&[false, true, false, true], None)?;
/// let whole = build_scorecard(&columns, &labels, &terms, &scores, &params, &interrupt)?;
/// assert_eq!(of_parts, whole);
/// # Ok::<(), RankError>(())
/// ```
pub trait CardRows: RawRows {
    /// The scores of all rows by the ranker that the card stands for.
    ///
    /// # Errors
    ///
    /// What the holder runs into, such as [`RankError::Storage`] or [`RankError::Interrupted`].
    fn ranker_scores(&self, interrupt: &Interrupt) -> Result<RocState, RankError>;

    /// The sums of all rows.
    ///
    /// # Errors
    ///
    /// As [`CardRows::ranker_scores`].
    fn scores(&self, of: &BinSum, interrupt: &Interrupt) -> Result<RocState, RankError>;

    /// All rows by their sums, which are whole numbers of points.
    ///
    /// # Errors
    ///
    /// As [`CardRows::ranker_scores`].
    fn point_counts(&self, of: &BinSum, interrupt: &Interrupt) -> Result<PointCounts, RankError>;
}
