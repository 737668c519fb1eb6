"""How SQL dialects write names, strings and booleans."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from aucrank._utils.params import check_choice

# Last character of the basic multilingual plane.
_LAST_OF_PLANE = "\uffff"

# BigQuery cannot quote a line end, neither in names nor in strings.
_ESCAPED = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _quoted(text: str, opening: str, closing: str) -> str:
    """Return a text in quotes, with the closing quote doubled inside."""
    return f"{opening}{text.replace(closing, closing * 2)}{closing}"


def _plain_text(text: str) -> str:
    return _quoted(text, "'", "'")


def _mysql_text(text: str) -> str:
    # Whether a backslash escapes depends on the server mode; a hexadecimal string does not.
    return f"_utf8mb4 X'{text.encode().hex()}'" if "\\" in text else _plain_text(text)


def _escaped(text: str, quote: str) -> str:
    """Return a text in quotes, with backslash escapes."""
    escaped = _ESCAPED | {quote: f"\\{quote}"}
    written = (
        escaped.get(character) or (f"\\u{ord(character):04x}" if character < " " else character)
        for character in text
    )
    return f"{quote}{''.join(written)}{quote}"


def _tsql_text(text: str) -> str:
    # A backslash at the end of a line vanishes from a string, together with the line end.
    *parts, last = re.split(r"(?<=\\)(?=[\r\n])", text)
    # Without N, characters outside the code page of the database become ? or a lookalike.
    prefix = "" if text.isascii() else "N"
    return " + ".join(prefix + _plain_text(part) for part in (*parts, last))


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a dialect writes names, strings and booleans."""

    name: Callable[[str], str]
    text: Callable[[str], str]
    true: str = "TRUE"
    false: str = "FALSE"
    # Maximal length of a column name or an alias, in characters, or in bytes if so marked; None
    # where databases of the dialect differ.
    longest_name: int | None = None
    is_in_bytes: bool = False
    # Whether names cannot have characters beyond the basic multilingual plane.
    names_of_one_plane: bool = False
    # Integer type of 64 bits.
    whole_number: str = "BIGINT"
    # A non-negative integer, shifted to the right by 31 bits.
    shifted: Callable[[str], str] = lambda number: f"({number}) >> 31"
    # A number rounded to an integer.
    rounded: Callable[[str], str] = lambda number: f"ROUND({number})"
    # A number literal with a point or an exponent, as a double.
    double: Callable[[str], str] = lambda number: number
    # Type of double precision.
    double_type: str = "DOUBLE PRECISION"
    # Type of single precision, whose sums have single precision too; "" if there is none.
    single: str = ""
    # Whether a query in FROM may refer to the row outside.
    nests_queries: bool = True
    # Ends a query in FROM that must be computed as written: otherwise a planner would inline its
    # columns wherever they are used, layer by layer, until there are millions.
    fence: str = ""
    # Whether large models are written in steps; elsewhere no benefit was measured.
    has_layers: bool = False
    # Whether very large models are walked over arrays, by subscripts.
    has_arrays: bool = False
    # Whether these are lists with functions of their elements.
    has_lambdas: bool = False
    # Makes a database compute the columns of a step once, not wherever they are used.
    kept: str = ""

    def whole(self, number: int) -> str:
        """Return an integer whose products have 64 bits."""
        return f"CAST({number} AS {self.whole_number})"


def _in_double_quotes(name: str) -> str:
    return _quoted(name, '"', '"')


def _in_backticks(name: str) -> str:
    return _quoted(name, "`", "`")


_PLAIN = Spelling(_in_double_quotes, _plain_text, has_layers=True)

DIALECTS: dict[str, Spelling] = {
    "ansi": _PLAIN,
    "sqlite": _PLAIN,
    "duckdb": replace(_PLAIN, single="REAL", has_arrays=True, has_lambdas=True),
    "postgres": Spelling(
        _in_double_quotes,
        _plain_text,
        # Longer names are silently truncated.
        longest_name=63,
        is_in_bytes=True,
        # ROUND rounds halves of doubles to even numbers.
        rounded=lambda number: f"SIGN({number}) * FLOOR(ABS({number}) + 5e-1::float8)",
        # Number literals with a point or an exponent are decimals.
        double=lambda number: f"{number}::float8",
        single="REAL",
        fence=" OFFSET 0",
        has_layers=True,
        has_arrays=True,
        kept="MATERIALIZED ",
    ),
    "mysql": Spelling(
        _in_backticks,
        _mysql_text,
        longest_name=256,
        names_of_one_plane=True,
        whole_number="SIGNED",
    ),
    "bigquery": Spelling(
        lambda name: _escaped(name, "`"),
        lambda text: _escaped(text, "'"),
        longest_name=300,
    ),
    "snowflake": Spelling(
        _in_double_quotes,
        lambda text: _plain_text(text.replace("\\", "\\\\")),
        longest_name=255,
        shifted=lambda number: f"BITSHIFTRIGHT({number}, 31)",
    ),
    "spark": Spelling(
        _in_backticks,
        lambda text: _escaped(text, "'"),
        shifted=lambda number: f"SHIFTRIGHT({number}, 31)",
        single="FLOAT",
        double_type="DOUBLE",
        nests_queries=False,
    ),
    "tsql": Spelling(
        lambda name: _quoted(name, "[", "]"),
        _tsql_text,
        true="1",
        false="0",
        longest_name=128,
        shifted=lambda number: f"({number}) / {2**31}",
        rounded=lambda number: f"ROUND({number}, 0)",
    ),
}


def spelling_of(dialect: str) -> Spelling:
    """Return the spelling of a dialect.

    Raises
    ------
    ValueError
        If it is unknown.
    """
    check_choice(dialect, "dialect", tuple(DIALECTS))
    return DIALECTS[dialect]


def column_name(name: str, dialect: str, what: str) -> str:
    """Return the quoted name of a column.

    Parameters
    ----------
    name : str
        Not empty.
    dialect : Dialect
        Dialect that determines the quoting.
    what : str
        What to call the name in an error.

    Raises
    ------
    ValueError
        If the dialect cannot express it.
    """
    spelling = spelling_of(dialect)
    check_characters(name, what)
    length = len(name.encode()) if spelling.is_in_bytes else len(name)
    if spelling.longest_name is not None and length > spelling.longest_name:
        unit = "bytes" if spelling.is_in_bytes else "characters"
        raise ValueError(
            f"{what} has {length} {unit}; {dialect} takes {spelling.longest_name} at most"
        )
    if spelling.names_of_one_plane and max(name) > _LAST_OF_PLANE:
        raise ValueError(
            f"{what} holds the character {max(name)!r}, which {dialect} has none of in names"
        )
    return spelling.name(name)


def check_characters(text: str, what: str) -> None:
    """Check that a database keeps all characters of a text in a statement.

    NUL ends it, and half of a surrogate pair has no form in UTF-8.

    Raises
    ------
    ValueError
        Naming the character, and ``what`` the text is.
    """
    for character in text:
        if character == "\0" or "\ud800" <= character <= "\udfff":
            raise ValueError(f"{what} holds the character {character!r}, which SQL cannot write")
