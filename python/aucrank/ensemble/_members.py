"""Members of an ensemble: valid estimators, and how they are fitted to some rows."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.external import (
    ExternalFitter,
    KeepsModels,
    check_ranker,
    check_takes_weights,
    known_scores,
)
from aucrank._base.fit_context import FitContext
from aucrank._base.fit_progress import FitProgress
from aucrank._base.ranker import BaseRanker
from aucrank._data.sample import Sample
from aucrank._data.schema import column_label
from aucrank.boosting import GradientBoostingRanker

#: Parameters that an ensemble sets for all of its members, with their required values.
_OF_THE_ENSEMBLE = {
    "categorical_features": "from_dtype",
    "class_weight": None,
    "warm_start": False,
}


def check_members(members: Any) -> list[tuple[str, Any]]:
    """Return the parameter ``members`` as a list of names and estimators.

    Raises
    ------
    TypeError
        If it is not a list, or one of them does not score rows.
    ValueError
        If it is empty, a name occurs twice, or a ranker has parameters that the ensemble sets.
    """
    if isinstance(members, str | dict) or not isinstance(members, Iterable):
        raise TypeError(f"members must be a list of (name, ranker), got {members!r}")
    found: list[tuple[str, Any]] = []
    for member in members:
        if not (isinstance(member, tuple) and len(member) == 2 and isinstance(member[0], str)):
            raise TypeError(f"members must be a list of (name, ranker), got {member!r} in it")
        found.append(member)
    if not found:
        raise ValueError("members must not be empty")
    names = [name for name, _ in found]
    for name, ranker in found:
        if names.count(name) > 1:
            raise ValueError(f"members has two of the name {name!r}")
        if isinstance(ranker, FrozenEstimator):
            check_is_fitted(ranker)
        if is_external(ranker):
            check_ranker(ranker, f"member {name!r}")
            continue
        frozen = frozen_ranker(ranker)
        if (frozen or ranker)._family == "ensemble":
            raise TypeError(f"member {name!r} is an ensemble itself")
        if frozen is not None:
            continue
        params = ranker.get_params(deep=False)
        for parameter, needed in _OF_THE_ENSEMBLE.items():
            if parameter in params and not _is(params[parameter], needed):
                raise ValueError(
                    f"{parameter} of member {name!r} must be {needed!r}, got"
                    f" {params[parameter]!r}: that of the ensemble holds for all"
                )
        ranker._check_all_params()
    return found


def _is(value: Any, needed: Any) -> bool:
    return isinstance(value, type(needed)) and bool(value == needed)


def frozen_ranker(ranker: Any) -> BaseRanker | None:
    """Return the fitted ranker of aucrank that is to be used as it is; None for any other member.

    Parameters
    ----------
    ranker : estimator
        A member; `sklearn.frozen.FrozenEstimator` around a fitted one is not fitted again.
    """
    if not isinstance(ranker, FrozenEstimator):
        return None
    inner = ranker.estimator
    return inner if isinstance(inner, BaseRanker) else None


def is_external(ranker: Any) -> bool:
    """Whether the core cannot hold a member: it is, or uses, an estimator of another package."""
    ranker = frozen_ranker(ranker) or ranker
    if isinstance(ranker, KeepsModels):
        return ranker._external_estimator() is not None
    return not isinstance(ranker, BaseRanker)


class Member(Protocol):
    """Fits clones of an estimator to some of the rows; called from several threads at a time."""

    def fit(self, rows: NDArray[np.intp], seed: int, n_threads: int, end: float | None) -> Any:
        """Return a model of some rows, stopped at ``end`` if possible; see `time.perf_counter`."""

    @property
    def fits_folds(self) -> bool:
        """Whether the models without each fold are fitted together, by `fit_folds`."""

    def fit_folds(
        self, of_row: NDArray[np.intp], n_folds: int, seed: int, n_threads: int, end: float | None
    ) -> Sequence[tuple[Any, Any]]:
        """Return a model without each fold, and that for new rows, given the fold of each row."""

    def ask(self, model: Any, rows: NDArray[np.intp], n_threads: int) -> NDArray[np.float64]:
        """Return the scores of some rows."""

    def finish(self, models: Sequence[Any]) -> Sequence[Any]:
        """Return what scores new rows instead of these models."""


def member_of(
    ranker: Any,
    name: str,
    context: FitContext,
    sample: Sample,
    rows: NDArray[np.intp],
    classes: NDArray[Any],
    verbose: int,
) -> Member:
    """Return the object that fits a member.

    Parameters
    ----------
    ranker : estimator
        Cloned, never fitted itself.
    name : str
        Its name in messages.
    context : FitContext
        Its sample has the rows in the user's own format.
    sample : Sample
        The rows, as dealt into folds.
    rows : ndarray of int
        Their positions in the sample of the context.
    classes : ndarray of shape (2,)
        The labels.
    verbose : int
        The ``verbose`` of a ranker of aucrank.
    """
    frozen = frozen_ranker(ranker)
    if frozen is not None and not is_external(frozen):
        return _FrozenMember(frozen, name, sample)
    if not is_external(ranker):
        return OwnMember(ranker, sample, classes, verbose)
    if sample.weight is not None:
        check_takes_weights(ranker, f"member {name!r}")
    return _ExternalMember(ranker, context.sample, sample.weight, rows)


class OwnMember:
    """A ranker of aucrank."""

    def __init__(self, ranker: BaseRanker, sample: Sample, classes: NDArray[Any], verbose: int):
        self._ranker = clone(ranker)
        if "verbose" in self._ranker.get_params(deep=False):
            self._ranker.set_params(verbose=verbose)
        self._sample = sample
        self._classes = classes

    def fit(
        self, rows: NDArray[np.intp], seed: int, n_threads: int, end: float | None
    ) -> _core.Model:
        fitted, context = self.begin(self._sample.take(rows), seed, n_threads, end)
        model: _core.Model = fitted._fit_model(context)
        return model

    @property
    def fits_folds(self) -> bool:
        ranker = self._ranker
        return isinstance(ranker, GradientBoostingRanker) and ranker._fits_folds()

    def fit_folds(
        self, of_row: NDArray[np.intp], n_folds: int, seed: int, n_threads: int, end: float | None
    ) -> Sequence[tuple[_core.Model, _core.Model]]:
        fitted, context = self.begin(self._sample, seed, n_threads, end)
        models: list[tuple[_core.Model, _core.Model]] = fitted._fit_folds(context, of_row, n_folds)
        return models

    def begin(
        self, sample: Sample, seed: int, n_threads: int, end: float | None
    ) -> tuple[Any, FitContext]:
        """Return a clone of the ranker, and the context for fitting it to some rows."""
        fitted: Any = clone(self._ranker)
        # Some fits use the labels.
        fitted.classes_ = self._classes
        return fitted, FitContext(sample, seed, n_threads, FitProgress(fitted, end=end))

    def ask(
        self, model: _core.Model, rows: NDArray[np.intp], n_threads: int
    ) -> NDArray[np.float64]:
        return model.score(self._sample.take(rows).columns, n_threads)

    def finish(self, models: Sequence[_core.Model]) -> Sequence[_core.Model]:
        return models


class _FrozenMember:
    """A fitted ranker of aucrank, whose model is the same without any fold."""

    def __init__(self, ranker: BaseRanker, name: str, sample: Sample):
        self._model = ranker._model
        self._sample = sample
        own, others = ranker._schema.features, sample.schema.features
        if len(own) != len(others):
            raise ValueError(
                f"member {name!r} was fitted to {len(own)} columns, but X has {len(others)}"
            )
        for place, (feature, other) in enumerate(zip(own, others, strict=True)):
            label = column_label(other.name, place)
            if None not in (feature.name, other.name) and feature.name != other.name:
                raise ValueError(
                    f"member {name!r} was fitted to a column {feature.name!r} where X has {label}"
                )
            if feature.levels != other.levels:
                raise ValueError(
                    f"member {name!r} was fitted to other categories of column {label} than X has:"
                    " pass a categorical column with all of them, in the order of their values"
                )

    def fit(
        self, rows: NDArray[np.intp], seed: int, n_threads: int, end: float | None
    ) -> _core.Model:
        return self._model

    @property
    def fits_folds(self) -> bool:
        return False

    def fit_folds(
        self, of_row: NDArray[np.intp], n_folds: int, seed: int, n_threads: int, end: float | None
    ) -> Sequence[tuple[_core.Model, _core.Model]]:
        raise NotImplementedError("there is nothing to fit")

    def ask(
        self, model: _core.Model, rows: NDArray[np.intp], n_threads: int
    ) -> NDArray[np.float64]:
        return model.score(self._sample.take(rows).columns, n_threads)

    def finish(self, models: Sequence[_core.Model]) -> Sequence[_core.Model]:
        return models[:1]


class _ExternalMember:
    """An estimator of another package, which receives rows in the user's own format."""

    def __init__(
        self,
        estimator: Any,
        sample: Sample,
        weight: NDArray[np.float64] | None,
        rows: NDArray[np.intp],
    ):
        self._fitter = ExternalFitter(estimator, sample.rows, sample.labels, known_scores)
        self._weight = weight
        self._rows = rows.astype(np.uint32)

    def fit(self, rows: NDArray[np.intp], seed: int, n_threads: int, end: float | None) -> int:
        weight = None if self._weight is None else self._weight[rows]
        return self._fitter.fit(seed, self._rows[rows], weight)

    @property
    def fits_folds(self) -> bool:
        return False

    def fit_folds(
        self, of_row: NDArray[np.intp], n_folds: int, seed: int, n_threads: int, end: float | None
    ) -> Sequence[tuple[int, int]]:
        raise NotImplementedError("each fold is fitted by itself")

    def ask(self, model: int, rows: NDArray[np.intp], n_threads: int) -> NDArray[np.float64]:
        scores = self._fitter.answer(model, self._rows[rows])
        # In the form of the core.
        return np.nan_to_num(scores, nan=np.nan) + 0.0

    def finish(self, models: Sequence[int]) -> Sequence[Any]:
        self._fitter.keep(models)
        return self._fitter.kept
