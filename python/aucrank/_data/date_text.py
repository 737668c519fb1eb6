"""Dates and times in texts, in unambiguous formats or those resolved by the whole column."""

import re
from datetime import MAXYEAR, UTC, datetime, timedelta, timezone
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
# The year first; the day first with points or a named month; the month first with a name.
_FORMS = [
    re.compile(rf"(?P<year>\d{{4}})(?P<mark>[-/.])(?P<month>\d{{1,2}})(?P=mark)(?P<day>\d{{1,2}}){_TIME}"),
    re.compile(rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}}){_TIME}"),
    re.compile(
        rf"(?P<day>\d{{1,2}})(?P<mark>[- /])(?P<name>[A-Za-z]{{3,9}})\.?(?P=mark)"
        rf"(?P<year>\d{{4}}){_TIME}"
    ),
    re.compile(rf"(?P<name>[A-Za-z]{{3,9}})\.? (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}){_TIME}"),
]  # fmt: skip
# Ambiguous formats.
_EITHER = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[/-])(?P<then>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}){_TIME}"
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)


def days_in(text: str, order: str | None = None) -> float | None:
    """Return the days from 1970 to a date, with a fraction for the time of day, or None.

    Parameters
    ----------
    text : str
        Such as ``2026-01-31``, ``2026/01/31 12:30``, ``31.1.2026``, ``31-Jan-2026``, with or
        without a time. A time without a zone is in UTC.
    order : {"dmy", "mdy"}, default=None
        How ``1/2/2026`` is read; None if it is not a date.
    """
    text = text.strip()
    for form in _FORMS:
        if found := form.fullmatch(text):
            name = found.groupdict().get("name")
            month = int(found["month"]) if name is None else _month(name)
            return _days(int(found["year"]), month, int(found["day"]), found)
    if order is not None and (found := _EITHER.fullmatch(text)):
        first, then = int(found["first"]), int(found["then"])
        day, month = (first, then) if order == "dmy" else (then, first)
        return _days(int(found["year"]), month, day, found)
    return None


def _month(name: str) -> int:
    """Return the number of a month from its name or abbreviation, 0 for no month."""
    name = name.lower()
    known = (number for number, month in enumerate(_MONTHS, 1) if month.startswith(name))
    return 9 if name == "sept" else next(known, 0)


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
