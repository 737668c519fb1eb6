"""Counts and lists in words."""

import difflib
import shlex
from collections.abc import Iterable, Sequence


def plural(n: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun, as in "1 row" and "2,000 rows"."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """Write names as in "a, b and c"."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def listed_first(names: Sequence[str], most: int) -> str:
    """Write at most so many names, and the number of the others, as in "a, b and 4 more"."""
    more = len(names) - most
    return listed([*names[:most], f"{more} more"] if more > 0 else names)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of "there is no NAME": the nearest known name, or else all known ones."""
    known = list(known)
    if near := near_name(name, known):
        return near
    shown = ", ".join(known[:12]) + (f", … ({len(known)} in all)" if len(known) > 12 else "")
    return f"; there are: {shown}" if known else ""


def near_name(name: str, known: Iterable[str]) -> str:
    """Return the end of "there is no NAME": the nearest known name, if one is near."""
    lower = {candidate.lower(): candidate for candidate in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    return f"; did you mean {lower[near[0]]!r}?" if near else ""


def with_values(option: str, *values: str) -> list[str]:
    """Return the words of an option with its values, which may look like options."""
    if any(value.startswith("-") for value in values):
        return [f"{option}={value}" for value in values]
    return [option, *values]


def for_shell(option: str, *values: str) -> str:
    """Write an option with its values as a shell takes it."""
    return shlex.join(with_values(option, *values))


def area_up_to(max_fpr: float) -> str:
    """Name the area under the curve up to a false positive rate."""
    return "AUC" if max_fpr == 1 else f"partial AUC up to {max_fpr:g}"
