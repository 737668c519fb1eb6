//! Models in JSON texts of any length, read by who may be interrupted.

use std::io::{self, BufReader, Read};

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{ModelError, malformed};
use crate::Interrupt;
use crate::model::Model;
use crate::model::family::Tag;

/// Bytes between two looks at the interrupt.
const PIECE: usize = 64 << 10;

/// Reads a value, and hears of an interrupt meanwhile.
///
/// Short texts are read as long ones are: a second set of readers for all that a model is made of
/// would be a twentieth of the module, and take a fifth off the time.
pub(in crate::model) fn read_json<T: DeserializeOwned>(
    text: &str,
    interrupt: &Interrupt,
) -> Result<T, ModelError> {
    let heeding = Heeding { rest: text.as_bytes(), interrupt };
    let read = serde_json::from_reader(BufReader::with_capacity(PIECE.min(text.len()), heeding));
    interrupt.check().map_err(|_| ModelError::Interrupted)?;
    read.map_err(malformed)
}

impl Model {
    /// Reads a model in two passes: a derived reader would hold all of it in a form that takes many times
    /// the memory of the text, until it has found the family.
    pub(super) fn from_json(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        let Tagged { family } = read_json(text, interrupt)?;
        family.read(text, interrupt)
    }

    /// Reads a member of an ensemble, which is not an ensemble itself.
    pub(super) fn member_from_json(text: &str, interrupt: &Interrupt) -> Result<Self, ModelError> {
        let Tagged { family } = read_json(text, interrupt)?;
        if matches!(family, Tag::Ensemble) {
            return Err(ModelError::Malformed("a member of an ensemble is an ensemble".to_owned()));
        }
        family.read(text, interrupt)
    }
}

/// The part of a model that says how the rest is to be read.
#[derive(Deserialize)]
struct Tagged {
    family: Tag,
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
