//! Probabilities from log-odds.

/// `1 / (1 + exp(-x))`, above 1/2 exactly when `x` is above 0.
pub(crate) fn logistic(x: f64) -> f64 {
    let p = 1.0 / (1.0 + (-x).exp());
    if x > 0.0 { p.max(0.5_f64.next_up()) } else { p.min(0.5) }
}
