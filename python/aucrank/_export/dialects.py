"""Dialects of SQL by name, apart from the writer: the command line lists them before imports."""

from typing import Literal, get_args

Dialect = Literal[
    "ansi",
    "sqlite",
    "duckdb",
    "postgres",
    "mysql",
    "bigquery",
    "snowflake",
    "spark",
    "tsql",
]

#: All of them.
DIALECT_NAMES: tuple[str, ...] = get_args(Dialect)
