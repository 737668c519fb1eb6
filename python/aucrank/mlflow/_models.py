"""Rankers as models of MLflow, and their AUC as its metrics."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank._base.persistence import load
from aucrank._core import __version__
from aucrank._data.schema import Schema
from aucrank._utils.extras import import_extra
from aucrank._utils.params import check_choice
from aucrank.metrics import AucInterval, auc_interval

Output = Literal["score", "probability"]

_OUTPUTS = ("score", "probability")


def log_model(
    model: Any,
    name: str = "ranker",
    *,
    output: Output = "score",
    **kwargs: Any,
) -> Any:
    """Log a fitted ranker in the active run.

    Parameters
    ----------
    model : estimator
        A fitted ranker of this package.
    name : str, default="ranker"
        Name of the logged model.
    output : {"score", "probability"}, default="score"
        What the model predicts: the result of ``decision_function``, or the probability of
        ``classes_[1]``.
    **kwargs : dict
        Passed to ``mlflow.pyfunc.log_model``, such as ``registered_model_name``.

    Returns
    -------
    mlflow.models.model.ModelInfo
        What was logged; ``mlflow.pyfunc.load_model(info.model_uri)`` predicts.

    Raises
    ------
    ImportError
        If MLflow is not installed.
    NotFittedError
        If the model is not fitted.
    TypeError
        If the model has parts that a file cannot hold, such as a classifier of your own.
    ValueError
        If ``output`` is unknown, or the ranker has no probabilities.

    See Also
    --------
    save_model : Write the model to a folder.

    Notes
    -----
    ``mlflow.pyfunc.load_model(uri, model_config={"output": "probability"})`` changes the output of
    a logged model. The signature has the columns of the fit by name; the ranker checks their types
    itself. The model requires this version of aucrank, unless ``pip_requirements`` says otherwise.

    Examples
    --------
    >>> import mlflow  # doctest: +SKIP
    >>> from aucrank import TreeRank
    >>> from aucrank.mlflow import log_model
    >>> model = TreeRank().fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     info = log_model(model)
    """
    pyfunc = import_extra("mlflow.pyfunc", "mlflow", "aucrank.mlflow.log_model")
    with TemporaryDirectory() as folder:
        arguments = _arguments(model, folder, output)
        return pyfunc.log_model(name=name, **{**arguments, **kwargs})


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    output: Output = "score",
    **kwargs: Any,
) -> None:
    """Write a fitted ranker to a folder as a model of MLflow.

    Parameters
    ----------
    model : estimator
        A fitted ranker of this package.
    path : str or path-like
        The folder, which must not exist.
    output : {"score", "probability"}, default="score"
        As for `log_model`.
    **kwargs : dict
        Passed to ``mlflow.pyfunc.save_model``.

    Raises
    ------
    ImportError
        If MLflow is not installed.
    NotFittedError
        If the model is not fitted.
    TypeError
        If the model has parts that a file cannot hold, such as a classifier of your own.
    ValueError
        If ``output`` is unknown, or the ranker has no probabilities.

    See Also
    --------
    log_model : Log the model in a run.

    Examples
    --------
    >>> from aucrank import TreeRank
    >>> from aucrank.mlflow import save_model
    >>> model = TreeRank().fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    >>> save_model(model, "ranker")  # doctest: +SKIP
    """
    pyfunc = import_extra("mlflow.pyfunc", "mlflow", "aucrank.mlflow.save_model")
    with TemporaryDirectory() as folder:
        pyfunc.save_model(path=path, **{**_arguments(model, folder, output), **kwargs})


def log_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    prefix: str = "",
    **kwargs: Any,
) -> AucInterval:
    """Log an AUC with its interval as metrics of the active run.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    prefix : str, default=""
        Precedes the names of the metrics, such as ``"test_"``.
    **kwargs : dict
        Passed to :func:`~aucrank.metrics.auc_interval`, such as ``confidence`` or ``groups``.

    Returns
    -------
    AucInterval
        The metrics ``auc``, ``auc_low``, ``auc_high`` and ``auc_standard_error``.

    Raises
    ------
    ImportError
        If MLflow is not installed.
    ValueError
        As for :func:`~aucrank.metrics.auc_interval`.

    See Also
    --------
    aucrank.metrics.auc_interval : The interval.

    Examples
    --------
    >>> from aucrank.mlflow import log_auc
    >>> log_auc(y_test, model.decision_function(X_test), prefix="test_")  # doctest: +SKIP
    AucInterval(auc=0.91, low=0.88, high=0.93, ...)
    """
    mlflow = import_extra("mlflow", "mlflow", "aucrank.mlflow.log_auc")
    found = auc_interval(y_true, y_score, sample_weight=sample_weight, **kwargs)
    mlflow.log_metrics(metrics_of(found, prefix))
    return found


def metrics_of(interval: AucInterval, prefix: str) -> dict[str, float]:
    """Return an AUC, its interval and its standard error by the names of the metrics."""
    figures = {
        "auc": interval.auc,
        "auc_low": interval.low,
        "auc_high": interval.high,
        "auc_standard_error": interval.standard_error,
    }
    return {prefix + name: float(figure) for name, figure in figures.items()}


class _Scorer:
    """A ranker in the form that ``mlflow.pyfunc`` requires of a model."""

    def __init__(self, model: Any, output: Output) -> None:
        self._model = model
        self._output = output

    def predict(self, model_input: Any, params: Mapping[str, Any] | None = None) -> Any:
        """Return a number for each row."""
        return _predicted(self._model, model_input, self._output)

    def get_raw_model(self) -> Any:
        """Return the ranker."""
        return self._model


def _load_pyfunc(path: str, model_config: Mapping[str, Any] | None = None) -> _Scorer:
    """Read a model for ``mlflow.pyfunc``, which looks this function up by its name."""
    model = load(path)
    return _Scorer(model, _checked_output(model, (model_config or {}).get("output", "score")))


def _arguments(model: Any, folder: str, output: Output) -> dict[str, Any]:
    """Return what ``mlflow.pyfunc`` is to save, written to a folder."""
    output = _checked_output(model, output)
    file = Path(folder) / "model.json"
    model.save(file)
    return {
        "loader_module": "aucrank.mlflow",
        "data_path": str(file),
        "model_config": {"output": output},
        "pip_requirements": [f"aucrank=={__version__}"],
        "signature": _signature(_schema_of(model)),
    }


def _schema_of(model: Any) -> Schema:
    """Return the columns of a ranker, or of the one that it cuts."""
    schema: Schema = getattr(model, "ranker_", model)._schema
    return schema


def _signature(schema: Schema) -> Any:
    """Return the columns of the fit, and a number for each row."""
    models = import_extra("mlflow.models", "mlflow", "aucrank.mlflow")
    types = import_extra("mlflow.types.schema", "mlflow", "aucrank.mlflow")
    number = np.dtype(np.float64)
    if schema.names is None:
        columns = [types.TensorSpec(number, (-1, len(schema.features)))]
    else:
        # Of any type: to doubles, MLflow converts neither integers nor categories. The ranker
        # itself checks what it reads.
        columns = [types.ColSpec(types.AnyType(), name) for name in schema.names]
    outputs = types.Schema([types.TensorSpec(number, (-1,))])
    return models.ModelSignature(types.Schema(columns), outputs)


def _checked_output(model: Any, output: Any) -> Output:
    checked: Output = check_choice(output, "output", _OUTPUTS)
    if checked == "probability" and not hasattr(model, "predict_proba"):
        raise ValueError(f"this {type(model).__name__} has no predict_proba: its output is a score")
    return checked


def _predicted(model: Any, X: Any, output: Output) -> NDArray[np.float64]:
    found = model.decision_function(X) if output == "score" else model.predict_proba(X)[:, 1]
    return np.asarray(found, dtype=np.float64)
