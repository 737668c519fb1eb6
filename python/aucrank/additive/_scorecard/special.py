"""Special values for a ranker that knows of none: told by a column beside the number."""

from dataclasses import replace
from math import inf, nextafter
from typing import Any

import numpy as np

from aucrank._data.input import Columns, each_column
from aucrank._data.sample import Sample
from aucrank._data.schema import Feature, Schema


def set_apart(sample: Sample, special: list[list[float]]) -> Sample:
    """Return rows in which special values are missing, and a category beside the number.

    Parameters
    ----------
    sample : Sample
        The rows.
    special : list of list of float
        Those of each column, ascending.

    Returns
    -------
    Sample
        With one more column for each that has special values, in their order: 0 for other values,
        k for the k-th special one.
    """
    columns, features = _listed(sample.columns), list(sample.schema.features)
    for place, values in enumerate(special):
        if not values:
            continue
        numbers = columns[place].astype(np.float64)
        codes = np.zeros(len(numbers), dtype=np.uint32)
        for code, value in enumerate(values, start=1):
            codes[numbers == value] = code
        columns[place] = np.where(codes > 0, np.nan, numbers)
        columns.append(codes)
        name = sample.schema.shown_name(place)
        features.append(Feature(f"{name}, special", tuple(range(len(values) + 1))))
    return replace(sample, columns=columns, schema=Schema(tuple(features)), rows=None)


def join(terms: list[dict[str, Any]], special: list[list[float]]) -> list[dict[str, Any]]:
    """Return step functions of columns that were `set_apart` as those of the columns before.

    Parameters
    ----------
    terms : list of dict
        As the core writes them.
    special : list of list of float
        Those of each column, ascending.

    Returns
    -------
    list of dict
        For each column the sum of its step function and of that of the column beside it. A special
        value is a step from the value to the next number.
    """
    of_feature = {term["feature"]: term for term in terms}
    beside = len(special)
    for place, values in enumerate(special):
        if not values:
            continue
        number, codes = of_feature.get(place), of_feature.pop(beside, None)
        beside += 1
        if number is not None or codes is not None:
            of_feature[place] = _joined(place, number, codes, values)
    return [of_feature[place] for place in sorted(of_feature)]


def _joined(
    place: int, number: dict[str, Any] | None, codes: dict[str, Any] | None, special: list[float]
) -> dict[str, Any]:
    cuts: list[float] = [] if number is None else number["numeric"]["thresholds"]
    steps: list[float] = [0.0] if number is None else number["numeric"]["values"]
    missing: float = 0.0 if number is None else number["missing"]
    of_code: list[float] = [0.0] * (len(special) + 1)
    if codes is not None:
        of_code = codes["categorical"]["values"]
    value_of = {value: missing + of_code[code] for code, value in enumerate(special, start=1)}
    after = {nextafter(value, inf) for value in special} - {inf}
    thresholds = sorted({*cuts, *special, *after})
    values = [steps[0] + of_code[0]]
    for threshold in thresholds:
        step = steps[np.searchsorted(cuts, threshold, side="right")]
        values.append(value_of.get(threshold, step + of_code[0]))
    return {
        "feature": place,
        "numeric": {"thresholds": thresholds, "values": values},
        "missing": missing + of_code[0],
    }


def _listed(columns: Columns) -> list[Any]:
    return [np.ascontiguousarray(column) for column in each_column(columns)]
