"""Functions that workers of a cluster run on parts of the rows: gather, code and query them."""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.as_frame import as_frame
from aucrank._data.coded_rows import CodedBatch, coded_batch, labels_and_weights
from aucrank._data.facts import Facts, RowSurvey
from aucrank._data.fingerprint import Fingerprint
from aucrank._data.passes import Batch, TypedSource, need_columns
from aucrank.data._gathered import Gathered
from aucrank.data._sampled import Bounds, take_sampled

#: Name of the column of scores.
SCORE = "score"

#: Name of the column of probabilities.
PROBABILITY = "probability"


class Holder:
    """Coded rows that a worker holds.

    Parameters
    ----------
    frame : bytes
        Facts about all rows.
    rows : bytes, default=b""
        Coded rows to begin with.
    """

    def __init__(self, frame: bytes, rows: bytes = b"") -> None:
        self.frame = frame
        self.rows = _core.StoredRows(frame, None)
        self.rows.add_bytes(rows)

    def __reduce__(self) -> tuple[Any, ...]:
        return Holder, (self.frame, self.rows.to_bytes())

    def __sizeof__(self) -> int:
        return self.rows.n_bytes


def piece_of(part: Any, columns: Sequence[str], number: int) -> Batch:
    """Return some columns of a partition."""
    frame = nw.from_native(as_frame(part), eager_only=True)
    origin = f"partition {number}"
    need_columns(columns, frame.columns, origin)
    return Batch(frame.select(list(columns)), 0, origin)


class PartSource(TypedSource):
    """One partition as a source of its own.

    Parameters
    ----------
    part : data frame
        The partition.
    number : int
        Its number.
    """

    def __init__(self, part: Any, number: int) -> None:
        self._part = part
        self._number = number
        self.description = f"partition {number}"
        self.names = list(nw.from_native(as_frame(part), eager_only=True).columns)

    def count_rows(self) -> int:
        """Return the number of rows."""
        return len(self._part)

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Return some of the columns, in one batch."""
        batch = piece_of(self._part, columns, self._number)
        yield batch.frame, batch.origin


#: Facts about the rows of some partitions, and a fingerprint of each.
Surveyed = tuple[RowSurvey, list[Fingerprint]]


def survey_facts(part: Any, number: int, survey: RowSurvey) -> Surveyed:
    """Record the columns, labels and weights of a partition, given a survey of no rows."""
    # Other tasks of this worker are given the same survey.
    survey = deepcopy(survey)
    batch = piece_of(part, [*survey.features, *survey.other_columns], number)
    if len(batch.frame):
        survey.columns.look_at_dtypes(batch.frame, batch.origin)
        survey.look_at(batch)
    return survey, [Fingerprint.of(batch, survey.features, survey.other_columns)]


def merge_facts(found: Sequence[Surveyed]) -> Surveyed:
    """Merge the surveys of several partitions, in their order."""
    # The inputs stay unchanged: they may be merged again if a worker is lost.
    (survey, parts), *others = deepcopy(list(found))
    for more, more_parts in others:
        survey.merge(more)
        parts += more_parts
    return survey, parts


def weight_range(part: Any, number: int, facts: Facts) -> _core.WeightRange:
    """Return the range of the weights of a partition."""
    return _core.WeightRange().with_part(_weights(part, number, facts), 0)


def relative_sum(part: Any, number: int, facts: Facts, whole: _core.WeightRange) -> int:
    """Return the sum of the weights of a partition, relative to the largest of all."""
    return whole.relative_sum(_weights(part, number, facts))


def _weights(part: Any, number: int, facts: Facts) -> NDArray[np.float64]:
    """Return the weights of a partition, unless each row counts once."""
    other_columns = facts.other_columns
    batch = piece_of(part, other_columns, number)
    facts.parts[number].check(batch, [], other_columns)
    _, weights = labels_and_weights(batch, facts)
    assert weights is not None
    return weights


def gather(part: Any, number: int, facts: Facts, what: Gathered) -> bytes:
    """Return the state of the rows of a partition, in the form in which it is sent."""
    state = what.empty()
    if batch := _coded(part, number, facts):
        what.add(state, batch, 1)
    return what.to_bytes(state)


def merge_gathered(states: Sequence[bytes], what: Gathered) -> bytes:
    """Merge the states of several partitions."""
    whole = what.empty()
    for state in states:
        what.merge(whole, state, 1)
    return what.to_bytes(whole)


def hold(
    part: Any,
    number: int,
    facts: Facts,
    frame: bytes,
) -> Holder:
    """Code the rows of a partition."""
    holder = Holder(frame)
    if batch := _coded(part, number, facts):
        holder.rows.add(batch, 1)
        holder.rows.finish()
    return holder


def codes_of_part(part: Any, number: int, facts: Facts, frame: bytes) -> bytes:
    """Code the rows of a partition, and return them in the form of the core."""
    return hold(part, number, facts, frame).rows.to_bytes()


def on_coded(parts: Sequence[bytes], frame: bytes, work: Callable[[_core.StoredRows], Any]) -> Any:
    """Work on the rows of all partitions, in the form of the core."""
    rows = _core.StoredRows(frame, None)
    for part in parts:
        rows.add_bytes(part)
    return work(rows)


def rows_of_sample(part: Any, number: int, facts: Facts, bounds: Bounds) -> CodedBatch | None:
    """Return the rows of a partition that belong to a sample; None if it has no rows."""
    batch = _coded(part, number, facts)
    return None if batch is None else take_sampled(batch, facts, bounds, 1)


def _coded(part: Any, number: int, facts: Facts) -> CodedBatch | None:
    """Return the rows of a partition in the form of the core; None if there are none.

    Raises
    ------
    DataChangedError
        If they differ from those of the facts.
    """
    other_columns = facts.other_columns
    batch = piece_of(part, [*facts.names, *other_columns], number)
    facts.parts[number].check(batch, facts.names, other_columns)
    return coded_batch(batch, facts) if len(batch.frame) else None


@dataclass(frozen=True, slots=True)
class Scoring:
    """How the rows of a cluster are scored.

    Attributes
    ----------
    ranker : estimator
        Fitted.
    features : list of str
        Columns that it reads.
    columns : list of str
        Columns that are put before the scores.
    proba : bool
        Whether probabilities are added.
    """

    ranker: Any
    features: list[str]
    columns: list[str]
    proba: bool

    @property
    def needed(self) -> list[str]:
        """Names of all columns that are read."""
        return list(dict.fromkeys([*self.features, *self.columns]))

    @property
    def added(self) -> list[str]:
        """Names of the columns that are added, each of 64-bit floats."""
        return [SCORE, PROBABILITY] if self.proba else [SCORE]


def score(part: Any, number: int, scoring: Scoring) -> Any:
    """Score a partition; return a pandas frame with some of its columns before the scores."""
    batch, scores = scored(part, number, scoring)
    # Rows keep their pandas index.
    return batch.frame.to_pandas()[scoring.columns].assign(**scores)


def scored(
    part: Any, number: int, scoring: Scoring
) -> tuple[Batch, dict[str, NDArray[np.float64]]]:
    """Return features and other columns of a partition, and what is added to them."""
    batch = piece_of(part, scoring.needed, number)
    scores = dict.fromkeys(scoring.added, np.empty(0))
    if len(batch.frame):
        X = batch.frame.select(scoring.features).to_native()
        with batch.named_in_errors():
            scores[SCORE] = scoring.ranker.decision_function(X)
            if scoring.proba:
                scores[PROBABILITY] = scoring.ranker.predict_proba(X)[:, 1]
    return batch, scores


def state_of_part(
    part: Any,
    number: int,
    dataset: Callable[..., Any],
    roles: dict[str, Any],
    add: Callable[[Any, None], Any],
) -> Any:
    """Return the state of a partition, given the class of data sets and the roles of columns."""
    return add(dataset(PartSource(part, number), **roles), None)


def n_rows(holders: Sequence[Holder]) -> int:
    """Return the number of rows of holders."""
    return sum(holder.rows.n_rows for holder in holders)


def answer(holders: Sequence[Holder], ask: bytes, n_threads: int) -> bytes:
    """Answer a query about the rows of several holders."""
    return _core.answer_rows([holder.rows for holder in holders], ask, n_threads)


def merge(answers: Sequence[bytes], ask: bytes, frame: bytes) -> bytes:
    """Merge answers to one query."""
    return _core.merge_answers(frame, ask, list(answers))
