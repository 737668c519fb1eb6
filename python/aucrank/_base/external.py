"""User-supplied estimators inside a model of ours.

The core fits and queries the classifiers that split the nodes of a tree and the rankers that are
boosted. It knows them by number and calls back `ExternalFitter` and `ExternalModels`; an estimator
whose model uses them has `KeepsModels` among its bases. A learner written in Python, such as an
ensemble of arbitrary classifiers, uses the pair as the core does; see `ExternalFitter`.
"""

import sys
import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from inspect import Parameter, signature
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from aucrank import _core
from aucrank._base.scoring import score_rows, scoring_method
from aucrank._data.input import Columns, each_column
from aucrank._data.sample import Sample
from aucrank._data.schema import Schema

#: Evaluates a fitted estimator on rows: one number per row.
Answer = Callable[[Any, Any], NDArray[np.float64]]


def weight_parameter(estimator: Any) -> tuple[str, Any]:
    """Return the name by which weights go to ``fit``, and the estimator that they are for."""
    if not is_pipeline(estimator):
        return "sample_weight", estimator
    step, last = estimator.steps[-1]
    name, receiver = weight_parameter(last)
    if sklearn.get_config()["enable_metadata_routing"]:
        # The pipeline itself finds the steps that request weights.
        return "sample_weight", receiver
    return f"{step}__{name}", receiver


def is_pipeline(estimator: Any) -> bool:
    """Return whether it is a pipeline of scikit-learn."""
    # Without its module there is none, and importing it takes half a second.
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(estimator, module.Pipeline)


def check_has_methods(estimator: Any, name: str, methods: Sequence[str]) -> None:
    """Raise TypeError if a parameter is a class, or an estimator without the given methods."""
    if isinstance(estimator, type):
        raise TypeError(f"{name} must be an estimator, got the class {estimator.__name__}")
    for method in methods:
        if not callable(getattr(estimator, method, None)):
            raise TypeError(
                f"{name} must be an estimator, but {type(estimator).__name__} has no {method}()"
            )


def check_ranker(estimator: Any, name: str) -> None:
    """Raise TypeError if a parameter is not an estimator that scores rows."""
    check_has_methods(estimator, name, ("fit", "get_params"))
    if scoring_method(estimator) is None:
        raise TypeError(
            f"{name} must score rows, but {type(estimator).__name__} has neither"
            " decision_function() nor predict_proba()"
        )


def check_takes_weights(estimator: Any, name: str) -> None:
    """Raise ValueError if ``fit`` of an estimator does not accept ``sample_weight``."""
    _, receiver = weight_parameter(estimator)
    accepted = signature(receiver.fit).parameters
    # An estimator that takes any keyword, such as a search over parameters, passes it on.
    if "sample_weight" not in accepted and not any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in accepted.values()
    ):
        raise ValueError(
            f"{name} must take sample_weight, but {type(receiver).__name__}.fit does not"
        )


def refuse_missing(columns: Columns, schema: Schema, whose: str) -> None:
    """Raise ValueError if a value is missing, which user-supplied estimators do not accept."""
    for index, values in enumerate(each_column(columns)):
        missing = values == _core.MISSING_CODE if values.dtype == np.uint32 else np.isnan(values)
        if missing.any():
            raise ValueError(
                f"Input X contains NaN in column {schema.label(index)}, which {whose} does not"
                " accept"
            )


def set_random_states(estimator: Any, seed: int) -> None:
    """Set every ``random_state`` of an estimator and its parts as scikit-learn's ensembles do."""
    names = sorted(estimator.get_params(deep=True))
    random = np.random.RandomState(seed % 2**32)
    states = {
        name: random.randint(np.iinfo(np.int32).max)
        for name in names
        if name == "random_state" or name.endswith("__random_state")
    }
    if states:
        estimator.set_params(**states)


def predicted_labels(classifier: Any, X: Any) -> NDArray[np.float64]:
    """Predict labels with a classifier: 1 for rows that it calls positive, 0 for all others.

    Raises
    ------
    ValueError
        If it does not predict one of the labels 0 and 1 for each row.
    """
    predicted = np.asarray(classifier.predict(X))
    if predicted.shape != (X.shape[0],):
        raise ValueError(
            f"predict of {type(classifier).__name__} returned an array of shape {predicted.shape}"
            f" for {X.shape[0]} rows"
        )
    positive: NDArray[np.bool_] = predicted == 1
    if not np.all(positive | (predicted == 0)):
        raise ValueError(
            f"predict of {type(classifier).__name__} returned other values than the labels 0 and 1"
            " that it was fitted to: it is not a classifier"
        )
    return positive.astype(np.float64)


def known_scores(ranker: Any, X: Any) -> NDArray[np.float64]:
    """Score rows with a ranker.

    Raises
    ------
    ValueError
        If it does not return one score per row, or a score is NaN.
    """
    scores = score_rows(ranker, X)
    what = f"{scoring_method(ranker)} of {type(ranker).__name__} returned"
    if scores.shape != (X.shape[0],):
        raise ValueError(f"{what} an array of shape {scores.shape} for {X.shape[0]} rows")
    if np.isnan(scores).any():
        raise ValueError(f"{what} NaN")
    return scores


class ExternalModels:
    """Fitted estimators, with the rows to evaluate them on.

    Parameters
    ----------
    models : sequence of estimator
        By number.
    X : array-like or data frame of shape (n, n_features)
        The rows, in the user's own format.
    answer : callable
        Evaluates an estimator on rows: `predicted_labels` or `known_scores`.
    """

    def __init__(self, models: Sequence[Any], X: Any, answer: Answer) -> None:
        self._fitted = dict(enumerate(models))
        self._answer = answer
        self._take = row_taker(X)
        # Settings that scikit-learn, numpy and others keep per thread.
        self._config = sklearn.get_config()
        self._context = copy_context()

    def answer(self, model: int, rows: NDArray[np.uint32]) -> NDArray[np.float64]:
        """Evaluate an estimator on some rows: one number per row."""
        answers: NDArray[np.float64] = self._as_caller(
            lambda: self._answer(self._fitted[model], self._take(rows))
        )
        return answers

    def _as_caller(self, work: Callable[[], Any]) -> Any:
        """Call ``work`` under the settings of the thread that created this object."""
        with sklearn.config_context(**self._config):
            return self._context.copy().run(work)


class ExternalFitter(ExternalModels):
    """Fits estimators to rows; may be called from several threads at a time.

    Parameters
    ----------
    estimator : estimator or None
        Cloned for each fit; None where nothing is fitted and only ``earlier`` ones are evaluated.
    X : array-like or data frame of shape (n, n_features)
        The rows, in the user's own format.
    positive : ndarray of bool, shape (n,)
        Their labels; estimators are fitted to the labels 0 and 1.
    answer : callable
        Evaluates an estimator on rows: `predicted_labels` or `known_scores`.
    earlier : sequence of estimator, default=()
        Those of the fit that is continued, by number.

    Examples
    --------
    Fit a member of an ensemble and score rows that it was not fitted to; then keep it, and score
    new rows:

    >>> import numpy as np
    >>> from aucrank._base.external import ExternalFitter, ExternalModels, known_scores
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, positive = np.arange(6.0).reshape(-1, 1), np.arange(6) % 3 == 2
    >>> fitter = ExternalFitter(KNeighborsClassifier(1), X, positive, known_scores)
    >>> member = fitter.fit(seed=0, rows=np.array([0, 2, 4]))
    >>> fitter.answer(member, np.array([1, 3, 5])).tolist()
    [0.0, 1.0, 0.0]
    >>> fitter.keep([member])
    >>> new = ExternalModels(fitter.kept, [[1.8], [9.0]], known_scores)
    >>> new.answer(0, np.arange(2)).tolist()
    [1.0, 0.0]
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        positive: NDArray[np.bool_],
        answer: Answer,
        earlier: Sequence[Any] = (),
    ) -> None:
        super().__init__(earlier, X, answer)
        self._estimator = estimator
        self._labels = positive.astype(np.intp)
        self._weights_as, _ = weight_parameter(estimator)
        self._n_fitted = len(earlier)
        self._lock = threading.Lock()

    def fit(
        self,
        seed: int,
        rows: NDArray[np.uint32],
        weights: NDArray[np.float64] | None = None,
    ) -> int:
        """Fit a clone of the estimator to some rows.

        Parameters
        ----------
        seed : int
            Seed from which each ``random_state`` is set.
        rows : ndarray of int
            Numbers of the rows; one may occur more than once.
        weights : ndarray of float64, default=None
            Weight of each row. None for an estimator that takes no weights.

        Returns
        -------
        int
            The number of the fitted clone.
        """
        model = clone(self._estimator)
        set_random_states(model, seed)
        weighted = {} if weights is None else {self._weights_as: weights}
        self._as_caller(lambda: model.fit(self._take(rows), self._labels[rows], **weighted))
        with self._lock:
            number = self._n_fitted
            self._n_fitted += 1
            self._fitted[number] = model
        return number

    def forget(self, models: Sequence[int]) -> None:
        """Release estimators."""
        for number in models:
            del self._fitted[number]

    def keep(self, models: Sequence[int]) -> None:
        """Give the estimators of the final model the numbers 0, 1, ... and release all others."""
        self._fitted = {new: self._fitted[old] for new, old in enumerate(models)}

    @property
    def kept(self) -> tuple[Any, ...]:
        """The estimators of the final model."""
        return tuple(self._fitted.values())


class KeepsModels:
    """Mixin for estimators whose core model may use user-supplied estimators; stands first.

    They are kept in the attribute that ``_kept`` names, next to the core model; it exists if the
    fit used user-supplied estimators. Pickle keeps them, a file never does.
    """

    _kept: ClassVar[str]

    _model: Any
    _schema: Schema

    @staticmethod
    def _answer(model: Any, X: Any, /) -> NDArray[np.float64]:
        """Evaluate one of them on rows."""
        raise NotImplementedError

    def _external_estimator(self) -> Any:
        """Return the estimator whose clones are fitted, None where the core fits everything."""
        raise NotImplementedError

    def _external_fitter(
        self, sample: Sample, earlier: Sequence[Any] = ()
    ) -> ExternalFitter | None:
        """Return the object that the core calls back in a fit, or None where it needs none.

        Parameters
        ----------
        sample : Sample
            The rows.
        earlier : sequence of estimator, default=()
            Those of the model from which a fit continues, by number. Where there are any, the core
            has to evaluate them, whatever is fitted from here on.
        """
        estimator = self._external_estimator()
        if estimator is None and not earlier:
            return None
        return ExternalFitter(estimator, sample.rows, sample.labels, self._answer, earlier)

    def _external_models(self, X: Any) -> ExternalModels | None:
        """Return the estimators that the fitted model uses, with rows; None if it uses none."""
        models = self.__dict__.get(self._kept)
        return ExternalModels(models, X, self._answer) if models else None

    def _check_unasked(self, columns: Columns, schema: Schema) -> None:
        """Check rows as user-supplied estimators would, where the model ended up using none."""

    def _dispatch(self, question: str, X: Any, columns: Columns, n_threads: int) -> Any:
        external = self._external_models(X)
        if external is not None:
            return getattr(self._model, question)(columns, n_threads, external)
        if self._kept in self.__dict__:
            self._check_unasked(columns, self._schema)
        return super()._dispatch(question, X, columns, n_threads)  # type: ignore[misc]

    def _check_savable(self) -> None:
        super()._check_savable()  # type: ignore[misc]
        if self._kept in self.__dict__:
            raise TypeError(
                f"this {type(self).__name__} was fitted with estimators of your own and holds them,"
                " and a file of aucrank never holds code; use pickle or joblib"
            )

    def _restore(self, header: Any, model: Any, calibration: Any) -> None:
        super()._restore(header, model, calibration)  # type: ignore[misc]
        n_kept = len(self.__dict__.get(self._kept, ()))
        if any(number >= n_kept for number in model.external_models()):
            raise _core.ModelFormatError(
                f"the model needs {self._kept.strip('_')} that are missing"
            )

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        if self._kept in self.__dict__:
            state[self._kept] = self.__dict__[self._kept]
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        estimator = self._external_estimator()
        # The tags of a pipeline do not reflect an imputer in it.
        if isinstance(estimator, BaseEstimator) and not is_pipeline(estimator):
            tags.input_tags.allow_nan = get_tags(estimator).input_tags.allow_nan
        if isinstance(estimator, BaseEstimator):
            tags.input_tags.sparse &= get_tags(estimator).input_tags.sparse
        return tags


def row_taker(X: Any) -> Callable[[NDArray[np.integer[Any]]], Any]:
    """Return a function that takes rows of a frame or sparse matrix as such, else as an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return lambda rows: frame[rows.astype(np.intp)].to_native()
    if issparse(X):
        by_row = X.tocsr()
        return lambda rows: by_row[rows]
    if isinstance(X, np.ma.MaskedArray):
        # As for the columns of the core: masked values are missing.
        X = np.ma.filled(X.astype(np.promote_types(X.dtype, np.float32)), np.nan)
    array = np.asarray(X)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        # Rows of a list that mix numbers and strings.
        array = np.asarray(X, dtype=object)
    return lambda rows: array[rows]
