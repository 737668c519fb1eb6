"""Numbers in text: exact cuts, and values that stay distinct."""

import math
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import Literal

#: Unit of a column of dates or durations: days since 1970, moments as fractions of days, or hours.
DateUnit = Literal["days", "moments", "hours"]

#: Columns of tables that hold bounds, which separate rows: they are shown in full.
BOUNDS = frozenset({"threshold", "score_from", "score_to"})
#: Those that hold p-values, which are never shown as 0.
P_VALUES = frozenset({"p", "p_value", "p_holm", "p_exact"})

_EPOCH = date(1970, 1, 1)
_FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = range(date.min.toordinal() - _EPOCH.toordinal(), date.max.toordinal() - _EPOCH.toordinal())
#: Seconds of a day, without leap seconds.
SECONDS_A_DAY = 86_400
_MICROSECONDS_A_DAY = SECONDS_A_DAY * 10**6

#: Resolution in microseconds of a column of moments, at worst: half of them in the year 9999.
_MOST_TIED = 64

#: Outside these sizes, a number is written with an exponent.
_LEAST, _MOST = 1e-7, 1e21


def exact(value: float) -> str:
    """Write a number in the fewest digits that read back exactly, usually without an exponent."""
    value = float(value)
    if value.is_integer() and abs(value) < _MOST:
        # A shorter decimal that reads back as a large integer would show another integer.
        return str(int(value))
    text = repr(value)
    if "e" in text and _LEAST <= abs(value) < _MOST:
        text = f"{Decimal(text):f}"
    return text


def p_text(value: float) -> str:
    """Write a p-value to four decimals, or that it is less than 0.001."""
    return "< 0.001" if value < 0.001 else f"{value:.4f}"


def rounded(value: float) -> str:
    """Write a number for display: to six digits, or one decimal where it is large."""
    value = float(value)
    return exact(round(value, 1) if 1e5 <= abs(value) < _MOST else float(f"{value:.6g}"))


def distinct(values: Iterable[float]) -> list[str]:
    """Write numbers for the axis of a plot: to six digits, or in full where these tie two."""
    values = list(values)
    short = [rounded(value) for value in values]
    return short if len(set(short)) == len(values) else [exact(value) for value in values]


def value_text(value: float, counts: DateUnit | None) -> str:
    """Write a value of a column, as a date where the column counts days or moments."""
    if counts in (None, "hours") or math.floor(value) not in _DAYS:
        return exact(value)
    if value == math.floor(value):
        return _date(int(value))
    return _moment(round(Decimal(value) * _MICROSECONDS_A_DAY))


def bound_text(bound: float, counts: DateUnit | None) -> str:
    """Write a lower or upper bound of values, as a date where the column counts days or moments.

    Values that are whole days are below the bound where they are before the date; those that are
    whole microseconds, where they are before the moment.
    """
    if counts in (None, "hours") or not _DAYS.start <= bound < _DAYS.stop - 1:
        return exact(bound)
    if counts == "days":
        return _date(math.ceil(bound))
    # The first microsecond that is not below the bound, both in the resolution of the column.
    moment = math.floor(Decimal(bound) * _MICROSECONDS_A_DAY) - _MOST_TIED
    while moment / 10**6 / SECONDS_A_DAY < bound:
        moment += 1
    return _moment(moment)


def part_text(below: float, bound: float, digits: int = 4) -> str:
    """Write a number that separates two others, in the fewest digits from ``digits`` on.

    Parameters
    ----------
    below, bound : float
        The number is above the first and at most the second.
    digits : int, default=4
        Minimal number of digits, if the second number has as many.
    """
    for precision in range(digits, 18):
        nearest = exact(float(f"{bound:.{precision}g}"))
        with localcontext(prec=precision, rounding=ROUND_FLOOR):
            floor = exact(float(+Decimal(bound)))
        for text in (nearest, floor):
            if below < float(text) <= bound:
                return text
    return exact(bound)


def _date(days: int) -> str:
    return (_EPOCH + timedelta(days)).isoformat()


def _moment(microseconds: int) -> str:
    moment = _FIRST_MOMENT + timedelta(microseconds=microseconds)
    text = moment.replace(tzinfo=None).isoformat(" ")
    if moment.microsecond:
        return text.rstrip("0")
    return text.removesuffix(":00") if moment.hour or moment.minute or moment.second else text[:10]
