//! Rounding of values so that their sums are exact.

/// Values are rounded to multiples of this, so that their sums are exact up to [`LARGEST_SUM`] in
/// any order: equal rows tie exactly, a step function merged from many terms equals the sum of the
/// terms, and the parts of an explanation and of SQL add up to the score (DECISIONS K10).
const VALUE_UNIT: f64 = 1.0 / (1_u64 << 32) as f64;

/// Bound up to which sums of rounded values are exact.
pub(crate) const LARGEST_SUM: f64 = (1_u64 << 20) as f64;

/// The multiple of the unit nearest to a value.
pub(crate) fn snap(value: f64) -> f64 {
    (value / VALUE_UNIT).round() * VALUE_UNIT
}

/// Whether a value is a multiple of the unit.
pub(crate) fn is_snapped(value: f64) -> bool {
    (value / VALUE_UNIT).fract().abs() == 0.0
}

/// A value as a whole number of units; `None` if it is not one.
#[cfg(feature = "serde")]
pub(crate) fn to_units(value: f64) -> Option<i64> {
    (is_snapped(value) && value.abs() <= LARGEST_SUM).then(|| (value / VALUE_UNIT) as i64)
}

/// The value of so many units; rounded where they are more than [`LARGEST_SUM`].
#[cfg(feature = "serde")]
pub(crate) fn of_units(units: i64) -> f64 {
    units as f64 * VALUE_UNIT
}
