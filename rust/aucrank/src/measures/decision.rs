//! Net benefit of decisions by a probability.

use super::student::{NORMAL, quantile_above};
use super::{check_confidence, check_probabilities};
use crate::RankError;

/// Net benefit of acting on the rows whose probability is at least a threshold.
///
/// For an example see [`decision_curve`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NetBenefit {
    /// The threshold `t`, at which a false positive costs `t / (1 - t)` true positives.
    pub threshold: f64,
    /// Share of the positive rows that are acted on.
    pub tpr: f64,
    /// Share of the negative rows that are acted on.
    pub fpr: f64,
    /// True positives less the cost of the false ones, for each row.
    pub value: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Net benefit at each threshold, of acting by the probabilities and of acting on all rows; acting
/// on none has 0 (Vickers and Elkin, "Decision curve analysis: a novel method for evaluating
/// prediction models", 2006, doi:10.1177/0272989X06295361). Intervals are normal and pointwise.
///
/// # Errors
///
/// [`RankError`] if a probability is not from 0 to 1, lengths differ, a class is absent, or a
/// threshold or the level of confidence is not in (0, 1).
///
/// # Examples
///
/// ```
/// use aucrank::measures::decision_curve;
///
/// let positive = [false, false, true, true];
/// let [model, all] = decision_curve(&[0.1, 0.4, 0.35, 0.8], &positive, &[0.2, 0.5], 0.95)?;
/// // At 0.2, two true positives, and one false one that costs a quarter of them.
/// assert!((model[0].value - (2.0 - 0.25) / 4.0).abs() < 1e-15);
/// assert!((all[1].value - (2.0 - 2.0) / 4.0).abs() < 1e-15);
/// # Ok::<(), aucrank::RankError>(())
/// ```
pub fn decision_curve(
    probabilities: &[f64],
    positive: &[bool],
    thresholds: &[f64],
    confidence: f64,
) -> Result<[Vec<NetBenefit>; 2], RankError> {
    check_confidence(confidence)?;
    if let Some(threshold) = thresholds.iter().find(|&&t| !(t > 0.0 && t < 1.0)) {
        let (value, rule) = (threshold.to_string(), "between 0 and 1");
        return Err(RankError::BadParameter { name: "thresholds", value, rule });
    }
    let n_rows = check_probabilities(probabilities, positive)?;
    let mut cuts = thresholds.to_vec();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    // Rows of each class by the number of thresholds that they reach.
    let mut reached = vec![[0_usize; 2]; cuts.len() + 1];
    for (&probability, &positive) in probabilities.iter().zip(positive) {
        let place = cuts.partition_point(|&cut| cut <= probability);
        reached[place][usize::from(positive)] += 1;
    }
    let z = quantile_above(0.5 * (1.0 - confidence), NORMAL);
    let mut acted = n_rows;
    let mut model = Vec::with_capacity(cuts.len());
    for (&cut, below) in cuts.iter().zip(&reached) {
        acted = [acted[0] - below[0], acted[1] - below[1]];
        model.push(at(cut, acted, n_rows, z));
    }
    let all = cuts.iter().map(|&cut| at(cut, n_rows, n_rows, z)).collect();
    Ok([model, all])
}

/// The net benefit of acting on so many rows of each class.
fn at(threshold: f64, acted: [usize; 2], n_rows: [usize; 2], z: f64) -> NetBenefit {
    let [false_positives, true_positives] = acted.map(|rows| rows as f64);
    let [n_neg, n_pos] = n_rows.map(|rows| rows as f64);
    let (odds, n) = (threshold / (1.0 - threshold), n_neg + n_pos);
    let value = (true_positives - odds * false_positives) / n;
    let squares = true_positives * (1.0 - value).powi(2)
        + false_positives * (odds + value).powi(2)
        + (n - true_positives - false_positives) * value * value;
    let reach = z * (squares / (n - 1.0) / n).sqrt();
    let (tpr, fpr) = (true_positives / n_pos, false_positives / n_neg);
    NetBenefit { threshold, tpr, fpr, value, low: value - reach, high: value + reach }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_a_mean_of_contributions() {
        let probabilities = [0.05, 0.3, 0.3, 0.6, 0.2, 0.9, 1.0];
        let positive = [false, false, true, false, true, true, true];
        let cuts = [0.3, 0.9];
        let [model, _] = decision_curve(&probabilities, &positive, &cuts, 0.95).unwrap();
        for (found, cut) in model.iter().zip(cuts) {
            let worth = |row: usize| match (probabilities[row] >= cut, positive[row]) {
                (false, _) => 0.0,
                (true, true) => 1.0,
                (true, false) => -cut / (1.0 - cut),
            };
            let values: Vec<f64> = (0..7).map(worth).collect();
            let mean = values.iter().sum::<f64>() / 7.0;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 6.0 / 7.0;
            assert!((found.value - mean).abs() < 1e-15);
            assert!((found.high - mean - 1.959_963_984_540_054 * variance.sqrt()).abs() < 1e-12);
            assert!((found.low + found.high - 2.0 * mean).abs() < 1e-12);
        }
    }

    #[test]
    fn bad_input_is_named() {
        let message = |probabilities: &[f64], cuts: &[f64]| {
            decision_curve(probabilities, &[true, false], cuts, 0.95).unwrap_err().to_string()
        };
        assert!(message(&[0.5, 1.5], &[0.5]).contains("1.5 in row 1"));
        assert!(message(&[0.5, f64::NAN], &[0.5]).contains("NaN in row 1"));
        assert!(message(&[0.5, 0.5], &[1.0]).contains("thresholds is 1"));
    }
}
