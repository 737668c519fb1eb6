"""How far a comparison is, and how long it will take from here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aucrank._compare.folds import Fold

#: Takes what there is to say: first its kind, ``"begins"``, ``"fold"`` or ``"model"``.
Say = Callable[[str, str], None]


class Progress:
    """Estimates the time left from the fits that are done.

    A fit takes as long as those of the same model, by the row; a fit of a model that has none as
    those of the others.

    Parameters
    ----------
    models : sequence of str
        Their names.
    folds : sequence of Fold
        What each of them does.
    n_workers : int
        How many fits run side by side.
    """

    def __init__(self, models: Sequence[str], folds: Sequence[Fold], n_workers: int) -> None:
        self._n_rows = [len(fold.train) for fold in folds]
        self._left = {name: set(range(len(folds))) for name in models}
        self._done: dict[str, list[tuple[float, int]]] = {name: [] for name in models}
        self._n_workers = n_workers
        self.start = perf_counter()

    def skip(self, model: str, fold: int) -> None:
        """Count a fit that is not to be done: it is known, or will not be known."""
        self._left[model].discard(fold)

    def done(self, model: str, fold: int, seconds: float) -> None:
        """Count a fit that was done."""
        self._left[model].discard(fold)
        self._done[model].append((seconds, self._n_rows[fold]))

    def seconds_left(self) -> float | None:
        """Return about how long the fits take that are not done; None before the first one."""
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
        """Return how long it takes from here, in words."""
        left = self.seconds_left()
        return "" if left is None else f", {duration(left)} left"


def duration(seconds: float) -> str:
    """Write about how long something takes."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 90:
        return f"{round(seconds)} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"


def _rate(done: Sequence[tuple[float, int]]) -> float:
    return sum(seconds for seconds, _ in done) / sum(n_rows for _, n_rows in done)
