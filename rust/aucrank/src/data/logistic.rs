//! Probabilities from log-odds.

/// `1 / (1 + exp(-x))`, above 1/2 exactly when `x` is above 0.
pub(crate) fn logistic(x: f64) -> f64 {
    // Of a crate, since that of the platform differs from one to the next.
    let odds = libm::exp(-x.abs());
    if x > 0.0 { (1.0 / (1.0 + odds)).max(0.5_f64.next_up()) } else { odds / (1.0 + odds) }
}
