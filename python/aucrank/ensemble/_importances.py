"""Permutation importances of an ensemble on left-out rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aucrank import _core
from aucrank._data.input import Columns, each_column
from aucrank._data.sample import Sample
from aucrank._data.scores import of_two_classes
from aucrank._data.sparse import SparseColumns
from aucrank.ensemble._rows_left_out import RowsLeftOut

#: Maximal number of scores in total, one per row and feature, ...
_ROWS_TIMES_FEATURES = 40_000

#: ... but with at least and at most this number of rows.
_FEWEST, _MOST = 200, 2_000

#: Maximal number of values at a time, half a gigabyte.
_MOST_VALUES = 1 << 26


@dataclass(frozen=True)
class DrawnRows:
    """Rows of a fold on which its models are evaluated.

    Attributes
    ----------
    sample : Sample
        The rows.
    order : ndarray of int
        Permutation of the values of a feature.
    models : list of (float, model)
        For each member with weight its model without the fold, and the factor on its score.
    """

    sample: Sample
    order: NDArray[np.intp]
    models: list[tuple[float, _core.Model]]


def draw_rows(
    left_out: RowsLeftOut, members: Sequence[tuple[float, Sequence[_core.Model]]], seed: int
) -> list[DrawnRows]:
    """Sample from each fold the rows on which its models are evaluated.

    Parameters
    ----------
    left_out : RowsLeftOut
        The rows.
    members : sequence of (float, sequence of model)
        For each member with weight the factor on its score, and its model without each fold.
    seed : int
        Seed of the sample.
    """
    folds, sample = left_out.folds, left_out.sample
    n_queried = int(np.clip(_ROWS_TIMES_FEATURES // len(sample.schema.features), _FEWEST, _MOST))
    rng = np.random.default_rng(seed)
    drawn = []
    for fold in range(folds.n_folds):
        rows = np.concatenate(
            [
                rng.permutation(of_class)[: _share(len(of_class), n_queried, len(folds.rows))]
                for label in (False, True)
                for of_class in [np.flatnonzero((folds.of_row == fold) & (sample.labels == label))]
            ]
        )
        models = [(factor, of_folds[fold]) for factor, of_folds in members]
        drawn.append(DrawnRows(sample.take(rows), rng.permutation(len(rows)), models))
    return drawn


def permutation_importances(
    of_folds: Sequence[DrawnRows], n_features: int, n_threads: int
) -> NDArray[np.float64]:
    """Return the loss in AUC of left-out rows when the values of a feature are permuted.

    A sample of the rows of each fold is scored, with values permuted within the fold. Overfitting
    to a noise feature gains nothing there, however many values it has.

    Returns
    -------
    ndarray of float64, shape (n_features,)
        Mean over the folds; below 0 if shuffled values rank better by chance.
    """
    losses = np.zeros((len(of_folds), n_features))
    for fold, rows in enumerate(of_folds):
        if not rows.models:
            continue
        sample = rows.sample
        aucs = [
            of_two_classes(_core.roc_auc, sample.labels, scores, sample.weight)
            for shuffled in _batches(n_features, sample.n_rows)
            for scores in _scores(rows, shuffled, n_threads)
        ]
        losses[fold] = aucs[0] - np.array(aucs[1:])
    found: NDArray[np.float64] = losses.mean(axis=0)
    return found


def _share(n_rows: int, n_queried: int, n_all: int) -> int:
    """Return how many rows of a class of a fold are scored: its share, but at least ten."""
    return max(10, round(n_rows * n_queried / n_all))


def _batches(n_features: int, n_rows: int) -> list[list[int | None]]:
    """Return the features to permute, some at a time, after None for unchanged rows."""
    every = [None, *range(n_features)]
    at_once = max(1, _MOST_VALUES // (n_rows * n_features))
    return [every[first : first + at_once] for first in range(0, len(every), at_once)]


def _scores(rows: DrawnRows, shuffled: Sequence[int | None], n_threads: int) -> NDArray[np.float64]:
    """Return the scores of the rows, once with each of some features permuted."""
    columns = _with_each_shuffled(rows.sample.columns, rows.order, shuffled)
    scores = np.zeros(rows.sample.n_rows * len(shuffled))
    for factor, model in rows.models:
        scores += factor * model.score(columns, n_threads)
    return scores.reshape(len(shuffled), rows.sample.n_rows)


def _with_each_shuffled(
    columns: Columns, order: NDArray[np.intp], shuffled: Sequence[int | None]
) -> Columns:
    """Return the rows once for each of some features, with its values permuted."""
    repeated = (
        np.concatenate([column[order] if feature == own else column for feature in shuffled])
        for own, column in enumerate(each_column(columns))
    )
    if isinstance(columns, SparseColumns):
        return SparseColumns.of_columns(repeated, len(order) * len(shuffled))
    return list(repeated) if isinstance(columns, list) else np.column_stack(list(repeated))
