//! The saved form of a state: a header, the table in order of the score, a checksum.
//!
//! All numbers are little-endian. Header: 8 bytes `AUCRANKS`, format version (u32), bits of the
//! unit of weight, or 2^32 - 1 if weights are kept exactly (u32), maximum size or 0 (u64), kind of
//! the entries (u32: 0 counts, 1 cells, 2 wide cells), rows of the negative and of the positive
//! class (2 u64), number of entries (u64); for wide cells also the words of a sum (u32) and the
//! exponent of their unit (i32). An entry of kind 0: key, negative and positive rows (3 u64). One
//! of kind 1: key (u64), width (u32), weights of the classes (2 u64), sums of their squares (2
//! u128). One of kind 2: the same, with weights of that many words, the lowest first, and squares
//! of twice as many. At the end the FNV-1a hash of all the above (u64).
//!
//! Version 1 had no wide cells, and a default unit of 1: such a state keeps weights exactly.

use super::RocState;
use super::cells::{
    ALL_WORDS, Cell, Count, LOWEST, WideCell, WideTotal, add_words, bit_length, low_bits,
    unit_below,
};
use super::table::{Entry, Runs};
use super::table::{EntryTable, MAX_UNITS, SumWidth, few_units, with_runs};
use crate::RankError;
use crate::roc::Score;
use crate::spilled::fnv1a64;

const MAGIC: &[u8; 8] = b"AUCRANKS";
const VERSION: u32 = 2;
/// Stored in place of the bits of a unit of weight.
const NO_UNIT: u32 = u32::MAX;
const COUNT_BYTES: usize = 24;
const CELL_BYTES: usize = 60;

/// Size of a wide cell in bytes.
fn wide_bytes(words: usize) -> usize {
    12 + 6 * words * size_of::<u64>()
}

pub(super) fn write(state: &mut RocState) -> Result<Vec<u8>, RankError> {
    state.settle()?;
    if let Some(files) = state.files.as_ref().filter(|files| !files.is_empty()) {
        return Err(RankError::BadParameter {
            name: "spill_dir",
            value: format!("given, and {} scores lie in a file there", files.n_entries()),
            rule: "None for a state that is turned into bytes",
        });
    }
    let (kind, size) = match &state.table {
        EntryTable::Counts(_) => (0_u32, COUNT_BYTES),
        EntryTable::Cells(_) => (1, CELL_BYTES),
        EntryTable::Wide2(..) => (2, wide_bytes(2)),
        EntryTable::Wide4(..) => (2, wide_bytes(4)),
        EntryTable::Wide34(..) => (2, wide_bytes(ALL_WORDS)),
    };
    let n = with_runs!(&state.table, |runs| runs.len());
    let mut bytes = Vec::with_capacity(72 + n * size);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(state.unit_bits.unwrap_or(NO_UNIT).to_le_bytes());
    bytes.extend((state.max_size.unwrap_or(0) as u64).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    for number in [state.rows[0], state.rows[1], n as u64] {
        bytes.extend(number.to_le_bytes());
    }
    match &mut state.table {
        EntryTable::Counts(runs) => {
            for count in runs.one() {
                for number in [count.key, count.rows[0], count.rows[1]] {
                    bytes.extend(number.to_le_bytes());
                }
            }
        }
        EntryTable::Cells(runs) => {
            for cell in runs.one() {
                bytes.extend(cell.key.to_le_bytes());
                bytes.extend(cell.width.to_le_bytes());
                cell.units.iter().for_each(|units| bytes.extend(units.to_le_bytes()));
                cell.squares.iter().for_each(|square| bytes.extend(square.to_le_bytes()));
            }
        }
        EntryTable::Wide2(runs, low) => write_wide(runs.one(), *low, &mut bytes),
        EntryTable::Wide4(runs, low) => write_wide(runs.one(), *low, &mut bytes),
        EntryTable::Wide34(runs, low) => write_wide(runs.one(), *low, &mut bytes),
    }
    let hash = fnv1a64(&bytes);
    bytes.extend(hash.to_le_bytes());
    Ok(bytes)
}

fn write_wide<const WORDS: usize>(cells: &[WideCell<WORDS>], low: i32, bytes: &mut Vec<u8>) {
    bytes.extend((WORDS as u32).to_le_bytes());
    bytes.extend(low.to_le_bytes());
    for cell in cells {
        bytes.extend(cell.key.to_le_bytes());
        bytes.extend(cell.width.to_le_bytes());
        let words =
            cell.masses.as_flattened().iter().chain(cell.squares.as_flattened().as_flattened());
        words.for_each(|word| bytes.extend(word.to_le_bytes()));
    }
}

/// The bytes left to read.
struct ByteReader<'a>(&'a [u8]);

impl ByteReader<'_> {
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
    let mut reader = ByteReader(bytes);
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
    let unit_bits = match reader.u32()? {
        NO_UNIT if version > 1 => None,
        0 if version == 1 => None,
        bits => Some(bits),
    };
    let max_size = match reader.u64()? {
        0 => None,
        size => Some(usize::try_from(size).map_err(|_| bad("a size beyond this machine"))?),
    };
    let kind = reader.u32()?;
    let rows = [reader.u64()?, reader.u64()?];
    let n = reader.u64()?;
    let unit = unit_bits.map(|bits| 0.5_f64.powi(bits.min(1000).cast_signed()));
    let mut state = RocState::new(max_size, unit).map_err(|err| bad(err.to_string()))?;
    let (words, low) = match kind {
        2 if version > 1 => (reader.u32()? as usize, reader.u32()?.cast_signed()),
        _ => (0, 0),
    };
    let size = match kind {
        0 => COUNT_BYTES,
        1 => CELL_BYTES,
        2 if [2, 4, ALL_WORDS].contains(&words) => wide_bytes(words),
        _ => return Err(bad(format!("unknown kind of entries {kind}"))),
    };
    // Checked before anything of that size is allocated: the number may be any.
    if n.checked_mul(size as u64) != Some(reader.0.len() as u64) {
        return Err(bad(format!("{n} entries do not take {} bytes", reader.0.len())));
    }
    if !(LOWEST..=0).contains(&low) || unit_below(low) != low || low < 0 && unit_bits.is_some() {
        return Err(bad(format!("weights in units of 2^{low}")));
    }
    let bits = state.bits();
    let mut sums = ReadSums { low, ..ReadSums::default() };
    state.table = match (kind, words) {
        (0, _) => {
            let mut run = Vec::with_capacity(n as usize);
            for _ in 0..n {
                let count = Count { key: reader.u64()?, rows: [reader.u64()?, reader.u64()?] };
                if count.rows.iter().any(|rows| rows.leading_zeros() < bits) {
                    return Err(bad("a count too large"));
                }
                sums.add_cell(&Cell::of_rows(count, bits), bits)?;
                run.push(count);
            }
            EntryTable::Counts(Runs::of(run))
        }
        (1, _) => {
            let mut run = Vec::with_capacity(n as usize);
            for _ in 0..n {
                let cell = Cell {
                    key: reader.u64()?,
                    width: reader.u32()?,
                    units: [reader.u64()?, reader.u64()?],
                    squares: [reader.u128()?, reader.u128()?],
                };
                sums.add_cell(&cell, bits)?;
                run.push(cell);
            }
            EntryTable::Cells(Runs::of(run))
        }
        (_, 2) => EntryTable::Wide2(read_wide(&mut reader, n, &mut sums)?, low),
        (_, 4) => EntryTable::Wide4(read_wide(&mut reader, n, &mut sums)?, low),
        _ => EntryTable::Wide34(read_wide(&mut reader, n, &mut sums)?, low),
    };
    (state.rows, state.totals, state.low) = (rows, sums.totals, low);
    let units = few_units(&sums.totals, bits);
    let has_weight = sums.totals.map(|total| bit_length(&total) > 0);
    // If weights are integers, a row has at least one unit.
    let counts = if kind == 2 { None } else { units };
    let fits = |class: usize| {
        (rows[class] == 0) != has_weight[class]
            && counts.is_none_or(|units| rows[class] <= units[class])
    };
    let counted = kind != 0 || units.is_some_and(|units| rows == units.map(|units| units >> bits));
    let form_fits = match state.form() {
        SumWidth::Narrow => kind < 2 && units.is_some(),
        SumWidth::Wide { words: needed, .. } => kind == 2 && words == needed,
    };
    let few_rows = rows.iter().all(|&rows| rows <= MAX_UNITS);
    let small = max_size.is_none_or(|size| kind != 0 && n <= size as u64);
    if !(fits(0) && fits(1) && few_rows && counted && small && form_fits) {
        return Err(bad("their sums contradict each other"));
    }
    Ok(state)
}

fn read_wide<const WORDS: usize>(
    reader: &mut ByteReader<'_>,
    n: u64,
    sums: &mut ReadSums,
) -> Result<Runs<WideCell<WORDS>>, RankError> {
    let mut run = Vec::with_capacity(n as usize);
    for _ in 0..n {
        let mut cell = WideCell::empty(reader.u64()?, reader.u32()?);
        for word in cell.masses.as_flattened_mut() {
            *word = reader.u64()?;
        }
        for word in cell.squares.as_flattened_mut().as_flattened_mut() {
            *word = reader.u64()?;
        }
        sums.add_keys(&cell, cell.width)?;
        let shift = (sums.low - LOWEST).cast_unsigned();
        for (class, masses) in cell.masses.iter().enumerate() {
            let squares = bit_length(cell.squares[class].as_flattened());
            // The square of a sum is at least that of its largest part, and has no more bits.
            let most = 2 * bit_length(masses);
            let fits = if most == 0 { squares == 0 } else { (1..=most).contains(&squares) };
            if add_words(&mut sums.totals[class], masses, shift) || !fits {
                return Err(bad("weights out of range"));
            }
        }
        if cell.masses == [[0; WORDS]; 2] {
            return Err(bad("an entry without rows"));
        }
        run.push(cell);
    }
    Ok(Runs::of(run))
}

/// Sums over the entries read so far.
struct ReadSums {
    last: Option<u64>,
    low: i32,
    totals: [WideTotal; 2],
}

impl Default for ReadSums {
    fn default() -> Self {
        Self { last: None, low: 0, totals: [[0; ALL_WORDS]; 2] }
    }
}

impl ReadSums {
    /// Refuses keys that cannot follow those before.
    fn add_keys(&mut self, node: &impl Entry, width: u32) -> Result<(), RankError> {
        let least = f64::NEG_INFINITY.key();
        let greatest = f64::INFINITY.key();
        let key = node.key();
        if width > u64::BITS
            || key & low_bits(width) != 0
            || node.last_key() < least
            || key > greatest
            || self.last.is_some_and(|last| key <= last)
        {
            return Err(bad("their scores are out of order"));
        }
        self.last = Some(node.last_key());
        Ok(())
    }

    /// Refuses an entry that no state can contain.
    fn add_cell(&mut self, cell: &Cell, bits: u32) -> Result<(), RankError> {
        self.add_keys(cell, cell.width)?;
        let unit = LOWEST.unsigned_abs() - bits;
        for class in [0, 1] {
            let (units, square) = (u128::from(cell.units[class]), cell.squares[class]);
            // Each row has at least one unit, and at most all units of the cell.
            let squares = units..=units.saturating_mul(units);
            let is_much = add_words(&mut self.totals[class], &[cell.units[class]], unit)
                || cell.units[class] > MAX_UNITS;
            if !squares.contains(&square) || is_much {
                return Err(bad(format!("weights out of range, in units of 2^-{bits}")));
            }
        }
        if cell.units == [0; 2] { Err(bad("an entry without rows")) } else { Ok(()) }
    }
}
