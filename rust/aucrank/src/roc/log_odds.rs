//! Calibration: log-odds as a linear function of a score.

use crate::parallel::prelude::*;

use super::curve::RocCurve;
use crate::data::{ClassSums, logistic};

/// Maximum number of Newton steps; it takes about ten.
const MOST_STEPS: usize = 100;

/// Maximum number of times a step without improvement is halved.
const MOST_HALVINGS: i32 = 30;

/// Groups summed by one task. Partial sums are added in order, so the number of threads does not
/// matter.
const CHUNK: usize = 1 << 13;

/// Groups that are read at a time if they are not held in memory.
const BLOCK: usize = 32 * CHUNK;

/// Groups that are held in memory although they could be read again: 24 MB.
const MOST_HELD: usize = 1 << 20;

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
        let (pos, neg) = (curve.true_positives(), curve.false_positives());
        let group = |knot: usize| {
            let masses = [neg[knot] - neg[knot - 1], pos[knot] - pos[knot - 1]];
            (curve.thresholds()[knot], masses.map(|mass| mass as f64))
        };
        log_odds_line((1..pos.len()).rev().map(group), class_rows, usize::MAX)
    }

    /// The most likely line of rows with finite scores, grouped by their score, ascending;
    /// `class_rows` are the numbers of negative and positive rows.
    pub(crate) fn of_groups(groups: &[(f64, ClassSums)], class_rows: [u64; 2]) -> Self {
        let masses =
            |&(score, sums): &(f64, ClassSums)| (score, [sums.neg as f64, sums.pos as f64]);
        log_odds_line(groups.iter().map(masses), class_rows, usize::MAX)
    }

    /// The line of [`Line::of_groups`] if a row counts by the factor of its class, negative and
    /// positive. A target of Platt is the chance that a row like this one is positive, so that the
    /// part of each row that is of the other class counts by the factor of that one: if all rows
    /// are of one class, however light, the line does not imply that they outweigh the other.
    pub(crate) fn of_weighted_classes(
        groups: &[(f64, ClassSums)],
        class_rows: [u64; 2],
        factors: [f64; 2],
    ) -> Self {
        let parts = platt_targets(class_rows)
            .map(|target| [(1.0 - target) * factors[0], target * factors[1]]);
        let [neg, pos] = parts.map(|[neg, pos]| neg + pos);
        let targets = parts.map(|[neg, pos]| pos / (neg + pos));
        let masses = |&(score, sums): &(f64, ClassSums)| {
            (score, [sums.neg as f64 * neg, sums.pos as f64 * pos])
        };
        line_to_targets(groups.iter().map(masses), targets, usize::MAX)
    }

    /// The same line as [`Line::of_groups`], of groups that can be iterated repeatedly, with the
    /// weights of the negative and of the positive rows of each. At most about [`MOST_HELD`] of
    /// them are in memory at a time.
    pub(crate) fn of_streamed(
        groups: impl Iterator<Item = (f64, [f64; 2])> + Clone,
        class_rows: [u64; 2],
    ) -> Self {
        log_odds_line(groups, class_rows, MOST_HELD)
    }

    /// The line with a share of its slope, and the same mean probability of the groups.
    pub(crate) fn with_less_slope(self, share: f64, groups: &[(f64, ClassSums)]) -> Self {
        let slope = share * self.slope;
        let sum = |line: Self| -> f64 {
            let of_group = |&(score, sums): &(f64, ClassSums)| {
                (sums.pos + sums.neg) as f64 * logistic(line.at(score))
            };
            groups.iter().map(of_group).sum()
        };
        let target = sum(self);
        // Between the intercepts that pass through the old line at either end.
        let ends = groups.iter().map(|&(score, _)| self.at(score) - slope * score);
        let (mut low, mut high) = ends
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| {
                (low.min(end), high.max(end))
            });
        for _ in 0..f64::MANTISSA_DIGITS {
            let intercept = f64::midpoint(low, high);
            if sum(Self { intercept, slope }) < target {
                low = intercept;
            } else {
                high = intercept;
            }
        }
        Self { intercept: f64::midpoint(low, high), slope }
    }

    /// The log-odds at a score.
    pub(crate) fn at(self, score: f64) -> f64 {
        self.intercept + self.slope * score
    }
}

/// Rows of one score: its position on the axis of the fit, and the weights of both classes.
#[derive(Clone, Copy)]
struct TiedRows {
    x: f64,
    pos: f64,
    neg: f64,
}

/// The axis of the fit, along which scores are standardised.
#[derive(Debug, Clone, Copy)]
struct FitAxis {
    low: f64,
    range: f64,
    mean: f64,
    deviation: f64,
    /// Weight of all rows.
    whole: f64,
}

impl FitAxis {
    fn group(&self, (score, [neg, pos]): (f64, [f64; 2])) -> TiedRows {
        let x = (score - self.low) / self.range;
        TiedRows {
            x: (x - self.mean) / self.deviation,
            pos: pos / self.whole,
            neg: neg / self.whole,
        }
    }
}

/// Groups that are summed over.
trait SummedGroups {
    /// Sums over all groups, the same for any number of threads.
    fn sums_of(&self, of: impl Fn(&TiedRows) -> [f64; 6] + Sync) -> [f64; 6];
}

impl SummedGroups for [TiedRows] {
    fn sums_of(&self, of: impl Fn(&TiedRows) -> [f64; 6] + Sync) -> [f64; 6] {
        add_chunks([0.0; 6], self, &of)
    }
}

/// Groups that are computed anew each time.
struct Streamed<I> {
    groups: I,
    axis: FitAxis,
}

impl<I: Iterator<Item = (f64, [f64; 2])> + Clone> SummedGroups for Streamed<I> {
    fn sums_of(&self, of: impl Fn(&TiedRows) -> [f64; 6] + Sync) -> [f64; 6] {
        let mut groups = self.groups.clone().map(|group| self.axis.group(group));
        let (mut sums, mut block) = ([0.0; 6], Vec::with_capacity(BLOCK));
        loop {
            block.clear();
            block.extend(groups.by_ref().take(BLOCK));
            if block.is_empty() {
                return sums;
            }
            sums = add_chunks(sums, &block, &of);
        }
    }
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
/// and Weng, "A note on Platt's probabilistic outputs for support vector machines", Machine
/// Learning 68(3), 2007.
///
/// `groups` are rows of one finite score each, ascending, with the weights of the negative and of
/// the positive ones; `class_rows` are the numbers of negative and positive rows. More than
/// `most_held` groups are not held in memory, but iterated anew for each sum.
fn log_odds_line(
    groups: impl Iterator<Item = (f64, [f64; 2])> + Clone,
    class_rows: [u64; 2],
    most_held: usize,
) -> Line {
    line_to_targets(groups, platt_targets(class_rows), most_held)
}

/// The chance that a row is positive, for negative and for positive rows.
fn platt_targets(class_rows: [u64; 2]) -> [f64; 2] {
    let [n_neg, n_pos] = class_rows.map(|rows| rows as f64);
    [1.0 / (n_neg + 2.0), (n_pos + 1.0) / (n_pos + 2.0)]
}

/// As [`log_odds_line`], with targets of the rows of each class.
fn line_to_targets(
    groups: impl Iterator<Item = (f64, [f64; 2])> + Clone,
    targets: [f64; 2],
    most_held: usize,
) -> Line {
    let (mut n_groups, mut total) = (0_usize, [0.0; 2]);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (score, [neg, pos]) in groups.clone() {
        (low, high) = (low.min(score), high.max(score));
        // Whole numbers below 2^53: no sum is rounded.
        total = [total[0] + neg, total[1] + pos];
        n_groups += 1;
    }
    let whole = total[0] + total[1];
    let mean = (total[1] * targets[1] + total[0] * targets[0]) / whole;
    let flat = Line { intercept: (mean / (1.0 - mean)).ln(), slope: 0.0 };
    let range = high - low;
    if !(range.is_finite() && range > f64::MIN_POSITIVE) {
        return flat;
    }
    // Standardised, so that both components of a step have similar magnitude.
    let axis = FitAxis { low, range, mean: 0.0, deviation: 1.0, whole };
    let [mean, square, ..] = Streamed { groups: groups.clone(), axis }.sums_of(|group| {
        let weight = group.pos + group.neg;
        [weight * group.x, weight * group.x * group.x, 0.0, 0.0, 0.0, 0.0]
    });
    let deviation = (square - mean * mean).max(0.0).sqrt();
    if deviation <= f64::EPSILON {
        return flat;
    }
    let axis = FitAxis { mean, deviation, ..axis };

    // Newton's method starts from the line fitted to few groups, which is close to that of all.
    let start = flat;
    let start = if n_groups > MANY * FEW_GROUPS {
        let standardised = groups.clone().map(|group| axis.group(group));
        let few = joined(standardised, n_groups.div_ceil(FEW_GROUPS));
        most_likely(&few[..], targets, start)
    } else {
        start
    };
    let Line { intercept: a, slope: b } = if n_groups <= most_held {
        let held: Vec<TiedRows> = groups.map(|group| axis.group(group)).collect();
        most_likely(&held[..], targets, start)
    } else {
        most_likely(&Streamed { groups, axis }, targets, start)
    };
    let slope = b / deviation / range;
    if !(slope > 0.0 && slope.is_finite()) {
        return flat;
    }
    Line { intercept: a - b * mean / deviation - slope * low, slope }
}

/// Merges each run of `n_joined` neighbours into one group, at their weighted mean.
fn joined(mut groups: impl Iterator<Item = TiedRows>, n_joined: usize) -> Vec<TiedRows> {
    let mut few = Vec::new();
    loop {
        let mut run = groups.by_ref().take(n_joined).peekable();
        if run.peek().is_none() {
            return few;
        }
        let [pos, neg, moment] = run.fold([0.0; 3], |[pos, neg, moment], group| {
            [pos + group.pos, neg + group.neg, moment + (group.pos + group.neg) * group.x]
        });
        // The position of a group without weight is irrelevant.
        let x = if pos + neg > 0.0 { moment / (pos + neg) } else { 0.0 };
        few.push(TiedRows { x, pos, neg });
    }
}

/// The maximum likelihood line `a + b x`, by Newton's method from a given start.
fn most_likely<G: SummedGroups + ?Sized>(groups: &G, targets: [f64; 2], start: Line) -> Line {
    let Line { intercept: mut a, slope: mut b } = start;
    // The loss, its gradient and its Hessian.
    let at = |a: f64, b: f64| {
        groups.sums_of(|&TiedRows { x, pos, neg }| {
            let z = a + b * x;
            let small = (-z.abs()).exp();
            // The exponential of a number below 0 only: it cannot overflow, and `1 - p` does not
            // cancel where p is near 1 (Lin, Lin and Weng, 2007).
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
            break; // The curvature vanishes.
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
        // Full Newton steps may diverge from a flat start where the classes are nearly separated; a
        // step that does not lower the loss is halved. If none does, rounding is all that is left.
        let Some(better) = tried.find(|(_, _, sums)| sums[0] < loss) else { break };
        drop(tried);
        (a, b, here) = better;
    }
    Line { intercept: a, slope: b }
}

/// Adds the sums of chunks of groups to those of the groups before, chunk by chunk.
fn add_chunks(
    before: [f64; 6],
    groups: &[TiedRows],
    of: &(impl Fn(&TiedRows) -> [f64; 6] + Sync),
) -> [f64; 6] {
    let add = |mut sums: [f64; 6], more: [f64; 6]| {
        sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        sums
    };
    let chunk = |groups: &[TiedRows]| groups.iter().map(of).fold([0.0; 6], add);
    let chunks: Vec<[f64; 6]> = groups.par_chunks(CHUNK).map(chunk).collect();
    chunks.into_iter().fold(before, add)
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
        Line::of_groups(groups, [total.neg, total.pos])
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
    fn less_slope_leaves_the_mean_probability() {
        let groups = [(-2.0, sums(1, 9)), (0.5, sums(5, 6)), (4.0, sums(30, 2))];
        let line = line(&groups);
        let mean = |line: Line| -> f64 {
            let p = |score: f64| 1.0 / (1.0 + (-(line.intercept + line.slope * score)).exp());
            groups.iter().map(|&(score, sums)| sums.rows as f64 * p(score)).sum()
        };
        for share in [0.0, 0.3, 0.9, 1.0] {
            let less = line.with_less_slope(share, &groups);
            assert_eq!(less.slope.to_bits(), (share * line.slope).to_bits());
            assert!((mean(less) - mean(line)).abs() < 1e-12, "{less:?}");
        }
        assert!((line.with_less_slope(1.0, &groups).intercept - line.intercept).abs() < 1e-13);
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
    fn without_a_ranking_the_line_is_flat_at_the_mean_target() {
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
            Line::of_groups(&groups, [6, 3])
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
    fn groups_that_are_not_held_have_the_same_line() {
        // More than are read at a time, which is not a multiple of what one task sums.
        let groups = (0..BLOCK as u64 + 12_345).map(|group| {
            let pos = mix(group) % 3 + group / 200_000;
            (group as f64 / 1e4, [mix(!group) % 4, pos].map(|mass| mass as f64))
        });
        let held = log_odds_line(groups.clone(), [9, 4], usize::MAX);
        assert_eq!(log_odds_line(groups, [9, 4], 0), held);
        assert!(held.slope > 0.0);
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
