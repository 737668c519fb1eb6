"""Classifiers of the user's own choice beside rows of data: what the core calls back."""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline


def weight_parameter(classifier: Any) -> tuple[str, Any]:
    """Return by which name the weights go to ``fit``, and the estimator that they are for."""
    if not isinstance(classifier, Pipeline):
        return "sample_weight", classifier
    step, last = classifier.steps[-1]
    name, receiver = weight_parameter(last)
    if sklearn.get_config()["enable_metadata_routing"]:
        # The pipeline itself finds the steps that request weights.
        return "sample_weight", receiver
    return f"{step}__{name}", receiver


class RowClassifiers:
    """Fitted classifiers beside rows to ask them about: what the core calls back.

    Parameters
    ----------
    classifiers : sequence of estimator
        By number.
    X : array-like or data frame of shape (n, n_features)
        The rows, as the user passed them.
    """

    def __init__(self, classifiers: Sequence[Any], X: Any) -> None:
        self._fitted = dict(enumerate(classifiers))
        self._take = _taker(X)

    def decide(self, classifier: int, rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell which rows a classifier calls positive."""
        return _positive(self._fitted[classifier], self._take(rows))


class RowLearner(RowClassifiers):
    """Fits classifiers to the rows of nodes: what the core calls back in a fit.

    The core calls from threads of its own, several at a time.

    Parameters
    ----------
    classifier : estimator
        Cloned for each node.
    X : array-like or data frame of shape (n, n_features)
        The rows, as the user passed them.
    positive : ndarray of bool, shape (n,)
        Their labels.
    """

    def __init__(self, classifier: Any, X: Any, positive: NDArray[np.bool_]) -> None:
        super().__init__((), X)
        self._classifier = classifier
        self._labels = positive.astype(np.intp)
        self._weights_as, _ = weight_parameter(classifier)
        self._n_fitted = 0
        self._lock = threading.Lock()
        # Settings that scikit-learn, numpy and others keep for each thread.
        self._config = sklearn.get_config()
        self._context = copy_context()

    def fit(
        self, seed: int, rows: NDArray[np.uint32], costs: NDArray[np.float64]
    ) -> tuple[int, NDArray[np.bool_]]:
        """Fit a classifier; return its number and which of the rows it calls positive."""
        classifier = clone(self._classifier)
        _seed_all(classifier, seed)
        positive = self._as_caller(self._fit, classifier, rows, costs)
        with self._lock:
            number = self._n_fitted
            self._n_fitted += 1
            self._fitted[number] = classifier
        return number, positive

    def decide(self, classifier: int, rows: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Tell which rows a classifier calls positive."""
        return self._as_caller(super().decide, classifier, rows)

    def forget(self, classifiers: Sequence[int]) -> None:
        """Let classifiers go."""
        for number in classifiers:
            del self._fitted[number]

    def keep(self, classifiers: Sequence[int]) -> None:
        """Give those of the final tree the numbers 0, 1, ... and let all others go."""
        self._fitted = {new: self._fitted[old] for new, old in enumerate(classifiers)}

    @property
    def kept(self) -> tuple[Any, ...]:
        """The classifiers of the final tree."""
        return tuple(self._fitted.values())

    def _fit(
        self, classifier: Any, rows: NDArray[np.uint32], costs: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        X = self._take(rows)
        classifier.fit(X, self._labels[rows], **{self._weights_as: costs})
        return _positive(classifier, X)

    def _as_caller(self, work: Callable[..., NDArray[np.bool_]], *args: Any) -> NDArray[np.bool_]:
        """Call under the settings of the thread that called `TreeRank.fit`."""
        with sklearn.config_context(**self._config):
            return self._context.copy().run(work, *args)


def _taker(X: Any) -> Callable[[NDArray[np.uint32]], Any]:
    """Return a function that takes rows of a data frame as such, and of all else as an array."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return lambda rows: frame[rows.astype(np.intp)].to_native()
    if isinstance(X, np.ma.MaskedArray):
        # As the columns of the core have it: what is masked is missing.
        X = np.ma.filled(X.astype(np.promote_types(X.dtype, np.float32)), np.nan)
    array = np.asarray(X)
    if array.dtype.kind in "US" and not hasattr(X, "dtype"):
        # Rows of a list that mix numbers and strings.
        array = np.asarray(X, dtype=object)
    return lambda rows: array[rows]


def _seed_all(classifier: Any, seed: int) -> None:
    """Set every parameter ``random_state``, as scikit-learn's ensembles do."""
    names = sorted(classifier.get_params(deep=True))
    random = np.random.RandomState(seed % 2**32)
    states = {
        name: random.randint(np.iinfo(np.int32).max)
        for name in names
        if name == "random_state" or name.endswith("__random_state")
    }
    if states:
        classifier.set_params(**states)


def _positive(classifier: Any, X: Any) -> NDArray[np.bool_]:
    """Predict, and check that the predictions are labels of the rows."""
    predicted = np.asarray(classifier.predict(X))
    positive = predicted == 1
    n_rows = X.shape[0]
    if predicted.shape != (n_rows,):
        raise ValueError(
            f"predict of {type(classifier).__name__} returned an array of shape {predicted.shape}"
            f" for {n_rows} rows"
        )
    if not np.all(positive | (predicted == 0)):
        raise ValueError(
            f"predict of {type(classifier).__name__} returned other values than the labels 0 and 1"
            " that it was fitted to: it is no classifier"
        )
    return np.ascontiguousarray(positive, dtype=np.bool_)
