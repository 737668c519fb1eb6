"""Support for the callbacks of scikit-learn 1.9, where that is installed.

An estimator that supports them has `CallbackSupportMixin` first among its bases and
`with_callbacks` around its ``fit``; before 1.9 both do nothing.
"""

from collections.abc import Callable
from typing import Any, TypeVar

try:
    import sklearn.callback as _callback
except ImportError:
    _callback = None

_Method = TypeVar("_Method", bound=Callable[..., Any])


class _NoCallbacks:
    """Stand-in for the mixin of scikit-learn before 1.9."""


CallbackSupportMixin: Any = getattr(_callback, "CallbackSupportMixin", _NoCallbacks)


def with_callbacks(method: _Method) -> _Method:
    """Tear callbacks down when ``fit`` ends, also after an error."""
    managed: _Method = method if _callback is None else _callback.with_callbacks(method)
    return managed


def begin_fit(estimator: Any, max_subtasks: int | None, X: Any, y: Any, sample_weight: Any) -> Any:
    """Notify the callbacks of an estimator that a fit begins.

    Parameters
    ----------
    estimator : estimator
        One that supports callbacks, whose ``fit`` is running.
    max_subtasks : int or None
        Most parts of the fit that will be reported to its callbacks, or None if unknown.
    X, y, sample_weight : object
        Arguments of ``fit``.

    Returns
    -------
    sklearn.callback.CallbackContext or None
        The task of the whole fit; None before scikit-learn 1.9.
    """
    if not hasattr(estimator, "_init_callback_context"):
        return None
    context = estimator._init_callback_context(max_subtasks=max_subtasks)
    return context.call_on_fit_task_begin(estimator=estimator, **_sample(X, y, sample_weight))


def end_fit(estimator: Any, context: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Notify the callbacks of a fitted estimator that its fit has ended; see `begin_fit`."""
    if context is not None:
        # Nothing has to be added to the estimator: it is fitted.
        context.call_on_fit_task_end(
            estimator=estimator, **_sample(X, y, sample_weight), reconstruction_attributes={}
        )


def _sample(X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    metadata = None if sample_weight is None else {"sample_weight": sample_weight}
    return {"X": X, "y": y, "metadata": metadata}
