"""Names of the SQL dialects, kept separate so that reading them imports nothing else."""

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
