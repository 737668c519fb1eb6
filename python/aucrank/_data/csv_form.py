"""How a CSV file is written: encoding, separator, mark of decimals. Found by looking at it."""

import csv
import gzip
import io
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: What stands for a missing value in any column, beside what readers take for one.
UNKNOWN = "?"

#: What readers take for a missing value: pandas' own list.
MISSING = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", UNKNOWN),
]

# So much of a file is looked at.
_HEAD_BYTES = 1 << 18
_HEAD_LINES = 200

# A comma last, since it may be the mark of decimals, too.
_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}

# Numbers with either mark of decimals, and with the other one between thousands.
_WITH_POINT = re.compile(
    r"(?=[+-]?\.?\d)[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][+-]?\d+)?"
)
_WITH_COMMA = re.compile(
    r"(?=[+-]?,?\d)[+-]?(?:[1-9]\d{0,2}(?:[.\u00a0 ]\d{3})+|\d+)?(?:,\d*)?(?:[eE][+-]?\d+)?"
)
# Decimals that no group of thousands could be.
_DECIMAL_POINT = re.compile(r"[+-]?(?:[\d,]*\.(?:\d{1,2}|\d{4,})|(?:0|\d{4,})\.\d{3})")
_DECIMAL_COMMA = re.compile(r"[+-]?(?:[\d.]*,(?:\d{1,2}|\d{4,})|(?:0|\d{4,}),\d{3})")

#: What stands for a missing value where all else in a column are numbers.
GAPS_AMONG_NUMBERS = frozenset(
    {"-", "--", ".", "..", "*", "missing", "Missing", "unknown", "Unknown", "n.a.", "k.A."}
)


class ReadingNote(UserWarning):
    """What a file holds that is not usual, and how it is read: nothing to worry about."""


def check_header(header: Sequence[str]) -> None:
    """Check that a file has a name for each column.

    Raises
    ------
    ValueError
        Saying what is wrong with them.
    """
    if not header:
        raise ValueError("its first line has no column names")
    for name in header:
        if header.count(name) > 1:
            raise ValueError(f"two of its columns are called {name!r}")


@dataclass(frozen=True)
class CsvOptions:
    """What the user says of CSV files; None for what is to be found.

    Attributes
    ----------
    separator : str or None
        Between fields.
    decimal : str or None
        The mark of decimals, a point or a comma.
    encoding : str or None
        As Python names it.
    missing : sequence of str
        Texts and numbers that stand for missing values, beside the usual ones.
    dashes : str
        What the names of options begin with in messages.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: Sequence[str] = ()
    dashes: str = ""

    def __post_init__(self) -> None:
        """Check what cannot be.

        Raises
        ------
        ValueError
            Naming the option.
        """
        if self.separator is not None and len(self.separator) != 1:
            raise ValueError(f"{self.dashes}sep must be one character, got {self.separator!r}")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"{self.dashes}decimal must be '.' or ',', got {self.decimal!r}")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
            except LookupError:
                raise ValueError(
                    f"{self.dashes}encoding: no encoding is called {self.encoding!r}"
                ) from None


@dataclass(frozen=True)
class CsvForm:
    """How a file is written.

    Attributes
    ----------
    encoding : str
        As Python names it.
    separator : str
        Between fields.
    decimal : str
        The mark of decimals, a point or a comma.
    header : list of str
        Names of the columns.
    is_spaced : bool
        Whether a blank follows each separator.
    has_unknown : bool
        Whether question marks stand for missing values in its first lines.
    notes : list of str
        What was found that is not usual.
    """

    encoding: str
    separator: str
    decimal: str
    header: list[str]
    is_spaced: bool
    has_unknown: bool
    notes: list[str]


def form_of(file: str, options: CsvOptions) -> CsvForm:
    """Look at a file."""
    with _opened(file) as stream:
        head = stream.read(_HEAD_BYTES)
        if b"\n" not in head:
            # The names of all columns, however many there are.
            head += stream.readline()
        is_whole = not stream.read(1)
    # By a separator that is none, a line is one field.
    csv.field_size_limit(max(csv.field_size_limit(), len(head)))
    notes = []
    encoding = options.encoding or _encoding_of(head, file)
    if options.encoding is None and encoding not in ("utf-8", "utf-8-sig"):
        notes.append(
            f"{file} is no UTF-8: it is read as {encoding} ({options.dashes}encoding says which it"
            " is)"
        )
    lines = _lines(head, encoding, options, is_whole=is_whole)
    separator = options.separator or _separator_of(lines)
    if options.separator is None and separator != ",":
        notes.append(
            f"{_SEPARATORS[separator]} separate the columns of {file} (see {options.dashes}sep)"
        )
    rows = list(csv.reader(lines, delimiter=separator))
    header = rows[0] if rows else []
    decimal = options.decimal or _decimal_of(rows[1:])
    if options.decimal is None and decimal == ",":
        notes.append(f"numbers of {file} have a decimal comma (see {options.dashes}decimal)")
    # As some write a list: a blank after each comma.
    is_spaced = len(header) > 1 and all(
        cell.startswith(" ") for row in rows for cell in row[1:] if cell
    )
    return CsvForm(
        encoding,
        separator,
        decimal,
        [name.strip() for name in header] if is_spaced else header,
        is_spaced,
        any(cell.strip() == UNKNOWN for row in rows[1:] for cell in row),
        notes,
    )


def _opened(file: str) -> Any:
    """Open a file to be read as bytes, unzipped."""
    return gzip.open(file) if file.lower().endswith(".gz") else Path(file).open("rb")


def _encoding_of(head: bytes, file: str) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The last character may be cut.
        if error.start < len(head) - 3:
            return "cp1252"
    return "utf-8"


def _lines(head: bytes, encoding: str, options: CsvOptions, *, is_whole: bool) -> list[str]:
    """Return the first lines, without one that is cut."""
    try:
        text = head.decode(encoding, "strict" if is_whole else "ignore")
    except UnicodeDecodeError as error:
        raise no_text(encoding, options) from error
    # Not `splitlines`: a name may hold what other programs take for the end of a line.
    lines = list(io.StringIO(text, newline=""))
    is_cut = not is_whole and not text.endswith("\n")
    return (lines[:-1] if is_cut else lines)[:_HEAD_LINES]


def no_text(encoding: str, options: CsvOptions) -> ValueError:
    """Return what to say of a file that is in no such encoding."""
    return ValueError(f"it is no text in {encoding} ({options.dashes}encoding says in which)")


def _separator_of(lines: list[str]) -> str:
    """Return what parts all lines alike, into the most fields; a comma if nothing does."""
    best, most = ",", 1
    for separator in _SEPARATORS:
        counts = [len(row) for row in csv.reader(lines, delimiter=separator) if row]
        if counts and min(counts) == max(counts) > most:
            best, most = separator, counts[0]
    return best


def _decimal_of(rows: list[list[str]]) -> str:
    """Return the mark of decimals: a comma where some cells show one, and none a point."""
    cells = [cell.strip() for row in rows for cell in row]
    has_commas = any(_DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    has_points = any(_DECIMAL_POINT.fullmatch(cell) for cell in cells)
    return "," if has_commas and not has_points else "."


def is_number(text: str, decimal: str) -> bool:
    """Whether a text is a number with this mark of decimals."""
    pattern = _WITH_COMMA if decimal == "," else _WITH_POINT
    return pattern.fullmatch(text) is not None


def number_of(text: str, decimal: str) -> float:
    """Return the number that a text is."""
    group = ".\u00a0 " if decimal == "," else ","
    for mark in group:
        text = text.replace(mark, "")
    return float(text.replace(decimal, "."))


@contextmanager
def as_utf8(file: str, form: CsvForm, options: CsvOptions) -> Iterator[str]:
    """Give a file, in UTF-8 if it is not: what all readers read."""
    if form.encoding in ("utf-8", "utf-8-sig"):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="aucrank-") as folder:
        path = Path(folder) / "data.csv"
        try:
            with _opened(file) as stream, path.open("w", encoding="utf-8", newline="") as out:
                text = io.TextIOWrapper(stream, encoding=form.encoding, newline="")
                shutil.copyfileobj(text, out)
        except UnicodeDecodeError as error:
            raise no_text(form.encoding, options) from error
        yield str(path)
