"""Detection of the layout of a CSV file: encoding, separator, header, other lines."""

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, BinaryIO, TypeVar

from aucrank._data.file_content import (
    ForeignContentError,
    content_of_head,
    encoding_of_wide_text,
    is_packed,
    opened,
)
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.reading import Reading, is_encoding
from aucrank._data.text_survey import UNKNOWN, TextSurvey, decimal_of
from aucrank._utils.warn import ReadingNote
from aucrank._utils.words import plural

#: Exceptions of Python for a gzip file that is damaged or truncated.
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)

# Number of bytes that are inspected.
_HEAD_BYTES = 1 << 18
_HEAD_LINES = 200

# Further ones, up to a number of bytes, where these hold fewer lines.
_LEAST_LINES = 6
_MOST_BYTES = 1 << 25

# Maximal number of lines above a header.
_TITLE_LINES = 20

# Comma last, since it may also be the decimal mark.
_SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas"}

#: Separator of which any number in a row counts as one, as in tables with aligned columns.
BLANK = " "
_BLANKS = re.compile(r'("(?:[^"]|"")*")|[ \t]+')
_DECIMAL_COMMA = re.compile(r"[+-]?[\d.]*,\d+")
_NAMES_OF_SEPARATORS = {**_SEPARATORS, BLANK: "blanks"}

# Minimal share of lines that a separator splits alike.
_ALIKE = 0.9

_UTF8 = ("utf-8", "utf-8-sig")

_TABLES = {"parquet": "a Parquet file", "xlsx": "a workbook"}

# First line that Excel writes and reads.
_SEPARATOR_LINE = re.compile(r'\s*"?sep=(.)"?\s*', re.IGNORECASE)

# Prefixes of lines that are not rows in the files of many programs.
_COMMENT = "#"

_BLOCK = 1 << 20

_Line = TypeVar("_Line")


@dataclass(frozen=True)
class CsvOptions:
    """User options for CSV files; None for what is to be detected.

    Attributes
    ----------
    separator : str or None
        Separator of fields.
    decimal : str or None
        The decimal mark, a point or a comma.
    encoding : str or None
        Python's name of it.
    missing : MissingMarks
        Texts and numbers that stand for missing values, in addition to the usual ones.
    skip_rows : int or None
        Lines above the header.
    comment : str or None
        Prefix of lines that are not rows.
    header : bool
        Whether there is a header line.
    dashes : str
        Prefix of the names of options in messages.
    skip_footer : int or None
        Lines below the last row.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: MissingMarks = field(default_factory=MissingMarks)
    skip_rows: int | None = None
    comment: str | None = None
    header: bool = True
    dashes: str = ""
    skip_footer: int | None = None

    def __post_init__(self) -> None:
        """Check for invalid options.

        Raises
        ------
        ValueError
            Naming the option.
        """
        if self.separator is not None and len(self.separator) != 1:
            raise ValueError(f"{self.dashes}sep must be one character, got {self.separator!r}")
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"{self.dashes}decimal must be '.' or ',', got {self.decimal!r}")
        if self.comment == "":
            raise ValueError(f"{self.dashes}comment must be a text, got ''")
        if self.encoding is not None and not is_encoding(self.encoding):
            raise ValueError(f"{self.dashes}encoding: no encoding is called {self.encoding!r}")

    @property
    def keeps_text(self) -> str:
        """The option that keeps a column as text."""
        return "--categorical" if self.dashes else "text"

    def named(self, *options: str) -> str:
        """Return the names of options, for messages."""
        spelled = [f"{self.dashes}{name}" for name in options]
        if not self.dashes:
            spelled = [name.replace("-", "_") for name in spelled]
        return ", ".join(spelled[:-1]) + (" and " if len(spelled) > 1 else "") + spelled[-1]


@dataclass(frozen=True)
class CsvForm:
    """Layout of a file.

    Attributes
    ----------
    encoding : str
        Python's name of it.
    separator : str
        Separator of fields.
    decimal : str
        The decimal mark, as given or as detected in the first lines.
    is_decimal_given : bool
        Whether the decimal mark was given.
    comma_columns : frozenset of str
        Columns whose numbers show a decimal comma in the first lines.
    names : list of str or None
        Names of all fields of a line, in order; None for a field that is not a column.
    has_header : bool
        Whether the first line is a header.
    n_skipped : int
        Lines of any kind at the top.
    n_title : int
        Further lines above the header, not counting comments.
    comment : str or None
        Prefix of lines that are not rows.
    is_spaced : bool
        Whether a blank follows each separator.
    has_unknown : bool
        Whether question marks stand for missing values in the first lines.
    notes : list of ReadingNote
        Unusual features that were found.
    is_misnamed : bool
        Whether the name says wrongly that it is compressed, or that it is not.
    n_footer : int
        Lines below the last row.
    """

    encoding: str
    separator: str
    decimal: str
    is_decimal_given: bool
    comma_columns: frozenset[str]
    names: list[str | None]
    has_header: bool
    n_skipped: int
    n_title: int
    comment: str | None
    is_spaced: bool
    has_unknown: bool
    notes: list[ReadingNote]
    is_misnamed: bool = False
    n_footer: int = 0

    @cached_property
    def header(self) -> list[str]:
        """Names of the columns, in order."""
        return [name for name in self.names if name is not None]

    @property
    def field_names(self) -> list[str]:
        """Names of all fields of a line; a name that no file has for one that is not a column."""
        return [f"\0{k}" if name is None else name for k, name in enumerate(self.names)]

    @property
    def is_plain(self) -> bool:
        """Whether every reader can read the file unchanged."""
        has_others = self.n_skipped or self.n_title or self.comment is not None
        has_others = has_others or self.separator == BLANK or self.is_misnamed
        has_others = has_others or self.n_footer > 0
        return self.encoding in _UTF8 and not has_others

    def alike(self, other: "CsvForm") -> bool:
        """Return whether another file has the same layout."""
        return (self.separator, self.decimal, self.encoding) == (
            other.separator,
            other.decimal,
            other.encoding,
        )


def form_of(
    path: str, options: CsvOptions, reading: Reading | None = None, file: str | None = None
) -> CsvForm:
    """Detect the layout of a file.

    Parameters
    ----------
    path : str
        Its path.
    options : CsvOptions
        Known options.
    reading : Reading or None, default=None
        How the file of a fit was read, used where options are not set.
    file : str or None, default=None
        Its name in notes; None for the path.

    Raises
    ------
    ValueError
        If it is not a table; the message says why.
    """
    options = options if reading is None else reading.completed(options)
    file = path if file is None else file
    head, is_whole = _head_of(path)
    if (content := content_of_head(head)) != "text":
        raise ForeignContentError(f"it is {_TABLES[content]}, whatever its name says")
    notes: list[ReadingNote] = []
    encoding = options.encoding or _encoding_of(path, head, reading, is_whole=is_whole)
    is_known = reading is not None and encoding == reading.encoding
    if options.encoding is None and not is_known and encoding not in _UTF8:
        note = (
            f"{file} is not UTF-8: it is read as {encoding} ({options.named('encoding')} says which"
            " it is)"
        )
        notes.append(ReadingNote(note, encoding))
    lines = _lines(head, encoding, options, is_whole=is_whole)
    n_skipped, hinted = _lines_to_skip(lines, options)
    lines = lines[n_skipped:]
    if is_whole and options.skip_footer:
        lines = list(without_last(lines, options.skip_footer, _is_filled))
    is_misnamed = is_packed(path) != path.lower().endswith(".gz")
    comment = options.comment or _comment_of(lines)
    if comment is not None:
        lines = [line for line in lines if not line.startswith(comment)]
    if comment != options.comment:
        named = options.named("comment")
        note = f"lines of {file} that begin with {comment!r} are not rows (see {named})"
        notes.append(ReadingNote(note, f"comments after {comment!r}"))
    separator = options.separator or hinted or _separator_of(lines, reading)
    is_known = reading is not None and separator == reading.separator
    if options.separator is None and not hinted and not is_known and separator != ",":
        named = options.named("sep")
        between = _NAMES_OF_SEPARATORS[separator]
        note = f"{between} separate the columns of {file} (see {named})"
        notes.append(ReadingNote(note, f"{between} between columns"))
    if separator == BLANK:
        lines = list(map(_with_single_blanks, lines))
    rows, ends = _rows(lines, separator, is_whole=is_whole)
    n_title = 0
    if options.skip_rows is None and options.header:
        n_rows, n_title = _title_of(rows, ends)
        rows = rows[n_rows:]
    if n_title:
        what = "line is" if n_title == 1 else f"{n_title} lines are"
        named = options.named("skip-rows")
        note = f"the first {what} above the table of {file} and left out (see {named})"
        notes.append(ReadingNote(note, plural(n_title, "title line")))
    rows = [row for row in rows if row]
    is_spaced = _is_spaced(rows)
    if is_spaced:
        rows = [[cell.strip() for cell in row] for row in rows]
    header, body = _header_of(rows, options)
    names = _names(header, body)
    _check_names(names, body, options)
    surveys = _surveys(names, body)
    commas = frozenset(name for name, survey in surveys.items() if survey.shown_mark == ",")
    return CsvForm(
        encoding,
        separator,
        options.decimal or decimal_of(surveys.values()) or ".",
        options.decimal is not None,
        commas,
        names,
        options.header,
        n_skipped,
        n_title,
        comment,
        is_spaced,
        any(cell.strip() == UNKNOWN for row in body for cell in row),
        notes,
        is_misnamed,
        options.skip_footer or 0,
    )


def _head_of(file: str) -> tuple[bytes, bool]:
    """Return the first bytes of a file, and whether they are the whole file."""
    with opened(file) as stream:
        head = stream.read(_HEAD_BYTES)
        # Includes some rows, however many columns there are, to show their decimal mark.
        while head.count(b"\n") < _LEAST_LINES and (line := stream.readline(_MOST_BYTES)):
            head += line
            if len(head) > _MOST_BYTES:
                break
        is_whole = not stream.read(1)
    # A character that is not the separator leaves a line as one field.
    csv.field_size_limit(max(csv.field_size_limit(), len(head)))
    return head, is_whole


def _is_spaced(rows: list[list[str]]) -> bool:
    """Return whether a blank follows each separator, as in some lists."""
    has_fields = bool(rows) and len(rows[0]) > 1
    return has_fields and all(cell.startswith(" ") for row in rows for cell in row[1:] if cell)


def _header_of(rows: list[list[str]], options: CsvOptions) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and the rows."""
    if options.header:
        return (rows[0] if rows else []), rows[1:]
    width = max(map(len, rows), default=0)
    return [f"column_{k}" for k in range(1, width + 1)], rows


def is_empty(file: str) -> bool:
    """Return whether a file is empty."""
    with opened(file) as stream:
        return not stream.read(4).strip(b"\xef\xbb\xbf\r\n ")


def _encoding_of(file: str, head: bytes, reading: Reading | None, *, is_whole: bool) -> str:
    if (wide := encoding_of_wide_text(head)) is not None:
        return wide
    if _is_utf8(head if is_whole else _blocks(file)):
        return "utf-8-sig" if head.startswith(b"\xef\xbb\xbf") else "utf-8"
    if reading is not None and not (reading.encoding or "utf").startswith("utf"):
        return str(reading.encoding)
    return "cp1252"


def _is_utf8(content: bytes | Iterator[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in [content] if isinstance(content, bytes) else content:
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _blocks(file: str) -> Iterator[bytes]:
    with opened(file) as stream:
        while block := stream.read(_BLOCK):
            yield block


def _lines(head: bytes, encoding: str, options: CsvOptions, *, is_whole: bool) -> list[str]:
    """Return the first lines, without one that is cut off."""
    try:
        text = head.decode(encoding, "strict" if is_whole else "ignore")
    except UnicodeDecodeError as error:
        raise no_text(encoding, options) from error
    # Not `splitlines`: a name may hold characters that other programs treat as line ends.
    lines = list(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    is_cut = not is_whole and not text.endswith("\n")
    return lines[:-1] if is_cut else lines


def no_text(encoding: str, options: CsvOptions) -> ValueError:
    """Return the error for a file that is not in the given encoding."""
    return ValueError(f"it is not text in {encoding} ({options.named('encoding')} says in which)")


def _lines_to_skip(lines: list[str], options: CsvOptions) -> tuple[int, str | None]:
    """Return the number of lines above the table, and the separator that one of them declares."""
    if lines and (hint := _SEPARATOR_LINE.fullmatch(lines[0])):
        return 1 + (options.skip_rows or 0), hint[1]
    return options.skip_rows or 0, None


def _comment_of(lines: list[str]) -> str | None:
    """Return the comment prefix if the first line is a comment, and no row begins with it."""
    if not lines or not lines[0].startswith(_COMMENT):
        return None
    own = [line for line in lines if line.startswith(_COMMENT)]
    others = [line for line in lines if not line.startswith(_COMMENT) and line.strip()]
    if not others or len(own) > len(others):
        return None
    marks = [mark for mark in _SEPARATORS if mark in others[0]]
    widths = {line.count(mark) for mark in marks for line in own if mark in line}
    return None if widths & {others[0].count(mark) for mark in marks} else _COMMENT


def _rows(lines: list[str], separator: str, *, is_whole: bool) -> tuple[list[list[str]], list[int]]:
    """Return the first rows, and the last line of each.

    A row whose quoted text continues past these lines is left out.
    """
    reader = csv.reader(lines, delimiter=separator)
    rows, ends = [], []
    for row in islice(reader, _HEAD_LINES):
        rows.append(row)
        ends.append(reader.line_num)
    if not is_whole and len(rows) > 1 and ends[-1] >= len(lines):
        return rows[:-1], ends[:-1]
    return rows, ends


def _separator_of(lines: list[str], reading: Reading | None) -> str:
    """Return the separator that splits all lines alike, into the most fields; else most of them.

    A comma if there is none. The separator of the file of a fit has priority.
    """
    known = [] if reading is None or reading.separator is None else [reading.separator]
    best, best_rank = ",", (0.0, 0)
    for separator in dict.fromkeys([*known, *_SEPARATORS]):
        reader = csv.reader(lines, delimiter=separator)
        counts = [len(row) for row in islice(reader, _HEAD_LINES) if row]
        if not counts:
            continue
        width, n_alike = Counter(counts).most_common(1)[0]
        if width == 1 or not _are_alike(counts, width):
            continue
        share = n_alike / len(counts)
        rank = (1.0, width) if n_alike == len(counts) else (share, 0)
        if rank > best_rank:
            best, best_rank = separator, rank
    is_unsure = best_rank[0] < 1 or best == ","
    return BLANK if is_unsure and _are_split_by_blanks(lines, best_rank[0]) else best


def _are_split_by_blanks(lines: list[str], share: float) -> bool:
    """Return whether all lines have the same number of words, three or more.

    If commas split all lines alike, too (a share of 1), they must be decimal marks of the words.
    """
    reader = csv.reader(map(_with_single_blanks, lines), delimiter=BLANK)
    rows = [row for row in islice(reader, _HEAD_LINES) if row]
    widths = set(map(len, rows))
    if len(widths) != 1 or min(widths) < 3:
        return False
    return share < 1 or all(
        _DECIMAL_COMMA.fullmatch(word) for row in rows for word in row if "," in word
    )


def _with_single_blanks(line: str) -> str:
    """Return a line with one blank between its fields, and none around them."""
    plain = line.strip(" \t\r\n")
    return _BLANKS.sub(lambda found: found[1] or BLANK, plain) + line[len(line.rstrip("\r\n")) :]


def _are_alike(counts: list[int], width: int) -> bool:
    """Return whether lines have about the given number of fields, except for a title above them.

    A trailing separator in all lines but the header makes one more field.
    """
    first = next(k for k, count in enumerate(counts) if abs(count - width) <= 1)
    rest = counts[first:]
    n_near = sum(abs(count - width) <= 1 for count in rest)
    return first <= _TITLE_LINES and n_near >= _ALIKE * len(rest)


def _title_of(rows: list[list[str]], ends: list[int]) -> tuple[int, int]:
    """Return how many rows, and how many lines, are above the header."""
    widths = Counter(len(row) for row in rows if row)
    if not widths:
        return 0, 0
    width = max(widths, key=lambda width: (widths[width], width))
    if width < 2 or widths[width] < 2:
        return 0, 0
    for k, row in enumerate(rows[: _TITLE_LINES + 1]):
        n_filled = sum(bool(cell.strip()) for cell in row)
        # A header may lack the trailing separator of the rows.
        least = max(width - 1, 2)
        if len(row) >= least and (width == 2 or n_filled > 1):
            return (k, ends[k - 1]) if k else (0, 0)
    return 0, 0


def _names(header: list[str], body: list[list[str]]) -> list[str | None]:
    """Return the names of all fields of a line; None for those that are not columns.

    A field without a name and without values is not one: there is a trailing separator.
    """
    width = Counter(map(len, body)).most_common(1)[0][0] if body else len(header)
    filled = [any(len(row) > k and row[k].strip() for row in body) for k in range(width)]
    names: list[str | None] = [
        name if name.strip() or not body or (k < width and filled[k]) else None
        for k, name in enumerate(header)
    ]
    # A reader would fail on values without a name.
    return names if any(filled[len(header) :]) else [*names, *[None] * (width - len(header))]


def _check_names(names: list[str | None], body: list[list[str]], options: CsvOptions) -> None:
    header = [name for name in names if name is not None]
    if not header:
        raise ValueError("its first line has no column names")
    for name, count in Counter(header).items():
        if count > 1:
            hint = ""
            if _is_like_a_row(header, body):
                hint = f"; if its first line is a row, say {options.named('no-header')}"
                if not options.dashes:
                    hint = "; if its first line is a row, say header=False"
            raise ValueError(f"two of its columns are called {name!r}{hint}")


def _is_like_a_row(header: list[str], body: list[list[str]]) -> bool:
    """Return whether a header line holds numbers, as rows do."""
    return any(any(sign.isdigit() for sign in name) for name in header) or not body


def _surveys(names: list[str | None], body: list[list[str]]) -> dict[str, TextSurvey]:
    """Count how the texts of columns can be read in the first rows."""
    surveys = {name: TextSurvey() for name in names if name is not None}
    for k, name in enumerate(names):
        if name is not None:
            surveys[name].look_at(Counter(row[k] for row in body if k < len(row)).items())
    return surveys


class _Lines(io.RawIOBase):
    """The lines of a file that belong to its table, encoded as UTF-8."""

    def __init__(self, file: str, form: CsvForm) -> None:
        super().__init__()
        self._text = io.TextIOWrapper(opened(file), encoding=form.encoding, newline="")
        self._lines = (line for _, line in _table_lines(self._text, form))
        self._left = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        while len(self._left) < len(buffer):
            block = "".join(islice(self._lines, 1000))
            if not block:
                break
            self._left += block.encode("utf-8")
        n_bytes = min(len(buffer), len(self._left))
        buffer[:n_bytes], self._left = self._left[:n_bytes], self._left[n_bytes:]
        return n_bytes

    def close(self) -> None:
        """Close the file."""
        self._text.close()
        super().close()


def without_last(
    lines: Iterable[_Line], n_last: int, is_filled: Callable[[_Line], bool]
) -> Iterator[_Line]:
    """Yield lines without the last ones, of which only those that are filled count."""
    held: deque[_Line] = deque()
    n_filled = 0
    for line in lines:
        held.append(line)
        n_filled += is_filled(line)
        while n_filled > n_last:
            first = held.popleft()
            n_filled -= is_filled(first)
            yield first


def _is_filled(line: str) -> bool:
    return not line.isspace()


def open_table(file: str, form: CsvForm) -> BinaryIO:
    """Open a file for reading as UTF-8, from its header on and without comments."""
    return io.BufferedReader(_Lines(file, form), _BLOCK)


def odd_line(file: str, form: CsvForm, options: CsvOptions) -> str | None:
    """Return the error for the first line with another number of fields than columns, if any."""
    width = len(form.names)
    least = max(k for k, name in enumerate(form.names, 1) if name is not None)
    least = width if form.separator == BLANK else least
    place = 0

    def lines() -> Iterator[str]:
        nonlocal place
        for number, line in _table_lines(text, form):
            place = number
            yield line

    try:
        with opened(file) as stream:
            text = io.TextIOWrapper(stream, encoding=form.encoding, newline="")
            for row in csv.reader(lines(), delimiter=form.separator):
                if row and (len(row) < least or any(map(str.strip, row[width:]))):
                    fields = plural(len(row), "field")
                    named = options.named("sep", "skip-rows", "comment")
                    return f"line {place} has {fields}, and {width} are named (see {named})"
    except (csv.Error, *DAMAGED, OSError, ValueError):
        return None
    return None


def _table_lines(text: Iterable[str], form: CsvForm) -> Iterator[tuple[int, str]]:
    """Return the lines of a table, each with its line number in the file."""
    lines: Iterator[tuple[int, str]] = islice(enumerate(text, 1), form.n_skipped, None)
    if form.comment is not None:
        mark = form.comment
        lines = ((place, line) for place, line in lines if not line.startswith(mark))
    if form.separator == BLANK:
        lines = ((place, _with_single_blanks(line)) for place, line in lines)
    if form.n_footer:
        lines = without_last(lines, form.n_footer, lambda numbered: _is_filled(numbered[1]))
    return islice(lines, form.n_title, None)
