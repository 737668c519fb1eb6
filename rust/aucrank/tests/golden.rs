//! Saved models of every family, read and scored by the crate: the files that the Python tests
//! read.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use aucrank::RankError;
use aucrank::data::{Column, Columns, MISSING_CODE};
use aucrank::formula::Opaque;
use aucrank::model::{Document, FeatureKind, Model};
use serde_json::Value;

/// The folder of the files, or `None` if the crate is outside the repository.
fn folder() -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden"));
    path.is_dir().then_some(path)
}

/// The tags of all families.
fn all_families() -> BTreeSet<&'static str> {
    Model::FAMILIES.iter().copied().collect()
}

/// A column from the file of answers, in the form that a model needs.
enum Held {
    Numbers(Vec<f64>),
    Codes(Vec<u32>, u32),
}

fn held(values: &[Value], kind: &FeatureKind) -> Held {
    match kind {
        FeatureKind::Numeric => {
            Held::Numbers(values.iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect())
        }
        FeatureKind::Categorical { levels } => {
            let known = levels.values();
            let code = |value: &Value| known.iter().position(|level| level == value);
            let codes = values.iter().map(|v| code(v).map_or(MISSING_CODE, |c| c as u32)).collect();
            Held::Codes(codes, levels.len())
        }
    }
}

#[test]
fn a_stored_model_of_any_family_scores_the_same_bits() {
    let Some(folder) = folder() else { return };
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let stored: Value = serde_json::from_str(&read("families_v3_answers.json")).unwrap();
    let (rows, ages) = (&stored["columns"], stored["ages"].as_array().unwrap());
    let (mut families, mut opaque_parts) = (BTreeSet::new(), Vec::new());
    let later: Value = serde_json::from_str(&read("reports_v5_answers.json")).unwrap();
    let of_version = [(3, &stored["answers"]), (5, &later["answers"])];
    let all = of_version.iter().flat_map(|(version, answers)| {
        answers.as_object().unwrap().iter().map(move |(name, answers)| (version, name, answers))
    });
    for (version, name, answers) in all {
        let path = format!("families_v{version}_{name}.json");
        let document = Document::from_json(&read(&path)).unwrap();
        let n_rows = answers.as_array().unwrap().len();
        let is_complete = document.header.features.len() == 2;
        let columns: Vec<Held> = document
            .header
            .features
            .iter()
            .map(|feature| {
                let name = feature.name.as_deref().unwrap();
                let values = rows[name].as_array().unwrap();
                let values = if is_complete && name == "age" { ages } else { values };
                held(&values[..n_rows], &feature.kind)
            })
            .collect();
        let columns = columns.iter().map(|column| match column {
            Held::Numbers(values) => Column::from(&values[..]),
            Held::Codes(codes, n_levels) => Column::Codes { codes, n_levels: *n_levels },
        });
        let columns = Columns::new(columns.collect(), n_rows).unwrap();
        let found = document.score(&columns);
        if matches!(document.model, Model::Mad2c(_) | Model::ThresholdBinarizer(_)) {
            assert_eq!(found, Err(RankError::NoScore));
        } else {
            let found: Vec<u64> = found.unwrap().iter().map(|score| score.to_bits()).collect();
            let answers = answers.as_array().unwrap().iter();
            let expected: Vec<u64> = answers.map(|v| v.as_f64().unwrap().to_bits()).collect();
            assert_eq!(found, expected, "{name}");
            let formula = document.model.family().formula();
            if let Some(opaque) = formula.opaque() {
                opaque_parts.push((name.clone(), opaque));
            } else {
                let values = formula.values(&columns).unwrap();
                let values: Vec<u64> = values.into_iter().map(f64::to_bits).collect();
                assert_eq!(values, expected, "the formula of {name}");
            }
        }
        let family = document.model.family();
        families.insert(family.as_model().tag());
        match family.threshold() {
            Some(threshold) => {
                assert_eq!(document.model.clone().with_threshold(threshold), Ok(document.model));
            }
            None => assert!(document.model.clone().with_threshold(0.5).is_err(), "{name}"),
        }
    }
    // Models of other libraries have columns and scores of their own.
    families.extend(["imported_trees", "imported_linear"]);
    assert_eq!(families, all_families());
    assert_eq!(opaque_parts, [("tree_rank_dyadic".to_owned(), Opaque::Cubes)]);
}

#[test]
fn a_stored_model_of_another_library_has_the_scores_of_that_library() {
    let Some(folder) = folder() else { return };
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let stored: Value = serde_json::from_str(&read("imported_v5_scores.json")).unwrap();
    let numbers = |values: &Value| -> Vec<f64> {
        values.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
    };
    let rows: Vec<Vec<f64>> = stored["rows"].as_array().unwrap().iter().map(numbers).collect();
    let values = rows.concat();
    let columns = Columns::from_row_major(&values, rows[0].len()).unwrap();
    for (name, scores) in stored["scores"].as_object().unwrap() {
        let document = Document::from_json(&read(&format!("imported_v5_{name}.json"))).unwrap();
        let family = document.model.family();
        assert_eq!(family.as_model().tag(), "imported_trees");
        assert_eq!(document.score(&columns), Ok(numbers(scores)), "{name}");
        assert_eq!(family.formula().values(&columns).unwrap(), numbers(scores), "{name}");
    }
}

#[test]
fn a_stored_equation_has_its_weighted_sum() {
    let Some(folder) = folder() else { return };
    let text = fs::read_to_string(folder.join("imported_v5_equation.json")).unwrap();
    let document = Document::from_json(&text).unwrap();
    assert_eq!(document.model.family().as_model().tag(), "imported_linear");
    let columns = Columns::from_row_major(&[40.0, 1.0, 64.0, 0.0], 2).unwrap();
    assert_eq!(document.score(&columns), Ok(vec![2.5 + 0.75 - 5.0, 4.0 - 5.0]));
}

#[test]
fn the_fuzzer_damages_a_model_of_every_family() {
    let Some(folder) = folder() else { return };
    let corpus = fs::read_dir(folder.join("../../fuzz/corpus")).unwrap();
    let tags = corpus.map(|file| {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        Document::from_json(&text).unwrap().model.family().as_model().tag()
    });
    assert_eq!(tags.collect::<BTreeSet<_>>(), all_families());
}
