"""Values as the texts of CSV files; tables that are safe to open in spreadsheets."""

import csv
import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from io import StringIO
from typing import Any

#: First characters of a cell that a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

# Whole numbers from here on are written with an exponent.
_MOST_DIGITS = 1e21

#: Placeholder for an empty cell until the text is complete; no text holds it, as NUL is replaced.
_NOTHING = '"\0"'


def cell_text(value: Any, decimal: str = ".") -> str:
    """Write a value as a spreadsheet program exports it to CSV, but with all digits."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        # Workbooks have no integers, and columns of integers with gaps are often stored as floats.
        is_whole = value.is_integer() and abs(value) < _MOST_DIGITS
        text = f"{Decimal(repr(value)):f}".removesuffix(".0") if is_whole else repr(value)
        return text.replace(".", decimal)
    if isinstance(value, datetime.datetime):
        is_day = value.time() == datetime.time()
        return value.date().isoformat() if is_day else value.isoformat(sep=" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        seconds = value.total_seconds()
        minutes, left = divmod(abs(seconds), 60)
        hours, minutes = divmod(int(minutes), 60)
        whole = f"{int(left):02d}" if left.is_integer() else f"{left:09.6f}"
        return f"{'-' if seconds < 0 else ''}{hours:02d}:{minutes:02d}:{whole}"
    return str(value)


def csv_text(head: Iterable[str], rows: Iterable[Sequence[Any]], *, excel: bool) -> str:
    """Return rows as comma-separated values, without a byte order mark.

    Texts are quoted, NaN and None are empty cells, and lines end as in RFC 4180.

    Parameters
    ----------
    head : iterable of str
        Names of the columns.
    rows : iterable of sequences
        Their values, texts and numbers.
    excel : bool
        Whether to put an apostrophe before texts that a spreadsheet would run as a formula.
    """
    out = StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    for row in [list(head), *rows]:
        writer.writerow([_cell(value, excel=excel) for value in row])
    # The writer quotes an empty text, which would then be a text.
    return out.getvalue().replace(_NOTHING, "")


def _cell(value: Any, *, excel: bool) -> Any:
    if isinstance(value, str):
        value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
        return f"'{value}" if excel and value.startswith(_FORMULA) else value
    return "\0" if value is None or value != value else value
