"""Counts and lists in words."""

from collections.abc import Sequence


def plural(n: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun, as in "1 row" and "2,000 rows"."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """Write names as in "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
