"""Sheets of workbooks, converted to CSV files."""

import csv
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from aucrank._data.csv_form import CsvOptions
from aucrank._data.csv_text import cell_text
from aucrank._data.data_files import UnreadableError, why_unreadable
from aucrank._data.reading import Fitted
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote, warn_caller
from aucrank._utils.words import did_you_mean
from aucrank.cli._errors import DataError, UsageError, needed


@contextmanager
def as_csv(
    file: str, options: CsvOptions, fitted: Fitted | None, path: str
) -> Iterator[tuple[str, CsvOptions]]:
    """Yield a sheet as a CSV file, and the options by which it is read.

    Parameters
    ----------
    file : str
        The workbook.
    options : CsvOptions
        The user's options.
    fitted : Fitted or None
        What a model knows of the files of its fit.
    path : str
        Name of the workbook in messages.
    """
    for option, given in (("sep", options.separator), ("encoding", options.encoding)):
        if given is not None:
            raise UsageError(f"{options.named(option)} is of CSV files, and {path} is a workbook")
    known = options if fitted is None else fitted.completed(options)
    # Numbers in a workbook have no decimal mark: they get the one by which they are read.
    decimal = known.decimal or "."
    rows = _rows(file, getattr(options, "sheet", None), path)[options.skip_rows or 0 :]
    with tempfile.TemporaryDirectory(prefix="aucrank-") as folder:
        sheet = Path(folder) / "sheet.csv"
        with sheet.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            for row in rows:
                cells = [cell_text(value, decimal) for value in row]
                # Formatted but empty rows are skipped.
                if any(cells):
                    writer.writerow(cells)
        skipped = None if options.skip_rows is None else 0
        yield (
            str(sheet),
            replace(options, separator=",", encoding="utf-8", decimal=decimal, skip_rows=skipped),
        )


def _rows(file: str, sheet: str | None, path: str) -> list[list[Any]]:
    """Return the cells of a sheet, from its first row and column on."""
    calamine = needed("python_calamine", "xlsx", "reading a workbook")
    try:
        # By its content: `from_path` goes by the name.
        with open(file, "rb") as stream:
            book = calamine.CalamineWorkbook.from_filelike(stream)
    except (calamine.CalamineError, OSError) as error:
        raise UnreadableError(path, "a workbook", why_unreadable(file, error)) from error
    names = list(book.sheet_names)
    if sheet is None:
        if len(names) > 1:
            warn_caller(
                f"of {path} the first of {len(names)} sheets is read, {shown(names[0])}"
                " (see --sheet)",
                ReadingNote,
            )
        sheet = names[0]
    elif sheet not in names:
        raise DataError(f"{path} has no sheet {sheet!r}{did_you_mean(sheet, names)}")
    rows: list[list[Any]] = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
    return rows
