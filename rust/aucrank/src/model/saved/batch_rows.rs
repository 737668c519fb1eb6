//! Batches of Apache Arrow, as the columns of a model.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch, downcast_integer_array};

use super::text_rows::{LevelKey, check_names, codes_of, place_of};
use super::{DateUnit, Feature, FeatureKind, Levels, TextError};
use crate::RankError;
use crate::data::{Column, Columns, MISSING_CODE};

const SECONDS_A_DAY: f64 = 86_400.0;

/// Reason why a batch does not have the columns of a model.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use aucrank::model::{BatchError, BatchRows, Feature};
///
/// let ages: ArrayRef = Arc::new(StringArray::from(vec!["41", "old"]));
/// let batch = RecordBatch::try_from_iter([("age", ages)])?;
/// let err = BatchRows::new(&[Feature::numeric("age")], &batch).unwrap_err();
/// assert_eq!(err.to_string(), "column \"age\" is a number in the model, and Utf8 in the batch");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A column is missing, or there are two of its name.
    #[error(transparent)]
    Columns(#[from] TextError),
    /// A column whose type does not match the feature.
    #[error("column {name:?} is {expected} in the model, and {found} in the batch")]
    OtherType {
        /// The feature.
        name: String,
        /// Kind of the feature in the model.
        expected: &'static str,
        /// The Arrow type.
        found: String,
    },
    /// A column of a type that no feature can have.
    #[error("column {name:?} is {found}: neither numbers, nor dates, nor text")]
    NoFeature {
        /// The column.
        name: String,
        /// The Arrow type.
        found: String,
    },
}

/// A batch of Apache Arrow, read as the features of a model.
///
/// The columns are found by name, in any order, and others are ignored. Null is missing, and so are
/// NaN and a category that was not seen at fit. Numbers are those of any width, and booleans;
/// doubles without a null are borrowed. Categories are strings of any form, also in dictionaries,
/// or whole numbers. Dates and times of the model are those of Arrow.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
/// use aucrank::model::{BatchRows, Feature};
///
/// let towns: ArrayRef = Arc::new(StringArray::from(vec![Some("Oslo"), None, Some("Rome")]));
/// let ages: ArrayRef = Arc::new(Float64Array::from(vec![41.5, 30.0, f64::NAN]));
/// let batch = RecordBatch::try_from_iter([("town", towns), ("age", ages)])?;
///
/// let features = [Feature::numeric("age"), Feature::categorical("town", ["Lyon", "Oslo"])?];
/// let rows = BatchRows::new(&features, &batch)?;
/// assert_eq!((rows.columns()?.n_rows(), rows.columns()?.n_features()), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct BatchRows<'a> {
    inputs: Vec<BatchColumn<'a>>,
    n_rows: usize,
}

#[derive(Debug, Clone)]
enum BatchColumn<'a> {
    Numbers(Cow<'a, [f64]>),
    Codes { codes: Vec<u32>, n_levels: u32 },
}

impl<'a> BatchRows<'a> {
    /// The features of a model, such as those of a [`Header`](super::Header), in a batch.
    ///
    /// # Errors
    ///
    /// [`BatchError`] if a feature has no column, or no name, or its column is of another type; or
    /// two columns have the same name.
    pub fn new(features: &[Feature], batch: &'a RecordBatch) -> Result<Self, BatchError> {
        let schema = batch.schema_ref();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        check_names(&names)?;
        let input = |feature: &Feature| {
            let (name, place) = place_of(feature, &names)?;
            BatchColumn::new(name, feature, batch.column(place).as_ref())
        };
        let inputs = features.iter().map(input).collect::<Result<_, BatchError>>()?;
        Ok(Self { inputs, n_rows: batch.num_rows() })
    }

    /// The rows as the model's features, in the model's order.
    ///
    /// # Errors
    ///
    /// [`RankError`] if there are 2^32 rows or more.
    pub fn columns(&self) -> Result<Columns<'_>, RankError> {
        Columns::new(self.inputs.iter().map(BatchColumn::column).collect(), self.n_rows)
    }
}

impl<'a> BatchColumn<'a> {
    fn new(name: &str, feature: &Feature, array: &'a dyn Array) -> Result<Self, BatchError> {
        let (found, expected) = match &feature.kind {
            FeatureKind::Numeric if feature.counts.is_some() => (days(array), "a date"),
            FeatureKind::Numeric => (numbers(array), "a number"),
            FeatureKind::Categorical { levels } => {
                let code_of = codes_of(name, levels)?;
                return codes(array, &code_of)
                    .map(|codes| Self::Codes { codes, n_levels: levels.len() })
                    .ok_or_else(|| other_type(name, "a category", array));
            }
        };
        found.map(Self::Numbers).ok_or_else(|| other_type(name, expected, array))
    }

    fn column(&self) -> Column<'_> {
        match self {
            Self::Numbers(numbers) => numbers[..].into(),
            Self::Codes { codes, n_levels } => Column::Codes { codes, n_levels: *n_levels },
        }
    }
}

fn other_type(name: &str, expected: &'static str, array: &dyn Array) -> BatchError {
    let (name, found) = (name.to_owned(), array.data_type().to_string());
    BatchError::OtherType { name, expected, found }
}

/// Reads an array of one type.
type ArrayReader = fn(&dyn Array) -> Option<Vec<f64>>;

/// The values of an array, NaN for null.
fn values<T: ArrowPrimitiveType>(
    array: &dyn Array,
    number: impl Fn(T::Native) -> f64,
) -> Option<Vec<f64>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(array.iter().map(|value| value.map_or(f64::NAN, &number)).collect())
}

fn numbers(array: &dyn Array) -> Option<Cow<'_, [f64]>> {
    if let Some(doubles) = array.as_primitive_opt::<Float64Type>()
        && doubles.null_count() == 0
    {
        return Some(Cow::Borrowed(doubles.values()));
    }
    if let Some(truths) = array.as_boolean_opt() {
        let number = |truth: Option<bool>| truth.map_or(f64::NAN, f64::from);
        return Some(truths.iter().map(number).collect::<Vec<f64>>().into());
    }
    let readers: [ArrayReader; 11] = [
        |array| values::<Float64Type>(array, |value| value),
        |array| values::<Float32Type>(array, f64::from),
        |array| values::<Float16Type>(array, f64::from),
        |array| values::<Int64Type>(array, |value| value as f64),
        |array| values::<Int32Type>(array, f64::from),
        |array| values::<Int16Type>(array, f64::from),
        |array| values::<Int8Type>(array, f64::from),
        |array| values::<UInt64Type>(array, |value| value as f64),
        |array| values::<UInt32Type>(array, f64::from),
        |array| values::<UInt16Type>(array, f64::from),
        |array| values::<UInt8Type>(array, f64::from),
    ];
    readers.iter().find_map(|read| read(array)).map(Cow::Owned)
}

/// Days since 1970, with the time of day as a fraction, as in Python.
fn days(array: &dyn Array) -> Option<Cow<'_, [f64]>> {
    let readers: [ArrayReader; 6] = [
        |array| values::<Date32Type>(array, f64::from),
        |array| values::<Date64Type>(array, |millis| millis as f64 / 1e3 / SECONDS_A_DAY),
        |array| values::<TimestampSecondType>(array, |seconds| seconds as f64 / SECONDS_A_DAY),
        |array| values::<TimestampMillisecondType>(array, |ms| ms as f64 / 1e3 / SECONDS_A_DAY),
        |array| values::<TimestampMicrosecondType>(array, days_of_micros),
        // Python times are no finer than a microsecond.
        |array| values::<TimestampNanosecondType>(array, |ns| days_of_micros(ns.div_euclid(1000))),
    ];
    readers.iter().find_map(|read| read(array)).map(Cow::Owned)
}

fn days_of_micros(micros: i64) -> f64 {
    micros as f64 / 1e6 / SECONDS_A_DAY
}

/// The strings of an array that is not a dictionary.
fn texts(array: &dyn Array) -> Option<Vec<Option<&str>>> {
    let utf8 = array.as_string_opt::<i32>().map(|texts| texts.iter().collect());
    utf8.or_else(|| array.as_string_opt::<i64>().map(|texts| texts.iter().collect()))
        .or_else(|| array.as_string_view_opt().map(|texts| texts.iter().collect()))
}

/// The codes of the rows; unknown categories are missing.
fn codes(array: &dyn Array, code_of: &HashMap<LevelKey<'_>, u32>) -> Option<Vec<u32>> {
    let of_level = |level: Option<LevelKey<'_>>| {
        level.and_then(|level| code_of.get(&level)).copied().unwrap_or(MISSING_CODE)
    };
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        let values = codes(dictionary.values().as_ref(), code_of)?;
        let of_key = |(row, key): (usize, usize)| {
            if array.is_null(row) { MISSING_CODE } else { values[key] }
        };
        // Without a value, a null row may have an invalid key.
        let keys =
            if values.is_empty() { vec![0; array.len()] } else { dictionary.normalized_keys() };
        return Some(keys.into_iter().enumerate().map(of_key).collect());
    }
    if let Some(texts) = texts(array) {
        let level = |text: Option<&str>| of_level(text.map(|text| LevelKey::Text(text.into())));
        return Some(texts.into_iter().map(level).collect());
    }
    // Whole numbers may exceed the precision of a double.
    let of_whole = |whole: Option<i128>| of_level(whole.map(LevelKey::Whole));
    let whole: Option<Vec<u32>> = downcast_integer_array!(
        array => Some(array.iter().map(|value| of_whole(value.map(i128::from))).collect()),
        _ => None
    );
    if whole.is_some() {
        return whole;
    }
    let numbers = numbers(array)?;
    let level = |number: &f64| of_level((!number.is_nan()).then(|| LevelKey::of_number(*number)));
    Some(numbers.iter().map(level).collect())
}

/// The features of batches: strings are categories, in the order of their text; all else is
/// numbers, and dates and times days since 1970.
///
/// # Errors
///
/// [`BatchError`] if two columns have the same name, a batch lacks a column of the first, or a
/// column is of a type that no feature can have.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use aucrank::model::{Feature, features_of_batches};
///
/// let ages: ArrayRef = Arc::new(Int64Array::from(vec![41, 30]));
/// let towns: ArrayRef = Arc::new(StringArray::from(vec!["Oslo", "Lyon"]));
/// let batch = RecordBatch::try_from_iter([("age", ages), ("town", towns)])?;
/// let features = features_of_batches(&[batch])?;
/// assert_eq!(features[0], Feature::numeric("age"));
/// assert_eq!(features[1], Feature::categorical("town", ["Lyon", "Oslo"])?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn features_of_batches(batches: &[RecordBatch]) -> Result<Vec<Feature>, BatchError> {
    let Some(first) = batches.first() else { return Ok(Vec::new()) };
    let schema = first.schema_ref();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    check_names(&names)?;
    names.into_iter().map(|name| learn(name, batches)).collect()
}

fn learn(name: &str, batches: &[RecordBatch]) -> Result<Feature, BatchError> {
    let mut arrays = Vec::new();
    for batch in batches {
        let array = batch.column_by_name(name);
        arrays.push(array.ok_or_else(|| TextError::NoColumn(name.to_owned()))?.as_ref());
    }
    let first = arrays[0];
    let (kind, counts) = if numbers(first).is_some() {
        (FeatureKind::Numeric, None)
    } else if days(first).is_some() {
        let is_day = first.as_primitive_opt::<Date32Type>().is_some();
        let unit = if is_day { DateUnit::Days } else { DateUnit::Moments };
        (FeatureKind::Numeric, Some(unit))
    } else {
        let mut distinct = BTreeSet::new();
        for array in arrays {
            let dictionary = array.as_any_dictionary_opt();
            let found = texts(dictionary.map_or(array, |dictionary| dictionary.values().as_ref()));
            let found = found.ok_or_else(|| BatchError::NoFeature {
                name: name.to_owned(),
                found: array.data_type().to_string(),
            })?;
            distinct.extend(found.into_iter().flatten());
        }
        (FeatureKind::Categorical { levels: Levels::of_texts(distinct) }, None)
    };
    Ok(Feature { name: Some(name.to_owned()), kind, counts })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::*;
    use serde_json::json;

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, array)| (name, array, true)),
        )
        .unwrap()
    }

    fn read(features: &[Feature], batch: &RecordBatch) -> Vec<Vec<f64>> {
        let rows = BatchRows::new(features, batch).unwrap();
        assert_eq!(rows.columns().unwrap().n_rows(), batch.num_rows());
        let read = |cells: &BatchColumn<'_>| match cells {
            BatchColumn::Numbers(numbers) => numbers.to_vec(),
            BatchColumn::Codes { codes, .. } => codes.iter().map(|&code| f64::from(code)).collect(),
        };
        rows.inputs.iter().map(read).collect()
    }

    #[test]
    fn numbers_of_every_width_are_doubles() {
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::from(vec![Some(1.0), None])),
            Arc::new(Float32Array::from(vec![Some(1.0), None])),
            Arc::new(Int8Array::from(vec![Some(1), None])),
            Arc::new(UInt64Array::from(vec![Some(1), None])),
            Arc::new(BooleanArray::from(vec![Some(true), None])),
        ];
        for array in arrays {
            let found = read(&[Feature::numeric("a")], &batch(vec![("a", array)]));
            assert_eq!(found[0][0], 1.0);
            assert!(found[0][1].is_nan());
        }
        let doubles: ArrayRef = Arc::new(Float64Array::from(vec![0.5, -3.0]));
        let batch = batch(vec![("a", doubles)]);
        let features = [Feature::numeric("a")];
        let rows = BatchRows::new(&features, &batch).unwrap();
        assert!(matches!(rows.inputs[0], BatchColumn::Numbers(Cow::Borrowed([0.5, -3.0]))));
    }

    #[test]
    fn categories_are_found_in_strings_of_every_form() {
        let texts = [Some("b"), None, Some("x"), Some("a")];
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(StringArray::from(texts.to_vec())),
            Arc::new(LargeStringArray::from(texts.to_vec())),
            Arc::new(StringViewArray::from(texts.to_vec())),
            Arc::new(texts.into_iter().collect::<DictionaryArray<Int8Type>>()),
        ];
        let features = [Feature::categorical("a", ["a", "b"]).unwrap()];
        let missing = f64::from(MISSING_CODE);
        for array in arrays {
            let batch = batch(vec![("a", array)]);
            assert_eq!(read(&features, &batch), [[1.0, missing, missing, 0.0]]);
            let learned = features_of_batches(std::slice::from_ref(&batch)).unwrap();
            assert_eq!(learned, [Feature::categorical("a", ["a", "b", "x"]).unwrap()]);
        }
        let empty: ArrayRef =
            Arc::new([None::<&str>, None].into_iter().collect::<DictionaryArray<Int8Type>>());
        assert_eq!(read(&features, &batch(vec![("a", empty)])), [[missing, missing]]);
        // Whole numbers as categories, and those of a model that has both.
        let above = 2_i64.pow(53) + 1;
        let levels = vec![json!("1"), json!(1), json!(0.5), json!(above)];
        let levels = Levels::try_from(levels).unwrap();
        let kind = FeatureKind::Categorical { levels };
        let features = [Feature { name: Some("a".to_owned()), kind, counts: None }];
        let whole: ArrayRef =
            Arc::new(Int64Array::from(vec![Some(1), Some(above - 1), None, Some(above)]));
        assert_eq!(read(&features, &batch(vec![("a", whole)])), [[1.0, missing, missing, 3.0]]);
        let halves: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 0.5, f64::NAN]));
        assert_eq!(read(&features, &batch(vec![("a", halves)])), [[1.0, 2.0, missing]]);
    }

    #[test]
    fn dates_and_times_are_days() {
        let half_past_six = 20_000 * 86_400 + 6 * 3600 + 30 * 60;
        let expected = f64::from(half_past_six) / 86_400.0;
        let (seconds, before) = (i64::from(half_past_six), -1);
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(TimestampSecondArray::from(vec![seconds, before])),
            Arc::new(TimestampMillisecondArray::from(vec![seconds * 1000, before * 1000])),
            Arc::new(TimestampMicrosecondArray::from(vec![
                seconds * 1_000_000,
                before * 1_000_000,
            ])),
            // Digits of nanoseconds below a microsecond are cut off.
            Arc::new(TimestampNanosecondArray::from(vec![
                seconds * 1_000_000_000 + 999,
                before * 1_000_000_000,
            ])),
        ];
        for array in arrays {
            let batch = batch(vec![("a", array)]);
            let features = features_of_batches(std::slice::from_ref(&batch)).unwrap();
            assert_eq!(features[0].counts, Some(DateUnit::Moments));
            assert_eq!(read(&features, &batch), [[expected, -1.0 / 86_400.0]]);
        }
        let days: ArrayRef = Arc::new(Date32Array::from(vec![20_000, -5]));
        let batch = batch(vec![("a", days)]);
        let features = features_of_batches(std::slice::from_ref(&batch)).unwrap();
        assert_eq!(features[0].counts, Some(DateUnit::Days));
        assert_eq!(read(&features, &batch), [[20_000.0, -5.0]]);
        let plain = [Feature::numeric("a")];
        let err = BatchRows::new(&plain, &batch).unwrap_err().to_string();
        assert_eq!(err, "column \"a\" is a number in the model, and Date32 in the batch");
    }

    #[test]
    fn mismatched_columns_are_refused() {
        let a: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        let nulls: ArrayRef = Arc::new(NullArray::new(1));
        let features = [Feature::numeric("a")];
        let err = |columns| BatchRows::new(&features, &batch(columns)).unwrap_err();
        let twice = vec![("a", Arc::clone(&a)), ("b", Arc::clone(&a)), ("b", Arc::clone(&a))];
        assert_eq!(err(twice), TextError::NameTwice("b".to_owned()).into());
        assert_eq!(err(vec![("b", a)]), TextError::NoColumn("a".to_owned()).into());
        let err = features_of_batches(&[batch(vec![("c", nulls)])]).unwrap_err().to_string();
        assert_eq!(err, "column \"c\" is Null: neither numbers, nor dates, nor text");
    }
}
