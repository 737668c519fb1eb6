"""Rows that stay in a database, which is asked how many have a value and a label."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._data.as_frame import as_frame
from aucrank._data.coded_rows import coded_column
from aucrank._data.column_survey import ColumnSurvey
from aucrank._data.facts import Facts, finish_facts
from aucrank._data.frames import to_numbers
from aucrank._data.input import KindsByColumn, learn_names
from aucrank._data.passes import Batch, DataChangedError, check_column_names
from aucrank._data.schema import errors_by_name
from aucrank._data.target_survey import TargetSurvey, positive_rows
from aucrank._data.weights import check_class_weight, weigh_classes
from aucrank._utils.sql_spelling import column_name, spelling_of
from aucrank.data._scores import Scores, in_units, spilling_state

#: Distinct values that a column may have: what is counted of it comes here, and stays for a fit.
MOST_VALUES = 10**6

# Names inside of queries.
_COUNT, _ROWS, _NUMBERS = "n_rows", "counted", "in_numbers"


class SqlSource:
    """A table of a database.

    Parameters
    ----------
    query : callable
        Given the text of a query, returns its result as a data frame.
    table : str
        What stands after FROM.
    names : list of str or None
        Of the columns that are asked for; None for all, which the database is asked for.
    dialect : Dialect
        How names are quoted.

    Raises
    ------
    TypeError
        If ``query`` cannot be called or returns no frame, or ``table`` is no text.
    ValueError
        If the dialect is unknown, or the table has columns that cannot be told apart.
    """

    files: tuple[str, ...] = ()

    def __init__(
        self, query: Callable[[str], Any], table: str, names: list[str] | None, dialect: str
    ) -> None:
        if not callable(query):
            raise TypeError(
                "query must be a function of the text of a query that returns a data frame, got a"
                f" {type(query).__name__}"
            )
        if not isinstance(table, str) or not table.strip():
            raise TypeError(f"table must be what stands after FROM, got {table!r}")
        spelling_of(dialect)
        self._query = query
        self._table = table
        self.dialect = dialect
        self.description = f"table {table}"
        if names is None:
            found = self._ask(f"SELECT * FROM {table} WHERE 1 = 0")
            names = check_column_names(found.columns, self.description)
        self.names = names

    def heads(self, columns: Sequence[str]) -> None:
        """Return None: what a database calls its types is not what a frame does."""

    def count_rows(self) -> None:
        """Return None: the rows would have to be counted."""

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Refuse to read rows."""
        raise self.refusal()

    def check_unchanged(self) -> None:
        """Do nothing: a table has no time of change."""

    def refusal(self) -> TypeError:
        """Return the error of what would read the rows."""
        return TypeError(
            f"{self.description} is asked for counts, and its rows stay in the database: have it"
            " compute scores by the expression that to_sql of the model returns; roc_state"
            " measures them"
        )

    def quoted(self, name: str) -> str:
        """Return a name of a column as the database reads it.

        Raises
        ------
        ValueError
            If the dialect has no way to write it.
        """
        if not name:
            raise ValueError(
                f"a column of {self.description} has an empty name, which SQL cannot write"
            )
        return column_name(name, self.dialect, f"the name of column {name!r}")

    def grouped(self, expressions: dict[str, str], table: str | None = None) -> Batch:
        """Count the rows by the values of expressions over a row.

        Parameters
        ----------
        expressions : dict of str to str
            By what to call them.
        table : str, default=None
            What stands after FROM in place of the table.

        Returns
        -------
        Batch
            Their distinct values, with counts.
        """
        aliases = [self.quoted(f"value_{place}") for place in range(len(expressions))]
        listed = ", ".join(aliases)
        inner = ", ".join(
            f"{expression} AS {alias}"
            for expression, alias in zip(expressions.values(), aliases, strict=True)
        )
        # Grouped outside, where no column of the table can be taken for one of these names.
        frame = self._ask(
            f"SELECT {listed}, COUNT(*) AS {self.quoted(_COUNT)}"
            f" FROM (SELECT {inner} FROM {table or self._table}) {self.quoted(_ROWS)}"
            f" GROUP BY {listed}",
            n_columns=len(expressions) + 1,
        )
        # By position: a database may write names of its own way.
        *values, count = frame.columns
        counts = frame[count].to_numpy().astype(np.uint64)
        frame = frame.select(values).rename(dict(zip(values, expressions, strict=True)))
        return Batch(frame, 0, self.description, counts)

    def scored(
        self, score: str, target: str, table: str | None = None
    ) -> tuple[Batch, NDArray[np.float64]]:
        """Count the rows by an expression and their label.

        Parameters
        ----------
        score : str
            What is computed of a row, a number.
        target : str
            Column of labels.
        table : str, default=None
            What stands after FROM in place of the table.

        Returns
        -------
        batch : Batch
            With the labels.
        scores : ndarray of float64
            The numbers.
        """
        # Other than the target.
        name = f"score beside {target}"
        batch = self.grouped({name: score, target: self.quoted(target)}, table)
        with batch.named_in_errors():
            return batch, to_numbers(batch.frame[name], "of scores").astype(np.float64)

    def with_numbers(self, columns: Sequence[str], truths: Sequence[str]) -> str:
        """Return what stands after FROM to have truth values as numbers, which can be compared.

        Parameters
        ----------
        columns : sequence of str
            All that are asked for.
        truths : sequence of str
            Those of truth values.
        """
        listed = [
            f"CAST({name} AS INTEGER) AS {name}" if column in truths else name
            for column, name in ((column, self.quoted(column)) for column in columns)
        ]
        return f"(SELECT {', '.join(listed)} FROM {self._table}) {self.quoted(_NUMBERS)}"

    def check_values(self, column: str) -> None:
        """Check that a column has not too many distinct values to be counted.

        Raises
        ------
        ValueError
            Naming the column, and how many it has.
        """
        frame = self._ask(
            f"SELECT COUNT(DISTINCT {self.quoted(column)}) AS {self.quoted(_COUNT)}"
            f" FROM {self._table}",
            n_columns=1,
        )
        n_values = int(frame[frame.columns[0]].item(0))
        if n_values > MOST_VALUES:
            raise ValueError(
                f"column {column!r} of {self.description} has {n_values:,} distinct values, and"
                f" {MOST_VALUES:,} at most are counted: round it in a view, or leave it out of"
                " `columns`"
            )

    def facts(
        self,
        estimator: BaseEstimator,
        features: list[str],
        target: str,
        positive: Any,
        *,
        categorical_features: Any,
        class_weight: Any,
        also: KindsByColumn | None,
    ) -> "CountedFacts":
        """Learn what a fit has to know of all rows, and keep the counts; see `learn_facts`."""
        check_class_weight(class_weight)
        survey = ColumnSurvey(features, categorical_features, also)
        labels = TargetSurvey(target, None, class_weight)
        of_target = self.grouped({target: self.quoted(target)})
        labels.look_at(of_target)
        learn_names(estimator, nw.from_dict({name: [] for name in features}, backend="pandas"))
        assert of_target.counts is not None
        n_rows = int(of_target.counts.sum())
        counted = []
        if n_rows:
            # Labels that are not two are said before all columns are counted.
            labels.finish(positive)
        for name in features if n_rows else []:
            self.check_values(name)
            batch = self.grouped({name: self.quoted(name), target: self.quoted(target)})
            survey.look_at_dtypes(batch.frame, batch.origin)
            with batch.named_in_errors():
                survey.look_at(batch, None)
            counted.append(batch)
        facts = finish_facts(estimator, survey, labels, positive, n_rows, self.description)
        columns = [_coded(batch, facts, index, target) for index, batch in enumerate(counted)]
        truths = [
            name
            for name, batch in zip(features, counted, strict=True)
            if batch.frame.schema[name] == nw.Boolean
        ]
        known = facts.target, facts.schema, facts.dtypes, facts.n_rows
        return CountedFacts(*known, tuple(columns), tuple(truths))

    def _ask(self, text: str, n_columns: int | None = None) -> nw.DataFrame[Any]:
        try:
            answer = self._query(text)
        except Exception as err:
            err.add_note(f"asked: {text}")
            raise
        frame = nw.from_native(as_frame(answer), eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise TypeError(
                "query must return a data frame of pandas, polars or pyarrow, got a"
                f" {type(answer).__name__}"
            )
        if n_columns is not None and len(frame.columns) != n_columns:
            raise ValueError(
                f"query must return the {n_columns} columns that were asked for, got"
                f" {len(frame.columns)}; asked: {text}"
            )
        return frame


@dataclass(frozen=True, slots=True)
class CountedColumn:
    """The distinct values of a column in either class.

    Attributes
    ----------
    values : ndarray
        As the core borrows them.
    positive : ndarray of bool
        Of which class.
    counts : ndarray of uint64
        How many rows have the value and the class.
    """

    values: NDArray[Any]
    positive: NDArray[np.bool_]
    counts: NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class CountedFacts(Facts):
    """What is known of all rows, with the counts that tell it.

    Attributes
    ----------
    columns : tuple of CountedColumn
        One for each feature.
    truths : tuple of str
        Names of the features that are truth values to the database.
    """

    columns: tuple[CountedColumn, ...]
    truths: tuple[str, ...]


class CountedRows:
    """Rows for a fit that asks for class sums of values: what was counted of them.

    Parameters
    ----------
    facts : CountedFacts
        What was learned of them.
    source : SqlSource
        Where they are.
    target : str
        Column of labels.
    """

    def __init__(self, facts: CountedFacts, source: SqlSource, target: str) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights = _weight_unit(facts)
        self._facts = facts
        self._source = source
        self._target = target

    def round(self, ask: bytes) -> bytes:
        """Return the sums of all rows that a question asks for."""
        sums = _core.RawSums(ask)
        classes = np.array([False, True])
        sums.add_classes(
            classes, self._weights(classes), np.array(self._facts.target.class_counts, np.uint64)
        )
        with errors_by_name(self._facts.schema):
            for index, column in enumerate(self._facts.columns):
                batch = [column.values], column.positive, self._weights(column.positive)
                sums.add_counts(index, batch, column.counts)
        return sums.to_bytes()

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, which the database computes and counts."""
        scores, positive, counts = self._scored(score)
        units = in_units(self._weights(positive), self.weights)
        if units is not None:
            counts = counts * units.astype(np.uint64)
        state = spilling_state(None)
        state.update_counts(positive, scores, counts)
        return state

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points, which the database adds up and counts."""
        points, positive, counts = self._scored(score)
        found = _core.PointCounts(self.weights)
        found.add_counts(points, positive, self._weights(positive), counts)
        return found

    def _scored(
        self, score: Scores
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.uint64]]:
        """Return the distinct scores of either class, and how many rows have each."""
        source, facts, table = self._source, self._facts, None
        if facts.truths:
            table = source.with_numbers([*facts.names, self._target], facts.truths)
        batch, scores = source.scored(score.to_sql(source.dialect), self._target, table)
        positive = _positive(batch, facts, "the score", self._target)
        assert batch.counts is not None
        return scores, positive, batch.counts

    def _weights(self, positive: NDArray[np.bool_]) -> NDArray[np.float64] | None:
        return weigh_classes(self._facts.target.class_factors, positive, None)


def _coded(batch: Batch, facts: Facts, index: int, target: str) -> CountedColumn:
    """Return what was counted of a column as the core borrows it.

    Raises
    ------
    DataChangedError
        If these are not the rows of the facts.
    """
    positive = _positive(batch, facts, f"column {facts.schema.label(index)}", target)
    assert batch.counts is not None
    return CountedColumn(coded_column(batch, facts, index), positive, batch.counts)


def _positive(batch: Batch, facts: Facts, what: str, target: str) -> NDArray[np.bool_]:
    """Return which of the values that were counted are of positive rows.

    Raises
    ------
    DataChangedError
        If these are not the rows of the facts.
    """
    positive = positive_rows(batch, target, facts.target.classes)
    found = batch.count(~positive), batch.count(positive)
    if found != facts.target.class_counts:
        expected = facts.target.class_counts
        raise DataChangedError(
            f"{what} of {batch.origin} has {found[0]:,} negative and {found[1]:,} positive rows,"
            f" but {expected[0]:,} and {expected[1]:,} were counted before: a table must stay the"
            " same while it is learned from"
        )
    return positive


def _weight_unit(facts: Facts) -> tuple[_core.WeightRange, int] | None:
    """Return what the unit of all weights is chosen by, None where every row counts once."""
    factors = facts.target.class_factors
    if factors is None:
        return None
    whole, of_classes = _core.WeightRange(), []
    for factor, n_rows in zip(factors, facts.target.class_counts, strict=True):
        weight = np.array([factor])
        of_classes.append((weight, n_rows))
        whole = whole.merge(_core.WeightRange().with_part(weight, 0).repeated(n_rows))
    if whole.are_counts():
        return whole, 0
    return whole, sum(whole.relative_sum(weight) * n_rows for weight, n_rows in of_classes)
