//! Scores the rows of a CSV file with a saved model; no Python takes part.
//!
//! ```sh
//! cargo run --release -p aucrank --example score_csv -- MODEL.json DATA.csv > scores.csv
//! ```
//!
//! Columns are found by name, and those that the model does not know are ignored. A category that
//! was not seen at fit counts as missing.

use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use aucrank::RankError;
use aucrank::model::{Document, TextRows};

type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(err) => {
            eprintln!("score_csv: {err}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, data] = &args[..] else {
        return Err("usage: score_csv MODEL.json DATA.csv".into());
    };
    let of_file = |path: &str, err: &dyn Display| format!("{path}: {err}");

    let text = fs::read_to_string(model).map_err(|err| of_file(model, &err))?;
    let document = Document::from_json(&text).map_err(|err| of_file(model, &err))?;
    // A transformer is of no use here, whatever the rows are.
    if !document.model.family().has_score() {
        return Err(of_file(model, &RankError::NoScore).into());
    }
    let scores = score(&document, data).map_err(|err| of_file(data, &err))?;

    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "score")?;
    for score in scores {
        // The shortest text that reads back as the same number.
        writeln!(out, "{score}")?;
    }
    Ok(out.flush()?)
}

fn score(document: &Document, data: &str) -> Result<Vec<f64>, Failure> {
    let mut reader = csv::Reader::from_path(data)?;
    let mut rows = TextRows::new(&document.header.features, reader.headers()?)?;
    for record in reader.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        rows.push(&record).map_err(|err| format!("line {line}, {err}"))?;
    }
    Ok(document.score(&rows.columns()?)?)
}
