//! Cells of a table: of bounded size, in which neighbouring scores are counted together, and those
//! whose weights are summed without rounding, whatever their range.

use super::table::Entry;
use crate::roc::curve::CountedMass;
use crate::roc::mass::{MOST_BITS, digits};

/// Unweighted rows of one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub key: u64,
    /// Negative and positive rows.
    pub rows: [u64; 2],
}

impl Entry for Count {
    #[inline]
    fn key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn last_key(&self) -> u64 {
        self.key
    }

    #[inline]
    fn join(self, other: Self) -> Self {
        Self { key: self.key, rows: [0, 1].map(|class| self.rows[class] + other.rows[class]) }
    }
}

/// Rows whose score keys differ in their last `width` bits only.
///
/// Such cells are the nodes of a binary tree over all keys, so two of them are nested or disjoint:
/// states that were cut down at different times can be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// Least key of the cell, which need not occur.
    pub key: u64,
    /// 0 if all rows have the same score.
    pub width: u32,
    /// Weight of the negative and of the positive rows.
    pub units: [u64; 2],
    /// Sums of the squared weights of both classes.
    pub squares: [u128; 2],
}

impl Cell {
    /// A cell of rows that weigh `2^bits` units each.
    pub fn of_rows(count: Count, bits: u32) -> Self {
        Self {
            key: count.key,
            width: 0,
            units: count.rows.map(|rows| rows << bits),
            squares: count.rows.map(|rows| u128::from(rows) << (2 * bits)),
        }
    }
}

/// A mask of the last `width` bits.
pub(super) fn low_bits(width: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0)
}

impl Entry for Cell {
    fn key(&self) -> u64 {
        self.key
    }

    fn last_key(&self) -> u64 {
        self.key | low_bits(self.width)
    }

    fn join(self, other: Self) -> Self {
        Self {
            key: self.key,
            width: self.width.max(other.width),
            units: [0, 1].map(|class| self.units[class] + other.units[class]),
            squares: [0, 1].map(|class| self.squares[class] + other.squares[class]),
        }
    }
}

/// An entry as read by statistics.
pub(super) trait Seen {
    type Mass: CountedMass;
    /// Least key.
    fn key(&self) -> u64;
    /// 0 if all rows have the same score.
    fn width(&self) -> u32;
    /// Weight of the negative and of the positive rows.
    fn masses(&self) -> [Self::Mass; 2];
    /// Sums of the squared weights of both classes.
    fn squares(&self) -> [f64; 2];
}

impl Seen for Cell {
    type Mass = u64;

    fn key(&self) -> u64 {
        self.key
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn masses(&self) -> [u64; 2] {
        self.units
    }

    fn squares(&self) -> [f64; 2] {
        self.squares.map(|square| square as f64)
    }
}

/// An entry that can absorb its neighbours.
pub(super) trait Absorbing: Entry {
    /// Parameter of the conversion of weights to floats.
    type Scale: Copy;

    /// Weight of the negative and of the positive rows.
    fn weights(&self, scale: Self::Scale) -> [f64; 2];

    /// The cell of at least that width that contains this one.
    fn widened(self, width: u32) -> Self;
}

impl Absorbing for Cell {
    type Scale = ();

    fn weights(&self, (): ()) -> [f64; 2] {
        self.units.map(|units| units as f64)
    }

    fn widened(mut self, width: u32) -> Self {
        self.width = self.width.max(width);
        self.key &= !low_bits(self.width);
        self
    }
}

/// Merges neighbouring cells until at most `target` are left, the cheapest first.
///
/// A boundary between two neighbours stands for the smallest node that contains both. The cost of a
/// node is the product of its shares of the classes, to which the error of the AUC is proportional;
/// each share is slightly increased, as if one row in `4 * target` were still to fall there, so
/// that stretches of one class are not merged for free. The cost increases with the node, so that
/// the cheapest boundaries can be dropped all at once.
pub(super) fn cut_down<C: Absorbing>(cells: &[C], target: usize, scale: C::Scale) -> Vec<C> {
    if cells.len() <= target {
        return cells.to_vec();
    }
    let width = |b: usize| u64::BITS - (cells[b].key() ^ cells[b + 1].key()).leading_zeros();
    let widths: Vec<u32> = (0..cells.len() - 1).map(width).collect();
    let costs = costs(cells, &widths, 1.0 / (4.0 * target as f64), scale);
    let n_dropped = cells.len() - target;
    let mut order = costs.clone();
    // By selection, O(n), since the order of the dropped boundaries does not matter.
    let (_, &mut dearest, _) = order.select_nth_unstable_by(n_dropped - 1, f64::total_cmp);

    let mut joined = Vec::with_capacity(target);
    let mut cell = cells[0];
    for (boundary, &next) in cells[1..].iter().enumerate() {
        if costs[boundary] <= dearest {
            cell = cell.join(next).widened(widths[boundary]);
        } else {
            joined.push(cell);
            cell = next;
        }
    }
    joined.push(cell);
    joined
}

/// Cost of the node of each boundary.
fn costs<C: Absorbing>(cells: &[C], widths: &[u32], floor: f64, scale: C::Scale) -> Vec<f64> {
    // Prefix sums of weights: floating-point sums are monotone, so a node costs no less than one
    // inside it.
    let mut below = vec![[0.0; 2]];
    let mut sums = [0.0; 2];
    for cell in cells {
        let weights = cell.weights(scale);
        sums = [0, 1].map(|class| sums[class] + weights[class]);
        below.push(sums);
    }
    let all = sums.map(|sum| if sum > 0.0 { sum } else { 1.0 });
    // A node extends to the nearest wider boundary on either side.
    let mut first = vec![0; widths.len()];
    let mut end = vec![cells.len(); widths.len()];
    let mut open: Vec<usize> = Vec::new();
    for boundary in 0..widths.len() {
        while let Some(&inner) = open.last().filter(|&&b| widths[b] < widths[boundary]) {
            end[inner] = boundary + 1;
            open.pop();
        }
        first[boundary] = open.last().map_or(0, |&wider| wider + 1);
        open.push(boundary);
    }
    let cost = |(&first, &end): (&usize, &usize)| {
        let share = |class: usize| (below[end][class] - below[first][class]) / all[class];
        (share(0) + floor) * (share(1) + floor)
    };
    first.iter().zip(&end).map(cost).collect()
}

/// Exponent of the lowest digit a weight can have, or slightly lower.
pub(super) const LOWEST: i32 = -1088;

/// Words that suffice for a sum of any weights.
pub(super) const ALL_WORDS: usize = 34;

/// A sum of weights in units of `2^LOWEST`.
pub(super) type WideTotal = [u64; ALL_WORDS];

/// The exponent of the unit for weights with this lowest digit: one of a few, so that it seldom
/// changes, and 0 for all integers.
pub(super) fn unit_below(lowest_digit: i32) -> i32 {
    (lowest_digit.div_euclid(32) * 32).min(0)
}

/// A weight as `number * 2^shift` units.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedDigits {
    pub number: u128,
    pub shift: u32,
}

impl PlacedDigits {
    /// A weight in units of `2^low`.
    pub fn of(weight: f64, low: i32) -> Self {
        let (digits, exponent) = digits(weight);
        let shift = if digits == 0 { 0 } else { (exponent - low).cast_unsigned() };
        Self { number: digits.into(), shift }
    }
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

    /// Adds a row of a weight in these units.
    pub fn add_row(&mut self, class: usize, PlacedDigits { number, shift }: PlacedDigits) {
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
    pub fn seen(&self, scale: LowBits) -> SeenCell {
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

impl<const WORDS: usize> Absorbing for WideCell<WORDS> {
    type Scale = LowBits;

    fn weights(&self, scale: LowBits) -> [f64; 2] {
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
pub(super) struct LowBits(pub [u32; 2]);

impl LowBits {
    /// The scale for classes of these total weights, in units of `2^low`.
    pub fn of(totals: &[WideTotal; 2], low: i32) -> Self {
        let unit = (low - LOWEST).cast_unsigned();
        let spare = |total: &WideTotal| {
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

/// Adds a number times `2^shift`; returns whether the sum needs another word.
pub(super) fn add_shifted(into: &mut [u64], number: u128, shift: u32) -> bool {
    let (word, bit) = ((shift / u64::BITS) as usize, shift % u64::BITS);
    let low = number << bit;
    let high = number.checked_shr(u128::BITS - bit).unwrap_or(0);
    add_at(into, word, &[low as u64, (low >> 64) as u64, high as u64])
}

/// Adds a multi-word number times `2^shift`; returns whether the sum needs another word.
pub(super) fn add_words(into: &mut [u64], number: &[u64], shift: u32) -> bool {
    let (word, bit) = ((shift / u64::BITS) as usize, shift % u64::BITS);
    if bit == 0 {
        return add_at(into, word, number);
    }
    number.iter().enumerate().fold(false, |overflows, (i, &part)| {
        let moved = u128::from(part) << bit;
        overflows | add_at(into, word + i, &[moved as u64, (moved >> 64) as u64])
    })
}

fn add_at(into: &mut [u64], word: usize, number: &[u64]) -> bool {
    let mut carry = false;
    for (i, &part) in number.iter().enumerate() {
        let Some(place) = into.get_mut(word + i) else {
            if part > 0 || carry {
                return true;
            }
            continue;
        };
        let (sum, over) = place.overflowing_add(part);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        *place = sum;
        carry = over | over_again;
    }
    for place in into.iter_mut().skip(word + number.len()) {
        if !carry {
            break;
        }
        (*place, carry) = place.overflowing_add(1);
    }
    carry
}

/// Number of bits up to the highest one set.
pub(super) fn bit_length(number: &[u64]) -> u32 {
    let highest = number.iter().rposition(|&word| word > 0);
    highest.map_or(0, |word| (word as u32 + 1) * u64::BITS - number[word].leading_zeros())
}

/// The 128 bits from a given bit on.
fn bits_from(number: &[u64], first: u32) -> u128 {
    let (word, bit) = ((first / u64::BITS) as usize, first % u64::BITS);
    let [a, b, c] =
        [0, 1, 2].map(|i| u128::from(number.get(word + i).copied().unwrap_or_default()));
    (a | b << 64) >> bit | c.checked_shl(u128::BITS - bit).unwrap_or(0)
}

/// The number over `2^dropped`, rounded; below 2^127, and 0 only if the number is 0.
pub(super) fn rounded(number: &[u64], dropped: u32) -> u128 {
    if dropped == 0 {
        return bits_from(number, 0);
    }
    let whole = bits_from(number, dropped) + (bits_from(number, dropped - 1) & 1);
    whole.max(u128::from(number.iter().any(|&word| word > 0)))
}

/// The `f64` nearest to the number over `2^dropped`.
pub(super) fn to_f64(number: &[u64], dropped: u32) -> f64 {
    let first = bit_length(number).saturating_sub(u128::BITS);
    let (word, bit) = ((first / u64::BITS) as usize, first % u64::BITS);
    // A sticky bit far below the last bit kept: it only distinguishes a tie from a number above it.
    let is_more = number.iter().take(word).any(|&word| word > 0)
        || number.get(word).is_some_and(|&word| word & ((1 << bit) - 1) > 0);
    let leading = bits_from(number, first) | u128::from(is_more);
    leading as f64 * 2_f64.powi(first.cast_signed() - dropped.cast_signed())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn cells_that_are_left_are_nodes_and_hold_every_row(
            keys in prop::collection::btree_set(any::<u64>(), 2..80),
            shift in 0..60_u32,
            target in 1..40_usize,
        ) {
            let mut cells: Vec<Cell> = Vec::new();
            for (i, key) in keys.iter().map(|key| key >> shift).enumerate() {
                if cells.last().is_none_or(|cell| cell.key != key) {
                    cells.push(Cell::of_rows(Count { key, rows: [1 + i as u64 % 3, i as u64 % 2] }, 0));
                }
            }
            let joined = cut_down(&cells, target, ());
            prop_assert!(joined.len() <= target.min(cells.len()));
            prop_assert!(joined.windows(2).all(|pair| pair[0].last_key() < pair[1].key));
            for cell in joined {
                prop_assert_eq!(cell.key & low_bits(cell.width), 0);
                let inside: Vec<&Cell> =
                    cells.iter().filter(|c| (cell.key..=cell.last_key()).contains(&c.key)).collect();
                for class in [0, 1] {
                    prop_assert_eq!(cell.units[class], inside.iter().map(|c| c.units[class]).sum::<u64>());
                    prop_assert_eq!(cell.squares[class], inside.iter().map(|c| c.squares[class]).sum::<u128>());
                }
                prop_assert_eq!(cell.width == 0, inside.len() == 1);
            }
        }
    }

    proptest! {
        #[test]
        fn sums_of_words_are_those_of_wide_integers(
            numbers in prop::collection::vec((any::<u64>(), 0..50_u32), 0..20), shift in 0..130_u32,
        ) {
            let (mut words, mut expected) = ([0_u64; 4], 0_u128);
            for &(number, by) in &numbers {
                prop_assert!(!add_shifted(&mut words, number.into(), by));
                expected += u128::from(number) << by;
            }
            prop_assert_eq!(bits_from(&words, 0), expected);
            prop_assert_eq!(bit_length(&words), u128::BITS - expected.leading_zeros());
            prop_assert_eq!(to_f64(&words, 0), expected as f64);
            prop_assert_eq!(rounded(&words, 0), expected);
            let half = expected + 4;
            prop_assert_eq!(rounded(&words, 3), (half >> 3).max(u128::from(expected > 0)));
            // Shifted up, and back down.
            let mut moved = [0_u64; 5];
            prop_assert!(!add_words(&mut moved, &words, shift));
            prop_assert_eq!(bits_from(&moved, shift), expected);
            prop_assert_eq!(to_f64(&moved, shift), expected as f64);
            let mut twice = moved;
            prop_assert!(!add_words(&mut twice, &moved, 0));
            prop_assert_eq!(bits_from(&twice, shift + 1), expected);
        }
    }

    #[test]
    fn a_missing_word_is_reported() {
        let mut words = [u64::MAX; 2];
        assert!(add_shifted(&mut words, 1, 0));
        assert!(add_shifted(&mut [0; 2], 1, 128));
        assert!(add_words(&mut [0; 2], &[0, 1], 64));
        assert!(!add_words(&mut [0; 3], &[0, 1], 64));
    }
}
