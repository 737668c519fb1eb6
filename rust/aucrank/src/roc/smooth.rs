//! Smoothing of a statistic over the size of a model, before the best size is chosen.

/// Half-width of the triangular window (DECISIONS A18).
const HALF_WINDOW: usize = 7;

/// Moving average with weights 8 - |i| over up to 7 neighbours on each side; truncated at the ends.
pub(crate) fn smoothed(values: &[f64]) -> Vec<f64> {
    let at = |place: usize| {
        let window = place.saturating_sub(HALF_WINDOW)..values.len().min(place + HALF_WINDOW + 1);
        let weight = |other: usize| (HALF_WINDOW + 1 - other.abs_diff(place)) as f64;
        let (mut sum, mut total) = (0.0, 0.0);
        for other in window {
            sum += weight(other) * values[other];
            total += weight(other);
        }
        sum / total
    };
    (0..values.len()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_a_triangle_of_fifteen_cut_at_the_ends() {
        let mut values = vec![0.0; 40];
        values[20] = 64.0;
        let found = smoothed(&values);
        // The weights of the window add up to 64.
        let expected: Vec<f64> =
            (0..40_i32).map(|i| f64::from((8 - (i - 20).abs()).max(0))).collect();
        assert_eq!(found, expected);
        // At the end, 8 + 7 + ... + 1 remains.
        let first = smoothed(&[36.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(first[0].to_bits(), 8.0_f64.to_bits());
        assert_eq!(smoothed(&[0.5; 3]), [0.5; 3]);
        assert!(smoothed(&[]).is_empty());
    }
}
