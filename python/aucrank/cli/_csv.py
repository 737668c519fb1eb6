"""Options for CSV files, and the standard input stream as a file."""

import argparse
import atexit
import shutil
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
    separator = {"tab": "\t", "\\t": "\t"}.get(args.sep, args.sep)
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
            args.sheet,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error


class _Copy:
    """A copy of the standard input stream as a file, which can be read repeatedly."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self._folder = tempfile.TemporaryDirectory(prefix="aucrank-")
        head = stream.read(4)
        name = {b"PAR1": "data.parquet", b"PK\x03\x04": "data.xlsx"}.get(head, "data.csv")
        self.path = Path(self._folder.name) / (name + ".gz" * head.startswith(b"\x1f\x8b"))
        with self.path.open("wb") as out:
            out.write(head)
            shutil.copyfileobj(stream, out)
        atexit.register(self.remove)

    def remove(self) -> None:
        """Remove the copy."""
        self._folder.cleanup()


_copies: list[_Copy] = []


def copy_of_stdin() -> str:
    """Return the path of a file with the content of the standard input stream."""
    stream: Any = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise DataError("there is no standard input stream to read data from")
    if not _copies or _copies[0].stream is not stream:
        for copy in _copies:
            copy.remove()
        _copies[:] = [_Copy(stream)]
    return str(_copies[0].path)
