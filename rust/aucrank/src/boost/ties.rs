//! Ties of gains between masses that were rounded.
//!
//! After the first round a row has a mass in fixed point, and gains that are equal in real numbers
//! differ in their last digits. The tie rules (DECISIONS B1, B2, K2) hold for gains rounded to a share
//! of 2^-40 of all pairs: of whole rows, up to a million of each class, these are still exact.

use crate::data::ClassMasses;

/// Binary digits of a gain that are compared.
const DIGITS: u32 = 40;

/// How gains between masses are rounded.
#[derive(Debug, Clone, Copy)]
pub(super) struct TiedGains(i128);

impl TiedGains {
    /// For gains at most as large as the product of the masses of the classes.
    pub(super) fn of(total: ClassMasses) -> Self {
        let pairs = i128::from(total.pos) * i128::from(total.neg);
        Self((pairs >> DIGITS).max(1))
    }

    /// A gain, which is not negative, as a multiple of the unit of comparison.
    pub(super) fn round(self, gain: i128) -> i128 {
        // Halves round up: no gain of small masses lies there.
        gain / self.0 + i128::from(2 * (gain % self.0) >= self.0 && self.0 > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_of_whole_rows_are_exact_and_those_of_rounded_masses_tie() {
        let whole = TiedGains::of(ClassMasses { pos: 900_000, neg: 1_000_000 });
        assert_eq!([whole.round(17), whole.round(18)], [17, 18]);
        // Two fifths of the pairs, from masses that were rounded up or down.
        let (pos, neg) = (1 << 52, 1 << 52);
        let tied = TiedGains::of(ClassMasses { pos, neg });
        let gain = |part: i128| part * i128::from(neg);
        let two_fifths = i128::from(pos) * 2 / 5;
        assert_eq!(tied.round(gain(two_fifths)), tied.round(gain(two_fifths + 3)));
        assert!(tied.round(gain(two_fifths)) < tied.round(gain(two_fifths + (1 << 13))));
    }
}
