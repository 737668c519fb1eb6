"""Scorers of the rows of a card that are read in passes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.apart import columns_apart
from aucrank._data.schema import Schema
from aucrank._export.formula import read_formula
from aucrank._export.sql import SqlWriter
from aucrank.additive._scorecard.recoding import recode
from aucrank.data._raw import RawRows


class RankerScores:
    """Scores of a fitted ranker.

    Parameters
    ----------
    ranker : BaseRanker
        Fitted to the columns of the card, with special values set apart if there are any.
    schema : Schema
        Of the columns of the card, which codes their categories.
    special : list of list of float, default=()
        Special values of each column that are set apart for the ranker.
    """

    def __init__(self, ranker: Any, schema: Schema, special: Any = ()) -> None:
        self._ranker = ranker
        self._schema = schema
        self._special = special

    def __call__(self, columns: list[NDArray[Any]], n_threads: int) -> NDArray[np.float64]:
        """Score rows, given in the form that the core borrows."""
        theirs = columns_apart(recode(columns, self._schema, self._ranker._schema), self._special)
        scores: NDArray[np.float64] = self._ranker._dispatch("score", None, theirs, n_threads)
        return scores

    def to_sql(self, dialect: Any) -> str:
        """Return the score of a row as an expression over its columns."""
        expression: str = self._ranker.to_sql(dialect)
        return expression


class BinScores:
    """Sums of values of bins, one for each feature.

    Parameters
    ----------
    text : str
        The sum, in the form of the core.
    schema : Schema
        Of the columns.
    """

    def __init__(self, text: str, schema: Schema) -> None:
        self._text = text
        self._schema = schema
        self._sum = _core.BinSum(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return BinScores, (self._text, self._schema)

    def __call__(self, columns: list[NDArray[Any]], n_threads: int) -> NDArray[np.float64]:
        """Sum the values of rows, given in the form that the core borrows."""
        return self._sum.values(columns, n_threads)

    def to_sql(self, dialect: str) -> str:
        """Return the sum as an expression over the columns of a row."""
        formula = read_formula(self._sum.formula(), "Scorecard", "SQL")
        return SqlWriter(self._schema, dialect).formula(formula)


class CardRows:
    """The rows of a card, as queried by the core.

    Parameters
    ----------
    rows : RawRows
        Reader or counter of the rows.
    ranker : RankerScores
        The ranker that the card represents.
    schema : Schema
        Of the columns.
    """

    def __init__(self, rows: RawRows, ranker: RankerScores, schema: Schema) -> None:
        self.n_levels = rows.n_levels
        self.weights = rows.weights
        self._rows = rows
        self._ranker = ranker
        self._schema = schema

    def round(self, ask: bytes) -> _core.RawSums:
        """Return the merged sums of all rows for a query."""
        return self._rows.round(ask)

    def ranker_scores(self) -> _core.RocState:
        """Return the scores of all rows by the ranker."""
        return self._rows.roc_state(self._ranker)

    def scores(self, of: str) -> _core.RocState:
        """Return the sums of all rows."""
        return self._rows.roc_state(BinScores(of, self._schema))

    def point_counts(self, of: str) -> _core.PointCounts:
        """Return the rows by points."""
        return self._rows.point_counts(BinScores(of, self._schema))
