//! Values whose sums are exact.

/// Values are whole multiples of this, so that sums of them are exact up to [`LARGEST_SUM`] in any order:
/// rows that tie, tie exactly; a step function merged of many terms gives the sum of the terms; and the
/// parts of an explanation and of SQL add up to the score (DECISIONS K10).
const VALUE_UNIT: f64 = 1.0 / (1_u64 << 32) as f64;

/// Sums of values are exact up to here.
pub(crate) const LARGEST_SUM: f64 = (1_u64 << 20) as f64;

/// The multiple of the unit that is nearest to a value.
pub(crate) fn snap(value: f64) -> f64 {
    (value / VALUE_UNIT).round() * VALUE_UNIT
}

/// Whether a value is a multiple of the unit.
pub(crate) fn is_snapped(value: f64) -> bool {
    (value / VALUE_UNIT).fract().abs() == 0.0
}
