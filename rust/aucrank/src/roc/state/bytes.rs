//! The saved form of a state: a header, the table in order of the score, a checksum.
//!
//! All numbers little-endian. Header: 8 bytes `AUCRANKS`, format version (u32), bits of the unit
//! (u32), greatest size or 0 (u64), kind of the entries (u32: 0 counts, 1 cells), rows of the
//! negative and of the positive class (2 u64), number of entries (u64). An entry of kind 0: key,
//! negative and positive rows (3 u64). One of kind 1: key (u64), width (u32), weights of the classes
//! (2 u64), sums of their squares (2 u128). Last the FNV-1a hash of all that (u64).

use super::cells::{Cell, Count, low_bits};
use super::runs::{Entry, Runs};
use super::{MAX_UNITS, RocState, Table};
use crate::RankError;
use crate::model::fnv1a64;
use crate::roc::Score;

const MAGIC: &[u8; 8] = b"AUCRANKS";
const VERSION: u32 = 1;
const COUNT_BYTES: usize = 24;
const CELL_BYTES: usize = 60;

pub(super) fn write(state: &mut RocState) -> Vec<u8> {
    state.settle();
    let (kind, n, size) = match &state.table {
        Table::Counts(runs) => (0_u32, runs.len(), COUNT_BYTES),
        Table::Cells(runs) => (1, runs.len(), CELL_BYTES),
    };
    let mut bytes = Vec::with_capacity(64 + n * size);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(state.unit_bits.to_le_bytes());
    bytes.extend((state.max_size.unwrap_or(0) as u64).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    for number in [state.rows[0], state.rows[1], n as u64] {
        bytes.extend(number.to_le_bytes());
    }
    match &mut state.table {
        Table::Counts(runs) => {
            for count in runs.one() {
                for number in [count.key, count.rows[0], count.rows[1]] {
                    bytes.extend(number.to_le_bytes());
                }
            }
        }
        Table::Cells(runs) => {
            for cell in runs.one() {
                bytes.extend(cell.key.to_le_bytes());
                bytes.extend(cell.width.to_le_bytes());
                cell.units.iter().for_each(|units| bytes.extend(units.to_le_bytes()));
                cell.squares.iter().for_each(|square| bytes.extend(square.to_le_bytes()));
            }
        }
    }
    let hash = fnv1a64(&bytes);
    bytes.extend(hash.to_le_bytes());
    bytes
}

/// What is left to read.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], RankError> {
        let (taken, rest) = self.0.split_first_chunk::<N>().ok_or_else(|| bad("cut short"))?;
        self.0 = rest;
        Ok(*taken)
    }

    fn u32(&mut self) -> Result<u32, RankError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, RankError> {
        self.take().map(u64::from_le_bytes)
    }

    fn u128(&mut self) -> Result<u128, RankError> {
        self.take().map(u128::from_le_bytes)
    }
}

fn bad(why: impl Into<String>) -> RankError {
    RankError::BadState(why.into())
}

pub(super) fn read(bytes: &[u8]) -> Result<RocState, RankError> {
    let mut reader = Reader(bytes);
    if reader.take::<8>().ok().as_ref() != Some(MAGIC) {
        return Err(bad("they do not begin as one does"));
    }
    let version = reader.u32()?;
    if version == 0 || version > VERSION {
        return Err(bad(format!(
            "they have format version {version}, but this version of aucrank reads versions 1 to {VERSION}"
        )));
    }
    let (content, hash) = bytes.split_last_chunk::<8>().ok_or_else(|| bad("cut short"))?;
    if fnv1a64(content) != u64::from_le_bytes(*hash) {
        return Err(bad("their checksum does not match, so they are cut short or have changed"));
    }
    let read = bytes.len() - reader.0.len();
    reader.0 = content.get(read..).ok_or_else(|| bad("cut short"))?;
    let unit_bits = reader.u32()?;
    let max_size = match reader.u64()? {
        0 => None,
        size => Some(usize::try_from(size).map_err(|_| bad("a size beyond this machine"))?),
    };
    let kind = reader.u32()?;
    let rows = [reader.u64()?, reader.u64()?];
    let n = reader.u64()?;
    let mut state = RocState::new(max_size, 0.5_f64.powi(unit_bits.min(1000).cast_signed()))
        .map_err(|err| bad(err.to_string()))?;
    let size = [COUNT_BYTES, CELL_BYTES]
        .get(kind as usize)
        .ok_or_else(|| bad(format!("unknown kind of entries {kind}")))?;
    if n.checked_mul(*size as u64) != Some(reader.0.len() as u64) {
        return Err(bad(format!("{n} entries do not take {} bytes", reader.0.len())));
    }
    let mut sums = Sums { unit_bits, last: None, units: [0; 2] };
    state.table = if kind == 0 {
        let mut run = Vec::with_capacity(n as usize);
        for _ in 0..n {
            let count = Count { key: reader.u64()?, rows: [reader.u64()?, reader.u64()?] };
            if count.rows.iter().any(|rows| rows.leading_zeros() < unit_bits) {
                return Err(bad("a count too large"));
            }
            sums.add(&Cell::of_rows(count, unit_bits))?;
            run.push(count);
        }
        Table::Counts(Runs::of(run))
    } else {
        let mut run = Vec::with_capacity(n as usize);
        for _ in 0..n {
            let cell = Cell {
                key: reader.u64()?,
                width: reader.u32()?,
                units: [reader.u64()?, reader.u64()?],
                squares: [reader.u128()?, reader.u128()?],
            };
            sums.add(&cell)?;
            run.push(cell);
        }
        Table::Cells(Runs::of(run))
    };
    let fits = |class: usize| {
        let (rows, units) = (rows[class], sums.units[class]);
        rows <= units && (rows == 0) == (units == 0)
    };
    let counted = kind == 1 || rows == sums.units.map(|units| units >> unit_bits);
    let small = max_size.is_none_or(|size| kind == 1 && n <= size as u64);
    if !(fits(0) && fits(1) && counted && small) {
        return Err(bad("their sums contradict each other"));
    }
    (state.rows, state.units) = (rows, sums.units);
    Ok(state)
}

/// What the entries before have shown.
struct Sums {
    unit_bits: u32,
    last: Option<u64>,
    units: [u64; 2],
}

impl Sums {
    /// Refuses an entry that no state has.
    fn add(&mut self, cell: &Cell) -> Result<(), RankError> {
        let least = f64::NEG_INFINITY.key();
        let greatest = f64::INFINITY.key();
        if cell.width > u64::BITS
            || cell.key & low_bits(cell.width) != 0
            || cell.last_key() < least
            || cell.key > greatest
            || self.last.is_some_and(|last| cell.key <= last)
        {
            return Err(bad("their scores are out of order"));
        }
        self.last = Some(cell.last_key());
        for class in [0, 1] {
            let (units, square) = (u128::from(cell.units[class]), cell.squares[class]);
            // Rows weigh one unit at least, and at most all of them together.
            let squares = units..=units.saturating_mul(units);
            self.units[class] = self.units[class].saturating_add(cell.units[class]);
            if !squares.contains(&square) || self.units[class] > MAX_UNITS {
                return Err(bad(format!(
                    "weights out of range, in units of 2^-{}",
                    self.unit_bits
                )));
            }
        }
        if cell.units == [0; 2] { Err(bad("an entry without rows")) } else { Ok(()) }
    }
}
