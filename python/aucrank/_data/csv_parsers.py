"""Parsers of CSV files: pyarrow for one block after another, pandas or polars for a whole file."""

import csv
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO, TextIOWrapper
from typing import Any, Literal, Protocol

import narwhals.stable.v2 as nw

from aucrank._data.clean import series_of, without_texts
from aucrank._data.csv_form import BLANK, DAMAGED, CsvForm, CsvOptions, odd_line, open_table
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.passes import of_written
from aucrank._data.text_survey import MISSING, TextSurvey
from aucrank._utils.extras import import_extra

Backend = Literal["pandas", "polars"]
Library = Literal["pandas", "polars", "pyarrow"]

# Bytes of text that pyarrow parses at a time.
_BLOCK = 4 << 20

# A decimal mark that cannot be a thousands separator.
_SHOWS_POINT = r"^\s*[+-]?(?:\d*\.(?:\d{1,2}|\d{4,})|(?:0\d*|\d{4,})?\.\d{3}|\d*\.)(?:[eE].*)?\s*$"

_TOO_LARGE = re.compile(r"as dtype `i64` at column '(.*)' \(column number", re.DOTALL)


class Parser(Protocol):
    """A library that parses CSV files."""

    #: Name of the library.
    library: Library

    #: Its exceptions for a file that it cannot read.
    errors: tuple[type[Exception], ...]

    def blocks(
        self, path: str, form: CsvForm, names: Sequence[str], types: Mapping[str, Any]
    ) -> Iterator[nw.DataFrame[Any]]:
        """Read some columns of a file; usual markers of missing values are null.

        Parameters
        ----------
        path : str
            The file.
        form : CsvForm
            Its layout.
        names : sequence of str
            The columns; those named by `as_written` are texts, with no marker of a missing value.
        types : mapping of str to narwhals dtype
            Types of columns as far as they are known. A column of text stays text; one of numbers
            may be text in a block that needs a closer look. A column of unknown type is text, or
            numbers in a block where each text is a number with the decimal mark of the file.
        """

    def is_in_doubt(self, form: CsvForm, surveys: Mapping[str, TextSurvey]) -> bool:
        """Return whether numbers may have another decimal mark than the parser has assumed.

        Columns are text from then on.
        """


def with_series(frame: nw.DataFrame[Any], columns: Iterable[nw.Series[Any]]) -> nw.DataFrame[Any]:
    """Return the frame with columns replaced, in time linear in their number for every library."""
    if not frame.implementation.is_pyarrow():
        return frame.with_columns(*columns)
    import pyarrow as pa

    # `with_columns` copies the list of columns for each: 2 s for 4,000.
    found = dict(zip(frame.columns, frame.to_native().columns, strict=True))
    found.update((series.name, series.to_native()) for series in columns)
    return nw.from_native(pa.table(found), eager_only=True)


class ArrowParser:
    """Parses a file in blocks by pyarrow.

    Parameters
    ----------
    missing : MissingMarks
        Texts that stand for missing values, in addition to the usual ones.
    """

    library: Library = "pyarrow"

    def __init__(self, missing: MissingMarks) -> None:
        self._missing = missing
        self._csv = import_extra("pyarrow.csv", "arrow", "Dataset.from_csv")
        import pyarrow as pa

        self.errors: tuple[type[Exception], ...] = (pa.ArrowException,)

    def blocks(
        self, path: str, form: CsvForm, names: Sequence[str], types: Mapping[str, Any]
    ) -> Iterator[nw.DataFrame[Any]]:
        """Read some columns of a file, block by block."""
        import pyarrow as pa

        written = _written(names)
        plain = [name for name in names if name not in written]
        fields = form.field_names
        reading = self._csv.ReadOptions(
            block_size=_BLOCK,
            column_names=fields,
            skip_rows_after_names=int(form.has_header),
            encoding="utf8",
        )
        parsing = self._csv.ParseOptions(delimiter=form.separator, newlines_in_values=True)
        converting = self._csv.ConvertOptions(
            column_types=dict.fromkeys(fields, pa.string()),
            include_columns=list(dict.fromkeys([*plain, *written.values()])),
            null_values=[*MISSING, *self._missing.everywhere],
            strings_can_be_null=not written,
        )
        stream = pa.input_stream(path) if form.is_plain else pa.PythonFile(open_table(path, form))
        # Columns with a number that has a decimal mark beyond doubt.
        shown = {*names} if form.is_decimal_given else set[str]()
        with stream, self._csv.open_csv(stream, reading, parsing, converting) as batches:
            for batch in batches:
                table = pa.Table.from_batches([batch])
                frame = nw.from_native(table, eager_only=True)
                texts = _plain(
                    frame.select(plain or frame.columns),
                    form,
                    self._missing,
                    has_markers=bool(written),
                ).with_columns(*_as_written(frame, form, written))
                numbers = (
                    _as_numbers(texts[name], form.decimal, types.get(name), shown)
                    for name in plain
                    if types.get(name) != nw.String
                )
                yield with_series(texts, numbers).select(list(names))

    def is_in_doubt(self, form: CsvForm, surveys: Mapping[str, TextSurvey]) -> bool:
        """Return False: numbers were checked block by block."""
        return False


def _as_numbers(
    series: nw.Series[Any], decimal: str, dtype: Any, shown: set[str]
) -> nw.Series[Any]:
    """Return texts as numbers; unchanged if one is not a number, or if the mark is in doubt."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = series.to_native()
    if texts.null_count == len(texts):
        return series
    plain = texts
    try:
        if dtype != nw.Float64 and _are_whole(texts):
            return series_of(texts.cast(pa.int64()), series.name)
        if decimal == ",":
            if pc.any(pc.match_substring(texts, ".")).as_py():
                return series
            plain = pc.replace_substring(texts, ",", ".")
        numbers = plain.cast(pa.float64())
    except pa.ArrowInvalid:
        return series
    if dtype is None and series.name not in shown:
        if not pc.any(pc.match_substring_regex(plain, _SHOWS_POINT)).as_py():
            return series
        shown.add(series.name)
    return series_of(numbers, series.name)


def _are_whole(texts: Any) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        # A cast that fails takes long for many texts.
        texts.slice(0, 10).cast(pa.int64())
        texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return False
    # It reads hexadecimal numbers, too.
    return not pc.any(pc.match_substring(texts, "x", ignore_case=True)).as_py()


class FrameParser:
    """Parses a whole file by pandas or polars, with the same result, and keeps it.

    Parameters
    ----------
    backend : {"pandas", "polars"}
        The library.
    options : CsvOptions
        Known options of the file.
    """

    def __init__(self, backend: Backend, options: CsvOptions) -> None:
        self.library: Library = backend
        self._options = options
        self.errors = _errors_of(backend)
        self._is_all_text = False
        self._frame: nw.DataFrame[Any] | None = None

    def blocks(
        self, path: str, form: CsvForm, names: Sequence[str], types: Mapping[str, Any]
    ) -> Iterator[nw.DataFrame[Any]]:
        """Read some columns of a file as one block."""
        if self._frame is None:
            text = {name for name, dtype in types.items() if dtype == nw.String}
            is_all_text = self._is_all_text or form.is_spaced or form.separator == form.decimal
            frame = self._read(path, form, set(form.field_names) if is_all_text else text)
            # An empty field between blanks would shift those behind it.
            is_doubtful = form.separator == BLANK or _may_lack_fields(frame)
            if is_doubtful and (reason := odd_line(path, form, self._options)):
                raise ValueError(reason)
            self._frame = _plain(frame, form, self._options.missing)
        frame = self._frame
        if written := _written(names):
            texts = self._texts(path, form, list(written.values()))
            frame = frame.with_columns(*_as_written(texts, form, written))
        yield frame.select(names)

    def _texts(self, path: str, form: CsvForm, names: Sequence[str]) -> nw.DataFrame[Any]:
        """Return columns of all rows as texts, with no marker of a missing value."""
        file: Any = path
        if not form.is_plain:
            with open_table(path, form) as stream:
                file = BytesIO(stream.read())
        if self.library == "pandas":
            return _by_pandas(file, set(names), form, (), list(names))
        return _without_empty_lines(
            _by_polars(file, set(form.field_names), form, ()), path, form
        ).select(names)

    def is_in_doubt(self, form: CsvForm, surveys: Mapping[str, TextSurvey]) -> bool:
        """Return whether texts show the other decimal mark, or none shows a decimal comma."""
        if self._is_all_text or form.is_decimal_given:
            return False
        assert self._frame is not None
        # Once: the schema of a frame is made anew on each access, for all columns.
        are_text = {name: not dtype.is_numeric() for name, dtype in self._frame.schema.items()}
        marks = {survey.shown_mark for name, survey in surveys.items() if are_text[name]}
        if form.decimal == ",":
            sure = any(not are_text[name] for name in form.comma_columns) or "," in marks
            self._is_all_text = "." in marks or not sure
        else:
            self._is_all_text = "," in marks
        if self._is_all_text:
            self._frame = None
        return self._is_all_text

    def _read(self, path: str, form: CsvForm, text: Collection[str]) -> nw.DataFrame[Any]:
        """Read all columns."""
        file: Any = path
        if not form.is_plain:
            with open_table(path, form) as stream:
                file = stream.read()
        frame = self._parsed(file, text, form)
        # True/False in one file and True/False/nothing in the next must give the same categories,
        # so non-numeric columns, also integers beyond 64 bits, are read again as text.
        guessed = {
            name
            for name, dtype in frame.schema.items()
            if not dtype.is_numeric() and dtype != nw.String
        }
        if guessed:
            frame = self._parsed(file, {*text, *guessed}, form)
        if self.library == "polars":
            frame = _without_empty_lines(frame, path, form)
        for name, field in zip(form.names, form.field_names, strict=True):
            if name is None and frame[field].null_count() < len(frame):
                raise ValueError("a row holds more than the columns that are named")
        return frame.select(form.header)

    def _parsed(self, file: Any, text: Collection[str], form: CsvForm) -> nw.DataFrame[Any]:
        """Return all fields under the names in `form`."""
        parsed = _by_pandas if self.library == "pandas" else _by_polars
        return parsed(BytesIO(file) if isinstance(file, bytes) else file, set(text), form)


def _written(names: Sequence[str]) -> dict[str, str]:
    """Return the columns that are to be returned as they are written, by their names."""
    return {name: of for name in names if (of := of_written(name)) is not None}


def _as_written(
    frame: nw.DataFrame[Any], form: CsvForm, written: Mapping[str, str]
) -> list[nw.Series[Any]]:
    """Return columns of texts under their names; the blank of a separator belongs to no value."""
    found = (frame[of].alias(name) for name, of in written.items())
    return [texts.str.strip_chars() if form.is_spaced else texts for texts in found]


def _plain(
    frame: nw.DataFrame[Any], form: CsvForm, missing: MissingMarks, *, has_markers: bool = False
) -> nw.DataFrame[Any]:
    """Return texts without surrounding blanks, and missing values as nulls."""
    if not form.is_spaced and not has_markers:
        return without_texts(frame, missing.of)
    if form.is_spaced:
        texts = [name for name, dtype in frame.schema.items() if dtype == nw.String]
        frame = frame.with_columns(nw.col(name).str.strip_chars() for name in texts)
    return without_texts(frame, lambda name: [*MISSING, *missing.of(name)])


def _errors_of(backend: Backend) -> tuple[type[Exception], ...]:
    if backend == "pandas":
        import pandas

        return (pandas.errors.ParserWarning, ValueError, *DAMAGED)
    import polars

    return (polars.exceptions.PolarsError, csv.Error, ValueError, *DAMAGED)


def _by_pandas(
    file: Any,
    text: set[str],
    form: CsvForm,
    missing: Collection[str] = MISSING,
    names: list[str] | None = None,
) -> nw.DataFrame[Any]:
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
            decimal=form.decimal,
            header=0 if form.has_header else None,
            names=form.field_names,
            usecols=names,
            keep_default_na=False,
            na_values=missing,
            dtype=dict.fromkeys(text, str),
            index_col=False,
            low_memory=False,
            **exact,
        )
    return nw.from_native(frame, eager_only=True)


def _by_polars(
    file: Any, text: set[str], form: CsvForm, missing: Collection[str] = MISSING
) -> nw.DataFrame[Any]:
    import polars

    # A header shorter than the rows would truncate them.
    is_short = form.has_header and None in form.names
    try:
        frame = polars.read_csv(
            file,
            separator=form.separator,
            decimal_comma=form.decimal == ",",
            has_header=form.has_header and not is_short,
            skip_rows=int(is_short),
            new_columns=form.field_names,
            null_values=list(missing),
            infer_schema_length=None,
            schema_overrides=dict.fromkeys(text, polars.String),
        )
        return nw.from_native(frame, eager_only=True)
    except polars.exceptions.ComputeError as error:
        # Older versions read integers beyond 64 bits neither as numbers nor as anything else.
        found = _TOO_LARGE.search(str(error))
        if found is None or found[1] in text:
            raise
        if isinstance(file, BytesIO):
            file.seek(0)
        return _by_polars(file, text | {found[1]}, form)


def _without_empty_lines(frame: nw.DataFrame[Any], path: str, form: CsvForm) -> nw.DataFrame[Any]:
    """Return the frame without the rows that polars makes of empty lines."""
    if any(frame[name].null_count() == 0 for name in frame.columns):
        return frame
    with open_table(path, form) as stream:
        lines = TextIOWrapper(stream, "utf-8-sig", newline="")
        rows = csv.reader(lines, delimiter=form.separator)
        are_filled = [bool(row) for row in rows]
    if form.has_header:
        del are_filled[: are_filled.index(True) + 1]
    return frame.filter(are_filled)


def _may_lack_fields(frame: nw.DataFrame[Any]) -> bool:
    """Return whether a row has only its first field, as lines do that are not rows."""
    others = frame.columns[1:]
    if len(others) < 2 or any(frame[name].null_count() == 0 for name in others):
        return False
    nothing = frame[others[0]].is_null()
    for name in others[1:]:
        nothing = nothing & frame[name].is_null()
    return bool(nothing.any())
