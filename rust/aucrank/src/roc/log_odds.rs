//! Calibration: log-odds as a linear function of a score.

use crate::parallel::prelude::*;

use super::curve::RocCurve;
use crate::data::ClassSums;

/// Maximum number of Newton steps; it takes about ten.
const MOST_STEPS: usize = 100;

/// Maximum number of times a step without improvement is halved.
const MOST_HALVINGS: i32 = 30;

/// Groups summed by one task. Partial sums are added in order, so the number of threads does not
/// matter.
const CHUNK: usize = 1 << 13;

/// Squared Newton decrement, for weights that add up to 1, below which a step is the last:
/// convergence is quadratic, and rounding errors of the loss are near.
const LAST_DECREMENT: f64 = 1e-12;

/// Number of merged groups for an initial fit if there are many times more.
const FEW_GROUPS: usize = 1 << 12;

/// How many times more.
const MANY: usize = 4;

/// A line `intercept + slope * score`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub intercept: f64,
    pub slope: f64,
}

impl Line {
    /// The most likely line of the scores of a curve; `class_rows` are the numbers of negative and
    /// positive rows.
    pub(crate) fn of_log_odds(curve: &RocCurve, class_rows: [u64; 2]) -> Self {
        log_odds_line(&groups_of(curve), class_rows)
    }

    /// The most likely line of rows with finite scores, grouped by their score, ascending;
    /// `class_rows` are the numbers of negative and positive rows.
    pub(crate) fn of_groups(groups: &[(f64, ClassSums)], class_rows: [u64; 2]) -> Self {
        log_odds_line(groups, class_rows)
    }

    /// The log-odds at a score.
    pub(crate) fn at(self, score: f64) -> f64 {
        self.intercept + self.slope * score
    }
}

/// The rows of each score, ascending.
fn groups_of(curve: &RocCurve) -> Vec<(f64, ClassSums)> {
    let (pos, neg) = (curve.true_positives(), curve.false_positives());
    let group = |knot: usize| {
        let sums =
            ClassSums { pos: pos[knot] - pos[knot - 1], neg: neg[knot] - neg[knot - 1], rows: 0 };
        (curve.thresholds()[knot], sums)
    };
    (1..pos.len()).rev().map(group).collect()
}

/// Rows of one score: its position on the axis of the fit, and the weights of both classes.
struct Group {
    x: f64,
    pos: f64,
    neg: f64,
}

/// The log-odds of the positive class along a score, by maximum likelihood with the targets of
/// Platt: `(P + 1)/(P + 2)` for positive rows and `1/(N + 2)` for negative ones, so that a score
/// without mistakes has a finite slope too. `P` and `N` are numbers of rows, as in [`ClassSums`]:
/// weights that are not counts do not change the targets.
///
/// The slope is 0 if it would be negative or all scores are equal; the line is then the log-odds of
/// the mean target.
///
/// Platt, "Probabilistic outputs for support vector machines and comparisons to regularized
/// likelihood methods", Advances in Large Margin Classifiers, 1999; Newton's method as of Lin, Lin
/// and Weng, "A note on Platt's probabilistic outputs for support vector machines", Machine Learning
/// 68(3), 2007.
///
/// `groups` are rows of one finite score each, in a fixed order; `class_rows` are the numbers of
/// negative and positive rows.
fn log_odds_line(groups: &[(f64, ClassSums)], class_rows: [u64; 2]) -> Line {
    let total: ClassSums = groups.iter().map(|&(_, sums)| sums).sum();
    let whole = (total.pos + total.neg) as f64;
    let [n_neg, n_pos] = class_rows.map(|rows| rows as f64);
    let targets = [1.0 / (n_neg + 2.0), (n_pos + 1.0) / (n_pos + 2.0)];
    let mean = (total.pos as f64 * targets[1] + total.neg as f64 * targets[0]) / whole;
    let flat = Line { intercept: (mean / (1.0 - mean)).ln(), slope: 0.0 };

    let scores = || groups.iter().map(|group| group.0);
    let (low, high) = scores()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), s| (low.min(s), high.max(s)));
    let range = high - low;
    if !(range.is_finite() && range > f64::MIN_POSITIVE) {
        return flat;
    }
    // Standardised, so that both components of a step have similar magnitude.
    let mut groups: Vec<Group> = groups
        .iter()
        .map(|&(score, sums)| Group {
            x: (score - low) / range,
            pos: sums.pos as f64 / whole,
            neg: sums.neg as f64 / whole,
        })
        .collect();
    let [mean, square, ..] = sums_of(&groups, |group| {
        let weight = group.pos + group.neg;
        [weight * group.x, weight * group.x * group.x, 0.0, 0.0, 0.0, 0.0]
    });
    let deviation = (square - mean * mean).max(0.0).sqrt();
    if deviation <= f64::EPSILON {
        return flat;
    }
    for group in &mut groups {
        group.x = (group.x - mean) / deviation;
    }

    // Newton's method starts from the line fitted to few groups, which is close to that of all.
    let start = (flat.intercept, 0.0);
    let start = if groups.len() > MANY * FEW_GROUPS {
        most_likely(&joined(&groups, groups.len().div_ceil(FEW_GROUPS)), targets, start)
    } else {
        start
    };
    let (a, b) = most_likely(&groups, targets, start);
    let slope = b / deviation / range;
    if !(slope > 0.0 && slope.is_finite()) {
        return flat;
    }
    Line { intercept: a - b * mean / deviation - slope * low, slope }
}

/// Merges each run of `n_joined` neighbours into one group, at their weighted mean.
fn joined(groups: &[Group], n_joined: usize) -> Vec<Group> {
    let join = |groups: &[Group]| {
        let [pos, neg, moment] = groups.iter().fold([0.0; 3], |[pos, neg, moment], group| {
            [pos + group.pos, neg + group.neg, moment + (group.pos + group.neg) * group.x]
        });
        // The position of a group without weight is irrelevant.
        let x = if pos + neg > 0.0 { moment / (pos + neg) } else { 0.0 };
        Group { x, pos, neg }
    };
    groups.chunks(n_joined).map(join).collect()
}

/// The maximum likelihood line `a + b x`, by Newton's method from a given start.
fn most_likely(groups: &[Group], targets: [f64; 2], (mut a, mut b): (f64, f64)) -> (f64, f64) {
    // The loss, its gradient and its Hessian.
    let at = |a: f64, b: f64| {
        sums_of(groups, |&Group { x, pos, neg }| {
            let z = a + b * x;
            let small = (-z.abs()).exp();
            let (larger, smaller) = (1.0 / (1.0 + small), small / (1.0 + small));
            let p = if z >= 0.0 { larger } else { smaller };
            let log1p = z.max(0.0) + small.ln_1p();
            let loss = pos * (log1p - targets[1] * z) + neg * (log1p - targets[0] * z);
            let gradient = pos * (p - targets[1]) + neg * (p - targets[0]);
            let curvature = (pos + neg) * larger * smaller;
            [loss, gradient, gradient * x, curvature, curvature * x, curvature * x * x]
        })
    };
    let mut here = at(a, b);
    for _ in 0..MOST_STEPS {
        let [loss, ga, gb, haa, hab, hbb] = here;
        let determinant = haa * hbb - hab * hab;
        let step_a = (hab * gb - hbb * ga) / determinant;
        let step_b = (hab * ga - haa * gb) / determinant;
        let decrement = -(ga * step_a + gb * step_b);
        if !decrement.is_finite() {
            break; // The curvature is gone.
        }
        if decrement < LAST_DECREMENT {
            (a, b) = (a + step_a, b + step_b);
            break;
        }
        let shares = (0..MOST_HALVINGS).map(|halvings| 0.5_f64.powi(halvings));
        let mut tried = shares.map(|share| {
            let (a, b) = (a + share * step_a, b + share * step_b);
            (a, b, at(a, b))
        });
        let Some(better) = tried.find(|(_, _, sums)| sums[0] < loss) else { break };
        drop(tried);
        (a, b, here) = better;
    }
    (a, b)
}

/// Sums over all groups, the same for any number of threads.
fn sums_of(groups: &[Group], of: impl Fn(&Group) -> [f64; 6] + Sync) -> [f64; 6] {
    let add = |mut sums: [f64; 6], more: [f64; 6]| {
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        sums
    };
    let chunk = |groups: &[Group]| groups.iter().map(&of).fold([0.0; 6], add);
    let chunks: Vec<[f64; 6]> = groups.par_chunks(CHUNK).map(chunk).collect();
    chunks.into_iter().fold([0.0; 6], add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn sums(pos: u64, neg: u64) -> ClassSums {
        ClassSums { pos, neg, rows: pos + neg }
    }

    fn line(groups: &[(f64, ClassSums)]) -> Line {
        let total: ClassSums = groups.iter().map(|&(_, sums)| sums).sum();
        log_odds_line(groups, [total.neg, total.pos])
    }

    /// The gradient of the likelihood by its definition, for rows that count once each.
    fn gradient(groups: &[(f64, ClassSums)], line: Line) -> [f64; 2] {
        let total: ClassSums = groups.iter().map(|&(_, sums)| sums).sum();
        let (n_pos, n_neg) = (total.pos as f64, total.neg as f64);
        let mut gradient = [0.0, 0.0];
        for &(score, sums) in groups {
            let p = 1.0 / (1.0 + (-(line.intercept + line.slope * score)).exp());
            let of_pos = sums.pos as f64 * (p - (n_pos + 1.0) / (n_pos + 2.0));
            let of_neg = sums.neg as f64 * (p - 1.0 / (n_neg + 2.0));
            gradient[0] += of_pos + of_neg;
            gradient[1] += score * (of_pos + of_neg);
        }
        gradient
    }

    #[test]
    fn no_other_line_is_more_likely() {
        for seed in 0..202 {
            // The last ones have so many groups that an initial fit is made.
            let most = if seed < 200 { 40 } else { 5 * (FEW_GROUPS * MANY) as u64 };
            let n_groups = if seed < 200 { 2 + mix(seed) % most } else { most };
            let groups: Vec<(f64, ClassSums)> = (0..n_groups)
                .map(|group| {
                    let r = mix(1000 * seed + group);
                    let pos = r % 7 + group;
                    let neg = (r >> 8) % 9 + (n_groups - group);
                    (group as f64 * (40.0 / most as f64) / 3.0 - 2.0, sums(pos, neg))
                })
                .collect();
            let line = line(&groups);
            assert!(line.slope > 0.0, "seed {seed}");
            let n_rows: u64 = groups.iter().map(|(_, sums)| sums.rows).sum();
            for part in gradient(&groups, line) {
                assert!(part.abs() < 1e-9 * n_rows as f64, "seed {seed}: {part}");
            }
        }
    }

    #[test]
    fn two_scores_without_a_mistake_have_the_targets() {
        // Two free parameters fit both targets: (P + 1)/(P + 2) and 1/(N + 2).
        let line = line(&[(-1.0, sums(0, 6)), (3.0, sums(8, 0))]);
        let at = |score: f64| 1.0 / (1.0 + (-(line.intercept + line.slope * score)).exp());
        assert!((at(3.0) - 9.0 / 10.0).abs() < 1e-11, "{line:?}");
        assert!((at(-1.0) - 1.0 / 8.0).abs() < 1e-11, "{line:?}");
    }

    #[test]
    fn where_nothing_ranks_the_line_is_flat_at_the_mean_target() {
        let expected = {
            let mean = (3.0 * 4.0 / 5.0 + 9.0 / 11.0) / 12.0_f64;
            (mean / (1.0 - mean)).ln()
        };
        let one_score = line(&[(0.5, sums(3, 9))]);
        let reversed = line(&[(0.0, sums(3, 0)), (1.0, sums(0, 9))]);
        for found in [one_score, reversed] {
            assert_eq!(found.slope.to_bits(), 0.0_f64.to_bits());
            assert!((found.intercept - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn a_line_moves_with_its_scores() {
        let groups = [(0.0, sums(1, 9)), (1.0, sums(4, 5)), (2.0, sums(7, 2)), (5.0, sums(1, 0))];
        let found = line(&groups);
        for (scale, shift) in [(1e-30, 0.0), (1e30, 0.0), (3.0, -1e3), (1e-3, 7.0)] {
            let moved = line(&groups.map(|(score, sums)| (scale * score + shift, sums)));
            let slope = found.slope / scale;
            assert!((moved.slope / slope - 1.0).abs() < 1e-7, "{scale} {shift}: {moved:?}");
            let at_low = moved.intercept + moved.slope * shift;
            assert!((at_low - found.intercept).abs() < 1e-7, "{scale} {shift}: {moved:?}");
        }
    }

    #[test]
    fn weights_that_are_no_counts_may_be_of_any_size() {
        let of = |unit: u64| {
            let groups = [(0.0, 1, 9), (1.0, 4, 5), (2.0, 7, 2)]
                .map(|(s, pos, neg)| (s, ClassSums { pos: pos * unit, neg: neg * unit, rows: 3 }));
            log_odds_line(&groups, [6, 3])
        };
        assert_eq!(of(1), of(1 << 40));
    }

    #[test]
    fn the_number_of_threads_changes_no_bit() {
        let groups: Vec<(f64, ClassSums)> = (0..50_000_u64)
            .map(|group| {
                (group as f64 / 1e3, sums(mix(group) % 3 + group / 20_000, mix(!group) % 4))
            })
            .collect();
        let on = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
            pool.install(|| line(&groups))
        };
        assert_eq!(on(1), on(4));
        assert!(on(1).slope > 0.0);
    }

    #[test]
    fn one_row_of_a_class_is_enough() {
        for groups in [
            [(0.0, sums(0, 1_000_000)), (1.0, sums(1, 0))],
            [(0.0, sums(0, 1)), (1.0, sums(1_000_000, 0))],
            [(0.0, sums(0, 1)), (1.0, sums(1, 0))],
        ] {
            let line = line(&groups);
            assert!(line.slope > 0.0 && line.slope.is_finite() && line.intercept.is_finite());
            for part in gradient(&groups, line) {
                assert!(part.abs() < 1e-6, "{part}");
            }
        }
    }
}
