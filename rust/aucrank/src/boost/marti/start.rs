//! The initial mass of each row.

use super::chance::MOST_ROW_BITS;
use crate::RankError;
use crate::data::{FixedWeights, Labels};

/// Bits of the mass of a class: sums are then also exact in `f64`.
const CLASS_BITS: u32 = 52;

/// The initial mass of each row. If weights are counts or absent, each copy of a row starts with
/// the same mass. Otherwise the initial mass is the weight relative to the largest, and weights
/// below 2^-32 of it round to nothing.
#[derive(Debug)]
pub(super) struct Start<'a> {
    copies: Option<&'a [u64]>,
    /// Mass of each row, if weights are not counts.
    masses: Vec<u32>,
    /// Bits of the mass of a copy of a row, if they are.
    pub(super) row_bits: u32,
    /// Binary exponent of the unit of mass.
    pub(super) exponent: i32,
}

impl<'a> Start<'a> {
    pub(super) fn new(labels: &'a Labels<'_>) -> Result<Self, RankError> {
        let total = labels.total();
        let bits_for = |count: u64| {
            MOST_ROW_BITS.min(CLASS_BITS - count.max(1).next_power_of_two().trailing_zeros())
        };
        let weights = match labels.weights() {
            None => None,
            Some(weights) => match labels.copies() {
                None => return Self::of_fractions(labels, weights, bits_for),
                copies => copies,
            },
        };
        let row_bits = bits_for(total.pos.max(total.neg));
        let exponent = -(row_bits as i32);
        Ok(Self { copies: weights, masses: Vec::new(), row_bits, exponent })
    }

    fn of_fractions(
        labels: &'a Labels<'_>,
        weights: &FixedWeights,
        bits_for: impl Fn(u64) -> u32,
    ) -> Result<Self, RankError> {
        let units = weights.units();
        let row_bits = bits_for(units.len() as u64);
        let largest = units.iter().copied().max().unwrap_or(1);
        let shift = row_bits as i32 - largest.next_power_of_two().trailing_zeros() as i32;
        let scale = 2_f64.powi(shift);
        let masses: Vec<u32> =
            units.iter().map(|&units| (units as f64 * scale).round() as u32).collect();
        for (class, name) in [(true, "positive"), (false, "negative")] {
            if !masses.iter().zip(labels.positive()).any(|(&mass, &p)| mass > 0 && p == class) {
                return Err(RankError::ClassWithoutWeight { class: name });
            }
        }
        // Rows to be scored start with the largest mass.
        let exponent = weights.exponent() - shift;
        Ok(Self { copies: None, masses, row_bits: MOST_ROW_BITS, exponent })
    }

    /// Mass of a copy of a row.
    #[inline]
    pub(super) fn mass(&self, row: usize) -> u32 {
        match self.copies {
            Some(copies) if copies[row] == 0 => 0,
            _ if self.masses.is_empty() => 1 << self.row_bits,
            _ => self.masses[row],
        }
    }

    /// Number of copies of a row.
    #[inline]
    pub(super) fn copies(&self, row: usize) -> u32 {
        // Below 2^32: counts total at most 2^32 over at least two rows.
        self.copies.map_or(1, |copies| copies[row] as u32)
    }

    /// Mass of all copies of a row.
    #[inline]
    pub(super) fn total_mass(&self, row: usize) -> u64 {
        u64::from(self.mass(row)) * u64::from(self.copies(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_set_out_alike_and_fractions_by_their_weight() {
        let positive = [true, false, false];
        let labels = Labels::new(&positive, Some(&[3.0, 0.0, 2.0])).unwrap();
        let start = Start::new(&labels).unwrap();
        assert_eq!([0, 1, 2].map(|row| start.mass(row)), [1 << 31, 0, 1 << 31]);
        assert_eq!([0, 1, 2].map(|row| start.copies(row)), [3, 0, 2]);
        let labels = Labels::new(&positive, Some(&[0.5, 0.25, 0.0])).unwrap();
        let start = Start::new(&labels).unwrap();
        assert_eq!(start.mass(0), 2 * start.mass(1));
        assert_eq!([0, 1, 2].map(|row| start.copies(row)), [1, 1, 1]);
        let weight = f64::from(start.mass(0)) * 2_f64.powi(start.exponent);
        assert_eq!(weight, 0.5);
    }

    #[test]
    fn a_class_that_weighs_nothing_beside_the_other_is_named() {
        let labels = Labels::new(&[true, false], Some(&[1e-11, 0.7])).unwrap();
        let err = Start::new(&labels).unwrap_err();
        assert_eq!(err, RankError::ClassWithoutWeight { class: "positive" });
    }

    #[test]
    fn sums_stay_exact_for_many_copies() {
        let labels = Labels::new(&[true, false], Some(&[4e9, 1.0])).unwrap();
        let start = Start::new(&labels).unwrap();
        let mass = start.total_mass(0);
        assert!(mass <= 1 << 52 && mass > 1 << 50);
    }
}
