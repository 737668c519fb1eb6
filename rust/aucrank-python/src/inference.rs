//! Uncertainty of an AUC: `aucrank::roc`'s `DeLong` and bootstrap as Python functions.

use aucrank::RankError;
use aucrank::roc::{self, Bootstrap, CutOffCriterion, PartialAreas, Score, Weighting};
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::roc::{Labels, Scores, run, with_scores};
use crate::run::on_pool;

type Floats<'py> = Bound<'py, PyArray1<f64>>;

/// Borrowed scores of several models, if all have the type `T`.
fn slices<'a, T: Element>(
    models: &'a [Scores<'_>],
    of_type: impl Fn(&'a Scores<'_>) -> Option<&'a PyReadonlyArray1<'a, T>>,
) -> PyResult<Vec<&'a [T]>> {
    let one = |scores| {
        let array = of_type(scores);
        let array = array.ok_or_else(|| PyTypeError::new_err("models have scores of two types"))?;
        Ok(array.as_slice()?)
    };
    models.iter().map(one).collect()
}

/// Evaluates an expression with the slices of all models, whatever their width.
macro_rules! with_models {
    ($models:expr, |$slices:ident| $body:expr) => {
        if let Some(Scores::F32(_)) = $models.first() {
            let $slices = slices(&$models, |scores| match scores {
                Scores::F32(array) => Some(array),
                Scores::F64(_) => None,
            })?;
            $body
        } else {
            let $slices = slices(&$models, |scores| match scores {
                Scores::F64(array) => Some(array),
                Scores::F32(_) => None,
            })?;
            $body
        }
    };
}

fn delong_of<S: Score>(
    models: &[&[S]],
    positive: &[bool],
    weights: Option<&[f64]>,
) -> Result<roc::DeLong, RankError> {
    match weights {
        None => roc::DeLong::new(models, positive),
        Some(weights) => roc::DeLong::weighted(models, positive, weights),
    }
}

/// AUCs, their variances and the variance of the difference of the first and the last (`None` if a
/// class has one row), and effective rows, positive first.
type Summary = (Vec<f64>, Option<(Vec<f64>, f64)>, [f64; 2]);

/// `None` if the labels are not 0 and 1, or -1 and 1.
#[pyfunction]
pub fn delong(
    py: Python<'_>,
    labels: Labels<'_>,
    models: Vec<Scores<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_threads: usize,
) -> PyResult<Option<Summary>> {
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let found = with_models!(models, |models| run(py, labels.len(), n_threads, || {
        labels.positive().map(|positive| delong_of(&models, &positive, weights)).transpose()
    })?);
    Ok(found.map(|delong| {
        let last = delong.aucs().len() - 1;
        let variances = (0..=last).map(|model| delong.covariance(model, model)).collect();
        let variances = Option::zip(variances, delong.difference_variance(0, last));
        (delong.aucs().to_vec(), variances, delong.effective_rows())
    }))
}

/// A band of false and one of true positive rates.
type Bands = ((f64, f64), (f64, f64));

fn bands(((a, b), (c, d)): Bands) -> ([f64; 2], [f64; 2]) {
    ([a, b], [c, d])
}

/// As [`delong`], for the areas within bands; weights are frequencies if `counted`.
#[pyfunction]
pub fn partial_areas(
    py: Python<'_>,
    labels: Labels<'_>,
    models: Vec<Scores<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    within: Bands,
    counted: bool,
    n_threads: usize,
) -> PyResult<Option<Summary>> {
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let weighting = weighting(counted);
    let within = bands(within);
    let found = with_models!(models, |models| run(py, labels.len(), n_threads, || {
        let areas = |rows: &[bool]| PartialAreas::new(&models, rows, weights, weighting, within);
        labels.positive().map(|positive| areas(&positive)).transpose()
    })?);
    Ok(found.map(|found| {
        let last = found.areas().len() - 1;
        let variances = (0..=last).map(|model| found.covariance(model, model)).collect();
        let variances = Option::zip(variances, found.difference_variance(0, last));
        (found.areas().to_vec(), variances, found.effective_rows())
    }))
}

/// Placement value of each row. `None` as for [`delong`].
#[pyfunction]
pub fn placements<'py>(
    py: Python<'py>,
    labels: Labels<'_>,
    scores: Scores<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_threads: usize,
) -> PyResult<Option<Floats<'py>>> {
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let values = with_scores!(scores, |scores| run(py, labels.len(), n_threads, || {
        let positive = labels.positive();
        positive.map(|positive| roc::placements(scores, &positive, weights)).transpose()
    }));
    Ok(values?.map(|values| values.into_pyarray(py)))
}

/// AUCs of every resample, one per model. `None` as for [`delong`].
#[pyfunction]
pub fn bootstrap_aucs<'py>(
    py: Python<'py>,
    labels: Labels<'_>,
    models: Vec<Scores<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Option<Floats<'py>>> {
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let bootstrap = Bootstrap { n_resamples, seed };
    let aucs = with_models!(models, |models| on_pool(py, n_threads, |interrupt| {
        let positive = labels.positive();
        positive.map(|rows| bootstrap.aucs(&models, &rows, weights, interrupt)).transpose()
    })?);
    Ok(aucs.map(|aucs| aucs.into_pyarray(py)))
}

/// True positive rates of every resample, one per false positive rate. `None` as for [`delong`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "labels, scores and weights, then how")]
pub fn bootstrap_tprs<'py>(
    py: Python<'py>,
    labels: Labels<'_>,
    scores: Scores<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    fpr: PyReadonlyArray1<'_, f64>,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Option<Floats<'py>>> {
    let (labels, fpr) = (labels.as_slice()?, fpr.as_slice()?);
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let bootstrap = Bootstrap { n_resamples, seed };
    let tprs = with_scores!(scores, |scores| on_pool(py, n_threads, |interrupt| {
        let tprs = |rows: &[bool]| bootstrap.tprs(scores, rows, weights, fpr, interrupt);
        labels.positive().map(|positive| tprs(&positive)).transpose()
    }));
    Ok(tprs?.map(|tprs| tprs.into_pyarray(py)))
}

/// Areas within bands of every resample, one per model. `None` as for [`delong`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "labels, scores and weights, then how")]
pub fn bootstrap_partial_aucs<'py>(
    py: Python<'py>,
    labels: Labels<'_>,
    models: Vec<Scores<'_>>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    within: Bands,
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Option<Floats<'py>>> {
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let bootstrap = Bootstrap { n_resamples, seed };
    let within = bands(within);
    let areas = with_models!(models, |models| on_pool(py, n_threads, |interrupt| {
        let areas =
            |rows: &[bool]| bootstrap.partial_aucs(&models, rows, weights, within, interrupt);
        labels.positive().map(|positive| areas(&positive)).transpose()
    })?);
    Ok(areas.map(|areas| areas.into_pyarray(py)))
}

/// The criterion with this name and its number: a slope, a bound or a weight.
pub fn criterion(name: &str, number: f64, prevalence: f64) -> PyResult<CutOffCriterion> {
    Ok(match name {
        "slope" => CutOffCriterion::Slope(number),
        "corner" => CutOffCriterion::Corner,
        "equal" => CutOffCriterion::Equal,
        "sensitivity" => CutOffCriterion::Sensitivity { specificity: number },
        "precision" => CutOffCriterion::Precision { recall: number, prevalence },
        "f_beta" => CutOffCriterion::FBeta { beta: number, prevalence },
        "matthews" => CutOffCriterion::Matthews { prevalence },
        "capacity" => CutOffCriterion::Capacity { share: number, prevalence },
        other => {
            return Err(PyValueError::new_err(format!("there is no criterion {other:?}")));
        }
    })
}

/// Knot, false and true positive rate of the best cut-off of every resample. `None` as for
/// [`delong`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "labels, scores and weights, then how")]
pub fn bootstrap_cut_offs<'py>(
    py: Python<'py>,
    labels: Labels<'_>,
    scores: Scores<'_>,
    weights: Option<PyReadonlyArray1<'_, f64>>,
    by: (String, f64, f64),
    n_resamples: usize,
    seed: u64,
    n_threads: usize,
) -> PyResult<Option<Floats<'py>>> {
    let labels = labels.as_slice()?;
    let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose()?;
    let bootstrap = Bootstrap { n_resamples, seed };
    let by = criterion(&by.0, by.1, by.2)?;
    let cuts = with_scores!(scores, |scores| on_pool(py, n_threads, |interrupt| {
        let cuts = |rows: &[bool]| bootstrap.cut_offs(scores, rows, weights, by, interrupt);
        labels.positive().map(|positive| cuts(&positive)).transpose()
    }));
    Ok(cuts?.map(|cuts| cuts.into_pyarray(py)))
}

#[pyfunction]
pub fn hanley_mcneil_variance(auc: f64, n_pos: f64, n_neg: f64) -> f64 {
    roc::hanley_mcneil_variance(auc, n_pos, n_neg)
}

/// Meaning of a weight.
pub fn weighting(is_counted: bool) -> Weighting {
    if is_counted { Weighting::Frequency } else { Weighting::Sampling }
}
