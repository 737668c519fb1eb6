"""A ranking tree as a SQL expression, so that a database scores its own rows."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from aucrank._data.schema import Level, Schema
from aucrank._export.rules import level_codes

Dialect = Literal["ansi", "mysql", "bigquery", "snowflake", "tsql"]


# Decimal digits that every double keeps, and whole numbers below which it keeps all.
_PLAIN_DIGITS = 15
_PLAIN_NUMBERS = 10**_PLAIN_DIGITS

# Last character of the basic multilingual plane.
_LAST_OF_PLANE = "\uffff"

# BigQuery has no quoted line end, in names as in strings.
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _quoted(text: str, opening: str, closing: str) -> str:
    """Return a text in quotes, of which the closing one stands for itself when doubled."""
    return f"{opening}{text.replace(closing, closing * 2)}{closing}"


def _plain_text(text: str) -> str:
    return _quoted(text, "'", "'")


def _mysql_text(text: str) -> str:
    # Whether a backslash escapes depends on the mode of the server; a hexadecimal string does not.
    return f"_utf8mb4 X'{text.encode().hex()}'" if "\\" in text else _plain_text(text)


def _bigquery_quoted(text: str, quote: str) -> str:
    escaped = _ESCAPED | {quote: f"\\{quote}"}
    written = (
        escaped.get(character) or (f"\\u{ord(character):04x}" if character < " " else character)
        for character in text
    )
    return f"{quote}{''.join(written)}{quote}"


def _tsql_text(text: str) -> str:
    # A backslash at the end of a line vanishes from a string, together with the line end.
    *parts, last = re.split(r"(?<=\\)(?=[\r\n])", text)
    # Without N, what the code page of the database lacks becomes a question mark or a lookalike.
    prefix = "" if text.isascii() else "N"
    return " + ".join(prefix + _plain_text(part) for part in (*parts, last))


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How a dialect writes names, strings and truth values."""

    name: Callable[[str], str]
    text: Callable[[str], str]
    true: str = "TRUE"
    false: str = "FALSE"
    # Of a column or an alias, in characters; None where databases of the dialect differ.
    longest_name: int | None = None
    # Whether names have no characters beyond the basic multilingual plane.
    names_of_one_plane: bool = False


DIALECTS: dict[str, _Spelling] = {
    "ansi": _Spelling(lambda name: _quoted(name, '"', '"'), _plain_text),
    "mysql": _Spelling(
        lambda name: _quoted(name, "`", "`"),
        _mysql_text,
        longest_name=256,
        names_of_one_plane=True,
    ),
    "bigquery": _Spelling(
        lambda name: _bigquery_quoted(name, "`"),
        lambda text: _bigquery_quoted(text, "'"),
        longest_name=300,
    ),
    "snowflake": _Spelling(
        lambda name: _quoted(name, '"', '"'),
        lambda text: _plain_text(text.replace("\\", "\\\\")),
        longest_name=255,
    ),
    "tsql": _Spelling(
        lambda name: _quoted(name, "[", "]"), _tsql_text, true="1", false="0", longest_name=128
    ),
}


class SqlWriter:
    """Writes the stumps and the nodes of a tree as nested ``CASE`` expressions.

    A missing value is NULL. A comparison with NULL is not true, so a question is written such that
    what is not true goes right, and asks for NULL by name where missing values go left.

    Parameters
    ----------
    schema : Schema
        Of the columns that the tree asks.
    dialect : {"ansi", "mysql", "bigquery", "snowflake", "tsql"}
        How names, strings and truth values are written.
    """

    def __init__(self, schema: Schema, dialect: str) -> None:
        self._schema = schema
        self._dialect = dialect
        self._spelling = DIALECTS[dialect]

    def name(self, feature: int) -> str:
        """Return the quoted name of a column.

        Raises
        ------
        ValueError
            If the dialect has no way to write it.
        """
        name = self._schema.features[feature].name
        if name is None:
            name = self._schema.shown_name(feature)
        spelling = self._spelling
        if not name:
            raise ValueError(f"column {feature} has an empty name, which SQL cannot write")
        what = f"the name of column {self._schema.label(feature)}"
        if spelling.longest_name is not None and len(name) > spelling.longest_name:
            raise ValueError(
                f"{what} has {len(name)} characters; {self._dialect} takes"
                f" {spelling.longest_name} at most"
            )
        _check_characters(name, what)
        if spelling.names_of_one_plane and max(name) > _LAST_OF_PLANE:
            raise ValueError(
                f"{what} holds the character {max(name)!r}, which {self._dialect} has none of in"
                " names"
            )
        return spelling.name(name)

    def literal(self, feature: int, level: Level) -> str:
        """Return a category of a column as SQL writes it.

        Raises
        ------
        ValueError
            If SQL has no way to write it.
        """
        if isinstance(level, bool):
            return self._spelling.true if level else self._spelling.false
        if isinstance(level, float):
            return self.number(level)
        if not isinstance(level, str):
            return repr(level)
        _check_characters(level, f"the category {level!r} of column {self._schema.label(feature)}")
        return self._spelling.text(level)

    def among(self, feature: int, levels: Sequence[Level], *, negated: bool = False) -> str:
        """Return a condition that is true for some categories of a column, or for all others."""
        listed = ", ".join(self.literal(feature, level) for level in levels)
        return f"{self.name(feature)} {'NOT IN' if negated else 'IN'} ({listed})"

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
                known = self._side(test, levels if known_left else (), levels)
            case {"levels": asked} if levels is not None:
                codes = level_codes(asked, len(levels))
                left = [level for code, level in enumerate(levels) if code in codes]
                known = self._side(test, left, levels)
            case other:
                raise ValueError(f"unknown rule {other!r}")
        return f"({name} IS NULL OR {known})" if missing_left else known

    def _side(self, test: dict[str, Any], left: Sequence[Level], levels: Sequence[Level]) -> str:
        """Return a condition for the categories on the left; those not seen go where NULL goes."""
        missing_left: bool = test["missing_left"]
        on_left = frozenset(left)
        listed = [level for level in levels if level not in on_left] if missing_left else left
        if not listed:
            return "1 = 1" if missing_left else "1 = 0"
        return self.among(test["feature"], listed, negated=missing_left)


def _check_characters(text: str, what: str) -> None:
    """Raise ValueError for a character that no database keeps in a statement.

    They end it (NUL), or have no form in UTF-8 (one half of a surrogate pair).
    """
    for character in text:
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise ValueError(f"{what} holds the character {character!r}, which SQL cannot write")
