"""A ranking tree as a SQL expression, so that a database scores its own rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aucrank._rules import level_codes
from aucrank._schema import Level, Schema

Dialect = Literal["ansi", "mysql", "bigquery", "tsql"]


# Decimal digits that every double keeps, and whole numbers below which it keeps all.
_PLAIN_DIGITS = 15
_PLAIN_NUMBERS = 10**_PLAIN_DIGITS


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How a dialect writes names and truth values."""

    opening: str
    closing: str
    true: str = "TRUE"
    false: str = "FALSE"
    # Whether a backslash in a string stands for itself.
    plain_backslash: bool = True


DIALECTS: dict[str, _Spelling] = {
    "ansi": _Spelling('"', '"'),
    "mysql": _Spelling("`", "`", plain_backslash=False),
    "bigquery": _Spelling("`", "`", plain_backslash=False),
    "tsql": _Spelling("[", "]", true="1", false="0"),
}


class SqlWriter:
    """Writes the stumps and the nodes of a tree as nested ``CASE`` expressions.

    A missing value is NULL. A comparison with NULL is not true, so a question is written such that
    what is not true goes right, and asks for NULL by name where missing values go left.

    Parameters
    ----------
    schema : Schema
        Of the columns that the tree asks.
    dialect : {"ansi", "mysql", "bigquery", "tsql"}
        How names, strings and truth values are written.
    """

    def __init__(self, schema: Schema, dialect: str) -> None:
        self._schema = schema
        self._spelling = DIALECTS[dialect]

    def name(self, feature: int) -> str:
        """Return the quoted name of a column."""
        spelling = self._spelling
        name = self._schema.shown_name(feature)
        closing = spelling.closing
        doubled = "\\" + closing if not spelling.plain_backslash else closing * 2
        return f"{spelling.opening}{name.replace(closing, doubled)}{closing}"

    def literal(self, level: Level) -> str:
        """Return a category as SQL writes it."""
        if isinstance(level, bool):
            return self._spelling.true if level else self._spelling.false
        if isinstance(level, float):
            return self.number(level)
        if not isinstance(level, str):
            return repr(level)
        if not self._spelling.plain_backslash:
            level = level.replace("\\", "\\\\")
        return "'" + level.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """Return a number such that every database reads the same double."""
        if value.is_integer() and abs(value) < _PLAIN_NUMBERS:
            return str(int(value))
        text = repr(value)
        # A literal without an exponent is a decimal to many databases, and a long one may become
        # the next double: duckdb 1.1 reads one in fifteen so.
        digits = text.lstrip("-").replace(".", "").strip("0")
        return text if "e" in text or len(digits) <= _PLAIN_DIGITS else f"{text}e0"

    def double(self, value: float) -> str:
        """Return a number such that every database takes it for a double, sums of it included."""
        text = self.number(value)
        # Decimals would be added as they are written, not as doubles.
        return f"{text}e0" if "." in text and "e" not in text else text

    def total(self, terms: Sequence[str]) -> str:
        """Return the sum of some terms, all of them doubles."""
        return "\n+ ".join(terms) or "0.0"

    def total_less(self, terms: Sequence[str], threshold: float) -> str:
        """Return the sum of some terms less a threshold, all of them doubles."""
        sign = "-" if threshold >= 0 else "+"
        return f"{self.total(terms)}\n{sign} {self.double(abs(threshold))}"

    def condition(self, cuts: list[dict[str, Any]], place: int = 0) -> str:
        """Return a condition that is true for the rows on the left of a split."""
        test = cuts[place]["cut"]["test"]
        sides = [cuts[cuts[place]["cut"][side]] for side in ("left", "right")]
        goes = [side["part"]["goes_left"] if "part" in side else None for side in sides]
        if goes == [True, False]:
            return self.question(test)
        left, right = (
            f"CASE WHEN {self.condition(cuts, cuts[place]['cut'][side])} THEN 1 ELSE 0 END"
            if known is None
            else str(int(known))
            for known, side in zip(goes, ("left", "right"), strict=True)
        )
        return f"CASE WHEN {self.question(test)} THEN {left} ELSE {right} END = 1"

    def question(self, test: dict[str, Any]) -> str:
        """Return a condition that is true for the rows that a stump sends left."""
        name, missing_left = self.name(test["feature"]), test["missing_left"]
        levels = self._schema.features[test["feature"]].levels
        match test["left"]:
            case {"below": bound}:
                known = f"{name} < {self.number(bound)}"
            case {"at_least": bound}:
                known = f"{name} >= {self.number(bound)}"
            case {"known": known_left} if levels is None:
                return f"{name} IS NOT NULL" if known_left else f"{name} IS NULL"
            case {"known": known_left} if levels is not None:
                known = self._among(name, levels if known_left else (), levels, missing_left)
            case {"levels": asked} if levels is not None:
                codes = level_codes(asked, len(levels))
                left = [level for code, level in enumerate(levels) if code in codes]
                known = self._among(name, left, levels, missing_left)
            case other:
                raise ValueError(f"unknown rule {other!r}")
        return f"({name} IS NULL OR {known})" if missing_left else known

    def _among(
        self, name: str, left: Sequence[Level], levels: Sequence[Level], missing_left: bool
    ) -> str:
        """Return a condition for the categories on the left; those not seen go where NULL goes."""
        on_left = frozenset(left)
        listed = [level for level in levels if level not in on_left] if missing_left else left
        if not listed:
            return "1 = 1" if missing_left else "1 = 0"
        inside = "NOT IN" if missing_left else "IN"
        return f"{name} {inside} ({', '.join(map(self.literal, listed))})"
