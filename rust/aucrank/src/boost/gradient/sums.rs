//! Gradients and hessians as integers.

use std::ops::{Add, AddAssign, Sub, SubAssign};

use super::best_split::{BestCut, NodeToSplit, Side, SplitCriterion};

/// Number of codes of a feature; a code is a byte.
pub(super) const CODES: usize = 256;

/// A gradient of 1 in units: the maximum for log loss.
pub(super) const GRADIENT_UNITS: i32 = 1 << 20;

/// A hessian of 1 in units: hessians of log loss are at most a quarter of it.
pub(super) const HESSIAN_UNITS: i32 = 1 << 19;

/// Low bits of a [`PackedSums`] that hold the hessians.
const HESSIAN_BITS: u32 = 30;

/// Number of rows whose packed derivatives may be added up before either half overflows.
pub(super) const MOST_PACKED: usize = 8000;

/// Sum of the gradients and hessians of some rows, in units, times the masses of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct UnitSums {
    pub(super) gradient: i64,
    /// At least 1 for each row of positive mass, so that 0 means that there are no rows.
    pub(super) hessian: i64,
}

impl Add for UnitSums {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self { gradient: self.gradient + other.gradient, hessian: self.hessian + other.hessian }
    }
}

impl Sub for UnitSums {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { gradient: self.gradient - other.gradient, hessian: self.hessian - other.hessian }
    }
}

impl AddAssign for UnitSums {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for UnitSums {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl std::iter::Sum for UnitSums {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

impl UnitSums {
    /// From a row of mass 1, in units; both are rounded, but no hessian to 0.
    #[inline]
    pub(super) fn of(gradient: f64, hessian: f64) -> Self {
        Self {
            gradient: round(gradient * f64::from(GRADIENT_UNITS)),
            hessian: round(hessian * f64::from(HESSIAN_UNITS)).max(1),
        }
    }

    /// The derivatives of a row of this mass.
    #[inline]
    pub(super) fn times(self, mass: i64) -> Self {
        Self { gradient: self.gradient * mass, hessian: self.hessian * mass }
    }

    /// Whether there are no rows.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.hessian == 0
    }
}

/// Sums of the gradients and hessians of the rows of a leaf, and their mass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeafGradients {
    pub(super) sums: UnitSums,
    pub(super) mass: u64,
}

impl LeafGradients {
    pub(super) fn merge(&mut self, more: Self) {
        self.sums += more.sums;
        self.mass += more.mass;
    }
}

/// The nearest integer. `f64::round` is a function call if the processor may lack the instruction.
#[inline]
fn round(value: f64) -> i64 {
    (value + if value < 0.0 { -0.5 } else { 0.5 }) as i64
}

/// Both sums in one word, for rows of mass 1 and a loss whose derivatives are bounded like those of
/// log loss: a row is a single addition to a bin. At most [`MOST_PACKED`] rows may be added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PackedSums(u64);

impl PackedSums {
    #[inline]
    pub(super) fn add(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// The sum of at most [`MOST_PACKED`] rows.
    #[inline]
    pub(super) fn total(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum.add(part);
            sum
        })
    }

    /// Subtracts sums that were added.
    #[inline]
    pub(super) fn subtract(&mut self, other: Self) {
        self.0 = self.0.wrapping_sub(other.0);
    }

    /// Whether there are no rows.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Gradient and hessian as floats, by operations that can be vectorised, unlike conversions of
    /// 64-bit integers.
    #[inline]
    pub(super) fn numbers(self) -> (f64, f64) {
        // The bits of 2^52; an integer in the low bits is added to it.
        const BITS: u64 = 0x4330_0000_0000_0000;
        const SIGN: u64 = 1 << 63;
        let gradient = f64::from_bits((self.0 ^ SIGN) >> HESSIAN_BITS | BITS);
        let hessian = f64::from_bits(self.0 & ((1 << HESSIAN_BITS) - 1) | BITS);
        let two_to_52 = f64::from_bits(BITS);
        (gradient - (two_to_52 + (SIGN >> HESSIAN_BITS) as f64), hessian - two_to_52)
    }

    #[inline]
    pub(super) fn sums(self) -> UnitSums {
        UnitSums {
            // The shift alone gives the gradient, also below 0, since the hessians are a number
            // from 0 to 2^30: a row of log loss adds 2^17 to them at most, and 2^20 to the
            // gradients, whose 34 bits include the sign. 8000 rows fit both, 8192 neither.
            gradient: self.0 as i64 >> HESSIAN_BITS,
            hessian: (self.0 & ((1 << HESSIAN_BITS) - 1)) as i64,
        }
    }
}

impl From<UnitSums> for PackedSums {
    #[inline]
    fn from(sums: UnitSums) -> Self {
        Self(((sums.gradient << HESSIAN_BITS) + sums.hessian) as u64)
    }
}

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

/// Sums and numbers of few rows by code; empty between uses.
#[derive(Debug)]
pub(super) struct CodeSums {
    pub(super) sums: [PackedSums; CODES],
    pub(super) counts: [u32; CODES],
    /// A bit for each code that has rows.
    present: [u64; CODES / 64],
}

impl Default for CodeSums {
    fn default() -> Self {
        let sums = [PackedSums::default(); CODES];
        Self { sums, counts: [0; CODES], present: [0; CODES / 64] }
    }
}

impl CodeSums {
    /// Adds the rows of a node, given as code and derivatives.
    pub(super) fn add(&mut self, rows: impl Iterator<Item = (u8, PackedSums)>) {
        for (code, word) in rows {
            let code = usize::from(code);
            self.sums[code].add(word);
            self.counts[code] += 1;
            self.present[code / 64] |= 1 << (code % 64);
        }
    }

    /// Takes out the added sums, in the order of the codes.
    pub(super) fn drain(&mut self, mut each: impl FnMut(usize, PackedSums, u32)) {
        for (word, present) in self.present.iter_mut().enumerate() {
            let mut bits = std::mem::take(present);
            while bits != 0 {
                let code = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let count = std::mem::take(&mut self.counts[code]);
                each(code, std::mem::take(&mut self.sums[code]), count);
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_sums_are_the_sums_of_the_parts() {
        let extremes =
            [(1.0, 0.25), (-1.0, 0.25), (-1.0, 0.0), (1.0, 0.0), (-0.3, 0.2), (0.0, 0.1)];
        for (gradient, hessian) in extremes {
            let row = UnitSums::of(gradient, hessian);
            let (mut packed, mut plain) = (PackedSums::default(), UnitSums::default());
            for _ in 0..MOST_PACKED {
                packed.add(row.into());
                plain += row;
            }
            assert_eq!(packed.sums(), plain);
            assert_eq!(packed.numbers(), (plain.gradient as f64, plain.hessian as f64));
            packed.subtract(row.into());
            assert_eq!(packed.sums(), plain - row);
        }
    }

    #[test]
    fn derivatives_are_rounded_to_the_nearest_unit_and_no_hessian_to_zero() {
        let found = UnitSums::of(-1.0 / 3.0, 1e-9);
        assert_eq!(found, UnitSums { gradient: -349_525, hessian: 1 });
        assert_eq!(UnitSums::of(0.5, 0.25), UnitSums { gradient: 1 << 19, hessian: 1 << 17 });
    }
}
