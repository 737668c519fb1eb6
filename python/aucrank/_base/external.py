"""Estimators of the user's own choice beside rows of data: what the core calls back."""

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from inspect import Parameter, signature
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from aucrank import _core


def weight_parameter(estimator: Any) -> tuple[str, Any]:
    """Return by which name the weights go to ``fit``, and the estimator that they are for."""
    if not isinstance(estimator, Pipeline):
        return "sample_weight", estimator
    step, last = estimator.steps[-1]
    name, receiver = weight_parameter(last)
    if sklearn.get_config()["enable_metadata_routing"]:
        # The pipeline itself finds the steps that request weights.
        return "sample_weight", receiver
    return f"{step}__{name}", receiver


def check_weighted_estimator(estimator: Any, name: str, methods: Sequence[str]) -> None:
    """Check that a parameter is an estimator with some methods that takes ``sample_weight``.

    Raises
    ------
    TypeError
        If it is a class, or lacks a method.
    ValueError
        If its ``fit`` takes no weights.
    """
    if isinstance(estimator, type):
        raise TypeError(f"{name} must be an estimator, got the class {estimator.__name__}")
    for method in methods:
        if not callable(getattr(estimator, method, None)):
            raise TypeError(
                f"{name} must be an estimator, but {type(estimator).__name__} has no {method}()"
            )
    _, receiver = weight_parameter(estimator)
    accepted = signature(receiver.fit).parameters
    # What takes any keyword, such as a search over parameters, hands it on.
    if "sample_weight" not in accepted and not any(
        parameter.kind is Parameter.VAR_KEYWORD for parameter in accepted.values()
    ):
        raise ValueError(
            f"{name} must take sample_weight, but {type(receiver).__name__}.fit does not"
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


class RowModels:
    """Fitted estimators beside rows to ask them about.

    Parameters
    ----------
    models : sequence of estimator
        By number.
    X : array-like or data frame of shape (n, n_features)
        The rows, as the user passed them.
    """

    def __init__(self, models: Sequence[Any], X: Any) -> None:
        self._fitted = dict(enumerate(models))
        self._take = _taker(X)
        # Settings that scikit-learn, numpy and others keep for each thread.
        self._config = sklearn.get_config()
        self._context = copy_context()

    def _as_caller(self, work: Callable[..., Any], *args: Any) -> Any:
        """Call under the settings of the thread that made this object."""
        with sklearn.config_context(**self._config):
            return self._context.copy().run(work, *args)


class RowModelLearner(RowModels):
    """Fits estimators to rows; the core calls from threads of its own, several at a time.

    Parameters
    ----------
    estimator : estimator or None
        Cloned for each fit; None where nothing is fitted, and ``earlier`` ones are asked alone.
    X : array-like or data frame of shape (n, n_features)
        The rows, as the user passed them.
    positive : ndarray of bool, shape (n,)
        Their labels.
    earlier : sequence of estimator, default=()
        Those of a fit that goes on, by number.
    """

    def __init__(
        self, estimator: Any, X: Any, positive: NDArray[np.bool_], earlier: Sequence[Any] = ()
    ) -> None:
        super().__init__(earlier, X)
        self._estimator = estimator
        self._labels = positive.astype(np.intp)
        self._weights_as, _ = weight_parameter(estimator)
        self._n_fitted = len(earlier)
        self._lock = threading.Lock()

    def forget(self, models: Sequence[int]) -> None:
        """Let models go."""
        for number in models:
            del self._fitted[number]

    def keep(self, models: Sequence[int]) -> None:
        """Give those of the final model the numbers 0, 1, ... and let all others go."""
        self._fitted = {new: self._fitted[old] for new, old in enumerate(models)}

    @property
    def kept(self) -> tuple[Any, ...]:
        """Those of the final model."""
        return tuple(self._fitted.values())

    def _new(self, seed: int) -> Any:
        """Return a clone that draws by a seed."""
        model = clone(self._estimator)
        set_random_states(model, seed)
        return model

    def _add(self, model: Any) -> int:
        """Return the number of one more fitted model."""
        with self._lock:
            number = self._n_fitted
            self._n_fitted += 1
            self._fitted[number] = model
        return number

    def _fit_model(
        self, model: Any, X: Any, rows: NDArray[np.uint32], weights: NDArray[np.float64]
    ) -> None:
        model.fit(X, self._labels[rows], **{self._weights_as: weights})


class KeepsModels:
    """For estimators whose core model asks estimators of the user's own choice; stands first.

    They lie in the attribute that ``_kept`` names, beside the core model; it is there if the fit
    was asked for such estimators. Pickle keeps them, a file never does.
    """

    _kept: ClassVar[str]

    def _asked_models(self, model: Any) -> Sequence[int]:
        """Numbers of the estimators that a core model asks."""
        raise NotImplementedError

    def _check_savable(self) -> None:
        super()._check_savable()  # type: ignore[misc]
        if self._kept in self.__dict__:
            raise TypeError(
                f"this {type(self).__name__} was fitted with estimators of your own and holds them,"
                " and a file of aucrank never holds code; use pickle or joblib"
            )

    def _restore(self, header: Any, model: Any) -> None:
        super()._restore(header, model)  # type: ignore[misc]
        n_kept = len(self.__dict__.get(self._kept, ()))
        if any(number >= n_kept for number in self._asked_models(model)):
            raise _core.ModelFormatError(
                f"the model asks {self._kept.strip('_')} that are not there"
            )

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        if self._kept in self.__dict__:
            state[self._kept] = self.__dict__[self._kept]
        return state


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
