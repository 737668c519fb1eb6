"""How the data of a fit were read, as far as it determines the values of other rows."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from aucrank._data.column_form import ColumnForm
from aucrank._data.duration_text import CLOCK_UNITS
from aucrank._data.missing_marks import MissingMarks
from aucrank._utils.numbers import DateUnit

if TYPE_CHECKING:
    from aucrank._data.csv_form import CsvOptions

_TEXTS = ("separator", "decimal", "encoding", "comment")


def is_encoding(name: str) -> bool:
    """Return whether an encoding of that name exists."""
    try:
        "".encode(name)
    except LookupError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Reading:
    """How the files of a fit were read; saved with the model, and used for all rows that it scores.

    Attributes
    ----------
    separator, decimal, encoding, comment : str or None
        As in `CsvOptions`; None where the files were not CSV files.
    header : bool
        Whether there was a header line.
    missing : MissingMarks
        Texts and numbers that stand for missing values, in addition to the usual ones.
    columns : dict
        Forms of columns that are not read like plain numbers or texts, by name.
    target : str or None
        Column of the classes; None where unknown.
    """

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    comment: str | None = None
    header: bool = True
    missing: MissingMarks = field(default_factory=MissingMarks)
    columns: dict[str, ColumnForm] = field(default_factory=dict)
    target: str | None = None

    def completed(self, options: "CsvOptions") -> "CsvOptions":
        """Return options, with those that are not set taken from the fit.

        The separator, the encoding and the lines above the header are not taken: each file shows
        its own.
        """
        return replace(
            options,
            decimal=options.decimal or self.decimal,
            missing=self.missing.and_those_of(options.missing),
            comment=options.comment or self.comment,
            header=options.header and self.header,
        )

    def of_columns(self, names: Collection[str]) -> "Reading":
        """Return the reading with only the forms of these columns."""
        kept = set(names)
        in_columns = {n: marks for n, marks in self.missing.in_columns.items() if n in kept}
        return replace(
            self,
            columns={n: f for n, f in self.columns.items() if n in kept},
            missing=replace(self.missing, in_columns=in_columns),
        )

    def check_weights(self, column: str) -> None:
        """Raise a ValueError if a column of weights holds infinity, which numbers stand for."""
        form = self.columns.get(column)
        if form is not None and form.ends != (None, None):
            raise ValueError(f"sample_weight: column {column!r} holds infinity; weights are finite")

    @property
    def date_units(self) -> dict[str, DateUnit]:
        """Units of the numbers in columns of dates, by name."""
        return {name: form.counts for name, form in self.columns.items() if form.counts}

    def to_json(self) -> dict[str, Any]:
        """Return the form that a saved document holds under ``reading``."""
        found: dict[str, Any] = {
            name: getattr(self, name) for name in _TEXTS if getattr(self, name)
        }
        if self.target is not None:
            found["target"] = self.target
        if not self.header:
            found["header"] = False
        if self.missing.everywhere:
            found["missing"] = list(self.missing.everywhere)
        if in_columns := self.missing.in_columns:
            found["missing_in"] = {name: list(marks) for name, marks in in_columns.items()}
        if self.columns:
            found["columns"] = {name: form.to_json() for name, form in self.columns.items()}
        return found

    @classmethod
    def from_json(cls, found: Any, names: Collection[str]) -> "Reading":
        """Read what `to_json` wrote, for a model of columns with these names.

        Raises
        ------
        ValueError
            If its form differs.
        """
        if not isinstance(found, dict):
            raise ValueError("`reading` has an unknown form")
        texts = {name: found.get(name) for name in _TEXTS}
        header = found.get("header", True)
        missing, columns = found.get("missing", []), found.get("columns", {})
        missing_in = found.get("missing_in", {})
        target = found.get("target")
        is_right = (
            all(text is None or isinstance(text, str) for text in texts.values())
            and texts["decimal"] in (None, ".", ",")
            and (texts["separator"] is None or len(texts["separator"]) == 1)
            and isinstance(header, bool)
            and isinstance(target, str | None)
            and _are_texts(missing)
            and isinstance(missing_in, dict)
            and all(map(_are_texts, missing_in.values()))
            and isinstance(columns, dict)
            and columns.keys() | missing_in.keys() <= set(names)
            and is_encoding(texts["encoding"] or "utf-8")
        )
        if not is_right:
            raise ValueError("`reading` has an unknown form")
        forms = {str(name): ColumnForm.from_json(form) for name, form in columns.items()}
        in_columns = {str(name): tuple(marks) for name, marks in missing_in.items()}
        marks = MissingMarks(tuple(missing), in_columns)
        return cls(**texts, header=header, missing=marks, columns=forms, target=target)


def _are_texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(text, str) for text in found)


def with_times(reading: Reading | None, units: dict[str, DateUnit]) -> Reading | None:
    """Return how rows are read, with the columns of hours of a fit whose columns have types.

    Parameters
    ----------
    reading : Reading or None
        How they were read; None if their columns have types.
    units : dict of str to str
        Units of columns of dates and times, by name.
    """
    if "hours" not in units.values():
        return reading
    known = Fitted(None, (), dates=units).forms(units)
    if reading is None:
        return Reading(columns=known)
    times = {name: form for name, form in known.items() if form.kind == "number"}
    return replace(reading, columns=times | reading.columns)


@dataclass(frozen=True, slots=True)
class Fitted:
    """What a model knows of the files of its fit.

    Attributes
    ----------
    reading : Reading or None
        How they were read; None where unknown.
    numbers : tuple of str
        Columns that are numbers in the model.
    texts : tuple of str
        Categorical columns of texts.
    dates : dict
        Units of those numbers that are dates, by name.
    """

    reading: Reading | None
    numbers: tuple[str, ...]
    texts: tuple[str, ...] = ()
    dates: dict[str, DateUnit] = field(default_factory=dict)

    def completed(self, options: "CsvOptions") -> "CsvOptions":
        """Return options, with those that are not set taken from the fit."""
        return options if self.reading is None else self.reading.completed(options)

    def forms(self, names: Collection[str]) -> dict[str, ColumnForm]:
        """Return how columns of numbers are read, by name; only dates and times where unknown."""
        names = set(names)
        if self.reading is None:
            known = {name: unit for name, unit in self.dates.items() if name in names}
            hours = ColumnForm("number", unit=CLOCK_UNITS[1], counts="hours")
            return {
                name: hours if unit == "hours" else ColumnForm("date", counts=unit)
                for name, unit in known.items()
            }
        plain = ColumnForm("number")
        return {
            name: self.reading.columns.get(name, plain) for name in self.numbers if name in names
        }
