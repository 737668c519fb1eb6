"""Data files in order: finding them by name, and checking them for changes."""

import glob
import gzip
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

from aucrank._data.passes import DataChangedError
from aucrank._utils.words import plural

PathLike = str | os.PathLike[str]

_MAGIC = frozenset("*?[")
# Name that Hive and others give the folder of rows without a value.
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
# Files that Spark, Arrow and others hide in a data folder: logs, markers, incomplete files.
_HIDDEN = (".", "_")


def find_files(paths: PathLike | Sequence[PathLike], suffixes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that paths refer to, in order.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        Files; folders, for all files in and below them with these endings, sorted; and patterns
        such as ``"2026-*.parquet"``, for the matching files, sorted.
    suffixes : tuple of str
        Endings of names, in lower case.

    Raises
    ------
    FileNotFoundError
        If a path leads to no file.
    TypeError
        If it is not a path.
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not listed:
        raise FileNotFoundError("no files are given")
    found: list[str] = []
    for path in listed:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"paths must be strings or path-like, got {path!r}")
        found += _files_of(os.fspath(path), suffixes)
    return tuple(found)


def is_pattern(path: str) -> bool:
    """Return whether a path is a pattern, not a file name with pattern characters."""
    return bool(_MAGIC & set(path)) and not os.path.exists(path)


def _files_of(path: str, suffixes: tuple[str, ...]) -> list[str]:
    if os.path.isdir(path):
        files = sorted(
            str(file)
            for file in Path(path).rglob("*")
            if file.name.lower().endswith(suffixes)
            and not any(part.startswith(_HIDDEN) for part in file.relative_to(path).parts)
            and file.is_file()
        )
        if not files:
            ends = " or ".join(suffixes)
            raise FileNotFoundError(f"the folder {path} holds no file whose name ends in {ends}")
        return files
    if not is_pattern(path):
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no file {path}")
        return [path]
    files = sorted(file for file in glob.glob(path, recursive=True) if os.path.isfile(file))
    if not files:
        raise FileNotFoundError(f"no file matches {path}")
    return files


def folder_values(
    paths: PathLike | Sequence[PathLike], files: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return the column values in folder names ``column=value`` below paths.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        The argument of `find_files`.
    files : sequence of str
        The result of `find_files`.
    """
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    roots = [_fixed_part(os.fspath(path)) for path in listed]
    found = {}
    for file in files:
        # The longest path above the file.
        below = [root for root in roots if root is not None and Path(file).is_relative_to(root)]
        folders = Path(file).relative_to(max(below, key=len)).parts[:-1] if below else ()
        pairs = (folder.partition("=") for folder in folders if "=" in folder)
        found[file] = {
            unquote(name): "" if value == _NO_VALUE else unquote(value) for name, _, value in pairs
        }
    return found


def _fixed_part(path: str) -> str | None:
    """Return the folder at the start of a pattern, None for a file."""
    if os.path.isdir(path):
        return path
    if not is_pattern(path):
        return None
    parts = Path(path).parts
    first = next(k for k, part in enumerate(parts) if _MAGIC & set(part))
    return str(Path(*parts[:first]))


class Stamps:
    """Size and modification time of files, as of the first query."""

    def __init__(self, files: Sequence[str]) -> None:
        self._files = files
        self._first: list[tuple[int, int]] | None = None

    def check(self) -> None:
        """Check the files for changes.

        Raises
        ------
        DataChangedError
            If a file has changed; the message names the first and the change.
        """
        now = [_stamp(file) for file in self._files]
        if self._first is None:
            self._first = now
        for file, (size, time), (old_size, old_time) in zip(
            self._files, now, self._first, strict=True
        ):
            if size != old_size:
                raise DataChangedError(
                    f"{file} has changed while it was in use: it had {old_size:,} bytes, and now"
                    f" has {size:,}"
                )
            if time != old_time:
                raise DataChangedError(f"{file} has changed while it was in use: it was written to")


class UnreadableError(ValueError):
    """A file cannot be read."""

    def __init__(self, path: str, kind: str, reason: object) -> None:
        super().__init__(f"cannot read {path} as {kind}: {reason}")


@contextmanager
def read_errors(
    path: str,
    kind: str,
    stamps: Stamps,
    reason_of: Callable[[], str | None] | None = None,
    errors: tuple[type[Exception], ...] = (),
    called: str | None = None,
) -> Iterator[None]:
    """Name the file in reading errors; report a changed file as changed.

    Parameters
    ----------
    path : str
        The file.
    kind : str
        Format of the file.
    stamps : Stamps
        Detects whether it has changed.
    reason_of : callable or None, default=None
        Looks for the reason in the file; where it finds none, the reader's message is used.
    errors : tuple of type of Exception, default=()
        Exceptions of the library that reads it.
    called : str or None, default=None
        Name of the file in messages; None for the path.

    Raises
    ------
    UnreadableError
        Instead of an error of the library, of zlib or of the file system.
    """
    of_reading: tuple[type[Exception], ...] = (OSError, EOFError, zlib.error, *errors)
    try:
        yield
    except (UnicodeDecodeError, UnreadableError):
        raise
    except of_reading as err:
        stamps.check()
        reason = reason_of() if reason_of is not None else None
        if reason is None:
            reason = why_unreadable(path, err)
        raise UnreadableError(called or path, kind, reason) from err


def why_unreadable(path: str, err: Exception) -> str:
    """Return in words why a file cannot be read, given the error of its reader."""
    text = " ".join(str(err).split())
    if path.lower().endswith(".gz") and (
        isinstance(err, EOFError | zlib.error | gzip.BadGzipFile)
        or "zlib" in text
        or "ompress" in text
    ):
        return f"its compressed content is damaged or cut off ({text or type(err).__name__})"
    return text or type(err).__name__


def describe(files: Sequence[str]) -> str:
    """Return a name for several files in a message."""
    more = len(files) - 1
    return f"{files[0]} and {plural(more, 'more file')}" if more else files[0]


def _stamp(file: str) -> tuple[int, int]:
    try:
        status = os.stat(file)
    except FileNotFoundError as err:
        raise DataChangedError(f"{file} has changed while it was in use: it is gone") from err
    return status.st_size, status.st_mtime_ns
