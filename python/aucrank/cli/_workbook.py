"""Sheets of workbooks, converted to CSV files."""

import csv
import re
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from aucrank._data.csv_form import CsvOptions, without_last
from aucrank._data.csv_text import cell_text
from aucrank._data.data_files import UnreadableError, why_unreadable
from aucrank._data.file_content import is_zip
from aucrank._data.reading import Fitted
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote, warn_caller
from aucrank._utils.words import did_you_mean
from aucrank.cli._errors import DataError, UsageError, needed

# Cells from the first to the last row and column of a sheet, which the reader keeps in 32 bytes
# each, whether they are filled or not.
_MOST_CELLS = 40_000_000

# Texts of all sheets, unpacked.
_MOST_TEXT = 1 << 30

# Rows in which the names of the columns are looked for.
_ROWS_ABOVE = 30

_BLOCK = 1 << 20

# A cell with a value; one that is only formatted ends in a slash. Cells without a place follow the
# one before.
_CELL = re.compile(rb'<(?:\w+:)?c(?=[\s>])(?:[^>]*?\sr="([A-Z]{1,3})(\d{1,7})")?[^>]*(?<!/)>')
# The usual form of a place, which is found quickly.
_PLACE = re.compile(rb' r="([A-Z]{1,3})(\d{1,7})"')

# Other tags of a sheet that begin like one of a cell.
_LIKE_CELLS = (b"<col", b"<cf", b"<conditional", b"<custom", b"<cell", b"<control")
_ROW = re.compile(rb'<(?:\w+:)?row\s[^>]*?\br="(\d{1,7})"')


@contextmanager
def as_csv(
    file: str, options: CsvOptions, fitted: Fitted | None, path: str, labels: str | None = None
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
    labels : str or None, default=None
        Column of labels. Without the option for the sheet, the first one that has it, or else the
        columns of the model, is read.
    """
    for option, given in (("sep", options.separator), ("encoding", options.encoding)):
        if given is not None:
            raise UsageError(f"{options.named(option)} is of CSV files, and {path} is a workbook")
    known = options if fitted is None else fitted.completed(options)
    # Numbers in a workbook have no decimal mark: they get the one by which they are read.
    decimal = known.decimal or "."
    needs = [labels] if labels is not None else []
    if fitted is not None:
        needs += [*fitted.numbers, *fitted.texts]
    with tempfile.TemporaryDirectory(prefix="aucrank-") as folder:
        sheet = Path(folder) / "sheet.csv"
        with sheet.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out, lineterminator="\n")
            found = _rows(file, getattr(options, "sheet", None), path, needs)
            rows = islice(found, options.skip_rows or 0, None)
            cells = ([cell_text(value, decimal) for value in row] for row in rows)
            # Formatted but empty rows are skipped.
            writer.writerows(without_last(filter(any, cells), options.skip_footer or 0, bool))
        known = replace(options, separator=",", encoding="utf-8", decimal=decimal)
        skipped = None if options.skip_rows is None else 0
        n_last = None if options.skip_footer is None else 0
        yield str(sheet), replace(known, skip_rows=skipped, skip_footer=n_last)


def _rows(file: str, sheet: str | None, path: str, needs: Iterable[str]) -> Iterator[list[Any]]:
    """Return the cells of a sheet, from its first row and column on."""
    calamine = needed("python_calamine", "xlsx", "reading a workbook")
    try:
        _check_parts(file, path)
        # By its content: `from_path` goes by the name.
        with open(file, "rb") as stream:
            book = calamine.CalamineWorkbook.from_filelike(stream)
        names = list(book.sheet_names)
        if sheet is None:
            sheet = names[0] if len(names) == 1 else _picked(book, names, file, path, needs)
        elif sheet not in names:
            raise DataError(f"{path} has no sheet {sheet!r}{did_you_mean(sheet, names)}")
        return _rows_of(book, sheet, file, path)
    except (calamine.CalamineError, zipfile.BadZipFile, zlib.error, OSError) as error:
        raise UnreadableError(path, "a workbook", why_unreadable(file, error)) from error


def _picked(book: Any, names: list[str], file: str, path: str, needs: Iterable[str]) -> str:
    """Return the first sheet that has the needed columns, or else the first; and note which."""
    wanted = set(needs)
    place = why = None
    for k, name in enumerate(names) if wanted else ():
        above = islice(_rows_of(book, name, file, path), _ROWS_ABOVE)
        if any(wanted <= {str(cell) for cell in row} for row in above):
            place = k
            break
    if wanted:
        which = f"the column {shown(min(wanted))!r}" if len(wanted) == 1 else "the columns needed"
        why = f"no sheet has {which}" if place is None else f"it has {which}" if place else None
    of = "the first" if not place else f"number {place + 1}"
    named = shown(names[place or 0])
    hint = "see --sheet" if why is None else f"{why}; see --sheet"
    note = f"of {path} {of} of {len(names)} sheets is read, {named} ({hint})"
    warn_caller(ReadingNote(note, f"sheet {named}"))
    return names[place or 0]


def _rows_of(book: Any, sheet: str, file: str, path: str) -> Iterator[list[Any]]:
    _check_extent(file, sheet, path)
    cells = book.get_sheet_by_name(sheet)
    # Its rows begin with the first column that is filled.
    left = [""] * (cells.start[1] if cells.start else 0)
    return ([*left, *row] for row in cells.iter_rows())


def _check_parts(file: str, path: str) -> None:
    """Raise an error if a zip archive is not a workbook, or its texts take too much memory."""
    if not is_zip(file):
        return
    with zipfile.ZipFile(file) as archive:
        sizes = {part.filename: part.file_size for part in archive.infolist()}
    if "xl/workbook.xml" not in sizes:
        what = "a binary workbook" if "xl/workbook.bin" in sizes else "no workbook"
        reason = f"it is {what}: save its table as .xlsx or .csv"
        raise UnreadableError(path, "a workbook", reason)
    n_bytes = sum(size for name, size in sizes.items() if "worksheets/" not in name)
    if n_bytes > _MOST_TEXT:
        raise UnreadableError(
            path,
            "a workbook",
            f"its texts take {n_bytes / 1e9:.2g} GB, where {_MOST_TEXT / 1e9:.2g} are the most:"
            " save its table as .csv",
        )


def _check_extent(file: str, sheet: str, path: str) -> None:
    """Raise an error if a sheet reaches further than memory allows, before it is read."""
    if not is_zip(file):
        # Sheets of older workbooks have at most 65,536 rows of 256 columns.
        return
    with zipfile.ZipFile(file) as archive:
        part = _part_of(archive, sheet)
        if part is None:
            return
        if _is_surely_small(archive, part):
            return
        n_rows, n_columns, n_filled = _extent(archive, part)
    if n_rows * n_columns > _MOST_CELLS:
        raise UnreadableError(
            path,
            "a workbook",
            f"the sheet {shown(sheet)} reaches to row {n_rows:,} and column {n_columns:,}, with"
            f" {n_filled:,} filled cells: {_MOST_CELLS:,} cells are the most. Delete what is beyond"
            " its table, or save it as .csv",
        )


def _part_of(archive: zipfile.ZipFile, sheet: str) -> str | None:
    """Return the part of a workbook that holds a sheet, None if it is not clear."""
    try:
        book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
        links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    except (KeyError, ElementTree.ParseError):
        return None
    targets = {link.get("Id"): link.get("Target", "") for link in links}
    for found in book.iter():
        if found.tag.endswith("}sheet") and found.get("name") == sheet:
            link = next((value for key, value in found.items() if key.endswith("}id")), None)
            target = targets.get(link, "")
            part = target[1:] if target.startswith("/") else f"xl/{target}"
            return part if part in archive.namelist() else None
    return None


def _blocks(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield the text of a part in pieces of whole tags."""
    with archive.open(part) as stream:
        left = b""
        while block := stream.read(_BLOCK):
            text = left + block
            # A tag that goes on belongs to the next block.
            end = text.rfind(b"<")
            text, left = text[:end], text[end:][:_BLOCK]
            yield text


def _is_surely_small(archive: zipfile.ZipFile, part: str) -> bool:
    """Return whether no place in a sheet is far, of filled cells or others.

    Half the time of a look at which cells are filled (0.45 s for 300,000 cells in place of 0.94 s),
    and enough for nearly all sheets.
    """
    rows: set[bytes] = set()
    columns: set[bytes] = set()
    for text in _blocks(archive, part):
        places = _PLACE.findall(text)
        # Cells without a place, or with a prefix.
        n_cells = text.count(b"<c") - sum(map(text.count, _LIKE_CELLS))
        if b":c" in text or len(places) < n_cells:
            return False
        if places:
            of_cells, of_rows = zip(*places, strict=True)
            columns.update(of_cells)
            rows.update(of_rows)
    last = max(map(int, rows), default=0) * max(map(_number_of, columns), default=0)
    return last <= _MOST_CELLS


def _extent(archive: zipfile.ZipFile, part: str) -> tuple[int, int, int]:
    """Return the last row and column with a value, and the number of values.

    From the cells themselves: the extent that a sheet declares may be wrong.
    """
    last_row = row_of_rows = n_filled = n_unplaced = 0
    columns: set[bytes] = set()
    for text in _blocks(archive, part):
        cells = _CELL.findall(text)
        n_filled += len(cells)
        names, numbers = zip(*cells, strict=True) if cells else ((), ())
        columns.update(names)
        n_unplaced += names.count(b"")
        last_row = max(last_row, max((int(number or 0) for number in set(numbers)), default=0))
        rows = _ROW.findall(text)
        row_of_rows = max(row_of_rows, max(map(int, rows), default=0))
    n_columns = max(map(_number_of, columns), default=0)
    if n_unplaced:
        last_row, n_columns = max(last_row, row_of_rows, 1), max(n_columns, min(n_unplaced, 16_384))
    return last_row, n_columns, n_filled


def _number_of(column: bytes) -> int:
    """Return the number of a column from its letters: 1 for A, 27 for AA."""
    number = 0
    for letter in column:
        number = 26 * number + letter - ord("A") + 1
    return number
