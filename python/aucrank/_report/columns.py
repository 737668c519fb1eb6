"""Contents of the columns, and their shift from the training data."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._data.matching import Matcher
from aucrank._data.schema import Schema, is_missing
from aucrank._report.rows import UserColumn, UserRows
from aucrank.metrics._shift import Shift, measure_shift

#: A category of a smaller share of the rows is rare.
RARE_SHARE = 0.005

# Number of bins of a number, with shares of the training rows as equal as its values allow.
_N_BINS = 10

# Number of categories of the training data with their own bins; all others share one.
_MOST_LEVELS = 20

_SHOWN_LEVELS = 3


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """Contents of a column.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "category", "other"}
        "other" is neither, such as dates.
    missing : float
        Share of rows without a value.
    low, median, high : float or None
        Statistics of the known numbers; None for other columns and where all are missing.
    n_levels : int or None
        Number of categories.
    common : list of tuple of str and float
        The most frequent categories, with their shares of the rows.
    n_rare : int
        Number of categories that are rare, with a share below `RARE_SHARE`.
    unseen : float or None
        Share of rows whose category is not in the training data; None without training data, and
        for numbers in both.
    missing_then : float or None
        Share of training rows without a value; None without training data.
    shift : Shift or None
        Shift of the column from the training data; None without them.
    """

    name: str
    kind: str
    missing: float
    low: float | None = None
    median: float | None = None
    high: float | None = None
    n_levels: int | None = None
    common: tuple[tuple[str, float], ...] = ()
    n_rare: int = 0
    unseen: float | None = None
    missing_then: float | None = None
    shift: Shift | None = None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Rows that are also in the training data.

    Attributes
    ----------
    share : float
        Share of rows that equal a training row in every column.
    share_by_chance : float
        Share of the training rows that equal another training row: the share to expect from new
        cases.
    """

    share: float
    share_by_chance: float


def look_at_columns(
    rows: UserRows, training: UserRows | None
) -> tuple[list[ColumnFacts], Overlap | None]:
    """Summarise every column, compared with the training data if given."""
    if training is None:
        return [_facts(rows.column(index), None) for index in range(rows.n_columns)], None
    facts = []
    hashes = np.zeros(rows.n_rows, np.uint64), np.zeros(training.n_rows, np.uint64)
    for index in range(rows.n_columns):
        now, then = rows.column(index), training.column(index)
        facts.append(_facts(now, then))
        now, then = _of_one_kind(now, then)
        for mixed, values in zip(hashes, _alike(now, then), strict=True):
            _mix(mixed, values)
    return facts, _overlap(*hashes)


def check_same_columns(rows: UserRows, training: UserRows) -> None:
    """Check that the training data have the same columns.

    Raises
    ------
    ValueError
        If one is missing; the error names it.
    """
    if training.names != rows.names:
        raise ValueError(
            f"X_train has other columns than X: {_difference(training.names, rows.names)}"
        )


def _difference(then: Sequence[str], now: Sequence[str]) -> str:
    for name in then:
        if name not in now:
            return f"it has {name!r}"
    for name in now:
        if name not in then:
            return f"it lacks {name!r}"
    return "they are in another order"


def _facts(now: UserColumn, then: UserColumn | None) -> ColumnFacts:
    found: dict[str, Any] = {}
    n_rows = 0
    if now.numbers is not None:
        kind, n_rows = "number", len(now.numbers)
        known = now.numbers[~np.isnan(now.numbers)] if now.n_missing else now.numbers
        if len(known):
            found = {
                "low": float(known.min()),
                "median": float(np.median(known)),
                "high": float(known.max()),
            }
    elif now.codes is not None:
        kind, n_rows = "category", len(now.codes)
        shares = np.bincount(now.codes[now.codes >= 0], minlength=len(now.levels)) / n_rows
        order = sorted(
            range(len(now.levels)), key=lambda code: (-shares[code], str(now.levels[code]))
        )
        found = {
            "n_levels": len(now.levels),
            "common": tuple(
                (str(now.levels[code]), float(shares[code])) for code in order[:_SHOWN_LEVELS]
            ),
            "n_rare": int((shares < RARE_SHARE).sum()),
        }
    else:
        kind = "other"
    facts = ColumnFacts(now.name, kind, now.n_missing / n_rows if n_rows else 0.0, **found)
    if then is None:
        return facts
    now, then = _of_one_kind(now, then)
    if now.codes is not None and then.codes is not None:
        facts = replace(facts, unseen=_unknown_share(now, then.levels))
    return _with_shift(facts, now, then)


def unknown_to(schema: Schema, rows: UserRows) -> dict[str, float]:
    """Return the share of rows with a category unknown to the model, by categorical column.

    Parameters
    ----------
    schema : Schema
        Columns of the model.
    rows : UserRows
        The rows, with these columns.
    """
    return {
        rows.names[index]: _unknown_share(
            _matched(column.as_categories(), feature.levels), feature.levels
        )
        for index, feature in enumerate(schema.features)
        if feature.levels is not None and (column := rows.column(index)).other is None
    }


def _unknown_share(column: UserColumn, levels: Sequence[Any]) -> float:
    """Return the share of rows whose category is not one of some levels."""
    assert column.codes is not None
    known = set(levels)
    strange = np.array([*(level not in known for level in column.levels), False], dtype=np.bool_)
    return float(strange[column.codes].mean()) if len(column.codes) else 0.0


def _of_one_kind(now: UserColumn, then: UserColumn) -> tuple[UserColumn, UserColumn]:
    """Return two columns as numbers or as categories, if both can be converted.

    Categories match as for a model: "1" equals the number 1.
    """
    if now.numbers is not None and then.numbers is not None:
        return now, then
    now, then = now.as_categories(), then.as_categories()
    return _matched(now, then.levels), then


def _matched(column: UserColumn, levels: Sequence[Any]) -> UserColumn:
    """Return a categorical column with levels of another type replaced by those they match."""
    known, matcher = set(levels), Matcher(levels)

    def match(value: Any) -> Any:
        code = None if value in known else matcher.code_of(value)
        return value if code is None else levels[code]

    return replace(column, levels=[match(value) for value in column.levels])


def _with_shift(facts: ColumnFacts, now: UserColumn, then: UserColumn) -> ColumnFacts:
    places = _places(now, then)
    if places is None:
        return facts
    place_now, place_then = places
    n_bins = int(max(place_now.max(), place_then.max())) + 1
    counts = [
        np.bincount(place, minlength=n_bins).astype(np.float64) for place in (place_then, place_now)
    ]
    shift = measure_shift(counts[0], counts[1], len(place_then), len(place_now))
    return replace(facts, shift=shift, missing_then=then.n_missing / len(place_then))


def _places(now: UserColumn, then: UserColumn) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """Return the bin of each row, now and then; missing values are in bin 0."""
    if now.numbers is not None and then.numbers is not None:
        inner = tenths(then.numbers)
        return number_bins(now.numbers, inner), number_bins(then.numbers, inner)
    if now.codes is not None and then.codes is not None:
        counts = np.bincount(then.codes[then.codes >= 0], minlength=len(then.levels))
        order = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        bin_of = {then.levels[code]: place + 1 for place, code in enumerate(order)}
        # One bin for the categories that are rare in the training data or absent.
        return _level_bins(now, bin_of), _level_bins(then, bin_of)
    return None


def tenths(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the deciles of the known values, fewer if many are equal."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(0)
    # Edges are values themselves, not midpoints: a bin holds values up to its edge.
    edges = np.quantile(known, np.arange(1, _N_BINS) / _N_BINS, method="inverted_cdf")
    # Nothing lies above the greatest value.
    return np.unique(edges[edges < known.max()])


def number_bins(values: NDArray[np.float64], inner: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the bin of each value, 0 where it is missing."""
    places = np.searchsorted(inner, values, side="left") + 1
    places[np.isnan(values)] = 0
    return places


def _level_bins(column: UserColumn, bin_of: dict[Any, int]) -> NDArray[np.intp]:
    assert column.codes is not None
    table = [bin_of.get(level, len(bin_of) + 1) for level in column.levels]
    return np.array([*table, 0], dtype=np.intp)[column.codes]


def _alike(now: UserColumn, then: UserColumn) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return numbers, now and then, that are equal if and only if the values are."""
    if now.numbers is not None and then.numbers is not None:
        return _bits(now.numbers), _bits(then.numbers)
    if now.codes is not None and then.codes is not None:
        place: dict[Any, int] = {}
        codes = []
        for column in (now, then):
            table = [place.setdefault(level, len(place) + 1) for level in column.levels]
            codes.append(np.array([*table, 0], dtype=np.uint64)[column.codes])
        return codes[0], codes[1]
    if now.other is not None and then.other is not None:
        place = {}
        return _places_of(now.other, place), _places_of(then.other, place)
    # Dates in one and numbers in the other: nothing is equal.
    return np.zeros(1, np.uint64), np.ones(1, np.uint64)


def _places_of(series: nw.Series[Any], place: dict[Any, int]) -> NDArray[np.uint64]:
    """Return codes of values from 1, equal for equal ones; 0 for missing ones."""
    values = series.to_list()
    if not all(isinstance(value, Hashable) for value in values):
        values = [repr(value) for value in values]
    numbers = (
        0 if is_missing(value) else place.setdefault(value, len(place) + 1) for value in values
    )
    return np.fromiter(numbers, dtype=np.uint64, count=len(values))


def _bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    # 0.0 and -0.0 are equal, and so are all missing values here.
    return np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)


def _mix(mixed: NDArray[np.uint64], values: NDArray[np.uint64]) -> None:
    """Mix another column into the hash of each row, by the finaliser of SplitMix64."""
    mixed += values + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)


def _overlap(now: NDArray[np.uint64], then: NDArray[np.uint64]) -> Overlap:
    distinct, counts = np.unique(then, return_counts=True)
    place = np.minimum(np.searchsorted(distinct, now), len(distinct) - 1)
    return Overlap(
        float((distinct[place] == now).mean()), float(counts[counts > 1].sum() / len(then))
    )
