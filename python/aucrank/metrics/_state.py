"""ROC statistics of rows that arrive in batches."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from numbers import Integral
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_scalar

from aucrank import _core
from aucrank._data.labels import refuse_missing
from aucrank._data.scores import to_scores
from aucrank._data.table import Table
from aucrank._data.vectors import vector
from aucrank._data.weights import to_weights
from aucrank._utils.threads import effective_n_threads
from aucrank.metrics._average_precision import (
    AveragePrecision,
    precision_of_counts,
    precision_of_rows,
)
from aucrank.metrics._calibration import CalibrationCurve, calibration_curve
from aucrank.metrics._curve import RocCurve, at_rates
from aucrank.metrics._decision import DecisionCurve, decision_curve
from aucrank.metrics._inference import AucInterval, check_confidence, check_method, interval_of
from aucrank.metrics._partial import Bands
from aucrank.metrics._precision_recall import precision_recall_of
from aucrank.metrics._units import Units
from aucrank.metrics._weighting import Weighting, are_counts, scaled

# Weights whose means differ by less are equal up to rounding.
_EQUAL = 1e-12


class RocState:
    """AUC, ROC curve and confidence interval of rows that arrive in batches.

    Batches are added with :meth:`update`, states of other parts of the data with :meth:`merge` or
    ``+``. What is kept is a table of the distinct scores with the number of rows of each class, so
    that the results are those of one call on all rows, bit for bit, whatever the batches and their
    order.

    Parameters
    ----------
    max_size : int, default=None
        If given, the maximum number of entries of the table, at least 2: neighbouring scores are
        put into one cell and count as ties. :meth:`auc_error_bound` bounds the resulting error.
    weight_unit : float, default=None
        ``None`` takes weights unrounded. A power of two from 2**-52 to 1 rounds them to its nearest
        multiple, which bounds the memory of a sum; with 1 they must be whole numbers. A class may
        then weigh 2**53 units in total.
    pos_label : int, float, bool or str, default=None
        Label of the positive class; every other label is negative. ``None`` means that labels are 0
        and 1, or -1 and 1. A batch may hold only one class, so it cannot be inferred from the
        batch.
    spill_dir : path-like, default=None
        If given, a folder for entries beyond ``max_bytes``; the files are deleted with the state.
        All statistics stay exact.
    max_bytes : int, default=2**30
        With a ``spill_dir``: bytes of memory that the state may take, at least 2**20.

    See Also
    --------
    roc_auc_score : The AUC of rows in memory.
    RocCurve : What :meth:`curve` returns.

    Notes
    -----
    Rows are collected and sorted by the million (by 16 million if scores have few ties, from
    131,072 on with a ``max_size``), and kept as sorted runs of geometric sizes. A row is moved
    O(log n) times, so the time of an update depends on its own rows and not on all before it. A row
    not yet sorted takes 9 bytes, 16 with a weight; an entry of the table takes 24, and 64 once
    there are weights or a ``max_size``; merging runs temporarily doubles this. Every statistic goes
    over the whole table.

    Sums of weights are integers of as many bits as needed, so only results are rounded. Whole
    weights with a sum up to 2**53 are counts. With others an entry takes 112 bytes, 208 where the
    lowest digit of a weight is more than some 30 decades below their sum, and 1648 where it is more
    than 70.

    A cell of a bounded table holds the scores whose floating-point numbers agree in their leading
    bits, so that cells of any two states are nested. Which cells are joined depends on the rows
    seen so far: the results then depend on the batches and their order, within the bound. Every
    knot of the curve lies on the exact curve.

    With a ``spill_dir``, sorted runs are written to files once they take too much memory. With a
    billion distinct scores, each takes some six bytes there, less than the score itself. The first
    statistic merges the files into one, which needs disk space for both; each statistic then takes
    one to three passes over it. Only :meth:`curve` returns a knot for every score, unless given a
    number of knots. A state with scores in files can be merged, but not serialised or pickled. The
    files have checksums and are readable only by their owner. If one cannot be written while rows
    are added, some of these are lost: that call and each later one raise the OSError.

    Examples
    --------
    >>> from aucrank.metrics import RocState
    >>> state = RocState()
    >>> state.update([0, 0], [0.1, 0.4])
    RocState(n_neg=2, n_pos=0)
    >>> other = RocState().update([1, 1], [0.35, 0.8])
    >>> (state + other).auc()
    0.75
    >>> RocState.from_bytes((state + other).to_bytes()).curve()
    RocCurve(n_knots=5, auc=0.75)
    """

    def __init__(
        self,
        *,
        max_size: int | None = None,
        weight_unit: float | None = None,
        pos_label: float | bool | str | None = None,
        spill_dir: str | PathLike[str] | None = None,
        max_bytes: int = 2**30,
    ) -> None:
        check_scalar(max_bytes, "max_bytes", Integral, min_val=2**20)
        if max_size is not None and max_size < 2:
            raise ValueError(f"max_size is {max_size}, but must be at least 2")
        unit = None if weight_unit is None else float(weight_unit)
        self._state = _core.RocState(max_size, unit, spill_dir, max_bytes)
        self._pos_label = pos_label

    def __repr__(self) -> str:
        try:
            return f"{type(self).__name__}(n_neg={self.n_neg}, n_pos={self.n_pos})"
        except OSError:
            return f"<{type(self).__name__} that has lost rows>"

    @property
    def n_neg(self) -> int:
        """Number of negative rows of weight above 0."""
        return self._state.n_neg()

    @property
    def n_pos(self) -> int:
        """Number of positive rows of weight above 0."""
        return self._state.n_pos()

    @property
    def max_size(self) -> int | None:
        """Maximum number of entries, if there is one."""
        return self._state.max_size()

    @property
    def weight_unit(self) -> float | None:
        """Unit that weights are rounded to, if any."""
        return self._state.weight_unit()

    @property
    def size(self) -> int:
        """Number of entries of the table: distinct scores, or cells."""
        return self._state.size(effective_n_threads(None))

    def update(
        self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> RocState:
        """Add rows.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels; either class may be absent.
        y_score : array-like of shape (n_samples,)
            Scores; higher is more positive.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights: a row of weight k counts as k rows, one of weight 0 as none.

        Returns
        -------
        RocState
            The state itself.

        Raises
        ------
        OSError
            If entries beyond ``max_bytes`` cannot be written to ``spill_dir``.
        ValueError
            If a label is missing or unknown, a score is NaN, lengths differ, or a weight is
            negative, not finite or, at a ``weight_unit`` of 1, not a whole number. The state is
            then unchanged.
        """
        scores, distinct = to_scores(y_score)
        if distinct is not None:
            raise ValueError("y_score holds numbers that float64 cannot distinguish")
        positive = self._positive(vector(y_true, "y_true"))
        weights = None if sample_weight is None else to_weights(sample_weight)
        if weights is not None:
            shares, unit = scaled(weights)
            if float(shares.sum()) > sys.float_info.max / unit:
                raise ValueError(
                    "sample_weight adds up to more than the greatest number, 1.8e308: divide all"
                    " weights"
                )
        self._state.update(positive, scores, weights, effective_n_threads(None))
        return self

    def update_counts(self, y_true: ArrayLike, y_score: ArrayLike, counts: ArrayLike) -> RocState:
        """Add counted rows, such as those that a database groups by score and label.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels; either class may be absent.
        y_score : array-like of shape (n_samples,)
            Scores; higher is more positive.
        counts : array-like of shape (n_samples,)
            Number of rows that each entry represents, unlike a weight, which belongs to one row.

        Returns
        -------
        RocState
            The state itself, equal to that of all the rows, bit for bit.

        Raises
        ------
        OSError
            If entries beyond ``max_bytes`` cannot be written to ``spill_dir``.
        ValueError
            If a label is missing or unknown, a score is NaN, lengths differ, or a count is not a
            whole number or negative. The state is then unchanged.

        Examples
        --------
        >>> from aucrank.metrics import RocState
        >>> RocState().update_counts([0, 0, 1], [0.1, 0.4, 0.4], [20, 10, 5])
        RocState(n_neg=30, n_pos=5)
        """
        scores, distinct = to_scores(y_score)
        if distinct is not None:
            raise ValueError("y_score holds numbers that float64 cannot distinguish")
        positive = self._positive(vector(y_true, "y_true"))
        given = np.asarray(counts)
        if given.dtype.kind not in "iu":
            raise ValueError(f"counts must be whole numbers, got {given.dtype}")
        if given.size and given.min() < 0:
            raise ValueError(f"counts must not be negative, got {given.min()}")
        counted = np.require(given, dtype=np.uint64, requirements="C")
        self._state.update_counts(positive, scores.astype(np.float64), counted)
        return self

    def merge(self, other: RocState) -> RocState:
        """Add the rows of another state, which is left unchanged.

        Parameters
        ----------
        other : RocState
            With the same ``pos_label``; the smaller ``max_size`` holds. If one of them has no
            ``weight_unit``, the sum has none.

        Returns
        -------
        RocState
            The state itself.

        Raises
        ------
        ValueError
            If the units or the positive labels differ.
        """
        if self._pos_label != other._pos_label:
            raise ValueError(
                "states to merge must have one pos_label, but have "
                f"{self._pos_label!r} and {other._pos_label!r}"
            )
        self._state.merge(other._state, effective_n_threads(None))
        return self

    def __add__(self, other: object) -> RocState:
        if not isinstance(other, RocState):
            return NotImplemented
        return self._twin(self._state.copy()).merge(other)

    def auc(self) -> float:
        """Area under the ROC curve of all rows.

        Returns
        -------
        float
            Equal to the last bit to :func:`roc_auc_score` of all rows, unless there is a
            ``max_size``.

        Raises
        ------
        ValueError
            If a class is absent.
        """
        return self._state.auc(effective_n_threads(None))

    def auc_error_bound(self) -> float:
        """Upper bound of the difference of :meth:`auc` from the AUC of all rows.

        Two rows of different classes in one cell count one half, where the order of their scores
        would count 0 or 1. The bound is half the share of these pairs.

        Returns
        -------
        float
            0 without a ``max_size``.

        Raises
        ------
        ValueError
            If a class is absent.
        """
        return self._state.auc_error_bound(effective_n_threads(None))

    def curve(self, *, max_knots: int | None = None) -> RocCurve:
        """ROC curve of all rows.

        Parameters
        ----------
        max_knots : int, default=None
            ``None`` gives a knot for each distinct score. A number, at least 8, limits them: they
            are evenly spaced along the curve, and include the one with the greatest difference of
            the true and the false positive rate, the Kolmogorov-Smirnov statistic.

        Returns
        -------
        RocCurve
            Equal to that of :meth:`RocCurve.from_scores`; with ``max_knots`` or a ``max_size`` the
            knots are some of its knots, and the area under lines between them is not that of all
            rows, which is :meth:`auc`.

        Raises
        ------
        ValueError
            If a class is absent, or ``max_knots`` is below 8.
        """
        n_threads = effective_n_threads(None)
        if max_knots is None:
            return RocCurve(self._state.curve(n_threads))
        check_scalar(max_knots, "max_knots", Integral, min_val=8)
        return RocCurve(self._state.knots(int(max_knots), n_threads))

    def tpr_at(self, fpr: ArrayLike) -> NDArray[np.float64]:
        """Highest true positive rate at a false positive rate, as :meth:`RocCurve.tpr_at`.

        Parameters
        ----------
        fpr : float or array-like of any shape
            False positive rates from 0 to 1.

        Returns
        -------
        ndarray
            Rates of the shape of ``fpr``.
        """
        n_threads = effective_n_threads(None)
        return at_rates(lambda rates: self._state.tpr_at(rates, n_threads), fpr)

    def fpr_at(self, tpr: ArrayLike) -> NDArray[np.float64]:
        """Lowest false positive rate that reaches a true positive rate.

        As :meth:`RocCurve.fpr_at`.

        Parameters
        ----------
        tpr : float or array-like of any shape
            True positive rates from 0 to 1.

        Returns
        -------
        ndarray
            Rates of the shape of ``tpr``.
        """
        n_threads = effective_n_threads(None)
        return at_rates(lambda rates: self._state.fpr_at(rates, n_threads), tpr)

    def partial_auc(
        self,
        *,
        fpr: tuple[float, float] = (0, 1),
        tpr: tuple[float, float] = (0, 1),
        standardize: bool = False,
    ) -> float:
        """Area under the part of the curve that lies in a band of rates, or in two.

        Parameters
        ----------
        fpr, tpr : tuple of (float, float), default=(0, 1)
            Bands of false and of true positive rates.
        standardize : bool, default=False
            Whether to map the area to 0.5 for uninformative scores and 1 for perfect ones.

        Returns
        -------
        float
            Equal to the last bit to :func:`partial_auc` of all rows, unless there is a
            ``max_size``.

        Raises
        ------
        ValueError
            As for :func:`partial_auc`.
        """
        bands = Bands.of(fpr, tpr, standardize)
        n_threads = effective_n_threads(None)
        return self._state.partial_auc(bands.fpr, bands.tpr, bands.standardize, n_threads)

    def precision_recall_curve(
        self, *, drop_intermediate: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Precision and recall at each threshold, as :func:`precision_recall_curve`.

        Parameters
        ----------
        drop_intermediate : bool, default=False
            Whether to leave out thresholds at which the recall is the same as at both neighbours.

        Returns
        -------
        precision, recall : ndarray of shape (n_thresholds + 1,)
            Shares; the last values are 1 and 0, without a threshold.
        thresholds : ndarray of shape (n_thresholds,)
            Rising distinct scores.

        Raises
        ------
        ValueError
            If a class is absent.
        """
        return precision_recall_of(
            self._state.curve(effective_n_threads(None)), bool(drop_intermediate)
        )

    def average_precision(
        self, *, weights: Weighting = "sampling", confidence: float = 0.95
    ) -> AveragePrecision:
        """Average precision of all rows, as :func:`average_precision` by ``"logit"``.

        Parameters
        ----------
        weights : {"sampling", "frequency"}, default="sampling"
            Meaning of a weight: how many rows of the population the row represents, or a whole
            number of identical rows.
        confidence : float, default=0.95
            Level of the interval, in (0, 1).

        Returns
        -------
        AveragePrecision
            Of the rows; with a ``max_size``, of scores rounded to their cells.

        Raises
        ------
        ValueError
            If a class is absent, ``confidence`` is out of range, or a frequency is not whole.

        Examples
        --------
        >>> from aucrank.metrics import RocState
        >>> state = RocState().update([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> round(state.average_precision().value, 3)
        0.833
        """
        level = check_confidence(confidence)
        is_counted = are_counts(weights)
        scores, positive, weight = self._table()
        units = Units.of_rows(positive, weight, None)
        n_pos = self._effective(is_counted)[0]
        value = precision_of_counts(scores, units)
        return precision_of_rows(value, units.mean(positive), n_pos, level)

    def decision_curve(
        self,
        *,
        thresholds: ArrayLike | None = None,
        prevalence: float | None = None,
        weights: Weighting = "sampling",
        confidence: float = 0.95,
    ) -> DecisionCurve:
        """Net benefit of all rows, whose scores are probabilities, as :func:`decision_curve`.

        Parameters
        ----------
        thresholds : array-like of shape (n_thresholds,), default=None
            Probabilities in (0, 1) from which rows are treated; ``None`` takes 0.01 to 0.99.
        prevalence : float, default=None
            Share of positives, in (0, 1), of the population that the decisions are for; ``None``
            takes that of the rows.
        weights : {"sampling", "frequency"}, default="sampling"
            Meaning of a weight: how many rows of the population the row represents, or a whole
            number of identical rows.
        confidence : float, default=0.95
            Level of the intervals, in (0, 1).

        Returns
        -------
        DecisionCurve
            Of one model, named ``"model"``; with a ``max_size``, of probabilities rounded to their
            cells. Where sampling weights differ within a class, the intervals and p-values are NaN,
            since the table holds only the sum of the weights at each score.

        Raises
        ------
        ValueError
            As for :func:`decision_curve`, and if a class is absent.

        Examples
        --------
        >>> from aucrank.metrics import RocState
        >>> state = RocState().update([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> state.decision_curve(thresholds=[0.2]).table["net_benefit"].tolist()
        [0.4375, 0.375]
        """
        scores, positive, rows, scale = self._probabilities(are_counts(weights))
        found = decision_curve(
            positive,
            scores,
            thresholds=thresholds,
            prevalence=prevalence,
            sample_weight=rows,
            weights="sampling" if scale is None else "frequency",
            confidence=confidence,
        )
        if scale is not None:
            return found
        return replace(
            found,
            table=_without(found.table, "low", "high"),
            differences=_without(found.differences, "low", "high", "p_value"),
        )

    def calibration_curve(
        self, *, weights: Weighting = "sampling", confidence: float = 0.95
    ) -> CalibrationCurve:
        """Calibration of all rows, whose scores are probabilities, as :func:`calibration_curve`.

        Parameters
        ----------
        weights : {"sampling", "frequency"}, default="sampling"
            Meaning of a weight: how many rows of the population the row represents, or a whole
            number of identical rows.
        confidence : float, default=0.95
            Level of the intervals, in (0, 1).

        Returns
        -------
        CalibrationCurve
            Of the rows; with a ``max_size``, of probabilities rounded to their cells. Intervals are
            NaN where sampling weights differ, as for :meth:`decision_curve`.

        Raises
        ------
        ValueError
            As for :func:`calibration_curve`, and if a class is absent.

        Examples
        --------
        >>> from aucrank.metrics import RocState
        >>> state = RocState().update([0, 1, 0, 1, 0, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
        >>> round(state.calibration_curve().brier, 3)
        0.257
        """
        scores, positive, rows, scale = self._probabilities(are_counts(weights))
        found = calibration_curve(
            positive,
            scores,
            sample_weight=rows,
            weights="sampling" if scale is None else "frequency",
            confidence=confidence,
        )
        if scale is not None:
            size = found.isotonic["size"] * scale
            return replace(found, isotonic=Table(dict(found.isotonic) | {"size": size}))
        return replace(
            found,
            measures=_without(found.measures, "low", "high"),
            curve=_without(found.curve, "low", "high"),
        )

    def _table(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
        """Distinct scores of each class, their indices, and the weight of their rows."""
        curve = self._state.curve(effective_n_threads(None))
        scores = curve.thresholds()[1:]
        # A class without rows at a score adds exactly 0 to its sum.
        of_class = [np.diff(above) for above in curve.weights_above()]
        positive = np.repeat([False, True], scores.size)
        weight = np.concatenate(of_class)
        kept = weight > 0
        return np.tile(scores, 2)[kept], positive[kept], weight[kept]

    def _effective(self, is_counted: bool) -> tuple[float, float]:
        """Effective numbers of positive and of negative rows."""
        n_threads = effective_n_threads(None)
        if is_counted:
            negative, positive = self._state.frequencies(n_threads)
            return positive, negative
        positive, negative = self._state.effective_rows(n_threads)
        return positive, negative

    def _probabilities(
        self, is_counted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64], float | None]:
        """Distinct probabilities of each class, their indices, their rows, and the weight of one.

        Where sampling weights differ there is no single weight, and they stand for the rows.
        """
        scores, positive, weight = self._table()
        broken = ~((scores >= 0) & (scores <= 1))
        if broken.any():
            score = scores[broken.argmax()]
            raise ValueError(f"a score of the rows is {score}, but must be a probability")
        if is_counted:
            self._effective(is_counted)  # Raises an error if a frequency is not whole.
            return scores, positive, weight, 1.0
        n_rows = np.array([self.n_pos, self.n_neg], dtype=np.float64)
        total = np.array([weight[positive].sum(), weight[~positive].sum()])
        if np.array_equal(total, n_rows) and np.array_equal(self._effective(False), n_rows):
            return scores, positive, weight, 1.0
        scale, other = (total / n_rows).tolist()
        if not (
            math.isclose(scale, other, rel_tol=_EQUAL)
            and np.allclose(self._effective(False), n_rows, rtol=_EQUAL, atol=0)
        ):
            return scores, positive, weight, None
        return scores, positive, np.asarray(np.round(weight / scale), dtype=np.float64), scale

    def variance(self, *, weights: Weighting = "sampling") -> float:
        r"""Variance of the AUC by the method of DeLong, DeLong and Clarke-Pearson [1]_.

        Parameters
        ----------
        weights : {"sampling", "frequency"}, default="sampling"
            Meaning of a weight: how many rows of the population the row represents, or a whole
            number of identical rows.

        Returns
        -------
        float
            The variance; with a ``max_size``, that of the scores rounded to their cells.

        Raises
        ------
        ValueError
            If a class has fewer than two rows of weight above 0, or a frequency is not whole.

        Notes
        -----
        With the placement value :math:`V_i` of row i (the share of the other class that it is
        ordered correctly against, a tie counting one half), its weight :math:`w_i` and m rows in
        its class, a class contributes

        .. math:: \frac{m}{m - 1} \frac{\sum_i w_i^2 (V_i - AUC)^2}{(\sum_i w_i)^2},

        which is the usual variance if all weights are equal. A row of weight k is one observation
        here; with frequencies, it is k of them.

        References
        ----------
        .. [1] DeLong, DeLong and Clarke-Pearson, "Comparing the areas under two or more correlated
           receiver operating characteristic curves: a nonparametric approach", Biometrics 44(3),
           1988. :doi:`10.2307/2531595`
        """
        is_counted = are_counts(weights)
        variance, _ = self._spread(Bands(), is_counted)
        if variance is not None:
            return variance
        if is_counted:
            raise ValueError("the variance of the AUC needs two rows of each class")
        return self._state.variance(effective_n_threads(None))  # Names the class with one row.

    def _spread(self, bands: Bands, is_counted: bool) -> tuple[float | None, list[float]]:
        """Variance, unless a class has one row, and effective numbers of rows per class."""
        n_threads = effective_n_threads(None)
        positive, negative = self._effective(is_counted)
        variance: float | None
        if is_counted or not bands.is_whole:
            variance = self._state.partial_variance(bands.fpr, bands.tpr, is_counted, n_threads)
        else:
            one_row = min(self._state.n_pos(), self._state.n_neg()) < 2
            variance = None if one_row else self._state.variance(n_threads)
        return variance, [positive, negative]

    def interval(
        self,
        *,
        weights: Weighting = "sampling",
        fpr: tuple[float, float] = (0, 1),
        tpr: tuple[float, float] = (0, 1),
        standardize: bool = False,
        confidence: float = 0.95,
        method: Literal["logit", "delong"] = "logit",
    ) -> AucInterval:
        """Confidence interval of the area under the curve, or under a part of it.

        Parameters
        ----------
        weights : {"sampling", "frequency"}, default="sampling"
            Meaning of a weight: how many rows of the population the row represents, or a whole
            number of identical rows.
        fpr, tpr : tuple of (float, float), default=(0, 1)
            Bands of false and of true positive rates that bound the area.
        standardize : bool, default=False
            Whether to map the area to 0.5 for uninformative scores and 1 for perfect ones.
        confidence : float, default=0.95
            Level of the interval, in (0, 1).
        method : {"logit", "delong"}, default="logit"
            As for :func:`auc_interval`.

        Returns
        -------
        AucInterval
            As :func:`auc_interval` gives it for all rows at once, exact bounds and warnings
            included; with a ``max_size`` it is wider by :meth:`auc_error_bound` on both sides.

        Raises
        ------
        ValueError
            If a class is absent, a parameter is out of range, or a frequency is not whole.
        """
        check_confidence(confidence)
        check_method(method, ("logit", "delong"))
        bands = Bands.of(fpr, tpr, standardize)
        variance, effective = self._spread(bands, are_counts(weights))
        n_threads = effective_n_threads(None)

        def area_within(fpr: tuple[float, float], tpr: tuple[float, float]) -> float:
            return self._state.partial_auc(fpr, tpr, False, n_threads)

        area = self.auc() if bands.is_whole else area_within(bands.fpr, bands.tpr)
        interval = interval_of(
            area,
            variance,
            effective,
            confidence,
            logit=method == "logit",
            bands=bands,
            area_within=area_within,
        )
        if self.max_size is None:
            return interval
        # The error from two rows in one cell may fall entirely within the bands.
        bound = bands.slope * self.auc_error_bound()
        least, most = bands.scaled(0.0), bands.scaled(bands.greatest)
        return replace(
            interval, low=max(least, interval.low - bound), high=min(most, interval.high + bound)
        )

    def to_bytes(self) -> bytes:
        """Serialise the state, with a version and a checksum.

        Returns
        -------
        bytes
            Equal for the same rows in any batches and any order, unless there is a ``max_size``, or
            some batches have weights and some do not. ``pos_label``, ``spill_dir`` and
            ``max_bytes`` are not included.

        Raises
        ------
        ValueError
            If scores are in files.
        """
        return self._state.to_bytes(effective_n_threads(None))

    @classmethod
    def from_bytes(cls, data: bytes, *, pos_label: float | bool | str | None = None) -> RocState:
        """State from the output of :meth:`to_bytes`.

        Parameters
        ----------
        data : bytes
            What :meth:`to_bytes` returned.
        pos_label : int, float, bool or str, default=None
            As for the class.

        Returns
        -------
        RocState
            To which more rows can be added.

        Raises
        ------
        ValueError
            If the bytes are truncated, corrupted, of a later version, or not a state.
        """
        return cls(pos_label=pos_label)._twin(_core.RocState.from_bytes(bytes(data)))

    def __getstate__(self) -> tuple[bytes, Any]:
        return self.to_bytes(), self._pos_label

    def __setstate__(self, saved: tuple[bytes, Any]) -> None:
        data, self._pos_label = saved
        self._state = _core.RocState.from_bytes(data)

    def __copy__(self) -> RocState:
        return self._twin(self._state.copy())

    def __deepcopy__(self, memo: dict[int, Any]) -> RocState:
        return self._twin(self._state.copy())

    def _twin(self, state: _core.RocState) -> RocState:
        twin = type(self).__new__(type(self))
        twin._state, twin._pos_label = state, self._pos_label
        return twin

    def _positive(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Which rows are positive, in a batch that may lack a class."""
        if labels.dtype == np.bool_ and self._pos_label is None:
            return labels
        refuse_missing(labels)
        label = 1 if self._pos_label is None else self._pos_label
        positive = np.asarray(labels == label, dtype=np.bool_)
        if positive.shape != labels.shape:
            positive = np.zeros(labels.shape, dtype=np.bool_)
        if self._pos_label is None:
            known = [positive | np.asarray(labels == negative) for negative in (0, -1)]
            if not any(np.all(rows) for rows in known):
                row = int(np.argmin(known[0] | known[1]))
                raise ValueError(
                    "labels must be 0 and 1, or -1 and 1, unless RocState is given a pos_label; "
                    f"y_true holds {labels[row]!r} in row {row}"
                )
        return positive


def _without(table: Table, *columns: str) -> Table:
    """Return a table with some of its columns set to NaN."""
    nothing = {name: np.full(len(table[name]), math.nan) for name in columns}
    return Table({name: table[name] for name in table} | nothing)
