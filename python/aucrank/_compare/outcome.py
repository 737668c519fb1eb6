"""What a model did."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FoldResult:
    """What a model did in one fold.

    Attributes
    ----------
    scores : ndarray of float64
        Of the rows that were held out.
    fit_seconds, score_seconds : float
        How long it took.
    n_bytes : int or None
        Size of the fitted model when stored; None for one that cannot be.
    n_rules : int or None
        How many rules it has; None where that is not known.
    """

    scores: NDArray[np.float64]
    fit_seconds: float
    score_seconds: float
    n_bytes: int | None
    n_rules: int | None


@dataclass
class Outcome:
    """What a model did in all folds.

    Attributes
    ----------
    model : str
        Its name.
    package : str or None
        Where it is from, if not from here.
    n_folds : int
        How many folds there are.
    folds : dict of int to FoldResult
        Those that are done, by number.
    error : str or None
        What went wrong.
    cut_off : str or None
        Why no more of its folds are done.
    """

    model: str
    package: str | None
    n_folds: int
    folds: dict[int, FoldResult] = field(default_factory=dict)
    error: str | None = None
    cut_off: str | None = None

    @property
    def label(self) -> str:
        """The model, and where it is from."""
        return self.model if self.package is None else f"{self.model} ({self.package})"

    @property
    def is_complete(self) -> bool:
        """Whether it did all folds, so that it can be compared."""
        return self.error is None and len(self.folds) == self.n_folds

    @property
    def in_order(self) -> list[FoldResult]:
        """The folds that are done, in their order."""
        return [self.folds[number] for number in sorted(self.folds)]

    @property
    def unfinished(self) -> str:
        """What there is to say of a model that is not compared."""
        if self.error is not None:
            return f"failed: {self.error}"
        if self.cut_off is not None:
            return self.cut_off
        if not self.folds:
            return "not begun"
        return f"incomplete: {len(self.folds)} of {self.n_folds} folds"
