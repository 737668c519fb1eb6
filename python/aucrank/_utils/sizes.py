"""Sizes in bytes: read from text such as "256MB", and written so."""

import re
from numbers import Integral
from typing import Any

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


def parse_size(text: str) -> int | None:
    """Return the bytes of a size such as "500MB" or "2 GiB"; None for any other text."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    number, prefix, binary = found.groups()
    power = " KMGT".index(prefix.upper() or " ")
    return int(float(number) * (1024 if binary else 1000) ** power)


def check_size(value: Any, name: str) -> int:
    """Return a parameter that is a number of bytes, or a text such as "256MB".

    Raises
    ------
    TypeError
        If it is neither an integer nor a text.
    ValueError
        If it is negative, or not a size.
    """
    if isinstance(value, bool) or not isinstance(value, Integral | str):
        raise TypeError(
            f"{name} must be a number of bytes or a text such as '256MB', got {value!r}"
        )
    size = parse_size(value) if isinstance(value, str) else int(value)
    if size is None:
        raise ValueError(f"{name} must be a size such as '256MB' or '2GB', got {value!r}")
    if size < 0:
        raise ValueError(f"{name} must be at least 0, got {value!r}")
    return size


def megabytes(size: float) -> str:
    """Write a size in MB, with two digits if it is small."""
    return f"{size / 1e6:,.2g} MB" if size < 1e7 else f"{size / 1e6:,.0f} MB"
