"""What can be wrong with a command, and how it is said."""

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class CommandError(Exception):
    """A message for the user in place of a traceback."""

    status = 1


class UsageError(CommandError):
    """The command line itself is wrong."""

    status = 2


class DataError(CommandError):
    """A file, or the data in it, cannot be used."""


def one_line(message: object) -> str:
    """Text of a message without line breaks."""
    return " ".join(str(message).split())


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """End of the sentence "there is no NAME": the nearest known name, or else the known ones."""
    known = list(known)
    lower = {candidate.lower(): candidate for candidate in known}
    if near := difflib.get_close_matches(name.lower(), lower, n=1):
        return f"; did you mean {lower[near[0]]!r}?"
    shown = ", ".join(known[:12]) + (f", … ({len(known)} in all)" if len(known) > 12 else "")
    return f"; there are: {shown}" if known else ""


@contextmanager
def plain_errors(doing: str) -> Iterator[None]:
    """Say what an estimator or the file system objects to, after what was being done."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever reads our output has left: no error, see `main`
    except OSError as error:
        raise DataError(f"{doing}: {_reason(error)}") from error
    except (ValueError, TypeError) as error:
        raise DataError(f"{doing}: {error}") from error


def readable(path: str) -> Path:
    """`path` if there is a file that can be opened."""
    try:
        with Path(path).open("rb"):
            return Path(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {_reason(error)}") from error


def writable(path: str | Path) -> Path:
    """`path` if a file can be put there: better known before a long fit than after it."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise DataError(f"cannot write {path}: there is no folder {path.parent}")
    return path


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
