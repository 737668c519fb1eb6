//! The module `aucrank::roc` as Python functions.

use std::borrow::Cow;

use aucrank::RankError;
use aucrank::data::positive_rows;
use aucrank::roc::{self, Knots, Norm, PARALLEL_FROM, Score};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::inference::criterion;
use crate::run::{on_pool, to_py_err};

/// Runs `work` without the interpreter; on a pool only if the core would use one.
pub fn run<T: Send>(
    py: Python<'_>,
    n_rows: usize,
    n_threads: usize,
    work: impl FnOnce() -> Result<T, RankError> + Send,
) -> PyResult<T> {
    if n_rows < PARALLEL_FROM {
        py.detach(work).map_err(to_py_err)
    } else {
        on_pool(py, n_threads, |_| work())
    }
}

/// An argument that is an array of one of several types, tried in turn.
///
/// The derived `FromPyObject` creates an exception for every type that does not match, which takes
/// longer than the AUC of a thousand rows.
macro_rules! one_of_arrays {
    ($(#[$doc:meta])* $name:ident { $($variant:ident: $type:ty,)* }) => {
        $(#[$doc])*
        pub enum $name<'py> {
            $($variant(PyReadonlyArray1<'py, $type>),)*
        }

        impl<'py> FromPyObject<'_, 'py> for $name<'py> {
            type Error = PyErr;

            fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                $(if let Ok(array) = object.cast::<PyArray1<$type>>() {
                    return Ok(Self::$variant(array.try_readonly()?));
                })*
                Err(PyTypeError::new_err(concat!(
                    "expected a one-dimensional array of one of",
                    $(" ", stringify!($type),)*
                )))
            }
        }
    };
}

one_of_arrays! {
    /// Labels of any of the types that the core reads.
    Labels { I64: i64, Bool: bool, F64: f64, I32: i32, I8: i8, U8: u8, F32: f32, }
}

one_of_arrays! {
    /// Scores of either width.
    Scores { F64: f64, F32: f32, }
}

/// Evaluates an expression with the slice of some [`Scores`], whatever their width.
macro_rules! with_scores {
    ($scores:expr, |$slice:ident| $body:expr) => {
        match $scores {
            $crate::roc::Scores::F64(scores) => {
                let $slice = scores.as_slice()?;
                $body
            }
            $crate::roc::Scores::F32(scores) => {
                let $slice = scores.as_slice()?;
                $body
            }
        }
    };
}
pub(crate) use with_scores;

/// Borrowed memory of [`Labels`].
pub enum LabelSlice<'a> {
    Bool(&'a [bool]),
    I64(&'a [i64]),
    F64(&'a [f64]),
    I32(&'a [i32]),
    I8(&'a [i8]),
    U8(&'a [u8]),
    F32(&'a [f32]),
}

impl Labels<'_> {
    pub fn as_slice(&self) -> PyResult<LabelSlice<'_>> {
        Ok(match self {
            Self::Bool(labels) => LabelSlice::Bool(labels.as_slice()?),
            Self::I64(labels) => LabelSlice::I64(labels.as_slice()?),
            Self::F64(labels) => LabelSlice::F64(labels.as_slice()?),
            Self::I32(labels) => LabelSlice::I32(labels.as_slice()?),
            Self::I8(labels) => LabelSlice::I8(labels.as_slice()?),
            Self::U8(labels) => LabelSlice::U8(labels.as_slice()?),
            Self::F32(labels) => LabelSlice::F32(labels.as_slice()?),
        })
    }
}

impl<'a> LabelSlice<'a> {
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(labels) => labels.len(),
            Self::I64(labels) => labels.len(),
            Self::F64(labels) => labels.len(),
            Self::I32(labels) => labels.len(),
            Self::I8(labels) => labels.len(),
            Self::U8(labels) => labels.len(),
            Self::F32(labels) => labels.len(),
        }
    }

    /// `None` if there are labels other than 0 and 1, or -1 and 1.
    pub fn positive(&self) -> Option<Cow<'a, [bool]>> {
        match *self {
            Self::Bool(labels) => Some(Cow::Borrowed(labels)),
            Self::I64(labels) => positive_rows(labels).map(Cow::Owned),
            Self::F64(labels) => positive_rows(labels).map(Cow::Owned),
            Self::I32(labels) => positive_rows(labels).map(Cow::Owned),
            Self::I8(labels) => positive_rows(labels).map(Cow::Owned),
            Self::U8(labels) => positive_rows(labels).map(Cow::Owned),
            Self::F32(labels) => positive_rows(labels).map(Cow::Owned),
        }
    }
}

fn auc<S: Score>(
    scores: &[S],
    positive: &[bool],
    weights: Option<&[f64]>,
) -> Result<f64, RankError> {
    match weights {
        None => roc::auc(scores, positive),
        Some(weights) => roc::weighted_auc(scores, positive, weights),
    }
}

/// `None` if the labels are not 0 and 1, or -1 and 1.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
pub fn roc_auc(
    py: Python<'_>,
    labels: Labels<'_>,
    scores: Scores<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_threads: usize,
) -> PyResult<Option<f64>> {
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    with_scores!(scores, |scores| run(py, labels.len(), n_threads, || {
        labels.positive().map(|positive| auc(scores, &positive, weights)).transpose()
    }))
}

/// Rates and thresholds of the knots; `None` if the labels are not 0 and 1, or -1 and 1.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
pub fn roc_curve<'py>(
    py: Python<'py>,
    labels: Labels<'_>,
    scores: Scores<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    drop_intermediate: bool,
    n_threads: usize,
) -> PyResult<Option<ThreeArrays<'py>>> {
    let knots = if drop_intermediate { Knots::WithoutIntermediate } else { Knots::All };
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let rates = with_scores!(scores, |scores| run(py, labels.len(), n_threads, || {
        let rates = |positive: &[bool]| roc::Rates::new(scores, positive, weights, knots);
        labels.positive().map(|positive| rates(&positive)).transpose()
    }))?;
    Ok(rates.map(|found| {
        [found.fpr, found.tpr, found.thresholds].map(|values| values.into_pyarray(py)).into()
    }))
}

/// An ROC curve of the core.
#[pyclass(frozen, module = "aucrank._core")]
pub struct RocCurve(pub roc::RocCurve);

/// A read-only array with a number for each knot.
fn array<T: numpy::Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyArray1<T>> {
    let array = values.into_pyarray(py);
    array.readwrite().make_nonwriteable();
    array
}

#[pymethods]
impl RocCurve {
    /// The curve with these knots. Two-word counts, alternating low and high, come with the binary
    /// exponents of one count of the negative and of the positive class.
    #[new]
    #[pyo3(signature = (thresholds, false_positives, true_positives, exponents=None))]
    #[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
    fn new(
        thresholds: PyReadonlyArray1<'_, f64>,
        false_positives: PyReadonlyArray1<'_, u64>,
        true_positives: PyReadonlyArray1<'_, u64>,
        exponents: Option<(i32, i32)>,
    ) -> PyResult<Self> {
        let thresholds = thresholds.to_vec()?;
        let counts = [false_positives.to_vec()?, true_positives.to_vec()?];
        let curve = match exponents {
            None => {
                let [fp, tp] = counts;
                roc::RocCurve::from_counts(thresholds, fp, tp)
            }
            Some((neg, pos)) => {
                let counts = counts.map(|words| words.chunks(2).map(of_words).collect());
                roc::RocCurve::from_exact_parts(thresholds, counts, [neg, pos])
            }
        };
        curve.map(Self).map_err(to_py_err)
    }

    /// `None` if the labels are not 0 and 1, or -1 and 1.
    #[staticmethod]
    fn from_scores(
        py: Python<'_>,
        labels: Labels<'_>,
        scores: Scores<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        n_threads: usize,
    ) -> PyResult<Option<Self>> {
        let labels = labels.as_slice()?;
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
        let curve = with_scores!(scores, |scores| run(py, labels.len(), n_threads, || {
            let curve = |positive: &[bool]| {
                roc::RocCurve::with_knots(scores, positive, weights, Knots::All)
            };
            labels.positive().map(|positive| curve(&positive)).transpose()
        }));
        Ok(curve?.map(Self))
    }

    fn thresholds<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.0.thresholds().to_vec())
    }

    /// Precision, recall and thresholds, in ascending order of the threshold.
    fn precision_recall<'py>(&self, py: Python<'py>, drop_intermediate: bool) -> ThreeArrays<'py> {
        let found = py.detach(|| self.0.precision_recall(drop_intermediate));
        [found.precision, found.recall, found.thresholds]
            .map(|values| values.into_pyarray(py))
            .into()
    }

    #[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
    fn with_thresholds(&self, thresholds: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let curve = self.0.clone().with_thresholds(thresholds.to_vec()?);
        curve.map(Self).map_err(to_py_err)
    }

    fn fpr<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.0.fpr())
    }

    fn tpr<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        array(py, self.0.tpr())
    }

    fn auc(&self) -> f64 {
        self.0.auc()
    }

    fn standardized_auc(&self, max_fpr: f64) -> PyResult<f64> {
        self.0.standardized_auc(max_fpr).map_err(to_py_err)
    }

    fn partial_auc(&self, fpr: (f64, f64), tpr: (f64, f64), standardize: bool) -> PyResult<f64> {
        let area = self.0.partial_auc([fpr.0, fpr.1], [tpr.0, tpr.1], standardize);
        area.map_err(to_py_err)
    }

    /// Weights of the negative and of the positive rows that score at least each threshold.
    fn weights_above<'py>(&self, py: Python<'py>) -> [Bound<'py, PyArray1<f64>>; 2] {
        self.0.weights_above().map(|weights| weights.into_pyarray(py))
    }

    /// Knot that is best by a criterion.
    fn cut_off(&self, name: &str, number: f64, prevalence: f64) -> PyResult<usize> {
        Ok(self.0.cut_off(criterion(name, number, prevalence)?))
    }

    fn hull(&self, py: Python<'_>) -> Self {
        Self(py.detach(|| self.0.hull()))
    }

    #[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
    fn tpr_at<'py>(
        &self,
        py: Python<'py>,
        fpr: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.tpr_at(fpr.as_slice()?).map_err(to_py_err)?.into_pyarray(py))
    }

    #[expect(clippy::needless_pass_by_value, reason = "arguments come from Python by value")]
    fn fpr_at<'py>(
        &self,
        py: Python<'py>,
        tpr: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.0.fpr_at(tpr.as_slice()?).map_err(to_py_err)?.into_pyarray(py))
    }

    fn distance(&self, py: Python<'_>, other: &Self, norm: &str) -> PyResult<f64> {
        let norm = match norm {
            "l1" => Norm::L1,
            "linf" => Norm::Linf,
            other => {
                let message = format!("norm is {other:?}, but must be \"l1\" or \"linf\"");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(py.detach(|| self.0.distance(&other.0, norm)))
    }

    /// Pickled as the arguments of [`RocCurve::new`].
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (py, curve) = (slf.py(), slf.get());
        let (counts, [neg, pos]) = curve.0.exact_parts();
        let [fp, tp] = counts.map(|counts| {
            let words = counts.into_iter().flat_map(|count| [count as u64, (count >> 64) as u64]);
            array(py, words.collect())
        });
        let knots = (curve.thresholds(py), fp, tp, (neg, pos));
        Ok((slf.getattr("__class__")?, knots.into_pyobject(py)?.into_any()))
    }
}

/// Arrays of rates or shares, and of thresholds.
type ThreeArrays<'py> =
    (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// A count from its words, the lower first.
fn of_words(words: &[u64]) -> u128 {
    words.iter().rev().fold(0, |count, &word| count << 64 | u128::from(word))
}
