"""Numbers in human and program formats: decimal marks, thousands separators, units, limits."""

import math
import re
from dataclasses import dataclass

#: Decimal marks.
DECIMAL_MARKS = (".", ",")

# Variants of the minus, of a blank within a number, and of an apostrophe.
_SIGNS = str.maketrans({
    "\u2212": "-", "\u00a0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'",
})  # fmt: skip

# Excel's notation that keeps a text a text.
_QUOTED = re.compile(r'="(.*)"')

_SIGNS_OF_MONEY = "$€£¥₹₽₺₩₪฿"
_CURRENCIES = (
    "AED|ARS|AUD|BGN|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|HKD|HUF|IDR|ILS|INR|ISK|JPY|KES"
    "|KRW|KZT|MAD|MXN|MYR|NGN|NOK|NZD|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TRY|TWD|UAH"
    "|USD|VND|ZAR|Fr\\.|Rs\\.?|R\\$|US\\$"
)
_BODY = re.compile(
    r"(?P<limit><=|>=|[<>\u2264\u2265])?\s*"
    r"(?P<bracket>\()?\s*"
    r"(?P<sign>[+-])?\s*"
    rf"(?P<before>[{_SIGNS_OF_MONEY}]|(?:{_CURRENCIES})(?![A-Za-z]))?\s*"
    r"(?P<sign_after>[+-])?"
    r"(?P<digits>[.,]?\d(?:[\d.,']| (?=\d{3}(?:\D|$)))*(?:[eE][+-]?\d+)?)"
    r"\s*(?P<after>[^\s\d()<>=+;:#*?!.,'\"-][^\d()<>=+;:#*?!,'\"-]{0,11})?"
    r"\s*(?(bracket)\))"
)

# Numbers with either decimal mark, and with the other mark between thousands.
_DIGITS = {
    ".": re.compile(
        r"(?=\.?\d)(?:[1-9]\d{0,2}(?P<group>[,' ])\d{3}(?:(?P=group)\d{3})*|\d+)?(?:\.\d*)?"
        r"(?:[eE][+-]?\d+)?"
    ),
    ",": re.compile(
        r"(?=,?\d)(?:[1-9]\d{0,2}(?P<group>[.' ])\d{3}(?:(?P=group)\d{3})*|\d+)?(?:,\d*)?"
        r"(?:[eE][+-]?\d+)?"
    ),
}
_PLAIN_WHOLE = re.compile(r"[+-]?\d{1,15}")


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number read from a text, given the decimal mark.

    Attributes
    ----------
    value : float
        The number. A value below a limit (``<8``) becomes the next double below it.
    unit : str
        Prefix or suffix, such as ``%`` or ``EUR``.
    has_groups : bool
        Whether the other decimal mark separates thousands.
    is_whole : bool
        Whether it is written as an integer, with digits that a double can hold.
    """

    value: float
    unit: str = ""
    has_groups: bool = False
    is_whole: bool = False


def read_number(text: str, decimal: str) -> WrittenNumber | None:
    """Return the number that a text stands for with this decimal mark, None if it is not one."""
    text = text.strip()
    if _PLAIN_WHOLE.fullmatch(text):
        return WrittenNumber(float(text), is_whole=True)
    body = _body(text)
    if body is None:
        return None
    digits = body["digits"]
    found = _DIGITS[decimal].fullmatch(digits)
    if found is None:
        return None
    if body["sign"] and body["sign_after"]:
        return None
    group = found["group"]
    plain = digits if group is None else digits.replace(group, "")
    value = float(plain.replace(decimal, "."))
    if (body["sign"] or body["sign_after"]) == "-" or body["bracket"]:
        value = -value
    if body["limit"] in ("<", ">"):
        value = math.nextafter(value, -math.inf if body["limit"] == "<" else math.inf)
    unit = " ".join(part for part in (body["before"], (body["after"] or "").strip()) if part)
    is_whole = plain.isdigit() and len(plain) <= 15 and body["limit"] is None
    return WrittenNumber(value, unit, group in DECIMAL_MARKS, is_whole)


def _body(text: str) -> re.Match[str] | None:
    if quoted := _QUOTED.fullmatch(text):
        text = quoted[1].strip()
    return _BODY.fullmatch(text.translate(_SIGNS))
