//! Probabilities from log-odds.

/// `1 / (1 + exp(-x))`, above 1/2 exactly when `x` is above 0.
pub(crate) fn logistic(x: f64) -> f64 {
    // `exp` of a crate, since platforms differ in theirs. Sum and quotient are each rounded once:
    // of two scores, the higher one never has the lower probability.
    let found = 1.0 / (1.0 + libm::exp(-x));
    if x > 0.0 { found.max(0.5_f64.next_up()) } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_is_above_one_half_exactly_for_positive_scores() {
        for score in [f64::MIN_POSITIVE, 1e-20, 1e-9, 0.5, 3.0, 800.0] {
            assert!(logistic(score) > 0.5 && logistic(-score) <= 0.5);
            assert!((logistic(score) + logistic(-score) - 1.0).abs() < 1e-15);
        }
        assert!(logistic(0.0) <= 0.5);
        assert!((logistic(1.0) - 1.0 / (1.0 + (-1.0_f64).exp())).abs() < 1e-15);
    }
}
