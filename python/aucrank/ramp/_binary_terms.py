"""Parameters and names of binary terms, shared by `ThresholdBinarizer` and `AURORA`."""

import math
from collections.abc import Iterator
from itertools import groupby
from numbers import Integral
from typing import Any

import numpy as np

from aucrank._data.column_lookup import columns_named
from aucrank._data.input import KindsByColumn
from aucrank._data.schema import Schema
from aucrank._utils.numbers import bound_text
from aucrank._utils.params import check_int, check_real

_TYPES = ("discrete", "continuous", "categorical")

#: A term in the form of the core: ``feature``, the position of the column, and ``test``: "missing",
#: or a dictionary with a threshold at ``at_least`` or a code at ``equals``.
BinaryTerm = dict[str, Any]


def binarizer_params(estimator: Any, schema: Schema | None) -> dict[str, Any]:
    """Return the parameters of an estimator that choose its terms, in the form of the core.

    Parameters
    ----------
    estimator : estimator
        One with the parameters ``max_levels``, ``percentiles``, ``min_level_share``,
        ``max_spike_share`` and ``feature_types``, and perhaps ``missing_indicator``.
    schema : Schema or None
        The columns; None to check only what does not depend on them.

    Raises
    ------
    TypeError, ValueError
        If one is not valid.
    """
    params = {
        "max_levels": check_int(estimator.max_levels, "max_levels", low=1),
        "min_level_share": check_real(
            estimator.min_level_share, "min_level_share", low=0.0, high=1.0
        ),
        "percentiles": _check_percentiles(estimator.percentiles),
        "max_spike_share": check_real(
            estimator.max_spike_share, "max_spike_share", low=0.0, high=1.0
        ),
        "missing_indicator": bool(getattr(estimator, "missing_indicator", True)),
    }
    _check_types(estimator.feature_types)
    return params | {
        "feature_types": [] if schema is None else _numeric_types(estimator.feature_types, schema)
    }


def _numeric_types(feature_types: Any, schema: Schema) -> list[str | None]:
    """Return the type of each number, None if it is inferred from the data."""
    types = _types_by_column(feature_types, schema.names, len(schema.features))
    for place, (of, feature) in enumerate(zip(types, schema.features, strict=True)):
        if of is not None and (of == "categorical") != (feature.levels is not None):
            kind = "numeric" if feature.levels is None else "categorical"
            raise ValueError(
                f"feature_types says {of!r} of column {schema.label(place)}, which is {kind}"
            )
    return [None if of == "categorical" else of for of in types]


def said_to_be_categorical(feature_types: Any) -> KindsByColumn | None:
    """Return the names or positions of categorical columns in ``feature_types``, if any."""
    if feature_types is None:
        return None

    def categorical(names: list[str] | None, n_features: int) -> set[int]:
        types = _types_by_column(feature_types, names, n_features)
        return {place for place, of in enumerate(types) if of == "categorical"}

    # Only if there are any: the columns of an array are otherwise left as they are.
    said = feature_types.values() if isinstance(feature_types, dict) else _as_list(feature_types)
    return categorical if "categorical" in said else None


def threshold_of(term: BinaryTerm) -> Any:
    """Return the threshold of a term, None if it has none."""
    return None if term["test"] == "missing" else term["test"].get("at_least")


def category_of(term: BinaryTerm, schema: Schema) -> str:
    """Return the category of a term, in quotes if others are numbers."""
    levels = schema.features[term["feature"]].levels
    if levels is None or term["test"] == "missing":
        return ""
    level = levels[term["test"]["equals"]]
    # Numbers come before strings.
    is_mixed = isinstance(level, str) and not isinstance(levels[0], str)
    return repr(level) if is_mixed else str(level)


def words_of_terms(terms: list[BinaryTerm], schema: Schema, names: list[str]) -> Iterator[str]:
    """Write each term.

    Parameters
    ----------
    terms : list of dict
        All terms of each feature, feature by feature.
    schema : Schema
        The columns.
    names : list of str
        Their names.

    Yields
    ------
    str
        Such as ``age >= 35``, ``colour = red`` or ``age is missing``.
    """
    for feature, group in groupby(terms, key=lambda term: term["feature"]):
        column = schema.features[feature]
        for term in group:
            if term["test"] == "missing":
                yield f"{names[feature]} is missing"
            elif (threshold := threshold_of(term)) is None:
                yield f"{names[feature]} = {category_of(term, schema)}"
            else:
                value = column.flag_text(threshold, math.inf)
                if value is None:
                    yield f"{names[feature]} >= {bound_text(threshold, column.counts)}"
                else:
                    yield f"{names[feature]} = {value}"


def _check_percentiles(percentiles: Any) -> list[float]:
    """Return the percentiles given by the parameter, each once, ascending."""
    rule = "percentiles must be an int from 1 to 99 or a list of numbers from 0 to 100"
    if isinstance(percentiles, Integral) and not isinstance(percentiles, bool):
        step = int(percentiles)
        if not 1 <= step <= 99:
            raise ValueError(f"{rule}, got {percentiles!r}")
        return [float(k) for k in range(step, 100, step)]
    try:
        listed = np.asarray(percentiles)
    except ValueError as err:
        raise ValueError(f"{rule}, got {percentiles!r}") from err
    if listed.ndim != 1 or not len(listed) or listed.dtype.kind not in "iuf":
        raise ValueError(f"{rule}, got {percentiles!r}")
    # NaN is neither.
    outside = [value for value in listed.tolist() if not 0 <= value <= 100]
    if outside:
        raise ValueError(f"{rule}, got {outside[0]!r}")
    return [float(value) for value in np.unique(listed)]


def _as_list(feature_types: Any) -> list[Any]:
    listed = np.asarray(feature_types, dtype=object)
    if listed.ndim != 1:
        raise ValueError(
            "feature_types must be None, a dict or an array-like of shape (n_features,), got"
            f" {feature_types!r}"
        )
    return list(listed)


def _check_types(feature_types: Any) -> None:
    """Check the parameter as far as possible without the data."""
    if feature_types is None:
        return
    is_dict = isinstance(feature_types, dict)
    for of in feature_types.values() if is_dict else _as_list(feature_types):
        if not (of is None or isinstance(of, str)) or of not in (*_TYPES, None):
            raise ValueError(
                "feature_types must hold 'discrete', 'continuous', 'categorical' or None, got"
                f" {of!r}"
            )


def _types_by_column(
    feature_types: Any, names: list[str] | None, n_features: int
) -> list[str | None]:
    """Return the type of each column, None if it is inferred from the data."""
    if feature_types is None:
        return [None] * n_features
    if isinstance(feature_types, dict):
        instead = "a list with one entry for each column"
        known = columns_named(feature_types, "feature_types", names, instead)
        return [feature_types.get(name) for name in known]
    types = _as_list(feature_types)
    if len(types) != n_features:
        raise ValueError(
            f"feature_types has shape ({len(types)},), but X has {n_features} features"
        )
    return types
