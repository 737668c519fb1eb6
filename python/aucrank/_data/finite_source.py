"""Rows of typed columns, with a number in place of infinity."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw

from aucrank._data.clean import look_at, within_ends, without_marks
from aucrank._data.column_form import ColumnForm, form_of_column
from aucrank._data.missing_marks import MissingMarks
from aucrank._data.passes import Head, Source
from aucrank._data.reading import Fitted, Reading
from aucrank._data.text_survey import TextSurvey
from aucrank._data.wrapped_source import ConvertingSource
from aucrank._utils.warn import warn_caller


class FiniteSource(ConvertingSource):
    """Rows of a source, where infinity is a number beyond all others of its column.

    Columns of floats are read once more, except those that are known to be finite.

    Parameters
    ----------
    source : Source
        Source of typed columns.
    left : collection of str
        Columns that stay unchanged.
    missing : MissingMarks
        Numbers that stand for missing values, which may be infinite.
    keeps_text : str
        The option that keeps a column as text, for notes.
    fitted : Fitted or None, default=None
        What a model knows of the files of its fit, if the rows are read for one.
    """

    def __init__(
        self,
        source: Source,
        left: Collection[str | None],
        missing: MissingMarks,
        keeps_text: str,
        fitted: Fitted | None = None,
    ) -> None:
        super().__init__(source)
        self._keeps_text = keeps_text
        self._left = left
        self._missing = missing
        self._fitted = fitted
        self._known: dict[str, ColumnForm] | None = None

    @property
    def reading(self) -> Reading | None:
        """How the rows are read, to be stored with a model that is fitted to them."""
        found, forms = self._source.reading, self._forms()
        if not forms and self._missing == MissingMarks():
            return found
        found = Reading() if found is None else found
        missing = found.missing.and_those_of(self._missing)
        return replace(found, columns=found.columns | forms, missing=missing)

    def read_as(self, fitted: Fitted) -> "FiniteSource":
        """Return the same rows, read in the way of the model's fit."""
        source, missing = self._source.read_as(fitted), self._missing
        if fitted.reading is not None:
            missing = fitted.reading.missing.and_those_of(missing)
        return FiniteSource(source, self._left, missing, self._keeps_text, fitted)

    def _converted(self, frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
        ends = self._forms()
        changed = [n for n, dtype in frame.schema.items() if n in ends and dtype.is_float()]
        frame = frame.with_columns(within_ends(frame[name], ends[name]) for name in changed)
        return without_marks(frame, self._missing)

    def _forms(self) -> dict[str, ColumnForm]:
        """Return the forms of columns that hold infinity, or did in the fit."""
        if self._known is None:
            known = {} if self._fitted is None else self._fitted.forms(self.names)
            self._known = {n: form for n, form in known.items() if form.ends != (None, None)}
            surveys = self._surveys()
            for name, survey in surveys.items():
                if not any(survey.numbers["."].infinite.values()):
                    continue
                form = form_of_column(survey, ".")
                if (of_fit := known.get(name)) is not None:
                    form = of_fit.fitted_to(survey, ".", repr(name), "")
                self._known[name] = form
                for note in form.notes(name, ".", f"{self._keeps_text} {name}", of_fit):
                    warn_caller(note)
        return self._known

    def _surveys(self) -> dict[str, TextSurvey]:
        """Count the finite and infinite numbers of columns that may hold infinity."""
        heads = self._source.heads(self.names)
        surveys = {
            name: TextSurvey(self._missing.of(name))
            for head in heads or self._first()
            for name, dtype in head.frame.schema.items()
            if dtype.is_float() and name not in head.finite and name not in self._left
        }
        for frame, _ in self._source.read(list(surveys)) if surveys else ():
            for name, survey in surveys.items():
                look_at(survey, _without_nan(frame[name]), ".")
        return surveys

    def _first(self) -> Iterable[Head]:
        return (
            Head(frame.head(0), origin, self.names)
            for frame, origin in self._source.read(self.names)
        )


def _without_nan(series: nw.Series[Any]) -> nw.Series[Any]:
    """Return numbers with nulls in place of NaN, as parsers of texts return them."""
    return series.fill_nan(None)
