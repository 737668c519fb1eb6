"""ROC statistics of a ranker on rows that are read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucrank._base.batch_scores import check_dataset, scored_batches
from aucrank._base.scoring import scoring_method
from aucrank._data.column_lookup import given_names
from aucrank._data.data_files import PathLike
from aucrank._data.target_survey import positive_rows, weights_of, with_last
from aucrank._utils.keywords import suggests_keywords
from aucrank.data import Dataset
from aucrank.metrics._state import RocState

#: Rows expanded from counted groups at a time.
_ROWS_AT_ONCE = 2**20


@suggests_keywords
def roc_state(
    ranker: Any,
    dataset: Dataset,
    *,
    max_size: int | None = None,
    weight_unit: float | None = None,
    spill_dir: PathLike | None = None,
    max_bytes: int = 2**30,
) -> RocState:
    """Score the rows of a data set and accumulate their ROC statistics.

    One batch of rows is in memory at a time. Rows of a cluster are scored on its workers, which
    return the states of their partitions. Rows of a database are scored in it, by the ``to_sql`` of
    the ranker, and returned as the number of rows by score and label. The state equals that of all
    rows at once, bit for bit, unless its size is bounded.

    Parameters
    ----------
    ranker : estimator
        Fitted, with ``classes_`` and with ``decision_function`` or ``predict_proba``.
    dataset : Dataset
        Rows with a target, whose labels are those of the ranker, and weights if there are any.
        Its ``positive`` says which label ranks first; the second of ``classes_`` by default.
    max_size : int, default=None
        Maximum number of entries of the state, for scores with few ties; see `RocState`.
    weight_unit : float, default=None
        Unit that weights are rounded to; see `RocState`.
    spill_dir : path-like, default=None
        Folder for scores with few ties that take more than ``max_bytes``; see `RocState`. The
        client then fetches the states of the partitions of a cluster one after the other and stores
        them there; without it, workers merge them, and one of them holds all in the end.
    max_bytes : int, default=2**30
        With a ``spill_dir``: bytes of memory that the state may take, at least 2**20.

    Returns
    -------
    RocState
        Of all rows. Those of several data sets can be added.

    Raises
    ------
    ClusterError
        If a cluster cannot score its rows.
    DataChangedError
        If the data change while being read.
    OSError
        If scores cannot be written to ``spill_dir``.
    TypeError
        If ``ranker`` is not a binary scorer, ``dataset`` is no `Dataset`, or its rows are in a
        database and ``ranker`` has no ``to_sql``.
    ValueError
        If the data set has no target, a label, a weight or a score is not valid, or the ranker
        cannot be written as SQL for rows of a database.

    See Also
    --------
    RocState : What is returned.
    roc_auc_score : The AUC of scores in memory.

    Examples
    --------
    >>> from aucrank import RIMARC
    >>> from aucrank.data import Dataset
    >>> from aucrank.datasets import load_breast_cancer
    >>> from aucrank.metrics import roc_state
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = RIMARC().fit(X, y)
    >>> dataset = Dataset.from_batches(X.assign(benign=y), target="benign", chunk_rows=100)
    >>> state = roc_state(model, dataset)
    >>> state.auc() == model.score(X, y)
    True
    """
    if scoring_method(ranker) is None or len(getattr(ranker, "classes_", ())) != 2:
        raise TypeError(
            f"ranker must be fitted to two classes and score rows, got a {type(ranker).__name__}"
        )
    check_dataset(dataset)
    dataset.need_target()
    state = RocState(
        max_size=max_size, weight_unit=weight_unit, spill_dir=spill_dir, max_bytes=max_bytes
    )
    add = partial(_add_rows, ranker=ranker, max_size=max_size, weight_unit=weight_unit)
    merge = _sum_of_states if spill_dir is None else None
    whole: RocState = dataset.engine.accumulated(dataset, add, state, merge)
    return whole


def _add_rows(
    dataset: Dataset,
    state: RocState | None,
    *,
    ranker: Any,
    max_size: int | None,
    weight_unit: float | None,
) -> RocState:
    """Score rows and add them to a state, or to a new one."""
    if state is None:
        state = RocState(max_size=max_size, weight_unit=weight_unit)
    target, weight = dataset.need_target(), dataset.weight
    classes = np.asarray(ranker.classes_)
    if dataset.positive is not None:
        classes = with_last(classes, dataset.positive, target)
    counted = dataset.engine.counted_scores(dataset, ranker)
    if counted is None:
        other_columns = given_names(target, weight)
        counted = (
            (batch, scores) for batch, _, scores in scored_batches(ranker, dataset, other_columns)
        )
    for batch, scores in counted:
        positive = positive_rows(batch, target, classes)
        weights = None if weight is None else weights_of(batch, weight)
        with batch.named_in_errors():
            if batch.counts is None:
                state.update(positive, scores, sample_weight=weights)
            elif weights is None:
                state.update_counts(positive, scores, batch.counts)
            else:
                for rows in _rows_of_groups(batch.counts):
                    state.update(positive[rows], scores[rows], sample_weight=weights[rows])
    return state


def _rows_of_groups(counts: NDArray[np.uint64]) -> Iterator[NDArray[np.intp]]:
    """Yield the group of each row, in batches of rows."""
    ends = np.cumsum(counts.astype(np.int64))
    n_rows = int(ends[-1]) if len(ends) else 0
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        rows = np.arange(first, min(first + _ROWS_AT_ONCE, n_rows))
        yield np.searchsorted(ends, rows, side="right")


def _sum_of_states(states: Sequence[RocState]) -> RocState:
    """Return the state of the rows of several states."""
    return reduce(add, states)
