"""Time-dependent AUC of scores for right-censored events."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.scores import to_scores
from aucrank._data.table import Table
from aucrank._data.vectors import numbers, vector
from aucrank._utils.keywords import suggests_keywords
from aucrank.metrics._clustered import Groups
from aucrank.metrics._curve import RocCurve
from aucrank.metrics._inference import check_confidence, normal_interval
from aucrank.metrics._units import Units


@dataclass(frozen=True, eq=False)
class SurvivalAuc:
    """AUC at several times, as :func:`survival_auc` returns it.

    Attributes
    ----------
    table : Table
        A row for each time: ``time``; ``auc`` with its ``standard_error`` and interval, ``low`` and
        ``high``; ``cases``, the weight of rows with the event by then; ``controls``, of those
        followed beyond; ``unknown``, of those censored before.
    confidence : float
        Level of the intervals.
    """

    table: Table
    confidence: float
    _rows: _Followed = field(repr=False)

    def curve(self, time: float) -> RocCurve:
        """Return the ROC curve at a time.

        Parameters
        ----------
        time : float
            Any time at which there are cases and controls.

        Returns
        -------
        RocCurve
            Cases are weighted by the inverse of the chance of not being censored before their
            event.

        Raises
        ------
        ValueError
            If there is no case or no control at that time.
        """
        rows = self._rows
        is_case, is_control = rows.cases(time), rows.controls(time)
        if not is_case.any() or not is_control.any():
            raise ValueError(f"at time {time:g} there is no case, or no control")
        kept = is_case | is_control
        weight = np.where(is_case, rows.case_weight, rows.weight)
        return RocCurve.from_scores(
            is_case[kept].astype(np.int8), rows.scores[kept], sample_weight=weight[kept]
        )


@suggests_keywords
def survival_auc(
    time: ArrayLike,
    event: ArrayLike,
    y_score: ArrayLike,
    times: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> SurvivalAuc:
    """AUC of scores at some times, for right-censored rows.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        Time of the event, or of censoring.
    event : array-like of bool, shape (n_samples,)
        Whether the event occurred.
    y_score : array-like of shape (n_samples,)
        Scores; higher means an earlier event.
    times : array-like of shape (n_times,)
        Times at which the AUC is computed.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; only their ratios matter for the interval.
    groups : array-like of shape (n_samples,), default=None
        Which rows come from the same source, such as a hospital: rows of a group may be dependent,
        groups are independent.
    confidence : float, default=0.95
        Level of the intervals, in (0, 1).

    Returns
    -------
    SurvivalAuc
        With ``table`` and ``curve``.

    Warns
    -----
    UndefinedMetricWarning
        If there is no case or no control at one of the times, so that the AUC is undefined.

    Raises
    ------
    ValueError
        If a time or a score is missing, events are other than false and true, or lengths differ;
        for bad weights; and for ``groups`` with a missing value, or only one group.

    See Also
    --------
    auc_interval : AUC where every outcome is known.

    Notes
    -----
    At time t, cases are rows with an event by then, controls those followed beyond it: the
    cumulative/dynamic AUC. Rows censored before t are neither; a case counts by 1 / G, with G the
    Kaplan-Meier estimate of not being censored before its event [1]_, which assumes that censoring
    is independent of score and risk. The interval is normal with the variance of the influence of
    each row on the AUC, including that through G [2]_.

    References
    ----------
    .. [1] Uno, Cai, Tian and Wei, "Evaluating prediction rules for t-year survivors with censored
       regression models", Journal of the American Statistical Association 102(478), 2007.
       :doi:`10.1198/016214507000000149`
    .. [2] Blanche, Dartigues and Jacqmin-Gadda, "Estimating and comparing time-dependent areas
       under receiver operating characteristic curves for censored event times with competing
       risks", Statistics in Medicine 32(30), 2013. :doi:`10.1002/sim.5958`

    Examples
    --------
    >>> import numpy as np
    >>> from aucrank.metrics import survival_auc
    >>> rng = np.random.default_rng(0)
    >>> risk = rng.normal(size=1000)
    >>> event_time, lost = rng.exponential(np.exp(-risk)), rng.exponential(2, size=1000)
    >>> time, event = np.minimum(event_time, lost), event_time <= lost
    >>> found = survival_auc(time, event, risk, times=[0.5, 1.0])
    >>> found.table["auc"].round(2)
    array([0.79, 0.79])
    """
    check_confidence(confidence)
    rows = _Followed.of(time, event, y_score, sample_weight, groups)
    wanted = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if wanted.ndim != 1 or wanted.size == 0 or np.isnan(wanted).any():
        raise ValueError("times must be one or more numbers")
    columns: dict[str, list[float]] = {
        name: []
        for name in ("time", "auc", "standard_error", "low", "high", "cases", "controls", "unknown")
    }
    for at in wanted.tolist():
        is_case, is_control = rows.cases(at), rows.controls(at)
        cases, controls = (float(rows.weight[own].sum()) for own in (is_case, is_control))
        auc = error = low = high = np.nan
        if cases > 0 and controls > 0:
            auc, error = rows.auc(is_case, is_control)
            low, high = normal_interval(auc, error, 1 - confidence)
        unknown = float(rows.weight.sum()) - cases - controls
        sizes = rows.units.given([cases, controls, unknown]).tolist()
        found = (at, auc, error, low, high, *sizes)
        for column, value in zip(columns.values(), found, strict=True):
            column.append(value)
    if np.isnan(columns["auc"]).any():
        place = int(np.isnan(columns["auc"]).argmax())
        warnings.warn(
            f"At time {columns['time'][place]:g} there is no case, or no control, and so no AUC.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    return SurvivalAuc(Table(columns), float(confidence), rows)


@dataclass(frozen=True, eq=False)
class _Followed:
    """Rows followed until an event or until censoring, in the order of time.

    Attributes
    ----------
    time, event, scores, weight : ndarray of shape (n,)
        Values of each row; at equal times, those with an event come first.
    units : Units
        The rows as they were drawn, in this order.
    case_weight : ndarray of float64, shape (n,)
        The weight divided by the chance of not being censored before.
    """

    time: NDArray[np.float64]
    event: NDArray[np.bool_]
    scores: NDArray[Any]
    weight: NDArray[np.float64]
    units: Units
    case_weight: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        time: ArrayLike,
        event: ArrayLike,
        y_score: ArrayLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
    ) -> _Followed:
        times = numbers(vector(time, "time"), "time").astype(np.float64)
        events = vector(event, "event")
        scores = to_scores(y_score)[0]
        for name, column in (("event", events), ("y_score", scores)):
            if len(column) != len(times):
                raise ValueError(f"{name} has {len(column)} entries, but time has {len(times)}")
        for name, column in (("time", times), ("y_score", scores)):
            if np.isnan(column).any():
                raise ValueError(f"{name} of row {int(np.isnan(column).argmax())} is missing")
        if not set(np.unique(events).tolist()) <= {0, 1}:
            raise ValueError("event must hold false and true, or 0 and 1")
        events = events.astype(np.bool_)
        if not events.any():
            raise ValueError("event is false for every row, so there is no case")
        units = Units.of_rows(events, sample_weight, groups)
        if not units.weight[events].any():
            raise ValueError("sample_weight is zero for every row with an event")
        order = np.lexsort((~events, times))
        units = units.take(order)
        times, events, scores = times[order], events[order], scores[order]
        weight = units.weight
        # Rows with an event at a time are no longer at risk of censoring at it.
        at_risk = weight[::-1].cumsum()[::-1]
        lost = np.where(events, 0.0, weight)
        starts = np.unique(times, return_index=True)[1]
        of_time = np.add.reduceat(lost, starts)
        n_before = np.add.reduceat(np.where(events, weight, 0.0), starts)
        there = at_risk[starts] - n_before
        kept = 1 - np.divide(of_time, there, where=there > 0, out=np.zeros_like(there))
        before = np.concatenate(([1.0], np.cumprod(kept)[:-1]))
        chance = before[np.searchsorted(times[starts], times)]
        case_weight = np.divide(weight, chance, where=chance > 0, out=np.zeros_like(weight))
        return cls(times, events, scores, weight, units, case_weight)

    def cases(self, at: float) -> NDArray[np.bool_]:
        """Return which rows have the event by a time."""
        return self.event & (self.time <= at) & (self.weight > 0)

    def controls(self, at: float) -> NDArray[np.bool_]:
        """Return which rows were followed beyond a time."""
        return (self.time > at) & (self.weight > 0)

    def auc(self, is_case: NDArray[np.bool_], is_control: NDArray[np.bool_]) -> tuple[float, float]:
        """Return the AUC of cases and controls, and its standard error."""
        kept = np.flatnonzero(is_case | is_control)
        weight = np.where(is_case, self.case_weight, self.weight)[kept]
        groups = Groups(is_case[kept], self.scores[kept], weight, np.empty(0, np.intp), 0)
        placements = np.zeros(len(self.time))
        placements[kept] = groups.placements([self.scores[kept]])[:, 0]
        total = float(self.weight.sum())
        of_cases = np.where(is_case, self.case_weight, 0.0)
        auc = float(of_cases @ placements / of_cases.sum())
        deviation = placements - auc
        # Contribution of a row to a mean over all rows, as a multiple of its weight.
        by_weight = np.divide(
            self.case_weight, self.weight, where=self.weight > 0, out=np.zeros_like(self.weight)
        )
        influence = np.where(is_case, by_weight * deviation / of_cases.sum(), 0.0) * total
        controls = float(self.weight[is_control].sum())
        influence[is_control] = deviation[is_control] / controls * total
        influence += self._of_losses(of_cases * deviation / of_cases.sum()) * total
        return auc, float(np.sqrt(self.units.covariance(influence[:, np.newaxis])[0, 0]))

    def _of_losses(self, moved: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the influence of rows through the censoring estimate, given that of cases."""
        starts = np.unique(self.time, return_index=True)[1]
        place = np.searchsorted(self.time[starts], self.time)
        at_risk = self.weight[::-1].cumsum()[::-1][starts]
        events = np.add.reduceat(np.where(self.event, self.weight, 0.0), starts)
        there = at_risk - events
        lost = np.add.reduceat(np.where(self.event, 0.0, self.weight), starts)
        # Sums over cases later than each time.
        later = moved[::-1].cumsum()[::-1]
        after = np.append(later[starts][1:], 0.0)
        ratio = np.divide(after, there, where=there > 0, out=np.zeros_like(after))
        hazard = np.divide(lost, there, where=there > 0, out=np.zeros_like(lost))
        compensator = np.cumsum(ratio * hazard)
        before = np.concatenate(([0.0], compensator[:-1]))
        # A row with an event is at risk of censoring only before it.
        return np.where(self.event, -before[place], ratio[place] - compensator[place])
