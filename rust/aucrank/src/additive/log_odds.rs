//! The line of log-odds along a score.

use crate::data::ClassSums;

/// Steps of Newton's method at most; it takes some ten.
const MOST_STEPS: usize = 100;

/// Intercept and slope of the log-odds of the positive class along a score, by maximum likelihood
/// with the targets of Platt: `(P + 1)/(P + 2)` for positive rows and `1/(N + 2)` for negative ones,
/// so that a score without mistakes has a finite slope too.
///
/// Platt, "Probabilistic outputs for support vector machines", 1999.
///
/// `groups` are rows of one score each; `unit` is what one unit of their weight stands for. The slope
/// is 0 where it would be negative or the scores are all equal.
pub(super) fn log_odds_line(groups: &[(f64, ClassSums)], unit: f64) -> (f64, f64) {
    let total: ClassSums = groups.iter().map(|&(_, sums)| sums).sum();
    let (n_pos, n_neg) = (total.pos as f64 * unit, total.neg as f64 * unit);
    let targets = ((n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0));
    let prior = ((n_pos + 1.0) / (n_neg + 1.0)).ln();
    let low = groups.iter().map(|group| group.0).fold(f64::INFINITY, f64::min);
    let high = groups.iter().map(|group| group.0).fold(f64::NEG_INFINITY, f64::max);
    if groups.is_empty() || high <= low {
        return (prior, 0.0);
    }
    // On scores from 0 to 1, so that steps are of a size.
    let place = |score: f64| (score - low) / (high - low);
    let loss = |a: f64, b: f64| -> f64 {
        let of = |&(score, sums): &(f64, ClassSums)| {
            let z = a + b * place(score);
            let log1p = z.max(0.0) + (-z.abs()).exp().ln_1p();
            let part = |weight: u64, target: f64| weight as f64 * unit * (log1p - target * z);
            part(sums.pos, targets.0) + part(sums.neg, targets.1)
        };
        groups.iter().map(of).sum()
    };
    let (mut a, mut b) = (prior, 0.0);
    let mut least = loss(a, b);
    for _ in 0..MOST_STEPS {
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (0.0, 0.0, 1e-12, 0.0, 1e-12);
        for &(score, sums) in groups {
            let x = place(score);
            let p = 1.0 / (1.0 + (-(a + b * x)).exp());
            let (pos, neg) = (sums.pos as f64 * unit, sums.neg as f64 * unit);
            let gradient = pos * (p - targets.0) + neg * (p - targets.1);
            let curvature = (pos + neg) * p * (1.0 - p);
            ga += gradient;
            gb += gradient * x;
            haa += curvature;
            hab += curvature * x;
            hbb += curvature * x * x;
        }
        let determinant = haa * hbb - hab * hab;
        let step_a = -(hbb * ga - hab * gb) / determinant;
        let step_b = -(haa * gb - hab * ga) / determinant;
        let mut share = 1.0;
        let gained = loop {
            let found = loss(a + share * step_a, b + share * step_b);
            if found < least {
                break least - found;
            }
            share /= 2.0;
            if share < 1e-6 {
                break 0.0;
            }
        };
        if gained <= 0.0 {
            break;
        }
        a += share * step_a;
        b += share * step_b;
        least -= gained;
        if gained <= 1e-12 * least {
            break;
        }
    }
    if b <= 0.0 {
        return (prior, 0.0);
    }
    let slope = b / (high - low);
    (a - slope * low, slope)
}
