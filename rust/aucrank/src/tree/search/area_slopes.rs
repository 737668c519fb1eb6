//! The area under the curve of a tree, and sums over leaves that bound it.
//!
//! The curve of leaves `(n, p)`, in order of eta, is concave: `ROC(u)` is the least value, over the
//! slopes `s`, of `s u` plus the sum of `max(p - s n, 0)`. With the slopes of another curve, the
//! *guide*, in place of its own, and integrated over `u`, this is a constant plus a sum over the
//! leaves: at least the area, whatever the tree and the guide, and equal to it if the tree has the
//! curve of the guide. So the tree with the largest sum bounds the area of all.

use crate::data::ClassSums;

/// A difference of areas of less is rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// A step of a curve: shares of all negative and of all positive rows.
pub(super) type CurveStep = [f64; 2];

/// The step of some rows, given the sums of all.
pub(super) fn step_of(sums: ClassSums, total: ClassSums) -> CurveStep {
    [sums.neg as f64 / total.neg as f64, sums.pos as f64 / total.pos as f64]
}

/// Where a step points: from 0, to the right, to 1, upwards.
#[inline]
fn direction([neg, pos]: CurveStep) -> f64 {
    pos / (neg + pos)
}

/// Sorts steps into a concave curve.
fn by_slope(steps: &mut [CurveStep]) {
    // Not by products across, whose rounding would not be transitive.
    steps.sort_by(|&a, &b| direction(b).total_cmp(&direction(a)));
}

/// The area under the concave curve of some steps, up to a false positive rate.
pub(super) fn area(steps: &mut [CurveStep], max_fpr: f64) -> f64 {
    by_slope(steps);
    let (mut u, mut height, mut area) = (0.0, 0.0, 0.0);
    for &[neg, pos] in &*steps {
        let width = neg.min(max_fpr - u);
        let share = if neg > 0.0 { width / neg } else { 1.0 };
        area += width * (height + 0.5 * share * pos);
        u += width;
        height += pos;
    }
    area
}

/// Number of equal parts of the directions by which steps of the guide are looked up.
const N_PARTS: usize = 512;

/// The slopes of a guide.
#[derive(Debug, Clone)]
pub(super) struct AreaSlopes {
    /// The directions `p / (n + p)` of the steps of the guide, ascending.
    directions: Vec<f64>,
    /// Sums of the steps before each direction, and of all.
    before: Vec<CurveStep>,
    /// For each part of the directions the first step in it.
    starts: Vec<u16>,
    constant: f64,
    /// Inverse total of each class.
    scales: [f64; 2],
}

impl AreaSlopes {
    /// From the steps of the guide, which add up to (1, 1), up to a false positive rate; `total`
    /// are the sums of all rows.
    pub(super) fn new(mut steps: Vec<CurveStep>, max_fpr: f64, total: ClassSums) -> Self {
        by_slope(&mut steps);
        let (mut u, mut constant) = (0.0, 0.0);
        let mut used = Vec::with_capacity(steps.len());
        for [neg, pos] in steps {
            let width = neg.min(max_fpr - u);
            if width > 0.0 {
                let height = pos * (width / neg);
                constant += height * (u + 0.5 * width);
                used.push([width, height]);
            }
            u += width;
        }
        used.reverse();
        let directions: Vec<f64> = used.iter().copied().map(direction).collect();
        let mut before = vec![[0.0; 2]];
        for (last, step) in used.iter().enumerate() {
            before.push([before[last][0] + step[0], before[last][1] + step[1]]);
        }
        let start = |part: usize| {
            let low = part as f64 / N_PARTS as f64;
            directions.partition_point(|&direction| direction < low) as u16
        };
        let starts = (0..=N_PARTS).map(start).collect();
        let scales = [(total.neg as f64).recip(), (total.pos as f64).recip()];
        Self { directions, before, starts, constant, scales }
    }

    /// The shares of some rows.
    #[inline]
    pub(super) fn step(&self, sums: ClassSums) -> CurveStep {
        [sums.neg as f64 * self.scales[0], sums.pos as f64 * self.scales[1]]
    }

    /// What a leaf adds to the bound.
    #[inline]
    pub(super) fn value(&self, sums: ClassSums) -> f64 {
        let [neg, pos] = self.step(sums);
        let direction = direction([neg, pos]);
        if direction.is_nan() {
            return 0.0;
        }
        let mut place = usize::from(self.starts[(direction * N_PARTS as f64) as usize]);
        while self.directions.get(place).is_some_and(|&other| other < direction) {
            place += 1;
        }
        let [of_neg, of_pos] = self.before[place];
        pos * of_neg - neg * of_pos
    }

    /// The bound on the area of a tree, given the sum of the values of its leaves.
    pub(super) fn bound(&self, sum: f64) -> f64 {
        self.constant + sum
    }
}

/// A curve that follows what a search finds: the mean of the curves added so far.
#[derive(Debug)]
pub(super) struct Guide {
    steps: Vec<CurveStep>,
    n_curves: u32,
}

impl Guide {
    pub(super) fn new(steps: Vec<CurveStep>) -> Self {
        Self { steps, n_curves: 1 }
    }

    /// Its slopes, as [`AreaSlopes::new`].
    pub(super) fn slopes(&self, max_fpr: f64, total: ClassSums) -> AreaSlopes {
        AreaSlopes::new(self.steps.clone(), max_fpr, total)
    }

    /// Adds a curve to the mean.
    pub(super) fn follow(&mut self, steps: Vec<CurveStep>) {
        self.n_curves += 1;
        let added = f64::from(self.n_curves).recip();
        self.steps.iter_mut().flatten().for_each(|part| *part *= 1.0 - added);
        self.steps.extend(steps.into_iter().map(|step| step.map(|part| added * part)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::mix;

    fn drawn(n: u64, seed: u64) -> Vec<ClassSums> {
        (0..n)
            .map(|i| ClassSums { pos: mix(seed ^ i) % 20, neg: mix(!seed ^ i) % 20, rows: 1 })
            .collect()
    }

    /// By the definition: the integral of the least line over all slopes, on a fine grid.
    fn area_by_grid(steps: &[CurveStep], max_fpr: f64) -> f64 {
        let n = 20_000;
        let mut sorted = steps.to_vec();
        by_slope(&mut sorted);
        let curve = |u: f64| {
            let (mut x, mut y) = (0.0, 0.0);
            for &[neg, pos] in &sorted {
                if x + neg >= u && neg > 0.0 {
                    return y + pos * (u - x) / neg;
                }
                x += neg;
                y += pos;
            }
            y
        };
        let width = max_fpr / f64::from(n);
        (0..n).map(|i| curve((f64::from(i) + 0.5) * width) * width).sum()
    }

    #[test]
    fn the_sum_of_a_tree_bounds_its_area_and_equals_it_for_its_own_guide() {
        for seed in 0..200 {
            let (tree, guide) = (drawn(6, 3 * seed), drawn(5, 3 * seed + 1));
            let total: ClassSums = tree.iter().copied().sum();
            let of_guide: ClassSums = guide.iter().copied().sum();
            for max_fpr in [1.0, 0.3] {
                let steps = |leaves: &[ClassSums], total: ClassSums| -> Vec<CurveStep> {
                    let share = |part: u64, all: u64| part as f64 / all as f64;
                    leaves
                        .iter()
                        .map(|l| [share(l.neg, total.neg), share(l.pos, total.pos)])
                        .collect()
                };
                let own = area(&mut steps(&tree, total), max_fpr);
                assert!((own - area_by_grid(&steps(&tree, total), max_fpr)).abs() < 1e-4);
                let bound = |guide: Vec<CurveStep>| {
                    let slopes = AreaSlopes::new(guide, max_fpr, total);
                    slopes.bound(tree.iter().map(|&leaf| slopes.value(leaf)).sum())
                };
                assert!(bound(steps(&guide, of_guide)) >= own - 1e-12);
                assert!((bound(steps(&tree, total)) - own).abs() < 1e-12);
            }
        }
    }
}
