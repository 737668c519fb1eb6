"""Values of the target: rows without one, its classes, and which of them is positive."""

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.passes import Source
from aucrank._data.wrapped_source import ClassesSource
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote
from aucrank._utils.words import listed, plural
from aucrank.cli._data import (
    Batches,
    Frames,
    are_missing,
    marks_everywhere,
    present_values,
    text_of,
)
from aucrank.cli._errors import DataError
from aucrank.cli._positive import warn_of_positive

# Rows without a label that are named; and how many at the end of a file may be no rows.
_SHOWN_ROWS, _LINES_OF_FOOTER = 5, 5

# A target with more distinct values is numeric; those of a file in memory are all counted.
_MOST_VALUES = 10_000

# Name of a column of counts.
_N_ROWS = "\x1frows"

#: Invisible characters that may surround a label.
BLANKS = " \t\u00a0"


def value_counts(rows: Frames, target: str, path: str) -> "Counter[Any]":
    """Return the values of the target, two or more, in ascending order, with their rows."""
    found: Counter[Any] = Counter()
    n_rows = n_missing = 0
    missing: list[int] = []
    for frame in rows.frames([target]):
        values = frame[target]
        of_frame = are_missing(values).nonzero()[0]
        missing += [n_rows + int(row) for row in of_frame[:_SHOWN_ROWS]]
        n_rows += len(values)
        n_missing += len(of_frame)
        counts = values.value_counts(name=_N_ROWS)
        listed_counts = zip(counts[target].to_list(), counts[_N_ROWS].to_list(), strict=True)
        # NaN is the one value that differs from itself; pandas counts categories without rows, too.
        found.update({value: n for value, n in listed_counts if value == value and n})
        found.pop(None, None)
        if len(found) > _MOST_VALUES and isinstance(rows, Batches):
            raise _no_two_classes(target, sorted(found), path)
    if n_missing:
        hint = marks_everywhere(rows.reading)
        raise _missing_labels(missing[:_SHOWN_ROWS], n_missing, n_rows, target, path, hint)
    if len(found) < 2:
        raise _no_two_classes(target, list(found), path)
    return Counter({value: found[value] for value in sorted(found)})


def _missing_labels(
    missing: Sequence[int], n_missing: int, n_rows: int, target: str, path: str, hint: str
) -> DataError:
    """Return the error of rows without a label, of which ``missing`` are the first, from 0."""
    rows = [f"{row + 1:,}" for row in missing]
    more = f" and {n_missing - len(rows):,} more" if n_missing > len(rows) else ""
    which = f"{', '.join(rows)}{more}" if more else listed(rows)
    at_end = n_rows - n_missing
    is_footer = n_missing <= _LINES_OF_FOOTER and missing[0] == at_end and at_end > 0
    are_none = "it is not a row" if n_missing == 1 else "they are not rows"
    footer = f", with --skip-footer {n_missing} if {are_none}" if is_footer else ""
    row, them = ("row", "it") if n_missing == 1 else ("rows", "them")
    return DataError(
        f"target column {target!r} is missing in {n_missing:,} of {plural(n_rows, 'row')} of"
        f" {path} ({row} {which} below the names of the columns); remove {them} first"
        f"{footer}{hint}"
    )


def check_two(target: str, values: Sequence[Any], path: str) -> None:
    """Raise if the target does not have two values."""
    if len(values) > 2:
        raise _no_two_classes(target, values, path)


def _no_two_classes(target: str, values: Sequence[Any], path: str) -> DataError:
    """Return the error of a target that does not have two values."""
    message = (
        f"target column {target!r} of {path} has {plural(len(values), 'distinct value')} "
        f"({_listed(values, ', ')}); only binary classification is supported, so it must have two"
    )
    if len(values) > 2:
        message += ", or --positive say which of them to rank above all others"
    return DataError(message)


def _listed(values: Sequence[Any], separator: str) -> str:
    """List the first few values as text."""
    texts = [shown(text_of(value)) for value in values[:5]]
    if any(text != text.strip(BLANKS) or not text for text in map(text_of, values[:5])):
        # Blanks that distinguish values have to be visible.
        texts = [repr(text_of(value)) for value in values[:5]]
    return separator.join(texts) + (", …" if len(values) > 5 else "")


def ranked_first(counts: "Counter[Any]", target: str, positive: str | None, path: str) -> Any:
    """Return the value of the positive class: the greater of two, or the given one.

    Prints a note where the greater may not be the one that is meant.
    """
    values = list(counts)
    if positive is not None:
        return pick_class(positive, values, target)
    check_two(target, values, path)
    # A plus sorts before a minus.
    first, other = values if set(values) == {"+", "-"} else reversed(values)
    warn_of_positive(target, text_of(first), text_of(other), counts[first] / counts.total())
    return first


def pick_class(text: str, values: Sequence[Any], column: str) -> Any:
    """Find the one of `values` with the text `text`."""
    for value in values:
        is_alike = text.strip(BLANKS) == text_of(value).strip(BLANKS)
        if is_alike or text == str(value):
            return value
    known = _listed(values, " and " if len(values) == 2 else ", ")
    raise DataError(f"--positive {text}: target column {column!r} has the values {known}")


def rest(value: Any) -> str:
    """Return the label of the rows of all classes other than this one, if there are several."""
    return f"!= {text_of(value)}"


def with_plain_labels(frame: nw.DataFrame[Any], target: str) -> nw.DataFrame[Any]:
    """Return the frame with blanks stripped from labels, and print a note."""
    plain, odd = _stripped(frame, target)
    if odd:
        _say_labels(target, odd)
    return plain


def _stripped(frame: nw.DataFrame[Any], target: str) -> tuple[nw.DataFrame[Any], list[str]]:
    """Return the frame with blanks stripped from labels, and the labels that had some."""
    if target not in frame.columns or frame.schema[target] != nw.String:
        return frame, []
    # A label of blanks only is missing.
    odd = [text for text in present_values(frame[target]) if text.strip(BLANKS) not in ("", text)]
    return frame.with_columns(frame[target].str.strip_chars(BLANKS)), odd


class PlainLabels(ClassesSource):
    """Rows with blanks stripped from labels, with a note if there were any.

    Parameters
    ----------
    source : Source
        The wrapped source.
    target : str
        Column of labels.
    """

    def __init__(self, source: Source, target: str) -> None:
        super().__init__(source, target, lambda text: text)
        self._has_said = False

    def _converted(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        plain, odd = _stripped(frame, self._target)
        if odd and not self._has_said:
            _say_labels(self._target, odd)
            self._has_said = True
        return plain


def _say_labels(target: str, odd: Sequence[str]) -> None:
    """Print which labels had blanks removed."""
    texts = listed([repr(text) for text in sorted(odd)[:5]])
    note = f"column {shown(target)}: blanks around labels are left out ({texts})"
    warnings.warn(ReadingNote(note, "blanks around labels left out", [target]), stacklevel=3)
