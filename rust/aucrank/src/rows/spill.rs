//! A file of coded rows.

use std::path::Path;

use super::coded::{CodedRows, ExtraColumns};
use crate::RankError;
use crate::spilled::{TemporaryFile, checksum, storage};

/// A file of coded rows.
#[derive(Debug)]
pub(super) struct Spill {
    file: TemporaryFile,
    n_bytes: u64,
}

/// Position of rows in a [`Spill`].
#[derive(Debug, Clone, Copy)]
pub(super) struct SpillSlot {
    offset: u64,
    pub(super) n_rows: usize,
    extra: ExtraColumns,
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
    /// Creates a file; there must be none of its name.
    pub(super) fn create(path: &Path) -> Result<Self, RankError> {
        let created = TemporaryFile::create(path.to_owned());
        let file = created.map_err(|err| storage(path, &err.to_string()))?;
        Ok(Self { file, n_bytes: 0 })
    }

    /// Appends rows.
    pub(super) fn write(&mut self, rows: &CodedRows) -> Result<SpillSlot, RankError> {
        let body = rows.to_bytes();
        let hashes = rows.hashes_to_bytes();
        self.file.write(&body, self.n_bytes)?;
        self.file.write(&hashes, self.n_bytes + body.len() as u64)?;
        let slot = SpillSlot {
            offset: self.n_bytes,
            n_rows: rows.n_rows(),
            extra: rows.extra(),
            body: Section::of(&body),
            hashes: Section::of(&hashes),
        };
        self.n_bytes += (body.len() + hashes.len()) as u64;
        Ok(slot)
    }

    /// Reads rows, with their hashes if requested.
    pub(super) fn read(
        &self,
        slot: SpillSlot,
        with_hashes: bool,
        bytes: &mut Vec<u8>,
        rows: &mut CodedRows,
    ) -> Result<(), RankError> {
        self.read_section(slot.offset, slot.body, bytes)?;
        rows.take_bytes(slot.n_rows, slot.extra, bytes);
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
        self.file.read(bytes, section.n_bytes, offset)?;
        if bytes.len() != section.n_bytes {
            return Err(self.file.error("the file of coded rows was cut off"));
        }
        if checksum(bytes) != section.checksum {
            return Err(self.file.error("the file of coded rows was changed or damaged"));
        }
        Ok(())
    }

    /// The file itself, for tests that damage it.
    #[cfg(test)]
    pub(super) fn file(&self) -> &std::fs::File {
        self.file.file()
    }

    /// Size of the file in bytes.
    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}
