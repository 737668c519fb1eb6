"""Scalers of scikit-learn as arithmetic, in the order in which they compute."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from aucrank._export.formula import Arithmetic, Clip, Operation
from aucrank._export.pipeline.columns import Column, computed


def _standard(scaler: Any, is_sparse: bool, place: int) -> list[Operation]:
    return _centred(scaler.mean_ if scaler.with_mean else None, scaler.scale_, is_sparse, place)


def _robust(scaler: Any, is_sparse: bool, place: int) -> list[Operation]:
    center = scaler.center_ if scaler.with_centering else None
    return _centred(center, scaler.scale_ if scaler.with_scaling else None, is_sparse, place)


def _max_abs(scaler: Any, is_sparse: bool, place: int) -> list[Operation]:
    operations = _centred(None, scaler.scale_, is_sparse, place)
    # New in scikit-learn 1.9.
    return [*operations, Clip(-1.0, 1.0)] if getattr(scaler, "clip", False) else operations


def _min_max(scaler: Any, is_sparse: bool, place: int) -> list[Operation]:
    operations: list[Operation] = [
        Arithmetic("*", float(scaler.scale_[place])),
        Arithmetic("+", float(scaler.min_[place])),
    ]
    if scaler.clip:
        operations.append(Clip(*map(float, scaler.feature_range)))
    return operations


def _centred(center: Any, scale: Any, is_sparse: bool, place: int) -> list[Operation]:
    operations: list[Operation] = []
    if center is not None:
        operations.append(Arithmetic("-", float(center[place])))
    if scale is not None and is_sparse:
        # A sparse matrix is multiplied by the inverse, which is rounded first.
        operations.append(Arithmetic("*", float(1.0 / np.float64(scale[place]))))
    elif scale is not None:
        operations.append(Arithmetic("/", float(scale[place])))
    return operations


#: The operations of a fitted scaler on the column at a position.
SCALERS: dict[type, Callable[[Any, bool, int], list[Operation]]] = {
    StandardScaler: _standard,
    RobustScaler: _robust,
    MaxAbsScaler: _max_abs,
    MinMaxScaler: _min_max,
}


def scaled(scaler: Any, columns: Sequence[Column], *, is_sparse: bool) -> list[Column]:
    """Return the columns after a scaler."""
    operations_of = SCALERS[type(scaler)]
    found: list[Column] = []
    for place, column in enumerate(columns):
        for operation in operations_of(scaler, is_sparse, place):
            column = computed(column, operation)
        found.append(column)
    return found
