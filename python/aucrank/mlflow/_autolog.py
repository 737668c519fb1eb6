"""Fits of rankers logged in MLflow without a call for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from inspect import signature
from types import FrameType
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator

from aucrank._base.registry import META_ESTIMATORS, get_estimator, public_estimators
from aucrank._data.column_warnings import is_inner_fit
from aucrank._utils.extras import import_extra
from aucrank.data import Dataset
from aucrank.metrics import AucInterval, auc_interval, roc_state
from aucrank.mlflow._models import log_model, metrics_of

_NAME = "aucrank"

#: Rows of an input example, as in the integrations of MLflow.
_EXAMPLE_ROWS = 5

#: Modules of scikit-learn that fit what the user requested: the last step of a pipeline, and the
#: best model of a search. Fits by others are parts of theirs, such as folds.
_NOT_OUTER = ("base", "callback", "model_selection._search", "pipeline", "utils")


def autolog(
    *,
    log_input_examples: bool = False,
    log_model_signatures: bool = True,
    log_models: bool = True,
    log_training_auc: bool = True,
    disable: bool = False,
    exclusive: bool = False,
    disable_for_unsupported_versions: bool = False,
    silent: bool = False,
    registered_model_name: str | None = None,
    extra_tags: Mapping[str, str] | None = None,
) -> None:
    """Log each fit of a ranker from now on.

    A fit logs its parameters, its AUC with an interval, and the model, in the active run or in one
    of its own.

    Parameters
    ----------
    log_input_examples : bool, default=False
        Whether to log the first five rows with the model.
    log_model_signatures : bool, default=True
        Whether the model has a signature.
    log_models : bool, default=True
        Whether to log the model, as `log_model` does. A ranker that no file can hold is not logged,
        and a warning says why.
    log_training_auc : bool, default=True
        Whether to score the rows of the fit. For a :class:`~aucrank.data.Dataset` that is one more
        pass over its rows.
    disable : bool, default=False
        Whether to log no more fits.
    exclusive : bool, default=False
        Whether to log nothing in a run that was started by the user.
    disable_for_unsupported_versions : bool, default=False
        Has no effect: MLflow has no list of the versions of aucrank.
    silent : bool, default=False
        Whether to suppress warnings and messages of MLflow about the logging.
    registered_model_name : str, default=None
        If given, each model becomes a version of the registered model of this name.
    extra_tags : mapping of str to str, default=None
        Tags of the runs that are made for fits.

    Raises
    ------
    ImportError
        If MLflow is not installed.

    See Also
    --------
    log_auc : Log the AUC of new rows.
    log_model : Log a single model.

    Notes
    -----
    Metrics are named after what they measure, with ``_low``, ``_high`` and ``_standard_error`` as
    `log_auc` has them: ``training_auc`` of the rows of the fit, with DeLong's interval, which is
    too high; ``held_out_auc`` of an ensemble, on the rows left out of its members' fits;
    ``oob_auc`` of a forest with ``oob_score``; and ``validation_auc`` or ``validation_loss`` by
    round, of a booster with held-out rows.

    Fits that are parts of others are not logged: those of members, folds, resamples and of
    `aucrank.compare`, and those by scikit-learn, such as ``cross_val_score`` and
    ``CalibratedClassifierCV``. Of a search the last fit is logged, of the best model to all rows,
    and of a pipeline the fit of the ranker at its end, with the columns that it receives.

    Examples
    --------
    >>> import mlflow  # doctest: +SKIP
    >>> from aucrank import TreeRank
    >>> from aucrank.mlflow import autolog
    >>> autolog()  # doctest: +SKIP
    >>> with mlflow.start_run():  # doctest: +SKIP
    ...     model = TreeRank().fit([[0.0], [1.0]] * 10, [0, 1] * 10)
    """
    _module("mlflow.pyfunc")
    _integration()(
        log_input_examples=log_input_examples,
        log_model_signatures=log_model_signatures,
        log_models=log_models,
        log_training_auc=log_training_auc,
        disable=disable,
        exclusive=exclusive,
        disable_for_unsupported_versions=disable_for_unsupported_versions,
        silent=silent,
        registered_model_name=registered_model_name,
        extra_tags=extra_tags,
    )


def _module(name: str) -> Any:
    return import_extra(name, "mlflow", "aucrank.mlflow.autolog")


@cache
def _integration() -> Callable[..., None]:
    """Return `_patch` as an integration of MLflow, which keeps its settings."""
    utils = _module("mlflow.utils.autologging_utils")
    integrated: Callable[..., None] = utils.autologging_integration(_NAME)(_patch)
    return integrated


def _patch(
    log_input_examples: bool,
    log_model_signatures: bool,
    log_models: bool,
    log_training_auc: bool,
    registered_model_name: str | None,
    extra_tags: Mapping[str, str] | None,
    disable: bool = False,
    exclusive: bool = False,
    disable_for_unsupported_versions: bool = False,
    silent: bool = False,
) -> None:
    """Patch the fits of all rankers; MLflow itself looks at the last four settings."""
    utils = _module("mlflow.utils.autologging_utils")
    tags = _module("mlflow.utils.mlflow_tags")
    sklearn = _module("mlflow.sklearn")
    rankers = (*public_estimators().values(), *map(get_estimator, META_ESTIMATORS))

    def logged_fit(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        # So that neither this nor other integrations log the fits within.
        with sklearn._SklearnTrainingSession(estimator=self, allow_children=False):
            fit = _LoggedFit(self, signature(original).bind(self, *args, **kwargs).arguments)
            fit.log_parameters()
            example = fit.example() if log_models and log_input_examples else None
            fitted = original(self, *args, **kwargs)
            if log_models:
                options = {} if log_model_signatures else {"signature": False}
                fit.log_model(registered_model_name, input_example=example, **options)
            fit.log_metrics(of_training=log_training_auc)
            return fitted

    run_of_its_own = utils.with_managed_run(
        _NAME, logged_fit, tags={**(extra_tags or {}), tags.MLFLOW_AUTOLOGGING: _NAME}
    )

    def patched_fit(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        is_part = is_inner_fit() or utils._has_active_training_session() or _is_by_sklearn()
        if is_part or not isinstance(self, rankers):
            return original(self, *args, **kwargs)
        return run_of_its_own(original, self, *args, **kwargs)

    for owner in dict.fromkeys(_owner_of_fit(ranker) for ranker in rankers):
        utils.safe_patch(_NAME, owner, "fit", patched_fit)


def _owner_of_fit(ranker: type[Any]) -> type[Any]:
    """Return the class that defines the method, whose subclasses may be the user's."""
    return next(one for one in ranker.__mro__ if "fit" in vars(one))


def _is_by_sklearn() -> bool:
    """Return whether a caller is an estimator or a function of scikit-learn that fits parts."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        package, _, module = str(frame.f_globals.get("__name__")).partition(".")
        if package == "sklearn" and not any(
            module == name or module.startswith(f"{name}.") for name in _NOT_OUTER
        ):
            return True
        frame = frame.f_back
    return False


class _LoggedFit:
    """A fit in the active run.

    Parameters
    ----------
    model : estimator
        What is fitted.
    arguments : mapping
        Arguments of `fit` by name.
    """

    def __init__(self, model: Any, arguments: Mapping[str, Any]) -> None:
        utils = _module("mlflow.utils.autologging_utils")
        mlflow = _module("mlflow")
        self._model = model
        self._X = arguments["X"]
        self._y: Any = arguments.get("y")
        self._weight, self._groups = arguments.get("sample_weight"), arguments.get("groups")
        self._client = utils.MlflowAutologgingQueueingClient()
        self._logger = utils._logger
        self._run_id = mlflow.active_run().info.run_id
        self._model_id: str | None = None

    def log_parameters(self) -> None:
        """Log the parameters and the class of the estimator."""
        kind = type(self._model)
        tags = {
            "estimator_name": kind.__name__,
            "estimator_class": f"{kind.__module__}.{kind.__name__}",
        }
        self._client.set_tags(self._run_id, tags)
        self._client.log_params(self._run_id, _parameters(self._model))
        self._client.flush(synchronous=True)

    def example(self) -> Any:
        """Return a copy of the first rows, as MLflow can store them."""
        if isinstance(self._X, Dataset):
            self._logger.warning("there is no input example of a Dataset, which is read in passes")
            return None
        frame = nw.from_native(self._X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return frame.head(_EXAMPLE_ROWS).to_pandas().copy()
        some = self._X[:_EXAMPLE_ROWS]
        # MLflow takes a list for the row of a table.
        return np.asarray(some) if isinstance(some, list | tuple) else deepcopy(some)

    def log_model(self, registered_model_name: str | None, **options: Any) -> None:
        """Log the fitted model, if a file can hold it."""
        options["registered_model_name"] = registered_model_name
        try:
            self._model_id = log_model(self._model, "model", **options).model_id
        except Exception as err:
            self._logger.warning("the model is not logged: %s", err)

    def log_metrics(self, *, of_training: bool) -> None:
        """Log what the fit measured, and how well the model ranks the rows of the fit."""
        for figures, step in _measured(self._model):
            self._client.log_metrics(self._run_id, figures, step=step, model_id=self._model_id)
        if of_training:
            figures = metrics_of(self._training_interval(), "training_")
            self._client.log_metrics(self._run_id, figures, model_id=self._model_id)
        self._client.flush(synchronous=True)

    def _training_interval(self) -> AucInterval:
        if isinstance(self._X, Dataset):
            return roc_state(self._model, self._X).interval()
        scores = self._model.decision_function(self._X)
        return auc_interval(self._y, scores, sample_weight=self._weight, groups=self._groups)


def _parameters(model: Any) -> dict[str, Any]:
    """Return the parameters: of estimators among them the name, and theirs by ``name__parameter``.

    With them in full, each would be there twice.
    """
    found = model.get_params(deep=True)
    return {
        name: type(value).__name__ if isinstance(value, BaseEstimator) else value
        for name, value in found.items()
    }


def _measured(model: Any) -> list[tuple[dict[str, float], int | None]]:
    """Return what a fit has measured on rows that it left out, with the round if by round."""
    found: list[tuple[dict[str, float], int | None]] = []
    board = getattr(model, "leaderboard_", None)
    if board is not None:
        of_blend = list(board["name"]).index("ensemble")
        figures = {"auc": "held_out_auc", "low": "held_out_auc_low", "high": "held_out_auc_high"}
        found.append(({as_: float(board[name][of_blend]) for name, as_ in figures.items()}, None))
    out_of_bag = getattr(model, "oob_score_", None)
    if out_of_bag is not None:
        found.append(({"oob_auc": float(out_of_bag)}, None))
    path = getattr(model, "validation_path_", None)
    if path is not None:
        (measure,) = {"auc", "loss"} & set(path)
        bags = path.get("bag")
        for row, (number, value) in enumerate(zip(path["round"], path[measure], strict=True)):
            of_bag = "" if bags is None else f"_bag_{bags[row]}"
            found.append(({f"validation_{measure}{of_bag}": float(value)}, int(number)))
    return found
