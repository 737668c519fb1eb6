//! Pairs of rows that are ranked rightly, for any points of one feature.
//!
//! With the points of all other features fixed, a positive row in bin `a` and a negative one in bin
//! `b` of the feature are ordered by the sums of the others and by the difference of the points of
//! `a` and `b`. So a table of all pairs of bins and all differences has the area of every choice of
//! points of the feature, at the price of one pass over the rows.

use super::rows::{BinnedRows, CandidateFeature};

/// Pairs ranked rightly by pair of bins and difference of points, a tie counting half, as a share
/// of all pairs.
#[derive(Debug)]
pub(super) struct PairsByShift {
    n_bins: usize,
    /// Greatest difference of points.
    most: usize,
    /// By two bins and the points of the first less those of the second: pairs of a row in one of
    /// them and a row in the other.
    of_pairs: Vec<f64>,
    /// Pairs within a bin.
    within: f64,
}

impl PairsByShift {
    /// The pairs of some rows, given for each the sum of the other features, below `n_sums`.
    pub(super) fn of(
        rows: &BinnedRows,
        feature: &CandidateFeature,
        others: &[u32],
        n_sums: usize,
        most: usize,
    ) -> Self {
        let n_bins = feature.n_bins();
        let mut cells = vec![[0_u64; 2]; n_bins * n_sums];
        for ((&bin, &sum), class) in feature.bins_of_rows.iter().zip(others).zip(&rows.weights) {
            let cell = &mut cells[usize::from(bin) * n_sums + sum as usize];
            cell[0] += class[0];
            cell[1] += class[1];
        }
        let of_class =
            |class: usize| -> Vec<f64> { cells.iter().map(|cell| cell[class] as f64).collect() };
        let [negative, positive] = [of_class(0), of_class(1)];
        // Twice the negatives of a bin below each sum, and those at it, from `most` sums below the
        // least to `most` above the greatest.
        let width = n_sums + 2 * most;
        let mut below = vec![0.0; n_bins * width];
        for (of_bin, negative) in below.chunks_mut(width).zip(negative.chunks(n_sums)) {
            let mut so_far = 0.0;
            for (place, entry) in of_bin.iter_mut().enumerate() {
                let at = place.checked_sub(most).and_then(|sum| negative.get(sum)).unwrap_or(&0.0);
                *entry = 2.0 * so_far + at;
                so_far += at;
            }
        }
        let n_shifts = 2 * most + 1;
        let mut of_pairs = vec![0.0; n_bins * n_bins * n_shifts];
        let mut within = 0.0;
        let mut shares = vec![0.0; n_shifts];
        for (a, of_a) in positive.chunks(n_sums).enumerate() {
            for (b, of_b) in below.chunks(width).enumerate() {
                // All differences side by side, which take one instruction for several of them.
                shares.fill(0.0);
                for (sum, &positive) in of_a.iter().enumerate().filter(|(_, of_sum)| **of_sum > 0.0)
                {
                    for (share, below) in shares.iter_mut().zip(&of_b[sum..]) {
                        *share += positive * below;
                    }
                }
                for share in &mut shares {
                    *share *= rows.share_of_half_pair;
                }
                if a == b {
                    // Rows of one bin have the same points.
                    within += shares[most];
                    continue;
                }
                for (shift, share) in shares.iter().enumerate() {
                    of_pairs[(a * n_bins + b) * n_shifts + shift] += share;
                    of_pairs[(b * n_bins + a) * n_shifts + 2 * most - shift] += share;
                }
            }
        }
        Self { n_bins, most, of_pairs, within }
    }

    /// Pairs between two bins with a difference of their points.
    #[inline]
    fn between(&self, a: usize, b: usize, difference: i32) -> f64 {
        let shift = (difference + self.most as i32) as usize;
        self.of_pairs[(a * self.n_bins + b) * (2 * self.most + 1) + shift]
    }

    /// The area under the curve with these points of the feature.
    pub(super) fn area(&self, points: &[i32]) -> f64 {
        let mut area = self.within;
        for (a, &of_a) in points.iter().enumerate() {
            for (b, &of_b) in points.iter().enumerate().take(a) {
                area += self.between(a, b, of_a - of_b);
            }
        }
        area
    }

    /// By how much the area grows if a bin gets other points. All differences must be within the
    /// greatest, before and after.
    #[inline]
    pub(super) fn change(&self, points: &[i32], bin: usize, value: i32) -> f64 {
        let n_shifts = 2 * self.most + 1;
        let of_bin = &self.of_pairs[bin * self.n_bins * n_shifts..][..self.n_bins * n_shifts];
        let (was, most) = (points[bin], self.most as i32);
        let mut change = 0.0;
        for (of_pair, &other) in of_bin.chunks_exact(n_shifts).zip(points) {
            // Of the bin with itself the table has zeros.
            let at = |value: i32| of_pair[(value - other + most) as usize];
            change += at(value) - at(was);
        }
        change
    }
}
