//! Probabilities in fixed point, and how they split the mass of a row.

/// Binary digits of a probability. With masses of as many digits, a product fits in 64 bits and is
/// that of two 32-bit numbers, which vector units multiply.
const BITS: u32 = 31;

/// Maximum binary digits of the mass of a row.
pub(super) const MOST_ROW_BITS: u32 = 31;

/// A probability in fixed point, a multiple of 2^-31.
///
/// # Examples
///
/// ```
/// use aucrank::boost::Chance;
///
/// assert_eq!(Chance::new(0.25).value(), 0.25);
/// assert_eq!(Chance::HALF.value(), 0.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chance(u32);

impl Chance {
    /// 0.
    pub const NEVER: Self = Self(0);
    /// A fair coin.
    pub const HALF: Self = Self(1 << (BITS - 1));
    /// 1.
    pub const ALWAYS: Self = Self(1 << BITS);

    /// The multiple of 2^-31 nearest to a probability.
    ///
    /// # Panics
    ///
    /// If `chance` is not in [0, 1].
    #[must_use]
    pub fn new(chance: f64) -> Self {
        assert!((0.0..=1.0).contains(&chance), "{chance} is not a chance");
        Self((chance * f64::from(Self::ALWAYS.0)).round() as u32)
    }

    /// The probability as a float; exact.
    #[must_use]
    pub fn value(self) -> f64 {
        f64::from(self.0) / f64::from(Self::ALWAYS.0)
    }

    /// The multiple of 2^-31.
    pub(super) fn units(self) -> u32 {
        self.0
    }

    /// From a multiple of 2^-31; `None` above 1.
    pub(super) fn of_units(units: u32) -> Option<Self> {
        (units <= Self::ALWAYS.0).then_some(Self(units))
    }

    /// The part of a mass of at most 2^31 that goes right; the rest goes left, so that mass is
    /// preserved.
    #[inline]
    pub(super) fn right_of(self, mass: u32) -> u32 {
        ((u64::from(mass) * u64::from(self.0) + (1 << (BITS - 1))) >> BITS) as u32
    }

    /// Whether a coin falls right, given the hash that decides the flip.
    #[inline]
    pub(super) fn falls_right(self, hash: u64) -> bool {
        hash >> (u64::BITS - BITS) < u64::from(self.0)
    }
}

/// Splits masses by the probabilities that `chance` returns.
#[inline]
pub(super) fn split_mass<T: Copy>(
    here: &mut [u32],
    next: &mut [u32],
    of: &[T],
    chance: impl Fn(T) -> Chance,
) {
    for ((here, next), &of) in here.iter_mut().zip(next).zip(of) {
        let right = chance(of).right_of(*here);
        *here -= right;
        *next += right;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chance_of_0_or_1_sends_nothing_or_all_right() {
        for mass in [0, 1, 2, 12_345, 1 << 31] {
            assert_eq!(Chance::NEVER.right_of(mass), 0);
            assert_eq!(Chance::ALWAYS.right_of(mass), mass);
        }
        assert_eq!(Chance::HALF.right_of(1 << 31), 1 << 30);
        for hash in [0, 1 << 40, u64::MAX] {
            assert!(!Chance::NEVER.falls_right(hash) && Chance::ALWAYS.falls_right(hash));
        }
        assert!(Chance::HALF.falls_right(u64::MAX / 2) && !Chance::HALF.falls_right(1 << 63));
    }

    #[test]
    fn the_part_that_goes_right_is_the_nearest_whole_number() {
        for mass in [1, 3, 1000, 99_999_999, 1 << 31] {
            for chance in [1e-9, 0.1, 1.0 / 3.0, 0.5, 0.999_999] {
                let chance = Chance::new(chance);
                let exact = f64::from(mass) * chance.value();
                assert!((f64::from(chance.right_of(mass)) - exact).abs() <= 0.5, "{mass}");
            }
        }
    }
}
