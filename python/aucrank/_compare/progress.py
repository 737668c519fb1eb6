"""Progress of a comparison, and the estimated time left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aucrank._compare.folds import Fold

#: Takes a message: first its kind, ``"begins"``, ``"fold"`` or ``"model"``.
Say = Callable[[str, str], None]


class Progress:
    """Estimates the time left from the finished fits.

    The time per row of a fit is estimated from those of the same model; for a model without
    finished fits, from those of the others.

    Parameters
    ----------
    models : sequence of str
        Their names.
    folds : sequence of Fold
        The folds that each of them runs.
    n_workers : int
        Number of fits that run in parallel.
    """

    def __init__(self, models: Sequence[str], folds: Sequence[Fold], n_workers: int) -> None:
        self._n_rows = [len(fold.train) for fold in folds]
        self._left = {name: set(range(len(folds))) for name in models}
        self._done: dict[str, list[tuple[float, int]]] = {name: [] for name in models}
        self._n_workers = n_workers
        self.start = perf_counter()

    def skip(self, model: str, fold: int) -> None:
        """Count a fit that will not run: its result is known, or will stay unknown."""
        self._left[model].discard(fold)

    def done(self, model: str, fold: int, seconds: float) -> None:
        """Count a finished fit."""
        self._left[model].discard(fold)
        self._done[model].append((seconds, self._n_rows[fold]))

    def seconds_left(self) -> float | None:
        """Return the estimated duration of the remaining fits; None before the first one."""
        rates = {name: _rate(done) for name, done in self._done.items() if done}
        if not rates:
            return None
        usual = sum(rates.values()) / len(rates)
        return (
            sum(
                rates.get(name, usual) * self._n_rows[fold]
                for name, folds in self._left.items()
                for fold in folds
            )
            / self._n_workers
        )

    def says(self) -> str:
        """Return the estimated time left, in words."""
        left = self.seconds_left()
        return "" if left is None else f", {duration(left)} left"


def duration(seconds: float) -> str:
    """Write an approximate duration."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 90:
        return f"{round(seconds)} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def _rate(done: Sequence[tuple[float, int]]) -> float:
    return sum(seconds for seconds, _ in done) / sum(n_rows for _, n_rows in done)
