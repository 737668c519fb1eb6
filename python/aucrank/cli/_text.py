"""Plain aligned text, at most `WIDTH` columns wide."""

import io
import math
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from itertools import zip_longest
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TextIO

from aucrank._utils.numbers import BOUNDS, P_VALUES, exact, p_text
from aucrank._utils.plain_text import escaped, shown

if TYPE_CHECKING:
    from aucrank._base.summary import Section

WIDTH = 100
# In a narrower width a wrapped column is less readable than an overlong line.
_NARROWEST = 24


class _PlainOutput(io.TextIOBase):
    """A stream that escapes control characters in data; line breaks pass."""

    def __init__(self, stream: TextIO, before: Callable[[], None]) -> None:
        self._stream = stream
        self._before = before

    def write(self, text: str) -> int:
        self._before()
        encoding = self._stream.encoding or "utf-8"
        plain = escaped(text)
        # Characters that the terminal cannot encode must not stop the output, either.
        data = plain.encode(encoding, "backslashreplace")
        unbuffered = getattr(self._stream, "buffer", None)
        if isinstance(unbuffered, io.RawIOBase):
            _write_all(unbuffered, data.replace(b"\n", os.linesep.encode(encoding)))
        else:
            self._stream.write(data.decode(encoding))
        return len(text)

    def write_as_it_is(self, text: str) -> None:
        """Write a document for another program, which is UTF-8 whatever the stream's encoding.

        On a terminal it is escaped like all output.
        """
        self._before()
        buffer = getattr(self._stream, "buffer", None)
        if self.isatty() or buffer is None:
            self.write(text)
            return
        self._stream.flush()
        _write_all(buffer, text.encode())

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()


def _write_all(stream: Any, data: bytes) -> None:
    # If a text does not fit an unbuffered stream at once, Python itself would silently lose the
    # rest.
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) or 0 :]


def write_document(text: str) -> None:
    """Write a document to the standard output stream."""
    if isinstance(sys.stdout, _PlainOutput):
        sys.stdout.write_as_it_is(text)
    else:
        print(text, end="")


@contextmanager
def plain_output(before: Callable[[], None]) -> Iterator[None]:
    """Escape control characters in the output: names and labels are untrusted.

    Parameters
    ----------
    before : callable
        Called before each output.
    """
    with redirect_stdout(_PlainOutput(sys.stdout, before)):
        yield


def heading(title: str) -> str:
    """Put a blank line above a title and a rule below."""
    return f"\n{title}\n{'-' * len(title)}"


def hanging(text: str, indent: int) -> str:
    """Wrap a long line at spaces, and indent all lines but the first."""
    return textwrap.fill(text, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)


def aligned(columns: Mapping[str, Iterable[Any]]) -> str:
    """Lay out a table: numbers right-aligned, text left-aligned.

    If the table is wider than `WIDTH`, its widest text column goes last, with its cells wrapped at
    spaces.
    """
    numeric: dict[str, bool] = {}
    cells: dict[str, list[str]] = {}
    for name, values in columns.items():
        values = list(values)
        numeric[name] = all(isinstance(v, Real) or v is None for v in values)
        if name in P_VALUES and numeric[name]:
            cells[name] = ["" if value is None else p_text(value) for value in values]
        else:
            cells[name] = _bounds(values) if name in BOUNDS and numeric[name] else _as_text(values)
    width = {name: max(len(name), *map(len, [*cells[name], ""])) for name in cells}

    texts = [name for name in cells if not numeric[name]]
    order = list(cells)
    if texts:
        widest = max(texts, key=lambda name: width[name])
        room = WIDTH - sum(width[name] + 2 for name in order if name != widest)
        if width[widest] > room:
            order.sort(key=lambda name: name == widest)
            width[widest] = max(room, _NARROWEST)

    def line(row: Mapping[str, str]) -> str:
        return "  ".join(
            row[name].rjust(width[name]) if numeric[name] else row[name].ljust(width[name])
            for name in order
        ).rstrip()

    lines = [line({name: name for name in order})]
    for values in zip(*(cells[name] for name in order), strict=True):
        wrapped = [
            textwrap.wrap(value, width[name] or 1, break_long_words=False, break_on_hyphens=False)
            or [""]
            for name, value in zip(order, values, strict=True)
        ]
        lines += [
            line(dict(zip(order, pieces, strict=True)))
            for pieces in zip_longest(*wrapped, fillvalue="")
        ]
    return "\n".join(lines)


def _is_fraction(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, Integral)


def _bounds(values: list[Any]) -> list[str]:
    """Return the cells of a column of bounds, which separate rows: all digits."""
    return ["" if value is None or math.isnan(value) else exact(value) for value in values]


def _as_text(values: list[Any]) -> list[str]:
    """Return the cells of one column; its fractions have the same number of decimals."""
    fractions = [float(v) for v in values if _is_fraction(v) and math.isfinite(v)]
    whole = all(v.is_integer() for v in fractions)
    largest = max(map(abs, fractions), default=0.0)
    decimals = 0 if whole else 4 if largest < 10 else 2

    def text(value: Any) -> str:
        if value is None:
            return ""
        if _is_fraction(value):
            return "" if math.isnan(value) else f"{value:,.{decimals}f}"
        if isinstance(value, Integral) and not isinstance(value, bool):
            return f"{value:,}"
        return shown(value)

    return [text(value) for value in values]


def laid_out(section: "Section") -> str:
    """Lay out a section: its heading, its text, and a blank line before its table."""
    parts = [heading(section.title)]
    if section.text:
        parts.append(section.text)
    if section.table:
        parts += ["", aligned(section.table)] if section.text else [aligned(section.table)]
    return "\n".join(parts)
