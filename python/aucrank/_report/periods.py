"""Ranking, calibration and shift of the scores of a model over time."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.table import Table
from aucrank._page import formats
from aucrank._report.calibration import effective_rows
from aucrank._report.columns import number_bins, tenths
from aucrank._report.subgroups import PartFacts, Split, measure_parts
from aucrank._report.subjects import Subject, Target
from aucrank._utils.shares import wilson
from aucrank.metrics._shift import measure_shift

# Fewer periods show no trend; more do not fit in a picture.
_LEAST_PERIODS, _MOST_PERIODS = 3, 24

# Number of ranges for numbers with more values, or if no month, quarter or year fits.
_MOST_RANGES = 10

# Median number of rows of the smaller class per period: fewer do not determine an AUC.
_ROWS_OF_CLASS = 10


@dataclass(frozen=True, eq=False, slots=True)
class PeriodsOfModel:
    """Measurements of one model in each period.

    Attributes
    ----------
    parts : PartFacts
        Its AUC and its calibration.
    expected : ndarray of float64
        Mean probability in each period; NaN without probabilities.
    psi : ndarray of float64
        Population stability index of its scores.
    verdict : list of str
        Verdict on the index by the usual limits.
    """

    parts: PartFacts
    expected: NDArray[np.float64]
    psi: NDArray[np.float64]
    verdict: list[str]


@dataclass(frozen=True, eq=False, slots=True)
class Periods:
    """The periods, and the measurements in them.

    Attributes
    ----------
    split : Split
        The periods, in order.
    observed : Table
        The share of positives in each, ``observed``, with Wilson's interval, ``low`` to ``high``.
    models : list of PeriodsOfModel
        One for each model.
    since : str
        Reference that the scores of a period are compared with.
    """

    split: Split
    observed: Table
    models: list[PeriodsOfModel]
    since: str


def measure_periods(
    subjects: Sequence[Subject], target: Target, confidence: float
) -> Periods | None:
    """Measure all models in each period; None without times.

    The scores of a period are compared with those of the training rows, or else with those of the
    first period.

    Parameters
    ----------
    subjects : sequence of Subject
        The models.
    target : Target
        Labels, weights and times.
    confidence : float
        Level of the intervals.
    """
    if target.time is None:
        return None
    split = periods_of(target.time, target.positive)
    n_periods = len(split.labels)
    size = np.bincount(split.codes, target.weights, n_periods)
    share = np.bincount(split.codes, target.weights * target.positive, n_periods) / size
    low, high = wilson(share, effective_rows(target, split.codes, n_periods), confidence)
    return Periods(
        split,
        Table(observed=share, low=low, high=high),
        [_of_model(subject, target, split, confidence) for subject in subjects],
        _reference(subjects),
    )


def _reference(subjects: Sequence[Subject]) -> str:
    """Name what the scores of a period are compared with."""
    known = [subject.then is not None for subject in subjects]
    if all(known):
        return "the training data"
    return "the training data, or else of the first period" if any(known) else "the first period"


def _of_model(subject: Subject, target: Target, split: Split, confidence: float) -> PeriodsOfModel:
    n_periods = len(split.labels)
    expected = np.full(n_periods, np.nan)
    if subject.probability is not None:
        rows: Any = slice(None) if subject.probability_of is None else subject.probability_of
        codes, weights = split.codes[rows], target.weights[rows]
        size = np.bincount(codes, weights, n_periods)
        sums = np.bincount(codes, weights * subject.probability, n_periods)
        np.divide(sums, size, out=expected, where=size > 0)
    first = subject.scores[split.codes == 0] if subject.then is None else subject.then
    inner = tenths(first)
    n_bins = len(inner) + 2
    places = split.codes * n_bins + number_bins(subject.scores, inner)
    counts = np.bincount(places, minlength=n_periods * n_bins).reshape(n_periods, n_bins)
    base = np.bincount(number_bins(first, inner), minlength=n_bins).astype(np.float64)
    shifts = [
        measure_shift(base, own.astype(np.float64), len(first), int(own.sum())) for own in counts
    ]
    return PeriodsOfModel(
        measure_parts(subject, target, split, confidence),
        expected,
        np.array([shift.psi for shift in shifts]),
        [shift.verdict for shift in shifts],
    )


def periods_of(time: NDArray[Any], positive: NDArray[np.bool_]) -> Split:
    """Split rows into periods.

    Dates are split into months, quarters or years: the shortest that give 3 to 24 periods, at least
    half of them with 10 rows of each class. Each value of numbers with at most 24 values, such as
    years, is a period under the same conditions. Everything else is split into at most ten ranges
    with about equal numbers of rows.

    Parameters
    ----------
    time : ndarray of shape (n,)
        Numbers or dates, none missing.
    positive : ndarray of bool, shape (n,)
        Rows of the positive class.
    """
    dates = _dates(time)
    if dates is not None:
        for name, labels, codes in _calendar(dates):
            if _are_enough(codes, len(labels), positive):
                return Split("time", labels, codes, f"Periods are {name}.")
        stamps, texts = np.unique(dates, return_inverse=True)
        return _ranges(stamps, texts, positive, _date_text(dates))
    numbers = _numbers(time)
    distinct, codes = np.unique(numbers, return_inverse=True)
    if bool((distinct % 1 == 0).all()) and _are_enough(codes, len(distinct), positive):
        return Split("time", [str(int(value)) for value in distinct], codes)
    return _ranges(distinct, codes, positive, _number_text)


def _dates(time: NDArray[Any]) -> NDArray[np.datetime64] | None:
    """Return dates as numpy datetimes; None for numbers."""
    if time.dtype.kind == "M":
        return time
    if time.dtype.kind != "O" or not all(isinstance(value, datetime.date) for value in time):
        return None
    # The date is that of the local time as written, whatever the time zone.
    plain = [
        value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value
        for value in time
    ]
    return np.array(plain, dtype="datetime64[us]")


def _numbers(time: NDArray[Any]) -> NDArray[np.float64]:
    if time.dtype.kind == "m":
        return np.asarray(time / np.timedelta64(1, "D"), dtype=np.float64)
    if time.dtype.kind == "O" and all(isinstance(value, datetime.timedelta) for value in time):
        return np.array([value / datetime.timedelta(days=1) for value in time])
    return time.astype(np.float64)


def _calendar(
    dates: NDArray[np.datetime64],
) -> list[tuple[str, list[str], NDArray[np.intp]]]:
    """Return the periods by the calendar, the shortest first."""
    months = dates.astype("datetime64[M]").astype(np.int64)
    found = []
    for name, length in (("months", 1), ("quarters", 3), ("years", 12)):
        distinct, codes = np.unique(months // length, return_inverse=True)
        # Months are counted from January 1970.
        starts = [(1970 + at * length // 12, at * length % 12) for at in distinct.tolist()]
        labels = {
            "months": [f"{year}-{month + 1:02}" for year, month in starts],
            "quarters": [f"{year} Q{month // 3 + 1}" for year, month in starts],
            "years": [str(year) for year, _ in starts],
        }[name]
        found.append((name, labels, codes.astype(np.intp)))
    return found


def _are_enough(codes: NDArray[np.intp], n_periods: int, positive: NDArray[np.bool_]) -> bool:
    if not _LEAST_PERIODS <= n_periods <= _MOST_PERIODS:
        return False
    n_positive = np.bincount(codes, positive, n_periods)
    smaller = np.minimum(n_positive, np.bincount(codes, minlength=n_periods) - n_positive)
    return bool(np.median(smaller) >= _ROWS_OF_CLASS)


def _ranges(
    distinct: NDArray[Any], codes: NDArray[np.intp], positive: NDArray[np.bool_], text: Any
) -> Split:
    """Split times into ranges with about equal numbers of rows; equal times stay together."""
    smaller = min(int(positive.sum()), int((~positive).sum()))
    n_ranges = max(1, min(_MOST_RANGES, smaller // _ROWS_OF_CLASS))
    size = np.bincount(codes)
    middle = (np.cumsum(size) - size / 2) / size.sum()
    band = np.minimum((middle * n_ranges).astype(np.intp), n_ranges - 1)
    starts = np.flatnonzero(np.diff(band, prepend=-1))
    ends = [*(starts[1:] - 1), len(distinct) - 1]
    _, places = np.unique(band, return_inverse=True)
    labels = []
    for start, end in zip(starts, ends, strict=True):
        low, high = text(distinct[start]), text(distinct[end])
        labels.append(low if low == high else f"{low} to {high}")
    return Split(
        "time", labels, places[codes].astype(np.intp), "Periods are ranges of about as many rows."
    )


def _date_text(dates: NDArray[np.datetime64]) -> Any:
    """Return a formatter of times: by day, or by minute if all are within a few days."""
    days = dates.astype("datetime64[D]")
    unit = "D" if bool((days == dates).all()) or len(np.unique(days)) > _MOST_RANGES else "m"
    return lambda stamp: np.datetime_as_string(stamp.astype(f"datetime64[{unit}]")).replace(
        "T", " "
    )


def _number_text(value: float) -> str:
    # Years have no thousands separator.
    return str(int(value)) if float(value).is_integer() else formats.number(float(value))
