"""One column of a data frame as numbers or as codes, by the fastest way its library offers.

The narwhals dtype determines the kind of a column; memory access is left to the library, which is
imported already when one of its columns arrives here.
"""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.date_columns import days_of_series, hours_of_series
from aucrank._data.schema import Factor, is_missing
from aucrank._utils.numbers import DateUnit

Numbers = NDArray[np.float64] | NDArray[np.float32]


def is_categorical(series: nw.Series[Any]) -> bool:
    """Return whether a column is categorical by its dtype: Categorical, Enum or strings.

    So is a column without dtype and values, because no later value can contradict that: a fold
    without the few strings of a column must not make the other folds fail.
    """
    if _is_plain(series):
        return False
    if is_all_missing(series):
        return True
    if series.dtype == nw.Object:
        return _object_kind(series) is str
    return series.dtype in (nw.Categorical, nw.Enum, nw.String)


def is_numeric(series: nw.Series[Any]) -> bool:
    """Return whether a column is numeric by its dtype, or by its values if they are objects."""
    return not is_all_missing(series) and (_is_number(series) or _object_kind(series) is float)


def is_dates(series: nw.Series[Any]) -> bool:
    """Return whether a column holds dates or times by its dtype, or by its values if objects."""
    if _is_plain(series):
        return False
    if series.dtype in (nw.Date, nw.Datetime):
        return True
    if series.dtype == nw.Unknown:
        # Zones such as America/New_York and dates in milliseconds, which narwhals does not know.
        native = series.to_native()
        kind = getattr(getattr(native, "dtype", None), "kind", None)
        return kind == "M" or str(getattr(native, "type", None)) == "date64[ms]"
    return _object_kind(series) is date


def is_times(series: nw.Series[Any]) -> bool:
    """Return whether a column holds durations, by its dtype or by its values."""
    if _is_plain(series):
        return False
    return series.dtype == nw.Duration or _object_kind(series) is timedelta


def is_boolean(series: nw.Series[Any]) -> bool:
    """Return whether a column holds booleans by its dtype."""
    if _is_plain(series):
        return False
    if is_sparse(series):
        return bool(series.to_native().dtype.subtype.kind == "b")
    return series.dtype == nw.Boolean


def is_counted(series: nw.Series[Any], counts: DateUnit | None) -> bool:
    """Return whether a column holds times if they are counted in hours, or dates if in days."""
    return counts is not None and (is_times(series) if counts == "hours" else is_dates(series))


def counted(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Return a column of times as hours, or one of dates as days since 1970; missing is NaN."""
    return hours_of_series(series) if is_times(series) else days_of_series(series)


def to_numbers(series: nw.Series[Any], label: str) -> Numbers:
    """Return a numeric column: float32 stays, anything else becomes float64, missing is NaN.

    Floats without nulls in one aligned chunk are not copied.

    Raises
    ------
    TypeError
        If the column is not numeric.
    ValueError
        If it holds an integer that no float approximates.
    """
    if _is_plain(series):
        return _as_floats(series.to_native().to_numpy())
    if is_sparse(series):
        return _as_floats(np.asarray(series.to_native().array.to_dense()))
    if is_all_missing(series):
        return np.full(len(series), np.nan)
    if not _is_number(series) and _object_kind(series) is not float:
        raise TypeError(
            f"column {label} has dtype {_dtype_name(series)}, which is neither numeric nor"
            " categorical; convert it to numbers, strings or a categorical"
            if not is_categorical(series)
            else f"column {label} has dtype {_dtype_name(series)} where numbers are expected; name"
            " it in `categorical_features` or convert it"
        )
    try:
        values = _numbers_of(series)
    except OverflowError as err:
        raise ValueError(f"column {label} holds an integer beyond the largest float") from err
    return _as_floats(values)


def is_sparse(series: nw.Series[Any]) -> bool:
    """Return whether a column is a sparse array of pandas that holds numbers."""
    dtype: Any = getattr(series.to_native(), "dtype", None)
    return type(dtype).__name__ == "SparseDtype" and dtype.subtype.kind in "biuf"


def _is_plain(series: nw.Series[Any]) -> bool:
    """Return whether a column is a pandas array of numbers, the most frequent case.

    Inspecting a column through narwhals takes longer than reading a few hundred rows of it.
    """
    dtype = getattr(series.to_native(), "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "fiu"


def _as_floats(values: NDArray[Any]) -> Numbers:
    if values.dtype != np.float32:
        values = values.astype(np.float64, copy=False)
    # Data received over a network may be unaligned.
    return np.require(values, requirements=["C", "A"])


def to_factors(series: nw.Series[Any], label: str) -> list[Factor]:
    """Return a column as codes into its own values of any type; one entry per chunk.

    Raises
    ------
    TypeError
        If values of the dtype cannot be levels, such as dates.
    """
    if is_all_missing(series):
        return [Factor(np.zeros(len(series), dtype=np.intp), [])]
    if series.dtype == nw.Boolean:
        codes = to_numbers(series, label)
        return [Factor(np.where(np.isnan(codes), -1, codes).astype(np.intp), [False, True])]
    if series.dtype.is_numeric():
        values = series.to_numpy() if is_exact(series) else to_numbers(series, label)
        return [array_factor(values, label)]
    if series.dtype not in (nw.Categorical, nw.Enum, nw.String, nw.Object):
        raise TypeError(
            f"column {label} has dtype {_dtype_name(series)}, which cannot be categorical; convert"
            " it to strings or numbers"
        )
    if series.implementation.is_pandas_like():
        return [_pandas_factor(series.to_native())]
    if series.implementation.is_polars() and series.dtype != nw.Object:
        return [_polars_factor(series.to_native())]
    if series.implementation.is_pyarrow():
        return _pyarrow_factors(series.to_native())
    return [array_factor(series.to_numpy(), label)]


def array_factor(values: NDArray[Any], label: str) -> Factor:
    """Return a vector as codes into its distinct values."""
    if values.dtype.kind in "biuf":
        distinct, codes = np.unique(values, return_inverse=True)
        return Factor(codes, distinct.tolist())
    code_of: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (code_of.setdefault(value, len(code_of)) for value in values.tolist()),
            dtype=np.intp,
            count=len(values),
        )
    except TypeError as err:
        raise TypeError(f"column {label} cannot be categorical: {err}") from err
    return Factor(codes, list(code_of))


def is_exact(series: nw.Series[Any]) -> bool:
    """Return whether a column holds integers that need not pass through a float."""
    return series.dtype.is_integer() and not series.null_count()


def _is_number(series: nw.Series[Any]) -> bool:
    return series.dtype.is_numeric() or series.dtype == nw.Boolean


def is_all_missing(series: nw.Series[Any]) -> bool:
    """Return whether a column of polars or Arrow type `null` holds nothing."""
    untyped = series.dtype in (nw.Object, nw.Unknown) or is_object(series)
    return untyped and not is_sparse(series) and series.null_count() == len(series)


def _object_kind(series: nw.Series[Any]) -> type | None:
    """Return the type of objects: str, float (any number), date, timedelta, None or object."""
    if not is_object(series):
        return object
    native = series.to_native()
    values = native.dropna() if hasattr(native, "dropna") else series.to_numpy()
    kinds = {type(value) for value in values if not is_missing(value)}
    if not kinds:
        return None
    if all(issubclass(kind, str) for kind in kinds):
        return str
    if all(issubclass(kind, date) for kind in kinds):
        return date
    if all(issubclass(kind, timedelta) for kind in kinds):
        return timedelta
    numbers = bool | int | float | Decimal | np.number | np.bool_
    return float if all(issubclass(kind, numbers) for kind in kinds) else object


def is_object(series: nw.Series[Any]) -> bool:
    """Return whether a column holds Python objects; narwhals reports String for some of pandas."""
    dtype = getattr(series.to_native(), "dtype", None)
    return series.dtype == nw.Object or (isinstance(dtype, np.dtype) and dtype == np.object_)


def _numbers_of(series: nw.Series[Any]) -> NDArray[Any]:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        if isinstance(native.dtype, np.dtype) and native.dtype != object:
            values = native.to_numpy()
        else:
            dtype = np.float32 if series.dtype == nw.Float32 else np.float64
            values = native.to_numpy(dtype=dtype, na_value=np.nan)
    elif series.implementation.is_pyarrow():
        if series.dtype == nw.Boolean:
            native = series.cast(nw.UInt8).to_native()
        elif series.dtype.is_decimal():
            native = series.cast(nw.Float64).to_native()
        whole = native.num_chunks == 1 and not native.null_count
        # Only a single chunk can share its memory.
        values = (native.chunk(0) if whole else native).to_numpy()
    elif series.dtype.is_float() or series.dtype == nw.Object:
        values = series.to_numpy()
    else:
        values = series.cast(nw.Float64).to_numpy()
    return np.asarray(values)


def _pandas_factor(native: Any) -> Factor:
    if hasattr(native.dtype, "categories"):
        return Factor(native.cat.codes.to_numpy(), native.cat.categories.tolist())
    codes, values = native.factorize()
    return Factor(codes, values.tolist())


def _polars_factor(native: Any) -> Factor:
    import polars as pl

    distinct = native.drop_nulls().unique()
    if native.dtype == pl.String:
        # A separate Enum: a Categorical would add the strings to a global table.
        codes = native.cast(pl.Enum(distinct)).to_physical()
        values = distinct.to_list()
    else:
        # The table behind the codes is not public and may hold the categories of other columns: the
        # distinct rows themselves show which code stands for which string.
        codes = native.to_physical()
        codes_met = distinct.to_physical().to_list()
        values = [None] * (max(codes_met, default=-1) + 1)
        for code, value in zip(codes_met, distinct.cast(pl.String).to_list(), strict=True):
            values[code] = value
    return Factor(codes.cast(pl.Int64).fill_null(-1).to_numpy(), values)


def _pyarrow_factors(native: Any) -> list[Factor]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(native.type):
        native = native.dictionary_encode()
    factors = []
    # Chunks may have different dictionaries.
    for chunk in native.chunks:
        codes = pc.fill_null(chunk.indices.cast(pa.int64()), -1).to_numpy()
        factors.append(Factor(codes, chunk.dictionary.to_pylist()))
    return factors


def _dtype_name(series: nw.Series[Any]) -> str:
    """Return the dtype as the user's library writes it."""
    native = series.to_native()
    return str(getattr(native, "dtype", None) or native.type)
