//! The negative rows that rank highest, on which a partial AUC depends.

use crate::RankError;

/// Checks a share of the negative rows.
pub(crate) fn check_max_fpr(max_fpr: f64) -> Result<(), RankError> {
    if max_fpr > 0.0 && max_fpr <= 1.0 {
        return Ok(());
    }
    Err(RankError::BadParameter {
        name: "max_fpr",
        value: max_fpr.to_string(),
        rule: "above 0 and at most 1",
    })
}

/// The part by which the other negative rows count. With 0, rows change places from round to round
/// and a loss that no round sees any more rises: of 0, 0.1, 0.2, 0.3, 0.5 and 0.7, this part gave
/// the highest partial AUC (`benches/studies/partial_auc.py`, on folds of another seed).
const LEAST_PART: f64 = 0.3;

/// By which part each negative row counts where the highest alone matter: in full up to a share of
/// the weight of all, from the highest score down, and by a smaller part below. All rows of the
/// score at which the share ends count alike, so that the order of the rows does not matter.
///
/// Of all choices of rows of that share, this one gives the greatest sum of a function that rises
/// with the score. So a sum over the rows as they count, of a convex function of the scores that
/// rises with each, is the maximum of sums that are convex, and convex itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TopNegatives {
    /// The score at which the share ends, and the part of its rows.
    score: f64,
    part: f64,
}

impl TopNegatives {
    /// Of negative rows given as score and weight, in any order, at least one of positive weight;
    /// O(n).
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    pub(crate) fn of(mut rows: Vec<(f64, u64)>, max_fpr: f64) -> Self {
        let weight =
            |rows: &[(f64, u64)]| -> u128 { rows.iter().map(|row| u128::from(row.1)).sum() };
        let limit = max_fpr * weight(&rows) as f64;
        // The row at which the weight from the top reaches the limit, by halves.
        let (mut above, mut rest) = (0, &mut rows[..]);
        while rest.len() > 1 {
            let middle = rest.len() / 2;
            rest.select_nth_unstable_by(middle, |a, b| b.0.total_cmp(&a.0));
            let (high, low) = rest.split_at_mut(middle);
            let more = above + weight(high);
            if (more as f64) < limit {
                (above, rest) = (more, low);
            } else {
                rest = high;
            }
        }
        let score = rest[0].0;
        let (mut above, mut tied) = (0, 0);
        for &(other, weight) in &rows {
            if other > score {
                above += u128::from(weight);
            } else if other == score {
                tied += u128::from(weight);
            }
        }
        let within = ((limit - above as f64) / tied as f64).min(1.0);
        Self { score, part: at_least(within) }
    }

    /// The share of the weight of all rows that counts: 1 if all are to count in full.
    pub(crate) fn share(max_fpr: f64) -> f64 {
        at_least(max_fpr)
    }

    /// The part of a row of this score that counts.
    #[inline]
    #[expect(clippy::float_cmp, reason = "a tie is exact equality")]
    pub(crate) fn part(self, score: f64) -> f64 {
        if score > self.score {
            1.0
        } else if score == self.score {
            self.part
        } else {
            LEAST_PART
        }
    }
}

/// The part of which so much is within the share, and the rest below.
fn at_least(within: f64) -> f64 {
    LEAST_PART * (1.0 - within) + within
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: in full from the top until the share is reached, each group of ties at once.
    fn parts_by_sorting(rows: &[(f64, u64)], max_fpr: f64) -> Vec<f64> {
        let total: u64 = rows.iter().map(|row| row.1).sum();
        let of_row = |&(score, _): &(f64, u64)| {
            let sum = |is_in: &dyn Fn(f64) -> bool| -> u64 {
                rows.iter().filter(|row| is_in(row.0)).map(|row| row.1).sum()
            };
            let (above, tied) = (sum(&|other| other > score), sum(&|other| other == score));
            let within = ((max_fpr * total as f64 - above as f64) / tied as f64).clamp(0.0, 1.0);
            0.3 * (1.0 - within) + within
        };
        rows.iter().map(of_row).collect()
    }

    fn rows() -> impl Strategy<Value = Vec<(f64, u64)>> {
        prop::collection::vec((-4_i32..5, 1_u64..6), 1..40).prop_map(|rows| {
            let score = |level: i32| if level == 0 { -0.0 } else { f64::from(level % 3) * 0.5 };
            rows.into_iter().map(|(level, weight)| (score(level), weight)).collect()
        })
    }

    proptest! {
        #[test]
        fn rows_count_in_full_from_the_highest_score_up_to_the_share(
            rows in rows(), max_fpr in prop_oneof![Just(0.25), Just(0.5), 0.001..1.0]
        ) {
            let top = TopNegatives::of(rows.clone(), max_fpr);
            for (found, expected) in rows.iter().map(|row| top.part(row.0)).zip(parts_by_sorting(&rows, max_fpr)) {
                prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
            }
        }

        #[test]
        fn order_does_not_matter_and_weights_are_copies(rows in rows(), max_fpr in 0.01..1.0) {
            let found = TopNegatives::of(rows.clone(), max_fpr);
            let copies = rows.iter().rev().flat_map(|&(score, n)| (0..n).map(move |_| (score, 1)));
            let copied = TopNegatives::of(copies.collect(), max_fpr);
            prop_assert_eq!(found.part(0.5).to_bits(), copied.part(0.5).to_bits());
            prop_assert_eq!(found, copied);
        }
    }

    #[test]
    fn a_share_is_above_0_and_at_most_1() {
        assert_eq!(check_max_fpr(1.0), Ok(()));
        for bad in [0.0, -0.1, 1.5, f64::NAN] {
            let message = check_max_fpr(bad).unwrap_err().to_string();
            assert!(message.starts_with("max_fpr is"), "{message}");
        }
    }
}
