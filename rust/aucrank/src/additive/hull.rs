//! The corners of the concave hull of the ROC curve of a feature.
//!
//! The curve has a point at every value, but the hull has few corners: about n^(1/3) for n rows.
//! Only the rows next to a corner need to be in order, so most are never sorted. The result is
//! exact: a row is skipped only if it cannot touch a corner, and sums are integers.
//!
//! The argument: take the points of the curve at some borders, and their hull. It is inside the
//! hull of all points. Between two borders the curve is monotone, so it stays in the box that they
//! span. If not even the outermost corner of this box is outside the hull of the borders, no point
//! in the box is, and none of them is a corner. So:
//!
//! 1. [`count`] sums the classes in some ten thousand [`Cells`] along the feature, which give the
//!    borders, and stores the cell of each row: one pass.
//! 2. [`skip`] drops the cells whose box shows that they contain no corner. It keeps those next to
//!    a corner at a border, since the cut there is midway between two values that have to be known.
//!    A direction whose area is too small, even if every cell reached its outermost corner, is
//!    dropped.
//! 3. [`take`] collects the rows of the remaining cells, often a tenth of all or less.
//! 4. [`refine`] splits cells with many rows into finer cells and repeats the test, until those
//!    that remain are small; one outlier many orders of magnitude away makes such cells.
//! 5. [`best_cuts`] sorts what remains, cell by cell. The hull of these points is that of all.
//!
//! If a sample has few distinct values, the first pass also finds the cells that hold a single
//! value: they are points of the curve, and their rows are not needed.
//!
//! Time: one pass over the values and one over the cells of the rows, and about twelve times as
//! much for each row taken. Extra memory: two bytes per row for the cells; for each row taken four,
//! and a record of 16 bytes, or 32 if rows have weights; twice that for the records of a cell that
//! is split again.

use std::ops::Range;

use super::bins::Direction;
use super::draft::KeyIntervals;
use crate::data::{ClassMasses, ClassSums, RowTally, Tally, Value, midpoint, place_among};
use crate::roc::Score;
use crate::{Interrupt, RankError, parallel};

/// A number to be cut.
pub(super) struct HullFeature<'a, T, R> {
    /// Value of each row, at least one.
    pub values: &'a [T],
    /// Contribution of each row to its interval, zero if it does not count.
    pub rows: &'a R,
    /// Special values, with their own bins.
    pub special: &'a [f64],
    /// The only direction allowed, if there is one.
    pub direction: Option<Direction>,
    /// Shares of the rows that are processed in parallel.
    pub n_shares: usize,
}

impl<'a, T, R> HullFeature<'a, T, R> {
    /// Other values, to be cut in the same way.
    pub fn of<U>(&self, values: &'a [U]) -> HullFeature<'a, U, R> {
        let Self { rows, special, direction, n_shares, .. } = *self;
        HullFeature { values, rows, special, direction, n_shares }
    }
}

/// Intervals of a number with the largest AUC of all partitions that rank along the feature, up or
/// down.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BestCuts {
    pub direction: Direction,
    /// Ascending.
    pub cuts: Vec<f64>,
    /// The rows of each interval, in ascending order of the values; then those of each special
    /// value; then those with a missing value.
    pub sums: Vec<ClassSums>,
}

/// Scratch memory, reused from feature to feature.
#[derive(Debug)]
pub(super) struct HullMemory<C> {
    /// Cell of each row.
    cells: Vec<u16>,
    /// Sums of each share of the rows.
    shares: Vec<HullShare<C>>,
    /// End of the records of each cell.
    ends: Vec<u32>,
    /// The rows to sort, cell by cell.
    records: Vec<HullRecord<C>>,
    spare: Vec<HullRecord<C>>,
}

#[derive(Debug)]
struct HullShare<C> {
    /// Class sums of each cell.
    tallies: Vec<C>,
    /// Whether a cell holds other keys than the sampled one.
    is_mixed: Vec<bool>,
    /// Rows to sort.
    taken: Vec<u32>,
    /// The rows of each special value.
    special: Vec<ClassSums>,
    any_infinite: bool,
}

/// A row to sort.
#[derive(Debug, Clone, Copy, Default)]
struct HullRecord<C> {
    key: u64,
    tally: C,
}

impl<C> Default for HullMemory<C> {
    fn default() -> Self {
        let (cells, shares, ends) = (Vec::new(), Vec::new(), Vec::new());
        Self { cells, shares, ends, records: Vec::new(), spare: Vec::new() }
    }
}

impl<C> Default for HullShare<C> {
    fn default() -> Self {
        let (tallies, is_mixed, taken) = (Vec::new(), Vec::new(), Vec::new());
        Self { tallies, is_mixed, taken, special: Vec::new(), any_infinite: false }
    }
}

/// Maximum number of rows that are sorted directly.
const FEW_ROWS: usize = 1 << 11;

/// Target number of rows per cell.
const CELL: usize = 32;

/// Maximum target number of cells: the index of a cell has 16 bits.
const MOST_CELLS: usize = (1 << 16) - KeyIntervals::MOST_OTHERS - SPARE_CELLS;

/// Cells of infinity, missing values and special values.
const SPARE_CELLS: usize = 4;

/// Rows between two checks of the interrupt.
const STRETCH: usize = 1 << 16;

/// Cuts a feature at the corners of the concave hull of its ROC curve (MAD2C, sec. 4.2 of the
/// paper), in the given direction or else the one with the larger area under the hull, ties
/// increasing (DECISIONS R3).
///
/// Missing values, special ones and rows of weight zero are left out. Equal values are one point of
/// the curve (DECISIONS R2), collinear corners are dropped (R9), and slopes are compared exactly.
/// `None` if a value is infinite.
///
/// # Errors
///
/// [`RankError::Interrupted`].
pub(super) fn best_cuts<T: Value, R: RowTally>(
    feature: &HullFeature<'_, T, R>,
    memory: &mut HullMemory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<Option<BestCuts>, RankError> {
    let found = if feature.values.len() <= FEW_ROWS {
        take_all(feature, memory)
    } else {
        skipping_pieces(feature, memory, interrupt)?
    };
    let Some(HullSample { pieces, mut special }) = found else { return Ok(None) };
    let pieces = refine(pieces, memory, feature.direction, interrupt)?;

    let mut curve = Curve::default();
    for piece in pieces {
        match piece.rows {
            // No cut is at its borders, so the key is never read.
            HullRows::Skipped => curve.push(0, piece.sums),
            HullRows::Tied(key) => curve.push(key, piece.sums),
            HullRows::Open(rows) => {
                let records = &mut memory.records[rows];
                records.sort_unstable_by_key(|record| record.key);
                let ties = records.chunk_by(|a, b| a.key == b.key);
                ties.for_each(|tied| curve.push(tied[0].key, total(tied)));
            }
        }
    }
    let mut found = curve.cut(feature.direction);
    found.sums.append(&mut special);
    Ok(Some(found))
}

/// The points of the curve that may be corners of its hull, in ascending order of the values.
#[derive(Debug, Default)]
pub(super) struct Curve {
    /// Sums up to each point but the first, which is that of no rows.
    up_to: Vec<ClassSums>,
    /// The value before each of these points.
    keys: Vec<u64>,
}

impl Curve {
    /// Adds rows above the others: those of one value, or several at whose borders no cut is.
    pub(super) fn push(&mut self, key: u64, sums: ClassSums) {
        if sums.rows > 0 {
            self.keys.push(key);
            self.up_to.push(self.up_to.last().copied().unwrap_or_default() + sums);
        }
    }

    /// Cuts at the corners.
    pub(super) fn cut(&self, only: Option<Direction>) -> BestCuts {
        let up_to = |place: usize| match place {
            0 => ClassSums::default(),
            place => self.up_to[place - 1],
        };
        let masses: Vec<ClassMasses> =
            (0..=self.up_to.len()).map(|place| up_to(place).into()).collect();
        let hull = directions(only)
            .map(|direction| Hull::of(&masses, direction))
            .reduce(|best, other| if other.area > best.area { other } else { best });
        let Hull { direction, corners, .. } = hull.expect("a direction");
        let inner = corners.get(1..corners.len() - 1).unwrap_or(&[]);
        let value = |place: usize| f64::from_key(self.keys[place]);
        let cuts = inner.iter().map(|&corner| midpoint(value(corner - 1), value(corner))).collect();
        let mut sums: Vec<ClassSums> =
            corners.windows(2).map(|pair| up_to(pair[1]) - up_to(pair[0])).collect();
        if sums.is_empty() {
            sums.push(ClassSums::default());
        }
        BestCuts { direction, cuts, sums }
    }
}

fn directions(only: Option<Direction>) -> impl Iterator<Item = Direction> {
    [Direction::Increasing, Direction::Decreasing]
        .into_iter()
        .filter(move |&direction| only.is_none_or(|only| only == direction))
}

/// Rows between two borders of the curve.
struct HullPiece {
    sums: ClassSums,
    rows: HullRows,
}

enum HullRows {
    /// No corner is within or next to them.
    Skipped,
    /// They all have the value of this key.
    Tied(u64),
    /// A corner may be within or next to them: a range of the records, or of the cells.
    Open(Range<usize>),
}

/// All rows.
struct HullSample {
    /// The rows on the curve, in ascending order of their values.
    pieces: Vec<HullPiece>,
    /// The rows of each special value, then those with a missing value.
    special: Vec<ClassSums>,
}

/// Few rows, as one piece. `None` if a value is infinite.
fn take_all<T: Value, R: RowTally>(
    feature: &HullFeature<'_, T, R>,
    memory: &mut HullMemory<R::Tally>,
) -> Option<HullSample> {
    let mut special = vec![ClassSums::default(); feature.special.len() + 1];
    let records = &mut memory.records;
    records.clear();
    for (row, &value) in feature.values.iter().enumerate() {
        let (value, tally) = (value.into(), feature.rows.of(row));
        let place = place_among(feature.special, value);
        if let Some(place) = place.or(value.is_nan().then_some(feature.special.len())) {
            special[place] += tally.sums();
        } else if value.is_infinite() {
            return None;
        } else {
            records.push(HullRecord { key: value.key(), tally });
        }
    }
    let piece = HullPiece { sums: total(records), rows: HullRows::Open(0..records.len()) };
    Some(HullSample { pieces: vec![piece], special })
}

/// Many rows, as pieces, most of them skipped. `None` if a value is infinite.
fn skipping_pieces<T: Value, R: RowTally>(
    feature: &HullFeature<'_, T, R>,
    memory: &mut HullMemory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<Option<HullSample>, RankError> {
    let cells =
        KeyIntervals::lay_out(feature.values, (feature.values.len() / CELL).min(MOST_CELLS));
    let ties = cells.ties();
    match &ties {
        Some(keys) => count::<_, _, true>(feature, &cells, keys, memory, interrupt)?,
        None => count::<_, _, false>(feature, &cells, &[], memory, interrupt)?,
    }
    let HullShare { tallies, is_mixed, special, any_infinite, .. } = &mut memory.shares[0];
    if *any_infinite {
        return Ok(None);
    }
    let mut special = std::mem::take(special);
    special.push(cells.missing().into_iter().map(|cell| tallies[cell].sums()).sum());
    let pieces = tallies[..cells.n()].iter().enumerate().map(|(cell, tally)| {
        let rows = match &ties {
            Some(keys) if !is_mixed[cell] => HullRows::Tied(keys[cell]),
            _ => HullRows::Open(cell..cell + 1),
        };
        HullPiece { sums: tally.sums(), rows }
    });
    let pieces = pieces.filter(|piece| piece.sums.rows > 0).collect();
    let mut pieces = skip(pieces, feature.direction);
    let mut is_taken = vec![false; cells.n() + SPARE_CELLS];
    for piece in &pieces {
        if let HullRows::Open(cell) = &piece.rows {
            is_taken[cell.start] = true;
        }
    }
    take(feature, &is_taken, memory, interrupt)?;
    let mut start = 0;
    for piece in &mut pieces {
        if let HullRows::Open(cell) = &mut piece.rows {
            let end = memory.ends[cell.start] as usize;
            *cell = start..end;
            start = end;
        }
    }
    Ok(Some(HullSample { pieces, special }))
}

/// Marks the pieces without a corner of the hull of all points inside or next to them, and merges
/// adjacent ones.
fn skip(mut pieces: Vec<HullPiece>, only: Option<Direction>) -> Vec<HullPiece> {
    let borders = borders(pieces.iter().map(|piece| piece.sums));
    let is_open: Vec<bool> =
        pieces.iter().map(|piece| matches!(piece.rows, HullRows::Open(_))).collect();
    for (piece, is_wanted) in pieces.iter_mut().zip(wanted(&borders, &is_open, only)) {
        if !is_wanted {
            piece.rows = HullRows::Skipped;
        }
    }
    pieces.dedup_by(|next, piece| {
        let is_one = matches!((&piece.rows, &next.rows), (HullRows::Skipped, HullRows::Skipped));
        if is_one {
            piece.sums += next.sums;
        }
        is_one
    });
    pieces
}

/// The pieces of the curve that may have a corner of the hull of all points inside or next to them,
/// given the curve at their borders, and those that may have points inside.
pub(super) fn wanted(
    borders: &[ClassMasses],
    is_open: &[bool],
    only: Option<Direction>,
) -> Vec<bool> {
    let mut hulls: Vec<Hull> =
        directions(only).map(|direction| Hull::of(borders, direction)).collect();
    // A point exceeds the hull of the borders by at most the positives of its piece, or sideways by
    // the negatives, so the area grows by at most that much over the whole width.
    let most = |of: fn(ClassMasses) -> u64| {
        let open = borders.windows(2).zip(is_open).filter(|(_, is_open)| **is_open);
        i128::from(open.map(|(pair, _)| of(pair[1]) - of(pair[0])).max().unwrap_or(0))
    };
    let total = borders[borders.len() - 1];
    let growth = (i128::from(total.neg) * most(|masses| masses.pos))
        .min(i128::from(total.pos) * most(|masses| masses.neg));
    let largest = hulls.iter().map(|hull| hull.area).max().unwrap_or(0);
    hulls.retain(|hull| hull.area + 2 * growth >= largest);

    let mut is_wanted = vec![false; is_open.len()];
    for Hull { direction, corners, .. } in hulls {
        for pair in corners.windows(2) {
            let (start, end) = (pair[0], pair[1]);
            for place in start..end {
                let (low, high) = (borders[place], borders[place + 1]);
                let outermost = match direction {
                    Direction::Increasing => ClassMasses { pos: low.pos, neg: high.neg },
                    Direction::Decreasing => ClassMasses { pos: high.pos, neg: low.neg },
                };
                is_wanted[place] |= direction.is_outside(borders[start], borders[end], outermost);
            }
            is_wanted[start] = true;
            is_wanted[end - 1] = true;
        }
    }
    is_wanted
}

/// The curve at the borders of pieces with these sums.
pub(super) fn borders(sums: impl Iterator<Item = ClassSums>) -> Vec<ClassMasses> {
    let mut up_to = ClassMasses::default();
    let ends = sums.map(|sums| {
        up_to += sums.into();
        up_to
    });
    std::iter::once(ClassMasses::default()).chain(ends).collect()
}

/// A share of the rows: its index, the cell of each row, and the sums over them.
type OfShare<'a, T> = (usize, (&'a mut [u16], &'a mut HullShare<T>));

/// Counts the classes in each cell, into the first share, and stores the cell of each row. With
/// `TIES`, also finds which cells hold other keys than their own of `keys`.
fn count<T: Value, R: RowTally, const TIES: bool>(
    feature: &HullFeature<'_, T, R>,
    cells: &KeyIntervals,
    keys: &[u64],
    memory: &mut HullMemory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<(), RankError> {
    let n_rows = feature.values.len();
    let rows_of_share = n_rows.div_ceil(feature.n_shares);
    let special_cell = cells.n() + SPARE_CELLS - 1;
    memory.cells.resize(n_rows, 0);
    memory.shares.resize_with(n_rows.div_ceil(rows_of_share), HullShare::default);
    let shares = memory.cells.chunks_mut(rows_of_share).zip(&mut memory.shares).enumerate();
    let count_share = |(number, (cell_of_row, share)): OfShare<'_, R::Tally>| {
        let HullShare { tallies, is_mixed, special, any_infinite, .. } = share;
        tallies.clear();
        tallies.resize(cells.n() + SPARE_CELLS, R::Tally::default());
        is_mixed.clear();
        is_mixed.resize(keys.len(), false);
        special.clear();
        special.resize(feature.special.len(), ClassSums::default());
        *any_infinite = false;
        for (stretch, cell_of_row) in cell_of_row.chunks_mut(STRETCH).enumerate() {
            interrupt.check()?;
            let start = number * rows_of_share + stretch * STRETCH;
            let values = &feature.values[start..start + cell_of_row.len()];
            for ((row, &value), cell_of_row) in (start..).zip(values).zip(cell_of_row) {
                let (value, tally) = (value.into(), feature.rows.of(row));
                if let Some(place) = place_among(feature.special, value) {
                    special[place] += tally.sums();
                    *cell_of_row = special_cell as u16;
                    continue;
                }
                let key = value.key();
                let cell = cells.of(key);
                tallies[cell] += tally;
                *any_infinite |= cell == cells.infinite();
                *cell_of_row = cell as u16;
                if TIES && cell < keys.len() {
                    is_mixed[cell] |= keys[cell] != key;
                }
            }
        }
        Ok(())
    };
    parallel::try_map(shares.collect(), count_share)?;
    let (total, others) = memory.shares.split_first_mut().expect("a share");
    for share in others {
        total.any_infinite |= share.any_infinite;
        total.tallies.iter_mut().zip(&share.tallies).for_each(|(total, &part)| *total += part);
        total.special.iter_mut().zip(&share.special).for_each(|(total, &part)| *total += part);
        total.is_mixed.iter_mut().zip(&share.is_mixed).for_each(|(total, &part)| *total |= part);
    }
    Ok(())
}

/// Collects the rows of some cells, cell by cell.
fn take<T: Value, R: RowTally>(
    feature: &HullFeature<'_, T, R>,
    is_taken: &[bool],
    memory: &mut HullMemory<R::Tally>,
    interrupt: &Interrupt,
) -> Result<(), RankError> {
    const TILE: usize = 1024;
    let rows_of_share = feature.values.len().div_ceil(feature.n_shares);
    let HullMemory { cells, shares, ends, records, .. } = memory;
    let parts = cells.chunks(rows_of_share).zip(&mut *shares).enumerate().collect();
    parallel::map(
        parts,
        |(number, (cells, share)): (usize, (&[u16], &mut HullShare<R::Tally>))| {
            share.taken.clear();
            let mut tile = [0; TILE];
            for (place, cells) in cells.chunks(TILE).enumerate() {
                // Without a branch, since the pattern is unpredictable.
                let start = (number * rows_of_share + place * TILE) as u32;
                let mut n_taken = 0;
                for (row, &cell) in (start..).zip(cells) {
                    tile[n_taken] = row;
                    n_taken += usize::from(is_taken[usize::from(cell)]);
                }
                share.taken.extend_from_slice(&tile[..n_taken]);
            }
        },
    );
    interrupt.check()?;
    let rows = || {
        let rows = shares.iter().flat_map(|share| &share.taken).map(|&row| row as usize);
        rows.map(|row| (row, usize::from(cells[row])))
    };
    ends.clear();
    ends.resize(is_taken.len(), 0);
    rows().for_each(|(_, cell)| ends[cell] += 1);
    let n_taken = starts(ends);
    interrupt.check()?;
    records.resize(n_taken as usize, HullRecord::default());
    for (row, cell) in rows() {
        let value: f64 = feature.values[row].into();
        records[ends[cell] as usize] = HullRecord { key: value.key(), tally: feature.rows.of(row) };
        ends[cell] += 1;
    }
    interrupt.check()
}

/// Replaces counts by their exclusive prefix sums; returns the total.
fn starts(counts: &mut [u32]) -> u32 {
    counts.iter_mut().fold(0, |start, count| {
        let end = start + *count;
        *count = start;
        end
    })
}

/// Number of records up to which sorting is as fast as splitting.
const FEW_RECORDS: usize = 48;

/// Maximum number of splits; pieces still large after that are sorted. Only adversarial keys take
/// more than two or three.
const MOST_DEALS: usize = 6;

/// Splits the records of large pieces until all remaining ones are small.
fn refine<C: Tally>(
    mut pieces: Vec<HullPiece>,
    memory: &mut HullMemory<C>,
    only: Option<Direction>,
    interrupt: &Interrupt,
) -> Result<Vec<HullPiece>, RankError> {
    let is_large =
        |piece: &HullPiece| matches!(&piece.rows, HullRows::Open(rows) if rows.len() > FEW_RECORDS);
    let HullMemory { records, spare, .. } = memory;
    for _ in 0..MOST_DEALS {
        interrupt.check()?;
        if !pieces.iter().any(is_large) {
            break;
        }
        let mut finer = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece.rows {
                HullRows::Open(rows) if rows.len() > FEW_RECORDS => {
                    deal(&mut records[rows.clone()], rows.start, spare, &mut finer);
                }
                _ => finer.push(piece),
            }
        }
        pieces = skip(finer, only);
    }
    Ok(pieces)
}

/// Splits records by the leading bits in which their keys differ.
fn deal<C: Tally>(
    records: &mut [HullRecord<C>],
    first: usize,
    spare: &mut Vec<HullRecord<C>>,
    pieces: &mut Vec<HullPiece>,
) {
    let keys = || records.iter().map(|record| record.key);
    let (least, greatest) =
        keys().fold((u64::MAX, 0), |(low, high), key| (low.min(key), high.max(key)));
    if least == greatest {
        pieces.push(HullPiece { sums: total(records), rows: HullRows::Tied(least) });
        return;
    }
    let n_bits = u64::BITS - (greatest - least).leading_zeros();
    // The least and the greatest key differ in the first of these bits, so that they part: each
    // pass makes progress.
    let digit_bits = (records.len() / 8).ilog2().min(14).min(n_bits);
    let digit = |key: u64| ((key - least) >> (n_bits - digit_bits)) as usize;
    let mut ends = vec![0; 1 << digit_bits];
    keys().for_each(|key| ends[digit(key)] += 1);
    starts(&mut ends);
    spare.clear();
    spare.extend_from_slice(records);
    for &record in &*spare {
        let place = &mut ends[digit(record.key)];
        records[*place as usize] = record;
        *place += 1;
    }
    let mut start = 0;
    for end in ends {
        let rows = start..end as usize;
        let sums = total(&records[rows.clone()]);
        if sums.rows > 0 {
            pieces.push(HullPiece {
                sums,
                rows: HullRows::Open(first + rows.start..first + rows.end),
            });
        }
        start = end as usize;
    }
}

fn total<C: Tally>(records: &[HullRecord<C>]) -> ClassSums {
    let mut total = C::default();
    for record in records {
        total += record.tally;
    }
    total.sums()
}

impl Direction {
    /// Whether a point is strictly outside the line from `start` to `end`, given as sums in
    /// ascending order of the values. For a decreasing feature the curve runs the same way; for an
    /// increasing one it runs backwards, which flips the sign.
    #[inline]
    fn is_outside(self, start: ClassMasses, end: ClassMasses, point: ClassMasses) -> bool {
        // Weights add up to 2^53 at most: a difference takes one word, a product two.
        let step = |low: u64, high: u64| i128::from(high as i64 - low as i64);
        let (pos, neg) = (step(start.pos, end.pos), step(start.neg, end.neg));
        let above = neg * step(start.pos, point.pos) - pos * step(start.neg, point.neg);
        match self {
            Self::Increasing => above < 0,
            Self::Decreasing => above > 0,
        }
    }
}

/// Stride of the points that are examined first: the monotone chain over them has unpredictable
/// branches, and most other points need none of it.
const STEP: usize = 16;

/// The hull of a curve in one direction.
struct Hull {
    direction: Direction,
    /// Indices of its strict corners, both ends included.
    corners: Vec<usize>,
    /// `2PN (AUC - 1/2)`.
    area: i128,
}

impl Hull {
    /// `points` are sums in ascending order of the values, the first of no rows, all different.
    fn of(points: &[ClassMasses], direction: Direction) -> Self {
        let last = points.len() - 1;
        let mut candidates: Vec<usize> = (0..last).step_by(STEP).chain([last]).collect();
        let mut corners = Self::strict_corners(points, direction, &candidates);
        if candidates.len() < points.len() {
            // Apart from the corners of every `STEP`-th point only points outside their hull
            // matter.
            candidates.clear();
            for pair in corners.windows(2) {
                let (start, end) = (points[pair[0]], points[pair[1]]);
                let is_outside = |place: &usize| direction.is_outside(start, end, points[*place]);
                candidates.push(pair[0]);
                candidates.extend((pair[0] + 1..pair[1]).filter(is_outside));
            }
            candidates.push(last);
            corners = Self::strict_corners(points, direction, &candidates);
        }
        let groups = corners.windows(2).map(|pair| {
            let (low, high) = (points[pair[0]], points[pair[1]]);
            ClassMasses { pos: high.pos - low.pos, neg: high.neg - low.neg }
        });
        let area = ClassMasses::area(groups);
        let area = if direction == Direction::Increasing { area } else { -area };
        Self { direction, corners, area }
    }

    /// The strict corners among the points at some indices, by the monotone chain.
    fn strict_corners(
        points: &[ClassMasses],
        direction: Direction,
        places: &[usize],
    ) -> Vec<usize> {
        let mut corners: Vec<usize> = Vec::new();
        for &place in places {
            while let [.., before, corner] = corners[..] {
                if direction.is_outside(points[before], points[place], points[corner]) {
                    break;
                }
                corners.pop();
            }
            corners.push(place);
        }
        corners
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::data::{CountedRows, Labels, WeightedRows};

    /// Distinct values in ascending order, with the rows of each.
    fn distinct(values: &[f64], labels: &Labels<'_>, special: &[f64]) -> Vec<(f64, ClassSums)> {
        let mut groups: BTreeMap<u64, (f64, ClassSums)> = BTreeMap::new();
        for (row, &value) in values.iter().enumerate() {
            let sums = labels.sums(row);
            if !value.is_nan() && !special.contains(&value) && sums.rows > 0 {
                groups.entry(value.key()).or_insert((value, ClassSums::default())).1 += sums;
            }
        }
        groups.into_values().collect()
    }

    /// The definition: every distinct value is a bin, and neighbours are merged until their shares
    /// of positives are strictly monotone.
    fn bins_by_joining(
        groups: &[(f64, ClassSums)],
        direction: Direction,
    ) -> (i128, Vec<f64>, Vec<ClassSums>) {
        let mut bins: Vec<(f64, f64, ClassSums)> = Vec::new();
        for &(value, sums) in groups {
            let mut bin = (value, value, sums);
            while let Some(&last) = bins.last() {
                let order = last.2.cmp_eta(bin.2);
                let ranked = match direction {
                    Direction::Increasing => order.is_lt(),
                    Direction::Decreasing => order.is_gt(),
                };
                if ranked {
                    break;
                }
                bin = (last.0, bin.1, last.2 + bin.2);
                bins.pop();
            }
            bins.push(bin);
        }
        let cuts = bins.windows(2).map(|pair| midpoint(pair[0].1, pair[1].0)).collect();
        let sums: Vec<ClassSums> = bins.into_iter().map(|bin| bin.2).collect();
        (area_by_pairs(&sums, direction), cuts, sums)
    }

    /// Concordant less discordant pairs of bins.
    fn area_by_pairs(bins: &[ClassSums], direction: Direction) -> i128 {
        let (mut below, mut area) = (ClassSums::default(), 0);
        for &bin in bins {
            area += below.gain(bin);
            below += bin;
        }
        if direction == Direction::Increasing { area } else { -area }
    }

    /// The expected cuts.
    pub(in crate::additive) fn expected(
        values: &[f64],
        labels: &Labels<'_>,
        special: &[f64],
        only: Option<Direction>,
    ) -> BestCuts {
        let groups = distinct(values, labels, special);
        let up = bins_by_joining(&groups, Direction::Increasing);
        let down = bins_by_joining(&groups, Direction::Decreasing);
        let better = if down.0 > up.0 { Direction::Decreasing } else { Direction::Increasing };
        let direction = only.unwrap_or(better);
        let (_, cuts, mut sums) = if direction == Direction::Increasing { up } else { down };
        if sums.is_empty() {
            sums.push(ClassSums::default());
        }
        let of = |wanted: &dyn Fn(f64) -> bool| {
            (0..values.len()).filter(|&row| wanted(values[row])).map(|row| labels.sums(row)).sum()
        };
        sums.extend(special.iter().map(|&value| of(&|other| other == value)));
        sums.push(of(&f64::is_nan));
        BestCuts { direction, cuts, sums }
    }

    fn found<T: Value>(
        values: &[T],
        labels: &Labels<'_>,
        special: &[f64],
        direction: Option<Direction>,
        n_shares: usize,
    ) -> Option<BestCuts> {
        fn run<T: Value, R: RowTally>(feature: &HullFeature<'_, T, R>) -> Option<BestCuts> {
            let mut memory = HullMemory::default();
            // Memory that has been used before.
            let _ = best_cuts(feature, &mut memory, &Interrupt::default());
            best_cuts(feature, &mut memory, &Interrupt::default()).unwrap()
        }
        if labels.weights().is_some() {
            let rows = &WeightedRows(labels);
            return run(&HullFeature { values, rows, special, direction, n_shares });
        }
        let rows = &CountedRows(labels.positive());
        run(&HullFeature { values, rows, special, direction, n_shares })
    }

    /// Compares the cuts with the definition: all directions, shares, weights and widths.
    fn check(values: &[f64], positive: &[bool], weights: &[f64], special: &[f64]) {
        let narrow: Vec<f32> = values.iter().map(|&value| value as f32).collect();
        let widened: Vec<f64> = narrow.iter().map(|&value| value.into()).collect();
        let fits = narrow.iter().all(|value| !value.is_infinite());
        for weights in [None, Some(weights)] {
            let Ok(labels) = Labels::new(positive, weights) else { continue };
            for only in [None, Some(Direction::Increasing), Some(Direction::Decreasing)] {
                let expected_cuts = expected(values, &labels, special, only);
                for n_shares in [1, 60] {
                    let found = found(values, &labels, special, only, n_shares);
                    assert!(found.as_ref() == Some(&expected_cuts), "{} rows", values.len());
                }
            }
            if fits {
                let expected = expected(&widened, &labels, special, None);
                assert_eq!(found(&narrow, &labels, special, None, 1), Some(expected));
            }
        }
    }

    #[test]
    fn any_distribution_gives_the_cuts_of_the_definition() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut uniform = move || (rng.next_u64() >> 11) as f64 * 2_f64.powi(-53);
        let laws: [&dyn Fn(f64, usize) -> f64; 17] = [
            // As many orders of magnitude as there are rows: splitting never ends.
            &|u, row| 1.0 + (1.0 + u) * 2_f64.powi(-((row as f64).sqrt() as i32)),
            &|u, _| u,
            &|u, _| (u / (1.0 - u)).ln(),
            &|u, _| -1000.0 - u,
            &|u, _| (u * 5.0).floor() - 2.0,
            &|u, _| (u * 300.0).floor() / 100.0,
            &|u, _| if u < 0.4 { 0.0 } else { u - 0.5 },
            &|u, row| if row % 997 == 3 { 1e300 * (u - 0.5) } else { u },
            &|u, _| if u < 0.5 { 1.0 + u * 1e-9 } else { 1.5 + u * 1e-9 },
            &|u, row| (row % 100) as f64 + u * 1e-9,
            &|u, row| 1.0 + u * 2_f64.powi(-((row % 50) as i32)),
            &|u, _| f64::from_bits((u * 4e15) as u64) * if u < 0.3 { -1.0 } else { 1.0 },
            &|u, _| f64::from_bits((u * 1.8e19) as u64),
            &|_, _| -3.5,
            &|u, row| if row % 3 == 0 { f64::NAN } else { u },
            &|u, row| if row % 20_000 == 1 { 2_f64.next_up() } else { 2.0 + (u * 0.5).floor() },
            &|u, _| if u < 0.5 { -0.0 } else { 0.0 },
        ];
        for n in [2, 50, FEW_ROWS, FEW_ROWS + 1, 40_000] {
            for (number, law) in laws.iter().enumerate() {
                let u: Vec<f64> = (0..n).map(|_| uniform()).collect();
                let mut values: Vec<f64> = (0..n).map(|row| law(u[row], row)).collect();
                values.iter_mut().filter(|v| v.is_infinite()).for_each(|v| *v = -f64::NAN);
                let weights: Vec<f64> = (0..n).map(|_| (uniform() * 3.0).floor()).collect();
                let fractions: Vec<f64> = (0..n).map(|_| uniform().powi(4)).collect();
                let slope = [0.0, 0.2, 2.0, -1.0][number % 4];
                let mut positive: Vec<bool> =
                    u.iter().map(|u| uniform() < 0.3 + slope * (u - 0.5)).collect();
                positive[..2].copy_from_slice(&[true, false]);
                check(&values, &positive, &weights, &[]);
                check(&values, &positive, &fractions, &[values[1], 7.0][number % 2..]);
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
                let values: Vec<f64> = order.iter().map(|&row| values[row]).collect();
                let positive: Vec<bool> = order.iter().map(|&row| positive[row]).collect();
                check(&values, &positive, &weights, &[]);
            }
        }
    }

    #[test]
    fn infinity_is_detected_in_any_row() {
        for n in [10, 3 * FEW_ROWS] {
            for row in [0, n / 2, n - 1] {
                for bad in [f64::INFINITY, f64::NEG_INFINITY] {
                    let mut values: Vec<f64> = (0..n).map(|row| row as f64 - 7.0).collect();
                    let positive: Vec<bool> = (0..n).map(|row| row % 2 == 0).collect();
                    values[row] = bad;
                    let mut weights = vec![1.0; n];
                    weights[row] = 0.0;
                    for weights in [None, Some(&weights[..])] {
                        let labels = Labels::new(&positive, weights).unwrap();
                        assert_eq!(found(&values, &labels, &[], None, 2), None);
                    }
                }
            }
        }
    }

    #[test]
    fn a_fit_stops_on_request() {
        let values: Vec<f64> = (0..2 * FEW_ROWS).map(|row| row as f64).collect();
        let positive: Vec<bool> = (0..values.len()).map(|row| row % 2 == 0).collect();
        let interrupt = Interrupt::default();
        interrupt.stop();
        let rows = &CountedRows(&positive);
        let feature =
            HullFeature { values: &values, rows, special: &[], direction: None, n_shares: 1 };
        let found = best_cuts(&feature, &mut HullMemory::default(), &interrupt);
        assert_eq!(found, Err(RankError::Interrupted));
    }

    /// Every set of cuts between neighbouring values, with its bins.
    fn all_cuts(groups: &[(f64, ClassSums)]) -> impl Iterator<Item = Vec<ClassSums>> {
        (0..1_u32 << (groups.len() - 1)).map(|cuts| {
            let mut bins = vec![groups[0].1];
            for (place, group) in groups[1..].iter().enumerate() {
                if cuts >> place & 1 == 1 {
                    bins.push(group.1);
                } else {
                    *bins.last_mut().unwrap() += group.1;
                }
            }
            bins
        })
    }

    proptest! {
        #[test]
        fn any_values_give_the_cuts_of_the_definition(
            rows in prop::collection::vec((any::<f64>(), any::<bool>(), 0..3_u8), 0..300),
            step in prop::option::of(1e-3..1e3),
        ) {
            let number = |value: f64| if value.is_infinite() { f64::NAN } else { value };
            let tied = |value: f64| step.map_or(value, |step: f64| (value.log2() / step).round());
            let mut values = vec![0.0, -1.0];
            values.extend(rows.iter().map(|row| number(tied(row.0))));
            let mut positive = vec![true, false];
            positive.extend(rows.iter().map(|row| row.1));
            let mut weights = vec![1.0, 1.0];
            weights.extend(rows.iter().map(|row| f64::from(row.2)));
            check(&values, &positive, &weights, &[]);
            check(&values, &positive, &weights, &[values[values.len() / 2], 5.0][..1]);
        }

        #[test]
        fn no_cuts_reach_a_larger_area_and_none_as_large_are_fewer(
            rows in prop::collection::vec((0..8_u8, any::<bool>(), 1..4_u8), 0..40),
        ) {
            let mut values = vec![0.0, 3.0];
            values.extend(rows.iter().map(|row| f64::from(row.0)));
            let mut positive = vec![true, false];
            positive.extend(rows.iter().map(|row| row.1));
            let mut weights = vec![1.0, 1.0];
            weights.extend(rows.iter().map(|row| f64::from(row.2)));
            let labels = Labels::new(&positive, Some(&weights)).unwrap();
            let groups = distinct(&values, &labels, &[]);
            let best = [Direction::Increasing, Direction::Decreasing].map(|direction| {
                let areas = all_cuts(&groups)
                    .map(|bins| (area_by_pairs(&bins, direction), std::cmp::Reverse(bins.len())));
                areas.max().unwrap()
            });
            let found = found(&values, &labels, &[], None, 1).unwrap();
            let bins = &found.sums[..=found.cuts.len()];
            let reached = (area_by_pairs(bins, found.direction), std::cmp::Reverse(bins.len()));
            prop_assert_eq!(reached.0, best[0].0.max(best[1].0));
            // DECISIONS R3: of equal areas, increasing.
            let is_down = best[1].0 > best[0].0;
            prop_assert_eq!(found.direction == Direction::Decreasing, is_down);
            prop_assert_eq!(reached, best[usize::from(is_down)]);
        }

        #[test]
        fn swapped_labels_reverse_the_direction_and_keep_the_cuts(
            rows in prop::collection::vec((0..50_u8, any::<bool>()), 0..200),
        ) {
            let mut values = vec![0.0, 3.0, 60.0];
            values.extend(rows.iter().map(|row| f64::from(row.0)));
            let mut positive = vec![true, false, true];
            positive.extend(rows.iter().map(|row| row.1));
            let swapped: Vec<bool> = positive.iter().map(|positive| !positive).collect();
            let mirrored: Vec<f64> = values.iter().map(|value| -value).collect();
            let cut = |values: &[f64], positive: &[bool], only| {
                found(values, &Labels::new(positive, None).unwrap(), &[], Some(only), 1).unwrap()
            };
            let up = cut(&values, &positive, Direction::Increasing);
            let down = cut(&values, &swapped, Direction::Decreasing);
            prop_assert_eq!(&up.cuts, &down.cuts);
            for (a, b) in up.sums.iter().zip(&down.sums) {
                prop_assert_eq!((a.pos, a.neg, a.rows), (b.neg, b.pos, b.rows));
            }
            let turned = cut(&mirrored, &positive, Direction::Decreasing);
            let cuts: Vec<f64> = turned.cuts.iter().rev().map(|cut| -cut).collect();
            prop_assert_eq!(&up.cuts, &cuts);
        }

        #[test]
        fn values_next_to_each_other_are_kept_apart(start in any::<f64>(), n in 2..40_usize) {
            prop_assume!(start.is_finite() && start < 1e300);
            let values: Vec<f64> =
                std::iter::successors(Some(start), |value| Some(value.next_up())).take(n).collect();
            let positive: Vec<bool> = (0..n).map(|row| 2 * row >= n).collect();
            let labels = Labels::new(&positive, None).unwrap();
            let found = found(&values, &labels, &[], None, 1).unwrap();
            prop_assert_eq!(found.cuts.len(), 1);
            for (&value, &positive) in values.iter().zip(&positive) {
                // DECISIONS R4: a value equal to a cut is above it.
                prop_assert_eq!(value >= found.cuts[0], positive);
            }
        }
    }

    #[test]
    fn neighbouring_values_of_one_class_are_not_separated_unless_tied_with_the_other() {
        // DECISIONS E11.
        let cut = |values: &[f64], positive: &[bool]| {
            found(values, &Labels::new(positive, None).unwrap(), &[], None, 1).unwrap().cuts
        };
        assert_eq!(cut(&[1.0, 2.0, 3.0, 4.0], &[false, false, true, true]), [2.5]);
        let tied = cut(&[1.0, 2.0, 2.0, 3.0], &[false, true, false, true]);
        assert_eq!(tied, [1.5, 2.5]);
    }

    #[test]
    fn a_corner_on_a_line_between_others_is_no_cut() {
        // Three values with the same share of positives (DECISIONS R9, R12).
        let values = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0];
        let labels = [true, false].repeat(3);
        let labels = Labels::new(&labels, None).unwrap();
        let found = found(&values, &labels, &[], None, 1).unwrap();
        assert_eq!((found.cuts.len(), found.direction), (0, Direction::Increasing));
    }
}
