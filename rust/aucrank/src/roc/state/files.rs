//! Runs of a table in files, if it is larger than the memory it may take.
//!
//! A run is written once, in ascending order, and read from its start. An entry is a byte that says
//! how many bytes the difference from the key before takes and whether it is a single row; that
//! difference; and its weights, unless they follow. One of 10^9 distinct scores takes some six
//! bytes, less than the score did. For a statistic, all runs are merged into one.
//!
//! These bytes lie in frames, each followed by a checksum over them and their place, so that what
//! has changed in a file is an error and not another statistic.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::cells::{Cell, Count, WideCell};
use super::table::{Entry, Runs};
use crate::RankError;
use crate::spilled::{TemporaryFile, checksum, storage};

/// Bytes written or read at once.
const BLOCK: usize = 1 << 20;

/// No entry takes more bytes.
const LONGEST: usize = 1 << 11;

/// Bytes that share a checksum.
const FRAME: usize = 2 * LONGEST;

/// Bytes of a frame in a file.
pub(super) const FRAME_IN_FILE: usize = FRAME + size_of::<u64>();

/// Form of the entries of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Rows that weigh `2^bits` units each.
    Counts { bits: u32 },
    /// In units of `2^-bits`.
    Cells { bits: u32 },
    /// In units of `2^low`.
    Wide { words: usize, low: i32 },
}

/// The files of a state: one to which runs are appended, and those of states that were added.
#[derive(Debug)]
pub(super) struct Files {
    folder: PathBuf,
    /// Bytes of memory for rows that wait, and for entries.
    pub max_bytes: usize,
    /// The file that is appended to, and its bytes so far.
    last: Option<(Arc<TemporaryFile>, u64)>,
    runs: Vec<Arc<FileRun>>,
    /// The error of a statistic that read a run.
    failure: Arc<OnceLock<RankError>>,
}

#[derive(Debug)]
struct FileRun {
    file: Arc<TemporaryFile>,
    /// Where the run begins in the file, and where it ends.
    offset: u64,
    end: u64,
    n_entries: usize,
    kind: Kind,
}

impl Clone for Files {
    /// Shares the runs; those to come are appended to a file of its own.
    fn clone(&self) -> Self {
        let (folder, runs) = (self.folder.clone(), self.runs.clone());
        let failure = Arc::clone(&self.failure);
        Self { folder, max_bytes: self.max_bytes, last: None, runs, failure }
    }
}

impl Files {
    pub fn new(folder: &Path, max_bytes: usize) -> Result<Self, RankError> {
        if !folder.is_dir() {
            return Err(storage(folder, "there is no such folder"));
        }
        let (folder, failure) = (folder.to_owned(), Arc::default());
        Ok(Self { folder, max_bytes, last: None, runs: Vec::new(), failure })
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Number of entries in files, of which some may be of one score if there are several files.
    pub fn n_entries(&self) -> usize {
        self.runs.iter().map(|run| run.n_entries).sum()
    }

    /// Whether all entries are in one file, of this kind.
    pub fn is_one(&self, kind: Kind) -> bool {
        matches!(&self.runs[..], [run] if run.kind == kind)
    }

    /// The same folder and memory, and none of the runs.
    pub fn without_runs(&self) -> Self {
        Self { runs: Vec::new(), failure: Arc::default(), ..self.clone() }
    }

    /// Shares the runs of another state.
    pub fn append(&mut self, other: &Self) {
        self.runs.extend(other.runs.iter().cloned());
    }

    /// Moves the runs of a table to files. An error leaves both as they were.
    pub fn take<E: Packed>(&mut self, runs: &mut Runs<E>, kind: Kind) -> Result<(), RankError> {
        let (file, mut end) = match self.last.take().filter(|(file, _)| file.is_own()) {
            Some(last) => last,
            None => (self.create()?, 0),
        };
        let mut written = Vec::new();
        for run in runs.each().filter(|run| !run.is_empty()) {
            let mut writer = Writer::new(Arc::clone(&file), end);
            run.iter().try_for_each(|entry| writer.push(entry))?;
            let run = writer.finish(kind)?;
            end = run.end;
            written.push(Arc::new(run));
        }
        *runs = Runs::default();
        self.last = Some((file, end));
        self.runs.extend(written);
        Ok(())
    }

    /// Merges all runs into one of this kind.
    pub fn merge<E: MergeTarget>(&mut self, kind: Kind) -> Result<(), RankError> {
        // All runs are read at once, in blocks that together take an eighth of the memory that is
        // allowed.
        let n_bytes = (self.max_bytes / 8 / self.runs.len().max(1)).clamp(2 * LONGEST, BLOCK);
        let mut sources: Vec<Source<E>> =
            self.runs.iter().map(|run| E::source(RunReader::new(run, n_bytes), kind)).collect();
        let mut first = Vec::with_capacity(sources.len());
        let mut order = BinaryHeap::with_capacity(sources.len());
        for (number, source) in sources.iter_mut().enumerate() {
            first.push(source()?);
            if let Some(entry) = &first[number] {
                order.push(Reverse((entry.key(), number)));
            }
        }
        let mut writer = Writer::new(self.create()?, 0);
        let mut last: Option<E> = None;
        while let Some(mut least) = order.peek_mut() {
            let number = least.0.1;
            let next = sources[number]()?;
            let entry = std::mem::replace(&mut first[number], next);
            // The top of the heap is replaced, which takes one pass down the heap; to pop and to push
            // would take two.
            if let Some(next) = &first[number] {
                least.0.0 = next.key();
                drop(least);
            } else {
                PeekMut::pop(least);
            }
            last = match (last, entry) {
                (Some(last), Some(entry)) if last.key() == entry.key() => Some(last.join(entry)),
                (Some(last), entry) => {
                    writer.push(&last)?;
                    entry
                }
                (None, entry) => entry,
            };
        }
        if let Some(last) = last {
            writer.push(&last)?;
        }
        let run = writer.finish(kind)?;
        self.last = Some((Arc::clone(&run.file), run.end));
        self.runs = vec![Arc::new(run)];
        Ok(())
    }

    /// The entries of the one run that there is.
    pub fn entries<E: Packed>(&self) -> FileEntries {
        let readers = self.runs.first().map(|run| RunReader::new(run, BLOCK));
        FileEntries { reader: readers, failure: Arc::clone(&self.failure) }
    }

    /// The error of reading the entries, if there was one.
    pub fn check(&self) -> Result<(), RankError> {
        self.failure.get().map_or(Ok(()), |err| Err(err.clone()))
    }

    /// The file that is appended to, for tests that damage it.
    #[cfg(test)]
    pub fn last_file(&self) -> &std::fs::File {
        self.last.as_ref().expect("entries in a file").0.file()
    }

    /// Clears the error, for tests that have restored the files.
    #[cfg(test)]
    pub fn forgive(&mut self) {
        self.failure = Arc::default();
    }

    fn create(&self) -> Result<Arc<TemporaryFile>, RankError> {
        let mut number = 0_u64;
        loop {
            let path = self.folder.join(format!("aucrank-roc-{number}.tmp"));
            match TemporaryFile::create(path.clone()) {
                Ok(file) => return Ok(Arc::new(file)),
                // That of another state.
                Err(err) if err.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(err) => return Err(storage(&path, &err.to_string())),
            }
        }
    }
}

/// Checksum of the bytes of a frame, given its number.
fn frame_sum(number: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.split_at(bytes.len() & !7);
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    // The number of bytes distinguishes one that ends in zeros from one that is shorter.
    let about = [number, bytes.len() as u64, u64::from_le_bytes(last), checksum(words)];
    checksum(about.map(u64::to_le_bytes).as_flattened())
}

/// A run that is being written.
struct Writer {
    file: Arc<TemporaryFile>,
    /// Where the run begins, and where it ends so far.
    offset: u64,
    end: u64,
    bytes: Vec<u8>,
    key: u64,
    n_entries: usize,
    n_frames: u64,
}

impl Writer {
    fn new(file: Arc<TemporaryFile>, offset: u64) -> Self {
        let bytes = Vec::with_capacity(BLOCK + LONGEST);
        Self { file, offset, end: offset, bytes, key: 0, n_entries: 0, n_frames: 0 }
    }

    fn push<E: Packed>(&mut self, entry: &E) -> Result<(), RankError> {
        // Keys ascend, so that the difference takes few bytes where scores are dense.
        let step = entry.key() - self.key;
        let n_bytes = (u64::BITS - step.leading_zeros()).div_ceil(8) as usize;
        let head = self.bytes.len();
        self.bytes.push(0);
        self.bytes.extend_from_slice(&step.to_le_bytes()[..n_bytes]);
        let tag = entry.pack(&mut self.bytes);
        self.bytes[head] = n_bytes as u8 | tag << 4;
        self.key = entry.key();
        self.n_entries += 1;
        if self.bytes.len() >= BLOCK {
            self.flush(self.bytes.len() / FRAME * FRAME)
        } else {
            Ok(())
        }
    }

    /// Writes the first of the bytes that wait: whole frames, or all.
    fn flush(&mut self, n_bytes: usize) -> Result<(), RankError> {
        let n_frames = n_bytes.div_ceil(FRAME);
        let mut framed = Vec::with_capacity(n_bytes + n_frames * size_of::<u64>());
        for frame in self.bytes[..n_bytes].chunks(FRAME) {
            framed.extend_from_slice(frame);
            framed.extend(frame_sum(self.n_frames, frame).to_le_bytes());
            self.n_frames += 1;
        }
        self.file.write(&framed, self.end)?;
        self.end += framed.len() as u64;
        self.bytes.drain(..n_bytes);
        Ok(())
    }

    fn finish(mut self, kind: Kind) -> Result<FileRun, RankError> {
        self.flush(self.bytes.len())?;
        let Self { file, offset, end, n_entries, .. } = self;
        Ok(FileRun { file, offset, end, n_entries, kind })
    }
}

/// A place in a run.
#[derive(Debug, Clone)]
pub(super) struct RunReader {
    run: Arc<FileRun>,
    /// Number of the frame that follows those in memory.
    frame: u64,
    bytes: Vec<u8>,
    at: usize,
    block: usize,
    n_left: usize,
    key: u64,
}

impl RunReader {
    fn new(run: &Arc<FileRun>, block: usize) -> Self {
        let (run, n_left) = (Arc::clone(run), run.n_entries);
        Self { run, frame: 0, bytes: Vec::new(), at: 0, block, n_left, key: 0 }
    }

    fn next<E: Packed>(&mut self) -> Result<Option<E>, RankError> {
        if self.n_left == 0 {
            return Ok(None);
        }
        self.n_left -= 1;
        if self.bytes.len() - self.at < LONGEST && self.n_unread() > 0 {
            self.fill()?;
        }
        let mut rest = &self.bytes[self.at..];
        let Some(entry) = self.unpack::<E>(&mut rest) else { return Err(self.changed()) };
        self.at = self.bytes.len() - rest.len();
        self.key = entry.key();
        Ok(Some(entry))
    }

    fn unpack<E: Packed>(&self, rest: &mut &[u8]) -> Option<E> {
        let (&head, after) = rest.split_first()?;
        let n_bytes = usize::from(head & 15);
        let (step, after) = after.split_at_checked(n_bytes)?;
        let mut word = [0; 8];
        word.get_mut(..n_bytes)?.copy_from_slice(step);
        *rest = after;
        E::unpack(head >> 4, self.key.checked_add(u64::from_le_bytes(word))?, rest)
    }

    /// Where the next frame begins in the file.
    fn offset(&self) -> u64 {
        self.run.offset + self.frame * FRAME_IN_FILE as u64
    }

    /// Bytes of the run that follow those in memory.
    fn n_unread(&self) -> u64 {
        // The last frame may be shorter than others.
        self.run.end.saturating_sub(self.offset())
    }

    /// Reads frames of about a block.
    fn fill(&mut self) -> Result<(), RankError> {
        self.bytes.drain(..self.at);
        self.at = 0;
        let most = (self.block / FRAME_IN_FILE).max(1) * FRAME_IN_FILE;
        let n_bytes = self.n_unread().min(most as u64) as usize;
        let mut framed = Vec::new();
        self.run.file.read(&mut framed, n_bytes, self.offset())?;
        for frame in framed.chunks(FRAME_IN_FILE) {
            let sum_of = |(frame, sum): &(&[u8], &[u8; 8])| {
                u64::from_le_bytes(**sum) == frame_sum(self.frame, frame)
            };
            let Some((frame, _)) = frame.split_last_chunk().filter(sum_of) else {
                return Err(self.changed());
            };
            self.bytes.extend_from_slice(frame);
            self.frame += 1;
        }
        Ok(())
    }

    fn changed(&self) -> RankError {
        self.run.file.error("the file of scores was cut off or changed")
    }
}

/// The entries of a file, in ascending order. An error ends them, and is reported by
/// [`Files::check`].
#[derive(Debug, Clone)]
pub(super) struct FileEntries {
    reader: Option<RunReader>,
    failure: Arc<OnceLock<RankError>>,
}

impl FileEntries {
    fn next<E: Packed>(&mut self) -> Option<E> {
        match self.reader.as_mut()?.next() {
            Ok(entry) => entry,
            Err(err) => {
                self.reader = None;
                // The first error is the one to report.
                let _ = self.failure.set(err);
                None
            }
        }
    }
}

/// The entries of a table in ascending order, wherever they are.
#[derive(Debug)]
pub(super) enum Entries<'a, E> {
    Memory(std::slice::Iter<'a, E>),
    File(FileEntries),
}

impl<E> Clone for Entries<'_, E> {
    fn clone(&self) -> Self {
        match self {
            Self::Memory(entries) => Self::Memory(entries.clone()),
            Self::File(entries) => Self::File(entries.clone()),
        }
    }
}

impl<'a, E: Packed> Entries<'a, E> {
    pub fn of(runs: &'a mut Runs<E>, files: Option<&Files>) -> Self {
        match files.filter(|files| !files.is_empty()) {
            Some(files) => Self::File(files.entries::<E>()),
            None => Self::Memory(runs.one().iter()),
        }
    }
}

impl<E: Packed> Iterator for Entries<'_, E> {
    type Item = E;

    fn next(&mut self) -> Option<E> {
        match self {
            Self::Memory(entries) => entries.next().copied(),
            Self::File(entries) => entries.next(),
        }
    }
}

/// An entry in few bytes. Cells in files hold one score each.
pub(super) trait Packed: Entry {
    /// Appends all but the key; returns a tag below 16.
    fn pack(&self, bytes: &mut Vec<u8>) -> u8;

    /// `None` if there are too few bytes.
    fn unpack(tag: u8, key: u64, bytes: &mut &[u8]) -> Option<Self>;
}

/// Tag of an entry that consists of one row, of either class.
const ONE_ROW: [u8; 2] = [1, 2];

/// Seven bits a byte, the lowest first; a bit set says that more follow.
fn pack_number(mut number: u128, bytes: &mut Vec<u8>) {
    while number >> 7 > 0 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn unpack_number(bytes: &mut &[u8]) -> Option<u128> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u128::from(byte & 127).checked_shl(shift)?;
        shift += 7;
        if byte < 128 {
            return Some(number);
        }
    }
}

fn unpack_word(bytes: &mut &[u8]) -> Option<u64> {
    unpack_number(bytes)?.try_into().ok()
}

impl Packed for Count {
    fn pack(&self, bytes: &mut Vec<u8>) -> u8 {
        match self.rows {
            [1, 0] => ONE_ROW[0],
            [0, 1] => ONE_ROW[1],
            rows => {
                for rows in rows {
                    pack_number(rows.into(), bytes);
                }
                0
            }
        }
    }

    #[inline]
    fn unpack(tag: u8, key: u64, bytes: &mut &[u8]) -> Option<Self> {
        let rows = match tag {
            1 => [1, 0],
            2 => [0, 1],
            _ => [unpack_word(bytes)?, unpack_word(bytes)?],
        };
        Some(Self { key, rows })
    }
}

impl Packed for Cell {
    fn pack(&self, bytes: &mut Vec<u8>) -> u8 {
        debug_assert_eq!(self.width, 0);
        for class in [0, 1] {
            let units = u128::from(self.units[class]);
            if self.units[1 - class] == 0 && self.squares[class] == units * units {
                pack_number(units, bytes);
                return ONE_ROW[class];
            }
        }
        for number in self.units.map(u128::from).into_iter().chain(self.squares) {
            pack_number(number, bytes);
        }
        0
    }

    fn unpack(tag: u8, key: u64, bytes: &mut &[u8]) -> Option<Self> {
        let mut cell = Self { key, width: 0, units: [0; 2], squares: [0; 2] };
        if let Some(class) = ONE_ROW.iter().position(|&one| one == tag) {
            cell.units[class] = unpack_word(bytes)?;
            cell.squares[class] = u128::from(cell.units[class]).pow(2);
        } else {
            cell.units = [unpack_word(bytes)?, unpack_word(bytes)?];
            cell.squares = [unpack_number(bytes)?, unpack_number(bytes)?];
        }
        Some(cell)
    }
}

impl<const WORDS: usize> Packed for WideCell<WORDS> {
    fn pack(&self, bytes: &mut Vec<u8>) -> u8 {
        debug_assert_eq!(self.width, 0);
        let squares = self.squares.as_flattened().as_flattened();
        let words = self.masses.as_flattened().iter().chain(squares);
        words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        0
    }

    fn unpack(_: u8, key: u64, bytes: &mut &[u8]) -> Option<Self> {
        let mut cell = Self::empty(key, 0);
        let squares = cell.squares.as_flattened_mut().as_flattened_mut();
        for word in cell.masses.as_flattened_mut().iter_mut().chain(squares) {
            let (taken, rest) = bytes.split_first_chunk()?;
            *word = u64::from_le_bytes(*taken);
            *bytes = rest;
        }
        Some(cell)
    }
}

/// Entries of a run, converted.
pub(super) type Source<E> = Box<dyn FnMut() -> Result<Option<E>, RankError>>;

/// An entry to which those of narrower runs can be converted.
pub(super) trait MergeTarget: Packed {
    fn source(reader: RunReader, kind: Kind) -> Source<Self>;
}

fn converted<F: Packed + 'static, E: Packed>(
    mut reader: RunReader,
    convert: impl Fn(F) -> E + 'static,
) -> Source<E> {
    Box::new(move || Ok(reader.next::<F>()?.map(&convert)))
}

impl MergeTarget for Count {
    fn source(reader: RunReader, _: Kind) -> Source<Self> {
        debug_assert!(matches!(reader.run.kind, Kind::Counts { .. }));
        converted(reader, |count: Self| count)
    }
}

impl MergeTarget for Cell {
    fn source(reader: RunReader, _: Kind) -> Source<Self> {
        match reader.run.kind {
            Kind::Counts { bits } => converted(reader, move |count| Self::of_rows(count, bits)),
            _ => converted(reader, |cell: Self| cell),
        }
    }
}

impl<const WORDS: usize> MergeTarget for WideCell<WORDS> {
    fn source(reader: RunReader, kind: Kind) -> Source<Self> {
        let low = if let Kind::Wide { low, .. } = kind { low } else { 0 };
        let shift = move |unit: i32| (unit - low).cast_unsigned();
        match reader.run.kind {
            Kind::Counts { bits } => {
                let shift = shift(-bits.cast_signed());
                converted(reader, move |count| Self::of_cell(&Cell::of_rows(count, bits), shift))
            }
            Kind::Cells { bits } => {
                let shift = shift(-bits.cast_signed());
                converted(reader, move |cell| Self::of_cell(&cell, shift))
            }
            Kind::Wide { words: 2, low } => {
                converted(reader, move |cell: WideCell<2>| cell.in_finer_units(shift(low)))
            }
            Kind::Wide { words: 4, low } => {
                converted(reader, move |cell: WideCell<4>| cell.in_finer_units(shift(low)))
            }
            Kind::Wide { low, .. } => {
                converted(reader, move |cell: WideCell<34>| cell.in_finer_units(shift(low)))
            }
        }
    }
}
