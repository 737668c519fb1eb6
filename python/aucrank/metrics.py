"""Exact ROC curves and the area under them.

Drop-ins for the functions of the same name in :mod:`sklearn.metrics`, and :class:`RocCurve`, which
keeps the curve as exact counts. Labels, scores and weights may be lists, arrays or columns of
pandas, polars or pyarrow. Two rules differ from scikit-learn, so that nothing fails in silence:

- where y has one class there is no AUC, and a ``ValueError`` says so (scikit-learn 1.6 and later
  warns and returns NaN). To average over folds some of which have one class, catch it;
- a negative weight is an error.

Infinite scores are legal: they rank first or last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._threads import effective_n_threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RocCurve", "roc_auc_score", "roc_curve"]

_T = TypeVar("_T")

_FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_LABELS = _FLOATS | {np.dtype(t) for t in (np.bool_, np.int8, np.uint8, np.int32, np.int64)}


def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
) -> float:
    """Area under the ROC curve: the chance that a positive row outranks a negative one.

    A tie counts one half. Pairs are counted in integers, so the result is exact up to one
    rounding, never above 1, and the same bits for any number of threads and any order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the greater label is the positive class.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive. float32 is sorted as it is, in half the memory.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    max_fpr : float, default=None
        If given, the area up to this false positive rate, in (0, 1], standardised to be 0.5 for
        scores that tell nothing and 1 for perfect ones [1]_.

    Returns
    -------
    float
        The area, from 0 to 1.

    Raises
    ------
    ValueError
        If ``y_true`` does not have two classes or holds a missing value, a score is NaN, lengths
        differ, or a weight is negative or not finite.

    See Also
    --------
    RocCurve.from_scores : The curve, its hull and its points.
    sklearn.metrics.roc_auc_score : The same for more than two classes.

    Notes
    -----
    O(n) for scores that are sorted already, in either direction. Otherwise a parallel radix sort
    that takes 8 bytes a row of extra memory for float64 scores, 4 for float32 and 16 with weights,
    and 1 for labels that are not bool.

    References
    ----------
    .. [1] McClish, "Analyzing a portion of the ROC curve", Medical Decision Making 9(3), 1989.
       :doi:`10.1177/0272989X8900900307`

    Examples
    --------
    >>> from aucrank.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> roc_auc_score(["no", "yes", "no"], [0.2, 0.9, 0.9], sample_weight=[1, 1, 3])
    0.625
    """
    if max_fpr is not None and not 0 < max_fpr <= 1:
        raise ValueError(f"Expected max_fpr in range (0, 1], got: {max_fpr!r}")
    if max_fpr is not None and max_fpr < 1:
        return _curve(y_true, y_score, sample_weight).standardized_auc(float(max_fpr))
    return _of_two_classes(_core.roc_auc, y_true, _scores(y_score)[0], sample_weight)


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: float | bool | str | None = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = True,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Knots of the ROC curve, from (0, 0) to (1, 1).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels: 0 and 1, or -1 and 1, or any if ``pos_label`` is given.
    y_score : array-like of shape (n_samples,)
        Scores; higher is more positive.
    pos_label : int, float, bool or str, default=None
        Label of the positive class; every other label is negative. ``None`` means 1.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a row of weight k counts as k rows, one of weight 0 as none.
    drop_intermediate : bool, default=True
        Whether to leave out knots between two equal steps of the curve. The curve stays the same.

    Returns
    -------
    fpr : ndarray of shape (n_thresholds,)
        False positive rate: share of negative rows that score at least the threshold.
    tpr : ndarray of shape (n_thresholds,)
        True positive rate: share of positive rows that score at least the threshold.
    thresholds : ndarray of shape (n_thresholds,)
        Falling scores, one for each distinct score; infinity comes first, at (0, 0).

    Raises
    ------
    ValueError
        If one class is absent, ``pos_label`` is needed or not a label, a score is NaN, lengths
        differ, or a weight is negative or not finite.

    See Also
    --------
    RocCurve.from_scores : The curve as an object, with its hull and its points.

    Notes
    -----
    With weights that are not whole numbers, whether two steps are equal is decided on weights
    rounded to 2^-53 of their total, where scikit-learn compares sums of floats.

    Examples
    --------
    >>> from aucrank.metrics import roc_curve
    >>> fpr, tpr, thresholds = roc_curve([1, 1, 2, 2], [0.1, 0.4, 0.35, 0.8], pos_label=2)
    >>> fpr
    array([0. , 0. , 0.5, 0.5, 1. ])
    >>> tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    >>> thresholds
    array([ inf, 0.8 , 0.4 , 0.35, 0.1 ])
    """
    labels = _vector(y_true, "y_true")
    if pos_label is not None:
        labels = _equal_to(labels, pos_label)
    curve = _curve(labels, y_score, sample_weight, any_labels=False)
    if drop_intermediate:
        curve = curve.without_intermediate()
    # A caller of a drop-in may write into what it returns.
    return curve.fpr().copy(), curve.tpr().copy(), curve.thresholds().copy()


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve:
    """ROC curve of scores: a knot for each distinct score, linear in between.

    Made by :meth:`from_scores`. The counts behind the rates are kept as whole numbers, so that the
    area and the slopes of the hull are exact.

    Attributes
    ----------
    fpr : ndarray of shape (n_knots,)
        False positive rates, rising from 0 to 1; read-only.
    tpr : ndarray of shape (n_knots,)
        True positive rates, rising from 0 to 1; read-only.
    thresholds : ndarray of shape (n_knots,)
        Score from which on a row counts as positive, falling; infinity at (0, 0); read-only.
    auc : float
        Area under the curve.

    See Also
    --------
    roc_curve : The knots alone, as scikit-learn gives them.

    Examples
    --------
    >>> from aucrank.metrics import RocCurve
    >>> curve = RocCurve.from_scores([0, 1, 0, 1], [0.1, 0.35, 0.4, 0.8])
    >>> curve
    RocCurve(n_knots=5, auc=0.75)
    >>> curve.hull()
    RocCurve(n_knots=4, auc=0.875)
    >>> float(curve.tpr_at(0.25)), float(curve.fpr_at(0.75))
    (0.5, 0.5)
    """

    _curve: _core.RocCurve
    fpr: NDArray[np.float64] = field(init=False)
    tpr: NDArray[np.float64] = field(init=False)
    thresholds: NDArray[np.float64] = field(init=False)
    auc: float = field(init=False)

    def __post_init__(self) -> None:
        for name in ("fpr", "tpr", "thresholds", "auc"):
            object.__setattr__(self, name, getattr(self._curve, name)())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_knots={self.fpr.size}, auc={self.auc!r})"

    def __reduce__(self) -> tuple[type[RocCurve], tuple[_core.RocCurve]]:
        return type(self), (self._curve,)

    @classmethod
    def from_scores(
        cls, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> RocCurve:
        """Curve of scores against labels.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes; the greater label is the positive class.
        y_score : array-like of shape (n_samples,)
            Scores; higher is more positive.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a row of weight k counts as k rows, one of weight 0 as none.

        Returns
        -------
        RocCurve
            With a knot for each distinct score; none is dropped.

        Raises
        ------
        ValueError
            As for :func:`roc_auc_score`.
        """
        return cls(_curve(y_true, y_score, sample_weight))

    def hull(self) -> RocCurve:
        """Upper concave hull: the least concave curve that is nowhere below this one.

        It is the curve of the scores after the best monotone change, ties included. Its knots are
        the corners only: a knot on the line between two others is left out.

        Returns
        -------
        RocCurve
            A subset of the knots, thresholds included.
        """
        return type(self)(self._curve.hull())

    def tpr_at(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Highest true positive rate at a false positive rate, linear between knots.

        Parameters
        ----------
        fpr : float or array-like of any shape
            False positive rates from 0 to 1.

        Returns
        -------
        ndarray
            Rates of the shape of ``fpr``.
        """
        return _at(self._curve.tpr_at, fpr)

    def fpr_at(self, tpr: ArrayLike) -> NDArray[np.float64]:
        """Lowest false positive rate that reaches a true positive rate, linear between knots.

        Parameters
        ----------
        tpr : float or array-like of any shape
            True positive rates from 0 to 1.

        Returns
        -------
        ndarray
            Rates of the shape of ``tpr``.
        """
        return _at(self._curve.fpr_at, tpr)

    def distance(self, other: RocCurve, norm: Literal["l1", "linf"] = "l1") -> float:
        """Distance to another curve, exact for the two piecewise linear curves [1]_.

        Parameters
        ----------
        other : RocCurve
            The other curve.
        norm : {"l1", "linf"}, default="l1"
            Area between the curves, which is the difference of their AUCs if they do not cross;
            or the greatest difference of true positive rates at one false positive rate.

        Returns
        -------
        float
            From 0 to 1.

        References
        ----------
        .. [1] Clémençon and Vayatis, "Approximation of the optimal ROC curve and a tree-based
           ranking algorithm", ALT 2008, sec. 2.3. :doi:`10.1007/978-3-540-87987-9_7`
        """
        return self._curve.distance(other._curve, norm)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        plot_chance_level: bool = False,
        **curve_kwargs: Any,
    ) -> Axes:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; ``None`` makes a new figure.
        name : str, default=None
            Name for the legend, which shows the AUC as well.
        plot_chance_level : bool, default=False
            Whether to draw the diagonal.
        **curve_kwargs : dict
            Passed to :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        try:
            import matplotlib.pyplot as plt
        except ImportError as err:
            raise ImportError(
                "RocCurve.plot needs matplotlib: run `pip install 'aucrank[plot]'`"
            ) from err
        if ax is None:
            ax = plt.subplots()[1]
        area = f"AUC = {self.auc:.2f}"
        label = area if name is None else f"{name} ({area})"
        ax.plot(self.fpr, self.tpr, **{"label": label, **curve_kwargs})
        if plot_chance_level:
            ax.plot([0, 1], [0, 1], "k--", label="Chance level (AUC = 0.5)")
        ax.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.legend(loc="lower right")
        return ax


def _at(
    curve: Callable[[NDArray[np.float64]], NDArray[np.float64]], rates: ArrayLike
) -> NDArray[np.float64]:
    """Values of a curve at rates of any shape."""
    rates = np.asarray(rates, dtype=np.float64)
    return curve(np.ravel(rates)).reshape(rates.shape)


def _curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    any_labels: bool = True,
) -> _core.RocCurve:
    """Curve with every knot."""
    scores, distinct = _scores(y_score)
    curve = _of_two_classes(
        _core.RocCurve.from_scores, y_true, scores, sample_weight, any_labels=any_labels
    )
    if distinct is None:
        return curve
    thresholds = curve.thresholds().copy()
    thresholds[1:] = distinct[thresholds[1:].astype(np.intp)]
    return _core.RocCurve(thresholds, curve.false_positives(), curve.true_positives())


def _of_two_classes(
    statistic: Callable[..., _T | None],
    y_true: ArrayLike,
    scores: NDArray[Any],
    sample_weight: ArrayLike | None,
    *,
    any_labels: bool = True,
) -> _T:
    """Statistic of checked scores; the core reads labels 0 and 1 or -1 and 1 by itself."""
    labels = _vector(y_true, "y_true")
    weights = None if sample_weight is None else _weights(sample_weight)
    n_threads = 1 if labels.size < _core.ROC_PARALLEL_FROM else effective_n_threads(None)
    result = None
    if labels.dtype in _LABELS:
        try:
            result = statistic(labels, scores, weights, n_threads)
        except ValueError:
            _two_classes(labels)  # Says which class, if there is only one.
            raise
    if result is None:
        positive = _positive_rows(labels, any_labels)
        result = statistic(positive, scores, weights, n_threads)
        assert result is not None
    return result


def _vector(values: Any, name: str) -> NDArray[Any]:
    """Contiguous one-dimensional array in native byte order."""
    if type(values) is not np.ndarray:
        series = nw.from_native(values, series_only=True, pass_through=True)
        values = series.to_numpy() if isinstance(series, nw.Series) else np.asarray(values)
    array: NDArray[Any] = values
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(
            f"{name} should be a 1d array, got an array of shape {array.shape} instead."
        )
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _scores(y_score: ArrayLike) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Scores as float32 or float64; or their ranks, and the distinct scores in order."""
    array = _vector(y_score, "y_score")
    if array.dtype in _FLOATS:
        return array, None
    if array.dtype == np.float16:
        return array.astype(np.float32), None
    array = _numbers(array, "y_score")
    floats = array.astype(np.float64)
    # Whole numbers beyond 2^53 and long doubles may tie as float64 without being equal.
    if array.dtype.itemsize < 8 or array.dtype == np.float64 or np.all(floats == array):
        wide = array.dtype.kind in "iu" and array.dtype.itemsize == 8
        if not (wide and floats.size and np.max(np.abs(floats)) >= 2.0**53):
            return floats, None
    if np.isnan(floats).any():
        return floats, None
    distinct, ranks = np.unique(array, return_inverse=True)
    return ranks.astype(np.float64), distinct.astype(np.float64)


def _weights(sample_weight: ArrayLike) -> NDArray[np.float64]:
    array = _vector(sample_weight, "sample_weight")
    return _numbers(array, "sample_weight").astype(np.float64, copy=False)


def _numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Read real numbers, NaN where a value is missing."""
    if array.dtype.kind == "O":
        try:
            values = [np.nan if _is_missing(value) else float(value) for value in array]
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold numbers") from None
        return np.array(values, dtype=np.float64)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, but holds {array.dtype}")
    return array


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor different.
        return True


def _classes(labels: NDArray[Any]) -> list[Any]:
    """Distinct labels, in order."""
    missing = np.zeros(labels.shape, dtype=bool)
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    elif labels.dtype.kind == "O":
        missing = np.fromiter(map(_is_missing, labels), dtype=bool, count=labels.size)
    if missing.any():
        raise ValueError(f"Input y_true contains NaN, first in row {missing.argmax()}.")
    if labels.dtype.kind != "O":
        return list(np.unique(labels).tolist())
    try:
        return sorted(set(labels.tolist()))
    except TypeError:
        raise ValueError("y_true must hold labels of one type that have an order") from None


def _positive_rows(labels: NDArray[Any], any_labels: bool) -> NDArray[np.bool_]:
    """Rows of the greater label; unless any will do, the labels must be 0 and 1 or -1 and 1."""
    if not any_labels:
        classes = _classes(labels)
        if not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
            found = ", ".join(map(repr, classes))
            raise ValueError(
                f"y_true takes value in {{{found}}} and pos_label is not specified: either make "
                "y_true take value in {0, 1} or {-1, 1} or pass pos_label explicitly."
            )
    return _equal_to(labels, _two_classes(labels)[1])


def _two_classes(labels: NDArray[Any]) -> list[Any]:
    """Distinct labels, which are two."""
    classes = _classes(labels)
    if labels.dtype.kind == "f" and not all(float(c).is_integer() for c in classes):
        target = "continuous"
    elif len(classes) > 2:
        target = "multiclass"
    elif len(classes) == 2:
        return classes
    else:
        found = f": {classes[0]!r}" if classes else ""
        raise ValueError(
            f"Only one class is present in y_true{found}. "
            "ROC AUC score is not defined in that case."
        )
    shown = ", ".join(map(repr, classes[:5])) + (", ..." if len(classes) > 5 else "")
    raise ValueError(
        "Only binary classification is supported. The type of the target is "
        f"{target}: y_true holds {shown}."
    )


def _equal_to(labels: NDArray[Any], label: Any) -> NDArray[np.bool_]:
    """Which rows have the label."""
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        _classes(labels)
    positive = np.asarray(labels == label)
    if positive.shape != labels.shape or not positive.any():
        raise ValueError(
            f"pos_label={label!r} is not a valid label. It should be one of {_classes(labels)}"
        )
    return positive.astype(np.bool_, copy=False)
