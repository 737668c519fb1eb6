//! Options of the command line.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Usage message.
pub const USAGE: &str = "\
usage: aucrank-fuzz [--seed N] [--cases N] [--seconds N] [--jobs N] [--out FOLDER]
       aucrank-fuzz --seed N --case N     one case once more; its text goes to standard output
       aucrank-fuzz --file FILE           a file as it is";

/// Task of the process.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Start workers, and collect their findings.
    Supervise,
    /// Run every `step`-th case from `first` on.
    Work {
        /// The first.
        first: u64,
        /// Number of workers.
        step: usize,
    },
    /// Run one case.
    Case(u64),
    /// Run the text of a file.
    File(PathBuf),
}

/// The parsed command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Seed of all cases.
    pub seed: u64,
    /// Number of cases; without it, and without an end in time, there is no end.
    pub n_cases: u64,
    /// Seconds after which no case is started.
    pub seconds: u64,
    /// Number of worker processes.
    pub n_jobs: usize,
    /// Folder for the texts of findings.
    pub out: PathBuf,
    /// Task of the process.
    pub task: Task,
}

/// Conditions for the end of a worker.
pub struct End {
    /// No case from here on.
    pub case: u64,
    /// No case after this time.
    pub time: Option<Instant>,
}

impl Options {
    /// Reads arguments.
    pub fn from_args(args: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            seed: 0,
            n_cases: u64::MAX,
            seconds: u64::MAX,
            n_jobs: std::thread::available_parallelism().map_or(1, Into::into),
            out: Path::new(env!("CARGO_MANIFEST_DIR")).join("findings"),
            task: Task::Supervise,
        };
        let mut args = args.into_iter();
        while let Some(name) = args.next() {
            let value = args.next().ok_or_else(|| format!("{name} needs a value"))?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|_| format!("{name} is {value:?}, but must be a number"))
            };
            match name.as_str() {
                "--seed" => options.seed = number()?,
                "--cases" => options.n_cases = number()?,
                "--seconds" => options.seconds = number()?,
                "--jobs" => options.n_jobs = number()?.clamp(1, 1024) as usize,
                "--out" => options.out = PathBuf::from(value),
                "--case" => options.task = Task::Case(number()?),
                "--file" => options.task = Task::File(PathBuf::from(value)),
                // Given by one process of this program to another.
                "--work-from" => {
                    let step = options.n_jobs;
                    options.task = Task::Work { first: number()?, step };
                }
                _ => return Err(format!("there is no option {name:?}")),
            }
        }
        Ok(options)
    }

    /// End of the cases, with the time counted from now.
    pub fn end(&self) -> End {
        End {
            case: self.n_cases,
            time: Instant::now().checked_add(Duration::from_secs(self.seconds)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::from_args(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read_or_named() {
        let options = read("--seed 3 --jobs 2 --work-from 5").unwrap();
        assert_eq!((options.seed, options.n_jobs), (3, 2));
        assert_eq!(options.task, Task::Work { first: 5, step: 2 });
        assert_eq!(read("--case 7").unwrap().task, Task::Case(7));
        assert_eq!(read("--seed").unwrap_err(), "--seed needs a value");
        assert_eq!(read("--seed x").unwrap_err(), "--seed is \"x\", but must be a number");
        assert_eq!(read("--sead 1").unwrap_err(), "there is no option \"--sead\"");
    }
}
