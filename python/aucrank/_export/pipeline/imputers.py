"""Imputation by one value per column, and indicators of missing values."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aucrank._data.schema import is_missing
from aucrank._export.pipeline.columns import Column, filled, marked


def imputed(imputer: Any, columns: Sequence[Column]) -> list[Column]:
    """Return the columns after a fitted ``SimpleImputer``: the filled ones, then indicators."""
    found: list[Column] = []
    # The fill is rounded to the type of the data of the fit.
    dtype = getattr(imputer, "_fill_dtype", np.dtype(object))
    for column, statistic in zip(columns, imputer.statistics_, strict=True):
        if is_missing(statistic) and not imputer.keep_empty_features:
            # The column had no value in fit, and is dropped.
            continue
        (fill,) = np.array([statistic], dtype=object).astype(dtype).tolist()
        found.append(filled(column, imputer.missing_values, fill))
    if imputer.indicator_ is not None:
        found += indicated(imputer.indicator_, columns)
    return found


def indicated(indicator: Any, columns: Sequence[Column]) -> list[Column]:
    """Return what a fitted ``MissingIndicator`` makes of columns."""
    return [marked(columns[place], indicator.missing_values) for place in indicator.features_]
