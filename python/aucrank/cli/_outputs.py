"""Outputs that are inputs of the same command: they would replace what it reads."""

import argparse
import os
from collections.abc import Iterator, Sequence

from aucrank.cli._errors import UsageError

#: Options that name files which are read, and such as are written. A store of `compare` refuses by
#: itself what is none.
_INPUTS = ("data", "model", "against", "train", "resume")
_OUTPUTS = ("out", "json", "csv", "report")


def refuse_inputs(args: argparse.Namespace) -> None:
    """Raise if a file that is to be written is one that is read, or that is written, too.

    Raises
    ------
    UsageError
        Naming both.
    """
    outputs = list(_paths(args, _OUTPUTS))
    if not outputs:
        return
    inputs = [(name, file) for name, path in _paths(args, _INPUTS) for file in _files(path)]
    for place, (name, out) in enumerate(outputs):
        for of, path in [*inputs, *outputs[:place]]:
            if name != of and _is_same(out, path):
                raise UsageError(
                    f"{_option(name)} {out} would replace {path}, which is {_option(of)}: name"
                    " another file"
                )


def _paths(args: argparse.Namespace, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the options that are given with their paths."""
    for name in names:
        # `--model` of a command that fits is the name of an estimator.
        if name == "model" and hasattr(args, "preset"):
            continue
        given = getattr(args, name, None)
        for path in given if isinstance(given, list | tuple) else [given]:
            if isinstance(path, str) and path != "-":
                yield name, path


def _files(path: str) -> list[str]:
    """Return the files that a path means; what is wrong with it is said where it is read."""
    # What reads data takes its time to import.
    from aucrank._data.csv_source import CSV
    from aucrank._data.data_files import find_files
    from aucrank._data.parquet_source import PARQUET

    try:
        return list(find_files(path, (*PARQUET, *CSV)))
    except OSError:
        return []


def _is_same(one: str, other: str) -> bool:
    """Tell whether two paths lead to one file, through links or in other spellings."""
    try:
        # What is no regular file, such as a terminal, takes all and keeps nothing.
        return os.path.samefile(one, other) and os.path.isfile(one)
    except OSError:
        # One of them is not there yet.
        return os.path.realpath(one) == os.path.realpath(other)


def _option(name: str) -> str:
    return {"data": "DATA", "model": "MODEL"}.get(name, f"--{name}")
