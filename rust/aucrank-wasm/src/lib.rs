//! A saved model in a browser: a module of WebAssembly that scores rows of text.
//!
//! ```sh
//! cargo build --profile small --target wasm32-unknown-unknown -p aucrank-wasm
//! node rust/aucrank-wasm/score.mjs target/wasm32-unknown-unknown/small/aucrank_wasm.wasm MODEL.json TABLE.json
//! ```
//!
//! Texts go in and out by their place in the memory of the module: `score.mjs` shows how.

use std::ptr;
use std::str;
use std::sync::{Mutex, PoisonError};

use aucrank::model::{Document, TextRows};

static MODEL: Mutex<Option<Document>> = Mutex::new(None);
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Room for a text of so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(n_bytes: usize) -> *mut u8 {
    Box::leak(vec![0; n_bytes].into_boxed_slice()).as_mut_ptr()
}

/// Where the answer to the last call lies.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}

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

/// Takes back the room of a text.
///
/// # Safety
///
/// It was given by [`room`] for so many bytes, and is not used afterwards.
unsafe fn taken(room: *mut u8, n_bytes: usize) -> Box<[u8]> {
    // SAFETY: it was a box of so many bytes.
    unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(room, n_bytes)) }
}

fn say(text: String) -> usize {
    let n_bytes = text.len();
    *ANSWER.lock().unwrap_or_else(PoisonError::into_inner) = text.into_bytes();
    n_bytes
}
