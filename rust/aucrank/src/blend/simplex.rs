//! The simplex: weights that are not negative and add up to 1.

/// The point of the simplex next to a point.
///
/// Duchi, Shalev-Shwartz, Singer and Chandra, "Efficient projections onto the l1-ball for learning
/// in high dimensions", ICML 2008, fig. 1.
pub(super) fn nearest(point: &[f64]) -> Vec<f64> {
    let mut descending = point.to_vec();
    descending.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut shift) = (0.0, 0.0);
    for (n, value) in (1..).zip(descending) {
        sum += value;
        let candidate = (sum - 1.0) / f64::from(n);
        if value > candidate {
            shift = candidate;
        }
    }
    point.iter().map(|value| (value - shift).max(0.0)).collect()
}

/// Weights of the simplex as multiples of `1 / n_parts`, by largest remainders, earlier ones first.
pub(super) fn in_parts(weights: &[f64], n_parts: u32) -> Vec<f64> {
    let scaled: Vec<f64> = weights.iter().map(|weight| weight * f64::from(n_parts)).collect();
    let mut parts: Vec<f64> = scaled.iter().map(|weight| weight.floor()).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| (scaled[b] - parts[b]).total_cmp(&(scaled[a] - parts[a])));
    let n_left = (f64::from(n_parts) - parts.iter().sum::<f64>()).max(0.0) as usize;
    for place in order.into_iter().take(n_left) {
        parts[place] += 1.0;
    }
    parts.iter().map(|part| part / f64::from(n_parts)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    #[test]
    fn no_other_point_of_the_simplex_is_nearer() {
        let draw = |seed: u64| mix(seed) as f64 / u64::MAX as f64;
        for seed in 0..200 {
            let point: Vec<f64> = (0..4).map(|place| 3.0 * draw(seed * 4 + place) - 1.0).collect();
            let found = nearest(&point);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(found.iter().all(|&weight| weight >= 0.0));
            let distance =
                |to: &[f64]| -> f64 { point.iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum() };
            for other in 0..50 {
                let draws: Vec<f64> =
                    (0..4).map(|place| -draw(!(seed * 999 + other * 4 + place)).ln()).collect();
                let total: f64 = draws.iter().sum();
                let other: Vec<f64> = draws.iter().map(|draw| draw / total).collect();
                assert!(distance(&found) <= distance(&other) + 1e-12);
            }
        }
    }

    #[test]
    fn parts_add_up_and_are_near() {
        let found = in_parts(&[1.0 / 3.0; 3], 1024);
        assert_eq!(found, [342.0 / 1024.0, 341.0 / 1024.0, 341.0 / 1024.0]);
        assert_eq!(in_parts(&[1.0, 0.0], 1024), [1.0, 0.0]);
    }
}
