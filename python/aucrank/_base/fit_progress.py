"""Progress of a fit: printed lines, and the callbacks of scikit-learn."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any

from aucrank._base.callbacks import begin_fit, end_fit

#: With ``verbose=1``, one line is printed per this many parts.
_EVERY = 10

#: Figures by name; None where there is nothing to report.
Figures = Mapping[str, float | None]

#: Takes the estimator, the unit of its parts, how many are done, and the maximal number (None where
#: unknown).
Listener = Callable[[Any, str, int, int | None], None]

_listener: ContextVar[Listener | None] = ContextVar("_listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Notify a listener of each part of all fits that begin within, nested ones included."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class FitTasks:
    """The fit of an estimator as callbacks see it: stages, with parts such as rounds in them.

    Parameters
    ----------
    estimator : CoreEstimator
        The one being fitted.
    X, y, sample_weight : object
        Arguments of ``fit``.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any) -> None:
        self._estimator = estimator
        self._sample = (X, y, sample_weight)
        self._context = begin_fit(estimator, estimator._n_stages(), *self._sample)
        self._stage: Any = None

    @property
    def are_observed(self) -> bool:
        """Whether there are callbacks."""
        return self._context is not None and bool(self._context._callbacks)

    def part_done(self, unit: str, number: int, most: int | None, figures: Figures) -> bool:
        """Report a part to the callbacks; return whether the fit is to continue."""
        if number == 1 or self._stage is None:
            self._end_stage()
            name = self._estimator._stage_name or plural_of(unit)
            self._stage = self._context.subcontext(task_name=name, max_subtasks=most)
            self._stage.call_on_fit_task_begin(estimator=self._estimator)
        part = self._stage.subcontext(task_name=unit)
        part.call_on_fit_task_begin(estimator=self._estimator)
        found = {f"n_{plural_of(unit)}": number, **figures}
        return not part.call_on_fit_task_end(estimator=self._estimator, metadata=found)

    def end(self) -> None:
        """Notify callbacks that the estimator is fitted."""
        self._end_stage()
        end_fit(self._estimator, self._context, *self._sample)

    def _end_stage(self) -> None:
        if self._stage is not None:
            self._stage.call_on_fit_task_end(estimator=self._estimator)
            self._stage = None


class FitProgress:
    """Progress observer that the core calls after each part of a fit.

    Parameters
    ----------
    estimator : CoreEstimator
        The one that prints lines, according to its ``verbose``.
    tasks : FitTasks or None, default=None
        The callbacks of the estimator that the user fits.
    end : float or None, default=None
        Time by `time.perf_counter` at which the fit stops with what it has; None for no limit.
    begin : float or None, default=None
        Time at which the fit began; None for now.
    """

    def __init__(
        self,
        estimator: Any,
        tasks: FitTasks | None = None,
        end: float | None = None,
        begin: float | None = None,
    ) -> None:
        self._begin = perf_counter() if begin is None else begin
        self._estimator = estimator
        self._tasks = tasks if tasks is not None and tasks.are_observed else None
        self._end = end
        self._listener = _listener.get()

    def of(self, inner: Any) -> "FitProgress":
        """Return the progress of an estimator whose fit is part of this one."""
        return FitProgress(inner, self._tasks, self._end)

    def within(self, seconds: float | None) -> "FitProgress":
        """Return the progress of a fit limited to so many seconds in all; None for no limit."""
        if seconds is None:
            return self
        # Rows that are read, surveyed and coded for the fit take a part of them.
        end = self._begin + seconds
        return FitProgress(
            self._estimator, self._tasks, end if self._end is None else min(end, self._end)
        )

    @property
    def observer(self) -> "FitProgress | None":
        """The observer of parts for the core: None where nobody listens."""
        listens = self._tasks is not None or self._end is not None or self._verbose > 0
        return self if listens or self._listener is not None else None

    @property
    def has_callbacks(self) -> bool:
        """Whether something other than printed lines is to follow the parts of the fit."""
        return self._tasks is not None or self._listener is not None

    @property
    def seconds_left(self) -> float | None:
        """Time until the fit stops with what it has, read by the core; None for no limit."""
        return None if self._end is None else self._end - perf_counter()

    @property
    def seconds(self) -> float:
        """Time since the fit began."""
        return perf_counter() - self._begin

    def say(self, text: str) -> None:
        """Print a line of the estimator, unless it is silent."""
        if self._verbose > 0:
            print(f"[{type(self._estimator).__name__}] {text}")

    @property
    def _verbose(self) -> int:
        return getattr(self._estimator, "verbose", 0)

    def __call__(self, unit: str, number: int, most: int | None, figures: Figures, /) -> bool:
        """Report a part that is done; return whether the fit is to continue.

        Parameters
        ----------
        unit : str
            Name of the part, in the singular.
        number : int
            How many parts of its stage are done; 1 begins a stage.
        most : int or None
            Maximal number of parts of the stage, if known.
        figures : mapping
            Current figures of the fit.

        Returns
        -------
        bool
            False where a callback requests the fit to stop with what it has, or its time is up.
        """
        if self._verbose > 1 or (self._verbose == 1 and number % _EVERY == 0):
            print(self._estimator._progress_line(unit, number, most, figures))
        if self._listener is not None:
            self._listener(self._estimator, unit, number, most)
        goes_on = self._tasks is None or self._tasks.part_done(unit, number, most, figures)
        return goes_on and (self._end is None or perf_counter() < self._end)


def plural_of(unit: str) -> str:
    """Return the plural of the name of a part."""
    return {"radius": "radii"}.get(unit, f"{unit}s")
