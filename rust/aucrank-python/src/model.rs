//! Common base of the classes of all families.

use std::sync::Arc;

use aucrank::RankError;
use aucrank::data::Columns;
use aucrank::formula::Formula;
use aucrank::model::{Family, ModelRef};
use numpy::{IntoPyArray, PyArray1};
use pyo3::PyClass;
use pyo3::prelude::*;

use crate::columns::ColumnsArg;
use crate::run::{on_pool, to_json};

/// What a formula has for rows against background rows.
type AgainstRows = fn(&Formula, &Columns<'_>, &Columns<'_>) -> Result<Vec<f64>, RankError>;

/// A fitted model of any family, with the methods that all families have.
#[pyclass(name = "Model", module = "aucrank._core", frozen, subclass)]
pub struct PyModel(Arc<dyn Family>);

impl PyModel {
    /// The model as one of the list of families.
    pub fn as_model(&self) -> ModelRef<'_> {
        self.0.as_model()
    }

    /// Numbers for rows against background rows, by row.
    fn against<'py>(
        &self,
        py: Python<'py>,
        columns: &ColumnsArg<'py>,
        background: &ColumnsArg<'py>,
        n_threads: usize,
        compute: AgainstRows,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (formula, n_levels) = (self.0.formula(), self.0.n_levels());
        let (columns, background) = (columns.borrow(n_levels)?, background.borrow(n_levels)?);
        let values = on_pool(py, n_threads, |interrupt| {
            compute(&formula, &columns.until(interrupt), &background)
        })?;
        Ok(values.into_pyarray(py))
    }
}

#[pymethods]
impl PyModel {
    /// Name of the family in a saved document.
    #[getter]
    fn family(&self) -> &'static str {
        self.0.as_model().tag()
    }

    /// Number of columns that it was fitted to.
    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_levels().len()
    }

    /// The formula of its score as JSON text.
    fn formula(&self) -> PyResult<String> {
        to_json(&self.0.formula())
    }

    /// Score of each row.
    fn score<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.score(columns))
    }

    /// Probability of the positive class of each row, if the model itself has one.
    fn probability<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.probability(columns))
    }

    /// Contribution of each feature or term to the score of each row, row by row; for a scorecard,
    /// to its points.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        columns.ask(py, self.0.n_levels(), n_threads, |columns| self.0.explain(columns))
    }

    /// Importance of each feature, or `None` if it is not known.
    fn importances<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        Some(self.0.importances()?.into_pyarray(py))
    }

    /// The number subtracted from the raw score, or `None` if the family has no such threshold.
    #[getter]
    fn threshold(&self) -> Option<f64> {
        self.0.threshold()
    }

    /// Score of each row by the formula, evaluated operation by operation.
    fn evaluate_formula<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let formula = self.0.formula();
        columns.ask(py, self.0.n_levels(), n_threads, |columns| formula.values(columns))
    }

    /// Contribution of each feature to the score of each row, compared with background rows; by
    /// row.
    fn shapley_values<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        background: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.against(py, &columns, &background, n_threads, Formula::shapley_values)
    }

    /// The same split among pairs of features: for each feature what it adds with each feature; by
    /// row.
    fn shapley_interactions<'py>(
        &self,
        py: Python<'py>,
        columns: ColumnsArg<'py>,
        background: ColumnsArg<'py>,
        n_threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.against(py, &columns, &background, n_threads, Formula::shapley_interactions)
    }
}

/// A model as an object of its Python class.
pub fn hand_over<M, P>(py: Python<'_>, model: M) -> PyResult<Py<P>>
where
    M: Family + 'static,
    P: PyClass<BaseType = PyModel> + From<Arc<M>>,
{
    let model = Arc::new(model);
    Py::new(py, PyClassInitializer::from(PyModel(model.clone())).add_subclass(P::from(model)))
}
