//! Temporary files that only their owner can read, and checksums.

use std::fs::{self, File};
use std::io;
#[cfg(not(unix))]
use std::io::{Read, Seek, SeekFrom, Write};
#[cfg(unix)]
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::RankError;

/// A temporary file that nobody else may read, since scores and labels may be secret. If the system
/// allows it, the file has no name once it is open, so that it disappears with the process however
/// that ends; otherwise the process that made it removes it at the end.
#[derive(Debug)]
pub(crate) struct TemporaryFile {
    path: PathBuf,
    file: File,
    has_name: bool,
    process: u32,
}

impl TemporaryFile {
    /// Creates the file, which must not exist yet.
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        let has_name = !cfg!(unix) || fs::remove_file(&path).is_err();
        Ok(Self { path, file, has_name, process: std::process::id() })
    }

    /// Whether this process made the file: a copy made by a fork must leave the file alone.
    pub(crate) fn is_own(&self) -> bool {
        self.process == std::process::id()
    }

    /// An error about the file.
    pub(crate) fn error(&self, message: &str) -> RankError {
        storage(&self.path, message)
    }

    /// Writes all bytes, from an offset on. No two threads may write at once.
    pub(crate) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), RankError> {
        #[cfg(unix)]
        let written = self.file.write_all_at(bytes, offset);
        #[cfg(not(unix))]
        let written =
            (&self.file).seek(SeekFrom::Start(offset)).and_then(|_| (&self.file).write_all(bytes));
        written.map_err(|err| self.error(&err.to_string()))
    }

    /// Reads `n_bytes` from an offset on, or up to the end of the file. Threads may read at once.
    pub(crate) fn read(
        &self,
        bytes: &mut Vec<u8>,
        n_bytes: usize,
        offset: u64,
    ) -> Result<(), RankError> {
        bytes.clear();
        #[cfg(unix)]
        let read = self.read_at(bytes, n_bytes, offset);
        #[cfg(not(unix))]
        let read = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            file.take(n_bytes as u64).read_to_end(bytes).map(|_| ())
        });
        read.map_err(|err| self.error(&err.to_string()))
    }

    #[cfg(unix)]
    fn read_at(&self, bytes: &mut Vec<u8>, n_bytes: usize, offset: u64) -> io::Result<()> {
        bytes.resize(n_bytes, 0);
        let mut n_read = 0;
        while n_read < n_bytes {
            match self.file.read_at(&mut bytes[n_read..], offset + n_read as u64) {
                Ok(0) => break,
                Ok(n) => n_read += n,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) => return Err(err),
            }
        }
        bytes.truncate(n_read);
        Ok(())
    }

    /// The file itself, for tests that damage it.
    #[cfg(test)]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if self.has_name && self.is_own() {
            // Nothing can be done if somebody else has removed the file.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// An error about a file or folder.
pub(crate) fn storage(path: &Path, message: &str) -> RankError {
    RankError::Storage { path: path.display().to_string(), message: message.to_owned() }
}

/// Checksum that detects accidental changes, not forgery; of a multiple of 8 bytes. There are four
/// sums at once, since a single one would wait for each product.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let add = |sum: &mut u64, word: &[u8; 8]| {
        *sum = (sum.rotate_left(23) ^ u64::from_le_bytes(*word)).wrapping_mul(FACTOR);
    };
    let (words, []) = bytes.as_chunks() else { unreachable!("whole words") };
    let mut sums = [1_u64, 2, 3, words.len() as u64];
    let (fours, rest) = words.as_chunks::<4>();
    for four in fours {
        sums.iter_mut().zip(four).for_each(|(sum, word)| add(sum, word));
    }
    for word in rest {
        add(&mut sums[0], word);
    }
    sums.iter().fold(0, |sum, next| (sum.rotate_left(17) ^ next).wrapping_mul(FACTOR))
}

/// Hash of Fowler, Noll and Vo: it detects accidental changes, not forgery.
pub(crate) fn fnv1a64(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    })
}
