"""Results of one model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FoldResult:
    """Results of a model in one fold.

    Attributes
    ----------
    scores : ndarray of float64
        Scores of the held-out rows.
    fit_seconds, score_seconds : float
        Durations.
    n_bytes : int or None
        Size of the fitted model when stored; None if it cannot be stored.
    n_rules : int or None
        Number of its rules; None if unknown.
    """

    scores: NDArray[np.float64]
    fit_seconds: float
    score_seconds: float
    n_bytes: int | None
    n_rules: int | None


@dataclass
class Outcome:
    """Results of a model in all folds.

    Attributes
    ----------
    model : str
        Its name.
    package : str or None
        Its package, if not this one.
    n_folds : int
        Number of folds.
    folds : dict of int to FoldResult
        The completed ones, by number.
    error : str or None
        Error message.
    cut_off : str or None
        Why its other folds were not started.
    """

    model: str
    package: str | None
    n_folds: int
    folds: dict[int, FoldResult] = field(default_factory=dict)
    error: str | None = None
    cut_off: str | None = None

    @property
    def label(self) -> str:
        """The model, and its package."""
        return self.model if self.package is None else f"{self.model} ({self.package})"

    @property
    def is_complete(self) -> bool:
        """Whether all folds are completed, so that it can be compared."""
        return self.error is None and len(self.folds) == self.n_folds

    @property
    def in_order(self) -> list[FoldResult]:
        """The completed folds, in order."""
        return [self.folds[number] for number in sorted(self.folds)]

    @property
    def unfinished(self) -> str:
        """Remark on a model that is not compared."""
        if self.error is not None:
            return f"failed: {self.error}"
        if self.cut_off is not None:
            return self.cut_off
        if not self.folds:
            return "not begun"
        return f"incomplete: {len(self.folds)} of {self.n_folds} folds"
