//! Coded rows in a file, which is read part by part.

use std::fs::{self, File};
use std::io::{self, Read, Write};
#[cfg(not(unix))]
use std::io::{Seek, SeekFrom};
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::coded::CodedRows;
use crate::RankError;
use crate::spilled::{checksum, new_file};

/// A file of coded rows. Where the system allows it, it has no name once it is open, so that it goes
/// with the process however that ends; else it is removed in the end.
#[derive(Debug)]
pub(super) struct Spill {
    path: PathBuf,
    has_name: bool,
    file: File,
    n_bytes: u64,
}

/// Where rows lie in a [`Spill`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    offset: u64,
    pub(super) n_rows: usize,
    is_weighted: bool,
    body: Section,
    hashes: Section,
}

#[derive(Debug, Clone, Copy)]
struct Section {
    n_bytes: usize,
    checksum: u64,
}

impl Section {
    fn of(bytes: &[u8]) -> Self {
        Self { n_bytes: bytes.len(), checksum: checksum(bytes) }
    }
}

impl Spill {
    /// A new file; there must be none of its name.
    pub(super) fn create(path: &Path) -> Result<Self, RankError> {
        let file = new_file(path).map_err(|err| storage(path, &err.to_string()))?;
        let has_name = !cfg!(unix) || fs::remove_file(path).is_err();
        Ok(Self { path: path.to_owned(), has_name, file, n_bytes: 0 })
    }

    /// Appends rows.
    pub(super) fn write(&mut self, rows: &CodedRows) -> Result<Slot, RankError> {
        let body = rows.to_bytes();
        let hashes = rows.hashes_to_bytes();
        let written = self.file.write_all(&body).and_then(|()| self.file.write_all(&hashes));
        written.map_err(|err| storage(&self.path, &err.to_string()))?;
        let slot = Slot {
            offset: self.n_bytes,
            n_rows: rows.n_rows(),
            is_weighted: !rows.units.is_empty(),
            body: Section::of(&body),
            hashes: Section::of(&hashes),
        };
        self.n_bytes += (body.len() + hashes.len()) as u64;
        Ok(slot)
    }

    /// Reads rows, with their hashes if they are wanted.
    pub(super) fn read(
        &self,
        slot: Slot,
        with_hashes: bool,
        bytes: &mut Vec<u8>,
        rows: &mut CodedRows,
    ) -> Result<(), RankError> {
        self.read_section(slot.offset, slot.body, bytes)?;
        rows.take_bytes(slot.n_rows, slot.is_weighted, bytes);
        if with_hashes {
            self.read_section(slot.offset + slot.body.n_bytes as u64, slot.hashes, bytes)?;
            rows.take_hashes(bytes);
        }
        Ok(())
    }

    fn read_section(
        &self,
        offset: u64,
        section: Section,
        bytes: &mut Vec<u8>,
    ) -> Result<(), RankError> {
        bytes.clear();
        let read = self
            .reader(offset)
            .and_then(|reader| reader.take(section.n_bytes as u64).read_to_end(bytes).map(|_| ()));
        read.map_err(|err| storage(&self.path, &err.to_string()))?;
        if bytes.len() != section.n_bytes {
            return Err(storage(&self.path, "the file of coded rows was cut off"));
        }
        if checksum(bytes) != section.checksum {
            return Err(storage(&self.path, "the file of coded rows was changed or damaged"));
        }
        Ok(())
    }

    /// What reads from some byte on, beside others: threads read several parts at once.
    #[cfg(unix)]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it opens the file")]
    fn reader(&self, offset: u64) -> io::Result<ReadAt<'_>> {
        Ok(ReadAt { file: &self.file, offset })
    }

    #[cfg(not(unix))]
    fn reader(&self, offset: u64) -> io::Result<File> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(offset))?;
        Ok(file)
    }

    /// The file itself, to damage it.
    #[cfg(test)]
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Size of the file in bytes.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        if self.has_name {
            // Nothing can be done about a file that somebody else has removed.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Reads from a place of its own in a shared file.
#[cfg(unix)]
struct ReadAt<'f> {
    file: &'f File,
    offset: u64,
}

#[cfg(unix)]
impl Read for ReadAt<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.file.read_at(buffer, self.offset)?;
        self.offset += n_bytes as u64;
        Ok(n_bytes)
    }
}

fn storage(path: &Path, message: &str) -> RankError {
    RankError::Storage { path: path.display().to_string(), message: message.to_owned() }
}
