"""Plots of ROC curves, in the form of scikit-learn's displays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from aucrank import _core
from aucrank._base.scoring import SCORING_METHODS, scoring_method
from aucrank._data.labels import equal_to, match_labels
from aucrank._data.vectors import vector
from aucrank._plots.pyplot import import_pyplot
from aucrank._utils.params import check_choice
from aucrank.metrics._band import roc_band
from aucrank.metrics._core_curve import core_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import FillBetweenPolyCollection
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


class Band(Protocol):
    """Intervals of true positive rates at some false positive rates."""

    @property
    def fpr(self) -> ArrayLike: ...
    @property
    def low(self) -> ArrayLike: ...
    @property
    def high(self) -> ArrayLike: ...


@dataclass(frozen=True, eq=False)
class RocCurveDisplay:
    """ROC curve as drawn, with its artists for further changes.

    Made by :meth:`from_estimator`, by :meth:`from_predictions` and by :meth:`RocCurve.plot`.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes drawn on.
    figure_ : matplotlib.figure.Figure or SubFigure
        The figure of the axes.
    line_ : matplotlib.lines.Line2D
        The curve.
    hull_line_ : matplotlib.lines.Line2D or None
        The concave hull, if requested.
    band_ : matplotlib.collections.FillBetweenPolyCollection or None
        The interval band, if there is one.
    chance_level_ : matplotlib.lines.Line2D or None
        The diagonal, if requested.
    fpr : ndarray of shape (n_knots,)
        False positive rates of the curve.
    tpr : ndarray of shape (n_knots,)
        True positive rates of the curve.
    roc_auc : float
        Area under the curve.
    name : str or None
        Name in the legend.

    See Also
    --------
    RocCurve : The curve itself.
    roc_band : Confidence bands.

    Examples
    --------
    >>> from aucrank.metrics import RocCurveDisplay
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> display = RocCurveDisplay.from_predictions(
    ...     y_true, y_score, name="model", band="simultaneous", plot_chance_level=True
    ... )
    >>> display.roc_auc, display.line_.get_label()
    (0.75, 'model (AUC = 0.75)')
    """

    ax_: Axes
    figure_: Figure | SubFigure
    line_: Line2D
    hull_line_: Line2D | None
    band_: FillBetweenPolyCollection | None
    chance_level_: Line2D | None
    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    roc_auc: float
    name: str | None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        response_method: Literal["auto", "decision_function", "predict_proba"] = "auto",
        pos_label: float | bool | str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        plot_chance_level: bool = False,
        plot_hull: bool = False,
        band: Literal["pointwise", "simultaneous"] | Band | None = None,
        confidence: float = 0.95,
        random_state: int | RandomState | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> RocCurveDisplay:
        """Draw the curve of the scores that a fitted estimator gives to rows.

        Parameters
        ----------
        estimator : estimator
            Fitted to two classes; of this package, of scikit-learn or a pipeline.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows, preferably not those of the fit.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a row of weight k counts as k rows, one of weight 0 as none.
        response_method : {"auto", "decision_function", "predict_proba"}, default="auto"
            Method that scores rows; "auto" takes the first that there is.
        pos_label : int, float, bool or str, default=None
            Label of the positive class; ``None`` means the second of the estimator's classes.
        name : str, default=None
            Name for the legend, which shows the AUC as well; ``None`` takes the estimator's class.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; ``None`` makes a new figure.
        plot_chance_level : bool, default=False
            Whether to draw the diagonal.
        plot_hull : bool, default=False
            Whether to draw the concave hull.
        band : {"pointwise", "simultaneous"} or object with fpr, low and high, default=None
            Interval of true positive rates to shade: that of :func:`roc_band` by this method, or
            one that is computed already.
        confidence : float, default=0.95
            Level of the band, in (0, 1).
        random_state : int, RandomState instance or None, default=None
            Seed of the bootstrap of a pointwise band.
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
        NotFittedError
            If the estimator is not fitted.
        TypeError
            If it has no such method.
        ValueError
            As for :func:`roc_auc_score`; if it was not fitted to two classes, or ``pos_label`` is
            none of them.

        See Also
        --------
        from_predictions : The same of scores that are there.

        Notes
        -----
        Unlike in scikit-learn, "auto" prefers ``decision_function``, whose AUC is the ``score`` of
        the rankers; probabilities may have ties that scores have not.

        Examples
        --------
        >>> from aucrank import TreeRank
        >>> from aucrank.datasets import load_breast_cancer
        >>> from aucrank.metrics import RocCurveDisplay
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> tree = TreeRank(random_state=0).fit(X[::2], y[::2])
        >>> display = RocCurveDisplay.from_estimator(tree, X[1::2], y[1::2])
        >>> display.roc_auc == tree.score(X[1::2], y[1::2])
        True
        """
        check_is_fitted(estimator)
        positive, scores = _labels_and_scores(estimator, X, y, response_method, pos_label)
        return cls.from_predictions(
            positive,
            scores,
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            plot_chance_level=plot_chance_level,
            plot_hull=plot_hull,
            band=band,
            confidence=confidence,
            random_state=random_state,
            curve_kwargs=curve_kwargs,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: float | bool | str | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        plot_chance_level: bool = False,
        plot_hull: bool = False,
        band: Literal["pointwise", "simultaneous"] | Band | None = None,
        confidence: float = 0.95,
        random_state: int | RandomState | None = None,
        curve_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> RocCurveDisplay:
        """Draw the curve of scores against labels.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels of two classes.
        y_score : array-like of shape (n_samples,)
            Scores; higher is more positive.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a row of weight k counts as k rows, one of weight 0 as none.
        pos_label : int, float, bool or str, default=None
            Label of the positive class, every other label being negative; ``None`` means the
            greater of two labels.
        name : str, default=None
            Name for the legend, which shows the AUC as well.
        ax : matplotlib.axes.Axes, default=None
            Where to draw; ``None`` makes a new figure.
        plot_chance_level : bool, default=False
            Whether to draw the diagonal.
        plot_hull : bool, default=False
            Whether to draw the concave hull.
        band : {"pointwise", "simultaneous"} or object with fpr, low and high, default=None
            Interval of true positive rates to shade: that of :func:`roc_band` by this method, or
            one that is computed already.
        confidence : float, default=0.95
            Level of the band, in (0, 1).
        random_state : int, RandomState instance or None, default=None
            Seed of the bootstrap of a pointwise band.
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
        ValueError
            As for :func:`roc_auc_score` and :func:`roc_band`.

        See Also
        --------
        from_estimator : The same of the scores of an estimator.

        Examples
        --------
        >>> from aucrank.metrics import RocCurveDisplay
        >>> display = RocCurveDisplay.from_predictions(["no", "no", "yes"], [1, 2, 2], name="one")
        >>> display.line_.get_label()
        'one (AUC = 0.75)'
        """
        # Before the bootstrap, which takes longer.
        import_pyplot("RocCurveDisplay")
        labels: ArrayLike = y_true
        if pos_label is not None:
            labels = equal_to(vector(y_true, "y_true"), pos_label)
        curve = core_curve(labels, y_score, sample_weight)
        if isinstance(band, str):
            band = roc_band(
                labels,
                y_score,
                sample_weight=sample_weight,
                confidence=confidence,
                method=band,
                random_state=random_state,
            )
        return draw(
            curve,
            ax,
            name=name,
            plot_chance_level=plot_chance_level,
            plot_hull=plot_hull,
            band=band,
            curve_kwargs={**(curve_kwargs or {}), **kwargs},
        )


def draw(
    curve: _core.RocCurve,
    ax: Axes | None,
    *,
    name: str | None,
    plot_chance_level: bool,
    plot_hull: bool,
    band: Band | None,
    curve_kwargs: dict[str, Any],
) -> RocCurveDisplay:
    """Draw a curve; the band lies behind it and has its colour."""
    plt = import_pyplot("RocCurve.plot")
    if ax is None:
        ax = plt.subplots()[1]
    fpr, tpr, auc = curve.fpr(), curve.tpr(), curve.auc()
    (line,) = ax.plot(fpr, tpr, **{"label": _label(name, auc), **curve_kwargs})
    filled = hull_line = chance = None
    if band is not None:
        filled = ax.fill_between(
            band.fpr, band.low, band.high,
            color=line.get_color(), alpha=0.2, linewidth=0, label=_band_label(band),
        )  # fmt: skip
    if plot_hull:
        hull = curve.hull()
        (hull_line,) = ax.plot(
            hull.fpr(), hull.tpr(),
            color=line.get_color(), linestyle=":", label=_label("Concave hull", hull.auc()),
        )  # fmt: skip
    if plot_chance_level:
        (chance,) = ax.plot([0, 1], [0, 1], "k--", label="Chance level (AUC = 0.5)")
    ax.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.legend(loc="lower right")
    return RocCurveDisplay(
        ax, ax.figure, line, hull_line, filled, chance, fpr=fpr, tpr=tpr, roc_auc=auc, name=name
    )


def _label(name: str | None, auc: float) -> str:
    area = f"AUC = {auc:.2f}"
    return area if name is None else f"{name} ({area})"


def _band_label(band: Band) -> str:
    """Name a band by its own attributes."""
    confidence = getattr(band, "confidence", None)
    if confidence is not None:
        return f"{100 * confidence:g} % confidence band"
    return "± 1 standard deviation" if hasattr(band, "tpr_std") else "Band"


def _labels_and_scores(
    estimator: Any, X: Any, y: ArrayLike, response_method: str, pos_label: Any
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which rows are positive, and their scores, higher being more positive."""
    check_choice(response_method, "response_method", ("auto", *SCORING_METHODS))
    name = type(estimator).__name__
    method = scoring_method(estimator) if response_method == "auto" else response_method
    if method is None or not hasattr(estimator, method):
        raise TypeError(f"{name} has no {method or ' or '.join(SCORING_METHODS)}()")
    classes = np.asarray(getattr(estimator, "classes_", ()))
    if classes.shape != (2,):
        raise ValueError(
            f"{name} must have been fitted to two classes, but its classes_ are {classes.tolist()}"
        )
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes.tolist():
        raise ValueError(
            f"pos_label={pos_label!r} is not a valid label. It should be one of {classes.tolist()}"
        )
    is_second = bool(classes[1] == positive)
    scores = np.asarray(getattr(estimator, method)(X))
    if method == "predict_proba":
        scores = scores[:, int(is_second)]
    elif not is_second:
        scores = -scores
    labels = match_labels(y, classes)
    return labels == is_second, np.ascontiguousarray(scores, dtype=np.float64)
