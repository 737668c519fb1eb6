"""Columns in the form of models: text becomes numbers or dates, missing markers are removed."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data import frames
from aucrank._data.column_form import ColumnForm, form_of_column
from aucrank._data.date_text import days_of
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.text_survey import MISSING, TextSurvey
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed, plural


def survey_of(series: nw.Series[Any], missing: Collection[str]) -> TextSurvey:
    """Count how the texts of a column can be read."""
    survey = TextSurvey(missing)
    counts = series.value_counts(name="count")
    texts, rows = counts[series.name].to_list(), counts["count"].to_list()
    pairs = [(text, count) for text, count in zip(texts, rows, strict=True) if _is_text(text)]
    survey.look_at(pairs)
    survey.look_at_missing(len(series) - sum(count for _, count in pairs))
    return survey


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def read_texts(
    series: nw.Series[Any],
    form: ColumnForm,
    decimal: str,
    missing: Collection[str],
) -> nw.Series[Any]:
    """Return texts converted to the form of the column."""
    gone = frozenset([*MISSING, *missing])
    if not form.is_numeric:
        if form.kind == "empty":
            return _mapped(series, lambda _: None, nw.Float64)
        if not any(text in gone for text in series.unique().to_list()):
            return series
        return _mapped(series, lambda text: None if text in gone else text, nw.String)
    found: dict[Any, float | None] = {
        text: None if not _is_text(text) or text in gone else form.value_of(text, decimal)
        for text in series.unique().to_list()
    }
    if form.is_whole:
        return _mapped(series, lambda text: int(found[text] or 0), nw.Int64)
    return _mapped(series, found.get, nw.Float64)


def _mapped(series: nw.Series[Any], value_of: Callable[[Any], Any], dtype: Any) -> nw.Series[Any]:
    found = [value_of(value) for value in series.to_list()]
    return nw.new_series(series.name, found, dtype, backend=series.implementation)


def without_marks(frame: nw.DataFrame[Any], missing: MissingMarks) -> nw.DataFrame[Any]:
    """Return the frame with numbers that stand for missing values removed."""
    marks = {
        name: _numbers_among(missing.of(name))
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


def _numbers_among(marks: Sequence[str]) -> list[float]:
    numbers = []
    for mark in marks:
        try:
            numbers.append(float(mark))
        except ValueError:
            continue
    return numbers


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


def date_form(survey: TextSurvey) -> ColumnForm | None:
    """Return the form of a text column that holds dates, None for any other."""
    form = form_of_column(survey, ".")
    return form if form.kind == "date" else None


def notes_on_dates(names: Iterable[str]) -> list[str]:
    """Return the notes on columns of dates."""
    columns = list(names)
    if not columns:
        return []
    what = plural(len(columns), "column")
    named = listed(list(map(shown, columns)))
    return [f"{what} of dates, counted in days since 1970: {named}"]


def forms_to_keep(forms: Mapping[str, ColumnForm]) -> dict[str, ColumnForm]:
    """Return the forms of columns that are not read like plain numbers or texts."""
    plain = ColumnForm("number")
    return {name: form for name, form in forms.items() if form.is_numeric and form != plain}
