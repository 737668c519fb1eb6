"""Options for CSV files, and the standard input stream as a file."""

import argparse
import atexit
import os
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aucrank._data.csv_form import CsvOptions
from aucrank._data.missing_marks import MissingMarks, marks_by_column
from aucrank.cli._errors import DataError, UsageError

#: Name of the standard input stream as a file.
STDIN = "-"


@dataclass(frozen=True)
class TableOptions(CsvOptions):
    """Options of a command for data files.

    Attributes
    ----------
    sheet : str or None
        Sheet of a workbook.
    """

    sheet: str | None = None


def csv_options(args: argparse.Namespace) -> TableOptions:
    """Return the options of a command for data files."""
    separator = {"tab": "\t", "\\t": "\t", "blank": " "}.get(args.sep, args.sep)
    skip_rows = args.skip_rows
    if args.header_row is not None:
        if skip_rows is not None or not args.header:
            other = "--no-header" if skip_rows is None else "--skip-rows"
            raise UsageError(f"--header-row and {other} say where rows begin: leave one out")
        skip_rows = args.header_row - 1
    try:
        in_columns = marks_by_column(args.missing_in)
    except ValueError as error:
        raise UsageError(f"--missing-in: {error}") from error
    try:
        return TableOptions(
            separator,
            args.decimal,
            args.encoding,
            MissingMarks(tuple(args.missing), in_columns),
            skip_rows,
            args.comment,
            args.header,
            "--",
            args.skip_footer,
            args.sheet,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error


class _Copy:
    """A copy of the standard input stream as a file, which can be read repeatedly."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._folder = tempfile.TemporaryDirectory(prefix="aucrank-")
        self.path = Path(self._folder.name) / "data"
        with self.path.open("wb") as out:
            shutil.copyfileobj(stream, out)
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove the copy."""
        self._folder.cleanup()


_copies: dict[str, _Copy] = {}

# Names by which a shell hands over an open pipe, as in `aucrank score MODEL <(zcat rows.gz)`.
_OPEN_PIPES = ("/dev/fd/", "/proc/self/fd/", "/dev/stdin")


def is_copied(path: str) -> bool:
    """Return whether data can be read only once, from the standard input or an open pipe."""
    if path == STDIN:
        return True
    try:
        return path.startswith(_OPEN_PIPES) and stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def copy_of_pipe(path: str) -> str:
    """Return the path of a file with the content of the standard input stream or an open pipe."""
    if path == STDIN:
        stream: Any = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise DataError("there is no standard input stream to read data from")
        known = _copies.get(path)
        if known is None or known.stream is not stream:
            if known is not None:
                known.remove()
            _copies[path] = _Copy(stream)
        return str(_copies[path].path)
    # Another pipe may get the number of one that was closed.
    key = f"{path} {os.stat(path).st_ino}"
    if key not in _copies:
        with open(path, "rb") as stream:
            _copies[key] = _Copy(stream)
    return str(_copies[key].path)
