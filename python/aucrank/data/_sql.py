"""Rows that stay in a database, which counts them by value and label."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from aucrank import _core
from aucrank._data.as_frame import as_frame
from aucrank._data.coded_rows import CodedBatch, coded_column
from aucrank._data.column_lookup import given_names
from aucrank._data.facts import Facts, RowSurvey
from aucrank._data.frames import to_numbers
from aucrank._data.input import learn_names
from aucrank._data.passes import Batch, DataChangedError, Passes, TypedSource, check_column_names
from aucrank._data.schema import errors_by_name
from aucrank._data.target_survey import TargetFacts
from aucrank._data.weights import weigh_classes
from aucrank._utils.sql_spelling import column_name, spelling_of
from aucrank.data._engine import Engine
from aucrank.data._gathered import Gathered
from aucrank.data._holder import Scoring
from aucrank.data._sampled import Bounds
from aucrank.data._scores import Scores, WeightUnit, in_units, spilling_state
from aucrank.data._stored import UnloggedRows

if TYPE_CHECKING:
    from aucrank.data._dataset import Dataset

#: Distinct values that a column may have: their counts are loaded, and kept for a fit.
MOST_VALUES = 10**6

# Names inside queries.
_COUNT, _ROWS, _NUMBERS = "n_rows", "counted", "in_numbers"


class SqlSource(TypedSource, Engine):
    """A table of a database.

    Parameters
    ----------
    query : callable
        Takes the text of a query and returns its result as a data frame.
    table : str
        Expression after FROM.
    names : list of str or None
        Names of the requested columns; None for all, found by a query.
    dialect : Dialect
        Dialect that determines the quoting of names.

    Raises
    ------
    TypeError
        If ``query`` is not callable or returns no frame, or ``table`` is not a text.
    ValueError
        If the dialect is unknown, or the table has columns that cannot be distinguished.
    """

    is_counted = True

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

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Raise an error: rows cannot be read."""
        raise self.refusal()

    def refusal(self) -> TypeError:
        """Return the error for code that would read the rows."""
        return TypeError(
            f"{self.description} is queried for counts, and its rows stay in the database: have it"
            " compute scores by the expression that to_sql of the model returns; roc_state"
            " measures them"
        )

    def quoted(self, name: str) -> str:
        """Return the quoted name of a column.

        Raises
        ------
        ValueError
            If the dialect cannot express it.
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
            Expressions by their name in the result.
        table : str, default=None
            Expression after FROM instead of the table.

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
        # Grouped in the outer query, where no column of the table can clash with these names.
        frame = self._ask(
            f"SELECT {listed}, COUNT(*) AS {self.quoted(_COUNT)}"
            f" FROM (SELECT {inner} FROM {table or self._table}) {self.quoted(_ROWS)}"
            f" GROUP BY {listed}",
            n_columns=len(expressions) + 1,
        )
        # By position: a database may change the case of names.
        *values, count = frame.columns
        counts = frame[count].to_numpy().astype(np.uint64)
        frame = frame.select(values).rename(dict(zip(values, expressions, strict=True)))
        return Batch(frame, 0, self.description, counts)

    def scored(
        self, score: str, other_columns: Sequence[str], table: str | None = None
    ) -> tuple[Batch, NDArray[np.float64]]:
        """Count the rows by an expression, their label and their weight.

        Parameters
        ----------
        score : str
            Numeric expression over a row.
        other_columns : sequence of str
            Columns of labels and of weights.
        table : str, default=None
            Expression after FROM instead of the table.

        Returns
        -------
        batch : Batch
            With the labels and weights.
        scores : ndarray of float64
            The numbers.
        """
        # A name that differs from these columns.
        name = f"score next to {' and '.join(other_columns)}"
        batch = self.grouped({name: score, **self._quoted_all(other_columns)}, table)
        with batch.named_in_errors():
            return batch, to_numbers(batch.frame[name], "of scores").astype(np.float64)

    def with_numbers(self, columns: Sequence[str], truths: Sequence[str]) -> str:
        """Return the expression after FROM with booleans as numbers, which can be compared.

        Parameters
        ----------
        columns : sequence of str
            All requested columns.
        truths : sequence of str
            The boolean ones.
        """
        listed = [
            f"CAST({name} AS INTEGER) AS {name}" if column in truths else name
            for column, name in ((column, self.quoted(column)) for column in columns)
        ]
        return f"(SELECT {', '.join(listed)} FROM {self._table}) {self.quoted(_NUMBERS)}"

    def check_values(self, column: str, weight: str | None) -> None:
        """Check that there are not too many distinct values, or pairs with weights, to count.

        Raises
        ------
        ValueError
            If it is; the message gives the column and the number.
        """
        if weight is None:
            selected = f"COUNT(DISTINCT {self.quoted(column)}) AS {self.quoted(_COUNT)}"
            rows, what, instead = self._table, "values", "round it"
        else:
            pair = f"{self.quoted(column)}, {self.quoted(weight)}"
            selected = f"COUNT(*) AS {self.quoted(_COUNT)}"
            rows = f"(SELECT DISTINCT {pair} FROM {self._table}) {self.quoted(_ROWS)}"
            what, instead = f"pairs of a value and {weight!r}", f"round it or {weight!r}"
        frame = self._ask(f"SELECT {selected} FROM {rows}", n_columns=1)
        n_values = int(frame[frame.columns[0]].item(0))
        if n_values > MOST_VALUES:
            raise ValueError(
                f"column {column!r} of {self.description} has {n_values:,} distinct {what}, and"
                f" {MOST_VALUES:,} at most are counted: {instead} in a view, or leave it out of"
                " `columns`"
            )

    def facts(
        self, estimator: BaseEstimator, passes: Passes, survey: RowSurvey, *, any_columns: bool
    ) -> "CountedFacts":
        """Learn the facts from counts of each column, and keep the counts."""
        features, other_columns = survey.features, self._quoted_all(survey.other_columns)
        of_target = self.grouped(other_columns)
        survey.labels.look_at(of_target)
        learn_names(estimator, nw.from_dict({name: [] for name in features}, backend="pandas"))
        assert of_target.counts is not None
        n_rows = int(of_target.counts.sum())
        counted = []
        if n_rows:
            # Raises if there are not two labels, before all columns are counted.
            target = survey.labels.finish()
        for name in features if n_rows else []:
            self.check_values(name, target.weight_column)
            batch = self.grouped({name: self.quoted(name), **other_columns})
            survey.columns.look_at_dtypes(batch.frame, batch.origin)
            weights = target.weights(batch)
            with batch.named_in_errors():
                survey.columns.look_at(batch, None if weights is None else weights > 0)
            counted.append(batch)
        facts = survey.finish(estimator, n_rows, self.description)
        of_rows = CountedGroups.of(of_target, facts.target)
        columns = []
        for index, batch in enumerate(counted):
            groups = CountedGroups.of(batch, facts.target)
            of_rows.check_same(groups, f"column {facts.schema.label(index)} of {batch.origin}")
            columns.append(CountedColumn(coded_column(batch, facts, index), groups))
        truths = [
            name
            for name, batch in zip(features, counted, strict=True)
            if batch.frame.schema[name] == nw.Boolean
        ]
        passes.check_rows(n_rows)
        known = facts.target, facts.schema, facts.dtypes, facts.n_rows
        return CountedFacts(*known, of_rows, tuple(columns), tuple(truths))

    def rows(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> AbstractContextManager[UnloggedRows]:
        """Raise an error: rows cannot be coded."""
        raise self.refusal()

    def codes(
        self, dataset: "Dataset", facts: Facts, binning: dict[str, Any], n_threads: int
    ) -> Any:
        """Raise an error: rows cannot be coded."""
        raise self.refusal()

    def raw_rows(self, dataset: "Dataset", facts: Facts, n_threads: int) -> "CountedRows":
        """Return the rows, which were counted for the facts."""
        assert isinstance(facts, CountedFacts)
        return CountedRows(facts, self)

    def gathered(self, dataset: "Dataset", facts: Facts, what: Gathered, n_threads: int) -> Any:
        """Raise an error: rows cannot be read."""
        raise self.refusal()

    def weight_unit(self, dataset: "Dataset", facts: Facts) -> WeightUnit:
        """Return what was found when the rows were counted."""
        assert isinstance(facts, CountedFacts)
        return _weight_unit(facts)

    def parts_within(
        self, dataset: "Dataset", facts: Facts, bounds: Bounds, n_threads: int
    ) -> Iterator[CodedBatch]:
        """Raise an error: rows cannot be read."""
        raise self.refusal()

    def scores(self, dataset: "Dataset", scoring: Scoring) -> Any:
        """Raise an error: scores of a model are an expression that it writes."""
        raise self.refusal()

    def counted_scores(
        self, dataset: "Dataset", ranker: Any
    ) -> Iterator[tuple[Batch, NDArray[np.float64]]]:
        """Score the rows in the database, and count them by score, label and weight."""
        if not hasattr(ranker, "to_sql"):
            raise TypeError(
                f"{type(ranker).__name__} has no to_sql, by which {dataset!r} would be scored in"
                " its database: read the rows, as by Dataset.from_batches"
            )
        if not hasattr(ranker, "feature_names_in_"):
            raise ValueError(
                f"{type(ranker).__name__} was fitted to columns without names, by which"
                f" {dataset!r} would be scored"
            )
        other_columns = given_names(dataset.need_target(), dataset.weight)
        batch, scores = self.scored(ranker.to_sql(self.dialect), other_columns)
        assert batch.counts is not None
        dataset.passes.check_rows(int(batch.counts.sum()))
        yield batch, scores

    def _quoted_all(self, names: Sequence[str]) -> dict[str, str]:
        return {name: self.quoted(name) for name in names}

    def _ask(self, text: str, n_columns: int | None = None) -> nw.DataFrame[Any]:
        try:
            answer = self._query(text)
        except Exception as err:
            err.add_note(f"query: {text}")
            raise
        frame = nw.from_native(as_frame(answer), eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise TypeError(
                "query must return a data frame of pandas, polars or pyarrow, got a"
                f" {type(answer).__name__}"
            )
        if n_columns is not None and len(frame.columns) != n_columns:
            raise ValueError(
                f"query must return the {n_columns} requested columns, got"
                f" {len(frame.columns)}; query: {text}"
            )
        return frame


@dataclass(frozen=True, slots=True)
class CountedGroups:
    """Groups of rows with the same class and weight, and possibly further values.

    Attributes
    ----------
    positive : ndarray of bool
        Class of each group.
    weights : ndarray of float64, or None
        Weight of a row, without class weights; None if there is no column of weights.
    counts : ndarray of uint64
        Number of rows of each group.
    """

    positive: NDArray[np.bool_]
    weights: NDArray[np.float64] | None
    counts: NDArray[np.uint64]

    @classmethod
    def of(cls, batch: Batch, target: TargetFacts) -> "CountedGroups":
        """Return the groups of counted rows."""
        assert batch.counts is not None
        return cls(target.positive(batch), target.weights(batch), batch.counts)

    def check_same(self, others: "CountedGroups", what: str) -> None:
        """Check that ``others`` may be groups of the same rows.

        Raises
        ------
        DataChangedError
            If their classes or weights differ.
        """
        (before, rows_before), (now, rows_now) = self._by_class(), others._by_class()
        if rows_now != rows_before:
            raise DataChangedError(
                f"{what} has {rows_now[0]:,} negative and {rows_now[1]:,} positive rows, but"
                f" {rows_before[0]:,} and {rows_before[1]:,} were counted before: {_STAY}"
            )
        if now != before:
            raise DataChangedError(
                f"{what} has rows of other weights than were counted before: {_STAY}"
            )

    def _by_class(self) -> tuple[dict[tuple[bool, float], int], tuple[int, int]]:
        """Return the number of rows of each class and weight, and of each class."""
        weights = np.ones(len(self.counts)) if self.weights is None else self.weights
        found: dict[tuple[bool, float], int] = {}
        rows = [0, 0]
        groups = zip(self.positive.tolist(), weights.tolist(), self.counts.tolist(), strict=True)
        for is_positive, weight, count in groups:
            found[is_positive, weight] = found.get((is_positive, weight), 0) + count
            rows[is_positive] += count
        return found, (rows[0], rows[1])

    def weighed(self, factors: tuple[float, float] | None) -> NDArray[np.float64] | None:
        """Return the weight of a row of each group times its class weight."""
        return weigh_classes(factors, self.positive, self.weights)


_STAY = "a table must stay the same while it is learned from"


@dataclass(frozen=True, slots=True)
class CountedColumn:
    """The distinct values of a column in either class.

    Attributes
    ----------
    values : ndarray
        In the form of the core.
    groups : CountedGroups
        Number of rows with each of them.
    """

    values: NDArray[Any]
    groups: CountedGroups


@dataclass(frozen=True, slots=True)
class CountedFacts(Facts):
    """Facts about all rows, with the counts from which they are derived.

    Attributes
    ----------
    of_rows : CountedGroups
        The rows by class and weight only.
    columns : tuple of CountedColumn
        One for each feature.
    truths : tuple of str
        Names of the features that are booleans in the database.
    """

    of_rows: CountedGroups
    columns: tuple[CountedColumn, ...]
    truths: tuple[str, ...]


class CountedRows:
    """Rows for a fit that needs only class sums of values, given their counts.

    Parameters
    ----------
    facts : CountedFacts
        Facts about them.
    source : SqlSource
        The table.
    """

    def __init__(self, facts: CountedFacts, source: SqlSource) -> None:
        self.n_levels = facts.schema.n_levels
        self.weights = _weight_unit(facts)
        self._facts = facts
        self._source = source

    def round(self, ask: bytes) -> _core.RawSums:
        """Return the sums of all rows for a query."""
        sums = _core.RawSums(ask)
        rows = self._facts.of_rows
        sums.add_classes(rows.positive, self._weighed(rows), rows.counts)
        with errors_by_name(self._facts.schema):
            for index, column in enumerate(self._facts.columns):
                groups = column.groups
                batch = [column.values], groups.positive, self._weighed(groups), None
                sums.add_counts(index, batch, groups.counts)
        return sums

    def roc_state(self, score: Scores) -> _core.RocState:
        """Return the scores of all rows, computed and counted by the database."""
        scores, groups = self._scored(score)
        units = in_units(self._weighed(groups), self.weights)
        counts = groups.counts if units is None else groups.counts * units.astype(np.uint64)
        state = spilling_state(None)
        state.update_counts(groups.positive, scores, counts)
        return state

    def point_counts(self, score: Scores) -> _core.PointCounts:
        """Return the rows by points, summed and counted by the database."""
        points, groups = self._scored(score)
        found = _core.PointCounts(self.weights)
        found.add_counts(points, groups.positive, self._weighed(groups), groups.counts)
        return found

    def _scored(self, score: Scores) -> tuple[NDArray[np.float64], CountedGroups]:
        """Return the distinct scores of either class, and the number of rows of each."""
        source, facts, table = self._source, self._facts, None
        other_columns = facts.target.columns
        if facts.truths:
            table = source.with_numbers([*facts.names, *other_columns], facts.truths)
        batch, scores = source.scored(score.to_sql(source.dialect), other_columns, table)
        groups = CountedGroups.of(batch, facts.target)
        facts.of_rows.check_same(groups, f"the score of {batch.origin}")
        return scores, groups

    def _weighed(self, groups: CountedGroups) -> NDArray[np.float64] | None:
        return groups.weighed(self._facts.target.class_factors)


def _weight_unit(facts: CountedFacts) -> WeightUnit:
    """Return what determines the unit of all weights, None if every row counts once."""
    weights = facts.of_rows.weighed(facts.target.class_factors)
    if weights is None:
        return None
    whole = _core.WeightRange()
    groups = list(zip(weights.reshape(-1, 1), facts.of_rows.counts.tolist(), strict=True))
    for weight, n_rows in groups:
        whole = whole.merge(_core.WeightRange().with_part(weight, 0).repeated(n_rows))
    if whole.are_counts():
        return whole, 0
    return whole, sum(whole.relative_sum(weight) * n_rows for weight, n_rows in groups)
