"""Formatting of figures for readers."""

from __future__ import annotations

import math

from aucrank._utils.numbers import part_text

MISSING = "\N{EN DASH}"

_MINUS = "\N{MINUS SIGN}"


def share(value: float | None, decimals: int = 1) -> str:
    """Write a share as a percentage; only 0 reads as 0, and only 1 as all."""
    if value is None or math.isnan(value):
        return MISSING
    least = 10.0**-decimals
    percent = 100 * value
    if 0 < percent < least / 2:
        return f"< {least:.{decimals}f}%"
    if 100 - least / 2 < percent < 100:
        return f"> {100 - least:.{decimals}f}%"
    return f"{percent:.{decimals}f}%".replace("-", _MINUS)


def area(value: float | None) -> str:
    """Write an area under a curve to four decimals."""
    return decimal(value, 4)


def decimal(value: float | None, decimals: int = 3) -> str:
    """Write a number to a given number of decimals."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else _minus(text)


def signed(value: float | None, decimals: int = 4) -> str:
    """Write a difference with its sign."""
    text = decimal(value, decimals)
    return text if text == MISSING or value is None or value <= 0 or is_zero(text) else f"+{text}"


def is_zero(text: str) -> bool:
    """Return whether a written number reads as 0."""
    return not any(digit in text for digit in "123456789")


def number(value: float | None) -> str:
    """Write a value of any size to four digits."""
    if value is None or math.isnan(value):
        return MISSING
    if math.isinf(value):
        return "\N{INFINITY}" if value > 0 else f"{_MINUS}\N{INFINITY}"
    if value == int(value) and abs(value) < 1e15:
        return _minus(f"{int(value):,}")
    if 1e3 <= abs(value) < 1e15:
        return _minus(f"{value:,.{max(0, 3 - int(math.log10(abs(value))))}f}")
    return _minus(f"{value:.4g}")


def count(value: float | None) -> str:
    """Write a number of rows; a sum of weights to one decimal."""
    if value is None or math.isnan(value):
        return MISSING
    return f"{int(value):,}" if value == int(value) else f"{value:,.1f}"


def p_value(value: float | None) -> str:
    """Write a p-value to three decimals."""
    if value is None or math.isnan(value):
        return MISSING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def is_p(value: float) -> str:
    """Write a p-value, as in "= 0.031" and "< 0.001"."""
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def threshold(value: float | None, below: float = -math.inf) -> str:
    """Write a threshold so that it separates two scores; infinite if no row is called positive."""
    if value is None or not math.isfinite(value):
        return "no row" if value == math.inf else number(value)
    text = number(value)
    reads_as = float(text.replace(_MINUS, "-").replace(",", ""))
    return text if below < reads_as <= value else _minus(part_text(below, value))


def _minus(text: str) -> str:
    return text.replace("-", _MINUS) if text.startswith("-") else text
