//! Sums of the weights of a batch.

use super::RocState;
use super::limbs::{add_shifted, add_words};
use super::table::few_units;
use super::wide_cells::{self, LOWEST, Total, placed, unit_below};
use crate::RankError;
use crate::roc::mass::digits;

/// Sums over some rows.
#[derive(Debug, Clone)]
pub(super) struct Sums {
    pub(super) rows: [u64; 2],
    pub(super) totals: [Total; 2],
    pub(super) low: i32,
}

impl Default for Sums {
    fn default() -> Self {
        Self { rows: [0; 2], totals: [[0; wide_cells::ALL_WORDS]; 2], low: 0 }
    }
}

impl Sums {
    /// Adds integer multiples of `2^exponent`.
    pub(super) fn add_whole(&mut self, units: [u128; 2], exponent: i32) {
        for (total, units) in self.totals.iter_mut().zip(units) {
            add_shifted(total, units, (exponent - LOWEST).cast_unsigned());
        }
    }
}

pub(super) fn power(bits: u32) -> f64 {
    2_f64.powi(bits.cast_signed())
}

impl RocState {
    /// Sums over the rows of a batch.
    #[expect(clippy::float_cmp, reason = "a whole number is one exactly")]
    pub(super) fn sums_of(
        &self,
        positive: &[bool],
        weights: Option<&[f64]>,
    ) -> Result<Sums, RankError> {
        let mut sums = Sums::default();
        let Some(weights) = weights else {
            let n_pos = positive.iter().map(|&p| u64::from(p)).sum::<u64>();
            sums.rows = [positive.len() as u64 - n_pos, n_pos];
            sums.add_whole(sums.rows.map(u128::from), 0);
            return Ok(sums);
        };
        let rows = || weights.iter().zip(positive).enumerate();
        let mut whole = [0_u128; 2];
        let mut is_whole = true;
        for (row, (&weight, &positive)) in rows() {
            let units = self.units_of(row, weight)?;
            let class = usize::from(positive);
            sums.rows[class] += u64::from(weight > 0.0);
            whole[class] += u128::from(units);
            is_whole &= units as f64 == weight;
        }
        if self.unit_bits.is_some() || is_whole {
            sums.add_whole(whole, -self.bits().cast_signed());
            return Ok(sums);
        }
        for (_, (&weight, &positive)) in rows() {
            if weight > 0.0 {
                let (number, shift) = placed(weight, LOWEST);
                add_shifted(&mut sums.totals[usize::from(positive)], number, shift);
                sums.low = sums.low.min(unit_below(digits(weight).1));
            }
        }
        Ok(sums)
    }

    /// A weight in units, rounded; in a state without a unit its integer part.
    pub(super) fn units_of(&self, row: usize, weight: f64) -> Result<u64, RankError> {
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(RankError::BadWeight { row, value: weight });
        }
        let Some(bits) = self.unit_bits else { return Ok(weight as u64) };
        let exact = weight * power(bits);
        let units = exact.round();
        if bits == 0 && exact.fract() > 0.0 || units < 1.0 && weight > 0.0 {
            return Err(RankError::BadParameter {
                name: "sample_weight",
                value: format!("{weight} in row {row}"),
                rule: "a whole number of weight_unit, to which fractions are rounded if it is below 1",
            });
        }
        // A weight beyond the integers saturates, and the total shows it.
        Ok(units as u64)
    }

    pub(super) fn add_sums(&mut self, sums: &Sums) -> Result<(), RankError> {
        let mut totals = self.totals;
        for (total, added) in totals.iter_mut().zip(&sums.totals) {
            add_words(total, added, 0);
        }
        if let Some(bits) = self.unit_bits
            && few_units(&totals, bits).is_none()
        {
            return Err(RankError::TooMuchWeight { unit: power(bits).recip() });
        }
        self.totals = totals;
        self.rows = [0, 1].map(|class| self.rows[class].saturating_add(sums.rows[class]));
        self.low = self.low.min(sums.low);
        Ok(())
    }
}
