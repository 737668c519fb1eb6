"""Names of the dialects of SQL, apart from how they write: read before anything is imported."""

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
