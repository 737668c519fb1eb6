"""What features are worth to an ensemble, by rows that its models have not seen."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aucrank._data.input import Columns
from aucrank.ensemble._cross_fit import CrossFit, CrossFitted

#: So many rows are scored in all, one for each row and feature, ...
_ROWS_TIMES_FEATURES = 40_000

#: ... but there are no fewer and no more rows than this.
_FEWEST, _MOST = 200, 2_000


def permutation_importances(
    cross: CrossFit, members: Sequence[CrossFitted], factors: Sequence[float], seed: int
) -> NDArray[np.float64]:
    """Return what the AUC of rows left out loses where the values of a feature change places.

    A sample of the rows of each fold is asked about, values changing places within the fold. A
    feature that models have taken noise for gains nothing there, however many values it has.

    Returns
    -------
    ndarray of float64, shape (n_features,)
        Mean over the folds; below 0 where shuffled values rank better by chance.
    """
    folds, sample = cross.folds, cross.sample
    n_features = len(sample.schema.features)
    n_asked = int(np.clip(_ROWS_TIMES_FEATURES // n_features, _FEWEST, _MOST))
    rng = np.random.default_rng(seed)
    losses = np.zeros((folds.n_folds, n_features))
    used = [(member, factor) for member, factor in zip(members, factors, strict=True) if factor > 0]
    for fold in range(folds.n_folds if used else 0):
        rows = np.concatenate(
            [
                rng.permutation(of_class)[: _share(len(of_class), n_asked, len(folds.rows))]
                for label in (False, True)
                for of_class in [np.flatnonzero((folds.of_row == fold) & (sample.labels == label))]
            ]
        )
        columns = _with_each_shuffled(sample.take(rows).columns, rng.permutation(len(rows)))
        scores = np.zeros(len(rows) * (1 + n_features))
        for member, factor in used:
            scores += factor * cross.ask(member.models[fold], columns)
        of_feature = scores.reshape(1 + n_features, len(rows))
        aucs = [cross.auc_of_rows(scores, rows) for scores in of_feature]
        losses[fold] = aucs[0] - np.array(aucs[1:])
    found: NDArray[np.float64] = losses.mean(axis=0)
    return found


def _share(n_rows: int, n_asked: int, n_all: int) -> int:
    """Return how many rows of a class of a fold are asked about: its share, but ten at least."""
    return max(10, round(n_rows * n_asked / n_all))


def _with_each_shuffled(columns: Columns, order: NDArray[np.intp]) -> Columns:
    """Return rows as they are, and then once with each feature in another order."""
    listed = columns if isinstance(columns, list) else list(columns.T)
    shuffled = []
    for feature, column in enumerate(listed):
        blocks = [column] * (1 + len(listed))
        blocks[1 + feature] = column[order]
        shuffled.append(np.concatenate(blocks))
    return shuffled if isinstance(columns, list) else np.column_stack(shuffled)
