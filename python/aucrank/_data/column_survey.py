"""Kinds, levels and dtypes of columns, collected batch by batch."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data import frames
from aucrank._data.column_warnings import ColumnWarnings
from aucrank._data.date_columns import days_of_series, unit_of_days
from aucrank._data.flags import FlagValues
from aucrank._data.input import KindsByColumn, is_by_dtype, listed_columns
from aucrank._data.passes import Batch
from aucrank._data.schema import Feature, Level, LevelSet, Schema
from aucrank._utils.numbers import DateUnit


class ColumnSurvey:
    """Collects the facts about columns, batch by batch.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    categorical_features : "from_dtype", array-like or None
        As for `learn_columns`.
    also : callable or None, default=None
        As for `learn_columns`.
    """

    def __init__(
        self, names: list[str], categorical_features: Any, also: KindsByColumn | None = None
    ) -> None:
        self._by_dtype = is_by_dtype(categorical_features)
        listed = listed_columns(categorical_features, names, len(names), also)
        self._columns = [
            _Column(name, index, is_listed=index in listed, by_dtype=self._by_dtype)
            for index, name in enumerate(names)
        ]

    def look_at_dtypes(self, frame: nw.DataFrame[Any], origin: str) -> None:
        """Record the dtypes of a batch, or of those columns that it has."""
        there = set(frame.columns)
        for column in self._columns:
            if column.name in there:
                column.look_at_dtype(frame[column.name], origin)

    @property
    def needed(self) -> list[str]:
        """Names of the columns whose values are to be recorded, not only their dtypes."""
        return [column.name for column in self._columns if column.is_needed]

    @property
    def possible_flags(self) -> list[str]:
        """Names of the columns of numbers that may hold 0 and 1 alone."""
        return [column.name for column in self._columns if column.may_be_flag]

    def look_for_flags(self, frame: nw.DataFrame[Any], kept: NDArray[np.bool_] | None) -> None:
        """Look at the kept rows among some for numbers other than 0 and 1."""
        there = set(frame.columns)
        for column in self._columns:
            if column.may_be_flag and column.name in there:
                column.look_for_flag(frame[column.name], kept)

    def look_at(self, batch: Batch, kept: NDArray[np.bool_] | None) -> None:
        """Learn the values of the kept rows of a batch, as far as they are needed."""
        there = set(batch.frame.columns)
        for column in self._columns:
            if column.is_needed and column.name in there:
                column.look_at(batch, kept)

    def merge(self, other: "ColumnSurvey") -> None:
        """Add the facts about the same columns in another part of the data."""
        for own, more in zip(self._columns, other._columns, strict=True):
            own.merge(more)

    def finish(self) -> tuple[Schema, tuple[np.dtype[Any], ...]]:
        """Return the schema of the columns, after warning of doubtful ones."""
        warnings = ColumnWarnings()
        features = [column.finish(warnings) for column in self._columns]
        warnings.warn()
        return Schema(tuple(features)), tuple(column.dtype for column in self._columns)


class _Column:
    def __init__(self, name: str, index: int, *, is_listed: bool, by_dtype: bool) -> None:
        self.name = name
        self._index = index
        self._is_listed = is_listed
        self._by_dtype = by_dtype
        self._levels = LevelSet(repr(name))
        # Origin of the first numbers and the first categories.
        self._kinds: dict[bool, str] = {}
        self._is_declared: bool | None = None
        self._floats: set[np.dtype[Any]] = set()
        # Origin of the first exact integers, and the first numbers that pass through a float.
        self._exact: dict[bool, str] = {}
        # Origin of the first dates, the first times, and the first numbers that are neither.
        self._dates: dict[str, str] = {}
        self._may_have_times = False
        self._counts: DateUnit = "days"
        # Whether all batches with values hold booleans.
        self._is_boolean: bool | None = None
        self._flag = FlagValues()

    @property
    def is_numeric(self) -> bool:
        """Whether the column is known not to be categorical."""
        return not self._is_listed and (not self._by_dtype or False in self._kinds)

    @property
    def may_be_flag(self) -> bool:
        """Whether the column holds numbers, of which none is known that is neither 0 nor 1."""
        is_number = self.is_numeric and not self._is_boolean and set(self._dates) <= {"numbers"}
        return is_number and self._flag.may_be

    @property
    def is_needed(self) -> bool:
        """Whether values are to be recorded: categories, dates with times, possible flags."""
        return not self.is_numeric or self._may_have_times or self.may_be_flag

    @property
    def dtype(self) -> np.dtype[Any]:
        if not self.is_numeric:
            return np.dtype(np.uint32)
        only_narrow = self._floats == {np.dtype(np.float32)}
        return np.dtype(np.float32 if only_narrow else np.float64)

    def look_at_dtype(self, series: nw.Series[Any], origin: str) -> None:
        # A batch without dtype and values can be of either kind.
        if self._is_listed or frames.is_all_missing(series):
            return
        is_categorical = self._by_dtype and frames.is_categorical(series)
        self._is_boolean = frames.is_boolean(series) and self._is_boolean is not False
        self._kinds.setdefault(is_categorical, origin)
        self._check_kinds()
        if is_categorical:
            is_declared = series.dtype == nw.Enum
            self._is_declared = is_declared and self._is_declared is not False
            return
        kind = "numbers"
        if frames.is_dates(series) or frames.is_times(series):
            kind = "times" if frames.is_times(series) else "dates"
        self._dates.setdefault(kind, origin)
        self._check_dates()
        if kind != "numbers":
            self._may_have_times |= kind == "dates" and series.dtype != nw.Date
            self._floats.add(np.dtype(np.float64))
        else:
            try:
                self._floats.add(frames.to_numbers(series, repr(self.name)).dtype)
            except (TypeError, ValueError) as err:
                raise type(err)(f"in {origin}: {err}") from err

    def _check_kinds(self) -> None:
        if len(self._kinds) == 2:
            raise TypeError(
                f"column {self.name!r} holds categories in {self._kinds[True]} and numbers in"
                f" {self._kinds[False]}; name it in `categorical_features`, or convert it in one of"
                " them"
            )

    def _check_dates(self) -> None:
        if len(self._dates) > 1:
            (kind, origin), (other, its) = sorted(self._dates.items())[:2]
            raise TypeError(
                f"column {self.name!r} holds {kind} in {origin} and {other} in {its}; convert it in"
                " one of them"
            )

    def merge(self, other: "_Column") -> None:
        self._levels.merge(other._levels)
        self._kinds = other._kinds | self._kinds
        self._check_kinds()
        self._dates = other._dates | self._dates
        self._check_dates()
        self._may_have_times |= other._may_have_times
        if other._counts == "moments":
            self._counts = "moments"
        self._flag.merge(other._flag)
        if other._is_boolean is not None:
            self._is_boolean = other._is_boolean and self._is_boolean is not False
        if other._is_declared is not None:
            self._is_declared = other._is_declared and self._is_declared is not False
        self._floats |= other._floats
        self._exact = other._exact | self._exact

    def look_at(self, batch: Batch, kept: NDArray[np.bool_] | None) -> None:
        series = batch.frame[self.name]
        if self.is_numeric:
            if self.may_be_flag:
                self.look_for_flag(series, kept)
            elif self._may_have_times and unit_of_days(days_of_series(series)) == "moments":
                self._counts = "moments"
            return
        self._levels.add(frames.to_factors(series, repr(self.name)), kept, batch.counts)
        if series.dtype.is_numeric():
            self._exact.setdefault(frames.is_exact(series), batch.origin)

    def look_for_flag(self, series: nw.Series[Any], kept: NDArray[np.bool_] | None) -> None:
        if not frames.is_all_missing(series):
            self._flag.look_at(frames.to_numbers(series, repr(self.name)), kept)

    def finish(self, warnings: ColumnWarnings) -> Feature:
        if self.is_numeric:
            if "times" in self._dates:
                return Feature(self.name, counts="hours")
            if "dates" in self._dates:
                return Feature(self.name, counts=self._counts)
            if self._is_boolean:
                return Feature(self.name, flag="boolean")
            return Feature(self.name, flag="number" if self._flag.is_flag else None)
        levels = self._levels.levels()
        if len(self._exact) == 2:
            self._refuse_inexact(levels)
        feature = Feature(self.name, levels)
        is_declared = not self._by_dtype or bool(self._is_declared)
        warnings.look_at(feature, self._index, self._levels.n_known, is_declared=is_declared)
        return feature

    def _refuse_inexact(self, levels: tuple[Level, ...]) -> None:
        """Raise for an integer that is exact in one batch and would be rounded in another."""
        for level in levels:
            if isinstance(level, int) and abs(level) > 2**53:
                raise ValueError(
                    f"column {self.name!r} holds the category {level} in {self._exact[True]}, but"
                    f" is read as floats in {self._exact[False]}, which are exact up to 2**53"
                    " alone; convert it to strings"
                )
