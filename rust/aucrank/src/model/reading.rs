//! JSON texts of any length, read by who may be interrupted.

use std::io::{self, BufReader, Read};

use serde::de::DeserializeOwned;

use super::{ModelError, malformed};
use crate::Interrupt;

/// Texts up to this length are read before anybody loses patience: in one go, which is faster.
const SHORT_TEXT: usize = 8 << 20;

/// Bytes between two looks at the interrupt.
const PIECE: usize = 64 << 10;

pub(super) fn read_json<T: DeserializeOwned>(
    text: &str,
    interrupt: &Interrupt,
) -> Result<T, ModelError> {
    let read = if text.len() <= SHORT_TEXT {
        serde_json::from_str(text)
    } else {
        let heeding = Heeding { rest: text.as_bytes(), interrupt };
        serde_json::from_reader(BufReader::with_capacity(PIECE, heeding))
    };
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
