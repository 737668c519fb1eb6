"""AUC of small scores by number of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucrank._data.table import Table
from aucrank._plots.parsimony import ParsimonyDisplay, draw_parsimony

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class Parsimony:
    """AUC of small scores by their number of features, on held-out rows.

    Attributes
    ----------
    table : Table
        One row for each number of features: ``n_features``; ``features``, those of the score of all
        rows; ``auc``, ``low``, ``high`` and ``standard_error``, cross-validated.
    n_features : int
        The fewest whose AUC is at most one standard error below the highest.
    """

    table: Table
    n_features: int

    @classmethod
    def measured(
        cls,
        y: NDArray[Any],
        scores: NDArray[np.float64],
        fold: NDArray[np.intp],
        weight: NDArray[np.float64] | None,
        features: Sequence[Sequence[str]],
        confidence: float,
    ) -> Parsimony:
        """Measure scores of held-out rows, a column for each number of features.

        Parameters
        ----------
        y, fold, weight : ndarray of shape (n,)
            Labels, numbers of folds, and weights or None.
        scores : ndarray of shape (n, n_sizes)
            Scores of the rows by models that have not seen them.
        features : sequence of sequences of str
            Features of the score of all rows, for each number of them.
        confidence : float
            Level of the intervals.
        """
        from aucrank.metrics import cross_validated_auc

        found = [
            cross_validated_auc(y, score, fold, sample_weight=weight, confidence=confidence)
            for score in scores.T
        ]
        auc = np.array([interval.auc for interval in found])
        errors = np.array([interval.standard_error for interval in found])
        best = int(auc.argmax())
        chosen = int(np.flatnonzero(auc >= auc[best] - errors[best])[0])
        numbers = np.array([len(names) for names in features])
        table = Table(
            n_features=numbers,
            features=np.array([", ".join(names) for names in features], dtype=np.str_),
            auc=auc,
            low=np.array([interval.low for interval in found]),
            high=np.array([interval.high for interval in found]),
            standard_error=errors,
        )
        return cls(table, int(numbers[chosen]))

    def plot(self, *, ax: Axes | None = None) -> ParsimonyDisplay:
        """Draw the AUC by number of features with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        ParsimonyDisplay
            What was drawn.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        return draw_parsimony(self.table, self.n_features, ax)
