//! Where the concave hull of the ROC curve of a feature has its corners.
//!
//! The hull has few corners, some n^(1/3) of n rows, and the order of the rows matters only next to
//! them. So the rows are not sorted:
//!
//! 1. One pass counts the classes in some ten thousand [`Cells`] along the feature. The curve at
//!    the borders of the cells has a hull of its own, within the one that is sought.
//! 2. Inside of a cell the curve keeps to a box. A cell can hold a corner only if the outer corner
//!    of its box is outside of the hull of the borders. A direction that could not catch up with the
//!    other one if every cell reached that far is dropped.
//! 3. A second pass takes the rows of the cells that are left, often a tenth of all or less, and
//!    of those next to a corner at a border, whose values a cut has to part. They are sorted, and
//!    the hull of their points is that of all.
//!
//! Extra memory: two bytes a row for the cells, and twenty for each row taken.

use rayon::prelude::*;

use super::bins::{Direction, place_among};
use super::cells::Cells;
use crate::data::{ClassMasses, ClassSums, RowTally, Tally, Value, midpoint};
use crate::roc::Score;
use crate::{Interrupt, RankError};

/// A number whose values are cut.
pub(super) struct Feature<'a, T, R> {
    /// Value of each row, at least one.
    pub values: &'a [T],
    /// What each row adds to its interval: nothing if it does not count.
    pub rows: &'a R,
    /// Values that stand apart.
    pub special: &'a [f64],
    /// The only direction allowed, if one is.
    pub direction: Option<Direction>,
    /// Shares of the rows to be worked on in parallel.
    pub n_shares: usize,
}

impl<'a, T, R> Feature<'a, T, R> {
    /// Other values, to be cut alike.
    pub fn of<U>(&self, values: &'a [U]) -> Feature<'a, U, R> {
        let Self { rows, special, direction, n_shares, .. } = *self;
        Feature { values, rows, special, direction, n_shares }
    }
}

/// Intervals of a number that reach the largest AUC of any that are ranked in the order of the
/// feature, up or down.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestCuts {
    pub direction: Direction,
    /// Ascending.
    pub cuts: Vec<f64>,
    /// The rows of each interval, in ascending order of the values; then those of each special
    /// value; then those that miss the feature.
    pub sums: Vec<ClassSums>,
}

/// Memory for one feature after the other.
#[derive(Debug)]
pub(super) struct Memory<C> {
    /// Cell of each row.
    cells: Vec<u16>,
    /// What is in each cell, for each share of the rows.
    tallies: Vec<Vec<C>>,
    /// Rows to sort, of each share.
    taken: Vec<Vec<u32>>,
    /// Where the rows to sort of each cell end.
    ends: Vec<u32>,
    /// The rows to sort, cell by cell.
    records: Vec<Record>,
    spare: Vec<Record>,
}

impl<C> Default for Memory<C> {
    fn default() -> Self {
        let (cells, tallies, taken) = (Vec::new(), Vec::new(), Vec::new());
        let (ends, records, spare) = (Vec::new(), Vec::new(), Vec::new());
        Self { cells, tallies, taken, ends, records, spare }
    }
}

/// A row to sort.
#[derive(Debug, Clone, Copy, Default)]
struct Record {
    key: u64,
    row: u32,
}

/// Rows up to which all are sorted at once.
const FEW_ROWS: usize = 1 << 11;

/// Rows of a cell aimed at.
const CELL: usize = 16;

/// Cells aimed at, at most: the number of a cell has 16 bits.
const MOST_CELLS: usize = (1 << 16) - Cells::MOST_OTHERS - SPARE_CELLS;

/// Cells of infinity, of what is missing, and of special values.
const SPARE_CELLS: usize = 4;

/// Rows between two looks at the interrupt.
const STRETCH: usize = 1 << 16;

/// Cuts a feature at the corners of the concave hull of its ROC curve (MAD2C, sec. 4.2 of the paper),
/// in the direction with the larger area under the hull, ties increasing (DECISIONS R3), or in the
/// one that is given.
///
/// Missing values, special ones and rows that do not count are left out. Equal values are one point
/// of the curve (DECISIONS R2), corners on a line between others are dropped (R9), and slopes are
/// compared exactly. `None` where a value is infinite.
///
/// # Errors
///
/// [`RankError::Interrupted`].
pub(super) fn best_cuts<T: Value, R: RowTally>(
    feature: &Feature<'_, T, R>,
    memory: &mut Memory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<Option<BestCuts>, RankError> {
    let found = if feature.values.len() <= FEW_ROWS {
        sort_all(feature, memory)
    } else {
        sieve(feature, memory, interrupt)?
    };
    let Some(Sieved { runs, mut apart }) = found else { return Ok(None) };

    let mut points = vec![ClassSums::default()];
    let mut keys = Vec::new();
    let (mut up_to, mut start) = (ClassSums::default(), 0);
    for run in runs {
        match run {
            Run::Whole(sums) => up_to += sums,
            Run::Sorted { end } => {
                for tied in memory.records[start..end].chunk_by(|a, b| a.key == b.key) {
                    let mut tally = R::Tally::default();
                    tied.iter().for_each(|record| tally += feature.rows.of(record.row as usize));
                    let sums = tally.sums();
                    if sums.rows > 0 {
                        up_to += sums;
                        keys.push(tied[0].key);
                        points.push(up_to);
                    }
                }
                start = end;
            }
        }
    }
    if points.last() != Some(&up_to) {
        // No cut is next to it: the key is never read.
        keys.push(u64::MAX);
        points.push(up_to);
    }
    let masses: Vec<ClassMasses> = points.iter().map(|&sums| sums.into()).collect();
    let hull = directions(feature.direction)
        .map(|direction| Hull::of(&masses, direction))
        .reduce(|best, other| if other.area > best.area { other } else { best });
    let Hull { direction, corners, .. } = hull.expect("a direction");
    let inner = corners.get(1..corners.len().saturating_sub(1)).unwrap_or(&[]);
    let value = |place: usize| f64::from_key(keys[place]);
    let cuts = inner.iter().map(|&corner| midpoint(value(corner - 1), value(corner))).collect();
    let mut sums: Vec<ClassSums> =
        corners.windows(2).map(|pair| points[pair[1]] - points[pair[0]]).collect();
    if sums.is_empty() {
        sums.push(ClassSums::default());
    }
    sums.append(&mut apart);
    Ok(Some(BestCuts { direction, cuts, sums }))
}

fn directions(only: Option<Direction>) -> impl Iterator<Item = Direction> {
    [Direction::Increasing, Direction::Decreasing]
        .into_iter()
        .filter(move |&direction| only.is_none_or(|only| only == direction))
}

/// Pieces of a feature in ascending order of the values.
enum Run {
    /// Rows without a corner among them or next to them.
    Whole(ClassSums),
    /// Records up to this one, sorted.
    Sorted { end: usize },
}

struct Sieved {
    runs: Vec<Run>,
    /// The rows of each special value, then those that miss the feature.
    apart: Vec<ClassSums>,
}

/// All rows, in order. `None` where a value is infinite.
fn sort_all<T: Value, R: RowTally>(
    feature: &Feature<'_, T, R>,
    memory: &mut Memory<R::Tally>,
) -> Option<Sieved> {
    let mut apart = vec![ClassSums::default(); feature.special.len() + 1];
    let Memory { records, spare, .. } = memory;
    records.clear();
    for (row, &value) in feature.values.iter().enumerate() {
        let value = value.into();
        let place = place_among(feature.special, value);
        if let Some(place) = place.or(value.is_nan().then_some(feature.special.len())) {
            apart[place] += feature.rows.of(row).sums();
        } else if value.is_infinite() {
            return None;
        } else {
            records.push(Record { key: value.key(), row: row as u32 });
        }
    }
    sort(records, spare);
    Some(Sieved { runs: vec![Run::Sorted { end: records.len() }], apart })
}

/// The rows that a corner may be next to, in order. `None` where a value is infinite.
fn sieve<T: Value, R: RowTally>(
    feature: &Feature<'_, T, R>,
    memory: &mut Memory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<Option<Sieved>, RankError> {
    let cells = Cells::lay_out(feature.values, (feature.values.len() / CELL).min(MOST_CELLS));
    let Some(mut apart) = count(feature, &cells, memory, interrupt)? else { return Ok(None) };
    let tallies = &memory.tallies[0];
    apart.push(cells.missing().into_iter().map(|cell| tallies[cell].sums()).sum());

    let filled: Vec<(usize, ClassSums)> = tallies[..cells.n()]
        .iter()
        .enumerate()
        .map(|(cell, tally)| (cell, tally.sums()))
        .filter(|(_, sums)| sums.rows > 0)
        .collect();
    let mut is_wanted = vec![false; cells.n() + SPARE_CELLS];
    for place in places_to_refine(&filled, feature.direction) {
        is_wanted[filled[place].0] = true;
    }
    take(feature, &is_wanted, memory, interrupt)?;
    let runs = filled
        .into_iter()
        .map(|(cell, sums)| match is_wanted[cell] {
            true => Run::Sorted { end: memory.ends[cell] as usize },
            false => Run::Whole(sums),
        })
        .collect();
    Ok(Some(Sieved { runs, apart }))
}

/// Counts the classes in each cell, into the first of the tallies, and remembers the cell of each
/// row. Returns the rows of each special value, or `None` where a value is infinite.
fn count<T: Value, R: RowTally>(
    feature: &Feature<'_, T, R>,
    cells: &Cells,
    memory: &mut Memory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<Option<Vec<ClassSums>>, RankError> {
    let n_rows = feature.values.len();
    let share = n_rows.div_ceil(feature.n_shares);
    memory.cells.resize(n_rows, 0);
    memory.tallies.resize_with(feature.n_shares, Vec::new);
    let of_share = |(number, (of_row, tallies)): (usize, (&mut [u16], &mut Vec<R::Tally>))| {
        tallies.clear();
        tallies.resize(cells.n() + SPARE_CELLS, R::Tally::default());
        let special_cell = cells.n() + SPARE_CELLS - 1;
        let mut apart = vec![ClassSums::default(); feature.special.len()];
        let mut any_infinite = false;
        for (stretch, of_row) in of_row.chunks_mut(STRETCH).enumerate() {
            interrupt.check()?;
            let start = number * share + stretch * STRETCH;
            let values = &feature.values[start..start + of_row.len()];
            for ((row, &value), of_row) in (start..).zip(values).zip(of_row) {
                let tally = feature.rows.of(row);
                let value = value.into();
                if let Some(place) = place_among(feature.special, value) {
                    apart[place] += tally.sums();
                    *of_row = special_cell as u16;
                    continue;
                }
                let cell = cells.of(value);
                tallies[cell] += tally;
                any_infinite |= cell == cells.infinite();
                *of_row = cell as u16;
            }
        }
        Ok((apart, any_infinite))
    };
    let shares = memory.cells.par_chunks_mut(share).zip(memory.tallies.par_iter_mut());
    let found: Vec<(Vec<ClassSums>, bool)> =
        shares.enumerate().map(of_share).collect::<Result<_, RankError>>()?;
    let (total, others) = memory.tallies.split_first_mut().expect("a share");
    for tallies in others {
        total.iter_mut().zip(tallies).for_each(|(total, tally)| *total += *tally);
    }
    let mut total = vec![ClassSums::default(); feature.special.len()];
    for (apart, any_infinite) in found {
        if any_infinite {
            return Ok(None);
        }
        total.iter_mut().zip(apart).for_each(|(total, apart)| *total += apart);
    }
    Ok(Some(total))
}

/// Sorts the rows of the cells that are wanted.
fn take<T: Value, R: RowTally>(
    feature: &Feature<'_, T, R>,
    is_wanted: &[bool],
    memory: &mut Memory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<(), RankError> {
    const TILE: usize = 1024;
    let share = feature.values.len().div_ceil(feature.n_shares);
    let Memory { cells, taken, ends, records, spare, .. } = memory;
    taken.resize_with(feature.n_shares, Vec::new);
    let shares = cells.par_chunks(share).zip(&mut *taken).enumerate();
    shares.try_for_each(|(number, (cells, taken))| {
        interrupt.check()?;
        taken.clear();
        let mut tile = [0; TILE];
        for (place, cells) in cells.chunks(TILE).enumerate() {
            // No branch: rows that are wanted follow no pattern.
            let start = (number * share + place * TILE) as u32;
            let mut n_taken = 0;
            for (row, &cell) in (start..).zip(cells) {
                tile[n_taken] = row;
                n_taken += usize::from(is_wanted[usize::from(cell)]);
            }
            taken.extend_from_slice(&tile[..n_taken]);
        }
        Ok(())
    })?;
    ends.clear();
    ends.resize(is_wanted.len(), 0);
    let rows = || taken.iter().flatten().map(|&row| (row, usize::from(cells[row as usize])));
    rows().for_each(|(_, cell)| ends[cell] += 1);
    let mut n_taken = 0;
    for end in &mut *ends {
        n_taken += *end;
        *end = n_taken - *end;
    }
    interrupt.check()?;
    records.resize(n_taken as usize, Record::default());
    for (row, cell) in rows() {
        let value: f64 = feature.values[row as usize].into();
        records[ends[cell] as usize] = Record { key: value.key(), row };
        ends[cell] += 1;
    }
    interrupt.check()?;
    let mut start = 0;
    for &end in &*ends {
        sort(&mut records[start..end as usize], spare);
        start = end as usize;
    }
    Ok(())
}

/// Rows up to which sorting by comparison is as fast as any.
const FEW_RECORDS: usize = 128;

/// Sorts records by their keys: dealt by the leading bits in which they differ until few are left.
fn sort(records: &mut [Record], spare: &mut Vec<Record>) {
    if records.len() <= FEW_RECORDS {
        records.sort_unstable_by_key(|record| record.key);
        return;
    }
    let keys = || records.iter().map(|record| record.key);
    let (least, greatest) =
        keys().fold((u64::MAX, 0), |(low, high), key| (low.min(key), high.max(key)));
    if least == greatest {
        return;
    }
    let n_bits = u64::BITS - (greatest - least).leading_zeros();
    let digit_bits = (records.len() / 8).ilog2().min(12).min(n_bits);
    let digit = |key: u64| ((key - least) >> (n_bits - digit_bits)) as usize;
    let mut ends = vec![0; 1 << digit_bits];
    keys().for_each(|key| ends[digit(key)] += 1);
    let mut end = 0;
    for place in &mut ends {
        end += *place;
        *place = end - *place;
    }
    spare.clear();
    spare.extend_from_slice(records);
    for &record in &*spare {
        let place = &mut ends[digit(record.key)];
        records[*place] = record;
        *place += 1;
    }
    if digit_bits < n_bits {
        let mut start = 0;
        for end in ends {
            sort(&mut records[start..end], spare);
            start = end;
        }
    }
}

/// Places of the cells that a corner of the hull of all points may be in or next to.
fn places_to_refine(cells: &[(usize, ClassSums)], only: Option<Direction>) -> Vec<usize> {
    let (mut up_to, mut most) = (ClassMasses::default(), ClassMasses::default());
    let mut points = Vec::with_capacity(cells.len() + 1);
    points.push(up_to);
    for &(_, sums) in cells {
        up_to += sums.into();
        points.push(up_to);
        most = ClassMasses { pos: most.pos.max(sums.pos), neg: most.neg.max(sums.neg) };
    }
    let hulls: Vec<Hull> = directions(only).map(|direction| Hull::of(&points, direction)).collect();
    // A point exceeds the hull of the borders by the positives of its cell at most, to the side by
    // the negatives, and the area grows by as much over the whole width.
    let product = |a: u64, b: u64| i128::from(a) * i128::from(b);
    let growth = 2 * product(most.pos, up_to.neg).min(product(most.neg, up_to.pos));
    let largest = hulls.iter().map(|hull| hull.area).max().unwrap_or(0);
    let mut is_wanted = vec![false; cells.len()];
    for hull in hulls.iter().filter(|hull| hull.area + growth >= largest) {
        for pair in hull.corners.windows(2) {
            let (start, end) = (points[pair[0]], points[pair[1]]);
            for place in pair[0]..pair[1] {
                let (low, high) = (points[place], points[place + 1]);
                let outermost = match hull.direction {
                    Direction::Increasing => ClassMasses { pos: low.pos, neg: high.neg },
                    Direction::Decreasing => ClassMasses { pos: high.pos, neg: low.neg },
                };
                is_wanted[place] |= hull.direction.is_outside(start, end, outermost);
            }
            if pair[0] > 0 {
                is_wanted[pair[0] - 1] = true;
                is_wanted[pair[0]] = true;
            }
        }
    }
    (0..cells.len()).filter(|&place| is_wanted[place]).collect()
}

impl Direction {
    /// Whether a point lies strictly outside of the line from `start` to `end`: sums in ascending
    /// order of the values. Of a decreasing feature the curve runs the same way; of an increasing
    /// one it runs backwards, which turns the picture upside down.
    #[inline]
    fn is_outside(self, start: ClassMasses, end: ClassMasses, point: ClassMasses) -> bool {
        let step = |low: u64, high: u64| i128::from(high) - i128::from(low);
        let (pos, neg) = (step(start.pos, end.pos), step(start.neg, end.neg));
        let above = neg * step(start.pos, point.pos) - pos * step(start.neg, point.neg);
        match self {
            Self::Increasing => above < 0,
            Self::Decreasing => above > 0,
        }
    }
}

/// The hull of a curve in one direction.
struct Hull {
    direction: Direction,
    /// Places of its strict corners, both ends included.
    corners: Vec<usize>,
    /// `2PN (AUC - 1/2)`.
    area: i128,
}

impl Hull {
    /// `points` are sums in ascending order of the values, the first of no rows, no two of them equal.
    fn of(points: &[ClassMasses], direction: Direction) -> Self {
        let mut corners: Vec<usize> = Vec::new();
        for (place, &point) in points.iter().enumerate() {
            while let [.., before, corner] = corners[..] {
                if direction.is_outside(points[before], point, points[corner]) {
                    break;
                }
                corners.pop();
            }
            corners.push(place);
        }
        let groups = corners.windows(2).map(|pair| {
            let (low, high) = (points[pair[0]], points[pair[1]]);
            ClassMasses { pos: high.pos - low.pos, neg: high.neg - low.neg }
        });
        let area = ClassMasses::area(groups);
        let area = if direction == Direction::Increasing { area } else { -area };
        Self { direction, corners, area }
    }
}
