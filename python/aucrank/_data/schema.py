"""What a fitted estimator stores of its columns: names, kinds and category levels."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from aucrank._core import MISSING_CODE, ColumnError
from aucrank._data.matching import Matcher
from aucrank._utils.numbers import DateUnit

Level = str | int | float | bool

#: Kind of a column that holds 0 and 1 alone.
Flag = Literal["number", "boolean"]

_WORDS: dict[Flag, tuple[str, str]] = {"number": ("0", "1"), "boolean": ("no", "yes")}


@dataclass(frozen=True, slots=True)
class Factor:
    """A run of rows as integer codes into a list of values.

    Attributes
    ----------
    codes : ndarray of int
        One entry per row. ``-1`` and ``len(values)`` stand for a missing value.
    values : list
        Values of the codes, in no particular order; repeats and missing values are allowed.
    """

    codes: NDArray[np.integer[Any]]
    values: list[Any]


@dataclass(frozen=True, slots=True)
class Feature:
    """A column as seen in fit.

    Attributes
    ----------
    name : str or None
        ``None`` if the data had no column names.
    levels : tuple or None
        Sorted distinct values of a categorical column: its code ``k`` means ``levels[k]``.
        ``None`` for a numeric column. In exports of pipelines the last level may be None: a missing
        value that is not treated like an unknown category.
    counts : {"days", "moments", "hours"} or None
        Unit of the numbers in a column of dates since 1970: whole days, or moments as fractions of
        days; or of durations. It affects how they are printed, and which columns of dates and times
        are read as such.
    flag : {"number", "boolean"} or None
        Whether a numeric column held 0 and 1 alone in training, as numbers or as booleans. It
        affects how rules are printed.
    """

    name: str | None
    levels: tuple[Level, ...] | None = None
    counts: DateUnit | None = field(default=None, compare=False)
    flag: Flag | None = field(default=None, compare=False)

    def flag_text(self, low: float, high: float) -> str | None:
        """Return the value of a flag that is in ``[low, high)``; None if it is not a single one."""
        if self.flag is None:
            return None
        inside = [word for value, word in enumerate(_WORDS[self.flag]) if low <= value < high]
        return inside[0] if len(inside) == 1 else None

    def encode(
        self, factors: Iterable[Factor], unmatched: "Unmatched | None" = None
    ) -> NDArray[np.uint32]:
        """Code the rows of a categorical column by value; unknown ones become ``MISSING_CODE``.

        Values are equal as in Python: 1, 1.0 and True are the same level. A text equals a number if
        it spells this number and no other level does (see `Matcher`).

        Parameters
        ----------
        factors : iterable of Factor
            The rows.
        unmatched : Unmatched or None, default=None
            Records values that match no level because of their type.
        """
        if self.levels is None:
            raise TypeError("a numeric column has no codes")
        code_of = {level: code for code, level in enumerate(self.levels)}
        matcher = Matcher(self.levels)
        parts = []
        for factor in factors:
            # The last entry is the target of -1 and len(values).
            table = np.full(len(factor.values) + 1, MISSING_CODE, dtype=np.uint32)
            strangers = []
            for index, value in enumerate(factor.values):
                code = code_of.get(value)
                if code is None and not is_missing(value):
                    code = matcher.code_of(value)
                    if code is None:
                        strangers.append(index)
                if code is not None:
                    table[index] = code
            if unmatched is not None:
                unmatched.look_at(factor, strangers, matcher)
            parts.append(table[factor.codes])
        return parts[0] if len(parts) == 1 else np.concatenate(parts, dtype=np.uint32)


class Unmatched(Protocol):
    """Records the rows of a column whose value matches no level."""

    def look_at(self, factor: Factor, strangers: Sequence[int], matcher: Matcher) -> None:
        """Record some rows, given the positions of values that match no level."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of the training data, in order.

    Attributes
    ----------
    features : tuple of Feature
        The columns.
    is_plain : bool
        Whether they are numbers without names.
    """

    features: tuple[Feature, ...]
    is_plain: bool = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Derive the properties once, since scoring a row takes less time than that."""
        is_plain = all(f.name is None and f.levels is None for f in self.features)
        object.__setattr__(self, "is_plain", is_plain)

    @property
    def names(self) -> list[str] | None:
        """Column names, or None if the data had none."""
        names = [feature.name for feature in self.features if feature.name is not None]
        return names if len(names) == len(self.features) else None

    @property
    def n_levels(self) -> list[int | None]:
        """Number of levels of each categorical column, None for a numeric one."""
        return [None if f.levels is None else len(f.levels) for f in self.features]

    @property
    def has_categories(self) -> bool:
        """Whether a column is categorical."""
        return any(feature.levels is not None for feature in self.features)

    @property
    def shown_names(self) -> list[str]:
        """Names for display: ``x0`` for the first column if it has none."""
        return [self.shown_name(index) for index in range(len(self.features))]

    def shown_name(self, index: int) -> str:
        """Return the name for display of a column: ``x0`` for the first one if it has none."""
        return self.features[index].name or f"x{index}"

    def label(self, index: int) -> str:
        """Return the name of a column in a message: its own name if it has one."""
        return column_label(self.features[index].name, index)

    def counting(self, counts: Mapping[str, DateUnit]) -> "Schema":
        """Return the schema with the units of columns of dates since 1970, by name."""
        features = [
            feature if feature.levels is not None else replace(feature, counts=unit)
            for feature in self.features
            for unit in [counts.get(feature.name or "", feature.counts)]
        ]
        return Schema(tuple(features))

    @property
    def flags(self) -> dict[str, list[int]]:
        """Positions of the columns that held 0 and 1 alone, by kind."""
        found: dict[str, list[int]] = {}
        for place, feature in enumerate(self.features):
            if feature.flag is not None:
                found.setdefault(feature.flag, []).append(place)
        return found

    def with_flags(self, flags: Any) -> "Schema":
        """Return the schema with what `flags` returned.

        Raises
        ------
        ValueError
            If it has another form.
        """
        features = list(self.features)
        if not isinstance(flags, dict) or not flags.keys() <= _WORDS.keys():
            raise ValueError("the columns of two values have an unknown form")
        for kind, places in flags.items():
            for place in places if isinstance(places, list) else [None]:
                if type(place) is not int or not 0 <= place < len(features):
                    raise ValueError(f"{place!r} is not the position of a column of two values")
                if features[place].levels is not None:
                    raise ValueError(f"column {place} has categories, not two values")
                features[place] = replace(features[place], flag=kind)
        return Schema(tuple(features))

    @property
    def date_units(self) -> dict[str, DateUnit]:
        """Units of columns of dates and times, by name."""
        return {f.name: f.counts for f in self.features if f.name is not None and f.counts}

    def to_json(self) -> list[dict[str, Any]]:
        """Return the form that the saved document holds under ``features``.

        Hours are not part of it: `Reading` has them.
        """
        return [
            {"name": f.name, "kind": "numeric"}
            | ({"counts": f.counts} if f.counts not in (None, "hours") else {})
            if f.levels is None
            else {"name": f.name, "kind": "categorical", "levels": list(f.levels)}
            for f in self.features
        ]

    @classmethod
    def from_json(cls, features: Any) -> "Schema":
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            If ``features`` has another form.
        """
        if not isinstance(features, list) or not features:
            raise ValueError("`features` is not a list of columns")
        read = []
        for index, feature in enumerate(features):
            match feature:
                case {"name": str() | None as name, "kind": "numeric"}:
                    counts = feature.get("counts")
                    if counts not in (None, "days", "moments"):
                        raise ValueError(f"column {index} counts {counts!r}, which is unknown")
                    read.append(Feature(name, counts=counts))
                case {"name": str() | None as name, "kind": "categorical", "levels": list(levels)}:
                    if not all(isinstance(level, Level) for level in levels):
                        raise ValueError(f"a level of column {index} is not a plain value")
                    if len(set(levels)) != len(levels):
                        raise ValueError(f"column {index} has a level twice")
                    read.append(Feature(name, tuple(levels)))
                case _:
                    raise ValueError(f"column {index} of `features` has an unknown form")
        if len({feature.name is None for feature in read}) != 1:
            raise ValueError("some columns of `features` have a name and some have none")
        return cls(tuple(read))


@contextmanager
def errors_by_name(schema: Schema) -> Iterator[None]:
    """Make errors of the core, which numbers columns, name them."""
    try:
        yield
    except ColumnError as err:
        counted, named = f"column {err.column} ", f"column {schema.label(err.column)} "
        raise ValueError(str(err).replace(counted, named, 1)) from None


def column_label(name: Any, index: int) -> str:
    """Return ``'age'`` in quotes for a named column, the position for any other."""
    return repr(name) if isinstance(name, str) else str(index)


def is_missing(value: Any) -> bool:
    """Return whether a Python object stands for a missing value: None, NaN, pandas' NA and NaT."""
    if value is None:
        return True
    if isinstance(value, float | np.floating | np.datetime64 | Decimal):
        return bool(value != value)
    # By name, because pandas need not be installed.
    return type(value).__name__ in {"NAType", "NaTType"}


class LevelSet:
    """The values of a categorical column, collected batch by batch.

    Attributes
    ----------
    n_known : int
        Kept rows so far whose value is not missing.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._found: set[Level] = set()
        self.n_known = 0

    def add(
        self,
        factors: Sequence[Factor],
        kept: NDArray[np.bool_] | None,
        counts: NDArray[np.uint64] | None = None,
    ) -> None:
        """Add the rows of a batch, or those that are kept.

        Parameters
        ----------
        factors : sequence of Factor
            The rows.
        kept : ndarray of bool, shape (n_rows,), or None
            Which rows are added; None for all.
        counts : ndarray of uint64, shape (n_rows,), or None
            How many rows each stands for; None for one.
        """
        start = 0
        for codes, values in ((factor.codes, factor.values) for factor in factors):
            start, first = start + len(codes), start
            counted = None if counts is None else counts[first:start]
            if kept is not None:
                codes = codes[kept[first:start]]
                counted = None if counted is None else counted[kept[first:start]]
            # The last entry is the target of -1 and len(values).
            used = np.zeros(len(values) + 1, dtype=np.bool_)
            used[codes] = True
            is_known = np.array([*(not is_missing(value) for value in values), False])
            if counted is None:
                self.n_known += _count_known(codes, is_known)
            else:
                self.n_known += int(counted[is_known[codes]].sum())
            self._found.update(
                _as_level(values[index], self._label) for index in np.flatnonzero(used & is_known)
            )

    def merge(self, other: "LevelSet") -> None:
        """Add the rows of another part of the data."""
        self._found |= other._found
        self.n_known += other.n_known

    def levels(self) -> tuple[Level, ...]:
        """Return the sorted distinct values.

        Numbers come before strings. A float of integer value becomes an int, so that a column has
        the same levels whether it is read as integers or as floats.
        """
        found = self._found
        if not all(isinstance(level, bool) for level in found):
            found = {int(level) if isinstance(level, bool) else level for level in found}
        order: Callable[[Level], Any] = lambda level: (isinstance(level, str), level)  # noqa: E731
        return tuple(sorted(found, key=order))


def _count_known(codes: NDArray[np.integer[Any]], is_known: NDArray[np.bool_]) -> int:
    """Count the codes of known values; the last entry of ``is_known`` is the target of -1."""
    if not is_known[:-1].all():
        return int(np.count_nonzero(is_known[codes]))
    # Comparisons of small integers are many times faster than look-ups.
    n_missing = np.count_nonzero(codes < 0) + np.count_nonzero(codes == len(is_known) - 1)
    return len(codes) - int(n_missing)


def _as_level(value: Any, label: str) -> Level:
    """Return a category as a value that JSON can hold."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral) and -(2**63) <= int(value) < 2**64:
        return int(value)
    if isinstance(value, Real) and not isinstance(value, Integral):
        number = float(value)
        if not isfinite(number):
            raise ValueError(f"column {label} is {number}; a category must be finite")
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if isinstance(value, Integral):
        raise TypeError(
            f"column {label} holds the category {value!r}; an integer must be from -2**63 to"
            " 2**64 - 1 to be a category: make it a string, or the column one of numbers"
        )
    raise TypeError(
        f"column {label} holds the category {value!r} of type {type(value).__name__}; categories"
        " must be strings, numbers or booleans"
    )
