//! Weights of rows, exact to add.

use crate::RankError;
use crate::data::FixedWeights;

/// Weights as integers, in one unit.
pub(super) struct RowWeights {
    /// `None` for 1 each.
    units: Option<Vec<u64>>,
    pub(super) total: u64,
}

impl RowWeights {
    pub(super) fn new(weight: Option<&[f64]>, n_rows: usize) -> Result<Self, RankError> {
        let units = match weight {
            None => None,
            Some(weight) if weight.len() != n_rows => {
                return Err(bad("the number of weights", weight.len(), "that of the rows"));
            }
            Some(weight) => Some(FixedWeights::new(weight)?.units().to_vec()),
        };
        let total = units.as_ref().map_or(n_rows as u64, |units| units.iter().sum());
        if total == 0 {
            return Err(bad("the sum of sample_weight", 0, "positive"));
        }
        Ok(Self { units, total })
    }

    #[inline]
    pub(super) fn of(&self, row: usize) -> u64 {
        self.units.as_ref().map_or(1, |units| units[row])
    }
}

pub(super) fn bad(name: &'static str, value: usize, rule: &'static str) -> RankError {
    RankError::BadParameter { name, value: value.to_string(), rule }
}
