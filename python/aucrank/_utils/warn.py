"""Warnings that point to the user's line."""

import sys
import warnings
from collections.abc import Sequence
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


class ReadingNote(UserWarning):
    """An unusual feature of a file, and how it is read: no reason to worry.

    Parameters
    ----------
    message : str
        The whole note.
    short : str, default=""
        A few words for a line that sums up several notes. Without them a note is always shown.
    columns : sequence of str, default=()
        The columns that it is about.
    """

    def __init__(self, message: str, short: str = "", columns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.short = short
        self.columns = tuple(columns)


def warn_caller(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into this package, however deep this call is.

    Parameters
    ----------
    message : str or Warning
        Text of the warning, or the warning itself.
    category : type of Warning, default=UserWarning
        Kind of the warning, if it is a text.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    # The callbacks of scikit-learn wrap `fit` in a function of theirs.
    return module == _PACKAGE or module.startswith((f"{_PACKAGE}.", "sklearn.callback."))
