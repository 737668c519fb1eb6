"""Errors of commands, and how they are shown."""

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from aucrank._utils.extras import import_extra
from aucrank._utils.plain_text import shown


class CommandError(Exception):
    """A message for the user instead of a traceback."""

    status = 1


class UsageError(CommandError):
    """The command line itself is wrong."""

    status = 2


class DataError(CommandError):
    """A file, or the data in it, cannot be used."""


def one_line(message: object) -> str:
    """Return the text of a message without line breaks."""
    return " ".join(str(message).split())


def complain(message: object) -> None:
    """Write a line to the standard error stream, if there is a writable one."""
    # Without a stream, `print` would use the standard output.
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"aucrank: {shown(one_line(message))}", file=sys.stderr)


@contextmanager
def plain_errors(doing: str) -> Iterator[None]:
    """Turn errors of an estimator or the file system into messages that say what was being done."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of our output has closed it: no error, see `main`
    except OSError as error:
        raise DataError(f"{doing}: {reason_of(error)}") from error
    except (ValueError, TypeError) as error:
        raise DataError(f"{doing}: {error}") from error


def needed(module: str, extra: str, caller: str) -> Any:
    """Return a module of an optional package, or say how to install it."""
    try:
        return import_extra(module, extra, caller)
    except ImportError as error:
        raise DataError(str(error)) from error


def content_of(path: str) -> bytes:
    """Return the content of a file, read once because a pipe cannot be read again."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {path}: {reason_of(error)}") from error


def readable(path: str) -> Path:
    """Return `path` if it is a file that can be opened repeatedly."""
    try:
        # Checked before opening: opening a pipe would block, or consume its content.
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise DataError(
                f"cannot read {path}: it is not a regular file, and data are read more than once;"
                " write them to a file first, or to the standard input of `-`"
            )
        with Path(path).open("rb"):
            return Path(path)
    except OSError as error:
        raise DataError(f"cannot read {path}: {reason_of(error)}") from error


def writable(path: str | Path) -> Path:
    """Return `path` if a file can be written there, to be checked before a long fit."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"cannot write {path}: it is a folder")
    # The target of a link is where the file will be.
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise DataError(f"cannot write {path}: there is no folder {path.parent}")
    replaces = path.is_file() or not path.exists()
    if replaces and not os.access(folder, os.W_OK):
        raise DataError(f"cannot write {path}: the folder {path.parent} takes no new files")
    return path


def reason_of(error: OSError) -> str:
    """Return the message of the system."""
    return (error.strerror or str(error)).lower()
