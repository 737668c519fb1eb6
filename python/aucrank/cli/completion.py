"""`aucrank completion`: a script for completion in a shell."""

import argparse
from collections.abc import Iterator
from typing import Any

from aucrank.cli._errors import needed
from aucrank.cli._outputs import INPUTS, OUTPUTS
from aucrank.cli._parser import build_parser
from aucrank.cli._text import write_document


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    shtab = needed("shtab", "completion", "completion")
    parser = build_parser()
    for action in _arguments(parser):
        if action.dest in (*INPUTS, *OUTPUTS):
            action.complete = shtab.FILE
    write_document(shtab.complete(parser, args.shell) + "\n")
    return 0


def _arguments(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _arguments(command)
