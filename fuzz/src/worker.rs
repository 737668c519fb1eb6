//! Runs cases, one after another, in a process that a case may end.

use std::cell::RefCell;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

use crate::ask::{ask, mended};
use crate::mutate::damaged;
use crate::options::End;
use crate::random::Random;

thread_local! {
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A line that a worker writes to the process that started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A case begins.
    Begin(u64),
    /// It was read as a model, without findings.
    Loaded,
    /// A finding in the case.
    Found(String),
    /// No more cases.
    End,
}

impl Line {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Begin(case) => writeln!(out, "{case}"),
            Self::Loaded => writeln!(out, "loaded"),
            Self::Found(what) => writeln!(out, "found {}", what.replace('\n', " ")),
            Self::End => writeln!(out, "end"),
        }
    }

    /// Reads a line that a worker wrote.
    pub fn read(line: &str) -> Option<Self> {
        match line {
            "loaded" => Some(Self::Loaded),
            "end" => Some(Self::End),
            _ => match line.strip_prefix("found ") {
                Some(what) => Some(Self::Found(what.to_owned())),
                None => line.parse().ok().map(Self::Begin),
            },
        }
    }
}

/// The text of a case, with its checksum corrected if possible.
pub fn text_of(models: &[String], seed: u64, case: u64) -> Vec<u8> {
    let mut random = Random::new(seed, case);
    let which = random.below(models.len());
    let bytes = damaged(models, which, &mut random);
    match std::str::from_utf8(&bytes).map(|text| caught(|| Ok(mended(text)))) {
        Ok(Ok(Some(text))) => text.into_bytes(),
        _ => bytes,
    }
}

/// Runs cases, and writes their results to standard output.
pub fn run(models: &[String], seed: u64, cases: impl Iterator<Item = u64> + Send, end: &End) {
    keep_panics();
    in_one_thread(|| {
        let mut out = io::stdout().lock();
        // If a line cannot be written, the reader has ended.
        let mut tell = |line: Line| line.write(&mut out).and_then(|()| out.flush()).is_ok();
        for case in cases.take_while(|&case| case < end.case) {
            if end.time.is_some_and(|time| Instant::now() >= time) || !tell(Line::Begin(case)) {
                break;
            }
            let heard = match outcome(&text_of(models, seed, case)) {
                Ok(false) => true,
                Ok(true) => tell(Line::Loaded),
                Err(what) => tell(Line::Found(what)),
            };
            if !heard {
                break;
            }
        }
        tell(Line::End);
    });
}

/// Runs one text, and prints the result.
pub fn show(bytes: &[u8]) -> ExitCode {
    // First, in case the process ends.
    let written = io::stdout().write_all(bytes).and_then(|()| io::stdout().flush());
    keep_panics();
    match in_one_thread(|| outcome(bytes)) {
        Ok(loaded) => {
            eprintln!(
                "fuzz: nothing found; the file is {}",
                if loaded { "read" } else { "refused" }
            );
            if written.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(2) }
        }
        Err(what) => {
            eprintln!("fuzz: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Whether some bytes are read as a model, or a finding in them.
fn outcome(bytes: &[u8]) -> Result<bool, String> {
    // Bytes that are no text are refused before they reach the crate.
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(false) };
    // Rows depend on the text, so that a file reproduces its case.
    let hash = bytes
        .iter()
        .fold(0, |hash: u64, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    caught(|| ask(text, &mut Random::new(hash, 0)))
}

/// The result of a call; a panic is an error.
fn caught<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(format!("panic {}", LAST_PANIC.take())))
}

/// Keeps the message of a panic instead of printing it.
fn keep_panics() {
    panic::set_hook(Box::new(|info| LAST_PANIC.set(info.to_string())));
}

/// Calls in a pool of one thread, which therefore makes all allocations that are counted.
fn in_one_thread<T: Send>(call: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread can start");
    pool.install(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_written() {
        for line in [Line::Begin(12), Line::Loaded, Line::Found("a b".to_owned()), Line::End] {
            let mut text = Vec::new();
            line.write(&mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert_eq!(Line::read(text.strip_suffix('\n').unwrap()), Some(line));
        }
    }

    #[test]
    fn a_panic_is_a_finding() {
        keep_panics();
        let found = caught::<()>(|| panic!("so it {}", "goes"));
        assert!(found.unwrap_err().contains("so it goes"));
    }
}
