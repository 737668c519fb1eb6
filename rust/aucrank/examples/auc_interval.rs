//! The area under the ROC curve of a column of scores, with its interval by `DeLong`.
//!
//! ```sh
//! cargo run --release -p aucrank --example auc_interval -- SCORES.csv
//! ```
//!
//! The file has the columns `score`, a number, and `label`, 1 or 0.

use std::error::Error;

use aucrank::roc::DeLong;

/// Quantile of the standard normal distribution that leaves 2.5 % on either side.
const Z: f64 = 1.959_963_984_540_054;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: auc_interval SCORES.csv")?;
    let mut reader = csv::Reader::from_path(path)?;
    let names = reader.headers()?;
    let place = |name: &str| names.iter().position(|found| found == name);
    let (score, label) = (
        place("score").ok_or("there is no column `score`")?,
        place("label").ok_or("there is no column `label`")?,
    );
    let (mut scores, mut positive) = (Vec::<f64>::new(), Vec::new());
    for record in reader.records() {
        let record = record?;
        scores.push(record[score].parse()?);
        positive.push(record[label] == *"1");
    }

    let delong = DeLong::new(&[&scores], &positive)?;
    let auc = delong.aucs()[0];
    let error = delong.covariance(0, 0).ok_or("a class has one row only")?.sqrt();
    let (low, high) = ((auc - Z * error).max(0.0), (auc + Z * error).min(1.0));
    println!("AUC {auc:.4}, 95 % interval {low:.4} to {high:.4}");
    Ok(())
}
