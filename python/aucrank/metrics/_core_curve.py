"""The exact curve of scores in the core, with the thresholds of its knots."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucrank import _core
from aucrank._data.scores import of_two_classes, to_scores


def core_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    any_labels: bool = True,
) -> _core.RocCurve:
    """Curve with every knot."""
    scores, distinct = to_scores(y_score)
    curve = of_two_classes(
        _core.RocCurve.from_scores, y_true, scores, sample_weight, any_labels=any_labels
    )
    if distinct is None:
        return curve
    return curve.with_thresholds(scores_of(curve.thresholds().copy(), distinct))


def scores_of(
    thresholds: NDArray[np.float64], distinct: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Scores in place of ranks, if thresholds are ranks."""
    if distinct is not None:
        thresholds[1:] = distinct[thresholds[1:].astype(np.intp)]
    return thresholds
