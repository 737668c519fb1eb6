//! The rows of a bucket in order of their codes.

use super::chunks::PARALLEL_FROM;
use super::record::{Record, Words};
use super::score::Word;
use crate::parallel::prelude::*;

/// Maximum number of bits of a digit: the counts of two digits stay in the first-level cache.
const MOST_BITS: u32 = 12;

/// Number of rows up to which a comparison sort takes less time.
const FEW: usize = 64;

/// Steps per row, from the place by two digits to that by all bits, beyond which the digits hardly
/// differ.
const MOST_STEPS: usize = 4;

/// Calls `tie` with each distinct code of the rows in ascending order, and the weights of its two
/// classes. Words are within `words`; `scratch` has the length of `rows`.
///
/// Two digits of the words place nearly all rows. The few others move past their neighbours.
pub(super) fn in_order<K: Word, R: Record<K>>(
    rows: &mut [R],
    scratch: &mut [R],
    (words, top): (Words, K),
    tie: impl FnMut(K, R::Mass, R::Mass),
) {
    if rows.len() <= FEW {
        rows.sort_unstable_by_key(|row| row.word());
        return for_ties(rows, top, tie);
    }
    let range_bits = u64::BITS - (words.greatest - words.least).leading_zeros();
    let digit_bits = (rows.len().ilog2() - 1).min(MOST_BITS).min(range_bits);
    let low_bits = digit_bits.min(range_bits - digit_bits);
    let shift = range_bits - digit_bits;
    let offset = |row: &R| row.word().into() - words.least;
    let high = |row: &R| (offset(row) >> shift) as usize;
    let low = |row: &R| (offset(row) >> (shift - low_bits)) as usize & ((1 << low_bits) - 1);
    distribute(rows, scratch, 1 << low_bits, low);
    distribute(scratch, rows, 1 << digit_bits, high);
    if !settle(rows) {
        return sort_in_place(rows, top, tie);
    }
    for_ties(rows, top, tie);
}

/// Moves rows to their places by a digit, in their order if they have the same one.
fn distribute<R: Copy>(from: &[R], to: &mut [R], n_digits: usize, digit: impl Fn(&R) -> usize) {
    let mut places = vec![0_u32; n_digits];
    for row in from {
        places[digit(row)] += 1;
    }
    let mut end = 0;
    for count in &mut places {
        let start = end;
        end += *count;
        *count = start;
    }
    for row in from {
        let place = &mut places[digit(row)];
        to[*place as usize] = *row;
        *place += 1;
    }
}

/// Moves each row down to its place by its code; false if that takes too many steps.
fn settle<K: Word, R: Record<K>>(rows: &mut [R]) -> bool {
    let code = |row: &R| row.word().into() >> 1;
    let mut steps = MOST_STEPS * rows.len();
    for end in 1..rows.len() {
        let row = rows[end];
        let mut place = end;
        while place > 0 && code(&rows[place - 1]) > code(&row) {
            rows[place] = rows[place - 1];
            place -= 1;
            if steps == 0 {
                rows[place] = row;
                return false;
            }
            steps -= 1;
        }
        rows[place] = row;
    }
    true
}

/// [`in_order`] without memory for a second copy of the rows.
pub(super) fn sort_in_place<K: Word, R: Record<K>>(
    rows: &mut [R],
    top: K,
    tie: impl FnMut(K, R::Mass, R::Mass),
) {
    if rows.len() < PARALLEL_FROM {
        rows.sort_unstable_by_key(|row| row.word());
    } else {
        rows.par_sort_unstable_by_key(|row| row.word());
    }
    for_ties(rows, top, tie);
}

/// Calls `tie` with each distinct code of rows in order of their codes, and the weights of its
/// two classes.
#[inline]
pub(super) fn for_ties<K: Word, R: Record<K>>(
    rows: &[R],
    top: K,
    mut tie: impl FnMut(K, R::Mass, R::Mass),
) {
    let code = |word: u64| K::truncate(word >> 1 | top.into());
    let mut rows = rows.iter();
    let Some(first) = rows.next() else { return };
    let mut word: u64 = first.word().into();
    let mut masses = [R::Mass::default(); 2];
    masses[(word & 1) as usize] = first.weight();
    for row in rows {
        let next: u64 = row.word().into();
        // The last bit is the class.
        if next ^ word > 1 {
            tie(code(word), masses[1], masses[0]);
            masses = [R::Mass::default(); 2];
        }
        word = next;
        masses[(word & 1) as usize] += row.weight();
    }
    tie(code(word), masses[1], masses[0]);
}
