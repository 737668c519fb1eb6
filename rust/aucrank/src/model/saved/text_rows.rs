//! Rows of text, as in a CSV file, as the columns of a model.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;

use super::{Feature, FeatureKind, Levels};
use crate::RankError;
use crate::data::{Column, Columns, MISSING_CODE};

/// Texts of a missing value: the list of pandas, `?`, and `\N` of databases, as in the command line
/// of the Python package.
const MISSING: [&str; 21] = [
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?", "\\N",
];

/// Reason why rows of text do not match the columns of a model.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, TextError, TextRows};
///
/// let features = [Feature::numeric("age")];
/// let err = TextRows::new(&features, ["town", "height"]).unwrap_err();
/// assert_eq!(err, TextError::NoColumn("age".to_owned()));
/// assert_eq!(err.to_string(), "there is no column \"age\", which the model needs");
///
/// let mut rows = TextRows::new(&features, ["town", "age"])?;
/// let err = rows.push(["Oslo"]).unwrap_err();
/// assert_eq!(err, TextError::RowLength { found: 1, expected: 2 });
/// # Ok::<(), TextError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// A name that two columns have.
    #[error("two columns are called {0:?}")]
    NameTwice(String),
    /// A feature of the model that the rows do not have.
    #[error("there is no column {0:?}, which the model needs")]
    NoColumn(String),
    /// A model of columns without names, which cannot be found among those of the rows.
    #[error("the model was fitted to columns without names")]
    NoNames,
    /// A category of the model that no text denotes.
    #[error("column {name:?} of the model has the category {level}")]
    UnknownLevel {
        /// The feature.
        name: String,
        /// Its category, as JSON.
        level: String,
    },
    /// A row whose length differs from the number of names.
    #[error("the row has {found} cells, but there are {expected} columns")]
    RowLength {
        /// Number of cells.
        found: usize,
        /// Number of names.
        expected: usize,
    },
    /// A cell of a numeric feature that is not a number.
    #[error("column {name:?}: {cell:?} is neither a finite number nor missing")]
    NoNumber {
        /// The feature.
        name: String,
        /// Text of the cell.
        cell: String,
    },
}

/// Rows of text, read as the features of a model: numbers are parsed, categories looked up.
///
/// The columns are found by name, in any order, and others are ignored. An empty cell and all that
/// pandas reads as missing (`NA`, `NaN`, `null`, ...) is missing, and so is a category that was not
/// seen at fit.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, TextRows};
///
/// let features = [Feature::numeric("age"), Feature::categorical("town", ["Lyon", "Oslo"])?];
/// let mut rows = TextRows::new(&features, ["town", "id", "age"])?;
/// rows.push(["Oslo", "17", "41.5"])?;
/// rows.push(["Rome", "18", "NA"])?;
/// assert_eq!(rows.columns()?.n_rows(), 2);
///
/// let err = rows.push(["Lyon", "19", "old"]).unwrap_err();
/// assert_eq!(err.to_string(), "column \"age\": \"old\" is neither a finite number nor missing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct TextRows<'a> {
    inputs: Vec<Input<'a>>,
    n_columns: usize,
    n_rows: usize,
}

/// A feature of the model, and its values in the rows.
#[derive(Debug, Clone)]
struct Input<'a> {
    name: &'a str,
    /// Place of its column in a row.
    place: usize,
    cells: TextColumn<'a>,
}

#[derive(Debug, Clone)]
enum TextColumn<'a> {
    Numbers(Vec<f64>),
    Codes { codes: Vec<u32>, code_of: HashMap<LevelKey<'a>, u32> },
}

impl<'a> TextRows<'a> {
    /// No rows yet, with columns of these names.
    ///
    /// # Errors
    ///
    /// [`TextError`] if a feature has no column, or no name, or two columns have the same name.
    pub fn new<'b>(
        features: &'a [Feature],
        names: impl IntoIterator<Item = &'b str>,
    ) -> Result<Self, TextError> {
        let names: Vec<&str> = names.into_iter().collect();
        check_names(&names)?;
        let inputs = features.iter().map(|feature| Input::new(feature, &names));
        Ok(Self { inputs: inputs.collect::<Result<_, _>>()?, n_columns: names.len(), n_rows: 0 })
    }

    /// Adds a row, whose cells are in the order of the names.
    ///
    /// # Errors
    ///
    /// [`TextError::RowLength`], or [`TextError::NoNumber`]; the row is then not added.
    pub fn push<'b>(&mut self, row: impl IntoIterator<Item = &'b str>) -> Result<(), TextError> {
        let row: Vec<&str> = row.into_iter().collect();
        if row.len() != self.n_columns {
            return Err(TextError::RowLength { found: row.len(), expected: self.n_columns });
        }
        let failed = self.inputs.iter_mut().find_map(|input| input.push(row[input.place]).err());
        match failed {
            None => {
                self.n_rows += 1;
                Ok(())
            }
            Some(err) => {
                self.inputs.iter_mut().for_each(|input| input.truncate(self.n_rows));
                Err(err)
            }
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// The rows as the model's features, in the model's order.
    ///
    /// # Errors
    ///
    /// [`RankError`] if there is no feature.
    pub fn columns(&self) -> Result<Columns<'_>, RankError> {
        Columns::new(self.inputs.iter().map(Input::column).collect(), self.n_rows)
    }
}

impl<'a> Input<'a> {
    fn new(feature: &'a Feature, names: &[&str]) -> Result<Self, TextError> {
        let (name, place) = place_of(feature, names)?;
        let cells = match &feature.kind {
            FeatureKind::Numeric => TextColumn::Numbers(Vec::new()),
            FeatureKind::Categorical { levels } => {
                TextColumn::Codes { codes: Vec::new(), code_of: codes_of(name, levels)? }
            }
        };
        Ok(Self { name, place, cells })
    }

    fn push(&mut self, cell: &str) -> Result<(), TextError> {
        match &mut self.cells {
            TextColumn::Numbers(numbers) => {
                numbers.push(number_or_missing(cell).ok_or_else(|| TextError::NoNumber {
                    name: self.name.to_owned(),
                    cell: cell.to_owned(),
                })?);
            }
            TextColumn::Codes { codes, code_of } => {
                let code = || {
                    // CSV does not distinguish the text "1" from the number 1.
                    let as_text = code_of.get(&LevelKey::Text(cell.into()));
                    as_text.or_else(|| code_of.get(&LevelKey::of_text(cell)?)).copied()
                };
                let code = if is_missing(cell) { None } else { code() };
                codes.push(code.unwrap_or(MISSING_CODE));
            }
        }
        Ok(())
    }

    fn truncate(&mut self, n_rows: usize) {
        match &mut self.cells {
            TextColumn::Numbers(numbers) => numbers.truncate(n_rows),
            TextColumn::Codes { codes, .. } => codes.truncate(n_rows),
        }
    }

    fn column(&self) -> Column<'_> {
        match &self.cells {
            TextColumn::Numbers(numbers) => numbers[..].into(),
            TextColumn::Codes { codes, code_of } => {
                Column::Codes { codes, n_levels: code_of.len() as u32 }
            }
        }
    }
}

/// Checks that no two columns have the same name.
pub(super) fn check_names(names: &[&str]) -> Result<(), TextError> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(**name)) {
        Some(twice) => Err(TextError::NameTwice((*twice).to_owned())),
        None => Ok(()),
    }
}

/// The name of a feature, and its place among those of columns.
pub(super) fn place_of<'a>(
    feature: &'a Feature,
    names: &[&str],
) -> Result<(&'a str, usize), TextError> {
    let name = feature.name.as_deref().ok_or(TextError::NoNames)?;
    let place = names.iter().position(|found| *found == name);
    Ok((name, place.ok_or_else(|| TextError::NoColumn(name.to_owned()))?))
}

/// The features of rows of text: a column is numeric if each of its cells is a finite number or
/// missing, and else categorical, its categories in the order of their text.
///
/// # Errors
///
/// [`TextError::RowLength`] if a row has another length than the names.
///
/// # Examples
///
/// ```
/// use aucrank::model::{Feature, learn_features};
///
/// let rows = [vec!["41.5", "Oslo"], vec!["NA", "Lyon"]];
/// let features = learn_features(["age", "town"], &rows)?;
/// assert_eq!(features[0], Feature::numeric("age"));
/// assert_eq!(features[1], Feature::categorical("town", ["Lyon", "Oslo"])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn learn_features<'a, T: AsRef<str>>(
    names: impl IntoIterator<Item = &'a str>,
    rows: &[Vec<T>],
) -> Result<Vec<Feature>, TextError> {
    let names: Vec<&str> = names.into_iter().collect();
    if let Some(row) = rows.iter().find(|row| row.len() != names.len()) {
        return Err(TextError::RowLength { found: row.len(), expected: names.len() });
    }
    let learn = |(place, name): (usize, &str)| {
        let cells = || rows.iter().map(|row| row[place].as_ref());
        let kind = if cells().all(|cell| number_or_missing(cell).is_some()) {
            FeatureKind::Numeric
        } else {
            let distinct: BTreeSet<&str> = cells().filter(|cell| !is_missing(cell)).collect();
            FeatureKind::Categorical { levels: Levels::of_texts(distinct) }
        };
        Feature { name: Some(name.to_owned()), kind, counts: None }
    };
    Ok(names.into_iter().enumerate().map(learn).collect())
}

fn is_missing(cell: &str) -> bool {
    MISSING.contains(&cell)
}

/// The number of a cell, NaN if it is missing; `None` for other text.
fn number_or_missing(cell: &str) -> Option<f64> {
    if is_missing(cell) {
        return Some(f64::NAN);
    }
    number(cell).filter(|number| number.is_finite())
}

/// A number, or a truth value as 0 or 1.
fn number(cell: &str) -> Option<f64> {
    match cell.trim() {
        "true" | "True" | "TRUE" => Some(1.0),
        "false" | "False" | "FALSE" => Some(0.0),
        text => text.parse().ok(),
    }
}

/// The codes of the categories of a feature.
pub(super) fn codes_of<'a>(
    name: &str,
    levels: &Levels,
) -> Result<HashMap<LevelKey<'a>, u32>, TextError> {
    let of_value = |(code, value): (u32, Value)| {
        let level = LevelKey::of_value(&value).map(|level| (level, code));
        let name = name.to_owned();
        level.ok_or_else(|| TextError::UnknownLevel { name, level: value.to_string() })
    };
    (0..).zip(levels.values()).map(of_value).collect()
}

/// A category, equal to another if Python has them equal: 1, 1.0 and True are the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum LevelKey<'a> {
    Text(Cow<'a, str>),
    Whole(i128),
    /// Bits of a number that is not whole, or too large to be exact.
    Real(u64),
}

impl LevelKey<'_> {
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

    /// The number that a cell of text denotes.
    fn of_text(cell: &str) -> Option<Self> {
        let whole = cell.trim().parse().ok().map(Self::Whole);
        whole.or_else(|| number(cell).map(Self::of_number))
    }

    pub(super) fn of_number(number: f64) -> Self {
        if number.fract() == 0.0 && number.abs() < 2_f64.powi(126) {
            Self::Whole(number as i128)
        } else {
            Self::Real(number.to_bits())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(features: &[Feature], names: &[&str], rows: &[&[&str]]) -> Vec<Vec<f64>> {
        let mut text = TextRows::new(features, names.iter().copied()).unwrap();
        for row in rows {
            text.push(row.iter().copied()).unwrap();
        }
        let columns = text.columns().unwrap();
        let read = |input: &Input<'_>| match &input.cells {
            TextColumn::Numbers(numbers) => numbers.clone(),
            TextColumn::Codes { codes, .. } => codes.iter().map(|&code| f64::from(code)).collect(),
        };
        assert_eq!(columns.n_rows(), rows.len());
        text.inputs.iter().map(read).collect()
    }

    #[test]
    fn categories_are_equal_if_they_are_in_python() {
        let levels = vec![json!("1"), json!(2), json!(0.5), json!(false), json!("true")];
        let kind = FeatureKind::Categorical { levels: Levels::try_from(levels).unwrap() };
        let features = [Feature { name: Some("a".to_owned()), kind, counts: None }];
        let cells = ["1", "2", "2.0", " 2", "0.5", "0", "False", "true", "1.0", "x", "NA", ""];
        let rows: Vec<&[&str]> = cells.chunks(1).collect();
        let unseen = f64::from(MISSING_CODE);
        let expected = [0.0, 1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0, unseen, unseen, unseen, unseen];
        assert_eq!(read(&features, &["a"], &rows), [expected]);
    }

    #[test]
    fn a_row_that_is_refused_is_not_added() {
        let features = [Feature::numeric("a"), Feature::numeric("b")];
        let mut rows = TextRows::new(&features, ["b", "a"]).unwrap();
        rows.push(["1", "2"]).unwrap();
        let no_number = |cell: &str| {
            let (name, cell) = ("b".to_owned(), cell.to_owned());
            Err(TextError::NoNumber { name, cell })
        };
        assert_eq!(rows.push(["x", "3"]), no_number("x"));
        assert_eq!(rows.push(["inf", "3"]), no_number("inf"));
        assert_eq!(rows.push(["1"]), Err(TextError::RowLength { found: 1, expected: 2 }));
        rows.push(["nan", "True"]).unwrap();
        assert_eq!(rows.n_rows(), 2);
        let TextColumn::Numbers(a) = &rows.inputs[0].cells else { panic!("it is numeric") };
        assert_eq!(a, &[2.0, 1.0]);
    }

    #[test]
    fn mismatched_columns_are_refused() {
        let features = [Feature::numeric("a")];
        let err = |names: &[&str]| TextRows::new(&features, names.iter().copied()).unwrap_err();
        assert_eq!(err(&["b"]), TextError::NoColumn("a".to_owned()));
        assert_eq!(err(&["a", "b", "b"]), TextError::NameTwice("b".to_owned()));
        let nameless = [Feature { name: None, kind: FeatureKind::Numeric, counts: None }];
        assert_eq!(TextRows::new(&nameless, ["a"]).unwrap_err(), TextError::NoNames);
    }

    #[test]
    fn learned_features_read_the_same_rows() {
        let rows = [vec!["1e3", "b", "NA"], vec!["", "10", "?"], vec!["-7", "a", "nan"]];
        let features = learn_features(["x", "y", "z"], &rows).unwrap();
        let kinds: Vec<bool> = features.iter().map(|f| f.kind == FeatureKind::Numeric).collect();
        assert_eq!(kinds, [true, false, true]);
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        let found = read(&features, &["x", "y", "z"], &rows);
        assert_eq!(found[1], [2.0, 0.0, 1.0]);
        assert_eq!((found[0][0], found[0][2]), (1000.0, -7.0));
        assert!(found[2].iter().all(|number| number.is_nan()));
    }
}
