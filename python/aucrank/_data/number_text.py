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
_CURRENCY = re.compile(rf"[{_SIGNS_OF_MONEY}]|{_CURRENCIES}")
_BODY = re.compile(
    r"(?P<limit><=|>=|[<>\u2264\u2265])?\s*"
    r"(?P<bracket>\()?\s*"
    r"(?P<sign>[+-])?\s*"
    rf"(?P<before>[{_SIGNS_OF_MONEY}]|(?:{_CURRENCIES})(?![A-Za-z]))?\s*"
    r"(?P<sign_after>[+-])?"
    r"(?P<digits>[.,]?\d(?:[\d.,']| (?=\d{3}(?:\D|$)))*(?:[eE][+-]?\d+)?)"
    r"\s*(?P<after>[^\s\d()<>=+;:#*?!.,'\"_-][^\d()<>=+;:#*?!,'\"_-]{0,11})?"
    r"(?P<sign_behind>-)?"
    r"\s*(?(bracket)\))"
)
# Marks around a number that are not part of it: the apostrophe of exports that fear formulas,
# underscores, "about", and signs of a footnote.
_MARKED = re.compile(
    r"(?P<front>['`_~\u2248]|_+|(?:ca|approx)\.?\s)?\s*(?P<number>[^'`_].*?)"
    r"(?P<behind>_+|\+|\*{1,3}|[\u2020\u2021\u00a7^]|\[\w{1,2}\]|')?"
)
# 10+ years.
_AT_LEAST = re.compile(r"(?P<number>[\d.,]*\d)\+(?=\s*[^\W\d])")
_INFINITE = re.compile(r"(?P<sign>[+-])?(?:inf|infinity|\u221e|1\.#inf)", re.IGNORECASE)

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
    mark : str
        Mark next to it that is not part of it, or ``-`` for a minus behind it.
    """

    value: float
    unit: str = ""
    has_groups: bool = False
    is_whole: bool = False
    mark: str = ""


def is_currency(unit: str) -> bool:
    """Return whether a prefix or suffix of a number is a currency."""
    return _CURRENCY.fullmatch(unit) is not None


def read_number(text: str, decimal: str) -> WrittenNumber | None:
    """Return the number that a text stands for with this decimal mark, None if it is not one."""
    text = text.strip()
    if _PLAIN_WHOLE.fullmatch(text):
        return WrittenNumber(float(text), is_whole=True)
    if quoted := _QUOTED.fullmatch(text):
        text = quoted[1].strip()
    text = text.translate(_SIGNS)
    if infinite := _INFINITE.fullmatch(text):
        return WrittenNumber(-math.inf if infinite["sign"] == "-" else math.inf)
    mark, body = "", _BODY.fullmatch(text)
    if body is None:
        mark, text = _without_mark(text)
        body = _BODY.fullmatch(text) if mark else None
        if body is None or body["sign_behind"] or body["limit"]:
            return None
    digits = body["digits"]
    found = _DIGITS[decimal].fullmatch(digits)
    if found is None:
        return None
    signs = [body[name] for name in ("sign", "sign_after", "sign_behind") if body[name]]
    if len(signs) > 1:
        return None
    group = found["group"]
    plain = digits if group is None else digits.replace(group, "")
    value = float(plain.replace(decimal, "."))
    if signs == ["-"] or body["bracket"]:
        value = -value
    if body["limit"] in ("<", ">"):
        value = math.nextafter(value, -math.inf if body["limit"] == "<" else math.inf)
    unit = " ".join(part for part in (body["before"], (body["after"] or "").strip()) if part)
    is_whole = plain.isdigit() and len(plain) <= 15 and body["limit"] is None
    return WrittenNumber(
        value, unit, group in DECIMAL_MARKS, is_whole, mark or body["sign_behind"] or ""
    )


def _without_mark(text: str) -> tuple[str, str]:
    """Return a mark next to a number that is not part of it, and the rest of the text."""
    if at_least := _AT_LEAST.match(text):
        return "+", at_least["number"] + text[at_least.end() :]
    marked = _MARKED.fullmatch(text)
    if marked is None:
        return "", text
    return (marked["behind"] or marked["front"] or "").strip(), marked["number"]
