//! Parameters of `AURORA`.

use serde::{Deserialize, Serialize};

use super::binarize::BinarizerParams;
use super::ramp::Statistics;
use crate::RankError;
use crate::roc::check_max_fpr;

/// Parameters of `AURORA`.
///
/// For an example see [`fit_aurora`](crate::aurora::fit_aurora).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuroraParams {
    /// Conversion of raw features to binary terms.
    pub binarizer: BinarizerParams,
    /// Maximum number of terms of the score; at least 1.
    pub max_features: usize,
    /// Maximum number of raw features in a term: 1 or 2. The paper defines terms of any order and
    /// searches these.
    pub order: usize,
    /// Norm of the weights.
    pub radius: Radius,
    /// How thoroughly candidates are evaluated.
    pub depth: SearchDepth,
    /// Required gain of the ramp statistic by a term: `first_gain` at first; halved whenever no
    /// candidate reaches it, until it is below `last_gain` (DECISIONS A16).
    pub first_gain: f64,
    /// See `first_gain`; positive.
    pub last_gain: f64,
    /// The search ends with a term that adds less to the AUC of the training rows; `None` disables
    /// this rule (DECISIONS A17).
    pub tol: Option<f64>,
    /// How the number of terms is chosen.
    pub selection: Selection,
    /// The statistic of the held-out rows that chooses it.
    pub criterion: SelectionCriterion,
    /// Maximum number of terms of the searches that choose the radius, of which only that of the
    /// chosen radius continues; at least 1. `None` for `max_features`, as in the paper, also where
    /// there are many rows (see [`Radius::Auto`]).
    pub radius_terms: Option<usize>,
    /// A search ends once the smoothed `criterion` of the held-out rows was highest this many terms
    /// ago; at least 1. `None` disables this rule, as in the paper.
    pub patience: Option<usize>,
    /// For each feature, 1 if the score may only rise with it, -1 if it may only fall, 0 if it is
    /// free; empty to leave all free. Only numeric features can be bound. A missing value may have
    /// any score.
    #[serde(default)]
    pub monotonic: Vec<i8>,
    /// The false positive rate up to which rows are to be ranked well, above 0 and at most 1. Below
    /// 1, in a second search this share of the negatives, those that the first has scored highest,
    /// counts in full, and the others count 0.3; the score with the higher partial AUC up to this
    /// rate on the held-out rows is kept. An earlier search cannot be continued then.
    pub max_fpr: f64,
    /// Random seed of the held-out rows.
    pub seed: u64,
}

impl Default for AuroraParams {
    /// Defaults of the Python estimator `AURORA`.
    fn default() -> Self {
        Self {
            binarizer: BinarizerParams::default(),
            max_features: 200,
            order: 2,
            radius: Radius::Auto,
            depth: SearchDepth { shortlist: 20, midpoints: 75, combined: 40, circles: 1 },
            first_gain: 0.01,
            last_gain: 1e-6,
            tol: None,
            selection: Selection::Auto(0.25),
            criterion: SelectionCriterion::Auc,
            radius_terms: Some(100),
            patience: Some(80),
            monotonic: Vec::new(),
            max_fpr: 1.0,
            seed: 0,
        }
    }
}

/// The norm of the weights, in units of twice the half-width of the ramp.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{AuroraParams, Radius, fit_aurora};
/// use aucrank::data::{Columns, Labels};
/// # use aucrank::aurora::{BinarizerParams, SelectionCriterion, SearchDepth, Selection};
///
/// # let params = AuroraParams {
/// #     binarizer: BinarizerParams::default(), max_features: 10, order: 1,
/// #     radius: Radius::Fixed(2.0), depth: SearchDepth::default(), first_gain: 0.01,
/// #     last_gain: 0.01, tol: None, selection: Selection::HoldOut(0.5), criterion: SelectionCriterion::Auc,
/// #     radius_terms: None, patience: None, monotonic: vec![], max_fpr: 1.0, seed: 0,
/// # };
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let fit = |radius| {
///     let params = AuroraParams { radius, ..params.clone() };
///     fit_aurora(&columns, &labels, &params, None, &Interrupt::default())
/// };
/// assert_eq!(fit(Radius::Fixed(3.0))?.radius(), 3.0);
/// assert!((0.5..=5.0).contains(&fit(Radius::Auto)?.radius()));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Radius {
    /// This one; positive.
    Fixed(f64),
    /// One of at most five from 1/2 to 5: both ends and the middle, then the midpoints around the
    /// one of highest AUC on the held-out rows (DECISIONS A19). The smallest within a standard
    /// error of the best.
    ///
    /// With more than 8,000 distinct training rows, unless `radius_terms` is `None`, five equally
    /// distant ones run a race: the three of highest AUC after 25 terms go on, the two after 50, and
    /// these are compared after 75.
    Auto,
}

/// Number of evaluated candidates, and depth of their evaluation (sec. 3.1, tables 1 and 2).
///
/// # Examples
///
/// ```
/// use aucrank::aurora::{AuroraParams, SearchDepth};
/// # use aucrank::aurora::{BinarizerParams, SelectionCriterion, Radius, Selection};
///
/// # let params = AuroraParams {
/// #     binarizer: BinarizerParams::default(), max_features: 10, order: 1,
/// #     radius: Radius::Fixed(2.0), depth: SearchDepth::default(), first_gain: 0.01,
/// #     last_gain: 0.01, tol: None, selection: Selection::Keep, criterion: SelectionCriterion::Auc,
/// #     radius_terms: None, patience: None, monotonic: vec![], max_fpr: 1.0, seed: 0,
/// # };
/// // One ascent to the best candidate of each measure, and no midpoints: the fastest search.
/// let depth = SearchDepth { shortlist: 1, midpoints: 0, ..SearchDepth::default() };
/// let params = AuroraParams { depth, ..params };
/// assert_eq!(params.validate(&[None]), Ok(()));
///
/// let depth = SearchDepth { circles: 0, ..depth };
/// let err = AuroraParams { depth, ..params }.validate(&[None]).unwrap_err();
/// assert_eq!(err.to_string(), "circles is 0, but must be at least 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchDepth {
    /// Number of candidates by each measure that are tried by an ascent; at least 1.
    pub shortlist: usize,
    /// Number of candidates of steepest gradient whose contour midpoint is evaluated.
    pub midpoints: usize,
    /// Number of one-feature terms that are combined in pairs.
    pub combined: usize,
    /// Number of great circles of a trial ascent: the first leads to the pole of the new term, the
    /// others may change all weights; at least 1.
    pub circles: usize,
}

impl Default for SearchDepth {
    /// The "standard" depth: the numbers of candidates are the paper's.
    fn default() -> Self {
        Self { shortlist: 20, midpoints: 75, combined: 40, circles: 3 }
    }
}

/// How the number of terms is chosen: by a statistic of held-out rows, smoothed by a triangular
/// window of 15 terms; of ties the smallest (sec. 3.5).
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{AuroraParams, Selection, fit_aurora};
/// use aucrank::data::{Columns, Labels};
/// # use aucrank::aurora::{BinarizerParams, SelectionCriterion, Radius, SearchDepth};
///
/// # let params = AuroraParams {
/// #     binarizer: BinarizerParams::default(), max_features: 10, order: 1,
/// #     radius: Radius::Fixed(2.0), depth: SearchDepth::default(), first_gain: 0.01,
/// #     last_gain: 0.01, tol: None, selection: Selection::Keep, criterion: SelectionCriterion::Auc,
/// #     radius_terms: None, patience: None, monotonic: vec![], max_fpr: 1.0, seed: 0,
/// # };
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// let fit = |selection| {
///     let params = AuroraParams { selection, ..params.clone() };
///     fit_aurora(&columns, &labels, &params, None, &Interrupt::default())
/// };
/// assert_eq!(fit(Selection::CrossValidation(2))?.n_folds(), Some(2));
/// let kept = fit(Selection::Keep)?;
/// assert_eq!(kept.terms(), kept.all_terms());
/// assert_eq!(kept.path()[0].validation, None);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// With at most 1,000 distinct training rows and [`Radius::Auto`], as [`Keep`](Self::Keep), with
    /// at most 30 terms at a radius of 1/2, or of .89 for fewer than 8 terms; as
    /// [`HoldOut`](Self::HoldOut) of this share with more rows, rows in groups or ranges of time,
    /// or a radius. A search that goes on keeps to what was chosen first.
    Auto(f64),
    /// A share of the distinct rows of each class is held out, above 0 and below 1. The weights of
    /// the chosen terms are then refitted to all rows.
    HoldOut(f64),
    /// Each fold is held out in turn, and the number of terms of the highest mean is then searched
    /// for on all rows; at least 2 folds.
    CrossValidation(u16),
    /// No choice: all terms that the search finds on all rows are kept.
    Keep,
}

/// The statistic that chooses the number of terms.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::aurora::{AuroraParams, SelectionCriterion, Selection, fit_aurora};
/// use aucrank::data::{Columns, Labels};
/// # use aucrank::aurora::{BinarizerParams, Radius, SearchDepth};
///
/// # let params = AuroraParams {
/// #     binarizer: BinarizerParams::default(), max_features: 1, order: 1,
/// #     radius: Radius::Fixed(2.0), depth: SearchDepth::default(), first_gain: 0.01,
/// #     last_gain: 0.01, tol: None, selection: Selection::HoldOut(0.5), criterion: SelectionCriterion::Auc,
/// #     radius_terms: None, patience: None, monotonic: vec![], max_fpr: 1.0, seed: 0,
/// # };
/// let columns = Columns::from_row_major(&[1.0, 2.0, 11.0, 12.0], 1)?;
/// let labels = Labels::new(&[false, false, true, true], None)?;
/// // A path of one step, which is its own smoothed value.
/// let smoothed = |criterion| {
///     let params = AuroraParams { max_features: 1, criterion, ..params.clone() };
///     let model = fit_aurora(&columns, &labels, &params, None, &Interrupt::default());
///     model.map(|model| (model.path()[0].smoothed, model.path()[0].validation))
/// };
/// let (found, validation) = smoothed(SelectionCriterion::Ramp)?;
/// assert_eq!(found, validation.map(|statistics| statistics.ramp));
/// let (found, validation) = smoothed(SelectionCriterion::Auc)?;
/// assert_eq!(found, validation.map(|statistics| statistics.auc));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionCriterion {
    /// The ramp statistic, as in the paper (DECISIONS A18).
    Ramp,
    /// The AUC, which does not depend on the norm of the weights.
    #[default]
    Auc,
}

impl SelectionCriterion {
    pub(super) fn of(self, found: Statistics) -> f64 {
        match self {
            Self::Ramp => found.ramp,
            Self::Auc => found.auc,
        }
    }
}

/// Maximum norm of the weights: a hundred times the largest in the paper; scores of a million terms
/// are still exact sums.
const LARGEST_RADIUS: f64 = 1000.0;

impl AuroraParams {
    /// Checks every parameter, for features with these numbers of categories.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] naming the first that is out of its range, or excluded by
    /// another.
    pub fn validate(&self, n_levels: &[Option<u32>]) -> Result<(), RankError> {
        self.binarizer.validate(n_levels)?;
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if self.max_features == 0 {
            return bad("max_features", "0".to_owned(), "at least 1");
        }
        if !(1..=2).contains(&self.order) {
            return bad("order", self.order.to_string(), "1 or 2");
        }
        match (self.radius, self.selection) {
            (Radius::Fixed(radius), _) if !(radius > 0.0 && radius <= LARGEST_RADIUS) => {
                return bad("radius", radius.to_string(), "above 0 and at most 1000");
            }
            (Radius::Auto, Selection::Keep) => {
                let rule = "a number where no rows are held out";
                return bad("radius", "\"auto\"".to_owned(), rule);
            }
            _ => {}
        }
        for (name, number) in
            [("radius_terms", self.radius_terms), ("n_iter_no_change", self.patience)]
        {
            if number == Some(0) {
                return bad(name, "0".to_owned(), "at least 1");
            }
        }
        if self.depth.shortlist == 0 || self.depth.circles == 0 {
            let name = if self.depth.shortlist == 0 { "shortlist" } else { "circles" };
            return bad(name, "0".to_owned(), "at least 1");
        }
        for (name, gain) in [("first_gain", self.first_gain), ("last_gain", self.last_gain)] {
            if !positive(gain) {
                return bad(name, gain.to_string(), "positive and finite");
            }
        }
        check_max_fpr(self.max_fpr)?;
        if let Some(tol) = self.tol.filter(|tol| tol.is_nan()) {
            return bad("tol", tol.to_string(), "a number");
        }
        match self.selection {
            Selection::Auto(share) | Selection::HoldOut(share) if !(share > 0.0 && share < 1.0) => {
                bad("validation_fraction", share.to_string(), "in (0, 1)")
            }
            Selection::CrossValidation(n_folds @ 0..=1) => {
                bad("n_folds", n_folds.to_string(), "at least 2")
            }
            _ => Ok(()),
        }
    }
}
