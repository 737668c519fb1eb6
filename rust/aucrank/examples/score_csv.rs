//! Scores the rows of a CSV file with a saved model; no Python takes part.
//!
//! ```sh
//! cargo run --release -p aucrank --example score_csv -- MODEL.json DATA.csv > scores.csv
//! ```
//!
//! Columns are found by name, and those that the model does not know are ignored. A category that
//! was not seen at fit counts as missing.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use aucrank::RankError;
use aucrank::data::{Column, Columns, MISSING_CODE};
use aucrank::model::{Document, Feature, FeatureKind, Model};
use csv::StringRecord;
use serde_json::Value;

type Failure = Box<dyn Error>;

/// What stands for a missing value: the list of pandas, as in the command line of the Python package.
const MISSING: [&str; 20] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?",
];

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
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [model, data] = &args[..] else {
        return Err("usage: score_csv MODEL.json DATA.csv".into());
    };
    let (model, data) = (Path::new(model), Path::new(data));
    let of_file = |path: &Path, err: &dyn Display| format!("{}: {err}", path.display());

    let text = fs::read_to_string(model).map_err(|err| of_file(model, &err))?;
    let document = Document::from_json(&text).map_err(|err| of_file(model, &err))?;
    // A transformer is of no use here, whatever the rows are.
    if matches!(document.model, Model::Mad2c(_) | Model::ThresholdBinarizer(_)) {
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

fn score(document: &Document, data: &Path) -> Result<Vec<f64>, Failure> {
    let mut reader = csv::Reader::from_path(data)?;
    let mut inputs = match_columns(&document.header.features, reader.headers()?)?;
    let (mut record, mut n_rows) = (StringRecord::new(), 0);
    while reader.read_record(&mut record)? {
        let line = record.position().map_or(0, csv::Position::line);
        for input in &mut inputs {
            input.push(&record[input.position], line)?;
        }
        n_rows += 1;
    }
    let columns = Columns::new(inputs.iter().map(Input::column).collect(), n_rows)?;
    Ok(document.score(&columns)?)
}

/// A feature of the model, and what the file holds of it.
struct Input<'a> {
    name: &'a str,
    /// Place of its column in the file.
    position: usize,
    cells: Cells<'a>,
}

enum Cells<'a> {
    Numbers(Vec<f64>),
    Codes { codes: Vec<u32>, code_of: HashMap<Level<'a>, u32> },
}

impl Input<'_> {
    fn push(&mut self, cell: &str, line: u64) -> Result<(), Failure> {
        let missing = MISSING.contains(&cell);
        match &mut self.cells {
            Cells::Numbers(numbers) if missing => numbers.push(f64::NAN),
            Cells::Numbers(numbers) => match number(cell) {
                Some(number) if number.is_finite() => numbers.push(number),
                _ => {
                    let name = self.name;
                    let text = format!(
                        "line {line}, column {name:?}: {cell:?} is neither a finite number nor missing"
                    );
                    return Err(text.into());
                }
            },
            Cells::Codes { codes, code_of } => {
                let code = || {
                    // A column that holds both the text "1" and the number 1 is beyond CSV.
                    let as_text = code_of.get(&Level::Text(cell.into()));
                    as_text.or_else(|| code_of.get(&Level::of_text(cell)?)).copied()
                };
                codes.push(if missing { None } else { code() }.unwrap_or(MISSING_CODE));
            }
        }
        Ok(())
    }

    fn column(&self) -> Column<'_> {
        match &self.cells {
            Cells::Numbers(numbers) => numbers[..].into(),
            Cells::Codes { codes, code_of } => {
                Column::Codes { codes, n_levels: code_of.len() as u32 }
            }
        }
    }
}

fn match_columns<'a>(
    features: &'a [Feature],
    header: &StringRecord,
) -> Result<Vec<Input<'a>>, Failure> {
    let mut seen = HashSet::new();
    if let Some(twice) = header.iter().find(|name| !seen.insert(*name)) {
        return Err(format!("two of its columns are called {twice:?}").into());
    }
    let match_column = |feature: &'a Feature| {
        let Some(name) = feature.name.as_deref() else {
            return Err("the model was fitted to columns without names".into());
        };
        let position = header.iter().position(|found| found == name);
        let position =
            position.ok_or_else(|| format!("it has no column {name:?}, which the model needs"))?;
        let cells = match &feature.kind {
            FeatureKind::Numeric => Cells::Numbers(Vec::new()),
            FeatureKind::Categorical { levels } => {
                let of_value = |(code, value): (u32, Value)| {
                    let shown = || format!("column {name:?} of the model has the category {value}");
                    Level::of_value(&value).map(|level| (level, code)).ok_or_else(shown)
                };
                let code_of = (0..).zip(levels.values()).map(of_value).collect::<Result<_, _>>()?;
                Cells::Codes { codes: Vec::new(), code_of }
            }
        };
        Ok(Input { name, position, cells })
    };
    features.iter().map(match_column).collect()
}

/// A category, equal to another where Python has them equal: 1, 1.0 and True are the same.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Level<'a> {
    Text(Cow<'a, str>),
    Whole(i128),
    /// Bits of a number that is not whole, or too large to be exact.
    Real(u64),
}

impl Level<'_> {
    fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::Text(text.clone().into())),
            Value::Bool(truth) => Some(Self::Whole(i128::from(*truth))),
            Value::Number(number) => {
                number.as_i128().map(Self::Whole).or_else(|| number.as_f64().map(Self::of_number))
            }
            _ => None,
        }
    }

    /// The number that a cell of text stands for.
    fn of_text(cell: &str) -> Option<Self> {
        let whole = cell.trim().parse().ok().map(Self::Whole);
        whole.or_else(|| number(cell).map(Self::of_number))
    }

    fn of_number(number: f64) -> Self {
        if number.fract() == 0.0 && number.abs() < 2_f64.powi(126) {
            Self::Whole(number as i128)
        } else {
            Self::Real(number.to_bits())
        }
    }
}

/// A number, or a truth value as 0 or 1.
fn number(cell: &str) -> Option<f64> {
    match cell.trim() {
        "true" | "True" | "TRUE" => Some(1.0),
        "false" | "False" | "FALSE" => Some(0.0),
        text => text.parse().ok(),
    }
}
