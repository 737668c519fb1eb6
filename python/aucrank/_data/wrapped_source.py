"""Wrappers of a source: folder names as columns, dates as days, labels as classes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.clean import (
    date_form,
    dates_as_days,
    forms_to_keep,
    look_at,
    notes_on_dates,
    notes_on_times,
    plain_numbers,
    read_texts,
    typed_dates,
    typed_times,
    without_marks,
)
from aucrank._data.column_form import ColumnForm, form_of_column
from aucrank._data.data_files import describe
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.passes import Head, Source, as_written, of_written
from aucrank._data.reading import Fitted, Reading
from aucrank._data.text_survey import MISSING, TextSurvey
from aucrank._utils.warn import ReadingNote, warn_caller
from aucrank._utils.words import for_shell


class WrappedSource:
    """The rows of another source, unchanged.

    Parameters
    ----------
    source : Source
        The wrapped source.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self.description = source.description
        self.files = source.files
        self.names = source.names

    @property
    def reading(self) -> Reading | None:
        """How the rows are read, to be stored with a model that is fitted to them."""
        return self._source.reading

    def read_as(self, fitted: Fitted) -> Source:
        """Return the source, which is wrapped once it is known how its rows are read."""
        return self

    def heads(self, columns: Sequence[str]) -> Iterable[Head] | None:
        """Return the dtypes of columns in each file."""
        return self._source.heads(columns)

    def count_rows(self) -> int | None:
        """Return the number of rows, if it is known without reading them."""
        return self._source.count_rows()

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        return self._source.read(columns)

    def written(self, name: str) -> str:
        """Return the name by which `read` returns a column as it is written."""
        return self._source.written(name)

    def check_unchanged(self) -> None:
        """Raise `DataChangedError` if a file has changed since the first call."""
        self._source.check_unchanged()


class PartitionedSource(WrappedSource):
    """Rows of files in folders such as ``region=North``, with the folder values as columns.

    Parameters
    ----------
    source : Source
        Reader of the files.
    values : dict of str to dict of str to str
        Values in the folder names, by file and by column; the same columns for all.
    text : collection of str
        Columns that are text even if they look like numbers.
    """

    def __init__(
        self, source: Source, values: Mapping[str, Mapping[str, str]], text: Collection[str] = ()
    ) -> None:
        super().__init__(source)
        self._values = values
        columns = [name for name in next(iter(values.values())) if name not in source.names]
        self.names = [*source.names, *columns]
        self._forms: dict[str, ColumnForm] = {}
        for name in columns:
            survey = TextSurvey()
            survey.look_at((values[file][name], 1) for file in source.files)
            form = form_of_column(survey, ".")
            self._forms[name] = ColumnForm("text") if name in text else form

    def heads(self, columns: Sequence[str]) -> Iterable[Head] | None:
        """Return the dtypes of columns in each file."""
        heads = self._source.heads([name for name in columns if self._of_folders(name) is None])
        if heads is None:
            return None
        return (
            replace(head, frame=self._completed(head.frame, head.origin, columns), names=self.names)
            for head in heads
        )

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        # The number of rows is taken from a column of the file.
        of_files = [name for name in columns if self._of_folders(name) is None]
        of_files = of_files or self._source.names[:1]
        for frame, origin in self._source.read(of_files):
            yield self._completed(frame, origin, columns), origin

    def written(self, name: str) -> str:
        """Return the name by which `read` returns a column as it is written."""
        return as_written(name) if name in self._forms else self._source.written(name)

    def read_as(self, fitted: Fitted) -> "PartitionedSource":
        """Return the same rows, read in the way of the model's fit."""
        text = [name for name in self._forms if name in fitted.texts]
        return PartitionedSource(self._source.read_as(fitted), self._values, text)

    def _of_folders(self, name: str) -> str | None:
        """Return the column of the folder names that a name refers to, None for no such one."""
        column = of_written(name)
        column = name if column is None else column
        return column if column in self._forms else None

    def _completed(
        self, frame: nw.DataFrame[Any], file: str, columns: Sequence[str]
    ) -> nw.DataFrame[Any]:
        added = []
        for name in columns:
            if (column := self._of_folders(name)) is not None:
                text, form = self._values[file][column], self._forms[column]
                if is_as_written := name != column:
                    form = ColumnForm("text")
                value: Any = None if text in MISSING and not is_as_written else text
                dtype: Any = nw.String
                if form.is_numeric or form.kind == "empty":
                    value = None if value is None else form.value_of(text, ".")
                    dtype = nw.Float64
                if form.is_whole:
                    value, dtype = int(value), nw.Int64
                added.append(
                    nw.new_series(name, [value] * len(frame), dtype, backend=frame.implementation)
                )
        return frame.with_columns(*added).select(list(columns)) if added else frame


class ConvertingSource(WrappedSource, ABC):
    """Rows whose columns are converted, unless they are read as written."""

    @abstractmethod
    def _converted(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        """Return the frame with converted columns."""

    def heads(self, columns: Sequence[str]) -> Iterable[Head] | None:
        """Return the dtypes of columns in each file."""
        heads = self._source.heads(self._of_source(columns))
        if heads is None:
            return None
        return (replace(head, frame=self._picked(head.frame, columns)) for head in heads)

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        for frame, origin in self._source.read(self._of_source(columns)):
            yield self._picked(frame, columns), origin

    def written(self, name: str) -> str:
        """Return the name by which `read` returns a column as it is written."""
        of_source = self._source.written(name)
        return as_written(name) if of_source == name else of_source

    def _of_source(self, columns: Sequence[str]) -> list[str]:
        """Return the columns of the source that these are made of, each once."""
        own = (name if (of := self._unconverted(name)) is None else of for name in columns)
        return list(dict.fromkeys(own))

    def _unconverted(self, name: str) -> str | None:
        """Return the column whose values have this name if they are not converted."""
        of = of_written(name)
        return None if of is None or self._source.written(of) != of else of

    def _picked(self, frame: nw.DataFrame[Any], columns: Sequence[str]) -> nw.DataFrame[Any]:
        """Return these columns, converted or not."""
        written = [name for name in columns if of_written(name) is not None]
        plain = [name for name in columns if name not in written]
        found = self._converted(frame.select(plain)) if plain else frame
        added = (frame[self._unconverted(name) or name].alias(name) for name in written)
        return found.with_columns(*added).select(list(columns)) if written else found


class DatedSource(ConvertingSource):
    """Rows with dates, also those in texts, converted to days since 1970.

    Durations become hours, and numbers that are Python objects floats.

    Parameters
    ----------
    source : Source
        Source of typed columns.
    left : collection of str
        Columns that stay unchanged.
    missing : MissingMarks
        Texts and numbers that stand for missing values.
    fitted : Fitted or None, default=None
        What a model knows of the files of its fit, if the rows are read for one.
    """

    def __init__(
        self,
        source: Source,
        left: Collection[str | None],
        missing: MissingMarks,
        fitted: Fitted | None = None,
    ) -> None:
        super().__init__(source)
        self._left = left
        self._missing = missing
        self._fitted = fitted
        self._known: dict[str, ColumnForm] | None = None

    @property
    def reading(self) -> Reading:
        """How the rows are read, to be stored with a model that is fitted to them."""
        of_numbers = {} if self._source.reading is None else self._source.reading.columns
        columns = of_numbers | forms_to_keep(self._forms())
        return Reading(missing=self._missing, columns=columns)

    def _converted(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        frame = plain_numbers(dates_as_days(frame, self._left), self._left)
        forms = self._forms()
        texts = [n for n, dtype in frame.schema.items() if n in forms and dtype == nw.String]
        frame = frame.with_columns(
            read_texts(frame[name], forms[name], ".", self._missing.of(name)) for name in texts
        )
        return without_marks(frame, self._missing)

    def _forms(self) -> dict[str, ColumnForm]:
        """Return the forms of the columns of dates; dates in texts are detected from all rows."""
        if self._known is None:
            names = [name for name in self.names if name not in self._left]
            found: dict[str, ColumnForm] = {}
            texts: dict[str, TextSurvey] = {}
            for frame in self._frames(names):
                for name in names:
                    if form := typed_dates(frame[name]) or typed_times(frame[name]):
                        found[name] = form
                    elif frame[name].dtype == nw.String:
                        texts[name] = TextSurvey(self._missing.of(name))
            for frame, _ in self._source.read(list(texts)) if texts else ():
                for name, survey in texts.items():
                    look_at(survey, frame[name], ".")
            known = {} if self._fitted is None else self._fitted.forms(names)
            for name, survey in texts.items():
                if name in known and known[name].kind == "date":
                    of = f"{name!r} of {self.description}"
                    found.setdefault(name, known[name].fitted_to(survey, ".", of, ""))
                elif form := date_form(survey):
                    found.setdefault(name, form)
            self._known = found
            notes: list[ReadingNote] = []
            for name in texts:
                if name in found:
                    option = for_shell("--categorical", name)
                    notes += found[name].notes(name, ".", option, known.get(name))
            dates = [name for name in names if name in found and found[name].kind == "date"]
            times = [name for name in names if name in found and found[name].kind == "number"]
            notes += [*notes_on_dates(dates), *notes_on_times(times)]
            for note in notes:
                warn_caller(note)
        return self._known

    def _frames(self, names: Sequence[str]) -> Iterable[nw.DataFrame[Any]]:
        """Return frames, with rows or without, that show the dtypes of columns."""
        heads = self._source.heads(names)
        if heads is None:
            return (frame for frame, _ in self._source.read(names))
        return (head.frame for head in heads)


class ClassesSource(WrappedSource):
    """Rows with their labels mapped to those of two classes.

    Parameters
    ----------
    source : Source
        The wrapped source.
    target : str
        Column of labels.
    class_of : callable
        Maps a label to the label of its class.
    """

    def __init__(self, source: Source, target: str, class_of: Callable[[Any], Any]) -> None:
        super().__init__(source)
        self._target = target
        self._class_of = class_of

    def heads(self, columns: Sequence[str]) -> Iterable[Head] | None:
        """Return the dtypes of columns in each file."""
        heads = self._source.heads(columns)
        if heads is None or self._target not in columns:
            return heads
        return (replace(head, frame=self._converted(head.frame)) for head in heads)

    def read(self, columns: Sequence[str]) -> Iterator[tuple[nw.DataFrame[Any], str]]:
        """Read some of the columns."""
        for frame, origin in self._source.read(columns):
            yield (self._converted(frame) if self._target in columns else frame), origin

    def _converted(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        series = frame[self._target]
        classes = {value: self._class_of(value) for value in series.unique().to_list()}
        found = [classes[value] for value in series.to_list()]
        return frame.with_columns(
            nw.new_series(self._target, found, nw.String, backend=frame.implementation)
        )


def with_folders(
    source: Source, values: Mapping[str, Mapping[str, str]], text: Collection[str] = ()
) -> Source:
    """Return a source with the columns that folder names define.

    Raises
    ------
    ValueError
        If the folder names of two files define different columns.
    """
    known = {file: values.get(file, {}) for file in source.files}
    columns = list(known[source.files[0]])
    for file, found in known.items():
        if list(found) != columns:
            raise ValueError(
                f"folders of {file} are called by the columns {list(found)}, those of"
                f" {describe(source.files[:1])} by {columns}"
            )
    return PartitionedSource(source, known, text) if columns else source
