//! How `AURORA` learns.

use serde::{Deserialize, Serialize};

use super::binarize::BinarizerParams;
use crate::RankError;

/// How `AURORA` learns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuroraParams {
    /// How raw features become binary terms.
    pub binarizer: BinarizerParams,
    /// Terms of the score at most; at least 1.
    pub max_features: usize,
    /// Raw features in a term at most: 1 or 2.
    pub order: usize,
    /// Length of the weights.
    pub radius: Radius,
    /// How closely candidates are looked at.
    pub depth: SearchDepth,
    /// What a term has to add to the ramp statistic: `first_gain` at first; halved whenever no
    /// candidate does, until it is less than `last_gain` (DECISIONS A16).
    pub first_gain: f64,
    /// See `first_gain`; positive.
    pub last_gain: f64,
    /// The search ends with a term that adds less to the AUC of the rows learned from; `None` is no
    /// such rule (DECISIONS A17).
    pub tol: Option<f64>,
    /// How the number of terms is chosen.
    pub selection: Selection,
    /// By which statistic of the rows held out.
    pub criterion: Criterion,
    /// Seeds the rows held out.
    pub seed: u64,
}

/// The length of the weights, in units of twice the half-width of the ramp.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Radius {
    /// This one; positive.
    Fixed(f64),
    /// One of at most five from 1/2 to 5: both ends and the middle, then the middles around the one of
    /// highest AUC on the rows held out (DECISIONS A19). The smallest that is less than a standard
    /// error below that.
    Auto,
}

/// How many candidates are looked at, and how closely (sec. 3.1, tables 1 and 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchDepth {
    /// Candidates of each measure that are tried by an ascent; at least 1.
    pub shortlist: usize,
    /// Candidates of steepest gradient whose contour midpoint is asked.
    pub midpoints: usize,
    /// Terms of one feature that are combined in pairs.
    pub combined: usize,
    /// Great circles of an ascent from the short list: the first leads to the pole of the new term,
    /// each other one may turn all weights; at least 1.
    pub circles: usize,
}

impl Default for SearchDepth {
    /// The "standard" depth: the numbers of candidates are the paper's.
    fn default() -> Self {
        Self { shortlist: 20, midpoints: 75, combined: 40, circles: 3 }
    }
}

/// How the number of terms is chosen: by a statistic of rows that were not learned from, smoothed by a
/// triangular window of 15 terms; of equal ones the fewest (sec. 3.5).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// A share of the distinct rows of each class is held out, above 0 and below 1. The weights of the
    /// chosen terms then climb on all rows.
    HoldOut(f64),
    /// Each of so many folds is held out in turn, and the number of terms of highest mean is then
    /// searched for on all rows; at least 2.
    CrossValidation(u16),
    /// Not at all: all terms that the search finds on all rows are kept.
    Keep,
}

/// What the number of terms is chosen by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// The ramp statistic, as in the paper (DECISIONS A18).
    Ramp,
    /// The AUC, which the length of the weights does not change.
    #[default]
    Auc,
}

/// Largest length of the vector of coefficients: a hundred times the longest of the paper, whose
/// scores of a million terms are still exact sums.
const LARGEST_RADIUS: f64 = 1000.0;

impl AuroraParams {
    /// Checks every parameter, for features with these numbers of categories.
    ///
    /// # Errors
    ///
    /// [`RankError::BadParameter`] naming the first that is out of its range, or that another one
    /// rules out.
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
        if self.depth.shortlist == 0 || self.depth.circles == 0 {
            let name = if self.depth.shortlist == 0 { "shortlist" } else { "circles" };
            return bad(name, "0".to_owned(), "at least 1");
        }
        for (name, gain) in [("first_gain", self.first_gain), ("last_gain", self.last_gain)] {
            if !positive(gain) {
                return bad(name, gain.to_string(), "positive and finite");
            }
        }
        if let Some(tol) = self.tol.filter(|tol| tol.is_nan()) {
            return bad("tol", tol.to_string(), "a number");
        }
        match self.selection {
            Selection::HoldOut(share) if !(share > 0.0 && share < 1.0) => {
                bad("validation_fraction", share.to_string(), "in (0, 1)")
            }
            Selection::CrossValidation(n_folds @ 0..=1) => {
                bad("n_folds", n_folds.to_string(), "at least 2")
            }
            _ => Ok(()),
        }
    }
}
