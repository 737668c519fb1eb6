//! The best cut of a number in a node, by sums that run over its codes.

use super::split_criterion::{BestCut, NodeToSplit, Side, SplitCriterion};
use super::sums::{CODES, CodeSums, PackedSums};

/// Number of cuts evaluated at a time.
const LANES: usize = 8;

/// A cut whose value, times this, is below that of the best one cannot be better, despite rounding
/// of the product.
const SLACK: f64 = 1.0 + 1e-14;

/// Sums below each cut of a feature in a node.
#[derive(Debug)]
pub(super) struct RunningSums {
    /// Sums of all known values below each cut.
    below: [PackedSums; CODES],
    /// The codes of the cuts.
    bounds: [u16; CODES],
    /// Number of cuts.
    n_cuts: usize,
    /// Sums of missing values.
    missing: PackedSums,
    /// Number of known and of missing values.
    n_rows: [u64; 2],
    /// Values below each cut; counted by [`RunningSums::of_rows`] only.
    n_below: [u32; CODES],
}

impl Default for RunningSums {
    fn default() -> Self {
        Self {
            below: [PackedSums::default(); CODES],
            bounds: [0; CODES],
            n_cuts: 0,
            missing: PackedSums::default(),
            n_rows: [0; 2],
            n_below: [0; CODES],
        }
    }
}

impl RunningSums {
    /// From sums by code, the missing one last. `false` if all values are missing.
    pub(super) fn of_bins(&mut self, bins: &[PackedSums]) -> bool {
        let Some((&missing, known)) = bins.split_last() else { return false };
        self.missing = missing;
        let Some(first) = known.iter().position(|sums| !sums.is_empty()) else { return false };
        // A cut comes after each code with rows but the last.
        let last = known.iter().rposition(|sums| !sums.is_empty()).unwrap_or(first);
        self.n_cuts = last - first;
        let mut below = PackedSums::default();
        let places = self.below.iter_mut().zip(&mut self.bounds).zip(&known[first..last]);
        for (bound, ((place, place_of_bound), &sums)) in (first as u16 + 1..).zip(places) {
            below.add(sums);
            (*place, *place_of_bound) = (below, bound);
        }
        true
    }

    /// From few rows, which are taken out; `missing` is the code of missing values. `false` if all
    /// values are missing.
    pub(super) fn of_rows(&mut self, rows: &mut CodeSums, missing: usize) -> bool {
        (self.n_cuts, self.missing, self.n_rows) = (0, PackedSums::default(), [0; 2]);
        let mut below = PackedSums::default();
        rows.drain(|code, sums, count| {
            if code == missing {
                (self.missing, self.n_rows[1]) = (sums, u64::from(count));
                return;
            }
            below.add(sums);
            self.n_rows[0] += u64::from(count);
            self.below[self.n_cuts] = below;
            self.bounds[self.n_cuts] = code as u16 + 1;
            self.n_below[self.n_cuts] = self.n_rows[0] as u32;
            self.n_cuts += 1;
        });
        // There is no cut after the last code.
        let has_known = self.n_cuts > 0;
        self.n_cuts -= usize::from(has_known);
        has_known
    }

    /// The best cut, of ties the one that [`ThresholdCriterion::best_of_feature`] considers first.
    /// If the rows are counted, each side has enough of them.
    pub(super) fn best_cut(
        &self,
        criterion: &SplitCriterion,
        node: &NodeToSplit,
        n_bins: usize,
        are_counted: bool,
    ) -> Option<BestCut> {
        let [n_known, n_missing] = self.n_rows;
        let least = if are_counted { criterion.min_rows } else { 0 };
        // With `on_left` missing rows on the left, the others on the right.
        let best = |missing: PackedSums, on_left: u64| {
            let range = if are_counted {
                let counts = &self.n_below[..self.n_cuts];
                let lacks_left = |&count: &u32| u64::from(count) + on_left < least;
                let has_right = |&count: &u32| node.rows - u64::from(count) - on_left >= least;
                counts.partition_point(lacks_left)..counts.partition_point(has_right)
            } else {
                0..self.n_cuts
            };
            let below = self.below.get(range.clone()).unwrap_or_default();
            let (value, place) = best_place(criterion, node, below, missing)?;
            Some((value, range.start + place))
        };
        let cut = |(value, place): (f64, usize), missing_left: bool| {
            let mut left = self.below[place];
            if missing_left {
                left.add(self.missing);
            }
            BestCut { value, bound: self.bounds[place].into(), missing_left, left: left.sums() }
        };
        let apart = best(PackedSums::default(), 0);
        if self.missing.is_empty() {
            let mut best = cut(apart?, false);
            best.missing_left = 2 * best.left.hessian >= node.sums.hessian;
            return Some(best);
        }
        let together = best(self.missing, n_missing);
        let mut best = match (together, apart) {
            (Some(a), Some(b)) if b.0 > a.0 || (b.0 >= a.0 && b.1 < a.1) => Some(cut(b, false)),
            (Some(a), _) => Some(cut(a, true)),
            (None, b) => b.map(|b| cut(b, false)),
        };
        let known = node.sums - self.missing.sums();
        if (!are_counted || n_known.min(n_missing) >= least)
            && let Some(value) = criterion.value(node, Side { sums: known, rows: 0 })
            && best.as_ref().is_none_or(|best| value > best.value)
        {
            best = Some(BestCut { value, bound: n_bins as u32, missing_left: false, left: known });
        }
        best
    }
}

/// The greatest value of two sides and its first place, given the sums on the left of each cut,
/// without the missing values to add.
fn best_place(
    criterion: &SplitCriterion,
    node: &NodeToSplit,
    below: &[PackedSums],
    missing: PackedSums,
) -> Option<(f64, usize)> {
    let (gradient, hessian) = (node.sums.gradient as f64, node.sums.hessian as f64);
    // The parts of the quotient of `Criterion::value`, in the same order of operations.
    let parts = |mut left: PackedSums| {
        left.add(missing);
        let (left_gradient, left_hessian) = left.numbers();
        let right_gradient = gradient - left_gradient;
        let left = left_hessian + criterion.l2;
        let right = (hessian - left_hessian) + criterion.l2;
        let above = left_gradient * left_gradient * right + right_gradient * right_gradient * left;
        (above, left * right)
    };
    let mut best: Option<(f64, usize)> = None;
    let mut floor = f64::NEG_INFINITY;
    for (block, below) in below.chunks(LANES).enumerate() {
        // The last block is padded with its last cut, which changes nothing.
        let mut padded = [PackedSums::default(); LANES];
        let below = below.first_chunk::<LANES>().unwrap_or_else(|| {
            padded.fill(below[below.len() - 1]);
            padded[..below.len()].copy_from_slice(below);
            &padded
        });
        let (mut above, mut under) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            (above[lane], under[lane]) = parts(below[lane]);
        }
        // A product instead of a quotient: a block without a better cut is not divided. Values that
        // are compared are still quotients, as in `SplitCriterion::value`, so that both searches
        // find the same cut.
        let is_close = |lane: usize| u8::from(above[lane] > floor * under[lane]);
        if (0..LANES).fold(0, |any, lane| any | is_close(lane)) != 0 {
            for lane in 0..LANES {
                let value = above[lane] / under[lane];
                if best.is_none_or(|best| value > best.0) {
                    best = Some((value, block * LANES + lane));
                    floor = value / SLACK;
                }
            }
        }
    }
    best
}
