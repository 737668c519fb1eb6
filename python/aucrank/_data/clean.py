"""Columns as models take them: text that is numbers, marks of missing values, dates."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.csv_form import (
    GAPS_AMONG_NUMBERS,
    MISSING,
    UNKNOWN,
    CsvForm,
    is_number,
    number_of,
)
from aucrank._data.schema import is_missing
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed, plural

_SECONDS_A_DAY = 86_400

# No other number is one of whole numbers to a reader either; those of more digits are no doubles.
_WHOLE = re.compile(r"[+-]?\d{1,15}")

_ISO_DATE = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_DOTTED_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")


class TextColumn:
    """What a column of text holds, told from its values: numbers, dates, or text after all.

    Parameters
    ----------
    missing : collection of str
        Texts that stand for missing values, beside the usual ones.

    Attributes
    ----------
    is_empty : bool
        Whether there is no value.
    is_text : bool
        Whether no further value can make it anything else.
    is_numeric : bool
        Whether all values are numbers, but for marks of what is missing.
    is_whole : bool
        Whether the numbers are whole ones, with nothing missing.
    all_whole : bool
        Whether no number met so far is another one, and nothing is missing.
    is_dated : bool
        Whether all values are dates.
    """

    def __init__(self, missing: Collection[str]) -> None:
        # The usual ones, too: where a blank follows each separator, readers do not know them.
        self._missing = frozenset([*MISSING, *missing])
        self._gaps: set[str] = set()
        self._has_numbers = False
        self._has_thousands = False
        self._has_others = False
        self._has_dates = False
        self._has_undated = False
        self._has_values = False
        self.all_whole = True

    def look_at(self, values: Iterable[str], decimal: str) -> None:
        """Look at texts as they stand in a file with this mark of decimals."""
        for value in values:
            if self._is_missing(value):
                self.look_at_missing()
                continue
            self._has_values = True
            if not self._has_undated:
                is_date = days_in(value) is not None
                self._has_dates, self._has_undated = True, not is_date
            if self._has_others:
                continue
            text = value.strip()
            if value in GAPS_AMONG_NUMBERS:
                self._gaps.add(value)
            elif is_number(text, decimal):
                self._has_numbers = True
                self._has_thousands |= decimal == "." and "," in value
                self.all_whole &= _WHOLE.fullmatch(text) is not None
            else:
                self._has_others = True

    def look_at_numbers(self, *, are_whole: bool) -> None:
        """Take note of values that any reader takes for numbers."""
        self._has_values = self._has_numbers = self._has_undated = True
        self.all_whole &= are_whole

    def look_at_missing(self) -> None:
        """Take note of a missing value."""
        self.all_whole = False

    @property
    def is_empty(self) -> bool:
        return not self._has_values

    @property
    def is_text(self) -> bool:
        return self._has_others and self._has_undated

    @property
    def is_numeric(self) -> bool:
        return self._has_numbers and not self._has_others

    @property
    def is_whole(self) -> bool:
        return self.is_numeric and not self._gaps and self.all_whole

    @property
    def is_dated(self) -> bool:
        return self._has_dates and not self._has_undated

    def number(self, value: str, decimal: str) -> float | None:
        """Return the number that a text is; None for a mark of what is missing."""
        if self._is_missing(value) or value in self._gaps:
            return None
        return number_of(value.strip(), decimal)

    def text(self, value: str) -> str | None:
        """Return a text, or None for a mark of what is missing."""
        return None if self._is_missing(value) else value

    def notes(self, name: str) -> list[str]:
        """Return what is not usual of a column of numbers."""
        notes = []
        if self._gaps:
            gaps = listed(sorted(map(repr, self._gaps)))
            notes.append(f"column {shown(name)}: {gaps} counts as missing")
        if self._has_thousands:
            notes.append(f"column {shown(name)}: commas part thousands")
        return notes

    def _is_missing(self, value: str) -> bool:
        return value in self._missing


class TextCleaner:
    """Makes numbers of columns of text that are all numbers.

    Parameters
    ----------
    form : CsvForm
        How the file is written.
    missing : sequence of str
        Texts that stand for missing values, beside the usual ones.

    Attributes
    ----------
    notes : list of str
        What was done that is not usual.
    """

    def __init__(self, form: CsvForm, missing: Sequence[str]) -> None:
        self._form = form
        self._missing = missing
        self.notes: list[str] = []
        if form.has_unknown:
            self.notes.append(f"{UNKNOWN!r} counts as missing")

    def clean(self, frame: nw.DataFrame[Any], text: Collection[str]) -> nw.DataFrame[Any]:
        """Return the frame with numbers for text, but in the columns that are to be text."""
        columns = []
        for name, dtype in frame.schema.items():
            if dtype == nw.String:
                columns.append(self._column(frame[name], is_text=name in text))
        return frame.with_columns(*columns) if columns else frame

    def _column(self, series: nw.Series[Any], *, is_text: bool) -> nw.Series[Any]:
        values = [value for value in series.unique().to_list() if isinstance(value, str)]
        told = {value: value.strip() if self._form.is_spaced else value for value in values}
        column = TextColumn(self._missing)
        column.look_at(told.values(), self._form.decimal)
        if is_text or not column.is_numeric:
            known = {value: column.text(said) for value, said in told.items()}
            if all(value == said for value, said in known.items()):
                return series
            return _mapped(series, known.get, nw.String)
        self.notes += column.notes(series.name)
        numbers = {value: column.number(said, self._form.decimal) for value, said in told.items()}
        if column.is_whole and series.null_count() == 0:
            return _mapped(series, lambda value: int(numbers[value] or 0), nw.Int64)
        return _mapped(series, numbers.get, nw.Float64)


def _mapped(series: nw.Series[Any], value_of: Callable[[Any], Any], dtype: Any) -> nw.Series[Any]:
    found = [value_of(value) for value in series.to_list()]
    return nw.new_series(series.name, found, dtype, backend=series.implementation)


def without_marks(frame: nw.DataFrame[Any], missing: Sequence[str]) -> nw.DataFrame[Any]:
    """Return the frame without the numbers that stand for missing values."""
    marks = []
    for mark in missing:
        try:
            marks.append(float(mark))
        except ValueError:
            continue
    names = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    if not marks or not names:
        return frame
    return frame.with_columns(
        nw.when(~nw.col(name).cast(nw.Float64).is_in(marks)).then(nw.col(name)).alias(name)
        for name in names
    )


def numbers_for_nothing(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return the frame with missing numbers for text where all of a column is missing."""
    return frame.with_columns(
        nw.col(name).cast(nw.Float64)
        for name, dtype in frame.schema.items()
        if dtype == nw.String and frame[name].null_count() == len(frame)
    )


def dates_as_days(
    frame: nw.DataFrame[Any], left: Collection[str | None]
) -> tuple[nw.DataFrame[Any], list[str]]:
    """Return the frame with days since 1970 for dates, and what is to be said of it.

    Columns in `left` are left as they are.
    """
    columns = []
    for name, dtype in frame.schema.items():
        series = frame[name]
        if name in left:
            continue
        if dtype in (nw.Date, nw.Datetime) or (dtype == nw.Object and _are_dates(series)):
            columns.append(_mapped(series, _days_of, nw.Float64))
        elif dtype == nw.String:
            texts = [text for text in series.unique().to_list() if isinstance(text, str)]
            days = {text: days_in(text) for text in texts}
            if days and all(day is not None for day in days.values()):
                columns.append(_mapped(series, days.get, nw.Float64))
    if not columns:
        return frame, []
    names = listed([shown(series.name) for series in columns])
    what = plural(len(columns), "column")
    note = f"{what} of dates, counted in days since 1970: {names}"
    return frame.with_columns(*columns), [note]


def _are_dates(series: nw.Series[Any]) -> bool:
    """Whether Python objects are dates, as pandas reads them from Parquet files."""
    return all(isinstance(value, date) or is_missing(value) for value in series.to_list())


def days_in(text: str) -> float | None:
    """Return the days of a date that is written in one of the forms that say one day only."""
    text = text.strip()
    try:
        if _ISO_DATE.fullmatch(text):
            return _days_of(datetime.fromisoformat(text))
        if dotted := _DOTTED_DATE.fullmatch(text):
            day, month, year = map(int, dotted.groups())
            return _days_of(datetime(year, month, day))
    except ValueError:
        return None
    return None


def _days_of(moment: Any) -> float | None:
    """Return the days since 1970 of a date or a time; one without a zone is in that of 1970."""
    if is_missing(moment):
        return None
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    days: float = moment.timestamp() / _SECONDS_A_DAY
    return days
