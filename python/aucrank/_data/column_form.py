"""How the texts of a column are read: as numbers, as dates, or as plain text."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from aucrank._data.date_text import ORDERS, days_in
from aucrank._data.number_text import read_number
from aucrank._data.text_survey import (
    GAPS,
    Odd,
    TextSurvey,
    are_nearly_all,
    is_blank_mark,
    is_same_unit,
)
from aucrank._utils.numbers import DateUnit
from aucrank._utils.plain_text import shown
from aucrank._utils.words import listed, plural

Kind = Literal["number", "date", "text", "empty"]

_PLURAL = {"number": "numbers", "date": "dates"}


class ColumnFormError(ValueError):
    """A column does not match its form in the fit of the model."""


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """How the texts of a column are read.

    Attributes
    ----------
    kind : {"number", "date", "text", "empty"}
        What they hold.
    unit : str
        Prefix or suffix of numbers, such as ``%`` or ``EUR``.
    order : {"dmy", "mdy"} or None
        How the date ``1/2/2026`` is read; None if it is not a date.
    missing : tuple of str
        Texts that count as missing, in addition to those that do in any column.
    has_groups : bool
        Whether the other decimal mark separates thousands.
    n_odd : int
        Rows that count as missing because they hold neither a number, a date nor a known marker.
    is_whole : bool
        Whether all are integers, and none is missing.
    counts : {"days", "moments"} or None
        What dates are converted to; None where that is unknown, or for anything else.
    """

    kind: Kind
    unit: str = field(default="", kw_only=True)
    order: str | None = field(default=None, kw_only=True)
    missing: tuple[str, ...] = field(default=(), kw_only=True)
    has_groups: bool = field(default=False, kw_only=True)
    n_odd: int = field(default=0, kw_only=True, compare=False)
    is_whole: bool = field(default=False, kw_only=True, compare=False)
    counts: DateUnit | None = field(default=None, kw_only=True, compare=False)

    @property
    def is_numeric(self) -> bool:
        """Whether the texts become numbers."""
        return self.kind in ("number", "date")

    def value_of(self, text: str, decimal: str) -> float | None:
        """Return the number or the days that a text stands for; None if it is neither."""
        if text in self.missing:
            return None
        if self.kind == "date":
            return days_in(text, self.order)
        number = read_number(text, decimal)
        return number.value if number and is_same_unit(number.unit, self.unit) else None

    def fitted_to(self, survey: TextSurvey, decimal: str, column: str, hint: str) -> "ColumnForm":
        """Return the form, extended by missing values in rows that were not part of the fit.

        Parameters
        ----------
        survey : TextSurvey
            Survey of these rows.
        decimal : str
            Their decimal mark.
        column : str
            What to call the column in a message.
        hint : str
            Hint at the end of the message.

        Raises
        ------
        ColumnFormError
            If more than a few rows hold something else; the message shows one.
        """
        odd = self._odd(survey, decimal)
        for text, count in survey.gaps.items():
            if not is_blank_mark(text):
                odd.note(text, count)
        n_odd = odd.n_rows - sum(odd.texts.pop(text, 0) for text in self.missing)
        if n_odd and not are_nearly_all(survey.n_values, n_odd):
            example = f" (such as {next(iter(odd.texts))!r})" if odd.texts else ""
            raise ColumnFormError(
                f"column {column} holds text{example}; the model learned it as"
                f" {_PLURAL[self.kind]}{hint}"
            )
        blanks = {text for text in survey.gaps if is_blank_mark(text)}
        return replace(
            self,
            missing=(*self.missing, *sorted((odd.texts.keys() | blanks) - set(self.missing))),
            n_odd=n_odd,
            has_groups=survey.numbers[decimal].n_grouped > 0,
        )

    def _odd(self, survey: TextSurvey, decimal: str) -> Odd:
        if self.kind == "date":
            return survey.dates[self.order].odd.copy()
        return survey.numbers[decimal].odd_besides(self.unit)

    def notes(
        self, name: str, decimal: str, option: str, fitted: "ColumnForm | None" = None
    ) -> list[str]:
        """Return notes on unusual features of a column, one sentence each.

        Parameters
        ----------
        name : str
            Name of the column.
        decimal : str
            The decimal mark.
        option : str
            Option that keeps a column as text.
        fitted : ColumnForm or None, default=None
            The form in the fit, if known.
        """
        if not self.is_numeric:
            return []
        column, notes = f"column {shown(name)}", []
        known = () if fitted is None else fitted.missing
        new = [text for text in self.missing if text not in known]
        gaps = [text for text in new if is_blank_mark(text) or text.strip().lower() in GAPS]
        if gaps:
            counts = "counts" if len(gaps) == 1 else "count"
            notes.append(f"{column}: {_examples(gaps)} {counts} as missing")
        odd = [text for text in new if text not in gaps]
        if odd:
            what = f"no {self.kind}"
            verb = f"is {what} and counts" if len(odd) == 1 else f"are {what} and count"
            rows = plural(self.n_odd, "row")
            notes.append(f"{column}: {_examples(odd)} {verb} as missing, in {rows} (see {option})")
        if fitted is None and self.unit:
            notes.append(f"{column}: numbers in {shown(self.unit)} (see {option})")
        if self.has_groups and (decimal == "." if fitted is None else not fitted.has_groups):
            marks = "commas" if decimal == "." else "points"
            notes.append(f"{column}: {marks} part thousands")
        return notes

    def to_json(self) -> dict[str, Any]:
        """Return the form for a saved model."""
        found: dict[str, Any] = {"kind": self.kind}
        for name in ("unit", "order", "missing", "has_groups"):
            if value := getattr(self, name):
                found[name] = list(value) if isinstance(value, tuple) else value
        return found

    @classmethod
    def from_json(cls, found: Any) -> "ColumnForm":
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            If its form differs.
        """
        match found:
            case {"kind": "number" | "date" | "text" | "empty" as kind, **others}:
                unit, order = others.get("unit", ""), others.get("order")
                missing, has_groups = others.get("missing", []), others.get("has_groups", False)
                if (
                    isinstance(unit, str)
                    and order in (None, *ORDERS)
                    and isinstance(missing, list)
                    and all(isinstance(text, str) for text in missing)
                    and isinstance(has_groups, bool)
                ):
                    return cls(
                        kind,
                        unit=unit,
                        order=order,
                        missing=tuple(missing),
                        has_groups=has_groups,
                    )
        raise ValueError("the form of a column has an unknown form")


def _examples(texts: Sequence[str]) -> str:
    """Return the first few texts as a list in words."""
    first = [repr(text) for text in sorted(texts)[:3]]
    return listed([*first, "others"] if len(texts) > 3 else first)


def form_of_column(survey: TextSurvey, decimal: str) -> ColumnForm:
    """Return what a column holds according to all its texts, given the decimal mark of numbers."""
    if survey.n_values == 0:
        return ColumnForm("empty", missing=tuple(sorted(survey.gaps)))
    n_gaps = sum(count for text, count in survey.gaps.items() if not is_blank_mark(text))
    n_known = survey.n_values - n_gaps
    gaps = set(survey.gaps)
    numbers = survey.numbers[decimal]
    unit = numbers.commonest_unit
    odd = numbers.odd_besides(unit)
    if are_nearly_all(n_known, odd.n_rows) and numbers.outnumber(odd):
        is_whole = numbers.are_whole and not unit and not n_gaps and not odd.n_rows
        return ColumnForm(
            "number",
            unit=unit,
            missing=tuple(sorted(gaps | odd.texts.keys())),
            has_groups=numbers.n_grouped > 0,
            n_odd=odd.n_rows,
            is_whole=is_whole and survey.n_missing == 0,
        )
    order = survey.order
    odd = survey.dates[order].odd
    if are_nearly_all(n_known, odd.n_rows):
        missing = tuple(sorted(gaps | odd.texts.keys()))
        counts: DateUnit = "days" if survey.dates[order].are_days else "moments"
        return ColumnForm("date", order=order, missing=missing, n_odd=odd.n_rows, counts=counts)
    return ColumnForm("text")
