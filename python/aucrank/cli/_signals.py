"""Signals that end a command as Ctrl-C does: it leaves no files of its own, nor half of one."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Ended:
    """Which signal has ended a command.

    Attributes
    ----------
    number : int or None
        Its number; None for Ctrl-C, or none.
    """

    number: int | None = None

    @property
    def status(self) -> int:
        """What a shell says of a program that the signal has ended."""
        return 128 + (signal.SIGINT if self.number is None else self.number)

    @property
    def says(self) -> str:
        """What has happened, in a word."""
        return "interrupted" if self.number is None else "terminated"


@contextmanager
def ending_signals() -> Iterator[Ended]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP, where nothing else is done about them.

    A second one ends the process at once.
    """
    ended = Ended()

    def end(number: int, _: FrameType | None) -> None:
        ended.number = number
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    names = ("SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    # `nohup` has SIGHUP ignored, and a program that calls `main` may have plans of its own.
    numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield ended
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)
