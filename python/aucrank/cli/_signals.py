"""Signals that end a command like Ctrl-C, without leaving temporary or partial files."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Processor seconds after which the exception is raised again. Python loses one that is raised in a
# finalizer or in a callback of a library, and the command would go on to its end.
_AGAIN = 1.0


class Ended:
    """The signal that has ended a command.

    Attributes
    ----------
    number : int or None
        Its number; None for Ctrl-C, or none.
    """

    number: int | None = None

    @property
    def status(self) -> int:
        """Exit status of a program ended by the signal, as in a shell."""
        return 128 + (signal.SIGINT if self.number is None else self.number)

    @property
    def says(self) -> str:
        """Description of the event, in a word."""
        return "interrupted" if self.number is None else "terminated"


@contextmanager
def ending_signals() -> Iterator[Ended]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP, unless they are handled otherwise.

    It is raised again for each further second of processor time. A second signal ends the process
    at once.
    """
    ended = Ended()
    has_timer = hasattr(signal, "setitimer")

    def again(*_: Any) -> None:
        raise KeyboardInterrupt

    def end(number: int, _: FrameType | None) -> None:
        ended.number = number
        signal.signal(number, signal.SIG_DFL)
        if has_timer and signal.getsignal(signal.SIGPROF) is signal.SIG_DFL:
            signal.signal(signal.SIGPROF, again)
            signal.setitimer(signal.ITIMER_PROF, _AGAIN, _AGAIN)
        raise KeyboardInterrupt

    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    # `nohup` ignores SIGHUP, and a program that calls `main` may have its own handlers.
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield ended
    finally:
        if has_timer and signal.getsignal(signal.SIGPROF) is again:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
