"""Ranking and calibration of a model in each subgroup of the rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from aucrank._data.frames import array_factor
from aucrank._data.schema import is_missing
from aucrank._page import formats
from aucrank._report.subjects import Subject, Target
from aucrank.metrics import AucBySubgroup, auc_by, calibration_curve

# Numbers with more distinct values, such as an age, are split at their quartiles.
_MOST_NUMBERS = 12

# Maximum number of subgroups, the largest ones; all others are one.
_MOST_SUBGROUPS = 30

#: Figures of a calibration that are measured in each part of the rows.
MEASURES = ("intercept", "slope", "observed_to_expected")

Interval = tuple[float, float, float]

_UNKNOWN: Interval = (math.nan, math.nan, math.nan)


@dataclass(frozen=True, eq=False, slots=True)
class Split:
    """Rows in parts.

    Attributes
    ----------
    name : str
        Name of the split, such as a column.
    labels : list of str
        Names of the parts.
    codes : ndarray of int
        Part of each row.
    how : str
        How the parts were made, in a sentence; empty if each value is a part.
    """

    name: str
    labels: list[str]
    codes: NDArray[np.intp]
    how: str = ""

    @property
    def sizes(self) -> list[int]:
        """Number of rows in each part."""
        counts: list[int] = np.bincount(self.codes, minlength=len(self.labels)).tolist()
        return counts


@dataclass(frozen=True, eq=False, slots=True)
class PartFacts:
    """Measurements of one model in each part of the rows.

    Attributes
    ----------
    ranking : AucBySubgroup
        AUC in each with its interval, and the test that they are equal.
    calibration : dict of str to list of tuple of three float, or None
        For each of `MEASURES`, its value with its interval in each part, NaN where undefined;
        None for a model without probabilities.
    """

    ranking: AucBySubgroup
    calibration: dict[str, list[Interval]] | None


@dataclass(frozen=True, eq=False, slots=True)
class Subgroups:
    """The subgroups by one column, and the measurements in them.

    Attributes
    ----------
    split : Split
        The subgroups.
    models : list of PartFacts
        One for each model.
    """

    split: Split
    models: list[PartFacts]


def measure_subgroups(
    subjects: Sequence[Subject], target: Target, confidence: float
) -> list[Subgroups]:
    """Measure all models in the subgroups by each column."""
    found = []
    for name, values in target.by.items():
        split = split_by(name, values)
        models = [measure_parts(subject, target, split, confidence) for subject in subjects]
        found.append(Subgroups(split, models))
    return found


def split_by(name: str, values: NDArray[Any]) -> Split:
    """Split rows by the values of a column; missing values are a part of their own.

    Numbers with more than 12 values are split at their quartiles. Beyond 30 subgroups, the smallest
    are merged.
    """
    factor = array_factor(values, name)
    names = [None if is_missing(value) else value for value in factor.values]
    known = list(dict.fromkeys(value for value in names if value is not None))
    if len(known) > _MOST_NUMBERS and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in known
    ):
        return _by_quarters(
            name, np.array([np.nan if v is None else v for v in names])[factor.codes]
        )
    try:
        ordered: list[Any] = sorted(known)
    except TypeError:
        ordered = sorted(known, key=str)
    place = {value: at for at, value in enumerate(ordered)}
    labels = [_text(value) for value in ordered]
    how = ""
    if None in names:
        place[None] = len(labels)
        labels.append("missing")
    codes = np.array([place[value] for value in names], dtype=np.intp)[factor.codes]
    counts = np.bincount(codes, minlength=len(labels))
    if len(labels) > _MOST_SUBGROUPS:
        # Among equal sizes, the first by value.
        kept = np.sort(np.argsort(-counts, kind="stable")[: _MOST_SUBGROUPS - 1])
        new = np.full(len(labels), len(kept), dtype=np.intp)
        new[kept] = np.arange(len(kept))
        how = f"{len(labels) - len(kept)} subgroups of the fewest rows are one, called all others."
        labels = [*(labels[at] for at in kept), "all others"]
        codes = new[codes]
    return Split(name, labels, codes, how)


def _by_quarters(name: str, numbers: NDArray[np.float64]) -> Split:
    known = np.sort(numbers[~np.isnan(numbers)])
    tops = np.unique(known[(np.arange(1, 5) * len(known)) // 4 - 1])
    lows = [known[0], *(known[np.searchsorted(known, top, side="right")] for top in tops[:-1])]
    labels = [
        f"{formats.number(float(low))} to {formats.number(float(top))}"
        for low, top in zip(lows, tops, strict=True)
    ]
    codes = np.searchsorted(tops, numbers).astype(np.intp)
    if len(known) < len(numbers):
        codes[np.isnan(numbers)] = len(tops)
        labels.append("missing")
    return Split(name, labels, codes, "A number of many values is parted at its quartiles.")


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def measure_parts(subject: Subject, target: Target, split: Split, confidence: float) -> PartFacts:
    """Measure one model in each part of the rows."""
    with warnings.catch_warnings():
        # Undefined values are shown as such.
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        ranking = auc_by(
            target.positive,
            subject.scores,
            split.codes,
            sample_weight=target.weight,
            groups=target.groups,
            confidence=confidence,
        )
        if subject.probability is None:
            return PartFacts(ranking, None)
        of_scored, of_rows = target, subject.probability_of
        codes = split.codes
        if of_rows is not None:
            of_scored, codes = target.take(of_rows), codes[of_rows]
        in_parts = [
            _calibration(subject.probability, of_scored, np.flatnonzero(codes == part), confidence)
            for part in range(len(split.labels))
        ]
    return PartFacts(ranking, {name: [own[name] for own in in_parts] for name in MEASURES})


def _calibration(
    probability: NDArray[np.float64], target: Target, rows: NDArray[np.intp], confidence: float
) -> dict[str, Interval]:
    own = target.take(rows)
    if len(rows) == 0 or own.positive.all() or not own.positive.any() or (own.n_groups or 2) < 2:
        return dict.fromkeys(MEASURES, _UNKNOWN)
    table = calibration_curve(
        own.positive,
        probability[rows],
        sample_weight=own.weight,
        groups=own.groups,
        confidence=confidence,
    ).measures
    place = {name: at for at, name in enumerate(table["measure"].tolist())}
    return {
        name: (
            float(table["value"][place[name]]),
            float(table["low"][place[name]]),
            float(table["high"][place[name]]),
        )
        for name in MEASURES
    }
