"""CSV files, read in batches; column types are determined from all of them first."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.clean import forms_to_keep, look_at, notes_on_dates, read_texts, without_marks
from aucrank._data.column_form import ColumnForm, form_of_column
from aucrank._data.csv_form import CsvForm, CsvOptions, form_of, is_empty, no_text, odd_line
from aucrank._data.csv_parsers import ArrowParser, Backend, FrameParser, Parser, with_series
from aucrank._data.data_files import Stamps, UnreadableError, describe, read_errors
from aucrank._data.passes import Head, as_written, need_columns, of_written
from aucrank._data.reading import Fitted, Reading
from aucrank._data.text_survey import UNKNOWN, TextSurvey, decimal_of
from aucrank._utils.warn import ReadingNote, warn_caller
from aucrank._utils.words import for_shell

#: Ends of the names of CSV files.
CSV = tuple(name + zipped for zipped in ("", ".gz") for name in (".csv", ".tsv", ".txt", ".data"))


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
        Columns that are text even if they look like numbers; those that do not exist are skipped.
    labels : str or None
        Column of labels, which is never read as dates.
    fitted : Fitted or None, default=None
        What a model knows of the files of its fit, if the rows are read for one.
    backend : {"pandas", "polars"} or None, default=None
        Library that reads a single file at once; None for pyarrow, which reads blocks.
    called : str or None, default=None
        Name of a single file in messages; None for its path.
    kind : str, default="CSV"
        Format in messages.
    """

    def __init__(
        self,
        files: tuple[str, ...],
        chunk_rows: int,
        options: CsvOptions,
        text: Collection[str],
        labels: str | None,
        fitted: Fitted | None = None,
        *,
        backend: Backend | None = None,
        called: str | None = None,
        kind: str = "CSV",
    ) -> None:
        self._chunk_rows = chunk_rows
        self._given = options
        self._options = options if fitted is None else fitted.completed(options)
        self._parser: Parser
        if backend is None:
            self._parser = ArrowParser(self._options.missing)
        else:
            self._parser = FrameParser(backend, self._options)
        self._backend = backend
        self._labels = labels
        self._fitted = fitted
        self._known: dict[str, ColumnForm] = {}
        self._called, self._kind = called, kind
        self._stamps = Stamps(files)
        self._forms: dict[str, CsvForm] = {}
        self._decimals: dict[str, str] = {}
        self._columns: dict[str, ColumnForm] | None = None
        self._n_rows: int | None = None
        self.files = self._filled(files)
        self.description = describe(files) if called is None else called
        self.names = self._form(self.files[0]).header
        self._text = {*text} & {*self.names}
        if fitted is not None:
            self._known = fitted.forms(self.names)

    def read_as(self, fitted: Fitted) -> "CsvSource":
        """Return the same rows, read in the way of the model's fit."""
        text = {*self._text, *fitted.texts}
        rows = (self.files, self._chunk_rows, self._given, text, self._labels)
        library, called, kind = self._backend, self._called, self._kind
        return CsvSource(*rows, fitted, backend=library, called=called, kind=kind)

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
            forms_to_keep(columns),
        )

    def heads(self, columns: Sequence[str]) -> Iterator[Head]:
        """Return the dtypes of columns in each file."""
        types = self._types(columns)
        empty = nw.from_dict({name: [] for name in types}, types, backend=self._parser.library)
        for path in self.files:
            header = self._form(path).header
            need_columns(_of_files(columns), header, path)
            yield Head(empty, path, header)

    def count_rows(self) -> int | None:
        """Return the number of rows, once they have been read."""
        return self._n_rows

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        forms, types = self._learned(), self._types(columns)
        read = [name for name, dtype in types.items() if dtype != nw.String]
        for path in self.files:
            decimal = self._decimals[path]
            form = replace(self._form(path), decimal=decimal)
            for block in self._blocks(path, form, columns, self._types_of_blocks()):
                numbers = (read_texts(block[name], forms[name], decimal) for name in read)
                frame = with_series(block, numbers)
                frame = without_marks(frame, self._options.missing)
                for first in range(0, len(frame), self._chunk_rows):
                    yield frame[first : first + self._chunk_rows], path

    def written(self, name: str) -> str:
        """Return the name by which `read` returns a column as it is written."""
        return as_written(name)

    def check_unchanged(self) -> None:
        """Raise `DataChangedError` if a file has changed since the first call."""
        self._stamps.check()

    def _filled(self, files: tuple[str, ...]) -> tuple[str, ...]:
        """Return the files that are not empty, or the first one if all are."""
        if len(files) == 1:
            return files
        filled = []
        for path in files:
            with self._read_errors(path):
                if not is_empty(path):
                    filled.append(path)
        return tuple(filled) or files[:1]

    def _form(self, path: str) -> CsvForm:
        if path not in self._forms:
            try:
                fitted = None if self._fitted is None else self._fitted.reading
                with self._read_errors(path):
                    form = form_of(path, self._given, fitted, self._name(path))
            except UnreadableError:
                raise
            except ValueError as err:
                raise UnreadableError(self._name(path), self._kind, err) from err
            first = self._forms.setdefault(self.files[0], form)
            self._forms[path] = form
            for note in form.notes if form is first or not form.alike(first) else ():
                warn_caller(note)
        return self._forms[path]

    def _learned(self) -> dict[str, ColumnForm]:
        """Determine what columns hold, as far as it is not known yet."""
        if self._columns is None:
            self.check_unchanged()
            surveys = self._surveys()
            self.check_unchanged()
            self._decide_decimals(surveys)
            self._columns = self._forms_of_columns(surveys)
            self._say()
        return self._columns

    def _surveys(self) -> dict[str, dict[str, TextSurvey]]:
        """Count how the texts of all columns can be read, by file."""
        surveys: dict[str, dict[str, TextSurvey]] = {}
        n_rows = 0
        for path in self.files:
            surveys[path], n_of_file = self._survey(path)
            if self._parser.is_in_doubt(self._form(path), surveys[path]):
                surveys[path], n_of_file = self._survey(path)
            n_rows += n_of_file
        self._n_rows = n_rows
        return surveys

    def _survey(self, path: str) -> tuple[dict[str, TextSurvey], int]:
        """Count how the texts of a file can be read, and its rows."""
        form = self._form(path)
        # A unit, or a date without its separators, must not become a number.
        units = {name for name, of_fit in self._known.items() if of_fit != ColumnForm("number")}
        types = dict.fromkeys({*self._text, *units}, nw.String())
        header = set(form.header)
        names = [name for name in self.names if name in header]
        surveys = {name: TextSurvey(self._options.missing.of(name)) for name in names}
        n_rows = 0
        for block in self._blocks(path, form, names, types):
            n_rows += len(block)
            for name, survey in surveys.items():
                if name not in self._text:
                    look_at(survey, block[name], form.decimal)
        return surveys, n_rows

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
            what = describe(list(map(self._name, commas)))
            note = f"numbers of {what} have a decimal comma (see {named})"
            warn_caller(ReadingNote(note, "decimal commas"))

    def _forms_of_columns(self, surveys: dict[str, dict[str, TextSurvey]]) -> dict[str, ColumnForm]:
        """Determine what columns hold from all files, each with its decimal mark."""
        forms = dict.fromkeys(self.names, ColumnForm("text"))
        decimal = self._decimals[self.files[0]]
        for name in self.names:
            if name in self._text:
                continue
            whole = TextSurvey(self._options.missing.of(name))
            for path, columns in surveys.items():
                if name in columns:
                    whole.add(columns[name].read_with(self._decimals[path]))
            if name in self._known:
                hint = f" (see {self._options.named('missing', 'decimal')})"
                of = f"{name!r} of {self.description}"
                forms[name] = self._known[name].fitted_to(whole, decimal, of, hint)
            else:
                form = form_of_column(whole, decimal)
                if name != self._labels or form.kind != "date":
                    forms[name] = form
        return forms

    def _say(self) -> None:
        """Warn of unusual features of columns."""
        assert self._columns is not None
        notes: list[ReadingNote] = []
        if any(form.has_unknown for form in self._forms.values()):
            notes.append(ReadingNote(f"{UNKNOWN!r} counts as missing", f"{UNKNOWN!r} as missing"))
        decimal = self._decimals[self.files[0]]
        for name, form in self._columns.items():
            keeps_text = self._options.keeps_text
            is_command = bool(self._options.dashes)
            option = for_shell(keeps_text, name) if is_command else f"{keeps_text} {name}"
            notes += form.notes(name, decimal, option, self._known.get(name))
        dates = [name for name, form in self._columns.items() if form.kind == "date"]
        for note in [*notes, *notes_on_dates(dates)]:
            warn_caller(note)

    def _blocks(
        self, path: str, form: CsvForm, names: Sequence[str], types: Mapping[str, Any]
    ) -> Iterator[nw.DataFrame[Any]]:
        """Parse columns of a file."""
        need_columns(_of_files(names), form.header, self._name(path))
        try:
            with self._read_errors(path, partial(odd_line, path, form, self._options)):
                yield from self._parser.blocks(path, form, names, types)
        except UnicodeDecodeError as err:
            reason = no_text(form.encoding, self._options)
            raise UnreadableError(self._name(path), self._kind, reason) from err

    def _types_of_blocks(self) -> dict[str, Any]:
        """Return the types of columns for the parser: those it would misread are text."""
        return {
            name: self._type(form) if form.kind == "number" and form.reads_bare else nw.String()
            for name, form in self._learned().items()
        }

    def _types(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return the types of columns."""
        forms = self._learned()
        return {
            name: nw.String() if of_written(name) is not None else self._type(forms[name])
            for name in columns
        }

    @staticmethod
    def _type(form: ColumnForm) -> Any:
        if form.kind == "text":
            return nw.String()
        return nw.Int64() if form.is_whole else nw.Float64()

    def _name(self, path: str) -> str:
        return path if self._called is None else self._called

    def _read_errors(
        self, path: str, reason_of: Callable[[], str | None] | None = None
    ) -> AbstractContextManager[None]:
        errors = self._parser.errors
        return read_errors(path, self._kind, self._stamps, reason_of, errors, self._called)


def _of_files(columns: Sequence[str]) -> list[str]:
    """Return the columns of the files that these are read from."""
    return [name if (of := of_written(name)) is None else of for name in columns]
