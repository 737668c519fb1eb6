"""Columns that name or number the rows, and so carry no information about other rows."""

import re
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

# Words of a name, also split at capital letters: customerID, RowNumber, SK_ID_CURR.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_]+|\d+")

# One of these anywhere in a name, or as its last word.
_ANYWHERE = frozenset({"id", "ids", "uuid", "guid", "rowid"})
_LAST = frozenset(
    {
        *("key", "index", "idx", "nr", "no", "num", "number", "nummer", "row", "rows", "rowname"),
        *("rownames", "rownum", "rownumber", "rownr", "rowno", "lfdnr", "pk", "serial", "record"),
    }
)
# German compounds, Kundennummer and Vertragsnr, and English ones without a mark between the words.
_ENDING = re.compile(
    r"[a-zäöüß]{3,}(?:nummer|nr|kennung)"
    r"|(?:acc|acct|account|card|case|client|contract|cust|customer|emp|employee|invoice|item|loan"
    r"|member|order|pat|patient|person|policy|record|subject|user|vendor)(?:no|num|number|id|ref)"
)
_WHOLE = frozenset(
    {"", "unnamed: 0", "names", "acct", "aktenzeichen", "numero", "número", "numéro"}
)

# Minimal number of rows for which integers that increase by one count as row numbers.
_ENOUGH = 50

# Number of values that are compared with each other; of more, only the first are known to differ.
_MOST_KEPT = 1 << 24


def names_rows(column: str) -> bool:
    """Return whether a column has a name that is typical of row identifiers."""
    name = column.strip().rstrip(".")
    if name.endswith(("#", "n°", "N°", "№")):
        return True
    if name.lower() in _WHOLE or _ENDING.fullmatch(name.lower()):
        return True
    words = words_of(name)
    return bool(words) and (not _ANYWHERE.isdisjoint(words) or words[-1] in _LAST)


def words_of(name: str) -> list[str]:
    """Return the words of a name in lower case."""
    return [word.lower() for word in _WORD.findall(name)]


class RowNames:
    """Detects whether a column names or numbers the rows, batch by batch.

    Parameters
    ----------
    column : str
        Name of the column.
    """

    def __init__(self, column: str) -> None:
        self._is_called_so = names_rows(column)
        self._is_numbering = True
        self._can_name = self._is_called_so
        self._is_rising = True
        self._last: Any = None
        self._n_rows = 0
        self._kept: list[NDArray[Any]] = []
        self._n_kept = 0

    @property
    def is_settled(self) -> bool:
        """Whether it is already certain that the column does not name the rows."""
        return not (self._can_name or self._is_numbering)

    @property
    def does(self) -> bool:
        """Whether the column names or numbers the rows."""
        if self._can_name and (self._is_rising or self._are_distinct()):
            return True
        return self._is_numbering and (self._is_called_so or self._n_rows >= _ENOUGH)

    def look_at(self, series: nw.Series[Any]) -> None:
        """Record the values of a batch."""
        if self.is_settled or not len(series):
            return
        values, is_number = _comparable(series)
        if values is None:
            self._can_name = self._is_numbering = False
            return
        self._n_rows += len(values)
        steps = np.diff(values) if is_number else None
        if self._is_numbering:
            follows = self._last is None or (is_number and values[0] == self._last + 1)
            self._is_numbering = steps is not None and follows and bool((steps == 1).all())
        if self._is_rising:
            follows = self._last is None or (is_number and values[0] > self._last)
            self._is_rising = steps is not None and follows and bool((steps > 0).all())
        if is_number:
            self._last = values[-1]
        if self._can_name and self._n_kept < _MOST_KEPT:
            self._kept.append(values)
            self._n_kept += len(values)

    def _are_distinct(self) -> bool:
        values = np.concatenate(self._kept)
        return len(np.unique(values)) == len(values)


def _comparable(series: nw.Series[Any]) -> tuple[NDArray[Any] | None, bool]:
    """Return integers, or hashes of texts, and which; None if there is anything else."""
    dtype = series.dtype
    if series.null_count():
        return None, False
    if dtype.is_integer():
        return np.asarray(series.to_numpy()), True
    if dtype.is_float():
        values = np.asarray(series.to_numpy())
        # NaN is not an integer, either.
        return (values if bool((values % 1 == 0).all()) else None), True
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return np.array([hash(text) for text in series.to_list()], dtype=np.int64), False
    return None, False
