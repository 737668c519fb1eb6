"""Step functions of columns whose special values were set apart."""

from math import inf, nextafter
from typing import Any

import numpy as np


def join(terms: list[dict[str, Any]], special: list[list[float]]) -> list[dict[str, Any]]:
    """Return step functions of `columns_apart` as those of the columns before.

    Parameters
    ----------
    terms : list of dict
        In the form of the core.
    special : list of list of float
        Special values of each column, ascending.

    Returns
    -------
    list of dict
        For each column the sum of its step function and that of its added column. A special value
        is a step from the value to the next number.
    """
    of_feature = {term["feature"]: term for term in terms}
    other_columns = len(special)
    for place, values in enumerate(special):
        if not values:
            continue
        number, codes = of_feature.get(place), of_feature.pop(other_columns, None)
        other_columns += 1
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
