"""`aucrank export`: a saved model in the format of another system."""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from aucrank._data.csv_text import csv_text
from aucrank._utils.files import write_atomically
from aucrank.cli._errors import DataError, UsageError, plain_errors, writable
from aucrank.cli._model import load_ranker
from aucrank.cli._text import laid_out, write_document


def run(args: argparse.Namespace) -> int:
    """Write the model."""
    if args.dialect is not None and args.to != "sql":
        raise UsageError(f"--dialect is of SQL, and --to says {args.to}")
    if args.value is not None and args.to not in _OF_ONE_NUMBER:
        raise UsageError(f"--value is of SQL and code, and --to says {args.to}")
    if args.output is None and args.to in _NO_TEXT:
        raise UsageError(f"{_NO_TEXT[args.to]} is not text: --output says which file it goes to")
    out = None if args.output is None else writable(args.output)
    model = load_ranker(args.model)
    try:
        content = _WRITERS[args.to](model.estimator, args)
    except ImportError as error:
        raise DataError(str(error)) from error
    except ValueError as error:
        raise DataError(f"{args.model}: {error}") from error
    if out is None:
        write_document(content if content.endswith("\n") else f"{content}\n")
        return 0
    with plain_errors(f"cannot write {out}"):
        write_atomically(out, content)
    print(f"wrote {model.class_name} as {args.to} to {out} ({out.stat().st_size:,} bytes)")
    return 0


def _text(estimator: Any, _: argparse.Namespace) -> str:
    """Return the description of the score, as in `describe`."""
    return "\n".join(laid_out(section) for section in estimator._summary()).lstrip("\n")


def _csv(estimator: Any, args: argparse.Namespace) -> str:
    """Return the first table of the summary; in a file, in a form for spreadsheets."""
    to_file = args.output is not None
    if hasattr(estimator, "to_csv"):
        text = estimator.to_csv(excel=to_file)
    else:
        table = next((section.table for section in estimator._summary() if section.table), None)
        if table is None:
            raise ValueError(f"this {type(estimator).__name__} has no table")
        columns = (np.asarray(column).tolist() for column in table.values())
        text = csv_text(table, zip(*columns, strict=True), excel=to_file)
    # Spreadsheets recognise UTF-8 by this mark.
    return f"\ufeff{text}" if to_file else text


def _dot(estimator: Any, _: argparse.Namespace) -> str:
    """Return the graph of a tree."""
    if not hasattr(estimator, "tree_"):
        raise ValueError(f"{type(estimator).__name__} has no such form: it is of TreeRank")
    text: str = estimator.tree_.to_dot()
    return text


def _code(estimator: Any, args: argparse.Namespace) -> str:
    """Return the source of a function."""
    text: str = estimator.to_code(args.to, **_output(args))
    return text


def _sql(estimator: Any, args: argparse.Namespace) -> str:
    """Return an expression."""
    text: str = estimator.to_sql(args.dialect or "ansi", **_output(args))
    return text


def _output(args: argparse.Namespace) -> dict[str, str]:
    return {} if args.value is None else {"output": args.value}


#: Formats that compute one number, which an option selects.
_OF_ONE_NUMBER = ("sql", "c", "python", "javascript", "java")

#: Formats that are only written to files, and their names.
_NO_TEXT = {"onnx": "ONNX", "treelite": "a model of Treelite"}

_WRITERS: dict[str, Callable[[Any, argparse.Namespace], Any]] = {
    "onnx": lambda estimator, _: estimator.to_onnx().SerializeToString(),
    "sql": _sql,
    "pmml": lambda estimator, _: estimator.to_pmml(),
    "treelite": lambda estimator, _: estimator.to_treelite().serialize_bytes(),
    "c": _code,
    "python": _code,
    "javascript": _code,
    "java": _code,
    "json": lambda estimator, _: estimator.to_json(),
    "dot": _dot,
    "text": _text,
    "csv": _csv,
    "html": lambda estimator, _: estimator.to_html(),
}
