"""Warnings that point to the user's line."""

import sys
import warnings
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


class ReadingNote(UserWarning):
    """An unusual feature of a file, and how it is read: no reason to worry."""


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into this package, however deep this call is.

    Parameters
    ----------
    message : str
        Text of the warning.
    category : type of Warning, default=UserWarning
        Kind of the warning.
    """
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    # The callbacks of scikit-learn wrap `fit` in a function of theirs.
    return module == _PACKAGE or module.startswith((f"{_PACKAGE}.", "sklearn.callback."))
