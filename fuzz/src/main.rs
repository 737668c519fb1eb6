//! Damaged models, thrown at the crate that reads them.
//!
//! Each case takes a model of `corpus/`, damages it, corrects its checksum, and calls all methods
//! of the model. A finding is a panic, an end of the process, a score that is not finite, a call
//! that takes more than a second per 10 MB or 20 bytes of memory per byte of input, or a model that
//! changes when it is written and read. Worker processes run the cases, so that none ends the
//! others; a seed and the number of a case reproduce the case.

mod ask;
mod json;
mod memory;
mod mutate;
mod options;
mod random;
mod supervise;
mod worker;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use options::{Options, Task};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// The models that are damaged, in the order of their file names, so that the number of a case
/// means the same everywhere.
fn models() -> Vec<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    for folder in [here.join("corpus"), here.join("../tests/golden")] {
        let files = fs::read_dir(&folder)
            .unwrap_or_else(|err| panic!("{}: {err}", folder.display()))
            .map(|file| file.expect("a folder can be read to its end").path());
        paths.extend(files.filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".json") && !name.ends_with("_scores.json")
        }));
    }
    paths.sort();
    let read = |path: PathBuf| {
        fs::read_to_string(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
    };
    paths.into_iter().map(read).collect()
}

fn main() -> ExitCode {
    let options = match Options::from_args(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("fuzz: {message}\n{}", options::USAGE);
            return ExitCode::from(2);
        }
    };
    match &options.task {
        Task::Supervise => supervise::run(&options),
        Task::Work { first, step } => {
            worker::run(&models(), options.seed, (*first..).step_by(*step), &options.end());
            ExitCode::SUCCESS
        }
        Task::Case(case) => worker::show(&worker::text_of(&models(), options.seed, *case)),
        Task::File(path) => match fs::read(path) {
            Ok(bytes) => worker::show(&bytes),
            Err(err) => {
                eprintln!("fuzz: {}: {err}", path.display());
                ExitCode::from(2)
            }
        },
    }
}
