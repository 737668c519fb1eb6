//! The rows of a bucket, distributed into ever finer ranges.

use super::order::for_ties;
use super::record::{Record, Words};
use super::score::Word;
use super::sink::RangeSink;

/// Number of pairs up to which a range is not split further. Measured: sorting is no faster below.
const PAIRS: usize = 256;

/// Distributes `rows` by the leading bits in which words within `words`, if they are known, differ,
/// into `scratch` of the same length, and passes the ranges to `sink`, in order.
pub(super) fn descend<K: Word, R: Record<K>>(
    rows: &mut [R],
    scratch: &mut [R],
    words: Option<Words>,
    top: K,
    sink: &mut impl RangeSink<K, R::Mass>,
) {
    let Some(first) = rows.first() else { return };
    let first: u64 = first.word().into();
    // Rows of one score cannot be distributed any further: if both classes have many of them, they
    // would be passed on to the next level for ever. Words that differ in the last bit differ in
    // class only.
    if rows.iter().fold(0, |differing, row| differing | (row.word().into() ^ first)) <= 1 {
        for_ties(rows, top, |code, positive, negative| sink.tie(code, positive, negative));
        return;
    }
    // Known bounds are hardly wider than those of the rows, and cost nothing.
    let Words { least, greatest } = words.unwrap_or_else(|| Words::of(rows));
    // About eight rows per range. From the second level on the bounds are those of the rows, so that
    // the least and the greatest code part: each level makes progress.
    let range_bits = u64::BITS - (greatest - least).leading_zeros();
    let digit_bits = rows.len().ilog2().saturating_sub(2).clamp(1, 12).min(range_bits - 1);
    let shift = range_bits - digit_bits;
    // The class is the last bit of the digit, so that the classes are separated.
    let digit = |word: K| {
        let word: u64 = word.into();
        ((word - least) >> shift << 1 | word & 1) as usize
    };
    let mut ends = vec![0_u32; 2 << digit_bits];
    for row in &*rows {
        ends[digit(row.word())] += 1;
    }
    let mut end = 0;
    for count in &mut ends {
        let start = end;
        end += *count;
        *count = start;
    }
    for &row in &*rows {
        let place = &mut ends[digit(row.word())];
        scratch[*place as usize] = row;
        *place += 1;
    }
    let mut start = 0;
    for ends in ends.chunks_exact(2) {
        let (middle, end) = (ends[0] as usize, ends[1] as usize);
        let (n_neg, n_pos) = (middle - start, end - middle);
        if n_neg + n_pos > 0 {
            let range = &mut scratch[start..end];
            if n_neg * n_pos <= PAIRS {
                sink.range(range, n_neg, top);
            } else {
                // The rows of the range have been moved, so their old place serves as scratch
                // memory: no level allocates more than its counts.
                descend(range, &mut rows[start..end], None, top, sink);
            }
        }
        start = end;
    }
}
