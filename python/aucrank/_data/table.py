"""A small table for display, with or without a data frame library."""

from html import escape
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank._utils.numbers import BOUNDS, P_VALUES, exact, p_text
from aucrank._utils.plain_text import shown

# A longer table shows only its two ends.
_MAX_ROWS = 60
_END_ROWS = 10


class Table(dict[str, NDArray[Any]]):
    """Columns by name, all of one length, that print as aligned text.

    Data frame libraries accept it like a dictionary: ``pandas.DataFrame(table)``.

    Parameters
    ----------
    *args, **kwargs
        As for `dict`: names and values, each an array-like of shape (n_rows,).

    Raises
    ------
    ValueError
        If a column is not one-dimensional, or the lengths differ.

    Examples
    --------
    >>> from aucrank._data.table import Table
    >>> Table(rule=["age <= 30", "otherwise"], size=[12, 104], lift=[2.5, 0.83])
    rule       size  lift
    age <= 30    12  2.50
    otherwise   104  0.83
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__({name: np.asarray(c) for name, c in dict(*args, **kwargs).items()})
        shapes = {name: column.shape for name, column in self.items()}
        if any(len(shape) != 1 for shape in shapes.values()) or len(set(shapes.values())) > 1:
            raise ValueError(f"columns of a table must be of one length, got shapes {shapes}")

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the table as a data frame.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, default="pandas"
            Library of the frame; it must be installed.

        Returns
        -------
        data frame
            With the same columns in the same order.
        """
        return nw.from_dict(dict(self), backend=backend).to_native()

    def __repr__(self) -> str:
        columns = [[shown(name), *_cells(name, column)] for name, column in self.items()]
        aligned = [
            _align(cells, right=column.dtype.kind in "iuf")
            for cells, column in zip(columns, self.values(), strict=True)
        ]
        lines = ["  ".join(row).rstrip() for row in zip(*aligned, strict=True)]
        return "\n".join(lines + self._note())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(shown(name))}</th>" for name in self)
        styles = [
            ' style="text-align: right"' if column.dtype.kind in "iuf" else ""
            for column in self.values()
        ]
        rows = zip(*(_cells(name, column) for name, column in self.items()), strict=True)
        body = "".join(
            "<tr>"
            + "".join(
                f"<td{style}>{escape(cell)}</td>" for style, cell in zip(styles, row, strict=True)
            )
            + "</tr>"
            for row in rows
        )
        note = "".join(f"<p>{escape(line)}</p>" for line in self._note())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"

    def _note(self) -> list[str]:
        return [f"[{self.n_rows} rows]"] if self.n_rows > _MAX_ROWS else []


def whole(weights: NDArray[np.float64]) -> NDArray[Any]:
    """Return weights as integers if they are counts, else unchanged."""
    are_counts = np.all((weights == weights.round()) & (weights <= 2**53))
    return weights.astype(np.int64) if are_counts else weights


def _cells(name: str, column: NDArray[Any]) -> list[str]:
    """Return the text of each row that is shown."""
    if len(column) <= _MAX_ROWS:
        return _texts(name, column)
    texts = _texts(name, np.concatenate((column[:_END_ROWS], column[-_END_ROWS:])))
    return [*texts[:_END_ROWS], "...", *texts[_END_ROWS:]]


def _texts(name: str, column: NDArray[Any]) -> list[str]:
    if column.dtype.kind != "f":
        return [shown(value) for value in column]
    if name in BOUNDS:
        return _in_full(column)
    if name in P_VALUES:
        return [p_text(value) for value in column]
    # The same number of decimals in every row, up to four, as needed to show each value in full.
    finite = np.abs(column[np.isfinite(column) & (column != 0)])
    if finite.size and not 1e-4 <= finite.min() <= finite.max() < 1e9:
        return [f"{value:.4g}" for value in column]
    decimals = min(
        (d for d in range(4) if np.array_equal(column.round(d), column, True)), default=4
    )
    return [f"{value:.{decimals}f}" for value in column]


def _in_full(column: NDArray[Any]) -> list[str]:
    """Return bounds with all their digits, aligned to the same number of decimals if few."""
    texts = [exact(value) for value in column]
    decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
    if decimals > 4 or any("e" in text for text in texts):
        return texts
    return [f"{value:.{decimals}f}" for value in column]


def _align(cells: list[str], *, right: bool) -> list[str]:
    width = max(map(len, cells))
    return [cell.rjust(width) if right else cell.ljust(width) for cell in cells]
