//! Starts, watches and restarts workers, and collects their findings.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::models;
use crate::options::{End, Options};
use crate::worker::{Line, text_of};

/// Time limit of a case; one that takes longer counts as endless.
const LONGEST_CASE: Duration = Duration::from_secs(30);

/// Findings of all workers so far.
#[derive(Default)]
struct Findings {
    n_cases: u64,
    n_loaded: u64,
    /// Number of findings of each kind.
    kinds: BTreeMap<String, u64>,
}

/// Runs the cases in the requested number of processes. Fails if there are findings.
pub fn run(options: &Options) -> ExitCode {
    let models = models();
    let findings = Mutex::new(Findings::default());
    let start = Instant::now();
    let end = options.end();
    let failed = thread::scope(|scope| {
        let watch = |number| watch(options, number, &end, &models, &findings);
        let threads: Vec<_> =
            (0..options.n_jobs as u64).map(|number| scope.spawn(move || watch(number))).collect();
        let mut results = threads.into_iter().map(|thread| thread.join().expect("no panic"));
        results.find_map(Result::err)
    });
    if let Some(err) = failed {
        eprintln!("fuzz: a worker cannot be run: {err}");
        return ExitCode::from(2);
    }
    let findings = findings.into_inner().expect("no panic");
    println!(
        "{} damaged models in {} s, seed {}: {} read, {} findings of {} kinds",
        findings.n_cases,
        start.elapsed().as_secs(),
        options.seed,
        findings.n_loaded,
        findings.kinds.values().sum::<u64>(),
        findings.kinds.len(),
    );
    for (kind, n) in &findings.kinds {
        println!("{n:8} {kind}");
    }
    if findings.kinds.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs every `n_jobs`-th case from `first` on, in one process after another.
fn watch(
    options: &Options,
    first: u64,
    end: &End,
    models: &[String],
    findings: &Mutex<Findings>,
) -> std::io::Result<()> {
    let note = |case, what: &str| report(options, models, findings, case, what);
    let mut next = first;
    while next < end.case && end.time.is_none_or(|time| Instant::now() < time) {
        let mut child = start(options, next, end)?;
        let lines = child.stdout.take().map(listen);
        let mut errors = child.stderr.take();
        let mut current = None;
        let ended = loop {
            let line = lines.as_ref().map(|lines| lines.recv_timeout(LONGEST_CASE));
            match line {
                Some(Ok(Line::Begin(case))) => {
                    current = Some(case);
                    findings.lock().expect("no panic").n_cases += 1;
                }
                Some(Ok(Line::Loaded)) => findings.lock().expect("no panic").n_loaded += 1,
                Some(Ok(Line::Found(what))) => note(current.unwrap_or(next), &what),
                Some(Ok(Line::End)) => break true,
                Some(Err(mpsc::RecvTimeoutError::Timeout)) => {
                    let seconds = LONGEST_CASE.as_secs();
                    note(current.unwrap_or(next), &format!("no end within {seconds} s"));
                    child.kill()?;
                    break false;
                }
                Some(Err(mpsc::RecvTimeoutError::Disconnected)) | None => {
                    let mut last_words = String::new();
                    if let Some(errors) = &mut errors {
                        errors.read_to_string(&mut last_words).ok();
                    }
                    let status = child.wait()?;
                    let words = last_words.lines().find(|line| !line.is_empty()).unwrap_or("");
                    note(current.unwrap_or(next), &format!("the process ends: {status} {words}"));
                    break false;
                }
            }
        };
        child.wait()?;
        if ended {
            return Ok(());
        }
        next = current.unwrap_or(next) + options.n_jobs as u64;
    }
    Ok(())
}

fn start(options: &Options, first: u64, end: &End) -> std::io::Result<Child> {
    let left = end.time.map_or(u64::MAX, |time| (time - Instant::now()).as_secs().max(1));
    let mut command = Command::new(std::env::current_exe()?);
    for (name, value) in [
        ("--seed", options.seed),
        ("--jobs", options.n_jobs as u64),
        ("--cases", options.n_cases),
        ("--seconds", left),
        ("--work-from", first),
    ] {
        command.args([name, &value.to_string()]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// The lines of a worker, read in a separate thread, so that waiting for one can time out.
fn listen(output: ChildStdout) -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            let Some(line) = line.ok().as_deref().and_then(Line::read) else { break };
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Counts a finding; the first of its kind is printed, and its text kept.
fn report(options: &Options, models: &[String], findings: &Mutex<Findings>, case: u64, what: &str) {
    let kind = kind_of(what);
    {
        let mut findings = findings.lock().expect("no panic");
        let n = findings.kinds.entry(kind).or_default();
        *n += 1;
        if *n > 1 {
            return;
        }
    }
    let seed = options.seed;
    let path = options.out.join(format!("finding-{seed}-{case}.json"));
    let kept = fs::create_dir_all(&options.out)
        .and_then(|()| fs::write(&path, text_of(models, seed, case)))
        .map_or_else(|err| err.to_string(), |()| format!("kept as {}", path.display()));
    println!("case {case}: {what}\n  again: aucrank-fuzz --seed {seed} --case {case}; {kept}");
}

/// A finding without its specific numbers.
fn kind_of(what: &str) -> String {
    let mut kind = String::new();
    for letter in what.chars().take(200) {
        match letter {
            '0'..='9' if kind.ends_with('#') => (),
            '0'..='9' => kind.push('#'),
            _ => kind.push(letter),
        }
    }
    kind
}
