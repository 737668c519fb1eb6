"""How the texts of a column are read: as numbers, as dates, or as plain text."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf, isfinite, isinf
from typing import Any, Literal

from aucrank._data.date_text import ORDERS, SHORT_YEARS, days_in
from aucrank._data.duration_text import CLOCK_UNITS, read_quantity
from aucrank._data.text_survey import GAPS, DateCounts, TextSurvey, are_nearly_all, is_blank_mark
from aucrank._data.units import POWERS_OF_TEN, SCALES, factor_of
from aucrank._utils.numbers import DateUnit
from aucrank._utils.plain_text import shown
from aucrank._utils.warn import ReadingNote
from aucrank._utils.words import listed, plural

Kind = Literal["number", "date", "text", "empty"]

_PLURAL = {"number": "numbers", "date": "dates"}

# Number for an infinite one in a column that had none in the fit: beyond all of them, and such that
# its square is a double, also if it was a float32.
_FAR = 1e30

#: Numbers for minus and for plus infinity; None where there is none.
Ends = tuple[float | None, float | None]


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
    scale : str
        What their units are multiples on, one of `SCALES`; "" if they have one unit.
    order : {"dmy", "mdy"} or None
        How the date ``1/2/2026`` is read; None if it is not a date.
    missing : tuple of str
        Texts that count as missing, in addition to those that do in any column.
    has_groups : bool
        Whether the other decimal mark separates thousands.
    has_marks : bool
        Whether some numbers have a minus behind them, or another mark that is not part of them, or
        some dates a year of two digits.
    ends : tuple of float or None
        Numbers for minus and for plus infinity, beyond all others; None for what does not occur.
    n_odd : int
        Rows that count as missing because they hold neither a number, a date nor a known marker.
    is_whole : bool
        Whether all are integers, and none is missing.
    counts : {"days", "moments", "hours"} or None
        What dates and times are converted to; None where that is unknown, or for anything else.
    examples : tuple of str
        A text with each mark that is not part of a number, or with a year of two digits.
    n_infinite : int
        Rows of infinite numbers.
    """

    kind: Kind
    unit: str = field(default="", kw_only=True)
    scale: str = field(default="", kw_only=True)
    order: str | None = field(default=None, kw_only=True)
    missing: tuple[str, ...] = field(default=(), kw_only=True)
    has_groups: bool = field(default=False, kw_only=True)
    has_marks: bool = field(default=False, kw_only=True)
    ends: Ends = field(default=(None, None), kw_only=True)
    n_odd: int = field(default=0, kw_only=True, compare=False)
    is_whole: bool = field(default=False, kw_only=True, compare=False)
    counts: DateUnit | None = field(default=None, kw_only=True, compare=False)
    examples: tuple[str, ...] = field(default=(), kw_only=True, compare=False)
    n_infinite: int = field(default=0, kw_only=True, compare=False)

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
        number = read_quantity(text, decimal)
        if number is None:
            return None
        if isinf(number.value):
            return self.within(number.value)
        factor = factor_of(number.unit, self.unit, self.scale)
        if factor is None:
            return None
        # Exactly, so that 2.3k and 2300 are the same number.
        value = number.value if factor == 1 else float(Fraction(repr(number.value)) * factor)
        return self.within(value)

    def within(self, value: float) -> float:
        """Return a number, or that for infinity if it is as far out."""
        low, high = self.ends
        if low is not None and value < low:
            return low
        return high if high is not None and value > high else value

    @property
    def reads_bare(self) -> bool:
        """Whether a number without a unit is one of the column as it is."""
        return factor_of("", self.unit, self.scale) == 1

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
        numbers = survey.numbers[decimal]
        scale = self.scale
        if self.kind == "number" and not scale and self.unit not in CLOCK_UNITS:
            scale = numbers.unit_and_scale(self.unit)[1]
        if self.kind == "date":
            odd, examples = survey.dates[self.order].odd.copy(), _short(survey.dates[self.order])
        else:
            odd, examples = numbers.odd_besides(self.unit, scale), tuple(numbers.marks.values())
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
        low, high = self.ends
        return replace(
            self,
            scale=scale,
            missing=(*self.missing, *sorted((odd.texts.keys() | blanks) - set(self.missing))),
            n_odd=n_odd,
            has_groups=numbers.n_grouped > 0,
            has_marks=bool(examples),
            ends=(
                -_FAR if low is None and numbers.infinite[-inf] else low,
                _FAR if high is None and numbers.infinite[inf] else high,
            ),
            examples=examples,
            n_infinite=numbers.infinite.total(),
        )

    def notes(
        self, name: str, decimal: str, option: str, fitted: "ColumnForm | None" = None
    ) -> list[ReadingNote]:
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
        column, notes = f"column {shown(name)}", list[ReadingNote]()

        def add(note: str, short: str) -> None:
            notes.append(ReadingNote(f"{column}: {note}", short, [name]))

        known = () if fitted is None else fitted.missing
        new = [text for text in self.missing if text not in known]
        gaps = [text for text in new if is_blank_mark(text) or text.strip().lower() in GAPS]
        if gaps:
            counts = "counts" if len(gaps) == 1 else "count"
            add(f"{_examples(gaps)} {counts} as missing", f"{_examples(gaps)} as missing")
        if odd := [text for text in new if text not in gaps]:
            texts, rows = _examples(odd), plural(self.n_odd, "row")
            is_odd = f"is not a {self.kind} and counts"
            verb = is_odd if len(odd) == 1 else f"are not {_PLURAL[self.kind]} and count"
            add(
                f"{texts} {verb} as missing, in {rows} (see {option})",
                f"{texts} as missing in {rows}",
            )
        if (self.unit or self.scale) if fitted is None else self.scale != fitted.scale:
            add(f"{_in_unit(self.unit, self.scale)} (see {option})", "units")
        if self.examples and (fitted is None or not fitted.has_marks):
            one = len(self.examples) == 1
            as_what = f"is read as a {self.kind}" if one else f"are read as {_PLURAL[self.kind]}"
            years = f" of {SHORT_YEARS}" if self.kind == "date" else ""
            add(
                f"{_examples(self.examples)} {as_what}{years} (see {option})",
                f"texts as {_PLURAL[self.kind]}",
            )
        if self.n_infinite and (fitted is None or fitted.ends != self.ends):
            add(self._of_infinity(name, option), "infinity")
        if self.has_groups and (decimal == "." if fitted is None else not fitted.has_groups):
            marks = "commas" if decimal == "." else "points"
            add(f"{marks} part thousands", f"{marks} in thousands")
        return notes

    def _of_infinity(self, name: str, option: str) -> str:
        known = [k for k, end in enumerate(self.ends) if end is not None]
        texts, ends = ["-inf", "inf"], ["the least", "the greatest"]
        count = "counts" if len(known) == 1 else "count"
        instead = f"missing={{{name!r}: [{texts[known[-1]]!r}]}}"
        if option.startswith("--"):
            instead = f"--missing-in {shown(name)}={texts[known[-1]]}"
        return (
            f"{listed([texts[k] for k in known])} in {plural(self.n_infinite, 'row')} {count} as"
            f" {listed([ends[k] for k in known])} number ({instead} makes it missing)"
        )

    def to_json(self) -> dict[str, Any]:
        """Return the form for a saved model."""
        found: dict[str, Any] = {"kind": self.kind}
        for name in ("unit", "scale", "order", "missing", "has_groups", "has_marks"):
            if value := getattr(self, name):
                found[name] = list(value) if isinstance(value, tuple) else value
        if self.ends != (None, None):
            found["ends"] = list(self.ends)
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
                scale, missing = others.get("scale", ""), others.get("missing", [])
                has_groups, has_marks = (
                    others.get(name, False) for name in ("has_groups", "has_marks")
                )
                ends: Any = others.get("ends", [None, None])
                if (
                    isinstance(unit, str)
                    and scale in SCALES
                    and order in (None, *ORDERS)
                    and isinstance(missing, list)
                    and all(isinstance(text, str) for text in missing)
                    and isinstance(has_groups, bool)
                    and isinstance(has_marks, bool)
                    and _are_ends(ends)
                ):
                    return cls(
                        kind,
                        unit=unit,
                        scale=scale,
                        order=order,
                        missing=tuple(missing),
                        has_groups=has_groups,
                        has_marks=has_marks,
                        ends=(ends[0], ends[1]),
                        counts=_counts_of(unit, scale),
                    )
        raise ValueError("the form of a column has an unknown form")


def _examples(texts: Sequence[str]) -> str:
    """Return the first few texts as a list in words."""
    first = [repr(text) for text in sorted(texts)[:3]]
    return listed([*first, "others"] if len(texts) > 3 else first)


def _counts_of(unit: str, scale: str) -> DateUnit | None:
    """Return what numbers with a unit count, as far as columns of dates and times do."""
    return "hours" if unit in CLOCK_UNITS and not scale else None


def _short(dates: DateCounts) -> tuple[str, ...]:
    return (dates.short,) if dates.short else ()


def _are_ends(found: Any) -> bool:
    """Return whether these are numbers for minus and plus infinity in a saved model."""
    return (
        isinstance(found, list)
        and len(found) == 2
        and all(end is None or (isinstance(end, float | int) and isfinite(end)) for end in found)
    )


def _in_unit(unit: str, scale: str) -> str:
    """Return in words what the numbers of a column are counted in."""
    if unit in CLOCK_UNITS:
        return "times in minutes" if scale and unit == CLOCK_UNITS[0] else "times in hours"
    if scale == POWERS_OF_TEN:
        return f"{f'numbers in {shown(unit)}, ' if unit else ''}k, M and the like are multiplied"
    if scale:
        return f"numbers in {shown(unit or 'bytes')}, other units of {scale} are converted"
    return f"numbers in {shown(unit)}"


def form_of_column(survey: TextSurvey, decimal: str) -> ColumnForm:
    """Return what a column holds according to all its texts, given the decimal mark of numbers."""
    if survey.n_values == 0:
        return ColumnForm("empty", missing=tuple(sorted(survey.gaps)))
    n_gaps = sum(count for text, count in survey.gaps.items() if not is_blank_mark(text))
    n_known = survey.n_values - n_gaps
    gaps = set(survey.gaps)
    numbers = survey.numbers[decimal]
    unit, scale = numbers.unit_and_scale()
    odd = numbers.odd_besides(unit, scale)
    are_numbers = are_nearly_all(n_known, odd.n_rows) and numbers.outnumber(odd)
    if are_numbers and not numbers.have_grades:
        is_whole = numbers.are_whole and not (unit or scale or n_gaps or odd.n_rows)
        return ColumnForm(
            "number",
            unit=unit,
            scale=scale,
            missing=tuple(sorted(gaps | odd.texts.keys())),
            has_groups=numbers.n_grouped > 0,
            has_marks=bool(numbers.marks),
            ends=numbers.ends_in(unit, scale),
            examples=tuple(numbers.marks.values()),
            n_infinite=numbers.infinite.total(),
            n_odd=odd.n_rows,
            is_whole=is_whole and survey.n_missing == 0,
            counts=_counts_of(unit, scale),
        )
    order = survey.order
    odd = survey.dates[order].odd
    if are_nearly_all(n_known, odd.n_rows):
        missing = tuple(sorted(gaps | odd.texts.keys()))
        counts: DateUnit = "days" if survey.dates[order].are_days else "moments"
        examples = _short(survey.dates[order])
        return ColumnForm(
            "date",
            order=order,
            missing=missing,
            has_marks=bool(examples),
            n_odd=odd.n_rows,
            counts=counts,
            examples=examples,
        )
    return ColumnForm("text")
