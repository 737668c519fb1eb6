//! JSON texts of any length, read by who may be interrupted.

use std::io::{self, BufReader, Read};

use serde::de::DeserializeOwned;

use super::{ModelError, malformed};
use crate::Interrupt;

/// Bytes between two looks at the interrupt.
const PIECE: usize = 64 << 10;

/// Reads a value, and hears of an interrupt meanwhile.
///
/// Short texts are read as long ones are: a second set of readers for all that a model is made of
/// would be a twentieth of the module, and take a fifth off the time.
pub(super) fn read_json<T: DeserializeOwned>(
    text: &str,
    interrupt: &Interrupt,
) -> Result<T, ModelError> {
    let heeding = Heeding { rest: text.as_bytes(), interrupt };
    let read = serde_json::from_reader(BufReader::with_capacity(PIECE.min(text.len()), heeding));
    interrupt.check().map_err(|_| ModelError::Interrupted)?;
    read.map_err(malformed)
}

/// A text that ends in an error once its reader is to stop.
struct Heeding<'a> {
    rest: &'a [u8],
    interrupt: &'a Interrupt,
}

impl Read for Heeding<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.interrupt.check().map_err(io::Error::other)?;
        self.rest.read(out)
    }
}
