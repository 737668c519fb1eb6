//! Cells whose weights are summed without rounding, whatever their range.

use super::cells::{Cell, Node, Seen, low_bits};
use super::limbs::{add_shifted, add_words, bit_length, rounded, to_f64};
use super::runs::Entry;
use crate::roc::mass::{MOST_BITS, digits};

/// Exponent of the lowest digit a weight can have, or slightly lower.
pub(super) const LOWEST: i32 = -1088;

/// Words that suffice for a sum of any weights.
pub(super) const ALL_WORDS: usize = 34;

/// A sum of weights in units of `2^LOWEST`.
pub(super) type Total = [u64; ALL_WORDS];

/// The exponent of the unit for weights with this lowest digit: one of a few, so that it seldom
/// changes, and 0 for all integers.
pub(super) fn unit_below(lowest_digit: i32) -> i32 {
    (lowest_digit.div_euclid(32) * 32).min(0)
}

/// The digits of a weight as an integer, and their left shift in units of `2^low`.
pub(super) fn placed(weight: f64, low: i32) -> (u128, u32) {
    let (digits, exponent) = digits(weight);
    (digits.into(), if digits == 0 { 0 } else { (exponent - low).cast_unsigned() })
}

/// A [`Cell`] with multi-word sums, in units of a power of two known to the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WideCell<const WORDS: usize> {
    pub key: u64,
    pub width: u32,
    /// Weight of the negative and of the positive rows.
    pub masses: [[u64; WORDS]; 2],
    /// Sums of their squared weights, in squared units: the lower and the upper half of the words.
    pub squares: [[[u64; WORDS]; 2]; 2],
}

impl<const WORDS: usize> WideCell<WORDS> {
    /// A cell without rows.
    pub fn empty(key: u64, width: u32) -> Self {
        Self { key, width, masses: [[0; WORDS]; 2], squares: [[[0; WORDS]; 2]; 2] }
    }

    /// Adds a row whose weight is `number * 2^shift` units.
    pub fn add_row(&mut self, class: usize, (number, shift): (u128, u32)) {
        add_shifted(&mut self.masses[class], number, shift);
        add_shifted(self.squares[class].as_flattened_mut(), number * number, 2 * shift);
    }

    /// Converts a cell whose unit is `2^shift` of the units here.
    pub fn of_cell(cell: &Cell, shift: u32) -> Self {
        let mut wide = Self::empty(cell.key, cell.width);
        for class in [0, 1] {
            add_shifted(&mut wide.masses[class], cell.units[class].into(), shift);
            let squares = wide.squares[class].as_flattened_mut();
            add_shifted(squares, cell.squares[class], 2 * shift);
        }
        wide
    }

    /// The same rows in finer units, `2^shift` to one of these.
    pub fn in_finer_units<const MORE: usize>(&self, shift: u32) -> WideCell<MORE> {
        let mut finer = WideCell::empty(self.key, self.width);
        for class in [0, 1] {
            add_words(&mut finer.masses[class], &self.masses[class], shift);
            let squares = finer.squares[class].as_flattened_mut();
            add_words(squares, self.squares[class].as_flattened(), 2 * shift);
        }
        finer
    }

    /// The cell in the precision that statistics read.
    pub fn seen(&self, scale: Scale) -> SeenCell {
        let of_class = |class: usize| rounded(&self.masses[class], scale.0[class]);
        let square = |class: usize| to_f64(self.squares[class].as_flattened(), 2 * scale.0[class]);
        let (masses, squares) = ([0, 1].map(of_class), [0, 1].map(square));
        SeenCell { key: self.key, width: self.width, masses, squares }
    }
}

impl<const WORDS: usize> Entry for WideCell<WORDS> {
    fn key(&self) -> u64 {
        self.key
    }

    fn last_key(&self) -> u64 {
        self.key | low_bits(self.width)
    }

    fn join(mut self, other: Self) -> Self {
        self.width = self.width.max(other.width);
        for class in [0, 1] {
            add_words(&mut self.masses[class], &other.masses[class], 0);
            let squares = self.squares[class].as_flattened_mut();
            add_words(squares, other.squares[class].as_flattened(), 0);
        }
        self
    }
}

impl<const WORDS: usize> Node for WideCell<WORDS> {
    type Scale = Scale;

    fn weights(&self, scale: Scale) -> [f64; 2] {
        [0, 1].map(|class| to_f64(&self.masses[class], scale.0[class]))
    }

    fn widened(mut self, width: u32) -> Self {
        self.width = self.width.max(width);
        self.key &= !low_bits(self.width);
        self
    }
}

/// Number of lowest bits of the weights of both classes that do not fit in two words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale(pub [u32; 2]);

impl Scale {
    /// The scale for classes of these total weights, in units of `2^low`.
    pub fn of(totals: &[Total; 2], low: i32) -> Self {
        let unit = (low - LOWEST).cast_unsigned();
        let spare = |total: &Total| {
            bit_length(total).saturating_sub(unit).saturating_sub(MOST_BITS.cast_unsigned())
        };
        Self(totals.each_ref().map(spare))
    }
}

/// A cell whose weights are in two words; nothing is rounded up to 126 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct SeenCell {
    key: u64,
    width: u32,
    masses: [u128; 2],
    squares: [f64; 2],
}

impl Seen for SeenCell {
    type Mass = u128;

    fn key(&self) -> u64 {
        self.key
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn masses(&self) -> [u128; 2] {
        self.masses
    }

    fn squares(&self) -> [f64; 2] {
        self.squares
    }
}
