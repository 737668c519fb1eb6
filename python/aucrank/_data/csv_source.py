"""CSV files, read in pieces: what a column holds is told from all of them first."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.clean import TextColumn, days_in, without_marks
from aucrank._data.csv_form import (
    MISSING,
    CsvForm,
    CsvOptions,
    ReadingNote,
    check_header,
    form_of,
    no_text,
)
from aucrank._data.data_files import Stamps, describe, read_errors
from aucrank._data.passes import Head, need_columns
from aucrank._utils.extras import import_extra
from aucrank._utils.warn import warn_caller

#: Ends of the names of CSV files.
CSV = tuple(name + zipped for zipped in ("", ".gz") for name in (".csv", ".tsv", ".txt", ".data"))

# Bytes of text that are taken apart at a time.
_BLOCK = 4 << 20


class CsvSource:
    """Rows of CSV files, one file after the other.

    A column is one of whole numbers, numbers, dates (in days since 1970) or text by all of its
    values, as it is where a file is read at once. Hence the columns that are needed are read once
    more than others would be.

    Parameters
    ----------
    files : tuple of str
        At least one.
    chunk_rows : int
        Most rows of a piece.
    options : CsvOptions
        What is known of how the files are written.
    text : collection of str
        Columns that are text even where they look like numbers.
    labels : str or None
        Column of labels, in which a date is none.
    """

    def __init__(
        self,
        files: tuple[str, ...],
        chunk_rows: int,
        options: CsvOptions,
        text: Collection[str],
        labels: str | None,
    ) -> None:
        self._csv = import_extra("pyarrow.csv", "arrow", "Dataset.from_csv")
        self._chunk_rows = chunk_rows
        self._options = options
        self._text = set(text)
        self._labels = labels
        self._stamps = Stamps(files)
        self._forms: dict[str, CsvForm] = {}
        self._columns: dict[str, TextColumn] = {}
        self._n_rows: int | None = None
        self.files = files
        self.description = describe(files)
        self.names = self._form(files[0]).header
        need_columns(list(text), self.names, files[0])

    def heads(self, columns: Sequence[str]) -> Iterator[Head]:
        """Return the dtypes of columns in each file."""
        import pyarrow as pa

        self._learn(columns)
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

        self._learn(columns)
        for path, batch in self._texts(columns):
            decimal = self._form(path).decimal
            found = [self._converted(batch[name], name, decimal) for name in columns]
            frame = nw.from_native(pa.table(found, names=list(columns)), eager_only=True)
            frame = without_marks(frame, self._options.missing)
            for first in range(0, len(frame), self._chunk_rows):
                yield frame[first : first + self._chunk_rows], path

    def check_unchanged(self) -> None:
        """Raise `DataChangedError` if a file is not what it was when this was first called."""
        self._stamps.check()

    def _form(self, path: str) -> CsvForm:
        if path not in self._forms:
            try:
                with read_errors(path, "CSV", self._stamps):
                    form = form_of(path, self._options)
                    check_header(form.header)
            except ValueError as err:
                if str(err).startswith("cannot read"):
                    raise
                raise ValueError(f"cannot read {path} as CSV: {err}") from err
            first = self._forms.setdefault(self.files[0], form)
            self._forms[path] = form
            is_alike = (form.separator, form.decimal, form.encoding) == (
                first.separator,
                first.decimal,
                first.encoding,
            )
            for note in form.notes if form is first or not is_alike else ():
                warn_caller(note, ReadingNote)
        return self._forms[path]

    def _learn(self, names: Sequence[str]) -> None:
        """Tell what columns hold, as far as it is not known yet."""
        new = [name for name in names if name not in self._columns]
        if not new:
            return
        self.check_unchanged()
        columns = {name: TextColumn(self._options.missing) for name in new}
        n_rows = 0
        for path, batch in self._texts(new):
            n_rows += batch.num_rows
            for name, column in columns.items():
                if name not in self._text and not column.is_text:
                    _look_at(column, batch[name], self._form(path).decimal)
        self.check_unchanged()
        self._n_rows = n_rows
        self._columns |= columns
        for name, column in columns.items():
            for note in column.notes(name) if self._is_numeric(name) else ():
                warn_caller(note, ReadingNote)

    def _texts(self, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Read columns as text; what is missing is null."""
        import pyarrow as pa

        csv = self._csv
        missing = [*MISSING, *self._options.missing]
        for path in self.files:
            form = self._form(path)
            need_columns(names, form.header, path)
            is_utf8 = form.encoding in ("utf-8", "utf-8-sig")
            reading = csv.ReadOptions(
                block_size=_BLOCK,
                column_names=form.header,
                skip_rows_after_names=1,
                encoding="utf8" if is_utf8 else form.encoding,
            )
            parsing = csv.ParseOptions(delimiter=form.separator, newlines_in_values=True)
            converting = csv.ConvertOptions(
                column_types=dict.fromkeys(form.header, pa.string()),
                include_columns=list(names),
                null_values=missing,
                strings_can_be_null=True,
            )
            try:
                with (
                    read_errors(path, "CSV", self._stamps),
                    pa.input_stream(path) as stream,
                    csv.open_csv(stream, reading, parsing, converting) as batches,
                ):
                    for batch in batches:
                        yield path, _stripped(batch, missing) if form.is_spaced else batch
            except UnicodeDecodeError as err:
                reason = no_text(form.encoding, self._options)
                raise ValueError(f"cannot read {path} as CSV: {reason}") from err

    def _is_numeric(self, name: str) -> bool:
        return name not in self._text and self._columns[name].is_numeric

    def _is_dated(self, name: str) -> bool:
        is_left = name in self._text or name == self._labels
        return not is_left and self._columns[name].is_dated

    def _type(self, name: str) -> Any:
        import pyarrow as pa

        if self._is_numeric(name) and self._columns[name].is_whole:
            return pa.int64()
        is_number = self._is_numeric(name) or self._is_dated(name)
        is_empty = name not in self._text and self._columns[name].is_empty
        return pa.float64() if is_number or is_empty else pa.string()

    def _converted(self, texts: Any, name: str, decimal: str) -> Any:
        """Return texts as what the column holds."""
        import pyarrow as pa

        column, type_of_column = self._columns[name], self._type(name)
        if pa.types.is_string(type_of_column):
            return texts
        if decimal == "." and not self._is_dated(name):
            try:
                return texts.cast(type_of_column)
            except pa.ArrowInvalid:
                # Numbers in a form that people write.
                pass
        coded = texts.dictionary_encode()
        values = coded.dictionary.to_pylist()
        if self._is_dated(name):
            found = [days_in(value) for value in values]
        else:
            found = [column.number(value, decimal) for value in values]
        return pa.array(found, pa.float64()).cast(type_of_column).take(coded.indices)


def _look_at(column: TextColumn, texts: Any, decimal: str) -> None:
    import pyarrow as pa

    if texts.null_count:
        column.look_at_missing()
    if texts.null_count == len(texts):
        return
    if decimal == ".":
        # Many times faster than to look at each text.
        try:
            texts.cast(pa.float64())
        except pa.ArrowInvalid:
            pass
        else:
            # Refusals take long, and one is enough.
            column.look_at_numbers(are_whole=column.all_whole and _are_whole(texts))
            return
    column.look_at(texts.unique().drop_null().to_pylist(), decimal)


def _are_whole(texts: Any) -> bool:
    import pyarrow as pa

    try:
        texts.cast(pa.int64())
    except pa.ArrowInvalid:
        return False
    return True


def _stripped(batch: Any, missing: Sequence[str]) -> Any:
    """Return texts without the blanks around them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for texts in batch.columns:
        plain = pc.utf8_trim_whitespace(texts)
        gone = pc.is_in(plain, value_set=pa.array(missing))
        columns.append(pc.if_else(gone, pa.scalar(None, pa.string()), plain))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
