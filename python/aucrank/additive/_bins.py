"""Parameters of binning shared by MAD2C, RIMARC and Scorecard."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from aucrank._base.monotonic import monotonic_directions
from aucrank._data.column_lookup import columns_named
from aucrank._data.schema import Schema

_DIRECTIONS = {-1: "decreasing", 0: None, 1: "increasing"}


def bin_params(special_values: Any, monotonic_cst: Any, schema: Schema) -> dict[str, Any]:
    """Return the parameters of binning in the form of the core.

    Parameters
    ----------
    special_values : list of float, dict or None
        Numbers that each get their own bin: in every numeric column, or by name of the column.
    monotonic_cst : array-like of int, dict or None
        Direction in which each column may rank.
    schema : Schema
        Of the columns.

    Returns
    -------
    dict
        ``special`` and ``directions``, one entry for each column.

    Raises
    ------
    ValueError
        If either does not fit the columns.
    """
    directions = monotonic_directions(monotonic_cst, schema)
    for place, (direction, feature) in enumerate(zip(directions, schema.features, strict=False)):
        if direction and feature.levels is not None:
            raise ValueError(
                f"column {schema.label(place)} is categorical, so monotonic_cst cannot bind it:"
                " categories have no order"
            )
    return {
        "special": special_by_column(special_values, schema),
        "directions": [_DIRECTIONS[direction] for direction in directions],
    }


def special_by_column(special_values: Any, schema: Schema) -> list[list[float]]:
    """Return the special values of each column, ascending, none for categories.

    Raises
    ------
    ValueError
        If they are not finite numbers, or a named column is categorical or unknown.
    """
    if special_values is None:
        return [[] for _ in schema.features]
    if isinstance(special_values, dict):
        instead = "one list for all columns"
        names = columns_named(special_values, "special_values", schema.names, instead)
        by_column = [_numbers(special_values.get(name, ())) for name in names]
        for place, (numbers, feature) in enumerate(zip(by_column, schema.features, strict=True)):
            if numbers and feature.levels is not None:
                raise ValueError(
                    f"special_values has numbers for column {schema.label(place)}, which is"
                    " categorical: each category has a bin of its own"
                )
    else:
        numbers = _numbers(special_values)
        by_column = [numbers if f.levels is None else [] for f in schema.features]
    return by_column


def _numbers(values: Any) -> list[float]:
    rule = "special_values must be a list of finite numbers, or a dict of such lists by column"
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{rule}; got {values!r}")
    listed = list(values)
    for value in listed:
        if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)):
            raise ValueError(f"{rule}; got {value!r}")
    return sorted({float(value) + 0.0 for value in listed})
