"""Counts in words."""


def plural(n: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun, as in "1 row" and "2,000 rows"."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
