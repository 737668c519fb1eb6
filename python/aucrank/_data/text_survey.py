"""Counts of how the texts of a column can be read; the counts of parts of the data add up."""

from collections import Counter
from collections.abc import Collection, Iterable
from math import inf, isfinite, isinf

from aucrank._data.date_text import ORDERS, days_by_order, has_digit, has_short_year
from aucrank._data.duration_text import read_quantity
from aucrank._data.number_text import DECIMAL_MARKS, WrittenNumber
from aucrank._data.units import factor_of, is_same_unit, scale_of

#: Markers of a missing value in any column, in addition to those of readers.
UNKNOWN = "?"

#: Markers of a missing value for readers: pandas' own list, and that of MySQL, Hive and Spark.
MISSING = [
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", UNKNOWN),
    r"\N",
]
_MISSING = frozenset(MISSING)

#: Markers of a missing value where everything else in a column is a number or a date; in lower
#: case.
GAPS = frozenset(
    [
        *(
            "-",
            "--",
            "---",
            "\u2013",
            "\u2014",
            ".",
            "..",
            "...",
            "*",
            "missing",
            "unknown",
            "none",
        ),
        *("nil", "na", "n.a.", "n.a", "nd", "n.d.", "n/d", "k.a.", "k. a.", "not available"),
        *("not applicable", "unbekannt", "nat"),
        *("#div/0!", "#value!", "#ref!", "#name?", "#num!", "#null!", "#error!", "#calc!"),
        *("0000-00-00", "0000-00-00 00:00:00", "00.00.0000", "00/00/0000"),
    ]
)

# Maximal share of other texts in a column of numbers or dates.
_ODD_SHARE = 0.05

# Number of other texts kept as examples, and of numbers per other text that make a numeric column.
_KEPT = 100
_NUMBERS_TO_ONE = 10


def is_blank_mark(text: str) -> bool:
    """Return whether a text is a usual marker of a missing value, ignoring surrounding blanks."""
    return text.strip() in _MISSING


def numbers_among(marks: Iterable[str]) -> list[float]:
    """Return those of the marks of missing values that are numbers, infinite ones included."""
    numbers = []
    for mark in marks:
        try:
            numbers.append(float(mark))
        except ValueError:
            continue
    return numbers


def are_nearly_all(n_values: int, n_odd: int) -> bool:
    """Return whether so few values are odd that the others determine what a column holds."""
    return n_values > n_odd and n_odd <= _ODD_SHARE * n_values


class Odd:
    """Texts that do not fit the type of the others.

    Attributes
    ----------
    n_rows : int
        Number of rows with such a text.
    texts : dict of str to int
        Number of rows of each of the first texts in alphabetical order.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self.texts: dict[str, int] = {}

    def note(self, text: str, count: int) -> None:
        """Count a text."""
        self.n_rows += count
        self.texts[text] = self.texts.get(text, 0) + count
        if len(self.texts) > 2 * _KEPT:
            self._prune()

    def add(self, other: "Odd") -> None:
        """Add the texts of another part of the data."""
        self.n_rows += other.n_rows
        for text, count in other.texts.items():
            self.texts[text] = self.texts.get(text, 0) + count
        self._prune()

    def copy(self) -> "Odd":
        """Return a copy with the same counts."""
        found = Odd()
        found.add(self)
        return found

    def _prune(self) -> None:
        if len(self.texts) > _KEPT:
            # Alphabetically, so that the order of the rows does not matter.
            self.texts = {text: self.texts[text] for text in sorted(self.texts)[:_KEPT]}


class NumberCounts:
    """Texts that are numbers with a given decimal mark.

    Attributes
    ----------
    units : Counter of str
        Rows by prefix or suffix of the number.
    n_grouped : int
        Rows with the other decimal mark between thousands.
    n_shown : int
        Rows that are numbers with this mark alone.
    are_whole : bool
        Whether all are integers.
    odd : Odd
        Texts that are not numbers.
    infinite : Counter of float
        Rows of plus and minus infinity, which have no unit.
    marks : dict of str to str
        The alphabetically first text with each mark that is not part of a number.
    """

    def __init__(self) -> None:
        self.units: Counter[str] = Counter()
        self.n_grouped = 0
        self.n_shown = 0
        self.are_whole = True
        self.odd = Odd()
        self.infinite: Counter[float] = Counter()
        self.marks: dict[str, str] = {}
        self._examples: dict[str, str] = {}
        self._distinct: set[float] = set()
        self._ranges: dict[str, tuple[float, float]] = {}
        self._fractions: set[str] = set()

    def note(self, text: str, number: WrittenNumber, count: int, *, is_shown: bool) -> None:
        """Count a text that is a number."""
        self.are_whole &= number.is_whole
        if isinf(number.value):
            self.infinite[number.value] += count
            return
        self.units[number.unit] += count
        self.note_example(number.unit, text)
        self.n_grouped += count * number.has_groups
        self.n_shown += count * is_shown
        self.note_values([number.value])
        self.note_range(number.unit, number.value, number.value)
        if not number.is_whole:
            self._fractions.add(number.unit)
        if number.mark:
            self.marks[number.mark] = min(text, self.marks.get(number.mark, text))

    def note_fractions(self) -> None:
        """Note that numbers without a unit are not whole."""
        self._fractions.add("")

    def note_range(self, unit: str, least: float, greatest: float) -> None:
        """Extend the range of the finite numbers with a unit."""
        known = self._ranges.get(unit, (least, greatest))
        self._ranges[unit] = min(least, known[0]), max(greatest, known[1])

    def note_example(self, unit: str, text: str) -> None:
        """Keep the alphabetically first text with a unit."""
        self._examples[unit] = min(text, self._examples.get(unit, text))

    def note_values(self, values: Iterable[float]) -> None:
        """Keep the first distinct numbers."""
        if self.needs_values:
            self._distinct.update(values)

    @property
    def needs_values(self) -> bool:
        """Whether it is not yet known that there are many distinct numbers."""
        return len(self._distinct) < _NUMBERS_TO_ONE * _KEPT

    def outnumber(self, odd: Odd) -> bool:
        """Return whether numbers with a few other texts are better read as numbers."""
        return len(self._distinct) >= _NUMBERS_TO_ONE * len(odd.texts)

    def unit_and_scale(self, of_fit: str | None = None) -> tuple[str, str]:
        """Return the unit that the column is counted in, and the scale of all units, if any.

        Parameters
        ----------
        of_fit : str or None, default=None
            The unit in the fit, to look for its multiples; None for the commonest.
        """
        if of_fit is not None:
            return of_fit, scale_of(self.units + Counter([of_fit]), self._fractions, of_fit)[1]
        commonest = max(self.units, key=lambda unit: (self.units[unit], unit), default="")
        return scale_of(self.units, self._fractions, commonest)

    def odd_besides(self, unit: str, scale: str) -> Odd:
        """Return the texts that are not numbers in a column with this unit and scale."""
        odd = self.odd.copy()
        for other, count in self.units.items():
            if factor_of(other, unit, scale) is None:
                odd.note(self._examples.get(other, other), count)
        return odd

    def mixed_units(self, least: int) -> list[str]:
        """Return the units of at least so many rows, if they are not letters behind numbers.

        ``12a`` and ``12b`` are houses, not amounts.
        """
        units = sorted(unit for unit, count in self.units.items() if count >= least)
        are_amounts = any(len(unit) > 1 for unit in units) or all(
            unit == "" or not is_same_unit("", unit) for unit in units
        )
        return units if are_amounts else []

    def ends_in(self, unit: str, scale: str) -> tuple[float | None, float | None]:
        """Return numbers for minus and plus infinity in a unit, None for what does not occur.

        They are as far beyond all others as these are apart: greater than all, and not so great
        that the others are alike to a learner that weighs numbers.
        """
        known = [
            end * float(factor)
            for other, ends in self._ranges.items()
            if (factor := factor_of(other, unit, scale)) is not None
            for end in ends
        ]
        least, greatest = min(known, default=0.0), max(known, default=0.0)
        step = greatest - least or abs(greatest) or 1.0
        if not isfinite(greatest + step) or not isfinite(least - step):
            step = 0.0
        low, high = (self.infinite[value] > 0 for value in (-inf, inf))
        return least - step if low else None, greatest + step if high else None

    @property
    def have_grades(self) -> bool:
        """Whether a sign behind a number is that of a grade, or of few levels: 2+, 2, 2-; 4+."""
        if "-" not in self.marks:
            return "+" in self.marks and len(self._distinct) < _NUMBERS_TO_ONE
        greatest = max(max(-low, high) for low, high in self._ranges.values())
        return "+" in self.marks or (greatest < 10 and not self._fractions)

    def add(self, other: "NumberCounts") -> None:
        """Add the texts of another part of the data."""
        self.units.update(other.units)
        for unit, text in other._examples.items():
            self.note_example(unit, text)
        self.n_grouped += other.n_grouped
        self.n_shown += other.n_shown
        self.are_whole &= other.are_whole
        self.odd.add(other.odd)
        self.note_values(other._distinct)
        self.infinite.update(other.infinite)
        self._fractions |= other._fractions
        for unit, ends in other._ranges.items():
            self.note_range(unit, *ends)
        for mark, text in other.marks.items():
            self.marks[mark] = min(text, self.marks.get(mark, text))


class DateCounts:
    """Texts that are dates, given the order of numbers between slashes.

    Attributes
    ----------
    n_rows : int
        Rows with a date.
    are_days : bool
        Whether none has a time of day.
    short : str
        The alphabetically first text whose year has two digits; "" if none.
    odd : Odd
        Texts that are not dates.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self.are_days = True
        self.short = ""
        self.odd = Odd()

    def note(self, text: str, days: float, count: int) -> None:
        """Count a text that is a date."""
        self.n_rows += count
        self.are_days &= days.is_integer()
        if has_short_year(text):
            self.short = min(text, self.short or text)

    def add(self, other: "DateCounts") -> None:
        """Add the texts of another part of the data."""
        self.short = min(filter(None, (self.short, other.short)), default="")
        self.n_rows += other.n_rows
        self.are_days &= other.are_days
        self.odd.add(other.odd)


class TextSurvey:
    """Counts of how the texts of a column can be read.

    Parameters
    ----------
    missing : collection of str
        Texts that stand for missing values, in addition to the usual ones.

    Attributes
    ----------
    n_values : int
        Rows with a value.
    n_missing : int
        Rows without a value.
    gaps : Counter of str
        Rows with a text that stands for a missing value among numbers and dates.
    numbers : dict
        Counts of numbers, by decimal mark.
    dates : dict
        Counts of dates, by the order of numbers between slashes; None for unambiguous dates only.
    """

    def __init__(self, missing: Collection[str] = ()) -> None:
        self._missing = _MISSING | set(missing)
        self._missing_numbers = frozenset(numbers_among(missing))
        self.n_values = 0
        self.n_missing = 0
        self.gaps: Counter[str] = Counter()
        self.numbers = {mark: NumberCounts() for mark in DECIMAL_MARKS}
        self.dates = {order: DateCounts() for order in (None, *ORDERS)}

    def look_at(self, counts: Iterable[tuple[str, int]]) -> None:
        """Count distinct texts, each with its number of rows."""
        for text, count in counts:
            if text in self._missing:
                self.n_missing += count
            elif (plain := text.strip()) in self._missing:
                # A text of its own in a text column.
                self.n_missing += count
                self.gaps[text] += count
            elif plain.lower() in GAPS:
                self.n_values += count
                self.gaps[text] += count
            else:
                self.n_values += count
                self._look_at_value(text, count)

    def _look_at_value(self, text: str, count: int) -> None:
        # Without a mark, a text is read once for both.
        marks = DECIMAL_MARKS if "." in text or "," in text else DECIMAL_MARKS[:1]
        found = {mark: read_quantity(text, mark) for mark in marks}
        found = {mark: found.get(mark, found["."]) for mark in DECIMAL_MARKS}
        if any(number and number.value in self._missing_numbers for number in found.values()):
            # Another text of such a number, such as Infinity.
            self.n_values -= count
            self.n_missing += count
            return
        n_marks = sum(number is not None for number in found.values())
        for mark, number in found.items():
            if number is None:
                self.numbers[mark].odd.note(text, count)
            else:
                self.numbers[mark].note(text, number, count, is_shown=n_marks == 1)
        by_order = {} if n_marks or not has_digit(text) else days_by_order(text)
        for order, dates in self.dates.items():
            days = by_order.get(order)
            if days is None:
                dates.odd.note(text, count)
            else:
                dates.note(text, days, count)

    def look_at_numbers(
        self,
        count: int,
        values: Collection[float],
        ends: tuple[float, float],
        example: str,
        mark: str,
        *,
        are_whole: bool,
    ) -> None:
        """Count texts that every reader takes for finite numbers.

        Parameters
        ----------
        count : int
            Rows.
        values : collection of float
            Distinct numbers, as far as needed.
        ends : tuple of float
            The least and the greatest number.
        example : str
            One of the texts.
        mark : str
            Their decimal mark.
        are_whole : bool
            Whether all are integers; otherwise at least one has a decimal mark that cannot be a
            thousands separator, and with the other mark all count as odd.
        """
        self.n_values += count
        for other, numbers in self.numbers.items():
            if other != mark and not are_whole:
                numbers.odd.note(example, count)
                continue
            numbers.units[""] += count
            numbers.are_whole &= are_whole
            numbers.note_values(values)
            numbers.note_range("", *ends)
            numbers.note_example("", example)
            if not are_whole:
                numbers.note_fractions()
        if not are_whole:
            self.numbers[mark].n_shown += count
        for dates in self.dates.values():
            dates.odd.note(example, count)

    def look_at_infinite(self, value: float, count: int) -> None:
        """Count numbers that are infinite."""
        if value in self._missing_numbers:
            self.n_missing += count
            return
        self.n_values += count
        for numbers in self.numbers.values():
            numbers.infinite[value] += count
            numbers.are_whole = False

    def look_at_missing(self, count: int) -> None:
        """Count missing values."""
        self.n_missing += count

    def add(self, other: "TextSurvey") -> None:
        """Add the texts of another part of the data."""
        self.n_values += other.n_values
        self.n_missing += other.n_missing
        self.gaps.update(other.gaps)
        for mark, numbers in self.numbers.items():
            numbers.add(other.numbers[mark])
        for order, dates in self.dates.items():
            dates.add(other.dates[order])

    def read_with(self, decimal: str) -> "TextSurvey":
        """Return the counts for any decimal mark, where it is known to be this one."""
        found = TextSurvey()
        found.add(self)
        found.numbers = dict.fromkeys(DECIMAL_MARKS, self.numbers[decimal])
        return found

    @property
    def order(self) -> str | None:
        """The order of numbers between slashes in which more texts are dates, None for a tie."""
        n_dmy, n_mdy = (self.dates[order].n_rows for order in ORDERS)
        return None if n_dmy == n_mdy else ORDERS[n_dmy < n_mdy]

    @property
    def shown_mark(self) -> str:
        """The decimal mark that numbers of the column show; "" if none, both, or few do."""
        marks = [mark for mark in DECIMAL_MARKS if self.numbers[mark].n_shown]
        if len(marks) != 1:
            return ""
        n_gaps = sum(count for text, count in self.gaps.items() if not is_blank_mark(text))
        n_odd = self.numbers[marks[0]].odd.n_rows
        return marks[0] if are_nearly_all(self.n_values - n_gaps, n_odd) else ""


def decimal_of(surveys: Iterable[TextSurvey]) -> str:
    """Return the decimal mark that most columns of numbers show, "" if undetermined."""
    marks = Counter(survey.shown_mark for survey in surveys)
    if marks[","] > marks["."]:
        return ","
    return "." if marks["."] else ""
