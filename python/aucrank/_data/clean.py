"""Columns in the form of models: text becomes numbers or dates, missing markers are removed."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from math import isinf
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data import frames
from aucrank._data.column_form import ColumnForm, form_of_column
from aucrank._data.date_text import days_of
from aucrank._data.duration_text import CLOCK_UNITS
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.text_survey import MISSING, TextSurvey, numbers_among
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote
from aucrank._utils.words import listed, plural

# Rows that show nearly always that a column holds many distinct numbers.
_FEW = 10_000


def look_at(survey: TextSurvey, series: nw.Series[Any], decimal: str) -> None:
    """Count how the texts of a column can be read, or numbers that were read from texts.

    Parameters
    ----------
    survey : TextSurvey
        Receives the counts.
    series : narwhals.Series
        The column, or a part of it.
    decimal : str
        The decimal mark by which numbers were read.
    """
    if series.dtype.is_numeric():
        n_missing = series.null_count()
        survey.look_at_missing(n_missing)
        if n_missing < len(series):
            _look_at_numbers(survey, series.drop_nulls() if n_missing else series, decimal)
        return
    counts = series.value_counts(name="count")
    texts, rows = counts[series.name].to_list(), counts["count"].to_list()
    pairs = [(text, count) for text, count in zip(texts, rows, strict=True) if _is_text(text)]
    survey.look_at(pairs)
    survey.look_at_missing(len(series) - sum(count for _, count in pairs))


def _look_at_numbers(survey: TextSurvey, numbers: nw.Series[Any], decimal: str) -> None:
    # Integers beyond 64 bits are floats, whatever a library makes of them.
    are_whole = numbers.dtype == nw.Int64
    ends = float(numbers.min()), float(numbers.max())
    for end in {*ends} if not are_whole else ():
        if isinf(end):
            survey.look_at_infinite(end, int((numbers == end).sum()))
    if any(map(isinf, ends)):
        numbers = numbers.filter(numbers.is_finite())
        if not len(numbers):
            return
        ends = float(numbers.min()), float(numbers.max())
    known, values = survey.numbers[decimal], list[float]()
    # A few rows are nearly always enough.
    for part in (numbers.head(_FEW), numbers):
        if known.needs_values:
            values = part.unique().to_list()
            known.note_values(values)
    example = str(numbers[0])
    survey.look_at_numbers(len(numbers), values, ends, example, decimal, are_whole=are_whole)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def read_texts(
    series: nw.Series[Any], form: ColumnForm, decimal: str, missing: Collection[str] = ()
) -> nw.Series[Any]:
    """Return texts as the numbers that the form of the column makes of them."""
    if series.dtype.is_numeric():
        return series if form.is_whole else within_ends(_as_floats(series), form)
    if form.kind == "empty":
        return _mapped(series, lambda _: None, nw.Float64)
    gone = frozenset([*MISSING, *missing])

    def value_of(text: Any) -> float | None:
        if not _is_text(text) or text in gone:
            return None
        return form.value_of(text, decimal)

    if form.is_whole:
        return _mapped(series, lambda text: int(value_of(text) or 0), nw.Int64)
    return _mapped(series, value_of, nw.Float64)


def _mapped(series: nw.Series[Any], value_of: Callable[[Any], Any], dtype: Any) -> nw.Series[Any]:
    """Return the column with each distinct value mapped."""
    if series.implementation.is_pyarrow():
        import pyarrow as pa

        coded = pa.concat_arrays(series.to_native().chunks or [pa.array([], pa.string())])
        coded = coded.dictionary_encode()
        values = [value_of(value) for value in coded.dictionary.to_pylist()]
        found = nw.new_series(series.name, values, dtype, backend="pyarrow")
        return series_of(found.to_native().take(coded.indices), series.name)
    known = {value: value_of(value) for value in series.unique().to_list()}
    values = [known[value] if value in known else value_of(value) for value in series.to_list()]
    return nw.new_series(series.name, values, dtype, backend=series.implementation)


def within_ends(numbers: nw.Series[Any], form: ColumnForm) -> nw.Series[Any]:
    """Return numbers with those for infinity in its place."""
    low, high = form.ends
    if low is None and high is None:
        return numbers
    return numbers.clip(low, high)


def _as_floats(series: nw.Series[Any]) -> nw.Series[Any]:
    if series.dtype == nw.Float64 or not series.implementation.is_pyarrow():
        return series.cast(nw.Float64)
    import pyarrow as pa

    # By default pyarrow rejects integers that are rounded.
    return series_of(series.to_native().cast(pa.float64(), safe=False), series.name)


def series_of(native: Any, name: str) -> nw.Series[Any]:
    """Return a column of a library under a name."""
    series: nw.Series[Any] = nw.from_native(native, series_only=True)
    return series.alias(name)


def without_texts(
    frame: nw.DataFrame[Any], marks_of: Callable[[str], Collection[str]]
) -> nw.DataFrame[Any]:
    """Return the frame with texts that stand for missing values removed."""
    marks = {
        name: list(marks_of(name)) for name, dtype in frame.schema.items() if dtype == nw.String
    }
    return frame.with_columns(
        nw.when(~nw.col(name).is_in(texts)).then(nw.col(name)).alias(name)
        for name, texts in marks.items()
        if texts
    )


def without_marks(frame: nw.DataFrame[Any], missing: MissingMarks) -> nw.DataFrame[Any]:
    """Return the frame with numbers that stand for missing values removed."""
    marks = {
        name: numbers_among(missing.of(name))
        for name, dtype in frame.schema.items()
        if dtype.is_numeric()
    }
    if not any(marks.values()):
        return frame
    return frame.with_columns(
        nw.when(~nw.col(name).cast(nw.Float64).is_in(numbers)).then(nw.col(name)).alias(name)
        for name, numbers in marks.items()
        if numbers
    )


def numbers_for_nothing(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    """Return the frame with columns that are missing entirely turned from text to numbers."""
    return frame.with_columns(
        nw.col(name).cast(nw.Float64)
        for name, dtype in frame.schema.items()
        if dtype == nw.String and frame[name].null_count() == len(frame)
    )


def typed_dates(series: nw.Series[Any]) -> ColumnForm | None:
    """Return the form of a column whose dtype is a date, None for any other."""
    if not frames.is_dates(series):
        return None
    if series.dtype == nw.Date:
        return ColumnForm("date", counts="days")
    if series.dtype == nw.Datetime:
        return ColumnForm("date", counts="moments")
    # Objects are the type that pandas gives to dates when reading Parquet files.
    has_time = any(isinstance(value, datetime) for value in series.to_list())
    return ColumnForm("date", counts="moments" if has_time else "days")


def dates_as_days(frame: nw.DataFrame[Any], left: Collection[str | None]) -> nw.DataFrame[Any]:
    """Return the frame with dates as days since 1970, except in the columns in ``left``."""
    names = [name for name in frame.columns if name not in left and typed_dates(frame[name])]
    if not names:
        return frame
    return frame.with_columns(_mapped(frame[name], days_of, nw.Float64) for name in names)


def typed_times(series: nw.Series[Any]) -> ColumnForm | None:
    """Return the form of a column whose dtype is a duration, None for any other.

    They are hours, as the same texts are.
    """
    is_times = frames.is_times(series)
    return ColumnForm("number", unit=CLOCK_UNITS[1], counts="hours") if is_times else None


def plain_numbers(frame: nw.DataFrame[Any], left: Collection[str | None]) -> nw.DataFrame[Any]:
    """Return the frame with times as hours, and numbers that are Python objects as floats."""
    numbers = {
        name: frames.counted(series) if frames.is_times(series) else frames.to_numbers(series, name)
        for name in frame.columns
        for series in [frame[name]]
        if name not in left
        and (frames.is_times(series) or (frames.is_object(series) and frames.is_numeric(series)))
    }
    backend = frame.implementation
    return frame.with_columns(
        nw.new_series(name, values, nw.Float64, backend=backend) for name, values in numbers.items()
    )


def date_form(survey: TextSurvey) -> ColumnForm | None:
    """Return the form of a text column that holds dates, None for any other."""
    form = form_of_column(survey, ".")
    return form if form.kind == "date" else None


def notes_on_dates(names: Iterable[str]) -> list[ReadingNote]:
    """Return the notes on columns of dates."""
    columns = list(names)
    if not columns:
        return []
    what = plural(len(columns), "column")
    named = listed(list(map(shown, columns)))
    note = f"{what} of dates, counted in days since 1970: {named}"
    return [ReadingNote(note, "dates in days", columns)]


def notes_on_times(names: Iterable[str]) -> list[ReadingNote]:
    """Return the notes on columns of durations."""
    columns = list(names)
    if not columns:
        return []
    named = listed(list(map(shown, columns)))
    note = f"{plural(len(columns), 'column')} of times, counted in hours: {named}"
    return [ReadingNote(note, "times in hours", columns)]


def forms_to_keep(forms: Mapping[str, ColumnForm]) -> dict[str, ColumnForm]:
    """Return the forms of columns that are not read like plain numbers or texts."""
    plain = ColumnForm("number")
    return {name: form for name, form in forms.items() if form.is_numeric and form != plain}
