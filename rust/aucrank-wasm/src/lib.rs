//! aucrank in a browser: modules of WebAssembly.
//!
//! - `models`: a saved model of any family, which scores rows of text;
//! - `calculator`: statistics of scores, and scorecards.
//!
//! ```sh
//! cargo build --profile small --target wasm32-unknown-unknown -p aucrank-wasm --no-default-features --features models
//! node rust/aucrank-wasm/score.mjs target/wasm32-unknown-unknown/small/aucrank_wasm.wasm MODEL.json TABLE.json
//! ```
//!
//! Texts and numbers go in and out by their place in the memory of the module: `ranker.mjs` shows how.

use std::ptr;
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "calculator")]
mod calculator;
#[cfg(feature = "models")]
mod models;

static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Room for so many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn room(n_bytes: usize) -> *mut u8 {
    Box::leak(vec![0; n_bytes].into_boxed_slice()).as_mut_ptr()
}

/// Where the answer to the last call lies.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    ANSWER.lock().unwrap_or_else(PoisonError::into_inner).as_ptr()
}

/// Takes back the room of an input.
///
/// # Safety
///
/// It was given by [`room`] for so many bytes, and is not used afterwards.
unsafe fn taken(room: *mut u8, n_bytes: usize) -> Box<[u8]> {
    // SAFETY: it was a box of so many bytes.
    unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(room, n_bytes)) }
}

/// Keeps an answer until the next one, and returns the number of its bytes.
fn say(text: String) -> usize {
    let n_bytes = text.len();
    *ANSWER.lock().unwrap_or_else(PoisonError::into_inner) = text.into_bytes();
    n_bytes
}
