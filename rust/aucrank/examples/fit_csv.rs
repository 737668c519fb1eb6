//! Fits boosted trees to one half of a CSV file, scores the other half, and saves the model.
//!
//! ```sh
//! cargo run --release -p aucrank --example fit_csv -- DATA.csv TARGET POSITIVE MODEL.json
//! ```
//!
//! The column `TARGET` holds the two labels, of which `POSITIVE` is the one to rank first. All other
//! columns are features: numbers, or categories where a cell is not a number. `aucrank.load` reads the
//! model in Python.

use std::error::Error;

use aucrank::Interrupt;
use aucrank::boost::{GradientExtras, GradientParams, fit_gradient_boosting};
use aucrank::data::Labels;
use aucrank::model::{Document, Feature, Header, TextRows, learn_features};
use aucrank::roc::auc;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [data, target, positive, model_file] = &args[..] else {
        return Err("usage: fit_csv DATA.csv TARGET POSITIVE MODEL.json".into());
    };

    // The rows as text, and which of them are positive.
    let mut reader = csv::Reader::from_path(data)?;
    let mut names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    let place = names.iter().position(|name| name == target).ok_or("there is no such TARGET")?;
    names.remove(place);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (mut halves, mut labels) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let mut negative = None;
    for (number, record) in reader.records().enumerate() {
        let mut row: Vec<String> = record?.iter().map(str::to_owned).collect();
        let label = row.remove(place);
        labels[number % 2].push(label == *positive);
        halves[number % 2].push(row);
        if label != *positive {
            negative.get_or_insert(label);
        }
    }

    // What the columns are is learned from the rows that the model is fitted to.
    let features: Vec<Feature> = learn_features(names.iter().copied(), &halves[0])?;
    let read = |rows: &[Vec<String>]| {
        let mut text = TextRows::new(&features, names.iter().copied())?;
        rows.iter().try_for_each(|row| text.push(row.iter().map(String::as_str)))?;
        Ok::<_, Box<dyn Error>>(text)
    };
    let (train, test) = (read(&halves[0])?, read(&halves[1])?);

    let model = fit_gradient_boosting(
        (&train.columns()?, &Labels::new(&labels[0], None)?),
        &GradientParams::default(),
        &GradientExtras::default(),
        &Interrupt::default(),
    )?;
    let scores = model.score(&test.columns()?)?;
    println!("AUC of {} rows that were not fitted: {:.4}", scores.len(), auc(&scores, &labels[1])?);

    let header = Header::builder("GradientBoostingRanker")
        .features(features.iter().cloned())
        .classes(negative.ok_or("all rows are positive")?, positive.clone())
        .build()?;
    std::fs::write(model_file, Document::new(header, model)?.to_json()?)?;
    Ok(())
}
