"""Detection of numbers that may stand for missing values, such as 999."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.column_warnings import ColumnWarning, in_words, is_inner_fit
from aucrank._data.schema import Schema
from aucrank._utils.numbers import value_text
from aucrank._utils.warn import warn_caller

# Such a number occurs in at least this share of the known rows, and so many times.
_LEAST_SHARE, _LEAST_ROWS = 0.05, 30

# It is so many times as far from the next number as all others are apart, which are several.
_LEAST_GAP, _LEAST_OTHERS = 2.0, 5

# Or it is the only negative number, of nines or one, next to so many others.
_NEGATIVE = frozenset([-1.0, -9.0, -99.0, -999.0, -9999.0, -99999.0])
_LEAST_COUNTS = 10

# Of more rows, some at equal distances are looked at.
_MOST_ROWS = 20_000


def warn_of_marks(columns: Any, schema: Schema) -> None:
    """Warn of columns with a repeated number that is far from all others.

    Parameters
    ----------
    columns : ndarray of shape (n, n_features) or list of ndarray
        The rows in the form of the core; other kinds give no warning.
    schema : Schema
        Description of the columns.
    """
    if is_inner_fit() or not isinstance(columns, np.ndarray | list):
        return
    named = []
    for index, feature in enumerate(schema.features):
        if feature.levels is None:
            values = columns[index] if isinstance(columns, list) else columns[:, index]
            mark = _mark_in(values[:: -(-len(values) // _MOST_ROWS)])
            if mark is not None:
                named.append((schema.label(index), value_text(mark, feature.counts)))
    if named:
        label, text = named[0]
        one = len(named) == 1
        warn_caller(
            f"{in_words([f'{label} ({text})' for label, text in named])}"
            f" {'repeats a number' if one else 'repeat numbers'} that"
            f" {'is' if one else 'are'} far from all others. If"
            f" {'it stands' if one else 'they stand'} for missing values, write NaN instead, or, of"
            f" a file, --missing-in {label.strip(chr(39))}={text}.",
            ColumnWarning,
        )


def _mark_in(values: NDArray[Any]) -> float | None:
    """Return the number that may stand for missing values in a column, None if there is none."""
    known = values[np.isfinite(values)]
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) <= _LEAST_OTHERS:
        return None
    for place, nearest, others in ((-1, -2, distinct[:-1]), (0, 1, distinct[1:])):
        mark, n_rows = float(distinct[place]), int(counts[place])
        if mark == 0 or n_rows < max(_LEAST_ROWS, _LEAST_SHARE * len(known)):
            continue
        # In doubles: the range of float32 may overflow.
        gap = abs(mark - float(distinct[nearest]))
        is_far = gap >= _LEAST_GAP * (float(others[-1]) - float(others[0]))
        is_code = mark in _NEGATIVE and others[0] >= 0 and len(others) >= _LEAST_COUNTS
        if is_far or is_code:
            return mark
    return None
