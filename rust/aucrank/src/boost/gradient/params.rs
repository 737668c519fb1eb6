//! Parameters of a fit.

use serde::{Deserialize, Serialize};

use super::held_out_params::{GradientHeldOutParams, GradientRefit, HeldOutMeasure, HeldOutRows};
use super::loss::Loss;
use crate::RankError;
use crate::data::binds;
use crate::roc::check_max_fpr;
use crate::tree::Cuts;

/// Number of leaves if it is not chosen.
pub(super) const USUAL_LEAVES: usize = 32;

/// Number of rows from which on more leaves are tried than the usual, and fewer below: trees of few
/// leaves are better where the signal is weak.
const MANY_ROWS: u64 = 20_000;

/// Numbers of leaves to choose from with many rows, and with fewer.
const LEAVES: [[usize; 2]; 2] = [[USUAL_LEAVES, 128], [USUAL_LEAVES, 8]];

/// Bags of a trial with fewer than [`MANY_ROWS`] rows; beyond, one has enough held-out rows.
const TRIAL_BAGS: usize = 2;

/// Least automatic learning rate of a fit with early stopping: smaller steps gain nothing.
const STOPPED_RATE: f64 = 0.05;

/// Factor on the automatic rate with many rows, if a trial takes many rounds. On five sets of 24,000
/// to 30,000 rows, whose fits then take 0.6 of the time and of the trees, 1.5 lost 0.01 points in the
/// mean and 0.05 at most; 2 lost 0.08 and 0.21.
const COARSE_STEPS: f64 = 1.5;

/// Greatest automatic rate of a fit with early stopping.
const GREATEST_STOPPED_RATE: f64 = 0.15;

/// Number of rows up to which it holds. Beyond, the rate grows with their square root, up to three
/// times as much: on many rows larger steps lose nothing, and small ones take thousands of rounds.
const ROWS_OF_STOPPED_RATE: f64 = 20_000.0;

/// Maximum number of rounds of [`GradientParams::stopped`].
const MOST_ROUNDS: usize = 3000;

/// Maximum number of pairs of features that are chosen: more are not readable.
pub(super) const MOST_PAIRS: usize = 1000;

/// Parameters of gradient boosting.
///
/// For an example see [`fit_gradient_boosting`](crate::boost::fit_gradient_boosting).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradientParams {
    /// The loss that is minimised.
    pub loss: Loss,
    /// The false positive rate up to which rows are to be ranked well, above 0 and at most 1. Below
    /// 1, which log loss does not allow, this share of the negatives, those of the highest scores,
    /// counts in full in pairs, and the others count 0.3; held-out rows are then evaluated by their
    /// partial AUC up to it.
    pub max_fpr: f64,
    /// Maximum number of rounds, at least 1.
    pub n_rounds: usize,
    /// Factor on the values of the leaves, above 0 and at most 1; `None` for one that depends on
    /// the numbers of rows, rounds and leaves.
    pub learning_rate: Option<f64>,
    /// Maximum number of leaves of a tree, at least 2; `None` for 32, or, with held-out rows, for 32
    /// or 8, from 20,000 rows on for 32 or 128, chosen by a trial on these.
    pub max_leaves: Option<usize>,
    /// Further maximum numbers of leaves, each at least 2, to choose from with held-out rows and
    /// without chosen pairs of features: the first bags are fitted with each, two or from 20,000
    /// rows on one, for up to 300 rounds, and the first of those is kept that is best on their
    /// held-out rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_leaves: Vec<usize>,
    /// Maximum number of splits between the root and a leaf, at least 1.
    pub max_depth: usize,
    /// Least number of rows on each side of a split.
    pub min_samples_leaf: LeafRows,
    /// Added to the sum of the hessians of a leaf, at least 0.
    pub l2: f64,
    /// A split must lower the loss by more than this, to second order.
    pub min_gain: f64,
    /// Choice of cuts of numbers.
    pub cuts: Cuts,
    /// Share of the distinct rows that each tree learns from, above 0 and at most 1.
    pub subsample: f64,
    /// Number of features that each tree may test, at least 1; `None` for all.
    pub max_features: Option<usize>,
    /// Maximum number of bins of a number, from 2 to 255.
    pub max_bins: usize,
    /// Direction of each feature, -1, 0 or 1; empty if none is bound.
    pub monotonic: Vec<i8>,
    /// Features that a tree may test together.
    pub interactions: Interactions,
    /// Whether trees may also test pairs of categories of two features by their rates, in a fit
    /// with held-out rows on which this improves the loss.
    pub category_pairs: bool,
    /// How the number of rounds is chosen on held-out rows, if it is.
    pub held_out: Option<GradientHeldOutParams>,
    /// Number of models that are fitted, each with its own seed, and averaged; at least 1.
    pub n_bags: usize,
    /// Random seed.
    pub seed: u64,
}

/// Features that a tree may test together.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, Interactions, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// // Positive where one of two features is 1.
/// let values: Vec<f64> = (0..80).flat_map(|row| [row % 2, row / 2 % 2].map(f64::from)).collect();
/// let positive: Vec<bool> = values.chunks(2).map(|row| row[0] + row[1] > 0.0).collect();
/// let columns = Columns::from_row_major(&values, 2)?;
/// let labels = Labels::new(&positive, None)?;
/// let fit = |interactions| {
///     let params = GradientParams { n_rounds: 20, interactions, ..GradientParams::default() };
///     let extras = GradientExtras::default();
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())
/// };
/// assert_eq!(fit(Interactions::Any)?.pairs(), Some(vec![[0, 1]]));
/// // Without a group, each feature is tested alone.
/// assert!(fit(Interactions::Groups(Vec::new()))?.is_additive());
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interactions {
    /// Any.
    #[default]
    Any,
    /// Features of one of these groups; a feature in no group is tested alone.
    Groups(Vec<Vec<usize>>),
    /// Features of at most this many pairs, at least 1, which are chosen between two series of
    /// rounds: after up to the maximum number of rounds of single features come as many of pairs.
    /// Only pairs that are informative beyond chance are used.
    Pairs(usize),
    /// Features of the strongest pairs, three for each feature and at most 1000, chosen likewise,
    /// but without regard to chance: held-out rows determine the number of their rounds.
    Auto,
}

impl Interactions {
    /// Description of the choice of pairs; `None` if no pairs are chosen.
    pub(super) fn chosen_pairs(&self) -> Option<String> {
        match self {
            Self::Pairs(most) => Some(format!("{most} pairs")),
            Self::Auto => Some("the strongest pairs".to_owned()),
            Self::Any | Self::Groups(_) => None,
        }
    }
}

/// Least number of rows on each side of a split.
///
/// # Examples
///
/// ```
/// use aucrank::Interrupt;
/// use aucrank::boost::{GradientExtras, GradientParams, LeafRows, fit_gradient_boosting};
/// use aucrank::data::{Columns, Labels};
///
/// let values: Vec<f64> = (0..40).map(|row| f64::from(row % 2)).collect();
/// let positive: Vec<bool> = values.iter().map(|&value| value > 0.0).collect();
/// let columns = Columns::from_column_major(&values, 40)?;
/// let labels = Labels::new(&positive, None)?;
/// let n_trees = |min_samples_leaf| {
///     let params = GradientParams {
///         n_rounds: 1,
///         subsample: 1.0,
///         min_samples_leaf,
///         ..GradientParams::default()
///     };
///     let extras = GradientExtras::default();
///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())
///         .map(|model| model.trees().len())
/// };
/// // The only split leaves twenty rows on each side, half of all.
/// assert_eq!((n_trees(LeafRows::Rows(20))?, n_trees(LeafRows::Rows(21))?), (1, 0));
/// assert_eq!((n_trees(LeafRows::Share(0.5))?, n_trees(LeafRows::Share(0.6))?), (1, 0));
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeafRows {
    /// A hundredth of the rows, but at least 2 and at most 20.
    Auto,
    /// This number, at least 1.
    Rows(u64),
    /// A share of the rows, above 0 and below 1.
    Share(f64),
}

impl LeafRows {
    /// Number of rows, given that of all rows.
    pub(super) fn of(self, n_rows: u64) -> u64 {
        match self {
            Self::Auto => (n_rows.div_ceil(100)).clamp(2, 20),
            Self::Rows(rows) => rows,
            Self::Share(share) => ((share * n_rows as f64).ceil() as u64).max(1),
        }
    }
}

impl Default for GradientParams {
    fn default() -> Self {
        Self {
            loss: Loss::Log,
            max_fpr: 1.0,
            n_rounds: 300,
            learning_rate: None,
            max_leaves: None,
            other_leaves: Vec::new(),
            max_depth: usize::MAX,
            min_samples_leaf: LeafRows::Auto,
            l2: 1.0,
            min_gain: 0.0,
            cuts: Cuts::Random,
            subsample: 0.8,
            max_features: None,
            max_bins: 255,
            monotonic: Vec::new(),
            interactions: Interactions::Any,
            category_pairs: true,
            held_out: None,
            n_bags: 1,
            seed: 0,
        }
    }
}

impl GradientParams {
    /// Five bags of up to 3000 rounds that each leave out a fold and stop early by its loss: the
    /// best ranking without tuning.
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
    /// let (params, extras) = (GradientParams::stopped(), GradientExtras::default());
    /// let model =
    ///     fit_gradient_boosting((&columns, &labels), &params, &extras, &Interrupt::default())?;
    /// assert_eq!(model.bags().len(), 5);
    /// # Ok::<(), aucrank::RankError>(())
    /// ```
    #[must_use]
    pub fn stopped() -> Self {
        let held_out = GradientHeldOutParams {
            rows: HeldOutRows::Fold,
            measure: HeldOutMeasure::Loss,
            n_iter_no_change: 50,
            tol: 0.0,
            refit: GradientRefit::None,
        };
        Self { n_rounds: MOST_ROUNDS, held_out: Some(held_out), n_bags: 5, ..Self::default() }
    }

    pub(super) fn validate(&self, n_features: usize) -> Result<(), RankError> {
        let bad = |name, value: String, rule| Err(RankError::BadParameter { name, value, rule });
        let is_share = |value: f64| value > 0.0 && value <= 1.0;
        check_max_fpr(self.max_fpr)?;
        if self.loss == Loss::Log && self.max_fpr < 1.0 {
            let rule = "1 for log loss, which has no pairs to count";
            return bad("max_fpr", self.max_fpr.to_string(), rule);
        }
        for (name, value) in [
            ("n_rounds", self.n_rounds),
            ("max_depth", self.max_depth),
            ("max_features", self.max_features.unwrap_or(1)),
            ("n_bags", self.n_bags),
        ] {
            if value == 0 {
                return bad(name, "0".to_owned(), "at least 1");
            }
        }
        let mut leaves = self.max_leaves.iter().chain(&self.other_leaves);
        if let Some(leaves) = leaves.find(|&&leaves| leaves < 2) {
            return bad("max_leaves", leaves.to_string(), "at least 2");
        }
        if !self.other_leaves.is_empty() && self.held_out.is_none() {
            let rule = "a single number where no rows are held out";
            return bad("max_leaves", "several numbers".to_owned(), rule);
        }
        if !self.other_leaves.is_empty() && self.interactions.chosen_pairs().is_some() {
            let rule = "a single number where pairs of features are chosen";
            return bad("max_leaves", "several numbers".to_owned(), rule);
        }
        if !(2..=255).contains(&self.max_bins) {
            return bad("max_bins", self.max_bins.to_string(), "from 2 to 255");
        }
        if let Some(rate) = self.learning_rate.filter(|rate| !is_share(*rate)) {
            return bad("learning_rate", rate.to_string(), "in (0, 1]");
        }
        if !is_share(self.subsample) {
            return bad("subsample", self.subsample.to_string(), "in (0, 1]");
        }
        for (name, value) in [("l2", self.l2), ("min_gain", self.min_gain)] {
            if !(value >= 0.0 && value.is_finite()) {
                return bad(name, value.to_string(), "finite and not negative");
            }
        }
        match self.min_samples_leaf {
            LeafRows::Rows(0) => return bad("min_samples_leaf", "0".to_owned(), "at least 1"),
            LeafRows::Share(share) if !(share > 0.0 && share < 1.0) => {
                return bad("min_samples_leaf", share.to_string(), "in (0, 1)");
            }
            _ => {}
        }
        match &self.interactions {
            Interactions::Groups(groups) => {
                let mut features = groups.iter().flatten();
                if let Some(feature) = features.find(|&&feature| feature >= n_features) {
                    let about = format!("about feature {feature}");
                    return bad("interactions", about, "about features of X");
                }
            }
            Interactions::Pairs(most) if !(1..=MOST_PAIRS).contains(most) => {
                return bad("interactions", format!("{most} pairs"), "from 1 to 1000 pairs");
            }
            Interactions::Any | Interactions::Pairs(_) | Interactions::Auto => {}
        }
        if self.refit() == GradientRefit::Leaves {
            let refuse = |rule| bad("refit", "leaves".to_owned(), rule);
            if self.loss != Loss::Log {
                return refuse("none or trees for losses over pairs");
            }
            if self.interactions.chosen_pairs().is_some() {
                return refuse("none or trees where pairs of features are chosen");
            }
            if binds(&self.monotonic) {
                return refuse("none or trees where a feature has a direction");
            }
        }
        self.held_out.iter().try_for_each(|held_out| held_out.validate(self.n_bags))
    }

    /// The learning rate for these numbers of rows and leaves: `0.025 (n / 1000)^0.33 (rounds /
    /// 300)^-0.62 (leaves / 32)^-0.24`, estimated from fits to many data sets with a fixed number
    /// of rounds, and at most 0.3; with early stopping, at least 0.05 up to 20,000 rows, and beyond
    /// them at least `0.05 (n / 20000)^0.5`, up to 0.15. A fit of so many rows that takes many rounds
    /// has coarse steps instead ([`GradientParams::of_coarse_steps`]).
    pub(super) fn rate(&self, n_rows: u64, max_leaves: usize) -> f64 {
        let auto = || {
            let power = |value: f64, unit: f64, exponent| libm::pow(value / unit, exponent);
            let fixed = 0.025
                * power(n_rows as f64, 1000.0, 0.33)
                * power(self.n_rounds as f64, 300.0, -0.62)
                * power(max_leaves as f64, USUAL_LEAVES as f64, -0.24);
            let growth = (n_rows as f64 / ROWS_OF_STOPPED_RATE).sqrt().clamp(1.0, 3.0);
            let least = if self.held_out.is_some() { STOPPED_RATE * growth } else { 0.0 };
            fixed.clamp(least, 0.3)
        };
        self.learning_rate.unwrap_or_else(auto)
    }

    /// The same with larger steps, for a fit of many rows that takes many rounds; `None` with few
    /// rows, or if the rate is given.
    pub(super) fn of_coarse_steps(&self, n_rows: u64) -> Option<Self> {
        if self.learning_rate.is_some() || self.held_out.is_none() || n_rows < MANY_ROWS {
            return None;
        }
        let rate = self.rate(n_rows, self.max_leaves.unwrap_or(USUAL_LEAVES));
        let coarse = (COARSE_STEPS * rate).min(GREATEST_STOPPED_RATE);
        (coarse > rate).then(|| Self { learning_rate: Some(coarse), ..self.clone() })
    }

    /// The numbers of leaves to choose from in a fit of one series of rounds.
    pub(super) fn leaves_to_try(&self, n_rows: u64) -> Vec<usize> {
        let asks_alone =
            matches!(&self.interactions, Interactions::Groups(groups) if groups.is_empty());
        match self.max_leaves {
            Some(max_leaves) => {
                std::iter::once(max_leaves).chain(self.other_leaves.iter().copied()).collect()
            }
            None if asks_alone => vec![USUAL_LEAVES],
            None => LEAVES[usize::from(n_rows < MANY_ROWS)].to_vec(),
        }
    }

    /// The number of bags that are fitted with each number of leaves.
    pub(super) fn n_trial_bags(&self, n_rows: u64) -> usize {
        if n_rows < MANY_ROWS { TRIAL_BAGS.min(self.n_bags) } else { 1 }
    }

    /// The same, but the values of leaves are not set again.
    pub(super) fn without_refit_of_leaves(&self) -> Self {
        let held_out = self.held_out.map(|stopping| match stopping.refit {
            GradientRefit::Leaves => {
                GradientHeldOutParams { refit: GradientRefit::None, ..stopping }
            }
            GradientRefit::None | GradientRefit::Trees => stopping,
        });
        Self { held_out, ..self.clone() }
    }

    /// The same with a given maximum number of leaves.
    pub(super) fn of_leaves(&self, max_leaves: usize) -> Self {
        Self { max_leaves: Some(max_leaves), other_leaves: Vec::new(), ..self.clone() }
    }

    /// Whether bags leave out a fold each, and all have the same number of rounds.
    pub(super) fn shares_rounds(&self) -> bool {
        self.held_out.is_some_and(|stopping| stopping.rows == HeldOutRows::Fold)
    }

    /// Checks that the held-out rows are folds.
    pub(super) fn check_folds(&self) -> Result<(), RankError> {
        if self.shares_rounds() {
            return Ok(());
        }
        let (name, value) = ("held_out", "other rows".to_owned());
        Err(RankError::BadParameter { name, value, rule: "folds for a fit to folds" })
    }

    /// What is fitted again on all rows.
    pub(super) fn refit(&self) -> GradientRefit {
        self.held_out.map_or(GradientRefit::None, |stopping| stopping.refit)
    }
}
