//! A saved model of any family, which scores rows of text.

use std::str;
use std::sync::{Mutex, PoisonError};

use aucrank::model::{Document, TextRows};

use crate::{say, taken};

static MODEL: Mutex<Option<Document>> = Mutex::new(None);

/// Reads a saved model. Returns the number of bytes of an error, 0 if there is none.
///
/// # Safety
///
/// The text lies in a room of so many bytes, which this call frees.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn load(room: *mut u8, n_bytes: usize) -> usize {
    // SAFETY: promised by who calls.
    let text = unsafe { taken(room, n_bytes) };
    let loaded = str::from_utf8(&text).map_err(|err| err.to_string()).and_then(|text| {
        let document = Document::from_json(text).map_err(|err| err.to_string())?;
        *MODEL.lock().unwrap_or_else(PoisonError::into_inner) = Some(document);
        Ok(())
    });
    say(loaded.err().unwrap_or_default())
}

/// Scores rows: a list of lists of texts as JSON, of which the first has the names of the columns. The
/// answer is a list of numbers as JSON, or an error. Returns the number of its bytes.
///
/// # Safety
///
/// As of [`load`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn score(room: *mut u8, n_bytes: usize) -> usize {
    // SAFETY: promised by who calls.
    let text = unsafe { taken(room, n_bytes) };
    say(scores(&text).unwrap_or_else(|err| err))
}

fn scores(text: &[u8]) -> Result<String, String> {
    let model = MODEL.lock().unwrap_or_else(PoisonError::into_inner);
    let model = model.as_ref().ok_or("no model is loaded")?;
    let table: Vec<Vec<String>> = serde_json::from_slice(text).map_err(|err| err.to_string())?;
    let (names, table) = table.split_first().ok_or("there are no names of columns")?;
    let names = names.iter().map(String::as_str);
    let mut rows = TextRows::new(&model.header.features, names).map_err(|err| err.to_string())?;
    for (number, row) in table.iter().enumerate() {
        let row = row.iter().map(String::as_str);
        rows.push(row).map_err(|err| format!("row {number}: {err}"))?;
    }
    let columns = rows.columns().map_err(|err| err.to_string())?;
    let scores = model.score(&columns).map_err(|err| err.to_string())?;
    serde_json::to_string(&scores).map_err(|err| err.to_string())
}
