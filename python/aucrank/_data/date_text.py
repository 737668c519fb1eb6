"""Dates and times in texts, in unambiguous formats or those resolved by the whole column."""

import re
from datetime import MAXYEAR, UTC, date, datetime, timedelta, timezone
from typing import Any

from aucrank._data.schema import is_missing
from aucrank._utils.numbers import SECONDS_A_DAY

#: Possible orders of numbers between slashes.
ORDERS = ("dmy", "mdy")

_TIME = (
    r"(?:(?:[ T]\s*|,\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})"
    r"(?:[.,](?P<fraction>\d{1,9}))?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*"
    r"(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
_NAME = r"(?P<name>[^\W\d_]{3,10})\.?"
_YEAR, _SHORT = r"(?P<year>\d{4})", r"(?P<year>\d{4}|\d{2})"
# The year first; the day first with points or a named month; the month first with a name.
_FORMS = [
    re.compile(rf"{_YEAR}(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_TIME}"),
    re.compile(rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_SHORT}{_TIME}"),
    re.compile(rf"(?P<day>\d{{1,2}})(?P<mark>[- /]){_NAME}(?P=mark){_SHORT}{_TIME}"),
    re.compile(rf"(?P<day>\d{{1,2}})\. {_NAME} {_YEAR}{_TIME}"),
    re.compile(rf"{_NAME} (?P<day>\d{{1,2}}),? {_YEAR}{_TIME}"),
]
# Periods, which are dated by their first day: months, quarters and weeks.
_PERIODS = [
    re.compile(rf"{_YEAR}(?:[-/]|-?M)(?P<month>\d{{1,2}})"),
    re.compile(rf"(?P<month>\d{{1,2}})[-/]{_YEAR}"),
    re.compile(rf"{_NAME}(?:[-/ ]|, )?{_YEAR}"),
    re.compile(rf"{_NAME}(?:[-/]| ?['\u2019]){_SHORT}"),
    re.compile(rf"{_YEAR}[-/ ]?{_NAME}"),
    re.compile(rf"{_YEAR}[-/ ]?[QT](?P<quarter>[1-4])"),
    re.compile(rf"[QT](?P<quarter>[1-4])[-/ ]?{_YEAR}"),
    re.compile(rf"(?P<quarter>[1-4])Q[-/ ]?{_YEAR}"),
    re.compile(rf"{_YEAR}-?W(?P<week>\d{{2}})"),
]
# Ambiguous formats.
_EITHER = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[/-])(?P<then>\d{{1,2}})(?P=mark){_SHORT}{_TIME}"
)
# A year of two digits is between this one and 99 years later.
_FIRST_SHORT = 1950

#: The years that two digits stand for, for a note.
SHORT_YEARS = f"{_FIRST_SHORT} to {_FIRST_SHORT + 99}"

# Names of the months in English, German, French, Spanish, Italian and Portuguese, by which their
# abbreviations are recognised.
_MONTHS = [
    "january januar janvier enero gennaio janeiro",  # codespell:ignore januar
    "february februar f\u00e9vrier fevrier febrero febbraio fevereiro",  # codespell:ignore februar
    "march m\u00e4rz maerz mrz mars marzo mar\u00e7o",
    "april avril abril aprile",
    "may mai mayo maggio maio",
    "june juni juin junio giugno junho",  # codespell:ignore juni
    "july juli juillet julio luglio julho",  # codespell:ignore juli
    "august ao\u00fbt aout agosto",
    "september sept septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",  # codespell:ignore oktober
    "november novembre noviembre novembro",
    "december decembre d\u00e9cembre dezembro diciembre dicembre dezember",  # codespell:ignore
]
_DIGIT = re.compile(r"\d")


def has_digit(text: str) -> bool:
    """Return whether a text has a digit, without which it is not a date."""
    return _DIGIT.search(text) is not None


def has_short_year(text: str) -> bool:
    """Return whether the year of a date has two digits."""
    # A time may have four digits in a row, behind its first colon.
    return re.search(r"\d{4}", text.partition(":")[0]) is None


def days_in(text: str, order: str | None = None) -> float | None:
    """Return the days from 1970 to a date, with a fraction for the time of day, or None.

    Parameters
    ----------
    text : str
        Such as ``2026-01-31``, ``2026/01/31 12:30``, ``31.1.2026``, ``31-Jan-2026``, with or
        without a time. A time without a zone is in UTC. ``Jan-2026``, ``2026-01``, ``01/2026``,
        ``2026Q1`` and ``2026-W05`` are the first day of the month, the quarter or the week. A year
        of two digits is from 1950 to 2049.
    order : {"dmy", "mdy"}, default=None
        How ``1/2/2026`` is read; None if it is not a date.
    """
    return days_by_order(text)[order]


def days_by_order(text: str) -> dict[str | None, float | None]:
    """Return the days from 1970 to a date, as `days_in` does, for each order."""
    text = text.strip()
    for form in _FORMS:
        if found := form.fullmatch(text):
            days = _days(_year(found), _month(found), int(found["day"]), found)
            return dict.fromkeys((None, *ORDERS), days)
    for period in _PERIODS:
        if found := period.fullmatch(text):
            return dict.fromkeys((None, *ORDERS), _first_day(found))
    if found := _EITHER.fullmatch(text):
        year, first, then = _year(found), int(found["first"]), int(found["then"])
        return {
            None: None,
            "dmy": _days(year, then, first, found),
            "mdy": _days(year, first, then, found),
        }
    return dict.fromkeys((None, *ORDERS))


def _year(found: re.Match[str]) -> int:
    year = int(found["year"])
    return year if len(found["year"]) > 2 else _FIRST_SHORT + (year - _FIRST_SHORT) % 100


def _month(found: re.Match[str]) -> int:
    """Return the number of a month by its number, name or abbreviation, 0 for no month."""
    parts = found.groupdict()
    if name := parts.get("name"):
        return _number_of_month(name)
    return int(parts["month"])


def _number_of_month(name: str) -> int:
    name = name.lower()
    known = (
        number
        for number, months in enumerate(_MONTHS, 1)
        if any(month.startswith(name) for month in months.split())
    )
    return next(known, 0)


def is_month(word: str) -> bool:
    """Return whether a word is the name of a month, or an abbreviation of it."""
    return len(word) > 2 and _number_of_month(word) > 0


def _first_day(found: re.Match[str]) -> float | None:
    """Return the days from 1970 to the first day of a month, a quarter or a week."""
    parts = found.groupdict()
    try:
        if week := parts.get("week"):
            return days_of(date.fromisocalendar(_year(found), int(week), 1))
        month = 3 * int(parts["quarter"]) - 2 if "quarter" in parts else _month(found)
        return days_of(date(_year(found), month, 1))
    except ValueError:
        return None


def _days(year: int, month: int, day: int, found: re.Match[str]) -> float | None:
    try:
        moment = datetime(year, month, day, tzinfo=_zone(found["zone"]))
    except ValueError:
        return None
    if found["hour"] is None:
        return days_of(moment)
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    half = (found["half"] or "").lower()[:1]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and minute + second > 0):
        return None
    # Python dates have microseconds; a day as a double has no more digits, either.
    micros = int((found["fraction"] or "0")[:6].ljust(6, "0"))
    try:
        moment += timedelta(hours=hour, minutes=minute, seconds=second, microseconds=micros)
    except OverflowError:
        return None
    return days_of(moment)


def _zone(text: str | None) -> timezone:
    if text is None or text in ("Z", "UTC", "GMT"):
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))


def days_of(moment: Any) -> float | None:
    """Return the days from 1970 to a date or a time; one without a zone is in UTC."""
    if is_missing(moment):
        return None
    if hasattr(moment, "to_pydatetime") and moment.year <= MAXYEAR:
        # Without the nanoseconds of pandas, as a text is read.
        moment = moment.to_pydatetime(warn=False)
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    days: float = moment.timestamp() / SECONDS_A_DAY
    return days
