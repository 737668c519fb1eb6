//! Monotonicity constraints on a score.

use crate::RankError;

/// Checks one constraint for each feature: 1 if the score may only rise with it, -1 if it may only
/// fall, 0 if it is free; or none at all.
pub(crate) fn check_monotonic(monotonic: &[i8], n_levels: &[Option<u32>]) -> Result<(), RankError> {
    let bad =
        |value: String, rule| Err(RankError::BadParameter { name: "monotonic_cst", value, rule });
    if monotonic.is_empty() {
        return Ok(());
    }
    if monotonic.len() != n_levels.len() {
        return bad(format!("of length {}", monotonic.len()), "as long as X has columns");
    }
    if let Some(value) = monotonic.iter().find(|value| !(-1..=1).contains(*value)) {
        return bad(format!("{value} somewhere"), "-1, 0 or 1");
    }
    let is_bound = |(value, n_levels): (&i8, &Option<u32>)| *value != 0 && n_levels.is_some();
    match monotonic.iter().zip(n_levels).position(is_bound) {
        Some(column) => Err(RankError::CategoricalConstraint { column }),
        None => Ok(()),
    }
}

/// The direction of a feature; all are free if the list is empty.
pub(crate) fn direction(monotonic: &[i8], feature: usize) -> i8 {
    monotonic.get(feature).copied().unwrap_or(0)
}

/// Whether any feature is constrained.
pub(crate) fn binds(monotonic: &[i8]) -> bool {
    monotonic.iter().any(|&direction| direction != 0)
}

/// The constraints, or an empty list if all are zero.
pub(crate) fn binding(monotonic: &[i8]) -> Vec<i8> {
    if binds(monotonic) { monotonic.to_vec() } else { Vec::new() }
}
