"""Progress of long work: a line that is overwritten, or without a terminal a few lines."""

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from aucrank._base.fit_progress import heard_by
from aucrank._compare.progress import duration
from aucrank._utils.plain_text import shown

Say = Callable[[str], None]

#: Seconds between two lines, on a terminal and elsewhere.
_OFTEN, _SELDOM = 0.1, 10.0

_BAR = 20


def silent(_: str) -> None:
    """Show nothing."""


@contextmanager
def progress(args: argparse.Namespace) -> Iterator[Say]:
    """Yield a function that shows a text, depending on the options: by default on a terminal.

    What has been read is known by then, or takes long: notes that wait are shown.
    """
    args.notes.show()
    stream = sys.stderr
    wanted = getattr(args, "progress", None)
    is_terminal = stream is not None and stream.isatty()
    is_shown = is_terminal if wanted is None else wanted
    if stream is None or getattr(args, "quiet", False) or not is_shown:
        yield silent
        return
    line = _ProgressLine(stream, is_terminal=is_terminal)
    try:
        yield line.show
    finally:
        line.clear()


class _ProgressLine:
    """A line of the standard error stream."""

    def __init__(self, stream: Any, *, is_terminal: bool) -> None:
        self._stream = stream
        self._is_terminal = is_terminal
        self._last: float | None = None
        self._width = 0

    def show(self, text: str) -> None:
        """Show a text, unless another one was shown very recently."""
        now, every = perf_counter(), _OFTEN if self._is_terminal else _SELDOM
        if self._last is not None and now - self._last < every:
            return
        self._last = now
        text = shown(text)
        if not self._is_terminal:
            print(f"aucrank: {text}", file=self._stream, flush=True)
            return
        # A longer line would wrap, and its first half would stay.
        text = text[: shutil.get_terminal_size().columns - 1]
        print(f"\r{text:<{self._width}}", end="", file=self._stream, flush=True)
        self._width = len(text)

    def clear(self) -> None:
        """Clear the line on a terminal."""
        if self._is_terminal and self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=self._stream, flush=True)


@contextmanager
def fit_shown(say: Say, estimator: Any, doing: str) -> Iterator[None]:
    """Show the progress of the fit of an estimator, and its remaining time."""
    say(doing)
    with heard_by(_FitBar(say, estimator, doing)):
        yield


class _FitBar:
    """Observer of the parts of a fit, and of the fits inside it."""

    def __init__(self, say: Say, estimator: Any, doing: str) -> None:
        self._say = say
        self._estimator = estimator
        self._doing = doing
        self._stage = ""
        self._start = self._heard = perf_counter()
        self._whole = self._inner = ""

    def __call__(self, estimator: Any, unit: str, number: int, most: int | None) -> None:
        now = perf_counter()
        # Such a fit ends long before the last of its rounds: their share and time mean nothing.
        stops_early = bool(getattr(estimator, "early_stopping", False))
        of = "" if most is None else f" of at most {most}" if stops_early else f" of {most}"
        if estimator is self._estimator:
            if unit != self._stage or number == 1:
                # It began where the stage before it ended.
                self._stage, self._start = unit, self._heard
            self._heard = now
            bar = left = ""
            if most is not None and most > 1 and not stops_early:
                n_full = round(_BAR * min(number / most, 1))
                bar = f"[{'#' * n_full}{'-' * (_BAR - n_full)}] "
                seconds = (now - self._start) * max(most - number, 0) / number
                # Early stopping may end it before.
                left = f", up to {duration(seconds)} left"
            self._whole, self._inner = f"{bar}{unit} {number}{of}{left}", ""
        else:
            self._inner = f"{type(estimator).__name__} {unit} {number}{of}"
        self._say(f"{self._doing}: {'; '.join(filter(None, [self._whole, self._inner]))}")
