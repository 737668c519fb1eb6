"""Monotonic constraints on the score of a tree, feature by feature."""

from numbers import Real
from typing import Any

import numpy as np

from aucrank._data.column_lookup import columns_named
from aucrank._data.schema import Schema


def check_monotonic_cst(monotonic_cst: Any) -> None:
    """Check the parameter ``monotonic_cst`` as far as possible without the data.

    Raises
    ------
    ValueError
        If it is neither None, nor a dict from names, nor a list of one number per feature, or if a
        direction is not -1, 0 or 1.
    """
    if monotonic_cst is None:
        return
    if isinstance(monotonic_cst, dict):
        for name, direction in monotonic_cst.items():
            check_direction(direction, f" for {name!r}")
        return
    for direction in _as_vector(monotonic_cst):
        check_direction(direction)


def monotonic_directions(monotonic_cst: Any, schema: Schema | None) -> list[int]:
    """Return one direction per feature, -1, 0 or 1; an empty list for None.

    Parameters
    ----------
    monotonic_cst : array-like of shape (n_features,), dict or None
        What the user passed.
    schema : Schema or None
        The columns. None to check what can be checked without them.

    Returns
    -------
    list of int
        In the form of the core.

    Raises
    ------
    ValueError
        As `check_monotonic_cst`; or if its length differs from the number of columns, or it names a
        column that does not exist.
    """
    check_monotonic_cst(monotonic_cst)
    if monotonic_cst is None or schema is None:
        return []
    n_features = len(schema.features)
    if isinstance(monotonic_cst, dict):
        instead = "one direction for each column"
        names = columns_named(monotonic_cst, "monotonic_cst", schema.names, instead)
        return [int(monotonic_cst.get(name, 0)) for name in names]
    directions = _as_vector(monotonic_cst)
    if len(directions) != n_features:
        raise ValueError(
            f"monotonic_cst has shape ({len(directions)},), but X has {n_features} features"
        )
    return [int(direction) for direction in directions]


def _as_vector(monotonic_cst: Any) -> Any:
    rule = "monotonic_cst must be None, a dict or an array-like of shape (n_features,)"
    try:
        vector = np.asarray(monotonic_cst)
    except ValueError as err:
        raise ValueError(f"{rule}, got {monotonic_cst!r}") from err
    if vector.ndim != 1:
        raise ValueError(f"{rule}, got {monotonic_cst!r}")
    return vector.tolist()


def check_direction(direction: Any, of: str = "", parameter: str = "monotonic_cst") -> None:
    """Raise ValueError if a direction is not -1, 0 or 1."""
    is_number = isinstance(direction, Real) and not isinstance(direction, bool)
    if is_number and direction in (-1, 0, 1):
        return
    raise ValueError(f"{parameter} must be -1, 0 or 1{of}, got {direction!r}")
