"""Columns of dates as days since 1970 and of times as hours: the doubles of the same texts."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.date_text import days_of
from aucrank._data.schema import is_missing
from aucrank._utils.numbers import SECONDS_A_DAY, DateUnit

#: Integers up to this one are doubles, so that a quotient of two is rounded once.
_MOST_EXACT = 2**53

#: Parts of a second in a unit, or in a microsecond: all that a text is read to.
_PER_SECOND = {"ms": 1000, "us": 1_000_000}
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}


def days_of_series(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Return a column of dates, times or Python objects as days since 1970; missing is NaN."""
    native = series.to_native()
    kind = getattr(getattr(native, "dtype", None), "kind", None)
    if kind == "M" and series.dtype != nw.Date:
        # Of pandas, whose zones narwhals does not know all.
        native = native.dt.tz_convert(None) if native.dt.tz is not None else native
        values = native.to_numpy()
    elif isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        values = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None).to_numpy()
    else:
        values = series.to_numpy()
    if values.dtype.kind == "M":
        return days_of_array(values)
    days = (days_of(value) for value in series.to_list())
    return np.array([np.nan if day is None else day for day in days], dtype=np.float64)


def days_of_array(moments: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Return times of any unit as days since 1970; NaT is NaN."""
    missing = np.isnat(moments)
    unit, step = np.datetime_data(moments.dtype)
    if unit in _PER_SECOND or unit in _PER_MICROSECOND:
        parts = moments.astype(np.int64) * step
        if unit in _PER_MICROSECOND:
            parts //= _PER_MICROSECOND[unit]
        per_second = _PER_SECOND.get(unit, 1_000_000)
        seconds = parts / per_second
        for place in np.flatnonzero((np.abs(parts) > _MOST_EXACT) & ~missing):
            seconds[place] = int(parts[place]) / per_second
    else:
        seconds = moments.astype("M8[s]").astype(np.float64)
    return np.where(missing, np.nan, seconds / SECONDS_A_DAY)


def hours_of_series(series: nw.Series[Any]) -> NDArray[np.float64]:
    """Return a column of durations as hours; missing is NaN."""
    values = series.to_numpy()
    if values.dtype.kind != "m":
        found = [None if is_missing(value) else value for value in series.to_list()]
        values = np.array(found, dtype="m8[us]")
    unit, step = np.datetime_data(values.dtype)
    if unit not in _PER_SECOND and unit not in _PER_MICROSECOND:
        values, unit, step = values.astype("m8[s]"), "s", 1
    # In microseconds, as texts are read, if not in seconds.
    if unit in _PER_MICROSECOND:
        values, unit, step = values.astype("m8[us]"), "us", 1
    hours = values.astype(np.int64) * step / (3600 * _PER_SECOND.get(unit, 1))
    return np.where(np.isnat(values), np.nan, hours)


def unit_of_days(days: NDArray[np.float64]) -> DateUnit:
    """Return whether all are whole days, or some are moments."""
    known = days[~np.isnan(days)]
    return "days" if (known == np.floor(known)).all() else "moments"
