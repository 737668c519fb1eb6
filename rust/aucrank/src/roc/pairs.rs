//! Pairs of the rows of a bucket, counted without sorting them.
//!
//! The rarer class is distributed into narrow ranges of codes. Each row of the other class then
//! looks up where its own range starts, and is compared with the few rows from there on: those of
//! higher ranges are above it anyway. No branch depends on a comparison. Of weighted rows, the keys
//! of a range are in order as well: the number of keys below a row then says what they weigh.
//!
//! Codes become keys of 30 bits, which any processor compares four at once. If bits are dropped in
//! which the codes differ, and two rows of different classes have one key, the bucket is counted
//! again by whole codes.

use super::mass::Mass;
use super::record::{Record, Words};
use super::score::Word;

/// Number of rows that a row is compared with at once.
const LANES: usize = 8;

/// The same of weighted rows, whose counts are added up for each row.
const LANES_OF_WEIGHTED: usize = 4;

/// Number of rows up to which all counters fit in 32 bits.
const MOST_ROWS: usize = 1 << 22;

/// Pairs of the rows of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BucketPairs<M: Mass> {
    pub half_wins: M::Product,
    pub positive: M,
    pub negative: M,
}

/// A code, or its leading bits.
trait Key: Copy + Default + Ord {
    const BITS: u32;
    /// Mean number of rows in the range of a row up to which it is compared with all of them.
    const MOST_IN_RANGE: u64;
    /// Above all keys.
    const ABOVE: Self;
    fn new(bits: u64) -> Self;
    fn bits(self) -> u64;
}

/// Signed, since the oldest processors compare no other numbers; one bit is left for
/// [`Key::ABOVE`].
impl Key for i32 {
    const BITS: u32 = 30;
    const MOST_IN_RANGE: u64 = 32;
    const ABOVE: Self = Self::MAX;

    #[inline]
    fn new(bits: u64) -> Self {
        bits as Self
    }

    #[inline]
    fn bits(self) -> u64 {
        u64::from(self.cast_unsigned())
    }
}

/// Codes less the least of their bucket lack at least one bit, as words do.
impl Key for u64 {
    const BITS: u32 = 63;
    const MOST_IN_RANGE: u64 = 16;
    const ABOVE: Self = Self::MAX;

    #[inline]
    fn new(bits: u64) -> Self {
        bits
    }

    #[inline]
    fn bits(self) -> u64 {
        self
    }
}

/// Counts the pairs of buckets, in memory that is kept from one to the next.
#[derive(Debug, Default)]
pub(super) struct PairCounter<M> {
    narrow: RangedKeys<i32>,
    wide: RangedKeys<u64>,
    masses: RangedMasses<M>,
    /// Whether rows of different classes had one code or key in the last bucket.
    had_ties: bool,
}

/// Bits of codes that narrow keys hold whole.
pub(super) const EXACT_BITS: u32 = <i32 as Key>::BITS;

impl<M: Mass> PairCounter<M> {
    /// The pairs of negative and positive rows whose words are within `words`; `None` if they are
    /// too many, or too dense in a few ranges.
    pub fn count<K: Word, R: Record<K, Mass = M>>(
        &mut self,
        rows: [&[&[R]]; 2],
        words: Words,
    ) -> Option<BucketPairs<M>> {
        let [n_neg, n_pos] = rows.map(|parts| parts.iter().map(|part| part.len()).sum::<usize>());
        let [negative, positive] = if R::IS_ONE {
            [n_neg, n_pos].map(|n_rows| M::from(n_rows as u64))
        } else {
            rows.map(|parts| parts.iter().copied().flatten().map(|row| row.weight()).sum())
        };
        let pairs = |half_wins| Some(BucketPairs { half_wins, positive, negative });
        if n_neg == 0 || n_pos == 0 {
            return pairs(M::Product::default());
        }
        if n_neg + n_pos > MOST_ROWS {
            return None;
        }
        let differing = differing_bits(rows);
        if differing <= 1 {
            return pairs(positive.times(negative));
        }
        let dropped_bits = words.code_bits().saturating_sub(EXACT_BITS);
        let is_exact = (differing >> 1) & ((1 << dropped_bits) - 1) == 0;
        let [few, many] = if n_neg < n_pos { rows } else { [rows[1], rows[0]] };
        let n_few = n_neg.min(n_pos);
        let masses = &mut self.masses;
        let mut found = None;
        // Scores that tie in one bucket do so in the next.
        if is_exact || !self.had_ties {
            found = Some(self.narrow.compare(few, n_few, many, words, masses)?);
        }
        if !is_exact && found.is_none_or(|found| found.has_ties) {
            // Also if the wide keys are refused: narrow ones would be of no use again.
            self.had_ties = true;
            found = Some(self.wide.compare(few, n_few, many, words, masses)?);
        }
        let found = found?;
        self.had_ties = found.has_ties;
        let all = (positive + positive).times(negative);
        // If the positive rows are the few, these are the half-wins of the negative ones.
        pairs(if n_neg < n_pos { found.half_wins } else { all - found.half_wins })
    }
}

/// Bits in which the words of some rows differ from that of the first.
fn differing_bits<K: Word, R: Record<K>>(rows: [&[&[R]]; 2]) -> u64 {
    let parts = rows.into_iter().flatten().copied();
    let first: u64 = parts.clone().flatten().next().map_or(0, |row| row.word().into());
    let of_part = |differing, part: &[R]| {
        part.iter().fold(differing, |differing, row| differing | (row.word().into() ^ first))
    };
    parts.fold(0, of_part)
}

/// Pairs of a row of many and one of few.
#[derive(Debug, Clone, Copy)]
struct Comparisons<P> {
    /// Two for each pair whose row of few is below the other one, one for each tie.
    half_wins: P,
    has_ties: bool,
}

/// Keys of the rarer class.
#[derive(Debug, Default)]
struct RangedKeys<T> {
    /// In the order of the rows.
    keys: Vec<T>,
    /// Range by range.
    ranged: Vec<T>,
    /// First key of each range in `ranged`, and the end of the last.
    starts: Vec<u32>,
}

/// Weights of the rows of the rarer class.
#[derive(Debug, Default)]
struct RangedMasses<M> {
    /// In the order of the rows.
    masses: Vec<M>,
    /// In the order of their keys.
    ranged: Vec<M>,
    /// Sums of the first ones in that order, from that of none to that of all.
    sums: Vec<M>,
}

/// How the keys of a bucket are made of words, and ranges of keys.
#[derive(Debug, Clone, Copy)]
struct KeyForm {
    least: u64,
    dropped_bits: u32,
    range_shift: u32,
}

impl KeyForm {
    #[inline]
    fn key<K: Word, R: Record<K>, T: Key>(self, row: R) -> T {
        T::new(((row.word().into() >> 1) - self.least) >> self.dropped_bits)
    }

    #[inline]
    fn range<T: Key>(self, key: T) -> usize {
        (key.bits() >> self.range_shift) as usize
    }
}

impl<T: Key> RangedKeys<T> {
    /// Compares all pairs of rows; `None` if there are too many in some ranges.
    fn compare<K: Word, R: Record<K>>(
        &mut self,
        few: &[&[R]],
        n_few: usize,
        many: &[&[R]],
        words: Words,
        masses: &mut RangedMasses<R::Mass>,
    ) -> Option<Comparisons<<R::Mass as Mass>::Product>> {
        let form = self.fill(few, n_few, words)?;
        if R::IS_ONE {
            let [below, not_above] = self.count(n_few, many, form);
            let half_wins = R::Mass::from(below + not_above).times(R::Mass::from(1));
            return Some(Comparisons { half_wins, has_ties: below != not_above });
        }
        masses.masses.clear();
        for part in few {
            masses.masses.extend(part.iter().map(|row| row.weight()));
        }
        Some(self.weigh(many, form, masses))
    }

    /// Makes the keys and counts those of each range. `starts` holds, after a first number, the
    /// first place of each range.
    fn fill<K: Word, R: Record<K>>(
        &mut self,
        few: &[&[R]],
        n_few: usize,
        words: Words,
    ) -> Option<KeyForm> {
        let code_bits = words.code_bits();
        let dropped_bits = code_bits.saturating_sub(T::BITS);
        let key_bits = code_bits - dropped_bits;
        // One or two ranges per row: most have none or one.
        let digit_bits = (n_few.ilog2() + 1).min(key_bits);
        let range_shift = key_bits - digit_bits;
        let form = KeyForm { least: words.least >> 1, dropped_bits, range_shift };

        self.keys.clear();
        for part in few {
            self.keys.extend(part.iter().map(|&row| form.key::<K, R, T>(row)));
        }
        self.starts.clear();
        self.starts.resize((1 << digit_bits) + 1, 0);
        let ends = &mut self.starts[1..];
        for &key in &self.keys {
            ends[form.range(key)] += 1;
        }
        let (mut end, mut squares) = (0, 0);
        for count in &mut *ends {
            let start = end;
            end += *count;
            squares += u64::from(*count) * u64::from(*count);
            *count = start;
        }
        (squares <= T::MOST_IN_RANGE * n_few as u64).then_some(form)
    }

    /// Pairs in which the row of few is below the other one, and in which it is not above.
    fn count<K: Word, R: Record<K>>(
        &mut self,
        n_few: usize,
        many: &[&[R]],
        form: KeyForm,
    ) -> [u64; 2] {
        self.ranged.resize(n_few + LANES, T::ABOVE);
        let ends = &mut self.starts[1..];
        for &key in &self.keys {
            let place = &mut ends[form.range(key)];
            self.ranged[*place as usize] = key;
            *place += 1;
        }
        self.ranged[n_few..].fill(T::ABOVE);

        let (mut below, mut above) = ([0_u32; LANES], [0_u32; LANES]);
        let (mut start_sum, mut n_windows) = (0_u64, 0_u64);
        let (starts, ranged) = (self.starts.as_slice(), self.ranged.as_slice());
        for part in many {
            for &row in *part {
                let key = form.key::<K, R, T>(row);
                let range = form.range(key);
                let (mut start, end) = (starts[range] as usize, starts[range + 1] as usize);
                start_sum += start as u64;
                while let Some(window) = ranged.get(start..start + LANES) {
                    for lane in 0..LANES {
                        below[lane] += u32::from(window[lane] < key);
                        above[lane] += u32::from(window[lane] > key);
                    }
                    n_windows += 1;
                    start += LANES;
                    if start >= end {
                        break;
                    }
                }
            }
        }
        let sum = |lanes: [u32; LANES]| lanes.iter().map(|&lane| u64::from(lane)).sum::<u64>();
        [start_sum + sum(below), start_sum + n_windows * LANES as u64 - sum(above)]
    }

    /// Compares weighted rows; those of few have `masses`.
    fn weigh<K: Word, R: Record<K>>(
        &mut self,
        many: &[&[R]],
        form: KeyForm,
        masses: &mut RangedMasses<R::Mass>,
    ) -> Comparisons<<R::Mass as Mass>::Product> {
        let n_few = self.keys.len();
        // Keys of earlier ranges are smaller, and places without a key yet hold the least one, so
        // that a key goes down to its place in its range, and no further.
        self.ranged.clear();
        self.ranged.resize(n_few + LANES_OF_WEIGHTED, T::default());
        masses.ranged.resize(n_few, R::Mass::default());
        let ends = &mut self.starts[1..];
        for (&key, &mass) in self.keys.iter().zip(&masses.masses) {
            let end = &mut ends[form.range(key)];
            let mut place = *end as usize;
            *end += 1;
            while place > 0 && self.ranged[place - 1] > key {
                self.ranged[place] = self.ranged[place - 1];
                masses.ranged[place] = masses.ranged[place - 1];
                place -= 1;
            }
            self.ranged[place] = key;
            masses.ranged[place] = mass;
        }
        self.ranged[n_few..].fill(T::ABOVE);
        masses.sums.clear();
        masses.sums.push(R::Mass::default());
        masses.sums.extend(masses.ranged.iter().scan(R::Mass::default(), |sum, &mass| {
            *sum += mass;
            Some(*sum)
        }));

        let mut found = Comparisons { half_wins: Default::default(), has_ties: false };
        let (starts, ranged) = (self.starts.as_slice(), self.ranged.as_slice());
        let sums = masses.sums.as_slice();
        for part in many {
            for &row in *part {
                let key = form.key::<K, R, T>(row);
                let range = form.range(key);
                let (mut start, end) = (starts[range] as usize, starts[range + 1] as usize);
                let (mut below, mut not_above) = (start, start);
                while let Some(window) = ranged.get(start..start + LANES_OF_WEIGHTED) {
                    let (mut less, mut equal) = (0_u32, 0_u32);
                    for &other in window {
                        less += u32::from(other < key);
                        equal += u32::from(other == key);
                    }
                    below += less as usize;
                    not_above += (less + equal) as usize;
                    start += LANES_OF_WEIGHTED;
                    if start >= end {
                        break;
                    }
                }
                found.has_ties |= below != not_above;
                found.half_wins += row.weight().times(sums[below] + sums[not_above]);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Half-wins by the definition; the last bit of a word is the class.
    fn half_wins(negative: &[(u64, u64)], positive: &[(u64, u64)]) -> u128 {
        let pairs = positive.iter().flat_map(|p| negative.iter().map(move |q| (p, q)));
        let of_pair = |(p, q): (&(u64, u64), &(u64, u64))| {
            let wins = u64::from(p.0 >> 1 > q.0 >> 1) + u64::from(p.0 >> 1 >= q.0 >> 1);
            u128::from(p.1 * q.1 * wins)
        };
        pairs.map(of_pair).sum()
    }

    /// Whether the pairs of some rows were counted; if so, they are those of the definition.
    fn counts_rows<R: Record<u64, Unit = u64, Mass = u64>>(
        rows: [&[(u64, u64)]; 2],
        words: Words,
        counter: &mut PairCounter<u64>,
    ) -> bool {
        let records = rows.map(|rows| -> Vec<R> {
            rows.iter().map(|&(word, weight)| R::new(word, weight)).collect()
        });
        // In two parts each, as from two blocks.
        let halves = [&records[0], &records[1]].map(|rows| rows.split_at(rows.len() / 2));
        let parts = halves.map(|(first, second)| [first, second]);
        let found = counter.count::<u64, R>([&parts[0], &parts[1]], words);
        let total = |rows: &[(u64, u64)]| rows.iter().map(|row| row.1).sum();
        let expected = BucketPairs {
            half_wins: half_wins(rows[0], rows[1]),
            positive: total(rows[1]),
            negative: total(rows[0]),
        };
        assert!(found.is_none_or(|found| found == expected), "{found:?}, but {expected:?}");
        found.is_some()
    }

    /// The same of rows without and with weights.
    fn counts(
        codes: &[u64],
        positive: &[bool],
        words: Words,
        counter: &mut PairCounter<u64>,
    ) -> bool {
        // Weights of 0 to 3.
        let rows_of = |class: bool| -> Vec<(u64, u64)> {
            let rows = codes.iter().zip(positive).zip(0..).filter(|((_, p), _)| **p == class);
            rows.map(|((code, _), row)| (code << 1 | u64::from(class), row % 4)).collect()
        };
        let (neg, pos) = (rows_of(false), rows_of(true));
        let had_ties = counter.had_ties;
        let of_weights = counts_rows::<(u64, u64)>([&neg, &pos], words, counter);
        counter.had_ties = had_ties;
        let one = |rows: Vec<(u64, u64)>| -> Vec<(u64, u64)> {
            rows.into_iter().map(|(word, _)| (word, 1)).collect()
        };
        let (neg, pos) = (one(neg), one(pos));
        let unweighted = counts_rows::<u64>([&neg, &pos], words, counter);
        of_weights && unweighted
    }

    fn bounds(codes: &[u64]) -> Words {
        Words {
            least: codes.iter().min().unwrap() << 1,
            greatest: codes.iter().max().unwrap() << 1 | 1,
        }
    }

    proptest! {
        #[test]
        fn pairs_are_those_of_the_definition(
            rows in prop::collection::vec((0..40_u64, any::<bool>()), 1..60),
            low_bits in 0..57_u32,
            shuffled in any::<u64>(),
            had_ties in any::<bool>(),
        ) {
            // The same codes in the leading bits, in the last ones, and in both: with dropped bits
            // that differ, and without.
            let positive: Vec<bool> = rows.iter().map(|row| row.1).collect();
            let spread = |code: u64| code << low_bits | (code.wrapping_mul(shuffled) & 1);
            let codes: Vec<u64> = rows.iter().map(|row| spread(row.0)).collect();
            let swapped: Vec<bool> = positive.iter().map(|p| !p).collect();
            for positive in [&positive, &swapped] {
                let mut counter = PairCounter { had_ties, ..PairCounter::default() };
                let is_spread = low_bits >= 40 || rows.len() < 16;
                prop_assert!(
                    counts(&codes, positive, bounds(&codes), &mut counter) || !is_spread
                );
                let whole = Words { least: 0, greatest: u64::MAX };
                prop_assert!(counts(&codes, positive, whole, &mut counter) || rows.len() >= 16);
            }
        }
    }

    #[test]
    fn rows_that_differ_in_dropped_bits_only_are_compared_by_all_bits() {
        let base = 1 << 62;
        let codes = [0, base, base + 1, base + 2, base + 1, base + 3, (1 << 63) - 1];
        let mut counter = PairCounter::default();
        for bits in 0..128_u32 {
            let positive: Vec<bool> = (0..7).map(|row| bits >> row & 1 == 1).collect();
            assert!(counts(&codes, &positive, bounds(&codes), &mut counter));
        }
    }

    #[test]
    fn more_rows_of_a_range_than_lanes_are_all_compared() {
        for (n_rows, outlier) in [(50, 1 << 20), (30, 1 << 40)] {
            let codes: Vec<u64> = (0..n_rows).map(|row| row / 3).chain([outlier]).collect();
            for modulus in [2, 3, 5, 7] {
                let positive: Vec<bool> = (0..=n_rows).map(|row| row % modulus == 0).collect();
                let mut counter = PairCounter::default();
                assert!(counts(&codes, &positive, bounds(&codes), &mut counter));
            }
        }
    }

    #[test]
    fn too_many_rows_of_one_range_are_refused() {
        let negative: Vec<u64> = (0..1000).map(|row| row << 1).chain([1 << 62]).collect();
        let positive: Vec<u64> = negative.iter().map(|word| word | 1).collect();
        let words = Words { least: 0, greatest: 1 << 62 | 1 };
        let found = PairCounter::default().count::<u64, u64>([&[&negative], &[&positive]], words);
        assert_eq!(found, None);
    }
}
