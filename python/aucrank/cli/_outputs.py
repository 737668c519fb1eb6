"""Checks that no output of a command would replace one of its inputs."""

import argparse
import os
from collections.abc import Iterator, Sequence

from aucrank.cli._errors import UsageError

#: Options that name input files, and output files. The store of `compare` rejects other files by
#: itself.
INPUTS = ("data", "model", "against", "source", "train", "resume")
OUTPUTS = ("output", "json", "csv", "report")


def refuse_inputs(args: argparse.Namespace) -> None:
    """Raise if an output file is also an input file, or another output file.

    Raises
    ------
    UsageError
        If so; the message names both options.
    """
    outputs = list(_paths(args, OUTPUTS))
    if not outputs:
        return
    inputs = [(name, file) for name, path in _paths(args, INPUTS) for file in _files(path)]
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
        given = getattr(args, name, None)
        for path in given if isinstance(given, list | tuple) else [given]:
            if isinstance(path, str) and path != "-":
                yield name, path


def _files(path: str) -> list[str]:
    """Return the files that a path refers to; its errors are reported where it is read."""
    # The modules that read data are slow to import.
    from aucrank._data.csv_source import CSV
    from aucrank._data.data_files import find_files
    from aucrank._data.parquet_source import PARQUET

    try:
        return list(find_files(path, (*PARQUET, *CSV)))
    except OSError:
        return []


def _is_same(one: str, other: str) -> bool:
    """Return whether two paths refer to the same file, also through links or other spellings."""
    try:
        # Anything but a regular file, such as a terminal, stores nothing.
        return os.path.samefile(one, other) and os.path.isfile(one)
    except OSError:
        # One of them does not exist yet.
        return os.path.realpath(one) == os.path.realpath(other)


def _option(name: str) -> str:
    return {"data": "DATA", "model": "MODEL", "source": "FILE"}.get(name, f"--{name}")
