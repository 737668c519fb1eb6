"""Durations, and other quantities that are written in several units, as numbers."""

import re
from fractions import Fraction

from aucrank._data.number_text import WrittenNumber, read_number
from aucrank._data.units import sum_in_first

#: Units of hours that are written with colons: without seconds, and with them.
CLOCK_UNITS = ("h:mm", "h:mm:ss")

_CLOCK = re.compile(
    r"(?P<sign>-)?(?:(?P<day>\d+) days?,? \+?)?(?P<hour>\d+):(?P<minute>[0-5]\d)"
    r"(?::(?P<second>[0-5]\d(?:[.,]\d{1,9})?))?(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_IN_HOURS = {"hour": Fraction(1), "minute": Fraction(1, 60), "second": Fraction(1, 3600)}
_AMOUNT = r"\d+(?:[.,]\d{1,9})?"
_ISO = re.compile(
    rf"P(?=.)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    rf"(?:T(?=.)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>{_AMOUNT})S)?)?"
)
_PART = rf"({_AMOUNT})\s*([^\W\d_]+)\.?"
_PARTS = re.compile(_PART)
_COMPOSITE = re.compile(rf"{_PART}(?:,?\s*(?:(?:and|und|et|y|e|&)\s+)?{_PART}){{1,5}}")


def read_quantity(text: str, decimal: str) -> WrittenNumber | None:
    """Return the number or the duration that a text stands for, None if it is neither.

    Parameters
    ----------
    text : str
        As for `read_number`; or ``26:30``, ``1 days 02:00:00``, ``P1Y2M``, ``3 yrs 2 mon``, ``5 ft
        11 in``, whose unit is that of the first number, or one of `CLOCK_UNITS`.
    decimal : str
        The decimal mark.
    """
    found = read_number(text, decimal)
    # Nearly all texts of a column of names hold no digit.
    return _read_duration(text.strip()) if found is None and text[-1:].strip() else found


def _read_duration(text: str) -> WrittenNumber | None:
    if clock := _CLOCK.fullmatch(text):
        hours = sum(
            (_amount(clock[name] or "0") * part for name, part in _IN_HOURS.items()), Fraction(0)
        )
        days = 24 * int(clock["day"] or 0)
        if clock["half"]:
            # From 12 to 1 is the first hour of a half of the day.
            hours = hours % 12 + 12 * (clock["half"] in "Pp")
        total = hours + days
        if clock["sign"]:
            # As Python and pandas write negative ones: -1 day, 23:00:00 is minus one hour.
            total = hours - days if days else -hours
        has_seconds = days or clock["second"] is not None
        return WrittenNumber(float(total), CLOCK_UNITS[bool(has_seconds)])
    if iso := _ISO.fullmatch(text):
        parts = [(_amount(amount), unit) for unit, amount in iso.groupdict().items() if amount]
    elif _COMPOSITE.fullmatch(text):
        parts = [(_amount(amount), unit) for amount, unit in _PARTS.findall(text)]
    else:
        return None
    value = sum_in_first(parts)
    return None if value is None else WrittenNumber(float(value), parts[0][1])


def _amount(text: str) -> Fraction:
    return Fraction(text.replace(",", "."))
