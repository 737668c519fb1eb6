"""CSV files as frames of pandas or polars, whichever is installed, with the same result."""

import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Literal

import narwhals.stable.v2 as nw

from aucrank._data.clean import (
    date_form,
    dates_as_days,
    forms_to_keep,
    notes_on_dates,
    read_texts,
    survey_of,
    typed_dates,
    without_marks,
)
from aucrank._data.column_form import ColumnForm, form_of_column
from aucrank._data.csv_form import CsvForm, CsvOptions, form_of, odd_line, plain_file
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.reading import Fitted, Reading
from aucrank._data.schema import is_missing
from aucrank._data.text_survey import MISSING, UNKNOWN, TextSurvey, decimal_of

Backend = Literal["pandas", "polars"]


def read_csv(
    file: str,
    backend: Backend,
    options: CsvOptions,
    text: Collection[str],
    labels: str | None,
    notes: list[str],
    fitted: Fitted | None,
) -> tuple[nw.DataFrame[Any], Reading]:
    """Read a CSV file.

    Parameters
    ----------
    file : str
        Its path.
    backend : {"pandas", "polars"}
        Library that reads it.
    options : CsvOptions
        Known options of the file.
    text : collection of str
        Columns to read as text even if they look like numbers.
    labels : str or None
        Column of labels, which is never read as dates.
    notes : list of str
        Receives notes on unusual features.
    fitted : Fitted or None
        What a model knows of the files of its fit.

    Returns
    -------
    frame : narwhals.DataFrame
        Columns of numbers and text.
    reading : Reading
        How it was read.
    """
    form = form_of(file, options, None if fitted is None else fitted.reading)
    options = options if fitted is None else fitted.completed(options)
    notes += form.notes
    known = {} if fitted is None else fitted.forms(form.header)
    # A unit or a date without its separators must not become a number in any reader.
    in_words = {name for name, known_form in known.items() if known_form != ColumnForm("number")}
    kept = set(text) & set(form.header)
    all_text = form.decimal == "," or form.is_spaced
    with plain_file(file, form, options) as path:
        try:
            frame = _read(path, backend, kept | in_words, form, all_text=all_text)
            if _may_lack_fields(frame) and (reason := odd_line(file, form, options)):
                raise ValueError(reason)
            surveys = _surveys(frame, kept, options)
            if not all_text and not form.is_decimal_given and _shows_commas(surveys):
                frame = _read(path, backend, kept, form, all_text=True)
                surveys = _surveys(frame, kept, options)
        except Exception as error:
            if reason := odd_line(file, form, options):
                raise ValueError(reason) from error
            raise
    decimal = form.decimal if form.is_decimal_given else decimal_of(surveys.values()) or "."
    if decimal == "," and not form.is_decimal_given:
        named = options.named("decimal")
        notes.append(f"numbers of {file} have a decimal comma (see {named})")
    if form.has_unknown:
        notes.append(f"{UNKNOWN!r} counts as missing")
    forms: dict[str, ColumnForm] = {}
    for name, survey in surveys.items():
        if name in known:
            hint = f" (see {options.named('missing', 'decimal')})"
            forms[name] = known[name].fitted_to(survey, decimal, f"{name!r} of {file}", hint)
        else:
            forms[name] = form_of_column(survey, decimal)
            if name == labels and forms[name].kind == "date":
                forms[name] = ColumnForm("text")
        option = f"{options.keeps_text} {name}"
        notes += forms[name].notes(name, decimal, option, known.get(name))
    frame = frame.with_columns(
        read_texts(
            frame[name],
            forms.get(name, ColumnForm("text")),
            decimal,
            options.missing.of(name),
        )
        for name in (*forms, *kept)
    )
    notes += notes_on_dates(name for name, found in forms.items() if found.kind == "date")
    reading = Reading(
        form.separator,
        decimal,
        form.encoding,
        form.comment,
        form.has_header,
        options.missing,
        forms_to_keep(forms),
    )
    return without_marks(frame, options.missing), reading


def typed_frame(
    frame: nw.DataFrame[Any],
    left: Collection[str | None],
    missing: MissingMarks,
    notes: list[str],
    fitted: Fitted | None,
) -> tuple[nw.DataFrame[Any], Reading]:
    """Return a typed frame with dates, also those in texts, converted to numbers.

    Parameters
    ----------
    frame : narwhals.DataFrame
        The frame as read.
    left : collection of str
        Columns that stay unchanged.
    missing : MissingMarks
        Texts and numbers that stand for missing values, in addition to the usual ones.
    notes : list of str
        Receives notes on unusual features.
    fitted : Fitted or None
        What a model knows of the files of its fit.
    """
    names = [name for name in frame.columns if name not in left]
    forms = {name: form for name in names if (form := typed_dates(frame[name]))}
    frame = dates_as_days(frame, left)
    known = {} if fitted is None else fitted.forms(names)
    for name in names:
        if frame.schema[name] != nw.String:
            continue
        survey = survey_of(frame[name], missing.of(name))
        form = known.get(name)
        if form is not None and form.kind == "date":
            form = form.fitted_to(survey, ".", repr(name), "")
        else:
            form = date_form(survey)
        if form is not None:
            forms[name] = form
            frame = frame.with_columns(read_texts(frame[name], form, ".", missing.of(name)))
            notes += form.notes(name, ".", f"--categorical {name}", known.get(name))
    notes += notes_on_dates(name for name in frame.columns if name in forms)
    reading = Reading(missing=missing, columns=forms_to_keep(forms))
    return without_marks(frame, missing), reading


def _may_lack_fields(frame: nw.DataFrame[Any]) -> bool:
    """Return whether a row has only its first field, as lines do that are not rows."""
    others = frame.columns[1:]
    if len(others) < 2 or any(frame[name].null_count() == 0 for name in others):
        return False
    nothing = frame[others[0]].is_null()
    for name in others[1:]:
        nothing = nothing & frame[name].is_null()
    return bool(nothing.any())


def _surveys(
    frame: nw.DataFrame[Any], kept: Collection[str], options: CsvOptions
) -> dict[str, TextSurvey]:
    """Count how the texts of columns can be read."""
    return {
        name: survey_of(frame[name], options.missing.of(name))
        for name, dtype in frame.schema.items()
        if dtype == nw.String and name not in kept
    }


def _shows_commas(surveys: Mapping[str, TextSurvey]) -> bool:
    return any(survey.shown_mark == "," for survey in surveys.values())


def _large_integers_as_floats(frame: nw.DataFrame[Any], text: Collection[str]) -> nw.DataFrame[Any]:
    """Convert columns of integers beyond 64 bits to floats.

    Pandas reads them as Python integers, or as text.
    """
    return frame.with_columns(
        nw.new_series(
            name,
            [None if missing else float(str(value)) for value, missing in _values(frame[name])],
            nw.Float64,
            backend=frame.implementation,
        )
        for name, dtype in frame.schema.items()
        if dtype in (nw.Object, nw.String)
        and name not in text
        and all(missing or _is_integer(value) for value, missing in _values(frame[name]))
    )


def _values(series: nw.Series[Any]) -> Iterator[tuple[Any, bool]]:
    """Yield the values of a column, and whether they are missing.

    Where pandas reads integers as text, missing markers are left as in the file.
    """
    known = frozenset(MISSING)
    return (
        (value, value in known if isinstance(value, str) else is_missing(value))
        for value in series.to_list()
    )


def _is_integer(value: Any) -> bool:
    if isinstance(value, str):
        return _INTEGER.fullmatch(value) is not None
    return isinstance(value, int) and not isinstance(value, bool)


_INTEGER = re.compile(r"\s*[+-]?[0-9]+\s*")


def _read(
    file: str, backend: Backend, text: Collection[str], form: CsvForm, *, all_text: bool
) -> nw.DataFrame[Any]:
    """Read the columns of a CSV file whose numbers may have to be read as text later."""
    fields = form.field_names
    kept = set(fields) if all_text else set(text)
    frame = _large_integers_as_floats(_read_csv(file, backend, kept, form), kept)
    # True/False in one file and True/False/nothing in the next must give the same categories, so
    # non-numeric columns are read again as text.
    guessed = {
        name
        for name, dtype in frame.schema.items()
        if not dtype.is_numeric() and dtype != nw.String
    }
    if guessed:
        frame = _read_csv(file, backend, kept | guessed, form)
    for name, field in zip(form.names, fields, strict=True):
        if name is None and frame[field].null_count() < len(frame):
            raise ValueError("a row holds more than the columns that are named")
    frame = frame.select(form.header)
    if not form.is_spaced:
        return frame
    return frame.with_columns(
        nw.col(name).str.strip_chars() for name, dtype in frame.schema.items() if dtype == nw.String
    )


def _read_csv(
    file: str, backend: Backend, text: Collection[str], form: CsvForm
) -> nw.DataFrame[Any]:
    """Read fields under the names in `form`."""
    if backend == "polars":
        return _read_by_polars(file, set(text), form)
    import pandas

    # Every digit counts: a value next to a threshold must be on the same side as in training. From
    # 3.1 on pandas reads exactly by default, and rejects the option.
    version = tuple(map(int, pandas.__version__.split(".")[:2]))
    exact = {"float_precision": "round_trip"} if version < (3, 1) else {}
    with warnings.catch_warnings():
        # Rows longer than the header: pandas would truncate them.
        warnings.filterwarnings("error", message="Length of header or names")
        frame = pandas.read_csv(
            file,
            sep=form.separator,
            header=0 if form.has_header else None,
            names=form.field_names,
            keep_default_na=False,
            na_values=MISSING,
            dtype=dict.fromkeys(text, str),
            index_col=False,
            low_memory=False,
            **exact,
        )
    return nw.from_native(frame, eager_only=True)


def _read_by_polars(file: str, text: set[str], form: CsvForm) -> nw.DataFrame[Any]:
    import polars

    # A header shorter than the rows would truncate them.
    is_short = form.has_header and None in form.names
    try:
        frame = polars.read_csv(
            file,
            separator=form.separator,
            has_header=form.has_header and not is_short,
            skip_rows=int(is_short),
            new_columns=form.field_names,
            null_values=MISSING,
            infer_schema_length=None,
            schema_overrides=dict.fromkeys(text, polars.String),
        )
        return nw.from_native(frame, eager_only=True)
    except polars.exceptions.ComputeError as error:
        # Older versions read integers beyond 64 bits neither as numbers nor as anything else.
        found = _TOO_LARGE.search(str(error))
        if found is None or found[1] in text:
            raise
        return _read_by_polars(file, text | {found[1]}, form)


_TOO_LARGE = re.compile(r"as dtype `i64` at column '(.*)' \(column number", re.DOTALL)
