//! Confidence interval of an AUC, and of the difference of two on the same rows.

use super::check_confidence;
use super::student::{NORMAL, chance_above, quantile_above};
use crate::RankError;
use crate::roc::{DeLong, Score, hanley_mcneil_variance};

/// Degrees of freedom that a typical variance adds to that of few rows: `DeLong`'s misses the rare
/// positives that rank low.
const TYPICAL_DEGREES: f64 = 5.0;

/// How an interval was made.
///
/// For an example see [`AucInterval`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalMethod {
    /// Normal on the scale of log(AUC / (1 - AUC)), with `DeLong`'s variance drawn towards a typical
    /// one where rows are few.
    Logit,
    /// AUC plus and minus a quantile times `DeLong`'s standard error; too short where rows are few.
    DeLong,
    /// Of a difference, by Student's t with `DeLong`'s standard error.
    Student,
    /// With the standard error of Hanley and `McNeil`, since a class has one row.
    HanleyMcNeil,
    /// Of Clopper and Pearson, for as many independent pairs as the rarer class has rows, since all
    /// pairs have one outcome.
    Exact,
}

/// AUC with a confidence interval.
///
/// # Examples
///
/// ```
/// use aucrank::measures::{IntervalMethod, auc_interval};
///
/// // Ratings of 58 normal and 51 abnormal images (Hanley and McNeil, 1982).
/// let counts = [(1, 33, 3), (2, 6, 2), (3, 6, 2), (4, 11, 11), (5, 2, 33)];
/// let (mut ratings, mut positive) = (Vec::new(), Vec::new());
/// for (rating, normal, abnormal) in counts {
///     ratings.extend(vec![f64::from(rating); normal + abnormal]);
///     positive.extend((0..normal + abnormal).map(|row| row >= normal));
/// }
/// let found = auc_interval(&ratings, &positive, 0.95, IntervalMethod::Logit)?;
/// let rounded = [found.auc, found.low, found.high].map(|value| (1e3 * value).round() / 1e3);
/// assert_eq!(rounded, [0.893, 0.815, 0.941]);
/// # Ok::<(), aucrank::RankError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AucInterval {
    /// Area under the ROC curve.
    pub auc: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Estimate of the standard deviation of the AUC over samples.
    pub standard_error: f64,
    /// The requested method, or the one in place of it.
    pub method: IntervalMethod,
}

/// Difference of two AUCs on the same rows, with a test.
///
/// For an example see [`compare_aucs`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AucComparison {
    /// The two areas.
    pub aucs: [f64; 2],
    /// The first less the second.
    pub difference: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Estimate of the standard deviation of the difference over samples.
    pub standard_error: f64,
    /// The difference in standard errors; NaN if it has none.
    pub z: f64,
    /// Two-sided p-value of equal areas; NaN as `z`.
    pub p_value: f64,
    /// Method of the interval.
    pub method: IntervalMethod,
}

/// Confidence interval of an AUC. `method` is [`IntervalMethod::Logit`], or
/// [`IntervalMethod::DeLong`] for the interval of other packages.
///
/// # Errors
///
/// [`RankError`] as for [`DeLong::new`], or if the level of confidence is not in (0, 1).
pub fn auc_interval<S: Score>(
    scores: &[S],
    positive: &[bool],
    confidence: f64,
    method: IntervalMethod,
) -> Result<AucInterval, RankError> {
    check_confidence(confidence)?;
    let delong = DeLong::new(&[scores], positive)?;
    let (auc, effective) = (delong.aucs()[0], delong.effective_rows());
    let tail = 0.5 * (1.0 - confidence);
    let is_logit = method != IntervalMethod::DeLong;
    let (variance, method) = match delong.covariance(0, 0) {
        variance if is_degenerate(auc, variance) => {
            let (low, high) = exact(auc, effective, tail);
            let method = IntervalMethod::Exact;
            return Ok(AucInterval { auc, low, high, standard_error: 0.0, method });
        }
        None => {
            let [n_pos, n_neg] = effective;
            (hanley_mcneil_variance(auc, n_pos, n_neg), IntervalMethod::HanleyMcNeil)
        }
        Some(variance) => (variance, method),
    };
    let (low, high) = if !is_logit {
        clipped(auc, variance.sqrt(), tail)
    } else if method == IntervalMethod::HanleyMcNeil {
        on_log_odds(auc, variance, tail)
    } else {
        // That of scores without information at 1/2, in proportion to a binomial share elsewhere.
        let typical = auc * (1.0 - auc) / 3.0 * effective.iter().map(|n| n.recip()).sum::<f64>();
        let known = (effective[0].min(effective[1]) - 1.0).max(0.0);
        let sum = known * variance + TYPICAL_DEGREES * typical;
        on_log_odds(auc, sum / (known + TYPICAL_DEGREES), tail)
    };
    Ok(AucInterval { auc, low, high, standard_error: variance.sqrt(), method })
}

/// Test and confidence interval of the difference of two AUCs on the same rows, by Student's t with
/// `DeLong`'s variance of the difference. It has one degree of freedom less than the rarer class has
/// rows.
///
/// # Errors
///
/// [`RankError`] as for [`DeLong::new`], or if the level of confidence is not in (0, 1), or a class
/// has one row, whose spread is unknown.
///
/// # Examples
///
/// ```
/// use aucrank::measures::compare_aucs;
///
/// let positive = [false, false, false, false, true, true, true, true];
/// let old = [1.0, 4.0, 2.0, 6.0, 3.0, 5.0, 7.0, 8.0];
/// let new = [1.0, 2.0, 3.0, 5.0, 4.0, 6.0, 7.0, 8.0];
/// let found = compare_aucs([&new, &old], &positive, 0.95)?;
/// assert_eq!((found.aucs, found.difference), ([0.9375, 0.8125], 0.125));
/// assert_eq!((100.0 * found.p_value).round(), 31.0);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn compare_aucs<S: Score>(
    scores: [&[S]; 2],
    positive: &[bool],
    confidence: f64,
) -> Result<AucComparison, RankError> {
    check_confidence(confidence)?;
    let delong = DeLong::new(&scores, positive)?;
    let aucs = [delong.aucs()[0], delong.aucs()[1]];
    let effective = delong.effective_rows();
    let (difference, least) = (aucs[0] - aucs[1], effective[0].min(effective[1]));
    let Some(variance) = delong.difference_variance(0, 1) else {
        let (value, rule) = (least.to_string(), "two or more for a comparison");
        return Err(RankError::BadParameter { name: "rows of a class", value, rule });
    };
    let tail = 0.5 * (1.0 - confidence);
    let mut found = AucComparison {
        aucs,
        difference,
        low: difference,
        high: difference,
        standard_error: variance.sqrt(),
        z: f64::NAN,
        p_value: f64::NAN,
        method: IntervalMethod::Student,
    };
    if variance > 0.0 {
        let degrees = (least - 1.0).max(1.0);
        let reach = quantile_above(tail, degrees) * found.standard_error;
        (found.low, found.high) = ((difference - reach).max(-1.0), (difference + reach).min(1.0));
        found.z = difference / found.standard_error;
        found.p_value = 2.0 * chance_above(found.z.abs(), degrees);
        return Ok(found);
    }
    let same = difference.abs() <= 0.0;
    if same {
        (found.z, found.p_value) = (0.0, 1.0);
    }
    let degenerate =
        [0, 1].map(|model| is_degenerate(aucs[model], delong.covariance(model, model)));
    if !same || degenerate.contains(&true) {
        // By Bonferroni's inequality, both intervals hold together.
        let [first, second] = [0, 1].map(|model| match delong.covariance(model, model) {
            Some(own) if !degenerate[model] => clipped(aucs[model], own.sqrt(), 0.5 * tail),
            _ => exact(aucs[model], effective, 0.5 * tail),
        });
        (found.low, found.high) = (first.0 - second.1, first.1 - second.0);
        found.method = IntervalMethod::Exact;
    }
    Ok(found)
}

/// Whether all pairs have one outcome, so that the placement values do not vary.
fn is_degenerate(auc: f64, variance: Option<f64>) -> bool {
    auc <= 0.0 || auc >= 1.0 || variance.is_some_and(|variance| variance <= 0.0)
}

fn clipped(auc: f64, error: f64, tail: f64) -> (f64, f64) {
    let reach = quantile_above(tail, NORMAL) * error;
    ((auc - reach).max(0.0), (auc + reach).min(1.0))
}

fn on_log_odds(auc: f64, variance: f64, tail: f64) -> (f64, f64) {
    let middle = auc.ln() - (-auc).ln_1p();
    let reach = quantile_above(tail, NORMAL) * variance.sqrt() / (auc * (1.0 - auc));
    // The logistic function, in a form that never overflows.
    let at = |x: f64| 0.5 * (1.0 + (0.5 * x).tanh());
    (at(middle - reach), at(middle + reach))
}

/// The interval where all independent pairs have the same outcome: win, loss or tie.
fn exact(auc: f64, effective: [f64; 2], tail: f64) -> (f64, f64) {
    let least = tail.powf(effective[0].min(effective[1]).recip());
    if auc >= 1.0 {
        (least, 1.0)
    } else if auc <= 0.0 {
        (0.0, 1.0 - least)
    } else {
        (0.5 * least, 1.0 - 0.5 * least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITIVE: [bool; 6] = [false, false, false, true, true, true];

    #[test]
    fn perfect_scores_have_the_interval_of_as_many_pairs() {
        let perfect = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let found = auc_interval(&perfect, &POSITIVE, 0.95, IntervalMethod::Logit).unwrap();
        // k successes in k trials: the chance of that is 0.025 at the lower end.
        assert!((found.low.powi(3) - 0.025).abs() < 1e-15);
        assert_eq!((found.auc, found.high, found.standard_error), (1.0, 1.0, 0.0));
        assert_eq!(found.method, IntervalMethod::Exact);
        let reversed = perfect.map(|score: f64| -score);
        let mirrored = auc_interval(&reversed, &POSITIVE, 0.95, IntervalMethod::DeLong).unwrap();
        assert_eq!((mirrored.low, mirrored.high), (0.0, 1.0 - found.low));
        let ties = auc_interval(&[7.0; 6], &POSITIVE, 0.95, IntervalMethod::Logit).unwrap();
        assert_eq!((ties.low, ties.high), (0.5 * found.low, 1.0 - 0.5 * found.low));
    }

    #[test]
    fn equal_rankings_have_no_difference() {
        let scores = [3.0, 1.0, 2.0, 2.5, 4.0, 0.0];
        let found = compare_aucs([&scores, &scores.map(|s| 2.0 * s)], &POSITIVE, 0.95).unwrap();
        assert_eq!((found.low, found.high, found.z, found.p_value), (0.0, 0.0, 0.0, 1.0));
    }

    #[test]
    fn a_comparison_is_that_of_its_mirror_image() {
        let (a, b) = ([3.0, 1.0, 2.0, 2.5, 4.0, 0.0], [1.0, 4.0, 2.0, 3.5, 5.0, 6.0]);
        let one = compare_aucs([&a, &b], &POSITIVE, 0.9).unwrap();
        let other = compare_aucs([&b, &a], &POSITIVE, 0.9).unwrap();
        assert_eq!((one.low, one.high, one.p_value), (-other.high, -other.low, other.p_value));
    }

    #[test]
    fn bad_input_is_named() {
        let err = auc_interval(&[1.0, 2.0], &[true, false], 1.0, IntervalMethod::Logit);
        assert!(err.unwrap_err().to_string().contains("confidence is 1"));
        let err = compare_aucs([&[1.0, 2.0], &[2.0, 1.0]], &[true, false], 0.95).unwrap_err();
        assert!(err.to_string().starts_with("rows of a class is 1"), "{err}");
    }
}
