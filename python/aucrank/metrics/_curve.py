"""The ROC curve: its knots, its hull, its points, and distances between curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._data.labels import equal_to
from aucrank._data.scores import of_two_classes, to_scores, with_options
from aucrank._data.table import Table
from aucrank._data.vectors import vector
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._core_curve import core_curve, scores_of
from aucrank.metrics._display import Band, RocCurveDisplay, draw

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@suggests_keywords
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
        Falling scores, one for each distinct score; the first is infinity, at (0, 0).

    Raises
    ------
    ValueError
        If one class is absent, ``pos_label`` is missing or not a label, a score is NaN, lengths
        differ, or a weight is negative or not finite.

    See Also
    --------
    RocCurve.from_scores : The curve as an object, with its hull and its points.

    Notes
    -----
    Sums of weights are exact, and rates are rounded once. So with fractional weights, two steps are
    compared exactly, where scikit-learn compares rounded sums.

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
    labels = vector(y_true, "y_true")
    if pos_label is not None:
        labels = equal_to(labels, pos_label)
    scores, distinct = to_scores(y_score)
    statistic = with_options(_core.roc_curve, drop_intermediate)
    fpr, tpr, thresholds = of_two_classes(
        statistic, labels, scores, sample_weight, any_labels=False
    )
    return fpr, tpr, scores_of(thresholds, distinct)


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve:
    """ROC curve of scores: a knot for each distinct score, linear in between.

    Made by :meth:`from_scores`. The counts behind the rates are kept as whole numbers (of units of
    weight, one unit per class), so that the area and the slopes of the hull are exact.

    Attributes
    ----------
    fpr : ndarray of shape (n_knots,)
        False positive rates, rising from 0 to 1; read-only.
    tpr : ndarray of shape (n_knots,)
        True positive rates, rising from 0 to 1; read-only.
    thresholds : ndarray of shape (n_knots,)
        Lowest score that counts as positive, falling; infinity at (0, 0); read-only.
    auc : float
        Area under the curve.

    See Also
    --------
    roc_curve : Only the knots, as in scikit-learn.

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
    >>> curve.concave_auc
    0.875
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
        return cls(core_curve(y_true, y_score, sample_weight))

    @property
    def concave_auc(self) -> float:
        """Area under the concave hull: the AUC of the scores after the best monotone change."""
        return self._curve.hull().auc()

    def hull(self) -> RocCurve:
        """Upper concave hull: the least concave curve that is nowhere below this one.

        It is the curve of the scores after the best monotone change, ties included. Only corners
        are knots: a knot on the line between two others is left out.

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
        return at_rates(self._curve.tpr_at, fpr)

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
        return at_rates(self._curve.fpr_at, tpr)

    def coords(
        self,
        *,
        thresholds: ArrayLike | None = None,
        fpr: ArrayLike | None = None,
        tpr: ArrayLike | None = None,
    ) -> Table:
        """Table of classification figures at some thresholds, or at some rates.

        Parameters
        ----------
        thresholds : array-like of shape (n_points,), default=None
            Rows that score at least a threshold count as positive. ``None``, with no rates either,
            takes every knot.
        fpr : array-like of shape (n_points,), default=None
            False positive rates from 0 to 1; each at the highest point of the curve there.
        tpr : array-like of shape (n_points,), default=None
            True positive rates from 0 to 1; each at the leftmost point of the curve there.

        Returns
        -------
        Table
            One row for each point, in the columns ``threshold``; the rates ``fpr`` and
            ``tpr``; ``specificity`` and ``sensitivity``; ``precision``, the share of positives
            among the rows called positive, and ``npv``, that of negatives among the others, NaN
            where there are none; ``accuracy``; the likelihood ratios ``lr_positive``, TPR / FPR,
            and ``lr_negative``, (1 - TPR) / (1 - FPR), infinite or NaN where the denominator is 0;
            the weights of rows ``tp``, ``fp``, ``tn``, ``fn``; ``youden``, sensitivity plus
            specificity less 1; and ``closest_topleft``, the squared distance to the corner (0, 1).

        Raises
        ------
        ValueError
            If more than one of the three is given, a threshold is NaN, or a rate is out of range.

        Notes
        -----
        Between knots the curve is linear: its rates are those of breaking the tie at random. No
        threshold has these rates, and ``threshold`` is NaN.

        pROC puts thresholds half-way between scores, here they are scores; the rates are the same.
        Its ``youden`` is greater by 1.

        Examples
        --------
        >>> from aucrank.metrics import RocCurve
        >>> curve = RocCurve.from_scores([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> at = curve.coords(thresholds=[0.4, 0.3])
        >>> at["tp"], at["fp"]
        (array([1., 2.]), array([1., 1.]))
        >>> curve.coords(fpr=[0.5, 0.25])["threshold"]
        array([0.35,  nan])
        """
        given = [value for value in (thresholds, fpr, tpr) if value is not None]
        if len(given) > 1:
            raise ValueError("coords takes thresholds, fpr or tpr, not more than one of them")
        threshold: NDArray[np.float64]
        if fpr is not None:
            x = _points(fpr, "fpr")
            y = self.tpr_at(x)
            threshold = self._threshold_at(x, y)
        elif tpr is not None:
            y = _points(tpr, "tpr")
            x = self.fpr_at(y)
            threshold = self._threshold_at(x, y)
        else:
            threshold = self.thresholds if thresholds is None else _points(thresholds, "thresholds")
            if np.isnan(threshold).any():
                raise ValueError("thresholds holds NaN, which is not a threshold")
            knots = self.knot_at(threshold)
            x, y = self.fpr[knots], self.tpr[knots]
        negative, positive = self._curve.weights_above()
        n_neg, n_pos = negative[-1], positive[-1]
        if fpr is None and tpr is None:
            fp, tp = negative[knots], positive[knots]
        else:
            fp, tp = x * n_neg, y * n_pos
        tn, fn = n_neg - fp, n_pos - tp
        with np.errstate(invalid="ignore", divide="ignore"):
            precision, npv = tp / (tp + fp), tn / (tn + fn)
            lr_positive, lr_negative = y / x, (1 - y) / (1 - x)
        return Table(
            threshold=threshold,
            fpr=x,
            tpr=y,
            specificity=1 - x,
            sensitivity=y,
            precision=precision,
            npv=npv,
            accuracy=(tp + tn) / (n_pos + n_neg),
            lr_positive=lr_positive,
            lr_negative=lr_negative,
            tp=tp,
            fp=fp,
            tn=tn,
            fn=fn,
            youden=y - x,
            closest_topleft=x**2 + (1 - y) ** 2,
        )

    def knot_at(self, thresholds: ArrayLike) -> NDArray[np.intp]:
        """Knot that has the rates of each threshold.

        Parameters
        ----------
        thresholds : float or array-like of any shape
            Rows that score at least a threshold count as positive.

        Returns
        -------
        ndarray
            Indices into ``fpr``, ``tpr`` and ``thresholds``, of the shape of ``thresholds``.
        """
        # The last knot whose threshold is no lower; that at infinity comes first.
        values = np.asarray(thresholds, dtype=np.float64)
        knots = np.searchsorted(-self.thresholds, -values, side="right") - 1
        return np.maximum(knots, 0)

    def _threshold_at(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Threshold of the knot at each point; NaN between knots."""
        # Both rates rise along the knots, so that their sum identifies a knot.
        knots = np.minimum(np.searchsorted(self.fpr + self.tpr, x + y), self.fpr.size - 1)
        is_knot = (self.fpr[knots] == x) & (self.tpr[knots] == y)
        return np.where(is_knot, self.thresholds[knots], np.nan)

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
        plot_hull: bool = False,
        band: Band | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> RocCurveDisplay:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; ``None`` makes a new figure.
        name : str, default=None
            Name for the legend, which shows the AUC as well.
        plot_chance_level : bool, default=False
            Whether to draw the diagonal.
        plot_hull : bool, default=False
            Whether to draw the concave hull.
        band : object with fpr, low and high, default=None
            Interval of true positive rates to shade, such as that of :func:`average_roc`.
        curve_kwargs : dict, default=None
            Passed to :meth:`matplotlib.axes.Axes.plot` for the curve.
        **kwargs : dict
            The same, as arguments.

        Returns
        -------
        RocCurveDisplay
            With ``ax_``, ``figure_``, ``line_`` and what else was drawn.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return draw(
            self._curve,
            ax,
            name=name,
            plot_chance_level=plot_chance_level,
            plot_hull=plot_hull,
            band=band,
            curve_kwargs={**(curve_kwargs or {}), **kwargs},
        )


def _points(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """One-dimensional array of at least one number."""
    points = np.asarray(values, dtype=np.float64)
    if points.ndim != 1 or points.size == 0:
        raise ValueError(f"{name} must have shape (n_points,), got shape {points.shape}")
    return points


def at_rates(
    curve: Callable[[NDArray[np.float64]], NDArray[np.float64]], rates: ArrayLike
) -> NDArray[np.float64]:
    """Values of a curve at rates of any shape."""
    rates = np.asarray(rates, dtype=np.float64)
    return curve(np.ravel(rates)).reshape(rates.shape)
