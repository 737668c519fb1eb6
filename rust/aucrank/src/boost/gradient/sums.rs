//! Gradients and hessians as integers.

use std::ops::{Add, AddAssign, Sub, SubAssign};

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
