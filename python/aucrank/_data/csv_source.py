"""CSV files, read in batches; column types are determined from all of them first."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.clean import forms_to_keep, without_marks
from aucrank._data.column_form import ColumnForm, form_of_column
from aucrank._data.csv_form import (
    CsvForm,
    CsvOptions,
    form_of,
    is_empty,
    no_text,
    odd_line,
    open_table,
)
from aucrank._data.data_files import Stamps, describe, read_errors
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.passes import Head, need_columns
from aucrank._data.reading import Fitted, Reading
from aucrank._data.text_survey import MISSING, TextSurvey, decimal_of, is_same_unit
from aucrank._utils.extras import import_extra
from aucrank._utils.warn import ReadingNote, warn_caller

#: Ends of the names of CSV files.
CSV = tuple(name + zipped for zipped in ("", ".gz") for name in (".csv", ".tsv", ".txt", ".data"))

# Bytes of text that are parsed at a time.
_BLOCK = 4 << 20

# A decimal point that cannot be a thousands separator.
_SHOWS_POINT = r"^\s*[+-]?(?:\d*\.(?:\d{1,2}|\d{4,})|(?:0\d*|\d{4,})?\.\d{3}|\d*\.)(?:[eE].*)?\s*$"


class CsvSource:
    """Rows of CSV files, one file after another.

    Whether a column holds integers, numbers, dates (in days since 1970) or text is determined from
    all of its values, as for a file that is read at once. Hence all columns are read once before
    any is used.

    Parameters
    ----------
    files : tuple of str
        At least one; empty files are skipped, unless all are empty.
    chunk_rows : int
        Maximal number of rows per batch.
    options : CsvOptions
        Known options of the files.
    text : collection of str
        Columns that are text even if they look like numbers.
    labels : str or None
        Column of labels, which is never read as dates.
    fitted : Fitted or None, default=None
        What a model knows of the files of its fit, if the rows are read for one.
    """

    def __init__(
        self,
        files: tuple[str, ...],
        chunk_rows: int,
        options: CsvOptions,
        text: Collection[str],
        labels: str | None,
        fitted: Fitted | None = None,
    ) -> None:
        self._csv = import_extra("pyarrow.csv", "arrow", "Dataset.from_csv")
        self._chunk_rows = chunk_rows
        self._given = options
        self._options = options if fitted is None else fitted.completed(options)
        self._text = set(text)
        self._labels = labels
        self._fitted = fitted
        self._stamps = Stamps(files)
        self._forms: dict[str, CsvForm] = {}
        self._decimals: dict[str, str] = {}
        self._columns: dict[str, ColumnForm] | None = None
        self._n_rows: int | None = None
        self.files = self._filled(files)
        self.description = describe(files)
        self.names = self._form(self.files[0]).header
        need_columns(list(text), self.names, self.files[0])

    def read_as(self, fitted: Fitted) -> "CsvSource":
        """Return the same rows, read in the way of the model's fit."""
        text = {*self._text, *(name for name in fitted.texts if name in self.names)}
        rows = (self.files, self._chunk_rows, self._given, text, self._labels)
        return CsvSource(*rows, fitted)

    @property
    def reading(self) -> Reading:
        """How the files are read, to be stored with a model that is fitted to them."""
        columns = self._learned()
        first = self._form(self.files[0])
        return Reading(
            first.separator,
            self._decimals[self.files[0]],
            first.encoding,
            first.comment,
            first.has_header,
            self._options.missing,
            forms_to_keep({n: form for n, form in columns.items() if n not in self._text}),
        )

    def heads(self, columns: Sequence[str]) -> Iterator[Head]:
        """Return the dtypes of columns in each file."""
        import pyarrow as pa

        self._learned()
        schema = pa.schema([(name, self._type(name)) for name in columns])
        empty = nw.from_native(schema.empty_table(), eager_only=True)
        for path in self.files:
            header = self._form(path).header
            need_columns(columns, header, path)
            yield Head(empty, path, header)

    def count_rows(self) -> int | None:
        """Return the number of rows, once they have been read."""
        return self._n_rows

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        import pyarrow as pa

        self._learned()
        for path, batch in self._texts(columns):
            decimal = self._decimals[path]
            found = [self._converted(batch[name], name, decimal) for name in columns]
            frame = nw.from_native(pa.table(found, names=list(columns)), eager_only=True)
            frame = without_marks(frame, self._options.missing)
            for first in range(0, len(frame), self._chunk_rows):
                yield frame[first : first + self._chunk_rows], path

    def check_unchanged(self) -> None:
        """Raise `DataChangedError` if a file has changed since the first call."""
        self._stamps.check()

    def _filled(self, files: tuple[str, ...]) -> tuple[str, ...]:
        """Return the files that are not empty, or the first one if all are."""
        if len(files) == 1:
            return files
        filled = []
        for path in files:
            with read_errors(path, "CSV", self._stamps):
                if not is_empty(path):
                    filled.append(path)
        return tuple(filled) or files[:1]

    def _form(self, path: str) -> CsvForm:
        if path not in self._forms:
            try:
                fitted = None if self._fitted is None else self._fitted.reading
                with read_errors(path, "CSV", self._stamps):
                    form = form_of(path, self._given, fitted)
            except ValueError as err:
                if str(err).startswith("cannot read"):
                    raise
                raise ValueError(f"cannot read {path} as CSV: {err}") from err
            first = self._forms.setdefault(self.files[0], form)
            self._forms[path] = form
            for note in form.notes if form is first or not form.alike(first) else ():
                warn_caller(note, ReadingNote)
        return self._forms[path]

    def _learned(self) -> dict[str, ColumnForm]:
        """Determine what columns hold, as far as it is not known yet."""
        if self._columns is None:
            self.check_unchanged()
            surveys = self._surveys()
            self.check_unchanged()
            self._decide_decimals(surveys)
            self._columns = self._told(surveys)
            self._say()
        return self._columns

    def _surveys(self) -> dict[str, dict[str, TextSurvey]]:
        """Count how the texts of all columns can be read, by file."""
        surveys: dict[str, dict[str, TextSurvey]] = {}
        n_rows = 0
        for path in self.files:
            names = [name for name in self.names if name in self._form(path).header]
            columns = {name: TextSurvey(self._options.missing.of(name)) for name in names}
            for _, batch in self._texts(names, [path]):
                n_rows += batch.num_rows
                for name, survey in columns.items():
                    if name not in self._text:
                        _look_at(survey, batch[name], self._options.decimal)
            surveys[path] = columns
        self._n_rows = n_rows
        return surveys

    def _decide_decimals(self, surveys: dict[str, dict[str, TextSurvey]]) -> None:
        """Find the decimal mark of each file; if a file shows none, take that of the others."""
        given = self._options.decimal
        shown = {path: given or decimal_of(columns.values()) for path, columns in surveys.items()}
        of_others = next((mark for mark in shown.values() if mark), ".")
        for path, mark in shown.items():
            alike = (
                shown[other]
                for other in self.files
                if shown[other] and self._form(other).separator == self._form(path).separator
            )
            self._decimals[path] = mark or next(alike, of_others)
        commas = [path for path, mark in self._decimals.items() if mark == ","]
        if given is None and commas:
            named = self._options.named("decimal")
            what = describe(commas)
            warn_caller(f"numbers of {what} have a decimal comma (see {named})", ReadingNote)

    def _told(self, surveys: dict[str, dict[str, TextSurvey]]) -> dict[str, ColumnForm]:
        """Determine what columns hold from all files, each with its decimal mark."""
        forms = {}
        known = {} if self._fitted is None else self._fitted.forms(self.names)
        for name in self.names:
            whole = TextSurvey(self._options.missing.of(name))
            for path, columns in surveys.items():
                if name in columns:
                    whole.add(columns[name].read_with(self._decimals[path]))
            decimal = self._decimals[self.files[0]]
            if name in known:
                hint = f" (see {self._options.named('missing', 'decimal')})"
                of = f"{name!r} of {self.description}"
                forms[name] = known[name].fitted_to(whole, decimal, of, hint)
            else:
                forms[name] = form_of_column(whole, decimal)
        return forms

    def _say(self) -> None:
        """Warn of unusual features of columns."""
        assert self._columns is not None
        known = {} if self._fitted is None else self._fitted.forms(self.names)
        for name, form in self._columns.items():
            if self._is_numeric(name):
                decimal = self._decimals[self.files[0]]
                option = f"{self._options.keeps_text} {name}"
                for note in form.notes(name, decimal, option, known.get(name)):
                    warn_caller(note, ReadingNote)

    def _texts(
        self, names: Sequence[str], files: Sequence[str] | None = None
    ) -> Iterator[tuple[str, Any]]:
        """Read columns as text; missing values are null."""
        import pyarrow as pa

        csv = self._csv
        missing = [*MISSING, *self._options.missing.everywhere]
        for path in self.files if files is None else files:
            form = self._form(path)
            need_columns(names, form.header, path)
            fields = form.field_names
            reading = csv.ReadOptions(
                block_size=_BLOCK,
                column_names=fields,
                skip_rows_after_names=int(form.has_header),
                encoding="utf8",
            )
            parsing = csv.ParseOptions(delimiter=form.separator, newlines_in_values=True)
            converting = csv.ConvertOptions(
                column_types=dict.fromkeys(fields, pa.string()),
                include_columns=list(names),
                null_values=missing,
                strings_can_be_null=True,
            )
            try:
                with (
                    read_errors(path, "CSV", self._stamps, partial(self._odd_line, path)),
                    self._opened(path, form) as stream,
                    csv.open_csv(stream, reading, parsing, converting) as batches,
                ):
                    for batch in batches:
                        plain = _stripped(batch, missing) if form.is_spaced else batch
                        yield path, _without_marks(plain, self._options.missing)
            except UnicodeDecodeError as err:
                reason = no_text(form.encoding, self._options)
                raise ValueError(f"cannot read {path} as CSV: {reason}") from err

    def _opened(self, path: str, form: CsvForm) -> Any:
        import pyarrow as pa

        return pa.input_stream(path) if form.is_plain else pa.PythonFile(open_table(path, form))

    def _odd_line(self, path: str) -> str | None:
        return odd_line(path, self._form(path), self._options)

    def _is_numeric(self, name: str) -> bool:
        form = self._learned()[name]
        is_left = name in self._text or (name == self._labels and form.kind == "date")
        return form.is_numeric and not is_left

    def _type(self, name: str) -> Any:
        import pyarrow as pa

        form = self._learned()[name]
        if name in self._text:
            return pa.string()
        if self._is_numeric(name):
            return pa.int64() if form.is_whole else pa.float64()
        return pa.float64() if form.kind == "empty" else pa.string()

    def _converted(self, texts: Any, name: str, decimal: str) -> Any:
        """Return texts converted to the type of the column."""
        import pyarrow as pa

        form, type_of_column = self._learned()[name], self._type(name)
        if pa.types.is_string(type_of_column):
            return texts
        if form.kind == "empty":
            return pa.nulls(len(texts), type_of_column)
        if decimal == "." and form.kind == "number" and is_same_unit("", form.unit):
            try:
                return texts.cast(type_of_column)
            except pa.ArrowInvalid:
                # Numbers in a human format.
                pass
        coded = texts.dictionary_encode()
        found = [form.value_of(value, decimal) for value in coded.dictionary.to_pylist()]
        return pa.array(found, pa.float64()).cast(type_of_column).take(coded.indices)


def _look_at(survey: TextSurvey, texts: Any, decimal: str | None) -> None:
    """Count the texts of a batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    survey.look_at_missing(texts.null_count)
    n_values = len(texts) - texts.null_count
    if not n_values:
        return
    if decimal != ",":
        # Many times faster than checking each text.
        try:
            numbers = texts.cast(pa.float64())
        except pa.ArrowInvalid:
            pass
        else:
            are_whole = survey.numbers["."].are_whole and _are_whole(texts)
            shows = decimal == "." or survey.numbers["."].n_shown > 0
            shows = shows or pc.any(pc.match_substring_regex(texts, _SHOWS_POINT)).as_py()
            if are_whole or shows:
                point = survey.numbers["."]
                values = numbers.unique().drop_null().to_pylist() if point.needs_values else []
                example = texts.drop_null()[0].as_py()
                survey.look_at_numbers(n_values, values, example, are_whole=are_whole)
                return
    counts = pc.value_counts(texts)
    pairs = zip(counts.field("values").to_pylist(), counts.field("counts").to_pylist(), strict=True)
    survey.look_at([(text, count) for text, count in pairs if text is not None])


def _are_whole(texts: Any) -> bool:
    import pyarrow as pa

    try:
        texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return False
    return True


def _without_marks(batch: Any, missing: MissingMarks) -> Any:
    """Return texts without those that stand for a missing value in their column alone."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, name in enumerate(batch.schema.names):
        if marks := missing.in_columns.get(name):
            texts = batch.column(place)
            gone = pc.is_in(texts, value_set=pa.array(marks, pa.string()))
            kept = pc.if_else(gone, pa.scalar(None, pa.string()), texts)
            batch = batch.set_column(place, name, kept)
    return batch


def _stripped(batch: Any, missing: Sequence[str]) -> Any:
    """Return texts without surrounding blanks."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for texts in batch.columns:
        plain = pc.utf8_trim_whitespace(texts)
        gone = pc.is_in(plain, value_set=pa.array(missing))
        columns.append(pc.if_else(gone, pa.scalar(None, pa.string()), plain))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
