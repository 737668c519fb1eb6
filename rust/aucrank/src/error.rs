//! Errors of the core: every way an input can be wrong.
//!
//! What only one room can find wrong is an error of that room, which this one contains. It is not
//! converted by `?`: with a second conversion the compiler no longer infers the error of a closure.

use crate::boost::BoostError;
use crate::formula::FormulaError;
use crate::tree::TreeError;

/// Why a statistic, a fit or a score is undefined for the given input.
///
/// The message says which row, column or parameter is at fault and what its value is; the Python
/// package shows it as the text of a `ValueError`.
///
/// # Examples
///
/// ```
/// use aucrank::data::Columns;
/// use aucrank::{RankError, roc};
///
/// let err = roc::auc(&[0.5, f64::NAN], &[false, true]).unwrap_err();
/// assert_eq!(err, RankError::NanScore(1));
/// assert_eq!(err.to_string(), "the score of row 1 is NaN");
///
/// let columns = Columns::from_row_major(&[1.0, f64::INFINITY], 2)?;
/// let err = columns.infinite_value().expect("column 1 has one");
/// assert_eq!(err.column(), Some(1));
/// # Ok::<(), RankError>(())
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RankError {
    /// An input whose length is not that of `y`.
    #[error("{name} has {found} rows, but y has {expected}")]
    LengthMismatch {
        /// What has the wrong length.
        name: &'static str,
        /// Its length.
        found: usize,
        /// The number of labels.
        expected: usize,
    },
    /// The first NaN score, by row: NaN has no rank.
    #[error("the score of row {0} is NaN")]
    NanScore(usize),
    /// One class only, so there is no pair to rank.
    #[error(
        "y has one class only, so there is no pair to rank: {n_pos} positive and {n_neg} negative rows"
    )]
    OneClass {
        /// Rows of the positive class.
        n_pos: usize,
        /// Rows of the negative class.
        n_neg: usize,
    },
    /// A weight that is not a number of repetitions of a row.
    #[error("sample_weight of row {row} is {value}; weights must be finite and not negative")]
    BadWeight {
        /// First row at fault.
        row: usize,
        /// Its weight.
        value: f64,
    },
    /// All the weight is on one class.
    #[error(
        "sample_weight is zero, or nothing next to the other weights, on every row of the {class} \
         class, so there is no pair to rank"
    )]
    ClassWithoutWeight {
        /// `"positive"` or `"negative"`.
        class: &'static str,
    },
    /// Infinity: it can be sorted, but has no midpoint with a finite value.
    #[error(
        "column {column} is {value} in row {row}; X must not hold infinity (NaN is a missing value)"
    )]
    InfiniteValue {
        /// Column at fault, counted from 0.
        column: usize,
        /// First row at fault.
        row: usize,
        /// Its value.
        value: f64,
    },
    /// A category code beyond the declared number of levels.
    #[error("column {column} holds category code {code} in row {row}, but has {n_levels} levels")]
    BadCode {
        /// Column at fault, counted from 0.
        column: usize,
        /// First row at fault.
        row: usize,
        /// The code found.
        code: u32,
        /// Number of levels that the column declares.
        n_levels: u32,
    },
    /// The columns at scoring are not those of the fit.
    #[error("X has {found} columns, but the model was fitted on {expected}")]
    ColumnMismatch {
        /// Columns given.
        found: usize,
        /// Columns at fit.
        expected: usize,
    },
    /// A numeric column where the model expects a categorical one, or the reverse.
    #[error("column {column} is {found}, but was {expected} at fit")]
    KindMismatch {
        /// Column at fault, counted from 0.
        column: usize,
        /// Its kind now.
        found: &'static str,
        /// Its kind at fit.
        expected: &'static str,
    },
    /// A monotonicity constraint on a feature without an order.
    #[error(
        "column {column} is categorical, so monotonic_cst cannot bind it: categories have no order"
    )]
    CategoricalConstraint {
        /// Column at fault, counted from 0.
        column: usize,
    },
    /// A feature that a score must have, but that has no two lines.
    #[error("column {column} is required, but its values have no two lines of enough rows")]
    NoLines {
        /// Column at fault, counted from 0.
        column: usize,
    },
    /// A gap before and after a range of time that is held out leaves too few other rows.
    #[error(
        "the gap leaves rows of one class, or none, to fit to where a range of time is held out: \
         use a smaller one, or fewer folds"
    )]
    GapTooLarge,
    /// A parameter outside its range.
    #[error("{name} is {value}, but must be {rule}")]
    BadParameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        rule: &'static str,
    },
    /// The variance of an AUC cannot be estimated from one row.
    #[error(
        "the variance of the AUC needs two rows of each class: {n_pos} positive and {n_neg} \
         negative rows"
    )]
    NoVariance {
        /// Positive rows with a weight above 0.
        n_pos: u64,
        /// Negative rows with a weight above 0.
        n_neg: u64,
    },
    /// More weight than sums of 53 bits can hold.
    #[error("the weights of a class add up to more than 2^53 units of {unit}")]
    TooMuchWeight {
        /// The unit of weight.
        unit: f64,
    },
    /// Bytes that [`crate::roc::RocState::to_bytes`] did not write, or that have changed since.
    #[error("these bytes are not a RocState: {0}")]
    BadState(String),
    /// More distinct values than a feature of rows that are read in parts may have.
    #[error(
        "column {column} has more than {most} distinct values, too many for max_bins=None where rows \
         are read in parts: give a number"
    )]
    TooManyValues {
        /// Column at fault, counted from 0.
        column: usize,
        /// The most values that it could have.
        most: usize,
    },
    /// Bytes that [`crate::rows`] did not write, or that have changed since.
    #[error("these bytes are neither a question nor an answer about rows: {0}")]
    BadAnswer(String),
    /// Rows of several passes differ, or a value was read as another one for scoring.
    #[error(
        "the points of the rows do not add up to those of their bins: the rows have changed between \
         two passes, or they are not scored as they are counted, such as NaN that is not NULL to a \
         database"
    )]
    PointsDiffer,
    /// A file for rows or scores cannot be written or read.
    #[error("{path}: {message}")]
    Storage {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// A file that a fit cannot go on from.
    #[error("{path}: {message}")]
    BadLog {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// An error in the validation rows of a fit.
    #[error("in the rows to validate on: {0}")]
    InValidation(Box<RankError>),
    /// A feature that a linear score cannot weight.
    #[error(
        "column {column} is categorical, so a linear ranker cannot weigh it: encode it as numbers"
    )]
    CategoricalWeight {
        /// Column at fault, counted from 0.
        column: usize,
    },
    /// More categories or thresholds than the internal form of the rows can hold.
    #[error("column {column} needs {n_codes} codes, but at most {most} fit: join rare categories")]
    TooManyCodes {
        /// Column at fault, counted from 0.
        column: usize,
        /// Number of its codes, including that of missing values.
        n_codes: usize,
        /// The maximum.
        most: usize,
    },
    /// A missing value in a feature of a linear score.
    #[error(
        "column {column} is NaN in row {row}; a linear score has no place for missing values: fill them \
         in first, as SimpleImputer of scikit-learn does"
    )]
    MissingValue {
        /// Column at fault, counted from 0.
        column: usize,
        /// First row at fault.
        row: usize,
    },
    /// A model that transforms features and has no score.
    #[error("this model turns features into others and has no score")]
    NoScore,
    /// A ranker whose scores are not probabilities and were not calibrated.
    #[error("this model ranks rows and has no probabilities: it was fitted without calibration")]
    NoProbability,
    /// An error of ranking trees.
    #[error(transparent)]
    Tree(TreeError),
    /// An error of boosted models.
    #[error(transparent)]
    Boost(BoostError),
    /// An error of the formula of a model.
    #[error(transparent)]
    Formula(FormulaError),
    /// An error of the caller's own code, such as a classifier.
    #[error("{0}")]
    External(String),
    /// The data changed between two reads.
    #[error("X was written to while it was read: another thread changes it")]
    Changed,
    /// The caller requested a stop (Ctrl-C in Python).
    #[error("interrupted")]
    Interrupted,
    /// The system has no memory for the rows of a fit.
    #[error("out of memory: {bytes} bytes more are needed")]
    OutOfMemory {
        /// Size of the failed allocation.
        bytes: usize,
    },
    /// The system refused to start a thread.
    #[error("cannot start a thread: {message}")]
    NoThread {
        /// The system's message.
        message: String,
    },
}

impl RankError {
    /// Wraps an error in the validation rows of a fit; an interrupt is passed on as it is.
    pub(crate) fn in_validation(self) -> Self {
        if self == Self::Interrupted { self } else { Self::InValidation(Box::new(self)) }
    }

    /// The same error with its row number increased by `n_rows`.
    pub(crate) fn after_rows(mut self, n_rows: u64) -> Self {
        match &mut self {
            Self::BadWeight { row, .. }
            | Self::InfiniteValue { row, .. }
            | Self::BadCode { row, .. } => *row += n_rows as usize,
            _ => {}
        }
        self
    }

    /// The same error for another column, if the one at fault was checked alone.
    #[must_use]
    pub(crate) fn in_column(mut self, place: usize) -> Self {
        if let Self::InfiniteValue { column, .. } = &mut self {
            *column = place;
        }
        self
    }

    /// The column at fault, counted from 0, if there is one; the message then names it as
    /// `column {} `.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::InfiniteValue { column, .. }
            | Self::BadCode { column, .. }
            | Self::KindMismatch { column, .. }
            | Self::CategoricalConstraint { column }
            | Self::NoLines { column }
            | Self::CategoricalWeight { column }
            | Self::TooManyCodes { column, .. }
            | Self::TooManyValues { column, .. }
            | Self::MissingValue { column, .. } => Some(*column),
            Self::InValidation(err) => err.column(),
            _ => None,
        }
    }
}
