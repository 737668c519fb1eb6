//! The mass with which each row starts at the root.

use serde::{Deserialize, Serialize};

use super::chance::MOST_ROW_BITS;
use crate::RankError;
use crate::data::{ClassSums, FixedWeights, Labels};

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
    /// Bits of the mass of a copy of a row, if weights are counts.
    pub(super) row_bits: u32,
    /// Binary exponent of the unit of mass.
    pub(super) exponent: i32,
}

/// Conversion of weights to masses; the same for all rows of a fit, wherever they are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) enum MassScale {
    /// A mass of 2 to this power for each copy of a row.
    Copies(u32),
    /// The mass is the number of units of weight, times 2 to this power.
    Fractions(i32),
}

impl MassScale {
    /// For weights that are counts, or all 1.
    pub(super) fn of_copies(total: ClassSums) -> Self {
        Self::Copies(bits_for(total.pos.max(total.neg)))
    }

    /// For other weights, the largest of which has `largest` units.
    pub(super) fn of_fractions(n_rows: u64, largest: u64) -> Self {
        let bits_of_largest = largest.max(1).next_power_of_two().trailing_zeros();
        Self::Fractions(bits_for(n_rows) as i32 - bits_of_largest as i32)
    }

    /// Bits of the mass of a row that is scored, and the binary exponent of the unit of mass if
    /// that of the unit of weights is `exponent`.
    pub(super) fn row_bits(self, exponent: i32) -> (u32, i32) {
        match self {
            Self::Copies(bits) => (bits, -(bits as i32)),
            // With the largest mass.
            Self::Fractions(shift) => (MOST_ROW_BITS, exponent - shift),
        }
    }

    /// Checks a received scale.
    pub(super) fn check(self) -> Result<(), RankError> {
        let is_good = match self {
            Self::Copies(bits) => bits <= MOST_ROW_BITS,
            Self::Fractions(shift) => shift.unsigned_abs() <= u64::BITS,
        };
        if is_good {
            return Ok(());
        }
        Err(RankError::BadAnswer("the unit of mass is that of other rows".to_owned()))
    }
}

/// Bits of the mass of a row if there are `count` rows.
fn bits_for(count: u64) -> u32 {
    MOST_ROW_BITS.min(CLASS_BITS.saturating_sub(count.max(1).next_power_of_two().trailing_zeros()))
}

impl<'a> Start<'a> {
    pub(super) fn new(labels: &'a Labels<'_>) -> Result<Self, RankError> {
        let (total, copies) = (labels.total(), labels.copies());
        let scale = match (labels.weights(), copies) {
            (Some(weights), None) => {
                let units = weights.units();
                let largest = units.iter().copied().max().unwrap_or(1);
                MassScale::of_fractions(units.len() as u64, largest)
            }
            _ => MassScale::of_copies(total),
        };
        let start = Self::of_part(labels.weights().map(FixedWeights::units), scale);
        if !start.masses.is_empty() {
            for (class, name) in [(true, "positive"), (false, "negative")] {
                let mut rows = start.masses.iter().zip(labels.positive());
                if !rows.any(|(&mass, &p)| mass > 0 && p == class) {
                    return Err(RankError::ClassWithoutWeight { class: name });
                }
            }
        }
        let (row_bits, exponent) = scale.row_bits(labels.exponent());
        Ok(Self { row_bits, exponent, ..start })
    }

    /// For the rows of a part, given the units of their weights unless all count once.
    pub(super) fn of_part(units: Option<&'a [u64]>, scale: MassScale) -> Self {
        let (row_bits, exponent) = scale.row_bits(0);
        match scale {
            MassScale::Copies(_) => Self { copies: units, masses: Vec::new(), row_bits, exponent },
            MassScale::Fractions(shift) => {
                let factor = 2_f64.powi(shift);
                let most = f64::from(1_u32 << MOST_ROW_BITS);
                let mass = |&units: &u64| (units as f64 * factor).round().min(most) as u32;
                let masses = units.into_iter().flatten().map(mass).collect();
                Self { copies: None, masses, row_bits, exponent }
            }
        }
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
    fn counts_start_with_equal_mass_and_fractions_by_their_weight() {
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
    fn a_class_of_no_weight_next_to_the_other_is_named() {
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
