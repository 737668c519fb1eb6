//! Coded rows in a file, which is read part by part.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::coded::CodedRows;
use crate::RankError;
use crate::spilled::{checksum, new_file};

/// A file of coded rows. It is removed in the end.
#[derive(Debug)]
pub(super) struct Spill {
    path: PathBuf,
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
        Ok(Self { path: path.to_owned(), file, n_bytes: 0 })
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
        // A handle of its own: threads read several parts at once.
        let mut read = || -> std::io::Result<()> {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(offset))?;
            bytes.clear();
            file.take(section.n_bytes as u64).read_to_end(bytes)?;
            Ok(())
        };
        read().map_err(|err| storage(&self.path, &err.to_string()))?;
        if bytes.len() != section.n_bytes {
            return Err(storage(&self.path, "the file of coded rows was cut off"));
        }
        if checksum(bytes) != section.checksum {
            return Err(storage(&self.path, "the file of coded rows was changed or damaged"));
        }
        Ok(())
    }

    /// Size of the file in bytes.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        // Nothing can be done about a file that somebody else has removed.
        let _ = fs::remove_file(&self.path);
    }
}

fn storage(path: &Path, message: &str) -> RankError {
    RankError::Storage { path: path.display().to_string(), message: message.to_owned() }
}
