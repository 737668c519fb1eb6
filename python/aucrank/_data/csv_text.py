"""Tables as comma-separated values that are safe to open in spreadsheets."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

#: First characters of a cell that a spreadsheet would take for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")

#: Placeholder for an empty cell until the text is complete; no text holds it, as NUL is replaced.
_NOTHING = '"\0"'


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
