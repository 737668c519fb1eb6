//! Gradients and hessians as integers.

use std::ops::{Add, AddAssign, Sub, SubAssign};

/// A gradient of 1 in units: of log loss no gradient is larger.
pub(super) const GRADIENT_UNITS: i32 = 1 << 20;

/// A hessian of 1 in units: of log loss no hessian is above a quarter of it.
pub(super) const HESSIAN_UNITS: i32 = 1 << 19;

/// Low bits of a [`PackedSums`] that hold the hessians.
const HESSIAN_BITS: u32 = 30;

/// Rows whose packed derivatives may be added up before either part overflows.
pub(super) const MOST_PACKED: usize = 8000;

/// Sum of the gradients and hessians of some rows, in units, times the masses of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) gradient: i64,
    /// At least 1 for each row of positive mass, so that it tells whether there is one.
    pub(super) hessian: i64,
}

impl Add for Sums {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self { gradient: self.gradient + other.gradient, hessian: self.hessian + other.hessian }
    }
}

impl Sub for Sums {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self { gradient: self.gradient - other.gradient, hessian: self.hessian - other.hessian }
    }
}

impl AddAssign for Sums {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Sums {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl std::iter::Sum for Sums {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

impl Sums {
    /// Of a row of mass 1, in units; both are rounded, and no hessian to 0.
    #[inline]
    pub(super) fn of(gradient: f64, hessian: f64) -> Self {
        Self {
            gradient: round(gradient * f64::from(GRADIENT_UNITS)),
            hessian: round(hessian * f64::from(HESSIAN_UNITS)).max(1),
        }
    }

    /// Of a row of so much mass.
    #[inline]
    pub(super) fn times(self, mass: i64) -> Self {
        Self { gradient: self.gradient * mass, hessian: self.hessian * mass }
    }

    /// Whether no row is among them.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.hessian == 0
    }
}

/// The nearest integer. `f64::round` is a call of a function where the processor may lack the
/// instruction.
#[inline]
fn round(value: f64) -> i64 {
    (value + if value < 0.0 { -0.5 } else { 0.5 }) as i64
}

/// Both sums in one word, for rows of mass 1 and a loss whose derivatives are bounded as those of log
/// loss: a row is a single addition to a bin. At most [`MOST_PACKED`] rows may be added up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PackedSums(u64);

impl PackedSums {
    #[inline]
    pub(super) fn add(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// The sum of no more than [`MOST_PACKED`] rows.
    #[inline]
    pub(super) fn total(parts: impl Iterator<Item = Self>) -> Self {
        parts.fold(Self::default(), |mut sum, part| {
            sum.add(part);
            sum
        })
    }

    /// Takes off what was added.
    #[inline]
    pub(super) fn subtract(&mut self, other: Self) {
        self.0 = self.0.wrapping_sub(other.0);
    }

    /// Whether no row is among them.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Gradient and hessian as numbers, by operations that loops are vectorised with: conversions of
    /// 64-bit integers are not among those.
    #[inline]
    pub(super) fn numbers(self) -> (f64, f64) {
        // The bits of 2^52; a whole number in its low bits is added to it.
        const BITS: u64 = 0x4330_0000_0000_0000;
        const SIGN: u64 = 1 << 63;
        let gradient = f64::from_bits((self.0 ^ SIGN) >> HESSIAN_BITS | BITS);
        let hessian = f64::from_bits(self.0 & ((1 << HESSIAN_BITS) - 1) | BITS);
        let two_to_52 = f64::from_bits(BITS);
        (gradient - (two_to_52 + (SIGN >> HESSIAN_BITS) as f64), hessian - two_to_52)
    }

    #[inline]
    pub(super) fn sums(self) -> Sums {
        Sums {
            gradient: self.0 as i64 >> HESSIAN_BITS,
            hessian: (self.0 & ((1 << HESSIAN_BITS) - 1)) as i64,
        }
    }
}

impl From<Sums> for PackedSums {
    #[inline]
    fn from(sums: Sums) -> Self {
        Self(((sums.gradient << HESSIAN_BITS) + sums.hessian) as u64)
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
            let row = Sums::of(gradient, hessian);
            let (mut packed, mut plain) = (PackedSums::default(), Sums::default());
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
    fn derivatives_are_rounded_to_the_nearest_unit_and_no_hessian_to_nothing() {
        let found = Sums::of(-1.0 / 3.0, 1e-9);
        assert_eq!(found, Sums { gradient: -349_525, hessian: 1 });
        assert_eq!(Sums::of(0.5, 0.25), Sums { gradient: 1 << 19, hessian: 1 << 17 });
    }
}
